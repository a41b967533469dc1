//! The journal in one SQLite file, `league.db` of the data directory.
//!
//! One thread writes for all leagues and commits whatever waits as one transaction; reads go
//! through connections of their own and never block it.

mod block;
mod clerk;
mod fault;
mod fold;
mod open;
mod places;
mod pruner;
mod queue;
mod reader;
mod shelf;
mod stream;
#[cfg(test)]
mod tests;
mod ticket;
#[cfg(test)]
mod torn;
mod view;
mod writer;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use league_core::id::LeagueId;

pub use open::OpenError;
pub use pruner::SqlitePruner;
pub use view::{CopyError, SqliteView};

use self::clerk::Clerk;
use self::fold::Folder;
use self::places::Recent;
use self::reader::Readers;
use self::shelf::Shelf;
use self::writer::{Counter, Writer};
use super::tail::{Tails, subscribed};
use super::{Answer, Batch, Head, Journal, Row, Seq, StoredAttachment, Tail};
use crate::letters::{Keeper, Letters, Room};

/// The file that holds the leagues of a data directory.
pub fn file_in(directory: &Path) -> PathBuf {
    directory.join(open::FILE)
}

/// Leagues in a file. Dropping it writes what is still waiting and closes the file.
pub struct SqliteJournal {
    // In the order of closing: the writer is the last to close the file and folds the write-ahead
    // log into it, then the directory is free for another process.
    readers: Arc<Readers>,
    keeper: Keeper,
    writer: Arc<Writer>,
    tails: Arc<Tails>,
    file: PathBuf,
    _lock: File,
}

impl SqliteJournal {
    /// Opens the journal in `directory`, or makes a new one there.
    ///
    /// # Errors
    /// If another process has it open, if a newer version of this program wrote it, or if the
    /// directory or the file cannot be used.
    pub fn open(directory: &Path) -> Result<Self, OpenError> {
        Self::open_within(directory, None)
    }

    /// As [`Self::open`], with a ceiling for the size of the file. Beyond it the disk counts as
    /// full.
    ///
    /// # Errors
    /// Those of [`Self::open`].
    pub fn open_within(directory: &Path, bytes_max: Option<u64>) -> Result<Self, OpenError> {
        Self::open_with(directory, bytes_max, Room::default())
    }

    /// As [`Self::open_within`], with `room` for letters that wait to be kept.
    pub(crate) fn open_with(
        directory: &Path,
        bytes_max: Option<u64>,
        room: Room,
    ) -> Result<Self, OpenError> {
        let lock = open::lock(directory)?;
        let file = directory.join(open::FILE);
        let connection = open::connect(&file, bytes_max)?;
        let (recent, tails) = (Arc::new(Recent::default()), Arc::new(Tails::default()));
        let counter = Arc::<Counter>::default();
        let (for_readers, for_appenders) = (Arc::clone(&recent), Arc::clone(&counter));
        let unusable = |source| OpenError::Unusable { file: file.clone(), source };
        let folder = Folder::start(&file).map_err(unusable)?;
        let shelf = Arc::<Shelf>::default();
        let own_shelf = Arc::clone(&shelf);
        let clerk = Clerk::new(connection, folder, (recent, shelf), Arc::clone(&tails), counter)
            .map_err(|source| OpenError::Database { file: file.clone(), source })?;
        let writer = Arc::new(Writer::start(clerk, for_appenders).map_err(unusable)?);
        let errands = Arc::clone(&writer);
        let store = move |bundle| {
            let nudged = own_shelf.put(bundle);
            nudged.into_iter().for_each(|league| errands.nudge(&league));
        };
        let keeper = Keeper::start(room, store).map_err(unusable)?;
        let readers = Arc::new(Readers::new(file.clone(), for_readers));
        Ok(Self { readers, keeper, writer, tails, file, _lock: lock })
    }

    /// The file that holds the leagues.
    pub fn file(&self) -> &Path {
        &self.file
    }
}

impl Journal for SqliteJournal {
    fn append(&self, league: &LeagueId, expected: Seq, batch: Batch) -> Answer<'_, Head> {
        Box::pin(self.writer.append(league, expected, batch))
    }

    fn read(&self, league: &LeagueId, after: Head, rows_max: usize) -> Answer<'_, Vec<Row>> {
        let league = league.clone();
        self.readers.run(move |desk| desk.rows(&league, after, rows_max))
    }

    fn position(&self, league: &LeagueId, seq: Seq) -> Answer<'_, Option<Head>> {
        let league = league.clone();
        self.readers.run(move |desk| desk.position(&league, seq))
    }

    fn head(&self, league: &LeagueId) -> Answer<'_, Option<Head>> {
        let league = league.clone();
        self.readers.run(move |desk| desk.head(&league))
    }

    fn leagues(&self) -> Answer<'_, Vec<LeagueId>> {
        self.readers.run(|desk| desk.leagues())
    }

    fn attachment(&self, league: &LeagueId, seq: Seq) -> Answer<'_, Option<StoredAttachment>> {
        let league = league.clone();
        self.readers.run(move |desk| desk.attachment(&league, seq))
    }

    fn tail(&self, league: &LeagueId) -> Answer<'_, Tail> {
        subscribed(&self.tails, league, self.head(league))
    }

    fn letters(&self) -> Letters {
        self.keeper.letters()
    }
}
