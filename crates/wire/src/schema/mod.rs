//! JSON Schemas of every message in every dialect, made from the table of fields.
//!
//! A schema asks for what the dialect's own document asks for, and describes what the others and
//! this league add. Fields that it does not know are allowed, as everywhere in the protocol.

mod rows;

use serde_json::{Map, Value, json};

use crate::dialect::{Dialect, needed_context};
use crate::envelope::PROTOCOL;
use crate::fields::Shape;
use crate::message::MessageType;
use rows::{ROWS, Row};

/// The language of the schemas.
const LANGUAGE: &str = "https://json-schema.org/draft/2020-12/schema";
/// Fields that are null in a match without a draw, or where nobody is meant.
const EMPTY: [&str; 5] =
    ["drawn_number", "number_parity", "choices.*", "affected_player", "rejection_reason"];

/// The name of a message's schema and example, such as `game_invitation.json`.
pub fn file_name(kind: MessageType) -> String {
    format!("{}.json", kind.name(Dialect::Flat).to_ascii_lowercase())
}

/// The type whose schema is called `name`.
pub fn find(name: &str) -> Option<MessageType> {
    let stem = name.strip_suffix(".json")?;
    let kind = MessageType::find(&stem.to_ascii_uppercase())?;
    (file_name(kind) == name).then_some(kind)
}

/// The list of all schemas: by dialect, the names of the messages and where their schemas are.
pub fn index() -> String {
    let of = |dialect: Dialect| {
        let entry = |kind: &MessageType| {
            let at = format!("/schemas/{dialect}/{}", file_name(*kind));
            json!({ "message": kind.name(dialect), "schema": at })
        };
        let all: Vec<Value> = MessageType::ALL.iter().map(entry).collect();
        (dialect.name().to_string(), Value::Array(all))
    };
    let dialects: Map<String, Value> = Dialect::ALL.into_iter().map(of).collect();
    pretty(&json!({ "language": LANGUAGE, "dialects": dialects }))
}

/// The schema of a message of type `kind` in `dialect`, as it goes over the wire.
pub fn of(dialect: Dialect, kind: MessageType) -> String {
    let message = message(dialect, kind);
    let name = kind.name(dialect);
    let id = json!({ "type": ["string", "integer", "null"] });
    let frame = |inner: Vec<(&str, Value)>| {
        let mut properties = Map::from_iter([("jsonrpc".to_string(), json!({ "const": "2.0" }))]);
        properties.insert("id".into(), id.clone());
        let names = inner.iter().map(|(name, _)| *name);
        let required: Vec<&str> = ["jsonrpc", "id"].into_iter().chain(names).collect();
        let required = json!(required);
        properties.extend(inner.into_iter().map(|(name, schema)| (name.to_string(), schema)));
        json!({ "type": "object", "properties": properties, "required": required })
    };
    let mut schema = match place(kind) {
        Place::Request => {
            let params = carried(dialect, kind, message);
            frame(vec![("method", json!({ "const": kind.method(dialect) })), ("params", params)])
        }
        Place::Result => frame(vec![("result", answered(dialect, message))]),
        Place::Error => frame(vec![("error", error(message))]),
    };
    schema["$schema"] = LANGUAGE.into();
    schema["$id"] = format!("/schemas/{dialect}/{}", file_name(kind)).into();
    schema["title"] = format!("{name} in the dialect {dialect}").into();
    pretty(&schema)
}

fn pretty(json: &Value) -> String {
    format!("{json:#}\n")
}

/// Which part of a JSON-RPC frame a message usually is.
enum Place {
    Request,
    Result,
    Error,
}

fn place(kind: MessageType) -> Place {
    use MessageType as Type;
    match kind {
        Type::LeagueError => Place::Error,
        Type::RefereeRegisterResponse
        | Type::LeagueRegisterResponse
        | Type::StartMatchAck
        | Type::MatchProgressAck
        | Type::AssignedMatches
        | Type::GameJoinAck
        | Type::ChooseParityResponse
        | Type::GameMoveResponse
        | Type::GameOverAck
        | Type::MatchResultAck
        | Type::LeagueQueryResponse
        | Type::Pong
        | Type::Ack => Place::Result,
        Type::RefereeRegisterRequest
        | Type::LeagueRegisterRequest
        | Type::StartLeague
        | Type::RoundAnnouncement
        | Type::RoundCompleted
        | Type::RoundStart
        | Type::RoundResult
        | Type::StartMatch
        | Type::MatchProgress
        | Type::GetAssignedMatches
        | Type::GameInvitation
        | Type::GameStart
        | Type::ChooseParityCall
        | Type::GameMoveCall
        | Type::GameOver
        | Type::MatchResultReport
        | Type::LeagueStandingsUpdate
        | Type::LeagueCompleted
        | Type::LeagueQuery
        | Type::SuspensionNotice
        | Type::Ping
        | Type::GameError => Place::Request,
    }
}

/// The parameters of a request around `message`.
fn carried(dialect: Dialect, kind: MessageType, message: Value) -> Value {
    match dialect {
        Dialect::Tool => {
            let name = json!({ "const": kind.method(Dialect::Flat) });
            object(vec![("name", name), ("arguments", message)])
        }
        Dialect::Wrapped => object(vec![("message", message)]),
        Dialect::Flat | Dialect::Typed | Dialect::V21 | Dialect::Enveloped | Dialect::Payload => {
            message
        }
    }
}

/// The result of a response around `message`.
fn answered(dialect: Dialect, message: Value) -> Value {
    if dialect == Dialect::Tool {
        return object(vec![("structuredContent", message)]);
    }
    message
}

fn error(message: Value) -> Value {
    let (code, text) = (json!({ "type": "integer" }), json!({ "type": "string" }));
    object(vec![("code", code), ("message", text), ("data", message)])
}

/// An object that must have these fields.
fn object(fields: Vec<(&str, Value)>) -> Value {
    let required: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let required = json!(required);
    let properties: Map<String, Value> =
        fields.into_iter().map(|(name, schema)| (name.into(), schema)).collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

/// The documents whose rows make up a dialect; what the first asks for must be there.
const fn documents(dialect: Dialect) -> [&'static str; 5] {
    match dialect {
        Dialect::Flat | Dialect::Tool | Dialect::Wrapped => ["000", "003", "002", "001", "league"],
        Dialect::Typed => ["003", "000", "002", "001", "league"],
        Dialect::V21 => ["002", "000", "003", "001", "league"],
        Dialect::Enveloped => ["001", "000", "003", "002", "league"],
        Dialect::Payload => ["004", "000", "003", "002", "league"],
    }
}

/// What `kind` is called in the rows of `document`.
const fn name_in(document: &str, kind: MessageType) -> &'static str {
    match document.as_bytes() {
        b"002" => kind.name(Dialect::V21),
        b"004" => kind.name(Dialect::Payload),
        _ => kind.name(Dialect::Flat),
    }
}

/// The message itself.
fn message(dialect: Dialect, kind: MessageType) -> Value {
    let is_answer = !matches!(place(kind), Place::Request);
    let place = if is_answer { "result" } else { "request" };
    let (mut around, mut body) = (Node::default(), Node::default());
    let shape = dialect.shape();
    let documents = documents(dialect);
    let is_of = |row: &Row, document: &str| {
        row.document == document && row.place == place && row.message == name_in(document, kind)
    };
    // The first document that says anything about the content says what must be there.
    let says = |document: &&&str| {
        ROWS.iter().any(|row| is_of(row, document) && !Shape::Apart.is_in_envelope(row.head()))
    };
    let first = documents.iter().find(says).unwrap_or(&documents[0]);
    for document in &documents {
        for row in ROWS.iter().filter(|row| is_of(row, document)) {
            // Document 004 has one message for the table as it is and as it will stay.
            let is_final = dialect == Dialect::Payload && row.head() == "final_standings";
            let field = if is_final { &row.field["final_".len()..] } else { row.field };
            let is_needed = document == first || *document == documents[0];
            side(shape, row, &mut around, &mut body).add(row, field, is_needed);
        }
    }
    let is_envelope = |row: &Row, document: &str| {
        row.message == "*" && row.document == document && row.place == place
    };
    let has_envelope = |document: &&&str| ROWS.iter().any(|row| is_envelope(row, document));
    let own = documents.iter().find(has_envelope).unwrap_or(&documents[0]);
    for row in ROWS.iter().filter(|row| is_envelope(row, own)) {
        side(shape, row, &mut around, &mut body).add(row, row.field, true);
    }
    if dialect == Dialect::Enveloped && !is_answer {
        needed_context(kind).iter().for_each(|name| around.at(name).required = true);
    }
    let field = if dialect == Dialect::Payload { "type" } else { "message_type" };
    let named = if shape.is_some() { &mut around } else { &mut body };
    named.fix(field, kind.name(dialect));
    named.fix("protocol", PROTOCOL);
    match shape {
        None => body.schema(),
        Some(Shape::Apart) => {
            object(vec![("envelope", around.schema()), ("payload", body.schema())])
        }
        Some(Shape::Payload) => {
            around.put("payload", body);
            around.schema()
        }
    }
}

/// The part of the message in which the row's field stands.
fn side<'n>(
    shape: Option<Shape>,
    row: &Row,
    around: &'n mut Node,
    body: &'n mut Node,
) -> &'n mut Node {
    let is_around = shape.is_some_and(|shape| shape.is_in_envelope(row.head()));
    if is_around { around } else { body }
}

/// A value in the making: what it may be, and what is inside.
#[derive(Debug, Default)]
struct Node {
    types: Vec<&'static str>,
    /// The words that are allowed; none if any are.
    values: Option<Vec<&'static str>>,
    fixed: Option<&'static str>,
    required: bool,
    /// Fields, elements (`[]`) and values of a map (`*`).
    inner: Vec<(String, Self)>,
    /// Fields that must be there if another one has a certain value.
    conditions: Vec<(&'static str, &'static str)>,
}

impl Node {
    fn at(&mut self, name: &str) -> &mut Self {
        let place = self.inner.iter().position(|(known, _)| known == name);
        let place = place.unwrap_or_else(|| {
            self.inner.push((name.into(), Self::default()));
            self.inner.len() - 1
        });
        &mut self.inner[place].1
    }

    fn put(&mut self, name: &str, node: Self) {
        *self.at(name) = Self { required: true, ..node };
    }

    fn fix(&mut self, name: &str, value: &'static str) {
        self.at(name).fixed = Some(value);
    }

    fn add(&mut self, row: &Row, field: &str, is_needed: bool) {
        let condition = row.when.filter(|when| when.contains('='));
        if let Some(condition) = condition.filter(|_| row.required && !row.field.contains('.')) {
            self.conditions.push((condition, row.field));
        }
        let parts = field.split('.').flat_map(|part| match part.strip_suffix("[]") {
            Some(list) => vec![list, "[]"],
            None => vec![part],
        });
        let node = parts.fold(self, |node, part| node.at(part));
        let is_first = node.types.is_empty();
        let types = row.types.split('|').map(json_type);
        // Rounds are numbers, or words such as "R1".
        let is_round = row.field.ends_with("round_id");
        let types = types.chain(is_round.then_some(["integer", "string"]).into_iter().flatten());
        let types = types.chain(EMPTY.iter().any(|end| row.field.ends_with(end)).then_some("null"));
        for name in types {
            if !node.types.contains(&name) {
                node.types.push(name);
            }
        }
        node.values = match (node.values.take(), row.values.is_empty()) {
            (_, true) => None,
            (None, false) if is_first => Some(row.values.clone()),
            (None, false) => None,
            (Some(mut known), false) => {
                known.extend(
                    row.values
                        .iter()
                        .filter(|value| !known.contains(value))
                        .copied()
                        .collect::<Vec<_>>(),
                );
                Some(known)
            }
        };
        node.required |= is_needed && row.required && row.when.is_none();
    }

    fn schema(&self) -> Value {
        if let Some(fixed) = self.fixed {
            return json!({ "const": fixed });
        }
        let mut schema = Map::new();
        let is_any = self.types.contains(&"any");
        match self.types.as_slice() {
            _ if is_any => {}
            [] => drop(schema.insert("type".into(), "object".into())),
            [one] => drop(schema.insert("type".into(), (*one).into())),
            several => drop(schema.insert("type".into(), json!(several))),
        }
        if let Some(values) = self.values.as_ref().filter(|_| !is_any) {
            let nothing = self.types.contains(&"null").then_some(Value::Null);
            let words = values.iter().map(|word| Value::from(*word)).chain(nothing);
            schema.insert("enum".into(), words.collect());
        }
        self.fields(&mut schema);
        Value::Object(schema)
    }

    /// What is inside an object, a list or a map.
    fn fields(&self, schema: &mut Map<String, Value>) {
        let of = |name: &str| self.inner.iter().find(|(known, _)| known == name);
        if let Some((_, each)) = of("[]") {
            schema.insert("items".into(), each.schema());
        }
        if let Some((_, each)) = of("*") {
            schema.insert("additionalProperties".into(), each.schema());
        }
        let named = self.inner.iter().filter(|(name, _)| name != "[]" && name != "*");
        let properties: Map<String, Value> =
            named.clone().map(|(name, node)| (name.clone(), node.schema())).collect();
        let required: Vec<&String> =
            named.filter(|(_, node)| node.required).map(|(name, _)| name).collect();
        if !required.is_empty() {
            schema.insert("required".into(), json!(required));
        }
        if !properties.is_empty() {
            schema.insert("properties".into(), Value::Object(properties));
        }
        let conditions: Vec<Value> = self.conditions.iter().filter_map(condition).collect();
        if !conditions.is_empty() {
            schema.insert("allOf".into(), Value::Array(conditions));
        }
    }
}

/// A field that must be there if another one has a certain value.
fn condition((when, field): &(&'static str, &'static str)) -> Option<Value> {
    let (name, value) = when.split_once('=').filter(|(name, _)| !name.contains('.'))?;
    let is_so = json!({ "properties": { name: { "const": value } }, "required": [name] });
    Some(json!({ "if": is_so, "then": { "required": [field] } }))
}

/// The type of JSON that holds a row's type.
fn json_type(name: &'static str) -> &'static str {
    match name {
        "timestamp" | "url" | "uuid" => "string",
        "list" => "array",
        other => other,
    }
}
