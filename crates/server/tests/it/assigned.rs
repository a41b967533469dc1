//! Referees that ask for their matches instead of waiting for them, or answer when they are over.

use std::time::Duration;

use league_agent::ambient::Mark;
use league_core::manager::{Event, Fact};
use serde_json::{Value, json};

use crate::foreign_referee::nested;
use crate::rpc::{self, Reply};
use crate::shape::Shape;
use crate::stage::{LEAGUE, Plan, Stage, join_key, results};
use crate::stranger::{Call, Say, Stranger};

fn poll(stage: &Stage, referee: &Stranger, more: &Value) -> Reply {
    let mut fields = json!({"league_id": LEAGUE});
    crate::shape::merge(&mut fields, more.clone());
    referee.call(stage.address, ("get_assigned_matches", "GET_ASSIGNED_MATCHES"), fields)
}

fn assignments(reply: &Reply) -> Vec<Value> {
    let result = reply.result();
    assert_eq!(result["message_type"], "ASSIGNED_MATCHES");
    result["assignments"].as_array().expect("a list").clone()
}

fn report(stage: &Stage, referee: &Stranger, order: &Call) {
    let player = |at: usize| order.message["players"][at]["player_id"].as_str().unwrap();
    let (a, b) = (player(0), player(1));
    let fields = json!({
        "league_id": LEAGUE, "match_id": order.message["match_id"], "round_id": 1,
        "result": {
            "winner": a, "score": {a: 3, b: 0},
            "details": {"drawn_number": 8, "choices": {a: "even", b: "odd"}},
        },
    });
    let names = ("report_match_result", "MATCH_RESULT_REPORT");
    referee.call(stage.address, names, fields).result();
}

// req: ARCH-4
#[test]
fn a_referee_that_asks_gets_exactly_its_own_open_matches() {
    let stage = Stage::open(&Plan::players(6));
    let (referee, other) = (Stranger::referee(), Stranger::referee());
    referee.register(&stage);
    other.register(&stage);
    assert!(assignments(&poll(&stage, &referee, &json!({}))).is_empty(), "nothing has begun");
    let players: Vec<_> = (0..6).map(|_| Stranger::player(Shape::Flat)).collect();
    players.iter().for_each(|player| drop(player.register(&stage)));
    let order = referee.nth(1, "START_MATCH");
    let given = assignments(&poll(&stage, &referee, &json!({})));
    let theirs = assignments(&poll(&stage, &other, &json!({})));
    assert_eq!(given.len() + theirs.len(), 3, "the round has three matches");
    let same = given.iter().find(|one| one["match_id"] == order.message["match_id"]).unwrap();
    for field in ["round_id", "attempt", "game_type", "rules", "players", "draw_commitment"] {
        assert_eq!(same[field], order.message[field], "{field}");
    }
    assert!(same["players"][0]["match_proof"].is_string(), "{same}");
    assert!(given.iter().all(|one| !theirs.contains(one)));
    assert_eq!(assignments(&poll(&stage, &referee, &json!({"limit": 1}))).len(), 1);
    report(&stage, &referee, &order);
    let after = assignments(&poll(&stage, &referee, &json!({})));
    assert!(after.iter().all(|one| one["match_id"] != order.message["match_id"]), "it is over");

    let asked = poll(&stage, &players[0], &json!({}));
    assert_eq!(asked.code(), "E012", "only a referee may ask");
    referee.assume(crate::stranger::Identity { id: "REF01".into(), token: "tok_guess".into() });
    assert_eq!(poll(&stage, &referee, &json!({})).code(), "E012");
}

#[test]
fn a_referee_that_answers_only_when_the_match_is_over_is_told_once_and_keeps_it() {
    let mut stage = Stage::open(&Plan::players(2).with("default_timeout", "200ms"));
    let silent = Stranger::referee_that(|call| match call.kind {
        "START_MATCH" => Say::Nothing,
        _ => Say::Usual,
    });
    silent.register_with(&stage, json!({"join_key": join_key()}));
    stage.seat_referee();
    let players = [Stranger::player(Shape::Flat), Stranger::player(Shape::Typed)];
    players.iter().for_each(|player| drop(player.register(&stage)));
    let order = silent.nth(1, "START_MATCH");
    // What comes after the time for an answer shows that it has passed.
    let path = format!("/api/v1/leagues/{LEAGUE}/agents");
    let is_missed = || {
        let agents = rpc::page(stage.address, "GET", &path).json()["agents"].clone();
        let agents = agents.as_array().unwrap().clone();
        agents.iter().any(|one| one["agent_id"] == "REF01" && !one["not_reached_since"].is_null())
    };
    let waiting = Mark::set();
    while !is_missed() {
        assert!(waiting.elapsed() < Duration::from_secs(20), "it is noticed");
        std::thread::yield_now();
    }
    let names = ("report_match_result", "MATCH_RESULT_REPORT");
    silent.call(stage.address, names, nested(&order)).result();
    let events = stage.whole_league();
    let recorded = results(&events);
    assert_eq!((recorded.len(), recorded[0].attempt), (1, 1));
    assert_eq!(recorded[0].referee.to_string(), "REF01");
    let passed = |event: &&Event| matches!(event.fact, Fact::MatchPassedOn { .. });
    assert_eq!(events.iter().filter(passed).count(), 0);
}
