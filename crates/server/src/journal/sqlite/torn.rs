//! Files as a crash may leave them: the write-ahead log cut off or garbled anywhere must give back
//! a prefix of what was acknowledged, with an intact chain.

use std::fs;
use std::sync::{Arc, Mutex};

use league_core::dice::{Dice, SeededDice};
use league_core::id::LeagueId;

use super::SqliteJournal;
use super::tests::Scratch;
use crate::journal::contract::{Backend, all, league};
use crate::journal::{Batch, Head};

const DATABASE: &str = "league.db";
const LOG: &str = "league.db-wal";

/// The two files as they were at some moment.
struct Copy {
    database: Vec<u8>,
    log: Vec<u8>,
}

impl Copy {
    fn of(scratch: &Scratch) -> Self {
        let read = |name| fs::read(scratch.0.join(name)).unwrap();
        Self { database: read(DATABASE), log: read(LOG) }
    }

    /// A new directory with these files, whose log is `log` instead.
    fn place(&self, log: &[u8]) -> Scratch {
        let scratch = Scratch::new();
        fs::create_dir_all(&scratch.0).unwrap();
        fs::write(scratch.0.join(DATABASE), &self.database).unwrap();
        fs::write(scratch.0.join(LOG), log).unwrap();
        scratch
    }
}

#[tokio::test]
async fn a_log_cut_anywhere_gives_back_a_prefix() {
    let (copy, acknowledged) = written().await;
    let mut dice = SeededDice::new(7);
    let length = copy.log.len();
    let mut cuts: Vec<_> = (0..40).map(|_| dice.below(length as u64) as usize).collect();
    cuts.extend([0, 1, 31, 32, 33, length - 1, length]);
    cuts.sort_unstable();
    let mut last = 0;
    for cut in cuts {
        let rows = recovered(&copy.place(&copy.log[..cut]), &acknowledged).await;
        assert!(rows >= last, "a longer log has fewer rows: {rows} after {last}");
        last = rows;
    }
    assert_eq!(last, acknowledged.len());
}

#[tokio::test]
async fn a_log_with_a_flipped_bit_gives_back_a_prefix() {
    let (copy, acknowledged) = written().await;
    let mut dice = SeededDice::new(8);
    let mut fewest = acknowledged.len();
    for _ in 0..30 {
        let mut log = copy.log.clone();
        let at = dice.below(log.len() as u64) as usize;
        log[at] ^= 1 << dice.below(8);
        fewest = fewest.min(recovered(&copy.place(&log), &acknowledged).await);
    }
    assert!(fewest < acknowledged.len(), "no flipped bit was noticed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_taken_while_rows_are_written_has_all_that_were_acknowledged() {
    let scratch = Scratch::new();
    let journal = scratch.open();
    let heads = Arc::new(Mutex::new([(); 4].map(|()| None::<Head>)));
    let tasks: Vec<_> = (0..4)
        .map(|number| {
            let (journal, heads) = (Arc::clone(&journal), Arc::clone(&heads));
            tokio::spawn(async move {
                let league = named(number);
                let mut head = Head::genesis(&league);
                for n in 0..150 {
                    let row = format!("{number}:{n}").into_bytes();
                    head = journal.append(&league, head.seq, Batch::of(vec![row])).await.unwrap();
                    heads.lock().unwrap()[number] = Some(head);
                }
            })
        })
        .collect();
    let mut copies = Vec::new();
    while copies.len() < 5 {
        let before = *heads.lock().unwrap();
        copies.push((before, Copy::of(&scratch)));
        tokio::task::yield_now().await;
    }
    for task in tasks {
        task.await.unwrap();
    }
    copies.push((*heads.lock().unwrap(), Copy::of(&scratch)));
    for (before, copy) in copies {
        let copied = copy.place(&copy.log);
        let journal = SqliteJournal::open(&copied.0).unwrap();
        for (number, head) in before.iter().enumerate() {
            let rows = all(&journal, &named(number)).await;
            let Some(head) = head else {
                continue;
            };
            let stored = rows.iter().find(|row| row.seq == head.seq).map(|row| row.hash);
            assert_eq!(stored, Some(head.hash));
        }
    }
}

/// A journal that is still open, seen from outside, and the rows that it acknowledged in order.
async fn written() -> (Copy, Vec<(LeagueId, Head)>) {
    let scratch = Scratch::new();
    let journal = scratch.open();
    let mut heads = [0, 1, 2].map(|number| Head::genesis(&named(number)));
    let mut acknowledged = Vec::new();
    for n in 0..60 {
        let number = n % 3;
        let (league, head) = (named(number), &mut heads[number]);
        let row = format!("row {n}").repeat(1 + n).into_bytes();
        *head = journal.append(&league, head.seq, Batch::of(vec![row])).await.unwrap();
        acknowledged.push((league, *head));
    }
    (Copy::of(&scratch), acknowledged)
}

/// How many of the acknowledged rows are there: the first ones, and no others.
async fn recovered(scratch: &Scratch, acknowledged: &[(LeagueId, Head)]) -> usize {
    let journal = scratch.open();
    let mut found = Vec::new();
    for number in 0..3 {
        let league = named(number);
        let rows = all(&*journal, &league).await;
        found.extend(rows.iter().map(|row| (league.clone(), row.head())));
    }
    let expected = &acknowledged[..found.len()];
    assert!(expected.iter().all(|row| found.contains(row)), "not a prefix");
    found.len()
}

fn named(number: usize) -> LeagueId {
    league(&format!("league_{number}"))
}
