//! The leagues that one manager hosts: found by name, joined by newcomers, added while it runs.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

use league_core::id::LeagueId;
use league_core::manager::{Charter, League, Phase, PlayerAdmission, Refusal};
use league_wire::Message;
use tokio::sync::{mpsc, oneshot};

use super::{OpenError, Stub};
use crate::limits::LIST_WHOLE_MAX;

/// Every league of one manager.
#[derive(Debug)]
pub struct Leagues {
    open: RwLock<BTreeMap<LeagueId, Stub>>,
    default: Option<LeagueId>,
    /// Where new leagues are asked for; a manager without it hosts what it was given.
    founder: Option<mpsc::Sender<Founding>>,
}

/// A league that somebody wants to have.
#[derive(Debug)]
pub struct Founding {
    /// What it is founded with.
    pub charter: Charter,
    /// Who may play.
    pub players: PlayerAdmission,
    /// Where the answer goes, once the league is in the books.
    pub answer: oneshot::Sender<Result<(), FoundError>>,
}

/// Why a league was not founded.
#[derive(Debug, thiserror::Error)]
pub enum FoundError {
    /// There is one of this name.
    #[error("there is a league {0} already")]
    Exists(LeagueId),
    /// Nobody could join it like this.
    #[error(transparent)]
    Admission(#[from] Refusal),
    /// Its books cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// This manager founds no leagues, or is about to stop.
    #[error("this manager takes no new leagues")]
    Closed,
    /// Too many wait to be founded.
    #[error("the manager is busy")]
    Busy,
}

/// Who wants to join.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Newcomer {
    Player,
    Referee,
}

impl Newcomer {
    /// Who sends `message`, if it is a registration.
    #[expect(clippy::wildcard_enum_match_arm, reason = "whoever sends another is no newcomer")]
    pub(super) const fn of(message: &Message) -> Option<Self> {
        match message {
            Message::LeagueRegisterRequest(_) => Some(Self::Player),
            Message::RefereeRegisterRequest(_) => Some(Self::Referee),
            _ => None,
        }
    }
}

impl Leagues {
    /// Exactly the leagues in `open`.
    pub const fn fixed(open: BTreeMap<LeagueId, Stub>) -> Self {
        Self { open: RwLock::new(open), default: None, founder: None }
    }

    /// No leagues yet. New ones are asked for at `founder`; who names no league and could join
    /// several joins `default`.
    pub const fn growing(default: Option<LeagueId>, founder: mpsc::Sender<Founding>) -> Self {
        Self { open: RwLock::new(BTreeMap::new()), default, founder: Some(founder) }
    }

    /// Hosts a league, or hosts it again after its writer had to be replaced.
    pub fn host(&self, league: LeagueId, stub: Stub) {
        self.open.write().unwrap_or_else(PoisonError::into_inner).insert(league, stub);
    }

    /// The league of that name.
    pub fn find(&self, id: &LeagueId) -> Option<Stub> {
        self.read(|open| open.get(id).cloned())
    }

    /// Every league, ordered by name.
    pub fn all(&self) -> Vec<(LeagueId, Stub)> {
        self.read(|open| open.iter().map(|(id, stub)| (id.clone(), stub.clone())).collect())
    }

    /// Whether every league has a writer; if not, which has none.
    pub fn are_ready(&self) -> Result<(), String> {
        let closed = self.read(|open| {
            let closed = open.iter().filter(|(_, stub)| !stub.is_open());
            closed.map(|(id, _)| id.to_string()).take(LIST_WHOLE_MAX).collect::<Vec<_>>()
        });
        match closed.is_empty() {
            true => Ok(()),
            false => Err(format!("the books cannot be written of: {}", closed.join(", "))),
        }
    }

    /// Asks for a new league and waits until it is in the books.
    ///
    /// # Errors
    /// If there is one of that name, or it cannot be founded.
    pub async fn found(
        &self,
        charter: Charter,
        players: PlayerAdmission,
    ) -> Result<(), FoundError> {
        let founder = self.founder.as_ref().ok_or(FoundError::Closed)?;
        let (answer, wait) = oneshot::channel();
        founder.try_send(Founding { charter, players, answer }).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => FoundError::Busy,
            mpsc::error::TrySendError::Closed(_) => FoundError::Closed,
        })?;
        wait.await.map_err(|_| FoundError::Closed)?
    }

    /// The only league, if there is only one.
    pub(super) fn only(&self) -> Option<Stub> {
        self.read(|open| if open.len() == 1 { open.values().next().cloned() } else { None })
    }

    /// The league that a newcomer who names none joins: the only one that it could join, else the
    /// default one.
    ///
    /// # Errors
    /// The names of those it could join.
    pub(super) fn to_join(&self, who: Newcomer) -> Result<Stub, Vec<LeagueId>> {
        if let Some(only) = self.only() {
            return Ok(only);
        }
        let all = self.all();
        let takes = |stub: &Stub| takes(&stub.published().league, who);
        let open: Vec<_> = all.into_iter().filter(|(_, stub)| takes(stub)).collect();
        let default = self.default.as_ref();
        match &open[..] {
            [(_, stub)] => Ok(stub.clone()),
            several => {
                let chosen = several.iter().find(|(id, _)| Some(id) == default);
                let names = || several.iter().map(|(id, _)| id.clone()).collect();
                chosen.map(|(_, stub)| stub.clone()).ok_or_else(names)
            }
        }
    }

    fn read<T>(&self, look: impl FnOnce(&BTreeMap<LeagueId, Stub>) -> T) -> T {
        look(&self.open.read().unwrap_or_else(PoisonError::into_inner))
    }
}

fn takes(league: &League, who: Newcomer) -> bool {
    match league.phase() {
        Phase::Registering => true,
        Phase::BetweenRounds { .. } | Phase::Playing(_) => who == Newcomer::Referee,
        Phase::Completed { .. } => false,
    }
}
