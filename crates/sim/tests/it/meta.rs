//! The same seed gives the same world, byte for byte.

use league_sim::{run, run_with};

#[test]
fn a_seed_played_twice_gives_the_same_bytes() {
    for seed in 0..60 {
        let (once, again) = (run_with(seed, None, true), run_with(seed, None, true));
        assert_eq!(once, again, "seed {seed}");
        assert!(!once.trace.is_empty());
        let untraced = run(seed);
        assert_eq!((untraced.hash, untraced.tally), (once.hash, once.tally), "seed {seed}");
    }
}

#[test]
fn different_seeds_give_different_worlds() {
    let mut hashes: Vec<u64> = (0..60).map(|seed| run(seed).hash).collect();
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), 60);
}
