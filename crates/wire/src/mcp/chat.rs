//! What somebody is told who plays by calling tools, each as one JSON object.

use league_core::id::{LeagueId, MatchId, PlayerId};
use league_core::time::Timestamp;

use crate::token::AuthToken;
use crate::write::Object;

/// Somebody who has joined.
#[derive(Debug, Clone, Copy)]
pub struct Seated<'a> {
    /// Who it is.
    pub player: PlayerId,
    /// What it shows from now on.
    pub token: &'a AuthToken,
    /// Where it plays.
    pub league: &'a LeagueId,
    /// What.
    pub game: &'a str,
}

/// What there is to know at present.
#[derive(Debug, Clone, Copy)]
pub struct Told<'a> {
    /// What has happened, in sentences.
    pub news: &'a [String],
    /// The move that is asked for.
    pub turn: Option<Turn<'a>>,
    /// Whether there will be no turn any more.
    pub is_over: bool,
}

/// A move that is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Turn<'a> {
    /// In which match.
    pub match_id: MatchId,
    /// Against whom.
    pub opponent: Option<PlayerId>,
    /// What may be chosen.
    pub options: &'a [String],
    /// Until when.
    pub deadline: Option<Timestamp>,
    /// All of it in a sentence.
    pub sentence: &'a str,
}

impl Seated<'_> {
    /// As one JSON object.
    pub fn to_json(self) -> String {
        object(|o| {
            o.field("player_id", &self.player);
            o.field("auth_token", self.token);
            o.field("league_id", self.league);
            o.field("game_type", self.game);
            o.field(
                "what_next",
                "call wait_for_turn with this auth_token until league_over is true",
            );
        })
    }
}

impl Told<'_> {
    /// As one JSON object.
    pub fn to_json(self) -> String {
        object(|o| {
            o.field("news", self.news);
            o.field("your_turn", &self.turn.is_some());
            if let Some(turn) = self.turn {
                o.field("match_id", &turn.match_id);
                o.optional("opponent_id", turn.opponent.as_ref());
                o.field("options", turn.options);
                o.optional("deadline", turn.deadline.as_ref());
                o.field("message", turn.sentence);
            }
            o.field("league_over", &self.is_over);
            let next = match self.turn {
                Some(_) => "call make_move with one of the options",
                None if self.is_over => "nothing; the league is over",
                None => "call wait_for_turn again",
            };
            o.field("what_next", next);
        })
    }
}

/// A move that was made, as one JSON object.
pub fn moved(match_id: MatchId, choice: &str) -> String {
    object(|o| {
        o.field("match_id", &match_id);
        o.field("choice", choice);
        o.field("accepted", &true);
        o.field("what_next", "call wait_for_turn; the result comes as news");
    })
}

fn object(fill: impl FnOnce(&mut Object<'_>)) -> String {
    let mut out = Vec::with_capacity(512);
    Object::write(&mut out, fill);
    String::from_utf8(out).expect("the writer writes text")
}
