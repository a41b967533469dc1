//! What came of a call to a player, and what that means for the match.

use std::sync::Arc;

use league_agent::caller::CallError;
use league_agent::exchange::AskError;
use league_core::game::Move;
use league_core::limits::NONCE_BYTES_MAX;
use league_core::proof::Proof;
use league_core::referee::{Answer, Command, Fault, Join, Sealed};
use league_core::seat::Seat;
use league_wire::message::GameJoinAck;
use league_wire::{Code, DecodeError, Dialect, Message, MessageType, MoveValue};

use crate::limits::CAUSE_BYTES_MAX;

/// What is wrong with an answer that shows somebody else's token, or an old proof.
pub(super) const UNPROVED: &str = "refused as unproved: its auth_token is neither this match's proof nor the player's token; \
     send one of them, or none on the connection that we opened";

/// What came of a call.
pub(super) enum Heard {
    /// Something the machine must know.
    Command(Command),
    /// An answer with which something is wrong.
    Faulty { seat: Seat, fault: Fault, error: DecodeError },
    /// It brought no answer. A choice says in which window it was asked for.
    Failed { seat: Seat, window: Option<u32>, delivered: bool, remark: Option<Remark> },
    /// It failed by our own fault, for which the player must not be charged.
    Ours { seat: Seat, window: Option<u32>, reason: Arc<str> },
    /// A result that is no answer; the answer may still come as a call of its own.
    Receipt { seat: Seat, remark: Remark },
    /// An answer with a token that is not the player's.
    Unproved { seat: Seat },
    /// The manager has given this match to somebody else.
    GivenAway,
}

/// What a player said instead of an answer that counts.
#[derive(Debug)]
pub(super) enum Remark {
    /// Only that the call was heard.
    Receipt(DecodeError),
    /// An answer that cannot be read.
    Unreadable(DecodeError),
    /// An answer with a token that is not the player's.
    Unproved,
    /// Nothing at all: there was no connection, or it broke off.
    Unreached(String),
    /// Nothing of the protocol, and what to change if that is known.
    Other { words: String, fix: Option<String> },
}

impl Remark {
    /// Whether an answer came which cannot be used.
    pub(super) const fn is_unusable(&self) -> bool {
        match self {
            Self::Unreadable(_) | Self::Other { .. } => true,
            Self::Receipt(_) | Self::Unproved | Self::Unreached(_) => false,
        }
    }
}

/// What a call that brought no usable answer means; `None` if the machine's own deadline says when
/// silence counts.
pub(super) fn unanswered(
    seat: Seat,
    window: Option<u32>,
    called: (MessageType, Dialect),
    error: AskError,
) -> Option<Heard> {
    let failed = |delivered, remark| Some(Heard::Failed { seat, window, delivered, remark });
    let other = |words: String, fix| Some(Remark::Other { words: clipped(words), fix });
    match error {
        AskError::Decode(error) if error.is_receipt() => {
            Some(Heard::Receipt { seat, remark: Remark::Receipt(error) })
        }
        AskError::Decode(error) => match fault(error.code) {
            Some(fault) if window.is_some() => Some(Heard::Faulty { seat, fault, error }),
            Some(_) | None => failed(true, Some(Remark::Unreadable(error))),
        },
        AskError::Call(call) => match call {
            CallError::Ours(reason) => Some(Heard::Ours { seat, window, reason }),
            CallError::NotConnected(why) => {
                let text = format!("the endpoint could not be reached: {why}");
                failed(false, Some(Remark::Unreached(clipped(text))))
            }
            CallError::BadAddress(_) | CallError::Forbidden(_) => {
                failed(false, Some(Remark::Unreached(clipped(call.to_string()))))
            }
            CallError::Busy => failed(false, other(call.to_string(), None)),
            CallError::Broken(_) => {
                failed(true, Some(Remark::Unreached(clipped(call.to_string()))))
            }
            CallError::TooLarge => failed(true, other(call.to_string(), None)),
            CallError::TimedOut(_) => None,
        },
        AskError::Refused { code, .. } if code == Code::MethodNotFound.row().rpc => {
            let fix = named(called);
            failed(true, other(format!("{error}; {fix}"), Some(fix)))
        }
        AskError::Frame { .. }
        | AskError::WrongId { .. }
        | AskError::Refused { .. }
        | AskError::Deviates(_) => failed(true, other(error.to_string(), advice(&error))),
    }
}

/// What to change for a call that nobody knows by its name.
fn named((kind, dialect): (MessageType, Dialect)) -> String {
    match dialect {
        Dialect::Tool => format!("offer the tool {:?}", kind.method(Dialect::Flat)),
        Dialect::Flat
        | Dialect::Typed
        | Dialect::V21
        | Dialect::Enveloped
        | Dialect::Payload
        | Dialect::Wrapped => format!("take the call under the method {:?}", kind.method(dialect)),
    }
}

/// What to change in an answer that is not the one that was expected, if it is known.
fn advice(error: &AskError) -> Option<String> {
    match error {
        AskError::Frame { source, .. } => source.advice.clone(),
        AskError::WrongId { sent, .. } => {
            Some(format!("repeat the request's `id`, which was {sent}"))
        }
        AskError::Deviates(deviation) => Some(deviation.fix.clone()),
        AskError::Decode(error) => Some(error.fix.clone().into_owned()),
        AskError::Call(_) | AskError::Refused { .. } => None,
    }
}

/// Why a call brought no answer, to a player whose calls the manager takes if `is_relayed`: that
/// the manager cannot be reached is no fault of the player's.
pub(super) fn of_relay(is_relayed: bool, error: AskError) -> AskError {
    match error {
        AskError::Call(
            ref no @ (CallError::NotConnected(_) | CallError::Broken(_) | CallError::Busy),
        ) if is_relayed => {
            let text = format!("the manager, which takes the player's calls, did not: {no}");
            AskError::Call(CallError::Ours(clipped(text).into()))
        }
        AskError::Call(_)
        | AskError::Frame { .. }
        | AskError::WrongId { .. }
        | AskError::Refused { .. }
        | AskError::Deviates(_)
        | AskError::Decode(_) => error,
    }
}

fn clipped(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(CAUSE_BYTES_MAX));
    text
}

/// What is wrong with an answer that could be read, and the code for it: it does not prove itself,
/// or contradicts the call.
pub(super) fn objection(
    is_proved: bool,
    contradiction: Option<DecodeError>,
) -> Option<(String, Code)> {
    if !is_proved {
        return Some((UNPROVED.into(), Code::E012));
    }
    contradiction.map(|error| (error.to_string(), error.code))
}

/// A result that is no answer, as the transcript has it. Nothing is wrong with it.
pub(super) fn receipt(error: &DecodeError) -> String {
    let why = error.in_full();
    format!("a receipt; the answer may come as a call of its own, since as an answer {why}")
}

/// What is wrong with a call's outcome, for a log that anybody may read before the match ends.
pub(super) fn discreet(error: &AskError) -> String {
    match error {
        AskError::Decode(error) => error.without_choice().to_string(),
        AskError::Call(_)
        | AskError::Frame { .. }
        | AskError::WrongId { .. }
        | AskError::Refused { .. }
        | AskError::Deviates(_) => error.to_string(),
    }
}

/// What the rules charge as an invalid choice; everything else that cannot be read is no choice.
#[expect(clippy::wildcard_enum_match_arm, reason = "the rules name four codes")]
const fn fault(code: Code) -> Option<Fault> {
    match code {
        Code::E002 | Code::E004 => Some(Fault::IllegalMove),
        Code::E003 => Some(Fault::MissingField),
        Code::E015 => Some(Fault::WrongMatch),
        _ => None,
    }
}

/// Whether the manager will never take this report, however often it is sent.
pub(super) fn is_final(error: &AskError) -> bool {
    let AskError::Refused { report: Some(report), .. } = error else { return false };
    report.code.known().is_some_and(|code| {
        matches!(code, Code::E030 | Code::E031 | Code::E032 | Code::G003 | Code::E012 | Code::E003)
    })
}

/// A player's answer to an invitation.
pub(super) fn join(ack: &GameJoinAck) -> Join {
    if ack.accept {
        return Join::Accept;
    }
    Join::Refuse { reason: ack.reason.as_deref().map(Into::into) }
}

/// What a player said it chose, whichever kind of move it was asked for.
pub(super) struct Said<'a> {
    chosen: Option<Move>,
    nonce: Option<&'a str>,
    proof: Option<&'a str>,
}

impl<'a> Said<'a> {
    /// What `message` says; `None` if it does not answer a call for a move.
    #[expect(clippy::wildcard_enum_match_arm, reason = "two messages answer such a call")]
    pub(super) fn of(message: &'a Message) -> Option<Self> {
        let (chosen, nonce, proof) = match message {
            Message::ChooseParityResponse(it) => {
                (Move::word(it.choice.word()), &it.nonce, &it.choice_proof)
            }
            Message::GameMoveResponse(it) => {
                let chosen = match &it.move_data {
                    MoveValue::Text(word) => Move::word(word),
                    MoveValue::Number(number) => Some(Move::Number(*number)),
                };
                (chosen, &it.nonce, &it.choice_proof)
            }
            _ => return None,
        };
        Some(Self { chosen, nonce: nonce.as_deref(), proof: proof.as_deref() })
    }
}

/// A choice on a connection of ours, which may still contradict the call.
pub(super) fn choice(seat: Seat, said: &Said<'_>, contradiction: Option<DecodeError>) -> Heard {
    if let Some(error) = contradiction {
        let fault = fault(error.code).unwrap_or(Fault::MissingField);
        return Heard::Faulty { seat, fault, error };
    }
    match answer("result", said) {
        Ok(answer) => Heard::Command(Command::Answer { seat, answer }),
        Err(error) => Heard::Faulty { seat, fault: Fault::MissingField, error },
    }
}

/// A player's answer to a call for a move, which stood at `at`. What is not shaped like a proof
/// proves nothing and goes no further.
pub(super) fn answer(at: &str, said: &Said<'_>) -> Result<Answer, DecodeError> {
    if let Some(long) = said.nonce.filter(|nonce| nonce.len() > NONCE_BYTES_MAX) {
        return Err(DecodeError::too_long(&format!("{at}.nonce"), long.len(), NONCE_BYTES_MAX));
    }
    Ok(Answer::Move(Sealed {
        chosen: said.chosen.clone().expect("what was read is short enough for a move"),
        nonce: said.nonce.map(Into::into),
        proof: said.proof.filter(|proof| proof.parse::<Proof>().is_ok()).map(Into::into),
    }))
}
