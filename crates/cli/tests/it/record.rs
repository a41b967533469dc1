//! Reading and keeping the record of a league that was played.

use league_server::journal::SqliteJournal;
use serde_json::{Value, json};

use crate::mistakes::check_in;
use crate::program::Place;

fn said(place: &Place, line: &str) -> String {
    let run = place.run(line);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{line}");
    run.stdout
}

fn document(place: &Place, line: &str) -> Value {
    serde_json::from_str(&said(place, line)).expect("exactly one JSON document")
}

/// A league in which nobody answers an invitation in time.
const NOBODY_JOINS: &str = "play --players 2 --set invitation_timeout=0.0001ms \
    --set invitation_silence=forfeit --log-level critical";

#[test]
fn the_end_of_a_league_names_the_command_that_explains_it() {
    let place = Place::new();
    let out = said(&place, "play --players 3");
    let (_, line) = out.split_once("Why it ended so: league ").expect("it is named");
    let list = said(&place, line.trim());
    for id in ["R1M1", "R2M1", "R3M1"] {
        let line = list.lines().find(|line| line.contains(id)).expect(id);
        assert!(line.contains("recorded") && line.contains("number was"), "{line}");
    }
    let (_, next) = list.split_once("`league ").expect("the next step is named");
    let shown = said(&place, next.split_once('`').unwrap().0);
    assert!(shown.starts_with("R1M1  P0"), "{shown}");
}

// req: OBS-2
#[test]
fn one_match_is_shown_message_by_message() {
    let place = Place::new();
    said(&place, "play --players 2 --strategies even");
    let text = said(&place, "trace --match R1M1");
    let mut lines = text.lines();
    assert!(lines.next().unwrap().ends_with(": draw"), "{text}");
    assert!(lines.next().unwrap().starts_with("  Why: both chose the same"), "{text}");
    for expected in [
        "→  GAME_INVITATION, ",
        "←  GAME_JOIN_ACK, HTTP 200, ",
        "→  CHOOSE_PARITY_CALL, ",
        "←  CHOOSE_PARITY_RESPONSE, HTTP 200, ",
        "·  chose: even",
        "·  drawn: ",
        "  Proofs: P01 proved its choice, P02 proved its choice, the draw is the committed one\n",
    ] {
        assert!(text.contains(expected), "no {expected} in {text}");
    }
    assert!(!text.contains("\"auth_token\""), "{text}");
    let bytes = said(&place, "trace --match R1M1 --bytes");
    assert!(bytes.contains("\"auth_token\": \"[redacted]\""), "{bytes}");
    for secret in ["tok_", "prf_"] {
        assert!(!bytes.contains(secret), "{bytes}");
    }
}

#[test]
fn the_reason_of_a_loss_comes_first() {
    let place = Place::new();
    said(&place, NOBODY_JOINS);
    let text = said(&place, "trace --match R1M1");
    let lines: Vec<_> = text.lines().take(2).collect();
    assert!(lines[0].ends_with(": both lost technically"), "{text}");
    let expected = "  Why: P01: did not join: no answer in time; P02: did not join: no answer";
    assert!(lines[1].starts_with(expected), "{text}");
}

#[test]
fn technical_losses_can_be_listed_alone() {
    let place = Place::new();
    let silent = "play --players 3 --strategies silent,even,odd --set choice_timeout=1s \
                  --time-scale 0.1";
    assert_eq!(place.run(silent).code, Some(0));
    let list = said(&place, "trace --technical");
    let lines: Vec<_> = list.lines().filter(|line| line.contains(" – ")).collect();
    assert_eq!(lines.len(), 2, "{list}");
    assert!(lines.iter().all(|line| line.contains("P01 lost technically")), "{list}");
    assert!(lines.iter().all(|line| line.contains("did not choose: no answer in time")), "{list}");
    let matches = document(&place, "trace --technical --json")["matches"].clone();
    assert_eq!(matches.as_array().unwrap().len(), 2);
    let none = said(&place, "trace --agent P01 --technical");
    assert_eq!(none.matches("lost technically\n").count(), 2, "{none}");
}

#[test]
fn programs_can_read_it_and_filter_it() {
    let place = Place::new();
    said(&place, "play --players 3");
    let list = document(&place, "trace --json");
    assert_eq!(list["matches"].as_array().unwrap().len(), 3);
    let one = document(&place, "trace --match R1M1 --json");
    let only = &one["matches"][0];
    assert_eq!((&only["match_id"], &only["transcript"]), (&"R1M1".into(), &"recorded".into()));
    let [a, b] = [0, 1].map(|seat| only["players"][seat].as_str().unwrap());
    let choices = json!({a: "proved", b: "proved"});
    assert_eq!(only["evidence"], json!({"draw": "verified", "choices": choices}));
    let conversation = only["conversation"].as_str().unwrap();
    assert_eq!(only["trace"]["conversation"], conversation);
    let same = document(&place, &format!("trace --conversation {conversation} --json"));
    assert_eq!(same["matches"], one["matches"]);
    let player = only["players"][0].as_str().unwrap();
    let theirs = document(&place, &format!("trace --agent {player} --json"));
    let theirs = theirs["matches"].as_array().unwrap();
    assert_eq!(theirs.len(), 2);
    for record in theirs {
        let entries = record["trace"]["entries"].as_array().unwrap();
        let peers = entries.iter().filter_map(|entry| entry["peer"].as_str());
        assert!(peers.clone().all(|peer| peer == player) && peers.count() > 6, "{record}");
    }
}

/// The letters of one name, as `trace --json` tells them.
fn letters<'a>(told: &'a Value, name: &str) -> Vec<&'a Value> {
    let all = told["letters"].as_array().expect("letters");
    all.iter().filter(|letter| letter["name"] == name).collect()
}

// req: OBS-2
#[test]
fn what_the_manager_and_an_agent_said_is_found_by_agent_conversation_and_match() {
    let place = Place::new();
    said(&place, "play --players 3");
    let told = document(&place, "trace --agent P01 --json");
    assert_eq!(told["letters_dropped"], 0);
    let registration = letters(&told, "LEAGUE_REGISTER_REQUEST")[0];
    assert_eq!(
        (&registration["direction"], &registration["peer"]),
        (&"received".into(), &"P01".into())
    );
    assert_eq!(registration["answer_body"]["result"]["auth_token"], "[redacted]");
    let end = letters(&told, "LEAGUE_COMPLETED")[0];
    assert_eq!((&end["direction"], &end["status"]), (&"sent".into(), &200.into()));
    assert_eq!(end["body"]["params"]["conversation_id"], end["conversation"]);
    for name in ["ROUND_ANNOUNCEMENT", "ROUND_COMPLETED", "LEAGUE_STANDINGS_UPDATE"] {
        assert_eq!(letters(&told, name).len(), 3, "{name}");
    }
    let conversation = end["conversation"].as_str().unwrap();
    let same = document(&place, &format!("trace --conversation {conversation} --json"));
    assert_eq!((&same["letters"][0], &same["matches"]), (end, &Value::Array(vec![])));
    let of_match = document(&place, "trace --match R1M1 --json");
    let order = letters(&of_match, "START_MATCH")[0];
    assert_eq!((&order["answer"], &order["match_id"]), (&"START_MATCH_ACK".into(), &"R1M1".into()));
    let text = said(&place, "trace --match R1M1");
    let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("no {what} in {text}"));
    assert!(at("manager →  START_MATCH, ") < at("→  GAME_INVITATION, "), "{text}");
    // The manager's times are in whole milliseconds, within which a match may be over.
    assert!(at("manager →  START_MATCH, ") < at("manager ⇐  MATCH_RESULT_REPORT, "), "{text}");
    assert!(at("manager ⇐  MATCH_RESULT_REPORT, ") < at("manager ⇒  MATCH_RESULT_ACK, "), "{text}");
    let only = &of_match["matches"][0];
    assert_eq!(only["epilogue"], "recorded");
    let entries = only["trace"]["entries"].as_array().unwrap();
    assert_eq!(entries.iter().filter(|entry| entry["name"] == "GAME_OVER").count(), 2);
    let bytes = said(&place, "trace --agent P01 --bytes");
    assert!(bytes.contains("\"message_type\": \"LEAGUE_COMPLETED\""), "{bytes}");
    assert!(!bytes.contains("tok_") && !bytes.contains("prf_"), "{bytes}");
}

#[test]
fn a_record_is_read_and_copied_while_somebody_writes_it() {
    let place = Place::new();
    said(&place, "play --players 2");
    let writer = SqliteJournal::open(&place.data()).unwrap();
    assert!(said(&place, "trace").contains("R1M1"));
    let told = said(&place, "backup --to copy.db");
    assert!(told.starts_with("1 league, "), "{told}");
    check_in(&place, "backup_again", "backup --to copy.db");
    let rehearsed = said(&place, "prune --older-than 0s --dry-run");
    assert!(rehearsed.starts_with("1 transcripts with ") && rehearsed.contains("would be deleted"));
    let before = document(&place, "trace --json");
    let pruned = said(&place, "prune --older-than 0s --force");
    assert!(pruned.starts_with("1 transcripts with "), "{pruned}");
    assert!(pruned.ends_with("; a manager is running, which uses the room again\n"), "{pruned}");
    assert!(said(&place, "trace --match R1M1").contains("transcript expired"));
    drop(writer);
    std::fs::create_dir(place.path().join("restored")).unwrap();
    std::fs::rename(place.path().join("copy.db"), place.path().join("restored/league.db")).unwrap();
    assert_eq!(document(&place, "trace --data restored --json"), before);
    assert!(said(&place, "trace --data restored --match R1M1").contains("GAME_INVITATION"));
}

#[test]
fn what_is_deleted_is_said_and_the_result_stays() {
    let place = Place::new();
    said(&place, "play --players 3");
    check_in(&place, "prune_young", "prune --older-than 29d");
    let nothing = said(&place, "prune --older-than 30d");
    assert!(nothing.starts_with("0 transcripts with 0 bytes deleted, 3 kept"), "{nothing}");
    let rehearsal = said(&place, "prune --older-than 0s --dry-run");
    assert!(rehearsal.contains("would be deleted, 0 kept"), "{rehearsal}");
    let gone = said(&place, "prune --older-than 0s --force");
    assert!(gone.starts_with("3 transcripts with "), "{gone}");
    let list = said(&place, "trace");
    assert!(!list.contains("recorded") && list.matches(" expired ").count() == 3, "{list}");
    let text = said(&place, "trace --match R1M1");
    assert!(text.contains("  Why: ") && text.contains("transcript expired"), "{text}");
    assert!(!text.contains("START_MATCH"), "{text}");
    let again = said(&place, "prune --older-than 0s --force");
    assert!(again.starts_with("0 transcripts with 0 bytes deleted, 0 kept"), "{again}");
}

#[test]
fn what_is_not_there_is_said() {
    let place = Place::new();
    check_in(&place, "trace_nowhere", "trace");
    check_in(&place, "backup_nowhere", "backup --to copy.db");
    assert!(!place.data().exists());
    let mut command = place.command("play --players 2");
    assert!(command.output().unwrap().status.success());
    let league = document(&place, "trace --json")["league_id"].as_str().unwrap().to_string();
    for (line, expected) in [
        ("trace --match R9M9", format!("--match: R9M9 is no match of league {league}")),
        ("trace --agent P09", format!("--agent: there is no agent `P09` in league {league}")),
        ("trace --league other", "--league: there is no league `other`".into()),
        ("trace --conversation c", "--conversation: nothing in league".into()),
    ] {
        let run = place.run(line);
        assert_eq!(run.code, Some(2), "{}", run.stderr);
        assert!(run.stderr.contains(&expected), "{}", run.stderr);
    }
}
