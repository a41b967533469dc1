//! What documents owe the reader: links that lead somewhere, decisions that can be followed.

use crate::{Offence, Rule};

const ADR_HEADINGS: [&str; 3] = ["## Context", "## Decision", "## Consequences"];

static ADR: Rule = Rule {
    name: "a decision record has Context, Decision and Consequences",
    why: "a decision without its reasons is repeated or undone by accident",
    remedy: "add the heading, with at least one sentence under it",
};

static LINK: Rule = Rule {
    name: "relative links lead to a file",
    why: "a dead link costs every reader what a fix costs once",
    remedy: "correct the path, counted from the folder of the document",
};

/// Headings that a decision record lacks, or that have nothing under them.
pub fn adr_offences(path: &str, text: &str) -> Vec<Offence> {
    let lacking = |heading: &&&str| {
        let body = text.lines().skip_while(|line| line.trim_end() != **heading).skip(1);
        !body.take_while(|line| !line.starts_with("## ")).any(|line| !line.trim().is_empty())
    };
    let headings = ADR_HEADINGS.iter().filter(lacking);
    headings.map(|heading| Offence::new(&ADR, path, 1, format!("lacks `{heading}`"))).collect()
}

/// Relative links to files that `exists` does not know, given paths from the root.
pub fn link_offences(path: &str, text: &str, exists: impl Fn(&str) -> bool) -> Vec<Offence> {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut offences = Vec::new();
    let mut in_block = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        }
        let targets = if in_block { Vec::new() } else { link_targets(line) };
        for target in targets.into_iter().filter(|target| is_relative(target)) {
            let file = target.split(['#', '?']).next().unwrap_or_default();
            let found = resolve(folder, file).is_some_and(|file| exists(&file));
            if !found {
                offences.push(Offence::new(&LINK, path, index + 1, format!("links to {target}")));
            }
        }
    }
    offences
}

/// What stands in the round brackets of `[text](target "title")`, outside code spans.
fn link_targets(line: &str) -> Vec<&str> {
    let prose = line.split('`').step_by(2);
    let inline = prose.flat_map(|part| part.split("](").skip(1));
    let target = |rest: &str| rest.find([')', ' ']);
    let mut found: Vec<&str> = inline.filter_map(|rest| Some(&rest[..target(rest)?])).collect();
    let definition = line.strip_prefix('[').and_then(|rest| rest.split_once("]: "));
    found.extend(definition.and_then(|(_, target)| target.split_whitespace().next()));
    found
}

fn is_relative(target: &str) -> bool {
    let absolute = target.contains("://") || target.starts_with("mailto:");
    !(absolute || target.starts_with('#'))
}

/// The path from the root, or nothing if it leads out of the workspace.
fn resolve(folder: &str, target: &str) -> Option<String> {
    let from_root = target.starts_with('/');
    let start = if from_root { "" } else { folder };
    let mut parts: Vec<&str> = Vec::new();
    for part in start.split('/').chain(target.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[usize]) {
        let exists = |path: &str| ["docs/a.md", "b.md", "docs/c"].contains(&path);
        let found: Vec<usize> =
            link_offences("docs/x.md", text, exists).iter().map(|offence| offence.line).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn links_to_nowhere_are_found() {
        check("[a](a.md) and [b](../b.md#part), [c](c/)\n[d](d.md)", &[2]);
        check("[a](../../a.md)", &[1]);
        check("[a](nowhere.md \"title\") [a](a.md)", &[1]);
        check("[a]: gone.md\n[a]: a.md", &[1]);
    }

    #[test]
    fn addresses_anchors_and_code_are_left_alone() {
        check("[a](https://example.org/x) [b](#part) `[c](d.md)`", &[]);
        check("```\n[a](gone.md)\n```", &[]);
    }

    #[test]
    fn a_link_after_a_code_span_is_read() {
        check("see [`a`](a.md) and [`d`](d.md)", &[1]);
    }

    #[test]
    fn records_without_reasons_are_found() {
        let whole = "# 1\n\n## Context\nx\n\n## Decision\nx\n\n## Consequences\nx\n";
        assert_eq!(adr_offences("a.md", whole), []);
        let empty = whole.replace("## Decision\nx", "## Decision\n");
        assert_eq!(adr_offences("a.md", &empty).len(), 1);
        assert_eq!(adr_offences("a.md", "# 1\n\n## Context\nx").len(), 2);
    }
}
