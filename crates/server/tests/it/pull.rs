//! Players without an open port, who fetch their turns at the manager.

use league_agent::strategy::House;

use crate::puller::Puller;
use crate::stage::{Plan, Stage, results};

#[test]
fn players_with_and_without_a_port_meet_in_one_league() {
    let mut stage = Stage::open(&Plan::players(4));
    stage.seat_referee();
    let pullers = ["Ada", "Ben"].map(|name| Puller::seat(&stage, name));
    stage.seat_player(House::Odd);
    stage.seat_player(House::Random);
    let recorded = results(&stage.whole_league());
    assert_eq!(recorded.len(), 6);
    for result in &recorded {
        assert!(result.verdict.was_played(), "{result:?}");
    }
    for mut puller in pullers {
        puller.finish();
        let kinds = puller.kinds.lock().unwrap().clone();
        let count = |kind: &str| kinds.iter().filter(|given| *given == kind).count();
        assert_eq!((count("GAME_INVITATION"), count("CHOOSE_PARITY_CALL")), (3, 3), "{kinds:?}");
        assert_eq!(count("LEAGUE_COMPLETED"), 1);
    }
}
