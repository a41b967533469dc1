//! What may be read of a league, as plain JSON: nothing secret, and nothing of a match before it
//! has ended. Addresses, e-mail and who is behind an agent are shown to the administrator alone.

use league_agent::ambient;
use league_agent::endpoint::Answer;
use league_core::id::{AgentId, PlayerId};
use league_core::manager::{Alert, League, Phase, StartRule};
use league_core::standings::Row;
use league_wire::iso;
use serde_json::{Value, json};

use super::figures::Figures;
use super::members::{self, People};
use super::{Alarm, Leagues, Published, Stub, schemas, words};
use crate::limits::LIST_WHOLE_MAX;

/// Who reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reader {
    Anybody,
    /// Somebody who has shown the administrator's token.
    Administrator,
}

/// The page at `path`; `None` if it is about nothing that is shown here.
pub(super) fn page(
    leagues: &Leagues,
    figures: &Figures,
    path: &str,
    reader: Reader,
) -> Option<Answer> {
    if let Some(schema) = schemas::page(path) {
        return Some(schema);
    }
    match document(leagues, figures, path, reader) {
        Some(document) => Some(Answer::json(format!("{document}\n"))),
        None => {
            let missing = missing(leagues, path)?;
            Some(Answer::json_with_status(404, format!("{missing}\n")))
        }
    }
}

fn document(leagues: &Leagues, figures: &Figures, path: &str, reader: Reader) -> Option<Value> {
    let rest = path.strip_prefix("/api/v1/leagues")?;
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    if rest.is_empty() {
        let all = leagues.all();
        let all: Vec<_> = all.iter().map(|(_, stub)| shown(stub)).collect();
        return Some(json!({"leagues": all}));
    }
    let rest = rest.strip_prefix('/')?;
    let (id, page) = rest.split_once('/').unwrap_or((rest, ""));
    let stub = leagues.find(&id.parse().ok()?)?;
    match page {
        "" => Some(shown(&stub)),
        "standings" => Some(standings(&stub.published(), reader)),
        "agents" => Some(members::document(&stub, figures, reader)),
        _ => None,
    }
}

/// Where a league stands, and whether anybody writes it.
fn shown(stub: &Stub) -> Value {
    let published = stub.published();
    let mut shown = league(&published);
    let balks = stub.untaken().balks(&published.league);
    if let Some(alerts) = shown["alerts"].as_array_mut() {
        let room = LIST_WHOLE_MAX.saturating_sub(alerts.len());
        alerts.extend(balks.iter().take(room).map(|balk| Alarm::of_balk(balk).document()));
        if !stub.is_open() {
            alerts.insert(0, Alarm::of_closed_books().document());
        }
    }
    shown
}

/// Why there is no document at `path`, if it names a league that is not there.
fn missing(leagues: &Leagues, path: &str) -> Option<Value> {
    let rest = path.strip_prefix("/api/v1/leagues/")?;
    let name = rest.split('/').next().unwrap_or_default();
    let is_there = name.parse().is_ok_and(|id| leagues.find(&id).is_some());
    let all = leagues.all();
    let names: Vec<_> = all.iter().take(LIST_WHOLE_MAX).map(|(id, _)| id.as_str()).collect();
    let others = match names[..] {
        [] => "no other".to_string(),
        _ => format!("there are: {}", names.join(", ")),
    };
    (!is_there).then(|| json!({"error": format!("there is no league {name} here; {others}")}))
}

/// Where a league stands.
pub(super) fn league(published: &Published) -> Value {
    let (league, head) = (&published.league, &published.head);
    let charter = league.charter();
    let changed: serde_json::Map<String, Value> = league
        .policy()
        .departures()
        .into_iter()
        .map(|(key, value)| (key.to_string(), Value::String(value)))
        .collect();
    let done = matches_done(league);
    let referees = league.referees().iter().map(|referee| AgentId::Referee(referee.id));
    let waiting = referees.filter(|id| words::waits_for_approval(league, *id)).count();
    json!({
        "league_id": league.id().as_str(),
        "phase": phase(league),
        "paused": league.is_paused(),
        "closed": league.is_registration_closed(),
        "archived": league.is_archived(),
        "game": charter.game.as_str(),
        "format": charter.format,
        "rules": charter.rule_set,
        "changed_rules": changed,
        "start": start(charter.start),
        "players": league.players().len(),
        "players_max": charter.players_max,
        "referees": league.referees().len(),
        "referees_waiting": waiting,
        "round": round(league),
        "rounds_total": rounds_total(league),
        "matches_done": done,
        "matches_total": matches_total(league),
        "completed_at": completed_at(league),
        "champion": champion(league),
        "alerts": alerts(league),
        "journal_rows": head.seq.get(),
        "journal_head": head.hash.to_string(),
    })
}

fn standings(published: &Published, reader: Reader) -> Value {
    let league = &published.league;
    let people = People::of(league, reader);
    let row = |row: &Row| {
        let mut shown = standing(league, row);
        people.name(&mut shown, row.player);
        shown
    };
    let rows: Vec<_> = league.table().iter().map(row).collect();
    json!({
        "league_id": league.id().as_str(),
        "phase": phase(league),
        "round": round(league),
        "matches_done": matches_done(league),
        "matches_total": matches_total(league),
        "champion": champion(league),
        "standings": rows,
    })
}

/// One line of the table.
pub(super) fn standing(league: &League, row: &Row) -> Value {
    let record = &row.record;
    let player = league.player(row.player);
    json!({
        "rank": row.rank,
        "player_id": row.player.to_string(),
        "display_name": player.map(|player| player.profile.display_name.to_string()),
        "played": record.played,
        "wins": record.wins,
        "draws": record.draws,
        "losses": record.losses,
        "technical_losses": record.technical_losses,
        "games_lost": record.losses.saturating_sub(record.technical_losses),
        "points": record.points,
    })
}

const fn phase(league: &League) -> &'static str {
    match league.phase() {
        Phase::Registering => "registering",
        Phase::BetweenRounds { .. } => "between_rounds",
        Phase::Playing(_) => "playing",
        Phase::Completed { .. } => "completed",
    }
}

fn start(rule: StartRule) -> Value {
    match rule {
        StartRule::OnCommand => json!("manual"),
        StartRule::Players(players) => json!({"players": players}),
        StartRule::At(at) => json!({"at": iso::format(at)}),
    }
}

/// The round that is being played, or the last one.
fn round(league: &League) -> Option<u32> {
    let last = u32::try_from(league.past().len()).ok().filter(|rounds| *rounds > 0);
    league.open_round().map(|open| open.id.number()).or(last)
}

/// Known once nobody can join any more.
fn rounds_total(league: &League) -> Option<u32> {
    if matches!(league.phase(), Phase::Registering) {
        return None;
    }
    league.rounds_total()
}

pub(super) fn matches_total(league: &League) -> Option<u64> {
    rounds_total(league).and_then(|_| league.matches_total())
}

fn matches_done(league: &League) -> u64 {
    let past: usize = league.past().iter().map(|round| round.matches.len()).sum();
    let open = league.open_round();
    let now = open.map_or(0, |round| round.matches.len() - round.unfinished);
    (past + now) as u64
}

fn completed_at(league: &League) -> Option<String> {
    match league.phase() {
        Phase::Completed { at } => Some(iso::format(*at)),
        Phase::Registering | Phase::BetweenRounds { .. } | Phase::Playing(_) => None,
    }
}

/// What does not go on by itself, and what can be done about it.
fn alerts(league: &League) -> Vec<Value> {
    let overdue = league.is_start_overdue(ambient::now()).then_some(Alert::StartOverdue);
    let alerts = overdue.into_iter().chain(league.alerts()).take(LIST_WHOLE_MAX);
    alerts.map(|alert| Alarm::of(league, alert).document()).collect()
}

/// Who won, and whom only the order of registration puts behind it; nobody if nobody played.
fn champion(league: &League) -> Option<Value> {
    completed_at(league)?;
    let leaders = league.leaders();
    let (first, tied) = leaders.split_first()?;
    let table = league.table();
    let mut champion = standing(league, table.iter().find(|row| row.player == *first)?);
    champion["tied_with"] = tied.iter().take(LIST_WHOLE_MAX).map(PlayerId::to_string).collect();
    Some(champion)
}
