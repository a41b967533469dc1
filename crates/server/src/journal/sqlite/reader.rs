//! Reading, by a few connections that cannot write, off the async threads.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use league_core::id::LeagueId;
use rusqlite::{Connection, OptionalExtension};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use super::block::{Entry, entries};
use super::fault::{stored, told, told_of_all};
use super::open::connect_reader;
use super::places::{self, Found, Place, Recent};
use crate::journal::chain::{check_position, check_row};
use crate::journal::{Answer, Damage, Head, JournalError, Outage, Row, Seq, StoredAttachment};
use crate::limits::{PAGE_BYTES_MAX, PAGE_ROWS_MAX, READERS_MAX};

const BLOCKS: &str = "SELECT bytes FROM block WHERE id BETWEEN ?1 AND ?2 ORDER BY id";
const ATTACHMENT: &str = "SELECT hash, bytes FROM attachment WHERE league = ?1 AND seq = ?2";
const LEAGUES: &str = "SELECT name FROM league ORDER BY name";

/// As long as the result of a match with proofs, or somewhat longer.
const ROW_BYTES_USUAL: usize = 448;

/// Connections that are opened when they are first needed and then kept.
pub(super) struct Readers {
    file: PathBuf,
    recent: Arc<Recent>,
    idle: Mutex<Vec<Connection>>,
    permits: Arc<Semaphore>,
}

/// One connection at work.
pub(super) struct Desk<'a> {
    pub(super) connection: &'a Connection,
    pub(super) recent: &'a Recent,
}

impl Readers {
    pub(super) fn new(file: PathBuf, recent: Arc<Recent>) -> Self {
        let permits = Arc::new(Semaphore::new(READERS_MAX));
        Self { file, recent, idle: Mutex::default(), permits }
    }

    /// Does `work` with a connection on a thread that may block.
    pub(super) fn run<'a, T: Send + 'static>(
        self: &'a Arc<Self>,
        work: impl FnOnce(Desk<'_>) -> Result<T, JournalError> + Send + 'static,
    ) -> Answer<'a, T> {
        Box::pin(async move {
            let closed = || JournalError::Unavailable(Outage::Closed);
            let permit = Arc::clone(&self.permits).acquire_owned().await;
            let permit = permit.map_err(|_| closed())?;
            let readers = Arc::clone(self);
            let task = spawn_blocking(move || {
                let result = readers.work(work);
                drop(permit);
                result
            });
            task.await.map_err(|_| closed())?
        })
    }

    fn work<T>(
        &self,
        work: impl FnOnce(Desk<'_>) -> Result<T, JournalError>,
    ) -> Result<T, JournalError> {
        let idle = self.lock().pop();
        let connection = match idle {
            Some(connection) => connection,
            None => connect_reader(&self.file).map_err(|e| told_of_all(&e))?,
        };
        let result = work(Desk { connection: &connection, recent: &self.recent })?;
        // A connection that failed is not kept: the next reader starts with a fresh one.
        self.lock().push(connection);
        Ok(result)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Desk<'_> {
    /// The rows after `after`, checked against the chain.
    pub(super) fn rows(
        &self,
        league: &LeagueId,
        after: Head,
        rows_max: usize,
    ) -> Result<Vec<Row>, JournalError> {
        let seen = self.position(league, after.seq)?;
        check_position(league, after, seen.map(|head| head.hash))?;
        let next = after.seq.next();
        let rows_max = rows_max.min(PAGE_ROWS_MAX);
        let Some(number) = self.number(league, next)? else {
            return Ok(Vec::new());
        };
        let found = self.recent.after(self.connection, number, stored(after.seq), rows_max);
        match found.map_err(|error| told(&error, league, next))? {
            Found::Places(places) => {
                let page = Page::new(league, after, rows_max, &places);
                self.page(league, number, page, &places)
            }
            Found::End => Ok(Vec::new()),
            Found::Gap => Err(missing(league, next)),
        }
    }

    /// The position at row `seq`, if there is such a row.
    pub(super) fn position(
        &self,
        league: &LeagueId,
        seq: Seq,
    ) -> Result<Option<Head>, JournalError> {
        let Some(before) = stored(seq).checked_sub(1).filter(|before| *before >= 0) else {
            return Ok(Some(Head::genesis(league)));
        };
        let Some(number) = self.number(league, seq)? else {
            return Ok(None);
        };
        let found = self.recent.after(self.connection, number, before, 1);
        match found.map_err(|error| told(&error, league, seq))? {
            Found::Places(places) => self.link(league, number, places[0], seq).map(Some),
            Found::End => Ok(None),
            Found::Gap => Err(missing(league, seq)),
        }
    }

    /// The last row of the league, if it has rows.
    pub(super) fn head(&self, league: &LeagueId) -> Result<Option<Head>, JournalError> {
        let Some(number) = self.number(league, Seq::START)? else {
            return Ok(None);
        };
        let last = self.recent.last(self.connection, number);
        let last = last.map_err(|error| told(&error, league, Seq::START))?;
        let last = last.map(|place| (place, Seq::new((place.end() - 1).unsigned_abs())));
        last.map(|(place, seq)| self.link(league, number, place, seq)).transpose()
    }

    /// Every league with rows.
    pub(super) fn leagues(&self) -> Result<Vec<LeagueId>, JournalError> {
        let names = || {
            let mut statement = self.connection.prepare_cached(LEAGUES)?;
            let names = statement.query_map([], |row| row.get::<_, String>(0))?;
            names.collect::<rusqlite::Result<Vec<_>>>()
        };
        let names = names().map_err(|error| told_of_all(&error))?;
        let unreadable = |error: league_core::id::BadId| {
            JournalError::Unavailable(Outage::Io { detail: error.to_string() })
        };
        names.iter().map(|name| name.parse().map_err(unreadable)).collect()
    }

    /// What is stored beside row `seq`.
    pub(super) fn attachment(
        &self,
        league: &LeagueId,
        seq: Seq,
    ) -> Result<Option<StoredAttachment>, JournalError> {
        let Some(number) = self.number(league, seq)? else {
            return Ok(None);
        };
        let found = || {
            let mut statement = self.connection.prepare_cached(ATTACHMENT)?;
            let found = statement.query_row((number, stored(seq)), |row| {
                Ok(StoredAttachment { hash: row.get(0)?, bytes: row.get(1)? })
            });
            found.optional()
        };
        found().map_err(|error| told(&error, league, seq))
    }

    fn number(&self, league: &LeagueId, seq: Seq) -> Result<Option<u32>, JournalError> {
        places::number(self.connection, league.as_str()).map_err(|e| told(&e, league, seq))
    }

    /// The rows of `places` from the one after `after` on. One transaction for all, so that SQLite
    /// locks the file once; it begins after the places are known, so it sees each of them.
    fn page(
        &self,
        league: &LeagueId,
        number: u32,
        mut page: Page<'_>,
        places: &[Place],
    ) -> Result<Vec<Row>, JournalError> {
        let next = page.last.seq.next();
        let damaged = |error| told(&error, league, next);
        let snapshot = self.connection.unchecked_transaction().map_err(damaged)?;
        let mut statement = self.connection.prepare_cached(BLOCKS).map_err(damaged)?;
        for run in places.chunk_by(|a, b| b.block - a.block <= 1) {
            let blocks = (run[0].block, run[run.len() - 1].block);
            let mut blocks = statement.query(blocks).map_err(damaged)?;
            while !page.is_full() {
                let block = blocks.next().map_err(|e| told(&e, league, page.last.seq.next()))?;
                let Some(block) = block else { break };
                let bytes = block.get_ref(0).and_then(|b| Ok(b.as_blob()?)).map_err(damaged)?;
                page.add(number, bytes)?;
            }
        }
        drop(statement);
        snapshot.finish().map_err(damaged)?;
        let promised = places.last().map_or(0, |place| place.end() - 1);
        if !page.is_full() && stored(page.last.seq) < promised {
            return Err(missing(league, page.last.seq.next()));
        }
        Ok(page.finish())
    }

    /// The row at `seq`, which is in the block of `place`.
    fn link(
        &self,
        league: &LeagueId,
        number: u32,
        place: Place,
        seq: Seq,
    ) -> Result<Head, JournalError> {
        let found = || {
            let mut statement = self.connection.prepare_cached(BLOCKS)?;
            let found = statement.query_row((place.block, place.block), |row| {
                let mut entries = entries(row.get_ref(0)?.as_blob()?);
                Ok(entries.find(|e| e.league == number && e.head.seq == seq).map(|e| e.head))
            });
            found.optional()
        };
        let head = found().map_err(|error| told(&error, league, seq))?;
        head.flatten().ok_or_else(|| missing(league, seq))
    }
}

/// Rows that go to a reader together.
struct Page<'a> {
    league: &'a LeagueId,
    last: Head,
    rows: Vec<(Head, Range<usize>)>,
    rows_max: usize,
    /// The bytes of all rows, so that they need one allocation.
    bytes: Vec<u8>,
}

impl<'a> Page<'a> {
    /// An empty page, with room for what is usually in `places`.
    fn new(league: &'a LeagueId, last: Head, rows_max: usize, places: &[Place]) -> Self {
        let known: usize = places.iter().map(|place| place.rows as usize).sum();
        let rows = known.min(rows_max);
        let bytes = Vec::with_capacity((rows * ROW_BYTES_USUAL).min(PAGE_BYTES_MAX));
        Self { league, last, rows: Vec::with_capacity(rows), rows_max, bytes }
    }

    const fn is_full(&self) -> bool {
        self.rows.len() >= self.rows_max || self.bytes.len() >= PAGE_BYTES_MAX
    }

    /// Adds what `block` has of the rows after the last one, each checked against the chain.
    fn add(&mut self, number: u32, block: &[u8]) -> Result<(), JournalError> {
        for Entry { league, head, body } in entries(block) {
            if league != number || head.seq <= self.last.seq {
                continue;
            }
            let bytes = &block[body];
            check_row(self.league, self.last, head, bytes)?;
            self.last = head;
            let start = self.bytes.len();
            self.bytes.extend_from_slice(bytes);
            self.rows.push((head, start..self.bytes.len()));
            if self.is_full() {
                break;
            }
        }
        Ok(())
    }

    fn finish(self) -> Vec<Row> {
        let bytes = Bytes::from(self.bytes);
        let row = |(Head { seq, hash }, body)| Row { seq, hash, bytes: bytes.slice(body) };
        self.rows.into_iter().map(row).collect()
    }
}

fn missing(league: &LeagueId, seq: Seq) -> JournalError {
    JournalError::Corrupt { league: league.clone(), seq, detail: Damage::Missing }
}
