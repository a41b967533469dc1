//! What arrives at the manager: who sent it, what it means, and which league it is for.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use league_agent::ambient;
use league_agent::component::Component;
use league_agent::desk::{self, Desk, Deviated, Signed, Witness, refusal, shown_token};
use league_agent::endpoint::{Answer, Asked, Posted, Service};
use league_agent::guard::lock;
use league_agent::log::Level;
use league_agent::targets::Targets;
use league_agent::vitals::Vitals;
use league_core::id::{AgentId, LeagueId, RefereeId};
use league_core::manager::{Application, Command, League, Reply};
use league_core::proof::{Keys, Token};
use league_core::roster::{AgentState, Reason};
use league_wire::lenient::Reading;
use league_wire::message::{ErrorReport, LeagueQuery, Meta, Pong, RegisterResponse};
use league_wire::{
    AuthToken, Code, Dialect, Envelope, JoinCode, Letter, Message, MessageType, Sender,
};

use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;

use super::applicant::{Applicant, check_reach, host, nonce_of, profile};
use super::fault::report;
use super::figures::Figures;
use super::gate::{Gate, Rates, Visitor, origin};
use super::leagues::{Leagues, Newcomer};
use super::view::Reader;
use super::witness::Epilogues;
use super::{Archive, Stub, admin, archive, gauges, query, rehearsal, relay, view, witness, words};
use crate::limits::{LIST_WHOLE_MAX, RECORD_READERS_MAX};
use crate::practice::Coach;

/// The manager behind an endpoint: every league it hosts.
pub struct Manager {
    pub(super) keys: Keys,
    admin: Token,
    leagues: Arc<Leagues>,
    vitals: Vitals,
    gate: Gate,
    targets: Targets,
    /// The nonces of tokens that were shown, since this process began.
    seen: Mutex<BTreeSet<[u8; 32]>>,
    pub(super) figures: Figures,
    pub(super) epilogues: Epilogues,
    pub(super) reading: Reading,
    archive: Option<Archive>,
    readers: Semaphore,
    /// Who has players practise, if anybody does.
    coach: Option<Coach>,
}

impl std::fmt::Debug for Manager {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Manager").field("leagues", &self.leagues).finish_non_exhaustive()
    }
}

pub(super) type Answered = Result<Signed, Box<ErrorReport>>;

impl Manager {
    /// A manager of `leagues`, which obeys whoever shows the `admin` token.
    pub fn new(keys: Keys, admin: Token, leagues: BTreeMap<LeagueId, Stub>) -> Self {
        Self::hosting(keys, admin, Arc::new(Leagues::fixed(leagues)))
    }

    /// A manager of `leagues`, of which there may be more later.
    pub fn hosting(keys: Keys, admin: Token, leagues: Arc<Leagues>) -> Self {
        let (vitals, seen) = (Vitals::default(), Mutex::default());
        let gate = Gate::new(Rates::default());
        let (targets, figures) = (Targets::everywhere(), Figures::default());
        let epilogues = Epilogues::default();
        let reading = Reading::Strict;
        let (archive, coach) = (None, None);
        let readers = Semaphore::new(RECORD_READERS_MAX);
        Self {
            keys,
            admin,
            leagues,
            vitals,
            gate,
            targets,
            seen,
            figures,
            epilogues,
            reading,
            archive,
            readers,
            coach,
        }
    }

    /// The same manager, at which players practise with `coach` until their league starts.
    #[must_use]
    pub fn practising(self, coach: Coach) -> Self {
        Self { coach: Some(coach), ..self }
    }

    pub(super) const fn coach(&self) -> Option<&Coach> {
        self.coach.as_ref()
    }

    pub(super) fn is_lenient(&self) -> bool {
        self.reading.is_lenient()
    }

    /// The same manager, which tells from `archive` what was said in matches that are over.
    #[must_use]
    pub fn recalling(self, archive: Archive) -> Self {
        Self { archive: Some(archive), ..self }
    }

    pub(super) fn archive(&self) -> Option<Archive> {
        self.archive.clone()
    }

    /// Places for those who read the record.
    pub(super) const fn readers(&self) -> &Semaphore {
        &self.readers
    }

    /// The same manager, which may be asked as often as `rates` say.
    #[must_use]
    pub fn at(self, rates: Rates) -> Self {
        Self { gate: Gate::new(rates), ..self }
    }

    /// The same manager, which takes only agents that `targets` allow to be called.
    #[must_use]
    pub fn calling(self, targets: Targets) -> Self {
        Self { targets, ..self }
    }

    pub(super) const fn targets(&self) -> &Targets {
        &self.targets
    }

    pub(super) const fn gate(&self) -> &Gate {
        &self.gate
    }

    /// Notes that a token was shown.
    pub(super) fn saw(&self, nonce: [u8; 32]) {
        lock(&self.seen).insert(nonce);
    }

    /// The same manager, which reads as much into what it is sent as `reading` says.
    #[must_use]
    pub fn reading(self, reading: Reading) -> Self {
        Self { reading, ..self }
    }

    pub(super) const fn keys(&self) -> &Keys {
        &self.keys
    }

    /// The token that is made from `nonce`.
    pub(super) fn token(&self, stub: &Stub, agent: AgentId, nonce: &[u8; 32]) -> Token {
        self.token_of(&stub.published().league, agent, nonce)
    }

    fn token_of(&self, league: &League, agent: AgentId, nonce: &[u8; 32]) -> Token {
        self.keys.token(league.policy().token_form(), league.id(), agent, nonce)
    }

    pub(super) fn leagues(&self) -> &Leagues {
        &self.leagues
    }

    pub(super) fn is_administrator(&self, shown: &str) -> bool {
        self.admin.matches(shown)
    }

    /// The league that a letter is for.
    pub(super) fn league(&self, envelope: &Envelope) -> Result<Stub, Box<ErrorReport>> {
        self.concerned(envelope).ok_or_else(|| self.no_such_league())
    }

    fn home(&self, envelope: &Envelope) -> Option<Stub> {
        let mut all = self.leagues.all().into_iter();
        let is_home = |stub: &Stub| self.prove(&stub.published().league, envelope).is_ok();
        all.find(|(_, stub)| is_home(stub)).map(|(_, stub)| stub)
    }

    /// The league that a newcomer joins.
    pub(super) fn league_to_join(
        &self,
        envelope: &Envelope,
        who: Newcomer,
    ) -> Result<Stub, Box<ErrorReport>> {
        match &envelope.league_id {
            Some(id) => self.leagues.find(id).ok_or_else(|| self.no_such_league()),
            None => self.leagues.to_join(who).map_err(|open| {
                let text = match names(&open) {
                    names if names.is_empty() => "no league is open here".to_string(),
                    names => format!("name the league to join, league_id is one of: {names}"),
                };
                refusal(Code::E014, &text)
            }),
        }
    }

    pub(super) fn no_such_league(&self) -> Box<ErrorReport> {
        let known: Vec<_> = self.leagues.all().into_iter().map(|(id, _)| id).collect();
        let text = match names(&known) {
            names if names.is_empty() => "there is no league here yet".to_string(),
            names => format!("there is no such league here; there are: {names}"),
        };
        refusal(Code::E014, &text)
    }

    async fn register_player(&self, caller: &Applicant<'_>, meta: Meta) -> Answered {
        let outcome = match caller.envelope.sender {
            Sender::Player(_) => {
                let register =
                    |_: &Stub, application| Ok(Command::RegisterPlayer(Box::new(application)));
                self.registration(caller, (meta, Newcomer::Player), register).await
            }
            Sender::Referee(_) | Sender::LeagueManager(_) | Sender::Administrator => {
                Err(refusal(Code::E003, "sender: a player registers as `player:<id>`"))
            }
        };
        let (response, league) = match outcome {
            Ok((AgentId::Player(id), token, league)) => {
                (RegisterResponse::Accepted { id, token, note: None }, Some(league))
            }
            Ok((AgentId::Referee(_), ..)) => unreachable!("a player was registered"),
            Err(report) => (RegisterResponse::Rejected(report), None),
        };
        Ok(Signed { league, ..Message::LeagueRegisterResponse(response).into() })
    }

    async fn registration(
        &self,
        caller: &Applicant<'_>,
        (meta, who): (Meta, Newcomer),
        register: impl FnOnce(&Stub, Application) -> Result<Command, Box<ErrorReport>>,
    ) -> Result<(AgentId, AuthToken, LeagueId), Box<ErrorReport>> {
        let stub = self.league_to_join(caller.envelope, who)?;
        let join_code = meta.join.as_ref().map(|code| Sha256::digest(code.reveal()).into());
        self.check_pull(&stub, &meta, who)?;
        let profile = profile(meta, caller.dialect, caller.peer)?;
        check_reach(&self.targets, &profile.endpoint, caller.peer)?;
        let known = self.returning(&stub, caller.envelope, &profile.endpoint).await?;
        let conversation = caller.envelope.conversation.clone();
        let application = Application::new(profile, host(caller.peer), conversation);
        let again = stub.published().league.registered_as(&application);
        let token_used = again.is_some_and(|agent| self.is_token_used(&stub, agent));
        let application = Application { join_code, known, token_used, ..application };
        let command = register(&stub, application)?;
        match stub.ask(command, None).await {
            Ok(Reply::Registered { agent, nonce }) => {
                let published = stub.published();
                let league = &published.league;
                let token = self.token_of(league, agent, &nonce);
                stub.mailboxes().ready(league, agent, &token);
                self.figures.clock(league, agent, caller.envelope.timestamp);
                Ok((agent, AuthToken::new(token.expose()), league.id().clone()))
            }
            Ok(_) => unreachable!("a registration is answered with an identifier"),
            Err(error) => Err(report(&error)),
        }
    }

    async fn register_referee(&self, caller: &Applicant<'_>, meta: Meta) -> Answered {
        let capacity = meta.max_concurrent_matches.unwrap_or(1);
        let shown = meta.join.clone();
        let outcome = match caller.envelope.sender {
            Sender::Referee(_) if capacity == 0 => {
                let text = "max_concurrent_matches: a referee runs at least one match at a time";
                Err(refusal(Code::E003, text))
            }
            Sender::Referee(_) => {
                let register = |stub: &Stub, application| {
                    let operated = self.is_operated(stub, shown.as_ref())?;
                    let application = Box::new(application);
                    Ok(Command::RegisterReferee { application, capacity, operated })
                };
                self.registration(caller, (meta, Newcomer::Referee), register).await
            }
            Sender::Player(_) | Sender::LeagueManager(_) | Sender::Administrator => {
                Err(refusal(Code::E003, "sender: a referee registers as `referee:<id>`"))
            }
        };
        let (response, league) = match outcome {
            Ok((AgentId::Referee(id), token, league)) => {
                let note = self.note_to(&league, AgentId::Referee(id));
                (RegisterResponse::Accepted { id, token, note }, Some(league))
            }
            Ok((AgentId::Player(_), ..)) => unreachable!("a referee was registered"),
            Err(report) => (RegisterResponse::Rejected(report), None),
        };
        Ok(Signed { league, ..Message::RefereeRegisterResponse(response).into() })
    }

    /// What a referee is told that gets no matches yet.
    fn note_to(&self, league: &LeagueId, referee: AgentId) -> Option<String> {
        let stub = self.leagues.find(league)?;
        let waits = words::waits_for_approval(&stub.published().league, referee);
        waits.then(|| {
            format!(
                "there are no matches for {referee} before the administrator approves it \
                 (`league approve {referee}`); with the league's join key it needs no approval"
            )
        })
    }

    /// Whether an agent has shown its token since it registered.
    fn is_token_used(&self, stub: &Stub, agent: AgentId) -> bool {
        let nonce = nonce_of(&stub.published().league, agent);
        nonce.is_some_and(|nonce| lock(&self.seen).contains(&nonce))
    }

    /// Whether a referee has shown that it is the operator's own. A wrong key is refused, so that
    /// a mistyped one is noticed.
    fn is_operated(&self, stub: &Stub, shown: Option<&JoinCode>) -> Result<bool, Box<ErrorReport>> {
        let Some(shown) = shown else { return Ok(false) };
        if self.keys.join_key(stub.published().league.id()).matches(shown.reveal()) {
            return Ok(true);
        }
        Err(refusal(Code::E012, "the join key is not that of this league"))
    }

    async fn start(&self, envelope: &Envelope) -> Answered {
        let shown = shown_token(envelope)?.reveal();
        if envelope.sender != Sender::Administrator || !self.admin.matches(shown) {
            return Err(refusal(Code::E012, "only the administrator starts a league"));
        }
        let stub = self.league(envelope)?;
        let outcome = stub.ask(Command::Start, None).await;
        outcome.map_err(|error| report(&error))?;
        Ok(acknowledgement(MessageType::StartLeague))
    }

    fn query(&self, envelope: &Envelope, query: &LeagueQuery) -> Answered {
        let stub = self.league(envelope)?;
        let asker = self.member(&stub, envelope, Deed::Ask)?;
        let answer = query::answer(&stub.published().league, &self.figures, Some(asker), query)?;
        Ok(Message::LeagueQueryResponse(answer).into())
    }

    pub(super) fn referee(
        &self,
        stub: &Stub,
        envelope: &Envelope,
    ) -> Result<RefereeId, Box<ErrorReport>> {
        match self.member(stub, envelope, Deed::Officiate)? {
            AgentId::Referee(referee) => Ok(referee),
            AgentId::Player(_) => Err(refusal(Code::E012, "only a referee may send this")),
        }
    }

    /// The agent that sent this, if it may do such a thing in the state it is in.
    fn member(
        &self,
        stub: &Stub,
        envelope: &Envelope,
        deed: Deed,
    ) -> Result<AgentId, Box<ErrorReport>> {
        let agent = self.authenticate(stub, envelope)?;
        let published = stub.published();
        let state = published.league.lifecycle(agent).map(|lifecycle| *lifecycle.state());
        match (state, deed) {
            // After the end everybody may look, and a report that is in the books is acknowledged.
            (Some(AgentState::Shutdown { cause: Reason::LeagueEnded, .. }), _) => Ok(agent),
            (Some(AgentState::Shutdown { cause, .. }), Deed::Ask | Deed::Officiate) => {
                let text = format!("{agent} is shut down ({cause}): its token no longer works");
                Err(refusal(Code::E012, &text))
            }
            (Some(AgentState::Suspended { cause, .. }), Deed::Officiate) => {
                let text = format!("{agent} is suspended ({cause}) and may only ask and come back");
                Err(refusal(Code::E033, &text))
            }
            (Some(AgentState::Suspended { .. }), Deed::Ask)
            | (Some(AgentState::Init | AgentState::Registered | AgentState::Active) | None, _) => {
                Ok(agent)
            }
        }
    }

    /// The agent that the sender claims to be, if its token says so too.
    pub(super) fn authenticate(
        &self,
        stub: &Stub,
        envelope: &Envelope,
    ) -> Result<AgentId, Box<ErrorReport>> {
        let published = stub.published();
        let (agent, nonce) = self.prove(&published.league, envelope)?;
        self.figures.clock(&published.league, agent, envelope.timestamp);
        drop(published);
        self.saw(nonce);
        Ok(agent)
    }

    /// The agent that the sender claims to be, with the nonce of its token, if the token is shown.
    pub(super) fn prove(
        &self,
        league: &League,
        envelope: &Envelope,
    ) -> Result<(AgentId, [u8; 32]), Box<ErrorReport>> {
        let unknown = || {
            let text = "the sender is not registered in this league; whoever shows a token writes \
                        its own id there, such as player:P01";
            refusal(Code::E005, text)
        };
        let agent = envelope.sender.agent().ok_or_else(unknown)?;
        let shown = shown_token(envelope)?.reveal();
        let nonce = nonce_of(league, agent).ok_or_else(unknown)?;
        if self.token_of(league, agent, &nonce).matches(shown) {
            return Ok((agent, nonce));
        }
        let former = league.hold(agent).and_then(|hold| hold.former);
        if former.is_some_and(|former| self.token_of(league, agent, &former).matches(shown)) {
            let text = format!(
                "this token of {agent} was replaced and no longer works; ask the administrator of \
                 the league for the new one"
            );
            return Err(refusal(Code::E012, &text));
        }
        Err(refusal(Code::E012, "auth_token is not the token of the sender"))
    }

    /// The league that a letter concerns, as far as it lets that be known. One that names none is
    /// for the only league, or for the one whose token it shows.
    pub(super) fn concerned(&self, envelope: &Envelope) -> Option<Stub> {
        match &envelope.league_id {
            Some(id) => self.leagues.find(id),
            None => self.leagues.only().or_else(|| self.home(envelope)),
        }
    }

    /// By whom a part of a call is counted.
    fn visitor(&self, peer: SocketAddr, letter: Option<&Letter>) -> Visitor {
        let stranger = Visitor::Stranger(origin(peer));
        let Some(Letter { envelope, message }) = letter else { return stranger };
        if Newcomer::of(message).is_some() {
            return Visitor::Newcomer(origin(peer));
        }
        let Some(shown) = &envelope.token else { return stranger };
        if envelope.sender == Sender::Administrator {
            let is_known = self.admin.matches(shown.reveal());
            return if is_known { Visitor::Administrator } else { stranger };
        }
        let proved =
            self.concerned(envelope).map(|stub| self.prove(&stub.published().league, envelope));
        proved.and_then(Result::ok).map_or(stranger, |(_, nonce)| Visitor::Agent(nonce))
    }
}

impl Desk for Manager {
    #[expect(clippy::wildcard_enum_match_arm, reason = "what is not for managers is refused")]
    async fn receive(&self, letter: Letter, dialect: Dialect, peer: SocketAddr) -> Answered {
        let Letter { envelope, message } = letter;
        let caller = Applicant { envelope: &envelope, dialect, peer };
        match message {
            Message::LeagueRegisterRequest(request) => {
                self.register_player(&caller, request.meta).await
            }
            Message::RefereeRegisterRequest(request) => {
                self.register_referee(&caller, request.meta).await
            }
            Message::StartLeague(_) => self.start(&envelope).await,
            Message::MatchResultReport(report) => self.record(&envelope, report).await,
            Message::MatchProgress(progress) => self.progress(&envelope, progress).await,
            Message::GetAssignedMatches(ask) => self.assigned(&envelope, ask).await,
            Message::LeagueQuery(query) => self.query(&envelope, &query),
            Message::Ping(_) => Ok(Message::Pong(Pong { state: None }).into()),
            _ => Err(refusal(Code::MethodNotFound, "the manager does not take this message")),
        }
    }

    fn admit(&self, peer: SocketAddr, letters: &[Option<&Letter>]) -> Result<(), Duration> {
        let parts: Vec<_> = letters.iter().map(|letter| self.visitor(peer, *letter)).collect();
        self.gate.admit(ambient::now(), &parts)
    }

    fn reading(&self) -> Reading {
        self.reading
    }

    fn deviated(&self, letter: &Deviated<'_>) {
        self.figures.deviated(&self.leagues, letter);
    }

    fn witness(&self, letter: &Letter, dialect: Dialect, body: &str) -> Option<Witness> {
        witness::of(self, letter, dialect, body)
    }

    fn sender(&self) -> Sender {
        Sender::LeagueManager(None)
    }

    fn error(&self, report: ErrorReport) -> Message {
        Message::LeagueError(report)
    }
}

impl Service for Manager {
    async fn mcp(&self, body: Bytes, peer: SocketAddr) -> Answer {
        desk::answer(self, &body, peer).await
    }

    fn page(&self, path: &str) -> Option<Answer> {
        if path == "/metrics" {
            return Some(Answer::metrics(gauges::page(&self.leagues)));
        }
        let ready = self.leagues.are_ready();
        let ready = ready.as_ref().copied().map_err(String::as_str);
        let vitals = self.vitals.page(path, "league_manager", ready);
        vitals.or_else(|| view::page(&self.leagues, &self.figures, path, Reader::Anybody))
    }

    fn page_for(&self, path: &str, bearer: &str) -> Option<Answer> {
        if !path.starts_with("/api/v1/leagues") {
            return self.page(path);
        }
        // Who shows a token wants to see more than anybody may; of another manager's it may be.
        if let Err(no) = admin::authorize(self, Some(bearer), Level::Warning) {
            return Some(no.answer());
        }
        view::page(&self.leagues, &self.figures, path, Reader::Administrator)
    }

    fn component(&self) -> Component {
        Component::Manager
    }

    async fn get(&self, asked: Asked<'_>) -> Option<Answer> {
        relay::fetch(self, asked).await
    }

    async fn post(&self, posted: Posted<'_>) -> Option<Answer> {
        if posted.path == "/register" {
            return Some(desk::answer_plain(self, &posted.body, posted.peer).await);
        }
        if posted.path.starts_with("/api/v1/admin/") {
            return admin::answer(self, posted).await;
        }
        if let Some(answer) = rehearsal::answer(self, &posted).await {
            return Some(answer);
        }
        match archive::answer(self, &posted).await {
            Some(answer) => Some(answer),
            None => relay::post(self, posted).await,
        }
    }
}

fn names(leagues: &[LeagueId]) -> String {
    let names: Vec<_> = leagues.iter().map(LeagueId::as_str).take(LIST_WHOLE_MAX).collect();
    names.join(", ")
}

/// What an agent does with its token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deed {
    /// It wants to know something.
    Ask,
    /// It says how a match goes or went.
    Officiate,
}

fn acknowledgement(of: MessageType) -> Signed {
    Message::Ack(league_wire::message::Ack { of: Some(of) }).into()
}
