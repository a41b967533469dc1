//! One match at which the player under test sits: what a referee sends, and what should come back.

use std::time::Duration;

use league_agent::ambient;
use league_agent::exchange::{new_conversation, random_hex};
use league_core::id::{AgentId, ConversationId, GameType, MatchId, PlayerId, RefereeId};
use league_core::proof::{Token, match_proof, reply_proof};
use league_core::seat::Seat;
use league_wire::message::{GameInvitation, GameJoinAck};
use league_wire::{Letter, MatchState, Message, MessageType, Reply, Sender};

use crate::answer::Asked;
use crate::bench::Bench;
use crate::limits::JOIN_TIME;
use crate::verdict::Halt;

/// What proves a referee genuine, or does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Proof {
    /// The manager's own.
    Genuine,
}

/// A match, as its referee sees it.
#[derive(Debug, Clone)]
pub(super) struct Table<'a> {
    pub(super) bench: &'a Bench,
    pub(super) match_id: MatchId,
    pub(super) attempt: u32,
    pub(super) conversation: ConversationId,
    pub(super) referee: RefereeId,
    pub(super) opponent: PlayerId,
    pub(super) seat: Seat,
    pub(super) proof: Proof,
}

impl<'a> Table<'a> {
    /// A match that nobody has heard of yet.
    pub(super) fn new(bench: &'a Bench) -> Self {
        let me = bench.me().id;
        let other = |number| PlayerId::new(number);
        let opponent = if me == AgentId::Player(other(2)) { other(1) } else { other(2) };
        Self {
            bench,
            match_id: bench.next_match(),
            attempt: 1,
            conversation: new_conversation("convr1m1"),
            referee: RefereeId::new(1),
            opponent,
            seat: Seat::A,
            proof: Proof::Genuine,
        }
    }

    /// What the referee shows.
    pub(super) fn shown(&self) -> Option<String> {
        match &self.proof {
            Proof::Genuine => Some(self.proof_with(self.bench.me().token.as_ref())),
        }
    }

    /// The proof that somebody makes who has `token`; a made-up one without.
    pub(super) fn proof_with(&self, token: Option<&Token>) -> String {
        let league = self.bench.me().league;
        match token {
            Some(token) => {
                match_proof(token, &league, self.match_id, self.attempt, self.referee).expose()
            }
            None => format!("prf_{}{}", random_hex(), random_hex()),
        }
    }

    /// A letter of this match's referee.
    pub(super) fn letter(&self, message: Message) -> Letter {
        let sender = Sender::Referee(self.referee.to_string().into());
        self.bench.letter(sender, self.conversation.clone(), self.shown().as_deref(), message)
    }

    /// An answer of the player under test, as it should be.
    pub(super) fn answer(&self, message: Message) -> Letter {
        let me = self.bench.me();
        let sender = Sender::Player(me.id.to_string().into());
        let proof = me
            .token
            .as_ref()
            .map(|token| reply_proof(token, &me.league, self.match_id, self.attempt).expose());
        self.bench.letter(sender, self.conversation.clone(), proof.as_deref(), message)
    }

    pub(super) fn invitation(&self) -> Letter {
        self.letter(Message::GameInvitation(GameInvitation {
            match_id: self.match_id,
            round_id: Some(self.match_id.round),
            game_type: even_odd(),
            role: self.seat,
            opponent_id: self.opponent,
            attempt: Some(self.attempt),
            rematch: Some(0),
            budget_ms: Some(millis(JOIN_TIME)),
            last_rtt_ms: None,
            draw_commitment: None,
            game_state: Some(MatchState::Inviting),
        }))
    }

    /// The acknowledgement that should come.
    pub(super) fn ack(&self) -> Letter {
        let player_id = self.bench.player().ok();
        let ack = GameJoinAck {
            match_id: self.match_id,
            player_id,
            accept: true,
            arrival: Some(ambient::now()),
            reason: None,
        };
        self.answer(Message::GameJoinAck(ack))
    }

    /// Invites the player and reads its answer.
    pub(super) async fn invite(&self) -> (Asked, Result<(Reply, GameJoinAck), Halt>) {
        let asked = self.bench.ask(&self.invitation(), JOIN_TIME).await;
        let read = self.read_ack(&asked);
        (asked, read)
    }

    pub(super) fn read_ack(&self, asked: &Asked) -> Result<(Reply, GameJoinAck), Halt> {
        let reply = asked.reply(&[MessageType::GameJoinAck], &self.ack())?;
        let Message::GameJoinAck(ack) = &reply.message else {
            return Err(Halt::Ours("an acknowledgement was read as something else".into()));
        };
        let ack = ack.clone();
        Ok((reply, ack))
    }

    /// A player that refuses us because we cannot prove anything has done nothing wrong.
    pub(super) fn unguarded(&self, asked: &Asked) -> Result<(), Halt> {
        let is_refused = || matches!(asked.refused(&self.ack()), Ok(Some(_)));
        if self.bench.me().token.is_none() && is_refused() {
            return Err(Halt::skip(
                "it believes only genuine referees, and its token is not known: use --start, \
                 --listen, or --token and --league",
            ));
        }
        Ok(())
    }

    /// Has the player join, for cases that are about what follows.
    pub(super) async fn join(&self) -> Result<(), Halt> {
        let (asked, read) = self.invite().await;
        self.unguarded(&asked)?;
        match read {
            Ok((_, ack)) if ack.accept => Ok(()),
            Ok(_) => Err(Halt::skip("what it builds on fails: see player.invite.accepts")),
            Err(halt) => Err(halt.unless_told_by("player.invite.accepts")),
        }
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).expect("a few seconds")
}

pub(super) fn even_odd() -> GameType {
    "even_odd".parse().expect("a game's name")
}
