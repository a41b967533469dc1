//! Bytes to meaning and back.
//!
//! A body is a [`frame`] (JSON-RPC 2.0). Its parameters are a [`message`] in an [`envelope`], in
//! one of the shapes that documents describe: the [`dialect`]. Inside the program there is one
//! canonical form of every message; only this crate knows field names and error [`code`]s.
//!
//! Reading: [`frame::parse`], then [`dialect::decode_request`] or [`dialect::decode_result`].
//! Writing: [`dialect::encode_request`], [`dialect::encode_result`], [`dialect::encode_error`].
//! [`turns`] is what a player fetches that cannot be called.
//! [`mcp`] is what clients of the Model Context Protocol ask at the same place.
//! [`lenient`] reads what the strict reading refused and can mean one thing only.
//! [`shown`] and [`redact`] are what may be told of a message to somebody it was not written for.
#![warn(missing_docs)]

pub mod code;
mod decode;
pub mod dialect;
mod entries;
pub mod envelope;
mod fields;
mod fragment;
pub mod frame;
pub mod iso;
mod json;
pub mod lenient;
pub mod limits;
pub mod mcp;
pub mod message;
mod nearest;
pub mod redact;
mod scan;
pub mod schema;
mod sender;
pub mod shown;
mod token;
pub mod turns;
mod value;
mod word;
mod write;

pub use code::Code;
pub use decode::DecodeError;
pub use dialect::{Decoded, Dialect, Letter, Reply};
pub use envelope::{Envelope, ReplyEnvelope};
pub use fragment::{Fragment, Listed};
pub use frame::{Id, Incoming, Request, Response};
pub use json::Json;
pub use message::{Message, MessageType};
pub use sender::Sender;
pub use token::{AuthToken, DrawSeed, JoinCode};
pub use value::MoveValue;
pub use word::{AgentState, Decision, MatchState, Parity, PlayerResult, QueryType, ResultStatus};
