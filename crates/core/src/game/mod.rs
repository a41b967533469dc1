//! What a game is: a sequence of steps in which one or both players owe a move, sometimes a number
//! drawn by nobody, and in the end an outcome.
//!
//! A game keeps no state of its own. Everything follows from the turns taken so far, so a match can
//! be replayed from its record, and a game is one function from past turns to what comes next.

mod even_odd;
mod even_odd_numbers;
#[cfg(test)]
pub(crate) mod noughts;
mod word;

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::id::MatchId;
use crate::limits::MOVE_BYTES_MAX;
use crate::seat::{Seat, Seats};

pub use even_odd::{EvenOdd, Parity};
pub use even_odd_numbers::EvenOddNumbers;
pub use word::Word;

/// One player's move.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Move {
    /// A word such as `even`.
    Word(Word),
    /// A number such as a cell or a stake.
    Number(i64),
}

impl Move {
    /// A word as a move; `None` if it is longer than any game needs.
    pub fn word(text: &str) -> Option<Self> {
        (text.len() <= MOVE_BYTES_MAX).then(|| Self::Word(text.into()))
    }
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(word) => word.fmt(f),
            Self::Number(number) => number.fmt(f),
        }
    }
}

/// The moves a player may choose from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Options {
    /// One of these words.
    Words(&'static [&'static str]),
    /// A whole number between both, inclusive.
    Range(i64, i64),
    /// One of these numbers.
    Numbers(Vec<i64>),
}

impl Options {
    /// Whether `offered` is one of them.
    pub fn allow(&self, offered: &Move) -> bool {
        match (self, offered) {
            (Self::Words(words), Move::Word(word)) => words.contains(&word.as_str()),
            (Self::Range(low, high), Move::Number(number)) => (low..=high).contains(&number),
            (Self::Numbers(numbers), Move::Number(number)) => numbers.contains(number),
            (Self::Words(_), Move::Number(_))
            | (Self::Range(..) | Self::Numbers(_), Move::Word(_)) => false,
        }
    }

    /// Every one of them as a move; at most so many that a list of them is short.
    pub fn listed(&self) -> Vec<Move> {
        match self {
            Self::Words(words) => words.iter().map(|word| Move::Word((*word).into())).collect(),
            Self::Range(low, high) => {
                (*low..=*high).take(OPTIONS_LISTED_MAX).map(Move::Number).collect()
            }
            Self::Numbers(numbers) => {
                numbers.iter().take(OPTIONS_LISTED_MAX).copied().map(Move::Number).collect()
            }
        }
    }

    /// What came instead of one of them. Where numbers are asked for, a text is told from a number.
    pub(crate) fn shown(&self, offered: &Move) -> String {
        match (self, offered) {
            (Self::Range(..) | Self::Numbers(_), Move::Word(word)) => format!("\"{word}\""),
            (Self::Words(_), Move::Word(_))
            | (Self::Words(_) | Self::Range(..) | Self::Numbers(_), Move::Number(_)) => {
                offered.to_string()
            }
        }
    }
}

const OPTIONS_LISTED_MAX: usize = 64;

impl fmt::Display for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Words(words) => {
                let quoted: Vec<_> = words.iter().map(|word| format!("'{word}'")).collect();
                f.write_str(&quoted.join(" or "))
            }
            Self::Range(low, high) => write!(f, "a whole number from {low} to {high}"),
            Self::Numbers(numbers) => {
                let listed: Vec<_> = numbers.iter().map(ToString::to_string).collect();
                write!(f, "one of {}", listed.join(", "))
            }
        }
    }
}

/// A moment at which moves are owed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// What kind of move it is, for the player: `parity`, `cell`, …
    pub kind: &'static str,
    /// What each side may choose; `None` if it owes nothing.
    pub owed: Seats<Option<Options>>,
}

/// Something that has happened in a game.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Turn {
    /// Everyone who owed a move has made it.
    Moves(Seats<Option<Move>>),
    /// A number was drawn.
    Drawn(u32),
}

/// How a game ended that both sides played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// This side won.
    Won(Seat),
    /// Nobody won.
    Drawn,
}

/// What comes after the turns taken so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Moves are owed.
    Moves(Step),
    /// A number from 1 to `faces` must be drawn.
    Draw {
        /// The largest number that can come up.
        faces: u32,
    },
    /// The game is over.
    Over(Outcome),
}

/// The rules of one game.
pub trait Game: fmt::Debug + Send + Sync {
    /// The name in `game_type`.
    fn name(&self) -> &'static str;

    /// The most steps with moves that one match can have.
    fn steps_max(&self) -> u32;

    /// The game as it is played in match `id`, where its sides differ from match to match.
    fn in_match(&self, id: MatchId) -> Arc<dyn Game>;

    /// What a side has to be in this match, where the sides of the game differ.
    fn role(&self, _seat: Seat) -> Option<&'static str> {
        None
    }

    /// What comes after `turns`. Only ever called with turns that were legal.
    fn next(&self, turns: &[Turn]) -> Next;

    /// How the turns of a game that was played to its end led there, where that is not obvious.
    fn explain(&self, _turns: &[Turn]) -> Option<String> {
        None
    }
}

/// The names of the games that can be played.
pub const NAMES: &[&str] = &[EvenOdd::NAME, EvenOddNumbers::NAME];

/// The game called `name`.
pub fn by_name(name: &str) -> Option<Arc<dyn Game>> {
    match name {
        EvenOdd::NAME => Some(Arc::new(EvenOdd)),
        EvenOddNumbers::NAME => Some(Arc::new(EvenOddNumbers::default())),
        _ => None,
    }
}

/// Why a list of turns is not a game played to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotAGame {
    /// A turn is of the wrong kind, or moves are missing or superfluous.
    #[error("turn {0} is not what the game called for")]
    WrongTurn(usize),
    /// A move is not among the options.
    #[error("turn {0} contains a move that is not allowed")]
    IllegalMove(usize),
    /// The turns stop before the game is over.
    #[error("the game is not over")]
    Unfinished,
    /// There are turns after the end.
    #[error("turn {0} comes after the end of the game")]
    AfterTheEnd(usize),
}

/// Plays `turns` again from the start and says how the game ended.
///
/// # Errors
/// If the turns are not a legal game played to its end.
pub fn replay(game: &dyn Game, turns: &[Turn]) -> Result<Outcome, NotAGame> {
    for (index, turn) in turns.iter().enumerate() {
        match (game.next(&turns[..index]), turn) {
            (Next::Moves(step), Turn::Moves(moves)) => check_moves(&step, moves, index)?,
            (Next::Draw { faces }, Turn::Drawn(number)) => {
                if !(1..=faces).contains(number) {
                    return Err(NotAGame::IllegalMove(index));
                }
            }
            (Next::Over(_), Turn::Moves(_) | Turn::Drawn(_)) => {
                return Err(NotAGame::AfterTheEnd(index));
            }
            (Next::Moves(_), Turn::Drawn(_)) | (Next::Draw { .. }, Turn::Moves(_)) => {
                return Err(NotAGame::WrongTurn(index));
            }
        }
    }
    match game.next(turns) {
        Next::Over(outcome) => Ok(outcome),
        Next::Moves(_) | Next::Draw { .. } => Err(NotAGame::Unfinished),
    }
}

fn check_moves(step: &Step, moves: &Seats<Option<Move>>, turn: usize) -> Result<(), NotAGame> {
    for seat in Seat::BOTH {
        match (&step.owed[seat], &moves[seat]) {
            (None, None) => {}
            (Some(options), Some(chosen)) if options.allow(chosen) => {}
            (Some(_), Some(_)) => return Err(NotAGame::IllegalMove(turn)),
            (None, Some(_)) | (Some(_), None) => return Err(NotAGame::WrongTurn(turn)),
        }
    }
    Ok(())
}
