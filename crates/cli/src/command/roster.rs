//! The agents of a league for people: how each stands, what went wrong with it, how fast it is.

use serde_json::Value;

/// A line for each agent of the document.
pub(super) fn table(document: &Value) -> String {
    let agents = document["agents"].as_array().cloned().unwrap_or_default();
    let name = |agent: &Value| agent["display_name"].as_str().unwrap_or_default().to_string();
    let width = agents.iter().map(|agent| name(agent).chars().count()).max().unwrap_or(0).max(4);
    let mut out = format!(
        "  id     {:width$}  state       timeouts  errors  invalid  answers   mean ms    p50 ms    p95 ms    \
         p99 ms  clock\n",
        "name"
    );
    for agent in &agents {
        let number = |key: &str| agent[key].as_u64().map_or_else(|| "-".into(), |n| n.to_string());
        let times = &agent["response_times"];
        let ms =
            |key: &str| times[key].as_f64().map_or_else(|| "-".into(), |ms| format!("{ms:.1}"));
        out.push_str(&format!(
            "  {:5}  {:width$}  {:10}  {:>8}  {:>6}  {:>7}  {:>7}  {:>8}  {:>8}  {:>8}  {:>8}  {}\n",
            agent["agent_id"].as_str().unwrap_or_default(),
            name(agent),
            agent["state"].as_str().unwrap_or_default(),
            number("timeouts"),
            number("connection_errors"),
            number("invalid_moves"),
            times["count"].as_u64().map_or_else(|| "-".into(), |n| n.to_string()),
            ms("mean_ms"),
            ms("p50_ms"),
            ms("p95_ms"),
            ms("p99_ms"),
            clock(agent),
        ));
    }
    let since = document["figures_since"].as_str().unwrap_or_default();
    out.push_str(&format!("\n  counted since {since}, when the manager started\n"));
    out
}

/// How far a clock is off, if it is.
fn clock(agent: &Value) -> String {
    match (agent["clock_is_off"].as_bool(), agent["clock_skew_ms"].as_f64()) {
        (Some(true), Some(ms)) => format!("off by {:+.1} s", ms / 1000.0),
        (_, Some(_)) => "right".into(),
        (_, None) => "-".into(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_agent_has_its_line() {
        let document = json!({"figures_since": "2030-01-01T00:00:00.000Z", "agents": [
            {"agent_id": "P01", "display_name": "Ada", "state": "ACTIVE", "timeouts": 1,
             "connection_errors": 0, "invalid_moves": 2, "clock_is_off": true,
             "clock_skew_ms": -61_500,
             "response_times": {"count": 4, "mean_ms": 1.25, "p50_ms": 1.0, "p95_ms": 2.0,
                                "p99_ms": 2.0}},
            {"agent_id": "REF01", "display_name": "Referee", "state": "ACTIVE",
             "clock_is_off": false, "clock_skew_ms": 3},
        ]});
        let shown = table(&document);
        let lines: Vec<Vec<&str>> = shown.lines().map(|l| l.split_whitespace().collect()).collect();
        let ada = "P01 Ada ACTIVE 1 0 2 4 1.2 1.0 2.0 2.0 off by -61.5 s";
        assert_eq!(lines[1].join(" "), ada, "{shown}");
        assert_eq!(lines[2].join(" "), "REF01 Referee ACTIVE - - - - - - - - right", "{shown}");
        assert!(
            shown.ends_with("counted since 2030-01-01T00:00:00.000Z, when the manager started\n")
        );
    }
}
