//! The files of the workspace, without what is built or downloaded.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::source::RustFile;

/// Folders that hold nothing written by us.
const FOREIGN: [&str; 7] =
    [".git", ".venv", "__pycache__", "artifacts", "league-data", "node_modules", "target"];

/// Every file of ours, by its path from the root.
#[derive(Debug)]
pub struct Tree {
    root: PathBuf,
    paths: BTreeSet<String>,
}

impl Tree {
    /// Walks the workspace that this crate belongs to.
    ///
    /// # Errors
    /// If a folder cannot be listed.
    pub fn workspace() -> io::Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
        let mut paths = BTreeSet::new();
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder)? {
                let entry = entry?;
                let kind = entry.file_type()?;
                let ours = !entry.file_name().to_str().is_some_and(|name| FOREIGN.contains(&name));
                if kind.is_dir() && ours {
                    folders.push(entry.path());
                } else if kind.is_file() && ours {
                    paths.insert(from_root(&root, &entry.path()));
                }
            }
        }
        Ok(Self { root, paths })
    }

    /// The root of the workspace.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Every path.
    pub fn paths(&self) -> &BTreeSet<String> {
        &self.paths
    }

    /// Every path that ends with `end`.
    pub fn ending(&self, end: &str) -> impl Iterator<Item = &str> {
        self.paths.iter().map(String::as_str).filter(move |path| path.ends_with(end))
    }

    /// The text of one file.
    ///
    /// # Errors
    /// If it cannot be read or is not UTF-8; the error names the file.
    pub fn text(&self, path: &str) -> io::Result<String> {
        fs::read_to_string(self.root.join(path))
            .map_err(|error| io::Error::new(error.kind(), format!("{path}: {error}")))
    }

    /// Every Rust file, read. What is declared for tests only counts as a test.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn rust(&self) -> io::Result<Vec<RustFile>> {
        let mut files = Vec::new();
        for path in self.ending(".rs") {
            files.push(RustFile::read(path, &self.text(path)?));
        }
        adopt_test_modules(&mut files);
        Ok(files)
    }
}

fn adopt_test_modules(files: &mut [RustFile]) {
    let modules: Vec<String> = files.iter().flat_map(RustFile::test_modules).collect();
    for file in files {
        let mine = |module: &String| {
            let rest = file.path.strip_prefix(module.as_str());
            rest.is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
        };
        if modules.iter().any(mine) {
            file.count_as_test();
        }
    }
}

fn from_root(root: &Path, path: &Path) -> String {
    let inside = path.strip_prefix(root).unwrap_or(path);
    let parts: Vec<String> =
        inside.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_walk_finds_us_and_nothing_built() {
        let tree = Tree::workspace().expect("the workspace can be walked");
        assert!(tree.paths().contains("xtask/src/tree.rs"));
        assert!(tree.paths().contains("Cargo.toml"));
        let foreign = |path: &&String| path.split('/').any(|part| FOREIGN.contains(&part));
        assert_eq!(tree.paths().iter().find(foreign), None);
    }

    #[test]
    fn a_folder_declared_for_tests_is_all_test() {
        let mut files = [
            RustFile::read("s/mod.rs", "#[cfg(test)]\nmod suite;"),
            RustFile::read("s/suite/deep.rs", "fn a() {}"),
            RustFile::read("s/suited.rs", "fn a() {}"),
        ];
        adopt_test_modules(&mut files);
        assert!(files[1].is_test());
        assert!(!files[2].is_test());
    }
}
