//! One agent's mail: what waits for it is sent together, one call in flight, the newest table wins.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use league_agent::ambient;
use league_agent::exchange::{Exchange, new_conversation};
use league_agent::guard::lock;
use league_core::id::{AgentId, LeagueId};
use league_core::manager::dispatch::Handout;
use league_core::policy::Policy;
use league_core::retry::RetryPlan;
use league_wire::frame::write_batch;
use league_wire::{AuthToken, Dialect, Envelope, Letter, Message, Sender};
use tokio::sync::Notify;

use super::news::Notice;
use crate::limits::{LETTERS_BYTES_MAX, LETTERS_MAX, NOTICES_MAX};

/// How to reach an agent, and what waits for it.
#[derive(Debug)]
pub(super) struct Courier {
    pub(super) agent: AgentId,
    pub(super) endpoint: Arc<str>,
    pub(super) dialect: Dialect,
    pub(super) batch: bool,
    pub(super) token: AuthToken,
    pub(super) league: LeagueId,
    mail: Mutex<Mail>,
    arrived: Notify,
}

#[derive(Debug, Default)]
pub(super) struct Mail {
    pub(super) notices: VecDeque<Arc<Notice>>,
    pub(super) handouts: Vec<Handout>,
}

impl Courier {
    pub(super) fn new(
        (agent, token): (AgentId, AuthToken),
        (endpoint, dialect, batch): (Arc<str>, Dialect, bool),
        league: LeagueId,
    ) -> Self {
        let (mail, arrived) = (Mutex::default(), Notify::new());
        Self { agent, endpoint, dialect, batch, token, league, mail, arrived }
    }

    /// Puts a notice into the mail. An older table that still waits is replaced.
    pub(super) fn post(&self, notice: &Arc<Notice>) {
        let mut mail = lock(&self.mail);
        if matches!(**notice, Notice::Standings { .. }) {
            mail.notices.retain(|waiting| !matches!(**waiting, Notice::Standings { .. }));
        }
        if mail.notices.len() >= NOTICES_MAX {
            mail.notices.pop_front();
        }
        mail.notices.push_back(notice.clone());
        self.arrived.notify_one();
    }

    /// Puts matches into the mail of a referee.
    pub(super) fn hand(&self, handout: Handout) {
        let mut mail = lock(&self.mail);
        mail.handouts.push(handout);
        self.arrived.notify_one();
    }

    /// Waits for mail and takes all of it.
    pub(super) async fn collect(&self) -> Mail {
        loop {
            let mail = std::mem::take(&mut *lock(&self.mail));
            if !(mail.notices.is_empty() && mail.handouts.is_empty()) {
                return mail;
            }
            self.arrived.notified().await;
        }
    }

    /// Sends messages in the agent's dialect, together if it takes batches, until they arrive or
    /// the policy gives up.
    pub(super) async fn deliver(
        &self,
        exchange: &Exchange,
        messages: Vec<Message>,
        policy: &Policy,
    ) {
        let letters: Vec<Letter> =
            messages.into_iter().map(|message| self.letter(message)).collect();
        let requests = letters.iter().map(|letter| exchange.encode(self.dialect, letter));
        if !self.batch {
            for request in requests {
                self.send(exchange, request, policy).await;
            }
            return;
        }
        let mut together: Vec<Vec<u8>> = vec![];
        for request in requests {
            let bytes: usize = together.iter().map(Vec::len).sum();
            if together.len() == LETTERS_MAX || bytes + request.len() > LETTERS_BYTES_MAX {
                self.send_together(exchange, std::mem::take(&mut together), policy).await;
            }
            together.push(request);
        }
        self.send_together(exchange, together, policy).await;
    }

    async fn send_together(
        &self,
        exchange: &Exchange,
        mut together: Vec<Vec<u8>>,
        policy: &Policy,
    ) {
        match together.len() {
            0 => {}
            1 => self.send(exchange, together.remove(0), policy).await,
            _ => self.send(exchange, write_batch(&together), policy).await,
        }
    }

    async fn send(&self, exchange: &Exchange, body: Vec<u8>, policy: &Policy) {
        let plan = RetryPlan::network(policy);
        let body = bytes::Bytes::from(body);
        let mut failures = 0;
        loop {
            let timeout = policy.default_timeout();
            if exchange.tell(&self.endpoint, body.clone(), timeout).await.is_ok() {
                return;
            }
            failures += 1;
            match plan.next(failures) {
                Some(wait) => tokio::time::sleep(wait).await,
                None => return,
            }
        }
    }

    fn letter(&self, message: Message) -> Letter {
        let envelope = Envelope {
            sender: Sender::LeagueManager(None),
            timestamp: ambient::now(),
            conversation: new_conversation("mgr"),
            token: Some(self.token.clone()),
            league_id: Some(self.league.clone()),
        };
        Letter { envelope, message }
    }
}
