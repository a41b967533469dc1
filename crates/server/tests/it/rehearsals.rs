//! Practice at a manager that is open for registration: players by somebody else ask for it over
//! plain HTTP, and nothing of it is in the books.

use serde_json::{Value, json};

use crate::rpc::{self, Reply};
use crate::shape::{Shape, Stamp};
use crate::stage::{ADMIN, LEAGUE, Plan, Stage};
use crate::stranger::{Call, Identity, Say, Stranger};

/// Asks for practice with a token.
fn ask(stage: &Stage, token: &str, body: &Value) -> Reply {
    let (address, body) = (stage.address, body.to_string());
    let head = format!(
        "POST /api/v1/practice HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
         Authorization: Bearer {token}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    rpc::exchange(address, &format!("{head}{body}"))
}

fn start(stage: &Stage) {
    let stamp = Stamp::new("administrator", "conv-start", ADMIN);
    let fields = json!({"league_id": LEAGUE});
    stage.send(&Shape::Flat.request(("start_league", "START_LEAGUE"), &stamp, fields)).result();
}

fn seated(stage: &Stage, shape: Shape) -> (Stranger, Identity) {
    let player = Stranger::player(shape);
    let me = player.register(stage);
    (player, me)
}

#[test]
fn a_registered_player_practises_and_nothing_of_it_is_in_the_books() {
    let stage = Stage::open(&Plan::on_command(8));
    for shape in Shape::ALL {
        let (player, me) = seated(&stage, shape);
        let before = stage.events_now().len();
        let reply = ask(&stage, &me.token, &json!({"against": "even"}));
        assert_eq!(reply.status, 200, "{shape:?}: {}", reply.body);
        let told = reply.json();
        assert!(["won", "drawn", "lost"].contains(&told["result"].as_str().unwrap()), "{told:#}");
        assert_eq!(told["opponent_choice"], "even");
        let number = told["drawn_number"].as_u64().unwrap();
        let why = told["why"].as_str().unwrap();
        assert!(why.contains(&format!("number was {number}")), "{why}");
        assert_eq!(told["response_ms"].as_array().unwrap().len(), 2);
        let entries = told["transcript"]["entries"].as_array().unwrap();
        let bodies = entries.iter().filter(|entry| entry["body"].is_object());
        assert!(bodies.count() >= 6, "what was said, both ways: {told:#}");
        assert!(!reply.body.contains(&me.token), "no token in what is shown");
        // It was really asked, and no league match is called like it.
        let over = player.nth(1, "GAME_OVER");
        assert_eq!(over.text("match_id"), told["match_id"].as_str().unwrap());
        assert!(over.match_id().round.number() > 100_000);
        assert_eq!(stage.events_now().len(), before, "the books are as they were");
    }
    let published = stage.stub.published();
    assert!(published.league.table().iter().all(|row| row.record.played == 0));
}

#[test]
fn only_the_player_itself_may_ask_and_is_told_what_else_is_wrong() {
    let stage = Stage::open(&Plan::on_command(8));
    let (_player, me) = seated(&stage, Shape::Flat);
    let (_other, other) = seated(&stage, Shape::Flat);
    let nothing = json!({});
    for (token, body, status, text) in [
        ("", &nothing, 401, "no token was shown"),
        ("tok_player_P01_00", &nothing, 403, "no token of a player"),
        (&other.token.replace("P02", "P01"), &nothing, 403, "no token of a player"),
        (&me.token, &json!({"player_id": "P02"}), 403, "no token of a player"),
        (&me.token, &json!({"against": "luck"}), 400, "against is one of random, even"),
        (&me.token, &json!({"agianst": "even"}), 400, "`agianst` is not known here"),
        (&me.token, &json!({"against": 7}), 400, "`against` is not a text"),
        (&me.token, &json!({"league_id": "elsewhere"}), 403, "no token of a player"),
    ] {
        let reply = ask(&stage, token, body);
        assert_eq!(reply.status, status, "{body}: {}", reply.body);
        let told = reply.json()["error"].as_str().unwrap().to_string();
        assert!(told.contains(text), "{body}: {told}");
    }
}

#[test]
fn nobody_practises_all_the_time() {
    let stage = Stage::open(&Plan::on_command(8));
    let (player, me) = seated(&stage, Shape::Flat);
    let (_other, other) = seated(&stage, Shape::Flat);
    let statuses: Vec<u16> = (0..7).map(|_| ask(&stage, &me.token, &json!({})).status).collect();
    assert_eq!(statuses, [200, 200, 200, 200, 200, 200, 429]);
    assert_eq!(player.all("GAME_OVER").len(), 6);
    assert_eq!(ask(&stage, &other.token, &json!({})).status, 200, "others are not held up");
}

#[test]
fn practice_ends_when_the_league_starts() {
    let mut stage = Stage::open(&Plan::on_command(8));
    stage.seat_referee();
    let silent = |call: &Call| match call.kind {
        "CHOOSE_PARITY_CALL" => Say::Nothing,
        _ => Say::Usual,
    };
    let player = Stranger::player_that(Shape::Flat, silent);
    let me = player.register(&stage);
    seated(&stage, Shape::Flat);
    std::thread::scope(|scope| {
        let practising = scope.spawn(|| ask(&stage, &me.token, &json!({})));
        player.nth(1, "CHOOSE_PARITY_CALL");
        let again = ask(&stage, &me.token, &json!({}));
        assert_eq!(again.status, 409, "one at a time: {}", again.body);
        start(&stage);
        let broken_off = practising.join().unwrap();
        assert_eq!(broken_off.status, 409, "{}", broken_off.body);
        assert!(broken_off.body.contains("the league has begun"), "{}", broken_off.body);
    });
    let late = ask(&stage, &me.token, &json!({}));
    assert_eq!((late.status, late.body.contains("has begun")), (409, true), "{}", late.body);
}
