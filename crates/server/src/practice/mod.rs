//! Practice: matches of one agent against players of the house, with a real referee and over real
//! HTTP, and no league. Nothing of it is kept by anybody.
//!
//! A [`Room`] has an office, which is to its referee what a manager is, and the house players that
//! were asked for. A [`Drill`] is one match in it, [`Practised`] what became of it. A [`Fault`] is
//! something that goes wrong between the referee and the agent, because we want it to. A [`Coach`]
//! has many agents practise at a manager.

mod coach;
mod fault;
mod go_between;
mod ledger;
mod meaning;
mod office;
mod outcome;
mod room;

use std::io;

use league_agent::exchange::AskError;
use league_agent::player::Cast;
use league_agent::register::RegisterError;
use league_core::id::{GameType, LeagueId, MatchId, PlayerId, RefereeId};
use league_core::policy::Policy;
use league_core::proof::Token;
use league_wire::Dialect;

pub use coach::{Coach, Key, NoPractice};
pub use fault::Fault;
pub use outcome::{Ending, Finding, Practised};
pub use room::Room;

/// The agent that practises.
#[derive(Debug, Clone)]
pub struct Pupil {
    /// Who it is.
    pub id: PlayerId,
    /// The league that it is registered in, or believes to be.
    pub league: LeagueId,
    /// Where it is called.
    pub address: String,
    /// How it is spoken to.
    pub dialect: Dialect,
    /// Its token. Without it nothing can be proved to it, and its answers prove nothing.
    pub token: Option<Token>,
}

/// What the matches of a room are played by.
#[derive(Debug, Clone)]
pub struct Terms {
    /// The rules.
    pub policy: Policy,
    /// The rules of matches in which a window passes by our own doing; a shorter one will do.
    pub hasty: Policy,
    /// The game.
    pub game: GameType,
    /// Whether the agent's answers are read leniently.
    pub lenient: bool,
    /// What makes the house players' dice repeatable.
    pub seed: u64,
}

/// Ids that nobody else has where the agent is registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbers {
    /// The referee's.
    pub referee: RefereeId,
    /// The first house player's; the others follow.
    pub house: PlayerId,
}

/// One match to play.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drill {
    /// What it is called. No two in a room are called the same.
    pub match_id: MatchId,
    /// Against whom.
    pub against: Cast,
    /// What goes wrong in it, if anything does.
    pub fault: Option<Fault>,
}

/// Why there was no practice. None of it is the agent's fault.
#[derive(Debug, thiserror::Error)]
pub enum PracticeError {
    /// There is no port to listen at.
    #[error("cannot listen: {0}")]
    Listen(#[from] io::Error),
    /// There is no such game.
    #[error("there is no game called `{0}`")]
    NoGame(GameType),
    /// One of ours was not let in by our own office.
    #[error("one of our own was not let in: {0}")]
    Register(#[from] RegisterError),
    /// Our referee did not take the match.
    #[error("the referee did not take the match: {0}")]
    Order(#[from] AskError),
    /// Our referee did not report in time.
    #[error("the referee of {0} did not report")]
    NoReport(MatchId),
    /// Our referee gave the match up for a failure of our own.
    #[error("the match was annulled for a failure of our own: {0}")]
    Annulled(String),
}
