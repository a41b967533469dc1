//! How files are named, how they open, and how they lie beside each other.

use std::collections::BTreeSet;

use crate::source::RustFile;
use crate::{Offence, Rule};

const NAMELESS: [&str; 8] =
    ["util", "utils", "helpers", "common", "misc", "types", "base", "prelude"];

const CODE_ENDINGS: [&str; 6] = ["rs", "py", "ts", "js", "mjs", "sh"];

static NAME: Rule = Rule {
    name: "a file is named after what it is about",
    why: "a drawer called util collects everything that nobody wanted to name",
    remedy: "name the noun; if there is none, move each line to the room it belongs to",
};

static OPENING: Rule = Rule {
    name: "every Rust file opens with //!",
    why: "a reader should know after one line whether this is the right file",
    remedy: "say in one to five lines what the file is for",
};

static FORM: Rule = Rule {
    name: "a module with a folder is foo/mod.rs",
    why: "one form throughout; a room and its door lie in the same place",
    remedy: "move foo.rs to foo/mod.rs",
};

static BINARY: Rule = Rule {
    name: "the workspace has one binary, `league`, in crates/cli",
    why: "`cargo run` from the root must know what to run",
    remedy: "make it a command of `league`, or a test",
};

static LOCK: Rule = Rule {
    name: "Cargo.lock is tracked",
    why: "without it tomorrow's build is another program",
    remedy: "commit Cargo.lock and take it out of .gitignore",
};

/// Rust files that do not say what they are for.
pub fn opening_offences(file: &RustFile) -> Vec<Offence> {
    let first = file.lines.first().map_or("", |line| line.raw.as_str());
    let said = first.strip_prefix("//!").is_some_and(|text| !text.trim().is_empty());
    let found = || Offence::new(&OPENING, &file.path, 1, format!("opens with `{first}`"));
    (!said).then(found).into_iter().collect()
}

/// Paths that break a rule by themselves or beside each other.
pub fn path_offences(paths: &BTreeSet<String>) -> Vec<Offence> {
    let mut offences = Vec::new();
    for path in paths {
        let (stem, ending) = path.rsplit_once('.').unwrap_or((path, ""));
        if !CODE_ENDINGS.contains(&ending) {
            continue;
        }
        if let Some(part) = stem.split('/').find(|part| NAMELESS.contains(part)) {
            offences.push(Offence::new(&NAME, path, 1, format!("is called `{part}`")));
        }
        let module = format!("{stem}/");
        let beside = paths.range(module.clone()..).next();
        if ending == "rs" && beside.is_some_and(|other| other.starts_with(&module)) {
            offences.push(Offence::new(&FORM, path, 1, format!("stands beside {module}")));
        }
        let binary = path.ends_with("src/main.rs") || path.contains("/src/bin/");
        if binary && path != "crates/cli/src/main.rs" && !path.starts_with("sdks/") {
            offences.push(Offence::new(&BINARY, path, 1, "is a second binary"));
        }
    }
    offences
}

/// A lock file that is missing or ignored.
pub fn lock_offences(paths: &BTreeSet<String>, gitignore: &str) -> Vec<Offence> {
    let mut offences = Vec::new();
    if !paths.contains("Cargo.lock") {
        offences.push(Offence::new(&LOCK, "Cargo.lock", 1, "is missing"));
    }
    for (index, line) in gitignore.lines().enumerate() {
        if line.trim().trim_start_matches('/') == "Cargo.lock" || line.trim() == "*.lock" {
            offences.push(Offence::new(&LOCK, ".gitignore", index + 1, "ignores Cargo.lock"));
        }
    }
    offences
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(paths: &[&str], expected: &[(&str, &Rule)]) {
        let paths = paths.iter().map(|path| (*path).to_owned()).collect();
        let offences = path_offences(&paths);
        let found: Vec<(&str, &Rule)> =
            offences.iter().map(|offence| (offence.path.as_str(), offence.rule)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn nameless_files_and_folders_are_found() {
        check(&["a/src/utils.rs"], &[("a/src/utils.rs", &NAME)]);
        check(&["a/common/b.py"], &[("a/common/b.py", &NAME)]);
        check(&["a/src/based.rs", "docs/common.md"], &[]);
    }

    #[test]
    fn a_module_beside_its_folder_is_found() {
        check(&["a/src/b.rs", "a/src/b/c.rs"], &[("a/src/b.rs", &FORM)]);
        check(&["a/src/b/mod.rs", "a/src/b/c.rs", "a/src/b_d/e.rs"], &[]);
    }

    #[test]
    fn a_second_binary_is_found() {
        check(&["crates/cli/src/main.rs", "xtask/src/main.rs"], &[("xtask/src/main.rs", &BINARY)]);
        check(&["crates/core/src/bin/a.rs"], &[("crates/core/src/bin/a.rs", &BINARY)]);
    }

    #[test]
    fn a_file_without_an_opening_is_found() {
        let count = |text| opening_offences(&RustFile::read("a.rs", text)).len();
        assert_eq!(count("use b;"), 1);
        assert_eq!(count(""), 1);
        assert_eq!(count("//!\n//! late"), 1);
        assert_eq!(count("//! What it is for."), 0);
    }

    #[test]
    fn a_missing_or_ignored_lock_file_is_found() {
        let with = BTreeSet::from(["Cargo.lock".to_owned()]);
        assert_eq!(lock_offences(&with, "/target").len(), 0);
        assert_eq!(lock_offences(&with, "/target\n/Cargo.lock")[0].line, 2);
        assert_eq!(lock_offences(&BTreeSet::new(), "").len(), 1);
    }
}
