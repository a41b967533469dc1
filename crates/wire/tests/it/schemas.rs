//! The published schemas: made from the table of fields, and true of every example.
//! `LEAGUE_BLESS=1` writes them anew.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use league_wire::dialect::{decode_request, decode_result};
use league_wire::frame::{self, Incoming, Outcome};
use league_wire::{Dialect, MessageType, schema};
use serde_json::Value;

use crate::judge::offences;

// req: WIRE-11
#[test]
fn the_published_schemas_are_those_of_the_table() {
    let bless = std::env::var_os("LEAGUE_BLESS").is_some();
    check(&root().join("index.json"), &schema::index(), bless);
    for dialect in Dialect::ALL {
        let folder = root().join(dialect.name());
        let mut names = BTreeSet::new();
        for &kind in MessageType::ALL {
            let name = schema::file_name(kind);
            assert_eq!(schema::find(&name), Some(kind));
            check(&folder.join(&name), &schema::of(dialect, kind), bless);
            names.insert(name);
        }
        let there = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name());
        let there: BTreeSet<_> = there.map(|name| name.into_string().unwrap()).collect();
        assert_eq!(there, names, "{dialect} has other files");
    }
    for other in ["nothing.json", "GAME_OVER.json", "game_over", "choose_parity.json"] {
        assert_eq!(schema::find(other), None, "{other}");
    }
}

fn check(path: &Path, written: &str, bless: bool) {
    if bless {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, written).unwrap();
    }
    let file = std::fs::read_to_string(path).unwrap_or_default();
    let why = "the table says otherwise; LEAGUE_BLESS=1 writes the schemas anew";
    assert!(file == written, "{}: {why}", path.display());
}

// req: WIRE-11
#[test]
fn every_example_is_as_its_schema_says_and_nothing_can_be_left_out() {
    let mut refused = 0;
    for dialect in Dialect::ALL {
        let folder = root().join("../examples").join(dialect.name());
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_string();
            let name = name.trim_end_matches("_rejected").trim_end_matches("_technical_loss");
            let kind = schema::find(&format!("{name}.json")).unwrap();
            let schema: Value = serde_json::from_str(&schema::of(dialect, kind)).unwrap();
            let example: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            let wrong = offences(&schema, &example);
            assert!(wrong.is_empty(), "{}: {wrong:?}", path.display());
            let lax = lax(&schema, &example, (dialect, kind));
            assert!(lax.is_empty(), "{}: {lax:?} must be there", path.display());
            refused +=
                required(&schema, "").iter().filter(|at| lacks(&schema, &example, at)).count();
        }
    }
    assert!(refused > 1_500, "only {refused} fields must be there");
}

/// The fields that our reader wants and the schema does not ask for.
fn lax(schema: &Value, example: &Value, (dialect, kind): (Dialect, MessageType)) -> Vec<String> {
    let base = ["/params", "/result", "/error/data"];
    let base = base.into_iter().find(|at| example.pointer(at).is_some()).unwrap();
    let inner = ["", "/envelope", "/payload", "/message", "/arguments", "/structuredContent"];
    let mut found = Vec::new();
    for at in inner.map(|end| format!("{base}{end}")) {
        let names = example.pointer(&at).and_then(Value::as_object).into_iter().flatten();
        for (name, _) in names.filter(|(name, _)| *name != "content") {
            let mut frame = example.clone();
            frame.pointer_mut(&at).unwrap().as_object_mut().unwrap().remove(name);
            if let Some(result) = frame.get_mut("result").and_then(Value::as_object_mut) {
                // It says the same once more.
                result.remove("content");
            }
            let is_refused = !is_read(dialect, kind, &frame);
            if is_refused && offences(schema, &frame).is_empty() {
                found.push(format!("{at}/{name}"));
            }
        }
    }
    found
}

fn is_read(dialect: Dialect, kind: MessageType, frame: &Value) -> bool {
    let text = frame.to_string();
    if frame.get("params").is_some() {
        let Incoming::Single(Ok(request)) = frame::parse(text.as_bytes()) else { return false };
        return decode_request(&request).is_ok();
    }
    let response = frame::parse_response(text.as_bytes()).unwrap();
    match response.outcome {
        Outcome::Result(result) => decode_result(dialect, &[kind], result).is_ok(),
        Outcome::Error(error) => decode_result(dialect, &[kind], error.data.unwrap()).is_ok(),
    }
}

/// Whether the schema notices that the field at `at` is missing, or is of another type.
fn lacks(schema: &Value, example: &Value, at: &str) -> bool {
    let mut frame = example.clone();
    let (above, name) = at.rsplit_once('/').unwrap();
    let Some(object) = frame.pointer_mut(above).and_then(Value::as_object_mut) else {
        return false;
    };
    let Some(was) = object.remove(name) else { panic!("{at} is not in {example}") };
    assert!(!offences(schema, &frame).is_empty(), "nobody misses {at}");
    let object = frame.pointer_mut(above).and_then(Value::as_object_mut).unwrap();
    object.insert(name.into(), if was.is_array() { 1.into() } else { Value::Array(vec![]) });
    let is_noticed = !offences(schema, &frame).is_empty();
    assert!(
        is_noticed || at.ends_with("/data") || at.ends_with("/move_data"),
        "{at} may be a list"
    );
    true
}

/// The pointer to every field that must be there.
fn required(schema: &Value, at: &str) -> Vec<String> {
    let names = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let names: Vec<&str> = names.collect();
    let inner = names
        .iter()
        .flat_map(|name| required(&schema["properties"][*name], &format!("{at}/{name}")));
    let own = names.iter().map(|name| format!("{at}/{name}"));
    own.chain(inner.collect::<Vec<_>>()).collect()
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/protocol/schemas")
}
