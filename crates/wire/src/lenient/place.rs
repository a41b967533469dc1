//! Puts what was found where it belongs, if there is only one way to do it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::deviation::{Deviations, Slip};
use super::gather::Field;
use super::slots::{self, Slot, Sort};
use crate::code::Code;
use crate::decode::{DecodeError, join, render, shown_name};
use crate::dialect::Dialect;
use crate::fields::Shape;
use crate::message::MessageType;
use crate::value::Emit;

/// How the message should be nested, and where.
#[derive(Debug, Clone)]
pub(super) struct Form {
    pub(super) dialect: Dialect,
    /// Where the message stands, such as `params` or `result`.
    pub(super) base: String,
}

impl Form {
    /// Where a field of the message stands in this form.
    pub(super) fn home(&self, slot: &Slot) -> String {
        let outer = match self.dialect.shape() {
            Some(shape) if !shape.is_in_envelope(self.name(slot)) => join(&self.base, "payload"),
            Some(Shape::Apart) => join(&self.base, "envelope"),
            Some(Shape::Payload) | None => self.base.clone(),
        };
        join(&outer, slot.parent)
    }

    /// The name of the field in this form.
    pub(super) fn name(&self, slot: &Slot) -> &'static str {
        let is_type = self.is_payload() && slot.name() == slots::MESSAGE_TYPE;
        if is_type { "type" } else { slot.name() }
    }

    /// The path of the field in this form.
    pub(super) fn path(&self, slot: &Slot) -> String {
        join(&self.home(slot), self.name(slot))
    }

    pub(super) fn is_payload(&self) -> bool {
        self.dialect.shape() == Some(Shape::Payload)
    }

    /// Whether `name` is the documents' for this field.
    pub(super) fn is_own_name(&self, slot: &Slot, name: &str) -> bool {
        let also = self.is_payload() && (name == "type" || name == "move_data");
        slot.names.contains(&name) || also && slot.also.contains(&name)
    }

    /// Whether `field` stands where it belongs, under a name that it has there.
    pub(super) fn is_at_home(&self, slot: &Slot, field: &Field<'_>) -> bool {
        self.is_own_name(slot, &field.name) && field.inside == self.home(slot)
    }
}

/// A message that is put together anew, side by side as in `flat`.
#[derive(Debug, Default)]
pub(super) struct Laid<'a> {
    /// Objects that were there, whatever was in them.
    parents: BTreeSet<&'static str>,
    fields: BTreeMap<(&'static str, &'static str), Cow<'a, str>>,
    /// Where they stood.
    sources: BTreeMap<(&'static str, &'static str), String>,
}

/// Why a message cannot be put together; without a word where nothing better can be said than what
/// the strict reading says.
pub(super) type Doubt = Option<Box<DecodeError>>;

impl<'a> Laid<'a> {
    /// The value of a field of the message itself, as JSON.
    pub(super) fn get(&self, name: &'static str) -> Option<&str> {
        self.fields.get(&("", name)).map(|json| &**json).filter(|json| *json != "null")
    }

    /// Sets a text of the message itself.
    pub(super) fn set(&mut self, name: &'static str, text: &str) {
        let mut json = Vec::new();
        text.emit(&mut json);
        let json = String::from_utf8(json).expect("the writer writes text");
        self.fields.insert(("", name), Cow::Owned(json));
    }

    /// Leaves a field out.
    pub(super) fn drop(&mut self, name: &'static str) {
        self.fields.remove(&("", name));
    }

    fn put(&mut self, slot: &'static Slot, field: &Field<'_>, json: Cow<'a, str>) {
        let known = slot.names.iter().find(|known| **known == field.name);
        let place = (slot.parent, known.copied().unwrap_or_else(|| slot.name()));
        self.sources.insert(place, field.path());
        self.fields.insert(place, json);
    }

    /// Whether something was found that the sender decides.
    pub(super) fn decides(&self, kind: MessageType) -> bool {
        let mut all = slots::slots(kind).into_iter().flatten();
        all.any(|slot| slot.sort == Sort::Decision && self.source(slot).is_some())
    }

    fn source(&self, slot: &Slot) -> Option<&String> {
        slot.names.iter().find_map(|name| self.sources.get(&(slot.parent, *name)))
    }

    /// What is wrong with the message that was put together, seen from where its fields stood.
    pub(super) fn located(&self, no: DecodeError, kind: MessageType, form: &Form) -> DecodeError {
        let Some((_, inner)) = no.at.split_once('.') else { return no };
        let is_at = |slot: &&Slot| slot.names.iter().any(|name| join(slot.parent, name) == inner);
        let Some(slot) = slots::slots(kind).into_iter().flatten().find(is_at) else { return no };
        let at = self.source(slot).cloned().unwrap_or_else(|| form.path(slot));
        no.seen_at(at)
    }

    /// All of it as one object.
    pub(super) fn json(&self) -> String {
        let empty = self.parents.iter().map(|parent| (*parent, Vec::new()));
        let mut parents: BTreeMap<&str, Vec<String>> = empty.collect();
        for ((parent, name), json) in &self.fields {
            parents.entry(parent).or_default().push(format!("\"{name}\":{json}"));
        }
        let mut parts = parents.remove("").unwrap_or_default();
        let inner = parents.into_iter();
        parts.extend(inner.map(|(name, fields)| format!("\"{name}\":{{{}}}", fields.join(","))));
        format!("{{{}}}", parts.join(","))
    }
}

/// Fields that came from the same wrong place and belong to the same right one.
type Moves = BTreeMap<(String, String), Vec<String>>;

/// Puts the fields of a message of type `kind` in place, unless that can be done in more ways than
/// one, or something would be lost.
pub(super) fn place<'a>(
    fields: &[Field<'a>],
    kind: MessageType,
    form: &Form,
    deviations: &mut Deviations,
) -> Result<Laid<'a>, Doubt> {
    let all: Vec<&'static Slot> = slots::slots(kind).ok_or(None)?.collect();
    let mut found: Vec<(&'static Slot, Vec<&Field<'a>>)> =
        all.iter().map(|slot| (*slot, Vec::new())).collect();
    for field in fields.iter().filter(|field| !field.opened && !field.is_noise()) {
        let Some(slot) = meant(&all, form, field).ok_or(None)? else { continue };
        if let Some((_, list)) = found.iter_mut().find(|(known, _)| *known == slot) {
            list.push(field);
        }
    }
    let (mut laid, mut moves) = (Laid::default(), Moves::new());
    let opened = |name: &str| fields.iter().any(|field| field.opened && field.name == name);
    laid.parents.extend(all.iter().map(|slot| slot.parent).filter(|parent| opened(parent)));
    for (slot, list) in &found {
        let Some(chosen) = choose(form, slot, list)? else { continue };
        if slot.sort == Sort::Proof && !is_accompanied(form, slot, chosen, &found) {
            return Err(None);
        }
        note(form, slot, chosen, deviations, &mut moves);
        let at_home = list.iter().filter(|field| form.is_at_home(slot, field));
        for field in at_home.copied().chain([chosen]) {
            laid.put(slot, field, repaired(slot, field, deviations));
        }
    }
    note_moves(moves, deviations);
    Ok(laid)
}

/// The field of the message that `field` is; `Some(None)` if it is none, `None` if it may be
/// several.
#[expect(clippy::option_option, reason = "nothing and too much are two things")]
pub(super) fn meant(
    all: &[&'static Slot],
    form: &Form,
    field: &Field<'_>,
) -> Option<Option<&'static Slot>> {
    let is_own = |slot: &&&Slot| field.is_called(slot.names) || form.is_own_name(slot, &field.name);
    let own: Vec<_> = all.iter().copied().filter(|slot| is_own(&slot)).collect();
    let also = || all.iter().copied().filter(|slot| field.is_called(slot.also)).collect();
    let fits: Vec<&'static Slot> = if own.is_empty() { also() } else { own };
    match fits.as_slice() {
        [] => Some(None),
        [slot] => Some(Some(*slot)),
        several => {
            let mut home = several.iter().filter(|slot| form.is_at_home(slot, field));
            home.next().filter(|_| home.next().is_none()).map(|slot| Some(*slot))
        }
    }
}

/// The field to take; none if there is none, or they say different things.
fn choose<'f, 'a>(
    form: &Form,
    slot: &Slot,
    list: &[&'f Field<'a>],
) -> Result<Option<&'f Field<'a>>, Doubt> {
    let is_own =
        |field: &Field<'_>| field.is_called(slot.names) || form.is_own_name(slot, &field.name);
    // Under its own name, that there is nothing is said too: a match without a winner.
    let is_said = |field: &&Field<'_>| is_own(field) || !field.value.is_null();
    let said: Vec<&'f Field<'a>> = list.iter().copied().filter(is_said).collect();
    let home = said.iter().find(|field| form.is_at_home(slot, field));
    let own = said.iter().find(|field| is_own(field));
    let Some(&chosen) = home.or(own).or_else(|| said.first()) else { return Ok(None) };
    // Where the right thing stands in the right place, other people's names beside it mean nothing,
    // unless everything hangs on it.
    let is_rival =
        |field: &Field<'_>| home.is_none() || is_own(field) || slot.sort == Sort::Decision;
    let rival = said.iter().find(|field| is_rival(field) && field.value != chosen.value);
    rival.map_or(Ok(Some(chosen)), |rival| {
        Err(Some(Box::new(two_values(form, slot, chosen, rival))))
    })
}

/// That two fields say different things of which there is but one.
fn two_values(form: &Form, slot: &Slot, one: &Field<'_>, other: &Field<'_>) -> DecodeError {
    let shown = |field: &Field<'_>| render(slot.name(), field.value);
    let at = format!("{} and {}", one.path(), other.path());
    let got = format!("{} and {}", shown(one), shown(other));
    let fix = format!("send only `{}`", form.path(slot));
    DecodeError::wrong(Code::E003, &at, "the same value in both", got).fixed_by(fix)
}

/// Whether a proof stands where it belongs, or came together with something that it belongs to.
fn is_accompanied(
    form: &Form,
    slot: &Slot,
    proof: &Field<'_>,
    found: &[(&'static Slot, Vec<&Field<'_>>)],
) -> bool {
    if form.is_at_home(slot, proof) {
        return true;
    }
    let home = form.home(slot);
    let beside = |(other, list): &(&'static Slot, Vec<&Field<'_>>)| {
        let is_other = other.sort != Sort::Proof && form.home(other) == home;
        let is_here =
            |field: &&&Field<'_>| field.inside == proof.inside && field.is_called(other.names);
        is_other && list.iter().any(|field| is_here(&field))
    };
    found.iter().any(beside)
}

/// Notes in what `field` differs from what it should be.
fn note(
    form: &Form,
    slot: &Slot,
    field: &Field<'_>,
    deviations: &mut Deviations,
    moves: &mut Moves,
) {
    if form.is_at_home(slot, field) || field.value.is_null() {
        return;
    }
    let (from, home) = (field.path(), form.path(slot));
    if form.is_own_name(slot, &field.name) {
        let group = moves.entry((field.inside.clone(), form.home(slot))).or_default();
        group.push(shown_name(&field.name));
    } else {
        let fix = format!("rename `{from}` to `{home}`");
        deviations.note(Slip::Renamed.at(from).fixed_by(fix));
    }
}

fn note_moves(moves: Moves, deviations: &mut Deviations) {
    for ((from, home), names) in moves {
        let is_below = from.strip_prefix(&home).is_some_and(|rest| rest.starts_with('.'));
        let slip = if is_below { Slip::Nested } else { Slip::Misplaced };
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let from = if from.is_empty() { "the frame".into() } else { format!("`{from}`") };
        let fix = format!("move {} from {from} to `{home}`", names.join(", "));
        deviations.note(slip.at(from.trim_matches('`')).fixed_by(fix));
    }
}

/// The value of `field` without what is wrong with it.
fn repaired<'a>(slot: &Slot, field: &Field<'a>, deviations: &mut Deviations) -> Cow<'a, str> {
    let json = field.value.get();
    let doubled = json.strip_suffix("+00:00Z\"").filter(|_| slot.sort == Sort::Time);
    match doubled {
        Some(start) => {
            let fix = format!("end `{}` with either `Z` or `+00:00`, not both", field.path());
            deviations.note(Slip::TwoTimeZones.at(field.path()).fixed_by(fix));
            Cow::Owned(format!("{start}Z\""))
        }
        None => Cow::Borrowed(json),
    }
}
