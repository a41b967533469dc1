//! Calling: one request, one deadline. Knows HTTP and nothing of the protocol.

mod bearer;
mod session;
mod stream;
#[cfg(test)]
mod tests;

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderValue, LOCATION, RETRY_AFTER, USER_AGENT};
use hyper::{Method, Request, Response, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use crate::address::Address;
use crate::ambient::Mark;
use crate::component::Component;
use crate::connector::{ConnectError, Connector, lacks_means, lacks_way};
use crate::limits::{
    ANSWER_BYTES_MAX, COME_BACKS_MAX, IDLE_CONNECTIONS_MAX, IDLE_TIMEOUT, NEWS_IDLE_TIMEOUT,
    OWN_FAILURE_PATIENCE, OWN_FAILURE_PAUSE,
};
use crate::meter::Meter;
use crate::targets::{Forbidden, Targets};
use session::{Session, Sessions};

/// Calls other agents, keeping connections open between calls.
#[derive(Debug, Clone)]
pub struct Caller {
    client: Client<Connector, Full<Bytes>>,
    connector: Connector,
    user_agent: HeaderValue,
    component: Component,
    calls: Arc<AtomicU64>,
    sessions: Sessions,
}

/// Why a call brought no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The address cannot be used.
    #[error("`{0}` is not an address that can be called: expected http://host:port/mcp")]
    BadAddress(Arc<str>),
    /// The address is one that we do not call.
    #[error("not called: {0}")]
    Forbidden(Forbidden),
    /// No connection; the other side has not seen the call.
    #[error("no connection: {0}")]
    NotConnected(Arc<str>),
    /// Our own side failed: no descriptors, ports or memory left, or no network. The other side has
    /// no part in it and must not be charged.
    #[error("a failure of our own: {0}")]
    Ours(Arc<str>),
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
    #[error("the other side is busy (HTTP status 429 or 503)")]
    Busy,
}

/// What came back.
#[derive(Debug, Clone)]
pub struct Answered {
    /// The HTTP status.
    pub status: u16,
    /// The body.
    pub body: Bytes,
    /// When the other side wants to be called again, if it says so.
    pub retry_after: Option<Duration>,
    /// Whether it came from the same path with a slash, to which the path itself sent us.
    pub redirected: bool,
    /// Whether the other side wanted to be greeted as servers of the Model Context Protocol are.
    pub greeted: bool,
}

impl Answered {
    /// Whether the other side had no place for the call and did not read it.
    pub const fn is_busy(&self) -> bool {
        matches!(self.status, 429 | 503)
    }
}

impl Caller {
    /// A caller that says it is `user_agent`, such as `referee/0.1.0`, and calls everybody.
    pub fn new(user_agent: &'static str, connect_timeout: Duration) -> Self {
        Self::within(Targets::everywhere(), user_agent, connect_timeout)
    }

    /// A caller that calls only whom `targets` allow.
    pub fn within(targets: Targets, user_agent: &'static str, connect_timeout: Duration) -> Self {
        let connector = Connector::new(targets, connect_timeout);
        let component = Component::of_user_agent(user_agent);
        let idle = match component {
            Component::Manager => NEWS_IDLE_TIMEOUT,
            Component::Referee | Component::Player => IDLE_TIMEOUT,
        };
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(idle)
            .pool_max_idle_per_host(IDLE_CONNECTIONS_MAX)
            .build(connector.clone());
        let user_agent = HeaderValue::from_static(user_agent);
        let (calls, sessions) = (Arc::default(), Sessions::default());
        Self { client, connector, user_agent, component, calls, sessions }
    }

    /// Posts `body` to `address` and waits at most `timeout` for the whole answer. Inside that time
    /// a call that fails by our own fault is tried again for a while, and one that is told when to
    /// come back comes back.
    ///
    /// # Errors
    /// If there is no answer; the error says whose fault it is and whether the other side may have
    /// seen the call.
    pub async fn call(
        &self,
        address: &str,
        body: impl Into<Bytes>,
        timeout: Duration,
    ) -> Result<Answered, CallError> {
        let place = self.place(address)?;
        self.calls.fetch_add(1, Ordering::Relaxed);
        let (started, body) = (Mark::set(), body.into());
        let patience = OWN_FAILURE_PATIENCE.min(timeout / 2);
        let mut own_failure = None;
        let calling = async {
            let mut come_backs = 0;
            loop {
                let outcome = self.exchange(&place, body.clone()).await;
                let left = timeout.saturating_sub(started.elapsed());
                match outcome {
                    Err(CallError::Ours(why)) if started.elapsed() < patience => {
                        own_failure = Some(why);
                        tokio::time::sleep(OWN_FAILURE_PAUSE).await;
                        own_failure = None;
                    }
                    Ok(answered) => match come_back(&answered, left) {
                        Some(wait) if come_backs < COME_BACKS_MAX => {
                            come_backs += 1;
                            tokio::time::sleep(wait).await;
                        }
                        Some(_) | None => return Ok(answered),
                    },
                    Err(error) => return Err(error),
                }
            }
        };
        let outcome = match tokio::time::timeout(timeout, calling).await {
            Ok(outcome) => outcome,
            Err(_) => Err(own_failure.map_or(CallError::TimedOut(timeout), CallError::Ours)),
        };
        Meter::of(self.component).called(&outcome, started.elapsed());
        outcome
    }

    /// The part of the league that calls.
    pub const fn component(&self) -> Component {
        self.component
    }

    /// Whether `address` may be called, as far as that can be said without looking up its name.
    ///
    /// # Errors
    /// If not, with the reason.
    pub fn check(&self, address: &str) -> Result<(), CallError> {
        self.place(address).map(drop)
    }

    /// How many calls were made.
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// The place that `address` means, if it may be called.
    fn place(&self, address: &str) -> Result<Address, CallError> {
        let place: Address = address.parse().map_err(|_| CallError::BadAddress(address.into()))?;
        self.connector.targets().check_address(&place).map_err(CallError::Forbidden)?;
        Ok(place)
    }

    /// One exchange; another one if the other side wants to be greeted first.
    async fn exchange(&self, place: &Address, body: Bytes) -> Result<Answered, CallError> {
        let session = self.sessions.of(place);
        let answered = match session.as_deref() {
            Some(session) => self.deliver_greeted(place, session, &body).await?,
            None => self.deliver(place, body.clone(), None).await?,
        };
        let is_misfit = || session.is_none() && session::is_misfit(&body, &answered);
        if !(session::is_demanded(&answered) || is_misfit()) {
            return Ok(answered);
        }
        match self.greet(place).await? {
            Some(session) => self.deliver_greeted(place, &session, &body).await,
            None => Ok(answered),
        }
    }

    /// Posts to somebody who was greeted, and reads.
    async fn deliver_greeted(
        &self,
        place: &Address,
        session: &Session,
        body: &Bytes,
    ) -> Result<Answered, CallError> {
        let answered = self.deliver(place, session.fit(body), Some(session)).await?;
        Ok(Answered { greeted: true, ..answered })
    }

    /// Posts and reads.
    async fn deliver(
        &self,
        place: &Address,
        body: Bytes,
        session: Option<&Session>,
    ) -> Result<Answered, CallError> {
        let (response, redirected) = self.send(place, body.clone(), session).await?;
        let answered = read(response, ANSWER_BYTES_MAX, &body).await?;
        Ok(Answered { redirected, ..answered })
    }

    /// Posts. The only redirect that is followed is the one from a path to the same path with a
    /// slash, which web frameworks like to insist on; tells whether it was.
    async fn send(
        &self,
        place: &Address,
        body: Bytes,
        session: Option<&Session>,
    ) -> Result<(Response<Incoming>, bool), CallError> {
        let response = self.post(place, body.clone(), session).await?;
        match with_slash(place, &response) {
            Some(place) => Ok((self.post(&place, body, session).await?, true)),
            None => Ok((response, false)),
        }
    }

    async fn post(
        &self,
        place: &Address,
        body: Bytes,
        session: Option<&Session>,
    ) -> Result<Response<Incoming>, CallError> {
        let bad = || CallError::BadAddress(place.to_string().into());
        let uri: Uri = place.to_string().parse().map_err(|_| bad())?;
        let mut request = Request::builder()
            .method(Method::POST)
            .uri(uri)
            .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .header(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"))
            .header(USER_AGENT, self.user_agent.clone())
            .body(Full::new(body))
            .map_err(|_| bad())?;
        if let Some(session) = session {
            session.stamp(request.headers_mut());
        }
        let sent = self.client.request(request).await;
        sent.map_err(|error| judge(&error, error.is_connect()))
    }
}

/// Reads at most so many bytes of what answers the call `asked`.
async fn read(
    response: Response<Incoming>,
    most: usize,
    asked: &[u8],
) -> Result<Answered, CallError> {
    let status = response.status().as_u16();
    let retry_after = response.headers().get(RETRY_AFTER);
    let retry_after = retry_after.and_then(|seconds| seconds.to_str().ok()?.parse().ok());
    let retry_after = retry_after.map(Duration::from_secs);
    let answered = |body| Answered { status, body, retry_after, redirected: false, greeted: false };
    if stream::is_stream(&response) {
        return stream::read(response.into_body(), asked).await.map(answered);
    }
    match Limited::new(response.into_body(), most).collect().await {
        Ok(body) => Ok(answered(body.to_bytes())),
        Err(error) if error.is::<LengthLimitError>() => Err(CallError::TooLarge),
        Err(error) => Err(judge(&*error, false)),
    }
}

/// Whether `address` is one that can be called.
pub fn is_callable(address: &str) -> bool {
    address.parse::<Address>().is_ok()
}

/// How long to wait before the call is made again, if the other side asks for it and there is time.
fn come_back(answered: &Answered, left: Duration) -> Option<Duration> {
    answered.retry_after.filter(|wait| answered.is_busy() && *wait < left)
}

/// The same place with a slash, if that is where `response` sends us.
fn with_slash(place: &Address, response: &Response<Incoming>) -> Option<Address> {
    let is_redirect = matches!(response.status().as_u16(), 301 | 302 | 307 | 308);
    if !is_redirect || place.path() != "/mcp" {
        return None;
    }
    let slashed = place.with_path("/mcp/");
    let location = response.headers().get(LOCATION)?.to_str().ok()?;
    let is_same = location == slashed.path()
        || location.parse().is_ok_and(|to: Address| to.normalised() == slashed.normalised());
    is_same.then_some(slashed)
}

/// What a failure means. `is_unseen` if there was no connection at all.
fn judge(error: &(dyn Error + 'static), is_unseen: bool) -> CallError {
    let text: Arc<str> = innermost(error).into();
    let mut causes = std::iter::successors(Some(error), |&error| error.source());
    let connecting = causes.clone().find_map(|cause| cause.downcast_ref::<ConnectError>());
    match connecting {
        Some(ConnectError::Forbidden(forbidden)) => return CallError::Forbidden(*forbidden),
        Some(ConnectError::Ours(_)) => return CallError::Ours(text),
        Some(ConnectError::NoAddress | ConnectError::TimedOut(_) | ConnectError::Theirs(_)) => {
            return CallError::NotConnected(text);
        }
        None => {}
    }
    let is_ours = |error: &io::Error| lacks_means(error) || lacks_way(error);
    if causes.clone().any(|cause| cause.downcast_ref().is_some_and(is_ours)) {
        return CallError::Ours(text);
    }
    // On a connection that had been used before, the client has already tried again.
    let was_not_sent = causes
        .any(|cause| cause.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_canceled));
    if is_unseen || was_not_sent { CallError::NotConnected(text) } else { CallError::Broken(text) }
}

/// The last cause in a chain of errors is the one that tells a person something.
fn innermost(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}
