//! What people and programs are told: [`text`], [`json`], [`junit`].

pub mod json;
pub mod junit;
pub mod text;

use crate::case::Level;
use crate::session::Report;
use crate::verdict::Verdict;

/// How many cases of a level became what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// As it must be.
    pub passed: usize,
    /// The agent's fault.
    pub failed: usize,
    /// Not tried.
    pub skipped: usize,
    /// The checker's fault.
    pub errors: usize,
}

impl Report {
    /// How many cases of `level` became what.
    pub fn tally(&self, level: Level) -> Tally {
        let mut tally = Tally::default();
        for checked in self.checked.iter().filter(|checked| checked.case.level == level) {
            match &checked.verdict {
                Verdict::Pass => tally.passed += 1,
                Verdict::Fail(_) => tally.failed += 1,
                Verdict::Skipped(_) => tally.skipped += 1,
                Verdict::CheckerError(_) => tally.errors += 1,
            }
        }
        tally
    }

    /// How many cases failed by a fault of the checker.
    pub fn checker_errors(&self) -> usize {
        self.tally(Level::Must).errors + self.tally(Level::Should).errors
    }

    /// The line that sums everything up, such as `speaks flat: 38 of 40 must, 11 of 14 should`.
    pub fn summary(&self) -> String {
        let (must, should) = (self.tally(Level::Must), self.tally(Level::Should));
        let part = |tally: Tally, level: Level| {
            let tried = tally.passed + tally.failed;
            (tried > 0).then(|| format!("{} of {tried} {}", tally.passed, level.name()))
        };
        let parts = [part(must, Level::Must), part(should, Level::Should)];
        let mut parts: Vec<String> = parts.into_iter().flatten().collect();
        let skipped = must.skipped + should.skipped;
        if skipped > 0 {
            parts.push(format!("{skipped} skipped"));
        }
        let errors = self.checker_errors();
        if errors > 0 {
            parts.push(format!("{errors} not judged (the checker failed)"));
        }
        if parts.is_empty() {
            parts.push("nothing was tried".into());
        }
        let word = if must.failed > 0 { "does not quite speak" } else { "speaks" };
        format!("{word} {}: {}", self.dialect, parts.join(", "))
    }
}
