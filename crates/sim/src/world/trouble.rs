//! What goes wrong, and how it ends.

use league_core::id::{AgentId, MatchId};
use league_core::manager::Order;
use league_core::seat::Seat;

use super::{Coming, Health, World, nodes};
use crate::forger;
use crate::message::{Body, Node, Packet};
use crate::stage::Stage;
use crate::weather::FaultKind;

impl World {
    /// Trouble likes to come at the worst moment.
    pub(super) fn provoke(&mut self, packet: &Packet) {
        if self.now >= self.calm_at {
            return;
        }
        let provoked = self.plan.weather.provoked;
        let fate = &mut self.trouble;
        match (&packet.letter.body, packet.from) {
            (Body::Invite { match_id, .. } | Body::Ask { match_id, .. }, Node::Referee(_)) => {
                if fate.chance(provoked.forging) {
                    let at = self.now + fate.between(1, 30);
                    let about = Some(*match_id);
                    self.schedule(at, Coming::Fault(FaultKind::Forge { about }));
                } else if fate.chance(provoked.freezing) {
                    let (at, still) = (self.now + fate.between(1, 100), fate.between(200, 40_000));
                    let kind = FaultKind::Freeze { node: packet.from, still };
                    self.schedule(at, Coming::Fault(kind));
                }
            }
            (Body::Report(_), _) if fate.chance(provoked.crashing) => {
                let (at, away) = (self.now + fate.between(1, 200), fate.between(1, 10_000));
                let kind = FaultKind::Crash { node: Node::Manager, away };
                self.schedule(at, Coming::Fault(kind));
            }
            _ => {}
        }
    }

    pub(super) fn fault(&mut self, kind: FaultKind) {
        self.trace.line(self.now, format_args!("fault {kind:?}"));
        match kind {
            FaultKind::Crash { node, away } => self.crash(node, away),
            FaultKind::Freeze { node, still } => {
                if matches!(self.health.get(&node), Some(Health::Up)) {
                    self.health.insert(node, Health::Frozen(vec![]));
                    self.checkers.faulted(node, self.now + still);
                    self.schedule(self.now + still, Coming::Thaw(node));
                }
            }
            FaultKind::Part { between: (one, other), apart, refuses } => {
                self.net.part(one, Some(other), self.now + apart, refuses);
            }
            FaultKind::Isolate { node, apart, refuses } => {
                self.net.part(node, None, self.now + apart, refuses);
            }
            FaultKind::SetClock { node, by } => {
                self.clocks.shift(node, by);
                // Whoever thinks by a clock that was set back thinks longer.
                self.checkers.faulted(node, self.now + by.unsigned_abs());
                self.wakes.remove(&node);
                self.set_alarm(node);
            }
            FaultKind::Forge { about } => self.forge(about),
            FaultKind::Order => self.order(),
        }
    }

    fn crash(&mut self, node: Node, away: u64) {
        if matches!(self.health.get(&node), Some(Health::Down)) {
            return;
        }
        self.checkers.tally.crashes += 1;
        self.checkers.faulted(node, self.now + away);
        let waiting = self.health.insert(node, Health::Down);
        match node {
            Node::Manager => {
                let fate = self.fates.get_mut(&node).expect("every node has its dice");
                self.manager.crash(fate);
            }
            Node::Referee(index) => self.referees[index].crash(),
            Node::Player(index) => self.players[index].crash(),
            Node::Administrator | Node::Forger => {}
        }
        // Whoever waits for it learns that the connection broke.
        if let Some(Health::Frozen(waiting)) = waiting {
            waiting.into_iter().for_each(|coming| self.trouble_or(node, coming));
        }
        self.schedule(self.now + away, Coming::Restart(node));
    }

    pub(super) fn restart(&mut self, node: Node) {
        if matches!(self.health.get(&node), Some(Health::Down)) {
            self.trace.line(self.now, format_args!("restart {node}"));
            self.health.insert(node, Health::Up);
            self.act(node, Coming::Restart(node));
        }
    }

    /// A node goes on: first it hears what waited, then it looks at its clock.
    pub(super) fn thaw(&mut self, node: Node) {
        if !matches!(self.health.get(&node), Some(Health::Frozen(_))) {
            return;
        }
        self.trace.line(self.now, format_args!("thaw {node}"));
        let Some(Health::Frozen(waiting)) = self.health.insert(node, Health::Up) else { return };
        for coming in waiting {
            self.act(node, coming);
        }
        self.act(node, Coming::Thaw(node));
    }

    /// The weather turns fair: everybody is up, and everything arrives.
    pub(super) fn calm(&mut self) {
        self.trace.line(self.now, format_args!("calm"));
        self.net.calm();
        self.manager.calm();
        for node in nodes(&self.plan) {
            self.thaw(node);
            self.restart(node);
        }
    }

    /// The administrator orders something about the round that is being played.
    fn order(&mut self) {
        let ledger = self.checkers.ledger();
        let Some(round) = ledger.open_round() else { return };
        let open = ledger.standings().filter(|(match_id, _)| match_id.round == round);
        let open: Vec<_> = open.map(|(match_id, standing)| (*match_id, *standing)).collect();
        let fate = self.fates.get_mut(&Node::Administrator).expect("every node has its dice");
        let (match_id, standing) = open[fate.index(open.len())];
        let player = AgentId::Player(standing.pairing.player(fate.pick(&Seat::BOTH)));
        let agent = if fate.chance(700) { player } else { AgentId::Referee(standing.referee) };
        let order = match fate.between(0, 8) {
            0 => Order::Pause,
            1 => Order::Ban(player),
            2 => Order::Reinstate(player),
            3 => Order::Cancel(match_id),
            4 | 5 => Order::Rotate(agent),
            6 => Order::Release(agent),
            _ => Order::Rematch(match_id),
        };
        let node = ledger.node(agent);
        let mut stage = Stage {
            me: Node::Administrator,
            now: self.clocks.shown(Node::Administrator, self.now),
            fate,
            calls: &mut self.calls,
            sent: &mut self.sent,
            seen: &mut self.seen,
            sabotage: self.sabotage,
        };
        self.administrator.give(&mut stage, order, node);
        self.settle(Node::Administrator);
    }

    /// An outsider tries its luck with some match that is being played.
    fn forge(&mut self, about: Option<MatchId>) {
        let referees = self.referees.iter().enumerate();
        let targets: Vec<_> =
            referees.flat_map(|(index, referee)| referee.targets(Node::Referee(index))).collect();
        let fate = self.fates.get_mut(&Node::Forger).expect("every node has its dice");
        if targets.is_empty() {
            return;
        }
        let named = targets.iter().find(|target| Some(target.match_id) == about);
        let target = named.unwrap_or_else(|| &targets[fate.index(targets.len())]);
        let captured = self.checkers.secrets().captured(target.match_id, target.attempt);
        self.checkers.tally.forgeries += 1;
        let mut stage = Stage {
            me: Node::Forger,
            now: self.clocks.shown(Node::Forger, self.now),
            fate,
            calls: &mut self.calls,
            sent: &mut self.sent,
            seen: &mut self.seen,
            sabotage: self.sabotage,
        };
        forger::forge(&mut stage, target, &captured);
        self.settle(Node::Forger);
    }
}
