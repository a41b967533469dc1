//! The names under which referees know the order to play a match. The documents have none.

/// A name of START_MATCH.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum OrderName {
    /// START_MATCH, `start_match`.
    #[default]
    StartMatch,
    /// MATCH_ASSIGNMENT, `match_assignment`.
    MatchAssignment,
    /// RUN_MATCH, `run_match`.
    RunMatch,
}

impl OrderName {
    /// Every name, the usual one first.
    pub const ALL: [Self; 3] = [Self::StartMatch, Self::MatchAssignment, Self::RunMatch];

    /// As a type of message.
    pub const fn name(self) -> &'static str {
        match self {
            Self::StartMatch => "START_MATCH",
            Self::MatchAssignment => "MATCH_ASSIGNMENT",
            Self::RunMatch => "RUN_MATCH",
        }
    }

    /// As a method.
    pub const fn method(self) -> &'static str {
        match self {
            Self::StartMatch => "start_match",
            Self::MatchAssignment => "match_assignment",
            Self::RunMatch => "run_match",
        }
    }

    /// The name to try when this one is not known.
    pub fn next(self) -> Option<Self> {
        Self::ALL.into_iter().find(|other| *other > self)
    }

    /// The name that is written so.
    pub(crate) fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }
}
