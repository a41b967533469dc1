//! Joining a league, in the words of every document.

use league_core::manager::Fact;
use league_core::policy::RuleSet;
use serde_json::{Value, json};

use crate::shape::{Shape, Stamp};
use crate::stage::{ADMIN, LEAGUE, Plan, Stage};
use crate::stranger::Stranger;

/// The refusal that answers `stranger` when it registers with `meta`.
fn refusal(stage: &Stage, stranger: &Stranger, meta: &Value) -> Value {
    let reply = stage.send(&stranger.application(meta));
    assert_eq!(reply.status, 200);
    let result = stranger.shape.opened(&reply.result()).unwrap();
    assert_eq!(result["status"], "REJECTED", "{result}");
    assert_eq!(result["rejection_reason"], result["error_description"]);
    assert_eq!(result["reason"], result["error_description"]);
    assert!(result.get("auth_token").is_none_or(Value::is_null), "{result}");
    result
}

fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

// req: REG-1, REG-2, WIRE-8
#[test]
fn every_shape_is_let_in_and_answered_in_its_own_shape() {
    let stage = Stage::open(&Plan::on_command(8));
    for (number, shape) in (1..).zip(Shape::ALL) {
        let stranger = Stranger::player(shape);
        let reply = stage.send(&stranger.application(&stranger.meta()));
        assert_eq!(reply.json()["id"], 1);
        let result = shape.opened(&reply.result()).unwrap();
        assert_eq!(result["message_type"], "LEAGUE_REGISTER_RESPONSE");
        assert_eq!(result["status"], "ACCEPTED");
        assert_eq!(result["player_id"], format!("P0{number}"));
        assert_eq!(result["league_id"], LEAGUE);
        assert_eq!(result["sender"], "league_manager");
        assert_eq!(result["conversation_id"], "conv-registration-1");
        assert!(result["rejection_reason"].is_null());
    }
    let (first, second) = (Stranger::referee(), Stranger::referee());
    assert_eq!(first.register(&stage).id, "REF01");
    assert_eq!(second.register(&stage).id, "REF02");
}

// req: AUTH-1
#[test]
fn tokens_have_the_form_of_the_rule_set_and_are_never_twice_the_same() {
    for rule_set in RuleSet::ALL {
        let stage = Stage::open(&Plan::on_command(8).under(rule_set));
        let agents = [Stranger::player(Shape::Flat), Stranger::player(Shape::Typed)];
        let [one, other] = agents.each_ref().map(|agent| agent.register(&stage));
        let referee = Stranger::referee().register(&stage);
        assert_ne!(one.token, other.token);
        let (player, official) = match rule_set {
            RuleSet::V21 => ("tok_player_P01_", "tok_referee_REF01_"),
            RuleSet::V20 => ("tok_", "tok_"),
        };
        let digits = if rule_set == RuleSet::V21 { 64 } else { 32 };
        assert!(is_hex(one.token.strip_prefix(player).unwrap(), digits), "{}", one.token);
        assert!(is_hex(referee.token.strip_prefix(official).unwrap(), digits));
    }
}

// req: REG-4
#[test]
fn an_address_registers_once_and_a_name_as_often_as_it_likes() {
    let stage = Stage::open(&Plan::on_command(8));
    for shape in Shape::ALL {
        let stranger = Stranger::player(shape);
        let me = stranger.register(&stage);
        let again = stage.send(&stranger.application(&stranger.meta()));
        let again = shape.opened(&again.result()).unwrap();
        assert_eq!(again["player_id"], me.id, "the same registration gets the same answer");
        assert_eq!(again["auth_token"], me.token);
        let other = stranger.application_in("conv-registration-2", &stranger.meta());
        let result = shape.opened(&stage.send(&other).result()).unwrap();
        assert_eq!(result["status"], "REJECTED");
        assert_eq!(result["error_code"], "L003");
        assert_eq!(result["error_name"], "ALREADY_REGISTERED");
    }
    let same_name = Stranger::player(Shape::Flat);
    assert_eq!(same_name.register(&stage).id, "P05");
}

// req: REG-3
#[test]
fn another_version_is_told_which_ones_are_supported() {
    let stage = Stage::open(&Plan::on_command(8));
    let stranger = Stranger::player(Shape::Flat);
    let mut meta = stranger.meta();
    meta["protocol_version"] = json!("1.5.0");
    let result = refusal(&stage, &stranger, &meta);
    assert_eq!(result["error_code"], "E018");
    assert_eq!(
        result["error_description"],
        "Agent protocol version 1.5.0 not supported. Required: 2.0.0 - 2.1.0"
    );
    assert_eq!(result["action_required"], "Speak version 2.1.0, or one from 2.0.0 on");
    let expected = json!({"agent_version": "1.5.0", "min_supported": "2.0.0", "current": "2.1.0"});
    assert_eq!(result["context"], expected);
    for version in ["two", "2.2.0", "2.1", ""] {
        meta["protocol_version"] = json!(version);
        assert_eq!(refusal(&stage, &stranger, &meta)["error_code"], "E018", "{version}");
    }
    meta["protocol_version"] = json!("2.0.7");
    let reply = stage.send(&stranger.application(&meta));
    assert_eq!(reply.result()["player_id"], "P01", "refusals use up no id");
}

#[test]
fn a_name_that_would_spoil_the_table_is_refused_with_the_limit() {
    let stage = Stage::open(&Plan::on_command(8));
    let stranger = Stranger::player(Shape::Flat);
    let mut meta = stranger.meta();
    for name in ["   ", "\u{1b}[31mred\nnew\u{202e}", &"A".repeat(129)] {
        meta["display_name"] = json!(name);
        let result = refusal(&stage, &stranger, &meta);
        assert_eq!(result["error_code"], "E003", "{name:?}");
        let described = result["error_description"].as_str().unwrap();
        assert!(described.starts_with("the display name is blank, too long"), "{described}");
        let advice = result["action_required"].as_str().unwrap();
        assert!(advice.contains("display name of 1 to 128 bytes"), "{advice}");
    }
    meta["display_name"] = json!("A".repeat(128));
    assert_eq!(stage.send(&stranger.application(&meta)).result()["player_id"], "P01");
}

#[test]
fn a_missing_field_is_named_with_its_whole_path() {
    let stage = Stage::open(&Plan::on_command(8));
    for (shape, path) in [
        (Shape::Flat, "params.player_meta.display_name"),
        (Shape::Typed, "params.player_meta.display_name"),
        (Shape::V21, "params.player_meta.display_name"),
        (Shape::Enveloped, "params.payload.player_meta.display_name"),
    ] {
        let stranger = Stranger::player(shape);
        let mut meta = stranger.meta();
        meta.as_object_mut().unwrap().remove("display_name");
        let error = stage.send(&stranger.application(&meta)).error();
        assert_eq!(error["code"], -32003);
        assert!(error["message"].as_str().unwrap().contains(path), "{error}");
        let data = shape.opened(&error["data"]).unwrap();
        assert_eq!(data["message_type"], "LEAGUE_ERROR");
        assert_eq!(data["error_code"], "E003");
        assert_eq!(data["context"]["field"], path);
    }
}

// req: REG-7
#[test]
fn a_full_league_names_its_limit() {
    let stage = Stage::open(&Plan::on_command(2));
    let (first, second) = (Stranger::player(Shape::Flat), Stranger::player(Shape::Flat));
    first.register(&stage);
    second.register(&stage);
    let third = Stranger::player(Shape::V21);
    let result = refusal(&stage, &third, &third.meta());
    assert_eq!(result["error_code"], "L002");
    assert!(result["rejection_reason"].as_str().unwrap().contains('2'), "{result}");
}

// req: ARCH-5
#[test]
fn an_unknown_league_is_refused_with_the_ones_there_are() {
    let stage = Stage::open(&Plan::on_command(2));
    let stranger = Stranger::player(Shape::Flat);
    let mut request = stranger.application(&stranger.meta());
    request["params"]["league_id"] = json!("league_elsewhere");
    let result = stage.send(&request).result();
    assert_eq!(result["status"], "REJECTED");
    assert_eq!(result["error_code"], "E014");
    assert!(result["error_description"].as_str().unwrap().contains(LEAGUE), "{result}");

    let params = request["params"].as_object_mut().unwrap();
    params.remove("league_id");
    assert_eq!(stage.send(&request).result()["status"], "ACCEPTED", "there is only one");
}

// req: REG-5, SCHED-6, ARCH-4
#[test]
fn after_the_start_only_referees_join() {
    let stage = Stage::open(&Plan::on_command(8));
    let players = [Stranger::player(Shape::Flat), Stranger::player(Shape::Typed)];
    players.iter().for_each(|player| drop(player.register(&stage)));
    let referee = Stranger::referee();
    referee.register(&stage);
    let start = |sender: &str, token: &str| {
        let stamp = Stamp::new(sender, "conv-start", token);
        let fields = json!({"league_id": LEAGUE});
        stage.send(&Shape::Flat.request(("start_league", "START_LEAGUE"), &stamp, fields))
    };
    assert_eq!(start("administrator", "").code(), "E011");
    assert_eq!(start("administrator", &referee.me().token).code(), "E012");
    assert_eq!(start("referee:REF01", ADMIN).code(), "E012");
    start("administrator", ADMIN).result();
    stage.events_until(|fact| *fact == Fact::LeagueStarted);
    assert_eq!(start("administrator", ADMIN).code(), "G005");

    let late = Stranger::player(Shape::Enveloped);
    assert_eq!(refusal(&stage, &late, &late.meta())["error_code"], "E019");
    let late = Stranger::referee();
    assert_eq!(late.register(&stage).id, "REF02");
}

#[test]
fn players_register_as_players_and_referees_as_referees() {
    let stage = Stage::open(&Plan::on_command(8));
    let (player, referee) = (Stranger::player(Shape::Flat), Stranger::referee());
    for (agent, sender) in [
        (&player, "referee:someone"),
        (&player, "administrator"),
        (&referee, "player:someone"),
        (&referee, "league_manager"),
    ] {
        let mut request = agent.application(&agent.meta());
        request["params"]["sender"] = json!(sender);
        let result = stage.send(&request).result();
        assert_eq!(result["status"], "REJECTED", "{sender}");
        assert_eq!(result["error_code"], "E003", "{result}");
    }
    assert_eq!(player.register(&stage).id, "P01");
    assert_eq!(referee.register(&stage).id, "REF01");
}

#[test]
fn an_address_that_cannot_be_called_is_refused() {
    let stage = Stage::open(&Plan::on_command(8));
    let stranger = Stranger::player(Shape::Flat);
    for endpoint in ["localhost:8101", "http://", "http://:8101/mcp", "http://a b/mcp", "mcp"] {
        let mut meta = stranger.meta();
        meta["contact_endpoint"] = json!(endpoint);
        let result = refusal(&stage, &stranger, &meta);
        assert_eq!(result["error_code"], "E003", "{endpoint}");
        let text = result["error_description"].as_str().unwrap();
        assert!(text.contains("contact_endpoint"), "{text}");
    }
}

// req: REG-9
#[test]
fn a_referee_runs_at_least_one_match_and_a_name_can_be_seen() {
    let stage = Stage::open(&Plan::on_command(8));
    let referee = Stranger::referee();
    let mut meta = referee.meta();
    meta["max_concurrent_matches"] = json!(0);
    let result = refusal(&stage, &referee, &meta);
    assert_eq!(result["error_code"], "E003", "{result}");
    let player = Stranger::player(Shape::Flat);
    for name in ["\u{200b}", "\u{feff}\u{feff}", "\u{e0041}"] {
        let mut meta = player.meta();
        meta["display_name"] = json!(name);
        assert_eq!(refusal(&stage, &player, &meta)["error_code"], "E003", "{name:?}");
    }
}
