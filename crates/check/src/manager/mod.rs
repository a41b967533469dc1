//! Cases for managers. The checker plays every agent of a league: players and referees that listen
//! on ports of their own.
//!
//! [`Door`] is how it gets in. Where it is the administrator each case has a league of its own;
//! elsewhere the cases that need one are skipped and say so. `visit` is what one case says and
//! hears, `guest` the checker's agents, `speech` the dialects, `said` what was answered. The
//! cases stand one file per subject.

mod door;
mod envelope;
mod fleet;
mod frames;
mod guest;
mod places;
mod queries;
mod registration;
mod reports;
mod rounds;
mod said;
mod speech;
mod standings;
mod story;
mod transport;
mod troubles;
mod visit;

use league_wire::Dialect;

pub use door::Door;
pub(crate) use door::League;
pub(crate) use fleet::{Leaving, start};
pub(crate) use guest::Lounge;

use crate::case::Case;

/// A case that is tried in every dialect.
const EVERY: &[Dialect] = &[];

/// One case: id, level, dialects, requirements, section; title; what is sent, wanted, and why; the
/// function that tries it.
macro_rules! case {
    ($id:literal: $level:ident, EVERY, $($rest:tt)*) => {
        $crate::manager::case!(@ $id, $level, $crate::manager::EVERY, $($rest)*)
    };
    ($id:literal: $level:ident, [$($dialect:expr),+], $($rest:tt)*) => {
        $crate::manager::case!(@ $id, $level, &[$($dialect),+], $($rest)*)
    };
    ($id:literal: $level:ident, $dialects:ident, $($rest:tt)*) => {
        $crate::manager::case!(@ $id, $level, $dialects, $($rest)*)
    };
    (@ $id:literal, $level:ident, $dialects:expr, [$($requirement:literal),*], $section:literal,
     $title:literal, sent: $sent:literal, wanted: $wanted:literal, why: $why:literal,
     $run:ident) => {
        $crate::case::Case {
            id: $id,
            title: $title,
            level: $crate::case::Level::$level,
            lane: $crate::case::Lane::Together,
            requirements: &[$($requirement),*],
            section: $section,
            dialects: $dialects,
            sent: $sent,
            wanted: $wanted,
            why: $why,
            run: |bench| Box::pin(async move { $run(&Visit::of(bench)).await }),
        }
    };
}
use case;

/// Every case, in the order in which they are told.
pub fn cases() -> Vec<&'static Case> {
    let groups: [&'static [Case]; 10] = [
        frames::CASES,
        transport::CASES,
        envelope::CASES,
        registration::CASES,
        places::CASES,
        queries::CASES,
        rounds::CASES,
        reports::CASES,
        standings::CASES,
        troubles::CASES,
    ];
    groups.into_iter().flatten().collect()
}
