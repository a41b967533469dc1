//! What a journal can answer instead of a yes.

use std::fmt;

use league_core::id::LeagueId;

use super::chain::{Hash, Seq};

/// Why a journal did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JournalError {
    /// Another writer appended first: step down and read.
    #[error("row {expected} was expected to be the last one, but row {actual} is")]
    Conflict {
        /// The row that the writer took for the last.
        expected: Seq,
        /// The row that is.
        actual: Seq,
    },
    /// The storage does not work at the moment.
    #[error("the journal is not available: {0}")]
    Unavailable(Outage),
    /// The stored rows are not the ones that were appended.
    #[error("the journal of {league} is damaged at row {seq}: {detail}")]
    Corrupt {
        /// The league whose rows they are.
        league: LeagueId,
        /// The first row that is wrong.
        seq: Seq,
        /// What is wrong with it.
        detail: Damage,
    },
    /// The batch is over a limit.
    #[error("{what}: {got} is more than {max}")]
    TooLarge {
        /// What was measured.
        what: Oversize,
        /// Its size.
        got: usize,
        /// The largest size that is allowed.
        max: usize,
    },
}

/// Why the storage does not work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Outage {
    /// No space is left; appends work again when there is some.
    #[error("the disk is full")]
    DiskFull,
    /// Somebody else holds a lock on the storage.
    #[error("the storage is locked by somebody else")]
    Locked,
    /// Where the file was there is none, or another one: what is written is nowhere.
    #[error("the database file was removed or replaced while it was open")]
    Replaced,
    /// Reading or writing failed.
    #[error("{detail}")]
    Io {
        /// What the storage said.
        detail: String,
    },
    /// The journal was closed, or gave up after a failure it cannot recover from.
    #[error("it is closed")]
    Closed,
}

/// How a stored row differs from what was appended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// The row is not there, although it must have been.
    #[error("the row is missing")]
    Missing,
    /// The bytes, the number or an earlier hash were changed.
    #[error("its stored hash is {stored}, its contents give {computed}")]
    HashDiffers {
        /// The hash stored with the row.
        stored: Hash,
        /// The hash of what is stored.
        computed: Hash,
    },
    /// The row is not the one that the reader has seen before.
    #[error("its stored hash is {stored}, the reader has seen {seen}")]
    PositionDiffers {
        /// The hash stored with the row.
        stored: Hash,
        /// The hash that the reader brought.
        seen: Hash,
    },
    /// The storage cannot make sense of its own file.
    #[error("{detail}")]
    Unreadable {
        /// What the storage said.
        detail: String,
    },
}

/// What a batch has too much of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Oversize {
    /// Too many rows.
    Rows,
    /// A row is too long.
    RowBytes,
    /// An attachment is too long.
    AttachmentBytes,
    /// All rows and attachments together are too long.
    BatchBytes,
}

impl fmt::Display for Oversize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rows => "rows in one append",
            Self::RowBytes => "bytes in a row",
            Self::AttachmentBytes => "bytes in an attachment",
            Self::BatchBytes => "bytes in one append",
        })
    }
}
