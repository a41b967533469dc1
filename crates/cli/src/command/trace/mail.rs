//! What the manager sent and received, line by line, and where it belongs among other lines.

use league_core::time::Timestamp;
use league_server::record::{Exchanged, Way};
use league_wire::iso;

use super::story::{indent, pretty, printable, span};

/// Lines with the moment that they tell of, in microseconds, so that they can be sorted.
pub(super) type Dated = (i64, String);

/// Where times are counted from; without it they are told in full.
pub(super) type Beginning = Option<Timestamp>;

/// The lines of a letter: what was said, and what came back.
pub(super) fn lines(letter: &Exchanged, from: Beginning, bytes: bool) -> Vec<Dated> {
    let (asked, answered) = match letter.way {
        Way::Came => ("⇐", "⇒"),
        Way::Went | Way::Told => ("→", "←"),
    };
    let at = micros(letter.at);
    let end = at.saturating_add_unsigned(letter.took_us);
    let title = format!("{}, {} bytes", printable(&letter.name), letter.bytes);
    let mut first = line(letter, (at, from), &format!("{asked}  {title}"));
    if let Some(body) = letter.body.as_deref().filter(|_| bytes) {
        indent(&mut first, &laid_out(body));
    }
    let took = span(letter.took_us);
    let wrong = letter.wrong.as_deref().map(printable);
    let wrong = wrong.map_or_else(String::new, |wrong| format!(": {wrong}"));
    let second = match letter.status {
        Some(status) => {
            let name = letter.answer_name.as_deref().map_or_else(|| "answer".into(), printable);
            let length = letter.answer_bytes;
            format!("{answered}  {name}, HTTP {status}, {length} bytes, after {took}{wrong}")
        }
        None => format!("✗  no answer, after {took}{wrong}"),
    };
    let mut second = line(letter, (end, from), &second);
    if let Some(body) = letter.answer.as_deref().filter(|_| bytes) {
        indent(&mut second, &laid_out(body));
    }
    vec![(at, first), (end, second)]
}

fn line(letter: &Exchanged, (at, from): (i64, Beginning), text: &str) -> String {
    let peer = printable(&letter.peer);
    match from {
        Some(from) => {
            format!("  {:>13} s  {peer:7}  manager {text}\n", since(at - micros(from)))
        }
        None => {
            let at = iso::format(Timestamp::from_millis(at.div_euclid(1_000)));
            format!("  {at}  {peer:7}  {text}\n")
        }
    }
}

/// A time before or after the beginning, in seconds.
pub(super) fn since(micros: i64) -> String {
    let sign = if micros < 0 { '-' } else { '+' };
    let micros = micros.unsigned_abs();
    format!("{sign}{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

/// A moment in microseconds.
pub(super) fn micros(at: Timestamp) -> i64 {
    at.as_millis().saturating_mul(1_000)
}

fn laid_out(body: &str) -> String {
    let is_json = serde_json::from_str::<serde::de::IgnoredAny>(body).is_ok();
    if is_json { pretty(body) } else { body.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_before_the_beginning_are_told_as_such() {
        assert_eq!([since(-1_500), since(2_000_001)], ["-0.001500", "+2.000001"]);
    }
}
