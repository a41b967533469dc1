//! How a league and its matches start: START_LEAGUE, START_MATCH, MATCH_PROGRESS,
//! GET_ASSIGNED_MATCHES and their answers.

use std::collections::BTreeMap;

use league_core::id::{GameType, LeagueId, MatchId, PlayerId, RoundId};
use league_core::limits::REASON_BYTES_MAX;
use league_core::seat::{Seat, Seats};
use league_core::time::Timestamp;

use super::Body;
use crate::code::Code;
use crate::decode::DecodeError;
use crate::dialect::Dialect;
use crate::fields::Fields;
use crate::fragment::Fragment;
use crate::limits::EPILOGUE_BYTES_MAX;
use crate::token::{AuthToken, DrawSeed};
use crate::word::{Decision, MatchState, role};
use crate::write::Object;

/// The administrator starts a league.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartLeague {}

/// A referee is given a match, with everything it needs to run it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartMatch {
    /// The match.
    pub match_id: MatchId,
    /// Its round.
    pub round_id: RoundId,
    /// Which attempt at the match this is, counted from one.
    pub attempt: u32,
    /// How often the match was annulled and is played again.
    pub rematch: u32,
    /// The game.
    pub game_type: GameType,
    /// The league's rules, by name.
    pub rules: BTreeMap<String, String>,
    /// The players.
    pub players: Seats<AssignedPlayer>,
    /// What the draw will be checked against.
    pub draw_commitment: Option<String>,
    /// What the draw follows from; only for referees that are trusted with it.
    pub draw_seed: Option<DrawSeed>,
    /// The standings, for the players' choices.
    pub standings: Option<Fragment>,
    /// When the match begins.
    pub scheduled_start: Option<Timestamp>,
    /// When the result is due.
    pub result_deadline: Option<Timestamp>,
    /// How long the match stays with the referee without a sign of life.
    pub lease_ms: Option<u64>,
    /// Whether the players' answers are read leniently.
    pub lenient: bool,
}

/// A player of an assigned match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssignedPlayer {
    /// The player.
    pub player_id: PlayerId,
    /// Its address.
    pub endpoint: String,
    /// How to speak to it.
    pub dialect: Dialect,
    /// Whether the manager takes its calls for it, so that a call which cannot be made is no fault
    /// of the player's.
    pub relayed: bool,
    /// What the referee shows to the player.
    pub match_proof: Option<AuthToken>,
    /// What the player shows to the referee.
    pub reply_proof: Option<AuthToken>,
    /// The hash of the player's token.
    pub token_hash: Option<String>,
    /// The player's own row of the standings.
    pub your_standings: Option<Fragment>,
    /// The player's latest matches, as a list.
    pub game_history: Option<Fragment>,
}

/// The referee has taken the match, or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartMatchAck {
    /// The match.
    pub match_id: MatchId,
    /// The attempt.
    pub attempt: u32,
    /// Whether the referee runs it.
    pub status: Decision,
    /// Why not.
    pub reason: Option<String>,
    /// The commitment of the order, repeated by a referee that draws with the seed it was given.
    pub draw_commitment: Option<String>,
}

/// A referee is at work on its match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchProgress {
    /// The match.
    pub match_id: MatchId,
    /// The attempt.
    pub attempt: u32,
    /// Where the match is.
    pub game_state: MatchState,
    /// The hash of both choices, once they are in.
    pub choices_hash: Option<String>,
    /// Why the referee gives the attempt up for a failure of its own side.
    pub annulled: Option<String>,
    /// What was said after the report of an attempt that is over, in the form of its transcript.
    pub epilogue: Option<Fragment>,
}

/// The match stays with the referee, or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchProgressAck {
    /// The match.
    pub match_id: MatchId,
    /// The attempt.
    pub attempt: u32,
    /// Whether the match stays with the referee.
    pub status: Decision,
    /// For how long.
    pub lease_ms: Option<u64>,
    /// What the draw follows from, once the choices are fixed.
    pub draw_seed: Option<DrawSeed>,
}

/// A referee asks for its matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GetAssignedMatches {
    /// How many it can take.
    pub limit: Option<u32>,
}

/// The matches assigned to a referee.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssignedMatches {
    /// All of them, or as many as were asked for.
    pub assignments: Vec<Assignment>,
}

/// A match assigned to a referee that asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The league.
    pub league_id: Option<LeagueId>,
    /// As in START_MATCH.
    pub order: StartMatch,
}

impl Body for StartLeague {
    fn read(_: &Fields<'_>) -> Result<Self, DecodeError> {
        Ok(Self {})
    }

    fn write(&self, _: &mut Object<'_>) {}
}

impl StartMatch {
    /// Everything in it with which somebody could act as somebody else, or know a draw before its
    /// time.
    pub fn secrets(&self) -> impl Iterator<Item = String> {
        let seed = self.draw_seed.iter().map(|seed| seed.reveal().to_string());
        let of_player = |player: &AssignedPlayer| {
            let proofs = [&player.match_proof, &player.reply_proof];
            let proofs = proofs.into_iter().flatten().map(|proof| proof.reveal().to_string());
            proofs.chain(player.token_hash.clone()).collect::<Vec<_>>()
        };
        seed.chain(self.players.iter().flat_map(move |(_, player)| of_player(player)))
    }

    /// Its long parts that the record has elsewhere, each with its name.
    pub fn long_parts(&self) -> impl Iterator<Item = (&'static str, &Fragment)> {
        let standings = self.standings.iter().map(|json| ("the standings", json));
        let histories = self.players.iter().filter_map(|(_, player)| player.game_history.as_ref());
        standings.chain(histories.map(|json| ("the player's past matches", json)))
    }
}

impl Body for StartMatch {
    fn read(f: &Fields<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            match_id: f.required("match_id")?,
            round_id: f.required("round_id")?,
            attempt: f.required("attempt")?,
            rematch: f.optional("rematch")?.unwrap_or(0),
            game_type: f.required("game_type")?,
            rules: f.map("rules")?,
            players: pair(f)?,
            draw_commitment: f.optional("draw_commitment")?,
            draw_seed: f.optional("draw_seed")?,
            standings: f.optional("standings")?,
            scheduled_start: f.optional("scheduled_start")?,
            result_deadline: f.optional("result_deadline")?,
            lease_ms: f.optional("lease_ms")?,
            lenient: f.optional("lenient")?.unwrap_or_default(),
        })
    }

    fn write(&self, o: &mut Object<'_>) {
        o.field("match_id", &self.match_id);
        o.field("round_id", &self.round_id);
        o.field("attempt", &self.attempt);
        o.field("rematch", &self.rematch);
        o.field("game_type", &self.game_type);
        o.map("rules", &self.rules, String::as_str);
        write_pair(&self.players, o);
        o.optional("draw_commitment", self.draw_commitment.as_ref());
        o.optional("draw_seed", self.draw_seed.as_ref());
        o.optional("standings", self.standings.as_ref());
        o.optional("scheduled_start", self.scheduled_start.as_ref());
        o.optional("result_deadline", self.result_deadline.as_ref());
        o.optional("lease_ms", self.lease_ms.as_ref());
        if self.lenient {
            o.field("lenient", &true);
        }
    }

    fn encoded_bytes(&self) -> usize {
        let own = self.players.iter().flat_map(|(_, it)| [&it.your_standings, &it.game_history]);
        Fragment::total(own.chain([&self.standings]))
    }
}

/// Writes the two players, each with its side.
pub(super) fn write_pair(players: &Seats<AssignedPlayer>, o: &mut Object<'_>) {
    let players = players.iter().collect::<Vec<_>>();
    o.objects("players", &players, |(seat, player), o| {
        o.field("role_in_match", role(*seat));
        player.write(o);
    });
}

/// The two players, each with its side.
pub(super) fn pair(f: &Fields<'_>) -> Result<Seats<AssignedPlayer>, DecodeError> {
    let each = |f: &Fields<'_>| Ok((f.required("role_in_match")?, AssignedPlayer::read(f)?));
    let players = f.objects("players", each)?.ok_or_else(|| f.missing("players", "two players"))?;
    match <[(Seat, AssignedPlayer); 2]>::try_from(players) {
        Ok([(Seat::A, a), (Seat::B, b)] | [(Seat::B, b), (Seat::A, a)]) => Ok(Seats::new(a, b)),
        Ok(_) | Err(_) => Err(f.wrong(Code::E003, "players", "PLAYER_A and PLAYER_B".into())),
    }
}

impl AssignedPlayer {
    fn read(f: &Fields<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            player_id: f.required("player_id")?,
            endpoint: f.required("endpoint")?,
            dialect: f.optional("dialect")?.unwrap_or(Dialect::Flat),
            relayed: f.optional("relayed")?.unwrap_or_default(),
            match_proof: f.optional("match_proof")?,
            reply_proof: f.optional("reply_proof")?,
            token_hash: f.optional("token_hash")?,
            your_standings: f.fragment("your_standings")?,
            game_history: f.optional("game_history")?,
        })
    }

    fn write(&self, o: &mut Object<'_>) {
        o.field("player_id", &self.player_id);
        o.field("endpoint", &self.endpoint);
        o.field("dialect", &self.dialect);
        if self.relayed {
            o.field("relayed", &true);
        }
        o.optional("match_proof", self.match_proof.as_ref());
        o.optional("reply_proof", self.reply_proof.as_ref());
        o.optional("token_hash", self.token_hash.as_ref());
        o.optional("your_standings", self.your_standings.as_ref());
        o.optional("game_history", self.game_history.as_ref());
    }
}

impl Body for StartMatchAck {
    fn read(f: &Fields<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            match_id: f.required("match_id")?,
            attempt: f.required("attempt")?,
            status: f.required("status")?,
            reason: f.optional("reason")?,
            draw_commitment: f.optional("draw_commitment")?,
        })
    }

    fn write(&self, o: &mut Object<'_>) {
        o.field("match_id", &self.match_id);
        o.field("attempt", &self.attempt);
        o.field("status", &self.status);
        o.optional("reason", self.reason.as_ref());
        o.optional("draw_commitment", self.draw_commitment.as_ref());
    }
}

impl Body for MatchProgress {
    fn read(f: &Fields<'_>) -> Result<Self, DecodeError> {
        let epilogue: Option<Fragment> = f.optional("epilogue")?;
        if epilogue.as_ref().is_some_and(|json| json.as_str().len() > EPILOGUE_BYTES_MAX) {
            let expected = format!("at most {EPILOGUE_BYTES_MAX} bytes");
            return Err(f.wrong(Code::E003, "epilogue", expected));
        }
        Ok(Self {
            match_id: f.required("match_id")?,
            attempt: f.required("attempt")?,
            game_state: f.required("game_state")?,
            choices_hash: f.optional("choices_hash")?,
            annulled: f.clipped("annulled", REASON_BYTES_MAX)?,
            epilogue,
        })
    }

    fn write(&self, o: &mut Object<'_>) {
        o.field("match_id", &self.match_id);
        o.field("attempt", &self.attempt);
        o.field("game_state", &self.game_state);
        o.optional("choices_hash", self.choices_hash.as_ref());
        o.optional("annulled", self.annulled.as_ref());
        o.optional("epilogue", self.epilogue.as_ref());
    }

    fn encoded_bytes(&self) -> usize {
        Fragment::total([&self.epilogue])
    }
}

impl Body for MatchProgressAck {
    fn read(f: &Fields<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            match_id: f.required("match_id")?,
            attempt: f.required("attempt")?,
            status: f.required("status")?,
            lease_ms: f.optional("lease_ms")?,
            draw_seed: f.optional("draw_seed")?,
        })
    }

    fn write(&self, o: &mut Object<'_>) {
        o.field("match_id", &self.match_id);
        o.field("attempt", &self.attempt);
        o.field("status", &self.status);
        o.optional("lease_ms", self.lease_ms.as_ref());
        o.optional("draw_seed", self.draw_seed.as_ref());
    }
}

impl Body for GetAssignedMatches {
    fn read(f: &Fields<'_>) -> Result<Self, DecodeError> {
        Ok(Self { limit: f.optional("limit")? })
    }

    fn write(&self, o: &mut Object<'_>) {
        o.optional("limit", self.limit.as_ref());
    }
}

impl Body for AssignedMatches {
    fn read(f: &Fields<'_>) -> Result<Self, DecodeError> {
        let assignments = f.objects("assignments", |f| {
            Ok(Assignment { league_id: f.optional("league_id")?, order: StartMatch::read(f)? })
        })?;
        let missing = || f.missing("assignments", "a list of matches");
        Ok(Self { assignments: assignments.ok_or_else(missing)? })
    }

    fn write(&self, o: &mut Object<'_>) {
        o.objects("assignments", &self.assignments, |assignment, o| {
            o.optional("league_id", assignment.league_id.as_ref());
            assignment.order.write(o);
        });
    }
}
