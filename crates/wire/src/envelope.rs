//! What every message says about itself: protocol, type, sender, time, conversation, token.

use std::borrow::Cow;

use league_core::id::{ConversationId, GameType, LeagueId, RoundId};
use league_core::time::Timestamp;

use crate::code::Code;
use crate::decode::DecodeError;
use crate::dialect::Dialect;
use crate::dialect::payload::{self, MessageId};
use crate::fields::Fields;
use crate::json::Json;
use crate::message::MessageType;
use crate::sender::{NO_ID, Sender};
use crate::token::AuthToken;
use crate::value::FromField;
use crate::write::Object;

/// The protocol's name.
pub const PROTOCOL: &str = "league.v2";

/// The envelope of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// Who sent it.
    pub sender: Sender,
    /// When it was made, by the sender's clock.
    pub timestamp: Timestamp,
    /// The exchange it belongs to.
    pub conversation: ConversationId,
    /// What the sender shows to prove who it is.
    pub token: Option<AuthToken>,
    /// The league it is about.
    pub league_id: Option<LeagueId>,
}

/// The envelope of an answer on a connection that the reader opened: the documents differ in what
/// they put into one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReplyEnvelope {
    /// Who sent it.
    pub sender: Option<Sender>,
    /// When it was made, by the sender's clock.
    pub timestamp: Option<Timestamp>,
    /// The exchange it belongs to.
    pub conversation: Option<ConversationId>,
    /// What the sender shows to prove who it is.
    pub token: Option<AuthToken>,
    /// The league it is about.
    pub league_id: Option<LeagueId>,
    /// The round it is about, where a player answers in a match and says so.
    pub round_id: Option<RoundId>,
    /// The game it is about, where a player answers in a match and says so.
    pub game_type: Option<GameType>,
}

impl Envelope {
    /// Reads the envelope of a message of type `kind`.
    pub(crate) fn read(f: &Fields<'_>, kind: MessageType) -> Result<Self, DecodeError> {
        Ok(Self {
            sender: f.required("sender")?,
            timestamp: f.required("timestamp")?,
            conversation: if f.is_payload() {
                payload::conversation(f)?
            } else {
                f.required("conversation_id")?
            },
            token: token(f, kind)?,
            league_id: f.optional("league_id")?,
        })
    }
}

impl ReplyEnvelope {
    /// Reads the envelope of an answer of type `kind`; `whole` says whether the document puts
    /// sender, time and conversation into one. Document 004 knows no conversations.
    pub(crate) fn read(
        f: &Fields<'_>,
        kind: MessageType,
        whole: bool,
    ) -> Result<Self, DecodeError> {
        let mut read = Self::read_common(f, kind, whole)?;
        if kind.is_players_answer() {
            read.round_id = f.optional("round_id")?;
            read.game_type = f.optional("game_type")?;
        }
        Ok(read)
    }

    fn read_common(f: &Fields<'_>, kind: MessageType, whole: bool) -> Result<Self, DecodeError> {
        if whole {
            return Envelope::read(f, kind).map(Self::from);
        }
        if f.is_payload() {
            f.required::<MessageId>("message_id")?;
            f.required::<Sender>("sender")?;
            f.required::<Timestamp>("timestamp")?;
        }
        Ok(Self {
            sender: f.optional("sender")?,
            timestamp: f.optional("timestamp")?,
            conversation: f.optional("conversation_id")?,
            token: token(f, kind)?,
            league_id: f.optional("league_id")?,
            round_id: None,
            game_type: None,
        })
    }
}

impl From<Envelope> for ReplyEnvelope {
    fn from(envelope: Envelope) -> Self {
        Self {
            sender: Some(envelope.sender),
            timestamp: Some(envelope.timestamp),
            conversation: Some(envelope.conversation),
            token: envelope.token,
            league_id: envelope.league_id,
            round_id: None,
            game_type: None,
        }
    }
}

/// The sender's token. An empty one is none; in the answer to a registration the field holds the
/// receiver's new token, which is the message's business.
fn token(f: &Fields<'_>, kind: MessageType) -> Result<Option<AuthToken>, DecodeError> {
    if kind.grants_token() {
        return Ok(None);
    }
    let token = f.optional::<AuthToken>("auth_token")?;
    Ok(token.filter(|token| !token.reveal().is_empty()))
}

/// Checks the protocol and tells the message's type, which is most often one of `likely`.
pub(crate) fn read_type(
    f: &Fields<'_>,
    likely: &[MessageType],
) -> Result<MessageType, DecodeError> {
    let protocol: Cow<'_, str> = f.required("protocol")?;
    if protocol != PROTOCOL {
        return Err(f.wrong(Code::E018, "protocol", format!("{PROTOCOL:?}")));
    }
    if f.is_payload() {
        let name: Cow<'_, str> = f.required("type")?;
        let known = payload::kind(f, &name, likely)?;
        return known.ok_or_else(|| unknown(f, ("type", &name), likely, Dialect::Payload));
    }
    let name: Cow<'_, str> = f.required("message_type")?;
    let known = likely.iter().copied().find(|kind| kind.is_called(&name));
    let known = known.or_else(|| MessageType::find(&name));
    known.ok_or_else(|| unknown(f, ("message_type", &name), likely, Dialect::Flat))
}

/// That there is no type `name`, and what should have stood there: one of `likely` if it can only
/// be those.
#[cold]
fn unknown(
    f: &Fields<'_>,
    (field, name): (&'static str, &str),
    likely: &[MessageType],
    dialect: Dialect,
) -> DecodeError {
    let wanted = match MessageType::nearest_name(name, dialect) {
        _ if !likely.is_empty() => {
            let names = likely.iter().map(|kind| format!("{:?}", kind.name(dialect)));
            names.collect::<Vec<_>>().join(" or ")
        }
        Some(meant) => format!("a message type of league.v2 such as {meant:?}"),
        None => MessageType::EXPECTED.into(),
    };
    f.wrong(Code::E003, field, wanted)
}

/// Writes the envelope of a message; `asks` says whether it is a request.
pub(crate) fn write(
    envelope: &Envelope,
    (kind, name): (MessageType, &str),
    asks: bool,
    o: &mut Object<'_>,
) {
    let is_payload = o.dialect() == Dialect::Payload;
    o.field("protocol", PROTOCOL);
    o.field(if is_payload { "type" } else { "message_type" }, name);
    if is_payload && envelope.sender == Sender::MANAGER {
        o.field("sender", &Sender::LeagueManager(Some(NO_ID.into())));
    } else {
        o.field("sender", &envelope.sender);
    }
    o.field("timestamp", &envelope.timestamp);
    o.field("conversation_id", &envelope.conversation);
    match &envelope.token {
        _ if kind.grants_token() => {}
        Some(token) => o.field("auth_token", token),
        None if asks && o.dialect().shape().is_none() => o.field("auth_token", ""),
        None => {}
    }
    o.optional("league_id", envelope.league_id.as_ref());
}

impl<'a> FromField<'a> for MessageType {
    const EXPECTED: &'static str = "a message type of league.v2 such as \"GAME_INVITATION\"";

    fn from_field(raw: Json<'a>) -> Result<Self, crate::value::Wrong> {
        let text = <Cow<'a, str>>::from_field(raw)?;
        let named = Self::find(&text).or_else(|| Self::find_in(Dialect::Payload, &text));
        named.ok_or(crate::value::Wrong::PLAIN)
    }
}
