//! A referee's report, weighed before it goes to the writer.

use league_agent::desk::refusal;
use league_core::conduct::Conduct;
use league_core::game::Turn;
use league_core::id::{AgentId, ConversationId, PlayerId, RefereeId};
use league_core::manager::{Command, Evidence, League, OpenMatch, Play, Report, Scales};
use league_core::proof::{Keys, Proof, Token};
use league_core::schedule::Pairing;
use league_core::seat::{Seat, Seats};
use league_core::verdict::Verdict;
use league_wire::message::{ErrorReport, MatchResultReport};
use league_wire::{Code, MoveValue, ResultStatus};
use sha2::{Digest, Sha256};

use crate::record::{pack, reason};

/// The command that `message` asks for, and the transcript that came with it as it is stored. The
/// report holds the hash of the transcript as it came.
pub(super) fn command(
    keys: &Keys,
    league: &League,
    (referee, draws_committed): (RefereeId, bool),
    conversation: ConversationId,
    message: MatchResultReport,
) -> Result<(Command, Option<Vec<u8>>), Box<ErrorReport>> {
    let match_id = message.match_id;
    let Some(pairing) = league.pairing(match_id) else {
        let text = format!("there is no match {match_id} to report");
        return Err(refusal(Code::G003, &text));
    };
    if message.round_id != match_id.round {
        let text = format!("round_id {} and match_id {match_id} differ", message.round_id);
        return Err(refusal(Code::E003, &text));
    }
    let open = league.open_match(match_id);
    let verdict = verdict(&message, pairing)?;
    let play = play(&message, pairing, verdict);
    let line = |seat| message.players.get(&pairing.player(seat));
    let transcript = message.transcript.as_ref().map(|raw| raw.as_str().as_bytes());
    let by = (referee, draws_committed);
    let evidence = weigh((keys, league), by, &message, (open, pairing), &play);
    let reason = match message.reason.trim() {
        "" => reason::unsaid(&*league.game().in_match(match_id), &play.turns, pairing, verdict),
        _ => message.reason.clone(),
    };
    let report = Report {
        referee,
        match_id,
        attempt: message.attempt,
        conversation,
        verdict,
        points: Seats::from_fn(|seat| line(seat).and_then(|player| player.line.points)),
        roles: Seats::from_fn(|seat| {
            line(seat).and_then(|player| player.line.role.as_deref().map(Into::into))
        }),
        play,
        reason: reason.into(),
        transcript: transcript.map(|bytes| Sha256::digest(bytes).into()),
        evidence,
        conduct: Seats::from_fn(|seat| {
            line(seat).map_or_else(Conduct::default, |player| player.conduct)
        }),
    };
    // Here and not by the writer, who is one for all matches of the league.
    Ok((Command::RecordResult(Box::new(report)), transcript.map(pack)))
}

fn weigh(
    (keys, league): (&Keys, &League),
    (referee, draws_committed): (RefereeId, bool),
    message: &MatchResultReport,
    (open, pairing): (Option<&OpenMatch>, Pairing),
    play: &Play,
) -> Evidence {
    let token = |player: PlayerId| -> Token {
        let nonce = league.player(player).map_or([0; 32], |player| player.nonce);
        let form = league.policy().token_form();
        keys.token(form, league.id(), AgentId::Player(player), &nonce)
    };
    let tokens = Seats::from_fn(|seat| token(pairing.player(seat)));
    let operated = league.referee(referee).is_some_and(|referee| referee.operated);
    let scales = Scales {
        keys,
        game: &**league.game(),
        league: league.id(),
        match_id: message.match_id,
        attempt: message.attempt.or_else(|| open.map(|open| open.attempt)).unwrap_or(1),
        rematch: open.map_or(0, |open| open.rematch),
        tokens: Seats::new(&tokens.a, &tokens.b),
        revealed: message.draw_seed.as_ref().map(|seed| seed.reveal()),
        // One that has the key of the league and draws by itself is marked, and not refused.
        seed_was_given: operated && (draws_committed || message.draw_seed.is_some()),
    };
    Evidence::weigh(&scales, play)
}

fn verdict(message: &MatchResultReport, pairing: Pairing) -> Result<Verdict, Box<ErrorReport>> {
    let winner = message.winner.map(|winner| pairing.seat_of(winner));
    if winner == Some(None) {
        return Err(refusal(Code::E013, "the winner does not play in this match"));
    }
    let winner = winner.flatten();
    let lost = |seat| message.technical_losers.contains(&pairing.player(seat));
    let losers = (lost(Seat::A), lost(Seat::B));
    let status = message.status.unwrap_or(match (losers, winner) {
        ((false, false), Some(_)) => ResultStatus::Win,
        ((false, false), None) => ResultStatus::Draw,
        _ => ResultStatus::TechnicalLoss,
    });
    // A flat report calls a technical loss a win of the other side, and names the loser.
    let verdict = match (status, losers, winner) {
        (ResultStatus::Cancelled, _, None) => Some(Verdict::Cancelled),
        (ResultStatus::Win | ResultStatus::TechnicalLoss, (true, false), Some(Seat::B) | None) => {
            Some(Verdict::TechnicalLoss(Seat::A))
        }
        (ResultStatus::Win | ResultStatus::TechnicalLoss, (false, true), Some(Seat::A) | None) => {
            Some(Verdict::TechnicalLoss(Seat::B))
        }
        (ResultStatus::TechnicalLoss, (true, true) | (false, false), None) => {
            Some(Verdict::BothLost)
        }
        (ResultStatus::TechnicalLoss, (false, false), Some(winner)) => {
            Some(Verdict::TechnicalLoss(winner.other()))
        }
        (ResultStatus::Win, (false, false), Some(winner)) => Some(Verdict::Won(winner)),
        (ResultStatus::Draw, (false, false), None) => Some(Verdict::Drawn),
        _ => None,
    };
    verdict.ok_or_else(|| {
        let text = "status, winner and technical losers of the report contradict each other";
        refusal(Code::E031, text)
    })
}

fn play(message: &MatchResultReport, pairing: Pairing, verdict: Verdict) -> Play {
    let player = |seat: Seat| message.players.get(&pairing.player(seat));
    let choices = Seats::from_fn(|seat| {
        let choice = player(seat).and_then(|player| player.line.choice.as_ref());
        choice.and_then(MoveValue::made)
    });
    let nonces = Seats::from_fn(|seat| {
        player(seat).and_then(|player| player.line.nonce.as_deref().map(Into::into))
    });
    // Something that is no proof proves nothing, and is no reason to refuse the referee's report.
    let choice_proofs = Seats::from_fn(|seat| {
        let text = player(seat).and_then(|player| player.choice_proof.as_deref());
        text.and_then(|text| text.parse::<Proof>().ok()).map(Proof::bytes)
    });
    let (turns, stranded) = if verdict.was_played() {
        let drawn = message.drawn_number.map(Turn::Drawn);
        (std::iter::once(Turn::Moves(choices)).chain(drawn).collect(), Seats::default())
    } else {
        (vec![], choices)
    };
    Play { turns, stranded, nonces, choice_proofs }
}
