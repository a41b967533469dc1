//! What the table should be: slow and obviously right. Every result is gone through for every
//! player, every time.

use std::cmp::Ordering;

use league_core::id::PlayerId;
use league_core::policy::{Policy, TieBreaker};
use league_core::schedule::Pairing;
use league_core::seat::Seat;
use league_core::verdict::Verdict;

/// All results of a league, as they came.
#[derive(Debug, Default)]
pub(crate) struct Reference {
    pub(crate) players: Vec<PlayerId>,
    results: Vec<(Pairing, Verdict)>,
}

/// A line of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) player: PlayerId,
    pub(crate) played: u32,
    pub(crate) wins: u32,
    pub(crate) draws: u32,
    pub(crate) losses: u32,
    pub(crate) technical_losses: u32,
    pub(crate) points: u64,
}

impl Reference {
    pub(crate) fn record(&mut self, pairing: Pairing, verdict: Verdict) {
        self.results.push((pairing, verdict));
    }

    /// A result counts no longer.
    pub(crate) fn retract(&mut self, pairing: Pairing) {
        self.results.retain(|(recorded, _)| *recorded != pairing);
    }

    /// The table, best first.
    pub(crate) fn table(&self, policy: &Policy) -> Vec<Line> {
        let everybody = self.players.iter().map(|player| self.line(*player, None, policy));
        let groups = divide(everybody.collect(), |line| (line.points, 1));
        self.ordered(groups, &policy.tie_breakers(), policy)
    }

    fn ordered(&self, groups: Vec<Vec<Line>>, rules: &[TieBreaker], policy: &Policy) -> Vec<Line> {
        let Some((rule, rest)) = rules.split_first() else {
            return groups.into_iter().flatten().collect();
        };
        let split = |group: Vec<Line>| {
            if group.len() == 1 {
                return group;
            }
            let tied: Vec<PlayerId> = group.iter().map(|line| line.player).collect();
            let among = |line: &Line| self.line(line.player, Some(&tied), policy).points;
            let divided = match rule {
                TieBreaker::HeadToHead => divide(group, |line| (among(line), 1)),
                TieBreaker::WinPercentage => {
                    divide(group, |line| (line.wins.into(), u64::from(line.played.max(1))))
                }
                TieBreaker::Wins => divide(group, |line| (line.wins.into(), 1)),
                TieBreaker::Draws => divide(group, |line| (line.draws.into(), 1)),
            };
            self.ordered(divided, rest, policy)
        };
        groups.into_iter().flat_map(split).collect()
    }

    /// What one player has achieved, against everybody or against some.
    fn line(&self, player: PlayerId, against: Option<&[PlayerId]>, policy: &Policy) -> Line {
        let (played, wins, draws, losses, technical_losses, points) = (0, 0, 0, 0, 0, 0);
        let mut line = Line { player, played, wins, draws, losses, technical_losses, points };
        for (pairing, verdict) in &self.results {
            let Some(seat) = pairing.seat_of(player) else { continue };
            let opponent = pairing.player(seat.other());
            if against.is_none_or(|some| some.contains(&opponent)) {
                count(&mut line, seat, *verdict, policy);
            }
        }
        line
    }
}

fn count(line: &mut Line, seat: Seat, verdict: Verdict, policy: &Policy) {
    let points = match verdict {
        Verdict::Cancelled => return,
        Verdict::Drawn => {
            line.draws += 1;
            policy.points_draw()
        }
        Verdict::Won(winner) if winner == seat => {
            line.wins += 1;
            policy.points_win()
        }
        Verdict::Won(_) => {
            line.losses += 1;
            policy.points_loss()
        }
        Verdict::TechnicalLoss(loser) if loser != seat => {
            line.wins += 1;
            policy.points_win()
        }
        Verdict::TechnicalLoss(_) | Verdict::BothLost => {
            line.losses += 1;
            line.technical_losses += 1;
            policy.points_technical_loss()
        }
    };
    line.played += 1;
    line.points += u64::from(points);
}

/// Groups of equals, the largest share first; who was listed first stays first.
fn divide(mut lines: Vec<Line>, share: impl Fn(&Line) -> (u64, u64)) -> Vec<Vec<Line>> {
    let order = |one: &Line, other: &Line| -> Ordering {
        let ((a, of_a), (b, of_b)) = (share(one), share(other));
        (b * of_a).cmp(&(a * of_b))
    };
    lines.sort_by(order);
    let mut groups: Vec<Vec<Line>> = vec![];
    for line in lines {
        match groups.last_mut() {
            Some(group) if order(&group[0], &line).is_eq() => group.push(line),
            Some(_) | None => groups.push(vec![line]),
        }
    }
    groups
}
