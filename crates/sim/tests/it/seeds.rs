//! Every seed must pass. `LEAGUE_LONG=1` plays many more of them.

use std::ops::Range;

use league_sim::{Tally, replay_command, run, sweep};

/// Seeds that once failed, whoever was to blame.
const REGRESSIONS: [u64; 8] = [133, 181, 550, 1_188, 1_386, 1_469, 1_871, 2_328];

// req: RESULT-1, RESULT-3, ERR-6
#[test]
fn a_thousand_worlds_keep_every_promise() {
    let count = if std::env::var_os("LEAGUE_LONG").is_some() { 20_000 } else { 1_000 };
    let tally = check(0..count);
    // Worlds in which nothing happens would keep every promise.
    assert!(tally.played > count * 5, "{tally:?}");
    assert!(tally.technical_losses > count, "{tally:?}");
    assert!(tally.reassigned > count / 2, "{tally:?}");
    assert!(tally.lies > count / 4, "{tally:?}");
    assert!(tally.crashes > count / 2, "{tally:?}");
    assert!(tally.forgeries > count / 8, "{tally:?}");
    assert!(tally.annulled > 0, "{tally:?}");
    assert!(tally.suspended > count / 20, "{tally:?}");
    assert!(tally.recovered > count / 40, "{tally:?}");
    assert!(tally.shut_down > count / 100, "{tally:?}");
    assert!(tally.walkovers > count / 100, "{tally:?}");
    assert!(tally.stuck > 0, "{tally:?}");
    assert!(tally.replaced > count / 20, "{tally:?}");
    assert!(tally.orders > count / 4, "{tally:?}");
}

#[test]
fn seeds_that_once_failed() {
    for seed in REGRESSIONS {
        check(seed..seed + 1);
    }
}

fn check(seeds: Range<u64>) -> Tally {
    let (mut tally, mut failed) = (Tally::default(), vec![]);
    sweep(seeds, 2, run, |outcome| {
        tally.add(&outcome.tally);
        if let Some(violation) = outcome.violation {
            failed.push(format!("{}\n  {violation}", replay_command(outcome.seed)));
        }
        true
    });
    assert!(failed.is_empty(), "{} seeds failed\n{}", failed.len(), failed.join("\n"));
    tally
}
