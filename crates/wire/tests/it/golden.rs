//! The examples of the documentation: every message in every dialect, both ways.
//! `LEAGUE_BLESS=1` writes them anew.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use league_wire::dialect::{
    decode_error, decode_request, decode_result, encode_error, encode_order, encode_request,
    encode_result,
};
use league_wire::frame::{self, Incoming, Outcome};
use league_wire::message::OrderName;
use league_wire::{Dialect, Envelope, Letter, Message, MessageType};
use serde_json::Value;

use crate::{meaning, samples};

// req: WIRE-10, WIRE-7
#[test]
fn the_examples_are_what_we_read_and_write() {
    for dialect in Dialect::ALL {
        let folder = root().join(dialect.name());
        let mut names = BTreeSet::new();
        for (name, letter) in letters() {
            check(&folder.join(&name), dialect, &letter);
            names.insert(name);
        }
        let there = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name());
        let there: BTreeSet<_> = there.map(|name| name.into_string().unwrap()).collect();
        assert_eq!(there, names, "{dialect} has other files");
    }
}

// req: WIRE-10
#[test]
fn the_three_normative_files_of_document_001_are_what_we_read_and_write() {
    for (name, kind) in [
        ("register_player_request.json", MessageType::LeagueRegisterRequest),
        ("register_referee_request.json", MessageType::RefereeRegisterRequest),
        ("match_result_report.json", MessageType::MatchResultReport),
    ] {
        check(&root().join(name), Dialect::Enveloped, &samples::letter(kind));
    }
}

/// Every example's file name and content.
fn letters() -> Vec<(String, Letter)> {
    let name = |kind: MessageType| kind.name(Dialect::Flat).to_ascii_lowercase();
    let mut letters: Vec<_> = MessageType::ALL
        .iter()
        .map(|&kind| (format!("{}.json", name(kind)), samples::letter(kind)))
        .collect();
    letters.push(("league_register_response_rejected.json".into(), samples::refusal()));
    letters.push(("game_over_technical_loss.json".into(), samples::technical_loss()));
    letters
}

fn check(path: &Path, dialect: Dialect, letter: &Letter) {
    let written = encode(dialect, letter);
    if std::env::var_os("LEAGUE_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, pretty(&written)).unwrap();
    }
    let file = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let expected = value(&file);
    assert_eq!(value(&written), expected, "{}", path.display());
    let told = meaning::told(dialect, letter);
    assert_eq!(decode(dialect, letter.message.kind(), &written), told, "{}", path.display());
    let read = decode(dialect, letter.message.kind(), &file);
    let again = encode(dialect, &read);
    assert_eq!(value(&again), expected, "{}", path.display());
}

/// The JSON of `bytes`, also of that which tools answer as text.
fn value(bytes: &[u8]) -> Value {
    let mut frame: Value = serde_json::from_slice(bytes).unwrap();
    if let Some(text) = frame.pointer_mut("/result/content/0/text") {
        *text = serde_json::from_str(text.as_str().unwrap()).unwrap();
    }
    frame
}

fn encode(dialect: Dialect, letter: &Letter) -> Vec<u8> {
    let kind = letter.message.kind();
    match kind {
        MessageType::LeagueError => encode_error(dialect, Some(&1.into()), letter),
        _ if is_reply(kind) => encode_result(dialect, &1.into(), letter),
        _ => encode_request(dialect, 1, letter),
    }
}

fn decode(dialect: Dialect, kind: MessageType, bytes: &[u8]) -> Letter {
    if kind != MessageType::LeagueError && !is_reply(kind) {
        let Incoming::Single(Ok(request)) = frame::parse(bytes) else { panic!("a request") };
        let decoded = decode_request(&request).unwrap();
        assert_eq!(decoded.letter.message.kind().method(dialect), request.method);
        return decoded.letter;
    }
    let response = frame::parse_response(bytes).unwrap();
    match response.outcome {
        Outcome::Result(result) => whole(decode_result(dialect, &[kind], result).unwrap()),
        Outcome::Error(error) => {
            let data = error.data.unwrap();
            let report = decode_error(data).unwrap();
            assert_eq!(error.code, report.code.known().unwrap().row().rpc);
            let reply = decode_result(dialect, &[kind], data).unwrap();
            assert_eq!(reply.message, Message::LeagueError(report));
            whole(reply)
        }
    }
}

/// The reply as a letter; ours always have a whole envelope.
fn whole(reply: league_wire::Reply) -> Letter {
    let envelope = Envelope {
        sender: reply.envelope.sender.unwrap(),
        timestamp: reply.envelope.timestamp.unwrap(),
        conversation: reply.envelope.conversation.unwrap(),
        token: reply.envelope.token,
        league_id: reply.envelope.league_id,
    };
    Letter { envelope, message: reply.message }
}

fn is_reply(kind: MessageType) -> bool {
    let name = kind.name(Dialect::Flat);
    let ends = ["_ACK", "_RESPONSE", "PONG", "ACK", "ASSIGNED_MATCHES"];
    kind != MessageType::GetAssignedMatches && ends.iter().any(|end| name.ends_with(end))
}

/// The same JSON with one field a line, in the order in which it was written.
fn pretty(json: &[u8]) -> String {
    let (mut out, mut depth, mut in_text, mut escaped) = (String::new(), 0, false, false);
    let text = std::str::from_utf8(json).unwrap();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let closes = |next: Option<&char>| matches!(next, Some('}' | ']'));
        match c {
            _ if in_text => {
                out.push(c);
                in_text = escaped || c != '"';
                escaped = !escaped && c == '\\';
            }
            '{' | '[' if closes(chars.peek()) => out.extend([c, chars.next().unwrap()]),
            '{' | '[' | ',' => {
                depth += usize::from(c != ',');
                out.push(c);
                out.push_str(&format!("\n{}", "  ".repeat(depth)));
            }
            '}' | ']' => {
                depth -= 1;
                out.push_str(&format!("\n{}{c}", "  ".repeat(depth)));
            }
            ':' => out.push_str(": "),
            _ => {
                out.push(c);
                in_text = c == '"';
            }
        }
    }
    out.push('\n');
    out
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/protocol/examples")
}

#[test]
fn an_order_is_read_under_each_of_its_names() {
    let order = samples::letter(MessageType::StartMatch);
    for dialect in Dialect::ALL {
        for name in OrderName::ALL {
            let bytes = encode_order(dialect, 1, &order, name);
            let text = String::from_utf8_lossy(&bytes);
            assert!(text.contains(name.name()), "{text}");
            let Incoming::Single(Ok(request)) = frame::parse(&bytes) else { panic!("{text}") };
            let decoded = decode_request(&request).unwrap_or_else(|no| panic!("{no}: {text}"));
            assert_eq!(decoded.letter, order, "{text}");
        }
    }
}
