//! One match at which the player under test sits: what a referee sends, and what should come back.

use std::time::Duration;

use league_agent::ambient;
use league_agent::exchange::{new_conversation, random_hex};
use league_core::id::{AgentId, ConversationId, GameType, MatchId, PlayerId, RefereeId};
use league_core::proof::{Token, match_proof, reply_proof};
use league_core::seat::Seat;
use league_wire::message::{
    ErrorReport, GameInvitation, GameJoinAck, GameOver, GameOverAck, GameStart, ParityCall,
    ParityResponse, PlayerLine,
};
use league_wire::{
    Code, Dialect, Fragment, Letter, MatchState, Message, MessageType, MoveValue, Parity,
    PlayerResult, Reply, ResultStatus, Sender,
};

use crate::answer::Asked;
use crate::bench::Bench;
use crate::limits::{CHOICE_TIME, JOIN_TIME, TOLD_TIME};
use crate::verdict::{Finding, Halt, Outcome};

/// What proves a referee genuine, or does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Proof {
    /// The manager's own.
    Genuine,
    /// None at all.
    Missing,
    /// This text.
    Forged(String),
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
            Proof::Missing => None,
            Proof::Forged(text) => Some(text.clone()),
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

    pub(super) fn start(&self) -> Letter {
        self.letter(Message::GameStart(GameStart {
            match_id: self.match_id,
            round_id: Some(self.match_id.round),
            game_type: Some(even_odd()),
            role: Some(self.seat),
            opponent_id: self.opponent,
            attempt: Some(self.attempt),
            game_state: Some(MatchState::CollectingChoices),
        }))
    }

    pub(super) fn call(&self) -> Letter {
        self.letter(Message::ChooseParityCall(ParityCall {
            match_id: self.match_id,
            player_id: self.bench.player().ok(),
            game_type: Some(even_odd()),
            deadline: Some(ambient::now() + CHOICE_TIME),
            opponent_id: self.opponent,
            round_id: Some(self.match_id.round),
            your_standings: Fragment::parse("{}"),
            standings: Fragment::parse("[]"),
            game_history: Fragment::parse("[]"),
            attempt: Some(self.attempt),
            budget_ms: Some(millis(CHOICE_TIME)),
            last_rtt_ms: None,
            game_state: Some(MatchState::CollectingChoices),
        }))
    }

    /// A choice that may come.
    pub(super) fn choice(&self) -> Letter {
        self.answer(Message::ChooseParityResponse(ParityResponse {
            match_id: self.match_id,
            player_id: self.bench.player().ok(),
            choice: Parity::Even,
            nonce: None,
            choice_proof: None,
            reasoning: None,
        }))
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
            Ok((_, ack)) if ack.accept => {
                // Document 004 tells its players that both have accepted, and they wait for it.
                if self.bench.dialect() == Dialect::Payload {
                    self.bench.ask(&self.start(), TOLD_TIME).await;
                }
                Ok(())
            }
            Ok(_) => Err(Halt::skip("what it builds on fails: see player.invite.accepts")),
            Err(halt) => Err(halt.unless_told_by("player.invite.accepts")),
        }
    }
}

impl Table<'_> {
    /// Asks for a choice and reads the answer.
    pub(super) async fn choose(&self) -> (Asked, Result<(Reply, ParityResponse), Halt>) {
        let asked = self.bench.ask(&self.call(), CHOICE_TIME).await;
        let read = self.read_choice(&asked);
        (asked, read)
    }

    pub(super) fn read_choice(&self, asked: &Asked) -> Result<(Reply, ParityResponse), Halt> {
        let reply = asked.reply(&[MessageType::ChooseParityResponse], &self.choice())?;
        let Message::ChooseParityResponse(response) = &reply.message else {
            return Err(Halt::Ours("a choice was read as something else".into()));
        };
        let response = response.clone();
        Ok((reply, response))
    }

    /// Has the player join and choose, for cases that are about what follows.
    pub(super) async fn play(&self) -> Result<(Asked, Reply, ParityResponse), Halt> {
        self.join().await?;
        let (asked, read) = self.choose().await;
        let (reply, choice) = read.map_err(|halt| halt.unless_told_by("player.choose.answers"))?;
        Ok((asked, reply, choice))
    }

    /// GAME_OVER of a match that was played; `technical` if the opponent did not play.
    pub(super) fn over(&self, technical: bool) -> Result<Letter, Halt> {
        let me = self.bench.player()?;
        let line = |choice: Option<Parity>, result, points| PlayerLine {
            choice: choice.map(|choice| MoveValue::Text(choice.word().into())),
            result: Some(result),
            points: Some(points),
            nonce: None,
            role: None,
        };
        let (mine, theirs, status, reason) = if technical {
            let lost = line(None, PlayerResult::TechnicalLoss, 0);
            let reason = "the opponent did not choose in time";
            (line(None, PlayerResult::Win, 3), lost, ResultStatus::TechnicalLoss, reason)
        } else {
            let lost = line(Some(Parity::Odd), PlayerResult::Loss, 0);
            let won = line(Some(Parity::Even), PlayerResult::Win, 3);
            (won, lost, ResultStatus::Win, "8 is even")
        };
        Ok(self.letter(Message::GameOver(GameOver {
            match_id: self.match_id,
            round_id: Some(self.match_id.round),
            game_type: Some(even_odd()),
            attempt: Some(self.attempt),
            rematch: Some(0),
            status,
            winner: Some(me),
            technical_losers: if technical { vec![self.opponent] } else { vec![] },
            reason: reason.into(),
            drawn_number: (!technical).then_some(8),
            number_parity: (!technical).then_some(Parity::Even),
            players: [(me, mine), (self.opponent, theirs)].into_iter().collect(),
            game_state: Some(MatchState::Completed),
            draw_seed: None,
            draw_commitment: None,
        })))
    }

    /// The answer to GAME_OVER that should come.
    pub(super) fn over_ack(&self) -> Letter {
        let (match_id, acknowledged) = (self.match_id, true);
        self.answer(Message::GameOverAck(GameOverAck { match_id, acknowledged }))
    }

    /// The refusal that should come.
    pub(super) fn refusal(&self, code: Code, description: &str) -> Letter {
        self.answer(Message::GameError(ErrorReport::new(
            code.told(self.bench.dialect()),
            description,
        )))
    }

    /// Whether the player refused, as it should: with an error, or by not taking part.
    pub(super) fn is_refused(&self, asked: &Asked, ideal: &Letter) -> Result<bool, Halt> {
        if asked.refused(ideal)?.is_some() {
            return Ok(true);
        }
        let declined = self.read_ack(asked).is_ok_and(|(_, ack)| !ack.accept);
        Ok(declined)
    }
}

/// Whether the player takes part in another match, after something that must not hurt.
pub(super) async fn still_plays(bench: &Bench, after: &str) -> Outcome {
    let table = Table::new(bench);
    let (asked, read) = table.invite().await;
    table.unguarded(&asked)?;
    match read {
        Ok((_, ack)) if ack.accept => Ok(()),
        Ok(_) => Err(Halt::fail(
            format!("after {after} it refused an ordinary invitation"),
            "answer the next call as if nothing had happened",
        )),
        Err(Halt::Fail(finding)) => Err(Halt::Fail(Finding {
            sentence: format!("after {after} an ordinary invitation failed: {}", finding.sentence),
            ..finding
        })),
        Err(other) => Err(other),
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).expect("a few seconds")
}

pub(super) fn even_odd() -> GameType {
    "even_odd".parse().expect("a game's name")
}

/// Whether answers of `dialect` carry sender, time and conversation.
pub(super) const fn answers_whole(dialect: Dialect) -> bool {
    match dialect {
        Dialect::Flat | Dialect::V21 | Dialect::Enveloped | Dialect::Tool | Dialect::Wrapped => {
            true
        }
        Dialect::Typed | Dialect::Payload => false,
    }
}
