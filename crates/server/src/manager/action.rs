//! What an administrator can do to a league, by its name in addresses and on the command line.

use std::sync::Arc;

use league_core::id::{AgentId, MatchId};
use league_core::manager::{Command, Order};
use serde::Deserialize;

use super::blueprint::Place;

/// Something that an administrator does to a league.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Start,
    Pause,
    Resume,
    Close,
    Archive,
    Approve,
    Ban,
    Reinstate,
    Rematch,
    Annul,
    Rotate,
    Release,
    Roster,
}

/// To whom or to what it is done, and why.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Details {
    /// The agent, such as P01 or REF01.
    pub(super) agent: Option<String>,
    /// The match, such as R1M1.
    #[serde(rename = "match")]
    pub(super) match_id: Option<String>,
    /// The people that are put on the roster.
    pub(super) roster: Option<Vec<Place>>,
    pub(super) reason: Option<String>,
}

impl Details {
    fn are_empty(&self) -> bool {
        let names_nothing = self.agent.is_none() && self.match_id.is_none();
        names_nothing && self.roster.is_none() && self.reason.is_none()
    }

    fn agent(&self) -> Result<AgentId, NoCommand> {
        let agent = self.agent.as_deref().and_then(|id| id.parse().ok());
        agent.ok_or(NoCommand::Wrong("agent", "an agent such as P01 or REF01"))
    }

    fn of_league(&self, order: Order) -> Result<Command, NoCommand> {
        if self.agent.is_some() || self.match_id.is_some() || self.roster.is_some() {
            return Err(NoCommand::TooMuch);
        }
        self.ordered(order)
    }

    fn of_agent(&self, order: fn(AgentId) -> Order) -> Result<Command, NoCommand> {
        self.ordered(order(self.agent()?))
    }

    fn of_match(&self, order: fn(MatchId) -> Order) -> Result<Command, NoCommand> {
        let match_id = self.match_id.as_deref().and_then(|id| id.parse().ok());
        let match_id = match_id.ok_or(NoCommand::Wrong("match", "a match such as R1M1"))?;
        self.ordered(order(match_id))
    }

    /// The people that are put on the roster.
    fn enrol(&self) -> Result<Command, NoCommand> {
        const PEOPLE: &str = "a list of people, each with a code and a student";
        let people = self.roster.as_ref().ok_or(NoCommand::Wrong("roster", PEOPLE))?;
        let people = people.iter().map(Place::invited).collect::<Option<_>>();
        let people = people.ok_or(NoCommand::Wrong("roster", PEOPLE))?;
        Ok(Command::Enrol { people, reason: self.reason()? })
    }

    /// The order with its reason, without which nobody could understand the record later.
    fn ordered(&self, order: Order) -> Result<Command, NoCommand> {
        Ok(Command::Administer { order, reason: self.reason()? })
    }

    fn reason(&self) -> Result<Arc<str>, NoCommand> {
        let reason = self.reason.as_deref().filter(|reason| !reason.trim().is_empty());
        reason.map(Into::into).ok_or(NoCommand::Wrong("reason", "why, in a few words"))
    }
}

/// Why an action leads to no command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoCommand {
    /// There is more said than the action takes.
    TooMuch,
    /// A field is missing or cannot be used: which one, and what it should be.
    Wrong(&'static str, &'static str),
}

impl Action {
    const ALL: [(&str, Self); 13] = [
        ("start", Self::Start),
        ("pause", Self::Pause),
        ("resume", Self::Resume),
        ("close", Self::Close),
        ("archive", Self::Archive),
        ("approve", Self::Approve),
        ("ban", Self::Ban),
        ("reinstate", Self::Reinstate),
        ("rematch", Self::Rematch),
        ("annul", Self::Annul),
        ("rotate", Self::Rotate),
        ("release", Self::Release),
        ("roster", Self::Roster),
    ];

    /// The action of that name.
    pub(super) fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(known, _)| *known == name).map(|(_, action)| action)
    }

    /// What the league is asked.
    ///
    /// # Errors
    /// If it cannot be asked like this.
    pub(super) fn command(self, details: &Details) -> Result<Command, NoCommand> {
        match self {
            Self::Start if details.are_empty() => Ok(Command::Start),
            Self::Start => Err(NoCommand::TooMuch),
            Self::Pause => details.of_league(Order::Pause),
            Self::Resume => details.of_league(Order::Resume),
            Self::Close => details.of_league(Order::CloseRegistration),
            Self::Archive => details.of_league(Order::Archive),
            Self::Ban => details.of_agent(Order::Ban),
            Self::Reinstate => details.of_agent(Order::Reinstate),
            Self::Rotate => details.of_agent(Order::Rotate),
            Self::Release => details.of_agent(Order::Release),
            Self::Roster => details.enrol(),
            Self::Approve => match details.agent()? {
                AgentId::Referee(referee) => details.ordered(Order::Approve(referee)),
                AgentId::Player(_) => Err(NoCommand::Wrong("agent", "a referee such as REF01")),
            },
            Self::Rematch => details.of_match(Order::Rematch),
            Self::Annul => details.of_match(Order::Cancel),
        }
    }
}
