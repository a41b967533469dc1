//! What an administrator can do to a league, by its name in addresses and on the command line.

use league_core::manager::Command;
use serde::Deserialize;

/// Something that an administrator does to a league.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Start,
    Pause,
    Resume,
    Close,
    Archive,
    Approve,
    Ban,
    Reinstate,
    Release,
    Rotate,
    Rematch,
    Annul,
}

/// To whom or to what it is done, and why.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Details {
    /// The agent, such as P01 or REF01.
    pub(super) agent: Option<String>,
    /// The match, such as R1M1.
    #[serde(rename = "match")]
    pub(super) match_id: Option<String>,
    pub(super) reason: Option<String>,
}

impl Details {
    fn are_empty(&self) -> bool {
        self.agent.is_none() && self.match_id.is_none() && self.reason.is_none()
    }
}

/// Why an action leads to no command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoCommand {
    /// Leagues cannot be asked that yet.
    NotYet,
    /// There is more said than the action takes.
    TooMuch,
}

impl Action {
    const ALL: [(&str, Self); 12] = [
        ("start", Self::Start),
        ("pause", Self::Pause),
        ("resume", Self::Resume),
        ("close", Self::Close),
        ("archive", Self::Archive),
        ("approve", Self::Approve),
        ("ban", Self::Ban),
        ("reinstate", Self::Reinstate),
        ("release", Self::Release),
        ("rotate", Self::Rotate),
        ("rematch", Self::Rematch),
        ("annul", Self::Annul),
    ];

    /// The action of that name.
    pub(super) fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(known, _)| *known == name).map(|(_, action)| action)
    }

    /// What the league is asked.
    ///
    /// # Errors
    /// If it cannot be asked like this.
    pub(super) fn command(self, details: &Details) -> Result<Command, NoCommand> {
        match self {
            Self::Start if details.are_empty() => Ok(Command::Start),
            Self::Start => Err(NoCommand::TooMuch),
            Self::Pause
            | Self::Resume
            | Self::Close
            | Self::Archive
            | Self::Approve
            | Self::Ban
            | Self::Reinstate
            | Self::Release
            | Self::Rotate
            | Self::Rematch
            | Self::Annul => Err(NoCommand::NotYet),
        }
    }
}
