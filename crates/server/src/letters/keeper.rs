//! The thread that packs notes: it takes out what must not be told and puts letters together.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use league_core::id::LeagueId;
use league_wire::dialect::answer_name;
use league_wire::frame::{Outcome, parse_response, split_responses};
use league_wire::redact::redact;
use league_wire::shown;

use super::bundle::{Bundle, Exchanged, Packed, Packer};
use super::hour::Hour;
use super::note::{Answer, Body, Note, Part};
use super::{Letters, Room, Tray, Waiting, dropped};
use crate::limits::{LETTER_BYTES_MAX, LETTER_WRONG_CHARS_MAX};

/// The keeper of the letters of one journal. Dropping it stores what still waits.
pub(crate) struct Keeper {
    tray: Arc<Tray>,
    thread: Option<JoinHandle<()>>,
}

impl Keeper {
    /// Begins to keep letters, which go to `store` in bundles.
    pub(crate) fn start(room: Room, store: impl Fn(Bundle) + Send + 'static) -> io::Result<Self> {
        let tray = Tray::new(room);
        let own = Arc::clone(&tray);
        let thread = thread::Builder::new().name("letter-keeper".to_owned()).spawn(move || {
            let mut hour = Hour::of(room.hour_bytes);
            while let Some(waiting) = own.take() {
                pack(waiting, &mut hour, &store);
            }
        })?;
        Ok(Self { tray, thread: Some(thread) })
    }

    /// Where letters are noted.
    pub(crate) fn letters(&self) -> Letters {
        Letters::to(Arc::clone(&self.tray))
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.tray.close();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was printed there; letters are not worth another.
            let _ = thread.join();
        }
    }
}

fn pack(waiting: Waiting, hour: &mut Hour, store: &impl Fn(Bundle)) {
    let mut packers: BTreeMap<LeagueId, Packer> = BTreeMap::new();
    let packer = |league: &LeagueId| Packer::new(league.clone());
    for (league, dropped) in waiting.dropped {
        packers.entry(league.clone()).or_insert_with(|| packer(&league)).dropped += dropped;
    }
    for note in waiting.notes {
        let league = note.league.clone();
        let into = packers.entry(league.clone()).or_insert_with(|| packer(&league));
        if !hour.admits(&note) {
            into.dropped += dropped(&note);
            continue;
        }
        add(into, note);
        if into.is_full() {
            let full = std::mem::replace(into, packer(&league));
            full.finish().into_iter().for_each(|bundle| handed(bundle, hour, store));
        }
    }
    let rest = packers.into_values().filter_map(Packer::finish);
    rest.for_each(|bundle| handed(bundle, hour, store));
}

fn handed(bundle: Bundle, hour: &mut Hour, store: &impl Fn(Bundle)) {
    hour.count(&bundle);
    store(bundle);
}

/// Adds every letter of a call with the answer to it.
fn add(packer: &mut Packer, note: Note) {
    let Note { at, took, way, peer, dialect, letters, answer, .. } = note;
    let is_alone = letters.len() == 1;
    let split = match &answer {
        Answer::Came { body, .. } if !is_alone => split_responses(body),
        Answer::Came { .. } | Answer::Cut { .. } | Answer::Failed(_) | Answer::None => None,
    };
    let peer = peer.to_string();
    for (place, part) in letters.into_iter().enumerate() {
        let mut letter = Exchanged {
            at,
            took_us: u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
            way,
            peer: peer.clone(),
            dialect: dialect.name().into(),
            name: part.name.into(),
            conversation: part.conversation.to_string(),
            match_id: part.match_id.map(|id| id.to_string()),
            bytes: part.bytes as u64,
            body: None,
            status: None,
            answer_name: None,
            answer_bytes: 0,
            answer: None,
            wrong: None,
        };
        match &answer {
            Answer::None => {}
            Answer::Cut { status, name, bytes, wrong } => {
                (letter.status, letter.answer_name) = (Some(*status), Some((*name).into()));
                letter.answer_bytes = *bytes as u64;
                letter.wrong = wrong.as_deref().map(|wrong| redact(wrong, &[]).into_owned());
            }
            Answer::Failed(why) => letter.wrong = Some(redact(why, &[]).into_owned()),
            Answer::Came { status, name, body, wrong, hidden } => {
                letter.status = Some(*status);
                let own = match &split {
                    Some(parts) => {
                        let own = parts.iter().find(|(id, _)| *id == part.id);
                        own.map(|(_, part)| *part).ok_or(UNANSWERED)
                    }
                    // Stored once: an agent must not make its answer as long as it is asked often.
                    None if place > 0 => Err(TOGETHER),
                    None => Ok(&**body),
                };
                let hidden: Vec<&str> = hidden.iter().map(String::as_str).collect();
                answered(&mut letter, own, *name, &hidden);
                letter.wrong = wrong
                    .as_deref()
                    .or(letter.wrong.as_deref())
                    .map(|wrong| redact(wrong, &hidden).into_owned());
            }
        }
        let body = packed(&part);
        packer.add(letter, body);
    }
}

/// Why a letter of a call that brought several has no answer of its own.
const UNANSWERED: &str = "not answered, although others of the same call were";
const TOGETHER: &str = "the answer to the whole call, which is no list, is with its first letter";

/// Fills in what was answered.
fn answered(letter: &mut Exchanged, own: Result<&[u8], &str>, name: Option<&str>, hidden: &[&str]) {
    let own = match own {
        Ok(own) => own,
        Err(why) => {
            letter.wrong = Some(why.into());
            return;
        }
    };
    let mut told_name = name.map(String::from);
    if name.is_none() {
        letter.wrong = match parse_response(own).map(|response| response.outcome) {
            Ok(Outcome::Error(error)) => {
                told_name = error.data.and_then(answer_name);
                let message: String = error.message.chars().take(LETTER_WRONG_CHARS_MAX).collect();
                Some(format!("{}: {message}", error.code))
            }
            Ok(Outcome::Result(result)) => {
                told_name = answer_name(result);
                None
            }
            Err(error) => Some(error.to_string()),
        };
    }
    let text = told(own, hidden);
    letter.answer_bytes = own.len() as u64;
    letter.answer_name = told_name.map(|name| redact(&name, hidden).into_owned());
    letter.answer = Some(text);
}

fn packed(part: &Part) -> Packed<'_> {
    let hidden: Vec<&str> = part.hidden.iter().map(String::as_str).collect();
    match (&part.body, &part.id) {
        (Body::Own(bytes), _) => Packed::Own(told(bytes, &hidden)),
        (Body::Shared(template), id) => {
            let id = id.as_ref().map_or("null", |id| id.as_json()).into();
            Packed::Shared { template, stamped: part.stamped, id }
        }
        (Body::Cut, _) => Packed::Cut,
    }
}

/// `body` as it may be kept. Somebody may write a secret with escapes, and then it is not found as
/// it stands.
fn told(body: &[u8], hidden: &[&str]) -> String {
    let text = shown::text(body);
    let is_escaped = ["\\u", "\\/"].iter().any(|escape| text.contains(escape))
        || hidden.iter().any(|secret| secret.contains(['"', '\\', '/']));
    let told = if !hidden.is_empty() && is_escaped {
        let covered = shown::payload(body);
        covered.unwrap_or_else(|| format!("\"{}\"", league_wire::redact::REDACTED))
    } else {
        redact(&text, hidden).into_owned()
    };
    // What is no text, or has secrets, has become longer.
    if told.len() > LETTER_BYTES_MAX {
        return format!("\"[left out: {} bytes]\"", body.len());
    }
    told
}
