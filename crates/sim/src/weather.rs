//! The weather of a world: what the network, the disks and the machines suffer, and until when.
//! Drawn from the seed as a swarm: each kind of trouble is there in some worlds and not in others.

use league_core::id::MatchId;

use crate::fate::Fate;
use crate::message::Node;

/// Everything that goes wrong by itself.
#[derive(Debug, Default)]
pub(crate) struct Weather {
    /// When all of it stops, in milliseconds.
    pub(crate) calm_at: u64,
    pub(crate) network: Network,
    pub(crate) disk: DiskWeather,
    pub(crate) faults: Vec<Fault>,
    pub(crate) provoked: Provoked,
}

/// Trouble at the worst moment, in cases of a thousand.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Provoked {
    /// Somebody forges an answer while a player is being asked.
    pub(crate) forging: u64,
    /// A referee stands still while a player is being asked.
    pub(crate) freezing: u64,
    /// The manager crashes while a report is on its way or being written.
    pub(crate) crashing: u64,
}

/// What happens to packets, in cases of a thousand.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Network {
    pub(crate) lost: u64,
    pub(crate) duplicated: u64,
    pub(crate) refused: u64,
    pub(crate) reset: u64,
    /// Packets that take seconds.
    pub(crate) delayed: u64,
    /// The usual way takes so many milliseconds at most.
    pub(crate) usual_ms_max: u64,
}

/// What happens to appends.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct DiskWeather {
    /// Appends that fail, of a thousand.
    pub(crate) failing: u64,
    /// How long an append takes at most, in milliseconds.
    pub(crate) slow_ms_max: u64,
}

/// One trouble with its time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fault {
    pub(crate) at: u64,
    pub(crate) kind: FaultKind,
}

/// A trouble; spans in milliseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FaultKind {
    /// A node loses its memory and is away for a while.
    Crash { node: Node, away: u64 },
    /// A node stands still; what is sent to it waits.
    Freeze { node: Node, still: u64 },
    /// Two nodes cannot reach each other.
    Part { between: (Node, Node), apart: u64, refuses: bool },
    /// Nobody can reach a node.
    Isolate { node: Node, apart: u64, refuses: bool },
    /// A clock is set.
    SetClock { node: Node, by: i64 },
    /// Somebody sends what is not true, about a match or any match.
    Forge { about: Option<MatchId> },
    /// The administrator gives an order.
    Order,
}

impl Weather {
    /// No trouble at all.
    pub(crate) fn fair() -> Self {
        let network = Network { usual_ms_max: 20, ..Network::default() };
        Self { network, disk: DiskWeather { failing: 0, slow_ms_max: 5 }, ..Self::default() }
    }

    /// The weather of the world of `seed`.
    pub(crate) fn draw(seed: u64, players: usize, referees: usize) -> Self {
        let mut fate = Fate::new(seed, "weather");
        let calm_at = fate.pick(&[0, 60_000, 200_000, 600_000, 1_200_000]);
        let usual_ms_max = fate.pick(&[2, 20, 100]);
        if calm_at == 0 {
            let network = Network { usual_ms_max, ..Network::default() };
            return Self { network, ..Self::fair() };
        }
        let mut sometimes = |often: &[u64]| if fate.chance(500) { fate.pick(often) } else { 0 };
        let network = Network {
            lost: sometimes(&[10, 50, 200]),
            duplicated: sometimes(&[20, 200]),
            refused: sometimes(&[10, 100, 300]),
            reset: sometimes(&[10, 100]),
            delayed: sometimes(&[10, 100]),
            usual_ms_max,
        };
        let disk = DiskWeather {
            failing: sometimes(&[5, 30, 120]),
            slow_ms_max: sometimes(&[20, 300, 2_000]).max(5),
        };
        let provoked = Provoked {
            forging: sometimes(&[20, 200]),
            freezing: sometimes(&[5, 40]),
            crashing: sometimes(&[5, 60]),
        };
        let mut faults = vec![];
        let all = all_nodes(players, referees);
        let rate = fate.pick(&[4, 12, 30]);
        let kinds: Vec<u64> = (0..7).filter(|_| fate.chance(600)).collect();
        for _ in 0..if kinds.is_empty() { 0 } else { fate.between(0, rate) } {
            let at = fate.between(0, calm_at);
            let kind = fault(&mut fate, &kinds, &all);
            faults.push(Fault { at, kind });
        }
        Self { calm_at, network, disk, faults, provoked }
    }
}

fn all_nodes(players: usize, referees: usize) -> Vec<Node> {
    let (referees, players) = ((0..referees).map(Node::Referee), (0..players).map(Node::Player));
    std::iter::once(Node::Manager).chain(referees).chain(players).collect()
}

fn fault(fate: &mut Fate, kinds: &[u64], all: &[Node]) -> FaultKind {
    // Whoever matters most is hit most.
    let node = |fate: &mut Fate| if fate.chance(350) { Node::Manager } else { fate.pick(all) };
    match fate.pick(kinds) {
        0 => FaultKind::Crash { node: node(fate), away: fate.between(1, 40_000) },
        1 => FaultKind::Freeze { node: node(fate), still: fate.between(1, 25_000) },
        2 => {
            let between = (fate.pick(all), fate.pick(all));
            let (apart, refuses) = (fate.between(100, 60_000), fate.chance(300));
            FaultKind::Part { between, apart, refuses }
        }
        3 => {
            let (apart, refuses) = (fate.between(100, 60_000), fate.chance(300));
            FaultKind::Isolate { node: node(fate), apart, refuses }
        }
        4 => {
            let by = i64::try_from(fate.between(1, 40_000)).expect("a small number") - 20_000;
            FaultKind::SetClock { node: node(fate), by }
        }
        5 => FaultKind::Forge { about: None },
        _ => FaultKind::Order,
    }
}
