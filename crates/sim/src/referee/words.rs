//! What a bout says about its match once it is decided.

use league_core::game::Turn;
use league_core::manager::Play;
use league_core::proof::Proof;
use league_core::referee::{Phase, Sealed};
use league_core::seat::{Seat, Seats};

use super::bout::Bout;
use crate::message::{Body, Claim};

impl Bout {
    /// What the players did, as it is reported.
    pub(super) fn play(&self) -> Play {
        let record = self.machine.record();
        let sealed = |seat: Seat| -> Option<&Sealed> {
            let complete = record.seals.last().and_then(|seals| seals[seat].as_ref());
            record.stranded[seat].as_ref().or(complete)
        };
        let proof = |sealed: &Sealed| {
            let text = sealed.proof.as_ref()?;
            text.parse::<Proof>().ok().map(Proof::bytes)
        };
        Play {
            turns: record.turns.clone(),
            stranded: Seats::from_fn(|seat| {
                record.stranded[seat].as_ref().map(|sealed| sealed.chosen.clone())
            }),
            nonces: Seats::from_fn(|seat| sealed(seat).and_then(|sealed| sealed.nonce.clone())),
            choice_proofs: Seats::from_fn(|seat| sealed(seat).and_then(proof)),
        }
    }

    /// The report as it is true; `None` before the match is decided.
    pub(super) fn truth(&self) -> Option<Claim> {
        let Phase::Decided { verdict, .. } = *self.machine.phase() else { return None };
        let scores = verdict.scores();
        Some(Claim {
            match_id: self.order.match_id,
            attempt: Some(self.order.attempt),
            conversation: self.conversation().clone(),
            verdict,
            points: Seats::from_fn(|seat| Some(scores[seat].points(&self.order.policy))),
            play: self.play(),
            reason: "as played".into(),
            conduct: self.conduct,
        })
    }

    /// How the match ended, for its players.
    pub(super) fn over(&self) -> Body {
        let Phase::Decided { verdict, .. } = *self.machine.phase() else { return Body::Noted };
        let is_drawn = |turn: &Turn| matches!(turn, Turn::Drawn(_));
        let drawn = self.machine.record().turns.iter().any(is_drawn);
        Body::Over {
            match_id: self.order.match_id,
            verdict,
            seed: self.order.seed.clone().filter(|_| drawn),
        }
    }
}
