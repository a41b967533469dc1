//! What the shell must do after an event is in the books.

use crate::id::{AgentId, RoundId};

/// Work for the shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Tell everybody about a round that opens.
    AnnounceRound(RoundId),
    /// Tell everybody that a round is over.
    AnnounceRoundCompleted(RoundId),
    /// Tell everybody the standings.
    AnnounceStandings,
    /// Tell everybody that the league is over.
    AnnounceCompleted,
    /// An agent has joined.
    Welcome(AgentId),
}
