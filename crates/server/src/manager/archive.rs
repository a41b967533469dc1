//! What was said in a match, for its players once it is over, and for the administrator.

use std::sync::Arc;

use league_agent::endpoint::{Answer, Posted};
use league_core::id::{AgentId, LeagueId, MatchId};
use league_core::seat::Seat;
use serde_json::{Value, json};

use super::{Manager, Stub};

/// Reads the record of a match.
pub type Archive = Arc<dyn Fn(&LeagueId, MatchId) -> Option<Value> + Send + Sync>;

/// Answers `POST /api/v1/leagues/{league}/matches/{match}/trace`; `None` if that is not the place.
pub(super) async fn answer(manager: &Manager, posted: &Posted<'_>) -> Option<Answer> {
    let rest = posted.path.strip_prefix("/api/v1/leagues/")?;
    let (league, rest) = rest.split_once('/')?;
    let name = rest.strip_prefix("matches/")?.strip_suffix("/trace")?;
    let outcome = tell(manager, (league, name), posted.bearer).await;
    Some(match outcome {
        Ok(document) => Answer::json(format!("{document}\n")),
        Err((status, text)) => {
            Answer::json_with_status(status, format!("{}\n", json!({"error": text})))
        }
    })
}

type No = (u16, &'static str);

async fn tell(
    manager: &Manager,
    (league, name): (&str, &str),
    bearer: Option<&str>,
) -> Result<Value, No> {
    let unknown = (404, "there is no such match");
    let league: LeagueId = league.parse().map_err(|_| unknown)?;
    let match_id: MatchId = name.parse().map_err(|_| unknown)?;
    let bearer = bearer.ok_or((401, "expected the token of a player: Authorization: Bearer …"))?;
    let stub = manager.leagues().find(&league).ok_or(unknown)?;
    let record = stub.published().league.match_record(match_id).ok_or(unknown)?;
    let is_theirs = Seat::BOTH.into_iter().any(|seat| {
        let player = AgentId::Player(record.pairing.player(seat));
        is_token_of(manager, &stub, player, bearer)
    });
    if !is_theirs && !manager.is_administrator(bearer) {
        return Err((403, "this is told to the players of the match and to the administrator"));
    }
    if record.filed.is_none() {
        return Err((409, "the match is not over: until then only its referee knows"));
    }
    let archive = manager.archive().ok_or((404, "this manager keeps no record"))?;
    // Reading takes a while, and few need it at once.
    let busy = (503, "others read the record just now; ask again");
    let _place = manager.readers().try_acquire().map_err(|_| busy)?;
    let read = tokio::task::spawn_blocking(move || archive(&league, match_id)).await;
    read.ok().flatten().ok_or((503, "the record cannot be read just now"))
}

fn is_token_of(manager: &Manager, stub: &Stub, agent: AgentId, shown: &str) -> bool {
    let nonce = match agent {
        AgentId::Player(id) => stub.published().league.player(id).map(|player| player.nonce),
        AgentId::Referee(_) => None,
    };
    nonce.is_some_and(|nonce| manager.token(stub, agent, &nonce).matches(shown))
}
