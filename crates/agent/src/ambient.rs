//! The only clock and the only entropy in the workspace. Everyone else is told.

use std::sync::OnceLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use league_core::dice::Dice;
use league_core::time::Timestamp;

/// What time it is: the wall clock when this was first asked, and the time since then on a clock
/// that nobody can set. Deadlines are made of this, so that a wall clock which is corrected in the
/// middle of a match decides nothing. It may come to differ from the wall clock: by what that was
/// corrected, and by the time the machine was asleep.
pub fn now() -> Timestamp {
    static CLOCK: OnceLock<Clock> = OnceLock::new();
    CLOCK.get_or_init(|| Clock::starting_at(wall())).now()
}

/// What the wall clock says. It may jump either way, so nothing is timed by it; it is for measuring
/// how far two clocks are apart.
#[expect(clippy::disallowed_methods, reason = "the one place that asks the clock")]
pub fn wall() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// A time of day that only ever goes forward, at the pace of the monotonic clock.
#[derive(Debug, Clone, Copy)]
struct Clock {
    start: Timestamp,
    since: Mark,
}

impl Clock {
    fn starting_at(start: Timestamp) -> Self {
        Self { start, since: Mark::set() }
    }

    fn now(&self) -> Timestamp {
        self.start + self.since.elapsed()
    }
}

/// A moment on a clock that never goes back, for measuring spans.
#[derive(Debug, Clone, Copy)]
pub struct Mark(std::time::Instant);

impl Mark {
    /// Now.
    #[expect(clippy::disallowed_methods, reason = "the one place that asks the clock")]
    pub fn set() -> Self {
        Self(std::time::Instant::now())
    }

    /// The time since then.
    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

/// Dice that nobody can predict: the operating system's entropy.
#[derive(Debug, Clone, Copy, Default)]
pub struct OsDice;

impl Dice for OsDice {
    /// # Panics
    /// If the operating system has no entropy; nothing that follows would be safe.
    fn fill(&mut self, out: &mut [u8]) {
        getrandom::fill(out).expect("the operating system provides entropy");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_goes_on_from_its_start_whatever_the_wall_clock_says() {
        let start = Timestamp::from_millis(5_000);
        let clock = Clock::starting_at(start);
        let (one, other) = (clock.now(), clock.now());
        assert!(start <= one && one <= other, "{one:?} {other:?}");
        // A clock that asked the wall clock would be half a century further.
        assert!(other.since(start) < Duration::from_secs(3_600));
    }

    #[test]
    fn a_clock_goes_at_the_pace_of_the_monotonic_one() {
        let clock = Clock::starting_at(Timestamp::from_millis(0));
        while clock.since.elapsed() < Duration::from_millis(20) {
            std::thread::yield_now();
        }
        let before = clock.since.elapsed();
        let now = clock.now().since(clock.start);
        let after = clock.since.elapsed();
        let slack = Duration::from_millis(1);
        assert!(before <= now + slack && now <= after, "{before:?} {now:?} {after:?}");
    }

    #[test]
    fn the_first_time_that_is_told_is_that_of_the_wall_clock() {
        let (before, now) = (wall(), now());
        let apart = now.since(before).max(before.since(now));
        assert!(apart < Duration::from_secs(60), "{apart:?}");
    }
}
