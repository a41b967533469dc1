//! Players that listen in another shape than they registered with.

use std::collections::BTreeMap;
use std::time::Duration;

use league_core::manager::{Event, Fact};
use league_core::verdict::Verdict;
use serde_json::json;

use crate::rpc;
use crate::shape::Shape;
use crate::stage::{LEAGUE, Plan, Stage, results};
use crate::stranger::{Others, Say, Stranger, unknown_method};

const REFUSED: Others = Others::Refused { after: Duration::ZERO };

/// The shapes that were found out, by player.
fn settled(events: &[Event]) -> BTreeMap<String, String> {
    let found = events.iter().filter_map(|event| {
        let Fact::ShapeSettled { agent, dialect } = &event.fact else { return None };
        Some((agent.to_string(), dialect.to_string()))
    });
    found.collect()
}

fn all_were_games(events: &[Event], matches: usize) {
    let recorded = results(events);
    assert_eq!(recorded.len(), matches);
    for result in &recorded {
        assert!(matches!(result.verdict, Verdict::Won(_) | Verdict::Drawn), "{result:?}");
    }
}

#[test]
fn the_shape_an_agent_answers_to_is_found_and_costs_nothing() {
    let mut stage = Stage::open(&Plan::players(4));
    stage.seat_referee();
    let said = [
        (Shape::Flat, "typed"),
        (Shape::Typed, "flat"),
        (Shape::V21, "enveloped"),
        (Shape::Enveloped, "wrapped"),
    ];
    let players: Vec<Stranger> = said
        .iter()
        .map(|(shape, dialect)| {
            let player = Stranger::player(*shape);
            player.take_other_shapes(REFUSED);
            player.register_with(&stage, json!({"dialect": dialect}));
            player
        })
        .collect();
    let events = stage.whole_league();
    all_were_games(&events, 6);
    let found = settled(&events);
    assert_eq!(found["P01"], "flat");
    assert_eq!(found["P02"], "typed");
    assert_eq!(found["P04"], "enveloped");
    for player in &players {
        // What a player did not understand it did not do, and what it did was asked for once.
        for kind in ["GAME_INVITATION", "CHOOSE_PARITY_CALL"] {
            assert_eq!(player.all(kind).len(), 3, "{:?} {kind}", player.shape);
        }
    }
    let page = rpc::page(stage.address, "GET", &format!("/api/v1/leagues/{LEAGUE}/agents"));
    let first = &page.json()["agents"][0];
    assert_eq!(
        (&first["dialect"], &first["registered_dialect"]),
        (&json!("flat"), &json!("typed"))
    );
    let remark = first["remark"].as_str().unwrap();
    assert!(remark.ends_with("; answers to flat, registered with typed"), "{remark}");
    drop(players);
    stage.close();
}

/// Two players that do not know one kind of news, and what they do about other shapes.
fn keep_their_shape(others: Others) {
    let mut stage = Stage::open(&Plan::players(2));
    stage.seat_referee();
    let players = [Shape::Flat, Shape::Typed].map(|shape| {
        let player = Stranger::player_that(shape, |call| match call.kind {
            "ROUND_ANNOUNCEMENT" => Say::Body(unknown_method(&call.id)),
            _ => Say::Usual,
        });
        player.take_other_shapes(others);
        player.register(&stage);
        player
    });
    let events = stage.whole_league();
    all_were_games(&events, 1);
    assert!(settled(&events).is_empty());
    drop(players);
    stage.close();
}

#[test]
fn a_server_that_stumbles_over_other_shapes_keeps_its_own() {
    keep_their_shape(Others::Stumbled);
}

#[test]
fn who_does_not_know_some_news_keeps_its_shape() {
    keep_their_shape(REFUSED);
}

#[test]
fn who_says_yes_to_everything_keeps_its_shape() {
    keep_their_shape(Others::Swallowed);
}

#[test]
fn a_search_takes_none_of_the_time_of_a_slow_player() {
    let mut stage = Stage::open(&Plan::players(2).with("invitation_timeout", "2s"));
    stage.seat_referee();
    // Five shapes, half a second each, are more than the window of an invitation.
    let slow = Stranger::player_that(Shape::Enveloped, |call| match call.kind {
        "PING" => Say::Body(unknown_method(&call.id)),
        _ => Say::Usual,
    });
    slow.take_other_shapes(Others::Refused { after: Duration::from_millis(500) });
    slow.register_with(&stage, json!({"dialect": "flat"}));
    let quick = Stranger::player(Shape::Flat);
    quick.register(&stage);
    let events = stage.whole_league();
    all_were_games(&events, 1);
    assert_eq!(slow.all("GAME_INVITATION").len(), 1);
    drop((slow, quick));
    stage.close();
}

#[test]
fn what_may_have_been_done_is_not_asked_in_another_shape() {
    let mut stage = Stage::open(&Plan::players(2));
    stage.seat_referee();
    let unlucky = Stranger::player_that(Shape::Flat, |call| match call.kind {
        "CHOOSE_PARITY_CALL" => {
            let error = json!({"code": -32602, "message": "saved nothing: a path is required"});
            Say::Body(json!({"jsonrpc": "2.0", "error": error, "id": call.id}).to_string())
        }
        _ => Say::Usual,
    });
    unlucky.register(&stage);
    let other = Stranger::player(Shape::Flat);
    other.register(&stage);
    let events = stage.whole_league();
    assert!(settled(&events).is_empty());
    // Its shape is its own, so that another one would have been a fault of ours.
    drop((unlucky, other));
    stage.close();
}
