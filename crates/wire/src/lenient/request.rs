//! Requests: registrations above all, and what referees and players send of their own accord.

use std::borrow::Cow;

use league_core::time::Timestamp;

use super::answer::{is_type_field, note_missing, note_spelling, told_types};
use super::deviation::{Deviations, Slip};
use super::gather::{Field, gather};
use super::place::{Form, Laid, place};
use super::slots::{CONVERSATION, MESSAGE_ID, MESSAGE_TYPE, PROTOCOL, SENDER, TIMESTAMP};
use super::spelling::{self, is_method};
use super::{Doubtful, Guess, Understood, role};
use crate::decode::{DecodeError, render_text};
use crate::dialect::payload::MessageId;
use crate::dialect::{Decoded, Dialect, decode_request, needed_context};
use crate::envelope;
use crate::fields::Fields;
use crate::frame::{self, Id, Incoming, Request};
use crate::iso;
use crate::json::Json;
use crate::message::{CALL_TOOL, HANDLE, HANDLE_MESSAGE, MessageType};
use crate::sender::Sender;
use crate::value::FromField;

/// Reads a request that the strict reading refused; `now` is the time of a registration that does
/// not tell its own.
///
/// # Errors
/// If it is not certain to mean one thing only.
pub fn read_request(request: &Request<'_>, now: Timestamp) -> Guess<Decoded> {
    let id = request.id.as_ref().ok_or(None)?;
    let params = request.params.filter(|params| params.get().starts_with('{')).ok_or(None)?;
    let (form, called) = form(&request.method, params).ok_or(None)?;
    let mut fields = gather("params", params, &[]).ok_or(None)?;
    fields.extend(above(request.raw).ok_or(None)?);
    if form.dialect == Dialect::Tool {
        fields.retain(|field| !(field.inside == "params" && field.name == "name"));
    }
    let draft = Draft { form, called: &called, method: Some(&request.method), fields };
    draft.read(id, (request.raw, now))
}

/// Reads a registration that came as a plain `POST /register`: its fields are the whole body, or it
/// is a request after all.
///
/// # Errors
/// If it is not certain to mean one thing only.
pub fn read_plain_registration(body: &[u8], now: Timestamp) -> Guess<Decoded> {
    let registers = |decoded: &Decoded| decoded.letter.message.kind().meta_field().is_some();
    if let Incoming::Single(Ok(request)) = frame::parse(body) {
        let understood = match decode_request(&request) {
            Ok(meaning) => Understood { meaning, deviations: Deviations::default() },
            Err(_) => read_request(&request, now)?,
        };
        return Some(understood).filter(|it| registers(&it.meaning)).map(plain).ok_or(None);
    }
    let text = str::from_utf8(body).map_err(|_| None)?;
    let fields = gather("", Json::parse(text).map_err(|_| None)?, &[]).ok_or(None)?;
    let kind = match role::told(&fields) {
        Ok(kind) => kind,
        Err(mistake) => return Err(doubtful(mistake, Deviations::default())),
    };
    let fields: Vec<_> = fields.into_iter().filter(|field| !role::is_role(field)).collect();
    let tells_type = told_types(&fields).any(|(_, name)| !spelling::types(&name).is_empty());
    let called = match kind {
        Some(kind) => kind.method(Dialect::Flat),
        None if tells_type => "",
        None => MessageType::LeagueRegisterRequest.method(Dialect::Flat),
    };
    let form = Form { dialect: Dialect::Flat, base: String::new() };
    let draft = Draft { form, called, method: None, fields };
    let understood = draft.read(&Id::from(1), (text, now))?;
    Some(understood).filter(|it| registers(&it.meaning)).map(plain).ok_or(None)
}

/// What was understood, with the note that it came without JSON-RPC.
fn plain(mut understood: Understood<Decoded>) -> Understood<Decoded> {
    let method = understood.meaning.letter.message.kind().method(Dialect::Flat);
    let fix = format!("post the JSON-RPC request `{method}` to `/mcp`");
    understood.deviations.note(Slip::PlainRegister.at("POST /register").fixed_by(fix));
    understood
}

fn doubtful(mistake: DecodeError, deviations: Deviations) -> Option<Box<Doubtful>> {
    Some(Box::new(Doubtful { mistake, deviations, is_answer: false }))
}

/// How the parameters are nested, and what is called in them.
fn form<'a>(method: &'a str, params: Json<'_>) -> Option<(Form, Cow<'a, str>)> {
    let outer = Fields::read("params", params).ok()?;
    let at = |dialect, base: &str| Form { dialect, base: base.into() };
    Some(match method {
        HANDLE => (at(Dialect::Enveloped, "params"), "".into()),
        HANDLE_MESSAGE => (at(Dialect::Wrapped, "params.message"), "".into()),
        CALL_TOOL => {
            let name: Cow<'_, str> = outer.required("name").ok()?;
            (at(Dialect::Tool, "params.arguments"), name.into_owned().into())
        }
        _ if outer.has("envelope") => (at(Dialect::Enveloped, "params"), method.into()),
        _ if !outer.has(MESSAGE_TYPE) && (outer.has("type") || outer.has(MESSAGE_ID)) => {
            (at(Dialect::Payload, "params"), method.into())
        }
        _ => {
            let is_type = MessageType::by_method(method).is_some_and(|(_, is_type)| is_type);
            let dialect = if is_type { Dialect::Typed } else { Dialect::Flat };
            (at(dialect, "params"), method.into())
        }
    })
}

/// The fields that stand beside the parameters.
pub(super) fn above(raw: &str) -> Option<Vec<Field<'_>>> {
    const FRAME: [&str; 4] = ["jsonrpc", "id", "method", "params"];
    let all = gather("", Json::known(raw.trim()), &["params"])?;
    Some(all.into_iter().filter(|field| !FRAME.contains(&&*field.name)).collect())
}

/// A request on its way to being understood.
struct Draft<'a> {
    form: Form,
    /// What is called, by its own name for it; empty if only the message tells.
    called: &'a str,
    method: Option<&'a str>,
    fields: Vec<Field<'a>>,
}

impl Draft<'_> {
    fn read(self, id: &Id, (raw, now): (&str, Timestamp)) -> Guess<Decoded> {
        let mut deviations = Deviations::default();
        let kind = self.kind(&mut deviations).ok_or(None)?;
        let registers = kind.meta_field().is_some();
        let denial = registers.then(|| role::denial(&self.fields, kind)).flatten();
        if let Some(mistake) = denial {
            return Err(doubtful(mistake, deviations));
        }
        let mut laid = match place(&self.fields, kind, &self.form, &mut deviations) {
            Ok(laid) => laid,
            Err(doubt) => return Err(doubt.and_then(|mistake| doubtful(*mistake, deviations))),
        };
        if registers {
            self.complete(&mut laid, kind, (raw, now), &mut deviations);
        }
        self.check(&mut laid, kind).ok_or(None)?;
        let method = kind.method(Dialect::Flat);
        let (id, params) = (id.as_json(), laid.json());
        let text =
            format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params},"id":{id}}}"#);
        let Incoming::Single(Ok(request)) = frame::parse(text.as_bytes()) else { return Err(None) };
        let mut meaning = match decode_request(&request) {
            Ok(meaning) => meaning,
            Err(mistake) => {
                return Err(doubtful(laid.located(mistake, kind, &self.form), deviations));
            }
        };
        if !matches!(self.form.dialect, Dialect::Flat | Dialect::V21) {
            meaning.dialect = self.form.dialect;
        }
        (!deviations.is_empty()).then_some(Understood { meaning, deviations }).ok_or(None)
    }

    /// The one type that method and message agree on.
    fn kind(&self, deviations: &mut Deviations) -> Option<MessageType> {
        let mut left: Option<Vec<MessageType>> = None;
        let mut keep = |kinds: Vec<MessageType>| {
            let kept = match left.take() {
                Some(left) => left.into_iter().filter(|kind| kinds.contains(kind)).collect(),
                None => kinds,
            };
            left = Some(kept);
        };
        let called = self.called_types();
        if !called.is_empty() {
            keep(called);
        }
        let mut spelled = Vec::new();
        for (field, name) in told_types(&self.fields) {
            let kinds = spelling::types(&name);
            if kinds.is_empty() && !is_type_field(&self.form, &field.name) {
                continue;
            }
            keep(kinds);
            spelled.push((field, name));
        }
        let kind = self.only(left?)?;
        if spelled.is_empty() && kind.meta_field().is_none() {
            return None;
        }
        note_spelling(kind, &spelled, &self.form, deviations);
        self.note_method(kind, deviations);
        Some(kind)
    }

    /// What the method, or the tool's name, may mean.
    fn called_types(&self) -> Vec<MessageType> {
        match MessageType::by_method(self.called) {
            Some((kind, _)) if !self.form.is_payload() => vec![kind],
            Some(_) | None => spelling::types(self.called),
        }
    }

    /// The only type left; where document 004 has one name for two, what is chosen tells.
    fn only(&self, left: Vec<MessageType>) -> Option<MessageType> {
        use MessageType::{ChooseParityResponse, GameMoveResponse};
        match left[..] {
            [kind] => Some(kind),
            [ChooseParityResponse, GameMoveResponse] => {
                let is_parity =
                    |field: &Field<'_>| ["parity_choice", "choice"].contains(&&*field.name);
                let parity = self.fields.iter().any(is_parity);
                Some(if parity { ChooseParityResponse } else { GameMoveResponse })
            }
            _ => None,
        }
    }

    fn note_method(&self, kind: MessageType, deviations: &mut Deviations) {
        let Some(method) = self.method else { return };
        let is_tool = self.form.dialect == Dialect::Tool;
        let (at, called) = if is_tool { ("params.name", self.called) } else { ("method", method) };
        let enveloped = self.form.dialect == Dialect::Enveloped;
        if enveloped && method != HANDLE || !is_method(kind, called) {
            let dialect = if is_tool { Dialect::Flat } else { self.form.dialect };
            let right = kind.method(dialect);
            let fix = format!("change `{at}` from {} to {right:?}", render_text(called));
            deviations.note(Slip::MethodName.at(at).fixed_by(fix));
        }
    }

    /// Adds what a registration does not say about itself.
    fn complete(
        &self,
        laid: &mut Laid<'_>,
        kind: MessageType,
        (raw, now): (&str, Timestamp),
        deviations: &mut Deviations,
    ) {
        let role = if kind == MessageType::LeagueRegisterRequest { "player" } else { "referee" };
        let sender = laid.get(SENDER).and_then(|json| Json::parse(json).ok()?.text());
        let sender = sender.map(Cow::into_owned);
        if sender.as_deref().is_some_and(|sender| Sender::parse(sender).is_none()) {
            laid.drop(SENDER);
        }
        let conversation = if self.form.is_payload() { MESSAGE_ID } else { CONVERSATION };
        let needed = [PROTOCOL, MESSAGE_TYPE, SENDER, TIMESTAMP, conversation];
        note_missing(Slip::BareRegistration, laid, &needed, &self.form, deviations);
        for (name, text) in [
            (PROTOCOL, envelope::PROTOCOL.into()),
            (SENDER, format!("{role}:unregistered")),
            (TIMESTAMP, iso::format(now)),
        ] {
            if laid.get(name).is_none() {
                laid.set(name, &text);
            }
        }
        if laid.get(CONVERSATION).is_none() && laid.get(MESSAGE_ID).is_none() {
            // The same registration again is the same conversation.
            laid.set(CONVERSATION, &format!("conv{:032x}", crate::dialect::payload::mixed(raw)));
        }
        laid.set(MESSAGE_TYPE, kind.name(Dialect::Flat));
    }

    /// Makes sure that nothing is missing that the form asks for and `flat` does not.
    fn check(&self, laid: &mut Laid<'_>, kind: MessageType) -> Option<()> {
        if laid.get(MESSAGE_TYPE).is_some() {
            laid.set(MESSAGE_TYPE, kind.name(Dialect::Flat));
        }
        if self.form.dialect == Dialect::Enveloped {
            let needed = needed_context(kind).iter();
            needed.map(|name| laid.get(name)).collect::<Option<Vec<_>>>()?;
        }
        if self.form.is_payload() && kind.meta_field().is_none() {
            let json = laid.get(MESSAGE_ID)?;
            MessageId::from_field(Json::parse(json).ok()?).ok()?;
        }
        if self.form.is_payload() && laid.get(CONVERSATION).is_none() {
            let own = laid.get(MESSAGE_ID).and_then(|json| Json::parse(json).ok()?.text());
            let own = own.map(Cow::into_owned)?;
            laid.set(CONVERSATION, &own);
        }
        Some(())
    }
}
