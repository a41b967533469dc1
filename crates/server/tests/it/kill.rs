//! A writer is killed at any moment; every row that it acknowledged before must be in the journal.
//!
//! The writer is this test binary, started again for the one test that only runs on request.
//! `LEAGUE_LONG=1` kills 200 times, `LEAGUE_SEED` repeats a run.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::{env, fs, io, process};

use league_core::dice::{Dice, SeededDice};
use league_core::id::LeagueId;
use league_server::journal::{Attachment, Batch, Head, Journal, Seq, SqliteJournal};
use sha2::{Digest, Sha256};
use tokio::runtime::Builder;

const DIRECTORY: &str = "LEAGUE_KILL_DIRECTORY";
const WRITERS: usize = 6;
const ACKNOWLEDGED_MAX: u64 = 2000;
/// Every so many rows one has an attachment.
const ATTACHMENT_EVERY: u64 = 5;
/// Kills after which a new directory is begun, so that checking stays short.
const KILLS_EACH: usize = 10;

/// What a writer said it had stored: the payload's hash by league and row.
type Acknowledged = BTreeMap<(LeagueId, Seq), String>;

#[test]
fn what_was_acknowledged_survives_a_kill() {
    let kills = if env::var_os("LEAGUE_LONG").is_some() { 200 } else { 10 };
    let given = env::var("LEAGUE_SEED").ok().map(|seed| seed.parse().unwrap());
    let seed = given.unwrap_or_else(|| RandomState::new().build_hasher().finish());
    println!("LEAGUE_SEED={seed}");
    let mut dice = SeededDice::new(seed);
    let mut rows = 0;
    for round in 0..kills / KILLS_EACH {
        let directory = scratch(round);
        let mut acknowledged = Acknowledged::new();
        for _ in 0..KILLS_EACH {
            let count = 1 + dice.below(ACKNOWLEDGED_MAX);
            let before = acknowledged.len();
            write_and_kill(&directory, count, &mut acknowledged);
            assert!(acknowledged.len() as u64 >= before as u64 + count);
            check(&directory, &acknowledged);
        }
        rows += acknowledged.len();
        fs::remove_dir_all(&directory).unwrap();
    }
    println!("{kills} kills, {rows} acknowledged rows, none lost");
}

/// Starts a writer, kills it after `count` acknowledgements, and adds all that it managed to say.
fn write_and_kill(directory: &Path, count: u64, acknowledged: &mut Acknowledged) {
    let mut writer = Command::new(env::current_exe().unwrap())
        .args(["--exact", "kill::writer", "--nocapture"])
        .env(DIRECTORY, directory)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let said = BufReader::new(writer.stdout.take().unwrap());
    let mut heard = 0;
    for line in said.lines() {
        let line = line.unwrap();
        let Some(words) = line.strip_prefix("stored ") else {
            continue;
        };
        // The last line may be cut in the middle.
        let [league, seq, hash] = words.split(' ').collect::<Vec<_>>()[..] else {
            continue;
        };
        if hash.len() < 64 {
            continue;
        }
        let key = (league.parse().unwrap(), Seq::new(seq.parse().unwrap()));
        let twice = acknowledged.insert(key, hash.to_owned());
        assert_eq!(twice, None, "{line} was acknowledged twice");
        heard += 1;
        if heard == count {
            writer.kill().unwrap();
        }
    }
    writer.wait().unwrap();
}

fn check(directory: &Path, acknowledged: &Acknowledged) {
    let runtime = Builder::new_current_thread().build().unwrap();
    let journal = SqliteJournal::open(directory).unwrap();
    runtime.block_on(async {
        let mut stored = Acknowledged::new();
        for league in journal.leagues().await.unwrap() {
            let mut position = Head::genesis(&league);
            loop {
                let page = journal.read(&league, position, 1000).await.unwrap();
                let Some(last) = page.last() else {
                    break;
                };
                position = last.head();
                for row in page {
                    assert_eq!(row.bytes, payload(&league, row.seq));
                    stored.insert((league.clone(), row.seq), hex(&row.bytes));
                }
            }
            assert_eq!(journal.head(&league).await.unwrap(), Some(position));
        }
        for (key, hash) in acknowledged {
            assert_eq!(stored.get(key), Some(hash), "{} row {}", key.0, key.1);
        }
        for (league, seq) in stored.keys().filter(|(_, seq)| has_attachment(*seq)) {
            let beside = journal.attachment(league, *seq).await.unwrap();
            let beside = beside.expect("stored in the same transaction");
            assert_eq!(beside.bytes, payload(league, *seq));
        }
    });
}

/// Not a test: what the kill test starts in a process of its own. Run as a test it does nothing.
#[test]
fn writer() {
    let Some(directory) = env::var_os(DIRECTORY) else {
        return;
    };
    let journal: Arc<dyn Journal> = Arc::new(SqliteJournal::open(Path::new(&directory)).unwrap());
    // The test runner has begun a line.
    io::stdout().write_all(b"\n").unwrap();
    let runtime = Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let writers: Vec<_> = (0..WRITERS)
        .map(|number| runtime.spawn(write_for_ever(Arc::clone(&journal), number)))
        .collect();
    for writer in writers {
        runtime.block_on(writer).unwrap();
    }
}

async fn write_for_ever(journal: Arc<dyn Journal>, number: usize) {
    let league: LeagueId = format!("league_{number}").parse().unwrap();
    let head = journal.head(&league).await.unwrap();
    let mut head = head.unwrap_or_else(|| Head::genesis(&league));
    for turn in 0.. {
        let first = head.seq.next().get();
        let numbers: Vec<_> = (first..=first + turn % 3).map(Seq::new).collect();
        let rows = numbers.iter().map(|seq| payload(&league, *seq)).collect();
        let mut batch = Batch::of(rows);
        for (row, seq) in numbers.iter().enumerate().filter(|(_, seq)| has_attachment(**seq)) {
            let bytes = payload(&league, *seq);
            batch.attachments.push(Attachment { row, hash: [0; 32], bytes });
        }
        head = journal.append(&league, head.seq, batch).await.unwrap();
        for seq in numbers {
            let line = format!("stored {league} {seq} {}\n", hex(&payload(&league, seq)));
            // A parent that has heard enough may be gone by now.
            let mut out = io::stdout().lock();
            if out.write_all(line.as_bytes()).and_then(|()| out.flush()).is_err() {
                process::abort();
            }
        }
    }
}

/// The bytes that row `seq` must have: of differing length, and nowhere the same.
fn payload(league: &LeagueId, seq: Seq) -> Vec<u8> {
    let text = format!("{league} {seq} ");
    let length = 50 + (seq.get() * 37 % 400) as usize;
    text.bytes().cycle().take(length).collect()
}

fn has_attachment(seq: Seq) -> bool {
    seq.get().is_multiple_of(ATTACHMENT_EVERY)
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn scratch(round: usize) -> PathBuf {
    let name = format!("kill-{}-{round}", process::id());
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&directory);
    directory
}
