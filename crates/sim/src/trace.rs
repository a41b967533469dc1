//! What happened, line by line: kept if somebody wants to read it, and always as a hash, so that
//! two runs of one seed can be compared.

use std::fmt::{self, Write};

const PRIME: u64 = 0x0000_0100_0000_01b3;

/// The trace of one world.
#[derive(Debug)]
pub(crate) struct Trace {
    hash: u64,
    lines: Option<Vec<String>>,
}

impl Trace {
    /// A trace whose lines are kept if `kept`.
    pub(crate) fn new(kept: bool) -> Self {
        Self { hash: 0xcbf2_9ce4_8422_2325, lines: kept.then(Vec::new) }
    }

    /// Adds a line.
    pub(crate) fn line(&mut self, at: u64, what: fmt::Arguments<'_>) {
        // Writing into a hash cannot fail.
        let _never = writeln!(Hashing(&mut self.hash), "{at} {what}");
        if let Some(lines) = &mut self.lines {
            lines.push(format!("{:>9}.{:03} {what}", at / 1_000, at % 1_000));
        }
    }

    /// The hash of everything so far.
    pub(crate) const fn hash(&self) -> u64 {
        self.hash
    }

    /// The lines, if they were kept.
    pub(crate) fn into_lines(self) -> Vec<String> {
        self.lines.unwrap_or_default()
    }
}

struct Hashing<'a>(&'a mut u64);

impl Write for Hashing<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            *self.0 = (*self.0 ^ u64::from(byte)).wrapping_mul(PRIME);
        }
        Ok(())
    }
}
