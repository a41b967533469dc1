//! Being called: `POST /mcp` and a few pages, with limits. Knows HTTP and nothing of the protocol.

mod answer;
mod body;
mod line;
mod places;
#[cfg(test)]
mod tests;
mod unheard;

use std::future::Future;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, IF_NONE_MATCH};
use hyper::http::request::Parts;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::component::Component;
use crate::guard;
use crate::limits::{
    ACCEPT_PAUSE, BODIES_BYTES_MAX, BODY_GRACE, CONNECTIONS_MAX, CONNECTIONS_PER_ADDRESS_MAX,
    DRAIN_TIMEOUT, FIRST_BYTE_TIMEOUT, HEAD_TIMEOUT, TURNED_AWAY_MAX, WRITE_TIMEOUT,
};
use crate::meter::{Meter, Place};
pub use answer::Answer;
use answer::HungUp;
use body::Bodies;
use line::Line;
use places::{Guests, Places, turn_away};
use unheard::Unheard;

/// Who answers behind an endpoint.
pub trait Service: Send + Sync + 'static {
    /// Answers the body of a `POST /mcp` from `peer`.
    fn mcp(&self, body: Bytes, peer: SocketAddr) -> impl Future<Output = Answer> + Send;

    /// The same for a service to which the head of the request matters; usually it does not.
    fn mcp_headed(
        &self,
        _head: Parts,
        body: Bytes,
        peer: SocketAddr,
    ) -> impl Future<Output = Answer> + Send {
        self.mcp(body, peer)
    }

    /// Answers a `GET` of `path`; `None` if there is no such page.
    fn page(&self, path: &str) -> Option<Answer>;

    /// The same for somebody who shows a token; the same page, unless the service knows better.
    fn page_for(&self, path: &str, _bearer: &str) -> Option<Answer> {
        self.page(path)
    }

    /// Answers a `GET` that may take a while; `None` if it is an ordinary page.
    fn get(&self, _asked: Asked<'_>) -> impl Future<Output = Option<Answer>> + Send {
        std::future::ready(None)
    }

    /// Whose figures the requests count towards; a player's unless it says otherwise.
    fn component(&self) -> Component {
        Component::Player
    }

    /// Answers a `POST` of a JSON document to another place than `/mcp`; `None` if there is no such
    /// place.
    fn post(&self, _posted: Posted<'_>) -> impl Future<Output = Option<Answer>> + Send {
        std::future::ready(None)
    }
}

/// A `GET` that may take a while.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// Of what.
    pub path: &'a str,
    /// What stands after the question mark.
    pub query: &'a str,
    /// What the caller shows to prove who it is: the token of `Authorization: Bearer …`.
    pub bearer: Option<&'a str>,
    /// Who asks.
    pub peer: SocketAddr,
    /// Whether only the head of the answer is wanted, which takes no while.
    pub is_head: bool,
}

/// A JSON document that was posted to another place than `/mcp`.
#[derive(Debug, Clone)]
pub struct Posted<'a> {
    /// Where to.
    pub path: &'a str,
    /// What the caller shows to prove who it is: the token of `Authorization: Bearer …`.
    pub bearer: Option<&'a str>,
    /// The document.
    pub body: Bytes,
    /// Who posts it.
    pub peer: SocketAddr,
}

/// Serves `service` on `listener` until `stop` says so; then lets running requests finish.
///
/// # Panics
/// If the service does: a bug of ours is not answered with silence.
pub async fn serve<S: Service>(
    listener: TcpListener,
    service: Arc<S>,
    stop: watch::Receiver<bool>,
) {
    serve_on(Terms::usual(), listener, service, stop).await;
}

/// What an endpoint puts up with.
struct Terms {
    places: Places,
    bodies: Bodies,
    first_byte_timeout: Duration,
    write_timeout: Duration,
}

impl Terms {
    const fn usual() -> Self {
        Self {
            places: Places::new(CONNECTIONS_MAX, CONNECTIONS_PER_ADDRESS_MAX),
            bodies: Bodies::new(BODIES_BYTES_MAX, BODY_GRACE),
            first_byte_timeout: FIRST_BYTE_TIMEOUT,
            write_timeout: WRITE_TIMEOUT,
        }
    }
}

/// One end of a connection, with what it shares with the others.
struct Booth<S> {
    peer: SocketAddr,
    service: Arc<S>,
    bodies: Arc<Bodies>,
    /// Whether a whole request, save its body, has come.
    has_asked: Arc<AtomicBool>,
}

async fn serve_on<S: Service>(
    terms: Terms,
    listener: TcpListener,
    service: Arc<S>,
    mut stop: watch::Receiver<bool>,
) {
    let Terms { places, bodies, first_byte_timeout, write_timeout } = terms;
    let (mut guests, bodies) = (Guests::new(places), Arc::new(bodies));
    let meter = Meter::of(service.component());
    let mut unheard = Unheard::at(service.component());
    let mut connections: JoinSet<u64> = JoinSet::new();
    let mut turned_away: JoinSet<()> = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            biased;
            _ = stop.wait_for(|stopped| *stopped) => break,
            Some(left) = connections.join_next() => {
                guard::outcome(left).into_iter().for_each(|number| guests.depart(number));
                continue;
            }
            Some(told) = turned_away.join_next() => {
                guard::outcome(told);
                continue;
            }
            accepted = listener.accept() => accepted,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                unheard.note(&error);
                // No descriptors left, most likely. Asking again at once would only heat the
                // machine.
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        if stream.set_nodelay(true).is_err() {
            continue;
        }
        let address = peer.ip().to_canonical();
        if guests.admit(address) {
            let has_asked = Arc::new(AtomicBool::new(false));
            let line = Line::new(stream, first_byte_timeout, write_timeout);
            let booth = Booth {
                peer,
                service: service.clone(),
                bodies: bodies.clone(),
                has_asked: has_asked.clone(),
            };
            let (stop, open) = (stop.clone(), meter.connections.enter());
            guests.seat(address, has_asked, |number| {
                connections.spawn(async move {
                    serve_connection(line, booth, stop).await;
                    drop(open);
                    number
                })
            });
            continue;
        }
        meter.turned_away.add(1);
        if turned_away.len() < TURNED_AWAY_MAX {
            turned_away.spawn(turn_away(stream));
        }
    }
    drop((listener, turned_away));
    let drained = async {
        while let Some(left) = connections.join_next().await {
            guard::outcome(left);
        }
    };
    if tokio::time::timeout(DRAIN_TIMEOUT, drained).await.is_err() {
        connections.abort_all();
    }
}

async fn serve_connection<S: Service>(
    line: Line,
    booth: Booth<S>,
    mut stop: watch::Receiver<bool>,
) {
    let answer = service_fn(|request| booth.respond(request));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
    let mut connection = pin!(http.serve_connection(TokioIo::new(line), answer));
    let finished = tokio::select! {
        biased;
        result = connection.as_mut() => Some(result),
        _ = stop.wait_for(|stopped| *stopped) => None,
    };
    if finished.is_none() {
        connection.as_mut().graceful_shutdown();
        // How a connection ends while we are leaving changes nothing for anyone.
        drop(connection.await);
    }
}

impl<S: Service> Booth<S> {
    async fn respond(&self, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, HungUp> {
        self.has_asked.store(true, Ordering::Relaxed);
        let is_head = request.method() == Method::HEAD;
        let place = match (request.method(), request.uri().path()) {
            (_, "/mcp" | "/mcp/") => Place::Mcp,
            (&Method::POST, _) => Place::Post,
            _ => Place::Page,
        };
        let is_api = request.uri().path().starts_with("/api/");
        let nothing = || Answer::refused(404, "nothing here; the protocol is at POST /mcp", is_api);
        let answer = match (request.method(), request.uri().path()) {
            (&Method::POST, "/mcp" | "/mcp/") => self.answer_mcp(request).await,
            (_, "/mcp" | "/mcp/") => Answer::text(405, "use POST with a JSON-RPC 2.0 body\n"),
            (&Method::GET | &Method::HEAD, path) => {
                let bearer = bearer(request.headers().get(AUTHORIZATION));
                let query = request.uri().query().unwrap_or_default();
                let asked = Asked { path, query, bearer, peer: self.peer, is_head };
                let page = match self.service.get(asked).await {
                    Some(answer) => Some(answer),
                    None => match bearer {
                        Some(shown) => self.service.page_for(path, shown),
                        None => self.service.page(path),
                    },
                };
                let known = request.headers().get(IF_NONE_MATCH);
                page.unwrap_or_else(nothing).unless_known(known)
            }
            (&Method::POST, _) => self.answer_post(request).await.unwrap_or_else(nothing),
            _ => nothing(),
        };
        Meter::of(self.service.component()).answered(place, answer.status);
        answer.into_response(is_head)
    }

    async fn answer_mcp(&self, request: Request<Incoming>) -> Answer {
        let (head, body) = request.into_parts();
        match self.read_json(&head, body).await {
            Ok(body) => self.service.mcp_headed(head, body, self.peer).await,
            Err(answer) => answer,
        }
    }

    async fn answer_post(&self, request: Request<Incoming>) -> Option<Answer> {
        let (head, body) = request.into_parts();
        let body = match self.read_json(&head, body).await {
            Ok(body) => body,
            Err(answer) => return Some(answer),
        };
        let bearer = bearer(head.headers.get(AUTHORIZATION));
        let path = head.uri.path();
        self.service.post(Posted { path, bearer, body, peer: self.peer }).await
    }

    /// The body of a request that says it is JSON.
    async fn read_json(&self, head: &Parts, body: Incoming) -> Result<Bytes, Answer> {
        if !is_json(&head.headers) {
            let is_api = head.uri.path().starts_with("/api/");
            return Err(Answer::refused(415, "expected Content-Type: application/json", is_api));
        }
        self.bodies.read(body).await
    }
}

/// The token of `Authorization: Bearer …`.
pub fn bearer(header: Option<&HeaderValue>) -> Option<&str> {
    header?.to_str().ok()?.strip_prefix("Bearer ")
}

fn is_json(headers: &HeaderMap) -> bool {
    let header = headers.get(CONTENT_TYPE);
    let text = header.and_then(|value| value.to_str().ok());
    text.is_some_and(|text| {
        let media_type = text.split(';').next().unwrap_or_default().trim();
        media_type.eq_ignore_ascii_case("application/json")
    })
}
