//! The author's function, watched: whatever it does, there is a move in time.

use std::collections::VecDeque;
use std::time::Duration;

use league_core::game::Parity;
use league_core::id::{MatchId, PlayerId};
use league_wire::message::GameOver;
use tokio::sync::oneshot;

use super::call::{Call, Match};
use super::{Choose, Move};
use crate::component::Component;
use crate::limits::{HISTORY_MAX, THOUGHT_RESERVE_MAX};
use crate::log::{self, Level};
use crate::strategy::{Asked, Situation, Strategy, Thought};

/// An author's function as a strategy.
pub(super) struct Watched {
    choose: Choose,
    history: VecDeque<Match>,
}

impl Watched {
    pub(super) const fn new(choose: Choose) -> Self {
        Self { choose, history: VecDeque::new() }
    }
}

impl Strategy for Watched {
    fn choose(&mut self, _: &Situation<'_>) -> Parity {
        // Every question comes to `think`.
        Parity::Even
    }

    fn think(&mut self, situation: &Situation<'_>, asked: &Asked) -> Thought {
        let history = self.history.iter().cloned().collect();
        let call = Call::new(asked, situation.opponent, history);
        let (choose, match_id) = (self.choose.clone(), asked.match_id);
        Box::pin(async move {
            match ask(choose, &call).await {
                Ok(chosen) => {
                    told(Level::Info, match_id, format!("{chosen} is played"));
                    Some(chosen)
                }
                Err(trouble) => {
                    let any = call.find_any();
                    let instead = any.as_ref().map_or_else(|| "nothing".into(), Move::to_string);
                    told(Level::Error, match_id, format!("{trouble}; {instead} is played instead"));
                    any
                }
            }
        })
    }

    fn over(&mut self, me: PlayerId, over: &GameOver) {
        if self.history.len() >= HISTORY_MAX {
            self.history.pop_front();
        }
        told(Level::Info, over.match_id, over.reason.clone());
        self.history.push_back(Match::read(me, over));
    }
}

/// What the function says in time, or why there is nothing that can be played.
async fn ask(choose: Choose, call: &Call) -> Result<Move, String> {
    let (said, heard) = oneshot::channel();
    let own = call.clone();
    // A thread of its own: it may compute for seconds, and one that never ends cannot be ended.
    let thread = std::thread::Builder::new().name(call.match_id.clone());
    let begun = thread.spawn(move || said.send(choose(&own)));
    begun.map_err(|error| format!("your function cannot be called: {error}"))?;
    let time = call.time_left();
    let chosen = match tokio::time::timeout(time - reserve(time), heard).await {
        Ok(Ok(chosen)) => chosen,
        Ok(Err(_)) => return Err("your function panicked".into()),
        Err(_) => return Err(format!("your function took too long, {time:.1?} is all there is")),
    };
    if call.allows(&chosen) {
        return Ok(chosen);
    }
    let options: Vec<String> = call.options.iter().map(Move::to_string).collect();
    Err(format!("your function said {chosen}, not one of {}", options.join(", ")))
}

/// What is kept of the time to choose for sending the answer.
fn reserve(time: Duration) -> Duration {
    (time / 5).min(THOUGHT_RESERVE_MAX)
}

fn told(level: Level, match_id: MatchId, text: String) {
    log::at(level, Component::Player, |line| {
        line.match_id(match_id).say(text);
    });
}
