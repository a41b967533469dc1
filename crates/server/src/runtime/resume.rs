//! A league that was played on this machine and did not come to its end: found again, compared with
//! what is wanted now, and its agents brought back to the places they had.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;

use league_agent::ambient::{self, OsDice};
use league_agent::keep::Keep;
use league_agent::register::Membership;
use league_core::id::{AgentId, LeagueId};
use league_core::manager::{
    Admission, Charter, Command, Fact, Invited, League, Order, Phase, PlayerAdmission,
};
use league_core::proof::Keys;
use league_core::roster::AgentState;
use league_core::time::Timestamp;
use tokio::net::TcpListener;

use super::{PlayError, PlayPlan, hall};
use crate::journal::{Head, Journal, codec};
use crate::manager::Books;

/// A league that goes on.
pub(super) struct Unfinished {
    pub(super) books: Books,
    /// Matches with a result.
    pub(super) done: u64,
    /// The agents it has, each with the place where it listens from now on.
    pub(super) places: Vec<(AgentId, TcpListener, SocketAddr)>,
}

/// The league that was begun here last, if it is not over.
///
/// # Errors
/// If the record cannot be read, or the league is not the one that `plan` wants.
pub(super) async fn find(
    plan: &PlayPlan,
    journal: &Arc<dyn Journal>,
    keys: &Keys,
) -> Result<Option<Unfinished>, PlayError> {
    let Some(league) = latest(journal.as_ref()).await? else { return Ok(None) };
    let check = keys.check_value();
    let Some(mut books) = Books::replay(journal.clone(), &league, check).await? else {
        return Ok(None);
    };
    if matches!(books.league().phase(), Phase::Completed { .. }) {
        return Ok(None);
    }
    let differences = differences(plan, books.league());
    if !differences.is_empty() {
        return Err(PlayError::Different { league, differences });
    }
    // Nobody is at his place yet: a match that is handed out now would be lost for our fault.
    let pause = Command::Administer { order: Order::Pause, reason: PAUSED.into() };
    drop(books.enter(ambient::now(), pause, None, &mut OsDice));
    books.commit().await?;
    let places = places(books.league()).await?;
    let done = hall::done(books.league());
    Ok(Some(Unfinished { books, done, places }))
}

const PAUSED: &str = "the program was stopped; its agents take their places again";
/// Why matches are handed out again.
pub(super) const RESUMED: &str = "everybody is at his place";

/// The league of this kind that was founded last.
async fn latest(journal: &dyn Journal) -> Result<Option<LeagueId>, PlayError> {
    let mut latest: Option<(Timestamp, LeagueId)> = None;
    for league in journal.leagues().await? {
        let rows = journal.read(&league, Head::genesis(&league), 2).await?;
        let mut events = vec![];
        for row in &rows {
            let seq = row.seq.get();
            let event = codec::decode(&row.bytes);
            events.push(event.map_err(|source| PlayError::Record { seq, source })?);
        }
        let [founded, admission] = &events[..] else { continue };
        let is_ours =
            matches!(&admission.fact, Fact::AdmissionSet(admission) if is_household(admission));
        if is_ours && latest.as_ref().is_none_or(|(at, _)| *at <= founded.at) {
            latest = Some((founded.at, league));
        }
    }
    Ok(latest.map(|(_, league)| league))
}

/// Whether only players of this program were let in.
fn is_household(admission: &Admission) -> bool {
    let PlayerAdmission::Codes(codes) = &admission.players else { return false };
    let is_seat = |(invited, number): (&Invited, u32)| *invited.student == *seat_name(number);
    codes.iter().zip(1..).all(is_seat)
}

/// What the place of a player is called on the list of those who may join.
pub(super) fn seat_name(number: u32) -> String {
    format!("Player {number}")
}

/// Where `plan` wants another league than this one, and how it would be the same.
fn differences(plan: &PlayPlan, league: &League) -> Vec<String> {
    let charter = league.charter();
    let mut differences = vec![];
    let mut compare = |flag: &str, has: &str, wanted: &str| {
        if has != wanted {
            differences.push(format!("{flag} {has}, not {wanted}"));
        }
    };
    compare("--players", &charter.players_max.to_string(), &plan.players.to_string());
    compare("--game", charter.game.as_str(), &plan.game);
    compare("--format", &charter.format, &plan.format);
    compare("--rules", &charter.rule_set, plan.policy.rule_set().name());
    let wanted = plan.policy.written();
    for (key, value) in rules_of(charter) {
        if let Some((_, wanted)) = wanted.iter().find(|(name, _)| *name == key) {
            compare("--set", &format!("{key}={value}"), &format!("{key}={wanted}"));
        }
    }
    for (player, number) in league.players().iter().zip(1..) {
        compare("", &player.profile.display_name, &hall::player_name(plan, number));
    }
    differences.iter().map(|text| text.trim().to_string()).collect()
}

fn rules_of(charter: &Charter) -> impl Iterator<Item = (&str, &str)> {
    charter.rules.iter().map(|(key, value)| (key.as_str(), value.as_str()))
}

/// A place for everybody who is still in the league: the old one, if nobody else has taken it.
async fn places(league: &League) -> Result<Vec<(AgentId, TcpListener, SocketAddr)>, PlayError> {
    let players = league.players().iter();
    let players = players.map(|one| (AgentId::Player(one.id), &one.profile.endpoint));
    let referees = league.referees().iter();
    let referees = referees.map(|one| (AgentId::Referee(one.id), &one.profile.endpoint));
    let all: Vec<_> = referees.chain(players).filter(|(id, _)| !has_left(league, *id)).collect();
    let known: BTreeSet<&str> = all.iter().map(|(_, endpoint)| &***endpoint).collect();
    let mut places = vec![];
    for (agent, endpoint) in &all {
        let (listener, address) = match old_place(endpoint).await {
            Some(place) => place,
            None => new_place(&known).await?,
        };
        places.push((*agent, listener, address));
    }
    Ok(places)
}

/// Whether an agent cannot come back.
pub(super) fn has_left(league: &League, agent: AgentId) -> bool {
    let state = league.lifecycle(agent).map(|lifecycle| lifecycle.state());
    matches!(state, Some(AgentState::Shutdown { may_return: false, .. }))
}

async fn old_place(endpoint: &str) -> Option<(TcpListener, SocketAddr)> {
    let address = endpoint.strip_prefix("http://")?.strip_suffix("/mcp")?;
    let address: SocketAddr = address.parse().ok()?;
    TcpListener::bind(address).await.ok().map(|listener| (listener, address))
}

/// A free place that is not the old one of somebody else, who would still be known under it.
async fn new_place(known: &BTreeSet<&str>) -> Result<(TcpListener, SocketAddr), PlayError> {
    let mut taken = vec![];
    loop {
        let (listener, address) = hall::listen().await?;
        if !known.contains(hall::url(address).as_str()) {
            return Ok((listener, address));
        }
        // Kept open, so that the next one is another one.
        taken.push(listener);
    }
}

/// What lets an agent come back as the one it was.
pub(super) fn remembered(keys: &Keys, league: &League, agent: AgentId) -> Option<Keep> {
    let nonce = match agent {
        AgentId::Player(id) => league.player(id)?.nonce,
        AgentId::Referee(id) => league.referee(id)?.nonce,
    };
    let token = keys.token(league.policy().token_form(), league.id(), agent, &nonce);
    Some(Keep::remembered(&Membership { id: agent, token, league: league.id().clone() }))
}
