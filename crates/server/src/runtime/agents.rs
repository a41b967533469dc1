//! Referees and players as processes of their own: they listen, join a league somewhere, and stay
//! until it is over.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use league_agent::caller::Caller;
use league_agent::component::Component;
use league_agent::exchange::Exchange;
use league_agent::guard;
use league_agent::keep::Keep;
use league_agent::log::{self, Level};
use league_agent::lookout::{Learnt, Lookout};
use league_agent::player::Cast;
use league_agent::register::{Application, Membership, RegisterError};
use league_agent::targets::{Network, Targets};
use league_core::game;
use league_core::id::{LeagueId, PlayerId, RefereeId};
use league_core::manager::ProtocolVersion;
use league_core::policy::{Policy, RuleSet};
use league_wire::message::{ErrorReport, Meta};
use league_wire::{Dialect, JoinCode, Sender};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinError, JoinSet};

use super::make_directory;
use crate::limits::{LINGER, TROUBLES_MAX};
use crate::referee::Referee;

const REFEREE_AGENT: &str = concat!("referee/", env!("CARGO_PKG_VERSION"));
const LOOKOUT_AGENT: &str = concat!("league/", env!("CARGO_PKG_VERSION"));
const PLAYER_AGENT: &str = concat!("player/", env!("CARGO_PKG_VERSION"));
/// The ports on which the documents expect referees.
const REFEREE_PORTS: (u16, u16) = (8001, 8099);
/// The ports on which the documents expect players.
const PLAYER_PORTS: (u16, u16) = (8101, 8199);

/// What referees and players have in common.
#[derive(Debug, Clone)]
pub struct AgentPlan {
    /// The manager's address, with `/mcp`.
    pub manager: String,
    /// The league to join; the manager chooses if there is none.
    pub league: Option<LeagueId>,
    /// Where to listen; the first free one of the documented ports if nothing is said.
    pub listen: Option<SocketAddr>,
    /// Where others call, if that is somewhere else.
    pub endpoint: Option<String>,
    /// The name shown to people.
    pub name: String,
    /// The shape to speak in.
    pub dialect: Dialect,
    /// What lets it in: a league's join key, or a player's join code.
    pub join: Option<JoinCode>,
    /// The directory where it keeps who it is, to come back as the same one.
    pub data: Option<PathBuf>,
    /// Private networks whose players a referee calls although others can reach it too.
    pub networks: Vec<Network>,
}

/// Some players that run together.
#[derive(Debug, Clone)]
pub struct PlayersPlan {
    /// What they have in common. With a given port each takes the next one.
    pub agent: AgentPlan,
    /// How many.
    pub count: u16,
    /// The strategies they take in turn.
    pub strategies: Vec<Cast>,
    /// What makes their dice repeatable.
    pub seed: u64,
    /// Whether they listen nowhere and fetch their turns at the manager.
    pub pull: bool,
}

/// What an agent says of itself while it runs.
#[derive(Debug)]
pub enum AgentNews {
    /// The manager cannot be reached just now.
    Trouble(RegisterError),
    /// It has joined.
    Joined(Joined),
}

/// An agent that has joined a league.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Joined {
    /// Who it is.
    pub id: String,
    /// The name shown to people.
    pub name: String,
    /// Where it plays.
    pub league: LeagueId,
    /// Where it is called; nowhere if it fetches its turns.
    pub endpoint: Option<String>,
}

/// How an agent's time ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The manager said that the league is over.
    LeagueOver,
    /// It was told to stop.
    Stopped,
}

/// Why an agent cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// The address cannot be had.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// Which address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// The directory where it keeps who it is cannot be used.
    #[error("cannot use the data directory {path}: {source}")]
    Data {
        /// Which directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It was not let in.
    #[error(transparent)]
    Register(#[from] RegisterError),
    /// Its token no longer works.
    #[error("{name} is out of the league: {code}: {text}",
        code = report.code, text = report.description)]
    Expelled {
        /// Which agent.
        name: String,
        /// What the manager said.
        report: Box<ErrorReport>,
    },
}

/// Runs a referee that takes up to `capacity` matches at once, until its league is over or `stop`
/// says so.
///
/// # Errors
/// If it cannot listen or is not let in.
pub async fn referee(
    plan: &AgentPlan,
    capacity: u32,
    stop: watch::Receiver<bool>,
    tell: impl FnMut(AgentNews),
) -> Result<Ending, AgentError> {
    let mut crew = Crew::new(stop, tell);
    let listener = listen(plan.listen, REFEREE_PORTS).await?;
    let sender: fn(RefereeId) -> Sender = |id| Sender::Referee(id.to_string().into());
    let endpoint = Some(endpoint(plan, &listener)?);
    let mut application = crew.application(plan, endpoint.clone(), plan.name.clone());
    application.meta.max_concurrent_matches = Some(capacity);
    application.keep = keep(plan, "referee".into())?;
    let targets =
        plan.networks.iter().copied().fold(Targets::of_server(at(&listener)?), Targets::and);
    let players = exchange(REFEREE_AGENT, targets);
    let manager = exchange(REFEREE_AGENT, Targets::everywhere());
    let referee = Referee::within(&plan.manager, manager, players);
    let (membership, ears) = (referee.membership(), (referee.league_end(), referee.heard()));
    let quit = crew.quit.subscribe();
    crew.agents.spawn(async move { referee.run(listener, application, quit).await });
    let look = (plan, sender, ears);
    if !crew.joined(membership, endpoint, &plan.name, look).await? {
        return crew.leave(Ending::Stopped).await;
    }
    crew.stay().await
}

/// Runs players until their league is over or `stop` says so.
///
/// # Errors
/// If one of them cannot listen or is not let in.
pub async fn players(
    plan: &PlayersPlan,
    stop: watch::Receiver<bool>,
    tell: impl FnMut(AgentNews),
) -> Result<Ending, AgentError> {
    let mut crew = Crew::new(stop, tell);
    for number in 0..plan.count {
        let listener = if plan.pull {
            None
        } else {
            let at = plan.agent.listen.map(|at| beside(at, number));
            Some(listen(at, PLAYER_PORTS).await?)
        };
        let cast = plan.strategies[usize::from(number) % plan.strategies.len()];
        let name = match plan.count {
            1 => plan.agent.name.clone(),
            _ => format!("{} {}", plan.agent.name, number + 1),
        };
        let endpoint = listener.as_ref().map(|listener| endpoint(&plan.agent, listener));
        let endpoint = endpoint.transpose()?;
        let mut application = crew.application(&plan.agent, endpoint.clone(), name.clone());
        application.keep = keep(&plan.agent, format!("player-{}", number + 1))?;
        let player = Arc::new(cast.player(plan.seed.wrapping_add(number.into())));
        let (membership, ears) = (player.membership(), (player.league_end(), player.heard()));
        let (quit, exchange) =
            (crew.quit.subscribe(), exchange(PLAYER_AGENT, Targets::everywhere()));
        crew.agents.spawn(async move {
            match listener {
                Some(listener) => player.run(listener, exchange, application, quit).await,
                None => player.run_without_port(exchange, application, quit).await,
            }
        });
        let sender: fn(PlayerId) -> Sender = |id| Sender::Player(id.to_string().into());
        let look = (&plan.agent, sender, ears);
        if !crew.joined(membership, endpoint, &name, look).await? {
            return crew.leave(Ending::Stopped).await;
        }
    }
    crew.stay().await
}

/// How to learn what an agent hears: the end of its league, and anything at all.
type Ears = (watch::Receiver<bool>, watch::Receiver<()>);

/// Agents that come and go together.
struct Crew<F> {
    tell: F,
    stop: watch::Receiver<bool>,
    quit: watch::Sender<bool>,
    agents: JoinSet<Result<(), RegisterError>>,
    /// How the league ended for each agent.
    ends: JoinSet<Option<AgentError>>,
    troubles: (mpsc::Sender<RegisterError>, mpsc::Receiver<RegisterError>),
}

impl<F: FnMut(AgentNews)> Crew<F> {
    fn new(stop: watch::Receiver<bool>, tell: F) -> Self {
        let (quit, agents, ends) = (watch::Sender::new(false), JoinSet::new(), JoinSet::new());
        Self { tell, stop, quit, agents, ends, troubles: mpsc::channel(TROUBLES_MAX) }
    }

    /// What an agent that is called at `endpoint` says to be let in.
    fn application(
        &self,
        plan: &AgentPlan,
        endpoint: Option<String>,
        display_name: String,
    ) -> Application {
        let games = game::NAMES.iter().filter_map(|name| name.parse().ok());
        let meta = Meta {
            display_name,
            version: env!("CARGO_PKG_VERSION").into(),
            protocol_version: Some(ProtocolVersion::CURRENT.to_string()),
            game_types: games.collect(),
            pull: endpoint.is_none(),
            contact_endpoint: endpoint,
            contact_email: None,
            max_concurrent_matches: None,
            dialect: Some(plan.dialect),
            batch: true,
            join: plan.join.clone(),
        };
        Application {
            manager: plan.manager.clone(),
            league: plan.league.clone(),
            dialect: plan.dialect,
            meta,
            timeout: usual().register_timeout(),
            troubles: Some(self.troubles.0.clone()),
            keep: None,
        }
    }

    /// Waits until an agent is let in; false if everybody is told to stop before.
    async fn joined<Id: ToString + Copy>(
        &mut self,
        mut membership: watch::Receiver<Option<Membership<Id>>>,
        endpoint: Option<String>,
        name: &str,
        (plan, sender, (league_end, heard)): (&AgentPlan, fn(Id) -> Sender, Ears),
    ) -> Result<bool, AgentError> {
        loop {
            tokio::select! {
                biased;
                () = stopped(&mut self.stop) => return Ok(false),
                Some(ended) = self.agents.join_next() => check(ended)?,
                Some(trouble) = self.troubles.1.recv() => (self.tell)(AgentNews::Trouble(trouble)),
                Ok(member) = membership.wait_for(Option::is_some) => {
                    let Some(Membership { id, league, token }) = member.clone() else { continue };
                    let lookout = Lookout {
                        exchange: exchange(LOOKOUT_AGENT, Targets::everywhere()),
                        manager: plan.manager.clone(),
                        dialect: plan.dialect,
                        sender: sender(id),
                        token,
                        league: league.clone(),
                        timeout: usual().default_timeout(),
                        heard,
                    };
                    self.ends.spawn(end_of(id.to_string(), lookout, league_end));
                    let (id, name) = (id.to_string(), name.to_string());
                    (self.tell)(AgentNews::Joined(Joined { id, name, league, endpoint }));
                    return Ok(true);
                }
            }
        }
    }

    /// Stays until every agent has heard that the league is over.
    async fn stay(mut self) -> Result<Ending, AgentError> {
        let mut ends = std::mem::take(&mut self.ends);
        let over = async {
            let (count, mut expelled) = (ends.len(), vec![]);
            while let Some(end) = ends.join_next().await {
                expelled.extend(guard::outcome(end).flatten());
            }
            // As long as one of them heard the end, there is nothing to put right.
            expelled.pop().filter(|_| expelled.len() + 1 == count)
        };
        let mut over = std::pin::pin!(over);
        let ending = loop {
            tokio::select! {
                biased;
                () = stopped(&mut self.stop) => break Ending::Stopped,
                expelled = &mut over => match expelled {
                    None => break Ending::LeagueOver,
                    Some(expelled) => {
                        self.leave(Ending::Stopped).await?;
                        return Err(expelled);
                    }
                },
                Some(ended) = self.agents.join_next() => check(ended)?,
            }
        };
        // The last GAME_OVER may come after the end of the league.
        tokio::select! {
            biased;
            () = stopped(&mut self.stop) => {}
            () = tokio::time::sleep(LINGER) => {}
        }
        self.leave(ending).await
    }

    async fn leave(mut self, ending: Ending) -> Result<Ending, AgentError> {
        self.quit.send_replace(true);
        while let Some(left) = self.agents.join_next().await {
            guard::outcome(left);
        }
        Ok(ending)
    }
}

/// Waits for the end of the league, of which an agent hears or learns; gives back why it ended for
/// this agent alone.
async fn end_of(
    name: String,
    lookout: Lookout,
    mut league_end: watch::Receiver<bool>,
) -> Option<AgentError> {
    let component = match lookout.sender {
        Sender::Referee(_) => Component::Referee,
        Sender::Player(_) | Sender::LeagueManager(_) | Sender::Administrator => Component::Player,
    };
    tokio::select! {
        // An agent that is gone needs no league.
        _ = league_end.wait_for(|over| *over) => None,
        learnt = lookout.watch() => match learnt {
            Learnt::Over => None,
            Learnt::Expelled(report) => {
                log::at(Level::Error, component, |line| {
                    let told = &report.description;
                    line.agent(&name).say(format!("out of the league: {told}"));
                });
                Some(AgentError::Expelled { name, report })
            }
        },
    }
}

/// Comes back when `stop` says so.
async fn stopped(stop: &mut watch::Receiver<bool>) {
    // A sender that is gone will not say anything else.
    drop(stop.wait_for(|stopped| *stopped).await);
}

/// An agent that ends with an error ends all of them.
fn check(ended: Result<Result<(), RegisterError>, JoinError>) -> Result<(), AgentError> {
    Ok(guard::outcome(ended).unwrap_or(Ok(()))?)
}

fn exchange(user_agent: &'static str, targets: Targets) -> Exchange {
    Exchange::new(Caller::within(targets, user_agent, usual().http_timeout()))
}

/// Where an agent behind `listener` is called.
fn endpoint(plan: &AgentPlan, listener: &TcpListener) -> Result<String, AgentError> {
    let at = at(listener)?;
    Ok(plan.endpoint.clone().unwrap_or_else(|| format!("http://{at}/mcp")))
}

/// Where somebody listens.
fn at(listener: &TcpListener) -> Result<SocketAddr, AgentError> {
    let unknown = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
    listener.local_addr().map_err(|source| AgentError::Listen { address: unknown, source })
}

/// Where the agent called `name` keeps who it is, if it is to.
fn keep(plan: &AgentPlan, name: String) -> Result<Option<Keep>, AgentError> {
    let Some(data) = &plan.data else { return Ok(None) };
    make_directory(data).map_err(|source| AgentError::Data { path: data.clone(), source })?;
    Ok(Some(Keep::new(data.join(name))))
}

/// The times that hold before a league has said its own.
fn usual() -> Policy {
    Policy::build(RuleSet::V21, []).expect("the rules of a rule set go together")
}

/// The address of the agent that is `further` places away from the one at `at`.
fn beside(mut at: SocketAddr, further: u16) -> SocketAddr {
    if at.port() != 0 {
        at.set_port(at.port().saturating_add(further));
    }
    at
}

async fn listen(
    at: Option<SocketAddr>,
    (first, last): (u16, u16),
) -> Result<TcpListener, AgentError> {
    if at.is_none() {
        for port in first..=last {
            if let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await {
                return Ok(listener);
            }
        }
    }
    let address = at.unwrap_or_else(|| SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
    let bound = TcpListener::bind(address).await;
    bound.map_err(|source| AgentError::Listen { address, source })
}
