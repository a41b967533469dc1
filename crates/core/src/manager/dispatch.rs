//! Which matches are with which referee right now.
//!
//! Not part of the record: after a restart it is built again from the league, and every match
//! without a result is handed out once more under the attempt it had.

use std::collections::{BTreeMap, VecDeque};

use super::{Event, Fact, League, OpenRound, VoidCause};
use crate::id::{MatchId, RefereeId};
use crate::limits::BALK_STEPS;
use crate::policy::Policy;
use crate::time::{Deadline, Timestamp};

/// The matches of the open round, by referee.
#[derive(Debug, Clone, Default)]
pub struct Dispatcher {
    starts_at: Timestamp,
    desks: BTreeMap<RefereeId, Desk>,
}

/// What one referee has on its desk.
#[derive(Debug, Clone, Default)]
struct Desk {
    capacity: usize,
    waiting: VecDeque<(MatchId, u32)>,
    /// Matches of players that are suspended or have yet to come back, which wait for them.
    parked: Vec<(MatchId, u32)>,
    running: BTreeMap<MatchId, Held>,
    /// How often in a row the referee did not take what it was given. Until it does it is given
    /// one match at a time.
    balks: u32,
    /// Until then it is given nothing.
    quiet_until: Timestamp,
}

#[derive(Debug, Clone, Copy)]
struct Held {
    attempt: u32,
    until: Timestamp,
    /// Signs of life extend the time no further than this.
    last: Option<Timestamp>,
    /// Whether the referee has said that it has it.
    taken: bool,
}

/// A match to be handed to its referee.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handout {
    /// To whom.
    pub referee: RefereeId,
    /// Which match.
    pub match_id: MatchId,
    /// Which attempt.
    pub attempt: u32,
}

impl Dispatcher {
    /// A dispatcher for a league as it stands, with nothing handed out.
    pub fn for_league(league: &League) -> Self {
        let mut dispatcher = Self::default();
        for referee in league.referees() {
            dispatcher.desk(referee.id).capacity = referee.capacity as usize;
        }
        if let Some(round) = league.open_round() {
            dispatcher.open(round);
        }
        dispatcher
    }

    /// Follows an event that `league` has just applied.
    pub fn apply(&mut self, league: &League, event: &Event) {
        match &event.fact {
            Fact::RefereeRegistered { referee, capacity, .. }
            | Fact::RefereeReturned { referee, capacity, .. } => {
                let desk = self.desk(*referee);
                desk.capacity = *capacity as usize;
                desk.welcome_back();
            }
            Fact::RoundOpened { .. } => {
                if let Some(round) = league.open_round() {
                    self.open(round);
                }
            }
            Fact::MatchReassigned { match_id, attempt, referee, .. }
            | Fact::RematchOrdered { match_id, attempt, referee, .. } => {
                self.forget(*match_id);
                self.desk(*referee).waiting.push_back((*match_id, *attempt));
            }
            Fact::MatchPassedOn { match_id, attempt, referee, .. } => {
                let had_it = |desk: &&mut Desk| desk.running.contains_key(match_id);
                if let Some(desk) = self.desks.values_mut().find(had_it) {
                    desk.balk(league.policy(), event.at);
                }
                self.forget(*match_id);
                self.desk(*referee).waiting.push_back((*match_id, *attempt));
            }
            Fact::Walkover { match_id, .. }
            | Fact::MatchCancelled { match_id, .. }
            | Fact::MatchStuck { match_id, .. } => self.forget(*match_id),
            Fact::AgentChanged { .. } => {
                for desk in self.desks.values_mut() {
                    desk.waiting.extend(desk.parked.drain(..));
                }
            }
            Fact::ResultRecorded(recorded) => {
                let desk = self.desk(recorded.referee);
                desk.forget(recorded.match_id);
                desk.welcome_back();
            }
            Fact::LeagueCreated(_)
            | Fact::PlayerRegistered { .. }
            | Fact::LeagueStarted
            | Fact::ReportRefused { .. }
            | Fact::RoundClosed { .. }
            | Fact::LeagueCompleted
            | Fact::ConductNoted { .. }
            | Fact::AdmissionSet(_)
            | Fact::CodeRedeemed { .. }
            | Fact::Administered { .. }
            | Fact::PlayerReturned { .. }
            | Fact::TokenReplaced { .. }
            | Fact::ShapeSettled { .. } => {}
        }
    }

    /// The matches that can be handed out now, at most `max`, each held as long as `league` lets
    /// its referee hold one. Those of players that are waited for stay where they are, and all of
    /// them while the league is paused.
    pub fn hand_out(&mut self, league: &League, now: Timestamp, max: usize) -> Vec<Handout> {
        let mut handouts = vec![];
        if now < self.starts_at || league.is_paused() {
            return handouts;
        }
        for (&referee, desk) in &mut self.desks {
            let until = now + league.lease(referee);
            let last = league.patience(referee).map(|patience| now + patience);
            let waits = |match_id| {
                let open = league.open_match(match_id);
                open.is_some_and(|open| league.waits(open.pairing))
            };
            let ready = desk.parked.extract_if(.., |(match_id, _)| !waits(*match_id));
            desk.waiting.extend(ready);
            while handouts.len() < max && desk.running.len() < desk.room(now) {
                let Some((match_id, attempt)) = desk.waiting.pop_front() else { break };
                if waits(match_id) {
                    desk.parked.push((match_id, attempt));
                    continue;
                }
                desk.running.insert(match_id, Held { attempt, until, last, taken: false });
                handouts.push(Handout { referee, match_id, attempt });
            }
        }
        handouts
    }

    /// Takes back a match that could not be handed over. Its referee is given nothing for a while.
    pub fn put_back(&mut self, handout: Handout, policy: &Policy, now: Timestamp) {
        let desk = self.desk(handout.referee);
        let held = desk.running.get(&handout.match_id);
        if held.is_some_and(|held| held.attempt == handout.attempt) {
            desk.running.remove(&handout.match_id);
            desk.waiting.push_front((handout.match_id, handout.attempt));
            desk.balk(policy, now);
        }
    }

    /// A referee says that it has a match.
    pub fn taken(&mut self, handout: Handout) {
        let desk = self.desk(handout.referee);
        let held = desk.running.get_mut(&handout.match_id);
        if let Some(held) = held.filter(|held| held.attempt == handout.attempt) {
            held.taken = true;
            desk.welcome_back();
        }
    }

    /// A referee that was handed a match shows that it is still at it. False if it no longer is.
    pub fn renew(&mut self, handout: Handout, until: Timestamp) -> bool {
        self.taken(handout);
        self.extend(handout, until)
    }

    /// Nobody could have shown a sign of life of late: what is overdue at `now` is held until
    /// `until`.
    pub fn excuse(&mut self, now: Timestamp, until: Timestamp) {
        let overdue: Vec<Handout> = self.overdue(now).map(|(handout, _)| handout).collect();
        for handout in overdue {
            self.extend(handout, until);
        }
    }

    fn extend(&mut self, handout: Handout, until: Timestamp) -> bool {
        let held = self.desk(handout.referee).running.get_mut(&handout.match_id);
        let Some(held) = held.filter(|held| held.attempt == handout.attempt) else { return false };
        held.until = held.until.max(held.last.map_or(until, |last| until.min(last)));
        true
    }

    /// The matches that `referee` has been handed and has not finished, in their order.
    pub fn held_by(&self, referee: RefereeId) -> Vec<Handout> {
        let desk = self.desks.get(&referee).into_iter();
        let running = desk.flat_map(|desk| &desk.running);
        let handout = |(&match_id, held): (&MatchId, &Held)| Handout {
            referee,
            match_id,
            attempt: held.attempt,
        };
        running.map(handout).collect()
    }

    /// The matches whose referees have shown no sign of life for too long, and what came to
    /// nothing: what nobody has taken was not begun.
    pub fn expired(&self, now: Timestamp) -> Vec<(Handout, VoidCause)> {
        let cause = |held: Held| match held.taken {
            true => VoidCause::LeaseExpired,
            false => {
                VoidCause::NotDelivered { reason: "the order was not acknowledged in time".into() }
            }
        };
        self.overdue(now).map(|(handout, held)| (handout, cause(held))).collect()
    }

    fn overdue(&self, now: Timestamp) -> impl Iterator<Item = (Handout, Held)> {
        self.held().filter(move |(_, held)| held.until <= now)
    }

    /// When something is next due here, and why.
    pub fn next_deadline(&self, now: Timestamp) -> Option<Deadline> {
        let waiting = self.desks.values().any(|desk| !desk.waiting.is_empty());
        let start = (waiting && now < self.starts_at)
            .then(|| Deadline::new(self.starts_at, "round starts"));
        let lease = self.held().map(|(_, held)| Deadline::new(held.until, "lease ends")).min();
        let quiet = self.desks.values().filter(|desk| {
            now < desk.quiet_until && !(desk.waiting.is_empty() && desk.parked.is_empty())
        });
        let again = quiet.map(|desk| Deadline::new(desk.quiet_until, "order repeated")).min();
        Deadline::earlier(Deadline::earlier(start, lease), again)
    }

    fn held(&self) -> impl Iterator<Item = (Handout, Held)> {
        self.desks.iter().flat_map(|(&referee, desk)| {
            desk.running.iter().map(move |(&match_id, held)| {
                (Handout { referee, match_id, attempt: held.attempt }, *held)
            })
        })
    }

    fn open(&mut self, round: &OpenRound) {
        self.starts_at = round.starts_at;
        for desk in self.desks.values_mut() {
            desk.waiting.clear();
            desk.parked.clear();
            desk.running.clear();
        }
        for (index, open) in round.matches.iter().enumerate() {
            if open.filed.is_none() && open.stuck.is_none() {
                let match_id = MatchId::from_index(round.id, index);
                self.desk(open.referee).waiting.push_back((match_id, open.attempt));
            }
        }
    }

    fn forget(&mut self, match_id: MatchId) {
        self.desks.values_mut().for_each(|desk| desk.forget(match_id));
    }

    fn desk(&mut self, referee: RefereeId) -> &mut Desk {
        self.desks.entry(referee).or_default()
    }
}

impl Desk {
    /// How many matches the referee may have now.
    fn room(&self, now: Timestamp) -> usize {
        match self.balks {
            0 => self.capacity,
            _ if now < self.quiet_until => 0,
            _ => self.capacity.min(1),
        }
    }

    /// The referee did not take a match. What it was given together counts once.
    fn balk(&mut self, policy: &Policy, now: Timestamp) {
        if now < self.quiet_until {
            return;
        }
        self.balks = self.balks.saturating_add(1);
        let longest = policy.breaker_open();
        let pause = (longest / BALK_STEPS).saturating_mul(1 << (self.balks - 1).min(16));
        self.quiet_until = now + pause.min(longest);
    }

    /// The referee takes matches.
    const fn welcome_back(&mut self) {
        (self.balks, self.quiet_until) = (0, Timestamp::from_millis(0));
    }

    fn forget(&mut self, match_id: MatchId) {
        if self.running.remove(&match_id).is_none() {
            self.waiting.retain(|(waiting, _)| *waiting != match_id);
            self.parked.retain(|(parked, _)| *parked != match_id);
        }
    }
}
