//! What happened in a match. Kept in the transcript, never in a journal: only the manager has one.

use std::sync::Arc;

use super::command::{Fault, Sealed};
use crate::seat::Seat;
use crate::time::Timestamp;
use crate::verdict::Verdict;

/// Something that happened in a match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The match has begun; both invitations are due.
    Began,
    /// An invitation went out.
    Invited {
        /// To whom.
        seat: Seat,
        /// When it counts as unanswered.
        deadline: Timestamp,
    },
    /// An invitation waits for the address's breaker.
    InvitationPostponed {
        /// Whose.
        seat: Seat,
        /// Until when.
        until: Timestamp,
    },
    /// An invitation never reached the player and is tried again inside its window.
    InvitationUnreachable {
        /// Whose.
        seat: Seat,
        /// When it is tried again.
        retry_at: Timestamp,
        /// When it counts as unanswered.
        deadline: Timestamp,
    },
    /// A player accepted.
    Joined {
        /// Who.
        seat: Seat,
    },
    /// A call for a move went out.
    Asked {
        /// To whom.
        seat: Seat,
        /// The how-manieth window for this move, from one.
        attempt: u32,
        /// When the window closes.
        deadline: Timestamp,
    },
    /// A window closed without a move; the player is asked again later.
    AttemptFailed {
        /// Whose.
        seat: Seat,
        /// Which window.
        attempt: u32,
        /// Why there was no move.
        failure: Failure,
        /// When the next window opens.
        retry_at: Timestamp,
    },
    /// An answer was not a legal move; the player may repeat it.
    AnswerRefused {
        /// Whose.
        seat: Seat,
        /// What was wrong.
        fault: Fault,
        /// What came.
        got: Arc<str>,
    },
    /// A legal move came in. It is final.
    MoveMade {
        /// Whose.
        seat: Seat,
        /// The move and its proof.
        sealed: Sealed,
    },
    /// A player has lost technically.
    SeatLost {
        /// Who.
        seat: Seat,
        /// Why.
        loss: Loss,
    },
    /// An answer came when none was owed any more. It changes nothing.
    AnswerIgnored {
        /// Whose.
        seat: Seat,
    },
    /// Everyone who owed a move has made it.
    StepTaken,
    /// The number was drawn.
    NumberDrawn {
        /// It.
        number: u32,
    },
    /// The match is decided.
    Decided {
        /// How.
        verdict: Verdict,
    },
    /// The attempt counts for nobody, because our own side failed.
    Annulled {
        /// What failed.
        reason: Arc<str>,
    },
    /// The manager has the result in its books.
    Acknowledged,
}

/// Why a call brought no move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// No answer in time.
    Silence,
    /// No connection, or it broke off.
    Unreachable,
}

/// Why a player lost technically.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Loss {
    /// It refused the invitation.
    Declined {
        /// Its reason, if it gave one.
        reason: Option<Arc<str>>,
    },
    /// It did not answer the invitation, or could not be reached.
    NotJoined(Failure),
    /// It did not answer the last call for a move, or could not be reached.
    NoMove(Failure),
    /// Its last permitted answer was not a legal move.
    InvalidMove {
        /// What was wrong.
        fault: Fault,
        /// What came.
        got: Arc<str>,
    },
}
