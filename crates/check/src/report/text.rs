//! The report for a person at a terminal.

use crate::case::Case;
use crate::run::Checked;
use crate::session::Report;
use crate::transcript::Entry;
use crate::verdict::{Finding, Verdict};

/// The whole report: what failed with its transcript, what was skipped and why, the summary.
pub fn whole(report: &Report) -> String {
    let mut out = String::new();
    for checked in &report.checked {
        match &checked.verdict {
            Verdict::Fail(finding) => out.push_str(&failed(checked, finding)),
            Verdict::CheckerError(why) => {
                out.push_str(&format!("\nNOT JUDGED  {}\n", headline(checked.case)));
                out.push_str(&format!(
                    "  The checker failed, which says nothing of the agent: {why}\n"
                ));
                out.push_str(&transcript(&checked.transcript));
            }
            Verdict::Pass | Verdict::Skipped(_) => {}
        }
    }
    out.push_str(&skipped(report));
    let seconds = report.wall.as_secs_f64();
    let (role, address) = (report.role.name(), &report.address);
    out.push_str(&format!("\n{role} at {address} ({seconds:.1} s)\n{}\n", report.summary()));
    out
}

fn headline(case: &Case) -> String {
    format!("{} ({}): {}", case.id, case.level.name(), case.title)
}

fn failed(checked: &Checked, finding: &Finding) -> String {
    let case = checked.case;
    let mut out = format!("\nFAIL  {}\n", headline(case));
    out.push_str(&format!("  {}\n", finding.sentence));
    if !finding.change.is_empty() {
        out.push_str(&format!("  To pass: {}\n", finding.change));
    }
    if let Some(json) = &finding.json {
        out.push_str(&format!("    {json}\n"));
    }
    out.push_str(&format!("  Why: {}\n", case.why));
    out.push_str(&format!("  See: {}\n", case.section));
    out.push_str(&transcript(&checked.transcript));
    out
}

fn transcript(entries: &[Entry]) -> String {
    let mut out = String::new();
    if entries.is_empty() {
        return out;
    }
    out.push_str("  What went over the line:\n");
    for entry in entries {
        let (at, sign) = (entry.at.as_secs_f64(), entry.way.sign());
        for (number, line) in entry.text.lines().filter(|line| !line.is_empty()).enumerate() {
            match number {
                0 => out.push_str(&format!("  {at:7.3} {sign} {line}\n")),
                _ => out.push_str(&format!("            {line}\n")),
            }
        }
    }
    out
}

/// Skipped cases, together where the reason is the same.
fn skipped(report: &Report) -> String {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for checked in &report.checked {
        let Verdict::Skipped(reason) = &checked.verdict else { continue };
        match reasons.iter_mut().find(|(known, _)| known == reason) {
            Some((_, ids)) => ids.push(checked.case.id),
            None => reasons.push((reason, vec![checked.case.id])),
        }
    }
    let lines = reasons.iter().map(|(reason, ids)| {
        format!("\nskipped {}: {reason}\n  {}\n", ids.len(), ids.join("\n  "))
    });
    lines.collect()
}

/// The list of cases.
pub fn list(cases: &[&'static Case]) -> String {
    let width = cases.iter().map(|case| case.id.len()).max().unwrap_or_default();
    let lines = cases
        .iter()
        .map(|case| format!("{:width$}  {:6}  {}\n", case.id, case.level.name(), case.title));
    lines.collect()
}
