//! Calling with a token in the header, as who fetches its turns does.

use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, USER_AGENT};
use hyper::{Method, Request};

use super::{Answered, CallError, Caller, judge, read};
use crate::ambient::Mark;
use crate::limits::{ANSWER_BYTES_MAX, TURNS_BYTES_MAX};
use crate::meter::Meter;

impl Caller {
    /// Gets the document at `address`, with `query` after the question mark, as whoever has the
    /// token `bearer`.
    ///
    /// # Errors
    /// If there is no answer within `timeout`.
    pub async fn get(
        &self,
        (address, query): (&str, &str),
        bearer: &str,
        timeout: Duration,
    ) -> Result<Answered, CallError> {
        let uri = format!("{}?{query}", self.place(address)?);
        let request = Request::builder().method(Method::GET).uri(uri);
        self.call_as((request, Bytes::new()), bearer, (timeout, TURNS_BYTES_MAX)).await
    }

    /// Posts the document `body` to `address` as whoever has the token `bearer`.
    ///
    /// # Errors
    /// If there is no answer within `timeout`.
    pub async fn post_as(
        &self,
        address: &str,
        bearer: &str,
        body: Bytes,
        timeout: Duration,
    ) -> Result<Answered, CallError> {
        let json = HeaderValue::from_static("application/json");
        let request = Request::builder().method(Method::POST).uri(self.place(address)?.to_string());
        let request = request.header(CONTENT_TYPE, json);
        self.call_as((request, body), bearer, (timeout, ANSWER_BYTES_MAX)).await
    }

    async fn call_as(
        &self,
        (request, body): (hyper::http::request::Builder, Bytes),
        bearer: &str,
        (timeout, most): (Duration, usize),
    ) -> Result<Answered, CallError> {
        let request = request
            .header(ACCEPT, HeaderValue::from_static("application/json"))
            .header(USER_AGENT, self.user_agent.clone())
            .header(AUTHORIZATION, format!("Bearer {bearer}"))
            .body(Full::new(body))
            .map_err(|error| CallError::BadAddress(error.to_string().into()))?;
        self.calls.fetch_add(1, Ordering::Relaxed);
        let started = Mark::set();
        let calling = async {
            let sent = self.client.request(request).await;
            read(sent.map_err(|error| judge(&error, error.is_connect()))?, most, &[]).await
        };
        let outcome = match tokio::time::timeout(timeout, calling).await {
            Ok(outcome) => outcome,
            Err(_) => Err(CallError::TimedOut(timeout)),
        };
        Meter::of(self.component).called(&outcome, started.elapsed());
        outcome
    }
}
