//! A referee by somebody else: it gets matches, reports results in the documents' words, and lies.

use std::collections::BTreeMap;

use league_core::draw::{Draw, Seed};
use league_core::game::{Move, Turn};
use league_core::manager::{ChoiceEvidence, DrawEvidence, Event, Fact};
use league_core::proof::{SentChoice, Token, choice_proof};
use league_core::seat::Seats;
use league_core::verdict::Verdict;
use serde_json::{Value, json};

use crate::rpc::{self, Reply};
use crate::shape::Shape;
use crate::stage::{LEAGUE, Plan, Stage, join_key, results, url};
use crate::stranger::{Call, Say, Stranger};

struct Scene {
    stage: Stage,
    referee: Stranger,
    players: Vec<Stranger>,
}

fn scene(players: u32) -> Scene {
    scene_with(players, json!({}))
}

/// A scene whose referee says something more of itself.
fn scene_with(players: u32, more: Value) -> Scene {
    let stage = Stage::open(&Plan::players(players));
    let referee = Stranger::referee();
    referee.register_with(&stage, more);
    let players: Vec<_> =
        Shape::ALL.into_iter().cycle().take(players as usize).map(Stranger::player).collect();
    players.iter().for_each(|player| drop(player.register(&stage)));
    Scene { stage, referee, players }
}

impl Scene {
    fn report(&self, fields: Value) -> Reply {
        let names = ("report_match_result", "MATCH_RESULT_REPORT");
        self.referee.call(self.stage.address, names, fields)
    }

    fn refused_reports(&self) -> usize {
        let is_refusal = |event: &&Event| matches!(event.fact, Fact::ReportRefused { .. });
        self.stage.events_now().iter().filter(is_refusal).count()
    }
}

fn pair(order: &Call) -> (&str, &str) {
    let id = |at: usize| order.message["players"][at]["player_id"].as_str().unwrap();
    (id(0), id(1))
}

/// 000's form: PLAYER_A chose even, PLAYER_B odd, and 8 was drawn.
pub(crate) fn nested(order: &Call) -> Value {
    let (a, b) = pair(order);
    json!({
        "league_id": LEAGUE,
        "match_id": order.message["match_id"],
        "round_id": order.message["round_id"],
        "result": {
            "winner": a,
            "score": {a: 3, b: 0},
            "details": {"drawn_number": 8, "choices": {a: "even", b: "odd"}},
        },
    })
}

/// 002's form: both chose odd, and 7 was drawn.
fn by_player(order: &Call) -> Value {
    let (a, b) = pair(order);
    json!({
        "league_id": LEAGUE,
        "match_id": order.message["match_id"],
        "round_id": order.message["round_id"],
        "game_type": "even_odd",
        "players": {
            a: {"choice": "odd", "result": "TIE", "points": 1},
            b: {"choice": "odd", "result": "TIE", "points": 1},
        },
        "drawn_number": 7,
        "referee_signature": "sig_ref01_abc",
    })
}

// req: SCHED-4, SCHED-5, RESULT-1
#[test]
fn a_foreign_referee_runs_a_whole_league() {
    let scene = scene(4);
    let mut points: BTreeMap<String, u64> = BTreeMap::new();
    for number in 1..=6 {
        let order = scene.referee.nth(number, "START_MATCH");
        let (a, b) = pair(&order);
        let is_draw = number % 2 == 0;
        let fields = if is_draw { by_player(&order) } else { nested(&order) };
        let ack = scene.report(fields).result();
        assert_eq!(ack["message_type"], "MATCH_RESULT_ACK");
        assert_eq!(ack["match_id"], order.message["match_id"]);
        assert_eq!((&ack["status"], &ack["standings_updated"]), (&json!("RECORDED"), &json!(true)));
        let recorded = results(&scene.stage.events_now());
        assert_eq!(recorded.len(), number, "acknowledged means written");
        assert_eq!(recorded[number - 1].match_id, order.match_id());
        assert_eq!(recorded[number - 1].draw, DrawEvidence::NotVerifiable);
        let why = match is_draw {
            true => "both chose the same, number was 7".into(),
            false => format!("{a} chose even, number was 8 (even)"),
        };
        assert_eq!(*recorded[number - 1].reason, *why, "these reports give no reason");
        let (to_a, to_b) = if is_draw { (1, 1) } else { (3, 0) };
        *points.entry(a.into()).or_default() += to_a;
        *points.entry(b.into()).or_default() += to_b;
    }
    scene.stage.whole_league();
    for round in 1..=3 {
        let announced = scene.referee.nth(round, "ROUND_ANNOUNCEMENT");
        assert_eq!(announced.message["round_id"], round);
        let matches = announced.message["matches"].as_array().unwrap();
        assert_eq!(matches.len(), 2);
        for (number, listed) in (1..).zip(matches) {
            assert_eq!(listed["match_id"], format!("R{round}M{number}"));
            assert_eq!(listed["referee_endpoint"], url(scene.referee.address));
        }
        let completed = scene.players[0].nth(round, "ROUND_COMPLETED");
        let ids = [format!("R{round}M1"), format!("R{round}M2")];
        assert_eq!(completed.message["completed_matches"], json!(ids));
        assert_eq!(completed.message["matches_played"], 2);
        let next = if round < 3 { json!((round + 1).to_string()) } else { Value::Null };
        assert_eq!(completed.message["next_round_id"], next);
    }
    for agent in scene.players.iter().chain([&scene.referee]) {
        let end = agent.nth(1, "LEAGUE_COMPLETED");
        assert_eq!(end.message["total_rounds"], 3);
        assert_eq!(end.message["total_matches"], 6);
        let rows = end.message["final_standings"].as_array().unwrap();
        assert_eq!(end.message["champion"]["player_id"], rows[0]["player_id"]);
        for row in rows {
            let id = row["player_id"].as_str().unwrap();
            assert_eq!(row["points"], points[id], "{id}");
        }
    }
}

#[test]
fn an_order_names_both_players_their_addresses_and_shapes() {
    let scene = scene(2);
    let order = scene.referee.nth(1, "START_MATCH");
    assert_eq!(order.message["match_id"], "R1M1");
    assert_eq!((&order.message["attempt"], &order.message["rematch"]), (&json!(1), &json!(0)));
    assert_eq!(order.message["rules"]["rule_set"], "v2.1");
    let listed = order.message["players"].as_array().unwrap();
    for (at, role) in ["PLAYER_A", "PLAYER_B"].into_iter().enumerate() {
        let player = &listed[at];
        assert_eq!(player["role_in_match"], role);
        let own = scene.players.iter().find(|own| player["player_id"] == own.me().id).unwrap();
        assert_eq!(player["endpoint"], url(own.address));
        assert_eq!(player["dialect"], format!("{:?}", own.shape).to_lowercase());
        let hash = player["token_hash"].as_str().unwrap();
        assert!(!hash.contains(own.me().token.rsplit('_').next().unwrap()));
        assert!(player["match_proof"].as_str().unwrap().starts_with("prf_"));
        assert!(player["reply_proof"].as_str().unwrap().starts_with("prf_"));
        assert_ne!(player["match_proof"], player["reply_proof"]);
    }
}

// req: RESULT-3
#[test]
fn the_same_report_again_counts_once_and_another_one_is_refused() {
    let scene = scene(3);
    let order = scene.referee.nth(1, "START_MATCH");
    let first = scene.report(nested(&order)).result();
    assert!(first.get("duplicate").is_none(), "{first}");
    for _ in 0..2 {
        let again = scene.report(nested(&order)).result();
        assert_eq!((&again["status"], &again["duplicate"]), (&json!("RECORDED"), &json!(true)));
    }
    let (a, b) = pair(&order);
    let mut other = nested(&order);
    other["result"] = json!({
        "winner": b, "score": {a: 0, b: 3},
        "details": {"drawn_number": 7, "choices": {a: "even", b: "odd"}},
    });
    assert_eq!(scene.report(other.clone()).code(), "E032");
    scene.stage.events_until(|fact| matches!(fact, Fact::RoundClosed { .. }));
    assert_eq!(scene.report(other).code(), "E032", "also when its round is over");
    let again = scene.report(nested(&order)).result();
    assert_eq!(again["duplicate"], true);
    let recorded = results(&scene.stage.events_now());
    assert_eq!(recorded.len(), 1);
    assert!(matches!(recorded[0].verdict, Verdict::Won(_)));
    let table = scene.stage.stub.published().league.table();
    let total: u64 = table.iter().map(|row| u64::from(row.record.played)).sum();
    assert_eq!(total, 2, "two players have played one game each");
}

// req: RESULT-2
#[test]
fn lies_are_refused_and_written_down() {
    let scene = scene(2);
    let order = scene.referee.nth(1, "START_MATCH");
    let (a, b) = pair(&order);
    let lies: Vec<(&str, Value)> = vec![
        ("points", json!({"score": {a: 3, b: 1}})),
        ("points of a draw", json!({"score": {a: 1, b: 1}})),
        ("winner", json!({"winner": b, "score": {a: 0, b: 3}})),
        ("no winner", json!({"winner": null, "score": {a: 1, b: 1}})),
        ("number", json!({"details": {"drawn_number": 11, "choices": {a: "even", b: "odd"}}})),
        ("parity", json!({"details": {"drawn_number": 7, "choices": {a: "even", b: "odd"}}})),
        ("no number", json!({"details": {"drawn_number": null, "choices": {a: "even", b: "odd"}}})),
        ("no choice", json!({"details": {"drawn_number": 8, "choices": {a: "even"}}})),
        ("not a choice", json!({"details": {"drawn_number": 8, "choices": {a: "even", b: "red"}}})),
        (
            "a loser who moved",
            json!({"status": "TECHNICAL_LOSS", "technical_losers": [b],
                   "details": {"drawn_number": null, "choices": {a: "even", b: "odd"}}}),
        ),
        (
            "a cancellation that v2.1 does not have",
            json!({"status": "CANCELLED", "winner": null, "score": {a: 0, b: 0},
                   "details": {"drawn_number": null, "choices": {a: null, b: null}}}),
        ),
    ];
    for (number, (lie, changes)) in (1..).zip(&lies) {
        let mut fields = nested(&order);
        for (name, value) in changes.as_object().unwrap() {
            fields["result"][name] = value.clone();
        }
        let reply = scene.report(fields);
        assert_eq!(reply.code(), "E031", "{lie}: {}", reply.body);
        assert_eq!(reply.error()["data"]["match_id"], "R1M1");
        assert_eq!(scene.refused_reports(), number, "{lie}");
    }
}

// req: MATCH-7
#[test]
fn a_referee_with_the_join_key_gets_the_seed_and_must_draw_with_it() {
    let stranger = scene(2);
    assert!(stranger.referee.nth(1, "START_MATCH").message.get("draw_seed").is_none());

    let scene = scene_with(2, json!({"join_key": join_key()}));
    let order = scene.referee.nth(1, "START_MATCH");
    assert!(order.message["draw_seed"].is_string());
    let (a, b) = pair(&order);
    let mut drawn = nested(&order);
    drawn["draw_seed"] = order.message["draw_seed"].clone();
    let mut verdicts = vec![];
    for number in 1..=10 {
        let (winner, loser) = if number % 2 == 0 { (a, b) } else { (b, a) };
        drawn["result"]["winner"] = json!(winner);
        drawn["result"]["score"] = json!({winner: 3, loser: 0});
        drawn["result"]["details"]["drawn_number"] = json!(number);
        verdicts.push(scene.report(drawn.clone()).json().get("result").is_some());
    }
    assert_eq!(verdicts.iter().filter(|taken| **taken).count(), 1, "one number follows");
    assert_eq!(results(&scene.stage.whole_league())[0].draw, DrawEvidence::Verified);
}

// req: MATCH-7
#[test]
fn a_referee_with_the_join_key_that_draws_by_itself_is_marked_and_not_refused() {
    let scene = scene_with(3, json!({"join_key": join_key()}));
    for number in 1..=2 {
        let order = scene.referee.nth(number, "START_MATCH");
        let seed: Seed = order.text("draw_seed").parse().unwrap();
        let draw = Draw::new(&LEAGUE.parse().unwrap(), order.match_id(), 0);
        let committed = draw.number(&seed, Seats::new("", ""));
        let (a, b) = pair(&order);
        let mut fields = nested(&order);
        let own = if committed == 8 { 6 } else { 8 };
        fields["result"]["details"]["drawn_number"] = json!(own);
        scene.report(fields).result();
        let told = told(&scene, order.text("match_id"));
        assert_eq!(told["evidence"]["draw"], "not_verifiable", "{told}");
        assert!(results(&scene.stage.events_now())[number - 1].draw == DrawEvidence::NotVerifiable);
        assert_ne!(a, b);
    }
    // Whoever has once shown that it draws with the seed is held to it.
    let order = scene.referee.nth(3, "START_MATCH");
    let seed: Seed = order.text("draw_seed").parse().unwrap();
    let draw = Draw::new(&LEAGUE.parse().unwrap(), order.match_id(), 0);
    let committed = draw.number(&seed, Seats::new("", ""));
    let mut fields = nested(&order);
    let other = if committed == 8 { 6 } else { 8 };
    fields["result"]["details"]["drawn_number"] = json!(other);
    fields["draw_seed"] = order.message["draw_seed"].clone();
    assert_eq!(scene.report(fields.clone()).code(), "E031", "it does not follow from the seed");
    fields.as_object_mut().unwrap().remove("draw_seed");
    assert_eq!(scene.report(fields).code(), "E031", "nor does it without the seed");
}

#[test]
fn a_match_that_does_not_exist_cannot_be_reported() {
    let scene = scene(2);
    let order = scene.referee.nth(1, "START_MATCH");
    for (field, value, code) in [
        ("match_id", json!("R1M9"), "G003"),
        ("match_id", json!("R7M1"), "G003"),
        ("match_id", json!("the first"), "E015"),
        ("round_id", json!(2), "E003"),
        ("league_id", json!("league_elsewhere"), "E014"),
    ] {
        let mut fields = nested(&order);
        fields[field] = value.clone();
        if value == json!("R7M1") {
            fields["round_id"] = json!(7);
        }
        assert_eq!(scene.report(fields).code(), code, "{field} {value}");
    }
    let mut fields = nested(&order);
    fields["attempt"] = json!(2);
    assert_eq!(scene.report(fields).code(), "E030", "an attempt that is not the current one");
    let mut fields = nested(&order);
    fields["result"]["winner"] = json!("P77");
    assert_eq!(scene.report(fields).code(), "E013");
}

// req: ERR-6
#[test]
fn a_referee_that_vanishes_loses_its_match_to_another() {
    // From others nothing is expected before the longest match is over.
    let plan = Plan::players(2)
        .with("choice_attempts", "1")
        .with("choice_timeout", "1s")
        .with("invitation_timeout", "1s")
        .with("lease_foreign_margin", "100ms");
    let mut stage = Stage::open(&plan);
    let vanished = Stranger::referee();
    vanished.register_with(&stage, json!({"join_key": join_key()}));
    stage.seat_referee();
    let players = [Stranger::player(Shape::Flat), Stranger::player(Shape::V21)];
    // The proofs that these players check are those of the first attempt.
    players.iter().for_each(Stranger::expect_later_attempts);
    players.iter().for_each(|player| drop(player.register(&stage)));
    let order = vanished.nth(1, "START_MATCH");
    let events = stage.whole_league();
    let recorded = results(&events);
    assert_eq!((recorded.len(), recorded[0].attempt), (1, 2));
    assert_eq!(recorded[0].referee.to_string(), "REF02");
    let names = ("report_match_result", "MATCH_RESULT_REPORT");
    let late = vanished.call(stage.address, names, nested(&order));
    assert_eq!(late.code(), "E030", "who was late has done nothing wrong");
}

/// The reasons for which matches changed hands in a league whose first referee is `unwilling`.
fn handed_on(unwilling: &Stranger, network_backoff: &'static str) -> Vec<String> {
    let plan = Plan::players(2).with("network_backoff", network_backoff);
    let mut stage = Stage::open(&plan);
    // Referees with the league's key come first; this one has it and is the first of them.
    unwilling.register_with(&stage, json!({"join_key": join_key()}));
    stage.seat_referee();
    let players = [Stranger::player(Shape::Flat), Stranger::player(Shape::Typed)];
    players.iter().for_each(Stranger::expect_later_attempts);
    players.iter().for_each(|player| drop(player.register(&stage)));
    let events = stage.whole_league();
    let recorded = results(&events);
    assert_eq!((recorded.len(), recorded[0].referee.to_string()), (1, "REF02".into()));
    let reasons = events.iter().filter_map(|event| {
        let Fact::MatchPassedOn { reason, .. } = &event.fact else { return None };
        Some(reason.to_string())
    });
    reasons.collect()
}

/// A referee that refuses every match.
fn refusing() -> Stranger {
    Stranger::referee_that(|call| match call.kind {
        "START_MATCH" => Say::Body(
            json!({
                "jsonrpc": "2.0",
                "error": {"code": -32000, "message": "I am on holiday"},
                "id": call.id,
            })
            .to_string(),
        ),
        _ => Say::Usual,
    })
}

// req: ERR-6
#[test]
fn a_match_that_the_only_referee_refuses_waits_for_another_and_says_why() {
    let mut stage = Stage::open(&Plan::players(2));
    let refusing = refusing();
    refusing.register_with(&stage, json!({"join_key": join_key()}));
    let players = [Stranger::player(Shape::Flat), Stranger::player(Shape::Typed)];
    players.iter().for_each(Stranger::expect_later_attempts);
    players.iter().for_each(|player| drop(player.register(&stage)));
    refusing.nth(2, "START_MATCH");
    let path = format!("/api/v1/leagues/{LEAGUE}");
    let alerts = || rpc::page(stage.address, "GET", &path).json()["alerts"].clone();
    let alert = alerts()[0].clone();
    assert_eq!(alert["alert"], "referee_refuses", "{alert}");
    let text = alert["text"].as_str().unwrap();
    assert!(text.contains("R1M1 waits for REF01, which refuses since"), "{text}");
    assert!(text.contains("the order was refused: I am on holiday"), "{text}");
    let attempts = |events: &[Event]| {
        events.iter().filter(|event| matches!(event.fact, Fact::MatchPassedOn { .. })).count()
    };
    assert_eq!(attempts(&stage.events_now()), 0, "it is offered again under the same attempt");
    stage.seat_referee();
    let events = stage.whole_league();
    assert_eq!((attempts(&events), results(&events)[0].referee.to_string()), (1, "REF02".into()));
    assert_eq!(rpc::page(stage.address, "GET", &path).json()["alerts"], json!([]));
}

// req: ERR-6
#[test]
fn while_two_referees_refuse_the_match_waits_and_the_first_that_works_plays_it() {
    let mut stage = Stage::open(&Plan::players(2).with("breaker_open", "100ms"));
    let both = [refusing(), refusing()];
    both.iter().for_each(|one| drop(one.register_with(&stage, json!({"join_key": join_key()}))));
    let players = [Stranger::player(Shape::Flat), Stranger::player(Shape::Typed)];
    players.iter().for_each(Stranger::expect_later_attempts);
    players.iter().for_each(|player| drop(player.register(&stage)));
    // More often than a match may be begun.
    both.iter().for_each(|one| drop(one.nth(8, "START_MATCH")));
    let path = format!("/api/v1/leagues/{LEAGUE}");
    let alerts = || rpc::page(stage.address, "GET", &path).json()["alerts"].clone();
    assert_eq!(alerts()[0]["alert"], "referee_refuses", "{}", alerts());
    let is_stuck = |event: &&Event| matches!(event.fact, Fact::MatchStuck { .. });
    stage.seat_referee();
    let events = stage.whole_league();
    assert_eq!(events.iter().filter(is_stuck).count(), 0);
    assert_eq!(results(&events)[0].referee.to_string(), "REF03");
    assert_eq!(rpc::page(stage.address, "GET", &path).json()["alerts"], json!([]));
}

// req: ERR-6
#[test]
fn a_match_that_a_referee_refuses_goes_to_another_at_once() {
    let refusing = refusing();
    let reasons = handed_on(&refusing, "fixed 2s");
    assert_eq!(reasons, ["the order was refused: I am on holiday"]);
}

#[test]
fn a_match_that_a_referee_cannot_be_given_goes_to_another() {
    let deaf = Stranger::referee_that(|call| match call.kind {
        "START_MATCH" | "ROUND_ANNOUNCEMENT" => Say::HangUp,
        _ => Say::Usual,
    });
    let reasons = handed_on(&deaf, "fixed 10ms");
    assert_eq!(reasons.len(), 1);
    assert!(reasons[0].starts_with("the order was not delivered: "), "{reasons:?}");
}

/// 002's form with the players' proofs of `proved`: both are said to have chosen `chosen`.
fn proved(scene: &Scene, order: &Call, (chosen, proved): (&str, &str)) -> Value {
    let attempt = u32::try_from(order.message["attempt"].as_u64().unwrap()).unwrap();
    let seed: Seed = order.text("draw_seed").parse().unwrap();
    let (league, match_id) = (LEAGUE.parse().unwrap(), order.match_id());
    let draw = Draw::new(&league, match_id, 0);
    let mut fields = by_player(order);
    fields["attempt"] = json!(attempt);
    fields["draw_seed"] = order.message["draw_seed"].clone();
    fields["drawn_number"] = json!(draw.number(&seed, Seats::new("n1", "n1")));
    for player in &scene.players {
        let me = player.me();
        let token: Token = me.token.parse().unwrap();
        let sent = SentChoice { step: 1, choice: proved, nonce: "n1" };
        let proof = choice_proof(&token, &league, match_id, attempt, sent).expose();
        fields["players"][&me.id]["choice"] = json!(chosen);
        fields["players"][&me.id]["nonce"] = json!("n1");
        fields["players"][&me.id]["choice_proof"] = json!(proof);
    }
    fields
}

// req: RESULT-2
#[test]
fn a_referee_with_the_join_key_cannot_turn_proved_choices_round() {
    let scene = scene_with(2, json!({"join_key": join_key()}));
    let order = scene.referee.nth(1, "START_MATCH");
    let status = |scene: &Scene| told(scene, "R1M1")["status"].clone();
    assert_eq!(status(&scene), "RUNNING");
    let reply = scene.report(proved(&scene, &order, ("even", "odd")));
    assert_eq!(reply.code(), "E031", "{}", reply.body);
    assert_eq!(scene.refused_reports(), 1);
    let events = scene.stage.whole_league();
    let recorded = results(&events);
    assert_eq!((recorded.len(), recorded[0].draw), (1, DrawEvidence::Verified));
    let odd = Turn::Moves(Seats::new(Move::word("odd"), Move::word("odd")));
    assert_eq!(recorded[0].turns[0], odd, "what was proved counts");
    assert_eq!(status(&scene), "DRAW");
    let both = ChoiceEvidence::Proved;
    assert_eq!(recorded[0].choices, Seats::new(both, both));
    let charged = |event: &&Event| matches!(event.fact, Fact::ConductNoted { .. });
    assert_eq!(events.iter().filter(charged).count(), 0, "nobody is charged for its lie");
}

/// What P01 is told about a match.
fn told(scene: &Scene, match_id: &str) -> Value {
    let fields = json!({"league_id": LEAGUE, "query_type": "GET_MATCH", "match_id": match_id});
    let asker = &scene.players[0];
    let reply = asker.call(scene.stage.address, ("league_query", "LEAGUE_QUERY"), fields);
    reply.result()["data"].clone()
}

#[test]
fn the_players_of_a_match_are_told_why_it_was_lost_technically_and_nobody_else() {
    let scene = scene(4);
    for number in 1..=2 {
        let order = scene.referee.nth(number, "START_MATCH");
        let (a, b) = pair(&order);
        let mut fields = nested(&order);
        fields["result"] = json!({
            "status": "TECHNICAL_LOSS", "winner": a, "score": {a: 3, b: 0},
            "technical_losers": [b], "reason": "no answer in time",
            "details": {"drawn_number": null, "choices": {a: null, b: null}},
        });
        scene.report(fields).result();
        let told = told(&scene, order.text("match_id"));
        assert_eq!(told["status"], "TECHNICAL_LOSS");
        let is_own = [a, b].contains(&"P01");
        assert_eq!(told.get("reason").is_some(), is_own, "{told}");
    }
}

#[test]
fn a_referee_that_changes_a_nonce_is_shown() {
    let scene = scene_with(2, json!({"join_key": join_key()}));
    let order = scene.referee.nth(1, "START_MATCH");
    let mut fields = proved(&scene, &order, ("odd", "odd"));
    let (a, b) = pair(&order);
    fields["players"][a]["choice"] = json!("even");
    fields["players"][a]["nonce"] = json!("n2");
    let seed: Seed = order.text("draw_seed").parse().unwrap();
    let draw = Draw::new(&LEAGUE.parse().unwrap(), order.match_id(), 0);
    let number = draw.number(&seed, Seats::new("n2", "n1"));
    fields["drawn_number"] = json!(number);
    let (winner, loser) = if number.is_multiple_of(2) { (a, b) } else { (b, a) };
    fields["players"][winner]["points"] = json!(3);
    fields["players"][winner]["result"] = json!("WIN");
    fields["players"][loser]["points"] = json!(0);
    fields["players"][loser]["result"] = json!("LOSS");
    fields["winner_id"] = json!(winner);
    scene.report(fields).result();
    let told = told(&scene, "R1M1");
    assert_eq!((&told["status"], &told["winner"]), (&json!("WIN"), &json!(winner)));
    let evidence = json!({"draw": "verified", "choices": {a: "unclear", b: "proved"}});
    assert_eq!(told["evidence"], evidence);
}

// req: RESULT-2
#[test]
fn a_wrong_seed_and_impossible_numbers_are_refused() {
    for more in [json!({}), json!({"join_key": join_key()})] {
        let scene = scene_with(2, more.clone());
        let order = scene.referee.nth(1, "START_MATCH");
        let mut fields = by_player(&order);
        fields["draw_seed"] = json!("0".repeat(64));
        let reply = scene.report(fields);
        assert_eq!(reply.code(), "E031", "{more}: {}", reply.body);
        let said = "the revealed seed is not the one committed to";
        assert!(reply.body.contains(said), "{}", reply.body);
        let (a, b) = pair(&order);
        let mut fields = nested(&order);
        fields["result"] = json!({
            "status": "TECHNICAL_LOSS", "winner": a, "score": {a: 3, b: 0},
            "technical_losers": [b],
            "details": {"drawn_number": null, "choices": {a: null, b: null}},
        });
        fields["players"] = json!({b: {"conduct": {"timeouts": 4_000_000_000_u32}}});
        let reply = scene.report(fields);
        assert_eq!(reply.code(), "E031", "{more}: {}", reply.body);
        assert!(reply.body.contains("more often than is possible"), "{}", reply.body);
        assert_eq!(scene.refused_reports(), 2);
    }
}
