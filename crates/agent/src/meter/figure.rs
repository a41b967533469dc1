//! Counters, gauges and histograms that any thread may change at any time.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

/// Something that only ever grows.
#[derive(Debug)]
pub struct Counter(AtomicU64);

impl Counter {
    pub(super) const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// There are `more`.
    pub fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    /// How many there were.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Something that comes and goes.
#[derive(Debug)]
pub struct Gauge(AtomicI64);

impl Gauge {
    pub(super) const fn new() -> Self {
        Self(AtomicI64::new(0))
    }

    /// One has come; it goes when the guard does.
    pub fn enter(&'static self) -> Entered {
        self.0.fetch_add(1, Ordering::Relaxed);
        Entered(self)
    }

    /// How many there are.
    pub fn get(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// One of those that a gauge counts.
#[derive(Debug)]
pub struct Entered(&'static Gauge);

impl Drop for Entered {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Upper bounds in microseconds, as they are written, and without the last one, which has no end.
pub(super) const BOUNDS: [(u64, &str); 15] = [
    (250, "0.00025"),
    (500, "0.0005"),
    (1_000, "0.001"),
    (2_500, "0.0025"),
    (5_000, "0.005"),
    (10_000, "0.01"),
    (25_000, "0.025"),
    (50_000, "0.05"),
    (100_000, "0.1"),
    (250_000, "0.25"),
    (500_000, "0.5"),
    (1_000_000, "1"),
    (2_500_000, "2.5"),
    (10_000_000, "10"),
    (30_000_000, "30"),
];

/// How long something takes.
#[derive(Debug)]
pub struct Histogram {
    buckets: [AtomicU64; BOUNDS.len() + 1],
    sum_us: AtomicU64,
}

impl Histogram {
    pub(super) const fn new() -> Self {
        let buckets = [const { AtomicU64::new(0) }; BOUNDS.len() + 1];
        Self { buckets, sum_us: AtomicU64::new(0) }
    }

    /// It took `time`, once more.
    pub fn observe(&self, time: Duration) {
        let us = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let bucket = BOUNDS.partition_point(|(bound, _)| *bound < us);
        self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        self.sum_us.fetch_add(us, Ordering::Relaxed);
    }

    /// How often, up to each bound and in all; and the sum in seconds.
    pub(super) fn read(&self) -> ([u64; BOUNDS.len() + 1], f64) {
        let mut so_far = 0;
        let cumulated = self.buckets.each_ref().map(|bucket| {
            so_far += bucket.load(Ordering::Relaxed);
            so_far
        });
        let sum = Duration::from_micros(self.sum_us.load(Ordering::Relaxed));
        (cumulated, sum.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_falls_into_the_first_bucket_that_holds_it() {
        let histogram = Histogram::new();
        for us in [0, 250, 251, 1_000_000, 31_000_000] {
            histogram.observe(Duration::from_micros(us));
        }
        let (cumulated, sum) = histogram.read();
        assert_eq!((cumulated[0], cumulated[1]), (2, 3));
        assert_eq!((cumulated[11], cumulated[14], cumulated[15]), (4, 4, 5));
        assert!((sum - 32.000_501).abs() < 1e-9, "{sum}");
    }

    #[test]
    fn whoever_came_goes_again() {
        static GAUGE: Gauge = Gauge::new();
        let one = GAUGE.enter();
        assert_eq!(GAUGE.get(), 1);
        drop(one);
        assert_eq!(GAUGE.get(), 0);
    }
}
