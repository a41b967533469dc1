//! When to try again, and whether to. Waiting is the caller's business.

use std::time::Duration;

use crate::policy::{Backoff, Policy};

/// The waits between attempts at one thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPlan {
    backoff: Backoff,
    retries: u32,
    then_every: Option<Duration>,
}

impl RetryPlan {
    /// `retries` repetitions with `backoff`, then one every `then_every` for ever, or none.
    pub const fn new(backoff: Backoff, retries: u32, then_every: Option<Duration>) -> Self {
        Self { backoff, retries, then_every }
    }

    /// How often and when a player is asked again for one move.
    pub fn choice(policy: &Policy) -> Self {
        let retries = policy.choice_attempts().saturating_sub(1);
        Self::new(policy.choice_backoff(), retries, None)
    }

    /// When a result is reported again: it is never given up.
    pub fn report(policy: &Policy) -> Self {
        let interval = policy.report_interval();
        Self::new(policy.report_backoff(), policy.report_retries(), Some(interval))
    }

    /// When any other message is sent again after a network failure.
    pub fn network(policy: &Policy) -> Self {
        Self::new(policy.network_backoff(), policy.network_retries(), None)
    }

    /// The wait before the next attempt after `failures` failed ones; nothing if it is given up.
    pub fn next(&self, failures: u32) -> Option<Duration> {
        match failures {
            0 => Some(Duration::ZERO),
            _ if failures <= self.retries => Some(self.backoff.after(failures)),
            _ => self.then_every,
        }
    }

    /// The wait after the `failures`-th attempt failed like `failure`; nothing if another attempt
    /// would be pointless or the plan is used up.
    pub fn after(&self, failures: u32, failure: CallFailure) -> Option<Duration> {
        if failure.is_retryable() { self.next(failures) } else { None }
    }
}

/// How a call failed, as far as trying again is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CallFailure {
    /// No answer in time.
    TimedOut,
    /// No connection, or it broke.
    Disconnected,
    /// The other side answered with an error of its own.
    Refused,
    /// The answer could not be understood.
    Unreadable,
}

impl CallFailure {
    /// Whether the same call may succeed a moment later. An answer, whatever it says, is final.
    pub const fn is_retryable(self) -> bool {
        match self {
            Self::TimedOut | Self::Disconnected => true,
            Self::Refused | Self::Unreadable => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::RuleSet;

    // req: ERR-3
    #[test]
    fn a_move_is_asked_for_again_as_each_rule_set_says() {
        assert_eq!(waits(RetryPlan::choice(&policy(RuleSet::V21)), 4), [2, 2]);
        assert_eq!(waits(RetryPlan::choice(&policy(RuleSet::V20)), 5), [1, 2, 4]);
    }

    // req: ERR-3
    #[test]
    fn the_network_gets_three_more_chances_fixed_or_doubled() {
        assert_eq!(waits(RetryPlan::network(&policy(RuleSet::V21)), 9), [2, 2, 2]);
        assert_eq!(waits(RetryPlan::network(&policy(RuleSet::V20)), 9), [1, 2, 4]);
    }

    #[test]
    fn a_report_is_never_given_up() {
        for rule_set in RuleSet::ALL {
            let plan = RetryPlan::report(&policy(rule_set));
            assert_eq!(waits(plan, 6), [2, 4, 8, 30, 30, 30]);
            assert_eq!(plan.next(u32::MAX), Some(Duration::from_secs(30)));
        }
    }

    #[test]
    fn the_first_attempt_waits_for_nothing() {
        let plan = RetryPlan::new(Backoff::Fixed(Duration::from_secs(2)), 0, None);
        assert_eq!(plan.next(0), Some(Duration::ZERO));
        assert_eq!(plan.next(1), None);
    }

    #[test]
    fn doubling_for_ever_does_not_overflow() {
        let backoff = Backoff::Exponential(Duration::from_secs(u64::MAX / 2));
        let plan = RetryPlan::new(backoff, u32::MAX, None);
        assert_eq!(plan.next(u32::MAX), Some(Duration::MAX));
    }

    // req: ERR-3
    #[test]
    fn only_silence_and_broken_connections_are_retried() {
        let plan = RetryPlan::network(&policy(RuleSet::V20));
        for (failure, wait) in [
            (CallFailure::TimedOut, Some(Duration::from_secs(2))),
            (CallFailure::Disconnected, Some(Duration::from_secs(2))),
            (CallFailure::Refused, None),
            (CallFailure::Unreadable, None),
        ] {
            assert_eq!(plan.after(2, failure), wait, "{failure:?}");
            assert_eq!(failure.is_retryable(), wait.is_some());
        }
    }

    fn waits(plan: RetryPlan, failures_max: u32) -> Vec<u64> {
        let waits = (1..=failures_max).map_while(|failures| plan.next(failures));
        waits.map(|wait| wait.as_secs()).collect()
    }

    fn policy(rule_set: RuleSet) -> Policy {
        Policy::build(rule_set, []).unwrap()
    }
}
