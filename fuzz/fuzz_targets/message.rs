//! Any bytes as a league message in any dialect, strictly and leniently. What was understood can be
//! written and read again, and writing it once more changes nothing.
#![no_main]

use league_wire::dialect::{decode_error, decode_request, decode_result, encode_request};
use league_wire::frame::{Outcome, Request, parse, parse_responses};
use league_wire::lenient::{Asked, read_answer, read_plain_registration, read_request};
use league_wire::{Decoded, Dialect, Id, Incoming, MessageType, iso};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match parse(bytes) {
        Incoming::Single(request) => request.iter().for_each(ask),
        Incoming::Batch(requests) => requests.iter().flatten().for_each(ask),
    }
    for response in parse_responses(bytes).into_iter().flatten().flatten() {
        answer(&response.outcome);
    }
    almost(bytes);
});

/// Reads what may be no message as if it were one.
fn almost(bytes: &[u8]) {
    let now = iso::parse("2025-01-15T10:30:00Z").expect("a moment");
    if let Ok(read) = read_plain_registration(bytes, now) {
        said(&read.meaning);
    }
    let id = Id::from(1);
    for dialect in Dialect::ALL {
        for kind in [MessageType::GameJoinAck, MessageType::ChooseParityResponse] {
            let read = read_answer(Asked { dialect, expected: &[kind], id: &id }, bytes);
            assert!(!read.is_ok_and(|read| read.meaning.message.kind() != kind));
        }
    }
}

fn ask(request: &Request<'_>) {
    let now = iso::parse("2025-01-15T10:30:00Z").expect("a moment");
    if let Ok(read) = decode_request(request) {
        said(&read);
    } else if let Ok(read) = read_request(request, now) {
        said(&read.meaning);
    }
}

/// What was understood can be said again.
fn said(read: &Decoded) {
    let written = encode_request(read.dialect, 1, &read.letter);
    let Incoming::Single(Ok(again)) = parse(&written) else {
        panic!("not a request: {}", String::from_utf8_lossy(&written));
    };
    let again = decode_request(&again).expect("what we write we can read");
    assert_eq!(again.letter.message.kind(), read.letter.message.kind());
    let twice = encode_request(read.dialect, 1, &again.letter);
    assert!(twice == written, "{}", String::from_utf8_lossy(&twice));
}

fn answer(outcome: &Outcome<'_>) {
    match outcome {
        Outcome::Result(result) => {
            for dialect in Dialect::ALL {
                drop(decode_result(dialect, MessageType::ALL, *result));
            }
        }
        Outcome::Error(error) => drop(error.data.map(decode_error)),
    }
}
