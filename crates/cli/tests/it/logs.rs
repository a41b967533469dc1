//! What the services say of their work: as JSON, at the right level, and never a secret.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::process::Stdio;

use league_core::draw::Draw;
use league_core::id::{AgentId, MatchId};
use league_core::proof::{Keys, Secret};
use serde_json::{Value, json};

use crate::program::Place;
use crate::service::{Office, Service, post, request, until};
use crate::services::recount;

const WRITTEN: &str = "\
log_level = \"debug\"

[league]
id = \"spring\"
start = { players = 4 }

[league.set]
announcement_lead = \"0s\"
choice_timeout = \"600ms\"
choice_backoff = \"fixed 50ms\"
invitation_timeout = \"2s\"
";

const LEVELS: [&str; 5] = ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"];

/// Every line of one process, in order.
struct Log {
    text: String,
    lines: Vec<Value>,
}

impl Log {
    fn read(place: &Place, component: &str) -> Self {
        let text = std::fs::read_to_string(place.path().join("stderr.txt")).unwrap();
        let read = |line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
        let lines: Vec<Value> = text.lines().map(read).collect();
        for line in &lines {
            assert_eq!(line["component"], component, "{line}");
            assert!(LEVELS.contains(&line["level"].as_str().unwrap()), "{line}");
            let time = line["time"].as_str().unwrap();
            assert!(time.len() == 24 && time.ends_with('Z'), "{time}");
            assert!(line["message"].is_string(), "{line}");
        }
        Self { text, lines }
    }

    /// The lines of a level whose text begins like this.
    fn said<'a>(&'a self, level: &str, message: &str) -> Vec<&'a Value> {
        let said = |line: &&Value| {
            line["level"] == level && line["message"].as_str().unwrap().starts_with(message)
        };
        self.lines.iter().filter(said).collect()
    }
}

fn has(lines: &[&Value], fields: &[&str]) {
    assert!(!lines.is_empty(), "there is no such line");
    for line in lines {
        for field in fields {
            assert!(line[field].is_string(), "no {field} in {line}");
        }
    }
}

/// A league with a player that says nothing, and the logs of its manager, referees and players.
fn logs() -> (Place, Log, Vec<Log>, Vec<Log>) {
    let place = Place::new();
    std::fs::write(place.path().join("league.toml"), WRITTEN).unwrap();
    let office = Office::open(&place);
    let key = place.data().join("join-key-spring");
    let referee = format!("referee --log-level debug --join-key {}", key.display());
    let line = |strategy: &str| format!("player --log-level debug --strategy {strategy}");
    let lines = [referee.clone(), referee, line("even"), line("odd"), line("pattern")];
    let lines = lines.into_iter().chain([line("silent")]);
    let agents: Vec<(Place, Service)> = lines
        .map(|line| {
            let own = Place::new();
            let service = office.seat(&own, &line);
            (own, service)
        })
        .collect();
    intrude(&office);
    office.standings_at_the_end("spring");
    let places: Vec<Place> = agents
        .into_iter()
        .map(|(own, service)| {
            assert_eq!(service.end(), Some(0));
            own
        })
        .collect();
    office.service.terminate();
    assert_eq!(office.service.end(), Some(0));
    let manager = Log::read(&place, "league_manager");
    let referees = places[..2].iter().map(|place| Log::read(place, "referee")).collect();
    let players = places[2..].iter().map(|place| Log::read(place, "player")).collect();
    (place, manager, referees, players)
}

/// Somebody without a token tries what it can.
fn intrude(office: &Office) {
    let send = |path: &str, token: Option<&str>, body: &str| {
        request(&office.address, &post(path, token, body)).unwrap().0
    };
    let admin = "/api/v1/admin/leagues/spring/pause";
    assert_eq!(send(admin, Some("tok_administrator_guess"), r#"{"reason": "x"}"#), 403);
    assert_eq!(send("/mcp", None, "tok_of_nobody"), 400);
    let forged = json!({"jsonrpc": "2.0", "id": 1, "method": "league_query", "params": {
        "protocol": "league.v2", "message_type": "LEAGUE_QUERY", "sender": "player:P01",
        "timestamp": "2030-01-01T00:00:00.000Z", "conversation_id": "forged",
        "auth_token": "tok_player_P01_0123", "league_id": "spring",
        "query_type": "GET_STANDINGS",
    }});
    assert_eq!(send("/mcp", None, &forged.to_string()), 200);
}

// req: OBS-1, OBS-8, AUTH-3
#[test]
fn lines_are_json_say_what_they_are_about_and_hold_no_secret() {
    let (place, manager, referees, players) = logs();
    check_manager(&manager);
    check_referees(&referees);
    for log in &players {
        has(&log.said("INFO", "registered"), &["agent_id", "league_id"]);
        assert_eq!(log.said("INFO", "a match begins").len(), 3);
        has(&log.said("INFO", "a match is over"), &["conversation_id", "agent_id", "match_id"]);
        let received = log.said("DEBUG", "received");
        has(&received, &["message_type", "conversation_id", "peer"]);
        // The first round may be announced before the registration's answer has come.
        let of_match = |line: &&Value| line["match_id"].is_string();
        let of_matches: Vec<_> = received.into_iter().filter(of_match).collect();
        has(&of_matches, &["agent_id", "league_id"]);
    }
    let secrets = secrets(&place);
    for log in [&manager].into_iter().chain(&referees).chain(&players) {
        for secret in &secrets {
            assert!(secret.len() >= 4 && !log.text.contains(secret.as_str()), "{secret}");
        }
        assert!(log.text.contains("[redacted]"), "payloads are shown");
        check_choices(log);
    }
}

fn check_manager(manager: &Log) {
    let about = ["message_type", "conversation_id", "agent_id"];
    let registered = manager.said("INFO", "registered");
    has(&registered, &about);
    assert_eq!(registered.len(), 6);
    let results = manager.said("INFO", "the match has its result");
    has(&results, &["message_type", "conversation_id", "agent_id", "match_id", "verdict"]);
    let matches: BTreeSet<&str> =
        results.iter().map(|it| it["match_id"].as_str().unwrap()).collect();
    assert_eq!((results.len(), matches.len()), (6, 6));
    has(&manager.said("DEBUG", "received"), &about);
    assert!(manager.said("DEBUG", "received").iter().any(|line| line["payload"].is_object()));
    has(&manager.said("DEBUG", "sent"), &about);
    let intruder = manager.said("CRITICAL", "somebody showed a wrong administrator's token");
    assert_eq!((intruder.len(), &intruder[0]["error_code"]), (1, &json!("E012")));
    let forged = manager.said("CRITICAL", "refused: ");
    has(&forged, &["message_type", "conversation_id", "agent_id", "error_code"]);
    assert_eq!(
        (&forged[0]["conversation_id"], &forged[0]["error_code"]),
        (&json!("forged"), &json!("E012"))
    );
    assert_eq!(manager.said("ERROR", "not readable: ")[0]["error_code"], "-32700");
}

fn check_referees(referees: &[Log]) {
    let lines = |level, message| {
        referees.iter().flat_map(|log| log.said(level, message)).collect::<Vec<_>>()
    };
    let whole = ["conversation_id", "agent_id", "match_id"];
    for event in ["began", "decided"] {
        has(&lines("INFO", event), &whole);
        assert_eq!(lines("INFO", event).len(), 6, "{event}");
    }
    // On a busy machine others may be late as well.
    let of_silent = |line: &&Value| line["agent_id"] == "P04";
    let mut retries = lines("WARNING", "retry: ");
    retries.retain(of_silent);
    has(&retries, &whole);
    let mut lost = lines("ERROR", "lost: ");
    lost.retain(of_silent);
    has(&lost, &whole);
    assert_eq!((retries.len(), lost.len()), (6, 3), "three matches of the silent one");
    for line in retries.iter().chain(&lost) {
        assert_eq!(line["error_code"], "E001", "{line}");
    }
    let mut sent = lines("DEBUG", "sent");
    sent.retain(|line| line["message_type"] != "REFEREE_REGISTER_REQUEST");
    has(&sent, &["message_type", "conversation_id", "agent_id", "match_id"]);
}

/// Everything that lets somebody act as somebody else, or know a draw before its time.
fn secrets(place: &Place) -> Vec<String> {
    let file = |name| std::fs::read_to_string(place.data().join(name)).unwrap().trim().to_string();
    let secret: Secret = file("secret").parse().unwrap();
    let (keys, league) = (Keys::derive(&secret), recount(place, "spring").league);
    let mut secrets = vec!["tok_".into(), "prf_".into(), file("secret")];
    secrets.push(file("admin-token").rsplit('_').next().unwrap().into());
    secrets.push(file("join-key-spring").rsplit('_').next().unwrap().into());
    let players_of = league.players().iter().map(|it| (AgentId::Player(it.id), it.nonce));
    let referees_of = league.referees().iter().map(|it| (AgentId::Referee(it.id), it.nonce));
    for (agent, nonce) in players_of.chain(referees_of) {
        let token = keys.token(league.policy().token_form(), league.id(), agent, &nonce);
        secrets.push(token.expose().rsplit('_').next().unwrap().into());
    }
    for id in ["R1M1", "R1M2", "R2M1", "R2M2", "R3M1", "R3M2"] {
        let id: MatchId = id.parse().unwrap();
        secrets.push(Draw::new(league.id(), id, 0).seed(&keys).reveal());
    }
    assert_eq!(secrets.len(), 5 + 6 + 6);
    secrets
}

/// No line about a match says even or odd before one tells that it is over.
fn check_choices(log: &Log) {
    let ends = ["the match has its result", "decided", "a match is over"];
    let mut over: BTreeMap<&str, bool> = BTreeMap::new();
    for line in &log.lines {
        let Some(id) = line["match_id"].as_str() else { continue };
        let is_over = over.entry(id).or_default();
        *is_over |= ends.contains(&line["message"].as_str().unwrap());
        *is_over |= line["message_type"] == "GAME_OVER";
        let text = line.to_string();
        let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        let tells = words.any(|word| word == "even" || word == "odd");
        assert!(*is_over || !tells, "{line}");
    }
    assert!(!over.is_empty() && over.values().all(|over| *over), "{over:?}");
}

#[test]
fn people_get_text_and_play_is_quiet() {
    let place = Place::new();
    let quiet = place.run("play --players 2 --json");
    assert_eq!((quiet.code, quiet.stderr.as_str()), (Some(0), ""));
    let told = place.run("play --players 2 --json --log-level info --log-format text");
    assert_eq!(told.code, Some(0));
    assert!(told.stderr.contains(" INFO     referee: decided "), "{}", told.stderr);
    serde_json::from_str::<Value>(&told.stdout).expect("exactly one JSON document");
    let mut command = place.command("play --players 2 --json");
    command.env("LEAGUE_LOG", "info,json");
    let run = crate::program::Run::of(command.output().unwrap());
    let lines = run.stderr.lines().map(serde_json::from_str::<Value>);
    assert!(lines.map(Result::unwrap).filter(|line| line["level"] == "INFO").count() > 10);
    let wrong = place.run("play --log-level loud");
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains("--log-level: expected debug, info"), "{}", wrong.stderr);
}

#[test]
fn a_reader_of_the_log_that_stalls_holds_up_nobody() {
    let place = Place::new();
    let mut command = place.command("play --players 8 --json --log-level debug");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Far more is logged than a pipe holds, and nobody reads it.
    let mut stdout = String::new();
    child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
    let code = until("it ends", || child.try_wait().unwrap()).code();
    let report: Value = serde_json::from_str(&stdout).expect("exactly one JSON document");
    assert_eq!((code, &report["played"]), (Some(0), &json!(28)));
    let mut log = vec![];
    child.stderr.take().unwrap().read_to_end(&mut log).unwrap();
    assert!(log.len() > 30_000, "the pipe was not full: {}", log.len());
}

// req: OBS-4, OBS-6
#[test]
fn response_times_and_clocks_are_shown_to_whoever_runs_the_league() {
    let place = Place::new();
    let manual = WRITTEN.replace("{ players = 4 }", "\"manual\"");
    std::fs::write(place.path().join("league.toml"), manual).unwrap();
    let office = Office::open(&place);
    let referee = "referee --join-key league-data/join-key-spring";
    let _agents = [office.seat(&place, referee), office.seat(&place, "player --count 3")];
    let far = json!({"jsonrpc": "2.0", "id": 1, "method": "register_player", "params": {
        "protocol": "league.v2", "message_type": "LEAGUE_REGISTER_REQUEST",
        "sender": "player:late", "timestamp": "2020-01-01T00:00:00.000Z",
        "conversation_id": "late", "auth_token": "", "league_id": "spring", "player_meta": {
            "display_name": "Late", "version": "1", "game_types": ["even_odd"],
            "contact_endpoint": "http://127.0.0.1:1/mcp"}}});
    let (status, body) = request(&office.address, &post("/mcp", None, &far.to_string())).unwrap();
    assert!(status == 200 && body.contains("ACCEPTED"), "never refused for it: {body}");
    // Nobody waits for somebody who cannot be reached and is not expected.
    assert_eq!(office.run(&place, "ban P04 --reason gone").code, Some(0));
    assert_eq!(office.run(&place, "start spring").code, Some(0));
    office.standings_at_the_end("spring");
    let document = until("the last report is counted", || {
        let document = office.look("/api/v1/leagues/spring/agents")?;
        let done = |index: usize| document["agents"][index]["response_times"]["count"] == 4;
        (0..3).all(done).then_some(document)
    });
    let agents = document["agents"].clone();
    assert!(document["figures_since"].as_str().unwrap().ends_with('Z'));
    let agent = |id: &str| {
        let agents = agents.as_array().unwrap();
        agents.iter().find(|agent| agent["agent_id"] == id).unwrap_or_else(|| panic!("{agents:?}"))
    };
    for id in ["P01", "P02", "P03"] {
        let times = &agent(id)["response_times"];
        assert_eq!(times["count"], 4, "an invitation and a choice with each of the others");
        let ms = |key: &str| times[key].as_f64().unwrap_or_else(|| panic!("{times}"));
        assert!(0.0 < ms("mean_ms") && ms("mean_ms") <= ms("max_ms"), "{times}");
        assert!(ms("p50_ms") <= ms("p95_ms") && ms("p95_ms") <= ms("p99_ms"), "{times}");
        assert_eq!(agent(id)["clock_is_off"], false);
    }
    let late = agent("P04");
    assert_eq!(
        (&late["clock_is_off"], &late["response_times"]["count"]),
        (&json!(true), &json!(0))
    );
    assert!(late["clock_skew_ms"].as_i64().unwrap() < -1_000_000_000, "{late}");
    let shown = office.run(&place, "status spring");
    assert!(shown.stdout.contains(" days slow"), "{}", shown.stdout);
    let shown = office.run(&place, "status spring --json");
    let shown: Value = serde_json::from_str(&shown.stdout).unwrap();
    let times = |agents: &Value| agents[0]["response_times"].clone();
    assert_eq!(times(&shown["agents"]), times(&agents));
    let log = std::fs::read_to_string(place.path().join("stderr.txt")).unwrap();
    assert_eq!(log.matches("clock is far from ours").count(), 1, "warned about once");
}
