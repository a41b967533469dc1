//! What is wrong, where, why it matters and what to do about it.

use std::fmt;

/// One house rule.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// The rule in a few words.
    pub name: &'static str,
    /// What goes wrong without it.
    pub why: &'static str,
    /// How to get back to it.
    pub remedy: &'static str,
}

/// One place that breaks a rule.
#[derive(Debug, PartialEq, Eq)]
pub struct Offence {
    /// The file, from the root of the workspace.
    pub path: String,
    /// The line, counted from one.
    pub line: usize,
    /// What was found there.
    pub found: String,
    /// The rule it breaks.
    pub rule: &'static Rule,
}

impl Offence {
    pub(crate) fn new(
        rule: &'static Rule,
        path: &str,
        line: usize,
        found: impl Into<String>,
    ) -> Self {
        Self { path: path.to_owned(), line, found: found.into(), rule }
    }
}

impl fmt::Display for Offence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Rule { name, why, remedy } = self.rule;
        writeln!(f, "{}:{}: {}", self.path, self.line, self.found)?;
        writeln!(f, "    rule: {name}")?;
        writeln!(f, "    why:  {why}")?;
        write!(f, "    do:   {remedy}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static RULE: Rule = Rule { name: "be kind", why: "people read this", remedy: "say please" };

    #[test]
    fn an_offence_says_where_what_why_and_what_to_do() {
        let text = Offence::new(&RULE, "a/b.rs", 7, "a rude word").to_string();
        assert!(text.starts_with("a/b.rs:7: a rude word\n"), "{text}");
        for part in ["be kind", "people read this", "say please"] {
            assert!(text.contains(part), "{part} is missing in {text}");
        }
    }
}
