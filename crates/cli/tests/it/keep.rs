//! Agents that keep their token in a private file and come back with it, and what it is good for.

use serde_json::{Value, json};

use crate::program::Place;
use crate::service::{Office, Service, post, request, until};
use crate::services::{REFEREE, found};

pub(crate) fn id(agent: &mut Service) -> String {
    agent.announced()["agents"][0]["id"].as_str().unwrap().to_string()
}

/// The league, the agent and the token that a file holds.
pub(crate) fn kept(place: &Place, file: &str) -> [String; 3] {
    let text = std::fs::read_to_string(place.path().join(file)).unwrap();
    let words: Vec<String> = text.split_whitespace().map(Into::into).collect();
    words.try_into().expect("a league, an agent and a token")
}

// req: AUTH-5, REG-6
#[test]
fn agents_that_are_killed_come_back_as_the_same_ones() {
    let place = Place::new();
    let office = Office::open(&place);
    found(&office, &place, "--league spring --start players=2 --set announcement_lead=0s");
    let referee = format!("{REFEREE} --data officials");
    let mut first = office.send(&place, &referee);
    let mut other = office.send(&place, "player --name Other --data others");
    assert_eq!((id(&mut first), id(&mut other)), ("REF01".into(), "P01".into()));
    let before = (kept(&place, "officials/referee"), kept(&place, "others/player-1"));
    #[cfg(unix)]
    for file in ["officials/referee", "others/player-1"] {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(place.path().join(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
    first.kill();
    other.kill();
    let mut first = office.send(&place, &referee);
    let mut other = office.send(&place, "player --name Other --data others");
    assert_eq!((id(&mut first), id(&mut other)), ("REF01".into(), "P01".into()));
    assert_eq!((kept(&place, "officials/referee"), kept(&place, "others/player-1")), before);
    let mut last = office.send(&place, "player --name Last --data last");
    assert_eq!(id(&mut last), "P02", "nobody was registered twice");
    let standings = office.standings_at_the_end("spring");
    assert_eq!(standings["standings"][0]["played"], 1, "{standings}");
    for agent in [first, other, last] {
        assert_eq!(agent.end(), Some(0));
    }
    found(&office, &place, "--league autumn");
    let mut again = office.send(&place, "player --data others --league autumn");
    assert_eq!(id(&mut again), "P01");
    assert_eq!(kept(&place, "others/player-1")[0], "autumn");
}

#[test]
fn who_is_banned_is_not_let_in_as_somebody_else() {
    let place = Place::new();
    let office = Office::open(&place);
    found(&office, &place, "--league spring");
    let mut player = office.send(&place, "player --data mine");
    assert_eq!(id(&mut player), "P01");
    player.kill();
    let ban = place
        .command("ban P01 --reason")
        .args(["the test says so", "--manager", &office.address])
        .output();
    assert!(ban.unwrap().status.success());
    let run = office.run(&place, "player --data mine --listen 127.0.0.1:0");
    assert_eq!(run.code, Some(1));
    assert!(
        run.stderr.contains("does not take back who is kept in mine/player-1"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("hint: remove that file"), "{}", run.stderr);
    std::fs::write(place.path().join("mine/player-1"), "spring P01").unwrap();
    let run = office.run(&place, "player --data mine --listen 127.0.0.1:0");
    assert!(run.stderr.contains("does not hold a league, an agent"), "{}", run.stderr);
}

/// Sends `method` with the token that a file holds, and gives the answer.
pub(crate) fn send(
    office: &Office,
    (agent, token): (&str, &str),
    method: (&str, &str),
    more: Value,
) -> Value {
    let mut params = json!({
        "protocol": "league.v2", "message_type": method.1, "sender": agent,
        "timestamp": "2025-01-15T10:30:00Z", "conversation_id": "conv-keep",
        "auth_token": token, "league_id": "spring",
    });
    let more = more.as_object().unwrap().clone();
    params.as_object_mut().unwrap().extend(more);
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method.0, "params": params});
    let (_, text) = request(&office.address, &post("/mcp", None, &body.to_string())).unwrap();
    serde_json::from_str(&text).unwrap()
}

// req: AUTH-4, LIFE-2, LIFE-4
#[test]
fn the_token_of_a_suspended_player_asks_and_comes_back() {
    let place = Place::new();
    let office = Office::open(&place);
    let rules = "--set announcement_lead=0s --set invitation_timeout=300ms \
                 --set choice_timeout=300ms --set choice_attempts=1 --set suspend_timeouts=1 \
                 --set probe_interval=100s";
    found(&office, &place, &format!("--league spring --start players=3 {rules}"));
    let _referee = office.seat(&place, REFEREE);
    let silent = office.seat(&place, "player --strategy silent --data mine");
    let _others = office.seat(&place, "player --count 2");
    let [_, id, token] = kept(&place, "mine/player-1");
    let me = format!("player:{id}");
    let state = || {
        let query = json!({"query_type": "GET_AGENT_STATE"});
        let answer = send(&office, (&me, &token), ("league_query", "LEAGUE_QUERY"), query);
        answer["result"]["data"]["state"].as_str().map(str::to_string)
    };
    until("it is suspended", || state().filter(|state| state == "SUSPENDED"));
    let ping = send(&office, (&me, &token), ("ping", "PING"), json!({}));
    assert!(ping.get("result").is_some(), "{ping}");
    silent.kill();
    let mut back = office.send(&place, "player --data mine");
    assert_eq!(back.announced()["agents"][0]["id"], id);
    until("it plays again", || state().filter(|state| state != "SUSPENDED"));
    let standings = office.standings_at_the_end("spring");
    let rows = standings["standings"].as_array().unwrap();
    assert!(rows.iter().all(|row| row["played"] == 2), "{standings}");
}
