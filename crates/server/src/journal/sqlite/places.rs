//! In which blocks the rows of a league are.
//!
//! The places of recent rows are in memory; from time to time the writer stores them as spans, so
//! that the disk sees one change for many rows. After a restart the recent blocks are looked
//! through.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, OptionalExtension, Transaction};

use super::block::entries;
use crate::limits::SPAN_PLACES_MAX;

const NUMBER: &str = "SELECT number FROM league WHERE name = ?1";
const RECENT: &str = "SELECT id, bytes FROM block
    WHERE id > (SELECT up_to FROM indexed) ORDER BY id";
const NEXT_BLOCK: &str = "SELECT coalesce(max(id), 0) + 1 FROM block";
const SPAN: &str = "SELECT first, places FROM span
    WHERE league = ?1 AND first <= ?2 ORDER BY first DESC LIMIT 1";
const LATER: &str = "SELECT EXISTS (SELECT 1 FROM span WHERE league = ?1 AND first > ?2)";
const NEW_SPAN: &str = "INSERT INTO span (league, first, places) VALUES (?1, ?2, ?3)";
const INDEXED: &str = "UPDATE indexed SET up_to = ?1";

const PLACE_BYTES: usize = 4 + 8;

/// Rows of one league that are in one block: row `first` and the next ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) first: i64,
    pub(super) rows: u32,
    pub(super) block: i64,
}

impl Place {
    /// The row behind the last.
    pub(super) const fn end(self) -> i64 {
        self.first + self.rows as i64
    }
}

/// What a reader finds behind its position.
pub(super) enum Found {
    /// Where the next rows are, at least one; there may be more behind them.
    Places(Vec<Place>),
    /// There is nothing behind the position.
    End,
    /// The next row is missing, although there are later ones.
    Gap,
}

/// The number of a league by its name.
pub(super) fn number(connection: &Connection, name: &str) -> rusqlite::Result<Option<u32>> {
    let mut statement = connection.prepare_cached(NUMBER)?;
    statement.query_row([name], |row| row.get(0)).optional()
}

/// Notes a row in the list of its league's places.
pub(super) fn note(places: &mut Vec<Place>, seq: i64, block: i64) {
    match places.last_mut() {
        Some(last) if last.block == block && last.end() == seq => last.rows += 1,
        Some(_) | None => places.push(Place { first: seq, rows: 1, block }),
    }
}

/// The places that are not in a span yet, by league.
#[derive(Default)]
pub(super) struct Recent {
    state: Mutex<Sorted>,
}

/// Rows are sorted by league only when somebody asks: the writer has no time for it.
#[derive(Default)]
struct Sorted {
    leagues: BTreeMap<u32, Vec<Place>>,
    /// League, row and block of those that are to be sorted in.
    unsorted: Vec<(u32, i64, i64)>,
}

impl Sorted {
    fn sort(&mut self) {
        // By league, and rows of a league stay in their order.
        self.unsorted.sort_by_key(|(league, _, _)| *league);
        for group in self.unsorted.chunk_by(|a, b| a.0 == b.0) {
            let places = self.leagues.entry(group[0].0).or_default();
            for (_, seq, block) in group {
                note(places, *seq, *block);
            }
        }
        self.unsorted.clear();
    }
}

impl Recent {
    /// Looks through the blocks that are in no span. Returns how many rows they have and the next
    /// free block.
    pub(super) fn load(&self, connection: &Connection) -> rusqlite::Result<(usize, i64)> {
        let mut leagues: BTreeMap<u32, Vec<Place>> = BTreeMap::new();
        let mut count = 0;
        let mut statement = connection.prepare_cached(RECENT)?;
        let mut blocks = statement.query([])?;
        while let Some(row) = blocks.next()? {
            let id = row.get(0)?;
            for entry in entries(row.get_ref(1)?.as_blob()?) {
                let places = leagues.entry(entry.league).or_default();
                note(places, super::fault::stored(entry.head.seq), id);
                count += 1;
            }
        }
        let next = connection.query_row(NEXT_BLOCK, [], |row| row.get(0))?;
        *self.lock() = Sorted { leagues, unsorted: Vec::new() };
        Ok((count, next))
    }

    /// Adds rows that are durable, as league, row and block; `is_stored` if everything before them
    /// has gone into spans.
    pub(super) fn publish(&self, rows: &[(u32, i64, i64)], is_stored: bool) {
        let mut state = self.lock();
        if is_stored {
            state.leagues.clear();
            state.unsorted.clear();
        }
        state.unsorted.extend_from_slice(rows);
    }

    /// Writes every recent place into a span; all blocks before `next` are then in one.
    pub(super) fn store(&self, transaction: &Transaction<'_>, next: i64) -> rusqlite::Result<()> {
        let mut statement = transaction.prepare_cached(NEW_SPAN)?;
        for (league, places) in &self.sorted().leagues {
            for run in places.chunk_by(|a, b| a.end() == b.first) {
                for span in run.chunks(SPAN_PLACES_MAX) {
                    let mut bytes = Vec::with_capacity(span.len() * PLACE_BYTES);
                    for place in span {
                        bytes.extend_from_slice(&place.rows.to_be_bytes());
                        bytes.extend_from_slice(&place.block.to_be_bytes());
                    }
                    statement.execute((league, span[0].first, bytes))?;
                }
            }
        }
        transaction.prepare_cached(INDEXED)?.execute([next - 1])?;
        Ok(())
    }

    /// Where the rows after `seq` are, at least `rows` of them if they are known together.
    pub(super) fn after(
        &self,
        connection: &Connection,
        league: u32,
        seq: i64,
        rows: usize,
    ) -> rusqlite::Result<Found> {
        let next = seq + 1;
        // Memory first: what leaves it in the meantime is in a span before it is gone here.
        let (recent, has_later) = match self.sorted().leagues.get(&league) {
            Some(places) => {
                (from(places, next, rows), places.last().is_some_and(|p| p.first > next))
            }
            None => (Vec::new(), false),
        };
        if !recent.is_empty() {
            return Ok(Found::Places(recent));
        }
        if let Some(span) = span_at(connection, league, next)? {
            let places = from(&span, next, rows);
            if !places.is_empty() {
                return Ok(Found::Places(places));
            }
        }
        let mut later = connection.prepare_cached(LATER)?;
        let is_gap = has_later || later.query_row((league, next), |row| row.get(0))?;
        Ok(if is_gap { Found::Gap } else { Found::End })
    }

    /// The place of the last row.
    pub(super) fn last(
        &self,
        connection: &Connection,
        league: u32,
    ) -> rusqlite::Result<Option<Place>> {
        let recent = self.sorted().leagues.get(&league).and_then(|places| places.last().copied());
        if recent.is_some() {
            return Ok(recent);
        }
        let span = span_at(connection, league, i64::MAX)?;
        Ok(span.and_then(|places| places.last().copied()))
    }

    fn sorted(&self) -> MutexGuard<'_, Sorted> {
        let mut state = self.lock();
        state.sort();
        state
    }

    fn lock(&self) -> MutexGuard<'_, Sorted> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The places from the one of row `next` on, as many as have `rows`; none if it is not there.
fn from(places: &[Place], next: i64, rows: usize) -> Vec<Place> {
    let from = places.partition_point(|place| place.end() <= next);
    let enough = next.saturating_add_unsigned(rows as u64);
    match places.get(from) {
        Some(place) if place.first <= next => {
            places[from..].iter().take_while(|place| place.first < enough).copied().collect()
        }
        Some(_) | None => Vec::new(),
    }
}

/// The last span that begins at row `seq` or before.
fn span_at(connection: &Connection, league: u32, seq: i64) -> rusqlite::Result<Option<Vec<Place>>> {
    let mut statement = connection.prepare_cached(SPAN)?;
    let found = statement.query_row((league, seq), |row| {
        let mut first: i64 = row.get(0)?;
        let mut places = Vec::new();
        for place in row.get_ref(1)?.as_blob()?.as_chunks::<PLACE_BYTES>().0 {
            let [a, b, c, d, block @ ..] = *place;
            let rows = u32::from_be_bytes([a, b, c, d]);
            places.push(Place { first, rows, block: i64::from_be_bytes(block) });
            first = first.saturating_add(rows.into());
        }
        Ok(places)
    });
    found.optional()
}
