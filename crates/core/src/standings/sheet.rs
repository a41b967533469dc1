//! The results of one round in four bytes per player.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::limits::PLAYERS_MAX;
use crate::verdict::Score;

const SCORE_BITS: u32 = 3;
const SCORE_MASK: u32 = (1 << SCORE_BITS) - 1;

const _: () = assert!(PLAYERS_MAX < u32::MAX >> SCORE_BITS);

/// What one round did to one player: against whom, and how it ended. Zero is no match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Cell(u32);

impl Cell {
    /// Every score, at the place that stands for it.
    pub(super) const SCORES: [Score; 5] =
        [Score::None, Score::Win, Score::Draw, Score::Loss, Score::TechnicalLoss];

    pub(super) fn new(opponent: u32, score: Score) -> Self {
        let code = match score {
            Score::None => 0,
            Score::Win => 1,
            Score::Draw => 2,
            Score::Loss => 3,
            Score::TechnicalLoss => 4,
        };
        Self((opponent + 1) << SCORE_BITS | code)
    }

    /// The opponent's slot plus one; zero if there was no match.
    pub(super) const fn opponent(self) -> usize {
        (self.0 >> SCORE_BITS) as usize
    }

    /// The score's place in [`Cell::SCORES`].
    pub(super) const fn code(self) -> usize {
        (self.0 & SCORE_MASK) as usize
    }
}

/// One round: a cell per player, by slot. Empty until the round's first result.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Sheet(Arc<Vec<Cell>>);

impl Sheet {
    pub(super) fn cells(&self) -> &[Cell] {
        &self.0
    }

    /// To be written, with room for `players`.
    pub(super) fn open(&mut self, players: usize) -> OpenSheet<'_> {
        let cells = Arc::make_mut(&mut self.0);
        if cells.is_empty() {
            *cells = vec![Cell::default(); players];
        }
        OpenSheet(cells)
    }
}

/// A sheet that nobody else reads meanwhile.
pub(super) struct OpenSheet<'a>(&'a mut [Cell]);

impl OpenSheet<'_> {
    pub(super) fn write(&mut self, slot: u32, cell: Cell) {
        let place = &mut self.0[slot as usize];
        assert!(*place == Cell::default(), "one result per player and round");
        *place = cell;
    }

    pub(super) fn erase(&mut self, slot: u32, cell: Cell) {
        let place = &mut self.0[slot as usize];
        assert!(*place == cell, "only what was written can be taken back");
        *place = Cell::default();
    }
}

/// How often each player has each score of [`Cell::SCORES`], by slot.
pub(super) fn tally(
    players: usize,
    sheets: &[Sheet],
) -> impl Iterator<Item = [u32; Cell::SCORES.len()]> {
    let mut counts = vec![[0; Cell::SCORES.len()]; players];
    for sheet in sheets {
        for (counts, cell) in counts.iter_mut().zip(sheet.cells()) {
            counts[cell.code()] += 1;
        }
    }
    counts.into_iter()
}
