//! Players of every dialect at one table, ours and other people's.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use league_wire::Dialect;
use serde_json::{Value, json};

use crate::program::Place;
use crate::service::{Office, Service, get, request, until};
use crate::services::{REFEREE, check_record, found};

// req: WIRE-8
#[test]
fn players_of_every_dialect_meet_in_one_league() {
    let place = Place::new();
    let office = Office::open(&place);
    let line = "--league spring --start players=7 --set announcement_lead=0s";
    assert_eq!(found(&office, &place, line)["players_max"], json!(7));
    let mut agents: Vec<Service> = vec![office.seat(&place, REFEREE)];
    for dialect in Dialect::ALL {
        let line = format!("player --name {dialect} --strategy random --dialect {dialect}");
        agents.push(office.seat(&place, &line));
    }
    let standings = office.standings_at_the_end("spring");
    for agent in agents {
        assert_eq!(agent.end(), Some(0), "everybody has heard that the league is over");
    }
    check_record(&place, office, &standings, 21);
}

/// Strangers may be slow where everything else is tested at the same time.
const PATIENT: &str =
    "--set announcement_lead=0s --set invitation_timeout=30s --set choice_timeout=300s";

/// A player by somebody else, who has read one document and nothing of ours.
struct Stranger {
    dialect: Dialect,
    service: Service,
    address: String,
}

impl Stranger {
    fn seat(place: &Place, office: &Office, dialect: Dialect, number: u32) -> Self {
        let agents = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/agents");
        let mut command = Command::new("python3");
        command.arg(agents.join("player.py")).env("PYTHONDONTWRITEBYTECODE", "1");
        command.args(["--manager", &format!("http://{}/mcp", office.address)]);
        command.args(["--dialect", dialect.name(), "--name", &format!("{dialect} {number}")]);
        let mut service = Service::spawn(place, command);
        let address = service.announced()["address"].as_str().unwrap().to_string();
        Self { dialect, service, address }
    }

    /// How many messages of each type it has received, unless it has given up.
    fn received(&self) -> Option<Value> {
        let (_, body) = request(&self.address, &get("GET", "/received"))?;
        serde_json::from_str(&body).ok()
    }
}

fn has_python() -> bool {
    let version = Command::new("python3").arg("--version").output();
    let there = version.is_ok_and(|output| output.status.success());
    if !there {
        eprintln!("SKIPPED: python3 is not there, so nobody plays whom we did not write");
    }
    there
}

/// What strangers said who had something to complain about.
fn complaints(place: &Place) -> String {
    let said = std::fs::read_to_string(place.path().join("stderr.txt")).unwrap_or_default();
    said.lines().filter(|line| line.contains("player.py")).collect::<Vec<_>>().join("\n")
}

// req: WIRE-7, WIRE-8
#[test]
fn strangers_of_every_dialect_meet_in_one_league() {
    if !has_python() {
        return;
    }
    let place = Place::new();
    let office = Office::open(&place);
    found(&office, &place, &format!("--league spring --start players=14 {PATIENT}"));
    let referees: Vec<Service> = (0..2).map(|_| office.seat(&place, REFEREE)).collect();
    let all = Dialect::ALL.into_iter().flat_map(|dialect| [(dialect, 1), (dialect, 2)]);
    let seat = |(dialect, number)| Stranger::seat(&place, &office, dialect, number);
    let players: Vec<Stranger> = all.map(seat).collect();
    let standings = until("the league is over", || {
        assert_eq!(complaints(&place), "");
        let document = office.look("/api/v1/leagues/spring/standings");
        document.filter(|document| document["phase"] == "completed")
    });
    for player in players {
        let expected = expected(player.dialect);
        until("the last news have come", || {
            let received = player.received().unwrap_or_else(|| panic!("{}", complaints(&place)));
            let enough = |(kind, count): &(&str, u64)| received[kind].as_u64() >= Some(*count);
            expected.iter().all(enough).then_some(())
        });
        let received = player.received().unwrap();
        let told = received.as_object().unwrap().keys().map(String::as_str);
        let known: BTreeSet<&str> = expected.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(told.collect::<BTreeSet<_>>(), known, "{}", player.dialect);
        player.service.terminate();
        assert_eq!(player.service.end(), Some(0), "{}: {}", player.dialect, complaints(&place));
    }
    for referee in referees {
        assert_eq!(referee.end(), Some(0));
    }
    check_record(&place, office, &standings, 91);
}

// req: MATCH-12
#[test]
fn strangers_of_document_004_play_with_numbers() {
    if !has_python() {
        return;
    }
    let place = Place::new();
    let office = Office::open(&place);
    let line = format!("--league spring --game even_odd_numbers --start players=4 {PATIENT}");
    found(&office, &place, &line);
    let referee = office.seat(&place, REFEREE);
    let strangers = [1, 2].map(|n| Stranger::seat(&place, &office, Dialect::Payload, n));
    let ours = office.seat(&place, "player --count 2 --strategy random,even --dialect payload");
    let standings = office.standings_at_the_end("spring");
    assert_eq!(complaints(&place), "");
    for stranger in strangers {
        stranger.service.terminate();
        assert_eq!(stranger.service.end(), Some(0));
    }
    assert_eq!((referee.end(), ours.end()), (Some(0), Some(0)));
    check_record(&place, office, &standings, 6);
}

/// What a player of thirteen matches is told at least, and nothing of any other type.
fn expected(dialect: Dialect) -> Vec<(&'static str, u64)> {
    let mut expected = match dialect {
        Dialect::Payload => vec![
            ("ROUND_START", 13),
            ("GAME_INVITE", 13),
            ("GAME_START", 13),
            ("MOVE_REQUEST", 13),
            ("GAME_RESULT", 13),
            ("ROUND_RESULT", 13),
            ("ROUND_END", 13),
            // The last one is the league's end.
            ("LEAGUE_STANDINGS_UPDATE", 2),
        ],
        Dialect::V21 => vec![("CHOOSE_PARITY", 13), ("STANDINGS_UPDATE", 1)],
        Dialect::Flat | Dialect::Typed | Dialect::Enveloped | Dialect::Tool | Dialect::Wrapped => {
            vec![("CHOOSE_PARITY_CALL", 13), ("LEAGUE_STANDINGS_UPDATE", 1)]
        }
    };
    if dialect != Dialect::Payload {
        let all = ["GAME_INVITATION", "GAME_OVER", "ROUND_COMPLETED"];
        expected.extend(all.map(|kind| (kind, 13)));
        expected.push(("LEAGUE_COMPLETED", 1));
    }
    expected.push(("ROUND_ANNOUNCEMENT", 13));
    expected
}
