//! Who takes part in a league, as plain JSON: how each stands, how fast it answers, when it was
//! last heard of; and to the administrator who is behind it.

use std::collections::BTreeMap;

use league_core::id::{AgentId, PlayerId};
use league_core::manager::{League, Profile};
use league_core::roster::Lifecycle;
use league_wire::iso;
use serde_json::{Value, json};

use super::figures::Figures;
use super::view::Reader;
use super::{Stub, relay, words};

/// Every agent of a league.
pub(super) fn document(stub: &Stub, figures: &Figures, reader: Reader) -> Value {
    let published = stub.published();
    let league = &published.league;
    let people = People::of(league, reader);
    let players = league.players().iter();
    let players = players.map(|it| (AgentId::Player(it.id), "player", &it.profile, &it.lifecycle));
    let referees = league.referees().iter();
    let referees =
        referees.map(|it| (AgentId::Referee(it.id), "referee", &it.profile, &it.lifecycle));
    let entry = |(id, kind, profile, life): (AgentId, &str, &Profile, &Lifecycle)| {
        let mut entry = member(league, (id, kind), profile, life);
        for (name, figure) in figures.of(league, id) {
            entry[name] = figure;
        }
        let contact = stub.contacts().of(id);
        let seen = contact.seen.max(figures.heard(league.id(), id));
        entry["last_seen"] = json!(seen.map(iso::format));
        entry["not_reached_since"] = json!(contact.lost_since.map(iso::format));
        if let (AgentId::Referee(referee), false) = (id, profile.batch) {
            entry["manner"] = json!(stub.manners().of(referee).told());
        }
        people.tell(&mut entry, league, id);
        if let AgentId::Player(player) = id
            && relay::is_pull(&profile.endpoint)
        {
            let mailbox = stub.mailboxes().of(player);
            let polled = mailbox.and_then(|mailbox| mailbox.last_poll());
            if entry.get("endpoint").is_some() {
                entry["endpoint"] = json!(stub.mailboxes().endpoint(player));
            }
            entry["pull"] = json!(true);
            entry["last_poll"] = json!(polled.map(iso::format));
        }
        entry
    };
    let agents: Vec<_> = players.chain(referees).map(entry).collect();
    let mut document = json!({
        "league_id": league.id().as_str(),
        "figures_since": figures.since(),
        "agents": agents,
    });
    if people.has_roster {
        document["not_joined"] = json!(people.missing);
    }
    document
}

fn member(
    league: &League,
    (id, kind): (AgentId, &str),
    profile: &Profile,
    life: &Lifecycle,
) -> Value {
    let mut entry = json!({
        "agent_id": id.to_string(),
        "kind": kind,
        "display_name": profile.display_name,
        "version": profile.version,
        "dialect": league.dialect(id),
        "registered_dialect": profile.dialect,
        "state": life.state().kind().to_string(),
        "remark": words::remark(league, id),
        "failures": life.failures(),
    });
    if let AgentId::Referee(referee) = id {
        let known = league.referee(referee);
        entry["operated"] = json!(known.is_some_and(|referee| referee.operated));
        entry["officiates"] = json!(known.is_some_and(|referee| league.may_officiate(referee)));
    }
    entry
}

/// Who is behind the players, as far as the reader may know it.
#[derive(Default)]
pub(super) struct People {
    is_told: bool,
    has_roster: bool,
    players: BTreeMap<PlayerId, Value>,
    /// Who is on the roster and has not joined.
    missing: Vec<Value>,
}

impl People {
    pub(super) fn of(league: &League, reader: Reader) -> Self {
        let mut people = Self::default();
        if reader == Reader::Anybody {
            return people;
        }
        people.is_told = true;
        for (invited, player) in league.roster() {
            people.has_roster = true;
            let person = json!({"student": invited.student, "group": invited.group});
            match player {
                Some(player) => drop(people.players.insert(player, person)),
                None => people.missing.push(person),
            }
        }
        people
    }

    /// Says in `entry` who is behind `player`.
    pub(super) fn name(&self, entry: &mut Value, player: PlayerId) {
        if let Some(person) = self.players.get(&player) {
            entry["student"] = person["student"].clone();
            entry["group"] = person["group"].clone();
        }
    }

    /// Says in `entry` what is the administrator's business.
    fn tell(&self, entry: &mut Value, league: &League, agent: AgentId) {
        if !self.is_told {
            return;
        }
        let profile = match agent {
            AgentId::Player(id) => {
                self.name(entry, id);
                league.player(id).map(|player| &player.profile)
            }
            AgentId::Referee(id) => league.referee(id).map(|referee| &referee.profile),
        };
        entry["endpoint"] = json!(profile.map(|profile| &profile.endpoint));
        entry["email"] = json!(profile.and_then(|profile| profile.email.as_ref()));
        if let Some(remark) = words::remark_on_place(league, agent) {
            entry["remark"] = json!(remark);
        }
    }
}
