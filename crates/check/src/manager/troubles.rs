//! Agents that are away, silent, confused or replaced: nobody else may suffer from it.

use league_wire::MessageType;

use super::case;
use super::guest::{Call, Kind, Manner};
use super::speech::Stamp;
use super::story::Story;
use super::visit::Visit;
use crate::case::Case;
use crate::limits::{AWAY_TIME, NEWS_TIME};
use crate::verdict::{Halt, Outcome};

pub(super) const CASES: &[Case] = &[
    case! {
        "manager.trouble.away": Must, EVERY, ["ERR-3"], "docs/protocol/league-v2.md#timing, 000 §6",
        "Who is away for a moment hears it later",
        sent: "nothing: a player's port is closed when the league begins, and open half a second later",
        wanted: "ROUND_ANNOUNCEMENT at that player all the same",
        why: "E009 is retried: an agent that restarts must not miss its league.",
        away
    },
    case! {
        "manager.trouble.silent": Must, EVERY, ["ERR-5", "ARCH-3"], "docs/protocol/league-v2.md#timing",
        "Who is silent delays nobody",
        sent: "nothing: one player takes calls and never answers",
        wanted: "ROUND_ANNOUNCEMENT and the standings at all others in time",
        why: "One broken agent must not stop the league of all others.",
        silent
    },
    case! {
        "manager.trouble.garbage": Must, EVERY, ["ERR-5"], "docs/protocol/league-v2.md#frames",
        "Who answers nonsense stops nothing",
        sent: "HTML as the answer to an announcement",
        wanted: "the league goes on to its end",
        why: "An answer to what is only told does not matter.",
        garbage
    },
    case! {
        "manager.trouble.refuses": Should, EVERY, ["ERR-5"], "docs/protocol/league-v2.md#answers-and-errors",
        "Who answers with errors is not charged",
        sent: "a JSON-RPC error as the answer to everything",
        wanted: "the league goes on to its end",
        why: "Many agents know only the calls of their matches.",
        refuses
    },
    case! {
        "manager.trouble.moved": Should, EVERY, ["REG-6"], "docs/protocol/league-v2.md#league_register_request",
        "News follow a player that moved",
        sent: "a registration with the player's own token from another port, in a league that runs",
        wanted: "the next news at the new address",
        why: "An agent that crashed can come back on another port.",
        moved
    },
    case! {
        "manager.trouble.referee": Should, EVERY, ["ERR-6"], "docs/protocol/league-v2.md#start_match",
        "A match that its referee refuses goes to another one",
        sent: "an error as the answer to START_MATCH",
        wanted: "START_MATCH of the same match at the other referee",
        why: "A match must not be lost because a referee is.",
        referee
    },
];

/// A failure, unless the same fails where everybody behaves, which `case` tells.
async fn unless_always(
    outcome: Outcome,
    control: impl Future<Output = Outcome>,
    case: &str,
) -> Outcome {
    match outcome {
        Err(Halt::Fail(finding)) if control.await.is_ok() => Err(Halt::Fail(finding)),
        Err(halt @ Halt::Fail(_)) => Err(halt.unless_told_by(case)),
        other @ (Ok(()) | Err(Halt::Skip(_) | Halt::Ours(_))) => other,
    }
}

async fn away(visit: &Visit) -> Outcome {
    let mut story = Story::prepare(visit, 2, 1).await?;
    story.add_player().await?;
    story.players[0].leave().await;
    visit.transcript.note("the first player's port is closed");
    story.add_player().await?;
    tokio::time::sleep(AWAY_TIME).await;
    story.players[0].come_back().await?;
    visit.transcript.note("the first player's port is open again");
    let outcome = match story.announced(&story.players[0], 1).await {
        Ok(_) => Ok(()),
        Err(Halt::Fail(_)) => Err(Halt::fail(
            "a player whose port was closed for half a second never heard of the round",
            "try again after a connection error: after 2 s, or after 1, 2 and 4 s",
        )),
        Err(halt @ (Halt::Skip(_) | Halt::Ours(_))) => Err(halt),
    };
    unless_always(outcome, announced_to(visit, 2), "manager.round.announced").await
}

/// Whether everybody but the first of that many players, all of whom behave, hears of a round.
async fn announced_to(visit: &Visit, players: u32) -> Outcome {
    let story = Story::begin(visit, players, 1).await?;
    for player in &story.players[1..] {
        story.announced(player, 1).await?;
    }
    Ok(())
}

async fn silent(visit: &Visit) -> Outcome {
    let mut story = Story::prepare(visit, 4, 1).await?;
    story.add_player().await?;
    story.players[0].behave(Manner::Silent);
    visit.transcript.note("the first player takes calls and never answers");
    for _ in 0..3 {
        story.add_player().await?;
    }
    let others = &story.players[1..];
    for player in others {
        let heard = story.announced(player, 1).await.map(drop);
        unless_always(heard, announced_to(visit, 4), "manager.round.announced").await?;
    }
    story.settle_round(1).await?;
    for player in others {
        let heard = story.hears(player, MessageType::LeagueStandingsUpdate, |_| true).await;
        unless_always(heard.map(drop), table_to(visit), "manager.standings.in-time").await?;
    }
    Ok(())
}

/// Whether everybody but the first of four players, all of whom behave, hears of the standings.
async fn table_to(visit: &Visit) -> Outcome {
    let story = Story::begin(visit, 4, 1).await?;
    story.settle_round(1).await?;
    for player in &story.players[1..] {
        story.hears(player, MessageType::LeagueStandingsUpdate, |_| true).await?;
    }
    Ok(())
}

/// A league of two in which everybody answers in `manner` must come to its end.
async fn goes_on(visit: &Visit, manner: Manner) -> Outcome {
    let mut story = Story::prepare(visit, 2, 1).await?;
    for _ in 0..2 {
        let player = visit.guest(Kind::Player).await?;
        player.behave(manner);
        story.visit.register_guest(&player, &story.league).await?;
        story.players.push(player);
    }
    story.settle_all().await?;
    let outcome = match story.players[1].hears(MessageType::LeagueCompleted, NEWS_TIME).await {
        Some(_) => Ok(()),
        None => Err(Halt::fail(
            "who answers like this does not hear that the league is over",
            "note what is answered to announcements and standings, and go on whatever it is",
        )),
    };
    unless_always(outcome, ends(visit), "manager.end.completed").await
}

/// Whether players that behave hear that the league is over.
async fn ends(visit: &Visit) -> Outcome {
    let story = Story::begin(visit, 2, 1).await?;
    story.settle_all().await?;
    story.hears(&story.players[1], MessageType::LeagueCompleted, |_| true).await.map(drop)
}

async fn garbage(visit: &Visit) -> Outcome {
    goes_on(visit, Manner::Garbage).await
}

async fn refuses(visit: &Visit) -> Outcome {
    goes_on(visit, Manner::Refuses).await
}

async fn moved(visit: &Visit) -> Outcome {
    let story = Story::begin(visit, 2, 1).await?;
    let fixtures = story.fixtures(1).await?;
    let old = &story.players[0];
    let me = old.me()?;
    old.leave().await;
    visit.transcript.note("the first player's port is closed; it registers again from another one");
    let new = visit.guest(Kind::Player).await?;
    let stamp = Stamp::own(Kind::Player, &me);
    let request = visit.application_as(&new, &story.league, &stamp);
    let reply = story.visit.send(&request).await?;
    let told = |halt: Halt| halt.unless_told_by("manager.place.moved");
    reply.accepted("a player that comes back from another port").map_err(told)?;
    new.assume(me);
    for fixture in &fixtures {
        story.settle(fixture).await?;
    }
    let heard = story.hears(&new, MessageType::LeagueCompleted, |_| true).await.map(drop);
    unless_always(heard, ends(visit), "manager.end.completed").await
}

async fn referee(visit: &Visit) -> Outcome {
    let mut story = Story::prepare(visit, 2, 2).await?;
    story.referees.iter().for_each(|referee| referee.behave(Manner::Refuses));
    story.add_player().await?;
    story.add_player().await?;
    let first = story.fixtures(1).await?;
    let Some(fixture) = first.first() else {
        return Err(Halt::skip("what it builds on fails: see manager.round.fields"));
    };
    let (has_it, other) = (fixture.referee, 1 - fixture.referee);
    story.referees[other].behave(Manner::Usual);
    let told = |halt: Halt| halt.unless_told_by("manager.round.order-to-referee");
    story.hears(&story.referees[has_it], MessageType::StartMatch, |_| true).await.map_err(told)?;
    let is_it = |call: &Call| call.text("match_id") == fixture.id;
    story.hears(&story.referees[other], MessageType::StartMatch, is_it).await.map(drop)
}
