//! What becomes of matches without a report: each ruling needs its cause.

use league_core::id::{AgentId, MatchId, RefereeId};
use league_core::manager::Order;
use league_core::seat::{Seat, Seats};
use league_core::time::Timestamp;
use league_core::verdict::Verdict;

use super::books::Ledger;
use super::{Checked, Objection};
use crate::outcome::Rule;

impl Ledger {
    /// A match is given to a referee under the next attempt.
    pub(super) fn assign(&mut self, id: MatchId, attempt: u32, referee: RefereeId) -> Checked {
        let standing = self.unfinished(id)?;
        let expected = standing.attempt + 1;
        (standing.attempt, standing.referee) = (attempt, referee);
        standing.stuck_until = None;
        self.assigned.insert((id, attempt), referee);
        if attempt == expected {
            return Ok(());
        }
        wrong(format!("attempt {attempt} at {id}, not {expected}"))
    }

    /// A match waits for the administrator.
    pub(super) fn stick(&mut self, at: Timestamp, match_id: MatchId) -> Checked {
        let until = self.deadline.max(at) + self.policy.recovery_window();
        match self.unfinished(match_id)?.stuck_until.replace(until) {
            None => Ok(()),
            Some(_) => wrong(format!("{match_id} is stuck twice")),
        }
    }

    /// An order was given. Whoever waits for one waits anew once the league goes on.
    pub(super) fn obey(&mut self, at: Timestamp, order: Order) {
        self.ordered = Some(order);
        if order == Order::Pause {
            self.paused.get_or_insert(at);
        }
        if order == Order::Resume {
            let window = self.policy.recovery_window();
            let until = at + window;
            let stuck = self.matches.values_mut().filter_map(|one| one.stuck_until.as_mut());
            stuck.for_each(|waits| *waits = until.max(*waits));
            let paused = self.paused.take().unwrap_or(at);
            for waits in self.awaited.values_mut() {
                let began = *waits - window;
                *waits = *waits + at.since(paused.max(began));
            }
        }
    }

    /// Only who is shut down, or did not come back with its new token in time, loses without a
    /// game.
    pub(super) fn walk_over(
        &mut self,
        at: Timestamp,
        match_id: MatchId,
        verdict: Verdict,
    ) -> Checked {
        let pairing = self.unfinished(match_id)?.pairing;
        let gone = Seats::from_fn(|seat| {
            let player = pairing.player(seat);
            let is_absent = self.awaited.get(&player).is_some_and(|until| *until <= at);
            self.gone.contains(&AgentId::Player(player)) || (is_absent && self.paused.is_none())
        });
        let expected = match (gone.a, gone.b) {
            (true, true) => Some(Verdict::BothLost),
            (true, false) => Some(Verdict::TechnicalLoss(Seat::A)),
            (false, true) => Some(Verdict::TechnicalLoss(Seat::B)),
            (false, false) => None,
        };
        if expected != Some(verdict) {
            return wrong(format!("{match_id}: {verdict:?} without a game, gone are {gone:?}"));
        }
        self.unfinished(match_id)?.decide(verdict, false);
        self.reference.record(pairing, verdict);
        Ok(())
    }

    /// Only an order calls a match off, or that nobody gave one in time.
    pub(super) fn cancel(
        &mut self,
        at: Timestamp,
        match_id: MatchId,
        replaced: Option<Verdict>,
        by_order: bool,
    ) -> Checked {
        self.take_back(match_id, replaced)?;
        let standing = self.unfinished(match_id)?;
        let nobody_came = standing.stuck_until.is_some_and(|until| until <= at);
        standing.decide(Verdict::Cancelled, false);
        let pairing = standing.pairing;
        self.reference.record(pairing, Verdict::Cancelled);
        if by_order || nobody_came {
            return Ok(());
        }
        wrong(format!("{match_id} was called off without a reason"))
    }

    pub(super) fn take_back(&mut self, match_id: MatchId, replaced: Option<Verdict>) -> Checked {
        let known = self.result(match_id);
        if known != replaced {
            return wrong(format!("{match_id}: {replaced:?} was taken back, it had {known:?}"));
        }
        if let Some(standing) = self.matches.get_mut(&match_id)
            && standing.result.take().is_some()
        {
            self.reference.retract(standing.pairing);
            self.acknowledged.remove(&match_id);
        }
        Ok(())
    }
}

fn wrong(text: String) -> Result<(), Objection> {
    Err((Rule::Transitions, text))
}
