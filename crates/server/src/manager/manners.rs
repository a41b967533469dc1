//! How referees by other people work, as far as that has shown: under which name they take orders,
//! whether they draw with the seed they are given, whether they ask for matches. Kept in memory.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use league_agent::guard::lock;
use league_core::id::RefereeId;
use league_core::time::Timestamp;
use league_wire::message::OrderName;

/// What is known of the referees of a league.
#[derive(Debug, Default)]
pub(super) struct Manners(Mutex<BTreeMap<RefereeId, Manner>>);

/// What is known of one referee.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Manner {
    /// The name under which it takes orders.
    pub(super) name: OrderName,
    /// Whether it has said, or shown, that it draws with the seed it is given.
    pub(super) draws_committed: bool,
    /// When it last asked for matches.
    pub(super) asked_at: Option<Timestamp>,
    /// Whether it takes no orders under any name, and may begin by the announcement.
    pub(super) goes_by_announcement: bool,
    /// Whether it has run a match before it took the order for it.
    pub(super) is_ahead: bool,
}

impl Manner {
    /// What is known of a referee that is not ours, in words.
    pub(super) fn told(self) -> String {
        let comes_by = match self.name {
            _ if self.goes_by_announcement => "goes by the announcement",
            _ if self.asked_at.is_some() => "asks for its matches",
            _ if self.is_ahead => "goes by the announcement",
            OrderName::StartMatch => "takes START_MATCH",
            OrderName::MatchAssignment => "takes MATCH_ASSIGNMENT",
            OrderName::RunMatch => "takes run_match",
        };
        let draws = match self.draws_committed {
            true => "draws with the seed",
            false => "draws not verifiable",
        };
        format!("not ours: {comes_by}; {draws}; no transcripts")
    }
}

impl Manners {
    /// What is known of a referee.
    pub(super) fn of(&self, referee: RefereeId) -> Manner {
        lock(&self.0).get(&referee).copied().unwrap_or_default()
    }

    /// Something has shown.
    pub(super) fn learn(&self, referee: RefereeId, what: impl FnOnce(&mut Manner)) {
        what(lock(&self.0).entry(referee).or_default());
    }

    /// Whether a referee that cannot be called asks for its matches instead.
    pub(super) fn asks(&self, referee: RefereeId, now: Timestamp, within: Duration) -> bool {
        self.of(referee).asked_at.is_some_and(|at| now.since(at) < within)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_a_referee_comes_by_its_matches_is_told_as_it_has_shown() {
        let told = |manner: Manner| manner.told();
        assert!(told(Manner::default()).contains("takes START_MATCH"));
        let ahead = Manner { is_ahead: true, name: OrderName::RunMatch, ..Manner::default() };
        assert!(told(ahead).contains("goes by the announcement"));
        let asking = Manner { asked_at: Some(Timestamp::default()), ..ahead };
        assert!(told(asking).contains("asks for its matches"));
    }
}
