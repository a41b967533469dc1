//! Many players that wait for their turns at one manager, and what each of them costs it.
//! `LEAGUE_LONG=1` makes it ten thousand.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};

use serde_json::{Value, json};
use tokio::net::TcpSocket;
use tokio::runtime::Runtime;

use crate::program::Place;
use crate::service::{Office, until};
use crate::services::found;

/// Players behind one address; no more may register in a while.
const BEHIND_ONE: usize = 1_000;
/// Registrations that are sent together.
const TOGETHER: usize = 100;
/// What a player that waits may cost the manager.
const BYTES_MAX: usize = 32 * 1024;

fn count() -> usize {
    if std::env::var_os("LEAGUE_LONG").is_some() { 10_000 } else { 500 }
}

/// A connection to `manager` from the `number`th address of this machine.
fn connect(runtime: &Runtime, manager: SocketAddr, number: usize) -> TcpStream {
    let own = Ipv4Addr::new(127, 0, 1, u8::try_from(number).unwrap() + 1);
    let connecting = async {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind((own, 0).into()).unwrap();
        socket.connect(manager).await.expect("a place").into_std().unwrap()
    };
    let stream = runtime.block_on(connecting);
    stream.set_nonblocking(false).unwrap();
    stream
}

fn application(number: usize) -> Value {
    json!({
        "jsonrpc": "2.0", "id": number, "method": "register_player",
        "params": {
            "protocol": "league.v2", "message_type": "LEAGUE_REGISTER_REQUEST",
            "sender": "player:new", "timestamp": "2026-11-15T12:00:00Z",
            "conversation_id": format!("conv-register-{number}"), "league_id": "spring",
            "player_meta": {
                "display_name": format!("Poller {number}"), "version": "1.0.0",
                "protocol_version": "2.1.0", "game_types": ["even_odd"], "pull": true,
            },
        },
    })
}

/// Registers players from `first` on and gives their tokens.
fn register(mut stream: TcpStream, first: usize, count: usize) -> Vec<String> {
    let batch: Vec<Value> = (first..first + count).map(application).collect();
    let body = json!(batch).to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let body = answer.split_once("\r\n\r\n").unwrap().1;
    let answers: Vec<Value> = serde_json::from_str(body).unwrap_or_else(|_| panic!("{answer}"));
    let token = |answer: &Value| answer["result"]["auth_token"].as_str().map(Into::into);
    answers.iter().map(|answer| token(answer).unwrap_or_else(|| panic!("{answer}"))).collect()
}

/// Bytes of memory that a process has.
fn resident(id: u32) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
}

fn polled(office: &Office) -> usize {
    let agents = office.look("/api/v1/leagues/spring/agents").unwrap();
    let agents = agents["agents"].as_array().unwrap();
    agents.iter().filter(|agent| agent["last_poll"].is_string()).count()
}

#[cfg(target_os = "linux")]
#[test]
fn a_player_that_waits_costs_little_memory() {
    let (place, count) = (Place::new(), count());
    let office = Office::open(&place);
    found(&office, &place, &format!("--league spring --start manual --players-max {count}"));
    let manager: SocketAddr = office.address.parse().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut tokens: Vec<String> = vec![];
    while tokens.len() < count {
        let (first, together) = (tokens.len(), TOGETHER.min(count - tokens.len()));
        let stream = connect(&runtime, manager, first / BEHIND_ONE);
        tokens.extend(register(stream, first, together));
    }
    assert_eq!(polled(&office), 0);
    let before = resident(office.service.id());
    let mut waiting = Vec::with_capacity(count);
    for (number, token) in tokens.iter().enumerate() {
        let mut stream = connect(&runtime, manager, number / BEHIND_ONE);
        let poll = format!(
            "GET /api/v1/turns?wait=55 HTTP/1.1\r\nHost: here\r\n\
             Authorization: Bearer {token}\r\n\r\n"
        );
        stream.write_all(poll.as_bytes()).unwrap();
        waiting.push(stream);
    }
    until("everybody waits", || (polled(&office) == count).then_some(()));
    let each = resident(office.service.id()).saturating_sub(before) / count;
    println!("{count} players that wait cost the manager {each} bytes each");
    assert!(each < BYTES_MAX, "{each} bytes each");
    for stream in &mut waiting {
        stream.set_nonblocking(true).unwrap();
        let read = stream.read(&mut [0; 1]).map_err(|error| error.kind());
        assert_eq!(read, Err(ErrorKind::WouldBlock), "none was sent away");
    }
}
