//! A whole player behind a front that spoils one thing.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use league_agent::address::Address;
use league_agent::caller::Caller;
use league_agent::exchange::Exchange;
use league_agent::keep::Keep;
use league_agent::player::Player;
use league_agent::register::Application;
use league_agent::strategy::House;
use league_check::http::{Line, post_head};
use league_check::transcript::Transcript;
use league_wire::Dialect;
use league_wire::message::Meta;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::front::{Asked, Ended, Front, Told, serve};
use super::sabotage::{Memory, Step, after, before, registration};

const PATIENCE: Duration = Duration::from_secs(10);
const LARGE: usize = 500_000;

fn variable(name: &str) -> String {
    std::env::var(name).unwrap()
}

/// Runs until somebody ends the process.
pub(super) async fn run(broken: &str) {
    let (port, data) = (variable("PORT").parse().unwrap(), PathBuf::from(variable("DATA")));
    let starts = data.join("starts");
    let before = fs::read_to_string(&starts).map_or(0, |text| text.len());
    fs::write(&starts, "x".repeat(before + 1)).unwrap();
    if broken == "player.life.restart" && before == 1 {
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
    let manager = Arc::new(Manager {
        broken: broken.into(),
        address: variable("MANAGER").parse().unwrap(),
        stub: stub.clone(),
    });
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
        if is_invitation && std::mem::take(&mut memory.drop_next) {
            return Some(None);
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

fn told(status: u16, body: Vec<u8>) -> Told {
    Told { status, content_type: "application/json", body }
}

impl Front for Stub {
    async fn answer(&self, asked: Asked) -> Option<Told> {
        if asked.get {
            return Some(self.page(&asked.path));
        }
        if self.is("player.http.unread-answer") || self.is("player.http.half-body") {
            // The end of the connection before must be seen first.
            tokio::time::sleep(Duration::from_millis(40)).await;
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
        let hurts = match ended {
            Ended::Within => "player.http.half-body",
            Ended::After(1) => "player.http.unread-answer",
            Ended::After(_) => return,
        };
        if self.is(hurts) {
            self.drop_next();
        }
    }

    fn is_single(&self) -> bool {
        self.is("player.http.slow-peer")
    }
}

/// What stands between the player and its manager.
struct Manager {
    broken: String,
    address: Address,
    stub: Arc<Stub>,
}

impl Manager {
    async fn pass_on(&self, body: &[u8]) -> Bytes {
        let user_agent = match self.broken == "player.register.user-agent" {
            true => "User-Agent: Python-urllib/3.11",
            false => "User-Agent: player/1.0.0",
        };
        let headers = [user_agent, "Content-Type: application/json"];
        let mut request = post_head(&self.address, body.len(), &headers);
        request.extend_from_slice(body);
        let mut line = Line::open(&self.address, Transcript::default()).await.unwrap();
        line.send(&request).await.unwrap();
        line.receive(PATIENCE).await.unwrap().body
    }
}

impl Front for Manager {
    async fn answer(&self, asked: Asked) -> Option<Told> {
        let mut request: Value = serde_json::from_slice(&asked.body).unwrap();
        registration(&self.broken, &mut request);
        let body = request.to_string().into_bytes();
        let answer = self.pass_on(&body).await;
        if self.broken == "player.register.once" {
            self.pass_on(&body).await;
        }
        let result: Value = serde_json::from_slice(&answer).unwrap();
        self.stub.memory.lock().unwrap().registered(&result["result"]);
        Some(told(200, answer.to_vec()))
    }

    fn ended(&self, _: Ended) {}

    fn is_single(&self) -> bool {
        false
    }
}
