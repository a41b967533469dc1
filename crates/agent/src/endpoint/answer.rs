//! What goes back to a caller.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{ALLOW, CONTENT_TYPE, ETAG, HeaderValue, RETRY_AFTER};
use hyper::{Response, StatusCode};

/// What goes back to the caller.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The media type of the body.
    pub content_type: &'static str,
    /// The body.
    pub body: Bytes,
    /// When to come back. With 429 and 503 it is a second if nothing else is said.
    pub retry_after: Option<Duration>,
    /// What changes whenever the body does (`ETag`): whoever shows it has the body already.
    pub mark: Option<String>,
}

/// In place of a status: there is no answer, and the connection is closed.
const HUNG_UP: u16 = 0;

/// The connection is closed without an answer.
#[derive(Debug, thiserror::Error)]
#[error("no answer is given")]
pub(super) struct HungUp;

impl Answer {
    /// A JSON document with status 200.
    pub fn json(body: impl Into<Bytes>) -> Self {
        Self { content_type: "application/json", ..Self::text(200, body) }
    }

    /// A JSON document with another status.
    pub fn json_with_status(status: u16, body: impl Into<Bytes>) -> Self {
        Self { status, ..Self::json(body) }
    }

    /// Plain text.
    pub fn text(status: u16, body: impl Into<Bytes>) -> Self {
        let content_type = "text/plain; charset=utf-8";
        Self { status, content_type, body: body.into(), retry_after: None, mark: None }
    }

    /// A no in one sentence: a document where documents are asked for, else plain text.
    pub(crate) fn refused(status: u16, text: &'static str, as_document: bool) -> Self {
        if as_document {
            return Self::json_with_status(status, format!("{{\"error\":\"{text}\"}}\n"));
        }
        Self::text(status, format!("{text}\n"))
    }

    /// Figures, as monitoring systems read them.
    pub fn metrics(page: impl Into<Bytes>) -> Self {
        Self { content_type: "text/plain; version=0.0.4; charset=utf-8", ..Self::text(200, page) }
    }

    /// Somebody asks too often, and may come back after `wait`.
    pub fn too_many(wait: Duration) -> Self {
        let text = format!("too many requests; come back in {} s\n", seconds(wait));
        Self { retry_after: Some(wait), ..Self::text(429, text) }
    }

    /// There is no room at present; `text` says for what.
    pub fn busy(text: impl Into<Bytes>) -> Self {
        Self::text(503, text)
    }

    /// The same answer, which its reader may keep while `mark` stays the same.
    #[must_use]
    pub fn marked(self, mark: String) -> Self {
        Self { mark: Some(mark), ..self }
    }

    /// The same answer for somebody who has the bodies of the marks in `shown`.
    pub(super) fn unless_known(self, shown: Option<&HeaderValue>) -> Self {
        let known = shown.and_then(|shown| shown.to_str().ok()).unwrap_or_default();
        let is_known = |mark: &String| {
            let quoted = format!("\"{mark}\"");
            known.split(',').any(|one| one.trim().trim_start_matches("W/") == quoted)
        };
        if self.status == 200 && self.mark.as_ref().is_some_and(is_known) {
            return Self { status: 304, body: Bytes::new(), ..self };
        }
        self
    }

    /// No answer: the connection is closed instead. For players that misbehave.
    pub fn hang_up() -> Self {
        Self::text(HUNG_UP, "")
    }

    /// Whether the connection is closed instead.
    pub(crate) const fn is_hung_up(&self) -> bool {
        self.status == HUNG_UP
    }

    pub(super) fn into_response(self, is_head: bool) -> Result<Response<Full<Bytes>>, HungUp> {
        if self.status == HUNG_UP {
            return Err(HungUp);
        }
        let body = if is_head { Bytes::new() } else { self.body };
        let mut response = Response::new(Full::new(body));
        *response.status_mut() =
            StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        let mark = self.mark.and_then(|mark| HeaderValue::from_str(&format!("\"{mark}\"")).ok());
        if let Some(mark) = mark {
            headers.insert(ETAG, mark);
        }
        if self.status == 405 {
            headers.insert(ALLOW, HeaderValue::from_static("POST"));
        }
        let usual = matches!(self.status, 429 | 503).then_some(Duration::ZERO);
        if let Some(wait) = self.retry_after.or(usual) {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds(wait)));
        }
        Ok(response)
    }
}

/// `wait` in whole seconds, one at least: whoever comes back a little early is refused again.
fn seconds(wait: Duration) -> u64 {
    let rounded = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    rounded.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn retry_after(answer: Answer) -> Option<String> {
        let response = answer.into_response(false).unwrap();
        response.headers().get(RETRY_AFTER).map(|value| value.to_str().unwrap().to_string())
    }

    #[test]
    fn whoever_is_sent_away_is_told_when_to_come_back() {
        assert_eq!(retry_after(Answer::json("{}")), None);
        assert_eq!(retry_after(Answer::busy("")).as_deref(), Some("1"));
        assert_eq!(retry_after(Answer::json_with_status(503, "{}")).as_deref(), Some("1"));
        let wait = |ms| retry_after(Answer::too_many(Duration::from_millis(ms)));
        assert_eq!(wait(0).as_deref(), Some("1"));
        assert_eq!(wait(2_000).as_deref(), Some("2"));
        assert_eq!(wait(2_001).as_deref(), Some("3"));
        assert!(Answer::hang_up().into_response(false).is_err());
    }
}
