//! Everybody meets everybody once, by the circle method.
//!
//! Any match can be computed from its position alone, in constant time, so that a league of
//! thousands never holds its schedule in memory.
//!
//! The circle has an odd number of places. In round `r` the places `r + k` and `r − k` meet, and
//! place `r` itself stands alone: it meets the one player outside the circle if the number of
//! players is even, and rests if it is odd. The first player stands outside, which gives four
//! players document 002's table.

use crate::id::{MatchId, PlayerId, RoundId};

use super::{Format, Pairing, Round, RoundResults};

/// Everybody meets everybody once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RoundRobin;

/// Up to this many players the one who registered first sits on side A, as document 002 prints it.
/// Beyond, sides are balanced: each player sits on A as often as on B, give or take one.
const LOWER_FIRST_MAX: u32 = 4;

impl RoundRobin {
    /// The name people type.
    pub const NAME: &'static str = "round_robin";

    /// How many rounds `players` players take.
    pub const fn rounds(players: u32) -> u32 {
        match players {
            0 | 1 => 0,
            _ => players - (players + 1) % 2,
        }
    }

    /// How many matches each round has.
    pub const fn matches_per_round(players: u32) -> u32 {
        players / 2
    }

    /// The match at `index` of `round`, both counted from zero; the first to register is `P01`.
    ///
    /// # Panics
    /// If there is no such round or match.
    pub fn pair(players: u32, round: u32, index: u32) -> Pairing {
        assert!(round < Self::rounds(players), "no such round");
        assert!(index < Self::matches_per_round(players), "no such match");
        Circle::of(players).pair(round, index)
    }

    /// Who rests in `round`, counted from zero; the first to register is `P01`.
    ///
    /// # Panics
    /// If there is no such round.
    pub fn bye(players: u32, round: u32) -> Option<PlayerId> {
        assert!(round < Self::rounds(players), "no such round");
        (players % 2 == 1).then(|| PlayerId::new(round + 1))
    }

    /// Every match of the league in order, computed one by one; the first to register is `P01`.
    pub fn matches(players: u32) -> impl Iterator<Item = (MatchId, Pairing)> {
        let circle = Circle::of(players);
        (0..Self::rounds(players)).flat_map(move |round| {
            let id = RoundId::new(round + 1);
            (0..Self::matches_per_round(players))
                .map(move |index| (MatchId::new(id, index + 1), circle.pair(round, index)))
        })
    }
}

impl Format for RoundRobin {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn rounds_total(&self, players: u32) -> Option<u32> {
        Some(Self::rounds(players))
    }

    fn next_round(&self, players: &[PlayerId], past: &[RoundResults]) -> Option<Round> {
        self.planned(players, RoundId::new(u32::try_from(past.len()).ok()?.checked_add(1)?))
    }

    fn planned(&self, players: &[PlayerId], round: RoundId) -> Option<Round> {
        let count = u32::try_from(players.len()).ok()?;
        let round = round.number() - 1;
        if round >= Self::rounds(count) {
            return None;
        }
        let named = |position: PlayerId| players[position.index()];
        let pairings = (0..Self::matches_per_round(count))
            .map(|index| Self::pair(count, round, index))
            .map(|pair| Pairing::new(named(pair.a), named(pair.b)))
            .collect();
        let byes = Self::bye(count, round).map(named).into_iter().collect();
        Some(Round { pairings, byes })
    }
}

/// What is the same for every match of a league.
#[derive(Debug, Clone, Copy)]
struct Circle {
    /// Always an odd number.
    places: u32,
    /// The number of the player at place zero: 1, or 2 if the first player stands outside.
    first: u32,
    /// The distance from place `r` of a round's first match: 1, or 0 if `r` meets who is outside.
    nearest: u32,
    lower_first: bool,
}

impl Circle {
    fn of(players: u32) -> Self {
        let odd = players % 2;
        Self {
            places: RoundRobin::rounds(players),
            first: 2 - odd,
            nearest: odd,
            lower_first: players <= LOWER_FIRST_MAX,
        }
    }

    fn pair(self, round: u32, index: u32) -> Pairing {
        let distance = index + self.nearest;
        if distance == 0 {
            return pairing(self.lower_first || round.is_multiple_of(2), 1, round + self.first);
        }
        let ahead = round + distance;
        let ahead = if ahead < self.places { ahead } else { ahead - self.places };
        let behind = if round < distance { round + self.places } else { round } - distance;
        // Over the rounds each place is once behind and once ahead at every distance.
        let behind_first = !self.lower_first || behind < ahead;
        pairing(behind_first, behind + self.first, ahead + self.first)
    }
}

/// Two players by number; `in_order`, the first of them sits on side A.
fn pairing(in_order: bool, first: u32, second: u32) -> Pairing {
    let (first, second) = (PlayerId::new(first), PlayerId::new(second));
    if in_order { Pairing::new(first, second) } else { Pairing::new(second, first) }
}
