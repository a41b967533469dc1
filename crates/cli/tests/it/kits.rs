//! Agents to begin with: what `league new` writes runs at once, and plays.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::dialects::{Language, can_run};
use crate::mistakes::check_in;
use crate::program::{Place, Run};
use crate::service::{Office, Service};
use crate::services::{REFEREE, check_record, found};

const PATIENT: &str = "--set invitation_timeout=30s --set choice_timeout=300s";

/// A kit in a folder of its own.
struct Kit {
    lang: &'static str,
    told: Value,
}

impl Kit {
    fn new(place: &Place, lang: &'static str) -> Self {
        let run = place.run(&format!("new player --lang {lang} my-{lang} --json"));
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{lang}");
        Self { lang, told: serde_json::from_str(&run.stdout).expect("exactly one JSON document") }
    }

    /// One of its commands, with more options.
    fn command(&self, place: &Place, which: &str, more: &[&str]) -> Command {
        let mut words = self.told[which].as_str().unwrap().split(' ');
        let mut command = Command::new(words.next().unwrap());
        command.args(words).args(more).current_dir(place.path().join(format!("my-{}", self.lang)));
        command.env("PYTHONDONTWRITEBYTECODE", "1").env_remove("LEAGUE_MANAGER");
        command.stdin(Stdio::null());
        command
    }

    /// Plays in the league of `office`; what is typed last counts.
    fn play(&self, place: &Place, office: &Office, name: &str, way: &[&str]) -> Service {
        let manager = format!("http://{}", office.address);
        let more = [&["--manager", &manager, "--name", name, "--json"], way].concat();
        let mut service = Service::spawn(place, self.command(place, "run", &more));
        assert_eq!(service.announced()["agents"][0]["display_name"], name);
        service
    }
}

/// Whether the kits can be run here; the one for Node needs a newer one than some systems bring.
pub(crate) fn languages() -> Option<[&'static str; 2]> {
    if !can_run(&[Language::Python, Language::JavaScript]) {
        return None;
    }
    let version = Command::new("node").arg("--version").output().expect("it was just run");
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    let mut numbers = version.trim().trim_start_matches('v').split('.').map(str::parse::<u32>);
    let number = [(); 2].map(|()| numbers.next().and_then(Result::ok).unwrap_or(0));
    if number < [20, 3] {
        eprintln!("SKIPPED: the kit for Node needs 20.3, and this is {version}");
        return None;
    }
    Some(["python", "typescript"])
}

#[test]
fn what_is_said_of_new_agents() {
    let place = Place::new();
    check_in(&place, "help_new", "new --help");
    check_in(&place, "new_python", "new player --lang python ada");
    check_in(&place, "new_again", "new player --lang python ada");
    check_in(&place, "new_typescript", "new player --lang typescript ben");
    check_in(&place, "new_rust", "new player --lang rust cem");
    check_in(&place, "new_rust_nowhere", "new player --lang rust dora --sources .");
    check_in(&place, "new_cobol", "new player --lang cobol grace");
    check_in(&place, "new_name", "new player --lang python carl --name \"");
    fs::write(place.path().join("file"), "").unwrap();
    check_in(&place, "new_file", "new player --lang python file");
    assert!(!place.path().join("carl").exists());
    let agent = fs::read_to_string(place.path().join("ada/agent.py")).unwrap();
    assert!(agent.contains("name=\"ada\""), "{agent}");
}

#[test]
fn kits_pass_their_own_tests_and_play_a_whole_league() {
    let Some(languages) = languages() else { return };
    let place = Place::new();
    let office = Office::open(&place);
    let line = format!("--league spring --start players=5 --set announcement_lead=0s {PATIENT}");
    found(&office, &place, &line);
    let mut agents = vec![office.seat(&place, REFEREE)];
    for lang in languages {
        let kit = Kit::new(&place, lang);
        let run = Run::of(kit.command(&place, "test", &[]).output().unwrap());
        assert_eq!(run.code, Some(0), "{lang}: {}", run.shown());
        agents.push(kit.play(&place, &office, lang, &["--listen", "127.0.0.1:0"]));
        agents.push(kit.play(&place, &office, &format!("{lang} pulls"), &["--pull"]));
    }
    agents.push(office.seat(&place, "player --strategy random"));
    let standings = office.standings_at_the_end("spring");
    for agent in agents {
        assert_eq!(agent.end(), Some(0), "an agent whose league is over has nothing left to do");
    }
    for row in standings["standings"].as_array().unwrap() {
        assert_eq!((&row["played"], &row["technical_losses"]), (&4.into(), &0.into()), "{row}");
    }
    check_record(&place, office, &standings, 10);
}

/// The agent that `league new` writes in Rust, as it is built beside the program.
fn rust_player() -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_league"));
    let player = program.with_file_name("examples").join("player");
    if !player.exists() {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut build = Command::new(cargo);
        build.args(["build", "--package", "league-agent", "--example", "player", "--locked"]);
        if program.parent().is_some_and(|folder| folder.ends_with("release")) {
            build.arg("--release");
        }
        assert!(build.current_dir(env!("CARGO_MANIFEST_DIR")).status().unwrap().success());
    }
    player
}

#[test]
fn the_kit_for_rust_is_written_and_plays_a_whole_league() {
    let place = Place::new();
    let kit = Kit::new(&place, "rust");
    let folder = place.path().join("my-rust");
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let path = manifest.split('\'').nth(1).unwrap();
    assert!(Path::new(path).join("src/author/mod.rs").is_file(), "{path}");
    assert!(manifest.contains("name = \"my-rust\""), "{manifest}");
    // To build it from nothing takes minutes, and what is written is the example that is built.
    if std::env::var_os("LEAGUE_LONG").is_some() {
        let run = Run::of(kit.command(&place, "test", &["--offline"]).output().unwrap());
        assert_eq!(run.code, Some(0), "{}", run.shown());
    }
    let office = Office::open(&place);
    let line = format!("--league spring --start players=3 --set announcement_lead=0s {PATIENT}");
    found(&office, &place, &line);
    let mut agents = vec![office.seat(&place, REFEREE)];
    for (name, way) in [("Ada", &["--listen", "127.0.0.1:0"][..]), ("Ben", &["--pull"])] {
        let mut command = Command::new(rust_player());
        command.args([
            "--manager",
            &format!("http://{}", office.address),
            "--name",
            name,
            "--json",
        ]);
        command.args(way).current_dir(&folder).stdin(Stdio::null());
        let mut service = Service::spawn(&place, command);
        assert_eq!(service.announced()["agents"][0]["display_name"], name);
        agents.push(service);
    }
    agents.push(office.seat(&place, "player --strategy random"));
    let standings = office.standings_at_the_end("spring");
    for agent in agents {
        assert_eq!(agent.end(), Some(0));
    }
    check_record(&place, office, &standings, 3);
}

#[test]
fn kits_are_right_in_every_case_of_the_checker() {
    let place = Place::new();
    let Some(languages) = languages() else { return };
    if place.run("check --help").code != Some(0) {
        eprintln!("SKIPPED: this program has no checker");
        return;
    }
    let run = |lang: &'static str| {
        let kit = Kit::new(&place, lang);
        format!("cd my-{lang} && exec {}", kit.told["run"].as_str().unwrap())
    };
    let mut commands: Vec<String> = languages.into_iter().map(run).collect();
    commands.push(format!("exec '{}'", rust_player().display()));
    for command in commands {
        let places = "--manager {manager} --listen 127.0.0.1:{port} --token-file {data}/token";
        let mut check = place.command("check player --level should --json");
        check.args(["--start", &format!("{command} {places}")]);
        let run = Run::of(check.output().unwrap());
        assert_eq!(run.code, Some(0), "{command}: {}", run.shown());
    }
}

/// Runs the tests of a kit with real leagues.
fn tested(sdk: &str, program: &str, line: &str) -> Run {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sdks").join(sdk);
    let mut command = Command::new(program);
    command.args(line.split(' ')).current_dir(folder).env("PYTHONDONTWRITEBYTECODE", "1");
    command.env("LEAGUE_BIN", env!("CARGO_BIN_EXE_league")).env_remove("NODE_TEST_CONTEXT");
    for name in ["LEAGUE_DATA", "LEAGUE_MANAGER", "LEAGUE_ADMIN_TOKEN", "LEAGUE_SECRET"] {
        command.env_remove(name);
    }
    Run::of(command.stdin(Stdio::null()).output().unwrap())
}

#[test]
fn the_kit_for_python_keeps_what_it_promises() {
    if languages().is_none() {
        return;
    }
    let run = tested("python", "python3", "-W error -m unittest discover -t . -s tests");
    assert_eq!(run.code, Some(0), "{}", run.shown());
    assert!(run.stderr.trim_end().ends_with("\nOK"), "nothing is skipped: {}", run.shown());
}

#[test]
fn the_kit_for_node_keeps_what_it_promises() {
    if languages().is_none() {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sdks/typescript/tests");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let files = files.map(|name| name.into_string().unwrap());
    let files =
        files.filter(|name| name.ends_with(".test.js")).map(|name| format!(" tests/{name}"));
    let line = format!("--test --test-reporter=tap{}", files.collect::<String>());
    let run = tested("typescript", "node", &line);
    assert_eq!(run.code, Some(0), "{}", run.shown());
    assert!(run.stdout.contains("# fail 0\n") && run.stdout.contains("# skipped 0\n"));
    assert!(!run.stdout.contains("# pass 0\n"), "{}", run.shown());
}
