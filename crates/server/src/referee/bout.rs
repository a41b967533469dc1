//! One attempt at a match: the machine, its clock, and the calls it has out.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use league_agent::ambient::{self, OsDice};
use league_agent::caller::CallError;
use league_agent::component::Component;
use league_agent::exchange::new_conversation;
use league_agent::guard::lock;
use league_agent::meter::Meter;
use league_core::breaker::Permission;
use league_core::dice::Dice;
use league_core::draw::{Draw, Seed};
use league_core::id::{ConversationId, MatchId};
use league_core::referee::{
    Answer, Asking, Command, Effect, Event, Failure, Loss, Match, Phase, Trouble, conduct,
};
use league_core::retry::RetryPlan;
use league_core::seat::{Seat, Seats};
use league_core::time::Timestamp;
use league_wire::{Decision, Message, MessageType};
use tokio::sync::mpsc;

use super::account;
use super::breakers::{Line, call_error};
use super::excuse::{Excuses, Pulse};
use super::heard::{self, Heard, Remark, Said};
use super::outbound::{self, Account, Letters};
use super::trouble::Words;
use super::{Referee, Rules};
use crate::limits::OPENING_SHARE;

/// What a call leads to: something to act on, or nothing.
type Call = BoxFuture<'static, Option<Heard>>;

/// One attempt at a match.
pub(super) struct Bout {
    referee: Arc<Referee>,
    letters: Arc<Letters>,
    machine: Match,
    draw: Draw,
    /// What a player said instead of an answer, to be told so with the next warning.
    remarks: Seats<Option<Remark>>,
    /// What there is to say about the match beside the game.
    account: Account,
    /// What we did wrong while a player had to act.
    excuses: Excuses,
    /// Whose invitation waited for the breaker of its address, and then was its trial.
    on_trial: Seats<bool>,
    given_away: bool,
    /// Calls to players that wait for an answer. They may outlive the match.
    asks: FuturesUnordered<Call>,
    /// Letters that must be delivered before the match is left.
    errands: FuturesUnordered<Call>,
}

impl Bout {
    pub(super) fn new(referee: Arc<Referee>, letters: Arc<Letters>, (game, policy): Rules) -> Self {
        let order = &letters.order;
        let machine = Match::new(order.match_id, &*game, policy);
        let draw = Draw::new(&letters.me.league, order.match_id, order.rematch);
        let (asks, errands) = (FuturesUnordered::new(), FuturesUnordered::new());
        Self {
            referee,
            letters,
            machine,
            draw,
            remarks: Seats::default(),
            account: Account::default(),
            excuses: Excuses::default(),
            on_trial: Seats::default(),
            given_away: false,
            asks,
            errands,
        }
    }

    /// Plays the match to its end, reports it, tells the players, and leaves.
    pub(super) async fn run(mut self, mut inbox: mpsc::Receiver<Command>) {
        let _running = Meter::of(Component::Referee).running.enter();
        let _left = Leaving { referee: self.referee.clone(), letters: self.letters.clone() };
        let mut leaving = self.referee.leaving.subscribe();
        self.drive(Command::Begin);
        let renewal = self.machine.policy().lease_renewal();
        let mut renew_at = ambient::now() + renewal;
        let pulse = Pulse::new(self.machine.policy().own_delay_max());
        while !(self.given_away || self.is_over() && self.errands.is_empty()) {
            let now = ambient::now();
            let deadline = self.machine.next_deadline().map(|deadline| deadline.at);
            let wake_at = deadline.unwrap_or(renew_at).min(renew_at).min(pulse.next(now));
            let heard = tokio::select! {
                biased;
                // Only what is decided is worth staying for.
                _ = leaving.wait_for(|leaving| *leaving), if !self.is_over() => break,
                Some(heard) = self.asks.next() => heard,
                Some(heard) = self.errands.next() => heard,
                Some(command) = inbox.recv() => Some(Heard::Command(command)),
                () = tokio::time::sleep(wake_at.since(now)) => Some(Heard::Command(Command::Wake)),
            };
            if let Some(reason) = pulse.missed(wake_at, ambient::now()) {
                lock(&self.letters.recorder).happened("held_up", None, reason.to_string());
                self.excuses.excuse_all(&self.machine, &reason);
            }
            if let Some(heard) = heard {
                self.hear(heard);
            }
            if renew_at <= ambient::now() {
                renew_at = ambient::now() + renewal;
                self.show_progress();
            }
        }
        if matches!(self.machine.phase(), Phase::Decided { acknowledged: true, .. }) {
            let order = &self.letters.order;
            self.referee.finish(order.match_id, order.attempt);
            let epilogue = self.letters.epilogue(&self.machine);
            self.letters.mention_to_manager(&self.referee, epilogue);
        }
    }

    /// Decided or annulled: nothing a player says can change it any more.
    const fn is_over(&self) -> bool {
        matches!(self.machine.phase(), Phase::Decided { .. } | Phase::Annulled { .. })
    }

    fn hear(&mut self, heard: Heard) {
        match heard {
            Heard::Command(command) => self.drive(command),
            Heard::Faulty { seat, fault, error } => {
                let got = error.got.trim_matches('"').into();
                self.remarks[seat] = Some(Remark::Unreadable(error));
                self.drive(Command::Answer { seat, answer: Answer::Faulty { fault, got } });
                self.remarks[seat] = None;
            }
            Heard::Failed { seat, window, delivered, remark } => {
                // A connection of an earlier call that breaks is old news.
                if self.is_waiting(seat, window) {
                    self.remarks[seat] = remark.or_else(|| self.remarks[seat].take());
                    self.drive(Command::CallFailed { seat, delivered });
                }
            }
            Heard::Ours { seat, window, reason } => {
                if self.is_waiting(seat, window) {
                    self.excuses.excuse(seat, reason);
                    self.drive(Command::CallFailed { seat, delivered: false });
                }
            }
            Heard::Receipt { seat, remark } => self.remarks[seat] = Some(remark),
            Heard::Unproved { seat } => {
                let player = Some(self.letters.player(seat).to_string());
                let text = "an answer with a token that is not the player's, which does not count";
                lock(&self.letters.recorder).happened("unproved", player, text.into());
                account::unproved(&self.letters, seat);
                self.remarks[seat] = Some(Remark::Unproved);
                self.warn_unproved(seat);
            }
            // A result that is decided may have been recorded meanwhile; its report will tell.
            Heard::GivenAway => self.given_away = !self.is_over(),
        }
    }

    /// Whether the match still waits for what was asked for in `window`.
    fn is_waiting(&self, seat: Seat, window: Option<u32>) -> bool {
        let Some(window) = window else {
            return matches!(self.machine.phase(), Phase::Inviting(_));
        };
        let Phase::Collecting { seats, .. } = self.machine.phase() else { return false };
        matches!(seats[seat], Asking::Open { attempt, .. } if attempt == window)
    }

    fn drive(&mut self, command: Command) {
        let now = ambient::now();
        let command = self.excuses.instead_of(&self.machine, now, command);
        // A command that no longer fits came too late; the match goes on without it.
        let Ok(events) = self.machine.drive(now, command) else { return };
        *lock(&self.letters.state) = outbound::state(self.machine.state());
        for event in &events {
            self.record(now, event);
            self.count_silence(event);
            if !self.excuses.forgives(event) {
                conduct::note(&mut self.account.conduct, event);
            }
            self.note_trouble(event);
            self.excuses.hear(event);
            for effect in self.machine.effects(event) {
                self.perform(effect);
            }
        }
    }

    /// Keeps why a player lost in words, while what came instead of an answer is at hand.
    fn note_trouble(&mut self, event: &Event) {
        let Some(seat) = troubled(event) else { return };
        let remark = self.remarks[seat].as_ref();
        let is_charged_as_move = matches!(
            event,
            Event::AnswerRefused { .. } | Event::SeatLost { loss: Loss::InvalidMove { .. }, .. }
        );
        if !is_charged_as_move && remark.is_some_and(Remark::is_unusable) {
            self.account.unusable[seat] += 1;
        }
        if let Event::SeatLost { seat, loss } = event {
            let words = Words { machine: &self.machine, remark, is_discreet: false };
            self.account.losses[*seat] = Some(words.loss(*seat, loss).1);
        }
    }

    fn record(&self, now: Timestamp, event: &Event) {
        let machine = &self.machine;
        let remark = troubled(event).and_then(|seat| self.remarks[seat].as_ref());
        account::log(&self.letters, (machine, remark), event, now);
        let words = Words { machine, remark, is_discreet: false };
        let (name, seat, text) = account::told(&words, event, now);
        let mut recorder = lock(&self.letters.recorder);
        // A player may send as many of these as it likes.
        if !(matches!(event, Event::AnswerIgnored { .. }) && recorder.is_full()) {
            recorder.happened(name, seat.map(|seat| self.letters.player(seat).to_string()), text);
        }
    }

    /// Silence counts for the breaker of whoever is silent.
    fn count_silence(&self, event: &Event) {
        let silent = match event {
            Event::AttemptFailed { seat, failure: Failure::Silence, .. } => Some(*seat),
            Event::SeatLost { seat, loss } => match loss {
                Loss::NotJoined(Failure::Silence) | Loss::NoMove(Failure::Silence) => Some(*seat),
                Loss::NotJoined(Failure::Unreachable)
                | Loss::NoMove(Failure::Unreachable)
                | Loss::Declined { .. }
                | Loss::InvalidMove { .. } => None,
            },
            Event::AttemptFailed { failure: Failure::Unreachable, .. }
            | Event::Began
            | Event::Invited { .. }
            | Event::InvitationPostponed { .. }
            | Event::InvitationUnreachable { .. }
            | Event::Joined { .. }
            | Event::Asked { .. }
            | Event::AnswerRefused { .. }
            | Event::MoveMade { .. }
            | Event::AnswerIgnored { .. }
            | Event::StepTaken
            | Event::NumberDrawn { .. }
            | Event::Decided { .. }
            | Event::Annulled { .. }
            | Event::Acknowledged => None,
        };
        if let Some(seat) = silent {
            self.line(seat).silent();
        }
    }

    fn line(&self, seat: Seat) -> Line {
        Line::new(&self.referee, &self.letters, seat, self.machine.policy())
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Invite { seat, deadline } => self.invite(seat, deadline),
            Effect::Ask { seat, attempt, deadline } => self.ask(seat, attempt, deadline),
            Effect::Warn { seat, trouble } => self.warn(seat, &trouble),
            Effect::Draw { faces } => self.draw_number(faces),
            Effect::Report => self.report(),
            Effect::ReportAnnulment => self.show_progress(),
            Effect::TellResult => Seat::BOTH.into_iter().for_each(|seat| self.tell_result(seat)),
        }
    }

    /// An invitation waits while the breaker is open, and then is its trial, repetitions included:
    /// an open breaker never makes anybody lose.
    fn invite(&mut self, seat: Seat, deadline: Timestamp) {
        let line = self.line(seat);
        match line.begin() {
            Permission::Refused { until } if !self.on_trial[seat] => {
                self.on_trial[seat] = true;
                self.drive(Command::Postpone { seat, until });
                return;
            }
            Permission::Granted | Permission::Trial | Permission::Refused { .. } => {}
        }
        self.remarks[seat] = None;
        let was_trial = self.on_trial[seat];
        let budget = deadline.since(ambient::now());
        let message = self.letters.invitation(seat, budget);
        let kind = message.kind();
        let (referee, letters) = (self.referee.clone(), self.letters.clone());
        self.asks.push(Box::pin(async move {
            let expected = [MessageType::GameJoinAck];
            let asked = letters.ask_player(&referee, seat, message, &expected, budget).await;
            line.settled(call_error(&asked.reply), was_trial);
            if asked.is_unfinished {
                let until = ambient::now();
                return Some(Heard::Command(Command::Postpone { seat, until }));
            }
            let reply = match asked.reply {
                Ok(reply) if letters.is_proved(seat, &reply.envelope) => reply,
                Ok(_) => return Some(Heard::Unproved { seat }),
                Err(error) => {
                    let called = (kind, letters.dialect(seat));
                    return heard::unanswered(seat, None, called, error);
                }
            };
            if let Some(error) = letters.contradiction(seat, letters.dialect(seat), &reply) {
                return Some(Heard::Receipt { seat, remark: Remark::Unreadable(error) });
            }
            let Message::GameJoinAck(ack) = reply.message else { return None };
            Some(Heard::Command(Command::Join { seat, answer: heard::join(&ack) }))
        }));
    }

    fn ask(&mut self, seat: Seat, attempt: u32, deadline: Timestamp) {
        self.remarks[seat] = None;
        let budget = deadline.since(ambient::now());
        let last = self.last_deadline(attempt, deadline).since(ambient::now());
        let message = self.letters.move_call(&self.machine, seat, deadline, budget);
        let is_first = attempt == 1 && self.machine.record().turns.is_empty();
        let opening = if is_first { self.letters.opening(seat) } else { None };
        let opening_time = self.machine.policy().choice_timeout() / OPENING_SHARE;
        let line = self.line(seat);
        let (referee, letters) = (self.referee.clone(), self.letters.clone());
        self.asks.push(Box::pin(async move {
            if let Some(opening) = opening {
                // It must come first; whoever does not hear it may still hear the question.
                drop(letters.tell_player(&referee, seat, opening, opening_time).await);
            }
            let kind = message.kind();
            let expected = kind.answers();
            let reply = letters.ask_player(&referee, seat, message, expected, last).await.reply;
            line.settled(call_error(&reply), false);
            let reply = match reply {
                Ok(reply) if letters.is_proved(seat, &reply.envelope) => reply,
                Ok(_) => return Some(Heard::Unproved { seat }),
                Err(error) => {
                    let called = (kind, letters.dialect(seat));
                    return heard::unanswered(seat, Some(attempt), called, error);
                }
            };
            let said = Said::of(&reply.message)?;
            let contradiction = letters.contradiction(seat, letters.dialect(seat), &reply);
            Some(heard::choice(seat, &said, contradiction))
        }));
    }

    /// Connections of earlier attempts stay open until the last one's deadline.
    fn last_deadline(&self, attempt: u32, deadline: Timestamp) -> Timestamp {
        let policy = self.machine.policy();
        let later = attempt..policy.choice_attempts();
        let wait = |n: u32| policy.choice_backoff().after(n) + policy.choice_timeout();
        deadline + later.map(wait).sum::<Duration>()
    }

    fn warn(&mut self, seat: Seat, trouble: &Trouble) {
        // Whoever refused knows it, and GAME_OVER tells what follows.
        let has_declined = matches!(trouble, Trouble::Lost(Loss::Declined { .. }));
        if has_declined || self.excuses.covers(seat, trouble) {
            return;
        }
        let remark = self.remarks[seat].take();
        let message = self.letters.game_error(&self.machine, seat, trouble, remark.as_ref());
        let timeout = self.machine.policy().default_timeout();
        self.tell(seat, message, timeout);
    }

    fn warn_unproved(&mut self, seat: Seat) {
        let Some(message) = self.letters.unproved(&self.machine, seat) else { return };
        let timeout = self.machine.policy().default_timeout();
        self.tell(seat, message, timeout);
    }

    fn tell_result(&mut self, seat: Seat) {
        let message = self.letters.game_over(&self.machine, &self.account);
        let timeout = self.machine.policy().game_over_timeout();
        self.tell(seat, message, timeout);
    }

    fn tell(&mut self, seat: Seat, message: Message, timeout: Duration) {
        let line = self.line(seat);
        if line.is_open() {
            line.unheard(message.kind().name(self.letters.dialect(seat)));
            return;
        }
        let (referee, letters) = (self.referee.clone(), self.letters.clone());
        self.errands.push(Box::pin(async move {
            // Whether it is acknowledged changes nothing.
            let told = letters.tell_player(&referee, seat, message, timeout).await;
            match told {
                Err(CallError::TimedOut(_)) => line.silent(),
                told => line.settled(told.as_ref().err(), false),
            }
            None
        }));
    }

    fn draw_number(&mut self, faces: u32) {
        let seed = self.letters.order.draw_seed.as_ref();
        let seed: Option<Seed> = seed.and_then(|seed| seed.reveal().parse().ok());
        let Some(seed) = seed else {
            // Without the manager's seed the number is fair, but nobody can check it.
            let number = OsDice.below(faces.into()) + 1;
            self.drive(Command::Draw(u32::try_from(number).unwrap_or(faces)));
            return;
        };
        let seals = self.machine.record().seals.last();
        let nonce = |seat: Seat| {
            let sealed = seals.and_then(|seals| seals[seat].as_ref());
            sealed.and_then(|sealed| sealed.nonce.as_deref()).unwrap_or("")
        };
        let number = self.draw.number(&seed, Seats::from_fn(nonce));
        self.drive(Command::Draw(number.into()));
    }

    /// Reports until the manager has it in its books, or says that it will never have it.
    fn report(&mut self) {
        let message = self.letters.report(&self.machine, &self.account);
        let policy = self.machine.policy().clone();
        let (referee, letters) = (self.referee.clone(), self.letters.clone());
        self.errands.push(Box::pin(async move {
            let plan = RetryPlan::report(&policy);
            let mut failures = 0;
            loop {
                let timeout = policy.report_timeout();
                let asked = letters.report_to_manager(&referee, message.clone(), timeout).await;
                match asked {
                    Ok(_) => return Some(Heard::Command(Command::Acknowledge)),
                    Err(error) if heard::is_final(&error) => return None,
                    Err(error) => {
                        failures += 1;
                        account::retried(&letters, &error);
                    }
                }
                match plan.next(failures) {
                    Some(wait) => tokio::time::sleep(wait).await,
                    None => return None,
                }
            }
        }));
    }

    fn show_progress(&mut self) {
        let message = self.letters.progress(&self.machine);
        let timeout = self.machine.policy().default_timeout();
        let (referee, letters) = (self.referee.clone(), self.letters.clone());
        self.errands.push(Box::pin(async move {
            let expected = [MessageType::MatchProgressAck];
            let reply = letters.ask_manager(&referee, message, &expected, timeout).await.ok()?;
            let Message::MatchProgressAck(ack) = reply.message else { return None };
            let order = &letters.order;
            let is_ours = (ack.match_id, ack.attempt) == (order.match_id, order.attempt);
            (is_ours && ack.status == Decision::Rejected).then_some(Heard::GivenAway)
        }));
    }
}

/// Whose call or answer went wrong in `event`, if one did.
const fn troubled(event: &Event) -> Option<Seat> {
    match event {
        Event::InvitationUnreachable { seat, .. }
        | Event::AttemptFailed { seat, .. }
        | Event::AnswerRefused { seat, .. }
        | Event::SeatLost { seat, .. } => Some(*seat),
        Event::Began
        | Event::Invited { .. }
        | Event::InvitationPostponed { .. }
        | Event::Joined { .. }
        | Event::Asked { .. }
        | Event::MoveMade { .. }
        | Event::AnswerIgnored { .. }
        | Event::StepTaken
        | Event::NumberDrawn { .. }
        | Event::Decided { .. }
        | Event::Annulled { .. }
        | Event::Acknowledged => None,
    }
}

/// Takes a match off its referee's list, however it was left.
struct Leaving {
    referee: Arc<Referee>,
    letters: Arc<Letters>,
}

impl Drop for Leaving {
    fn drop(&mut self) {
        let match_id = self.letters.order.match_id;
        let mut running = lock(&self.referee.running);
        let ours = |known: &super::Running| Arc::ptr_eq(&known.letters, &self.letters);
        if running.get(&match_id).is_some_and(ours) {
            running.remove(&match_id);
        }
    }
}

/// The conversation of one attempt at a match.
pub(super) fn conversation(match_id: MatchId) -> ConversationId {
    new_conversation(&format!("convr{}m{}", match_id.round, match_id.number()))
}
