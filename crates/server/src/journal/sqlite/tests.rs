//! The contract, and what only a file can suffer.

use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Waker};
use std::{env, fs, process};

use league_core::id::LeagueId;
use league_core::time::Timestamp;
use rusqlite::Connection;
use tokio::runtime::Builder;

use super::block::{Entry, entries, framed, push};
use super::open::PAGE_BYTES;
use super::places::number;
use super::shelf::Shelf;
use super::{OpenError, SqliteJournal, SqlitePruner, open};
use crate::journal::contract::{Backend, all, batch, contract, league};
use crate::journal::{
    Attachment, Batch, Damage, Head, Journal, JournalError, Outage, Seq, StoredAttachment,
};
use crate::letters::Bundle;
use crate::limits::{BATCH_ROWS_MAX, RECENT_ROWS_MAX, WAL_PAGES_HARD_MAX};

contract!(Scratch::new());

/// A directory that is gone after the test.
pub(super) struct Scratch(pub(super) PathBuf);

impl Scratch {
    pub(super) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("league-journal-{}-{number}", process::id());
        Self(env::temp_dir().join(name))
    }

    fn file(&self) -> PathBuf {
        self.0.join(open::FILE)
    }

    /// A connection past the journal.
    fn raw(&self) -> Connection {
        Connection::open(self.file()).unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Backend for Scratch {
    fn open(&self) -> Arc<dyn Journal> {
        Arc::new(SqliteJournal::open(&self.0).unwrap())
    }

    fn damage(&self, league: &LeagueId, seq: Seq) {
        self.rewrite(league, seq, |block, row| block[row.body.start] ^= 1);
    }
}

impl Scratch {
    /// Changes the block in which a row is.
    fn rewrite(&self, league: &LeagueId, seq: Seq, change: impl FnOnce(&mut Vec<u8>, Entry)) {
        let raw = self.raw();
        let number = number(&raw, league.as_str()).unwrap().unwrap();
        let mut statement = raw.prepare("SELECT id, bytes FROM block").unwrap();
        let mut blocks = statement.query([]).unwrap();
        while let Some(block) = blocks.next().unwrap() {
            let (id, mut bytes): (i64, Vec<u8>) = (block.get(0).unwrap(), block.get(1).unwrap());
            let row = entries(&bytes).find(|e| e.league == number && e.head.seq == seq);
            let Some(row) = row else {
                continue;
            };
            change(&mut bytes, row);
            let sql = "UPDATE block SET bytes = ?2 WHERE id = ?1";
            assert_eq!(self.raw().execute(sql, (id, bytes)).unwrap(), 1);
            return;
        }
        panic!("there is no row {seq} of {league}");
    }

    /// Takes a row out.
    fn delete(&self, league: &LeagueId, seq: Seq) {
        self.rewrite(league, seq, |block, row| {
            block.drain(row.body.start - framed(0)..row.body.end);
        });
    }
}

#[test]
fn a_second_writer_is_refused_and_told_the_file() {
    let scratch = Scratch::new();
    let first = SqliteJournal::open(&scratch.0).unwrap();
    let error = SqliteJournal::open(&scratch.0).err().expect("refused");
    assert!(matches!(&error, OpenError::InUse { file } if *file == scratch.file()));
    assert!(error.to_string().contains(scratch.file().to_str().unwrap()));
    drop(first);
    SqliteJournal::open(&scratch.0).expect("the first one is gone");
}

#[test]
fn files_of_a_newer_version_or_of_other_programs_are_left_alone() {
    let scratch = Scratch::new();
    drop(SqliteJournal::open(&scratch.0).unwrap());
    scratch.raw().pragma_update(None, "user_version", 99).unwrap();
    let before = fs::read(scratch.file()).unwrap();
    let error = SqliteJournal::open(&scratch.0).err().expect("refused");
    assert!(matches!(error, OpenError::Newer { found: 99, known: 2, .. }), "{error}");
    assert_eq!(fs::read(scratch.file()).unwrap(), before);

    let other = Scratch::new();
    fs::create_dir_all(&other.0).unwrap();
    other.raw().execute_batch("CREATE TABLE recipe (name TEXT)").unwrap();
    let error = SqliteJournal::open(&other.0).err().expect("refused");
    assert!(matches!(error, OpenError::Foreign { .. }), "{error}");

    fs::write(other.file(), "this is a text and long enough to be one".repeat(100)).unwrap();
    let error = SqliteJournal::open(&other.0).err().expect("refused");
    assert!(matches!(error, OpenError::Database { .. }), "{error}");
}

#[tokio::test]
async fn a_closed_journal_is_one_file_and_holds_what_nobody_waited_for() {
    let (scratch, league) = (Scratch::new(), league("a"));
    let journal = SqliteJournal::open(&scratch.0).unwrap();
    {
        let mut append = pin!(journal.append(&league, Seq::START, batch(&["one", "two"])));
        let poll = append.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(poll.is_pending());
    }
    drop(journal);
    let names = fs::read_dir(&scratch.0).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.collect();
    names.sort();
    assert_eq!(names, ["league.db", "league.lock"]);
    assert_eq!(all(&*scratch.open(), &league).await.len(), 2);
}

#[tokio::test]
async fn a_full_disk_stores_nothing_by_halves_and_is_forgotten_when_there_is_space() {
    let (scratch, league) = (Scratch::new(), league("a"));
    let journal = SqliteJournal::open_within(&scratch.0, Some(2 * 1024 * 1024)).unwrap();
    let heavy = |row: &str| {
        let mut heavy = batch(&[row, "and"]);
        let bytes = vec![9; 200 * 1024];
        heavy.attachments.push(Attachment { row: 1, hash: [0; 32], bytes });
        heavy
    };
    let mut head = Head::genesis(&league);
    let refused = loop {
        match journal.append(&league, head.seq, heavy("row")).await {
            Ok(next) => head = next,
            Err(error) => break error,
        }
    };
    assert_eq!(refused, JournalError::Unavailable(Outage::DiskFull));
    assert!(head.seq >= Seq::new(8), "nearly two megabytes fit");
    let rows = all(&journal, &league).await;
    assert_eq!(rows.last().unwrap().head(), head);
    assert_eq!(journal.attachment(&league, head.seq.next().next()).await, Ok(None));
    let again = journal.append(&league, head.seq, heavy("again")).await;
    assert_eq!(again, Err(JournalError::Unavailable(Outage::DiskFull)));

    scratch.raw().execute("DELETE FROM attachment WHERE seq <= 4", []).unwrap();
    let next = journal.append(&league, head.seq, heavy("space")).await.unwrap();
    assert_eq!(next, head.extend(b"space").extend(b"and"));
    assert_eq!(all(&journal, &league).await.len() as u64, next.seq.get());
}

#[tokio::test]
async fn the_log_is_folded_while_rows_are_written() {
    const BATCH_BYTES: usize = 4 * 1024 * 1024;
    let scratch = Scratch::new();
    let (journal, a) = (scratch.open(), league("a"));
    let log_max = (2 * WAL_PAGES_HARD_MAX * PAGE_BYTES) as u64;
    let mut head = Head::genesis(&a);
    for _ in 0..=(log_max + log_max / 4) as usize / BATCH_BYTES {
        let rows = vec![vec![7; BATCH_BYTES / 4]; 4];
        head = journal.append(&a, head.seq, Batch::of(rows)).await.unwrap();
        let log = fs::metadata(scratch.0.join("league.db-wal")).unwrap().len();
        assert!(log < log_max, "{log} bytes");
    }
    drop(journal);
    let count = all(&*scratch.open(), &a).await.len();
    assert_eq!(count as u64, head.seq.get());
}

#[tokio::test]
async fn an_attachment_can_go_while_its_row_stays() {
    let (scratch, league) = (Scratch::new(), league("a"));
    let journal = scratch.open();
    let mut with = batch(&["one"]);
    with.attachments.push(Attachment { row: 0, hash: [5; 32], bytes: vec![1, 2, 3] });
    let head = journal.append(&league, Seq::START, with).await.unwrap();
    let stored = StoredAttachment { hash: [5; 32], bytes: vec![1, 2, 3] };
    assert_eq!(journal.attachment(&league, head.seq).await, Ok(Some(stored)));
    scratch.raw().execute("DELETE FROM attachment", []).unwrap();
    assert_eq!(journal.attachment(&league, head.seq).await, Ok(None));
    assert_eq!(all(&*journal, &league).await.last().unwrap().head(), head);
}

// req: OBS-2
#[tokio::test]
async fn attachments_are_deleted_while_the_writer_goes_on() {
    let (scratch, league) = (Scratch::new(), league("a"));
    let journal = scratch.open();
    let with = || {
        let mut with = batch(&["one"]);
        with.attachments.push(Attachment { row: 0, hash: [5; 32], bytes: vec![7; 2_000] });
        with
    };
    let mut head = Head::genesis(&league);
    let mut old = vec![];
    for _ in 0..300 {
        head = journal.append(&league, head.seq, with()).await.unwrap();
        old.push(head.seq);
    }
    let (directory, of, seqs) = (scratch.0.clone(), league.clone(), old.clone());
    let pruning = std::thread::spawn(move || {
        let mut pruner = SqlitePruner::open(&directory).unwrap();
        pruner.delete(&of, &seqs).unwrap();
        pruner.compact().unwrap()
    });
    while !pruning.is_finished() {
        head = journal.append(&league, head.seq, with()).await.unwrap();
    }
    assert!(!pruning.join().unwrap(), "the file is not written anew under its writer");
    assert_eq!(all(&*journal, &league).await.last().unwrap().head(), head);
    assert_eq!(journal.attachment(&league, old[299]).await, Ok(None));
    assert!(journal.attachment(&league, head.seq).await.unwrap().is_some());
    drop(journal);
    let alone = SqlitePruner::open(&scratch.0).unwrap();
    assert!(alone.compact().unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conflict_in_a_group_concerns_nobody_else() {
    let scratch = Scratch::new();
    let journal = scratch.open();
    let raw = scratch.raw();
    // While somebody else holds the file, the appends gather behind the first.
    raw.execute_batch("BEGIN IMMEDIATE").unwrap();
    let names: Vec<_> = (0..20).map(|number| league(&format!("league_{number}"))).collect();
    let appends = names.iter().enumerate().map(|(number, league)| {
        let expected = Seq::new(u64::from(number % 5 == 4));
        journal.append(league, expected, batch(&["one"]))
    });
    let mut appends: Vec<_> = appends.collect();
    for append in &mut appends {
        let poll = append.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(poll.is_pending());
    }
    raw.execute_batch("COMMIT").unwrap();
    for (number, append) in appends.into_iter().enumerate() {
        let answer = append.await;
        if number % 5 == 4 {
            let (expected, actual) = (Seq::new(1), Seq::START);
            assert_eq!(answer, Err(JournalError::Conflict { expected, actual }));
        } else {
            assert_eq!(answer, Ok(Head::genesis(&names[number]).extend(b"one")));
        }
    }
    assert_eq!(journal.leagues().await.unwrap().len(), 16);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_written_behind_the_journals_back_are_a_conflict() {
    let scratch = Scratch::new();
    let (a, b) = (league("a"), league("b"));
    let journal = scratch.open();
    let head = journal.append(&a, Seq::START, batch(&["one"])).await.unwrap();
    let foreign = head.extend(b"foreign");
    let mut block = Vec::new();
    push(&mut block, 1, foreign, b"foreign");
    scratch.raw().execute("INSERT INTO block (bytes) VALUES (?1)", [block]).unwrap();

    let unconcerned = journal.append(&b, Seq::START, batch(&["b1"]));
    unconcerned.await.expect("the writer looks again and finds a place");
    let late = journal.append(&a, head.seq, batch(&["late"])).await;
    let (expected, actual) = (head.seq, foreign.seq);
    assert_eq!(late, Err(JournalError::Conflict { expected, actual }));
    let next = journal.append(&a, foreign.seq, batch(&["three"])).await;
    assert_eq!(next, Ok(foreign.extend(b"three")));
    assert_eq!(all(&*journal, &a).await.len(), 3);
}

#[tokio::test]
async fn old_rows_are_found_through_spans_and_a_missing_one_is_named() {
    const ROUNDS: usize = 10;
    const { assert!(2 * ROUNDS * BATCH_ROWS_MAX > RECENT_ROWS_MAX + BATCH_ROWS_MAX) };
    let scratch = Scratch::new();
    let leagues = ["a", "b"].map(league);
    let mut heads = leagues.each_ref().map(Head::genesis);
    let journal = scratch.open();
    for round in 0..ROUNDS {
        for (league, head) in leagues.iter().zip(&mut heads) {
            let rows = (0..BATCH_ROWS_MAX).map(|n| format!("{league}{round}:{n}").into_bytes());
            *head = journal.append(league, head.seq, Batch::of(rows.collect())).await.unwrap();
        }
    }
    let spans: i64 = scratch.raw().query_row("SELECT count(*) FROM span", [], get).unwrap();
    assert!(spans > 0);
    check_whole(&*journal, &leagues, &heads).await;
    drop(journal);
    let journal = scratch.open();
    check_whole(&*journal, &leagues, &heads).await;

    for seq in [5000, heads[0].seq.get() - 3] {
        scratch.delete(&leagues[0], Seq::new(seq));
        let before = journal.position(&leagues[0], Seq::new(seq - 1)).await.unwrap().unwrap();
        let answer = journal.read(&leagues[0], before, 10).await;
        let (league, seq) = (leagues[0].clone(), Seq::new(seq));
        assert_eq!(answer, Err(JournalError::Corrupt { league, seq, detail: Damage::Missing }));
    }
    drop(journal);
    let journal = scratch.open();
    let seq = heads[0].seq.get() - 3;
    let before = journal.position(&leagues[0], Seq::new(seq - 1)).await.unwrap().unwrap();
    let answer = journal.read(&leagues[0], before, 10).await;
    let (league, seq) = (leagues[0].clone(), Seq::new(seq));
    assert_eq!(answer, Err(JournalError::Corrupt { league, seq, detail: Damage::Missing }));
}

// req: OBS-2
#[tokio::test]
async fn letters_that_cannot_be_stored_cost_nobody_its_rows_and_are_counted() {
    let scratch = Scratch::new();
    let journal = scratch.open();
    journal.append(&league("a"), Seq::START, batch(&["one"])).await.unwrap();
    drop(journal);
    let mut raw = scratch.raw();
    let shelf = Shelf::default();
    let put = |count: u64, dropped: u64| {
        let (now, bytes) = (Timestamp::from_millis(0), vec![1; 9]);
        let league = league("a");
        assert!(
            shelf.put(Bundle { league, first: now, last: now, count, dropped, bytes }).is_some()
        );
    };
    let mut write = |name: &str| {
        let transaction = raw.transaction().unwrap();
        transaction.execute("INSERT INTO league (name) VALUES (?1)", [name]).unwrap();
        let bytes = shelf.store(&transaction).expect("letters are no reason to fail");
        transaction.commit().unwrap();
        shelf.committed();
        bytes
    };
    let no = "CREATE TRIGGER no BEFORE INSERT ON letters WHEN new.count = 5 \
              BEGIN SELECT RAISE(ABORT, 'no'); END";
    scratch.raw().execute_batch(no).unwrap();
    put(2, 0);
    put(5, 1);
    assert_eq!(write("b"), 0);
    put(3, 0);
    assert_eq!(write("c"), 9);
    assert_eq!(write("d"), 0, "they are stored once");
    put(4, 0);
    assert_eq!(shelf.store(&scratch.raw()), Ok(9));
    shelf.failed();
    put(1, 0);
    assert_eq!(write("e"), 9);
    let sum = |what: &str| scratch.raw().query_row(what, [], get).unwrap();
    assert_eq!(sum("SELECT count(*) FROM league"), 5);
    assert_eq!(sum("SELECT dropped FROM letters WHERE count = 3"), 2 + 5 + 1);
    assert_eq!(sum("SELECT dropped FROM letters WHERE count = 1"), 4);
}

fn get(row: &rusqlite::Row<'_>) -> rusqlite::Result<i64> {
    row.get(0)
}

async fn check_whole(journal: &dyn Journal, leagues: &[LeagueId], heads: &[Head]) {
    for (league, head) in leagues.iter().zip(heads) {
        assert_eq!(journal.head(league).await, Ok(Some(*head)));
        let mut position = Head::genesis(league);
        loop {
            let page = journal.read(league, position, 1000).await.unwrap();
            let Some(last) = page.last() else {
                break;
            };
            position = last.head();
            let stored = journal.position(league, position.seq).await;
            assert_eq!(stored, Ok(Some(position)));
        }
        assert_eq!(position, *head);
    }
}

#[test]
fn appenders_are_answered_after_the_runtime_of_the_first_is_gone() {
    let (scratch, league) = (Scratch::new(), league("a"));
    let journal = scratch.open();
    let mut head = Head::genesis(&league);
    for _ in 0..3 {
        let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let append = journal.append(&league, head.seq, batch(&["row"]));
        head = runtime.block_on(append).unwrap();
    }
    let alone = Builder::new_current_thread().build().unwrap();
    let append = journal.append(&league, head.seq, batch(&["row"]));
    assert_eq!(alone.block_on(append).unwrap().seq, Seq::new(4));
}
