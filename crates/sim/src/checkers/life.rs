//! Agents' lives, counted anew from what is published: every change of a state is one that the
//! documents list, has its cause, and comes when it is due.

use std::collections::BTreeMap;

use league_core::conduct::Conduct;
use league_core::id::{AgentId, MatchId};
use league_core::manager::{Event, Fact, Order};
use league_core::policy::Policy;
use league_core::roster::{Reason, StateKind, Transition};
use league_core::seat::{Seat, Seats};
use league_core::time::Timestamp;
use league_core::verdict::Verdict;

use super::books::Ledger;
use super::{Checked, Objection};
use crate::outcome::Rule;

/// The life of every agent.
#[derive(Debug)]
pub(super) struct Lives {
    policy: Policy,
    has_started: bool,
    lives: BTreeMap<AgentId, Life>,
}

#[derive(Debug)]
struct Life {
    state: StateKind,
    /// When its time to recover ends, while it is suspended.
    until: Timestamp,
    timeouts: u32,
    connection_errors: Vec<Timestamp>,
    invalid_moves: u32,
    failures: u32,
    may_return: bool,
}

impl Lives {
    pub(super) const fn new(policy: Policy) -> Self {
        Self { policy, has_started: false, lives: BTreeMap::new() }
    }

    /// What an event means for the agents it is about. The ledger does not have it yet.
    pub(super) fn publish(&mut self, event: &Event, ledger: &Ledger) -> Checked {
        match &event.fact {
            Fact::PlayerRegistered { player, .. } => self.begin(AgentId::Player(*player)),
            Fact::RefereeRegistered { referee, .. } => self.begin(AgentId::Referee(*referee)),
            Fact::PlayerReturned { player, .. } => self.come_back(AgentId::Player(*player)),
            Fact::RefereeReturned { referee, .. } => self.come_back(AgentId::Referee(*referee)),
            Fact::LeagueStarted => {
                self.has_started = true;
                self.change_all(StateKind::Registered, StateKind::Active);
                Ok(())
            }
            Fact::LeagueCompleted => {
                for state in [StateKind::Registered, StateKind::Active, StateKind::Suspended] {
                    self.change_all(state, StateKind::Shutdown);
                }
                Ok(())
            }
            Fact::ResultRecorded(recorded) => {
                self.recorded(recorded.match_id, recorded.verdict, ledger);
                Ok(())
            }
            Fact::ConductNoted { match_id, conduct } => {
                self.noted(event.at, *match_id, conduct, ledger);
                Ok(())
            }
            Fact::AgentChanged { agent, transition } => {
                self.changed(event.at, *agent, *transition, ledger)
            }
            Fact::MatchCancelled { match_id, replaced, .. }
            | Fact::RematchOrdered { match_id, replaced, .. } => {
                self.acquit(*match_id, *replaced, ledger);
                Ok(())
            }
            Fact::Administered { order: Order::Reinstate(agent), .. } => {
                self.permit(*agent, true);
                Ok(())
            }
            Fact::Administered { order: Order::Ban(agent), .. } => {
                self.permit(*agent, false);
                Ok(())
            }
            Fact::LeagueCreated(_)
            | Fact::RoundOpened { .. }
            | Fact::MatchReassigned { .. }
            | Fact::MatchPassedOn { .. }
            | Fact::ReportRefused { .. }
            | Fact::RoundClosed { .. }
            | Fact::Walkover { .. }
            | Fact::MatchStuck { .. }
            | Fact::AdmissionSet(_)
            | Fact::CodeRedeemed { .. }
            | Fact::TokenReplaced { .. }
            | Fact::ShapeSettled { .. }
            | Fact::Administered { .. } => Ok(()),
        }
    }

    /// After events that belong together nobody's counters demand a change that has not come.
    pub(super) fn nothing_missed(&self, events: &[Event]) -> Checked {
        let Some(Event { at, .. }) = events.last() else { return Ok(()) };
        let policy = &self.policy;
        let missed = self.lives.iter().find(|(_, life)| {
            let suspends = life.timeouts >= policy.suspend_timeouts()
                || life.invalid_moves >= policy.suspend_invalid_moves()
                || life.recent_errors(*at, policy) >= policy.suspend_connection_errors();
            life.is_playing() && suspends
                || life.counts_failures() && life.failures >= policy.shutdown_failures()
        });
        let text = |(agent, life): (&AgentId, &Life)| format!("{agent} should change: {life:?}");
        missed.map_or(Ok(()), |missed| wrong(text(missed)))
    }

    fn begin(&mut self, agent: AgentId) -> Checked {
        let state = if self.has_started { StateKind::Active } else { StateKind::Registered };
        let life = Life {
            state,
            until: Timestamp::default(),
            timeouts: 0,
            connection_errors: vec![],
            invalid_moves: 0,
            failures: 0,
            may_return: false,
        };
        match self.lives.insert(agent, life) {
            None => Ok(()),
            Some(_) => wrong(format!("{agent} registered twice")),
        }
    }

    /// Whoever is shut down comes back only with permission, and begins again.
    fn come_back(&mut self, agent: AgentId) -> Checked {
        match self.lives.get(&agent) {
            None => wrong(format!("{agent} came back without having been here")),
            Some(Life { state: StateKind::Shutdown, may_return: true, .. }) => {
                self.lives.remove(&agent);
                self.begin(agent)
            }
            Some(Life { state: StateKind::Shutdown, .. }) => {
                wrong(format!("{agent} came back though it is shut down"))
            }
            Some(_) => Ok(()),
        }
    }

    fn change_all(&mut self, from: StateKind, to: StateKind) {
        let all = self.lives.values_mut().filter(|life| life.state == from);
        all.for_each(|life| life.state = to);
    }

    fn permit(&mut self, agent: AgentId, may_return: bool) {
        let life = self.lives.get_mut(&agent);
        if let Some(life) = life.filter(|life| life.state == StateKind::Shutdown) {
            life.may_return = may_return;
        }
    }

    fn players(
        &mut self,
        match_id: MatchId,
        ledger: &Ledger,
        mut act: impl FnMut(Seat, &mut Life),
    ) {
        let Some(standing) = ledger.standing(match_id) else { return };
        for seat in Seat::BOTH {
            let player = AgentId::Player(standing.pairing.player(seat));
            if let Some(life) = self.lives.get_mut(&player) {
                act(seat, life);
            }
        }
    }

    fn recorded(&mut self, match_id: MatchId, verdict: Verdict, ledger: &Ledger) {
        self.players(match_id, ledger, |seat, life| {
            let counts = life.is_playing() || life.state == StateKind::Suspended;
            if verdict.lost_technically(seat) {
                life.failures += u32::from(counts);
            } else if life.is_playing() && verdict != Verdict::Cancelled {
                life.timeouts = 0;
            }
        });
    }

    fn noted(
        &mut self,
        at: Timestamp,
        match_id: MatchId,
        conduct: &Seats<Conduct>,
        ledger: &Ledger,
    ) {
        self.players(match_id, ledger, |seat, life| {
            let conduct = conduct[seat];
            if !life.is_playing() {
                return;
            }
            if conduct.answered {
                life.timeouts = 0;
            }
            life.timeouts += conduct.timeouts;
            life.invalid_moves += conduct.invalid_moves;
            let errors = std::iter::repeat_n(at, conduct.connection_errors as usize);
            life.connection_errors.extend(errors);
        });
    }

    fn acquit(&mut self, match_id: MatchId, replaced: Option<Verdict>, ledger: &Ledger) {
        let Some(verdict) = replaced else { return };
        if ledger.standing(match_id).is_some_and(|standing| standing.was_reported) {
            self.players(match_id, ledger, |seat, life| {
                let lost = verdict.lost_technically(seat);
                life.failures = life.failures.saturating_sub(u32::from(lost));
            });
        }
    }

    fn changed(
        &mut self,
        at: Timestamp,
        agent: AgentId,
        transition: Transition,
        ledger: &Ledger,
    ) -> Checked {
        let (policy, started) = (&self.policy, self.has_started);
        let Some(life) = self.lives.get_mut(&agent) else {
            return wrong(format!("{agent} changed without having been here"));
        };
        let Transition { from, to, reason } = transition;
        let back = if started { StateKind::Active } else { StateKind::Registered };
        let is_last = |count: u32, counted: u32, max: u32| count == counted && count >= max;
        let is_due = match reason {
            Reason::Timeouts(n) => is_last(n, life.timeouts, policy.suspend_timeouts()),
            Reason::InvalidMoves(n) => {
                is_last(n, life.invalid_moves, policy.suspend_invalid_moves())
            }
            Reason::ConnectionErrors(n) => {
                is_last(n, life.recent_errors(at, policy), policy.suspend_connection_errors())
            }
            Reason::Failures(n) => is_last(n, life.failures, policy.shutdown_failures()),
            Reason::Recovered => to == back && at < life.until,
            Reason::RecoveryFailed => at >= life.until,
            Reason::Reinstated => to == back && ledger.is_ordered(Order::Reinstate(agent)),
            Reason::Banned => ledger.is_ordered(Order::Ban(agent)),
            // These come with the whole league, or not at all.
            Reason::Registered
            | Reason::RegistrationFailed
            | Reason::LeagueStarted
            | Reason::LeagueEnded
            | Reason::CriticalError => false,
        };
        if from != life.state || !is_documented(from, to, reason) || !is_due {
            return wrong(format!("{agent}: {transition:?}, but {life:?}"));
        }
        life.state = to;
        life.until = at + policy.recovery_window();
        if matches!(reason, Reason::Recovered | Reason::Reinstated) {
            (life.timeouts, life.invalid_moves) = (0, 0);
            life.connection_errors.clear();
        }
        Ok(())
    }
}

impl Life {
    const fn is_playing(&self) -> bool {
        matches!(self.state, StateKind::Registered | StateKind::Active)
    }

    const fn counts_failures(&self) -> bool {
        matches!(self.state, StateKind::Active | StateKind::Suspended)
    }

    fn recent_errors(&self, now: Timestamp, policy: &Policy) -> u32 {
        let window = policy.suspend_connection_window();
        let recent = self.connection_errors.iter().filter(|at| now.since(**at) < window);
        u32::try_from(recent.count()).expect("few")
    }
}

/// The documents' table of the changes that an agent goes through by itself.
const fn is_documented(from: StateKind, to: StateKind, reason: Reason) -> bool {
    match reason {
        Reason::Timeouts(_) | Reason::ConnectionErrors(_) | Reason::InvalidMoves(_) => {
            matches!(from, StateKind::Registered | StateKind::Active)
                && matches!(to, StateKind::Suspended)
        }
        Reason::Recovered | Reason::Reinstated => {
            matches!(from, StateKind::Suspended)
                && matches!(to, StateKind::Registered | StateKind::Active)
        }
        Reason::RecoveryFailed => {
            matches!((from, to), (StateKind::Suspended, StateKind::Shutdown))
        }
        Reason::Failures(_) => {
            matches!(from, StateKind::Active | StateKind::Suspended)
                && matches!(to, StateKind::Shutdown)
        }
        Reason::Banned | Reason::CriticalError => {
            !matches!(from, StateKind::Shutdown) && matches!(to, StateKind::Shutdown)
        }
        Reason::Registered
        | Reason::RegistrationFailed
        | Reason::LeagueStarted
        | Reason::LeagueEnded => false,
    }
}

fn wrong(text: String) -> Result<(), Objection> {
    Err((Rule::Transitions, text))
}
