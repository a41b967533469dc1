//! The server's secret and the administrator's token: private files in the data directory.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use league_agent::ambient::OsDice;
use league_agent::keep::write_private;
use league_core::dice::Dice;
use league_core::proof::{Secret, Token};

const SECRET_FILE: &str = "secret";
const ADMIN_FILE: &str = "admin-token";

/// Why a private file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// It cannot be read or written.
    #[error("cannot use {file}: {source}")]
    File {
        /// Which file.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It does not hold what it should.
    #[error("{file} does not hold {expected}; restore it from a backup")]
    Damaged {
        /// Which file.
        file: PathBuf,
        /// What it should hold.
        expected: &'static str,
    },
    /// There is nothing in it.
    #[error(
        "{file} is empty, as if the disk had been full when it was made; restore it from a backup, \
         or remove it if nothing was ever kept beside it"
    )]
    Empty {
        /// Which file.
        file: PathBuf,
    },
    /// It is gone, and a new one could not stand in for it.
    #[error("{file} is missing, and the leagues kept beside it were written under it")]
    Missing {
        /// Which file.
        file: PathBuf,
    },
}

/// The secret of the data directory. One is made only if `is_new`: whatever was written there
/// before needs the secret it was written under.
///
/// # Errors
/// If the file cannot be used, or is missing in a directory that is not new.
pub fn secret(data: &Path, is_new: bool) -> Result<Secret, SecretError> {
    let file = data.join(SECRET_FILE);
    if !is_new && !file.exists() {
        return Err(SecretError::Missing { file });
    }
    let text = read_or_make(&file, || Secret::roll(&mut OsDice).expose())?;
    let damaged = |_| SecretError::Damaged { file, expected: "a secret of 64 hex digits" };
    text.parse().map_err(damaged)
}

/// The administrator's token of the data directory, made if there is none.
///
/// # Errors
/// If the file cannot be used.
pub fn admin_token(data: &Path) -> Result<Token, SecretError> {
    let text = read_or_make(&data.join(ADMIN_FILE), || {
        let hex: String = OsDice.bytes32().iter().map(|byte| format!("{byte:02x}")).collect();
        format!("tok_administrator_{hex}")
    })?;
    let damaged = |_| SecretError::Damaged { file: data.join(ADMIN_FILE), expected: "a token" };
    text.parse().map_err(damaged)
}

fn read_or_make(file: &Path, make: impl FnOnce() -> String) -> Result<String, SecretError> {
    let failed = |source| SecretError::File { file: file.into(), source };
    match fs::read_to_string(file) {
        Ok(text) if text.trim().is_empty() => Err(SecretError::Empty { file: file.into() }),
        Ok(text) => Ok(text.trim().to_string()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let text = make();
            write_private(file, &text).map_err(failed)?;
            Ok(text)
        }
        Err(error) => Err(failed(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // req: AUTH-5
    #[cfg(unix)]
    #[test]
    fn private_files_are_made_once_and_only_for_the_owner() {
        use std::os::unix::fs::PermissionsExt;

        let data = tempfile::tempdir().unwrap();
        let first = secret(data.path(), true).unwrap().expose();
        assert_eq!(secret(data.path(), true).unwrap().expose(), first);
        let token = admin_token(data.path()).unwrap();
        assert!(token.matches(admin_token(data.path()).unwrap().expose()));
        for file in [SECRET_FILE, ADMIN_FILE] {
            let mode = fs::metadata(data.path().join(file)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{file}");
        }
    }

    #[test]
    fn a_damaged_secret_is_an_error_and_never_replaced() {
        let data = tempfile::tempdir().unwrap();
        fs::write(data.path().join(SECRET_FILE), "half a sec").unwrap();
        assert!(matches!(secret(data.path(), true), Err(SecretError::Damaged { .. })));
        assert_eq!(fs::read_to_string(data.path().join(SECRET_FILE)).unwrap(), "half a sec");
    }

    #[test]
    fn a_secret_is_there_with_all_of_its_text_or_not_at_all() {
        let data = tempfile::tempdir().unwrap();
        // Something that cannot be written over stands where a full disk would.
        let obstacle = data.path().join("secret.new");
        fs::create_dir(&obstacle).unwrap();
        assert!(matches!(secret(data.path(), true), Err(SecretError::File { .. })));
        assert!(!data.path().join(SECRET_FILE).exists());
        fs::remove_dir(&obstacle).unwrap();
        fs::write(&obstacle, "what a killed process left").unwrap();
        let made = secret(data.path(), true).unwrap().expose();
        assert_eq!(secret(data.path(), false).unwrap().expose(), made);
        assert!(!obstacle.exists());
    }

    #[test]
    fn an_empty_secret_is_told_with_what_to_do() {
        let data = tempfile::tempdir().unwrap();
        fs::write(data.path().join(SECRET_FILE), "").unwrap();
        let error = secret(data.path(), true).unwrap_err();
        assert!(matches!(error, SecretError::Empty { .. }));
        assert!(error.to_string().contains("remove it if nothing"), "{error}");
    }

    #[test]
    fn a_lost_secret_is_not_replaced_where_something_was_written_under_it() {
        let data = tempfile::tempdir().unwrap();
        assert!(matches!(secret(data.path(), false), Err(SecretError::Missing { .. })));
        assert!(!data.path().join(SECRET_FILE).exists());
        let made = secret(data.path(), true).unwrap().expose();
        assert_eq!(secret(data.path(), false).unwrap().expose(), made);
    }
}
