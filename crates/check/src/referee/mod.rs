//! Cases for referees. The checker plays the manager and both players.

mod bout;
mod course;
mod guest;
mod notebook;
mod order;
mod register;
mod result;
mod service;
mod trouble;
mod trust;

use league_core::id::GameType;

use crate::case::Case;

/// Every case, in the order in which they are told.
pub fn cases() -> Vec<&'static Case> {
    let groups: [&'static [Case]; 7] = [
        register::CASES,
        order::CASES,
        course::CASES,
        result::CASES,
        trouble::CASES,
        trust::CASES,
        service::CASES,
    ];
    groups.into_iter().flatten().collect()
}

fn even_odd() -> GameType {
    "even_odd".parse().expect("a game's name")
}
