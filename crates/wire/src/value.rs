//! How single values are read and written: numbers, texts, moments, identifiers.

use std::borrow::Cow;
use std::fmt;
use std::io::Write;
use std::str::FromStr;

use league_core::game::Move;
use league_core::id::{
    AgentId, ConversationId, GameType, LeagueId, MatchId, PlayerId, RefereeId, RoundId,
};
use league_core::limits::{MOVE_BYTES_MAX, TEXT_BYTES_MAX};
use league_core::time::Timestamp;

use crate::code::Code;
use crate::decode::DecodeError;
use crate::entries::items;
use crate::fields::Items;
use crate::fragment::Fragment;
use crate::iso;
use crate::json::Json;
use crate::limits::SECRET_BYTES_MAX;
use crate::token::{AuthToken, DrawSeed, JoinCode};

/// A value that can be read from a field.
pub(crate) trait FromField<'a>: Sized {
    /// What is accepted.
    const EXPECTED: &'static str;
    /// The code of the error if something else comes.
    const CODE: Code = Code::E003;

    /// Reads the value.
    fn from_field(raw: Json<'a>) -> Result<Self, Wrong>;

    /// Reads the value from the name of a field.
    fn from_key(_key: &str) -> Option<Self> {
        None
    }
}

/// A value that is not what was expected.
#[derive(Debug)]
pub(crate) struct Wrong(Option<&'static str>);

impl Wrong {
    /// Without particular advice.
    pub(crate) const PLAIN: Self = Self(None);

    /// The error at the place where the value stood.
    pub(crate) fn at<'a, T: FromField<'a>>(self, at: &str, got: String) -> DecodeError {
        let error = DecodeError::wrong(T::CODE, at, T::EXPECTED, got);
        match self.0 {
            Some(fix) => error.fixed_by(fix),
            None => error,
        }
    }
}

/// A value that can be written as JSON.
pub(crate) trait Emit {
    /// Appends the value.
    fn emit(&self, out: &mut Vec<u8>);
}

impl<'a> FromField<'a> for Cow<'a, str> {
    const EXPECTED: &'static str = "a text";

    #[inline]
    fn from_field(raw: Json<'a>) -> Result<Self, Wrong> {
        raw.text().ok_or(Wrong::PLAIN)
    }

    fn from_key(key: &str) -> Option<Self> {
        Some(Cow::Owned(key.into()))
    }
}

/// The text in `raw`, if it is one of at most `bytes_max`.
fn short(raw: Json<'_>, bytes_max: usize) -> Result<Cow<'_, str>, Wrong> {
    let text = <Cow<'_, str>>::from_field(raw)?;
    if text.len() > bytes_max { Err(Wrong::PLAIN) } else { Ok(text) }
}

impl<'a> FromField<'a> for String {
    const EXPECTED: &'static str = "a text of at most 512 bytes";

    fn from_field(raw: Json<'a>) -> Result<Self, Wrong> {
        short(raw, TEXT_BYTES_MAX).map(Cow::into_owned)
    }

    fn from_key(key: &str) -> Option<Self> {
        Some(key.into())
    }
}

const _: () = assert!(TEXT_BYTES_MAX == 512);

impl<'a> FromField<'a> for bool {
    const EXPECTED: &'static str = "true or false";

    fn from_field(raw: Json<'a>) -> Result<Self, Wrong> {
        raw.get().parse().map_err(|_| Wrong::PLAIN)
    }
}

macro_rules! integers {
    ($($type:ty, $expected:literal;)*) => {
        $(impl<'a> FromField<'a> for $type {
            const EXPECTED: &'static str = $expected;

            fn from_field(raw: Json<'a>) -> Result<Self, Wrong> {
                raw.get().parse().map_err(|_| Wrong::PLAIN)
            }
        }

        impl Emit for $type {
            fn emit(&self, out: &mut Vec<u8>) {
                print(out, format_args!("{self}"));
            }
        })*
    };
}

integers! {
    u32, "a whole number from 0 to 4294967295";
    u64, "a whole number that is not negative";
    i64, "a whole number";
}

/// A number with three decimals, such as a share or a time in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Thousandths(pub(crate) u64);

impl<'a> FromField<'a> for Thousandths {
    const EXPECTED: &'static str = "a number that is not negative";

    fn from_field(raw: Json<'a>) -> Result<Self, Wrong> {
        if let Ok(whole) = u32::from_field(raw) {
            return Ok(Self(u64::from(whole) * 1_000));
        }
        let number: f64 = serde_json::from_str(raw.get()).map_err(|_| Wrong::PLAIN)?;
        let thousandths = (number * 1_000.0).round();
        if !(0.0..9e15).contains(&thousandths) {
            return Err(Wrong::PLAIN);
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "rounded and inside the range"
        )]
        Ok(Self(thousandths as u64))
    }
}

impl Emit for Thousandths {
    fn emit(&self, out: &mut Vec<u8>) {
        match (self.0 / 1_000, self.0 % 1_000) {
            (whole, 0) => print(out, format_args!("{whole}")),
            (whole, part) => print(out, format_args!("{whole}.{part:03}")),
        }
    }
}

/// A share in thousandths, always written with a decimal point.
pub(crate) struct Share(pub(crate) u32);

impl Emit for Share {
    fn emit(&self, out: &mut Vec<u8>) {
        print(out, format_args!("{}.{:03}", self.0 / 1_000, self.0 % 1_000));
        while out.ends_with(b"0") && !out.ends_with(b".0") {
            out.pop();
        }
    }
}

macro_rules! parsed {
    ($($type:ty, $code:ident, $expected:literal;)*) => {
        $(impl<'a> FromField<'a> for $type {
            const EXPECTED: &'static str = $expected;
            const CODE: Code = Code::$code;

            fn from_field(raw: Json<'a>) -> Result<Self, Wrong> {
                let text = <Cow<'a, str>>::from_field(raw)?;
                Self::from_str(&text).map_err(|_| Wrong::PLAIN)
            }

            fn from_key(key: &str) -> Option<Self> {
                Self::from_str(key).ok()
            }
        }

        impl Emit for $type {
            fn emit(&self, out: &mut Vec<u8>) {
                print(out, format_args!("\"{self}\""));
            }
        })*
    };
}

parsed! {
    PlayerId, E003, "a player id such as \"P01\"";
    RefereeId, E003, "a referee id such as \"REF01\"";
    AgentId, E003, "an agent id such as \"P01\" or \"REF01\"";
    MatchId, E015, "a match id such as \"R1M1\"";
    LeagueId, E014, "a league id of 1 to 128 letters, digits, '_', '-' or '.'";
    GameType, E003, "a game type of 1 to 128 letters, digits, '_', '-' or '.'";
}

impl<'a> FromField<'a> for ConversationId {
    const EXPECTED: &'static str = "a conversation id of 1 to 128 characters without spaces";

    fn from_field(raw: Json<'a>) -> Result<Self, Wrong> {
        <Cow<'a, str>>::from_field(raw)?.parse().map_err(|_| Wrong::PLAIN)
    }
}

impl Emit for ConversationId {
    fn emit(&self, out: &mut Vec<u8>) {
        self.as_str().emit(out);
    }
}

impl<'a> FromField<'a> for RoundId {
    const EXPECTED: &'static str = "a round number such as 1, \"1\" or \"R1\"";

    fn from_field(raw: Json<'a>) -> Result<Self, Wrong> {
        let json = raw.get();
        let parsed = match json.as_bytes().first() {
            Some(b'"') => <Cow<'a, str>>::from_field(raw)?.parse(),
            Some(b'0'..=b'9') => json.parse(),
            Some(_) | None => return Err(Wrong::PLAIN),
        };
        parsed.map_err(|_| Wrong::PLAIN)
    }
}

impl Emit for RoundId {
    fn emit(&self, out: &mut Vec<u8>) {
        self.number().emit(out);
    }
}

impl<'a> FromField<'a> for Timestamp {
    const EXPECTED: &'static str = "an ISO-8601 time in UTC such as \"2025-01-15T10:30:00Z\"";
    const CODE: Code = Code::E021;

    fn from_field(raw: Json<'a>) -> Result<Self, Wrong> {
        let text = <Cow<'a, str>>::from_field(raw)
            .map_err(|_| Wrong(Some("send the time as text, such as \"2025-01-15T10:30:00Z\"")))?;
        iso::parse(&text).map_err(|fix| Wrong(Some(fix)))
    }
}

impl Emit for Timestamp {
    fn emit(&self, out: &mut Vec<u8>) {
        out.push(b'"');
        iso::write(*self, out);
        out.push(b'"');
    }
}

macro_rules! secrets {
    ($($type:ty, $code:ident, $expected:literal;)*) => {
        $(impl<'a> FromField<'a> for $type {
            const EXPECTED: &'static str = $expected;
            const CODE: Code = Code::$code;

            fn from_field(raw: Json<'a>) -> Result<Self, Wrong> {
                short(raw, SECRET_BYTES_MAX).map(|text| Self::new(&text))
            }
        }

        impl Emit for $type {
            fn emit(&self, out: &mut Vec<u8>) {
                self.reveal().emit(out);
            }
        })*
    };
}

secrets! {
    AuthToken, E012, "a token as text of at most 256 bytes";
    JoinCode, E003, "a text of at most 256 bytes";
    DrawSeed, E003, "a seed as text of at most 256 bytes";
}

/// A move: a word or a number.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum MoveValue {
    /// A word, such as `even` or `rock`.
    Text(String),
    /// A number, such as a field of a board.
    Number(i64),
}

impl MoveValue {
    /// The same for the game; `None` if no game has such a word.
    pub fn made(&self) -> Option<Move> {
        match self {
            Self::Text(word) => Move::word(word),
            Self::Number(number) => Some(Move::Number(*number)),
        }
    }
}

impl<'a> FromField<'a> for MoveValue {
    const EXPECTED: &'static str = "a move as text of at most 256 bytes or as whole number";
    const CODE: Code = Code::E004;

    fn from_field(raw: Json<'a>) -> Result<Self, Wrong> {
        if raw.get().starts_with('"') {
            return short(raw, MOVE_BYTES_MAX).map(|text| Self::Text(text.into_owned()));
        }
        i64::from_field(raw).map(Self::Number)
    }
}

const _: () = assert!(MOVE_BYTES_MAX == 256);

impl From<&str> for MoveValue {
    fn from(word: &str) -> Self {
        Self::Text(word.into())
    }
}

impl From<String> for MoveValue {
    fn from(word: String) -> Self {
        Self::Text(word)
    }
}

impl From<i64> for MoveValue {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl fmt::Display for MoveValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(word) => f.write_str(word),
            Self::Number(number) => number.fmt(f),
        }
    }
}

impl Emit for MoveValue {
    fn emit(&self, out: &mut Vec<u8>) {
        match self {
            Self::Text(text) => text.emit(out),
            Self::Number(number) => number.emit(out),
        }
    }
}

impl Emit for Move {
    fn emit(&self, out: &mut Vec<u8>) {
        match self {
            Self::Word(word) => word.as_str().emit(out),
            Self::Number(number) => number.emit(out),
        }
    }
}

impl<'a, T: FromField<'a>> FromField<'a> for Option<T> {
    const EXPECTED: &'static str = T::EXPECTED;
    const CODE: Code = T::CODE;

    fn from_field(raw: Json<'a>) -> Result<Self, Wrong> {
        if raw.is_null() { Ok(None) } else { T::from_field(raw).map(Some) }
    }
}

impl<'a> FromField<'a> for Items {
    const EXPECTED: &'static str = "a list of at most 10000 entries";

    fn from_field(raw: Json<'a>) -> Result<Self, Wrong> {
        items(raw).map(|_| Self).ok_or(Wrong::PLAIN)
    }
}

const _: () = assert!(crate::limits::LIST_MAX == 10_000);

impl<'a> FromField<'a> for Fragment {
    const EXPECTED: &'static str = "JSON nested at most 32 deep";

    fn from_field(raw: Json<'a>) -> Result<Self, Wrong> {
        Self::new(raw).ok_or(Wrong::PLAIN)
    }
}

const _: () = assert!(crate::limits::FRAGMENT_DEPTH_MAX == 32);

impl Emit for Fragment {
    fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.as_str().as_bytes());
    }
}

impl Emit for bool {
    fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(if *self { b"true" } else { b"false" });
    }
}

impl Emit for str {
    fn emit(&self, out: &mut Vec<u8>) {
        out.push(b'"');
        let mut plain = 0;
        for (index, byte) in self.bytes().enumerate() {
            if byte >= b' ' && byte != b'"' && byte != b'\\' {
                continue;
            }
            out.extend_from_slice(&self.as_bytes()[plain..index]);
            plain = index + 1;
            match byte {
                b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
                b'\n' => out.extend_from_slice(b"\\n"),
                _ => print(out, format_args!("\\u{byte:04x}")),
            }
        }
        out.extend_from_slice(&self.as_bytes()[plain..]);
        out.push(b'"');
    }
}

impl Emit for String {
    fn emit(&self, out: &mut Vec<u8>) {
        self.as_str().emit(out);
    }
}

impl<T: Emit + ?Sized> Emit for &T {
    fn emit(&self, out: &mut Vec<u8>) {
        (**self).emit(out);
    }
}

impl<T: Emit> Emit for Option<T> {
    fn emit(&self, out: &mut Vec<u8>) {
        match self {
            Some(value) => value.emit(out),
            None => out.extend_from_slice(b"null"),
        }
    }
}

impl<T: Emit> Emit for [T] {
    fn emit(&self, out: &mut Vec<u8>) {
        out.push(b'[');
        for (index, value) in self.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            value.emit(out);
        }
        out.push(b']');
    }
}

impl<T: Emit> Emit for Vec<T> {
    fn emit(&self, out: &mut Vec<u8>) {
        self.as_slice().emit(out);
    }
}

/// Appends formatted text.
pub(crate) fn print(out: &mut Vec<u8>, text: fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a vector takes every byte");
}
