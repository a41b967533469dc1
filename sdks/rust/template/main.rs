//! A player. Edit `choose`, then run it: cargo run -- --help

use std::process::ExitCode;

use league_agent::author::{Agent, Call, Move};

/// Your move: one of `call.options`. README.md says what else `call` knows.
fn choose(call: &Call) -> Move {
    call.any()
}

fn main() -> ExitCode {
    Agent::new("{{name}}", choose).version("1.0.0").games(["even_odd", "even_odd_numbers"]).run()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parity_is_chosen() {
        let call = Call::example();
        assert!(call.options.contains(&choose(&call)));
    }

    #[test]
    fn a_number_is_chosen() {
        let mut call = Call::example();
        call.move_type = "number".into();
        call.options = (1..=5).map(Move::from).collect();
        assert!(call.options.contains(&choose(&call)));
    }
}
