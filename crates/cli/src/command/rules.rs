//! `league rules`: every rule with its value in each rule set.

use anyhow::Context;
use league_core::policy::{Policy, RuleSet};
use serde_json::{Map, Value, json};

use crate::args::RulesArgs;
use crate::output;
use crate::report::Failure;

pub(crate) fn run(args: &RulesArgs) -> Result<(), Failure> {
    let text = if args.json { format!("{}\n", for_programs()) } else { for_people() };
    output::print(&text).context("cannot write to stdout")?;
    Ok(())
}

/// The rules of every rule set, in the order of [`RuleSet::ALL`].
fn all() -> Vec<(&'static str, Vec<String>)> {
    let none: [(&str, &str); 0] = [];
    let sets = RuleSet::ALL.map(|set| {
        Policy::build(set, none).expect("a published rule set does not contradict itself").written()
    });
    let values = |index: usize| sets.iter().map(|set| set[index].1.clone()).collect();
    Policy::KEYS.iter().enumerate().map(|(index, key)| (*key, values(index))).collect()
}

fn for_people() -> String {
    let mut lines = vec![("rule", RuleSet::ALL.map(|set| set.name().to_string()).to_vec())];
    lines.extend(all());
    let key_width = lines.iter().map(|(key, _)| key.len()).max().unwrap_or(0);
    let width = lines.iter().flat_map(|(_, values)| values).map(String::len).max().unwrap_or(0);
    let line = |(key, values): &(&str, Vec<String>)| {
        let cells: String = values.iter().map(|value| format!("  {value:width$}")).collect();
        format!("{}\n", format!("{key:key_width$}{cells}").trim_end())
    };
    lines.iter().map(line).collect()
}

fn for_programs() -> Value {
    let rule = |(key, values): (&str, Vec<String>)| {
        let sets = RuleSet::ALL.iter().map(|set| set.name().to_string());
        let values: Map<String, Value> = sets.zip(values.into_iter().map(Value::from)).collect();
        json!({ "rule": key, "values": values })
    };
    all().into_iter().map(rule).collect()
}
