//! What a lying referee makes of a report. Only lies that can be found out: nobody can tell from a
//! report whether a player was really silent.

use league_core::game::{self, EvenOdd, Game, Move, Outcome, Turn};
use league_core::id::MatchId;
use league_core::seat::{Seat, Seats};
use league_core::verdict::Verdict;

use super::Hall;
use super::bout::Bout;
use crate::guests::{Lie, Manner};
use crate::message::Claim;

impl Bout {
    /// What is reported now; `None` before the match is decided.
    pub(super) fn claim(&mut self) -> Option<Claim> {
        let truth = self.truth()?;
        let Manner::Liar { lie, .. } = self.manner else { return Some(truth) };
        if self.lies_told > 0 || lie == Lie::Second {
            return Some(truth);
        }
        let told = told(lie, truth.clone(), self.order.seed.is_some(), self.machine.game());
        self.lies_told += u32::from(told.is_some());
        Some(told.unwrap_or(truth))
    }

    /// Whether a refused liar reports once more.
    pub(super) const fn repents(&mut self) -> bool {
        let Manner::Liar { repents: true, .. } = self.manner else { return false };
        let first = self.lies_told == 1;
        self.lies_told += 1;
        first
    }

    /// A second, different report after the first was acknowledged.
    pub(super) fn lie_afterwards(&mut self, hall: &mut Hall<'_, '_>) {
        let Manner::Liar { lie: Lie::Second, .. } = self.manner else { return };
        if self.lies_told > 0 {
            return;
        }
        self.lies_told += 1;
        let Some(truth) = self.truth() else { return };
        let verdict = match truth.verdict {
            Verdict::BothLost => Verdict::Cancelled,
            Verdict::Won(_) | Verdict::Drawn | Verdict::TechnicalLoss(_) | Verdict::Cancelled => {
                Verdict::BothLost
            }
        };
        let points = Seats::default();
        self.send_claim(hall, Claim { verdict, points, ..truth });
    }
}

/// The lie made of the truth, if there is one to be made.
fn told(lie: Lie, truth: Claim, has_seed: bool, game: &dyn Game) -> Option<Claim> {
    match lie {
        Lie::Points => {
            let points = Seats::from_fn(|seat| truth.points[seat].map(|points| points + 1));
            Some(Claim { points, ..truth })
        }
        Lie::Winner => {
            let verdict = match truth.verdict {
                Verdict::Won(seat) => Verdict::Won(seat.other()),
                Verdict::Drawn => Verdict::Won(Seat::A),
                Verdict::TechnicalLoss(_) | Verdict::BothLost | Verdict::Cancelled => return None,
            };
            Some(Claim { verdict, points: Seats::default(), ..truth })
        }
        Lie::Choice => other_choice(truth, game),
        Lie::Draw if has_seed => other_number(truth, game),
        Lie::Stranger => {
            let MatchId { round, .. } = truth.match_id;
            let number = truth.match_id.number();
            let other = if number > 1 { number - 1 } else { number + 1 };
            // Should the match be its own all the same, the points give it away.
            let points = Seats::from_fn(|seat| truth.points[seat].map(|points| points + 1));
            Some(Claim { match_id: MatchId::new(round, other), points, ..truth })
        }
        Lie::Draw | Lie::Second => None,
    }
}

/// Another choice than the one that its player proved, with the result that it would have led to.
fn other_choice(truth: Claim, game: &dyn Game) -> Option<Claim> {
    let mut lie = truth;
    let seat = Seat::BOTH.into_iter().find(|seat| lie.play.choice_proofs[*seat].is_some())?;
    let turned = lie.play.turns.iter_mut().find_map(|turn| match turn {
        Turn::Moves(moves) => moves[seat].as_mut(),
        Turn::Drawn(_) => None,
    })?;
    *turned = match turned {
        Move::Word(word) => Move::word(if word.as_str() == "even" { "odd" } else { "even" })?,
        Move::Number(number) => Move::Number(*number % 5 + 1),
    };
    consistent(lie, game)
}

fn other_number(truth: Claim, game: &dyn Game) -> Option<Claim> {
    let mut lie = truth;
    let number = lie.play.turns.iter_mut().find_map(|turn| match turn {
        Turn::Drawn(number) => Some(number),
        Turn::Moves(_) => None,
    })?;
    *number = *number % EvenOdd::FACES + 1;
    consistent(lie, game)
}

/// The same claim with the verdict that its turns lead to.
fn consistent(claim: Claim, game: &dyn Game) -> Option<Claim> {
    let verdict = match game::replay(game, &claim.play.turns).ok()? {
        Outcome::Won(seat) => Verdict::Won(seat),
        Outcome::Drawn => Verdict::Drawn,
    };
    Some(Claim { verdict, points: Seats::default(), ..claim })
}
