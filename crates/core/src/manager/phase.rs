//! Where a league stands. Each phase owns exactly the data that make sense in it.

use std::sync::Arc;

use super::event::{ChoiceEvidence, DrawEvidence, Scheduled, StuckCause};
use crate::id::{PlayerId, RefereeId, RoundId};
use crate::schedule::Pairing;
use crate::seat::Seats;
use crate::time::Timestamp;
use crate::verdict::Verdict;

/// Where a league stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Phase {
    /// Agents may join.
    Registering,
    /// A round has ended, or the league has just begun; the next round is about to open.
    BetweenRounds {
        /// The round that opens next.
        next: RoundId,
    },
    /// A round is being played.
    Playing(OpenRound),
    /// Over.
    Completed {
        /// Since when.
        at: Timestamp,
    },
}

/// A round that is being played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenRound {
    /// Which round.
    pub id: RoundId,
    /// When it was announced.
    pub opened_at: Timestamp,
    /// When its first match may begin.
    pub starts_at: Timestamp,
    /// When it should be over at the latest.
    pub deadline: Timestamp,
    /// Its matches, in order of their numbers.
    pub matches: Vec<OpenMatch>,
    /// Who does not play.
    pub byes: Vec<PlayerId>,
    /// How many matches have no result yet.
    pub unfinished: usize,
}

/// A match of the round that is being played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenMatch {
    /// Who plays.
    pub pairing: Pairing,
    /// The how-manieth batch of the round it belongs to, from zero.
    pub wave: u32,
    /// Who officiates the valid attempt.
    pub referee: RefereeId,
    /// The valid attempt, from one.
    pub attempt: u32,
    /// Which official replay of the match this is.
    pub rematch: u32,
    /// How often an attempt was annulled for our own failure.
    pub annulments: u32,
    /// How often it was given away since the administrator last decided about it.
    pub reassignments: u32,
    /// How many false reports of it were noted.
    pub lies: u32,
    /// Who had it before.
    pub former: Vec<RefereeId>,
    /// Why it waits for the administrator, if it does.
    pub stuck: Option<Stuck>,
    /// Its result, once it has one.
    pub filed: Option<Filed>,
}

impl OpenMatch {
    pub(super) const fn new(scheduled: Scheduled) -> Self {
        Self {
            pairing: scheduled.pairing,
            wave: scheduled.wave,
            referee: scheduled.referee,
            attempt: 1,
            rematch: 0,
            annulments: 0,
            reassignments: 0,
            lies: 0,
            former: vec![],
            stuck: None,
            filed: None,
        }
    }
}

/// A match that waits for the administrator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stuck {
    /// Since when.
    pub since: Timestamp,
    /// Why.
    pub cause: StuckCause,
    /// What the last attempt came to nothing for.
    pub reason: Arc<str>,
}

/// What is remembered of a recorded result: enough to tell the same report from a different one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Filed {
    /// How the match ended.
    pub verdict: Verdict,
    /// Who reported it; nobody did if it was decided without a game.
    pub referee: Option<RefereeId>,
    /// The last attempt at the match.
    pub attempt: u32,
    /// A digest of what was reported.
    pub digest: u64,
    /// What is known about the draw.
    pub draw: DrawEvidence,
    /// What is known about each side's last move.
    pub choices: Seats<ChoiceEvidence>,
}
