//! The same name in other letters, other words or another order.

use crate::dialect::Dialect;
use crate::message::{CALL_TOOL, HANDLE, HANDLE_MESSAGE, MessageType};

/// A name without what people vary: `matchId`, `match-id` and `MATCH_ID` are alike.
pub(super) fn folded(name: &str) -> String {
    let letters = name.chars().filter(|letter| letter.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// Whether `known` is the name that was folded to `folded`.
pub(super) fn is_folded(known: &str, folded: &str) -> bool {
    let letters = known.bytes().filter(u8::is_ascii_alphanumeric);
    letters.map(|letter| letter.to_ascii_lowercase()).eq(folded.bytes())
}

/// Whether `name` is one of `names`, in whatever letters.
pub(crate) fn is_alike(names: &[&str], name: &str) -> bool {
    let own = folded(name);
    names.iter().any(|known| is_folded(known, &own))
}

/// Words that say that something is handled, and not what.
const FILLERS: [&str; 6] = ["handle", "receive", "on", "notify", "process", "mcp"];
/// Longer names are nobody's spelling.
const NAME_BYTES_MAX: usize = 64;

/// The words of a name in alphabetic order, without fillers; a new word begins behind a sign that
/// is no letter, and at a capital behind a small letter.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut was_small = false;
    for letter in name.chars() {
        let is_break = !letter.is_alphanumeric() || letter.is_uppercase() && was_small;
        if is_break {
            words.push(String::new());
        }
        was_small = letter.is_lowercase();
        if letter.is_alphanumeric() {
            let word = words.last_mut().expect("there is always one");
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty() && !FILLERS.contains(&word.as_str()));
    words.sort();
    words
}

/// Whether `name` looks like the type of a message, whichever that may be.
pub(super) fn is_like_type(name: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    name.contains('_') && name.chars().all(is_part)
}

/// The types that `name` may mean in whatever spelling. More than one only where documents
/// themselves have one name for several.
pub(super) fn types(name: &str) -> Vec<MessageType> {
    if name.len() > NAME_BYTES_MAX {
        return Vec::new();
    }
    let known = |fits: &dyn Fn(&str) -> bool| {
        let named = |kind: &MessageType| {
            let method = kind.method(Dialect::Flat);
            Dialect::ALL.iter().any(|dialect| fits(kind.name(*dialect))) || fits(method)
        };
        MessageType::ALL.iter().copied().filter(named).collect::<Vec<_>>()
    };
    let own = folded(name);
    let exact = known(&|known| is_folded(known, &own));
    if !exact.is_empty() {
        return exact;
    }
    let own = words(name);
    if own.is_empty() { Vec::new() } else { known(&|known| words(known) == own) }
}

/// Whether a request of type `kind` may be called `method` without anything being wrong.
pub(super) fn is_method(kind: MessageType, method: &str) -> bool {
    [HANDLE, CALL_TOOL, HANDLE_MESSAGE].contains(&method)
        || MessageType::by_method(method).is_some_and(|(called, _)| called == kind)
        || kind.name(Dialect::Payload).eq_ignore_ascii_case(method)
}

/// Names of their own under which agents are known to take calls of type `kind`.
pub fn own_methods(kind: MessageType) -> &'static [&'static str] {
    if kind == MessageType::GameInvitation {
        return &["game_invitation", "receive_game_invitation"];
    }
    if kind == MessageType::ChooseParityCall {
        return &["parity_choose", "choose_parity_call"];
    }
    if kind == MessageType::GameMoveCall {
        return &["make_move", "choose_move"];
    }
    if kind == MessageType::GameOver {
        return &["game_over", "handle_game_over"];
    }
    &[]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_words_are_the_same_type_and_doubtful_ones_none() {
        use MessageType as Type;
        for (name, kind) in [
            ("REGISTER_PLAYER_REQUEST", Type::LeagueRegisterRequest),
            ("playerRegister", Type::LeagueRegisterRequest),
            ("receive_game_invitation", Type::GameInvitation),
            ("parity_choose", Type::ChooseParityCall),
            ("ParityChoice", Type::ChooseParityResponse),
            ("on_game_over", Type::GameOver),
            ("match-result-report", Type::MatchResultReport),
        ] {
            assert_eq!(types(name), [kind], "{name}");
        }
        assert_eq!(types("MOVE_RESPONSE"), [Type::ChooseParityResponse, Type::GameMoveResponse]);
        for name in ["", "handle", "register", "ack_game", &"GAME_OVER".repeat(20)] {
            assert_eq!(types(name), [], "{name}");
        }
    }
}
