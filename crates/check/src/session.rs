//! A whole check: finds the agent, learns how it speaks, runs the cases.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use league_agent::address::Address;
use league_agent::ambient::Mark;
use league_agent::endpoint::serve;
use league_agent::guard::lock;
use league_core::id::{AgentId, LeagueId, PlayerId, RefereeId};
use league_core::proof::Token;
use league_wire::Dialect;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::agent::{Places, Started, free_port};
use crate::bench::{Bench, Subject};
use crate::case::{Case, Level, Role};
use crate::http::Trouble;
use crate::limits::{PLAYERS_WAITED_FOR, SETTLE_TIME, START_TIME};
use crate::manager::{self, Door};
use crate::run::{Checked, run};
use crate::stage::{Identity, Registered, Stage};
use crate::{cases, player};

/// Which agent is checked.
#[derive(Debug, Clone)]
pub enum Target {
    /// One that runs already.
    Running(Address),
    /// One that will register with the stage, started by somebody else.
    Expected(Option<Address>),
    /// One that the checker starts, by this command.
    Started(String),
}

/// What to check, and how.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What the agent is.
    pub role: Role,
    /// Which agent.
    pub target: Target,
    /// How it is spoken to; as it registered, or as it understands, if nothing is said.
    pub dialect: Option<Dialect>,
    /// Ids of cases, or their beginnings; all if there are none.
    pub only: Vec<String>,
    /// Only cases of this level and those above it.
    pub level: Level,
    /// Where the stage listens.
    pub listen: SocketAddr,
    /// How long a registration is waited for.
    pub patience: Duration,
    /// The agent's token, if it registered elsewhere.
    pub token: Option<Token>,
    /// The league that the token is for.
    pub league: Option<LeagueId>,
    /// What lets the checker into a manager.
    pub door: Door,
}

/// What happens while a check goes on.
#[derive(Debug)]
pub enum News<'a> {
    /// The stage listens there, and a registration is waited for.
    Waiting(&'a str),
    /// The agent registered.
    Registered(&'a Registered),
    /// So many cases begin.
    Begins(usize),
    /// A case is done.
    Done(&'a Checked),
}

/// What became of a check.
#[derive(Debug, Clone)]
pub struct Report {
    /// What the agent is.
    pub role: Role,
    /// Where it was called.
    pub address: String,
    /// How it was spoken to.
    pub dialect: Dialect,
    /// Every case that was chosen.
    pub checked: Vec<Checked>,
    /// How long it all took.
    pub wall: Duration,
}

/// Why a check could not begin.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// The stage cannot listen.
    #[error("cannot listen at {0}: {1}")]
    Listen(SocketAddr, std::io::Error),
    /// The command cannot be started.
    #[error("cannot start the agent: {0}")]
    Start(std::io::Error),
    /// The agent ended before it had registered.
    #[error("the agent ended before it had registered; it said:\n{0}")]
    Ended(String),
    /// The manager does not come up.
    #[error("cannot start the manager: {0}")]
    NoManager(String),
    /// Nobody registered.
    #[error("no {role} registered at {stage} within {} s{words}", .patience.as_secs())]
    Unregistered {
        /// Who was waited for.
        role: &'static str,
        /// Where.
        stage: String,
        /// How long.
        patience: Duration,
        /// What the agent said, if it was started here.
        words: String,
    },
    /// It said no address.
    #[error("it registered without an address: give its URL")]
    NoAddress,
    /// Nobody listens there.
    #[error("nobody answers at {0}: {1}")]
    Unreachable(String, Trouble),
    /// No case has such an id.
    #[error("no case of {0} is called `{1}`; --list shows them all")]
    NoSuchCase(&'static str, String),
}

/// The cases that `plan` chooses.
///
/// # Errors
/// If a name is no case's.
pub fn chosen(role: Role, only: &[String], level: Level) -> Result<Vec<&'static Case>, CheckError> {
    let all = cases(role);
    for pattern in only {
        if !all.iter().any(|case| case.is_named_by(pattern)) {
            return Err(CheckError::NoSuchCase(role.name(), pattern.clone()));
        }
    }
    let is_named = |case: &Case| only.is_empty() || only.iter().any(|p| case.is_named_by(p));
    Ok(all.into_iter().filter(|case| case.level <= level && is_named(case)).collect())
}

/// Checks an agent as `plan` says. `news` hears what happens.
///
/// # Errors
/// If the check cannot begin. What is wrong with the agent is no error but in the report.
pub async fn check(
    plan: &Plan,
    news: &mut (dyn FnMut(News<'_>) + Send),
) -> Result<Report, CheckError> {
    let started = Mark::set();
    let cases = chosen(plan.role, &plan.only, plan.level)?;
    let meeting = meet(plan, news).await?;
    let subject = meeting.subject.clone();
    news(News::Begins(cases.len()));
    let checked = run(&cases, &subject, &mut |checked| news(News::Done(checked))).await;
    let mut leaving = std::mem::take(&mut *lock(&subject.leaving));
    while leaving.join_next().await.is_some() {}
    meeting.part().await;
    Ok(Report {
        role: plan.role,
        address: subject.address.to_string(),
        dialect: subject.dialect,
        checked,
        wall: started.elapsed(),
    })
}

/// An agent that was found, and the stage with which it may have registered.
#[derive(Debug)]
pub struct Meeting {
    /// The agent.
    pub subject: Arc<Subject>,
    stop: watch::Sender<bool>,
    serving: JoinSet<()>,
}

impl Meeting {
    /// Stops the agent if it was started here, and leaves the stage.
    pub async fn part(mut self) {
        if let Some(agent) = &self.subject.agent {
            agent.stop().await;
        }
        self.stop.send_replace(true);
        while self.serving.join_next().await.is_some() {}
    }
}

/// Sets the stage up and finds the agent that `plan` is about. `news` hears what happens.
///
/// # Errors
/// If there is no such agent.
pub async fn meet(
    plan: &Plan,
    news: &mut (dyn FnMut(News<'_>) + Send),
) -> Result<Meeting, CheckError> {
    let listening = |error| CheckError::Listen(plan.listen, error);
    let listener = TcpListener::bind(plan.listen).await.map_err(listening)?;
    let stage = Arc::new(Stage::at(listener.local_addr().map_err(listening)?));
    let (stop, stopping) = watch::channel(false);
    let mut serving = JoinSet::new();
    serving.spawn(serve(listener, stage.clone(), stopping));
    let subject = Arc::new(find(plan, &stage, news).await?);
    Ok(Meeting { subject, stop, serving })
}

/// Finds the agent and learns what can be known of it.
async fn find(
    plan: &Plan,
    stage: &Arc<Stage>,
    news: &mut (dyn FnMut(News<'_>) + Send),
) -> Result<Subject, CheckError> {
    if let (Role::Manager, Target::Started(command)) = (plan.role, &plan.target) {
        return own_manager(plan, stage, command).await;
    }
    let (given, agent) = match &plan.target {
        Target::Running(address) => (Some(address.clone()), None),
        Target::Expected(address) => (address.clone(), None),
        Target::Started(command) => {
            let port = free_port().map_err(CheckError::Start)?;
            let dialect = plan.dialect.unwrap_or(Dialect::Flat).name();
            let places = Places { manager: stage.address().into(), port, dialect };
            let agent = Started::new(command, &places).await.map_err(CheckError::Start)?;
            let address = format!("http://127.0.0.1:{port}/mcp").parse().ok();
            (address.filter(|_| command.contains("{port}")), Some(agent))
        }
    };
    let registered = match &plan.target {
        Target::Running(_) => None,
        Target::Expected(_) | Target::Started(_) => {
            news(News::Waiting(stage.address()));
            let registered = await_registration(plan, stage, agent.as_ref()).await?;
            news(News::Registered(&registered));
            tokio::time::sleep(SETTLE_TIME).await;
            Some(registered)
        }
    };
    let said = registered.as_ref().and_then(|one| one.meta.contact_endpoint.as_deref());
    let said = said.and_then(|endpoint| endpoint.parse().ok());
    let address: Address = said.or(given).ok_or(CheckError::NoAddress)?;
    let identity = match &registered {
        Some(registered) => registered.identity.clone(),
        None => outsider(plan, stage),
    };
    let spoken = registered.as_ref().map(|one| one.meta.dialect.unwrap_or(one.dialect));
    let dialect = plan.dialect.or(spoken).unwrap_or(Dialect::Flat);
    let mut subject = Subject::new(plan.role, address, dialect, stage.clone(), identity);
    subject.agent = agent;
    subject.door = plan.door.clone();
    subject.registered = registered;
    let is_settled = plan.dialect.is_some() || subject.registered.is_some();
    acquaint(subject, is_settled).await
}

/// A manager that the checker starts, with a league that waits for more players than ever come.
async fn own_manager(
    plan: &Plan,
    stage: &Arc<Stage>,
    command: &str,
) -> Result<Subject, CheckError> {
    let dialect = plan.dialect.unwrap_or(Dialect::Flat);
    let started = manager::start(command, PLAYERS_WAITED_FOR, dialect).await;
    let (address, agent) = started.map_err(CheckError::NoManager)?;
    let identity = outsider(plan, stage);
    let mut subject = Subject::new(plan.role, address, dialect, stage.clone(), identity);
    subject.agent = Some(agent);
    subject.door = Door { start: Some(command.into()), ..plan.door.clone() };
    acquaint(subject, true).await
}

/// Whether somebody listens there, and how it wants to be spoken to if nobody said.
async fn acquaint(subject: Subject, is_settled: bool) -> Result<Subject, CheckError> {
    let bench = Bench::new(Arc::new(subject));
    let reached = bench.line().await;
    let dialect = if is_settled || reached.is_err() {
        bench.dialect()
    } else {
        match bench.subject.role {
            Role::Player => player::recognise(&bench).await,
            Role::Referee | Role::Manager => bench.dialect(),
        }
    };
    let Bench { subject, .. } = bench;
    let mut subject = Arc::into_inner(subject).expect("nobody else has the bench");
    subject.dialect = dialect;
    match reached {
        Ok(_) => Ok(subject),
        Err(trouble) => Err(CheckError::Unreachable(subject.address.to_string(), trouble)),
    }
}

/// Who an agent is that did not register here.
fn outsider(plan: &Plan, stage: &Stage) -> Identity {
    let token = plan.token.clone();
    let named = token.as_ref().and_then(|token| token.expose().split('_').nth(2)?.parse().ok());
    let id = named.unwrap_or(match plan.role {
        Role::Player => AgentId::Player(PlayerId::new(1)),
        Role::Referee | Role::Manager => AgentId::Referee(RefereeId::new(1)),
    });
    let league = plan.league.clone().unwrap_or_else(|| stage.league().clone());
    Identity { id, league, token }
}

async fn await_registration(
    plan: &Plan,
    stage: &Stage,
    agent: Option<&Started>,
) -> Result<Registered, CheckError> {
    let mut registered = stage.registered();
    let is_wanted = |one: &Registered| match one.identity.id {
        AgentId::Player(_) => plan.role == Role::Player,
        AgentId::Referee(_) => plan.role == Role::Referee,
    };
    let first = |all: &Vec<Registered>| all.iter().find(|one| is_wanted(one)).cloned();
    let patience = if agent.is_some() { START_TIME } else { plan.patience };
    let waiting = registered.wait_for(|all| first(all).is_some());
    let waited = match agent {
        Some(agent) => {
            tokio::select! {
                all = timeout(patience, waiting) => all,
                true = agent.ended_within(patience) => {
                    return Err(CheckError::Ended(agent.words()));
                }
            }
        }
        None => timeout(patience, waiting).await,
    };
    let found = waited.ok().and_then(Result::ok).and_then(|all| first(&all));
    found.ok_or_else(|| {
        let words = agent.map(|agent| format!("; it said:\n{}", agent.words()));
        CheckError::Unregistered {
            role: plan.role.name(),
            stage: stage.address().into(),
            patience,
            words: words.unwrap_or_default(),
        }
    })
}
