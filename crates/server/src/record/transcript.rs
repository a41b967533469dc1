//! What was said in one attempt at a match, and what the referee made of it, with its times.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// How the remark on an answer begins that was taken although it is not as it should be.
pub const TOLERATED: &str = "understood leniently; ";

/// The form that is written today.
pub const VERSION: u32 = 1;

/// Everything that was said in one attempt, without what would let somebody act as somebody else.
/// It ends with the decision, because the report carries it. What follows comes later in the same
/// form, as an epilogue; the report itself is among the manager's letters.
#[derive(Debug, Serialize, Deserialize)]
pub struct Transcript {
    /// The version of this form.
    pub version: u32,
    /// The league.
    pub league: String,
    /// The match.
    #[serde(rename = "match")]
    pub match_id: String,
    /// Which attempt at it.
    pub attempt: u32,
    /// Which official replay of it.
    pub rematch: u32,
    /// Who recorded it.
    pub referee: String,
    /// What ties the messages together.
    pub conversation: String,
    /// When the attempt began, on the referee's clock.
    pub began: String,
    /// Who was called, and where; the first has seat A.
    pub players: Vec<Party>,
    /// Calls that were too many to be kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u32,
    /// What happened, in the order in which the referee saw it.
    pub entries: Vec<Entry>,
}

/// A player as the referee knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Party {
    /// Who it is.
    pub player: String,
    /// Where it is called.
    pub endpoint: String,
    /// In which shape it is spoken to.
    pub dialect: String,
}

/// Something that happened.
#[derive(Debug, Serialize, Deserialize)]
pub struct Entry {
    /// Microseconds from the beginning of the attempt.
    pub at_us: u64,
    /// Microseconds from the sending of the call to this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_us: Option<u64>,
    /// What it is.
    pub kind: Kind,
    /// The number of the call; an answer has that of its question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<u32>,
    /// Who is on the other side, or whom it concerns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<String>,
    /// The message's or the event's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The HTTP status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// What there is to say about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// How long the body was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<usize>,
    /// The body, if it is JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Box<RawValue>>,
    /// The body, if it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
    /// Whether the body was left out for want of space.
    #[serde(default, skip_serializing_if = "is_false")]
    pub cut: bool,
}

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// We called.
    Sent,
    /// Our call was answered.
    Received,
    /// Our call brought no answer.
    Failed,
    /// Somebody called us.
    Called,
    /// Something the match came to.
    Event,
}

const fn is_zero(number: &u32) -> bool {
    *number == 0
}

const fn is_false(flag: &bool) -> bool {
    !*flag
}
