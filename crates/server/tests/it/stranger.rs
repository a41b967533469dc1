//! Agents by other people: small servers with hand-written JSON, strict about what they receive.

use std::io::BufReader;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, mpsc};
use std::time::{Duration, Instant};

use league_core::id::MatchId;
use league_core::proof::{Token, match_proof, reply_proof};
use serde_json::{Value, json};

use crate::rpc::{self, PATIENCE, Reply};
use crate::shape::{Shape, Stamp, merge, missing_path};
use crate::stage::{GAMES, LEAGUE, Stage, url};

/// A call that arrived.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// 000's name of the message.
    pub(crate) kind: &'static str,
    /// Envelope and fields side by side.
    pub(crate) message: Value,
    /// Who was called.
    pub(crate) me: Identity,
    pub(crate) id: Value,
}

impl Call {
    /// The text in the field `name`.
    pub(crate) fn text(&self, name: &str) -> &str {
        let value = &self.message[name];
        value.as_str().unwrap_or_else(|| panic!("{name} is no text in {}", self.message))
    }

    pub(crate) fn match_id(&self) -> MatchId {
        self.text("match_id").parse().expect("a match id")
    }
}

/// How a call is answered.
#[derive(Debug, Clone)]
pub(crate) enum Say {
    /// With what the documents ask for.
    Usual,
    /// With this type and these fields, in the agent's shape.
    Message(&'static str, Value),
    /// With this result, whatever it is.
    Result(Value),
    /// With this body, whatever it is.
    Body(String),
    /// Not at all, with the connection left open.
    Nothing,
    /// By hanging up.
    HangUp,
}

/// Who the manager says the agent is.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    pub(crate) id: String,
    pub(crate) token: String,
}

/// An agent by somebody else.
pub(crate) struct Stranger {
    pub(crate) shape: Shape,
    pub(crate) address: SocketAddr,
    role: Role,
    life: Arc<Life>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Player,
    Referee,
}

struct Life {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    me: Option<Identity>,
    calls: Vec<Call>,
    faults: Vec<String>,
    /// How many attempts at a match it takes part in beyond the first.
    attempts: u32,
    /// What it does if it is spoken to in another shape than its own.
    others: Others,
    closing: bool,
    leaving: bool,
    gone: bool,
}

/// What an agent does about another shape than its own.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) enum Others {
    /// It is at a loss, and the test fails.
    #[default]
    NotExpected,
    /// It says that it knows no such method, some time after it was asked.
    Refused { after: Duration },
    /// It breaks down.
    Stumbled,
    /// It says that it has heard, whatever that was.
    Swallowed,
}

type Script = dyn Fn(&Call) -> Say + Send + Sync;

impl Stranger {
    /// A player that does the usual.
    pub(crate) fn player(shape: Shape) -> Self {
        Self::listen(shape, Role::Player, Arc::new(|_| Say::Usual))
    }

    /// A player that does what `script` says.
    pub(crate) fn player_that(
        shape: Shape,
        script: impl Fn(&Call) -> Say + Send + Sync + 'static,
    ) -> Self {
        Self::listen(shape, Role::Player, Arc::new(script))
    }

    /// A referee of document 000 that takes matches and leaves the rest to the test.
    pub(crate) fn referee() -> Self {
        Self::listen(Shape::Flat, Role::Referee, Arc::new(|_| Say::Usual))
    }

    /// A referee of document 000 that does what `script` says.
    pub(crate) fn referee_that(script: impl Fn(&Call) -> Say + Send + Sync + 'static) -> Self {
        Self::listen(Shape::Flat, Role::Referee, Arc::new(script))
    }

    fn listen(shape: Shape, role: Role, script: Arc<Script>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().unwrap();
        let life = Arc::new(Life { state: Mutex::default(), changed: Condvar::new() });
        Self::answer(shape, listener, life.clone(), script);
        Self { shape, address, role, life }
    }

    /// Listens again where it has left, and does the usual.
    pub(crate) fn come_home(&self) {
        let listener = TcpListener::bind(self.address).expect("nobody took the port");
        {
            let mut state = self.life.lock();
            (state.leaving, state.gone) = (false, false);
        }
        Self::answer(self.shape, listener, self.life.clone(), Arc::new(|_| Say::Usual));
    }

    fn answer(shape: Shape, listener: TcpListener, shared: Arc<Life>, script: Arc<Script>) {
        std::thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                if shared.lock().leaving {
                    break;
                }
                // The port of an agent that went home stays taken: somebody may still call it, and
                // must not find another test's agent there.
                if shared.lock().closing {
                    continue;
                }
                let (life, script) = (shared.clone(), script.clone());
                std::thread::spawn(move || serve(shape, stream, &life, &*script));
            }
            drop(listener);
            shared.lock().gone = true;
            shared.changed.notify_all();
        });
    }

    /// What the agent says of itself.
    pub(crate) fn meta(&self) -> Value {
        let mut meta = json!({
            "display_name": format!("{:?} {:?}", self.shape, self.role),
            "version": "1.0.0",
            "game_types": GAMES,
            "contact_endpoint": url(self.address),
        });
        if self.shape == Shape::V21 {
            merge(&mut meta, json!({"protocol_version": "2.1.0", "supported_games": GAMES}));
        }
        if self.role == Role::Referee {
            merge(&mut meta, json!({"max_concurrent_matches": 4}));
        }
        meta
    }

    /// The request to be let in, with `meta`.
    pub(crate) fn application(&self, meta: &Value) -> Value {
        self.application_in("conv-registration-1", meta)
    }

    /// The request to be let in, in a conversation of its own.
    pub(crate) fn application_in(&self, conversation: &str, meta: &Value) -> Value {
        let (names, field) = match self.role {
            Role::Player => (("register_player", "LEAGUE_REGISTER_REQUEST"), "player_meta"),
            Role::Referee => (("register_referee", "REFEREE_REGISTER_REQUEST"), "referee_meta"),
        };
        let stamp = Stamp::new(&self.called("someone"), conversation, "");
        let fields = json!({field: meta, "league_id": LEAGUE});
        self.shape.request(names, &stamp, fields)
    }

    /// Registers and is let in.
    pub(crate) fn register(&self, stage: &Stage) -> Identity {
        self.register_with(stage, json!({}))
    }

    /// Registers, says something more of itself, and is let in.
    pub(crate) fn register_with(&self, stage: &Stage, more: Value) -> Identity {
        let mut meta = self.meta();
        merge(&mut meta, more);
        let reply = stage.send(&self.application(&meta));
        let result = self.shape.opened(&reply.result()).unwrap();
        assert_eq!(result["status"], "ACCEPTED", "{result}");
        let id = &result[if self.role == Role::Player { "player_id" } else { "referee_id" }];
        let text = |value: &Value| value.as_str().expect("a text").to_string();
        let me = Identity { id: text(id), token: text(&result["auth_token"]) };
        self.assume(me.clone());
        me
    }

    /// Takes `me` for its identity.
    pub(crate) fn assume(&self, me: Identity) {
        self.life.lock().me = Some(me);
        self.life.changed.notify_all();
    }

    /// Lets the proofs of later attempts at a match pass as well.
    pub(crate) fn expect_later_attempts(&self) {
        self.life.lock().attempts = 30;
    }

    /// Does `others` if it is spoken to in another shape than its own.
    pub(crate) fn take_other_shapes(&self, others: Others) {
        self.life.lock().others = others;
    }

    /// Stops listening.
    pub(crate) fn leave(&self) {
        self.life.lock().leaving = true;
        self.life.changed.notify_all();
        drop(TcpStream::connect(self.address));
        let gone = self.life.wait(|state| state.gone.then_some(()));
        gone.expect("it leaves");
    }

    /// The agent's own id and token.
    pub(crate) fn me(&self) -> Identity {
        self.life.lock().me.clone().expect("it is registered")
    }

    fn called(&self, id: &str) -> String {
        let kind = if self.role == Role::Player { "player" } else { "referee" };
        format!("{kind}:{id}")
    }

    /// Waits for the `n`-th call of `kind`, counted from one.
    pub(crate) fn nth(&self, n: usize, kind: &str) -> Call {
        let found = self
            .life
            .wait(|state| state.calls.iter().filter(|call| call.kind == kind).nth(n - 1).cloned());
        found.unwrap_or_else(|| {
            let kinds: Vec<_> = self.life.lock().calls.iter().map(|call| call.kind).collect();
            panic!("{} got no {kind} number {n}, but {kinds:?}", self.me().id)
        })
    }

    /// Waits for the message of `kind` about a match.
    pub(crate) fn one_of(&self, match_id: MatchId, kind: &str) -> Value {
        let is_it =
            |call: &&Call| call.kind == kind && call.message["match_id"] == match_id.to_string();
        let found = self.life.wait(|state| state.calls.iter().find(is_it).cloned());
        found.unwrap_or_else(|| panic!("no {kind} about {match_id}")).message
    }

    /// What has arrived of `kind` so far.
    pub(crate) fn all(&self, kind: &str) -> Vec<Call> {
        let state = self.life.lock();
        state.calls.iter().filter(|call| call.kind == kind).cloned().collect()
    }

    /// Everything about a match that has arrived so far.
    pub(crate) fn of_match(&self, match_id: MatchId) -> Vec<Call> {
        let about = |call: &&Call| call.message["match_id"] == match_id.to_string();
        self.life.lock().calls.iter().filter(about).cloned().collect()
    }

    /// Calls somebody as this agent, with its own token.
    pub(crate) fn call(&self, to: SocketAddr, names: (&str, &str), fields: Value) -> Reply {
        let me = self.me();
        let stamp = Stamp::new(&self.called(&me.id), "conv-own-call", &me.token);
        rpc::send(to, &self.shape.request(names, &stamp, fields))
    }
}

/// What a player shows to the referee of a match.
pub(crate) fn proof_of(me: &Identity, match_id: MatchId) -> String {
    let token: Token = me.token.parse().expect("a token");
    reply_proof(&token, &LEAGUE.parse().unwrap(), match_id, 1).expose()
}

impl Drop for Stranger {
    fn drop(&mut self) {
        let faults = {
            let mut state = self.life.lock();
            state.closing = true;
            std::mem::take(&mut state.faults)
        };
        self.life.changed.notify_all();
        if !std::thread::panicking() {
            assert!(faults.is_empty(), "{:?} was sent: {faults:#?}", self.shape);
        }
    }
}

impl Life {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Waits until `find` finds something.
    #[expect(clippy::disallowed_methods, reason = "the patience of a test is real time")]
    fn wait<T>(&self, find: impl Fn(&State) -> Option<T>) -> Option<T> {
        let end = Instant::now() + PATIENCE;
        let mut state = self.lock();
        loop {
            if let Some(found) = find(&state) {
                return Some(found);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            state = self.changed.wait_timeout(state, left).expect("nobody panics").0;
        }
    }

    fn fault(&self, text: String) {
        self.lock().faults.push(text);
    }
}

fn serve(shape: Shape, stream: TcpStream, life: &Life, script: &Script) {
    let mut reader = BufReader::new(stream.try_clone().expect("a socket"));
    let mut stream = stream;
    while let Some((head, body)) = rpc::receive(&mut reader) {
        let Some(me) = life.wait(|state| state.me.clone()) else { return };
        let attempts = 1 + life.lock().attempts;
        let call = match read(shape, (&me, attempts), &head, &body) {
            Ok(call) => call,
            Err(fault) => {
                let others = life.lock().others;
                let Some(answer) = others.answer(&body) else { return life.fault(fault) };
                if rpc::answer(&mut stream, &answer).is_err() {
                    return;
                }
                continue;
            }
        };
        life.lock().calls.push(call.clone());
        life.changed.notify_all();
        let said = script(&call);
        let result = match said {
            Say::Usual => usual(shape, &me, &call),
            Say::Message(kind, fields) => message(shape, &me, &call, (kind, fields)),
            Say::Result(result) => result,
            Say::Body(body) => {
                if rpc::answer(&mut stream, &body).is_err() {
                    return;
                }
                continue;
            }
            Say::Nothing => {
                // The connection stays open until the agent goes home.
                life.wait(|state| state.closing.then_some(()));
                return;
            }
            Say::HangUp => return,
        };
        let response = json!({"jsonrpc": "2.0", "result": result, "id": call.id});
        if rpc::answer(&mut stream, &response.to_string()).is_err() {
            return;
        }
    }
}

impl Others {
    fn answer(self, body: &str) -> Option<String> {
        let request: Value = serde_json::from_str(body).expect("JSON");
        match self {
            Self::NotExpected => None,
            Self::Stumbled => Some("Internal Server Error".into()),
            Self::Refused { after } => {
                // Nobody ever sends there.
                let (_keep, never) = mpsc::sync_channel::<()>(0);
                never.recv_timeout(after).expect_err("nothing comes");
                Some(unknown_method(&request["id"]))
            }
            Self::Swallowed => {
                let heard = json!({"status": "received"});
                Some(json!({"jsonrpc": "2.0", "result": heard, "id": request["id"]}).to_string())
            }
        }
    }
}

/// The answer to a call of a method that the agent does not have.
pub(crate) fn unknown_method(id: &Value) -> String {
    let error = json!({"code": -32601, "message": "Method not found"});
    json!({"jsonrpc": "2.0", "error": error, "id": id}).to_string()
}

/// Reads a call and checks it against what the agent's document lists.
fn read(
    shape: Shape,
    (me, attempts): (&Identity, u32),
    head: &str,
    body: &str,
) -> Result<Call, String> {
    let request: Value = serde_json::from_str(body).map_err(|error| format!("{error}: {body}"))?;
    let wrong = |what: &str| Err(format!("{what}: {body}"));
    let lower = head.to_ascii_lowercase();
    for header in ["content-type: application/json", "accept: application/json", "user-agent: "] {
        if !lower.contains(header) {
            return wrong(&format!("no header {header} in {head}"));
        }
    }
    if request["jsonrpc"] != "2.0" || !request["id"].is_u64() {
        return wrong("jsonrpc or id");
    }
    let message = shape.opened(&request["params"])?;
    let Some(kind) = message["message_type"].as_str().and_then(Shape::plain_type) else {
        return wrong("an unknown message_type");
    };
    if shape.method_and_type(kind) != (text(&request, "method"), text(&message, "message_type")) {
        return wrong("another document's method or message_type");
    }
    if let Some(path) = missing_path(&message, shape.listed_fields(kind)) {
        return wrong(&format!("{kind} without {path}"));
    }
    check_envelope(me, attempts, &message)?;
    Ok(Call { kind, message, me: me.clone(), id: request["id"].clone() })
}

fn text<'a>(object: &'a Value, name: &str) -> &'a str {
    object[name].as_str().unwrap_or_default()
}

fn check_envelope(me: &Identity, attempts: u32, message: &Value) -> Result<(), String> {
    let wrong = |what: &str| Err(format!("{what}: {message}"));
    let time = text(message, "timestamp");
    if text(message, "protocol") != "league.v2" || text(message, "conversation_id").is_empty() {
        return wrong("protocol or conversation_id");
    }
    if !(time.len() == "2025-01-15T10:30:00.000Z".len() && time.ends_with('Z')) {
        return wrong("timestamp");
    }
    let (sender, shown) = (text(message, "sender"), text(message, "auth_token"));
    let Some(referee) = sender.strip_prefix("referee:") else {
        // The manager shows the agent its own token.
        let is_manager = sender == "league_manager" && shown == me.token;
        return if is_manager { Ok(()) } else { wrong("not the manager") };
    };
    let token: Token = me.token.parse().map_err(|_| format!("token: {me:?}"))?;
    let league = LEAGUE.parse().map_err(|_| format!("league: {LEAGUE}"))?;
    let match_id = text(message, "match_id").parse().map_err(|_| format!("match: {message}"))?;
    let referee = referee.parse().map_err(|_| format!("referee: {message}"))?;
    let proof = |attempt| match_proof(&token, &league, match_id, attempt, referee);
    let is_proved = (1..=attempts).any(|attempt| proof(attempt).matches(shown));
    if is_proved { Ok(()) } else { wrong("no proof of the match") }
}

fn message(shape: Shape, me: &Identity, call: &Call, (kind, fields): (&str, Value)) -> Value {
    let sender = if me.id.starts_with('P') { "player" } else { "referee" };
    let stamp = Stamp::new(&format!("{sender}:{}", me.id), call.text("conversation_id"), "");
    let mut fields = fields;
    if shape == Shape::Enveloped && call.message.get("league_id").is_some() {
        merge(&mut fields, json!({"league_id": call.message["league_id"]}));
    }
    shape.result(kind, &stamp, fields)
}

/// What the agent's document says to answer.
fn usual(shape: Shape, me: &Identity, call: &Call) -> Value {
    let match_id = &call.message["match_id"];
    let answer = match (call.kind, shape) {
        ("GAME_INVITATION", Shape::V21) => {
            let fields = json!({"match_id": match_id, "status": "ACCEPTED", "ready": true});
            ("GAME_JOIN_ACK", fields)
        }
        ("GAME_INVITATION", _) => {
            let arrival = "2025-01-15T10:30:00Z";
            let fields =
                json!({"match_id": match_id, "accept": true, "arrival_timestamp": arrival});
            ("GAME_JOIN_ACK", fields)
        }
        ("CHOOSE_PARITY_CALL", Shape::V21) => {
            let fields = json!({"match_id": match_id, "choice": "even", "reasoning": "a feeling"});
            ("PARITY_CHOICE", fields)
        }
        ("CHOOSE_PARITY_CALL", _) => {
            let fields = json!({"match_id": match_id, "player_id": me.id, "parity_choice": "odd"});
            ("CHOOSE_PARITY_RESPONSE", fields)
        }
        ("GAME_MOVE_CALL", _) => {
            let fields = json!({"match_id": match_id, "player_id": me.id, "move_data": 3});
            ("GAME_MOVE_RESPONSE", fields)
        }
        ("START_MATCH", _) => {
            let attempt = &call.message["attempt"];
            let fields = json!({"match_id": match_id, "attempt": attempt, "status": "ACCEPTED"});
            ("START_MATCH_ACK", fields)
        }
        ("GAME_OVER", Shape::V21) => {
            ("GAME_OVER_ACK", json!({"match_id": match_id, "acknowledged": true}))
        }
        // Any result will do for what is only a notification.
        _ => return json!({"status": "ok"}),
    };
    message(shape, me, call, answer)
}
