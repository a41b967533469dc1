//! Fields of valid messages are moved, renamed, nested and contradicted at random: what comes of it
//! is understood as it was meant, or refused.

use std::collections::{BTreeMap, BTreeSet};

use league_core::time::Timestamp;
use league_wire::dialect::{decode_request, encode_request, encode_result};
use league_wire::frame::{self, Incoming};
use league_wire::lenient::{Asked, read_answer, read_request};
use league_wire::{Dialect, Envelope, Id, Letter, MessageType, Reply};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use serde_json::{Map, Value, json};

use crate::{meaning, rolls};

const NOW: Timestamp = Timestamp::from_millis(1_736_937_000_000);
/// The types that strangers send us.
const ASKED: [MessageType; 9] = [
    MessageType::LeagueRegisterRequest,
    MessageType::RefereeRegisterRequest,
    MessageType::MatchResultReport,
    MessageType::MatchProgress,
    MessageType::LeagueQuery,
    MessageType::GetAssignedMatches,
    MessageType::GameJoinAck,
    MessageType::ChooseParityResponse,
    MessageType::GameMoveResponse,
];
const ANSWERED: [MessageType; 5] = [
    MessageType::GameJoinAck,
    MessageType::ChooseParityResponse,
    MessageType::GameMoveResponse,
    MessageType::GameOverAck,
    MessageType::StartMatchAck,
];
const WRAPPERS: [&str; 5] = ["response", "data", "payload", "message", UNKNOWN];
/// What nobody takes for an envelope.
const UNKNOWN: &str = "box";
const SYNONYMS: [(&str, &str); 8] = [
    ("parity_choice", "move"),
    ("move_data", "move"),
    ("contact_endpoint", "endpoint_url"),
    ("display_name", "name"),
    ("accept", "accepted"),
    ("message_type", "type"),
    ("league_id", "league"),
    ("contact_email", "email"),
];

/// A case: what is said, how, and what is done to it.
#[derive(Debug, Clone)]
struct Case {
    letter: Letter,
    other: Letter,
    dialect: Dialect,
    asks: bool,
    strokes: Vec<Stroke>,
}

fn cases() -> impl Strategy<Value = Case> {
    let strokes = prop::collection::vec(strokes(0..6), 1..5);
    let kinds = prop_oneof![
        select(&ASKED[..]).prop_map(|kind| (kind, true)),
        select(&ANSWERED[..]).prop_map(|kind| (kind, false)),
    ];
    drawn(kinds, strokes)
}

/// Registrations in which little is moved or renamed, so that what is left is often one that the
/// strict reading takes.
fn registrations() -> impl Strategy<Value = Case> {
    let strokes = prop_oneof![strokes(0..1), strokes(2..4), strokes(5..6)];
    let kinds = select(&ASKED[..2]).prop_map(|kind| (kind, true));
    drawn(kinds, prop::collection::vec(strokes, 1..3))
}

type Stroke = (u8, usize, usize, usize);

fn strokes(kinds: std::ops::Range<u8>) -> impl Strategy<Value = Stroke> {
    (kinds, 0..64_usize, 0..64_usize, 0..64_usize)
}

fn drawn(
    kinds: impl Strategy<Value = (MessageType, bool)>,
    strokes: impl Strategy<Value = Vec<Stroke>>,
) -> impl Strategy<Value = Case> {
    (kinds, any::<[u64; 2]>(), select(&Dialect::ALL[..]), strokes).prop_map(
        |((kind, asks), seeds, dialect, strokes)| {
            let [letter, other] = seeds.map(|seed| rolls::letter(kind, seed));
            Case { letter, other, dialect, asks, strokes }
        },
    )
}

/// A message that was moved about.
struct Moved {
    frame: Value,
    /// Names that nobody could recognise any more.
    lost: BTreeSet<String>,
}

impl Case {
    fn encoded(&self, letter: &Letter) -> Value {
        let bytes = if self.asks {
            encode_request(self.dialect, 1, letter)
        } else {
            encode_result(self.dialect, &1.into(), letter)
        };
        let mut frame: Value = serde_json::from_slice(&bytes).unwrap();
        if let Some(result) = frame.get_mut("result").and_then(Value::as_object_mut)
            && result.contains_key("structuredContent")
        {
            result.remove("content");
        }
        frame
    }

    fn registers(&self) -> bool {
        kind_registers(self.letter.message.kind())
    }

    /// The objects that a message of this form consists of.
    fn places(&self, frame: &Value) -> Vec<String> {
        let base = match (self.asks, self.dialect) {
            (true, Dialect::Tool) => "/params/arguments",
            (true, Dialect::Wrapped) => "/params/message",
            (true, _) => "/params",
            (false, Dialect::Tool) => "/result/structuredContent",
            (false, _) => "/result",
        };
        let inner = ["", "/envelope", "/payload", "/player_meta", "/referee_meta"];
        let inner = inner.map(|end| format!("{base}{end}"));
        let deeper = ["player_meta", "referee_meta"].map(|end| format!("{base}/payload/{end}"));
        let results = ["", "/payload"].map(|end| format!("{base}{end}/result"));
        let all = inner.into_iter().chain(deeper).chain(results);
        all.filter(|at| frame.pointer(at).is_some_and(Value::is_object)).collect()
    }

    fn moved(&self) -> Moved {
        let (mut frame, decoys) = (self.encoded(&self.letter), self.encoded(&self.other));
        let mut lost = BTreeSet::new();
        let mut contradicted = BTreeSet::new();
        for &(stroke, place, name, target) in &self.strokes {
            let places = self.places(&frame);
            let from = &places[place % places.len()];
            let to = match target % (places.len() + 2) {
                0 => "",
                1 => {
                    if self.asks {
                        "/params"
                    } else {
                        "/result"
                    }
                }
                n => &places[n - 2],
            };
            let Some(name) = picked(&frame, from, name) else { continue };
            match stroke {
                0 => shift(&mut frame, (from, &name), to),
                1 => {
                    let wrapper = WRAPPERS[target % WRAPPERS.len()];
                    let inside: Vec<_> = frame.pointer(from).into_iter().flat_map(names).collect();
                    if wrapper == UNKNOWN {
                        if inside.iter().any(|name| contradicted.contains(name)) {
                            continue;
                        }
                        lost.extend(inside);
                    }
                    nest(&mut frame, from, wrapper);
                }
                2 => rename(&mut frame, from, &name, &camel(&name)),
                3 => {
                    let is_known =
                        |known: &str| known == name && (name != "league_id" || self.registers());
                    let known = SYNONYMS.iter().find(|(known, _)| is_known(known));
                    let other =
                        known.map_or_else(|| name.to_uppercase(), |(_, also)| (*also).into());
                    rename(&mut frame, from, &name, &other);
                }
                4 if !contradicted.contains(&plain(&name)) && is_leaf(&frame, from, &name) => {
                    rename(&mut frame, from, &name, &format!("x_{target}"));
                    lost.insert(plain(&name));
                }
                5 if to != from && !lost.contains(&plain(&name)) => {
                    let value = decoys.pointer(&format!("{from}/{name}")).cloned();
                    if let (Some(value), true) = (value, is_movable(&name)) {
                        set(&mut frame, to, &name, value);
                        contradicted.insert(plain(&name));
                    }
                }
                _ => {}
            }
        }
        Moved { frame, lost }
    }
}

/// Whether a field may be torn out of its object.
fn is_movable(name: &str) -> bool {
    !["payload", "envelope", "player_meta", "referee_meta", "result", "players"].contains(&name)
}

fn is_leaf(frame: &Value, at: &str, name: &str) -> bool {
    frame.pointer(&format!("{at}/{name}")).is_some_and(|value| !value.is_object())
}

fn picked(frame: &Value, at: &str, index: usize) -> Option<String> {
    let fields = frame.pointer(at)?.as_object()?;
    let names: Vec<&String> = fields.keys().filter(|name| is_movable(name)).collect();
    (!names.is_empty()).then(|| names[index % names.len()].clone())
}

fn object<'a>(frame: &'a mut Value, at: &str) -> Option<&'a mut Map<String, Value>> {
    frame.pointer_mut(at)?.as_object_mut()
}

fn set(frame: &mut Value, at: &str, name: &str, value: Value) {
    if let Some(fields) = object(frame, at)
        && !fields.contains_key(name)
    {
        fields.insert(name.into(), value);
    }
}

fn shift(frame: &mut Value, (from, name): (&str, &str), to: &str) {
    let is_free = object(frame, to).is_some_and(|fields| !fields.contains_key(name));
    if is_free && let Some(value) = object(frame, from).and_then(|fields| fields.remove(name)) {
        set(frame, to, name, value);
    }
}

fn rename(frame: &mut Value, at: &str, name: &str, other: &str) {
    let Some(fields) = object(frame, at) else { return };
    if !fields.contains_key(other)
        && let Some(value) = fields.remove(name)
    {
        fields.insert(other.into(), value);
    }
}

/// Every name in `value`.
fn names(value: &Value) -> Vec<String> {
    let fields = value.as_object().into_iter().flatten();
    fields.flat_map(|(name, inner)| names(inner).into_iter().chain([plain(name)])).collect()
}

/// Puts everything that stands at `at` into another object there.
fn nest(frame: &mut Value, at: &str, wrapper: &str) {
    if let Some(value) = frame.pointer_mut(at) {
        let inner = value.take();
        *value = json!({ wrapper: inner });
    }
}

fn camel(name: &str) -> String {
    let mut parts = name.split('_');
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |text, part| {
        let (head, rest) = part.split_at(part.len().min(1));
        format!("{text}{}{rest}", head.to_uppercase())
    })
}

/// A name without what people vary.
fn plain(name: &str) -> String {
    name.replace('_', "").to_lowercase()
}

/// What was understood of `frame`, if the strict reading refused it.
fn lenient(case: &Case, frame: &Value) -> Option<Letter> {
    let text = frame.to_string();
    if !case.asks {
        let id = Id::from(1);
        let expected = [case.letter.message.kind()];
        let asked = Asked { dialect: case.dialect, expected: &expected, id: &id };
        return read_answer(asked, text.as_bytes()).ok().map(|read| whole(read.meaning));
    }
    let Incoming::Single(Ok(request)) = frame::parse(text.as_bytes()) else { return None };
    if decode_request(&request).is_ok() {
        return None;
    }
    read_request(&request, NOW).ok().map(|read| read.meaning.letter)
}

fn whole(reply: Reply) -> Letter {
    let envelope = Envelope {
        sender: reply.envelope.sender.unwrap_or(league_wire::Sender::MANAGER),
        timestamp: reply.envelope.timestamp.unwrap_or(NOW),
        conversation: reply.envelope.conversation.unwrap_or_else(|| "none".parse().unwrap()),
        token: reply.envelope.token,
        league_id: reply.envelope.league_id,
    };
    Letter { envelope, message: reply.message }
}

/// What `read` says otherwise than the case's letter.
fn misread(case: &Case, read: &Letter, lost: &BTreeSet<String>) -> Option<String> {
    const FILLED: [&str; 4] = ["sender", "timestamp", "conversation_id", "auth_token"];
    let kind = case.letter.message.kind();
    if read.message.kind() != kind {
        return Some(format!("{:?}", read.message.kind()));
    }
    let (meant, told) = (meaning::told(case.dialect, &case.letter), read);
    let (meant, told) = (leaves(&meant), leaves(told));
    let is_forgiven = |path: &str| {
        let name = path.rsplit('.').next().unwrap_or_default();
        let is_filled = FILLED.contains(&name) && !path.contains(".result.");
        let gone = lost.iter().any(|lost| plain(path).contains(lost.as_str()));
        gone || is_filled && (!case.asks || kind_registers(kind)) && case.asks_nothing_of(name)
    };
    let wrong =
        told.iter().find(|(path, value)| meant.get(*path) != Some(*value) && !is_forgiven(path));
    let missing = meant.iter().find(|(path, _)| !told.contains_key(*path) && !is_forgiven(path));
    wrong.or(missing).map(|(path, value)| format!("{path} = {value}"))
}

impl Case {
    /// Whether a reader may do without this field of the envelope where the strokes broke it.
    fn asks_nothing_of(&self, name: &str) -> bool {
        name != "auth_token"
            && (!self.asks || kind_registers(self.letter.message.kind()))
            && !self.moved().frame.to_string().contains(&format!("\"{name}\":"))
    }
}

fn kind_registers(kind: MessageType) -> bool {
    matches!(kind, MessageType::LeagueRegisterRequest | MessageType::RefereeRegisterRequest)
}

/// Everything a letter says, by path.
fn leaves(letter: &Letter) -> BTreeMap<String, Value> {
    let bytes = encode_request(Dialect::Flat, 1, letter);
    let frame: Value = serde_json::from_slice(&bytes).unwrap();
    let mut found = BTreeMap::new();
    let mut open = vec![(String::new(), &frame["params"])];
    while let Some((at, value)) = open.pop() {
        match value {
            Value::Object(fields) if !fields.is_empty() => {
                open.extend(fields.iter().map(|(name, value)| (format!("{at}.{name}"), value)));
            }
            _ => {
                found.insert(at, value.clone());
            }
        }
    }
    found
}

fn judged(case: &Case, read: impl Fn(&Case, &Value) -> Option<Letter>) -> Result<bool, String> {
    let Moved { frame, lost } = case.moved();
    match read(case, &frame) {
        Some(letter) => misread(case, &letter, &lost)
            .map_or(Ok(true), |why| Err(format!("misread as {why}: {frame}"))),
        None => Ok(false),
    }
}

// req: WIRE-8
#[test]
fn moved_fields_are_understood_or_refused_and_never_misread() {
    let config = Config::default();
    let all = config.cases.max(2_048);
    let mut runner = TestRunner::new(Config { cases: all, ..config });
    let counted = std::cell::Cell::new(0_u32);
    let outcome = runner.run(&cases(), |case| match judged(&case, lenient) {
        Ok(is_read) => {
            counted.set(counted.get() + u32::from(is_read));
            Ok(())
        }
        Err(why) => Err(TestCaseError::fail(why)),
    });
    outcome.unwrap();
    let understood = counted.get();
    // A reader that refuses everything misreads nothing.
    assert!(understood * 20 > all, "only {understood} of {all} were understood");
}

/// What the strict reading takes.
fn strict(_case: &Case, frame: &Value) -> Option<Letter> {
    let text = frame.to_string();
    let Incoming::Single(Ok(request)) = frame::parse(text.as_bytes()) else { return None };
    decode_request(&request).ok().map(|read| read.letter)
}

// req: WIRE-8, REG-2
#[test]
fn what_is_left_of_a_registration_is_never_taken_for_all_of_it() {
    let config = Config::default();
    let all = config.cases.max(1_024);
    let mut runner = TestRunner::new(Config { cases: all, ..config });
    let (taken, understood) = (std::cell::Cell::new(0_u32), std::cell::Cell::new(0_u32));
    let outcome = runner.run(&registrations(), |case| {
        for (read, count) in
            [(strict as fn(&Case, &Value) -> Option<Letter>, &taken), (lenient, &understood)]
        {
            let is_read = judged(&case, read).map_err(TestCaseError::fail)?;
            count.set(count.get() + u32::from(is_read));
        }
        Ok(())
    });
    outcome.unwrap();
    let (taken, understood) = (taken.get(), understood.get());
    assert!(taken * 20 > all, "only {taken} of {all} were taken");
    assert!(understood * 4 > all, "only {understood} of {all} were understood");
}

#[test]
fn a_careless_reader_is_found_out() {
    let mut runner = TestRunner::deterministic();
    let found = (0..4_000).any(|_| {
        let case = cases().new_tree(&mut runner).unwrap();
        judged(&proptest::strategy::ValueTree::current(&case), careless).is_err()
    });
    assert!(found, "whoever takes the first field of a name must be noticed");
}

/// Takes of every name the first field that it meets.
fn careless(case: &Case, frame: &Value) -> Option<Letter> {
    fn flatten(value: &Value, into: &mut Map<String, Value>) {
        let Some(fields) = value.as_object() else { return };
        for (name, value) in fields {
            if value.is_object() && !["players", "result", "player_meta"].contains(&&**name) {
                flatten(value, into);
            } else if !into.contains_key(name) {
                into.insert(name.clone(), value.clone());
            }
        }
    }
    let mut flat = Map::new();
    flatten(frame.get("params")?, &mut flat);
    let kind = case.letter.message.kind();
    flat.insert("message_type".into(), kind.name(Dialect::Flat).into());
    let method = kind.method(Dialect::Flat);
    let text = json!({"jsonrpc": "2.0", "method": method, "params": flat, "id": 1}).to_string();
    let Incoming::Single(Ok(request)) = frame::parse(text.as_bytes()) else { return None };
    decode_request(&request).ok().map(|read| read.letter)
}
