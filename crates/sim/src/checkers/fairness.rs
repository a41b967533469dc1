//! Nobody is charged for what somebody else did, and the books say what the players did.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use league_core::conduct::Conduct;
use league_core::draw::Draw;
use league_core::game::{Move, Turn};
use league_core::id::{AgentId, LeagueId, MatchId};
use league_core::manager::{DrawEvidence, Recorded};
use league_core::proof::{Keys, Token};
use league_core::roster::{Reason, StateKind, Transition};
use league_core::seat::{Seat, Seats};
use league_core::verdict::Verdict;

use super::Checked;
use super::books::Ledger;
use crate::clock::Instant;
use crate::guests::{Guest, Manner};
use crate::message::{Body, Node, Packet};
use crate::outcome::Rule;
use crate::plan::{Official, Plan};

/// In so much time a suspended player that can be reached has answered a health check.
const ANSWERING_MS: Instant = 60_000;

/// What is known about everybody's conduct and misfortune.
#[derive(Debug)]
pub(super) struct Fairness {
    keys: Keys,
    league: LeagueId,
    game: &'static str,
    guests: Vec<Guest>,
    officials: Vec<Official>,
    /// Every choice that a player really sent.
    made: BTreeMap<(Node, MatchId), BTreeSet<Arc<str>>>,
    /// When a packet between a player and somebody else was last lost, refused or slow.
    harmed: BTreeMap<(Node, Node), Instant>,
    /// When each attempt was first handed out.
    begun: BTreeMap<(MatchId, u32), Instant>,
    /// Until when a node was last away or stood still.
    away: BTreeMap<Node, Instant>,
    /// Since when each player knows its token.
    informed: BTreeMap<Node, Instant>,
    /// The tokens of players whose first one was replaced.
    replaced: BTreeMap<Node, Token>,
}

impl Fairness {
    pub(super) fn new(plan: &Plan, keys: Keys) -> Self {
        Self {
            keys,
            league: plan.league.clone(),
            game: plan.game,
            guests: plan.players.clone(),
            officials: plan.referees.clone(),
            made: BTreeMap::new(),
            harmed: BTreeMap::new(),
            begun: BTreeMap::new(),
            away: BTreeMap::new(),
            informed: BTreeMap::new(),
            replaced: BTreeMap::new(),
        }
    }

    pub(super) fn sent(&mut self, packet: &Packet, now: Instant) {
        if let Body::Choice { match_id, chosen } = &packet.letter.body {
            let made = self.made.entry((packet.from, *match_id)).or_default();
            made.insert(chosen.word.clone());
        }
        if let Body::Order(order) = &packet.letter.body {
            self.begun.entry((order.match_id, order.attempt)).or_insert(now);
        }
    }

    pub(super) fn harmed(&mut self, packet: &Packet, now: Instant) {
        let ends = match (packet.from, packet.to) {
            (player @ Node::Player(_), other @ (Node::Referee(_) | Node::Manager))
            | (other @ (Node::Referee(_) | Node::Manager), player @ Node::Player(_)) => {
                Some((player, other))
            }
            _ => None,
        };
        if let Some(ends) = ends {
            self.harmed.insert(ends, now);
        }
    }

    pub(super) fn informed(&mut self, node: Node, token: &Token, now: Instant) {
        if self.replaced.get(&node).is_none_or(|new| new.matches(token.expose())) {
            self.informed.entry(node).or_insert(now);
        }
    }

    /// An agent has a new token, and may not know it.
    pub(super) fn replaced(&mut self, agent: AgentId, nonce: &[u8; 32], ledger: &Ledger) {
        if let Some(node @ Node::Player(_)) = ledger.node(agent) {
            let token = self.keys.token(ledger.policy.token_form(), &self.league, agent, nonce);
            self.informed.remove(&node);
            self.replaced.insert(node, token);
        }
    }

    pub(super) fn faulted(&mut self, node: Node, until: Instant) {
        let away = self.away.entry(node).or_default();
        *away = (*away).max(until);
    }

    /// A result is in the books.
    pub(super) fn recorded(&self, recorded: &Recorded, ledger: &Ledger) -> Checked {
        let Some(standing) = ledger.standing(recorded.match_id) else { return Ok(()) };
        let Some(referee) = ledger.node(AgentId::Referee(recorded.referee)) else { return Ok(()) };
        for seat in Seat::BOTH {
            let player = standing.pairing.player(seat);
            let Some(node) = ledger.node(AgentId::Player(player)) else { continue };
            if recorded.verdict.lost_technically(seat) {
                self.check_charge((recorded.match_id, recorded.attempt), node, referee)?;
            }
            self.check_choice(recorded, seat, node, referee)?;
        }
        self.check_outcome(recorded)?;
        self.check_draw(recorded, ledger)
    }

    /// Something about the conduct of a match's players is in the books.
    pub(super) fn noted(
        &self,
        match_id: MatchId,
        conduct: &Seats<Conduct>,
        ledger: &Ledger,
    ) -> Checked {
        let Some(standing) = ledger.standing(match_id) else { return Ok(()) };
        let referee = ledger.node(AgentId::Referee(standing.referee));
        for (seat, conduct) in conduct.iter() {
            let node = ledger.node(AgentId::Player(standing.pairing.player(seat)));
            if let (false, Some((node, referee))) = (conduct.is_clean(), node.zip(referee)) {
                self.check_charge((match_id, standing.attempt), node, referee)?;
            }
        }
        Ok(())
    }

    /// Nobody who means well is suspended unless it met with trouble, nor stays so unless it could
    /// not be asked.
    pub(super) fn changed(
        &self,
        node: Option<Node>,
        transition: Transition,
        now: Instant,
    ) -> Checked {
        let Some(node @ Node::Player(index)) = node else { return Ok(()) };
        if !self.guests[index].is_good() || transition.reason == Reason::Banned {
            return Ok(());
        }
        let met_trouble = |since: Instant| {
            let away = |node| self.away.get(&node).is_some_and(|until| *until >= since);
            let mut harmed = self.harmed.iter().filter(|((harmed, _), _)| *harmed == node);
            away(node) || away(Node::Manager) || harmed.any(|(_, at)| *at >= since)
        };
        let is_excused = match (transition.to, transition.reason) {
            (StateKind::Init | StateKind::Registered | StateKind::Active, _) => true,
            (StateKind::Shutdown, Reason::RecoveryFailed) => {
                met_trouble(now.saturating_sub(ANSWERING_MS))
            }
            (StateKind::Suspended | StateKind::Shutdown, _) => {
                met_trouble(0)
                    || !self.informed.contains_key(&node)
                    || self.replaced.contains_key(&node)
            }
        };
        if is_excused {
            return Ok(());
        }
        Err((Rule::Fair, format!("{node} did nothing wrong: {transition:?}")))
    }

    /// Only somebody's own conduct, or its own way to the referee, may cost it a match.
    fn check_charge(&self, key: (MatchId, u32), node: Node, referee: Node) -> Checked {
        let Node::Player(index) = node else { return Ok(()) };
        let begun = self.begun.get(&key).copied().unwrap_or(Instant::MAX);
        let was_away = self.away.get(&node).is_some_and(|until| *until >= begun);
        let was_harmed = self.harmed.get(&(node, referee)).is_some_and(|at| *at >= begun);
        let guest = self.guests[index];
        // One that has not learned its token cannot tell who asks.
        let was_informed = self.informed.get(&node).is_some_and(|since| *since <= begun);
        if !guest.is_good() || was_away || was_harmed || !was_informed {
            return Ok(());
        }
        let (match_id, attempt) = key;
        let text = format!(
            "{node} ({guest:?}) was charged in {match_id}, attempt {attempt} at {referee}, \
             though it did nothing wrong"
        );
        Err((Rule::Fair, text))
    }

    /// What is said to have been chosen was chosen, as far as the player let it be proved.
    fn check_choice(&self, recorded: &Recorded, seat: Seat, node: Node, by: Node) -> Checked {
        let moves = recorded.turns.iter().find_map(|turn| match turn {
            Turn::Moves(moves) => moves[seat].as_ref(),
            Turn::Drawn(_) => None,
        });
        let Some(chosen) = moves.or(recorded.stranded[seat].as_ref()) else { return Ok(()) };
        let Node::Player(index) = node else { return Ok(()) };
        let made = self.made.get(&(node, recorded.match_id));
        let text = chosen.to_string();
        let has_made = made.is_some_and(|made| made.contains(text.as_str()));
        if self.guests[index] == Guest::FalseProof {
            // What counts is what it proves, and that is never what it sends.
            let is_sent = has_made && made.is_some_and(|made| made.len() == 1);
            return match is_sent {
                true => Err((Rule::Truth, format!("{node} proved another choice than `{text}`"))),
                false => Ok(()),
            };
        }
        let is_provable = !matches!(self.guests[index], Guest::Plain | Guest::VainProof);
        let Node::Referee(referee) = by else { return Ok(()) };
        if !is_provable && self.officials[referee].manner != Manner::Honest {
            return Ok(());
        }
        if has_made {
            return Ok(());
        }
        Err((Rule::Truth, format!("{node} never chose `{text}` in {}", recorded.match_id)))
    }

    /// The rules of the game decide, and nothing else.
    fn check_outcome(&self, recorded: &Recorded) -> Checked {
        if !recorded.verdict.was_played() {
            return Ok(());
        }
        let [Turn::Moves(Seats { a: Some(a), b: Some(b) }), Turn::Drawn(number)] =
            recorded.turns.as_slice()
        else {
            let text = format!("{} was won without being played", recorded.match_id);
            return Err((Rule::Truth, text));
        };
        let expected = match (self.game, a, b) {
            ("even_odd_numbers", Move::Number(a), Move::Number(b)) => {
                by_sum(recorded.match_id, a + b + i64::from(*number))
            }
            _ => by_number(&a.to_string(), &b.to_string(), *number),
        };
        if recorded.verdict == expected {
            return Ok(());
        }
        let (match_id, verdict) = (recorded.match_id, recorded.verdict);
        Err((Rule::Truth, format!("{match_id}: {a}, {b} and {number} are not {verdict:?}")))
    }

    /// The operator's referees draw what was committed to.
    fn check_draw(&self, recorded: &Recorded, ledger: &Ledger) -> Checked {
        let Some(number) = recorded.turns.iter().find_map(|turn| match turn {
            Turn::Drawn(number) => Some(*number),
            Turn::Moves(_) => None,
        }) else {
            return Ok(());
        };
        if !ledger.is_operated(recorded.referee) {
            return Ok(());
        }
        let draw = Draw::new(&self.league, recorded.match_id, recorded.rematch);
        let nonces = Seats::from_fn(|seat| recorded.nonces[seat].as_deref().unwrap_or(""));
        let committed = draw.number(&draw.seed(&self.keys), nonces);
        if u32::from(committed) == number && recorded.draw == DrawEvidence::Verified {
            return Ok(());
        }
        let text = format!("{}: {number} is not the committed {committed}", recorded.match_id);
        Err((Rule::Truth, text))
    }
}

/// Even or odd: who chose what the number is.
fn by_number(a: &str, b: &str, number: u32) -> Verdict {
    let drawn = if number.is_multiple_of(2) { "even" } else { "odd" };
    match (a == drawn, b == drawn) {
        (true, false) => Verdict::Won(Seat::A),
        (false, true) => Verdict::Won(Seat::B),
        (true, true) | (false, false) => Verdict::Drawn,
    }
}

/// With numbers: side A is even in odd matches, in the first round in even ones.
const fn by_sum(id: MatchId, sum: i64) -> Verdict {
    let a_is_even = match id.round.number() {
        1 => id.number().is_multiple_of(2),
        _ => id.number() % 2 == 1,
    };
    Verdict::Won(if a_is_even == (sum % 2 == 0) { Seat::A } else { Seat::B })
}
