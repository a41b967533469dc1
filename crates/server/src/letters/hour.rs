//! How much is stored of a league's letters in an hour, and of whom.

use std::collections::BTreeMap;

use league_agent::ambient::Mark;
use league_core::id::LeagueId;

use super::bundle::Bundle;
use super::note::{Note, Whose};
use crate::limits::{LETTERS_HOUR, LETTERS_SENDER_PART, LETTERS_UNPROVED_PART};

/// What was stored in this hour.
pub(super) struct Hour {
    bytes_max: usize,
    begun: Mark,
    /// Of each league, as it is stored.
    stored: BTreeMap<LeagueId, usize>,
    /// Of each sender, as it came.
    sent: BTreeMap<Whose, usize>,
}

impl Hour {
    /// An hour in which `bytes_max` are stored of each league.
    pub(super) fn of(bytes_max: usize) -> Self {
        Self { bytes_max, begun: Mark::set(), stored: BTreeMap::new(), sent: BTreeMap::new() }
    }

    /// Whether there is still room for a note. When little is left it is for those who have sent
    /// little, so that nobody's flood leaves others without their letters.
    pub(super) fn admits(&mut self, note: &Note) -> bool {
        if self.begun.elapsed() >= LETTERS_HOUR {
            *self = Self::of(self.bytes_max);
        }
        let stored = self.stored.get(&note.league).copied().unwrap_or_default();
        let bytes = note.bytes();
        let sent = self.sent.entry(note.whose()).or_default();
        let is_ok = if note.peer.is_proved() {
            stored < self.bytes_max / 2 || *sent + bytes <= self.bytes_max / LETTERS_SENDER_PART
        } else {
            *sent + bytes <= self.bytes_max / LETTERS_UNPROVED_PART
        };
        let is_admitted = is_ok && stored < self.bytes_max;
        if is_admitted {
            *sent += bytes;
        }
        is_admitted
    }

    /// Counts what is stored.
    pub(super) fn count(&mut self, bundle: &Bundle) {
        *self.stored.entry(bundle.league.clone()).or_default() += bundle.bytes.len();
    }
}
