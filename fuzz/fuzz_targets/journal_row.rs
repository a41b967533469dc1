//! Any bytes as a row of the journal: an event or a refusal. What decodes is written back alike.
#![no_main]

use league_server::journal::codec::{decode, encode};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(event) = decode(bytes) {
        let again = decode(&encode(&event)).expect("what we write we can read");
        assert_eq!(again, event);
    }
});
