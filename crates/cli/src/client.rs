//! Asking a manager over its plain JSON interface, and saying what went wrong in a person's words.

use std::net::ToSocketAddrs;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, USER_AGENT};
use hyper::{Method, Request, StatusCode, Uri};
use hyper_util::client::legacy::Client as HttpClient;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;

use crate::output;
use crate::report::Hint;

/// Longest answer that is read.
const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;
/// How long to wait for an answer.
const TIMEOUT: Duration = Duration::from_secs(10);
const AGENT: &str = concat!("league/", env!("CARGO_PKG_VERSION"));

/// A manager, as its administrator and its spectators call it.
pub(crate) struct Client {
    base: String,
    token: Option<String>,
    http: HttpClient<HttpConnector, Full<Bytes>>,
}

/// A manager that cannot be reached just now.
#[derive(Debug, thiserror::Error)]
#[error("cannot reach the manager at {base}: {reason}")]
pub(crate) struct Unreachable {
    base: String,
    reason: String,
}

/// A token that is not the administrator's.
#[derive(Debug, thiserror::Error)]
#[error("the manager said no: {0}")]
struct Forbidden(String);

impl Client {
    /// A client of the manager at `address`, which shows `token` where one is needed.
    pub(crate) fn new(address: &str, token: Option<String>) -> anyhow::Result<Self> {
        let base = base(address)?;
        let http = HttpClient::builder(TokioExecutor::new()).build_http();
        Ok(Self { base, token, http })
    }

    /// Reads the document at `path`.
    pub(crate) async fn get(&self, path: &str) -> anyhow::Result<Value> {
        self.send(Method::GET, path, Bytes::new()).await
    }

    /// Posts a document to `path` and reads the answer.
    pub(crate) async fn post(&self, path: &str, document: &Value) -> anyhow::Result<Value> {
        self.send(Method::POST, path, document.to_string().into()).await
    }

    /// Reads the document at `path` as somebody who may or may not be the administrator: a token of
    /// another manager is left out, and told.
    pub(crate) async fn look(&self, path: &str) -> anyhow::Result<Value> {
        let seen = self.get(path).await;
        match seen {
            Err(error) if self.token.is_some() && error.downcast_ref::<Forbidden>().is_some() => {
                output::say(
                    "the administrator's token here is not the one of this manager; who is behind \
                     the players is not shown",
                );
                let anybody = Self::new(&self.base, None)?;
                anybody.get(path).await
            }
            seen => seen,
        }
    }

    async fn send(&self, method: Method, path: &str, body: Bytes) -> anyhow::Result<Value> {
        let uri = format!("{}{path}", self.base);
        let mut request = Request::builder()
            .method(method)
            .uri(&uri)
            .header(ACCEPT, "application/json")
            .header(CONTENT_TYPE, "application/json")
            .header(USER_AGENT, AGENT);
        if let Some(token) = &self.token {
            request = request.header(AUTHORIZATION, format!("Bearer {token}"));
        }
        let request = request.body(Full::new(body)).context("cannot ask like this")?;
        let asked = async {
            let response = self.http.request(request).await.map_err(|e| innermost(&e))?;
            let status = response.status();
            let body = Limited::new(response.into_body(), ANSWER_BYTES_MAX).collect().await;
            let body = body.map_err(|error| error.to_string())?.to_bytes();
            Ok::<_, String>((status, body))
        };
        let outcome = tokio::time::timeout(TIMEOUT, asked).await;
        let outcome = outcome.unwrap_or_else(|_| Err(format!("no answer within {TIMEOUT:?}")));
        let (status, body) = outcome.map_err(|reason| self.unreachable(reason))?;
        let document: Option<Value> = serde_json::from_slice(&body).ok();
        if status.is_success() {
            return document.ok_or_else(|| anyhow!("{uri} gave no JSON document"));
        }
        Err(refused(status, document.as_ref(), &uri))
    }

    fn unreachable(&self, reason: String) -> anyhow::Error {
        let hint = "is it running? `league serve` starts one; --manager says where it is";
        anyhow::Error::new(Unreachable { base: self.base.clone(), reason })
            .context(Hint(hint.into()))
    }
}

fn refused(status: StatusCode, document: Option<&Value>, uri: &str) -> anyhow::Error {
    let said = document.and_then(|document| document["error"].as_str());
    let hint = match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            Some("set LEAGUE_ADMIN_TOKEN, or name the manager's data directory with --data DIR")
        }
        StatusCode::NOT_FOUND if said.is_none_or(|said| said.starts_with("there is no league")) => {
            Some("`league status` lists the leagues of a manager")
        }
        _ => None,
    };
    let error = match said {
        Some(said) if status == StatusCode::FORBIDDEN => Forbidden(said.into()).into(),
        Some(said) => anyhow!("the manager said no: {said}"),
        None if status == StatusCode::NOT_FOUND => anyhow!("there is nothing at {uri}"),
        None => anyhow!("{uri} answered with HTTP status {status}"),
    };
    match hint {
        Some(hint) => error.context(Hint(hint.into())),
        None => error,
    }
}

/// The last cause in a chain of errors is the one that tells a person something.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

/// The manager's address as agents call it.
pub(crate) fn mcp(address: &str) -> anyhow::Result<String> {
    Ok(format!("{}/mcp", base(address)?))
}

/// Refuses a manager whose host has no address: waiting for it would be waiting for ever.
pub(crate) fn resolve(address: &str) -> anyhow::Result<()> {
    let uri: Uri = base(address)?.parse().context("--manager")?;
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
    let found = (host, uri.port_u16().unwrap_or(80)).to_socket_addrs();
    let hint = || Hint("--manager is the address of a league manager: http://host:port".into());
    found
        .map(drop)
        .map_err(|error| anyhow!("--manager: there is no host `{host}`: {error}").context(hint()))
}

/// The address without a path; `host:port` alone and the one with `/mcp` are understood.
fn base(address: &str) -> anyhow::Result<String> {
    let typed = address.trim();
    let with_scheme = if typed.contains("://") { typed.into() } else { format!("http://{typed}") };
    let wrong = || anyhow!("--manager: expected http://host:port, got `{address}`");
    let uri: Uri = with_scheme.parse().map_err(|_| wrong())?;
    // A word alone is a slip of the fingers more often than a host on port 80.
    let is_word = !typed.contains("://") && uri.port().is_none();
    if uri.scheme_str() != Some("http") || uri.host().is_none_or(str::is_empty) || is_word {
        bail!(wrong());
    }
    let path = uri.path().trim_end_matches('/').trim_end_matches("/mcp");
    let authority = uri.authority().ok_or_else(wrong)?;
    Ok(format!("http://{authority}{path}"))
}

/// The host and the port that `address` names.
pub(crate) fn place(address: &str) -> Option<(String, u16)> {
    let uri: Uri = base(address).ok()?.parse().ok()?;
    let host = uri.host()?.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
    Some((host, uri.port_u16().unwrap_or(80)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn managers_are_found_however_they_are_written() {
        for typed in ["localhost:8000", "http://localhost:8000/", "http://localhost:8000/mcp"] {
            assert_eq!(mcp(typed).unwrap(), "http://localhost:8000/mcp", "{typed}");
        }
        assert_eq!(base("http://host/league/mcp/").unwrap(), "http://host/league");
        for typed in ["", "https://host", "http://", "ftp://host:1", "a b", "nonsense", "host/mcp"]
        {
            assert!(base(typed).is_err(), "{typed}");
        }
    }
}
