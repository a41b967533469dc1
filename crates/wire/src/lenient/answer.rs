//! Answers on a connection that we opened.

use std::borrow::Cow;

use super::deviation::{Deviations, Slip};
use super::gather::{Field, gather};
use super::place::{Doubt, Form, Laid, place};
use super::slots::{self, CONVERSATION, MESSAGE_ID, MESSAGE_TYPE, PROTOCOL, SENDER, TIMESTAMP};
use super::{Doubtful, Guess, Understood, spelling};
use crate::code::Code;
use crate::decode::{DecodeError, render, render_text};
use crate::dialect::{Dialect, Reply, decode_result};
use crate::envelope;
use crate::fields::Fields;
use crate::frame::Id;
use crate::json::{Json, Walk};
use crate::message::{Message, MessageType};
use crate::sender::Sender;

/// What was asked, for whoever reads the answer.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The dialect of the request.
    pub dialect: Dialect,
    /// The types that answer it.
    pub expected: &'a [MessageType],
    /// Its identifier.
    pub id: &'a Id,
}

/// Reads an answer that the strict reading refused.
///
/// # Errors
/// If it says no, or is not certain to mean one thing only.
pub fn read_answer(asked: Asked<'_>, body: &[u8]) -> Guess<Reply> {
    let text = str::from_utf8(body).map_err(|_| None)?;
    let whole = Json::parse(text).map_err(|_| None)?;
    let mut deviations = Deviations::default();
    let (base, message, above) = unframed(asked, whole, &mut deviations).ok_or(None)?;
    if asked.dialect != Dialect::Tool || base != "result" {
        return read(asked, (&base, message), above, deviations);
    }
    let said = said(message).ok_or(None)?;
    let texts: Option<Vec<(String, Json<'_>)>> = said.texts.iter().map(parsed).collect();
    let mut places = said.structured.into_iter().chain(texts.ok_or(None)?);
    let (base, found) = places.next().unwrap_or_else(|| ("result".into(), Json::known("{}")));
    let mut beside = above;
    beside.extend(said.beside);
    for (at, other) in places {
        beside.extend(gather(&at, other, &[]).ok_or(None)?);
    }
    read(asked, (&base, found), beside, deviations)
}

/// What a tool said.
struct Said<'a> {
    structured: Option<(String, Json<'a>)>,
    /// Texts, with where they stand.
    texts: Vec<(String, String)>,
    beside: Vec<Field<'a>>,
}

/// What the tool said whose result is `message`; `None` if it may have failed.
fn said(message: Json<'_>) -> Option<Said<'_>> {
    let beside = gather("result", message, &TOOL)?.into_iter();
    let beside = beside.filter(|field| !TOOL.contains(&&*field.name)).collect();
    let outer = Fields::read("result", message).ok()?;
    if outer.optional::<bool>("isError").ok()? == Some(true) {
        return None;
    }
    let structured = outer.raw("structuredContent").ok()?.map(|found| found.value());
    let structured = structured.filter(|found| found.get().starts_with('{'));
    let text = |f: &Fields<'_>| Ok(f.optional::<Cow<'_, str>>("text")?.map(Cow::into_owned));
    let texts = outer.objects("content", text).ok()?.unwrap_or_default().into_iter().enumerate();
    let texts = texts.filter_map(|(n, text)| Some((format!("result.content[{n}].text"), text?)));
    // The first is the message, or nothing is; what else is told to people is no matter.
    let is_message = |(n, (_, text)): &(usize, (String, String))| {
        *n == 0 && structured.is_none() || text.trim_start().starts_with('{')
    };
    let texts = texts.enumerate().filter(is_message).map(|(_, text)| text).collect();
    let structured = structured.map(|found| ("result.structuredContent".into(), found));
    Some(Said { structured, texts, beside })
}

fn parsed((at, text): &(String, String)) -> Option<(String, Json<'_>)> {
    Some((at.clone(), Json::parse(text).ok()?))
}

/// Where the message is in what came, with the fields beside it.
fn unframed<'a>(
    asked: Asked<'_>,
    whole: Json<'a>,
    deviations: &mut Deviations,
) -> Option<(String, Json<'a>, Vec<Field<'a>>)> {
    let mut members: Vec<(Cow<'a, str>, Json<'a>)> = Vec::new();
    let mut walk = Walk::into(whole.get(), b'{')?;
    while let Some(name) = walk.next_name() {
        let (name, value) = (name?, walk.next_value()?);
        if members.iter().any(|(known, _)| *known == name) {
            return None;
        }
        members.push((name, value));
    }
    let member =
        |name: &str| members.iter().find(|(known, _)| known == name).map(|(_, json)| *json);
    let object = |name: &str| member(name).filter(|json| json.get().starts_with('{'));
    if member("error").is_some_and(|error| !error.is_null()) {
        return None;
    }
    let others = || {
        let all = gather("", whole, &FRAME)?.into_iter();
        Some(all.filter(|field| !FRAME.contains(&&*field.name) || !field.inside.is_empty()))
    };
    if let Some(result) = object("result") {
        if member("error").is_some() {
            deviations.note(Slip::ErrorBesideResult.at("error"));
        }
        if member("jsonrpc").map(Json::get) != Some("\"2.0\"") {
            let fix = "add `\"jsonrpc\": \"2.0\"` to the response".into();
            deviations.note(Slip::ReplyWithoutFrame.at("jsonrpc").fixed_by(fix));
        }
        if member("id").map(Json::get) != Some(asked.id.as_json()) {
            let fix = format!("repeat the request's `id`, which was {}", asked.id.as_json());
            deviations.note(Slip::ReplyId.at("id").fixed_by(fix));
        }
        return Some(("result".into(), result, others()?.collect()));
    }
    if let (Some(params), Some(_)) = (object("params"), member("method")) {
        deviations.note(Slip::ReplyAsRequest.at("params"));
        return Some(("params".into(), params, others()?.collect()));
    }
    if member("jsonrpc").is_some() && member("result").is_some() {
        return None;
    }
    deviations.note(Slip::ReplyWithoutFrame.at("the body"));
    Some((String::new(), whole, Vec::new()))
}

/// What a tool's answer has beside the message.
const TOOL: [&str; 5] = ["content", "structuredContent", "isError", "_meta", "resultType"];
const FRAME: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

/// Reads the message that stands at `base`; `above` are the fields around it.
fn read(
    asked: Asked<'_>,
    (base, message): (&str, Json<'_>),
    above: Vec<Field<'_>>,
    mut deviations: Deviations,
) -> Guess<Reply> {
    let form = Form { dialect: asked.dialect, base: base.into() };
    let mut fields = gather(base, message, &[]).ok_or(None)?;
    fields.extend(above);
    let kind = match kind(&fields, asked.expected, &form, &mut deviations) {
        Ok(kind) => kind,
        Err(doubt) => return Err(doubt.map(|mistake| doubtful(*mistake, deviations, false))),
    };
    let is_move = kind != MessageType::GameJoinAck;
    let mut laid = match place(&fields, kind, &form, &mut deviations) {
        Ok(laid) => laid,
        Err(doubt) => return Err(doubt.map(|mistake| doubtful(*mistake, deviations, is_move))),
    };
    let is_answer = laid.decides(kind) && is_move;
    complete(&mut laid, kind, &form, &mut deviations);
    let json = laid.json();
    // Document 003 asks for no more than protocol and type in an answer.
    let json = Json::parse(&json).map_err(|_| None)?;
    let meaning = match decode_result(Dialect::Typed, &[kind], json) {
        Ok(meaning) => meaning,
        Err(mistake) => {
            let mistake = laid.located(mistake, kind, &form);
            return Err(Some(doubtful(mistake, deviations, is_answer)));
        }
    };
    if let Some(denial) = fields.iter().find(|field| field.is_denial())
        && !matches!(&meaning.message, Message::GameJoinAck(ack) if !ack.accept)
    {
        let got = render(&denial.name, denial.value);
        let expected = "nothing that contradicts the answer";
        let mistake = DecodeError::wrong(Code::E003, &denial.path(), expected, got);
        let mistake = mistake.advised(format!("leave `{}` out of an answer", denial.path()));
        return Err(Some(doubtful(mistake, deviations, is_answer)));
    }
    (!deviations.is_empty()).then_some(Understood { meaning, deviations }).ok_or(None)
}

fn doubtful(mistake: DecodeError, deviations: Deviations, is_answer: bool) -> Box<Doubtful> {
    Box::new(Doubtful { mistake, deviations, is_answer })
}

/// The one type of `expected` that the message can be.
fn kind(
    fields: &[Field<'_>],
    expected: &[MessageType],
    form: &Form,
    deviations: &mut Deviations,
) -> Result<MessageType, Doubt> {
    let mut left: Vec<MessageType> = expected.to_vec();
    let mut spelled = Vec::new();
    for (field, name) in told_types(fields) {
        let kinds = spelling::types(&name);
        let is_type = is_type_field(form, &field.name) || spelling::is_like_type(&name);
        if kinds.is_empty() && !is_type {
            continue;
        }
        left.retain(|kind| kinds.contains(kind));
        if left.is_empty() {
            let names = expected.iter().map(|kind| format!("{:?}", kind.name(form.dialect)));
            let names = names.collect::<Vec<_>>().join(" or ");
            let (at, got) = (field.path(), render_text(&name));
            return Err(Some(Box::new(DecodeError::wrong(Code::E003, &at, names, got))));
        }
        spelled.push((field, name));
    }
    let [kind] = left[..] else { return Err(None) };
    note_spelling(kind, &spelled, form, deviations);
    Ok(kind)
}

/// The fields that may tell a type, with what they tell.
pub(super) fn told_types<'f, 'a>(
    fields: &'f [Field<'a>],
) -> impl Iterator<Item = (&'f Field<'a>, Cow<'a, str>)> {
    let slot = slots::envelope().find(|slot| slot.name() == MESSAGE_TYPE);
    let slot = slot.expect("every envelope has a type");
    let told =
        fields.iter().filter(|field| field.is_called(slot.names) || field.is_called(slot.also));
    told.filter_map(|field| Some((field, field.value.text()?)))
}

/// Whether a field of this name can hold nothing but the type of a message.
pub(super) fn is_type_field(form: &Form, name: &str) -> bool {
    name == MESSAGE_TYPE || form.is_payload() && name == "type"
}

/// Notes where the type is not told as the form has it.
pub(super) fn note_spelling(
    kind: MessageType,
    spelled: &[(&Field<'_>, Cow<'_, str>)],
    form: &Form,
    deviations: &mut Deviations,
) {
    for (field, name) in spelled {
        let is_own =
            kind.is_called(name) || form.is_payload() && kind.name(Dialect::Payload) == &**name;
        if !is_own {
            let fix = format!("change `{}` to {:?}", field.path(), kind.name(form.dialect));
            deviations.note(Slip::TypeName.at(field.path()).fixed_by(fix));
        }
    }
}

/// Adds what the reader needs to know and an answer on our connection need not say.
fn complete(laid: &mut Laid<'_>, kind: MessageType, form: &Form, deviations: &mut Deviations) {
    let sender = laid.get(SENDER).and_then(|json| Json::parse(json).ok()?.text());
    if sender.is_some_and(|sender| Sender::parse(&sender).is_none()) {
        laid.drop(SENDER);
    }
    let needed: &[&'static str] = match form.dialect {
        Dialect::Typed => &[PROTOCOL, MESSAGE_TYPE],
        Dialect::Payload => &[PROTOCOL, MESSAGE_TYPE, SENDER, TIMESTAMP, MESSAGE_ID],
        Dialect::Flat | Dialect::V21 | Dialect::Enveloped | Dialect::Tool | Dialect::Wrapped => {
            &[PROTOCOL, MESSAGE_TYPE, SENDER, TIMESTAMP, CONVERSATION]
        }
    };
    note_missing(Slip::BareReply, laid, needed, form, deviations);
    laid.set(MESSAGE_TYPE, kind.name(Dialect::Flat));
    if laid.get(PROTOCOL).is_none() {
        laid.set(PROTOCOL, envelope::PROTOCOL);
    }
}

/// Notes which of the `needed` fields of the envelope are missing.
pub(super) fn note_missing(
    slip: Slip,
    laid: &Laid<'_>,
    needed: &[&'static str],
    form: &Form,
    deviations: &mut Deviations,
) {
    let missing = slots::envelope()
        .filter(|slot| needed.contains(&slot.name()) && laid.get(slot.name()).is_none());
    let missing: Vec<String> = missing.map(|slot| format!("`{}`", form.path(slot))).collect();
    if !missing.is_empty() {
        let fix = format!("add {}", missing.join(", "));
        deviations.note(slip.at(form.base.clone()).fixed_by(fix));
    }
}
