//! The agents of a league for people: who each is, how it stands, what went wrong with it, how fast
//! it is.

use std::time::Duration;

use league_agent::ambient;
use league_core::time::Timestamp;
use league_wire::iso;
use serde_json::Value;

/// A line for each agent of the document, and who of the roster has not joined.
pub(super) fn table(document: &Value) -> String {
    let agents = document["agents"].as_array().cloned().unwrap_or_default();
    let now = ambient::wall();
    let names = names("name", &agents);
    let mut out = format!(
        "  id     {}  state       timeouts  errors  unusable  invalid  answers   mean ms    p50 ms    \
         p95 ms    p99 ms  {:16}  {}\n",
        names[0], "clock", "heard of"
    );
    for (agent, name) in agents.iter().zip(&names[1..]) {
        let number = |key: &str| agent[key].as_u64().map_or_else(|| "-".into(), |n| n.to_string());
        let times = &agent["response_times"];
        let ms =
            |key: &str| times[key].as_f64().map_or_else(|| "-".into(), |ms| format!("{ms:.1}"));
        let remarks = ["remark", "manner"].map(|key| agent[key].as_str());
        let remark: String =
            remarks.into_iter().flatten().map(|remark| format!("; {remark}")).collect();
        out.push_str(&format!(
            "  {:5}  {}  {:10}  {:>8}  {:>6}  {:>8}  {:>7}  {:>7}  {:>8}  {:>8}  {:>8}  {:>8}  {:16}  {}{}\n",
            agent["agent_id"].as_str().unwrap_or_default(),
            name,
            agent["state"].as_str().unwrap_or_default(),
            number("timeouts"),
            number("connection_errors"),
            number("unusable_answers"),
            number("invalid_moves"),
            times["count"].as_u64().map_or_else(|| "-".into(), |n| n.to_string()),
            ms("mean_ms"),
            ms("p50_ms"),
            ms("p95_ms"),
            ms("p99_ms"),
            clock(agent),
            heard(agent, now),
            remark,
        ));
    }
    out.push_str(&deviations(&agents));
    out.push_str(&missing(document));
    let since = document["figures_since"].as_str().unwrap_or_default();
    out.push_str(&format!("\n  counted since {since}, when the manager started\n"));
    out
}

/// What was not as it should be in what agents sent, and what their authors can do about it.
fn deviations(agents: &[Value]) -> String {
    let mut out = String::new();
    for agent in agents {
        let id = agent["agent_id"].as_str().unwrap_or_default();
        for deviation in agent["deviations"].as_array().into_iter().flatten() {
            let text = |key: &str| deviation[key].as_str().unwrap_or_default();
            let (name, count) = (text("deviation"), deviation["count"].as_u64().unwrap_or(0));
            out.push_str(&format!("  {id:5}  {name} ({count}): {}\n", text("fix")));
        }
    }
    if out.is_empty() {
        out
    } else {
        format!("\n  understood leniently, and how to mend it\n{out}")
    }
}

/// The head and the cells that say who each of `rows` is: its name, and the person behind it where
/// that is known.
pub(super) fn names(head: &str, rows: &[Value]) -> Vec<String> {
    let text = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_string();
    let column = |key: &str, head: &str| -> Vec<String> {
        let cells = rows.iter().map(|row| text(row, key));
        std::iter::once(head.to_string()).chain(cells).collect()
    };
    let mut columns = vec![column("display_name", head)];
    if rows.iter().any(|row| row["student"].is_string()) {
        columns.push(column("student", "student"));
    }
    if rows.iter().any(|row| row["group"].is_string()) {
        columns.push(column("group", "group"));
    }
    let width = |column: &[String]| column.iter().map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = columns.iter().map(|column| width(column).unwrap_or(0)).collect();
    let line = |at: usize| {
        let cells = columns.iter().zip(&widths);
        let cells: Vec<_> = cells.map(|(column, width)| format!("{:width$}", column[at])).collect();
        cells.join("  ")
    };
    (0..=rows.len()).map(line).collect()
}

/// Who is on the roster and has not joined.
fn missing(document: &Value) -> String {
    let Some(missing) = document["not_joined"].as_array() else { return String::new() };
    if missing.is_empty() {
        return "\n  everybody on the roster has joined\n".into();
    }
    let person = |person: &Value| {
        let student = person["student"].as_str().unwrap_or_default();
        person["group"]
            .as_str()
            .map_or_else(|| student.into(), |group| format!("{student} ({group})"))
    };
    let people: Vec<String> = missing.iter().map(person).collect();
    format!("\n  not joined ({}): {}\n", people.len(), people.join(", "))
}

/// How far a clock is off, if it is.
fn clock(agent: &Value) -> String {
    match (agent["clock_is_off"].as_bool(), agent["clock_skew_ms"].as_f64()) {
        (Some(true), Some(ms)) => format!("{} {}", off_by(ms / 1000.0), side(ms)),
        (_, Some(_)) => "right".into(),
        (_, None) => "-".into(),
    }
}

/// How long ago an agent was heard of, or for how long it has not been reached.
fn heard(agent: &Value, now: Timestamp) -> String {
    let ago = |key: &str| {
        let at = agent[key].as_str().and_then(|text| iso::parse(text).ok())?;
        Some(span(now.since(at)))
    };
    if agent["pull"] == true {
        let polled = ago("last_poll");
        return polled.map_or_else(|| "NEVER POLLED".into(), |ago| format!("polled {ago} ago"));
    }
    match (ago("not_reached_since"), ago("last_seen")) {
        (Some(lost), _) => format!("NOT REACHED for {lost}"),
        (None, Some(seen)) => format!("{seen} ago"),
        (None, None) => "-".into(),
    }
}

fn span(span: Duration) -> String {
    match span.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7200 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3600),
    }
}

/// A difference of clocks as people say it: nobody counts a year in seconds.
fn off_by(seconds: f64) -> String {
    let (minute, hour, day) = (60.0, 3_600.0, 86_400.0);
    match seconds.abs() {
        seconds if seconds < 2.0 * minute => format!("{seconds:.1} s"),
        seconds if seconds < 2.0 * hour => format!("{:.0} min", seconds / minute),
        seconds if seconds < 2.0 * day => format!("{:.0} h", seconds / hour),
        seconds => format!("{:.0} days", seconds / day),
    }
}

const fn side(ms: f64) -> &'static str {
    if ms.is_sign_negative() { "slow" } else { "fast" }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn lines(shown: &str) -> Vec<String> {
        shown.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn every_agent_has_its_line() {
        let document = json!({"figures_since": "2030-01-01T00:00:00.000Z", "agents": [
            {"agent_id": "P01", "display_name": "Ada", "state": "ACTIVE", "timeouts": 1,
             "connection_errors": 0, "unusable_answers": 3, "invalid_moves": 2, "clock_is_off": true,
             "clock_skew_ms": -61_500,
             "response_times": {"count": 4, "mean_ms": 1.25, "p50_ms": 1.0, "p95_ms": 2.0,
                                "p99_ms": 2.0}},
            {"agent_id": "REF01", "display_name": "Referee", "state": "ACTIVE",
             "clock_is_off": false, "clock_skew_ms": 3, "remark": "no matches"},
        ]});
        let shown = table(&document);
        let lines = lines(&shown);
        let ada = "P01 Ada ACTIVE 1 0 3 2 4 1.2 1.0 2.0 2.0 61.5 s slow -";
        assert_eq!(lines[1], ada, "{shown}");
        let referee = "REF01 Referee ACTIVE - - - - - - - - - right -; no matches";
        assert_eq!(lines[2], referee, "{shown}");
        assert!(
            shown.ends_with("counted since 2030-01-01T00:00:00.000Z, when the manager started\n")
        );
    }

    #[test]
    fn deviations_are_told_with_what_to_change() {
        let fix = "rename `result.move` to `result.parity_choice`";
        let seen = json!([{"deviation": "renamed", "count": 3, "at": "result.move", "fix": fix}]);
        let agents = [json!({"agent_id": "P01", "deviations": seen}), json!({"agent_id": "P02"})];
        let shown = deviations(&agents);
        assert!(shown.ends_with(&format!("  P01    renamed (3): {fix}\n")), "{shown}");
        assert_eq!(deviations(&agents[1..]), "");
    }

    #[test]
    fn people_are_named_where_they_are_known() {
        let rows = [
            json!({"display_name": "A", "student": "Ada Lovelace", "group": "red"}),
            json!({"display_name": "Turing", "student": "Alan"}),
        ];
        let names = names("name", &rows);
        assert_eq!(
            names,
            [
                "name    student       group",
                "A       Ada Lovelace  red  ",
                "Turing  Alan               "
            ]
        );
        let document =
            json!({"not_joined": [{"student": "Grace", "group": "red"}, {"student": "Kurt"}]});
        assert_eq!(missing(&document), "\n  not joined (2): Grace (red), Kurt\n");
        assert_eq!(missing(&json!({"not_joined": []})), "\n  everybody on the roster has joined\n");
        assert_eq!(missing(&json!({})), "");
    }

    #[test]
    fn the_dead_can_be_told_from_the_living() {
        let now = iso::parse("2030-01-01T01:00:00Z").unwrap();
        let heard = |agent: Value| heard(&agent, now);
        let seen = "2030-01-01T00:59:48Z";
        assert_eq!(heard(json!({"last_seen": seen, "not_reached_since": null})), "12 s ago");
        let lost = json!({"last_seen": seen, "not_reached_since": "2030-01-01T00:55:00Z"});
        assert_eq!(heard(lost), "NOT REACHED for 5 min");
        assert_eq!(heard(json!({})), "-");
        assert_eq!(heard(json!({"pull": true, "last_poll": seen})), "polled 12 s ago");
        assert_eq!(heard(json!({"pull": true, "last_poll": null})), "NEVER POLLED");
    }

    #[test]
    fn a_clock_is_told_in_the_unit_that_fits() {
        let clock = |ms: i64| clock(&json!({"clock_is_off": true, "clock_skew_ms": ms}));
        assert_eq!(clock(6_250), "6.2 s fast");
        assert_eq!(clock(-600_000), "10 min slow");
        assert_eq!(clock(7_200_000), "2 h fast");
        assert_eq!(clock(-57_821_323_400), "669 days slow");
    }
}
