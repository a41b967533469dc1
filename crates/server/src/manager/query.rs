//! LEAGUE_QUERY: what a registered agent may ask, answered from the published league.
//!
//! Endpoints, e-mail addresses, join codes and tokens are nobody's business, and what happens in a
//! match is its referee's alone until it has ended.

use league_agent::ambient;
use league_agent::desk::refusal;
use league_core::game::{self, Move};
use league_core::id::{AgentId, MatchId, PlayerId, RoundId};
use league_core::manager::{Filed, League, Phase, Player, Profile};
use league_core::roster::AgentState;
use league_core::seat::Seat;
use league_core::verdict::Verdict;
use league_wire::message::{ErrorReport, LeagueQuery, LeagueQueryResponse};
use league_wire::{Code, Fragment, QueryType, iso};
use serde_json::{Value, json};

use super::figures::Figures;
use super::view;
use crate::limits::QUERY_ENTRIES_MAX;

type Answered = Result<Value, Box<ErrorReport>>;

/// Answers a question of `asker`; of anybody if it is no agent.
pub(super) fn answer(
    league: &League,
    figures: &Figures,
    asker: Option<AgentId>,
    query: &LeagueQuery,
) -> Result<LeagueQueryResponse, Box<ErrorReport>> {
    let data = match query.query_type {
        QueryType::Standings => standings(league, query)?,
        QueryType::Schedule => schedule(league, query),
        QueryType::NextMatch => next_match(league, player_of(asker, query)?)?,
        QueryType::PlayerStats => player_stats(league, figures, player_of(asker, query)?)?,
        QueryType::AgentState => agent_state(league, figures, agent_of(asker, query)?)?,
        QueryType::Match => match_of(league, asker, query)?,
        QueryType::League => overview(league),
        QueryType::Registrations => registrations(league, query),
        QueryType::Games => games(),
    };
    let data = Fragment::parse(&data.to_string()).expect("an answer is shallow JSON");
    Ok(LeagueQueryResponse { query_type: query.query_type, data })
}

/// What can be played here.
pub(super) fn games() -> Value {
    json!({ "games": game::NAMES })
}

fn standings(league: &League, query: &LeagueQuery) -> Answered {
    let rows = match query.round_id {
        None => league.table(),
        Some(round) if round.number() as usize <= league.past().len() => league.table_after(round),
        Some(round) => {
            let text = format!("round {round} has not ended; there is no table of its end yet");
            return Err(refusal(Code::E003, &text));
        }
    };
    Ok(page("standings", query, &rows, |row| view::standing(league, row)))
}

fn schedule(league: &League, query: &LeagueQuery) -> Value {
    // Whoever asks often in a large league must not keep us busy with rounds that nobody sees.
    let most = offset(query).saturating_add(QUERY_ENTRIES_MAX + 1);
    let matches: Vec<MatchId> = match (query.round_id, query.agent_id) {
        (Some(round), None) => round_matches(league, round).collect(),
        (first, Some(AgentId::Player(player))) => {
            let first = first.unwrap_or(RoundId::FIRST);
            league.schedule_of(player, first).map(|(id, _)| id).take(most).collect()
        }
        (None, None | Some(AgentId::Referee(_))) | (Some(_), Some(AgentId::Referee(_))) => {
            let rounds = std::iter::successors(Some(RoundId::FIRST), |round| Some(round.next()));
            let rounds = rounds.map_while(|round| {
                let mut matches = round_matches(league, round).peekable();
                matches.peek().is_some().then_some(matches)
            });
            rounds.flatten().take(most).collect()
        }
    };
    let mut page = page("matches", query, &matches, |id| match_json(league, *id));
    if matches.len() == most {
        // There are more than were looked at.
        page["total"] = json!(view::matches_total(league).filter(|_| query.agent_id.is_none()));
    }
    page
}

fn round_matches(league: &League, round: RoundId) -> impl Iterator<Item = MatchId> {
    let pairings = league.round(round).map_or(0, |round| round.pairings.len());
    (0..pairings).map(move |index| MatchId::from_index(round, index))
}

fn offset(query: &LeagueQuery) -> usize {
    query.offset.unwrap_or(0) as usize
}

fn next_match(league: &League, player: PlayerId) -> Answered {
    known(league, player)?;
    let next = league.next_match(player).map(|(id, _)| match_json(league, id));
    Ok(json!({ "player_id": player.to_string(), "next_match": next }))
}

fn player_stats(league: &League, figures: &Figures, id: PlayerId) -> Answered {
    let player = known(league, id)?;
    let rows = league.table();
    let row = rows.iter().find(|row| row.player == id);
    let history: Vec<Value> = player
        .history
        .iter()
        .map(|past| {
            json!({
                "match_id": past.match_id.to_string(),
                "opponent_id": past.opponent.to_string(),
                "your_choice": past.own.as_ref().map(told),
                "opponent_choice": past.theirs.as_ref().map(told),
                "points": past.score.points(league.policy()),
                "drawn_number": past.number,
            })
        })
        .collect();
    let mut stats = json!({
        "player_id": id.to_string(),
        "display_name": player.profile.display_name,
        "standing": row.map(|row| view::standing(league, row)),
        "history": history,
        "figures_since": figures.since(),
    });
    for (name, figure) in figures.of(league, AgentId::Player(id)) {
        stats[name] = figure;
    }
    Ok(stats)
}

fn told(made: &Move) -> Value {
    match made {
        Move::Word(word) => json!(word.as_str()),
        Move::Number(number) => json!(number),
    }
}

fn agent_state(league: &League, figures: &Figures, agent: AgentId) -> Answered {
    let Some(lifecycle) = league.lifecycle(agent) else {
        return Err(refusal(Code::E013, &format!("there is no {agent} in this league")));
    };
    let state = lifecycle.state();
    let until = match state {
        AgentState::Suspended { until, .. } => Some(iso::format(*until)),
        AgentState::Init
        | AgentState::Registered
        | AgentState::Active
        | AgentState::Shutdown { .. } => None,
    };
    let mut told = json!({
        "agent_id": agent.to_string(),
        "state": state.kind().to_string(),
        "recovery_deadline": until,
        "failures": lifecycle.failures(),
    });
    if let Some(deviations) = figures.deviations(league, agent) {
        told["deviations"] = deviations;
    }
    Ok(told)
}

fn match_of(league: &League, asker: Option<AgentId>, query: &LeagueQuery) -> Answered {
    let Some(id) = query.match_id else {
        return Err(refusal(Code::E003, "match_id: GET_MATCH needs the match it asks about"));
    };
    let Some(record) = league.match_record(id) else {
        return Err(refusal(Code::G003, &format!("there is no match {id} in this league")));
    };
    let mut shown = match_json(league, id);
    let is_theirs = match asker {
        Some(AgentId::Player(player)) => record.pairing.seat_of(player).is_some(),
        Some(AgentId::Referee(referee)) => record.referee == Some(referee),
        None => false,
    };
    // Addresses may stand in it, which are nobody else's business.
    if let Some(reason) = league.reason_of(id).filter(|_| is_theirs) {
        shown["reason"] = json!(reason);
    }
    Ok(shown)
}

fn match_json(league: &League, id: MatchId) -> Value {
    let Some(record) = league.match_record(id) else { return Value::Null };
    let player = |seat: Seat| record.pairing.player(seat);
    let verdict = record.filed.map(|filed| filed.verdict);
    let reported = record.filed.filter(|filed| filed.referee.is_some());
    let mut shown = json!({
        "match_id": id.to_string(),
        "round_id": id.round.number(),
        "player_A_id": player(Seat::A).to_string(),
        "player_B_id": player(Seat::B).to_string(),
        "referee_id": record.referee.map(|referee| referee.to_string()),
        "status": verdict.map_or_else(|| unfinished(league, id), status),
        "winner": verdict.and_then(Verdict::winner).map(|seat| player(seat).to_string()),
    });
    if let Some(Filed { draw, choices, .. }) = reported {
        let (a, b) = (player(Seat::A).to_string(), player(Seat::B).to_string());
        let choices = json!({ a: choices.a.word(), b: choices.b.word() });
        shown["evidence"] = json!({ "draw": draw.word(), "choices": choices });
    }
    shown
}

/// How a match without a result stands, as far as the manager knows.
fn unfinished(league: &League, id: MatchId) -> &'static str {
    let begun = league.open_round().filter(|round| round.starts_at <= ambient::now());
    match league.open_match(id).filter(|_| begun.is_some()) {
        None => "SCHEDULED",
        Some(open) if open.stuck.is_some() => "STUCK",
        Some(_) => "RUNNING",
    }
}

const fn status(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Won(_) => "WIN",
        Verdict::Drawn => "DRAW",
        Verdict::TechnicalLoss(_) | Verdict::BothLost => "TECHNICAL_LOSS",
        Verdict::Cancelled => "CANCELLED",
    }
}

fn overview(league: &League) -> Value {
    let charter = league.charter();
    let round = league.open_round().map(|round| round.id.number());
    json!({
        "league_id": league.id().as_str(),
        "status": phase(league),
        "game_type": charter.game.as_str(),
        "format": charter.format,
        "rules": charter.rule_set,
        "players": league.players().len(),
        "players_max": charter.players_max,
        "referees": league.referees().len(),
        "current_round": round,
        "rounds_completed": league.past().len(),
        "total_rounds": league.rounds_total(),
    })
}

fn phase(league: &League) -> &'static str {
    match league.phase() {
        Phase::Registering => "REGISTERING",
        Phase::BetweenRounds { .. } | Phase::Playing(_) if league.is_paused() => "PAUSED",
        Phase::BetweenRounds { .. } | Phase::Playing(_) => "RUNNING",
        Phase::Completed { .. } if league.is_archived() => "ARCHIVED",
        Phase::Completed { .. } => "COMPLETED",
    }
}

fn registrations(league: &League, query: &LeagueQuery) -> Value {
    let players = league.players().iter().map(|p| (AgentId::Player(p.id), &p.profile));
    let referees = league.referees().iter().map(|r| (AgentId::Referee(r.id), &r.profile));
    let agents: Vec<(AgentId, &Profile)> = players.chain(referees).collect();
    page("agents", query, &agents, |(agent, profile)| {
        let state = league.lifecycle(*agent).map(|life| life.state().kind().to_string());
        json!({
            "agent_id": agent.to_string(),
            "display_name": profile.display_name,
            "version": profile.version,
            "state": state,
        })
    })
}

/// The part of a list that was asked for, and how long it is.
fn page<T>(name: &str, query: &LeagueQuery, entries: &[T], entry: impl Fn(&T) -> Value) -> Value {
    let offset = offset(query);
    let limit = query.limit.map_or(QUERY_ENTRIES_MAX, |limit| limit as usize);
    let shown = entries.iter().skip(offset).take(limit.min(QUERY_ENTRIES_MAX));
    let shown: Vec<Value> = shown.map(entry).collect();
    json!({ name: shown, "offset": offset, "total": entries.len() })
}

fn agent_of(asker: Option<AgentId>, query: &LeagueQuery) -> Result<AgentId, Box<ErrorReport>> {
    let named = query.agent_id.or(asker);
    named.ok_or_else(|| refusal(Code::E003, "agent_id: name the agent that this is asked about"))
}

fn player_of(asker: Option<AgentId>, query: &LeagueQuery) -> Result<PlayerId, Box<ErrorReport>> {
    match agent_of(asker, query)? {
        AgentId::Player(player) => Ok(player),
        AgentId::Referee(_) => {
            Err(refusal(Code::E003, "agent_id: this is asked about a player, and names none"))
        }
    }
}

fn known(league: &League, id: PlayerId) -> Result<&Player, Box<ErrorReport>> {
    let unknown = || refusal(Code::E013, &format!("there is no player {id} in this league"));
    league.player(id).ok_or_else(unknown)
}
