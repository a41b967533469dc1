//! Whoever speaks a dialect is answered in it, whatever there is to say.

use serde_json::{Value, json};

use crate::rpc::Reply;
use crate::stage::{LEAGUE, Plan, Stage};

/// A dialect as somebody else would write it down: names, nesting and carrier.
struct Tongue {
    name: &'static str,
    /// What it calls a registration and its answer.
    register: (&'static str, &'static str),
    /// The code for an unknown sender, and its number.
    unknown: (&'static str, i64),
    write: fn(&str, Value) -> Value,
    /// Envelope and fields side by side.
    read: fn(&Value) -> Value,
}

const ID: &str = "7d0c2a56-1f4b-4c83-9e6a-2b5d8f0e1a37";
const REGISTER: (&str, &str) = ("LEAGUE_REGISTER_REQUEST", "LEAGUE_REGISTER_RESPONSE");
const E005: (&str, i64) = ("E005", -32005);

const TONGUES: [Tongue; 7] = [
    Tongue {
        name: "flat",
        register: REGISTER,
        unknown: E005,
        write: |kind, fields| framed(method(kind), beside(kind, fields)),
        read: Value::clone,
    },
    Tongue {
        name: "typed",
        register: REGISTER,
        unknown: E005,
        write: |kind, fields| framed(kind, beside(kind, fields)),
        read: Value::clone,
    },
    Tongue {
        name: "v21",
        register: REGISTER,
        unknown: E005,
        write: |kind, fields| framed(method(kind), beside(kind, fields)),
        read: Value::clone,
    },
    Tongue {
        name: "enveloped",
        register: REGISTER,
        unknown: E005,
        write: |kind, fields| {
            let mut envelope = beside(kind, json!({}));
            envelope["league_id"] = fields["league_id"].clone();
            framed("league.handle", json!({"envelope": envelope, "payload": fields}))
        },
        read: |it| joined(&it["envelope"], &it["payload"]),
    },
    Tongue {
        name: "payload",
        register: ("PLAYER_REGISTER_REQUEST", "PLAYER_REGISTER_RESPONSE"),
        unknown: ("L004", -32054),
        write: |kind, fields| {
            let letter = json!({
                "protocol": "league.v2", "message_id": ID, "type": kind,
                "sender": "player:P77", "timestamp": "2025-01-01T00:00:00.000Z",
                "auth_token": token(kind), "payload": fields,
            });
            framed(kind, letter)
        },
        read: |it| {
            assert_eq!(it["correlation_id"], ID);
            let mut fields = joined(it, &it["payload"]);
            fields["message_type"] = it["type"].clone();
            fields
        },
    },
    Tongue {
        name: "tool",
        register: REGISTER,
        unknown: E005,
        write: |kind, fields| {
            let arguments = beside(kind, fields);
            framed("tools/call", json!({"name": method(kind), "arguments": arguments}))
        },
        read: |it| it.get("structuredContent").unwrap_or(it).clone(),
    },
    Tongue {
        name: "wrapped",
        register: REGISTER,
        unknown: E005,
        write: |kind, fields| framed("handle_message", json!({"message": beside(kind, fields)})),
        read: Value::clone,
    },
];

fn method(kind: &str) -> &'static str {
    if kind == "LEAGUE_QUERY" { "league_query" } else { "register_player" }
}

/// Whoever registers has none.
fn token(kind: &str) -> &'static str {
    if kind == "LEAGUE_QUERY" { "tok_nobody" } else { "" }
}

fn framed(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params, "id": 5})
}

fn beside(kind: &str, fields: Value) -> Value {
    let envelope = json!({
        "protocol": "league.v2", "message_type": kind, "sender": "player:P77",
        "timestamp": "2025-01-01T00:00:00Z", "conversation_id": "conv1", "auth_token": token(kind),
    });
    joined(&envelope, &fields)
}

fn joined(one: &Value, other: &Value) -> Value {
    let mut all = one.as_object().unwrap().clone();
    all.extend(other.as_object().unwrap().clone());
    all.into()
}

impl Tongue {
    fn told(&self, reply: &Reply) -> Value {
        assert!(!reply.body.contains("tok_nobody"), "{}", reply.body);
        let error = reply.error();
        let mut told = (self.read)(&error["data"]);
        told["number"] = error["code"].clone();
        told
    }

    fn register(&self, stage: &Stage, meta: Value) -> Reply {
        let fields = json!({"player_meta": meta, "league_id": LEAGUE});
        stage.send(&(self.write)(self.register.0, fields))
    }

    fn meta(&self) -> Value {
        // Nobody listens there, and nobody needs to.
        let endpoint = format!("http://127.0.0.1:9/{}/mcp", self.name);
        json!({
            "display_name": self.name, "version": "1.0.0", "game_types": ["even_odd"],
            "contact_endpoint": endpoint, "dialect": self.name,
        })
    }
}

// req: ERR-2, WIRE-8
#[test]
fn an_error_has_the_shape_and_the_code_of_whoever_asked() {
    let stage = Stage::open(&Plan::players(2));
    for tongue in &TONGUES {
        let query = json!({"query_type": "GET_STANDINGS", "league_id": LEAGUE});
        let told = tongue.told(&stage.send(&(tongue.write)("LEAGUE_QUERY", query)));
        let (code, number) = tongue.unknown;
        assert_eq!(told["error_code"], code, "{}: {told}", tongue.name);
        assert_eq!(told["number"], number, "{}", tongue.name);
        assert_eq!(told["message_type"], "LEAGUE_ERROR", "{}", tongue.name);
    }
}

// req: ERR-2
#[test]
fn what_cannot_be_read_is_refused_in_the_shape_in_which_it_came() {
    let stage = Stage::open(&Plan::players(2));
    for tongue in &TONGUES {
        let mut meta = tongue.meta();
        meta.as_object_mut().unwrap().remove("version");
        let told = tongue.told(&tongue.register(&stage, meta));
        assert_eq!(told["error_code"], "E003", "{}", tongue.name);
        let field = told["context"]["field"].as_str().unwrap();
        assert!(field.ends_with("player_meta.version"), "{}: {field}", tongue.name);
        assert_eq!(told["context"]["fix"], format!("add `{field}`"), "{}", tongue.name);
    }
}

// req: REG-4
#[test]
fn a_registration_is_answered_in_the_words_of_its_document() {
    let stage = Stage::open(&Plan::players(u32::try_from(TONGUES.len()).unwrap()));
    for tongue in &TONGUES {
        let meta = joined(&tongue.meta(), &json!({"protocol_version": "1.0.0"}));
        let told = (tongue.read)(&tongue.register(&stage, meta).result());
        assert_eq!(told["status"], "REJECTED", "{}: {told}", tongue.name);
        let code = if tongue.name == "payload" { "L001" } else { "E018" };
        assert_eq!(told["error_code"], code, "{}: {told}", tongue.name);
    }
    for (number, tongue) in (1..).zip(&TONGUES) {
        let told = (tongue.read)(&tongue.register(&stage, tongue.meta()).result());
        assert_eq!(told["message_type"], tongue.register.1, "{}", tongue.name);
        assert_eq!(told["status"], "ACCEPTED", "{}: {told}", tongue.name);
        assert_eq!(told["player_id"], format!("P{number:02}"), "{}", tongue.name);
    }
}
