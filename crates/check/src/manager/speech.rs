//! How each document nests and names a message, both ways: what the checker says to a manager, and
//! what it hears. It reads no more into an answer than stands there.

use league_agent::exchange::random_hex;
use league_wire::{Dialect, MessageType};
use serde_json::{Map, Value, json};

/// Who says something, in which conversation, and what proves it.
#[derive(Debug, Clone)]
pub(super) struct Stamp {
    /// The sender as it is written, such as `player:P01`.
    pub(super) sender: String,
    /// The conversation.
    pub(super) conversation: String,
    /// The token; an empty text where there is none yet.
    pub(super) token: String,
    /// The time as it is written.
    pub(super) timestamp: String,
}

/// A way to write messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Speech(pub(super) Dialect);

/// Fields of the envelope, and those that document 001 puts beside them.
const ENVELOPE: [&str; 5] = ["protocol", "message_type", "sender", "timestamp", "conversation_id"];
const CONTEXT: [&str; 5] = ["auth_token", "league_id", "round_id", "match_id", "game_type"];

impl Speech {
    /// The request that says `kind` with `fields`.
    pub(super) fn request(self, kind: MessageType, stamp: &Stamp, fields: Value) -> Value {
        let mut all = json!({
            "protocol": "league.v2",
            "message_type": kind.name(self.0),
            "sender": stamp.sender,
            "timestamp": stamp.timestamp,
            "conversation_id": stamp.conversation,
            "auth_token": stamp.token,
        });
        if self.0 == Dialect::Payload {
            all["message_id"] = json!(uuid());
        }
        merge(&mut all, fields);
        let mut params = json!({});
        for (name, value) in object(all) {
            // 001 and 004 have the token only where there is one.
            let is_optional = matches!(self.0, Dialect::Enveloped | Dialect::Payload);
            if name == "auth_token" && value == "" && is_optional {
                continue;
            }
            put(&mut params, &self.path(&name), value);
        }
        for part in self.parts() {
            params.as_object_mut().expect("just made").entry(*part).or_insert_with(|| json!({}));
        }
        if self.0 == Dialect::Tool {
            params["name"] = json!(kind.method(Dialect::Flat));
        }
        json!({"jsonrpc": "2.0", "method": kind.method(self.0), "params": params, "id": 1})
    }

    /// The result that says `kind` with `fields`.
    pub(super) fn result(self, kind: MessageType, stamp: &Stamp, fields: Value) -> Value {
        let params = self.request(kind, stamp, fields)["params"].take();
        match self.0 {
            Dialect::Tool => {
                let message = &params["arguments"];
                let text = json!({"type": "text", "text": message.to_string()});
                json!({"content": [text], "structuredContent": message})
            }
            Dialect::Wrapped => params["message"].clone(),
            Dialect::Flat
            | Dialect::Typed
            | Dialect::V21
            | Dialect::Enveloped
            | Dialect::Payload => params,
        }
    }

    /// Objects that are there even if they hold nothing.
    const fn parts(self) -> &'static [&'static str] {
        match self.0 {
            Dialect::Enveloped => &["envelope", "payload"],
            Dialect::Payload => &["payload"],
            Dialect::Flat | Dialect::Typed | Dialect::V21 | Dialect::Tool | Dialect::Wrapped => &[],
        }
    }

    /// Where the field called `name` stands, counted from `params`.
    pub(super) fn path(self, name: &str) -> Vec<String> {
        let own = |parts: &[&str]| parts.iter().map(|part| (*part).to_string()).collect();
        match self.0 {
            Dialect::Flat | Dialect::Typed | Dialect::V21 => own(&[name]),
            Dialect::Tool => own(&["arguments", name]),
            Dialect::Wrapped => own(&["message", name]),
            Dialect::Enveloped if ENVELOPE.contains(&name) || CONTEXT.contains(&name) => {
                own(&["envelope", name])
            }
            Dialect::Enveloped => own(&["payload", name]),
            Dialect::Payload => match name {
                "message_type" => own(&["type"]),
                "protocol" | "sender" | "timestamp" | "auth_token" | "message_id" => own(&[name]),
                _ => own(&["payload", name]),
            },
        }
    }

    /// The same as people write it, such as `params.envelope.sender`.
    pub(super) fn shown(self, name: &str) -> String {
        format!("params.{}", self.path(name).join("."))
    }

    /// Sets a field of a request.
    pub(super) fn set(self, request: &mut Value, name: &str, value: Value) {
        put(&mut request["params"], &self.path(name), value);
    }

    /// Takes a field out of a request. A dot leads into an object.
    pub(super) fn remove(self, request: &mut Value, name: &str) {
        let (first, inner) = name.split_once('.').unwrap_or((name, ""));
        let mut path = self.path(first);
        path.extend((!inner.is_empty()).then(|| inner.to_string()));
        let Some((last, before)) = path.split_last() else { return };
        let parent = before.iter().fold(&mut request["params"], |at, part| &mut at[part]);
        if let Some(parent) = parent.as_object_mut() {
            parent.remove(last);
        }
    }

    /// A message of this dialect with all its fields side by side; why not, if it is none.
    pub(super) fn opened(self, message: &Value) -> Result<Value, String> {
        match self.0 {
            Dialect::Flat | Dialect::Typed | Dialect::V21 | Dialect::Wrapped => plain(message),
            Dialect::Tool => plain(&content(message)),
            Dialect::Enveloped => {
                let (envelope, payload) = (&message["envelope"], &message["payload"]);
                if !envelope.is_object() || !payload.is_object() {
                    return Err("it has no `envelope` and `payload`".into());
                }
                let mut all = payload.clone();
                merge(&mut all, envelope.clone());
                Ok(all)
            }
            Dialect::Payload => {
                let payload = &message["payload"];
                if !payload.is_object() || !message["type"].is_string() {
                    return Err("it has no `type` and `payload`".into());
                }
                let mut all = payload.clone();
                merge(&mut all, message.clone());
                all["message_type"] = all["type"].clone();
                Ok(all)
            }
        }
    }

    /// The same for what a manager calls an agent with.
    pub(super) fn opened_params(self, params: &Value) -> Result<Value, String> {
        match self.0 {
            Dialect::Tool => plain(&params["arguments"]),
            Dialect::Wrapped => plain(&params["message"]),
            Dialect::Flat
            | Dialect::Typed
            | Dialect::V21
            | Dialect::Enveloped
            | Dialect::Payload => self.opened(params),
        }
    }

    /// The same for the data of an error, which no carrier wraps.
    pub(super) fn opened_error(self, data: &Value) -> Result<Value, String> {
        match self.0 {
            Dialect::Tool | Dialect::Wrapped => plain(data),
            Dialect::Flat
            | Dialect::Typed
            | Dialect::V21
            | Dialect::Enveloped
            | Dialect::Payload => self.opened(data),
        }
    }

    /// The method by which a manager calls an agent of this dialect to say `kind`.
    pub(super) fn method_of(self, request: &Value) -> String {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
        match self.0 {
            Dialect::Tool => text(&request["params"]["name"]),
            Dialect::Flat
            | Dialect::Typed
            | Dialect::V21
            | Dialect::Enveloped
            | Dialect::Payload
            | Dialect::Wrapped => text(&request["method"]),
        }
    }

    /// The method by which an agent of this dialect expects `kind`.
    pub(super) const fn expected_method(self, kind: MessageType) -> &'static str {
        match self.0 {
            Dialect::Tool => kind.method(Dialect::Flat),
            dialect @ (Dialect::Flat
            | Dialect::Typed
            | Dialect::V21
            | Dialect::Enveloped
            | Dialect::Payload
            | Dialect::Wrapped) => kind.method(dialect),
        }
    }
}

/// A message whose fields stand side by side.
fn plain(message: &Value) -> Result<Value, String> {
    if message["message_type"].is_string() {
        Ok(message.clone())
    } else {
        Err("it has no `message_type`".into())
    }
}

/// What a tool answers with: the first place that is filled.
fn content(result: &Value) -> Value {
    if result["structuredContent"].is_object() {
        return result["structuredContent"].clone();
    }
    let text = result["content"][0]["text"].as_str();
    let read = text.and_then(|text| serde_json::from_str(text).ok());
    read.unwrap_or_else(|| result.clone())
}

/// Puts the fields of `more` into the object `into`.
pub(super) fn merge(into: &mut Value, more: Value) {
    if let Value::Object(fields) = into {
        fields.extend(object(more));
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::new()
        }
    }
}

/// Sets what `path` leads to; objects on the way are made.
fn put(into: &mut Value, path: &[String], value: Value) {
    let place = path.iter().fold(into, |at, part| &mut at[part]);
    *place = value;
}

/// A random UUID of version 4.
fn uuid() -> String {
    let hex = random_hex();
    format!("{}-{}-4{}-a{}-{}", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..])
}
