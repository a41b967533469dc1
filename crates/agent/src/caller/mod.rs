//! Calling: one request, one deadline. Knows HTTP and nothing of the protocol.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderValue, USER_AGENT};
use hyper::{Method, Request, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use crate::limits::{ANSWER_BYTES_MAX, IDLE_CONNECTIONS_MAX, IDLE_TIMEOUT};

/// Calls other agents, keeping connections open between calls.
#[derive(Debug, Clone)]
pub struct Caller {
    client: Client<HttpConnector, Full<Bytes>>,
    user_agent: HeaderValue,
    calls: Arc<AtomicU64>,
}

/// Why a call brought no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The address cannot be used.
    #[error("`{0}` is not an address that can be called: expected http://host:port/mcp")]
    BadAddress(Arc<str>),
    /// No connection; the other side has not seen the call.
    #[error("no connection: {0}")]
    NotConnected(Arc<str>),
    /// The connection broke after the call may have been seen.
    #[error("the connection broke off: {0}")]
    Broken(Arc<str>),
    /// No answer in time.
    #[error("no answer within {0:?}")]
    TimedOut(Duration),
    /// The answer is larger than anything reasonable.
    #[error("the answer is larger than {ANSWER_BYTES_MAX} bytes")]
    TooLarge,
    /// The other side had no place for the call and did not read it.
    #[error("the other side is busy (HTTP status 503)")]
    Busy,
}

/// What came back.
#[derive(Debug, Clone)]
pub struct Answered {
    /// The HTTP status.
    pub status: u16,
    /// The body.
    pub body: Bytes,
}

impl Caller {
    /// A caller that says it is `user_agent`, such as `referee/0.1.0`.
    pub fn new(user_agent: &'static str, connect_timeout: Duration) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        connector.set_connect_timeout(Some(connect_timeout));
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_TIMEOUT)
            .pool_max_idle_per_host(IDLE_CONNECTIONS_MAX)
            .build(connector);
        let user_agent = HeaderValue::from_static(user_agent);
        Self { client, user_agent, calls: Arc::default() }
    }

    /// Posts `body` to `address` and waits at most `timeout` for the whole answer.
    ///
    /// # Errors
    /// If there is no answer; the error says whether the other side may have seen the call.
    pub async fn call(
        &self,
        address: &str,
        body: impl Into<Bytes>,
        timeout: Duration,
    ) -> Result<Answered, CallError> {
        let request = self.request(address, body.into())?;
        self.calls.fetch_add(1, Ordering::Relaxed);
        match tokio::time::timeout(timeout, self.exchange(request)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(CallError::TimedOut(timeout)),
        }
    }

    /// How many calls were made.
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    fn request(&self, address: &str, body: Bytes) -> Result<Request<Full<Bytes>>, CallError> {
        let bad = || CallError::BadAddress(address.into());
        let uri = callable(address).ok_or_else(bad)?;
        let json = HeaderValue::from_static("application/json");
        Request::builder()
            .method(Method::POST)
            .uri(uri)
            .header(CONTENT_TYPE, json.clone())
            .header(ACCEPT, json)
            .header(USER_AGENT, self.user_agent.clone())
            .body(Full::new(body))
            .map_err(|_| bad())
    }

    async fn exchange(&self, request: Request<Full<Bytes>>) -> Result<Answered, CallError> {
        let response = self.client.request(request).await.map_err(|error| {
            let text = innermost(&error).into();
            let is_unseen = error.is_connect() || was_not_sent(&error);
            if is_unseen { CallError::NotConnected(text) } else { CallError::Broken(text) }
        })?;
        let status = response.status().as_u16();
        match Limited::new(response.into_body(), ANSWER_BYTES_MAX).collect().await {
            Ok(body) => Ok(Answered { status, body: body.to_bytes() }),
            Err(error) if error.is::<LengthLimitError>() => Err(CallError::TooLarge),
            Err(error) => Err(CallError::Broken(error.to_string().into())),
        }
    }
}

/// Whether `address` is one that can be called.
pub fn is_callable(address: &str) -> bool {
    callable(address).is_some()
}

fn callable(address: &str) -> Option<Uri> {
    let uri: Uri = address.parse().ok()?;
    let has_host = uri.host().is_some_and(|host| !host.is_empty());
    (uri.scheme_str() == Some("http") && has_host).then_some(uri)
}

/// Whether the request was still ours when its connection was lost. On a connection that had been
/// used before, the client has already tried again.
fn was_not_sent(error: &(dyn Error + 'static)) -> bool {
    let causes = std::iter::successors(Some(error), |&error| error.source());
    let mut causes = causes.filter_map(|cause| cause.downcast_ref::<hyper::Error>());
    causes.any(hyper::Error::is_canceled)
}

/// The last cause in a chain of errors is the one that tells a person something.
fn innermost(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}
