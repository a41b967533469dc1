//! Many seeds on several cores.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;

use crate::outcome::Outcome;

/// Outcomes that may wait to be looked at.
const WAITING_MAX: usize = 256;

/// Plays every seed of `seeds` with `play` on `workers` threads and shows each outcome to `look`,
/// in no particular order, until that says to stop by returning false.
pub fn sweep(
    seeds: Range<u64>,
    workers: usize,
    play: impl Fn(u64) -> Outcome + Sync,
    mut look: impl FnMut(Outcome) -> bool,
) {
    let next = AtomicU64::new(seeds.start);
    let stopped = AtomicBool::new(false);
    let (outcomes, arrived) = sync_channel(WAITING_MAX);
    thread::scope(|scope| {
        for _ in 0..workers.max(1) {
            let (outcomes, next, stopped, play) = (outcomes.clone(), &next, &stopped, &play);
            scope.spawn(move || {
                while !stopped.load(Ordering::Relaxed) {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end || outcomes.send(play(seed)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(outcomes);
        for outcome in arrived {
            if !look(outcome) {
                stopped.store(true, Ordering::Relaxed);
                break;
            }
        }
    });
}
