//! The report for build servers, in JUnit's XML.

use crate::run::Checked;
use crate::session::Report;
use crate::transcript::Entry;
use crate::verdict::Verdict;

/// The whole report as one document.
pub fn whole(report: &Report) -> String {
    let count = |is: fn(&Verdict) -> bool| {
        report.checked.iter().filter(|checked| is(&checked.verdict)).count()
    };
    let (failures, skipped, errors) = (
        count(|verdict| matches!(verdict, Verdict::Fail(_))),
        count(|verdict| matches!(verdict, Verdict::Skipped(_))),
        count(|verdict| matches!(verdict, Verdict::CheckerError(_))),
    );
    let name = format!("league check {} ({})", report.role.name(), report.dialect);
    let (name, tests, time) = (escape(&name), report.checked.len(), report.wall.as_secs_f64());
    let cases: String = report.checked.iter().map(case).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" \
         errors=\"{errors}\" skipped=\"{skipped}\" time=\"{time:.3}\">\n{cases}</testsuite>\n"
    )
}

fn case(checked: &Checked) -> String {
    let case = checked.case;
    let (group, name) = case.id.rsplit_once('.').unwrap_or(("", case.id));
    let time = checked.took.as_secs_f64();
    let open = format!(
        "  <testcase classname=\"{}\" name=\"{}\" time=\"{time:.3}\">",
        escape(group),
        escape(name)
    );
    let inside = match &checked.verdict {
        Verdict::Pass => String::new(),
        Verdict::Skipped(reason) => format!("<skipped message=\"{}\"/>", escape(reason)),
        Verdict::CheckerError(reason) => format!("<error message=\"{}\"/>", escape(reason)),
        Verdict::Fail(finding) => {
            let json = finding.json.as_deref().unwrap_or_default();
            let text = format!(
                "{} ({}): {}\nTo pass: {}\n{json}\nWhy: {}\n\n{}",
                case.title,
                case.level.name(),
                finding.sentence,
                finding.change,
                case.why,
                transcript(&checked.transcript)
            );
            let message = escape(&finding.sentence);
            format!("<failure message=\"{message}\">{}</failure>", escape(&text))
        }
    };
    format!("{open}{inside}</testcase>\n")
}

fn transcript(entries: &[Entry]) -> String {
    let line = |entry: &Entry| {
        format!("{:.3} {} {}\n", entry.at.as_secs_f64(), entry.way.word(), entry.text)
    };
    entries.iter().map(line).collect()
}

/// `text` as it may stand in XML; control characters may not.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_read_as_xml() {
        assert_eq!(escape("a<b & \"c\">\r\u{1}"), "a&lt;b &amp; &quot;c&quot;&gt;\u{fffd}\u{fffd}");
    }
}
