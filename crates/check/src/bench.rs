//! What a case works with: the agent under test, a line to it, and the transcript.

use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use league_agent::address::Address;
use league_agent::ambient;
use league_agent::exchange::new_conversation;
use league_agent::guard::lock;
use league_core::id::{AgentId, ConversationId, MatchId, PlayerId, RoundId};
use league_wire::dialect::encode_request;
use league_wire::{AuthToken, Dialect, Envelope, Letter, Message, Sender};
use tokio::sync::{OnceCell, watch};
use tokio::task::JoinSet;

use crate::agent::Started;
use crate::answer::Asked;
use crate::case::Role;
use crate::draft::Draft;
use crate::http::{Got, Line, Trouble, post_head};
use crate::limits::{SETTLE_TIME, START_TIME};
use crate::manager::{Door, League, Leaving, Lounge};
use crate::stage::{Identity, Registered, Stage};
use crate::transcript::Transcript;
use crate::verdict::Halt;

/// The agent under test, and what is known of it. All cases of a run share it.
#[derive(Debug)]
pub struct Subject {
    /// What it is.
    pub role: Role,
    /// Where it is called.
    pub address: Address,
    /// How it is spoken to.
    pub dialect: Dialect,
    /// The stand-in for its manager.
    pub stage: Arc<Stage>,
    /// The agent's process, if the checker started it.
    pub agent: Option<Started>,
    /// How it registered, if it did so with the stage.
    pub registered: Option<Registered>,
    /// What lets the checker into a manager.
    pub door: Door,
    /// The league of a manager in which cases meet that disturb nobody.
    pub(crate) lobby: OnceCell<League>,
    /// The checker's agents in it whose cases are over.
    pub(crate) lounge: Lounge,
    /// Managers that were started and are about to end.
    pub(crate) leaving: Leaving,
    /// Whether it does what everything else builds on; found out once.
    pub founded: OnceCell<bool>,
    identity: watch::Sender<Identity>,
    ids: AtomicU64,
    rounds: AtomicU32,
    starts: AtomicUsize,
    kept: Mutex<Vec<Kept>>,
}

/// Something that goes on until the run is over.
type Kept = (watch::Sender<bool>, JoinSet<()>);

impl Subject {
    /// An agent of the kind `role` at `address`.
    pub fn new(
        role: Role,
        address: Address,
        dialect: Dialect,
        stage: Arc<Stage>,
        identity: Identity,
    ) -> Self {
        Self {
            role,
            address,
            dialect,
            stage,
            agent: None,
            registered: None,
            door: Door::default(),
            lobby: OnceCell::new(),
            lounge: Lounge::default(),
            leaving: Leaving::default(),
            founded: OnceCell::new(),
            identity: watch::Sender::new(identity),
            ids: AtomicU64::new(1),
            rounds: AtomicU32::new(1),
            starts: AtomicUsize::new(1),
            kept: Mutex::default(),
        }
    }

    /// Keeps tasks, and what would stop them, until the run is over.
    pub fn keep(&self, stop: watch::Sender<bool>, tasks: JoinSet<()>) {
        lock(&self.kept).push((stop, tasks));
    }

    /// How often it was started.
    pub fn starts(&self) -> usize {
        self.starts.load(Ordering::Relaxed)
    }
}

/// What one case works with.
#[derive(Debug)]
pub struct Bench {
    /// The agent under test.
    pub subject: Arc<Subject>,
    /// What went over the line.
    pub transcript: Transcript,
}

impl Bench {
    /// A bench with an empty transcript.
    pub fn new(subject: Arc<Subject>) -> Self {
        Self { subject, transcript: Transcript::default() }
    }

    /// How the agent is spoken to.
    pub fn dialect(&self) -> Dialect {
        self.subject.dialect
    }

    /// Who the agent is.
    pub fn me(&self) -> Identity {
        self.subject.identity.borrow().clone()
    }

    /// The player under test.
    ///
    /// # Errors
    /// If it is none, which is a fault of the checker.
    pub fn player(&self) -> Result<PlayerId, Halt> {
        match self.me().id {
            AgentId::Player(id) => Ok(id),
            AgentId::Referee(_) => Err(Halt::Ours("a case for players met a referee".into())),
        }
    }

    /// A number that no request of this run has had.
    pub fn next_id(&self) -> u64 {
        self.subject.ids.fetch_add(1, Ordering::Relaxed)
    }

    /// A match that no case of this run has had.
    pub fn next_match(&self) -> MatchId {
        MatchId::new(RoundId::new(self.subject.rounds.fetch_add(1, Ordering::Relaxed)), 1)
    }

    /// Notes a remark in the transcript.
    pub fn note(&self, text: impl Into<String>) {
        self.transcript.note(text);
    }

    /// A letter from `sender` with the proof `token`.
    pub fn letter(
        &self,
        sender: Sender,
        conversation: ConversationId,
        token: Option<&str>,
        message: Message,
    ) -> Letter {
        let envelope = Envelope {
            sender,
            timestamp: ambient::now(),
            conversation,
            token: token.map(AuthToken::new),
            league_id: Some(self.me().league),
        };
        Letter { envelope, message }
    }

    /// A letter from the agent's manager, which proves itself with the agent's own token.
    pub fn from_manager(&self, message: Message) -> Letter {
        let token = self.me().token;
        let token = token.as_ref().map(|token| token.expose().to_string());
        self.letter(Sender::MANAGER, new_conversation("check"), token.as_deref(), message)
    }

    /// A letter of the agent under test, as it should be.
    pub fn from_agent(&self, message: Message) -> Letter {
        let me = self.me();
        let sender = match me.id {
            AgentId::Player(id) => Sender::Player(id.to_string().into()),
            AgentId::Referee(id) => Sender::Referee(id.to_string().into()),
        };
        let token = me.token.as_ref().map(|token| token.expose().to_string());
        self.letter(sender, new_conversation("check"), token.as_deref(), message)
    }

    /// Posts a body to `/mcp`, on a connection of its own.
    ///
    /// # Errors
    /// If there is no answer within `limit`.
    pub async fn post(&self, body: &[u8], limit: Duration) -> Result<Got, Trouble> {
        let address = &self.subject.address;
        let headers = [USER_AGENT, "Content-Type: application/json", ACCEPT, "Connection: close"];
        let mut request = post_head(address, body.len(), &headers);
        request.extend_from_slice(body);
        let mut line = self.line().await?;
        // A server may answer and close before it has read everything; that is no failure yet.
        let sent = line.send(&request).await;
        let received = line.receive(limit).await;
        match (sent, received) {
            (_, Ok(got)) => Ok(got),
            (Err(trouble), Err(_)) | (Ok(()), Err(trouble)) => Err(trouble),
        }
    }

    /// A connection to the agent, for cases that send something else than whole requests.
    ///
    /// # Errors
    /// If there is none.
    pub async fn line(&self) -> Result<Line, Trouble> {
        Line::open(&self.subject.address, self.transcript.clone()).await
    }

    /// Gets a page of the agent.
    ///
    /// # Errors
    /// If there is no answer within `limit`.
    pub async fn get(&self, path: &str, limit: Duration) -> Result<Got, Trouble> {
        let (host, port) = (self.subject.address.host(), self.subject.address.port());
        let head = format!(
            "GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\n{USER_AGENT}\r\nConnection: close\r\n\r\n"
        );
        let mut line = self.line().await?;
        line.send(head.as_bytes()).await?;
        line.receive(limit).await
    }

    /// Sends a letter in the agent's dialect and waits for what comes.
    pub async fn ask(&self, letter: &Letter, limit: Duration) -> Asked {
        self.ask_in(self.dialect(), letter, limit).await
    }

    /// The same in another dialect.
    pub async fn ask_in(&self, dialect: Dialect, letter: &Letter, limit: Duration) -> Asked {
        let body = Bytes::from(encode_request(dialect, self.next_id(), letter));
        let got = self.post(&body, limit).await;
        Asked { dialect, request: body, got }
    }

    /// The same for a request that is ready.
    pub async fn ask_bytes(&self, body: Bytes, limit: Duration) -> Asked {
        let got = self.post(&body, limit).await;
        Asked { dialect: self.dialect(), request: body, got }
    }

    /// The request that brings `letter`, to be changed before it is sent.
    pub fn draft(&self, letter: &Letter) -> Draft {
        Draft::of(self.dialect(), self.next_id(), letter)
    }

    /// How the agent registered with the stage.
    ///
    /// # Errors
    /// Skips if it did not.
    pub fn registered(&self) -> Result<&Registered, Halt> {
        self.subject.registered.as_ref().ok_or_else(|| {
            Halt::skip("it did not register with the checker: use --start or --listen")
        })
    }

    /// Ends the agent and starts it again; comes back when it has registered again.
    ///
    /// # Errors
    /// Skips if the checker did not start it; fails if it does not come back.
    pub async fn restart(&self) -> Result<Registered, Halt> {
        let Some(agent) = &self.subject.agent else {
            return Err(Halt::skip("the checker cannot restart it: use --start 'COMMAND'"));
        };
        let mut registered = self.subject.stage.registered();
        let before = registered.borrow_and_update().len();
        self.note("the agent is killed and started again");
        agent.kill().await;
        self.subject.starts.fetch_add(1, Ordering::Relaxed);
        agent.start().await.map_err(|error| Halt::Ours(error.to_string()))?;
        let again = registered.wait_for(|all| all.len() > before);
        let again = tokio::select! {
            again = tokio::time::timeout(START_TIME, again) => again,
            true = agent.ended_within(START_TIME) => {
                let words = agent.words();
                let last = words.lines().next_back().unwrap_or("nothing");
                return Err(Halt::fail(
                    format!("after a restart it ended at once; the last it said: {last}"),
                    "start as if nothing had happened, whatever the last run left behind",
                ));
            }
        };
        let again = again.ok().and_then(Result::ok).and_then(|all| all.last().cloned());
        let Some(again) = again else {
            let sentence = format!(
                "after a restart it did not register again within {} s",
                START_TIME.as_secs()
            );
            return Err(Halt::fail(sentence, "register every time the agent starts"));
        };
        self.subject.identity.send_replace(again.identity.clone());
        tokio::time::sleep(SETTLE_TIME).await;
        self.note(format!("registered again as {}", again.identity.id));
        Ok(again)
    }
}

const USER_AGENT: &str = concat!("User-Agent: referee/", env!("CARGO_PKG_VERSION"));
const ACCEPT: &str = "Accept: application/json, text/event-stream";
