//! Leagues that only take those on a roster, each with a code of its own.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, sync_channel};

use serde_json::{Value, json};

use crate::program::Place;
use crate::service::{Office, free_address, request, until};
use crate::services::{REFEREE, events, found};

const STUDENTS: &str = "code,student,group\n,\"Lovelace, Ada\",red\nturing42,Alan,blue\n";

fn codes(place: &Place) -> Vec<String> {
    let text = std::fs::read_to_string(place.path().join("students.codes.csv")).unwrap();
    text.lines().skip(1).map(|line| line.split(',').next().unwrap().to_string()).collect()
}

/// What somebody is told who is not let in.
fn refused(office: &Office, place: &Place, code: &str) -> String {
    let line = format!("player --league spring --listen 127.0.0.1:0 {code}");
    let run = office.run(place, &line);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    run.stderr
}

/// Plays the league of two students, and gives what is in its books.
fn play(place: &Place, office: Office) -> String {
    let codes = codes(place);
    assert_eq!(codes.len(), 2);
    assert!(refused(&office, place, "").contains("with a join code only"));
    assert!(refused(&office, place, "--join-code guess").contains("is not one of this league"));
    let player = |code: &str| format!("player --league spring --join-code {code}");
    let _referee = office.seat(place, REFEREE);
    let _ada = office.seat(place, &player(&codes[0]));
    assert!(
        refused(&office, place, &format!("--join-code {}", codes[0])).contains("has been used")
    );
    let _alan = office.seat(place, &player(&codes[1]));
    let standings = office.standings_at_the_end("spring");
    assert_eq!(standings["standings"][0]["played"], 1, "{standings}");
    let pages = ["", "/spring", "/spring/standings", "/spring/agents"];
    let pages = pages.map(|page| office.look(&format!("/api/v1/leagues{page}")).unwrap());
    let pages = pages.map(|page| page.to_string());
    for private in ["Lovelace", "turing42", &codes[0]] {
        assert!(pages.iter().all(|page| !page.contains(private)), "{private} in {pages:?}");
    }
    office.service.terminate();
    assert_eq!(office.service.end(), Some(0));
    let books = format!("{:?}", events(place, "spring"));
    assert!(!books.contains(&codes[0]) && !books.contains("turing42"), "only hashes of codes");
    books
}

#[test]
fn a_roster_grows_until_the_start() {
    let place = Place::new();
    let write = |name: &str, text: &str| std::fs::write(place.path().join(name), text).unwrap();
    write("students.csv", "code,student,group\nadas,Ada,red\n");
    write("late.csv", "code,student,group\nadas,Ada,red\nkurts,Kurt,blue\n");
    write("wrong.csv", "code,student,group\nadas,Eve,red\n");
    let office = Office::open(&place);
    let rules = "--set announcement_lead=0s --roster students.csv";
    found(&office, &place, &format!("--league spring --start players=2 {rules}"));
    assert!(refused(&office, &place, "--join-code kurts").contains("is not one of this league"));
    let wrong = office.run(&place, "roster add wrong.csv --reason slip");
    assert_eq!(wrong.code, Some(1));
    assert!(wrong.stderr.contains("a join code is listed twice"), "{}", wrong.stderr);
    let added = office.run(&place, "roster add late.csv --reason late");
    assert_eq!((added.code, added.stderr.as_str()), (Some(0), ""));
    let _referee = office.seat(&place, REFEREE);
    let _ada = office.seat(&place, "player --league spring --join-code adas");
    let _kurt = office.seat(&place, "player --league spring --join-code kurts");
    office.standings_at_the_end("spring");
    let late = office.run(&place, "roster add students.csv --reason late");
    assert_eq!(late.code, Some(1), "{}", late.stdout);
    office.service.terminate();
    assert_eq!(office.service.end(), Some(0));
    let books = format!("{:?}", events(&place, "spring"));
    assert!(books.contains("order: Enrol, reason: \"late\""), "{books}");
}

#[test]
fn a_league_is_created_for_those_on_a_roster() {
    let place = Place::new();
    std::fs::write(place.path().join("students.csv"), STUDENTS).unwrap();
    let office = Office::open(&place);
    let rules = "--start players=2 --set announcement_lead=0s";
    let line = format!("create --json --league spring --roster students.csv {rules}");
    let run = office.run(&place, &line);
    assert_eq!(
        (run.code, run.stderr.as_str()),
        (Some(0), "the join codes are in students.codes.csv\n")
    );
    std::fs::write(place.path().join("twice.csv"), "a,Ada,\na,Alan,\n").unwrap();
    let twice = office.run(&place, "create --league autumn --roster twice.csv");
    assert!(twice.stderr.contains("twice.csv:2: Alan has the code of line 1"), "{}", twice.stderr);
    let leagues = office.look("/api/v1/leagues").unwrap();
    assert_eq!(leagues["leagues"].as_array().unwrap().len(), 1, "half a league is none");
    std::fs::write(place.path().join("three.csv"), "a,Ada,\nb,Alan,\nc,Kurt,\n").unwrap();
    let many = office.run(&place, "create --league many --roster three.csv --players-max 2");
    assert!(many.stderr.contains("3 on the roster, and the league takes 2"), "{}", many.stderr);
    assert!(play(&place, office).contains("Lovelace, Ada"), "grades belong to people");
}

/// A roster of five, two of whom have joined.
const FIVE: &str =
    "code,student,group\na1,Ada,red\nb2,Alan,blue\nc3,Grace,red\nd4,Kurt,\ne5,Emmy,blue\n";

#[test]
fn the_administrator_sees_who_is_who_and_nobody_else_does() {
    let place = Place::new();
    std::fs::write(place.path().join("five.csv"), FIVE).unwrap();
    let office = Office::open(&place);
    let run = office.run(&place, "create --json --league spring --roster five.csv");
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    let _second = office.seat(&place, "player --name Zed --join-code b2");
    let _first = office.seat(&place, "player --name Max --join-code d4");
    let status = |more: &str| office.run(&place, &format!("status spring {more}"));
    let shown = status("").stdout;
    let has = |line: &str| {
        shown.lines().any(|l| l.split_whitespace().collect::<Vec<_>>().join(" ").starts_with(line))
    };
    assert!(has("id name student group state") && has("P01 Zed Alan blue REGISTERED"), "{shown}");
    assert!(has("P02 Max Kurt REGISTERED"), "{shown}");
    assert!(shown.contains("not joined (3): Ada (red), Grace (red), Emmy (blue)"), "{shown}");
    let document: Value = serde_json::from_str(&status("--json").stdout).unwrap();
    assert_eq!(document["agents"][0]["student"], "Alan");
    assert_eq!(document["agents"][1]["group"], Value::Null);
    assert_eq!(document["not_joined"][2], json!({"student": "Emmy", "group": "blue"}));
    assert!(document["agents"][0]["endpoint"].as_str().unwrap().starts_with("http://127.0.0.1"));
    let _referee = office.seat(&place, REFEREE);
    assert_eq!(office.run(&place, "start spring").code, Some(0));
    let table = office.run(&place, "standings spring").stdout;
    assert!(table.contains("student") && table.contains("Alan"), "{table}");
    let people = ["Ada", "Alan", "Grace", "Kurt", "Emmy", "blue", "endpoint"];
    for page in ["agents", "standings"] {
        let path = format!("/api/v1/leagues/spring/{page}");
        let seen = office.look(&path).unwrap().to_string();
        assert!(people.iter().all(|person| !seen.contains(person)), "{seen}");
        let wrong = format!(
            "GET {path} HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\
             Authorization: Bearer guess\r\n\r\n"
        );
        assert_eq!(request(&office.address, &wrong).unwrap().0, 403);
    }
    std::fs::create_dir(place.path().join("other")).unwrap();
    std::fs::write(place.path().join("other/admin-token"), "tok_guess").unwrap();
    let stranger = status("--data other");
    assert_eq!(stranger.code, Some(0));
    assert!(stranger.stderr.contains("is not the one of this manager"), "{}", stranger.stderr);
    assert!(people.iter().all(|person| !stranger.stdout.contains(person)), "{}", stranger.stdout);
    let nobody = status("--data nowhere");
    assert_eq!((nobody.code, nobody.stderr.as_str()), (Some(0), ""));
    assert!(people.iter().all(|person| !nobody.stdout.contains(person)), "{}", nobody.stdout);
}

/// Answers everybody as a manager would that has a league `spring`, and tells what it was asked.
fn listening_stranger() -> (u16, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (heard, asked) = sync_channel(16);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = String::new();
            let mut lines = BufReader::new(stream.try_clone().unwrap());
            while !request.ends_with("\r\n\r\n") && lines.read_line(&mut request).unwrap() > 0 {}
            // Before the answer: whoever has that looks at what was asked.
            if heard.send(request).is_err() {
                break;
            }
            let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}";
            stream.write_all(head.as_bytes()).unwrap();
        }
    });
    (port, asked)
}

// req: AUTH-3
#[test]
fn the_administrators_token_goes_to_no_manager_elsewhere() {
    let place = Place::new();
    std::fs::create_dir(place.data()).unwrap();
    std::fs::write(place.data().join("admin-token"), "tok_ours").unwrap();
    let (port, asked) = listening_stranger();
    // This machine under an address that does not say so.
    let elsewhere = format!("--manager http://0.0.0.0:{port}");
    let shows = |line: &str| {
        let run = place.run(line);
        assert_eq!(run.code, Some(0), "{line}: {}", run.stderr);
        let shown = asked.try_iter().any(|request| request.contains("tok_ours"));
        assert_eq!(run.stderr.contains("is not shown to a manager elsewhere"), !shown, "{line}");
        shown
    };
    for command in ["status spring", "standings spring"] {
        assert!(!shows(&format!("{command} {elsewhere}")), "{command}");
        assert!(shows(&format!("{command} {elsewhere} --data league-data")), "{command}");
        assert!(shows(&format!("{command} --manager http://localhost:{port}")), "{command}");
    }
}

#[test]
fn the_roster_of_a_configuration_counts_when_the_league_is_founded() {
    let place = Place::new();
    std::fs::write(place.path().join("students.csv"), STUDENTS).unwrap();
    let written = "[league]\nid = \"spring\"\nstart = { players = 2 }\nroster = \"students.csv\"\n\
                   set.announcement_lead = \"0s\"\n";
    std::fs::write(place.path().join("league.toml"), written).unwrap();
    let shown = place.run("serve --print-config --json");
    let shown: Value = serde_json::from_str(&shown.stdout).unwrap();
    let roster = json!({"value": "students.csv", "origin": "league.toml:4"});
    assert_eq!(shown["league.roster"], roster);
    assert!(!place.path().join("students.codes.csv").exists(), "nothing was founded");
    let office = Office::open(&place);
    until("it says where the codes are", || {
        let said = std::fs::read_to_string(place.path().join("stderr.txt")).unwrap();
        said.contains("the join codes are in students.codes.csv").then_some(())
    });
    let before = codes(&place);
    office.service.kill();
    let office = Office::open(&place);
    assert_eq!(codes(&place), before, "a league that is there keeps its codes");
    play(&place, office);
}

#[test]
fn a_manager_in_the_open_gives_matches_to_its_own_referees_only() {
    let place = Place::new();
    let office = Office::open(&place);
    found(&office, &place, "--league spring --set announcement_lead=0s");
    let port = free_address().port();
    office.service.terminate();
    assert_eq!(office.service.end(), Some(0));
    let open = format!("0.0.0.0:{port} --allow-network 127.0.0.0/8");
    let office = Office { address: format!("127.0.0.1:{port}"), ..Office::open_at(&place, &open) };
    found(&office, &place, "--league autumn --set announcement_lead=0s");
    for league in ["spring", "autumn"] {
        let _stranger = office.seat(&place, &format!("referee --league {league}"));
        let _players = office.seat(&place, &format!("player --count 2 --league {league}"));
        let early = office.run(&place, &format!("start {league}"));
        assert_eq!(early.code, Some(1), "{league}");
        let waits = "REF01 came without the join key and waits for `league approve REF01";
        assert!(early.stderr.contains(waits), "{}", early.stderr);
        let status = office.run(&place, &format!("status {league}")).stdout;
        assert!(status.contains("no matches before `league approve REF01`"), "{status}");
        assert!(status.contains("1 referee, 1 not approved"), "{status}");
        let said = std::fs::read_to_string(place.path().join("stderr.txt")).unwrap();
        assert!(said.contains("registered, but there are no matches for REF01"), "{said}");
        let key = format!("--join-key league-data/join-key-{league}");
        let _own = office.seat(&place, &format!("referee --league {league} {key}"));
        assert_eq!(office.run(&place, &format!("start {league}")).code, Some(0), "{league}");
        let standings = office.standings_at_the_end(league);
        assert_eq!(standings["standings"][0]["played"], 1, "{standings}");
    }
}
