//! Lies about frames and HTTP.

use std::time::Duration;

use serde_json::{Value, json};

use super::{change_if, wrong_error, yes, yes_if};
use crate::liar::{Answer, Asked, Switch};

/// A registration without its meta, with which many cases only want to be answered.
fn is_harmless(asked: &Asked) -> bool {
    asked.calls("register_player") && asked.field("player_meta").is_null()
}

/// Another error of JSON-RPC than the right one, where `is_meant` says so.
macro_rules! wrong_if {
    ($case:literal, $is_meant:expr) => {
        Switch::of($case).after(|asked, answer, _| {
            let is_meant: fn(&Asked) -> bool = $is_meant;
            if is_meant(asked) {
                wrong_error(answer);
            }
        })
    };
}

pub(super) fn all() -> Vec<Switch> {
    [frames(), pages(), crowds()].concat()
}

fn frames() -> Vec<Switch> {
    vec![
        wrong_if!("manager.frame.not-json", |asked| {
            asked.json.is_null() && asked.verb == "POST" && !asked.body.is_empty()
        }),
        wrong_if!("manager.frame.no-object", |asked| asked.json.is_number()),
        wrong_if!("manager.frame.no-method", |asked| {
            asked.json.is_object()
                && asked.json.get("method").is_none()
                && asked.json.get("id").is_some()
        }),
        wrong_if!("manager.frame.unknown-method", |asked| asked.calls("dance")),
        wrong_if!("manager.frame.params", |asked| asked.json["params"].is_array()),
        wrong_if!("manager.frame.batch-empty", |asked| asked.json == json!([])),
        yes_if!("manager.frame.version", |asked| asked.json["jsonrpc"] == "1.0"),
        change_if!("manager.frame.id-number", |asked| asked.json["id"] == 4711, |json| {
            json["id"] = json!("4711");
        }),
        change_if!("manager.frame.id-text", |asked| asked.json["id"] == "a-7", |json| {
            json["id"] = json!(7);
        }),
        change_if!("manager.frame.response", |asked| asked.calls("register_player"), |json| {
            if json.get("result").is_some() {
                json["error"] = Value::Null;
            }
        }),
        yes_if!("manager.frame.no-id", |asked| {
            asked.calls("register_player") && asked.json.get("id").is_none()
        }),
        change_if!("manager.frame.batch", |asked| asked.json[1]["id"] == "two", |json| {
            json.as_array_mut().unwrap().retain(|one| one["id"] != "two");
        }),
        change_if!("manager.frame.batch-mixed", |asked| asked.json[1] == 3, |json| {
            json.as_array_mut().unwrap().retain(|one| !one["id"].is_null());
        }),
    ]
}

fn said(status: u16) -> Option<Answer> {
    let content_type = "text/plain".into();
    Some(Answer { status, content_type, body: "no\n".into() })
}

fn pages() -> Vec<Switch> {
    vec![
        Switch::of("manager.http.content-type").after(|asked, answer, _| {
            if is_harmless(asked) {
                answer.content_type = "text/html".into();
            }
        }),
        Switch::of("manager.http.charset").before(|asked, _| {
            asked.header("content-type").contains("charset").then(|| said(415)).flatten()
        }),
        Switch::of("manager.http.other-type").before(|asked, _| {
            asked.header("content-type").contains("text/plain").then(|| yes(asked))
        }),
        Switch::of("manager.http.get").before(|asked, _| {
            (asked.verb == "GET" && asked.path == "/mcp").then(|| said(200)).flatten()
        }),
        Switch::of("manager.http.status").after(|asked, answer, _| {
            if is_harmless(asked) && answer.body.contains("\"error\"") {
                answer.status = 400;
            }
        }),
        Switch::of("manager.http.health")
            .before(|asked, _| (asked.path == "/health").then(|| said(500)).flatten()),
        Switch::of("manager.http.large-status").after(|_, answer, _| {
            if answer.status == 413 {
                answer.status = 400;
            }
        }),
        Switch::of("manager.http.megabyte")
            .before(|asked, _| (asked.body.len() > 800 * 1024).then(|| said(413)).flatten()),
        Switch::of("manager.http.keep-alive").after(|asked, answer, _| {
            if asked.number > 1 {
                answer.status = 0;
            }
        }),
    ]
}

/// Disturbs whoever goes on after it has sent something that is no whole request.
macro_rules! disturb {
    ($case:literal, $how:literal) => {
        Switch::of($case).before(|asked, memory| {
            if !is_harmless(asked) {
                return None;
            }
            // What was cut short may be seen a little later than what follows it.
            std::thread::park_timeout(Duration::from_millis(50));
            let key = format!("{} {}", $how, asked.text("conversation_id"));
            memory.has(&key).then(|| said(500)).flatten()
        })
    };
}

fn crowds() -> Vec<Switch> {
    vec![
        disturb!("manager.http.large", "large"),
        disturb!("manager.http.half", "half"),
        disturb!("manager.http.slow", "slow"),
        Switch::of("manager.http.crowd").before(|asked, memory| {
            let key = format!("crowd {}", asked.text("conversation_id"));
            (is_harmless(asked) && memory.count(key) > 20).then(|| said(503)).flatten()
        }),
    ]
}
