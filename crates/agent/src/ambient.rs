//! The only clock and the only entropy in the workspace. Everyone else is told.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use league_core::dice::Dice;
use league_core::time::Timestamp;

/// What time it is.
#[expect(clippy::disallowed_methods, reason = "the one place that asks the clock")]
pub fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
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
