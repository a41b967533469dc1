//! A call for a move, whichever kind it is, and the answer to it.

use std::time::Duration;

use league_core::id::{MatchId, PlayerId};
use league_core::proof::{SentChoice, choice_proof};
use league_wire::message::{MoveCall, MoveResponse, ParityCall, ParityResponse};
use league_wire::{Message, MoveValue, Parity};

use crate::limits::CHOICE_TIME_USUAL;
use crate::register::Membership;
use crate::strategy::{Asked, PARITY};

/// What a referee asks for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Question<'a> {
    /// Even or odd.
    Parity(&'a ParityCall),
    /// A move of another game.
    Move(&'a MoveCall),
}

/// What a player chose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Choice {
    /// Even or odd.
    Parity(Parity),
    /// A number that it was offered.
    Number(i64),
    /// A word that it was offered.
    Word(String),
}

/// A choice with the player's share in the draw, and the proof of both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sealed {
    pub(super) match_id: MatchId,
    pub(super) choice: Choice,
    player: PlayerId,
    step: u32,
    nonce: String,
    proof: String,
}

impl Question<'_> {
    pub(super) const fn match_id(self) -> MatchId {
        match self {
            Self::Parity(call) => call.match_id,
            Self::Move(call) => call.match_id,
        }
    }

    pub(super) const fn attempt(self) -> Option<u32> {
        match self {
            Self::Parity(call) => call.attempt,
            Self::Move(call) => call.attempt,
        }
    }

    pub(super) const fn opponent(self) -> Option<PlayerId> {
        match self {
            Self::Parity(call) => Some(call.opponent_id),
            Self::Move(call) => call.opponent_id,
        }
    }

    /// Which move of the match is asked for, counted from one.
    pub(super) fn step(self) -> u32 {
        match self {
            Self::Parity(_) => 1,
            Self::Move(call) => call.step.unwrap_or(1),
        }
    }

    /// The same for whoever thinks about it.
    pub(super) fn asked(self) -> Asked {
        match self {
            Self::Parity(call) => Asked {
                match_id: call.match_id,
                game: call.game_type.as_ref().map(ToString::to_string),
                step: self.step(),
                move_type: PARITY.into(),
                options: Parity::ALL.iter().map(|parity| MoveValue::from(parity.word())).collect(),
                context: None,
                standings: call.standings.clone(),
                time: time(call.budget_ms),
            },
            Self::Move(call) => Asked {
                match_id: call.match_id,
                game: Some(call.game_type.to_string()),
                step: self.step(),
                move_type: call.move_type.clone(),
                options: call.valid_options.clone(),
                context: call.context.clone(),
                standings: call.standings.clone(),
                time: time(call.budget_ms),
            },
        }
    }

    /// What `thought` comes to, as an answer to this; nothing if it is none.
    pub(super) const fn answered_by(self) -> fn(MoveValue) -> Option<Choice> {
        match self {
            Self::Parity(_) => |thought| match thought {
                MoveValue::Text(word) => Parity::find(&word).map(Choice::Parity),
                MoveValue::Number(_) => None,
            },
            Self::Move(_) => |thought| match thought {
                MoveValue::Text(word) => Some(Choice::Word(word)),
                MoveValue::Number(number) => Some(Choice::Number(number)),
            },
        }
    }
}

fn time(budget_ms: Option<u64>) -> Duration {
    budget_ms.map_or(CHOICE_TIME_USUAL, Duration::from_millis)
}

impl Choice {
    /// As a proof has it.
    fn text(&self) -> String {
        match self {
            Self::Parity(parity) => parity.word().into(),
            Self::Number(number) => number.to_string(),
            Self::Word(word) => word.clone(),
        }
    }

    /// Something else that could have been chosen as well.
    pub(super) fn other(&self) -> Self {
        match self {
            Self::Parity(Parity::Even) => Self::Parity(Parity::Odd),
            Self::Parity(Parity::Odd) => Self::Parity(Parity::Even),
            Self::Number(1) => Self::Number(2),
            Self::Number(number) => Self::Number(number.saturating_sub(1)),
            Self::Word(word) => Self::Word(format!("not {word}")),
        }
    }
}

impl Sealed {
    pub(super) fn new(
        me: &Membership<PlayerId>,
        (match_id, attempt, step): (MatchId, u32, u32),
        choice: Choice,
        nonce: String,
    ) -> Self {
        let sent = SentChoice { step, choice: &choice.text(), nonce: &nonce };
        let proof = choice_proof(&me.token, &me.league, match_id, attempt, sent).expose();
        Self { match_id, choice, player: me.id, step, nonce, proof }
    }

    /// The same, which names another match.
    pub(super) fn naming(self, match_id: MatchId) -> Self {
        Self { match_id, ..self }
    }

    /// The same with a proof of `choice` instead of its own.
    pub(super) fn proving(self, me: &Membership<PlayerId>, attempt: u32, choice: Choice) -> Self {
        let place = (self.match_id, attempt, self.step);
        let lie = Self::new(me, place, choice, self.nonce);
        Self { choice: self.choice, ..lie }
    }

    /// The answer to a call of the kind that it was chosen for.
    pub(super) fn message(&self) -> Message {
        let (match_id, player_id) = (self.match_id, Some(self.player));
        let (nonce, choice_proof) = (Some(self.nonce.clone()), Some(self.proof.clone()));
        let reasoning = None;
        let move_data = match &self.choice {
            Choice::Parity(choice) => {
                return Message::ChooseParityResponse(ParityResponse {
                    match_id,
                    player_id,
                    choice: *choice,
                    nonce,
                    choice_proof,
                    reasoning,
                });
            }
            Choice::Number(number) => MoveValue::Number(*number),
            Choice::Word(word) => MoveValue::Text(word.clone()),
        };
        Message::GameMoveResponse(MoveResponse {
            match_id,
            player_id,
            move_data,
            nonce,
            choice_proof,
            reasoning,
        })
    }
}
