//! What a league is founded with, and who comes to play in it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::game::{self, Game};
use crate::id::{GameType, LeagueId};
use crate::limits::{GAMES_PER_AGENT_MAX, NAME_BYTES_MAX, TEXT_BYTES_MAX};
use crate::policy::{BadRule, Policy, RuleSet};
use crate::schedule::{self, Format};
use crate::time::Timestamp;

/// What a league is founded with. Everything is text or a number, so that a charter written today
/// can be read by every later version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Charter {
    /// The league's name.
    pub league: LeagueId,
    /// The rule set it starts from.
    pub rule_set: String,
    /// Every rule with its value.
    pub rules: Vec<(String, String)>,
    /// The game that is played.
    pub game: GameType,
    /// How rounds are paired.
    pub format: String,
    /// What makes the league start.
    pub start: StartRule,
    /// How many players it takes.
    pub players_max: u32,
    /// Tells a wrong server secret when the journal is opened again.
    pub key_check: [u8; 32],
}

/// What makes a league start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum StartRule {
    /// Only the administrator's command.
    OnCommand,
    /// That many players, and a referee.
    Players(u32),
    /// A moment, if there are two players and a referee then.
    At(Timestamp),
}

/// Why a league cannot be founded or opened again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadCharter {
    /// A rule is unknown or cannot have this value.
    #[error(transparent)]
    Rule(#[from] BadRule),
    /// There is no such game here.
    #[error("unknown game `{0}`: known are {list}", list = game::NAMES.join(", "))]
    Game(GameType),
    /// There is no such format here.
    #[error("unknown format `{0}`: known are {list}", list = schedule::NAMES.join(", "))]
    Format(String),
}

/// A charter with its names looked up.
#[derive(Debug, Clone)]
pub(super) struct Articles {
    pub(super) policy: Arc<Policy>,
    pub(super) game: Arc<dyn Game>,
    pub(super) format: Arc<dyn Format>,
}

impl Charter {
    pub(super) fn articles(&self) -> Result<Articles, BadCharter> {
        let rule_set: RuleSet = self.rule_set.parse()?;
        let rules = self.rules.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        let policy = Arc::new(Policy::build(rule_set, rules)?);
        let game = game::by_name(self.game.as_str());
        let game = game.ok_or_else(|| BadCharter::Game(self.game.clone()))?;
        let format = schedule::by_name(&self.format);
        let format = format.ok_or_else(|| BadCharter::Format(self.format.clone()))?;
        Ok(Articles { policy, game, format })
    }
}

/// What an agent says of itself when it registers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// The name shown to people.
    pub display_name: Arc<str>,
    /// The agent's own version.
    pub version: Arc<str>,
    /// The protocol version it speaks.
    pub protocol_version: ProtocolVersion,
    /// The games it supports.
    pub games: Vec<GameType>,
    /// Where it is called. Empty in a registration that names no address.
    pub endpoint: Arc<str>,
    /// The shape it is spoken to in.
    pub dialect: Arc<str>,
    /// How to reach its author.
    pub email: Option<Arc<str>>,
    /// Whether it takes several messages in one call.
    pub batch: bool,
}

impl Profile {
    /// The first text that is blank though it must not be, longer than anything reasonable, or
    /// would not stay in its place when printed.
    pub(super) fn unreasonable_text(&self) -> Option<&'static str> {
        let texts = [
            ("display name", NAME_BYTES_MAX, Some(&self.display_name)),
            ("version", TEXT_BYTES_MAX, Some(&self.version)),
            ("address", TEXT_BYTES_MAX, Some(&self.endpoint)),
            ("dialect", TEXT_BYTES_MAX, Some(&self.dialect)),
            ("e-mail address", TEXT_BYTES_MAX, self.email.as_ref()),
        ];
        let bad = texts.iter().find(|(_, bytes_max, text)| {
            text.is_some_and(|text| {
                text.chars().all(is_blank)
                    || text.len() > *bytes_max
                    || text.contains(moves_the_pen)
            })
        });
        let games = (self.games.len() > GAMES_PER_AGENT_MAX).then_some("list of games");
        bad.map(|(name, ..)| *name).or(games)
    }
}

/// Whether a character is an order to the terminal or turns the direction of writing, instead of
/// being written.
fn moves_the_pen(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}'
            | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether nothing is to be seen where a character stands: spaces, joiners, fillers, tags and what
/// only changes the character before it.
fn is_blank(c: char) -> bool {
    c.is_whitespace()
        || moves_the_pen(c)
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{206f}'
            | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// A semantic version of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ProtocolVersion {
    /// Incompatible when different.
    pub major: u32,
    /// Compatible within a range.
    pub minor: u32,
    /// Never matters.
    pub patch: u32,
}

impl ProtocolVersion {
    /// The oldest version that may play.
    pub const OLDEST: Self = Self { major: 2, minor: 0, patch: 0 };
    /// The version this league speaks itself.
    pub const CURRENT: Self = Self { major: 2, minor: 1, patch: 0 };

    /// Whether an agent of this version may play.
    pub fn is_supported(self) -> bool {
        let range =
            (Self::OLDEST.major, Self::OLDEST.minor)..=(Self::CURRENT.major, Self::CURRENT.minor);
        range.contains(&(self.major, self.minor))
    }
}

impl std::fmt::Display for ProtocolVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl std::str::FromStr for ProtocolVersion {
    type Err = NotAVersion;

    fn from_str(text: &str) -> Result<Self, NotAVersion> {
        let number = |part: Option<&str>| {
            let part = part.filter(|p| !p.is_empty() && p.bytes().all(|b| b.is_ascii_digit()));
            part.and_then(|p| p.parse().ok()).ok_or(NotAVersion)
        };
        let mut parts = text.split('.');
        let major = number(parts.next())?;
        let minor = number(parts.next())?;
        let patch = number(parts.next())?;
        if parts.next().is_some() {
            return Err(NotAVersion);
        }
        Ok(Self { major, minor, patch })
    }
}

/// A text that is not a version such as `2.1.0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected a version such as 2.1.0")]
pub struct NotAVersion;

#[cfg(test)]
mod tests {
    use super::*;

    fn named(display_name: &str) -> Profile {
        Profile {
            display_name: display_name.into(),
            version: "1.0.0".into(),
            protocol_version: ProtocolVersion::CURRENT,
            games: vec![],
            endpoint: "http://localhost:8101/mcp".into(),
            dialect: "flat".into(),
            email: None,
            batch: false,
        }
    }

    #[test]
    fn names_are_text_that_stays_in_its_line() {
        for name in ["A", "Agent Alpha", "Ärger 🎲", "نور", &"A".repeat(NAME_BYTES_MAX)] {
            assert_eq!(named(name).unreasonable_text(), None, "{name:?}");
        }
        let long = "A".repeat(NAME_BYTES_MAX + 1);
        for name in [
            "",
            "   ",
            "\u{a0}",
            "\u{200b}",
            " \u{feff}",
            "\u{e0041}\u{e0042}",
            "\u{3164}",
            "\x1b[31mred",
            "two\nlines",
            "\u{202e}oof",
            "a\u{85}b",
            &long,
        ] {
            assert_eq!(named(name).unreasonable_text(), Some("display name"), "{name:?}");
        }
        let loud = Profile { version: "1\x07".into(), ..named("A") };
        assert_eq!(loud.unreasonable_text(), Some("version"));
    }

    // req: REG-3
    #[test]
    fn versions_from_two_zero_to_two_one_may_play() {
        for (text, supported) in [
            ("2.0.0", true),
            ("2.0.17", true),
            ("2.1.0", true),
            ("2.1.99", true),
            ("2.2.0", false),
            ("1.5.0", false),
            ("3.0.0", false),
        ] {
            let version: ProtocolVersion = text.parse().unwrap();
            assert_eq!(version.is_supported(), supported, "{text}");
            assert_eq!(version.to_string(), text);
        }
        for text in ["2", "2.1", "2.1.0.0", "v2.1.0", "2.1.x", "", "2..0", "+2.1.0"] {
            assert_eq!(text.parse::<ProtocolVersion>(), Err(NotAVersion), "{text}");
        }
    }
}
