//! Identifiers, parsed once at the border and compact from then on.
//!
//! Players, referees, rounds and matches are numbered by the league itself, so their identifiers
//! are integers that print as `P01`, `REF01`, `1` and `R1M1`.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::limits::NAME_BYTES_MAX;

/// Why a text is not an identifier.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}, got {got:?}")]
pub struct BadId {
    /// What an identifier of this kind looks like.
    pub expected: &'static str,
    /// The text that was offered, shortened.
    pub got: String,
}

impl BadId {
    fn new(expected: &'static str, got: &str) -> Self {
        Self { expected, got: got.chars().take(80).collect() }
    }
}

macro_rules! numbered {
    ($(#[$doc:meta])* $name:ident, $prefix:literal, $width:literal, $expected:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(NonZeroU32);

        impl $name {
            /// The `number`-th of its kind, counted from one.
            ///
            /// # Panics
            /// If `number` is zero.
            #[inline]
            pub const fn new(number: u32) -> Self {
                match NonZeroU32::new(number) {
                    Some(number) => Self(number),
                    None => panic!("identifiers count from one"),
                }
            }

            /// The identifier of the entry at `index`, counted from zero.
            #[inline]
            pub fn from_index(index: usize) -> Self {
                let number = u32::try_from(index).expect("fewer than 2^32 entries") + 1;
                Self::new(number)
            }

            fn read(text: &str) -> Option<Self> {
                number(text.strip_prefix($prefix)?, $width).map(Self)
            }

            /// The number in the identifier, counted from one.
            #[inline]
            pub const fn number(self) -> u32 {
                self.0.get()
            }

            /// The position in a list ordered by registration, counted from zero.
            #[inline]
            pub const fn index(self) -> usize {
                self.0.get() as usize - 1
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{:0", $width, "}"), self.0)
            }
        }

        impl FromStr for $name {
            type Err = BadId;

            fn from_str(text: &str) -> Result<Self, BadId> {
                Self::read(text).ok_or_else(|| BadId::new($expected, text))
            }
        }
    };
}

numbered!(
    /// A player of one league: `P01`, `P02`, …
    PlayerId, "P", 2, "a player id such as \"P01\""
);
numbered!(
    /// A referee of one league: `REF01`, `REF02`, …
    RefereeId, "REF", 2, "a referee id such as \"REF01\""
);

/// The number in at least `width` digits, with no zero in front beyond the padding: one spelling
/// per number.
fn number(digits: &str, width: usize) -> Option<NonZeroU32> {
    let digits = digits.as_bytes();
    let padded = digits.len() == width || digits.first() != Some(&b'0');
    if digits.len() < width || digits.len() > DIGITS_MAX || !padded {
        return None;
    }
    let number = digits.iter().try_fold(0_u64, |number, byte| {
        byte.is_ascii_digit().then(|| number * 10 + u64::from(byte - b'0'))
    });
    u32::try_from(number?).ok().and_then(NonZeroU32::new)
}

/// How many digits the largest number has.
const DIGITS_MAX: usize = 10;

/// A round of one league, counted from one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RoundId(NonZeroU32);

impl RoundId {
    /// The first round.
    pub const FIRST: Self = Self::new(1);

    /// The `number`-th round.
    ///
    /// # Panics
    /// If `number` is zero.
    #[inline]
    pub const fn new(number: u32) -> Self {
        match NonZeroU32::new(number) {
            Some(number) => Self(number),
            None => panic!("rounds count from one"),
        }
    }

    /// The number of the round, counted from one.
    #[inline]
    pub const fn number(self) -> u32 {
        self.0.get()
    }

    /// The round after this one.
    #[must_use]
    #[inline]
    pub const fn next(self) -> Self {
        Self::new(self.0.get() + 1)
    }
}

impl fmt::Display for RoundId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for RoundId {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        let digits = text.strip_prefix('R').unwrap_or(text);
        number(digits, 1)
            .map(Self)
            .ok_or_else(|| BadId::new("a round number such as 1 or \"R1\"", text))
    }
}

/// A match of one league: the `number`-th of its round, `R1M1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct MatchId {
    /// The round the match belongs to.
    pub round: RoundId,
    number: NonZeroU32,
}

impl MatchId {
    /// The `number`-th match of `round`.
    ///
    /// # Panics
    /// If `number` is zero.
    #[inline]
    pub const fn new(round: RoundId, number: u32) -> Self {
        match NonZeroU32::new(number) {
            Some(number) => Self { round, number },
            None => panic!("matches count from one"),
        }
    }

    /// The match at `index` of the round's list, counted from zero.
    #[inline]
    pub fn from_index(round: RoundId, index: usize) -> Self {
        Self::new(round, u32::try_from(index).expect("fewer than 2^32 matches") + 1)
    }

    /// The number within the round, counted from one.
    #[inline]
    pub const fn number(self) -> u32 {
        self.number.get()
    }

    /// The position in the round's list, counted from zero.
    #[inline]
    pub const fn index(self) -> usize {
        self.number.get() as usize - 1
    }
}

impl fmt::Display for MatchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "R{}M{}", self.round, self.number)
    }
}

impl FromStr for MatchId {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        let read = || {
            let (round, own) = text.strip_prefix('R')?.split_once('M')?;
            Some(Self { round: RoundId(number(round, 1)?), number: number(own, 1)? })
        };
        read().ok_or_else(|| BadId::new("a match id such as \"R1M1\"", text))
    }
}

/// A player or a referee.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum AgentId {
    /// A player.
    Player(PlayerId),
    /// A referee.
    Referee(RefereeId),
}

impl AgentId {
    /// `player` or `referee`.
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Player(_) => "player",
            Self::Referee(_) => "referee",
        }
    }
}

impl fmt::Display for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Player(id) => id.fmt(f),
            Self::Referee(id) => id.fmt(f),
        }
    }
}

impl FromStr for AgentId {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        let player = PlayerId::read(text).map(Self::Player);
        player
            .or_else(|| RefereeId::read(text).map(Self::Referee))
            .ok_or_else(|| BadId::new("an agent id such as \"P01\" or \"REF01\"", text))
    }
}

macro_rules! named {
    ($(#[$doc:meta])* $name:ident, $expected:literal, $allowed:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = BadId;

            fn from_str(text: &str) -> Result<Self, BadId> {
                if text.is_empty() || text.len() > NAME_BYTES_MAX || !$allowed(text) {
                    return Err(BadId::new($expected, text));
                }
                Ok(Self(text.into()))
            }
        }
    };
}

named!(
    /// A league hosted by a manager, such as `league_2025_even_odd`.
    LeagueId,
    "a league id of 1 to 128 letters, digits, '_', '-' or '.'",
    is_plain
);
named!(
    /// A game by name, such as `even_odd`.
    GameType,
    "a game type of 1 to 128 letters, digits, '_', '-' or '.'",
    is_plain
);
named!(
    /// Ties together the messages of one exchange; one per attempt at a match.
    ConversationId,
    "a conversation id of 1 to 128 printable characters without spaces",
    is_printable
);

// Both look at all bytes even if the first is wrong: without a way out the compiler looks at many
// of them at once.

fn is_plain(text: &str) -> bool {
    text.bytes().fold(true, |plain, byte| {
        plain & (byte.is_ascii_alphanumeric() | matches!(byte, b'_' | b'-' | b'.'))
    })
}

fn is_printable(text: &str) -> bool {
    text.bytes().fold(true, |graphic, byte| graphic & byte.is_ascii_graphic())
        || text.chars().all(|c| !c.is_control() && !c.is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    // req: REG-2, SCHED-2
    #[test]
    fn identifiers_print_as_documented_and_read_back() {
        check::<PlayerId>("P01", PlayerId::new(1));
        check::<PlayerId>("P150", PlayerId::new(150));
        check::<RefereeId>("REF01", RefereeId::new(1));
        check::<MatchId>("R1M1", MatchId::new(RoundId::new(1), 1));
        check::<MatchId>("R12M345", MatchId::new(RoundId::new(12), 345));
        check::<AgentId>("REF02", AgentId::Referee(RefereeId::new(2)));
    }

    #[test]
    fn one_number_has_one_spelling() {
        for text in ["P1", "P001", "P00", "P", "p01", "P-1", "P01 ", "REF1", "P99999999999"] {
            assert!(text.parse::<PlayerId>().is_err(), "{text}");
        }
        for text in ["R0M1", "R1M0", "R01M1", "R1", "M1", "R1M", "R1M1x", "r1m1"] {
            assert!(text.parse::<MatchId>().is_err(), "{text}");
        }
    }

    #[test]
    fn rounds_are_read_in_all_three_forms() {
        for text in ["3", "R3"] {
            assert_eq!(text.parse(), Ok(RoundId::new(3)));
        }
        for text in ["0", "R0", "-1", "3.0", ""] {
            assert!(text.parse::<RoundId>().is_err(), "{text}");
        }
    }

    #[test]
    fn names_are_bounded_and_plain() {
        assert!("league_2025_even_odd".parse::<LeagueId>().is_ok());
        assert!("".parse::<LeagueId>().is_err());
        assert!("a/b".parse::<LeagueId>().is_err());
        assert!("x".repeat(129).parse::<GameType>().is_err());
        assert!("two words".parse::<ConversationId>().is_err());
    }

    fn check<T: FromStr + fmt::Display + fmt::Debug + PartialEq>(text: &str, id: T)
    where
        T::Err: fmt::Debug,
    {
        assert_eq!(text.parse::<T>().unwrap(), id);
        assert_eq!(id.to_string(), text);
    }
}
