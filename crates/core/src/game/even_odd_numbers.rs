//! Even or odd with numbers: both players choose a number from 1 to 5 in secret, a number from 1 to
//! 10 is drawn, and the parity of all three together decides for the player whose role it is.

use std::sync::Arc;

use super::{Game, Move, Next, Options, Outcome, Parity, Step, Turn};
use crate::id::MatchId;
use crate::seat::{Seat, Seats};

/// The game `even_odd_numbers`.
#[derive(Debug, Clone, Copy)]
pub struct EvenOddNumbers {
    even: Seat,
}

impl EvenOddNumbers {
    /// The name in `game_type`.
    pub const NAME: &'static str = "even_odd_numbers";
    /// The smallest number that can be chosen.
    pub const LEAST: i64 = 1;
    /// The largest number that can be chosen.
    pub const MOST: i64 = 5;
    /// The largest number that can be drawn.
    pub const FACES: u32 = 10;

    /// The game as it is played in match `id`. Side A is even in matches with an odd number, and in
    /// the first round in the others. From round to round most players move on by one match or
    /// change sides, and so have the same role at most twice in a row.
    pub const fn of(id: MatchId) -> Self {
        let is_first = id.round.number() == 1;
        let is_odd = id.number() % 2 == 1;
        Self { even: if is_odd == is_first { Seat::B } else { Seat::A } }
    }

    fn parity_of(self, seat: Seat) -> Parity {
        if seat == self.even { Parity::Even } else { Parity::Odd }
    }
}

impl Default for EvenOddNumbers {
    /// With side A as the even one.
    fn default() -> Self {
        Self { even: Seat::A }
    }
}

impl Game for EvenOddNumbers {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn steps_max(&self) -> u32 {
        1
    }

    fn in_match(&self, id: MatchId) -> Arc<dyn Game> {
        Arc::new(Self::of(id))
    }

    fn role(&self, seat: Seat) -> Option<&'static str> {
        Some(self.parity_of(seat).word())
    }

    fn next(&self, turns: &[Turn]) -> Next {
        match turns {
            [] => {
                let options = Some(Options::Range(Self::LEAST, Self::MOST));
                Next::Moves(Step { kind: "number", owed: Seats::new(options.clone(), options) })
            }
            [Turn::Moves(_)] => Next::Draw { faces: Self::FACES },
            [Turn::Moves(moves), Turn::Drawn(number), ..] => {
                let sum = sum(moves, *number).expect("only legal turns are asked about");
                let odd = self.even.other();
                Next::Over(Outcome::Won(if sum % 2 == 0 { self.even } else { odd }))
            }
            [Turn::Drawn(_), ..] | [Turn::Moves(_), Turn::Moves(_), ..] => {
                unreachable!("only legal turns are asked about")
            }
        }
    }

    fn explain(&self, turns: &[Turn]) -> Option<String> {
        let [Turn::Moves(moves), Turn::Drawn(number)] = turns else { return None };
        let (a, b, sum) = (moves.a.as_ref()?, moves.b.as_ref()?, sum(moves, *number)?);
        let parity = if sum % 2 == 0 { Parity::Even } else { Parity::Odd };
        Some(format!("{a} + {b} + {number} = {sum} ({parity})"))
    }
}

fn sum(moves: &Seats<Option<Move>>, drawn: u32) -> Option<i64> {
    let number = |seat: Seat| match &moves[seat] {
        Some(Move::Number(number)) => Some(*number),
        Some(Move::Word(_)) | None => None,
    };
    number(Seat::A)?.checked_add(number(Seat::B)?)?.checked_add(drawn.into())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::game::{NotAGame, by_name, replay};
    use crate::id::{PlayerId, RoundId};
    use crate::schedule::RoundRobin;

    /// Who wins where side A is even, by its number (down) and that of side B (across).
    const DRAWN_EVEN: [&str; 5] = ["ABABA", "BABAB", "ABABA", "BABAB", "ABABA"];
    const DRAWN_ODD: [&str; 5] = ["BABAB", "ABABA", "BABAB", "ABABA", "BABAB"];
    const BY_NUMBER: [[&str; 5]; 10] = [
        DRAWN_ODD, DRAWN_EVEN, DRAWN_ODD, DRAWN_EVEN, DRAWN_ODD, DRAWN_EVEN, DRAWN_ODD, DRAWN_EVEN,
        DRAWN_ODD, DRAWN_EVEN,
    ];

    fn turns(a: i64, b: i64, drawn: u32) -> [Turn; 2] {
        let moves = Seats::new(Some(Move::Number(a)), Some(Move::Number(b)));
        [Turn::Moves(moves), Turn::Drawn(drawn)]
    }

    fn of_round(round: u32) -> Arc<dyn Game> {
        let game = by_name(EvenOddNumbers::NAME).unwrap();
        game.in_match(MatchId::new(RoundId::new(round), 1))
    }

    #[test]
    fn every_pair_of_numbers_and_every_draw_has_the_winner_of_the_table() {
        let games = [(of_round(2), 'A'), (of_round(1), 'B')];
        for (drawn, rows) in (1..).zip(BY_NUMBER) {
            for (a, row) in (1..).zip(rows) {
                for (b, winner) in (1..).zip(row.chars()) {
                    for (game, side_of_even) in &games {
                        let winner = if winner == *side_of_even { Seat::A } else { Seat::B };
                        let outcome = replay(&**game, &turns(a, b, drawn));
                        assert_eq!(outcome, Ok(Outcome::Won(winner)), "{a} {b} {drawn}");
                    }
                }
            }
        }
        let told = of_round(1).explain(&turns(3, 4, 5));
        assert_eq!(told.as_deref(), Some("3 + 4 + 5 = 12 (even)"));
    }

    #[test]
    fn only_whole_numbers_from_one_to_five_are_choices() {
        let Next::Moves(step) = of_round(1).next(&[]) else { panic!("a choice is owed") };
        let options = step.owed.b.unwrap();
        assert_eq!(options.to_string(), "a whole number from 1 to 5");
        assert_eq!(options.listed(), (1..=5).map(Move::Number).collect::<Vec<_>>());
        for number in [0, 6, -3, i64::MAX, i64::MIN] {
            assert!(!options.allow(&Move::Number(number)), "{number}");
            assert_eq!(replay(&*of_round(1), &turns(number, 1, 1)), Err(NotAGame::IllegalMove(0)));
        }
        for word in ["3", "even", ""] {
            let word = Move::word(word).unwrap();
            assert!(!options.allow(&word), "{word}");
            assert_eq!(options.shown(&word), format!("\"{word}\""));
        }
        assert_eq!(replay(&*of_round(1), &turns(1, 1, 11)), Err(NotAGame::IllegalMove(1)));
    }

    #[test]
    fn roles_alternate_for_everybody() {
        for players in 2..=40 {
            let mut roles = vec![String::new(); players as usize];
            for (id, pairing) in RoundRobin::matches(players) {
                let game = EvenOddNumbers::of(id);
                let words = Seats::from_fn(|seat| game.role(seat).unwrap());
                assert_ne!(words.a, words.b, "{id}");
                let mut note =
                    |player: PlayerId, word: &str| roles[player.index()].push_str(&word[..1]);
                note(pairing.a, words.a);
                note(pairing.b, words.b);
            }
            for (index, had) in roles.iter().enumerate() {
                let even = had.matches('e').count();
                assert!(even.abs_diff(had.len() - even) <= 2, "{index} of {players}: {had}");
                assert!(!had.contains("eee") && !had.contains("ooo"), "{index}: {had}");
            }
        }
    }

    proptest! {
        #[test]
        fn one_side_wins_and_the_other_parity_turns_it_round(
            a in 1..=5_i64, b in 1..=5_i64, drawn in 1..=9_u32, round in 1..1_000_u32,
        ) {
            let game = of_round(round);
            let outcome = |drawn| match replay(&*game, &turns(a, b, drawn)) {
                Ok(Outcome::Won(seat)) => Ok(seat),
                other => Err(other),
            };
            prop_assert_eq!(outcome(drawn).unwrap(), outcome(drawn + 1).unwrap().other());
            let winner = game.role(outcome(drawn).unwrap()).unwrap();
            let told = game.explain(&turns(a, b, drawn)).unwrap();
            prop_assert!(told.contains(winner), "{} {}", told, winner);
        }
    }
}
