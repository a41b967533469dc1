//! Who may know what: every token, proof and seed, and whom it may reach.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use league_core::draw::Draw;
use league_core::id::{AgentId, LeagueId, MatchId};
use league_core::proof::{Keys, match_proof};
use league_core::seat::Seat;

use super::books::Ledger;
use super::{Checked, Objection};
use crate::guests::Guest;
use crate::message::{Aside, Body, Invited, Node, Order, Packet};
use crate::outcome::Rule;
use crate::plan::Plan;

/// Proofs that are remembered for the eavesdropper.
const CAPTURED_MAX: usize = 64;

/// Every secret that was ever seen, and who may have it.
#[derive(Debug)]
pub(crate) struct Secrets {
    keys: Keys,
    league: LeagueId,
    guests: Vec<Guest>,
    known: BTreeMap<Arc<str>, BTreeSet<Node>>,
    seeds: BTreeMap<Arc<str>, MatchId>,
    captured: Vec<(MatchId, u32, Arc<str>)>,
    /// Which referee was ever given which match.
    given: BTreeSet<(MatchId, Node)>,
}

impl Secrets {
    pub(super) fn new(keys: Keys, plan: &Plan) -> Self {
        let join_key: Arc<str> = keys.join_key(&plan.league).expose().into();
        let operated = plan.referees.iter().enumerate().filter(|(_, official)| official.operated);
        let may = operated.map(|(index, _)| Node::Referee(index)).chain([Node::Manager]).collect();
        Self {
            keys,
            league: plan.league.clone(),
            guests: plan.players.clone(),
            known: BTreeMap::from([(join_key, may)]),
            seeds: BTreeMap::new(),
            captured: vec![],
            given: BTreeSet::new(),
        }
    }

    /// A token is handed to the agent that it belongs to.
    fn issued(&mut self, token: &Arc<str>, to: Node) {
        let may = self.known.entry(token.clone()).or_default();
        if may.is_empty() {
            may.extend([Node::Manager, to]);
        }
    }

    /// Proofs of other matches or attempts than this one.
    pub(crate) fn captured(&self, match_id: MatchId, attempt: u32) -> Vec<Arc<str>> {
        let others = self.captured.iter().filter(|(m, a, _)| (*m, *a) != (match_id, attempt));
        others.map(|(_, _, proof)| proof.clone()).collect()
    }

    /// A packet leaves: nothing in it may be for somebody else.
    pub(super) fn sent(&mut self, packet: &Packet, ledger: &Ledger) -> Checked {
        if let Body::Order(order) = &packet.letter.body {
            self.ordered(packet, order, ledger)?;
        }
        if let Body::Registered { token, .. } = &packet.letter.body {
            self.issued(token, packet.to);
        }
        if let Body::Aside(Aside::NewToken { token, node, .. }) = &packet.letter.body {
            self.issued(token, *node);
            self.known.entry(token.clone()).or_default().insert(Node::Administrator);
        }
        if let Body::Choice { match_id, .. } = &packet.letter.body
            && !self.may_hear(packet, *match_id)
        {
            let text = format!("{} let {} know its choice", packet.from, packet.to);
            return Err((Rule::Silence, text));
        }
        for secret in packet.secrets() {
            self.check(packet, secret, ledger)?;
        }
        Ok(())
    }

    fn check(&self, packet: &Packet, secret: &Arc<str>, ledger: &Ledger) -> Checked {
        if let Some(match_id) = self.seeds.get(secret)
            && ledger.was_decided(*match_id)
        {
            return Ok(());
        }
        let Some(may) = self.known.get(secret) else { return Ok(()) };
        let shows_its_own = matches!(packet.from, Node::Player(index)
            if self.guests[index] == Guest::ShowsToken && matches!(packet.to, Node::Referee(_)));
        if may.contains(&packet.to) || shows_its_own {
            return Ok(());
        }
        Err((Rule::Secrets, format!("a credential for {may:?} went to {}", packet.to)))
    }

    /// A choice is for a referee that was given the match.
    fn may_hear(&self, packet: &Packet, match_id: MatchId) -> bool {
        let names_another = matches!(packet.from, Node::Player(index)
            if self.guests[index] == Guest::WrongMatch);
        let is_referee = matches!(packet.to, Node::Referee(_));
        is_referee && (names_another || self.given.contains(&(match_id, packet.to)))
    }

    /// An order goes to the referee that has the match, with proofs of its two players.
    fn ordered(&mut self, packet: &Packet, order: &Arc<Order>, ledger: &Ledger) -> Checked {
        let (match_id, attempt) = (order.match_id, order.attempt);
        // An order may be sent again, also when its match has gone to somebody else meanwhile.
        let assigned = ledger.referee(match_id, attempt);
        let assigned = assigned.and_then(|referee| ledger.node(AgentId::Referee(referee)));
        let wrong = |text: String| -> Result<(), Objection> { Err((Rule::Secrets, text)) };
        if assigned != Some(packet.to) {
            return wrong(format!("{match_id} attempt {attempt} was given to {}", packet.to));
        }
        self.given.insert((match_id, packet.to));
        for seat in Seat::BOTH {
            let player = &order.players[seat];
            if !self.is_its_proof(order, player, ledger) {
                return wrong(format!(
                    "{match_id}: what is said to be {}'s proof is not",
                    player.id
                ));
            }
            let may = BTreeSet::from([Node::Manager, packet.to, player.node]);
            self.known.insert(player.match_proof.clone(), may.clone());
            self.known.insert(player.reply_proof.clone(), may);
            self.capture((match_id, attempt, player.match_proof.clone()));
            self.capture((match_id, attempt, player.reply_proof.clone()));
        }
        if let Some(seed) = &order.seed {
            let own = Draw::new(&self.league, match_id, order.rematch).seed(&self.keys);
            if *own.reveal() != **seed {
                return wrong(format!("{match_id} was given a seed that is not its own"));
            }
            let may = self.known.entry(seed.clone()).or_default();
            may.extend([Node::Manager, packet.to]);
            self.seeds.insert(seed.clone(), match_id);
        }
        Ok(())
    }

    /// Whether the proof that is to be shown to a player is for that player.
    fn is_its_proof(&self, order: &Order, player: &Invited, ledger: &Ledger) -> bool {
        let (match_id, attempt) = (order.match_id, order.attempt);
        let referee = ledger.referee(match_id, attempt);
        let Some(referee) = referee else { return false };
        let agent = AgentId::Player(player.id);
        // An order may be sent again after the token it was made with was replaced.
        let is_proved = ledger.nonces(player.id).iter().rev().any(|nonce| {
            let token = self.keys.token(order.policy.token_form(), &self.league, agent, nonce);
            let proof = match_proof(&token, &self.league, match_id, attempt, referee);
            proof.matches(&player.match_proof)
        });
        ledger.node(agent) == Some(player.node) && is_proved
    }

    fn capture(&mut self, proof: (MatchId, u32, Arc<str>)) {
        if self.captured.len() < CAPTURED_MAX {
            self.captured.push(proof);
        }
    }
}
