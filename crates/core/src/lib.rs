//! The rules of the league, pure.
//!
//! Nothing in this crate reads a clock, rolls dice, opens a file or awaits. Time, dice and requests
//! are handed in; events, effects and refusals are handed out.
//!
//! Nouns: [`id`], [`seat`], [`verdict`], [`conduct`], [`time`], [`dice`], [`spread`], [`limits`]. A
//! league's numbers: [`policy`]. One rule of the trade each: [`game`], [`schedule`], [`standings`],
//! [`roster`], [`retry`], [`breaker`], [`proof`], [`draw`]. The two machines built from them, which
//! never know each other: [`manager`] for a league, [`referee`] for a match.
#![warn(missing_docs)]

pub mod breaker;
pub mod conduct;
pub mod dice;
pub mod draw;
pub mod game;
pub mod id;
pub mod limits;
pub mod manager;
pub mod policy;
pub mod proof;
pub mod referee;
pub mod retry;
pub mod roster;
pub mod schedule;
pub mod seat;
pub mod spread;
pub mod standings;
pub mod time;
pub mod verdict;
