//! The league in a simulated world, without a socket, a thread or a clock.
//!
//! [`run`] plays one league with the pure machines of `league-core`. The [`seed`](run) draws
//! everything: who comes and how badly they behave, the rules, the weather. Checkers watch every
//! step; the first thing they object to ends the run. The same seed gives the same run.
//!
//! Nouns: the `world` moves `message`s between nodes (`manager`, `referee`, `player`,
//! `administrator`, `forger`) over a `net`, by their `clock`s; the manager writes to a `disk`. A
//! `plan` says who the `guests` are and what `weather` they have. `checkers` compare what happens
//! with a `reference` model. `sabotage` builds bugs in, to see that they are found.

mod administrator;
mod applicant;
mod checkers;
mod clock;
mod disk;
mod fate;
mod forger;
mod guests;
mod manager;
mod message;
mod net;
mod outcome;
mod plan;
mod player;
mod referee;
mod reference;
mod sabotage;
mod stage;
mod sweep;
mod trace;
mod weather;
mod world;

pub use outcome::{Crowd, Outcome, Rule, Tally, Violation, replay_command};
pub use sabotage::Sabotage;
pub use sweep::sweep;
pub use world::{crowd, run, run_with};
