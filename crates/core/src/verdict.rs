//! How a match ended, and what it is worth.

use serde::{Deserialize, Serialize};

use crate::policy::Policy;
use crate::seat::{Seat, Seats};

/// How a match ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Verdict {
    /// Both played; this side won.
    Won(Seat),
    /// Both played; nobody won.
    Drawn,
    /// This side failed to play; the other gets the points of a win.
    TechnicalLoss(Seat),
    /// Both sides failed to play; nobody gets points of a win.
    BothLost,
    /// The match was called off; it counts for nobody.
    Cancelled,
}

/// What one match did to one player's record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Score {
    /// Won, on the board or by the opponent's failure.
    Win,
    /// A draw.
    Draw,
    /// Lost on the board.
    Loss,
    /// Lost by failing to play.
    TechnicalLoss,
    /// No game took place.
    None,
}

impl Score {
    /// The points it is worth under `policy`.
    pub fn points(self, policy: &Policy) -> u32 {
        match self {
            Self::Win => policy.points_win(),
            Self::Draw => policy.points_draw(),
            Self::Loss => policy.points_loss(),
            Self::TechnicalLoss => policy.points_technical_loss(),
            Self::None => 0,
        }
    }
}

impl Verdict {
    /// What the match did to each side's record.
    pub const fn scores(self) -> Seats<Score> {
        match self {
            Self::Won(Seat::A) => Seats::new(Score::Win, Score::Loss),
            Self::Won(Seat::B) => Seats::new(Score::Loss, Score::Win),
            Self::Drawn => Seats::new(Score::Draw, Score::Draw),
            Self::TechnicalLoss(Seat::A) => Seats::new(Score::TechnicalLoss, Score::Win),
            Self::TechnicalLoss(Seat::B) => Seats::new(Score::Win, Score::TechnicalLoss),
            Self::BothLost => Seats::new(Score::TechnicalLoss, Score::TechnicalLoss),
            Self::Cancelled => Seats::new(Score::None, Score::None),
        }
    }

    /// The side that gets the points of a win.
    pub const fn winner(self) -> Option<Seat> {
        match self {
            Self::Won(seat) => Some(seat),
            Self::TechnicalLoss(seat) => Some(seat.other()),
            Self::Drawn | Self::BothLost | Self::Cancelled => None,
        }
    }

    /// Whether this side lost by failing to play.
    pub fn lost_technically(self, seat: Seat) -> bool {
        self.scores()[seat] == Score::TechnicalLoss
    }

    /// Whether both sides really played.
    pub const fn was_played(self) -> bool {
        matches!(self, Self::Won(_) | Self::Drawn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::RuleSet;

    // req: RESULT-4, MATCH-8
    #[test]
    fn points_of_a_match_are_conserved_under_each_rule_set() {
        for rule_set in RuleSet::ALL {
            let policy = Policy::build(rule_set, []).unwrap();
            let points = |verdict: Verdict| {
                let scores = verdict.scores();
                (scores.a.points(&policy), scores.b.points(&policy))
            };
            assert_eq!(points(Verdict::Won(Seat::A)), (3, 0));
            assert_eq!(points(Verdict::Won(Seat::B)), (0, 3));
            assert_eq!(points(Verdict::Drawn), (1, 1));
            assert_eq!(points(Verdict::TechnicalLoss(Seat::A)), (0, 3));
            assert_eq!(points(Verdict::TechnicalLoss(Seat::B)), (3, 0));
            assert_eq!(points(Verdict::BothLost), (0, 0));
            assert_eq!(points(Verdict::Cancelled), (0, 0));
        }
    }
}
