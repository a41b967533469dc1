//! What an agent that joins or comes back changes.

use std::collections::VecDeque;
use std::sync::Arc;

use super::admission::address_key;
use super::{Event, Fact, Hold, League, Phase, Player, Profile, Referee};
use crate::id::AgentId;
use crate::roster::{Lifecycle, Trigger};
use crate::time::Timestamp;

impl League {
    /// Writes who joined or came back.
    pub(super) fn admit(&mut self, event: &Event) {
        let lifecycle = self.newcomer(event.at);
        if let Fact::PlayerRegistered { player, profile, nonce, conversation } = &event.fact {
            assert_eq!(player.index(), self.players.len(), "players are numbered in order");
            self.players.push(Player {
                id: *player,
                profile: profile.clone(),
                nonce: *nonce,
                conversation: conversation.clone(),
                registered_at: event.at,
                spoken: None,
                history: VecDeque::new(),
                lifecycle,
                current: None,
                hold: Hold::default(),
            });
            self.move_in(AgentId::Player(*player), profile);
        } else if let Fact::RefereeRegistered {
            referee,
            profile,
            nonce,
            conversation,
            capacity,
            operated,
        } = &event.fact
        {
            assert_eq!(referee.index(), self.referees.len(), "referees are numbered in order");
            self.referees.push(Referee {
                id: *referee,
                profile: profile.clone(),
                nonce: *nonce,
                conversation: conversation.clone(),
                registered_at: event.at,
                spoken: None,
                came_at: event.at,
                capacity: *capacity,
                operated: *operated,
                vanished: false,
                given: 0,
                running: 0,
                approved: false,
                lifecycle,
                hold: Hold::default(),
            });
            self.move_in(AgentId::Referee(*referee), profile);
        } else {
            self.readmit(event, lifecycle);
        }
    }

    fn readmit(&mut self, Event { at, fact }: &Event, new_life: Lifecycle) {
        if let Fact::PlayerReturned { player, profile, conversation } = fact {
            let known = &mut self.players[player.index()];
            known.conversation = conversation.clone();
            if known.lifecycle.begin_again().is_some() {
                known.lifecycle = new_life;
            }
            self.settle_in(AgentId::Player(*player));
            self.move_in(AgentId::Player(*player), profile);
        } else if let Fact::RefereeReturned { referee, profile, conversation, capacity, operated } =
            fact
        {
            let known = &mut self.referees[referee.index()];
            known.conversation = conversation.clone();
            (known.capacity, known.operated) = (*capacity, *operated);
            (known.vanished, known.came_at) = (false, *at);
            if known.lifecycle.begin_again().is_some() {
                known.lifecycle = new_life;
            }
            self.settle_in(AgentId::Referee(*referee));
            self.move_in(AgentId::Referee(*referee), profile);
        }
    }

    /// Gives an agent its profile, and its address to nobody else.
    fn move_in(&mut self, agent: AgentId, profile: &Profile) {
        let (known, spoken) = self.voice(agent);
        if known.dialect != profile.dialect {
            *spoken = None;
        }
        let former = std::mem::replace(known, profile.clone());
        self.endpoints.remove(&address_key(&former.endpoint));
        self.endpoints.insert(address_key(&profile.endpoint), agent);
    }

    /// An agent answers to `dialect`.
    pub(super) fn hear(&mut self, agent: AgentId, dialect: Arc<str>) {
        let (profile, spoken) = self.voice(agent);
        *spoken = (profile.dialect != dialect).then_some(dialect);
    }

    fn voice(&mut self, agent: AgentId) -> (&mut Profile, &mut Option<Arc<str>>) {
        match agent {
            AgentId::Player(id) => {
                let Player { profile, spoken, .. } = &mut self.players[id.index()];
                (profile, spoken)
            }
            AgentId::Referee(id) => {
                let Referee { profile, spoken, .. } = &mut self.referees[id.index()];
                (profile, spoken)
            }
        }
    }

    /// The life of an agent that has just registered.
    fn newcomer(&self, at: Timestamp) -> Lifecycle {
        let policy = &self.articles.policy;
        let mut lifecycle = Lifecycle::new();
        let start = (self.phase != Phase::Registering).then_some(Trigger::StartLeague);
        for trigger in std::iter::once(Trigger::Register).chain(start) {
            let event = lifecycle.decide(at, trigger, policy);
            lifecycle.apply(&event.expect("every life begins like this"), policy);
        }
        lifecycle
    }
}
