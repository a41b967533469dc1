//! Row numbers and the hash chain over the stored bytes.
//!
//! `hash(n) = SHA-256(label ‖ hash(n-1) ‖ n ‖ length ‖ bytes)`, numbers as eight bytes, big end
//! first; `hash(0) = SHA-256(label ‖ length ‖ league id)`.

use std::fmt;

use bytes::Bytes;
use league_core::id::LeagueId;
use sha2::{Digest, Sha256};

use super::error::{Damage, JournalError};

const GENESIS_LABEL: &[u8] = b"league journal genesis v1\0";
const ROW_LABEL: &[u8] = b"league journal row v1\0";

/// The number of a row, counted from one; zero stands before the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seq(u64);

impl Seq {
    /// Before the first row.
    pub const START: Self = Self(0);

    /// Row number `number`.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The row after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A link of the chain: it stands for its row and all rows before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash([u8; 32]);

impl Hash {
    /// A hash from its bytes.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A position in a league's chain: the last row so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Head {
    /// The row's number.
    pub seq: Seq,
    /// The row's hash.
    pub hash: Hash,
}

impl Head {
    /// The position before the first row of `league`. It differs between leagues, so that the rows
    /// of one cannot pass for those of another.
    pub fn genesis(league: &LeagueId) -> Self {
        let name = league.as_str().as_bytes();
        let mut sha = Sha256::new();
        sha.update(GENESIS_LABEL);
        sha.update(length(name));
        sha.update(name);
        Self { seq: Seq::START, hash: Hash(sha.finalize().into()) }
    }

    /// The position after one more row of `bytes`.
    #[must_use]
    pub fn extend(self, bytes: &[u8]) -> Self {
        let seq = self.seq.next();
        // In one piece: the hash is fed faster.
        let mut prefix = [0; ROW_LABEL.len() + 32 + 8 + 8];
        let (label, rest) = prefix.split_at_mut(ROW_LABEL.len());
        label.copy_from_slice(ROW_LABEL);
        rest[..32].copy_from_slice(&self.hash.0);
        rest[32..40].copy_from_slice(&seq.0.to_be_bytes());
        rest[40..].copy_from_slice(&length(bytes));
        let mut sha = Sha256::new();
        sha.update(prefix);
        sha.update(bytes);
        Self { seq, hash: Hash(sha.finalize().into()) }
    }
}

/// One stored row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Its number.
    pub seq: Seq,
    /// Its link of the chain, as stored.
    pub hash: Hash,
    /// What was appended.
    pub bytes: Bytes,
}

impl Row {
    /// The position at this row, from which to read on.
    pub const fn head(&self) -> Head {
        Head { seq: self.seq, hash: self.hash }
    }
}

/// Whether `stored` with its `bytes` is the row that follows `before`.
pub(crate) fn check_row(
    league: &LeagueId,
    before: Head,
    stored: Head,
    bytes: &[u8],
) -> Result<(), JournalError> {
    let expected = before.extend(bytes);
    let detail = if stored.seq != expected.seq {
        Damage::Missing
    } else if stored.hash != expected.hash {
        Damage::HashDiffers { stored: stored.hash, computed: expected.hash }
    } else {
        return Ok(());
    };
    Err(JournalError::Corrupt { league: league.clone(), seq: expected.seq, detail })
}

/// Whether the row at a reader's position is still the one that the reader has seen.
pub(crate) fn check_position(
    league: &LeagueId,
    seen: Head,
    stored: Option<Hash>,
) -> Result<(), JournalError> {
    let detail = match stored {
        Some(hash) if hash == seen.hash => return Ok(()),
        Some(stored) => Damage::PositionDiffers { stored, seen: seen.hash },
        None => Damage::Missing,
    };
    Err(JournalError::Corrupt { league: league.clone(), seq: seen.seq, detail })
}

fn length(bytes: &[u8]) -> [u8; 8] {
    (bytes.len() as u64).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chain_is_the_documented_one() {
        let league: LeagueId = "league_1".parse().unwrap();
        let genesis = Sha256::digest(b"league journal genesis v1\0\0\0\0\0\0\0\0\x08league_1");
        assert_eq!(Head::genesis(&league).hash.0, <[u8; 32]>::from(genesis));

        let mut row = b"league journal row v1\0".to_vec();
        row.extend_from_slice(&genesis);
        row.extend_from_slice(b"\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\x03abc");
        let first = Head::genesis(&league).extend(b"abc");
        assert_eq!(first.hash.0, <[u8; 32]>::from(Sha256::digest(&row)));
        assert_eq!(first.seq, Seq::new(1));
    }

    #[test]
    fn moving_bytes_between_rows_changes_the_chain() {
        let start = Head::genesis(&"a".parse().unwrap());
        assert_ne!(start.extend(b"ab").extend(b"c"), start.extend(b"a").extend(b"bc"));
        assert_ne!(start, Head::genesis(&"b".parse().unwrap()));
    }
}
