//! Players that misbehave, each in one way of its own: for tests, demonstrations and practice.

#[cfg(test)]
mod tests;

use std::sync::Mutex;
use std::time::Duration;

use league_core::dice::{Dice, SeededDice};
use league_core::id::{MatchId, PlayerId};
use league_wire::dialect::decode_request;
use league_wire::frame::parse;
use league_wire::message::GameJoinAck;
use league_wire::{AuthToken, Incoming, Message};

use super::answer::Sealed;
use crate::desk::Signed;
use crate::endpoint::Answer;
use crate::guard::lock;
use crate::limits::{CHOICE_TIME_USUAL, JOIN_TIME_USUAL};
use crate::register::Membership;

/// A guest that misbehaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guest {
    /// Joins, and says nothing when it is asked to choose.
    Silent,
    /// Answers a referee when half of the time is over.
    Slow,
    /// Answers a referee when the time and a tenth of it are over.
    Late,
    /// Answers a call for a choice with something that is not JSON.
    Garbage,
    /// Shows a token that is not its own with its choice.
    WrongToken,
    /// Names another match in its choice.
    WrongMatch,
    /// Proves the choice that it did not send.
    Liar,
    /// Refuses every invitation.
    Refuser,
    /// Hangs up on one call in four, and fails another one in four.
    Flaky,
}

impl Guest {
    /// Every guest.
    pub const ALL: [Self; 9] = [
        Self::Silent,
        Self::Slow,
        Self::Late,
        Self::Garbage,
        Self::WrongToken,
        Self::WrongMatch,
        Self::Liar,
        Self::Refuser,
        Self::Flaky,
    ];

    /// The name people type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Silent => "silent",
            Self::Slow => "slow",
            Self::Late => "late",
            Self::Garbage => "garbage",
            Self::WrongToken => "wrong_token",
            Self::WrongMatch => "wrong_match",
            Self::Liar => "liar",
            Self::Refuser => "refuser",
            Self::Flaky => "flaky",
        }
    }

    /// The guest called `name`.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|guest| guest.name() == name)
    }
}

/// How a player behaves: well, or like one of the guests.
#[derive(Debug)]
pub struct Conduct(Option<(Guest, Mutex<SeededDice>)>);

impl Conduct {
    /// By the book.
    pub const fn proper() -> Self {
        Self(None)
    }

    /// Like `guest`; `seed` makes its moods repeatable.
    pub const fn of(guest: Guest, seed: u64) -> Self {
        Self(Some((guest, Mutex::new(SeededDice::new(seed)))))
    }

    fn is(&self, guest: Guest) -> bool {
        self.0.as_ref().is_some_and(|(own, _)| *own == guest)
    }

    /// What happens to a call before anybody reads it: it may wait, or be answered out of turn.
    pub(super) async fn interrupt(&self, body: &[u8]) -> Option<Answer> {
        let (guest, dice) = self.0.as_ref()?;
        match (guest, Asked::of(body)) {
            (Guest::Flaky, _) => mood(&mut lock(dice)),
            (Guest::Silent, Asked::Choice(_)) => std::future::pending().await,
            (Guest::Garbage, Asked::Choice(_)) => Some(Answer::json("even, I should think")),
            (Guest::Slow, Asked::Choice(time) | Asked::Join(time)) => {
                tokio::time::sleep(time / 2).await;
                None
            }
            (Guest::Late, Asked::Choice(time) | Asked::Join(time)) => {
                tokio::time::sleep(time + time / 10).await;
                None
            }
            (
                Guest::Silent
                | Guest::Slow
                | Guest::Late
                | Guest::Garbage
                | Guest::WrongToken
                | Guest::WrongMatch
                | Guest::Liar
                | Guest::Refuser,
                _,
            ) => None,
        }
    }

    /// What becomes of an answer to an invitation.
    pub(super) fn join(&self, ack: GameJoinAck) -> GameJoinAck {
        if !self.is(Guest::Refuser) {
            return ack;
        }
        GameJoinAck { accept: false, reason: Some("this guest refuses to play".into()), ..ack }
    }

    /// What becomes of a choice.
    pub(super) fn choose(&self, me: &Membership<PlayerId>, attempt: u32, sealed: Sealed) -> Sealed {
        if self.is(Guest::WrongMatch) {
            let match_id = sealed.match_id;
            let match_id = MatchId::new(match_id.round, match_id.number() % 9_999 + 1);
            return sealed.naming(match_id);
        }
        if self.is(Guest::Liar) {
            let other = sealed.choice.other();
            return sealed.proving(me, attempt, other);
        }
        sealed
    }

    /// What becomes of a choice's signature.
    pub(super) fn sign(&self, signed: Signed) -> Signed {
        if !self.is(Guest::WrongToken) {
            return signed;
        }
        Signed { token: Some(AuthToken::new("tok_of_somebody_else")), ..signed }
    }
}

fn mood(dice: &mut SeededDice) -> Option<Answer> {
    match dice.below(4) {
        0 => Some(Answer::hang_up()),
        1 => Some(Answer::text(500, "this guest has its moods\n")),
        _ => None,
    }
}

/// What a call asks for, and in what time.
enum Asked {
    Join(Duration),
    Choice(Duration),
    Other,
}

impl Asked {
    #[expect(clippy::wildcard_enum_match_arm, reason = "guests care for few messages")]
    fn of(body: &[u8]) -> Self {
        let Incoming::Single(Ok(request)) = parse(body) else { return Self::Other };
        let Ok(decoded) = decode_request(&request) else { return Self::Other };
        let time = |told: Option<u64>, usual| told.map_or(usual, Duration::from_millis);
        match decoded.letter.message {
            Message::GameInvitation(call) => Self::Join(time(call.budget_ms, JOIN_TIME_USUAL)),
            Message::ChooseParityCall(call) => {
                Self::Choice(time(call.budget_ms, CHOICE_TIME_USUAL))
            }
            Message::GameMoveCall(call) => Self::Choice(time(call.budget_ms, CHOICE_TIME_USUAL)),
            _ => Self::Other,
        }
    }
}
