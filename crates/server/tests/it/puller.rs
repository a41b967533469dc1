//! A player without an open port by somebody else: it polls with hand-written HTTP and answers what
//! it fetched, in the words of document 000.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use league_agent::ambient::Mark;
use serde_json::{Value, json};

use crate::rpc::{self, PATIENCE, Reply};
use crate::stage::{GAMES, LEAGUE, Stage};

/// Who the manager says the player is.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    pub(crate) id: String,
    pub(crate) token: String,
    pub(crate) manager: SocketAddr,
}

impl Identity {
    /// Registers as a player called `name` that pulls.
    pub(crate) fn register(stage: &Stage, name: &str) -> Self {
        let answer = stage.send(&application(name)).result();
        assert_eq!(answer["status"], "ACCEPTED", "{answer}");
        let text = |field: &str| answer[field].as_str().unwrap().to_string();
        Self { id: text("player_id"), token: text("auth_token"), manager: stage.address }
    }

    /// Polls once: `terms` is what stands after the question mark.
    pub(crate) fn poll(&self, terms: &str) -> Reply {
        get(self.manager, &format!("/api/v1/turns?{terms}"), Some(&self.token))
    }

    /// Answers the turn `turn` with `body`.
    pub(crate) fn answer(&self, turn: &Value, body: &Value) -> Reply {
        let path = format!("/api/v1/turns/{turn}");
        send(self.manager, &path, Some(&self.token), &body.to_string())
    }

    /// The usual answer to a turn.
    pub(crate) fn usual(&self, call: &Value) -> Value {
        if let Some(calls) = call.as_array() {
            return calls.iter().map(|call| self.usual(call)).collect();
        }
        let params = &call["params"];
        let (kind, mut message) = match params["message_type"].as_str().unwrap() {
            "CHOOSE_PARITY_CALL" => {
                let mut fields = json!({"match_id": params["match_id"], "player_id": self.id});
                fields["parity_choice"] = json!("even");
                ("CHOOSE_PARITY_RESPONSE", fields)
            }
            "GAME_OVER" => {
                let fields = json!({"match_id": params["match_id"], "acknowledged": true});
                ("GAME_OVER_ACK", fields)
            }
            _ => ("ACK", json!({})),
        };
        message["protocol"] = json!("league.v2");
        message["message_type"] = json!(kind);
        message["sender"] = json!(format!("player:{}", self.id));
        message["timestamp"] = params["timestamp"].clone();
        message["conversation_id"] = params["conversation_id"].clone();
        json!({"jsonrpc": "2.0", "id": call["id"], "result": message})
    }
}

/// The registration of a player called `name` that pulls.
pub(crate) fn application(name: &str) -> Value {
    json!({
        "jsonrpc": "2.0", "id": 1, "method": "register_player",
        "params": {
            "protocol": "league.v2", "message_type": "LEAGUE_REGISTER_REQUEST",
            "sender": "player:new", "timestamp": "2026-11-15T12:00:00Z",
            "conversation_id": format!("conv-register-{name}"), "league_id": LEAGUE,
            "player_meta": {
                "display_name": name, "version": "1.0.0", "protocol_version": "2.1.0",
                "game_types": GAMES, "pull": true,
            },
        },
    })
}

/// A pull player that plays in a thread of its own.
pub(crate) struct Puller {
    /// The types of what it was given, in order.
    pub(crate) kinds: Arc<Mutex<Vec<String>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Puller {
    /// Registers and plays.
    pub(crate) fn seat(stage: &Stage, name: &str) -> Self {
        Self::play(Identity::register(stage, name))
    }

    /// Plays as `me`.
    pub(crate) fn play(me: Identity) -> Self {
        let (kinds, stop) = (Arc::<Mutex<Vec<String>>>::default(), Arc::<AtomicBool>::default());
        let (own, noted, told) = (me, kinds.clone(), stop.clone());
        let thread = std::thread::spawn(move || {
            let mut terms = "wait=1".to_string();
            while !told.load(Ordering::Relaxed) {
                let reply = own.poll(&terms);
                if reply.status != 200 {
                    return;
                }
                let polled = reply.json();
                for turn in polled["turns"].as_array().unwrap() {
                    noted.lock().unwrap().extend(kinds_of(&turn["call"]));
                    own.answer(&turn["turn"], &own.usual(&turn["call"]));
                }
                let is_over = |kind: &String| kind == "LEAGUE_COMPLETED";
                if noted.lock().unwrap().iter().any(is_over) {
                    return;
                }
                if let Some(cursor) = polled["cursor"].as_u64() {
                    terms = format!("wait=1&after={cursor}");
                }
            }
        });
        Self { kinds, stop, thread: Some(thread) }
    }

    /// Waits until it has heard that the league is over.
    pub(crate) fn finish(&mut self) {
        if let Some(thread) = self.thread.take() {
            thread.join().expect("it polls and answers");
        }
    }
}

impl Drop for Puller {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

fn kinds_of(call: &Value) -> Vec<String> {
    match call.as_array() {
        Some(calls) => calls.iter().flat_map(kinds_of).collect(),
        None => vec![call["params"]["message_type"].as_str().unwrap().to_string()],
    }
}

/// Asks for a page with a token.
pub(crate) fn get(manager: SocketAddr, path: &str, token: Option<&str>) -> Reply {
    let shown = token.map(|token| format!("Authorization: Bearer {token}\r\n"));
    let shown = shown.unwrap_or_default();
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: {manager}\r\n{shown}Connection: close\r\n\r\n");
    rpc::exchange(manager, &request)
}

/// Posts `body` with a token.
pub(crate) fn send(manager: SocketAddr, path: &str, token: Option<&str>, body: &str) -> Reply {
    let shown = token.map(|token| format!("Authorization: Bearer {token}\r\n"));
    let shown = shown.unwrap_or_default();
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: {manager}\r\n{shown}Content-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    rpc::exchange(manager, &request)
}

/// Looks until there is something to see, but not for ever.
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Mark::set();
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(began.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}");
        std::thread::yield_now();
    }
}
