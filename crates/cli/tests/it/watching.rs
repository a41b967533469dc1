//! What the administrator sees of agents that are dead, silent or banned.

use serde_json::Value;

use crate::keep::id;
use crate::program::Place;
use crate::service::{Office, get, request, until};
use crate::services::{REFEREE, found};

/// The lines of the log that a manager writes, from `start` on.
fn lines(place: &Place, start: usize) -> Vec<Value> {
    let text = std::fs::read_to_string(place.path().join("stderr.txt")).unwrap();
    let lines = text[start..].lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(|line| line["component"] == "league_manager").collect()
}

fn said<'a>(lines: &'a [Value], level: &str, message: &str) -> Vec<&'a Value> {
    let is = |line: &&Value| {
        line["level"] == level && line["message"].as_str().unwrap().contains(message)
    };
    lines.iter().filter(is).collect()
}

// req: OBS-6
#[test]
fn the_dead_are_told_from_the_living_and_complained_about_once() {
    let place = Place::new();
    let office = Office::open(&place);
    found(&office, &place, "--league spring --set announcement_lead=0s --set default_timeout=1s");
    let _referee = office.seat(&place, REFEREE);
    let _alive = office.seat(&place, "player --name Alive");
    let dead = office.seat(&place, "player --name Dead");
    dead.kill();
    assert_eq!(office.run(&place, "start spring").code, Some(0));
    let agent =
        |at: usize| office.look("/api/v1/leagues/spring/agents").unwrap()["agents"][at].clone();
    until("it is missed", || agent(1)["not_reached_since"].is_string().then_some(()));
    let shown = office.run(&place, "status spring").stdout;
    let line = |id: &str| shown.lines().find(|line| line.contains(id)).unwrap().to_string();
    assert!(line("P02").contains("NOT REACHED for"), "{shown}");
    assert!(line("P01").contains(" s ago"), "{shown}");
    until("it was tried again and again", || {
        let (_, page) = request(&office.address, &get("GET", "/metrics")).unwrap();
        let retries = page.lines().find(|line| line.starts_with("league_retries_total"))?;
        let count: f64 = retries.rsplit(' ').next()?.parse().ok()?;
        (count >= 2.0).then_some(())
    });
    let lines = lines(&place, 0);
    let lost = said(&lines, "WARNING", "the agent cannot be reached");
    assert_eq!(lost.len(), 1, "{lost:?}");
    assert_eq!((&lost[0]["agent_id"], &lost[0]["league_id"]), (&"P02".into(), &"spring".into()));
    assert!(lost[0]["message_type"].is_string() && lost[0]["error_code"] == "E009", "{lost:?}");
}

// req: LIFE-2, OBS-1
#[test]
fn suspension_and_ban_are_seen_with_their_reasons() {
    let place = Place::new();
    let office = Office::open_at(&place, "127.0.0.1:0 --log-level debug");
    let rules = "--set announcement_lead=0s --set invitation_timeout=300ms --set choice_timeout=300ms \
                 --set choice_attempts=1 --set suspend_timeouts=1 --set probe_interval=100s";
    found(&office, &place, &format!("--league spring --start players=3 {rules}"));
    let _referee = office.seat(&place, REFEREE);
    let mut silent = office.send(&place, "player --strategy silent");
    assert_eq!(id(&mut silent), "P01");
    let _others = office.seat(&place, "player --count 2");
    let alert = until("a round waits", || {
        let league = office.look("/api/v1/leagues/spring").unwrap();
        league["alerts"].as_array().unwrap().first().cloned()
    });
    assert_eq!(alert["alert"], "player_suspended", "{alert}");
    let text = alert["text"].as_str().unwrap();
    let why = "a step without a usable answer in time";
    assert!(text.contains(&format!("waits for P01, which is suspended: {why}")), "{text}");
    assert!(alert["remedy"].as_str().unwrap().contains("league reinstate P01"), "{alert}");
    let status = office.run(&place, "status spring").stdout;
    assert!(status.contains("SUSPENDED") && status.contains(why), "{status}");
    let run = office.run(&place, "ban P01 --reason cheating");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    office.standings_at_the_end("spring");
    let written = lines(&place, 0);
    let suspended = said(&written, "WARNING", "suspended, its matches wait");
    assert_eq!((suspended.len(), &suspended[0]["agent_id"]), (1, &"P01".into()));
    let audit = said(&written, "INFO", "the administrator ordered ban: cheating");
    assert_eq!((audit.len(), &audit[0]["agent_id"]), (1, &"P01".into()));
    assert_eq!(said(&written, "WARNING", "shut down: banned").len(), 1);
    assert!(place.run("trace").stdout.contains("P01 was banned: cheating"));
    let text = std::fs::read_to_string(place.path().join("stderr.txt")).unwrap();
    assert!(text.contains("the manager says SUSPENDED"), "its own log says so too");
    let status = office.run(&place, "status spring").stdout;
    let line = |id: &str| status.lines().find(|line| line.contains(id)).unwrap().to_string();
    assert!(line("P01").ends_with("; banned"), "{status}");
    assert!(line("P02").ends_with("; the league ended"), "{status}");
}

#[test]
fn who_is_banned_hears_nothing_more_of_the_rounds() {
    let place = Place::new();
    let debug = "127.0.0.1:0 --log-level debug";
    let office = Office::open_at(&place, debug);
    found(&office, &place, "--league spring --set announcement_lead=60s");
    let _referee = office.seat(&place, REFEREE);
    let _players = office.seat(&place, "player --count 3");
    assert_eq!(office.run(&place, "start spring").code, Some(0));
    assert_eq!(office.run(&place, "ban P03 --reason cheating").code, Some(0));
    let announced = |start: usize| -> Vec<String> {
        let lines = lines(&place, start);
        let sent = lines.iter().filter(|line| {
            line["message_type"] == "ROUND_ANNOUNCEMENT" && line["message"] == "sent"
        });
        sent.map(|line| line["agent_id"].as_str().unwrap().to_string()).collect()
    };
    until("the round is announced", || announced(0).contains(&"P03".to_string()).then_some(()));
    office.service.kill();
    let before = std::fs::read_to_string(place.path().join("stderr.txt")).unwrap().len();
    let _office = Office::open_at(&place, debug);
    until("it is announced again", || (announced(before).len() >= 3).then_some(()));
    let mut told = announced(before);
    told.sort();
    assert_eq!(told, ["P01", "P02", "REF01"]);
}

#[test]
fn a_champion_needs_a_game_and_shares_its_place_with_whom_it_is_tied() {
    let place = Place::new();
    let office = Office::open(&place);
    let rules = "--start players=2 --set announcement_lead=0s";
    found(&office, &place, &format!("--league spring {rules}"));
    let _referee = office.seat(&place, REFEREE);
    let _players = office.seat(&place, "player --strategy even --count 2 --league spring");
    let standings = office.standings_at_the_end("spring");
    assert_eq!(standings["champion"]["tied_with"], serde_json::json!(["P02"]), "{standings}");
    let shown =
        office.run(&place, "status spring").stdout + &office.run(&place, "standings").stdout;
    let tie = "tied with P02, decided by order of registration";
    assert_eq!(shown.matches(tie).count(), 2, "{shown}");

    found(&office, &place, "--league autumn --start manual --set announcement_lead=60s");
    let key = "league-data/join-key-autumn";
    let _referee = office.seat(&place, &format!("referee --league autumn --join-key {key}"));
    let _players = office.seat(&place, "player --count 2 --league autumn");
    for line in ["start autumn", "annul R1M1 --league autumn --reason rain"] {
        let run = office.run(&place, line);
        assert_eq!(run.code, Some(0), "{line}: {}", run.stderr);
    }
    let standings = office.standings_at_the_end("autumn");
    assert!(standings["champion"].is_null(), "{standings}");
    let shown = office.run(&place, "status autumn").stdout;
    assert!(shown.contains("over after 1 match, no champion: nobody played"), "{shown}");
    let late = office.run(&place, "player --league autumn");
    assert!(late.stderr.contains("league autumn is over: nobody can join it"), "{}", late.stderr);
}
