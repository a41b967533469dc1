//! One match as its players may read it once it is over.

use std::path::Path;

use league_core::id::{LeagueId, MatchId};
use league_core::seat::Seat;
use league_core::verdict::Verdict;
use league_wire::iso;
use serde_json::{Value, json};

use super::{Found, LeagueRecord};
use crate::journal::sqlite::SqliteView;

/// What the record in `data` has of a match; nothing if it cannot be read.
pub fn recall(data: &Path, league: &LeagueId, match_id: MatchId) -> Option<Value> {
    let view = SqliteView::open(data).ok()?;
    let league = LeagueRecord::read(&view, league).ok()?;
    let record = league.matches.get(&match_id)?;
    let (transcript, note) = match league.transcript(&view, record).ok()? {
        Found::Ours(transcript) => (serde_json::to_value(&transcript).ok()?, Value::Null),
        Found::None => (Value::Null, json!("transcript not available")),
        Found::Expired => (Value::Null, json!("transcript expired")),
        Found::Foreign(text) => (serde_json::from_str(&text).ok()?, json!("in another form")),
        Found::Unreadable(text) => (Value::Null, json!(text)),
    };
    let player = |seat| {
        let id = record.pairing.player(seat).to_string();
        let name = league.names.get(&id).map_or("", String::as_str);
        format!("{id} {name}")
    };
    let result = record.decided.as_ref().map(|(_, verdict, _)| match *verdict {
        Verdict::Won(seat) => format!("{} won", record.pairing.player(seat)),
        Verdict::Drawn => "draw".into(),
        Verdict::TechnicalLoss(seat) => {
            format!("{} lost technically", record.pairing.player(seat))
        }
        Verdict::BothLost => "both lost technically".into(),
        Verdict::Cancelled => "cancelled".into(),
    });
    let found = league.reshaped_in(record).map(|change| (change.at, change.told()));
    let mut remarks: Vec<_> = record.remarks.iter().cloned().chain(found).collect();
    remarks.sort_by_key(|(at, _)| *at);
    let remark = |(at, text): &(_, String)| json!({"at": iso::format(*at), "text": text});
    let remarks: Vec<Value> = remarks.iter().map(remark).collect();
    Some(json!({
        "league_id": league.id.as_str(),
        "match_id": match_id.to_string(),
        "players": [player(Seat::A), player(Seat::B)],
        "referee_id": record.referee.to_string(),
        "result": result,
        "reason": record.decided.as_ref().map(|(_, _, reason)| reason),
        "remarks": remarks,
        "transcript": transcript,
        "note": note,
    }))
}
