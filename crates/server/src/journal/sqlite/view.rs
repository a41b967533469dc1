//! Reading and copying a journal from outside, also while another process writes it.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use league_core::id::LeagueId;
use league_core::time::Timestamp;
use rusqlite::{Connection, OpenFlags};

use super::fault::{stored, told_of_all};
use super::open::{self, OpenError};
use super::places::{self, Recent};
use super::reader::Desk;
use crate::journal::{Head, JournalError, Row, Seq, StoredAttachment};
use crate::letters::Bundle;
use crate::limits::LOCK_WAIT_MS_MAX;

const SIZE: &str = "SELECT length(bytes) FROM attachment WHERE league = ?1 AND seq = ?2";
const HAS_LETTERS: &str = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'letters'";
const LETTERS: &str =
    "SELECT first, last, count, dropped, bytes FROM letters WHERE league = ?1 ORDER BY id";
const OLD_LETTERS: &str = "SELECT coalesce(sum(count), 0) FROM letters WHERE last < ?1";
const KEPT_LETTERS: &str = "SELECT coalesce(sum(count), 0) FROM letters WHERE last >= ?1";

/// A journal that is only looked at. It takes no lock, so that a running manager is not disturbed;
/// what is appended after it was opened may or may not be seen.
pub struct SqliteView {
    pub(super) connection: Connection,
    recent: Recent,
    file: PathBuf,
}

impl SqliteView {
    /// Opens the journal in `directory`, which must be there.
    ///
    /// # Errors
    /// If there is none, or if it cannot be read.
    pub fn open(directory: &Path) -> Result<Self, OpenError> {
        let file = existing(directory)?;
        let connection = open::connect_reader(&file);
        match connection.map_err(OpenError::database(&file)).and_then(|c| Self::of(c, &file)) {
            Err(OpenError::Database { .. }) if !has_log(&file) => {
                // The log's index cannot be made in a directory that nobody may write to. Without
                // a log there is nobody who could change the file under our eyes.
                let still = connect_still(&file).map_err(OpenError::database(&file))?;
                Self::of(still, &file)
            }
            outcome => outcome,
        }
    }

    pub(super) fn of(connection: Connection, file: &Path) -> Result<Self, OpenError> {
        open::check_known(&connection, file)?;
        let recent = Recent::default();
        recent.load(&connection).map_err(OpenError::database(file))?;
        Ok(Self { connection, recent, file: file.to_path_buf() })
    }

    /// The file that holds the leagues.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Every league with at least one row, ordered by name.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn leagues(&self) -> Result<Vec<LeagueId>, JournalError> {
        self.desk().leagues()
    }

    /// The rows after the position `after`, as [`crate::journal::Journal::read`] gives them.
    ///
    /// # Errors
    /// If the file cannot be read, or a row differs from the chain.
    pub fn read(
        &self,
        league: &LeagueId,
        after: Head,
        rows_max: usize,
    ) -> Result<Vec<Row>, JournalError> {
        self.desk().rows(league, after, rows_max)
    }

    /// What was stored beside row `seq`; `None` if nothing was, or if it has expired since.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn attachment(
        &self,
        league: &LeagueId,
        seq: Seq,
    ) -> Result<Option<StoredAttachment>, JournalError> {
        self.desk().attachment(league, seq)
    }

    /// How many bytes the attachment of row `seq` has, if it is there.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn size(&self, league: &LeagueId, seq: Seq) -> Result<Option<u64>, JournalError> {
        let find = || -> rusqlite::Result<Option<u64>> {
            let connection = &self.connection;
            let Some(number) = places::number(connection, league.as_str())? else {
                return Ok(None);
            };
            let mut statement = connection.prepare_cached(SIZE)?;
            let mut rows = statement.query((number, stored(seq)))?;
            let length = rows.next()?.map(|row| row.get::<_, i64>(0)).transpose()?;
            Ok(length.map(i64::unsigned_abs))
        };
        find().map_err(|error| told_of_all(&error))
    }

    /// How many letters there are in bundles whose last is older than `before`, and how many
    /// younger ones. A file that was made before there were any has none.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn count_letters(&self, before: Timestamp) -> Result<(u64, u64), JournalError> {
        let count = || -> rusqlite::Result<(u64, u64)> {
            if !self.has_letters()? {
                return Ok((0, 0));
            }
            let of = |sql: &str| {
                self.connection.query_row(sql, [before.as_millis()], |row| row.get::<_, i64>(0))
            };
            Ok((of(OLD_LETTERS)?.unsigned_abs(), of(KEPT_LETTERS)?.unsigned_abs()))
        };
        count().map_err(|error| told_of_all(&error))
    }

    /// Calls `each` with every bundle of letters of a league, oldest first. A file that was made
    /// before there were any has none.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn letters(
        &self,
        league: &LeagueId,
        mut each: impl FnMut(Bundle),
    ) -> Result<(), JournalError> {
        let mut find = || -> rusqlite::Result<()> {
            let is_there = self.has_letters()?;
            let number = places::number(&self.connection, league.as_str())?;
            let (true, Some(number)) = (is_there, number) else { return Ok(()) };
            let mut statement = self.connection.prepare(LETTERS)?;
            let mut rows = statement.query([number])?;
            while let Some(row) = rows.next()? {
                each(Bundle {
                    league: league.clone(),
                    first: Timestamp::from_millis(row.get(0)?),
                    last: Timestamp::from_millis(row.get(1)?),
                    count: row.get::<_, i64>(2)?.unsigned_abs(),
                    dropped: row.get::<_, i64>(3)?.unsigned_abs(),
                    bytes: row.get(4)?,
                });
            }
            Ok(())
        };
        find().map_err(|error| told_of_all(&error))
    }

    /// Copies everything that is durable at this moment to a new file, whoever writes meanwhile.
    /// The copy is on the disk when this returns.
    ///
    /// # Errors
    /// If the file exists already or cannot be written.
    pub fn copy_to(&self, to: &Path) -> Result<(), CopyError> {
        if to.exists() {
            return Err(CopyError::Exists { file: to.to_path_buf() });
        }
        let mut partial = to.as_os_str().to_os_string();
        partial.push(".partial");
        let partial = PathBuf::from(partial);
        let outcome = self.copy(&partial, to);
        if outcome.is_err() {
            let _never_made = std::fs::remove_file(&partial);
        }
        outcome
    }

    fn copy(&self, partial: &Path, to: &Path) -> Result<(), CopyError> {
        let io = |source| CopyError::Io { file: to.to_path_buf(), source };
        let not_text = || io(io::Error::new(io::ErrorKind::InvalidInput, "the name is not UTF-8"));
        let name = partial.to_str().ok_or_else(not_text)?;
        match std::fs::remove_file(partial) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(io(error)),
            Ok(()) | Err(_) => {}
        }
        let copied = self.connection.execute("VACUUM INTO ?1", [name]);
        copied.map_err(|source| CopyError::Database { file: to.to_path_buf(), source })?;
        File::options().write(true).open(partial).and_then(|file| file.sync_all()).map_err(io)?;
        std::fs::rename(partial, to).map_err(io)?;
        let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty());
        open::sync_directory(folder.unwrap_or_else(|| Path::new("."))).map_err(io)
    }

    pub(super) fn has_letters(&self) -> rusqlite::Result<bool> {
        self.connection.prepare(HAS_LETTERS)?.exists([])
    }

    const fn desk(&self) -> Desk<'_> {
        Desk { connection: &self.connection, recent: &self.recent }
    }
}

/// Why a journal was not copied.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// There is a file already; a backup is never overwritten.
    #[error("{file} exists already")]
    Exists {
        /// The file.
        file: PathBuf,
    },
    /// SQLite could not write the copy.
    #[error("{file} cannot be written")]
    Database {
        /// The copy.
        file: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// The system could not write the copy.
    #[error("{file} cannot be written")]
    Io {
        /// The copy.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// The journal's file, if there is one: whoever looks must not make an empty one.
pub(super) fn existing(directory: &Path) -> Result<PathBuf, OpenError> {
    let file = directory.join(open::FILE);
    match std::fs::metadata(&file) {
        Ok(_) => Ok(file),
        Err(source) => Err(OpenError::Unusable { file, source }),
    }
}

fn has_log(file: &Path) -> bool {
    let mut log = file.as_os_str().to_os_string();
    log.push("-wal");
    std::fs::metadata(log).is_ok_and(|log| log.len() > 0)
}

/// A connection to a file that nobody changes.
fn connect_still(file: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte);
    let path: String = file
        .to_string_lossy()
        .bytes()
        .map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02x}") })
        .collect();
    let connection = Connection::open_with_flags(format!("file:{path}?immutable=1"), flags)?;
    connection.busy_timeout(Duration::from_millis(LOCK_WAIT_MS_MAX))?;
    Ok(connection)
}
