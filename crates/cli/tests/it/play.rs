//! Whole leagues, played by the program itself.

use std::collections::BTreeSet;
use std::io::Read;
use std::process::{Command, Stdio};

use league_core::id::LeagueId;
use league_core::manager::Fact;
use league_server::journal::sqlite::SqliteView;
use league_server::journal::{Journal, SqliteJournal};
use league_server::record::LeagueRecord;
use league_server::record::league::walk;
use serde_json::{Value, json};

use crate::program::{Place, Run};
use crate::service::until;

/// Tries to see a condition come true before giving up; each looks at a file.
const LOOKS: u32 = 10_000_000;

fn played(place: &Place, line: &str) -> Value {
    let run = place.run(line);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{line}");
    assert!(run.stdout.ends_with("}\n"));
    serde_json::from_str(&run.stdout).expect("exactly one JSON document")
}

// req: SCHED-1
#[test]
fn five_players_play_ten_matches_in_five_rounds() {
    let place = Place::new();
    let report = played(&place, "play --players 5 --referees 2 --json");
    let number = |name: &str| report[name].as_u64().unwrap_or_else(|| panic!("{name}: {report}"));
    let counts = ["players", "referees", "rounds", "matches", "played"].map(number);
    assert_eq!(counts, [5, 2, 5, 10, 10]);
    assert_eq!(["technical_losses", "cancelled", "annulled"].map(number), [0, 0, 0]);
    // Registrations, invitations, choices, reports and game overs, at the least.
    assert!(number("http_calls") >= 7 + 10 * (2 + 2 + 1 + 2), "{report}");
    let figure = |name: &str| report[name].as_f64().unwrap();
    assert!(figure("wall_s") > 0.0);
    assert!((figure("matches_per_s") * figure("wall_s") - 10.0).abs() < 0.001);
    assert!(report["league_id"].as_str().unwrap().starts_with("league_"));
    let head = report["journal_head"].as_str().unwrap();
    assert!(head.len() == 64 && head.bytes().all(|b| b.is_ascii_hexdigit()), "{head}");
    let journal = place.path().join(report["journal"].as_str().unwrap());
    assert!(journal.is_file(), "{}", journal.display());
}

// req: MATCH-12
#[test]
fn six_players_play_with_numbers() {
    let place = Place::new();
    let line = "play --game even_odd_numbers --players 6 --json --strategies \
                random,even,odd,alternating,frequency,pattern";
    let report = played(&place, line);
    let number = |name: &str| report[name].as_u64().unwrap_or_else(|| panic!("{name}: {report}"));
    assert_eq!(["rounds", "matches", "played"].map(number), [5, 15, 15]);
    assert_eq!(["technical_losses", "cancelled", "annulled"].map(number), [0, 0, 0]);
    let rows = report["standings"].as_array().unwrap();
    let won: u64 = rows.iter().map(|row| row["wins"].as_u64().unwrap()).sum();
    assert_eq!(won, 15, "every match has a winner");

    let told = played(&place, "trace --json");
    let matches = told["matches"].as_array().unwrap();
    assert_eq!(matches.len(), 15);
    for told in matches {
        let moves = told["moves"].as_array().unwrap();
        let chosen = [0, 1].map(|n| moves[n]["move"].as_i64().expect("a number"));
        assert!(chosen.iter().all(|number| (1..=5).contains(number)), "{told}");
        let sum = chosen[0] + chosen[1] + moves[2]["drawn"].as_i64().unwrap();
        let parity = if sum % 2 == 0 { "even" } else { "odd" };
        let reason = told["reason"].as_str().unwrap();
        let winner = told["winner"].as_str().unwrap();
        assert!(reason.ends_with(&format!("= {sum} ({parity}), and {winner} was {parity}")));
        for (at, liked) in [(1, 0), (2, 1)] {
            let player = format!("P0{}", at + 1);
            let theirs = moves.iter().find(|made| made["player"] == player);
            let is_liked = |made: &Value| made["move"].as_i64().unwrap() % 2 == liked;
            assert!(theirs.is_none_or(is_liked), "{told}");
        }
    }
}

// req: RESULT-4
#[test]
fn the_table_adds_up() {
    let report = played(&Place::new(), "play --players 5 --json");
    let rows = report["standings"].as_array().unwrap();
    assert_eq!(rows.len(), 5);
    let mut drawn = 0;
    let mut points_before = u64::MAX;
    for (rank, row) in (1..).zip(rows) {
        let number = |name: &str| row[name].as_u64().unwrap();
        assert_eq!(number("rank"), rank);
        assert_eq!(number("played"), 4, "everybody sits out one round");
        assert_eq!(number("wins") + number("draws") + number("losses"), 4);
        assert_eq!(number("points"), 3 * number("wins") + number("draws"));
        assert_eq!(number("technical_losses"), 0);
        assert!(number("points") <= points_before);
        points_before = number("points");
        drawn += number("draws");
    }
    let points: u64 = rows.iter().map(|row| row["points"].as_u64().unwrap()).sum();
    assert_eq!(points, 3 * 10 - drawn / 2, "a draw gives one point less than a win");
    assert_eq!(report["champion"]["player_id"], rows[0]["player_id"]);
    assert_eq!(report["champion"]["points"], rows[0]["points"]);
}

#[test]
fn players_take_the_strategies_in_turn() {
    let report = played(&Place::new(), "play --players 3 --strategies odd,even --json");
    let mut names: Vec<_> = report["standings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["display_name"].as_str().unwrap().to_string())
        .collect();
    names.sort();
    assert_eq!(names, ["Player 1 (odd)", "Player 2 (even)", "Player 3 (odd)"]);
}

#[test]
fn players_speak_the_dialects_in_turn() {
    let line = "play --players 7 --dialects flat,typed,v21,enveloped,payload,tool,wrapped --json";
    let report = played(&Place::new(), line);
    let count = |name: &str| report[name].as_u64();
    assert_eq!((count("played"), count("technical_losses")), (Some(21), Some(0)), "{report}");
}

#[test]
fn both_rule_sets_and_changed_rules_can_be_played() {
    let place = Place::new();
    let report = played(&place, "play --rules v2.0 --set points_win=5 --json");
    assert_eq!(report["rules"], "v2.0");
    assert_eq!(report["played"], 6);
    let rows = report["standings"].as_array().unwrap();
    for row in rows {
        let number = |name: &str| row[name].as_u64().unwrap();
        assert_eq!(number("points"), 5 * number("wins") + number("draws"));
    }
}

#[test]
fn two_leagues_in_one_directory_are_both_kept() {
    let place = Place::new();
    let reports = [played(&place, "play --json"), played(&place, "play --json")];
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let journal = SqliteJournal::open(&place.data()).unwrap();
    let kept = runtime.block_on(journal.leagues()).unwrap();
    assert_eq!(kept.len(), 2);
    for report in reports {
        let id = kept.iter().find(|id| report["league_id"] == id.as_str()).expect("it is kept");
        let head = runtime.block_on(journal.head(id)).unwrap().unwrap();
        assert_eq!(report["journal_head"], head.hash.to_string());
    }
}

#[test]
fn people_get_a_table_and_where_the_record_is() {
    let place = Place::new();
    let run = place.run("play --players 3 --data here/and/there");
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    let record = format!("Record: {}", ["here", "and", "there", "league.db"].join("/"));
    for expected in ["rank", "P01", "P02", "P03", "Champion: Player", "3 of 3 matches", &record] {
        assert!(run.stdout.contains(expected), "no {expected} in {}", run.stdout);
    }
}

#[test]
fn a_reader_that_went_away_is_no_failure() {
    let place = Place::new();
    for line in ["play --json", "play", "play --help"] {
        let mut command = place.command(line);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut stderr = String::new();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert_eq!((child.wait().unwrap().code(), stderr.as_str()), (Some(0), ""), "{line}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_report_that_cannot_be_written_is_a_failure() {
    let place = Place::new();
    for line in ["play --json", "play", "rules"] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let run = Run::of(place.command(line).stdout(full).output().unwrap());
        assert_eq!(run.code, Some(1), "{line}: {}", run.stderr);
        assert!(run.stderr.starts_with("error: cannot write "), "{}", run.stderr);
        let told = run.stderr.contains("hint: the league was played: its record is league-data");
        assert_eq!(told, line.starts_with("play"), "{}", run.stderr);
    }
}

#[test]
fn rules_that_differ_from_the_rule_set_are_listed() {
    let report = played(&Place::new(), "play --set points_win=4 --json");
    let expected = serde_json::json!({"announcement_lead": "0s", "points_win": "4"});
    assert_eq!(report["changed_rules"], expected);
    let report = played(&Place::new(), "play --rules v2.0 --json");
    assert_eq!(report["changed_rules"], serde_json::json!({}));
}

#[test]
fn a_champion_by_order_of_registration_is_called_that() {
    let place = Place::new();
    let run = place.run("play --strategies even");
    let expected = "Champion: Player 1 (even) (P01), tied with P02, P03 and P04, decided by order \
                    of registration\n";
    assert!(run.stdout.contains(expected), "{}", run.stdout);
    let report = played(&place, "play --strategies even --json");
    assert_eq!(report["champion"]["tied_with"], serde_json::json!(["P02", "P03", "P04"]));
}

#[test]
fn matches_that_were_not_played_are_accounted_for() {
    let line = "play --set invitation_timeout=0.0001ms --set invitation_silence=";
    let run = Place::new().run(&format!("{line}cancel"));
    assert!(run.stdout.contains("  0 of 6 matches played, 6 cancelled in "), "{}", run.stdout);
    assert!(run.stdout.contains("  No champion: nobody played\n"), "{}", run.stdout);
    let run = Place::new().run(&format!("{line}forfeit"));
    let expected = "  0 of 6 matches played, 12 technical losses in ";
    assert!(run.stdout.contains(expected), "{}", run.stdout);
}

/// The results in the record, while somebody may be writing it.
fn results(place: &Place) -> Option<(LeagueId, usize)> {
    let view = SqliteView::open(&place.data()).ok()?;
    let id = view.leagues().ok()?.pop()?;
    let record = LeagueRecord::read(&view, &id).ok()?;
    let count = record.matches.values().filter(|one| one.result.is_some()).count();
    Some((id, count))
}

/// Every match of the league with its result, and the results that came twice.
fn counted(place: &Place, id: &LeagueId) -> (usize, usize) {
    let view = SqliteView::open(&place.data()).unwrap();
    let (mut once, mut twice) = (BTreeSet::new(), 0);
    walk(&view, id, |_, event| {
        if let Fact::ResultRecorded(recorded) = event.fact {
            twice += usize::from(!once.insert(recorded.match_id));
        }
    })
    .unwrap();
    (once.len(), twice)
}

#[cfg(unix)]
#[test]
fn a_league_that_was_interrupted_goes_on_where_it_was() {
    let line = "play --players 16 --referees 2 --json";
    for signal in ["KILL", "INT"] {
        let place = Place::new();
        let child = place.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let child = child.unwrap();
        let (id, _) = until("some matches have a result", || {
            results(&place).filter(|(_, count)| *count >= 20)
        });
        let kill = format!("kill -{signal} {}", child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        let stopped = Run::of(child.wait_with_output().unwrap());
        let (_, before) = results(&place).unwrap();
        assert!((20..120).contains(&before), "it must be stopped in the middle: {before}");
        assert_eq!(stopped.stderr.contains("the same command goes on with it"), signal == "INT");
        assert!(!stopped.stderr.contains("WARNING"), "it leaves quietly: {}", stopped.stderr);

        let other = place.run("play --players 17 --set points_win=4 --json");
        assert_eq!((other.code, other.stdout.as_str()), (Some(2), ""), "{}", other.stderr);
        for said in ["--players 16, not 17", "--set points_win=3, not points_win=4", "--new"] {
            assert!(other.stderr.contains(said), "no {said} in {}", other.stderr);
        }

        let run = place.run(line);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let said = format!("continuing {id}: {before} of 120 matches played\n");
        assert_eq!(run.stderr, said);
        let report: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(report["league_id"], id.as_str());
        assert_eq!(report["matches_before"], before);
        assert_eq!([&report["matches"], &report["played"]], [120, 120]);
        assert_eq!(counted(&place, &id), (120, 0));
        let next = played(&place, "play --json");
        assert_ne!(next["league_id"], id.as_str(), "what is over is not played again");
    }
}

#[test]
fn a_new_league_is_founded_if_that_is_wanted() {
    let place = Place::new();
    signalled(&place, "KILL");
    let report = played(&place, "play --new --json");
    assert_eq!((&report["played"], &report["matches_before"]), (&json!(6), &Value::Null));
}

/// Sends `signal` to a league as soon as it has been founded, and waits for its end.
#[cfg(unix)]
fn signalled(place: &Place, signal: &str) -> Run {
    let mut command = place.command("play --players 100 --json");
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let made = place.data().join("admin-token");
    let is_there = (0..LOOKS).any(|_| {
        std::thread::yield_now();
        made.exists()
    });
    assert!(is_there, "the league was never founded");
    let kill = format!("kill -{signal} {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    Run::of(child.wait_with_output().unwrap())
}

#[cfg(unix)]
#[test]
fn a_signal_stops_the_league_and_says_so() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let place = Place::new();
        let run = signalled(&place, signal);
        assert_eq!((run.code, run.stdout.as_str()), (Some(code), ""), "{}", run.stderr);
        // An agent that was just about to join may be told that it came too late.
        let mut said = run.stderr.lines().filter(|line| !line.starts_with('{'));
        let first = said.next().unwrap_or_default();
        assert!(first.starts_with("error: league league_"), "{}", run.stderr);
        assert!(run.stderr.contains(" was stopped "), "{}", run.stderr);
        assert!(run.stderr.contains("in league-data\n"), "{}", run.stderr);
    }
}
