//! How many calls a second the manager answers, beside a server that does nothing: raw hyper, a
//! letter of the league with clients of the Model Context Protocol let in and without, and
//! `tools/call` in an older version, in the newest and by way of `rmcp`. One machine, keep-alive,
//! both sides here.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use league_agent::ambient::{self, Mark};
use league_agent::caller::Caller;
use league_agent::endpoint::serve;
use league_agent::exchange::Exchange;
use league_agent::rate::Rate;
use league_core::id::LeagueId;
use league_core::manager::{Charter, StartRule};
use league_core::policy::RuleSet;
use league_core::proof::{Keys, Secret, Token};
use league_server::journal::MemoryJournal;
use league_server::manager::{Actor, Books, Hosts, Manager, Outbound, Rates, Reception, Stub};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio::sync::watch;
use tokio::task::JoinSet;

const CONNECTIONS: usize = 16;
const SPAN: Duration = Duration::from_secs(2);
const RUNS: usize = 3;
/// As long as a usual answer.
const NOTHING: &str = r#"{"jsonrpc":"2.0","result":{"filler":"0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"},"id":1}"#;
const LETTER: &str = r#"{"jsonrpc":"2.0","method":"PING","params":{"protocol":"league.v2","message_type":"PING","sender":"player:P01","timestamp":"2026-01-15T10:30:00Z","conversation_id":"convbench0123456789"},"id":1}"#;
const TOOL: &str = r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"get_league","arguments":{}},"id":1}"#;
const NEWEST: &str = r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"get_league","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}},"id":1}"#;
/// What somebody says who leaves something out, so that `rmcp` has to judge it.
const ODD_HEAD: &str = "MCP-Protocol-Version: 2025-06-18\r\nMcp-Method: tools/call\r\n";
const NEWEST_HEAD: &str =
    "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: get_league\r\n";

fn main() {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime").block_on(measure());
}

async fn measure() {
    let (_quit, quitting) = watch::channel(false);
    let (raw, alone, let_in) = (raw().await, listen().await, listen().await);
    let manager = Arc::new(manager(&quitting).await);
    tokio::spawn(serve(alone.0, manager.clone(), quitting.clone()));
    let reception = Reception::new(manager, Hosts::of_server(let_in.1, &[]));
    tokio::spawn(serve(let_in.0, Arc::new(reception), quitting));
    let cases = [
        ("raw hyper", raw, request("", LETTER)),
        ("letter, no clients let in", alone.1, request("", LETTER)),
        ("letter", let_in.1, request("", LETTER)),
        ("tools/call", let_in.1, request("", TOOL)),
        ("tools/call 2026-07-28", let_in.1, request(NEWEST_HEAD, NEWEST)),
        ("tools/call by rmcp", let_in.1, request(ODD_HEAD, TOOL)),
    ];
    let mut best = BTreeMap::new();
    for _ in 0..RUNS {
        for (name, address, request) in &cases {
            let rate = calls_per_second(*address, request).await;
            let seen: &mut f64 = best.entry(*name).or_default();
            *seen = seen.max(rate);
        }
    }
    let limit = best["raw hyper"];
    for (name, _, _) in &cases {
        let rate = best[name];
        report(&format!("mcp: {name}: {rate:.0} calls/s, {:.2} of raw hyper", rate / limit));
    }
}

#[expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
fn report(line: &str) {
    println!("{line}");
}

fn request(more: &str, body: &str) -> Vec<u8> {
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n{more}Content-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body.as_bytes()].concat()
}

async fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    (listener, address)
}

/// A server that reads what it is sent and always says the same.
async fn raw() -> SocketAddr {
    let (listener, address) = listen().await;
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.expect("a connection");
            stream.set_nodelay(true).expect("a socket");
            tokio::spawn(async move {
                let answer = service_fn(|request: Request<Incoming>| async {
                    let _body = request.into_body().collect().await;
                    Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(
                        NOTHING.as_bytes(),
                    ))))
                });
                let served = http1::Builder::new().serve_connection(TokioIo::new(stream), answer);
                drop(served.await);
            });
        }
    });
    address
}

/// A manager with a league in which nobody plays.
async fn manager(quitting: &watch::Receiver<bool>) -> Manager {
    let keys = Keys::derive(&Secret::new([7; 32]));
    let league: LeagueId = "bench".parse().expect("a name");
    let charter = Charter {
        league: league.clone(),
        rule_set: RuleSet::V21.to_string(),
        rules: vec![],
        game: "even_odd".parse().expect("a game"),
        format: "round_robin".into(),
        start: StartRule::OnCommand,
        players_max: 10,
        key_check: keys.check_value(),
    };
    let founding = Books::found(Arc::new(MemoryJournal::default()), ambient::now(), charter);
    let books = founding.await.expect("a league");
    let exchange = Exchange::new(Caller::new("league_manager/bench", SPAN));
    let own = keys.clone();
    let (stub, actor): (Stub, _) = Actor::new(books, |stub| Outbound::new(stub, own, exchange));
    let stop = quitting.clone();
    tokio::spawn(async move { actor.run(stop).await.expect("a journal") });
    let admin: Token = "tok_administrator_0123456789abcdef".parse().expect("a token");
    let often = Rate::per(1_000_000, Duration::from_secs(1));
    let rates = Rates { agent: often, stranger: often, registrations: often };
    Manager::new(keys, admin, BTreeMap::from([(league, stub)])).at(rates)
}

async fn calls_per_second(address: SocketAddr, request: &[u8]) -> f64 {
    let mark = Mark::set();
    let mut callers = JoinSet::new();
    for _ in 0..CONNECTIONS {
        let request = request.to_vec();
        callers.spawn(async move {
            let mut stream = TcpStream::connect(address).await.expect("a connection");
            stream.set_nodelay(true).expect("a socket");
            let (mut calls, mut answer) = (0_u32, vec![]);
            while mark.elapsed() < SPAN {
                stream.write_all(&request).await.expect("a listener");
                answer.clear();
                while !is_whole(&answer) {
                    stream.read_buf(&mut answer).await.expect("an answer");
                }
                calls += 1;
            }
            assert!(answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
            calls
        });
    }
    let calls: u32 = callers.join_all().await.into_iter().sum();
    f64::from(calls) / mark.elapsed().as_secs_f64()
}

/// Whether a whole answer has come.
fn is_whole(answer: &[u8]) -> bool {
    let Some(end) = answer.windows(4).position(|at| at == b"\r\n\r\n") else { return false };
    let head = String::from_utf8_lossy(&answer[..end]).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length: usize = length.and_then(|bytes| bytes.trim().parse().ok()).unwrap_or(0);
    answer.len() >= end + 4 + length
}
