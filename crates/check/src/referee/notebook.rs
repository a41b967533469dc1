//! What happened in one match, in order: everything its players and the manager heard.

use std::time::Duration;

use league_agent::ambient::Mark;
use league_agent::guard::lock;
use league_core::seat::Seat;
use league_wire::{Dialect, Letter, Message, MessageType};
use std::sync::Mutex;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::transcript::{Transcript, Way};

/// Who heard something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ear {
    Player(Seat),
    Manager,
}

/// Something that the referee said.
#[derive(Debug, Clone)]
pub(super) struct Note {
    pub(super) at: Duration,
    pub(super) ear: Ear,
    /// What it says, if it can be read.
    pub(super) letter: Result<Letter, String>,
    pub(super) dialect: Dialect,
    pub(super) body: String,
}

impl Note {
    pub(super) fn kind(&self) -> Option<MessageType> {
        self.letter.as_ref().ok().map(|letter| letter.message.kind())
    }

    pub(super) fn message(&self) -> Option<&Message> {
        self.letter.as_ref().ok().map(|letter| &letter.message)
    }
}

/// Everything that was heard in one match.
#[derive(Debug)]
pub(super) struct Notebook {
    since: Mark,
    notes: watch::Sender<Vec<Note>>,
    transcript: Transcript,
    /// When players gave their choices, and what was in them that nobody else may know yet.
    secrets: Mutex<Vec<(Seat, String)>>,
}

impl Notebook {
    pub(super) fn new(transcript: Transcript) -> Self {
        let notes = watch::Sender::new(Vec::new());
        Self { since: Mark::set(), notes, transcript, secrets: Mutex::default() }
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.since.elapsed()
    }

    pub(super) fn note(
        &self,
        ear: Ear,
        letter: Result<Letter, String>,
        dialect: Dialect,
        body: &str,
    ) {
        let body = body.to_string();
        let note = Note { at: self.elapsed(), ear, letter, dialect, body };
        self.notes.send_modify(|notes| notes.push(note));
    }

    /// Puts what went over the line into the case's transcript.
    pub(super) fn show(&self, ear: Ear, way: Way, body: &[u8]) {
        let whom = match ear {
            Ear::Player(Seat::A) => "player A",
            Ear::Player(Seat::B) => "player B",
            Ear::Manager => "manager",
        };
        let mut text = format!("({whom}) ").into_bytes();
        text.extend_from_slice(body);
        self.transcript.record(way, &text);
    }

    pub(super) fn keep_secret(&self, seat: Seat, text: &str) {
        lock(&self.secrets).push((seat, text.into()));
    }

    pub(super) fn secrets(&self) -> Vec<(Seat, String)> {
        lock(&self.secrets).clone()
    }

    /// What was heard so far.
    pub(super) fn notes(&self) -> Vec<Note> {
        self.notes.borrow().clone()
    }

    /// What was heard of one type by one ear.
    pub(super) fn heard(&self, ear: Ear, kind: MessageType) -> Vec<Note> {
        let is_it = |note: &Note| note.ear == ear && note.kind() == Some(kind);
        self.notes.borrow().iter().filter(|note| is_it(note)).cloned().collect()
    }

    /// Waits until `count` messages of one type were heard by one ear; whether they were in time.
    pub(super) async fn hears(
        &self,
        ear: Ear,
        kind: MessageType,
        count: usize,
        limit: Duration,
    ) -> bool {
        let mut notes = self.notes.subscribe();
        let is_it = |note: &&Note| note.ear == ear && note.kind() == Some(kind);
        let heard = notes.wait_for(|notes| notes.iter().filter(is_it).count() >= count);
        timeout(limit, heard).await.is_ok_and(|heard| heard.is_ok())
    }
}
