//! JSON that is encoded once and spliced into many messages, or passed on unread.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use crate::json::Json;
use crate::write::Object;

/// What an item of a list takes, for most lists.
const LIKELY_ITEM_BYTES: usize = 144;

/// A piece of valid JSON.
#[derive(Clone, PartialEq, Eq)]
pub struct Fragment(Arc<str>);

impl Fragment {
    /// The JSON of `raw` as it is; `None` if it is nested too deep.
    pub fn new(raw: Json<'_>) -> Option<Self> {
        raw.is_shallow().then(|| Self(raw.get().into()))
    }

    /// Reads `text`; `None` if it is not JSON or nested too deep.
    pub fn parse(text: &str) -> Option<Self> {
        Json::parse(text).ok().and_then(Self::new)
    }

    /// What is written of `value`; `None` if it cannot be JSON or is nested too deep.
    pub fn of(value: &impl Serialize) -> Option<Self> {
        let json = serde_json::to_string(value).ok()?;
        Json::known(&json).is_shallow().then(|| Self(json.into()))
    }

    /// The object that `fill` writes.
    pub(crate) fn object(fill: impl FnOnce(&mut Object<'_>)) -> Self {
        let mut out = Vec::new();
        Object::write(&mut out, fill);
        Self::own(out)
    }

    /// The list of objects that `each` writes.
    pub(crate) fn list<T>(items: &[T], each: impl Fn(&T, &mut Object<'_>)) -> Self {
        let mut out = Vec::with_capacity(items.len() * LIKELY_ITEM_BYTES + 2);
        Object::write_list(&mut out, items, each);
        Self::own(out)
    }

    fn own(json: Vec<u8>) -> Self {
        Self(String::from_utf8(json).expect("the writer writes text").into())
    }

    /// The JSON itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// How long those are together that there are.
    pub(crate) fn total<'a>(all: impl IntoIterator<Item = &'a Option<Self>>) -> usize {
        all.into_iter().flatten().map(|fragment| fragment.0.len()).sum()
    }

    /// The JSON for reading.
    pub fn json(&self) -> Json<'_> {
        Json::known(&self.0)
    }
}

impl fmt::Debug for Fragment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A list that is written from its items, or from JSON encoded once for many receivers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listed<T> {
    /// The items themselves. What was read from the wire is always this.
    Items(Vec<T>),
    /// The list as JSON.
    Encoded(Fragment),
}

impl<T> Listed<T> {
    /// The items; empty if the list is encoded.
    pub fn items(&self) -> &[T] {
        match self {
            Self::Items(items) => items,
            Self::Encoded(_) => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::FRAGMENT_DEPTH_MAX;

    #[test]
    fn a_fragment_is_valid_and_not_too_deep() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(Fragment::parse(&nested(FRAGMENT_DEPTH_MAX)).is_some());
        assert!(Fragment::parse(&nested(FRAGMENT_DEPTH_MAX + 1)).is_none());
        assert!(Fragment::parse(r#"{"a":"[[[\"[[["}"#).is_some());
        assert!(Fragment::parse("{").is_none());
        assert_eq!(Fragment::of(&[1, 2]).unwrap().as_str(), "[1,2]");
        let deep: serde_json::Value =
            serde_json::from_str(&nested(FRAGMENT_DEPTH_MAX + 1)).unwrap();
        assert!(Fragment::of(&deep).is_none() && Fragment::of(&deep[0]).is_some());
    }
}
