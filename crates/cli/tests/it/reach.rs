//! Whom a manager and a referee that others can reach call on behalf of strangers.

use serde_json::{Value, json};

use crate::program::Place;
use crate::service::{Office, Service, free_address, post, request, until};
use crate::services::{REFEREE, events};

/// Registers a player that says it is called at `endpoint`.
fn register(address: &str, endpoint: &str) -> Value {
    let body = json!({
        "jsonrpc": "2.0", "id": 1, "method": "register_player",
        "params": {
            "protocol": "league.v2", "message_type": "LEAGUE_REGISTER_REQUEST",
            "sender": "player:new", "timestamp": "2025-01-15T10:30:00Z",
            "conversation_id": "conv-reach", "league_id": "spring",
            "player_meta": {
                "display_name": "Somebody", "version": "1.0.0", "game_types": ["even_odd"],
                "contact_endpoint": endpoint,
            },
        },
    });
    let (status, text) = request(address, &post("/mcp", None, &body.to_string())).unwrap();
    assert_eq!(status, 200, "{text}");
    serde_json::from_str::<Value>(&text).unwrap()["result"].clone()
}

/// A manager that everybody can reach, found at its loopback address.
fn in_the_open(place: &Place, more: &str) -> (Service, String) {
    let written = "[league]\nid = \"spring\"\nset.announcement_lead = \"0s\"\n";
    std::fs::write(place.path().join("league.toml"), written).unwrap();
    let mut service = Service::start(place, &format!("serve --listen 0.0.0.0:0 --json {more}"));
    let announced = service.announced();
    let port = announced["address"].as_str().unwrap().rsplit(':').next().unwrap().to_string();
    (service, port)
}

#[test]
fn a_manager_in_the_open_calls_nobody_behind_its_walls() {
    let place = Place::new();
    let (_service, port) = in_the_open(&place, "");
    let address = format!("127.0.0.1:{port}");
    for inside in [
        "http://127.0.0.1:8101/mcp",
        "http://localhost:8101/mcp",
        "http://10.0.0.7:8101/mcp",
        "http://192.168.1.1:80/mcp",
        "http://169.254.169.254/mcp",
        "http://[::1]:8101/mcp",
        "http://[::ffff:10.0.0.1]:8101/mcp",
        "http://[fe80::1]:8101/mcp",
        "http://0.0.0.0:8101/mcp",
    ] {
        let refused = register(&address, inside);
        let told = (&refused["status"], &refused["error_code"]);
        assert_eq!(told, (&json!("REJECTED"), &json!("E003")), "{inside}: {refused}");
        assert!(refused.to_string().contains("allowed_networks"), "it says what to do: {refused}");
    }
    let unnamed = register(&address, "");
    assert_eq!(unnamed["status"], "REJECTED", "nor where the call came from: {unnamed}");
    assert_eq!(register(&address, "http://93.184.216.34:8101/mcp")["status"], "ACCEPTED");
    let log = place.path().join("stderr.txt");
    until("it warns", || {
        let said = std::fs::read_to_string(&log).unwrap();
        said.contains("tokens cross the network unencrypted").then_some(())
    });
}

#[test]
fn listed_networks_are_called_but_never_the_manager_itself() {
    let place = Place::new();
    let allow = "--allow-network 127.0.0.0/8";
    let (service, port) = in_the_open(&place, allow);
    let address = format!("127.0.0.1:{port}");
    let own = register(&address, &format!("http://127.0.0.1:{port}/mcp"));
    assert_eq!(own["status"], "REJECTED");
    assert!(own.to_string().contains("our own address"), "{own}");
    assert_eq!(register(&address, "http://10.0.0.7:8101/mcp")["status"], "REJECTED");

    let office = Office { service, announced: Value::Null, address };
    let _referee = office.seat(&place, REFEREE);
    let _players = office.seat(&place, "player --count 2");
    assert_eq!(office.run(&place, "start spring").code, Some(0));
    let standings = office.standings_at_the_end("spring");
    assert_eq!(standings["standings"][0]["played"], 1, "{standings}");
    assert_eq!(standings["standings"][0]["technical_losses"], 0, "{standings}");
}

#[test]
fn a_referee_in_the_open_leaves_such_players_to_others() {
    let place = Place::new();
    let office = Office::open(&place);
    let line = "create --league spring --start players=4 --set announcement_lead=0s";
    assert_eq!(office.run(&place, line).code, Some(0));
    let free = free_address().port();
    let open = format!(
        "{REFEREE} --json --manager {} --listen 0.0.0.0:{free} \
         --endpoint http://127.0.0.1:{free}/mcp",
        office.address
    );
    let mut referee = Service::start(&place, &open);
    assert_eq!(referee.announced()["agents"][0]["id"], "REF01");
    let _other = office.seat(&place, REFEREE);
    let _players = office.seat(&place, "player --count 4");
    let standings = office.standings_at_the_end("spring");
    for row in standings["standings"].as_array().unwrap() {
        assert_eq!((&row["played"], &row["technical_losses"]), (&json!(3), &json!(0)), "{row}");
    }
    office.service.terminate();
    assert_eq!(office.service.end(), Some(0));
    let books = format!("{:?}", events(&place, "spring"));
    assert!(books.contains("start the referee with --allow-network"), "{books}");
}
