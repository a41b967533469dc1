//! What happened in a league. Journaled: variants are only ever added at the end and fields never
//! change, because every journal ever written must decode for ever.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::admission::Admission;
use super::charter::{Charter, Profile};
use super::order::Order;
use crate::conduct::Conduct;
use crate::game::{Move, Turn};
use crate::id::{AgentId, ConversationId, MatchId, PlayerId, RefereeId, RoundId};
use crate::roster::Transition;
use crate::schedule::Pairing;
use crate::seat::Seats;
use crate::time::Timestamp;
use crate::verdict::Verdict;

/// Something that happened in a league, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// When it was decided.
    pub at: Timestamp,
    /// What happened.
    pub fact: Fact,
}

/// Something that happened in a league.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fact {
    /// The league was founded.
    LeagueCreated(Box<Charter>),
    /// A player joined.
    PlayerRegistered {
        /// Its identifier.
        player: PlayerId,
        /// What it says of itself.
        profile: Profile,
        /// The random part of its token.
        nonce: [u8; 32],
        /// The conversation it asked in.
        conversation: ConversationId,
    },
    /// A referee joined.
    RefereeRegistered {
        /// Its identifier.
        referee: RefereeId,
        /// What it says of itself.
        profile: Profile,
        /// The random part of its token.
        nonce: [u8; 32],
        /// The conversation it asked in.
        conversation: ConversationId,
        /// How many matches it runs at once.
        capacity: u32,
        /// Whether it is the operator's own: it draws with the committed seed and shows signs of
        /// life.
        operated: bool,
    },
    /// Registration is over; every registered agent is active.
    LeagueStarted,
    /// A round was paired and its referees chosen.
    RoundOpened {
        /// Which round.
        round: RoundId,
        /// When its first match may begin.
        starts_at: Timestamp,
        /// When it should be over at the latest.
        deadline: Timestamp,
        /// Its matches, in order of their numbers.
        matches: Vec<Scheduled>,
        /// Who does not play.
        byes: Vec<PlayerId>,
    },
    /// An attempt came to nothing and the match was given to a referee again.
    MatchReassigned {
        /// Which match.
        match_id: MatchId,
        /// The number of the new attempt.
        attempt: u32,
        /// Who plays it now.
        referee: RefereeId,
        /// Whether our own failure annulled the old attempt.
        annulled: bool,
        /// Why the old attempt came to nothing.
        reason: Arc<str>,
    },
    /// A match has its result.
    ResultRecorded(Box<Recorded>),
    /// A report was false.
    ReportRefused {
        /// Which match it named.
        match_id: MatchId,
        /// Who sent it.
        referee: RefereeId,
        /// What was false.
        reason: Arc<str>,
    },
    /// Every match of the round has its result.
    RoundClosed {
        /// Which round.
        round: RoundId,
    },
    /// There are no more rounds; every agent is shut down.
    LeagueCompleted,
    /// How the players of a match behaved, where there is something to say about it.
    ConductNoted {
        /// Which match.
        match_id: MatchId,
        /// What became of the calls to each side.
        conduct: Seats<Conduct>,
    },
    /// An agent's state changed on its own, and not with that of the whole league.
    AgentChanged {
        /// Whose.
        agent: AgentId,
        /// From what to what, and why.
        transition: Transition,
    },
    /// A match was decided without a game, because a player has left.
    Walkover {
        /// Which match.
        match_id: MatchId,
        /// How it counts.
        verdict: Verdict,
        /// Why, in words.
        reason: Arc<str>,
    },
    /// A match counts for nobody, by order or because nobody decided about it in time.
    MatchCancelled {
        /// Which match.
        match_id: MatchId,
        /// The result that counted so far.
        replaced: Option<Verdict>,
        /// Why, in words.
        reason: Arc<str>,
    },
    /// A match does not go on by itself: the administrator decides.
    MatchStuck {
        /// Which match.
        match_id: MatchId,
        /// What it lacks.
        cause: StuckCause,
        /// Why the last attempt came to nothing, in words.
        reason: Arc<str>,
    },
    /// A match is played again by order, with a new draw.
    RematchOrdered {
        /// Which match.
        match_id: MatchId,
        /// The number of the new attempt.
        attempt: u32,
        /// The number of the official replay.
        rematch: u32,
        /// Who officiates.
        referee: RefereeId,
        /// The result that counted so far.
        replaced: Option<Verdict>,
    },
    /// Who may join from now on.
    AdmissionSet(Box<Admission>),
    /// A join code was used.
    CodeRedeemed {
        /// By whom.
        player: PlayerId,
        /// SHA-256 of the code.
        code: [u8; 32],
    },
    /// An administrator gave an order.
    Administered {
        /// Which order.
        order: Order,
        /// Why.
        reason: Arc<str>,
    },
    /// A player came back with its own token.
    PlayerReturned {
        /// Who.
        player: PlayerId,
        /// What it says of itself now.
        profile: Profile,
        /// The conversation it asked in.
        conversation: ConversationId,
    },
    /// A referee came back with its own token.
    RefereeReturned {
        /// Who.
        referee: RefereeId,
        /// What it says of itself now.
        profile: Profile,
        /// The conversation it asked in.
        conversation: ConversationId,
        /// How many matches it runs at once.
        capacity: u32,
        /// Whether it is the operator's own.
        operated: bool,
    },
    /// An agent has a new token; the one it had no longer works.
    TokenReplaced {
        /// Who.
        agent: AgentId,
        /// The random part of the new token.
        nonce: [u8; 32],
    },
    /// A referee never took a match, so another one is asked. Nobody has begun to play it.
    MatchPassedOn {
        /// Which match.
        match_id: MatchId,
        /// The number of the new attempt.
        attempt: u32,
        /// Who is asked now.
        referee: RefereeId,
        /// Why it was not taken, in words.
        reason: Arc<str>,
    },
    /// An agent did not understand what was said in the shape it registered with, and answered to
    /// another one.
    ShapeSettled {
        /// Who.
        agent: AgentId,
        /// The shape it is spoken to in from now on.
        dialect: Arc<str>,
    },
}

/// What a match lacks that does not go on by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum StuckCause {
    /// It was annulled as often as allowed.
    Annulments,
    /// It was given away as often as allowed.
    Attempts,
    /// There is nobody to officiate it.
    NoReferee,
}

/// A match as it was announced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scheduled {
    /// Who plays.
    pub pairing: Pairing,
    /// Who officiates.
    pub referee: RefereeId,
    /// The how-manieth batch of the round it belongs to, from zero.
    pub wave: u32,
}

/// The result of a match, with everything needed to check it again. Its texts can be borrowed from
/// the journal it is read from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded<Text = Arc<str>, Conversation = ConversationId> {
    /// Which match.
    pub match_id: MatchId,
    /// Which attempt at it.
    pub attempt: u32,
    /// Which official replay of it; the draw depends on it.
    pub rematch: u32,
    /// Who officiated.
    pub referee: RefereeId,
    /// The conversation its messages were tied together with.
    pub conversation: Conversation,
    /// How it ended.
    pub verdict: Verdict,
    /// The complete turns.
    pub turns: Vec<Turn>,
    /// Moves made in a step that never became complete.
    pub stranded: Seats<Option<Move>>,
    /// What the players added to the draw.
    pub nonces: Seats<Option<Text>>,
    /// The players' proofs of their moves.
    pub choice_proofs: Seats<Option<[u8; 32]>>,
    /// What is known about the draw.
    pub draw: DrawEvidence,
    /// What is known about each side's last move.
    pub choices: Seats<ChoiceEvidence>,
    /// Why it ended like this, in words.
    pub reason: Text,
    /// SHA-256 of the transcript, if there is one.
    pub transcript: Option<[u8; 32]>,
}

/// What is known about the number of a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum DrawEvidence {
    /// No number was drawn.
    None,
    /// It follows from the committed seed and the players' nonces.
    Verified,
    /// The referee drew by itself.
    NotVerifiable,
}

impl DrawEvidence {
    /// One word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Verified => "verified",
            Self::NotVerifiable => "not_verifiable",
        }
    }
}

/// What is known about a player's move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum ChoiceEvidence {
    /// There is no move, or the player proved nothing.
    #[default]
    None,
    /// The player's own proof covers the move.
    Proved,
    /// A proof came along that fits no move at all: nobody can tell whose fault that is.
    Unclear,
    /// The player proved another move than the one that was reported. Such reports are refused, so
    /// that it stands only in journals of earlier versions.
    Contradicted,
}

impl ChoiceEvidence {
    /// One word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Proved => "proved",
            Self::Unclear => "unclear",
            Self::Contradicted => "contradicted",
        }
    }
}
