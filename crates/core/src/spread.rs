//! How long something took, over many times: mean and percentiles from a bounded number of counts.

use std::time::Duration;

/// The counts double their width every so many.
const PER_OCTAVE: usize = 4;
/// Everything up to here falls into the first count.
const FIRST_US: u64 = 64;
/// From the first bound to half a minute and more.
const OCTAVES: usize = 20;
const COUNTS: usize = PER_OCTAVE * OCTAVES + 1;

/// Times, as counts whose bounds grow by a fifth: a percentile is told within a tenth of its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spread {
    counts: Box<[u32; COUNTS]>,
    count: u64,
    sum_us: u64,
    max_us: u64,
}

impl Default for Spread {
    fn default() -> Self {
        Self { counts: Box::new([0; COUNTS]), count: 0, sum_us: 0, max_us: 0 }
    }
}

impl Spread {
    /// It took `time`, once more.
    pub fn note(&mut self, time: Duration) {
        let us = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let place = &mut self.counts[place(us)];
        *place = place.saturating_add(1);
        self.count += 1;
        self.sum_us = self.sum_us.saturating_add(us);
        self.max_us = self.max_us.max(us);
    }

    /// How often.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The mean; `None` of nothing.
    pub fn mean(&self) -> Option<Duration> {
        let mean = self.sum_us.checked_div(self.count)?;
        Some(Duration::from_micros(mean))
    }

    /// The longest; `None` of nothing.
    pub fn max(&self) -> Option<Duration> {
        (self.count > 0).then(|| Duration::from_micros(self.max_us))
    }

    /// The time that `percent` of them did not exceed; `None` of nothing.
    pub fn percentile(&self, percent: u32) -> Option<Duration> {
        if self.count == 0 {
            return None;
        }
        let wanted = (self.count * u64::from(percent.min(100))).div_ceil(100).max(1);
        let mut so_far = 0;
        for (place, count) in self.counts.iter().enumerate() {
            so_far += u64::from(*count);
            if so_far >= wanted {
                return Some(Duration::from_micros(middle(place).min(self.max_us)));
            }
        }
        self.max()
    }
}

/// The count that `us` belongs to: the first whose upper bound it does not exceed.
fn place(us: u64) -> usize {
    let (mut low, mut high) = (0, COUNTS - 1);
    while low < high {
        let middle = low.midpoint(high);
        if upper(middle) < us { low = middle + 1 } else { high = middle }
    }
    low
}

/// The upper bound of a count; the last has none. Each octave is cut into equal parts.
const fn upper(place: usize) -> u64 {
    let octave = place / PER_OCTAVE;
    let quarter = (place % PER_OCTAVE) as u64;
    let start = FIRST_US << octave;
    start + start * quarter / PER_OCTAVE as u64
}

fn middle(place: usize) -> u64 {
    let below = if place == 0 { 0 } else { upper(place - 1) };
    let above = if place < COUNTS - 1 { upper(place) } else { below };
    below.midpoint(above)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(times: impl IntoIterator<Item = u64>) -> Spread {
        let mut spread = Spread::default();
        times.into_iter().for_each(|us| spread.note(Duration::from_micros(us)));
        spread
    }

    #[test]
    fn nothing_has_no_mean() {
        let empty = Spread::default();
        assert_eq!((empty.count(), empty.mean(), empty.max()), (0, None, None));
        assert_eq!(empty.percentile(50), None);
    }

    // req: OBS-4
    #[test]
    fn percentiles_are_told_within_an_eighth() {
        for times in [1..=10_000_u64, 900..=1_000, 5_000_000..=5_002_000] {
            let (low, len) = (*times.start(), times.end() - times.start() + 1);
            let spread = spread(times.clone());
            for percent in [1, 50, 95, 99, 100] {
                let exact = low + len * u64::from(percent) / 100;
                let told = spread.percentile(percent).unwrap().as_micros() as u64;
                assert!(told.abs_diff(exact) <= exact / 8 + 64, "{percent}: {told} for {exact}");
            }
            assert_eq!(spread.mean(), Some(Duration::from_micros(low + (len - 1) / 2)));
        }
    }

    #[test]
    fn one_slow_answer_shows_in_the_tail_only() {
        let spread = spread(std::iter::repeat_n(2_000, 99).chain([9_000_000]));
        let ms = |percent| spread.percentile(percent).unwrap().as_millis();
        assert!(ms(50) <= 2 && ms(99) <= 2, "{} {}", ms(50), ms(99));
        assert!(ms(100) >= 8_000, "{}", ms(100));
        assert_eq!(spread.max(), Some(Duration::from_secs(9)));
    }

    #[test]
    fn every_time_has_its_place_in_order() {
        let places: Vec<_> = (0..COUNTS - 1).map(|it| (place(upper(it)), it)).collect();
        assert!(places.iter().all(|(found, place)| found == place), "{places:?}");
        assert_eq!((place(0), place(u64::MAX)), (0, COUNTS - 1));
        assert_eq!(spread([u64::MAX]).count(), 1);
    }
}
