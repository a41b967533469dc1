//! One lie for each case of `league check manager`: what is wrong, and nothing else.

mod asked;
mod framed;
mod played;
mod told;

use serde_json::{Value, json};

use crate::liar::{Answer, Asked, Switch};

/// A lie for every case.
pub(crate) fn all() -> Vec<Switch> {
    [framed::all(), asked::all(), played::all(), told::all()].concat()
}

/// A yes to whatever was asked.
fn yes(asked: &Asked) -> Answer {
    let (kind, fields) = match asked.json["method"].as_str().unwrap_or_default() {
        "report_match_result" => {
            let fields = json!({
                "match_id": asked.field("match_id"), "status": "RECORDED", "standings_updated": true,
            });
            ("MATCH_RESULT_ACK", fields)
        }
        "league_query" => {
            let fields = json!({"query_type": asked.field("query_type"), "data": {"rows": []}});
            ("LEAGUE_QUERY_RESPONSE", fields)
        }
        "register_referee" => ("REFEREE_REGISTER_RESPONSE", accepted("referee_id", "REF09")),
        "start_league" => ("ACK", json!({"acknowledged": true})),
        _ => ("LEAGUE_REGISTER_RESPONSE", accepted("player_id", "P09")),
    };
    let mut result = json!({
        "protocol": "league.v2", "message_type": kind, "sender": "league_manager",
        "timestamp": "2025-01-15T10:30:00.000Z", "conversation_id": asked.field("conversation_id"),
    });
    for (name, value) in fields.as_object().unwrap() {
        result[name] = value.clone();
    }
    Answer::json(&json!({"jsonrpc": "2.0", "result": result, "id": asked.json["id"]}))
}

fn accepted(field: &str, id: &str) -> Value {
    let token = format!("tok_{}", "ab".repeat(32));
    json!({"status": "ACCEPTED", field: id, "auth_token": token, "league_id": "somewhere"})
}

/// A no with `code`, whatever was asked.
fn no(asked: &Asked, number: i64, code: &str) -> Answer {
    let data = json!({
        "protocol": "league.v2", "message_type": "LEAGUE_ERROR", "sender": "league_manager",
        "timestamp": "2025-01-15T10:30:00.000Z", "conversation_id": "conv",
        "error_code": code, "error_description": "no",
    });
    let error = json!({"code": number, "message": "no", "data": data});
    Answer::json(&json!({"jsonrpc": "2.0", "error": error, "id": asked.json["id"]}))
}

/// An error of JSON-RPC that is never the right one.
fn wrong_error(answer: &mut Answer) {
    answer.change(|json| json["error"]["code"] = json!(-32603));
}

/// A yes where `is_meant` says so.
macro_rules! yes_if {
    ($case:literal, $is_meant:expr) => {
        $crate::liar::Switch::of($case).before(|asked, _| {
            let is_meant: fn(&$crate::liar::Asked) -> bool = $is_meant;
            is_meant(asked).then(|| $crate::lies::yes(asked))
        })
    };
}
use yes_if;

/// A no where `is_meant` says so.
macro_rules! no_if {
    ($case:literal, $is_meant:expr) => {
        $crate::liar::Switch::of($case).before(|asked, _| {
            let is_meant: fn(&$crate::liar::Asked) -> bool = $is_meant;
            is_meant(asked).then(|| $crate::lies::no(asked, -32033, "E033"))
        })
    };
}
use no_if;

/// Another answer where `is_meant` says so.
macro_rules! change_if {
    ($case:literal, $is_meant:expr, $change:expr) => {
        $crate::liar::Switch::of($case).after(|asked, answer, _| {
            let is_meant: fn(&$crate::liar::Asked) -> bool = $is_meant;
            let change: fn(&mut serde_json::Value) = $change;
            if is_meant(asked) {
                answer.change(change);
            }
        })
    };
}
use change_if;
