//! The secret: where it comes from, and that no league is written under another one.

use crate::program::{Place, Run};

const ONE: &str = "1111111111111111111111111111111111111111111111111111111111111111";
const OTHER: &str = "2222222222222222222222222222222222222222222222222222222222222222";

fn play_under(place: &Place, secret: &str) -> Run {
    Run::of(place.command("play --players 2").env("LEAGUE_SECRET", secret).output().unwrap())
}

fn refused(run: &Run, code: i32, said: &str) {
    assert_eq!((run.code, run.stdout.as_str()), (Some(code), ""), "{}", run.stderr);
    assert!(run.stderr.contains(said), "no {said} in {}", run.stderr);
}

#[test]
fn a_replaced_secret_is_refused() {
    let place = Place::new();
    assert_eq!(place.run("play --players 2").code, Some(0));
    let file = place.data().join("secret");
    let genuine = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, OTHER).unwrap();
    let run = place.run("play --players 2");
    refused(&run, 1, "was written under another secret");
    refused(&run, 1, "hint: put the secret back that league-data was written under");
    std::fs::write(&file, genuine).unwrap();
    assert_eq!(place.run("play --players 2").code, Some(0));
}

#[test]
fn a_lost_secret_is_not_replaced() {
    let place = Place::new();
    assert_eq!(place.run("play --players 2").code, Some(0));
    let file = place.data().join("secret");
    std::fs::remove_file(&file).unwrap();
    refused(&place.run("play --players 2"), 1, "league-data/secret is missing");
    let served = place.run("serve --listen 127.0.0.1:0");
    refused(&served, 1, "hint: put the file `secret` of this directory back from your backup");
    assert!(!file.exists());
}

#[test]
fn the_environment_can_hold_it_and_then_no_file_does() {
    let place = Place::new();
    assert_eq!(play_under(&place, ONE).code, Some(0));
    assert!(!place.data().join("secret").exists());
    assert_eq!(play_under(&place, ONE).code, Some(0));
    refused(&play_under(&place, OTHER), 1, "was written under another secret");
    refused(&place.run("play --players 2"), 1, "league-data/secret is missing");
}

#[test]
fn a_secret_that_is_none_is_refused_and_not_repeated() {
    let place = Place::new();
    for wrong in ["", "hunter2", &ONE[1..]] {
        let run = play_under(&place, wrong);
        refused(&run, 2, "error: LEAGUE_SECRET: expected a secret of 64 lower-case hex digits");
        assert!(wrong.is_empty() || !run.stderr.contains(wrong), "{}", run.stderr);
    }
    assert!(!place.data().exists());
}
