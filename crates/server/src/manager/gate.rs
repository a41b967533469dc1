//! How often the manager is asked: agents count by their token, everybody else by the address.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Mutex;
use std::time::Duration;

use league_agent::guard::lock;
use league_agent::limits::RATE_KEYS_MAX;
use league_agent::rate::{Rate, RateLimiter};
use league_core::limits::{PLAYERS_MAX, REFEREES_MAX};
use league_core::time::Timestamp;

use crate::limits::{AGENT_REQUESTS, REGISTRATIONS, STRANGER_REQUESTS};

/// How often a manager may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rates {
    /// By one agent, or by the administrator.
    pub agent: Rate,
    /// By whoever shows no valid token, from one address.
    pub stranger: Rate,
    /// To register somebody, from one address.
    pub registrations: Rate,
}

impl Default for Rates {
    fn default() -> Self {
        let rate = |(count, span)| Rate::per(count, span);
        Self {
            agent: rate(AGENT_REQUESTS),
            stranger: rate(STRANGER_REQUESTS),
            registrations: rate(REGISTRATIONS),
        }
    }
}

impl Rates {
    /// For a league whose agents all come from this machine, as fast as they can, and nobody else.
    pub fn of_one_house() -> Self {
        let everybody = PLAYERS_MAX + REFEREES_MAX;
        Self { registrations: Rate::per(everybody, Duration::from_secs(1)), ..Self::default() }
    }
}

/// Who asks, as far as its requests are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Visitor {
    /// An agent that showed its token, by the nonce that nobody else has.
    Agent([u8; 32]),
    Administrator,
    Stranger(IpAddr),
    Newcomer(IpAddr),
}

/// Counts who asks.
#[derive(Debug)]
pub(super) struct Gate {
    agents: Mutex<RateLimiter<Visitor>>,
    strangers: Mutex<RateLimiter<Visitor>>,
    newcomers: Mutex<RateLimiter<Visitor>>,
}

impl Gate {
    pub(super) fn new(rates: Rates) -> Self {
        let limiter = |rate| Mutex::new(RateLimiter::new(rate, RATE_KEYS_MAX));
        Self {
            agents: limiter(rates.agent),
            strangers: limiter(rates.stranger),
            newcomers: limiter(rates.registrations),
        }
    }

    /// Lets a call through, each of whose parts counts for its sender.
    ///
    /// # Errors
    /// If one of them asks too often: when to come back.
    pub(super) fn admit(&self, now: Timestamp, parts: &[Visitor]) -> Result<(), Duration> {
        if let [only] = parts {
            return self.count(now, only, 1);
        }
        let mut costs: BTreeMap<Visitor, u32> = BTreeMap::new();
        for visitor in parts {
            *costs.entry(*visitor).or_default() += 1;
        }
        costs.iter().try_for_each(|(visitor, cost)| self.count(now, visitor, *cost))
    }

    fn count(&self, now: Timestamp, visitor: &Visitor, cost: u32) -> Result<(), Duration> {
        let limiter = match visitor {
            Visitor::Agent(_) | Visitor::Administrator => &self.agents,
            Visitor::Stranger(_) => &self.strangers,
            Visitor::Newcomer(_) => &self.newcomers,
        };
        lock(limiter).admit(visitor, cost, now)
    }
}

/// The address that strangers are counted by. Whoever has one IPv6 address has the whole network of
/// its first 64 bits.
pub(super) fn origin(peer: SocketAddr) -> IpAddr {
    match peer.ip().to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn gate() -> Gate {
        let rates = Rates {
            agent: Rate::per(10, SECOND),
            stranger: Rate::per(4, SECOND),
            registrations: Rate::per(2, SECOND),
        };
        Gate::new(rates)
    }

    fn from(address: &str) -> IpAddr {
        origin(SocketAddr::new(address.parse().unwrap(), 1))
    }

    #[test]
    fn everybody_is_counted_apart_and_every_part_of_a_batch() {
        let (gate, now) = (gate(), Timestamp::from_millis(0));
        let (one, other) = (Visitor::Agent([1; 32]), Visitor::Agent([2; 32]));
        assert_eq!(gate.admit(now, &[one; 9]), Ok(()));
        assert!(gate.admit(now, &[one; 2]).is_err());
        assert_eq!(gate.admit(now, &[one]), Ok(()));
        assert!(gate.admit(now, &[other, one]).is_err(), "one of them asks too often");
        let here = from("10.0.0.1");
        assert_eq!(gate.admit(now, &[Visitor::Stranger(here); 4]), Ok(()));
        assert!(gate.admit(now, &[Visitor::Stranger(here)]).is_err());
        assert_eq!(gate.admit(now, &[Visitor::Newcomer(here); 2]), Ok(()));
        assert!(gate.admit(now, &[Visitor::Newcomer(here)]).is_err());
        assert_eq!(gate.admit(now, &[Visitor::Stranger(from("10.0.0.2"))]), Ok(()));
        assert_eq!(gate.admit(now, &[Visitor::Administrator]), Ok(()));
    }

    #[test]
    fn an_address_counts_however_it_is_dressed() {
        assert_eq!(from("::ffff:10.0.0.1"), from("10.0.0.1"));
        assert_eq!(from("2606:2800:220:1::1"), from("2606:2800:220:1:ffff::2"));
        assert_ne!(from("2606:2800:220:1::1"), from("2606:2800:220:2::1"));
    }
}
