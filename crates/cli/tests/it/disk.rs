//! A database that is taken away from a running manager, and one that was lost.

use std::fs;

use serde_json::Value;

use crate::program::Place;
use crate::service::{Office, get, request, until};
use crate::services::found;

fn ready(office: &Office) -> u16 {
    request(&office.address, &get("GET", "/ready")).expect("the manager answers").0
}

fn alerts(office: &Office) -> Value {
    office.look("/api/v1/leagues/spring").unwrap()["alerts"].clone()
}

fn log(place: &Place) -> String {
    fs::read_to_string(place.path().join("stderr.txt")).unwrap()
}

// req: OBS-8
#[test]
fn a_league_without_its_database_takes_nothing_until_it_can_write_again() {
    let place = Place::new();
    let office = Office::open(&place);
    found(&office, &place, "--league spring");
    assert_eq!((ready(&office), alerts(&office)), (200, Value::Array(vec![])));
    let (file, away) = (place.data().join("league.db"), place.path().join("away.db"));
    // Whoever tries whether there is room will find none.
    let obstacle = place.data().join("probe-spring");
    fs::create_dir(&obstacle).unwrap();

    fs::rename(&file, &away).unwrap();
    until("the loss is noticed", || (ready(&office) == 503).then_some(()));
    assert_eq!(alerts(&office)[0]["alert"], "books_closed");
    let (_, told) = request(&office.address, &get("GET", "/ready")).unwrap();
    let reason = "the books cannot be written of: spring";
    assert_eq!(told, format!("{{\"ready\":false,\"reason\":\"{reason}\"}}\n"));
    let paused = office.run(&place, "pause spring --reason test");
    assert_ne!(paused.code, Some(0), "nothing is taken: {}", paused.stdout);
    let said = "the database file was removed or replaced while it was open";
    until("it is said", || log(&place).contains(said).then_some(()));
    assert!(log(&place).contains("CRITICAL"), "{}", log(&place));

    fs::rename(&away, &file).unwrap();
    until("it is tried again", || log(&place).contains("irectory").then_some(()));
    assert_eq!(ready(&office), 503, "what can be read need not be writable");
    assert_eq!(alerts(&office)[0]["alert"], "books_closed");

    fs::remove_dir(&obstacle).unwrap();
    until("it goes on", || (ready(&office) == 200).then_some(()));
    assert_eq!(alerts(&office), Value::Array(vec![]));
    let paused = office.run(&place, "pause spring --reason test");
    assert_eq!((paused.code, paused.stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_directory_with_join_keys_and_no_database_is_warned_about() {
    let place = Place::new();
    let office = Office::open(&place);
    found(&office, &place, "--league spring");
    office.service.kill();
    let said = "there are join keys here and no leagues";
    let again = Office::open(&place);
    again.service.kill();
    assert!(!log(&place).contains(said), "it is all there");
    for entry in fs::read_dir(place.data()).unwrap().flatten() {
        if entry.file_name().to_string_lossy().starts_with("league.db") {
            fs::remove_file(entry.path()).unwrap();
        }
    }
    let _empty = Office::open(&place);
    until("it is said", || log(&place).contains(said).then_some(()));
}
