//! A number that tells two results of a match apart.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::game::{Move, Turn};
use crate::seat::Seats;
use crate::verdict::Verdict;

const GATHERED_MAX: usize = 128;

/// Tells two results of a match apart. Only ever compared within one process.
pub(super) fn digest(verdict: Verdict, turns: &[Turn], stranded: &Seats<Option<Move>>) -> u64 {
    let (hasher, bytes) = (DefaultHasher::new(), [0; GATHERED_MAX]);
    let mut gathered = Gathered { hasher, bytes, length: 0 };
    (verdict, turns, stranded).hash(&mut gathered);
    gathered.finish()
}

/// Gathers what is to be hashed: one long piece takes less time than many short ones.
struct Gathered {
    hasher: DefaultHasher,
    bytes: [u8; GATHERED_MAX],
    length: usize,
}

impl Hasher for Gathered {
    #[inline]
    fn write(&mut self, piece: &[u8]) {
        let room = &mut self.bytes[self.length..];
        if let Some(room) = room.get_mut(..piece.len()) {
            room.copy_from_slice(piece);
            self.length += piece.len();
        } else {
            self.hasher.write(&self.bytes[..self.length]);
            self.hasher.write(piece);
            self.length = 0;
        }
    }

    /// Which variant it is: nearly always a small number.
    #[inline]
    fn write_isize(&mut self, number: isize) {
        match u8::try_from(number) {
            Ok(small) => self.write(&[small]),
            Err(_) => self.write(&number.to_ne_bytes()),
        }
    }

    fn finish(&self) -> u64 {
        let mut hasher = self.hasher.clone();
        hasher.write(&self.bytes[..self.length]);
        hasher.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seat::Seat;

    #[test]
    fn results_that_differ_anywhere_have_different_digests() {
        let word = |text: &str| Move::word(text);
        let moves = |a, b| Turn::Moves(Seats::new(a, b));
        let long = "x".repeat(200);
        let games = [
            vec![],
            vec![Turn::Drawn(1)],
            vec![Turn::Drawn(256)],
            vec![Turn::Drawn(1), Turn::Drawn(1)],
            vec![moves(word("even"), word("odd"))],
            vec![moves(word("odd"), word("even"))],
            vec![moves(word("evenodd"), word(""))],
            vec![moves(None, word("even")), moves(word("odd"), None)],
            vec![moves(Some(Move::Number(1)), None)],
            vec![moves(word(&long), word("a"))],
            vec![moves(word(&long), word("b"))],
            (0..300).map(Turn::Drawn).collect(),
            (0..301).map(Turn::Drawn).collect(),
        ];
        let mut seen = vec![];
        for verdict in [Verdict::Won(Seat::A), Verdict::Won(Seat::B), Verdict::Drawn] {
            for turns in &games {
                for stranded in [None, word("even"), word(&long)] {
                    for stranded in [Seats::new(stranded.clone(), None), Seats::new(None, stranded)]
                    {
                        seen.push((
                            (verdict, turns, stranded.clone()),
                            digest(verdict, turns, &stranded),
                        ));
                    }
                }
            }
        }
        for (one, digest) in &seen {
            for (other, others) in &seen {
                assert_eq!(one == other, digest == others, "{one:?} {other:?}");
            }
        }
    }
}
