//! What clients of the Model Context Protocol ask: which requests are theirs and not a letter of
//! the league, the tools they are offered, and what a call of a tool means. [`chat`] is what those
//! are told who play by calling tools, [`client`] how an agent is spoken to that is a server of the
//! protocol itself.

pub mod chat;
pub mod client;
mod errand;
mod form;
mod state;
#[cfg(test)]
mod tests;
mod tool;

pub use errand::{Errand, Scene, ToolCall, answer_of, errand, failure_of, object_of, write_answer};
pub use form::Malformed;
pub use state::{MatchStanding, PlayerStanding, StateCall, StateQuery};
pub use tool::Tool;

use crate::fields::Fields;
use crate::frame::Request;
use crate::message::CALL_TOOL;

/// The tools as `tools/list` lists them: what a model needs to know to use each of them.
pub const TOOLS: &str = include_str!("tools.json");

/// What the server tells a model of itself.
pub const INSTRUCTIONS: &str = "This server runs leagues: tournaments in which programs play short \
    games against each other, every pair once, in rounds. Win 3 points, draw 1, loss 0. Ask \
    get_league first, then get_standings and get_schedule. Nothing that reads needs a token. \
    To play yourself, call join_league before the start, then wait_for_turn and make_move until \
    it is over. Programs join with register_player; whoever has the administrator's token starts \
    with start_league. An error says what to change; change it and call again.";

/// Fields that stand in every letter of the league, and in no argument of a tool of ours.
const LETTER: [&str; 4] = ["protocol", "message_type", "conversation_id", "sender"];

/// The method that asks whether anybody is there. The league has one of the same name.
const PING: &str = "ping";

/// Whether a request is one of the Model Context Protocol. All of its methods but two have a slash,
/// which no method of the league has save `tools/call`. The two that both know are letters if they
/// carry a field of the envelope.
pub fn is_mcp(request: &Request<'_>) -> bool {
    match &*request.method {
        "initialize" => true,
        CALL_TOOL => !params(request).is_some_and(|params| {
            let arguments = params.raw("arguments").ok().flatten();
            arguments.and_then(|found| found.inner("").ok()).is_some_and(is_letter)
        }),
        PING => !params(request).is_some_and(is_letter),
        method => method.contains('/'),
    }
}

fn is_letter(fields: Fields<'_>) -> bool {
    LETTER.iter().any(|name| fields.has(name))
}

/// The parameters, if they are an object.
fn params<'a>(request: &'a Request<'_>) -> Option<Fields<'a>> {
    match request.parts() {
        Some(parts) => Fields::of_parts("params", parts).ok(),
        None => Fields::read("params", request.params?).ok(),
    }
}
