//! The mailbox of one pull player: who calls waits here for the answer, the player waits here for
//! calls. Idle it is a few words of memory.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use league_agent::ambient;
use league_agent::guard::lock;
use league_core::time::Timestamp;
use tokio::sync::Notify;

use super::turns::{Call, Full, Given, Reply, Settled, Turns};
use crate::limits::AGAIN_PAUSE;

/// The mailbox of one pull player.
#[derive(Debug, Default)]
pub struct Mailbox {
    turns: Mutex<Turns>,
    /// Something has come, or somebody else polls.
    changed: Notify,
    /// The player polls after it was away.
    returned: Notify,
    /// The number of the latest poll.
    latest_poll: AtomicU64,
    closed: AtomicBool,
}

/// What a poll brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Polled {
    /// These turns; none if nothing came in the time.
    Turns(Vec<Given>),
    /// Somebody else has begun to poll this mailbox.
    TakenOver,
    /// The mailbox is closed: the manager is stopping, or the player has no place here any more.
    Closed,
}

/// Why a call was not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unanswered {
    /// There is no room for it.
    #[error(transparent)]
    Full(#[from] Full),
    /// The player has not answered in time.
    #[error("no answer within {0:?}")]
    Silent(Duration),
    /// The mailbox was closed.
    #[error("the manager is stopping")]
    Closed,
}

impl Mailbox {
    /// A mailbox of a manager whose turns come after `began`.
    pub(super) fn after(began: u64) -> Self {
        Self { turns: Mutex::new(Turns::from(began + 1)), ..Self::default() }
    }

    /// Waits for turns after `after`: at most `wait`, and not at all if there are some that were
    /// never given. Turns that were given and not answered are given again, unhurriedly; those
    /// that need no answer only to whoever names a turn before them. The latest poll counts; an
    /// earlier one that still waits ends.
    pub async fn next(&self, after: Option<u64>, wait: Duration) -> Polled {
        let number = self.latest_poll.fetch_add(1, Ordering::Relaxed) + 1;
        let _polling = self.begin(after);
        let deadline = ambient::now() + wait;
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            if self.closed.load(Ordering::Relaxed) {
                return Polled::Closed;
            }
            if self.latest_poll.load(Ordering::Relaxed) != number {
                return Polled::TakenOver;
            }
            let left = deadline.since(ambient::now());
            let (is_due, pause) = {
                let turns = lock(&self.turns);
                let is_due = turns.has_news(after) || left.is_zero();
                (is_due, if turns.has_any(after) { left.min(AGAIN_PAUSE) } else { left })
            };
            if is_due {
                return Polled::Turns(lock(&self.turns).give(after));
            }
            let is_over = tokio::time::timeout(pause, changed).await.is_err();
            if is_over && self.latest_poll.load(Ordering::Relaxed) == number {
                return Polled::Turns(lock(&self.turns).give(after));
            }
        }
    }

    /// Everything that waits at present.
    pub(super) fn waiting(&self) -> Vec<Given> {
        lock(&self.turns).look()
    }

    /// Answers a turn with the JSON-RPC response in `body`. Doing it twice does no harm.
    pub fn answer(&self, turn: u64, body: Bytes) -> Settled {
        lock(&self.turns).settle(turn, body)
    }

    /// Puts `call` in as the turn with the next `number` and waits at most `wait` for what becomes
    /// of it.
    pub(super) async fn call(
        &self,
        number: impl FnOnce() -> u64,
        call: Call,
        wait: Duration,
    ) -> Result<Reply, Unanswered> {
        if self.closed.load(Ordering::Relaxed) {
            return Err(Unanswered::Closed);
        }
        let reply = {
            let mut turns = lock(&self.turns);
            turns.put(ambient::now(), number(), call)?
        };
        self.changed.notify_waiters();
        match tokio::time::timeout(wait, reply).await {
            Ok(Ok(reply)) => Ok(reply?),
            Ok(Err(_)) => Err(Unanswered::Closed),
            Err(_) => Err(Unanswered::Silent(wait)),
        }
    }

    /// Whether the player polls, or did within the last minute.
    pub fn is_present(&self) -> bool {
        lock(&self.turns).is_present(ambient::now())
    }

    /// The manager has just started: the player may well be about to poll again.
    pub(in crate::manager) fn presume(&self) {
        lock(&self.turns).presume(ambient::now());
    }

    /// When the player last polled; now if it does.
    pub fn last_poll(&self) -> Option<Timestamp> {
        lock(&self.turns).last_poll(ambient::now())
    }

    /// Comes back when the player polls after it was away.
    pub(in crate::manager) async fn returned(&self) {
        self.returned.notified().await;
    }

    /// Sends everybody away who waits here.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        lock(&self.turns).clear();
        self.changed.notify_waiters();
    }

    fn begin(&self, after: Option<u64>) -> Polling<'_> {
        let now = ambient::now();
        let was_away = {
            let mut turns = lock(&self.turns);
            let was_away = !turns.is_present(now);
            turns.begin_poll(now, after);
            was_away
        };
        if was_away {
            self.returned.notify_one();
        }
        // An earlier poll ends.
        self.changed.notify_waiters();
        Polling(self)
    }
}

/// A poll that is under way; whoever hangs up has ended it.
struct Polling<'a>(&'a Mailbox);

impl Drop for Polling<'_> {
    fn drop(&mut self) {
        lock(&self.0.turns).end_poll(ambient::now());
    }
}
