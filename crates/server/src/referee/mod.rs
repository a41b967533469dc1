//! The referee as a service: takes matches from the manager and runs each as a task of its own.

mod account;
mod agreement;
mod asking;
mod bout;
mod breakers;
mod clocks;
mod excuse;
mod heard;
mod inbound;
mod mail;
mod outbound;
mod recorder;
mod relayed;
mod search;
mod standing;
mod summary;
mod trouble;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use league_agent::endpoint::serve;
use league_agent::exchange::Exchange;
use league_agent::guard::{self, lock};
use league_agent::register::{self, Application, Enrolment, Membership, RegisterError};
use league_core::game::Game;
use league_core::id::{MatchId, RefereeId};
use league_core::policy::{BadRule, Policy, RuleSet};
use league_core::referee::Command;
use tokio::net::TcpListener;
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::{AbortHandle, JoinError, JoinSet};

use crate::limits::{FINISHED_MATCHES_MAX, REFEREE_LEAVE_TIMEOUT};
use asking::Spellings;
use breakers::Breakers;
use clocks::Clocks;
use mail::Mail;
use outbound::Letters;

/// A referee that is listening.
pub struct Referee {
    manager: Arc<str>,
    /// How it calls the manager, which its owner has named.
    exchange: Exchange,
    /// How it calls players, who have named themselves.
    players: Exchange,
    enrolment: Enrolment<RefereeId>,
    mail: Mail,
    running: Mutex<BTreeMap<MatchId, Running>>,
    /// The latest attempt at each match whose result is in the manager's books.
    finished: Mutex<BTreeMap<MatchId, u32>>,
    tasks: Mutex<JoinSet<()>>,
    /// There is a task that nobody has looked after yet.
    spawned: Notify,
    leaving: watch::Sender<bool>,
    breakers: Breakers,
    rules: Mutex<Option<CachedRules>>,
    clocks: Clocks,
    spellings: Spellings,
}

/// A match that this referee runs.
struct Running {
    letters: Arc<Letters>,
    inbox: mpsc::Sender<Command>,
    task: AbortHandle,
}

/// What a match is played by.
type Rules = (Arc<dyn Game>, Arc<Policy>);

/// Matches of one league share their rules, so they are read once.
type CachedRules = (BTreeMap<String, String>, Arc<Policy>);

impl std::fmt::Debug for Referee {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Referee").field("manager", &self.manager).finish_non_exhaustive()
    }
}

impl Referee {
    /// A referee that takes matches from the manager at `manager`.
    pub fn new(manager: &str, exchange: Exchange) -> Arc<Self> {
        Self::within(manager, exchange.clone(), exchange)
    }

    /// A referee that calls the manager at `manager` with one exchange and players with another.
    pub fn within(manager: &str, exchange: Exchange, players: Exchange) -> Arc<Self> {
        Arc::new(Self {
            manager: manager.into(),
            exchange,
            players,
            enrolment: Enrolment::default(),
            mail: Mail::default(),
            running: Mutex::default(),
            finished: Mutex::default(),
            tasks: Mutex::default(),
            spawned: Notify::new(),
            leaving: watch::Sender::new(false),
            breakers: Breakers::default(),
            rules: Mutex::default(),
            clocks: Clocks::default(),
            spellings: Spellings::default(),
        })
    }

    /// Listens, registers, and officiates until `stop` says so. What is decided by then is still
    /// reported and told, as far as that goes quickly.
    ///
    /// # Errors
    /// If the registration fails.
    ///
    /// # Panics
    /// If one of its matches does.
    pub async fn run(
        self: Arc<Self>,
        listener: TcpListener,
        application: Application,
        stop: watch::Receiver<bool>,
    ) -> Result<(), RegisterError> {
        let desk = Arc::new(inbound::RefereeDesk::new(self.clone()));
        let mut serving = std::pin::pin!(serve(listener, desk, stop));
        tokio::select! {
            () = &mut serving => return Ok(()),
            joined = register::referee(&self.exchange, &application) => {
                self.enrolment.settle(joined?);
            }
        };
        tokio::select! {
            () = &mut serving => {}
            never = self.supervise() => never,
        }
        self.leave().await;
        Ok(())
    }

    /// Holds the referee's membership as soon as it is registered; closed when it is gone.
    pub fn membership(&self) -> watch::Receiver<Option<Membership<RefereeId>>> {
        self.enrolment.watch()
    }

    /// Becomes true when the manager has said that the league is over.
    pub fn league_end(&self) -> watch::Receiver<bool> {
        self.enrolment.watch_end()
    }

    /// Changes whenever the manager has said something.
    pub fn heard(&self) -> watch::Receiver<()> {
        self.enrolment.watch_heard()
    }

    fn spawn(&self, bout: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
        let task = lock(&self.tasks).spawn(bout);
        self.spawned.notify_one();
        task
    }

    /// Takes leave of matches that are over. A panic in one of them is a panic here.
    async fn supervise(&self) -> ! {
        loop {
            while let Some(left) = self.next_left().await {
                guard::outcome(left);
            }
            self.spawned.notified().await;
        }
    }

    /// The next match that has ended; `None` if none is running.
    async fn next_left(&self) -> Option<Result<(), JoinError>> {
        std::future::poll_fn(|cx| lock(&self.tasks).poll_join_next(cx)).await
    }

    async fn leave(&self) {
        self.leaving.send_replace(true);
        let all_left = async {
            while let Some(left) = self.next_left().await {
                guard::outcome(left);
            }
        };
        if tokio::time::timeout(REFEREE_LEAVE_TIMEOUT, all_left).await.is_err() {
            lock(&self.tasks).abort_all();
        }
    }

    /// The latest attempt at a match that this referee runs or has brought to its end.
    fn latest_attempt(&self, running: Option<&Running>, match_id: MatchId) -> Option<u32> {
        let finished = lock(&self.finished).get(&match_id).copied();
        running.map(|running| running.letters.order.attempt).max(finished)
    }

    /// Remembers that an attempt is over, so that it is not played again.
    fn finish(&self, match_id: MatchId, attempt: u32) {
        let mut finished = lock(&self.finished);
        finished.insert(match_id, attempt);
        if finished.len() > FINISHED_MATCHES_MAX {
            // Rounds follow each other: the earliest match is the one nobody asks for again.
            finished.pop_first();
        }
    }

    /// The policy that `rules` describe.
    fn policy(&self, rules: &BTreeMap<String, String>) -> Result<Arc<Policy>, BadRule> {
        let mut cached = lock(&self.rules);
        if let Some((known, policy)) = &*cached
            && known == rules
        {
            return Ok(policy.clone());
        }
        let rule_set: RuleSet = rules.get("rule_set").map_or(Ok(RuleSet::V21), |s| s.parse())?;
        let set = rules.iter().filter(|(key, _)| *key != "rule_set");
        let pairs = set.map(|(key, value)| (key.as_str(), value.as_str()));
        let policy = Arc::new(Policy::build(rule_set, pairs)?);
        *cached = Some((rules.clone(), policy.clone()));
        Ok(policy)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use league_agent::caller::Caller;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(10);

    #[tokio::test]
    async fn a_match_that_panics_takes_its_referee_along() {
        let exchange = Exchange::new(Caller::new("referee/0", PATIENCE));
        let referee = Referee::new("http://127.0.0.1:1/mcp", exchange);
        let owner = referee.clone();
        let supervising = tokio::spawn(async move { owner.supervise().await });
        referee.spawn(async {});
        referee.spawn(async { panic!("a bug of ours") });
        let ended = tokio::time::timeout(PATIENCE, supervising).await.expect("it ends");
        let panic = ended.expect_err("not in silence").into_panic();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"a bug of ours"));
    }
}
