//! What we send has every field that a document lists for it.

use std::path::PathBuf;

use league_wire::dialect::{encode_error, encode_request, encode_result};
use league_wire::{Dialect, Letter, Message, MessageType};
use serde_json::Value;

use crate::samples;

// req: WIRE-7, ERR-2
#[test]
fn what_we_send_has_every_field_of_the_documents() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/protocol/fields.toml");
    let table: toml::Table = std::fs::read_to_string(path).unwrap().parse().unwrap();
    let mut missing = Vec::new();
    let mut checked = 0;
    for row in table["field"].as_array().unwrap() {
        let text = |name: &str| row.get(name).and_then(toml::Value::as_str).unwrap_or_default();
        let Some(dialects) = dialects(text("document")) else { continue };
        if row.get("slip").is_some() {
            continue;
        }
        for letter in letters(dialects[0], text("message"), text("where")) {
            for &dialect in dialects {
                let body = body(dialect, &letter, text("where"));
                checked += 1;
                if applies(text("when"), text("field"), row, &body)
                    && let Err(why) = look(&body, text("field"), row)
                {
                    missing.push(format!("{row}\n  {dialect}: {why} in {body}"));
                }
            }
        }
    }
    assert!(missing.is_empty(), "{} of {checked}:\n{}", missing.len(), missing.join("\n"));
    assert!(checked > 1_000, "only {checked} fields were looked for");
}

/// The dialects in which a document's agents are spoken to.
fn dialects(document: &str) -> Option<&'static [Dialect]> {
    const FLAT: [Dialect; 3] = [Dialect::Flat, Dialect::Typed, Dialect::V21];
    match document {
        "000" => Some(&[Dialect::Flat]),
        "001" => Some(&[Dialect::Enveloped]),
        "002" => Some(&[Dialect::V21]),
        "003" => Some(&[Dialect::Typed]),
        "004" => Some(&[Dialect::Payload]),
        "league" => Some(&FLAT),
        _ => None,
    }
}

/// The letters a row is about.
fn letters(dialect: Dialect, message: &str, place: &str) -> Vec<Letter> {
    let all = MessageType::ALL.iter().copied();
    if message == "*" {
        return all
            .filter(|kind| is_reply(*kind) == (place == "result"))
            .map(samples::letter)
            .collect();
    }
    let kind = MessageType::find_in(dialect, message);
    let kind = kind.unwrap_or_else(|| panic!("no type is called {message}"));
    let mut letters = vec![samples::letter(kind)];
    match kind {
        MessageType::LeagueRegisterResponse => letters.push(samples::refusal()),
        MessageType::LeagueError => letters.push(samples::version_error()),
        MessageType::GameOver => letters.push(samples::technical_loss()),
        _ => {}
    }
    letters
}

fn is_reply(kind: MessageType) -> bool {
    let name = kind.name(Dialect::Flat);
    name.ends_with("_ACK") || name.ends_with("_RESPONSE") || name == "LEAGUE_ERROR"
}

/// `params` of the request, `result` of the response or `data` of the error.
fn body(dialect: Dialect, letter: &Letter, place: &str) -> Value {
    let (bytes, part) = match (place, &letter.message) {
        ("result", Message::LeagueError(_)) => (encode_error(dialect, None, letter), "/error/data"),
        ("result", _) => (encode_result(dialect, &1.into(), letter), "/result"),
        (_, _) => (encode_request(dialect, 1, letter), "/params"),
    };
    let mut frame: Value = serde_json::from_slice(&bytes).unwrap();
    frame.pointer_mut(part).unwrap().take()
}

/// Whether the row speaks about this message.
fn applies(when: &str, field: &str, row: &toml::Value, body: &Value) -> bool {
    let required = row["required"].as_bool().unwrap();
    match when.split_once('=') {
        Some((name, value)) => {
            let pointer = format!("/{}", name.replace('.', "/"));
            body.pointer(&pointer).and_then(Value::as_str) == Some(value)
        }
        None if !when.is_empty() => false,
        None => required || field.contains("retry_info") && body.get("retry_info").is_some(),
    }
}

fn look(body: &Value, field: &str, row: &toml::Value) -> Result<(), String> {
    let (head, rest) = match field.split_once('.') {
        Some((head, rest)) => (head, Some(rest)),
        None => (field, None),
    };
    let found: Vec<&Value> = match (head, head.strip_suffix("[]")) {
        ("*", _) => body.as_object().ok_or("no map")?.values().collect(),
        (_, Some(list)) => {
            let list = body.get(list).and_then(Value::as_array).ok_or("no list")?;
            list.iter().collect()
        }
        (name, None) => vec![body.get(name).ok_or_else(|| format!("no {name}"))?],
    };
    found.into_iter().try_for_each(|value| match rest {
        Some(rest) => look(value, rest, row),
        None => typed(value, row),
    })
}

/// Whether it is a UUID of version 4.
fn is_uuid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    let is_hex = |group: &&str| group.bytes().all(|byte| byte.is_ascii_hexdigit());
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
        && groups.iter().all(is_hex)
        && groups[2].starts_with('4')
        && groups[3].starts_with(['8', '9', 'a', 'b'])
}

/// Whether the value is of the row's type. What does not exist without a draw is null.
fn typed(value: &Value, row: &toml::Value) -> Result<(), String> {
    let types = row["type"].as_str().unwrap();
    let fits = types.split('|').any(|name| match name {
        "string" | "url" => value.is_string(),
        "timestamp" => value.as_str().is_some_and(|text| league_wire::iso::parse(text).is_ok()),
        "uuid" => value.as_str().is_some_and(is_uuid),
        "integer" => value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "list" => value.is_array(),
        "null" => value.is_null(),
        _ => true,
    });
    let field = row["field"].as_str().unwrap();
    let absent = ["drawn_number", "number_parity", "choices.*", "affected_player"];
    let undrawn = value.is_null() && absent.iter().any(|end| field.ends_with(end));
    if !fits && !undrawn {
        return Err(format!("{value} is no {types}"));
    }
    match (row.get("values").and_then(toml::Value::as_array), value.as_str()) {
        (Some(words), Some(word)) if !words.iter().any(|one| one.as_str() == Some(word)) => {
            Err(format!("{word} is none of {words:?}"))
        }
        _ => Ok(()),
    }
}
