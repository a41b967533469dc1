//! Requests that are not quite right, and the pages beside the protocol.

use std::net::SocketAddr;

use serde_json::{Value, json};

use crate::rpc::{self, Reply};
use crate::shape::{Shape, Stamp};
use crate::stage::{LEAGUE, Plan, Stage};
use crate::stranger::Stranger;
use league_agent::strategy::House;

fn ping() -> Value {
    let stamp = Stamp::new("player:P01", "conv-ping", "");
    Shape::Flat.request(("ping", "PING"), &stamp, json!({}))
}

fn post_as(address: SocketAddr, content_type: &str, body: &str) -> Reply {
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\n{content_type}Content-Length: {}\r\n\
         Connection: close\r\n\r\n",
        body.len()
    );
    rpc::exchange(address, &format!("{head}{body}"))
}

// req: WIRE-2, WIRE-3, WIRE-4
#[test]
fn a_faulty_envelope_is_refused_with_the_field_and_the_id() {
    let stage = Stage::open(&Plan::on_command(2));
    let removed: Value = json!("(removed)");
    for (field, value, code, said) in [
        ("protocol", removed.clone(), "E003", "params.protocol"),
        ("protocol", json!("league.v1"), "E018", "league.v2"),
        ("message_type", removed.clone(), "E003", "params.message_type"),
        ("message_type", json!("GAME_OVER"), "E003", "params.message_type"),
        ("sender", removed.clone(), "E003", "params.sender"),
        ("timestamp", removed.clone(), "E003", "params.timestamp"),
        ("timestamp", json!("2025-01-15T10:30:00+02:00"), "E021", "params.timestamp"),
        ("timestamp", json!("2025-01-15T10:30:00"), "E021", "params.timestamp"),
        ("timestamp", json!("yesterday"), "E021", "params.timestamp"),
        ("conversation_id", removed.clone(), "E003", "params.conversation_id"),
        ("conversation_id", json!(""), "E003", "params.conversation_id"),
    ] {
        let mut request = ping();
        request["id"] = json!("a-7");
        let params = request["params"].as_object_mut().unwrap();
        if value == removed {
            params.remove(field);
        } else {
            params.insert(field.into(), value.clone());
        }
        let reply = stage.send(&request);
        assert_eq!((reply.status, reply.code().as_str()), (200, code), "{field} {value}");
        assert_eq!(reply.json()["id"], "a-7");
        assert!(reply.error()["message"].as_str().unwrap().contains(said), "{}", reply.body);
    }
    for timestamp in ["20250115T10:30:00Z", "2025-01-15T10:30:00.125+00:00", "20250115T103000Z"] {
        let mut request = ping();
        request["params"]["timestamp"] = json!(timestamp);
        assert_eq!(stage.send(&request).result()["message_type"], "PONG", "{timestamp}");
    }
}

// req: WIRE-5
#[test]
fn a_sender_of_another_form_is_told_the_allowed_ones() {
    let stage = Stage::open(&Plan::on_command(2));
    for sender in ["P01", "player:", "spectator:S1", ""] {
        let mut request = ping();
        request["params"]["sender"] = json!(sender);
        let reply = stage.send(&request);
        assert_eq!(reply.code(), "E003", "{sender}");
        for form in ["league_manager", "referee:<id>", "player:<id>"] {
            assert!(reply.body.contains(form), "{sender}: {}", reply.body);
        }
    }
}

// req: WIRE-1
#[test]
fn what_is_not_json_rpc_gets_the_error_that_json_rpc_has_for_it() {
    let stage = Stage::open(&Plan::on_command(2));
    let check = |body: &str, status: u16, code: i64, id: Value| {
        let reply = rpc::post(stage.address, body);
        assert_eq!(reply.status, status, "{body}");
        assert_eq!(reply.error()["code"], code, "{body}: {}", reply.body);
        assert_eq!(reply.json()["id"], id, "{body}: {}", reply.body);
        assert!(!reply.error()["message"].as_str().unwrap().is_empty());
    };
    let edited = |edit: &dyn Fn(&mut Value)| {
        let mut request = ping();
        edit(&mut request);
        request.to_string()
    };
    check("{\"jsonrpc\":", 400, -32700, Value::Null);
    check("", 400, -32700, Value::Null);
    check("17", 400, -32600, Value::Null);
    check(&edited(&|r| r["jsonrpc"] = json!("1.0")), 400, -32600, json!(1));
    check(&edited(&|r| r["method"] = json!(5)), 400, -32600, json!(1));
    check(&edited(&|r| r["id"] = json!({})), 400, -32600, Value::Null);
    check(&edited(&|r| drop(r.as_object_mut().unwrap().remove("id"))), 400, -32600, Value::Null);
    check(&edited(&|r| r["method"] = json!("dance")), 200, -32601, json!(1));
    check(&edited(&|r| r["params"] = json!([1, 2])), 200, -32602, json!(1));
    check(&edited(&|r| drop(r.as_object_mut().unwrap().remove("params"))), 200, -32602, json!(1));
    check("[]", 400, -32600, Value::Null);
    let batch = vec![ping(); 101];
    check(&Value::Array(batch).to_string(), 400, -32600, Value::Null);

    let stamp = Stamp::new("player:P01", "conv-ping", "");
    let mut enveloped = Shape::Enveloped.request(("ping", "PING"), &stamp, json!({}));
    enveloped["method"] = json!("ping");
    check(&enveloped.to_string(), 200, -32601, json!(1));
}

#[test]
fn a_batch_is_answered_element_by_element() {
    let stage = Stage::open(&Plan::on_command(2));
    let mut unknown = ping();
    unknown["method"] = json!("dance");
    unknown["id"] = json!(2);
    let reply = stage.send(&json!([ping(), unknown, 3]));
    assert_eq!(reply.status, 200);
    let answers = reply.json();
    assert_eq!(answers.as_array().unwrap().len(), 3);
    let answer = |id: Value| {
        let found = answers.as_array().unwrap().iter().find(|answer| answer["id"] == id);
        found.unwrap_or_else(|| panic!("no answer to {id}: {answers}")).clone()
    };
    assert_eq!(answer(json!(1))["result"]["message_type"], "PONG");
    assert_eq!(answer(json!(2))["error"]["code"], -32601);
    assert_eq!(answer(Value::Null)["error"]["code"], -32600);

    let hundred = Value::Array(vec![ping(); 100]);
    assert_eq!(stage.send(&hundred).json().as_array().unwrap().len(), 100);
}

// req: ARCH-1
#[test]
fn the_door_takes_only_json_posts_of_a_reasonable_size() {
    let stage = Stage::open(&Plan::on_command(2));
    let reply = rpc::page(stage.address, "GET", "/mcp");
    assert_eq!(reply.status, 405);
    assert!(reply.head.to_ascii_lowercase().contains("allow: post"), "{}", reply.head);
    let body = ping().to_string();
    for content_type in ["", "Content-Type: text/plain\r\n"] {
        let reply = post_as(stage.address, content_type, &body);
        assert_eq!(reply.status, 415);
        assert!(reply.body.contains("application/json"));
    }
    let with_charset = "Content-Type: Application/JSON; charset=utf-8\r\n";
    assert_eq!(post_as(stage.address, with_charset, &body).status, 200);
    let announced = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
         Content-Length: 2000000\r\n\r\n",
        stage.address
    );
    assert_eq!(rpc::exchange(stage.address, &announced).status, 413);
    assert_eq!(rpc::page(stage.address, "GET", "/nowhere").status, 404);
}

// req: ARCH-6
#[test]
fn every_agent_says_that_it_is_well() {
    let mut stage = Stage::open(&Plan::on_command(2));
    let agents = [stage.address, stage.seat_referee(), stage.seat_player(House::Even)];
    for (address, name) in agents.into_iter().zip(["league_manager", "referee", "player"]) {
        let asked = league_agent::ambient::Mark::set();
        let reply = rpc::page(address, "GET", "/health");
        assert!(asked.elapsed().as_secs() < 1, "{name}");
        assert_eq!(reply.status, 200);
        let health = reply.json();
        assert_eq!((&health["status"], &health["agent"]), (&json!("ok"), &json!(name)));
        assert!(health["uptime_s"].as_u64().is_some_and(|seconds| seconds < 60), "{health}");
        assert_eq!(rpc::page(address, "GET", "/ready").status, 200, "{name}");
        let version = rpc::page(address, "GET", "/version").json();
        assert_eq!(version["version"], env!("CARGO_PKG_VERSION"));
        let head = rpc::page(address, "HEAD", "/health");
        assert_eq!((head.status, head.body.as_str()), (200, ""));
        assert_eq!(rpc::page(address, "HEAD", "/nowhere").status, 404);
    }
}

// req: WIRE-11
#[test]
fn the_manager_serves_the_published_schemas() {
    let stage = Stage::open(&Plan::on_command(2));
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/protocol");
    let index = rpc::page(stage.address, "GET", "/schemas/");
    assert_eq!(
        index.body,
        std::fs::read_to_string(format!("{folder}/schemas/index.json")).unwrap()
    );
    assert_eq!(rpc::page(stage.address, "GET", "/schemas").body, index.body);
    let mut count = 0;
    for list in index.json()["dialects"].as_object().unwrap().values() {
        for entry in list.as_array().unwrap() {
            let path = entry["schema"].as_str().unwrap();
            let page = rpc::page(stage.address, "GET", path);
            let file = std::fs::read_to_string(format!("{folder}{path}")).unwrap();
            assert_eq!((page.status, page.body), (200, file), "{path}");
            count += 1;
        }
    }
    assert!(count > 200, "{count}");

    let path = "/schemas/flat/game_invitation.json";
    let page = rpc::page(stage.address, "HEAD", path);
    assert_eq!((page.status, page.body.as_str()), (200, ""));
    assert!(page.head.contains("application/schema+json"), "{}", page.head);
    let lower = page.head.to_ascii_lowercase();
    let mark = lower.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap();
    let asked = |mark: &str| {
        let head = format!("GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n");
        rpc::exchange(stage.address, &format!("{head}If-None-Match: {mark}\r\n\r\n"))
    };
    assert_eq!((asked(mark).status, asked(mark).body.as_str()), (304, ""));
    assert_eq!(asked("\"other\"").status, 200);
    assert_eq!(rpc::page(stage.address, "GET", "/schemas/flat/nothing.json").status, 404);
}

#[test]
fn the_lower_case_type_is_a_method_too() {
    let stage = Stage::open(&Plan::on_command(2));
    let stranger = Stranger::player(Shape::Flat);
    let mut request = stranger.application(&stranger.meta());
    request["method"] = json!("league_register_request");
    let result = stage.send(&request).result();
    assert_eq!((&result["status"], &result["league_id"]), (&json!("ACCEPTED"), &json!(LEAGUE)));
}
