//! A player that looks at its opponent: whoever has a habit is met with the opposite of it.

use std::process::ExitCode;

use league_agent::author::{Agent, Call, Move};

fn choose(call: &Call) -> Move {
    let theirs = call.history.iter().filter(|game| Some(&game.opponent) == call.opponent.as_ref());
    let even = Move::from("even");
    let (mut evens, mut odds) = (0, 0);
    for chosen in theirs.filter_map(|game| game.theirs.as_ref()) {
        if *chosen == even { evens += 1 } else { odds += 1 }
    }
    match evens - odds {
        0 => call.any(),
        1.. => Move::from("odd"),
        ..0 => even,
    }
}

fn main() -> ExitCode {
    Agent::new("Habit", choose).run()
}
