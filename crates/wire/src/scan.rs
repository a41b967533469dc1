//! Where the parts of a JSON text end: checks the grammar and builds nothing. Every function takes
//! the bytes from where something begins and gives those after it, or `None` if it is not that.

/// One JSON value, and how deep objects and lists are nested in it.
pub(crate) fn value(mut rest: &[u8]) -> Option<(&[u8], usize)> {
    let mut around = Vec::new();
    let mut inside = None;
    let mut deepest = 0;
    loop {
        rest = match rest {
            [b'"', ..] => text(rest)?.0,
            [open @ (b'{' | b'['), more @ ..] => {
                let depth = around.len() + usize::from(inside.is_some()) + 1;
                deepest = deepest.max(depth);
                match space(more) {
                    [close, more @ ..] if *close == closing(*open) => more,
                    more => {
                        around.extend(inside.replace(*open));
                        rest = part(more, *open)?;
                        continue;
                    }
                }
            }
            _ => scalar(rest)?,
        };
        loop {
            let Some(open) = inside else { return Some((rest, deepest)) };
            match space(rest) {
                [b',', more @ ..] => {
                    rest = part(space(more), open)?;
                    break;
                }
                [close, more @ ..] if *close == closing(open) => rest = more,
                _ => return None,
            }
            inside = around.pop();
        }
    }
}

/// The bracket that closes what `open` opens.
#[inline]
pub(crate) const fn closing(open: u8) -> u8 {
    if open == b'{' { b'}' } else { b']' }
}

/// What stands before a value inside the bracket `open`: in an object the name.
#[inline(always)]
fn part(rest: &[u8], open: u8) -> Option<&[u8]> {
    if open == b'[' { Some(rest) } else { colon(text(rest)?.0) }
}

/// The colon between a name and a value, with the spaces around it.
#[inline]
pub(crate) fn colon(rest: &[u8]) -> Option<&[u8]> {
    if let [b':', next, ..] = rest
        && *next > b' '
    {
        return Some(&rest[1..]);
    }
    let [b':', more @ ..] = space(rest) else { return None };
    Some(space(more))
}

/// What stands behind a part inside brackets that `close` closes: a comma, and then where the next
/// part begins, or that bracket. Tells whether it is a comma.
#[inline]
pub(crate) fn comma(rest: &[u8], close: u8) -> Option<(&[u8], bool)> {
    if let [b',', next, ..] = rest
        && *next > b' '
    {
        return Some((&rest[1..], true));
    }
    match space(rest) {
        [b',', more @ ..] => Some((space(more), true)),
        [byte, more @ ..] if *byte == close => Some((more, false)),
        _ => None,
    }
}

/// Any number of spaces.
#[inline]
pub(crate) fn space(mut rest: &[u8]) -> &[u8] {
    while let [b' ' | b'\t' | b'\r' | b'\n', more @ ..] = rest {
        rest = more;
    }
    rest
}

/// A text in quotes, and whether it stands for itself.
#[inline(always)]
pub(crate) fn text(rest: &[u8]) -> Option<(&[u8], bool)> {
    let [b'"', rest @ ..] = rest else { return None };
    match plain(rest) {
        [b'"', more @ ..] => Some((more, true)),
        more => escaped(more).map(|more| (more, false)),
    }
}

/// The rest of a text from a backslash on.
fn escaped(mut rest: &[u8]) -> Option<&[u8]> {
    loop {
        rest = match rest {
            [b'"', more @ ..] => return Some(more),
            [b'\\', b'u', a, b, c, d, more @ ..] => {
                [a, b, c, d].into_iter().all(u8::is_ascii_hexdigit).then_some(more)?
            }
            [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', more @ ..] => more,
            _ => return None,
        };
        rest = plain(rest);
    }
}

/// The part of a text that stands for itself, up to a quote, a backslash or a control character.
#[inline(always)]
fn plain(mut rest: &[u8]) -> &[u8] {
    while let Some((eight, more)) = rest.split_first_chunk() {
        let ends = ends(u64::from_le_bytes(*eight));
        if ends != 0 {
            return &rest[ends.trailing_zeros() as usize / 8..];
        }
        rest = more;
    }
    while let [b' ' | b'!' | b'#'..=b'[' | b']'.., more @ ..] = rest {
        rest = more;
    }
    rest
}

/// Marks the lowest of eight bytes that is a quote, a backslash or a control character. Whether a
/// byte is below a limit shows in its top bit after a subtraction, if it was not there before;
/// what is borrowed goes to higher bytes only.
#[inline]
const fn ends(eight: u64) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    let control = eight.wrapping_sub(ONES * 0x20);
    let quote = (eight ^ (ONES * 0x22)).wrapping_sub(ONES);
    let backslash = (eight ^ (ONES * 0x5c)).wrapping_sub(ONES);
    (control | quote | backslash) & !eight & (ONES * 0x80)
}

/// A number, `true`, `false` or `null`.
#[inline(always)]
pub(crate) fn scalar(rest: &[u8]) -> Option<&[u8]> {
    match rest.first()? {
        b'-' | b'0'..=b'9' => number(rest),
        b't' => rest.strip_prefix(b"true"),
        b'f' => rest.strip_prefix(b"false"),
        b'n' => rest.strip_prefix(b"null"),
        _ => None,
    }
}

#[inline(always)]
fn number(rest: &[u8]) -> Option<&[u8]> {
    let rest = rest.strip_prefix(b"-").unwrap_or(rest);
    let rest = if let [b'0', more @ ..] = rest { more } else { digits(rest)? };
    match rest {
        [b'.' | b'e' | b'E', ..] => fraction(rest),
        _ => Some(rest),
    }
}

/// What a number has behind its whole part.
fn fraction(mut rest: &[u8]) -> Option<&[u8]> {
    if let [b'.', more @ ..] = rest {
        rest = digits(more)?;
    }
    match rest {
        [b'e' | b'E', b'+' | b'-', more @ ..] | [b'e' | b'E', more @ ..] => digits(more),
        _ => Some(rest),
    }
}

/// At least one digit.
#[inline]
fn digits(rest: &[u8]) -> Option<&[u8]> {
    let [b'0'..=b'9', rest @ ..] = rest else { return None };
    let mut rest = rest;
    while let [b'0'..=b'9', more @ ..] = rest {
        rest = more;
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::de::IgnoredAny;

    use super::*;

    fn is_json(text: &str) -> bool {
        value(space(text.as_bytes())).is_some_and(|(rest, _)| space(rest).is_empty())
    }

    #[test]
    fn only_json_is_taken() {
        for text in [
            "0",
            "-0",
            "10",
            "01",
            "-",
            "1.",
            "1.5",
            ".5",
            "1e3",
            "1e+3",
            "1E-",
            "1e",
            "-1.0e-7",
            "true",
            "truex",
            "tru",
            "false",
            "null",
            "nul",
            "",
            " ",
            " 1 ",
            "1 2",
            "\u{a0}1",
            "\"\"",
            "\"",
            "\"a",
            "\"\\n\"",
            "\"\\x\"",
            "\"\\u00e9\"",
            "\"\\u00g9\"",
            "\"\\u00\"",
            "\"\\ud800\"",
            "\"\\\"",
            "\"\n\"",
            "\"\u{7f}é😀\"",
            "\"1234567\t\"",
            "\"12345678\\\"\"",
            "[]",
            "[ ]",
            "[1,2]",
            "[1,]",
            "[,1]",
            "[1 2]",
            "[1",
            "[}",
            "]",
            "{}",
            "{ }",
            "{,}",
            "{\"a\":1}",
            "{ \"a\" : [ { } , [ ] ] }",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{a:1}",
            "{1:1}",
            "{\"a\":1]",
            "{\"a\" 1}",
            "{\"a\":1 \"b\":2}",
            "[[{\"a\":[]}]",
            "[{\"a\":[}]]",
        ] {
            let known = serde_json::from_str::<IgnoredAny>(text).is_ok();
            assert_eq!(is_json(text), known, "{text}");
        }
        assert!(is_json(&("[".repeat(100_000) + &"]".repeat(100_000))));
    }

    proptest! {
        #[test]
        fn json_is_what_the_library_takes_for_it(
            text in "[ \n{}\\[\\],:\"\\\\ueE+\\-.019abtrufalsenull\u{1}é😀]{0,24}"
        ) {
            prop_assert_eq!(is_json(&text), serde_json::from_str::<IgnoredAny>(&text).is_ok());
        }

        #[test]
        fn a_text_ends_where_the_library_ends_it(
            inner in "([ -~é😀\u{80}\u{ff}]|\\\\[\"\\\\/bfnrtu]|\\\\u[0-9a-fA-F]{4}){0,40}",
            end in "[\"\\\\\u{1f}]{0,2}"
        ) {
            let text = format!("\"{inner}{end}");
            prop_assert_eq!(is_json(&text), serde_json::from_str::<IgnoredAny>(&text).is_ok());
        }
    }
}
