//! Results in, ranked table out.
//!
//! Recording a result touches two players and nothing else; ranking is done when somebody reads.
//! Every result is remembered in eight bytes, which is all that head-to-head and the tables of
//! past rounds need.

use serde::{Deserialize, Serialize};

use crate::id::{PlayerId, RoundId};
use crate::policy::Policy;
use crate::schedule::Pairing;
use crate::seat::{Seat, Seats};
use crate::verdict::{Score, Verdict};

mod ranking;
mod sheet;
#[cfg(test)]
mod tests;

use sheet::{Cell, Sheet};

/// What a player has achieved so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Record {
    /// Games that count: neither byes nor cancelled matches.
    pub played: u32,
    /// Games won, on the board or by the opponent's failure.
    pub wins: u32,
    /// Games drawn.
    pub draws: u32,
    /// Games lost, technical losses included.
    pub losses: u32,
    /// Games lost by failing to play.
    pub technical_losses: u32,
    /// Points.
    pub points: u64,
}

impl Record {
    /// Wins divided by games played; 0 before the first game.
    pub fn win_rate(&self) -> f64 {
        f64::from(self.wins) / f64::from(self.played.max(1))
    }

    /// Counts `times` games that ended with `score`, worth `points` each.
    fn add(&mut self, score: Score, times: u32, points: u32) {
        match score {
            Score::Win => self.wins += times,
            Score::Draw => self.draws += times,
            Score::Loss => self.losses += times,
            Score::TechnicalLoss => {
                self.losses += times;
                self.technical_losses += times;
            }
            Score::None => return,
        }
        self.played += times;
        self.points += u64::from(times) * u64::from(points);
    }

    /// Takes back one game that ended with `score`, worth `points`.
    fn remove(&mut self, score: Score, points: u32) {
        match score {
            Score::Win => self.wins -= 1,
            Score::Draw => self.draws -= 1,
            Score::Loss => self.losses -= 1,
            Score::TechnicalLoss => {
                self.losses -= 1;
                self.technical_losses -= 1;
            }
            Score::None => return,
        }
        self.played -= 1;
        self.points -= u64::from(points);
    }
}

/// One line of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// The place, counted from one; no two players share one.
    pub rank: u32,
    /// The player.
    pub player: PlayerId,
    /// What the player has achieved.
    pub record: Record,
}

/// The results of one league, always up to date.
///
/// A clone shares the sheets of finished rounds, so that a copy can be published after each result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standings {
    /// In registration order; a player's place here is its slot.
    players: Vec<PlayerId>,
    /// The slot of each player by number, since numbers may have gaps.
    slots: Vec<Option<u32>>,
    /// By slot.
    records: Vec<Record>,
    /// One per round.
    sheets: Vec<Sheet>,
}

impl Standings {
    /// An empty table of `players`, who are in registration order.
    ///
    /// # Panics
    /// If somebody is listed twice.
    pub fn new(players: &[PlayerId]) -> Self {
        let numbers = players.iter().map(|id| id.index() + 1).max().unwrap_or(0);
        let mut slots = vec![None; numbers];
        for (slot, player) in (0..).zip(players) {
            let earlier = slots[player.index()].replace(slot);
            assert!(earlier.is_none(), "{player} is listed twice");
        }
        Self {
            players: players.into(),
            slots,
            records: vec![Record::default(); players.len()],
            sheets: Vec::new(),
        }
    }

    /// The players in registration order.
    pub fn players(&self) -> &[PlayerId] {
        &self.players
    }

    /// What `player` has achieved so far.
    pub fn record_of(&self, player: PlayerId) -> Option<&Record> {
        self.slot(player).map(|slot| &self.records[slot as usize])
    }

    /// Counts the result of one match of `round`. A cancelled match counts for nobody.
    ///
    /// # Panics
    /// If a player is not of this league or has a result in this round already: the books would be
    /// wrong from here on.
    pub fn record(&mut self, round: RoundId, pairing: Pairing, verdict: Verdict, policy: &Policy) {
        let slots = Seats::from_fn(|seat| {
            self.slot(pairing.player(seat)).expect("only players of this league meet")
        });
        let scores = verdict.scores();
        let at = round.number() as usize - 1;
        if self.sheets.len() <= at {
            self.sheets.resize_with(at + 1, Sheet::default);
        }
        let mut sheet = self.sheets[at].open(self.players.len());
        for seat in Seat::BOTH {
            let score = scores[seat];
            sheet.write(slots[seat], Cell::new(slots[seat.other()], score));
            self.records[slots[seat] as usize].add(score, 1, score.points(policy));
        }
    }

    /// Takes back the result of one match of `round`, so that it can have another.
    ///
    /// # Panics
    /// If the match does not have this result: the books would be wrong from here on.
    pub fn retract(&mut self, round: RoundId, pairing: Pairing, verdict: Verdict, policy: &Policy) {
        let scores = verdict.scores();
        for seat in Seat::BOTH {
            let slot = self.slot(pairing.player(seat)).expect("only players of this league meet");
            let other = self.slot(pairing.player(seat.other())).expect("and both of them");
            let score = scores[seat];
            let mut sheet = self.sheets[round.number() as usize - 1].open(self.players.len());
            sheet.erase(slot, Cell::new(other, score));
            self.records[slot as usize].remove(score, score.points(policy));
        }
    }

    /// The table now: points, then the policy's tie-breakers in order, then registration order.
    ///
    /// Head-to-head reads every result once, however many players are tied; no other rule does.
    pub fn ranked(&self, policy: &Policy) -> Vec<Row> {
        ranking::rank(&self.players, &self.records, &self.sheets, policy)
    }

    /// How many players lead the table, which only the order of registration tells apart; nobody
    /// does before a game was played.
    pub fn leaders(&self, policy: &Policy) -> usize {
        match self.records.iter().any(|record| record.played > 0) {
            true => ranking::leaders(&self.records, &self.sheets, policy),
            false => 0,
        }
    }

    /// The table as it stood when `round` had ended, recomputed from the results.
    pub fn at_round(&self, round: RoundId, policy: &Policy) -> Vec<Row> {
        let rounds = self.sheets.len().min(round.number() as usize);
        let sheets = &self.sheets[..rounds];
        let records = sheet::tally(self.players.len(), sheets).map(|counts| {
            let mut record = Record::default();
            for (score, times) in Cell::SCORES.into_iter().zip(counts) {
                record.add(score, times, score.points(policy));
            }
            record
        });
        let records = Vec::from_iter(records);
        ranking::rank(&self.players, &records, sheets, policy)
    }

    fn slot(&self, player: PlayerId) -> Option<u32> {
        self.slots.get(player.index()).copied().flatten()
    }
}
