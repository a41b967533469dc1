//! Restarts and stopping, for agents that the checker started.

use super::table::Table;
use crate::bench::Bench;
use crate::case::{Case, Lane, Level};
use crate::limits::STOP_TIME;
use crate::verdict::{Halt, Outcome};

const CASE: Case = Case {
    lane: Lane::Last,
    section: "docs/protocol/league-v2.md, Agents",
    requirements: &["REG-6"],
    ..Case::BLANK
};

pub(super) static CASES: &[Case] = &[
    Case {
        id: "player.life.restart",
        title: "A player that was killed comes back and plays",
        sent: "the agent is killed and started again, then an invitation",
        wanted: "it registers again and accepts",
        why: "Programs crash, and a league goes on for hours.",
        run: |bench| Box::pin(restart(bench)),
        ..CASE
    },
    Case {
        id: "player.life.same-player",
        title: "A player that comes back shows its token",
        level: Level::Should,
        requirements: &["REG-6", "AUTH-5"],
        sent: "the agent is killed and started again",
        wanted: "a registration with the token of the one before",
        why: "Without the token it is a stranger from an address that is taken (L003), or too late.",
        run: |bench| Box::pin(same_player(bench)),
        ..CASE
    },
];

/// What ends the player for good.
pub(super) static LAST: &[Case] = &[Case {
    id: "player.life.stops",
    title: "A player that is asked to stop does so within 5 s",
    level: Level::Should,
    requirements: &["LIFE-1"],
    sent: "SIGTERM",
    wanted: "the end of the program within 5 s",
    why: "Whoever runs many agents wants to stop them without killing them.",
    run: |bench| Box::pin(stops(bench)),
    ..CASE
}];

async fn restart(bench: &Bench) -> Outcome {
    bench.restart().await?;
    let table = Table::new(bench);
    let (_, read) = table.invite().await;
    read.map(|_| ())
}

async fn same_player(bench: &Bench) -> Outcome {
    let before = bench.me();
    let again = bench.restart().await.map_err(|halt| halt.unless_told_by("player.life.restart"))?;
    if again.came_back {
        return Ok(());
    }
    let sentence = format!("it was {}, and registered without its token", before.id);
    Err(Halt::fail(
        sentence,
        "keep `auth_token`, `player_id` and `league_id` in a private file, and register with them",
    ))
}

async fn stops(bench: &Bench) -> Outcome {
    let Some(agent) = &bench.subject.agent else {
        return Err(Halt::skip("the checker did not start it: use --start 'COMMAND'"));
    };
    bench.note("the agent is sent SIGTERM");
    let stopped = agent.stop().await.is_some();
    if stopped {
        return Ok(());
    }
    let sentence = format!("it did not end within {} s of SIGTERM", STOP_TIME.as_secs());
    Err(Halt::fail(sentence, "end the program when it gets SIGTERM"))
}
