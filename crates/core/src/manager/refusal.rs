//! Why a league says no.

use super::charter::ProtocolVersion;
use crate::game::NotAGame;
use crate::id::{AgentId, GameType, LeagueId, MatchId, PlayerId, RefereeId};
use crate::roster::ForbiddenTransition;

/// A polite no. Nothing has changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A text in the profile is empty or too long.
    #[error("the {0} is empty or longer than allowed")]
    BadProfile(&'static str),
    /// The agent speaks another protocol.
    #[error(
        "Agent protocol version {got} not supported. Required: {min} - {max}",
        min = ProtocolVersion::OLDEST, max = ProtocolVersion::CURRENT
    )]
    UnsupportedVersion {
        /// What it declared.
        got: ProtocolVersion,
    },
    /// The agent does not support the league's game.
    #[error("this league plays {0}, which the agent does not list among its games")]
    UnsupportedGame(GameType),
    /// Another agent is registered at the same address.
    #[error("{0} is already registered at this contact endpoint")]
    AlreadyRegistered(AgentId),
    /// The agent's place was let go, and somebody wants it from another machine.
    #[error(
        "{0} may register again, but from the machine that it registered from before, and this is another one or nobody knows any more"
    )]
    FromElsewhere(AgentId),
    /// The league has all the players it takes.
    #[error("the league is full: it takes {limit} players")]
    LeagueFull {
        /// How many it takes.
        limit: u32,
    },
    /// The league has all the referees it takes.
    #[error("the league has all the referees it takes: {limit}")]
    TooManyReferees {
        /// How many it takes.
        limit: u32,
    },
    /// Players cannot join once the league has started.
    #[error("registration closed when the league started")]
    LateRegistration,
    /// Nobody can join a league that is over.
    #[error("league {0} is over: nobody can join it any more")]
    JoinsNoMore(LeagueId),
    /// The league has already started.
    #[error("the league has already started")]
    AlreadyStarted,
    /// Nobody to play with.
    #[error("a league needs at least two players, and there are {players}")]
    TooFewPlayers {
        /// How many there are.
        players: usize,
    },
    /// Nobody to officiate.
    #[error("a league needs a referee, and there is none that may officiate")]
    NoReferee,
    /// The only referees are those that the administrator has not approved.
    #[error(
        "a league needs a referee that may officiate: {0} came without the join key and waits for `league approve {0} --reason …`"
    )]
    NotApproved(RefereeId),
    /// The only referee has yet to come back with its new token.
    #[error("a league needs a referee: {0} has a new token and has not come back with it")]
    RefereeAway(RefereeId),
    /// There is no such match, or its round is not open yet.
    #[error("there is no match {0} to report")]
    UnknownMatch(MatchId),
    /// Another referee has this match.
    #[error("match {match_id} is assigned to {assigned}")]
    NotYourMatch {
        /// Which match.
        match_id: MatchId,
        /// Whose it is.
        assigned: RefereeId,
    },
    /// The attempt is no longer the valid one.
    #[error("attempt {got} at match {match_id} is no longer valid; attempt {current} is")]
    StaleAttempt {
        /// Which match.
        match_id: MatchId,
        /// The attempt that was named.
        got: u32,
        /// The valid one.
        current: u32,
    },
    /// The match has a different result already.
    #[error("match {0} already has a different result")]
    ConflictingResult(MatchId),
    /// The match was decided without a report: somebody left, or it was called off.
    #[error("match {0} was decided without a report")]
    DecidedOtherwise(MatchId),
    /// The report contradicts the rules or its own evidence.
    #[error("the report of match {match_id} is false: {lie}")]
    FalseReport {
        /// Which match.
        match_id: MatchId,
        /// What is false.
        lie: Lie,
    },
    /// The match waits for the administrator.
    #[error("match {0} waits for the administrator's decision")]
    MatchIsStuck(MatchId),
    /// There is no other referee to give the match to.
    #[error("there is no other referee for match {0}")]
    NobodyElse(MatchId),
    /// Players need a join code here.
    #[error("this league takes players with a join code only")]
    JoinCodeNeeded,
    /// The join code is not one of this league.
    #[error("the join code is not one of this league")]
    UnknownJoinCode,
    /// The join code was used before.
    #[error("the join code has been used by {0}")]
    JoinCodeUsed(AgentId),
    /// The administrator has closed registration.
    #[error("registration is closed")]
    RegistrationClosed,
    /// There is no such agent, or it is of another kind.
    #[error("there is no agent {0} in this league that this could be done to")]
    UnknownAgent(AgentId),
    /// An agent that is shut down cannot come back by itself.
    #[error("{0} is shut down; only the administrator can take it back")]
    IsShutDown(AgentId),
    /// Somebody answers at the address that the agent wants to leave.
    #[error("{0} still answers at the address it registered with")]
    OldAddressAnswers(AgentId),
    /// The lifecycle has no such transition.
    #[error(transparent)]
    Lifecycle(#[from] ForbiddenTransition),
    /// An order needs a reason of reasonable length.
    #[error("an order needs a reason, and a short one")]
    BadReason,
    /// The list of who may join contradicts itself.
    #[error("{0}")]
    BadAdmission(&'static str),
    /// Results of rounds that are over stand.
    #[error(
        "the round of match {0} is over and its results stand: the table of that round was told to everybody; only a match of the round that is being played can be replayed or annulled"
    )]
    RoundIsOver(MatchId),
    /// The match is planned for a later round.
    #[error(
        "match {0} is not open yet: only a match of the round that is being played can be replayed or annulled"
    )]
    RoundNotOpen(MatchId),
    /// The league has no such match.
    #[error("there is no match {0} in this league")]
    NoSuchMatch(MatchId),
    /// An agent that is shut down has no place to be given.
    #[error("{0} is shut down; it gets a token again after `league reinstate {0} --reason …`")]
    ReinstateFirst(AgentId),
    /// There is nothing to take the agent back from.
    #[error("{0} takes part: it is neither suspended nor shut down")]
    InGoodStanding(AgentId),
    /// The league is over.
    #[error("the league is over")]
    Completed,
    /// The league is not over yet.
    #[error("only a league that is over can be archived")]
    NotCompleted,
    /// The league was put away.
    #[error("the league is archived")]
    Archived,
}

/// What is false about a report.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Lie {
    /// The turns are not a legal game.
    #[error("{0}")]
    NotAGame(#[from] NotAGame),
    /// The turns lead to another result.
    #[error("the moves and the number lead to another result")]
    WrongVerdict,
    /// The points are not those of the result.
    #[error("the points are not those of this result")]
    WrongPoints,
    /// The result is not possible under the league's rules.
    #[error("this result is not possible under the league's rules")]
    ImpossibleVerdict,
    /// A player who is said to have failed is said to have moved as well.
    #[error("a player who lost technically is listed with a move")]
    LoserMoved,
    /// The number does not follow from the committed seed and the nonces.
    #[error("the number does not follow from the committed draw")]
    FalseDraw,
    /// One player proves another choice than the one that is reported of it. Nobody can tell
    /// whether the referee or the player says what is not so.
    #[error("{0} proves another choice than the one reported of it")]
    FalseChoice(PlayerId),
    /// Both players prove other choices than those that are reported of them.
    #[error("both players prove other choices than those reported of them")]
    FalseChoices,
    /// The revealed seed is not the one that was committed to.
    #[error("the revealed seed is not the one committed to")]
    FalseSeed,
    /// A player is said to have done wrong more often than the rules make possible.
    #[error("{0} is said to have failed more often than is possible in one match")]
    ImpossibleConduct(PlayerId),
    /// A player had another role.
    #[error("a role is not the one that the player had in this match")]
    FalseRole,
}
