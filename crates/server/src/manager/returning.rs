//! Who comes back with its own token, and whether somebody still answers where it was.

use league_agent::ambient;
use league_agent::caller::Caller;
use league_agent::exchange::{Exchange, new_conversation};
use league_core::id::AgentId;
use league_core::manager::Returning;
use league_wire::message::{ErrorReport, Ping};
use league_wire::{Dialect, Envelope, Letter, Message, Sender};

use super::applicant::endpoint_of;
use super::{Manager, Stub, relay};
use crate::limits::OLD_ADDRESS_WAIT;

const PROBING_AGENT: &str = concat!("league_manager/", env!("CARGO_PKG_VERSION"));

impl Manager {
    /// Who comes back, if the registration shows a token. A token that is nobody's is refused, so
    /// that a stale one does not make its owner somebody else.
    pub(super) async fn returning(
        &self,
        stub: &Stub,
        envelope: &Envelope,
        endpoint: &str,
    ) -> Result<Option<Returning>, Box<ErrorReport>> {
        if envelope.token.is_none() {
            return Ok(None);
        }
        let agent = self.authenticate(stub, envelope)?;
        let old = {
            let published = stub.published();
            endpoint_of(&published.league, agent).filter(|old| old.as_ref() != endpoint)
        };
        let old_is_silent = match old {
            // Whoever has the token may read the mailbox anyway.
            Some(old) if relay::is_pull(&old) && relay::is_pull(endpoint) => true,
            Some(old) if relay::is_pull(&old) => !is_polled(stub, agent),
            Some(old) => !self.answers(&old, envelope).await,
            None => true,
        };
        Ok(Some(Returning { agent, old_is_silent }))
    }

    /// Whether anybody answers at the old address of whoever sent `shown` with its own token.
    async fn answers(&self, address: &str, shown: &Envelope) -> bool {
        let envelope = Envelope {
            sender: Sender::LeagueManager(None),
            timestamp: ambient::now(),
            conversation: new_conversation("mgr"),
            token: shown.token.clone(),
            league_id: shown.league_id.clone(),
        };
        let letter = Letter { envelope, message: Message::Ping(Ping {}) };
        // On a new connection: an old one says nothing about who listens now.
        let caller = Caller::within(self.targets().clone(), PROBING_AGENT, OLD_ADDRESS_WAIT);
        let probe = Exchange::new(caller);
        let (_, body) = probe.encode(Dialect::Flat, &letter);
        probe.tell(address, body, OLD_ADDRESS_WAIT).await.is_ok()
    }
}

/// Whether somebody polls the mailbox of `agent`.
fn is_polled(stub: &Stub, agent: AgentId) -> bool {
    let mailbox = match agent {
        AgentId::Player(player) => stub.mailboxes().of(player),
        AgentId::Referee(_) => None,
    };
    mailbox.is_some_and(|mailbox| mailbox.is_present())
}
