//! The record of every league: one append-only stream of rows each, chained by hashes.
//!
//! Rows are opaque bytes here. An append is durable when it returns, and the tail of the journal is
//! the only feed: whoever follows a league reads the rows that [`Journal::tail`] points at.

pub mod batch;
pub mod chain;
pub mod codec;
#[cfg(test)]
mod contract;
pub mod error;
pub mod memory;
pub mod sqlite;
pub mod tail;

use std::pin::Pin;

use league_core::id::LeagueId;

use crate::letters::Letters;

pub use batch::{Attachment, Batch, StoredAttachment};
pub use chain::{Hash, Head, Row, Seq};
pub use error::{Damage, JournalError, Outage};
pub use memory::MemoryJournal;
pub use sqlite::SqliteJournal;
pub use tail::{Follower, Tail};

/// What a journal answers, later.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, JournalError>> + Send + 'a>>;

/// Where leagues are written down. Shared as `Arc<dyn Journal>`.
pub trait Journal: Send + Sync {
    /// Adds the rows of `batch` behind row `expected`, all of them or none. They are durable when
    /// the answer arrives. Giving up the wait does not take the rows back.
    ///
    /// # Errors
    /// `Conflict` if `expected` is not the last row: another writer was faster. `TooLarge` before
    /// anything is tried. After `Unavailable` the rows may or may not be there: read to find out.
    ///
    /// # Panics
    /// If an attachment names a row that is not in the batch, or a row that has one already.
    fn append(&self, league: &LeagueId, expected: Seq, batch: Batch) -> Answer<'_, Head>;

    /// The rows after the position `after`, oldest first, each checked against the chain. At most
    /// `rows_max`, fewer if the page gets large; none if `after` is the head.
    /// The next page starts after [`Row::head`] of the last one.
    ///
    /// # Errors
    /// `Corrupt` names the first row that is missing or differs from the chain.
    fn read(&self, league: &LeagueId, after: Head, rows_max: usize) -> Answer<'_, Vec<Row>>;

    /// The position at row `seq` as it is stored, to start reading in the middle. The hash is taken
    /// on trust, the rows after it are checked against it. [`Seq::START`] gives the genesis; `None`
    /// if there is no such row.
    fn position(&self, league: &LeagueId, seq: Seq) -> Answer<'_, Option<Head>>;

    /// The last row's number and hash, or `None` if the league has no rows.
    fn head(&self, league: &LeagueId) -> Answer<'_, Option<Head>>;

    /// Every league with at least one row, ordered by name.
    fn leagues(&self) -> Answer<'_, Vec<LeagueId>>;

    /// What was stored beside row `seq`; `None` if nothing was, or if it has expired since.
    fn attachment(&self, league: &LeagueId, seq: Seq) -> Answer<'_, Option<StoredAttachment>>;

    /// Something to await the rows that come next. A league without rows can be awaited too.
    fn tail(&self, league: &LeagueId) -> Answer<'_, Tail>;

    /// Where letters are noted that are kept beside the record. They are not part of it: some may
    /// be missing, and a journal may keep none.
    fn letters(&self) -> Letters {
        Letters::none()
    }
}
