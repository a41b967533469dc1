//! An object and everything inside it, taken apart in one walk: the fields of each object, by name,
//! and the elements of each list.

use std::borrow::Cow;
use std::cell::Cell;

use crate::json::{Json, Walk};
use crate::limits::{FIELDS_MAX, FRAGMENT_DEPTH_MAX, LIST_MAX};
use crate::scan;

/// Where a field or an element stands in the text. It is kept small, since it is made for all of
/// them and read for some.
#[derive(Debug, Clone, Copy)]
struct Span {
    name: Label,
    value: u32,
    end: u32,
    /// The place of the next part of the same object or list. Those between are the parts of the
    /// value; if there are none, that is empty, no object or list, or was left whole.
    next: u16,
    /// Whether the value is known to have no backslash in it.
    plain: bool,
}

/// The name of a field.
#[derive(Debug, Clone, Copy, Default)]
struct Label {
    /// Where it begins, with its quote.
    start: u32,
    /// A number that differs for most pairs of names.
    mark: u16,
    /// Its length between its quotes, or [`READ`].
    len: u16,
}

/// The length of a name that has to be read, since it does not stand for itself or is long.
const READ: u16 = u16::MAX;

/// An object taken apart: its fields, each followed by the parts of its value.
#[derive(Debug, Clone)]
pub(crate) struct Parts<'a> {
    json: Json<'a>,
    text: &'a str,
    all: Vec<Span>,
    /// Whether nothing in it is nested deeper than a fragment may be.
    shallow: bool,
}

impl<'a> Parts<'a> {
    /// Takes the object behind a name apart; `None` if it is something else, is not JSON or stands
    /// in a text of 4 GiB.
    pub(crate) fn take(walk: &mut Walk<'a>) -> Option<Self> {
        let (text, inner) = (walk.text(), walk.rest().strip_prefix(b"{")?);
        u32::try_from(text.len()).ok()?;
        let likely = (inner.len() / BYTES_PER_FIELD).clamp(4, LIKELY_MAX);
        let mut collector = Collector { text, all: Vec::with_capacity(likely), deepest: 0 };
        let rest = collector.parts(b'{', inner, 1)?;
        let shallow = collector.deepest <= FRAGMENT_DEPTH_MAX;
        Some(Self { json: walk.leave(rest), text, all: collector.all, shallow })
    }

    /// The object.
    pub(crate) const fn json(&self) -> Json<'a> {
        self.json
    }
}

/// The fields of one object.
#[derive(Debug)]
pub(crate) struct Entries<'a> {
    text: &'a str,
    all: Cow<'a, [Span]>,
    start: usize,
    end: usize,
    /// Where the next search begins: readers mostly ask in the order in which writers write.
    next: Cell<usize>,
    /// A bit for each mark that a name has.
    marks: [u64; 4],
    /// Whether nothing in it is nested deeper than a fragment may be.
    shallow: bool,
}

/// Why something is no object with fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoEntries {
    /// It is something else.
    NotAnObject,
    /// A name is not Unicode.
    Name,
    /// A name comes twice.
    Repeated,
    /// There are too many of them.
    TooMany,
}

impl NoEntries {
    /// What would have been accepted.
    pub(crate) const fn expected(self) -> &'static str {
        match self {
            Self::NotAnObject => "an object",
            Self::Name => "an object whose names are Unicode",
            Self::Repeated => "an object without repeated fields",
            Self::TooMany => "an object of at most 256 fields",
        }
    }
}

const _: () = assert!(FIELDS_MAX == 256);

/// A field with its value rarely takes less.
const BYTES_PER_FIELD: usize = 24;
/// No message has many more, and for that much memory most allocators are quick.
const LIKELY_MAX: usize = 50;
/// From how many entries on, and how deep, objects and lists are left whole until somebody wants to
/// read them: what every message has stays below it, and long tables are mostly passed on unread.
const ENTRIES_MAX: usize = 192;
const DEPTH_MAX: usize = 16;

const _: () = assert!(ENTRIES_MAX + DEPTH_MAX * (FIELDS_MAX + 1) < READ as usize);

impl<'a> Entries<'a> {
    /// Takes an object apart.
    pub(crate) fn read(json: Json<'a>) -> Result<Self, NoEntries> {
        let parts = Parts::take(&mut Walk::over(json)).ok_or(NoEntries::NotAnObject)?;
        let end = parts.all.len();
        Self::checked((parts.text, parts.shallow), Cow::Owned(parts.all), 0, end)
    }

    /// The fields of an object that was taken apart.
    pub(crate) fn of(parts: &'a Parts<'_>) -> Result<Self, NoEntries> {
        let text = (parts.text, parts.shallow);
        Self::checked(text, Cow::Borrowed(&parts.all), 0, parts.all.len())
    }

    /// The value of the field or element at `place`.
    #[inline]
    pub(crate) fn value(&self, place: usize) -> Json<'a> {
        let span = &self.all[place];
        let text = &self.text[span.value as usize..span.end as usize];
        Json::found(text, span.plain, self.shallow)
    }

    /// The object that is the value at `place`.
    pub(crate) fn inner(&self, place: usize) -> Result<Entries<'_>, NoEntries> {
        let (value, start, end) = (self.value(place), place + 1, self.next_of(place));
        if start == end || !value.get().starts_with('{') {
            return Entries::read(value);
        }
        Entries::checked((self.text, self.shallow), Cow::Borrowed(&self.all), start, end)
    }

    /// The elements of the list that is the value at `place`, each with its own place unless the
    /// list was left whole; `None` if it is something else or too long.
    pub(crate) fn items(&self, place: usize) -> Option<Vec<(Json<'a>, Option<usize>)>> {
        let (value, start, end) = (self.value(place), place + 1, self.next_of(place));
        if start == end || !value.get().starts_with('[') {
            return Some(items(value)?.into_iter().map(|item| (item, None)).collect());
        }
        Some(self.places(start, end).map(|item| (self.value(item), Some(item))).collect())
    }

    #[inline]
    fn next_of(&self, place: usize) -> usize {
        usize::from(self.all[place].next)
    }

    /// The fields from `start` to `end`, unless there is something wrong with their names.
    fn checked(
        (text, shallow): (&'a str, bool),
        all: Cow<'a, [Span]>,
        start: usize,
        end: usize,
    ) -> Result<Self, NoEntries> {
        let mut marks = [0_u64; 4];
        let (mut count, mut place) = (0, start);
        let spans = &all[..end];
        while let Some(span) = spans.get(place) {
            if span.name.len == READ && span.name(text).is_none() {
                return Err(NoEntries::Name);
            }
            let (word, bit) = bit(span.name.mark);
            if marks[word] & bit != 0 && is_repeated(text, &spans[..place], start, span) {
                return Err(NoEntries::Repeated);
            }
            if count == FIELDS_MAX {
                return Err(NoEntries::TooMany);
            }
            marks[word] |= bit;
            count += 1;
            place = usize::from(span.next);
        }
        Ok(Self { text, all, start, end, next: Cell::new(start), marks, shallow })
    }

    /// The place of the field `name`.
    pub(crate) fn get(&self, name: &str) -> Option<usize> {
        let next = self.next.get();
        let is_next = next < self.end && self.all[next].is_written(self.text, name);
        let place = if is_next { next } else { self.search(next, name)? };
        self.next.set(self.next_of(place));
        Some(place)
    }

    /// The place of the field `name`, which is likely to stand somewhere behind `next`.
    fn search(&self, next: usize, name: &str) -> Option<usize> {
        let mark = mark(name.as_bytes());
        let (word, bit) = bit(mark);
        if self.marks[word] & bit == 0 {
            return None;
        }
        find(self.text, &self.all[..self.end], next, (mark, name))
            .or_else(|| find(self.text, &self.all[..next], self.start, (mark, name)))
    }

    /// All names and the places of their fields.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Cow<'a, str>, usize)> {
        let named = |place: usize| Some((self.all[place].name(self.text)?, place));
        self.places(self.start, self.end).map_while(named)
    }

    /// Those whose names begin with `initial`, in either case.
    pub(crate) fn beginning(&self, initial: u8) -> impl Iterator<Item = (Cow<'a, str>, usize)> {
        let begins = move |place: &usize| {
            let name = &self.all[*place].name;
            let first = self.text.as_bytes().get(name.start as usize + 1);
            name.len == READ || first.is_some_and(|first| first.eq_ignore_ascii_case(&initial))
        };
        let named = |place: usize| Some((self.all[place].name(self.text)?, place));
        self.places(self.start, self.end).filter(begins).filter_map(named)
    }

    /// The places of the parts of one object or list.
    fn places(&self, start: usize, end: usize) -> impl Iterator<Item = usize> {
        let next = move |place: usize| Some(place).filter(|place| *place < end);
        std::iter::successors(next(start), move |place| next(self.next_of(*place)))
    }
}

impl Span {
    /// The name; `None` if it is not Unicode.
    fn name<'a>(&self, text: &'a str) -> Option<Cow<'a, str>> {
        let start = self.name.start as usize;
        if self.name.len == READ {
            return Walk::over(Json::known(&text[start..])).next_value()?.text();
        }
        Some(Cow::Borrowed(&text[start + 1..=start + usize::from(self.name.len)]))
    }

    /// Whether the name stands for itself and is `name`.
    #[inline]
    fn is_written(&self, text: &str, name: &str) -> bool {
        let (start, len) = (self.name.start as usize + 1, usize::from(self.name.len));
        len == name.len() && text.as_bytes()[start..].starts_with(name.as_bytes())
    }

    /// Whether the name has to be read and says `name`.
    #[cold]
    fn is_read_as(&self, text: &str, name: &str) -> bool {
        self.name(text).is_some_and(|own| own == name)
    }
}

/// The place of the field `name` from `place` on, where a field of the object that is searched
/// stands.
fn find(text: &str, all: &[Span], mut place: usize, (mark, name): (u16, &str)) -> Option<usize> {
    loop {
        let span = all.get(place)?;
        if span.name.mark == mark {
            let same = match span.name.len {
                READ => span.is_read_as(text, name),
                _ => span.is_written(text, name),
            };
            if same {
                return Some(place);
            }
        }
        place = usize::from(span.next);
    }
}

/// Whether one of the fields from `start` on has the name of `span`.
fn is_repeated(text: &str, before: &[Span], start: usize, span: &Span) -> bool {
    let name = span.name(text);
    name.is_some_and(|name| find(text, before, start, (span.name.mark, &name)).is_some())
}

/// Collects the parts of an object. Every function takes the bytes from where something begins and
/// gives those after it, or `None` if it is not that.
struct Collector<'a> {
    text: &'a str,
    all: Vec<Span>,
    /// How deep it is nested where it is deepest.
    deepest: usize,
}

impl<'a> Collector<'a> {
    /// What is inside the bracket `open`, from behind it on. Of too many fields it keeps one too
    /// many, of too many elements none.
    fn parts(&mut self, open: u8, rest: &'a [u8], depth: usize) -> Option<&'a [u8]> {
        let close = scan::closing(open);
        let start = self.all.len();
        self.deepest = self.deepest.max(depth);
        let mut rest = scan::space(rest);
        if let [first, more @ ..] = rest
            && *first == close
        {
            return Some(more);
        }
        let mut left = FIELDS_MAX + 1;
        loop {
            let name = if open == b'{' {
                let (label, value) = self.label(rest)?;
                rest = value;
                (left > 0).then_some(label)
            } else {
                (self.all.len() < ENTRIES_MAX).then(Label::default)
            };
            left = left.saturating_sub(1);
            rest = match name {
                Some(name) => self.value(name, rest, depth)?,
                None => self.passed(rest, depth)?,
            };
            let (more, is_comma) = scan::comma(rest, close)?;
            rest = more;
            if !is_comma {
                break;
            }
        }
        if open == b'[' && self.all.len() >= ENTRIES_MAX {
            self.all.truncate(start);
        }
        Some(rest)
    }

    /// The name of a field.
    #[inline]
    fn label(&self, rest: &'a [u8]) -> Option<(Label, &'a [u8])> {
        let (end, plain) = scan::text(rest)?;
        let name = &rest[..rest.len() - end.len()];
        let (mark, len) = if plain { known(name) } else { (read_mark(name), READ) };
        Some((Label { start: self.offset(rest), mark, len }, scan::colon(end)?))
    }

    /// The value behind `name` and all that is inside.
    #[inline]
    fn value(&mut self, name: Label, start: &'a [u8], depth: usize) -> Option<&'a [u8]> {
        let place = self.all.len();
        let value = self.offset(start);
        let (rest, plain) = match start {
            [b'"', ..] => scan::text(start)?,
            [open @ (b'{' | b'['), inner @ ..] if depth < DEPTH_MAX && place < ENTRIES_MAX => {
                self.all.push(Span { name, value, end: 0, next: 0, plain: false });
                let rest = self.parts(*open, inner, depth + 1)?;
                let (end, next) = (self.offset(rest), index(self.all.len()));
                self.all[place] = Span { name, value, end, next, plain: false };
                return Some(rest);
            }
            [b'{' | b'[', ..] => (self.passed(start, depth)?, false),
            _ => (scan::scalar(start)?, true),
        };
        let (end, next) = (self.offset(rest), index(place + 1));
        self.all.push(Span { name, value, end, next, plain });
        Some(rest)
    }

    /// Leaves a value whole that stands `depth` deep.
    fn passed(&mut self, start: &'a [u8], depth: usize) -> Option<&'a [u8]> {
        let (rest, inside) = scan::value(start)?;
        self.deepest = self.deepest.max(depth + inside);
        Some(rest)
    }

    #[inline]
    fn offset(&self, rest: &[u8]) -> u32 {
        u32::try_from(self.text.len() - rest.len()).expect("longer texts are not taken apart")
    }
}

/// The mark and the length of a name that stands for itself, in its quotes.
#[inline]
fn known(name: &[u8]) -> (u16, u16) {
    let name = &name[1..name.len() - 1];
    match u16::try_from(name.len()) {
        Ok(len) => (mark(name), len),
        Err(_) => (mark(name), READ),
    }
}

/// The mark of a name that does not stand for itself.
#[cold]
fn read_mark(name: &[u8]) -> u16 {
    let name = str::from_utf8(name).ok().and_then(|name| Json::known(name).text());
    name.map_or(0, |name| mark(name.as_bytes()))
}

#[inline]
fn index(place: usize) -> u16 {
    u16::try_from(place).expect("the limits keep the parts below that")
}

/// A number that differs for most pairs of names.
#[inline]
fn mark(name: &[u8]) -> u16 {
    let mixed = match (name.first_chunk(), name.last_chunk()) {
        (Some(first), Some(last)) => {
            u32::from_le_bytes(*first).rotate_left(7) ^ u32::from_le_bytes(*last)
        }
        _ => name.iter().fold(0, |mixed, byte| mixed << 8 | u32::from(*byte)),
    };
    let [.., low, high] = mixed.wrapping_mul(0x9e37_79b1).to_le_bytes();
    u16::from_le_bytes([low, high])
}

/// The word and the bit in it that stand for `mark`.
#[inline]
fn bit(mark: u16) -> (usize, u64) {
    (usize::from(mark >> 14), 1 << (mark >> 8 & 63))
}

/// The elements of a list that is not too long.
pub(crate) fn items(json: Json<'_>) -> Option<Vec<Json<'_>>> {
    let items: Vec<_> = json.items()?.take(LIST_MAX + 1).collect();
    (items.len() <= LIST_MAX).then_some(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names<'a>(entries: &Entries<'a>) -> Vec<Cow<'a, str>> {
        entries.iter().map(|(name, _)| name).collect()
    }

    fn refused(json: &str) -> NoEntries {
        Entries::read(Json::parse(json).unwrap()).unwrap_err()
    }

    #[test]
    fn each_object_has_its_own_fields() {
        let json = r#"{"a":{"b":{"c":1,"a":2},"d":[{"x":1}]},"b":3,"\u0063":{}}"#;
        let outer = Entries::read(Json::parse(json).unwrap()).unwrap();
        assert_eq!(names(&outer), ["a", "b", "c"]);
        assert_eq!(outer.value(outer.get("b").unwrap()).get(), "3");
        assert!(outer.get("d").is_none());
        let a = outer.inner(outer.get("a").unwrap()).unwrap();
        assert_eq!(names(&a), ["b", "d"]);
        assert_eq!(a.value(a.get("d").unwrap()).get(), r#"[{"x":1}]"#);
        let b = a.inner(a.get("b").unwrap()).unwrap();
        assert_eq!(
            (b.value(b.get("a").unwrap()).get(), names(&b)),
            ("2", vec!["c".into(), "a".into()])
        );
        assert_eq!(names(&outer.inner(outer.get("c").unwrap()).unwrap()), [""; 0]);
        let wrong = outer.inner(outer.get("b").unwrap());
        assert_eq!(wrong.unwrap_err(), NoEntries::NotAnObject);
    }

    #[test]
    fn objects_that_were_left_whole_are_read_when_they_are_wanted() {
        let deep = (0..40).fold("1".to_owned(), |json, _| format!("{{\"a\":{json},\"b\":2}}"));
        descend(&Entries::read(Json::parse(&deep).unwrap()).unwrap(), 40);

        let objects: Vec<_> = (0..200).map(|n| format!(r#""{n}":{}"#, object(100))).collect();
        let wide = format!("{{{}}}", objects.join(","));
        let entries = Entries::read(Json::parse(&wide).unwrap()).unwrap();
        assert!(entries.all.len() < ENTRIES_MAX + 200 + 100);
        assert_eq!(names(&entries).len(), 200);
        for (_, place) in entries.iter() {
            assert_eq!(names(&entries.inner(place).unwrap()).len(), 100);
        }
    }

    fn descend(entries: &Entries<'_>, depth: usize) {
        assert_eq!(names(entries), ["a", "b"]);
        let a = entries.get("a").unwrap();
        match depth {
            1 => assert_eq!(entries.value(a).get(), "1"),
            _ => descend(&entries.inner(a).unwrap(), depth - 1),
        }
    }

    #[test]
    fn a_list_is_kept_with_its_elements_or_whole() {
        let long = format!("[{}]", vec!["[1]"; ENTRIES_MAX].join(","));
        let json = format!(r#"{{"a":[1,{{"b":[]}},[2,3]],"c":{long},"d":[],"e":1}}"#);
        let outer = Entries::read(Json::parse(&json).unwrap()).unwrap();
        let items = |name| outer.items(outer.get(name).unwrap());
        let a = items("a").unwrap();
        let texts: Vec<_> = a.iter().map(|(item, _)| item.get()).collect();
        assert_eq!(texts, ["1", r#"{"b":[]}"#, "[2,3]"]);
        assert_eq!(names(&outer.inner(a[1].1.unwrap()).unwrap()), ["b"]);
        assert_eq!(outer.items(a[2].1.unwrap()).unwrap().len(), 2);
        let c = items("c").unwrap();
        assert!(
            c.len() == ENTRIES_MAX
                && c.iter().all(|(item, place)| { item.get() == "[1]" && place.is_none() })
        );
        assert_eq!(items("d"), Some(vec![]));
        assert_eq!(items("e"), None);
    }

    #[test]
    fn names_that_do_not_stand_for_themselves_are_found() {
        let long = "x".repeat(70_000);
        let json = format!(r#"{{"a":1,"b":2,"a\":1,\"b":3,"\u0063":4,"{long}":5}}"#);
        let entries = Entries::read(Json::parse(&json).unwrap()).unwrap();
        for (name, value) in [("a", "1"), ("a\":1,\"b", "3"), ("c", "4"), (&*long, "5")] {
            assert_eq!(entries.value(entries.get(name).unwrap()).get(), value);
        }
    }

    #[test]
    fn wrong_names_are_refused_where_they_are_read() {
        assert_eq!(refused("[]"), NoEntries::NotAnObject);
        assert_eq!(refused(r#"{"\ud800":1}"#), NoEntries::Name);
        assert_eq!(refused(r#"{"a":1,"b":2,"\u0061":3}"#), NoEntries::Repeated);
        assert_eq!(refused(r#"{"match_id":1,"b":2,"match_id":3}"#), NoEntries::Repeated);
        assert_eq!(refused(&object(FIELDS_MAX + 2)), NoEntries::TooMany);
        assert!(Entries::read(Json::parse(&object(FIELDS_MAX)).unwrap()).is_ok());
        let inside = r#"{"a":{"b":1,"b":2}}"#;
        let outer = Entries::read(Json::parse(inside).unwrap()).unwrap();
        let inner = outer.inner(outer.get("a").unwrap());
        assert_eq!(inner.unwrap_err(), NoEntries::Repeated);
    }

    fn object(fields: usize) -> String {
        let fields: Vec<_> = (0..fields).map(|n| format!("\"f{n}\":{n}")).collect();
        format!("{{{}}}", fields.join(","))
    }
}
