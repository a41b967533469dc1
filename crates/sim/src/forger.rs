//! An outsider who knows every address, name and conversation, and no secret: what it sends must
//! be refused and charged to nobody.

use std::sync::Arc;

use league_core::id::{AgentId, ConversationId, MatchId, PlayerId, RefereeId};
use league_core::manager::Play;
use league_core::seat::{Seat, Seats};
use league_core::verdict::Verdict;

use crate::applicant::profile;
use crate::message::{Application, Body, Chosen, Claim, Letter, Node};
use crate::plan::random_text;
use crate::stage::Stage;

/// A match that is being played, as an eavesdropper knows it.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) referee_node: Node,
    pub(crate) referee: RefereeId,
    pub(crate) match_id: MatchId,
    pub(crate) attempt: u32,
    pub(crate) conversation: ConversationId,
    pub(crate) players: Seats<(PlayerId, Node)>,
}

/// Sends something that is not true about `target`. `captured` are proofs of other matches.
pub(crate) fn forge(stage: &mut Stage<'_>, target: &Target, captured: &[Arc<str>]) {
    let seat = stage.fate.pick(&Seat::BOTH);
    let (player, player_node) = target.players[seat];
    let (match_id, attempt) = (target.match_id, target.attempt);
    let (as_referee, as_player) = (AgentId::Referee(target.referee), AgentId::Player(player));
    let verdict = Verdict::TechnicalLoss(seat);
    let word = stage.fate.pick(&["even", "odd"]).into();
    let (to, sender, body) = match stage.fate.between(0, 8) {
        0 => (Node::Manager, as_referee, Body::Report(Box::new(claim(target, verdict)))),
        1 => (Node::Manager, as_player, Body::Report(Box::new(claim(target, verdict)))),
        2 => {
            let annulled = Some("forged".into());
            (Node::Manager, as_referee, Body::Progress { match_id, attempt, annulled })
        }
        3 => (target.referee_node, as_player, Body::Join { match_id, accept: false }),
        4 => {
            let chosen = Chosen { word, nonce: None, proof: None };
            (target.referee_node, as_player, Body::Choice { match_id, chosen })
        }
        5 => {
            let chosen = Chosen { word: "neither".into(), nonce: None, proof: None };
            (target.referee_node, as_player, Body::Choice { match_id, chosen })
        }
        6 => {
            let profile = profile(player_node, 0);
            let application = Application { profile, capacity: None, join_key: None };
            (Node::Manager, as_player, Body::Register(Box::new(application)))
        }
        7 => (player_node, as_referee, Body::Invite { match_id, attempt }),
        _ => (player_node, as_referee, Body::Ask { match_id, attempt, window: 1 }),
    };
    let invented = format!("prf_{}", random_text(stage.fate)).into();
    let token = match captured.len() {
        0 => invented,
        len if stage.fate.chance(500) => captured[stage.fate.index(len)].clone(),
        _ => invented,
    };
    let conversation = Some(target.conversation.clone());
    stage.call(to, Letter { sender: Some(sender), token: Some(token), conversation, body });
}

fn claim(target: &Target, verdict: Verdict) -> Claim {
    let (stranded, nonces, choice_proofs) = Default::default();
    Claim {
        match_id: target.match_id,
        attempt: Some(target.attempt),
        conversation: target.conversation.clone(),
        verdict,
        points: Seats::default(),
        play: Play { turns: vec![], stranded, nonces, choice_proofs },
        reason: "forged".into(),
        conduct: Seats::default(),
    }
}
