//! An object as it came: its fields in a list, taken out by name and checked one by one.
//!
//! Where envelope and payload are nested, the view looks the envelope's fields up there and all
//! others in the payload, so that a message is read the same way in every shape.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::code::Code;
use crate::decode::{DecodeError, join, render, shown_name};
use crate::entries::{Entries, NoEntries, Parts};
use crate::fragment::Fragment;
use crate::json::Json;
use crate::lenient::is_alike;
use crate::value::{FromField, Wrong};

/// How envelope and payload are nested where they are apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Each in an object of its own (document 001).
    Apart,
    /// The payload inside the envelope (document 004).
    Payload,
}

impl Shape {
    /// Whether the field stands in the envelope.
    pub(crate) fn is_in_envelope(self, name: &str) -> bool {
        match self {
            Self::Apart => IN_ENVELOPE.contains(&name),
            Self::Payload => AROUND_PAYLOAD.contains(&name),
        }
    }
}

/// The fields that stand in the envelope where it is an object of its own.
const IN_ENVELOPE: [&str; 10] = [
    "protocol",
    "message_type",
    "sender",
    "timestamp",
    "conversation_id",
    "auth_token",
    "league_id",
    "round_id",
    "match_id",
    "game_type",
];

/// The fields that stand around the payload.
const AROUND_PAYLOAD: [&str; 7] =
    ["protocol", "message_id", "type", "sender", "timestamp", "auth_token", "correlation_id"];

/// An object's fields, each still as JSON.
#[derive(Debug)]
pub(crate) struct Fields<'a> {
    at: &'static str,
    entries: Entries<'a>,
    envelope: Option<Box<Around<'a>>>,
}

/// The envelope of a payload.
#[derive(Debug)]
struct Around<'a> {
    fields: Fields<'a>,
    shape: Shape,
    /// Whether fields of the envelope may stand in the payload.
    loose: bool,
    /// Whether any do.
    mixed: bool,
}

/// A field that was found, in this object or in its envelope.
#[derive(Clone, Copy)]
pub(crate) struct Found<'f, 'a> {
    fields: &'f Fields<'a>,
    place: usize,
}

type Read<T> = Result<T, DecodeError>;

impl<'f, 'a> Found<'f, 'a> {
    /// The value.
    #[inline]
    pub(crate) fn value(self) -> Json<'a> {
        self.fields.entries.value(self.place)
    }

    /// The object that is the value; from now on it stands at `at`.
    pub(crate) fn inner(self, at: &'static str) -> Read<Fields<'f>> {
        Fields::of(at, self.fields.entries.inner(self.place), self.value())
    }

    /// Where it stands, if `name` is its name.
    fn path(self, name: &str) -> String {
        join(self.fields.at, name)
    }
}

impl<'a> Fields<'a> {
    /// Reads the object `raw` that stands at `at`.
    pub(crate) fn read(at: &'static str, raw: Json<'a>) -> Read<Self> {
        Self::of(at, Entries::read(raw), raw)
    }

    /// Reads the object that stands at `at` and was taken apart.
    pub(crate) fn of_parts(at: &'static str, parts: &'a Parts<'_>) -> Read<Self> {
        Self::of(at, Entries::of(parts), parts.json())
    }

    fn of(at: &'static str, entries: Result<Entries<'a>, NoEntries>, raw: Json<'a>) -> Read<Self> {
        match entries {
            Ok(entries) => Ok(Self { at, entries, envelope: None }),
            Err(no) => Err(DecodeError::wrong(Code::E003, at, no.expected(), render("", raw))),
        }
    }

    /// This object as payload to `envelope`. With `loose` the envelope's fields may stand here too.
    pub(crate) fn with_envelope(mut self, fields: Self, shape: Shape, loose: bool) -> Self {
        let mixed = match shape {
            Shape::Apart => IN_ENVELOPE.iter().any(|name| self.has(name)),
            // What is called `type` in a payload need not be the message's.
            Shape::Payload => loose && self.has("auth_token"),
        };
        self.envelope = Some(Box::new(Around { fields, shape, loose, mixed }));
        self
    }

    /// Where the object stands.
    pub(crate) const fn at(&self) -> &'static str {
        self.at
    }

    /// Whether this is a payload in the shape of document 004.
    pub(crate) fn is_payload(&self) -> bool {
        self.envelope.as_ref().is_some_and(|around| around.shape == Shape::Payload)
    }

    /// The field that tells the message's type.
    pub(crate) fn type_field(&self) -> &'static str {
        if self.is_payload() { "type" } else { "message_type" }
    }

    /// Whether the object has a field of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.entries.get(name).is_some()
    }

    /// The names of the object's own fields.
    pub(crate) fn names(&self) -> impl Iterator<Item = Cow<'a, str>> {
        self.entries.iter().map(|(name, _)| name)
    }

    /// The field as it came; `None` if it is missing.
    #[inline]
    pub(crate) fn raw(&self, name: &str) -> Read<Option<Found<'_, 'a>>> {
        match &self.envelope {
            Some(around) if around.shape.is_in_envelope(name) => self.raw_in(around, name),
            Some(_) | None => Ok(self.own(name)),
        }
    }

    #[inline]
    fn own(&self, name: &str) -> Option<Found<'_, 'a>> {
        self.entries.get(name).map(|place| Found { fields: self, place })
    }

    fn raw_in<'f>(&'f self, around: &'f Around<'a>, name: &str) -> Read<Option<Found<'f, 'a>>> {
        let above = around.fields.own(name);
        if !around.mixed {
            return Ok(above);
        }
        match (above, self.own(name)) {
            (Some(above), Some(here)) if above.value() != here.value() => {
                Err(conflict(name, above, name, here))
            }
            (None, Some(here)) if around.loose => Ok(Some(here)),
            (above, _) => Ok(above),
        }
    }

    /// The field's value, which must be there.
    pub(crate) fn required<T: FromField<'a>>(&self, name: &str) -> Read<T> {
        self.optional(name)?.ok_or_else(|| self.missing(name, T::EXPECTED))
    }

    /// The field's value; `None` if it is missing or null.
    pub(crate) fn optional<T: FromField<'a>>(&self, name: &str) -> Read<Option<T>> {
        match self.raw(name)? {
            Some(found) => {
                let raw = found.value();
                if raw.is_null() { Ok(None) } else { typed(name, found, raw).map(Some) }
            }
            None => Ok(None),
        }
    }

    /// The field under any of `names`; all that are there must say the same.
    pub(crate) fn either<T: FromField<'a> + PartialEq>(&self, names: &[&str]) -> Read<Option<T>> {
        let mut first: Option<(&str, Found<'_, 'a>, Option<T>)> = None;
        for name in names {
            let Some(found) = self.raw(name)? else { continue };
            let raw = found.value();
            let value = if raw.is_null() { None } else { Some(typed(name, found, raw)?) };
            match &first {
                None => first = Some((name, found, value)),
                Some((_, _, known)) if *known == value => {}
                Some((other, there, _)) => return Err(conflict(other, *there, name, found)),
            }
        }
        Ok(first.and_then(|(_, _, value)| value))
    }

    /// The field under any of `names`, which must be there.
    pub(crate) fn required_either<T: FromField<'a> + PartialEq>(&self, names: &[&str]) -> Read<T> {
        self.either(names)?.ok_or_else(|| self.missing(names[0], T::EXPECTED))
    }

    /// The object in the field, which must be there, read by `read`.
    pub(crate) fn object<T>(&self, name: &str, read: impl Fn(&Fields<'_>) -> Read<T>) -> Read<T> {
        self.optional_object(name, read)?.ok_or_else(|| self.missing(name, "an object"))
    }

    /// The object in the field, read by `read`; `None` if it is missing or null.
    pub(crate) fn optional_object<T>(
        &self,
        name: &str,
        read: impl Fn(&Fields<'_>) -> Read<T>,
    ) -> Read<Option<T>> {
        let Some(found) = self.raw(name)?.filter(|found| !found.value().is_null()) else {
            return Ok(None);
        };
        found
            .inner("")
            .and_then(|fields| read(&fields))
            .map(Some)
            .map_err(|error| error.under(&found.path(name)))
    }

    /// The list of objects in the field, each read by `read`; `None` if it is missing or null.
    pub(crate) fn objects<T>(
        &self,
        name: &str,
        read: impl Fn(&Fields<'_>) -> Read<T>,
    ) -> Read<Option<Vec<T>>> {
        let Some((found, items)) = self.items(name)? else { return Ok(None) };
        let each = items.into_iter().enumerate().map(|(index, (raw, place))| {
            place
                .map_or_else(|| Self::read("", raw), |place| Found { place, ..found }.inner(""))
                .and_then(|fields| read(&fields))
                .map_err(|error| error.under(&format!("[{index}]")).under(&join(self.at, name)))
        });
        each.collect::<Read<Vec<T>>>().map(Some)
    }

    /// The list in the field; empty if it is missing or null.
    pub(crate) fn list<T: FromField<'a>>(&self, name: &str) -> Read<Vec<T>> {
        let Some((_, items)) = self.items(name)? else { return Ok(Vec::new()) };
        let each = items.into_iter().enumerate().map(|(index, (raw, _))| {
            T::from_field(raw).map_err(|wrong| {
                let at = format!("{}[{index}]", join(self.at, name));
                wrong.at::<T>(&at, render(name, raw))
            })
        });
        each.collect()
    }

    /// The list in the field and its elements; `None` if it is missing or null.
    fn items(&self, name: &str) -> Read<Option<(Found<'_, 'a>, Elements<'a>)>> {
        let Some(found) = self.raw(name)?.filter(|found| !found.value().is_null()) else {
            return Ok(None);
        };
        let no_list = || {
            let (path, value) = (found.path(name), found.value());
            let got = render(name, value);
            match value.get().as_bytes().first() {
                Some(b'[' | b'{') | None => Wrong::PLAIN.at::<Items>(&path, got),
                // Somebody who has one thing forgets that there may be several.
                Some(_) => {
                    let fix = format!("change `{path}` to a list, such as [{got}]");
                    DecodeError::wrong(Code::E003, &path, "a list", got).fixed_by(fix)
                }
            }
        };
        let items = found.fields.entries.items(found.place).ok_or_else(no_list)?;
        Ok(Some((found, items)))
    }

    /// The map in the field; empty if it is missing or null.
    pub(crate) fn map<K, T>(&self, name: &str) -> Read<BTreeMap<K, T>>
    where
        K: for<'any> FromField<'any> + Ord,
        T: for<'any> FromField<'any>,
    {
        let read = |fields: &Fields<'_>| fields.entries_as::<K, T>();
        Ok(self.optional_object(name, read)?.unwrap_or_default())
    }

    /// All fields of this object as a map.
    fn entries_as<K: FromField<'a> + Ord, T: FromField<'a>>(&self) -> Read<BTreeMap<K, T>> {
        self.keyed::<K, T>(|key, found| {
            let raw = found.value();
            T::from_field(raw).map_err(|wrong| wrong.at::<T>(&shown_name(key), render(key, raw)))
        })
    }

    /// All fields of this object, which are objects themselves, as a map.
    pub(crate) fn objects_as<K: FromField<'a> + Ord, T>(
        &self,
        read: impl Fn(&Fields<'_>) -> Read<T>,
    ) -> Read<BTreeMap<K, T>> {
        self.keyed::<K, T>(|key, found| {
            found
                .inner("")
                .and_then(|fields| read(&fields))
                .map_err(|error| error.under(&shown_name(key)))
        })
    }

    fn keyed<K: FromField<'a> + Ord, T>(
        &self,
        read: impl Fn(&str, Found<'_, 'a>) -> Read<T>,
    ) -> Read<BTreeMap<K, T>> {
        let mut map = BTreeMap::new();
        for (key, place) in self.entries.iter() {
            let id = K::from_key(&key).ok_or_else(|| {
                let got = format!("the name {}", crate::decode::render_text(&key));
                DecodeError::wrong(Code::E003, &shown_name(&key), K::EXPECTED, got)
            })?;
            map.insert(id, read(&key, Found { fields: self, place })?);
        }
        Ok(map)
    }

    /// The object in the field as it came; `None` if it is missing, null or empty.
    pub(crate) fn fragment(&self, name: &str) -> Read<Option<Fragment>> {
        let fragment = self.optional::<Fragment>(name)?;
        Ok(fragment.filter(|fragment| fragment.as_str() != "{}"))
    }

    /// The text in the field, cut to `bytes_max`; `None` if it is missing or null.
    pub(crate) fn clipped(&self, name: &str, bytes_max: usize) -> Read<Option<String>> {
        let text = self.optional::<Cow<'a, str>>(name)?;
        Ok(text.map(|text| text[..text.floor_char_boundary(bytes_max)].into()))
    }

    /// The error that `name` is missing here.
    pub(crate) fn missing(&self, name: &str, expected: &'static str) -> DecodeError {
        DecodeError::missing(&self.path(name), expected)
    }

    /// The error that the value of `name` is wrong.
    pub(crate) fn wrong(&self, code: Code, name: &str, expected: String) -> DecodeError {
        let found = self.raw(name).ok().flatten();
        let got = found.map_or_else(|| "nothing".into(), |found| render(name, found.value()));
        DecodeError::wrong(code, &self.path(name), expected, got)
    }

    /// The value that two documents keep in different places; both must say the same.
    pub(crate) fn same<T: PartialEq>(
        &self,
        (name, one): (&str, Option<T>),
        (also, other): (&str, Option<T>),
    ) -> Read<Option<T>> {
        match (one, other) {
            (Some(one), Some(other)) if one != other => {
                let at = format!("{} and {}", self.path(name), self.path(also));
                let got = "two values".into();
                Err(DecodeError::wrong(Code::E003, &at, "the same value in both", got))
            }
            (one, other) => Ok(one.or(other)),
        }
    }

    /// Makes sure that whatever is called one of `names` here, in whatever letters, says `told`.
    pub(crate) fn agrees_on<T>(&self, names: &[&str], told: Option<T>) -> Read<()>
    where
        T: FromField<'a> + PartialEq,
    {
        for (name, place) in self.entries.beginning(names[0].as_bytes()[0]) {
            let value = self.entries.value(place);
            if value.is_null() || !names.contains(&&*name) && !is_alike(names, &name) {
                continue;
            }
            let found = T::from_field(value).ok();
            if found.is_none() || found != told {
                let at = join(self.at, &shown_name(&name));
                let expected = format!("the same as in `{}`", names[0]);
                let fix = format!("leave `{at}` out, or say the same in both");
                let error = DecodeError::wrong(Code::E003, &at, expected, render(&name, value));
                return Err(error.fixed_by(fix));
            }
        }
        Ok(())
    }

    fn path(&self, name: &str) -> String {
        match &self.envelope {
            Some(around) if around.shape.is_in_envelope(name) => join(around.fields.at, name),
            Some(_) | None => join(self.at, name),
        }
    }
}

fn typed<'a, T: FromField<'a>>(name: &str, found: Found<'_, 'a>, raw: Json<'a>) -> Read<T> {
    T::from_field(raw).map_err(|wrong| wrong.at::<T>(&found.path(name), render(name, raw)))
}

/// Two fields that should say the same do not.
fn conflict(one: &str, first: Found<'_, '_>, other: &str, second: Found<'_, '_>) -> DecodeError {
    let paths = [first.path(one), second.path(other)];
    DecodeError {
        at: paths.join(" and "),
        expected: "the same value in both".into(),
        got: format!("{} and {}", render(one, first.value()), render(other, second.value())),
        fix: format!("send only `{}`, or the same value in both", paths[0]).into(),
        code: Code::E003,
        receipt: false,
    }
}

/// The elements of a list, each with its place where it has one.
type Elements<'a> = Vec<(Json<'a>, Option<usize>)>;

/// That there is a list, of which nothing was read.
#[derive(Debug)]
pub(crate) struct Items;
