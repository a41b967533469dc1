//! Deleting transcripts that were kept long enough. The record itself stays whole.

use league_core::id::LeagueId;
use league_core::manager::Fact;
use league_core::time::Timestamp;

use super::league::{ReadError, walk};
use crate::journal::Seq;
use crate::journal::sqlite::{SqlitePruner, SqliteView};

/// What was deleted, or would be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Expired {
    /// How many transcripts.
    pub transcripts: u64,
    /// How many bytes they had.
    pub bytes: u64,
    /// How many transcripts stay.
    pub kept: u64,
    /// How many of the manager's letters.
    pub letters: u64,
    /// How many of them stay.
    pub letters_kept: u64,
    /// Whether the file has become smaller; else what comes next uses its room.
    pub is_smaller: bool,
}

/// What would be deleted of what was recorded before `before`. Whoever writes the journal may go
/// on.
///
/// # Errors
/// If the journal cannot be read.
pub fn rehearse(journal: &SqliteView, before: Timestamp) -> Result<Expired, ReadError> {
    let mut expired = Expired::default();
    for league in journal.leagues()? {
        old_of(journal, &league, before, &mut expired)?;
    }
    (expired.letters, expired.letters_kept) = journal.count_letters(before)?;
    Ok(expired)
}

/// Deletes the transcripts of results that were recorded before `before`, and the letters from
/// before that. Rows and hashes stay.
///
/// # Errors
/// If the journal cannot be read or written.
pub fn expire(journal: &mut SqlitePruner, before: Timestamp) -> Result<Expired, ReadError> {
    let mut expired = Expired::default();
    for league in journal.view().leagues()? {
        let old = old_of(journal.view(), &league, before, &mut expired)?;
        journal.delete(&league, &old)?;
    }
    (expired.letters, expired.letters_kept) = journal.view().count_letters(before)?;
    journal.delete_letters(before)?;
    expired.is_smaller = expired.transcripts + expired.letters > 0 && journal.compact()?;
    Ok(expired)
}

/// The rows of a league with transcripts from before `before`, which are counted.
fn old_of(
    journal: &SqliteView,
    league: &LeagueId,
    before: Timestamp,
    expired: &mut Expired,
) -> Result<Vec<Seq>, ReadError> {
    let (mut old, mut stored) = (vec![], vec![]);
    walk(journal, league, |seq, event| {
        if let Fact::ResultRecorded(recorded) = &event.fact
            && recorded.transcript.is_some()
        {
            stored.push((seq, event.at < before));
        }
    })?;
    for (seq, is_old) in stored {
        match journal.size(league, seq)? {
            Some(bytes) if is_old => {
                expired.transcripts += 1;
                expired.bytes += bytes;
                old.push(seq);
            }
            Some(_) => expired.kept += 1,
            None => {}
        }
    }
    Ok(old)
}
