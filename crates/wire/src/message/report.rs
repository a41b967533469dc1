//! MATCH_RESULT_REPORT and MATCH_RESULT_ACK: how a match ended, for the manager.

use std::collections::BTreeMap;

use league_core::conduct::Conduct;
use league_core::id::{ConversationId, GameType, MatchId, PlayerId, RoundId};
use league_core::limits::REASON_BYTES_MAX;

use super::{Body, PlayerLine, StartMatch};
use crate::code::Code;
use crate::decode::DecodeError;
use crate::dialect::Dialect;
use crate::fields::Fields;
use crate::fragment::Fragment;
use crate::lenient::Tally;
use crate::limits::TRANSCRIPT_BYTES_MAX;
use crate::token::DrawSeed;
use crate::value::MoveValue;
use crate::word::{MatchState, PlayerResult, ResultStatus};
use crate::write::Object;

/// How a match ended, for the manager.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchResultReport {
    /// The match.
    pub match_id: MatchId,
    /// Its round.
    pub round_id: RoundId,
    /// The game.
    pub game_type: Option<GameType>,
    /// Which attempt at the match it was, counted from one.
    pub attempt: Option<u32>,
    /// How often the match was annulled and played again.
    pub rematch: Option<u32>,
    /// The conversation of the match.
    pub match_conversation: Option<ConversationId>,
    /// How it ended; a referee of document 000 does not say.
    pub status: Option<ResultStatus>,
    /// Who gets the points of a win.
    pub winner: Option<PlayerId>,
    /// Who failed to play.
    pub technical_losers: Vec<PlayerId>,
    /// Why, for people.
    pub reason: String,
    /// The number that was drawn.
    pub drawn_number: Option<u32>,
    /// What the match was for each player.
    pub players: BTreeMap<PlayerId, ReportedPlayer>,
    /// Where the match is.
    pub game_state: Option<MatchState>,
    /// What the draw followed from.
    pub draw_seed: Option<DrawSeed>,
    /// What the draw can be checked against.
    pub draw_commitment: Option<String>,
    /// Document 002's signature of the referee.
    pub referee_signature: Option<String>,
    /// Everything that was said, with times.
    pub transcript: Option<Fragment>,
}

/// What a match was for one player, with the evidence.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReportedPlayer {
    /// What the match was.
    pub line: PlayerLine,
    /// What shows that this player made this move.
    pub choice_proof: Option<String>,
    /// The dialect in which the player answered.
    pub dialect: Option<Dialect>,
    /// Whether the player showed its token to the referee.
    pub token_shown: bool,
    /// What went wrong with the calls to the player.
    pub conduct: Conduct,
    /// How many of those calls did bring an answer, which could not be used.
    pub unusable_answers: u32,
    /// From sending each invitation and each call for a choice to its answer, in microseconds.
    pub response_us: Vec<u64>,
    /// What was not as the documents say in the player's answers, where they were read leniently.
    pub deviations: Tally,
}

/// The result is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchResultAck {
    /// The match.
    pub match_id: MatchId,
    /// Whether the same result was recorded before.
    pub duplicate: bool,
    /// Whether the standings have it.
    pub standings_updated: bool,
    /// The referee's next matches, each as in START_MATCH.
    pub assignments: Vec<StartMatch>,
}

/// What documents call the winner.
const WINNER: [&str; 3] = ["winner", "winner_id", "winner_player_id"];

/// What `result` says in document 000.
#[derive(Default)]
struct Told {
    status: Option<ResultStatus>,
    winner: Option<PlayerId>,
    technical_losers: Vec<PlayerId>,
    reason: Option<String>,
    score: BTreeMap<PlayerId, u32>,
    drawn_number: Option<u32>,
    choices: BTreeMap<PlayerId, Option<MoveValue>>,
}

impl Told {
    fn read(f: &Fields<'_>) -> Result<Self, DecodeError> {
        let details = |f: &Fields<'_>| Ok((f.optional("drawn_number")?, f.map("choices")?));
        let (drawn_number, choices) = f.object("details", details)?;
        if !f.has("score") {
            return Err(f.missing("score", "the points of each player"));
        }
        let winner = f.either(&WINNER)?;
        f.agrees_on(&WINNER, winner)?;
        Ok(Self {
            status: f.optional("status")?,
            winner,
            technical_losers: f.list("technical_losers")?,
            reason: f.clipped("reason", REASON_BYTES_MAX)?,
            score: f.map("score")?,
            drawn_number,
            choices,
        })
    }
}

impl Body for MatchResultReport {
    fn read(f: &Fields<'_>) -> Result<Self, DecodeError> {
        let told = f.optional_object("result", Told::read)?;
        if told.is_none() && !f.has("players") {
            return Err(f.missing("result", "an object"));
        }
        let read = |f: &Fields<'_>| f.objects_as(ReportedPlayer::read);
        let stated = f.optional_object("players", read)?.unwrap_or_default();
        let told = told.unwrap_or_else(|| Told {
            status: status_of(&stated),
            winner: winner_of(&stated),
            ..Told::default()
        });
        f.agrees_on(&WINNER, told.winner)?;
        let drawn_number = f.optional("drawn_number")?;
        let transcript: Option<Fragment> = f.optional("transcript")?;
        if transcript.as_ref().is_some_and(|json| json.as_str().len() > TRANSCRIPT_BYTES_MAX) {
            let expected = format!("at most {TRANSCRIPT_BYTES_MAX} bytes");
            return Err(f.wrong(Code::E003, "transcript", expected));
        }
        Ok(Self {
            match_id: f.required("match_id")?,
            round_id: f.required("round_id")?,
            game_type: f.optional("game_type")?,
            attempt: f.optional("attempt")?,
            rematch: f.optional("rematch")?,
            match_conversation: f.optional("match_conversation_id")?,
            status: told.status,
            winner: told.winner,
            technical_losers: told.technical_losers,
            reason: told.reason.unwrap_or_default(),
            drawn_number: f.same(
                ("drawn_number", drawn_number),
                ("result.details.drawn_number", told.drawn_number),
            )?,
            players: merged(f, stated, told.score, told.choices)?,
            game_state: f.optional("game_state")?,
            draw_seed: f.optional("draw_seed")?,
            draw_commitment: f.optional("draw_commitment")?,
            referee_signature: f.optional("referee_signature")?,
            transcript,
        })
    }

    fn write(&self, o: &mut Object<'_>) {
        o.field("match_id", &self.match_id);
        o.field("round_id", &self.round_id);
        o.optional("game_type", self.game_type.as_ref());
        o.optional("attempt", self.attempt.as_ref());
        o.optional("rematch", self.rematch.as_ref());
        o.optional("match_conversation_id", self.match_conversation.as_ref());
        o.object("result", |o| self.write_result(o));
        o.object("players", |o| {
            for (id, player) in &self.players {
                o.object(&id.to_string(), |o| player.write(o));
            }
        });
        o.field("drawn_number", &self.drawn_number);
        o.state("game_state", self.game_state);
        o.optional("draw_seed", self.draw_seed.as_ref());
        o.optional("draw_commitment", self.draw_commitment.as_ref());
        o.optional("referee_signature", self.referee_signature.as_ref());
        o.optional("transcript", self.transcript.as_ref());
    }

    fn encoded_bytes(&self) -> usize {
        Fragment::total([&self.transcript])
    }
}

impl MatchResultReport {
    fn write_result(&self, o: &mut Object<'_>) {
        o.optional("status", self.status.as_ref());
        o.field("winner", &self.winner);
        o.map_some("score", &self.players, |player| player.line.points);
        o.object("details", |o| {
            o.field("drawn_number", &self.drawn_number);
            o.map("choices", &self.players, |player| player.line.choice.as_ref());
        });
        o.field("technical_losers", &self.technical_losers);
        o.field("reason", &self.reason);
    }
}

impl ReportedPlayer {
    fn read(f: &Fields<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            line: PlayerLine {
                choice: f.either(&["choice", "parity_choice"])?,
                result: f.optional("result")?,
                points: f.optional("points")?,
                nonce: f.optional("nonce")?,
                role: f.optional("role")?,
            },
            choice_proof: f.optional("choice_proof")?,
            dialect: f.optional("dialect")?,
            token_shown: f.optional("token_shown")?.unwrap_or_default(),
            conduct: f.optional_object("conduct", read_conduct)?.unwrap_or_default(),
            unusable_answers: f.optional("unusable_answers")?.unwrap_or_default(),
            response_us: f.list("response_us")?,
            deviations: Tally::read(f, "deviations")?,
        })
    }

    fn write(&self, o: &mut Object<'_>) {
        o.field("choice", &self.line.choice);
        o.field("result", &self.line.result);
        o.optional("points", self.line.points.as_ref());
        o.optional("nonce", self.line.nonce.as_ref());
        o.optional("role", self.line.role.as_ref());
        o.optional("choice_proof", self.choice_proof.as_ref());
        o.optional("dialect", self.dialect.as_ref());
        if self.token_shown {
            o.field("token_shown", &true);
        }
        if self.conduct != Conduct::default() {
            o.object("conduct", |o| write_conduct(self.conduct, o));
        }
        if self.unusable_answers > 0 {
            o.field("unusable_answers", &self.unusable_answers);
        }
        if !self.response_us.is_empty() {
            o.field("response_us", &self.response_us);
        }
        self.deviations.write(o, "deviations");
    }
}

fn read_conduct(f: &Fields<'_>) -> Result<Conduct, DecodeError> {
    Ok(Conduct {
        answered: f.optional("answered")?.unwrap_or_default(),
        timeouts: f.optional("timeouts")?.unwrap_or_default(),
        connection_errors: f.optional("connection_errors")?.unwrap_or_default(),
        invalid_moves: f.optional("invalid_moves")?.unwrap_or_default(),
    })
}

fn write_conduct(conduct: Conduct, o: &mut Object<'_>) {
    o.field("answered", &conduct.answered);
    o.field("timeouts", &conduct.timeouts);
    o.field("connection_errors", &conduct.connection_errors);
    o.field("invalid_moves", &conduct.invalid_moves);
}

type Players = BTreeMap<PlayerId, ReportedPlayer>;

/// How the match ended by what document 002 says about each player.
fn status_of(players: &Players) -> Option<ResultStatus> {
    let any = |result| players.values().any(|player| player.line.result == Some(result));
    let words = [
        (PlayerResult::TechnicalLoss, ResultStatus::TechnicalLoss),
        (PlayerResult::Win, ResultStatus::Win),
        (PlayerResult::Tie, ResultStatus::Draw),
        (PlayerResult::Cancelled, ResultStatus::Cancelled),
    ];
    words.into_iter().find(|(result, _)| any(*result)).map(|(_, status)| status)
}

fn winner_of(players: &Players) -> Option<PlayerId> {
    let won = |player: &ReportedPlayer| player.line.result == Some(PlayerResult::Win);
    players.iter().find(|(_, player)| won(player)).map(|(id, _)| *id)
}

/// Document 002's lines together with document 000's maps; what both say must be the same.
fn merged(
    f: &Fields<'_>,
    mut players: Players,
    score: BTreeMap<PlayerId, u32>,
    choices: BTreeMap<PlayerId, Option<MoveValue>>,
) -> Result<Players, DecodeError> {
    for (id, points) in score {
        let line = &mut players.entry(id).or_default().line;
        line.points = f.same(("players", line.points), ("result.score", Some(points)))?;
    }
    for (id, choice) in choices {
        let line = &mut players.entry(id).or_default().line;
        line.choice =
            f.same(("players", line.choice.take()), ("result.details.choices", choice))?;
    }
    Ok(players)
}

impl Body for MatchResultAck {
    fn read(f: &Fields<'_>) -> Result<Self, DecodeError> {
        if let Some(status) = f.optional::<String>("status")?
            && status != RECORDED
        {
            return Err(f.wrong(Code::E003, "status", format!("{RECORDED:?}")));
        }
        Ok(Self {
            match_id: f.required("match_id")?,
            duplicate: f.optional("duplicate")?.unwrap_or_default(),
            standings_updated: f.optional("standings_updated")?.unwrap_or_default(),
            assignments: f.objects("assignments", StartMatch::read)?.unwrap_or_default(),
        })
    }

    fn write(&self, o: &mut Object<'_>) {
        o.field("match_id", &self.match_id);
        o.field("status", RECORDED);
        o.field("standings_updated", &self.standings_updated);
        if self.duplicate {
            o.field("duplicate", &true);
        }
        if !self.assignments.is_empty() {
            o.objects("assignments", &self.assignments, StartMatch::write);
        }
    }
}

const RECORDED: &str = "RECORDED";
