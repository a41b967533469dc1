//! Fifty players under the documents' own times, ten of them bad.

use league_sim::crowd;

// req: SCHED-1
#[test]
fn fifty_players_finish_though_ten_are_silent_slow_or_unreadable() {
    let crowd = crowd(50);
    assert_eq!(crowd.outcome.violation, None);
    assert_eq!(crowd.outcome.tally.results, 50 * 49 / 2);
    assert_eq!((crowd.healthy_pairs, crowd.healthy_played), (40 * 39 / 2, 40 * 39 / 2));
    assert_eq!(crowd.healthy_charged, 0, "somebody who did nothing wrong was charged");
    assert_eq!(crowd.bad_spared, 0, "somebody who never plays was not charged");
}
