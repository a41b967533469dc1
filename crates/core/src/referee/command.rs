//! What a match machine can be told.

use std::sync::Arc;

use crate::game::Move;
use crate::seat::Seat;
use crate::time::Timestamp;

/// Something that happened outside the match and may change it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Send the invitations.
    Begin,
    /// A player answered its invitation.
    Join {
        /// Who answered.
        seat: Seat,
        /// What it said.
        answer: Join,
    },
    /// A player answered a call for a move, in the response or by a call of its own.
    Answer {
        /// Who answered.
        seat: Seat,
        /// What it said.
        answer: Answer,
    },
    /// A call to a player did not get through or broke off.
    CallFailed {
        /// Who was called.
        seat: Seat,
        /// Whether the player may have received the call.
        delivered: bool,
    },
    /// An invitation cannot be sent before `until`, because the address's breaker is open.
    Postpone {
        /// Whose invitation waits.
        seat: Seat,
        /// When the breaker allows its trial.
        until: Timestamp,
    },
    /// The number the game called for.
    Draw(u32),
    /// The manager has the result in its books.
    Acknowledge,
    /// Our own side failed; nobody may be charged.
    Annul {
        /// What failed.
        reason: Arc<str>,
    },
    /// Time has passed.
    Wake,
}

/// A player's answer to an invitation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Join {
    /// It will play.
    Accept,
    /// It will not.
    Refuse {
        /// Its reason, if it gave one.
        reason: Option<Arc<str>>,
    },
}

/// A player's answer to a call for a move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// A move that could be read; whether it is legal, the machine decides.
    Move(Sealed),
    /// Something that is not a move of this match.
    Faulty {
        /// What is wrong with it.
        fault: Fault,
        /// What came, shortened, for the player's eyes.
        got: Arc<str>,
    },
}

/// A move with what its player added to prove it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Sealed {
    /// The move.
    pub chosen: Move,
    /// The player's contribution to the draw.
    pub nonce: Option<Arc<str>>,
    /// The player's proof that this is its move.
    pub proof: Option<Arc<str>>,
}

/// Why an answer is not a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Not one of the legal options.
    IllegalMove,
    /// A field is missing or unreadable.
    MissingField,
    /// The answer names another match.
    WrongMatch,
}
