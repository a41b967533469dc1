//! The composition root: builds a whole league on this machine, or one of its services, runs it,
//! and takes it down.

mod agents;
mod disk;
mod drift;
mod front;
mod hall;
mod host;
mod join;
mod keyring;
mod reach;
mod recount;
mod resume;
pub mod roster;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use league_agent::ambient::Mark;
use league_agent::player::Cast;
use league_agent::register::RegisterError;
use league_core::id::LeagueId;
use league_core::policy::Policy;
use league_core::proof::Secret;
use league_wire::Dialect;
use tokio::sync::watch;

use crate::journal::codec::CodecError;
use crate::journal::{Journal, JournalError, SqliteJournal, sqlite};
use crate::manager::{AskError, OpenError};
use crate::secret::SecretError;

use front::front;
use hall::Hall;

pub use agents::{AgentError, AgentNews, AgentPlan, Ending, Joined, PlayersPlan, players, referee};
pub use host::{Hosted, ServeError, ServeNews, ServePlan, serve};
pub use recount::Recount;

/// A league to be played on this machine.
#[derive(Debug, Clone)]
pub struct PlayPlan {
    /// The rules.
    pub policy: Policy,
    /// How many players.
    pub players: u32,
    /// How many referees.
    pub referees: u32,
    /// The game that is played.
    pub game: String,
    /// How the rounds are paired.
    pub format: String,
    /// The strategies the players take in turn.
    pub strategies: Vec<Cast>,
    /// The dialects they speak in turn.
    pub dialects: Vec<Dialect>,
    /// What makes the strategies' dice repeatable.
    pub seed: u64,
    /// Where the record is kept.
    pub data: PathBuf,
    /// The server's secret, if it is not to come from a file in the data directory.
    pub secret: Option<Secret>,
    /// Found a new league even if the last one did not come to its end.
    pub new: bool,
}

/// What is told of a league while it is played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlayNews {
    /// It was begun before and goes on, so far as it had come.
    GoesOn(LeagueId, Progress),
    /// It has come further.
    Progress(Progress),
}

/// What a league that was played came to.
#[derive(Debug, Clone)]
pub struct PlayReport {
    /// What its record says.
    pub recount: Recount,
    /// Calls made by all agents together.
    pub http_calls: u64,
    /// Matches that had a result before this time; nothing if it was played in one go.
    pub before: Option<u64>,
    /// From the first registration, or from when it went on, to the end of the league.
    pub wall: Duration,
    /// The file that holds the record.
    pub journal: PathBuf,
}

/// How far a league has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Matches with a result.
    pub done: u64,
    /// Matches in all, if the format knows.
    pub total: Option<u64>,
}

/// Why a league could not be played.
#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    /// The data directory cannot be used.
    #[error("cannot use the data directory {path}: {source}")]
    Data {
        /// Which directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// No port could be had.
    #[error("cannot listen on this machine: {0}")]
    Listen(#[source] io::Error),
    /// The plan names a game or a name that cannot be.
    #[error(transparent)]
    BadName(#[from] league_core::id::BadId),
    /// A private file cannot be used.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// The journal cannot be opened.
    #[error(transparent)]
    OpenJournal(#[from] sqlite::OpenError),
    /// The journal failed.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The league's books cannot be opened.
    #[error(transparent)]
    Books(#[from] OpenError),
    /// The record holds a row that is no event.
    #[error("row {seq} of the record: {source}")]
    Record {
        /// Which row.
        seq: u64,
        /// What is wrong with it.
        source: CodecError,
    },
    /// Who may join could not be settled.
    #[error("the league cannot be closed to strangers: {0}")]
    Admission(#[from] AskError),
    /// An agent was not let in.
    #[error("an agent could not join: {0}")]
    Register(#[from] RegisterError),
    /// The league that was begun here is another one than is wanted now.
    #[error("league {league} was begun here, and is not over: {}", differences.join("; "))]
    Different {
        /// Which league.
        league: LeagueId,
        /// What it has, and what was wanted.
        differences: Vec<String>,
    },
    /// The league was stopped before its end.
    #[error("league {league} was stopped {}", how_far(*done))]
    Stopped {
        /// Which league.
        league: LeagueId,
        /// Matches with a result.
        done: u64,
    },
}

/// Plays a whole league over real HTTP on this machine: the one that was begun in the data
/// directory and is not over, or a new one.
///
/// # Errors
/// If the league cannot be set up, or is stopped before its end.
pub async fn play(
    plan: &PlayPlan,
    mut stop: watch::Receiver<bool>,
    mut tell: impl FnMut(PlayNews),
) -> Result<PlayReport, PlayError> {
    make_directory(&plan.data)
        .map_err(|source| PlayError::Data { path: plan.data.clone(), source })?;
    let journal = SqliteJournal::open(&plan.data)?;
    let file = journal.file().to_path_buf();
    let journal: Arc<dyn Journal> = Arc::new(journal);
    let started = Mark::set();
    let mut hall = Hall::open(plan, journal.clone()).await?;
    let league = hall.league();
    let before = hall.before();
    if let Some(done) = before {
        let total = recount::matches_total(&hall.now(), plan.players);
        tell(PlayNews::GoesOn(league.clone(), Progress { done, total }));
    }
    let progress = |progress| tell(PlayNews::Progress(progress));
    let outcome = tokio::select! {
        biased;
        _ = stop.wait_for(|stopped| *stopped) => Err(hall.stopped()),
        failure = hall.run_agents(plan) => Err(failure),
        outcome = recount::follow(journal.clone(), league, plan.players, progress) => outcome,
    };
    let wall = started.elapsed();
    let http_calls = hall.close(matches!(outcome, Err(PlayError::Stopped { .. }))).await;
    Ok(PlayReport { recount: outcome?, http_calls, before, wall, journal: file })
}

fn how_far(done: u64) -> String {
    match done {
        0 => "before its first result".into(),
        1 => "after 1 match".into(),
        done => format!("after {done} matches"),
    }
}

fn make_directory(path: &Path) -> io::Result<()> {
    if path.exists() && !path.is_dir() {
        return Err(io::Error::new(io::ErrorKind::NotADirectory, "it is not a directory"));
    }
    std::fs::create_dir_all(path)
}
