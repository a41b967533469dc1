//! What only players of document 004 are told: that a round begins, and how its matches ended.

use std::collections::BTreeMap;

use league_core::id::{MatchId, PlayerId, RoundId};
use league_core::manager::League;
use league_core::schedule::Pairing;
use league_core::seat::Seats;
use league_core::verdict::Verdict;
use league_wire::message::{MatchOutcome, RoundResult, RoundStart};
use league_wire::{Listed, ResultStatus};

use super::news::Notice;
use crate::limits::LIST_WHOLE_MAX;

/// The beginning of the round that is open, if `round` is.
pub(super) fn round_start(league: &League, round: RoundId) -> Option<Notice> {
    let open = league.open_round().filter(|open| open.id == round)?;
    Some(Notice::RoundStart(RoundStart {
        round_id: round,
        total_matches: u32::try_from(open.matches.len()).ok(),
        total_rounds: league.rounds_total(),
    }))
}

/// How the matches of `round` ended.
pub(super) fn round_result(league: &League, round: RoundId) -> Option<Notice> {
    let results = league.past().get(round.number() as usize - 1)?;
    let matches = results.matches.iter().enumerate();
    let outcomes: Vec<MatchOutcome> = matches
        .map(|(index, (pairing, verdict))| {
            outcome(MatchId::from_index(round, index), *pairing, *verdict)
        })
        .collect();
    let is_whole = outcomes.len() <= LIST_WHOLE_MAX;
    let own = (!is_whole).then(|| by_player(&outcomes));
    let listed = if is_whole {
        Listed::Encoded(MatchOutcome::encode_list(&outcomes))
    } else {
        Listed::Items(vec![])
    };
    let message = RoundResult {
        round_id: round,
        results: listed,
        total_matches: u32::try_from(outcomes.len()).ok(),
        more: (!is_whole).then(|| "ask with LEAGUE_QUERY GET_SCHEDULE".into()),
    };
    Some(Notice::RoundResult { message, own })
}

fn outcome(match_id: MatchId, pairing: Pairing, verdict: Verdict) -> MatchOutcome {
    MatchOutcome {
        match_id,
        players: Seats::new(pairing.a, pairing.b),
        status: match verdict {
            Verdict::Won(_) => ResultStatus::Win,
            Verdict::Drawn => ResultStatus::Draw,
            Verdict::TechnicalLoss(_) | Verdict::BothLost => ResultStatus::TechnicalLoss,
            Verdict::Cancelled => ResultStatus::Cancelled,
        },
        winner: verdict.winner().map(|seat| pairing.player(seat)),
    }
}

fn by_player(outcomes: &[MatchOutcome]) -> BTreeMap<PlayerId, MatchOutcome> {
    let both = outcomes.iter().flat_map(|it| [(it.players.a, it), (it.players.b, it)]);
    both.map(|(player, outcome)| (player, outcome.clone())).collect()
}
