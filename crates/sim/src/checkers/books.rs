//! The checkers' own books: what was published, what was acknowledged, and what the table is.

use std::collections::{BTreeMap, BTreeSet};

use league_core::id::{AgentId, MatchId, PlayerId, RefereeId, RoundId};
use league_core::manager::{Event, Fact, Order, Scheduled};
use league_core::policy::Policy;
use league_core::roster::StateKind;
use league_core::schedule::Pairing;
use league_core::standings::Row;
use league_core::time::Timestamp;
use league_core::verdict::Verdict;

use super::{Checked, Objection};
use crate::message::Node;
use crate::outcome::Rule;
use crate::reference::{Line, Reference};

/// Everything that was published, and what follows from it.
#[derive(Debug)]
pub(crate) struct Ledger {
    pub(super) policy: Policy,
    events: Vec<Event>,
    phase: Phase,
    nodes: BTreeMap<AgentId, Node>,
    operated: BTreeSet<RefereeId>,
    /// The random parts of each player's tokens, the one that works last.
    nonces: BTreeMap<PlayerId, Vec<[u8; 32]>>,
    /// Players with a new token, and until when matches wait for them.
    pub(super) awaited: BTreeMap<PlayerId, Timestamp>,
    /// Since when the league is paused.
    pub(super) paused: Option<Timestamp>,
    met: BTreeSet<(PlayerId, PlayerId)>,
    pub(super) matches: BTreeMap<MatchId, Standing>,
    /// Who was ever given which attempt.
    pub(super) assigned: BTreeMap<(MatchId, u32), RefereeId>,
    pub(super) acknowledged: BTreeSet<MatchId>,
    welcomed: BTreeSet<AgentId>,
    pub(super) reference: Reference,
    /// Who is shut down.
    pub(super) gone: BTreeSet<AgentId>,
    /// The order that was given last, if nothing else has happened since.
    pub(super) ordered: Option<Order>,
    /// When the open round should be over.
    pub(super) deadline: Timestamp,
}

/// A match in the books.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Standing {
    pub(crate) pairing: Pairing,
    pub(crate) referee: RefereeId,
    pub(crate) attempt: u32,
    pub(crate) result: Option<Verdict>,
    /// Whether it ever had a result.
    pub(crate) was_decided: bool,
    /// Whether its last result came from a referee.
    pub(crate) was_reported: bool,
    /// Until when it waits for the administrator, if it does.
    pub(super) stuck_until: Option<Timestamp>,
}

impl Standing {
    const fn new(pairing: Pairing, referee: RefereeId) -> Self {
        let (was_decided, was_reported) = (false, false);
        let (attempt, result, stuck_until) = (1, None, None);
        Self { pairing, referee, attempt, result, was_decided, was_reported, stuck_until }
    }

    pub(super) const fn decide(&mut self, verdict: Verdict, by_referee: bool) {
        (self.result, self.stuck_until) = (Some(verdict), None);
        (self.was_decided, self.was_reported) = (true, by_referee);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Nothing,
    Registering,
    Between,
    Playing(u32),
    Completed,
}

impl Ledger {
    pub(super) fn new(policy: Policy) -> Self {
        Self {
            policy,
            events: vec![],
            phase: Phase::Nothing,
            nodes: BTreeMap::new(),
            operated: BTreeSet::new(),
            nonces: BTreeMap::new(),
            awaited: BTreeMap::new(),
            paused: None,
            met: BTreeSet::new(),
            matches: BTreeMap::new(),
            assigned: BTreeMap::new(),
            acknowledged: BTreeSet::new(),
            welcomed: BTreeSet::new(),
            reference: Reference::default(),
            gone: BTreeSet::new(),
            ordered: None,
            deadline: Timestamp::default(),
        }
    }

    pub(crate) const fn is_completed(&self) -> bool {
        matches!(self.phase, Phase::Completed)
    }

    /// Who an agent is in this world.
    pub(crate) fn node(&self, agent: AgentId) -> Option<Node> {
        self.nodes.get(&agent).copied()
    }

    /// A match, once its round has been opened.
    pub(crate) fn standing(&self, match_id: MatchId) -> Option<&Standing> {
        self.matches.get(&match_id)
    }

    /// Who was given an attempt at a match.
    pub(crate) fn referee(&self, match_id: MatchId, attempt: u32) -> Option<RefereeId> {
        self.assigned.get(&(match_id, attempt)).copied()
    }

    /// Every match whose round has been opened.
    pub(crate) fn standings(&self) -> impl Iterator<Item = (&MatchId, &Standing)> {
        self.matches.iter()
    }

    /// The result of a match that is in the books.
    pub(crate) fn result(&self, match_id: MatchId) -> Option<Verdict> {
        self.standing(match_id).and_then(|standing| standing.result)
    }

    /// The round that is being played.
    pub(crate) const fn open_round(&self) -> Option<RoundId> {
        match self.phase {
            Phase::Playing(round) => Some(RoundId::new(round)),
            Phase::Nothing | Phase::Registering | Phase::Between | Phase::Completed => None,
        }
    }

    /// Whether a match ever had a result.
    pub(crate) fn was_decided(&self, match_id: MatchId) -> bool {
        self.standing(match_id).is_some_and(|standing| standing.was_decided)
    }

    /// Whether the order given last is this one, and nothing else has happened since.
    pub(crate) fn is_ordered(&self, order: Order) -> bool {
        self.ordered == Some(order)
    }

    /// The random parts of all tokens that a player ever had, the one that works last.
    pub(crate) fn nonces(&self, player: PlayerId) -> &[[u8; 32]] {
        self.nonces.get(&player).map_or(&[], Vec::as_slice)
    }

    /// Whether a referee is the operator's own.
    pub(crate) fn is_operated(&self, referee: RefereeId) -> bool {
        self.operated.contains(&referee)
    }

    pub(super) fn acknowledged(&mut self, match_id: MatchId) {
        self.acknowledged.insert(match_id);
    }

    pub(super) fn welcomed(&mut self, agent: AgentId) {
        self.welcomed.insert(agent);
    }

    /// How many of the replayed events are known; all that was published must be among them.
    pub(super) fn replayed(&self, events: &[Event]) -> Result<usize, Objection> {
        let known = self.events.len();
        if events.len() < known || events[..known] != self.events[..] {
            let text = format!("of {known} published events the journal has lost some");
            return Err((Rule::Kept, text));
        }
        Ok(known)
    }

    /// Whoever was told that something is in the books finds it there.
    pub(super) fn nothing_vanished(&self) -> Checked {
        if let Some(lost) = self.acknowledged.iter().find(|id| self.result(**id).is_none()) {
            return Err((Rule::Kept, format!("the acknowledged result of {lost} has vanished")));
        }
        if let Some(lost) = self.welcomed.iter().find(|agent| !self.nodes.contains_key(agent)) {
            return Err((Rule::Kept, format!("the registration of {lost} has vanished")));
        }
        Ok(())
    }

    /// An event is public.
    pub(super) fn publish(&mut self, event: &Event) -> Checked {
        self.events.push(event.clone());
        self.follow(&event.fact)?;
        let ordered = self.ordered.take();
        match &event.fact {
            Fact::PlayerRegistered { player, profile, nonce, .. } => {
                self.nonces.entry(*player).or_default().push(*nonce);
                self.reference.players.push(*player);
                self.enrol(AgentId::Player(*player), &profile.endpoint);
            }
            Fact::TokenReplaced { agent: AgentId::Player(player), nonce } => {
                self.replace_token(event.at, *player, *nonce);
            }
            Fact::PlayerReturned { player, profile, .. } => {
                self.enrol(AgentId::Player(*player), &profile.endpoint);
            }
            Fact::RefereeRegistered { referee, profile, operated, .. }
            | Fact::RefereeReturned { referee, profile, operated, .. } => {
                self.enrol(AgentId::Referee(*referee), &profile.endpoint);
                self.operated.extend(operated.then_some(*referee));
            }
            Fact::LeagueStarted => self.leave_out_the_gone(),
            Fact::RoundOpened { round, matches, deadline, .. } => {
                self.open(*round, *deadline, matches)?;
            }
            Fact::MatchReassigned { match_id, attempt, referee, .. }
            | Fact::MatchPassedOn { match_id, attempt, referee, .. } => {
                self.assign(*match_id, *attempt, *referee)?;
            }
            Fact::ResultRecorded(recorded) => {
                self.record(recorded.match_id, recorded.referee, recorded.verdict)?;
            }
            Fact::Walkover { match_id, verdict, .. } => {
                self.walk_over(event.at, *match_id, *verdict)?
            }
            Fact::MatchCancelled { match_id, replaced, .. } => {
                let by_order = ordered == Some(Order::Cancel(*match_id));
                self.cancel(event.at, *match_id, *replaced, by_order)?;
            }
            Fact::MatchStuck { match_id, .. } => self.stick(event.at, *match_id)?,
            Fact::RematchOrdered { match_id, attempt, referee, replaced, .. } => {
                self.take_back(*match_id, *replaced)?;
                self.assign(*match_id, *attempt, *referee)?;
                if ordered != Some(Order::Rematch(*match_id)) {
                    return Err((Rule::Transitions, format!("nobody ordered {match_id} anew")));
                }
            }
            Fact::AgentChanged { agent, transition } => {
                if transition.to == StateKind::Shutdown {
                    self.gone.insert(*agent);
                }
            }
            Fact::Administered { order, .. } => self.obey(event.at, *order),
            Fact::LeagueCreated(_)
            | Fact::ReportRefused { .. }
            | Fact::RoundClosed { .. }
            | Fact::LeagueCompleted
            | Fact::ConductNoted { .. }
            | Fact::AdmissionSet(_)
            | Fact::CodeRedeemed { .. }
            | Fact::ShapeSettled { .. }
            | Fact::TokenReplaced { agent: AgentId::Referee(_), .. } => {}
        }
        Ok(())
    }

    fn replace_token(&mut self, at: Timestamp, player: PlayerId, nonce: [u8; 32]) {
        self.nonces.entry(player).or_default().push(nonce);
        self.awaited.insert(player, at + self.policy.recovery_window());
    }

    fn record(&mut self, match_id: MatchId, by: RefereeId, verdict: Verdict) -> Checked {
        let standing = self.unfinished(match_id)?;
        standing.decide(verdict, true);
        let (pairing, referee) = (standing.pairing, standing.referee);
        if referee != by {
            return Err((Rule::Truth, format!("{match_id} was reported by a stranger")));
        }
        self.reference.record(pairing, verdict);
        Ok(())
    }

    fn leave_out_the_gone(&mut self) {
        let gone = &self.gone;
        self.reference.players.retain(|player| !gone.contains(&AgentId::Player(*player)));
    }

    fn enrol(&mut self, agent: AgentId, endpoint: &str) {
        if let Some(node) = Node::at(endpoint) {
            self.nodes.insert(agent, node);
        }
        self.gone.remove(&agent);
        if let AgentId::Player(player) = agent {
            self.awaited.remove(&player);
        }
    }

    fn open(&mut self, round: RoundId, deadline: Timestamp, matches: &[Scheduled]) -> Checked {
        self.deadline = deadline;
        for (index, Scheduled { pairing, referee, .. }) in matches.iter().enumerate() {
            self.meet(*pairing)?;
            let match_id = MatchId::from_index(round, index);
            self.matches.insert(match_id, Standing::new(*pairing, *referee));
            self.assigned.insert((match_id, 1), *referee);
        }
        Ok(())
    }

    fn meet(&mut self, pairing: Pairing) -> Checked {
        let Pairing { a, b } = pairing;
        if a == b || !self.met.insert((a.min(b), a.max(b))) {
            return Err((Rule::Once, format!("{a} and {b} meet twice")));
        }
        Ok(())
    }

    pub(super) fn unfinished(&mut self, match_id: MatchId) -> Result<&mut Standing, Objection> {
        let found = self.matches.get_mut(&match_id);
        let standing = found.ok_or_else(|| {
            (Rule::Transitions, format!("{match_id} is in the books before its round was opened"))
        })?;
        match standing.result {
            Some(_) => Err((Rule::Once, format!("{match_id} is in the books twice"))),
            None => Ok(standing),
        }
    }

    /// Leagues go from registration through their rounds to the end, and nowhere else.
    fn follow(&mut self, fact: &Fact) -> Checked {
        let next = match (self.phase, fact) {
            (Phase::Nothing, Fact::LeagueCreated(_)) => Phase::Registering,
            (Phase::Registering, Fact::PlayerRegistered { .. }) => Phase::Registering,
            (
                phase @ (Phase::Registering | Phase::Between | Phase::Playing(_)),
                Fact::RefereeRegistered { .. }
                | Fact::PlayerReturned { .. }
                | Fact::RefereeReturned { .. }
                | Fact::TokenReplaced { .. }
                | Fact::ShapeSettled { .. }
                | Fact::AgentChanged { .. }
                | Fact::Administered { .. },
            ) => phase,
            (Phase::Registering, Fact::LeagueStarted) => Phase::Between,
            (Phase::Between, Fact::RoundOpened { round, .. }) => Phase::Playing(round.number()),
            (Phase::Between, Fact::LeagueCompleted) => Phase::Completed,
            (Phase::Playing(open), Fact::RoundClosed { round }) if round.number() == open => {
                let in_round = self.matches.iter().filter(|(id, _)| id.round == *round);
                if in_round.into_iter().any(|(_, standing)| standing.result.is_none()) {
                    let text = format!("round {round} closed before every match had its result");
                    return Err((Rule::Transitions, text));
                }
                Phase::Between
            }
            (
                phase @ Phase::Playing(_),
                Fact::MatchReassigned { .. }
                | Fact::MatchPassedOn { .. }
                | Fact::ResultRecorded(_)
                | Fact::ReportRefused { .. }
                | Fact::ConductNoted { .. }
                | Fact::Walkover { .. }
                | Fact::MatchCancelled { .. }
                | Fact::MatchStuck { .. }
                | Fact::RematchOrdered { .. },
            ) => phase,
            // Somebody may still lie about a round that is over.
            (Phase::Between, Fact::ReportRefused { match_id, .. })
                if self.matches.get(match_id).is_some_and(|known| known.result.is_some()) =>
            {
                Phase::Between
            }
            // What is ordered about agents is noted though nobody plays any more.
            (
                Phase::Completed,
                Fact::Administered {
                    order: Order::Archive | Order::Ban(_) | Order::Reinstate(_) | Order::Approve(_),
                    ..
                },
            ) => Phase::Completed,
            (phase, fact) => {
                let text = format!("in {phase:?} came {fact:?}");
                return Err((Rule::Transitions, text));
            }
        };
        self.phase = next;
        Ok(())
    }

    /// The published table against the slow one.
    pub(super) fn compare(&self, table: &[Row]) -> Checked {
        if matches!(self.phase, Phase::Nothing | Phase::Registering) {
            return Ok(());
        }
        let line = |row: &Row| Line {
            player: row.player,
            played: row.record.played,
            wins: row.record.wins,
            draws: row.record.draws,
            losses: row.record.losses,
            technical_losses: row.record.technical_losses,
            points: row.record.points,
        };
        let shown: Vec<Line> = table.iter().map(line).collect();
        let expected = self.reference.table(&self.policy);
        let ranks_count = table.iter().zip(1..).all(|(row, rank)| row.rank == rank);
        if shown == expected && ranks_count {
            return Ok(());
        }
        Err((Rule::Table, format!("shown {shown:?}, expected {expected:?}")))
    }

    /// At the end everybody has met everybody.
    pub(super) fn finished(&self) -> Checked {
        let players = self.reference.players.len();
        let pairs = players * players.saturating_sub(1) / 2;
        let (met, done) = (self.met.len(), self.matches.values().filter(|m| m.result.is_some()));
        let done = done.count();
        if (met, done) == (pairs, pairs) {
            return Ok(());
        }
        Err((Rule::Once, format!("{pairs} pairs, {met} met, {done} results")))
    }
}
