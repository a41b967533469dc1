//! What the strict reading of a registration passes over although it is meant: a field in other
//! letters, in another place or under another name, for which it would take what is usual instead.

use super::gather::{Field, gather};
use super::place::{Form, meant};
use super::request::above;
use super::slots::{self, Sort};
use crate::decode::{DecodeError, shown_name};
use crate::dialect::Dialect;
use crate::frame::Request;
use crate::message::MessageType;

/// Looks for such a field in a registration of type `kind` that was read; what is no registration
/// has none. Whatever else is in it means nothing.
pub(crate) fn check_registration(
    request: &Request<'_>,
    dialect: Dialect,
    kind: MessageType,
) -> Result<(), DecodeError> {
    let Some(slots) = slots::defaulted(kind) else { return Ok(()) };
    let all: Vec<_> = slots.collect();
    let form = Form { dialect, base: base(dialect).into() };
    let fields = request.params.and_then(|params| gather("params", params, &[]));
    let (Some(mut fields), Some(above)) = (fields, above(request.raw)) else { return Ok(()) };
    fields.extend(above);
    for field in fields.iter().filter(|field| !field.opened && !field.value.is_null()) {
        let Some(Some(slot)) = meant(&all, &form, field) else { continue };
        let is_said = |field: &&Field<'_>| form.is_at_home(slot, field) && !field.value.is_null();
        let is_other = !field.is_called(slot.names);
        // An empty token is none.
        let is_empty = slot.sort == Sort::Proof && field.value.get() == "\"\"";
        if is_empty || fields.iter().any(|field| is_said(&field)) || is_other && !field.is_plain() {
            continue;
        }
        let (from, home) = (field.path(), form.home(slot));
        let fix = if form.is_own_name(slot, &field.name) {
            let inside = if field.inside.is_empty() { "the frame" } else { &field.inside };
            format!("move `{}` from `{inside}` to `{home}`", shown_name(&field.name))
        } else {
            format!("rename `{from}` to `{}`", form.path(slot))
        };
        let expected = format!("what stands in `{from}`");
        return Err(DecodeError::missing(&form.path(slot), expected).advised(fix));
    }
    Ok(())
}

/// Where the message of a request in `dialect` stands.
const fn base(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Flat | Dialect::Typed | Dialect::V21 | Dialect::Enveloped | Dialect::Payload => {
            "params"
        }
        Dialect::Tool => "params.arguments",
        Dialect::Wrapped => "params.message",
    }
}
