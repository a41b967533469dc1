//! Document 004: every message has an id of its own, its type is called `type`, and everything
//! that is not of the envelope stands in `payload`.

use std::borrow::Cow;
use std::fmt;

use league_core::id::ConversationId;

use super::{Dialect, Letter};
use crate::decode::DecodeError;
use crate::fields::{Fields, Shape};
use crate::iso;
use crate::json::Json;
use crate::message::MessageType;
use crate::value::{FromField, Wrong};

/// Whether the form of `params` is this one.
pub(super) fn is_form(params: &Fields<'_>) -> bool {
    let others = || params.has("message_type") || params.has("envelope");
    (params.has("payload") || params.has("message_id")) && !others()
}

/// The payload of `outer`, which is its envelope. With `loose` a token may stand in either.
pub(super) fn open(outer: Fields<'_>, loose: bool) -> Result<Fields<'_>, DecodeError> {
    let at = match outer.at() {
        "params" => "params.payload",
        "result" => "result.payload",
        _ => "error.data.payload",
    };
    // What is wrong with the envelope is told first: it comes first.
    outer.required::<Cow<'_, str>>("protocol")?;
    outer.required::<Cow<'_, str>>("type")?;
    let found = outer.raw("payload")?.ok_or_else(|| outer.missing("payload", "an object"))?;
    let payload = Fields::read(at, found.value())?;
    Ok(payload.with_envelope(outer, Shape::Payload, loose))
}

/// The type called `name`. Where the document has one name for several messages, what they say
/// tells them apart, or what is `likely`.
pub(crate) fn kind(
    f: &Fields<'_>,
    name: &str,
    likely: &[MessageType],
) -> Result<Option<MessageType>, DecodeError> {
    use MessageType as Type;
    let Some(found) = MessageType::find_in(Dialect::Payload, name) else { return Ok(None) };
    let is_called = |kind: &Type| kind.name(Dialect::Payload) == name;
    if let Some(kind) = likely.iter().copied().find(is_called) {
        return Ok(Some(kind));
    }
    if [Type::ChooseParityCall, Type::GameMoveCall].contains(&found) {
        let other = asks_for_another(f)?;
        return Ok(Some(if other { Type::GameMoveCall } else { Type::ChooseParityCall }));
    }
    if [Type::ChooseParityResponse, Type::GameMoveResponse].contains(&found) {
        let is_parity = f.has("parity_choice") || f.has("choice");
        let answers = (Type::ChooseParityResponse, Type::GameMoveResponse);
        return Ok(Some(if is_parity { answers.0 } else { answers.1 }));
    }
    if found == Type::LeagueStandingsUpdate && f.optional("final")? == Some(true) {
        return Ok(Some(Type::LeagueCompleted));
    }
    Ok(Some(found))
}

/// The kind of move that has a call of its own elsewhere.
pub(crate) const PARITY: &str = "parity";

/// Whether a MOVE_REQUEST asks for something else than even or odd.
fn asks_for_another(f: &Fields<'_>) -> Result<bool, DecodeError> {
    let is_other = |f: &Fields<'_>| Ok(f.required::<Cow<'_, str>>("move_type")? != PARITY);
    Ok(f.optional_object("move_request", is_other)?.unwrap_or(false))
}

/// The conversation that a request belongs to; one that names none begins its own.
pub(crate) fn conversation(f: &Fields<'_>) -> Result<ConversationId, DecodeError> {
    let own = f.required::<MessageId>("message_id")?;
    Ok(f.optional("conversation_id")?.unwrap_or_else(|| own.conversation()))
}

/// The id of a message: a UUID of version 4.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MessageId(Box<str>);

/// The shape of one: hexadecimal digits, the version, the variant.
const FORM: &[u8; 36] = b"xxxxxxxx-xxxx-4xxx-vxxx-xxxxxxxxxxxx";

impl MessageId {
    fn parse(text: &str) -> Option<Self> {
        let fits = |(byte, form): (u8, u8)| match form {
            b'x' => byte.is_ascii_hexdigit(),
            b'v' => matches!(byte.to_ascii_lowercase(), b'8' | b'9' | b'a' | b'b'),
            other => byte == other,
        };
        let is_one = text.len() == FORM.len() && text.bytes().zip(*FORM).all(fits);
        is_one.then(|| Self(text.into()))
    }

    fn conversation(&self) -> ConversationId {
        self.0.parse().expect("digits and hyphens are a conversation id")
    }

    /// The id of `letter` in the frame `id`. Conversations are random, so their messages' ids are;
    /// and the same message has the same id, without anything to remember.
    pub(super) fn of(letter: &Letter, id: &dyn fmt::Display, asks: bool) -> String {
        let envelope = &letter.envelope;
        let parts = [
            envelope.conversation.as_str(),
            &envelope.sender.to_string(),
            &iso::format(envelope.timestamp),
            letter.message.kind().name(Dialect::Flat),
            if asks { "request" } else { "answer" },
            &id.to_string(),
        ];
        let all: String = parts.iter().flat_map(|part| [*part, "\0"]).collect();
        let mut digits = format!("{:032x}", mixed(&all)).into_bytes().into_iter();
        let text = FORM.iter().map(|form| match form {
            b'x' => digits.next().unwrap_or(b'0'),
            b'v' => digits.next().map_or(b'8', variant),
            b'4' => digits.next().map_or(b'4', |_| b'4'),
            other => *other,
        });
        text.map(char::from).collect()
    }
}

/// A number that differs for different texts, unless somebody means it not to.
pub(crate) fn mixed(text: &str) -> u128 {
    let mix = |hash: u128, byte: u8| (hash ^ u128::from(byte)).wrapping_mul(FNV_PRIME);
    text.bytes().fold(FNV_OFFSET, mix)
}

const FNV_OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const FNV_PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

/// The digit of the variant, with two bits of `digit` in it.
fn variant(digit: u8) -> u8 {
    b"89ab"[usize::from(digit) % 4]
}

impl<'a> FromField<'a> for MessageId {
    const EXPECTED: &'static str =
        "a UUID of version 4 such as \"7d0c2a56-1f4b-4c83-9e6a-2b5d8f0e1a37\"";

    fn from_field(raw: Json<'a>) -> Result<Self, Wrong> {
        Self::parse(&<Cow<'a, str>>::from_field(raw)?).ok_or(Wrong::PLAIN)
    }
}
