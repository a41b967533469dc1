//! Manager, referees and players of one league in this process, each behind a port of its own.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use league_agent::ambient;
use league_agent::caller::Caller;
use league_agent::endpoint::serve;
use league_agent::exchange::{Exchange, random_hex};
use league_agent::guard;
use league_agent::keep::Keep;
use league_agent::player::Cast;
use league_agent::register::{Application, Membership};
use league_agent::targets::Targets;
use league_core::id::{AgentId, GameType, LeagueId, PlayerId, RefereeId};
use league_core::manager::{
    Admission, Charter, Command, Invited, League, Order, PlayerAdmission, ProtocolVersion,
    RefereeAdmission, Refusal, StartRule,
};
use league_core::proof::Keys;
use league_wire::message::Meta;
use league_wire::{Dialect, JoinCode};
use sha2::{Digest, Sha256};
use tokio::net::TcpListener;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;

use super::resume::{self, Unfinished};
use super::{PlayError, PlayPlan, front, keyring};
use crate::journal::Journal;
use crate::limits::{REFEREE_MATCHES_DEFAULT, STOP_PATIENCE};
use crate::manager::{Actor, AskError, Books, Manager, Outbound, Rates, Stub};
use crate::referee::Referee;
use crate::secret;

const MANAGER_AGENT: &str = concat!("league_manager/", env!("CARGO_PKG_VERSION"));
const REFEREE_AGENT: &str = concat!("referee/", env!("CARGO_PKG_VERSION"));
const PLAYER_AGENT: &str = concat!("player/", env!("CARGO_PKG_VERSION"));

/// A league with everybody in it.
pub(super) struct Hall {
    stub: Stub,
    league: LeagueId,
    manager: String,
    tasks: JoinSet<Result<(), PlayError>>,
    referees: JoinSet<Result<(), PlayError>>,
    exchanges: Vec<Exchange>,
    /// Stops the writer of the league, which then still delivers its last news.
    close: watch::Sender<bool>,
    /// Ends when the writer has left.
    writer_left: oneshot::Receiver<()>,
    /// Sends the referees home, who then still tell the players how the last matches ended.
    relieve: watch::Sender<bool>,
    quit: watch::Sender<bool>,
    timeout: Duration,
    join_key: JoinCode,
    /// What lets each of the players in, and nobody else.
    codes: Vec<JoinCode>,
    keys: Keys,
    /// Where those listen who were here before.
    places: BTreeMap<AgentId, (TcpListener, SocketAddr)>,
    before: Option<u64>,
}

impl Hall {
    /// Opens the manager of a new league, or of the one that was begun here and is not over, for
    /// registration.
    pub(super) async fn open(
        plan: &PlayPlan,
        journal: Arc<dyn Journal>,
    ) -> Result<Self, PlayError> {
        let keys = keyring::keys(plan, journal.as_ref()).await?;
        let admin = secret::admin_token(&plan.data)?;
        let unfinished = match plan.new {
            true => None,
            false => resume::find(plan, &journal, &keys).await?,
        };
        let (books, places, before) = match unfinished {
            Some(Unfinished { books, done, places }) => (books, places, Some(done)),
            None => {
                let charter = charter(plan, &keys)?;
                (Books::found(journal, ambient::now(), charter).await?, vec![], None)
            }
        };
        let league = books.league().id().clone();
        let (quit, quitting) = watch::channel(false);
        let (listener, address) = listen().await?;
        let targets = Targets::of_server(address);
        let caller = Caller::within(targets.clone(), MANAGER_AGENT, plan.policy.http_timeout());
        let exchange = Exchange::new(caller);
        let exchanges = vec![exchange.clone()];
        let (outbound_keys, own_keys) = (keys.clone(), keys.clone());
        let join_key = JoinCode::new(keys.join_key(&league).expose());
        let (stub, actor) = Actor::new(books, |stub| Outbound::new(stub, outbound_keys, exchange));
        stub.relay_at(&format!("http://{address}"));
        let leagues = BTreeMap::from([(league.clone(), stub.clone())]);
        let manager = Manager::new(keys, admin, leagues).at(Rates::of_one_house());
        let manager = front(Arc::new(manager.calling(targets)), address, &[]);
        let mut tasks = JoinSet::new();
        let (close, closing) = watch::channel(false);
        let (leaving, writer_left) = oneshot::channel();
        tasks.spawn(async move {
            let outcome = actor.run(closing).await;
            drop(leaving);
            Ok(outcome?)
        });
        tasks.spawn(async move {
            serve(listener, manager, quitting).await;
            Ok(())
        });
        let codes: Vec<_> = (0..plan.players).map(|_| JoinCode::new(&random_hex())).collect();
        stub.ask(Command::SetAdmission(Box::new(admission(&codes))), None).await?;
        let (manager, timeout) = (url(address), plan.policy.register_timeout());
        Ok(Self {
            stub,
            league,
            manager,
            tasks,
            referees: JoinSet::new(),
            exchanges,
            close,
            writer_left,
            relieve: watch::Sender::new(false),
            quit,
            timeout,
            join_key,
            codes,
            keys: own_keys,
            places: places.into_iter().map(|(agent, door, at)| (agent, (door, at))).collect(),
            before,
        })
    }

    /// The league as it stands.
    pub(super) fn now(&self) -> League {
        self.stub.published().league.clone()
    }

    /// Matches that had a result when the league was begun again; nothing if it is a new one.
    pub(super) const fn before(&self) -> Option<u64> {
        self.before
    }

    /// Seats referees and players; comes back only if one of the agents fails.
    pub(super) async fn run_agents(&mut self, plan: &PlayPlan) -> PlayError {
        for number in 1..=plan.referees {
            if let Err(error) = self.seat_referee(plan, number).await {
                return error;
            }
        }
        for number in 1..=plan.players {
            if let Err(error) = self.seat_player(plan, number).await {
                return error;
            }
        }
        if self.before.is_some()
            && let Err(error) = self.go_on().await
        {
            return error;
        }
        loop {
            let ended = tokio::select! {
                Some(ended) = self.tasks.join_next() => ended,
                Some(ended) = self.referees.join_next() => ended,
                else => return self.stopped(),
            };
            if let Err(error) = guard::outcome(ended).unwrap_or(Ok(())) {
                return error;
            }
        }
    }

    /// How far the league came, if it ends here.
    pub(super) fn stopped(&self) -> PlayError {
        PlayError::Stopped { league: self.league(), done: done(&self.stub.published().league) }
    }

    /// Everybody is back: matches are handed out again.
    async fn go_on(&self) -> Result<(), PlayError> {
        let (order, reason) = (Order::Resume, resume::RESUMED.into());
        match self.stub.ask(Command::Administer { order, reason }, None).await {
            // Its last matches may have been decided because their players had left.
            Ok(_) | Err(AskError::Refused(Refusal::Completed)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The league that is played here.
    pub(super) fn league(&self) -> LeagueId {
        self.league.clone()
    }

    /// Sends everybody home, at once if the league is not over, and says how many calls were made.
    pub(super) async fn close(mut self, at_once: bool) -> u64 {
        self.close.send_replace(true);
        // It says nothing; that it is gone is the news.
        let _left = self.writer_left.await;
        self.relieve.send_replace(true);
        // The books are closed: referees would only try in vain to report.
        let patience = if at_once { STOP_PATIENCE } else { Duration::MAX };
        let relieved = async { while self.referees.join_next().await.is_some() {} };
        if tokio::time::timeout(patience, relieved).await.is_err() {
            self.referees.shutdown().await;
        }
        self.quit.send_replace(true);
        while self.tasks.join_next().await.is_some() {}
        self.exchanges.iter().map(Exchange::calls).sum()
    }

    /// Where an agent listens, and what lets it come back if it was here before; nothing if it
    /// cannot come back.
    async fn place(&mut self, agent: AgentId) -> Result<Option<Place>, PlayError> {
        let keep = {
            let published = self.stub.published();
            if resume::has_left(&published.league, agent) {
                return Ok(None);
            }
            resume::remembered(&self.keys, &published.league, agent)
        };
        let (listener, address) = match self.places.remove(&agent) {
            Some(place) => place,
            None => listen().await?,
        };
        Ok(Some(Place { listener, address, keep }))
    }

    async fn seat_referee(&mut self, plan: &PlayPlan, number: u32) -> Result<(), PlayError> {
        let agent = AgentId::Referee(RefereeId::new(number));
        let Some(Place { listener, address, keep }) = self.place(agent).await? else {
            return Ok(());
        };
        let exchange = self.exchange((REFEREE_AGENT, address), plan);
        let name = format!("Referee {number}");
        let mut application = self.application(plan, name, address)?;
        application.keep = keep;
        application.meta.max_concurrent_matches = Some(REFEREE_MATCHES_DEFAULT);
        application.meta.join = Some(self.join_key.clone());
        let referee = Referee::new(&self.manager, exchange);
        let (stop, mut ready) = (self.relieve.subscribe(), referee.membership());
        self.referees.spawn(async move { Ok(referee.run(listener, application, stop).await?) });
        wait_until(&mut ready).await;
        Ok(())
    }

    async fn seat_player(&mut self, plan: &PlayPlan, number: u32) -> Result<(), PlayError> {
        let agent = AgentId::Player(PlayerId::new(number));
        let Some(Place { listener, address, keep }) = self.place(agent).await? else {
            return Ok(());
        };
        let exchange = self.exchange((PLAYER_AGENT, address), plan);
        let cast = cast(plan, number);
        let mut application = self.application(plan, player_name(plan, number), address)?;
        application.keep = keep;
        application.dialect = plan.dialects[(number as usize - 1) % plan.dialects.len()];
        application.meta.dialect = Some(application.dialect);
        application.meta.join = self.codes.get(number as usize - 1).cloned();
        let player = Arc::new(cast.player(plan.seed.wrapping_add(number.into())));
        let (stop, mut ready) = (self.quit.subscribe(), player.membership());
        self.tasks
            .spawn(async move { Ok(player.run(listener, exchange, application, stop).await?) });
        wait_until(&mut ready).await;
        Ok(())
    }

    fn exchange(
        &mut self,
        (user_agent, own): (&'static str, SocketAddr),
        plan: &PlayPlan,
    ) -> Exchange {
        let targets = Targets::of_server(own);
        let caller = Caller::within(targets, user_agent, plan.policy.http_timeout());
        let exchange = Exchange::new(caller);
        self.exchanges.push(exchange.clone());
        exchange
    }

    fn application(
        &self,
        plan: &PlayPlan,
        display_name: String,
        address: SocketAddr,
    ) -> Result<Application, PlayError> {
        let game: GameType = plan.game.parse()?;
        let meta = Meta {
            display_name,
            version: env!("CARGO_PKG_VERSION").into(),
            protocol_version: Some(ProtocolVersion::CURRENT.to_string()),
            game_types: vec![game],
            contact_endpoint: Some(url(address)),
            contact_email: None,
            max_concurrent_matches: None,
            dialect: Some(Dialect::Flat),
            batch: true,
            pull: false,
            join: None,
        };
        let (manager, league) = (self.manager.clone(), Some(self.league.clone()));
        let (dialect, timeout) = (Dialect::Flat, self.timeout);
        Ok(Application { manager, league, dialect, meta, timeout, troubles: None, keep: None })
    }
}

/// A place to listen, and what lets an agent come back.
struct Place {
    listener: TcpListener,
    address: SocketAddr,
    keep: Option<Keep>,
}

/// How a player plays.
fn cast(plan: &PlayPlan, number: u32) -> Cast {
    plan.strategies[(number as usize - 1) % plan.strategies.len()]
}

/// What a player is called.
pub(super) fn player_name(plan: &PlayPlan, number: u32) -> String {
    format!("{} ({})", resume::seat_name(number), cast(plan, number).name())
}

/// Matches with a result.
pub(super) fn done(league: &League) -> u64 {
    let past: usize = league.past().iter().map(|round| round.matches.len()).sum();
    let now = league.open_round().map_or(0, |round| round.matches.len() - round.unfinished);
    (past + now) as u64
}

fn charter(plan: &PlayPlan, keys: &Keys) -> Result<Charter, PlayError> {
    let rules = plan.policy.written().into_iter();
    let digits: String = random_hex().chars().take(8).collect();
    Ok(Charter {
        league: format!("league_{digits}").parse()?,
        rule_set: plan.policy.rule_set().to_string(),
        rules: rules.map(|(key, value)| (key.to_string(), value)).collect(),
        game: plan.game.parse()?,
        format: plan.format.clone(),
        start: StartRule::Players(plan.players),
        players_max: plan.players,
        key_check: keys.check_value(),
    })
}

/// Only those who were seated here: a stranger who finds the port would take somebody's place.
fn admission(codes: &[JoinCode]) -> Admission {
    let invited = codes.iter().zip(1_u32..).map(|(code, number)| Invited {
        code: Sha256::digest(code.reveal()).into(),
        student: resume::seat_name(number).into(),
        group: None,
    });
    Admission {
        players: PlayerAdmission::Codes(invited.collect()),
        referees: RefereeAdmission::KeyOrApproval,
    }
}

/// Waits until an agent has registered. If it fails instead, its task says why.
async fn wait_until<Id>(ready: &mut watch::Receiver<Option<Membership<Id>>>) {
    drop(ready.wait_for(Option::is_some).await);
}

pub(super) async fn listen() -> Result<(TcpListener, SocketAddr), PlayError> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(PlayError::Listen)?;
    let address = listener.local_addr().map_err(PlayError::Listen)?;
    Ok((listener, address))
}

pub(super) fn url(address: SocketAddr) -> String {
    format!("http://{address}/mcp")
}
