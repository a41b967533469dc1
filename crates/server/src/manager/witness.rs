//! Notes of what the manager sends and receives, for the record beside the books.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use bytes::Bytes;
use league_agent::ambient::{self, Mark};
use league_agent::caller::{Answered, CallError};
use league_agent::desk::{Replied, Witness};
use league_agent::guard::lock;
use league_core::id::{AgentId, LeagueId, MatchId, RefereeId};
use league_core::time::Timestamp;
use league_wire::message::{ErrorReport, RegisterResponse};
use league_wire::{Dialect, Envelope, Fragment, Id, Letter, Message, shown};

use super::Stub;
use super::leagues::Newcomer;
use super::news::Notice;
use crate::abridge::abridged;
use crate::letters::{Answer, Body, Letters, Note, Part, Template, Way, hidden, long};
use crate::limits::{LETTER_BYTES_MAX, LETTER_REFUSED_BYTES_MAX, TEMPLATES_MAX};

/// How an account of what was said after a report is called.
const EPILOGUE: &str = "EPILOGUE";

/// Letters that many get, by the notice that they tell.
#[derive(Debug, Default)]
pub(super) struct Templates(Mutex<VecDeque<Known>>);

/// A notice, the shape in which it was told, and how.
type Known = (Weak<Notice>, Dialect, Arc<Template>);

impl Templates {
    /// The template of `letter`, which tells `notice` and was written as `body`.
    fn of(
        &self,
        notice: &Arc<Notice>,
        dialect: Dialect,
        (letter, id, body): (&Letter, &Id, &[u8]),
    ) -> Option<Arc<Template>> {
        let mut known = lock(&self.0);
        // The weak one keeps the address from being used for another.
        let is_it = |(of, shape, _): &&Known| {
            *shape == dialect && std::ptr::eq(of.as_ptr(), Arc::as_ptr(notice))
        };
        if let Some((_, _, template)) = known.iter().find(is_it) {
            return Some(template.clone());
        }
        let template = Arc::new(Template::of(body, id, &letter.envelope)?);
        if known.len() == TEMPLATES_MAX {
            known.pop_front();
        }
        known.push_back((Arc::downgrade(notice), dialect, template.clone()));
        Some(template)
    }
}

/// The note of a letter that goes out as `body`.
pub(super) fn part(
    letter: &Letter,
    dialect: Dialect,
    (id, body): (&Id, &[u8]),
    shared: Option<(&Templates, &Arc<Notice>)>,
) -> Part {
    let Letter { envelope, message } = letter;
    let template = shared.and_then(|(templates, notice)| {
        // Where each message has an identifier of its own there is nothing to share.
        let is_shared = notice.is_the_same_for_all() && dialect != Dialect::Payload;
        is_shared.then(|| templates.of(notice, dialect, (letter, id, body))).flatten()
    });
    let bytes = body.len();
    let body = match template {
        Some(template) => Body::Shared(template),
        None => Body::Own(kept(body, message)),
    };
    Part {
        name: message.kind().name(dialect),
        conversation: envelope.conversation.clone(),
        match_id: message.match_id(),
        id: Some(id.clone()),
        stamped: envelope.timestamp,
        bytes,
        body,
        hidden: hidden(envelope, message),
    }
}

/// What is kept of `body`, in which `message` was written. A copy: it waits for a while, and must
/// not take the room of what was left out.
fn kept(body: &[u8], message: &Message) -> Bytes {
    abridged(&shown::text(body), &long(message)).into_owned().into()
}

/// When a call began.
pub(super) struct Begun(Timestamp, Mark);

impl Begun {
    pub(super) fn now() -> Self {
        Self(ambient::now(), Mark::set())
    }

    fn took(&self) -> Duration {
        self.1.elapsed()
    }
}

/// Notes what came of a call to `agent` that brought it `parts`.
pub(super) fn called(
    letters: &Letters,
    (league, agent, dialect): (&LeagueId, AgentId, Dialect),
    begun: &Begun,
    parts: Vec<Part>,
    told: &Result<Option<Answered>, CallError>,
) {
    if parts.is_empty() {
        return;
    }
    let answer = match told {
        // A copy: the body is part of whatever the connection has read, which would be kept too.
        Ok(Some(Answered { status, body, .. })) => {
            Answer::came(*status, Bytes::copy_from_slice(body))
        }
        Ok(None) => Answer::Failed("the answer was too long".into()),
        Err(error) => Answer::Failed(error.to_string()),
    };
    letters.note(Note {
        league: league.clone(),
        at: begun.0,
        took: begun.took(),
        way: Way::Went,
        peer: agent.to_string(),
        dialect,
        letters: parts,
        answer,
    });
}

/// Notes `letter`, which came as `body`, when it is answered.
pub(super) fn received(
    letters: Letters,
    league: LeagueId,
    (letter, dialect, body): (&Letter, Dialect, &str),
) -> Witness {
    let Letter { envelope, message } = letter;
    let begun = Begun::now();
    let bytes = body.len();
    let body = kept(body.as_bytes(), message);
    let name = message.kind().name(dialect);
    // A newcomer has no identifier yet, whatever it calls itself.
    let is_known = Newcomer::of(message).is_none();
    let claimed = envelope.sender.agent().filter(|_| is_known);
    let peer = claimed.map_or_else(|| envelope.sender.to_string(), |agent| agent.to_string());
    let (conversation, stamped) = (envelope.conversation.clone(), envelope.timestamp);
    let (match_id, secrets) = (message.match_id(), hidden(envelope, message));
    Box::new(move |reply| {
        let wrong =
            refusal(&reply.letter.message).map(|no| format!("{}: {}", no.code, no.description));
        let max = if wrong.is_some() { LETTER_REFUSED_BYTES_MAX } else { LETTER_BYTES_MAX };
        let body = if body.len() > max { Body::Cut } else { Body::Own(body) };
        let id = None;
        let hidden = secrets;
        let part = Part { name, conversation, match_id, id, stamped, bytes, body, hidden };
        letters.note(Note {
            league,
            at: begun.0,
            took: begun.took(),
            way: Way::Came,
            peer: registered(&reply.letter.message).unwrap_or(peer),
            dialect,
            letters: vec![part],
            answer: answer(reply, dialect, wrong),
        });
    })
}

/// Notes what a referee tells of what was said after its report.
pub(super) fn told(
    stub: &Stub,
    referee: RefereeId,
    envelope: &Envelope,
    (match_id, epilogue): (MatchId, &Fragment),
) {
    if !stub.letters().are_kept() {
        return;
    }
    let body = epilogue.as_str().as_bytes();
    let part = Part {
        name: EPILOGUE,
        conversation: envelope.conversation.clone(),
        match_id: Some(match_id),
        id: None,
        stamped: envelope.timestamp,
        bytes: body.len(),
        body: Body::Own(Bytes::copy_from_slice(body)),
        hidden: envelope.token.iter().map(|token| token.reveal().to_string()).collect(),
    };
    stub.letters().note(Note {
        league: stub.published().league.id().clone(),
        at: ambient::now(),
        took: Duration::ZERO,
        way: Way::Told,
        peer: referee.to_string(),
        dialect: Dialect::Flat,
        letters: vec![part],
        answer: Answer::Failed(String::new()),
    });
}

fn answer(reply: &Replied<'_>, dialect: Dialect, wrong: Option<String>) -> Answer {
    let Replied { status, letter: Letter { envelope, message }, body } = reply;
    let mut body = kept(body, message);
    if body.len() > LETTER_BYTES_MAX {
        body = format!("\"[left out: {} bytes]\"", body.len()).into();
    }
    let name = Some(message.kind().name(dialect));
    Answer::Came { status: *status, name, body, wrong, hidden: hidden(envelope, message) }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "everything else is no refusal")]
const fn refusal(message: &Message) -> Option<&ErrorReport> {
    match message {
        Message::LeagueError(report) => Some(report),
        Message::LeagueRegisterResponse(RegisterResponse::Rejected(report))
        | Message::RefereeRegisterResponse(RegisterResponse::Rejected(report)) => Some(report),
        _ => None,
    }
}

/// Who a newcomer has become.
#[expect(clippy::wildcard_enum_match_arm, reason = "nobody else gets an identifier")]
fn registered(message: &Message) -> Option<String> {
    match message {
        Message::LeagueRegisterResponse(RegisterResponse::Accepted { id, .. }) => {
            Some(id.to_string())
        }
        Message::RefereeRegisterResponse(RegisterResponse::Accepted { id, .. }) => {
            Some(id.to_string())
        }
        _ => None,
    }
}
