//! How often somebody may ask: so many requests per key and time, and no more keys than there is
//! room for. Pure; whoever asks says what time it is.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use league_core::time::Timestamp;

/// How many requests are allowed: `burst` at once, then one every `interval`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    interval: Duration,
    burst: u32,
}

impl Rate {
    /// `count` requests in every `span`, which may come all at once.
    ///
    /// # Panics
    /// If either is zero.
    pub fn per(count: u32, span: Duration) -> Self {
        assert!(count > 0 && span >= Duration::from_millis(1), "a rate allows something");
        Self { interval: span / count, burst: count }
    }
}

/// Counts requests by key. Each key has a bucket of tokens that fills again as time goes by.
#[derive(Debug, Clone)]
pub struct RateLimiter<K> {
    rate: Rate,
    keys_max: usize,
    /// When each key's bucket will be full again, in nanoseconds. Who is not here has a full one.
    full_at: BTreeMap<K, i128>,
    /// The same by time, so that the fullest is forgotten first.
    by_time: BTreeSet<(i128, K)>,
}

impl<K: Ord + Clone> RateLimiter<K> {
    /// A limiter that remembers at most `keys_max` keys.
    ///
    /// # Panics
    /// If that is none.
    pub const fn new(rate: Rate, keys_max: usize) -> Self {
        assert!(keys_max > 0, "somebody must be remembered");
        Self { rate, keys_max, full_at: BTreeMap::new(), by_time: BTreeSet::new() }
    }

    /// Takes `cost` tokens from the bucket of `key`.
    ///
    /// # Errors
    /// If there are not enough: the time after which there will be. What costs more than a whole
    /// bucket waits for a full one.
    pub fn admit(&mut self, key: &K, cost: u32, now: Timestamp) -> Result<(), Duration> {
        let now = i128::from(now.as_millis()) * 1_000_000;
        let interval = nanos(self.rate.interval);
        let room = interval * i128::from(self.rate.burst);
        let price = interval * i128::from(cost.min(self.rate.burst));
        let full_at = self.full_at.get(key).copied().unwrap_or(now).max(now);
        let wait = full_at + price - now - room;
        if wait > 0 {
            return Err(Duration::from_nanos(u64::try_from(wait).unwrap_or(u64::MAX)));
        }
        self.set(key, full_at + price, now);
        Ok(())
    }

    fn set(&mut self, key: &K, full_at: i128, now: i128) {
        if let Some(before) = self.full_at.insert(key.clone(), full_at) {
            self.by_time.remove(&(before, key.clone()));
        }
        self.by_time.insert((full_at, key.clone()));
        // Whoever has a full bucket is like a stranger; beyond that the fullest is let off.
        while self
            .by_time
            .first()
            .is_some_and(|(full_at, _)| *full_at <= now || self.by_time.len() > self.keys_max)
        {
            let (_, forgotten) = self.by_time.pop_first().expect("there is a first");
            self.full_at.remove(&forgotten);
        }
    }

    /// How many keys are remembered.
    pub fn keys(&self) -> usize {
        self.full_at.len()
    }
}

fn nanos(span: Duration) -> i128 {
    i128::try_from(span.as_nanos()).unwrap_or(i128::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millis(ms)
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_burst_is_allowed_and_then_one_at_a_time() {
        let mut limiter = RateLimiter::new(Rate::per(3, ms(3_000)), 10);
        for _ in 0..3 {
            assert_eq!(limiter.admit(&"a", 1, at(0)), Ok(()));
        }
        assert_eq!(limiter.admit(&"a", 1, at(0)), Err(ms(1_000)));
        assert_eq!(limiter.admit(&"a", 1, at(999)), Err(ms(1)));
        assert_eq!(limiter.admit(&"b", 1, at(999)), Ok(()), "somebody else");
        assert_eq!(limiter.admit(&"a", 1, at(1_000)), Ok(()));
        assert_eq!(limiter.admit(&"a", 1, at(1_000)), Err(ms(1_000)));
        for _ in 0..3 {
            assert_eq!(limiter.admit(&"a", 1, at(10_000)), Ok(()), "never more than a bucket");
        }
        assert!(limiter.admit(&"a", 1, at(10_000)).is_err());
    }

    #[test]
    fn a_batch_costs_what_it_holds_and_never_more_than_a_bucket() {
        let mut limiter = RateLimiter::new(Rate::per(10, ms(1_000)), 10);
        assert_eq!(limiter.admit(&"a", 8, at(0)), Ok(()));
        assert_eq!(limiter.admit(&"a", 8, at(0)), Err(ms(600)));
        assert_eq!(limiter.admit(&"a", 2, at(0)), Ok(()), "a refusal costs nothing");
        assert_eq!(limiter.admit(&"a", 100, at(1_000)), Ok(()), "else it never could");
        assert_eq!(limiter.admit(&"a", 1, at(1_000)), Err(ms(100)));
    }

    #[test]
    fn keys_are_forgotten_when_they_no_longer_matter_or_are_too_many() {
        let mut limiter = RateLimiter::new(Rate::per(2, ms(2_000)), 100);
        for key in 0..1_000 {
            assert_eq!(limiter.admit(&key, 1, at(0)), Ok(()));
            assert!(limiter.keys() <= 100);
        }
        assert_eq!(limiter.admit(&5_000, 2, at(500)), Ok(()));
        for key in 2_000..2_099 {
            assert_eq!(limiter.admit(&key, 1, at(500)), Ok(()));
        }
        assert!(limiter.admit(&5_000, 1, at(500)).is_err(), "the emptiest is kept longest");
        assert_eq!(limiter.admit(&1, 1, at(60_000)), Ok(()));
        assert_eq!(limiter.keys(), 1, "all others have a full bucket");
    }

    #[test]
    fn a_clock_that_goes_back_opens_nothing() {
        let mut limiter = RateLimiter::new(Rate::per(1, ms(1_000)), 10);
        assert_eq!(limiter.admit(&"a", 1, at(5_000)), Ok(()));
        assert_eq!(limiter.admit(&"a", 1, at(4_000)), Err(ms(2_000)));
    }
}
