//! Registration, as it came to the checker: LEAGUE_REGISTER_REQUEST.

use std::future::ready;

use league_agent::address::Address;
use league_wire::dialect::decode_request;
use league_wire::frame::{Incoming, parse};
use league_wire::{Decoded, Dialect, Message, Sender};

use super::table::even_odd;
use crate::bench::Bench;
use crate::case::{Case, Lane, Level};
use crate::limits::CLOCK_SLACK;
use crate::stage::Registered;
use crate::verdict::{Halt, Outcome};

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
        run: |bench| Box::pin(ready(readable(bench))),
        ..CASE
    },
    Case {
        id: "player.register.sender",
        title: "The registration is sent by a player",
        requirements: &["WIRE-5"],
        wanted: "`sender` is `player:` and any name",
        why: "The manager tells players from referees by it.",
        run: |bench| Box::pin(ready(sender(bench))),
        ..CASE
    },
    Case {
        id: "player.register.games",
        title: "The registration names the game",
        requirements: &["REG-9"],
        wanted: "`game_types` (002: `supported_games`) holds `even_odd`",
        why: "A player is only given games that it says it plays.",
        run: |bench| Box::pin(ready(games(bench))),
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
        run: |bench| Box::pin(ready(endpoint(bench))),
        ..CASE
    },
    Case {
        id: "player.register.version",
        title: "The protocol's version is one that leagues accept",
        requirements: &["REG-3"],
        wanted: "`protocol_version` from 2.0.0 to 2.1.x, if there is one",
        why: "Another version is refused with E018.",
        run: |bench| Box::pin(ready(version(bench))),
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
        run: |bench| Box::pin(ready(clock(bench))),
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
        run: |bench| Box::pin(ready(once(bench))),
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
        run: |bench| Box::pin(ready(user_agent(bench))),
        ..CASE
    },
];

/// The registration, for cases that look at it; what came goes into the transcript.
fn shown(bench: &Bench) -> Result<&Registered, Halt> {
    let registered = bench.registered()?;
    bench.transcript.record(crate::transcript::Way::Came, &registered.call.body);
    Ok(registered)
}

fn strictly(registered: &Registered) -> Result<Decoded, String> {
    match parse(&registered.call.body) {
        Incoming::Single(Ok(request)) => {
            decode_request(&request).map_err(|error| error.to_string())
        }
        Incoming::Single(Err(error)) => Err(error.to_string()),
        Incoming::Batch(_) => Err("a batch, where one request is enough".into()),
    }
}

fn readable(bench: &Bench) -> Outcome {
    let registered = shown(bench)?;
    match strictly(registered) {
        Ok(Decoded { letter, .. })
            if matches!(letter.message, Message::LeagueRegisterRequest(_)) =>
        {
            Ok(())
        }
        Ok(_) => Err(Halt::Ours("a registration was read as something else".into())),
        Err(error) => {
            let (sentence, change) = error.split_once("; ").unwrap_or((&error, "see the document"));
            Err(Halt::fail(format!("the registration is not as it should be: {sentence}"), change))
        }
    }
}

/// What was read strictly; what cannot be is told by the first case.
fn decoded(registered: &Registered) -> Result<Decoded, Halt> {
    strictly(registered)
        .map_err(|_| Halt::skip("what it builds on fails: see player.register.readable"))
}

fn sender(bench: &Bench) -> Outcome {
    let letter = decoded(shown(bench)?)?.letter;
    if let Sender::Player(_) = letter.envelope.sender {
        return Ok(());
    }
    let sentence = format!("`sender` is {}, which is no player", letter.envelope.sender);
    Err(Halt::fail_with(sentence, "change `sender` to", "\"player:my_agent\""))
}

fn games(bench: &Bench) -> Outcome {
    let games = &shown(bench)?.meta.game_types;
    if games.contains(&even_odd()) {
        return Ok(());
    }
    let sentence = "it does not say that it plays even_odd";
    let json = "\"player_meta\": { \"game_types\": [\"even_odd\"] }";
    Err(Halt::fail_with(sentence, "add it to the registration", json))
}

fn endpoint(bench: &Bench) -> Outcome {
    let said = shown(bench)?.meta.contact_endpoint.as_deref();
    let json = format!("\"contact_endpoint\": \"{}\"", bench.subject.address);
    let Some(said) = said else {
        let change = "say where you listen";
        return Err(Halt::fail_with("it does not say where it is called", change, json));
    };
    match said.parse::<Address>() {
        Ok(_) => Ok(()),
        Err(error) => {
            let sentence = format!("`contact_endpoint` is not an address: {error}");
            Err(Halt::fail_with(sentence, "change it to", json))
        }
    }
}

fn version(bench: &Bench) -> Outcome {
    let Some(version) = shown(bench)?.meta.protocol_version.as_deref() else { return Ok(()) };
    let parts: Vec<&str> = version.split('.').collect();
    let is_number = |part: &&str| part.parse::<u32>().is_ok();
    let is_semver = parts.len() == 3 && parts.iter().all(is_number);
    if is_semver && parts[0] == "2" && matches!(parts[1], "0" | "1") {
        return Ok(());
    }
    let version = league_wire::shown::sentence(version);
    let sentence = format!("`protocol_version` is {version}, which no league accepts");
    Err(Halt::fail_with(sentence, "change it to", "\"protocol_version\": \"2.1.0\""))
}

fn clock(bench: &Bench) -> Outcome {
    let registered = shown(bench)?;
    let (said, now) = (decoded(registered)?.letter.envelope.timestamp, registered.call.at);
    let apart = now.since(said).max(said.since(now));
    if apart <= CLOCK_SLACK {
        return Ok(());
    }
    let sentence = format!("its clock and the checker's are {} s apart", apart.as_secs());
    Err(Halt::fail(sentence, "send the time in UTC, as YYYY-MM-DDTHH:MM:SS.mmmZ"))
}

fn once(bench: &Bench) -> Outcome {
    bench.registered()?;
    let count = bench.subject.stage.registered().borrow().len();
    let starts = bench.subject.starts();
    if count <= starts {
        return Ok(());
    }
    let sentence = format!("it was started {starts} times and registered {count} times");
    Err(Halt::fail(sentence, "register once, and keep the id and the token of the answer"))
}

fn user_agent(bench: &Bench) -> Outcome {
    let said = shown(bench)?.call.header("user-agent").unwrap_or_default();
    if said.starts_with("player/") {
        return Ok(());
    }
    let sentence = match said {
        "" => "its calls have no User-Agent".to_string(),
        other => format!("its User-Agent is {}", league_wire::shown::sentence(other)),
    };
    Err(Halt::fail(sentence, "send the header `User-Agent: player/1.0.0`, with your version"))
}
