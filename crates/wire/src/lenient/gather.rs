//! Every field that a message may be made of, with the place where it stands.

use std::borrow::Cow;

use super::spelling::{folded, is_folded};
use crate::decode::{join, shown_name};
use crate::json::{Json, Walk};
use crate::limits::FIELDS_MAX;

/// A field and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Field<'a> {
    /// The path of the object around it, such as `params.player_meta`.
    pub(super) inside: String,
    pub(super) name: Cow<'a, str>,
    /// Whether it is an object whose own fields are listed too.
    pub(super) opened: bool,
    /// The name without what people vary.
    folded: String,
    pub(super) value: Json<'a>,
}

impl<'a> Field<'a> {
    pub(super) fn new(inside: String, name: Cow<'a, str>, value: Json<'a>) -> Self {
        Self { inside, folded: folded(&name), name, value, opened: false }
    }

    /// Whether its name is one of `names`, in whatever letters.
    pub(super) fn is_called(&self, names: &[&str]) -> bool {
        names.iter().any(|known| is_folded(known, &self.folded))
    }

    /// Whether it only says that the call went well, as web frameworks like to.
    pub(super) fn is_noise(&self) -> bool {
        let says = |text: Cow<'_, str>| NOISE.contains(&text.to_ascii_lowercase().as_str());
        self.folded == "status" && self.value.text().is_some_and(says)
    }

    /// Whether it says that something did not go well.
    pub(super) fn is_denial(&self) -> bool {
        let value = self.value.get();
        match self.folded.as_str() {
            "success" | "ok" | "succeeded" => matches!(value, "false" | "0" | "\"false\""),
            "error" | "errors" => !matches!(value, "null" | "false" | "0" | "\"\"" | "[]" | "{}"),
            "declined" | "rejected" | "refused" | "failed" => matches!(value, "true" | "\"true\""),
            "status" | "type" | "outcome" => self.value.text().is_some_and(|text| {
                let words = super::spelling::words(&text);
                words.iter().any(|word| DENIALS.contains(&word.as_str()))
            }),
            _ => false,
        }
    }

    /// Whether it is neither an object nor a list.
    pub(super) fn is_plain(&self) -> bool {
        !self.value.get().starts_with(['{', '['])
    }

    /// Its path, as it may be shown.
    pub(super) fn path(&self) -> String {
        join(&self.inside, &shown_name(&self.name))
    }
}

/// Objects into which people put messages, or parts of them.
const WRAPPERS: [&str; 17] = [
    "answer",
    "arguments",
    "body",
    "content",
    "data",
    "envelope",
    "header",
    "message",
    "meta",
    "move",
    "params",
    "payload",
    "playermeta",
    "refereemeta",
    "reply",
    "response",
    "result",
];

/// What a status says that says nothing.
const NOISE: [&str; 3] = ["ok", "success", "received"];

/// What a status says that denies what stands beside it.
const DENIALS: [&str; 10] = [
    "decline", "declined", "error", "fail", "failed", "failure", "refuse", "refused", "reject",
    "rejected",
];

/// How deep the parts of a message may lie, from the frame on.
const DEPTH_MAX: usize = 4;

/// Collects the fields of the object `json`, which stands at `at`, and of the objects in it that
/// may hold parts of the message. Names in `whole` stand for objects that are taken as they are.
/// `None` if a name comes twice in one object, or there is too much or too deep a part of it.
pub(super) fn gather<'a>(at: &str, json: Json<'a>, whole: &[&str]) -> Option<Vec<Field<'a>>> {
    let mut found = Vec::new();
    let mut open = vec![(String::from(at), json, 1)];
    while let Some((inside, object, depth)) = open.pop() {
        let mut walk = Walk::into(object.get(), b'{')?;
        let mut names: Vec<Cow<'a, str>> = Vec::new();
        while let Some(name) = walk.next_name() {
            let (name, value) = (name?, walk.next_value()?);
            if names.contains(&name) || found.len() + open.len() > FIELDS_MAX {
                return None;
            }
            names.push(name.clone());
            let is_wrapper = value.get().starts_with('{')
                && !whole.contains(&&*name)
                && WRAPPERS.contains(&&*folded(&name));
            let field = Field::new(inside.clone(), name, value);
            if is_wrapper && depth == DEPTH_MAX {
                return None;
            }
            if is_wrapper {
                open.push((field.path(), value, depth + 1));
            }
            found.push(Field { opened: is_wrapper, ..field });
        }
    }
    Some(found)
}
