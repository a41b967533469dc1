//! Who starts the league if nothing else does: asks until it has started.

use std::time::Duration;

use league_core::time::Timestamp;

use crate::message::{Body, Denial, Leg, Letter, Node, Packet};
use crate::stage::Stage;

const PAUSE: Duration = Duration::from_secs(5);

/// The administrator.
#[derive(Debug)]
pub(crate) struct Administrator {
    next: Option<Timestamp>,
}

impl Administrator {
    /// One that begins to ask at `next`, if at all.
    pub(crate) const fn new(next: Option<Timestamp>) -> Self {
        Self { next }
    }

    pub(crate) const fn next_wake(&self) -> Option<Timestamp> {
        self.next
    }

    pub(crate) fn wake(&mut self, stage: &mut Stage<'_>) {
        if self.next.is_some_and(|at| at <= stage.now) {
            stage.call(Node::Manager, Letter::bare(Body::StartLeague));
            self.next = Some(stage.now + PAUSE);
        }
    }

    pub(crate) fn receive(&mut self, packet: &Packet) {
        let refused = matches!(packet.letter.body, Body::Denied(Denial::Busy | Denial::Unproved));
        if packet.leg == Leg::Reply && !refused {
            self.next = None;
        }
    }
}
