//! What the manager sends by itself: one courier per agent, one call at a time, sent again a few
//! times and then given up.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use league_core::id::AgentId;
use league_core::manager::dispatch::Handout;
use league_core::manager::{Effect, League, Phase};
use league_core::policy::Policy;
use league_core::proof::Keys;
use league_core::retry::RetryPlan;
use league_core::time::Timestamp;

use super::inbound::token_of;
use super::orders;
use crate::message::{Body, Letter, News, Node};
use crate::sabotage::Sabotage;
use crate::stage::Stage;

/// News that may wait for one agent.
const NEWS_MAX: usize = 64;

/// The mail of every agent.
#[derive(Debug, Default)]
pub(super) struct Mail {
    couriers: BTreeMap<AgentId, Courier>,
    /// When the table is sent because it has changed.
    table_at: Option<Timestamp>,
}

#[derive(Debug)]
struct Courier {
    node: Node,
    token: Arc<str>,
    news: VecDeque<News>,
    handouts: Vec<Handout>,
    letters: VecDeque<Letter>,
    failures: u32,
    flight: Flight,
}

#[derive(Debug)]
enum Flight {
    Idle,
    Calling { call: u64, until: Timestamp },
    Pausing { until: Timestamp },
}

impl Mail {
    /// Takes up the mail of everybody, and says again what the current phase says.
    pub(super) fn resume(&mut self, league: &League, keys: &Keys) {
        let players = league.players().iter().map(|player| AgentId::Player(player.id));
        let referees = league.referees().iter().map(|referee| AgentId::Referee(referee.id));
        players.chain(referees).for_each(|agent| self.welcome(league, keys, agent));
        match league.phase() {
            Phase::Playing(round) => self.post_all(News::Round(round.id.number())),
            Phase::Completed { .. } => self.post_all(News::Completed),
            Phase::Registering | Phase::BetweenRounds { .. } => {}
        }
    }

    /// Does what an event calls for.
    pub(super) fn perform(&mut self, now: Timestamp, league: &League, keys: &Keys, effect: Effect) {
        match effect {
            Effect::Welcome(agent) => self.welcome(league, keys, agent),
            Effect::AnnounceRound(round) => self.post_all(News::Round(round.number())),
            Effect::AnnounceRoundCompleted(round) => {
                self.post_all(News::RoundOver(round.number()));
                self.post_all(News::Standings);
            }
            Effect::AnnounceStandings => {
                let wait = league.policy().standings_within() / 2;
                self.table_at.get_or_insert(now + wait);
            }
            Effect::AnnounceCompleted => self.post_all(News::Completed),
        }
    }

    /// Gives matches to their referees.
    pub(super) fn hand_out(&mut self, stage: &mut Stage<'_>, handouts: &[Handout]) {
        for handout in handouts {
            let mut to = AgentId::Referee(handout.referee);
            if stage.is_sabotaged(Sabotage::WrongReferee) && stage.fate.chance(100) {
                let is_other =
                    |agent: &AgentId| matches!(agent, AgentId::Referee(_)) && *agent != to;
                to = self.couriers.keys().copied().find(is_other).unwrap_or(to);
            }
            if let Some(courier) = self.couriers.get_mut(&to) {
                courier.handouts.push(*handout);
            }
        }
    }

    pub(super) fn next_wake(&self) -> Option<Timestamp> {
        let flights = self.couriers.values().filter_map(|courier| match courier.flight {
            Flight::Idle => None,
            Flight::Calling { until, .. } | Flight::Pausing { until } => Some(until),
        });
        flights.chain(self.table_at).min()
    }

    pub(super) fn wake(&mut self, now: Timestamp, league: &League) {
        if self.table_at.is_some_and(|at| at <= now) {
            self.table_at = None;
            if league.open_round().is_some() {
                self.post_all(News::Standings);
            }
        }
        for courier in self.couriers.values_mut() {
            match courier.flight {
                Flight::Calling { until, .. } if until <= now => {
                    courier.failed(now, league.policy());
                }
                Flight::Pausing { until } if until <= now => courier.flight = Flight::Idle,
                Flight::Idle | Flight::Calling { .. } | Flight::Pausing { .. } => {}
            }
        }
    }

    /// A call was answered, whatever the answer was, or did not get through.
    pub(super) fn answered(&mut self, now: Timestamp, policy: &Policy, call: u64, arrived: bool) {
        let is_its = |courier: &&mut Courier| courier.flight.is(call);
        let Some(courier) = self.couriers.values_mut().find(is_its) else { return };
        if arrived {
            courier.done();
        } else {
            courier.failed(now, policy);
        }
    }

    /// Sends what waits to whoever is not being called already.
    pub(super) fn pump(&mut self, stage: &mut Stage<'_>, league: &League, keys: &Keys) {
        for courier in self.couriers.values_mut() {
            if matches!(courier.flight, Flight::Idle) {
                courier.collect(league, keys, stage.sabotage);
                courier.send(stage, league.policy());
            }
        }
    }

    fn welcome(&mut self, league: &League, keys: &Keys, agent: AgentId) {
        let endpoint = match agent {
            AgentId::Player(id) => league.player(id).map(|player| &player.profile.endpoint),
            AgentId::Referee(id) => league.referee(id).map(|referee| &referee.profile.endpoint),
        };
        let node = endpoint.and_then(|endpoint| Node::at(endpoint));
        let (Some(node), Some(token)) = (node, token_of(keys, league, agent)) else { return };
        let token = token.expose().into();
        let (news, letters, handouts) = (VecDeque::new(), VecDeque::new(), vec![]);
        let flight = Flight::Idle;
        let courier = Courier { node, token, news, handouts, letters, failures: 0, flight };
        self.couriers.insert(agent, courier);
    }

    fn post_all(&mut self, news: News) {
        for courier in self.couriers.values_mut() {
            if news == News::Standings {
                courier.news.retain(|waiting| *waiting != News::Standings);
            }
            if courier.news.len() >= NEWS_MAX {
                courier.news.pop_front();
            }
            courier.news.push_back(news);
        }
    }
}

impl Flight {
    const fn is(&self, number: u64) -> bool {
        matches!(self, Self::Calling { call, .. } if *call == number)
    }
}

impl Courier {
    fn collect(&mut self, league: &League, keys: &Keys, sabotage: Option<Sabotage>) {
        if !self.letters.is_empty() {
            return;
        }
        let news = self.news.drain(..).map(Body::News);
        let orders = self.handouts.drain(..).filter_map(|handout| {
            orders::order(keys, league, &handout, sabotage).map(|order| Body::Order(order.into()))
        });
        let token = &self.token;
        let letter = |body| Letter { token: Some(token.clone()), ..Letter::bare(body) };
        self.letters.extend(news.chain(orders).map(letter));
    }

    fn send(&mut self, stage: &mut Stage<'_>, policy: &Policy) {
        let Some(letter) = self.letters.front() else { return };
        let call = stage.call(self.node, letter.clone());
        self.flight = Flight::Calling { call, until: stage.now + policy.default_timeout() };
    }

    fn done(&mut self) {
        self.letters.pop_front();
        (self.failures, self.flight) = (0, Flight::Idle);
    }

    fn failed(&mut self, now: Timestamp, policy: &Policy) {
        self.failures += 1;
        match RetryPlan::network(policy).next(self.failures) {
            Some(wait) => self.flight = Flight::Pausing { until: now + wait },
            None => self.done(),
        }
    }
}
