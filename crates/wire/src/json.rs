//! JSON that has been checked but not read: its parts are found by walking over them once.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use crate::limits::FRAGMENT_DEPTH_MAX;
use crate::scan;

/// A piece of text that is known to be one JSON value.
#[derive(Debug, Clone, Copy)]
pub struct Json<'a> {
    text: &'a str,
    /// Whether it is known to have no backslash in it.
    plain: bool,
    /// Whether it is known to be nested no deeper than a fragment may be.
    shallow: bool,
}

impl PartialEq for Json<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Json<'_> {}

impl<'a> Json<'a> {
    /// Checks that `text` is one JSON value.
    ///
    /// # Errors
    /// Where it is not.
    pub fn parse(text: &'a str) -> Result<Self, serde_json::Error> {
        serde_json::from_str::<IgnoredAny>(text)?;
        Ok(Self::known(text.trim_matches([' ', '\t', '\r', '\n'])))
    }

    /// Takes the part of `text` from where `start` is left to where `rest` is left, and whether it
    /// is known to have no backslash in it.
    #[inline]
    fn part(text: &'a str, start: &[u8], rest: &[u8], plain: bool) -> Self {
        let text = &text[text.len() - start.len()..text.len() - rest.len()];
        Self { text, plain, shallow: false }
    }

    /// Takes `text`, which was found to be JSON, and whether it is known to have no backslash in
    /// it, and to be nested no deeper than a fragment may be.
    #[inline]
    pub(crate) const fn found(text: &'a str, plain: bool, shallow: bool) -> Self {
        Self { text, plain, shallow }
    }

    /// Takes `text`, which was written as JSON or checked before.
    pub(crate) const fn known(text: &'a str) -> Self {
        Self { text, plain: false, shallow: false }
    }

    /// The text itself.
    pub const fn get(self) -> &'a str {
        self.text
    }

    /// Whether it is `null`.
    pub(crate) fn is_null(self) -> bool {
        self.text == "null"
    }

    /// The elements of a list.
    pub(crate) fn items(self) -> Option<impl Iterator<Item = Self>> {
        let mut walk = Walk::into(self.text, b'[')?;
        Some(std::iter::from_fn(move || walk.next_item()))
    }

    /// Whether objects and lists are nested no deeper than in a fragment.
    pub(crate) fn is_shallow(self) -> bool {
        self.shallow || self.is_within(FRAGMENT_DEPTH_MAX)
    }

    fn is_within(self, max: usize) -> bool {
        // Where there are few brackets the nesting need not be followed.
        self.brackets() <= max || self.depth() <= max
    }

    /// How many brackets open in it, also inside texts.
    fn brackets(self) -> usize {
        // In sums of a byte, that many are added at once.
        let runs = self.text.as_bytes().chunks(usize::from(u8::MAX));
        let count = |run: &[u8]| {
            run.iter().fold(0_u8, |sum, byte| sum.wrapping_add(matches!(byte, b'{' | b'[').into()))
        };
        runs.map(|run| usize::from(count(run))).sum()
    }

    /// The deepest nesting of objects and lists.
    fn depth(self) -> usize {
        let mut rest = self.text.as_bytes();
        let (mut depth, mut deepest) = (0_usize, 0);
        while let [first, more @ ..] = rest {
            rest = match first {
                b'"' => scan::text(rest).map_or(more, |(more, _)| more),
                _ => more,
            };
            match first {
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            deepest = deepest.max(depth);
        }
        deepest
    }

    /// The text in a JSON text.
    #[inline]
    pub(crate) fn text(self) -> Option<Cow<'a, str>> {
        let inner = self.text.strip_prefix('"')?.strip_suffix('"')?;
        if self.plain || !inner.as_bytes().contains(&b'\\') {
            return Some(Cow::Borrowed(inner));
        }
        serde_json::from_str(self.text).ok().map(Cow::Owned)
    }
}

/// A walk over the parts of an object or a list, which are checked on the way.
pub(crate) struct Walk<'a> {
    text: &'a str,
    /// What has not been walked over.
    rest: &'a [u8],
    close: u8,
    begun: bool,
    closed: bool,
}

impl<'a> Walk<'a> {
    /// Begins inside the bracket `open`, with which `text` must begin.
    pub(crate) fn into(text: &'a str, open: u8) -> Option<Self> {
        let rest = text.as_bytes().strip_prefix(&[open])?;
        Some(Self { text, rest, close: scan::closing(open), begun: false, closed: false })
    }

    /// Stands before a value as if it were behind a name.
    pub(crate) const fn over(json: Json<'a>) -> Self {
        let rest = json.text.as_bytes();
        Self { text: json.text, rest, close: 0, begun: false, closed: false }
    }

    /// The text of which this walks over a part.
    pub(crate) const fn text(&self) -> &'a str {
        self.text
    }

    /// What has not been walked over.
    pub(crate) const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Where in the text the rest begins.
    pub(crate) const fn place(&self) -> usize {
        self.text.len() - self.rest.len()
    }

    /// A walk over the next element, which is an object; `None` also if it is something else.
    pub(crate) fn next_object(&mut self) -> Option<Self> {
        self.rest = self.next_start()?;
        let rest = self.rest.strip_prefix(b"{")?;
        Some(Self { text: self.text, rest, close: b'}', begun: false, closed: false })
    }

    /// Goes on where the walk over an element ended.
    pub(crate) const fn resume(&mut self, inner: Self) {
        self.rest = inner.rest;
    }

    /// Whether the closing bracket was reached.
    pub(crate) const fn is_closed(&self) -> bool {
        self.closed
    }

    /// Whether all parts were JSON and nothing but space stands behind the closing bracket.
    pub(crate) fn is_whole(&self) -> bool {
        self.closed && scan::space(self.rest).is_empty()
    }

    /// The next name, which is `Some(None)` if it is not Unicode. Its value must be taken next.
    #[inline]
    #[expect(clippy::option_option, reason = "the end and a bad name are two things")]
    pub(crate) fn next_name(&mut self) -> Option<Option<Cow<'a, str>>> {
        let start = self.next_start()?;
        let (end, plain) = scan::text(start)?;
        self.rest = scan::colon(end)?;
        Some(Json::part(self.text, start, end, plain).text())
    }

    /// The value behind a name.
    #[inline]
    pub(crate) fn next_value(&mut self) -> Option<Json<'a>> {
        let start = self.rest;
        let (rest, plain) = match start.first()? {
            b'"' => scan::text(start)?,
            b'{' | b'[' => (scan::value(start)?.0, false),
            _ => (scan::scalar(start)?, false),
        };
        self.rest = rest;
        Some(Json::part(self.text, start, rest, plain))
    }

    /// The next element.
    #[inline]
    pub(crate) fn next_item(&mut self) -> Option<Json<'a>> {
        self.rest = self.next_start()?;
        self.next_value()
    }

    /// Goes on behind the value after which `rest` is left, and gives that value.
    pub(crate) fn leave(&mut self, rest: &'a [u8]) -> Json<'a> {
        let start = std::mem::replace(&mut self.rest, rest);
        Json::part(self.text, start, rest, false)
    }

    /// Where the next part begins; `None` at the closing bracket.
    #[inline]
    fn next_start(&mut self) -> Option<&'a [u8]> {
        let start = scan::space(self.rest);
        match start {
            [b',', more @ ..] if self.begun => Some(scan::space(more)),
            [byte, more @ ..] if *byte == self.close => {
                self.rest = more;
                self.closed = true;
                None
            }
            _ if self.begun => None,
            _ => {
                self.begun = true;
                Some(start)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_an_object_are_found() {
        let json =
            " {\"a\" : 1 ,\"b\\u0063\":[ {\"x\":\"}\\\\\"} , 2 ],\n\"d\":\"\\\"]\",\"e\":null } ";
        let mut walk = Walk::into(Json::parse(json).unwrap().get(), b'{').unwrap();
        let mut parts = Vec::new();
        while let Some(name) = walk.next_name() {
            parts.push((name.unwrap().into_owned(), walk.next_value().unwrap().get()));
        }
        assert!(walk.is_whole());
        let expected =
            [("a", "1"), ("bc", r#"[ {"x":"}\\"} , 2 ]"#), ("d", r#""\"]""#), ("e", "null")];
        assert_eq!(parts, expected.map(|(name, value)| (name.to_owned(), value)));
    }

    #[test]
    fn the_parts_of_a_list_are_found() {
        let json = Json::parse(r#"[1,"a,b",[],{"c":[2]},true]"#).unwrap();
        let parts: Vec<_> = json.items().unwrap().map(Json::get).collect();
        assert_eq!(parts, ["1", r#""a,b""#, "[]", r#"{"c":[2]}"#, "true"]);
        assert_eq!(Json::parse("[ ]").unwrap().items().unwrap().count(), 0);
        assert!(Json::parse("{}").unwrap().items().is_none());
        assert!(Json::parse("1 2").is_err());
    }

    #[test]
    fn only_nesting_counts_as_depth() {
        let nested = |depth| "[".repeat(depth) + &"]".repeat(depth);
        for (json, depth) in [
            ("1".to_owned(), 0),
            (nested(3), 3),
            ("[{},{},{\"a\":[]},[]]".to_owned(), 3),
            (format!("[\"{}\"]", nested(9)), 1),
            (format!("[{}]", vec![nested(4); 9].join(",")), 5),
        ] {
            let json = Json::parse(&json).unwrap();
            assert_eq!(scan::value(json.get().as_bytes()).unwrap().1, depth, "{}", json.get());
            for max in 0..12 {
                assert_eq!(json.is_within(max), depth <= max, "{} in {max}", json.get());
            }
        }
    }

    #[test]
    fn half_a_surrogate_is_no_text() {
        assert_eq!(Json::parse(r#""\ud800""#).unwrap().text(), None);
        assert_eq!(Json::parse(r#""\ud83d\ude00""#).unwrap().text().as_deref(), Some("😀"));
    }
}
