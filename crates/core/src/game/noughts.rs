//! Noughts and crosses, in tests only: an alternating board game that shows the match machine needs
//! nothing new for one.

use std::sync::Arc;

use super::{Game, Move, Next, Options, Outcome, Step, Turn};
use crate::id::MatchId;
use crate::seat::{Seat, Seats};

const LINES: [[i64; 3]; 8] =
    [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]];

/// A board of nine cells, numbered 0 to 8; side A begins.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Noughts;

impl Game for Noughts {
    fn name(&self) -> &'static str {
        "noughts"
    }

    fn steps_max(&self) -> u32 {
        9
    }

    fn in_match(&self, _id: MatchId) -> Arc<dyn Game> {
        Arc::new(*self)
    }

    fn next(&self, turns: &[Turn]) -> Next {
        let taken = |seat: Seat| -> Vec<i64> {
            let moves = turns.iter().map(|turn| match turn {
                Turn::Moves(moves) => moves,
                Turn::Drawn(_) => unreachable!("nothing is drawn in this game"),
            });
            let cells = moves.filter_map(|moves| match &moves[seat] {
                Some(Move::Number(cell)) => Some(*cell),
                Some(Move::Word(_)) | None => None,
            });
            cells.collect()
        };
        let cells = Seats::from_fn(taken);
        for (seat, mine) in cells.iter() {
            if LINES.iter().any(|line| line.iter().all(|cell| mine.contains(cell))) {
                return Next::Over(Outcome::Won(seat));
            }
        }
        let free: Vec<i64> =
            (0..9).filter(|cell| cells.all(|taken| !taken.contains(cell))).collect();
        if free.is_empty() {
            return Next::Over(Outcome::Drawn);
        }
        let mover = if free.len() % 2 == 1 { Seat::A } else { Seat::B };
        let owed = Seats::from_fn(|seat| (seat == mover).then(|| Options::Numbers(free.clone())));
        Next::Moves(Step { kind: "cell", owed })
    }
}
