//! What every call says of its caller: seen by whoever is called.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::program::Place;
use crate::service::{Office, PATIENCE, Service, post, request};

/// Calls that may wait to be looked at.
const CALLS_MAX: usize = 1024;
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What was called, and what the caller says it is.
type Call = (String, String);

/// Somebody who takes every call and answers with an empty result.
fn listener() -> (String, Receiver<Call>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/mcp", listener.local_addr().unwrap());
    let (calls, seen) = sync_channel(CALLS_MAX);
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let calls = calls.clone();
            std::thread::spawn(move || answer(stream, &calls));
        }
    });
    (address, seen)
}

/// Answers the calls on one connection until it ends.
fn answer(mut stream: TcpStream, calls: &SyncSender<Call>) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    loop {
        let (mut length, mut agent) = (0, String::new());
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            let Some((name, value)) = line.trim().split_once(':') else {
                if line.trim().is_empty() {
                    break;
                }
                continue;
            };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.trim().parse().ok()?,
                "user-agent" => agent = value.trim().into(),
                _ => {}
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let body: Value = serde_json::from_slice(&body).ok()?;
        let requests = body.as_array().cloned().unwrap_or_else(|| vec![body.clone()]);
        let mut answers = vec![];
        for request in requests {
            calls.try_send((request["method"].as_str()?.into(), agent.clone())).ok()?;
            answers.push(json!({"jsonrpc": "2.0", "id": request["id"], "result": {}}));
        }
        let answer = if body.is_array() { json!(answers) } else { answers[0].clone() };
        let answer = answer.to_string();
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n", answer.len());
        let whole = format!("{head}Content-Type: application/json\r\n\r\n{answer}");
        stream.write_all(whole.as_bytes()).ok()?;
    }
}

/// Waits until every one of `methods` was called, in whatever order, and tells by whom; whatever
/// else is called must name its caller as well.
fn wait<const N: usize>(seen: &Receiver<Call>, methods: [&str; N]) -> [String; N] {
    let patience: Duration = PATIENCE;
    let mut callers: BTreeMap<String, String> = BTreeMap::new();
    while let Some(missing) = methods.iter().find(|method| !callers.contains_key(**method)) {
        let (called, agent) = seen.recv_timeout(patience).expect(missing);
        assert!(agent.ends_with(&format!("/{VERSION}")), "{called} by {agent}");
        callers.insert(called, agent);
    }
    methods.map(|method| callers[method].clone())
}

// req: ARCH-7
#[test]
fn every_call_names_its_caller_and_its_version() {
    let place = Place::new();
    let (manager, seen) = listener();
    for (line, method, agent) in
        [("player", "register_player", "player"), ("referee", "register_referee", "referee")]
    {
        let line = format!("{line} --manager {manager} --listen 127.0.0.1:0");
        let _agent = Service::start(&place, &line);
        assert_eq!(wait(&seen, [method]), [format!("{agent}/{VERSION}")]);
    }

    let written = "[league]\nid = \"spring\"\nstart = { players = 2 }\n\
                   set.announcement_lead = \"0s\"\n";
    std::fs::write(place.path().join("league.toml"), written).unwrap();
    let office = Office::open(&place);
    let key = "referee --join-key league-data/join-key-spring";
    let _agents = [office.seat(&place, key), office.seat(&place, "player")];
    let (own, seen) = listener();
    let meta = json!({"display_name": "Ear", "version": "1", "game_types": ["even_odd"],
                      "contact_endpoint": own});
    let message = json!({"protocol": "league.v2", "message_type": "LEAGUE_REGISTER_REQUEST",
        "sender": "player:ear", "timestamp": "2030-01-01T00:00:00.000Z",
        "conversation_id": "ear", "auth_token": "", "league_id": "spring", "player_meta": meta});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "register_player", "params": message});
    let answer = request(&office.address, &post("/mcp", None, &body.to_string())).unwrap();
    assert!(answer.1.contains("ACCEPTED"), "{answer:?}");
    let [manager, referee] = wait(&seen, ["notify_round", "handle_game_invitation"]);
    assert_eq!(manager, format!("league_manager/{VERSION}"));
    assert_eq!(referee, format!("referee/{VERSION}"));
}
