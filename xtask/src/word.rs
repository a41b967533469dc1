//! Words that code never says, or says in one place only.

use crate::source::{Line, RustFile, has_word};
use crate::{Offence, Rule};

static UNFINISHED: Rule = Rule {
    name: "nothing unfinished is committed",
    why: "a gap that compiles is found by a user",
    remedy: "finish it, or leave it out and say so in the documents",
};

static SKIPPED: Rule = Rule {
    name: "no test is skipped",
    why: "a test that does not run rots, and its green light lies",
    remedy: "make it fast, or give it a small count that LEAGUE_LONG=1 raises",
};

static ALLOWED: Rule = Rule {
    name: "lints are relaxed with #[expect(lint, reason = \"…\")]",
    why: "#[allow] stays when its cause is gone, and gives no reason",
    remedy: "write #[expect] with a reason, or follow the lint",
};

static UNSAFE: Rule = Rule {
    name: "no unsafe code",
    why: "nothing here needs it, and its bugs have no line number",
    remedy: "find a safe form, or a crate that carries the proof",
};

static CLOCK: Rule = Rule {
    name: "only agent::ambient asks the clock",
    why: "time that is handed in can be simulated, replayed and tested",
    remedy: "take a Timestamp or a Deadline as a parameter",
};

static SPAWN: Rule = Rule {
    name: "tasks are spawned where they are joined",
    why: "a task that nobody owns outlives its shutdown and hides its panic",
    remedy: "spawn in the actor's mod.rs or in runtime, or use a JoinSet that you own",
};

static UNBOUNDED: Rule = Rule {
    name: "every queue has a named bound",
    why: "a queue without one turns load into lost memory",
    remedy: "use a bounded channel with a constant from limits.rs, and answer when it is full",
};

/// The files that may spawn tasks: the composition root, the two actors, and both ends of HTTP.
const SPAWNERS: [&str; 8] = [
    "crates/server/src/runtime.rs",
    "crates/server/src/runtime/mod.rs",
    "crates/server/src/manager/mod.rs",
    "crates/server/src/referee/mod.rs",
    "crates/agent/src/endpoint.rs",
    "crates/agent/src/endpoint/mod.rs",
    "crates/agent/src/caller.rs",
    "crates/agent/src/caller/mod.rs",
];

const CLOCKS: [&str; 1] = ["crates/agent/src/ambient.rs"];

struct Ban {
    words: &'static [&'static str],
    rule: &'static Rule,
    /// Whether tests are bound by it too, and comments.
    reach: Reach,
    /// The files that may say it.
    except: &'static [&'static str],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    Shipped,
    AllCode,
    CodeAndComments,
}

static BANS: [Ban; 8] = [
    Ban {
        words: &["todo!", "unimplemented!", "dbg!"],
        rule: &UNFINISHED,
        reach: Reach::AllCode,
        except: &[],
    },
    Ban {
        words: &["FIXME", "XXX", "HACK"],
        rule: &UNFINISHED,
        reach: Reach::CodeAndComments,
        except: &[],
    },
    Ban { words: &["#[ignore"], rule: &SKIPPED, reach: Reach::AllCode, except: &[] },
    Ban { words: &["#[allow(", "#![allow("], rule: &ALLOWED, reach: Reach::AllCode, except: &[] },
    Ban { words: &["unsafe"], rule: &UNSAFE, reach: Reach::AllCode, except: &[] },
    Ban {
        words: &["SystemTime::now", "Instant::now"],
        rule: &CLOCK,
        reach: Reach::Shipped,
        except: &CLOCKS,
    },
    Ban {
        words: &["tokio::spawn", "task::spawn"],
        rule: &SPAWN,
        reach: Reach::Shipped,
        except: &SPAWNERS,
    },
    Ban { words: &["unbounded_channel"], rule: &UNBOUNDED, reach: Reach::AllCode, except: &[] },
];

/// Words in a Rust file that do not belong there.
pub fn offences(file: &RustFile) -> Vec<Offence> {
    let bans = BANS.iter().filter(|ban| !ban.except.contains(&file.path.as_str()));
    bans.flat_map(|ban| {
        file.numbered().filter_map(|(number, line)| {
            let word = ban.found_in(line)?;
            Some(Offence::new(ban.rule, &file.path, number, format!("`{word}`")))
        })
    })
    .collect()
}

impl Ban {
    fn found_in(&self, line: &Line) -> Option<&'static str> {
        let reached = self.reach != Reach::Shipped || !line.test;
        let comments = self.reach == Reach::CodeAndComments;
        let said =
            |word: &str| has_word(&line.code, word) || (comments && has_word(&line.comment, word));
        self.words.iter().copied().find(|word| reached && said(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, text: &str, rules: &[&Rule]) {
        let found: Vec<&Rule> =
            offences(&RustFile::read(path, text)).iter().map(|offence| offence.rule).collect();
        assert_eq!(found, rules, "{text}");
    }

    #[test]
    fn unfinished_work_is_found() {
        for text in ["todo!()", "unimplemented!()", "dbg!(x)", "// FIXME later", "/* XXX */"] {
            check("a.rs", text, &[&UNFINISHED]);
        }
        check("a/tests.rs", "// HACK", &[&UNFINISHED]);
        check("a.rs", "// a todo! list, \"FIXMEs\"", &[]);
        check("a.rs", "let words = \"todo! FIXME\";", &[]);
    }

    #[test]
    fn skipped_tests_are_found() {
        check("a/tests.rs", "#[test]\n#[ignore = \"slow\"]", &[&SKIPPED]);
    }

    #[test]
    fn relaxed_lints_are_found() {
        check("a.rs", "#[allow(dead_code)]", &[&ALLOWED]);
        check("a.rs", "#![allow(dead_code)]", &[&ALLOWED]);
        check("a.rs", "#[expect(dead_code, reason = \"b\")]", &[]);
    }

    #[test]
    fn unsafe_code_is_found() {
        check("a.rs", "unsafe { b() }", &[&UNSAFE]);
        check("a.rs", "#![forbid(unsafe_code)]", &[]);
    }

    #[test]
    fn clocks_are_found_outside_ambient_and_tests() {
        let text = "let now = std::time::Instant::now();";
        check("crates/server/src/a.rs", text, &[&CLOCK]);
        check("crates/cli/src/a.rs", "SystemTime::now()", &[&CLOCK]);
        check("crates/agent/src/ambient.rs", text, &[]);
        check("crates/core/benches/a.rs", text, &[]);
        check("crates/server/src/a.rs", &format!("#[cfg(test)]\nmod tests {{\n{text}\n}}"), &[]);
    }

    #[test]
    fn orphan_tasks_are_found() {
        check("crates/server/src/manager/outbound.rs", "tokio::spawn(a);", &[&SPAWN]);
        check("crates/server/src/a.rs", "use tokio::task::spawn;", &[&SPAWN]);
        check("crates/server/src/a.rs", "use tokio::task::spawn_blocking;", &[]);
        check("crates/server/src/manager/mod.rs", "tokio::spawn(a);", &[]);
    }

    #[test]
    fn unbounded_queues_are_found() {
        check("a.rs", "let (a, b) = mpsc::unbounded_channel();", &[&UNBOUNDED]);
    }
}
