//! The JSON that the source documents print, read in the dialect of each document.

use std::path::PathBuf;

use league_wire::dialect::{decode_error, decode_request, decode_result};
use league_wire::frame::{self, Incoming, Outcome};
use league_wire::{Code, Dialect, MessageType};
use serde_json::{Map, Value, json};

// req: WIRE-7, WIRE-2, WIRE-3
#[test]
fn every_block_of_the_documents_is_read_or_refused_as_the_manifest_says() {
    let manifest = std::fs::read_to_string(root().join("manifest.toml")).unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    let mut read = 0;
    for row in manifest["file"].as_array().unwrap() {
        let text = |name: &str| row.get(name).and_then(toml::Value::as_str).unwrap_or_default();
        let json = std::fs::read_to_string(root().join(text("file"))).unwrap();
        let dialect = text("dialect").parse().unwrap();
        let outcome = decode(dialect, text("kind"), text("message"), &json);
        match (text("expect"), outcome) {
            ("decodes", Ok(kind)) => {
                assert_eq!(kind, find(dialect, text("message")), "{}", text("file"));
            }
            ("refused", Err((code, at))) => {
                assert_eq!((&*code, &*at), (text("code"), text("path")), "{}", text("file"));
            }
            (expected, outcome) => panic!("{}: {expected}, {outcome:?}", text("file")),
        }
        read += 1;
    }
    assert!(read > 100, "only {read} files");
}

// req: ERR-1
#[test]
fn the_reference_lists_every_code_as_the_catalogue_has_it() {
    let reference = std::fs::read_to_string(root().join("../league-v2.md")).unwrap();
    for code in Code::ALL.iter().filter(|code| !code.as_str().starts_with('-')) {
        let row = code.row();
        let start = format!("| {code} | −{} | {} |", -row.rpc, row.name);
        let retryable = if row.retryable { "yes" } else { "no" };
        let end = format!("| {} | {} | {retryable} |", row.category.name(), row.severity.name());
        let line = reference.lines().find(|line| line.starts_with(&start));
        assert!(line.is_some_and(|line| line.ends_with(&end)), "{start} … {end}, got {line:?}");
    }
}

/// The type of the message that was read, or the code and place of the error.
type Outcomes = Result<MessageType, (String, String)>;

fn decode(dialect: Dialect, kind: &str, message: &str, json: &str) -> Outcomes {
    let value: Value = serde_json::from_str(json).unwrap();
    let expected = find(dialect, message);
    match kind {
        "request" => request(json),
        "request-params" => request(&call(dialect, expected, value)),
        "envelope" if answers(expected) => {
            result(dialect, expected, &respond(filled(value, message)))
        }
        "envelope" => request(&call(dialect, expected, filled(value, message))),
        "fragment" if is_error(expected) => {
            decode_error(league_wire::Json::parse(&value.to_string()).unwrap()).unwrap();
            request(&call(dialect, expected, enclosed(value, message)))
        }
        "fragment" if answers(expected) => {
            result(dialect, expected, &respond(enclosed(value, message)))
        }
        "fragment" => request(&call(dialect, expected, enclosed(value, message))),
        "result" => result(dialect, expected, json),
        "error" => {
            let response = frame::parse_response(json.as_bytes()).unwrap();
            let Outcome::Error(error) = response.outcome else { panic!("an error") };
            if let Some(data) = error.data {
                decode_error(data).unwrap();
            }
            Ok(expected)
        }
        other => panic!("unknown kind {other}"),
    }
}

fn request(json: &str) -> Outcomes {
    match frame::parse(json.as_bytes()) {
        Incoming::Single(Ok(request)) => decode_request(&request)
            .map(|decoded| decoded.letter.message.kind())
            .map_err(|error| (error.code.to_string(), error.at)),
        Incoming::Single(Err(error)) => {
            let place = error.detail.split(':').next().unwrap_or_default();
            Err((error.code.to_string(), place.into()))
        }
        Incoming::Batch(_) => panic!("no batch"),
    }
}

fn result(dialect: Dialect, expected: MessageType, json: &str) -> Outcomes {
    let response = frame::parse_response(json.as_bytes()).unwrap();
    let Outcome::Result(result) = response.outcome else { panic!("a result") };
    decode_result(dialect, &[expected], result)
        .map(|reply| reply.message.kind())
        .map_err(|error| (error.code.to_string(), error.at))
}

fn call(dialect: Dialect, kind: MessageType, params: Value) -> String {
    json!({"jsonrpc": "2.0", "method": kind.method(dialect), "params": params, "id": 1}).to_string()
}

fn respond(result: Value) -> String {
    json!({"jsonrpc": "2.0", "result": result, "id": 1}).to_string()
}

/// The fields of a message inside an envelope; those it has itself come first.
fn enclosed(fragment: Value, message: &str) -> Value {
    let mut whole: Map<String, Value> = serde_json::from_value(json!({
        "protocol": "league.v2",
        "message_type": message,
        "sender": "referee:REF01",
        "timestamp": "2025-01-15T10:30:00Z",
        "conversation_id": "conv1",
    }))
    .unwrap();
    let Value::Object(fields) = fragment else { panic!("an object") };
    whole.extend(fields);
    whole.into()
}

/// An envelope around the least that its message needs.
fn filled(envelope: Value, message: &str) -> Value {
    let Value::Object(mut whole) = envelope else { panic!("an object") };
    let body = match message {
        "LEAGUE_REGISTER_REQUEST" => json!({
            "player_meta": {"display_name": "A", "version": "1", "game_types": ["even_odd"]}
        }),
        "CHOOSE_PARITY_RESPONSE" => json!({"match_id": "R1M1", "parity_choice": "even"}),
        "ROUND_ANNOUNCEMENT" => json!({"round_id": 1, "matches": []}),
        _ => json!({
            "match_id": "R1M1", "game_type": "even_odd", "role_in_match": "PLAYER_A",
            "opponent_id": "P02"
        }),
    };
    for (name, value) in body.as_object().unwrap() {
        whole.entry(name).or_insert_with(|| value.clone());
    }
    whole.into()
}

fn find(dialect: Dialect, message: &str) -> MessageType {
    MessageType::find_in(dialect, message).unwrap_or_else(|| panic!("no type is called {message}"))
}

fn is_error(kind: MessageType) -> bool {
    matches!(kind, MessageType::LeagueError | MessageType::GameError)
}

fn answers(kind: MessageType) -> bool {
    MessageType::ALL.iter().any(|asked| asked.answers().contains(&kind))
        || kind == MessageType::GameOverAck
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/protocol/documents")
}
