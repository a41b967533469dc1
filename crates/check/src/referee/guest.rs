//! Players at the referee's table, played by the checker: each does what its manner says.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use league_agent::ambient;
use league_agent::endpoint::{Answer, Service};
use league_agent::exchange::random_hex;
use league_core::id::{LeagueId, MatchId, PlayerId, RoundId};
use league_core::proof::{SentChoice, Token, choice_proof, reply_proof};
use league_core::seat::Seat;
use league_wire::dialect::{decode_request, encode_answer};
use league_wire::frame::{Incoming, Request, parse};
use league_wire::message::{Ack, GameJoinAck, GameOverAck, ParityResponse};
use league_wire::{AuthToken, Dialect, Envelope, Letter, Message, Parity, Sender};

use super::notebook::{Ear, Notebook};
use crate::transcript::Way;

/// How a player answers a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Say {
    /// As it should.
    Well,
    /// As it should, after this time.
    After(Duration),
    /// Not at all; the connection stays open.
    Nothing,
    /// With a no, where there is one.
    No,
    /// With a word that is no choice.
    Shouted,
    /// For another match.
    OtherMatch,
    /// With a token that is nobody's.
    OtherToken,
    /// That the call was heard; the answer comes as a call of its own.
    Apart,
}

/// How a player behaves.
#[derive(Debug, Clone)]
pub(super) struct Manner {
    pub(super) invitation: Say,
    /// One for each call for a choice; the last one goes on.
    pub(super) choices: Vec<Say>,
    pub(super) over: Say,
    pub(super) choice: Parity,
}

impl Manner {
    pub(super) fn choosing(choice: Parity) -> Self {
        Self { invitation: Say::Well, choices: vec![Say::Well], over: Say::Well, choice }
    }
}

/// A player played by the checker.
#[derive(Debug)]
pub(super) struct Guest {
    pub(super) seat: Seat,
    pub(super) id: PlayerId,
    pub(super) token: Token,
    pub(super) league: LeagueId,
    pub(super) attempt: u32,
    pub(super) manner: Manner,
    pub(super) nonce: String,
    pub(super) notebook: Arc<Notebook>,
    /// How an answer that comes as a call of its own reaches the referee.
    pub(super) referee: Sent,
    calls: AtomicUsize,
}

/// Sends a call to the referee, and gives back nothing.
pub(super) struct Sent(pub(super) Box<dyn Fn(Letter) -> Sending + Send + Sync>);

pub(super) type Sending = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;

impl std::fmt::Debug for Sent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sent")
    }
}

/// Who a guest is.
pub(super) struct Who {
    pub(super) seat: Seat,
    pub(super) id: PlayerId,
    pub(super) token: Token,
    pub(super) league: LeagueId,
    pub(super) attempt: u32,
}

impl Guest {
    pub(super) fn new(who: Who, manner: Manner, notebook: Arc<Notebook>, referee: Sent) -> Self {
        let Who { seat, id, token, league, attempt } = who;
        let (nonce, calls) = (random_hex(), AtomicUsize::new(0));
        Self { seat, id, token, league, attempt, manner, nonce, notebook, referee, calls }
    }

    /// A letter of this player in the match's conversation.
    pub(super) fn letter(&self, to: &Letter, match_id: MatchId, message: Message) -> Letter {
        let proof = reply_proof(&self.token, &self.league, match_id, self.attempt).expose();
        let envelope = Envelope {
            sender: Sender::Player(self.id.to_string().into()),
            timestamp: ambient::now(),
            conversation: to.envelope.conversation.clone(),
            token: Some(AuthToken::new(&proof)),
            league_id: Some(self.league.clone()),
        };
        Letter { envelope, message }
    }

    /// The choice, proved.
    pub(super) fn choice(&self, match_id: MatchId) -> Message {
        let word = self.manner.choice.word();
        let sent = SentChoice { step: 1, choice: word, nonce: &self.nonce };
        let proof = choice_proof(&self.token, &self.league, match_id, self.attempt, sent);
        Message::ChooseParityResponse(ParityResponse {
            match_id,
            player_id: Some(self.id),
            choice: self.manner.choice,
            nonce: Some(self.nonce.clone()),
            choice_proof: Some(proof.expose()),
            reasoning: None,
        })
    }

    /// What is said to a message, and how.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what a player is only told it notes")]
    fn answer(&self, letter: &Letter) -> (Say, Letter) {
        match &letter.message {
            Message::GameInvitation(invitation) => {
                let say = self.manner.invitation;
                let (match_id, accept) = (invitation.match_id, say != Say::No);
                let reason = (!accept).then(|| "I would rather not".to_string());
                let arrival = Some(ambient::now());
                let player_id = Some(self.id);
                let ack = GameJoinAck { match_id, player_id, accept, arrival, reason };
                (say, self.letter(letter, match_id, Message::GameJoinAck(ack)))
            }
            Message::ChooseParityCall(call) => {
                let number = self.calls.fetch_add(1, Ordering::Relaxed);
                let last = self.manner.choices.last().copied().unwrap_or(Say::Well);
                let say = self.manner.choices.get(number).copied().unwrap_or(last);
                let match_id = match say {
                    Say::OtherMatch => MatchId::new(RoundId::new(99_999), 9),
                    _ => call.match_id,
                };
                let mut said = self.letter(letter, call.match_id, self.choice(match_id));
                if say == Say::OtherToken {
                    said.envelope.token = Some(AuthToken::new("tok_player_P77_0000"));
                }
                (say, said)
            }
            Message::GameOver(over) => {
                let ack = GameOverAck { match_id: over.match_id, acknowledged: true };
                let ack = Message::GameOverAck(ack);
                (self.manner.over, self.letter(letter, over.match_id, ack))
            }
            other => {
                let ack = Message::Ack(Ack { of: Some(other.kind()) });
                (Say::Well, self.letter(letter, MatchId::new(RoundId::FIRST, 1), ack))
            }
        }
    }

    async fn say(&self, say: Say, dialect: Dialect, request: &Request<'_>, said: Letter) -> Answer {
        let encode = |letter: &Letter| encode_answer(dialect, request, letter).unwrap_or_default();
        let body = encode(&said);
        match say {
            Say::Well | Say::No | Say::OtherMatch | Say::OtherToken => Answer::json(body),
            Say::After(time) => {
                tokio::time::sleep(time).await;
                Answer::json(body)
            }
            Say::Nothing => std::future::pending().await,
            Say::Shouted => {
                let word = self.manner.choice.word();
                let text = String::from_utf8_lossy(&body).replace(word, &word.to_uppercase());
                Answer::json(text.into_bytes())
            }
            Say::Apart => {
                let ack = Message::Ack(Ack { of: None });
                let heard = Letter { envelope: said.envelope.clone(), message: ack };
                (self.referee.0)(said).await;
                Answer::json(encode(&heard))
            }
        }
    }
}

impl Service for Guest {
    async fn mcp(&self, body: Bytes, _peer: SocketAddr) -> Answer {
        let ear = Ear::Player(self.seat);
        let text = String::from_utf8_lossy(&body);
        let request = match parse(&body) {
            Incoming::Single(Ok(request)) => request,
            Incoming::Single(Err(error)) => {
                self.notebook.show(ear, Way::Came, &body);
                self.notebook.note(ear, Err(error.to_string()), Dialect::Flat, &text);
                return Answer::json(error.answer());
            }
            Incoming::Batch(_) => {
                self.notebook.note(ear, Err("a batch".into()), Dialect::Flat, &text);
                return Answer::json("[]");
            }
        };
        let decoded = match decode_request(&request) {
            Ok(decoded) => decoded,
            Err(error) => {
                self.notebook.show(ear, Way::Came, &body);
                self.notebook.note(ear, Err(error.to_string()), Dialect::Flat, &text);
                return Answer::json("{}");
            }
        };
        let (dialect, letter) = (decoded.dialect, decoded.letter);
        // Somebody else's program may still think that its agent is at this address.
        if letter.envelope.league_id.as_ref().is_some_and(|league| *league != self.league) {
            return Answer::text(404, "nobody of that league is here\n");
        }
        self.notebook.show(ear, Way::Came, &body);
        self.notebook.note(ear, Ok(letter.clone()), dialect, &text);
        let (say, said) = self.answer(&letter);
        if let Message::ChooseParityCall(_) = letter.message {
            self.notebook.keep_secret(self.seat, &self.nonce);
        }
        let answer = self.say(say, dialect, &request, said).await;
        self.notebook.show(ear, Way::Sent, &answer.body);
        answer
    }

    fn page(&self, _path: &str) -> Option<Answer> {
        None
    }
}
