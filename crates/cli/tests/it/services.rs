//! Manager, referees and players as separate processes of the program.

use std::net::TcpListener;

use league_core::manager::Event;
use league_server::journal::{Head, Journal, SqliteJournal, codec};
use league_server::runtime::Recount;
use serde_json::{Value, json};

use crate::program::{Place, Run};
use crate::service::{Office, Service, free_address, get, post, request, until};

pub(crate) const REFEREE: &str = "referee --league spring --join-key league-data/join-key-spring";

pub(crate) fn found(office: &Office, place: &Place, line: &str) -> Value {
    let run = office.run(place, &format!("create --json {line}"));
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    serde_json::from_str(&run.stdout).expect("exactly one JSON document")
}

/// Everything in the journal, with the position after it.
fn rows(place: &Place, league: &str) -> Vec<(Event, Head)> {
    let journal = SqliteJournal::open(&place.data()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let id = league.parse().unwrap();
    let (mut all, mut position) = (vec![], Head::genesis(&id));
    loop {
        let rows = runtime.block_on(journal.read(&id, position, 1000)).unwrap();
        let Some(last) = rows.last() else { return all };
        position = last.head();
        all.extend(rows.iter().map(|row| (codec::decode(&row.bytes).unwrap(), row.head())));
    }
}

/// Everything in the journal of a manager that has stopped.
pub(crate) fn events(place: &Place, league: &str) -> Vec<Event> {
    rows(place, league).into_iter().map(|(event, _)| event).collect()
}

/// What the journal says, read by somebody who was not there.
pub(crate) fn recount(place: &Place, league: &str) -> Recount {
    let id = league.parse().unwrap();
    let mut count = None::<Recount>;
    for (event, head) in rows(place, league) {
        match &mut count {
            Some(count) => count.add(&event),
            None => count = Some(Recount::start(&id, &event, head).unwrap()),
        }
    }
    count.expect("the journal has the league")
}

/// The table of the record in the form of the manager's interface.
fn table(recount: &Recount) -> Vec<Value> {
    let row = |row: &league_core::standings::Row| {
        let record = &row.record;
        let player = recount.league.player(row.player).unwrap();
        json!({
            "rank": row.rank,
            "player_id": row.player.to_string(),
            "display_name": &*player.profile.display_name,
            "played": record.played,
            "wins": record.wins,
            "draws": record.draws,
            "losses": record.losses,
            "technical_losses": record.technical_losses,
            "games_lost": record.losses - record.technical_losses,
            "points": record.points,
        })
    };
    recount.league.table().iter().map(row).collect()
}

/// Stops the manager and checks that its record is a league played to the end.
pub(crate) fn check_record(place: &Place, office: Office, standings: &Value, matches: u64) {
    office.service.terminate();
    assert_eq!(office.service.end(), Some(0));
    let recount = recount(place, "spring");
    assert_eq!((recount.results, recount.played), (matches, matches));
    assert_eq!((recount.technical_losses, recount.cancelled), (0, 0));
    assert_eq!(standings["standings"], json!(table(&recount)));
}

// req: ARCH-1, SCHED-6
#[test]
fn a_league_is_played_by_seven_processes() {
    let place = Place::new();
    let office = Office::open(&place);
    let league =
        found(&office, &place, "--league spring --start players=4 --set announcement_lead=0s");
    assert_eq!((&league["phase"], &league["players_max"]), (&json!("registering"), &json!(4)));
    let mut agents: Vec<Service> = (0..2).map(|_| office.seat(&place, REFEREE)).collect();
    for strategy in ["random", "even", "odd", "alternating"] {
        let line = format!("player --strategy {strategy} --name {strategy}");
        agents.push(office.seat(&place, &line));
    }
    let standings = office.standings_at_the_end("spring");
    for agent in agents {
        assert_eq!(agent.end(), Some(0), "an agent whose league is over has nothing left to do");
    }
    check_record(&place, office, &standings, 6);
}

// req: MATCH-12
#[test]
fn a_league_of_numbers_is_founded_and_played_by_processes() {
    let place = Place::new();
    let office = Office::open(&place);
    let line = "--league spring --game even_odd_numbers --start players=3 \
                --set announcement_lead=0s";
    let league = found(&office, &place, line);
    assert_eq!(league["game"], "even_odd_numbers");
    let mut agents = vec![office.seat(&place, REFEREE)];
    for strategy in ["random", "even", "pattern"] {
        let line = format!("player --strategy {strategy} --name {strategy} --dialect enveloped");
        agents.push(office.seat(&place, &line));
    }
    let standings = office.standings_at_the_end("spring");
    for agent in agents {
        assert_eq!(agent.end(), Some(0));
    }
    check_record(&place, office, &standings, 3);
}

// req: RESULT-1
#[test]
fn a_manager_that_is_killed_goes_on_where_it_was() {
    let place = Place::new();
    let office = Office::open(&place);
    let rules = "--set announcement_lead=100ms --set report_retries=0 --set report_interval=200ms";
    found(&office, &place, &format!("--league spring --start players=10 {rules}"));
    let referees: Vec<_> = (0..2).map(|_| office.seat(&place, REFEREE)).collect();
    let players = office.seat(&place, "player --count 10 --strategy random,odd");
    let status = |office: &Office| office.look("/api/v1/leagues/spring");
    let done = |status: &Value| status["matches_done"].as_u64().unwrap();
    let before = until("some matches are over", || status(&office).filter(|it| done(it) >= 7));
    let address = office.address.clone();
    office.service.kill();
    assert!(done(&before) < 45, "it must be killed in the middle: {before}");
    let office = Office::open_at(&place, &address);
    assert_eq!(office.announced["leagues"][0]["league_id"], "spring");
    let after = status(&office).expect("it answers at once");
    assert!(done(&after) >= done(&before), "{after}");
    let standings = office.standings_at_the_end("spring");
    for agent in referees.into_iter().chain([players]) {
        assert_eq!(agent.end(), Some(0));
    }
    check_record(&place, office, &standings, 45);
}

#[test]
fn agents_wait_for_a_manager_that_is_not_there_yet() {
    let place = Place::new();
    let free = free_address();
    let line = |agent: &str| format!("{agent} --manager {free} --listen 127.0.0.1:0 --json");
    let mut referee = Service::start(&place, &line("referee"));
    let mut players = Service::start(&place, &line("player --count 2"));
    let complaint = "trying again until it answers, Ctrl-C stops";
    until("they complain", || {
        let said = std::fs::read_to_string(place.path().join("stderr.txt")).unwrap();
        (said.matches(complaint).count() == 2).then_some(())
    });
    std::fs::write(
        place.path().join("league.toml"),
        "[league]\nid = \"spring\"\nstart = { players = 2 }\nset.announcement_lead = \"0s\"\n",
    )
    .unwrap();
    let office = Office::open_at(&place, &free.to_string());
    assert_eq!(referee.announced()["agents"][0]["id"], "REF01");
    assert_eq!(players.announced()["agents"][1]["league_id"], "spring");
    let standings = office.standings_at_the_end("spring");
    assert_eq!((referee.end(), players.end()), (Some(0), Some(0)));
    check_record(&place, office, &standings, 1);
}

// req: ARCH-5
#[test]
fn one_manager_has_several_leagues() {
    let place = Place::new();
    let office = Office::open(&place);
    for league in ["spring", "autumn"] {
        found(&office, &place, &format!("--league {league} --set announcement_lead=0s"));
    }
    let again = office.run(&place, "create --league spring");
    assert_eq!(again.code, Some(1));
    assert!(again.stderr.contains("there is a league spring already"), "{}", again.stderr);
    let undecided = office.run(&place, "player --listen 127.0.0.1:0");
    assert_eq!(undecided.code, Some(1));
    assert!(undecided.stderr.contains("one of: autumn, spring"), "{}", undecided.stderr);
    let agents =
        [office.seat(&place, REFEREE), office.seat(&place, "player --league spring --count 3")];
    let early = office.run(&place, "start autumn");
    assert_eq!(early.code, Some(1));
    assert!(early.stderr.contains("at least two players"), "{}", early.stderr);
    let started = office.run(&place, "start spring");
    assert_eq!((started.code, started.stderr.as_str()), (Some(0), ""));
    let standings = office.standings_at_the_end("spring");
    for agent in agents {
        assert_eq!(agent.end(), Some(0));
    }
    let phases = office.look("/api/v1/leagues").unwrap();
    let phases = phases["leagues"].as_array().unwrap().iter().map(|one| one["phase"].clone());
    assert_eq!(phases.collect::<Vec<_>>(), ["registering", "completed"]);
    let watched = office.run(&place, "watch spring --json");
    assert_eq!(serde_json::from_str::<Value>(&watched.stdout).unwrap(), standings);
    check_record(&place, office, &standings, 3);
}

#[test]
fn a_league_that_cannot_start_in_time_says_what_it_lacks() {
    let place = Place::new();
    let office = Office::open(&place);
    let start = "--league spring --start at=2020-05-01T12:00:00Z --set announcement_lead=0s";
    found(&office, &place, start);
    let lacks = |referee: &str| {
        format!(
            "the time to start has passed: the league has 0 of at least 2 players, and {referee}"
        )
    };
    until("the manager says so itself", || {
        let said = std::fs::read_to_string(place.path().join("stderr.txt")).unwrap();
        said.contains(&format!("alert: {}", lacks("no referee"))).then_some(())
    });
    let alerts = || office.look("/api/v1/leagues/spring").unwrap()["alerts"].clone();
    assert_eq!(alerts()[0]["alert"], "start_overdue");
    let referee = office.seat(&place, REFEREE);
    assert_eq!(alerts()[0]["text"], lacks("a referee"));
    let players = office.seat(&place, "player --count 2");
    office.standings_at_the_end("spring");
    assert_eq!(alerts(), json!([]));
    assert_eq!((players.end(), referee.end()), (Some(0), Some(0)));
}

#[test]
fn a_league_that_waits_for_a_referee_says_what_to_do() {
    let place = Place::new();
    let office = Office::open(&place);
    found(&office, &place, "--league spring --start players=2 --set announcement_lead=0s");
    let quiet = office.run(&place, "status");
    assert!(!quiet.stdout.contains("alert"), "{}", quiet.stdout);
    let players = office.seat(&place, "player --count 2");
    let needed = "alert: no referee: the players are there, the league waits for one";
    let remedy = "start one: `league referee --manager URL --join-key FILE`";
    let shown = office.run(&place, "status spring").stdout;
    assert!(shown.contains(needed) && shown.contains(remedy), "{shown}");
    until("the manager says so itself", || {
        let said = std::fs::read_to_string(place.path().join("stderr.txt")).unwrap();
        (said.contains(needed) && said.contains(remedy)).then_some(())
    });
    let referee = office.seat(&place, REFEREE);
    office.standings_at_the_end("spring");
    let status = office.look("/api/v1/leagues/spring").unwrap();
    assert_eq!(status["alerts"], json!([]));
    assert_eq!((players.end(), referee.end()), (Some(0), Some(0)));
}

// req: AUTH-3
#[test]
fn what_everybody_may_read_holds_nothing_private() {
    let place = Place::new();
    let office = Office::open(&place);
    found(&office, &place, "--league spring");
    let _agents = [office.seat(&place, REFEREE), office.seat(&place, "player --count 2")];
    let pages = ["", "/spring", "/spring/standings"].map(|page| {
        let path = format!("/api/v1/leagues{page}");
        let (status, body) = request(&office.address, &get("GET", &path)).unwrap();
        let head = request(&office.address, &get("HEAD", &path)).unwrap();
        assert_eq!((status, head), (200, (200, String::new())), "{path}");
        body
    });
    for secret in ["tok_", "join", "http:", "127.0.0.1", "@"] {
        assert!(pages.iter().all(|page| !page.contains(secret)), "{secret} in {pages:?}");
    }
    let (status, _) = request(&office.address, &get("GET", "/api/v1/leagues/winter")).unwrap();
    assert_eq!(status, 404);
}

#[test]
fn only_the_administrator_is_obeyed() {
    let place = Place::new();
    let office = Office::open(&place);
    found(&office, &place, "--league spring");
    let token = std::fs::read_to_string(place.data().join("admin-token")).unwrap();
    let start = "/api/v1/admin/leagues/spring/start";
    let send = |path: &str, token: Option<&str>, body: &str| {
        request(&office.address, &post(path, token, body)).unwrap()
    };
    assert_eq!(send(start, None, "{}").0, 401);
    assert_eq!(send(start, Some("tok_administrator_guess"), "{}").0, 403);
    assert_eq!(send("/api/v1/admin/leagues", None, "{}").0, 401);
    assert_eq!(send(start, Some(&token), "{}").0, 409, "nobody has joined");
    assert_eq!(send("/api/v1/admin/leagues/winter/start", Some(&token), "{}").0, 404);
    assert_eq!(send("/api/v1/admin/leagues/spring/dance", Some(&token), "{}").0, 404);
    let pause = "/api/v1/admin/leagues/spring/pause";
    assert_eq!(send(pause, Some(&token), "{}").0, 422, "without a reason");
    assert_eq!(send(pause, None, r#"{"reason": "lunch"}"#).0, 401);
    assert_eq!(send(pause, Some(&token), r#"{"reason": "lunch"}"#).0, 200);
    let ban = "/api/v1/admin/leagues/spring/ban";
    let (status, body) = send(ban, Some(&token), r#"{"agent": "P07", "reason": "cheating"}"#);
    assert_eq!(status, 409, "there is no such player: {body}");
    let leagues = "/api/v1/admin/leagues";
    for (order, status, said) in [
        ("{", 400, "EOF"),
        (r#"{"colour": "blue"}"#, 400, "unknown field `colour`"),
        (r#"{"rules": "v9"}"#, 422, "rules: expected v2.1 or v2.0, got `v9`"),
        (r#"{"set": {"colour": "blue"}}"#, 422, "set.colour: there is no such rule"),
        (r#"{"game": "chess"}"#, 422, "game: unknown game"),
        (r#"{"start": {"players": 1}}"#, 422, "start.players: expected 2 to"),
        (r#"{"start": {"at": "noon"}}"#, 422, "start.at: expected"),
        (r#"{"league_id": "a/b"}"#, 422, "league_id: expected"),
        (r#"{"league_id": "spring"}"#, 409, "already"),
    ] {
        let (got, body) = send(leagues, Some(&token), order);
        assert_eq!(got, status, "{order}: {body}");
        let document: Value = serde_json::from_str(&body).unwrap();
        assert!(document["error"].as_str().unwrap().contains(said), "{order}: {body}");
    }
    let foreign = place.command("create --data nowhere").output().unwrap();
    assert_eq!(foreign.status.code(), Some(1));
    let mut command = place.command("create");
    command.args(["--manager", &office.address]).env("LEAGUE_ADMIN_TOKEN", "tok_guess");
    let run = Run::of(command.output().unwrap());
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("not the administrator's token"), "{}", run.stderr);
    assert!(run.stderr.contains("hint: set LEAGUE_ADMIN_TOKEN"), "{}", run.stderr);
}

// req: ARCH-6
#[test]
fn every_process_says_how_it_is() {
    let place = Place::new();
    let office = Office::open(&place);
    found(&office, &place, "--league spring");
    let mut referee = office.send(&place, REFEREE);
    let mut player = office.send(&place, "player");
    let address = |document: Value| {
        let endpoint = document["agents"][0]["endpoint"].as_str().unwrap().to_string();
        endpoint.trim_start_matches("http://").trim_end_matches("/mcp").to_string()
    };
    let agents =
        [office.address.clone(), address(referee.announced()), address(player.announced())];
    for (address, name) in agents.iter().zip(["league_manager", "referee", "player"]) {
        let look = |path| request(address, &get("GET", path)).unwrap();
        let (status, health) = look("/health");
        assert_eq!(status, 200);
        let health: Value = serde_json::from_str(&health).unwrap();
        assert_eq!((&health["status"], &health["agent"]), (&json!("ok"), &json!(name)));
        assert_eq!(look("/ready"), (200, "{\"ready\":true}\n".into()));
        assert!(look("/version").1.contains(env!("CARGO_PKG_VERSION")));
        let head = request(address, &get("HEAD", "/ready")).unwrap();
        assert_eq!(head, (200, String::new()));
    }
    for service in [office.service, referee, player] {
        service.terminate();
        assert_eq!(service.end(), Some(0), "being asked to stop is no failure");
    }
}

#[test]
fn a_port_that_is_taken_is_said_so() {
    let place = Place::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let run = place.run(&format!("serve --listen {address}"));
    assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""));
    assert!(
        run.stderr.starts_with(&format!("error: cannot listen on {address}: ")),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("\nhint: something listens there"), "{}", run.stderr);
    assert!(!place.data().exists(), "nothing was begun");
}

#[test]
fn a_manager_that_was_told_no_port_takes_a_free_one_and_says_so() {
    let place = Place::new();
    // Whoever else has the port serves as well.
    let _taken = TcpListener::bind("127.0.0.1:8000");
    let office = Office::open_with(&place, "");
    assert_ne!(office.address, "127.0.0.1:8000");
    let health = office.look("/api/v1/leagues").expect("it is there");
    assert_eq!(health["leagues"].as_array().unwrap().len(), 0, "{health}");
    let said = std::fs::read_to_string(place.path().join("stderr.txt")).unwrap();
    let expected =
        format!("127.0.0.1:8000 is taken, so this manager listens on {}", office.address);
    assert!(said.contains(&expected), "{said}");
    office.service.terminate();
    assert_eq!(office.service.end(), Some(0));
    std::fs::write(place.path().join("league.toml"), "listen = \"127.0.0.1:8000\"\n").unwrap();
    let written = place.run("serve");
    assert_eq!(written.code, Some(1));
    assert!(written.stderr.contains("\nhint: something listens there"), "{}", written.stderr);
}

// req: ARCH-2
#[test]
fn agents_take_the_documented_ports_unless_told_otherwise() {
    let place = Place::new();
    let office = Office::open(&place);
    found(&office, &place, "--league spring");
    for (agent, ports) in [("referee", 8001..=8099), ("player", 8101..=8199)] {
        let line = format!("{agent} --manager {} --json", office.address);
        let mut agent = Service::start(&place, &line);
        let document = agent.announced();
        let endpoint = document["agents"][0]["endpoint"].as_str().unwrap();
        let port = endpoint.trim_start_matches("http://127.0.0.1:").trim_end_matches("/mcp");
        assert!(ports.contains(&port.parse::<u16>().unwrap()), "{document}");
    }
}

#[test]
fn who_could_join_several_leagues_joins_the_default_one() {
    let place = Place::new();
    let written = "default_league = \"spring\"\n[league]\nid = \"spring\"\nstart = \"manual\"\n";
    std::fs::write(place.path().join("league.toml"), written).unwrap();
    let office = Office::open(&place);
    found(&office, &place, "--league autumn");
    let mut player = office.send(&place, "player");
    assert_eq!(player.announced()["agents"][0]["league_id"], "spring");
    let mut other = office.send(&place, "player --league autumn");
    assert_eq!(other.announced()["agents"][0]["league_id"], "autumn");
}

#[test]
fn whoever_edits_the_configuration_of_a_league_is_told_what_holds() {
    let place = Place::new();
    let write = |start: u32, roster: &str| {
        let text = format!("[league]\nid = \"spring\"\nstart = {{ players = {start} }}\n{roster}");
        std::fs::write(place.path().join("league.toml"), text).unwrap();
    };
    let said = || std::fs::read_to_string(place.path().join("stderr.txt")).unwrap();
    write(2, "");
    let first = Office::open(&place);
    until("it is founded", || said().contains("league spring is founded").then_some(()));
    drop(first);
    write(7, "roster = \"nope.csv\"\n");
    let _second = Office::open(&place);
    for expected in [
        "start is { players = 2 } and not { players = 7 }",
        "everybody may play, nope.csv is not read",
        "league spring goes on",
        "listens on 127.0.0.1:",
    ] {
        until(expected, || said().contains(expected).then_some(()));
    }
}

#[test]
fn what_is_not_there_is_said_in_json_too() {
    let place = Place::new();
    let office = Office::open(&place);
    found(&office, &place, "--league spring");
    let (status, body) =
        request(&office.address, &get("GET", "/api/v1/leagues/nope")).expect("an answer");
    assert_eq!(status, 404);
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(body["error"], "there is no league nope here; there are: spring");
    let (status, body) = request(&office.address, &get("GET", "/api/v2")).expect("an answer");
    assert_eq!(status, 404);
    assert!(serde_json::from_str::<Value>(&body).unwrap()["error"].is_string(), "{body}");
    let watched = office.run(&place, "watch nope");
    assert!(watched.stderr.contains("there is no league nope here"), "{}", watched.stderr);
}

#[test]
fn the_administrator_is_at_home_where_league_toml_is() {
    let place = Place::new();
    let free = free_address();
    let text = format!("listen = \"{free}\"\ndata = \"spring-data\"\n[league]\nid = \"spring\"\n");
    std::fs::write(place.path().join("league.toml"), text).unwrap();
    let mut service = Service::start(&place, "serve --json");
    assert_eq!(service.announced()["address"], free.to_string());
    for line in ["close --reason full", "status spring", "trace"] {
        let run = place.run(line);
        assert_eq!(run.code, Some(0), "{line}: {}", run.stderr);
        assert!(run.stdout.contains("spring"), "{line}: {}", run.stdout);
    }
    let elsewhere = place.run("trace --data elsewhere");
    assert_eq!(elsewhere.code, Some(1), "what is typed counts more");
    let mut command = place.command("approve REF01");
    let run = Run::of(command.env("LEAGUE_DATA", "elsewhere").output().unwrap());
    assert!(run.stderr.contains("Usage: league approve --reason <TEXT> <AGENT>"), "{}", run.stderr);
}
