//! Players without an open port: each has a mailbox here. Referees call it as if it were the
//! player, the player fetches what came and posts its answers. Mailboxes are not journaled.

mod calls;
mod chat;
mod door;
mod interrupted;
mod mailbox;
mod plain;
#[cfg(test)]
mod tests;
mod turns;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use league_agent::ambient;
use league_agent::desk::refusal;
use league_agent::guard::lock;
use league_core::id::{AgentId, PlayerId};
use league_core::manager::League;
use league_core::proof::{Token, hex};
use league_wire::Code;
use league_wire::message::{ErrorReport, Meta};
use sha2::{Digest, Sha256};

use super::leagues::Newcomer;
use super::{Manager, Stub};

pub use chat::{Ask, Joined, Moment, Moved, NoMove, Wish};
pub use door::{NotOpened, Puller};
pub(super) use door::{fetch, post};
pub(super) use interrupted::Interrupted;
pub use mailbox::{Mailbox, Polled, Unanswered};
pub use turns::{Call, From, Full, Given, Reply, Settled, Want};

/// Turns that there may have been in a millisecond since 1970.
const TURNS_PER_MS: u64 = 1_000;
const TURNS_PER_DAY: u64 = 24 * 60 * 60 * 1_000 * TURNS_PER_MS;

/// The mailboxes of one league.
#[derive(Debug)]
pub struct Mailboxes {
    shelf: Mutex<Shelf>,
    /// After which turn this manager began.
    began: u64,
    /// The latest turn.
    turns: AtomicU64,
    /// Where the manager is called.
    address: OnceLock<String>,
    /// Whether everybody who pulls has its mailbox again since the books were opened.
    are_set_up: AtomicBool,
}

#[derive(Debug, Default)]
struct Shelf {
    boxes: BTreeMap<PlayerId, (TokenKey, Arc<Mailbox>)>,
    owners: BTreeMap<TokenKey, PlayerId>,
}

/// A token as it is looked up.
type TokenKey = [u8; 32];

impl Default for Mailboxes {
    /// No mailboxes. Turns are numbered from the time of day, so that those of a manager that
    /// starts again are greater than those it gave before.
    fn default() -> Self {
        let ms = u64::try_from(ambient::wall().as_millis()).unwrap_or(0);
        let began = ms.saturating_mul(TURNS_PER_MS);
        Self {
            shelf: Mutex::default(),
            began,
            turns: AtomicU64::new(began),
            address: OnceLock::new(),
            are_set_up: AtomicBool::new(false),
        }
    }
}

impl Mailboxes {
    /// Says where the manager is called by referees, such as `http://10.0.0.5:8000`.
    pub(super) fn reach_at(&self, address: &str) {
        // There is one manager, and it does not move while it runs.
        let _again = self.address.set(address.trim_end_matches('/').into());
    }

    /// Whether referees can be told where to call.
    pub(super) fn are_reachable(&self) -> bool {
        self.address.get().is_some()
    }

    /// Everybody who pulls has its mailbox: whoever has none now has none.
    pub(super) fn set_up(&self) {
        self.are_set_up.store(true, Ordering::Release);
    }

    /// Whether whoever has no mailbox here has none at all.
    fn are_set_up(&self) -> bool {
        self.are_set_up.load(Ordering::Acquire)
    }

    /// Where referees call `player`.
    pub fn endpoint(&self, player: PlayerId) -> String {
        let address = self.address.get().map_or("", String::as_str);
        format!("{address}/relay/{player}/mcp")
    }

    /// The mailbox of `player`, who opens it with `token` and no other. What waits in it stays.
    pub(super) fn open(&self, player: PlayerId, token: &Token) -> Arc<Mailbox> {
        let key = key(token.expose());
        let mut shelf = lock(&self.shelf);
        let former = shelf.boxes.remove(&player);
        if let Some((former, _)) = &former {
            shelf.owners.remove(former);
        }
        let new = || Arc::new(Mailbox::after(self.began));
        let mailbox = former.map_or_else(new, |(_, mailbox)| mailbox);
        shelf.owners.insert(key, player);
        shelf.boxes.insert(player, (key, mailbox.clone()));
        mailbox
    }

    /// Opens the mailbox of `agent` if it is to have one: who is told that it is in may poll at
    /// once.
    pub(super) fn ready(&self, league: &League, agent: AgentId, token: &Token) {
        if let AgentId::Player(player) = agent
            && league.player(player).is_some_and(|it| is_pull(&it.profile.endpoint))
        {
            self.open(player, token);
        }
    }

    /// The mailbox of `player`, if it is a pull player.
    pub fn of(&self, player: PlayerId) -> Option<Arc<Mailbox>> {
        lock(&self.shelf).boxes.get(&player).map(|(_, mailbox)| mailbox.clone())
    }

    /// Whose token `shown` is, and its mailbox.
    pub fn of_token(&self, shown: &str) -> Option<(PlayerId, Arc<Mailbox>)> {
        let shelf = lock(&self.shelf);
        let player = *shelf.owners.get(&key(shown))?;
        let (_, mailbox) = shelf.boxes.get(&player)?;
        Some((player, mailbox.clone()))
    }

    /// Puts `call` into `mailbox` and waits at most `wait` for what becomes of it.
    ///
    /// # Errors
    /// If there is no room, no answer, or no manager any more.
    pub async fn call(
        &self,
        mailbox: &Mailbox,
        call: Call,
        wait: Duration,
    ) -> Result<Reply, Unanswered> {
        // Under the mailbox's lock, so that a later number never waits before an earlier one.
        let number = || self.turns.fetch_add(1, Ordering::Relaxed) + 1;
        mailbox.call(number, call, wait).await
    }

    /// `player` has no mailbox any more.
    pub(super) fn close(&self, player: PlayerId) {
        let mut shelf = lock(&self.shelf);
        if let Some((key, mailbox)) = shelf.boxes.remove(&player) {
            shelf.owners.remove(&key);
            mailbox.close();
        }
    }

    /// Nobody has a mailbox any more.
    pub(super) fn close_all(&self) {
        let shelf = std::mem::take(&mut *lock(&self.shelf));
        shelf.boxes.values().for_each(|(_, mailbox)| mailbox.close());
    }
}

impl Manager {
    /// Whether somebody who says so may pull.
    pub(super) fn check_pull(
        &self,
        stub: &Stub,
        meta: &Meta,
        who: Newcomer,
    ) -> Result<(), Box<ErrorReport>> {
        let text = match who {
            _ if !meta.pull => return Ok(()),
            Newcomer::Referee => "pull: only a player can do without an address",
            Newcomer::Player if stub.mailboxes().are_reachable() => return Ok(()),
            Newcomer::Player => "pull: this manager takes calls for nobody; name an address",
        };
        Err(refusal(Code::E003, text))
    }
}

/// How the address of a pull player begins where a league keeps addresses.
const PULL: &str = "pull://";

/// What a league keeps as the address of a pull player: who it is, so that the same person with the
/// same program on the same host is the same player.
pub(super) fn address(host: &str, name: &str, version: &str, email: &str) -> String {
    let mut digest = Sha256::new();
    for text in [name, version, email] {
        digest.update((text.len() as u64).to_be_bytes());
        digest.update(text);
    }
    let who = hex(&digest.finalize()[..8]);
    format!("{PULL}{host}/{who}")
}

/// Whether whoever has this address fetches its turns.
pub(super) fn is_pull(endpoint: &str) -> bool {
    endpoint.starts_with(PULL)
}

fn key(token: &str) -> TokenKey {
    Sha256::digest(token).into()
}
