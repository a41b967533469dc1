//! Takes out of a text everything with which somebody could pretend to be somebody else.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memchr_iter, memmem, memrchr};

/// What stands in place of a secret.
pub const REDACTED: &str = "[redacted]";

/// How every token and every proof begins.
const BEGINNINGS: [&str; 2] = ["tok_", "prf_"];

/// Fields that hold a secret, whatever it looks like; in whatever letters.
const NAMES: [&str; 12] = [
    "accesstoken",
    "apikey",
    "authorization",
    "authtoken",
    "joincode",
    "joinkey",
    "matchproof",
    "password",
    "replyproof",
    "secret",
    "secretkey",
    "token",
];
/// The longest of these names, with what people put between words.
const NAME_BYTES_MAX: usize = 24;

/// `text` without tokens and proofs, without the values of fields that hold secrets by their name,
/// and without what `known` lists. JSON stays JSON.
pub fn redact<'a>(text: &'a str, known: &[&str]) -> Cow<'a, str> {
    if hides_something(text) {
        return Cow::Owned(format!("\"{REDACTED}\""));
    }
    let mut out = without_named(text);
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

/// `text` without the values of fields that hold secrets by their name.
fn without_named(text: &str) -> Cow<'_, str> {
    let (mut out, mut kept) = (String::new(), 0);
    for at in memchr_iter(b':', text.as_bytes()) {
        let Some(value) = secret_behind(text, at).filter(|value| value.start >= kept) else {
            continue;
        };
        let secret = &text[value.clone()];
        out.push_str(&text[kept..value.start]);
        // A number has no quotes of its own.
        let is_bare = secret.bytes().all(|byte| byte.is_ascii_digit() || b".-+eE".contains(&byte));
        let is_quoted = text[..value.start].ends_with('"');
        if is_bare && !is_quoted {
            out.push_str(&format!("\"{REDACTED}\""));
        } else {
            out.push_str(REDACTED);
        }
        kept = value.end;
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[kept..]);
    Cow::Owned(out)
}

/// Where the value stands behind the colon at `at`, if the name before it is that of a secret. The
/// quotes may be escaped, where JSON stands in a text.
fn secret_behind(text: &str, at: usize) -> Option<Range<usize>> {
    let (before, behind) = (&text[..at], &text[at + 1..]);
    let name = before.trim_ascii_end().strip_suffix('"')?;
    let escapes = name.len() - name.trim_end_matches('\\').len();
    let name = &name[..name.len() - escapes];
    let start = memrchr(b'"', name.as_bytes())? + 1;
    if name.len() - start > NAME_BYTES_MAX || !is_secret(&name[start..]) {
        return None;
    }
    let first = at + 1 + (behind.len() - behind.trim_ascii_start().len());
    let value = &text[first..];
    let quote = "\\".repeat(escapes) + "\"";
    if let Some(inner) = value.strip_prefix(&*quote) {
        let start = first + quote.len();
        let len = end_of(inner, escapes);
        return (len > 0 && &inner[..len] != REDACTED).then(|| start..start + len);
    }
    let len = value.find(|c: char| !c.is_ascii_digit() && !".-+eE".contains(c));
    let len = len.unwrap_or(value.len());
    let is_number = value.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    (is_number && escapes == 0).then(|| first..first + len)
}

/// Whether a field of this name holds a secret.
fn is_secret(name: &str) -> bool {
    let letters = || name.bytes().filter(u8::is_ascii_alphanumeric);
    NAMES.iter().any(|known| letters().map(|byte| byte.to_ascii_lowercase()).eq(known.bytes()))
}

/// How long the text is whose closing quote has `escapes` backslashes before it; one with fewer
/// ends the text around it.
fn end_of(inner: &str, escapes: usize) -> usize {
    let mut backslashes = 0;
    for (at, byte) in inner.bytes().enumerate() {
        match byte {
            b'\\' => backslashes += 1,
            b'"' if escapes == 0 && backslashes % 2 == 0 => return at,
            b'"' if escapes > 0 && backslashes <= escapes => return at - backslashes,
            _ => backslashes = 0,
        }
    }
    inner.len()
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
    let named = |text: &str| {
        memchr_iter(b':', text.as_bytes()).filter(|at| secret_behind(text, *at).is_some()).count()
    };
    let count = |text: &str| {
        BEGINNINGS.iter().map(|word| text.matches(word).count()).sum::<usize>() + named(text)
    };
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

    // req: AUTH-3
    #[test]
    fn what_is_called_a_token_is_gone_whatever_it_looks_like() {
        for (text, expected) in [
            (
                r#"{"auth_token":"my-secret","choice":"odd"}"#,
                r#"{"auth_token":"[redacted]","choice":"odd"}"#,
            ),
            (r#"{"authToken" : "a \" b\\" ,"x":1}"#, r#"{"authToken" : "[redacted]" ,"x":1}"#),
            (r#"{"token": 12345, "b":2}"#, r#"{"token": "[redacted]", "b":2}"#),
            (
                r#"{"text":"{\"auth_token\": \"hush\", \"choice\": \"odd\"}"}"#,
                r#"{"text":"{\"auth_token\": \"[redacted]\", \"choice\": \"odd\"}"}"#,
            ),
            (
                r#"{"Join-Code":"abc","password":"x","auth_token":"tok_1","api_key":"k:\"token\":\"z"}"#,
                r#"{"Join-Code":"[redacted]","password":"[redacted]","auth_token":"[redacted]","api_key":"[redacted]"}"#,
            ),
            (
                r#"{"text":"{\"token\":\"hu","choice":"odd","x":"\"y\""}"#,
                r#"{"text":"{\"token\":\"[redacted]","choice":"odd","x":"\"y\""}"#,
            ),
            (r#"{"auth_token":"#, r#"{"auth_token":"#),
            (r#"{"auth_token":"unfinished"#, r#"{"auth_token":"[redacted]"#),
        ] {
            assert_eq!(redact(text, &[]), expected);
        }
        let same = r#"{"auth_token":"","token":null,"token_shown":true,"tokens":"few","t":"a:b"}"#;
        assert!(matches!(redact(same, &[]), Cow::Borrowed(text) if text == same));
        assert_eq!(redact(r#"{"auth\u005ftoken":"my-secret"}"#, &[]), "\"[redacted]\"");
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
