//! Who runs the league: starts it if nothing else does, and orders. Asks until it is answered.

use std::time::Duration;

use league_core::manager::Order;
use league_core::time::Timestamp;

use crate::message::{Aside, Body, Denial, Leg, Letter, Node, Packet};
use crate::stage::Stage;

const PAUSE: Duration = Duration::from_secs(5);
/// No order is on its way for so long.
const ALL_ARRIVED: Duration = Duration::from_secs(90);

/// The administrator.
#[derive(Debug, Default)]
pub(crate) struct Administrator {
    wishes: Vec<Wish>,
}

/// Something it wants, until somebody has answered.
#[derive(Debug)]
struct Wish {
    at: Timestamp,
    to: Node,
    body: Body,
    call: Option<u64>,
}

impl Administrator {
    /// One that begins to ask at `start`, if at all.
    pub(crate) fn new(start: Option<Timestamp>) -> Self {
        let mut administrator = Self::default();
        if let Some(at) = start {
            administrator.want(at, Body::StartLeague);
        }
        administrator
    }

    pub(crate) fn next_wake(&self) -> Option<Timestamp> {
        self.wishes.iter().map(|wish| wish.at).min()
    }

    pub(crate) fn wake(&mut self, stage: &mut Stage<'_>) {
        let now = stage.now;
        for wish in self.wishes.iter_mut().filter(|wish| wish.at <= now) {
            wish.call = Some(stage.call(wish.to, Letter::bare(wish.body.clone())));
            wish.at = stage.now + PAUSE;
        }
    }

    /// Gives an order that concerns an agent at `node`, if any. What must not stay is taken back,
    /// once more when nothing can come after it.
    pub(crate) fn give(&mut self, stage: &mut Stage<'_>, order: Order, node: Option<Node>) {
        self.want(stage.now, Body::Administer(order));
        let soon = stage.now + Duration::from_millis(stage.fate.between(1_000, 60_000));
        match order {
            Order::Pause => {
                self.want(soon, Body::Administer(Order::Resume));
                self.want(soon + ALL_ARRIVED, Body::Administer(Order::Resume));
            }
            Order::Ban(agent) if stage.fate.chance(500) => {
                self.want(soon, Body::Administer(Order::Reinstate(agent)));
            }
            Order::Release(_) => {
                let place_free = Body::Aside(Aside::PlaceFree);
                self.wishes.extend(node.map(|to| Wish {
                    at: soon,
                    to,
                    body: place_free,
                    call: None,
                }));
            }
            Order::Ban(_)
            | Order::Reinstate(_)
            | Order::Approve(_)
            | Order::Resume
            | Order::CloseRegistration
            | Order::Cancel(_)
            | Order::Rematch(_)
            | Order::Archive
            | Order::Enrol
            | Order::Rotate(_) => {}
        }
    }

    pub(crate) fn receive(&mut self, stage: &mut Stage<'_>, packet: &Packet) {
        let body = &packet.letter.body;
        if packet.leg == Leg::Reply {
            if let Body::Aside(Aside::NewToken { node, .. }) = body {
                self.hand_over(stage, *node, body.clone());
            }
            let refused = matches!(body, Body::Denied(Denial::Busy | Denial::Unproved));
            let is_done = |wish: &Wish| wish.call == Some(packet.call) && !refused;
            self.wishes.retain(|wish| !is_done(wish));
            return;
        }
        stage.reply(packet, Letter::bare(Body::Noted));
        if let Body::Aside(Aside::TokenLost { agent }) = body {
            self.give(stage, Order::Rotate(*agent), None);
        }
        if let Body::Stuck { match_id } = body {
            match stage.fate.between(0, 3) {
                0 => self.give(stage, Order::Cancel(*match_id), None),
                1 => self.give(stage, Order::Rematch(*match_id), None),
                _ => {}
            }
        }
    }

    /// Gives a new token to whom it belongs; sometimes that takes longer than anybody waits. Of two
    /// that come one after the other the later one works.
    fn hand_over(&mut self, stage: &mut Stage<'_>, to: Node, body: Body) {
        let is_older = |wish: &Wish| wish.to == to && matches!(wish.body, Body::Aside(_));
        self.wishes.retain(|wish| !is_older(wish));
        let late = if stage.fate.chance(200) { 500_000 } else { 20_000 };
        let at = stage.now + Duration::from_millis(stage.fate.between(1, late));
        self.wishes.push(Wish { at, to, body, call: None });
    }

    fn want(&mut self, at: Timestamp, body: Body) {
        self.wishes.push(Wish { at, to: Node::Manager, body, call: None });
    }
}
