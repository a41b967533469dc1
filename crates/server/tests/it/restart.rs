//! A manager that stops in the middle of a league, and the one that takes it up again.

use league_core::manager::Fact;
use league_server::manager::OpenError;
use serde_json::{Value, json};

use crate::shape::Shape;
use crate::stage::{LEAGUE, Plan, SECRET, Stage, results};
use crate::stranger::{Call, Stranger};

const REPORT: (&str, &str) = ("report_match_result", "MATCH_RESULT_REPORT");

fn drawn(order: &Call) -> Value {
    let id = |at: usize| order.message["players"][at]["player_id"].as_str().unwrap();
    let (a, b) = (id(0), id(1));
    json!({
        "league_id": LEAGUE, "match_id": order.message["match_id"],
        "round_id": order.message["round_id"],
        "result": {
            "winner": null, "score": {a: 1, b: 1},
            "details": {"drawn_number": 3, "choices": {a: "odd", b: "odd"}},
        },
    })
}

// req: OBS-3
#[test]
fn a_league_goes_on_where_its_manager_stopped() {
    let data = tempfile::tempdir().unwrap();
    let stage = Stage::open_in(data.path(), &Plan::players(4));
    let address = stage.address;
    let referee = Stranger::referee();
    referee.register(&stage);
    let players: Vec<_> = Shape::ALL.into_iter().map(Stranger::player).collect();
    players.iter().for_each(|player| drop(player.register(&stage)));
    let orders = [1, 2].map(|n| referee.nth(n, "START_MATCH"));
    referee.call(address, REPORT, drawn(&orders[0])).result();
    players.iter().for_each(|player| drop(player.nth(1, "ROUND_ANNOUNCEMENT")));
    let before = stage.events_now();
    stage.close();

    let stage = Stage::reopen_in(data.path(), SECRET, address).unwrap();
    assert_eq!(stage.events_now(), before, "opening writes nothing");
    let again = referee.nth(3, "START_MATCH");
    assert_eq!(again.message["match_id"], orders[1].message["match_id"], "only what is missing");
    assert_eq!(again.message["attempt"], 1);
    assert_eq!(again.message["draw_commitment"], orders[1].message["draw_commitment"]);
    assert_eq!(again.message["players"], orders[1].message["players"]);
    players.iter().for_each(|player| drop(player.nth(2, "ROUND_ANNOUNCEMENT")));

    let repeated = referee.call(address, REPORT, drawn(&orders[0])).result();
    assert_eq!(repeated["duplicate"], true, "the token and the result are still known");
    let late = Stranger::player(Shape::Flat);
    let refused = stage.send(&late.application(&late.meta())).result();
    assert_eq!(refused["error_code"], "E019");

    referee.call(address, REPORT, drawn(&again)).result();
    for number in 4..=7 {
        let order = referee.nth(number, "START_MATCH");
        referee.call(address, REPORT, drawn(&order)).result();
    }
    let events = stage.whole_league();
    assert_eq!(results(&events).len(), 6);
    let started = |fact: &Fact| matches!(fact, Fact::LeagueStarted);
    assert_eq!(events.iter().filter(|event| started(&event.fact)).count(), 1);
    for player in &players {
        let end = player.nth(1, "LEAGUE_COMPLETED");
        assert_eq!(end.message["champion"]["points"], 3);
    }
}

// req: SCHED-5
#[test]
fn a_manager_that_stops_delivers_its_last_news() {
    let mut stage = Stage::open(&Plan::players(2));
    stage.seat_referee();
    let players = [Stranger::player(Shape::Flat), Stranger::player(Shape::Enveloped)];
    players.iter().for_each(|player| drop(player.register(&stage)));
    stage.whole_league();
    stage.close();
    for player in players {
        assert_eq!(player.all("LEAGUE_COMPLETED").len(), 1);
    }
}

#[test]
fn another_secret_cannot_open_the_books() {
    let data = tempfile::tempdir().unwrap();
    let stage = Stage::open_in(data.path(), &Plan::players(2));
    let address = stage.address;
    stage.close();
    let refused = Stage::reopen_in(data.path(), [8; 32], address).err().expect("a refusal");
    assert!(matches!(refused, OpenError::WrongSecret(_)));
    let text = refused.to_string();
    assert!(text.contains(LEAGUE) && text.contains("another secret"), "{text}");
    assert!(Stage::reopen_in(data.path(), SECRET, address).is_ok());
}
