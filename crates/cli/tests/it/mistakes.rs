//! Help, and every mistake that somebody makes on the first day.

use insta::{assert_snapshot, with_settings};
use league_agent::player::Cast;
use league_core::{game, schedule};
use league_server::journal::SqliteJournal;

use crate::program::{Place, Run};

/// What the program says to `line`, with what differs between runs and machines replaced.
fn check(name: &str, line: &str) {
    let place = Place::new();
    check_in(&place, name, line);
}

pub(crate) fn check_in(place: &Place, name: &str, line: &str) {
    let shown = place.run(line).shown();
    let here = place.path().display().to_string();
    with_settings!({
        description => format!("league {line}"),
        omit_expression => true,
        prepend_module_to_snapshot => false,
        filters => vec![(here.as_str(), "HERE"), (r"os error \d+", "os error N")],
    }, {
        assert_snapshot!(name, shown);
    });
}

#[test]
fn help() {
    check("help", "--help");
    check("help_play", "play --help");
    check("help_rules", "rules --help");
    check("help_sim", "sim --help");
    check("help_check", "check --help");
    check("help_spar", "spar --help");
    check("help_trace", "trace --help");
    check("help_backup", "backup --help");
    check("help_prune", "prune --help");
    check("nothing", "");
}

#[test]
fn checks_that_cannot_begin() {
    check("check_nobody", "check player");
    check("check_unreachable", "check player http://127.0.0.1:1/mcp");
    check("check_no_case", "check player http://127.0.0.1:1/mcp --only player.invte");
    check("check_token_alone", "check player http://127.0.0.1:1/mcp --token tok_1");
}

#[test]
fn practice_that_cannot_begin() {
    check("spar_nobody", "spar");
    check("spar_unreachable", "spar http://127.0.0.1:1/mcp");
    check("spar_opponent", "spar http://127.0.0.1:1/mcp --against luck");
    check("spar_fault", "spar http://127.0.0.1:1/mcp --faults rain");
    check("spar_matches", "spar http://127.0.0.1:1/mcp --matches 0");
    check("spar_rule", "spar http://127.0.0.1:1/mcp --set colour=blue");
    check("spar_both", "spar http://127.0.0.1:1/mcp --start true");
}

#[test]
fn help_for_services() {
    for command in ["serve", "referee", "player"] {
        check(&format!("help_{command}"), &format!("{command} --help"));
    }
}

#[test]
fn help_for_administrators_and_spectators() {
    for command in ["create", "start", "status", "standings", "watch", "pause", "rematch"] {
        check(&format!("help_{command}"), &format!("{command} --help"));
    }
}

#[test]
fn services_that_cannot_be_run_like_this() {
    check("player_nowhere", "player");
    check("player_manager", "player --manager https://example.org");
    check("player_word", "player --manager nonsense");
    check("referee_word", "referee --manager nonsense");
    check("player_strategy", "player --manager localhost:8000 --strategy luck");
    check("player_dialect", "player --manager localhost:8000 --dialect loud");
    check("player_count", "player --manager localhost:8000 --count 0");
    check("player_everywhere", "player --manager localhost:8000 --listen 0.0.0.0:8101");
    check("referee_capacity", "referee --manager localhost:8000 --capacity 0");
    check("referee_key", "referee --manager localhost:8000 --join-key no/such/file");
    check("create_start", "create --start soon");
    check("create_rule", "create --set colour=blue");
    check("create_token", "create");
    check("status_unreachable", "status --manager 127.0.0.1:1");
    check("status_name", "status a/b");
}

#[test]
fn a_host_that_does_not_exist_is_not_waited_for() {
    // No part of a name may be that long, so nobody needs to be asked for it.
    let host = format!("{}.invalid", "a".repeat(64));
    for agent in ["player", "referee"] {
        let run = Place::new().run(&format!("{agent} --manager http://{host}:8000"));
        assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""), "{}", run.stderr);
        let expected = format!("error: --manager: there is no host `{host}`: ");
        assert!(run.stderr.starts_with(&expected), "{}", run.stderr);
    }
}

#[test]
fn what_does_not_exist() {
    check("unknown_command", "dance");
    check("unknown_flag", "play --colour blue");
    check("unknown_rule", "play --set colour=blue");
    check("unknown_rules", "play --rules v9");
    check("unknown_strategy", "play --strategies luck");
    check("unknown_game", "play --game chess");
    check("unknown_format", "play --format knockout");
}

#[test]
fn what_cannot_be_counted() {
    check("players_1", "play --players 1");
    check("players_x", "play --players x");
    check("players_negative", "play --players -4");
    check("referees_0", "play --referees 0");
    check("time_scale_0", "play --time-scale 0");
    check("time_scale_x", "play --time-scale fast");
    check("time_scale_huge", "play --time-scale 1e30");
    check("time_scale_tiny", "play --time-scale 1e-9");
    check("seed_x", "play --seed lucky");
}

#[test]
fn worlds_that_cannot_be_played() {
    check("sim_nothing", "sim");
    check("sim_both", "sim --seed 1 --seeds 1..2");
    check("sim_seeds_backwards", "sim --seeds 9..3");
    check("sim_trace_many", "sim --seeds 0..2 --trace");
    check("sim_unknown_bug", "sim --seed 1 --sabotage gremlin");
}

#[test]
fn rules_that_make_no_sense() {
    check("set_nonsense", "play --set nonsense");
    check("set_soon", "play --set choice_timeout=soon");
    check("set_contradiction", "play --set points_draw=5");
    check("set_zero", "play --set choice_timeout=0s");
    check("set_lease", "play --set points_win=5 --set lease=1ms");
}

#[test]
fn help_names_everything_that_can_be_chosen() {
    let help = Place::new().run("play --help").stdout;
    let strategies = Cast::all().map(Cast::name);
    for name in game::NAMES.iter().chain(schedule::NAMES).copied().chain(strategies) {
        assert!(help.contains(name), "no {name} in {help}");
    }
}

#[test]
fn blanks_around_names_are_forgiven() {
    let place = Place::new();
    let mut command = place.command("play --json");
    command.args(["--strategies", "odd, even", "--set", "choice_timeout = 20s"]);
    let run = Run::of(command.output().unwrap());
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    assert!(run.stdout.contains(r#""choice_timeout":"20s""#), "{}", run.stdout);
}

#[test]
fn a_directory_that_is_a_file() {
    let place = Place::new();
    std::fs::write(place.path().join("notes.txt"), "not a directory").unwrap();
    check_in(&place, "data_is_a_file", "play --data notes.txt");
    assert_eq!(std::fs::read_to_string(place.path().join("notes.txt")).unwrap(), "not a directory");
}

#[test]
fn a_directory_in_which_somebody_else_writes() {
    let place = Place::new();
    let _other = SqliteJournal::open(&place.data()).unwrap();
    check_in(&place, "data_in_use", "play");
}

#[test]
fn a_secret_that_was_damaged() {
    let place = Place::new();
    std::fs::create_dir(place.data()).unwrap();
    std::fs::write(place.data().join("secret"), "half a sec").unwrap();
    check_in(&place, "secret_damaged", "play");
}

#[cfg(target_os = "linux")]
#[test]
fn more_agents_than_files_may_be_opened() {
    let place = Place::new();
    let mut command = std::process::Command::new("sh");
    let line = format!("ulimit -n 64; exec {} play --players 50", env!("CARGO_BIN_EXE_league"));
    let run = Run::of(command.args(["-c", &line]).current_dir(place.path()).output().unwrap());
    assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""), "{}", run.stderr);
    let expected = "error: 52 agents need about 432 open files, and 64 are allowed\n\n\
                    hint: raise the limit with `ulimit -n 432`, or play with fewer agents\n";
    assert_eq!(run.stderr, expected);
    assert!(!place.data().exists());
}
