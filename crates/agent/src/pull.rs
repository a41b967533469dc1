//! Playing without an open port: fetching what was sent from a mailbox at the manager, and posting
//! the answers. Whoever can answer `POST /mcp` can be served from a mailbox instead.
//!
//! [`Mailbox`] is one mailbox as its owner sees it. [`serve`] does for it what
//! [`endpoint::serve`](crate::endpoint::serve) does for a port.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{FuturesUnordered, StreamExt};
use league_core::proof::Token;
use league_wire::DecodeError;
use league_wire::turns::{Turn, Turns};
use tokio::sync::watch;

use crate::caller::{Answered, CallError, Caller};
use crate::endpoint::Service;
use crate::limits::{
    POLL_GRACE, POLL_WAIT, REGISTER_PAUSE_MIN, TOLD_TIMEOUT, TURN_ANSWER_TIMEOUT, TURN_ANSWER_TRIES,
};

/// A mailbox at the manager, as its owner sees it.
#[derive(Debug, Clone)]
pub struct Mailbox {
    caller: Caller,
    /// Where turns are fetched.
    address: String,
    token: Token,
}

/// Why a mailbox gave nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PullError {
    /// The manager could not be asked.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The manager has no room or no time just now.
    #[error("the manager is busy (HTTP status {status})")]
    Busy {
        /// The HTTP status.
        status: u16,
        /// When to come back, if it says so.
        retry_after: Option<Duration>,
    },
    /// Somebody else fetches with the same token.
    #[error("somebody else fetches the turns of this player")]
    TakenOver,
    /// The manager knows no mailbox for this token; registering again tells why.
    #[error("the manager has no mailbox for this player (HTTP status {0})")]
    NotMine(u16),
    /// Something else came back.
    #[error("HTTP status {0}, which is no answer to a poll")]
    Unexpected(u16),
    /// What came back cannot be read.
    #[error("what the manager gave cannot be read: {0}")]
    Unreadable(#[from] DecodeError),
}

impl Mailbox {
    /// The mailbox of whoever has `token`, at the manager that is called at `manager`, such as
    /// `http://127.0.0.1:8000/mcp`.
    pub fn new(caller: Caller, manager: &str, token: Token) -> Self {
        let base = manager.trim_end_matches('/').trim_end_matches("/mcp");
        Self { caller, address: format!("{base}/api/v1/turns"), token }
    }

    /// Waits at most `wait` for turns after `after`. Without `after` it gives what was never given
    /// and what is not answered; after 0 also what was only told, which is how a program that was
    /// restarted goes on.
    ///
    /// # Errors
    /// If the manager gives none.
    pub async fn fetch(&self, after: Option<u64>, wait: Duration) -> Result<Turns, PullError> {
        let after = after.map(|after| format!("&after={after}")).unwrap_or_default();
        let query = format!("wait={}{after}", wait.as_secs());
        let (at, token) = ((&*self.address, &*query), self.token.expose());
        let answered = checked(self.caller.get(at, token, wait + POLL_GRACE).await?)?;
        Ok(Turns::read(&String::from_utf8_lossy(&answered.body))?)
    }

    /// Answers `turn` with the JSON-RPC response in `body`. Doing it twice does no harm.
    ///
    /// # Errors
    /// If the manager did not take it.
    pub async fn answer(&self, turn: u64, body: Bytes) -> Result<(), PullError> {
        let (address, token) = (format!("{}/{turn}", self.address), self.token.expose());
        let answered = self.caller.post_as(&address, token, body, TURN_ANSWER_TIMEOUT).await?;
        checked(answered).map(drop)
    }
}

fn checked(answered: Answered) -> Result<Answered, PullError> {
    match answered.status {
        200 => Ok(answered),
        401 | 403 => Err(PullError::NotMine(answered.status)),
        409 => Err(PullError::TakenOver),
        status @ (429 | 503) => Err(PullError::Busy { status, retry_after: answered.retry_after }),
        status => Err(PullError::Unexpected(status)),
    }
}

/// Has `service` answer what comes into `mailbox` until `stop` says so. Turns are begun in the
/// order in which they came, and none waits for the answer to another.
///
/// # Errors
/// If the mailbox cannot be fetched from. Served again, it goes on with what is not answered.
pub async fn serve<S: Service>(
    mailbox: &Mailbox,
    service: &S,
    mut stop: watch::Receiver<bool>,
) -> Result<(), PullError> {
    let mut after = Some(0);
    let mut answers = FuturesUnordered::new();
    loop {
        let mut fetching = std::pin::pin!(mailbox.fetch(after, POLL_WAIT));
        let fetched = loop {
            tokio::select! {
                biased;
                _ = stop.wait_for(|stopped| *stopped) => return Ok(()),
                Some(()) = answers.next(), if !answers.is_empty() => {}
                fetched = &mut fetching => break fetched?,
            }
        };
        after = fetched.cursor;
        for turn in fetched.turns {
            if turn.needs_answer {
                answers.push(reply(mailbox, service, turn));
            } else {
                // What is told must be known before what follows from it is asked.
                let told = service.mcp(body(&turn), NOBODY);
                let _too_slow = tokio::time::timeout(TOLD_TIMEOUT, told).await;
            }
        }
    }
}

/// Who calls stands in the call; where from nobody knows.
const NOBODY: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);

fn body(turn: &Turn) -> Bytes {
    Bytes::copy_from_slice(turn.call.as_str().as_bytes())
}

async fn reply<S: Service>(mailbox: &Mailbox, service: &S, turn: Turn) {
    let answer = service.mcp(body(&turn), NOBODY).await;
    if answer.is_hung_up() {
        return;
    }
    let mut pause = REGISTER_PAUSE_MIN;
    for _ in 0..TURN_ANSWER_TRIES {
        match mailbox.answer(turn.turn, answer.body.clone()).await {
            Err(PullError::Call(_) | PullError::Busy { .. }) => tokio::time::sleep(pause).await,
            // Whatever else it says, it would say again.
            Ok(()) | Err(_) => return,
        }
        pause *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mailbox_is_beside_the_managers_endpoint() {
        let caller = Caller::new("player/test", Duration::from_secs(1));
        let token: Token = "tok_0123456789abcdef0123456789abcdef".parse().unwrap();
        for (manager, expected) in [
            ("http://127.0.0.1:8000/mcp", "http://127.0.0.1:8000/api/v1/turns"),
            ("http://127.0.0.1:8000/mcp/", "http://127.0.0.1:8000/api/v1/turns"),
            ("http://host/base/mcp", "http://host/base/api/v1/turns"),
        ] {
            let mailbox = Mailbox::new(caller.clone(), manager, token.clone());
            assert_eq!(mailbox.address, expected);
        }
    }

    #[test]
    fn every_status_means_something() {
        let check = |status| {
            let retry_after = Some(Duration::from_secs(3));
            checked(Answered {
                status,
                body: Bytes::new(),
                retry_after,
                redirected: false,
                greeted: false,
            })
            .map(drop)
        };
        assert_eq!(check(200), Ok(()));
        assert_eq!(check(403), Err(PullError::NotMine(403)));
        assert_eq!(check(409), Err(PullError::TakenOver));
        assert!(matches!(check(503), Err(PullError::Busy { retry_after: Some(_), .. })));
        assert_eq!(check(500), Err(PullError::Unexpected(500)));
    }
}
