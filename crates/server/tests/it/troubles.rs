//! Players that refuse, stay silent, talk nonsense or hang up, under both rule sets.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use league_agent::log::{self, Format, Level};
use league_core::manager::Recorded;
use league_core::policy::RuleSet;
use league_core::seat::Seat;
use league_core::verdict::Verdict;
use serde_json::{Value, json};

use crate::shape::Shape;
use crate::stage::{Plan, Stage, results};
use crate::stranger::{Call, Say, Stranger};

/// One match between a player that does the usual and one with `trouble`, under our referee.
struct Scene {
    result: Recorded,
    troubled: Stranger,
    other: Stranger,
    stage: Stage,
}

fn patient(rule_set: RuleSet) -> Plan {
    Plan::players(2).under(rule_set).with("choice_backoff", "fixed 20ms")
}

/// So short that silence can be waited for.
fn quick(rule_set: RuleSet) -> Plan {
    patient(rule_set).with("invitation_timeout", "500ms").with("choice_timeout", "250ms")
}

fn play(plan: &Plan, troubled: Stranger, other: Stranger) -> Scene {
    let mut stage = Stage::open(plan);
    stage.seat_referee();
    troubled.register(&stage);
    other.register(&stage);
    let mut recorded = results(&stage.whole_league());
    assert_eq!(recorded.len(), 1);
    Scene { result: recorded.remove(0), troubled, other, stage }
}

fn one(
    rule_set: RuleSet,
    shape: Shape,
    trouble: impl Fn(&Call) -> Say + Send + Sync + 'static,
) -> Scene {
    let troubled = Stranger::player_that(shape, trouble);
    play(&patient(rule_set), troubled, Stranger::player(Shape::Flat))
}

fn one_silent(
    rule_set: RuleSet,
    shape: Shape,
    trouble: impl Fn(&Call) -> Say + Send + Sync + 'static,
) -> Scene {
    let troubled = Stranger::player_that(shape, trouble);
    play(&quick(rule_set), troubled, Stranger::player(Shape::Flat))
}

impl Scene {
    /// Asserts that the troubled player lost technically, and that everybody was told so.
    fn assert_lost(&self, reason: &str) {
        assert_eq!(self.result.verdict, Verdict::TechnicalLoss(Seat::A), "{:?}", self.result);
        assert!(self.result.reason.contains(reason), "{}", self.result.reason);
        assert!(self.result.reason.starts_with("P01: "), "{}", self.result.reason);
        for player in [&self.troubled, &self.other] {
            let over = player.nth(1, "GAME_OVER");
            if player.shape == Shape::V21 {
                assert_eq!(over.message["result_type"], "TECHNICAL_LOSS");
            }
            // Only document 000, which knows no technical losses, needs the mark.
            let mark = if player.shape == Shape::Flat { "TECHNICAL_LOSS: " } else { "" };
            let told = over.message["game_result"]["reason"].as_str().unwrap();
            assert_eq!(told, format!("{mark}{}", self.result.reason));
            assert_eq!(over.message["points_awarded"], json!({"P01": 0, "P02": 3}));
            assert!(over.message["game_result"]["drawn_number"].is_null());
        }
        let rows = self.stage.stub.published().league.table();
        assert_eq!((rows[0].player.to_string().as_str(), rows[0].record.points), ("P02", 3));
        let record = &rows[1].record;
        assert_eq!((record.points, record.losses, record.technical_losses), (0, 1, 1));
    }

    /// The errors that the troubled player was sent: code, retry count, most retries, retryable.
    fn errors(&self, count: usize) -> Vec<(String, u64, u64, bool)> {
        self.troubled.nth(1, "GAME_OVER");
        let told = (1..=count).map(|n| self.troubled.nth(n, "GAME_ERROR")).collect::<Vec<_>>();
        assert_eq!(self.troubled.all("GAME_ERROR").len(), count);
        let mut told: Vec<_> = told
            .iter()
            .map(|call| {
                assert_eq!(call.message["affected_player"], "P01");
                let number = |name: &str| call.message[name].as_u64().unwrap();
                let retryable = call.message["retryable"].as_bool().unwrap();
                let counts = (number("retry_count"), number("max_retries"));
                (call.text("error_code").to_string(), counts.0, counts.1, retryable)
            })
            .collect();
        // Each goes out on a connection of its own, so that they may overtake each other.
        told.sort_by_key(|(_, count, _, retryable)| (!retryable, *count));
        told
    }
}

fn told(code: &str, count: u64, max: u64, retryable: bool) -> (String, u64, u64, bool) {
    (code.into(), count, max, retryable)
}

fn choose(call: &Call, choice: Value) -> Say {
    let fields = json!({"match_id": call.message["match_id"], "parity_choice": choice});
    Say::Message("CHOOSE_PARITY_RESPONSE", fields)
}

// req: MATCH-2
#[test]
fn who_refuses_an_invitation_loses_and_the_reason_is_kept() {
    let no: [(Shape, Value); 4] = [
        (Shape::Flat, json!({"accept": false, "reason": "on holiday"})),
        (Shape::Typed, json!({"accept": false, "reason": "on holiday"})),
        (Shape::V21, json!({"status": "REJECTED", "ready": false, "reason": "on holiday"})),
        (Shape::Enveloped, json!({"accept": false, "reason": "on holiday"})),
    ];
    for (shape, fields) in no {
        let scene = one(RuleSet::V21, shape, move |call| match call.kind {
            "GAME_INVITATION" => {
                let mut fields = fields.clone();
                fields["match_id"] = call.message["match_id"].clone();
                Say::Message("GAME_JOIN_ACK", fields)
            }
            _ => Say::Usual,
        });
        scene.assert_lost("on holiday");
        assert!(scene.troubled.all("CHOOSE_PARITY_CALL").is_empty());
        let over = scene.other.nth(1, "GAME_OVER");
        assert_eq!(over.message["game_state"], "ABORTED");
    }
}

// req: MATCH-2
#[test]
fn under_the_older_rules_a_refused_match_is_cancelled() {
    let scene = one(RuleSet::V20, Shape::Flat, |call| match call.kind {
        "GAME_INVITATION" => {
            let fields = json!({"match_id": call.message["match_id"], "accept": false});
            Say::Message("GAME_JOIN_ACK", fields)
        }
        _ => Say::Usual,
    });
    assert_eq!(scene.result.verdict, Verdict::Cancelled);
    for player in [&scene.troubled, &scene.other] {
        let over = player.nth(1, "GAME_OVER");
        assert_eq!(over.message["game_result"]["status"], "CANCELLED");
        assert_eq!(over.message["points_awarded"], json!({"P01": 0, "P02": 0}));
    }
}

// req: MATCH-2, MATCH-8
#[test]
fn silence_at_the_invitation_loses_and_it_is_not_repeated() {
    let silent = |call: &Call| match call.kind {
        "GAME_INVITATION" => Say::Nothing,
        _ => Say::Usual,
    };
    let scene = one_silent(RuleSet::V21, Shape::Enveloped, silent);
    scene.assert_lost("did not join");
    assert_eq!(scene.troubled.all("GAME_INVITATION").len(), 1);

    let players = [(); 2].map(|()| Stranger::player_that(Shape::Flat, silent));
    let [troubled, other] = players;
    let scene = play(&quick(RuleSet::V21), troubled, other);
    assert_eq!(scene.result.verdict, Verdict::BothLost);
    let over = scene.other.nth(1, "GAME_OVER");
    assert_eq!(over.message["points_awarded"], json!({"P01": 0, "P02": 0}));
}

// req: MATCH-4, ERR-2
#[test]
fn silence_at_the_choice_is_asked_again_and_then_loses() {
    let scene = one_silent(RuleSet::V21, Shape::V21, |call| match call.kind {
        "CHOOSE_PARITY_CALL" => Say::Nothing,
        _ => Say::Usual,
    });
    scene.assert_lost("did not choose");
    assert_eq!(scene.troubled.all("CHOOSE_PARITY_CALL").len(), 3);
    let errors = scene.errors(3);
    assert_eq!(errors[0], told("E001", 1, 3, true));
    assert_eq!(errors[1], told("E001", 2, 3, true));
    assert_eq!(errors[2], told("E001", 3, 3, false));
    for call in scene.troubled.all("GAME_ERROR") {
        let message = &call.message;
        assert_eq!(message["error_name"], "TIMEOUT_ERROR");
        assert!(call.text("consequence").contains("TECHNICAL_LOSS"));
        assert_eq!(message["context"]["expected_message"], "PARITY_CHOICE");
        assert!(message["context"]["elapsed_time"].is_number(), "{message}");
        if message["retryable"] == true {
            let next = message["retry_info"]["next_retry_at"].as_str().unwrap();
            assert!(message["deadline"].as_str().unwrap() > next, "{message}");
            assert_eq!(message["game_state"], "COLLECTING_CHOICES");
        }
    }
}

#[test]
fn under_the_older_rules_there_are_three_repetitions() {
    let scene = one_silent(RuleSet::V20, Shape::Flat, |call| match call.kind {
        "CHOOSE_PARITY_CALL" => Say::Nothing,
        _ => Say::Usual,
    });
    scene.assert_lost("did not choose");
    assert_eq!(scene.troubled.all("CHOOSE_PARITY_CALL").len(), 4);
    let errors = scene.errors(4);
    assert_eq!(errors[..3], [1, 2, 3].map(|count| told("E001", count, 3, true)));
    assert_eq!(errors[3], told("E001", 3, 3, false));
}

// req: MATCH-5
#[test]
fn an_invalid_choice_may_be_corrected_twice() {
    let asked = AtomicUsize::new(0);
    let scene = one(RuleSet::V21, Shape::Flat, move |call| {
        if call.kind != "CHOOSE_PARITY_CALL" {
            return Say::Usual;
        }
        match asked.fetch_add(1, Ordering::SeqCst) {
            0 => choose(call, json!("maybe")),
            1 => choose(call, json!("EVEN")),
            _ => choose(call, json!("even")),
        }
    });
    assert!(scene.result.verdict.was_played(), "{:?}", scene.result);
    assert_eq!(scene.errors(2), [told("E004", 1, 3, true), told("E004", 2, 3, true)]);
    let texts: Vec<_> = scene.troubled.all("GAME_ERROR");
    let text = |n: usize| texts[n].text("error_description").to_string();
    let both = [text(0), text(1)];
    for got in ["maybe", "EVEN"] {
        let expected =
            format!("Choice must be 'even' or 'odd', got '{got}': `result.parity_choice`");
        assert!(both.iter().any(|text| text.starts_with(&expected)), "{both:?}");
    }
}

// req: MATCH-3
#[test]
fn what_is_no_choice_stays_out_of_the_log() {
    let lines: Arc<Mutex<String>> = Arc::default();
    let written = lines.clone();
    let write = move |line: &str| written.lock().unwrap().push_str(line);
    let logging = log::start(Level::Debug, Format::Json, write);
    let asked = AtomicUsize::new(0);
    let scene = one(RuleSet::V21, Shape::Flat, move |call| {
        if call.kind != "CHOOSE_PARITY_CALL" {
            return Say::Usual;
        }
        match asked.fetch_add(1, Ordering::SeqCst) {
            0 => choose(call, json!("oddish17")),
            1 => choose(call, json!(["oddish17"])),
            _ => choose(call, json!("even")),
        }
    });
    let told = scene.troubled.all("GAME_ERROR");
    assert!(told[0].text("error_description").contains("oddish17"), "the player is told");
    drop(logging);
    let lines = lines.lock().unwrap();
    let hidden = lines.lines().filter(|line| line.contains("[hidden]")).count();
    assert!(hidden >= 4, "refused twice, and two calls that failed: {hidden}");
    let loud: Vec<_> = lines.lines().filter(|line| line.contains("oddish17")).collect();
    assert_eq!(loud, Vec::<&str>::new());
}

// req: MATCH-5
#[test]
fn the_third_invalid_choice_loses() {
    for choice in [json!("red"), json!(1), json!(null)] {
        let said = choice.clone();
        let scene = one(RuleSet::V21, Shape::Typed, move |call| match call.kind {
            "CHOOSE_PARITY_CALL" => choose(call, said.clone()),
            _ => Say::Usual,
        });
        let reason = if choice.is_null() {
            "`result.parity_choice` is missing"
        } else {
            "Choice must be 'even' or 'odd', got"
        };
        scene.assert_lost(reason);
        let code = if choice.is_null() { "E003" } else { "E004" };
        let errors = scene.errors(3);
        assert_eq!(errors[..2], [told(code, 1, 3, true), told(code, 2, 3, true)], "{choice}");
        assert_eq!(errors[2], told(code, 3, 3, false));
    }
}

// req: MATCH-5
#[test]
fn under_the_older_rules_the_first_invalid_choice_loses() {
    let scene = one(RuleSet::V20, Shape::Flat, |call| match call.kind {
        "CHOOSE_PARITY_CALL" => choose(call, json!("maybe")),
        _ => Say::Usual,
    });
    scene.assert_lost("maybe");
    assert_eq!(scene.troubled.all("CHOOSE_PARITY_CALL").len(), 1);
    let errors = scene.errors(1);
    assert_eq!((errors[0].0.as_str(), errors[0].3), ("E004", false));
}

// req: MATCH-5
#[test]
fn a_choice_for_another_match_is_named_as_such() {
    let asked = AtomicUsize::new(0);
    let scene = one(RuleSet::V21, Shape::Enveloped, move |call| {
        if call.kind != "CHOOSE_PARITY_CALL" || asked.fetch_add(1, Ordering::SeqCst) > 0 {
            return Say::Usual;
        }
        let fields = json!({"match_id": "R2M1", "parity_choice": "even"});
        Say::Message("CHOOSE_PARITY_RESPONSE", fields)
    });
    assert!(scene.result.verdict.was_played());
    assert_eq!(scene.errors(1), [told("E015", 1, 3, true)]);
}

#[test]
fn garbage_is_asked_again_and_a_good_answer_still_counts() {
    let nonsense = [
        Say::Body("<html>500</html>".into()),
        Say::Body(String::new()),
        Say::Body("{\"jsonrpc\":\"2.0\",\"id\":1}".into()),
        Say::Body(
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-1,\"message\":\"oops\"}}".into(),
        ),
        Say::HangUp,
    ];
    for said in nonsense {
        let (asked, garbage) = (AtomicUsize::new(0), said.clone());
        let scene = one(RuleSet::V21, Shape::Flat, move |call| {
            if call.kind != "CHOOSE_PARITY_CALL" || asked.fetch_add(1, Ordering::SeqCst) > 0 {
                return Say::Usual;
            }
            garbage.clone()
        });
        assert!(scene.result.verdict.was_played(), "{said:?}: {:?}", scene.result);
        assert_eq!(scene.errors(1), [told("E009", 1, 3, true)], "{said:?}");
    }
}

#[test]
fn garbage_for_ever_loses_like_silence() {
    let scene = one(RuleSet::V21, Shape::Flat, |call| match call.kind {
        "CHOOSE_PARITY_CALL" => Say::Body("null".into()),
        _ => Say::Usual,
    });
    scene.assert_lost("did not choose");
    assert_eq!(scene.troubled.all("CHOOSE_PARITY_CALL").len(), 3);
}

/// A connection of the first call that breaks while the second one is open is old news.
#[test]
fn an_earlier_connection_that_breaks_is_not_charged_to_a_later_call() {
    let (asked, second_came) = (AtomicUsize::new(0), std::sync::Barrier::new(2));
    let scene = one_silent(RuleSet::V21, Shape::Flat, move |call| {
        if call.kind != "CHOOSE_PARITY_CALL" {
            return Say::Usual;
        }
        let number = asked.fetch_add(1, Ordering::SeqCst);
        if number < 2 {
            second_came.wait();
        }
        match number {
            0 => Say::HangUp,
            1 => Say::Nothing,
            _ => Say::Usual,
        }
    });
    assert!(scene.result.verdict.was_played(), "{:?}", scene.result);
    assert_eq!(scene.errors(2), [told("E001", 1, 3, true), told("E001", 2, 3, true)]);
}

// req: MATCH-2
#[test]
fn a_player_that_is_not_there_loses_at_the_invitation() {
    let mut stage = Stage::open(&quick(RuleSet::V21).with("breaker_open", "500ms"));
    stage.seat_referee();
    let gone = Stranger::player(Shape::Flat);
    gone.register(&stage);
    gone.leave();
    let other = Stranger::player(Shape::Typed);
    other.register(&stage);
    let recorded = results(&stage.whole_league());
    assert_eq!(recorded[0].verdict, Verdict::TechnicalLoss(Seat::A));
    assert!(recorded[0].reason.contains("could not be reached"), "{}", recorded[0].reason);
}

#[test]
fn a_token_that_is_not_ours_makes_an_answer_worthless_and_costs_nothing() {
    let asked = AtomicUsize::new(0);
    let scene = one_silent(RuleSet::V21, Shape::Flat, move |call| {
        if call.kind != "CHOOSE_PARITY_CALL" || asked.fetch_add(1, Ordering::SeqCst) > 0 {
            return Say::Usual;
        }
        let fields = json!({
            "match_id": call.message["match_id"], "parity_choice": "even", "auth_token": "tok_no",
        });
        Say::Message("CHOOSE_PARITY_RESPONSE", fields)
    });
    assert!(scene.result.verdict.was_played(), "{:?}", scene.result);
    let told = [told("E012", 0, 3, true), told("E001", 1, 3, true)];
    assert_eq!(scene.errors(2), told, "it is told, and then as if it had said nothing");
}

/// A choice with another protocol or time than the documents write.
fn odd_envelope(call: &Call, protocol: &str, timestamp: &str) -> Say {
    Say::Result(json!({
        "protocol": protocol, "message_type": "CHOOSE_PARITY_RESPONSE", "sender": "player:P01",
        "timestamp": timestamp, "conversation_id": call.text("conversation_id"),
        "match_id": call.message["match_id"], "parity_choice": "even",
    }))
}

// req: ERR-2
#[test]
fn an_answer_that_is_no_message_of_the_league_is_not_an_invalid_choice() {
    for (protocol, timestamp, code, at) in [
        ("league.v2", "yesterday", "E021", "result.timestamp"),
        ("league.v1", "2025-01-15T10:30:00Z", "E018", "result.protocol"),
    ] {
        // Under these rules the first invalid choice would lose.
        let asked = AtomicUsize::new(0);
        let scene = one(RuleSet::V20, Shape::Flat, move |call| {
            if call.kind != "CHOOSE_PARITY_CALL" || asked.fetch_add(1, Ordering::SeqCst) > 0 {
                return Say::Usual;
            }
            odd_envelope(call, protocol, timestamp)
        });
        assert!(scene.result.verdict.was_played(), "{code}: {:?}", scene.result);
        assert_eq!(scene.errors(1), [told(code, 1, 3, true)]);
        let error = scene.troubled.nth(1, "GAME_ERROR").message;
        assert!(error["error_description"].as_str().unwrap().contains(at), "{error}");
        assert_eq!(error["context"]["field"], at);
        assert_eq!(error["action_required"], error["context"]["fix"]);
    }
    let scene = one(RuleSet::V21, Shape::Flat, |call| match call.kind {
        "CHOOSE_PARITY_CALL" => odd_envelope(call, "league.v2", "yesterday"),
        _ => Say::Usual,
    });
    scene.assert_lost("did not choose: the answer cannot be read: `result.timestamp`: expected");
    assert_eq!(scene.errors(3)[2].0, "E021");
}

/// What a player that loses at the invitation said, and the reason that is kept.
fn bad_joins() -> Vec<(Say, &'static str)> {
    let join = |fields: Value| Say::Message("GAME_JOIN_ACK", fields);
    vec![
        (Say::Nothing, "did not join: no answer in time"),
        (Say::HangUp, "did not join: the connection broke off"),
        (
            join(json!({"match_id": "R1M1"})),
            "did not join: the answer cannot be read: `result.accept` is missing",
        ),
        (
            join(json!({"match_id": "R1M1", "accept": "true"})),
            "did not join: the answer cannot be read: `result.accept`: expected true or false, \
             got \"true\"",
        ),
        (
            join(json!({"match_id": "R7M1", "accept": true})),
            "did not join: the answer cannot be read: `result.match_id`: expected R1M1",
        ),
        (
            join(json!({"match_id": "R1M1", "accept": true, "auth_token": "tok_no"})),
            "did not join: the answer was refused as unproved",
        ),
        (Say::Body("oops".into()), "did not join: what came was no usable answer: HTTP status 200"),
        (
            Say::Body(
                "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-1,\"message\":\"prf_ab\"}}"
                    .into(),
            ),
            "did not join: what came was no usable answer: refused with -1: [redacted]",
        ),
    ]
}

// req: ERR-2, OBS-2
#[test]
fn the_reason_of_a_loss_at_the_invitation_is_what_came() {
    for (said, reason) in bad_joins() {
        let scene = one_silent(RuleSet::V21, Shape::Flat, move |call| match call.kind {
            "GAME_INVITATION" => said.clone(),
            _ => Say::Usual,
        });
        scene.assert_lost(reason);
    }
}

// req: ERR-2, OBS-2
#[test]
fn the_reason_of_a_loss_at_the_choice_is_what_came_last() {
    let token = |call: &Call| {
        let fields = json!({"match_id": call.message["match_id"], "parity_choice": "even",
                            "auth_token": "tok_no"});
        Say::Message("CHOOSE_PARITY_RESPONSE", fields)
    };
    let scene = one_silent(RuleSet::V21, Shape::Flat, move |call| match call.kind {
        "CHOOSE_PARITY_CALL" => token(call),
        _ => Say::Usual,
    });
    scene.assert_lost("did not choose: the answer was refused as unproved: its auth_token");

    let asked = AtomicUsize::new(0);
    let scene = one_silent(RuleSet::V21, Shape::Flat, move |call| match call.kind {
        "CHOOSE_PARITY_CALL" if asked.fetch_add(1, Ordering::SeqCst) < 2 => {
            Say::Body("oops".into())
        }
        "CHOOSE_PARITY_CALL" => Say::Nothing,
        _ => Say::Usual,
    });
    scene.assert_lost("did not choose: no answer in time");

    let scene = one(RuleSet::V21, Shape::Flat, |call| match call.kind {
        "CHOOSE_PARITY_CALL" => {
            let fields = json!({"match_id": "R2M1", "parity_choice": "even"});
            Say::Message("CHOOSE_PARITY_RESPONSE", fields)
        }
        _ => Say::Usual,
    });
    scene.assert_lost("The answer names another match: `result.match_id`: expected R1M1");
    let error = scene.troubled.nth(3, "GAME_ERROR");
    assert_eq!(error.message["context"]["got"], "R2M1", "{}", error.message);
}

// req: MATCH-5
#[test]
fn a_nonce_has_a_limit() {
    let asked = AtomicUsize::new(0);
    let scene = one(RuleSet::V21, Shape::Typed, move |call| {
        if call.kind != "CHOOSE_PARITY_CALL" {
            return Say::Usual;
        }
        let bytes = if asked.fetch_add(1, Ordering::SeqCst) == 0 { 129 } else { 128 };
        let fields = json!({
            "match_id": call.message["match_id"], "parity_choice": "even",
            "nonce": "n".repeat(bytes),
        });
        Say::Message("CHOOSE_PARITY_RESPONSE", fields)
    });
    assert!(scene.result.verdict.was_played(), "{:?}", scene.result);
    assert_eq!(scene.errors(1), [told("E003", 1, 3, true)]);
    let error = scene.troubled.nth(1, "GAME_ERROR");
    let text = error.text("error_description");
    assert!(text.contains("result.nonce") && text.contains("at most 128 bytes"), "{text}");
}
