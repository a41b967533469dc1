//! Playing by conversation: joining, waiting for the next turn in plain words, and moving, for
//! those who have no program, such as a language model. Reads and answers the same mailbox as a
//! program that pulls.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use league_agent::ambient;
use league_agent::desk::{Desk, refusal};
use league_agent::exchange::{new_conversation, random_hex};
use league_core::game;
use league_core::id::{LeagueId, MatchId, PlayerId};
use league_core::manager::{Phase, ProtocolVersion};
use league_core::proof::{SentChoice, choice_proof, reply_proof};
use league_core::time::Timestamp;
use league_wire::dialect::{Decoded, decode_request, encode_answer, encode_refusal};
use league_wire::frame::{Request, parse};
use league_wire::message::{
    Ack, ErrorReport, GameOverAck, Meta, MoveResponse, ParityResponse, PlayerRegistration, Pong,
    RegisterResponse,
};
use league_wire::{
    AuthToken, Code, Dialect, Envelope, Fragment, Incoming, JoinCode, Letter, Message, MoveValue,
    Parity, Sender,
};

use super::{From, Given, NotOpened, Polled, Puller, Settled, calls, plain};
use crate::limits::POLL_WAIT_MAX;
use crate::manager::{Manager, Stub};

/// What somebody says who wants to play by conversation.
#[derive(Debug, Clone, Default)]
pub struct Wish {
    /// The name shown to people.
    pub name: String,
    /// The league to join; the manager chooses if there is none.
    pub league: Option<LeagueId>,
    /// Its personal code, where the league asks for one.
    pub join_code: Option<String>,
}

/// Somebody who has joined by conversation.
#[derive(Debug, Clone)]
pub struct Joined {
    /// Who it is.
    pub player: PlayerId,
    /// What it shows from now on.
    pub token: AuthToken,
    /// Where it plays.
    pub league: LeagueId,
    /// What.
    pub game: String,
}

/// What there is to know at present.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    /// What has happened, in the order in which it did.
    pub news: Vec<String>,
    /// The move that is asked for; nothing if it is not this player's turn.
    pub ask: Option<Ask>,
    /// Whether the league is over, so that there will be no turn any more.
    pub is_over: bool,
}

/// A move that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ask {
    /// In which match.
    pub match_id: MatchId,
    /// Against whom.
    pub opponent: Option<PlayerId>,
    /// What may be chosen; empty if it cannot be listed.
    pub options: Vec<String>,
    /// Until when.
    pub deadline: Option<Timestamp>,
    /// All of it in a sentence.
    pub told: String,
    /// Which move of which attempt.
    place: (u32, u32),
}

/// A move that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// In which match.
    pub match_id: MatchId,
    /// What was chosen.
    pub choice: String,
}

/// Why no move was made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoMove {
    /// The mailbox was not opened.
    #[error(transparent)]
    NotOpened(#[from] NotOpened),
    /// Nobody waits for a move of this player.
    #[error("nobody waits for a move of yours just now; wait for your turn")]
    NotAsked,
    /// It is none that may be made.
    #[error("`{got}` cannot be chosen; choose one of: {options}", options = options.join(", "))]
    Illegal {
        /// What was chosen.
        got: String,
        /// What may be.
        options: Vec<String>,
    },
    /// The time for it has passed.
    #[error("the time for this move has passed")]
    TooLate,
}

impl Manager {
    /// Has somebody join a league as a player that pulls.
    ///
    /// # Errors
    /// If it is not let in.
    pub async fn join_by_chat(
        &self,
        wish: Wish,
        peer: SocketAddr,
    ) -> Result<Joined, Box<ErrorReport>> {
        let letter = application(wish);
        if let Err(wait) = self.admit(peer, &[Some(&letter)]) {
            let text = format!("too many requests; come back in {} s", wait.as_secs() + 1);
            return Err(refusal(Code::E033, &text));
        }
        let answer = self.receive(letter, Dialect::Flat, peer).await?;
        let Message::LeagueRegisterResponse(response) = answer.message else {
            unreachable!("a registration is answered with a registration response")
        };
        let (player, token) = match response {
            RegisterResponse::Accepted { id, token, .. } => (id, token),
            RegisterResponse::Rejected(report) => return Err(report),
        };
        let stub = answer.league.as_ref().and_then(|league| self.leagues().find(league));
        let stub = stub.ok_or_else(|| refusal(Code::E033, "the league is closing"))?;
        let league = &stub.published().league;
        let (id, game) = (league.id().clone(), league.charter().game.to_string());
        Ok(Joined { player, token, league: id, game })
    }

    /// Waits for the next turn of whoever has the token `shown`, at most `wait`. What it is only
    /// told is acknowledged for it.
    ///
    /// # Errors
    /// If the token opens no mailbox.
    pub async fn turn_by_chat(
        &self,
        shown: &str,
        wait: Duration,
        peer: SocketAddr,
    ) -> Result<Moment, NotOpened> {
        let puller = self.puller(shown, peer)?;
        let until = ambient::now() + wait.min(POLL_WAIT_MAX);
        let mut moment = Moment { news: vec![], ask: None, is_over: false };
        loop {
            let stub = self.leagues().find(&puller.league).ok_or(NotOpened::NotNow)?;
            let is_over = matches!(stub.published().league.phase(), Phase::Completed { .. });
            let left = until.since(ambient::now());
            // Whoever hears of the end need not wait for more.
            let left = if is_over { left.min(LAST_NEWS) } else { left };
            let given = match puller.next(None, left).await {
                Polled::Turns(given) => given,
                Polled::TakenOver | Polled::Closed => return Err(NotOpened::NotNow),
            };
            let is_quiet = given.is_empty();
            for given in given {
                match self.heard(&stub, &puller, &given) {
                    Some(Heard::News(news)) => moment.news.push(news),
                    Some(Heard::Ask(ask)) => moment.ask = moment.ask.or(Some(ask)),
                    None => {}
                }
            }
            moment.is_over = is_over;
            let is_late = until <= ambient::now();
            if moment.ask.is_some() || is_late || (is_over && is_quiet) {
                return Ok(moment);
            }
        }
    }

    /// Makes a move for whoever has the token `shown`: in `match_id`, or in the match that waits
    /// longest.
    ///
    /// # Errors
    /// If it is not asked for one, or for another.
    pub fn move_by_chat(
        &self,
        shown: &str,
        (match_id, choice): (Option<MatchId>, &str),
        peer: SocketAddr,
    ) -> Result<Moved, NoMove> {
        let puller = self.puller(shown, peer)?;
        let stub = self.leagues().find(&puller.league).ok_or(NotOpened::NotNow)?;
        let waiting = puller.mailbox().waiting();
        let asked = waiting.iter().filter_map(|given| {
            let Incoming::Single(Ok(request)) = parse(&given.body) else { return None };
            let Decoded { letter, .. } = decode_request(&request).ok()?;
            Some((given, self.asked(&stub, &puller, given.from, &letter)?))
        });
        let asked = asked.filter(|(_, ask)| match_id.is_none_or(|wanted| ask.match_id == wanted));
        let asked: Vec<(&Given, Ask)> = asked.collect();
        let (_, first) = asked.first().ok_or(NoMove::NotAsked)?;
        let value = legal(first, choice).ok_or_else(|| NoMove::Illegal {
            got: choice.chars().take(GOT_MAX).collect(),
            options: first.options.clone(),
        })?;
        let nonce = random_hex();
        // The same question may have been asked several times.
        let same = asked.iter().filter(|(_, ask)| ask.match_id == first.match_id);
        let answers = same.map(|(given, ask)| {
            let body = self.sealed(&stub, &puller, given, (ask, &value, &nonce));
            body.map_or(Settled::Unknown, |body| puller.answer(given.turn, body))
        });
        let answers: Vec<Settled> = answers.collect();
        if !answers.contains(&Settled::Counted) {
            return Err(NoMove::TooLate);
        }
        Ok(Moved { match_id: first.match_id, choice: plain::option(&value) })
    }

    /// What a turn says. What needs no thought is acknowledged at once.
    fn heard(&self, stub: &Stub, puller: &Puller, given: &Given) -> Option<Heard> {
        let (player, body) = (puller.player, given.body.clone());
        let Incoming::Single(Ok(request)) = parse(&body) else {
            return None;
        };
        let Ok(Decoded { dialect, letter }) = decode_request(&request) else {
            puller.answer(given.turn, no(player, &request, "it cannot be read"));
            return None;
        };
        if given.from == From::Unproved {
            puller.answer(given.turn, no(player, &request, "it does not prove itself"));
            return None;
        }
        if let Some(ask) = self.asked(stub, puller, given.from, &letter) {
            return Some(Heard::Ask(ask));
        }
        let acknowledged = Letter {
            envelope: envelope(player, &letter.envelope, None),
            message: acknowledgement(&letter.message),
        };
        let answer = encode_answer(dialect, &request, &acknowledged).unwrap_or_default();
        puller.answer(given.turn, answer.into());
        plain::told(player, &letter.message).map(Heard::News)
    }

    /// The move that `letter` asks for, if it asks for one and proves that it may.
    fn asked(&self, stub: &Stub, puller: &Puller, from: From, letter: &Letter) -> Option<Ask> {
        let published = stub.published();
        let (_, attempt) = match from {
            From::Referee(_) => calls::proved(self, &published.league, puller.player, letter)?,
            From::Manager | From::Unproved => return None,
        };
        ask(&letter.message, attempt)
    }

    /// The answer with a move, with the proofs that a player makes with its token.
    fn sealed(
        &self,
        stub: &Stub,
        puller: &Puller,
        given: &Given,
        (ask, value, nonce): (&Ask, &MoveValue, &str),
    ) -> Option<Bytes> {
        let Incoming::Single(Ok(request)) = parse(&given.body) else { return None };
        let Decoded { dialect, letter } = decode_request(&request).ok()?;
        let published = stub.published();
        let league = &published.league;
        let token = calls::token(self, league, puller.player)?;
        let (match_id, (attempt, step)) = (ask.match_id, ask.place);
        let sent = SentChoice { step, choice: &plain::option(value), nonce };
        let proof = choice_proof(&token, league.id(), match_id, attempt, sent).expose();
        let (player_id, reasoning) = (Some(puller.player), None);
        let (nonce, choice_proof) = (Some(nonce.to_string()), Some(proof));
        let message = match (&letter.message, value) {
            (Message::ChooseParityCall(_), MoveValue::Text(word)) => {
                let choice = Parity::find(word)?;
                Message::ChooseParityResponse(ParityResponse {
                    match_id,
                    player_id,
                    choice,
                    nonce,
                    choice_proof,
                    reasoning,
                })
            }
            (_, value) => Message::GameMoveResponse(MoveResponse {
                match_id,
                player_id,
                move_data: value.clone(),
                nonce,
                choice_proof,
                reasoning,
            }),
        };
        let shown = reply_proof(&token, league.id(), match_id, attempt).expose();
        let shown = Some(AuthToken::new(&shown));
        let letter = Letter { envelope: envelope(puller.player, &letter.envelope, shown), message };
        encode_answer(dialect, &request, &letter).map(Bytes::from)
    }
}

/// How long the last news of a league are waited for.
const LAST_NEWS: Duration = Duration::from_millis(500);
/// Longest position that is told as it is.
const CONTEXT_MAX: usize = 1_024;
/// Characters of a choice that are repeated.
const GOT_MAX: usize = 40;

/// What a turn is to somebody who reads.
enum Heard {
    News(String),
    Ask(Ask),
}

fn application(wish: Wish) -> Letter {
    let Wish { name, league, join_code } = wish;
    let games = game::NAMES.iter().filter_map(|name| name.parse().ok());
    let meta = Meta {
        display_name: name,
        version: "1.0.0".into(),
        protocol_version: Some(ProtocolVersion::CURRENT.to_string()),
        game_types: games.collect(),
        contact_endpoint: None,
        contact_email: None,
        max_concurrent_matches: None,
        dialect: Some(Dialect::Flat),
        batch: false,
        pull: true,
        join: join_code.map(|code| JoinCode::new(code.trim())),
    };
    let envelope = Envelope {
        sender: Sender::Player("new".into()),
        timestamp: ambient::now(),
        conversation: new_conversation("chat"),
        token: None,
        league_id: league,
    };
    Letter { envelope, message: Message::LeagueRegisterRequest(PlayerRegistration { meta }) }
}

/// The move that `message` asks for, if it asks for one.
#[expect(clippy::wildcard_enum_match_arm, reason = "nothing else asks for a move")]
fn ask(message: &Message, attempt: u32) -> Option<Ask> {
    let mut known = String::new();
    let (match_id, opponent, options, deadline, step) = match message {
        Message::ChooseParityCall(it) => {
            let options = [Parity::Even, Parity::Odd].map(|parity| parity.word().to_string());
            (it.match_id, Some(it.opponent_id), options.to_vec(), it.deadline, 1)
        }
        Message::GameMoveCall(it) => {
            let options = it.valid_options.iter().map(plain::option).collect();
            let context = it.context.iter().map(Fragment::as_str);
            context
                .filter(|context| context.len() <= CONTEXT_MAX)
                .for_each(|context| known = format!(" What you know: {context}."));
            (it.match_id, it.opponent_id, options, it.deadline, it.step.unwrap_or(1))
        }
        _ => return None,
    };
    let place = (attempt, step);
    let against = opponent.map(|player| format!(" against {player}")).unwrap_or_default();
    let choices = match &options[..] {
        [] => "make your move".to_string(),
        options => format!("choose one of: {}", options.join(", ")),
    };
    let left = deadline.map(|at| at.since(ambient::now()).as_secs());
    let left = left.map(|seconds| format!(" You have about {seconds} seconds."));
    let left = left.unwrap_or_default();
    let told = format!("It is your turn in match {match_id}{against}: {choices}.{left}{known}");
    Some(Ask { match_id, opponent, options, deadline, told, place })
}

/// The move that `choice` means, if it may be made.
fn legal(ask: &Ask, choice: &str) -> Option<MoveValue> {
    let choice = choice.trim();
    let found = ask.options.iter().find(|option| option.eq_ignore_ascii_case(choice));
    let word = match found {
        Some(option) => option.as_str(),
        None if ask.options.is_empty() && !choice.is_empty() => choice,
        None => return None,
    };
    let number = word.parse::<i64>().ok().map(MoveValue::Number);
    Some(number.unwrap_or_else(|| MoveValue::Text(word.into())))
}

#[expect(clippy::wildcard_enum_match_arm, reason = "whatever else is told is acknowledged alike")]
fn acknowledgement(message: &Message) -> Message {
    match message {
        Message::GameOver(it) => {
            Message::GameOverAck(GameOverAck { match_id: it.match_id, acknowledged: true })
        }
        Message::Ping(_) => Message::Pong(Pong { state: None }),
        other => Message::Ack(Ack { of: Some(other.kind()) }),
    }
}

fn envelope(player: PlayerId, asked: &Envelope, token: Option<AuthToken>) -> Envelope {
    Envelope {
        sender: Sender::Player(player.to_string().into()),
        timestamp: ambient::now(),
        conversation: asked.conversation.clone(),
        token,
        league_id: asked.league_id.clone(),
    }
}

fn no(player: PlayerId, request: &Request<'_>, text: &str) -> Bytes {
    let report = ErrorReport::new(Code::E012, text);
    encode_refusal(Dialect::Flat, request, &calls::told(player, report)).into()
}
