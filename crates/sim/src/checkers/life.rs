//! Agents' lives beside the league: the lifecycle machine is driven by what is published, and may
//! only do what the documents list.

use std::collections::BTreeMap;

use league_core::id::AgentId;
use league_core::manager::{Event, Fact};
use league_core::policy::Policy;
use league_core::roster::{Lifecycle, StateKind, Trigger};
use league_core::seat::Seat;
use league_core::time::Timestamp;

use super::Checked;
use super::books::Ledger;
use crate::outcome::Rule;

/// The life of every agent.
#[derive(Debug)]
pub(super) struct Lives {
    policy: Policy,
    lives: BTreeMap<AgentId, Lifecycle>,
}

impl Lives {
    pub(super) const fn new(policy: Policy) -> Self {
        Self { policy, lives: BTreeMap::new() }
    }

    /// What an event means for the agents it is about.
    pub(super) fn publish(&mut self, event: &Event, ledger: &Ledger) -> Checked {
        match &event.fact {
            Fact::PlayerRegistered { player, .. } => {
                self.trigger(event.at, AgentId::Player(*player), Trigger::Register)
            }
            Fact::RefereeRegistered { referee, .. } => {
                self.trigger(event.at, AgentId::Referee(*referee), Trigger::Register)
            }
            Fact::LeagueStarted => self.trigger_all(event.at, Trigger::StartLeague),
            Fact::LeagueCompleted => self.trigger_all(event.at, Trigger::EndLeague),
            Fact::ResultRecorded(recorded) => {
                let Some(standing) = ledger.standing(recorded.match_id) else { return Ok(()) };
                for seat in Seat::BOTH {
                    let agent = AgentId::Player(standing.pairing.player(seat));
                    let triggers: &[Trigger] = if recorded.verdict.lost_technically(seat) {
                        &[Trigger::PassDeadline, Trigger::TimeOut, Trigger::LoseTechnically]
                    } else {
                        &[Trigger::PassDeadline, Trigger::Answer]
                    };
                    for trigger in triggers {
                        self.trigger(event.at, agent, *trigger)?;
                    }
                }
                Ok(())
            }
            Fact::LeagueCreated(_)
            | Fact::RoundOpened { .. }
            | Fact::MatchReassigned { .. }
            | Fact::ReportRefused { .. }
            | Fact::RoundClosed { .. } => Ok(()),
        }
    }

    fn trigger_all(&mut self, at: Timestamp, trigger: Trigger) -> Checked {
        let agents: Vec<AgentId> = self.lives.keys().copied().collect();
        agents.into_iter().try_for_each(|agent| self.trigger(at, agent, trigger))
    }

    fn trigger(&mut self, at: Timestamp, agent: AgentId, trigger: Trigger) -> Checked {
        let life = self.lives.entry(agent).or_default();
        // Whoever is gone has nothing left to go through.
        if life.state().kind() == StateKind::Shutdown {
            return Ok(());
        }
        let event = life
            .decide(at, trigger, &self.policy)
            .map_err(|forbidden| (Rule::Transitions, format!("{agent}: {forbidden}")))?;
        let from = life.state().kind();
        life.apply(&event, &self.policy);
        let to = life.state().kind();
        if from == to || is_documented(from, to) {
            return Ok(());
        }
        Err((Rule::Transitions, format!("{agent} went from {from} to {to} by {trigger:?}")))
    }
}

/// The documents' table of agents' lives.
const fn is_documented(from: StateKind, to: StateKind) -> bool {
    match from {
        StateKind::Init => matches!(to, StateKind::Registered | StateKind::Shutdown),
        StateKind::Registered => {
            matches!(to, StateKind::Active | StateKind::Suspended | StateKind::Shutdown)
        }
        StateKind::Active => matches!(to, StateKind::Suspended | StateKind::Shutdown),
        StateKind::Suspended => {
            matches!(to, StateKind::Active | StateKind::Registered | StateKind::Shutdown)
        }
        StateKind::Shutdown => false,
    }
}
