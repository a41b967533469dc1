//! The shapes in which documents write the same messages, recognised by their form.

pub(crate) mod payload;
mod read;
mod tool;
mod write;

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

pub(crate) use read::needed_context;
pub use read::{
    answer_name, answer_path, decode_error, decode_request, decode_request_if, decode_result,
    spoken,
};
pub use tool::{ToolError, tool_error};
pub(crate) use write::write_letter;
pub use write::{
    encode_answer, encode_call, encode_error, encode_order, encode_refusal, encode_request,
    encode_result,
};

use crate::envelope::{Envelope, ReplyEnvelope};
use crate::fields::Shape;
use crate::json::Json;
use crate::message::Message;
use crate::value::{Emit, FromField, Wrong};

/// Fields by which one shape is told from another: whoever misses one of them was spoken to in the
/// wrong one.
pub const FRAMES: [&str; 10] = [
    "envelope",
    "payload",
    "message",
    "message_type",
    "message_id",
    "type",
    "protocol",
    "params",
    "arguments",
    "sender",
];

/// A shape and vocabulary of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dialect {
    /// Envelope and message side by side, a method of its own for each message (document 000).
    Flat,
    /// As flat, with the message type as method (document 003).
    Typed,
    /// As flat, with the names of the product requirements (document 002).
    V21,
    /// Envelope and payload apart, always the same method (document 001).
    Enveloped,
    /// The payload in the envelope, with types and codes of its own (document 004).
    Payload,
    /// A flat message as the arguments of a tool (Model Context Protocol).
    Tool,
    /// A flat message inside another object, always the same method.
    Wrapped,
}

/// A message with its envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Letter {
    /// What it says about itself.
    pub envelope: Envelope,
    /// What it says.
    pub message: Message,
}

/// A message that answers one of ours on the connection that we opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// What it says about itself.
    pub envelope: ReplyEnvelope,
    /// What it says.
    pub message: Message,
}

/// A request that was read, and the shape in which it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded {
    /// The shape.
    pub dialect: Dialect,
    /// The message.
    pub letter: Letter,
}

impl Dialect {
    /// Every dialect.
    pub const ALL: [Self; 7] = [
        Self::Flat,
        Self::Typed,
        Self::V21,
        Self::Enveloped,
        Self::Payload,
        Self::Tool,
        Self::Wrapped,
    ];

    /// The name that agents and people write.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Flat => "flat",
            Self::Typed => "typed",
            Self::V21 => "v21",
            Self::Enveloped => "enveloped",
            Self::Payload => "payload",
            Self::Tool => "tool",
            Self::Wrapped => "wrapped",
        }
    }

    /// How envelope and payload are nested; `None` if they stand side by side.
    pub(crate) const fn shape(self) -> Option<Shape> {
        match self {
            Self::Enveloped => Some(Shape::Apart),
            Self::Payload => Some(Shape::Payload),
            Self::Flat | Self::Typed | Self::V21 | Self::Tool | Self::Wrapped => None,
        }
    }

    /// Whether a request is the message itself, with its envelope beside its other fields.
    const fn is_bare(self) -> bool {
        match self {
            Self::Flat | Self::Typed | Self::V21 => true,
            Self::Enveloped | Self::Payload | Self::Tool | Self::Wrapped => false,
        }
    }

    /// The dialect of the message, which another one may only carry.
    const fn carried(self) -> Self {
        match self {
            Self::Flat | Self::Typed | Self::V21 | Self::Enveloped | Self::Payload => self,
            Self::Tool | Self::Wrapped => Self::Flat,
        }
    }

    /// Whether its document puts sender, time and conversation into answers.
    const fn answers_whole(self) -> bool {
        match self {
            Self::Flat | Self::V21 | Self::Enveloped | Self::Tool | Self::Wrapped => true,
            Self::Typed | Self::Payload => false,
        }
    }
}

/// A name that is no dialect's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected flat, typed, v21, enveloped, payload, tool or wrapped, got {0:?}")]
pub struct UnknownDialect(String);

impl FromStr for Dialect {
    type Err = UnknownDialect;

    fn from_str(text: &str) -> Result<Self, UnknownDialect> {
        let found = Self::ALL.into_iter().find(|dialect| dialect.name() == text);
        found.ok_or_else(|| UnknownDialect(text.chars().take(80).collect()))
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl<'a> FromField<'a> for Dialect {
    const EXPECTED: &'static str = "flat, typed, v21, enveloped, payload, tool or wrapped";

    fn from_field(raw: Json<'a>) -> Result<Self, Wrong> {
        <Cow<'a, str>>::from_field(raw)?.parse().map_err(|_| Wrong::PLAIN)
    }
}

impl Emit for Dialect {
    fn emit(&self, out: &mut Vec<u8>) {
        self.name().emit(out);
    }
}
