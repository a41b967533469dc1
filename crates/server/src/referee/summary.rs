//! What a match came to, as its players and the manager are told.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use league_agent::guard::lock;
use league_core::conduct::Conduct;
use league_core::game::Turn;
use league_core::id::PlayerId;
use league_core::referee::{Match, Phase, Sealed};
use league_core::schedule::Pairing;
use league_core::seat::{Seat, Seats};
use league_core::verdict::{Score, Verdict};
use league_wire::message::{GameOver, MatchResultReport, PlayerLine, ReportedPlayer};
use league_wire::{Message, Parity, PlayerResult, ResultStatus};

use super::outbound::{Account, Letters, move_value, state};
use crate::record::reason;
use crate::record::redact::redact;

impl Letters {
    pub(super) fn game_over(&self, machine: &Match, account: &Account) -> Message {
        let summary = self.summary(machine, account);
        let lines = summary.lines.iter().map(|(seat, line)| (self.player(seat), line.clone()));
        Message::GameOver(GameOver {
            match_id: self.order.match_id,
            round_id: Some(self.order.round_id),
            game_type: Some(self.order.game_type.clone()),
            attempt: Some(self.order.attempt),
            rematch: Some(self.order.rematch),
            status: summary.status,
            winner: summary.winner,
            technical_losers: summary.technical_losers,
            reason: summary.reason,
            drawn_number: summary.number,
            number_parity: summary.number.filter(|_| self.is_about_parity()).map(Parity::of),
            players: lines.collect(),
            game_state: Some(state(machine.state())),
            draw_seed: summary.number.and_then(|_| self.order.draw_seed.clone()),
            draw_commitment: self.order.draw_commitment.clone(),
        })
    }

    pub(super) fn report(&self, machine: &Match, account: &Account) -> Message {
        let summary = self.summary(machine, account);
        let reported = |(seat, line): (Seat, &PlayerLine)| {
            let proof = sealed(machine, seat).and_then(|sealed| sealed.proof.as_deref());
            let player = ReportedPlayer {
                line: line.clone(),
                choice_proof: proof.map(Into::into),
                dialect: self.answered_dialect(seat),
                token_shown: self.token_shown[seat].load(Ordering::Relaxed),
                conduct: told(machine, account.conduct[seat]),
                unusable_answers: account.unusable[seat],
                response_us: self.response_times(seat),
                deviations: lock(&self.deviations[seat]).clone(),
            };
            (self.player(seat), player)
        };
        let players: BTreeMap<_, _> = summary.lines.iter().map(reported).collect();
        Message::MatchResultReport(MatchResultReport {
            match_id: self.order.match_id,
            round_id: self.order.round_id,
            game_type: Some(self.order.game_type.clone()),
            attempt: Some(self.order.attempt),
            rematch: Some(self.order.rematch),
            match_conversation: Some(self.conversation.clone()),
            status: Some(summary.status),
            winner: summary.winner,
            technical_losers: summary.technical_losers,
            reason: summary.reason,
            drawn_number: summary.number,
            players,
            game_state: Some(state(machine.state())),
            draw_seed: summary.number.and_then(|_| self.order.draw_seed.clone()),
            draw_commitment: self.order.draw_commitment.clone(),
            referee_signature: None,
            transcript: self.transcript(),
        })
    }

    fn summary(&self, machine: &Match, account: &Account) -> Summary {
        let Phase::Decided { verdict, .. } = *machine.phase() else {
            unreachable!("only a decided match is told about")
        };
        let number = machine.record().turns.iter().find_map(|turn| match turn {
            Turn::Drawn(number) => Some(*number),
            Turn::Moves(_) => None,
        });
        let scores = verdict.scores();
        let line = |seat: Seat| {
            let sealed = sealed(machine, seat);
            PlayerLine {
                choice: sealed.map(|sealed| move_value(&sealed.chosen)),
                result: Some(player_result(scores[seat])),
                points: Some(scores[seat].points(machine.policy())),
                nonce: sealed.and_then(|sealed| sealed.nonce.as_deref()).map(Into::into),
                role: machine.game().role(seat).map(Into::into),
            }
        };
        let losers = Seat::BOTH.into_iter().filter(|seat| verdict.lost_technically(*seat));
        Summary {
            status: status(verdict),
            winner: verdict.winner().map(|seat| self.player(seat)),
            technical_losers: losers.map(|seat| self.player(seat)).collect(),
            reason: self.reason(machine, account, verdict),
            number,
            lines: Seats::from_fn(line),
        }
    }

    fn reason(&self, machine: &Match, account: &Account, verdict: Verdict) -> String {
        let pairing = Pairing { a: self.player(Seat::A), b: self.player(Seat::B) };
        let played = reason::played(machine.game(), &machine.record().turns, pairing, verdict);
        played.unwrap_or_else(|| {
            let secrets = self.secrets();
            let hidden: Vec<&str> = secrets.iter().map(String::as_str).collect();
            let losses = account.losses.iter().filter_map(|(seat, why)| {
                // Players may repeat in their errors what they were sent.
                let why = redact(why.as_ref()?, &hidden);
                Some(format!("{}: {why}", self.player(seat)))
            });
            losses.collect::<Vec<_>>().join("; ")
        })
    }
}

/// What a match came to, as both the players and the manager are told.
struct Summary {
    status: ResultStatus,
    winner: Option<PlayerId>,
    technical_losers: Vec<PlayerId>,
    reason: String,
    number: Option<u32>,
    lines: Seats<PlayerLine>,
}

/// What is worth telling: of a match in which nothing went wrong there is nothing to say.
fn told(machine: &Match, conduct: Conduct) -> Conduct {
    if conduct.is_clean() {
        return Conduct::default();
    }
    conduct.capped(machine.policy(), machine.game().steps_max())
}

/// A side's last move, complete or not.
fn sealed(machine: &Match, seat: Seat) -> Option<&Sealed> {
    let record = machine.record();
    let complete = record.seals.last().and_then(|seals| seals[seat].as_ref());
    record.stranded[seat].as_ref().or(complete)
}

const fn status(verdict: Verdict) -> ResultStatus {
    match verdict {
        Verdict::Won(_) => ResultStatus::Win,
        Verdict::Drawn => ResultStatus::Draw,
        Verdict::TechnicalLoss(_) | Verdict::BothLost => ResultStatus::TechnicalLoss,
        Verdict::Cancelled => ResultStatus::Cancelled,
    }
}

const fn player_result(score: Score) -> PlayerResult {
    match score {
        Score::Win => PlayerResult::Win,
        Score::Draw => PlayerResult::Tie,
        Score::Loss => PlayerResult::Loss,
        Score::TechnicalLoss => PlayerResult::TechnicalLoss,
        Score::None => PlayerResult::Cancelled,
    }
}
