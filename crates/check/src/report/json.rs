//! The report for a program.

use serde_json::{Value, json};

use crate::case::{Case, Level};
use crate::report::Tally;
use crate::run::Checked;
use crate::session::Report;
use crate::verdict::Verdict;

/// The whole report as one document.
pub fn whole(report: &Report) -> Value {
    json!({
        "role": report.role.name(),
        "address": report.address,
        "dialect": report.dialect.name(),
        "summary": report.summary(),
        "must": tally(report.tally(Level::Must)),
        "should": tally(report.tally(Level::Should)),
        "wall_s": report.wall.as_secs_f64(),
        "cases": report.checked.iter().map(checked).collect::<Vec<_>>(),
    })
}

/// The list of cases as one document.
pub fn list(cases: &[&'static Case]) -> Value {
    Value::Array(cases.iter().map(|case| about(case)).collect())
}

fn tally(Tally { passed, failed, skipped, errors }: Tally) -> Value {
    json!({ "passed": passed, "failed": failed, "skipped": skipped, "checker_errors": errors })
}

fn about(case: &Case) -> Value {
    let dialects: Vec<&str> = case.dialects.iter().map(|dialect| dialect.name()).collect();
    json!({
        "id": case.id,
        "title": case.title,
        "level": case.level.name(),
        "requirements": case.requirements,
        "section": case.section,
        "dialects": dialects,
        "sent": case.sent,
        "wanted": case.wanted,
        "why": case.why,
    })
}

fn checked(checked: &Checked) -> Value {
    let (reason, change, json) = match &checked.verdict {
        Verdict::Pass => (None, None, None),
        Verdict::Fail(finding) => {
            (Some(&finding.sentence), Some(&finding.change), finding.json.as_ref())
        }
        Verdict::Skipped(reason) | Verdict::CheckerError(reason) => (Some(reason), None, None),
    };
    let transcript = checked.transcript.iter().map(|entry| {
        json!({
            "at_ms": entry.at.as_secs_f64() * 1_000.0,
            "way": entry.way.word(),
            "text": entry.text,
        })
    });
    let mut document = about(checked.case);
    let more = json!({
        "verdict": checked.verdict.word(),
        "reason": reason,
        "change": change,
        "json": json,
        "took_ms": checked.took.as_secs_f64() * 1_000.0,
        "transcript": transcript.collect::<Vec<_>>(),
    });
    if let (Value::Object(all), Value::Object(more)) = (&mut document, more) {
        all.extend(more);
    }
    document
}
