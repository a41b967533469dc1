//! Matches that their referee does not take while nobody else can: since when, and why. Kept in
//! memory; each is offered again after a while.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use league_agent::guard::lock;
use league_core::id::{MatchId, RefereeId};
use league_core::manager::dispatch::Handout;
use league_core::manager::{League, VoidCause};
use league_core::time::Timestamp;

/// The matches of a league that nobody takes.
#[derive(Debug, Default)]
pub(super) struct Untaken {
    orders: Mutex<BTreeMap<MatchId, Order>>,
}

#[derive(Debug)]
struct Order {
    handout: Handout,
    since: Timestamp,
    refused: bool,
    reason: Arc<str>,
}

/// A referee that does not take its matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Balk {
    pub(super) referee: RefereeId,
    /// Since when.
    pub(super) since: Timestamp,
    /// Whether it answers, but refuses.
    pub(super) refused: bool,
    /// The last reason.
    pub(super) reason: Arc<str>,
    /// Which matches wait for it.
    pub(super) matches: Vec<MatchId>,
}

impl Untaken {
    /// An order came to nothing and is offered again. True if that is news of its referee.
    pub(super) fn note(&self, now: Timestamp, handout: Handout, cause: &VoidCause) -> bool {
        let (refused, reason) = match cause {
            VoidCause::NotTaken { reason } => (true, reason.clone()),
            VoidCause::NotDelivered { reason } => (false, reason.clone()),
            VoidCause::LeaseExpired | VoidCause::Annulled { .. } => return false,
        };
        let mut orders = lock(&self.orders);
        let Handout { match_id, referee, .. } = handout;
        orders.retain(|other, _| other.round == match_id.round);
        let is_alike = |order: &Order| order.handout.referee == referee && order.refused == refused;
        let is_news = !orders.values().any(is_alike);
        let before = orders.get(&match_id).filter(|order| is_alike(order));
        let since = before.map_or(now, |order| order.since);
        orders.insert(match_id, Order { handout, since, refused, reason });
        is_news
    }

    /// A referee has taken a match.
    pub(super) fn taken(&self, match_id: MatchId) {
        lock(&self.orders).remove(&match_id);
    }

    /// The referees that do not take what waits for them, as `league` stands.
    pub(super) fn balks(&self, league: &League) -> Vec<Balk> {
        let mut balks: BTreeMap<(RefereeId, bool), Balk> = BTreeMap::new();
        for (&match_id, order) in &*lock(&self.orders) {
            let Handout { referee, attempt, .. } = order.handout;
            let waits = league.open_match(match_id).is_some_and(|open| {
                open.attempt >= attempt && open.filed.is_none() && open.stuck.is_none()
            });
            if !waits {
                continue;
            }
            let (since, refused, reason) = (order.since, order.refused, order.reason.clone());
            let balk = balks.entry((referee, refused)).or_insert_with(|| Balk {
                referee,
                since,
                refused,
                reason,
                matches: vec![],
            });
            balk.since = balk.since.min(since);
            balk.matches.push(match_id);
        }
        balks.into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use league_core::id::RoundId;

    use super::*;

    #[test]
    fn a_referee_that_does_not_take_its_matches_is_news_once() {
        let (untaken, now) = (Untaken::default(), Timestamp::from_millis(1_000));
        let order = |index| Handout {
            referee: RefereeId::new(1),
            match_id: MatchId::from_index(RoundId::FIRST, index),
            attempt: 1,
        };
        let gone = VoidCause::NotDelivered { reason: "connection refused".into() };
        let refused = VoidCause::NotTaken { reason: "P01 is not called".into() };
        let later = now + Duration::from_secs(1);
        assert!(untaken.note(now, order(0), &gone));
        assert!(!untaken.note(later, order(0), &gone) && !untaken.note(later, order(1), &gone));
        assert!(untaken.note(later, order(0), &refused), "it answers by now");
        untaken.taken(order(0).match_id);
        untaken.taken(order(1).match_id);
        assert!(untaken.note(later, order(0), &gone), "it was there in between");
    }
}
