//! The circuit breakers of the players' addresses, shared by all matches of one referee.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use league_agent::ambient;
use league_agent::caller::CallError;
use league_agent::exchange::AskError;
use league_agent::guard::lock;
use league_core::breaker::{Breaker, Outcome, Permission};
use league_core::policy::Policy;
use league_core::seat::Seat;
use league_core::time::Timestamp;

use super::Referee;
use super::outbound::Letters;
use crate::limits::BREAKERS_MAX;

/// The breakers of those addresses that do not answer.
#[derive(Debug, Default)]
pub(super) struct Breakers(Mutex<BTreeMap<String, Breaker>>);

impl Breakers {
    /// Whether an invitation may be sent to `address`. One that is allowed as a trial uses it up.
    fn begin(&self, address: &str, now: Timestamp) -> Permission {
        let mut known = lock(&self.0);
        let Some(breaker) = known.get_mut(address) else { return Permission::Granted };
        let permission = breaker.allow(now);
        breaker.apply(Outcome::Begun, now);
        permission
    }

    fn is_open(&self, address: &str) -> bool {
        lock(&self.0).get(address).is_some_and(Breaker::is_open)
    }

    /// A call came to nothing. Gives the time of the next trial if that opens the breaker, which
    /// is like `new` until the first failure.
    fn fail(&self, address: &str, new: &Breaker, now: Timestamp) -> Option<Timestamp> {
        let mut known = lock(&self.0);
        if !known.contains_key(address) && known.len() >= BREAKERS_MAX {
            known.pop_first();
        }
        let breaker = known.entry(address.into()).or_insert_with(|| new.clone());
        let before = breaker.clone();
        breaker.apply(Outcome::Failed, now);
        let is_news = breaker.is_open() && *breaker != before;
        breaker.next_deadline().filter(|_| is_news).map(|trial| trial.at)
    }

    /// A call was answered; whether that closes the breaker. An invitation that waited for its
    /// trial is the trial as long as it is repeated: whatever it brings is news.
    fn succeed(&self, address: &str, was_trial: bool, now: Timestamp) -> bool {
        let mut known = lock(&self.0);
        let Some(breaker) = known.get_mut(address) else { return false };
        let was_open = breaker.is_open();
        breaker.apply(Outcome::Succeeded, now);
        let is_closed = was_trial || !breaker.is_open();
        if is_closed {
            known.remove(address);
        }
        was_open && is_closed
    }
}

/// The way to one player of a match, and whether it works.
#[derive(Clone)]
pub(super) struct Line {
    referee: Arc<Referee>,
    letters: Arc<Letters>,
    seat: Seat,
    new: Breaker,
}

impl Line {
    pub(super) fn new(
        referee: &Arc<Referee>,
        letters: &Arc<Letters>,
        seat: Seat,
        policy: &Policy,
    ) -> Self {
        let (referee, letters) = (referee.clone(), letters.clone());
        Self { referee, letters, seat, new: Breaker::from_policy(policy) }
    }

    /// Whether the player may be invited now.
    pub(super) fn begin(&self) -> Permission {
        let permission = self.referee.breakers.begin(self.address(), ambient::now());
        if permission == Permission::Trial {
            self.happened("breaker_trial", "the invitation finds out whether it answers again");
        }
        permission
    }

    /// Whether there is no use in telling the player anything.
    pub(super) fn is_open(&self) -> bool {
        self.referee.breakers.is_open(self.address())
    }

    /// The player did not answer in time.
    pub(super) fn silent(&self) {
        let now = ambient::now();
        if let Some(trial) = self.referee.breakers.fail(self.address(), &self.new, now) {
            let wait = trial.since(now).as_millis();
            let text = format!("too many calls in a row failed; the next trial is in {wait} ms");
            self.happened("breaker_open", &text);
        }
    }

    /// A call ended. That it took too long is for the match to say, which has the deadline.
    pub(super) fn settled(&self, error: Option<&CallError>, was_trial: bool) {
        match error {
            Some(CallError::NotConnected(_) | CallError::Broken(_)) => self.silent(),
            None | Some(CallError::Busy | CallError::TooLarge) => {
                let now = ambient::now();
                if self.referee.breakers.succeed(self.address(), was_trial, now) {
                    self.happened("breaker_closed", "the address answers again");
                }
            }
            Some(
                CallError::TimedOut(_)
                | CallError::Ours(_)
                | CallError::Forbidden(_)
                | CallError::BadAddress(_),
            ) => {}
        }
    }

    /// Something is not told, because nobody would hear it.
    pub(super) fn unheard(&self, what: &str) {
        self.happened("not_told", &format!("{what} is not sent: the breaker is open"));
    }

    fn address(&self) -> &str {
        &self.letters.order.players[self.seat].endpoint
    }

    fn happened(&self, name: &'static str, text: &str) {
        let player = Some(self.letters.player(self.seat).to_string());
        lock(&self.letters.recorder).happened(name, player, text.into());
    }
}

/// What failed of a call whose answer was waited for, if the call itself did.
pub(super) const fn call_error<T>(asked: &Result<T, AskError>) -> Option<&CallError> {
    match asked {
        Err(AskError::Call(error)) => Some(error),
        Err(
            AskError::Frame { .. }
            | AskError::WrongId { .. }
            | AskError::Refused { .. }
            | AskError::Decode(_)
            | AskError::Deviates(_),
        )
        | Ok(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millis(ms)
    }

    // req: ERR-4
    #[test]
    fn addresses_have_breakers_of_their_own_which_are_forgotten_when_they_close() {
        let (breakers, new) = (Breakers::default(), Breaker::new(2, Duration::from_millis(100)));
        assert_eq!(breakers.fail("a", &new, at(0)), None);
        assert_eq!(breakers.fail("a", &new, at(1)), Some(at(101)));
        assert_eq!(breakers.fail("a", &new, at(2)), None, "that is no news");
        assert!(breakers.is_open("a") && !breakers.is_open("b"));
        assert_eq!(breakers.begin("a", at(50)), Permission::Refused { until: at(101) });
        assert_eq!(breakers.begin("b", at(50)), Permission::Granted);
        assert!(!breakers.succeed("a", false, at(60)), "an answer from before");
        assert_eq!(breakers.begin("a", at(101)), Permission::Trial);
        assert!(matches!(breakers.begin("a", at(102)), Permission::Refused { .. }), "only one");
        assert_eq!(breakers.fail("a", &new, at(103)), Some(at(203)));
        assert!(breakers.succeed("a", true, at(104)), "the same invitation, repeated");
        assert_eq!(breakers.begin("a", at(105)), Permission::Granted);
        assert!(lock(&breakers.0).is_empty());
    }

    #[test]
    fn there_are_never_too_many_of_them() {
        let (breakers, new) = (Breakers::default(), Breaker::new(5, Duration::from_secs(1)));
        for number in 0..BREAKERS_MAX + 10 {
            breakers.fail(&number.to_string(), &new, at(0));
        }
        assert_eq!(lock(&breakers.0).len(), BREAKERS_MAX);
    }
}
