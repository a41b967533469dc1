//! Whether the data directory takes what is written to it, and whether the database in it is still
//! the one that was opened.

use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::path::Path;

use league_core::id::LeagueId;

use super::join::KEY_PREFIX;
use crate::journal::Outage;
use crate::limits::ROOM_BYTES;

/// Which file a path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity(u64, u64);

impl Identity {
    /// Of what is there now.
    pub(super) fn of(file: &Path) -> io::Result<Self> {
        fs::metadata(file).map(|found| Self::told(&found))
    }

    #[cfg(unix)]
    fn told(found: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self(found.dev(), found.ino())
    }

    #[cfg(not(unix))]
    fn told(_found: &Metadata) -> Self {
        Self(0, 0)
    }
}

/// Whether there is room for the largest thing that a league writes at once. Reading says nothing
/// about that: a full disk is read like any other.
/// Each league has a file of its own for it, since several may ask at once.
pub(super) fn has_room(data: &Path, league: &LeagueId) -> Result<(), Outage> {
    let file = data.join(format!("probe-{league}"));
    let written = File::create(&file).and_then(|mut probe| {
        probe.write_all(&vec![0; ROOM_BYTES])?;
        probe.sync_all()
    });
    let removed = fs::remove_file(&file);
    let full = [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded];
    written.and(removed).map_err(|error| match full.contains(&error.kind()) {
        true => Outage::DiskFull,
        false => Outage::Io { detail: error.to_string() },
    })
}

/// Whether a manager has been at work in a directory whose database is not there.
pub(super) fn has_lost_its_database(data: &Path, file: &Path) -> bool {
    let is_there = fs::metadata(file).is_ok_and(|found| found.len() > 0);
    let Ok(entries) = fs::read_dir(data) else { return false };
    let is_key = |name: std::ffi::OsString| name.to_string_lossy().starts_with(KEY_PREFIX);
    !is_there && entries.flatten().any(|entry| is_key(entry.file_name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_file_of_the_same_name_is_another_file() {
        let data = tempfile::tempdir().unwrap();
        let (file, away) = (data.path().join("league.db"), data.path().join("away"));
        fs::write(&file, "one").unwrap();
        let first = Identity::of(&file).unwrap();
        fs::write(&file, "more").unwrap();
        assert_eq!(Identity::of(&file).unwrap(), first, "what is in it does not matter");
        fs::rename(&file, &away).unwrap();
        assert!(Identity::of(&file).is_err());
        fs::write(&file, "two").unwrap();
        assert_ne!(Identity::of(&file).unwrap(), first);
        fs::rename(&away, &file).unwrap();
        assert_eq!(Identity::of(&file).unwrap(), first);
    }

    #[test]
    fn room_is_found_by_writing_and_nothing_is_left_behind() {
        let data = tempfile::tempdir().unwrap();
        let league = "spring".parse().unwrap();
        assert_eq!(has_room(data.path(), &league), Ok(()));
        assert_eq!(fs::read_dir(data.path()).unwrap().count(), 0);
        fs::create_dir(data.path().join("probe-spring")).unwrap();
        assert!(matches!(has_room(data.path(), &league), Err(Outage::Io { .. })));
        assert_eq!(has_room(data.path(), &"autumn".parse().unwrap()), Ok(()));
    }

    #[test]
    fn a_directory_with_keys_and_no_database_has_lost_it() {
        let data = tempfile::tempdir().unwrap();
        let file = data.path().join("league.db");
        assert!(!has_lost_its_database(data.path(), &file), "nothing was there");
        fs::write(data.path().join("join-key-spring"), "key").unwrap();
        assert!(has_lost_its_database(data.path(), &file));
        fs::write(&file, "").unwrap();
        assert!(has_lost_its_database(data.path(), &file), "an empty file is no database");
        fs::write(&file, "rows").unwrap();
        assert!(!has_lost_its_database(data.path(), &file));
    }
}
