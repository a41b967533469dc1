//! Players that listen in another shape than they registered with.

use std::collections::BTreeMap;

use league_core::manager::{Event, Fact};
use league_core::verdict::Verdict;
use serde_json::json;

use crate::rpc;
use crate::shape::Shape;
use crate::stage::{LEAGUE, Plan, Stage, results};
use crate::stranger::{Say, Stranger, unknown_method};

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
            player.refuse_other_shapes();
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
    drop(players);
    stage.close();
}

/// Two players that do not know one kind of news, and what they do about other shapes.
fn keep_their_shape(prepare: impl Fn(&Stranger)) {
    let mut stage = Stage::open(&Plan::players(2));
    stage.seat_referee();
    let players = [Shape::Flat, Shape::Typed].map(|shape| {
        let player = Stranger::player_that(shape, |call| match call.kind {
            "ROUND_ANNOUNCEMENT" => Say::Body(unknown_method(&call.id)),
            _ => Say::Usual,
        });
        prepare(&player);
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
    keep_their_shape(Stranger::stumble_over_other_shapes);
}

#[test]
fn who_does_not_know_some_news_keeps_its_shape() {
    keep_their_shape(Stranger::refuse_other_shapes);
}
