//! LEAGUE_QUERY: every question, who may ask, and how long the answer may take.

use std::time::Duration;

use league_agent::ambient::Mark;
use league_wire::{Code, MessageType};
use serde_json::{Value, json};

use super::case;
use super::guest::{Guest, Kind};
use super::said::{Reply, Strict};
use super::speech::{Stamp, merge};
use super::transport::in_time;
use super::visit::Visit;
use crate::case::Case;
use crate::limits::{HEALTH_TIME, TIMED_TRIES};
use crate::verdict::{Halt, Outcome};

pub(super) const CASES: &[Case] = &[
    case! {
        "manager.query.standings": Should, EVERY, ["RESULT-7"], "docs/protocol/league-v2.md#league_query",
        "GET_STANDINGS",
        sent: "a registered player's question for the standings",
        wanted: "LEAGUE_QUERY_RESPONSE with `data`",
        why: "Who missed an update can ask for it.",
        standings
    },
    case! {
        "manager.query.schedule": Should, EVERY, ["RESULT-7"], "docs/protocol/league-v2.md#league_query",
        "GET_SCHEDULE",
        sent: "a registered player's question for the schedule",
        wanted: "LEAGUE_QUERY_RESPONSE with `data`",
        why: "Who missed an announcement can ask for it.",
        schedule
    },
    case! {
        "manager.query.next-match": Should, EVERY, ["RESULT-7"], "docs/protocol/league-v2.md#league_query",
        "GET_NEXT_MATCH",
        sent: "a registered player's question for its next match",
        wanted: "LEAGUE_QUERY_RESPONSE with `data`",
        why: "An agent that restarts wants to know what it is in.",
        next_match
    },
    case! {
        "manager.query.stats": Should, EVERY, ["RESULT-7"], "docs/protocol/league-v2.md#league_query",
        "GET_PLAYER_STATS",
        sent: "a registered player's question for its own figures",
        wanted: "LEAGUE_QUERY_RESPONSE with `data`",
        why: "Strategies learn from what was played.",
        stats
    },
    case! {
        "manager.query.state": Should, EVERY, ["RESULT-7", "LIFE-1"], "docs/protocol/league-v2.md#league_query",
        "GET_AGENT_STATE",
        sent: "a registered player's question for its own state",
        wanted: "LEAGUE_QUERY_RESPONSE with the state REGISTERED",
        why: "A suspended agent learns by it that it is.",
        state
    },
    case! {
        "manager.query.league": Should, EVERY, ["RESULT-7"], "docs/protocol/league-v2.md#league_query",
        "GET_LEAGUE",
        sent: "a registered player's question for the league",
        wanted: "LEAGUE_QUERY_RESPONSE with `data`",
        why: "Agents find out by it whether the league is over.",
        league
    },
    case! {
        "manager.query.registrations": Should, EVERY, ["RESULT-7"], "docs/protocol/league-v2.md#league_query",
        "GET_REGISTRATIONS",
        sent: "a registered player's question for who takes part",
        wanted: "LEAGUE_QUERY_RESPONSE that has the player's id",
        why: "Names belong to the ids in the schedule.",
        registrations
    },
    case! {
        "manager.query.games": Should, EVERY, ["RESULT-7"], "docs/protocol/league-v2.md#league_query",
        "GET_GAMES",
        sent: "a registered player's question for the games",
        wanted: "LEAGUE_QUERY_RESPONSE that has `even_odd`",
        why: "An agent that plays several games learns which one is played.",
        games
    },
    case! {
        "manager.query.in-time": Should, EVERY, ["RESULT-7"], "docs/protocol/league-v2.md#league_query, 002 §4.6.3",
        "How long a question takes",
        sent: "a registered player's question for the standings",
        wanted: "the answer within 1 s",
        why: "Players ask while their own time to choose is running.",
        answered_in_time
    },
    case! {
        "manager.query.unknown-type": Should, EVERY, ["RESULT-7"], "docs/protocol/league-v2.md#league_query",
        "A question that nobody knows",
        sent: "the `query_type` GET_WEATHER",
        wanted: "a refusal",
        why: "An empty answer would look like an empty league.",
        unknown_type
    },
    case! {
        "manager.query.unknown-match": Should, EVERY, ["ERR-1"], "docs/protocol/league-v2.md#error-codes",
        "A match that does not exist",
        sent: "GET_MATCH of R99M99",
        wanted: "a refusal, G003",
        why: "It tells a wrong id from a match that has not been played.",
        unknown_match
    },
    case! {
        "manager.query.unknown-player": Should, EVERY, ["ERR-1"], "docs/protocol/league-v2.md#error-codes, 000 §4",
        "A player that does not exist",
        sent: "GET_PLAYER_STATS of P9999",
        wanted: "a refusal, E013 (document 004: L004)",
        why: "It tells a wrong id from a player that has not played.",
        unknown_player
    },
    case! {
        "manager.query.private": Should, EVERY, ["AUTH-3"], "docs/protocol/proofs.md, decisions on visibility",
        "What others must not see",
        sent: "a player's question for who takes part",
        wanted: "an answer without the other's address and e-mail",
        why: "Whoever knows the address of an opponent can disturb it.",
        private
    },
    case! {
        "manager.token.missing": Should, EVERY, ["AUTH-2"], "docs/protocol/league-v2.md#envelope, 000 §7",
        "A question without a token",
        sent: "a registered player's question without `auth_token`",
        wanted: "a refusal, E011",
        why: "Every message after the registration carries the token.",
        missing
    },
    case! {
        "manager.token.wrong": Should, EVERY, ["AUTH-2"], "docs/protocol/league-v2.md#envelope, 000 §7",
        "A question with a wrong token",
        sent: "a registered player's question with a made-up token",
        wanted: "a refusal, E012",
        why: "A token that is not compared protects nobody.",
        wrong
    },
    case! {
        "manager.token.stolen": Should, EVERY, ["AUTH-2"], "001 §2.7, 000 §7",
        "A question with somebody else's token",
        sent: "one player's question with another player's token",
        wanted: "a refusal, E012",
        why: "Sender and token must belong together.",
        stolen
    },
    case! {
        "manager.token.unknown": Should, EVERY, ["AUTH-2", "ERR-1"], "docs/protocol/league-v2.md#error-codes, 000 §4",
        "A question of somebody who is not registered",
        sent: "a question from `player:P9999` with somebody's token",
        wanted: "a refusal, E005 (document 004: L004)",
        why: "It tells a wrong id from a wrong token.",
        unknown
    },
    case! {
        "manager.token.not-repeated": Should, EVERY, ["AUTH-3"], "docs/protocol/league-v2.md#answers-and-errors",
        "Tokens in errors",
        sent: "a question with a token where the time should stand",
        wanted: "an error that does not repeat the token",
        why: "Errors end up in logs, and logs are read by others.",
        not_repeated
    },
    case! {
        "manager.token.start": Should, EVERY, ["SCHED-6", "AUTH-2"], "docs/protocol/league-v2.md#start_league",
        "A player that wants to start the league",
        sent: "START_LEAGUE from a player with its own token",
        wanted: "a refusal",
        why: "Only the administrator starts a league.",
        start
    },
];

/// A player in a league that has not started.
async fn member(visit: &Visit) -> Result<Guest, Halt> {
    let league = visit.lobby().await?;
    visit.register(Kind::Player, &league).await
}

/// A player in a league that few are in: lists of many are cut.
async fn alone(visit: &Visit) -> Result<Guest, Halt> {
    let league = visit.own_lobby().await?;
    visit.register(Kind::Player, &league).await
}

/// Asks as `stamp` says.
async fn ask(visit: &Visit, guest: &Guest, stamp: &Stamp, question: Value) -> Result<Reply, Halt> {
    let mut fields = question;
    if let Some(league) = guest.me()?.league {
        merge(&mut fields, json!({"league_id": league}));
    }
    visit.say(MessageType::LeagueQuery, stamp, fields).await
}

/// The data that answers `question` of a player about itself.
async fn answer(visit: &Visit, question: &str) -> Result<(Guest, Value), Halt> {
    let guest = member(visit).await?;
    let data = answer_to(visit, &guest, question).await?;
    Ok((guest, data))
}

/// The data that answers `question` of `guest`.
async fn answer_to(visit: &Visit, guest: &Guest, question: &str) -> Result<Value, Halt> {
    let stamp = Stamp::own(Kind::Player, &guest.me()?);
    let reply = ask(visit, guest, &stamp, json!({"query_type": question})).await?;
    let message = reply.accepted(question)?;
    let name = MessageType::LeagueQueryResponse.name(visit.speech.0);
    if message["message_type"] != name {
        let sentence = format!("{question} was answered with {}", message["message_type"]);
        return Err(Halt::fail(sentence, format!("answer with {name}")));
    }
    let Some(data) = message.get("data").filter(|data| !data.is_null()) else {
        return Err(Halt::fail(
            format!("the answer to {question} has no `data`"),
            "put what was asked for into `data`",
        ));
    };
    Ok(data.clone())
}

async fn standings(visit: &Visit) -> Outcome {
    answer(visit, "GET_STANDINGS").await.map(drop)
}

async fn schedule(visit: &Visit) -> Outcome {
    answer(visit, "GET_SCHEDULE").await.map(drop)
}

async fn next_match(visit: &Visit) -> Outcome {
    let guest = member(visit).await?;
    let stamp = Stamp::own(Kind::Player, &guest.me()?);
    let reply = ask(visit, &guest, &stamp, json!({"query_type": "GET_NEXT_MATCH"})).await?;
    // Before the start there is none, which may be said as null.
    reply.accepted("GET_NEXT_MATCH").map(drop)
}

async fn stats(visit: &Visit) -> Outcome {
    answer(visit, "GET_PLAYER_STATS").await.map(drop)
}

async fn state(visit: &Visit) -> Outcome {
    let (_guest, data) = answer(visit, "GET_AGENT_STATE").await?;
    if data.to_string().contains("REGISTERED") {
        return Ok(());
    }
    let sentence = format!("the state of a player before the start is told as {data}");
    Err(Halt::fail(sentence, "tell `state` REGISTERED"))
}

async fn league(visit: &Visit) -> Outcome {
    answer(visit, "GET_LEAGUE").await.map(drop)
}

async fn registrations(visit: &Visit) -> Outcome {
    let guest = alone(visit).await?;
    let data = answer_to(visit, &guest, "GET_REGISTRATIONS").await?;
    let id = guest.me()?.id;
    if data.to_string().contains(&format!("\"{id}\"")) {
        return Ok(());
    }
    let sentence = format!("GET_REGISTRATIONS does not know {id}, which asked");
    Err(Halt::fail(sentence, "list every player"))
}

async fn games(visit: &Visit) -> Outcome {
    let (_guest, data) = answer(visit, "GET_GAMES").await?;
    if data.to_string().contains("even_odd") {
        return Ok(());
    }
    Err(Halt::fail(format!("GET_GAMES tells {data}"), "list the games by name, such as even_odd"))
}

async fn answered_in_time(visit: &Visit) -> Outcome {
    let guest = member(visit).await?;
    let mut fastest = Duration::MAX;
    for _ in 0..TIMED_TRIES {
        let stamp = Stamp::own(Kind::Player, &guest.me()?).about("timed");
        let began = Mark::set();
        let reply = ask(visit, &guest, &stamp, json!({"query_type": "GET_STANDINGS"})).await?;
        fastest = fastest.min(began.elapsed());
        let told = |halt: Halt| halt.unless_told_by("manager.query.standings");
        reply.accepted("GET_STANDINGS").map_err(told)?;
        if fastest <= HEALTH_TIME {
            break;
        }
    }
    in_time("GET_STANDINGS", fastest, HEALTH_TIME)
}

/// A question of a registered player must be refused.
async fn refused(visit: &Visit, question: Value, what: &str, codes: &[Code]) -> Outcome {
    let guest = member(visit).await?;
    let stamp = Stamp::own(Kind::Player, &guest.me()?);
    let reply = ask(visit, &guest, &stamp, question).await?;
    reply.refused_with_any(what, codes, Strict::Always)
}

async fn unknown_type(visit: &Visit) -> Outcome {
    let question = json!({"query_type": "GET_WEATHER"});
    refused(visit, question, "the question GET_WEATHER", &[Code::E003]).await
}

async fn unknown_match(visit: &Visit) -> Outcome {
    let question = json!({"query_type": "GET_MATCH", "match_id": "R99M99"});
    refused(visit, question, "GET_MATCH of R99M99", &[Code::G003]).await
}

async fn unknown_player(visit: &Visit) -> Outcome {
    let question = json!({"query_type": "GET_PLAYER_STATS", "agent_id": "P9999"});
    refused(visit, question, "GET_PLAYER_STATS of P9999", &[Code::E013]).await
}

async fn private(visit: &Visit) -> Outcome {
    let league = visit.own_lobby().await?;
    let other = visit.register(Kind::Player, &league).await?;
    let guest = visit.register(Kind::Player, &league).await?;
    let stamp = Stamp::own(Kind::Player, &guest.me()?);
    let question = json!({"query_type": "GET_REGISTRATIONS"});
    let reply = ask(visit, &guest, &stamp, question).await?;
    let text = String::from_utf8_lossy(&reply.got.body).into_owned();
    if text.contains(&other.address.to_string()) || text.contains(&other.me()?.token) {
        return Err(Halt::fail(
            "one player is told the address or token of another",
            "leave address, e-mail and token out of what players are told of each other",
        ));
    }
    Ok(())
}

/// A question for the standings with another stamp must be refused.
async fn refused_as(
    visit: &Visit,
    stamp: impl FnOnce(&mut Stamp),
    what: &str,
    code: Code,
) -> Outcome {
    let guest = member(visit).await?;
    let mut own = Stamp::own(Kind::Player, &guest.me()?);
    stamp(&mut own);
    let reply = ask(visit, &guest, &own, json!({"query_type": "GET_STANDINGS"})).await?;
    reply.refused(what, code, Strict::Always)
}

async fn missing(visit: &Visit) -> Outcome {
    let what = "a question without a token";
    refused_as(visit, |stamp| stamp.token.clear(), what, Code::E011).await
}

async fn wrong(visit: &Visit) -> Outcome {
    let token = format!("tok_player_P01_{}", "0".repeat(64));
    let what = "a question with a made-up token";
    refused_as(visit, |stamp| stamp.token = token, what, Code::E012).await
}

async fn stolen(visit: &Visit) -> Outcome {
    let league = visit.lobby().await?;
    let other = visit.register(Kind::Player, &league).await?;
    let guest = visit.register(Kind::Player, &league).await?;
    let mut stamp = Stamp::own(Kind::Player, &guest.me()?);
    stamp.token = other.me()?.token;
    let reply = ask(visit, &guest, &stamp, json!({"query_type": "GET_STANDINGS"})).await?;
    reply.refused("a question with another player's token", Code::E012, Strict::Always)
}

async fn unknown(visit: &Visit) -> Outcome {
    let what = "a question of a player that is not registered";
    refused_as(visit, |stamp| stamp.sender = "player:P9999".into(), what, Code::E005).await
}

async fn not_repeated(visit: &Visit) -> Outcome {
    let guest = member(visit).await?;
    let me = guest.me()?;
    let mut stamp = Stamp::own(Kind::Player, &me);
    stamp.timestamp = me.token.clone();
    let reply = ask(visit, &guest, &stamp, json!({"query_type": "GET_STANDINGS"})).await?;
    if String::from_utf8_lossy(&reply.got.body).contains(&me.token) {
        return Err(Halt::fail(
            "the error repeats the player's token",
            "hide every text that begins with `tok_` in what you answer",
        ));
    }
    Ok(())
}

async fn start(visit: &Visit) -> Outcome {
    let guest = member(visit).await?;
    let me = guest.me()?;
    let stamp = Stamp::own(Kind::Player, &me);
    let fields = json!({"league_id": me.league});
    let reply = visit.say(MessageType::StartLeague, &stamp, fields).await?;
    reply.refused("START_LEAGUE from a player", Code::E012, Strict::AsListed)
}
