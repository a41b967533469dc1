//! The protocol's own words: error codes and field names in quotes.

use crate::source::RustFile;
use crate::{Offence, Rule};

static TONGUE: Rule = Rule {
    name: "only wire says field names and error codes",
    why: "five documents spell the same message differently; a spelling elsewhere is right for one",
    remedy: "name the field or code in wire and use its type here",
};

/// Crates that speak the protocol: `wire`, and the cases of `league check`, which break messages
/// on purpose.
const SPEAKERS: [&str; 2] = ["crates/wire/", "crates/check/"];

/// Names that mean a field of a message and nothing else.
const FIELDS: [&str; 24] = [
    "auth_token",
    "choice_proof",
    "completed_matches",
    "contact_endpoint",
    "conversation_id",
    "correlation_id",
    "draw_commitment",
    "error_code",
    "error_description",
    "game_types",
    "jsonrpc",
    "max_concurrent_games",
    "max_concurrent_matches",
    "message_id",
    "message_type",
    "move_data",
    "parity_choice",
    "player_meta",
    "referee_meta",
    "rejection_reason",
    "retry_info",
    "role_in_match",
    "structuredContent",
    "supported_games",
];

/// Quoted words of the protocol outside `wire`. Tests may say them.
pub fn offences(file: &RustFile) -> Vec<Offence> {
    let speaks = SPEAKERS.iter().any(|speaker| file.path.starts_with(speaker));
    if speaks || !file.path.starts_with("crates/") {
        return Vec::new();
    }
    let mut offences = Vec::new();
    for (number, line) in file.numbered_shipped() {
        for word in line.strings.iter().flat_map(|text| words(text)) {
            if is_code(word) || FIELDS.contains(&word) {
                offences.push(Offence::new(&TONGUE, &file.path, number, format!("\"{word}\"")));
            }
        }
    }
    offences
}

/// The whole literal, or what stands in quotes inside it.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let quoted = text.split('"').skip(1).step_by(2).map(|word| word.trim_end_matches('\\'));
    std::iter::once(text).chain(quoted)
}

fn is_code(word: &str) -> bool {
    let digits = word.strip_prefix(['E', 'L', 'G']);
    digits.is_some_and(|digits| digits.len() == 3 && digits.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, text: &str, expected: usize) {
        assert_eq!(offences(&RustFile::read(path, text)).len(), expected, "{text}");
    }

    #[test]
    fn codes_outside_wire_are_found() {
        check("crates/server/src/a.rs", "refuse(\"E003\")", 1);
        check("crates/cli/src/a.rs", "[\"L002\", \"G005\"]", 2);
        check("crates/wire/src/code.rs", "\"E003\"", 0);
        check("crates/server/src/a.rs", "\"E03\"; \"EVEN\"; \"REF01\"; // \"E003\"", 0);
    }

    #[test]
    fn field_names_outside_wire_are_found() {
        check("crates/agent/src/a.rs", "object.get(\"auth_token\")", 1);
        check("crates/agent/src/a.rs", "r#\"{\"message_type\": 1}\"#", 1);
        check("crates/agent/src/a.rs", "\"{\\\"message_type\\\": 1}\"", 1);
        check("crates/agent/src/a.rs", "auth_token: Token", 0);
    }

    #[test]
    fn tests_may_say_them() {
        check("crates/server/src/a.rs", "#[cfg(test)]\nmod tests {\n\"E003\"\n}", 0);
        check("crates/server/tests/it/a.rs", "\"E003\"", 0);
    }
}
