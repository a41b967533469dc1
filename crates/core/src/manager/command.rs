//! What a league can be asked.

use std::sync::Arc;

use super::admission::{Admission, Application, Invited};
use super::order::Order;
use super::report::Report;
use crate::id::{AgentId, MatchId, RefereeId};

/// Something somebody asks of a league.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// A player wants to join.
    RegisterPlayer(Box<Application>),
    /// A referee wants to officiate.
    RegisterReferee {
        /// Who it is.
        application: Box<Application>,
        /// How many matches it runs at once.
        capacity: u32,
        /// Whether it has shown that it is the operator's own.
        operated: bool,
    },
    /// The administrator starts the league.
    Start,
    /// A referee reports a result.
    RecordResult(Box<Report>),
    /// An attempt at a match has come to nothing; somebody must play it again.
    VoidAttempt {
        /// Which match.
        match_id: MatchId,
        /// Which attempt.
        attempt: u32,
        /// Why.
        cause: VoidCause,
    },
    /// Time has passed.
    Wake,
    /// A suspended agent answered a health check.
    ProbeAnswered {
        /// Who.
        agent: AgentId,
    },
    /// An agent was found to answer to another shape than the one it is spoken to in.
    SettleShape {
        /// Who.
        agent: AgentId,
        /// The name of the shape.
        dialect: Arc<str>,
    },
    /// The administrator says who may join.
    SetAdmission(Box<Admission>),
    /// The administrator puts more people on the roster.
    Enrol {
        /// Who.
        people: Vec<Invited>,
        /// Why.
        reason: Arc<str>,
    },
    /// The administrator gives an order.
    Administer {
        /// Which order.
        order: Order,
        /// Why.
        reason: Arc<str>,
    },
}

impl Command {
    pub(super) const fn applicant_host(&self) -> Option<&Arc<str>> {
        match self {
            Self::RegisterPlayer(application) | Self::RegisterReferee { application, .. } => {
                Some(&application.host)
            }
            Self::Start
            | Self::RecordResult(_)
            | Self::VoidAttempt { .. }
            | Self::Wake
            | Self::ProbeAnswered { .. }
            | Self::SettleShape { .. }
            | Self::SetAdmission(_)
            | Self::Enrol { .. }
            | Self::Administer { .. } => None,
        }
    }
}

/// Why an attempt came to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VoidCause {
    /// The referee showed no sign of life.
    LeaseExpired,
    /// The referee says that our own side failed.
    Annulled {
        /// Who says so.
        referee: RefereeId,
        /// What failed.
        reason: Arc<str>,
    },
    /// The referee refused the match. It keeps it if there is nobody else.
    NotTaken {
        /// Why.
        reason: Arc<str>,
    },
    /// The referee could not be given the match. It keeps it if there is nobody else.
    NotDelivered {
        /// Why not.
        reason: Arc<str>,
    },
}

/// What a league answers once the events are in the books.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Welcome; this is who you are, and the random part of your token.
    Registered {
        /// The new identifier.
        agent: AgentId,
        /// What the token is made from.
        nonce: [u8; 32],
    },
    /// The result is in the books.
    Recorded {
        /// Whether it had been there before.
        again: bool,
    },
    /// The report was false and has been noted.
    ReportRefused(super::refusal::Refusal),
    /// The agent has a new token; this is its random part.
    TokenReplaced {
        /// Whose it is.
        agent: AgentId,
        /// What it is made from.
        nonce: [u8; 32],
    },
    /// Done.
    Done,
}
