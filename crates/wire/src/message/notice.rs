//! Short notes: SUSPENSION_NOTICE, PING, PONG and the plain acknowledgement.

use league_core::id::AgentId;
use league_core::limits::REASON_BYTES_MAX;
use league_core::time::Timestamp;

use super::{Body, MessageType};
use crate::decode::DecodeError;
use crate::fields::Fields;
use crate::value::Emit;
use crate::word::AgentState;
use crate::write::Object;

/// The agent plays no matches until it recovers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuspensionNotice {
    /// The agent.
    pub agent_id: AgentId,
    /// Its state from now on.
    pub state: AgentState,
    /// Why.
    pub reason: String,
    /// Until when it can recover.
    pub recovery_deadline: Option<Timestamp>,
    /// What it should do.
    pub action_required: String,
}

/// Are you there?
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ping {}

/// I am.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pong {
    /// Where the agent believes to be in its life.
    pub state: Option<AgentState>,
}

/// Heard; the answer to notifications.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ack {
    /// The type of the message that was heard.
    pub of: Option<MessageType>,
}

impl Body for SuspensionNotice {
    fn read(f: &Fields<'_>) -> Result<Self, DecodeError> {
        let text = |name: &str| Ok(f.clipped(name, REASON_BYTES_MAX)?.unwrap_or_default());
        Ok(Self {
            agent_id: f.required_either(&["agent_id", "player_id"])?,
            state: f.optional("state")?.unwrap_or(AgentState::Suspended),
            reason: text("reason")?,
            recovery_deadline: f.optional("recovery_deadline")?,
            action_required: text("action_required")?,
        })
    }

    fn write(&self, o: &mut Object<'_>) {
        o.field("agent_id", &self.agent_id);
        o.field("state", &self.state);
        o.field("reason", &self.reason);
        o.optional("recovery_deadline", self.recovery_deadline.as_ref());
        o.field("action_required", &self.action_required);
    }
}

impl Body for Ping {
    fn read(_: &Fields<'_>) -> Result<Self, DecodeError> {
        Ok(Self {})
    }

    fn write(&self, _: &mut Object<'_>) {}
}

impl Body for Pong {
    fn read(f: &Fields<'_>) -> Result<Self, DecodeError> {
        Ok(Self { state: f.optional("state")? })
    }

    fn write(&self, o: &mut Object<'_>) {
        o.optional("state", self.state.as_ref());
    }
}

impl Body for Ack {
    fn read(f: &Fields<'_>) -> Result<Self, DecodeError> {
        Ok(Self { of: f.optional("acknowledges")? })
    }

    fn write(&self, o: &mut Object<'_>) {
        o.field("acknowledged", &true);
        let dialect = o.dialect();
        o.optional("acknowledges", self.of.map(|kind| Name(kind.name(dialect))).as_ref());
    }
}

struct Name(&'static str);

impl Emit for Name {
    fn emit(&self, out: &mut Vec<u8>) {
        self.0.emit(out);
    }
}
