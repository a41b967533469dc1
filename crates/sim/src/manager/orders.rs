//! The order to play a match, made from the published league at the moment of sending.

use std::sync::Arc;

use league_core::draw::Draw;
use league_core::id::AgentId;
use league_core::manager::League;
use league_core::manager::dispatch::Handout;
use league_core::proof::{Keys, match_proof, reply_proof};
use league_core::seat::{Seat, Seats};

use super::inbound::token_of;
use crate::message::{Invited, Node, Order};
use crate::sabotage::Sabotage;

/// The order for a handout; `None` if the match is no longer open under this attempt.
pub(super) fn order(
    keys: &Keys,
    league: &League,
    handout: &Handout,
    sabotage: Option<Sabotage>,
) -> Option<Order> {
    let open = league.open_match(handout.match_id)?;
    if open.attempt != handout.attempt || open.referee != handout.referee {
        return None;
    }
    let (match_id, attempt, referee) = (handout.match_id, handout.attempt, handout.referee);
    let invited = |seat: Seat| {
        let player = league.player(open.pairing.player(seat))?;
        let token = token_of(keys, league, AgentId::Player(player.id))?;
        let to_send = match_proof(&token, league.id(), match_id, attempt, referee);
        let to_expect = reply_proof(&token, league.id(), match_id, attempt);
        Some(Invited {
            id: player.id,
            node: Node::at(&player.profile.endpoint)?,
            match_proof: to_send.expose().into(),
            reply_proof: to_expect.expose().into(),
            token_hash: token.hash(),
        })
    };
    let mut players = Seats::new(invited(Seat::A)?, invited(Seat::B)?);
    if sabotage == Some(Sabotage::SwapProofs) {
        let Seats { a, b } = &mut players;
        std::mem::swap(&mut a.match_proof, &mut b.match_proof);
    }
    let operated = league.referee(referee).is_some_and(|referee| referee.operated);
    let seed = Draw::new(league.id(), match_id, open.rematch).seed(keys);
    Some(Order {
        match_id,
        attempt,
        rematch: open.rematch,
        game: Arc::clone(league.game()),
        policy: Arc::clone(league.policy()),
        players,
        seed: operated.then(|| seed.reveal().into()),
    })
}
