//! The tests of the agent that `league new` writes in Rust, which is an example of ours.

#[expect(dead_code, reason = "tests have no use for its `main`")]
#[path = "../examples/player.rs"]
mod player;
