//! An endpoint over real sockets: when it is full, and when its service panics.

use std::io::{Read, Write};
use std::net::TcpStream as Socket;
use std::time::Duration;

use super::*;

const PATIENCE: Duration = Duration::from_secs(10);

struct House;

impl Service for House {
    async fn mcp(&self, _body: Bytes, _peer: SocketAddr) -> Answer {
        panic!("a bug of ours")
    }

    fn page(&self, path: &str) -> Option<Answer> {
        (path == "/health").then(|| Answer::text(200, "ok\n"))
    }
}

/// An endpoint with `places`, and what is needed to end it.
async fn open(places: Places) -> (SocketAddr, watch::Sender<bool>, tokio::task::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (quit, stop) = watch::channel(false);
    let serving = tokio::spawn(serve_within(places, listener, Arc::new(House), stop));
    (address, quit, serving)
}

fn connect(address: SocketAddr) -> Socket {
    let stream = Socket::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Sends `request` and reads until the first empty line, at least.
fn exchange(stream: &mut Socket, request: &str) -> String {
    stream.write_all(request.as_bytes()).unwrap();
    let mut text = String::new();
    while !text.contains("\r\n\r\n") {
        let mut bytes = [0; 4096];
        let read = stream.read(&mut bytes).unwrap();
        assert_ne!(read, 0, "an answer, after {text:?}");
        text.push_str(std::str::from_utf8(&bytes[..read]).unwrap());
    }
    text
}

const HEALTH: &str = "GET /health HTTP/1.1\r\nHost: here\r\n\r\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_finds_no_place_is_told_so_at_once() {
    let (address, quit, serving) = open(Places::new(1, 1)).await;
    tokio::task::spawn_blocking(move || {
        let mut first = connect(address);
        assert!(exchange(&mut first, HEALTH).starts_with("HTTP/1.1 200"));
        let answer = exchange(&mut connect(address), HEALTH);
        assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
        assert!(answer.contains("Retry-After: 1\r\n"), "{answer}");
        assert!(exchange(&mut first, HEALTH).starts_with("HTTP/1.1 200"), "the first keeps its");
        drop(first);
        // The endpoint notices on its own time that the first has left.
        while !exchange(&mut connect(address), HEALTH).starts_with("HTTP/1.1 200") {}
    })
    .await
    .unwrap();
    quit.send_replace(true);
    serving.await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_that_panics_takes_its_endpoint_along() {
    let (address, _quit, serving) = open(Places::new(2, 2)).await;
    let mut caller = connect(address);
    let call = "POST /mcp HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\n\
        Content-Length: 2\r\n\r\n{}";
    caller.write_all(call.as_bytes()).unwrap();
    let ended = tokio::time::timeout(PATIENCE, serving).await.expect("it ends");
    let panic = ended.expect_err("not in silence").into_panic();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"a bug of ours"));
}
