//! Players by other people, each in the words of its document, in one league under our referee.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use league_core::game::Turn;
use league_core::id::MatchId;
use league_core::manager::{DrawEvidence, Recorded};
use league_core::seat::Seat;
use league_core::verdict::Verdict;
use serde_json::{Value, json};

use crate::rpc::{self, Reply};
use crate::shape::{Shape, Stamp};
use crate::stage::{Plan, Stage, results};
use crate::stranger::{Call, Say, Stranger, proof_of};

/// Everybody's points by a count that knows nothing but the results.
fn counted(recorded: &[Recorded], pairs: &BTreeMap<MatchId, [String; 2]>) -> BTreeMap<String, u64> {
    let mut points: BTreeMap<String, u64> = BTreeMap::new();
    for result in recorded {
        let [a, b] = &pairs[&result.match_id];
        let (to_a, to_b) = match result.verdict {
            Verdict::Won(seat) | Verdict::TechnicalLoss(seat) => {
                let wins = matches!(result.verdict, Verdict::Won(_));
                if (seat == Seat::A) == wins { (3, 0) } else { (0, 3) }
            }
            Verdict::Drawn => (1, 1),
            Verdict::BothLost | Verdict::Cancelled => (0, 0),
        };
        *points.entry(a.clone()).or_default() += to_a;
        *points.entry(b.clone()).or_default() += to_b;
    }
    points
}

fn pairs(player: &Stranger, rounds: usize) -> BTreeMap<MatchId, [String; 2]> {
    let announced = (1..=rounds).map(|round| player.nth(round, "ROUND_ANNOUNCEMENT"));
    let mut pairs = BTreeMap::new();
    for listed in announced.flat_map(|call| call.message["matches"].as_array().unwrap().clone()) {
        let text = |name: &str| listed[name].as_str().unwrap().to_string();
        pairs.insert(text("match_id").parse().unwrap(), [text("player_A_id"), text("player_B_id")]);
    }
    pairs
}

/// A league that four strangers have played, one of each document.
struct Scene {
    stage: Stage,
    players: Vec<Stranger>,
    recorded: Vec<Recorded>,
    /// Matches whose players were told the result before it was in the books.
    told_early: Vec<MatchId>,
}

fn four_documents() -> Scene {
    let mut stage = Stage::open(&Plan::players(4));
    stage.seat_referee();
    let books = Arc::new(stage.reader());
    let told_early: Arc<Mutex<Vec<MatchId>>> = Arc::default();
    let stranger = |shape: Shape| {
        let (books, told_early) = (books.clone(), told_early.clone());
        Stranger::player_that(shape, move |call| {
            if call.kind == "GAME_OVER" {
                let recorded = results(&books());
                if !recorded.iter().any(|result| result.match_id == call.match_id()) {
                    told_early.lock().unwrap().push(call.match_id());
                }
            }
            Say::Usual
        })
    };
    let players: Vec<Stranger> = Shape::ALL.into_iter().map(stranger).collect();
    players.iter().for_each(|player| drop(player.register(&stage)));
    let recorded = results(&stage.whole_league());
    players.iter().for_each(|player| drop(player.nth(3, "GAME_OVER")));
    let told_early = std::mem::take(&mut *told_early.lock().unwrap());
    Scene { stage, players, recorded, told_early }
}

// req: WIRE-8, MATCH-8, MATCH-9
#[test]
fn four_documents_meet_in_one_league() {
    let Scene { players, recorded, told_early, .. } = four_documents();
    assert_eq!(recorded.len(), 6);
    assert_eq!(told_early, [], "nobody is told what is not written");
    for result in &recorded {
        assert!(result.verdict.was_played(), "{result:?}");
        assert_eq!(result.draw, DrawEvidence::Verified);
    }
    for call in players.iter().flat_map(|player| player.all("GAME_OVER")) {
        check_over(&recorded, &call);
    }
}

fn check_over(recorded: &[Recorded], call: &Call) {
    let result = recorded.iter().find(|result| result.match_id == call.match_id()).unwrap();
    let number = result.turns.iter().find_map(|turn| match turn {
        Turn::Drawn(number) => Some(u64::from(*number)),
        Turn::Moves(_) => None,
    });
    let told = &call.message["game_result"];
    assert_eq!(told["drawn_number"].as_u64(), number);
    let parity = if number.unwrap().is_multiple_of(2) { "even" } else { "odd" };
    assert_eq!(told["number_parity"], parity);
    let is_draw = result.verdict == Verdict::Drawn;
    assert_eq!(told["status"], if is_draw { "DRAW" } else { "WIN" });
    assert_eq!(told["winner_player_id"].is_null(), is_draw);
    if let Some(winner) = told["winner_player_id"].as_str() {
        assert_eq!(told["choices"][winner], parity);
    }
    let awarded = call.message["points_awarded"].as_object().unwrap().values();
    let points: u64 = awarded.filter_map(Value::as_u64).sum();
    assert_eq!(points, if is_draw { 2 } else { 3 });
    assert_eq!(call.message["game_state"], "COMPLETED");
}

// req: MATCH-10
#[test]
fn all_messages_of_a_match_are_one_conversation_that_is_kept() {
    let Scene { players, recorded, .. } = four_documents();
    for result in &recorded {
        let conversation = result.conversation.to_string();
        let (round, number) = (result.match_id.round, result.match_id.number());
        let digits = conversation.strip_prefix(&format!("convr{round}m{number}")).unwrap();
        assert_eq!(digits.len(), 32);
        let calls = players.iter().flat_map(|player| player.of_match(result.match_id));
        let calls: Vec<Call> = calls.collect();
        assert_eq!(calls.len(), 6, "two players are invited, asked and told");
        for call in calls {
            assert_eq!(call.text("conversation_id"), conversation);
        }
    }
    let distinct: BTreeSet<_> = recorded.iter().map(|result| &result.conversation).collect();
    assert_eq!(distinct.len(), recorded.len());
}

// req: MATCH-11
#[test]
fn a_player_that_must_choose_is_told_where_it_stands() {
    let Scene { players, .. } = four_documents();
    for player in &players {
        for (games_before, call) in player.all("CHOOSE_PARITY_CALL").iter().enumerate() {
            let (message, round) = (&call.message, games_before + 1);
            let invitation = &player.nth(round, "GAME_INVITATION").message;
            assert_eq!(message["context"]["round_id"], round);
            assert_eq!(message["context"]["opponent_id"], invitation["opponent_id"]);
            let history = message["game_history"].as_array().unwrap();
            assert_eq!(history.len(), games_before);
            for (before, past) in (1..).zip(history) {
                assert_eq!(past["round_id"], before);
                assert!(past["your_choice"].is_string(), "{past}");
            }
            let table = message["standings"].as_array().unwrap();
            let own = &message["context"]["your_standings"];
            assert_eq!((table.len(), table.contains(own)), (4, true));
            assert_eq!(
                (&own["player_id"], &own["played"]),
                (&json!(player.me().id), &json!(games_before),)
            );
            assert!(message["deadline"].as_str() > message["timestamp"].as_str());
        }
    }
}

// req: RESULT-4, RESULT-5
#[test]
fn the_final_table_is_what_a_recount_gives() {
    let Scene { stage, players, recorded, .. } = four_documents();
    let expected = counted(&recorded, &pairs(&players[0], 3));
    let table = stage.stub.published().league.table();
    for row in table {
        assert_eq!(row.record.points, expected[&row.player.to_string()], "{}", row.player);
        assert_eq!(row.record.played, 3);
    }
    for player in &players {
        let end = player.nth(1, "LEAGUE_COMPLETED");
        for row in end.message["final_standings"].as_array().unwrap() {
            assert_eq!(row["points"], expected[row["player_id"].as_str().unwrap()]);
            assert_eq!(row["display_name"].as_str().map(str::is_empty), Some(false));
        }
        let best = expected.values().max().unwrap();
        assert_eq!(end.message["champion"]["points"], *best);
    }
}

/// Answers a call of the referee with a call of its own.
fn answer_later(
    referee: SocketAddr,
    shape: Shape,
    call: &Call,
    token: &str,
) -> std::thread::JoinHandle<Reply> {
    let match_id = call.text("match_id");
    let (names, fields) = if call.kind == "GAME_INVITATION" {
        (("game_join_ack", "GAME_JOIN_ACK"), json!({"accept": true}))
    } else {
        let names = ("choose_parity_response", "CHOOSE_PARITY_RESPONSE");
        (names, json!({"parity_choice": "even"}))
    };
    let mut fields = fields;
    fields["match_id"] = json!(match_id);
    fields["league_id"] = call.message["league_id"].clone();
    let sender = format!("player:{}", call.me.id);
    let stamp = Stamp::new(&sender, call.text("conversation_id"), token);
    let request = shape.request(names, &stamp, fields);
    std::thread::spawn(move || rpc::send(referee, &request))
}

// req: WIRE-9
#[test]
fn an_answer_may_come_as_a_call_of_its_own() {
    let mut stage = Stage::open(&Plan::players(4));
    let referee = stage.seat_referee();
    let posted: Arc<Mutex<Vec<std::thread::JoinHandle<Reply>>>> = Arc::default();
    // Two prove themselves with the match's proof, two with their whole token; each acknowledges
    // the call in another way.
    let ways = [
        (Shape::Flat, true, json!({"status": "received"})),
        (Shape::Typed, false, Value::Null),
        (Shape::V21, true, json!("ok")),
        (Shape::Enveloped, false, json!({})),
    ];
    let players: Vec<Stranger> = ways
        .into_iter()
        .map(|(shape, by_proof, receipt)| {
            let posted = posted.clone();
            Stranger::player_that(shape, move |call| {
                if !["GAME_INVITATION", "CHOOSE_PARITY_CALL"].contains(&call.kind) {
                    return Say::Usual;
                }
                let proof = proof_of(&call.me, call.match_id());
                let token = if by_proof { proof } else { call.me.token.clone() };
                posted.lock().unwrap().push(answer_later(referee, shape, call, &token));
                Say::Result(receipt.clone())
            })
        })
        .collect();
    players.iter().for_each(|player| drop(player.register(&stage)));
    let recorded = results(&stage.whole_league());
    assert_eq!(recorded.len(), 6);
    for result in &recorded {
        assert_eq!(result.verdict, Verdict::Drawn, "everybody chose even");
    }
    for reply in posted.lock().unwrap().drain(..) {
        let reply = reply.join().unwrap();
        assert!(reply.json().get("result").is_some(), "{}", reply.body);
    }
    let errors: Vec<_> = players.iter().flat_map(|player| player.all("GAME_ERROR")).collect();
    assert!(errors.is_empty(), "{errors:?}");
}

// req: AUTH-2
#[test]
fn an_answer_of_its_own_needs_proof_and_the_match_it_belongs_to() {
    let mut stage = Stage::open(&Plan::players(2));
    let referee = stage.seat_referee();
    let refusals: Arc<Mutex<Vec<(&str, Reply)>>> = Arc::default();
    let collected = refusals.clone();
    let honest = Stranger::player(Shape::Flat);
    let forger = Stranger::player_that(Shape::Flat, move |call| {
        if call.kind != "CHOOSE_PARITY_CALL" {
            return Say::Usual;
        }
        let proof = proof_of(&call.me, call.match_id());
        let post = |token: &str, edit: &dyn Fn(&mut Call)| {
            let mut call = call.clone();
            edit(&mut call);
            answer_later(referee, Shape::Flat, &call, token).join().unwrap()
        };
        let set = |name: &'static str, value: &'static str| {
            move |call: &mut Call| call.message[name] = json!(value)
        };
        let mut refusals = collected.lock().unwrap();
        refusals.push(("E011", post("", &|_| {})));
        refusals.push(("E012", post("prf_guess", &|_| {})));
        refusals.push(("E012", post(call.text("auth_token"), &|_| {})));
        refusals.push(("E015", post(&proof, &set("conversation_id", "conv-other"))));
        refusals.push(("G003", post(&proof, &set("match_id", "R9M9"))));
        Say::Usual
    });
    honest.register(&stage);
    forger.register(&stage);
    let recorded = results(&stage.whole_league());
    assert_eq!(recorded[0].verdict, Verdict::Drawn, "both chose odd, on their connections");
    let refusals = refusals.lock().unwrap();
    assert_eq!(refusals.len(), 5);
    for (code, reply) in refusals.iter() {
        assert_eq!(reply.code(), *code, "{}", reply.body);
        assert!(!reply.body.contains("tok_") && !reply.body.contains("prf_"), "{}", reply.body);
    }
}

// req: MATCH-6
#[test]
fn an_answer_in_the_pause_before_the_next_call_counts_at_once() {
    let plan = Plan::players(2).with("choice_timeout", "100ms").with("choice_backoff", "fixed 60s");
    let mut stage = Stage::open(&plan);
    let referee = stage.seat_referee();
    let asked: Mutex<Option<Call>> = Mutex::default();
    let slow = Stranger::player_that(Shape::Flat, move |call| match call.kind {
        "CHOOSE_PARITY_CALL" => {
            *asked.lock().unwrap() = Some(call.clone());
            Say::Nothing
        }
        "GAME_ERROR" => {
            let asked = asked.lock().unwrap();
            let call = asked.as_ref().unwrap();
            let proof = proof_of(&call.me, call.match_id());
            answer_later(referee, Shape::Flat, call, &proof).join().unwrap().result();
            Say::Usual
        }
        _ => Say::Usual,
    });
    slow.register(&stage);
    let other = Stranger::player(Shape::Typed);
    other.register(&stage);
    let recorded = results(&stage.whole_league());
    assert!(recorded[0].verdict.was_played(), "{recorded:?}");
    assert_eq!(slow.all("CHOOSE_PARITY_CALL").len(), 1);
}
