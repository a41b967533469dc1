//! Letters on their way into the file: they go into whatever transaction is next.

use std::collections::{BTreeMap, VecDeque};
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
pub(super) struct Shelf(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    bundles: VecDeque<Bundle>,
    /// How many of them are part of a transaction that is not committed yet.
    written: usize,
    /// Letters that were lost on the way, until a bundle of their league tells it.
    lost: BTreeMap<LeagueId, u64>,
}

impl Waiting {
    /// Counts letters that will not be stored.
    fn lose(&mut self, bundle: &Bundle) {
        Meter::of(Component::Manager).letters_dropped.add(bundle.count);
        *self.lost.entry(bundle.league.clone()).or_default() += bundle.count + bundle.dropped;
    }

    fn lose_written(&mut self) {
        let written = std::mem::take(&mut self.written);
        let lost: Vec<_> = self.bundles.drain(..written).collect();
        lost.iter().for_each(|bundle| self.lose(bundle));
    }
}

impl Shelf {
    /// Adds a bundle, and names its league if the writer should be told. What finds no place
    /// because nothing is written any more is counted as dropped.
    pub(super) fn put(&self, mut bundle: Bundle) -> Option<LeagueId> {
        let mut waiting = self.lock();
        if waiting.bundles.len() >= BUNDLES_WAITING_MAX {
            waiting.lose(&bundle);
            return None;
        }
        let league = bundle.league.clone();
        bundle.dropped += waiting.lost.remove(&league).unwrap_or_default();
        waiting.bundles.push_back(bundle);
        Some(league)
    }

    /// Writes what waits and says how many bytes that are. If only this fails the letters are lost,
    /// and counted: they are no reason for a result not to be written.
    ///
    /// # Errors
    /// If nothing of the whole transaction is left.
    pub(super) fn store(&self, transaction: &Connection) -> rusqlite::Result<usize> {
        let mut waiting = self.lock();
        waiting.written = waiting.bundles.len();
        if waiting.written == 0 {
            return Ok(0);
        }
        transaction.execute_batch("SAVEPOINT letters")?;
        let bytes = match insert(transaction, &waiting.bundles) {
            Ok(bytes) => bytes,
            Err(error) if transaction.is_autocommit() => return Err(error),
            Err(_) => {
                transaction.execute_batch("ROLLBACK TO letters")?;
                waiting.lose_written();
                0
            }
        };
        transaction.execute_batch("RELEASE letters")?;
        Ok(bytes)
    }

    /// What was written is in the file.
    pub(super) fn committed(&self) {
        let mut waiting = self.lock();
        let written = std::mem::take(&mut waiting.written);
        let count = waiting.bundles.drain(..written).map(|bundle| bundle.count).sum();
        Meter::of(Component::Manager).letters.add(count);
    }

    /// What was written is not in the file. It may have been too much for it, so it is not tried
    /// again.
    pub(super) fn failed(&self) {
        self.lock().lose_written();
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn insert(transaction: &Connection, bundles: &VecDeque<Bundle>) -> rusqlite::Result<usize> {
    let mut statement = transaction.prepare_cached(INSERT)?;
    let mut written = 0;
    for Bundle { league, first, last, count, dropped, bytes } in bundles {
        // Letters are noted for leagues that are in the journal.
        let number = places::number(transaction, league.as_str())?;
        let number = number.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
        let (first, last) = (first.as_millis(), last.as_millis());
        let count = i64::try_from(*count).unwrap_or(i64::MAX);
        let dropped = i64::try_from(*dropped).unwrap_or(i64::MAX);
        statement.execute((number, first, last, count, dropped, bytes))?;
        written += bytes.len();
    }
    Ok(written)
}
