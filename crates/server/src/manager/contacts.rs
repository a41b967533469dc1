//! Which agents of a league can be reached: when each last answered the manager, and since when it
//! does not. Kept in memory; an outage is logged when it begins and when it ends.

use std::collections::BTreeMap;
use std::sync::Mutex;

use league_agent::ambient;
use league_agent::caller::CallError;
use league_agent::component::Component;
use league_agent::guard::lock;
use league_agent::log::{self, Level, talk};
use league_core::id::{AgentId, LeagueId};
use league_core::time::Timestamp;
use league_wire::MessageType;

/// Which agents of a league can be reached.
#[derive(Debug, Default)]
pub(super) struct Contacts {
    agents: Mutex<BTreeMap<AgentId, Contact>>,
}

/// When an agent answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Contact {
    /// When it last did.
    pub(super) seen: Option<Timestamp>,
    /// Since when it does not.
    pub(super) lost_since: Option<Timestamp>,
}

impl Contacts {
    /// When `agent` answered.
    pub(super) fn of(&self, agent: AgentId) -> Contact {
        lock(&self.agents).get(&agent).copied().unwrap_or_default()
    }

    /// `agent` has answered.
    pub(super) fn reached(&self, league: &LeagueId, agent: AgentId) {
        let now = ambient::wall();
        let mut agents = lock(&self.agents);
        let contact = agents.entry(agent).or_default();
        contact.seen = Some(now);
        let Some(since) = contact.lost_since.take() else { return };
        drop(agents);
        log::at(Level::Info, Component::Manager, |line| {
            line.league(league).agent(agent).detail("seconds", now.since(since).as_secs());
            line.say("the agent answers again");
        });
    }

    /// `agent` has registered again: nothing has been sent to where it is now.
    pub(super) fn returned(&self, agent: AgentId) {
        if let Some(contact) = lock(&self.agents).get_mut(&agent) {
            contact.lost_since = None;
        }
    }

    /// A message to `agent` did not arrive, or brought no answer.
    pub(super) fn lost(
        &self,
        (league, agent): (&LeagueId, AgentId),
        kind: MessageType,
        error: &CallError,
    ) {
        let mut agents = lock(&self.agents);
        let contact = agents.entry(agent).or_default();
        if contact.lost_since.is_some() {
            return;
        }
        contact.lost_since = Some(ambient::wall());
        drop(agents);
        log::at(Level::Warning, Component::Manager, |line| {
            line.league(league).agent(agent).message_type(kind).code(talk::code_of(error));
            line.say(format!("the agent cannot be reached: {error}"));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_begins_once_and_ends_with_an_answer() {
        let (contacts, league) = (Contacts::default(), "spring".parse().unwrap());
        let agent = AgentId::Player("P01".parse().unwrap());
        assert_eq!(contacts.of(agent), Contact::default());
        let lose = || {
            let error = CallError::TimedOut(std::time::Duration::from_secs(1));
            contacts.lost((&league, agent), MessageType::RoundAnnouncement, &error);
            contacts.of(agent)
        };
        let lost = lose();
        assert!(lost.lost_since.is_some() && lost.seen.is_none());
        assert_eq!(lose(), lost, "it is the same outage");
        contacts.reached(&league, agent);
        let found = contacts.of(agent);
        assert!(found.lost_since.is_none() && found.seen.is_some());
    }
}
