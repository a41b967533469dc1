//! Registering: an agent asks until it is answered.

use std::sync::Arc;
use std::time::Duration;

use league_core::game;
use league_core::id::{AgentId, ConversationId};
use league_core::manager::{Profile, ProtocolVersion};
use league_core::proof::Token;
use league_core::time::Timestamp;

use crate::message::{Application, Aside, Body, Denial, Letter, Node};
use crate::stage::Stage;

const TIMEOUT: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_secs(1);
/// How long one whose token does not work waits for a new one before it tries again.
const LOCKED_OUT: Duration = Duration::from_secs(60);
/// How often a referee that is locked out comes back under another address.
const MOVES_MAX: u32 = 5;

/// An agent that is or wants to be registered. What it knows survives a crash.
#[derive(Debug)]
pub(crate) struct Applicant {
    capacity: Option<u32>,
    join_key: Option<Arc<str>>,
    conversation: Option<ConversationId>,
    /// How often it has moved to another address.
    moves: u32,
    member: Option<Membership>,
    /// Its place is free: it registers without its token.
    is_newcomer: bool,
    state: State,
}

#[derive(Debug)]
enum State {
    /// Asks next at this time.
    Waiting(Timestamp),
    Asking {
        call: u64,
        until: Timestamp,
    },
    /// Is in, or will never be.
    Done,
}

/// What an agent knows of itself once it is registered.
#[derive(Debug, Clone)]
pub(crate) struct Membership {
    pub(crate) agent: AgentId,
    pub(crate) token: Token,
}

impl Applicant {
    pub(crate) const fn player() -> Self {
        Self::new(None, None)
    }

    pub(crate) const fn referee(capacity: u32, join_key: Option<Arc<str>>) -> Self {
        Self::new(Some(capacity), join_key)
    }

    const fn new(capacity: Option<u32>, join_key: Option<Arc<str>>) -> Self {
        let state = State::Waiting(Timestamp::from_millis(0));
        Self {
            capacity,
            join_key,
            conversation: None,
            moves: 0,
            member: None,
            is_newcomer: false,
            state,
        }
    }

    /// Who it is, once it is somebody.
    pub(crate) const fn member(&self) -> Option<&Membership> {
        self.member.as_ref()
    }

    /// When it wants to act.
    pub(crate) const fn next_wake(&self) -> Option<Timestamp> {
        match &self.state {
            State::Waiting(at) | State::Asking { until: at, .. } => Some(*at),
            State::Done => None,
        }
    }

    /// Asks, if it is time to.
    pub(crate) fn wake(&mut self, stage: &mut Stage<'_>) {
        if self.next_wake().is_none_or(|at| at > stage.now) {
            return;
        }
        let conversation = self.conversation.get_or_insert_with(|| stage.conversation("reg"));
        let application = Application {
            profile: profile(stage.me, self.moves),
            capacity: self.capacity,
            join_key: self.join_key.clone(),
        };
        let shown = self.member.as_ref().filter(|_| !self.is_newcomer);
        let letter = Letter {
            sender: shown.map(|member| member.agent),
            token: shown.map(|member| member.token.expose().into()),
            conversation: Some(conversation.clone()),
            body: Body::Register(Box::new(application)),
        };
        let call = stage.call(Node::Manager, letter);
        self.state = State::Asking { call, until: stage.now + TIMEOUT };
    }

    /// Whether the call was its own; if so it has heard the answer.
    pub(crate) fn answered(
        &mut self,
        stage: &mut Stage<'_>,
        call: u64,
        body: Option<&Body>,
    ) -> bool {
        let State::Asking { call: own, .. } = self.state else { return false };
        if own != call {
            return false;
        }
        self.state = match body {
            Some(Body::Registered { agent, token }) => {
                let token = token.parse().expect("a token of the manager's");
                self.member = Some(Membership { agent: *agent, token });
                self.is_newcomer = false;
                State::Done
            }
            // Its answer was lost for longer than it can be repeated. A league whose only referee
            // is locked out could never end, so its operator starts it elsewhere.
            Some(Body::Denied(Denial::Final)) if self.may_move() => {
                self.moves += 1;
                self.conversation = None;
                State::Waiting(stage.now + PAUSE)
            }
            // The place was not free for it after all. Has its token been replaced meanwhile?
            Some(Body::Denied(Denial::Final)) if self.is_newcomer => {
                (self.is_newcomer, self.conversation) = (false, None);
                State::Waiting(stage.now + PAUSE)
            }
            Some(Body::Denied(Denial::Unproved)) if self.member.is_some() => {
                let agent = self.member.as_ref().expect("it is somebody").agent;
                let lost = Body::Aside(Aside::TokenLost { agent });
                stage.call(Node::Administrator, Letter::bare(lost));
                State::Waiting(stage.now + LOCKED_OUT)
            }
            Some(Body::Denied(Denial::Final | Denial::Unproved)) => State::Done,
            Some(_) | None => State::Waiting(stage.now + PAUSE),
        };
        true
    }

    const fn may_move(&self) -> bool {
        self.member.is_none() && self.capacity.is_some() && self.moves < MOVES_MAX
    }

    /// What the administrator says to it.
    pub(crate) fn told(&mut self, stage: &Stage<'_>, aside: &Aside) {
        match (aside, &mut self.member) {
            (Aside::NewToken { agent, token, .. }, Some(member)) if member.agent == *agent => {
                member.token = token.parse().expect("a token of the manager's");
                self.is_newcomer = false;
            }
            (Aside::PlaceFree, Some(_)) => self.is_newcomer = true,
            (Aside::NewToken { .. } | Aside::PlaceFree | Aside::TokenLost { .. }, _) => return,
        }
        self.come_back(stage.now);
    }

    /// Shows its token once more at `at`, if it has one.
    pub(crate) fn come_back(&mut self, at: Timestamp) {
        if self.member.is_some() {
            self.conversation = None;
            self.state = State::Waiting(at);
        }
    }

    /// A call that was out when the power went is never answered. Whoever was in shows its token
    /// when it is back.
    pub(crate) fn crash(&mut self) {
        if let State::Asking { until, .. } = self.state {
            self.state = State::Waiting(until);
        }
        self.come_back(Timestamp::from_millis(0));
    }
}

/// What the agent at a node says of itself after it has moved so many times.
pub(crate) fn profile(node: Node, moves: u32) -> Profile {
    Profile {
        display_name: node.to_string().into(),
        version: "1.0.0".into(),
        protocol_version: ProtocolVersion::CURRENT,
        games: game::NAMES.iter().map(|name| name.parse().expect("a game's name")).collect(),
        endpoint: node.endpoint(moves),
        dialect: "flat".into(),
        email: None,
        batch: true,
    }
}
