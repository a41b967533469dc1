//! What holds for every message, and for everything that is not one.

use league_wire::dialect::{
    decode_error, decode_request, decode_result, encode_request, encode_result,
};
use league_wire::frame::{self, Incoming, Outcome};
use league_wire::{Code, Dialect, Letter, MessageType, Reply};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::Value;

use crate::{meaning, rolls};

proptest! {
    // req: WIRE-7, WIRE-8
    #[test]
    fn a_request_is_read_as_it_was_written(letter in letters(), dialect in dialects()) {
        let bytes = encode_request(dialect, 1, &letter);
        let Incoming::Single(Ok(request)) = frame::parse(&bytes) else { panic!("a request") };
        let decoded = decode_request(&request);
        let text = String::from_utf8_lossy(&bytes);
        let told = meaning::told(dialect, &letter);
        prop_assert_eq!(decoded.map(|decoded| decoded.letter), Ok(told), "{}", text);
    }

    #[test]
    fn a_result_is_read_as_it_was_written_or_refused(
        letter in letters(), written in dialects(), read in dialects()
    ) {
        let bytes = encode_result(written, &1.into(), &letter);
        match reply(read, letter.message.kind(), &bytes) {
            Ok(reply) => {
                let told = meaning::told(written, &letter);
                prop_assert_eq!(reply.message, told.message);
                prop_assert_eq!(reply.envelope, told.envelope.into());
            }
            Err(refused) => {
                prop_assert!(shape_of_results(written) != shape_of_results(read), "{}", refused);
            }
        }
    }

    #[test]
    fn no_bytes_make_the_readers_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        read_as_everything(&bytes);
    }

    #[test]
    fn no_broken_message_makes_the_readers_panic(
        letter in letters(),
        dialect in dialects(),
        asks in any::<bool>(),
        strokes in prop::collection::vec((any::<Index>(), any::<u8>(), 0..3_u8), 1..4),
    ) {
        let mut bytes = encoded(dialect, &letter, asks);
        for (place, byte, stroke) in strokes {
            let at = place.index(bytes.len());
            match stroke {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => drop(bytes.remove(at)),
            }
            if bytes.is_empty() {
                break;
            }
        }
        read_as_everything(&bytes);
        prop_assert_eq!(is_refused_as_json(&bytes), !is_json(&bytes));
    }

    // req: WIRE-7
    #[test]
    fn what_was_understood_is_written_and_read_again(
        letter in letters(),
        dialect in dialects(),
        renamed in prop::option::of((dialects(), select(MessageType::ALL))),
        dropped in prop::option::of(any::<Index>()),
    ) {
        let mut frame: Value = serde_json::from_slice(&encoded(dialect, &letter, true)).unwrap();
        if let Some((dialect, kind)) = renamed {
            rename(&mut frame, kind.name(dialect));
        }
        if let Some(place) = dropped {
            let count = nodes(&mut frame).len();
            let (node, _) = nodes(&mut frame).swap_remove(place.index(count));
            remove(&mut frame, &node);
        }
        let text = frame.to_string();
        let Incoming::Single(Ok(request)) = frame::parse(text.as_bytes()) else { return Ok(()) };
        let Ok(read) = decode_request(&request) else { return Ok(()) };
        let written = encode_request(read.dialect, 1, &read.letter);
        let Incoming::Single(Ok(again)) = frame::parse(&written) else { panic!("a request") };
        let again = decode_request(&again);
        prop_assert!(again.is_ok(), "{:?} from {}", again, text);
        let again = again.unwrap();
        prop_assert_eq!(again.letter.message.kind(), read.letter.message.kind(), "{}", text);
        prop_assert_eq!(encode_request(read.dialect, 1, &again.letter), written);
    }

    // req: AUTH-3
    #[test]
    fn no_error_shows_a_token(
        letter in letters(), dialect in dialects(), asks in any::<bool>(), place in any::<Index>(),
        way in 0..4_u8,
    ) {
        let mut frame: Value = serde_json::from_slice(&encoded(dialect, &letter, asks)).unwrap();
        let count = nodes(&mut frame).len();
        let (node, parent) = nodes(&mut frame).swap_remove(place.index(count));
        plant(&mut frame, &node, &parent, way);
        for told in read_as_everything(frame.to_string().as_bytes()) {
            prop_assert!(!told.contains("SECRET"), "{}", told);
        }
    }
}

fn is_json(bytes: &[u8]) -> bool {
    let read = |text| serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
    str::from_utf8(bytes).is_ok_and(read)
}

fn is_refused_as_json(bytes: &[u8]) -> bool {
    match frame::parse(bytes) {
        Incoming::Single(Err(error)) => error.code == Code::ParseError,
        Incoming::Single(Ok(_)) | Incoming::Batch(_) => false,
    }
}

const TOKEN: &str = "tok_player_P01_SECRET";

/// Puts a token where something else was, as value or as name.
fn plant(frame: &mut Value, node: &str, name: &str, way: u8) {
    let Some(value) = frame.pointer_mut(node) else { return };
    match way {
        0 => *value = TOKEN.into(),
        1 => *value = serde_json::json!([TOKEN, {"a": TOKEN}]),
        2 => *value = serde_json::json!({ TOKEN: 1 }),
        _ => {
            let taken = value.take();
            let above = &node[..node.len() - name.len() - 1];
            if let Some(Value::Object(parent)) = frame.pointer_mut(above) {
                parent.insert(TOKEN.into(), taken);
            }
        }
    }
}

/// Calls the message by another name, and what carries it too if that is its name.
fn rename(frame: &mut Value, name: &str) {
    let is_type = |text: &str| text.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    if frame["method"].as_str().is_some_and(is_type) {
        frame["method"] = name.into();
    }
    for node in ["/params", "/params/envelope", "/params/message", "/params/arguments"] {
        for field in ["type", "message_type"] {
            if let Some(value) = frame.pointer_mut(&format!("{node}/{field}")) {
                *value = name.into();
            }
        }
    }
}

fn remove(frame: &mut Value, node: &str) {
    let (above, name) = node.rsplit_once('/').unwrap();
    if let Some(Value::Object(fields)) = frame.pointer_mut(above) {
        fields.remove(name);
    }
}

/// The pointer to every value, and the last part of it.
fn nodes(value: &mut Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), &*value)];
    while let Some((at, value)) = open.pop() {
        match value {
            Value::Object(fields) => {
                open.extend(fields.iter().map(|(name, value)| (format!("{at}/{name}"), value)));
            }
            Value::Array(items) => {
                open.extend(items.iter().enumerate().map(|(n, v)| (format!("{at}/{n}"), v)));
            }
            _ => {}
        }
        if let Some((_, name)) = at.rsplit_once('/') {
            found.push((at.clone(), name.into()));
        }
    }
    found
}

/// Reads the bytes in every way there is; gives the texts of all errors.
fn read_as_everything(bytes: &[u8]) -> Vec<String> {
    let mut told = Vec::new();
    let requests = match frame::parse(bytes) {
        Incoming::Single(request) => vec![request],
        Incoming::Batch(requests) => requests,
    };
    for request in requests {
        match request.map(|request| decode_request(&request)) {
            Ok(Err(error)) => {
                let report = league_wire::message::ErrorReport::from(&error);
                told.push(format!("{error} {error:?} {report:?}"));
            }
            Err(error) => told.push(error.to_string()),
            Ok(Ok(_)) => {}
        }
    }
    match frame::parse_response(bytes).map(|response| response.outcome) {
        Ok(Outcome::Result(result)) => {
            told.extend(decode_error(result).err().map(|error| format!("{error} {error:?}")));
            for dialect in Dialect::ALL {
                let reply = decode_result(dialect, MessageType::ALL, result);
                told.extend(reply.err().map(|error| format!("{error} {error:?}")));
            }
        }
        Ok(Outcome::Error(_)) => {}
        Err(error) => told.push(error.to_string()),
    }
    told
}

fn reply(
    dialect: Dialect,
    kind: MessageType,
    bytes: &[u8],
) -> Result<Reply, league_wire::DecodeError> {
    let response = frame::parse_response(bytes).unwrap();
    let Outcome::Result(result) = response.outcome else { panic!("a result") };
    decode_result(dialect, &[kind], result)
}

fn encoded(dialect: Dialect, letter: &Letter, asks: bool) -> Vec<u8> {
    if asks {
        encode_request(dialect, 1, letter)
    } else {
        encode_result(dialect, &1.into(), letter)
    }
}

/// Which dialects write results alike.
fn shape_of_results(dialect: Dialect) -> u8 {
    match dialect {
        Dialect::Flat | Dialect::Typed | Dialect::V21 | Dialect::Wrapped => 0,
        Dialect::Enveloped => 1,
        Dialect::Payload => 2,
        Dialect::Tool => 3,
    }
}

fn letters() -> impl Strategy<Value = Letter> {
    (select(MessageType::ALL), any::<u64>()).prop_map(|(kind, seed)| rolls::letter(kind, seed))
}

fn dialects() -> impl Strategy<Value = Dialect> {
    select(&Dialect::ALL[..])
}
