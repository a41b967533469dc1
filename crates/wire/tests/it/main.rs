//! The wire from outside: every message, every dialect, both ways.
#![expect(
    clippy::unwrap_used,
    clippy::unwrap_in_result,
    clippy::wildcard_enum_match_arm,
    reason = "a test that is wrong about its own data should stop at once"
)]

mod documents;
mod fields;
mod golden;
mod judge;
mod lenient;
mod meaning;
mod moving;
mod payload;
mod properties;
mod refusals;
mod rolls;
mod samples;
mod schemas;
