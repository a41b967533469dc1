//! What is refused, and what the refusal says.

use league_wire::dialect::{
    decode_request, decode_result, encode_request, encode_result, tool_error,
};
use league_wire::frame::{self, Incoming, Outcome};
use league_wire::message::{ErrorCode, GameJoinAck, Meta, ParityResponse};
use league_wire::{Code, DecodeError, Decoded, Dialect, Json, Message, MessageType, Reply};
use serde_json::{Value, json};

use crate::samples;

// req: WIRE-2, WIRE-3, WIRE-6
#[test]
fn a_request_without_an_envelope_field_is_refused_by_its_name() {
    for dialect in Dialect::ALL {
        let at = match dialect {
            Dialect::Enveloped => "params.envelope",
            Dialect::Tool => "params.arguments",
            Dialect::Wrapped => "params.message",
            Dialect::Flat | Dialect::Typed | Dialect::V21 | Dialect::Payload => "params",
        };
        let names = match dialect {
            Dialect::Payload => ["protocol", "type", "sender", "timestamp", "message_id"],
            _ => ["protocol", "message_type", "sender", "timestamp", "conversation_id"],
        };
        let pointer = format!("/{}", at.replace('.', "/"));
        for name in names {
            let mut frame = request(dialect, MessageType::GameInvitation);
            frame.pointer_mut(&pointer).unwrap().as_object_mut().unwrap().remove(name);
            let error = decode(&frame).unwrap_err();
            assert_eq!((error.code, error.at), (Code::E003, format!("{at}.{name}")), "{dialect}");
        }
        let mut frame = request(dialect, MessageType::GameInvitation);
        frame.pointer_mut(&pointer).unwrap()["protocol"] = json!("league.v1");
        assert_eq!(decode(&frame).unwrap_err().code, Code::E018);
    }
    for name in ["league_id", "match_id", "game_type"] {
        let mut frame = request(Dialect::Enveloped, MessageType::GameInvitation);
        frame["params"]["envelope"].as_object_mut().unwrap().remove(name);
        assert_eq!(decode(&frame).unwrap_err().at, format!("params.envelope.{name}"));
    }
    let mut frame = request(Dialect::Enveloped, MessageType::GameInvitation);
    frame["params"]["payload"]["match_id"] = json!("R9M9");
    let error = decode(&frame).unwrap_err();
    assert_eq!(error.at, "params.envelope.match_id and params.payload.match_id");
}

// req: WIRE-4, WIRE-5
#[test]
fn a_wrong_time_or_sender_is_refused_with_what_is_allowed() {
    let mut frame = request(Dialect::Flat, MessageType::GameInvitation);
    frame["params"]["timestamp"] = json!("2025-01-15T10:30:00+02:00");
    let error = decode(&frame).unwrap_err();
    assert_eq!((error.code, &*error.at), (Code::E021, "params.timestamp"));
    assert!(error.fix.contains("UTC"), "{error}");

    let mut frame = request(Dialect::Flat, MessageType::GameInvitation);
    frame["params"]["sender"] = json!("coach:C01");
    let error = decode(&frame).unwrap_err();
    for form in ["league_manager", "referee:<id>", "player:<id>"] {
        assert!(error.to_string().contains(form), "{error}");
    }
    assert_eq!(error.got, "\"coach:C01\"");
}

#[test]
fn a_receipt_is_told_from_a_bad_answer() {
    let kind = MessageType::GameJoinAck;
    let read = |dialect: Dialect, result: &Value| {
        let frame = json!({"jsonrpc": "2.0", "result": result, "id": 1});
        reply(dialect, kind, &frame).unwrap_err().is_receipt()
    };
    for dialect in Dialect::ALL {
        for heard in [json!(null), json!("ok"), json!({}), json!({"status": "received"})] {
            assert!(read(dialect, &heard), "{dialect} {heard}");
        }
        let message = |protocol: &str, kind: &str| {
            let envelope = json!({"protocol": protocol, "message_type": kind});
            match dialect {
                Dialect::Enveloped => json!({"envelope": envelope, "payload": {}}),
                Dialect::Payload => json!({"protocol": protocol, "type": kind, "payload": {}}),
                _ => envelope,
            }
        };
        assert!(read(dialect, &message("league.v2", "ACK")));
        for bad in [message("league.v1", "GAME_JOIN_ACK"), message("league.v2", "GAME_OVER_ACK")] {
            assert!(!read(dialect, &bad), "{dialect} {bad}");
        }
        assert!(!read(dialect, &message("league.v2", "GAME_JOIN_ACK")), "{dialect}");
    }
}

// req: WIRE-1
#[test]
fn methods_and_parameters_must_be_those_of_the_protocol() {
    for (field, value, code) in [
        ("method", json!("tools/list"), Code::MethodNotFound),
        ("method", json!("Game_Invitation"), Code::MethodNotFound),
        ("method", json!("choose_parity"), Code::E003),
        ("params", json!([1, 2]), Code::InvalidParams),
        ("params", json!("text"), Code::InvalidParams),
    ] {
        let mut frame = request(Dialect::Flat, MessageType::GameInvitation);
        frame[field] = value;
        assert_eq!(decode(&frame).unwrap_err().code, code, "{frame}");
    }
    for field in ["params", "id"] {
        let mut frame = request(Dialect::Flat, MessageType::GameInvitation);
        frame.as_object_mut().unwrap().remove(field);
        let code = if field == "id" { Code::InvalidRequest } else { Code::InvalidParams };
        assert_eq!(decode(&frame).unwrap_err().code, code);
    }
    let mut frame = request(Dialect::Enveloped, MessageType::GameInvitation);
    frame["method"] = json!("handle_game_invitation");
    assert_eq!(decode(&frame).unwrap_err().code, Code::MethodNotFound);
}

#[test]
fn a_refusal_names_what_was_probably_meant() {
    let refused = |field: &str, value: Value, kind| {
        let mut frame = request(Dialect::Flat, kind);
        *frame.pointer_mut(field).unwrap() = value;
        decode(&frame).unwrap_err().to_string()
    };
    let invitation = MessageType::GameInvitation;
    let error = refused("/method", json!("register"), invitation);
    assert!(error.ends_with("a method of league.v2, such as \"register_player\""), "{error}");
    let error = refused("/params/message_type", json!("GAME_INVITE"), invitation);
    assert!(error.ends_with("change `params.message_type` to \"GAME_INVITATION\""), "{error}");
    let games = "/params/player_meta/game_types";
    let error = refused(games, json!("even_odd"), MessageType::LeagueRegisterRequest);
    assert!(error.contains("expected a list, got \"even_odd\""), "{error}");
    assert!(error.ends_with("to a list, such as [\"even_odd\"]"), "{error}");

    let said = json!({"protocol": "league.v2", "message_type": "PARITY_RESPONSE"});
    let frame = json!({"jsonrpc": "2.0", "result": said, "id": 1});
    let error = reply(Dialect::Flat, MessageType::ChooseParityResponse, &frame).unwrap_err();
    assert_eq!(error.expected, "\"CHOOSE_PARITY_RESPONSE\"");
}

// req: WIRE-8
#[test]
fn the_form_of_a_request_tells_its_dialect() {
    for (method, kind, dialect) in [
        ("handle_game_invitation", "GAME_INVITATION", Dialect::Flat),
        ("game_invitation", "GAME_INVITATION", Dialect::Flat),
        ("GAME_INVITATION", "GAME_INVITATION", Dialect::Typed),
    ] {
        let mut frame = request(Dialect::Flat, MessageType::GameInvitation);
        (frame["method"], frame["params"]["message_type"]) = (json!(method), json!(kind));
        assert_eq!(decode(&frame).unwrap().dialect, dialect, "{method}");
    }
    for (method, kind, dialect) in [
        ("choose_parity", "CHOOSE_PARITY", Dialect::V21),
        ("choose_parity", "CHOOSE_PARITY_CALL", Dialect::Flat),
        ("choose_parity_call", "CHOOSE_PARITY_CALL", Dialect::Flat),
        ("CHOOSE_PARITY", "CHOOSE_PARITY", Dialect::Typed),
    ] {
        let mut frame = request(Dialect::Flat, MessageType::ChooseParityCall);
        (frame["method"], frame["params"]["message_type"]) = (json!(method), json!(kind));
        assert_eq!(decode(&frame).unwrap().dialect, dialect, "{method}");
    }
    for dialect in [Dialect::Enveloped, Dialect::Payload, Dialect::Tool, Dialect::Wrapped] {
        let frame = request(dialect, MessageType::ChooseParityCall);
        assert_eq!(decode(&frame).unwrap().dialect, dialect);
    }
}

// req: WIRE-8
#[test]
fn a_registration_is_v21_only_by_its_own_fields_or_by_name() {
    let base = json!({
        "display_name": "A", "version": "1", "game_types": ["even_odd"],
        "contact_endpoint": "http://127.0.0.1:8101/mcp",
    });
    let without = |name: &str, mut meta: Value| {
        meta.as_object_mut().unwrap().remove(name);
        meta
    };
    let with = |name: &str, value: Value| {
        let mut meta = base.clone();
        meta[name] = value;
        meta
    };
    for (meta, dialect) in [
        (base.clone(), Dialect::Flat),
        (without("contact_endpoint", base.clone()), Dialect::Flat),
        (with("protocol_version", json!("2.1.0")), Dialect::Flat),
        (without("contact_endpoint", with("protocol_version", json!("2.1.0"))), Dialect::V21),
        (without("game_types", with("supported_games", json!(["even_odd"]))), Dialect::V21),
        (with("max_concurrent_games", json!(5)), Dialect::V21),
        (with("dialect", json!("v21")), Dialect::V21),
        (with("dialect", json!("typed")), Dialect::Typed),
        (with("dialect", json!("enveloped")), Dialect::Flat),
        (with("dialect", json!("tool")), Dialect::Flat),
        (with("dialect", json!("wrapped")), Dialect::Flat),
    ] {
        let mut frame = request(Dialect::Flat, MessageType::LeagueRegisterRequest);
        frame["params"]["player_meta"] = meta;
        let decoded = decode(&frame).unwrap();
        assert_eq!(decoded.dialect, dialect, "{frame}");
    }
    let mut frame = request(Dialect::Flat, MessageType::LeagueRegisterRequest);
    frame["params"]["player_meta"]["dialect"] = json!("klingon");
    assert_eq!(decode(&frame).unwrap_err().at, "params.player_meta.dialect");
}

#[test]
fn both_documents_names_of_an_agents_abilities_are_read() {
    let mut frame = request(Dialect::Flat, MessageType::RefereeRegisterRequest);
    frame["params"]["referee_meta"] = json!({
        "display_name": "R", "version": "1", "protocol_version": "2.1.0",
        "supported_games": ["even_odd", "tic_tac_toe"], "max_concurrent_games": 5,
    });
    let Message::RefereeRegisterRequest(registration) = decode(&frame).unwrap().letter.message
    else {
        panic!("a registration")
    };
    let Meta { game_types, max_concurrent_matches, contact_endpoint, .. } = registration.meta;
    assert_eq!(
        game_types.iter().map(|game| game.as_str()).collect::<Vec<_>>(),
        ["even_odd", "tic_tac_toe"]
    );
    assert_eq!((max_concurrent_matches, contact_endpoint), (Some(5), None));
}

// req: MATCH-5
#[test]
fn a_choice_is_exactly_even_or_odd() {
    for (choice, code, got) in [
        (json!("Even"), Code::E004, "\"Even\""),
        (json!("maybe"), Code::E004, "\"maybe\""),
        (json!(2), Code::E004, "2"),
        (json!(true), Code::E004, "true"),
        (json!(["even"]), Code::E004, "a list"),
        (json!(null), Code::E003, "nothing"),
    ] {
        for dialect in Dialect::ALL {
            let mut frame = result(dialect, MessageType::ChooseParityResponse);
            let body = body(&mut frame, dialect);
            body.as_object_mut().unwrap().retain(|name, _| name != "choice" && name != "move_data");
            body["parity_choice"] = choice.clone();
            let error = reply(dialect, MessageType::ChooseParityResponse, &frame).unwrap_err();
            assert_eq!((error.code, &*error.got), (code, got), "{dialect}");
        }
    }
    let mut frame = result(Dialect::Flat, MessageType::ChooseParityResponse);
    frame["result"]["match_id"] = json!("match one");
    let error = reply(Dialect::Flat, MessageType::ChooseParityResponse, &frame).unwrap_err();
    assert_eq!(error.code, Code::E015);
}

#[test]
fn a_move_is_a_word_or_a_whole_number() {
    for (data, code, got) in [
        (json!(2.5), Code::E004, "2.5"),
        (json!(true), Code::E004, "true"),
        (json!([3]), Code::E004, "a list"),
        (json!({ "number": 3 }), Code::E004, "an object"),
        (json!(null), Code::E004, "null"),
    ] {
        for dialect in Dialect::ALL {
            let mut frame = result(dialect, MessageType::GameMoveResponse);
            body(&mut frame, dialect)["move_data"] = data.clone();
            let error = reply(dialect, MessageType::GameMoveResponse, &frame).unwrap_err();
            assert_eq!((error.code, &*error.got), (code, got), "{dialect}");
        }
    }
    let mut frame = result(Dialect::Flat, MessageType::GameMoveResponse);
    body(&mut frame, Dialect::Flat).as_object_mut().unwrap().remove("move_data");
    let error = reply(Dialect::Flat, MessageType::GameMoveResponse, &frame).unwrap_err();
    assert_eq!((error.code, &*error.got), (Code::E003, "nothing"));
}

#[test]
fn two_names_of_one_field_must_say_the_same() {
    let mut frame = result(Dialect::Flat, MessageType::ChooseParityResponse);
    frame["result"]["choice"] = json!("even");
    let error = reply(Dialect::Flat, MessageType::ChooseParityResponse, &frame).unwrap_err();
    assert_eq!((error.code, &*error.at), (Code::E003, "result.parity_choice and result.choice"));

    let mut frame = result(Dialect::Flat, MessageType::GameJoinAck);
    frame["result"]["status"] = json!("REJECTED");
    let error = reply(Dialect::Flat, MessageType::GameJoinAck, &frame).unwrap_err();
    assert_eq!(error.at, "result.accept and result.status");

    let mut frame = request(Dialect::Flat, MessageType::MatchResultReport);
    frame["params"]["players"]["P01"]["points"] = json!(1);
    let error = decode(&frame).unwrap_err();
    assert_eq!((error.code, &*error.at), (Code::E003, "params.players and params.result.score"));
}

// req: MATCH-2
#[test]
fn any_no_to_an_invitation_is_a_no() {
    for (answer, accept) in [
        (json!({"accept": true}), true),
        (json!({"accept": false}), false),
        (json!({"status": "ACCEPTED", "ready": true}), true),
        (json!({"status": "ACCEPTED", "ready": false}), false),
        (json!({"status": "REJECTED", "ready": true}), false),
        (json!({"accept": true, "ready": false}), false),
    ] {
        let mut frame = result(Dialect::V21, MessageType::GameJoinAck);
        let fields = frame["result"].as_object_mut().unwrap();
        for name in ["accept", "status", "ready"] {
            fields.remove(name);
        }
        fields.extend(answer.as_object().unwrap().clone());
        let read = reply(Dialect::V21, MessageType::GameJoinAck, &frame).unwrap().message;
        assert!(
            matches!(read, Message::GameJoinAck(GameJoinAck { accept: got, .. }) if got == accept),
            "{answer}"
        );
    }
}

// req: WIRE-2
#[test]
fn an_answer_needs_only_what_its_document_puts_into_one() {
    let kind = MessageType::ChooseParityResponse;
    let bare = json!({
        "protocol": "league.v2", "message_type": "CHOOSE_PARITY_RESPONSE", "match_id": "R1M1",
        "parity_choice": "odd",
    });
    let frame = json!({"jsonrpc": "2.0", "result": bare, "id": 1});
    let Message::ChooseParityResponse(ParityResponse { .. }) =
        reply(Dialect::Typed, kind, &frame).unwrap().message
    else {
        panic!("a choice")
    };
    let error = reply(Dialect::Flat, kind, &frame).unwrap_err();
    assert_eq!(error.at, "result.sender");
    let error = reply(Dialect::Enveloped, kind, &frame).unwrap_err();
    assert_eq!(error.at, "result.envelope");
    let error = reply(Dialect::Typed, MessageType::GameJoinAck, &frame).unwrap_err();
    assert_eq!((&*error.at, &*error.expected), ("result.message_type", "GAME_JOIN_ACK"));
}

// req: WIRE-8
#[test]
fn a_tool_may_answer_in_three_places() {
    let kind = MessageType::ChooseParityResponse;
    let letter = samples::letter(kind);
    let flat = result(Dialect::Flat, kind)["result"].take();
    let text = json!([{"type": "text", "text": flat.to_string()}, {"type": "text", "text": "so"}]);
    let wrong = json!({"protocol": "league.v2"});
    for (result, at) in [
        (json!({"structuredContent": flat, "content": []}), "result.structuredContent"),
        (json!({"content": text, "isError": false}), "result.content[0].text"),
        (json!({"content": text, "structuredContent": null}), "result.content[0].text"),
        (flat, "result"),
    ] {
        let frame = json!({"jsonrpc": "2.0", "result": result, "id": 1});
        assert_eq!(reply(Dialect::Tool, kind, &frame).unwrap().message, letter.message);
        let bad = frame.to_string().replace("CHOOSE_PARITY_RESPONSE", "GAME_JOIN_ACK");
        let error = reply(Dialect::Tool, kind, &serde_json::from_str(&bad).unwrap()).unwrap_err();
        assert_eq!((error.at, error.code), (format!("{at}.message_type"), Code::E003));
    }
    for result in [json!({"content": [{"type": "text", "text": "fine"}]}), json!({"content": 1})] {
        let frame = json!({"jsonrpc": "2.0", "result": result, "id": 1});
        assert!(reply(Dialect::Tool, kind, &frame).unwrap_err().is_receipt(), "{frame}");
    }
    let frame = json!({"jsonrpc": "2.0", "result": {"structuredContent": wrong}, "id": 1});
    assert!(!reply(Dialect::Tool, kind, &frame).unwrap_err().is_receipt());
}

#[test]
fn a_tool_that_failed_says_why() {
    let report = json!({"message_type": "GAME_ERROR", "error_code": "E015"}).to_string();
    let failed = |text: &str, failed: bool| {
        let result = json!({"content": [{"type": "text", "text": text}], "isError": failed});
        tool_error(Json::parse(&result.to_string()).unwrap())
    };
    let told = failed(&report, true).unwrap();
    assert_eq!(told.report.unwrap().code, ErrorCode::Known(Code::E015));
    let told = failed("no such match", true).unwrap();
    assert_eq!((&*told.message, told.report), ("no such match", None));
    assert_eq!(failed(&report, false), None);
}

// req: WIRE-1
#[test]
fn a_tool_must_be_one_of_the_protocol() {
    for (field, value, code, at) in [
        ("name", json!("add_numbers"), Code::InvalidParams, "params.name"),
        ("name", Value::Null, Code::E003, "params.name"),
        ("name", json!("choose_parity"), Code::E003, "params.arguments.message_type"),
        ("arguments", json!(3), Code::E003, "params.arguments"),
    ] {
        let mut frame = request(Dialect::Tool, MessageType::GameInvitation);
        frame["params"][field] = value;
        let error = decode(&frame).unwrap_err();
        assert_eq!((error.code, &*error.at), (code, at), "{frame}");
    }
}

#[test]
fn repeated_and_excessive_fields_are_refused() {
    let repeated = r#"{"jsonrpc":"2.0","method":"ping","params":{"a":1,"a":1},"id":1}"#;
    let many: Vec<_> = (0..300).map(|n| format!("\"f{n}\":1")).collect();
    let many =
        format!(r#"{{"jsonrpc":"2.0","method":"ping","params":{{{}}},"id":1}}"#, many.join(","));
    for (json, expected) in [(repeated, "repeated"), (&many, "256")] {
        let Incoming::Single(Ok(request)) = frame::parse(json.as_bytes()) else { panic!("ok") };
        let error = decode_request(&request).unwrap_err();
        assert!(error.expected.contains(expected), "{error}");
    }
}

fn request(dialect: Dialect, kind: MessageType) -> Value {
    serde_json::from_slice(&encode_request(dialect, 1, &samples::letter(kind))).unwrap()
}

fn result(dialect: Dialect, kind: MessageType) -> Value {
    serde_json::from_slice(&encode_result(dialect, &1.into(), &samples::letter(kind))).unwrap()
}

fn body(frame: &mut Value, dialect: Dialect) -> &mut Value {
    let at = match dialect {
        Dialect::Enveloped | Dialect::Payload => "/result/payload",
        Dialect::Tool => "/result/structuredContent",
        Dialect::Flat | Dialect::Typed | Dialect::V21 | Dialect::Wrapped => "/result",
    };
    frame.pointer_mut(at).unwrap()
}

fn decode(frame: &Value) -> Result<Decoded, DecodeError> {
    let text = frame.to_string();
    let Incoming::Single(Ok(request)) = frame::parse(text.as_bytes()) else { panic!("{text}") };
    decode_request(&request)
}

fn reply(dialect: Dialect, kind: MessageType, frame: &Value) -> Result<Reply, DecodeError> {
    let text = frame.to_string();
    let response = frame::parse_response(text.as_bytes()).unwrap();
    let Outcome::Result(result) = response.outcome else { panic!("a result") };
    decode_result(dialect, &[kind], result)
}
