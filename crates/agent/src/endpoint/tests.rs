//! An endpoint over real sockets: when it is full, when its callers dawdle, and when its service
//! panics.

use std::io::{Read, Write};
use std::net::TcpStream as Socket;

use super::*;
use crate::limits::BODY_BYTES_FREE;

const PATIENCE: Duration = Duration::from_secs(10);

struct House;

impl Service for House {
    async fn mcp(&self, body: Bytes, _peer: SocketAddr) -> Answer {
        match &body[..] {
            b"{}" => panic!("a bug of ours"),
            b"[]" => Answer::hang_up(),
            body => Answer::text(200, format!("{} bytes", body.len())),
        }
    }

    fn page(&self, path: &str) -> Option<Answer> {
        (path == "/health").then(|| Answer::text(200, "ok\n"))
    }
}

fn terms(places: Places) -> Terms {
    Terms { places, ..Terms::usual() }
}

/// An endpoint on `terms`, and what is needed to end it.
async fn open(terms: Terms) -> (SocketAddr, watch::Sender<bool>, tokio::task::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (quit, stop) = watch::channel(false);
    let serving = tokio::spawn(serve_on(terms, listener, Arc::new(House), stop));
    (address, quit, serving)
}

/// Opens an endpoint on `terms`, lets `visit` happen, and closes it.
async fn during(terms: Terms, visit: impl FnOnce(SocketAddr) + Send + 'static) {
    let (address, quit, serving) = open(terms).await;
    tokio::task::spawn_blocking(move || visit(address)).await.unwrap();
    quit.send_replace(true);
    serving.await.unwrap();
}

fn connect(address: SocketAddr) -> Socket {
    let stream = Socket::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
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

/// Whether the other side has closed, without a word, or closes soon.
fn is_closed(stream: &mut Socket) -> bool {
    match stream.read(&mut [0; 16]) {
        Ok(read) => read == 0,
        Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
    }
}

const HEALTH: &str = "GET /health HTTP/1.1\r\nHost: here\r\n\r\n";

fn post(length: usize, body: &str) -> String {
    format!(
        "POST /mcp HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_finds_no_place_is_told_so_at_once() {
    during(terms(Places::new(1, 1)), |address| {
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
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_has_asked_nothing_for_longest_gives_way_to_a_newcomer() {
    during(terms(Places::new(3, 3)), |address| {
        let mut speaker = connect(address);
        assert!(exchange(&mut speaker, HEALTH).starts_with("HTTP/1.1 200"));
        let (mut quiet, mut quieter) = (connect(address), connect(address));
        quiet.write_all(b"GET /hea").unwrap();
        let mut newcomer = connect(address);
        assert!(exchange(&mut newcomer, HEALTH).starts_with("HTTP/1.1 200"));
        assert!(is_closed(&mut quiet), "the first of those who asked nothing");
        assert!(exchange(&mut quieter, HEALTH).starts_with("HTTP/1.1 200"));
        assert!(exchange(&mut speaker, HEALTH).starts_with("HTTP/1.1 200"));
        let answer = exchange(&mut connect(address), HEALTH);
        assert!(answer.starts_with("HTTP/1.1 503"), "everybody has asked: {answer}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_says_nothing_is_not_waited_for() {
    let first_byte_timeout = Duration::from_millis(50);
    during(Terms { first_byte_timeout, ..Terms::usual() }, |address| {
        let mut speaker = connect(address);
        assert!(exchange(&mut speaker, HEALTH).starts_with("HTTP/1.1 200"));
        assert!(is_closed(&mut connect(address)));
        assert!(exchange(&mut speaker, HEALTH).starts_with("HTTP/1.1 200"), "it has spoken");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_asks_and_never_reads_is_hung_up_on() {
    let write_timeout = Duration::from_millis(100);
    during(Terms { write_timeout, ..Terms::usual() }, |address| {
        let mut stream = connect(address);
        // Once the answers fill both ends' buffers, nobody takes more questions.
        let questions = HEALTH.repeat(1_000);
        let ended = loop {
            if let Err(error) = stream.write_all(questions.as_bytes()) {
                break error.kind();
            }
        };
        let gone = [std::io::ErrorKind::ConnectionReset, std::io::ErrorKind::BrokenPipe];
        assert!(gone.contains(&ended), "{ended:?}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_does_not_come_is_given_up() {
    let bodies = Bodies::new(usize::MAX / 2, Duration::from_millis(50));
    during(Terms { bodies, ..Terms::usual() }, |address| {
        let answer = exchange(&mut connect(address), &post(100, "[1, 2"));
        assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unfinished_bodies_share_their_room() {
    let bodies = Bodies::new(10, PATIENCE);
    during(Terms { bodies, ..Terms::usual() }, |address| {
        let large = " ".repeat(2 * BODY_BYTES_FREE);
        let mut stream = connect(address);
        let answer = exchange(&mut stream, &post(large.len() + 1, &large));
        assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
        assert!(answer.to_lowercase().contains("retry-after: 1\r\n"), "{answer}");
        let small = " ".repeat(100);
        let answer = exchange(&mut connect(address), &post(small.len(), &small));
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_may_hang_up() {
    during(Terms::usual(), |address| {
        let mut stream = connect(address);
        stream.write_all(post(2, "[]").as_bytes()).unwrap();
        assert!(is_closed(&mut stream));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_that_panics_takes_its_endpoint_along() {
    let (address, _quit, serving) = open(terms(Places::new(2, 2))).await;
    let mut caller = connect(address);
    caller.write_all(post(2, "{}").as_bytes()).unwrap();
    let ended = tokio::time::timeout(PATIENCE, serving).await.expect("it ends");
    let panic = ended.expect_err("not in silence").into_panic();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"a bug of ours"));
}
