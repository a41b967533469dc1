//! A request that is changed before it is sent: fields taken out, put in, or spelled otherwise.

use bytes::Bytes;
use league_wire::dialect::encode_request;
use league_wire::{Dialect, Letter};
use serde_json::{Map, Value};

/// A request as JSON.
#[derive(Debug, Clone)]
pub struct Draft {
    /// The whole request.
    pub json: Value,
    dialect: Dialect,
}

impl Draft {
    /// The request that brings `letter`.
    ///
    /// # Panics
    /// Never: what wire writes is JSON.
    pub fn of(dialect: Dialect, id: u64, letter: &Letter) -> Self {
        let body = encode_request(dialect, id, letter);
        let json = serde_json::from_slice(&body).expect("wire writes JSON");
        Self { json, dialect }
    }

    /// Takes a field out, wherever its dialect has it.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        for place in Self::places(self.dialect) {
            if let Some(fields) = self.fields(place) {
                fields.remove(name);
            }
        }
        self
    }

    /// Sets a field where it stands; a new one goes into every part of the message.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        let value = value.into();
        let places = Self::places(self.dialect);
        let stands = places
            .iter()
            .any(|place| self.json.pointer(place).is_some_and(|fields| fields.get(name).is_some()));
        for place in places {
            if let Some(fields) = self.fields(place)
                && (!stands || fields.contains_key(name))
            {
                fields.insert(name.into(), value.clone());
            }
        }
        self
    }

    /// The bytes to send.
    pub fn bytes(&self) -> Bytes {
        self.json.to_string().into()
    }

    fn fields(&mut self, place: &str) -> Option<&mut Map<String, Value>> {
        self.json.pointer_mut(place).and_then(Value::as_object_mut)
    }

    /// Where the fields of a message stand.
    const fn places(dialect: Dialect) -> &'static [&'static str] {
        match dialect {
            Dialect::Flat | Dialect::Typed | Dialect::V21 => &["/params"],
            Dialect::Enveloped => &["/params/envelope", "/params/payload"],
            Dialect::Payload => &["/params", "/params/payload"],
            Dialect::Tool => &["/params/arguments"],
            Dialect::Wrapped => &["/params/message"],
        }
    }
}
