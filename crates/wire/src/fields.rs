//! An object as it came: its fields in a list, taken out by name and checked one by one.
//!
//! Where envelope and payload are nested, the view looks the envelope's fields up there and all
//! others in the payload, so that a message is read the same way in every shape.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::code::Code;
use crate::decode::{DecodeError, join, render, shown_name};
use crate::entries::{Entries, Field, NoEntries, Parts};
use crate::fragment::Fragment;
use crate::json::Json;
use crate::value::FromField;

/// Whether the field stands in the envelope where there is one.
pub(crate) fn is_in_envelope(name: &str) -> bool {
    matches!(
        name,
        "protocol"
            | "message_type"
            | "sender"
            | "timestamp"
            | "conversation_id"
            | "auth_token"
            | "league_id"
            | "round_id"
            | "match_id"
            | "game_type"
    )
}

/// An object's fields, each still as JSON.
#[derive(Debug)]
pub(crate) struct Fields<'a> {
    at: &'static str,
    entries: Entries<'a>,
    envelope: Option<Box<Self>>,
    /// Whether fields of the envelope may stand in the payload.
    loose: bool,
    /// Whether any do.
    mixed: bool,
}

/// Where a field was found.
type Found<'f, 'a> = (&'static str, &'f Field<'a>);
type Read<T> = Result<T, DecodeError>;

impl<'a> Fields<'a> {
    /// Reads the object `raw` that stands at `at`.
    pub(crate) fn read(at: &'static str, raw: Json<'a>) -> Read<Self> {
        Self::of(at, Entries::read(raw), raw)
    }

    /// Reads the object that stands at `at` and was taken apart.
    pub(crate) fn of_parts(at: &'static str, parts: &Parts<'a>) -> Read<Self> {
        Self::of(at, Entries::of(parts.clone()), parts.json())
    }

    /// Reads the object in a field of this one; from now on it stands at `at`.
    pub(crate) fn inner(&self, at: &'static str, field: &Field<'a>) -> Read<Self> {
        Self::of(at, self.entries.inner(field), field.value)
    }

    fn of(at: &'static str, entries: Result<Entries<'a>, NoEntries>, raw: Json<'a>) -> Read<Self> {
        match entries {
            Ok(entries) => Ok(Self { at, entries, envelope: None, loose: false, mixed: false }),
            Err(no) => Err(DecodeError::wrong(Code::E003, at, no.expected(), render("", raw))),
        }
    }

    /// This object as payload to `envelope`. With `loose` the envelope's fields may stand here too.
    pub(crate) fn with_envelope(mut self, envelope: Self, loose: bool) -> Self {
        self.envelope = Some(Box::new(envelope));
        self.loose = loose;
        self.mixed = self.entries.iter().any(|(name, _)| is_in_envelope(name));
        self
    }

    /// Whether the object has a field of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.entries.get(name).is_some()
    }

    /// The field's value as it came; `None` if it is missing.
    #[inline]
    pub(crate) fn raw(&self, name: &str) -> Read<Option<Found<'_, 'a>>> {
        match &self.envelope {
            Some(envelope) if is_in_envelope(name) => self.raw_in(envelope, name),
            Some(_) | None => Ok(self.entries.get(name).map(|field| (self.at, field))),
        }
    }

    fn raw_in<'f>(&'f self, envelope: &'f Self, name: &str) -> Read<Option<Found<'f, 'a>>> {
        let above = envelope.entries.get(name).map(|field| (envelope.at, field));
        if !self.mixed {
            return Ok(above);
        }
        let here = self.entries.get(name).map(|field| (self.at, field));
        match (above, here) {
            (Some(above), Some(here)) if above.1.value != here.1.value => {
                Err(conflict(name, above, name, here))
            }
            (None, Some(here)) if self.loose => Ok(Some(here)),
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
            Some((_, field)) if field.value.is_null() => Ok(None),
            Some(found) => typed(name, found).map(Some),
            None => Ok(None),
        }
    }

    /// The field under any of `names`; all that are there must say the same.
    pub(crate) fn either<T: FromField<'a> + PartialEq>(&self, names: &[&str]) -> Read<Option<T>> {
        let mut first: Option<(&str, Found<'_, 'a>, Option<T>)> = None;
        for name in names {
            let Some(found) = self.raw(name)? else { continue };
            let value = if found.1.value.is_null() { None } else { Some(typed(name, found)?) };
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
    pub(crate) fn object<T>(&self, name: &str, read: impl Fn(&Self) -> Read<T>) -> Read<T> {
        self.optional_object(name, read)?.ok_or_else(|| self.missing(name, "an object"))
    }

    /// The object in the field, read by `read`; `None` if it is missing or null.
    pub(crate) fn optional_object<T>(
        &self,
        name: &str,
        read: impl Fn(&Self) -> Read<T>,
    ) -> Read<Option<T>> {
        let Some((at, field)) = self.raw(name)?.filter(|(_, field)| !field.value.is_null()) else {
            return Ok(None);
        };
        self.inner("", field)
            .and_then(|fields| read(&fields))
            .map(Some)
            .map_err(|error| error.under(&join(at, name)))
    }

    /// The list of objects in the field, each read by `read`; `None` if it is missing or null.
    pub(crate) fn objects<T>(
        &self,
        name: &str,
        read: impl Fn(&Self) -> Read<T>,
    ) -> Read<Option<Vec<T>>> {
        let Some(items) = self.optional::<Items<'a>>(name)? else { return Ok(None) };
        let each = items.0.into_iter().enumerate().map(|(index, raw)| {
            Self::read("", raw)
                .and_then(|fields| read(&fields))
                .map_err(|error| error.under(&format!("[{index}]")).under(&join(self.at, name)))
        });
        each.collect::<Read<Vec<T>>>().map(Some)
    }

    /// The list in the field; empty if it is missing or null.
    pub(crate) fn list<T: FromField<'a>>(&self, name: &str) -> Read<Vec<T>> {
        let Some(items) = self.optional::<Items<'a>>(name)? else { return Ok(Vec::new()) };
        let each = items.0.into_iter().enumerate().map(|(index, raw)| {
            T::from_field(raw).map_err(|wrong| {
                let at = format!("{}[{index}]", join(self.at, name));
                wrong.at::<T>(&at, render(name, raw))
            })
        });
        each.collect()
    }

    /// The map in the field; empty if it is missing or null.
    pub(crate) fn map<K, T>(&self, name: &str) -> Read<BTreeMap<K, T>>
    where
        K: FromField<'a> + Ord,
        T: FromField<'a>,
    {
        let read = |fields: &Self| fields.entries_as::<K, T>();
        Ok(self.optional_object(name, read)?.unwrap_or_default())
    }

    /// All fields of this object as a map.
    fn entries_as<K: FromField<'a> + Ord, T: FromField<'a>>(&self) -> Read<BTreeMap<K, T>> {
        self.keyed::<K, T>(|key, field| {
            let raw = field.value;
            T::from_field(raw).map_err(|wrong| wrong.at::<T>(&shown_name(key), render(key, raw)))
        })
    }

    /// All fields of this object, which are objects themselves, as a map.
    pub(crate) fn objects_as<K: FromField<'a> + Ord, T>(
        &self,
        read: impl Fn(&Self) -> Read<T>,
    ) -> Read<BTreeMap<K, T>> {
        self.keyed::<K, T>(|key, field| {
            self.inner("", field)
                .and_then(|fields| read(&fields))
                .map_err(|error| error.under(&shown_name(key)))
        })
    }

    fn keyed<K: FromField<'a> + Ord, T>(
        &self,
        read: impl Fn(&str, &Field<'a>) -> Read<T>,
    ) -> Read<BTreeMap<K, T>> {
        let mut map = BTreeMap::new();
        for (key, field) in self.entries.iter() {
            let id = K::from_key(key).ok_or_else(|| {
                let got = format!("the name {}", crate::decode::render_text(key));
                DecodeError::wrong(Code::E003, &shown_name(key), K::EXPECTED, got)
            })?;
            map.insert(id, read(key, field)?);
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
        let got = found.map_or_else(|| "nothing".into(), |(_, field)| render(name, field.value));
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

    fn path(&self, name: &str) -> String {
        match &self.envelope {
            Some(envelope) if is_in_envelope(name) => join(envelope.at, name),
            Some(_) | None => join(self.at, name),
        }
    }
}

fn typed<'a, T: FromField<'a>>(name: &str, (at, field): Found<'_, 'a>) -> Read<T> {
    let raw = field.value;
    T::from_field(raw).map_err(|wrong| wrong.at::<T>(&join(at, name), render(name, raw)))
}

/// Two fields that should say the same do not.
fn conflict(one: &str, first: Found<'_, '_>, other: &str, second: Found<'_, '_>) -> DecodeError {
    let paths = [join(first.0, one), join(second.0, other)];
    DecodeError {
        at: paths.join(" and "),
        expected: "the same value in both".into(),
        got: format!("{} and {}", render(one, first.1.value), render(other, second.1.value)),
        fix: format!("send only `{}`, or the same value in both", paths[0]).into(),
        code: Code::E003,
        receipt: false,
    }
}

/// The elements of a list, each still as JSON.
#[derive(Debug)]
pub(crate) struct Items<'a>(pub(crate) Vec<Json<'a>>);
