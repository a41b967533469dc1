//! What a league has yet to attend to, and how its agents stand. All of it follows from the
//! events; it is kept so that looking for it costs nothing while there is nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::{Fact, League, Phase, StartRule, StuckCause};
use crate::id::{AgentId, MatchId, PlayerId, RefereeId};
use crate::roster::{AgentState, Lifecycle, StateKind, Transition, Trigger};
use crate::schedule::Pairing;
use crate::seat::Seat;
use crate::time::{Deadline, Timestamp};
use crate::verdict::Verdict;

/// What a league has yet to attend to.
#[derive(Debug, Clone, Default)]
pub(super) struct Agenda {
    /// Agents whose counters demand a change of state.
    restless: BTreeSet<AgentId>,
    /// Suspended agents, by the end of their time to recover.
    pub(super) suspended: BTreeSet<(Timestamp, AgentId)>,
    /// Open matches with a player who is gone.
    pub(super) deserted: BTreeSet<MatchId>,
    /// Open matches whose referee may no longer officiate.
    pub(super) orphaned: BTreeSet<MatchId>,
    /// Open matches that were handed out under a token which no longer works.
    pub(super) outdated: BTreeSet<MatchId>,
    /// Players that were given a new token, and when nobody waits for them any longer.
    pub(super) awaited: BTreeMap<PlayerId, Timestamp>,
    /// Matches that wait for the administrator, with the moment nobody waits any longer.
    pub(super) stuck: BTreeMap<MatchId, Timestamp>,
}

impl Agenda {
    /// An agent's counters may demand a change of state.
    pub(super) fn look_at(&mut self, agent: AgentId) {
        self.restless.insert(agent);
    }

    /// Nothing is left to do about a match.
    pub(super) fn forget(&mut self, match_id: MatchId) {
        self.deserted.remove(&match_id);
        self.orphaned.remove(&match_id);
        self.outdated.remove(&match_id);
        self.stuck.remove(&match_id);
    }
}

impl League {
    /// How an agent stands.
    pub fn lifecycle(&self, agent: AgentId) -> Option<&Lifecycle> {
        match agent {
            AgentId::Player(id) => self.player(id).map(|player| &player.lifecycle),
            AgentId::Referee(id) => self.referee(id).map(|referee| &referee.lifecycle),
        }
    }

    /// Whether an agent is registered and neither suspended nor shut down.
    pub(super) fn is_playing(&self, agent: AgentId) -> bool {
        self.stands(agent, &[StateKind::Registered, StateKind::Active])
    }

    /// Whether a player of the match is suspended or has yet to come back with its new token, so
    /// that the match waits.
    pub fn waits(&self, pairing: Pairing) -> bool {
        let players = Seat::BOTH.into_iter().map(|seat| AgentId::Player(pairing.player(seat)));
        players
            .into_iter()
            .any(|player| self.stands(player, &[StateKind::Suspended]) || self.is_away(player))
    }

    pub(super) fn stands(&self, agent: AgentId, states: &[StateKind]) -> bool {
        self.lifecycle(agent).is_some_and(|one| states.contains(&one.state().kind()))
    }

    /// Counts what happened to an agent, and remembers it if something follows.
    pub(super) fn note(&mut self, at: Timestamp, agent: AgentId, trigger: Trigger) {
        let policy = &self.articles.policy;
        let lifecycle = match agent {
            AgentId::Player(id) => &mut self.players[id.index()].lifecycle,
            AgentId::Referee(id) => &mut self.referees[id.index()].lifecycle,
        };
        lifecycle.note(at, trigger, policy);
        if lifecycle.due(at, policy).is_some() {
            self.agenda.restless.insert(agent);
        }
    }

    /// Writes a change of an agent's state.
    pub(super) fn change(&mut self, at: Timestamp, agent: AgentId, transition: Transition) {
        let policy = self.articles.policy.clone();
        self.agenda.restless.remove(&agent);
        if let Some(until) = self.lifecycle(agent).and_then(suspended_until) {
            self.agenda.suspended.remove(&(until, agent));
        }
        let lifecycle = self.lifecycle_mut(agent);
        lifecycle.change(at, transition, &policy);
        let (until, due) = (suspended_until(lifecycle), lifecycle.due(at, &policy));
        if let Some(until) = until {
            self.agenda.suspended.insert((until, agent));
        }
        if due.is_some() {
            self.agenda.restless.insert(agent);
        }
        if transition.to == StateKind::Shutdown {
            self.desert(agent);
        }
    }

    /// The matches that an agent leaves behind.
    pub(super) fn desert(&mut self, agent: AgentId) {
        match agent {
            AgentId::Player(player) => {
                let current = self.player(player).and_then(|player| player.current);
                self.agenda.deserted.extend(current.filter(|id| self.is_unfinished(*id)));
            }
            AgentId::Referee(referee) => {
                let Some(round) = self.open_round() else { return };
                let open = round.matches.iter().enumerate().filter(|(_, open)| {
                    open.referee == referee && open.filed.is_none() && open.stuck.is_none()
                });
                let left: Vec<_> =
                    open.map(|(index, _)| MatchId::from_index(round.id, index)).collect();
                self.agenda.orphaned.extend(left);
            }
        }
    }

    fn is_unfinished(&self, match_id: MatchId) -> bool {
        self.open_match(match_id).is_some_and(|open| open.filed.is_none())
    }

    /// A change of an agent's state that is due at `now`.
    pub(super) fn due_change(&self, now: Timestamp) -> Option<Fact> {
        let now = self.clock(now);
        let waiting = self.agenda.suspended.first().filter(|(until, _)| *until <= now);
        let mut agents =
            self.agenda.restless.iter().copied().chain(waiting.map(|(_, agent)| *agent));
        agents.find_map(|agent| {
            let transition = self.lifecycle(agent)?.due(now, &self.articles.policy)?;
            Some(Fact::AgentChanged { agent, transition })
        })
    }

    /// What is due about the matches of the open round.
    pub(super) fn due_match(&self, now: Timestamp) -> Option<Fact> {
        if let Some(&match_id) = self.agenda.deserted.first() {
            return self.walkover(match_id, now);
        }
        if let Some(match_id) = self.unattended(now) {
            return self.walkover(match_id, now);
        }
        if let Some(&match_id) = self.agenda.orphaned.first() {
            let open = self.open_match(match_id)?;
            let attempt = open.attempt.saturating_add(1);
            // One that still takes part was given a new token, which is no fault of its own.
            let annulled = self.is_playing(AgentId::Referee(open.referee));
            let reason = match annulled {
                true => "the token of the referee was replaced".into(),
                false => "the referee may no longer officiate".into(),
            };
            let Some(referee) = self.replacement(Some(open.referee)) else {
                let cause = StuckCause::NoReferee;
                return Some(Fact::MatchStuck { match_id, cause, reason });
            };
            return Some(Fact::MatchReassigned { match_id, attempt, referee, annulled, reason });
        }
        self.due_anew().or_else(|| self.due_stuck(now))
    }

    /// A match with a player that was given a new token and did not come back in time. Nobody is
    /// called at its old address: somebody else may have its old token.
    fn unattended(&self, now: Timestamp) -> Option<MatchId> {
        let now = self.clock(now);
        let absent = self.agenda.awaited.iter().filter(|(_, until)| **until <= now);
        let current = absent.filter_map(|(player, _)| self.player(*player)?.current);
        current.into_iter().find(|match_id| self.is_unfinished(*match_id))
    }

    /// A match without a referee goes to one as soon as there is one, and one that nobody brought
    /// to an end to whoever comes; nobody waits for ever for the administrator.
    fn due_stuck(&self, now: Timestamp) -> Option<Fact> {
        if self.is_paused() {
            return None;
        }
        self.agenda.stuck.iter().find_map(|(&match_id, until)| {
            let open = self.open_match(match_id)?;
            let stuck = open.stuck.as_ref()?;
            let (referee, reason) = match stuck.cause {
                StuckCause::NoReferee => {
                    (self.replacement(Some(open.referee)), "there is a referee again")
                }
                StuckCause::Attempts => (self.came_since(stuck.since), "another referee has come"),
                StuckCause::Annulments => (None, ""),
            };
            if let Some(referee) = referee {
                let (attempt, annulled) = (open.attempt.saturating_add(1), false);
                let reason = reason.into();
                return Some(Fact::MatchReassigned {
                    match_id,
                    attempt,
                    referee,
                    annulled,
                    reason,
                });
            }
            let reason = || "nobody decided about the match in time".into();
            let in_vain = *until <= now && stuck.cause != StuckCause::NoReferee;
            in_vain.then(|| Fact::MatchCancelled { match_id, replaced: None, reason: reason() })
        })
    }

    /// Somebody who may officiate and has come after `moment`.
    fn came_since(&self, moment: Timestamp) -> Option<RefereeId> {
        let mut officials = self.referees.iter().filter(|referee| self.may_officiate(referee));
        officials.find(|referee| referee.came_at > moment).map(|referee| referee.id)
    }

    fn walkover(&self, match_id: MatchId, now: Timestamp) -> Option<Fact> {
        let pairing = self.open_match(match_id)?.pairing;
        let gone = |seat| {
            let player = pairing.player(seat);
            self.stands(AgentId::Player(player), &[StateKind::Shutdown])
                || self.is_absent(player, now)
        };
        let (verdict, reason) = match (gone(Seat::A), gone(Seat::B)) {
            (true, true) => {
                let (one, other) = (self.left(pairing.a), self.left(pairing.b));
                (Verdict::BothLost, format!("{one}; {other}"))
            }
            (true, false) => (Verdict::TechnicalLoss(Seat::A), self.left(pairing.a)),
            (false, _) => (Verdict::TechnicalLoss(Seat::B), self.left(pairing.b)),
        };
        Some(Fact::Walkover { match_id, verdict, reason: reason.into() })
    }

    /// Why a player is gone, in words.
    fn left(&self, player: PlayerId) -> String {
        let agent = AgentId::Player(player);
        if let Some(reason) = self.bans.get(&agent) {
            return format!("{player} was banned: {reason}");
        }
        match self.lifecycle(agent).map(Lifecycle::state) {
            Some(AgentState::Shutdown { cause, .. }) => {
                format!("{player} has left the league: {cause}")
            }
            _ if self.is_away(agent) => {
                format!("{player} has not come back with its new token")
            }
            Some(
                AgentState::Init
                | AgentState::Registered
                | AgentState::Active
                | AgentState::Suspended { .. },
            )
            | None => format!("{player} has left the league"),
        }
    }

    /// When the league next wants a [`super::Command::Wake`] after it was woken at `woken`, and
    /// why.
    pub fn next_deadline(&self, woken: Timestamp) -> Option<Deadline> {
        let policy = &self.articles.policy;
        let suspended = self.agenda.suspended.iter();
        let goes_on = !self.is_paused();
        let agents = suspended
            .filter_map(|(_, agent)| self.lifecycle(*agent)?.next_deadline(woken, goes_on, policy))
            .min();
        let waits = |match_id| {
            let stuck = self.open_match(match_id).and_then(|open| open.stuck.as_ref());
            stuck.is_some_and(|stuck| stuck.cause != StuckCause::NoReferee)
        };
        let stuck = self.agenda.stuck.iter().filter(|(match_id, _)| goes_on && waits(**match_id));
        let stuck = stuck.map(|(_, at)| Deadline::new(*at, "nobody decided about a match")).min();
        let awaited = self.agenda.awaited.values().filter(|until| goes_on && **until > woken);
        let awaited = awaited.map(|at| Deadline::new(*at, "nobody came back with a new token"));
        let matches = Deadline::earlier(stuck, awaited.min());
        Deadline::earlier(Deadline::earlier(agents, matches), self.start_deadline(woken))
    }

    /// The suspended agents that are to be asked for a sign of life, if that was last looked at
    /// when the league was woken at `woken`.
    pub fn probes_due(&self, woken: Timestamp, now: Timestamp) -> Vec<AgentId> {
        let (policy, goes_on) = (&self.articles.policy, !self.is_paused());
        let due = |agent: &AgentId| {
            let lifecycle = self.lifecycle(*agent);
            let next = lifecycle.and_then(|one| one.next_deadline(woken, goes_on, policy));
            next.is_some_and(|deadline| deadline.at <= now)
        };
        let clock = self.clock(now);
        let suspended = self.agenda.suspended.iter().filter(|(until, _)| clock < *until);
        suspended.map(|(_, agent)| *agent).filter(due).collect()
    }

    /// Whether the time to start has passed and there is nobody to start with.
    pub fn is_start_overdue(&self, now: Timestamp) -> bool {
        match (&self.phase, self.charter.start) {
            (Phase::Registering, StartRule::At(at)) => at <= now && !self.could_start(),
            (Phase::Registering, StartRule::OnCommand | StartRule::Players(_))
            | (Phase::BetweenRounds { .. } | Phase::Playing(_) | Phase::Completed { .. }, _) => {
                false
            }
        }
    }

    /// The suspended players that a match of the open round waits for.
    pub(super) fn suspended_players(&self) -> impl Iterator<Item = PlayerId> {
        let players = self.agenda.suspended.iter().filter_map(|(_, agent)| match agent {
            AgentId::Player(player) => Some(*player),
            AgentId::Referee(_) => None,
        });
        players.filter(|id| {
            let current = self.player(*id).and_then(|player| player.current);
            current.is_some_and(|match_id| self.is_in_play(match_id))
        })
    }

    /// The players that a match of the open round waits for until they come back with their new
    /// tokens, and how long.
    pub fn awaited_players(&self) -> impl Iterator<Item = (PlayerId, Timestamp)> {
        let players = self.agenda.awaited.iter().map(|(player, until)| (*player, *until));
        players.filter(|(id, _)| {
            let current = self.player(*id).and_then(|player| player.current);
            current.is_some_and(|match_id| self.is_in_play(match_id))
        })
    }

    /// Whether the start or the next round waits for nothing but somebody to officiate.
    pub fn lacks_referee(&self) -> bool {
        let waits = match (&self.phase, self.charter.start) {
            (Phase::Registering, StartRule::Players(wanted)) => {
                self.field().count() >= wanted as usize
            }
            (Phase::BetweenRounds { .. }, _) => true,
            (Phase::Registering, StartRule::OnCommand | StartRule::At(_))
            | (Phase::Playing(_) | Phase::Completed { .. }, _) => false,
        };
        waits && !self.has_official()
    }

    pub(super) fn lifecycle_mut(&mut self, agent: AgentId) -> &mut Lifecycle {
        match agent {
            AgentId::Player(id) => &mut self.players[id.index()].lifecycle,
            AgentId::Referee(id) => &mut self.referees[id.index()].lifecycle,
        }
    }
}

const fn suspended_until(lifecycle: &Lifecycle) -> Option<Timestamp> {
    match lifecycle.state() {
        AgentState::Suspended { until, .. } => Some(*until),
        AgentState::Init
        | AgentState::Registered
        | AgentState::Active
        | AgentState::Shutdown { .. } => None,
    }
}
