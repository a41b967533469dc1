//! What follows from where a league stands and what time it is.

use super::{Fact, League, OpenRound, Phase, Scheduled, StartRule};
use crate::id::{PlayerId, RoundId};
use crate::schedule::officials::{self, Official};
use crate::time::Timestamp;

impl League {
    /// What follows from where the league stands at `now`, one fact at a time.
    pub fn advance(&self, now: Timestamp) -> Option<Fact> {
        match &self.phase {
            Phase::Registering => self.may_start(now).then_some(Fact::LeagueStarted),
            Phase::BetweenRounds { next } => Some(self.next_round(now, *next)),
            Phase::Playing(OpenRound { id, unfinished: 0, .. }) => {
                Some(Fact::RoundClosed { round: *id })
            }
            Phase::Playing(_) | Phase::Completed { .. } => None,
        }
    }

    fn may_start(&self, now: Timestamp) -> bool {
        self.could_start()
            && match self.charter.start {
                StartRule::OnCommand => false,
                StartRule::Players(wanted) => self.players.len() >= wanted as usize,
                StartRule::At(moment) => moment <= now,
            }
    }

    /// Whether there is somebody to play and somebody to officiate.
    pub(super) fn could_start(&self) -> bool {
        self.players.len() >= 2 && !self.referees.is_empty()
    }

    fn next_round(&self, now: Timestamp, round: RoundId) -> Fact {
        let players: Vec<PlayerId> = self.players.iter().map(|player| player.id).collect();
        let Some(paired) = self.articles.format.next_round(&players, &self.past) else {
            return Fact::LeagueCompleted;
        };
        // Whoever has vanished gets nothing while somebody else is there.
        let anybody_here = self.referees.iter().any(|referee| !referee.vanished);
        let available = self.referees.iter().filter(|r| !(anybody_here && r.vanished));
        let referees: Vec<Official> = available
            .map(|r| Official { id: r.id, max_concurrent: r.capacity, given: r.given })
            .collect();
        let assigned = officials::assign(paired.pairings.len(), &referees)
            .expect("a league that has started has a referee");
        let scheduled = paired.pairings.iter().zip(&assigned);
        let matches: Vec<Scheduled> = scheduled
            .map(|(&pairing, by)| Scheduled { pairing, referee: by.referee, wave: by.wave })
            .collect();
        let waves = matches.iter().map(|scheduled| scheduled.wave).max().unwrap_or(0) + 1;
        let policy = &self.articles.policy;
        let starts_at = now + policy.announcement_lead();
        // Room for the longest match in every wave, and for one of them to be played again.
        let longest = policy.longest_match(self.articles.game.steps_max());
        let room = longest.saturating_mul(waves.saturating_add(1));
        let deadline = starts_at + room + policy.lease();
        Fact::RoundOpened { round, starts_at, deadline, matches, byes: paired.byes }
    }
}
