//! A node's turn.

use super::{Coming, World};
use crate::message::Node;
use crate::stage::Stage;

impl World {
    /// A node's turn, and what comes of it.
    pub(super) fn act(&mut self, node: Node, coming: Coming) {
        match &coming {
            Coming::Arrival(packet) => self.trace.line(self.now, format_args!("{packet}")),
            Coming::Failure { to, call, delivered } => {
                self.trace.line(self.now, format_args!("{to} #{call} failed, {delivered}"));
            }
            Coming::Wake(_)
            | Coming::Fault(_)
            | Coming::Restart(_)
            | Coming::Thaw(_)
            | Coming::Calm => {}
        }
        let fate = self.fates.get_mut(&node).expect("every node has its dice");
        let mut stage = Stage {
            me: node,
            now: self.clocks.shown(node, self.now),
            fate,
            calls: &mut self.calls,
            sent: &mut self.sent,
            seen: &mut self.seen,
            sabotage: self.sabotage,
        };
        match node {
            Node::Manager => match coming {
                Coming::Arrival(packet) => self.manager.receive(&mut stage, &packet),
                Coming::Failure { call, .. } => self.manager.fail(&mut stage, call),
                Coming::Restart(_) => self.manager.restart(&mut stage),
                Coming::Wake(_) | Coming::Fault(_) | Coming::Thaw(_) | Coming::Calm => {
                    self.manager.wake(&mut stage);
                }
            },
            Node::Referee(index) => match coming {
                Coming::Arrival(packet) => self.referees[index].receive(&mut stage, &packet),
                Coming::Failure { call, delivered, .. } => {
                    self.referees[index].fail(&mut stage, call, delivered);
                }
                Coming::Wake(_)
                | Coming::Fault(_)
                | Coming::Restart(_)
                | Coming::Thaw(_)
                | Coming::Calm => self.referees[index].wake(&mut stage),
            },
            Node::Player(index) => match coming {
                Coming::Arrival(packet) => self.players[index].receive(&mut stage, &packet),
                Coming::Failure { call, .. } => self.players[index].fail(&mut stage, call),
                Coming::Wake(_)
                | Coming::Fault(_)
                | Coming::Restart(_)
                | Coming::Thaw(_)
                | Coming::Calm => self.players[index].wake(&mut stage),
            },
            Node::Administrator => match coming {
                Coming::Arrival(packet) => self.administrator.receive(&mut stage, &packet),
                Coming::Failure { .. } => {}
                Coming::Wake(_)
                | Coming::Fault(_)
                | Coming::Restart(_)
                | Coming::Thaw(_)
                | Coming::Calm => self.administrator.wake(&mut stage),
            },
            Node::Forger => {}
        }
        self.settle(node);
    }
}
