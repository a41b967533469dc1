//! Worlds from their beginning to their end.

use std::panic::{AssertUnwindSafe, catch_unwind};

use league_core::id::AgentId;
use league_core::seat::Seat;

use super::World;
use crate::message::Node;
use crate::outcome::{Crowd, Outcome, Rule, Tally, Violation};
use crate::plan::Plan;
use crate::sabotage::Sabotage;

/// Plays the world of `seed`.
pub fn run(seed: u64) -> Outcome {
    run_with(seed, None, false)
}

/// Plays the world of `seed`, with a bug built in if one is given; keeps the trace if `traced`.
///
/// A panic of a machine is a violation like any other.
pub fn run_with(seed: u64, sabotage: Option<Sabotage>, traced: bool) -> Outcome {
    let play = || World::new(Plan::from_seed(seed), sabotage, traced).play();
    catch_unwind(AssertUnwindSafe(play)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
        let detail = text.unwrap_or_else(|| "a panic".into());
        let violation = Some(Violation { at: 0, rule: Rule::Calm, detail });
        Outcome { seed, violation, hash: 0, tally: Tally::default(), trace: vec![] }
    })
}

/// Plays a league of fifty with the documents' own times: five are silent, three slow, and two
/// answer what cannot be read.
pub fn crowd(seed: u64) -> Crowd {
    let mut world = World::new(Plan::crowd(seed), None, false);
    while world.step() {}
    world.crowd()
}

impl World {
    fn play(mut self) -> Outcome {
        while self.step() {}
        self.outcome()
    }

    fn outcome(mut self) -> Outcome {
        self.checkers.tally.span_ms = self.now;
        Outcome {
            seed: self.plan.seed,
            violation: self.checkers.violation.take(),
            hash: self.trace.hash(),
            tally: self.checkers.tally,
            trace: self.trace.into_lines(),
        }
    }

    fn crowd(self) -> Crowd {
        let (mut pairs, mut played, mut charged, mut spared) = (0, 0, 0, 0);
        let ledger = self.checkers.ledger();
        for (_, standing) in ledger.standings() {
            let is_good = |seat: Seat| {
                let node = ledger.node(AgentId::Player(standing.pairing.player(seat)));
                matches!(node, Some(Node::Player(index)) if self.plan.players[index].is_good())
            };
            let good = Seat::BOTH.map(is_good);
            pairs += usize::from(good == [true, true]);
            let was_played = standing.result.is_some_and(|verdict| verdict.was_played());
            played += usize::from(good == [true, true] && was_played);
            for (seat, good) in Seat::BOTH.into_iter().zip(good) {
                let lost = standing.result.is_some_and(|verdict| verdict.lost_technically(seat));
                charged += usize::from(good && lost);
                // Who is there when the other has left is not charged, whatever it would have done.
                spared += usize::from(!good && !lost && standing.was_reported);
            }
        }
        Crowd {
            healthy_pairs: pairs,
            healthy_played: played,
            healthy_charged: charged,
            bad_spared: spared,
            outcome: self.outcome(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guests::Guest;

    /// These players in fair weather.
    fn fair(players: &[Guest], operated: bool) -> Outcome {
        let mut plan = Plan::crowd(6);
        plan.players = players.to_vec();
        plan.referees.iter_mut().for_each(|referee| referee.operated = operated);
        World::new(plan, None, false).play()
    }

    #[test]
    fn a_league_of_players_that_prove_another_choice_ends_all_the_same() {
        // Nobody can tell whether a referee or its player lies.
        for operated in [true, false] {
            let Outcome { violation, tally, .. } = fair(&[Guest::FalseProof; 6], operated);
            assert_eq!(violation, None);
            assert_eq!((tally.results, tally.played, tally.lies), (15, 15, 15));
            assert_eq!((tally.stuck, tally.annulled, tally.reassigned), (0, 0, 0), "{tally:?}");
            assert_eq!((tally.suspended, tally.technical_losses), (0, 0), "nobody is charged");
        }
    }

    // req: LIFE-3, LIFE-4
    #[test]
    fn whoever_falls_silent_is_suspended_and_shut_down_and_nobody_else_is() {
        let mut players = [Guest::Prompt; 6];
        players[2] = Guest::Silent;
        let Outcome { violation, tally, .. } = fair(&players, true);
        assert_eq!(violation, None);
        assert_eq!((tally.results, tally.played), (15, 10));
        assert_eq!((tally.suspended, tally.recovered, tally.shut_down), (1, 0, 1));
        assert_eq!((tally.technical_losses, tally.walkovers), (5, 2));
    }
}
