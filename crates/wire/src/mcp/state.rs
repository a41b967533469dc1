//! What agents other than the manager are asked about themselves: a referee how a match stands, a
//! player how it stands itself. Asked for by name, or as a tool.

use std::borrow::Cow;

use league_core::id::{GameType, LeagueId, MatchId, PlayerId, RoundId};
use league_core::seat::Seats;

use super::{ToolCall, params, write_answer};
use crate::code::Code;
use crate::decode::DecodeError;
use crate::frame::{Request, write_error, write_result};
use crate::message::CALL_TOOL;
use crate::word::MatchState;
use crate::write::Object;

/// Somebody asks how something stands.
#[derive(Debug)]
pub struct StateCall<'a> {
    request: &'a Request<'a>,
    /// About what, or what is wrong with the question.
    pub about: Result<StateQuery, DecodeError>,
}

/// What somebody asks about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateQuery {
    /// `get_match_state`, of a referee.
    Match(MatchId),
    /// `get_player_state`, of a player.
    Player,
}

/// How a match stands, as anybody may know before it is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchStanding {
    /// The match.
    pub match_id: MatchId,
    /// Its round.
    pub round_id: RoundId,
    /// Which attempt at it.
    pub attempt: u32,
    /// The game.
    pub game_type: GameType,
    /// Who plays.
    pub players: Seats<PlayerId>,
    /// Where it is.
    pub state: MatchState,
}

/// How a player stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlayerStanding {
    /// Who it is and where it plays, once it is registered.
    pub place: Option<(PlayerId, LeagueId)>,
    /// Whether its league is over.
    pub is_over: bool,
    /// Matches that are over.
    pub matches_played: u32,
    /// Matches that it was invited to and that are not over.
    pub open_matches: Vec<MatchId>,
}

impl<'a> StateCall<'a> {
    /// `None` if `request` asks for something else.
    pub fn of(request: &'a Request<'a>) -> Option<Self> {
        let name: Cow<'_, str> = match &*request.method {
            CALL_TOOL => params(request)?.required("name").ok()?,
            method => method.into(),
        };
        let about = match &*name {
            "get_match_state" | "GET_MATCH_STATE" => match_asked(request),
            "get_player_state" | "GET_PLAYER_STATE" => Ok(StateQuery::Player),
            _ => return None,
        };
        Some(Self { request, about })
    }

    /// The answer about a match.
    pub fn of_match(&self, standing: &MatchStanding) -> Vec<u8> {
        self.answer(|o| {
            o.field("match_id", &standing.match_id);
            o.field("round_id", &standing.round_id);
            o.field("attempt", &standing.attempt);
            o.field("game_type", &standing.game_type);
            o.field("player_A_id", &standing.players.a);
            o.field("player_B_id", &standing.players.b);
            o.state("game_state", Some(standing.state));
        })
    }

    /// The answer about a player.
    pub fn of_player(&self, standing: &PlayerStanding) -> Vec<u8> {
        let state = match (&standing.place, standing.is_over) {
            (None, _) => "INIT",
            (Some(_), false) => "REGISTERED",
            (Some(_), true) => "SHUTDOWN",
        };
        self.answer(|o| {
            o.field("player_id", &standing.place.as_ref().map(|(player, _)| *player));
            o.field("league_id", &standing.place.as_ref().map(|(_, league)| league.clone()));
            o.field("state", state);
            o.field("matches_played", &standing.matches_played);
            o.field("open_matches", &standing.open_matches);
        })
    }

    /// The answer that there is none.
    pub fn refuse(&self, code: Code, text: &str) -> Vec<u8> {
        if let Some(call) = ToolCall::of(self.request) {
            return write_answer(&call, "{}", Some(text));
        }
        write_error(self.request.id.as_ref(), code.row().rpc, text, &[])
    }

    fn answer(&self, fill: impl FnOnce(&mut Object<'_>)) -> Vec<u8> {
        let mut json = vec![];
        Object::write(&mut json, fill);
        if let Some(call) = ToolCall::of(self.request) {
            return write_answer(&call, &String::from_utf8_lossy(&json), None);
        }
        match &self.request.id {
            Some(id) => write_result(id, |out| out.extend_from_slice(&json)),
            None => self.refuse(Code::InvalidRequest, "a question needs an id"),
        }
    }
}

/// The match that is asked about, which a tool is told among its arguments.
fn match_asked(request: &Request<'_>) -> Result<StateQuery, DecodeError> {
    let params = params(request).ok_or_else(|| DecodeError::missing("params", "an object"))?;
    let arguments = match &*request.method {
        CALL_TOOL => params.raw("arguments")?,
        _ => None,
    };
    let match_id = match arguments {
        Some(arguments) => arguments.inner("arguments")?.required("match_id")?,
        None => params.required("match_id")?,
    };
    Ok(StateQuery::Match(match_id))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::frame::{Incoming, parse};

    fn told(body: &Value, tell: impl FnOnce(&StateCall<'_>) -> Vec<u8>) -> Option<Value> {
        let body = body.to_string();
        let Incoming::Single(Ok(request)) = parse(body.as_bytes()) else { panic!("{body}") };
        let call = StateCall::of(&request)?;
        serde_json::from_slice(&tell(&call)).ok()
    }

    fn request(method: &str, params: Value) -> Value {
        json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
    }

    #[test]
    fn a_match_is_asked_about_by_name_or_as_a_tool() {
        let standing = MatchStanding {
            match_id: "R1M1".parse().unwrap(),
            round_id: RoundId::FIRST,
            attempt: 2,
            game_type: "even_odd".parse().unwrap(),
            players: Seats::new(PlayerId::new(1), PlayerId::new(2)),
            state: MatchState::CollectingChoices,
        };
        let tell = |call: &StateCall<'_>| {
            assert_eq!(call.about, Ok(StateQuery::Match(standing.match_id)));
            call.of_match(&standing)
        };
        let asked = json!({"match_id": "R1M1"});
        let plain = told(&request("get_match_state", asked.clone()), tell).unwrap();
        assert_eq!(plain["id"], 7);
        let result = &plain["result"];
        assert_eq!(
            (&result["game_state"], &result["attempt"]),
            (&json!("COLLECTING_CHOICES"), &json!(2))
        );
        let tool = json!({"name": "get_match_state", "arguments": asked});
        let tool = told(&request("tools/call", tool), tell).unwrap();
        assert_eq!(&tool["result"]["structuredContent"], result);
        assert!(told(&request("get_match", json!({})), |_| vec![]).is_none());
        let wrong = request("get_match_state", json!({}));
        let refused = told(&wrong, |call| {
            let error = call.about.as_ref().unwrap_err();
            call.refuse(Code::InvalidParams, &error.to_string())
        });
        assert_eq!(refused.unwrap()["error"]["code"], -32602);
    }

    #[test]
    fn a_player_tells_how_it_stands() {
        let place = Some((PlayerId::new(3), "spring".parse().unwrap()));
        let open_matches = vec!["R2M1".parse().unwrap()];
        let standing = PlayerStanding { place, is_over: false, matches_played: 1, open_matches };
        let body = request("get_player_state", json!({}));
        let answer = told(&body, |call| call.of_player(&standing)).unwrap();
        let expected = json!({
            "player_id": "P03", "league_id": "spring", "state": "REGISTERED",
            "matches_played": 1, "open_matches": ["R2M1"],
        });
        assert_eq!(answer["result"], expected);
    }
}
