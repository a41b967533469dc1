//! Health checks of suspended agents: calls of their own, beside the mail, each made once.

use std::collections::BTreeMap;

use league_core::id::AgentId;
use league_core::manager::League;
use league_core::proof::Keys;
use league_core::time::Timestamp;

use super::inbound::token_of;
use super::mail::node_of;
use crate::message::{Body, Letter};
use crate::stage::Stage;

/// The health checks that are out, by the number of their call.
#[derive(Debug, Default)]
pub(super) struct Probes {
    out: BTreeMap<u64, (AgentId, Timestamp)>,
}

impl Probes {
    /// Asks these agents for a sign of life.
    pub(super) fn send(
        &mut self,
        stage: &mut Stage<'_>,
        (league, keys): (&League, &Keys),
        agents: &[AgentId],
    ) {
        for agent in agents {
            let to = node_of(league, *agent).zip(token_of(keys, league, *agent));
            let Some((node, token)) = to else { continue };
            let token = Some(token.expose().into());
            let call = stage.call(node, Letter { token, ..Letter::bare(Body::Probe) });
            let until = stage.now + league.policy().default_timeout();
            self.out.insert(call, (*agent, until));
        }
    }

    /// Whose health check this call was, if it was one. It is over now.
    pub(super) fn answered(&mut self, call: u64) -> Option<AgentId> {
        self.out.remove(&call).map(|(agent, _)| agent)
    }

    /// What comes later than this is not heard.
    pub(super) fn wake(&mut self, now: Timestamp) {
        self.out.retain(|_, (_, until)| *until > now);
    }

    pub(super) fn next_wake(&self) -> Option<Timestamp> {
        self.out.values().map(|(_, until)| *until).min()
    }
}
