//! One agent's mail: what waits for it is sent together, one call in flight, the newest table wins.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use league_agent::ambient;
use league_agent::caller::{Answered, CallError};
use league_agent::component::Component;
use league_agent::exchange::{Exchange, new_conversation};
use league_agent::guard::lock;
use league_agent::log::talk;
use league_agent::meter::Meter;
use league_agent::shape;
use league_core::breaker::{Breaker, Outcome as Tried, Permission};
use league_core::id::{AgentId, LeagueId};
use league_core::manager::VoidCause;
use league_core::manager::dispatch::Handout;
use league_core::policy::Policy;
use league_core::retry::RetryPlan;
use league_wire::dialect::decode_result;
use league_wire::frame::{Outcome, parse_response, parse_responses, write_batch};
use league_wire::message::{OrderName, Ping};
use league_wire::{
    AuthToken, Decision, Dialect, Envelope, Id, Letter, Message, MessageType, Sender,
};
use tokio::sync::Notify;

use super::contacts::Contacts;
use super::manners::Manners;
use super::news::Notice;
use super::relay::{Call, From, Mailbox, Mailboxes, Reply, Unanswered, Want};
use super::witness::{self, Begun, Templates};
use crate::letters::{Letters, Part};
use crate::limits::{LETTERS_BYTES_MAX, LETTERS_MAX, NOTICES_MAX, ORDER_TRIES};

/// How to reach an agent, and what waits for it.
#[derive(Debug)]
pub(super) struct Courier {
    pub(super) agent: AgentId,
    route: Route,
    pub(super) dialect: Dialect,
    pub(super) batch: bool,
    pub(super) token: AuthToken,
    pub(super) league: LeagueId,
    contacts: Arc<Contacts>,
    mail: Mutex<Mail>,
    arrived: Notify,
    /// There is one since the last call failed.
    breaker: Mutex<Option<Breaker>>,
    /// What was found out about the shape in which the agent wants to be spoken to.
    search: Mutex<Search>,
}

/// The search for the shape that an agent answers to. Many agents just do not know one kind of news
/// or another, and many answer anything to what they do not know: only the right answer to a
/// question counts, and a PING is a harmless one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Search {
    /// No news has been misunderstood yet.
    #[default]
    NotBegun,
    /// This one was understood, and nobody has asked yet.
    Found(Dialect),
    /// No other shape does better, or it is known.
    Over,
}

#[derive(Debug, Default)]
pub(super) struct Mail {
    pub(super) notices: VecDeque<Arc<Notice>>,
    pub(super) handouts: Vec<Handout>,
    /// Nothing comes any more: somebody else has the agent's mail now.
    is_last: bool,
}

/// Where an agent gets its mail.
#[derive(Debug, Clone)]
pub(super) enum Route {
    /// It is called there.
    Address(Arc<str>),
    /// It fetches it.
    Mailbox(Arc<Mailbox>),
}

/// What a courier carries letters with.
#[derive(Clone, Copy)]
pub(super) struct Bag<'a> {
    pub(super) exchange: &'a Exchange,
    pub(super) policy: &'a Policy,
    pub(super) letters: &'a Letters,
    pub(super) templates: &'a Templates,
    pub(super) mailboxes: &'a Mailboxes,
    pub(super) manners: &'a Manners,
    /// Whether the agent may be found to answer to another shape.
    pub(super) searches: bool,
}

impl Courier {
    pub(super) fn new(
        (agent, token): (AgentId, AuthToken),
        (route, dialect, batch): (Route, Dialect, bool),
        (league, contacts): (LeagueId, Arc<Contacts>),
    ) -> Self {
        let (mail, arrived, breaker) = (Mutex::default(), Notify::new(), Mutex::default());
        let search = Mutex::default();
        Self {
            agent,
            route,
            dialect,
            batch,
            token,
            league,
            contacts,
            mail,
            arrived,
            breaker,
            search,
        }
    }

    /// The shape that the agent was found to answer to, told once.
    pub(super) fn found_shape(&self) -> Option<Dialect> {
        let mut search = lock(&self.search);
        match *search {
            Search::Found(dialect) => {
                *search = Search::Over;
                Some(dialect)
            }
            Search::NotBegun | Search::Over => None,
        }
    }

    /// Whether news that is not understood leads to a search. Only players are sought like this:
    /// they get news before anything depends on it.
    fn is_searching(&self) -> bool {
        let is_player = matches!(self.agent, AgentId::Player(_));
        is_player && !self.batch && *lock(&self.search) == Search::NotBegun
    }

    /// Asks for a sign of life in one shape after the other, until one is answered.
    async fn search(&self, bag: Bag<'_>) {
        let letter = &self.letter(Message::Ping(Ping {}));
        for dialect in shape::others(self.dialect) {
            let (id, body) = bag.exchange.encode(dialect, letter);
            talk::posted(self.agent, letter, &body);
            let part = witness::part(letter, dialect, (&id, &body), None);
            let (begun, timeout) = (Begun::now(), bag.policy.default_timeout());
            let told = self.tell(bag, body.into(), timeout).await;
            let place = (&self.league, self.agent, dialect);
            witness::called(bag.letters, place, &begun, vec![part], &told);
            match told {
                Ok(Some(answered)) if is_pong(dialect, &answered) => {
                    *lock(&self.search) = Search::Found(dialect);
                    return;
                }
                Ok(Some(_)) => {}
                // That tells nothing; the next news may.
                Ok(None) | Err(_) => return,
            }
        }
        *lock(&self.search) = Search::Over;
    }

    /// Puts a notice into the mail. An older table that still waits is replaced.
    pub(super) fn post(&self, notice: &Arc<Notice>) {
        let mut mail = lock(&self.mail);
        if matches!(**notice, Notice::Standings { .. }) {
            mail.notices.retain(|waiting| !matches!(**waiting, Notice::Standings { .. }));
        }
        if mail.notices.len() >= NOTICES_MAX {
            mail.notices.pop_front();
        }
        mail.notices.push_back(notice.clone());
        self.arrived.notify_one();
    }

    /// Puts matches into the mail of a referee.
    pub(super) fn hand(&self, handout: Handout) {
        let mut mail = lock(&self.mail);
        mail.handouts.push(handout);
        self.arrived.notify_one();
    }

    /// What is in the mail is the last of it.
    pub(super) fn retire(&self) {
        lock(&self.mail).is_last = true;
        self.arrived.notify_one();
    }

    /// Nobody is there any more for what is in the mail.
    pub(super) fn dismiss(&self) {
        *lock(&self.mail) = Mail { is_last: true, ..Mail::default() };
        self.arrived.notify_one();
    }

    /// Waits for mail and takes all of it; `None` after the last of it. Notices to an address that
    /// does not answer wait until its breaker allows a trial; matches do not, since somebody else
    /// can take them.
    pub(super) async fn collect(&self) -> Option<Mail> {
        loop {
            let wait = self.refused_for();
            {
                let mut mail = lock(&self.mail);
                let is_due = wait.is_none() && !mail.notices.is_empty();
                if is_due || !mail.handouts.is_empty() {
                    let is_last = mail.is_last;
                    return Some(std::mem::replace(
                        &mut *mail,
                        Mail { is_last, ..Mail::default() },
                    ));
                }
                if mail.is_last && mail.notices.is_empty() {
                    return None;
                }
            }
            tokio::select! {
                () = self.arrived.notified() => {}
                () = pause(wait) => {}
                () = self.returned() => *lock(&self.breaker) = None,
            }
        }
    }

    /// Comes back when an agent that fetches its mail does so after it was away.
    async fn returned(&self) {
        match &self.route {
            Route::Mailbox(mailbox) => mailbox.returned().await,
            Route::Address(_) => std::future::pending().await,
        }
    }

    /// Puts notices back that an address did not take which is not called for a while. What came
    /// meanwhile is newer.
    pub(super) fn put_back(&self, notices: VecDeque<Arc<Notice>>) {
        if self.refused_for().is_none() || lock(&self.mail).is_last {
            return;
        }
        let newer = std::mem::replace(&mut lock(&self.mail).notices, notices);
        newer.iter().for_each(|notice| self.post(notice));
    }

    /// Whether the last call of the address failed.
    pub(super) fn is_unreached(&self) -> bool {
        lock(&self.breaker).is_some()
    }

    /// How long the agent is not called.
    fn refused_for(&self) -> Option<Duration> {
        if let Route::Mailbox(mailbox) = &self.route
            && !mailbox.is_present()
        {
            return Some(Duration::MAX);
        }
        let now = ambient::now();
        match lock(&self.breaker).as_ref()?.allow(now) {
            Permission::Refused { until } => Some(until.since(now)),
            Permission::Granted | Permission::Trial => None,
        }
    }

    /// Calls the agent, and remembers whether it answers.
    async fn call(&self, bag: Bag<'_>, parcel: &[Packed]) -> Result<Option<Answered>, CallError> {
        let Bag { policy, letters, .. } = bag;
        let begun = Begun::now();
        if let Some(breaker) = lock(&self.breaker).as_mut() {
            breaker.apply(Tried::Begun, ambient::now());
        }
        let body = body_of(parcel);
        let told = self.tell(bag, body, policy.default_timeout()).await;
        let parts = parcel.iter().filter_map(|packed| packed.part.clone()).collect();
        witness::called(letters, self.place(), &begun, parts, &told);
        let lost = |error| self.contacts.lost((&self.league, self.agent), parcel[0].kind, error);
        let mut breaker = lock(&self.breaker);
        match &told {
            Ok(_) | Err(CallError::Busy | CallError::TooLarge) => {
                *breaker = None;
                self.contacts.reached(&self.league, self.agent);
            }
            Err(
                error
                @ (CallError::NotConnected(_) | CallError::Broken(_) | CallError::TimedOut(_)),
            ) => {
                lost(error);
                let breaker = breaker.get_or_insert_with(|| Breaker::from_policy(policy));
                breaker.apply(Tried::Failed, ambient::now());
            }
            Err(error @ (CallError::Forbidden(_) | CallError::BadAddress(_))) => lost(error),
            // That is no fault of the agent's; the call itself was told by whoever made it.
            Err(CallError::Ours(_)) => {}
        }
        told
    }

    /// Brings `body` to the agent and waits for what it says.
    async fn tell(
        &self,
        bag: Bag<'_>,
        body: Bytes,
        timeout: Duration,
    ) -> Result<Option<Answered>, CallError> {
        match &self.route {
            Route::Address(endpoint) => bag.exchange.tell(endpoint, body, timeout).await,
            Route::Mailbox(mailbox) => {
                let call = Call { from: From::Manager, want: Want::Notice, body };
                match bag.mailboxes.call(mailbox, call, timeout).await {
                    Ok(Reply::Posted(body)) => Ok(Some(Answered {
                        status: 200,
                        body,
                        retry_after: None,
                        redirected: false,
                        greeted: false,
                    })),
                    Ok(Reply::Present) => Ok(None),
                    Err(Unanswered::Full(_)) => Err(CallError::Busy),
                    Err(Unanswered::Silent(wait)) => Err(CallError::TimedOut(wait)),
                    Err(Unanswered::Closed) => Err(CallError::Ours("the league closes".into())),
                }
            }
        }
    }

    /// Sends messages in the agent's dialect, together if it takes batches, until they arrive or
    /// the policy gives up. Gives back the matches that were not taken, and why.
    pub(super) async fn deliver(
        &self,
        bag: Bag<'_>,
        notices: Vec<(&Arc<Notice>, Message)>,
        (orders, name): (Vec<(Handout, Message)>, OrderName),
    ) -> Vec<NotTaken> {
        let notices = notices.into_iter().map(|(notice, message)| (None, Some(notice), message));
        let orders = orders.into_iter().map(|(handout, message)| (Some(handout), None, message));
        let mut not_taken = vec![];
        let mut parcel: Vec<Packed> = vec![];
        for (handout, notice, message) in notices.chain(orders) {
            let letter = self.letter(message);
            let (id, body) = bag.exchange.encode_order(self.dialect, &letter, name);
            talk::posted(self.agent, &letter, &body);
            let part = bag.letters.are_kept().then(|| {
                let shared = notice.map(|notice| (bag.templates, notice));
                witness::part(&letter, self.dialect, (&id, &body), shared)
            });
            let bytes: usize = parcel.iter().map(|packed| packed.body.len()).sum();
            let is_full =
                parcel.len() == self.parcel_max() || bytes + body.len() > LETTERS_BYTES_MAX;
            if is_full && !parcel.is_empty() {
                let full = std::mem::take(&mut parcel);
                not_taken.extend(self.send(bag, full).await);
            }
            let kind = letter.message.kind();
            let searched = notice.is_some() && bag.searches && self.is_searching();
            parcel.push(Packed { id, kind, body, handout, part, searched });
        }
        if !parcel.is_empty() {
            not_taken.extend(self.send(bag, parcel).await);
        }
        not_taken
    }

    /// Whether the agent answers a PING at all.
    pub(super) async fn ping(&self, bag: Bag<'_>) -> bool {
        let letter = self.letter(Message::Ping(Ping {}));
        let (id, body) = bag.exchange.encode(self.dialect, &letter);
        let part = witness::part(&letter, self.dialect, (&id, &body), None);
        let (begun, timeout) = (Begun::now(), bag.policy.default_timeout());
        let told = self.tell(bag, body.into(), timeout).await;
        witness::called(bag.letters, self.place(), &begun, vec![part], &told);
        let answers = told.is_ok();
        if answers {
            *lock(&self.breaker) = None;
            self.contacts.reached(&self.league, self.agent);
            self.arrived.notify_one();
        }
        answers
    }

    const fn parcel_max(&self) -> usize {
        if self.batch { LETTERS_MAX } else { 1 }
    }

    /// News is worth more patience than a match, which somebody else can take.
    async fn send(&self, bag: Bag<'_>, mut parcel: Vec<Packed>) -> Vec<NotTaken> {
        let plan = RetryPlan::network(bag.policy);
        let mut not_taken = vec![];
        let mut failures = 0;
        while !parcel.is_empty() {
            let told = self.call(bag, &parcel).await;
            let error = match told {
                Ok(answered) => {
                    if let (Some(answered), [Packed { searched: true, .. }]) = (&answered, &*parcel)
                        && shape::is_misunderstood(answered)
                    {
                        self.search(bag).await;
                    }
                    not_taken.extend(refusals(self.dialect, &parcel, answered, bag.manners));
                    break;
                }
                Err(error) => error,
            };
            failures += 1;
            // Whoever is not ours and is told twice may play twice.
            if let (false, CallError::TimedOut(_), [Packed { handout: Some(handout), .. }]) =
                (self.batch, &error, &parcel[..])
            {
                let reason = "the order was not answered in time".into();
                let lost = NotTaken::new(*handout, VoidCause::NotDelivered { reason });
                not_taken.push(NotTaken { heard: true, ..lost });
                break;
            }
            if failures == ORDER_TRIES {
                let reason: Arc<str> = format!("the order was not delivered: {error}").into();
                let orders = parcel.iter().filter_map(|packed| packed.handout);
                let cause = VoidCause::NotDelivered { reason };
                let lost = |handout| NotTaken::new(handout, cause.clone());
                not_taken.extend(orders.map(lost));
                parcel.retain(|packed| packed.handout.is_none());
            }
            Meter::of(Component::Manager).retries.add(u64::from(plan.next(failures).is_some()));
            let has_order = parcel.iter().any(|packed| packed.handout.is_some());
            if !has_order && self.refused_for().is_some() {
                break;
            }
            match plan.next(failures) {
                Some(wait) => tokio::time::sleep(wait).await,
                None => break,
            }
        }
        not_taken
    }

    const fn place(&self) -> (&LeagueId, AgentId, Dialect) {
        (&self.league, self.agent, self.dialect)
    }

    fn letter(&self, message: Message) -> Letter {
        let envelope = Envelope {
            sender: Sender::LeagueManager(None),
            timestamp: ambient::now(),
            conversation: new_conversation("mgr"),
            token: Some(self.token.clone()),
            league_id: Some(self.league.clone()),
        };
        Letter { envelope, message }
    }
}

/// A match that its referee did not take, and why.
#[derive(Debug)]
pub(super) struct NotTaken {
    pub(super) handout: Handout,
    pub(super) cause: VoidCause,
    /// Whether the referee does not know what it was asked.
    pub(super) unknown: bool,
    /// Whether it has heard and not answered: some play the match first.
    pub(super) heard: bool,
}

impl NotTaken {
    const fn new(handout: Handout, cause: VoidCause) -> Self {
        Self { handout, cause, unknown: false, heard: false }
    }
}

/// A letter that is ready to be sent.
struct Packed {
    id: Id,
    kind: MessageType,
    body: Vec<u8>,
    /// The match that it orders.
    handout: Option<Handout>,
    /// How it is noted.
    part: Option<Part>,
    /// Whether another shape is looked for if it is not understood.
    searched: bool,
}

/// Whether an agent answers a PING in the shape of `dialect`.
fn is_pong(dialect: Dialect, answered: &Answered) -> bool {
    let response = parse_response(&answered.body).ok();
    match response.map(|response| response.outcome) {
        Some(Outcome::Result(result)) => {
            decode_result(dialect, &[MessageType::Pong], result).is_ok()
        }
        Some(Outcome::Error(_)) | None => false,
    }
}

/// Lets `wait` pass; for ever if there is none.
async fn pause(wait: Option<Duration>) {
    match wait {
        Some(wait) => tokio::time::sleep(wait).await,
        None => std::future::pending().await,
    }
}

fn body_of(parcel: &[Packed]) -> Bytes {
    if let [only] = parcel {
        return only.body.clone().into();
    }
    let bodies: Vec<&[u8]> = parcel.iter().map(|packed| &*packed.body).collect();
    write_batch(&bodies).into()
}

/// The orders that were refused. Whatever else a referee answers shows that it has heard: from
/// there on its lease counts.
fn refusals(
    dialect: Dialect,
    parcel: &[Packed],
    answered: Option<Answered>,
    manners: &Manners,
) -> Vec<NotTaken> {
    let (status, body) =
        answered.map_or((200, Bytes::new()), |answer| (answer.status, answer.body));
    let Ok(responses) = parse_responses(&body) else {
        let reason: Arc<str> = format!("the order was answered with HTTP status {status}").into();
        let orders = parcel.iter().filter_map(|packed| packed.handout);
        let refused = |handout| {
            let cause = VoidCause::NotTaken { reason: reason.clone() };
            let unknown = shape::is_no_place(status);
            NotTaken { unknown, ..NotTaken::new(handout, cause) }
        };
        return orders.filter(|_| status >= 400).map(refused).collect();
    };
    let mut refused = vec![];
    for response in responses.iter().flatten() {
        let answered = parcel.iter().find(|packed| response.id.as_ref() == Some(&packed.id));
        let Some(handout) = answered.and_then(|packed| packed.handout) else { continue };
        match heard(dialect, &response.outcome) {
            Heard::Taken { draws_committed: true } => {
                manners.learn(handout.referee, |manner| manner.draws_committed = true);
            }
            Heard::Taken { draws_committed: false } => {}
            Heard::Refused { reason, unknown } => {
                let cause = VoidCause::NotTaken { reason };
                refused.push(NotTaken { unknown, ..NotTaken::new(handout, cause) });
            }
        }
    }
    refused
}

/// What a referee says to an order.
enum Heard {
    Taken { draws_committed: bool },
    Refused { reason: Arc<str>, unknown: bool },
}

fn heard(dialect: Dialect, outcome: &Outcome<'_>) -> Heard {
    match outcome {
        Outcome::Error(error) => Heard::Refused {
            reason: format!("the order was refused: {}", error.message).into(),
            unknown: shape::is_no_method(error),
        },
        Outcome::Result(result) => {
            let reply = decode_result(dialect, &[MessageType::StartMatchAck], *result);
            let ack = reply.ok().map(|reply| reply.message);
            let Some(Message::StartMatchAck(ack)) = ack else {
                return Heard::Taken { draws_committed: false };
            };
            if ack.status != Decision::Rejected {
                return Heard::Taken { draws_committed: ack.draw_commitment.is_some() };
            }
            let reason = ack.reason.unwrap_or_else(|| "no reason given".into());
            let reason = format!("the order was refused: {reason}").into();
            Heard::Refused { reason, unknown: false }
        }
    }
}
