//! The manager as a process of its own: opens every league of its journal, founds new ones, and
//! takes everything down in order.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{io, time::Duration};

use league_agent::ambient::{self, OsDice};
use league_agent::caller::Caller;
use league_agent::component::Component;
use league_agent::endpoint::serve as answer_calls;
use league_agent::exchange::Exchange;
use league_agent::guard;
use league_agent::log::{self, Level};
use league_agent::targets::{Network, Targets};
use league_core::id::LeagueId;
use league_core::manager::{
    Admission, Charter, Command, League, Phase, PlayerAdmission, RefereeAdmission, Refusal,
};
use league_core::proof::{Keys, Secret, Token};
use league_wire::lenient::Reading;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use super::disk::{self, Identity};
use super::roster::{self, Roster, RosterError};
use super::{drift, front, join, make_directory, reach};
use crate::journal::{Journal, JournalError, Outage, SqliteJournal, sqlite};
use crate::limits::{FILE_LOOK_PAUSE, FOUNDINGS_MAX, REOPEN_PAUSE};
use crate::manager::blueprint::{BadBlueprint, Blueprint};
use crate::manager::{
    Actor, Alarm, Books, FoundError, Founding, Leagues, Manager, OpenError, Outbound, Stub,
};
use crate::practice::Coach;
use crate::secret::{self, SecretError};

const MANAGER_AGENT: &str = concat!("league_manager/", env!("CARGO_PKG_VERSION"));

/// How a manager is run.
#[derive(Debug, Clone)]
pub struct ServePlan {
    /// Where it listens.
    pub listen: SocketAddr,
    /// Whether another port will do when that one is taken.
    pub may_move: bool,
    /// Where the record is kept.
    pub data: PathBuf,
    /// The server's secret, if it is not the one in the data directory.
    pub secret: Option<Secret>,
    /// The administrator's token, if it is not the one in the data directory.
    pub admin: Option<Token>,
    /// The league that whoever could join several and names none joins.
    pub default_league: Option<LeagueId>,
    /// A league that is founded unless it is there.
    pub league: Option<Blueprint>,
    /// Who may play in it: a file with a code for each of them.
    pub roster: Option<PathBuf>,
    /// Where others call the manager, if that is not where it listens.
    pub public_url: Option<String>,
    /// Whether every referee may officiate, although others can reach the manager too.
    pub open_referees: bool,
    /// Private networks whose agents are called although others can reach the manager too.
    pub networks: Vec<Network>,
    /// How much is read into what agents send.
    pub reading: Reading,
    /// Names by which clients of the Model Context Protocol call it, beside those of loopback.
    pub hosts: Vec<String>,
    /// Whether players may practise until their league starts.
    pub practice: bool,
}

/// What a manager says of itself while it runs.
#[derive(Debug)]
pub enum ServeNews {
    /// It can be called.
    Open {
        /// Where.
        address: SocketAddr,
        /// The file that holds the record.
        journal: PathBuf,
        /// The leagues it has.
        leagues: Vec<Hosted>,
    },
    /// Where it would listen somebody else does; it takes a free port instead.
    Moved {
        /// Where it would.
        wanted: SocketAddr,
        /// Where it does.
        address: SocketAddr,
    },
    /// The configuration says something else than the league was founded with, which holds.
    Otherwise(LeagueId, Vec<String>),
    /// A league has been founded; the file holds its join key.
    Founded(LeagueId, PathBuf),
    /// Codes were made up for whoever had none; the file holds them.
    Codes(PathBuf),
    /// More are on the roster than may play.
    Crowded(String),
    /// The books of a league cannot be written or read just now.
    Failed(LeagueId, OpenError),
    /// The books of a league are open again.
    Mended(LeagueId),
    /// A league does not go on by itself.
    Alarm(LeagueId, Alarm),
}

/// A league that a manager begins with.
#[derive(Debug)]
pub struct Hosted {
    /// Its name.
    pub league: LeagueId,
    /// The file that holds its join key.
    pub join_key: PathBuf,
    /// Whether players need a join code.
    pub needs_code: bool,
    /// Whether it was there before.
    pub goes_on: bool,
    /// Whether it is over, so that nobody can join it.
    pub is_over: bool,
}

/// Why a manager cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The data directory cannot be used.
    #[error("cannot use the data directory {path}: {source}")]
    Data {
        /// Which directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The address cannot be had.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// Which address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// A private file cannot be used.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// The journal cannot be opened.
    #[error(transparent)]
    OpenJournal(#[from] sqlite::OpenError),
    /// The journal failed.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A league's books cannot be opened.
    #[error(transparent)]
    Books(#[from] OpenError),
    /// The roster of the league that is to be founded cannot be used.
    #[error(transparent)]
    Roster(#[from] RosterError),
    /// Nobody could join it like this.
    #[error("the league to be founded: {0}")]
    Admission(#[from] Refusal),
    /// The league that is to be founded cannot be.
    #[error("the league to be founded: {0}")]
    Blueprint(#[from] BadBlueprint),
}

/// Runs a manager until `stop` says so.
///
/// # Errors
/// If it cannot be set up.
///
/// # Panics
/// If one of its tasks does.
pub async fn serve(
    plan: &ServePlan,
    mut stop: watch::Receiver<bool>,
    mut tell: impl FnMut(ServeNews),
) -> Result<(), ServeError> {
    let (listener, address) = listen(plan, &mut tell).await?;
    let networks = plan.networks.iter().copied();
    let targets = networks.fold(Targets::of_server(address), Targets::and);
    let is_open = plan.open_referees || address.ip().to_canonical().is_loopback();
    let referees = if is_open { RefereeAdmission::Open } else { RefereeAdmission::KeyOrApproval };
    let reached_at = plan.public_url.clone().unwrap_or_else(|| reach::url(address));
    let house = (targets.clone(), referees, reached_at);
    let (mut host, mut inbox) = Host::open(plan, house).await?;
    let file = host.file.clone();
    let leagues = host.open_all(plan, &mut tell).await?;
    let manager = Manager::hosting(host.desk.keys.clone(), host.admin(plan)?, host.leagues());
    let data = plan.data.clone();
    let recall = move |league: &LeagueId, id| crate::record::recall(&data, league, id);
    let manager = manager.reading(plan.reading).recalling(Arc::new(recall));
    let manager = match plan.practice {
        true => manager.practising(Coach::new(targets.clone())),
        false => manager,
    };
    let manager = manager.calling(targets);
    let (quit, quitting) = watch::channel(false);
    let service = front(Arc::new(manager), address, &plan.hosts);
    host.tasks.spawn(answer_calls(listener, service, quitting.clone()));
    let (desk, opened) = (host.desk.clone(), host.opened);
    host.tasks.spawn(desk.look_after(file.clone(), opened, quitting));
    tell(ServeNews::Open { address, journal: file, leagues });
    loop {
        tokio::select! {
            biased;
            _ = stop.wait_for(|stopped| *stopped) => break,
            Some(news) = inbox.news.recv() => tell(news),
            Some(founding) = inbox.foundings.recv() => host.found(founding, &mut tell).await,
            Some(ended) = host.tasks.join_next() => { guard::outcome(ended); }
        }
    }
    // The writers deliver their last news before nobody can be reached here any more.
    host.close.send_replace(true);
    while let Some(left) = host.writers.join_next().await {
        guard::outcome(left);
    }
    quit.send_replace(true);
    while let Some(left) = host.tasks.join_next().await {
        guard::outcome(left);
    }
    Ok(())
}

/// Takes the port that is wanted, or a free one if that will do.
async fn listen(
    plan: &ServePlan,
    tell: &mut impl FnMut(ServeNews),
) -> Result<(TcpListener, SocketAddr), ServeError> {
    let wanted = plan.listen;
    let failed = |source| ServeError::Listen { address: wanted, source };
    let bound = match TcpListener::bind(wanted).await {
        Err(error) if plan.may_move && error.kind() == io::ErrorKind::AddrInUse => {
            TcpListener::bind((wanted.ip(), 0)).await
        }
        bound => bound,
    };
    let listener = bound.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    if wanted.port() != 0 && address != wanted {
        tell(ServeNews::Moved { wanted, address });
    }
    Ok((listener, address))
}

/// Who may play in the league that is founded with the manager.
fn players(
    plan: &ServePlan,
    wanted: &Blueprint,
    tell: &mut impl FnMut(ServeNews),
) -> Result<PlayerAdmission, ServeError> {
    let Some(file) = &plan.roster else { return Ok(wanted.players()?) };
    let Roster { places, codes } = roster::read(file)?;
    if let Some(codes) = codes {
        tell(ServeNews::Codes(codes));
    }
    let wanted = Blueprint { roster: Some(places), ..wanted.clone() };
    if let Some(warning) = wanted.crowding() {
        tell(ServeNews::Crowded(warning));
    }
    Ok(wanted.players()?)
}

fn warn_of_lost_database(file: &Path) {
    log::at(Level::Warning, Component::Manager, |line| {
        line.say(format!(
            "there are join keys here and no leagues: {} was not there and is made anew; if it \
             was lost, stop and put it back",
            file.display()
        ));
    });
}

/// Everything that a manager runs.
struct Host {
    desk: Arc<Desk>,
    file: PathBuf,
    /// Which file that was when it was opened.
    opened: Identity,
    writers: JoinSet<()>,
    tasks: JoinSet<()>,
    close: watch::Sender<bool>,
}

/// What the writers of all leagues share.
struct Desk {
    journal: Arc<dyn Journal>,
    keys: Keys,
    leagues: Arc<Leagues>,
    news: mpsc::Sender<ServeNews>,
    data: PathBuf,
    /// Whom the leagues may call.
    targets: Targets,
    /// Which referees may officiate.
    referees: RefereeAdmission,
    /// Where referees call the manager for players without an open port.
    reached_at: String,
    /// How much is read into what agents send.
    reading: Reading,
    /// Whether the database is where it was opened.
    in_place: watch::Sender<bool>,
}

struct Inbox {
    foundings: mpsc::Receiver<Founding>,
    news: mpsc::Receiver<ServeNews>,
}

impl Host {
    async fn open(
        plan: &ServePlan,
        (targets, referees, reached_at): (Targets, RefereeAdmission, String),
    ) -> Result<(Self, Inbox), ServeError> {
        let data = plan.data.clone();
        make_directory(&data).map_err(|source| ServeError::Data { path: data.clone(), source })?;
        let is_lost = disk::has_lost_its_database(&data, &sqlite::file_in(&data));
        let journal = SqliteJournal::open(&data)?;
        let file = journal.file().to_path_buf();
        let unseen = |source| ServeError::Data { path: file.clone(), source };
        let opened = Identity::of(&file).map_err(unseen)?;
        if is_lost {
            warn_of_lost_database(&file);
        }
        let secret = match &plan.secret {
            Some(secret) => secret.clone(),
            None => secret::secret(&data, journal.leagues().await?.is_empty())?,
        };
        let (founder, foundings) = mpsc::channel(FOUNDINGS_MAX);
        let (news, told) = mpsc::channel(FOUNDINGS_MAX);
        let desk = Desk {
            journal: Arc::new(journal),
            keys: Keys::derive(&secret),
            leagues: Arc::new(Leagues::growing(plan.default_league.clone(), founder)),
            news,
            data,
            targets,
            referees,
            reached_at,
            reading: plan.reading,
            in_place: watch::Sender::new(true),
        };
        let (writers, tasks) = (JoinSet::new(), JoinSet::new());
        let close = watch::Sender::new(false);
        let host = Self { desk: Arc::new(desk), file, opened, writers, tasks, close };
        Ok((host, Inbox { foundings, news: told }))
    }

    fn leagues(&self) -> Arc<Leagues> {
        self.desk.leagues.clone()
    }

    fn admin(&self, plan: &ServePlan) -> Result<Token, SecretError> {
        match &plan.admin {
            Some(token) => Ok(token.clone()),
            None => secret::admin_token(&self.desk.data),
        }
    }

    /// Goes on with every league of the journal, and founds the wanted one unless it is there.
    async fn open_all(
        &mut self,
        plan: &ServePlan,
        tell: &mut impl FnMut(ServeNews),
    ) -> Result<Vec<Hosted>, ServeError> {
        let mut opened = vec![];
        for league in self.desk.journal.leagues().await? {
            let books = self.desk.reopen(&league).await?;
            opened.push(self.desk.hosted(&league, &books, true)?);
            self.write(league.clone(), books);
            self.desk.close_to_strangers(&league).await;
        }
        if let Some(wanted) = &plan.league {
            let charter = wanted.charter(&self.desk.keys)?;
            let there = self.desk.leagues.find(&charter.league);
            if let Some(stub) = there {
                let league = stub.published().league.clone();
                let mut otherwise = drift::differences(&charter, league.charter());
                let players = &league.admission().players;
                let roster = plan.roster.as_deref();
                otherwise.extend(roster.and_then(|file| drift::roster(file, players)));
                if !otherwise.is_empty() {
                    tell(ServeNews::Otherwise(charter.league.clone(), otherwise));
                }
            } else {
                let league = charter.league.clone();
                let players = players(plan, wanted, tell)?;
                let books = self.desk.found(charter, players).await.map_err(|no| match no {
                    FoundError::Open(error) => error.into(),
                    FoundError::Admission(refusal) => ServeError::Admission(refusal),
                    FoundError::Exists(_) | FoundError::Closed | FoundError::Busy => {
                        unreachable!("it is founded here")
                    }
                })?;
                opened.push(self.desk.hosted(&league, &books, false)?);
                self.write(league, books);
            }
        }
        Ok(opened)
    }

    async fn found(&mut self, founding: Founding, tell: &mut impl FnMut(ServeNews)) {
        let Founding { charter, players, answer } = founding;
        let league = charter.league.clone();
        let outcome = if self.desk.leagues.find(&league).is_some() {
            Err(FoundError::Exists(league.clone()))
        } else {
            self.desk.found(charter, players).await
        };
        let outcome = outcome.map(|books| {
            self.write(league.clone(), books);
            // The administrator is told the key as well; the file is for people on this machine.
            if let Ok(file) = self.desk.keep_join_key(&league) {
                tell(ServeNews::Founded(league, file));
            }
        });
        // Whoever asked may have left; the league is there all the same.
        drop(answer.send(outcome));
    }

    fn write(&mut self, league: LeagueId, books: Books) {
        let (desk, stop) = (self.desk.clone(), self.close.subscribe());
        let actor = desk.host(&league, books);
        self.writers.spawn(async move { desk.keep(league, actor, stop).await });
    }
}

impl Desk {
    /// Founds a league that nobody can join before it is said who may.
    async fn found(&self, charter: Charter, players: PlayerAdmission) -> Result<Books, FoundError> {
        let (admission, now) = (Admission { players, referees: self.referees }, ambient::now());
        // A league is in the books for ever, so what cannot be is found out before.
        League::open(&charter).map_err(OpenError::from)?.decide(
            now,
            Command::SetAdmission(Box::new(admission.clone())),
            &mut OsDice,
        )?;
        let mut books = Books::found(self.journal.clone(), now, charter).await?;
        books.enter(now, Command::SetAdmission(Box::new(admission)), None, &mut OsDice)?;
        books.commit().await.map_err(OpenError::from)?;
        Ok(books)
    }

    /// A league that was founded where only this machine could reach it may be open to every
    /// referee; here it must not be.
    async fn close_to_strangers(&self, league: &LeagueId) {
        let Some(stub) = self.leagues.find(league) else { return };
        let admission = stub.published().league.admission().clone();
        if self.referees == RefereeAdmission::KeyOrApproval && admission.referees != self.referees {
            let closed = Admission { referees: self.referees, ..admission };
            // Its writer reports for itself if it cannot write.
            drop(stub.ask(Command::SetAdmission(Box::new(closed)), None).await);
        }
    }

    async fn reopen(&self, league: &LeagueId) -> Result<Books, OpenError> {
        let check = self.keys.check_value();
        let books = Books::replay(self.journal.clone(), league, check).await?;
        books.ok_or_else(|| OpenError::NotALeague(league.clone()))
    }

    /// Puts a league on the list with a new writer.
    fn host(&self, league: &LeagueId, books: Books) -> Actor {
        let connect_timeout: Duration = books.league().policy().http_timeout();
        let caller = Caller::within(self.targets.clone(), MANAGER_AGENT, connect_timeout);
        let exchange = Exchange::new(caller);
        let (keys, news, id) = (self.keys.clone(), self.news.clone(), league.clone());
        // The league's state has it too; a bell that nobody hears in time need not ring later.
        let bell = move |alarm| drop(news.try_send(ServeNews::Alarm(id.clone(), alarm)));
        let reading = self.reading;
        let outbound = |stub: Stub| {
            stub.relay_at(&self.reached_at);
            Outbound::new(stub, keys, exchange).reading(reading).alarming(bell)
        };
        let (stub, actor) = Actor::new(books, outbound);
        self.leagues.host(league.clone(), stub);
        actor
    }

    /// Keeps a league written. A writer whose journal fails is replaced by one that starts from
    /// what the journal has.
    async fn keep(&self, league: LeagueId, mut actor: Actor, mut stop: watch::Receiver<bool>) {
        while let Err(error) = self.run(actor, stop.clone()).await {
            let mut told = error.to_string();
            self.report(ServeNews::Failed(league.clone(), error.into()));
            let books = loop {
                tokio::select! {
                    biased;
                    _ = stop.wait_for(|stopped| *stopped) => return,
                    () = tokio::time::sleep(REOPEN_PAUSE) => {}
                }
                match self.mend(&league).await {
                    Ok(books) => break books,
                    Err(error) if error.to_string() == told => {}
                    Err(error) => {
                        told = error.to_string();
                        self.report(ServeNews::Failed(league.clone(), error));
                    }
                }
            };
            actor = self.host(&league, books);
            self.report(ServeNews::Mended(league.clone()));
        }
    }

    /// Runs a writer until it fails, or until what it writes would be nowhere.
    async fn run(&self, actor: Actor, mut stop: watch::Receiver<bool>) -> Result<(), JournalError> {
        let (halt, halted) = watch::channel(false);
        let mut in_place = self.in_place.subscribe();
        let mut running = std::pin::pin!(actor.run(halted));
        let is_replaced = tokio::select! {
            biased;
            outcome = &mut running => return outcome,
            _ = stop.wait_for(|stopped| *stopped) => false,
            _ = in_place.wait_for(|in_place| !*in_place) => true,
        };
        halt.send_replace(true);
        running.await?;
        if is_replaced { Err(JournalError::Unavailable(Outage::Replaced)) } else { Ok(()) }
    }

    /// Opens the books of a league again, if they can be written.
    async fn mend(&self, league: &LeagueId) -> Result<Books, OpenError> {
        if !*self.in_place.borrow() {
            return Err(JournalError::Unavailable(Outage::Replaced).into());
        }
        let (data, of) = (self.data.clone(), league.clone());
        let room = tokio::task::spawn_blocking(move || disk::has_room(&data, &of)).await;
        guard::outcome(room).unwrap_or(Ok(())).map_err(JournalError::Unavailable)?;
        self.reopen(league).await
    }

    /// Looks now and then whether the database is still the one that was opened.
    async fn look_after(
        self: Arc<Self>,
        file: PathBuf,
        opened: Identity,
        mut stop: watch::Receiver<bool>,
    ) {
        loop {
            tokio::select! {
                biased;
                _ = stop.wait_for(|stopped| *stopped) => return,
                () = tokio::time::sleep(FILE_LOOK_PAUSE) => {}
            }
            let path = file.clone();
            let found = tokio::task::spawn_blocking(move || Identity::of(&path)).await;
            let found = guard::outcome(found).and_then(Result::ok);
            self.in_place.send_if_modified(|in_place| {
                std::mem::replace(in_place, found == Some(opened)) != (found == Some(opened))
            });
        }
    }

    fn report(&self, news: ServeNews) {
        // News that nobody reads in time are not worth a queue.
        let _unheard = self.news.try_send(news);
    }

    fn hosted(
        &self,
        league: &LeagueId,
        books: &Books,
        goes_on: bool,
    ) -> Result<Hosted, SecretError> {
        let join_key = self.keep_join_key(league)?;
        let players = &books.league().admission().players;
        let needs_code = matches!(players, PlayerAdmission::Codes(_));
        let is_over = matches!(books.league().phase(), Phase::Completed { .. });
        Ok(Hosted { league: league.clone(), join_key, needs_code, goes_on, is_over })
    }

    fn keep_join_key(&self, league: &LeagueId) -> Result<PathBuf, SecretError> {
        join::keep(Path::new(&self.data), league, &self.keys.join_key(league))
    }
}
