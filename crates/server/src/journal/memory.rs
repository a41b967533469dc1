//! A journal in memory, for tests and simulations. Its disk can be handed on to the next journal as
//! a restart does, and breaks when it is told to.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use league_core::id::LeagueId;

use super::chain::{check_position, check_row};
use super::tail::{Tails, subscribed};
use super::{Answer, Batch, Head, Journal, JournalError, Outage, Row, Seq, StoredAttachment, Tail};
use crate::limits::{PAGE_BYTES_MAX, PAGE_ROWS_MAX};

/// Leagues in memory.
#[derive(Default)]
pub struct MemoryJournal {
    disk: Arc<MemoryDisk>,
    tails: Tails,
}

/// What stays when a [`MemoryJournal`] is dropped.
#[derive(Default)]
pub struct MemoryDisk {
    state: Mutex<State>,
}

/// What shall happen to an append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// Nothing is stored and the writer is told so.
    Refuse(Outage),
    /// Everything is stored, but the writer hears of an outage.
    LoseAnswer(Outage),
}

#[derive(Default)]
struct State {
    leagues: BTreeMap<LeagueId, Stream>,
    faults: VecDeque<Fault>,
}

#[derive(Default)]
struct Stream {
    rows: Vec<Row>,
    attachments: BTreeMap<Seq, StoredAttachment>,
}

impl MemoryDisk {
    /// Lets the next append fail that no earlier order is waiting for.
    pub fn order(&self, fault: Fault) {
        self.lock().faults.push_back(fault);
    }

    /// Flips a bit of a stored row. Returns whether there is such a row, and a bit in it.
    pub fn damage(&self, league: &LeagueId, seq: Seq) -> bool {
        let mut state = self.lock();
        let stream = state.leagues.get_mut(league);
        let row = stream.and_then(|s| s.rows.iter_mut().find(|row| row.seq == seq));
        let Some(row) = row.filter(|row| !row.bytes.is_empty()) else {
            return false;
        };
        let mut bytes = row.bytes.to_vec();
        bytes[0] ^= 1;
        row.bytes = bytes.into();
        true
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MemoryJournal {
    /// An empty journal with a disk of its own.
    pub fn new() -> Self {
        Self::default()
    }

    /// The journal of what is on `disk`. Two at a time are two writers: they see each other's rows
    /// and conflict, but their tails only hear of their own.
    pub fn on(disk: Arc<MemoryDisk>) -> Self {
        Self { disk, tails: Tails::default() }
    }

    fn append_now(
        &self,
        league: &LeagueId,
        expected: Seq,
        batch: Batch,
    ) -> Result<Head, JournalError> {
        batch.check()?;
        let mut state = self.disk.lock();
        let fault = state.faults.pop_front();
        if let Some(Fault::Refuse(outage)) = fault {
            return Err(JournalError::Unavailable(outage));
        }
        let before = state.leagues.get(league).map(Stream::head);
        let before = before.flatten().unwrap_or_else(|| Head::genesis(league));
        if before.seq != expected {
            return Err(JournalError::Conflict { expected, actual: before.seq });
        }
        if batch.rows.is_empty() {
            return Ok(before);
        }
        let head = state.leagues.entry(league.clone()).or_default().extend(before, batch);
        drop(state);
        self.tails.publish(league, head.seq);
        match fault {
            Some(Fault::LoseAnswer(outage)) => Err(JournalError::Unavailable(outage)),
            Some(Fault::Refuse(_)) | None => Ok(head),
        }
    }

    fn read_now(
        &self,
        league: &LeagueId,
        after: Head,
        rows_max: usize,
    ) -> Result<Vec<Row>, JournalError> {
        let state = self.disk.lock();
        let rows = state.leagues.get(league).map_or(&[][..], |s| &s.rows[..]);
        let start = usize::try_from(after.seq.get()).unwrap_or(usize::MAX);
        let seen = match start.checked_sub(1) {
            Some(index) => rows.get(index).map(|row| row.hash),
            None => Some(Head::genesis(league).hash),
        };
        check_position(league, after, seen)?;
        let mut position = after;
        let mut bytes = 0;
        let mut page = Vec::new();
        for row in rows[start..].iter().take(rows_max.min(PAGE_ROWS_MAX)) {
            check_row(league, position, row.head(), &row.bytes)?;
            position = row.head();
            bytes += row.bytes.len();
            page.push(row.clone());
            if bytes >= PAGE_BYTES_MAX {
                break;
            }
        }
        Ok(page)
    }

    fn position_now(&self, league: &LeagueId, seq: Seq) -> Option<Head> {
        if seq == Seq::START {
            return Some(Head::genesis(league));
        }
        let state = self.disk.lock();
        let mut rows = state.leagues.get(league)?.rows.iter();
        rows.find(|row| row.seq == seq).map(Row::head)
    }
}

impl Stream {
    fn head(&self) -> Option<Head> {
        self.rows.last().map(Row::head)
    }

    fn extend(&mut self, before: Head, batch: Batch) -> Head {
        let mut head = before;
        let first = self.rows.len();
        for bytes in batch.rows {
            head = head.extend(&bytes);
            self.rows.push(Row { seq: head.seq, hash: head.hash, bytes: bytes.into() });
        }
        for attachment in batch.attachments {
            let seq = self.rows[first + attachment.row].seq;
            let stored = StoredAttachment { hash: attachment.hash, bytes: attachment.bytes };
            self.attachments.insert(seq, stored);
        }
        head
    }
}

impl Journal for MemoryJournal {
    fn append(&self, league: &LeagueId, expected: Seq, batch: Batch) -> Answer<'_, Head> {
        let league = league.clone();
        Box::pin(async move { self.append_now(&league, expected, batch) })
    }

    fn read(&self, league: &LeagueId, after: Head, rows_max: usize) -> Answer<'_, Vec<Row>> {
        let league = league.clone();
        Box::pin(async move { self.read_now(&league, after, rows_max) })
    }

    fn position(&self, league: &LeagueId, seq: Seq) -> Answer<'_, Option<Head>> {
        let league = league.clone();
        Box::pin(async move { Ok(self.position_now(&league, seq)) })
    }

    fn head(&self, league: &LeagueId) -> Answer<'_, Option<Head>> {
        let league = league.clone();
        Box::pin(async move { Ok(self.disk.lock().leagues.get(&league).and_then(Stream::head)) })
    }

    fn leagues(&self) -> Answer<'_, Vec<LeagueId>> {
        Box::pin(async move { Ok(self.disk.lock().leagues.keys().cloned().collect()) })
    }

    fn attachment(&self, league: &LeagueId, seq: Seq) -> Answer<'_, Option<StoredAttachment>> {
        let league = league.clone();
        Box::pin(async move {
            let state = self.disk.lock();
            let stream = state.leagues.get(&league);
            Ok(stream.and_then(|s| s.attachments.get(&seq)).cloned())
        })
    }

    fn tail(&self, league: &LeagueId) -> Answer<'_, Tail> {
        subscribed(&self.tails, league, self.head(league))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::contract::{Backend, all, batch, contract, league};

    contract!(Arc::<MemoryDisk>::default());

    impl Backend for Arc<MemoryDisk> {
        fn open(&self) -> Arc<dyn Journal> {
            Arc::new(MemoryJournal::on(Self::clone(self)))
        }

        fn damage(&self, league: &LeagueId, seq: Seq) {
            assert!(MemoryDisk::damage(self, league, seq));
        }
    }

    #[tokio::test]
    async fn a_refused_append_leaves_nothing_and_a_lost_answer_leaves_the_rows() {
        let (disk, league) = (Arc::<MemoryDisk>::default(), league("a"));
        let journal = MemoryJournal::on(Arc::clone(&disk));
        disk.order(Fault::Refuse(Outage::DiskFull));
        disk.order(Fault::LoseAnswer(Outage::Closed));
        let refused = journal.append(&league, Seq::START, batch(&["one"])).await;
        let full = JournalError::Unavailable(Outage::DiskFull);
        assert_eq!(refused, Err(full));
        assert_eq!(all(&journal, &league).await, []);
        let lost = journal.append(&league, Seq::START, batch(&["one"])).await;
        assert_eq!(lost, Err(JournalError::Unavailable(Outage::Closed)));
        assert_eq!(all(&journal, &league).await.len(), 1);
        let third = journal.append(&league, Seq::new(1), batch(&["two"])).await;
        assert_eq!(third.unwrap().seq, Seq::new(2));
    }
}
