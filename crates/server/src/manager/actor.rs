//! The single writer of a league: decide, apply, append, publish, release.

use std::collections::BTreeSet;
use std::sync::Arc;

use league_agent::ambient::{self, OsDice};
use league_core::manager::dispatch::Dispatcher;
use league_core::manager::{Alert, Command, Effect, Event, Refusal, Reply};
use league_core::time::{Deadline, Timestamp};
use tokio::sync::{mpsc, oneshot, watch};

use super::stall::Stall;
use super::{Ask, Books, Outbound, Published, Stub, chronicle};
use crate::journal::JournalError;
use crate::limits::{
    ACTOR_BATCH_BYTES, ACTOR_BATCH_MAX, ACTOR_BATCH_ROWS, HANDOUTS_MAX, WAKE_INTERVAL_MIN,
};

/// The single writer of one league.
pub struct Actor {
    books: Books,
    dispatcher: Dispatcher,
    asks: mpsc::Receiver<Ask>,
    stub: Stub,
    outbound: Arc<Outbound>,
    held: Vec<Held>,
    woken_at: Timestamp,
    stall: Stall,
}

/// An answer that waits for the append.
type Held = (oneshot::Sender<Result<Reply, Refusal>>, Result<Reply, Refusal>);

impl std::fmt::Debug for Actor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Actor").field("books", &self.books).finish()
    }
}

impl Actor {
    /// The writer of `books`, and how to reach it.
    pub fn new(books: Books, outbound: impl FnOnce(Stub) -> Arc<Outbound>) -> (Stub, Self) {
        let (stub, asks) = Stub::new(&books);
        let dispatcher = Dispatcher::for_league(books.league());
        let outbound = outbound(stub.clone());
        let held = Vec::with_capacity(ACTOR_BATCH_MAX);
        let (woken_at, stall) = (Timestamp::default(), Stall::default());
        (stub.clone(), Self { books, dispatcher, asks, stub, outbound, held, woken_at, stall })
    }

    /// Runs until `stop` says so or the books cannot be written.
    ///
    /// # Errors
    /// If the journal failed: the league must be opened again from it.
    pub async fn run(mut self, stop: watch::Receiver<bool>) -> Result<(), JournalError> {
        let outcome = self.work(stop).await;
        let _told =
            outcome.as_ref().inspect_err(|e| chronicle::broken(self.books.league().id(), e));
        // Whoever asks from now on is told at once that nobody writes.
        self.asks.close();
        self.outbound.leave().await;
        outcome
    }

    async fn work(&mut self, mut stop: watch::Receiver<bool>) -> Result<(), JournalError> {
        self.outbound.resume(self.books.league());
        self.enter_silently(Command::Wake);
        self.settle().await?;
        loop {
            let now = ambient::now();
            let deadline = self.next_deadline(now).map(|deadline| deadline.at);
            // What is due comes first: however many ask, a lease must be able to end.
            if deadline.is_some_and(|at| at <= now) && self.woken_at < now {
                self.wake(now);
            } else {
                let wake = deadline.map(|at| at.since(now).max(WAKE_INTERVAL_MIN));
                tokio::select! {
                    biased;
                    _ = stop.wait_for(|stopped| *stopped) => return Ok(()),
                    ask = self.asks.recv() => match ask {
                        Some(ask) => self.take(ask),
                        None => return Ok(()),
                    },
                    () = sleep(wake) => {}
                }
                self.go_on_after(wake.map_or_else(ambient::now, |span| now + span));
            }
            let began = ambient::now();
            self.settle().await?;
            self.go_on_after(began);
        }
    }

    /// Takes what else is waiting, makes all of it durable, and only then tells anybody.
    async fn settle(&mut self) -> Result<(), JournalError> {
        for _ in 0..ACTOR_BATCH_MAX {
            let Ok(ask) = self.asks.try_recv() else { break };
            self.take(ask);
            let (rows, bytes) = (self.books.pending_rows(), self.books.pending_bytes());
            if rows > ACTOR_BATCH_ROWS || bytes > ACTOR_BATCH_BYTES {
                break;
            }
        }
        let events = self.books.commit().await?;
        // First the figures: whoever sees that a league is over counts what was played.
        chronicle::tell(self.books.league().id(), &events);
        self.publish(&events);
        for (answer, reply) in self.held.drain(..) {
            // Whoever asked may have left; what was decided stands all the same.
            drop(answer.send(reply));
        }
        self.release(&events);
        Ok(())
    }

    fn take(&mut self, ask: Ask) {
        let now = ambient::now();
        match ask {
            Ask::Command { command, attachment, answer } => {
                let reply = self.books.enter(now, command, attachment, &mut OsDice);
                self.held.push((answer, reply));
            }
            Ask::PutBack { handout } => {
                self.dispatcher.put_back(handout, self.books.league().policy(), now);
            }
            Ask::Taken { handouts } => {
                handouts.into_iter().for_each(|handout| self.dispatcher.taken(handout));
            }
            Ask::Renew { handout, answer } => {
                let until = now + self.books.league().lease(handout.referee);
                // Whoever asked may have left; the lease is renewed all the same.
                let _gone = answer.send(self.dispatcher.renew(handout, until));
            }
            Ask::Held { referee, answer } => {
                let _gone = answer.send(self.dispatcher.held_by(referee));
            }
        }
    }

    /// What was meant to go on at `planned` goes on now.
    fn go_on_after(&mut self, planned: Timestamp) {
        let sign = self.books.league().policy().lease_renewal();
        self.stall.went_on(planned, ambient::now(), sign);
    }

    fn wake(&mut self, now: Timestamp) {
        let before = std::mem::replace(&mut self.woken_at, now);
        for agent in self.books.league().probes_due(before, now) {
            self.outbound.probe(agent);
        }
        let league = self.books.league();
        if league.is_start_overdue(now) && !league.is_start_overdue(before) {
            self.outbound.perform(Effect::Alert(Alert::StartOverdue));
        }
        if let Some(until) = self.stall.excuse(now) {
            self.dispatcher.excuse(now, until);
        }
        for (handout, cause) in self.dispatcher.expired(now).into_iter().take(ACTOR_BATCH_MAX) {
            let (match_id, attempt) = (handout.match_id, handout.attempt);
            let command = Command::VoidAttempt { match_id, attempt, cause: cause.clone() };
            let voided = self.books.enter(ambient::now(), command, None, &mut OsDice);
            if voided == Err(Refusal::NobodyElse(match_id)) {
                self.dispatcher.put_back(handout, self.books.league().policy(), now);
                self.stub.untaken().note(ambient::wall(), handout, &cause);
            }
        }
        self.enter_silently(Command::Wake);
    }

    /// A command of our own, whose answer nobody waits for.
    fn enter_silently(&mut self, command: Command) {
        drop(self.books.enter(ambient::now(), command, None, &mut OsDice));
    }

    fn publish(&self, events: &[Event]) {
        if events.is_empty() {
            return;
        }
        let mut published = self.stub.published.write().expect("whoever reads does not panic");
        let Published { league, head } = &mut *published;
        for event in events {
            league.apply(event);
        }
        *head = self.books.head();
    }

    fn release(&mut self, events: &[Event]) {
        let league = self.books.league();
        for event in events {
            self.dispatcher.apply(league, event);
        }
        let mut done = BTreeSet::new();
        for effect in events.iter().flat_map(|event| league.effects(event)) {
            // Effects show the league as it stands now: twice the same says nothing more.
            if done.insert(effect) {
                self.outbound.perform(effect);
            }
        }
        loop {
            let handouts = self.dispatcher.hand_out(league, ambient::now(), HANDOUTS_MAX);
            if handouts.is_empty() {
                break;
            }
            self.outbound.hand_out(&handouts);
        }
    }

    fn next_deadline(&self, now: Timestamp) -> Option<Deadline> {
        let league = self.books.league().next_deadline(self.woken_at);
        Deadline::earlier(league, self.dispatcher.next_deadline(now))
    }
}

/// Sleeps for `span`, or for ever.
async fn sleep(span: Option<std::time::Duration>) {
    match span {
        Some(span) => tokio::time::sleep(span).await,
        None => std::future::pending().await,
    }
}
