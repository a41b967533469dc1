//! The single writer of the league. Nothing it decides is told before the append is done.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use league_core::id::{AgentId, MatchId};
use league_core::manager::dispatch::{Dispatcher, Handout};
use league_core::manager::{Command, Event, Fact, League, Refusal, Reply, VoidCause};
use league_core::time::{Deadline, Timestamp};

use super::mail::Undelivered;
use crate::disk::Disk;
use crate::message::{Node, Packet};
use crate::sabotage::Sabotage;
use crate::stage::{Seen, Stage};
use crate::weather::DiskWeather;

/// Questions that are answered with one append.
const BATCH_MAX: usize = 512;
/// Matches that are handed out in one go.
const HANDOUTS_MAX: usize = 100;
const MOMENT: Duration = Duration::from_millis(1);

/// A question to the writer.
#[derive(Debug)]
pub(super) enum Question {
    Command(Box<Command>),
    Renew(Handout),
}

/// An answer, ready to be given.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) to: Node,
    pub(super) call: u64,
    pub(super) reply: Answered,
}

/// What is answered.
#[derive(Debug)]
pub(super) enum Answered {
    League(Option<MatchId>, Result<Reply, Refusal>),
    Held(Handout, bool),
}

/// What may be told.
#[derive(Debug, Default)]
pub(super) struct Released {
    pub(super) answers: Vec<Answer>,
    pub(super) events: Vec<Event>,
    pub(super) handouts: Vec<Handout>,
    /// Suspended agents to be asked for a sign of life.
    pub(super) probes: Vec<AgentId>,
}

#[derive(Debug)]
struct Append {
    done_at: Timestamp,
    fails: bool,
}

/// The writer with the league before and after publication.
#[derive(Debug)]
pub(super) struct Writer {
    pub(super) published: League,
    league: League,
    dispatcher: Dispatcher,
    mailbox: VecDeque<(Node, u64, Question)>,
    /// What the manager has found out by itself.
    own: VecDeque<Command>,
    probes: Vec<AgentId>,
    /// Decided, applied, not yet durable.
    pending: Vec<Event>,
    held: Vec<Answer>,
    append: Option<Append>,
    woken_at: Timestamp,
    is_broken: bool,
    /// Results by match, only filled where they are to be entered twice.
    doubled: BTreeMap<MatchId, Event>,
    extra: Vec<Event>,
}

impl Writer {
    pub(super) fn new(league: League) -> Self {
        Self {
            published: league.clone(),
            dispatcher: Dispatcher::for_league(&league),
            league,
            mailbox: VecDeque::new(),
            own: VecDeque::new(),
            probes: vec![],
            pending: vec![],
            held: vec![],
            append: None,
            woken_at: Timestamp::default(),
            is_broken: false,
            doubled: BTreeMap::new(),
            extra: vec![],
        }
    }

    /// The first thing a writer does.
    pub(super) fn begin(&mut self, stage: &mut Stage<'_>) {
        self.enter_silently(stage, Command::Wake);
    }

    pub(super) fn post(&mut self, packet: &Packet, question: Question) {
        self.mailbox.push_back((packet.from, packet.call, question));
    }

    pub(super) fn post_own(&mut self, command: Command) {
        self.own.push_back(command);
    }

    /// These matches could not be given to their referees.
    pub(super) fn not_taken(&mut self, lost: impl IntoIterator<Item = Undelivered>) {
        for (match_id, attempt) in lost {
            let cause = VoidCause::NotTaken { reason: "the referee did not take the match".into() };
            self.post_own(Command::VoidAttempt { match_id, attempt, cause });
        }
    }

    /// A referee has said that it has a match.
    pub(super) fn taken(&mut self, (match_id, attempt): Undelivered) {
        let open = self.published.open_match(match_id).filter(|open| open.attempt == attempt);
        if let Some(referee) = open.map(|open| open.referee) {
            self.dispatcher.taken(Handout { referee, match_id, attempt });
        }
    }

    /// Whether the journal could not be written.
    pub(super) const fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// Who will get no answer.
    pub(super) fn abandoned(&mut self) -> Vec<(Node, u64)> {
        let held = self.held.drain(..).map(|answer| (answer.to, answer.call));
        held.chain(self.mailbox.drain(..).map(|(from, call, _)| (from, call))).collect()
    }

    pub(super) fn next_wake(&self, now: Timestamp) -> Option<Timestamp> {
        if let Some(append) = &self.append {
            return Some(append.done_at);
        }
        self.next_deadline(now).map(|deadline| deadline.at.max(self.woken_at + MOMENT))
    }

    /// Works until there is nothing to do or the disk has to be waited for.
    pub(super) fn run(
        &mut self,
        stage: &mut Stage<'_>,
        disk: &mut Disk,
        weather: DiskWeather,
    ) -> Vec<Released> {
        let mut released = vec![];
        loop {
            if let Some(append) = &self.append {
                if append.done_at > stage.now {
                    return released;
                }
                if append.fails {
                    self.is_broken = true;
                    return released;
                }
                self.append = None;
                disk.finish();
                released.push(self.release(stage));
            }
            if !self.take_up(stage) && self.pending.is_empty() && self.held.is_empty() {
                // Something may be due for a referee though nothing was decided.
                let handouts = self.hand_out(stage);
                let probes = std::mem::take(&mut self.probes);
                released.push(Released { handouts, probes, ..Released::default() });
                return released;
            }
            if self.pending.is_empty() && self.extra.is_empty() {
                released.push(self.release(stage));
            } else {
                let events: Vec<Event> = self.pending.iter().chain(&self.extra).cloned().collect();
                disk.begin(&events);
                let span = stage.fate.between(1, weather.slow_ms_max.max(1));
                let fails = stage.fate.chance(weather.failing);
                let done_at = stage.now + Duration::from_millis(span);
                self.append = Some(Append { done_at, fails });
                if stage.is_sabotaged(Sabotage::AcknowledgeBeforeAppend) {
                    let answers = std::mem::take(&mut self.held);
                    released.push(Released { answers, ..Released::default() });
                }
            }
        }
    }

    /// Takes up what is due and what was asked; false if there was nothing.
    fn take_up(&mut self, stage: &mut Stage<'_>) -> bool {
        let due = self.next_deadline(stage.now).is_some_and(|deadline| deadline.at <= stage.now);
        if due && self.woken_at < stage.now {
            self.wake(stage);
        } else if self.mailbox.is_empty() && self.own.is_empty() {
            return false;
        }
        for command in std::mem::take(&mut self.own) {
            self.enter_silently(stage, command);
        }
        for _ in 0..BATCH_MAX {
            let Some((from, call, question)) = self.mailbox.pop_front() else { break };
            self.take(stage, (from, call), question);
        }
        true
    }

    fn take(&mut self, stage: &mut Stage<'_>, (to, call): (Node, u64), question: Question) {
        let reply = match question {
            Question::Command(command) => {
                let about = match &*command {
                    Command::RecordResult(report) => Some(report.match_id),
                    Command::VoidAttempt { match_id, .. } => Some(*match_id),
                    Command::RegisterPlayer(_)
                    | Command::RegisterReferee { .. }
                    | Command::Start
                    | Command::Wake
                    | Command::ProbeAnswered { .. }
                    | Command::SettleShape { .. }
                    | Command::SetAdmission(_)
                    | Command::Enrol { .. }
                    | Command::Administer { .. } => None,
                };
                let reply = self.enter(stage, *command);
                if let (Ok(Reply::Recorded { again: true }), Some(match_id)) = (&reply, about) {
                    self.extra.extend(self.doubled.remove(&match_id));
                }
                Answered::League(about, reply)
            }
            Question::Renew(handout) => {
                let until = stage.now + self.league.lease(handout.referee);
                Answered::Held(handout, self.dispatcher.renew(handout, until))
            }
        };
        self.held.push(Answer { to, call, reply });
    }

    fn enter(&mut self, stage: &mut Stage<'_>, command: Command) -> Result<Reply, Refusal> {
        let (events, reply) = self.league.drive(stage.now, command, stage.fate)?;
        if stage.is_sabotaged(Sabotage::CountTwice) {
            for event in &events {
                if let Fact::ResultRecorded(recorded) = &event.fact {
                    self.doubled.insert(recorded.match_id, event.clone());
                }
            }
        }
        self.pending.extend(events);
        Ok(reply)
    }

    fn wake(&mut self, stage: &mut Stage<'_>) {
        let woken_before = std::mem::replace(&mut self.woken_at, stage.now);
        self.probes.extend(self.published.probes_due(woken_before, stage.now));
        for (expired, cause) in self.dispatcher.expired(stage.now).into_iter().take(BATCH_MAX) {
            let (match_id, attempt) = (expired.match_id, expired.attempt);
            self.enter_silently(stage, Command::VoidAttempt { match_id, attempt, cause });
        }
        self.enter_silently(stage, Command::Wake);
    }

    fn enter_silently(&mut self, stage: &mut Stage<'_>, command: Command) {
        // A command of our own that no longer fits came too late.
        if let Err(Refusal::NobodyElse(match_id)) = self.enter(stage, command) {
            self.put_back(stage.now, match_id);
        }
    }

    /// Offers a match to its referee again after a while.
    fn put_back(&mut self, now: Timestamp, match_id: MatchId) {
        if let Some(open) = self.league.open_match(match_id) {
            let handout = Handout { referee: open.referee, match_id, attempt: open.attempt };
            self.dispatcher.put_back(handout, self.league.policy(), now);
        }
    }

    /// Publishes what is durable and lets out what waited for it.
    fn release(&mut self, stage: &mut Stage<'_>) -> Released {
        let events = std::mem::take(&mut self.pending);
        for event in &events {
            self.published.apply(event);
            self.dispatcher.apply(&self.published, event);
        }
        let closed = |event: &Event| matches!(event.fact, Fact::RoundClosed { .. });
        if events.iter().any(closed) && self.published != self.league {
            stage.seen.push(Seen::Diverged("the published league"));
        }
        let extra = std::mem::take(&mut self.extra);
        if !(events.is_empty() && extra.is_empty()) {
            let mut table = self.published.table();
            if stage.is_sabotaged(Sabotage::MisrankTable) && table.len() > 1 {
                table.swap(0, 1);
            }
            let events = events.iter().cloned().chain(extra).collect();
            stage.seen.push(Seen::Published { events, table });
        }
        let handouts = self.hand_out(stage);
        let (answers, probes) = (std::mem::take(&mut self.held), std::mem::take(&mut self.probes));
        Released { answers, events, handouts, probes }
    }

    fn hand_out(&mut self, stage: &Stage<'_>) -> Vec<Handout> {
        let mut all = vec![];
        loop {
            let handouts = self.dispatcher.hand_out(&self.league, stage.now, HANDOUTS_MAX);
            if handouts.is_empty() {
                return all;
            }
            all.extend(handouts);
        }
    }

    fn next_deadline(&self, now: Timestamp) -> Option<Deadline> {
        let league = self.league.next_deadline(self.woken_at);
        Deadline::earlier(league, self.dispatcher.next_deadline(now))
    }
}
