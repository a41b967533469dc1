//! One file per command.

pub(crate) mod play;
pub(crate) mod rules;
pub(crate) mod sim;
