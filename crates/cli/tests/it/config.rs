//! How a manager is configured, and what is said of a configuration that cannot be used.

use serde_json::{Value, json};

use crate::mistakes::check_in;
use crate::program::{Place, Run};

const WRITTEN: &str = "\
data = \"there\"
default_league = \"spring\"

[league]
id = \"spring\"
rules = \"v2.0\"
start = { players = 8 }

[league.set]
choice_timeout = \"10s\"
points_win = 2
";

fn written(text: &str) -> Place {
    let place = Place::new();
    std::fs::write(place.path().join("league.toml"), text).unwrap();
    place
}

#[test]
fn every_value_says_where_it_came_from() {
    check_in(&Place::new(), "print_config_default", "serve --print-config");
    check_in(
        &written(WRITTEN),
        "print_config_file",
        "serve --print-config --listen 127.0.0.1:9000",
    );
}

#[test]
fn flags_count_more_than_the_environment_and_that_more_than_the_file() {
    let place = written("listen = \"127.0.0.1:1\"\ndata = \"file\"\n");
    let mut command = place.command("serve --print-config --json --listen 127.0.0.1:3");
    command.env("LEAGUE_LISTEN", "127.0.0.1:2").env("LEAGUE_DATA", "environment");
    command.env("LEAGUE_ADMIN_TOKEN", "tok_administrator_0123456789abcdef0123456789abcdef");
    let run = Run::of(command.output().unwrap());
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    let shown: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(shown["listen"], json!({"value": "127.0.0.1:3", "origin": "--listen"}));
    let data = json!({"value": "environment", "origin": "environment LEAGUE_DATA"});
    assert_eq!(shown["data"], data);
    let token = json!({"value": "[hidden]", "origin": "environment LEAGUE_ADMIN_TOKEN"});
    assert_eq!(shown["admin_token"], token);
    assert!(!run.stdout.contains("tok_"), "{}", run.stdout);
}

#[test]
fn what_cannot_be_used_is_found_in_its_line() {
    let cases = [
        ("config_unknown_key", "listen = \"127.0.0.1:1\"\ncolour = \"blue\"\n"),
        ("config_unknown_league_key", "[league]\nid = \"a\"\ncolour = \"blue\"\n"),
        ("config_not_toml", "listen = \n"),
        ("config_listen", "\nlisten = \"8000\"\n"),
        ("config_rule", "[league]\nid = \"a\"\n[league.set]\nchoice_timeout = \"soon\"\n"),
        ("config_unknown_rule", "[league]\nid = \"a\"\nset.colour = \"blue\"\n"),
        ("config_game", "[league]\nid = \"a\"\ngame = \"chess\"\n"),
        ("config_start", "[league]\nid = \"a\"\nstart = { players = 1 }\n"),
        ("config_no_id", "[league]\ngame = \"even_odd\"\n"),
    ];
    for (name, text) in cases {
        check_in(&written(text), name, "serve");
    }
    check_in(&Place::new(), "config_missing", "serve --config elsewhere.toml");
}

#[test]
fn where_others_reach_a_manager_is_an_address() {
    let place = written("public_url = \"http://league.example.org:8000/\"\n");
    let run = place.run("serve --print-config --json");
    let shown: Value = serde_json::from_str(&run.stdout).unwrap();
    let expected = json!({"value": "http://league.example.org:8000", "origin": "league.toml:1"});
    assert_eq!(shown["public_url"], expected);
    let run = written("public_url = \"league\"\n").run("serve --print-config");
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("league.toml:1: expected the address"), "{}", run.stderr);
}
