//! Agents whose tokens were lost or seen by others, and what the administrator does about it.

use league_core::manager::{Event, Fact};
use serde_json::{Value, json};

use crate::keep::{id, kept, send};
use crate::program::Place;
use crate::service::{Office, Service, until};
use crate::services::{REFEREE, events, found};

const STUDENTS: &str = "code,student,group\nadas,Ada,red\nalans,Alan,blue\n";

/// Gives an order about an agent, which is obeyed.
fn order(office: &Office, place: &Place, line: &str) -> Value {
    let run = office.run(place, &format!("{line} --json --reason lost"));
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{line}");
    serde_json::from_str(&run.stdout).expect("exactly one JSON document")
}

/// What the league says to an agent that asks how it stands.
fn asks(office: &Office, agent: &str, token: &str) -> Value {
    let query = json!({"query_type": "GET_AGENT_STATE"});
    send(office, (agent, token), ("league_query", "LEAGUE_QUERY"), query)
}

fn is_under_way(office: &Office) -> Option<()> {
    let league = office.look("/api/v1/leagues/spring")?;
    (league["phase"] == "playing").then_some(())
}

/// How often a match was played again by our own doing.
fn annulled(events: &[Event]) -> usize {
    let annulled =
        |event: &&Event| matches!(event.fact, Fact::MatchReassigned { annulled: true, .. });
    events.iter().filter(annulled).count()
}

// req: AUTH-3, AUTH-5
#[test]
fn a_token_is_replaced_in_the_middle_of_a_match() {
    let place = Place::new();
    let office = Office::open(&place);
    let rules = "--set announcement_lead=0s --set choice_timeout=6s";
    found(&office, &place, &format!("--league spring --start players=2 {rules}"));
    let _referee = office.seat(&place, REFEREE);
    let mine = office.seat(&place, "player --name Mine --data mine");
    let [_, me, old] = kept(&place, "mine/player-1");
    assert_eq!(me, "P01");
    let _slow = office.seat(&place, "player --strategy slow");
    until("they play", || is_under_way(&office));
    let answer = order(&office, &place, "rotate P01");
    let new = answer["token"].as_str().unwrap().to_string();
    assert_eq!(answer["agent_id"], "P01");
    assert_ne!(new, old);
    let refused = asks(&office, "player:P01", &old);
    let (code, text) = (&refused["error"]["data"]["error_code"], refused.to_string());
    assert_eq!(code, "E012", "{refused}");
    assert!(text.contains("was replaced") && text.contains("ask the administrator"), "{text}");
    assert_eq!(asks(&office, "player:P01", &new)["result"]["data"]["state"], "ACTIVE");
    mine.kill();
    let stale = office.run(&place, "player --data mine --listen 127.0.0.1:0");
    assert_eq!(stale.code, Some(1));
    assert!(stale.stderr.contains("was replaced"), "{}", stale.stderr);
    std::fs::write(place.path().join("mine/player-1"), format!("spring P01 {new}\n")).unwrap();
    let mut back = office.send(&place, "player --name Mine --data mine");
    assert_eq!(id(&mut back), "P01");
    let standings = office.standings_at_the_end("spring");
    let rows = standings["standings"].as_array().unwrap();
    assert!(rows.iter().all(|row| row["played"] == 1), "{standings}");
    assert!(rows.iter().all(|row| row["technical_losses"] == 0), "{standings}");
    office.service.terminate();
    assert_eq!(office.service.end(), Some(0));
    let events = events(&place, "spring");
    assert_eq!(annulled(&events), 1);
    let books = format!("{events:?}");
    assert!(!books.contains(&new) && !books.contains(&old), "no token is in the books");
}

// req: AUTH-3
#[test]
fn a_player_notices_that_its_token_was_replaced_and_says_what_to_do() {
    let place = Place::new();
    let office = Office::open(&place);
    found(&office, &place, "--league spring --start manual");
    let mine = office.send(&place, "player --name Mine --data mine");
    until("it has joined", || place.path().join("mine/player-1").exists().then_some(()));
    order(&office, &place, "rotate P01");
    assert_eq!(mine.end(), Some(1));
    let told = std::fs::read_to_string(place.path().join("stderr.txt")).unwrap();
    assert!(told.contains("this token of P01 was replaced and no longer works"), "{told}");
    assert!(told.contains("start it again with the token that the administrator"), "{told}");
}

// req: REG-6
#[test]
fn a_student_that_lost_everything_is_the_same_one_again() {
    let place = Place::new();
    std::fs::write(place.path().join("students.csv"), STUDENTS).unwrap();
    let office = Office::open(&place);
    let rules = "--set announcement_lead=0s --set choice_timeout=6s --roster students.csv";
    found(&office, &place, &format!("--league spring --start manual {rules}"));
    let _referee = office.seat(&place, REFEREE);
    let ada = "player --name Ada --join-code adas --data mine";
    let mut mine = office.send(&place, ada);
    assert_eq!(id(&mut mine), "P01");
    mine.kill();
    let [_, _, old] = kept(&place, "mine/player-1");
    let lose = || std::fs::remove_file(place.path().join("mine/player-1")).unwrap();
    lose();
    let refused = office.run(&place, &format!("{ada} --listen 127.0.0.1:0"));
    assert!(refused.stderr.contains("the join code has been used by P01"), "{}", refused.stderr);
    order(&office, &place, "release P01");
    let mut mine = office.send(&place, ada);
    assert_eq!(id(&mut mine), "P01", "before the start");
    let [_, _, new] = kept(&place, "mine/player-1");
    assert_ne!(new, old);
    assert_eq!(asks(&office, "player:P01", &old)["error"]["data"]["error_code"], "E012");
    let _slow = office.seat(&place, "player --strategy slow --join-code alans");
    assert_eq!(office.run(&place, "start spring").code, Some(0));
    until("they play", || is_under_way(&office));
    mine.kill();
    lose();
    order(&office, &place, "release P01");
    let mut mine = office.send(&place, ada);
    assert_eq!(id(&mut mine), "P01", "while the league is played");
    let standings = office.standings_at_the_end("spring");
    let rows = standings["standings"].as_array().unwrap();
    assert_eq!(rows.len(), 2, "{standings}");
    assert!(rows.iter().all(|row| row["technical_losses"] == 0), "{standings}");
    assert_eq!(mine.end(), Some(0));
    let late = office.run(&place, "release P01 --reason lost");
    assert!(late.stderr.contains("the league is over"), "{}", late.stderr);
}

#[test]
fn without_a_roster_the_address_is_let_go() {
    let place = Place::new();
    let office = Office::open(&place);
    found(&office, &place, "--league spring --set announcement_lead=0s");
    let mut first = office.send(&place, "referee");
    let endpoint = first.announced()["agents"][0]["endpoint"].as_str().unwrap().to_string();
    let at = endpoint.trim_start_matches("http://").trim_end_matches("/mcp").to_string();
    first.kill();
    let again = format!("referee --listen {at} --json --manager http://{}", office.address);
    let taken = place.run(&again);
    assert!(taken.stderr.contains("REF01 is already registered"), "{}", taken.stderr);
    order(&office, &place, "release REF01");
    let mut referee = Service::start(&place, &again);
    assert_eq!(id(&mut referee), "REF01");
    let mut mine = office.send(&place, "player --data mine");
    assert_eq!(id(&mut mine), "P01");
    order(&office, &place, "ban P01");
    for wanted in ["rotate", "release"] {
        let no = office.run(&place, &format!("{wanted} P01 --reason lost"));
        assert!(
            no.stderr.contains("P01 is shut down; it gets a token again after"),
            "{}",
            no.stderr
        );
    }
    let twice = office.run(&place, "reinstate REF01 --reason lost");
    assert!(twice.stderr.contains("neither suspended nor shut down"), "{}", twice.stderr);
    let unknown = office.run(&place, "rotate P77 --reason lost");
    assert!(unknown.stderr.contains("there is no agent P77 in this league"), "{}", unknown.stderr);
    let token = order(&office, &place, "rotate REF01")["token"].as_str().unwrap().to_string();
    let state = |office: &Office| asks(office, "referee:REF01", &token)["result"]["data"].clone();
    assert_eq!(state(&office)["state"], "REGISTERED");
    office.service.kill();
    let office = Office::open(&place);
    assert_eq!(state(&office)["state"], "REGISTERED", "the books know which token counts");
}

#[test]
fn every_order_is_in_the_trace_with_its_reason() {
    let place = Place::new();
    let office = Office::open(&place);
    found(&office, &place, "--league spring --start manual");
    let _mine = office.seat(&place, "player --name Mine");
    for order in ["ban P01 --reason cheats", "close --reason enough"] {
        assert_eq!(office.run(&place, order).code, Some(0), "{order}");
    }
    let text = place.run("trace --league spring").stdout;
    assert!(text.contains("Z  ban P01: cheats\n") && text.contains("Z  close: enough\n"), "{text}");
    let traced = |line: &str| -> Value {
        let run = place.run(&format!("trace --league spring --json {line}"));
        serde_json::from_str(&run.stdout).unwrap()
    };
    let all = traced("");
    let ban = &all["orders"][0];
    assert_eq!((&ban["order"], &ban["about"]), (&"ban".into(), &"P01".into()), "{all}");
    assert_eq!((&ban["by"], &ban["reason"]), (&"administrator".into(), &"cheats".into()));
    assert_eq!(all["orders"].as_array().unwrap().len(), 2, "{all}");
    let one = traced("--agent P01");
    assert_eq!(one["orders"], Value::Array(vec![ban.clone()]));
    let told = place.run("trace --league spring --agent P01").stdout;
    assert!(told.contains("ban P01: cheats") && !told.contains("enough"), "{told}");
}

#[test]
fn a_referee_with_a_new_token_gets_its_matches_when_it_shows_it() {
    let place = Place::new();
    let office = Office::open(&place);
    let rules = "--set announcement_lead=0s --set choice_timeout=6s";
    found(&office, &place, &format!("--league spring --start players=2 {rules}"));
    let first = office.seat(&place, &format!("{REFEREE} --data whistle"));
    let _slow = office.seat(&place, "player --strategy slow --count 2");
    until("they play", || is_under_way(&office));
    let token = order(&office, &place, "rotate REF01")["token"].as_str().unwrap().to_string();
    let league = office.look("/api/v1/leagues/spring").unwrap();
    assert_eq!(league["alerts"][0]["alert"], "no_referee", "{league}");
    let remedy = league["alerts"][0]["remedy"].as_str().unwrap();
    assert!(remedy.contains("start REF01 again with its new token"), "{remedy}");
    first.kill();
    let kept = format!("spring REF01 {token}\n");
    std::fs::write(place.path().join("whistle/referee"), kept).unwrap();
    let mut back = office.send(&place, &format!("{REFEREE} --data whistle"));
    assert_eq!(id(&mut back), "REF01");
    let standings = office.standings_at_the_end("spring");
    let rows = standings["standings"].as_array().unwrap();
    assert!(rows.iter().all(|row| row["technical_losses"] == 0), "{standings}");
    assert!(rows.iter().all(|row| row["played"] == 1), "{standings}");
}

// req: ERR-6
#[test]
fn a_match_whose_only_referee_is_gone_says_so_until_it_is_back() {
    let place = Place::new();
    let office = Office::open(&place);
    found(&office, &place, "--league spring --start manual --set announcement_lead=0s");
    let first = office.seat(&place, &format!("{REFEREE} --data whistle"));
    let _players = office.seat(&place, "player --count 2");
    until("they are there", || {
        let league = office.look("/api/v1/leagues/spring")?;
        (league["players"] == 2 && league["referees"] == 1).then_some(())
    });
    first.kill();
    assert_eq!(office.run(&place, "start spring").code, Some(0));
    let alert = until("somebody says so", || {
        let league = office.look("/api/v1/leagues/spring")?;
        league["alerts"].as_array()?.first().cloned()
    });
    assert_eq!(alert["alert"], "referee_gone", "{alert}");
    let text = alert["text"].as_str().unwrap();
    assert!(text.contains("R1M1 waits for REF01, which is not reached since"), "{text}");
    assert!(alert["remedy"].as_str().unwrap().contains("start REF01 again"), "{alert}");
    let status = office.run(&place, "status").stdout;
    assert!(status.contains("alert: match R1M1 waits for REF01"), "{status}");
    let _back = office.send(&place, &format!("{REFEREE} --data whistle"));
    let standings = office.standings_at_the_end("spring");
    assert!(standings["standings"].as_array().unwrap().iter().all(|row| row["played"] == 1));
    assert_eq!(office.look("/api/v1/leagues/spring").unwrap()["alerts"], json!([]));
}
