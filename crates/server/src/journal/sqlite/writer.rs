//! The appenders' side of writing: what is prepared before the queue, and how answers come back.
//! The thread at the other end is in `clerk.rs`.

use std::io;
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::vec::IntoIter;

use league_core::id::LeagueId;
use tokio::runtime::{Handle, RuntimeFlavor};

use super::clerk::Clerk;
use super::queue::Queue;
use super::stream::{Stream, Streams};
use super::ticket::{Links, Order, Receipt, Reply, Request, ticket};
use crate::journal::{Batch, JournalError, Outage, Seq};
use crate::limits::{ANSWERS_PORTION, HEADS_CACHED_MAX, WRITER_QUEUE_MAX};

/// The way to the writing thread. Dropping it lets the thread finish what waits and joins it.
pub(super) struct Writer {
    queue: Arc<Queue<Request>>,
    thread: Option<JoinHandle<()>>,
    counter: Arc<Counter>,
    streams: Streams,
}

impl Writer {
    pub(super) fn start(clerk: Clerk, counter: Arc<Counter>) -> io::Result<Self> {
        let queue = Arc::new(Queue::new(WRITER_QUEUE_MAX));
        let receiver = Receiver(Arc::clone(&queue));
        let thread = thread::Builder::new()
            .name("journal-writer".to_owned())
            .spawn(move || clerk.run(&receiver.0))?;
        let streams = Streams::new(HEADS_CACHED_MAX);
        Ok(Self { queue, thread: Some(thread), counter, streams })
    }

    pub(super) fn append(
        &self,
        league: &LeagueId,
        expected: Seq,
        batch: Batch,
    ) -> impl Future<Output = Reply> + Send + '_ {
        let stream = self.streams.get(league);
        async move {
            let (request, receipt) = self.prepare(stream, expected, batch)?;
            let sent = self.queue.send(request).await;
            sent.map_err(|_| JournalError::Unavailable(Outage::Closed))?;
            receipt.await
        }
    }

    /// Makes a transaction happen soon, if none is about to.
    pub(super) fn nudge(&self, league: &LeagueId) {
        let stream = self.streams.get(league);
        let expected = stream.guess().seq;
        let nothing = self.prepare(stream, expected, Batch::default());
        // Whoever finds no room finds others, who make it happen.
        let _unanswered = nothing.map(|(request, _)| self.queue.try_send(request));
    }

    fn prepare(
        &self,
        stream: Arc<Stream>,
        expected: Seq,
        batch: Batch,
    ) -> Result<(Request, Receipt), JournalError> {
        batch.check()?;
        self.counter.meet_runtime();
        let links = Links::new(stream.guess(), &batch);
        Ok(ticket(Order { stream, expected, batch, links }))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue.close();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was printed there, and whoever waited got no answer.
            let _ = thread.join();
        }
    }
}

/// The queue in the hands of the thread: when it ends, for whatever reason, nobody waits in vain.
struct Receiver(Arc<Queue<Request>>);

impl Drop for Receiver {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

/// Where the writing thread answers.
#[derive(Default)]
pub(super) struct Counter {
    /// A runtime of the appenders.
    runtime: OnceLock<Handle>,
}

impl Counter {
    /// Answers a group whose transaction is durable.
    pub(super) fn answer(&self, group: Vec<Request>, replies: Vec<Reply>) {
        let release = Release { group: group.into_iter(), replies: replies.into_iter() };
        match self.runtime.get() {
            Some(runtime) => drop(runtime.spawn(release.in_portions())),
            None => drop(release),
        }
    }

    /// Only a runtime with threads of its own will do: it works as long as it exists, while one
    /// that runs inside `block_on` may rest and keep other people's answers.
    fn meet_runtime(&self) {
        if self.runtime.get().is_none()
            && let Ok(runtime) = Handle::try_current()
            && runtime.runtime_flavor() == RuntimeFlavor::MultiThread
        {
            // Whichever appender was first is as good.
            let _ = self.runtime.set(runtime);
        }
    }
}

/// Answers that are sent when this is dropped, wherever that happens: a group wakes many tasks,
/// which is much cheaper from inside their runtime, and a runtime that shuts down drops it too.
struct Release {
    group: IntoIter<Request>,
    replies: IntoIter<Reply>,
}

impl Release {
    /// Sends the answers with pauses, so that the first appenders are at work again, on every
    /// thread, before the last are answered.
    async fn in_portions(mut self) {
        while self.send(ANSWERS_PORTION) {
            tokio::task::yield_now().await;
        }
    }

    /// Sends up to `count` answers; `false` if there are no more.
    fn send(&mut self, count: usize) -> bool {
        for (request, reply) in self.group.by_ref().zip(self.replies.by_ref()).take(count) {
            request.answer(reply);
        }
        self.group.len() > 0
    }
}

impl Drop for Release {
    fn drop(&mut self) {
        self.send(usize::MAX);
    }
}
