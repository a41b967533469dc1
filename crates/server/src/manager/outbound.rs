//! What the manager sends after its books are written: announcements, tables, matches.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

use league_agent::ambient;
use league_agent::exchange::Exchange;
use league_agent::guard::{self, lock};
use league_core::id::{AgentId, MatchId, RoundId};
use league_core::manager::dispatch::Handout;
use league_core::manager::{Command, Effect, League, Phase, Refusal, VoidCause};
use league_core::policy::Policy;
use league_core::proof::{Keys, Token};
use league_core::roster::{AgentState, Reason};
use league_core::time::Timestamp;
use league_wire::lenient::Reading;
use league_wire::message::OrderName;
use league_wire::{AuthToken, Dialect, Message};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;

use super::courier::{Bag, Courier, Mail, NotTaken, Route};
use super::course;
use super::manners::Manner;
use super::news::{self, Notice, Table};
use super::witness::Templates;
use super::{Alarm, AskError, Stub, relay, shape};
use crate::limits::{END_TOLD_WITHIN, LEAVE_TIMEOUT};

/// Everything a league's manager sends.
pub struct Outbound {
    stub: Stub,
    keys: Keys,
    exchange: Exchange,
    couriers: Mutex<BTreeMap<AgentId, Arc<Courier>>>,
    tasks: Mutex<JoinSet<()>>,
    /// The table of the last round's end, which players are shown when they must choose.
    table: Mutex<Arc<Table>>,
    table_changed: Notify,
    templates: Templates,
    /// The latest round of which a match was handed out.
    begun: Mutex<Option<RoundId>>,
    leaving: watch::Sender<bool>,
    /// How much referees read into what players answer.
    reading: OnceLock<Reading>,
    /// Where the administrator hears what does not go on by itself.
    bell: OnceLock<Bell>,
}

type Bell = Box<dyn Fn(Alarm) + Send + Sync>;

impl std::fmt::Debug for Outbound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outbound").finish_non_exhaustive()
    }
}

impl Outbound {
    /// What sends for the league behind `stub`.
    pub fn new(stub: Stub, keys: Keys, exchange: Exchange) -> Arc<Self> {
        let table = Table::of_last_round(&stub.published().league);
        Arc::new(Self {
            stub,
            keys,
            exchange,
            couriers: Mutex::default(),
            tasks: Mutex::default(),
            table: Mutex::new(table),
            table_changed: Notify::new(),
            templates: Templates::default(),
            begun: Mutex::default(),
            leaving: watch::Sender::new(false),
            reading: OnceLock::new(),
            bell: OnceLock::new(),
        })
    }

    /// Has referees read as much into what players answer as `reading` says.
    #[must_use]
    pub fn reading(self: Arc<Self>, reading: Reading) -> Arc<Self> {
        // It is said once, before anybody plays.
        let _second = self.reading.set(reading);
        self
    }

    fn is_lenient(&self) -> bool {
        self.reading.get().is_some_and(|reading| reading.is_lenient())
    }

    /// Has `bell` rung with everything that does not go on by itself.
    #[must_use]
    pub fn alarming(self: Arc<Self>, bell: impl Fn(Alarm) + Send + Sync + 'static) -> Arc<Self> {
        // There is one administrator.
        let _second = self.bell.set(Box::new(bell));
        self
    }

    /// Delivers what is waiting, as far as that goes quickly, and stops.
    pub(super) async fn leave(&self) {
        self.leaving.send_replace(true);
        let mut tasks = std::mem::take(&mut *lock(&self.tasks));
        let delivered = async {
            while let Some(left) = tasks.join_next().await {
                guard::outcome(left);
            }
        };
        // Whoever cannot be reached now hears of it when the league is opened again.
        let _too_slow = tokio::time::timeout(LEAVE_TIMEOUT, delivered).await;
        self.stub.mailboxes().close_all();
    }

    /// Takes up the mail of every agent, and says again what the current phase says.
    pub(super) fn resume(self: &Arc<Self>, league: &League) {
        if ended_long_ago(league, ambient::now()) {
            self.stub.mailboxes().set_up();
            return;
        }
        let (herald, mut leaving) = (self.clone(), self.leaving.subscribe());
        lock(&self.tasks).spawn(async move {
            tokio::select! {
                () = herald.announce_tables() => {}
                _ = leaving.wait_for(|leaving| *leaving) => {}
            }
        });
        let players = league.players().iter().map(|player| AgentId::Player(player.id));
        let referees = league.referees().iter().map(|referee| AgentId::Referee(referee.id));
        for agent in players.chain(referees).filter(|agent| !league.is_away(*agent)) {
            self.welcome(league, agent);
            if let AgentId::Player(player) = agent
                && let Some(mailbox) = self.stub.mailboxes().of(player)
            {
                mailbox.presume();
            }
        }
        self.stub.mailboxes().set_up();
        match league.phase() {
            Phase::Playing(round) => self.perform(Effect::AnnounceRound(round.id)),
            Phase::Completed { .. } => self.perform(Effect::AnnounceCompleted),
            Phase::Registering | Phase::BetweenRounds { .. } => {}
        }
        for alert in league.alerts() {
            self.perform(Effect::Alert(alert));
        }
    }

    /// Does what an event calls for.
    pub(super) fn perform(self: &Arc<Self>, effect: Effect) {
        match effect {
            Effect::Welcome(agent) => self.welcome(&self.stub.published().league, agent),
            Effect::FallSilent(agent) => {
                if let Some(courier) = lock(&self.couriers).remove(&agent) {
                    courier.dismiss();
                }
                self.close_mailbox(agent);
            }
            Effect::AnnounceRound(round) => {
                let published = self.stub.published();
                let mut table = lock(&self.table);
                if table.len() < published.league.players().len() {
                    *table = Table::of(&published.league);
                }
                drop(table);
                let by = (&self.keys, self.stub.mailboxes());
                self.post_all(&published.league, news::round(by, &published.league, round));
            }
            Effect::AnnounceRoundCompleted(round) => {
                let published = self.stub.published();
                let table = Table::of(&published.league);
                *lock(&self.table) = table.clone();
                let head = published.head.hash.to_string();
                let league = &published.league;
                self.post_004(|| course::round_result(league, round));
                self.post_players(league, news::round_completed(league, round, head));
                let standings = news::standings(league, ambient::now(), &table);
                self.post_players(league, Some(standings));
            }
            Effect::AnnounceStandings => self.table_changed.notify_one(),
            Effect::AnnounceCompleted => {
                let published = self.stub.published();
                let table = lock(&self.table).clone();
                let head = published.head.hash.to_string();
                let notice = Arc::new(news::completed(&published.league, &table, head));
                // Those who are out of it too: an agent stays up until it hears of the end.
                lock(&self.couriers).values().for_each(|courier| courier.post(&notice));
            }
            Effect::NoticeSuspension(agent)
            | Effect::NoticeRecovery(agent)
            | Effect::NoticeShutdown(agent) => {
                let notice = news::state(&self.stub.published().league, agent);
                if let (Some(notice), Some(courier)) = (notice, lock(&self.couriers).get(&agent)) {
                    courier.post(&Arc::new(notice));
                }
            }
            Effect::Alert(alert) => {
                if let Some(bell) = self.bell.get() {
                    bell(Alarm::of(&self.stub.published().league, alert));
                }
            }
        }
    }

    /// Asks a suspended agent for a sign of life; one is enough for it to go on.
    pub(super) fn probe(self: &Arc<Self>, agent: AgentId) {
        let Some(courier) = lock(&self.couriers).get(&agent).cloned() else { return };
        let (outbound, mut leaving) = (self.clone(), self.leaving.subscribe());
        lock(&self.tasks).spawn(async move {
            let policy = outbound.stub.published().league.policy().clone();
            let answered = tokio::select! {
                answered = courier.ping(outbound.bag(&policy)) => answered,
                _ = leaving.wait_for(|leaving| *leaving) => false,
            };
            if answered {
                // Whether it still is suspended, the league knows.
                drop(outbound.stub.ask(Command::ProbeAnswered { agent }, None).await);
            }
        });
    }

    /// Gives matches to their referees.
    pub(super) fn hand_out(&self, handouts: &[Handout]) {
        if let Some(round) = handouts.iter().map(|handout| handout.match_id.round).max() {
            self.begin(round);
        }
        let open = self.stub.published().league.policy().breaker_open();
        let couriers = lock(&self.couriers);
        for handout in handouts {
            let Some(courier) = couriers.get(&AgentId::Referee(handout.referee)) else { continue };
            let asks = || self.stub.manners().asks(handout.referee, ambient::now(), open);
            // Whoever has no open port and asks for its matches is not called for them.
            if !courier.is_unreached() || !asks() {
                courier.hand(*handout);
            }
        }
    }

    /// Says that a round begins, once.
    fn begin(&self, round: RoundId) {
        let mut begun = lock(&self.begun);
        if *begun < Some(round) {
            *begun = Some(round);
            drop(begun);
            self.post_004(|| course::round_start(&self.stub.published().league, round));
        }
    }

    /// Tells the players of document 004 what no other document has a message for.
    fn post_004(&self, notice: impl FnOnce() -> Option<Notice>) {
        let couriers = lock(&self.couriers);
        let is_one = |courier: &&Arc<Courier>| {
            let is_player = matches!(courier.agent, AgentId::Player(_));
            is_player && courier.dialect == Dialect::Payload
        };
        let readers: Vec<Arc<Courier>> = couriers.values().filter(is_one).cloned().collect();
        drop(couriers);
        let notice = if readers.is_empty() { None } else { notice() };
        if let Some(notice) = notice.map(Arc::new) {
            readers.iter().for_each(|courier| courier.post(&notice));
        }
    }

    /// Tells everybody who still takes part.
    fn post_all(&self, league: &League, notice: Option<Notice>) {
        self.post_some(league, notice, |_| true);
    }

    /// Tells the players who still take part; to referees the documents say nothing of results.
    fn post_players(&self, league: &League, notice: Option<Notice>) {
        self.post_some(league, notice, |agent| matches!(agent, AgentId::Player(_)));
    }

    fn post_some(&self, league: &League, notice: Option<Notice>, to: fn(AgentId) -> bool) {
        let Some(notice) = notice.map(Arc::new) else { return };
        for (agent, courier) in &*lock(&self.couriers) {
            if to(*agent) && !is_out(league, *agent) {
                courier.post(&notice);
            }
        }
    }

    fn welcome(self: &Arc<Self>, league: &League, agent: AgentId) {
        let (profile, nonce) = match agent {
            AgentId::Player(id) => {
                let player = league.player(id).expect("it has just registered");
                (&player.profile, player.nonce)
            }
            AgentId::Referee(id) => {
                let referee = league.referee(id).expect("it has just registered");
                (&referee.profile, referee.nonce)
            }
        };
        let token = self.keys.token(league.policy().token_form(), league.id(), agent, &nonce);
        let dialect = news::dialect(league.dialect(agent).expect("it has just registered"));
        let route = self.route(agent, &profile.endpoint, &token);
        let address = (route, dialect, profile.batch);
        let token = AuthToken::new(token.expose());
        self.stub.contacts().returned(agent);
        if let AgentId::Referee(referee) = agent {
            // It may be another program by now.
            self.stub.manners().learn(referee, |manner| *manner = Manner::default());
        }
        let place = (league.id().clone(), self.stub.contacts().clone());
        let courier = Arc::new(Courier::new((agent, token), address, place));
        if let Some(former) = lock(&self.couriers).insert(agent, courier.clone()) {
            former.retire();
        }
        let (outbound, mut leaving) = (self.clone(), self.leaving.subscribe());
        lock(&self.tasks).spawn(async move {
            loop {
                let mail = tokio::select! {
                    biased;
                    mail = courier.collect() => mail,
                    _ = leaving.wait_for(|leaving| *leaving) => break,
                };
                let Some(mail) = mail else { break };
                outbound.deliver(&courier, mail).await;
            }
        });
    }

    /// How `agent` is reached: at its address, or through its mailbox.
    fn route(&self, agent: AgentId, endpoint: &Arc<str>, token: &Token) -> Route {
        match agent {
            AgentId::Player(player) if relay::is_pull(endpoint) => {
                Route::Mailbox(self.stub.mailboxes().open(player, token))
            }
            AgentId::Player(_) | AgentId::Referee(_) => {
                self.close_mailbox(agent);
                Route::Address(endpoint.clone())
            }
        }
    }

    fn close_mailbox(&self, agent: AgentId) {
        match agent {
            AgentId::Player(player) => self.stub.mailboxes().close(player),
            AgentId::Referee(_) => {}
        }
    }

    fn bag<'a>(&'a self, policy: &'a Policy) -> Bag<'a> {
        let (exchange, letters) = (&self.exchange, self.stub.letters());
        let (mailboxes, manners) = (self.stub.mailboxes(), self.stub.manners());
        let templates = &self.templates;
        Bag { exchange, policy, letters, templates, mailboxes, manners, searches: false }
    }

    async fn deliver(&self, courier: &Courier, mail: Mail) {
        let notices = mail.notices.iter().map(|notice| (notice, notice.message(courier.agent)));
        let notices: Vec<(_, Message)> = notices.collect();
        let policy = self.stub.published().league.policy().clone();
        let Manner { name, goes_by_announcement, .. } = self.manner(courier);
        if goes_by_announcement && !mail.handouts.is_empty() {
            self.announce_to(courier);
        }
        let orders = if goes_by_announcement { vec![] } else { self.orders(&mail.handouts) };
        self.note_ahead(&mail.handouts);
        let orders = (orders, name);
        let searches = !has_played(&self.stub.published().league, courier.agent);
        let bag = Bag { searches, ..self.bag(&policy) };
        let mut not_taken = courier.deliver(bag, notices, orders).await;
        courier.put_back(mail.notices);
        if let (AgentId::Player(player), Some(dialect)) = (courier.agent, courier.found_shape()) {
            shape::settle(&self.stub, vec![(player, dialect)]).await;
        }
        for next in OrderName::ALL.into_iter().filter(|other| *other != name) {
            not_taken = self.ask_again(courier, &policy, not_taken, next).await;
        }
        let is_taken = |handout: &&Handout| not_taken.iter().all(|lost| lost.handout != **handout);
        let taken: Vec<Handout> = mail.handouts.iter().filter(is_taken).copied().collect();
        if !goes_by_announcement {
            taken.iter().for_each(|handout| self.stub.untaken().taken(handout.match_id));
            self.stub.taken(taken);
        }
        for lost in not_taken {
            if !self.may_begin(courier, &lost, &policy) {
                self.give_up(lost).await;
            }
        }
    }

    /// What a referee does not know under one name it may know under another.
    async fn ask_again(
        &self,
        courier: &Courier,
        policy: &Policy,
        not_taken: Vec<NotTaken>,
        name: OrderName,
    ) -> Vec<NotTaken> {
        let (unknown, mut known): (Vec<_>, Vec<_>) =
            not_taken.into_iter().partition(|lost| lost.unknown);
        let handouts: Vec<Handout> = unknown.iter().map(|lost| lost.handout).collect();
        if handouts.is_empty() {
            return known;
        }
        let orders = self.orders(&handouts);
        self.note_ahead(&handouts);
        let asked = orders.len();
        let again = courier.deliver(self.bag(policy), vec![], (orders, name)).await;
        let still_unknown = again.iter().filter(|lost| lost.unknown).count();
        if let (AgentId::Referee(referee), true) = (courier.agent, still_unknown < asked) {
            self.stub.manners().learn(referee, |manner| manner.name = name);
        }
        known.extend(again);
        known
    }

    /// Notes who has reported a match before it took the order for it.
    fn note_ahead(&self, handouts: &[Handout]) {
        let published = self.stub.published();
        for handout in handouts {
            let record = published.league.match_record(handout.match_id);
            let filed = record.and_then(|record| record.filed);
            if filed.is_some_and(|filed| filed.attempt == handout.attempt) {
                self.stub.manners().learn(handout.referee, |manner| manner.is_ahead = true);
            }
        }
    }

    fn manner(&self, courier: &Courier) -> Manner {
        match courier.agent {
            AgentId::Referee(referee) => self.stub.manners().of(referee),
            AgentId::Player(_) => Manner::default(),
        }
    }

    fn orders(&self, handouts: &[Handout]) -> Vec<(Handout, Message)> {
        let (published, table) = (self.stub.published(), lock(&self.table).clone());
        let order = |handout: &Handout| {
            let around = (&*table, self.stub.mailboxes(), self.is_lenient());
            let order = news::start_match(&self.keys, &published.league, handout, around)?;
            Some((*handout, Message::StartMatch(order)))
        };
        handouts.iter().filter_map(order).collect()
    }

    /// Whether a referee that did not take a match may still begin it: because it answers when the
    /// match is over, asks for its matches, or goes by the announcement. It keeps the match until
    /// its lease ends.
    fn may_begin(&self, courier: &Courier, lost: &NotTaken, policy: &Policy) -> bool {
        let referee = lost.handout.referee;
        if lost.unknown {
            let known = self.manner(courier).goes_by_announcement;
            self.stub.manners().learn(referee, |manner| manner.goes_by_announcement = true);
            if !known {
                self.announce_to(courier);
            }
            return true;
        }
        if lost.heard {
            return true;
        }
        let is_silent = matches!(lost.cause, VoidCause::NotDelivered { .. });
        is_silent && self.stub.manners().asks(referee, ambient::now(), policy.breaker_open())
    }

    /// Tells a referee of the round as it stands, with all that it needs to run its matches.
    fn announce_to(&self, courier: &Courier) {
        let published = self.stub.published();
        let open = published.league.open_round().map(|open| open.id);
        let by = (&self.keys, self.stub.mailboxes());
        let notice = open.and_then(|id| news::round(by, &published.league, id));
        if let Some(notice) = notice {
            courier.post(&Arc::new(notice));
        }
    }

    /// A match that was not taken goes to somebody else, or is offered again.
    async fn give_up(&self, NotTaken { handout, cause, .. }: NotTaken) {
        let (match_id, attempt) = (handout.match_id, handout.attempt);
        let command = Command::VoidAttempt { match_id, attempt, cause: cause.clone() };
        // Refused too if the match has gone on without us; unavailable if the league closes.
        match self.stub.ask(command, None).await {
            Err(AskError::Refused(Refusal::NobodyElse(_))) => {
                self.stub.put_back(handout);
                self.note_untaken(handout, &cause);
            }
            Ok(_) if self.is_hopeless(match_id) => self.note_untaken(handout, &cause),
            Ok(_) | Err(AskError::Refused(_) | AskError::Busy | AskError::Unavailable) => {}
        }
    }

    /// Whether a match that was not taken is with somebody who did not take one either.
    fn is_hopeless(&self, match_id: MatchId) -> bool {
        let published = self.stub.published();
        let league = &published.league;
        let with = league.open_match(match_id).and_then(|open| league.referee(open.referee));
        with.is_some_and(|referee| referee.vanished)
    }

    /// Tells the administrator of a referee that does not take its matches, once.
    fn note_untaken(&self, handout: Handout, cause: &VoidCause) {
        let is_news = self.stub.untaken().note(ambient::wall(), handout, cause);
        let Some(bell) = self.bell.get().filter(|_| is_news) else { return };
        let published = self.stub.published();
        let balks = self.stub.untaken().balks(&published.league);
        let news = balks.iter().filter(|balk| balk.referee == handout.referee);
        news.for_each(|balk| bell(Alarm::of_balk(balk)));
    }

    /// Between the ends of rounds everybody gets the table a while after it has changed, so that a
    /// burst of results costs one message and not one each.
    async fn announce_tables(&self) {
        loop {
            self.table_changed.notified().await;
            let wait = self.stub.published().league.policy().standings_within() / 2;
            tokio::time::sleep(wait).await;
            let published = self.stub.published();
            let league = &published.league;
            if league.open_round().is_some() {
                let notice = news::standings(league, ambient::now(), &Table::of(league));
                self.post_players(league, Some(notice));
            }
        }
    }
}

/// Whether an agent was banned or shut down before the end.
fn is_out(league: &League, agent: AgentId) -> bool {
    league.lifecycle(agent).is_some_and(|life| match life.state() {
        AgentState::Shutdown { cause, .. } => *cause != Reason::LeagueEnded,
        AgentState::Init
        | AgentState::Registered
        | AgentState::Active
        | AgentState::Suspended { .. } => false,
    })
}

/// Whether everybody has heard long ago that the league is over. Somebody else may listen by now
/// where its agents were, and must not be shown their tokens; an agent that missed it can ask.
fn ended_long_ago(league: &League, now: Timestamp) -> bool {
    matches!(league.phase(), Phase::Completed { at } if now.since(*at) > END_TOLD_WITHIN)
}

/// Whether a player has made a move: then it is spoken to in a shape that it answers to.
fn has_played(league: &League, agent: AgentId) -> bool {
    match agent {
        AgentId::Player(player) => {
            league.player(player).is_some_and(|it| it.history.iter().any(|game| game.own.is_some()))
        }
        AgentId::Referee(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use league_core::manager::{Charter, Event, Fact, StartRule};

    use super::*;

    #[test]
    fn the_end_of_a_league_is_told_again_for_ten_minutes() {
        let charter = Charter {
            league: "spring".parse().unwrap(),
            rule_set: "v2.1".into(),
            rules: vec![],
            game: "even_odd".parse().unwrap(),
            format: "round_robin".into(),
            start: StartRule::OnCommand,
            players_max: 8,
            key_check: [0; 32],
        };
        let mut league = League::open(&charter).unwrap();
        let at = Timestamp::from_millis(1_000_000);
        let much_later = at + Duration::from_secs(86_400);
        assert!(!ended_long_ago(&league, much_later), "it has not ended");
        league.apply(&Event { at, fact: Fact::LeagueCompleted });
        let ten_minutes = at + Duration::from_secs(600);
        assert!(!ended_long_ago(&league, at) && !ended_long_ago(&league, ten_minutes));
        assert!(ended_long_ago(&league, ten_minutes + Duration::from_millis(1)));
        assert!(ended_long_ago(&league, much_later));
    }
}
