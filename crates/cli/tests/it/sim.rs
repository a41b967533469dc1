//! `league sim`: worlds, their traces, and what a failing one leaves to be read.

use insta::{assert_snapshot, with_settings};
use serde_json::Value;

use crate::program::Place;

#[test]
fn one_world() {
    let shown = Place::new().run("sim --seed 7").shown();
    with_settings!({
        description => "league sim --seed 7",
        omit_expression => true,
        prepend_module_to_snapshot => false,
        filters => vec![(r"\d[\d.]*", "N"), (r"Trace: .*", "Trace: HASH")],
    }, {
        assert_snapshot!("sim_seed", shown);
    });
}

#[test]
fn the_same_world_twice_is_the_same_document() {
    let document = || {
        let run = Place::new().run("sim --seed 7 --json");
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let mut document: Value = serde_json::from_str(&run.stdout).expect("one document");
        for measured in ["wall_s", "seeds_per_s", "steps_per_s"] {
            assert!(document[measured].take().is_number());
        }
        document
    };
    let once = document();
    assert_eq!(once, document());
    assert_eq!(once["seeds"], 1);
    assert!(once["trace_hash"].as_str().is_some_and(|hash| hash.len() == 16));
}

#[test]
fn a_trace_shows_every_message() {
    let run = Place::new().run("sim --seed 7 --trace");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stdout.contains("p0 -> manager"), "{}", run.stdout);
}

#[test]
fn seeds_that_fail_are_listed_with_their_replay() {
    let run = Place::new().run("sim --seeds 0..4 --sabotage swap-proofs --json");
    assert_eq!(run.code, Some(1));
    let document: Value = serde_json::from_str(&run.stdout).expect("one document");
    let first = &document["failed"][0];
    assert_eq!(first["rule"], "secrets");
    let replay = format!("league sim --seed {} --trace --sabotage swap-proofs", first["seed"]);
    assert_eq!(first["replay"], replay.as_str());
    assert!(run.stderr.contains(&replay), "{}", run.stderr);
    let listed = Place::new().run("sim --seeds 0..4 --sabotage swap-proofs");
    assert_eq!(listed.code, Some(1));
    assert!(listed.stdout.contains(&replay), "{}", listed.stdout);
}
