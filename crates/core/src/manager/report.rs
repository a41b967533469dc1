//! A referee's report of a result, and what its evidence is worth.
//!
//! The cryptography is checked here, outside the single writer: [`Evidence`] can only be made by
//! [`Evidence::weigh`], and a report cannot be built without one.

use std::sync::Arc;

use super::event::{ChoiceEvidence, DrawEvidence};
use super::refusal::Lie;
use crate::conduct::Conduct;
use crate::draw::{Draw, Seed};
use crate::game::{self, Game, Move, Next, NotAGame, Options, Turn};
use crate::id::{ConversationId, LeagueId, MatchId, RefereeId};
use crate::proof::{Keys, SentChoice, Token, choice_proof};
use crate::schedule::Pairing;
use crate::seat::{Seat, Seats};
use crate::verdict::Verdict;

/// What a referee says about a match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Who says it, proved by its token.
    pub referee: RefereeId,
    /// Which match.
    pub match_id: MatchId,
    /// Which attempt; a referee that knows no attempts means the current one.
    pub attempt: Option<u32>,
    /// The conversation of the match.
    pub conversation: ConversationId,
    /// How it says the match ended.
    pub verdict: Verdict,
    /// The points it says each side gets, if it says so.
    pub points: Seats<Option<u32>>,
    /// The role it says each side had, if it says so.
    pub roles: Seats<Option<Arc<str>>>,
    /// What the players did.
    pub play: Play,
    /// Why the match ended like this, in words.
    pub reason: Arc<str>,
    /// SHA-256 of the transcript that came along.
    pub transcript: Option<[u8; 32]>,
    /// What the cryptography says.
    pub evidence: Evidence,
    /// How the players behaved towards the referee's calls.
    pub conduct: Seats<Conduct>,
}

/// What the players of a match did.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Play {
    /// The complete turns.
    pub turns: Vec<Turn>,
    /// Moves made in a step that never became complete.
    pub stranded: Seats<Option<Move>>,
    /// What the players added to the draw.
    pub nonces: Seats<Option<Arc<str>>>,
    /// The players' proofs of their moves.
    pub choice_proofs: Seats<Option<[u8; 32]>>,
}

/// What the cryptography of a report says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence(pub(super) Result<Findings, Lie>);

/// What was found out about a report whose draw is not false.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Findings {
    pub(super) draw: DrawEvidence,
    pub(super) choices: Seats<ChoiceEvidence>,
    /// What players proved to have chosen, where something else was reported.
    pub(super) proved: Seats<Option<Move>>,
}

/// What is needed to weigh a report.
#[derive(Debug)]
pub struct Scales<'a> {
    /// The league's keys.
    pub keys: &'a Keys,
    /// The league's game.
    pub game: &'a dyn Game,
    /// Which league.
    pub league: &'a LeagueId,
    /// Which match.
    pub match_id: MatchId,
    /// Which attempt.
    pub attempt: u32,
    /// Which official replay.
    pub rematch: u32,
    /// The players' tokens.
    pub tokens: Seats<&'a Token>,
    /// The seed that the report reveals, as text.
    pub revealed: Option<&'a str>,
    /// Whether the referee had the committed seed to draw with, and so must have used it.
    pub seed_was_given: bool,
}

impl Evidence {
    /// Checks the draw and the players' proofs of their moves.
    pub fn weigh(scales: &Scales<'_>, play: &Play) -> Self {
        Self(findings(scales, play))
    }
}

fn findings(scales: &Scales<'_>, play: &Play) -> Result<Findings, Lie> {
    let weighed = Seats::from_fn(|seat| weigh_choice(scales, play, seat));
    let choices = Seats::from_fn(|seat| weighed[seat].0);
    let Seats { a: (_, a), b: (_, b) } = weighed;
    Ok(Findings { draw: weigh_draw(scales, play)?, choices, proved: Seats::new(a, b) })
}

impl Findings {
    /// What is false about the reported choices, if something is.
    pub(super) const fn false_choice(&self, pairing: Pairing) -> Option<Lie> {
        match (&self.proved.a, &self.proved.b) {
            (None, None) => None,
            (Some(_), None) => Some(Lie::FalseChoice(pairing.a)),
            (None, Some(_)) => Some(Lie::FalseChoice(pairing.b)),
            (Some(_), Some(_)) => Some(Lie::FalseChoices),
        }
    }
}

impl Play {
    /// The same with the last moves that were proved.
    pub(super) fn corrected(mut self, proved: &Seats<Option<Move>>) -> Self {
        for (seat, proved) in
            proved.iter().filter_map(|(seat, proved)| Some((seat, proved.as_ref()?)))
        {
            let complete = self.turns.iter_mut().filter_map(|turn| match turn {
                Turn::Moves(moves) => moves[seat].as_mut(),
                Turn::Drawn(_) => None,
            });
            let last = complete.chain(self.stranded[seat].as_mut()).last();
            if let Some(last) = last {
                last.clone_from(proved);
            }
        }
        self
    }
}

/// What a player's proof says of the move that is reported of it, and the move that it proves if
/// that is another one. A proof of nothing at all may be the player's own mischief, and must not
/// cost the referee its report.
fn weigh_choice(scales: &Scales<'_>, play: &Play, seat: Seat) -> (ChoiceEvidence, Option<Move>) {
    let Some(offered) = &play.choice_proofs[seat] else { return (ChoiceEvidence::None, None) };
    let Some((step, chosen)) = last_move(play, seat) else {
        return (ChoiceEvidence::Unclear, None);
    };
    let nonce = play.nonces[seat].as_deref().unwrap_or("");
    let proves = |choice: &str| {
        let sent = SentChoice { step, choice, nonce };
        let (token, league) = (scales.tokens[seat], scales.league);
        choice_proof(token, league, scales.match_id, scales.attempt, sent).is(offered)
    };
    if proves(&chosen.to_string()) {
        return (ChoiceEvidence::Proved, None);
    }
    let alternatives = alternatives(scales.game, play, step, seat);
    match alternatives.into_iter().find(|choice| proves(&choice.to_string())) {
        Some(proved) => (ChoiceEvidence::Contradicted, Some(proved)),
        None => (ChoiceEvidence::Unclear, None),
    }
}

/// What a side could have chosen in a step; at most so many that trying them is cheap.
fn alternatives(game: &dyn Game, play: &Play, step: u32, seat: Seat) -> Vec<Move> {
    let is_move = |turn: &Turn| matches!(turn, Turn::Moves(_));
    let moves = play.turns.iter().enumerate().filter(|(_, turn)| is_move(turn));
    let before = moves.map(|(index, _)| index).nth(step as usize - 1).unwrap_or(play.turns.len());
    let before = &play.turns[..before];
    if game::replay(game, before) != Err(NotAGame::Unfinished) {
        return vec![];
    }
    let Next::Moves(step) = game.next(before) else { return vec![] };
    step.owed[seat].as_ref().map(Options::listed).unwrap_or_default()
}

/// The last move a side made, and in which step, counted from one.
fn last_move(play: &Play, seat: Seat) -> Option<(u32, &Move)> {
    let complete = play.turns.iter().filter_map(|turn| match turn {
        Turn::Moves(moves) => Some(moves),
        Turn::Drawn(_) => None,
    });
    let steps = std::iter::successors(Some(1_u32), |step| step.checked_add(1));
    let all = complete.chain(std::iter::once(&play.stranded)).zip(steps);
    all.filter_map(|(moves, step)| moves[seat].as_ref().map(|chosen| (step, chosen))).last()
}

fn weigh_draw(scales: &Scales<'_>, play: &Play) -> Result<DrawEvidence, Lie> {
    let draw = Draw::new(scales.league, scales.match_id, scales.rematch);
    let seed: Seed = draw.seed(scales.keys);
    if scales.revealed.is_some_and(|revealed| revealed != seed.reveal()) {
        return Err(Lie::FalseSeed);
    }
    let drawn = play.turns.iter().find_map(|turn| match turn {
        Turn::Drawn(number) => Some(*number),
        Turn::Moves(_) => None,
    });
    let Some(number) = drawn else { return Ok(DrawEvidence::None) };
    if !scales.seed_was_given {
        return Ok(DrawEvidence::NotVerifiable);
    }
    let nonces = Seats::from_fn(|seat| play.nonces[seat].as_deref().unwrap_or(""));
    if u32::from(draw.number(&seed, nonces)) == number {
        Ok(DrawEvidence::Verified)
    } else {
        Err(Lie::FalseDraw)
    }
}
