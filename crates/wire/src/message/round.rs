//! Rounds and the league's end: ROUND_ANNOUNCEMENT, ROUND_COMPLETED, LEAGUE_COMPLETED.

use std::collections::BTreeMap;

use league_core::id::{GameType, MatchId, PlayerId, RefereeId, RoundId};
use league_core::seat::Seats;
use league_core::time::Timestamp;

use super::start::{AssignedPlayer, pair, write_pair};
use super::{Body, StandingRow};
use crate::decode::DecodeError;
use crate::dialect::Dialect;
use crate::fields::{Fields, Items};
use crate::fragment::{Fragment, Listed};
use crate::write::Object;

/// A round and its matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoundAnnouncement {
    /// The round.
    pub round_id: RoundId,
    /// Its matches, or the recipient's own if there are too many for one message.
    pub matches: Listed<AnnouncedMatch>,
    /// Who does not play.
    pub byes: Vec<PlayerId>,
    /// When every result is due.
    pub round_deadline: Option<Timestamp>,
    /// How many matches the round has.
    pub total_matches: Option<u32>,
    /// How many rounds the league has.
    pub total_rounds: Option<u32>,
    /// How to ask for the matches that are not listed.
    pub more: Option<String>,
}

/// A match of an announced round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnnouncedMatch {
    /// The match.
    pub match_id: MatchId,
    /// The game.
    pub game_type: Option<GameType>,
    /// The players.
    pub players: Seats<PlayerId>,
    /// The referee.
    pub referee_id: Option<RefereeId>,
    /// The referee's address.
    pub referee_endpoint: Option<String>,
    /// When it begins.
    pub scheduled_start: Option<Timestamp>,
    /// What its referee needs to run it, in the referee's own announcement.
    pub officiated: Option<Officiated>,
}

/// What a referee that goes by the announcement needs to run a match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Officiated {
    /// The attempt.
    pub attempt: u32,
    /// How often it was ordered to be played again.
    pub rematch: u32,
    /// The league's rules.
    pub rules: BTreeMap<String, String>,
    /// Both players, as in START_MATCH.
    pub players: Seats<AssignedPlayer>,
}

impl Officiated {
    fn read(f: &Fields<'_>, attempt: u32) -> Result<Self, DecodeError> {
        let rematch = f.optional("rematch")?.unwrap_or(0);
        Ok(Self { attempt, rematch, rules: f.map("rules")?, players: pair(f)? })
    }

    fn write(&self, o: &mut Object<'_>) {
        o.field("attempt", &self.attempt);
        o.field("rematch", &self.rematch);
        o.map("rules", &self.rules, String::as_str);
        o.field("player_A_endpoint", &self.players.a.endpoint);
        o.field("player_B_endpoint", &self.players.b.endpoint);
        write_pair(&self.players, o);
    }
}

/// Every result of a round is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoundCompleted {
    /// The round.
    pub round_id: RoundId,
    /// Its matches, unless there are too many for one message.
    pub completed_matches: Vec<MatchId>,
    /// How many matches it had.
    pub matches_played: u32,
    /// The round that follows.
    pub next_round_id: Option<RoundId>,
    /// The hash of the record up to here.
    pub journal_head: Option<String>,
    /// The fingerprint of the key that signs the record.
    pub key_fingerprint: Option<String>,
}

/// The league is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeagueCompleted {
    /// How many rounds were played.
    pub total_rounds: u32,
    /// How many matches they had.
    pub total_matches: u32,
    /// Who won.
    pub champion: Option<Champion>,
    /// The standings at the end, or the part that concerns the recipient.
    pub final_standings: Listed<StandingRow>,
    /// The hash of the whole record.
    pub journal_head: Option<String>,
    /// The fingerprint of the key that signs the record.
    pub key_fingerprint: Option<String>,
}

/// The winner of a league.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Champion {
    /// The player.
    pub player_id: PlayerId,
    /// Its name.
    pub display_name: String,
    /// Its points.
    pub points: u32,
}

impl Body for RoundAnnouncement {
    fn read(f: &Fields<'_>) -> Result<Self, DecodeError> {
        let matches = f.objects("matches", AnnouncedMatch::read)?;
        Ok(Self {
            round_id: f.required("round_id")?,
            matches: Listed::Items(matches.ok_or_else(|| f.missing("matches", "a list"))?),
            byes: f.list("byes")?,
            round_deadline: f.optional("round_deadline")?,
            total_matches: f.optional("total_matches")?,
            total_rounds: f.optional("total_rounds")?,
            more: f.optional("more")?,
        })
    }

    fn write(&self, o: &mut Object<'_>) {
        o.field("round_id", &self.round_id);
        o.listed("matches", &self.matches, AnnouncedMatch::write);
        o.field("byes", &self.byes);
        o.field("round_deadline", &self.round_deadline);
        o.optional("total_matches", self.total_matches.as_ref());
        o.optional("total_rounds", self.total_rounds.as_ref());
        o.optional("more", self.more.as_ref());
    }
}

impl AnnouncedMatch {
    /// The list as JSON, for many recipients.
    pub fn encode(matches: &[Self]) -> Fragment {
        Fragment::list(matches, Self::write)
    }

    /// `player3_id` and `player4_id` are how document 002 prints its second match.
    pub(super) fn read(f: &Fields<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            match_id: f.required("match_id")?,
            game_type: f.optional("game_type")?,
            players: Seats::new(
                f.required_either(&["player_A_id", "player1_id", "player3_id"])?,
                f.required_either(&["player_B_id", "player2_id", "player4_id"])?,
            ),
            referee_id: f.optional("referee_id")?,
            referee_endpoint: f.optional("referee_endpoint")?,
            scheduled_start: f.optional("scheduled_start")?,
            officiated: match f.optional("attempt")? {
                Some(attempt) => Some(Officiated::read(f, attempt)?),
                None => None,
            },
        })
    }

    fn write(&self, o: &mut Object<'_>) {
        o.field("match_id", &self.match_id);
        o.optional("game_type", self.game_type.as_ref());
        o.field("player_A_id", &self.players.a);
        o.field("player_B_id", &self.players.b);
        o.field("player1_id", &self.players.a);
        o.field("player2_id", &self.players.b);
        o.optional("referee_id", self.referee_id.as_ref());
        o.optional("referee_endpoint", self.referee_endpoint.as_ref());
        o.optional("scheduled_start", self.scheduled_start.as_ref());
        if let Some(officiated) = &self.officiated {
            officiated.write(o);
        }
    }
}

impl Body for RoundCompleted {
    fn read(f: &Fields<'_>) -> Result<Self, DecodeError> {
        let completed_matches: Vec<MatchId> = f.list("completed_matches")?;
        let played = f.optional("matches_played")?;
        if played.is_none() && !f.has("completed_matches") {
            return Err(f.missing("completed_matches", "a list of match ids"));
        }
        let listed = || u32::try_from(completed_matches.len()).expect("lists are bounded");
        Ok(Self {
            round_id: f.required("round_id")?,
            matches_played: played.unwrap_or_else(listed),
            completed_matches,
            next_round_id: f.optional("next_round_id")?,
            journal_head: f.optional("journal_head")?,
            key_fingerprint: f.optional("key_fingerprint")?,
        })
    }

    fn write(&self, o: &mut Object<'_>) {
        o.field("round_id", &self.round_id);
        o.field("completed_matches", &self.completed_matches);
        o.field("matches_played", &self.matches_played);
        // The only document that lists this field wants a text in it, unlike in `round_id`.
        match self.next_round_id {
            Some(next) if o.dialect() == Dialect::Flat => {
                o.field("next_round_id", &next.to_string());
            }
            next => o.field("next_round_id", &next),
        }
        o.optional("journal_head", self.journal_head.as_ref());
        o.optional("key_fingerprint", self.key_fingerprint.as_ref());
    }
}

const FINAL_STANDINGS: &str = "final_standings";

impl Body for LeagueCompleted {
    fn read(f: &Fields<'_>) -> Result<Self, DecodeError> {
        let (is_payload, own) = (f.is_payload(), f.has(FINAL_STANDINGS));
        let name = if is_payload && !own { "standings" } else { FINAL_STANDINGS };
        f.required::<Items>(name)?;
        let rows = f.objects(name, StandingRow::read_final)?;
        Ok(Self {
            total_rounds: f.required("total_rounds")?,
            total_matches: f.required("total_matches")?,
            champion: f.optional_object("champion", Champion::read)?,
            final_standings: Listed::Items(rows.unwrap_or_default()),
            journal_head: f.optional("journal_head")?,
            key_fingerprint: f.optional("key_fingerprint")?,
        })
    }

    fn write(&self, o: &mut Object<'_>) {
        o.field("total_rounds", &self.total_rounds);
        o.field("total_matches", &self.total_matches);
        match &self.champion {
            Some(champion) => o.object("champion", |o| champion.write(o)),
            None => o.field("champion", &None::<u32>),
        }
        // Document 004 has no such message; its agents get the last standings as all others.
        let is_payload = o.dialect() == Dialect::Payload;
        let name = if is_payload { "standings" } else { FINAL_STANDINGS };
        o.listed(name, &self.final_standings, StandingRow::write);
        if is_payload {
            o.field("final", &true);
        }
        o.optional("journal_head", self.journal_head.as_ref());
        o.optional("key_fingerprint", self.key_fingerprint.as_ref());
    }
}

impl Champion {
    fn read(f: &Fields<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            player_id: f.required("player_id")?,
            display_name: f.required("display_name")?,
            points: f.required("points")?,
        })
    }

    fn write(&self, o: &mut Object<'_>) {
        o.field("player_id", &self.player_id);
        o.field("display_name", &self.display_name);
        o.field("points", &self.points);
    }
}
