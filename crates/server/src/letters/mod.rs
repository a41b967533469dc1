//! What the manager sends and receives, kept beside the record for whoever looks into a dispute.
//!
//! Noting a letter is a push into a bounded tray. A thread of its own takes out what must not be
//! told, packs what came in a while together and hands it to the journal's writer. When there is
//! more than it can keep up with, letters are dropped and counted; nobody ever waits for them.

mod bundle;
mod keeper;
mod note;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use league_agent::component::Component;
use league_agent::meter::Meter;
use league_core::id::LeagueId;

pub use bundle::{Bundle, Damaged, Exchanged, Way, open};
pub(crate) use keeper::Keeper;
pub use note::{Answer, Body, Note, Part, Peer, Template, hidden, long};

use crate::limits::{LETTERS_PAUSE, LETTERS_WAITING_BYTES_MAX, LETTERS_WAITING_MAX};

/// Where letters are noted.
#[derive(Debug, Clone, Default)]
pub struct Letters(Option<Arc<Tray>>);

impl Letters {
    /// Keeps nothing.
    pub const fn none() -> Self {
        Self(None)
    }

    pub(crate) const fn to(tray: Arc<Tray>) -> Self {
        Self(Some(tray))
    }

    /// Whether it is worth making notes at all.
    pub const fn are_kept(&self) -> bool {
        self.0.is_some()
    }

    /// Keeps a note, if there is room.
    pub fn note(&self, note: Note) {
        if let Some(tray) = &self.0 {
            tray.put(note);
        }
    }
}

/// Notes on their way to the keeper.
#[derive(Debug)]
pub(crate) struct Tray {
    waiting: Mutex<Waiting>,
    news: Condvar,
    room: Room,
}

/// How much may wait.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    pub(crate) letters: usize,
    pub(crate) bytes: usize,
}

impl Default for Room {
    fn default() -> Self {
        Self { letters: LETTERS_WAITING_MAX, bytes: LETTERS_WAITING_BYTES_MAX }
    }
}

/// What the keeper takes in one go.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    pub(crate) notes: Vec<Note>,
    /// Letters for which there was no room.
    pub(crate) dropped: BTreeMap<LeagueId, u64>,
    letters: usize,
    bytes: usize,
    is_closed: bool,
}

impl Tray {
    pub(crate) fn new(room: Room) -> Arc<Self> {
        Arc::new(Self { waiting: Mutex::default(), news: Condvar::new(), room })
    }

    fn put(&self, note: Note) {
        let (letters, bytes) = (note.letters.len(), note.bytes());
        let mut waiting = self.lock();
        let is_full = waiting.letters + letters > self.room.letters
            || waiting.bytes + bytes > self.room.bytes
            || waiting.is_closed;
        if is_full {
            *waiting.dropped.entry(note.league).or_default() += letters as u64;
            drop(waiting);
            Meter::of(Component::Manager).letters_dropped.add(letters as u64);
            return;
        }
        waiting.letters += letters;
        waiting.bytes += bytes;
        waiting.notes.push(note);
        let is_first = waiting.notes.len() == 1;
        let is_much = waiting.bytes > self.room.bytes / 4;
        drop(waiting);
        if is_first || is_much {
            self.news.notify_one();
        }
    }

    /// Rests until there is something, and then a while, so that it becomes worth packing. Nothing
    /// if there will never be anything again.
    fn take(&self) -> Option<Waiting> {
        let is_idle = |waiting: &mut Waiting| waiting.notes.is_empty() && !waiting.is_closed;
        let waited = self.news.wait_while(self.lock(), is_idle);
        let waiting = waited.unwrap_or_else(PoisonError::into_inner);
        let is_little =
            |waiting: &mut Waiting| waiting.bytes <= self.room.bytes / 4 && !waiting.is_closed;
        let waited = self.news.wait_timeout_while(waiting, LETTERS_PAUSE, is_little);
        let (mut waiting, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let is_closed = waiting.is_closed;
        let taken = std::mem::replace(&mut *waiting, Waiting { is_closed, ..Waiting::default() });
        (!taken.notes.is_empty() || !taken.dropped.is_empty()).then_some(taken)
    }

    fn close(&self) {
        self.lock().is_closed = true;
        self.news.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
