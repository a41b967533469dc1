//! How a house player chooses. Even/odd with a fair draw is pure luck, so none of them is better
//! for long; but against somebody who always chooses the same, one draws less often than another.

mod guess;

use std::future::{Future, ready};
use std::pin::Pin;
use std::time::Duration;

use league_core::dice::{Dice, SeededDice};
use league_core::game::Parity;
use league_core::id::{MatchId, PlayerId};
use league_wire::message::GameOver;
use league_wire::{Fragment, MoveValue};

/// What a player knows when it must choose.
#[derive(Debug, Clone, Copy, Default)]
pub struct Situation<'a> {
    /// How many matches it has played before.
    pub matches_before: u32,
    /// Whom it plays.
    pub opponent: Option<PlayerId>,
    /// What it was shown of its latest matches, the latest last.
    pub history: &'a [Played],
}

/// A match that is over, as one of its players saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Played {
    /// Against whom.
    pub opponent: PlayerId,
    /// What the opponent chose, if it chose.
    pub theirs: Option<Parity>,
    /// What the number was, if one was drawn.
    pub drawn: Option<Parity>,
}

/// What a player is asked for, in any game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The match.
    pub match_id: MatchId,
    /// The game, if it was named.
    pub game: Option<String>,
    /// Which move of the match this is, counted from one.
    pub step: u32,
    /// What kind of move is asked for; `parity` for even or odd.
    pub move_type: String,
    /// The moves that may be made; empty if they cannot be listed.
    pub options: Vec<MoveValue>,
    /// What the game tells besides, as a JSON object.
    pub context: Option<Fragment>,
    /// The standings, as a JSON list.
    pub standings: Option<Fragment>,
    /// How long the player has for its answer.
    pub time: Duration,
}

/// Even or odd, among the kinds of moves.
pub const PARITY: &str = "parity";

/// A move that is being thought about; nothing if no move is known.
pub type Thought = Pin<Box<dyn Future<Output = Option<MoveValue>> + Send>>;

/// Chooses for a player.
pub trait Strategy: Send {
    /// The choice in this situation.
    fn choose(&mut self, situation: &Situation<'_>) -> Parity;

    /// The number among `options`, where numbers are chosen; `None` if there are none. Unless it is
    /// written otherwise, the first that is what `choose` says.
    fn pick(&mut self, situation: &Situation<'_>, options: &[i64]) -> Option<i64> {
        let wanted = self.choose(situation);
        let found = options.iter().find(|number| parity_of(**number) == wanted);
        found.or_else(|| options.first()).copied()
    }

    /// The move in any game, which may take a while. Unless it is written otherwise, what `choose`
    /// or `pick` says at once.
    fn think(&mut self, situation: &Situation<'_>, asked: &Asked) -> Thought {
        let chosen = if asked.move_type == PARITY {
            let word = match self.choose(situation) {
                Parity::Even => "even",
                Parity::Odd => "odd",
            };
            Some(MoveValue::from(word))
        } else {
            let numbers = asked.options.iter().filter_map(|option| match option {
                MoveValue::Number(number) => Some(*number),
                MoveValue::Text(_) => None,
            });
            let numbers: Vec<i64> = numbers.collect();
            self.pick(situation, &numbers).map(MoveValue::Number)
        };
        Box::pin(ready(chosen))
    }

    /// A match of the player `me` is over.
    fn over(&mut self, _me: PlayerId, _over: &GameOver) {}
}

const fn parity_of(number: i64) -> Parity {
    if number % 2 == 0 { Parity::Even } else { Parity::Odd }
}

/// A strategy that comes with the house. Where numbers are chosen, those that say what to choose
/// mean the number's parity; what others go by tells nothing about numbers, and they take any.
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
    /// Not what this opponent chooses most often; against a stranger, what is drawn most often.
    Frequency,
    /// What followed the last time the draws went like this.
    Pattern,
}

impl House {
    /// Every house strategy.
    pub const ALL: [Self; 6] =
        [Self::Random, Self::Even, Self::Odd, Self::Alternating, Self::Frequency, Self::Pattern];

    /// The name people type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Even => "even",
            Self::Odd => "odd",
            Self::Random => "random",
            Self::Alternating => "alternating",
            Self::Frequency => "frequency",
            Self::Pattern => "pattern",
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
    fn choose(&mut self, situation: &Situation<'_>) -> Parity {
        let toss = if self.dice.below(2) == 0 { Parity::Even } else { Parity::Odd };
        match self.house {
            House::Even => Parity::Even,
            House::Odd => Parity::Odd,
            House::Random => toss,
            House::Alternating if situation.matches_before.is_multiple_of(2) => Parity::Even,
            House::Alternating => Parity::Odd,
            House::Frequency => guess::by_frequency(situation).unwrap_or(toss),
            House::Pattern => guess::by_pattern(situation.history).unwrap_or(toss),
        }
    }

    fn pick(&mut self, situation: &Situation<'_>, options: &[i64]) -> Option<i64> {
        let liked: Vec<i64> = match self.house {
            House::Even | House::Odd | House::Alternating => {
                let wanted = self.choose(situation);
                let wanted = options.iter().filter(|number| parity_of(**number) == wanted);
                wanted.copied().collect()
            }
            House::Random | House::Frequency | House::Pattern => vec![],
        };
        let liked = if liked.is_empty() { options } else { &*liked };
        let index = self.dice.below(u64::try_from(liked.len()).ok().filter(|count| *count > 0)?);
        liked.get(usize::try_from(index).ok()?).copied()
    }
}
