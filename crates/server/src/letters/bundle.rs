//! Letters as they are stored: some hundred together, what many got once, all of it compressed.
//!
//! A byte says in which form they are. Compressed by DEFLATE follow the length of a JSON document
//! in four bytes, little end first, the document, and every body one after the other.

use std::collections::BTreeMap;
use std::sync::Arc;

use league_core::id::LeagueId;
use league_core::time::Timestamp;
use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::decompress_to_vec_with_limit;
use serde::{Deserialize, Serialize};

use super::note::Template;
use crate::limits::{BUNDLE_BYTES_MAX, BUNDLE_FULL_BYTES};

/// The form that is written today.
const FORM: u8 = 1;
/// The least effort: there is a lot of it and nearly everything repeats itself.
const EFFORT: u8 = 1;

/// Letters that are stored together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    /// Their league.
    pub league: LeagueId,
    /// When the first was noted.
    pub first: Timestamp,
    /// When the last was noted.
    pub last: Timestamp,
    /// How many they are.
    pub count: u64,
    /// How many were dropped before them for want of room.
    pub dropped: u64,
    /// The letters themselves.
    pub bytes: Vec<u8>,
}

/// Who called whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// An agent called the manager.
    Came,
    /// The manager called an agent.
    Went,
    /// A referee told what was said after its report.
    Told,
}

/// A letter and its answer, as they come back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchanged {
    /// When the call began.
    pub at: Timestamp,
    /// How long it took, in microseconds.
    pub took_us: u64,
    /// Who called whom.
    pub way: Way,
    /// The agent on the other side.
    pub peer: String,
    /// The shape in which it was said.
    pub dialect: String,
    /// The message's name.
    pub name: String,
    /// The exchange it belongs to.
    pub conversation: String,
    /// The match it is about.
    pub match_id: Option<String>,
    /// How long the letter was.
    pub bytes: u64,
    /// The letter, unless it was too long.
    pub body: Option<String>,
    /// The HTTP status of the answer; none if none came.
    pub status: Option<u16>,
    /// The answer's name, if it is known.
    pub answer_name: Option<String>,
    /// How long the answer was.
    pub answer_bytes: u64,
    /// The answer.
    pub answer: Option<String>,
    /// What is wrong with it, or why none came.
    pub wrong: Option<String>,
}

/// Stored letters that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("some of the manager's letters are damaged or in a form that this program does not know")]
pub struct Damaged;

#[derive(Debug, Default, Serialize, Deserialize)]
struct Document {
    shared: Vec<usize>,
    letters: Vec<Entry>,
}

/// A letter in the document. Bodies are lengths here.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    at: i64,
    us: u64,
    way: Way,
    peer: String,
    dialect: String,
    name: String,
    conversation: String,
    #[serde(rename = "match", default, skip_serializing_if = "Option::is_none")]
    match_id: Option<String>,
    bytes: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    body: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    like: Option<Like>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer_name: Option<String>,
    #[serde(default, skip_serializing_if = "is_zero")]
    answer_bytes: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    wrong: Option<String>,
}

/// Which of the shared bodies it is, and what is its own.
#[derive(Debug, Serialize, Deserialize)]
struct Like {
    of: usize,
    stamped: i64,
    id: String,
}

/// Packs letters of one league until they are enough for a bundle.
pub(super) struct Packer {
    league: LeagueId,
    document: Document,
    places: BTreeMap<usize, usize>,
    /// Keeps the addresses in `places` from being used again.
    templates: Vec<Arc<Template>>,
    shared: String,
    bodies: String,
    pub(super) dropped: u64,
}

/// What a letter's body is, ready to be packed.
pub(super) enum Packed<'a> {
    Own(String),
    Shared { template: &'a Arc<Template>, stamped: Timestamp, id: String },
    Cut,
}

impl Packer {
    pub(super) fn new(league: LeagueId) -> Self {
        let (document, places) = (Document::default(), BTreeMap::new());
        let (shared, bodies) = (String::new(), String::new());
        Self { league, document, places, templates: vec![], shared, bodies, dropped: 0 }
    }

    /// Adds a letter whose body is `body`; the one in `letter` is ignored.
    pub(super) fn add(&mut self, letter: Exchanged, body: Packed<'_>) {
        let mut entry = Entry {
            at: letter.at.as_millis(),
            us: letter.took_us,
            way: letter.way,
            peer: letter.peer,
            dialect: letter.dialect,
            name: letter.name,
            conversation: letter.conversation,
            match_id: letter.match_id,
            bytes: letter.bytes,
            body: None,
            like: None,
            status: letter.status,
            answer_name: letter.answer_name,
            answer_bytes: letter.answer_bytes,
            answer: letter.answer.as_ref().map(String::len),
            wrong: letter.wrong,
        };
        match body {
            Packed::Own(text) => {
                entry.body = Some(text.len());
                self.bodies.push_str(&text);
            }
            Packed::Shared { template, stamped, id } => {
                let (of, stamped) = (self.place(template), stamped.as_millis());
                entry.like = Some(Like { of, stamped, id });
            }
            Packed::Cut => {}
        }
        self.bodies.push_str(letter.answer.as_deref().unwrap_or_default());
        self.document.letters.push(entry);
    }

    fn place(&mut self, template: &Arc<Template>) -> usize {
        let address = Arc::as_ptr(template).addr();
        if let Some(place) = self.places.get(&address) {
            return *place;
        }
        self.shared.push_str(template.stored());
        self.document.shared.push(template.stored().len());
        self.templates.push(template.clone());
        self.places.insert(address, self.templates.len() - 1);
        self.templates.len() - 1
    }

    pub(super) const fn is_full(&self) -> bool {
        self.bodies.len() + self.shared.len() > BUNDLE_FULL_BYTES
    }

    /// What was added, packed; nothing if there is nothing to tell.
    pub(super) fn finish(self) -> Option<Bundle> {
        let letters = &self.document.letters;
        if letters.is_empty() && self.dropped == 0 {
            return None;
        }
        let times = || letters.iter().map(|letter| Timestamp::from_millis(letter.at));
        let now = league_agent::ambient::now();
        let (first, last) = (times().min().unwrap_or(now), times().max().unwrap_or(now));
        let count = letters.len() as u64;
        let json = serde_json::to_vec(&self.document).ok()?;
        let length = u32::try_from(json.len()).ok()?.to_le_bytes();
        let whole = [&length, &*json, self.shared.as_bytes(), self.bodies.as_bytes()].concat();
        let bytes = [&[FORM], &*compress_to_vec(&whole, EFFORT)].concat();
        Some(Bundle { league: self.league, first, last, count, dropped: self.dropped, bytes })
    }
}

/// The letters that were stored as `bytes`.
///
/// # Errors
/// If they cannot be read.
pub fn open(bytes: &[u8]) -> Result<Vec<Exchanged>, Damaged> {
    let Some((&FORM, packed)) = bytes.split_first() else { return Err(Damaged) };
    let whole = decompress_to_vec_with_limit(packed, BUNDLE_BYTES_MAX).map_err(|_| Damaged)?;
    let (length, rest) = whole.split_first_chunk::<4>().ok_or(Damaged)?;
    let (json, bodies) =
        rest.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or(Damaged)?;
    let document: Document = serde_json::from_slice(json).map_err(|_| Damaged)?;
    let mut bodies = Bodies(std::str::from_utf8(bodies).map_err(|_| Damaged)?);
    let mut shared = vec![];
    for length in document.shared {
        shared.push(bodies.next(length)?);
    }
    document.letters.into_iter().map(|entry| entry.exchanged(&mut bodies, &shared)).collect()
}

/// What is left of the bodies.
struct Bodies<'a>(&'a str);

impl<'a> Bodies<'a> {
    fn next(&mut self, length: usize) -> Result<&'a str, Damaged> {
        let (next, rest) = self.0.split_at_checked(length).ok_or(Damaged)?;
        self.0 = rest;
        Ok(next)
    }
}

impl Entry {
    fn exchanged(self, bodies: &mut Bodies<'_>, shared: &[&str]) -> Result<Exchanged, Damaged> {
        let own = self.body.map(|length| bodies.next(length)).transpose()?.map(String::from);
        let answer = self.answer.map(|length| bodies.next(length)).transpose()?.map(String::from);
        let body = match self.like {
            Some(Like { of, stamped, id }) => {
                let stored = shared.get(of).ok_or(Damaged)?;
                let stamped = Timestamp::from_millis(stamped);
                Some(Template::filled(stored, &self.conversation, stamped, &id))
            }
            None => own,
        };
        Ok(Exchanged {
            at: Timestamp::from_millis(self.at),
            took_us: self.us,
            way: self.way,
            peer: self.peer,
            dialect: self.dialect,
            name: self.name,
            conversation: self.conversation,
            match_id: self.match_id,
            bytes: self.bytes,
            body,
            status: self.status,
            answer_name: self.answer_name,
            answer_bytes: self.answer_bytes,
            answer,
            wrong: self.wrong,
        })
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}
