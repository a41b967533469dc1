//! Guessing from what was seen so far. Against fair draws it is as good as a coin, which is the
//! lesson.

use league_core::game::Parity;

use super::{Played, Situation};

/// The longest run of draws that is compared with earlier ones.
const RUN_MAX: usize = 8;

/// A match is only won by who chooses differently, so the best answer to somebody's habit is the
/// opposite. A stranger's habits are not known; then the draws' are all there is.
pub(super) fn by_frequency(situation: &Situation<'_>) -> Option<Parity> {
    let of_theirs = situation
        .history
        .iter()
        .filter(|played| situation.opponent.is_some_and(|opponent| played.opponent == opponent));
    let habit = most_often(of_theirs.filter_map(|played| played.theirs));
    habit.map(other).or_else(|| most_often(situation.history.iter().filter_map(|p| p.drawn)))
}

/// What followed the latest earlier occurrence of the longest run that the draws end with.
pub(super) fn by_pattern(history: &[Played]) -> Option<Parity> {
    let draws: Vec<Parity> = history.iter().filter_map(|played| played.drawn).collect();
    let longest = RUN_MAX.min(draws.len().saturating_sub(1));
    (1..=longest).rev().find_map(|length| {
        let run = &draws[draws.len() - length..];
        let mut starts = (0..draws.len() - length).rev();
        let latest = starts.find(|start| draws[*start..].starts_with(run));
        latest.map(|start| draws[start + length])
    })
}

/// What is there more often; nothing if neither is.
fn most_often(seen: impl Iterator<Item = Parity>) -> Option<Parity> {
    let mut surplus_of_even = 0_i64;
    for parity in seen {
        match parity {
            Parity::Even => surplus_of_even += 1,
            Parity::Odd => surplus_of_even -= 1,
        }
    }
    match surplus_of_even {
        0 => None,
        1.. => Some(Parity::Even),
        ..0 => Some(Parity::Odd),
    }
}

const fn other(parity: Parity) -> Parity {
    match parity {
        Parity::Even => Parity::Odd,
        Parity::Odd => Parity::Even,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::House;

    fn played(opponent: u32, theirs: char, drawn: char) -> Played {
        let opponent = format!("P{opponent:02}").parse().unwrap();
        Played { opponent, theirs: parity(theirs), drawn: parity(drawn) }
    }

    fn parity(letter: char) -> Option<Parity> {
        match letter {
            'e' => Some(Parity::Even),
            'o' => Some(Parity::Odd),
            _ => None,
        }
    }

    fn draws(letters: &str) -> Vec<Played> {
        letters.chars().map(|letter| played(1, '-', letter)).collect()
    }

    #[test]
    fn the_opponents_habit_counts_before_that_of_the_draws() {
        let history = [played(1, 'e', 'e'), played(1, 'e', 'e'), played(2, 'o', 'e')];
        let against = |opponent: u32| {
            let opponent = format!("P{opponent:02}").parse().ok();
            by_frequency(&Situation { matches_before: 3, opponent, history: &history })
        };
        assert_eq!(against(1), Some(Parity::Odd), "it likes even");
        assert_eq!(against(2), Some(Parity::Even), "it likes odd");
        assert_eq!(against(3), Some(Parity::Even), "most draws were even");
        assert_eq!(by_frequency(&Situation::default()), None);
    }

    #[test]
    fn the_longest_run_that_came_before_says_what_comes() {
        for (seen, expected) in [
            ("", None),
            ("e", None),
            ("eo", None),
            ("ee", Some(Parity::Even)),
            ("eoe", Some(Parity::Odd)),
            ("eeoee", Some(Parity::Odd)),
            ("oeeooee", Some(Parity::Odd)),
            ("oe-oe-o", Some(Parity::Even)),
        ] {
            assert_eq!(by_pattern(&draws(seen)), expected, "{seen}");
        }
    }

    #[test]
    fn every_house_player_is_found_by_its_name_and_repeats_itself_for_its_seed() {
        for house in House::ALL {
            assert_eq!(House::find(house.name()), Some(house));
            let choices = |seed| -> Vec<Parity> {
                let mut strategy = house.strategy(seed);
                let choose = |n| {
                    let situation = Situation { matches_before: n, ..Situation::default() };
                    strategy.choose(&situation)
                };
                (0..32).map(choose).collect()
            };
            assert_eq!(choices(1), choices(1), "{}", house.name());
        }
        assert_eq!(House::find("luck"), None);
    }
}
