//! A whole player behind a front that spoils one thing.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use league_agent::caller::Caller;
use league_agent::exchange::Exchange;
use league_agent::keep::Keep;
use league_agent::player::Player;
use league_agent::register::Application;
use league_agent::strategy::House;
use league_wire::Dialect;
use league_wire::message::Meta;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::back::Manager;
use super::front::{Asked, Ended, Front, Told, serve};
use super::sabotage::{Memory, Step, after, before};

pub(super) const PATIENCE: Duration = Duration::from_secs(10);
const LARGE: usize = 500_000;

pub(super) fn variable(name: &str) -> String {
    std::env::var(name).unwrap()
}

/// Runs until somebody ends the process.
pub(super) async fn run(broken: &str) {
    let (port, data) = (variable("PORT").parse().unwrap(), PathBuf::from(variable("DATA")));
    if starts(&data) == 2 && broken == "player.life.restart" {
        return;
    }
    let anywhere = SocketAddr::from(([127, 0, 0, 1], 0));
    let [front, back, own] = [SocketAddr::from(([127, 0, 0, 1], port)), anywhere, anywhere]
        .map(|address| async move { TcpListener::bind(address).await.unwrap() });
    let (front, back, own) = (front.await, back.await, own.await);
    let stub = Arc::new(Stub {
        broken: broken.into(),
        player: format!("http://{}/mcp", own.local_addr().unwrap()),
        caller: Caller::new("breakable/1", PATIENCE),
        memory: Mutex::default(),
    });
    let memory = stub.clone();
    let manager = Arc::new(Manager::new(broken, move |result| {
        memory.memory.lock().unwrap().registered(result);
    }));
    let dialect: Dialect = variable("DIALECT").parse().unwrap();
    let keep = (broken != "player.life.same-player").then(|| Keep::new(data.join("kept")));
    let application = Application {
        manager: format!("http://{}/mcp", back.local_addr().unwrap()),
        league: None,
        dialect,
        meta: meta(dialect, port),
        timeout: PATIENCE,
        troubles: None,
        keep,
    };
    let (_stop, stopping) = watch::channel(false);
    let player = Arc::new(Player::new(House::Random.strategy(7)));
    let exchange = Exchange::new(Caller::new("player/1.0.0", PATIENCE));
    tokio::select! {
        () = serve(front, stub) => {}
        () = serve(back, manager) => {}
        outcome = player.run(own, exchange, application, stopping) => outcome.unwrap(),
        () = stubborn(broken == "player.life.stops") => {}
    }
}

/// How often the agent was started, this time included.
pub(super) fn starts(data: &Path) -> usize {
    let file = data.join("starts");
    let before = fs::read_to_string(&file).map_or(0, |text| text.len());
    fs::write(&file, "x".repeat(before + 1)).unwrap();
    before + 1
}

/// Hears SIGTERM and does nothing about it.
async fn stubborn(is_stubborn: bool) {
    use tokio::signal::unix::{SignalKind, signal};
    if is_stubborn {
        let mut asked = signal(SignalKind::terminate()).unwrap();
        while asked.recv().await.is_some() {}
    }
    std::future::pending().await
}

fn meta(dialect: Dialect, port: u16) -> Meta {
    Meta {
        display_name: "Breakable".into(),
        version: "1.0.0".into(),
        protocol_version: Some("2.1.0".into()),
        game_types: vec!["even_odd".parse().unwrap(), "even_odd_numbers".parse().unwrap()],
        contact_endpoint: Some(format!("http://127.0.0.1:{port}/mcp")),
        contact_email: None,
        max_concurrent_matches: None,
        dialect: Some(dialect),
        batch: true,
        pull: false,
        join: None,
    }
}

/// What stands before the player.
struct Stub {
    broken: String,
    player: String,
    caller: Caller,
    memory: Mutex<Memory>,
}

impl Stub {
    fn is(&self, case: &str) -> bool {
        self.broken == case
    }

    fn drop_next(&self) {
        self.memory.lock().unwrap().drop_next = true;
    }

    async fn forward(&self, body: Vec<u8>) -> Vec<u8> {
        self.caller.call(&self.player, body, PATIENCE).await.unwrap().body.to_vec()
    }

    /// What is wrong before anybody looks into the body.
    fn http(&self, asked: &Asked) -> Option<Option<Told>> {
        let mut memory = self.memory.lock().unwrap();
        let is_invitation = asked.body.windows(15).any(|part| part == b"GAME_INVITATION");
        if is_invitation && asked.number == 1 && std::mem::take(&mut memory.drop_next) {
            return Some(None);
        }
        if self.is("player.http.unread-answer") {
            // Whoever stays asks a second time; whoever does not has left.
            memory.drop_next = asked.number == 1 && !asked.head.contains("connection: close");
        }
        drop(memory);
        if self.is("player.http.keep-alive") && asked.number == 2 {
            return Some(None);
        }
        if self.is("player.http.charset") && asked.head.contains("charset") {
            return Some(Some(told(415, b"no".to_vec())));
        }
        if asked.body.len() > LARGE && self.is("player.http.large-body") {
            self.drop_next();
            return Some(None);
        }
        None
    }

    fn page(&self, path: &str) -> Told {
        match path {
            "/health" if !self.is("player.http.health") => told(200, b"{}".to_vec()),
            "/mcp" if self.is("player.http.get") => told(200, b"{}".to_vec()),
            "/mcp" => told(405, b"{}".to_vec()),
            _ => told(404, b"{}".to_vec()),
        }
    }

    async fn respond(&self, request: &Value) -> Option<Value> {
        if self.is("player.news.in-time") && request["params"]["message_type"] == STANDINGS {
            tokio::time::sleep(Duration::from_millis(1_300)).await;
        }
        let step = before(&self.broken, request, &mut self.memory.lock().unwrap());
        let (forwarded, overlap) = match step {
            Step::Answer(answer) => return Some(answer),
            Step::Forward(changed) => (changed, false),
            Step::Overlap(changed) => (changed, true),
        };
        if overlap {
            // Until another call for the same match has come, or surely none will.
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
        let answer = self.forward(forwarded.to_string().into_bytes()).await;
        let mut answer: Value = serde_json::from_slice(&answer).unwrap();
        let mut memory = self.memory.lock().unwrap();
        after(&self.broken, request, &mut answer, &mut memory);
        Some(answer)
    }
}

const STANDINGS: &str = "LEAGUE_STANDINGS_UPDATE";

pub(super) fn told(status: u16, body: Vec<u8>) -> Told {
    Told { status, content_type: "application/json", body }
}

impl Front for Stub {
    async fn answer(&self, asked: Asked) -> Option<Told> {
        if asked.get {
            return Some(self.page(&asked.path));
        }
        if self.is("player.http.half-body") {
            // The end of the connection before must be seen first.
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        if let Some(answer) = self.http(&asked) {
            return answer;
        }
        let body = match serde_json::from_slice::<Value>(&asked.body) {
            Ok(request) if request.is_object() => {
                self.respond(&request).await?.to_string().into_bytes()
            }
            Ok(_) if self.is("player.rpc.batch") => b"[]".to_vec(),
            Ok(_) => self.forward(asked.body).await,
            Err(_) if self.is("player.rpc.survives-garbage") => {
                self.drop_next();
                self.forward(asked.body).await
            }
            Err(_) if self.is("player.rpc.parse-error") => {
                let text = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"no"}}"#;
                text.into()
            }
            Err(_) => self.forward(asked.body).await,
        };
        let is_odd = self.is("player.http.status") && !asked.head.contains("charset");
        let content_type = match self.is("player.http.content-type") {
            true => "text/plain",
            false => "application/json",
        };
        Some(Told { status: if is_odd { 201 } else { 200 }, content_type, body })
    }

    fn ended(&self, ended: Ended) {
        if ended == Ended::Within && self.is("player.http.half-body") {
            self.drop_next();
        }
    }

    fn is_single(&self) -> bool {
        self.is("player.http.slow-peer")
    }
}
