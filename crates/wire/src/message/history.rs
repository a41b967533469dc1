//! A player's past games, as they stand in `game_history`.

use league_core::game::Move;
use league_core::id::{MatchId, PlayerId, RoundId};

use crate::fragment::Fragment;
use crate::word::PlayerResult;
use crate::write::Object;

/// One finished game, seen by one of its players.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastGame {
    /// The round it belonged to.
    pub round_id: RoundId,
    /// The match.
    pub match_id: MatchId,
    /// Against whom.
    pub opponent_id: PlayerId,
    /// The player's own choice.
    pub your_choice: Option<Move>,
    /// The opponent's choice.
    pub opponent_choice: Option<Move>,
    /// The number that was drawn.
    pub drawn_number: Option<u32>,
    /// What it was for the player.
    pub result: PlayerResult,
}

impl PastGame {
    /// The games as a list, for `game_history`.
    pub fn encode_list(games: &[Self]) -> Fragment {
        Fragment::list(games, Self::write)
    }

    fn write(&self, o: &mut Object<'_>) {
        o.field("round_id", &self.round_id);
        o.field("match_id", &self.match_id);
        o.field("opponent_id", &self.opponent_id);
        o.optional("your_choice", self.your_choice.as_ref());
        o.optional("opponent_choice", self.opponent_choice.as_ref());
        o.optional("drawn_number", self.drawn_number.as_ref());
        o.field("result", &self.result);
    }
}
