//! Moments and deadlines as values. There is no `now` here: whoever needs it is told.

use std::fmt;
use std::ops::{Add, Sub};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A moment in UTC, in milliseconds since 1970.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The moment `millis` milliseconds after the start of 1970.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the start of 1970.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// The time from `earlier` until this moment; zero if `earlier` is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

impl Add<Duration> for Timestamp {
    type Output = Self;

    fn add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(span.as_millis()).unwrap_or(i64::MAX)))
    }
}

impl Sub<Duration> for Timestamp {
    type Output = Self;

    fn sub(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(span.as_millis()).unwrap_or(i64::MAX)))
    }
}

/// The next moment at which a machine wants to be woken, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline {
    /// When to wake the machine.
    pub at: Timestamp,
    /// What happens then, for the log.
    pub reason: &'static str,
}

impl Deadline {
    /// A wake-up at `at` because of `reason`.
    pub const fn new(at: Timestamp, reason: &'static str) -> Self {
        Self { at, reason }
    }

    /// The earlier of two optional deadlines.
    #[must_use]
    pub fn earlier(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        match (one, other) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }
}

impl fmt::Display for Deadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {} ms", self.reason, self.at.as_millis())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_between_moments_never_go_below_zero() {
        let (early, late) = (Timestamp::from_millis(1_000), Timestamp::from_millis(3_500));
        assert_eq!(late.since(early), Duration::from_millis(2_500));
        assert_eq!(early.since(late), Duration::ZERO);
        assert_eq!(early + Duration::from_millis(2_500), late);
        assert_eq!(late - Duration::from_millis(2_500), early);
    }

    #[test]
    fn the_earlier_deadline_wins() {
        let soon = Some(Deadline::new(Timestamp::from_millis(1), "soon"));
        let later = Some(Deadline::new(Timestamp::from_millis(2), "later"));
        assert_eq!(Deadline::earlier(later, soon), soon);
        assert_eq!(Deadline::earlier(None, later), later);
    }
}
