//! What only document 004 has: ids of messages, its own types, states and codes.

use std::collections::BTreeSet;

use league_wire::dialect::{
    decode_error, decode_request, decode_result, encode_answer, encode_error, encode_refusal,
    encode_request, encode_result, spoken,
};
use league_wire::frame::{self, Incoming, Outcome};
use league_wire::message::{ErrorCode, ErrorReport};
use league_wire::{
    Code, DecodeError, Decoded, Dialect, Json, MatchState, Message, MessageType, Reply,
};
use serde_json::{Value, json};

use crate::samples;

const PAYLOAD: Dialect = Dialect::Payload;

fn request(kind: MessageType) -> Value {
    serde_json::from_slice(&encode_request(PAYLOAD, 1, &samples::letter(kind))).unwrap()
}

fn decode(frame: &Value) -> Result<Decoded, DecodeError> {
    let text = frame.to_string();
    let Incoming::Single(Ok(request)) = frame::parse(text.as_bytes()) else { panic!("{text}") };
    decode_request(&request)
}

fn reply(kind: MessageType, result: &Value) -> Result<Reply, DecodeError> {
    decode_result(PAYLOAD, &[kind], Json::parse(&result.to_string()).unwrap())
}

fn answer(kind: &str, payload: &Value) -> Value {
    json!({
        "protocol": "league.v2", "message_id": "0b9e4d12-6c3f-4a75-8d21-f4e7a6c5b903",
        "type": kind, "sender": "player:P01", "timestamp": "2025-01-01T00:00:00.000Z",
        "payload": payload,
    })
}

// req: WIRE-7
#[test]
fn every_type_of_the_document_is_ours() {
    let document = [
        "REFEREE_REGISTER_REQUEST",
        "REFEREE_REGISTER_RESPONSE",
        "PLAYER_REGISTER_REQUEST",
        "PLAYER_REGISTER_RESPONSE",
        "ROUND_ANNOUNCEMENT",
        "ROUND_START",
        "ROUND_END",
        "ROUND_RESULT",
        "GAME_INVITE",
        "GAME_INVITE_RESPONSE",
        "GAME_START",
        "MOVE_REQUEST",
        "MOVE_RESPONSE",
        "GAME_RESULT",
        "LEAGUE_STANDINGS_UPDATE",
        "MATCH_RESULT",
        "LEAGUE_ERROR",
        "GAME_ERROR",
    ];
    for name in document {
        let kind = MessageType::find_in(PAYLOAD, name).unwrap();
        let frame = request(kind);
        assert_eq!((&frame["method"], &frame["params"]["type"]), (&json!(name), &json!(name)));
    }
}

// req: WIRE-2, WIRE-3
#[test]
fn a_message_has_an_id_of_its_own() {
    let mut ids = BTreeSet::new();
    for kind in MessageType::ALL {
        let letter = samples::letter(*kind);
        for id in 1..4 {
            let asked: Value =
                serde_json::from_slice(&encode_request(PAYLOAD, id, &letter)).unwrap();
            ids.insert(asked["params"]["message_id"].to_string());
            let told = encode_result(PAYLOAD, &id.into(), &letter);
            let told: Value = serde_json::from_slice(&told).unwrap();
            ids.insert(told["result"]["message_id"].to_string());
        }
    }
    assert_eq!(ids.len(), MessageType::ALL.len() * 6);
    for wrong in [
        json!("7d0c2a56-1f4b-1c83-9e6a-2b5d8f0e1a37"),
        json!("7d0c2a56-1f4b-4c83-ce6a-2b5d8f0e1a37"),
        json!("7d0c2a561f4b4c839e6a2b5d8f0e1a37"),
        json!("7d0c2a56-1f4b-4c83-9e6a-2b5d8f0e1a3g"),
        json!(17),
    ] {
        let mut frame = request(MessageType::GameInvitation);
        frame["params"]["message_id"] = wrong;
        let error = decode(&frame).unwrap_err();
        assert_eq!((error.code, &*error.at), (Code::E003, "params.message_id"));
    }
}

// req: WIRE-2
#[test]
fn an_answer_names_the_message_it_answers() {
    let asked = request(MessageType::GameInvitation).to_string();
    let Incoming::Single(Ok(asked)) = frame::parse(asked.as_bytes()) else { panic!("a request") };
    let id = request(MessageType::GameInvitation)["params"]["message_id"].clone();
    let join = samples::letter(MessageType::GameJoinAck);
    let told: Value =
        serde_json::from_slice(&encode_answer(PAYLOAD, &asked, &join).unwrap()).unwrap();
    assert_eq!(told["result"]["correlation_id"], id);
    assert_eq!(told["id"], 1);
    let error = samples::letter(MessageType::GameError);
    let told: Value = serde_json::from_slice(&encode_refusal(PAYLOAD, &asked, &error)).unwrap();
    assert_eq!(told["error"]["data"]["correlation_id"], id);
    let flat = encode_answer(Dialect::Flat, &asked, &join).unwrap();
    assert_eq!(flat, encode_result(Dialect::Flat, &1.into(), &join));
}

#[test]
fn a_message_that_names_no_conversation_begins_one() {
    let mut frame = request(MessageType::LeagueRegisterRequest);
    let id = frame["params"]["message_id"].clone();
    let named = decode(&frame).unwrap().letter.envelope.conversation;
    assert_eq!(frame["params"]["payload"]["conversation_id"], named.as_str());
    frame["params"]["payload"].as_object_mut().unwrap().remove("conversation_id");
    let begun = decode(&frame).unwrap().letter.envelope.conversation;
    assert_eq!(id, begun.as_str());
    let join = answer("GAME_INVITE_RESPONSE", &json!({"match_id": "R1M1", "accept": true}));
    assert_eq!(reply(MessageType::GameJoinAck, &join).unwrap().envelope.conversation, None);
    for name in ["message_id", "sender", "timestamp", "payload"] {
        let mut join = join.clone();
        join.as_object_mut().unwrap().remove(name);
        let error = reply(MessageType::GameJoinAck, &join).unwrap_err();
        assert_eq!(error.at, format!("result.{name}"));
    }
}

// req: MATCH-5
#[test]
fn one_name_for_two_messages_is_told_apart() {
    for kind in [MessageType::ChooseParityCall, MessageType::GameMoveCall] {
        let frame = request(kind);
        assert_eq!(frame["method"], "MOVE_REQUEST");
        assert!(frame["params"]["payload"]["move_request"]["valid_options"].is_array());
        assert_eq!(decode(&frame).unwrap().letter.message.kind(), kind);
    }
    // Whatever it is called: what it says decides, so that what we write is read as it was meant.
    let mut frame = request(MessageType::GameMoveCall);
    (frame["method"], frame["params"]["type"]) = (json!("GAME_MOVE_CALL"), json!("GAME_MOVE_CALL"));
    assert_eq!(decode(&frame).unwrap().letter.message.kind(), MessageType::GameMoveCall);
    frame["params"]["payload"]["move_request"]["move_type"] = json!("parity");
    assert_eq!(decode(&frame).unwrap().letter.message.kind(), MessageType::ChooseParityCall);
    let moved = |payload: &Value| {
        let mut frame = request(MessageType::GameMoveResponse);
        let more = frame["params"]["payload"].as_object_mut().unwrap();
        more.remove("move_data");
        more.extend(payload.as_object().unwrap().clone());
        decode(&frame).unwrap().letter.message.kind()
    };
    assert_eq!(moved(&json!({"move_data": 3})), MessageType::GameMoveResponse);
    assert_eq!(moved(&json!({"choice": "odd"})), MessageType::ChooseParityResponse);
    for choice in [json!({"move_data": "odd"}), json!({"choice": "odd", "move_data": "odd"})] {
        let mut payload = json!({"match_id": "R1M1"});
        payload.as_object_mut().unwrap().extend(choice.as_object().unwrap().clone());
        let chosen = reply(MessageType::ChooseParityResponse, &answer("MOVE_RESPONSE", &payload));
        let Message::ChooseParityResponse(chosen) = chosen.unwrap().message else { panic!() };
        assert_eq!(chosen.choice.word(), "odd");
    }
    let both = json!({"match_id": "R1M1", "choice": "odd", "move_data": "even"});
    let error = reply(MessageType::ChooseParityResponse, &answer("MOVE_RESPONSE", &both));
    assert_eq!(error.unwrap_err().at, "result.payload.choice and result.payload.move_data");
    let last = request(MessageType::LeagueCompleted);
    assert_eq!(
        (&last["method"], &last["params"]["payload"]["final"]),
        (&json!("LEAGUE_STANDINGS_UPDATE"), &json!(true),)
    );
    assert!(last["params"]["payload"]["standings"].is_array());
}

#[test]
fn the_method_calls_the_type() {
    for (method, kind, code) in [
        ("GAME_INVITE", "GAME_INVITE", None),
        ("game_invite", "GAME_INVITE", None),
        ("handle_game_invitation", "GAME_INVITE", None),
        ("GAME_INVITE", "GAME_INVITATION", None),
        ("GAME_RESULT", "GAME_INVITE", Some((Code::E003, "params.type"))),
        ("GAME_INVITE", "GAME_VISIT", Some((Code::E003, "params.type"))),
        ("GAME_VISIT", "GAME_INVITE", Some((Code::MethodNotFound, "method"))),
    ] {
        let mut frame = request(MessageType::GameInvitation);
        (frame["method"], frame["params"]["type"]) = (json!(method), json!(kind));
        let read = decode(&frame).map(|decoded| decoded.dialect);
        let refused = read.as_ref().err().map(|error| (error.code, &*error.at));
        assert_eq!(refused, code, "{method} {kind}");
        assert!(code.is_some() || read == Ok(PAYLOAD));
    }
}

// req: ERR-1, ERR-2
#[test]
fn errors_have_the_codes_of_the_document() {
    for (code, told) in [
        (Code::E001, Code::G002),
        (Code::E002, Code::G001),
        (Code::E004, Code::G001),
        (Code::E005, Code::L004),
        (Code::E013, Code::L004),
        (Code::E014, Code::L005),
        (Code::E015, Code::G003),
        (Code::E018, Code::L001),
        (Code::E019, Code::L001),
        (Code::E012, Code::E012),
        (Code::L003, Code::L003),
    ] {
        let mut letter = samples::letter(MessageType::LeagueError);
        letter.message = Message::LeagueError(ErrorReport::new(code, "so it is"));
        let bytes = encode_error(PAYLOAD, Some(&1.into()), &letter);
        let frame: Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(frame["error"]["code"], told.row().rpc);
        let payload = &frame["error"]["data"]["payload"];
        assert_eq!(payload["error_code"], told.as_str());
        assert_eq!(payload["error_name"], told.name());
        let response = frame::parse_response(&bytes).unwrap();
        let Outcome::Error(error) = response.outcome else { panic!("an error") };
        let report = decode_error(error.data.unwrap()).unwrap();
        assert_eq!(report.code, ErrorCode::Known(told));
        let flat = encode_error(Dialect::Flat, Some(&1.into()), &letter);
        let flat: Value = serde_json::from_slice(&flat).unwrap();
        assert_eq!(flat["error"]["code"], code.row().rpc);
    }
}

// req: MATCH-8
#[test]
fn a_match_is_where_the_document_says() {
    for (state, word, read) in [
        (MatchState::Pending, "WAITING_FOR_PLAYERS", MatchState::Inviting),
        (MatchState::Inviting, "WAITING_FOR_PLAYERS", MatchState::Inviting),
        (MatchState::CollectingChoices, "COLLECTING_CHOICES", MatchState::CollectingChoices),
        (MatchState::Evaluating, "DRAWING_NUMBER", MatchState::Evaluating),
        (MatchState::Completed, "FINISHED", MatchState::Completed),
        (MatchState::Aborted, "FINISHED", MatchState::Completed),
    ] {
        let mut letter = samples::letter(MessageType::GameInvitation);
        let Message::GameInvitation(invitation) = &mut letter.message else { panic!() };
        invitation.game_state = Some(state);
        let frame: Value = serde_json::from_slice(&encode_request(PAYLOAD, 1, &letter)).unwrap();
        assert_eq!(frame["params"]["payload"]["game_state"], word);
        let Message::GameInvitation(told) = decode(&frame).unwrap().letter.message else {
            panic!()
        };
        assert_eq!(told.game_state, Some(read));
    }
}

// req: WIRE-5
#[test]
fn every_sender_has_an_id() {
    let frame = request(MessageType::RoundAnnouncement);
    assert_eq!(frame["params"]["sender"], "league_manager:manager");
    let letter = samples::letter(MessageType::RoundAnnouncement);
    assert_eq!(decode(&frame).unwrap().letter.envelope.sender, letter.envelope.sender);
}

#[test]
fn a_request_that_cannot_be_read_is_still_known_by_its_form() {
    for dialect in Dialect::ALL {
        let bytes = encode_request(dialect, 1, &samples::letter(MessageType::GameInvitation));
        let text = String::from_utf8(bytes).unwrap().replace("league.v2", "league.v9");
        let Incoming::Single(Ok(request)) = frame::parse(text.as_bytes()) else { panic!("{text}") };
        assert!(decode_request(&request).is_err());
        let plain = if dialect == Dialect::V21 { Dialect::Flat } else { dialect };
        assert_eq!(spoken(&request), plain);
    }
}
