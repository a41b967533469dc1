//! A real manager on a real port, and our own referees and players around it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use league_agent::ambient;
use league_agent::caller::Caller;
use league_agent::endpoint::serve;
use league_agent::exchange::Exchange;
use league_agent::player::Player;
use league_agent::register::Application;
use league_agent::strategy::House;
use league_agent::targets::Targets;
use league_core::id::LeagueId;
use league_core::manager::{Charter, Event, Fact, Phase, Recorded, StartRule};
use league_core::policy::{Policy, RuleSet};
use league_core::proof::{Keys, Secret, Token};
use league_server::journal::{Follower, Head, Journal, MemoryJournal, SqliteJournal, codec};
use league_server::manager::{Actor, Books, Manager, OpenError, Outbound, Rates, Stub};
use league_server::practice::Coach;
use league_server::referee::Referee;
use league_wire::message::Meta;
use league_wire::{Dialect, JoinCode};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::rpc::{self, PATIENCE, Reply};

pub(crate) const LEAGUE: &str = "league_it";
pub(crate) const ADMIN: &str = "tok_administrator_0123456789abcdef";
/// What agents on the stage can play.
pub(crate) const GAMES: [&str; 2] = ["even_odd", "even_odd_numbers"];
pub(crate) const SECRET: [u8; 32] = [7; 32];

/// What a league on the stage is founded with.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) rule_set: RuleSet,
    pub(crate) rules: Vec<(&'static str, &'static str)>,
    pub(crate) start: StartRule,
    pub(crate) players_max: u32,
    game: &'static str,
}

impl Plan {
    /// A league that starts with that many players.
    pub(crate) const fn players(count: u32) -> Self {
        let (start, players_max) = (StartRule::Players(count), count);
        Self { rule_set: RuleSet::V21, rules: vec![], start, players_max, game: "even_odd" }
    }

    /// A league that starts when the administrator says so.
    pub(crate) const fn on_command(players_max: u32) -> Self {
        let start = StartRule::OnCommand;
        Self { rule_set: RuleSet::V21, rules: vec![], start, players_max, game: "even_odd" }
    }

    pub(crate) fn under(self, rule_set: RuleSet) -> Self {
        Self { rule_set, ..self }
    }

    /// The same with another game.
    pub(crate) fn playing(self, game: &'static str) -> Self {
        Self { game, ..self }
    }

    pub(crate) fn with(mut self, key: &'static str, value: &'static str) -> Self {
        self.rules.push((key, value));
        self
    }

    fn charter(&self, keys: &Keys) -> Charter {
        let quick = [("announcement_lead", "0s"), ("network_backoff", "fixed 20ms")];
        let rules = quick.into_iter().chain(self.rules.iter().copied());
        let policy = Policy::build(self.rule_set, rules).expect("the plan's rules fit");
        let written = policy.written().into_iter();
        Charter {
            league: LEAGUE.parse().unwrap(),
            rule_set: self.rule_set.to_string(),
            rules: written.map(|(key, value)| (key.to_string(), value)).collect(),
            game: self.game.parse().unwrap(),
            format: "round_robin".into(),
            start: self.start,
            players_max: self.players_max,
            key_check: keys.check_value(),
        }
    }
}

/// A running manager.
pub(crate) struct Stage {
    pub(crate) address: SocketAddr,
    pub(crate) stub: Stub,
    pub(crate) manager: Arc<Manager>,
    journal: Arc<dyn Journal>,
    runtime: Runtime,
    quit: watch::Sender<bool>,
    tasks: Vec<JoinHandle<()>>,
}

impl Stage {
    /// A manager that keeps its league in memory.
    pub(crate) fn open(plan: &Plan) -> Self {
        Self::open_at(plan, Rates::default())
    }

    /// A manager that keeps its league in memory, and may be asked as often as `rates` say.
    pub(crate) fn open_at(plan: &Plan, rates: Rates) -> Self {
        let runtime = runtime();
        let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::default());
        let keys = Keys::derive(&Secret::new(SECRET));
        let charter = plan.charter(&keys);
        let founding = Books::found(journal.clone(), ambient::now(), charter);
        let books = runtime.block_on(founding).expect("a league is founded");
        Self::host((runtime, rates), journal, books, None)
    }

    /// A manager that keeps its league in the directory `data`.
    pub(crate) fn open_in(data: &Path, plan: &Plan) -> Self {
        let (runtime, journal) = (runtime(), sqlite(data));
        let charter = plan.charter(&Keys::derive(&Secret::new(SECRET)));
        let founding = Books::found(journal.clone(), ambient::now(), charter);
        let books = runtime.block_on(founding).expect("a league is founded");
        Self::host((runtime, Rates::default()), journal, books, None)
    }

    /// A manager that takes up the league of another one, at the same address.
    pub(crate) fn reopen_in(
        data: &Path,
        secret: [u8; 32],
        address: SocketAddr,
    ) -> Result<Self, OpenError> {
        let (runtime, journal) = (runtime(), sqlite(data));
        let keys = Keys::derive(&Secret::new(secret));
        let league = league();
        let replay = Books::replay(journal.clone(), &league, keys.check_value());
        let books = runtime.block_on(replay)?;
        let books = books.ok_or(OpenError::NotALeague(league))?;
        Ok(Self::host((runtime, Rates::default()), journal, books, Some(address)))
    }

    fn host(
        (runtime, rates): (Runtime, Rates),
        journal: Arc<dyn Journal>,
        books: Books,
        address: Option<SocketAddr>,
    ) -> Self {
        let keys = Keys::derive(&Secret::new(SECRET));
        let exchange = Exchange::new(Caller::new("league_manager/it", PATIENCE));
        let outbound_keys = keys.clone();
        let _entered = runtime.enter();
        let (stub, actor) = Actor::new(books, |stub| Outbound::new(stub, outbound_keys, exchange));
        let admin: Token = ADMIN.parse().unwrap();
        let leagues = BTreeMap::from([(LEAGUE.parse().unwrap(), stub.clone())]);
        let manager = Manager::new(keys, admin, leagues).at(rates);
        let manager = Arc::new(manager.practising(Coach::new(Targets::everywhere())));
        let (quit, quitting) = watch::channel(false);
        let listener = runtime.block_on(async {
            match address {
                Some(address) => TcpListener::bind(address).await,
                None => TcpListener::bind("127.0.0.1:0").await,
            }
        });
        let listener = listener.expect("a port");
        let address = listener.local_addr().unwrap();
        stub.relay_at(&format!("http://{address}"));
        let stop = quitting.clone();
        let writing = runtime.spawn(async move { actor.run(stop).await.expect("a journal") });
        let serving = runtime.spawn(serve(listener, manager.clone(), quitting));
        Self { address, stub, manager, journal, runtime, quit, tasks: vec![writing, serving] }
    }

    /// Posts a JSON document to the manager.
    pub(crate) fn send(&self, json: &Value) -> Reply {
        rpc::send(self.address, json)
    }

    /// Seats one of our referees and waits until it is registered.
    pub(crate) fn seat_referee(&mut self) -> SocketAddr {
        let (listener, address) = self.listen();
        let exchange = Exchange::new(Caller::new("referee/it", PATIENCE));
        let referee = Referee::new(&url(self.address), exchange);
        let (mut ready, stop) = (referee.membership(), self.quit.subscribe());
        let mut application = self.application("House Referee", address);
        application.meta.join = Some(JoinCode::new(&join_key()));
        let run = async move { referee.run(listener, application, stop).await.expect("let in") };
        self.tasks.push(self.runtime.spawn(run));
        self.block_on(async { ready.wait_for(Option::is_some).await.map(drop) }).unwrap();
        address
    }

    /// Seats one of our players and waits until it is registered.
    pub(crate) fn seat_player(&mut self, house: House) -> SocketAddr {
        self.seat_player_at(house, Dialect::Flat, |address| address)
    }

    /// Seats one of our players that speaks `dialect` and is called where `reached` says for its
    /// own address.
    pub(crate) fn seat_player_at(
        &mut self,
        house: House,
        dialect: Dialect,
        reached: impl FnOnce(SocketAddr) -> SocketAddr,
    ) -> SocketAddr {
        let (listener, address) = self.listen();
        let exchange = Exchange::new(Caller::new("player/it", PATIENCE));
        let player = Arc::new(Player::new(house.strategy(1)));
        let (mut ready, stop) = (player.membership(), self.quit.subscribe());
        let application = self.application("House Player", reached(address));
        let application = Application { dialect, ..application };
        let run = async move {
            player.run(listener, exchange, application, stop).await.expect("let in");
        };
        self.tasks.push(self.runtime.spawn(run));
        self.block_on(async { ready.wait_for(Option::is_some).await.map(drop) }).unwrap();
        address
    }

    fn listen(&self) -> (TcpListener, SocketAddr) {
        let listener = self.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port");
        let address = listener.local_addr().unwrap();
        (listener, address)
    }

    fn application(&self, name: &str, address: SocketAddr) -> Application {
        let meta = Meta {
            display_name: name.into(),
            version: "1.0.0".into(),
            protocol_version: Some("2.1.0".into()),
            game_types: GAMES.iter().map(|name| name.parse().unwrap()).collect(),
            contact_endpoint: Some(url(address)),
            contact_email: None,
            max_concurrent_matches: Some(8),
            dialect: None,
            batch: true,
            pull: false,
            join: None,
        };
        let league = Some(LEAGUE.parse().unwrap());
        let (manager, dialect) = (url(self.address), Dialect::Flat);
        Application {
            manager,
            league,
            dialect,
            meta,
            timeout: PATIENCE,
            troubles: None,
            keep: None,
        }
    }

    /// Everything in the books up to the first event that satisfies `until`.
    pub(crate) fn events_until(&self, until: impl Fn(&Fact) -> bool) -> Vec<Event> {
        let league = league();
        self.block_on(async {
            let start = Head::genesis(&league);
            let mut follower =
                Follower::start(self.journal.clone(), league.clone(), start).await.unwrap();
            let mut events: Vec<Event> = vec![];
            loop {
                for row in follower.next(100).await.unwrap() {
                    let event = codec::decode(&row.bytes).unwrap();
                    let found = until(&event.fact);
                    events.push(event);
                    if found {
                        return events;
                    }
                }
            }
        })
    }

    /// Everything in the books, once the league is over and everybody can see it.
    pub(crate) fn whole_league(&self) -> Vec<Event> {
        let events = self.events_until(|fact| *fact == Fact::LeagueCompleted);
        // What is published follows what is written.
        self.block_on(async {
            let is_over =
                || matches!(self.stub.published().league.phase(), Phase::Completed { .. });
            while !is_over() {
                tokio::task::yield_now().await;
            }
        });
        events
    }

    /// Everything that is in the books now.
    pub(crate) fn events_now(&self) -> Vec<Event> {
        self.reader()()
    }

    /// Reads the books from any thread.
    pub(crate) fn reader(&self) -> impl Fn() -> Vec<Event> + Send + Sync + 'static {
        let (journal, handle) = (self.journal.clone(), self.runtime.handle().clone());
        move || {
            let league = league();
            let rows = handle.block_on(journal.read(&league, Head::genesis(&league), 4096));
            rows.unwrap().iter().map(|row| codec::decode(&row.bytes).unwrap()).collect()
        }
    }

    /// Waits for `future`, but not for ever.
    pub(crate) fn block_on<F: Future>(&self, future: F) -> F::Output {
        let bounded = async { tokio::time::timeout(PATIENCE, future).await };
        self.runtime.block_on(bounded).expect("it takes too long")
    }

    /// Stops the manager and everybody of ours, and waits until they have left.
    pub(crate) fn close(self) {
        drop(self);
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.quit.send_replace(true);
        for task in std::mem::take(&mut self.tasks) {
            let left = async { tokio::time::timeout(PATIENCE, task).await };
            let left = self.runtime.block_on(left);
            if !std::thread::panicking() {
                left.expect("everybody leaves when told to").expect("nobody panics");
            }
        }
    }
}

/// The results in `events`, in the order in which they were recorded.
pub(crate) fn results(events: &[Event]) -> Vec<Recorded> {
    let recorded = events.iter().filter_map(|event| match &event.fact {
        Fact::ResultRecorded(recorded) => Some((**recorded).clone()),
        Fact::LeagueCreated(_)
        | Fact::PlayerRegistered { .. }
        | Fact::RefereeRegistered { .. }
        | Fact::LeagueStarted
        | Fact::RoundOpened { .. }
        | Fact::MatchReassigned { .. }
        | Fact::ReportRefused { .. }
        | Fact::RoundClosed { .. }
        | Fact::LeagueCompleted
        | Fact::ConductNoted { .. }
        | Fact::AgentChanged { .. }
        | Fact::Walkover { .. }
        | Fact::MatchCancelled { .. }
        | Fact::MatchStuck { .. }
        | Fact::RematchOrdered { .. }
        | Fact::AdmissionSet(_)
        | Fact::CodeRedeemed { .. }
        | Fact::Administered { .. }
        | Fact::PlayerReturned { .. }
        | Fact::RefereeReturned { .. }
        | Fact::TokenReplaced { .. }
        | Fact::MatchPassedOn { .. }
        | Fact::ShapeSettled { .. } => None,
    });
    recorded.collect()
}

/// The address at which an agent is called.
pub(crate) fn url(address: SocketAddr) -> String {
    format!("http://{address}/mcp")
}

fn league() -> LeagueId {
    LEAGUE.parse().expect("a name")
}

fn sqlite(data: &Path) -> Arc<dyn Journal> {
    Arc::new(SqliteJournal::open(data).expect("a journal"))
}

fn runtime() -> Runtime {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(2).enable_all().build().expect("a runtime")
}

/// What the operator's own referees show when they register.
pub(crate) fn join_key() -> String {
    Keys::derive(&Secret::new(SECRET)).join_key(&league()).expose().into()
}
