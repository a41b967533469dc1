//! What the manager sends and receives, kept beside the record for whoever looks into a dispute.
//!
//! Noting a letter is a push into a bounded tray. A thread of its own takes out what must not be
//! told, packs what came in a while together and hands it to the journal's writer. When there is
//! more than it can keep up with, letters are dropped and counted; nobody ever waits for them.

mod bundle;
mod hour;
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

use self::note::Whose;
use crate::limits::{
    LETTERS_HOUR_BYTES_MAX, LETTERS_PAUSE, LETTERS_SENDER_PART, LETTERS_WAITING_BYTES_MAX,
    LETTERS_WAITING_MAX,
};

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
    /// How much of one league is stored in an hour.
    pub(crate) hour_bytes: usize,
}

impl Default for Room {
    fn default() -> Self {
        let (letters, bytes) = (LETTERS_WAITING_MAX, LETTERS_WAITING_BYTES_MAX);
        Self { letters, bytes, hour_bytes: LETTERS_HOUR_BYTES_MAX }
    }
}

/// What the keeper takes in one go.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    pub(crate) notes: Vec<Note>,
    /// Letters for which there was no room.
    pub(crate) dropped: BTreeMap<LeagueId, u64>,
    /// How much of it is whose.
    held: BTreeMap<Whose, usize>,
    letters: usize,
    bytes: usize,
    is_closed: bool,
}

impl Waiting {
    const fn has_room(&self, letters: usize, bytes: usize, room: Room) -> bool {
        self.letters + letters <= room.letters && self.bytes + bytes <= room.bytes
    }

    /// Makes room for a note of `whose` that takes `bytes`: who has much more than that gives up
    /// the newer half of it. Says whether anybody did.
    fn make_room(&mut self, whose: &Whose, bytes: usize, room: Room) -> bool {
        let own = self.held.get(whose).copied().unwrap_or_default() + bytes;
        let Some((most, held)) = self.held.iter().max_by_key(|(_, held)| **held) else {
            return false;
        };
        // Looking for what is somebody's takes time, which must be worth it.
        if *held <= own.max(room.bytes / LETTERS_SENDER_PART) {
            return false;
        }
        let (most, half) = (most.clone(), *held / 2);
        let mut left = 0;
        let mut gone = vec![];
        for note in std::mem::take(&mut self.notes) {
            let is_kept = note.whose() != most || left + note.bytes() <= half;
            if note.whose() == most && is_kept {
                left += note.bytes();
            }
            let to = if is_kept { &mut self.notes } else { &mut gone };
            to.push(note);
        }
        for note in gone {
            self.letters -= note.letters.len();
            self.bytes -= note.bytes();
            *self.dropped.entry(note.league.clone()).or_default() += dropped(&note);
        }
        self.held.insert(most, left);
        true
    }
}

/// Counts a note that is not kept, and says how many letters that are.
fn dropped(note: &Note) -> u64 {
    let letters = note.letters.len() as u64;
    Meter::of(Component::Manager).letters_dropped.add(letters);
    letters
}

impl Tray {
    pub(crate) fn new(room: Room) -> Arc<Self> {
        Arc::new(Self { waiting: Mutex::default(), news: Condvar::new(), room })
    }

    fn put(&self, note: Note) {
        let (letters, bytes, whose) = (note.letters.len(), note.bytes(), note.whose());
        let mut waiting = self.lock();
        let mut has_room = waiting.has_room(letters, bytes, self.room);
        while !has_room && waiting.make_room(&whose, bytes, self.room) {
            has_room = waiting.has_room(letters, bytes, self.room);
        }
        if !has_room || waiting.is_closed {
            *waiting.dropped.entry(whose.0).or_default() += dropped(&note);
            return;
        }
        *waiting.held.entry(whose).or_default() += bytes;
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
