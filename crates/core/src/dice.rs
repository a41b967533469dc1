//! Randomness as something handed in. `decide` rolls, the number stands in the event, so that
//! replay never rolls again.

/// A source of random bytes.
pub trait Dice {
    /// Fills `out` with random bytes.
    fn fill(&mut self, out: &mut [u8]);

    /// Thirty-two random bytes, enough for a secret or a nonce.
    fn bytes32(&mut self) -> [u8; 32] {
        let mut out = [0; 32];
        self.fill(&mut out);
        out
    }

    /// A random number below `bound`, every one equally likely.
    ///
    /// # Panics
    /// If `bound` is zero.
    fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "nothing is below zero");
        let fair = u64::MAX - u64::MAX % bound;
        loop {
            let mut out = [0; 8];
            self.fill(&mut out);
            let roll = u64::from_le_bytes(out);
            if roll < fair {
                return roll % bound;
            }
        }
    }
}

/// Dice that repeat themselves for the same seed: for strategies, tests and simulations, never for
/// secrets.
#[derive(Debug, Clone)]
pub struct SeededDice {
    state: u64,
}

impl SeededDice {
    /// Dice that always roll the same sequence for `seed`.
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// SplitMix64: every seed, zero included, gives a full-period sequence.
    const fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

impl Dice for SeededDice {
    fn fill(&mut self, out: &mut [u8]) {
        for chunk in out.chunks_mut(8) {
            let roll = self.next().to_le_bytes();
            chunk.copy_from_slice(&roll[..chunk.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_rolls_the_same() {
        assert_eq!(SeededDice::new(7).bytes32(), SeededDice::new(7).bytes32());
        assert_ne!(SeededDice::new(7).bytes32(), SeededDice::new(8).bytes32());
    }

    #[test]
    fn numbers_below_a_bound_are_spread_evenly() {
        let mut dice = SeededDice::new(1);
        let mut seen = [0_u32; 10];
        for _ in 0..10_000 {
            seen[usize::try_from(dice.below(10)).unwrap()] += 1;
        }
        assert!(seen.iter().all(|&n| (850..1_150).contains(&n)), "{seen:?}");
    }
}
