//! Who sent a message: `league_manager`, `referee:REF01`, `player:P01`, `administrator`.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use league_core::id::AgentId;
use league_core::limits::NAME_BYTES_MAX;

use crate::json::Json;
use crate::value::{Emit, FromField, Wrong};

/// Who sent a message. Ids are text, since at its registration an agent may call itself anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sender {
    /// The league manager, with the id it may give of itself.
    LeagueManager(Option<Arc<str>>),
    /// A referee and its id.
    Referee(Arc<str>),
    /// A player and its id.
    Player(Arc<str>),
    /// Whoever runs the league.
    Administrator,
}

/// The id of a manager that has none.
pub(crate) const NO_ID: &str = "manager";

impl Sender {
    /// The league manager without an id.
    pub const MANAGER: Self = Self::LeagueManager(None);

    /// The registered agent this sender claims to be.
    pub fn agent(&self) -> Option<AgentId> {
        match self {
            Self::Referee(id) => id.parse().ok().map(AgentId::Referee),
            Self::Player(id) => id.parse().ok().map(AgentId::Player),
            Self::LeagueManager(_) | Self::Administrator => None,
        }
    }

    /// Reads the documented forms.
    pub fn parse(text: &str) -> Option<Self> {
        let (kind, id) = match text.split_once(':') {
            Some((kind, id)) => (kind, Some(id)),
            None => (text, None),
        };
        if id.is_some_and(|id| id.is_empty() || id.len() > NAME_BYTES_MAX) {
            return None;
        }
        match (kind, id.map(Arc::from)) {
            // Where an id must be given, this one stands for none.
            ("league_manager", id) => Some(Self::LeagueManager(id.filter(|id| **id != *NO_ID))),
            ("referee", Some(id)) => Some(Self::Referee(id)),
            ("player", Some(id)) => Some(Self::Player(id)),
            ("administrator", None) => Some(Self::Administrator),
            _ => None,
        }
    }
}

impl From<AgentId> for Sender {
    fn from(agent: AgentId) -> Self {
        match agent {
            AgentId::Player(id) => Self::Player(id.to_string().into()),
            AgentId::Referee(id) => Self::Referee(id.to_string().into()),
        }
    }
}

impl fmt::Display for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LeagueManager(None) => f.write_str("league_manager"),
            Self::LeagueManager(Some(id)) => write!(f, "league_manager:{id}"),
            Self::Referee(id) => write!(f, "referee:{id}"),
            Self::Player(id) => write!(f, "player:{id}"),
            Self::Administrator => f.write_str("administrator"),
        }
    }
}

impl<'a> FromField<'a> for Sender {
    const EXPECTED: &'static str = "\"league_manager\", \"league_manager:<id>\", \
         \"referee:<id>\", \"player:<id>\" or \"administrator\"";

    fn from_field(raw: Json<'a>) -> Result<Self, Wrong> {
        Self::parse(&<Cow<'a, str>>::from_field(raw)?).ok_or(Wrong::PLAIN)
    }
}

impl Emit for Sender {
    fn emit(&self, out: &mut Vec<u8>) {
        self.to_string().emit(out);
    }
}

#[cfg(test)]
mod tests {
    use league_core::id::PlayerId;

    use super::*;

    // req: WIRE-5
    #[test]
    fn the_documented_forms_are_read_and_written() {
        for text in [
            "league_manager",
            "league_manager:LM01",
            "referee:REF01",
            "player:P01",
            "player:my agent",
            "administrator",
        ] {
            assert_eq!(Sender::parse(text).unwrap().to_string(), text);
        }
        for text in ["", "player", "player:", "referee", "coach:C01", "Player:P01", "P01"] {
            assert_eq!(Sender::parse(text), None, "{text}");
        }
        assert_eq!(Sender::parse(&format!("player:{}", "x".repeat(200))), None);
    }

    #[test]
    fn only_registered_ids_name_an_agent() {
        let agent = |text: &str| Sender::parse(text).unwrap().agent();
        assert_eq!(agent("player:P01"), Some(AgentId::Player(PlayerId::new(1))));
        assert_eq!(agent("player:REF01"), None);
        assert_eq!(agent("player:somebody"), None);
        assert_eq!(agent("administrator"), None);
    }
}
