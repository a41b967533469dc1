//! A league that is paused: nobody's time to come back runs out meanwhile.

use super::League;
use crate::id::AgentId;
use crate::time::Timestamp;

impl League {
    /// Writes that the league is paused.
    pub(super) fn pause(&mut self, at: Timestamp) {
        self.paused.get_or_insert(at);
    }

    /// Writes that the league goes on. Whoever was waited for has as much time left as it had when
    /// the league was paused.
    pub(super) fn go_on(&mut self, at: Timestamp) {
        let window = self.articles.policy.recovery_window();
        for waits_until in self.agenda.stuck.values_mut() {
            *waits_until = (at + window).max(*waits_until);
        }
        let Some(paused) = self.paused.take() else { return };
        let later = |until: Timestamp| match until - window < paused {
            true => until + at.since(paused),
            // It began while nothing went on.
            false => at + window,
        };
        for until in self.agenda.awaited.values_mut() {
            *until = later(*until);
        }
        let suspended: Vec<(Timestamp, AgentId)> =
            std::mem::take(&mut self.agenda.suspended).into_iter().collect();
        for (until, agent) in suspended {
            self.lifecycle_mut(agent).wait_until(later(until));
            self.agenda.suspended.insert((later(until), agent));
        }
    }

    /// What time it is for whoever has a time to come back: none passes while the league is paused.
    pub(super) fn clock(&self, now: Timestamp) -> Timestamp {
        self.paused.map_or(now, |paused| paused.min(now))
    }
}
