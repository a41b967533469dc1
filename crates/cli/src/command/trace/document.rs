//! The record for programs: one JSON document.

use league_core::game::{Move, Turn};
use league_core::manager::Recorded;
use league_core::seat::Seat;
use league_core::verdict::Verdict;
use league_server::record::{
    Exchanged, Found, Kept, LeagueRecord, MatchRecord, Ordered, Post, Reshaped, Transcript, Way,
};
use league_wire::iso;
use serde_json::{Value, json};

use super::Told;

/// Every match with its result.
pub(super) fn list(league: &LeagueRecord, matches: &[&MatchRecord]) -> Value {
    let matches: Vec<_> = matches.iter().copied().map(summary).collect();
    json!({
        "league_id": league.id.as_str(),
        "completed": league.completed,
        "matches": matches,
        "orders": league.orders.iter().map(order).collect::<Vec<_>>(),
    })
}

/// The matches with everything that was said in them.
pub(super) fn matches(
    league: &LeagueRecord,
    told: &[Told<'_>],
    post: &Post,
    agent: Option<&str>,
) -> Value {
    let matches = told.iter().map(|Told { record, found, is_whole }| {
        let mut value = summary(record);
        let (state, transcript) = transcript(found, agent);
        value["transcript"] = json!(state);
        value["trace"] = transcript;
        value["epilogue"] = json!(if *is_whole { "recorded" } else { "not available" });
        value
    });
    let matches: Vec<_> = matches.collect();
    json!({
        "league_id": league.id.as_str(),
        "completed": league.completed,
        "matches": matches,
        "orders": super::concerning(league, told, agent).into_iter().map(order).collect::<Vec<_>>(),
        "shapes": super::reshaped(league, told, agent).into_iter().map(shape).collect::<Vec<_>>(),
        "letters": post.letters.iter().map(letter).collect::<Vec<_>>(),
        "letters_dropped": post.dropped,
        "letters_unreadable": post.unreadable,
    })
}

/// An agent that is spoken to in another shape.
fn shape(change: &Reshaped) -> Value {
    json!({
        "at": iso::format(change.at),
        "agent": change.agent.to_string(),
        "before": &*change.before,
        "now": &*change.now,
    })
}

/// What the administrator ordered.
fn order(ordered: &Ordered) -> Value {
    json!({
        "at": iso::format(ordered.at),
        "by": "administrator",
        "order": ordered.word(),
        "about": ordered.about(),
        "reason": &*ordered.reason,
    })
}

/// A letter and its answer, as the manager saw them.
fn letter(letter: &Exchanged) -> Value {
    let direction = match letter.way {
        Way::Came => "received",
        Way::Went => "sent",
        Way::Told => "told",
    };
    json!({
        "at": iso::format(letter.at),
        "direction": direction,
        "peer": letter.peer,
        "name": letter.name,
        "conversation": letter.conversation,
        "match_id": letter.match_id,
        "dialect": letter.dialect,
        "bytes": letter.bytes,
        "body": letter.body.as_deref().map(body),
        "took_us": letter.took_us,
        "status": letter.status,
        "answer": letter.answer_name,
        "answer_bytes": letter.answer_bytes,
        "answer_body": letter.answer.as_deref().map(body),
        "wrong": letter.wrong,
    })
}

/// A body as JSON if it is some, else as text.
fn body(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| json!(text))
}

fn summary(record: &MatchRecord) -> Value {
    let recorded = record.result.as_ref().map(|(_, _, recorded)| recorded);
    let pairing = record.pairing;
    let player = |seat| pairing.player(seat).to_string();
    let verdict = record.decided.as_ref().map(|(_, verdict, _)| *verdict);
    let losers = verdict.map_or_else(Vec::new, |verdict| losers(record, verdict));
    let remark = |(at, text): &(_, String)| json!({ "at": iso::format(*at), "text": text });
    json!({
        "match_id": record.match_id.to_string(),
        "players": [player(Seat::A), player(Seat::B)],
        "referee_id": record.referee.to_string(),
        "result": verdict.map(word),
        "winner": verdict.and_then(Verdict::winner).map(player),
        "technical_losers": losers,
        "reason": record.decided.as_ref().map(|(_, _, reason)| reason.to_string()),
        "attempt": recorded.map(|recorded| recorded.attempt),
        "conversation": recorded.map(|recorded| recorded.conversation.to_string()),
        "moves": recorded.map(|recorded| moves(record, recorded)),
        "evidence": recorded.map(|recorded| evidence(record, recorded)),
        "recorded_at": record.decided.as_ref().map(|(at, ..)| iso::format(*at)),
        "remarks": record.remarks.iter().map(remark).collect::<Vec<_>>(),
        "transcript": match record.kept {
            Kept::Whole => "recorded",
            Kept::Expired => "expired",
            Kept::Nothing => "not available",
        },
    })
}

fn losers(record: &MatchRecord, verdict: Verdict) -> Vec<String> {
    let lost = Seat::BOTH.into_iter().filter(|seat| verdict.lost_technically(*seat));
    lost.map(|seat| record.pairing.player(seat).to_string()).collect()
}

const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Won(_) => "win",
        Verdict::Drawn => "draw",
        Verdict::TechnicalLoss(_) | Verdict::BothLost => "technical_loss",
        Verdict::Cancelled => "cancelled",
    }
}

fn moves(record: &MatchRecord, recorded: &Recorded) -> Vec<Value> {
    let made = |seat: Seat, made: &Option<Move>| {
        let made = made.as_ref()?;
        let value = match made {
            Move::Word(word) => json!(word.to_string()),
            Move::Number(number) => json!(number),
        };
        Some(json!({ "player": record.pairing.player(seat).to_string(), "move": value }))
    };
    let mut all = vec![];
    for turn in &recorded.turns {
        match turn {
            Turn::Moves(moves) => all.extend(moves.iter().filter_map(|(s, m)| made(s, m))),
            Turn::Drawn(number) => all.push(json!({ "drawn": number })),
        }
    }
    all.extend(recorded.stranded.iter().filter_map(|(seat, m)| made(seat, m)));
    all
}

/// What is known about the draw and about each side's last move.
fn evidence(record: &MatchRecord, recorded: &Recorded) -> Value {
    let (a, b) = (record.pairing.a.to_string(), record.pairing.b.to_string());
    let choices = json!({ a: recorded.choices.a.word(), b: recorded.choices.b.word() });
    json!({ "draw": recorded.draw.word(), "choices": choices })
}

/// Whether there is a transcript, and it.
fn transcript(found: &Found, agent: Option<&str>) -> (&'static str, Value) {
    match found {
        Found::None => ("not available", Value::Null),
        Found::Expired => ("expired", Value::Null),
        Found::Ours(transcript) => ("recorded", concerning(transcript, agent)),
        Found::Foreign(json) => {
            ("foreign", serde_json::from_str(json).unwrap_or_else(|_| json!(json)))
        }
        Found::Unreadable(why) => ("not readable", json!(why)),
    }
}

/// The transcript, without what was said between the referee and others than `agent`.
fn concerning(transcript: &Transcript, agent: Option<&str>) -> Value {
    let mut value = serde_json::to_value(transcript).unwrap_or_default();
    let is_player = transcript.players.iter().any(|party| Some(party.player.as_str()) == agent);
    if let Some(entries) = value["entries"].as_array_mut()
        && is_player
    {
        entries.retain(|entry| entry["peer"].is_null() || entry["peer"].as_str() == agent);
    }
    value
}
