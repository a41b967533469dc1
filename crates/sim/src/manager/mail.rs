//! What the manager sends by itself: one courier per agent, one call at a time, sent again a few
//! times and then given up.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use league_core::id::{AgentId, MatchId};
use league_core::manager::dispatch::Handout;
use league_core::manager::{Alert, Effect, League, Phase};
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

/// A match and its attempt that could not be given to the referee.
pub(super) type Undelivered = (MatchId, u32);

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
        let there = players.chain(referees).filter(|agent| !league.is_away(*agent));
        there.for_each(|agent| self.welcome(league, keys, agent));
        match league.phase() {
            Phase::Playing(round) => self.post_all(News::Round(round.id.number())),
            Phase::Completed { .. } => self.post_all(News::Completed),
            Phase::Registering | Phase::BetweenRounds { .. } => {}
        }
    }

    /// Does what an event calls for.
    pub(super) fn perform(
        &mut self,
        stage: &mut Stage<'_>,
        (league, keys): (&League, &Keys),
        effect: Effect,
    ) {
        match effect {
            Effect::Welcome(agent) => self.welcome(league, keys, agent),
            Effect::FallSilent(agent) => drop(self.couriers.remove(&agent)),
            Effect::AnnounceRound(round) => self.post_all(News::Round(round.number())),
            Effect::AnnounceRoundCompleted(round) => {
                self.post_all(News::RoundOver(round.number()));
                self.post_all(News::Standings);
            }
            Effect::AnnounceStandings => {
                let wait = league.policy().standings_within() / 2;
                self.table_at.get_or_insert(stage.now + wait);
            }
            Effect::AnnounceCompleted => self.post_all(News::Completed),
            Effect::NoticeSuspension(agent) => self.post(agent, News::Suspended),
            Effect::NoticeRecovery(agent) => self.post(agent, News::Recovered),
            Effect::NoticeShutdown(agent) => self.post(agent, News::ShutDown),
            Effect::Alert(Alert::MatchStuck(match_id)) => {
                stage.call(Node::Administrator, Letter::bare(Body::Stuck { match_id }));
            }
            // Somebody will come, without being asked to.
            Effect::Alert(
                Alert::NoReferee
                | Alert::StartOverdue
                | Alert::PlayerSuspended(_)
                | Alert::PlayerAway(_),
            ) => {}
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

    /// Looks at the clock; says which matches could not be given to their referees.
    pub(super) fn wake(&mut self, now: Timestamp, league: &League) -> Vec<Undelivered> {
        let mut lost = vec![];
        if self.table_at.is_some_and(|at| at <= now) {
            self.table_at = None;
            if league.open_round().is_some() {
                self.post_all(News::Standings);
            }
        }
        for courier in self.couriers.values_mut() {
            match courier.flight {
                Flight::Calling { until, .. } if until <= now => {
                    lost.extend(courier.failed(now, league.policy()));
                }
                Flight::Pausing { until } if until <= now => courier.flight = Flight::Idle,
                Flight::Idle | Flight::Calling { .. } | Flight::Pausing { .. } => {}
            }
        }
        lost
    }

    /// A call was answered. If it was about a match: which, and whether the referee takes it.
    pub(super) fn answered(&mut self, call: u64, answer: &Body) -> Option<(Undelivered, bool)> {
        let letter = self.calling(call)?.done()?;
        Some((undelivered(&letter)?, !matches!(answer, Body::Denied(_))))
    }

    /// A call did not get through.
    pub(super) fn failed(
        &mut self,
        now: Timestamp,
        policy: &Policy,
        call: u64,
    ) -> Option<Undelivered> {
        self.calling(call)?.failed(now, policy)
    }

    fn calling(&mut self, call: u64) -> Option<&mut Courier> {
        self.couriers.values_mut().find(|courier| courier.flight.is(call))
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
        let to = node_of(league, agent).zip(token_of(keys, league, agent));
        let Some((node, token)) = to else { return };
        let token = token.expose().into();
        if let Some(courier) = self.couriers.get_mut(&agent) {
            (courier.node, courier.token) = (node, token);
            return;
        }
        let (news, letters, handouts) = (VecDeque::new(), VecDeque::new(), vec![]);
        let flight = Flight::Idle;
        let courier = Courier { node, token, news, handouts, letters, failures: 0, flight };
        self.couriers.insert(agent, courier);
    }

    fn post(&mut self, agent: AgentId, news: News) {
        if let Some(courier) = self.couriers.get_mut(&agent) {
            courier.post(news);
        }
    }

    fn post_all(&mut self, news: News) {
        self.couriers.values_mut().for_each(|courier| courier.post(news));
    }
}

impl Flight {
    const fn is(&self, number: u64) -> bool {
        matches!(self, Self::Calling { call, .. } if *call == number)
    }
}

impl Courier {
    fn post(&mut self, news: News) {
        if news == News::Standings {
            self.news.retain(|waiting| *waiting != News::Standings);
        }
        if self.news.len() >= NEWS_MAX {
            self.news.pop_front();
        }
        self.news.push_back(news);
    }

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

    fn done(&mut self) -> Option<Letter> {
        (self.failures, self.flight) = (0, Flight::Idle);
        self.letters.pop_front()
    }

    fn failed(&mut self, now: Timestamp, policy: &Policy) -> Option<Undelivered> {
        self.failures += 1;
        if let Some(wait) = RetryPlan::network(policy).next(self.failures) {
            self.flight = Flight::Pausing { until: now + wait };
            return None;
        }
        undelivered(&self.done()?)
    }
}

/// Where an agent is called.
pub(super) fn node_of(league: &League, agent: AgentId) -> Option<Node> {
    let profile = match agent {
        AgentId::Player(id) => &league.player(id)?.profile,
        AgentId::Referee(id) => &league.referee(id)?.profile,
    };
    Node::at(&profile.endpoint)
}

fn undelivered(letter: &Letter) -> Option<Undelivered> {
    let Body::Order(order) = &letter.body else { return None };
    Some((order.match_id, order.attempt))
}
