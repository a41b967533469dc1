//! Letters as they are stored: some hundred together, what many got once, all of it compressed.
//!
//! A byte says in which form they are. Compressed by DEFLATE follow frames, each a length in four
//! bytes, little end first, and as many bytes: how many shared bodies there are, these, and of each
//! letter what is known of it, its body and the answer. What is alike is close together.

use std::collections::BTreeMap;
use std::sync::Arc;

use league_agent::ambient;
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

/// What is known of a letter. Its body and the answer follow, if there are any.
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
    #[serde(default, skip_serializing_if = "is_false")]
    body: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    like: Option<Like>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer_name: Option<String>,
    #[serde(default, skip_serializing_if = "is_zero")]
    answer_bytes: u64,
    #[serde(default, skip_serializing_if = "is_false")]
    answer: bool,
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
    count: u64,
    times: Option<(Timestamp, Timestamp)>,
    places: BTreeMap<usize, usize>,
    /// Keeps the addresses in `places` from being used again.
    templates: Vec<Arc<Template>>,
    shared: Vec<u8>,
    letters: Vec<u8>,
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
        let (places, templates, shared, letters) = (BTreeMap::new(), vec![], vec![], vec![]);
        Self { league, count: 0, times: None, places, templates, shared, letters, dropped: 0 }
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
            body: false,
            like: None,
            status: letter.status,
            answer_name: letter.answer_name,
            answer_bytes: letter.answer_bytes,
            answer: letter.answer.is_some(),
            wrong: letter.wrong,
        };
        let own = match body {
            Packed::Own(text) => {
                entry.body = true;
                Some(text)
            }
            Packed::Shared { template, stamped, id } => {
                let (of, stamped) = (self.place(template), stamped.as_millis());
                entry.like = Some(Like { of, stamped, id });
                None
            }
            Packed::Cut => None,
        };
        let Ok(json) = serde_json::to_string(&entry) else { return };
        for text in [Some(json), own, letter.answer].into_iter().flatten() {
            frame(&mut self.letters, &text);
        }
        self.count += 1;
        let (first, last) = self.times.unwrap_or((letter.at, letter.at));
        self.times = Some((first.min(letter.at), last.max(letter.at)));
    }

    fn place(&mut self, template: &Arc<Template>) -> usize {
        let address = Arc::as_ptr(template).addr();
        if let Some(place) = self.places.get(&address) {
            return *place;
        }
        frame(&mut self.shared, template.stored());
        self.templates.push(template.clone());
        self.places.insert(address, self.templates.len() - 1);
        self.templates.len() - 1
    }

    pub(super) const fn is_full(&self) -> bool {
        self.letters.len() + self.shared.len() > BUNDLE_FULL_BYTES
    }

    /// What was added, packed; nothing if there is nothing to tell.
    pub(super) fn finish(self) -> Option<Bundle> {
        if self.count == 0 && self.dropped == 0 {
            return None;
        }
        let now = ambient::now();
        let (first, last) = self.times.unwrap_or((now, now));
        let mut whole = vec![];
        frame(&mut whole, &self.templates.len().to_string());
        whole.extend_from_slice(&self.shared);
        whole.extend_from_slice(&self.letters);
        let bytes = [&[FORM], &*compress_to_vec(&whole, EFFORT)].concat();
        let (league, count, dropped) = (self.league, self.count, self.dropped);
        Some(Bundle { league, first, last, count, dropped, bytes })
    }
}

fn frame(out: &mut Vec<u8>, text: &str) {
    let length = u32::try_from(text.len()).expect("a letter is far shorter");
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(text.as_bytes());
}

/// The letters that were stored as `bytes` and are `wanted`; whoever is asked sees them without
/// their bodies.
///
/// # Errors
/// If they cannot be read.
pub fn open(bytes: &[u8], wanted: impl Fn(&Exchanged) -> bool) -> Result<Vec<Exchanged>, Damaged> {
    let Some((&FORM, packed)) = bytes.split_first() else { return Err(Damaged) };
    let whole = decompress_to_vec_with_limit(packed, BUNDLE_BYTES_MAX).map_err(|_| Damaged)?;
    let mut frames = Frames(&whole);
    let shared: usize = frames.next()?.parse().map_err(|_| Damaged)?;
    let shared = (0..shared).map(|_| frames.next()).collect::<Result<Vec<_>, _>>()?;
    let mut letters = vec![];
    while !frames.0.is_empty() {
        let entry: Entry = serde_json::from_str(frames.next()?).map_err(|_| Damaged)?;
        let own = entry.body.then(|| frames.next()).transpose()?;
        let answer = entry.answer.then(|| frames.next()).transpose()?;
        let (mut letter, like) = entry.exchanged();
        if wanted(&letter) {
            letter.body = match like {
                Some(Like { of, stamped, id }) => {
                    let stored = shared.get(of).ok_or(Damaged)?;
                    let stamped = Timestamp::from_millis(stamped);
                    Some(Template::filled(stored, &letter.conversation, stamped, &id))
                }
                None => own.map(String::from),
            };
            letter.answer = answer.map(String::from);
            letters.push(letter);
        }
    }
    Ok(letters)
}

/// What is left of the frames.
struct Frames<'a>(&'a [u8]);

impl<'a> Frames<'a> {
    fn next(&mut self) -> Result<&'a str, Damaged> {
        let (length, rest) = self.0.split_first_chunk::<4>().ok_or(Damaged)?;
        let length = u32::from_le_bytes(*length) as usize;
        let (next, rest) = rest.split_at_checked(length).ok_or(Damaged)?;
        self.0 = rest;
        std::str::from_utf8(next).map_err(|_| Damaged)
    }
}

impl Entry {
    /// The letter without its bodies, and what it is like.
    fn exchanged(self) -> (Exchanged, Option<Like>) {
        let letter = Exchanged {
            at: Timestamp::from_millis(self.at),
            took_us: self.us,
            way: self.way,
            peer: self.peer,
            dialect: self.dialect,
            name: self.name,
            conversation: self.conversation,
            match_id: self.match_id,
            bytes: self.bytes,
            body: None,
            status: self.status,
            answer_name: self.answer_name,
            answer_bytes: self.answer_bytes,
            answer: None,
            wrong: self.wrong,
        };
        (letter, self.like)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}
