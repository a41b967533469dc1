//! GAME_OVER and GAME_OVER_ACK: how a match ended, in the words of each dialect.

use std::collections::BTreeMap;

use league_core::id::{GameType, MatchId, PlayerId, RoundId};
use league_core::limits::REASON_BYTES_MAX;

use super::Body;
use crate::decode::DecodeError;
use crate::dialect::Dialect;
use crate::fields::Fields;
use crate::token::DrawSeed;
use crate::value::MoveValue;
use crate::word::{MatchState, Parity, PlayerResult, ResultStatus};
use crate::write::Object;

/// How a match ended, for its players.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GameOver {
    /// The match.
    pub match_id: MatchId,
    /// Its round.
    pub round_id: Option<RoundId>,
    /// The game.
    pub game_type: Option<GameType>,
    /// Which attempt at the match it was, counted from one.
    pub attempt: Option<u32>,
    /// How often the match was annulled and played again.
    pub rematch: Option<u32>,
    /// How it ended.
    pub status: ResultStatus,
    /// Who gets the points of a win.
    pub winner: Option<PlayerId>,
    /// Who failed to play.
    pub technical_losers: Vec<PlayerId>,
    /// Why, for people.
    pub reason: String,
    /// The number that was drawn.
    pub drawn_number: Option<u32>,
    /// Whether it is even or odd, where that matters.
    pub number_parity: Option<Parity>,
    /// What the match was for each player.
    pub players: BTreeMap<PlayerId, PlayerLine>,
    /// Where the match is.
    pub game_state: Option<MatchState>,
    /// What the draw followed from.
    pub draw_seed: Option<DrawSeed>,
    /// What the draw can be checked against.
    pub draw_commitment: Option<String>,
}

/// What a match was for one player.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlayerLine {
    /// The last move it made.
    pub choice: Option<MoveValue>,
    /// How it came out.
    pub result: Option<PlayerResult>,
    /// The points it got.
    pub points: Option<u32>,
    /// Its share in the draw.
    pub nonce: Option<String>,
    /// What it had to be in the match, where the sides of the game differ.
    pub role: Option<String>,
}

/// The player knows how the match ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GameOverAck {
    /// The match.
    pub match_id: MatchId,
    /// Whether it was heard.
    pub acknowledged: bool,
}

/// What `game_result` says in documents 000 and 003.
#[derive(Default)]
struct Told {
    status: Option<ResultStatus>,
    winner: Option<PlayerId>,
    technical_losers: Vec<PlayerId>,
    reason: Option<String>,
    drawn_number: Option<u32>,
    number_parity: Option<Parity>,
    choices: BTreeMap<PlayerId, Option<MoveValue>>,
}

impl Told {
    fn read(f: &Fields<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            status: Some(f.required("status")?),
            winner: f.either(&["winner_player_id", "winner_id", "winner"])?,
            technical_losers: f.list("technical_losers")?,
            reason: f.clipped("reason", REASON_BYTES_MAX)?,
            drawn_number: f.optional("drawn_number")?,
            number_parity: f.optional("number_parity")?,
            choices: f.map("choices")?,
        })
    }
}

impl Body for GameOver {
    fn read(f: &Fields<'_>) -> Result<Self, DecodeError> {
        let told = f.optional_object("game_result", Told::read)?;
        if told.is_none() && !f.has("result_type") {
            return Err(f.missing("game_result", "an object"));
        }
        let told = told.unwrap_or_default();
        let winner = f.either(&["winner_id", "winner_player_id", "winner"])?;
        let reason =
            told.reason.map_or_else(|| f.clipped("reason", REASON_BYTES_MAX), |r| Ok(Some(r)))?;
        let (reason, technical) = plain_reason(reason.unwrap_or_default());
        let status = match f.optional("result_type")?.or(told.status) {
            Some(ResultStatus::Win | ResultStatus::Cancelled) if technical => {
                ResultStatus::TechnicalLoss
            }
            Some(status) => status,
            None => return Err(f.missing("result_type", "how the match ended")),
        };
        Ok(Self {
            match_id: f.required("match_id")?,
            round_id: f.optional("round_id")?,
            game_type: f.optional("game_type")?,
            attempt: f.optional("attempt")?,
            rematch: f.optional("rematch")?,
            status,
            winner: f.same(("winner_id", winner), ("game_result.winner_player_id", told.winner))?,
            technical_losers: told.technical_losers,
            reason,
            drawn_number: f.same(
                ("drawn_number", f.optional("drawn_number")?),
                ("game_result.drawn_number", told.drawn_number),
            )?,
            number_parity: told.number_parity,
            players: lines(f, told.choices)?,
            game_state: f.optional("game_state")?,
            draw_seed: f.optional("draw_seed")?,
            draw_commitment: f.optional("draw_commitment")?,
        })
    }

    fn write(&self, o: &mut Object<'_>) {
        o.field("match_id", &self.match_id);
        o.optional("round_id", self.round_id.as_ref());
        o.optional("game_type", self.game_type.as_ref());
        o.optional("attempt", self.attempt.as_ref());
        o.optional("rematch", self.rematch.as_ref());
        o.object("game_result", |o| {
            o.field("status", self.status_word(o.dialect()));
            o.field("winner_player_id", &self.winner);
            o.field("drawn_number", &self.drawn_number);
            o.field("number_parity", &self.number_parity);
            o.map("choices", &self.players, |line| line.choice.as_ref());
            o.field("technical_losers", &self.technical_losers);
            o.field("reason", &self.written_reason(o.dialect()));
        });
        o.field("winner_id", &self.winner);
        o.field("result_type", v21_word(self.status));
        o.field("drawn_number", &self.drawn_number);
        o.map("choices", &self.players, |line| line.choice.as_ref());
        o.map_some("points_awarded", &self.players, |line| line.points);
        o.map_some("results", &self.players, |line| line.result);
        o.map("nonces", &self.players, |line| line.nonce.as_ref());
        if self.players.values().any(|line| line.role.is_some()) {
            o.map_some("roles", &self.players, |line| line.role.as_ref());
        }
        o.state("game_state", self.game_state);
        o.optional("draw_seed", self.draw_seed.as_ref());
        o.optional("draw_commitment", self.draw_commitment.as_ref());
    }
}

impl GameOver {
    /// Document 000 knows no technical losses: the other one wins, or the match is cancelled.
    fn status_word(&self, dialect: Dialect) -> &'static str {
        match (dialect == Dialect::Flat, self.status) {
            (true, ResultStatus::TechnicalLoss) if self.winner.is_some() => "WIN",
            (true, ResultStatus::TechnicalLoss) => "CANCELLED",
            (_, status) => status.word(),
        }
    }

    fn written_reason(&self, dialect: Dialect) -> String {
        match (dialect, self.status) {
            (Dialect::Flat, ResultStatus::TechnicalLoss) => format!("{TECHNICAL} {}", self.reason),
            _ => self.reason.clone(),
        }
    }
}

const TECHNICAL: &str = "TECHNICAL_LOSS:";

/// The reason without its mark, and whether it was marked as a technical loss.
fn plain_reason(reason: String) -> (String, bool) {
    match reason.strip_prefix(TECHNICAL) {
        Some(plain) => (plain.strip_prefix(' ').unwrap_or(plain).into(), true),
        None => (reason, false),
    }
}

/// The word of document 002.
const fn v21_word(status: ResultStatus) -> &'static str {
    match status {
        ResultStatus::Draw => "TIE",
        ResultStatus::Win | ResultStatus::TechnicalLoss | ResultStatus::Cancelled => status.word(),
    }
}

/// What the message says about each player, in maps by player.
fn lines(
    f: &Fields<'_>,
    told: BTreeMap<PlayerId, Option<MoveValue>>,
) -> Result<BTreeMap<PlayerId, PlayerLine>, DecodeError> {
    let mut lines: BTreeMap<PlayerId, PlayerLine> = BTreeMap::new();
    let choices = f.map::<PlayerId, Option<MoveValue>>("choices")?;
    for (player, choice) in told.into_iter().chain(choices) {
        let line = lines.entry(player).or_default();
        line.choice = f.same(("game_result.choices", line.choice.take()), ("choices", choice))?;
    }
    for (player, points) in f.map("points_awarded")? {
        lines.entry(player).or_default().points = points;
    }
    for (player, result) in f.map("results")? {
        lines.entry(player).or_default().result = result;
    }
    for (player, nonce) in f.map("nonces")? {
        lines.entry(player).or_default().nonce = nonce;
    }
    for (player, role) in f.map("roles")? {
        lines.entry(player).or_default().role = role;
    }
    Ok(lines)
}

impl Body for GameOverAck {
    fn read(f: &Fields<'_>) -> Result<Self, DecodeError> {
        let acknowledged = f.optional("acknowledged")?.unwrap_or(true);
        Ok(Self { match_id: f.required("match_id")?, acknowledged })
    }

    fn write(&self, o: &mut Object<'_>) {
        o.field("match_id", &self.match_id);
        o.field("acknowledged", &self.acknowledged);
    }
}
