//! Where a match stands. Each phase owns exactly the data that make sense in it.

use std::fmt;
use std::sync::Arc;

use super::command::Sealed;
use super::event::Loss;
use crate::game::{Step, Turn};
use crate::seat::Seats;
use crate::time::Timestamp;
use crate::verdict::Verdict;

/// Where a match stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Phase {
    /// Scheduled, not begun.
    Pending,
    /// Invitations are out.
    Inviting(Seats<Invitation>),
    /// Moves are owed.
    Collecting {
        /// What is owed.
        step: Step,
        /// How far each side is with it.
        seats: Seats<Asking>,
    },
    /// All moves are in; a number is still to be drawn.
    Drawing {
        /// The largest number that can come up.
        faces: u32,
    },
    /// The game is over and the result about to be decided.
    Evaluating {
        /// What the game or the losses led to.
        verdict: Verdict,
    },
    /// Decided, played or not.
    Decided {
        /// The result.
        verdict: Verdict,
        /// Whether it ended before anyone was asked for a move.
        aborted: bool,
        /// Whether the manager has it in its books.
        acknowledged: bool,
    },
    /// Counts for nobody.
    Annulled {
        /// What failed on our side.
        reason: Arc<str>,
    },
}

/// How far one side is with its invitation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Invitation {
    /// To be sent now.
    Due,
    /// Waiting for the address's breaker.
    Postponed {
        /// Until when.
        until: Timestamp,
    },
    /// Out, unanswered.
    Sent {
        /// When it counts as unanswered.
        deadline: Timestamp,
    },
    /// Did not get through; tried again inside the same window.
    Undelivered {
        /// When it is tried again.
        retry_at: Timestamp,
        /// When it counts as unanswered.
        deadline: Timestamp,
    },
    /// Accepted.
    Accepted,
    /// Lost technically.
    Lost,
}

/// How far one side is with the move it owes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asking {
    /// Owes nothing in this step.
    Idle,
    /// To be asked now.
    Due,
    /// Asked; the window is open.
    Open {
        /// The how-manieth window, from one.
        attempt: u32,
        /// Invalid answers so far.
        invalid: u32,
        /// When the window closes.
        deadline: Timestamp,
    },
    /// Between two windows; an answer to an earlier call still counts.
    Between {
        /// The window that closed last.
        attempt: u32,
        /// Invalid answers so far.
        invalid: u32,
        /// When the next one opens.
        retry_at: Timestamp,
    },
    /// Has moved.
    Given(Sealed),
    /// Lost technically.
    Lost,
}

/// The match states that the documents name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// Scheduled but not started.
    Pending,
    /// Sending invitations.
    Inviting,
    /// Waiting for moves.
    CollectingChoices,
    /// Determining the winner.
    Evaluating,
    /// Finished with a result.
    Completed,
    /// Called off.
    Aborted,
}

impl State {
    /// Every state.
    pub const ALL: [Self; 6] = [
        Self::Pending,
        Self::Inviting,
        Self::CollectingChoices,
        Self::Evaluating,
        Self::Completed,
        Self::Aborted,
    ];

    /// The word in the documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "PENDING",
            Self::Inviting => "INVITING",
            Self::CollectingChoices => "COLLECTING_CHOICES",
            Self::Evaluating => "EVALUATING",
            Self::Completed => "COMPLETED",
            Self::Aborted => "ABORTED",
        }
    }

    /// Whether the documents allow to go from here to `next` in one step.
    pub const fn may_become(self, next: Self) -> bool {
        matches!(
            (self, next),
            (Self::Pending, Self::Inviting)
                | (Self::Inviting, Self::CollectingChoices | Self::Aborted)
                | (Self::CollectingChoices, Self::Evaluating | Self::Aborted)
                | (Self::Evaluating, Self::CollectingChoices | Self::Completed)
        )
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Phase {
    /// The documents' word for this phase.
    pub const fn state(&self) -> State {
        match self {
            Self::Pending => State::Pending,
            Self::Inviting(_) => State::Inviting,
            Self::Collecting { .. } => State::CollectingChoices,
            Self::Drawing { .. } | Self::Evaluating { .. } => State::Evaluating,
            Self::Decided { aborted: false, .. } => State::Completed,
            Self::Decided { aborted: true, .. } | Self::Annulled { .. } => State::Aborted,
        }
    }
}

/// What a match leaves behind: the turns taken, how they were proved, and who failed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Record {
    /// The complete turns, in order.
    pub turns: Vec<Turn>,
    /// For each turn of moves, each side's move as it was handed in.
    pub seals: Vec<Seats<Option<Sealed>>>,
    /// Moves made in a step that never became complete.
    pub stranded: Seats<Option<Sealed>>,
    /// Why each side lost technically.
    pub losses: Seats<Option<Loss>>,
}
