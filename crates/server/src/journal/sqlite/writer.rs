//! The appenders' side of writing: what is prepared before the queue, and how answers come back.
//! The thread at the other end is in `clerk.rs`.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};

use league_core::id::LeagueId;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::oneshot;

use super::clerk::Clerk;
use super::queue::Queue;
use super::stream::{Stream, Streams};
use crate::journal::{Batch, Head, JournalError, Outage, Seq};
use crate::limits::{ANSWERS_PORTION, HEADS_CACHED_MAX, WRITER_QUEUE_MAX};

/// What an appender hears in the end.
pub(super) type Reply = Result<Head, JournalError>;

/// The way to the writing thread. Dropping it lets the thread finish what waits and joins it.
pub(super) struct Writer {
    queue: Arc<Queue<Request>>,
    thread: Option<JoinHandle<()>>,
    counter: Arc<Counter>,
    streams: Streams,
}

/// An append that waits for its transaction.
pub(super) struct Request {
    pub(super) stream: Arc<Stream>,
    pub(super) expected: Seq,
    pub(super) batch: Batch,
    pub(super) links: Links,
    reply: oneshot::Sender<Reply>,
}

/// The chain through a batch, hashed before the queue: the writer need not do it if `before` turns
/// out to be what comes before the batch.
pub(super) struct Links {
    pub(super) before: Head,
    /// Apart from the others, because most batches have one row.
    first: Option<Head>,
    others: Vec<Head>,
}

impl Links {
    pub(super) fn new(before: Head, batch: &Batch) -> Self {
        let mut links = batch.rows.iter().scan(before, |head, bytes| {
            *head = head.extend(bytes);
            Some(*head)
        });
        Self { before, first: links.next(), others: links.collect() }
    }

    /// The positions at the rows of the batch.
    pub(super) fn after(&self) -> impl Iterator<Item = &Head> {
        self.first.iter().chain(&self.others)
    }
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
            batch.check()?;
            let closed = || JournalError::Unavailable(Outage::Closed);
            self.counter.meet_runtime();
            let links = Links::new(stream.guess(), &batch);
            let (reply, answer) = oneshot::channel();
            let request = Request { stream, expected, batch, links, reply };
            self.queue.send(request).await.map_err(|_| closed())?;
            answer.await.map_err(|_| closed())?
        }
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
        let release = Release(group.into_iter().zip(replies).collect());
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
struct Release(VecDeque<(Request, Reply)>);

impl Release {
    /// Sends the answers with pauses, so that the first appenders are at work again, on every
    /// thread, before the last are answered.
    async fn in_portions(mut self) {
        while !self.0.is_empty() {
            for (request, reply) in self.0.drain(..ANSWERS_PORTION.min(self.0.len())) {
                answer(request, reply);
            }
            tokio::task::yield_now().await;
        }
    }
}

impl Drop for Release {
    fn drop(&mut self) {
        for (request, reply) in self.0.drain(..) {
            answer(request, reply);
        }
    }
}

fn answer(request: Request, reply: Reply) {
    // An appender that stopped waiting finds its rows by reading.
    let _ = request.reply.send(reply);
}
