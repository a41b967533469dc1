//! What a student reads of the matches of its own player, from a manager elsewhere.

use crate::program::Place;
use crate::service::Office;
use crate::services::{REFEREE, found};

// req: OBS-1
#[test]
fn the_players_of_a_match_read_it_once_it_is_over_and_nobody_else_does() {
    let place = Place::new();
    let office = Office::open(&place);
    let rules = "--set announcement_lead=0s --set choice_timeout=2s";
    found(&office, &place, &format!("--league spring --start players=3 {rules}"));
    let _referee = office.seat(&place, REFEREE);
    let _mine = office.seat(&place, "player --name Mine --data mine");
    let _yours = office.seat(&place, "player --name Yours --data yours");
    let _theirs = office.seat(&place, "player --strategy slow --data theirs");
    let trace = |match_id: &str, whose: &str| {
        let of = format!("--league spring --match {match_id} --token {whose}/player-1");
        office.run(&place, &format!("trace {of}"))
    };
    // One of the three does not play in the first match.
    let early = ["mine", "yours", "theirs"].map(|whose| trace("R3M1", whose));
    assert!(early.iter().all(|run| run.code == Some(1)), "nothing is told before the end");
    office.standings_at_the_end("spring");
    let told: Vec<_> =
        ["mine", "yours", "theirs"].into_iter().map(|whose| trace("R1M1", whose)).collect();
    let readers = told.iter().filter(|run| run.code == Some(0)).count();
    assert_eq!(readers, 2, "{told:?}");
    for run in &told {
        if run.code == Some(0) {
            assert!(run.stdout.starts_with("R1M1  P0"), "{}", run.stdout);
            assert!(run.stdout.contains("GAME_INVITATION"), "{}", run.stdout);
            assert!(!run.stdout.contains("tok_"), "{}", run.stdout);
        } else {
            let why = "this is told to the players of the match and to the administrator";
            assert!(run.stderr.contains(why), "{}", run.stderr);
        }
    }
}
