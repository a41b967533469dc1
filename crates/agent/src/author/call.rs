//! A call for a move and the matches before it, as the author's function sees them.

use std::time::Duration;

use league_core::dice::Dice;
use league_core::id::PlayerId;
use league_wire::message::GameOver;
use league_wire::{Fragment, PlayerResult};

use super::Move;
use crate::ambient::{Mark, OsDice};
use crate::limits::CHOICE_TIME_USUAL;
use crate::strategy::{Asked, PARITY};

/// What a player knows when it must choose.
#[derive(Debug, Clone)]
pub struct Call {
    /// The game: `even_odd`, `even_odd_numbers` …
    pub game: String,
    /// The match, such as `R1M1`.
    pub match_id: String,
    /// Who plays against you, such as `P02`.
    pub opponent: Option<String>,
    /// Which move of the match this is, counted from one.
    pub step: u32,
    /// What is asked for: `parity`, `number` …
    pub move_type: String,
    /// What may be answered; empty where the moves cannot be listed.
    pub options: Vec<Move>,
    /// What the game tells besides, such as your role: a JSON object.
    pub context: Option<String>,
    /// The table, best first: a JSON list.
    pub standings: Option<String>,
    /// The matches that this player has finished since it was started, the latest last.
    pub history: Vec<Match>,
    time: Duration,
    since: Mark,
}

/// A match that is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// The match, such as `R1M1`.
    pub match_id: String,
    /// Who played against you.
    pub opponent: String,
    /// How it came out for you.
    pub result: Option<PlayerResult>,
    /// What you chose, if you did.
    pub mine: Option<Move>,
    /// What the opponent chose, if it did.
    pub theirs: Option<Move>,
    /// The number that was drawn, if one was.
    pub drawn: Option<u32>,
    /// Why it ended so, for people.
    pub reason: String,
}

impl Call {
    pub(super) fn new(asked: &Asked, opponent: Option<PlayerId>, history: Vec<Match>) -> Self {
        let text = |fragment: &Fragment| fragment.as_str().to_string();
        Self {
            game: asked.game.clone().unwrap_or_else(|| "even_odd".into()),
            match_id: asked.match_id.to_string(),
            opponent: opponent.map(|opponent| opponent.to_string()),
            step: asked.step,
            move_type: asked.move_type.clone(),
            options: asked.options.clone(),
            context: asked.context.as_ref().map(text),
            standings: asked.standings.as_ref().map(text),
            history,
            time: asked.time,
            since: Mark::set(),
        }
    }

    /// A call to try a function with; its fields can be changed.
    pub fn example() -> Self {
        Self {
            game: "even_odd".into(),
            match_id: "R1M1".into(),
            opponent: Some("P02".into()),
            step: 1,
            move_type: PARITY.into(),
            options: ["even", "odd"].map(Move::from).into(),
            context: None,
            standings: None,
            history: vec![],
            time: CHOICE_TIME_USUAL,
            since: Mark::set(),
        }
    }

    /// How much time is left to choose.
    pub fn time_left(&self) -> Duration {
        self.time.saturating_sub(self.since.elapsed())
    }

    /// Any of the options, by a fair coin.
    ///
    /// # Panics
    /// If there are none.
    pub fn any(&self) -> Move {
        let any = self.find_any();
        any.expect("a game that lists no options needs a move of your own")
    }

    pub(super) fn find_any(&self) -> Option<Move> {
        let count = u64::try_from(self.options.len()).ok().filter(|count| *count > 0)?;
        let index = usize::try_from(OsDice.below(count)).ok()?;
        self.options.get(index).cloned()
    }

    /// Whether a move may be made.
    pub(super) fn allows(&self, chosen: &Move) -> bool {
        self.options.is_empty() || self.options.contains(chosen)
    }
}

impl Match {
    /// What GAME_OVER tells the player `me`.
    pub(super) fn read(me: PlayerId, over: &GameOver) -> Self {
        let other = over.players.iter().find(|(player, _)| **player != me);
        let mine = over.players.get(&me);
        Self {
            match_id: over.match_id.to_string(),
            opponent: other.map(|(player, _)| player.to_string()).unwrap_or_default(),
            result: mine.and_then(|line| line.result),
            mine: mine.and_then(|line| line.choice.clone()),
            theirs: other.and_then(|(_, line)| line.choice.clone()),
            drawn: over.drawn_number,
            reason: over.reason.clone(),
        }
    }
}
