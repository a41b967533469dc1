//! Join keys as private files, so that a person on the manager's machine can hand them to referees.

use std::fs;
use std::path::{Path, PathBuf};

use league_agent::keep::write_private;
use league_core::id::LeagueId;
use league_core::proof::Token;

use crate::secret::SecretError;

/// How the files of join keys are called, before the league.
pub(super) const KEY_PREFIX: &str = "join-key-";

/// Keeps the join key of a league in the data directory, and says in which file.
pub(super) fn keep(data: &Path, league: &LeagueId, key: &Token) -> Result<PathBuf, SecretError> {
    let file = data.join(format!("{KEY_PREFIX}{league}"));
    if fs::read_to_string(&file).is_ok_and(|text| key.matches(text.trim())) {
        return Ok(file);
    }
    match write_private(&file, &format!("{}\n", key.expose())) {
        Ok(()) => Ok(file),
        Err(source) => Err(SecretError::File { file, source }),
    }
}
