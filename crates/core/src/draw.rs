//! The draw of a match: a secret seed, a commitment to it before the invitations, and a number that
//! nobody could choose and everybody can check.
//!
//! The seed depends on the match and on how often it was ordered to be played again, never on the
//! attempt: a referee that vanishes cannot roll a second time. The number depends on the seed and
//! on both players' nonces, never on the published commitment alone.

use std::fmt;
use std::str::FromStr;

use subtle::ConstantTimeEq;

use crate::id::{LeagueId, MatchId};
use crate::proof::{BadCredential, Keys, digest, hex, mac, unhex};
use crate::seat::Seats;

/// One draw: which match of which league, and which playing of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draw {
    league: LeagueId,
    match_id: String,
    rematch: String,
}

impl Draw {
    /// The draw of `match_id` after it was ordered to be played again `rematch` times.
    pub fn new(league: &LeagueId, match_id: MatchId, rematch: u32) -> Self {
        Self {
            league: league.clone(),
            match_id: match_id.to_string(),
            rematch: rematch.to_string(),
        }
    }

    /// The secret seed: HMAC(draw key, `seed`, league, match, rematch).
    pub fn seed(&self, keys: &Keys) -> Seed {
        Seed(mac(keys.draw_key(), "seed", &self.fields()))
    }

    /// What is published before the invitations: SHA-256(`commitment`, league, match, rematch,
    /// seed).
    pub fn commitment(&self, seed: &Seed) -> Commitment {
        let [league, match_id, rematch] = self.fields();
        Commitment(digest("commitment", &[league, match_id, rematch, &seed.0]))
    }

    /// The number, from 1 to 10.
    ///
    /// For counter 0, 1, 2, … the bytes of HMAC(seed, `number`, league, match, rematch, nonce of A,
    /// nonce of B, counter) are looked at in order; the first byte below 250 gives 1 + byte mod 10.
    /// The nonce of a player that sent none is empty.
    pub fn number(&self, seed: &Seed, nonces: Seats<&str>) -> u8 {
        let [league, match_id, rematch] = self.fields();
        let (a, b) = (nonces.a.as_bytes(), nonces.b.as_bytes());
        let bytes = (0_u32..).flat_map(|counter| {
            let counter = counter.to_string();
            let fields = [league, match_id, rematch, a, b, counter.as_bytes()];
            mac(&seed.0, "number", &fields)
        });
        first_fair(bytes)
    }

    /// Checks a published draw against what was promised.
    ///
    /// # Errors
    /// If the seed is not the one committed to, or the number does not follow from it.
    pub fn verify(
        &self,
        commitment: &Commitment,
        seed: &Seed,
        nonces: Seats<&str>,
        number: u8,
    ) -> Result<(), FalseDraw> {
        if self.commitment(seed) != *commitment {
            return Err(FalseDraw::Seed);
        }
        let expected = self.number(seed, nonces);
        if expected != number {
            return Err(FalseDraw::Number { expected, got: number });
        }
        Ok(())
    }

    fn fields(&self) -> [&[u8]; 3] {
        [self.league.as_str().as_bytes(), self.match_id.as_bytes(), self.rematch.as_bytes()]
    }
}

/// Why a draw is not the one that was promised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FalseDraw {
    /// The seed does not fit the commitment.
    #[error("the revealed seed is not the one committed to")]
    Seed,
    /// The number does not follow from seed and nonces.
    #[error("the draw gives {expected}, not {got}")]
    Number {
        /// What seed and nonces give.
        expected: u8,
        /// What was claimed.
        got: u8,
    },
}

/// The secret of one draw, hidden until the match has ended.
#[derive(Clone)]
pub struct Seed([u8; 32]);

impl Seed {
    /// The seed as 64 hex digits, for the operator's referees and, after the match, for everybody.
    pub fn reveal(&self) -> String {
        hex(&self.0)
    }
}

impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[hidden]")
    }
}

impl PartialEq for Seed {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for Seed {}

impl FromStr for Seed {
    type Err = BadCredential;

    fn from_str(text: &str) -> Result<Self, BadCredential> {
        unhex(text)
            .map(Self)
            .ok_or(BadCredential { expected: "a seed of 64 lower-case hex digits" })
    }
}

/// The public promise of a seed, 64 hex digits as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Commitment([u8; 32]);

impl fmt::Display for Commitment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl FromStr for Commitment {
    type Err = BadCredential;

    fn from_str(text: &str) -> Result<Self, BadCredential> {
        unhex(text)
            .map(Self)
            .ok_or(BadCredential { expected: "a commitment of 64 lower-case hex digits" })
    }
}

/// Bytes from 250 are passed over, since 256 is no multiple of ten and they would favour 1 to 6.
fn first_fair(mut bytes: impl Iterator<Item = u8>) -> u8 {
    let byte = bytes.find(|byte| *byte < 250).expect("the bytes never end");
    1 + byte % 10
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::{Dice, SeededDice};
    use crate::id::RoundId;
    use crate::proof::Secret;

    const DRAWS: u32 = 100_000;
    /// A fair draw exceeds this chi-square (nine degrees of freedom) once in a thousand tests.
    const CHI_SQUARE_MAX: f64 = 27.88;

    // req: MATCH-7
    #[test]
    fn draws_are_uniform_and_each_can_be_checked() {
        let keys = Keys::derive(&Secret::new([7; 32]));
        let mut dice = SeededDice::new(1);
        let mut seen = [0_u32; 10];
        for index in 0..DRAWS {
            let draw = draw(index / 100 + 1, index % 100 + 1, 0);
            let seed = draw.seed(&keys);
            let (a, b) = (hex(&dice.bytes32()), hex(&dice.bytes32()));
            let nonces = Seats::new(a.as_str(), b.as_str());
            let number = draw.number(&seed, nonces);
            assert_eq!(draw.verify(&draw.commitment(&seed), &seed, nonces, number), Ok(()));
            seen[usize::from(number) - 1] += 1;
        }
        let expected = f64::from(DRAWS) / 10.0;
        let chi_square: f64 =
            seen.iter().map(|&n| (f64::from(n) - expected).powi(2) / expected).sum();
        assert!(chi_square < CHI_SQUARE_MAX, "{chi_square} {seen:?}");
    }

    #[test]
    fn every_part_changes_the_seed_and_every_nonce_the_number() {
        let keys = Keys::derive(&Secret::new([7; 32]));
        let seed = draw(1, 1, 0).seed(&keys);
        assert_eq!(seed, draw(1, 1, 0).seed(&keys));
        for other in [draw(2, 1, 0), draw(1, 2, 0), draw(1, 1, 1)] {
            assert_ne!(seed, other.seed(&keys));
            assert_ne!(draw(1, 1, 0).commitment(&seed), other.commitment(&seed));
        }
        let differs = |nonces: fn(&str) -> Seats<&str>| {
            let number = |n: u32| draw(1, 1, 0).number(&seed, nonces(&n.to_string()));
            (1..20).any(|n| number(n) != number(0))
        };
        assert!(differs(|nonce| Seats::new(nonce, "")));
        assert!(differs(|nonce| Seats::new("", nonce)));
    }

    #[test]
    fn a_swapped_seed_or_number_is_found() {
        let keys = Keys::derive(&Secret::new([7; 32]));
        let draw = draw(1, 1, 0);
        let (seed, nonces) = (draw.seed(&keys), Seats::new("a", "b"));
        let (commitment, number) = (draw.commitment(&seed), draw.number(&seed, nonces));
        let wrong = number % 10 + 1;
        assert_eq!(
            draw.verify(&commitment, &seed, nonces, wrong),
            Err(FalseDraw::Number { expected: number, got: wrong })
        );
        let other = Seed([1; 32]);
        let number = draw.number(&other, nonces);
        assert_eq!(draw.verify(&commitment, &other, nonces, number), Err(FalseDraw::Seed));
    }

    #[test]
    fn unfair_bytes_are_passed_over() {
        assert_eq!(first_fair([250, 255, 249].into_iter()), 10);
        assert_eq!(first_fair([0].into_iter()), 1);
        assert_eq!(first_fair([251, 13].into_iter()), 4);
    }

    #[test]
    fn a_seed_hides_until_it_is_revealed() {
        let seed = Seed([0xab; 32]);
        assert_eq!(format!("{seed:?}"), "[hidden]");
        assert_eq!(seed.reveal().parse(), Ok(seed));
        assert!("AB".repeat(32).parse::<Seed>().is_err());
    }

    fn draw(round: u32, number: u32, rematch: u32) -> Draw {
        let league = "league_2025_even_odd".parse().unwrap();
        Draw::new(&league, MatchId::new(RoundId::new(round), number), rematch)
    }
}
