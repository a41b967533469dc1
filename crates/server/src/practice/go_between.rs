//! Stands between a referee and the agent, and sees to it that something goes wrong.

use std::net::SocketAddr;
use std::sync::Mutex;
use std::time::Duration;

use bytes::Bytes;
use league_agent::address::Address;
use league_agent::ambient::Mark;
use league_agent::caller::{Answered, CallError, Caller};
use league_agent::endpoint::{Answer, Service};
use league_agent::guard::lock;
use league_core::policy::Policy;
use league_wire::MessageType;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;

use super::meaning::{Call, Meaning};
use super::{Fault, Finding};
use crate::limits::PRACTICE_CALL_TIME;

/// Stands between a referee and the agent for one match.
#[derive(Debug)]
pub(super) struct GoBetween {
    fault: Fault,
    target: String,
    caller: Caller,
    limits: Limits,
    /// Whether the referee has asked again, and the agent has had its chance to answer.
    asked_again: watch::Sender<bool>,
    seen: Mutex<Seen>,
}

/// How long the agent may take.
#[derive(Debug, Clone, Copy)]
struct Limits {
    join: Duration,
    choice: Duration,
    news: Duration,
}

/// What the go-between has seen.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen {
    /// How long the agent took for each answer that it owed.
    pub(super) times: Vec<Duration>,
    pub(super) findings: Vec<Finding>,
    /// Whether the agent answered everything in its time and refused nothing.
    pub(super) is_blemished: bool,
    /// Why it did not answer, if it did not.
    pub(super) unanswered: Option<String>,
    /// How often something was made to go wrong.
    pub(super) faults: u32,
    /// Calls for a choice that have come.
    pub(super) choices: u32,
    /// The first answer to one of them.
    pub(super) chosen: Option<Meaning>,
}

impl GoBetween {
    pub(super) fn new(fault: Fault, target: &str, caller: Caller, policy: &Policy) -> Self {
        let limits = Limits {
            join: policy.invitation_timeout(),
            choice: policy.choice_timeout(),
            news: policy.game_over_timeout(),
        };
        Self {
            fault,
            target: target.into(),
            caller,
            limits,
            asked_again: watch::Sender::new(false),
            seen: Mutex::default(),
        }
    }

    /// What it has seen.
    pub(super) fn seen(&self) -> Seen {
        lock(&self.seen).clone()
    }

    const fn limit(&self, call: &Call) -> Duration {
        match call.kind {
            Some(MessageType::GameInvitation) => self.limits.join,
            Some(MessageType::ChooseParityCall | MessageType::GameMoveCall) => self.limits.choice,
            Some(_) | None => self.limits.news,
        }
    }

    /// Hands a call on, and notes how long the agent takes.
    async fn deliver(&self, call: &Call) -> Result<Answered, CallError> {
        let begun = Mark::set();
        let outcome = self.caller.call(&self.target, call.body.clone(), PRACTICE_CALL_TIME).await;
        let took = begun.elapsed();
        let mut seen = lock(&self.seen);
        if call.counts() {
            if outcome.is_ok() {
                seen.times.push(took);
            }
            let is_refusal = matches!(
                call.meaning(&outcome),
                Meaning::Joined(false) | Meaning::Refused(_) | Meaning::Nothing(_)
            );
            seen.is_blemished |= is_refusal || took > self.limit(call);
        }
        if let Err(error) = &outcome {
            seen.unanswered = Some(error.to_string());
        }
        outcome
    }

    fn note(&self, finding: Option<Finding>) {
        lock(&self.seen).findings.extend(finding);
    }

    fn count(&self) {
        lock(&self.seen).faults += 1;
    }

    /// Only what the referee waits for with patience comes late: news before the first move must
    /// not overtake each other.
    async fn late(&self, call: &Call) -> Result<Answered, CallError> {
        if !(call.counts() || call.kind == Some(MessageType::GameOver)) {
            return self.deliver(call).await;
        }
        let delay = Fault::delay(self.limit(call));
        self.count();
        tokio::time::sleep(delay).await;
        let outcome = self.deliver(call).await;
        tokio::time::sleep(delay).await;
        outcome
    }

    /// The second delivery comes before the referee has the first answer: nothing that the referee
    /// says afterwards can be before it.
    async fn twice(&self, call: &Call) -> Result<Answered, CallError> {
        let first = self.deliver(call).await;
        if first.is_err() || call.kind.is_none() {
            return first;
        }
        self.count();
        let limit = self.limit(call) / 3;
        let again = tokio::time::timeout(limit, self.deliver(call)).await;
        let again = again.unwrap_or(Err(CallError::TimedOut(limit)));
        let (meaning, repeated) = (call.meaning(&first), call.meaning(&again));
        self.note(meaning.disagreement(&repeated, call));
        first
    }

    /// The first answer to a call for a choice waits until the referee has asked again and the
    /// agent has answered that too, or has had the time to.
    async fn held_back(&self, call: &Call) -> Result<Answered, CallError> {
        if !call.asks_for_choice() {
            return self.deliver(call).await;
        }
        if self.next_choice() == 1 {
            let outcome = self.deliver(call).await;
            self.compare(call, &outcome);
            self.count();
            // Whoever waits for nothing is hung up on by the referee.
            drop(self.asked_again.subscribe().wait_for(|again| *again).await);
            return outcome;
        }
        let delivery = self.deliver(call);
        let mut delivery = std::pin::pin!(delivery);
        let limit = self.limits.choice / 2;
        let outcome = match tokio::time::timeout(limit, &mut delivery).await {
            Ok(outcome) => {
                self.compare(call, &outcome);
                outcome
            }
            Err(_) => {
                let silent = Err(CallError::TimedOut(limit));
                self.compare(call, &silent);
                self.asked_again.send_replace(true);
                return delivery.await;
            }
        };
        self.asked_again.send_replace(true);
        outcome
    }

    fn next_choice(&self) -> u32 {
        let mut seen = lock(&self.seen);
        seen.choices += 1;
        seen.choices
    }

    /// Compares an answer to a call for a choice with the first one that came.
    fn compare(&self, call: &Call, outcome: &Result<Answered, CallError>) {
        let meaning = call.meaning(outcome);
        let mut seen = lock(&self.seen);
        match &seen.chosen {
            None => seen.chosen = Some(meaning),
            Some(first) => {
                let finding = first.disagreement(&meaning, call);
                seen.findings.extend(finding);
            }
        }
    }

    /// The connections of the first call for a choice and of GAME_OVER break before the answer has
    /// come. An invitation that was delivered is never repeated, so its answer always comes.
    async fn broken(&self, call: &Call) -> Option<Result<Answered, CallError>> {
        let is_first_choice = call.asks_for_choice() && self.next_choice() == 1;
        if is_first_choice || call.kind == Some(MessageType::GameOver) {
            self.count();
            let begun = Mark::set();
            if self.send_and_go(call).await && call.counts() {
                lock(&self.seen).times.push(begun.elapsed());
            }
            return None;
        }
        Some(self.deliver(call).await)
    }

    /// Sends a call, and hangs up as soon as the answer begins. Whether it began.
    async fn send_and_go(&self, call: &Call) -> bool {
        let address = self.target.parse::<Address>().ok();
        let Some(address) = address.filter(|_| self.caller.check(&self.target).is_ok()) else {
            return false;
        };
        let head = format!(
            "POST {} HTTP/1.1\r\nHost: {}:{}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n",
            address.path(),
            address.host(),
            address.port(),
            call.body.len()
        );
        let sending = async {
            let host = address.host().to_string();
            let host = host.trim_start_matches('[').trim_end_matches(']').to_string();
            let mut line = TcpStream::connect((host, address.port())).await?;
            line.write_all(head.as_bytes()).await?;
            line.write_all(&call.body).await?;
            line.read_u8().await
        };
        // An agent that does not answer this does not answer the call that follows either.
        tokio::time::timeout(self.limit(call), sending).await.is_ok_and(|sent| sent.is_ok())
    }
}

impl Service for GoBetween {
    async fn mcp(&self, body: Bytes, _peer: SocketAddr) -> Answer {
        let call = Call::of(body);
        let outcome = match self.fault {
            Fault::Slow => self.late(&call).await,
            Fault::Duplicates => self.twice(&call).await,
            Fault::LateRetries => self.held_back(&call).await,
            Fault::Drops => match self.broken(&call).await {
                Some(outcome) => outcome,
                None => return Answer::hang_up(),
            },
        };
        answer(outcome)
    }

    fn page(&self, _path: &str) -> Option<Answer> {
        None
    }
}

/// The answer for the referee, which must see from it what it would have seen itself.
fn answer(outcome: Result<Answered, CallError>) -> Answer {
    match outcome {
        Ok(Answered { status, body, retry_after, .. }) => {
            Answer { retry_after, ..Answer::json_with_status(status, body) }
        }
        // It has not seen the call, which may be made again.
        Err(CallError::NotConnected(why) | CallError::Ours(why)) => Answer::busy(why.to_string()),
        Err(CallError::Busy) => Answer::busy(""),
        Err(
            CallError::BadAddress(_)
            | CallError::Forbidden(_)
            | CallError::Broken(_)
            | CallError::TimedOut(_)
            | CallError::TooLarge,
        ) => Answer::hang_up(),
    }
}
