//! How a house player chooses. Even/odd with a fair draw is pure luck, so none of them is better.

use league_core::dice::{Dice, SeededDice};
use league_core::game::Parity;

/// What a player knows when it must choose.
#[derive(Debug, Clone, Copy, Default)]
pub struct Situation {
    /// How many matches it has played before.
    pub matches_before: u32,
}

/// Chooses for a player.
pub trait Strategy: Send {
    /// The choice in this situation.
    fn choose(&mut self, situation: Situation) -> Parity;
}

/// A strategy that comes with the house.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum House {
    /// Always even.
    Even,
    /// Always odd.
    Odd,
    /// A fair coin.
    Random,
    /// Even, odd, even, …
    Alternating,
}

impl House {
    /// Every house strategy.
    pub const ALL: [Self; 4] = [Self::Random, Self::Even, Self::Odd, Self::Alternating];

    /// The name people type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Even => "even",
            Self::Odd => "odd",
            Self::Random => "random",
            Self::Alternating => "alternating",
        }
    }

    /// The strategy called `name`.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|house| house.name() == name)
    }

    /// The strategy itself; `seed` makes its dice repeatable.
    pub fn strategy(self, seed: u64) -> Box<dyn Strategy> {
        let dice = SeededDice::new(seed);
        Box::new(HousePlayer { house: self, dice })
    }
}

struct HousePlayer {
    house: House,
    dice: SeededDice,
}

impl Strategy for HousePlayer {
    fn choose(&mut self, situation: Situation) -> Parity {
        let even = match self.house {
            House::Even => true,
            House::Odd => false,
            House::Random => self.dice.below(2) == 0,
            House::Alternating => situation.matches_before.is_multiple_of(2),
        };
        if even { Parity::Even } else { Parity::Odd }
    }
}
