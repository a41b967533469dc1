//! Where an agent keeps who it is between two runs: a private file, never the code.

use std::fmt::Display;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use league_core::id::LeagueId;
use league_core::proof::Token;

use crate::register::Membership;

/// A private file that holds an agent's membership, or somebody who remembers it.
#[derive(Clone, PartialEq, Eq)]
pub struct Keep {
    file: PathBuf,
    remembered: Option<String>,
}

impl std::fmt::Debug for Keep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keep").field("file", &self.file).finish_non_exhaustive()
    }
}

/// Why a membership cannot be kept.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// The file cannot be read or written.
    #[error("cannot use {file}: {source}")]
    File {
        /// Which file.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file does not hold a membership.
    #[error("{0} does not hold a league, an agent and its token; remove it to register anew")]
    Damaged(PathBuf),
}

impl Keep {
    /// Keeps a membership in `file`.
    pub const fn new(file: PathBuf) -> Self {
        Self { file, remembered: None }
    }

    /// A membership that whoever made it remembers; no file is read or written.
    pub fn remembered<Id: Display>(membership: &Membership<Id>) -> Self {
        let file = PathBuf::from(format!("the record of {}", membership.league));
        Self { file, remembered: Some(written(membership)) }
    }

    /// Where it is kept.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// What was kept; `None` if nothing was.
    ///
    /// # Errors
    /// If the file cannot be read, or holds something else.
    pub fn read<Id: FromStr>(&self) -> Result<Option<Membership<Id>>, KeepError> {
        if let Some(text) = &self.remembered {
            return Ok(parse(text));
        }
        let text = match fs::read_to_string(&self.file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(self.failed(source)),
        };
        let membership = parse(&text).ok_or_else(|| KeepError::Damaged(self.file.clone()))?;
        Ok(Some(membership))
    }

    /// Keeps `membership`.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write<Id: Display>(&self, membership: &Membership<Id>) -> Result<(), KeepError> {
        if self.remembered.is_some() {
            return Ok(());
        }
        write_private(&self.file, &written(membership)).map_err(|source| self.failed(source))
    }

    fn failed(&self, source: io::Error) -> KeepError {
        KeepError::File { file: self.file.clone(), source }
    }
}

fn written<Id: Display>(membership: &Membership<Id>) -> String {
    let Membership { id, token, league } = membership;
    format!("{league} {id} {}\n", token.expose())
}

fn parse<Id: FromStr>(text: &str) -> Option<Membership<Id>> {
    let mut words = text.split_whitespace();
    let league: LeagueId = words.next()?.parse().ok()?;
    let id: Id = words.next()?.parse().ok()?;
    let token: Token = words.next()?.parse().ok()?;
    words.next().is_none().then_some(Membership { id, token, league })
}

/// Writes a file that only its owner may read. It is there with all of its text or not at all: half
/// a secret would be worse than none.
///
/// # Errors
/// If the system cannot do it.
pub fn write_private(file: &Path, text: &str) -> io::Result<()> {
    let mut name = file.file_name().unwrap_or_default().to_os_string();
    name.push(".new");
    let unfinished = file.with_file_name(name);
    let written = write_whole(&unfinished, text).and_then(|()| fs::rename(&unfinished, file));
    if written.is_err() {
        // It may not even have been made.
        let _gone = fs::remove_file(&unfinished);
    }
    written?;
    sync_directory(file)
}

fn write_whole(file: &Path, text: &str) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut opened = options.open(file)?;
    opened.write_all(text.as_bytes())?;
    opened.sync_all()
}

/// A name that was given is only durable with the directory it stands in.
#[cfg(unix)]
fn sync_directory(file: &Path) -> io::Result<()> {
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
    fs::File::open(parent.unwrap_or_else(|| Path::new(".")))?.sync_all()
}

#[cfg(not(unix))]
const fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use league_core::id::PlayerId;

    use super::*;

    fn keep(name: &str) -> Keep {
        let unique = format!("league-keep-{}-{name}", std::process::id());
        let keep = Keep::new(std::env::temp_dir().join(unique));
        drop(fs::remove_file(keep.file()));
        keep
    }

    // req: AUTH-5
    #[test]
    fn a_membership_is_kept_for_its_owner_only() {
        let keep = keep("whole");
        assert!(keep.read::<PlayerId>().unwrap().is_none(), "nothing was kept");
        let membership = Membership {
            id: "P07".parse::<PlayerId>().unwrap(),
            token: "tok_player_P07_0123456789abcdef".parse().unwrap(),
            league: "spring".parse().unwrap(),
        };
        keep.write(&membership).unwrap();
        keep.write(&membership).unwrap();
        let read = keep.read::<PlayerId>().unwrap().expect("it was kept");
        assert_eq!((read.id, &read.league), (membership.id, &membership.league));
        assert!(read.token.matches(membership.token.expose()));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(keep.file()).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        fs::remove_file(keep.file()).unwrap();
    }

    #[test]
    fn what_somebody_remembers_needs_no_file_and_is_not_shown() {
        let membership = Membership {
            id: "P07".parse::<PlayerId>().unwrap(),
            token: "tok_player_P07_0123456789abcdef".parse().unwrap(),
            league: "spring".parse().unwrap(),
        };
        let keep = Keep::remembered(&membership);
        keep.write(&membership).unwrap();
        assert!(!keep.file().exists());
        let read = keep.read::<PlayerId>().unwrap().expect("it is remembered");
        assert!(read.token.matches(membership.token.expose()));
        assert!(!format!("{keep:?}").contains("tok_"), "{keep:?}");
    }

    #[test]
    fn what_is_no_membership_is_said_so() {
        let keep = keep("damaged");
        for text in ["", "spring P07", "spring REF01 tok_player_P07_00", "spring P07 tok_a b"] {
            fs::write(keep.file(), text).unwrap();
            let error = keep.read::<PlayerId>().unwrap_err();
            assert!(error.to_string().contains("remove it"), "{text:?}: {error}");
        }
        fs::remove_file(keep.file()).unwrap();
    }
}
