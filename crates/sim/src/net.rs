//! The network: what is sent may arrive once, twice, late or never.

use crate::clock::Instant;
use crate::fate::Fate;
use crate::message::{Leg, Node, Packet};
use crate::weather::Network;

/// A packet that took longer than this may have made an answer late.
const FAIR_MS_MAX: u64 = 1_000;
/// How long it takes to learn that a connection is refused or broken.
const REFUSAL_MS: u64 = 2;

/// The way of one packet.
#[derive(Debug, Default)]
pub(crate) struct Route {
    /// When it arrives, in milliseconds from now; more than once if it is duplicated.
    pub(crate) arrives: Vec<u64>,
    /// When its sender learns that it did not.
    pub(crate) fails: Option<u64>,
    /// Whether somebody may be late because of it.
    pub(crate) harmed: bool,
}

/// Two nodes that cannot reach each other; one of them may be anybody.
#[derive(Debug)]
struct Parted {
    one: Node,
    other: Option<Node>,
    until: Instant,
    refuses: bool,
}

/// The network between all nodes.
#[derive(Debug)]
pub(crate) struct Net {
    fate: Fate,
    weather: Network,
    parted: Vec<Parted>,
}

impl Net {
    pub(crate) fn new(seed: u64, weather: Network) -> Self {
        Self { fate: Fate::new(seed, "net"), weather, parted: vec![] }
    }

    /// Cuts `one` off from `other`, or from everybody.
    pub(crate) fn part(&mut self, one: Node, other: Option<Node>, until: Instant, refuses: bool) {
        self.parted.push(Parted { one, other, until, refuses });
    }

    /// From here on everything arrives.
    pub(crate) fn calm(&mut self) {
        self.parted.clear();
        let usual_ms_max = self.weather.usual_ms_max;
        self.weather = Network { usual_ms_max, ..Network::default() };
    }

    /// What becomes of a packet that is sent now.
    pub(crate) fn route(&mut self, packet: &Packet, now: Instant) -> Route {
        self.parted.retain(|parted| parted.until > now);
        let cut = self.parted.iter().find(|parted| parted.cuts(packet));
        if let Some(parted) = cut {
            let fails = (parted.refuses && packet.leg == Leg::Request).then_some(REFUSAL_MS);
            return Route { arrives: vec![], fails, harmed: true };
        }
        let Network { lost, duplicated, refused, reset, delayed, usual_ms_max } = self.weather;
        let fate = &mut self.fate;
        if fate.chance(lost) {
            return Route { harmed: true, ..Route::default() };
        }
        let broken = match packet.leg {
            Leg::Request => fate.chance(refused),
            Leg::Reply => fate.chance(reset),
        };
        if broken {
            return Route { arrives: vec![], fails: Some(REFUSAL_MS), harmed: true };
        }
        let span = |fate: &mut Fate| {
            if fate.chance(delayed) {
                return fate.between(usual_ms_max, 15_000);
            }
            fate.between(1, usual_ms_max)
        };
        let first = span(fate);
        let mut arrives = vec![first];
        if fate.chance(duplicated) {
            arrives.push(span(fate));
        }
        Route { arrives, fails: None, harmed: first > FAIR_MS_MAX }
    }
}

impl Parted {
    fn cuts(&self, packet: &Packet) -> bool {
        let ends = [packet.from, packet.to];
        ends.contains(&self.one) && self.other.is_none_or(|other| ends.contains(&other))
    }
}
