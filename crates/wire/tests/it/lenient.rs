//! What is understood although it is not as the documents say, and what is not.

use league_core::time::Timestamp;
use league_wire::dialect::{decode_request, decode_result, encode_request, encode_result};
use league_wire::frame::{self, Incoming};
use league_wire::lenient::{
    Asked, Slip, Understood, read_answer, read_plain_registration, read_request,
};
use league_wire::message::{PlayerRegistration, RefereeRegistration};
use league_wire::{Decoded, Dialect, Id, Json, Message, MessageType, Parity, Reply, Sender};
use serde_json::{Value, json};

use crate::samples;

const NOW: Timestamp = Timestamp::from_millis(1_736_937_000_000);

// req: WIRE-2
#[test]
fn a_registration_may_say_nothing_about_itself() {
    let mut frame = request(Dialect::Flat, MessageType::LeagueRegisterRequest);
    for name in ["protocol", "message_type", "sender", "timestamp", "conversation_id"] {
        frame["params"].as_object_mut().unwrap().remove(name);
    }
    let Understood { meaning, deviations } = understood(&frame);
    assert_eq!(meaning.letter.message, samples::letter(MessageType::LeagueRegisterRequest).message);
    assert_eq!(meaning.letter.envelope.timestamp, NOW);
    assert_eq!(meaning.letter.envelope.sender, Sender::Player("unregistered".into()));
    let told: Vec<_> =
        deviations.iter().map(|deviation| (deviation.slip, &*deviation.fix)).collect();
    let fix = "add `params.protocol`, `params.message_type`, `params.sender`, \
               `params.timestamp`, `params.conversation_id`";
    assert_eq!(told, [(Slip::BareRegistration, fix)]);
    let again = understood(&frame).meaning.letter.envelope;
    assert_eq!(again.conversation, meaning.letter.envelope.conversation);

    let mut query = request(Dialect::Flat, MessageType::LeagueQuery);
    query["params"].as_object_mut().unwrap().remove("sender");
    assert_eq!(read(&query), None);
}

#[test]
fn a_registration_may_have_other_names_and_no_meta() {
    let frame = json!({
        "jsonrpc": "2.0", "id": 7, "method": "player_register",
        "params": {
            "protocol": "league.v2", "message_type": "REGISTER_PLAYER_REQUEST",
            "sender": "player:alpha", "timestamp": "2025-01-15T10:30:00+00:00Z",
            "conversation_id": "conv1", "name": "Alpha", "version": "1.0.0",
            "game_types": ["even_odd"], "endpoint_url": "http://127.0.0.1:8101/mcp",
        },
    });
    let Understood { meaning, deviations } = understood(&frame);
    let Message::LeagueRegisterRequest(PlayerRegistration { meta }) = meaning.letter.message else {
        panic!("a registration")
    };
    assert_eq!((&*meta.display_name, &*meta.version), ("Alpha", "1.0.0"));
    assert_eq!(meta.contact_endpoint.as_deref(), Some("http://127.0.0.1:8101/mcp"));
    let advice = deviations.advice();
    for fix in [
        "change `params.message_type` to \"LEAGUE_REGISTER_REQUEST\"",
        "change `method` from \"player_register\" to \"register_player\"",
        "rename `params.endpoint_url` to `params.player_meta.contact_endpoint`",
        "rename `params.name` to `params.player_meta.display_name`",
        "move `version`, `game_types` from `params` to `params.player_meta`",
        "end `params.timestamp` with either `Z` or `+00:00`, not both",
    ] {
        assert!(advice.contains(fix), "{advice}");
    }
}

// req: REG-2, WIRE-6
#[test]
fn what_a_registration_says_elsewhere_is_not_passed_over() {
    for (at, name, value, fix) in [
        (
            "player_meta",
            "contactEndpoint",
            json!("http://127.0.0.1:9/mcp"),
            "to `params.player_meta.contact_endpoint`",
        ),
        (
            "",
            "contactEndpoint",
            json!("http://127.0.0.1:9/mcp"),
            "rename `params.contactEndpoint` to `params.player_meta.contact_endpoint`",
        ),
        (
            "player_meta",
            "Pull",
            json!(true),
            "rename `params.player_meta.Pull` to `params.player_meta.pull`",
        ),
        ("", "pull", json!(true), "move `pull` from `params` to `params.player_meta`"),
        ("", "leagueId", json!("winter"), "rename `params.leagueId` to `params.league_id`"),
        ("", "league", json!("winter"), "rename `params.league` to `params.league_id`"),
        (
            "player_meta",
            "league_id",
            json!("winter"),
            "move `league_id` from `params.player_meta` to `params`",
        ),
        ("", "dialect", json!("typed"), "move `dialect` from `params` to `params.player_meta`"),
        (
            "",
            "joinCode",
            json!("abc"),
            "rename `params.joinCode` to `params.player_meta.join_code`",
        ),
    ] {
        let mut frame = request(Dialect::Flat, MessageType::LeagueRegisterRequest);
        let params = frame["params"].as_object_mut().unwrap();
        params.remove("league_id");
        params["player_meta"] =
            json!({"display_name": "Alpha", "version": "1.0.0", "game_types": ["even_odd"]});
        assert!(is_taken(&frame), "{frame}");
        let place = if at.is_empty() { &mut frame["params"] } else { &mut frame["params"][at] };
        place[name] = value;
        assert!(!is_taken(&frame), "{frame}");
        let advice = understood(&frame).deviations.advice();
        assert!(advice.contains(fix), "{advice}");
    }
}

#[test]
fn other_fields_of_a_registration_and_those_that_it_has_are_no_matter() {
    let mut frame = request(Dialect::Flat, MessageType::LeagueRegisterRequest);
    frame["params"]["league_id"] = "spring".into();
    let meta = &mut frame["params"]["player_meta"];
    meta["contact_endpoint"] = "http://127.0.0.1:8101/mcp".into();
    meta["endpoint"] = "http://127.0.0.1:9999/mcp".into();
    meta["homepage"] = "http://127.0.0.1:9999/".into();
    meta["type"] = "llm".into();
    frame["params"]["league"] = json!({"season": 3});
    frame["params"]["leagueId"] = "spring-2".into();
    frame["params"]["authToken"] = Value::Null;
    assert!(is_taken(&frame), "{frame}");
}

// req: REG-2
#[test]
fn a_plain_registration_is_of_the_kind_that_it_names_or_none() {
    let body = |more: Value| {
        let mut body = json!({"display_name": "Alpha", "version": "1.0.0",
            "game_types": ["even_odd"], "endpoint": "http://127.0.0.1:8101/mcp"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body.to_string().into_bytes()
    };
    let kind = |more: &Value| {
        let read = read_plain_registration(&body(more.clone()), NOW);
        read.ok().map(|read| (read.meaning.letter.message.kind(), read.deviations.advice()))
    };
    for more in [
        json!({"type": "referee"}),
        json!({"kind": "referee"}),
        json!({"Role": "Referee"}),
        json!({"agentType": "referee"}),
        json!({"agent_type": "referee_agent"}),
        json!({"sender": "referee:R1"}),
        json!({"agent": "referee"}),
        json!({"is_referee": true}),
        json!({"message_type": "REFEREE_REGISTER_REQUEST"}),
        json!({"referee_meta": {}}),
    ] {
        let (kind, advice) = kind(&more).unwrap_or_else(|| panic!("{more}"));
        assert_eq!(kind, MessageType::RefereeRegisterRequest, "{more}");
        assert!(advice.contains("`register_referee`"), "{advice}");
        assert!(!advice.contains("rename `type`"), "{advice}");
    }
    for more in [
        json!({}),
        json!({"role": "player"}),
        json!({"type": "Player"}),
        json!({"is_referee": false}),
        json!({"type": "register_player"}),
    ] {
        let read = kind(&more).map(|(kind, _)| kind);
        assert_eq!(read, Some(MessageType::LeagueRegisterRequest), "{more}");
    }
    for more in [
        json!({"role": "REF"}),
        json!({"role": "judge"}),
        json!({"role": ["referee"]}),
        json!({"role": "player", "referee_meta": {}}),
        json!({"type": "umpire"}),
        json!({"role": "player", "message_type": "REFEREE_REGISTER_REQUEST"}),
    ] {
        assert_eq!(kind(&more), None, "{more}");
    }
    let mut frame = request(Dialect::Flat, MessageType::LeagueRegisterRequest);
    let params = frame["params"].as_object_mut().unwrap();
    let meta = params.remove("player_meta").unwrap();
    params.insert("referee_meta".into(), meta);
    assert_eq!(read(&frame), None);
}

#[test]
fn a_plain_registration_is_one() {
    let body = json!({
        "display_name": "Alpha", "version": "1.0.0", "game_types": ["even_odd"],
        "endpoint": "http://127.0.0.1:8101/mcp", "role": "referee",
    });
    let Understood { meaning, deviations } =
        read_plain_registration(body.to_string().as_bytes(), NOW).unwrap();
    assert!(matches!(
        meaning.letter.message,
        Message::RefereeRegisterRequest(RefereeRegistration { .. })
    ));
    assert!(deviations.iter().any(|deviation| deviation.slip == Slip::PlainRegister));
    let whole = request(Dialect::Typed, MessageType::LeagueRegisterRequest).to_string();
    let Understood { meaning, .. } = read_plain_registration(whole.as_bytes(), NOW).unwrap();
    assert_eq!(meaning.dialect, Dialect::Typed);
    for other in [
        json!({"name": "Alpha"}),
        json!({"endpoint": "http://a/mcp", "url": "http://b/mcp", "name": "A", "version": "1",
               "games": ["even_odd"]}),
        request(Dialect::Flat, MessageType::LeagueQuery),
    ] {
        assert!(read_plain_registration(other.to_string().as_bytes(), NOW).is_err(), "{other}");
    }
}

#[test]
fn an_answer_may_be_in_a_slightly_wrong_place() {
    let message = json!({
        "protocol": "league.v2", "message_type": "CHOOSE_PARITY_RESPONSE",
        "sender": "player:P01", "timestamp": "2025-01-15T10:30:00Z", "conversation_id": "c1",
        "match_id": "R1M1", "player_id": "P01", "parity_choice": "odd",
    });
    let bare = json!({"match_id": "R1M1", "parity_choice": "odd"});
    let moved = json!({"match_id": "R1M1", "move": "odd"});
    let inner = json!({"match_id": "R1M1", "move": {"choice": "odd"}});
    let cased = json!({"matchId": "R1M1", "parityChoice": "odd"});
    let result = |result: Value| json!({"jsonrpc": "2.0", "result": result, "id": 1});
    for (body, slip, fix) in [
        (
            json!({"jsonrpc": "2.0", "result": message, "error": null, "id": 1}),
            Slip::ErrorBesideResult,
            "leave `error` out",
        ),
        (
            json!({"jsonrpc": "2.0", "method": "parity_choice", "params": message, "id": 99}),
            Slip::ReplyAsRequest,
            "answer with `{\"jsonrpc\": \"2.0\", \"result\": {…}, \"id\": <the request's>}`",
        ),
        (message.clone(), Slip::ReplyWithoutFrame, "into `result`"),
        (json!({"jsonrpc": "2.0", "result": message, "id": 9}), Slip::ReplyId, "which was 1"),
        (result(bare.clone()), Slip::BareReply, "add `result.protocol`, `result.message_type`"),
        (result(json!({"response": message})), Slip::Nested, "from `result.response` to `result`"),
        (result(json!({"data": bare})), Slip::Nested, "from `result.data` to `result`"),
        (result(moved), Slip::Renamed, "rename `result.move` to `result.parity_choice`"),
        (result(inner), Slip::Nested, "move `choice` from `result.move` to `result`"),
        (result(cased), Slip::Renamed, "rename `result.matchId` to `result.match_id`"),
    ] {
        let Understood { meaning, deviations } = answer(Dialect::Flat, &body).unwrap();
        let Message::ChooseParityResponse(said) = meaning.message else { panic!("a choice") };
        assert_eq!(
            (said.choice, said.match_id.to_string()),
            (Parity::Odd, "R1M1".into()),
            "{body}"
        );
        let told = deviations.iter().find(|deviation| deviation.slip == slip);
        assert!(told.is_some_and(|told| told.fix.contains(fix)), "{body}: {deviations:?}");
    }
}

#[test]
fn what_can_be_meant_in_two_ways_or_breaks_the_rules_is_not_understood() {
    let result = |result: Value| json!({"jsonrpc": "2.0", "result": result, "id": 1});
    for body in [
        result(
            json!({"match_id": "R1M1", "data": {"choice": "odd"}, "response": {"choice": "even"}}),
        ),
        result(json!({"match_id": "R1M1", "move": "odd", "parity": "even"})),
        result(json!({"match_id": "R1M1", "choice": "odd", "move": "even"})),
        result(json!({"match_id": "R1M1", "parity_choice": "odd", "parity": "even"})),
        result(json!({"match_id": "R1M1", "choice": "odd", "error": "cannot choose"})),
        result(json!({"match_id": "R1M1", "choice": "odd", "status": "failed"})),
        result(json!({"match_id": "R1M1", "choice": "odd", "type": "GAME_DECLINE"})),
        result(json!({"match_id": "R1M1", "data": {"match_id": "R2M1", "choice": "odd"}})),
        result(json!({"match_id": "R1M1", "debug": {"choice": "odd"}})),
        result(json!({"match_id": "R1M1", "choice": "Odd"})),
        result(json!({"match_id": "R1M1", "choice": "yes"})),
        result(json!({"choice": "odd"})),
        result(json!({"status": "received"})),
        result(json!({"match_id": "R1M1", "choice": "odd", "message_type": "GAME_JOIN_ACK"})),
        result(json!({"match_id": "R1M1", "choice": "odd", "message_type": "SOMETHING"})),
        result(json!({"match_id": "R1M1", "choice": "odd", "protocol": "league.v1"})),
        result(json!({"match_id": "R1M1", "choice": "odd", "data": {"auth_token": "tok_x"}})),
        result(json!({"match_id": "R1M1", "choice": "odd", "timestamp": "2025-01-15T10:30:00"})),
        json!({"jsonrpc": "2.0", "error": {"code": 1, "message": "no"}, "id": 1,
               "result": {"match_id": "R1M1", "choice": "odd"}}),
        json!(["R1M1", "odd"]),
        json!("odd"),
    ] {
        assert_eq!(answer(Dialect::Flat, &body), None, "{body}");
    }
    let twice =
        r#"{"jsonrpc":"2.0","result":{"match_id":"R1M1","choice":"odd","choice":"even"},"id":1}"#;
    assert!(read_answer(asked(Dialect::Flat, &1.into()), twice.as_bytes()).is_err());
    assert!(read_answer(asked(Dialect::Flat, &1.into()), b"\xff").is_err());
}

#[test]
fn the_same_thing_said_twice_is_said_once() {
    let result = |result: Value| json!({"jsonrpc": "2.0", "result": result, "id": 1});
    for body in [
        result(json!({"match_id": "R1M1", "choice": "odd", "move": "odd", "parity": "odd"})),
        result(json!({"match_id": "R1M1", "choice": "odd", "data": {"parityChoice": "odd"}})),
        result(json!({"match_id": "R1M1", "choice": "odd", "success": true, "error": null,
                      "status": "ok", "type": "move"})),
    ] {
        assert!(answer(Dialect::Flat, &body).is_some(), "{body}");
    }
}

#[test]
fn who_both_joins_and_declines_has_done_neither() {
    let read = |result: Value| {
        let body = json!({"jsonrpc": "2.0", "result": result, "id": 1}).to_string();
        let id = Id::from(1);
        let asked =
            Asked { dialect: Dialect::Flat, expected: &[MessageType::GameJoinAck], id: &id };
        let read = read_answer(asked, body.as_bytes()).ok()?.meaning;
        let Message::GameJoinAck(ack) = read.message else { panic!("an answer") };
        Some(ack.accept)
    };
    for contradicts in [
        json!({"match_id": "R1M1", "accept": true, "accepted": false}),
        json!({"match_id": "R1M1", "accept": true, "type": "GAME_DECLINE"}),
        json!({"match_id": "R1M1", "accept": true, "type": "decline"}),
        json!({"success": false, "error": "no", "data": {"match_id": "R1M1", "accept": true}}),
    ] {
        assert_eq!(read(contradicts.clone()), None, "{contradicts}");
    }
    assert_eq!(read(json!({"match_id": "R1M1", "accept": true, "accepted": true})), Some(true));
    assert_eq!(read(json!({"match_id": "R1M1", "accept": false, "ok": false})), Some(false));
}

#[test]
fn the_parts_of_a_tools_answer_agree() {
    let text = |json: Value| json!({"type": "text", "text": json.to_string()});
    let (odd, even) = (
        json!({"match_id": "R1M1", "choice": "odd"}),
        json!({"match_id": "R1M1", "choice": "even"}),
    );
    let taken = |result: Value| {
        answer(Dialect::Tool, &json!({"jsonrpc": "2.0", "result": result, "id": 1})).is_some()
    };
    assert!(taken(json!({"content": [text(odd.clone())]})));
    assert!(taken(json!({"content": [text(odd.clone()), text(odd.clone())], "isError": false})));
    assert!(taken(json!({"content": [{"type": "text", "text": "hm"}], "structuredContent": odd})));
    assert!(!taken(json!({"content": [text(odd.clone()), text(even.clone())]})));
    assert!(!taken(json!({"content": [text(even)], "structuredContent": odd})));
    assert!(!taken(json!({"structuredContent": odd, "isError": "true"})));
    let letter = samples::letter(MessageType::ChooseParityResponse);
    let bytes = encode_result(Dialect::Tool, &1.into(), &letter);
    let mut whole: Value = serde_json::from_slice(&bytes).unwrap();
    let strict = |whole: &Value| {
        let text = whole["result"].to_string();
        let expected = [MessageType::ChooseParityResponse];
        decode_result(Dialect::Tool, &expected, Json::parse(&text).unwrap()).is_ok()
    };
    assert!(strict(&whole));
    whole["result"]["isError"] = "true".into();
    assert!(!strict(&whole));
}

// req: WIRE-6
#[test]
fn a_report_has_one_winner() {
    let frame = request(Dialect::Flat, MessageType::MatchResultReport);
    let winner = frame["params"]["result"]["winner"].clone();
    assert!(winner.is_string() && is_taken(&frame), "{frame}");
    for (at, name) in [("/params/result", "winnerId"), ("/params", "winner")] {
        for (value, is_fine) in [(winner.clone(), true), (json!("P77"), false)] {
            let mut frame = frame.clone();
            frame.pointer_mut(at).unwrap()[name] = value;
            assert_eq!(is_taken(&frame), is_fine, "{frame}");
            assert_eq!(read(&frame), None, "{frame}");
        }
    }
}

#[test]
fn what_is_not_understood_is_told_where_it_stands() {
    let mistake = |result: Value| {
        let body = json!({"jsonrpc": "2.0", "result": result, "id": 1}).to_string();
        let read = read_answer(asked(Dialect::Flat, &1.into()), body.as_bytes());
        read.unwrap_err().expect("something to say").instead_of(None)
    };
    let upper = mistake(json!({"match_id": "R1M1", "choice": "EVEN"}));
    assert_eq!(
        upper.to_string(),
        "`result.choice`: expected exactly \"even\" or \"odd\", got \"EVEN\"; \
        change `result.choice` to exactly \"even\" or \"odd\""
    );
    let moved = mistake(json!({"match_id": "R1M1", "data": {"move": "EVEN"}}));
    assert!(moved.to_string().starts_with("`result.data.move`: "), "{moved}");
    let missing = mistake(json!({"choice": "odd"}));
    assert_eq!(
        (missing.in_short().as_str(), &*missing.fix),
        ("`result.match_id` is missing", "add `result.match_id`")
    );
    let other = mistake(json!({"match_id": "R1M1", "choice": "odd", "type": "GAME_DECLINE"}));
    assert_eq!(other.fix, "change `result.type` to \"CHOOSE_PARITY_RESPONSE\"");
    let two = mistake(json!({"match_id": "R1M1", "choice": "odd", "move": "even"}));
    assert_eq!(two.at, "result.choice and result.move");
    assert!(!two.without_choice().to_string().contains("odd"), "{two}");
}

#[test]
fn names_in_advice_are_short_and_hold_no_token() {
    let mut frame = request(Dialect::Flat, MessageType::LeagueRegisterRequest);
    frame["params"]["message_type"] = "REGISTER_PLAYER_REQUEST".into();
    frame["params"]["tok_player_P01_SECRET"] = json!({"a": 1});
    let told = format!("{:?}", understood(&frame).deviations);
    assert!(!told.contains("SECRET") && told.len() < 4_096, "{told}");
}

#[test]
fn what_the_strict_reading_takes_has_no_deviations() {
    for dialect in Dialect::ALL {
        for &kind in MessageType::ALL {
            let letter = samples::letter(kind);
            assert_eq!(read(&request(dialect, kind)), None, "{dialect} {kind:?}");
            let id = Id::from(1);
            let bytes = encode_result(dialect, &id, &letter);
            let asked = Asked { dialect, expected: &[kind], id: &id };
            assert_eq!(read_answer(asked, &bytes).ok(), None, "{dialect} {kind:?}");
        }
    }
}

fn request(dialect: Dialect, kind: MessageType) -> Value {
    serde_json::from_slice(&encode_request(dialect, 1, &samples::letter(kind))).unwrap()
}

fn is_taken(frame: &Value) -> bool {
    let text = frame.to_string();
    let Incoming::Single(Ok(request)) = frame::parse(text.as_bytes()) else { panic!("a request") };
    decode_request(&request).is_ok()
}

fn understood(frame: &Value) -> Understood<Decoded> {
    read(frame).unwrap_or_else(|| panic!("{frame}"))
}

fn read(frame: &Value) -> Option<Understood<Decoded>> {
    let text = frame.to_string();
    let Incoming::Single(Ok(request)) = frame::parse(text.as_bytes()) else { panic!("a request") };
    let read = read_request(&request, NOW).ok();
    assert!(read.is_none() || decode_request(&request).is_err(), "{text}");
    read
}

fn answer(dialect: Dialect, body: &Value) -> Option<Understood<Reply>> {
    read_answer(asked(dialect, &1.into()), body.to_string().as_bytes()).ok()
}

fn asked(dialect: Dialect, id: &Id) -> Asked<'_> {
    Asked { dialect, expected: &[MessageType::ChooseParityResponse], id }
}

#[test]
fn the_documentation_lists_every_deviation_with_its_fix() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/protocol/lenient.md");
    let page = std::fs::read_to_string(path).unwrap();
    let row = |slip: &Slip| format!("| `{slip}` | {} | {} |\n", slip.what(), slip.fix());
    let rows: String = Slip::ALL.iter().map(row).collect();
    assert!(page.contains(&rows), "the table of {path} should be\n{rows}");
    assert_eq!(page.lines().filter(|line| line.starts_with("| `")).count(), Slip::ALL.len());
}
