//! A league counted from its record, row by row, believing nothing that is not in it.

use std::sync::Arc;

use league_core::id::LeagueId;
use league_core::manager::{Event, Fact, League, Phase};
use league_core::verdict::Verdict;

use super::{PlayError, Progress};
use crate::journal::tail::Follower;
use crate::journal::{Head, Journal, codec};
use crate::limits::REPLAY_PAGE_ROWS;
use crate::manager::OpenError;

/// What the record of a league says.
#[derive(Debug, Clone)]
pub struct Recount {
    /// The league that the record folds to.
    pub league: League,
    /// Matches with a result.
    pub results: u64,
    /// Matches in which both players were asked and both answered.
    pub played: u64,
    /// Times a player lost by failing to play.
    pub technical_losses: u64,
    /// Matches that were called off.
    pub cancelled: u64,
    /// Attempts that were annulled for our own failures.
    pub annulled: u64,
    /// The last row that was read.
    pub head: Head,
}

impl Recount {
    /// A count that starts with the founding of a league.
    ///
    /// # Errors
    /// If the event is something else, or the charter cannot be followed.
    pub fn start(league: &LeagueId, event: &Event, head: Head) -> Result<Self, OpenError> {
        let Fact::LeagueCreated(charter) = &event.fact else {
            return Err(OpenError::NotALeague(league.clone()));
        };
        let league = League::open(charter)?;
        let (results, played, technical_losses, cancelled, annulled) = (0, 0, 0, 0, 0);
        Ok(Self { league, results, played, technical_losses, cancelled, annulled, head })
    }

    /// Counts the next event.
    pub fn add(&mut self, event: &Event) {
        self.league.apply(event);
        match &event.fact {
            Fact::ResultRecorded(recorded) => {
                self.count(recorded.verdict, 1);
            }
            Fact::Walkover { verdict, .. } => self.count(*verdict, 1),
            Fact::MatchCancelled { replaced, .. } => {
                replaced.iter().for_each(|verdict| self.count(*verdict, -1));
                self.count(Verdict::Cancelled, 1);
            }
            Fact::RematchOrdered { replaced, .. } => {
                replaced.iter().for_each(|verdict| self.count(*verdict, -1));
            }
            Fact::MatchReassigned { annulled, .. } => self.annulled += u64::from(*annulled),
            Fact::LeagueCreated(_)
            | Fact::PlayerRegistered { .. }
            | Fact::RefereeRegistered { .. }
            | Fact::LeagueStarted
            | Fact::RoundOpened { .. }
            | Fact::ReportRefused { .. }
            | Fact::RoundClosed { .. }
            | Fact::LeagueCompleted
            | Fact::ConductNoted { .. }
            | Fact::AgentChanged { .. }
            | Fact::MatchStuck { .. }
            | Fact::AdmissionSet(_)
            | Fact::CodeRedeemed { .. }
            | Fact::Administered { .. }
            | Fact::PlayerReturned { .. }
            | Fact::RefereeReturned { .. }
            | Fact::TokenReplaced { .. }
            | Fact::MatchPassedOn { .. }
            | Fact::ShapeSettled { .. } => {}
        }
    }

    /// Counts a result, or takes one back that no longer stands.
    fn count(&mut self, verdict: Verdict, by: i64) {
        let (counter, times) = match verdict {
            Verdict::Won(_) | Verdict::Drawn => (&mut self.played, 1),
            Verdict::TechnicalLoss(_) => (&mut self.technical_losses, 1),
            Verdict::BothLost => (&mut self.technical_losses, 2),
            Verdict::Cancelled => (&mut self.cancelled, 1),
        };
        *counter = counter.saturating_add_signed(by * times);
        self.results = self.results.saturating_add_signed(by);
    }
}

/// Follows the record of a league to its end.
pub(super) async fn follow(
    journal: Arc<dyn Journal>,
    league: LeagueId,
    players: u32,
    mut progress: impl FnMut(Progress),
) -> Result<Recount, PlayError> {
    let genesis = Head::genesis(&league);
    let mut follower = Follower::start(journal, league.clone(), genesis).await?;
    let mut count: Option<Recount> = None;
    loop {
        for row in follower.next(REPLAY_PAGE_ROWS).await? {
            let seq = row.seq.get();
            let event =
                codec::decode(&row.bytes).map_err(|source| PlayError::Record { seq, source })?;
            match &mut count {
                Some(count) => count.add(&event),
                None => count = Some(Recount::start(&league, &event, row.head())?),
            }
        }
        let Some(count) = &mut count else { continue };
        count.head = follower.position();
        progress(Progress { done: count.results, total: matches_total(&count.league, players) });
        if matches!(count.league.phase(), Phase::Completed { .. }) {
            return Ok(count.clone());
        }
    }
}

/// How many matches there will be in all once `players` have come, where the format knows.
pub(super) fn matches_total(league: &League, players: u32) -> Option<u64> {
    if !matches!(league.phase(), Phase::Registering) {
        return league.matches_total();
    }
    Some(u64::from(league.format().rounds_total(players)?) * u64::from(players / 2))
}
