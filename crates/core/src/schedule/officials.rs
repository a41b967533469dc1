//! Which referee gets which match.
//!
//! Totals over the league are balanced; what a referee can run at once decides only *when* its
//! matches start: those beyond its limit wait for a later wave.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::id::RefereeId;

/// A referee who can be given matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Official {
    /// Who it is.
    pub id: RefereeId,
    /// How many matches it runs at once; with zero it is given none.
    pub max_concurrent: u32,
    /// How many matches it was given in this league so far.
    pub given: u32,
}

/// A referee and what it runs now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    /// The referee.
    pub official: Official,
    /// How many matches it runs now.
    pub running: u32,
}

/// Who officiates a match, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Assignment {
    /// The referee.
    pub referee: RefereeId,
    /// How many times the referee is filled up before this match starts.
    pub wave: u32,
}

/// A referee for each of `matches` matches, in order, or nothing if nobody can officiate.
///
/// Each match goes to whoever was given least; among equals, to the one listed first.
pub fn assign(matches: usize, referees: &[Official]) -> Option<Vec<Assignment>> {
    let mut queue: BinaryHeap<_> = (0..referees.len())
        .filter(|&at| referees[at].max_concurrent > 0)
        .map(|at| Reverse((referees[at].given, at)))
        .collect();
    let mut assignments = Vec::with_capacity(matches);
    while assignments.len() < matches {
        let mut next = queue.peek_mut()?;
        let Reverse((given, at)) = *next;
        let official = &referees[at];
        assignments.push(Assignment {
            referee: official.id,
            wave: (given - official.given) / official.max_concurrent,
        });
        *next = Reverse((given + 1, at));
    }
    Some(assignments)
}

/// Who takes over a match from `failed`: the one that runs least, then the one that was given
/// least, then the one listed first. Nothing if everybody else is full.
pub fn replacement(referees: &[Load], failed: Option<RefereeId>) -> Option<RefereeId> {
    referees
        .iter()
        .filter(|load| {
            Some(load.official.id) != failed && load.running < load.official.max_concurrent
        })
        .min_by_key(|load| (load.running, load.official.given))
        .map(|load| load.official.id)
}
