//! What can go wrong between a referee and a player, and is made to.

use std::time::Duration;

use crate::limits::PRACTICE_DELAY_MAX;

/// Something that goes wrong on purpose. None of it counts against the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// Calls come late, and so do the agent's answers.
    Slow,
    /// Every call comes twice.
    Duplicates,
    /// The first answer to a call for a choice is held back until the referee asks again.
    LateRetries,
    /// Connections break before the answer has come.
    Drops,
}

impl Fault {
    /// Every fault.
    pub const ALL: [Self; 4] = [Self::Slow, Self::Duplicates, Self::LateRetries, Self::Drops];

    /// The name people type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Slow => "slow",
            Self::Duplicates => "duplicates",
            Self::LateRetries => "late-retries",
            Self::Drops => "drops",
        }
    }

    /// The fault called `name`.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|fault| fault.name() == name)
    }

    /// Whether a window passes by our own doing.
    pub const fn takes_a_window(self) -> bool {
        match self {
            Self::LateRetries => true,
            Self::Slow | Self::Duplicates | Self::Drops => false,
        }
    }

    /// How late a call comes that must be answered within `limit`, and again how late its answer.
    /// Both together leave the agent most of its time.
    pub(super) fn delay(limit: Duration) -> Duration {
        (limit / 5).min(PRACTICE_DELAY_MAX)
    }
}
