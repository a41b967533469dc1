//! How far the clocks of players are from ours: told once for each, and nothing else follows.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::Duration;

use league_agent::ambient;
use league_agent::component::Component;
use league_agent::guard::lock;
use league_agent::log::{self, Level};
use league_core::id::PlayerId;
use league_core::time::Timestamp;

/// Whose clock has been told about.
#[derive(Debug, Default)]
pub(super) struct Clocks(Mutex<BTreeSet<PlayerId>>);

impl Clocks {
    /// A player wrote `at` as the time. True if it is off by more than `far`, and this is told for
    /// the first time.
    pub(super) fn note(&self, player: PlayerId, at: Timestamp, far: Duration) -> bool {
        let skew_ms = at.as_millis().saturating_sub(ambient::wall().as_millis());
        if u128::from(skew_ms.unsigned_abs()) <= far.as_millis() {
            return false;
        }
        let is_news = lock(&self.0).insert(player);
        if is_news {
            log::at(Level::Warning, Component::Referee, |line| {
                line.agent(player).detail("clock_skew_ms", skew_ms);
                line.say("the player's clock is far from ours; nothing is refused for it");
            });
        }
        is_news
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // req: OBS-6
    #[test]
    fn a_clock_is_told_about_once() {
        let (clocks, now) = (Clocks::default(), ambient::wall());
        let [one, other]: [PlayerId; 2] = ["P01", "P02"].map(|id| id.parse().unwrap());
        let far = Duration::from_secs(5);
        assert!(!clocks.note(one, now, far), "it is right");
        assert!(!clocks.note(one, now + far * 12, far * 24), "the league says what is far");
        assert!(clocks.note(one, now + far * 12, far));
        assert!(!clocks.note(one, now + far * 18, far), "it is known");
        assert!(clocks.note(other, now - far * 12, far));
    }
}
