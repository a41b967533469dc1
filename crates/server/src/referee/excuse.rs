//! What we did wrong while a player had to act. A technical loss that our own side caused is never
//! charged: the attempt is annulled instead.

use std::sync::Arc;
use std::time::Duration;

use league_core::referee::{
    Asking, Command, Event, Failure, Invitation, Loss, Match, Phase, Trouble,
};
use league_core::seat::{Seat, Seats};
use league_core::time::Timestamp;

/// Delays below this are the machine's business as usual, however fast the clocks are told to run.
const OWN_DELAY_MIN: Duration = Duration::from_millis(100);

/// Each player's excuse for not having answered what it is asked at present.
#[derive(Debug, Default)]
pub(super) struct Excuses(Seats<Option<Excuse>>);

#[derive(Debug)]
struct Excuse {
    reason: Arc<str>,
    /// Whether the call never left this machine, so that there is nothing to warn the player of.
    unsent: bool,
}

impl Excuses {
    /// A call to `seat` failed by our own fault.
    pub(super) fn excuse(&mut self, seat: Seat, reason: Arc<str>) {
        self.0[seat] = Some(Excuse { reason, unsent: true });
    }

    /// We were not at work for a while, in which everybody who had to act may have done so.
    pub(super) fn excuse_all(&mut self, machine: &Match, reason: &Arc<str>) {
        for seat in Seat::BOTH {
            if has_to_act(machine, seat) && self.0[seat].is_none() {
                self.0[seat] = Some(Excuse { reason: reason.clone(), unsent: false });
            }
        }
    }

    /// `command`, unless it would make a player lose that has an excuse.
    pub(super) fn instead_of(&self, machine: &Match, now: Timestamp, command: Command) -> Command {
        if self.0.all(Option::is_none) {
            return command;
        }
        let Ok(events) = machine.clone().drive(now, command.clone()) else { return command };
        let excuse = events.iter().find_map(|event| self.for_loss(event));
        match excuse {
            Some(reason) => Command::Annul { reason },
            None => command,
        }
    }

    /// The excuse of whoever loses in `event`, if the loss is one by silence.
    fn for_loss(&self, event: &Event) -> Option<Arc<str>> {
        let Event::SeatLost { seat, loss } = event else { return None };
        match loss {
            Loss::NotJoined(_) | Loss::NoMove(_) => {
                self.0[*seat].as_ref().map(|excuse| excuse.reason.clone())
            }
            Loss::Declined { .. } | Loss::InvalidMove { .. } => None,
        }
    }

    /// Whether there is nothing to warn `seat` of, because the call never left this machine.
    pub(super) fn covers(&self, seat: Seat, trouble: &Trouble) -> bool {
        let is_unsent = self.0[seat].as_ref().is_some_and(|excuse| excuse.unsent);
        match trouble {
            Trouble::AttemptFailed { failure: Failure::Unreachable, .. } => is_unsent,
            Trouble::AttemptFailed { failure: Failure::Silence, .. }
            | Trouble::Invalid { .. }
            | Trouble::Lost(_) => false,
        }
    }

    /// Whether `event` is a call that never left us, which counts against nobody.
    pub(super) fn forgives(&self, event: &Event) -> bool {
        let (Event::InvitationUnreachable { seat, .. }
        | Event::AttemptFailed { seat, failure: Failure::Unreachable, .. }) = event
        else {
            return false;
        };
        self.0[*seat].as_ref().is_some_and(|excuse| excuse.unsent)
    }

    /// Whoever has acted needs its excuse no longer.
    pub(super) fn hear(&mut self, event: &Event) {
        match event {
            Event::Joined { seat } | Event::MoveMade { seat, .. } => self.0[*seat] = None,
            Event::Asked { seat, .. } | Event::Invited { seat, .. } => {
                if let Some(excuse) = &mut self.0[*seat] {
                    excuse.unsent = false;
                }
            }
            Event::StepTaken => self.0 = Seats::default(),
            Event::Began
            | Event::InvitationPostponed { .. }
            | Event::InvitationUnreachable { .. }
            | Event::AttemptFailed { .. }
            | Event::AnswerRefused { .. }
            | Event::SeatLost { .. }
            | Event::AnswerIgnored { .. }
            | Event::NumberDrawn { .. }
            | Event::Decided { .. }
            | Event::Annulled { .. }
            | Event::Acknowledged => {}
        }
    }
}

/// Whether the match waits for `seat`.
fn has_to_act(machine: &Match, seat: Seat) -> bool {
    match machine.phase() {
        Phase::Inviting(seats) => match seats[seat] {
            Invitation::Sent { .. } | Invitation::Undelivered { .. } => true,
            Invitation::Due
            | Invitation::Postponed { .. }
            | Invitation::Accepted
            | Invitation::Lost => false,
        },
        Phase::Collecting { seats, .. } => match seats[seat] {
            Asking::Open { .. } | Asking::Between { .. } => true,
            Asking::Idle | Asking::Due | Asking::Given(_) | Asking::Lost => false,
        },
        Phase::Pending
        | Phase::Drawing { .. }
        | Phase::Evaluating { .. }
        | Phase::Decided { .. }
        | Phase::Annulled { .. } => false,
    }
}

/// Measures our own delays: a match that runs wakes up this often, and sees whether it was let.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pulse {
    delay_max: Duration,
}

impl Pulse {
    /// A pulse that misses nothing which lasts longer than `delay_max`.
    pub(super) fn new(delay_max: Duration) -> Self {
        Self { delay_max: delay_max.max(OWN_DELAY_MIN) }
    }

    /// When it beats next.
    pub(super) fn next(self, now: Timestamp) -> Timestamp {
        now + self.delay_max / 2
    }

    /// What was wrong with us if we meant to wake at `wake_at` and could not act before `now`.
    pub(super) fn missed(self, wake_at: Timestamp, now: Timestamp) -> Option<Arc<str>> {
        let late = now.since(wake_at);
        let text = || format!("the referee's machine was held up for {} ms", late.as_millis());
        (late > self.delay_max).then(|| text().into())
    }
}

#[cfg(test)]
mod tests {
    use league_core::game;
    use league_core::policy::{Policy, RuleSet};
    use league_core::referee::Join;

    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millis(ms)
    }

    /// A match whose players are invited at 0; five seconds to join, three times thirty to choose.
    fn machine() -> Match {
        let policy = Arc::new(Policy::build(RuleSet::V21, []).unwrap());
        let mut machine =
            Match::new("R1M1".parse().unwrap(), &*game::by_name("even_odd").unwrap(), policy);
        machine.drive(at(0), Command::Begin).unwrap();
        machine
    }

    fn collecting() -> Match {
        let mut machine = machine();
        for seat in Seat::BOTH {
            machine.drive(at(1), Command::Join { seat, answer: Join::Accept }).unwrap();
        }
        machine
    }

    #[test]
    fn a_loss_by_silence_is_excused_and_nothing_else_is() {
        let machine = machine();
        let mut excuses = Excuses::default();
        let wake = |excuses: &Excuses, ms| excuses.instead_of(&machine, at(ms), Command::Wake);
        assert_eq!(wake(&excuses, 5_000), Command::Wake, "no excuse");
        excuses.excuse_all(&machine, &"held up".into());
        assert_eq!(wake(&excuses, 4_999), Command::Wake, "nobody loses yet");
        assert_eq!(wake(&excuses, 5_000), Command::Annul { reason: "held up".into() });
        let no = Command::Join { seat: Seat::A, answer: Join::Refuse { reason: None } };
        assert_eq!(excuses.instead_of(&machine, at(1), no.clone()), no);
        for seat in Seat::BOTH {
            excuses.hear(&Event::Joined { seat });
        }
        assert_eq!(wake(&excuses, 5_000), Command::Wake, "whoever has joined has no need of it");
    }

    #[test]
    fn a_window_that_is_lost_by_our_fault_costs_a_window_and_only_the_last_one_the_match() {
        let mut machine = collecting();
        let mut excuses = Excuses::default();
        let failed = Command::CallFailed { seat: Seat::A, delivered: false };
        for window in 1..=2 {
            let now = at(window * 10_000);
            excuses.excuse(Seat::A, "no descriptors".into());
            assert_eq!(excuses.instead_of(&machine, now, failed.clone()), failed);
            for event in machine.drive(now, failed.clone()).unwrap() {
                excuses.hear(&event);
            }
            machine.drive(now + Duration::from_secs(2), Command::Wake).unwrap();
        }
        let annul = Command::Annul { reason: "no descriptors".into() };
        assert_eq!(excuses.instead_of(&machine, at(30_000), failed), annul);
    }

    #[test]
    fn a_player_is_not_warned_of_a_call_that_never_left() {
        let mut excuses = Excuses::default();
        let trouble = |failure| Trouble::AttemptFailed { attempt: 1, failure, retry_at: at(0) };
        assert!(!excuses.covers(Seat::A, &trouble(Failure::Unreachable)));
        excuses.excuse(Seat::A, "no descriptors".into());
        assert!(excuses.covers(Seat::A, &trouble(Failure::Unreachable)));
        let failed = |seat, failure| {
            excuses.forgives(&Event::AttemptFailed { seat, attempt: 1, failure, retry_at: at(0) })
        };
        assert!(failed(Seat::A, Failure::Unreachable) && !failed(Seat::B, Failure::Unreachable));
        assert!(!failed(Seat::A, Failure::Silence));
        assert!(!excuses.covers(Seat::A, &trouble(Failure::Silence)));
        assert!(!excuses.covers(Seat::B, &trouble(Failure::Unreachable)));
        excuses.hear(&Event::Asked { seat: Seat::A, attempt: 2, deadline: at(9) });
        assert!(!excuses.covers(Seat::A, &trouble(Failure::Unreachable)), "another call");
    }

    #[test]
    fn only_a_long_delay_is_missed() {
        let pulse = Pulse::new(Duration::from_millis(500));
        assert_eq!(pulse.next(at(0)), at(250));
        assert_eq!(pulse.missed(at(250), at(750)), None);
        let missed = pulse.missed(at(250), at(751)).unwrap();
        assert!(missed.contains("501 ms"), "{missed}");
        let hasty = Pulse::new(Duration::from_millis(5));
        assert_eq!(hasty.missed(at(0), at(99)), None);
        assert!(hasty.missed(at(0), at(101)).is_some());
    }
}
