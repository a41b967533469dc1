//! LEAGUE_STANDINGS_UPDATE, and one row of the standings wherever it appears.

use league_core::id::{PlayerId, RoundId};
use league_core::time::Timestamp;

use super::Body;
use crate::decode::DecodeError;
use crate::fields::{Fields, Items};
use crate::fragment::{Fragment, Listed};
use crate::value::{Share, Thousandths};
use crate::word::AgentState;
use crate::write::Object;

/// The standings as they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandingsUpdate {
    /// The latest round with a result.
    pub round_id: Option<RoundId>,
    /// When the latest result was recorded.
    pub last_updated: Option<Timestamp>,
    /// The rows, or those that concern the recipient.
    pub standings: Listed<StandingRow>,
    /// How many players there are.
    pub total_players: Option<u32>,
}

/// One player's place and record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandingRow {
    /// The place, counted from one.
    pub rank: u32,
    /// The player.
    pub player_id: PlayerId,
    /// Its name.
    pub display_name: String,
    /// Matches played.
    pub played: u32,
    /// Matches won.
    pub wins: u32,
    /// Matches drawn.
    pub draws: u32,
    /// Matches lost, technical losses included.
    pub losses: u32,
    /// Matches lost by failing to play.
    pub technical_losses: u32,
    /// Points.
    pub points: u32,
    /// Matches won of those played, in thousandths.
    pub win_rate_thousandths: u32,
    /// Where the player is in its life.
    pub state: Option<AgentState>,
}

impl Body for StandingsUpdate {
    fn read(f: &Fields<'_>) -> Result<Self, DecodeError> {
        f.required::<Items>("standings")?;
        let rows = f.objects("standings", StandingRow::read)?;
        Ok(Self {
            round_id: f.optional("round_id")?,
            last_updated: f.optional("last_updated")?,
            standings: Listed::Items(rows.unwrap_or_default()),
            total_players: f.optional("total_players")?,
        })
    }

    fn write(&self, o: &mut Object<'_>) {
        o.field("round_id", &self.round_id);
        o.optional("last_updated", self.last_updated.as_ref());
        o.listed("standings", &self.standings, StandingRow::write);
        o.optional("total_players", self.total_players.as_ref());
    }
}

const PLAYED: [&str; 2] = ["played", "games_played"];
const DRAWS: [&str; 2] = ["draws", "ties"];

impl StandingRow {
    /// The row as JSON, for `your_standings`.
    pub fn encode(&self) -> Fragment {
        Fragment::object(|o| self.write(o))
    }

    /// The rows as JSON, for many recipients.
    pub fn encode_list(rows: &[Self]) -> Fragment {
        Fragment::list(rows, Self::write)
    }

    /// Reads a row of the current standings.
    pub(super) fn read(f: &Fields<'_>) -> Result<Self, DecodeError> {
        f.required_either::<u32>(&PLAYED)?;
        f.required::<u32>("wins")?;
        f.required_either::<u32>(&DRAWS)?;
        f.required::<u32>("losses")?;
        Self::read_final(f)
    }

    /// Reads a row of the final standings, which need not have the whole record.
    pub(super) fn read_final(f: &Fields<'_>) -> Result<Self, DecodeError> {
        let count = |name: &str| Ok(f.optional::<u32>(name)?.unwrap_or(0));
        let played = f.either(&PLAYED)?.unwrap_or(0);
        let wins = count("wins")?;
        let stated = f.optional::<Thousandths>("win_rate")?.map(|rate| rate.0);
        let reckoned = u64::from(wins) * 1_000 / u64::from(played.max(1));
        let rate = stated.unwrap_or(reckoned);
        Ok(Self {
            rank: f.required("rank")?,
            player_id: f.required("player_id")?,
            display_name: f.required("display_name")?,
            played,
            wins,
            draws: f.either(&DRAWS)?.unwrap_or(0),
            losses: count("losses")?,
            technical_losses: count("technical_losses")?,
            points: f.required("points")?,
            win_rate_thousandths: u32::try_from(rate).unwrap_or(u32::MAX),
            state: f.optional("state")?,
        })
    }

    pub(super) fn write(&self, o: &mut Object<'_>) {
        o.field("rank", &self.rank);
        o.field("player_id", &self.player_id);
        o.field("display_name", &self.display_name);
        o.field(PLAYED[0], &self.played);
        o.field("wins", &self.wins);
        o.field(DRAWS[0], &self.draws);
        o.field("losses", &self.losses);
        o.field("points", &self.points);
        o.field(PLAYED[1], &self.played);
        o.field(DRAWS[1], &self.draws);
        o.field("win_rate", &Share(self.win_rate_thousandths));
        o.field("technical_losses", &self.technical_losses);
        o.optional("state", self.state.as_ref());
    }
}
