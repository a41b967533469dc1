//! Players without an open port, as processes of the program.

use league_wire::Dialect;
use serde_json::{Value, json};

use crate::program::Place;
use crate::service::{Office, Service, until};
use crate::services::{REFEREE, check_record, found};

/// Starts players that fetch their turns, and waits until they have joined.
fn pull(place: &Place, office: &Office, line: &str) -> Service {
    let manager = format!("--manager http://{} --json", office.address);
    let mut service = Service::start(place, &format!("player --pull {line} {manager}"));
    let announced = service.announced();
    for agent in announced["agents"].as_array().unwrap() {
        assert_eq!(agent["endpoint"], Value::Null, "it is called nowhere");
    }
    service
}

// req: ARCH-1
#[test]
fn players_that_listen_nowhere_play_with_those_that_do() {
    let place = Place::new();
    let office = Office::open(&place);
    found(&office, &place, "--league spring --start players=5 --set announcement_lead=0s");
    let mut agents = vec![office.seat(&place, REFEREE), office.seat(&place, "player --name Ann")];
    agents.push(pull(&place, &office, "--count 3 --name Pia"));
    let run = office.run(&place, "status spring --json");
    let told: Value = serde_json::from_str(&run.stdout).unwrap();
    let pullers = told["agents"].as_array().unwrap().iter().filter(|agent| agent["pull"] == true);
    assert_eq!(pullers.filter(|agent| agent["last_poll"].is_string()).count(), 3, "{told}");
    agents.push(pull(&place, &office, "--name Joe"));
    let standings = office.standings_at_the_end("spring");
    for agent in agents {
        assert_eq!(agent.end(), Some(0), "everybody has heard that the league is over");
    }
    check_record(&place, office, &standings, 10);
}

#[test]
fn players_of_every_dialect_can_do_without_a_port() {
    let place = Place::new();
    let office = Office::open(&place);
    found(&office, &place, "--league spring --start players=7 --set announcement_lead=0s");
    let mut agents: Vec<Service> = vec![office.seat(&place, REFEREE)];
    for dialect in Dialect::ALL {
        agents.push(pull(&place, &office, &format!("--name {dialect} --dialect {dialect}")));
    }
    let standings = office.standings_at_the_end("spring");
    for agent in agents {
        assert_eq!(agent.end(), Some(0));
    }
    check_record(&place, office, &standings, 21);
}

#[test]
fn a_manager_that_is_killed_costs_nobody_a_match() {
    let place = Place::new();
    let mut office = Office::open(&place);
    let line = "--league spring --start players=8 --set announcement_lead=200ms";
    found(&office, &place, line);
    let referee = office.seat(&place, REFEREE);
    let players = [pull(&place, &office, "--count 6 --name Pia"), {
        office.seat(&place, "player --count 2 --name Ann")
    }];
    for results in [3, 11] {
        until("some matches are over", || {
            let league = office.look("/api/v1/leagues/spring")?;
            (league["matches_done"].as_u64()? >= results).then_some(())
        });
        let address = office.address.clone();
        office.service.kill();
        office = Office::open_at(&place, &address);
    }
    let standings = office.standings_at_the_end("spring");
    let technical = standings["standings"].as_array().unwrap().iter();
    let technical: Vec<_> = technical.map(|row| row["technical_losses"].clone()).collect();
    assert_eq!(technical, vec![json!(0); 8]);
    assert_eq!(referee.end(), Some(0));
    for player in players {
        assert_eq!(player.end(), Some(0));
    }
    check_record(&place, office, &standings, 28);
}

#[test]
fn players_of_the_same_number_in_two_leagues_have_two_mailboxes() {
    let place = Place::new();
    let office = Office::open(&place);
    let mut agents: Vec<Service> = vec![];
    for (league, dialect) in [("spring", "payload"), ("autumn", "typed")] {
        let rules = "--start players=3 --set announcement_lead=100ms";
        found(&office, &place, &format!("--league {league} {rules}"));
        let key = format!("--join-key league-data/join-key-{league}");
        agents.push(office.seat(&place, &format!("referee --league {league} {key}")));
        let line = format!("--count 3 --name Pia --league {league} --dialect {dialect}");
        agents.push(pull(&place, &office, &line));
    }
    for league in ["autumn", "spring"] {
        let standings = office.standings_at_the_end(league);
        for row in standings["standings"].as_array().unwrap() {
            assert_eq!((&row["played"], &row["technical_losses"]), (&json!(2), &json!(0)), "{row}");
        }
    }
    for agent in agents {
        assert_eq!(agent.end(), Some(0));
    }
}

#[test]
fn whoever_pulls_does_not_listen() {
    let place = Place::new();
    let manager = "--manager http://127.0.0.1:1";
    for more in ["--listen 127.0.0.1:0", "--endpoint http://127.0.0.1:1/mcp"] {
        let run = place.run(&format!("player --pull {more} {manager}"));
        assert_eq!(run.code, Some(2), "{}", run.stderr);
        assert!(run.stderr.contains("--pull"), "{}", run.stderr);
    }
}
