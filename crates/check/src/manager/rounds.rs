//! Rounds: who hears of them, in which words, who meets whom, and in which order.

use std::collections::BTreeSet;

use league_wire::{Dialect, MessageType};
use serde_json::{Value, json};

use super::case;
use super::envelope::{equal, in_utc};
use super::guest::{Call, Kind};
use super::speech::Stamp;
use super::story::{Fixture, Story, Told};
use super::visit::Visit;
use crate::case::Case;
use crate::limits::QUIET_TIME;
use crate::verdict::{Halt, Outcome};

/// Dialects of document 000, which lists `next_round_id`.
const FIRST: &[Dialect] = &[Dialect::Flat, Dialect::Tool, Dialect::Wrapped, Dialect::Enveloped];

pub(super) const CASES: &[Case] = &[
    case! {
        "manager.round.announced": Must, EVERY, ["SCHED-4", "SCHED-6"], "docs/protocol/league-v2.md#round_announcement",
        "Every player hears of the round",
        sent: "registrations, until the league begins",
        wanted: "ROUND_ANNOUNCEMENT of round 1 at every player's endpoint",
        why: "Players that do not know of their match do not expect an invitation.",
        announced
    },
    case! {
        "manager.round.referees": Must, EVERY, ["SCHED-4"], "002 §4.4.2, 003 Message Types",
        "Every referee hears of the round",
        sent: "registrations, until the league begins",
        wanted: "ROUND_ANNOUNCEMENT of round 1 at every referee's endpoint",
        why: "Document 002 tells players and referees; a referee learns of its matches by it.",
        referees
    },
    case! {
        "manager.round.dialect": Must, EVERY, ["WIRE-8"], "docs/protocol/dialects.md#which-one-is-used",
        "An announcement is in the dialect of the registration",
        sent: "registrations, until the league begins",
        wanted: "the method, type and shape of that dialect",
        why: "An agent that knows one document cannot read another one's messages.",
        dialect
    },
    case! {
        "manager.round.frame": Must, EVERY, ["WIRE-1"], "docs/protocol/league-v2.md#frames",
        "What the manager sends is JSON-RPC with an id",
        sent: "registrations, until the league begins",
        wanted: "`jsonrpc` \"2.0\" and an `id` in the announcement",
        why: "Without an id a server of JSON-RPC does not answer.",
        frame
    },
    case! {
        "manager.round.envelope": Must, EVERY, ["WIRE-2", "WIRE-5"], "docs/protocol/league-v2.md#envelope",
        "What the manager sends has an envelope",
        sent: "registrations, until the league begins",
        wanted: "`protocol`, `sender` and a `timestamp` in UTC in the announcement",
        why: "Agents refuse what does not say where it comes from.",
        envelope
    },
    case! {
        "manager.round.fields": Must, EVERY, ["WIRE-7", "SCHED-4"], "docs/protocol/league-v2.md#round_announcement",
        "An announcement has every field that the document lists",
        sent: "registrations, until the league begins",
        wanted: "match, game, both players and the referee of each match",
        why: "Agents written from the document look for exactly these names.",
        fields
    },
    case! {
        "manager.round.match-ids": Should, EVERY, ["SCHED-2"], "002 §4.4.1",
        "Matches are called R1M1, R1M2 and so on",
        sent: "registrations, until the league begins",
        wanted: "the ids R1M1 and R1M2 in the first round of four players",
        why: "People and logs find a match by its round and number.",
        match_ids
    },
    case! {
        "manager.round.token": Should, EVERY, ["AUTH-6"], "docs/protocol/proofs.md",
        "The manager proves itself with the player's own token",
        sent: "registrations, until the league begins",
        wanted: "`auth_token` of the announcement is the player's token",
        why: "Otherwise anybody can tell a player that the league is over.",
        token
    },
    case! {
        "manager.round.headers": Should, EVERY, ["ARCH-7", "ARCH-1"], "000 §8",
        "The manager's calls have the headers of the document",
        sent: "registrations, until the league begins",
        wanted: "`Content-Type: application/json`, `Accept` and `User-Agent`",
        why: "Frameworks look at them before they look at the body.",
        headers
    },
    case! {
        "manager.round.order": Must, EVERY, ["SCHED-5"], "docs/protocol/league-v2.md#round_completed, 002 §4.6.2",
        "The next round waits for every result",
        sent: "the result of one of two matches, and a little later the other",
        wanted: "no announcement of round 2 before the second result, and one after it",
        why: "Nobody can play two rounds at the same time.",
        order
    },
    case! {
        "manager.round.pairs": Must, EVERY, ["SCHED-1"], "002 §4.4.1",
        "Everybody meets everybody once",
        sent: "a whole league of four players",
        wanted: "three rounds in which each pair meets exactly once",
        why: "It is what a round robin is.",
        pairs
    },
    case! {
        "manager.round.bye": Must, EVERY, ["SCHED-1"], "002 §4.4.1",
        "With three players each sits out once",
        sent: "a whole league of three players",
        wanted: "three rounds of one match, each with another player left out",
        why: "Nobody can be given a match without an opponent.",
        bye
    },
    case! {
        "manager.round.completed": Must, EVERY, ["SCHED-5"], "docs/protocol/league-v2.md#round_completed, 000 §3.2",
        "Every player hears that the round is over",
        sent: "every result of round 1",
        wanted: "ROUND_COMPLETED (document 004: ROUND_END) of round 1 at every player",
        why: "Agents tidy up what belonged to the round.",
        completed
    },
    case! {
        "manager.round.completed-matches": Should, EVERY, ["SCHED-5"], "docs/protocol/league-v2.md#round_completed, 000 §3.2",
        "The end of a round lists its matches",
        sent: "every result of round 1",
        wanted: "`completed_matches` with both ids, and `matches_played` 2",
        why: "A player sees whether it missed one.",
        completed_matches
    },
    case! {
        "manager.round.next": Must, FIRST, ["SCHED-5"], "docs/protocol/league-v2.md#round_completed, 000 §3.2",
        "The end of a round names the next one",
        sent: "every result of a league of four",
        wanted: "`next_round_id` 2 after round 1, and null after the last",
        why: "Agents know by it whether they are still needed.",
        next
    },
    case! {
        "manager.round.order-to-referee": Should, EVERY, ["SCHED-3"], "docs/protocol/league-v2.md#start_match",
        "A referee is given its match",
        sent: "registrations, until the league begins",
        wanted: "START_MATCH at the referee, with both players and their addresses",
        why: "No document says how else a referee learns where its players are.",
        order_to_referee
    },
    case! {
        "manager.round.capacity": Should, EVERY, ["REG-9", "SCHED-3"], "000 §3.1",
        "A referee is not given more than it takes",
        sent: "a referee with `max_concurrent_matches` 1 in a round of two matches",
        wanted: "the second START_MATCH only after the first result",
        why: "A referee that is overrun is late, and its players pay for it.",
        capacity
    },
];

async fn announced(visit: &Visit) -> Outcome {
    let story = Story::begin(visit, 4, 1).await?;
    for player in &story.players {
        story.announced(player, 1).await?;
    }
    Ok(())
}

async fn referees(visit: &Visit) -> Outcome {
    let story = Story::begin(visit, 4, 2).await?;
    for referee in &story.referees {
        story.announced(referee, 1).await?;
    }
    Ok(())
}

/// What a player of a league of two is announced.
async fn heard(visit: &Visit) -> Result<(Story, std::sync::Arc<Call>), Halt> {
    let story = Story::begin(visit, 2, 1).await?;
    let told = |halt: Halt| halt.unless_told_by("manager.round.announced");
    let call = story.announced(&story.players[0], 1).await.map_err(told)?;
    Ok((story, call))
}

async fn dialect(visit: &Visit) -> Outcome {
    let (_story, call) = heard(visit).await?;
    in_dialect(&call, visit.speech.0)
}

/// A call must be in the dialect in which its receiver registered.
pub(super) fn in_dialect(call: &Call, dialect: Dialect) -> Outcome {
    let Some(wrong) = &call.foreign else { return Ok(()) };
    Err(Halt::fail(
        format!("a message to an agent that registered in `{dialect}` is not in it: {wrong}"),
        format!("speak to every agent in the dialect of its registration, here `{dialect}`"),
    ))
}

async fn frame(visit: &Visit) -> Outcome {
    let (_story, call) = heard(visit).await?;
    equal(&call.request, "jsonrpc", &json!("2.0"))?;
    let id = &call.request["id"];
    if id.is_number() || id.is_string() {
        return Ok(());
    }
    Err(Halt::fail(format!("`id` of the announcement is {id}"), "count requests in `id`"))
}

async fn envelope(visit: &Visit) -> Outcome {
    let (_story, call) = heard(visit).await?;
    equal(&call.message, "protocol", &json!("league.v2"))?;
    let sender = call.text("sender");
    if sender != "league_manager" && !sender.starts_with("league_manager:") {
        equal(&call.message, "sender", &json!("league_manager"))?;
    }
    in_utc(&call.message)?;
    if call.text("conversation_id").is_empty() && visit.speech.0 != Dialect::Payload {
        return Err(Halt::fail(
            "the announcement has no `conversation_id`",
            "give every message one, such as `\"conversation_id\": \"mgr-1\"`",
        ));
    }
    Ok(())
}

async fn fields(visit: &Visit) -> Outcome {
    let (_story, call) = heard(visit).await?;
    let entry: &[&str] = match visit.speech.0 {
        Dialect::Flat | Dialect::Tool | Dialect::Wrapped | Dialect::Enveloped => {
            &["match_id", "game_type", "player_A_id", "player_B_id", "referee_endpoint"]
        }
        Dialect::V21 => &["match_id", "player1_id", "player2_id", "referee_id", "scheduled_start"],
        Dialect::Typed | Dialect::Payload => &["match_id"],
    };
    has_all(&call.message, &["round_id", "matches"], "ROUND_ANNOUNCEMENT")?;
    let first = &call.message["matches"][0];
    has_all(first, entry, "a match of ROUND_ANNOUNCEMENT")
}

/// `message` must have every field of `names`.
pub(super) fn has_all(message: &Value, names: &[&str], what: &str) -> Outcome {
    let missing = names.iter().find(|name| message.get(**name).is_none());
    let Some(missing) = missing else { return Ok(()) };
    let sentence = format!("{what} has no `{missing}`");
    let change = format!("add `{missing}`; the document lists {}", names.join(", "));
    Err(Halt::fail(sentence, change))
}

async fn match_ids(visit: &Visit) -> Outcome {
    let story = Story::begin(visit, 4, 1).await?;
    let mut ids: Vec<String> =
        story.fixtures(1).await?.into_iter().map(|fixture| fixture.id).collect();
    ids.sort();
    if ids == ["R1M1", "R1M2"] {
        return Ok(());
    }
    Err(Halt::fail(
        format!("the matches of round 1 are called {}", ids.join(", ")),
        "call them R1M1 and R1M2",
    ))
}

async fn token(visit: &Visit) -> Outcome {
    let (story, call) = heard(visit).await?;
    if call.text("auth_token") == story.players[0].me()?.token {
        return Ok(());
    }
    Err(Halt::fail(
        "`auth_token` of the announcement is not the token of the player that it was sent to",
        "put the receiver's own token into `auth_token` of everything that you send",
    ))
}

async fn headers(visit: &Visit) -> Outcome {
    let (_story, call) = heard(visit).await?;
    for (name, wanted) in
        [("content-type", "application/json"), ("accept", "application/json"), ("user-agent", "")]
    {
        let got = call.header(name).unwrap_or_default();
        if got.is_empty() || !got.to_ascii_lowercase().contains(wanted) {
            let sentence = format!("the header `{name}` of the manager's call is \"{got}\"");
            let right = if wanted.is_empty() { "league_manager/1.0.0" } else { wanted };
            return Err(Halt::fail(sentence, format!("send the header `{name}: {right}`")));
        }
    }
    Ok(())
}

async fn order(visit: &Visit) -> Outcome {
    let story = Story::begin(visit, 4, 1).await?;
    let fixtures = story.fixtures(1).await?;
    let [first, second] = two(&fixtures)?;
    let me = story.referees[first.referee].me()?;
    let stamp = Stamp::own(Kind::Referee, &me).about("early");
    let told = |halt: Halt| halt.unless_told_by("manager.report.accepted");
    let reply = story.report_as(first, &Told::WIN, &stamp).await.map_err(told)?;
    reply.accepted("a result").map_err(told)?;
    let player = &story.players[0];
    let is_next =
        |call: &Call| call.kind == Some(MessageType::RoundAnnouncement) && call.round() == Some(2);
    if player.wait(QUIET_TIME, is_next).await.is_some() {
        return Err(Halt::fail(
            format!("round 2 was announced before the result of {} was reported", second.id),
            "announce a round when every result of the one before is recorded",
        ));
    }
    story.settle(second).await?;
    story.announced(player, 2).await.map(drop)
}

/// Both matches of a round of four.
pub(super) fn two(fixtures: &[Fixture]) -> Result<[&Fixture; 2], Halt> {
    match fixtures {
        [first, second] => Ok([first, second]),
        _ => Err(Halt::skip("what it builds on fails: see manager.round.pairs")),
    }
}

async fn pairs(visit: &Visit) -> Outcome {
    let story = Story::begin(visit, 4, 1).await?;
    meet_once(&story, 3, 2).await
}

async fn bye(visit: &Visit) -> Outcome {
    let story = Story::begin(visit, 3, 1).await?;
    meet_once(&story, 3, 1).await
}

/// In `rounds` rounds of `matches` everybody must meet everybody once. Each round is judged when it
/// is announced.
async fn meet_once(story: &Story, rounds: u64, matches: usize) -> Outcome {
    let mut met = BTreeSet::new();
    for round in 1..=rounds {
        let fixtures = story.fixtures(round).await?;
        let mut busy = BTreeSet::new();
        for Fixture { id, a, b, .. } in &fixtures {
            if a == b || !busy.insert(a.clone()) || !busy.insert(b.clone()) {
                let sentence =
                    format!("in {id} {a} meets {b}: somebody plays twice in round {round}");
                return Err(Halt::fail(sentence, "give everybody one match a round"));
            }
            let pair = if a < b { (a, b) } else { (b, a) };
            if !met.insert((pair.0.clone(), pair.1.clone())) {
                let sentence = format!("{a} and {b} meet again in round {round}");
                return Err(Halt::fail(sentence, "have every pair meet exactly once"));
            }
        }
        if fixtures.len() != matches {
            let sentence =
                format!("round {round} has {} matches, expected {matches}", fixtures.len());
            return Err(Halt::fail(sentence, "give everybody one match a round, but who sits out"));
        }
        for fixture in &fixtures {
            story.settle(fixture).await?;
        }
    }
    Ok(())
}

async fn completed(visit: &Visit) -> Outcome {
    let story = Story::begin(visit, 4, 1).await?;
    story.settle_round(1).await?;
    for player in &story.players {
        let is_first = |call: &Call| call.round() == Some(1);
        story.hears(player, MessageType::RoundCompleted, is_first).await?;
    }
    Ok(())
}

async fn round_over(visit: &Visit, round: u64) -> Result<std::sync::Arc<Call>, Halt> {
    let story = Story::begin(visit, 4, 1).await?;
    for number in 1..=round {
        story.settle_round(number).await?;
    }
    let told = |halt: Halt| halt.unless_told_by("manager.round.completed");
    let is_it = |call: &Call| call.round() == Some(round);
    story.hears(&story.players[0], MessageType::RoundCompleted, is_it).await.map_err(told)
}

async fn completed_matches(visit: &Visit) -> Outcome {
    let call = round_over(visit, 1).await?;
    equal(&call.message, "matches_played", &json!(2))?;
    let listed = call.message["completed_matches"].as_array().map_or(0, Vec::len);
    if listed == 2 {
        return Ok(());
    }
    Err(Halt::fail(
        format!("`completed_matches` is {}", call.message["completed_matches"]),
        "list the ids of both matches, such as [\"R1M1\", \"R1M2\"]",
    ))
}

async fn next(visit: &Visit) -> Outcome {
    let call = round_over(visit, 1).await?;
    let next = &call.message["next_round_id"];
    let number = next.as_u64().or_else(|| next.as_str()?.trim_start_matches('R').parse().ok());
    if number != Some(2) {
        return equal(&call.message, "next_round_id", &json!("2"));
    }
    let last = round_over(visit, 3).await?;
    if last.message.get("next_round_id").is_some_and(|next| !next.is_null()) {
        return equal(&last.message, "next_round_id", &Value::Null);
    }
    Ok(())
}

async fn order_to_referee(visit: &Visit) -> Outcome {
    let story = Story::begin(visit, 2, 1).await?;
    let call = story.hears(&story.referees[0], MessageType::StartMatch, |_| true).await?;
    has_all(&call.message, &["match_id", "round_id", "attempt", "players"], "START_MATCH")?;
    for player in &story.players {
        let (id, url) = (player.me()?.id, player.url());
        let listed = call.message["players"].as_array().cloned().unwrap_or_default();
        let found = listed.iter().find(|one| one["player_id"] == json!(id));
        if found.is_none_or(|one| one["endpoint"] != json!(url)) {
            let sentence = format!("START_MATCH does not say that {id} is called at {url}");
            return Err(Halt::fail(sentence, "list both players with `player_id` and `endpoint`"));
        }
    }
    in_dialect(&call, visit.speech.0)
}

async fn capacity(visit: &Visit) -> Outcome {
    let mut story = Story::prepare(visit, 4, 0).await?;
    let referee = visit.guest(Kind::Referee).await?;
    referee.take_at_once(1);
    story.visit.register_guest(&referee, &story.league).await?;
    story.referees.push(referee);
    for _ in 0..4 {
        story.add_player().await?;
    }
    let referee = &story.referees[0];
    let orders = || {
        let heard = referee.heard();
        heard.iter().filter(|call| call.kind == Some(MessageType::StartMatch)).count()
    };
    let told = |halt: Halt| halt.unless_told_by("manager.round.order-to-referee");
    story.hears(referee, MessageType::StartMatch, |_| true).await.map_err(told)?;
    let nothing = referee.wait(QUIET_TIME, |_| orders() > 1).await;
    if nothing.is_some() || orders() > 1 {
        return Err(Halt::fail(
            "a referee that takes one match at once was given two",
            "give it the next match when the result of the one before is recorded",
        ));
    }
    let fixtures = story.fixtures(1).await?;
    let first = referee.hears(MessageType::StartMatch, QUIET_TIME).await;
    let id = first.map(|call| call.text("match_id").to_string()).unwrap_or_default();
    let Some(fixture) = fixtures.iter().find(|fixture| fixture.id == id) else {
        return Err(Halt::skip("what it builds on fails: see manager.round.fields"));
    };
    story.settle(fixture).await?;
    let is_other = |call: &Call| call.text("match_id") != id;
    story.hears(referee, MessageType::StartMatch, is_other).await.map(drop)
}
