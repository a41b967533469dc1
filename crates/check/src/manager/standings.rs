//! The table after each result, and the end of the league.

use std::sync::Arc;

use league_wire::{Code, Dialect, MessageType};
use serde_json::{Value, json};

use super::case;
use super::guest::{Call, Guest, Kind};
use super::rounds::{has_all, in_dialect};
use super::said::Strict;
use super::speech::Stamp;
use super::story::{Fixture, Story, Told};
use super::visit::Visit;
use crate::case::Case;
use crate::limits::STANDINGS_TIME;
use crate::verdict::{Halt, Outcome};

/// Dialects whose documents list the fields of LEAGUE_COMPLETED: 000.
const FIRST: &[Dialect] = &[Dialect::Flat, Dialect::Tool, Dialect::Wrapped, Dialect::Enveloped];

pub(super) const CASES: &[Case] = &[
    case! {
        "manager.standings.in-time": Must, EVERY, ["RESULT-6"], "docs/protocol/league-v2.md#league_standings_update, 002 §4.6.3",
        "Every player has the standings within 5 s of a result",
        sent: "the first result of a league",
        wanted: "LEAGUE_STANDINGS_UPDATE (document 002: STANDINGS_UPDATE) with the result, at every player, within 5 s",
        why: "Players choose by the table.",
        standings_in_time
    },
    case! {
        "manager.standings.dialect": Must, EVERY, ["WIRE-8"], "docs/protocol/dialects.md#vocabulary",
        "Standings are in the dialect of the registration",
        sent: "the first result of a league",
        wanted: "the method, type and shape of that dialect",
        why: "An agent that knows one document cannot read another one's messages.",
        dialect
    },
    case! {
        "manager.standings.win": Must, EVERY, ["RESULT-4"], "000 §3.4, 002 §4.6.3",
        "A win is 3 points, a loss none",
        sent: "the report of a win",
        wanted: "3 points and a win for the one, 0 and a loss for the other",
        why: "It is what everybody plays for.",
        win
    },
    case! {
        "manager.standings.draw": Must, EVERY, ["RESULT-4"], "000 §3.4, 002 §4.6.3",
        "A draw is one point for each",
        sent: "the report of a draw",
        wanted: "1 point for both",
        why: "It is what everybody plays for.",
        draw
    },
    case! {
        "manager.standings.once": Must, EVERY, ["RESULT-3"], "002 §4.6.2",
        "A result that is reported twice counts once",
        sent: "the same report twice, then that of the other match",
        wanted: "3 points for the winner, and one game",
        why: "A lost acknowledgement must not be worth three points.",
        once
    },
    case! {
        "manager.standings.fields": Must, EVERY, ["RESULT-5", "WIRE-7"], "docs/protocol/league-v2.md#league_standings_update",
        "A row of the table has every field that the document lists",
        sent: "the first result of a league",
        wanted: "rank, id, name, games, wins, draws, losses and points, by the document's names",
        why: "Agents written from the document look for exactly these names.",
        fields
    },
    case! {
        "manager.standings.order": Must, EVERY, ["RESULT-5"], "000 §3.4, 002 §4.6.3",
        "The table is in order",
        sent: "the first result of a league of four",
        wanted: "ranks from 1 on, points never rising",
        why: "The first row is the leader.",
        order
    },
    case! {
        "manager.standings.query": Should, EVERY, ["RESULT-6", "RESULT-7"], "docs/protocol/league-v2.md#league_query, 002 §4.6.3",
        "Who asks is told the same table",
        sent: "GET_STANDINGS after the first result",
        wanted: "3 points for the winner",
        why: "Who missed the update can ask for it.",
        query
    },
    case! {
        "manager.standings.technical": Should, EVERY, ["RESULT-4", "RESULT-8"], "docs/protocol/league-v2.md#standings, 000 §3.4",
        "A technical loss is a loss, and told apart",
        sent: "the report of a technical loss",
        wanted: "3 points for the other, and `technical_losses` 1",
        why: "Its author sees that the agent failed, and not its strategy.",
        technical
    },
    case! {
        "manager.end.completed": Must, EVERY, ["SCHED-5"], "docs/protocol/league-v2.md#league_completed, 000 §3.4",
        "Every player hears that the league is over",
        sent: "every result of a league",
        wanted: "LEAGUE_COMPLETED (document 004: the final LEAGUE_STANDINGS_UPDATE) at every player",
        why: "Agents wait for it to end themselves.",
        completed
    },
    case! {
        "manager.end.referees": Should, EVERY, ["SCHED-5"], "003 Message Types",
        "Every referee hears that the league is over",
        sent: "every result of a league",
        wanted: "LEAGUE_COMPLETED at every referee",
        why: "Referees wait for it to end themselves.",
        referees
    },
    case! {
        "manager.end.champion": Must, FIRST, ["SCHED-5", "RESULT-5"], "docs/protocol/league-v2.md#league_completed, 000 §3.4",
        "The champion is who won most",
        sent: "a league of two in which the first player wins",
        wanted: "`champion` is that player, with 3 points, and leads `final_standings`",
        why: "It is what everybody plays for.",
        champion
    },
    case! {
        "manager.end.totals": Must, FIRST, ["SCHED-5"], "docs/protocol/league-v2.md#league_completed, 000 §3.4",
        "The end counts rounds and matches",
        sent: "every result of a league of four",
        wanted: "`total_rounds` 3 and `total_matches` 6",
        why: "A player sees whether it missed one.",
        totals
    },
    case! {
        "manager.end.query": Should, EVERY, ["RESULT-7", "AUTH-4"], "docs/protocol/league-v2.md#agents",
        "After the end everybody may still ask",
        sent: "GET_STANDINGS when the league is over",
        wanted: "LEAGUE_QUERY_RESPONSE",
        why: "Who missed the end can ask for it.",
        end_query
    },
    case! {
        "manager.end.closed": Should, EVERY, ["AUTH-4", "RESULT-3"], "docs/protocol/league-v2.md#match_result_report",
        "After the end no result is changed",
        sent: "a different report of the last match when the league is over",
        wanted: "a refusal",
        why: "The champion has been named.",
        closed
    },
];

/// A league of four of which `told` is the first result.
async fn scene(visit: &Visit, told: &Told) -> Result<(Story, Fixture), Halt> {
    let story = Story::begin(visit, 4, 1).await?;
    let fixtures = story.fixtures(1).await?;
    let Some(first) = fixtures.first().cloned() else {
        return Err(Halt::skip("what it builds on fails: see manager.round.fields"));
    };
    let other = |halt: Halt| halt.unless_told_by("manager.report.accepted");
    let reply = story.report(&first, told).await.map_err(other)?;
    reply.accepted("a result").map_err(other)?;
    Ok((story, first))
}

/// The row of a player in a table.
fn row<'a>(message: &'a Value, id: &str) -> Option<&'a Value> {
    message["standings"].as_array()?.iter().find(|row| row["player_id"] == json!(id))
}

/// How many games a row counts, whichever document names them.
fn games(row: &Value) -> Option<u64> {
    row["played"].as_u64().or_else(|| row["games_played"].as_u64())
}

/// Whether a call is a table in which `id` has played.
fn counts(call: &Call, id: &str) -> bool {
    let is_table = call.kind == Some(MessageType::LeagueStandingsUpdate);
    // Where no games are counted, points tell.
    let has_played = |row: &Value| {
        games(row).map_or_else(|| row["points"].as_u64() > Some(0), |games| games > 0)
    };
    is_table && row(&call.message, id).is_some_and(has_played)
}

/// The table with the result of `fixture`, as `guest` is told it.
async fn table(visit: &Visit, guest: &Guest, fixture: &Fixture) -> Result<Arc<Call>, Halt> {
    let heard = guest.wait(STANDINGS_TIME, |call| counts(call, &fixture.a)).await;
    heard.ok_or_else(|| {
        let id = guest.me().map(|me| me.id).unwrap_or_default();
        let name = MessageType::LeagueStandingsUpdate.name(visit.speech.0);
        let match_id = &fixture.id;
        Halt::fail(
            format!("{id} had no {name} with the result of {match_id} within 5 s"),
            format!("send {name} to every player after each result"),
        )
    })
}

async fn told_table(visit: &Visit, told: &Told) -> Result<(Story, Fixture, Arc<Call>), Halt> {
    let (story, fixture) = scene(visit, told).await?;
    let other = |halt: Halt| halt.unless_told_by("manager.standings.in-time");
    let call = table(visit, &story.players[0], &fixture).await.map_err(other)?;
    Ok((story, fixture, call))
}

async fn standings_in_time(visit: &Visit) -> Outcome {
    let (story, fixture) = scene(visit, &Told::WIN).await?;
    for player in &story.players {
        table(visit, player, &fixture).await?;
    }
    Ok(())
}

async fn dialect(visit: &Visit) -> Outcome {
    let (_story, _, call) = told_table(visit, &Told::WIN).await?;
    in_dialect(&call, visit.speech.0)
}

/// A player's points, and one of its counts, must be these.
fn expect(message: &Value, id: &str, points: u64, counts: &[(&str, u64)]) -> Outcome {
    let row = row(message, id).cloned().unwrap_or(Value::Null);
    let mut wanted = vec![("points", points)];
    wanted.extend_from_slice(counts);
    for (name, value) in wanted {
        if row[name] != json!(value) && !(name != "points" && row[name].is_null()) {
            let mut right = row.clone();
            right[name] = json!(value);
            return Err(Halt::fail_with(
                format!("{id} has `{name}` {}, expected {value}", row[name]),
                "count again: a win is 3 points, a draw 1 for each, a loss none",
                right.to_string(),
            ));
        }
    }
    Ok(())
}

async fn win(visit: &Visit) -> Outcome {
    let (_story, fixture, call) = told_table(visit, &Told::WIN).await?;
    expect(&call.message, &fixture.a, 3, &[("wins", 1), ("losses", 0)])?;
    expect(&call.message, &fixture.b, 0, &[("wins", 0), ("losses", 1)])
}

async fn draw(visit: &Visit) -> Outcome {
    let (_story, fixture, call) = told_table(visit, &Told::DRAW).await?;
    for id in [&fixture.a, &fixture.b] {
        expect(&call.message, id, 1, &[("draws", 1), ("ties", 1), ("wins", 0)])?;
    }
    Ok(())
}

async fn once(visit: &Visit) -> Outcome {
    let (story, first, before) = told_table(visit, &Told::WIN).await?;
    // Whether it is acknowledged is told by another case.
    story.report(&first, &Told::WIN).await?;
    let fixtures = story.fixtures(1).await?;
    let Some(second) = fixtures.get(1) else {
        return Err(Halt::skip("what it builds on fails: see manager.round.pairs"));
    };
    story.settle(second).await?;
    let both = |call: &Call| counts(call, &first.a) && counts(call, &second.a);
    let heard = story.players[0].wait(STANDINGS_TIME, both).await;
    let Some(after) = heard else {
        return Err(Halt::skip("what it builds on fails: see manager.standings.in-time"));
    };
    let told = |call: &Call| {
        let row = row(&call.message, &first.a).cloned().unwrap_or(Value::Null);
        (row["points"].clone(), games(&row))
    };
    if told(&before) == told(&after) {
        return Ok(());
    }
    let (points, games) = told(&after);
    let sentence = format!("after the same report twice {} has {points} points", first.a);
    let change = format!("count each match once; it has played {} game", games.unwrap_or(1).min(1));
    Err(Halt::fail(sentence, change))
}

async fn fields(visit: &Visit) -> Outcome {
    let (_story, fixture, call) = told_table(visit, &Told::WIN).await?;
    let names: &[&str] = match visit.speech.0 {
        Dialect::Flat | Dialect::Tool | Dialect::Wrapped | Dialect::Enveloped => {
            let first = ["rank", "player_id", "display_name", "played", "wins"];
            &[first[0], first[1], first[2], first[3], first[4], "draws", "losses", "points"]
        }
        Dialect::V21 => &[
            "rank",
            "player_id",
            "display_name",
            "wins",
            "losses",
            "ties",
            "points",
            "games_played",
            "win_rate",
        ],
        Dialect::Typed | Dialect::Payload => &["player_id", "points"],
    };
    let row = row(&call.message, &fixture.a).cloned().unwrap_or(Value::Null);
    has_all(&row, names, "a row of the standings")
}

async fn order(visit: &Visit) -> Outcome {
    let (_story, _, call) = told_table(visit, &Told::WIN).await?;
    in_order(&call.message["standings"])
}

fn in_order(table: &Value) -> Outcome {
    let rows = table.as_array().cloned().unwrap_or_default();
    let points: Vec<u64> = rows.iter().filter_map(|row| row["points"].as_u64()).collect();
    let ranks: Vec<u64> = rows.iter().filter_map(|row| row["rank"].as_u64()).collect();
    let falls = points.is_sorted_by(|one, next| one >= next);
    let counts = ranks.first().is_none_or(|first| *first == 1) && ranks.is_sorted();
    if falls && counts && !rows.is_empty() {
        return Ok(());
    }
    Err(Halt::fail(
        format!("the rows of the table have the ranks {ranks:?} and the points {points:?}"),
        "sort the table by points, most first, and count ranks from 1",
    ))
}

/// Asks for the standings as the first player.
async fn asked(story: &Story) -> Result<super::said::Reply, Halt> {
    let me = story.players[0].me()?;
    let stamp = Stamp::own(Kind::Player, &me);
    let fields = json!({"query_type": "GET_STANDINGS", "league_id": me.league});
    story.visit.say(MessageType::LeagueQuery, &stamp, fields).await
}

async fn query(visit: &Visit) -> Outcome {
    let (story, fixture) = scene(visit, &Told::WIN).await?;
    let told = |halt: Halt| halt.unless_told_by("manager.query.standings");
    let message = asked(&story).await?.accepted("GET_STANDINGS").map_err(told)?;
    expect(&message["data"], &fixture.a, 3, &[("wins", 1)])
}

async fn technical(visit: &Visit) -> Outcome {
    let story = Story::begin(visit, 4, 1).await?;
    let fixtures = story.fixtures(1).await?;
    let Some(fixture) = fixtures.first() else {
        return Err(Halt::skip("what it builds on fails: see manager.round.fields"));
    };
    let Fixture { id, round, a, b, referee } = fixture;
    let fields = json!({
        "league_id": story.league.id, "round_id": round, "match_id": id, "game_type": "even_odd",
        "result": {
            "status": "TECHNICAL_LOSS", "winner": a, "score": {a: 3, b: 0},
            "technical_losers": [b], "reason": "no answer in time",
            "details": {"drawn_number": null, "choices": {a: null, b: null}},
        },
    });
    let stamp = Stamp::own(Kind::Referee, &story.referees[*referee].me()?);
    let reply = story.visit.say(MessageType::MatchResultReport, &stamp, fields).await?;
    reply.accepted("the report of a technical loss")?;
    let other = |halt: Halt| halt.unless_told_by("manager.standings.in-time");
    let call = table(visit, &story.players[0], fixture).await.map_err(other)?;
    expect(&call.message, a, 3, &[("wins", 1)])?;
    let row = row(&call.message, b).cloned().unwrap_or(Value::Null);
    has_all(&row, &["losses", "technical_losses"], "the row of who lost technically")?;
    expect(&call.message, b, 0, &[("losses", 1), ("technical_losses", 1)])
}

/// A league of two that is over, and its match.
async fn over(visit: &Visit) -> Result<(Story, Fixture), Halt> {
    let story = Story::begin(visit, 2, 1).await?;
    let all = story.settle_all().await?;
    let last = all.last().cloned();
    let last = last.ok_or_else(|| Halt::skip("what it builds on fails: see manager.round.fields"));
    Ok((story, last?))
}

async fn completed(visit: &Visit) -> Outcome {
    let (story, _) = over(visit).await?;
    for player in &story.players {
        story.hears(player, MessageType::LeagueCompleted, |_| true).await?;
    }
    Ok(())
}

async fn referees(visit: &Visit) -> Outcome {
    let (story, _) = over(visit).await?;
    story.hears(&story.referees[0], MessageType::LeagueCompleted, |_| true).await.map(drop)
}

async fn ended(story: &Story) -> Result<Arc<Call>, Halt> {
    let told = |halt: Halt| halt.unless_told_by("manager.end.completed");
    let heard = story.hears(&story.players[0], MessageType::LeagueCompleted, |_| true).await;
    heard.map_err(told)
}

async fn champion(visit: &Visit) -> Outcome {
    let (story, fixture) = over(visit).await?;
    let call = ended(&story).await?;
    let (champion, table) = (&call.message["champion"], &call.message["final_standings"]);
    let is_right = champion["player_id"] == json!(fixture.a) && champion["points"] == json!(3);
    if !is_right {
        let right = json!({"champion": {"player_id": fixture.a, "points": 3}}).to_string();
        let sentence = format!("the champion is told as {champion}");
        return Err(Halt::fail_with(sentence, "name who leads the table", right));
    }
    if table[0]["player_id"] != json!(fixture.a) {
        let sentence = format!("`final_standings` begins with {}", table[0]);
        return Err(Halt::fail(sentence, "put the champion first"));
    }
    in_order(table)
}

async fn totals(visit: &Visit) -> Outcome {
    let story = Story::begin(visit, 4, 1).await?;
    story.settle_all().await?;
    let call = ended(&story).await?;
    super::envelope::equal(&call.message, "total_rounds", &json!(3))?;
    super::envelope::equal(&call.message, "total_matches", &json!(6))
}

async fn end_query(visit: &Visit) -> Outcome {
    let (story, _) = over(visit).await?;
    ended(&story).await?;
    asked(&story).await?.accepted("GET_STANDINGS after the end").map(drop)
}

async fn closed(visit: &Visit) -> Outcome {
    let (story, fixture) = over(visit).await?;
    ended(&story).await?;
    let reply = story.report(&fixture, &Told::OTHER).await?;
    reply.refused("a different report after the end", Code::E032, Strict::AsListed)
}
