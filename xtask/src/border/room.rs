//! Borders between the rooms of one crate, read from the paths in its code.

use crate::source::{RustFile, is_name_char};
use crate::{Offence, Rule};

static TWINS: Rule = Rule {
    name: "manager and referee never name each other",
    why: "they meet over the protocol, so that either may be a stranger's program",
    remedy: "move what both need into a room of its own, or say it in a message",
};

static CALM: Rule = Rule {
    name: "in core only manager and referee know the machines",
    why: "a rule of the trade that knows its user can no longer be tested alone",
    remedy: "pass the value in; let the machine call the rule",
};

static JOURNAL: Rule = Rule {
    name: "the journal names neither manager nor referee",
    why: "storage that knows its writers cannot be exchanged",
    remedy: "keep rows opaque; encode and decode where the events are known",
};

static RUNTIME: Rule = Rule {
    name: "nobody names runtime",
    why: "the composition root builds everyone; whoever knows it makes a circle",
    remedy: "take what you need as a parameter and let runtime pass it",
};

/// Paths that lead into a room which this file may not know.
pub fn offences(file: &RustFile) -> Vec<Offence> {
    let Some((house, inside)) = split(&file.path) else {
        return Vec::new();
    };
    let modules = module_path(inside);
    let home = modules.first().copied().unwrap_or_default();
    let code: Vec<&str> = file.lines.iter().map(|line| line.code.as_str()).collect();
    let mut offences = Vec::new();
    for (line, room) in rooms_named(&code.join("\n"), modules.len()) {
        if let Some(rule) = broken_rule(house, home, &room) {
            let found = format!("`{home}` names `{room}`");
            offences.push(Offence::new(rule, &file.path, line, found));
        }
    }
    offences
}

/// The rule that `home` breaks by naming `room`. The root of a crate may name everyone.
fn broken_rule(house: &str, home: &str, room: &str) -> Option<&'static Rule> {
    match (house, home, room) {
        (_, "", _) => None,
        (_, "manager", "referee") | (_, "referee", "manager") => Some(&TWINS),
        ("core", home, "manager" | "referee") if home != room => Some(&CALM),
        ("server", "journal", "manager" | "referee") => Some(&JOURNAL),
        ("server", home, "runtime") if home != "runtime" => Some(&RUNTIME),
        _ => None,
    }
}

/// The crate's folder and the path inside its `src`, for the crates that have rooms.
fn split(path: &str) -> Option<(&str, &str)> {
    let (house, inside) = path.strip_prefix("crates/")?.split_once("/src/")?;
    ["core", "server"].contains(&house).then_some((house, inside))
}

fn module_path(inside: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = inside.trim_end_matches(".rs").split('/').collect();
    if parts.last().is_some_and(|last| ["mod", "lib", "main"].contains(last)) {
        parts.pop();
    }
    parts
}

/// Every name that follows the root of the crate, said as `crate::` or by enough `super::`.
fn rooms_named(code: &str, depth: usize) -> Vec<(usize, String)> {
    let to_root = "super::".repeat(depth);
    let mut roots = vec!["crate::"];
    if depth > 0 {
        roots.push(&to_root);
    }
    let mut found = Vec::new();
    for root in roots {
        for (at, _) in code.match_indices(root) {
            let before = code[..at].chars().next_back();
            if before.is_some_and(|c| is_name_char(c) || c == ':') {
                continue;
            }
            let line = code[..at].matches('\n').count();
            let names = first_names(&code[at + root.len()..]);
            found.extend(names.into_iter().map(|(down, name)| (line + down + 1, name)));
        }
    }
    found
}

/// The first name of a path, or of each branch if the path opens a group; with lines further down.
fn first_names(rest: &str) -> Vec<(usize, String)> {
    let Some(group) = rest.strip_prefix('{') else {
        let name: String = rest.chars().take_while(|c| is_name_char(*c)).collect();
        return vec![(0, name)];
    };
    let mut names = Vec::new();
    let (mut depth, mut down, mut name) = (0, 0, String::new());
    let mut wanted = true;
    for c in group.chars() {
        match c {
            c if depth == 0 && wanted && is_name_char(c) => name.push(c),
            '{' => depth += 1,
            '}' | ',' if depth == 0 => {
                names.push((down, std::mem::take(&mut name)));
                wanted = true;
                if c == '}' {
                    break;
                }
            }
            '}' => depth -= 1,
            '\n' => down += 1,
            c if depth == 0 && !name.is_empty() && !is_name_char(c) => wanted = false,
            _ => {}
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, text: &str, expected: &[(usize, &Rule)]) {
        let offences = offences(&RustFile::read(path, text));
        let found: Vec<(usize, &Rule)> =
            offences.iter().map(|offence| (offence.line, offence.rule)).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn twins_that_name_each_other_are_found() {
        check("crates/core/src/manager/decide.rs", "use crate::referee::Match;", &[(1, &TWINS)]);
        check("crates/server/src/referee/mod.rs", "x();\ncrate::manager::y();", &[(2, &TWINS)]);
        check("crates/core/src/manager/decide.rs", "use super::super::referee;", &[(1, &TWINS)]);
        check("crates/core/src/manager/mod.rs", "use super::referee;", &[(1, &TWINS)]);
        check("crates/core/src/manager/decide.rs", "use super::referee;", &[]);
        check("crates/server/src/manager/mod.rs", "use league_core::manager::League;", &[]);
    }

    #[test]
    fn groups_are_looked_into() {
        let text = "use crate::{\n    id::{referee, PlayerId},\n    referee::Match,\n};";
        check("crates/core/src/manager/mod.rs", text, &[(3, &TWINS)]);
        check("crates/core/src/game/mod.rs", "use crate::{self, referee};", &[(1, &CALM)]);
    }

    #[test]
    fn words_in_comments_and_strings_are_not_paths() {
        let text = "/// Like [`crate::referee`].\nlet a = \"crate::referee\";";
        check("crates/core/src/manager/mod.rs", text, &[]);
    }

    #[test]
    fn rules_that_know_their_user_are_found() {
        check("crates/core/src/retry.rs", "use crate::manager::League;", &[(1, &CALM)]);
        check("crates/core/src/game/even_odd.rs", "crate::referee::x()", &[(1, &CALM)]);
        check("crates/core/src/referee/phase.rs", "use crate::referee::Event;", &[]);
        check("crates/core/src/lib.rs", "pub use crate::manager::League;", &[]);
    }

    #[test]
    fn a_journal_that_knows_its_writers_is_found() {
        check("crates/server/src/journal/sqlite/mod.rs", "crate::manager::x()", &[(1, &JOURNAL)]);
        check("crates/server/src/journal/mod.rs", "use league_core::manager::Event;", &[]);
    }

    #[test]
    fn a_circle_through_the_runtime_is_found() {
        check("crates/server/src/dashboard/mod.rs", "use crate::runtime::Host;", &[(1, &RUNTIME)]);
        check("crates/server/src/lib.rs", "pub use crate::runtime::Host;", &[]);
        check("crates/server/src/runtime/host.rs", "use crate::runtime::Plan;", &[]);
    }
}
