//! Those who watch. They see every packet and every published event, keep their own books, and
//! believe nobody.

mod books;
mod fairness;
mod life;
mod rulings;
mod secrets;

use league_core::manager::{Event, Fact};
use league_core::proof::Token;
use league_core::referee::State;
use league_core::roster::{StateKind, Transition};
use league_core::standings::Row;
use league_core::verdict::Verdict;

use crate::clock::Instant;
use crate::message::{Body, Node, Packet};
use crate::outcome::{Rule, Tally, Violation};
use crate::plan::Plan;
use crate::stage::Seen;

use books::Ledger;
use fairness::Fairness;
use life::Lives;
use secrets::Secrets;

/// An objection: which rule, and how it was broken.
type Objection = (Rule, String);
type Checked = Result<(), Objection>;

/// All checkers, and the first objection.
#[derive(Debug)]
pub(crate) struct Checkers {
    ledger: Ledger,
    fairness: Fairness,
    secrets: Secrets,
    lives: Lives,
    pub(crate) tally: Tally,
    pub(crate) violation: Option<Violation>,
    now: Instant,
}

impl Checkers {
    pub(crate) fn new(plan: &Plan) -> Self {
        let keys = plan.keys();
        Self {
            ledger: Ledger::new(plan.policy.clone()),
            fairness: Fairness::new(plan, keys.clone()),
            secrets: Secrets::new(keys, plan),
            lives: Lives::new(plan.policy.clone()),
            tally: Tally::default(),
            violation: None,
            now: 0,
        }
    }

    /// What time it is in the world.
    pub(crate) const fn tick(&mut self, now: Instant) {
        self.now = now;
    }

    /// Whether the league has ended.
    pub(crate) const fn is_completed(&self) -> bool {
        self.ledger.is_completed()
    }

    pub(crate) const fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Proofs that an eavesdropper may have from matches other than this one.
    pub(crate) const fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// A packet leaves its sender.
    pub(crate) fn sent(&mut self, packet: &Packet) {
        let checked = self.check_sent(packet);
        self.object(checked);
    }

    fn check_sent(&mut self, packet: &Packet) -> Checked {
        if packet.from == Node::Forger {
            return Ok(());
        }
        self.secrets.sent(packet, &self.ledger)?;
        self.fairness.sent(packet, self.now);
        let body = &packet.letter.body;
        if let Body::Recorded { match_id } = body {
            self.ledger.acknowledged(*match_id);
        }
        if let Body::Registered { agent, .. } = body {
            self.ledger.welcomed(*agent);
        }
        if let Body::Over { match_id, .. } = body
            && !self.ledger.was_decided(*match_id)
        {
            let text = format!("{} was told {match_id} before it was in the books", packet.to);
            return Err((Rule::Silence, text));
        }
        if let Body::Trouble { match_id, shows: Some(word) } = body {
            let text = format!("{} was shown `{word}` of {match_id}", packet.to);
            return Err((Rule::Silence, text));
        }
        Ok(())
    }

    /// A packet was lost, refused or slow.
    pub(crate) fn harmed(&mut self, packet: &Packet) {
        self.fairness.harmed(packet, self.now);
    }

    /// A player knows its token.
    pub(crate) fn informed(&mut self, node: Node, token: &Token) {
        self.fairness.informed(node, token, self.now);
    }

    /// A node was away or stood still until `until`.
    pub(crate) fn faulted(&mut self, node: Node, until: Instant) {
        self.fairness.faulted(node, until);
    }

    /// A node shows what it did.
    pub(crate) fn seen(&mut self, seen: &Seen) {
        let checked = match seen {
            Seen::Published { events, table } => {
                self.published(events, table).and_then(|()| self.lives.nothing_missed(events))
            }
            Seen::Replayed { events, table } => {
                self.tally.replays += 1;
                self.fairness.faulted(Node::Manager, self.now);
                let known = self.ledger.replayed(events);
                known
                    .and_then(|known| self.published(&events[known..], table))
                    .and_then(|()| self.ledger.nothing_vanished())
            }
            Seen::Moved { match_id, from, to } if !may_become(*from, *to) => {
                let text = format!("{match_id} went from {from} to {to}");
                Err((Rule::Transitions, text))
            }
            Seen::Moved { .. } => Ok(()),
            Seen::Diverged(what) => {
                let text = format!("{what} is not the fold of its events");
                Err((Rule::Transitions, text))
            }
        };
        self.object(checked);
    }

    fn published(&mut self, events: &[Event], table: &[Row]) -> Checked {
        for event in events {
            self.lives.publish(event, &self.ledger)?;
            self.ledger.publish(event)?;
            match &event.fact {
                Fact::ResultRecorded(recorded) => {
                    self.count_verdict(recorded.verdict);
                    self.fairness.recorded(recorded, &self.ledger)?;
                }
                Fact::MatchReassigned { annulled, .. } => {
                    self.tally.annulled += u64::from(*annulled);
                    self.tally.reassigned += u64::from(!annulled);
                }
                Fact::MatchPassedOn { .. } => self.tally.reassigned += 1,
                Fact::ReportRefused { .. } => self.tally.lies += 1,
                Fact::ConductNoted { match_id, conduct } => {
                    self.fairness.noted(*match_id, conduct, &self.ledger)?;
                }
                Fact::AgentChanged { agent, transition } => {
                    self.count_change(*transition);
                    let node = self.ledger.node(*agent);
                    self.fairness.changed(node, *transition, self.now)?;
                }
                Fact::Walkover { verdict, .. } => {
                    self.tally.walkovers += 1;
                    self.count_verdict(*verdict);
                }
                Fact::MatchCancelled { replaced, .. } => {
                    self.tally.results -= u64::from(replaced.is_some());
                    self.count_verdict(Verdict::Cancelled);
                }
                Fact::RematchOrdered { replaced, .. } => {
                    self.tally.results -= u64::from(replaced.is_some());
                }
                Fact::MatchStuck { .. } => self.tally.stuck += 1,
                Fact::TokenReplaced { agent, nonce } => {
                    self.tally.replaced += 1;
                    self.fairness.replaced(*agent, nonce, &self.ledger);
                }
                Fact::Administered { .. } => self.tally.orders += 1,
                Fact::LeagueCreated(_)
                | Fact::PlayerRegistered { .. }
                | Fact::RefereeRegistered { .. }
                | Fact::LeagueStarted
                | Fact::RoundOpened { .. }
                | Fact::RoundClosed { .. }
                | Fact::LeagueCompleted
                | Fact::AdmissionSet(_)
                | Fact::CodeRedeemed { .. }
                | Fact::PlayerReturned { .. }
                | Fact::RefereeReturned { .. }
                | Fact::ShapeSettled { .. } => {}
            }
        }
        self.ledger.compare(table)
    }

    const fn count_change(&mut self, transition: Transition) {
        match transition.to {
            StateKind::Suspended => self.tally.suspended += 1,
            StateKind::Shutdown => self.tally.shut_down += 1,
            StateKind::Init | StateKind::Registered | StateKind::Active => {
                self.tally.recovered += 1;
            }
        }
    }

    fn count_verdict(&mut self, verdict: Verdict) {
        self.tally.results += 1;
        self.tally.played += u64::from(verdict.was_played());
        let technical = match verdict {
            Verdict::TechnicalLoss(_) => 1,
            Verdict::BothLost => 2,
            Verdict::Won(_) | Verdict::Drawn | Verdict::Cancelled => 0,
        };
        self.tally.technical_losses += technical;
        self.tally.cancelled += u64::from(verdict == Verdict::Cancelled);
    }

    /// The league is over, or should be.
    pub(crate) fn end(&mut self) {
        let checked = self.ledger.finished();
        self.object(checked);
        let checked = self.ledger.nothing_vanished();
        self.object(checked);
    }

    pub(crate) fn object(&mut self, checked: Checked) {
        if let Err((rule, detail)) = checked
            && self.violation.is_none()
        {
            self.violation = Some(Violation { at: self.now, rule, detail });
        }
    }
}

/// The documents' table of match states. A game with several steps goes back for the next one.
const fn may_become(from: State, to: State) -> bool {
    match (from, to) {
        (State::Pending, State::Inviting)
        | (State::Inviting, State::CollectingChoices | State::Aborted)
        | (State::CollectingChoices, State::Evaluating | State::Aborted)
        | (State::Evaluating, State::Completed) => true,
        (
            State::Pending
            | State::Inviting
            | State::CollectingChoices
            | State::Evaluating
            | State::Completed
            | State::Aborted,
            _,
        ) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // req: MATCH-1
    #[test]
    fn matches_go_only_where_the_documents_let_them() {
        let mut allowed = 0;
        for from in State::ALL {
            for to in State::ALL {
                // What core allows for games of several steps does not happen in this one.
                let again = (from, to) == (State::Evaluating, State::CollectingChoices);
                assert_eq!(may_become(from, to) || again, from.may_become(to), "{from} {to}");
                allowed += usize::from(may_become(from, to));
            }
        }
        assert_eq!(allowed, 6);
    }

    #[test]
    fn a_step_that_is_not_documented_is_objected_to_once() {
        let mut checkers = Checkers::new(&Plan::from_seed(1));
        let match_id = "R1M1".parse().unwrap();
        let moved = |from, to| Seen::Moved { match_id, from, to };
        checkers.seen(&moved(State::Pending, State::Inviting));
        assert_eq!(checkers.violation, None);
        checkers.seen(&moved(State::Pending, State::Completed));
        checkers.seen(&Seen::Diverged("a match"));
        let violation = checkers.violation.expect("an objection");
        assert_eq!(violation.rule, Rule::Transitions);
        assert_eq!(violation.detail, "R1M1 went from PENDING to COMPLETED");
    }
}
