//! Opening the file: who may, which version it has, and the settings that make it durable.

use std::fs::{File, TryLockError, create_dir_all};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::limits::{LOCK_WAIT, LOCK_WAIT_MS_MAX, LOCK_WAITS_MAX};

/// The database in the data directory.
pub(super) const FILE: &str = "league.db";
/// Held by the process that writes.
const LOCK_FILE: &str = "league.lock";
/// "LGJ1", tells our file from other people's.
const APPLICATION_ID: i64 = 0x4C47_4A31;
/// What the file grows by.
pub(super) const PAGE_BYTES: usize = 4096;
/// One script for each version of the file, oldest first.
const MIGRATIONS: [&str; 2] = [
    include_str!("../../../migrations/sqlite/0001_journal.sql"),
    include_str!("../../../migrations/sqlite/0002_letters.sql"),
];

/// Why a journal could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process writes this journal.
    #[error("{file} is open in another process; only one can write it at a time")]
    InUse {
        /// The database.
        file: PathBuf,
    },
    /// A newer version of this program has written the file.
    #[error("{file} has version {found}, this program knows versions up to {known}")]
    Newer {
        /// The database.
        file: PathBuf,
        /// The file's version.
        found: i64,
        /// The newest version that this program knows.
        known: i64,
    },
    /// The file is a database, but not a journal.
    #[error("{file} is a database of another program")]
    Foreign {
        /// The database.
        file: PathBuf,
    },
    /// The directory, the lock or the thread could not be made.
    #[error("{file} cannot be used")]
    Unusable {
        /// The file or directory.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// SQLite could not open the file.
    #[error("{file} cannot be opened as a database")]
    Database {
        /// The database.
        file: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
}

impl OpenError {
    /// For what SQLite says about `file`.
    pub(super) fn database(file: &Path) -> impl Fn(rusqlite::Error) -> Self {
        move |source| Self::Database { file: file.to_path_buf(), source }
    }
}

/// Makes the directory and takes the lock that keeps a second writer out. The system releases it
/// when the process ends, however it ends; of one that was killed just now it may hold it a little.
pub(super) fn lock(directory: &Path) -> Result<File, OpenError> {
    try_lock(directory)?.ok_or_else(|| OpenError::InUse { file: directory.join(FILE) })
}

/// The same; nothing if another process has it.
pub(super) fn try_lock(directory: &Path) -> Result<Option<File>, OpenError> {
    let path = directory.join(LOCK_FILE);
    let failed = |source| OpenError::Unusable { file: path.clone(), source };
    let is_new = !directory.exists();
    create_dir_all(directory).map_err(failed)?;
    let file =
        File::options().create(true).truncate(false).write(true).open(&path).map_err(failed)?;
    if is_new && let Some(parent) = directory.parent().filter(|p| p.is_dir()) {
        sync_directory(parent).map_err(failed)?;
    }
    for _ in 0..LOCK_WAITS_MAX {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::WouldBlock) => thread::sleep(LOCK_WAIT),
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
    }
    Ok(None)
}

/// Opens the database for writing, bringing an older one up to date.
pub(super) fn connect(file: &Path, bytes_max: Option<u64>) -> Result<Connection, OpenError> {
    let failed = |source| OpenError::Database { file: file.to_path_buf(), source };
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(file, flags).map_err(failed)?;
    let version = version(&connection, file)?;
    prepare(&connection, bytes_max).map_err(failed)?;
    migrate(&mut connection, version).map_err(failed)?;
    Ok(connection)
}

/// A connection for folding the log into the database that another one writes.
pub(super) fn connect_folder(file: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    Ok(connection)
}

/// A connection that cannot write.
pub(super) fn connect_reader(file: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(Duration::from_millis(LOCK_WAIT_MS_MAX))?;
    Ok(connection)
}

/// Refuses a file that this program cannot read as it is.
pub(super) fn check_known(connection: &Connection, file: &Path) -> Result<(), OpenError> {
    match version(connection, file)? {
        0 => Err(OpenError::Foreign { file: file.to_path_buf() }),
        _ => Ok(()),
    }
}

/// How many migrations the file has seen; refuses files that are not ours to touch.
fn version(connection: &Connection, file: &Path) -> Result<usize, OpenError> {
    let number = |sql| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    let database = |source| OpenError::Database { file: file.to_path_buf(), source };
    let tables = number("SELECT count(*) FROM sqlite_schema").map_err(database)?;
    if tables == 0 {
        return Ok(0);
    }
    if number("PRAGMA application_id").map_err(database)? != APPLICATION_ID {
        return Err(OpenError::Foreign { file: file.to_path_buf() });
    }
    let found = number("PRAGMA user_version").map_err(database)?;
    usize::try_from(found).ok().filter(|version| *version <= MIGRATIONS.len()).ok_or_else(|| {
        OpenError::Newer { file: file.to_path_buf(), found, known: MIGRATIONS.len() as i64 }
    })
}

fn prepare(connection: &Connection, bytes_max: Option<u64>) -> rusqlite::Result<()> {
    connection.busy_timeout(Duration::from_millis(LOCK_WAIT_MS_MAX))?;
    connection.pragma_update(None, "page_size", PAGE_BYTES as i64)?;
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    if let Some(bytes_max) = bytes_max {
        let pages = i64::try_from(bytes_max / PAGE_BYTES as u64).unwrap_or(i64::MAX);
        connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
    }
    Ok(())
}

fn migrate(connection: &mut Connection, version: usize) -> rusqlite::Result<()> {
    for (index, script) in MIGRATIONS.iter().enumerate().skip(version) {
        let transaction = connection.transaction()?;
        transaction.execute_batch(script)?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", index as i64 + 1)?;
        transaction.commit()?;
    }
    Ok(())
}

/// Makes the entry of a new directory survive a power failure.
pub(super) fn sync_directory(directory: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(directory)?.sync_all()?;
    }
    Ok(())
}
