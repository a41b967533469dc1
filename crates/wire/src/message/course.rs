//! How rounds and matches take their course, which document 004 tells its agents: ROUND_START,
//! GAME_START and ROUND_RESULT.

use league_core::id::{GameType, MatchId, PlayerId, RoundId};
use league_core::seat::{Seat, Seats};

use super::Body;
use crate::decode::DecodeError;
use crate::fields::{Fields, Items};
use crate::fragment::{Fragment, Listed};
use crate::word::{MatchState, ResultStatus, role};
use crate::write::Object;

/// The first match of a round is about to begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoundStart {
    /// The round.
    pub round_id: RoundId,
    /// How many matches it has.
    pub total_matches: Option<u32>,
    /// How many rounds the league has.
    pub total_rounds: Option<u32>,
}

/// Both players take part, and will be asked for their moves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GameStart {
    /// The match.
    pub match_id: MatchId,
    /// Its round.
    pub round_id: Option<RoundId>,
    /// The game.
    pub game_type: Option<GameType>,
    /// The player's side.
    pub role: Option<Seat>,
    /// Whom it plays.
    pub opponent_id: PlayerId,
    /// Which attempt at the match this is, counted from one.
    pub attempt: Option<u32>,
    /// Where the match is.
    pub game_state: Option<MatchState>,
}

/// How the matches of a round ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoundResult {
    /// The round.
    pub round_id: RoundId,
    /// Its matches, or the recipient's own if there are too many for one message.
    pub results: Listed<MatchOutcome>,
    /// How many matches it had.
    pub total_matches: Option<u32>,
    /// How to ask for the matches that are not listed.
    pub more: Option<String>,
}

/// How one match of a round ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchOutcome {
    /// The match.
    pub match_id: MatchId,
    /// Its players.
    pub players: Seats<PlayerId>,
    /// How it ended.
    pub status: ResultStatus,
    /// Who got the points of a win.
    pub winner: Option<PlayerId>,
}

impl Body for RoundStart {
    fn read(f: &Fields<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            round_id: f.required("round_id")?,
            total_matches: f.optional("total_matches")?,
            total_rounds: f.optional("total_rounds")?,
        })
    }

    fn write(&self, o: &mut Object<'_>) {
        o.field("round_id", &self.round_id);
        o.optional("total_matches", self.total_matches.as_ref());
        o.optional("total_rounds", self.total_rounds.as_ref());
    }
}

impl Body for GameStart {
    fn read(f: &Fields<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            match_id: f.required("match_id")?,
            round_id: f.optional("round_id")?,
            game_type: f.optional("game_type")?,
            role: f.optional("role_in_match")?,
            opponent_id: f.required("opponent_id")?,
            attempt: f.optional("attempt")?,
            game_state: f.optional("game_state")?,
        })
    }

    fn write(&self, o: &mut Object<'_>) {
        o.field("match_id", &self.match_id);
        o.optional("round_id", self.round_id.as_ref());
        o.optional("game_type", self.game_type.as_ref());
        o.optional("role_in_match", self.role.map(role));
        o.field("opponent_id", &self.opponent_id);
        o.optional("attempt", self.attempt.as_ref());
        o.state("game_state", self.game_state);
    }
}

impl Body for RoundResult {
    fn read(f: &Fields<'_>) -> Result<Self, DecodeError> {
        f.required::<Items>("results")?;
        let results = f.objects("results", MatchOutcome::read)?;
        Ok(Self {
            round_id: f.required("round_id")?,
            results: Listed::Items(results.unwrap_or_default()),
            total_matches: f.optional("total_matches")?,
            more: f.optional("more")?,
        })
    }

    fn write(&self, o: &mut Object<'_>) {
        o.field("round_id", &self.round_id);
        o.listed("results", &self.results, MatchOutcome::write);
        o.optional("total_matches", self.total_matches.as_ref());
        o.optional("more", self.more.as_ref());
    }
}

impl MatchOutcome {
    /// The outcomes as JSON, for many recipients.
    pub fn encode_list(outcomes: &[Self]) -> Fragment {
        Fragment::list(outcomes, Self::write)
    }

    fn read(f: &Fields<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            match_id: f.required("match_id")?,
            players: Seats::new(f.required("player_A_id")?, f.required("player_B_id")?),
            status: f.required("status")?,
            winner: f.optional("winner_player_id")?,
        })
    }

    fn write(&self, o: &mut Object<'_>) {
        o.field("match_id", &self.match_id);
        o.field("player_A_id", &self.players.a);
        o.field("player_B_id", &self.players.b);
        o.field("status", &self.status);
        o.field("winner_player_id", &self.winner);
    }
}
