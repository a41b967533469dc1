//! Messages without their long parts that the record has elsewhere.

use std::borrow::Cow;

use memchr::memmem;

/// How much of a part is looked for. Preparing a search for all of it would take longer than
/// looking for its beginning, which hardly ever stands anywhere else.
const BEGINNING_BYTES: usize = 32;

/// `text` with a note in place of each of `parts`, which come with what they are.
pub(crate) fn abridged<'a>(text: &'a str, parts: &[(&'static str, &str)]) -> Cow<'a, str> {
    let found = parts.iter().filter_map(|(what, part)| Some((place_of(text, part)?, *what, *part)));
    let mut found: Vec<_> = found.collect();
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    found.sort_unstable_by_key(|(at, ..)| *at);
    let long: usize = found.iter().map(|(.., part)| part.len()).sum();
    let mut out = String::with_capacity(text.len().saturating_sub(long) + found.len() * 64);
    let mut from = 0;
    for (at, what, part) in found {
        // A part inside another is gone with it.
        let Some(before) = text.get(from..at) else { continue };
        out.push_str(before);
        out.push_str(&format!("\"[left out: {what}, {} bytes]\"", part.len()));
        from = at + part.len();
    }
    out.push_str(&text[from..]);
    Cow::Owned(out)
}

fn place_of(text: &str, part: &str) -> Option<usize> {
    let beginning = &part[..part.floor_char_boundary(BEGINNING_BYTES)];
    let mut places = memmem::find_iter(text.as_bytes(), beginning);
    places.find(|at| text[*at..].starts_with(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_replaced_wherever_they_stand_and_once() {
        let (table, past) = ("[1,2,3]", r#"{"a":["[1,2,3]"]}"#);
        let text = format!(r#"{{"past":{past},"table":{table},"again":{table}}}"#);
        let parts = [("the table", table), ("the past", past), ("what is not there", "[4]")];
        let shown = abridged(&text, &parts);
        let left_out =
            r#"{"past":"[left out: the past, 17 bytes]","table":[1,2,3],"again":[1,2,3]}"#;
        assert_eq!(shown, left_out);
        let parts = [("the past", past)];
        assert_eq!(abridged(&text, &parts), left_out);
        let shown = abridged(&text[26..], &[("the table", table)]);
        assert_eq!(shown, r#""table":"[left out: the table, 7 bytes]","again":[1,2,3]}"#);
        assert!(matches!(abridged("{}", &parts), Cow::Borrowed("{}")));
    }
}
