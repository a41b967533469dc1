//! The clocks of the nodes: none is right, and some are set while the league runs.

use std::collections::BTreeMap;

use league_core::time::Timestamp;

use crate::message::Node;

/// The world begins at this moment, so that no clock shows a time before 1970.
const EPOCH_MS: i64 = 1_750_000_000_000;

/// World time, in milliseconds since the world began.
pub(crate) type Instant = u64;

/// How far each node's clock is off.
#[derive(Debug, Default)]
pub(crate) struct Clocks {
    skew_ms: BTreeMap<Node, i64>,
}

impl Clocks {
    /// Sets a node's clock forward or back.
    pub(crate) fn shift(&mut self, node: Node, by_ms: i64) {
        *self.skew_ms.entry(node).or_default() += by_ms;
    }

    /// What a node's clock shows at `now`.
    pub(crate) fn shown(&self, node: Node, now: Instant) -> Timestamp {
        let now = i64::try_from(now).expect("worlds end long before");
        Timestamp::from_millis(EPOCH_MS + now + self.skew(node))
    }

    /// When a node's clock will show `at`.
    pub(crate) fn when(&self, node: Node, at: Timestamp) -> Instant {
        let since = at.as_millis().saturating_sub(EPOCH_MS).saturating_sub(self.skew(node));
        u64::try_from(since).unwrap_or(0)
    }

    fn skew(&self, node: Node) -> i64 {
        self.skew_ms.get(&node).copied().unwrap_or(0)
    }
}
