//! What a player tells anybody about itself: where it plays, and which matches it is in.

use league_wire::Code;
use league_wire::frame::Incoming;
use league_wire::mcp::{PlayerStanding, StateCall, StateQuery};

use super::Player;
use crate::endpoint::Answer;
use crate::guard::lock;

/// Answers `get_player_state`; `None` if something else came.
pub(super) fn answer(player: &Player, incoming: &Incoming<'_>) -> Option<Answer> {
    let Incoming::Single(Ok(request)) = incoming else { return None };
    let call = StateCall::of(request)?;
    let answer = match &call.about {
        Ok(StateQuery::Player) => call.of_player(&standing(player)),
        Ok(StateQuery::Match(_)) => {
            let text = "a player does not tell of matches; ask its referee or the manager";
            call.refuse(Code::MethodNotFound, text)
        }
        Err(error) => call.refuse(Code::InvalidParams, &error.to_string()),
    };
    Some(Answer::json(answer))
}

fn standing(player: &Player) -> PlayerStanding {
    let membership = player.membership();
    let place = membership.borrow().as_ref().map(|me| (me.id, me.league.clone()));
    let is_over = *player.league_end().borrow();
    let mind = lock(&player.mind);
    let open = mind.known.iter().filter(|(_, known)| !known.is_over).map(|(id, _)| *id);
    PlayerStanding { place, is_over, matches_played: mind.matches, open_matches: open.collect() }
}
