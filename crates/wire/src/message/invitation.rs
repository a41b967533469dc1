//! GAME_INVITATION and GAME_JOIN_ACK.

use league_core::id::{GameType, MatchId, PlayerId, RoundId};
use league_core::limits::REASON_BYTES_MAX;
use league_core::seat::Seat;
use league_core::time::Timestamp;

use super::Body;
use crate::decode::DecodeError;
use crate::fields::Fields;
use crate::value::Thousandths;
use crate::word::{Decision, MatchState, player_role, role};
use crate::write::Object;

/// A player is invited to a match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GameInvitation {
    /// The match.
    pub match_id: MatchId,
    /// Its round.
    pub round_id: Option<RoundId>,
    /// The game.
    pub game_type: GameType,
    /// The player's side.
    pub role: Seat,
    /// Whom it plays.
    pub opponent_id: PlayerId,
    /// Which attempt at the match this is, counted from one.
    pub attempt: Option<u32>,
    /// How often the match was annulled and is played again.
    pub rematch: Option<u32>,
    /// How long the player has for its answer.
    pub budget_ms: Option<u64>,
    /// How long the player's previous answer took, as measured by the referee.
    pub last_rtt_ms: Option<u64>,
    /// What the draw will be checked against.
    pub draw_commitment: Option<String>,
    /// Where the match is.
    pub game_state: Option<MatchState>,
}

/// The player takes part, or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GameJoinAck {
    /// The match.
    pub match_id: MatchId,
    /// The player.
    pub player_id: Option<PlayerId>,
    /// Whether it takes part.
    pub accept: bool,
    /// When the invitation arrived, by the player's clock.
    pub arrival: Option<Timestamp>,
    /// Why it does not take part.
    pub reason: Option<String>,
}

impl Body for GameInvitation {
    fn read(f: &Fields<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            match_id: f.required("match_id")?,
            round_id: f.optional("round_id")?,
            game_type: f.required("game_type")?,
            role: f.required_either(&["role_in_match", "player_role"])?,
            opponent_id: f.required("opponent_id")?,
            attempt: f.optional("attempt")?,
            rematch: f.optional("rematch")?,
            budget_ms: budget(f)?,
            last_rtt_ms: f.optional("last_rtt_ms")?,
            draw_commitment: f.optional("draw_commitment")?,
            game_state: f.optional("game_state")?,
        })
    }

    fn write(&self, o: &mut Object<'_>) {
        o.field("match_id", &self.match_id);
        o.optional("round_id", self.round_id.as_ref());
        o.field("game_type", &self.game_type);
        o.field("role_in_match", role(self.role));
        o.field("player_role", player_role(self.role));
        o.field("opponent_id", &self.opponent_id);
        o.optional("attempt", self.attempt.as_ref());
        o.optional("rematch", self.rematch.as_ref());
        o.optional("max_response_time", self.budget_ms.map(whole_seconds).as_ref());
        o.optional("budget_ms", self.budget_ms.as_ref());
        o.optional("last_rtt_ms", self.last_rtt_ms.as_ref());
        o.optional("draw_commitment", self.draw_commitment.as_ref());
        o.state("game_state", self.game_state);
    }
}

/// Document 002's seconds are whole ones. They promise no more time than there is, but for what is
/// less than a second, of which a whole number cannot tell; `budget_ms` is exact.
fn whole_seconds(budget_ms: u64) -> u64 {
    (budget_ms / 1_000).max(1)
}

/// The time for the answer, in milliseconds or in document 002's seconds.
fn budget(f: &Fields<'_>) -> Result<Option<u64>, DecodeError> {
    let seconds = f.optional::<Thousandths>("max_response_time")?.map(|seconds| seconds.0);
    Ok(f.optional("budget_ms")?.or(seconds))
}

impl Body for GameJoinAck {
    fn read(f: &Fields<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            match_id: f.required("match_id")?,
            player_id: f.optional("player_id")?,
            accept: accepts(f)?,
            arrival: f.optional("arrival_timestamp")?,
            reason: f.clipped("reason", REASON_BYTES_MAX)?,
        })
    }

    fn write(&self, o: &mut Object<'_>) {
        let status = if self.accept { Decision::Accepted } else { Decision::Rejected };
        o.field("match_id", &self.match_id);
        o.optional("player_id", self.player_id.as_ref());
        o.field("accept", &self.accept);
        o.field("status", &status);
        o.field("ready", &self.accept);
        o.optional("arrival_timestamp", self.arrival.as_ref());
        o.optional("reason", self.reason.as_ref());
    }
}

/// Documents 000 and 003 say `accept`, 002 says `status` and `ready`; any no is a no.
fn accepts(f: &Fields<'_>) -> Result<bool, DecodeError> {
    let accept = f.optional::<bool>("accept")?;
    let status = f.optional::<Decision>("status")?.map(|status| status == Decision::Accepted);
    let ready = f.optional::<bool>("ready")?.unwrap_or(true);
    match f.same(("accept", accept), ("status", status))? {
        Some(accepted) => Ok(accepted && ready),
        None => Err(f.missing("accept", "true or false")),
    }
}
