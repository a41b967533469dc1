//! An append on its way: one allocation that the appender and the writing thread share, so that
//! only a pointer travels through the queue and the answer comes back in the same place.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use super::stream::Stream;
use crate::journal::{Batch, Head, JournalError, Outage, Seq};

/// What an appender hears in the end.
pub(super) type Reply = Result<Head, JournalError>;

/// What is to be appended.
pub(super) struct Order {
    pub(super) stream: Arc<Stream>,
    pub(super) expected: Seq,
    pub(super) batch: Batch,
    pub(super) links: Links,
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

struct Shared {
    order: Order,
    answer: Mutex<Slot>,
}

enum Slot {
    /// The appender has not looked yet.
    Empty,
    Awaited(Waker),
    Given(Reply),
    /// The appender has it.
    Taken,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Slot> {
        self.answer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The two ends of an append.
pub(super) fn ticket(order: Order) -> (Request, Receipt) {
    let shared = Arc::new(Shared { order, answer: Mutex::new(Slot::Empty) });
    (Request(Some(Arc::clone(&shared))), Receipt(shared))
}

/// The writing thread's end. If it is dropped, the appender hears that the journal is closed.
pub(super) struct Request(Option<Arc<Shared>>);

impl Request {
    pub(super) fn order(&self) -> &Order {
        &self.0.as_ref().expect("only answering empties it").order
    }

    /// An appender that stopped waiting finds its rows by reading.
    pub(super) fn answer(mut self, reply: Reply) {
        if let Some(shared) = self.0.take() {
            give(&shared, reply);
        }
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        if let Some(shared) = self.0.take() {
            give(&shared, Err(JournalError::Unavailable(Outage::Closed)));
        }
    }
}

fn give(shared: &Shared, reply: Reply) {
    let before = std::mem::replace(&mut *shared.lock(), Slot::Given(reply));
    match before {
        Slot::Awaited(waker) => waker.wake(),
        Slot::Empty | Slot::Given(_) | Slot::Taken => {}
    }
}

/// The appender's end: the answer, later.
pub(super) struct Receipt(Arc<Shared>);

impl Future for Receipt {
    type Output = Reply;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Reply> {
        let mut slot = self.0.lock();
        match std::mem::replace(&mut *slot, Slot::Taken) {
            Slot::Given(reply) => Poll::Ready(reply),
            Slot::Awaited(waker) if waker.will_wake(context.waker()) => {
                *slot = Slot::Awaited(waker);
                Poll::Pending
            }
            Slot::Empty | Slot::Awaited(_) => {
                *slot = Slot::Awaited(context.waker().clone());
                Poll::Pending
            }
            Slot::Taken => panic!("an answer is given once"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use super::super::stream::Streams;
    use super::*;

    #[derive(Default)]
    struct Wakes(AtomicUsize);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn order() -> Order {
        let stream = Streams::new(1).get(&"a".parse().unwrap());
        let batch = Batch::of(vec![b"row".to_vec()]);
        let links = Links::new(stream.guess(), &batch);
        Order { stream, expected: Seq::START, batch, links }
    }

    fn poll(receipt: &mut Receipt, wakes: &Arc<Wakes>) -> Poll<Reply> {
        let waker = Waker::from(Arc::clone(wakes));
        Pin::new(receipt).poll(&mut Context::from_waker(&waker))
    }

    #[test]
    fn the_task_that_looked_last_is_woken_once() {
        let [first, second] = [Arc::new(Wakes::default()), Arc::new(Wakes::default())];
        let (request, mut receipt) = ticket(order());
        let head = *request.order().links.after().next().unwrap();
        for wakes in [&first, &second, &second] {
            assert!(poll(&mut receipt, wakes).is_pending());
        }
        request.answer(Ok(head));
        assert_eq!([&first, &second].map(|w| w.0.load(Ordering::Relaxed)), [0, 1]);
        assert_eq!(poll(&mut receipt, &second), Poll::Ready(Ok(head)));
    }

    #[test]
    fn an_answer_may_come_before_the_first_look_and_after_the_appender_has_gone() {
        let wakes = Arc::new(Wakes::default());
        let (request, mut receipt) = ticket(order());
        request.answer(Ok(Head::genesis(&"a".parse().unwrap())));
        assert!(poll(&mut receipt, &wakes).is_ready());

        let (request, mut receipt) = ticket(order());
        assert!(poll(&mut receipt, &wakes).is_pending());
        drop(receipt);
        assert_eq!(request.order().batch.rows, [b"row"]);
        request.answer(Ok(Head::genesis(&"a".parse().unwrap())));
    }

    #[test]
    fn whoever_is_forgotten_hears_that_the_journal_is_closed() {
        let wakes = Arc::new(Wakes::default());
        let (request, mut receipt) = ticket(order());
        assert!(poll(&mut receipt, &wakes).is_pending());
        drop(request);
        assert_eq!(wakes.0.load(Ordering::Relaxed), 1);
        let closed = Err(JournalError::Unavailable(Outage::Closed));
        assert_eq!(poll(&mut receipt, &wakes), Poll::Ready(closed));
    }
}
