//! Why something could not be read: where, what was expected, what came, what to change.

use std::borrow::Cow;
use std::fmt;

use league_core::id::MatchId;

use crate::code::Code;
use crate::json::Json;
use crate::limits::GOT_CHARS_MAX;
use crate::shown::field;

/// What came where nothing came.
const NOTHING: &str = "nothing";

/// Why a message could not be read. Its texts never contain a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodeError {
    /// Where, such as `params.envelope.timestamp`.
    pub at: String,
    /// What would have been accepted.
    pub expected: Cow<'static, str>,
    /// A short rendering of what came.
    pub got: String,
    /// What to change.
    pub fix: Cow<'static, str>,
    /// The code of the catalogue.
    pub code: Code,
    /// Whether what came only says that a call was heard.
    pub(crate) receipt: bool,
}

impl DecodeError {
    /// The field `at` is not there.
    pub(crate) fn missing(at: &str, expected: impl Into<Cow<'static, str>>) -> Self {
        Self {
            at: at.into(),
            expected: expected.into(),
            got: NOTHING.into(),
            fix: format!("add `{at}`").into(),
            code: Code::E003,
            receipt: false,
        }
    }

    /// The value `got` cannot stand at `at`.
    pub(crate) fn wrong(
        code: Code,
        at: &str,
        expected: impl Into<Cow<'static, str>>,
        got: String,
    ) -> Self {
        let expected = expected.into();
        let fix = format!("change `{at}` to {expected}").into();
        Self { at: at.into(), expected, got, fix, code, receipt: false }
    }

    /// The text at `at` has more bytes than it may have.
    pub fn too_long(at: &str, bytes: usize, bytes_max: usize) -> Self {
        let expected = format!("a text of at most {bytes_max} bytes");
        Self::wrong(Code::E003, at, expected, format!("{bytes} bytes"))
    }

    /// The answer at `at` is about the match `got` and not about `expected`.
    pub fn another_match(at: &str, expected: MatchId, got: MatchId) -> Self {
        let at = join(at, field::MATCH);
        Self::wrong(Code::E015, &at, format!("{expected}, as in the call"), got.to_string())
    }

    /// The answer at `at` says `got` where the call says `expected`.
    pub fn contradicts(code: Code, at: &str, expected: &str, got: &str) -> Self {
        let right = render_text(expected);
        let fix = format!("change `{at}` to {right}");
        let expected = format!("{right}, as in the call");
        Self::wrong(code, at, expected, render_text(got)).fixed_by(fix)
    }

    /// Where, what was expected and what came, without advice.
    pub fn in_short(&self) -> String {
        let Self { at, expected, got, .. } = self;
        match got.as_str() {
            NOTHING => format!("`{at}` is missing"),
            got => format!("`{at}`: expected {expected}, got {got}"),
        }
    }

    /// The same with what to change.
    pub fn in_full(&self) -> String {
        format!("{}; {}", self.in_short(), self.fix)
    }

    /// The same error for those who must not know yet what a player chose: only what cannot be a
    /// choice is told of what came.
    pub fn without_choice(&self) -> Self {
        let name = self.at.rsplit('.').next().unwrap_or_default();
        let is_told = self.got == NOTHING || FORMALITIES.contains(&name);
        let got = if is_told { self.got.clone() } else { HIDDEN.into() };
        Self { got, ..self.clone() }
    }

    /// Whether what came is no answer but only says that the call was heard: it is no message of
    /// the league, or ACK. The answer may still come as a call of its own.
    pub const fn is_receipt(&self) -> bool {
        self.receipt
    }

    /// The same error, seen as a receipt.
    pub(crate) fn for_receipt(mut self) -> Self {
        self.receipt = true;
        self
    }

    /// The same error with the `advice` that a lenient reader would give.
    #[must_use]
    pub fn advised(self, advice: String) -> Self {
        self.fixed_by(advice)
    }

    /// The same error with other advice.
    pub(crate) fn fixed_by(mut self, fix: impl Into<Cow<'static, str>>) -> Self {
        self.fix = fix.into();
        self
    }

    /// The same error seen from the object around.
    pub(crate) fn under(self, outer: &str) -> Self {
        let at = join(outer, &self.at);
        self.seen_at(at)
    }

    /// The same error at the place that others call `at`.
    pub(crate) fn seen_at(mut self, at: String) -> Self {
        let advice = self.fix.replacen(&format!("`{}`", self.at), &format!("`{at}`"), 1);
        (self.at, self.fix) = (at, advice.into());
        self
    }
}

impl std::error::Error for DecodeError {}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, expected, got, fix, .. } = self;
        write!(f, "`{at}`: expected {expected}, got {got}; {fix}")
    }
}

/// The path of `name` inside `outer`.
pub(crate) fn join(outer: &str, name: &str) -> String {
    match (outer, name) {
        ("", _) => name.into(),
        (_, "") => outer.into(),
        (_, name) if name.starts_with('[') => format!("{outer}{name}"),
        (_, name) => format!("{outer}.{name}"),
    }
}

/// A short rendering of the value of field `name` that gives no secret away.
pub(crate) fn render(name: &str, raw: Json<'_>) -> String {
    let json = raw.get();
    match json.as_bytes().first() {
        Some(b'{') => "an object".into(),
        Some(b'[') => "a list".into(),
        Some(b'"') if is_secret_name(name) => HIDDEN.into(),
        Some(b'"') => raw
            .text()
            .map_or_else(|| "a text that is not Unicode".into(), |text| render_text(&text)),
        Some(_) | None => clipped(json),
    }
}

/// A short rendering of `text` in quotes that gives no secret away.
pub(crate) fn render_text(text: &str) -> String {
    if holds_secret(text) {
        return HIDDEN.into();
    }
    format!("{:?}", clipped(text))
}

/// `name` as it may be shown in a path.
pub(crate) fn shown_name(name: &str) -> String {
    if holds_secret(name) { HIDDEN.into() } else { clipped(name) }
}

const HIDDEN: &str = "[hidden]";
/// Fields in which nobody tells a choice.
const FORMALITIES: [&str; 15] = [
    "accept",
    "arrival_timestamp",
    "conversation_id",
    "game_type",
    "id",
    "jsonrpc",
    "league_id",
    "match_id",
    "message_type",
    "player_id",
    "protocol",
    "round_id",
    "sender",
    "timestamp",
    "type",
];

fn is_secret_name(name: &str) -> bool {
    const NAMES: [&str; 8] = [
        "auth_token",
        "token",
        "join_key",
        "join_code",
        "match_proof",
        "reply_proof",
        "choice_proof",
        "draw_seed",
    ];
    NAMES.contains(&name)
}

fn holds_secret(text: &str) -> bool {
    text.contains("tok_") || text.contains("prf_")
}

fn clipped(text: &str) -> String {
    if text.chars().count() <= GOT_CHARS_MAX {
        return text.into();
    }
    text.chars().take(GOT_CHARS_MAX).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_name_the_field_and_may_leave_out_a_choice() {
        let missing = DecodeError::missing("result.accept", "true or false");
        assert_eq!(missing.in_short(), "`result.accept` is missing");
        let wrong = |at: &str| DecodeError::wrong(Code::E004, at, "a word", "\"BADodd\"".into());
        let (choice, other) = (wrong("result.parity_choice"), wrong("result.match_id"));
        assert_eq!(choice.in_short(), "`result.parity_choice`: expected a word, got \"BADodd\"");
        let covered = choice.without_choice();
        assert!(!covered.to_string().contains("odd"), "{covered}");
        assert_eq!(other.without_choice(), other);
        for bare in ["result", "result.content[0].text", "result.parity_choice and params.choice"] {
            assert!(!wrong(bare).without_choice().to_string().contains("odd"), "{bare}");
        }
        let missing = DecodeError::missing("params.move_data", "a move");
        assert_eq!(missing.without_choice().in_short(), "`params.move_data` is missing");
    }
}
