//! What was played in a room so far, as players are told of it when they must choose.

use std::collections::{BTreeMap, VecDeque};

use league_core::id::PlayerId;
use league_wire::message::{MatchResultReport, PastGame, PlayerLine, StandingRow};
use league_wire::{Fragment, MoveValue, PlayerResult};

use crate::limits::PRACTICE_HISTORY_MAX;

/// Every player of a room with its matches.
#[derive(Debug, Default)]
pub(super) struct Ledger(BTreeMap<PlayerId, Page>);

#[derive(Debug)]
struct Page {
    row: StandingRow,
    /// The latest matches, the latest last.
    games: VecDeque<PastGame>,
}

impl Ledger {
    /// Opens a page for a player.
    pub(super) fn open(&mut self, player_id: PlayerId, display_name: String) {
        let row = StandingRow {
            rank: 1,
            player_id,
            display_name,
            played: 0,
            wins: 0,
            draws: 0,
            losses: 0,
            technical_losses: 0,
            points: 0,
            win_rate_thousandths: 0,
            state: None,
        };
        self.0.insert(player_id, Page { row, games: VecDeque::new() });
    }

    /// Writes a match down on both players' pages.
    pub(super) fn note(&mut self, report: &MatchResultReport) {
        for (player, own) in &report.players {
            let other = report.players.iter().find(|(id, _)| *id != player);
            let (Some(page), Some((opponent, theirs))) = (self.0.get_mut(player), other) else {
                continue;
            };
            page.count(&own.line);
            page.games.push_back(PastGame {
                round_id: report.round_id,
                match_id: report.match_id,
                opponent_id: *opponent,
                your_choice: own.line.choice.as_ref().and_then(MoveValue::made),
                opponent_choice: theirs.line.choice.as_ref().and_then(MoveValue::made),
                drawn_number: report.drawn_number,
                result: own.line.result.unwrap_or(PlayerResult::Cancelled),
            });
            if page.games.len() > PRACTICE_HISTORY_MAX {
                page.games.pop_front();
            }
        }
        let mut by_points: Vec<_> = self.0.values_mut().map(|page| &mut page.row).collect();
        by_points.sort_by_key(|row| std::cmp::Reverse(row.points));
        for (rank, row) in (1..).zip(by_points) {
            row.rank = rank;
        }
    }

    /// The table, the first first.
    pub(super) fn table(&self) -> Fragment {
        let mut rows: Vec<_> = self.0.values().map(|page| page.row.clone()).collect();
        rows.sort_by_key(|row| row.rank);
        StandingRow::encode_list(&rows)
    }

    /// A player's own row.
    pub(super) fn row(&self, player: PlayerId) -> Option<Fragment> {
        self.0.get(&player).map(|page| page.row.encode())
    }

    /// A player's latest matches.
    pub(super) fn history(&self, player: PlayerId) -> Option<Fragment> {
        let games: Vec<PastGame> = self.0.get(&player)?.games.iter().cloned().collect();
        Some(PastGame::encode_list(&games))
    }
}

impl Page {
    fn count(&mut self, line: &PlayerLine) {
        let row = &mut self.row;
        row.points += line.points.unwrap_or(0);
        match line.result {
            Some(PlayerResult::Win) => row.wins += 1,
            Some(PlayerResult::Tie) => row.draws += 1,
            Some(PlayerResult::Loss) => row.losses += 1,
            Some(PlayerResult::TechnicalLoss) => {
                row.losses += 1;
                row.technical_losses += 1;
            }
            Some(PlayerResult::Cancelled) | None => return,
        }
        row.played += 1;
        row.win_rate_thousandths = row.wins * 1_000 / row.played;
    }
}
