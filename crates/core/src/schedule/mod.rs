//! Who meets whom: formats that give a league's next round, and the referees that officiate it.
//!
//! A format is a pure function of the field and of what was played so far, so that replay gives
//! the same rounds. Round robin needs no history; a format that pairs by results reads it.

use std::fmt::Debug;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::id::{PlayerId, RoundId};
use crate::seat::Seat;
use crate::verdict::Verdict;

pub mod officials;
pub mod round_robin;
#[cfg(test)]
pub(crate) mod tests;

pub use round_robin::RoundRobin;

/// Two players who meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Pairing {
    /// The player on side A.
    pub a: PlayerId,
    /// The player on side B.
    pub b: PlayerId,
}

impl Pairing {
    /// `a` on side A against `b` on side B.
    pub const fn new(a: PlayerId, b: PlayerId) -> Self {
        Self { a, b }
    }

    /// The player on this side.
    pub const fn player(self, seat: Seat) -> PlayerId {
        match seat {
            Seat::A => self.a,
            Seat::B => self.b,
        }
    }

    /// The side of `player`, if it takes part.
    pub fn seat_of(self, player: PlayerId) -> Option<Seat> {
        Seat::BOTH.into_iter().find(|&seat| self.player(seat) == player)
    }
}

/// One round: who meets whom, and who rests.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Round {
    /// The matches, in the order of their numbers.
    pub pairings: Vec<Pairing>,
    /// The players without a match.
    pub byes: Vec<PlayerId>,
}

/// One round as it was played.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RoundResults {
    /// The matches with their verdicts, in the order of their numbers.
    pub matches: Vec<(Pairing, Verdict)>,
    /// The players without a match.
    pub byes: Vec<PlayerId>,
}

/// A way to run a league: which round comes next.
pub trait Format: Debug + Send + Sync {
    /// The name people type.
    fn name(&self) -> &'static str;

    /// How many rounds a league of `players` players takes, if that is known in advance.
    fn rounds_total(&self, players: u32) -> Option<u32>;

    /// A round that is known before it is its turn, where the format does not pair by results.
    fn planned(&self, _players: &[PlayerId], _round: RoundId) -> Option<Round> {
        None
    }

    /// The round after `past`, or nothing if the league is over.
    ///
    /// `players` are in registration order, as they stood at the start: somebody who left since
    /// keeps the place, and the matches become walkovers.
    fn next_round(&self, players: &[PlayerId], past: &[RoundResults]) -> Option<Round>;
}

/// Every format's name.
pub const NAMES: &[&str] = &[RoundRobin::NAME];

/// The format called `name`.
pub fn by_name(name: &str) -> Option<Arc<dyn Format>> {
    match name {
        RoundRobin::NAME => Some(Arc::new(RoundRobin)),
        _ => None,
    }
}
