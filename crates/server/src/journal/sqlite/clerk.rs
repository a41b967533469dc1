//! The one thread that writes. It takes whatever waits, commits it as one transaction and only then
//! answers.

use std::sync::Arc;
use std::time::Duration;

use league_agent::ambient::Mark;
use rusqlite::{CachedStatement, Connection, TransactionBehavior};

use super::block::{self, BLOCK_BYTES};
use super::fault::{is_sync_lost, is_taken, stored, told};
use super::fold::Folder;
use super::places::{Recent, number};
use super::queue::Queue;
use super::reader::Desk;
use super::shelf::Shelf;
use super::stream::{Known, Stream};
use super::ticket::{Links, Order, Reply, Request};
use super::writer::Counter;
use crate::journal::tail::Tails;
use crate::journal::{Batch, Head, JournalError, Seq};
use crate::limits::{
    COMMIT_BYTES_MAX, COMMIT_ROWS_MAX, COMPANY_CHUNK, COMPANY_WAIT_FRACTION, RECENT_ROWS_MAX,
};

const NEW_LEAGUE: &str = "INSERT INTO league (name) VALUES (?1) RETURNING number";
const BLOCK: &str = "INSERT INTO block (id, bytes) VALUES (?1, ?2)";
const ATTACHMENT: &str =
    "INSERT INTO attachment (league, seq, hash, bytes) VALUES (?1, ?2, ?3, ?4)";

/// What the thread works with.
pub(super) struct Clerk {
    // Before the connection, so that this is the last to close the file.
    folder: Folder,
    connection: Connection,
    recent: Arc<Recent>,
    shelf: Arc<Shelf>,
    tails: Arc<Tails>,
    counter: Arc<Counter>,
    /// Nothing that was learned in an earlier era is true for certain.
    era: u64,
    /// `None` after a failure: what is on the disk must be looked up again.
    end: Option<End>,
    /// How many appends the next transaction may expect: those that wait, and one of each appender
    /// that has just been answered.
    company: usize,
    /// How long it took to make the last transaction durable.
    last_commit: Duration,
}

/// Where the file ends.
#[derive(Clone, Copy)]
struct End {
    next_block: i64,
    recent_rows: usize,
}

/// What a group has written, to be published after the commit.
#[derive(Default)]
struct Written {
    replies: Vec<Reply>,
    /// League, row and block.
    rows: Vec<(u32, i64, i64)>,
    is_stored: bool,
    /// How much it is, attachments included.
    bytes: usize,
}

impl Clerk {
    /// Looks up what is in the file, for itself and for the readers.
    pub(super) fn new(
        connection: Connection,
        folder: Folder,
        (recent, shelf): (Arc<Recent>, Arc<Shelf>),
        tails: Arc<Tails>,
        counter: Arc<Counter>,
    ) -> rusqlite::Result<Self> {
        let end = Some(End::load(&connection, &recent)?);
        let last_commit = Duration::ZERO;
        Ok(Self {
            folder,
            connection,
            recent,
            shelf,
            tails,
            counter,
            era: 0,
            end,
            company: 0,
            last_commit,
        })
    }

    /// Works until the queue is closed and empty.
    pub(super) fn run(mut self, queue: &Queue<Request>) {
        let mut waiting = Vec::new();
        while !waiting.is_empty() || queue.take(&mut waiting) {
            if !self.serve(queue, &mut waiting) {
                return;
            }
        }
    }

    /// Commits and answers a group. `false` if the file cannot be trusted with another one.
    fn serve(&mut self, queue: &Queue<Request>, waiting: &mut Vec<Request>) -> bool {
        let mut outcome = self.commit(queue, waiting);
        if matches!(&outcome, Err(error) if is_taken(error)) {
            outcome = self.commit(queue, waiting);
        }
        match outcome {
            Ok(written) => {
                queue.take_more(waiting);
                self.company = waiting.len();
                let later = waiting.split_off(written.replies.len());
                let bytes = written.bytes;
                self.publish(std::mem::replace(waiting, later), written);
                self.folder.written(&self.connection, bytes).is_ok()
            }
            Err(error) => {
                self.shelf.failed();
                let told = |Order { stream, expected, .. }: &Order| {
                    Err(told(&error, &stream.league, expected.next()))
                };
                let replies = waiting.iter().map(|request| told(request.order())).collect();
                self.counter.answer(std::mem::take(waiting), replies);
                !is_sync_lost(&error)
            }
        }
    }

    /// Writes what waits as one transaction, as far as it fits. What is written counts only if this
    /// succeeds, the replies included: a conflict may be with another request of the same group.
    fn commit(
        &mut self,
        queue: &Queue<Request>,
        waiting: &mut Vec<Request>,
    ) -> rusqlite::Result<Written> {
        let mut end = match self.end.take() {
            Some(end) => end,
            None => {
                self.era += 1;
                End::load(&self.connection, &self.recent)?
            }
        };
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut written = Written::default();
        if end.recent_rows >= RECENT_ROWS_MAX {
            self.recent.store(&transaction, end.next_block)?;
            end.recent_rows = 0;
            written.is_stored = true;
        }
        let pen = Pen {
            desk: Desk { connection: &transaction, recent: &self.recent },
            insert: transaction.prepare_cached(BLOCK)?,
            era: self.era,
            end,
            block: Vec::with_capacity(BLOCK_BYTES),
            company: self.company,
            begun: Mark::set(),
            patience: self.last_commit / COMPANY_WAIT_FRACTION,
            written,
        };
        let (end, mut written) = pen.write(queue, waiting)?;
        written.bytes += self.shelf.store(&transaction)?;
        let begun = Mark::set();
        transaction.commit()?;
        self.last_commit = begun.elapsed();
        self.shelf.committed();
        self.end = Some(end);
        Ok(written)
    }

    /// Lets readers, followers and appenders know, in this order: who is answered finds its rows.
    fn publish(&self, group: Vec<Request>, written: Written) {
        self.recent.publish(&written.rows, written.is_stored);
        let answered = group.iter().zip(&written.replies);
        self.tails.publish_all(
            answered.filter_map(|(r, reply)| {
                Some((&r.order().stream.league, reply.as_ref().ok()?.seq))
            }),
        );
        self.counter.answer(group, written.replies);
    }
}

impl End {
    fn load(connection: &Connection, recent: &Recent) -> rusqlite::Result<Self> {
        let (recent_rows, next_block) = recent.load(connection)?;
        Ok(Self { next_block, recent_rows })
    }
}

/// Writes the rows of one transaction.
struct Pen<'a> {
    desk: Desk<'a>,
    insert: CachedStatement<'a>,
    era: u64,
    end: End,
    /// The block that is being filled.
    block: Vec<u8>,
    /// How many appends this transaction may expect.
    company: usize,
    begun: Mark,
    /// How long it may take from its beginning until it no longer waits for anybody.
    patience: Duration,
    written: Written,
}

impl Pen<'_> {
    /// Writes what waits, and what arrives in the meantime.
    fn write(
        mut self,
        queue: &Queue<Request>,
        waiting: &mut Vec<Request>,
    ) -> rusqlite::Result<(End, Written)> {
        while self.has_room() {
            let next = self.written.replies.len();
            if next == waiting.len() && !self.has_company(queue, waiting) {
                break;
            }
            let reply = self.add(waiting[next].order())?;
            self.written.replies.push(reply);
        }
        self.turn_over()?;
        Ok((self.end, self.written))
    }

    /// Whether there is more to write. Appenders that were answered a moment ago are about to ask
    /// again, and a sync shared with them is a sync saved. Waiting for them may take a fraction of
    /// what the last sync took: on a slow disk everybody shares one, on a fast one some come back
    /// while others are being written.
    fn has_company(&self, queue: &Queue<Request>, waiting: &mut Vec<Request>) -> bool {
        let missing = self.company.saturating_sub(waiting.len());
        let Some(patience) = self.patience.checked_sub(self.begun.elapsed()) else { return false };
        queue.take_some(waiting, missing.min(COMPANY_CHUNK), patience) > 0
    }

    const fn has_room(&self) -> bool {
        self.written.replies.len() < COMMIT_ROWS_MAX
            && self.written.rows.len() < COMMIT_ROWS_MAX
            && self.written.bytes < COMMIT_BYTES_MAX
    }

    /// Writes one request, or says why not.
    fn add(&mut self, order: &Order) -> rusqlite::Result<Reply> {
        let Order { stream, expected, batch, links } = order;
        let known = match stream.known(self.era) {
            Some(known) => known,
            None => match self.look_up(stream) {
                Ok(known) => known,
                Err(error) => return Ok(Err(error)),
            },
        };
        if known.head.seq != *expected {
            let (expected, actual) = (*expected, known.head.seq);
            return Ok(Err(JournalError::Conflict { expected, actual }));
        }
        if batch.rows.is_empty() {
            return Ok(Ok(known.head));
        }
        let number = match known.number {
            Some(number) => number,
            None => self.new_league(stream)?,
        };
        let head = if links.before == known.head {
            self.insert(number, batch, links)?
        } else {
            self.insert(number, batch, &Links::new(known.head, batch))?
        };
        stream.learn(Known { number: Some(number), head, ..known });
        Ok(Ok(head))
    }

    /// Right only for a league that this transaction has not written to.
    fn look_up(&self, stream: &Stream) -> Result<Known, JournalError> {
        let league = &stream.league;
        let number = number(self.desk.connection, league.as_str());
        let number = number.map_err(|error| told(&error, league, Seq::START))?;
        let head = self.desk.head(league)?.unwrap_or_else(|| Head::genesis(league));
        Ok(Known { era: self.era, number, head })
    }

    fn new_league(&self, stream: &Stream) -> rusqlite::Result<u32> {
        let mut statement = self.desk.connection.prepare_cached(NEW_LEAGUE)?;
        statement.query_row([stream.league.as_str()], |row| row.get(0))
    }

    fn insert(&mut self, league: u32, batch: &Batch, links: &Links) -> rusqlite::Result<Head> {
        let mut last = links.before;
        self.written.bytes += batch.bytes_len();
        for (bytes, head) in batch.rows.iter().zip(links.after()) {
            if self.block.len() + block::framed(bytes.len()) > BLOCK_BYTES {
                self.turn_over()?;
            }
            block::push(&mut self.block, league, *head, bytes);
            self.written.rows.push((league, stored(head.seq), self.end.next_block));
            last = *head;
        }
        self.end.recent_rows += batch.rows.len();
        for attachment in &batch.attachments {
            let seq = stored(links.before.seq) + 1 + attachment.row as i64;
            let mut statement = self.desk.connection.prepare_cached(ATTACHMENT)?;
            statement.execute((league, seq, attachment.hash, &attachment.bytes))?;
        }
        Ok(last)
    }

    /// Stores the block and begins the next.
    fn turn_over(&mut self) -> rusqlite::Result<()> {
        if !self.block.is_empty() {
            self.insert.execute((self.end.next_block, &self.block))?;
            self.end.next_block += 1;
            self.block.clear();
        }
        Ok(())
    }
}
