//! The game of numbers over HTTP: strangers in every shape, invalid moves, and lies about it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use league_agent::strategy::House;
use league_core::game::{Move, Turn};
use league_core::manager::{ChoiceEvidence, DrawEvidence, Fact, Recorded};
use league_core::policy::RuleSet;
use league_core::proof::{SentChoice, Token, choice_proof};
use league_core::seat::{Seat, Seats};
use league_core::verdict::Verdict;
use serde_json::{Value, json};

use crate::rpc::{self, Reply};
use crate::shape::{Shape, Stamp};
use crate::stage::{LEAGUE, Plan, Stage, results};
use crate::stranger::{Call, Say, Stranger, proof_of};

fn plan(players: u32) -> Plan {
    Plan::players(players).playing("even_odd_numbers").with("choice_backoff", "fixed 20ms")
}

fn moved(call: &Call, data: Value) -> Say {
    let fields = json!({"match_id": call.message["match_id"], "move_data": data, "nonce": "ab"});
    Say::Message("GAME_MOVE_RESPONSE", fields)
}

/// A player that always chooses `number`.
fn choosing(shape: Shape, number: i64) -> Stranger {
    Stranger::player_that(shape, move |call| match call.kind {
        "GAME_MOVE_CALL" => moved(call, json!(number)),
        _ => Say::Usual,
    })
}

/// Both numbers and the draw, as they are in the books.
fn numbers(result: &Recorded) -> (Seats<i64>, u32) {
    let [Turn::Moves(Seats { a: Some(Move::Number(a)), b: Some(Move::Number(b)) }), drawn] =
        &*result.turns
    else {
        panic!("{result:?}")
    };
    let Turn::Drawn(number) = drawn else { panic!("{result:?}") };
    (Seats::new(*a, *b), *number)
}

// req: MATCH-12
#[test]
fn strangers_of_every_document_play_with_numbers() {
    let mut stage = Stage::open(&plan(4));
    stage.seat_referee();
    let players: Vec<Stranger> =
        Shape::ALL.into_iter().zip([1, 2, 4, 5]).map(|(shape, n)| choosing(shape, n)).collect();
    players.iter().for_each(|player| drop(player.register(&stage)));
    let recorded = results(&stage.whole_league());
    assert_eq!(recorded.len(), 6);
    for result in &recorded {
        assert_eq!(result.draw, DrawEvidence::Verified);
        let (chosen, drawn) = numbers(result);
        let sum = chosen.a + chosen.b + i64::from(drawn);
        let winner = if sum % 2 == 0 { "even" } else { "odd" };
        let Verdict::Won(won) = result.verdict else { panic!("nobody draws: {result:?}") };
        let id = result.match_id;
        let told = format!("{} + {} + {drawn} = {sum} ({winner})", chosen.a, chosen.b);
        let mut seen = 0;
        for player in &players {
            let heard = player.of_match(id);
            let Some(call) = heard.iter().find(|call| call.kind == "GAME_MOVE_CALL") else {
                continue;
            };
            let over = player.one_of(id, "GAME_OVER");
            let (asked, me) = (&call.message["move_request"], player.me().id);
            assert_eq!(asked["valid_options"], json!([1, 2, 3, 4, 5]));
            assert_eq!(asked["move_type"], "number");
            let role = asked["context"]["your_role"].as_str().unwrap();
            assert_ne!(asked["context"]["opponent_role"], role);
            assert_eq!(over["roles"][&me], role);
            let won_it = role == winner;
            assert_eq!(over["winner_id"] == json!(me), won_it, "{over}");
            assert_eq!(over["points_awarded"][&me], if won_it { 3 } else { 0 });
            assert_eq!(over["game_result"]["drawn_number"], drawn);
            assert!(over["game_result"]["number_parity"].is_null());
            let seat = if over["choices"][&me] == chosen.a { Seat::A } else { Seat::B };
            assert_eq!(over["choices"][&me], chosen[seat]);
            assert_eq!(seat == won, won_it);
            let reason = over["game_result"]["reason"].as_str().unwrap();
            assert!(reason.starts_with(&told), "{reason}");
            seen += 1;
        }
        assert_eq!(seen, 2, "{id}");
    }
    let last = players[0].nth(3, "GAME_MOVE_CALL");
    let history = last.message["game_history"].as_array().unwrap();
    assert_eq!(history.len(), 2);
    let query = json!({"league_id": LEAGUE, "query_type": "GET_PLAYER_STATS"});
    let stats = players[0].call(stage.address, ("league_query", "LEAGUE_QUERY"), query).result();
    let stats = stats["data"]["history"].as_array().unwrap();
    assert_eq!(stats.len(), 3);
    for past in history.iter().chain(stats) {
        assert_eq!(past["your_choice"], 1);
        assert!([2, 4, 5].contains(&past["opponent_choice"].as_i64().unwrap()), "{past}");
    }
}

#[test]
fn our_own_players_prove_their_numbers() {
    let mut stage = Stage::open(&plan(3));
    stage.seat_referee();
    for house in [House::Random, House::Even, House::Pattern] {
        stage.seat_player(house);
    }
    let recorded = results(&stage.whole_league());
    assert_eq!(recorded.len(), 3);
    for result in recorded {
        assert!(result.verdict.was_played(), "{result:?}");
        let (chosen, _) = numbers(&result);
        assert!(chosen.all(|number| (1..=5).contains(number)));
        assert_eq!(result.choices, Seats::new(ChoiceEvidence::Proved, ChoiceEvidence::Proved));
    }
}

fn answer_later(
    to: std::net::SocketAddr,
    shape: Shape,
    call: &Call,
    data: Value,
) -> std::thread::JoinHandle<Reply> {
    let fields =
        json!({"match_id": call.message["match_id"], "league_id": LEAGUE, "move_data": data});
    let proof = proof_of(&call.me, call.match_id());
    let sender = format!("player:{}", call.me.id);
    let stamp = Stamp::new(&sender, call.text("conversation_id"), &proof);
    let names = ("game_move_response", "GAME_MOVE_RESPONSE");
    let request = shape.request(names, &stamp, fields);
    std::thread::spawn(move || rpc::send(to, &request))
}

#[test]
fn a_number_may_come_as_a_call_of_its_own() {
    let mut stage = Stage::open(&plan(2));
    let referee = stage.seat_referee();
    let posted: Arc<Mutex<Vec<std::thread::JoinHandle<Reply>>>> = Arc::default();
    let players = [(Shape::Flat, 2), (Shape::Enveloped, 5)].map(|(shape, number)| {
        let posted = posted.clone();
        Stranger::player_that(shape, move |call| {
            if call.kind != "GAME_MOVE_CALL" {
                return Say::Usual;
            }
            posted.lock().unwrap().push(answer_later(referee, shape, call, json!(number)));
            Say::Result(json!({"status": "received"}))
        })
    });
    players.iter().for_each(|player| drop(player.register(&stage)));
    let recorded = results(&stage.whole_league());
    assert_eq!(numbers(&recorded[0]).0, Seats::new(2, 5));
    for reply in posted.lock().unwrap().drain(..) {
        let reply = reply.join().unwrap();
        assert!(reply.json().get("result").is_some(), "{}", reply.body);
    }
}

#[test]
fn what_is_no_number_from_one_to_five_may_be_corrected_and_then_loses() {
    let wrong = [
        (json!(0), "got '0'"),
        (json!(6), "got '6'"),
        (json!("3"), "got '\"3\"'"),
        (json!(2.5), "got '2.5'"),
        (json!(null), "got 'null'"),
    ];
    for ((data, got), shape) in wrong.into_iter().zip(Shape::ALL.into_iter().cycle()) {
        let (asked, said) = (Arc::new(AtomicUsize::new(0)), data.clone());
        let counted = asked.clone();
        let troubled = Stranger::player_that(shape, move |call| {
            if call.kind != "GAME_MOVE_CALL" {
                return Say::Usual;
            }
            match counted.fetch_add(1, Ordering::SeqCst) {
                0 => moved(call, said.clone()),
                _ => moved(call, json!(4)),
            }
        });
        let (result, troubled) = one(RuleSet::V21, troubled);
        assert!(result.verdict.was_played(), "{data}: {result:?}");
        assert_eq!(numbers(&result).0.a, 4);
        let error = troubled.nth(1, "GAME_ERROR").message;
        assert_eq!(error["error_code"], "E004", "{data}");
        let text = error["error_description"].as_str().unwrap();
        let expected = format!("Choice must be a whole number from 1 to 5, {got}");
        assert!(text.starts_with(&expected), "{text}");
        let advice = error["action_required"].as_str().unwrap();
        assert_eq!(advice, "Send a whole number from 1 to 5 as move_data");
        assert_eq!((&error["retryable"], &error["retry_count"]), (&json!(true), &json!(1)));

        let troubled = Stranger::player_that(shape, move |call| match call.kind {
            "GAME_MOVE_CALL" => moved(call, data.clone()),
            _ => Say::Usual,
        });
        let (result, _troubled) = one(RuleSet::V20, troubled);
        assert_eq!(result.verdict, Verdict::TechnicalLoss(Seat::A));
        assert!(result.reason.contains(&expected), "{}", result.reason);
    }
}

/// One match between `troubled` and a player that does the usual.
fn one(rule_set: RuleSet, troubled: Stranger) -> (Recorded, Stranger) {
    let mut stage = Stage::open(&plan(2).under(rule_set));
    stage.seat_referee();
    troubled.register(&stage);
    let other = Stranger::player(Shape::Flat);
    other.register(&stage);
    let mut recorded = results(&stage.whole_league());
    troubled.nth(1, "GAME_OVER");
    other.nth(1, "GAME_OVER");
    (recorded.remove(0), troubled)
}

// req: RESULT-2
#[test]
fn lies_about_numbers_roles_and_winners_are_refused() {
    let stage = Stage::open(&plan(2));
    let referee = Stranger::referee();
    referee.register(&stage);
    let players = [Stranger::player(Shape::Flat), Stranger::player(Shape::Enveloped)];
    let [a, b] = [0, 1].map(|n: usize| players[n].register(&stage));
    let order = referee.nth(1, "START_MATCH");
    let token: Token = a.token.parse().unwrap();
    let sent = SentChoice { step: 1, choice: "3", nonce: "ab" };
    let league = LEAGUE.parse().unwrap();
    let proof = choice_proof(&token, &league, order.match_id(), 1, sent).expose();
    let (a, b) = (a.id, b.id);
    // In the first match side A is odd: 3 + 4 + 8 = 15.
    let truth = json!({
        "league_id": LEAGUE,
        "match_id": order.message["match_id"],
        "round_id": order.message["round_id"],
        "players": {
            &a: {"choice": 3, "result": "WIN", "points": 3, "role": "odd", "nonce": "ab",
                 "choice_proof": proof},
            &b: {"choice": 4, "result": "LOSS", "points": 0, "role": "even"},
        },
        "drawn_number": 8,
    });
    let other_result = "the moves and the number lead to another result";
    let no_move = "turn 0 contains a move that is not allowed";
    let no_role = "a role is not the one that the player had in this match";
    let forged = "P01 proves another choice than the one reported of it";
    let lies = [
        (
            "another winner",
            other_result,
            json!({&a: ["LOSS", 3, "odd", 0], &b: ["WIN", 4, "even", 3]}),
        ),
        ("a tie", other_result, json!({&a: ["TIE", 3, "odd", 1], &b: ["TIE", 4, "even", 1]})),
        ("another number", other_result, json!({&b: ["LOSS", 5, "even", 0]})),
        ("no number of the game", no_move, json!({&b: ["LOSS", 6, "even", 0]})),
        ("a text", no_move, json!({&b: ["LOSS", "4", "even", 0]})),
        ("a word", no_move, json!({&b: ["LOSS", "even", "even", 0]})),
        ("roles", no_role, json!({&a: ["WIN", 3, "even", 3], &b: ["LOSS", 4, "odd", 0]})),
        ("a role", no_role, json!({&b: ["LOSS", 4, "odd", 0]})),
        ("a number that was proved otherwise", forged, json!({&a: ["WIN", 5, "odd", 3]})),
    ];
    let names = ("report_match_result", "MATCH_RESULT_REPORT");
    for (number, (lie, why, changes)) in (1..).zip(lies) {
        let mut report = truth.clone();
        for (player, said) in changes.as_object().unwrap() {
            let line = &mut report["players"][player];
            for (at, name) in ["result", "choice", "role", "points"].iter().enumerate() {
                line[name] = said[at].clone();
            }
        }
        let reply = referee.call(stage.address, names, report);
        assert_eq!(reply.code(), "E031", "{lie}: {}", reply.body);
        let text = reply.error()["message"].as_str().unwrap_or_default().to_string();
        assert!(text.ends_with(why), "{lie}: {text}");
        let refused = |fact: &Fact| matches!(fact, Fact::ReportRefused { .. });
        let noted = stage.events_now().iter().filter(|event| refused(&event.fact)).count();
        assert_eq!(noted, number, "{lie}");
    }
    let ack = referee.call(stage.address, names, truth).result();
    assert_eq!((&ack["status"], &ack["duplicate"]), (&json!("RECORDED"), &json!(true)));
    let recorded = results(&stage.whole_league());
    assert_eq!(recorded[0].verdict, Verdict::Won(Seat::A));
    assert_eq!((recorded[0].attempt, numbers(&recorded[0])), (1, (Seats::new(3, 4), 8)));
}
