//! The manager: the single writer of the league, driven in the order of the real one. Decide, apply
//! unpublished, append, publish, release; after a crash, replay.

mod inbound;
mod mail;
mod orders;
mod probes;
mod writer;

use std::collections::BTreeSet;
use std::time::Duration;

use league_core::id::AgentId;
use league_core::manager::{Charter, Command, Event, Fact, League};
use league_core::proof::Keys;
use league_core::time::Timestamp;

use crate::disk::Disk;
use crate::fate::Fate;
use crate::message::{Body, Denial, Leg, Letter, Packet};
use crate::sabotage::Sabotage;
use crate::stage::{Seen, Stage};
use crate::weather::DiskWeather;

use mail::Mail;
use probes::Probes;
use writer::Writer;

/// How long it takes to open the books again after the disk failed.
const REOPENING: Duration = Duration::from_millis(300);

/// The manager with its disk. Only the disk survives a crash.
#[derive(Debug)]
pub(crate) struct Manager {
    keys: Keys,
    charter: Charter,
    disk: Disk,
    weather: DiskWeather,
    state: State,
    next: Option<Timestamp>,
}

#[derive(Debug)]
enum State {
    Closed { reopens: Option<Timestamp> },
    Open(Box<Open>),
}

/// What is lost in a crash.
#[derive(Debug)]
struct Open {
    writer: Writer,
    mail: Mail,
    probes: Probes,
    /// Who has used its token since the books were opened.
    seen: BTreeSet<AgentId>,
}

impl Manager {
    pub(crate) fn new(keys: Keys, charter: Charter, weather: DiskWeather) -> Self {
        let state = State::Closed { reopens: Some(Timestamp::from_millis(0)) };
        Self { keys, charter, disk: Disk::default(), weather, state, next: None }
    }

    /// Writes arrive from here on.
    pub(crate) const fn calm(&mut self) {
        self.weather.failing = 0;
    }

    pub(crate) const fn next_wake(&self) -> Option<Timestamp> {
        match &self.state {
            State::Closed { reopens } => *reopens,
            State::Open(_) => self.next,
        }
    }

    /// The power goes.
    pub(crate) fn crash(&mut self, fate: &mut Fate) {
        self.disk.break_off(fate);
        self.state = State::Closed { reopens: None };
    }

    /// The power is back.
    pub(crate) fn restart(&mut self, stage: &mut Stage<'_>) {
        self.state = State::Closed { reopens: Some(stage.now) };
        self.wake(stage);
    }

    pub(crate) fn wake(&mut self, stage: &mut Stage<'_>) {
        if let State::Closed { reopens: Some(at) } = self.state
            && at <= stage.now
        {
            self.open(stage);
        }
        self.act(stage, |open, stage| {
            let lost = open.mail.wake(stage.now, &open.writer.published);
            open.writer.not_taken(lost);
            open.probes.wake(stage.now);
        });
    }

    pub(crate) fn fail(&mut self, stage: &mut Stage<'_>, call: u64) {
        self.act(stage, |open, stage| {
            if open.probes.answered(call).is_some() {
                return;
            }
            let policy = open.writer.published.policy().clone();
            let lost = open.mail.failed(stage.now, &policy, call);
            open.writer.not_taken(lost);
        });
    }

    pub(crate) fn receive(&mut self, stage: &mut Stage<'_>, packet: &Packet) {
        let State::Open(open) = &mut self.state else {
            if packet.leg == Leg::Request {
                stage.reply(packet, Letter::bare(Body::Denied(Denial::Busy)));
            }
            return;
        };
        if packet.leg == Leg::Reply {
            self.act(stage, |open, stage| {
                if let Some(agent) = open.probes.answered(packet.call) {
                    if stage.is_sabotaged(Sabotage::ForgetRecovery) {
                        return;
                    }
                    open.writer.post_own(Command::ProbeAnswered { agent });
                    return;
                }
                match open.mail.answered(packet.call, &packet.letter.body) {
                    Some((order, true)) => open.writer.taken(order),
                    lost => open.writer.not_taken(lost.map(|(order, _)| order)),
                }
            });
            return;
        }
        let Open { writer, seen, .. } = &mut **open;
        match inbound::ask((&self.keys, &writer.published), seen, stage, packet) {
            Ok(ask) => writer.post(packet, ask),
            Err(denial) => stage.reply(packet, Letter::bare(Body::Denied(denial))),
        }
        self.act(stage, |_, _| ());
    }

    /// Opens the books: founds the league if there is none, replays it otherwise.
    fn open(&mut self, stage: &mut Stage<'_>) {
        let mut events = self.disk.open();
        if events.is_empty() {
            let founded = League::found(stage.now, self.charter.clone());
            let (_, created) = founded.expect("the plan makes sense");
            events.push(created);
            self.disk.begin(&events);
            self.disk.finish();
        }
        let league = replay(&events);
        let table = league.table();
        stage.seen.push(Seen::Replayed { events, table });
        let mut mail = Mail::default();
        mail.resume(&league, &self.keys);
        let writer = Writer::new(league);
        self.state = State::Open(Box::new(Open {
            writer,
            mail,
            probes: Probes::default(),
            seen: BTreeSet::new(),
        }));
        self.act(stage, |open, stage| open.writer.begin(stage));
    }

    /// Does `what`, then whatever the writer has to do, then sends what waits.
    fn act(&mut self, stage: &mut Stage<'_>, what: impl FnOnce(&mut Open, &mut Stage<'_>)) {
        let State::Open(open) = &mut self.state else { return };
        what(open, stage);
        let Open { writer, mail, probes, .. } = &mut **open;
        let released = writer.run(stage, &mut self.disk, self.weather);
        for released in released {
            for answer in released.answers {
                let body = inbound::answer(&self.keys, &writer.published, answer.reply);
                stage.answer(answer.to, answer.call, Letter::bare(body));
            }
            let effects = released.events.iter().flat_map(|event| writer.published.effects(event));
            for effect in effects {
                mail.perform(stage, (&writer.published, &self.keys), effect);
            }
            mail.hand_out(stage, &released.handouts);
            probes.send(stage, (&writer.published, &self.keys), &released.probes);
        }
        if writer.is_broken() {
            self.disk.break_off(stage.fate);
            for (to, call) in writer.abandoned() {
                stage.answer(to, call, Letter::bare(Body::Denied(Denial::Busy)));
            }
            self.state = State::Closed { reopens: Some(stage.now + REOPENING) };
            return;
        }
        mail.pump(stage, &writer.published, &self.keys);
        let wakes = [writer.next_wake(stage.now), mail.next_wake(), probes.next_wake()];
        self.next = wakes.into_iter().flatten().min();
    }
}

/// The league that these events made.
fn replay(events: &[Event]) -> League {
    let Some(Event { fact: Fact::LeagueCreated(charter), .. }) = events.first() else {
        panic!("a journal begins with the founding of its league")
    };
    let mut league = League::open(charter).expect("it was founded once");
    for event in &events[1..] {
        league.apply(event);
    }
    league
}
