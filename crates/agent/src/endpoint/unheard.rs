//! Connections that could not be accepted: all are counted, and now and then one is told.

use std::io;

use crate::ambient::Mark;
use crate::component::Component;
use crate::limits::UNACCEPTED_PAUSE;
use crate::log::{self, Level};
use crate::meter::Meter;

/// Those of one endpoint.
pub(super) struct Unheard {
    component: Component,
    told: Option<Mark>,
    since_told: u64,
}

impl Unheard {
    pub(super) const fn at(component: Component) -> Self {
        Self { component, told: None, since_told: 0 }
    }

    /// Counts one more, and says whether the log was told.
    pub(super) fn note(&mut self, error: &io::Error) -> bool {
        Meter::of(self.component).unaccepted.add(1);
        self.since_told += 1;
        if self.told.is_some_and(|told| told.elapsed() < UNACCEPTED_PAUSE) {
            return false;
        }
        log::at(Level::Error, self.component, |line| {
            line.detail("tries", self.since_told);
            line.say(format!("connections cannot be accepted, callers wait or give up: {error}"));
        });
        (self.told, self.since_told) = (Some(Mark::set()), 0);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_failure_counts_and_few_are_told() {
        let counted = || Meter::of(Component::Referee).unaccepted.get();
        let (before, mut unheard) = (counted(), Unheard::at(Component::Referee));
        let told: Vec<_> = (0..3).map(|_| unheard.note(&io::Error::other("no more"))).collect();
        assert_eq!(told, [true, false, false]);
        assert_eq!(counted() - before, 3);
        let page = Meter::of(Component::Referee).page().finish();
        assert!(page.contains(&format!("league_unaccepted_total {}", counted())), "{page}");
    }
}
