//! What agents and people ask a league about.

use std::borrow::Cow;
use std::sync::Arc;

use super::{Admission, Filed, Invited, League, PlayerAdmission};
use crate::id::{AgentId, MatchId, PlayerId, RefereeId, RoundId};
use crate::schedule::{Pairing, Round};

/// A match, as far as the league remembers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatchRecord {
    /// Which match.
    pub match_id: MatchId,
    /// Who plays.
    pub pairing: Pairing,
    /// Who officiates, or officiated; nobody if it was decided without a game.
    pub referee: Option<RefereeId>,
    /// The valid attempt, while the round is open.
    pub attempt: Option<u32>,
    /// The result, once there is one.
    pub filed: Option<Filed>,
}

impl League {
    /// Who may join.
    pub const fn admission(&self) -> &Admission {
        &self.admission
    }

    /// The shape in which an agent is spoken to: the one it was found to answer to, else the one it
    /// registered with.
    pub fn dialect(&self, agent: AgentId) -> Option<&Arc<str>> {
        let (profile, spoken) = match agent {
            AgentId::Player(id) => self.player(id).map(|it| (&it.profile, &it.spoken))?,
            AgentId::Referee(id) => self.referee(id).map(|it| (&it.profile, &it.spoken))?,
        };
        Some(spoken.as_ref().unwrap_or(&profile.dialect))
    }

    /// Whom a player's join code was given to.
    pub fn invited(&self, player: PlayerId) -> Option<&Invited> {
        let (code, _) = self.redeemed.iter().find(|(_, by)| **by == player)?;
        match &self.admission.players {
            PlayerAdmission::Codes(codes) => codes.iter().find(|invited| invited.code == *code),
            PlayerAdmission::Open => None,
        }
    }

    /// Everybody who was given a join code, and which player came with it.
    pub fn roster(&self) -> impl Iterator<Item = (&Invited, Option<PlayerId>)> {
        let codes = match &self.admission.players {
            PlayerAdmission::Codes(codes) => codes.as_slice(),
            PlayerAdmission::Open => &[],
        };
        codes.iter().map(|invited| (invited, self.redeemed.get(&invited.code).copied()))
    }

    /// Why a match was not won by playing it, in words.
    pub fn reason_of(&self, match_id: MatchId) -> Option<&Arc<str>> {
        self.reasons.get(&match_id)
    }

    /// Why the administrator has banned an agent.
    pub fn ban_of(&self, agent: AgentId) -> Option<&Arc<str>> {
        self.bans.get(&agent)
    }

    /// Whether no matches are handed out.
    pub const fn is_paused(&self) -> bool {
        self.paused.is_some()
    }

    /// Whether the administrator has closed registration.
    pub const fn is_registration_closed(&self) -> bool {
        self.registration_closed
    }

    /// Whether the league was put away.
    pub const fn is_archived(&self) -> bool {
        self.archived
    }

    /// The matches that wait for the administrator.
    pub fn stuck_matches(&self) -> impl Iterator<Item = MatchId> {
        self.agenda.stuck.keys().copied()
    }

    /// A match of a round that is open, over, or known in advance.
    pub fn match_record(&self, match_id: MatchId) -> Option<MatchRecord> {
        if let Some(open) = self.open_match(match_id) {
            let referee = open.filed.map_or(Some(open.referee), |filed| filed.referee);
            let (pairing, attempt, filed) = (open.pairing, Some(open.attempt), open.filed);
            return Some(MatchRecord { match_id, pairing, referee, attempt, filed });
        }
        let round = self.round(match_id.round)?;
        let pairing = *round.pairings.get(match_id.index())?;
        let filed = self.filed_result(match_id).copied();
        let referee = filed.and_then(|filed| filed.referee);
        Some(MatchRecord { match_id, pairing, referee, attempt: None, filed })
    }

    /// Who meets whom in a round that is open, over, or known in advance.
    pub fn round(&self, round: RoundId) -> Option<Round> {
        if let Some(open) = self.open_round().filter(|open| open.id == round) {
            let pairings = open.matches.iter().map(|open| open.pairing).collect();
            return Some(Round { pairings, byes: open.byes.clone() });
        }
        if let Some(past) = self.past.get(round.number() as usize - 1) {
            let pairings = past.matches.iter().map(|(pairing, _)| *pairing).collect();
            return Some(Round { pairings, byes: past.byes.clone() });
        }
        self.articles.format.planned(&self.entrants(), round)
    }

    /// How many rounds there will be with those who play, where the format knows.
    pub fn rounds_total(&self) -> Option<u32> {
        self.articles.format.rounds_total(u32::try_from(self.entrants().len()).ok()?)
    }

    /// How many matches there will be with those who play, where the format knows.
    pub fn matches_total(&self) -> Option<u64> {
        let open = self.open_round().map(|round| round.matches.len());
        let each = open.or_else(|| self.past.first().map(|round| round.matches.len()));
        let each = each.unwrap_or_else(|| self.entrants().len() / 2);
        Some(u64::from(self.rounds_total()?) * each as u64)
    }

    /// Those who stood in the field at the start; before that, those who would.
    fn entrants(&self) -> Cow<'_, [PlayerId]> {
        match self.standings.players() {
            [] => Cow::Owned(self.field().collect()),
            players => Cow::Borrowed(players),
        }
    }

    /// The matches of a player from `first` on, as far as they are known.
    pub fn schedule_of(
        &self,
        player: PlayerId,
        first: RoundId,
    ) -> impl Iterator<Item = (MatchId, Pairing)> {
        let rounds = std::iter::successors(Some(first), |round| Some(round.next()));
        rounds.map_while(|round| Some((round, self.round(round)?))).filter_map(
            move |(id, round)| {
                let mut pairings = round.pairings.iter();
                let index = pairings.position(|pairing| pairing.seat_of(player).is_some())?;
                Some((MatchId::from_index(id, index), round.pairings[index]))
            },
        )
    }

    /// The match a player plays, or will play next, as far as that is known.
    pub fn next_match(&self, player: PlayerId) -> Option<(MatchId, Pairing)> {
        let has_result = |match_id| self.filed_result(match_id).is_some();
        let current = self.player(player)?.current.filter(|id| !has_result(*id));
        if let Some(open) = current.and_then(|match_id| self.open_match(match_id)) {
            return current.map(|match_id| (match_id, open.pairing));
        }
        let over = u32::try_from(self.past.len()).ok()?;
        let next = RoundId::new(over.checked_add(1)?);
        self.schedule_of(player, next).find(|(match_id, _)| !has_result(*match_id))
    }
}
