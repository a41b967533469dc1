//! Whether this process stood still: then nobody could be heard, and nobody's silence counts.

use std::time::Duration;

use league_core::time::Timestamp;

/// What the writer of a league knows of its own delays.
#[derive(Debug, Default)]
pub(super) struct Stall {
    excused_until: Timestamp,
}

impl Stall {
    /// The writer meant to go on at `planned` and does so at `now`. If it was late enough for a
    /// referee's sign of life to have come in between, there is time for the next one.
    pub(super) fn went_on(&mut self, planned: Timestamp, now: Timestamp, sign: Duration) {
        if now.since(planned) >= sign {
            self.excused_until = now + sign + sign;
        }
    }

    /// Until when nobody is missed, if there is reason for it at `now`.
    pub(super) fn excuse(&self, now: Timestamp) -> Option<Timestamp> {
        (now < self.excused_until).then_some(self.excused_until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_stood_still_waits_for_the_next_sign_of_life() {
        let (sign, mut stall) = (Duration::from_secs(5), Stall::default());
        let at = |seconds: i64| Timestamp::from_millis(seconds * 1_000);
        assert_eq!(stall.excuse(at(0)), None);
        stall.went_on(at(100), at(104), sign);
        assert_eq!(stall.excuse(at(104)), None, "a little late is nothing");
        stall.went_on(at(110), at(109), sign);
        assert_eq!(stall.excuse(at(109)), None, "somebody asked before");
        stall.went_on(at(110), at(130), sign);
        assert_eq!(stall.excuse(at(130)), Some(at(140)));
        assert_eq!(stall.excuse(at(140)), None, "not for ever");
    }
}
