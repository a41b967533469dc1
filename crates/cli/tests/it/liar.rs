//! A manager that does one thing wrong: a proxy before a real one. Whoever registers through it is
//! called through it, so that it can falsify what the manager answers and what it tells by itself.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use league_wire::Dialect;
use serde_json::{Value, json};

/// Longest body that the proxy takes, as the manager does.
const BODY_BYTES_MAX: usize = 1024 * 1024;
/// How long either side may take; a silent agent takes longer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A request on its way to the manager.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) verb: String,
    pub(crate) path: String,
    pub(crate) head: String,
    pub(crate) body: String,
    /// The body; null if it is not JSON.
    pub(crate) json: Value,
    /// Which request of its connection this is, from 1.
    pub(crate) number: usize,
}

impl Asked {
    /// The header called `name`, in lower case.
    pub(crate) fn header(&self, name: &str) -> String {
        header(&self.head, name).unwrap_or_default().to_ascii_lowercase()
    }

    /// A field of a message of which the fields stand side by side.
    pub(crate) fn field(&self, name: &str) -> &Value {
        &self.json["params"][name]
    }

    pub(crate) fn text(&self, name: &str) -> &str {
        self.field(name).as_str().unwrap_or_default()
    }

    pub(crate) fn calls(&self, method: &str) -> bool {
        self.json["method"] == method
    }
}

/// What goes back.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) content_type: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(document: &Value) -> Self {
        let content_type = "application/json".into();
        Self { status: 200, content_type, body: document.to_string() }
    }

    /// Changes the document that goes back.
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut Value)) {
        if let Ok(mut document) = serde_json::from_str(&self.body) {
            change(&mut document);
            self.body = document.to_string();
        }
    }
}

/// What becomes of a call of the manager's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It arrives.
    Arrives,
    /// It does not, and the manager believes that it did.
    IsLost,
}

/// A call of the manager's to an agent.
#[derive(Debug)]
pub(crate) struct Told {
    /// The agent's port.
    pub(crate) port: u16,
    pub(crate) head: String,
    pub(crate) json: Value,
}

impl Told {
    pub(crate) fn is(&self, kind: &str) -> bool {
        self.json["params"]["message_type"] == kind
    }

    pub(crate) fn field(&mut self, name: &str) -> &mut Value {
        &mut self.json["params"][name]
    }

    pub(crate) fn league(&self) -> String {
        self.json["params"]["league_id"].to_string()
    }
}

/// What the liar remembers.
#[derive(Clone, Default)]
pub(crate) struct Memory {
    counts: Arc<Mutex<BTreeMap<String, u32>>>,
    texts: Arc<Mutex<Vec<(String, String)>>>,
    turns: Arc<Mutex<BTreeMap<String, Arc<Mutex<()>>>>>,
}

impl Memory {
    /// How often `key` was counted, this time included.
    pub(crate) fn count(&self, key: impl Into<String>) -> u32 {
        let mut counts = lock(&self.counts);
        let count = counts.entry(key.into()).or_default();
        *count += 1;
        *count
    }

    /// Counts one less.
    pub(crate) fn uncount(&self, key: &str) {
        lock(&self.counts).entry(key.into()).and_modify(|count| *count -= 1);
    }

    /// Whether `key` was counted.
    pub(crate) fn has(&self, key: &str) -> bool {
        lock(&self.counts).get(key).is_some_and(|count| *count > 0)
    }

    /// Keeps what stands for what.
    pub(crate) fn stand_for(&self, real: &str, short: impl FnOnce(usize) -> String) -> String {
        let mut texts = lock(&self.texts);
        let known = texts.iter().find(|(known, _)| known == real).map(|(_, short)| short.clone());
        known.unwrap_or_else(|| {
            let short = short(texts.len());
            texts.push((real.into(), short.clone()));
            short
        })
    }

    /// Whose turn it is in a league.
    fn turn(&self, league: &str) -> Arc<Mutex<()>> {
        lock(&self.turns).entry(league.into()).or_default().clone()
    }

    pub(crate) fn texts(&self) -> Vec<(String, String)> {
        lock(&self.texts).clone()
    }
}

/// One thing that is wrong.
#[derive(Clone, Copy)]
pub(crate) struct Switch {
    /// The case that must fail by it.
    pub(crate) case: &'static str,
    pub(crate) dialect: Dialect,
    before: fn(&Asked, &Memory) -> Option<Answer>,
    after: fn(&Asked, &mut Answer, &Memory),
    told: fn(&mut Told, &Memory) -> Fate,
    heard: fn(&Told, Option<&str>, &Memory) -> bool,
    inward: fn(String, &Memory) -> String,
    outward: fn(String, &Memory) -> String,
    /// Whether only one call of a league is on its way at a time.
    in_turn: bool,
}

impl Switch {
    pub(crate) fn of(case: &'static str) -> Self {
        Self {
            case,
            dialect: Dialect::Flat,
            before: |_, _| None,
            after: |_, _, _| {},
            told: |_, _| Fate::Arrives,
            heard: |_, _, _| false,
            inward: |text, _| text,
            outward: |text, _| text,
            in_turn: false,
        }
    }

    pub(crate) fn spoken(self, dialect: Dialect) -> Self {
        Self { dialect, ..self }
    }

    /// Answers instead of the manager.
    pub(crate) fn before(self, before: fn(&Asked, &Memory) -> Option<Answer>) -> Self {
        Self { before, ..self }
    }

    /// Changes what the manager answers.
    pub(crate) fn after(self, after: fn(&Asked, &mut Answer, &Memory)) -> Self {
        Self { after, ..self }
    }

    /// Changes what the manager tells an agent.
    pub(crate) fn told(self, told: fn(&mut Told, &Memory) -> Fate) -> Self {
        Self { told, ..self }
    }

    /// Looks at what an agent answers; whether the manager is to believe that all is well.
    pub(crate) fn heard(self, heard: fn(&Told, Option<&str>, &Memory) -> bool) -> Self {
        Self { heard, ..self }
    }

    /// Changes every text on its way to the manager, and back.
    pub(crate) fn renamed(
        self,
        inward: fn(String, &Memory) -> String,
        outward: fn(String, &Memory) -> String,
    ) -> Self {
        Self { inward, outward, ..self }
    }

    pub(crate) fn in_turn(self) -> Self {
        Self { in_turn: true, ..self }
    }
}

/// A manager that does one thing wrong.
pub(crate) struct Liar {
    pub(crate) address: SocketAddr,
}

struct Shared {
    manager: String,
    address: SocketAddr,
    switch: Switch,
    memory: Memory,
}

impl Liar {
    /// A liar before the manager at `manager`. It listens until the tests are over.
    pub(crate) fn before(manager: &str, switch: Switch) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let memory = Memory::default();
        let shared = Arc::new(Shared { manager: manager.into(), address, switch, memory });
        std::thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                let shared = shared.clone();
                // Whoever hangs up in the middle is no failure of the liar.
                std::thread::spawn(move || drop(shared.serve(stream)));
            }
        });
        Self { address }
    }
}

impl Shared {
    fn serve(&self, stream: TcpStream) -> std::io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut reader = BufReader::new(stream.try_clone()?);
        let mut stream = stream;
        for number in 1.. {
            let Some(mut asked) = self.receive(&mut reader, number)? else { break };
            if let Some(port) = asked.path.strip_prefix("/to/") {
                let port = port.split('/').next().and_then(|port| port.parse().ok());
                let Some(said) = self.tell(port.unwrap_or(0), &asked) else { break };
                write_answer(&mut stream, &said)?;
                continue;
            }
            asked.body = (self.switch.inward)(self.inward(&asked.body), &self.memory);
            asked.head = (self.switch.inward)(asked.head, &self.memory);
            asked.json = serde_json::from_str(&asked.body).unwrap_or(Value::Null);
            let early = (self.switch.before)(&asked, &self.memory);
            let Some(mut answer) = early.or_else(|| self.ask(&asked)) else { break };
            (self.switch.after)(&asked, &mut answer, &self.memory);
            if answer.status == 0 {
                break;
            }
            answer.body = (self.switch.outward)(self.outward(&answer.body), &self.memory);
            write_answer(&mut stream, &answer)?;
            if asked.header("connection") == "close" {
                break;
            }
        }
        Ok(())
    }

    /// The next request of a connection.
    fn receive(
        &self,
        reader: &mut BufReader<TcpStream>,
        number: usize,
    ) -> std::io::Result<Option<Asked>> {
        let mut head = String::new();
        loop {
            let mut line = String::new();
            let came = reader.read_line(&mut line)?;
            if came == 0 {
                return Ok(None);
            }
            if line.to_ascii_lowercase().starts_with("x-request-id:") {
                self.notice("slow", &line);
            }
            if line == "\r\n" {
                break;
            }
            head.push_str(&line);
        }
        let mut words = head.split(' ').map(str::to_string);
        let (verb, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let length = header(&head, "content-length").and_then(|text| text.parse().ok());
        let length: usize = length.unwrap_or(0);
        let mut body = Vec::new();
        if length <= BODY_BYTES_MAX {
            reader.by_ref().take(length as u64).read_to_end(&mut body)?;
        }
        let body = String::from_utf8_lossy(&body).into_owned();
        if body.len() < length {
            self.notice("half", &body);
        }
        if length > BODY_BYTES_MAX {
            // The beginning of what follows tells whose it is.
            let mut start = vec![0; 512];
            let stream = reader.get_ref();
            stream.set_read_timeout(Some(Duration::from_millis(100)))?;
            if reader.read_exact(&mut start).is_ok() {
                self.notice("large", &String::from_utf8_lossy(&start));
            }
        } else if body.len() < length {
            return Ok(None);
        }
        let json = serde_json::from_str(&body).unwrap_or(Value::Null);
        Ok(Some(Asked { verb, path, head, body, json, number }))
    }

    /// Remembers the conversation of somebody who did not send a whole request.
    fn notice(&self, how: &str, text: &str) {
        let from = text.find("check");
        let word: Option<String> =
            from.map(|at| text[at..].chars().take_while(char::is_ascii_alphanumeric).collect());
        if let Some(word) = word.filter(|word| word.len() > 30) {
            self.memory.count(format!("{how} {word}"));
        }
    }

    /// What the manager answers.
    fn ask(&self, asked: &Asked) -> Option<Answer> {
        let announced = header(&asked.head, "content-length").and_then(|text| text.parse().ok());
        if announced.is_some_and(|length: usize| length > BODY_BYTES_MAX) {
            let body = "too large\n".into();
            return Some(Answer { status: 413, content_type: "text/plain".into(), body });
        }
        post(&self.manager, (&asked.verb, &asked.path), &asked.head, &asked.body)
    }

    /// Passes a call of the manager's on. `None` closes the connection.
    fn tell(&self, port: u16, asked: &Asked) -> Option<Answer> {
        let heard = Answer::json(&json!({"jsonrpc": "2.0", "result": {}, "id": asked.json["id"]}));
        let mut told = Told { port, head: asked.head.clone(), json: asked.json.clone() };
        if (self.switch.told)(&mut told, &self.memory) == Fate::IsLost {
            return Some(heard);
        }
        let turn = self.memory.turn(&told.league());
        let _turn = self.switch.in_turn.then(|| lock(&turn));
        let body = (self.switch.outward)(self.outward(&told.json.to_string()), &self.memory);
        let answer = post(&format!("127.0.0.1:{port}"), ("POST", "/mcp"), &told.head, &body);
        let text = answer.as_ref().map(|answer| answer.body.as_str());
        if (self.switch.heard)(&told, text, &self.memory) {
            return Some(heard);
        }
        answer.map(|answer| Answer {
            body: (self.switch.inward)(self.inward(&answer.body), &self.memory),
            ..answer
        })
    }

    /// Whoever is called at a port is called through the liar.
    fn inward(&self, text: &str) -> String {
        let own = format!("http://127.0.0.1:{}/to/", self.address.port());
        let Some(at) = text.find("\"contact_endpoint\":\"http://127.0.0.1:") else {
            return text.into();
        };
        let (before, after) = text.split_at(at);
        format!("{before}{}", after.replacen("http://127.0.0.1:", &own, 1))
    }

    fn outward(&self, text: &str) -> String {
        let own = format!("http://127.0.0.1:{}/to/", self.address.port());
        text.replace(&own, "http://127.0.0.1:")
    }
}

/// Calls the agent at `port` as the manager would.
pub(crate) fn call(port: u16, document: &Value) {
    let head =
        "Content-Type: application/json\r\nAccept: application/json\r\nUser-Agent: liar/1\r\n";
    drop(post(&format!("127.0.0.1:{port}"), ("POST", "/mcp"), head, &document.to_string()));
}

fn post(to: &str, (verb, path): (&str, &str), head: &str, body: &str) -> Option<Answer> {
    let mut stream = TcpStream::connect(to).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    let mut request = format!("{verb} {path} HTTP/1.1\r\nHost: {to}\r\nConnection: close\r\n");
    for name in ["content-type", "accept", "user-agent", "authorization"] {
        if let Some(value) = header(head, name) {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
    }
    request.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
    stream.write_all(request.as_bytes()).ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let content_type = header(head, "content-type").unwrap_or_default();
    Some(Answer { status, content_type, body: body.into() })
}

fn write_answer(stream: &mut TcpStream, answer: &Answer) -> std::io::Result<()> {
    let Answer { status, content_type, body } = answer;
    let head = format!("HTTP/1.1 {status} Said\r\nContent-Type: {content_type}\r\n");
    write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len())
}

fn header(head: &str, name: &str) -> Option<String> {
    head.lines().find_map(|line| {
        let (found, value) = line.split_once(':')?;
        found.eq_ignore_ascii_case(name).then(|| value.trim().to_string())
    })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
