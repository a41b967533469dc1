//! The known word that somebody probably meant.

use crate::limits::SLIP_BYTES_MAX;

/// The word of `known` that is most like `got`: one that contains it or is contained in it, else
/// one that differs in at most every third letter. Upper and lower case are alike.
pub(crate) fn nearest(
    got: &str,
    known: impl Iterator<Item = &'static str>,
) -> Option<&'static str> {
    if got.len() < 3 || got.len() > SLIP_BYTES_MAX {
        return None;
    }
    let got = got.to_ascii_lowercase();
    let scored = known.filter_map(|word| {
        let lower = word.to_ascii_lowercase();
        let distance = distance(&got, &lower);
        let is_part = lower.contains(&got) || got.contains(&lower) && lower.len() > 3;
        (is_part || 3 * distance <= got.len()).then_some((!is_part, distance, word))
    });
    scored.min().map(|(_, _, word)| word)
}

/// How many letters must be added, left out or changed to make one word of the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, letter) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], index + 1);
        for (at, also) in other.iter().enumerate() {
            let changed = diagonal + usize::from(letter != *also);
            diagonal = row[at + 1];
            row[at + 1] = changed.min(row[at] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_word_and_nonsense_none() {
        let known = ["register_player", "register_referee", "choose_parity", "ping"];
        let nearest = |got| nearest(got, known.into_iter());
        assert_eq!(nearest("register"), Some("register_player"));
        assert_eq!(nearest("registerPlayer"), Some("register_player"));
        assert_eq!(nearest("chose_parity"), Some("choose_parity"));
        assert_eq!(nearest("handle_choose_parity"), Some("choose_parity"));
        assert_eq!(nearest("tools/list"), None);
        assert_eq!(nearest("p"), None);
        assert_eq!(nearest(&"ping".repeat(100)), None);
    }

    #[test]
    fn letters_are_counted() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("same", "same"), 0);
    }
}
