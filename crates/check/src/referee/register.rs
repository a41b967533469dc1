//! Registration, as it came to the checker: REFEREE_REGISTER_REQUEST.

use std::future::ready;

use crate::bench::Bench;
use crate::case::{Case, Lane, Level};
use crate::registration;
use crate::verdict::{Halt, Outcome};

const CASE: Case = Case {
    section: "docs/protocol/league-v2.md, REFEREE_REGISTER_REQUEST",
    sent: "nothing: the registration that the agent sent is looked at",
    requirements: &["REG-1"],
    ..Case::BLANK
};

pub(super) static CASES: &[Case] = &[
    Case {
        id: "referee.register.readable",
        title: "The registration is as its document says",
        requirements: &["REG-1", "WIRE-2"],
        wanted: "REFEREE_REGISTER_REQUEST with every field that the dialect's document lists",
        why: "A strict league refuses a registration that lacks a field.",
        run: |bench| Box::pin(ready(registration::readable(bench))),
        ..CASE
    },
    Case {
        id: "referee.register.sender",
        title: "The registration is sent by a referee",
        requirements: &["WIRE-5"],
        wanted: "`sender` is `referee:` and any name",
        why: "The manager tells referees from players by it.",
        run: |bench| Box::pin(ready(registration::sender(bench))),
        ..CASE
    },
    Case {
        id: "referee.register.games",
        title: "The registration names the game",
        requirements: &["REG-9"],
        wanted: "`game_types` (002: `supported_games`) holds `even_odd`",
        why: "A referee is only given games that it says it knows.",
        run: |bench| Box::pin(ready(registration::games(bench))),
        ..CASE
    },
    Case {
        id: "referee.register.version",
        title: "The protocol's version is one that leagues accept",
        requirements: &["REG-3"],
        wanted: "`protocol_version` from 2.0.0 to 2.1.x, if there is one",
        why: "Another version is refused with E018.",
        run: |bench| Box::pin(ready(registration::version(bench))),
        ..CASE
    },
    Case {
        id: "referee.register.capacity",
        title: "The registration says how many matches it runs at once",
        level: Level::Should,
        requirements: &["REG-9"],
        wanted: "`max_concurrent_matches` (002: `max_concurrent_games`) of at least 1",
        why: "Without it the manager gives it one match after the other.",
        run: |bench| Box::pin(ready(capacity(bench))),
        ..CASE
    },
    Case {
        id: "referee.register.clock",
        title: "The referee's clock is right",
        level: Level::Should,
        requirements: &["OBS-6", "WIRE-4"],
        section: "docs/protocol/league-v2.md, Envelope",
        wanted: "`timestamp` within 5 s of the checker's clock",
        why: "It writes the deadlines of its players.",
        run: |bench| Box::pin(ready(registration::clock(bench))),
        ..CASE
    },
    Case {
        id: "referee.register.once",
        title: "A referee that was accepted does not register again",
        level: Level::Should,
        lane: Lane::Last,
        requirements: &["REG-4"],
        wanted: "one registration while the agent runs",
        why: "A second one from the same address is refused as a duplicate.",
        run: |bench| Box::pin(ready(registration::once(bench))),
        ..CASE
    },
    Case {
        id: "referee.register.user-agent",
        title: "Calls say what kind of agent makes them",
        level: Level::Should,
        requirements: &["ARCH-7"],
        section: "docs/protocol/league-v2.md, Transport",
        wanted: "the header `User-Agent: referee/` and a version",
        why: "Whoever runs the league sees at once which program called.",
        run: |bench| Box::pin(ready(registration::user_agent(bench))),
        ..CASE
    },
];

fn capacity(bench: &Bench) -> Outcome {
    match bench.registered()?.meta.max_concurrent_matches {
        Some(1..) => Ok(()),
        Some(0) | None => Err(Halt::fail_with(
            "it does not say how many matches it runs at once",
            "add it to the registration",
            "\"referee_meta\": { \"max_concurrent_matches\": 10 }",
        )),
    }
}
