//! Calls over real sockets: redirects, busy receivers, forbidden places, and a machine in need.

use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Command;
use std::thread::JoinHandle;

use super::*;

const PATIENCE: Duration = Duration::from_secs(10);

fn answers(answers: Vec<String>) -> (String, JoinHandle<Vec<String>>) {
    let (listener, address) = listen();
    (address, serve(listener, answers))
}

fn listen() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/mcp", listener.local_addr().unwrap());
    (listener, address)
}

/// Somebody who answers one connection after the other with `answers`; what it was asked for comes
/// out at the end.
fn serve(listener: TcpListener, answers: Vec<String>) -> JoinHandle<Vec<String>> {
    std::thread::spawn(move || {
        let answer = |answer: String| {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = String::new();
            while !request.ends_with("{}") {
                let mut bytes = [0; 4096];
                let read = stream.read(&mut bytes).unwrap();
                assert_ne!(read, 0, "a whole request, after {request:?}");
                request.push_str(std::str::from_utf8(&bytes[..read]).unwrap());
            }
            stream.write_all(answer.as_bytes()).unwrap();
            request.lines().next().unwrap().to_string()
        };
        answers.into_iter().map(answer).collect()
    })
}

fn answer(status: &str, headers: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}Content-Length: 2\r\nConnection: close\r\n\r\n{{}}")
}

fn call(caller: &Caller, address: &str, timeout: Duration) -> Result<Answered, CallError> {
    runtime().block_on(caller.call(address, "{}", timeout))
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

fn caller() -> Caller {
    Caller::new("test/0", PATIENCE)
}

#[test]
fn only_the_redirect_to_the_same_path_with_a_slash_is_followed() {
    let moved = |to: &str| answer("307 Temporary Redirect", &format!("Location: {to}\r\n"));
    let (address, asked) = answers(vec![moved("/mcp/"), answer("200 OK", "")]);
    assert_eq!(call(&caller(), &address, PATIENCE).unwrap().status, 200);
    assert_eq!(asked.join().unwrap(), ["POST /mcp HTTP/1.1", "POST /mcp/ HTTP/1.1"]);
    for to in ["/elsewhere", "/mcp", "http://127.0.0.1:1/mcp/", "//127.0.0.1:1/mcp/", "mcp/"] {
        let (address, asked) = answers(vec![moved(to)]);
        assert_eq!(call(&caller(), &address, PATIENCE).unwrap().status, 307, "{to}");
        assert_eq!(asked.join().unwrap().len(), 1, "{to}");
    }
    let (address, asked) = answers(vec![moved("/mcp/"), moved("/mcp/")]);
    assert_eq!(call(&caller(), &address, PATIENCE).unwrap().status, 307, "once is enough");
    asked.join().unwrap();
}

#[test]
fn who_is_told_when_to_come_back_comes_back_if_there_is_time() {
    for status in ["503 Service Unavailable", "429 Too Many Requests"] {
        let busy = answer(status, "Retry-After: 0\r\n");
        let (address, asked) = answers(vec![busy.clone(), busy, answer("200 OK", "")]);
        assert_eq!(call(&caller(), &address, PATIENCE).unwrap().status, 200);
        assert_eq!(asked.join().unwrap().len(), 3);
        let (address, asked) = answers(vec![answer(status, "Retry-After: 60\r\n")]);
        let answered = call(&caller(), &address, PATIENCE).unwrap();
        assert!(answered.is_busy(), "a minute is more than there is");
        assert_eq!(answered.retry_after, Some(Duration::from_secs(60)));
        asked.join().unwrap();
        let (address, asked) = answers(vec![answer(status, "")]);
        assert!(call(&caller(), &address, PATIENCE).unwrap().is_busy(), "nobody asked for it");
        asked.join().unwrap();
    }
}

#[test]
fn places_behind_the_walls_are_not_called() {
    let closed = Caller::within(Targets::public(), "test/0", PATIENCE);
    for address in ["http://127.0.0.1:1/mcp", "http://localhost:1/mcp", "http://[::1]:1/mcp"] {
        let refused = call(&closed, address, PATIENCE).unwrap_err();
        assert!(matches!(refused, CallError::Forbidden(_)), "{address}: {refused}");
    }
    let refused = call(&closed, "http://0x7f000001:1/mcp", PATIENCE).unwrap_err();
    assert!(matches!(refused, CallError::BadAddress(_)), "{refused}");
    assert_eq!(closed.calls(), 0);
}

/// A server that serves one connection at a time hears nobody else as long as ours is open.
#[test]
fn a_manager_does_not_hold_on_to_a_connection() {
    let (listener, address) = listen();
    let closed = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut bytes = [0; 4096];
        while !bytes.windows(2).any(|two| two == b"{}") {
            assert_ne!(stream.read(&mut bytes).unwrap(), 0);
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}").unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(3))).unwrap();
        stream.read(&mut bytes).expect("it is closed in good time")
    });
    let caller = Caller::new("league_manager/0", PATIENCE);
    let left = runtime().block_on(async {
        assert_eq!(caller.call(&address, "{}", PATIENCE).await.unwrap().status, 200);
        tokio::task::spawn_blocking(move || closed.join().unwrap()).await.unwrap()
    });
    assert_eq!(left, 0, "closed, and nothing else was asked");
}

#[test]
fn a_refused_connection_is_not_our_fault() {
    let (listener, address) = listen();
    drop(listener);
    let refused = call(&caller(), &address, PATIENCE).unwrap_err();
    assert!(matches!(refused, CallError::NotConnected(_)), "{refused}");
}

const IN_NEED: &str = "LEAGUE_TEST_IN_NEED";

/// Runs itself again as a process that may open only a few files, so that nobody else is in need.
#[cfg(unix)]
#[test]
fn a_machine_without_descriptors_blames_itself_and_recovers() {
    if std::env::var_os(IN_NEED).is_some() {
        return in_need();
    }
    let name = std::thread::current().name().unwrap().to_string();
    let script = "ulimit -n 32 && exec \"$0\" --exact \"$1\" --test-threads 1";
    let mut shell = Command::new("sh");
    shell.args(["-c", script]).arg(std::env::current_exe().unwrap()).arg(name);
    let output = shell.env(IN_NEED, "1").output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && told.contains("1 passed"), "{told}");
}

fn in_need() {
    let (listener, address) = listen();
    let runtime = runtime();
    let mut hoard = vec![];
    while let Ok(file) = File::open("/dev/null") {
        hoard.push(file);
    }
    let caller = caller();
    let failed = runtime.block_on(caller.call(&address, "{}", Duration::from_millis(400)));
    let failed = failed.unwrap_err();
    assert!(matches!(failed, CallError::Ours(_)), "{failed:?}");
    runtime.block_on(async {
        let mut calling = std::pin::pin!(caller.call(&address, "{}", PATIENCE));
        let early = tokio::time::timeout(OWN_FAILURE_PAUSE / 2, calling.as_mut()).await;
        assert!(early.is_err(), "it tries again: {early:?}");
        hoard.clear();
        let asked = serve(listener, vec![answer("200 OK", "")]);
        assert_eq!(calling.await.unwrap().status, 200);
        asked.join().unwrap();
    });
}
