//! Takes out of a text everything with which somebody could pretend to be somebody else.

use std::borrow::Cow;

use memchr::{memchr, memmem};

/// What stands in place of a secret.
pub const REDACTED: &str = "[redacted]";

/// How every token and every proof begins.
const BEGINNINGS: [&str; 2] = ["tok_", "prf_"];

/// `text` without tokens and proofs, and without what `known` lists. JSON stays JSON.
pub fn redact<'a>(text: &'a str, known: &[&str]) -> Cow<'a, str> {
    if hides_something(text) {
        return Cow::Owned(format!("\"{REDACTED}\""));
    }
    let mut out = Cow::Borrowed(text);
    for secret in known.iter().filter(|secret| !secret.is_empty() && !goes_anyway(secret)) {
        if place_of(&out, secret).is_some() {
            out = Cow::Owned(out.replace(*secret, REDACTED));
        }
    }
    for beginning in BEGINNINGS {
        if let Some(at) = place_of(&out, beginning) {
            out = Cow::Owned(without(&out, beginning, at));
        }
    }
    out
}

/// Where `part` stands in `text`. Bodies are long, there are many of them, and most have nothing
/// to hide.
fn place_of(text: &str, part: &str) -> Option<usize> {
    memmem::find(text.as_bytes(), part.as_bytes())
}

/// Whether a secret is found by its beginning and ends where what is found ends.
fn goes_anyway(secret: &str) -> bool {
    BEGINNINGS.iter().any(|beginning| {
        let rest = secret.strip_prefix(beginning);
        rest.is_some_and(|rest| !rest.is_empty() && rest.chars().all(is_inside))
    })
}

/// Whether a word that began goes on.
const fn is_inside(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

/// `text` without the words that begin with `beginning`, the first of which stands at `first`.
fn without(text: &str, beginning: &str, first: usize) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut rest, mut next) = (text, Some(first));
    while let Some(at) = next {
        let (before, found) = rest.split_at(at);
        let end = found.find(|c| !is_inside(c)).unwrap_or(found.len());
        out.push_str(before);
        out.push_str(if end > beginning.len() { REDACTED } else { beginning });
        rest = &found[end..];
        next = place_of(rest, beginning);
    }
    out.push_str(rest);
    out
}

/// Whether a beginning shows only when the escapes of JSON are resolved. Nobody needs to write one
/// like that.
fn hides_something(text: &str) -> bool {
    if memchr(b'\\', text.as_bytes()).is_none() || !text.contains("\\u00") {
        return false;
    }
    let count = |text: &str| BEGINNINGS.iter().map(|word| text.matches(word).count()).sum();
    let shown: usize = count(text);
    let resolved: usize = count(&resolved(text));
    resolved > shown
}

fn resolved(text: &str) -> String {
    let mut parts = text.split("\\u00");
    let mut out: String = parts.next().unwrap_or_default().into();
    for part in parts {
        let code = part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match code {
            Some(code) => {
                out.push(char::from(code));
                out.push_str(&part[2..]);
            }
            None => out.push_str(part),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    // req: AUTH-3
    #[test]
    fn tokens_proofs_and_what_is_known_are_gone() {
        let proof = format!("prf_{}", "0f".repeat(32));
        let text = format!(r#"{{"a":"tok_player_P01_ab-9","b":"{proof}","c":"5eed","d":"P01"}}"#);
        let expected =
            r#"{"a":"[redacted]","b":"[redacted]","c":"[redacted]","d":"P01"}"#.to_string();
        assert_eq!(redact(&text, &["5eed", ""]), expected);
        assert_eq!(redact("Bearer tok_0123\n", &[]), "Bearer [redacted]\n");
        assert_eq!(redact("xtok_0123.prf_9", &[]), "x[redacted].[redacted]");
    }

    #[test]
    fn what_is_no_secret_stays_as_it_is() {
        for text in ["", "a tok_ without an end", r#"{"choice":"even \u00e4"}"#, "prf_"] {
            assert_eq!(redact(text, &["5eed"]), text);
        }
    }

    #[test]
    fn escapes_hide_nothing() {
        for text in [r#"{"a":"tok\u005f0123"}"#, r#"{"a":"\u0070rf_0123"}"#] {
            assert_eq!(redact(text, &[]), "\"[redacted]\"");
        }
    }
}
