//! What follows from where a match stands and what time it is.

use super::apply::verdict_of_losses;
use super::{Asking, Event, Failure, Invitation, Loss, Match, Phase};
use crate::policy::InvitationSilence;
use crate::seat::{Seat, Seats};
use crate::time::Timestamp;
use crate::verdict::Verdict;

impl Match {
    /// What follows from where the match stands at `now`, one event at a time.
    pub fn advance(&self, now: Timestamp) -> Option<Event> {
        match &self.phase {
            Phase::Inviting(seats) => self.advance_inviting(now, seats),
            Phase::Collecting { seats, .. } => self.advance_collecting(now, seats),
            Phase::Evaluating { verdict } => Some(Event::Decided { verdict: *verdict }),
            Phase::Pending
            | Phase::Drawing { .. }
            | Phase::Decided { .. }
            | Phase::Annulled { .. } => None,
        }
    }

    fn advance_inviting(&self, now: Timestamp, seats: &Seats<Invitation>) -> Option<Event> {
        for (seat, invitation) in seats.iter() {
            match *invitation {
                Invitation::Due => {
                    let deadline = now + self.policy.invitation_timeout();
                    return Some(Event::Invited { seat, deadline });
                }
                Invitation::Postponed { until } if until <= now => {
                    let deadline = now + self.policy.invitation_timeout();
                    return Some(Event::Invited { seat, deadline });
                }
                Invitation::Sent { deadline } if deadline <= now => {
                    let loss = Loss::NotJoined(Failure::Silence);
                    return Some(Event::SeatLost { seat, loss });
                }
                Invitation::Undelivered { deadline, .. } if deadline <= now => {
                    let loss = Loss::NotJoined(Failure::Unreachable);
                    return Some(Event::SeatLost { seat, loss });
                }
                Invitation::Undelivered { retry_at, deadline } if retry_at <= now => {
                    return Some(Event::Invited { seat, deadline });
                }
                Invitation::Postponed { .. }
                | Invitation::Sent { .. }
                | Invitation::Undelivered { .. }
                | Invitation::Accepted
                | Invitation::Lost => {}
            }
        }
        self.settle_inviting(seats)
    }

    fn settle_inviting(&self, seats: &Seats<Invitation>) -> Option<Event> {
        if seats.all(|invitation| *invitation == Invitation::Accepted) {
            return Some(Event::StepTaken);
        }
        let lost = Seats::from_fn(|seat| seats[seat] == Invitation::Lost);
        let settled = seats.all(|i| matches!(i, Invitation::Accepted | Invitation::Lost));
        match self.policy.invitation_silence() {
            InvitationSilence::Cancel if lost.a || lost.b => {
                Some(Event::Decided { verdict: Verdict::Cancelled })
            }
            InvitationSilence::Forfeit if settled => {
                Some(Event::Decided { verdict: verdict_of_losses(lost) })
            }
            InvitationSilence::Cancel | InvitationSilence::Forfeit => None,
        }
    }

    fn advance_collecting(&self, now: Timestamp, seats: &Seats<Asking>) -> Option<Event> {
        for (seat, asking) in seats.iter() {
            match *asking {
                Asking::Due => return Some(self.ask(now, seat, 1)),
                Asking::Open { attempt, deadline, .. } if deadline <= now => {
                    return Some(self.attempt_failed(now, seat, attempt, Failure::Silence));
                }
                Asking::Between { attempt, retry_at, .. } if retry_at <= now => {
                    return Some(self.ask(now, seat, attempt + 1));
                }
                Asking::Idle
                | Asking::Open { .. }
                | Asking::Between { .. }
                | Asking::Given(_)
                | Asking::Lost => {}
            }
        }
        let settled = seats.all(|a| matches!(a, Asking::Idle | Asking::Given(_) | Asking::Lost));
        settled.then_some(Event::StepTaken)
    }

    fn ask(&self, now: Timestamp, seat: Seat, attempt: u32) -> Event {
        Event::Asked { seat, attempt, deadline: now + self.policy.choice_timeout() }
    }

    pub(super) fn attempt_failed(
        &self,
        now: Timestamp,
        seat: Seat,
        attempt: u32,
        failure: Failure,
    ) -> Event {
        if attempt >= self.policy.choice_attempts() {
            return Event::SeatLost { seat, loss: Loss::NoMove(failure) };
        }
        let retry_at = now + self.policy.choice_backoff().after(attempt);
        Event::AttemptFailed { seat, attempt, failure, retry_at }
    }
}
