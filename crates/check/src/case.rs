//! A case: what is sent, what must come, why it matters, and the function that tries it.

use std::fmt;
use std::pin::Pin;
use std::str::FromStr;

use league_wire::Dialect;

use crate::bench::Bench;
use crate::verdict::Outcome;

/// Whom a case is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Plays matches.
    Player,
    /// Runs matches.
    Referee,
    /// Runs leagues.
    Manager,
}

/// How much depends on a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Without it the agent loses matches or leagues.
    Must,
    /// Without it something is worse than it need be.
    Should,
}

/// Which cases may run at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lane {
    /// Disturbs nobody: runs beside others.
    Together,
    /// Runs with nothing beside it, in the order of the list.
    Alone,
    /// After everything else, because the agent is not the same afterwards.
    Last,
}

/// The function that tries a case.
pub type Run = for<'a> fn(&'a Bench) -> Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;

/// One thing that an agent must or should do.
#[derive(Clone, Copy)]
pub struct Case {
    /// Its name for ever, such as `player.invite.in-time`.
    pub id: &'static str,
    /// What is tried, in a few words.
    pub title: &'static str,
    /// How much depends on it.
    pub level: Level,
    /// Which cases may run beside it.
    pub lane: Lane,
    /// The requirements it stands for.
    pub requirements: &'static [&'static str],
    /// Where it is written: a page and section of `docs/protocol`, or a source document.
    pub section: &'static str,
    /// The dialects in which it is tried; none listed means every one.
    pub dialects: &'static [Dialect],
    /// What is sent.
    pub sent: &'static str,
    /// What must come.
    pub wanted: &'static str,
    /// Why it matters.
    pub why: &'static str,
    /// The function that tries it.
    pub run: Run,
}

impl Case {
    /// A case that says nothing yet, for lists in which many have something in common.
    pub const BLANK: Self = Self {
        id: "",
        title: "",
        level: Level::Must,
        lane: Lane::Alone,
        requirements: &[],
        section: "",
        dialects: &[],
        sent: "",
        wanted: "",
        why: "",
        run: |_| Box::pin(std::future::ready(Ok(()))),
    };

    /// Whether it is tried in `dialect`.
    pub fn speaks(&self, dialect: Dialect) -> bool {
        self.dialects.is_empty() || self.dialects.contains(&dialect)
    }

    /// Whether `pattern` names it: its id, or the beginning of it up to a dot.
    pub fn is_named_by(&self, pattern: &str) -> bool {
        let rest = self.id.strip_prefix(pattern.trim_end_matches('.'));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Case").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Role {
    /// The name people type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Player => "player",
            Self::Referee => "referee",
            Self::Manager => "manager",
        }
    }
}

impl Level {
    /// The name people type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Must => "must",
            Self::Should => "should",
        }
    }
}

/// A word that is no level.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected must or should")]
pub struct UnknownLevel;

impl FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(text: &str) -> Result<Self, UnknownLevel> {
        [Self::Must, Self::Should]
            .into_iter()
            .find(|level| level.name() == text)
            .ok_or(UnknownLevel)
    }
}
