//! What follows from where a league stands and what time it is.

use super::{Fact, League, OpenRound, Phase, Referee, Scheduled, StartRule};
use crate::id::{AgentId, PlayerId, RoundId};
use crate::roster::StateKind;
use crate::schedule::Round;
use crate::schedule::officials::{self, Official};
use crate::time::Timestamp;

impl League {
    /// What follows from where the league stands at `now`, one fact at a time.
    pub fn advance(&self, now: Timestamp) -> Option<Fact> {
        if let Some(change) = self.due_change(now) {
            return Some(change);
        }
        match &self.phase {
            Phase::Registering => self.may_start(now).then_some(Fact::LeagueStarted),
            Phase::BetweenRounds { .. } if self.is_paused() => None,
            Phase::BetweenRounds { next } => self.next_round(now, *next),
            Phase::Playing(OpenRound { id, unfinished: 0, .. }) => {
                Some(Fact::RoundClosed { round: *id })
            }
            Phase::Playing(_) => self.due_match(now),
            Phase::Completed { .. } => None,
        }
    }

    fn may_start(&self, now: Timestamp) -> bool {
        self.could_start()
            && match self.charter.start {
                StartRule::OnCommand => false,
                StartRule::Players(wanted) => self.field().count() >= wanted as usize,
                StartRule::At(moment) => moment <= now,
            }
    }

    /// Whether there is somebody to play and somebody to officiate.
    pub(super) fn could_start(&self) -> bool {
        self.field().take(2).count() == 2 && self.has_official()
    }

    /// Who will play, if the league starts now.
    pub(super) fn field(&self) -> impl Iterator<Item = PlayerId> {
        let left = |id| self.stands(AgentId::Player(id), &[StateKind::Shutdown]);
        self.players.iter().map(|player| player.id).filter(move |id| !left(*id))
    }

    /// The next round, the end, or nothing while there is nobody to officiate.
    fn next_round(&self, now: Timestamp, round: RoundId) -> Option<Fact> {
        let players = self.standings.players();
        let Some(paired) = self.articles.format.next_round(players, &self.past) else {
            return Some(Fact::LeagueCompleted);
        };
        let assigned = officials::assign(paired.pairings.len(), &self.officials(&paired))?;
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
        Some(Fact::RoundOpened { round, starts_at, deadline, matches, byes: paired.byes })
    }

    /// Who is given the matches of a round: the operator's own referees if they can run all of
    /// them at once, otherwise everybody; whoever has vanished only if nobody else is left.
    fn officials(&self, round: &Round) -> Vec<Official> {
        let mut officials: Vec<&Referee> =
            self.referees.iter().filter(|referee| self.may_officiate(referee)).collect();
        if officials.iter().any(|referee| !referee.vanished) {
            officials.retain(|referee| !referee.vanished);
        }
        let ours = officials.iter().filter(|referee| referee.operated);
        let room: u64 = ours.map(|referee| u64::from(referee.capacity)).sum();
        if room >= round.pairings.len() as u64 && room > 0 {
            officials.retain(|referee| referee.operated);
        }
        let official =
            |r: &Referee| Official { id: r.id, max_concurrent: r.capacity, given: r.given };
        officials.into_iter().map(official).collect()
    }
}
