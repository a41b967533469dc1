//! Being called: `POST /mcp` and a few pages, with limits. Knows HTTP and nothing of the protocol.

mod places;
#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Body, Incoming};
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::guard;
use crate::limits::{
    ACCEPT_PAUSE, BODY_TIMEOUT, CONNECTIONS_MAX, CONNECTIONS_PER_ADDRESS_MAX, DRAIN_TIMEOUT,
    HEAD_TIMEOUT, REQUEST_BYTES_MAX, TURNED_AWAY_MAX,
};
use places::{Places, turn_away};

/// Who answers behind an endpoint.
pub trait Service: Send + Sync + 'static {
    /// Answers the body of a `POST /mcp` from `peer`.
    fn mcp(&self, body: Bytes, peer: SocketAddr) -> impl Future<Output = Answer> + Send;

    /// Answers a `GET` of `path`; `None` if there is no such page.
    fn page(&self, path: &str) -> Option<Answer>;
}

/// What goes back to the caller.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The media type of the body.
    pub content_type: &'static str,
    /// The body.
    pub body: Bytes,
}

impl Answer {
    /// A JSON document with status 200.
    pub fn json(body: impl Into<Bytes>) -> Self {
        Self { status: 200, content_type: "application/json", body: body.into() }
    }

    /// A JSON document with another status.
    pub fn json_with_status(status: u16, body: impl Into<Bytes>) -> Self {
        Self { status, ..Self::json(body) }
    }

    /// Plain text.
    pub fn text(status: u16, body: impl Into<Bytes>) -> Self {
        Self { status, content_type: "text/plain; charset=utf-8", body: body.into() }
    }
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
    let places = Places::new(CONNECTIONS_MAX, CONNECTIONS_PER_ADDRESS_MAX);
    serve_within(places, listener, service, stop).await;
}

async fn serve_within<S: Service>(
    mut places: Places,
    listener: TcpListener,
    service: Arc<S>,
    mut stop: watch::Receiver<bool>,
) {
    let mut connections: JoinSet<IpAddr> = JoinSet::new();
    let mut turned_away: JoinSet<()> = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            biased;
            _ = stop.wait_for(|stopped| *stopped) => break,
            Some(left) = connections.join_next() => {
                guard::outcome(left).into_iter().for_each(|address| places.leave(address));
                continue;
            }
            Some(told) = turned_away.join_next() => {
                guard::outcome(told);
                continue;
            }
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, peer)) = accepted else {
            // No descriptors left, most likely. Asking again at once would only heat the machine.
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let address = peer.ip().to_canonical();
        if places.enter(address) {
            let (service, stop) = (service.clone(), stop.clone());
            connections.spawn(async move {
                serve_connection(stream, peer, service, stop).await;
                address
            });
        } else if turned_away.len() < TURNED_AWAY_MAX {
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
    stream: TcpStream,
    peer: SocketAddr,
    service: Arc<S>,
    mut stop: watch::Receiver<bool>,
) {
    if stream.set_nodelay(true).is_err() {
        return;
    }
    let answer = service_fn(|request| {
        let service = service.clone();
        async move { Ok::<_, Infallible>(respond(&*service, request, peer).await) }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
    let mut connection = pin!(http.serve_connection(TokioIo::new(stream), answer));
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

async fn respond<S: Service>(
    service: &S,
    request: Request<Incoming>,
    peer: SocketAddr,
) -> Response<Full<Bytes>> {
    let is_head = request.method() == Method::HEAD;
    let answer = match (request.method(), request.uri().path()) {
        (&Method::POST, "/mcp" | "/mcp/") => answer_mcp(service, request, peer).await,
        (_, "/mcp" | "/mcp/") => Answer::text(405, "use POST with a JSON-RPC 2.0 body\n"),
        (&Method::GET | &Method::HEAD, path) => service
            .page(path)
            .unwrap_or_else(|| Answer::text(404, "nothing here; the protocol is at POST /mcp\n")),
        _ => Answer::text(404, "nothing here; the protocol is at POST /mcp\n"),
    };
    let body = if is_head { Bytes::new() } else { answer.body };
    let mut response = Response::new(Full::new(body));
    *response.status_mut() =
        StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let content_type = HeaderValue::from_static(answer.content_type);
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    if answer.status == 405 {
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
    }
    response
}

async fn answer_mcp<S: Service>(
    service: &S,
    request: Request<Incoming>,
    peer: SocketAddr,
) -> Answer {
    if !is_json(&request) {
        let text = "expected Content-Type: application/json\n";
        return Answer::text(415, text);
    }
    let too_large =
        || Answer::text(413, format!("the body is larger than {REQUEST_BYTES_MAX} bytes\n"));
    // Whoever says beforehand that it is too much need not send it.
    if request.body().size_hint().lower() > REQUEST_BYTES_MAX as u64 {
        return too_large();
    }
    let body = Limited::new(request.into_body(), REQUEST_BYTES_MAX).collect();
    match tokio::time::timeout(BODY_TIMEOUT, body).await {
        Ok(Ok(body)) => service.mcp(body.to_bytes(), peer).await,
        Ok(Err(error)) if error.is::<LengthLimitError>() => too_large(),
        Ok(Err(_)) => Answer::text(400, "the body broke off\n"),
        Err(_) => Answer::text(408, "the body took too long\n"),
    }
}

fn is_json(request: &Request<Incoming>) -> bool {
    let header = request.headers().get(CONTENT_TYPE);
    let text = header.and_then(|value| value.to_str().ok());
    text.is_some_and(|text| {
        let media_type = text.split(';').next().unwrap_or_default().trim();
        media_type.eq_ignore_ascii_case("application/json")
    })
}
