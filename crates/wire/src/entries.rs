//! An object and all objects inside it, taken apart in one walk: the fields of each, by name.

use std::borrow::Cow;
use std::cell::Cell;
use std::sync::Arc;

use crate::json::{Json, Walk};
use crate::limits::{FIELDS_MAX, LIST_MAX};

/// A field of an object.
#[derive(Debug)]
pub(crate) struct Field<'a> {
    /// `None` if it is not Unicode.
    name: Option<Cow<'a, str>>,
    /// The value.
    pub(crate) value: Json<'a>,
    place: usize,
    /// The place of the next field of the same object. Those between are the fields of the object
    /// in this one; if there are none, that is empty or was left whole.
    next: usize,
}

/// An object taken apart: its fields, each followed by those of the object that is its value.
#[derive(Debug, Clone)]
pub(crate) struct Parts<'a> {
    json: Json<'a>,
    all: Arc<Vec<Field<'a>>>,
}

impl<'a> Parts<'a> {
    /// Takes the object behind a name apart; `None` if it is something else.
    pub(crate) fn take(walk: &mut Walk<'a>) -> Option<Self> {
        let mut inner = walk.inner(b'{')?;
        let likely = (inner.left() / BYTES_PER_FIELD).clamp(4, 64);
        let mut all = Vec::with_capacity(likely);
        collect(&mut inner, &mut all, 1);
        Some(Self { json: walk.leave(&inner)?, all: Arc::new(all) })
    }

    /// The object.
    pub(crate) const fn json(&self) -> Json<'a> {
        self.json
    }
}

/// The fields of one object.
#[derive(Debug)]
pub(crate) struct Entries<'a> {
    all: Arc<Vec<Field<'a>>>,
    start: usize,
    end: usize,
    /// Where the next search begins: readers mostly ask in the order in which writers write.
    next: Cell<usize>,
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
/// From how many entries on, and how deep, objects are left whole until somebody wants to read
/// them: no message comes near, and what else comes shall not take much memory.
const ENTRIES_MAX: usize = 1_024;
const DEPTH_MAX: usize = 16;

impl<'a> Entries<'a> {
    /// Takes an object apart.
    pub(crate) fn read(json: Json<'a>) -> Result<Self, NoEntries> {
        Self::of(Parts::take(&mut Walk::over(json)).ok_or(NoEntries::NotAnObject)?)
    }

    /// The fields of an object that was taken apart.
    pub(crate) fn of(parts: Parts<'a>) -> Result<Self, NoEntries> {
        let end = parts.all.len();
        Self { all: parts.all, start: 0, end, next: Cell::new(0) }.checked()
    }

    /// The object in a field of this one, or of one that was taken apart elsewhere.
    pub(crate) fn inner(&self, field: &Field<'a>) -> Result<Self, NoEntries> {
        let (start, end) = (field.place + 1, field.next);
        let own = self.all.get(field.place).is_some_and(|own| std::ptr::eq(own, field));
        if !own || start == end {
            return Self::read(field.value);
        }
        let all = Arc::clone(&self.all);
        Self { all, start, end, next: Cell::new(start) }.checked()
    }

    /// These entries, unless there is something wrong with their names.
    fn checked(self) -> Result<Self, NoEntries> {
        let mut seen = [0_u64; 4];
        let (mut count, mut place) = (0, self.start);
        let all = &self.all[..self.end];
        while let Some(field) = all.get(place) {
            let name = field.name.as_deref().ok_or(NoEntries::Name)?;
            let mark = mark(name);
            let (seen, mark) = (&mut seen[usize::from(mark / 64)], 1 << (mark % 64));
            if *seen & mark != 0 && find(&all[..place], self.start, name).is_some() {
                return Err(NoEntries::Repeated);
            }
            if count == FIELDS_MAX {
                return Err(NoEntries::TooMany);
            }
            *seen |= mark;
            count += 1;
            place = field.next;
        }
        Ok(self)
    }

    /// The field `name`.
    pub(crate) fn get(&self, name: &str) -> Option<&Field<'a>> {
        let next = self.next.get();
        let found = find(&self.all[..self.end], next, name);
        let field = found.or_else(|| find(&self.all[..next], self.start, name))?;
        self.next.set(field.next);
        Some(field)
    }

    /// All names and fields.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Field<'a>)> {
        let mut place = self.start;
        std::iter::from_fn(move || {
            let field = self.all[..self.end].get(place)?;
            place = field.next;
            Some((field.name.as_deref()?, field))
        })
    }
}

/// The field `name` from `place` on, where a field of the object that is searched stands.
#[inline]
fn find<'f, 'a>(all: &'f [Field<'a>], mut place: usize, name: &str) -> Option<&'f Field<'a>> {
    loop {
        let field = all.get(place)?;
        if field.name.as_deref() == Some(name) {
            return Some(field);
        }
        place = field.next;
    }
}

/// Collects the fields of an object and of the objects in them. Of too many fields it keeps one
/// too many.
fn collect<'a>(walk: &mut Walk<'a>, all: &mut Vec<Field<'a>>, depth: usize) {
    let mut left = FIELDS_MAX + 1;
    while let Some(name) = walk.next_name() {
        let apart = depth < DEPTH_MAX && all.len() < ENTRIES_MAX && left > 0;
        let place = all.len();
        let next = place + 1;
        if let Some(mut inner) = walk.inner(b'{').filter(|_| apart) {
            all.push(Field { name, value: Json::known(""), place, next });
            collect(&mut inner, all, depth + 1);
            let Some(value) = walk.leave(&inner) else { break };
            let next = all.len();
            all[place].value = value;
            all[place].next = next;
        } else {
            let Some(value) = walk.next_value() else { break };
            if left > 0 {
                all.push(Field { name, value, place, next });
            }
        }
        left = left.saturating_sub(1);
    }
}

/// A number that differs for most pairs of names.
#[inline]
fn mark(name: &str) -> u8 {
    let ends = name.as_bytes().first_chunk().zip(name.as_bytes().last_chunk());
    let mixed = ends.map_or(0, |(first, last)| {
        u32::from_le_bytes(*first).rotate_left(7) ^ u32::from_le_bytes(*last)
    });
    mixed.wrapping_mul(0x9e37_79b1).to_be_bytes()[0]
}

/// The elements of a list that is not too long.
pub(crate) fn items(json: Json<'_>) -> Option<Vec<Json<'_>>> {
    let items: Vec<_> = json.items()?.take(LIST_MAX + 1).collect();
    (items.len() <= LIST_MAX).then_some(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names<'e>(entries: &'e Entries<'_>) -> Vec<&'e str> {
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
        assert_eq!(outer.get("b").unwrap().value.get(), "3");
        assert!(outer.get("d").is_none());
        let a = outer.inner(outer.get("a").unwrap()).unwrap();
        assert_eq!(names(&a), ["b", "d"]);
        assert_eq!(a.get("d").unwrap().value.get(), r#"[{"x":1}]"#);
        let b = a.inner(a.get("b").unwrap()).unwrap();
        assert_eq!((b.get("a").unwrap().value.get(), names(&b)), ("2", vec!["c", "a"]));
        assert_eq!(names(&outer.inner(outer.get("c").unwrap()).unwrap()), [""; 0]);
        let elsewhere = Entries::read(Json::parse(r#"{"y":1,"z":{"x":[]}}"#).unwrap()).unwrap();
        assert_eq!(names(&outer.inner(elsewhere.get("z").unwrap()).unwrap()), ["x"]);
        let wrong = outer.inner(outer.get("b").unwrap());
        assert_eq!(wrong.unwrap_err(), NoEntries::NotAnObject);
    }

    #[test]
    fn objects_that_were_left_whole_are_read_when_they_are_wanted() {
        let deep = (0..40).fold("1".to_owned(), |json, _| format!("{{\"a\":{json},\"b\":2}}"));
        let mut entries = Entries::read(Json::parse(&deep).unwrap()).unwrap();
        for _ in 1..40 {
            assert_eq!(names(&entries), ["a", "b"]);
            entries = entries.inner(entries.get("a").unwrap()).unwrap();
        }
        assert_eq!(entries.get("a").unwrap().value.get(), "1");

        let objects: Vec<_> = (0..200).map(|n| format!(r#""{n}":{}"#, object(100))).collect();
        let wide = format!("{{{}}}", objects.join(","));
        let entries = Entries::read(Json::parse(&wide).unwrap()).unwrap();
        assert!(entries.all.len() < 2 * ENTRIES_MAX);
        assert_eq!(names(&entries).len(), 200);
        for (_, field) in entries.iter() {
            assert_eq!(names(&entries.inner(field).unwrap()).len(), 100);
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
