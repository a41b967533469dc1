//! Which requests are the Model Context Protocol's, and what calls of tools mean.

use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::frame::{Incoming, parse};
use crate::{Code, Json, Message, Sender};

const TOKEN: &str = "tok_player_P01_0";

fn scene() -> Scene {
    let now = crate::iso::parse("2026-01-15T10:30:00Z").unwrap();
    Scene { now, conversation: "convmcp1".parse().unwrap(), bearer: None }
}

fn is_mcp_body(body: &str) -> bool {
    match parse(body.as_bytes()) {
        Incoming::Single(Ok(request)) => is_mcp(&request),
        other @ (Incoming::Single(_) | Incoming::Batch(_)) => panic!("{other:?}"),
    }
}

fn request(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#)
}

#[test]
fn a_letter_of_the_league_is_told_from_a_call_of_a_tool_by_its_envelope() {
    for method in ["initialize", "tools/list", "resources/read", "server/discover", "ping"] {
        assert!(is_mcp_body(&request(method, "{}")), "{method}");
    }
    assert!(is_mcp_body(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#));
    assert!(is_mcp_body(&request("tools/call", r#"{"name":"get_league"}"#)));
    let plain = r#"{"name":"start_league","arguments":{"auth_token":"x"},"_meta":{}}"#;
    assert!(is_mcp_body(&request("tools/call", plain)));
    for field in LETTER {
        let letter = format!(r#"{{"name":"start_league","arguments":{{"{field}":"x"}}}}"#);
        assert!(!is_mcp_body(&request("tools/call", &letter)), "{field}");
        assert!(!is_mcp_body(&request("ping", &format!(r#"{{"{field}":"x"}}"#))), "{field}");
    }
    for method in ["register_player", "PING", "league.handle", "handle_message", "initialise"] {
        assert!(!is_mcp_body(&request(method, "{}")), "{method}");
    }
}

/// The code, the id and the sentence with which a request is refused for its form.
fn refused(body: &str) -> Option<(i64, Value, String)> {
    let Incoming::Single(Ok(request)) = parse(body.as_bytes()) else { panic!("{body}") };
    assert!(is_mcp(&request), "{body}");
    let malformed = Malformed::of(&request)?;
    let answer: Value = serde_json::from_slice(&malformed.answer()).ok()?;
    let (code, text) = (&answer["error"]["code"], &answer["error"]["message"]);
    Some((code.as_i64()?, answer["id"].clone(), text.as_str()?.into()))
}

// req: WIRE-1
#[test]
fn whoever_makes_a_mistake_is_told_which() {
    let client = r#""clientInfo":{"name":"x","version":"1"}"#;
    let (version, able) = (r#""protocolVersion":"2025-06-18""#, r#""capabilities":{}"#);
    let wrong = [
        ("ping", "[]", "`params`"),
        ("tools/call", "\"x\"", "`params`"),
        ("tools/call", "{}", "`params.name`"),
        ("tools/call", r#"{"name":5}"#, "`params.name`"),
        ("tools/call", r#"{"name":"get_match","name":"start_league"}"#, "`params`"),
        ("initialize", "5", "`params`"),
        ("initialize", "{}", "`params.protocolVersion`"),
        ("initialize", &format!("{{{version},{client}}}"), "`params.capabilities`"),
        ("initialize", &format!("{{{version},{able}}}"), "`params.clientInfo`"),
        ("initialize", &format!(r#"{{{version},{able},"clientInfo":{{}}}}"#), "clientInfo.name`"),
        ("resources/read", "{}", "`params.uri`"),
    ];
    for (method, params, at) in wrong {
        let (code, id, text) = refused(&request(method, params)).expect(params);
        assert_eq!((code, id), (-32602, Value::from(1)), "{method} {params}");
        assert!(text.contains(at), "{text}");
    }
    for method in ["tools/call", "initialize"] {
        let (code, ..) = refused(&format!(r#"{{"jsonrpc":"2.0","id":"a","method":"{method}"}}"#))
            .expect("no params");
        assert_eq!(code, -32602);
    }
    let fraction = r#"{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}"#;
    let (code, id, _) = refused(fraction).unwrap();
    assert_eq!((code, id), (-32600, Value::from(1.5)));
    let good = format!("{{{version},{able},{client}}}");
    for (method, params) in [("initialize", &*good), ("tools/list", "{}"), ("ping", "{}")] {
        assert_eq!(refused(&request(method, params)), None, "{method}");
    }
    assert_eq!(refused(r#"{"jsonrpc":"2.0","method":"notifications/x","params":5}"#), None);
}

#[test]
fn nobody_waits_longer_than_the_list_of_tools_says() {
    let wait = |seconds: &str| {
        let json = format!(r#"{{"auth_token":"{TOKEN}","wait_seconds":{seconds}}}"#);
        errand(Tool::WaitForTurn, Some(Json::parse(&json).unwrap()), scene())
    };
    assert!(matches!(wait("50"), Ok(Errand::Wait { seconds: Some(50), .. })));
    assert!(matches!(wait("null"), Ok(Errand::Wait { seconds: None, .. })));
    for bad in ["51", "-1", "1e9", "0.5", "\"x\""] {
        let error = wait(bad).unwrap_err().to_string();
        assert!(error.contains("a whole number from 0 to 50"), "{bad}: {error}");
    }
}

#[test]
fn what_is_listed_is_what_is_there() {
    let listed: Vec<Value> = serde_json::from_str(TOOLS).unwrap();
    let names: Vec<_> = listed.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, Tool::ALL.map(Tool::name));
    for (tool, listed) in Tool::ALL.into_iter().zip(&listed) {
        assert_eq!(Tool::find(tool.name()), Some(tool));
        let schema = &listed["inputSchema"];
        let properties = schema["properties"].as_object().unwrap();
        let known = tool.arguments();
        assert_eq!(properties.len(), known.len(), "{}", tool.name());
        assert_eq!(schema["additionalProperties"], false);
        for (name, property) in properties {
            assert!(known.contains(&name.as_str()), "{}: {name}", tool.name());
            assert!(!LETTER.contains(&name.as_str()), "{name} would make it a letter");
            assert!(property["description"].as_str().is_some_and(|text| text.len() > 8), "{name}");
        }
        for required in schema["required"].as_array().into_iter().flatten() {
            assert!(properties.contains_key(required.as_str().unwrap()));
        }
        assert!(listed["description"].as_str().is_some_and(|text| text.ends_with('.')));
    }
}

fn meant(tool: &str, arguments: &str) -> Result<Errand, crate::DecodeError> {
    errand(Tool::find(tool).expect("the test names a tool"), Json::parse(arguments).ok(), scene())
}

#[test]
fn a_question_needs_no_envelope() {
    let Errand::Query(league, query) = meant("get_next_match", r#"{"player_id":"P02"}"#).unwrap()
    else {
        panic!("a query is a question");
    };
    assert_eq!((league, query.agent_id), (None, "P02".parse().ok()));
    let error = meant("get_next_match", "{}").unwrap_err();
    assert_eq!((error.at.as_str(), error.code), ("arguments.player_id", Code::E003));
}

#[test]
fn an_argument_that_is_not_known_is_named_with_the_nearest_one() {
    let error = meant("get_next_match", r#"{"playerid":"P02"}"#).unwrap_err().to_string();
    assert!(error.contains("player_id") && error.contains("playerid"), "{error}");
    let error = meant("get_games", r#"{"league":"x"}"#).unwrap_err().to_string();
    assert!(error.contains("takes none"), "{error}");
}

#[test]
fn the_envelope_of_a_letter_is_filled_in() {
    let named = r#"{"display_name":"A","contact_endpoint":"http://127.0.0.1:1/mcp",
        "game_types":["even_odd"]}"#;
    let Errand::Letter(letter) = meant("register_player", named).unwrap() else { panic!() };
    assert_eq!(letter.envelope.sender, Sender::Player("new".into()));
    assert_eq!(letter.envelope.token, None);
    let Message::LeagueRegisterRequest(request) = letter.message else { panic!() };
    assert_eq!((request.meta.version.as_str(), request.meta.dialect), ("1.0.0", None));
    let back = named.replace('}', &format!(r#","player_id":"P01","auth_token":"{TOKEN}"}}"#));
    let Errand::Letter(letter) = meant("register_player", &back).unwrap() else { panic!() };
    assert_eq!(letter.envelope.sender, Sender::Player("P01".into()));
    assert_eq!(letter.envelope.token.as_ref().map(|token| token.reveal()), Some(TOKEN));
}

#[test]
fn a_token_may_stand_in_the_head() {
    let bearer = Some(crate::AuthToken::new(TOKEN));
    let scene = Scene { bearer, ..scene() };
    let Ok(Errand::Letter(letter)) = errand(Tool::StartLeague, None, scene) else { panic!() };
    assert_eq!(letter.envelope.sender, Sender::Administrator);
    assert_eq!(letter.envelope.token.as_ref().map(|token| token.reveal()), Some(TOKEN));
}

#[test]
fn an_answer_stands_in_the_text_and_beside_it() {
    let (id, version) = (crate::Id::from(7), None);
    let (name, arguments, is_introduced) = ("x".into(), None, false);
    let call = ToolCall { id: &id, name, arguments, version, is_introduced };
    let written = |call: &ToolCall<'_>, json: &str, no: Option<&str>| -> Value {
        serde_json::from_slice(&write_answer(call, json, no)).unwrap()
    };
    let answer = written(&call, r#"{"a":"ü"}"#, None);
    let result = &answer["result"];
    assert_eq!(result["structuredContent"]["a"], "ü");
    assert_eq!(result["content"][0]["text"], r#"{"a":"ü"}"#);
    assert_eq!((&answer["id"], &result["isError"]), (&7.into(), &false.into()));
    assert_eq!(result.get("resultType"), None);
    let no = written(&call, "{}", Some("change it"));
    assert_eq!(no["result"]["content"][0]["text"], "change it");
    assert_eq!(no["result"]["isError"], true);
    let newest = ToolCall { version: Some("2026-07-28".into()), ..call };
    assert_eq!(written(&newest, "{}", None)["result"]["resultType"], "complete");
}

#[test]
fn a_move_is_a_word_or_a_number_of_somebody_with_a_token() {
    let choice = |json: &str| {
        let arguments = format!(r#"{{"auth_token":"{TOKEN}","choice":{json}}}"#);
        let Ok(Errand::Move { token, match_id: None, choice }) = meant("make_move", &arguments)
        else {
            panic!("{json}")
        };
        assert_eq!(token.reveal(), TOKEN);
        choice
    };
    assert_eq!((choice("\"even\""), choice("3")), ("even".to_string(), "3".to_string()));
    let error = meant("make_move", r#"{"choice":"even"}"#).unwrap_err().to_string();
    assert!(error.contains("join_league"), "{error}");
    let error = meant("wait_for_turn", "{}").unwrap_err().to_string();
    assert!(error.contains("join_league"), "{error}");
}

fn toolbox(schema: &str) -> client::Toolbox {
    let tool = format!(r#"{{"name":"choose_parity","inputSchema":{schema}}}"#);
    let listed =
        format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{tool},{{"name":"x"}}]}}}}"#);
    client::Toolbox::read(listed.as_bytes())
}

fn fitted(schema: &str) -> Option<Value> {
    let arguments = r#"{"match_id":"R1M1","protocol":"league.v2","context":{"a":[1]}}"#;
    let params = format!(r#"{{"name":"choose_parity","arguments":{arguments}}}"#);
    let body = toolbox(schema).fit(request("tools/call", &params).as_bytes())?;
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!((&body["method"], &body["id"]), (&"tools/call".into(), &1.into()));
    assert_eq!(body["params"]["name"], "choose_parity");
    Some(body["params"]["arguments"].clone())
}

#[test]
fn a_tool_is_given_what_it_says_it_takes() {
    let two = r#"{"properties":{"context":{"type":"object"},"match_id":{"type":"string"}}}"#;
    let expected = serde_json::json!({"match_id": "R1M1", "context": {"a": [1]}});
    assert_eq!(fitted(two), Some(expected));
    assert_eq!(fitted(r#"{"properties":{}}"#), Some(serde_json::json!({})));
    let open = r#"{"properties":{"match_id":{}},"additionalProperties":true}"#;
    assert_eq!(fitted(open), None, "who takes more gets everything");
    assert_eq!(fitted("null"), None);
    let whole = r#"{"properties":{"message":{"type":"object"}},"additionalProperties":false}"#;
    assert_eq!(fitted(whole).unwrap()["message"]["protocol"], "league.v2");
    assert_eq!(toolbox(two).fit(request("ping", "{}").as_bytes()), None);
}

#[test]
fn a_greeting_is_answered_with_a_version() {
    let greeting = client::greeting(3, "referee", "1");
    let greeting: Value = serde_json::from_slice(&greeting).unwrap();
    assert_eq!(greeting["params"]["protocolVersion"], client::VERSION);
    let answer = br#"{"jsonrpc":"2.0","id":3,"result":{"protocolVersion":"2025-06-18"}}"#;
    assert_eq!(client::greeted_in(answer).as_deref(), Some("2025-06-18"));
    let no = br#"{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"no"}}"#;
    assert_eq!(client::greeted_in(no), None);
}

/// Values that somebody might write, right or wrong.
fn value() -> impl Strategy<Value = Value> {
    let words =
        vec!["P01", "REF01", "R1M1", "spring", "even", "", "tool", "http://127.0.0.1:1/mcp"];
    let plain = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        proptest::sample::select(words).prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    plain.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map("[a-z_]{1,12}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn whatever_a_tool_is_called_with_is_understood_or_refused(
        tool in proptest::sample::select(Tool::ALL.to_vec()),
        values in proptest::collection::vec(value(), 12),
        left_out in any::<u16>(),
    ) {
        let names = tool.arguments().iter().zip(values).enumerate();
        let kept = names.filter(|(place, _)| left_out >> place & 1 == 0);
        let fields = kept.map(|(_, (name, value))| (name.to_string(), value));
        let text = Value::Object(fields.collect()).to_string();
        if let Err(error) = errand(tool, Json::parse(&text).ok(), scene()) {
            prop_assert!(!error.to_string().is_empty() && error.at.starts_with("arguments"));
        }
    }

    #[test]
    fn whatever_an_agent_lists_leaves_its_calls_well_formed(
        schema in value(), result in value(), bytes in any::<Vec<u8>>(),
    ) {
        client::Toolbox::read(&bytes);
        client::greeted_in(&bytes);
        client::Toolbox::read(format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#).as_bytes());
        let params = format!(r#"{{"name":"choose_parity","arguments":{{"match_id":{result}}}}}"#);
        let properties = format!(r#"{{"properties":{schema}}}"#);
        if let Some(body) = toolbox(&properties).fit(request("tools/call", &params).as_bytes()) {
            prop_assert!(serde_json::from_slice::<Value>(&body).is_ok());
        }
    }
}
