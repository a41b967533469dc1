//! The manager as a server of the Model Context Protocol: by hand, and with the official clients.

use serde_json::{Value, json};

use crate::program::Place;
use crate::service::{Office, request};
use crate::services::{REFEREE, found};

/// Posts a document to `/mcp` as a client of the Model Context Protocol does.
fn post(office: &Office, host: &str, more: &str, body: &Value) -> (u16, String) {
    let body = body.to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}\
         Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    request(&office.address, &head).expect("the manager answers")
}

fn ask(office: &Office, body: &Value) -> Value {
    let (status, text) = post(office, "localhost", "", body);
    assert_eq!(status, 200, "{text}");
    serde_json::from_str(&text).unwrap()
}

fn call(office: &Office, tool: &str, arguments: Value) -> Value {
    let params = json!({"name": tool, "arguments": arguments});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    ask(office, &body)["result"].take()
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

#[test]
fn a_client_is_greeted_and_told_what_there_is() {
    let place = Place::new();
    let office = Office::open(&place);
    found(&office, &place, "--league spring");
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let about = json!({"name": "it", "version": "1"});
        let hello = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": about});
        let body = json!({"jsonrpc": "2.0", "id": "a", "method": "initialize", "params": hello});
        let answer = ask(&office, &body);
        assert_eq!(answer["id"], "a");
        assert_eq!(answer["result"]["protocolVersion"], version);
        assert!(answer["result"]["instructions"].as_str().unwrap().contains("get_league"));
    }
    let note = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(post(&office, "localhost", "", &note), (202, String::new()));
    let list = |method: &str| ask(&office, &json!({"jsonrpc": "2.0", "id": 1, "method": method}));
    let tools = list("tools/list");
    let names = tools["result"]["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]);
    assert!(names.clone().any(|name| name == "get_standings"), "{tools}");
    assert_eq!(names.count(), league_wire::mcp::Tool::ALL.len());
    let resources = list("resources/list");
    let first = &resources["result"]["resources"][0]["uri"];
    assert_eq!(first, "league://spring/standings");
    assert_eq!(list("ping")["result"], json!({}));
    assert_eq!(
        list("resources/templates/list")["result"]["resourceTemplates"][2]["uriTemplate"],
        "league://{league_id}/matches/{match_id}"
    );
    let (status, _) = request(
        &office.address,
        "GET /mcp HTTP/1.1\r\nHost: localhost\r\n\
        Accept: text/event-stream\r\nConnection: close\r\n\r\n",
    )
    .unwrap();
    assert_eq!(status, 405, "nobody is told anything unasked");
}

#[test]
fn a_league_is_run_and_read_with_tools() {
    let place = Place::new();
    let office = Office::open(&place);
    found(&office, &place, "--league spring --set announcement_lead=0s");
    let mut agents = vec![office.seat(&place, REFEREE)];
    agents.push(office.seat(&place, "player --count 2 --strategy even,odd"));
    let refused = call(&office, "start_league", json!({"auth_token": "guess"}));
    assert_eq!(refused["isError"], true);
    assert!(text(&refused).starts_with("E012"), "{refused}");
    let token = std::fs::read_to_string(place.data().join("admin-token")).unwrap();
    let started = call(&office, "start_league", json!({"auth_token": token.trim()}));
    assert_eq!(started["isError"], false, "{started}");
    office.standings_at_the_end("spring");
    for agent in agents {
        assert_eq!(agent.end(), Some(0));
    }
    let standings = call(&office, "get_standings", json!({"league_id": "spring"}));
    let rows = standings["structuredContent"]["standings"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    assert_eq!(
        serde_json::from_str::<Value>(text(&standings)).unwrap(),
        standings["structuredContent"]
    );
    let played = call(&office, "get_match", json!({"match_id": "R1M1"}));
    assert_eq!(played["structuredContent"]["status"], "WIN");
    let uri = json!({"uri": "league://spring/matches/R1M1"});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": uri});
    let read = ask(&office, &body);
    let record = read["result"]["contents"][0]["text"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(record).unwrap(), played["structuredContent"]);
}

#[test]
fn an_error_of_a_tool_says_what_to_change() {
    let place = Place::new();
    let office = Office::open(&place);
    found(&office, &place, "--league spring");
    let cases = [
        ("get_match", json!({"match": "R1M1"}), "match_id"),
        ("get_match", json!({"match_id": "first"}), "match_id"),
        ("get_match", json!({"match_id": "R9M9"}), "there is no match R9M9"),
        ("get_next_match", json!({}), "player_id"),
        ("get_league", json!({"league_id": "autumn"}), "there are: spring"),
        ("register_player", json!({"display_name": "A"}), "contact_endpoint"),
        ("get_assigned_matches", json!({"referee_id": "REF01"}), "auth_token"),
    ];
    for (tool, arguments, says) in cases {
        let result = call(&office, tool, arguments);
        assert_eq!(result["isError"], true, "{result}");
        assert!(text(&result).contains(says), "{says}: {result}");
        assert!(result["structuredContent"]["error_code"].is_string(), "{result}");
    }
}

fn rpc(id: u64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

#[test]
fn letters_and_tools_are_told_apart_also_in_a_batch() {
    let place = Place::new();
    let office = Office::open(&place);
    found(&office, &place, "--league spring");
    let letter = json!({
        "protocol": "league.v2",
        "message_type": "PING",
        "sender": "player:P01",
        "timestamp": "2026-01-15T10:30:00Z",
        "conversation_id": "convit1",
    });
    let batch = json!([
        rpc(1, "ping", letter.clone()),
        rpc(2, "ping", json!({})),
        rpc(3, "tools/call", json!({"name": "ping", "arguments": letter})),
        rpc(4, "tools/call", json!({"name": "get_games"})),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        rpc(5, "no_such_method", json!({})),
    ]);
    let answers = ask(&office, &batch);
    assert_eq!(answers.as_array().map(Vec::len), Some(5), "{answers}");
    assert_eq!(answers[0]["result"]["message_type"], "PONG");
    assert_eq!(answers[1]["result"], json!({}));
    assert_eq!(answers[2]["result"]["structuredContent"]["message_type"], "PONG");
    assert_eq!(answers[3]["result"]["structuredContent"]["games"][0], "even_odd");
    assert_eq!(answers[4]["error"]["code"], -32601);
}

#[test]
fn a_registered_player_practises_by_calling_a_tool() {
    let place = Place::new();
    let office = Office::open(&place);
    found(&office, &place, "--league spring --set invitation_timeout=1s");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}/mcp", listener.local_addr().unwrap());
    // It registers and is not there: that is what practice tells.
    drop(listener);
    let who =
        json!({"display_name": "A", "contact_endpoint": endpoint, "game_types": ["even_odd"]});
    let registered = call(&office, "register_player", who);
    let token = &registered["structuredContent"]["auth_token"];
    let told = call(&office, "practice", json!({"auth_token": token, "against": "odd"}));
    let played = &told["structuredContent"];
    assert_eq!((&played["result"], &played["against"]), (&"technical loss".into(), &"odd".into()));
    assert!(played["why"].as_str().unwrap().contains("could not be reached"), "{played:#}");
    let no = call(&office, "practice", json!({"auth_token": "tok_player_P01_00"}));
    assert_eq!(no["isError"], true);
    assert!(text(&no).contains("register first"), "{}", text(&no));
    let no = call(&office, "practice", json!({"auth_token": token, "against": "luck"}));
    assert!(text(&no).contains("against is one of random"), "{}", text(&no));
}

#[test]
fn a_page_in_a_browser_does_not_reach_a_manager_on_loopback() {
    let place = Place::new();
    let office = Office::open(&place);
    found(&office, &place, "--league spring");
    let params = json!({"name": "get_league"});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    for body in [body, list] {
        let status = |host: &str, more: &str| post(&office, host, more, &body).0;
        assert_eq!(status("localhost", ""), 200);
        assert_eq!(status(&office.address, "Origin: http://localhost:3000\r\n"), 200);
        assert_eq!(status("evil.example", ""), 403);
        assert_eq!(status("localhost", "Origin: http://evil.example\r\n"), 403);
    }
}

#[test]
fn the_operator_lists_the_names_of_the_manager() {
    let place = Place::new();
    let config = "allowed_hosts = [\"league.example\"]\n[league]\nid = \"spring\"\n";
    std::fs::write(place.path().join("league.toml"), config).unwrap();
    let office = Office::open(&place);
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let status = |host: &str, more: &str| post(&office, host, more, &list).0;
    assert_eq!(status("league.example:8000", ""), 200);
    assert_eq!(status("league.example", "Origin: https://league.example\r\n"), 200);
    assert_eq!(status("other.example", ""), 403);
}

#[test]
fn in_the_newest_version_head_and_body_say_the_same() {
    let place = Place::new();
    let office = Office::open(&place);
    found(&office, &place, "--league spring");
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let call = |meta: &Value| {
        rpc(1, "tools/call", json!({"name": "get_games", "arguments": {}, "_meta": meta}))
    };
    let head = |version: &str, name: &str| {
        format!("MCP-Protocol-Version: {version}\r\nMcp-Method: tools/call\r\nMcp-Name: {name}\r\n")
    };
    let (status, text) = post(&office, "localhost", &head("2026-07-28", "get_games"), &call(&meta));
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((status, &answer["result"]["resultType"]), (200, &json!("complete")), "{text}");
    for (version, name, meta) in [
        ("2026-07-28", "get_league", &meta),
        ("2025-11-25", "get_games", &meta),
        ("2099-01-01", "get_games", &meta),
        ("2026-07-28", "get_games", &json!({})),
    ] {
        let (status, text) = post(&office, "localhost", &head(version, name), &call(meta));
        assert_eq!(status, 400, "{version} {name}: {text}");
    }
}
