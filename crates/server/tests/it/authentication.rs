//! Who may report what: tokens, and what is never repeated in an error.

use league_core::manager::Fact;
use serde_json::{Value, json};

use crate::rpc::{self, Reply};
use crate::shape::{Shape, Stamp};
use crate::stage::{LEAGUE, Plan, Stage};
use crate::stranger::{Call, Stranger};

/// A league with two foreign referees and four players in which every match has been handed out.
struct Scene {
    stage: Stage,
    players: Vec<Stranger>,
    referees: Vec<Stranger>,
}

fn scene() -> Scene {
    let stage = Stage::open(&Plan::players(4));
    let referees = vec![Stranger::referee(), Stranger::referee()];
    referees.iter().for_each(|referee| drop(referee.register(&stage)));
    let players: Vec<_> = Shape::ALL.into_iter().map(Stranger::player).collect();
    players.iter().for_each(|player| drop(player.register(&stage)));
    Scene { stage, players, referees }
}

fn report(stage: &Stage, (sender, token): (&str, &str), order: &Call) -> Reply {
    let player = |at: usize| order.message["players"][at]["player_id"].as_str().unwrap();
    let (a, b) = (player(0), player(1));
    let fields = json!({
        "league_id": LEAGUE, "match_id": order.message["match_id"], "round_id": 1,
        "result": {
            "winner": a, "score": {a: 3, b: 0},
            "details": {"drawn_number": 8, "choices": {a: "even", b: "odd"}},
        },
    });
    let stamp = Stamp::new(sender, "conv-report", token);
    let names = ("report_match_result", "MATCH_RESULT_REPORT");
    rpc::send(stage.address, &Shape::Flat.request(names, &stamp, fields))
}

// req: AUTH-2, AUTH-3, RESULT-2
#[test]
fn a_result_needs_the_token_of_the_referee_that_has_the_match() {
    let Scene { stage, players, referees } = scene();
    let (first, second) = (referees[0].me(), referees[1].me());
    let orders = [referees[0].nth(1, "START_MATCH"), referees[1].nth(1, "START_MATCH")];
    let player = players[0].me();
    for (sender, token, order, code) in [
        ("referee:REF01", "", &orders[0], "E011"),
        ("referee:REF01", "tok_referee_REF01_guess", &orders[0], "E012"),
        ("referee:REF01", second.token.as_str(), &orders[0], "E012"),
        ("referee:REF01", player.token.as_str(), &orders[0], "E012"),
        ("player:P01", first.token.as_str(), &orders[0], "E012"),
        ("player:P01", player.token.as_str(), &orders[0], "E012"),
        ("referee:REF07", first.token.as_str(), &orders[0], "E005"),
        ("league_manager", first.token.as_str(), &orders[0], "E005"),
        ("referee:REF02", second.token.as_str(), &orders[0], "E030"),
        ("referee:REF01", first.token.as_str(), &orders[1], "E030"),
    ] {
        let reply = report(&stage, (sender, token), order);
        assert_eq!(reply.code(), code, "{sender}");
        assert!(!reply.body.contains("tok_"), "{}", reply.body);
        assert_eq!(reply.error()["data"]["message_type"], "LEAGUE_ERROR");
    }
    let refused = stage.events_now();
    let noted = |fact: &Fact| matches!(fact, Fact::ReportRefused { .. });
    assert_eq!(refused.iter().filter(|event| noted(&event.fact)).count(), 2);
    let accepted = report(&stage, ("referee:REF01", &first.token), &orders[0]);
    assert_eq!(accepted.result()["message_type"], "MATCH_RESULT_ACK");
}

// req: AUTH-3
#[test]
fn errors_about_malformed_messages_never_repeat_a_token() {
    let Scene { stage, referees, .. } = scene();
    let token = referees[0].me().token;
    let stamp = Stamp::new("referee:REF01", "conv-report", &token);
    let names = ("report_match_result", "MATCH_RESULT_REPORT");
    let good = Shape::Flat.request(names, &stamp, json!({"league_id": LEAGUE}));
    let mangled: [fn(&mut Value, &str); 6] = [
        |request, token| request["params"]["sender"] = json!(token),
        |request, token| request["params"]["timestamp"] = json!(token),
        |request, token| request["params"]["match_id"] = json!(token),
        |request, token| request["method"] = json!(token),
        |request, token| request["params"]["auth_token"] = json!([token]),
        |request, token| request["params"][token] = json!(1),
    ];
    for mangle in mangled {
        let mut request = good.clone();
        mangle(&mut request, &token);
        let reply = stage.send(&request);
        assert!(reply.json().get("error").is_some(), "{request}");
        assert!(!reply.body.contains(&token), "{}", reply.body);
    }
}

// req: AUTH-3
#[test]
fn the_books_never_hold_a_token() {
    let Scene { stage, players, referees } = scene();
    let events = stage.events_now();
    let books = format!("{events:?}");
    for agent in players.iter().chain(&referees) {
        let token = agent.me().token;
        let secret = token.rsplit('_').next().unwrap();
        assert!(!books.contains(secret), "{token}");
    }
}
