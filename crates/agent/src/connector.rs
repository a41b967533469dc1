//! Connecting: one look at the name, every address checked before it is used, and our own
//! failures told from the other side's.

use std::future::Future;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::Uri;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpStream, lookup_host};
use tower_service::Service;

use crate::limits::ADDRESSES_TRIED_MAX;
use crate::targets::{Forbidden, Targets};

/// Connects to whom `targets` allow.
#[derive(Debug, Clone)]
pub(crate) struct Connector {
    targets: Arc<Targets>,
    timeout: Duration,
    /// Whether an IPv6 connection was ever made from here.
    had_v6: Arc<AtomicBool>,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectError {
    #[error(transparent)]
    Forbidden(Forbidden),
    #[error("the host name leads nowhere")]
    NoAddress,
    #[error("no connection within {0:?}")]
    TimedOut(Duration),
    #[error("{0}")]
    Ours(io::Error),
    #[error("{0}")]
    Theirs(io::Error),
}

impl Connector {
    pub(crate) fn new(targets: Targets, timeout: Duration) -> Self {
        Self { targets: Arc::new(targets), timeout, had_v6: Arc::default() }
    }

    pub(crate) fn targets(&self) -> &Targets {
        &self.targets
    }

    async fn connect(self, uri: Uri) -> Result<TokioIo<TcpStream>, ConnectError> {
        let connecting = async {
            let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
            let found = lookup_host((host, uri.port_u16().unwrap_or(80))).await;
            let found = found.map_err(|error| blame(error, None))?;
            self.connect_to_one(found.take(ADDRESSES_TRIED_MAX).collect()).await
        };
        let connected = tokio::time::timeout(self.timeout, connecting).await;
        connected.unwrap_or(Err(ConnectError::TimedOut(self.timeout)))
    }

    /// Connects to the first that answers. Each gets its share of the time, so that a dead one does
    /// not use up everything.
    async fn connect_to_one(
        &self,
        found: Vec<SocketAddr>,
    ) -> Result<TokioIo<TcpStream>, ConnectError> {
        let share = self.timeout / u32::try_from(found.len().max(1)).unwrap_or(1);
        let mut failure = ConnectError::NoAddress;
        for address in found {
            let outcome = match self.targets.check(address) {
                Ok(()) => match tokio::time::timeout(share, TcpStream::connect(address)).await {
                    Ok(connected) => connected.map_err(|error| {
                        blame(error, Some(address.is_ipv4() || self.had_v6.load(Ordering::Relaxed)))
                    }),
                    Err(_) => Err(ConnectError::TimedOut(share)),
                },
                Err(forbidden) => Err(ConnectError::Forbidden(forbidden)),
            };
            match outcome {
                Ok(stream) => {
                    stream.set_nodelay(true).map_err(ConnectError::Theirs)?;
                    let local = stream.local_addr().map_err(ConnectError::Theirs)?;
                    let checked = self.targets.check_line(local, address);
                    checked.map_err(ConnectError::Forbidden)?;
                    self.had_v6.fetch_or(address.is_ipv6(), Ordering::Relaxed);
                    return Ok(TokioIo::new(stream));
                }
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }
}

impl Service<Uri> for Connector {
    type Response = TokioIo<TcpStream>;
    type Error = ConnectError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, ConnectError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ConnectError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        Box::pin(self.clone().connect(uri))
    }
}

/// Whose fault it is. That there is no way to an address is ours only if `family_works`: somebody
/// who gives an IPv6 address where there has never been IPv6 has not lost to a failure of ours.
fn blame(error: io::Error, family_works: Option<bool>) -> ConnectError {
    let is_ours = lacks_means(&error) || (lacks_way(&error) && family_works == Some(true));
    if is_ours { ConnectError::Ours(error) } else { ConnectError::Theirs(error) }
}

/// Whether `error` says that this machine has run out of what a connection needs.
pub(crate) fn lacks_means(error: &io::Error) -> bool {
    let is_counted_out =
        error.raw_os_error().is_some_and(|code| [ENFILE, EMFILE, ENOBUFS].contains(&code));
    is_counted_out || error.kind() == ErrorKind::OutOfMemory
}

/// Whether `error` says that this machine has no way out: no network, or no port left.
pub(crate) fn lacks_way(error: &io::Error) -> bool {
    use ErrorKind::{AddrNotAvailable, NetworkDown, NetworkUnreachable};
    [AddrNotAvailable, NetworkDown, NetworkUnreachable].contains(&error.kind())
}

/// The numbers that the standard library has no name for. The first two are the same on every Unix.
const ENFILE: i32 = 23;
const EMFILE: i32 = 24;
const ENOBUFS: i32 = if cfg!(any(target_os = "linux", target_os = "android")) { 105 } else { 55 };

#[cfg(test)]
mod tests {
    use super::*;

    fn is_ours(code: i32, family_works: bool) -> bool {
        let error = io::Error::from_raw_os_error(code);
        matches!(blame(error, Some(family_works)), ConnectError::Ours(_))
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_this_machine_lacks_is_our_fault() {
        // ENOMEM, ENFILE, EMFILE, ENOBUFS
        for code in [12, 23, 24, 105] {
            assert!(is_ours(code, true) && is_ours(code, false), "{code}");
        }
        // EADDRNOTAVAIL, ENETDOWN, ENETUNREACH
        for code in [99, 100, 101] {
            assert!(is_ours(code, true), "{code}");
            assert!(!is_ours(code, false), "{code}: there was never a way");
        }
        // ECONNRESET, ETIMEDOUT, ECONNREFUSED, EHOSTUNREACH
        for code in [104, 110, 111, 113] {
            assert!(!is_ours(code, true), "{code}");
        }
    }

    #[tokio::test]
    async fn what_a_name_leads_to_is_checked() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let uri: Uri = format!("http://localhost:{port}/mcp").parse().unwrap();
        let patience = Duration::from_secs(10);
        let open = Connector::new(Targets::everywhere(), patience);
        assert!(open.connect(uri.clone()).await.is_ok());
        let closed = Connector::new(Targets::public(), patience);
        let refused = closed.connect(uri).await.unwrap_err();
        assert!(matches!(refused, ConnectError::Forbidden(_)), "{refused}");
    }
}
