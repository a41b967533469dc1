//! How long it takes to look at a method, and to read and write what is read and written most.
#![expect(clippy::unwrap_used, reason = "the examples are known to be good")]

use std::hint::black_box;
use std::path::PathBuf;

use criterion::{Criterion, criterion_group, criterion_main};
use league_wire::dialect::{decode_request, decode_result, encode_request};
use league_wire::frame::{self, Incoming, Outcome};
use league_wire::{Dialect, Letter, MessageType};

/// What agents send often, and how it comes: as a call or as the answer to one.
const OFTEN: [(&str, Option<MessageType>); 6] = [
    ("game_invitation", None),
    ("game_join_ack", Some(MessageType::GameJoinAck)),
    ("choose_parity_call", None),
    ("choose_parity_response", Some(MessageType::ChooseParityResponse)),
    ("match_progress", None),
    ("match_result_report", None),
];
/// To peek at the method and decode one of them.
const GOAL: &str = "goal 2 µs";

fn reading(c: &mut Criterion) {
    let invitation = example("typed/game_invitation.json");
    c.bench_function("peek at the method of GAME_INVITATION", |b| {
        b.iter(|| matches!(frame::parse(black_box(&invitation)), Incoming::Single(Ok(_))));
    });
    for dialect in [Dialect::Typed, Dialect::Flat, Dialect::Enveloped] {
        for (name, answer) in OFTEN {
            let bytes = example(&format!("{dialect}/{name}.json"));
            let goal = if dialect == Dialect::Typed { GOAL } else { "no goal" };
            let title = format!("decode {dialect} {name}, {} bytes, {goal}", bytes.len());
            c.bench_function(&title, |b| match answer {
                None => b.iter(|| request(black_box(&bytes))),
                Some(kind) => b.iter(|| black_box(result(dialect, kind, black_box(&bytes)))),
            });
        }
    }
}

fn writing(c: &mut Criterion) {
    for name in ["game_invitation", "match_result_report", "league_standings_update"] {
        let letter = request(&example(&format!("flat/{name}.json")));
        for dialect in [Dialect::Flat, Dialect::Enveloped] {
            c.bench_function(&format!("encode {dialect} {name}"), |b| {
                b.iter(|| encode_request(dialect, 1, black_box(&letter)));
            });
        }
    }
}

fn request(bytes: &[u8]) -> Letter {
    let Incoming::Single(Ok(request)) = frame::parse(bytes) else { panic!("a request") };
    decode_request(&request).unwrap().letter
}

fn result(dialect: Dialect, kind: MessageType, bytes: &[u8]) -> league_wire::Reply {
    let response = frame::parse_response(bytes).unwrap();
    let Outcome::Result(result) = response.outcome else { panic!("a result") };
    decode_result(dialect, &[kind], result).unwrap()
}

/// An example of the documentation, as it goes over the wire.
fn example(name: &str) -> Vec<u8> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/protocol/examples");
    let text = std::fs::read_to_string(root.join(name)).unwrap();
    text.lines().map(str::trim).collect::<String>().replace("\": ", "\":").into_bytes()
}

criterion_group!(benches, reading, writing);
criterion_main!(benches);
