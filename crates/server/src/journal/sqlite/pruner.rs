//! Deleting what is kept beside the record, also while another process writes it.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use league_core::id::LeagueId;
use league_core::time::Timestamp;
use rusqlite::{Connection, TransactionBehavior};

use super::fault::{stored, told_of_all};
use super::open::{self, OpenError};
use super::places;
use super::view::{SqliteView, existing};
use crate::journal::{JournalError, Seq};
use crate::limits::{LOCK_WAIT_MS_MAX, PRUNED_TOGETHER_MAX};

const DELETE: &str = "DELETE FROM attachment WHERE league = ?1 AND seq = ?2";
const DELETE_LETTERS: &str =
    "DELETE FROM letters WHERE id IN (SELECT id FROM letters WHERE last < ?1 LIMIT ?2)";

/// A journal of which attachments and letters can be deleted. Rows are never touched, so that a
/// manager may go on writing them; it waits for one short transaction at a time.
pub struct SqlitePruner {
    view: SqliteView,
    /// Keeps everybody else from writing; nothing if somebody else was there first.
    lock: Option<File>,
}

impl SqlitePruner {
    /// Opens the journal in `directory`, which must be there.
    ///
    /// # Errors
    /// If there is none, or if it cannot be used.
    pub fn open(directory: &Path) -> Result<Self, OpenError> {
        let file = existing(directory)?;
        let (lock, connection) = match open::try_lock(directory)? {
            Some(lock) => (Some(lock), open::connect(&file, None)?),
            None => (None, beside(&file).map_err(OpenError::database(&file))?),
        };
        Ok(Self { view: SqliteView::of(connection, &file)?, lock })
    }

    /// The journal for reading.
    pub const fn view(&self) -> &SqliteView {
        &self.view
    }

    /// Deletes the attachments of the rows `seqs`. The rows keep the hashes.
    ///
    /// # Errors
    /// If the file cannot be written; some of them may be gone.
    pub fn delete(&mut self, league: &LeagueId, seqs: &[Seq]) -> Result<(), JournalError> {
        let mut delete = |seqs: &[Seq]| -> rusqlite::Result<()> {
            let connection = &mut self.view.connection;
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            if let Some(number) = places::number(&transaction, league.as_str())? {
                let mut statement = transaction.prepare_cached(DELETE)?;
                for seq in seqs {
                    statement.execute((number, stored(*seq)))?;
                }
            }
            transaction.commit()
        };
        for together in seqs.chunks(PRUNED_TOGETHER_MAX) {
            delete(together).map_err(|error| told_of_all(&error))?;
        }
        Ok(())
    }

    /// Deletes the letters whose last is older than `before`.
    ///
    /// # Errors
    /// If the file cannot be written; some of them may be gone.
    pub fn delete_letters(&self, before: Timestamp) -> Result<(), JournalError> {
        let delete = || -> rusqlite::Result<()> {
            if !self.view.has_letters()? {
                return Ok(());
            }
            let mut statement = self.view.connection.prepare(DELETE_LETTERS)?;
            let together = PRUNED_TOGETHER_MAX as i64;
            while statement.execute((before.as_millis(), together))? > 0 {}
            Ok(())
        };
        delete().map_err(|error| told_of_all(&error))
    }

    /// Gives the space of what was deleted back to the file system; whether it could. While
    /// somebody else writes the file it cannot, and the space is used for what comes next.
    ///
    /// # Errors
    /// If there is not enough room to write the file anew.
    pub fn compact(&self) -> Result<bool, JournalError> {
        if self.lock.is_none() {
            return Ok(false);
        }
        let done = self.view.connection.execute_batch("VACUUM");
        done.map(|()| true).map_err(|error| told_of_all(&error))
    }
}

/// A connection for writing a little beside whoever writes the file.
fn beside(file: &Path) -> rusqlite::Result<Connection> {
    let connection = open::connect_folder(file)?;
    connection.busy_timeout(Duration::from_millis(LOCK_WAIT_MS_MAX))?;
    Ok(connection)
}
