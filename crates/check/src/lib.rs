//! The cases of `league check`: does this agent speak the protocol?
//!
//! A [`case`] has a name for ever, says what is sent, what must come and why it matters, and has a
//! function that tries it. The function gets a [`bench::Bench`]: the agent under test, a line to it
//! by hand-made [`http`], and a [`transcript`] of every byte. It returns `Ok(())`, or a
//! [`verdict::Halt`]: the agent's fault, a reason to skip, or a fault of ours.
//!
//! [`stage`] stands in for the manager, [`agent`] is an agent that the checker started itself,
//! [`draft`] is a request that is changed before it is sent, [`answer`] reads answers and says what
//! to change in them, [`run`] runs cases, [`session`] is a
//! whole check, [`report`] what people and programs are told, [`guide`] the page `docs/check.md`.
//! The cases stand in [`player`], [`referee`] and [`manager`], one file per subject.
#![warn(missing_docs)]

pub mod agent;
pub mod answer;
pub mod bench;
pub mod case;
pub mod draft;
pub mod guide;
pub mod http;
pub mod limits;
pub mod manager;
pub mod player;
mod probe;
pub mod referee;
mod registration;
pub mod report;
pub mod run;
pub mod session;
pub mod stage;
pub mod transcript;
pub mod verdict;

pub use case::{Case, Level, Role};
pub use run::Checked;
pub use session::{CheckError, Meeting, News, Plan, Report, Target, check, chosen, meet};
pub use verdict::{Finding, Halt, Outcome, Verdict};

/// Every case about `role`, in the order in which they are told.
pub fn cases(role: Role) -> Vec<&'static Case> {
    match role {
        Role::Player => player::cases(),
        Role::Referee => referee::cases(),
        Role::Manager => manager::cases(),
    }
}
