//! The house rules, held by tests. CONTRIBUTING.md gives them at length, with their reasons.
//!
//! [`tree`] finds the files, [`source`] reads Rust text into code, comments and strings. One room
//! per kind of rule: [`border`] who may know whom, [`size`] how long, [`word`] what is never
//! written, [`shape`] how files are named and laid out, [`paper`] what documents owe the reader.
//! Every rule is a function from text to [`Offence`]s, so that the rules can be tested too.

pub mod border;
mod offence;
pub mod paper;
pub mod shape;
pub mod size;
pub mod source;
pub mod tree;
pub mod word;

pub use offence::{Offence, Rule};
