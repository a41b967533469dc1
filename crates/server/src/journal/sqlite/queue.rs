//! Appends on their way to the writing thread. It takes whatever waits in one go, so an append
//! costs a short lock and a wake-up only if the thread rests.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, TryAcquireError};

/// A bounded queue with many senders and one receiver.
pub(super) struct Queue<T> {
    state: Mutex<State<T>>,
    news: Condvar,
    room: Semaphore,
}

struct State<T> {
    waiting: Vec<T>,
    /// How many must wait until the receiver is woken; more than there can be if it does not rest.
    wanted: usize,
    is_closed: bool,
}

/// Nothing is taken from the queue any more.
pub(super) struct Closed;

impl<T> Queue<T> {
    /// A queue in which `max` may wait; further senders wait for room.
    pub(super) fn new(max: usize) -> Self {
        let state = State { waiting: Vec::new(), wanted: usize::MAX, is_closed: false };
        Self { state: Mutex::new(state), news: Condvar::new(), room: Semaphore::new(max) }
    }

    /// Puts something at the end.
    pub(super) async fn send(&self, sent: T) -> Result<(), Closed> {
        // Whoever takes things out makes room for as many.
        match self.room.try_acquire() {
            Ok(room) => room.forget(),
            Err(TryAcquireError::Closed) => return Err(Closed),
            Err(TryAcquireError::NoPermits) => {
                self.room.acquire().await.map_err(|_| Closed)?.forget();
            }
        }
        self.push(sent)
    }

    /// Puts something at the end if there is room just now; whether it did.
    pub(super) fn try_send(&self, sent: T) -> bool {
        let Ok(room) = self.room.try_acquire() else { return false };
        room.forget();
        self.push(sent).is_ok()
    }

    fn push(&self, sent: T) -> Result<(), Closed> {
        let mut state = self.lock();
        if state.is_closed {
            return Err(Closed);
        }
        state.waiting.push(sent);
        let is_enough = state.waiting.len() >= state.wanted;
        if is_enough {
            state.wanted = usize::MAX;
        }
        drop(state);
        if is_enough {
            self.news.notify_one();
        }
        Ok(())
    }

    /// Moves everything that waits to the end of `taken`. Rests while there is nothing; `false` if
    /// there will never be anything again.
    pub(super) fn take(&self, taken: &mut Vec<T>) -> bool {
        let mut state = self.lock();
        while state.waiting.is_empty() && !state.is_closed {
            state.wanted = 1;
            state = self.news.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        self.empty(state, taken) > 0
    }

    /// Moves what waits at the moment and says how many that were.
    pub(super) fn take_more(&self, taken: &mut Vec<T>) -> usize {
        self.empty(self.lock(), taken)
    }

    /// Moves what waits, if need be after resting for a while until there are `wanted`, and says
    /// how many that were.
    pub(super) fn take_some(&self, taken: &mut Vec<T>, wanted: usize, rest: Duration) -> usize {
        let mut state = self.lock();
        if state.waiting.is_empty() && wanted > 0 && !state.is_closed {
            state.wanted = wanted;
            let waited = self.news.wait_timeout(state, rest);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
            state.wanted = usize::MAX;
        }
        self.empty(state, taken)
    }

    /// Refuses whatever comes from here on; what waits can still be taken.
    pub(super) fn close(&self) {
        self.room.close();
        self.lock().is_closed = true;
        self.news.notify_one();
    }

    /// Refuses and forgets everything.
    pub(super) fn abandon(&self) {
        self.close();
        // Outside the lock: what is dropped wakes whoever waits for it.
        drop(std::mem::take(&mut self.lock().waiting));
    }

    fn empty(&self, mut state: MutexGuard<'_, State<T>>, taken: &mut Vec<T>) -> usize {
        let count = state.waiting.len();
        taken.append(&mut state.waiting);
        drop(state);
        self.room.add_permits(count);
        count
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::Arc;
    use std::task::{Context, Poll, Waker};
    use std::thread;

    use super::*;

    fn now<T>(future: impl Future<Output = T>) -> Poll<T> {
        pin!(future).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn senders_wait_for_room_and_taking_makes_some() {
        let queue = Queue::new(2);
        for number in 1..=2 {
            assert!(matches!(now(queue.send(number)), Poll::Ready(Ok(()))));
        }
        assert!(now(queue.send(3)).is_pending());
        let mut taken = vec![0];
        assert!(queue.take(&mut taken));
        assert_eq!(taken, [0, 1, 2]);
        assert!(matches!(now(queue.send(4)), Poll::Ready(Ok(()))));
        assert_eq!(queue.take_more(&mut taken), 1);
        assert_eq!(queue.take_more(&mut taken), 0);
        assert_eq!(taken, [0, 1, 2, 4]);
    }

    #[test]
    fn a_closed_queue_hands_out_what_waits_and_an_abandoned_one_nothing() {
        let queue = Queue::new(2);
        assert!(now(queue.send('a')).is_ready());
        queue.close();
        assert!(matches!(now(queue.send('b')), Poll::Ready(Err(Closed))));
        let mut taken = Vec::new();
        assert!(queue.take(&mut taken));
        assert!(!queue.take(&mut taken));
        assert_eq!(taken, ['a']);

        let (queue, shared) = (Queue::new(2), Arc::new(()));
        assert!(now(queue.send(Arc::clone(&shared))).is_ready());
        queue.abandon();
        assert_eq!(Arc::strong_count(&shared), 1);
    }

    #[test]
    fn whoever_rests_is_woken_by_a_sender_and_by_the_end() {
        let queue = Arc::new(Queue::new(1));
        let receiver = Arc::clone(&queue);
        let thread = thread::spawn(move || {
            let mut taken = Vec::new();
            while receiver.take(&mut taken) {}
            taken
        });
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for number in 0..1000 {
            assert!(runtime.block_on(queue.send(number)).is_ok());
        }
        queue.close();
        assert!(thread.join().unwrap().into_iter().eq(0..1000));
    }
}
