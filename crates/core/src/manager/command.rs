//! What a league can be asked.

use std::sync::Arc;

use super::charter::Profile;
use super::report::Report;
use crate::id::{ConversationId, MatchId, RefereeId};

/// Something somebody asks of a league.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// A player wants to join.
    RegisterPlayer {
        /// What it says of itself.
        profile: Profile,
        /// Where it called from; its address is derived from it if the profile has none.
        host: Arc<str>,
        /// The conversation it asked in.
        conversation: ConversationId,
    },
    /// A referee wants to officiate.
    RegisterReferee {
        /// What it says of itself.
        profile: Profile,
        /// Where it called from; its address is derived from it if the profile has none.
        host: Arc<str>,
        /// The conversation it asked in.
        conversation: ConversationId,
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
}

/// Why an attempt came to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VoidCause {
    /// The referee showed no sign of life.
    LeaseExpired,
    /// The referee could not be given the match, or refused it.
    NotTaken {
        /// What happened.
        reason: Arc<str>,
    },
    /// The referee says that our own side failed.
    Annulled {
        /// Who says so.
        referee: RefereeId,
        /// What failed.
        reason: Arc<str>,
    },
}

/// What a league answers once the events are in the books.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Welcome; this is who you are, and the random part of your token.
    Registered {
        /// The new identifier.
        agent: crate::id::AgentId,
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
    /// Done.
    Done,
}
