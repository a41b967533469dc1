//! Agents that are servers of the Model Context Protocol: some answer only after a greeting, and
//! give a number that every call must repeat. They are greeted when they ask for it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use league_wire::mcp::client::{GREETED, Toolbox, VERSION, greeted_in, greeting, list_tools};

use super::{Answered, CallError, Caller, read};
use crate::address::Address;
use crate::guard::lock;
use crate::limits::{ANSWER_BYTES_MAX, SESSIONS_MAX};

/// Where such a number stands in the head of calls and answers.
const NUMBER: HeaderName = HeaderName::from_static("mcp-session-id");
const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// What an agent that was greeted wants to see in every call.
#[derive(Debug, Clone)]
pub(super) struct Session {
    number: Option<HeaderValue>,
    version: HeaderValue,
    tools: Toolbox,
}

impl Session {
    /// Says in the head of a call what the agent wants to see.
    pub(super) fn stamp(&self, headers: &mut HeaderMap) {
        if let Some(number) = &self.number {
            headers.insert(NUMBER, number.clone());
        }
        headers.insert(PROTOCOL_VERSION, self.version.clone());
    }

    /// `body` as the agent takes it.
    pub(super) fn fit(&self, body: &Bytes) -> Bytes {
        self.tools.fit(body).map_or_else(|| body.clone(), Bytes::from)
    }
}

/// Every agent that was greeted, by its address.
#[derive(Debug, Clone, Default)]
pub(super) struct Sessions(Arc<Mutex<BTreeMap<String, Arc<Session>>>>);

impl Sessions {
    pub(super) fn of(&self, place: &Address) -> Option<Arc<Session>> {
        let sessions = lock(&self.0);
        if sessions.is_empty() {
            return None;
        }
        sessions.get(&place.to_string()).cloned()
    }

    fn keep(&self, place: &Address, session: Arc<Session>) {
        let mut sessions = lock(&self.0);
        if sessions.len() >= SESSIONS_MAX {
            sessions.pop_first();
        }
        sessions.insert(place.to_string(), session);
    }
}

/// Whether an agent has not done what it was called for because it wants to be greeted first.
pub(super) fn is_demanded(answered: &Answered) -> bool {
    if !matches!(answered.status, 400 | 404 | 409 | 422) {
        return false;
    }
    let text = String::from_utf8_lossy(&answered.body).to_ascii_lowercase();
    text.contains("session") || text.contains("initializ")
}

/// Whether a tool was called with more than it takes, and has therefore not been tried. What it
/// takes is known after a greeting.
pub(super) fn is_misfit(body: &[u8], answered: &Answered) -> bool {
    let has = |text: &[u8], word: &str| text.windows(word.len()).any(|at| at == word.as_bytes());
    // The method stands near the beginning of what we write.
    let is_call = has(&body[..body.len().min(METHOD_WITHIN)], TOOL_CALL);
    let is_refused = || has(&answered.body, "\"isError\":true") || has(&answered.body, "-32602");
    let text = || String::from_utf8_lossy(&answered.body).to_ascii_lowercase();
    let is_about = |text: &str| MISFITS.iter().any(|misfit| text.contains(misfit));
    is_call && answered.status == 200 && is_refused() && is_about(&text())
}

const METHOD_WITHIN: usize = 64;
const TOOL_CALL: &str = "\"tools/call\"";

/// How frameworks say that an argument is too much.
const MISFITS: [&str; 4] = [
    "unexpected keyword argument",
    "unexpected_keyword_argument",
    "additional propert",
    "extra inputs are not permitted",
];

impl Caller {
    /// Greets the agent at `place`; `None` if it does not answer as such agents do.
    pub(super) async fn greet(&self, place: &Address) -> Result<Option<Arc<Session>>, CallError> {
        let about = self.component().name();
        let hello = Bytes::from(greeting(1, about, env!("CARGO_PKG_VERSION")));
        let (response, _) = self.send(place, hello.clone(), None).await?;
        let number = response.headers().get(NUMBER).cloned();
        let answered = read(response, ANSWER_BYTES_MAX, &hello).await?;
        let Some(version) = greeted_in(&answered.body) else { return Ok(None) };
        let version = HeaderValue::try_from(version);
        let mut session = Session {
            number,
            version: version.unwrap_or(HeaderValue::from_static(VERSION)),
            tools: Toolbox::default(),
        };
        self.deliver(place, GREETED.into(), Some(&session)).await?;
        let listed = self.deliver(place, list_tools(2).into(), Some(&session)).await?;
        session.tools = Toolbox::read(&listed.body);
        let session = Arc::new(session);
        self.sessions.keep(place, session.clone());
        Ok(Some(session))
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::TcpListener;
    use std::thread::JoinHandle;
    use std::time::Duration;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(10);

    /// A server that answers one connection after the other; the heads and bodies that it was sent
    /// come out at the end.
    fn serve(answers: Vec<String>) -> (String, JoinHandle<Vec<(String, String)>>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/mcp", listener.local_addr().unwrap());
        let serving = std::thread::spawn(move || {
            let answer = |answer: String| {
                let (mut stream, _) = listener.accept().unwrap();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let (mut head, mut length) = (String::new(), 0);
                while !head.ends_with("\r\n\r\n") {
                    let start = head.len();
                    reader.read_line(&mut head).unwrap();
                    let line = head[start..].to_ascii_lowercase();
                    if let Some(bytes) = line.strip_prefix("content-length:") {
                        length = bytes.trim().parse().unwrap();
                    }
                }
                let mut body = vec![0; length];
                reader.read_exact(&mut body).unwrap();
                stream.write_all(answer.as_bytes()).unwrap();
                (head.to_ascii_lowercase(), String::from_utf8(body).unwrap())
            };
            answers.into_iter().map(answer).collect()
        });
        (address, serving)
    }

    fn answer(status: &str, more: &str, body: &str) -> String {
        let bytes = body.len();
        format!(
            "HTTP/1.1 {status}\r\n{more}Content-Length: {bytes}\r\nConnection: close\r\n\r\n{body}"
        )
    }

    #[test]
    fn an_agent_that_wants_it_is_greeted_and_given_what_it_takes() {
        let missing = answer("400 Bad Request", "", r#"{"error":"Missing session ID"}"#);
        let event = |json: &str| format!("event: message\ndata: {json}\n\n");
        let stream = "Content-Type: text/event-stream\r\nMcp-Session-Id: s1\r\n";
        let hello = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18"}}"#;
        let tools = r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"ping","inputSchema":
            {"properties":{"sender":{}}}}]}}"#
            .replace('\n', "");
        let done = r#"{"jsonrpc":"2.0","id":9,"result":{}}"#;
        let (address, serving) = serve(vec![
            missing,
            answer("200 OK", stream, &event(hello)),
            answer("202 Accepted", "", ""),
            answer("200 OK", stream, &event(&tools)),
            answer("200 OK", stream, &event(done)),
            answer("200 OK", stream, &event(done)),
            // It was started again and knows nothing.
            answer("404 Not Found", "", r#"{"error":"Session not found"}"#),
            answer("200 OK", &stream.replace("s1", "s2"), &event(hello)),
            answer("202 Accepted", "", ""),
            answer("200 OK", stream, &event(&tools)),
            answer("200 OK", stream, &event(done)),
        ]);
        let caller = Caller::new("test/0", PATIENCE);
        let arguments = r#"{"protocol":"league.v2","sender":"player:P01"}"#;
        let params = format!(r#"{{"name":"ping","arguments":{arguments}}}"#);
        let body = format!(r#"{{"jsonrpc":"2.0","method":"tools/call","params":{params},"id":9}}"#);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        for _ in 0..3 {
            let answered = runtime.block_on(caller.call(&address, body.clone(), PATIENCE)).unwrap();
            assert_eq!(&*answered.body, done.as_bytes());
        }
        let seen = serving.join().unwrap();
        assert!(seen[0].1.contains("league.v2") && !seen[0].0.contains("mcp-session-id"));
        assert!(seen[1].1.contains("\"initialize\""), "{seen:?}");
        assert!(seen[2].1.contains("notifications/initialized"), "{seen:?}");
        assert!(seen[3].1.contains("tools/list"), "{seen:?}");
        for (number, (head, body)) in [("s1", &seen[4]), ("s1", &seen[5]), ("s2", &seen[10])] {
            assert!(head.contains(&format!("mcp-session-id: {number}")), "{head}");
            assert!(head.contains("mcp-protocol-version: 2025-06-18"), "{head}");
            assert!(head.contains("accept: application/json, text/event-stream"), "{head}");
            assert!(body.contains("player:P01") && !body.contains("league.v2"), "{body}");
        }
    }

    fn answered(status: u16, body: &'static str) -> Answered {
        Answered { status, body: body.into(), retry_after: None, redirected: false, greeted: false }
    }

    #[test]
    fn who_wants_to_be_greeted_says_so() {
        let missing = r#"{"error":{"code":-32600,"message":"Bad Request: Missing session ID"}}"#;
        assert!(is_demanded(&answered(400, missing)));
        assert!(is_demanded(&answered(404, r#"{"error":{"message":"Session not found"}}"#)));
        assert!(is_demanded(&answered(400, "Bad Request: Server not initialized")));
        assert!(!is_demanded(&answered(404, "Not Found")));
        assert!(!is_demanded(&answered(200, missing)));
    }

    #[test]
    fn a_tool_that_was_given_too_much_says_so() {
        let call = br#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"x"},"id":1}"#;
        let no =
            r#"{"result":{"content":[{"text":"Unexpected keyword argument"}],"isError":true}}"#;
        assert!(is_misfit(call, &answered(200, no)));
        assert!(!is_misfit(br#"{"jsonrpc":"2.0","method":"ping","id":1}"#, &answered(200, no)));
        assert!(!is_misfit(call, &answered(200, r#"{"result":{"isError":true}}"#)));
        assert!(!is_misfit(call, &answered(500, no)));
    }
}
