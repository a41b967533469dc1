//! `league check`: our own agents pass everything, in every dialect, quickly.

use serde_json::Value;

use crate::program::{Place, Run};

const DIALECTS: [&str; 7] = ["flat", "typed", "v21", "enveloped", "payload", "tool", "wrapped"];

/// Checks an agent of ours that is started with `line`.
fn check(place: &Place, role: &str, line: &str, more: &[&str]) -> Run {
    let program = env!("CARGO_BIN_EXE_league");
    let start = format!("exec '{program}' {line}");
    let mut command = place.command(&format!("check {role} --start"));
    command.arg(start).args(more);
    Run::of(command.output().expect("the program can be run"))
}

const PLAYER: &str =
    "player --manager {manager} --listen 127.0.0.1:{port} --data {data} --dialect {dialect}";

// req: WIRE-8, MATCH-2, AUTH-6
#[test]
fn our_player_passes_everything_in_every_dialect() {
    let place = Place::new();
    for dialect in DIALECTS {
        let more = ["--dialect", dialect, "--level", "should", "--json"];
        let run = check(&place, "player", PLAYER, &more);
        assert_eq!(run.code, Some(0), "{dialect}: {}\n{}", run.stderr, run.stdout);
        let report: Value = serde_json::from_str(&run.stdout).expect("one JSON document");
        assert_eq!(report["dialect"], dialect);
        assert!(report["must"]["passed"].as_u64() >= Some(40), "{dialect}: {}", report["summary"]);
        assert!(report["wall_s"].as_f64() < Some(10.0), "{dialect}: {}", report["wall_s"]);
        let summary = report["summary"].as_str().unwrap();
        assert!(summary.starts_with(&format!("speaks {dialect}: ")), "{summary}");
    }
}

const REFEREE: &str = "referee --manager {manager} --listen 127.0.0.1:{port} --data {data}";

// req: MATCH-4, MATCH-6, RESULT-1
#[test]
fn our_referee_passes_everything_in_every_dialect() {
    let place = Place::new();
    std::thread::scope(|scope| {
        for dialect in DIALECTS {
            let place = &place;
            scope.spawn(move || {
                let more = ["--dialect", dialect, "--level", "should", "--json"];
                let run = check(place, "referee", REFEREE, &more);
                assert_eq!(run.code, Some(0), "{dialect}: {}\n{}", run.stderr, run.stdout);
                let report: Value = serde_json::from_str(&run.stdout).expect("one JSON document");
                let passed = report["must"]["passed"].as_u64();
                assert!(passed >= Some(30), "{dialect}: {}", report["summary"]);
            });
        }
    });
}

#[test]
fn what_fails_comes_with_its_reason_and_what_would_pass() {
    let place = Place::new();
    let line = format!("{PLAYER} --strategy refuser");
    let only = ["--only", "player.invite.accepts", "--junit", "report.xml"];
    let run = check(&place, "player", &line, &only);
    assert_eq!(run.code, Some(1), "{}\n{}", run.stderr, run.stdout);
    for part in [
        "FAIL  player.invite.accepts (must)",
        "it refused the invitation",
        "To pass: answer with",
        "\"accept\":true",
        "What went over the line:",
        "POST /mcp HTTP/1.1",
        "does not quite speak flat: 0 of 1 must",
    ] {
        assert!(run.stdout.contains(part), "{part} is missing in\n{}", run.stdout);
    }
    assert!(!run.stdout.contains("tok_") && !run.stdout.contains("prf_"), "{}", run.stdout);
    let junit = std::fs::read_to_string(place.path().join("report.xml")).unwrap();
    assert!(junit.contains("<testcase classname=\"player.invite\" name=\"accepts\""), "{junit}");
    assert!(junit.contains("failures=\"1\""), "{junit}");
}

#[test]
fn the_list_is_there_for_people_and_programs() {
    let place = Place::new();
    let run = place.run("check player --list --only player.invite");
    assert_eq!(run.code, Some(0));
    assert!(run.stdout.starts_with("player.invite.accepts "), "{}", run.stdout);
    let run = place.run("check player --list --json");
    let list: Value = serde_json::from_str(&run.stdout).expect("one JSON document");
    assert!(list.as_array().is_some_and(|cases| cases.len() > 40));
}
