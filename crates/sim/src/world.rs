//! The world: moves time, delivers what arrives, lets trouble happen, and stops when the league is
//! over or a checker objects.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::panic::{AssertUnwindSafe, catch_unwind};

use league_core::id::{AgentId, MatchId};
use league_core::seat::Seat;

use crate::administrator::Administrator;
use crate::applicant::Applicant;
use crate::checkers::Checkers;
use crate::clock::{Clocks, Instant};
use crate::fate::Fate;
use crate::forger;
use crate::guests::Guest;
use crate::manager::Manager;
use crate::message::{Body, Leg, Node, Packet};
use crate::net::Net;
use crate::outcome::{Crowd, Outcome, Rule, Tally, Violation};
use crate::plan::Plan;
use crate::player::Player;
use crate::referee::Referee;
use crate::sabotage::Sabotage;
use crate::stage::{Seen, Stage};
use crate::trace::Trace;
use crate::weather::{Fault, FaultKind};

/// A world that takes more steps than this goes in circles.
const STEPS_MAX: u64 = 3_000_000;
/// How long it takes to learn that nobody is at home.
const NOBODY_HOME_MS: u64 = 2;

/// Plays the world of `seed`.
pub fn run(seed: u64) -> Outcome {
    guarded(seed, || World::new(Plan::from_seed(seed), None, false).play())
}

/// Plays the world of `seed` and keeps what happened.
pub fn run_traced(seed: u64) -> Outcome {
    guarded(seed, || World::new(Plan::from_seed(seed), None, true).play())
}

/// Plays the world of `seed` with a bug built in.
pub fn run_sabotaged(seed: u64, sabotage: Sabotage) -> Outcome {
    guarded(seed, || World::new(Plan::from_seed(seed), Some(sabotage), false).play())
}

/// Plays a league of fifty with the documents' own times: five are silent, three slow, and two
/// answer what cannot be read.
pub fn crowd(seed: u64) -> Crowd {
    let mut world = World::new(Plan::crowd(seed), None, false);
    while world.step() {}
    world.crowd()
}

/// A panic of a machine is a violation like any other.
fn guarded(seed: u64, play: impl FnOnce() -> Outcome) -> Outcome {
    catch_unwind(AssertUnwindSafe(play)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
        let detail = text.unwrap_or_else(|| "a panic".into());
        let violation = Some(Violation { at: 0, rule: Rule::Calm, detail });
        Outcome { seed, violation, hash: 0, tally: Tally::default(), trace: vec![] }
    })
}

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
        let player = |guest: &Guest| Player::new(*guest, plan.league.clone(), choice_timeout);
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

    fn play(mut self) -> Outcome {
        while self.step() {}
        self.outcome()
    }

    fn outcome(mut self) -> Outcome {
        self.checkers.tally.span_ms = self.now;
        Outcome {
            seed: self.plan.seed,
            violation: self.checkers.violation.take(),
            hash: self.trace.hash(),
            tally: self.checkers.tally,
            trace: self.trace.into_lines(),
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

    /// A node's turn, and what comes of it.
    fn act(&mut self, node: Node, coming: Coming) {
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
                Coming::Failure { call, .. } => self.players[index].fail(&stage, call),
                Coming::Wake(_)
                | Coming::Fault(_)
                | Coming::Restart(_)
                | Coming::Thaw(_)
                | Coming::Calm => self.players[index].wake(&mut stage),
            },
            Node::Administrator => match coming {
                Coming::Arrival(packet) => self.administrator.receive(&packet),
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

    /// Shows the checkers what a node did, and sends what it said.
    fn settle(&mut self, node: Node) {
        for seen in std::mem::take(&mut self.seen) {
            self.checkers.seen(&seen);
        }
        if let Node::Player(index) = node
            && self.players[index].member().is_some()
        {
            self.checkers.informed(node);
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

    /// Trouble likes to come at the worst moment.
    fn provoke(&mut self, packet: &Packet) {
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

    fn fault(&mut self, kind: FaultKind) {
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

    fn restart(&mut self, node: Node) {
        if matches!(self.health.get(&node), Some(Health::Down)) {
            self.trace.line(self.now, format_args!("restart {node}"));
            self.health.insert(node, Health::Up);
            self.act(node, Coming::Restart(node));
        }
    }

    /// A node goes on: first it hears what waited, then it looks at its clock.
    fn thaw(&mut self, node: Node) {
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
    fn calm(&mut self) {
        self.trace.line(self.now, format_args!("calm"));
        self.net.calm();
        self.manager.calm();
        for node in nodes(&self.plan) {
            self.thaw(node);
            self.restart(node);
        }
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

    fn crowd(self) -> Crowd {
        let (mut pairs, mut played, mut charged, mut spared) = (0, 0, 0, 0);
        let ledger = self.checkers.ledger();
        for (_, standing) in ledger.standings() {
            let is_good = |seat: Seat| {
                let node = ledger.node(AgentId::Player(standing.pairing.player(seat)));
                matches!(node, Some(Node::Player(index)) if self.plan.players[index].is_good())
            };
            let good = Seat::BOTH.map(is_good);
            pairs += usize::from(good == [true, true]);
            let was_played = standing.result.is_some_and(|verdict| verdict.was_played());
            played += usize::from(good == [true, true] && was_played);
            for (seat, good) in Seat::BOTH.into_iter().zip(good) {
                let lost = standing.result.is_some_and(|verdict| verdict.lost_technically(seat));
                charged += usize::from(good && lost);
                spared += usize::from(!good && !lost);
            }
        }
        Crowd {
            healthy_pairs: pairs,
            healthy_played: played,
            healthy_charged: charged,
            bad_spared: spared,
            outcome: self.outcome(),
        }
    }
}

fn nodes(plan: &Plan) -> Vec<Node> {
    let referees = (0..plan.referees.len()).map(Node::Referee);
    let players = (0..plan.players.len()).map(Node::Player);
    let others = [Node::Manager, Node::Administrator, Node::Forger];
    others.into_iter().chain(referees).chain(players).collect()
}
