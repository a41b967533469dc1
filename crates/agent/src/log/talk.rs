//! Messages in a log: what came, what went, and what was refused.

use std::borrow::Cow;

use league_core::id::{AgentId, ConversationId, LeagueId, MatchId};
use league_wire::message::{ErrorReport, RegisterResponse, SuspensionNotice};
use league_wire::{AgentState, Code, Envelope, Letter, Message, MessageType, Sender, shown};

use super::{Level, Line, at};
use crate::caller::CallError;
use crate::component::Component;
use crate::meter::Meter;

/// What a log says about a letter: who writes the log, who is on the other side, and what it is.
#[derive(Debug, Clone)]
pub struct Talk {
    own: Sender,
    peer: Sender,
    kind: MessageType,
    conversation: ConversationId,
    league: Option<LeagueId>,
    match_id: Option<MatchId>,
}

impl Talk {
    /// `letter`, which `own` gets.
    pub fn got(own: Sender, letter: &Letter) -> Self {
        let peer = letter.envelope.sender.clone();
        Self::new(own, peer, &letter.envelope, &letter.message)
    }

    /// `letter`, which goes to `peer`.
    pub fn sent(peer: Sender, letter: &Letter) -> Self {
        let own = letter.envelope.sender.clone();
        Self::new(own, peer, &letter.envelope, &letter.message)
    }

    fn new(own: Sender, peer: Sender, envelope: &Envelope, message: &Message) -> Self {
        let (kind, match_id) = (message.kind(), message.match_id());
        let conversation = envelope.conversation.clone();
        Self { own, peer, kind, conversation, league: envelope.league_id.clone(), match_id }
    }

    /// Who writes the log.
    pub const fn own(&self) -> &Sender {
        &self.own
    }

    const fn component(&self) -> Component {
        component(&self.own)
    }

    /// The letter came. It is shown if `body` holds it and nothing else.
    pub fn came(&self, body: Option<&[u8]>) {
        Meter::of(self.component()).received(self.kind);
        self.passed("received", body);
    }

    /// The letter went out.
    pub fn went(&self, body: &[u8]) {
        self.passed("sent", Some(body));
    }

    /// It was answered with `message`, written as `body`.
    pub fn answered(&self, message: &Message, body: &[u8]) {
        at(Level::Debug, self.component(), |line| {
            self.tell(line, message.kind()).say("answered").payload(body);
        });
        if let Some(report) = rejection(message) {
            self.refused(report);
        }
    }

    /// It was refused.
    pub fn refused(&self, report: &ErrorReport) {
        Meter::of(self.component()).refused(&report.code);
        at(gravity(self.kind, report), self.component(), |line| {
            self.tell(line, self.kind).error_code(&report.code);
            line.say(format!("refused: {}", told(self.component(), report)));
        });
    }

    /// It could not be delivered, or brought no answer.
    pub fn failed(&self, error: &CallError) {
        at(Level::Error, self.component(), |line| {
            self.tell(line, self.kind).code(code_of(error)).say(format!("call failed: {error}"));
        });
    }

    /// It is sent again, which somebody else tells whoever runs the agent.
    pub fn retried(&self, why: &str) {
        Meter::of(self.component()).retries.add(1);
        at(Level::Debug, self.component(), |line| {
            self.tell(line, self.kind).say(format!("tried again: {why}"));
        });
    }

    fn passed(&self, what: &str, body: Option<&[u8]>) {
        at(Level::Debug, self.component(), |line| {
            self.tell(line, self.kind).say(what);
            if let Some(body) = body {
                line.payload(body);
            }
        });
    }

    /// The manager's lines are about the other side; agents write about themselves.
    fn tell<'a>(&self, line: &'a mut Line, kind: MessageType) -> &'a mut Line {
        line.message_type(kind).conversation(&self.conversation);
        match self.component() {
            Component::Manager => line.sender(&self.peer),
            Component::Referee | Component::Player => {
                // Before it is registered an agent has no id.
                if self.own.agent().is_some() {
                    line.sender(&self.own);
                }
                line.text("peer", &self.peer)
            }
        };
        if let Some(match_id) = self.match_id {
            line.match_id(match_id);
        }
        if let Some(league) = &self.league {
            line.league(league);
        }
        line
    }
}

/// Our manager sends a letter to `agent`.
pub fn posted(agent: AgentId, letter: &Letter, body: &[u8]) {
    if super::is_on(Level::Debug) {
        Talk::sent(agent.into(), letter).went(body);
    }
}

/// Our agent was told by the manager that its state has changed.
pub fn notified(component: Component, league: &LeagueId, notice: &SuspensionNotice) {
    let SuspensionNotice { agent_id, state, reason, action_required, .. } = notice;
    let level = match state {
        AgentState::Suspended | AgentState::Shutdown => Level::Warning,
        AgentState::Init | AgentState::Registered | AgentState::Active => Level::Info,
    };
    at(level, component, |line| {
        line.message_type(MessageType::SuspensionNotice).league(league).agent(agent_id);
        line.say(format!("the manager says {state}: {reason}; {action_required}"));
    });
}

/// The part of the league that `sender` is.
pub const fn component(sender: &Sender) -> Component {
    match sender {
        Sender::LeagueManager(_) | Sender::Administrator => Component::Manager,
        Sender::Referee(_) => Component::Referee,
        Sender::Player(_) => Component::Player,
    }
}

/// Something came that is no letter.
pub fn unreadable(own: &Sender, report: &ErrorReport, body: Option<&[u8]>) {
    Meter::of(component(own)).refused(&report.code);
    at(Level::Error, component(own), |line| {
        let why = told(component(own), report);
        line.error_code(&report.code).say(format!("not readable: {why}"));
        if let Some(body) = body {
            line.detail("payload_bytes", body.len());
        }
    });
}

/// What is wrong. A referee's log can be read while the match goes on, so it does not quote what
/// came, which may be a choice.
fn told(component: Component, report: &ErrorReport) -> Cow<'_, str> {
    match component {
        Component::Referee => shown::sentence(&report.description).into(),
        Component::Manager | Component::Player => report.description.as_str().into(),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "only registrations are rejected in a result")]
fn rejection(message: &Message) -> Option<&ErrorReport> {
    match message {
        Message::LeagueRegisterResponse(RegisterResponse::Rejected(report))
        | Message::RefereeRegisterResponse(RegisterResponse::Rejected(report)) => Some(report),
        _ => None,
    }
}

/// How bad it is that something had to be refused: who shows a wrong token or brings a false
/// report pretends something. Who finds us busy only has to come back, who mistypes a join code
/// types it again, and who reports too late has done nothing wrong.
fn gravity(kind: MessageType, report: &ErrorReport) -> Level {
    match (report.code.known(), kind) {
        (
            Some(Code::E012),
            MessageType::LeagueRegisterRequest | MessageType::RefereeRegisterRequest,
        ) => Level::Warning,
        (Some(Code::E012 | Code::E031 | Code::E032), _) => Level::Critical,
        (Some(Code::E030 | Code::E033), _) => Level::Warning,
        _ => Level::Error,
    }
}

/// The code that stands for a call without an answer.
pub const fn code_of(error: &CallError) -> Code {
    match error {
        CallError::TimedOut(_) => Code::E001,
        CallError::BadAddress(_)
        | CallError::Forbidden(_)
        | CallError::NotConnected(_)
        | CallError::Ours(_)
        | CallError::Broken(_)
        | CallError::TooLarge
        | CallError::Busy => Code::E009,
    }
}
