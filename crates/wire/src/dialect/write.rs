//! Writing messages in a dialect.

use std::fmt;

use super::payload::MessageId;
use super::{Dialect, Letter, tool};
use crate::code::Code;
use crate::envelope;
use crate::fields::Fields;
use crate::frame::{self, Id, Request};
use crate::message::{CALL_TOOL, ErrorReport, MessageType, OrderName};
use crate::write::Object;

/// The request that sends `letter`.
pub fn encode_request(dialect: Dialect, id: u64, letter: &Letter) -> Vec<u8> {
    let called = if dialect == Dialect::Tool { dialect.carried() } else { dialect };
    encode_call(dialect, id, letter, letter.message.kind().method(called))
}

/// The request that sends `letter`, which a referee knows under `name` if it is an order.
pub fn encode_order(dialect: Dialect, id: u64, letter: &Letter, name: OrderName) -> Vec<u8> {
    let is_order = letter.message.kind() == MessageType::StartMatch;
    if !is_order || name == OrderName::StartMatch {
        return encode_request(dialect, id, letter);
    }
    let called = match dialect {
        Dialect::Flat | Dialect::V21 | Dialect::Tool => name.method(),
        Dialect::Typed | Dialect::Payload => name.name(),
        Dialect::Enveloped | Dialect::Wrapped => MessageType::StartMatch.method(dialect),
    };
    encode_as(dialect, id, letter, (called, Some(name)))
}

/// The request that sends `letter` under a method, or to a tool, of the receiver's own.
pub fn encode_call(dialect: Dialect, id: u64, letter: &Letter, called: &str) -> Vec<u8> {
    encode_as(dialect, id, letter, (called, None))
}

fn encode_as(
    dialect: Dialect,
    id: u64,
    letter: &Letter,
    (called, alias): (&str, Option<OrderName>),
) -> Vec<u8> {
    let slip = Slip { id: &id, asks: true, correlation: None, alias };
    let method = if dialect == Dialect::Tool { CALL_TOOL } else { called };
    let room = letter.message.encoded_bytes();
    frame::write_request(id, method, room, |out| match dialect {
        Dialect::Flat | Dialect::Typed | Dialect::V21 | Dialect::Enveloped | Dialect::Payload => {
            write(dialect, letter, slip, out);
        }
        Dialect::Tool => {
            tool::write_call(out, called, |out| write(dialect, letter, slip, out));
        }
        Dialect::Wrapped => {
            out.extend_from_slice(b"{\"message\":");
            write(dialect, letter, slip, out);
            out.push(b'}');
        }
    })
}

/// The response whose result is `letter`.
pub fn encode_result(dialect: Dialect, id: &Id, letter: &Letter) -> Vec<u8> {
    result(dialect, id, letter, None)
}

/// The response to `request`, which has an id, whose result is `letter`.
pub fn encode_answer(dialect: Dialect, request: &Request<'_>, letter: &Letter) -> Option<Vec<u8>> {
    let id = request.id.as_ref()?;
    Some(result(dialect, id, letter, correlation(dialect, request).as_deref()))
}

/// The response whose error has `letter`, a LEAGUE_ERROR or GAME_ERROR, as its data.
pub fn encode_error(dialect: Dialect, id: Option<&Id>, letter: &Letter) -> Vec<u8> {
    error(dialect, id, letter, None)
}

/// The response to `request` whose error has `letter` as its data.
pub fn encode_refusal(dialect: Dialect, request: &Request<'_>, letter: &Letter) -> Vec<u8> {
    error(dialect, request.id.as_ref(), letter, correlation(dialect, request).as_deref())
}

/// Writes `letter` as one object, its envelope beside its other fields.
pub(crate) fn write_letter(letter: &Letter, out: &mut Vec<u8>) {
    write(
        Dialect::Flat,
        letter,
        Slip { id: &"", asks: false, correlation: None, alias: None },
        out,
    );
}

/// What tells a message from others where it has an id of its own.
#[derive(Clone, Copy)]
struct Slip<'a> {
    /// The id of its frame.
    id: &'a dyn fmt::Display,
    /// Whether it is a request.
    asks: bool,
    /// The id of the message that it answers.
    correlation: Option<&'a str>,
    /// The name it goes by, if that is not the usual one.
    alias: Option<OrderName>,
}

fn result(dialect: Dialect, id: &Id, letter: &Letter, correlation: Option<&str>) -> Vec<u8> {
    let slip = Slip { id: &id.as_json(), asks: false, correlation, alias: None };
    frame::write_result(id, |out| match dialect {
        Dialect::Flat | Dialect::Typed | Dialect::V21 | Dialect::Enveloped | Dialect::Payload => {
            write(dialect, letter, slip, out);
        }
        Dialect::Wrapped => write(dialect, letter, slip, out),
        Dialect::Tool => {
            let mut answer = Vec::with_capacity(512);
            write(dialect, letter, slip, &mut answer);
            tool::write_answer(out, &answer);
        }
    })
}

fn error(dialect: Dialect, id: Option<&Id>, letter: &Letter, correlation: Option<&str>) -> Vec<u8> {
    let report = letter.message.error();
    let code = report.and_then(|report| report.code.known()).unwrap_or(Code::Internal);
    let code = code.told(dialect);
    let message = report.map_or_else(|| code.row().description, ErrorReport::headline);
    let mut data = Vec::with_capacity(512);
    let slip = Slip { id: &id.map_or("", Id::as_json), asks: false, correlation, alias: None };
    write(dialect, letter, slip, &mut data);
    frame::write_error(id, code.row().rpc, message, &data)
}

fn write(dialect: Dialect, letter: &Letter, slip: Slip<'_>, out: &mut Vec<u8>) {
    let dialect = dialect.carried();
    Object::write_message(dialect, out, |o| {
        let kind = letter.message.kind();
        let name = slip.alias.map_or_else(|| kind.name(o.dialect()), OrderName::name);
        envelope::write(&letter.envelope, (kind, name), slip.asks, o);
        if dialect == Dialect::Payload {
            o.field("message_id", &*MessageId::of(letter, slip.id, slip.asks));
            o.optional("correlation_id", slip.correlation);
        }
        letter.message.write(o);
    });
}

/// The id of the message in `request`, if its answer has to repeat it.
fn correlation(dialect: Dialect, request: &Request<'_>) -> Option<String> {
    let params = (dialect == Dialect::Payload).then_some(request.params).flatten()?;
    let fields = Fields::read("params", params).ok()?;
    fields.optional::<String>("message_id").ok().flatten()
}
