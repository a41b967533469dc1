//! Matches that were being played when the manager started: whoever has no open port could not be
//! called meanwhile, and loses nothing by that.

use std::collections::BTreeMap;

use league_agent::desk::refusal;
use league_core::id::{MatchId, PlayerId, RefereeId};
use league_core::manager::{Command, League, OpenMatch, Reply, VoidCause};
use league_wire::message::{ErrorReport, MatchResultReport};
use league_wire::{Code, PlayerResult};

use super::is_pull;
use crate::manager::{Manager, Stub};

/// The attempts that may have been going on when the books were opened.
#[derive(Debug, Default)]
pub(in crate::manager) struct Interrupted(BTreeMap<MatchId, u32>);

impl Interrupted {
    /// Those of a league whose books have just been opened.
    pub(in crate::manager) fn of(league: &League) -> Self {
        let Some(round) = league.open_round() else { return Self::default() };
        let open = round.matches.iter().enumerate().filter(|(_, open)| open.filed.is_none());
        let attempt = |(index, open): (usize, &OpenMatch)| {
            (MatchId::from_index(round.id, index), open.attempt)
        };
        Self(open.map(attempt).collect())
    }

    fn has(&self, match_id: MatchId, attempt: u32) -> bool {
        self.0.get(&match_id) == Some(&attempt)
    }
}

impl Manager {
    /// Has a match played again that a pull player is said to have lost without playing while this
    /// manager, which takes its calls, was away.
    ///
    /// # Errors
    /// What the referee is told in that case.
    pub(in crate::manager) async fn check_interrupted(
        &self,
        stub: &Stub,
        referee: RefereeId,
        report: &MatchResultReport,
    ) -> Result<(), Box<ErrorReport>> {
        let match_id = report.match_id;
        let attempt = report.attempt.or_else(|| {
            let published = stub.published();
            published.league.open_match(match_id).map(|open| open.attempt)
        });
        let Some(attempt) = attempt.filter(|attempt| stub.interrupted().has(match_id, *attempt))
        else {
            return Ok(());
        };
        let Some(player) = pulled_loser(&stub.published().league, report) else { return Ok(()) };
        let reason = format!("the manager, which takes the calls of {player}, was restarted");
        let cause = VoidCause::Annulled { referee, reason: reason.as_str().into() };
        let command = Command::VoidAttempt { match_id, attempt, cause };
        match stub.ask(command, None).await {
            Ok(Reply::Done) => {
                let text = format!("{reason} during the match, which is played again");
                Err(refusal(Code::E031, &text))
            }
            // Then something else is to be said of the report.
            Ok(
                Reply::Registered { .. }
                | Reply::TokenReplaced { .. }
                | Reply::Recorded { .. }
                | Reply::ReportRefused(_),
            )
            | Err(_) => Ok(()),
        }
    }
}

/// A player without an open port that is said to have failed to play.
fn pulled_loser(league: &League, report: &MatchResultReport) -> Option<PlayerId> {
    let failed = report
        .players
        .iter()
        .filter(|(_, player)| player.line.result == Some(PlayerResult::TechnicalLoss));
    let failed = failed.map(|(player, _)| *player);
    let mut losers = report.technical_losers.iter().copied().chain(failed);
    losers
        .find(|loser| league.player(*loser).is_some_and(|player| is_pull(&player.profile.endpoint)))
}
