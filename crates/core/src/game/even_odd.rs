//! Even or odd: both players choose in secret, a number from 1 to 10 is drawn, the parity decides.

use std::fmt;
use std::sync::Arc;

use super::{Game, Move, Next, Options, Outcome, Step, Turn};
use crate::id::MatchId;
use crate::seat::{Seat, Seats};

/// Whether a number is even or odd.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Parity {
    /// Divisible by two.
    Even,
    /// Not divisible by two.
    Odd,
}

impl Parity {
    const WORDS: &'static [&'static str] = &["even", "odd"];

    /// The parity of `number`.
    pub const fn of(number: u32) -> Self {
        if number.is_multiple_of(2) { Self::Even } else { Self::Odd }
    }

    /// The word on the wire.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Even => "even",
            Self::Odd => "odd",
        }
    }
}

impl fmt::Display for Parity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// The game `even_odd`.
#[derive(Debug, Clone, Copy)]
pub struct EvenOdd;

impl EvenOdd {
    /// The name in `game_type`.
    pub const NAME: &'static str = "even_odd";
    /// The largest number that can be drawn.
    pub const FACES: u32 = 10;
}

impl Game for EvenOdd {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn steps_max(&self) -> u32 {
        1
    }

    fn in_match(&self, _id: MatchId) -> Arc<dyn Game> {
        Arc::new(*self)
    }

    fn next(&self, turns: &[Turn]) -> Next {
        match turns {
            [] => {
                let options = Some(Options::Words(Parity::WORDS));
                Next::Moves(Step { kind: "parity", owed: Seats::new(options.clone(), options) })
            }
            [Turn::Moves(_)] => Next::Draw { faces: Self::FACES },
            [Turn::Moves(moves), Turn::Drawn(number), ..] => Next::Over(outcome(moves, *number)),
            [Turn::Drawn(_), ..] | [Turn::Moves(_), Turn::Moves(_), ..] => {
                unreachable!("only legal turns are asked about")
            }
        }
    }
}

fn outcome(moves: &Seats<Option<Move>>, number: u32) -> Outcome {
    if moves.a == moves.b {
        return Outcome::Drawn;
    }
    let drawn = Parity::of(number).word();
    let a_is_right = matches!(&moves.a, Some(Move::Word(word)) if word.as_str() == drawn);
    Outcome::Won(if a_is_right { Seat::A } else { Seat::B })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::{NotAGame, replay};

    // req: MATCH-8
    #[test]
    fn the_parity_of_the_number_decides() {
        for number in 1..=10 {
            let even_wins = number % 2 == 0;
            check("even", "odd", number, Outcome::Won(if even_wins { Seat::A } else { Seat::B }));
            check("odd", "even", number, Outcome::Won(if even_wins { Seat::B } else { Seat::A }));
            check("even", "even", number, Outcome::Drawn);
            check("odd", "odd", number, Outcome::Drawn);
        }
    }

    // req: MATCH-5
    #[test]
    fn only_the_exact_words_are_choices() {
        let Next::Moves(step) = EvenOdd.next(&[]) else { panic!("a choice is owed") };
        let options = step.owed.a.unwrap();
        for word in ["even", "odd"] {
            assert!(options.allow(&Move::word(word).unwrap()));
        }
        for word in ["Even", "ODD", " even", "", "maybe", "0"] {
            assert!(!options.allow(&Move::word(word).unwrap()), "{word}");
        }
        assert!(!options.allow(&Move::Number(2)));
        assert_eq!(options.to_string(), "'even' or 'odd'");
    }

    #[test]
    fn a_record_that_is_no_game_is_told_apart() {
        let moves = || Turn::Moves(Seats::new(Move::word("even"), Move::word("odd")));
        let half = Turn::Moves(Seats::new(Move::word("even"), None));
        let wrong = Turn::Moves(Seats::new(Move::word("even"), Move::word("maybe")));
        assert_eq!(replay(&EvenOdd, &[]), Err(NotAGame::Unfinished));
        assert_eq!(replay(&EvenOdd, &[moves()]), Err(NotAGame::Unfinished));
        assert_eq!(replay(&EvenOdd, &[half]), Err(NotAGame::WrongTurn(0)));
        assert_eq!(replay(&EvenOdd, &[wrong]), Err(NotAGame::IllegalMove(0)));
        assert_eq!(replay(&EvenOdd, &[Turn::Drawn(3)]), Err(NotAGame::WrongTurn(0)));
        assert_eq!(replay(&EvenOdd, &[moves(), Turn::Drawn(11)]), Err(NotAGame::IllegalMove(1)));
        let long = [moves(), Turn::Drawn(3), Turn::Drawn(3)];
        assert_eq!(replay(&EvenOdd, &long), Err(NotAGame::AfterTheEnd(2)));
    }

    fn check(a: &str, b: &str, number: u32, expected: Outcome) {
        let moves = Turn::Moves(Seats::new(Move::word(a), Move::word(b)));
        assert_eq!(replay(&EvenOdd, &[moves, Turn::Drawn(number)]), Ok(expected));
    }
}
