//! What an event changes. Writes, never refuses.

use super::{Asking, Event, Invitation, Loss, Match, Phase};
use crate::game::{Next, Options, Outcome, Turn};
use crate::seat::{Seat, Seats};
use crate::verdict::Verdict;

impl Match {
    /// Writes what happened. Total: every event that was decided here can be applied here.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::Began => {
                self.phase = Phase::Inviting(Seats::from_fn(|_| Invitation::Due));
            }
            Event::Invited { seat, deadline } => {
                self.set_invitation(*seat, Invitation::Sent { deadline: *deadline });
            }
            Event::InvitationPostponed { seat, until } => {
                self.set_invitation(*seat, Invitation::Postponed { until: *until });
            }
            Event::InvitationUnreachable { seat, retry_at, deadline } => {
                let (retry_at, deadline) = (*retry_at, *deadline);
                self.set_invitation(*seat, Invitation::Undelivered { retry_at, deadline });
            }
            Event::Joined { seat } => self.set_invitation(*seat, Invitation::Accepted),
            Event::Asked { seat, attempt, deadline } => {
                let invalid = self.invalid_answers(*seat);
                let (attempt, deadline) = (*attempt, *deadline);
                self.set_asking(*seat, Asking::Open { attempt, invalid, deadline });
            }
            Event::AttemptFailed { seat, attempt, retry_at, .. } => {
                let invalid = self.invalid_answers(*seat);
                let (attempt, retry_at) = (*attempt, *retry_at);
                self.set_asking(*seat, Asking::Between { attempt, invalid, retry_at });
            }
            Event::AnswerRefused { seat, .. } => self.count_invalid_answer(*seat),
            Event::MoveMade { seat, sealed } => {
                self.set_asking(*seat, Asking::Given(sealed.clone()));
            }
            Event::SeatLost { seat, loss } => self.lose(*seat, loss),
            Event::AnswerIgnored { .. } => {}
            Event::StepTaken => self.take_step(),
            Event::NumberDrawn { number } => {
                self.record.turns.push(Turn::Drawn(*number));
                self.phase = self.phase_after_turn();
            }
            Event::Decided { verdict } => {
                let aborted = matches!(self.phase, Phase::Inviting(_));
                let verdict = *verdict;
                self.phase = Phase::Decided { verdict, aborted, acknowledged: false };
            }
            Event::Annulled { reason } => {
                self.phase = Phase::Annulled { reason: reason.clone() };
            }
            Event::Acknowledged => {
                if let Phase::Decided { acknowledged, .. } = &mut self.phase {
                    *acknowledged = true;
                }
            }
        }
    }

    fn count_invalid_answer(&mut self, seat: Seat) {
        if let Phase::Collecting { seats, .. } = &mut self.phase
            && let Asking::Open { invalid, .. } | Asking::Between { invalid, .. } = &mut seats[seat]
        {
            *invalid += 1;
        }
    }

    fn lose(&mut self, seat: Seat, loss: &Loss) {
        self.record.losses[seat] = Some(loss.clone());
        self.set_invitation(seat, Invitation::Lost);
        self.set_asking(seat, Asking::Lost);
    }

    /// The step is complete: either the turn counts, or somebody has lost by not making it.
    fn take_step(&mut self) {
        if let Phase::Collecting { seats, .. } = &self.phase {
            let sealed = Seats::from_fn(|seat| match &seats[seat] {
                Asking::Given(sealed) => Some(sealed.clone()),
                Asking::Idle
                | Asking::Due
                | Asking::Open { .. }
                | Asking::Between { .. }
                | Asking::Lost => None,
            });
            let lost = Seats::from_fn(|seat| seats[seat] == Asking::Lost);
            if lost.a || lost.b {
                self.record.stranded = sealed;
                self.phase = Phase::Evaluating { verdict: verdict_of_losses(lost) };
                return;
            }
            let moves = Seats::from_fn(|seat| sealed[seat].as_ref().map(|s| s.chosen.clone()));
            self.record.turns.push(Turn::Moves(moves));
            self.record.seals.push(sealed);
        }
        self.phase = self.phase_after_turn();
    }

    fn phase_after_turn(&self) -> Phase {
        match self.game.next(&self.record.turns) {
            Next::Moves(step) => {
                let asking = |owed: &Option<Options>| match owed {
                    Some(_) => Asking::Due,
                    None => Asking::Idle,
                };
                let seats = Seats::new(asking(&step.owed.a), asking(&step.owed.b));
                Phase::Collecting { step, seats }
            }
            Next::Draw { faces } => Phase::Drawing { faces },
            Next::Over(Outcome::Won(seat)) => Phase::Evaluating { verdict: Verdict::Won(seat) },
            Next::Over(Outcome::Drawn) => Phase::Evaluating { verdict: Verdict::Drawn },
        }
    }

    fn set_invitation(&mut self, seat: Seat, invitation: Invitation) {
        if let Phase::Inviting(seats) = &mut self.phase {
            seats[seat] = invitation;
        }
    }

    fn set_asking(&mut self, seat: Seat, asking: Asking) {
        if let Phase::Collecting { seats, .. } = &mut self.phase {
            seats[seat] = asking;
        }
    }
}

pub(super) fn verdict_of_losses(lost: Seats<bool>) -> Verdict {
    match (lost.a, lost.b) {
        (true, true) => Verdict::BothLost,
        (true, false) => Verdict::TechnicalLoss(Seat::A),
        (false, true) => Verdict::TechnicalLoss(Seat::B),
        (false, false) => unreachable!("somebody lost"),
    }
}
