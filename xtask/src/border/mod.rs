//! Who may know whom: [`manifest`] between crates, [`room`] inside them, and [`tongue`] for the
//! protocol's words, which only `wire` speaks.

pub mod manifest;
pub mod room;
pub mod tongue;
