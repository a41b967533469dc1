//! Services as processes of their own, and how a test talks to them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use league_agent::ambient::Mark;
use serde_json::Value;

use crate::program::{Place, Run};

/// How long anything may take before a test gives up.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A running service. It is killed when nobody needs it any more.
pub(crate) struct Service {
    child: Child,
    stdout: BufReader<std::process::ChildStdout>,
}

impl Service {
    /// Starts the program with `line` as its arguments.
    pub(crate) fn start(place: &Place, line: &str) -> Self {
        Self::spawn(place, place.command(line))
    }

    /// Starts somebody else's program.
    pub(crate) fn spawn(place: &Place, mut command: Command) -> Self {
        let log = place.path().join("stderr.txt");
        let stderr = std::fs::File::options().create(true).append(true).open(log).unwrap();
        let mut child = command.stdout(Stdio::piped()).stderr(stderr).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdout }
    }

    /// The JSON document that it prints when it is ready.
    pub(crate) fn announced(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// Its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Kills it as nothing can be refused: `kill -9`.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to stop, as service managers do.
    pub(crate) fn terminate(&self) {
        let kill = format!("kill -TERM {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    }

    /// Waits for its end and gives the exit code.
    pub(crate) fn end(mut self) -> Option<i32> {
        until("the process ends", || self.child.try_wait().unwrap()).code()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// An address where nobody listens. The system gives the ports that it hands out by itself to the
/// next who asks, which may be another test; these it does not hand out.
pub(crate) fn free_address() -> SocketAddr {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    const PORTS: std::ops::Range<u16> = 20_000..30_000;
    let spread = u16::try_from(std::process::id() % 10_000).unwrap();
    let all = std::iter::repeat_with(|| NEXT.fetch_add(1, Ordering::Relaxed));
    let mut ports = all.map(|next| PORTS.start + (spread + next) % (PORTS.end - PORTS.start));
    let is_free = |port: &u16| TcpListener::bind(("0.0.0.0", *port)).is_ok();
    SocketAddr::from(([127, 0, 0, 1], ports.find(is_free).unwrap()))
}

/// Looks until there is something to see.
pub(crate) fn until<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    until_within(PATIENCE, what, look)
}

/// The same for somebody with more patience.
pub(crate) fn until_within<T>(
    patience: Duration,
    what: &str,
    mut look: impl FnMut() -> Option<T>,
) -> T {
    let began = Mark::set();
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(began.elapsed() < patience, "{what}: not within {patience:?}");
        // Whoever is looked at may need the processor.
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// A manager and where it is.
pub(crate) struct Office {
    pub(crate) service: Service,
    pub(crate) address: String,
    pub(crate) announced: Value,
}

impl Office {
    pub(crate) fn open(place: &Place) -> Self {
        Self::open_at(place, "127.0.0.1:0")
    }

    pub(crate) fn open_at(place: &Place, address: &str) -> Self {
        Self::open_with(place, &format!("--listen {address}"))
    }

    /// Opens a manager with more options.
    pub(crate) fn open_with(place: &Place, options: &str) -> Self {
        let mut service = Service::start(place, &format!("serve {options} --json"));
        let announced = service.announced();
        let address = announced["address"].as_str().unwrap().to_string();
        Self { service, address, announced }
    }

    /// Runs a command that asks this manager.
    pub(crate) fn run(&self, place: &Place, line: &str) -> Run {
        place.run(&format!("{line} --manager http://{}", self.address))
    }

    /// The document at `path`, if the manager answers.
    pub(crate) fn look(&self, path: &str) -> Option<Value> {
        let (status, body) = request(&self.address, &get("GET", path))?;
        (status == 200).then(|| serde_json::from_str(&body).unwrap())
    }

    /// Starts an agent of this manager and waits until it has joined.
    pub(crate) fn seat(&self, place: &Place, line: &str) -> Service {
        let mut agent = self.send(place, line);
        agent.announced();
        agent
    }

    /// Starts an agent of this manager.
    pub(crate) fn send(&self, place: &Place, line: &str) -> Service {
        let listen = "--listen 127.0.0.1:0 --json";
        Service::start(place, &format!("{line} --manager http://{} {listen}", self.address))
    }

    /// Waits until a league is over, and gives its standings.
    pub(crate) fn standings_at_the_end(&self, league: &str) -> Value {
        until("the league is over", || {
            let document = self.look(&format!("/api/v1/leagues/{league}/standings"));
            document.filter(|document| document["phase"] == "completed")
        })
    }
}

/// A request without a body.
pub(crate) fn get(method: &str, path: &str) -> String {
    format!("{method} {path} HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n")
}

/// A request with a JSON document and perhaps a token.
pub(crate) fn post(path: &str, token: Option<&str>, body: &str) -> String {
    let token =
        token.map_or_else(String::new, |token| format!("Authorization: Bearer {token}\r\n"));
    format!(
        "POST {path} HTTP/1.1\r\nHost: here\r\nConnection: close\r\n{token}\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// The status and the body that come back; `None` if nobody answers.
pub(crate) fn request(address: &str, request: &str) -> Option<(u16, String)> {
    request_within(PATIENCE, address, request)
}

/// The same for somebody with less patience.
pub(crate) fn request_within(
    patience: Duration,
    address: &str,
    request: &str,
) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect_timeout(&address.parse().ok()?, patience).ok()?;
    stream.set_read_timeout(Some(patience)).unwrap();
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some((status, body.to_string()))
}
