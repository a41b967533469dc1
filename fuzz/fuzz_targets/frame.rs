//! Any bytes as a JSON-RPC request, a response or a batch: refused or understood, never a panic.
#![no_main]

use league_wire::Incoming;
use league_wire::frame::{parse, parse_response, parse_responses};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let requests = match parse(bytes) {
        Incoming::Single(request) => vec![request],
        Incoming::Batch(requests) => requests,
    };
    for refused in requests.into_iter().filter_map(Result::err) {
        parse_response(&refused.answer()).expect("our refusal is a response");
    }
    drop(parse_response(bytes));
    drop(parse_responses(bytes));
});
