//! The rules as people find them: in a command and in the documentation.

use std::path::Path;

use league_core::policy::{Policy, RuleSet};
use serde_json::Value;

use crate::program::Place;

/// Every rule with its value in each rule set.
fn rules() -> Vec<[String; 3]> {
    let none: [(&str, &str); 0] = [];
    let [v21, v20] = RuleSet::ALL.map(|set| Policy::build(set, none).unwrap().written());
    let pairs = v21.into_iter().zip(v20);
    pairs.map(|((key, v21), (_, v20))| [key.to_string(), v21, v20]).collect()
}

#[test]
fn the_documentation_lists_every_rule_with_its_values() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/rules.md");
    let text = std::fs::read_to_string(file).unwrap();
    let (_, table) =
        text.split_once("| rule | `v2.1` | `v2.0` | meaning |\n|---|---|---|---|\n").unwrap();
    let cell = |text: &str| text.trim().trim_matches('`').to_string();
    let listed: Vec<_> = table
        .lines()
        .map(|line| {
            let cells: Vec<_> = line.split('|').map(cell).collect();
            assert!(!cells[4].is_empty(), "{line}");
            [cells[1].clone(), cells[2].clone(), cells[3].clone()]
        })
        .collect();
    assert_eq!(listed, rules());
}

#[test]
fn the_command_lists_every_rule_with_its_values() {
    let run = Place::new().run("rules");
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    let mut lines = run.stdout.lines();
    let words = |line: &str| {
        line.split("  ")
            .map(str::trim)
            .filter(|word| !word.is_empty())
            .map(str::to_string)
            .collect::<Vec<_>>()
    };
    assert_eq!(words(lines.next().unwrap()), ["rule", "v2.1", "v2.0"]);
    assert_eq!(lines.map(words).collect::<Vec<_>>(), rules());
}

#[test]
fn programs_can_read_them_too() {
    let run = Place::new().run("rules --json");
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    let listed: Value = serde_json::from_str(&run.stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_string();
    let listed: Vec<_> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|rule| {
            [text(&rule["rule"]), text(&rule["values"]["v2.1"]), text(&rule["values"]["v2.0"])]
        })
        .collect();
    assert_eq!(listed, rules());
}
