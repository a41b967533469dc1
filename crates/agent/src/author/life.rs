//! The life of an agent: it listens, joins, plays, and goes when the league is over.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use league_core::id::{LeagueId, PlayerId};
use league_core::manager::ProtocolVersion;
use league_wire::message::{ErrorReport, Meta};
use league_wire::{Dialect, JoinCode, Sender};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};

use super::watched::Watched;
use super::{Agent, Options};
use crate::caller::Caller;
use crate::component::Component;
use crate::exchange::Exchange;
use crate::keep::Keep;
use crate::limits::{AUTHOR_TROUBLES_MAX, CALL_TIMEOUT, CONNECT_TIMEOUT, LAST_RESULT_WAIT};
use crate::log::{self, Level};
use crate::lookout::{Learnt, Lookout};
use crate::player::Player;
use crate::register::{Application, Membership, RegisterError};

const USER_AGENT: &str = concat!("player/", env!("CARGO_PKG_VERSION"));
/// The ports on which the documents expect players.
const PORTS: std::ops::RangeInclusive<u16> = 8101..=8199;

/// An agent that has joined a league.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Joined {
    /// Who it is, such as `P01`.
    pub player: String,
    /// The name that people see.
    pub name: String,
    /// Where it plays.
    pub league: String,
    /// Where it is called; nowhere if it fetches its turns.
    pub endpoint: Option<String>,
}

/// How an agent's time ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The league is over.
    LeagueOver,
    /// It was told to stop.
    Stopped,
}

/// Why an agent cannot play.
#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    /// The address cannot be had.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// Which address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// Nobody can call it where it listens.
    #[error("nobody can call {0}; say where you are called (--endpoint)")]
    Nowhere(SocketAddr),
    /// The folder for the token cannot be made.
    #[error("cannot make a folder for {file}: {source}")]
    Folder {
        /// The file that should lie in it.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// What was said is not as it should be.
    #[error("{0}")]
    Option(String),
    /// It was not let in.
    #[error(transparent)]
    Register(#[from] RegisterError),
    /// Its token no longer works.
    #[error("out of the league: {code}: {text}", code = .0.code, text = .0.description)]
    Expelled(Box<ErrorReport>),
}

pub(super) async fn play(
    agent: Agent,
    options: &Options,
    mut stop: watch::Receiver<bool>,
    joined: impl FnOnce(&Joined),
) -> Result<Ending, PlayError> {
    let listener = if options.pull { None } else { Some(listen(options.listen).await?) };
    let endpoint = listener.as_ref().map(|listener| called_at(options, listener)).transpose()?;
    let (troubles, mut told) = mpsc::channel(AUTHOR_TROUBLES_MAX);
    let application = application(&agent, options, endpoint.clone(), troubles)?;
    let name = application.meta.display_name.clone();
    let player = Arc::new(Player::new(Box::new(Watched::new(agent.choose))));
    let (mut membership, mut over) = (player.membership(), player.league_end());
    let quit = watch::Sender::new(false);
    let lookout = |me: &Membership<PlayerId>| lookout(&application, me, player.heard());
    let running = run(player.clone(), listener, application.clone(), quit.subscribe());
    let mut running = std::pin::pin!(running);
    let me = loop {
        tokio::select! {
            biased;
            () = stopped(&mut stop) => return Ok(Ending::Stopped),
            ended = &mut running => return Ok(ended.map(|()| Ending::Stopped)?),
            Some(trouble) = told.recv() => complain(&trouble),
            Ok(me) = membership.wait_for(Option::is_some) => {
                if let Some(me) = me.clone() { break me; }
            }
        }
    };
    let (player, league) = (me.id.to_string(), me.league.to_string());
    joined(&Joined { player, name, league, endpoint });
    let ending = tokio::select! {
        biased;
        () = stopped(&mut stop) => Ending::Stopped,
        ended = &mut running => return Ok(ended.map(|()| Ending::Stopped)?),
        _ = over.wait_for(|over| *over) => Ending::LeagueOver,
        learnt = lookout(&me).watch() => match learnt {
            Learnt::Over => Ending::LeagueOver,
            Learnt::Expelled(report) => return Err(PlayError::Expelled(report)),
        },
    };
    if ending == Ending::LeagueOver {
        // The last result may come after the end of the league.
        tokio::select! {
            biased;
            () = stopped(&mut stop) => {}
            _ = &mut running => return Ok(ending),
            () = tokio::time::sleep(LAST_RESULT_WAIT) => {}
        }
    }
    quit.send_replace(true);
    running.await?;
    Ok(ending)
}

async fn run(
    player: Arc<Player>,
    listener: Option<TcpListener>,
    application: Application,
    quit: watch::Receiver<bool>,
) -> Result<(), RegisterError> {
    let exchange = exchange();
    match listener {
        Some(listener) => player.run(listener, exchange, application, quit).await,
        None => player.run_without_port(exchange, application, quit).await,
    }
}

fn exchange() -> Exchange {
    Exchange::new(Caller::new(USER_AGENT, CONNECT_TIMEOUT))
}

fn lookout(
    application: &Application,
    me: &Membership<PlayerId>,
    heard: watch::Receiver<()>,
) -> Lookout {
    Lookout {
        exchange: exchange(),
        manager: application.manager.clone(),
        dialect: application.dialect,
        sender: Sender::Player(me.id.to_string().into()),
        token: me.token.clone(),
        league: me.league.clone(),
        timeout: CALL_TIMEOUT,
        heard,
    }
}

/// What the agent says to be let in.
fn application(
    agent: &Agent,
    options: &Options,
    endpoint: Option<String>,
    troubles: mpsc::Sender<RegisterError>,
) -> Result<Application, PlayError> {
    let name = options.name.clone().unwrap_or_else(|| agent.name.clone());
    let wrong =
        |what: &str, bad: &dyn std::fmt::Display| PlayError::Option(format!("{what}: {bad}"));
    let games = agent.games.iter().map(|game| game.parse().map_err(|bad| wrong("games", &bad)));
    let league: Result<Option<LeagueId>, _> =
        options.league.as_ref().map(|id| id.parse()).transpose();
    let file = options.kept_in(&name);
    if let Some(folder) = file.parent() {
        let cannot = |source| PlayError::Folder { file: file.clone(), source };
        std::fs::create_dir_all(folder).map_err(cannot)?;
    }
    let meta = Meta {
        display_name: name,
        version: agent.version.clone(),
        protocol_version: Some(ProtocolVersion::CURRENT.to_string()),
        game_types: games.collect::<Result<_, _>>()?,
        pull: endpoint.is_none(),
        contact_endpoint: endpoint,
        contact_email: None,
        max_concurrent_matches: None,
        dialect: Some(Dialect::Flat),
        batch: true,
        join: options.join_code.as_deref().map(|code| JoinCode::new(code.trim())),
    };
    Ok(Application {
        manager: options.mcp(),
        league: league.map_err(|bad| wrong("league", &bad))?,
        dialect: Dialect::Flat,
        meta,
        timeout: CALL_TIMEOUT,
        troubles: Some(troubles),
        keep: Some(Keep::new(file)),
    })
}

/// Listens where it was told, or on the first free one of the documented ports.
async fn listen(at: Option<SocketAddr>) -> Result<TcpListener, PlayError> {
    let bind = |address| async move {
        let bound = TcpListener::bind(address).await;
        bound.map_err(|source| PlayError::Listen { address, source })
    };
    if let Some(address) = at {
        return bind(address).await;
    }
    for port in PORTS {
        if let Ok(listener) = bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await {
            return Ok(listener);
        }
    }
    bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await
}

fn called_at(options: &Options, listener: &TcpListener) -> Result<String, PlayError> {
    let unknown = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
    let at = listener.local_addr();
    let at = at.map_err(|source| PlayError::Listen { address: unknown, source })?;
    match &options.endpoint {
        Some(endpoint) => Ok(endpoint.clone()),
        None if at.ip().is_unspecified() => Err(PlayError::Nowhere(at)),
        None => Ok(format!("http://{at}/mcp")),
    }
}

fn complain(trouble: &RegisterError) {
    log::at(Level::Warning, Component::Player, |line| {
        line.say(format!("{trouble}; trying again until it answers, Ctrl-C stops"));
    });
}

/// Comes back when `stop` says so.
async fn stopped(stop: &mut watch::Receiver<bool>) {
    // A sender that is gone will not say anything else.
    drop(stop.wait_for(|stopped| *stopped).await);
}
