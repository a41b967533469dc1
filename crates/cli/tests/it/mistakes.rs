//! Help, and every mistake that somebody makes on the first day.

use insta::{assert_snapshot, with_settings};
use league_server::journal::SqliteJournal;

use crate::program::Place;

/// What the program says to `line`, with what differs between runs and machines replaced.
fn check(name: &str, line: &str) {
    let place = Place::new();
    check_in(&place, name, line);
}

fn check_in(place: &Place, name: &str, line: &str) {
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
    check("nothing", "");
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
    check("seed_x", "play --seed lucky");
}

#[test]
fn rules_that_make_no_sense() {
    check("set_nonsense", "play --set nonsense");
    check("set_soon", "play --set choice_timeout=soon");
    check("set_contradiction", "play --set points_draw=5");
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
