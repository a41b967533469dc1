//! What a referee tells anybody of a match that is running: where it is, and nothing that only its
//! referee may know before it is over.

use league_agent::endpoint::Answer;
use league_agent::guard::lock;
use league_core::id::MatchId;
use league_core::seat::Seats;
use league_wire::Code;
use league_wire::frame::Incoming;
use league_wire::mcp::{MatchStanding, StateCall, StateQuery};

use super::Referee;

/// Answers `get_match_state`; `None` if something else came.
pub(super) fn answer(referee: &Referee, incoming: &Incoming<'_>) -> Option<Answer> {
    let Incoming::Single(Ok(request)) = incoming else { return None };
    let call = StateCall::of(request)?;
    let answer = match &call.about {
        Ok(StateQuery::Match(match_id)) => match standing(referee, *match_id) {
            Some(standing) => call.of_match(&standing),
            None => {
                let text = "no such match is running here; the manager's GET_MATCH tells of all";
                call.refuse(Code::G003, text)
            }
        },
        Ok(StateQuery::Player) => {
            call.refuse(Code::MethodNotFound, "a referee does not tell of players; ask them")
        }
        Err(error) => call.refuse(Code::InvalidParams, &error.to_string()),
    };
    Some(Answer::json(answer))
}

fn standing(referee: &Referee, match_id: MatchId) -> Option<MatchStanding> {
    let running = lock(&referee.running);
    let letters = &running.get(&match_id)?.letters;
    Some(MatchStanding {
        match_id,
        round_id: letters.order.round_id,
        attempt: letters.order.attempt,
        game_type: letters.order.game_type.clone(),
        players: Seats::from_fn(|seat| letters.player(seat)),
        state: *lock(&letters.state),
    })
}
