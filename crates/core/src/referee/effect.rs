//! What the shell must do after an event.

use std::sync::Arc;

use super::command::Fault;
use super::event::{Failure, Loss};
use crate::seat::Seat;
use crate::time::Timestamp;

/// Work for the shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Send an invitation.
    Invite {
        /// To whom.
        seat: Seat,
        /// Until when its answer counts.
        deadline: Timestamp,
    },
    /// Call for a move.
    Ask {
        /// Whom.
        seat: Seat,
        /// The how-manieth window, from one.
        attempt: u32,
        /// When the window closes.
        deadline: Timestamp,
    },
    /// Tell a player what went wrong and what follows.
    Warn {
        /// Whom.
        seat: Seat,
        /// What went wrong.
        trouble: Trouble,
    },
    /// Draw a number from 1 to `faces` and hand it in.
    Draw {
        /// The largest number that can come up.
        faces: u32,
    },
    /// Report the result to the manager until it is acknowledged.
    Report,
    /// Tell the manager that this attempt counts for nobody.
    ReportAnnulment,
    /// Tell both players how the match ended.
    TellResult,
}

/// What went wrong with a player's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// A window closed without a move; another will open.
    AttemptFailed {
        /// Which window.
        attempt: u32,
        /// Why.
        failure: Failure,
        /// When the next one opens.
        retry_at: Timestamp,
    },
    /// An answer was not a legal move and may be repeated.
    Invalid {
        /// What was wrong.
        fault: Fault,
        /// What came.
        got: Arc<str>,
        /// Invalid answers so far, this one included.
        count: u32,
    },
    /// The match is lost.
    Lost(Loss),
}
