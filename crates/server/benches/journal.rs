//! How fast the journal is beside SQLite's own speed: 256 appenders that each wait for their rows,
//! and plain transactions that insert the same rows one by one into a table of the same columns,
//! in a file with the same settings; in turn and in one run.
//!
//! An appender is the writer of a league. While it waits the next questions come in, so that it
//! appends several rows at once: 4.3 on average in a league of a hundred players. Appenders of one
//! row are shown too. They can share transactions of 256 rows at most, whose own speed is beside.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{env, fs};

use league_core::id::LeagueId;
use league_server::journal::{Batch, Head, Journal, SqliteJournal};
use league_server::limits::WAL_PAGES_MAX;
use rusqlite::Connection;
use tokio::runtime::Builder;

const APPENDERS: u64 = 256;
const ROWS_EACH: u64 = 1000;
/// What a league's writer appends at once.
const TOGETHER: u64 = 4;
const ROWS: u64 = APPENDERS * ROWS_EACH;
const ROW_BYTES: usize = 200;
const ROUNDS: usize = 5;
const GOAL: f64 = 0.75;

#[expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]
fn main() {
    println!("{ROWS} rows of {ROW_BYTES} bytes in {APPENDERS} leagues; rows per second");
    println!("round     raw 1000      raw 256    {TOGETHER} at once   one at once      reading");
    let (mut several, mut single, mut limits) = (Vec::new(), Vec::new(), Vec::new());
    for round in 1..=ROUNDS {
        let large = rate(raw(&fresh("raw"), 1000));
        let small = rate(raw(&fresh("raw"), APPENDERS));
        let (four, reading) = journal(&fresh("journal"), TOGETHER);
        let (one, _) = journal(&fresh("journal"), 1);
        let (four, one, reading) = (rate(four), rate(one), rate(reading));
        several.push(four / large);
        single.push(one / large);
        limits.push(small / large);
        println!("{round:>5} {large:>12.0} {small:>12.0} {four:>12.0} {one:>13.0} {reading:>12.0}");
    }
    let (several, single, limit) = (median(several), median(single), median(limits));
    let verdict = if several >= GOAL { "holds" } else { "missed" };
    println!("medians against transactions of 1000 rows, goal {GOAL}:");
    println!("{APPENDERS} appenders of {TOGETHER} rows at once {several:.2}: {verdict}");
    println!(
        "{APPENDERS} appenders of one row at once {single:.2}; raw transactions of 256 rows {limit:.2}"
    );
}

fn median(mut ratios: Vec<f64>) -> f64 {
    ratios.sort_by(f64::total_cmp);
    ratios[ROUNDS / 2]
}

/// One connection that does nothing but insert, with the hash as a given.
fn raw(directory: &Path, commit_rows: u64) -> Duration {
    drop(SqliteJournal::open(directory).expect("a journal"));
    let mut raw = Connection::open(directory.join("league.db")).expect("a database");
    let settings = format!(
        "PRAGMA synchronous = FULL;
        PRAGMA wal_autocheckpoint = {WAL_PAGES_MAX};
        CREATE TABLE row (id INTEGER PRIMARY KEY, league INTEGER NOT NULL, seq INTEGER NOT NULL,
            hash BLOB NOT NULL, bytes BLOB NOT NULL) STRICT"
    );
    raw.execute_batch(&settings).expect("settings and a table");
    let (hash, bytes) = ([1u8; 32], [7u8; ROW_BYTES]);
    measured(|| {
        let mut number = 0;
        while number < ROWS {
            let transaction = raw.transaction().expect("a transaction");
            let sql = "INSERT INTO row (league, seq, hash, bytes) VALUES (?1, ?2, ?3, ?4)";
            let mut insert = transaction.prepare_cached(sql).expect("SQL");
            for _ in 0..commit_rows.min(ROWS - number) {
                let (league, seq) = (number % APPENDERS, 1 + number / APPENDERS);
                insert.execute((league as i64, seq as i64, hash, bytes)).expect("a row");
                number += 1;
            }
            drop(insert);
            transaction.commit().expect("space on the disk");
        }
    })
}

fn journal(directory: &Path, together: u64) -> (Duration, Duration) {
    let journal: Arc<dyn Journal> = Arc::new(SqliteJournal::open(directory).expect("a journal"));
    let runtime = Builder::new_multi_thread().build().expect("a runtime");
    let spent = measured(|| {
        let appenders: Vec<_> = (0..APPENDERS)
            .map(|number| {
                let league = format!("league_{number}").parse().expect("a name");
                runtime.spawn(append(Arc::clone(&journal), league, together))
            })
            .collect();
        for appender in appenders {
            runtime.block_on(appender).expect("an appender");
        }
    });
    let reading = measured(|| runtime.block_on(read_all(&*journal)));
    (spent, reading)
}

/// Every league after the other, whose rows are far apart.
async fn read_all(journal: &dyn Journal) {
    for league in journal.leagues().await.expect("a disk that works") {
        let mut position = Head::genesis(&league);
        while position.seq.get() < ROWS_EACH {
            let page = journal.read(&league, position, 2048).await.expect("an intact journal");
            position = page.last().expect("more rows").head();
        }
    }
}

async fn append(journal: Arc<dyn Journal>, league: LeagueId, together: u64) {
    let mut head = Head::genesis(&league);
    for _ in 0..ROWS_EACH / together {
        let batch = Batch::of((0..together).map(|_| vec![7; ROW_BYTES]).collect());
        head = journal.append(&league, head.seq, batch).await.expect("space on the disk");
    }
}

fn fresh(name: &str) -> PathBuf {
    let disk = env::var_os("LEAGUE_BENCH_DIRECTORY").map(PathBuf::from);
    let disk = disk.unwrap_or_else(|| env!("CARGO_TARGET_TMPDIR").into());
    let directory = disk.join(format!("bench-{name}"));
    let _ = fs::remove_dir_all(&directory);
    directory
}

fn rate(spent: Duration) -> f64 {
    ROWS as f64 / spent.as_secs_f64()
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
fn measured(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}
