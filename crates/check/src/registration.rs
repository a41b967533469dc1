//! What is looked at in a registration, whoever it is from.

use league_agent::address::Address;
use league_wire::dialect::decode_request;
use league_wire::frame::{Incoming, parse};
use league_wire::{Decoded, Sender};

use crate::bench::Bench;
use crate::case::Role;
use crate::limits::CLOCK_SLACK;
use crate::stage::Registered;
use crate::verdict::{Halt, Outcome};

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

pub(crate) fn readable(bench: &Bench) -> Outcome {
    let registered = shown(bench)?;
    match strictly(registered) {
        Ok(_) => Ok(()),
        Err(error) => {
            let (sentence, change) = error.split_once("; ").unwrap_or((&error, "see the document"));
            Err(Halt::fail(format!("the registration is not as it should be: {sentence}"), change))
        }
    }
}

/// What was read strictly; what cannot be is told by the first case.
fn decoded(registered: &Registered) -> Result<Decoded, Halt> {
    strictly(registered)
        .map_err(|_| Halt::skip("what it builds on fails: see the case register.readable"))
}

pub(crate) fn sender(bench: &Bench) -> Outcome {
    let letter = decoded(shown(bench)?)?.letter;
    let role = bench.subject.role;
    let is_right = match letter.envelope.sender {
        Sender::Player(_) => role == Role::Player,
        Sender::Referee(_) => role == Role::Referee,
        Sender::LeagueManager(_) | Sender::Administrator => false,
    };
    if is_right {
        return Ok(());
    }
    let (sender, role) = (&letter.envelope.sender, role.name());
    let sentence = format!("`sender` is {sender}, which is no {role}");
    Err(Halt::fail_with(sentence, "change `sender` to", format!("\"{role}:my_agent\"")))
}

pub(crate) fn games(bench: &Bench) -> Outcome {
    let games = &shown(bench)?.meta.game_types;
    if games.iter().any(|game| game.as_str() == "even_odd") {
        return Ok(());
    }
    let sentence = "it does not say that it knows even_odd";
    let role = bench.subject.role.name();
    let json = format!("\"{role}_meta\": {{ \"game_types\": [\"even_odd\"] }}");
    Err(Halt::fail_with(sentence, "add it to the registration", json))
}

pub(crate) fn endpoint(bench: &Bench) -> Outcome {
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

pub(crate) fn version(bench: &Bench) -> Outcome {
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

pub(crate) fn clock(bench: &Bench) -> Outcome {
    let registered = shown(bench)?;
    let (said, now) = (decoded(registered)?.letter.envelope.timestamp, registered.call.at);
    let apart = now.since(said).max(said.since(now));
    if apart <= CLOCK_SLACK {
        return Ok(());
    }
    let sentence = format!("its clock and the checker's are {} s apart", apart.as_secs());
    Err(Halt::fail(sentence, "send the time in UTC, as YYYY-MM-DDTHH:MM:SS.mmmZ"))
}

pub(crate) fn once(bench: &Bench) -> Outcome {
    bench.registered()?;
    let count = bench.subject.stage.registered().borrow().len();
    let starts = bench.subject.starts();
    if count <= starts {
        return Ok(());
    }
    let sentence = format!("it was started {starts} times and registered {count} times");
    Err(Halt::fail(sentence, "register once, and keep the id and the token of the answer"))
}

pub(crate) fn user_agent(bench: &Bench) -> Outcome {
    let said = shown(bench)?.call.header("user-agent").unwrap_or_default();
    let role = bench.subject.role.name();
    if said.starts_with(&format!("{role}/")) {
        return Ok(());
    }
    let sentence = match said {
        "" => "its calls have no User-Agent".to_string(),
        other => format!("its User-Agent is {}", league_wire::shown::sentence(other)),
    };
    let change = format!("send the header `User-Agent: {role}/1.0.0`, with your version");
    Err(Halt::fail(sentence, change))
}
