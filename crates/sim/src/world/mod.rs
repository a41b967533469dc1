//! The world: moves time, delivers what arrives, lets trouble happen, and stops when the league is
//! over or a checker objects.

mod runs;
mod trouble;
mod turn;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use crate::administrator::Administrator;
use crate::applicant::Applicant;
use crate::checkers::Checkers;
use crate::clock::{Clocks, Instant};
use crate::fate::Fate;
use crate::guests::Guest;
use crate::manager::Manager;
use crate::message::{Leg, Node, Packet};
use crate::net::Net;
use crate::outcome::Rule;
use crate::plan::Plan;
use crate::player::Player;
use crate::referee::Referee;
use crate::sabotage::Sabotage;
use crate::stage::Seen;
use crate::trace::Trace;
use crate::weather::{Fault, FaultKind};

pub use runs::{crowd, run, run_with};

/// A world that takes more steps than this goes in circles.
const STEPS_MAX: u64 = 3_000_000;
/// How long it takes to learn that nobody is at home.
const NOBODY_HOME_MS: u64 = 2;

/// Something that is going to happen.
#[derive(Debug)]
enum Coming {
    Arrival(Box<Packet>),
    Failure { to: Node, call: u64, delivered: bool },
    Wake(Node),
    Fault(FaultKind),
    Restart(Node),
    Thaw(Node),
    Calm,
}

/// Whether a node can act.
#[derive(Debug, Default)]
enum Health {
    #[default]
    Up,
    Down,
    /// What arrives waits.
    Frozen(Vec<Coming>),
}

struct World {
    plan: Plan,
    now: Instant,
    /// What is going to happen, by time and then in the order in which that was known.
    queue: BinaryHeap<Reverse<(Instant, u64)>>,
    coming: BTreeMap<u64, Coming>,
    scheduled: u64,
    wakes: BTreeMap<Node, Instant>,
    clocks: Clocks,
    net: Net,
    health: BTreeMap<Node, Health>,
    fates: BTreeMap<Node, Fate>,
    trouble: Fate,
    manager: Manager,
    referees: Vec<Referee>,
    players: Vec<Player>,
    administrator: Administrator,
    calls: u64,
    sent: Vec<Packet>,
    seen: Vec<Seen>,
    checkers: Checkers,
    trace: Trace,
    sabotage: Option<Sabotage>,
    calm_at: Instant,
    deadline: Instant,
}

impl World {
    fn new(plan: Plan, sabotage: Option<Sabotage>, traced: bool) -> Self {
        let mut clocks = Clocks::default();
        let mut skews = Fate::new(plan.seed, "skew");
        let nodes = nodes(&plan);
        for node in &nodes {
            let max = plan.skew_ms_max.unsigned_abs();
            let skew = i64::try_from(skews.between(0, 2 * max)).expect("hours") - plan.skew_ms_max;
            clocks.shift(*node, skew);
        }
        let keys = plan.keys();
        let join_key = keys.join_key(&plan.league);
        let referee = |official: &crate::plan::Official| {
            let join_key = official.operated.then(|| join_key.expose().into());
            let applicant = Applicant::referee(official.capacity, join_key);
            Referee::new(plan.league.clone(), official.manner, applicant)
        };
        let choice_timeout = plan.policy.choice_timeout();
        let player =
            |guest: &Guest| Player::new(*guest, (plan.league.clone(), plan.game), choice_timeout);
        let start = plan.start.command_at().map(|at| clocks.shown(Node::Administrator, at));
        let fates = nodes.iter().map(|node| (*node, Fate::new(plan.seed, &node.to_string())));
        let calm_at = plan.weather.calm_at;
        let mut world = Self {
            now: 0,
            queue: BinaryHeap::new(),
            coming: BTreeMap::new(),
            scheduled: 0,
            wakes: BTreeMap::new(),
            net: Net::new(plan.seed, plan.weather.network),
            health: nodes.iter().map(|node| (*node, Health::Up)).collect(),
            fates: fates.collect(),
            trouble: Fate::new(plan.seed, "trouble"),
            manager: Manager::new(keys, plan.charter(&clocks), plan.weather.disk),
            referees: plan.referees.iter().map(referee).collect(),
            players: plan.players.iter().map(player).collect(),
            administrator: Administrator::new(start),
            calls: 0,
            sent: vec![],
            seen: vec![],
            checkers: Checkers::new(&plan),
            trace: Trace::new(traced),
            sabotage,
            calm_at,
            deadline: calm_at + plan.patience_ms(),
            clocks,
            plan,
        };
        world.set_up(&nodes);
        world
    }

    fn set_up(&mut self, nodes: &[Node]) {
        for index in 0..self.plan.weather.faults.len() {
            let Fault { at, kind } = self.plan.weather.faults[index];
            self.schedule(at, Coming::Fault(kind));
        }
        self.schedule(self.calm_at, Coming::Calm);
        for node in nodes {
            self.schedule(0, Coming::Wake(*node));
            self.wakes.insert(*node, 0);
        }
    }

    /// One step; false when the world has ended.
    fn step(&mut self) -> bool {
        if self.checkers.violation.is_some() {
            return false;
        }
        // The end must survive what the weather has left in store.
        if self.checkers.is_completed() && self.now >= self.calm_at {
            self.checkers.end();
            return false;
        }
        self.checkers.tally.steps += 1;
        let late = self.now > self.deadline || self.checkers.tally.steps > STEPS_MAX;
        let Some(Reverse((at, number))) = self.queue.pop().filter(|_| !late) else {
            let text = format!("the league has not ended {} ms after the weather has", {
                self.now.saturating_sub(self.calm_at)
            });
            self.checkers.object(Err((Rule::Progress, text)));
            return false;
        };
        self.now = at;
        self.checkers.tick(at);
        if let Some(coming) = self.coming.remove(&number) {
            self.happen(coming);
        }
        true
    }

    fn happen(&mut self, coming: Coming) {
        match coming {
            Coming::Wake(node) => {
                if self.wakes.get(&node) == Some(&self.now) {
                    self.wakes.remove(&node);
                    self.trouble_or(node, Coming::Wake(node));
                }
            }
            Coming::Arrival(packet) => {
                let node = packet.to;
                self.trouble_or(node, Coming::Arrival(packet));
            }
            Coming::Failure { to, call, delivered } => {
                self.trouble_or(to, Coming::Failure { to, call, delivered });
            }
            Coming::Fault(kind) => self.fault(kind),
            Coming::Restart(node) => self.restart(node),
            Coming::Thaw(node) => self.thaw(node),
            Coming::Calm => self.calm(),
        }
    }

    /// Lets a node act if it can.
    fn trouble_or(&mut self, node: Node, coming: Coming) {
        match self.health.get_mut(&node) {
            Some(Health::Frozen(waiting)) => {
                if !matches!(coming, Coming::Wake(_)) {
                    waiting.push(coming);
                }
            }
            Some(Health::Down) => {
                if let Coming::Arrival(packet) = coming
                    && packet.leg == Leg::Request
                {
                    let (to, call, delivered) = (packet.from, packet.call, false);
                    let failure = Coming::Failure { to, call, delivered };
                    self.schedule(self.now + NOBODY_HOME_MS, failure);
                }
            }
            Some(Health::Up) | None => self.act(node, coming),
        }
    }

    /// Shows the checkers what a node did, and sends what it said.
    fn settle(&mut self, node: Node) {
        for seen in std::mem::take(&mut self.seen) {
            self.checkers.seen(&seen);
        }
        if let Node::Player(index) = node
            && let Some(member) = self.players[index].member()
        {
            self.checkers.informed(node, &member.token);
        }
        for packet in std::mem::take(&mut self.sent) {
            self.provoke(&packet);
            self.send(packet);
        }
        self.set_alarm(node);
    }

    fn send(&mut self, packet: Packet) {
        self.checkers.sent(&packet);
        let route = self.net.route(&packet, self.now);
        if route.harmed {
            self.checkers.harmed(&packet);
        }
        if let Some(after) = route.fails {
            let (to, delivered) = match packet.leg {
                Leg::Request => (packet.from, false),
                Leg::Reply => (packet.to, true),
            };
            let failure = Coming::Failure { to, call: packet.call, delivered };
            self.schedule(self.now + after, failure);
        }
        for after in route.arrives {
            self.schedule(self.now + after, Coming::Arrival(Box::new(packet.clone())));
        }
    }

    fn set_alarm(&mut self, node: Node) {
        let next = match node {
            Node::Manager => self.manager.next_wake(),
            Node::Referee(index) => self.referees[index].next_wake(),
            Node::Player(index) => self.players[index].next_wake(),
            Node::Administrator => self.administrator.next_wake(),
            Node::Forger => None,
        };
        let Some(next) = next else { return };
        let at = self.clocks.when(node, next).max(self.now);
        if self.wakes.get(&node).is_none_or(|set| at < *set) {
            self.wakes.insert(node, at);
            self.schedule(at, Coming::Wake(node));
        }
    }

    fn schedule(&mut self, at: Instant, coming: Coming) {
        self.scheduled += 1;
        self.queue.push(Reverse((at, self.scheduled)));
        self.coming.insert(self.scheduled, coming);
    }
}

fn nodes(plan: &Plan) -> Vec<Node> {
    let referees = (0..plan.referees.len()).map(Node::Referee);
    let players = (0..plan.players.len()).map(Node::Player);
    let others = [Node::Manager, Node::Administrator, Node::Forger];
    others.into_iter().chain(referees).chain(players).collect()
}
