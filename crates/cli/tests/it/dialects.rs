//! Players of every dialect at one table, ours and other people's.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use league_core::manager::{DrawEvidence, Event, Fact};
use league_wire::Dialect;
use serde_json::{Value, json};

use crate::program::Place;
use crate::service::{Office, Service, get, request, until};
use crate::services::{REFEREE, check_record, events, found};

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
pub(crate) const PATIENT: &str =
    "--set announcement_lead=0s --set invitation_timeout=30s --set choice_timeout=300s";

/// What strangers write in.
#[derive(Clone, Copy)]
pub(crate) enum Language {
    Python,
    JavaScript,
}

impl Language {
    pub(crate) const fn interpreter(self) -> &'static str {
        match self {
            Self::Python => "python3",
            Self::JavaScript => "node",
        }
    }

    pub(crate) const fn player(self) -> &'static str {
        match self {
            Self::Python => "player.py",
            Self::JavaScript => "player.mjs",
        }
    }
}

/// Everything by somebody else that is started here.
const PROGRAMS: [&str; 3] = ["player.py", "player.mjs", "referee.py"];

/// An agent by somebody else, who has read one document and nothing of ours.
pub(crate) struct Stranger {
    dialect: Dialect,
    service: Service,
    pub(crate) address: String,
}

impl Stranger {
    fn player(place: &Place, office: &Office, dialect: Dialect, by: Language, name: &str) -> Self {
        let program = (by.interpreter(), by.player());
        Self::seat(place, office, dialect, program, &["--name", name])
    }

    /// A player in Python that fetches its turns.
    fn puller(place: &Place, office: &Office, dialect: Dialect, name: &str) -> Self {
        let program = (Language::Python.interpreter(), Language::Python.player());
        Self::seat(place, office, dialect, program, &["--name", name, "--pull"])
    }

    fn referee(place: &Place, office: &Office, dialect: Dialect, line: &str) -> Self {
        let program = (Language::Python.interpreter(), "referee.py");
        let key = place.data().join("join-key-spring");
        let line = line.replace("KEY", key.to_str().unwrap());
        let more: Vec<&str> = line.split(' ').collect();
        Self::seat(place, office, dialect, program, &more)
    }

    pub(crate) fn seat(
        place: &Place,
        office: &Office,
        dialect: Dialect,
        (interpreter, program): (&str, &str),
        more: &[&str],
    ) -> Self {
        let agents = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/agents");
        let mut command = Command::new(interpreter);
        command.arg(agents.join(program)).env("PYTHONDONTWRITEBYTECODE", "1");
        command.args(["--manager", &format!("http://{}/mcp", office.address)]);
        command.args(["--dialect", dialect.name()]).args(more);
        let mut service = Service::spawn(place, command);
        let address = service.announced()["address"].as_str().unwrap().to_string();
        Self { dialect, service, address }
    }

    /// How many messages of each type it has received, unless it has given up.
    fn received(&self) -> Option<Value> {
        let (_, body) = request(&self.address, &get("GET", "/received"))?;
        serde_json::from_str(&body).ok()
    }

    /// Asks it to stop; it must have had nothing to complain about.
    pub(crate) fn let_go(self, place: &Place) {
        self.service.terminate();
        assert_eq!(self.service.end(), Some(0), "{}: {}", self.dialect, complaints(place));
    }
}

/// Whether programs in these languages can be run. `./test` sees to it that they can; whoever has
/// nothing but Rust runs the rest.
pub(crate) fn can_run(languages: &[Language]) -> bool {
    let is_there = |name: &str| {
        let version = Command::new(name).arg("--version").output();
        version.is_ok_and(|output| output.status.success())
    };
    let interpreters = languages.iter().map(|language| language.interpreter());
    let missing: Vec<&str> = interpreters.filter(|name| !is_there(name)).collect();
    let must = std::env::var_os("LEAGUE_STRANGERS").is_some();
    assert!(!must || missing.is_empty(), "LEAGUE_STRANGERS is set, and there is no {missing:?}");
    for name in &missing {
        eprintln!("SKIPPED: {name} is not there, so nobody plays whom we did not write");
    }
    missing.is_empty()
}

/// What strangers said who had something to complain about.
pub(crate) fn complaints(place: &Place) -> String {
    let said = std::fs::read_to_string(place.path().join("stderr.txt")).unwrap_or_default();
    let is_one = |line: &&str| PROGRAMS.iter().any(|program| line.contains(program));
    said.lines().filter(is_one).collect::<Vec<_>>().join("\n")
}

/// Waits until a league of strangers is over, and gives its standings.
pub(crate) fn standings_at_the_end(place: &Place, office: &Office) -> Value {
    until("the league is over", || {
        assert_eq!(complaints(place), "");
        let document = office.look("/api/v1/leagues/spring/standings");
        document.filter(|document| document["phase"] == "completed")
    })
}

/// Waits until players of thirteen matches have heard everything, and lets them go.
fn let_players_go(place: &Place, players: Vec<Stranger>) {
    for player in players {
        let expected = expected(player.dialect);
        until("the last news have come", || {
            let received = player.received().unwrap_or_else(|| panic!("{}", complaints(place)));
            let enough = |(kind, count): &(&str, u64)| received[kind].as_u64() >= Some(*count);
            expected.iter().all(enough).then_some(())
        });
        let received = player.received().unwrap();
        let told = received.as_object().unwrap().keys().map(String::as_str);
        let known: BTreeSet<&str> = expected.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(told.collect::<BTreeSet<_>>(), known, "{}", player.dialect);
        player.let_go(place);
    }
}

// req: WIRE-7, WIRE-8
#[test]
fn strangers_of_every_dialect_meet_in_one_league() {
    if !can_run(&[Language::Python]) {
        return;
    }
    let place = Place::new();
    let office = Office::open(&place);
    found(&office, &place, &format!("--league spring --start players=14 {PATIENT}"));
    let referees: Vec<Service> = (0..2).map(|_| office.seat(&place, REFEREE)).collect();
    let mut players = vec![];
    for dialect in Dialect::ALL {
        let (name, python) = (format!("{dialect} 1"), Language::Python);
        players.push(Stranger::player(&place, &office, dialect, python, &name));
        players.push(Stranger::puller(&place, &office, dialect, &format!("{dialect} 2")));
    }
    let standings = standings_at_the_end(&place, &office);
    let_players_go(&place, players);
    for referee in referees {
        assert_eq!(referee.end(), Some(0));
    }
    check_record(&place, office, &standings, 91);
}

// req: WIRE-7, WIRE-8
#[test]
fn strangers_of_two_languages_play_under_a_stranger() {
    let languages = [Language::Python, Language::JavaScript];
    if !can_run(&languages) {
        return;
    }
    let place = Place::new();
    let office = Office::open(&place);
    found(&office, &place, &format!("--league spring --start players=14 {PATIENT}"));
    // Ours alone has no room for a round of seven matches.
    let ours = office.seat(&place, &format!("{REFEREE} --capacity 1"));
    let theirs: Vec<Stranger> = REFEREES
        .iter()
        .map(|(dialect, line)| Stranger::referee(&place, &office, *dialect, line))
        .collect();
    let mut players = vec![];
    for dialect in Dialect::ALL {
        let (by, name) = (Language::JavaScript, format!("{dialect} 1"));
        players.push(Stranger::player(&place, &office, dialect, by, &name));
        // A stranger that calls them cannot tell that they fetch what it says.
        players.push(Stranger::puller(&place, &office, dialect, &format!("{dialect} 2")));
    }
    let standings = standings_at_the_end(&place, &office);
    let_players_go(&place, players);
    assert_eq!(ours.end(), Some(0));
    let agents = office.look("/api/v1/leagues/spring/agents").unwrap()["agents"].to_string();
    for told in [
        "not ours: takes run_match; draws not verifiable; no transcripts",
        "not ours: goes by the announcement; draws not verifiable; no transcripts",
        "not ours: asks for its matches; draws not verifiable; no transcripts",
        "not ours: takes START_MATCH; draws with the seed; no transcripts",
    ] {
        assert!(agents.contains(told), "{told}: {agents}");
    }
    let mut run = vec![];
    for (referee, (_, line)) in theirs.into_iter().zip(REFEREES) {
        // Whoever cannot be called does not hear of the end.
        let has_ended =
            |received: &Value| line.contains("poll") || received["LEAGUE_COMPLETED"] == 1;
        let received = until("the referee hears of the end", || {
            let received = referee.received().unwrap_or_else(|| panic!("{}", complaints(&place)));
            has_ended(&received).then_some(received)
        });
        run.push(received["MATCH_RESULT_ACK"].as_u64().unwrap_or(0));
        assert!(run.last() > Some(&0), "{line}: everybody has run matches: {received}");
        referee.let_go(&place);
    }
    check_record(&place, office, &standings, 91);
    let books = events(&place, "spring");
    let drawn = |draw: DrawEvidence| {
        let is_so = |event: &&Event| {
            let Fact::ResultRecorded(recorded) = &event.fact else { return false };
            recorded.draw == draw
        };
        books.iter().filter(is_so).count() as u64
    };
    // The last of them draws with the seed.
    let by_themselves: u64 = run[..run.len() - 1].iter().sum();
    assert_eq!(drawn(DrawEvidence::NotVerifiable), by_themselves, "what they cannot do is marked");
    assert_eq!(drawn(DrawEvidence::Verified), 91 - by_themselves);
    let again = |event: &&Event| matches!(event.fact, Fact::MatchReassigned { .. });
    assert_eq!(books.iter().filter(again).count(), 0, "nothing was begun in vain");
}

/// Referees by somebody else: one for each way to come by a match, and two with the league's key.
const REFEREES: [(Dialect, &str); 6] = [
    (Dialect::Typed, "--capacity 1 --mode start_match"),
    (Dialect::V21, "--capacity 1 --mode run_match"),
    (Dialect::Enveloped, "--capacity 1 --mode announcement"),
    (Dialect::Payload, "--capacity 1 --mode poll"),
    (Dialect::Tool, "--capacity 1 --own-draw --join-key KEY"),
    (Dialect::Wrapped, "--capacity 1 --join-key KEY"),
];

// req: MATCH-12
#[test]
fn strangers_of_document_004_play_with_numbers() {
    let languages = [Language::Python, Language::JavaScript];
    if !can_run(&languages) {
        return;
    }
    let place = Place::new();
    let office = Office::open(&place);
    let line = format!("--league spring --game even_odd_numbers --start players=4 {PATIENT}");
    found(&office, &place, &line);
    let referee = office.seat(&place, REFEREE);
    let strangers = languages.map(|language| {
        Stranger::player(&place, &office, Dialect::Payload, language, language.interpreter())
    });
    let ours = office.seat(&place, "player --count 2 --strategy random,even --dialect payload");
    let standings = office.standings_at_the_end("spring");
    assert_eq!(complaints(&place), "");
    for stranger in strangers {
        stranger.let_go(&place);
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
