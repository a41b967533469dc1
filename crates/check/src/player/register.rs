//! Registration, as it came to the checker: LEAGUE_REGISTER_REQUEST.

use std::future::ready;

use league_wire::Dialect;

use crate::case::{Case, Lane, Level};
use crate::registration;

const CASE: Case = Case {
    section: "docs/protocol/league-v2.md, LEAGUE_REGISTER_REQUEST",
    sent: "nothing: the registration that the agent sent is looked at",
    requirements: &["REG-1"],
    ..Case::BLANK
};

pub(super) static CASES: &[Case] = &[
    Case {
        id: "player.register.readable",
        title: "The registration is as its document says",
        requirements: &["REG-1", "WIRE-2"],
        wanted: "LEAGUE_REGISTER_REQUEST with every field that the dialect's document lists",
        why: "A strict league refuses a registration that lacks a field.",
        run: |bench| Box::pin(ready(registration::readable(bench))),
        ..CASE
    },
    Case {
        id: "player.register.sender",
        title: "The registration is sent by a player",
        requirements: &["WIRE-5"],
        wanted: "`sender` is `player:` and any name",
        why: "The manager tells players from referees by it.",
        run: |bench| Box::pin(ready(registration::sender(bench))),
        ..CASE
    },
    Case {
        id: "player.register.games",
        title: "The registration names the game",
        requirements: &["REG-9"],
        wanted: "`game_types` (002: `supported_games`) holds `even_odd`",
        why: "A player is only given games that it says it plays.",
        run: |bench| Box::pin(ready(registration::games(bench))),
        ..CASE
    },
    Case {
        id: "player.register.endpoint",
        title: "The registration says where the player is called",
        requirements: &["REG-8"],
        dialects: &[
            Dialect::Flat,
            Dialect::Typed,
            Dialect::Enveloped,
            Dialect::Payload,
            Dialect::Tool,
            Dialect::Wrapped,
        ],
        wanted: "`contact_endpoint` is an address such as http://127.0.0.1:8101/mcp",
        why: "Everybody calls the player at this address.",
        run: |bench| Box::pin(ready(registration::endpoint(bench))),
        ..CASE
    },
    Case {
        id: "player.register.version",
        title: "The protocol's version is one that leagues accept",
        requirements: &["REG-3"],
        wanted: "`protocol_version` from 2.0.0 to 2.1.x, if there is one",
        why: "Another version is refused with E018.",
        run: |bench| Box::pin(ready(registration::version(bench))),
        ..CASE
    },
    Case {
        id: "player.register.clock",
        title: "The player's clock is right",
        level: Level::Should,
        requirements: &["OBS-6", "WIRE-4"],
        section: "docs/protocol/league-v2.md, Envelope",
        wanted: "`timestamp` within 5 s of the checker's clock",
        why: "Times of a wrong clock make every trace hard to read.",
        run: |bench| Box::pin(ready(registration::clock(bench))),
        ..CASE
    },
    Case {
        id: "player.register.once",
        lane: Lane::Last,
        title: "A player that was accepted does not register again",
        level: Level::Should,
        requirements: &["REG-4"],
        wanted: "one registration while the agent runs",
        why: "A second one from the same address is refused as a duplicate.",
        run: |bench| Box::pin(ready(registration::once(bench))),
        ..CASE
    },
    Case {
        id: "player.register.user-agent",
        title: "Calls say what kind of agent makes them",
        level: Level::Should,
        requirements: &["ARCH-7"],
        section: "docs/protocol/league-v2.md, Transport",
        wanted: "the header `User-Agent: player/` and a version",
        why: "Whoever runs the league sees at once which program called.",
        run: |bench| Box::pin(ready(registration::user_agent(bench))),
        ..CASE
    },
];
