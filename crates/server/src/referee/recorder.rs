//! Keeps what is said in one attempt at a match, for the transcript that goes with the report.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use league_agent::ambient::{self, Mark};
use league_agent::component::Component;
use league_agent::log::{self, Level, Line};
use league_core::id::{ConversationId, LeagueId, MatchId, RefereeId};
use league_core::time::Timestamp;
use league_wire::limits::{EPILOGUE_BYTES_MAX, FRAGMENT_DEPTH_MAX, TRANSCRIPT_BYTES_MAX};
use league_wire::{Code, Fragment, iso, shown};
use serde_json::value::RawValue;

use super::outbound::Letters;
use crate::abridge::abridged;
use crate::limits::{
    RESPONSES_MAX, TRANSCRIPT_BODIES_MAX, TRANSCRIPT_ENTRIES_MAX, TRANSCRIPT_TEXT_MAX,
};
use crate::record::redact::redact;
use crate::record::transcript::{self, Entry, Kind, Party, Transcript};

/// Levels of JSON that a transcript puts around a body.
const LEVELS_AROUND: usize = 3;

/// What was said so far.
#[derive(Debug)]
pub(super) struct Recorder {
    began: Timestamp,
    clock: Mark,
    notes: VecDeque<Note>,
    calls: u32,
    left_out: u32,
    body_bytes: usize,
    /// How much of it went with the report.
    reported: usize,
    /// Who answered how fast.
    answers: Vec<(String, Duration)>,
    about: About,
}

/// The attempt at a match that is recorded, as the log names it.
#[derive(Debug, Clone)]
pub(super) struct About {
    pub(super) referee: RefereeId,
    pub(super) league: LeagueId,
    pub(super) match_id: MatchId,
    pub(super) conversation: ConversationId,
}

/// Something that was said or happened. Times and lengths are noted, the rest waits for the report.
#[derive(Debug)]
pub(super) struct Note {
    kind: Kind,
    at: Duration,
    took: Option<Duration>,
    call: Option<u32>,
    peer: Option<String>,
    name: Option<&'static str>,
    status: Option<u16>,
    text: Option<String>,
    bytes: Option<usize>,
    body: Option<Bytes>,
}

/// What does not go into a transcript.
struct Filter<'a> {
    /// Secrets.
    hidden: Vec<&'a str>,
    /// What the manager sent to be passed on, and what it is: the manager has it in its books, and
    /// the same for every match of a round.
    familiar: Vec<(&'static str, &'a str)>,
}

/// A call that is out.
#[derive(Debug, Clone)]
pub(super) struct Out {
    call: u32,
    sent: Mark,
    peer: String,
    name: &'static str,
}

/// What came of a call.
#[derive(Debug)]
pub(super) struct Outcome {
    /// The HTTP status and the body, if anything came.
    pub(super) came: Option<(u16, Bytes)>,
    /// What message it is, if it is one.
    pub(super) name: Option<&'static str>,
    /// What is wrong with it, if something is.
    pub(super) wrong: Option<String>,
    /// The same for the log, which people may read before the match ends.
    pub(super) logged: Option<String>,
    /// The code that stands for it.
    pub(super) code: Option<Code>,
}

impl Recorder {
    pub(super) fn new(about: About) -> Self {
        Self {
            began: ambient::now(),
            clock: Mark::set(),
            notes: VecDeque::new(),
            calls: 0,
            left_out: 0,
            body_bytes: 0,
            reported: 0,
            answers: vec![],
            about,
        }
    }

    /// A call goes out.
    pub(super) fn sent(&mut self, peer: String, name: &'static str, body: &Bytes) -> Out {
        self.calls += 1;
        self.about.sent(&peer, name, body);
        let out = Out { call: self.calls, sent: Mark::set(), peer: peer.clone(), name };
        let (call, peer, name) = (Some(out.call), Some(peer), Some(name));
        self.add(Note { call, peer, name, ..self.note(Kind::Sent).with(body) });
        out
    }

    /// A call has come to its end.
    pub(super) fn settled(&mut self, out: Out, outcome: Outcome) {
        self.about.settled(&out, &outcome);
        let Outcome { came, name, wrong, .. } = outcome;
        let status = came.as_ref().map(|(status, _)| *status);
        let note = match &came {
            Some((_, body)) => self.note(Kind::Received).with(body),
            None => self.note(Kind::Failed),
        };
        let took = out.sent.elapsed();
        // What is only told is answered with nothing in particular.
        if name.is_some() && self.answers.len() < RESPONSES_MAX {
            self.answers.push((out.peer.clone(), took));
        }
        let (call, took, peer) = (Some(out.call), Some(took), Some(out.peer));
        self.add(Note { call, took, peer, name, status, text: wrong, ..note });
    }

    /// A player called us. There may be any number of such calls, and they are no reason to forget
    /// what went before.
    pub(super) fn called(
        &mut self,
        peer: Option<String>,
        name: &'static str,
        body: Option<&Bytes>,
        refused: Option<String>,
    ) {
        if self.is_full() {
            self.left_out += 1;
            return;
        }
        let note = self.note(Kind::Called);
        let note = body.map_or_else(|| self.note(Kind::Called), |body| note.with(body));
        self.add(Note { peer, name: Some(name), text: refused, ..note });
    }

    /// Something happened in the match.
    pub(super) fn happened(&mut self, name: &'static str, peer: Option<String>, text: String) {
        let text = Some(text).filter(|text| !text.is_empty());
        self.add(Note { peer, name: Some(name), text, ..self.note(Kind::Event) });
    }

    /// How long `peer` took for each of its answers, in microseconds.
    pub(super) fn response_times(&self, peer: &str) -> Vec<u64> {
        let own = self.answers.iter().filter(|(who, _)| who == peer);
        own.map(|(_, took)| micros(*took)).collect()
    }

    pub(super) fn is_full(&self) -> bool {
        self.notes.len() >= TRANSCRIPT_ENTRIES_MAX
    }

    fn note(&self, kind: Kind) -> Note {
        Note {
            kind,
            at: self.clock.elapsed(),
            took: None,
            call: None,
            peer: None,
            name: None,
            status: None,
            text: None,
            bytes: None,
            body: None,
        }
    }

    fn add(&mut self, note: Note) {
        self.body_bytes += note.body.as_ref().map_or(0, Bytes::len);
        self.notes.push_back(note);
        let mut oldest = self.notes.iter_mut();
        while self.body_bytes > TRANSCRIPT_BODIES_MAX
            && let Some(note) = oldest.next()
        {
            self.body_bytes -= note.body.take().map_or(0, |body| body.len());
        }
    }

    /// The transcript of what was said so far, without anything that would let its reader act as
    /// somebody else, and never longer than a report may carry.
    pub(super) fn transcript(&mut self, letters: &Letters) -> Option<Fragment> {
        let mut transcript = self.since(0, letters);
        self.reported = self.notes.len();
        bounded(&mut transcript, TRANSCRIPT_BYTES_MAX)
    }

    /// What was said since, in the same form and with times from the same beginning.
    pub(super) fn epilogue(&self, letters: &Letters) -> Option<Fragment> {
        let mut epilogue = self.since(self.reported, letters);
        epilogue.players = vec![];
        bounded(&mut epilogue, EPILOGUE_BYTES_MAX)
    }

    fn since(&self, first: usize, letters: &Letters) -> Transcript {
        let order = &letters.order;
        let secrets = letters.secrets();
        let filter = Filter {
            hidden: secrets.iter().map(String::as_str).collect(),
            familiar: letters.familiar(),
        };
        let parties = order.players.iter().map(|(_, player)| Party {
            player: player.player_id.to_string(),
            endpoint: redact(&player.endpoint, &filter.hidden).into_owned(),
            dialect: player.dialect.name().into(),
        });
        Transcript {
            version: transcript::VERSION,
            league: letters.me.league.to_string(),
            match_id: order.match_id.to_string(),
            attempt: order.attempt,
            rematch: order.rematch,
            referee: letters.me.id.to_string(),
            conversation: letters.conversation.to_string(),
            began: iso::format(self.began),
            players: parties.collect(),
            left_out: self.left_out,
            entries: self.notes.iter().skip(first).map(|note| note.entry(&filter)).collect(),
        }
    }
}

impl About {
    /// A line about this attempt.
    pub(super) fn line<'a>(&self, line: &'a mut Line) -> &'a mut Line {
        line.league(&self.league).match_id(self.match_id).conversation(&self.conversation)
    }

    fn sent(&self, peer: &str, name: &str, body: &Bytes) {
        log::at(Level::Debug, Component::Referee, |line| {
            self.line(line).agent(self.referee).text("peer", peer);
            line.message_name(name).say("sent").payload(body);
        });
    }

    fn settled(&self, out: &Out, outcome: &Outcome) {
        let level = if outcome.logged.is_some() { Level::Error } else { Level::Debug };
        log::at(level, Component::Referee, |line| {
            self.line(line).agent(self.referee).text("peer", &out.peer);
            line.message_name(outcome.name.unwrap_or(out.name));
            line.detail("took_us", micros(out.sent.elapsed()));
            if let Some(code) = outcome.code {
                line.code(code);
            }
            match (&outcome.logged, &outcome.came) {
                (Some(wrong), Some(_)) => line.say(format!("unusable answer: {wrong}")),
                (Some(wrong), None) => line.say(format!("call failed: {wrong}")),
                (None, _) => line.say("answered"),
            };
            if let Some((_, body)) = outcome.came.as_ref().filter(|_| log::is_on(Level::Debug)) {
                line.payload(body);
            }
        });
    }
}

impl Note {
    fn with(self, body: &Bytes) -> Self {
        Self { bytes: Some(body.len()), body: Some(body.clone()), ..self }
    }

    fn entry(&self, filter: &Filter<'_>) -> Entry {
        let text = self.text.as_deref().map(|text| {
            let mut text = redact(text, &filter.hidden).into_owned();
            text.truncate(text.floor_char_boundary(TRANSCRIPT_TEXT_MAX));
            text
        });
        let (body, raw) = self.body.as_ref().map_or((None, None), |body| told(body, filter));
        Entry {
            at_us: micros(self.at),
            took_us: self.took.map(micros),
            kind: self.kind,
            call: self.call,
            peer: self.peer.clone(),
            name: self.name.map(Into::into),
            status: self.status,
            text,
            bytes: self.bytes,
            body,
            raw,
            cut: self.bytes.is_some() && self.body.is_none(),
        }
    }
}

/// A body as JSON if it is some, else as text.
fn told(body: &Bytes, filter: &Filter<'_>) -> (Option<Box<RawValue>>, Option<String>) {
    let text = shown::text(body);
    let text = abridged(&text, &filter.familiar);
    let text = redact(&text, &filter.hidden).into_owned();
    let mut deepest = 0_usize;
    let mut depth = 0_usize;
    for byte in text.bytes() {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    if deepest + LEVELS_AROUND > FRAGMENT_DEPTH_MAX {
        return (None, Some(text));
    }
    match serde_json::from_str(&text) {
        Ok(json) => (Some(json), None),
        Err(_) => (None, Some(text)),
    }
}

/// The transcript as JSON, with as many of its oldest bodies left out as it takes to fit.
fn bounded(transcript: &mut Transcript, bytes_max: usize) -> Option<Fragment> {
    let mut json = Fragment::of(transcript)?;
    let mut excess = json.as_str().len().saturating_sub(bytes_max);
    let mut next = 0;
    while excess > 0 {
        // What is cut may have been longer as JSON than it was, never shorter.
        while excess > 0 {
            let entry = transcript.entries.get_mut(next)?;
            let body = entry.body.take().map_or(0, |body| body.get().len());
            let raw = entry.raw.take().map_or(0, |raw| raw.len());
            entry.cut |= body + raw > 0;
            excess = excess.saturating_sub(body + raw);
            next += 1;
        }
        json = Fragment::of(transcript)?;
        excess = json.as_str().len().saturating_sub(bytes_max);
    }
    Some(json)
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transcript(bodies: usize, bytes: usize) -> Transcript {
        let about = About {
            referee: "REF01".parse().unwrap(),
            league: "l".parse().unwrap(),
            match_id: "R1M1".parse().unwrap(),
            conversation: "c".parse().unwrap(),
        };
        let mut recorder = Recorder::new(about);
        let filter = Filter { hidden: vec![], familiar: vec![] };
        for _ in 0..bodies {
            let body = Bytes::from(format!("\"{}\"", "x".repeat(bytes)));
            recorder.called(Some("P01".into()), "MOVE", Some(&body), None);
        }
        Transcript {
            version: transcript::VERSION,
            league: "l".into(),
            match_id: "R1M1".into(),
            attempt: 1,
            rematch: 0,
            referee: "REF01".into(),
            conversation: "c".into(),
            began: String::new(),
            players: vec![],
            left_out: recorder.left_out,
            entries: recorder.notes.iter().map(|note| note.entry(&filter)).collect(),
        }
    }

    #[test]
    fn the_oldest_bodies_go_first_and_are_marked() {
        let mut long = transcript(6, 60_000);
        let json = bounded(&mut long, TRANSCRIPT_BYTES_MAX).unwrap();
        let bytes = json.as_str().len();
        assert!(bytes <= TRANSCRIPT_BYTES_MAX && bytes > TRANSCRIPT_BYTES_MAX / 2);
        let read: Transcript = serde_json::from_str(json.as_str()).unwrap();
        let cut: Vec<_> = read.entries.iter().map(|entry| entry.cut).collect();
        assert_eq!(cut, [true, true, false, false, false, false]);
        for entry in &read.entries {
            assert_eq!((entry.bytes, entry.body.is_none()), (Some(60_002), entry.cut));
        }
    }

    #[test]
    fn a_match_keeps_a_bounded_amount_however_often_it_is_called() {
        let flooded = transcript(10 * TRANSCRIPT_ENTRIES_MAX, 3_000);
        assert_eq!(flooded.entries.len(), TRANSCRIPT_ENTRIES_MAX);
        assert_eq!(flooded.left_out as usize, 9 * TRANSCRIPT_ENTRIES_MAX);
        let kept = flooded.entries.iter().filter_map(|entry| entry.body.as_ref());
        let kept: usize = kept.map(|body| body.get().len()).sum();
        assert!(kept <= TRANSCRIPT_BODIES_MAX, "{kept}");
        assert!(flooded.entries[0].cut);
    }

    #[test]
    fn bodies_are_kept_as_they_are_but_for_secrets_and_what_is_known() {
        let standings = "[1,2,3]";
        let filter = Filter { hidden: vec!["5eed"], familiar: vec![("the table", standings)] };
        let body = Bytes::from_static(br#"{ "b":"tok_12", "a":[1,2,3],"s":"5eed" }"#);
        let (json, raw) = told(&body, &filter);
        let expected =
            r#"{ "b":"[redacted]", "a":"[left out: the table, 7 bytes]","s":"[redacted]" }"#;
        assert_eq!((json.unwrap().get(), raw), (expected, None));
        let (json, raw) = told(&Bytes::from_static(b"\xff<html> prf_12"), &filter);
        assert_eq!((json.is_none(), raw.as_deref()), (true, Some("\u{fffd}<html> [redacted]")));
        let deep = "[".repeat(FRAGMENT_DEPTH_MAX) + &"]".repeat(FRAGMENT_DEPTH_MAX);
        let (json, raw) = told(&Bytes::from(deep.clone()), &filter);
        assert_eq!((json.is_none(), raw), (true, Some(deep)));
    }
}
