//! Asking for moves: CHOOSE_PARITY_CALL and GAME_MOVE_CALL with their answers.

use league_core::id::{GameType, MatchId, PlayerId, RoundId};
use league_core::limits::REASON_BYTES_MAX;
use league_core::time::Timestamp;

use super::Body;
use crate::decode::DecodeError;
use crate::dialect::Dialect;
use crate::dialect::payload::PARITY;
use crate::fields::Fields;
use crate::fragment::Fragment;
use crate::value::{FromField, MoveValue};
use crate::word::{MatchState, Parity};
use crate::write::Object;

/// A player is asked for even or odd.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParityCall {
    /// The match.
    pub match_id: MatchId,
    /// The player that is asked.
    pub player_id: Option<PlayerId>,
    /// The game.
    pub game_type: Option<GameType>,
    /// When the choice is due.
    pub deadline: Option<Timestamp>,
    /// Whom it plays.
    pub opponent_id: PlayerId,
    /// The match's round.
    pub round_id: Option<RoundId>,
    /// The player's own row of the standings.
    pub your_standings: Option<Fragment>,
    /// The standings, as a list.
    pub standings: Option<Fragment>,
    /// The player's latest matches, as a list.
    pub game_history: Option<Fragment>,
    /// Which attempt at the match this is, counted from one.
    pub attempt: Option<u32>,
    /// How long the player has for its answer.
    pub budget_ms: Option<u64>,
    /// How long the player's previous answer took, as measured by the referee.
    pub last_rtt_ms: Option<u64>,
    /// Where the match is.
    pub game_state: Option<MatchState>,
}

/// The player's choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParityResponse {
    /// The match.
    pub match_id: MatchId,
    /// The player.
    pub player_id: Option<PlayerId>,
    /// Even or odd.
    pub choice: Parity,
    /// The player's share in the draw.
    pub nonce: Option<String>,
    /// What shows the manager that this player made this choice.
    pub choice_proof: Option<String>,
    /// Why, for people.
    pub reasoning: Option<String>,
}

/// A player is asked for a move in another game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoveCall {
    /// The match.
    pub match_id: MatchId,
    /// The player that is asked.
    pub player_id: Option<PlayerId>,
    /// The game.
    pub game_type: GameType,
    /// Which move of the match this is, counted from one.
    pub step: Option<u32>,
    /// When the move is due.
    pub deadline: Option<Timestamp>,
    /// Whom it plays.
    pub opponent_id: Option<PlayerId>,
    /// The match's round.
    pub round_id: Option<RoundId>,
    /// What kind of move is asked for.
    pub move_type: String,
    /// The moves that may be made; empty if they cannot be listed.
    pub valid_options: Vec<MoveValue>,
    /// The position, as an object.
    pub context: Option<Fragment>,
    /// The player's own row of the standings.
    pub your_standings: Option<Fragment>,
    /// The standings, as a list.
    pub standings: Option<Fragment>,
    /// The player's latest matches, as a list.
    pub game_history: Option<Fragment>,
    /// Which attempt at the match this is, counted from one.
    pub attempt: Option<u32>,
    /// How long the player has for its answer.
    pub budget_ms: Option<u64>,
    /// How long the player's previous answer took, as measured by the referee.
    pub last_rtt_ms: Option<u64>,
    /// Where the match is.
    pub game_state: Option<MatchState>,
}

/// The player's move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoveResponse {
    /// The match.
    pub match_id: MatchId,
    /// The player.
    pub player_id: Option<PlayerId>,
    /// The move.
    pub move_data: MoveValue,
    /// The player's share in the draw.
    pub nonce: Option<String>,
    /// What shows the manager that this player made this move.
    pub choice_proof: Option<String>,
    /// Why, for people.
    pub reasoning: Option<String>,
}

impl Body for ParityCall {
    fn read(f: &Fields<'_>) -> Result<Self, DecodeError> {
        let context = f.optional_object("context", Context::read)?.unwrap_or_default();
        let opponent_id = f.same(
            ("opponent_id", f.optional("opponent_id")?),
            ("context.opponent_id", context.opponent_id),
        )?;
        let missing = || f.missing("context.opponent_id", "a player id such as \"P01\"");
        Ok(Self {
            match_id: f.required("match_id")?,
            player_id: f.optional("player_id")?,
            game_type: f.optional("game_type")?,
            deadline: f.optional("deadline")?,
            opponent_id: opponent_id.ok_or_else(missing)?,
            round_id: f.same(
                ("round_id", f.optional("round_id")?),
                ("context.round_id", context.round_id),
            )?,
            your_standings: context.your_standings,
            standings: f.optional("standings")?,
            game_history: f.optional("game_history")?,
            attempt: f.optional("attempt")?,
            budget_ms: f.optional("budget_ms")?,
            last_rtt_ms: f.optional("last_rtt_ms")?,
            game_state: f.optional("game_state")?,
        })
    }

    fn write(&self, o: &mut Object<'_>) {
        o.field("match_id", &self.match_id);
        o.optional("player_id", self.player_id.as_ref());
        o.optional("round_id", self.round_id.as_ref());
        o.optional("game_type", self.game_type.as_ref());
        o.optional("deadline", self.deadline.as_ref());
        o.object("context", |o| {
            o.field("opponent_id", &self.opponent_id);
            o.optional("round_id", self.round_id.as_ref());
            o.fragment("your_standings", self.your_standings.as_ref());
        });
        o.field("opponent_id", &self.opponent_id);
        if o.dialect() == Dialect::Payload {
            o.object("move_request", |o| {
                o.field("move_type", PARITY);
                o.field("valid_options", &Parity::ALL.to_vec());
                o.object("context", |_| {});
            });
        }
        o.optional("standings", self.standings.as_ref());
        o.optional("game_history", self.game_history.as_ref());
        o.optional("attempt", self.attempt.as_ref());
        o.optional("budget_ms", self.budget_ms.as_ref());
        o.optional("last_rtt_ms", self.last_rtt_ms.as_ref());
        o.state("game_state", self.game_state);
    }

    fn encoded_bytes(&self) -> usize {
        Fragment::total([&self.your_standings, &self.standings, &self.game_history])
    }
}

/// What documents 000 and 003 put into `context`.
#[derive(Default)]
struct Context {
    opponent_id: Option<PlayerId>,
    round_id: Option<RoundId>,
    your_standings: Option<Fragment>,
}

impl Context {
    fn read(f: &Fields<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            opponent_id: f.optional("opponent_id")?,
            round_id: f.optional("round_id")?,
            your_standings: f.fragment("your_standings")?,
        })
    }
}

/// What documents call a choice. The last is the name of every move where document 004 is spoken.
const CHOICE: [&str; 3] = ["parity_choice", "choice", "move_data"];

impl Body for ParityResponse {
    fn read(f: &Fields<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            match_id: f.required("match_id")?,
            player_id: f.optional("player_id")?,
            choice: f.required_either(if f.is_payload() { &CHOICE } else { &CHOICE[..2] })?,
            nonce: f.optional("nonce")?,
            choice_proof: f.optional("choice_proof")?,
            reasoning: f.clipped("reasoning", REASON_BYTES_MAX)?,
        })
    }

    fn write(&self, o: &mut Object<'_>) {
        o.field("match_id", &self.match_id);
        o.optional("player_id", self.player_id.as_ref());
        for name in if o.dialect() == Dialect::Payload { &CHOICE[..] } else { &CHOICE[..2] } {
            o.field(name, &self.choice);
        }
        o.optional("nonce", self.nonce.as_ref());
        o.optional("choice_proof", self.choice_proof.as_ref());
        o.optional("reasoning", self.reasoning.as_ref());
    }
}

impl Body for MoveCall {
    fn read(f: &Fields<'_>) -> Result<Self, DecodeError> {
        let (move_type, valid_options, context) = f.object("move_request", |f| {
            Ok((f.required("move_type")?, f.list("valid_options")?, f.fragment("context")?))
        })?;
        Ok(Self {
            match_id: f.required("match_id")?,
            player_id: f.optional("player_id")?,
            game_type: f.required("game_type")?,
            step: f.optional("step")?,
            deadline: f.optional("deadline")?,
            opponent_id: f.optional("opponent_id")?,
            round_id: f.optional("round_id")?,
            move_type,
            valid_options,
            context,
            your_standings: f.fragment("your_standings")?,
            standings: f.optional("standings")?,
            game_history: f.optional("game_history")?,
            attempt: f.optional("attempt")?,
            budget_ms: f.optional("budget_ms")?,
            last_rtt_ms: f.optional("last_rtt_ms")?,
            game_state: f.optional("game_state")?,
        })
    }

    fn write(&self, o: &mut Object<'_>) {
        o.field("match_id", &self.match_id);
        o.optional("player_id", self.player_id.as_ref());
        o.field("game_type", &self.game_type);
        o.optional("step", self.step.as_ref());
        o.optional("deadline", self.deadline.as_ref());
        o.optional("opponent_id", self.opponent_id.as_ref());
        o.optional("round_id", self.round_id.as_ref());
        o.object("move_request", |o| {
            o.field("move_type", &self.move_type);
            o.field("valid_options", &self.valid_options);
            o.fragment("context", self.context.as_ref());
        });
        o.optional("your_standings", self.your_standings.as_ref());
        o.optional("standings", self.standings.as_ref());
        o.optional("game_history", self.game_history.as_ref());
        o.optional("attempt", self.attempt.as_ref());
        o.optional("budget_ms", self.budget_ms.as_ref());
        o.optional("last_rtt_ms", self.last_rtt_ms.as_ref());
        o.state("game_state", self.game_state);
    }

    fn encoded_bytes(&self) -> usize {
        Fragment::total([&self.your_standings, &self.standings, &self.game_history])
    }
}

/// A move that is null is a move that cannot be made; only without the field one is missing.
fn move_data(f: &Fields<'_>) -> Result<MoveValue, DecodeError> {
    match f.optional("move_data")? {
        Some(value) => Ok(value),
        None if f.has("move_data") => {
            Err(f.wrong(MoveValue::CODE, "move_data", MoveValue::EXPECTED.into()))
        }
        None => f.required("move_data"),
    }
}

impl Body for MoveResponse {
    fn read(f: &Fields<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            match_id: f.required("match_id")?,
            player_id: f.optional("player_id")?,
            move_data: move_data(f)?,
            nonce: f.optional("nonce")?,
            choice_proof: f.optional("choice_proof")?,
            reasoning: f.clipped("reasoning", REASON_BYTES_MAX)?,
        })
    }

    fn write(&self, o: &mut Object<'_>) {
        o.field("match_id", &self.match_id);
        o.optional("player_id", self.player_id.as_ref());
        o.field("move_data", &self.move_data);
        o.optional("nonce", self.nonce.as_ref());
        o.optional("choice_proof", self.choice_proof.as_ref());
        o.optional("reasoning", self.reasoning.as_ref());
    }
}
