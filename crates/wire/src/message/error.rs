//! LEAGUE_ERROR and GAME_ERROR: what went wrong, and what follows from it.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use league_core::id::{MatchId, PlayerId};
use league_core::limits::REASON_BYTES_MAX;
use league_core::time::Timestamp;

use super::Body;
use crate::code::Code;
use crate::decode::DecodeError;
use crate::dialect::Dialect;
use crate::fields::Fields;
use crate::fragment::Fragment;
use crate::json::Json;
use crate::value::{Emit, FromField, Thousandths, Wrong};
use crate::word::MatchState;
use crate::write::Object;

/// The code of an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErrorCode {
    /// One of the catalogue.
    Known(Code),
    /// One that somebody else made up.
    Other(String),
}

/// What can still be tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// The attempt that failed, counted from one.
    pub count: u32,
    /// How many there are.
    pub max: u32,
    /// When the next one begins.
    pub next_at: Option<Timestamp>,
}

/// What went wrong, and what follows from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorReport {
    /// The code.
    pub code: ErrorCode,
    /// What happened, in a sentence.
    pub description: String,
    /// Whether the rules allow another try.
    pub retryable: bool,
    /// Details, as an object.
    pub context: Option<Fragment>,
    /// The match it happened in.
    pub match_id: Option<MatchId>,
    /// The player it concerns.
    pub affected_player: Option<PlayerId>,
    /// What that player should do.
    pub action_required: String,
    /// What can still be tried.
    pub retry: Option<Retry>,
    /// Until when.
    pub deadline: Option<Timestamp>,
    /// What happens otherwise.
    pub consequence: String,
    /// Where the match is.
    pub game_state: Option<MatchState>,
}

impl ErrorReport {
    /// An error of the catalogue with its advice as the action required.
    pub fn new(code: Code, description: impl Into<String>) -> Self {
        Self {
            code: ErrorCode::Known(code),
            description: description.into(),
            retryable: code.row().retryable,
            context: None,
            match_id: None,
            affected_player: None,
            action_required: code.row().advice.into(),
            retry: None,
            deadline: None,
            consequence: String::new(),
            game_state: None,
        }
    }

    /// The context of an answer that did not come: how long it was waited for, and what it was.
    #[must_use]
    pub fn waited(mut self, time: Duration, expected: &str) -> Self {
        let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.context = Some(Fragment::object(|o| {
            o.field("elapsed_time", &Thousandths(millis));
            o.field("expected_message", expected);
        }));
        self
    }

    /// The sentence for people who read only one.
    pub(crate) fn headline(&self) -> &str {
        if self.description.is_empty() { self.code.name() } else { &self.description }
    }

    /// Reads a refusal, in which everything but the reason may be missing.
    pub(crate) fn read_refusal(f: &Fields<'_>) -> Result<Self, DecodeError> {
        if f.has("error_code") {
            return Self::read(f);
        }
        Ok(Self { action_required: String::new(), ..Self::new(Code::L001, "") })
    }
}

impl From<&DecodeError> for ErrorReport {
    fn from(error: &DecodeError) -> Self {
        let context = Fragment::object(|o| {
            o.field("field", &error.at);
            o.field("expected", &*error.expected);
            o.field("got", &error.got);
            o.field("fix", &*error.fix);
        });
        Self {
            context: Some(context),
            action_required: error.fix.clone().into_owned(),
            ..Self::new(error.code, error.to_string())
        }
    }
}

impl Body for ErrorReport {
    fn read(f: &Fields<'_>) -> Result<Self, DecodeError> {
        let code: ErrorCode = f.required("error_code")?;
        let known = code.known().map(Code::row);
        Ok(Self {
            description: f.clipped("error_description", DESCRIPTION_BYTES_MAX)?.unwrap_or_default(),
            retryable: f
                .optional("retryable")?
                .unwrap_or_else(|| known.is_some_and(|row| row.retryable)),
            code,
            context: f.fragment("context")?,
            match_id: f.optional("match_id")?,
            affected_player: f.either(&["affected_player", "player_id"])?,
            action_required: clipped(f, "action_required")?,
            retry: retry(f)?,
            deadline: f.optional("deadline")?,
            consequence: clipped(f, "consequence")?,
            game_state: f.optional("game_state")?,
        })
    }

    fn write(&self, o: &mut Object<'_>) {
        o.optional("match_id", self.match_id.as_ref());
        let code = self.code.told(o.dialect());
        o.field("error_code", &code);
        o.field("error_name", code.name());
        o.field("error_description", &self.description);
        o.field("retryable", &self.retryable);
        o.fragment("context", self.context.as_ref());
        o.field("affected_player", &self.affected_player);
        o.optional("player_id", self.affected_player.as_ref());
        o.field("action_required", &self.action_required);
        let (count, max) = self.retry.map_or((0, 0), |retry| (retry.count, retry.max));
        o.field("retry_count", &count);
        o.field("max_retries", &max);
        if let Some(retry) = &self.retry {
            o.object("retry_info", |o| {
                o.field("retry_count", &retry.count);
                o.field("max_retries", &retry.max);
                o.field("next_retry_at", &retry.next_at);
            });
        }
        o.optional("deadline", self.deadline.as_ref());
        o.field("consequence", &self.consequence);
        o.state("game_state", self.game_state);
    }
}

/// Room for the description of a field that is not as documented.
const DESCRIPTION_BYTES_MAX: usize = 4 * REASON_BYTES_MAX;

fn clipped(f: &Fields<'_>, name: &str) -> Result<String, DecodeError> {
    Ok(f.clipped(name, DESCRIPTION_BYTES_MAX)?.unwrap_or_default())
}

/// The retry fields, side by side with the others or in an object of their own.
fn retry(f: &Fields<'_>) -> Result<Option<Retry>, DecodeError> {
    let flat = counts(f)?;
    let nested =
        f.optional_object("retry_info", |f| Ok((counts(f)?, f.optional("next_retry_at")?)))?;
    let (inner, next_at) = nested.unwrap_or(((None, None), None));
    let count = f.same(("retry_count", flat.0), ("retry_info.retry_count", inner.0))?;
    let max = f.same(("max_retries", flat.1), ("retry_info.max_retries", inner.1))?;
    let retry = Retry { count: count.unwrap_or(0), max: max.unwrap_or(0), next_at };
    let nothing = Retry { count: 0, max: 0, next_at: None };
    Ok((retry != nothing).then_some(retry))
}

fn counts(f: &Fields<'_>) -> Result<(Option<u32>, Option<u32>), DecodeError> {
    Ok((f.optional("retry_count")?, f.optional("max_retries")?))
}

impl ErrorCode {
    /// The code, if the catalogue has it.
    pub const fn known(&self) -> Option<Code> {
        match self {
            Self::Known(code) => Some(*code),
            Self::Other(_) => None,
        }
    }

    /// The code as `dialect` has it.
    fn told(&self, dialect: Dialect) -> Self {
        match self {
            Self::Known(code) => Self::Known(code.told(dialect)),
            Self::Other(_) => self.clone(),
        }
    }

    pub(crate) fn name(&self) -> &str {
        self.known().map_or("UNKNOWN_ERROR", Code::name)
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(code) => code.fmt(f),
            Self::Other(text) => f.write_str(text),
        }
    }
}

impl<'a> FromField<'a> for ErrorCode {
    const EXPECTED: &'static str = "an error code such as \"E001\"";

    fn from_field(raw: Json<'a>) -> Result<Self, Wrong> {
        let text = <Cow<'a, str>>::from_field(raw)?;
        match Code::find(&text) {
            Some(code) => Ok(Self::Known(code)),
            None if (1..=CODE_BYTES_MAX).contains(&text.len()) => Ok(Self::Other(text.into())),
            None => Err(Wrong::PLAIN),
        }
    }
}

const CODE_BYTES_MAX: usize = 64;

impl Emit for ErrorCode {
    fn emit(&self, out: &mut Vec<u8>) {
        self.to_string().emit(out);
    }
}
