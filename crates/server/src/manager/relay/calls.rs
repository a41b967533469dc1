//! The referee's side: `POST /relay/<player>/mcp` looks like the player's own endpoint. Whoever
//! proves that it officiates goes before everybody else; presence accepts invitations.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use league_agent::ambient;
use league_agent::desk::refusal;
use league_agent::endpoint::Answer;
use league_agent::exchange::new_conversation;
use league_core::id::{AgentId, PlayerId, RefereeId};
use league_core::manager::League;
use league_core::policy::Policy;
use league_core::proof::{Token, match_proof, reply_proof};
use league_wire::dialect::{
    Decoded, decode_request, encode_answer, encode_error, encode_refusal, spoken,
};
use league_wire::frame::{Request, parse};
use league_wire::message::{ErrorReport, GameJoinAck};
use league_wire::{
    AuthToken, Code, Dialect, Envelope, Fragment, Incoming, Letter, Message, MessageType, Sender,
};

use super::super::applicant::nonce_of;
use super::super::gate::{Visitor, origin};
use super::{Call, From, Mailbox, Reply, Unanswered, Want};
use crate::limits::RELAYED_BYTES_MAX;
use crate::manager::{Manager, Stub};

/// Answers a call to `player`, who has no endpoint of its own.
pub(super) async fn answer(
    manager: &Manager,
    player: PlayerId,
    body: Bytes,
    peer: SocketAddr,
) -> Answer {
    let request = match parse(&body) {
        Incoming::Single(Ok(request)) => request,
        Incoming::Single(Err(error)) => {
            return Answer::json_with_status(error.code.row().http, error.answer());
        }
        Incoming::Batch(_) => {
            let text = "a player that pulls is called with one request at a time";
            let letter = told(player, ErrorReport::new(Code::InvalidRequest, text));
            let answer = encode_error(Dialect::Flat, None, &letter);
            return Answer::json_with_status(Code::InvalidRequest.row().http, answer);
        }
    };
    let decoded = match decode_request(&request) {
        Ok(decoded) => decoded,
        Err(error) => return refused(player, &request, ErrorReport::from(&error)),
    };
    let is_shallow = std::str::from_utf8(&body).is_ok_and(|text| Fragment::parse(text).is_some());
    if body.len() > RELAYED_BYTES_MAX || !is_shallow {
        let text =
            format!("a call has at most {RELAYED_BYTES_MAX} bytes and is not nested so deep");
        return refused(player, &request, ErrorReport::new(Code::InvalidRequest, text));
    }
    let Some(place) = Place::find(manager, player, &decoded.letter) else {
        if manager.leagues().all().iter().any(|(_, stub)| !stub.mailboxes().are_set_up()) {
            let text = "the manager has only just started; come back in a second";
            return refused(player, &request, ErrorReport::new(Code::E033, text));
        }
        let text = format!("there is no player {player} here that pulls");
        return refused(player, &request, *refusal(Code::E013, &text));
    };
    let visitor = place.visitor(peer);
    if let Err(wait) = manager.gate().admit(ambient::now(), &[visitor]) {
        return Answer::too_many(wait);
    }
    let want = want(decoded.letter.message.kind(), place.attempt.is_some());
    let call = Call { from: place.from(), want, body: body.clone() };
    let hold = hold(place.stub.published().league.policy());
    match place.stub.mailboxes().call(&place.mailbox, call, hold).await {
        Ok(Reply::Posted(answer)) => Answer::json(answer),
        Ok(Reply::Present) => place.accept(manager, player, &request, &decoded),
        Err(no @ (Unanswered::Full(_) | Unanswered::Closed)) => {
            refused(player, &request, ErrorReport::new(Code::E033, no.to_string()))
        }
        // Nobody waits so long for an answer that counts.
        Err(Unanswered::Silent(_)) => Answer::hang_up(),
    }
}

/// Whom a call is for, and who has proved to make it.
struct Place {
    stub: Stub,
    mailbox: Arc<Mailbox>,
    /// The attempt at a match at which the referee has proved to be.
    attempt: Option<(RefereeId, u32)>,
}

impl Place {
    /// The mailbox of `player` in the league that `letter` names, or proves to be of.
    fn find(manager: &Manager, player: PlayerId, letter: &Letter) -> Option<Self> {
        let named = letter.envelope.league_id.as_ref();
        let all = manager.leagues().all().into_iter();
        let all = all.filter(|(id, _)| named.is_none_or(|named| named == id));
        let places = all.filter_map(|(_, stub)| {
            let mailbox = stub.mailboxes().of(player)?;
            let attempt = proved(manager, &stub.published().league, player, letter);
            Some(Self { stub, mailbox, attempt })
        });
        let mut places: Vec<Self> = places.collect();
        let index = places.iter().position(|place| place.attempt.is_some());
        match index {
            Some(index) => Some(places.swap_remove(index)),
            None if places.len() == 1 => places.pop(),
            None => None,
        }
    }

    const fn from(&self) -> From {
        match self.attempt {
            Some((referee, _)) => From::Referee(referee),
            None => From::Unproved,
        }
    }

    /// By whom the call is counted.
    fn visitor(&self, peer: SocketAddr) -> Visitor {
        let nonce = self.attempt.and_then(|(referee, _)| {
            nonce_of(&self.stub.published().league, AgentId::Referee(referee))
        });
        nonce.map_or_else(|| Visitor::Stranger(origin(peer)), Visitor::Agent)
    }

    /// Accepts an invitation for a player that is there.
    fn accept(
        &self,
        manager: &Manager,
        player: PlayerId,
        request: &Request<'_>,
        decoded: &Decoded,
    ) -> Answer {
        let Decoded { dialect, letter } = decoded;
        let joined = || {
            let (match_id, (_, attempt)) = (letter.message.match_id()?, self.attempt?);
            let published = self.stub.published();
            let league = &published.league;
            let token = token(manager, league, player)?;
            let proof = reply_proof(&token, league.id(), match_id, attempt);
            let (player_id, arrival) = (Some(player), Some(ambient::now()));
            let ack = GameJoinAck { match_id, player_id, accept: true, arrival, reason: None };
            let envelope = Envelope {
                sender: Sender::Player(player.to_string().into()),
                timestamp: ambient::now(),
                conversation: letter.envelope.conversation.clone(),
                token: Some(AuthToken::new(&proof.expose())),
                league_id: Some(league.id().clone()),
            };
            let answer = Letter { envelope, message: Message::GameJoinAck(ack) };
            encode_answer(*dialect, request, &answer)
        };
        match joined() {
            Some(body) => Answer::json(body),
            None => refused(player, request, ErrorReport::new(Code::E033, "the league changed")),
        }
    }
}

/// The referee that has proved to send `letter`, and the attempt at the match it is about.
pub(super) fn proved(
    manager: &Manager,
    league: &League,
    player: PlayerId,
    letter: &Letter,
) -> Option<(RefereeId, u32)> {
    let Letter { envelope, message } = letter;
    let Sender::Referee(referee) = &envelope.sender else { return None };
    let (referee, match_id) = (referee.parse().ok()?, message.match_id()?);
    let attempt = message.attempt().or_else(|| {
        let record = league.match_record(match_id)?;
        record.attempt.or_else(|| record.filed.map(|filed| filed.attempt))
    });
    let (token, attempt) = (token(manager, league, player)?, attempt.unwrap_or(1));
    let proof = match_proof(&token, league.id(), match_id, attempt, referee);
    let is_shown = proof.matches(envelope.token.as_ref()?.reveal());
    is_shown.then_some((referee, attempt))
}

/// The token of `player`, which proves what is said to it and by it.
pub(super) fn token(manager: &Manager, league: &League, player: PlayerId) -> Option<Token> {
    let agent = AgentId::Player(player);
    let nonce = nonce_of(league, agent)?;
    Some(manager.keys().token(league.policy().token_form(), league.id(), agent, &nonce))
}

/// What a call of this `kind` wants of the player.
#[expect(clippy::wildcard_enum_match_arm, reason = "nothing else counts in a match")]
const fn want(kind: MessageType, is_proved: bool) -> Want {
    match kind {
        MessageType::GameInvitation if is_proved => Want::Presence,
        MessageType::GameInvitation | MessageType::ChooseParityCall | MessageType::GameMoveCall => {
            Want::Answer
        }
        _ => Want::Notice,
    }
}

/// How long a call may wait for its answer: no referee waits longer for one that counts.
fn hold(policy: &Policy) -> Duration {
    policy.choice_timeout().saturating_mul(policy.choice_attempts() + 1)
}

fn refused(player: PlayerId, request: &Request<'_>, report: ErrorReport) -> Answer {
    let status = report.code.known().unwrap_or(Code::Internal).row().http;
    let answer = encode_refusal(spoken(request), request, &told(player, report));
    Answer::json_with_status(status, answer)
}

/// An error as the player itself would tell it.
pub(super) fn told(player: PlayerId, report: ErrorReport) -> Letter {
    let envelope = Envelope {
        sender: Sender::Player(player.to_string().into()),
        timestamp: ambient::now(),
        conversation: new_conversation("err"),
        token: None,
        league_id: None,
    };
    Letter { envelope, message: Message::GameError(report) }
}
