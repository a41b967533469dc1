//! Everything that is left to chance, drawn from the seed. Each purpose has a stream of its own, so
//! that one more roll in one place does not change what happens in another.

use league_core::dice::{Dice, SeededDice};

/// One stream of chance.
#[derive(Debug, Clone)]
pub(crate) struct Fate(SeededDice);

impl Fate {
    /// The stream for `purpose` in the world of `seed`.
    pub(crate) fn new(seed: u64, purpose: &str) -> Self {
        let mixed = purpose.bytes().fold(seed ^ 0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        Self(SeededDice::new(mixed))
    }

    /// True in `per_mille` of a thousand cases.
    pub(crate) fn chance(&mut self, per_mille: u64) -> bool {
        per_mille > 0 && self.below(1_000) < per_mille
    }

    /// A number between both, inclusive.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// A position in a list of `len` entries.
    pub(crate) fn index(&mut self, len: usize) -> usize {
        let bound = u64::try_from(len).expect("lists are short");
        usize::try_from(self.below(bound)).expect("smaller than the list")
    }

    /// One of `choices`.
    pub(crate) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.index(choices.len())]
    }
}

impl Dice for Fate {
    fn fill(&mut self, out: &mut [u8]) {
        self.0.fill(out);
    }
}
