//! Borders between crates, read from their manifests.

use crate::{Offence, Rule};

static STREET: Rule = Rule {
    name: "core ← wire ← agent ← server ← cli: a crate knows only those to its left",
    why: "rules that know their shell cannot be simulated, and a player would compile a database",
    remedy: "move the shared noun to the left, or hand the value in from the right",
};

static STRANGER: Rule = Rule {
    name: "every crate has its place on the street",
    why: "a crate without a place has no borders",
    remedy: "add it to KNOWS in xtask/src/border/manifest.rs, and to ARCHITECTURE.md",
};

static PURE: Rule = Rule {
    name: "core has no runtime, no network, no storage, no entropy and no JSON",
    why: "the compiler can only keep core pure if its manifest does",
    remedy: "hand the value in; the shell in agent or server does the rest",
};

/// Each crate and whom it may name. `check` holds the cases of `league check`, `sim` the simulator.
const KNOWS: [(&str, &[&str]); 7] = [
    ("core", &[]),
    ("wire", &["core"]),
    ("agent", &["core", "wire"]),
    ("server", &["core", "wire", "agent"]),
    ("check", &["core", "wire", "agent"]),
    ("sim", &["core", "wire", "agent", "server", "check"]),
    ("cli", &["core", "wire", "agent", "server", "check", "sim"]),
];

const IMPURE: [&str; 10] = [
    "axum",
    "getrandom",
    "hyper",
    "hyper-util",
    "rand",
    "reqwest",
    "rusqlite",
    "serde_json",
    "tokio",
    "tokio-postgres",
];

/// What core's tests may use although core may not.
const IMPURE_IN_TESTS: [&str; 1] = ["serde_json"];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Shipped,
    Tests,
}

struct Dependency<'a> {
    line: usize,
    name: &'a str,
    section: Section,
}

/// Dependencies of `crates/<name>/Cargo.toml` that cross a border.
pub fn offences(path: &str, text: &str) -> Vec<Offence> {
    let folder = path.trim_start_matches("crates/").trim_end_matches("/Cargo.toml");
    let Some((_, known)) = KNOWS.iter().find(|(name, _)| *name == folder) else {
        return vec![Offence::new(&STRANGER, path, 1, format!("`{folder}` has no place"))];
    };
    let mut offences = Vec::new();
    for dependency in dependencies(text) {
        let Dependency { line, name, section } = dependency;
        let neighbour = name.strip_prefix("league-");
        if neighbour.is_some_and(|neighbour| !known.contains(&neighbour)) {
            offences.push(Offence::new(&STREET, path, line, format!("names {name}")));
        }
        let excused = section == Section::Tests && IMPURE_IN_TESTS.contains(&name);
        if folder == "core" && IMPURE.contains(&name) && !excused {
            offences.push(Offence::new(&PURE, path, line, format!("names {name}")));
        }
    }
    offences
}

fn dependencies(text: &str) -> Vec<Dependency<'_>> {
    let mut found = Vec::new();
    let mut section = None;
    for (index, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        let mut names = Vec::new();
        if let Some(header) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            let (kind, name) = section_of(header);
            section = kind;
            names.extend(name);
        } else if let Some((key, _)) = line.split_once('=') {
            names.push(key.split('.').next().unwrap_or_default().trim().trim_matches('"'));
            names.extend(real_name(line));
        }
        let Some(section) = section else { continue };
        let line = index + 1;
        found.extend(names.into_iter().map(|name| Dependency { line, name, section }));
    }
    found
}

/// Whether a table holds dependencies, and the one it is about if it is about one.
fn section_of(header: &str) -> (Option<Section>, Option<&str>) {
    let kinds = [
        ("dev-dependencies", Section::Tests),
        ("build-dependencies", Section::Shipped),
        ("dependencies", Section::Shipped),
    ];
    for (kind, section) in kinds {
        if let Some((before, after)) = header.rsplit_once(kind)
            && (before.is_empty() || before.ends_with('.'))
        {
            return (Some(section), after.strip_prefix('.'));
        }
    }
    (None, None)
}

/// The package behind `alias = { package = "name" }`.
fn real_name(line: &str) -> Option<&str> {
    let after = line.split_once("package")?.1.trim_start().strip_prefix('=')?;
    after.trim_start().strip_prefix('"')?.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, text: &str, expected: &[(usize, &Rule)]) {
        let offences = offences(&format!("crates/{name}/Cargo.toml"), text);
        let found: Vec<(usize, &Rule)> =
            offences.iter().map(|offence| (offence.line, offence.rule)).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn a_look_to_the_right_is_found() {
        check("wire", "[dependencies]\nleague-core.workspace = true", &[]);
        check("wire", "[dependencies]\nleague-agent.workspace = true", &[(2, &STREET)]);
        check("agent", "[dev-dependencies]\nleague-server = { path = \"x\" }", &[(2, &STREET)]);
        check("server", "[dependencies.league-sim]\nworkspace = true", &[(1, &STREET)]);
        check("cli", "[dependencies]\nleague-sim.workspace = true", &[]);
    }

    #[test]
    fn an_alias_hides_nothing() {
        let text = "[dependencies]\nfriend = { package = \"league-server\", path = \"x\" }";
        check("agent", text, &[(2, &STREET)]);
        let table = "[dependencies.friend]\npackage = \"league-server\"";
        check("agent", table, &[(2, &STREET)]);
    }

    #[test]
    fn an_impure_core_is_found() {
        check("core", "[dependencies]\ntokio.workspace = true", &[(2, &PURE)]);
        check("core", "[target.'cfg(unix)'.dependencies]\nrusqlite = \"1\"", &[(2, &PURE)]);
        check("core", "[dev-dependencies]\nserde_json.workspace = true", &[]);
        check("core", "[dev-dependencies]\ntokio.workspace = true", &[(2, &PURE)]);
        check("core", "[package.metadata]\ntokio = 1", &[]);
    }

    #[test]
    fn a_crate_without_a_place_is_found() {
        check("attic", "[dependencies]", &[(1, &STRANGER)]);
    }
}
