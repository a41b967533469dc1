//! How often an agent deviated in which way, and where it last did.

use std::borrow::Cow;
use std::collections::BTreeMap;

use league_core::limits::REASON_BYTES_MAX;

use super::deviation::{Deviation, Deviations, Slip};
use crate::decode::DecodeError;
use crate::fields::Fields;
use crate::json::Json;
use crate::value::{FromField, Wrong};
use crate::write::Object;

/// Counts of deviations by their kind. It cannot grow beyond the kinds there are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tally(BTreeMap<Slip, Counted>);

/// How often, and what it last was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counted {
    /// How often.
    pub count: u32,
    /// Where it last was.
    pub at: String,
    /// What to change there.
    pub fix: String,
}

impl Tally {
    /// Counts what was seen in one message: a kind once, however often it is in it.
    pub fn note(&mut self, deviations: &Deviations) {
        let mut seen: Vec<Slip> = Vec::new();
        for Deviation { slip, at, fix } in deviations {
            if !seen.contains(slip) {
                self.add(*slip, Counted { count: 1, at: at.clone(), fix: fix.clone() });
                seen.push(*slip);
            }
        }
    }

    /// Counts what somebody else has counted.
    pub fn merge(&mut self, other: Self) {
        other.0.into_iter().for_each(|(slip, counted)| self.add(slip, counted));
    }

    fn add(&mut self, slip: Slip, counted: Counted) {
        let before = self.0.get(&slip).map_or(0, |known| known.count);
        let count = before.saturating_add(counted.count);
        self.0.insert(slip, Counted { count, ..counted });
    }

    /// Every kind that was seen.
    pub fn iter(&self) -> impl Iterator<Item = (Slip, &Counted)> {
        self.0.iter().map(|(slip, counted)| (*slip, counted))
    }

    /// Whether there was none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads the list in the field `name`.
    pub(crate) fn read(f: &Fields<'_>, name: &str) -> Result<Self, DecodeError> {
        let text = |f: &Fields<'_>, name: &str| {
            Ok::<_, DecodeError>(f.clipped(name, REASON_BYTES_MAX)?.unwrap_or_default())
        };
        let each = |f: &Fields<'_>| {
            let (at, fix) = (text(f, "at")?, text(f, "fix")?);
            Ok((f.required("deviation")?, Counted { count: f.required("count")?, at, fix }))
        };
        let mut tally = Self::default();
        for (slip, counted) in f.objects(name, each)?.unwrap_or_default() {
            tally.add(slip, counted);
        }
        Ok(tally)
    }

    /// Writes the list in the field `name`, unless there is nothing in it.
    pub(crate) fn write(&self, o: &mut Object<'_>, name: &str) {
        let all: Vec<_> = self.iter().collect();
        if !all.is_empty() {
            o.objects(name, &all, |(slip, counted), o| {
                o.field("deviation", slip.name());
                o.field("count", &counted.count);
                o.field("at", &counted.at);
                o.field("fix", &counted.fix);
            });
        }
    }
}

impl<'a> FromField<'a> for Slip {
    const EXPECTED: &'static str = "the name of a deviation such as \"nested\"";

    fn from_field(raw: Json<'a>) -> Result<Self, Wrong> {
        Self::find(&<Cow<'a, str>>::from_field(raw)?).ok_or(Wrong::PLAIN)
    }
}
