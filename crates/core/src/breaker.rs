//! The circuit breaker of one address: after a row of failures it refuses for a while, then lets
//! exactly one call through to find out.

use std::time::Duration;

use crate::policy::Policy;
use crate::time::{Deadline, Timestamp};

/// Whether an address may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permission {
    /// Call as you like.
    Granted,
    /// One call may find out whether the address works again; report [`Outcome::Begun`] first.
    Trial,
    /// Not before `until`.
    Refused {
        /// When the next trial may be allowed.
        until: Timestamp,
    },
}

/// What became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// It was sent; this uses up a trial.
    Begun,
    /// The address answered, whatever it said.
    Succeeded,
    /// No connection or no answer in time.
    Failed,
}

/// What a breaker has learned about its address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Calls go through; so many in a row have failed.
    Closed { failures: u32 },
    /// Calls are refused, then one is tried.
    Open { until: Timestamp },
    /// The trial is under way. One that never ends gives way to another at `until`.
    HalfOpen { until: Timestamp },
}

/// The circuit breaker of one address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breaker {
    failures_max: u32,
    open_for: Duration,
    state: State,
}

impl Breaker {
    /// A closed breaker that opens after `failures_max` failures in a row, for `open_for`.
    pub const fn new(failures_max: u32, open_for: Duration) -> Self {
        Self { failures_max, open_for, state: State::Closed { failures: 0 } }
    }

    /// A closed breaker with the numbers of `policy`.
    pub fn from_policy(policy: &Policy) -> Self {
        Self::new(policy.breaker_failures(), policy.breaker_open())
    }

    /// Whether the address may be called at `now`.
    pub fn allow(&self, now: Timestamp) -> Permission {
        match self.state {
            State::Closed { .. } => Permission::Granted,
            State::Open { until } | State::HalfOpen { until } if now < until => {
                Permission::Refused { until }
            }
            State::Open { .. } | State::HalfOpen { .. } => Permission::Trial,
        }
    }

    /// Takes over what became of a call. While open, only the trial decides: outcomes of calls from
    /// before the opening come too late to tell anything new.
    pub fn apply(&mut self, outcome: Outcome, now: Timestamp) {
        let open = State::Open { until: now + self.open_for };
        self.state = match (self.state, outcome) {
            (State::Closed { failures }, Outcome::Begun) => State::Closed { failures },
            (State::Closed { .. } | State::HalfOpen { .. }, Outcome::Succeeded) => {
                State::Closed { failures: 0 }
            }
            (State::Closed { failures }, Outcome::Failed) if failures + 1 < self.failures_max => {
                State::Closed { failures: failures + 1 }
            }
            (State::Closed { .. } | State::HalfOpen { .. }, Outcome::Failed) => open,
            (State::Open { until } | State::HalfOpen { until }, Outcome::Begun) if now >= until => {
                State::HalfOpen { until: now + self.open_for }
            }
            (state @ (State::Open { .. } | State::HalfOpen { .. }), Outcome::Begun)
            | (state @ State::Open { .. }, Outcome::Succeeded | Outcome::Failed) => state,
        };
    }

    /// Whether calls are refused or on trial.
    pub const fn is_open(&self) -> bool {
        match self.state {
            State::Closed { .. } => false,
            State::Open { .. } | State::HalfOpen { .. } => true,
        }
    }

    /// When a trial may be made.
    pub const fn next_deadline(&self) -> Option<Deadline> {
        match self.state {
            State::Closed { .. } => None,
            State::Open { until } | State::HalfOpen { until } => {
                Some(Deadline::new(until, "trial of an open breaker"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // req: ERR-4
    #[test]
    fn five_failures_open_it_and_one_success_after_thirty_seconds_closes_it() {
        let mut breaker = Breaker::from_policy(&Policy::default());
        fail(&mut breaker, 4, 0);
        assert_eq!(breaker.allow(at(0)), Permission::Granted);
        fail(&mut breaker, 1, 1);
        assert_eq!(breaker.allow(at(1)), Permission::Refused { until: at(31) });
        assert_eq!(breaker.allow(at(30)), Permission::Refused { until: at(31) });
        assert_eq!(breaker.next_deadline().map(|d| d.at), Some(at(31)));
        assert_eq!(breaker.allow(at(31)), Permission::Trial);
        breaker.apply(Outcome::Begun, at(31));
        assert!(matches!(breaker.allow(at(31)), Permission::Refused { .. }));
        breaker.apply(Outcome::Succeeded, at(32));
        assert_eq!(breaker.allow(at(32)), Permission::Granted);
        fail(&mut breaker, 4, 33);
        assert_eq!(breaker.allow(at(33)), Permission::Granted);
    }

    // req: ERR-4
    #[test]
    fn a_failed_trial_opens_it_again() {
        let mut breaker = opened();
        breaker.apply(Outcome::Begun, at(31));
        breaker.apply(Outcome::Failed, at(36));
        assert_eq!(breaker.allow(at(65)), Permission::Refused { until: at(66) });
        assert_eq!(breaker.allow(at(66)), Permission::Trial);
    }

    // req: ERR-4
    #[test]
    fn only_failures_in_a_row_count() {
        let mut breaker = Breaker::from_policy(&Policy::default());
        for _ in 0..10 {
            fail(&mut breaker, 4, 0);
            breaker.apply(Outcome::Succeeded, at(0));
        }
        assert!(!breaker.is_open());
    }

    #[test]
    fn late_outcomes_of_earlier_calls_do_not_move_an_open_breaker() {
        let mut breaker = opened();
        let before = breaker.clone();
        breaker.apply(Outcome::Failed, at(20));
        breaker.apply(Outcome::Succeeded, at(20));
        assert_eq!(breaker, before);
    }

    #[test]
    fn a_trial_that_never_ends_gives_way_to_another() {
        let mut breaker = opened();
        breaker.apply(Outcome::Begun, at(40));
        assert_eq!(breaker.allow(at(69)), Permission::Refused { until: at(70) });
        assert_eq!(breaker.allow(at(70)), Permission::Trial);
    }

    /// The same rules told from the whole history, without a state of its own.
    fn naive(history: &[(Outcome, u64)], now: u64) -> Permission {
        let mut row = 0;
        let mut opened = None;
        let mut trial = None;
        for &(outcome, time) in history {
            match (opened, outcome) {
                (None, Outcome::Begun) => {}
                (None, Outcome::Succeeded) => row = 0,
                (None, Outcome::Failed) => {
                    row += 1;
                    if row == 5 {
                        opened = Some(time);
                    }
                }
                (Some(since), Outcome::Begun) => {
                    if time >= trial.unwrap_or(since) + 30 {
                        trial = Some(time);
                    }
                }
                (Some(_), Outcome::Succeeded) if trial.is_some() => {
                    (row, opened, trial) = (0, None, None);
                }
                (Some(_), Outcome::Failed) if trial.is_some() => {
                    (opened, trial) = (Some(time), None);
                }
                (Some(_), Outcome::Succeeded | Outcome::Failed) => {}
            }
        }
        match trial.or(opened) {
            None => Permission::Granted,
            Some(since) if now < since + 30 => Permission::Refused { until: at(since + 30) },
            Some(_) => Permission::Trial,
        }
    }

    proptest! {
        #[test]
        fn it_agrees_with_the_rules_told_from_the_history(
            steps in prop::collection::vec((0_u8..8, 0_u64..20), 0..80),
        ) {
            let mut breaker = Breaker::from_policy(&Policy::default());
            let (mut history, mut now) = (Vec::new(), 0);
            for (kind, wait) in steps {
                now += wait;
                let outcome = match kind {
                    0..=1 => Outcome::Begun,
                    2 => Outcome::Succeeded,
                    _ => Outcome::Failed,
                };
                history.push((outcome, now));
                breaker.apply(outcome, at(now));
                for later in [0, 29, 30, 31] {
                    prop_assert_eq!(breaker.allow(at(now + later)), naive(&history, now + later));
                }
            }
        }
    }

    fn opened() -> Breaker {
        let mut breaker = Breaker::from_policy(&Policy::default());
        fail(&mut breaker, 5, 0);
        breaker
    }

    fn fail(breaker: &mut Breaker, times: u32, second: u64) {
        for _ in 0..times {
            breaker.apply(Outcome::Failed, at(second));
        }
    }

    fn at(second: u64) -> Timestamp {
        Timestamp::default() + Duration::from_secs(second)
    }
}
