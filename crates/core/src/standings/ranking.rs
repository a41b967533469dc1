//! The exact order of the table: groups of tied players are divided by one rule after another.

use std::cmp::Ordering;
use std::ops::Range;

use crate::id::PlayerId;
use crate::policy::{Policy, TieBreaker};

use super::sheet::{Cell, Sheet};
use super::{Record, Row};

/// What a rule compares: `value / of`, so that shares are compared exactly.
#[derive(Debug, Clone, Copy)]
struct Share {
    value: u64,
    of: u64,
}

impl Share {
    const fn whole(value: u64) -> Self {
        Self { value, of: 1 }
    }

    fn order(self, other: Self) -> Ordering {
        (self.value * other.of).cmp(&(other.value * self.of))
    }
}

/// Slots in the order of the table, and the stretches of it that are still tied.
struct Table {
    order: Vec<usize>,
    ties: Vec<Range<usize>>,
}

pub(super) fn rank(
    players: &[PlayerId],
    records: &[Record],
    sheets: &[Sheet],
    policy: &Policy,
) -> Vec<Row> {
    let row = |(rank, slot): (u32, usize)| {
        let (player, record) = (players[slot], records[slot]);
        Row { rank, player, record }
    };
    (1..).zip(ordered(records, sheets, policy).order).map(row).collect()
}

/// How many players lead the table, which only the order of registration tells apart. There is
/// somebody in it.
pub(super) fn leaders(records: &[Record], sheets: &[Sheet], policy: &Policy) -> usize {
    let table = ordered(records, sheets, policy);
    let first = table.ties.first().filter(|tie| tie.start == 0);
    first.map_or(1, ExactSizeIterator::len)
}

fn ordered(records: &[Record], sheets: &[Sheet], policy: &Policy) -> Table {
    let mut table = Table::unordered(records.len());
    table.divide(|slot| Share::whole(records[slot].points));
    for rule in policy.tie_breakers() {
        if table.ties.is_empty() {
            break;
        }
        match rule {
            TieBreaker::HeadToHead => {
                let points = table.head_to_head(sheets, policy);
                table.divide(|slot| Share::whole(points[slot]));
            }
            TieBreaker::WinPercentage => table.divide(|slot| win_percentage(&records[slot])),
            TieBreaker::Wins => table.divide(|slot| Share::whole(records[slot].wins.into())),
            TieBreaker::Draws => table.divide(|slot| Share::whole(records[slot].draws.into())),
        }
    }
    table
}

fn win_percentage(record: &Record) -> Share {
    Share { value: record.wins.into(), of: record.played.max(1).into() }
}

impl Table {
    /// Registration order, with everybody tied. Sorting is stable, so it decides last.
    fn unordered(players: usize) -> Self {
        Self {
            order: (0..players).collect(),
            ties: Vec::from_iter((players > 1).then_some(0..players)),
        }
    }

    /// Orders each tied group by `share`, the largest first, and keeps what is still tied.
    fn divide(&mut self, share: impl Fn(usize) -> Share) {
        let mut ties = Vec::new();
        for tie in &self.ties {
            let group = &mut self.order[tie.clone()];
            group.sort_by(|&one, &other| share(other).order(share(one)));
            let mut from = tie.start;
            for equal in group.chunk_by(|&one, &other| share(one).order(share(other)).is_eq()) {
                if equal.len() > 1 {
                    ties.push(from..from + equal.len());
                }
                from += equal.len();
            }
        }
        self.ties = ties;
    }

    /// By slot, the points from matches within each tied group, all groups in one pass.
    fn head_to_head(&self, sheets: &[Sheet], policy: &Policy) -> Vec<u64> {
        let worth = Cell::SCORES.map(|score| u64::from(score.points(policy)));
        let mut points = vec![0; self.order.len()];
        // By slot plus one, as cells name opponents. Group 0 needs no test of its own: it is those
        // who are not tied, whose sum nobody reads, and the opponent in a bye, which is worth 0.
        let mut groups = vec![0_u32; self.order.len() + 1];
        for (group, tie) in (1..).zip(&self.ties) {
            for &slot in &self.order[tie.clone()] {
                groups[slot + 1] = group;
            }
        }
        for sheet in sheets {
            let players = points.iter_mut().zip(&groups[1..]);
            for ((points, &group), cell) in players.zip(sheet.cells()) {
                if groups[cell.opponent()] == group {
                    *points += worth[cell.code()];
                }
            }
        }
        points
    }
}
