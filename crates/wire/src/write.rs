//! Writing objects. A message describes its fields once; where they go depends on the shape.

use std::collections::BTreeMap;

use crate::dialect::Dialect;
use crate::fields::Shape;
use crate::fragment::{Fragment, Listed};
use crate::value::Emit;
use crate::word::MatchState;

/// An object that is being written.
pub(crate) struct Object<'w> {
    out: &'w mut Vec<u8>,
    /// Where the envelope's fields go if they do not stand beside the others.
    envelope: Option<(&'w mut Vec<u8>, Shape)>,
    dialect: Dialect,
}

impl<'w> Object<'w> {
    /// Appends the object that `fill` writes.
    pub(crate) fn write(out: &mut Vec<u8>, fill: impl FnOnce(&mut Object<'_>)) {
        Object { out, envelope: None, dialect: Dialect::Flat }.braces(fill);
    }

    /// Appends the list of objects that `each` writes.
    pub(crate) fn write_list<T>(
        out: &mut Vec<u8>,
        items: &[T],
        each: impl Fn(&T, &mut Object<'_>),
    ) {
        out.push(b'[');
        for item in items {
            comma(out);
            Object::write(out, |object| each(item, object));
        }
        out.push(b']');
    }

    /// Appends a whole message in the shape of `dialect`.
    pub(crate) fn write_message(
        dialect: Dialect,
        out: &mut Vec<u8>,
        fill: impl FnOnce(&mut Object<'_>),
    ) {
        let Some(shape) = dialect.shape() else {
            Object { out, envelope: None, dialect }.braces(fill);
            return;
        };
        let mut payload = Vec::with_capacity(512);
        let (open, close): (&[u8], &[u8]) = match shape {
            Shape::Apart => (b"{\"envelope\":{", b"},\"payload\":"),
            Shape::Payload => (b"{", b",\"payload\":"),
        };
        out.extend_from_slice(open);
        Object { out: &mut payload, envelope: Some((out, shape)), dialect }.braces(fill);
        out.extend_from_slice(close);
        out.extend_from_slice(&payload);
        out.push(b'}');
    }

    fn braces(mut self, fill: impl FnOnce(&mut Object<'_>)) {
        self.out.push(b'{');
        fill(&mut self);
        self.out.push(b'}');
    }

    /// The dialect of the message being written.
    pub(crate) fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Writes a field.
    pub(crate) fn field(&mut self, name: &str, value: &(impl Emit + ?Sized)) {
        value.emit(self.slot(name));
    }

    /// Writes a field unless there is no value.
    pub(crate) fn optional(&mut self, name: &str, value: Option<&(impl Emit + ?Sized)>) {
        if let Some(value) = value {
            self.field(name, value);
        }
    }

    /// Writes a field of the envelope into the payload as well, where the two are apart.
    pub(crate) fn repeat(&mut self, name: &str, value: &impl Emit) {
        if self.envelope.is_some() {
            key(self.out, name);
            value.emit(self.out);
        }
    }

    /// Writes an object.
    pub(crate) fn object(&mut self, name: &str, fill: impl FnOnce(&mut Object<'_>)) {
        let dialect = self.dialect;
        Object { out: self.slot(name), envelope: None, dialect }.braces(fill);
    }

    /// Writes where a match is, unless that is not told.
    pub(crate) fn state(&mut self, name: &str, state: Option<MatchState>) {
        let is_payload = self.dialect == Dialect::Payload;
        let word = state.map(|state| if is_payload { state.word_004() } else { state.word() });
        if let Some(word) = word {
            self.field(name, word);
        }
    }

    /// Writes a list of objects.
    pub(crate) fn objects<T>(
        &mut self,
        name: &str,
        items: &[T],
        each: impl Fn(&T, &mut Object<'_>),
    ) {
        Self::write_list(self.slot(name), items, each);
    }

    /// Writes a list of objects, or the JSON that stands for it.
    pub(crate) fn listed<T>(
        &mut self,
        name: &str,
        list: &Listed<T>,
        each: impl Fn(&T, &mut Object<'_>),
    ) {
        match list {
            Listed::Items(items) => self.objects(name, items, each),
            Listed::Encoded(fragment) => self.field(name, fragment),
        }
    }

    /// Writes an object of plain values.
    pub(crate) fn map<'v, K: ToString + 'v, V: 'v, T: Emit>(
        &mut self,
        name: &str,
        map: &'v BTreeMap<K, V>,
        value: impl Fn(&'v V) -> T,
    ) {
        self.object(name, |object| {
            for (key, entry) in map {
                object.field(&key.to_string(), &value(entry));
            }
        });
    }

    /// Writes an object of those plain values that there are.
    pub(crate) fn map_some<'v, K: ToString + 'v, V: 'v, T: Emit>(
        &mut self,
        name: &str,
        map: &'v BTreeMap<K, V>,
        value: impl Fn(&'v V) -> Option<T>,
    ) {
        self.object(name, |object| {
            for (key, entry) in map {
                object.optional(&key.to_string(), value(entry).as_ref());
            }
        });
    }

    /// Writes an object that is passed on as it came; an empty one if there is none.
    pub(crate) fn fragment(&mut self, name: &str, fragment: Option<&Fragment>) {
        match fragment {
            Some(fragment) => self.field(name, fragment),
            None => self.object(name, |_| {}),
        }
    }

    /// Writes the field's name and gives the place for its value.
    fn slot(&mut self, name: &str) -> &mut Vec<u8> {
        let out = match &mut self.envelope {
            Some((envelope, shape)) if shape.is_in_envelope(name) => envelope,
            Some(_) | None => &mut *self.out,
        };
        key(out, name);
        out
    }
}

fn key(out: &mut Vec<u8>, name: &str) {
    comma(out);
    name.emit(out);
    out.push(b':');
}

/// A comma unless this is the first entry: only an opening bracket ends in one.
fn comma(out: &mut Vec<u8>) {
    if !matches!(out.last(), Some(b'{' | b'[')) {
        out.push(b',');
    }
}
