//! Notes of what the manager sends and receives, for the record beside the books.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use bytes::Bytes;
use league_agent::ambient::{self, Mark};
use league_agent::caller::{Answered, CallError};
use league_agent::desk::{self, Replied, Witness};
use league_agent::guard::lock;
use league_core::id::{AgentId, LeagueId, MatchId, RefereeId};
use league_core::manager::League;
use league_core::time::Timestamp;
use league_wire::message::{ErrorReport, RegisterResponse};
use league_wire::{
    AuthToken, Code, Dialect, Envelope, Fragment, Id, Letter, Message, QueryType, Sender, shown,
};

use super::leagues::Newcomer;
use super::news::Notice;
use super::{Manager, Stub};
use crate::abridge::abridged;
use crate::letters::{Answer, Body, Letters, Note, Part, Peer, Template, Way, hidden, long};
use crate::limits::{LETTER_BYTES_MAX, LETTER_REFUSED_BYTES_MAX, TEMPLATES_MAX};
use crate::record::transcript::TOLERATED;

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
        peer: Peer::Agent(agent),
        dialect,
        letters: parts,
        answer,
    });
}

/// Who notes `letter`, which came as `body`, if it concerns a league whose letters are kept.
pub(super) fn of(
    manager: &Manager,
    letter: &Letter,
    dialect: Dialect,
    body: &str,
) -> Option<Witness> {
    let Letter { envelope, message } = letter;
    // An epilogue is noted for what it tells.
    if matches!(message, Message::MatchProgress(told) if told.epilogue.is_some()) {
        return None;
    }
    let joined = || manager.league_to_join(envelope, Newcomer::of(message)?).ok();
    let stub = manager.concerned(envelope).or_else(joined)?;
    let letters = stub.letters().clone();
    letters.are_kept().then(|| {
        let published = stub.published();
        let league = &published.league;
        let whose = (league.id().clone(), proved(manager, league, envelope));
        received(letters, whose, (letter, dialect, body))
    })
}

/// Who sent a letter to `league`, as far as it is proved.
fn proved(manager: &Manager, league: &League, envelope: &Envelope) -> Peer {
    let shown = envelope.token.as_ref().map(AuthToken::reveal);
    let is_administrator = envelope.sender == Sender::Administrator
        && shown.is_some_and(|shown| manager.is_administrator(shown));
    if is_administrator {
        return Peer::Administrator;
    }
    match manager.prove(league, envelope) {
        Ok((agent, _)) => Peer::Agent(agent),
        Err(_) => Peer::Unproved(envelope.sender.to_string()),
    }
}

/// Notes `letter` of `peer`, which came as `body`, when it is answered. Of somebody who has proved
/// nothing it is kept that it came: anybody can say anything, for as long as the disk has room.
fn received(
    letters: Letters,
    (league, peer): (LeagueId, Peer),
    (letter, dialect, body): (&Letter, Dialect, &str),
) -> Witness {
    let Letter { envelope, message } = letter;
    let begun = Begun::now();
    let bytes = body.len();
    // A newcomer is known when it is answered.
    let is_routine =
        matches!(message, Message::LeagueQuery(query) if query.query_type == QueryType::League);
    let is_worth_it = peer.is_proved() || Newcomer::of(message).is_some();
    let body = is_worth_it.then(|| kept(body.as_bytes(), message));
    let name = message.kind().name(dialect);
    let (conversation, stamped) = (envelope.conversation.clone(), envelope.timestamp);
    let (match_id, secrets) = (message.match_id(), hidden(envelope, message));
    Box::new(move |reply| {
        let wrong =
            refusal(&reply.letter.message).map(|no| format!("{}: {}", no.code, no.description));
        let tolerated = || {
            let all: Vec<String> = reply.deviations.iter().map(ToString::to_string).collect();
            (!all.is_empty()).then(|| format!("{TOLERATED}{}", all.join("; ")))
        };
        let max = if wrong.is_some() { LETTER_REFUSED_BYTES_MAX } else { LETTER_BYTES_MAX };
        let peer = registered(&reply.letter.message).map_or(peer, Peer::Agent);
        let body = body.filter(|body| peer.is_proved() && body.len() <= max);
        let body = body.map_or(Body::Cut, Body::Own);
        let id = None;
        let hidden = secrets;
        let part = Part { name, conversation, match_id, id, stamped, bytes, body, hidden };
        let wrong = wrong.or_else(tolerated);
        // Agents that wait ask for ever, and would fill the record with nothing.
        if is_routine && wrong.is_none() {
            return;
        }
        let answer = answer(reply, dialect, wrong, peer.is_proved());
        letters.note(Note {
            league,
            at: begun.0,
            took: begun.took(),
            way: Way::Came,
            peer,
            dialect,
            letters: vec![part],
            answer,
        });
    })
}

/// The matches of which it was told what was said after their reports.
#[derive(Debug, Default)]
pub(super) struct Epilogues(Mutex<BTreeMap<LeagueId, BTreeSet<MatchId>>>);

impl Epilogues {
    /// Notes what a referee tells of what was said after its report. The first account counts; the
    /// same referee may repeat itself, which changes nothing.
    ///
    /// # Errors
    /// If the result in the books is not from this attempt of this referee.
    pub(super) fn note(
        &self,
        stub: &Stub,
        referee: RefereeId,
        envelope: &Envelope,
        (match_id, attempt, epilogue): (MatchId, u32, &Fragment),
    ) -> Result<(), Box<ErrorReport>> {
        let league = {
            let published = stub.published();
            let league = &published.league;
            let filed = league.match_record(match_id).and_then(|record| record.filed);
            let is_theirs = filed
                .is_some_and(|filed| (filed.referee, filed.attempt) == (Some(referee), attempt));
            if !is_theirs {
                let text = format!("{match_id} has no result of {referee} from attempt {attempt}");
                return Err(desk::refusal(Code::E030, &text));
            }
            league.id().clone()
        };
        let is_kept = stub.letters().are_kept();
        if is_kept && lock(&self.0).entry(league.clone()).or_default().insert(match_id) {
            told(stub.letters(), (league, referee), envelope, (match_id, epilogue));
        }
        Ok(())
    }
}

fn told(
    letters: &Letters,
    (league, referee): (LeagueId, RefereeId),
    envelope: &Envelope,
    (match_id, epilogue): (MatchId, &Fragment),
) {
    let body = epilogue.as_str().as_bytes();
    let part = Part {
        name: EPILOGUE,
        conversation: envelope.conversation.clone(),
        match_id: Some(match_id),
        id: None,
        stamped: envelope.timestamp,
        bytes: body.len(),
        // It was read, so it is not longer than EPILOGUE_BYTES_MAX.
        body: Body::Own(Bytes::copy_from_slice(body)),
        hidden: envelope.token.iter().map(|token| token.reveal().to_string()).collect(),
    };
    letters.note(Note {
        league,
        at: ambient::now(),
        took: Duration::ZERO,
        way: Way::Told,
        peer: Peer::Agent(AgentId::Referee(referee)),
        dialect: Dialect::Flat,
        letters: vec![part],
        answer: Answer::None,
    });
}

fn answer(reply: &Replied<'_>, dialect: Dialect, wrong: Option<String>, is_proved: bool) -> Answer {
    let Replied { status, letter: Letter { envelope, message }, body, .. } = reply;
    let (status, name) = (*status, message.kind().name(dialect));
    if !is_proved {
        return Answer::Cut { status, name, bytes: body.len(), wrong };
    }
    let mut body = kept(body, message);
    if body.len() > LETTER_BYTES_MAX {
        body = format!("\"[left out: {} bytes]\"", body.len()).into();
    }
    Answer::Came { status, name: Some(name), body, wrong, hidden: hidden(envelope, message) }
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
pub(super) const fn registered(message: &Message) -> Option<AgentId> {
    match message {
        Message::LeagueRegisterResponse(RegisterResponse::Accepted { id, .. }) => {
            Some(AgentId::Player(*id))
        }
        Message::RefereeRegisterResponse(RegisterResponse::Accepted { id, .. }) => {
            Some(AgentId::Referee(*id))
        }
        _ => None,
    }
}
