//! Our own player and referee against people who only claim to be somebody.

use std::net::SocketAddr;

use league_agent::strategy::House;
use league_core::game::{Move, Turn};
use league_core::seat::Seats;
use league_core::verdict::Verdict;
use serde_json::{Value, json};

use crate::rpc::{self, Reply};
use crate::shape::{Shape, Stamp};
use crate::stage::{LEAGUE, Plan, Stage, results};
use crate::stranger::{Call, Stranger};

/// A foreign referee that was given the match of our player, and everybody's addresses.
struct Scene {
    stage: Stage,
    referee: Stranger,
    house: SocketAddr,
    order: Call,
    _opponent: Stranger,
}

fn scene() -> Scene {
    let mut stage = Stage::open(&Plan::players(2));
    let referee = Stranger::referee();
    referee.register(&stage);
    let house = stage.seat_player(House::Even);
    let opponent = Stranger::player(Shape::Flat);
    opponent.register(&stage);
    let order = referee.nth(1, "START_MATCH");
    Scene { stage, referee, house, order, _opponent: opponent }
}

impl Scene {
    fn our_entry(&self) -> &Value {
        let listed = self.order.message["players"].as_array().unwrap();
        listed.iter().find(|player| player["player_id"] == "P01").unwrap()
    }

    fn call(&self, names: (&str, &str), sender: &str, token: &str, fields: Value) -> Reply {
        let mut all = json!({"league_id": LEAGUE, "match_id": "R1M1"});
        crate::shape::merge(&mut all, fields);
        let stamp = Stamp::new(sender, "conv-impostor", token);
        rpc::send(self.house, &Shape::Flat.request(names, &stamp, all))
    }

    fn invite(&self, sender: &str, token: &str) -> Reply {
        let fields = json!({
            "round_id": 1, "game_type": "even_odd", "role_in_match": "PLAYER_A",
            "opponent_id": "P02", "attempt": 1,
        });
        let names = ("handle_game_invitation", "GAME_INVITATION");
        self.call(names, sender, token, fields)
    }

    fn ask(&self, token: &str) -> Reply {
        let fields = json!({
            "game_type": "even_odd", "deadline": "2099-01-01T00:00:00Z", "attempt": 1,
            "context": {"opponent_id": "P02", "round_id": 1},
        });
        self.call(("choose_parity", "CHOOSE_PARITY_CALL"), "referee:REF01", token, fields)
    }
}

// req: AUTH-6
#[test]
fn our_player_follows_only_the_referee_that_has_its_match() {
    let scene = scene();
    let proof = scene.our_entry()["match_proof"].as_str().unwrap().to_string();
    let reply_proof = scene.our_entry()["reply_proof"].as_str().unwrap().to_string();
    let own = scene.referee.me().token;
    for (sender, token, code) in [
        ("referee:REF01", "", "E011"),
        ("referee:REF01", "prf_0000", "E012"),
        ("referee:REF01", own.as_str(), "E012"),
        ("referee:REF01", reply_proof.as_str(), "E012"),
        ("referee:REF02", proof.as_str(), "E012"),
        ("referee:somebody", proof.as_str(), "E012"),
        ("player:P02", proof.as_str(), "E012"),
        ("league_manager", proof.as_str(), "E012"),
    ] {
        let reply = scene.invite(sender, token);
        assert_eq!(reply.code(), code, "{sender} {token}");
        assert!(!reply.body.contains("tok_") && !reply.body.contains("prf_"), "{}", reply.body);
        assert_eq!(reply.error()["data"]["message_type"], "GAME_ERROR");
    }
    assert_eq!(scene.ask(&proof).code(), "G003", "not invited yet");
    assert_eq!(scene.invite("referee:REF01", &proof).result()["accept"], true);
    assert_eq!(scene.ask("").code(), "E011");
    assert_eq!(scene.ask("prf_0000").code(), "E012");
    let over = json!({
        "game_type": "even_odd", "attempt": 1,
        "game_result": {
            "status": "WIN", "winner_player_id": "P02", "drawn_number": 7, "number_parity": "odd",
            "choices": {"P01": "even", "P02": "odd"}, "reason": "because",
        },
    });
    let names = ("notify_match_result", "GAME_OVER");
    assert_eq!(scene.call(names, "referee:REF01", "prf_0000", over).code(), "E012");
    assert_eq!(scene.ask(&proof).result()["parity_choice"], "even");
}

// req: AUTH-6
#[test]
fn our_player_proves_itself_without_giving_its_token_away() {
    let scene = scene();
    let text = |name: &str| scene.our_entry()[name].as_str().unwrap().to_string();
    let (proof, expected) = (text("match_proof"), text("reply_proof"));
    let invited = scene.invite("referee:REF01", &proof);
    let chosen = scene.ask(&proof);
    for reply in [&invited, &chosen] {
        assert_eq!(reply.result()["auth_token"], expected);
        assert_eq!(reply.result()["sender"], "player:P01");
        assert_eq!(reply.result()["conversation_id"], "conv-impostor");
        assert!(!reply.body.contains("tok_"), "{}", reply.body);
    }
    let chosen = chosen.result();
    let report = |choice: &str| {
        let (winner, loser) = ("P01", "P02");
        let number = if choice == "even" { 8 } else { 7 };
        let other = if choice == "even" { "odd" } else { "even" };
        let mut line = json!({"choice": choice, "result": "WIN", "points": 3});
        line["nonce"] = chosen["nonce"].clone();
        line["choice_proof"] = chosen["choice_proof"].clone();
        let fields = json!({
            "league_id": LEAGUE, "match_id": "R1M1", "round_id": 1, "game_type": "even_odd",
            "players": {winner: line, loser: {"choice": other, "result": "LOSS", "points": 0}},
            "drawn_number": number,
        });
        let names = ("report_match_result", "MATCH_RESULT_REPORT");
        scene.referee.call(scene.stage.address, names, fields)
    };
    assert_eq!(report("odd").code(), "E031", "the proof is for even");
    let recorded = results(&scene.stage.whole_league());
    let Turn::Moves(moves) = &recorded[0].turns[0] else { panic!("{recorded:?}") };
    let even = Seats::new(Move::word("even"), Move::word("even"));
    assert_eq!((moves, recorded[0].verdict), (&even, Verdict::Drawn), "what was proved counts");
}

// req: AUTH-6
#[test]
fn our_agents_believe_only_the_manager_that_knows_their_token() {
    let mut scene = scene();
    let official = scene.stage.seat_referee();
    let (foreign, proof) = (scene.referee.me().token, scene.our_entry()["match_proof"].clone());
    let announcement = json!({"league_id": LEAGUE, "round_id": 1, "matches": []});
    let completed = json!({
        "league_id": LEAGUE, "total_rounds": 1, "total_matches": 1, "champion": null,
        "final_standings": [],
    });
    let notices = [
        ("notify_round", "ROUND_ANNOUNCEMENT", announcement),
        ("notify_league_completed", "LEAGUE_COMPLETED", completed),
    ];
    for address in [scene.house, official] {
        for (method, kind, fields) in &notices {
            for (token, code) in [
                ("", "E011"),
                ("tok_player_P01_guess", "E012"),
                (foreign.as_str(), "E012"),
                (proof.as_str().unwrap(), "E012"),
            ] {
                let stamp = Stamp::new("league_manager", "conv-impostor", token);
                let request = Shape::Flat.request((method, kind), &stamp, fields.clone());
                assert_eq!(rpc::send(address, &request).code(), code, "{kind} {token}");
            }
        }
    }
    for (token, code) in [("", "E011"), (foreign.as_str(), "E012")] {
        let stamp = Stamp::new("league_manager", "conv-impostor", token);
        let mut fields = scene.order.message.clone();
        fields.as_object_mut().unwrap().retain(|name, _| {
            !["protocol", "message_type", "sender", "timestamp", "conversation_id", "auth_token"]
                .contains(&name.as_str())
        });
        let request = Shape::Flat.request(("start_match", "START_MATCH"), &stamp, fields);
        assert_eq!(rpc::send(official, &request).code(), code);
    }
}
