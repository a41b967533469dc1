//! Awaiting the rows that come next. Only numbers are passed on: a follower reads the rows from the
//! journal itself, so that one who lags catches up by pages and never misses any.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use league_core::id::LeagueId;
use tokio::sync::watch;

use super::chain::{Head, Row, Seq};
use super::error::{JournalError, Outage};
use super::{Answer, Journal};

/// A view of a league's last row that can be awaited.
#[derive(Debug, Clone)]
pub struct Tail {
    head: watch::Receiver<Seq>,
}

impl Tail {
    /// Waits until there is a row after `seq` and returns the number of the last row.
    ///
    /// # Errors
    /// `Unavailable` when the journal is closed.
    pub async fn beyond(&mut self, seq: Seq) -> Result<Seq, JournalError> {
        let head = self.head.wait_for(|head| *head > seq).await;
        head.map(|head| *head).map_err(|_| JournalError::Unavailable(Outage::Closed))
    }
}

/// Reads a league from a position on, for ever.
pub struct Follower {
    journal: Arc<dyn Journal>,
    league: LeagueId,
    position: Head,
    tail: Tail,
}

impl Follower {
    /// Follows `league` from `position`: [`Head::genesis`] for everything.
    ///
    /// # Errors
    /// Those of [`Journal::tail`].
    pub async fn start(
        journal: Arc<dyn Journal>,
        league: LeagueId,
        position: Head,
    ) -> Result<Self, JournalError> {
        let tail = journal.tail(&league).await?;
        Ok(Self { journal, league, position, tail })
    }

    /// The next rows, at least one and at most `rows_max`; waits if there are none yet. Giving up
    /// the wait loses nothing.
    ///
    /// # Errors
    /// Those of [`Journal::read`], and `Unavailable` when the journal is closed.
    pub async fn next(&mut self, rows_max: usize) -> Result<Vec<Row>, JournalError> {
        loop {
            let read = self.journal.read(&self.league, self.position, rows_max);
            let rows = read.await?;
            if let Some(last) = rows.last() {
                self.position = last.head();
                return Ok(rows);
            }
            self.tail.beyond(self.position.seq).await?;
        }
    }

    /// The last row that was handed out.
    pub const fn position(&self) -> Head {
        self.position
    }
}

/// The leagues that somebody follows.
#[derive(Default)]
pub(crate) struct Tails {
    followed: Mutex<BTreeMap<LeagueId, watch::Sender<Seq>>>,
}

impl Tails {
    /// A tail that hears of every row published from here on. Whoever subscribes must raise the
    /// head with [`Self::publish`] to what was stored before.
    pub(crate) fn subscribe(&self, league: &LeagueId) -> Tail {
        let mut followed = self.lock();
        let sender =
            followed.entry(league.clone()).or_insert_with(|| watch::Sender::new(Seq::START));
        Tail { head: sender.subscribe() }
    }

    /// Tells the followers that `seq` is durable.
    pub(crate) fn publish(&self, league: &LeagueId, seq: Seq) {
        self.publish_all(std::iter::once((league, seq)));
    }

    /// The same for several leagues. Late news about an earlier row change nothing.
    pub(crate) fn publish_all<'a>(&self, heads: impl Iterator<Item = (&'a LeagueId, Seq)>) {
        let mut followed = self.lock();
        for (league, seq) in heads {
            if followed.is_empty() {
                return;
            }
            let Some(sender) = followed.get(league) else {
                continue;
            };
            if sender.receiver_count() == 0 {
                followed.remove(league);
                continue;
            }
            sender.send_if_modified(|head| {
                let later = seq > *head;
                *head = seq.max(*head);
                later
            });
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<LeagueId, watch::Sender<Seq>>> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A tail that is subscribed before the head is read, so that no row falls in between.
pub(crate) fn subscribed<'a>(
    tails: &'a Tails,
    league: &LeagueId,
    head: Answer<'a, Option<Head>>,
) -> Answer<'a, Tail> {
    let tail = tails.subscribe(league);
    let league = league.clone();
    Box::pin(async move {
        if let Some(head) = head.await? {
            tails.publish(&league, head.seq);
        }
        Ok(tail)
    })
}
