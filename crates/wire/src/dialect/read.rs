//! Reading messages: the form of a request tells its dialect.

use std::borrow::Cow;

use league_core::limits::NAME_BYTES_MAX;

use super::{Decoded, Dialect, Letter, Reply, payload, tool};
use crate::code::Code;
use crate::decode::{DecodeError, render, render_text};
use crate::envelope::{Envelope, ReplyEnvelope, read_type};
use crate::fields::{Fields, Shape};
use crate::frame::Request;
use crate::json::Json;
use crate::lenient::check_registration;
use crate::message::{
    Body, CALL_TOOL, ErrorReport, HANDLE, HANDLE_MESSAGE, Message, MessageType, Meta,
};

/// Reads the message in a request, in whatever dialect it came.
///
/// # Errors
/// What is wrong with it, where, and what to change.
pub fn decode_request(request: &Request<'_>) -> Result<Decoded, DecodeError> {
    decode_request_if(request, |_| true)
}

/// As [`decode_request`], but of messages whose type is not `wanted` only the envelope is read: a
/// long table costs much, and not everybody who is sent one looks at it.
///
/// # Errors
/// What is wrong with what was read, where, and what to change.
pub fn decode_request_if(
    request: &Request<'_>,
    wanted: impl Fn(MessageType) -> bool,
) -> Result<Decoded, DecodeError> {
    let decoded = decode(request, wanted)?;
    check_registration(request, decoded.dialect, decoded.letter.message.kind())?;
    Ok(decoded)
}

fn decode(
    request: &Request<'_>,
    wanted: impl Fn(MessageType) -> bool,
) -> Result<Decoded, DecodeError> {
    let params = object(request)?;
    if request.id.is_none() {
        return Err(DecodeError { code: Code::InvalidRequest, ..DecodeError::missing("id", ID) });
    }
    match &*request.method {
        HANDLE => {
            let fields = apart("params", &params, false)?;
            let letter = read(&fields, None, wanted)?;
            require_context(&fields, letter.message.kind())?;
            Ok(Decoded { dialect: Dialect::Enveloped, letter })
        }
        CALL_TOOL => {
            let (kind, arguments) = tool::called(&params)?;
            let letter = read(&arguments, Some(kind), wanted)?;
            Ok(Decoded { dialect: Dialect::Tool, letter })
        }
        HANDLE_MESSAGE => {
            let message = part(&params, "message", "params.message")?;
            Ok(Decoded { dialect: Dialect::Wrapped, letter: read(&message, None, wanted)? })
        }
        method => match read_bare(method, &params, &wanted) {
            // Most messages are not of this form, and need not be asked.
            Err(_) if payload::is_form(&params) => {
                let letter = read_payload(method, params, wanted)?;
                Ok(Decoded { dialect: Dialect::Payload, letter })
            }
            outcome => outcome,
        },
    }
}

/// Reads a message that is the parameters themselves.
fn read_bare(
    method: &str,
    params: &Fields<'_>,
    wanted: impl Fn(MessageType) -> bool,
) -> Result<Decoded, DecodeError> {
    let (kind, is_type) = called(method, params)?;
    let dialect = if is_type { Dialect::Typed } else { flat_dialect(params, kind)? };
    Ok(Decoded { dialect, letter: read(params, Some(kind), wanted)? })
}

/// What the method calls where each message has one of its own, and whether that is the type.
fn called(method: &str, params: &Fields<'_>) -> Result<(MessageType, bool), DecodeError> {
    let enveloped = params.has("envelope");
    MessageType::by_method(method).filter(|_| !enveloped).ok_or_else(|| {
        let meant = MessageType::nearest_method(method).filter(|_| !enveloped);
        let expected: Cow<'_, str> = match meant {
            Some(meant) => format!("a method of league.v2, such as {meant:?}").into(),
            None if enveloped => HANDLE.into(),
            None => "a method of league.v2".into(),
        };
        DecodeError::wrong(Code::MethodNotFound, "method", expected, render_text(method))
    })
}

/// Reads a message in its payload; the method calls its type.
fn read_payload(
    method: &str,
    params: Fields<'_>,
    wanted: impl Fn(MessageType) -> bool,
) -> Result<Letter, DecodeError> {
    let named = MessageType::find_in(Dialect::Payload, &method.to_ascii_uppercase());
    let called = named.or_else(|| MessageType::by_method(method).map(|(kind, _)| kind));
    let Some(called) = called else {
        let expected = "a message type of document 004 such as \"GAME_INVITE\"";
        return Err(DecodeError::wrong(
            Code::MethodNotFound,
            "method",
            expected,
            render_text(method),
        ));
    };
    let fields = payload::open(params, false)?;
    let letter = read(&fields, None, wanted)?;
    let (called, told) = (called.name(Dialect::Payload), letter.message.kind());
    if called != told.name(Dialect::Payload) {
        let expected = format!("{called:?}, which the method calls");
        return Err(fields.wrong(Code::E003, "type", expected));
    }
    Ok(letter)
}

/// The dialect of a request, as far as one that cannot be read gives it away.
pub fn spoken(request: &Request<'_>) -> Dialect {
    let is_payload = || object(request).is_ok_and(|params| payload::is_form(&params));
    match &*request.method {
        HANDLE => Dialect::Enveloped,
        CALL_TOOL => Dialect::Tool,
        HANDLE_MESSAGE => Dialect::Wrapped,
        _ if is_payload() => Dialect::Payload,
        method => match MessageType::by_method(method) {
            Some((_, true)) => Dialect::Typed,
            Some((_, false)) | None => Dialect::Flat,
        },
    }
}

/// Reads the answer to a request that was sent in `dialect`; its type must be one of `expected`.
///
/// # Errors
/// What is wrong with it, where, and what to change.
pub fn decode_result(
    dialect: Dialect,
    expected: &[MessageType],
    result: Json<'_>,
) -> Result<Reply, DecodeError> {
    if dialect == Dialect::Tool {
        return tool::open(result, |at, answer| read_result(dialect, expected, (at, answer)));
    }
    read_result(dialect, expected, ("result", result))
}

/// Reads the answer that stands at `at`.
fn read_result(
    dialect: Dialect,
    expected: &[MessageType],
    (at, result): (&'static str, Json<'_>),
) -> Result<Reply, DecodeError> {
    let outer = Fields::read(at, result).map_err(DecodeError::for_receipt)?;
    match dialect.shape() {
        Some(Shape::Apart) => {
            let fields = apart(at, &outer, true).map_err(DecodeError::for_receipt)?;
            read_reply(dialect, expected, &fields)
        }
        Some(Shape::Payload) => {
            let fields = payload::open(outer, true).map_err(DecodeError::for_receipt)?;
            read_reply(dialect, expected, &fields)
        }
        None => read_reply(dialect, expected, &outer),
    }
}

fn read_reply(
    dialect: Dialect,
    expected: &[MessageType],
    fields: &Fields<'_>,
) -> Result<Reply, DecodeError> {
    let kind = read_type(fields, expected).map_err(|error| {
        let has_protocol = !matches!(fields.optional::<Cow<'_, str>>("protocol"), Ok(None));
        if has_protocol { error } else { error.for_receipt() }
    })?;
    if !expected.contains(&kind) {
        let names: Vec<_> = expected.iter().map(|kind| kind.name(dialect)).collect();
        let error = fields.wrong(Code::E003, fields.type_field(), names.join(" or "));
        return Err(if kind == MessageType::Ack { error.for_receipt() } else { error });
    }
    let envelope = ReplyEnvelope::read(fields, kind, dialect.answers_whole())?;
    Ok(Reply { envelope, message: Message::read(kind, fields)? })
}

/// Where the field `name` of an answer in `dialect` stands.
pub fn answer_path(dialect: Dialect, name: &str) -> String {
    let outer = match dialect.shape() {
        Some(shape) if !shape.is_in_envelope(name) => "result.payload",
        Some(Shape::Apart) => "result.envelope",
        Some(Shape::Payload) | None => "result",
    };
    format!("{outer}.{name}")
}

/// Reads the data of a JSON-RPC error: a LEAGUE_ERROR or GAME_ERROR in any dialect, of which only
/// the code must be there.
///
/// # Errors
/// If it is something else.
pub fn decode_error(data: Json<'_>) -> Result<ErrorReport, DecodeError> {
    let outer = Fields::read("error.data", data)?;
    if outer.has("envelope") {
        return ErrorReport::read(&apart("error.data", &outer, true)?);
    }
    if payload::is_form(&outer) {
        return ErrorReport::read(&payload::open(outer, true)?);
    }
    ErrorReport::read(&outer)
}

/// The name that an answer gives itself, in whatever dialect it is, as far as that can be read.
pub fn answer_name(result: Json<'_>) -> Option<String> {
    named(result).or_else(|| tool::open(result, |_, answer| Ok(named(answer))).ok().flatten())
}

fn named(json: Json<'_>) -> Option<String> {
    let outer = Fields::read("result", json).ok()?;
    let of = |fields: &Fields<'_>, name: &str| {
        fields.optional::<Cow<'_, str>>(name).ok().flatten().map(Cow::into_owned)
    };
    let name = if outer.has("envelope") {
        of(&part(&outer, "envelope", "result.envelope").ok()?, "message_type")
    } else if payload::is_form(&outer) {
        of(&outer, "type")
    } else {
        of(&outer, "message_type")
    };
    name.filter(|name| name.len() <= NAME_BYTES_MAX && !name.contains(char::is_control))
}

const ID: &str = "a request id, since every league message is answered";

fn object<'a>(request: &'a Request<'_>) -> Result<Fields<'a>, DecodeError> {
    let invalid = |got: String| DecodeError::wrong(Code::InvalidParams, "params", "an object", got);
    let params = request.params.ok_or_else(|| invalid("nothing".into()))?;
    if !params.get().starts_with('{') {
        return Err(invalid(render("params", params)));
    }
    match request.parts() {
        Some(parts) => Fields::of_parts("params", parts),
        None => Fields::read("params", params),
    }
}

/// Envelope and payload of an object that has both.
fn apart<'a>(
    at: &'static str,
    outer: &'a Fields<'_>,
    loose: bool,
) -> Result<Fields<'a>, DecodeError> {
    let (envelope_at, payload_at) = match at {
        "params" => ("params.envelope", "params.payload"),
        "result" => ("result.envelope", "result.payload"),
        _ => ("error.data.envelope", "error.data.payload"),
    };
    let envelope = part(outer, "envelope", envelope_at)?;
    Ok(part(outer, "payload", payload_at)?.with_envelope(envelope, Shape::Apart, loose))
}

/// The object in the field `name` of `outer`; from now on it stands at `at`.
pub(super) fn part<'a>(
    outer: &'a Fields<'_>,
    name: &str,
    at: &'static str,
) -> Result<Fields<'a>, DecodeError> {
    outer.raw(name)?.ok_or_else(|| outer.missing(name, "an object"))?.inner(at)
}

fn read(
    fields: &Fields<'_>,
    called: Option<MessageType>,
    wanted: impl Fn(MessageType) -> bool,
) -> Result<Letter, DecodeError> {
    let kind = read_type(fields, called.as_slice())?;
    if let Some(called) = called.filter(|called| *called != kind) {
        let name = called.name(Dialect::Flat);
        let expected = format!("{name:?}, which the method calls");
        return Err(fields.wrong(Code::E003, "message_type", expected));
    }
    let envelope = Envelope::read(fields, kind)?;
    let message = if wanted(kind) { Message::read(kind, fields)? } else { Message::Unread(kind) };
    Ok(Letter { envelope, message })
}

/// Which vocabulary a message without an envelope of its own uses: document 002's where it shows.
fn flat_dialect(params: &Fields<'_>, kind: MessageType) -> Result<Dialect, DecodeError> {
    let Some(meta) = kind.meta_field() else {
        let name = params.optional::<Cow<'_, str>>("message_type")?;
        let own = name.is_some_and(|name| kind.is_v21_name(&name));
        return Ok(if own { Dialect::V21 } else { Dialect::Flat });
    };
    let told = params.optional_object(meta, |meta| {
        let named = meta.optional::<Dialect>("dialect")?;
        Ok(match named {
            Some(named) if named.is_bare() => named,
            Some(_) | None if Meta::is_v21(meta) => Dialect::V21,
            Some(_) | None => Dialect::Flat,
        })
    })?;
    Ok(told.unwrap_or(Dialect::Flat))
}

/// Document 001: contextual fields are required where they are relevant.
fn require_context(fields: &Fields<'_>, kind: MessageType) -> Result<(), DecodeError> {
    for name in needed_context(kind) {
        if fields.raw(name)?.is_none() {
            return Err(fields.missing(name, "the field, which this message needs"));
        }
    }
    Ok(())
}

/// The contextual fields that a message of type `kind` needs in document 001.
pub(crate) const fn needed_context(kind: MessageType) -> &'static [&'static str] {
    use MessageType as Type;
    match kind {
        Type::RefereeRegisterRequest | Type::LeagueRegisterRequest => &[],
        Type::Ping | Type::Pong | Type::Ack | Type::LeagueError => &[],
        Type::RoundAnnouncement | Type::RoundCompleted => ROUND,
        Type::RoundStart | Type::RoundResult => ROUND,
        Type::StartMatch | Type::GameInvitation | Type::ChooseParityCall => MATCH_AND_GAME,
        Type::GameMoveCall | Type::GameOver | Type::MatchResultReport => MATCH_AND_GAME,
        Type::StartMatchAck | Type::MatchProgress | Type::MatchProgressAck => MATCH,
        Type::GameStart => MATCH,
        Type::GameJoinAck | Type::ChooseParityResponse | Type::GameMoveResponse => MATCH,
        Type::GameOverAck | Type::MatchResultAck | Type::GameError => MATCH,
        Type::RefereeRegisterResponse | Type::LeagueRegisterResponse => &["league_id"],
        Type::StartLeague | Type::GetAssignedMatches | Type::AssignedMatches => &["league_id"],
        Type::LeagueStandingsUpdate | Type::LeagueCompleted => &["league_id"],
        Type::LeagueQuery | Type::LeagueQueryResponse | Type::SuspensionNotice => &["league_id"],
    }
}

const ROUND: &[&str] = &["league_id", "round_id"];
const MATCH: &[&str] = &["league_id", "match_id"];
const MATCH_AND_GAME: &[&str] = &["league_id", "match_id", "game_type"];
