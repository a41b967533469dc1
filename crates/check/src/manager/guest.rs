//! The checker's own players and referees: each listens, answers whatever it is told, and keeps
//! what came.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use hyper::http::request::Parts;
use league_agent::endpoint::{Answer, Service, serve};
use league_agent::exchange::random_hex;
use league_agent::guard::lock;
use league_wire::{Dialect, MessageType};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::speech::{Speech, merge};
use crate::limits::{CALLS_MAX, GUESTS_MAX};
use crate::transcript::{Transcript, Way};
use crate::verdict::Halt;

/// What a guest is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Player,
    Referee,
}

/// Who the manager says a guest is.
#[derive(Debug, Clone)]
pub(super) struct Identity {
    pub(super) id: String,
    pub(super) token: String,
    pub(super) league: Option<String>,
}

/// A call that arrived.
#[derive(Debug, Clone)]
pub(super) struct Call {
    /// The names, in lower case, and values of the head.
    pub(super) headers: Vec<(String, String)>,
    /// All of it.
    pub(super) request: Value,
    /// The message with all fields side by side; null if it is none.
    pub(super) message: Value,
    /// Which message it is.
    pub(super) kind: Option<MessageType>,
    /// In whose words, if not in the guest's own, and what is wrong.
    pub(super) foreign: Option<String>,
}

impl Call {
    /// The text in the field `name`.
    pub(super) fn text(&self, name: &str) -> &str {
        self.message[name].as_str().unwrap_or_default()
    }

    /// A round id, as a number or as text.
    pub(super) fn round(&self) -> Option<u64> {
        let round = &self.message["round_id"];
        let text = |text: &str| text.trim_start_matches('R').parse().ok();
        round.as_u64().or_else(|| round.as_str().and_then(text))
    }

    /// The value of a header.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// How a guest answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// As it is asked to.
    Usual,
    /// Not at all; connections stay open.
    Silent,
    /// With something that is not JSON.
    Garbage,
    /// With an error.
    Refuses,
}

/// A player or referee of the checker's.
#[derive(Debug)]
pub(super) struct Guest {
    pub(super) kind: Kind,
    pub(super) name: String,
    pub(super) address: SocketAddr,
    /// How many matches it takes at once, if it is a referee.
    at_once: AtomicU32,
    life: Arc<Life>,
    serving: Mutex<JoinSet<()>>,
    /// The port of a guest that has left.
    held: Mutex<Option<TcpSocket>>,
    /// Where it stays when its case is over.
    lounge: Mutex<Option<Lounge>>,
}

/// Guests whose cases are over. Who is registered where others register too stays at its address
/// until the check is over, so that nobody else gets it: one address is one agent.
pub(crate) type Lounge = Arc<Mutex<Vec<JoinSet<()>>>>;

impl Drop for Guest {
    fn drop(&mut self) {
        if let Some(lounge) = lock(&self.lounge).take() {
            let mut stays = lock(&lounge);
            if stays.len() < GUESTS_MAX {
                stays.push(std::mem::take(&mut *lock(&self.serving)));
            }
        }
    }
}

#[derive(Debug)]
struct Life {
    speech: Speech,
    me: Mutex<Option<Identity>>,
    league: Mutex<Option<String>>,
    manner: Mutex<Manner>,
    calls: watch::Sender<Vec<Arc<Call>>>,
    transcript: Transcript,
}

impl Kind {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Player => "player",
            Self::Referee => "referee",
        }
    }

    pub(super) const fn meta_field(self) -> &'static str {
        match self {
            Self::Player => "player_meta",
            Self::Referee => "referee_meta",
        }
    }

    pub(super) const fn id_field(self) -> &'static str {
        match self {
            Self::Player => "player_id",
            Self::Referee => "referee_id",
        }
    }

    pub(super) const fn registers_with(self) -> MessageType {
        match self {
            Self::Player => MessageType::LeagueRegisterRequest,
            Self::Referee => MessageType::RefereeRegisterRequest,
        }
    }

    pub(super) const fn answered_with(self) -> MessageType {
        match self {
            Self::Player => MessageType::LeagueRegisterResponse,
            Self::Referee => MessageType::RefereeRegisterResponse,
        }
    }

    /// The case that tells whether registering works at all.
    pub(super) const fn case(self) -> &'static str {
        match self {
            Self::Player => "manager.register.player",
            Self::Referee => "manager.register.referee",
        }
    }
}

impl Identity {
    /// Who the answer to a registration says that a guest is.
    pub(super) fn read(kind: Kind, message: &Value) -> Result<Self, Halt> {
        let text = |name: &str| message[name].as_str().filter(|text| !text.is_empty());
        let missing = |name: &str| {
            Halt::fail(
                format!("the accepted registration has no `{name}`"),
                format!("put `{name}` into the answer"),
            )
        };
        let id = text(kind.id_field()).ok_or_else(|| missing(kind.id_field()))?;
        let token = text("auth_token").ok_or_else(|| missing("auth_token"))?;
        let league = text("league_id").map(str::to_string);
        Ok(Self { id: id.into(), token: token.into(), league })
    }
}

impl Guest {
    /// A guest that listens on a free port.
    pub(super) async fn open(
        kind: Kind,
        speech: Speech,
        transcript: Transcript,
    ) -> Result<Self, Halt> {
        let ours = |error: std::io::Error| Halt::Ours(format!("no port to listen at: {error}"));
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(ours)?;
        let address = listener.local_addr().map_err(ours)?;
        let life = Life {
            speech,
            me: Mutex::default(),
            league: Mutex::default(),
            manner: Mutex::new(Manner::Usual),
            calls: watch::Sender::new(Vec::new()),
            transcript,
        };
        let name = format!("Check {} {}", kind.word(), &random_hex()[..6]);
        let guest = Self {
            kind,
            name,
            address,
            at_once: AtomicU32::new(8),
            life: Arc::new(life),
            serving: Mutex::new(JoinSet::new()),
            held: Mutex::default(),
            lounge: Mutex::default(),
        };
        guest.listen(listener);
        Ok(guest)
    }

    fn listen(&self, listener: TcpListener) {
        let life = self.life.clone();
        lock(&self.serving).spawn(async move {
            // The guest is taken down with its tasks, never asked to leave.
            let (_stays, quit) = watch::channel(false);
            serve(listener, life, quit).await;
        });
    }

    /// Stops listening; whoever calls is refused a connection. The port stays taken, so that nobody
    /// else is called in its place.
    pub(super) async fn leave(&self) {
        let mut serving = std::mem::take(&mut *lock(&self.serving));
        serving.shutdown().await;
        let held = TcpSocket::new_v4().ok().filter(|socket| socket.bind(self.address).is_ok());
        *lock(&self.held) = held;
    }

    /// Listens again where it did before.
    pub(super) async fn come_back(&self) -> Result<(), Halt> {
        drop(lock(&self.held).take());
        let listener = TcpListener::bind(self.address).await;
        let listener =
            listener.map_err(|error| Halt::Ours(format!("its port is gone: {error}")))?;
        self.listen(listener);
        Ok(())
    }

    /// The address at which it is called.
    pub(super) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// What it says of itself, as its document lists it.
    pub(super) fn meta(&self) -> Value {
        let dialect = self.life.speech.0;
        let mut meta = json!({
            "display_name": self.name,
            "version": "1.0.0",
            "game_types": ["even_odd"],
            "contact_endpoint": self.url(),
        });
        match dialect {
            Dialect::V21 => {
                let more = json!({"protocol_version": "2.1.0", "supported_games": ["even_odd"]});
                merge(&mut meta, more);
            }
            Dialect::Flat
            | Dialect::Typed
            | Dialect::Enveloped
            | Dialect::Payload
            | Dialect::Tool
            | Dialect::Wrapped => {}
        }
        if self.kind == Kind::Referee {
            let at_once = self.at_once.load(Ordering::Relaxed);
            merge(&mut meta, json!({"max_concurrent_matches": at_once}));
        }
        meta
    }

    /// Listens only to what is about `league`, if that has a name: whoever had the port before may
    /// still be called there.
    pub(super) fn listen_to(&self, league: Option<&str>) {
        *lock(&self.life.league) = league.map(str::to_string);
    }

    /// Stays at its address when its case is over.
    pub(super) fn stay_in(&self, lounge: &Lounge) {
        *lock(&self.lounge) = Some(lounge.clone());
    }

    /// Takes that many matches at once.
    pub(super) fn take_at_once(&self, matches: u32) {
        self.at_once.store(matches, Ordering::Relaxed);
    }

    /// Takes `me` for its identity.
    pub(super) fn assume(&self, me: Identity) {
        *lock(&self.life.me) = Some(me);
    }

    /// Who it is.
    ///
    /// # Errors
    /// If it is not registered, which is a fault of the checker.
    pub(super) fn me(&self) -> Result<Identity, Halt> {
        let me = lock(&self.life.me).clone();
        me.ok_or_else(|| Halt::Ours("a guest acted before it was registered".into()))
    }

    /// Answers otherwise from now on.
    pub(super) fn behave(&self, manner: Manner) {
        *lock(&self.life.manner) = manner;
    }

    /// Waits for the first call that `wanted` accepts, at most `limit`.
    pub(super) async fn wait(
        &self,
        limit: Duration,
        wanted: impl Fn(&Call) -> bool,
    ) -> Option<Arc<Call>> {
        let mut calls = self.life.calls.subscribe();
        let find = |calls: &Vec<Arc<Call>>| calls.iter().find(|call| wanted(call)).cloned();
        let found = timeout(limit, calls.wait_for(|calls| find(calls).is_some())).await;
        found.ok().and_then(Result::ok).and_then(|calls| find(&calls))
    }

    /// Waits for the first call of `kind`.
    pub(super) async fn hears(&self, kind: MessageType, limit: Duration) -> Option<Arc<Call>> {
        self.wait(limit, |call| call.kind == Some(kind)).await
    }

    /// Everything that has come.
    pub(super) fn heard(&self) -> Vec<Arc<Call>> {
        self.life.calls.borrow().clone()
    }
}

impl Life {
    /// What stands in `request`; in the guest's own dialect if it is.
    fn read(&self, request: &Value) -> (Value, Option<MessageType>, Option<String>) {
        let own = self.speech.opened_params(&request["params"]);
        let named = |speech: Speech, message: &Value| {
            let name = message["message_type"].as_str().unwrap_or_default();
            let is_end = message["final"] == true && speech.0 == Dialect::Payload;
            let kind = MessageType::find_in(speech.0, name);
            if is_end { Some(MessageType::LeagueCompleted) } else { kind }
        };
        let wrong = match own {
            Ok(message) => match named(self.speech, &message) {
                Some(kind) => {
                    let (wanted, got) =
                        (self.speech.expected_method(kind), self.speech.method_of(request));
                    let foreign = (wanted != got)
                        .then(|| format!("its method is `{got}`, expected `{wanted}`"));
                    return (message, Some(kind), foreign);
                }
                None => format!("`{}` is no message type", message["message_type"]),
            },
            Err(wrong) => wrong,
        };
        for dialect in Dialect::ALL {
            let speech = Speech(dialect);
            if let Ok(message) = speech.opened_params(&request["params"])
                && let Some(kind) = named(speech, &message)
            {
                return (message, Some(kind), Some(wrong));
            }
        }
        (Value::Null, None, Some(wrong))
    }

    fn result(&self, call: &Call) -> Value {
        let heard = json!({"acknowledged": true});
        if call.kind != Some(MessageType::StartMatch) {
            return heard;
        }
        let Some(me) = lock(&self.me).clone() else { return heard };
        let mut stamp = super::speech::Stamp::own(Kind::Referee, &me);
        stamp.conversation = call.text("conversation_id").into();
        stamp.token = String::new();
        let fields = json!({
            "match_id": call.message["match_id"],
            "attempt": call.message["attempt"],
            "status": "ACCEPTED",
            "league_id": call.message["league_id"],
        });
        self.speech.result(MessageType::StartMatchAck, &stamp, fields)
    }
}

impl Service for Life {
    async fn mcp(&self, body: Bytes, _peer: SocketAddr) -> Answer {
        self.answer(Vec::new(), &body).await
    }

    async fn mcp_headed(&self, head: Parts, body: Bytes, _peer: SocketAddr) -> Answer {
        let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
        let headers = head.headers.iter().map(|(n, v)| (n.to_string(), text(v.as_bytes())));
        self.answer(headers.collect(), &body).await
    }

    fn page(&self, _path: &str) -> Option<Answer> {
        None
    }
}

impl Life {
    async fn answer(&self, headers: Vec<(String, String)>, body: &[u8]) -> Answer {
        let request: Value = serde_json::from_slice(body).unwrap_or(Value::Null);
        let (message, kind, foreign) = self.read(&request);
        let call = Call { headers, request, message, kind, foreign };
        let id = call.request["id"].clone();
        let named = call.message["league_id"].as_str();
        let own = lock(&self.league).clone();
        let is_meant = named.is_none() || own.is_none() || named == own.as_deref();
        if is_meant {
            self.transcript.record(Way::Came, body);
        }
        let result = self.result(&call);
        self.calls.send_modify(|calls| {
            if is_meant && calls.len() < CALLS_MAX {
                calls.push(Arc::new(call));
            }
        });
        let manner = *lock(&self.manner);
        let response = match manner {
            Manner::Usual => json!({"jsonrpc": "2.0", "result": result, "id": id}).to_string(),
            Manner::Silent => std::future::pending().await,
            Manner::Garbage => "<html>Internal Server Error</html>".into(),
            Manner::Refuses => {
                let error = json!({"code": -32000, "message": "I do not want to hear it"});
                json!({"jsonrpc": "2.0", "error": error, "id": id}).to_string()
            }
        };
        if is_meant {
            self.transcript.record(Way::Sent, response.as_bytes());
        }
        Answer::json(response)
    }
}
