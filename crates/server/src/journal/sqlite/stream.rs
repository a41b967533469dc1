//! What is known of a league in memory, shared by its appenders and the writing thread.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use league_core::id::LeagueId;

use crate::journal::Head;

const MAPS: usize = 32;

/// One league.
pub(super) struct Stream {
    pub(super) league: LeagueId,
    known: Mutex<Option<Known>>,
}

/// What the writer remembers of a league, to spare a query before each append.
#[derive(Clone, Copy)]
pub(super) struct Known {
    /// When it was learned: the writer starts a new era when it must look at the file again.
    pub(super) era: u64,
    /// `None` for a league without rows.
    pub(super) number: Option<u32>,
    pub(super) head: Head,
}

impl Stream {
    fn new(league: LeagueId) -> Self {
        Self { league, known: Mutex::new(None) }
    }

    /// What is known since the beginning of `era`.
    pub(super) fn known(&self, era: u64) -> Option<Known> {
        self.lock().filter(|known| known.era == era)
    }

    /// For the writing thread alone.
    pub(super) fn learn(&self, known: Known) {
        *self.lock() = Some(known);
    }

    /// What is probably the last row: it may not be durable yet, or never become so.
    pub(super) fn guess(&self) -> Head {
        let known = *self.lock();
        known.map_or_else(|| Head::genesis(&self.league), |known| known.head)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The leagues that were written to of late, in several maps, so that appenders seldom meet.
pub(super) struct Streams {
    maps: [Mutex<BTreeMap<LeagueId, Arc<Stream>>>; MAPS],
    /// The most in one map.
    max: usize,
}

impl Streams {
    /// Room for `max` leagues, and for as many as are being written to at the same time.
    pub(super) const fn new(max: usize) -> Self {
        Self { maps: [const { Mutex::new(BTreeMap::new()) }; MAPS], max: max.div_ceil(MAPS) }
    }

    /// The only stream of `league` for as long as anybody holds it: the writer would not notice
    /// what it has just written under another one.
    pub(super) fn get(&self, league: &LeagueId) -> Arc<Stream> {
        let sum: usize = league.as_str().bytes().map(usize::from).sum();
        let mut leagues = self.maps[sum % MAPS].lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(stream) = leagues.get(league) {
            return Arc::clone(stream);
        }
        if leagues.len() >= self.max {
            leagues.retain(|_, stream| Arc::strong_count(stream) > 1);
        }
        let stream = Arc::new(Stream::new(league.clone()));
        leagues.insert(league.clone(), Arc::clone(&stream));
        stream
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_forgotten_only_when_nobody_holds_them() {
        let streams = Streams::new(2 * MAPS);
        // The same letters, so that they are in the same map.
        let [a, b, c] = ["abc", "bca", "cab"].map(|name| name.parse().unwrap());
        let held = streams.get(&a);
        let head = Head::genesis(&b).extend(b"row");
        streams.get(&b).learn(Known { era: 1, number: Some(1), head });
        assert!(streams.get(&b).known(1).is_some());
        assert!(streams.get(&b).known(2).is_none());
        assert_eq!(streams.get(&b).guess(), head);
        streams.get(&c);
        assert!(Arc::ptr_eq(&held, &streams.get(&a)));
        assert_eq!(streams.get(&b).guess(), Head::genesis(&b));
    }
}
