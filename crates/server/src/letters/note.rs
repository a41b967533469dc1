//! A letter as it is noted while it passes: little is copied here, the keeper does the rest.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use league_core::id::{AgentId, ConversationId, LeagueId, MatchId};
use league_core::time::Timestamp;
use league_wire::message::StandingsUpdate;
use league_wire::{AuthToken, Dialect, Envelope, Fragment, Id, Listed, Message, iso};

use super::bundle::Way;
use crate::limits::{LETTER_COST_BYTES, LETTER_LONG_MIN};

/// One call: the letters in it and what came of it.
#[derive(Debug)]
pub struct Note {
    /// The league.
    pub league: LeagueId,
    /// When it began.
    pub at: Timestamp,
    /// How long it took.
    pub took: Duration,
    /// Who called whom.
    pub way: Way,
    /// Who is on the other side.
    pub peer: Peer,
    /// The shape in which it was said.
    pub dialect: Dialect,
    /// What was said.
    pub letters: Vec<Part>,
    /// What came back.
    pub answer: Answer,
}

/// Who is on the other side of a call.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Peer {
    /// An agent: we called it, or it showed its token.
    Agent(AgentId),
    /// Whoever runs the league, and showed the token for that.
    Administrator,
    /// Somebody who calls itself so and has proved nothing.
    Unproved(String),
}

/// By whom letters are counted: the league, and who it is. Those who have proved nothing count as
/// one, since they can call themselves anything.
pub(super) type Whose = (LeagueId, Option<Peer>);

impl Peer {
    /// Whether it is who it says.
    pub const fn is_proved(&self) -> bool {
        match self {
            Self::Agent(_) | Self::Administrator => true,
            Self::Unproved(_) => false,
        }
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Agent(agent) => write!(f, "{agent}"),
            Self::Administrator => f.write_str("administrator"),
            Self::Unproved(claimed) => write!(f, "unproved {claimed}"),
        }
    }
}

/// One letter of a call.
#[derive(Debug, Clone)]
pub struct Part {
    /// The message's name.
    pub name: &'static str,
    /// The exchange it belongs to.
    pub conversation: ConversationId,
    /// The match it is about.
    pub match_id: Option<MatchId>,
    /// By which its answer is found in an answer to several.
    pub id: Option<Id>,
    /// When it says that it was written.
    pub stamped: Timestamp,
    /// How long it was.
    pub bytes: usize,
    /// Its bytes.
    pub body: Body,
    /// What must not be told of it, beside tokens and proofs.
    pub hidden: Vec<String>,
}

/// The bytes of a letter.
#[derive(Debug, Clone)]
pub enum Body {
    /// They are its own.
    Own(Bytes),
    /// They are the same for everybody, but for the envelope.
    Shared(Arc<Template>),
    /// They were too many to be kept, or those of somebody who has proved nothing.
    Cut,
}

/// What came back.
#[derive(Debug)]
pub enum Answer {
    /// Something, with an HTTP status.
    Came {
        /// The status.
        status: u16,
        /// The message's name, if it is known.
        name: Option<&'static str>,
        /// Its bytes.
        body: Bytes,
        /// What is wrong with it, or why it is a refusal.
        wrong: Option<String>,
        /// What must not be told of it.
        hidden: Vec<String>,
    },
    /// Something that is not kept.
    Cut {
        /// The HTTP status.
        status: u16,
        /// The message's name.
        name: &'static str,
        /// How long it was.
        bytes: usize,
        /// Why it is a refusal.
        wrong: Option<String>,
    },
    /// Nothing, and why.
    Failed(String),
    /// Nothing: it was no call of its own.
    None,
}

/// A letter that many get. What differs from one to the other is marked, with bytes that JSON
/// cannot contain.
#[derive(Debug)]
pub struct Template(String);

const CONVERSATION: &str = "\u{1}";
const TIMESTAMP: &str = "\u{2}";
const ID: &str = "\u{3}";

impl Template {
    /// The template of a letter that was written as `body`.
    pub fn of(body: &[u8], id: &Id, envelope: &Envelope) -> Option<Self> {
        let text = std::str::from_utf8(body).ok()?;
        let mut text = text.replace(&envelope.conversation.to_string(), CONVERSATION);
        text = text.replacen(&iso::format(envelope.timestamp), TIMESTAMP, 1);
        let (written, id) = (text.rfind(&format!(":{}", id.as_json()))? + 1, id.as_json());
        text.replace_range(written..written + id.len(), ID);
        let token = envelope.token.as_ref().map(AuthToken::reveal).unwrap_or_default();
        Some(Self(league_wire::redact::redact(&text, &[token]).into_owned()))
    }

    /// The template as it is stored.
    pub(super) fn stored(&self) -> &str {
        &self.0
    }

    /// The letter of the template `stored` with this conversation, time and identifier.
    pub(super) fn filled(stored: &str, conversation: &str, stamped: Timestamp, id: &str) -> String {
        let text = stored.replace(CONVERSATION, conversation);
        text.replace(TIMESTAMP, &iso::format(stamped)).replace(ID, id)
    }
}

impl Note {
    /// About how much memory it takes.
    pub(super) fn bytes(&self) -> usize {
        let of = |part: &Part| match &part.body {
            Body::Own(bytes) => bytes.len(),
            Body::Shared(_) | Body::Cut => 0,
        };
        let letters: usize = self.letters.iter().map(|part| LETTER_COST_BYTES + of(part)).sum();
        let answer = match &self.answer {
            Answer::Came { body, .. } => body.len(),
            Answer::Cut { .. } | Answer::Failed(_) | Answer::None => 0,
        };
        letters + answer
    }

    /// By whom it is counted.
    pub(super) fn whose(&self) -> Whose {
        let peer = match &self.peer {
            Peer::Agent(_) | Peer::Administrator => Some(self.peer.clone()),
            Peer::Unproved(_) => None,
        };
        (self.league.clone(), peer)
    }
}

impl Answer {
    /// An answer to a call of ours, as it came.
    pub const fn came(status: u16, body: Bytes) -> Self {
        Self::Came { status, name: None, body, wrong: None, hidden: vec![] }
    }
}

/// What in a message must not be told before its time, or ever: what lets somebody in, what proves
/// something, and what a draw follows from.
#[expect(clippy::wildcard_enum_match_arm, reason = "other messages hold no secret of their own")]
pub fn hidden(envelope: &Envelope, message: &Message) -> Vec<String> {
    let mut all: Vec<String> =
        envelope.token.iter().map(|token| token.reveal().to_string()).collect();
    match message {
        Message::StartMatch(order) => all.extend(order.secrets()),
        Message::AssignedMatches(assigned) => {
            all.extend(assigned.assignments.iter().flat_map(|one| one.order.secrets()));
        }
        Message::MatchProgressAck(ack) => {
            all.extend(ack.draw_seed.iter().map(|seed| seed.reveal().to_string()));
        }
        // Whoever plays the match again draws with the same.
        Message::MatchResultReport(report) => {
            all.extend(report.draw_seed.iter().map(|seed| seed.reveal().to_string()));
        }
        Message::LeagueRegisterRequest(request) => {
            all.extend(request.meta.join.iter().map(|code| code.reveal().to_string()));
        }
        Message::RefereeRegisterRequest(request) => {
            all.extend(request.meta.join.iter().map(|code| code.reveal().to_string()));
        }
        _ => {}
    }
    all.retain(|secret| !secret.is_empty());
    all
}

/// Long parts of a message that the record has elsewhere, each with its name.
#[expect(clippy::wildcard_enum_match_arm, reason = "other messages have no such parts")]
pub fn long(message: &Message) -> Vec<(&'static str, &str)> {
    let mut all: Vec<(&'static str, &Fragment)> = vec![];
    match message {
        Message::StartMatch(order) => all.extend(order.long_parts()),
        Message::AssignedMatches(assigned) => {
            all.extend(assigned.assignments.iter().flat_map(|one| one.order.long_parts()));
        }
        Message::MatchResultReport(report) => {
            all.extend(report.transcript.iter().map(|json| ("the transcript", json)));
        }
        Message::LeagueStandingsUpdate(StandingsUpdate {
            standings: Listed::Encoded(json),
            ..
        }) => {
            all.push(("the standings around the reader", json));
        }
        Message::LeagueCompleted(completed) => {
            if let Listed::Encoded(json) = &completed.final_standings {
                all.push(("the standings around the reader", json));
            }
        }
        _ => {}
    }
    let all = all.into_iter().map(|(what, json)| (what, json.as_str()));
    all.filter(|(_, json)| json.len() > LETTER_LONG_MIN).collect()
}
