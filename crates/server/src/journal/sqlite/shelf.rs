//! Letters on their way into the file: they go into whatever transaction is next.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use league_agent::component::Component;
use league_agent::meter::Meter;
use league_core::id::LeagueId;
use rusqlite::Connection;

use super::places;
use crate::letters::Bundle;
use crate::limits::BUNDLES_WAITING_MAX;

const INSERT: &str = "INSERT INTO letters (league, first, last, count, dropped, bytes) \
                      VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

/// What waits for the next transaction.
#[derive(Debug, Default)]
pub(super) struct Shelf(Mutex<VecDeque<Bundle>>);

impl Shelf {
    /// Adds a bundle, and names its league if the writer should be told. What finds no place
    /// because nothing is written any more is counted as dropped.
    pub(super) fn put(&self, bundle: Bundle) -> Option<LeagueId> {
        let mut waiting = self.lock();
        if waiting.len() >= BUNDLES_WAITING_MAX {
            Meter::of(Component::Manager).letters_dropped.add(bundle.count);
            return None;
        }
        let league = bundle.league.clone();
        waiting.push_back(bundle);
        Some(league)
    }

    /// Writes what waits and says how many bytes that are. If the transaction fails it is gone:
    /// letters are no reason to fail twice.
    pub(super) fn store(&self, transaction: &Connection) -> rusqlite::Result<usize> {
        let waiting = std::mem::take(&mut *self.lock());
        let mut bytes = 0;
        for Bundle { league, first, last, count, dropped, bytes: packed } in waiting {
            let Some(number) = places::number(transaction, league.as_str())? else { continue };
            let mut statement = transaction.prepare_cached(INSERT)?;
            let (first, last) = (first.as_millis(), last.as_millis());
            let count = i64::try_from(count).unwrap_or(i64::MAX);
            let dropped = i64::try_from(dropped).unwrap_or(i64::MAX);
            statement.execute((number, first, last, count, dropped, &packed))?;
            bytes += packed.len();
        }
        Ok(bytes)
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Bundle>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
