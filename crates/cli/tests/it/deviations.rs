//! Players that do one thing otherwise than the documents say: a lenient league understands each of
//! them and counts it, a strict one tells each what to change.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use league_wire::Dialect;
use league_wire::lenient::Slip;
use serde_json::json;

use crate::dialects::{Language, PATIENT, Stranger, can_run, standings_at_the_end};
use crate::program::Place;
use crate::service::{Office, get, request, until};
use crate::services::{REFEREE, check_record, found};

const LANGUAGES: [Language; 2] = [Language::Python, Language::JavaScript];

/// Every switch of the test players, and what it is counted as.
fn switches(language: Language) -> BTreeMap<String, String> {
    let agents = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/agents");
    let mut command = Command::new(language.interpreter());
    command.arg(agents.join(language.player())).args(["--deviate", "list"]);
    let output = command.env("PYTHONDONTWRITEBYTECODE", "1").output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Switches that show in a player's registration, and not in its answers.
const AT_THE_DOOR: [&str; 7] = [
    "bare_registration",
    "two_time_zones",
    "misplaced",
    "renamed_endpoint",
    "type_name",
    "method_name",
    "plain_register",
];

fn deviant(place: &Place, office: &Office, language: Language, switch: &str) -> Stranger {
    let program = (language.interpreter(), language.player());
    let more = ["--deviate", switch, "--name", switch];
    Stranger::seat(place, office, Dialect::Flat, program, &more)
}

#[test]
fn there_is_a_switch_for_every_deviation() {
    if !can_run(&LANGUAGES) {
        return;
    }
    let [python, javascript] = LANGUAGES.map(switches);
    assert_eq!(python, javascript);
    for slip in Slip::ALL {
        assert!(python.values().any(|counted| counted == slip.name()), "{slip}");
    }
    assert!(python.values().all(|counted| Slip::find(counted).is_some()), "{python:?}");
}

// req: WIRE-8
#[test]
fn a_lenient_league_understands_every_deviation_and_counts_it() {
    if !can_run(&LANGUAGES) {
        return;
    }
    let place = Place::new();
    let office = Office::open_with(&place, "--listen 127.0.0.1:0 --lenient");
    let switches = switches(Language::Python);
    let count = switches.len();
    found(&office, &place, &format!("--league spring --start players={count} {PATIENT}"));
    let referees = [0, 1].map(|_| office.seat(&place, REFEREE));
    // Each language has every other deviation, and the other half in a long run.
    let is_long = usize::from(std::env::var_os("LEAGUE_LONG").is_some());
    let players: Vec<(&String, Stranger)> = switches
        .keys()
        .enumerate()
        .map(|(n, switch)| (switch, deviant(&place, &office, LANGUAGES[(n + is_long) % 2], switch)))
        .collect();
    let standings = standings_at_the_end(&place, &office);
    let agents = office.look("/api/v1/leagues/spring/agents").unwrap();
    for (switch, counted) in &switches {
        let agents = agents["agents"].as_array().unwrap();
        let agent = agents.iter().find(|agent| agent["display_name"] == **switch).unwrap();
        let deviations = agent["deviations"].as_array().unwrap_or_else(|| panic!("{agent}"));
        let seen = deviations.iter().find(|seen| seen["deviation"] == **counted);
        let seen = seen.unwrap_or_else(|| panic!("{switch}: {deviations:?}"));
        let at_least = if AT_THE_DOOR.contains(&&**switch) { 1 } else { count as u64 - 1 };
        assert!(seen["count"].as_u64() >= Some(at_least), "{switch}: {seen}");
        assert!(seen["fix"].as_str().is_some_and(|fix| !fix.is_empty()), "{switch}: {seen}");
    }
    let shown = office.run(&place, "status spring").stdout;
    assert!(shown.contains("rename `result.move` to `result.parity_choice`"), "{shown}");
    let metrics = request(&office.address, &get("GET", "/metrics")).unwrap().1;
    let counter = "league_deviations_total{deviation=\"plain_register\"} 1";
    assert!(metrics.lines().any(|line| line == counter), "{metrics}");
    for (_, player) in players {
        player.let_go(&place);
    }
    for referee in referees {
        assert_eq!(referee.end(), Some(0));
    }
    check_record(&place, office, &standings, (count * (count - 1) / 2) as u64);
    let told = place.run("trace --match R1M1").stdout;
    assert!(told.contains("understood leniently; "), "{told}");
}

/// What a strict league says to whoever deviates at the door.
fn at_the_door(switch: &str) -> &'static str {
    match switch {
        "bare_registration" => "add `params.protocol`, `params.message_type`",
        "two_time_zones" => "either `Z` or `+00:00`, not both",
        "misplaced" => "from `params` to `params.player_meta`",
        "renamed_endpoint" => "params.player_meta.contact_endpoint",
        "type_name" => "change `params.message_type` to \"LEAGUE_REGISTER_REQUEST\"",
        "method_name" => "to \"register_player\"",
        _ => "post the JSON-RPC request `register_player` to `/mcp`",
    }
}

/// What a strict league says to whoever deviates in its answers.
fn in_a_match(switch: &str) -> &'static str {
    match switch {
        "error_beside_result" => "leave `error` out of a response that has a `result`",
        "reply_as_request" => "answer with `{\"jsonrpc\": \"2.0\", \"result\": {…}",
        "reply_without_frame" => "put the message into `result` of a JSON-RPC response",
        "reply_id" => "repeat the request's",
        "bare_reply" => "add `result.protocol`, `result.message_type`",
        "nested_response" => "from `result.response` to `result`",
        "nested_data" => "from `result.data` to `result`",
        "nested_payload" => "from `result.payload` to `result`",
        "renamed_move" => "rename `result.move` to `result.parity_choice`",
        "renamed_letters" => "rename `result.matchId` to `result.match_id`",
        "own_method" => "take the call under the method \"handle_game_invitation\"",
        "foreign_token" => "your token as auth_token of the answer, or none",
        "http_status" => "answer with HTTP status 200",
        "initialize_first" => "take league calls without `initialize`",
        "redirect" => "take calls at `/mcp` itself",
        other => panic!("what does {other} do?"),
    }
}

#[test]
fn a_strict_league_tells_everybody_what_to_change() {
    if !can_run(&LANGUAGES) {
        return;
    }
    let place = Place::new();
    let office = Office::open(&place);
    let switches = switches(Language::Python);
    let (door, inside): (Vec<_>, Vec<_>) =
        switches.keys().partition(|switch| AT_THE_DOOR.contains(&switch.as_str()));
    // Who is invited as it should be needs somebody who comes, to be asked for a choice.
    let (asked, invited): (Vec<_>, Vec<_>) =
        inside.into_iter().partition(|switch| switch.as_str() == "renamed_move");
    let quick = "--set announcement_lead=0s --set invitation_timeout=2s";
    found(&office, &place, &format!("--league spring --start players={} {quick}", invited.len()));
    for (n, switch) in door.into_iter().enumerate() {
        let said = turned_away(&place, &office, LANGUAGES[n % 2], switch);
        assert!(said.contains(at_the_door(switch)), "{switch}: {said}");
    }
    let referee = office.seat(&place, REFEREE);
    let players = invited.into_iter().enumerate();
    let players: Vec<_> = players
        .map(|(n, switch)| (switch, deviant(&place, &office, LANGUAGES[n % 2], switch)))
        .collect();
    for (switch, player) in players {
        is_told(&player, switch);
        player.let_go(&place);
    }
    drop(referee);
    found(&office, &place, &format!("--league summer --start players=2 {PATIENT}"));
    let others = [REFEREE.replace("spring", "summer"), "player --league summer".into()];
    let others = others.map(|line| office.seat(&place, &line));
    for switch in asked {
        is_told(&deviant(&place, &office, Language::Python, switch), switch);
    }
    drop(others);
    assert!(office.look("/api/v1/leagues/spring/agents").is_some_and(|agents| {
        agents["agents"].as_array().unwrap().iter().all(|agent| agent["deviations"] == json!(null))
    }));
}

fn is_told(player: &Stranger, switch: &str) {
    until(&format!("{switch} is told what to change"), || {
        let (_, body) = request(&player.address, &get("GET", "/complaints"))?;
        let told: Vec<String> = serde_json::from_str(&body).unwrap();
        told.iter().any(|told| told.contains(in_a_match(switch))).then_some(())
    });
}

/// What somebody says who was not let in.
fn turned_away(place: &Place, office: &Office, language: Language, switch: &str) -> String {
    let agents = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/agents");
    let mut command = Command::new(language.interpreter());
    command.arg(agents.join(language.player())).current_dir(place.path());
    command.args(["--manager", &format!("http://{}/mcp", office.address), "--dialect", "flat"]);
    command.args(["--deviate", switch]).env("PYTHONDONTWRITEBYTECODE", "1");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{switch}");
    String::from_utf8(output.stderr).unwrap().replace('\\', "")
}
