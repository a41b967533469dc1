//! Join keys as private files, so that a person on the manager's machine can hand them to referees.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use league_core::id::LeagueId;
use league_core::proof::Token;

use crate::secret::SecretError;

/// Keeps the join key of a league in the data directory, and says in which file.
pub(super) fn keep(data: &Path, league: &LeagueId, key: &Token) -> Result<PathBuf, SecretError> {
    let file = data.join(format!("join-key-{league}"));
    if fs::read_to_string(&file).is_ok_and(|text| key.matches(text.trim())) {
        return Ok(file);
    }
    match write_private(&file, key) {
        Ok(()) => Ok(file),
        Err(source) => Err(SecretError::File { file, source }),
    }
}

fn write_private(file: &Path, key: &Token) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut opened = options.open(file)?;
    writeln!(opened, "{}", key.expose())
}
