//! The test suite that every journal must pass: `contract!(backend)` in the tests of a journal runs
//! all of it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use league_core::id::LeagueId;

use super::error::Oversize;
use super::{
    Attachment, Batch, Damage, Follower, Head, Journal, JournalError, Outage, Row, Seq,
    StoredAttachment,
};
use crate::limits::{
    ATTACHMENT_BYTES_MAX, BATCH_BYTES_MAX, BATCH_ROWS_MAX, PAGE_BYTES_MAX, ROW_BYTES_MAX,
};

/// A place where journals are kept.
pub(super) trait Backend {
    /// The journal of this place. When the last one is dropped and another one opened, the rows
    /// are still there.
    fn open(&self) -> Arc<dyn Journal>;

    /// Flips a bit of a stored row.
    fn damage(&self, league: &LeagueId, seq: Seq);
}

macro_rules! contract {
    ($backend:expr) => {
        crate::journal::contract::contract!(
            $backend,
            appended_rows_are_read_back,
            leagues_are_apart,
            a_stale_writer_is_refused_and_leaves_nothing,
            a_batch_over_a_limit_is_refused_whole,
            rows_outlive_the_journal_that_wrote_them,
            racing_writers_leave_no_gap_and_no_double,
            appenders_who_give_up_keep_their_rows_and_hurt_nobody,
            a_reader_far_behind_catches_up_by_pages_and_then_waits,
            a_tail_knows_the_rows_from_before,
            a_tail_ends_when_the_journal_is_closed,
            a_page_of_long_rows_is_short,
            a_damaged_row_is_named,
            a_reader_who_has_seen_another_past_is_told,
            reading_may_start_in_the_middle,
            attachments_are_kept_beside_their_rows,
            an_empty_batch_only_compares,
        );
    };
    ($backend:expr, $($name:ident,)+) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                crate::journal::contract::$name(&$backend).await;
            }
        )+
    };
}
pub(super) use contract;

pub(super) fn league(name: &str) -> LeagueId {
    name.parse().unwrap()
}

pub(super) fn batch(rows: &[&str]) -> Batch {
    Batch::of(rows.iter().map(|row| row.as_bytes().to_vec()).collect())
}

/// The whole stream, read by small pages.
pub(super) async fn all(journal: &dyn Journal, league: &LeagueId) -> Vec<Row> {
    let mut position = Head::genesis(league);
    let mut rows = Vec::new();
    loop {
        let page = journal.read(league, position, 7).await.unwrap();
        let Some(last) = page.last() else {
            return rows;
        };
        position = last.head();
        rows.extend(page);
    }
}

fn texts(rows: &[Row]) -> Vec<&str> {
    rows.iter().map(|row| std::str::from_utf8(&row.bytes).unwrap()).collect()
}

pub(super) async fn appended_rows_are_read_back(backend: &impl Backend) {
    let (journal, league) = (backend.open(), league("a"));
    assert_eq!(journal.head(&league).await, Ok(None));
    assert_eq!(all(&*journal, &league).await, []);

    let first = journal.append(&league, Seq::START, batch(&["one", "two"]));
    let first = first.await.unwrap();
    let second = journal.append(&league, first.seq, batch(&["", "four"]));
    let second = second.await.unwrap();

    let rows = all(&*journal, &league).await;
    assert_eq!(texts(&rows), ["one", "two", "", "four"]);
    let numbers: Vec<_> = rows.iter().map(|row| row.seq.get()).collect();
    assert_eq!(numbers, [1, 2, 3, 4]);
    assert_eq!((rows[1].head(), rows[3].head()), (first, second));
    assert_eq!(journal.head(&league).await, Ok(Some(second)));
    let computed = Head::genesis(&league).extend(b"one").extend(b"two");
    assert_eq!(first, computed);
}

pub(super) async fn leagues_are_apart(backend: &impl Backend) {
    let (journal, a, b) = (backend.open(), league("a"), league("b"));
    assert_eq!(journal.leagues().await, Ok(vec![]));
    journal.append(&b, Seq::START, batch(&["b1"])).await.unwrap();
    assert_eq!(journal.leagues().await, Ok(vec![b.clone()]));
    journal.append(&a, Seq::START, batch(&["a1", "a2"])).await.unwrap();
    assert_eq!(journal.leagues().await, Ok(vec![a.clone(), b.clone()]));
    assert_eq!(texts(&all(&*journal, &a).await), ["a1", "a2"]);
    assert_eq!(texts(&all(&*journal, &b).await), ["b1"]);
}

pub(super) async fn a_stale_writer_is_refused_and_leaves_nothing(backend: &impl Backend) {
    let (journal, league) = (backend.open(), league("a"));
    let written = batch(&["one", "two"]);
    journal.append(&league, Seq::START, written).await.unwrap();
    for expected in [0, 1, 3] {
        let mut late = batch(&["late", "later"]);
        late.attachments.push(Attachment { row: 0, hash: [1; 32], bytes: b"beside".to_vec() });
        let answer = journal.append(&league, Seq::new(expected), late).await;
        let conflict = JournalError::Conflict { expected: Seq::new(expected), actual: Seq::new(2) };
        assert_eq!(answer, Err(conflict));
    }
    assert_eq!(texts(&all(&*journal, &league).await), ["one", "two"]);
    for seq in 1..=4 {
        assert_eq!(journal.attachment(&league, Seq::new(seq)).await, Ok(None));
    }
}

pub(super) async fn a_batch_over_a_limit_is_refused_whole(backend: &impl Backend) {
    let (journal, league) = (backend.open(), league("a"));
    let beside = |bytes| Attachment { row: 0, hash: [0; 32], bytes: vec![0; bytes] };
    let mut heavy = batch(&["small"]);
    heavy.attachments.push(beside(ATTACHMENT_BYTES_MAX + 1));
    let wide = vec![vec![0; ROW_BYTES_MAX]; BATCH_BYTES_MAX / ROW_BYTES_MAX + 1];
    let cases = [
        (Batch::of(vec![vec![]; BATCH_ROWS_MAX + 1]), Oversize::Rows),
        (Batch::of(vec![vec![], vec![0; ROW_BYTES_MAX + 1]]), Oversize::RowBytes),
        (heavy, Oversize::AttachmentBytes),
        (Batch::of(wide), Oversize::BatchBytes),
    ];
    for (case, expected) in cases {
        match journal.append(&league, Seq::START, case).await {
            Err(JournalError::TooLarge { what, got, max }) => {
                assert_eq!(what, expected);
                assert!(got > max);
            }
            other => panic!("{expected:?}: {other:?}"),
        }
    }
    assert_eq!(journal.head(&league).await, Ok(None));

    let mut just = Batch::of(vec![vec![7; ROW_BYTES_MAX]]);
    just.attachments.push(beside(ATTACHMENT_BYTES_MAX));
    let head = journal.append(&league, Seq::START, just).await.unwrap();
    let many = Batch::of(vec![vec![]; BATCH_ROWS_MAX]);
    let head = journal.append(&league, head.seq, many).await.unwrap();
    assert_eq!(head.seq.get(), 1 + BATCH_ROWS_MAX as u64);
}

pub(super) async fn rows_outlive_the_journal_that_wrote_them(backend: &impl Backend) {
    let league = league("a");
    let mut expected = Seq::START;
    for round in 0..3 {
        let journal = backend.open();
        let text = format!("round {round}");
        let head = journal.append(&league, expected, batch(&[&text])).await;
        expected = head.unwrap().seq;
    }
    let journal = backend.open();
    let rows = all(&*journal, &league).await;
    assert_eq!(texts(&rows), ["round 0", "round 1", "round 2"]);
}

pub(super) async fn racing_writers_leave_no_gap_and_no_double(backend: &impl Backend) {
    const WRITERS: usize = 6;
    const APPENDS: usize = 25;
    let journal = backend.open();
    let leagues = ["a", "b", "c"].map(league);
    let mut tasks = Vec::new();
    for league in &leagues {
        for writer in 0..WRITERS {
            let (journal, league) = (Arc::clone(&journal), league.clone());
            tasks.push(tokio::spawn(async move {
                for n in 0..APPENDS {
                    let text = format!("{writer}:{n}");
                    append_somewhere(&*journal, &league, &[&text, "and"]).await;
                }
            }));
        }
    }
    for task in tasks {
        task.await.unwrap();
    }
    for league in &leagues {
        let rows = all(&*journal, league).await;
        assert_eq!(rows.len(), 2 * WRITERS * APPENDS);
        let pairs: Vec<_> = rows.chunks(2).map(texts).collect();
        assert!(pairs.iter().all(|pair| pair[1] == "and"), "torn batch");
        let distinct: BTreeSet<_> = pairs.iter().map(|pair| pair[0]).collect();
        assert_eq!(distinct.len(), WRITERS * APPENDS);
        for writer in 0..WRITERS {
            let own = pairs.iter().filter_map(|pair| {
                let (who, n) = pair[0].split_once(':').unwrap();
                (who == writer.to_string()).then(|| n.parse::<usize>().unwrap())
            });
            assert!(own.eq(0..APPENDS), "order of writer {writer}");
        }
    }
}

async fn append_somewhere(journal: &dyn Journal, league: &LeagueId, rows: &[&str]) {
    let mut expected = Seq::START;
    loop {
        match journal.append(league, expected, batch(rows)).await {
            Ok(_) => return,
            Err(JournalError::Conflict { actual, .. }) => expected = actual,
            Err(other) => panic!("{other}"),
        }
    }
}

pub(super) async fn appenders_who_give_up_keep_their_rows_and_hurt_nobody(backend: &impl Backend) {
    let journal = backend.open();
    let leagues: Vec<_> = (0..64).map(|number| league(&format!("league_{number}"))).collect();
    for round in 0..8 {
        let expected = Seq::new(round);
        let mut waiting = Vec::new();
        for (number, league) in leagues.iter().enumerate() {
            let mut answer = journal.append(league, expected, batch(&[league.as_str()]));
            match answer.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(head) => assert_eq!(head.unwrap().seq, expected.next()),
                // It is dropped, with its row on the way.
                Poll::Pending if number % 2 == 0 => {}
                Poll::Pending => waiting.push(answer),
            }
        }
        for answer in waiting {
            assert_eq!(answer.await.unwrap().seq, expected.next());
        }
        for league in &leagues {
            let mut tail = journal.tail(league).await.unwrap();
            assert_eq!(tail.beyond(expected).await, Ok(expected.next()));
        }
    }
    for league in &leagues {
        assert_eq!(texts(&all(&*journal, league).await), [league.as_str(); 8]);
    }
}

pub(super) async fn a_reader_far_behind_catches_up_by_pages_and_then_waits(backend: &impl Backend) {
    let (journal, league) = (backend.open(), league("a"));
    let old: Vec<_> = (0..500u32).map(|n| n.to_string()).collect();
    let old: Vec<_> = old.iter().map(String::as_str).collect();
    let mut head = Head::genesis(&league);
    for rows in old.chunks(50) {
        head = journal.append(&league, head.seq, batch(rows)).await.unwrap();
    }
    let start = Head::genesis(&league);
    let mut follower = Follower::start(Arc::clone(&journal), league.clone(), start).await.unwrap();
    let reader = tokio::spawn(async move {
        let mut rows = Vec::new();
        while rows.len() < 600 {
            let page = follower.next(64).await.unwrap();
            assert!(!page.is_empty() && page.len() <= 64);
            rows.extend(page);
        }
        (rows, follower.position())
    });
    for n in 500..600 {
        let text = n.to_string();
        head = journal.append(&league, head.seq, batch(&[&text])).await.unwrap();
    }
    let (rows, position) = reader.await.unwrap();
    let expected: Vec<_> = (0..600).map(|n: u32| n.to_string()).collect();
    assert_eq!(texts(&rows), expected);
    assert_eq!(position, head);
}

pub(super) async fn a_tail_knows_the_rows_from_before(backend: &impl Backend) {
    let (journal, league) = (backend.open(), league("a"));
    let mut early = journal.tail(&league).await.unwrap();
    let head = journal.append(&league, Seq::START, batch(&["one", "two"])).await.unwrap();
    assert_eq!(early.beyond(Seq::START).await, Ok(head.seq));
    let mut late = journal.tail(&league).await.unwrap();
    assert_eq!(late.beyond(Seq::new(1)).await, Ok(head.seq));

    let waiting = tokio::spawn(async move { late.beyond(Seq::new(2)).await });
    journal.append(&league, head.seq, batch(&["three"])).await.unwrap();
    assert_eq!(waiting.await.unwrap(), Ok(Seq::new(3)));
    assert_eq!(early.beyond(Seq::new(2)).await, Ok(Seq::new(3)));
}

pub(super) async fn a_tail_ends_when_the_journal_is_closed(backend: &impl Backend) {
    let journal = backend.open();
    let mut tail = journal.tail(&league("a")).await.unwrap();
    drop(journal);
    let closed = JournalError::Unavailable(Outage::Closed);
    assert_eq!(tail.beyond(Seq::START).await, Err(closed));
}

pub(super) async fn a_page_of_long_rows_is_short(backend: &impl Backend) {
    let (journal, league) = (backend.open(), league("a"));
    let rows = vec![vec![1; PAGE_BYTES_MAX / 2]; 5];
    let batch = Batch::of(rows);
    journal.append(&league, Seq::START, batch).await.unwrap();
    let mut position = Head::genesis(&league);
    let mut lengths = Vec::new();
    loop {
        let page = journal.read(&league, position, 100).await.unwrap();
        let Some(last) = page.last() else {
            break;
        };
        position = last.head();
        lengths.push(page.len());
    }
    assert_eq!(lengths, [2, 2, 1]);
}

pub(super) async fn a_damaged_row_is_named(backend: &impl Backend) {
    let league = league("a");
    let journal = backend.open();
    let rows = batch(&["one", "two", "three", "four"]);
    journal.append(&league, Seq::START, rows).await.unwrap();
    backend.damage(&league, Seq::new(3));

    let start = Head::genesis(&league);
    match journal.read(&league, start, 10).await {
        Err(JournalError::Corrupt {
            league: named,
            seq,
            detail: Damage::HashDiffers { stored, computed },
        }) => {
            assert_eq!((named, seq), (league.clone(), Seq::new(3)));
            assert_ne!(stored, computed);
        }
        other => panic!("{other:?}"),
    }
    let before = journal.read(&league, start, 2).await.unwrap();
    assert_eq!(texts(&before), ["one", "two"]);
}

pub(super) async fn a_reader_who_has_seen_another_past_is_told(backend: &impl Backend) {
    let (journal, league) = (backend.open(), league("a"));
    let rows = batch(&["one", "two"]);
    let head = journal.append(&league, Seq::START, rows).await.unwrap();
    let other = Head::genesis(&league).extend(b"one").extend(b"other");
    let corrupt = |seq, detail| Err(JournalError::Corrupt { league: league.clone(), seq, detail });
    let differs = Damage::PositionDiffers { stored: head.hash, seen: other.hash };
    let answer = journal.read(&league, other, 10).await;
    assert_eq!(answer, corrupt(other.seq, differs));
    let lost = head.extend(b"lost");
    let answer = journal.read(&league, lost, 10).await;
    assert_eq!(answer, corrupt(lost.seq, Damage::Missing));
}

pub(super) async fn reading_may_start_in_the_middle(backend: &impl Backend) {
    let (journal, league) = (backend.open(), league("a"));
    let rows = batch(&["one", "two", "three"]);
    let head = journal.append(&league, Seq::START, rows).await.unwrap();
    let start = journal.position(&league, Seq::START).await;
    assert_eq!(start, Ok(Some(Head::genesis(&league))));
    let middle = journal.position(&league, Seq::new(2)).await;
    let middle = middle.unwrap().expect("row 2 is there");
    let page = journal.read(&league, middle, 10).await.unwrap();
    assert_eq!(texts(&page), ["three"]);
    assert_eq!(page[0].head(), head);
    let beyond = journal.position(&league, Seq::new(4)).await;
    assert_eq!(beyond, Ok(None));
}

pub(super) async fn attachments_are_kept_beside_their_rows(backend: &impl Backend) {
    let (journal, league) = (backend.open(), league("a"));
    let beside = |row, byte| Attachment { row, hash: [byte; 32], bytes: vec![byte; 1000] };
    let plain = batch(&["one"]);
    let head = journal.append(&league, Seq::START, plain).await.unwrap();
    let mut batch = batch(&["two", "three", "four"]);
    batch.attachments = vec![beside(2, 4), beside(0, 2)];
    let with = journal.append(&league, head.seq, batch).await.unwrap();

    for (seq, byte) in [(1, None), (2, Some(2)), (3, None), (4, Some(4)), (5, None)] {
        let stored = journal.attachment(&league, Seq::new(seq)).await.unwrap();
        let expected =
            byte.map(|byte| StoredAttachment { hash: [byte; 32], bytes: vec![byte; 1000] });
        assert_eq!(stored, expected, "row {seq}");
    }
    let chain = head.extend(b"two").extend(b"three").extend(b"four");
    assert_eq!(with, chain, "attachments are not part of the chain");
}

pub(super) async fn an_empty_batch_only_compares(backend: &impl Backend) {
    let (journal, league) = (backend.open(), league("a"));
    let answer = journal.append(&league, Seq::START, Batch::default()).await;
    assert_eq!(answer, Ok(Head::genesis(&league)));
    assert_eq!(journal.leagues().await, Ok(vec![]));
    let head = journal.append(&league, Seq::START, batch(&["one"])).await.unwrap();
    let same = journal.append(&league, head.seq, Batch::default()).await;
    assert_eq!(same, Ok(head));
    let stale = journal.append(&league, Seq::START, Batch::default()).await;
    assert!(matches!(stale, Err(JournalError::Conflict { .. })));
}
