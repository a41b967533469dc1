//! Answers on our connection that contradict the call: they are invalid, and say so.

use std::sync::atomic::{AtomicUsize, Ordering};

use league_core::policy::RuleSet;
use league_core::verdict::Verdict;
use serde_json::{Value, json};

use crate::shape::Shape;
use crate::stage::{Plan, Stage, results};
use crate::stranger::{Call, Say, Stranger};

/// The message of a player with one field more.
fn with(call: &Call, (name, value): &(&'static str, Value)) -> Say {
    let match_id = &call.message["match_id"];
    let (kind, mut fields) = match call.kind {
        "GAME_INVITATION" => ("GAME_JOIN_ACK", json!({"match_id": match_id, "accept": true})),
        _ => ("CHOOSE_PARITY_RESPONSE", json!({"match_id": match_id, "parity_choice": "odd"})),
    };
    fields[*name] = value.clone();
    Say::Message(kind, fields)
}

fn play(plan: &Plan, player: &Stranger) -> league_core::manager::Recorded {
    let mut stage = Stage::open(plan);
    stage.seat_referee();
    player.register(&stage);
    let other = Stranger::player(Shape::Flat);
    other.register(&stage);
    let recorded = results(&stage.whole_league());
    let over = player.nth(1, "GAME_OVER");
    assert_eq!(over.message["match_id"], "R1M1");
    recorded.into_iter().next().expect("one match")
}

fn patient() -> Plan {
    Plan::players(2).under(RuleSet::V21).with("choice_backoff", "fixed 20ms")
}

// req: WIRE-6, MATCH-5
#[test]
fn a_choice_that_contradicts_the_call_is_invalid_and_may_be_repeated() {
    for (field, code, expected) in [
        (("sender", json!("player:P02")), "E003", "\"player:P01\""),
        (("sender", json!("referee:REF01")), "E003", "\"player:P01\""),
        (("player_id", json!("P02")), "E003", "\"P01\""),
        (("conversation_id", json!("another")), "E015", "\"convr1m1"),
        (("round_id", json!(9)), "E015", "\"1\""),
        (("league_id", json!("other")), "E003", "\""),
        (("game_type", json!("chess")), "E003", "\"even_odd\""),
    ] {
        let (name, asked) = (field.0, AtomicUsize::new(0));
        let player = Stranger::player_that(Shape::Typed, move |call| {
            let is_first = || asked.fetch_add(1, Ordering::SeqCst) == 0;
            match call.kind {
                "CHOOSE_PARITY_CALL" if is_first() => with(call, &field),
                _ => Say::Usual,
            }
        });
        let recorded = play(&patient(), &player);
        assert!(recorded.verdict.was_played(), "{name}: {}", recorded.reason);
        let error = player.nth(1, "GAME_ERROR");
        let told = error.text("error_description");
        assert_eq!(error.text("error_code"), code, "{told}");
        assert!(told.contains(&format!("`result.{name}`: expected {expected}")), "{told}");
        assert!(told.contains(&format!("change `result.{name}` to {expected}")), "{told}");
    }
}

// req: WIRE-6
#[test]
fn who_joins_as_somebody_else_has_not_joined() {
    let plan = patient().with("invitation_timeout", "500ms");
    let player = Stranger::player_that(Shape::Typed, |call| match call.kind {
        "GAME_INVITATION" => with(call, &("player_id", json!("P02"))),
        _ => Say::Usual,
    });
    let recorded = play(&plan, &player);
    assert!(matches!(recorded.verdict, Verdict::TechnicalLoss(_)), "{recorded:?}");
    let fix = "got \"P02\"; change `result.player_id` to \"P01\"";
    assert!(recorded.reason.contains(fix), "{}", recorded.reason);
}

// req: WIRE-6
#[test]
fn what_an_answer_says_as_the_call_does_is_fine() {
    for field in [
        ("sender", json!("player:P01")),
        ("player_id", json!("P01")),
        ("round_id", json!("R1")),
        ("game_type", json!("even_odd")),
        ("league_id", Value::Null),
    ] {
        let player = Stranger::player_that(Shape::Typed, move |call| match call.kind {
            "GAME_INVITATION" | "CHOOSE_PARITY_CALL" => with(call, &field),
            _ => Say::Usual,
        });
        let recorded = play(&patient(), &player);
        assert!(recorded.verdict.was_played(), "{}", recorded.reason);
        assert_eq!(player.all("GAME_ERROR").len(), 0);
    }
}
