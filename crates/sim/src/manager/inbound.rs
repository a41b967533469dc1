//! What arrives at the manager: who sent it, what it asks, and what the answer looks like.

use std::collections::BTreeSet;

use league_core::id::{AgentId, PlayerId, RefereeId};
use league_core::manager::dispatch::Handout;
use league_core::manager::{
    Application, Command, Evidence, League, Play, Reply, Report, Returning, Scales, VoidCause,
};
use league_core::proof::{Keys, Token};
use league_core::schedule::Pairing;
use league_core::seat::Seats;

use super::writer::{Answered, Question};
use crate::message::{Aside, Body, Claim, Denial, Letter, Node, Packet};
use crate::sabotage::Sabotage;
use crate::stage::Stage;

/// What a request asks of the writer, or why it is not passed on.
pub(super) fn ask(
    (keys, league): (&Keys, &League),
    seen: &mut BTreeSet<AgentId>,
    stage: &Stage<'_>,
    packet: &Packet,
) -> Result<Question, Denial> {
    let letter = &packet.letter;
    let command = match &letter.body {
        Body::Register(application) => {
            register((keys, league), seen, (stage, packet), application)?
        }
        Body::StartLeague if packet.from == Node::Administrator => Command::Start,
        Body::Administer(order) if packet.from == Node::Administrator => {
            Command::Administer { order: *order, reason: "so that something happens".into() }
        }
        Body::StartLeague | Body::Administer(_) => return Err(Denial::Unproved),
        Body::Report(claim) => {
            let referee = referee(keys, league, letter)?;
            seen.insert(AgentId::Referee(referee));
            let skips = stage.is_sabotaged(Sabotage::SkipProof);
            Command::RecordResult(Box::new(report(keys, league, (referee, skips), claim)?))
        }
        Body::Progress { match_id, attempt, annulled } => {
            let referee = referee(keys, league, letter)?;
            seen.insert(AgentId::Referee(referee));
            let (match_id, attempt) = (*match_id, *attempt);
            let Some(reason) = annulled.clone() else {
                return Ok(Question::Renew(Handout { referee, match_id, attempt }));
            };
            let cause = VoidCause::Annulled { referee, reason };
            Command::VoidAttempt { match_id, attempt, cause }
        }
        Body::Registered { .. }
        | Body::Recorded { .. }
        | Body::Held { .. }
        | Body::Order(_)
        | Body::Stuck { .. }
        | Body::Probe
        | Body::News(_)
        | Body::Invite { .. }
        | Body::Join { .. }
        | Body::Ask { .. }
        | Body::Choice { .. }
        | Body::Trouble { .. }
        | Body::Over { .. }
        | Body::Aside(_)
        | Body::Noted
        | Body::Noise
        | Body::Denied(_) => return Err(Denial::Final),
    };
    Ok(Question::Command(Box::new(command)))
}

/// The message that an answer is.
pub(super) fn answer(keys: &Keys, league: &League, answered: Answered) -> Body {
    match answered {
        Answered::Held(handout, held) => {
            let Handout { match_id, attempt, .. } = handout;
            Body::Held { match_id, attempt, held }
        }
        Answered::League(about, Ok(reply)) => match (reply, about) {
            (Reply::Registered { agent, nonce }, _) => {
                let token = keys.token(league.policy().token_form(), league.id(), agent, &nonce);
                Body::Registered { agent, token: token.expose().into() }
            }
            (Reply::Recorded { .. }, Some(match_id)) => Body::Recorded { match_id },
            (Reply::ReportRefused(_), _) => Body::Denied(Denial::Final),
            (Reply::TokenReplaced { agent, nonce }, _) => {
                let token = keys.token(league.policy().token_form(), league.id(), agent, &nonce);
                let node = super::mail::node_of(league, agent).expect("everybody is somewhere");
                let token = token.expose().into();
                Body::Aside(Aside::NewToken { agent, node, token })
            }
            (Reply::Done | Reply::Recorded { .. }, _) => Body::Noted,
        },
        Answered::League(Some(_), Err(_)) => Body::Denied(Denial::Final),
        Answered::League(None, Err(refusal)) => {
            use league_core::manager::Refusal;
            let later = matches!(
                refusal,
                Refusal::TooFewPlayers { .. } | Refusal::NoReferee | Refusal::NotApproved(_)
            );
            Body::Denied(if later { Denial::Busy } else { Denial::Final })
        }
    }
}

/// The token of an agent, made again from what the books have of it.
pub(super) fn token_of(keys: &Keys, league: &League, agent: AgentId) -> Option<Token> {
    let nonce = match agent {
        AgentId::Player(id) => league.player(id)?.nonce,
        AgentId::Referee(id) => league.referee(id)?.nonce,
    };
    Some(keys.token(league.policy().token_form(), league.id(), agent, &nonce))
}

/// `seen` are those who have used their tokens since the books were opened.
fn register(
    (keys, league): (&Keys, &League),
    seen: &mut BTreeSet<AgentId>,
    (stage, packet): (&Stage<'_>, &Packet),
    asked: &crate::message::Application,
) -> Result<Command, Denial> {
    let letter = &packet.letter;
    let conversation = letter.conversation.clone().ok_or(Denial::Final)?;
    let host = packet.from.to_string().into();
    let mut application = Application::new(asked.profile.clone(), host, conversation);
    if letter.token.is_some() {
        let named = letter.sender.filter(|_| stage.is_sabotaged(Sabotage::BelieveReturning));
        let agent = named.map_or_else(|| proved(keys, league, letter), Ok)?;
        seen.insert(agent);
        application.known = Some(Returning { agent, old_is_silent: false });
    } else {
        let before = league.registered_as(&application);
        application.token_used = before.is_some_and(|agent| seen.contains(&agent));
    }
    let application = Box::new(application);
    let Some(capacity) = asked.capacity else { return Ok(Command::RegisterPlayer(application)) };
    let operated = match &asked.join_key {
        None => false,
        Some(shown) if keys.join_key(league.id()).matches(shown) => true,
        Some(_) => return Err(Denial::Unproved),
    };
    Ok(Command::RegisterReferee { application, capacity, operated })
}

fn referee(keys: &Keys, league: &League, letter: &Letter) -> Result<RefereeId, Denial> {
    match proved(keys, league, letter)? {
        AgentId::Referee(id) => Ok(id),
        AgentId::Player(_) => Err(Denial::Unproved),
    }
}

/// Who sent a letter, shown by its token.
fn proved(keys: &Keys, league: &League, letter: &Letter) -> Result<AgentId, Denial> {
    let agent = letter.sender.ok_or(Denial::Unproved)?;
    let token = token_of(keys, league, agent).ok_or(Denial::Unproved)?;
    let shown = letter.token.as_ref().ok_or(Denial::Unproved)?;
    if token.matches(shown) { Ok(agent) } else { Err(Denial::Unproved) }
}

fn report(
    keys: &Keys,
    league: &League,
    (referee, skips): (RefereeId, bool),
    claim: &Claim,
) -> Result<Report, Denial> {
    let pairing = league.pairing(claim.match_id).ok_or(Denial::Final)?;
    Ok(Report {
        referee,
        match_id: claim.match_id,
        attempt: claim.attempt,
        conversation: claim.conversation.clone(),
        verdict: claim.verdict,
        points: claim.points,
        roles: Seats::default(),
        play: claim.play.clone(),
        reason: claim.reason.clone(),
        transcript: None,
        conduct: claim.conduct,
        evidence: weigh((keys, league), (referee, skips), claim, pairing),
    })
}

fn weigh(
    (keys, league): (&Keys, &League),
    (referee, skips): (RefereeId, bool),
    claim: &Claim,
    pairing: Pairing,
) -> Evidence {
    let open = league.open_match(claim.match_id);
    let token = |player: PlayerId| {
        token_of(keys, league, AgentId::Player(player)).expect("whoever is paired is registered")
    };
    let tokens = Seats::from_fn(|seat| token(pairing.player(seat)));
    let operated = league.referee(referee).is_some_and(|referee| referee.operated);
    let scales = Scales {
        keys,
        game: &**league.game(),
        league: league.id(),
        match_id: claim.match_id,
        attempt: claim.attempt.or_else(|| open.map(|open| open.attempt)).unwrap_or(1),
        rematch: open.map_or(0, |open| open.rematch),
        tokens: Seats::new(&tokens.a, &tokens.b),
        revealed: None,
        seed_was_given: !skips && operated,
    };
    if skips {
        let play = Play { choice_proofs: Seats::default(), ..claim.play.clone() };
        return Evidence::weigh(&scales, &play);
    }
    Evidence::weigh(&scales, &claim.play)
}
