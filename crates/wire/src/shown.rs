//! Messages as a log may show them: without what proves anything, and without anybody's choice.

use std::borrow::Cow;

use serde_json::Value;

use crate::redact::{REDACTED, redact};

/// Names under which a log tells what a message says of itself.
pub mod field {
    /// The type of a message.
    pub const MESSAGE_TYPE: &str = "message_type";
    /// The exchange it belongs to.
    pub const CONVERSATION: &str = "conversation_id";
    /// The league it is about.
    pub const LEAGUE: &str = "league_id";
    /// The agent it is about.
    pub const AGENT: &str = "agent_id";
    /// The match it is about.
    pub const MATCH: &str = "match_id";
    /// A code of the catalogue.
    pub const CODE: &str = "error_code";
}

/// A body as text, whatever it is. Checked first: what is text already is told so much faster.
pub fn text(body: &[u8]) -> Cow<'_, str> {
    str::from_utf8(body).map_or_else(|_| String::from_utf8_lossy(body), Cow::Borrowed)
}

/// Fields that prove something, let somebody in, or say where a draw comes from.
const SECRETS: [&str; 12] = [
    "auth_token",
    "choice_proof",
    "contact_email",
    "draw_seed",
    "join_code",
    "join_key",
    "match_proof",
    "nonce",
    "referee_signature",
    "reply_proof",
    "token",
    "token_hash",
];

/// Fields that tell a choice, or the whole match. Results are told by the record, not by logs.
const CHOICES: [&str; 8] =
    ["choice", "choices", "got", "move", "move_data", "number_parity", "reasoning", "transcript"];

/// Longest message that is shown.
const SHOWN_BYTES_MAX: usize = 32 * 1024;

/// The JSON of `body` without what must not be shown; `None` if it is too long or not JSON.
pub fn payload(body: &[u8]) -> Option<String> {
    if body.len() > SHOWN_BYTES_MAX {
        return None;
    }
    let mut json: Value = serde_json::from_slice(body).ok()?;
    cover(&mut json);
    Some(json.to_string())
}

fn cover(json: &mut Value) {
    match json {
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
        Value::String(text) => {
            if let Some(mut inner) = nested(text) {
                cover(&mut inner);
                *text = inner.to_string();
            } else if redact(text, &[]) != *text {
                *text = REDACTED.into();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(cover),
        Value::Object(fields) => {
            // A report says in its reason what everybody chose.
            let is_report = fields.contains_key("technical_losers");
            for (name, value) in fields.iter_mut() {
                let name = name.as_str();
                let is_covered = SECRETS.contains(&name)
                    || is_choice(name)
                    || is_report && name == "reason"
                    || is_bare_answer(name, value);
                if value.is_null() {
                    continue;
                }
                if is_covered {
                    *value = REDACTED.into();
                } else if let (Value::String(text), true) = (&mut *value, is_sentence(name)) {
                    *text = sentence(text);
                } else {
                    cover(value);
                }
            }
        }
    }
}

/// Whether an error says in the field `name` what it is about.
fn is_sentence(name: &str) -> bool {
    name == "message" || name.ends_with("description")
}

/// What an error says, without what came in place of something else: that may be a choice.
pub fn sentence(text: &str) -> String {
    const GOT: &str = "got ";
    let starts = |at: &usize| *at == 0 || text[..*at].ends_with(' ');
    let end = text.match_indices(GOT).map(|(at, _)| at).find(starts).map(|at| at + GOT.len());
    match end {
        Some(end) => format!("{}{REDACTED}", redact(&text[..end], &[])),
        None => redact(text, &[]).into_owned(),
    }
}

/// Whether it is an answer of one word, as a tool may give it: that may be a choice too.
fn is_bare_answer(name: &str, value: &Value) -> bool {
    match (name, value) {
        ("text", Value::String(text)) => nested(text).is_none(),
        ("result", Value::String(_) | Value::Number(_)) => true,
        _ => false,
    }
}

/// Whether the field `name` tells a choice, or the whole match.
fn is_choice(name: &str) -> bool {
    CHOICES.contains(&name) || name.ends_with("_choice")
}

/// The JSON that stands in a text, as tools answer it.
fn nested(text: &str) -> Option<Value> {
    let json = text.starts_with(['{', '[']).then(|| serde_json::from_str(text));
    json.and_then(Result::ok)
}

/// `text` as a JSON string.
pub fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_does_not_tell_what_came() {
        let body = br#"{"error":{"message":"expected even or odd, got 'BADodd'","data":
            {"error_code":"E004","error_description":"got 'BADodd'","context":{"got":"BADodd"},
            "action_required":"answer even or odd","fix_description":"forgot nothing"}}}"#;
        let shown = payload(body).unwrap();
        assert!(!shown.contains("BAD"), "{shown}");
        for kept in ["answer even or odd", "expected even or odd, got [redacted]", "forgot nothing"]
        {
            assert!(shown.contains(kept), "no {kept} in {shown}");
        }
    }

    #[test]
    fn an_answer_of_one_word_may_be_a_choice() {
        for body in [
            r#"{"id":1,"result":"odd"}"#,
            r#"{"result":{"content":[{"type":"text","text":"odd"}]}}"#,
        ] {
            let shown = payload(body.as_bytes()).unwrap();
            assert!(!shown.contains("odd"), "{shown}");
        }
        assert!(payload(br#"{"result":{"status":"ok"}}"#).unwrap().contains("ok"));
    }

    // req: OBS-1, AUTH-3
    #[test]
    fn secrets_and_choices_are_covered_wherever_they_stand() {
        let body = br#"{"params":{"auth_token":"x","players":{"P01":{"choice":"even","points":3,
            "nonce":"ab","choice_proof":"prf_1"}},"draw_seed":"5eed","note":"my token is tok_12",
            "result":{"technical_losers":[],"reason":"P01 chose even"},"reason":"busy",
            "transcript":{"entries":["odd"]},"game_history":[{"your_choice":"odd"}],"list":[{"join_code":"c"}],"winner":null}}"#;
        let shown = payload(body).expect("it is JSON");
        for secret in ["\"x\"", "even", "odd", "\"ab\"", "prf_", "5eed", "tok_", "\"c\""] {
            assert!(!shown.contains(secret), "{secret} in {shown}");
        }
        for kept in ["\"points\":3", "\"reason\":\"busy\"", "\"winner\":null", "\"P01\""] {
            assert!(shown.contains(kept), "no {kept} in {shown}");
        }
    }

    // req: AUTH-3
    #[test]
    fn what_stands_in_a_text_is_covered_too() {
        let body = br#"{"text":"{\"parity_choice\":\"odd\",\"id\":1}"}"#;
        let shown = payload(body).expect("it is JSON");
        assert!(!shown.contains("odd") && shown.contains(r#"\"id\":1"#), "{shown}");
    }

    #[test]
    fn what_is_not_json_or_too_long_is_not_shown() {
        assert_eq!(payload(b"tok_1"), None);
        let long = format!("\"{}\"", "x".repeat(SHOWN_BYTES_MAX));
        assert_eq!(payload(long.as_bytes()), None);
        assert_eq!(payload(b" [1, 2]"), Some("[1,2]".into()));
        assert_eq!(quoted("a\"\n"), r#""a\"\n""#);
    }
}
