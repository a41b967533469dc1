//! Why a match machine says no.

use super::phase::State;

/// A polite no. Nothing has changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The command does not fit the state the match is in.
    #[error("not possible while the match is {0}")]
    WrongState(State),
    /// This player owes no move now.
    #[error("this player owes no move now")]
    NotYourTurn,
    /// The number is not one the game can draw.
    #[error("{got} is not a number from 1 to {faces}")]
    BadNumber {
        /// What was handed in.
        got: u32,
        /// The largest number allowed.
        faces: u32,
    },
}
