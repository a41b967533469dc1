//! Genuine Model Context Protocol at `/mcp`, beside the dialects of the league. One look at the
//! method decides; letters of the league never come here. `rmcp` speaks the protocol, [`errand`]
//! does what a tool is asked for, in the same rooms as letters, and [`guard`] keeps browsers out.

mod errand;
mod guard;
mod handler;
mod play;
mod resource;

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use http::request::Parts;
use http_body_util::{BodyExt, Full, Limited};
use league_agent::component::Component;
use league_agent::desk::{self, Desk};
use league_agent::endpoint::{Answer, Asked, Posted, Service, bearer};
use league_wire::frame::{FrameError, Incoming, Request, parse, split_requests, write_batch};
use league_wire::mcp::{Malformed, ToolCall, is_mcp, write_answer};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use super::Manager;
use crate::limits::MCP_ANSWER_BYTES_MAX;
use errand::{Caller, Untried};
pub use guard::Hosts;
use handler::Handler;

/// The manager with clients of the Model Context Protocol let in.
pub struct Reception {
    manager: Arc<Manager>,
    hosts: Hosts,
    protocol: StreamableHttpService<Handler, NeverSessionManager>,
}

impl std::fmt::Debug for Reception {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reception").field("hosts", &self.hosts).finish_non_exhaustive()
    }
}

/// From where a call came; it goes with the request to whoever answers it.
#[derive(Debug, Clone, Copy)]
struct Peer(SocketAddr);

impl Reception {
    /// Lets clients in that call the manager by one of the names that `hosts` allow.
    pub fn new(manager: Arc<Manager>, hosts: Hosts) -> Self {
        // Every request stands for itself: nothing has to be kept for whoever may never come back.
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .disable_allowed_hosts()
            .disable_allowed_origins();
        let handler = Handler::new(manager.clone());
        let sessions = Arc::new(NeverSessionManager::default());
        let protocol = StreamableHttpService::new(move || Ok(handler.clone()), sessions, config);
        Self { manager, hosts, protocol }
    }

    /// Answers a request of the Model Context Protocol that came as `body`.
    async fn answer(
        &self,
        head: Parts,
        (request, body): (&Request<'_>, Bytes),
        peer: SocketAddr,
    ) -> Answer {
        if let Err(refused) = self.hosts.check(&head.headers) {
            return Answer::text(403, refused);
        }
        let malformed = Malformed::of(request);
        let call = ToolCall::of(request).filter(|_| malformed.is_none());
        if let Some(call) = call.as_ref().filter(|call| says_the_same(&head.headers, call)) {
            let caller = Caller { peer, bearer: bearer(head.headers.get(AUTHORIZATION)) };
            match errand::run(&self.manager, &call.name, call.arguments, caller).await {
                Ok(told) => {
                    return Answer::json(write_answer(call, &told.json, told.no.as_deref()));
                }
                Err(Untried::TooMany(wait)) => return Answer::too_many(wait),
                Err(Untried::NoSuchTool) => {}
            }
        }
        // A tool that is called counts when it is known who calls.
        if call.is_none()
            && let Err(wait) = self.manager.admit(peer, &[None])
        {
            return Answer::too_many(wait);
        }
        if let Some(malformed) = malformed {
            return Answer::json_with_status(malformed.status(), malformed.answer());
        }
        let answer = self.answer_by_the_book(head, body, peer).await;
        if answer.status == UNREADABLE {
            let malformed = Malformed::beyond_words(request);
            return Answer::json_with_status(malformed.status(), malformed.answer());
        }
        answer
    }

    /// Has `rmcp` answer.
    async fn answer_by_the_book(&self, mut head: Parts, body: Bytes, peer: SocketAddr) -> Answer {
        widen(&mut head.headers);
        head.extensions.insert(Peer(peer));
        let request = http::Request::from_parts(head, Full::new(body));
        let (head, body) = self.protocol.handle(request).await.into_parts();
        let Ok(body) = Limited::new(body, MCP_ANSWER_BYTES_MAX).collect().await else {
            return Answer::text(500, "the answer is too long\n");
        };
        let is_json = head.headers.get(CONTENT_TYPE).is_some_and(|kind| kind == JSON);
        let (status, body) = (head.status.as_u16(), body.to_bytes());
        if is_json { Answer::json_with_status(status, body) } else { Answer::text(status, body) }
    }

    /// Answers each request of a batch; some may be letters.
    async fn answer_each(&self, head: Parts, parts: Vec<Bytes>, peer: SocketAddr) -> Answer {
        let mut answers = Vec::with_capacity(parts.len());
        for part in parts {
            let answer = match parse(&part) {
                Incoming::Single(Ok(request)) if is_mcp(&request) => {
                    self.answer(head.clone(), (&request, part.clone()), peer).await
                }
                incoming @ (Incoming::Single(_) | Incoming::Batch(_)) => {
                    desk::answer_parsed(&*self.manager, incoming, &part, peer).await
                }
            };
            if matches!(answer.status, 403 | 429) {
                return answer;
            }
            if !answer.body.is_empty() {
                answers.push(answer.body);
            }
        }
        if answers.is_empty() { Answer::text(202, "") } else { Answer::json(write_batch(&answers)) }
    }
}

/// The requests of a batch, if somebody in it speaks the Model Context Protocol.
fn foreign_batch(requests: &[Result<Request<'_>, FrameError>], body: &Bytes) -> Option<Vec<Bytes>> {
    requests.iter().flatten().find(|request| is_mcp(request))?;
    let parts = split_requests(body)?;
    Some(parts.into_iter().map(|part| body.slice_ref(part)).collect())
}

/// Versions of the Model Context Protocol in which the body of a call says all there is to say.
const PLAIN_VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
/// The version in which the head repeats what the body says, and must say the same.
const REPEATING_VERSION: &str = "2026-07-28";

/// Whether the head of `call` says nothing that its body does not say. Whatever else it says is for
/// `rmcp` to judge.
fn says_the_same(headers: &HeaderMap, call: &ToolCall<'_>) -> bool {
    let only = |name: &str| {
        let mut values = headers.get_all(name).iter();
        let first = values.next().map(|value| value.to_str().unwrap_or_default());
        first.filter(|_| values.next().is_none())
    };
    let is_repeated = headers.keys().any(|name| name.as_str().starts_with("mcp-param-"));
    let has = |name: &str| headers.contains_key(name);
    match call.version.as_deref() {
        None => {
            let version = only(VERSION);
            let is_plain = version.is_none_or(|version| PLAIN_VERSIONS.contains(&version));
            is_plain && !(has(METHOD) || has(NAME) || is_repeated)
        }
        Some(version) => {
            version == REPEATING_VERSION
                && call.is_introduced
                && !is_repeated
                && only(VERSION) == Some(version)
                && only(METHOD) == Some(TOOLS_CALL)
                && only(NAME) == Some(&call.name)
        }
    }
}

const VERSION: &str = "mcp-protocol-version";
const METHOD: &str = "mcp-method";
const NAME: &str = "mcp-name";
const TOOLS_CALL: &str = "tools/call";

const JSON: &str = "application/json";

/// What `rmcp` says to a body that is no message; that it is JSON is known by then.
const UNREADABLE: u16 = 415;

/// Whoever takes JSON is given JSON, although the protocol wants clients to take streams too.
fn widen(headers: &mut HeaderMap) {
    let accepts = headers.get(ACCEPT).map_or("*/*", |value| value.to_str().unwrap_or_default());
    if accepts.contains("*/*") || accepts.contains(JSON) {
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    }
}

impl Service for Reception {
    async fn mcp(&self, body: Bytes, peer: SocketAddr) -> Answer {
        self.manager.mcp(body, peer).await
    }

    async fn mcp_headed(&self, head: Parts, body: Bytes, peer: SocketAddr) -> Answer {
        // What others need is kept apart, so that letters do not carry it.
        match parse(&body) {
            Incoming::Single(Ok(request)) if is_mcp(&request) => {
                Box::pin(self.answer(head, (&request, body.clone()), peer)).await
            }
            incoming @ (Incoming::Single(_) | Incoming::Batch(_)) => {
                let foreign = match &incoming {
                    Incoming::Batch(requests) => foreign_batch(requests, &body),
                    Incoming::Single(_) => None,
                };
                match foreign {
                    Some(parts) => Box::pin(self.answer_each(head, parts, peer)).await,
                    None => desk::answer_parsed(&*self.manager, incoming, &body, peer).await,
                }
            }
        }
    }

    fn page(&self, path: &str) -> Option<Answer> {
        self.manager.page(path)
    }

    fn page_for(&self, path: &str, bearer: &str) -> Option<Answer> {
        self.manager.page_for(path, bearer)
    }

    fn component(&self) -> Component {
        self.manager.component()
    }

    async fn get(&self, asked: Asked<'_>) -> Option<Answer> {
        self.manager.get(asked).await
    }

    async fn post(&self, posted: Posted<'_>) -> Option<Answer> {
        self.manager.post(posted).await
    }
}
