//! Who may report what: tokens, and what is never repeated in an error.

use league_core::manager::Fact;
use serde_json::{Value, json};

use crate::rpc::{self, Reply};
use crate::shape::{Shape, Stamp};
use crate::stage::{ADMIN, LEAGUE, Plan, Stage};
use crate::stranger::{Call, Identity, Stranger};

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

/// Has the administrator do something to an agent.
fn order(stage: &Stage, action: &str, agent: &str) {
    let body = json!({"agent": agent, "reason": "the test says so"}).to_string();
    let head = format!(
        "POST /api/v1/admin/leagues/{LEAGUE}/{action} HTTP/1.1\r\nHost: here\r\n\
         Authorization: Bearer {ADMIN}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let reply = rpc::exchange(stage.address, &format!("{head}{body}"));
    assert_eq!(reply.status, 200, "{}", reply.body);
}

fn query(stage: &Stage, agent: &Stranger) -> Reply {
    let fields = json!({"league_id": LEAGUE, "query_type": "GET_AGENT_STATE"});
    agent.call(stage.address, ("league_query", "LEAGUE_QUERY"), fields)
}

/// Registers again with its own token.
fn come_back(stage: &Stage, agent: &Stranger) -> Value {
    let is_player = agent.me().id.starts_with('P');
    let (names, field) = if is_player {
        (("register_player", "LEAGUE_REGISTER_REQUEST"), "player_meta")
    } else {
        (("register_referee", "REFEREE_REGISTER_REQUEST"), "referee_meta")
    };
    let fields = json!({field: agent.meta(), "league_id": LEAGUE});
    let reply = agent.call(stage.address, names, fields).result();
    agent.shape.opened(&reply).unwrap()
}

fn progress(stage: &Stage, referee: &Stranger, order: &Call) -> Reply {
    let fields = json!({
        "league_id": LEAGUE, "match_id": order.message["match_id"], "attempt": 1,
        "game_state": "INVITING",
    });
    referee.call(stage.address, ("match_progress", "MATCH_PROGRESS"), fields)
}

// req: AUTH-4, LIFE-4
#[test]
fn the_token_of_whoever_is_banned_works_no_longer() {
    let Scene { stage, players, referees } = scene();
    let (referee, player) = (&referees[0], &players[0]);
    let order_of_match = referee.nth(1, "START_MATCH");
    assert_eq!(query(&stage, referee).status, 200);
    assert_eq!(progress(&stage, referee, &order_of_match).result()["status"], "ACCEPTED");
    order(&stage, "ban", "REF01");
    order(&stage, "ban", "P01");
    let me = referee.me();
    for reply in [
        query(&stage, referee),
        query(&stage, player),
        progress(&stage, referee, &order_of_match),
        report(&stage, ("referee:REF01", &me.token), &order_of_match),
    ] {
        assert_eq!(reply.code(), "E012", "{}", reply.body);
        assert!(reply.body.contains("banned"), "it says why: {}", reply.body);
    }
    for agent in [referee, player] {
        let refused = come_back(&stage, agent);
        assert_eq!(
            (&refused["status"], &refused["error_code"]),
            (&json!("REJECTED"), &json!("E012"))
        );
    }
    assert_eq!(query(&stage, &players[1]).status, 200, "nobody else is concerned");
    assert!(query(&stage, &players[1]).json().get("error").is_none());

    order(&stage, "reinstate", "P01");
    assert_eq!(query(&stage, player).code(), "E012", "it may only register again");
    let back = come_back(&stage, player);
    assert_eq!((&back["status"], &back["player_id"]), (&json!("ACCEPTED"), &json!("P01")));
    assert!(query(&stage, player).json().get("error").is_none());
}

// req: AUTH-4, RESULT-3
#[test]
fn after_the_league_tokens_change_nothing_any_more() {
    let stage = Stage::open(&Plan::players(2));
    let referee = Stranger::referee();
    let me = referee.register(&stage);
    let players = [Stranger::player(Shape::Flat), Stranger::player(Shape::Flat)];
    players.iter().for_each(|player| drop(player.register(&stage)));
    let order = referee.nth(1, "START_MATCH");
    let send = |me: &Identity| report(&stage, ("referee:REF01", &me.token), &order);
    assert_eq!(send(&me).result()["message_type"], "MATCH_RESULT_ACK");
    stage.whole_league();
    let books = stage.events_now().len();
    assert_eq!(send(&me).result()["message_type"], "MATCH_RESULT_ACK", "it is in the books");
    let mut other = order.clone();
    other.message["players"].as_array_mut().unwrap().reverse();
    let differs = report(&stage, ("referee:REF01", &me.token), &other);
    assert_eq!(differs.code(), "E032");
    assert_eq!(progress(&stage, &referee, &order).result()["status"], "REJECTED");
    for agent in [&referee, &players[0]] {
        let refused = come_back(&stage, agent);
        assert_eq!(
            (&refused["status"], &refused["error_code"]),
            (&json!("REJECTED"), &json!("E019"))
        );
        assert!(query(&stage, agent).json().get("error").is_none(), "everybody may look");
    }
    assert_eq!(stage.events_now().len(), books, "nothing has happened");
}
