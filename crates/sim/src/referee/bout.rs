//! One attempt at a match: the machine, its clock, and the calls it has out.

use std::sync::Arc;
use std::time::Duration;

use league_core::breaker::{Breaker, Outcome, Permission};
use league_core::conduct::Conduct;
use league_core::dice::Dice;
use league_core::draw::{Draw, Seed};
use league_core::id::{ConversationId, LeagueId};
use league_core::referee::{Asking, Command, Effect, Event, Join, Match, Phase, State, conduct};
use league_core::retry::RetryPlan;
use league_core::seat::{Seat, Seats};
use league_core::time::Timestamp;

use super::{Call, Hall, command};
use crate::guests::Manner;
use crate::message::{Body, Denial, Invited, Letter, Node, Order};
use crate::sabotage::Sabotage;
use crate::stage::Seen;

/// What a call is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Invite(Seat),
    Ask(Seat, u32),
    Tell(Seat),
    Report,
    Progress,
}

impl Purpose {
    /// Whose answer decides about the address, if it is a player's.
    pub(super) const fn seat(self) -> Option<Seat> {
        match self {
            Self::Invite(seat) | Self::Ask(seat, _) => Some(seat),
            Self::Tell(_) | Self::Report | Self::Progress => None,
        }
    }

    /// Whether the match is not left before it is done.
    pub(super) const fn is_errand(self) -> bool {
        match self {
            Self::Tell(_) | Self::Report | Self::Progress => true,
            Self::Invite(_) | Self::Ask(..) => false,
        }
    }
}

/// Where a report stands.
#[derive(Debug)]
enum Reporting {
    None,
    Calling,
    Pausing { until: Timestamp },
    Over,
}

/// One attempt at a match.
#[derive(Debug)]
pub(super) struct Bout {
    pub(super) order: Arc<Order>,
    pub(super) machine: Match,
    pub(super) manner: Manner,
    pub(super) league: LeagueId,
    conversation: ConversationId,
    renew_at: Timestamp,
    reporting: Reporting,
    failures: u32,
    pub(super) lies_told: u32,
    pub(super) conduct: Seats<Conduct>,
    /// Whose invitation waited for the breaker of its address, and then was its trial.
    on_trial: Seats<bool>,
    given_away: bool,
    /// Something was heard late, and what follows from it waits for the rest of what was said.
    heard_at: Option<Timestamp>,
}

impl Bout {
    pub(super) fn new(
        order: Arc<Order>,
        league: &LeagueId,
        manner: Manner,
        conversation: ConversationId,
    ) -> Self {
        Self {
            machine: Match::new(order.match_id, &*order.game, order.policy.clone()),
            order,
            manner,
            league: league.clone(),
            conversation,
            renew_at: Timestamp::default(),
            reporting: Reporting::None,
            failures: 0,
            lies_told: 0,
            conduct: Seats::default(),
            on_trial: Seats::default(),
            given_away: false,
            heard_at: None,
        }
    }

    pub(super) fn attempt(&self) -> u32 {
        self.order.attempt
    }

    pub(super) const fn conversation(&self) -> &ConversationId {
        &self.conversation
    }

    pub(super) fn player(&self, seat: Seat) -> &Invited {
        &self.order.players[seat]
    }

    /// Whether `shown` proves that the player at `seat` speaks.
    pub(super) fn is_proof(&self, seat: Seat, shown: &Arc<str>) -> bool {
        let player = self.player(seat);
        player.reply_proof == *shown || player.token_hash.matches(shown)
    }

    pub(super) const fn is_acknowledged(&self) -> bool {
        matches!(self.machine.phase(), Phase::Decided { acknowledged: true, .. })
    }

    /// Whether it can be left; `waits` if an errand is still out.
    pub(super) const fn is_done(&self, waits: bool) -> bool {
        let is_reporting = matches!(self.reporting, Reporting::Calling | Reporting::Pausing { .. });
        self.given_away || self.is_over() && !waits && !is_reporting
    }

    const fn is_over(&self) -> bool {
        matches!(self.machine.phase(), Phase::Decided { .. } | Phase::Annulled { .. })
    }

    pub(super) fn next_wake(&self) -> Option<Timestamp> {
        let deadline = self.machine.next_deadline().map(|deadline| deadline.at);
        let retry = match self.reporting {
            Reporting::Pausing { until } => Some(until),
            Reporting::None | Reporting::Calling | Reporting::Over => None,
        };
        [deadline, retry, self.heard_at, Some(self.renew_at)].into_iter().flatten().min()
    }

    pub(super) fn begin(&mut self, hall: &mut Hall<'_, '_>) {
        self.renew_at = hall.stage.now + self.order.policy.lease_renewal();
        self.drive(hall, Command::Begin);
    }

    pub(super) fn wake(&mut self, hall: &mut Hall<'_, '_>) {
        let now = hall.stage.now;
        let is_due = self.machine.next_deadline().is_some_and(|deadline| deadline.at <= now);
        if is_due || self.heard_at.is_some() {
            self.heard_at = None;
            self.pass_deadline(hall);
        }
        if let Reporting::Pausing { until } = self.reporting
            && until <= now
        {
            self.report(hall);
        }
        if self.renew_at <= now {
            self.renew_at = now + self.order.policy.lease_renewal();
            self.show_progress(hall, None);
        }
    }

    /// A deadline has passed. If it is us who are late, nobody loses by it.
    fn pass_deadline(&mut self, hall: &mut Hall<'_, '_>) {
        let now = hall.stage.now;
        let late = self.machine.next_deadline().map_or(Duration::ZERO, |at| now.since(at.at));
        if late > self.order.policy.own_delay_max()
            && !hall.stage.is_sabotaged(Sabotage::ChargeOwnDelay)
        {
            let events = self.machine.clone().drive(now, Command::Wake).unwrap_or_default();
            let is_loss = |event: &Event| matches!(event, Event::SeatLost { .. });
            if events.iter().any(is_loss) {
                let reason = "this referee stood still".into();
                self.drive(hall, Command::Annul { reason });
                return;
            }
        }
        self.drive(hall, Command::Wake);
    }

    /// Something that a player said. If a deadline has passed meanwhile, it had said it before we
    /// looked: it is heard first, and only once everything that waits is heard does time go on.
    pub(super) fn hear(&mut self, hall: &mut Hall<'_, '_>, command: Command) {
        let now = hall.stage.now;
        let is_late = self.machine.next_deadline().is_some_and(|deadline| deadline.at <= now);
        if !is_late || hall.stage.is_sabotaged(Sabotage::ChargeOwnDelay) {
            self.drive(hall, command);
            return;
        }
        let Ok(Some(event)) = self.machine.decide(now, command) else { return };
        self.heard_at = Some(now);
        let from = self.machine.state();
        self.machine.apply(&event);
        self.show_move(hall, from, self.machine.state());
        self.perform_all(hall, &event);
    }

    /// The answer to a call.
    pub(super) fn answered(&mut self, hall: &mut Hall<'_, '_>, purpose: Purpose, letter: &Letter) {
        match purpose {
            Purpose::Invite(seat) | Purpose::Ask(seat, _) => {
                self.reply(hall, purpose, seat, letter);
            }
            Purpose::Tell(_) => {}
            Purpose::Report => self.reported(hall, &letter.body),
            Purpose::Progress => {
                let order = &self.order;
                if let Body::Held { match_id, attempt, held: false } = letter.body
                    && (match_id, attempt) == (order.match_id, order.attempt)
                {
                    self.given_away = !self.is_over();
                }
            }
        }
    }

    /// What the manager said to a report.
    fn reported(&mut self, hall: &mut Hall<'_, '_>, answer: &Body) {
        if let Body::Recorded { match_id } = answer
            && *match_id == self.order.match_id
        {
            self.reporting = Reporting::Over;
            self.drive(hall, Command::Acknowledge);
            self.lie_afterwards(hall);
            return;
        }
        // A liar may get the answer that belongs to another match.
        let is_final = matches!(
            answer,
            Body::Recorded { .. } | Body::Denied(Denial::Final | Denial::Unproved)
        );
        if is_final { self.refused(hall) } else { self.report_again(hall) }
    }

    /// What a player said in the response.
    fn reply(&mut self, hall: &mut Hall<'_, '_>, purpose: Purpose, seat: Seat, letter: &Letter) {
        let unproved = letter.token.as_ref().is_some_and(|shown| !self.is_proof(seat, shown));
        if unproved && !hall.stage.is_sabotaged(Sabotage::BelieveAnybody) {
            self.tell(hall, seat, Body::Trouble { match_id: self.order.match_id, shows: None });
            return;
        }
        match (&letter.body, purpose) {
            (Body::Join { .. }, Purpose::Invite(_)) | (Body::Choice { .. }, Purpose::Ask(..)) => {
                let command = command(seat, self.order.match_id, &letter.body);
                self.hear(hall, command);
            }
            // The answer may still come as a call of its own.
            (Body::Noted, _) => {}
            _ => self.failed(hall, purpose, seat, true),
        }
    }

    /// A call got no answer in time (`None`), or failed after or before it was delivered.
    pub(super) fn unanswered(
        &mut self,
        hall: &mut Hall<'_, '_>,
        purpose: Purpose,
        failed: Option<bool>,
    ) {
        match purpose {
            Purpose::Invite(seat) | Purpose::Ask(seat, _) => {
                // The machine's own deadline says when silence counts.
                if let Some(delivered) = failed {
                    self.failed(hall, purpose, seat, delivered);
                }
            }
            Purpose::Report => self.report_again(hall),
            Purpose::Tell(_) | Purpose::Progress => {}
        }
    }

    fn failed(&mut self, hall: &mut Hall<'_, '_>, purpose: Purpose, seat: Seat, delivered: bool) {
        let is_waiting = match (purpose, self.machine.phase()) {
            (Purpose::Invite(_), Phase::Inviting(_)) => true,
            (Purpose::Ask(_, window), Phase::Collecting { seats, .. }) => {
                matches!(seats[seat], Asking::Open { attempt, .. } if attempt == window)
            }
            _ => false,
        };
        if is_waiting {
            self.hear(hall, Command::CallFailed { seat, delivered });
        }
    }

    /// Drives the machine, follows its events on a copy, and does what they call for.
    fn drive(&mut self, hall: &mut Hall<'_, '_>, command: Command) {
        let mut copy = self.machine.clone();
        // A command that no longer fits came too late; the match goes on without it.
        let Ok(events) = self.machine.drive(hall.stage.now, command) else { return };
        for event in &events {
            let from = copy.state();
            copy.apply(event);
            self.show_move(hall, from, copy.state());
        }
        if copy.phase() != self.machine.phase() || copy.record() != self.machine.record() {
            hall.stage.seen.push(Seen::Diverged("a match"));
        }
        for event in &events {
            self.perform_all(hall, event);
        }
    }

    fn show_move(&self, hall: &mut Hall<'_, '_>, from: State, to: State) {
        if from != to {
            let match_id = self.order.match_id;
            hall.stage.seen.push(Seen::Moved { match_id, from, to });
        }
    }

    fn perform_all(&mut self, hall: &mut Hall<'_, '_>, event: &Event) {
        conduct::note(&mut self.conduct, event);
        for effect in self.machine.effects(event) {
            self.perform(hall, effect);
        }
    }

    fn perform(&mut self, hall: &mut Hall<'_, '_>, effect: Effect) {
        let match_id = self.order.match_id;
        match effect {
            Effect::Invite { seat, deadline } => self.invite(hall, seat, deadline),
            Effect::Ask { seat, attempt, deadline } => {
                let until = self.last_deadline(attempt, deadline);
                let body = Body::Ask { match_id, attempt: self.order.attempt, window: attempt };
                self.call_player(hall, Purpose::Ask(seat, attempt), seat, body, until);
            }
            Effect::Warn { seat, .. } => {
                let leaks = hall.stage.is_sabotaged(Sabotage::LeakChoice);
                let shows = if leaks { self.given(seat.other()) } else { None };
                self.tell(hall, seat, Body::Trouble { match_id, shows });
            }
            Effect::Draw { faces } => self.draw(hall, faces),
            Effect::Report => {
                self.report(hall);
                if hall.stage.is_sabotaged(Sabotage::TellEarly) {
                    self.perform(hall, Effect::TellResult);
                }
            }
            Effect::ReportAnnulment => {
                let reason = "this referee stood still".into();
                self.show_progress(hall, Some(reason));
            }
            Effect::TellResult => {
                for seat in Seat::BOTH {
                    let body = self.over();
                    self.tell(hall, seat, body);
                }
            }
        }
    }

    /// An invitation waits once while the address's breaker is open, and then is its trial,
    /// repetitions included.
    fn invite(&mut self, hall: &mut Hall<'_, '_>, seat: Seat, deadline: Timestamp) {
        let node = self.player(seat).node;
        let now = hall.stage.now;
        let policy = &self.order.policy;
        let breaker =
            hall.desk.breakers.entry(node).or_insert_with(|| Breaker::from_policy(policy));
        if let Permission::Refused { until } = breaker.allow(now)
            && !self.on_trial[seat]
        {
            self.on_trial[seat] = true;
            let command = if hall.stage.is_sabotaged(Sabotage::ForfeitByBreaker) {
                Command::Join { seat, answer: Join::Refuse { reason: None } }
            } else {
                Command::Postpone { seat, until }
            };
            self.drive(hall, command);
            return;
        }
        breaker.apply(Outcome::Begun, now);
        let body = Body::Invite { match_id: self.order.match_id, attempt: self.order.attempt };
        self.call_player(hall, Purpose::Invite(seat), seat, body, deadline);
    }

    /// Connections of earlier windows stay open until the last one's deadline.
    fn last_deadline(&self, window: u32, deadline: Timestamp) -> Timestamp {
        let policy = &self.order.policy;
        let wait = |n: u32| policy.choice_backoff().after(n) + policy.choice_timeout();
        deadline + (window..policy.choice_attempts()).map(wait).sum::<Duration>()
    }

    fn given(&self, seat: Seat) -> Option<Arc<str>> {
        let Phase::Collecting { seats, .. } = self.machine.phase() else { return None };
        let Asking::Given(sealed) = &seats[seat] else { return None };
        Some(sealed.chosen.to_string().into())
    }

    fn draw(&mut self, hall: &mut Hall<'_, '_>, faces: u32) {
        let seed: Option<Seed> = self.order.seed.as_ref().and_then(|seed| seed.parse().ok());
        let number = match seed {
            None => u32::try_from(hall.stage.fate.below(faces.into())).expect("a face") + 1,
            Some(seed) => {
                let draw = Draw::new(&self.league, self.order.match_id, self.order.rematch);
                let play = self.play();
                let nonces = Seats::from_fn(|seat| play.nonces[seat].as_deref().unwrap_or(""));
                draw.number(&seed, nonces).into()
            }
        };
        self.drive(hall, Command::Draw(number));
    }

    /// Sends the report; it is sent again until the manager has it, or will never have it.
    pub(super) fn report(&mut self, hall: &mut Hall<'_, '_>) {
        let Some(claim) = self.claim() else { return };
        self.send_claim(hall, claim);
        self.reporting = Reporting::Calling;
    }

    pub(super) fn send_claim(&self, hall: &mut Hall<'_, '_>, claim: crate::message::Claim) {
        let until = hall.stage.now + self.order.policy.report_timeout();
        self.call_manager(hall, Purpose::Report, Body::Report(Box::new(claim)), until);
    }

    fn report_again(&mut self, hall: &Hall<'_, '_>) {
        if !matches!(self.reporting, Reporting::Calling)
            || hall.stage.is_sabotaged(Sabotage::ForgetRetry)
        {
            return;
        }
        self.failures += 1;
        let wait = RetryPlan::report(&self.order.policy).next(self.failures);
        self.reporting = match wait {
            Some(wait) => Reporting::Pausing { until: hall.stage.now + wait },
            None => Reporting::Over,
        };
    }

    /// The manager will never take this report. A liar may try again with the truth.
    fn refused(&mut self, hall: &mut Hall<'_, '_>) {
        if !matches!(self.reporting, Reporting::Calling) {
            return;
        }
        self.reporting = Reporting::Over;
        if self.repents() {
            self.report(hall);
        }
    }

    fn show_progress(&self, hall: &mut Hall<'_, '_>, annulled: Option<Arc<str>>) {
        let (match_id, attempt) = (self.order.match_id, self.order.attempt);
        let until = hall.stage.now + self.order.policy.default_timeout();
        let body = Body::Progress { match_id, attempt, annulled };
        self.call_manager(hall, Purpose::Progress, body, until);
    }

    fn tell(&self, hall: &mut Hall<'_, '_>, seat: Seat, body: Body) {
        let until = hall.stage.now + self.order.policy.game_over_timeout();
        self.call_player(hall, Purpose::Tell(seat), seat, body, until);
    }

    /// A player gets the manager's proof that we have its match, never our own token.
    fn call_player(
        &self,
        hall: &mut Hall<'_, '_>,
        purpose: Purpose,
        seat: Seat,
        body: Body,
        until: Timestamp,
    ) {
        let player = self.player(seat);
        let letter = self.letter(hall, player.match_proof.clone(), body);
        let match_id = self.order.match_id;
        hall.call(player.node, letter, Call { match_id, purpose, until });
    }

    fn call_manager(
        &self,
        hall: &mut Hall<'_, '_>,
        purpose: Purpose,
        body: Body,
        until: Timestamp,
    ) {
        let letter = self.letter(hall, hall.token.expose().into(), body);
        let match_id = self.order.match_id;
        hall.call(Node::Manager, letter, Call { match_id, purpose, until });
    }

    fn letter(&self, hall: &Hall<'_, '_>, token: Arc<str>, body: Body) -> Letter {
        let conversation = Some(self.conversation.clone());
        Letter { sender: Some(hall.agent), token: Some(token), conversation, body }
    }
}
