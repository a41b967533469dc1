//! The stage: a stand-in for the manager, at which the agent under test may register. It gives out
//! ids and tokens as a manager does, so that its proofs are genuine, and keeps what came.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use hyper::http::request::Parts;
use league_agent::ambient::{self, OsDice};
use league_agent::desk::{self, Desk, Signed, Witness, refusal};
use league_agent::endpoint::{Answer, Service};
use league_agent::guard::lock;
use league_core::dice::Dice;
use league_core::id::{AgentId, LeagueId, MatchId, PlayerId, RefereeId};
use league_core::policy::TokenForm;
use league_core::proof::{Keys, Secret, Token};
use league_core::time::Timestamp;
use league_wire::lenient::Reading;
use league_wire::message::{Ack, AssignedMatches, ErrorReport, Meta, Pong, RegisterResponse};
use league_wire::{AuthToken, Code, Dialect, Letter, Message, Sender};
use tokio::sync::watch;

use crate::limits::CALLS_MAX;
use crate::transcript::{Transcript, Way};

/// Who the agent under test is.
#[derive(Debug, Clone)]
pub struct Identity {
    /// Its id.
    pub id: AgentId,
    /// Its league.
    pub league: LeagueId,
    /// Its token, if it is known.
    pub token: Option<Token>,
}

/// A call as it came.
#[derive(Debug, Clone)]
pub struct Call {
    /// When.
    pub at: Timestamp,
    /// The names, in lower case, and values of the head.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Bytes,
}

impl Call {
    /// The value of a header, if there is one.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// A registration that was accepted.
#[derive(Debug, Clone)]
pub struct Registered {
    /// Who the agent is now.
    pub identity: Identity,
    /// What it said of itself.
    pub meta: Meta,
    /// The dialect in which it did.
    pub dialect: Dialect,
    /// Whether it showed the token of an earlier registration.
    pub came_back: bool,
    /// The call that brought it.
    pub call: Call,
}

/// Who hears what a referee says of one match.
pub trait Office: Send + Sync + std::fmt::Debug {
    /// Answers a letter about the match.
    fn receive<'a>(&'a self, letter: &'a Letter) -> Answering<'a>;

    /// Notes what a letter looked like, and its answer.
    fn saw(&self, body: &str, answer: &[u8]);
}

/// An answer of an office, in the making.
pub type Answering<'a> =
    Pin<Box<dyn Future<Output = Result<Message, Box<ErrorReport>>> + Send + 'a>>;

/// The stand-in for the manager.
#[derive(Debug)]
pub struct Stage {
    league: LeagueId,
    keys: Keys,
    address: String,
    registered: watch::Sender<Vec<Registered>>,
    calls: Mutex<Vec<Call>>,
    offices: Mutex<BTreeMap<MatchId, Arc<dyn Office>>>,
    /// Everything the stage hears and says.
    pub transcript: Transcript,
}

impl Stage {
    /// A stage that is called at `listening`.
    ///
    /// # Panics
    /// Never: its league has a name that a league may have.
    pub fn at(listening: SocketAddr) -> Self {
        Self {
            league: "check".parse().expect("five letters are a league id"),
            keys: Keys::derive(&Secret::roll(&mut OsDice)),
            address: format!("http://{listening}/mcp"),
            registered: watch::Sender::new(Vec::new()),
            calls: Mutex::default(),
            offices: Mutex::default(),
            transcript: Transcript::default(),
        }
    }

    /// Where the agent finds it.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The league that it stands for.
    pub const fn league(&self) -> &LeagueId {
        &self.league
    }

    /// A new token for `agent`, and nobody else's.
    pub fn token(&self, agent: AgentId) -> Token {
        let mut nonce = [0; 32];
        OsDice.fill(&mut nonce);
        self.keys.token(TokenForm::Long, &self.league, agent, &nonce)
    }

    /// Everybody who registered, in order; changes when somebody does.
    pub fn registered(&self) -> watch::Receiver<Vec<Registered>> {
        self.registered.subscribe()
    }

    /// Has `office` hear what is said of a match.
    pub fn open(&self, match_id: MatchId, office: Arc<dyn Office>) {
        lock(&self.offices).insert(match_id, office);
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "few messages are about one match")]
    fn office(&self, message: &Message) -> Option<Arc<dyn Office>> {
        let match_id = match message {
            Message::MatchResultReport(report) => report.match_id,
            Message::MatchProgress(progress) => progress.match_id,
            _ => return None,
        };
        lock(&self.offices).get(&match_id).cloned()
    }

    /// Every call that came, in order.
    pub fn calls(&self) -> Vec<Call> {
        lock(&self.calls).clone()
    }

    /// Takes a registration. Whoever shows its token is the same as before.
    fn register(
        &self,
        letter: &Letter,
        meta: &Meta,
        dialect: Dialect,
        is_player: bool,
    ) -> Identity {
        let shown = letter.envelope.token.as_ref().map(|token| token.reveal().to_string());
        let known = self.registered.borrow().iter().rev().find_map(|one| {
            let token = one.identity.token.as_ref()?;
            shown.as_deref().is_some_and(|shown| token.matches(shown)).then(|| one.identity.clone())
        });
        let came_back = known.is_some();
        let identity = known.unwrap_or_else(|| {
            let index = self.registered.borrow().len();
            let player = AgentId::Player(PlayerId::from_index(index));
            let referee = AgentId::Referee(RefereeId::from_index(index));
            let id = if is_player { player } else { referee };
            Identity { id, league: self.league.clone(), token: Some(self.token(id)) }
        });
        let call = lock(&self.calls).last().cloned();
        let call = call.expect("a letter is read from a call that was noted");
        let registered =
            Registered { identity: identity.clone(), meta: meta.clone(), dialect, came_back, call };
        self.registered.send_modify(|all| {
            if all.len() < CALLS_MAX {
                all.push(registered);
            }
        });
        identity
    }
}

fn accepted<Id>(id: Id, identity: &Identity) -> RegisterResponse<Id> {
    let token = identity.token.as_ref().map_or("", Token::expose);
    RegisterResponse::Accepted { id, token: AuthToken::new(token), note: None }
}

impl Desk for Stage {
    #[expect(clippy::wildcard_enum_match_arm, reason = "what the stage does not know it refuses")]
    async fn receive(
        &self,
        letter: Letter,
        dialect: Dialect,
        _peer: SocketAddr,
    ) -> Result<Signed, Box<ErrorReport>> {
        let message = match &letter.message {
            Message::LeagueRegisterRequest(request) => {
                let identity = self.register(&letter, &request.meta, dialect, true);
                let AgentId::Player(id) = identity.id else {
                    return Err(refusal(Code::E012, "this token is a referee's"));
                };
                Message::LeagueRegisterResponse(accepted(id, &identity))
            }
            Message::RefereeRegisterRequest(request) => {
                let identity = self.register(&letter, &request.meta, dialect, false);
                let AgentId::Referee(id) = identity.id else {
                    return Err(refusal(Code::E012, "this token is a player's"));
                };
                Message::RefereeRegisterResponse(accepted(id, &identity))
            }
            Message::MatchResultReport(_) | Message::MatchProgress(_) => {
                let office = self.office(&letter.message);
                let office = office.ok_or_else(|| refusal(Code::G003, "no such match"))?;
                office.receive(&letter).await?
            }
            Message::GetAssignedMatches(_) => {
                Message::AssignedMatches(AssignedMatches { assignments: vec![] })
            }
            Message::Ping(_) => Message::Pong(Pong { state: None }),
            Message::GameError(_) | Message::LeagueError(_) => Message::Ack(Ack { of: None }),
            _ => return Err(refusal(Code::E033, "the checker does not answer this")),
        };
        Ok(Signed { league: Some(self.league.clone()), ..message.into() })
    }

    fn witness(&self, letter: &Letter, _dialect: Dialect, body: &str) -> Option<Witness> {
        let (office, body) = (self.office(&letter.message)?, body.to_string());
        Some(Box::new(move |replied| office.saw(&body, replied.body)))
    }

    fn reading(&self) -> Reading {
        // What is wrong with a registration is told by cases; the others need it all the same.
        Reading::Lenient
    }

    fn sender(&self) -> Sender {
        Sender::MANAGER
    }

    fn error(&self, report: ErrorReport) -> Message {
        Message::LeagueError(report)
    }
}

impl Service for Stage {
    async fn mcp(&self, body: Bytes, peer: SocketAddr) -> Answer {
        desk::answer(self, &body, peer).await
    }

    async fn mcp_headed(&self, head: Parts, body: Bytes, peer: SocketAddr) -> Answer {
        let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
        let headers: Vec<(String, String)> =
            head.headers.iter().map(|(n, v)| (n.to_string(), text(v.as_bytes()))).collect();
        self.transcript.record(Way::Came, &body);
        let call = Call { at: ambient::now(), headers, body: body.clone() };
        {
            let mut calls = lock(&self.calls);
            if calls.len() < CALLS_MAX {
                calls.push(call);
            }
        }
        let answer = self.mcp(body, peer).await;
        self.transcript.record(Way::Sent, &answer.body);
        answer
    }

    fn page(&self, _path: &str) -> Option<Answer> {
        None
    }
}
