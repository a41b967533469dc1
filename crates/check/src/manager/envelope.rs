//! The envelope: every field missing or wrong, times and senders of every form, and what must come
//! back in the answer.

use league_wire::{Code, Dialect, iso};
use serde_json::{Value, json};

use super::case;
use super::guest::{Guest, Kind};
use super::said::{Reply, Strict};
use super::visit::Visit;
use crate::case::Case;
use crate::verdict::{Halt, Outcome};

/// Dialects whose documents have a conversation in every message.
const CONVERSING: &[Dialect] = &[
    Dialect::Flat,
    Dialect::Typed,
    Dialect::V21,
    Dialect::Enveloped,
    Dialect::Tool,
    Dialect::Wrapped,
];
/// Those whose answers carry sender, time and conversation.
const WHOLE: &[Dialect] =
    &[Dialect::Flat, Dialect::V21, Dialect::Enveloped, Dialect::Tool, Dialect::Wrapped];
/// Those that have a method for each message.
const NAMED: &[Dialect] = &[Dialect::Flat, Dialect::Typed, Dialect::V21];

pub(super) const CASES: &[Case] = &[
    case! {
        "manager.envelope.no-protocol": Must, EVERY, ["WIRE-2"], "docs/protocol/league-v2.md#envelope, 001 §2.7",
        "A message without `protocol`",
        sent: "a registration without `protocol`",
        wanted: "a refusal, E003 where the document has codes",
        why: "Whoever speaks another protocol must not be taken for one of ours.",
        no_protocol
    },
    case! {
        "manager.envelope.no-type": Must, EVERY, ["WIRE-2"], "docs/protocol/league-v2.md#envelope, 001 §2.7",
        "A message without its type",
        sent: "a registration without `message_type` (document 004: `type`)",
        wanted: "a refusal, E003 where the document has codes",
        why: "The method alone does not say what a message is.",
        no_type
    },
    case! {
        "manager.envelope.no-sender": Must, EVERY, ["WIRE-2"], "docs/protocol/league-v2.md#envelope, 001 §2.7",
        "A message without `sender`",
        sent: "a registration without `sender`",
        wanted: "a refusal, E003 where the document has codes",
        why: "Without it nobody can say whose token it should be.",
        no_sender
    },
    case! {
        "manager.envelope.no-timestamp": Must, EVERY, ["WIRE-2"], "docs/protocol/league-v2.md#envelope, 001 §2.7",
        "A message without `timestamp`",
        sent: "a registration without `timestamp`",
        wanted: "a refusal, E003 where the document has codes",
        why: "All documents list it as mandatory.",
        no_timestamp
    },
    case! {
        "manager.envelope.no-conversation": Must, CONVERSING, ["WIRE-2"], "docs/protocol/league-v2.md#envelope",
        "A message without `conversation_id`",
        sent: "a registration without `conversation_id`",
        wanted: "a refusal, E003 where the document has codes",
        why: "It ties an exchange together in every log.",
        no_conversation
    },
    case! {
        "manager.envelope.no-message-id": Must, [Dialect::Payload], ["WIRE-2"], "004 Message Envelope",
        "A message without `message_id`",
        sent: "a registration without `message_id`",
        wanted: "a refusal",
        why: "Document 004 lists it as required.",
        no_message_id
    },
    case! {
        "manager.envelope.names-field": Should, EVERY, ["WIRE-2", "ERR-2"], "docs/protocol/league-v2.md#answers-and-errors",
        "Which field is missing",
        sent: "a registration without `timestamp`",
        wanted: "E003, and `timestamp` in what the error says",
        why: "An author who reads only E003 compares field after field.",
        names_field
    },
    case! {
        "manager.envelope.protocol": Must, EVERY, ["WIRE-3"], "docs/protocol/league-v2.md#envelope, 001 §2.7",
        "Another protocol",
        sent: "a registration with `protocol` \"league.v1\"",
        wanted: "a refusal, E018 where the document has it",
        why: "Its fields may mean something else.",
        protocol
    },
    case! {
        "manager.envelope.unknown-type": Must, EVERY, ["WIRE-7"], "docs/protocol/league-v2.md#messages",
        "A type that nobody knows",
        sent: "a registration with the type DANCE_REQUEST",
        wanted: "a refusal",
        why: "A manager that guesses what is meant registers whom nobody wanted to register.",
        unknown_type
    },
    case! {
        "manager.envelope.offset": Must, EVERY, ["WIRE-4"], "docs/protocol/league-v2.md#envelope, 001 §2.5.3",
        "A time that is not in UTC",
        sent: "a registration at 2025-01-15T12:30:00+02:00",
        wanted: "a refusal, E021 where the document has it",
        why: "Times of different zones cannot be compared at a glance.",
        offset
    },
    case! {
        "manager.envelope.no-zone": Must, EVERY, ["WIRE-4"], "docs/protocol/league-v2.md#envelope, 001 §2.5.3",
        "A time without a zone",
        sent: "a registration at 2025-01-15T10:30:00",
        wanted: "a refusal, E021 where the document has it",
        why: "It is the time of somebody's wall, and nobody knows where that stands.",
        no_zone
    },
    case! {
        "manager.envelope.no-time": Should, EVERY, ["WIRE-4"], "docs/protocol/league-v2.md#envelope",
        "A time that is none",
        sent: "a registration with `timestamp` \"yesterday\"",
        wanted: "E021",
        why: "A code of its own tells the author where to look.",
        no_time
    },
    case! {
        "manager.envelope.zero-offset": Must, EVERY, ["WIRE-4"], "docs/protocol/league-v2.md#envelope, 001 §2.5.3",
        "UTC written as an offset",
        sent: "a registration at 2025-01-15T10:30:00.125+00:00",
        wanted: "an accepted registration",
        why: "Python's `isoformat` writes UTC like this.",
        zero_offset
    },
    case! {
        "manager.envelope.basic-date": Should, EVERY, ["WIRE-4"], "docs/protocol/league-v2.md#envelope, 002 §4.2",
        "A date without hyphens",
        sent: "a registration at 20250115T10:30:00Z",
        wanted: "an accepted registration",
        why: "Document 002 prints times like this.",
        basic_date
    },
    case! {
        "manager.envelope.sender-form": Must, EVERY, ["WIRE-5"], "docs/protocol/league-v2.md#envelope, 001 §2.5.2",
        "A sender of another form",
        sent: "a registration whose `sender` is \"checker\"",
        wanted: "a refusal",
        why: "Who does not say what it is cannot be told apart from a referee.",
        sender_form
    },
    case! {
        "manager.envelope.sender-kind": Should, EVERY, ["WIRE-5", "AUTH-2"], "docs/protocol/league-v2.md#envelope",
        "A player that calls itself a referee",
        sent: "a player's registration from `referee:checker`",
        wanted: "a refusal",
        why: "Sender and message must not tell two stories.",
        sender_kind
    },
    case! {
        "manager.envelope.extra": Should, EVERY, ["WIRE-2"], "docs/protocol/league-v2.md#envelope",
        "Fields that nobody knows",
        sent: "a registration with unknown fields in message and meta",
        wanted: "an accepted registration",
        why: "Newer agents know more fields than an older manager.",
        extra
    },
    case! {
        "manager.envelope.lower-case": Should, NAMED, ["WIRE-8"], "docs/protocol/dialects.md#which-one-is-used",
        "The type in lower case as method",
        sent: "a registration with the method `league_register_request`",
        wanted: "an accepted registration",
        why: "Documents name few methods, and agents guess the others like this.",
        lower_case
    },
    case! {
        "manager.envelope.handle": Must, [Dialect::Enveloped], ["WIRE-8"], "001 §2.7",
        "An envelope with another method",
        sent: "an enveloped registration with the method `register_player`",
        wanted: "a refusal, -32601",
        why: "Document 001 demands that it is rejected.",
        handle
    },
    case! {
        "manager.envelope.conversation": Must, WHOLE, ["WIRE-2"], "docs/protocol/league-v2.md#envelope, 000 §8",
        "The conversation of an answer",
        sent: "a registration",
        wanted: "an answer with the request's `conversation_id`",
        why: "Agents that talk to several managers find the exchange by it.",
        conversation
    },
    case! {
        "manager.envelope.correlation": Should, [Dialect::Payload], ["WIRE-2"], "004 Message Envelope",
        "What an answer answers",
        sent: "a registration",
        wanted: "an answer whose `correlation_id` is the request's `message_id`",
        why: "Document 004 has no conversations; this links messages.",
        correlation
    },
    case! {
        "manager.envelope.answer": Must, EVERY, ["WIRE-2"], "docs/protocol/league-v2.md#envelope",
        "The envelope of an answer",
        sent: "a registration",
        wanted: "`protocol` league.v2 and the type of the answer",
        why: "Agents check both before they read on.",
        answer
    },
    case! {
        "manager.envelope.answer-sender": Must, WHOLE, ["WIRE-5", "WIRE-4"], "docs/protocol/league-v2.md#envelope, 000 §8",
        "Who answers, and when",
        sent: "a registration",
        wanted: "the sender `league_manager` and a time in UTC",
        why: "Agents check by it whom they talk to, and how far their clock is off.",
        answer_sender
    },
];

/// The answer to a changed registration must be a yes. Whether a plain one is accepted is told by
/// another case.
async fn accepted(visit: &Visit, what: &str, change: impl FnOnce(&mut Value, &Guest)) -> Outcome {
    let league = visit.lobby().await?;
    visit.register(Kind::Player, &league).await?;
    let (_guest, _, reply) = changed(visit, change).await?;
    reply.accepted(what).map(drop)
}

/// Registers a new player with a request that was changed.
async fn changed(
    visit: &Visit,
    change: impl FnOnce(&mut Value, &Guest),
) -> Result<(Guest, Value, Reply), Halt> {
    let league = visit.lobby().await?;
    let guest = visit.guest(Kind::Player).await?;
    let mut request = visit.application(&guest, &league);
    change(&mut request, &guest);
    let reply = visit.send(&request).await?;
    Ok((guest, request, reply))
}

async fn without(visit: &Visit, field: &str) -> Outcome {
    let (_guest, _, reply) = changed(visit, |r, _| visit.speech.remove(r, field)).await?;
    let what = format!("a registration without `{}`", visit.speech.shown(field));
    reply.refused(&what, Code::E003, Strict::AsListed)
}

async fn no_protocol(visit: &Visit) -> Outcome {
    without(visit, "protocol").await
}

async fn no_type(visit: &Visit) -> Outcome {
    without(visit, "message_type").await
}

async fn no_sender(visit: &Visit) -> Outcome {
    without(visit, "sender").await
}

async fn no_timestamp(visit: &Visit) -> Outcome {
    without(visit, "timestamp").await
}

async fn no_conversation(visit: &Visit) -> Outcome {
    without(visit, "conversation_id").await
}

async fn no_message_id(visit: &Visit) -> Outcome {
    without(visit, "message_id").await
}

async fn names_field(visit: &Visit) -> Outcome {
    let (_guest, _, reply) = changed(visit, |r, _| visit.speech.remove(r, "timestamp")).await?;
    let what = "a registration without `timestamp`";
    reply.refused_as_told_by("manager.envelope.no-timestamp")?;
    reply.refused(what, Code::E003, Strict::Always)?;
    let text = reply.refusal().map(|refusal| refusal.text).unwrap_or_default();
    if text.contains("timestamp") {
        return Ok(());
    }
    let sentence = format!("the error does not say which field is missing: {text}");
    Err(Halt::fail(sentence, "name the field, such as `params.timestamp is missing`"))
}

async fn with(visit: &Visit, field: &str, value: &str) -> Result<Reply, Halt> {
    let value = json!(value);
    let (_guest, _, reply) = changed(visit, |r, _| visit.speech.set(r, field, value)).await?;
    Ok(reply)
}

async fn protocol(visit: &Visit) -> Outcome {
    let reply = with(visit, "protocol", "league.v1").await?;
    reply.refused("a registration in the protocol league.v1", Code::E018, Strict::AsListed)
}

async fn unknown_type(visit: &Visit) -> Outcome {
    let reply = with(visit, "message_type", "DANCE_REQUEST").await?;
    reply.refused("a message of the type DANCE_REQUEST", Code::E003, Strict::AsListed)
}

async fn at(visit: &Visit, time: &str, strict: Strict) -> Outcome {
    let reply = with(visit, "timestamp", time).await?;
    reply.refused(&format!("a message of {time}"), Code::E021, strict)
}

async fn offset(visit: &Visit) -> Outcome {
    at(visit, "2025-01-15T12:30:00+02:00", Strict::AsListed).await
}

async fn no_zone(visit: &Visit) -> Outcome {
    at(visit, "2025-01-15T10:30:00", Strict::AsListed).await
}

async fn no_time(visit: &Visit) -> Outcome {
    at(visit, "yesterday", Strict::Always).await
}

async fn zero_offset(visit: &Visit) -> Outcome {
    let time = "2025-01-15T10:30:00.125+00:00";
    let set = |request: &mut Value, _: &Guest| visit.speech.set(request, "timestamp", json!(time));
    accepted(visit, &format!("a message of {time}"), set).await
}

async fn basic_date(visit: &Visit) -> Outcome {
    let time = "20250115T10:30:00Z";
    let set = |request: &mut Value, _: &Guest| visit.speech.set(request, "timestamp", json!(time));
    accepted(visit, &format!("a message of {time}"), set).await
}

async fn sender_form(visit: &Visit) -> Outcome {
    let reply = with(visit, "sender", "checker").await?;
    reply.refused("a registration from the sender `checker`", Code::E003, Strict::AsListed)
}

async fn sender_kind(visit: &Visit) -> Outcome {
    let reply = with(visit, "sender", "referee:checker").await?;
    let codes = [Code::E003, Code::E012];
    let what = "a player's registration from the sender `referee:checker`";
    reply.refused_with_any(what, &codes, Strict::AsListed)
}

async fn extra(visit: &Visit) -> Outcome {
    accepted(visit, "a registration with unknown fields", |request, guest| {
        let mut meta = guest.meta();
        meta["favourite_colour"] = json!("blue");
        if let Some(code) = &visit.door().join_code {
            meta["join_code"] = json!(code);
        }
        visit.speech.set(request, "player_meta", meta);
        visit.speech.set(request, "weather", json!({"sunny": true}));
    })
    .await
}

async fn lower_case(visit: &Visit) -> Outcome {
    let method = json!("league_register_request");
    let what = "the method `league_register_request`";
    accepted(visit, what, |request, _| request["method"] = method).await
}

async fn handle(visit: &Visit) -> Outcome {
    let method = json!("register_player");
    let (_guest, _, reply) = changed(visit, |request, _| request["method"] = method).await?;
    let what = "an enveloped registration with the method `register_player`";
    reply.rpc_error(what, -32601, &json!(1))
}

/// An accepted registration, and the request.
async fn usual(visit: &Visit) -> Result<(Guest, Value, Value), Halt> {
    let (guest, request, reply) = changed(visit, |_, _| {}).await?;
    let told = |halt: Halt| halt.unless_told_by(Kind::Player.case());
    let message = reply.accepted("a registration").map_err(told)?;
    Ok((guest, request, message))
}

/// What stands in a field of a request.
fn said<'a>(visit: &Visit, request: &'a Value, field: &str) -> &'a Value {
    visit.speech.path(field).iter().fold(&request["params"], |at, part| &at[part])
}

async fn conversation(visit: &Visit) -> Outcome {
    let (_guest, request, message) = usual(visit).await?;
    let wanted = said(visit, &request, "conversation_id");
    equal(&message, "conversation_id", wanted)
}

async fn correlation(visit: &Visit) -> Outcome {
    let (_guest, request, message) = usual(visit).await?;
    equal(&message, "correlation_id", said(visit, &request, "message_id"))
}

async fn answer(visit: &Visit) -> Outcome {
    let (_guest, _, message) = usual(visit).await?;
    equal(&message, "protocol", &json!("league.v2"))?;
    let name = Kind::Player.answered_with().name(visit.speech.0);
    equal(&message, "message_type", &json!(name))
}

async fn answer_sender(visit: &Visit) -> Outcome {
    let (_guest, _, message) = usual(visit).await?;
    let sender = message["sender"].as_str().unwrap_or_default();
    if sender != "league_manager" && !sender.starts_with("league_manager:") {
        equal(&message, "sender", &json!("league_manager"))?;
    }
    in_utc(&message)
}

/// A field of a message must have this value.
pub(super) fn equal(message: &Value, field: &str, wanted: &Value) -> Outcome {
    if message[field] == *wanted {
        return Ok(());
    }
    let got = &message[field];
    let sentence = format!("`{field}` of the message is {got}, expected {wanted}");
    let right = json!({field: wanted}).to_string();
    Err(Halt::fail_with(sentence, format!("set `{field}`"), right))
}

/// The time of a message must be in UTC.
pub(super) fn in_utc(message: &Value) -> Outcome {
    let time = message["timestamp"].as_str().unwrap_or_default();
    let Err(advice) = iso::parse(time) else { return Ok(()) };
    let sentence = format!("`timestamp` of the message is {}", message["timestamp"]);
    let right = json!({"timestamp": "2025-01-15T10:30:00.000Z"}).to_string();
    Err(Halt::fail_with(sentence, advice, right))
}
