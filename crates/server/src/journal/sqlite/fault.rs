//! What SQLite says, in the journal's words, and numbers as SQLite stores them.

use league_core::id::LeagueId;
use rusqlite::{Error, ErrorCode};

use crate::journal::{Damage, JournalError, Outage, Seq};

/// The error for a caller who was at row `seq` of `league`.
pub(super) fn told(error: &Error, league: &LeagueId, seq: Seq) -> JournalError {
    let detail = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => JournalError::Unavailable(Outage::DiskFull),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            JournalError::Unavailable(Outage::Locked)
        }
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => JournalError::Corrupt {
            league: league.clone(),
            seq,
            detail: Damage::Unreadable { detail },
        },
        Some(_) => JournalError::Unavailable(Outage::Io { detail }),
        None => JournalError::Corrupt {
            league: league.clone(),
            seq,
            detail: Damage::Unreadable { detail },
        },
    }
}

/// The same where no league is concerned.
pub(super) fn told_of_all(error: &Error) -> JournalError {
    JournalError::Unavailable(match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => Outage::DiskFull,
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Outage::Locked,
        Some(_) | None => Outage::Io { detail: error.to_string() },
    })
}

/// Another writer has the row already.
pub(super) fn is_taken(error: &Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation)
}

/// After a failed sync nobody knows what reached the disk, and a later one may succeed without it.
pub(super) fn is_sync_lost(error: &Error) -> bool {
    let code = error.sqlite_error().map(|e| e.extended_code);
    code == Some(rusqlite::ffi::SQLITE_IOERR_FSYNC)
}

/// A row number as SQLite stores it.
pub(super) fn stored(seq: Seq) -> i64 {
    i64::try_from(seq.get()).unwrap_or(i64::MAX)
}
