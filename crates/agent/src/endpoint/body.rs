//! Reading what a caller sends: bounded in size, in time, and in what all callers together may
//! leave unfinished.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};

use super::Answer;
use crate::ambient::Mark;
use crate::limits::{BODY_BYTES_FREE, BODY_BYTES_PER_SECOND_MIN, BODY_TIMEOUT, REQUEST_BYTES_MAX};

/// The room that the unfinished bodies of one endpoint share.
#[derive(Debug)]
pub(super) struct Bodies {
    free: AtomicUsize,
    /// The time in which nobody is called slow.
    grace: Duration,
}

impl Bodies {
    pub(super) const fn new(bytes_max: usize, grace: Duration) -> Self {
        Self { free: AtomicUsize::new(bytes_max), grace }
    }

    /// The whole body, or what its sender is told instead.
    pub(super) async fn read(&self, mut body: Incoming) -> Result<Bytes, Answer> {
        // Whoever says beforehand that it is too much need not send it.
        if body.size_hint().lower() > REQUEST_BYTES_MAX as u64 {
            return Err(too_large());
        }
        let started = Mark::set();
        let mut share = Share { bodies: self, held: 0 };
        let mut read = Vec::new();
        loop {
            let left = self.time_for(read.len()).saturating_sub(started.elapsed());
            let frame = match tokio::time::timeout(left, body.frame()).await {
                Ok(Some(Ok(frame))) => frame,
                Ok(Some(Err(_))) => return Err(Answer::text(400, "the body broke off\n")),
                Ok(None) => return Ok(read.into()),
                Err(_) => return Err(Answer::text(408, "the body took too long\n")),
            };
            let Ok(data) = frame.into_data() else { continue };
            if read.is_empty() && body.is_end_stream() && data.len() <= REQUEST_BYTES_MAX {
                return Ok(data);
            }
            if read.len() + data.len() > REQUEST_BYTES_MAX {
                return Err(too_large());
            }
            if !share.grow_to(read.len() + data.len()) {
                return Err(Answer::busy("too many large requests at once; come back later\n"));
            }
            read.extend_from_slice(&data);
        }
    }

    /// How long a body of which `read` bytes have come may have taken.
    fn time_for(&self, read: usize) -> Duration {
        let earned = Duration::from_secs((read / BODY_BYTES_PER_SECOND_MIN) as u64);
        BODY_TIMEOUT.min(self.grace + earned)
    }
}

fn too_large() -> Answer {
    Answer::text(413, format!("the body is larger than {REQUEST_BYTES_MAX} bytes\n"))
}

/// What one unfinished body holds of the room.
struct Share<'a> {
    bodies: &'a Bodies,
    held: usize,
}

impl Share<'_> {
    /// Holds what a body of `bytes` needs; false if there is no room. Small bodies need none: there
    /// cannot be more of them than there are connections.
    fn grow_to(&mut self, bytes: usize) -> bool {
        let more = bytes.saturating_sub(BODY_BYTES_FREE).saturating_sub(self.held);
        let take = |free: usize| free.checked_sub(more);
        let taken = self.bodies.free.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        self.held += if taken.is_ok() { more } else { 0 };
        taken.is_ok()
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        self.bodies.free.fetch_add(self.held, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_bodies_share_the_room_and_give_it_back() {
        let bodies = Bodies::new(100, Duration::ZERO);
        let share = || Share { bodies: &bodies, held: 0 };
        let (mut one, mut other) = (share(), share());
        assert!(one.grow_to(BODY_BYTES_FREE), "small ones need none");
        assert!(one.grow_to(BODY_BYTES_FREE + 60) && one.grow_to(BODY_BYTES_FREE + 60));
        assert!(other.grow_to(BODY_BYTES_FREE + 40));
        assert!(!other.grow_to(BODY_BYTES_FREE + 41));
        assert!(other.grow_to(BODY_BYTES_FREE + 40), "it keeps what it has");
        drop(one);
        assert!(other.grow_to(BODY_BYTES_FREE + 100));
        drop(other);
        assert_eq!(bodies.free.into_inner(), 100);
    }

    #[test]
    fn time_is_earned_by_sending_and_ends() {
        let bodies = Bodies::new(0, Duration::from_secs(5));
        let seconds = |read| bodies.time_for(read).as_secs();
        assert_eq!(seconds(0), 5);
        assert_eq!(seconds(3 * BODY_BYTES_PER_SECOND_MIN), 8);
        assert_eq!(bodies.time_for(REQUEST_BYTES_MAX), BODY_TIMEOUT);
    }
}
