//! Addresses where nobody answers: they are left alone for a while, and nobody loses by that alone.

use std::path::Path;

use league_core::policy::RuleSet;
use league_core::seat::Seat;
use league_core::verdict::Verdict;
use league_server::journal::sqlite::SqliteView;
use league_server::record::{Entry, Found, Kind, LeagueRecord};
use tempfile::TempDir;

use crate::shape::Shape;
use crate::stage::{LEAGUE, Plan, Stage, results};
use crate::stranger::Stranger;

/// Five refused calls open a breaker well inside an invitation's window.
fn plan() -> Plan {
    let plan = Plan::players(2).under(RuleSet::V21).with("choice_backoff", "fixed 20ms");
    plan.with("invitation_timeout", "1s").with("breaker_open", "1500ms")
}

/// What happened with a player in the only match of the record.
fn happened(data: &Path, player: &str) -> Vec<(Kind, String)> {
    let view = SqliteView::open(data).unwrap();
    let record = LeagueRecord::read(&view, &LEAGUE.parse().unwrap()).unwrap();
    let only = record.matches.values().next().expect("there is a match");
    let found = record.transcript(&view, only).unwrap();
    let Found::Ours(transcript) = found else { panic!("{found:?}") };
    let about = |entry: &&Entry| entry.peer.as_deref() == Some(player);
    let entries = transcript.entries.iter().filter(about);
    entries.map(|entry| (entry.kind, entry.name.clone().unwrap_or_default())).collect()
}

fn events(all: &[(Kind, String)]) -> Vec<&str> {
    let events = all.iter().filter(|(kind, _)| *kind == Kind::Event);
    events.map(|(_, name)| name.as_str()).filter(|name| *name != "retry").collect()
}

/// A league whose first player has left, at the moment when both are invited.
fn scene(data: &Path, plan: &Plan) -> (Stage, [Stranger; 2]) {
    let mut stage = Stage::open_in(data, plan);
    stage.seat_referee();
    let players = [Stranger::player(Shape::Flat), Stranger::player(Shape::Flat)];
    players[0].register(&stage);
    players[0].leave();
    players[1].register(&stage);
    players[1].nth(1, "GAME_INVITATION");
    (stage, players)
}

// req: ERR-4, MATCH-2
#[test]
fn a_dead_player_is_called_five_times_then_left_alone_then_tried_once_more() {
    let data = TempDir::new().unwrap();
    let (stage, players) = scene(data.path(), &plan());
    let recorded = results(&stage.whole_league());
    assert_eq!(recorded[0].verdict, Verdict::TechnicalLoss(Seat::A), "{}", recorded[0].reason);
    players[1].nth(1, "GAME_OVER");
    stage.close();
    let all = happened(data.path(), "P01");
    let told = events(&all);
    assert_eq!(told.iter().filter(|name| **name == "breaker_open").count(), 2, "{told:?}");
    assert_eq!(told.iter().filter(|name| **name == "postponed").count(), 1, "{told:?}");
    let at = |wanted: &str| all.iter().position(|(_, name)| name == wanted).unwrap();
    let (opened, tried) = (at("breaker_open"), at("breaker_trial"));
    assert!(opened < at("postponed") && at("postponed") < tried, "{told:?}");
    let failed = |part: &[(Kind, String)]| part.iter().filter(|e| e.0 == Kind::Failed).count();
    assert_eq!(failed(&all[..opened]), 5, "{all:?}");
    assert_eq!(failed(&all[opened..tried]), 0, "nobody calls: {all:?}");
    assert!(failed(&all[tried..]) >= 1, "the invitation is the trial: {all:?}");
    assert!(told.contains(&"not_told"), "what nobody hears is not said: {told:?}");
    assert!(told.contains(&"lost"), "{told:?}");
}

// req: ERR-4
#[test]
fn a_player_that_is_back_for_the_trial_plays_and_hears_what_it_missed() {
    let data = TempDir::new().unwrap();
    let plan = plan().with("breaker_failures", "1").with("suspend_connection_errors", "100");
    let (stage, players) = scene(data.path(), &plan);
    players[0].come_home();
    let recorded = results(&stage.whole_league());
    let verdict = recorded[0].verdict;
    assert!(matches!(verdict, Verdict::Won(_) | Verdict::Drawn), "{}", recorded[0].reason);
    players[0].nth(1, "GAME_OVER");
    players[0].nth(1, "ROUND_ANNOUNCEMENT");
    stage.close();
    let all = happened(data.path(), "P01");
    let told = events(&all);
    let wanted = ["breaker_open", "postponed", "breaker_trial", "breaker_closed", "joined"];
    let at: Vec<_> = wanted.iter().map(|name| told.iter().position(|one| one == name)).collect();
    assert!(at.iter().all(Option::is_some) && at.is_sorted(), "{told:?}");
}
