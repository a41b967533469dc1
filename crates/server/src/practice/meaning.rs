//! What an agent's answer means, as far as two answers to the same call must agree.

use bytes::Bytes;
use league_agent::caller::{Answered, CallError};
use league_wire::dialect::{decode_request, decode_result, tool_error};
use league_wire::frame::{Outcome, parse, parse_response};
use league_wire::{Dialect, Incoming, Message, MessageType, MoveValue};

use super::Finding;

/// A call on its way to the agent.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) body: Bytes,
    /// The message, if it is one of the protocol.
    pub(super) kind: Option<MessageType>,
    dialect: Dialect,
}

/// What an answer means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Meaning {
    /// It takes part, or not.
    Joined(bool),
    /// It chose.
    Chose {
        /// What.
        choice: String,
        /// Its share in the draw.
        nonce: Option<String>,
    },
    /// Some result.
    Heard,
    /// A no.
    Refused(String),
    /// Nothing that could be read as an answer. What is wrong with it the referee tells.
    Unread,
    /// No answer.
    Nothing(String),
}

impl Call {
    pub(super) fn of(body: Bytes) -> Self {
        let read = match parse(&body) {
            Incoming::Single(Ok(request)) => decode_request(&request).ok(),
            Incoming::Single(Err(_)) | Incoming::Batch(_) => None,
        };
        let kind = read.as_ref().map(|read| read.letter.message.kind());
        let dialect = read.map_or(Dialect::Flat, |read| read.dialect);
        Self { body, kind, dialect }
    }

    /// Whether it invites.
    pub(super) fn is_invitation(&self) -> bool {
        self.kind == Some(MessageType::GameInvitation)
    }

    /// Whether it asks for a choice.
    pub(super) fn asks_for_choice(&self) -> bool {
        matches!(self.kind, Some(MessageType::ChooseParityCall | MessageType::GameMoveCall))
    }

    /// Whether the player owes an answer that counts.
    pub(super) fn counts(&self) -> bool {
        self.is_invitation() || self.asks_for_choice()
    }

    /// What it is called in the agent's dialect.
    pub(super) fn name(&self) -> &'static str {
        self.kind.map_or("a call", |kind| kind.name(self.dialect))
    }

    /// What `outcome` says to it.
    pub(super) fn meaning(&self, outcome: &Result<Answered, CallError>) -> Meaning {
        let answered = match outcome {
            Ok(answered) => answered,
            Err(error) => return Meaning::Nothing(error.to_string()),
        };
        let Ok(response) = parse_response(&answered.body) else { return Meaning::Unread };
        let result = match response.outcome {
            Outcome::Error(error) => {
                return Meaning::Refused(format!("{}: {}", error.code, error.message));
            }
            Outcome::Result(result) => result,
        };
        if let Some(error) = tool_error(result).filter(|_| self.dialect == Dialect::Tool) {
            return Meaning::Refused(error.message);
        }
        if !self.counts() {
            return Meaning::Heard;
        }
        let expected = match self.kind {
            Some(kind) if self.asks_for_choice() => kind.answers(),
            Some(_) | None => &[MessageType::GameJoinAck],
        };
        let reply = decode_result(self.dialect, expected, result);
        reply.map_or(Meaning::Unread, |reply| Meaning::of(reply.message))
    }
}

impl Meaning {
    #[expect(clippy::wildcard_enum_match_arm, reason = "only few messages are answers")]
    fn of(message: Message) -> Self {
        match message {
            Message::GameJoinAck(ack) => Self::Joined(ack.accept),
            Message::ChooseParityResponse(response) => {
                let choice = response.choice.word().to_string();
                Self::Chose { choice, nonce: response.nonce }
            }
            Message::GameMoveResponse(response) => {
                let choice = match response.move_data {
                    MoveValue::Text(word) => word,
                    MoveValue::Number(number) => number.to_string(),
                };
                Self::Chose { choice, nonce: response.nonce }
            }
            _ => Self::Unread,
        }
    }

    /// What is wrong if the agent answers `call` so, and a repetition of it with `again`.
    pub(super) fn disagreement(&self, again: &Self, call: &Call) -> Option<Finding> {
        let name = call.name();
        let finding =
            |sentence: String, change: &str| Some(Finding { sentence, change: change.to_string() });
        match (self, again) {
            // What is wrong with the first answer the referee tells.
            (Self::Refused(_) | Self::Unread | Self::Nothing(_), _) | (_, Self::Unread) => None,
            (_, Self::Refused(why)) => finding(
                format!("it answered {name}, and refused the same call again: {why}"),
                "answer a repeated call as the first one: the referee may not have got the answer",
            ),
            (_, Self::Nothing(why)) => finding(
                format!("it answered {name}, and did not answer the same call again: {why}"),
                "answer a repeated call as the first one: the referee may not have got the answer",
            ),
            (Self::Chose { choice, .. }, Self::Chose { choice: other, .. }) if choice != other => {
                finding(
                    format!("asked twice for the same choice it said {choice} and then {other}"),
                    "keep the answer to each match_id and repeat it: whoever holds two choices of \
                     a player could take the one that suits",
                )
            }
            (Self::Chose { nonce, .. }, Self::Chose { nonce: other, .. }) if nonce != other => {
                finding(
                    "asked twice for the same choice it said the same with another nonce".into(),
                    "keep the answer to each match_id with its nonce, and repeat both: the number \
                     follows from the nonce",
                )
            }
            (Self::Joined(first), Self::Joined(then)) if first != then => finding(
                "asked twice whether it takes part it said yes once and no once".into(),
                "answer a repeated invitation as the first one",
            ),
            (Self::Joined(_) | Self::Chose { .. } | Self::Heard, _) => None,
        }
    }
}
