//! Playing by calling tools: joining, waiting for the turn and moving, for those who have no
//! program.

use std::net::SocketAddr;
use std::time::Duration;

use league_agent::desk::refusal;
use league_core::id::MatchId;
use league_wire::mcp::chat::{Seated, Told, Turn, moved};
use league_wire::message::ErrorReport;
use league_wire::{AuthToken, Code};

use super::errand::{Outcome, Untried};
use crate::limits::POLL_WAIT_USUAL;
use crate::manager::Manager;
use crate::manager::relay::{NoMove, NotOpened, Wish};

/// Lets somebody in.
pub(super) async fn join(manager: &Manager, wish: Wish, peer: SocketAddr) -> Outcome {
    let joined = manager.join_by_chat(wish, peer).await?;
    let (token, league, game) = (&joined.token, &joined.league, joined.game.as_str());
    Ok(Seated { player: joined.player, token, league, game }.to_json())
}

/// Waits for the turn of whoever has the token.
pub(super) async fn wait(
    manager: &Manager,
    token: &AuthToken,
    seconds: Option<u32>,
    peer: SocketAddr,
) -> Result<Outcome, Untried> {
    let wait = seconds.map_or(POLL_WAIT_USUAL, |seconds| Duration::from_secs(seconds.into()));
    let moment = match manager.turn_by_chat(token.reveal(), wait, peer).await {
        Ok(moment) => moment,
        Err(closed) => return not_opened(&closed),
    };
    let turn = moment.ask.as_ref().map(|ask| Turn {
        match_id: ask.match_id,
        opponent: ask.opponent,
        options: &ask.options,
        deadline: ask.deadline,
        sentence: &ask.told,
    });
    Ok(Ok(Told { news: &moment.news, turn, is_over: moment.is_over }.to_json()))
}

/// Makes the move of whoever has the token.
pub(super) fn make_move(
    manager: &Manager,
    token: &AuthToken,
    wanted: (Option<MatchId>, &str),
    peer: SocketAddr,
) -> Result<Outcome, Untried> {
    let no = match manager.move_by_chat(token.reveal(), wanted, peer) {
        Ok(made) => return Ok(Ok(moved(made.match_id, &made.choice))),
        Err(no) => no,
    };
    let code = match &no {
        NoMove::NotOpened(closed) => return not_opened(closed),
        NoMove::NotAsked | NoMove::TooLate => Code::G004,
        NoMove::Illegal { .. } => Code::E004,
    };
    Ok(Err(advised(
        code,
        &no.to_string(),
        match &no {
            NoMove::Illegal { .. } => "call make_move again with one of the options",
            NoMove::NotAsked | NoMove::TooLate | NoMove::NotOpened(_) => "call wait_for_turn",
        },
    )))
}

fn not_opened(closed: &NotOpened) -> Result<Outcome, Untried> {
    let (code, text, advice) = match closed {
        NotOpened::TooOften(wait) => return Err(Untried::TooMany(*wait)),
        NotOpened::NoToken => (Code::E011, "no token was shown".into(), JOIN),
        NotOpened::Unknown => (
            Code::E012,
            "this is not the token of somebody who plays by calling tools".into(),
            JOIN,
        ),
        NotOpened::Out(..) => (Code::E012, closed.to_string(), "ask the organiser"),
        NotOpened::NotNow => (
            Code::E033,
            "the wait was ended: another one has begun, or the league is just being opened".into(),
            "call wait_for_turn again, one call at a time",
        ),
    };
    let text: String = text;
    Ok(Err(advised(code, &text, advice)))
}

const JOIN: &str = "call join_league, and pass the token that it returns";

fn advised(code: Code, text: &str, advice: &str) -> Box<ErrorReport> {
    let mut report = refusal(code, text);
    report.action_required = advice.into();
    report
}
