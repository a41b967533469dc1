//! What a command leads to. Reads, never writes.

use super::{
    Answer, Asking, Command, Event, Failure, Fault, Invitation, Join, Loss, Match, Phase, Refusal,
};
use crate::game::Options;
use crate::limits::INVITATION_TRIES;
use crate::seat::Seat;
use crate::time::Timestamp;

impl Match {
    /// What a command leads to.
    ///
    /// # Errors
    /// If the command does not fit the phase the match is in.
    pub fn decide(&self, now: Timestamp, command: Command) -> Result<Option<Event>, Refusal> {
        match command {
            Command::Begin if self.phase == Phase::Pending => Ok(Some(Event::Began)),
            Command::Begin => Err(self.wrong_state()),
            Command::Join { seat, answer } => Ok(Some(self.decide_join(seat, answer))),
            Command::Answer { seat, answer } => self.decide_answer(seat, answer).map(Some),
            Command::CallFailed { seat, delivered } => {
                Ok(self.decide_failed_call(now, seat, delivered))
            }
            Command::Postpone { seat, until } => self.decide_postpone(seat, until).map(Some),
            Command::Draw(number) => self.decide_draw(number).map(Some),
            Command::Acknowledge => self.decide_acknowledge(),
            Command::Annul { reason } if self.may_be_annulled() => {
                Ok(Some(Event::Annulled { reason }))
            }
            Command::Annul { .. } => Err(self.wrong_state()),
            Command::Wake => Ok(None),
        }
    }

    const fn wrong_state(&self) -> Refusal {
        Refusal::WrongState(self.state())
    }

    /// Never once all moves are in: a result that stands cannot be taken away.
    const fn may_be_annulled(&self) -> bool {
        matches!(self.phase, Phase::Pending | Phase::Inviting(_) | Phase::Collecting { .. })
    }

    fn decide_acknowledge(&self) -> Result<Option<Event>, Refusal> {
        match self.phase {
            Phase::Decided { acknowledged: false, .. } => Ok(Some(Event::Acknowledged)),
            Phase::Decided { acknowledged: true, .. } | Phase::Annulled { .. } => Ok(None),
            Phase::Pending
            | Phase::Inviting(_)
            | Phase::Collecting { .. }
            | Phase::Drawing { .. }
            | Phase::Evaluating { .. } => Err(self.wrong_state()),
        }
    }

    fn decide_join(&self, seat: Seat, answer: Join) -> Event {
        let Phase::Inviting(seats) = &self.phase else {
            return Event::AnswerIgnored { seat };
        };
        match (&seats[seat], answer) {
            (Invitation::Accepted | Invitation::Lost, _) => Event::AnswerIgnored { seat },
            (_, Join::Accept) => Event::Joined { seat },
            (_, Join::Refuse { reason }) => {
                Event::SeatLost { seat, loss: Loss::Declined { reason } }
            }
        }
    }

    fn decide_answer(&self, seat: Seat, answer: Answer) -> Result<Event, Refusal> {
        if matches!(self.phase, Phase::Pending | Phase::Inviting(_)) {
            return Err(self.wrong_state());
        }
        let Phase::Collecting { step, seats } = &self.phase else {
            return Ok(Event::AnswerIgnored { seat });
        };
        let invalid = match &seats[seat] {
            Asking::Idle | Asking::Due => return Err(Refusal::NotYourTurn),
            Asking::Given(_) | Asking::Lost => return Ok(Event::AnswerIgnored { seat }),
            Asking::Open { invalid, .. } | Asking::Between { invalid, .. } => *invalid,
        };
        let options = step.owed[seat].as_ref();
        let (fault, got) = match answer {
            Answer::Move(sealed) if options.is_some_and(|o| o.allow(&sealed.chosen)) => {
                return Ok(Event::MoveMade { seat, sealed });
            }
            Answer::Move(sealed) => {
                let shown = |options: &Options| options.shown(&sealed.chosen);
                let got = options.map_or_else(|| sealed.chosen.to_string(), shown);
                (Fault::IllegalMove, got.into())
            }
            Answer::Faulty { fault, got } => (fault, got),
        };
        if invalid + 1 >= self.policy.invalid_choices_max() {
            return Ok(Event::SeatLost { seat, loss: Loss::InvalidMove { fault, got } });
        }
        Ok(Event::AnswerRefused { seat, fault, got })
    }

    fn decide_failed_call(&self, now: Timestamp, seat: Seat, delivered: bool) -> Option<Event> {
        if let Phase::Inviting(seats) = &self.phase
            && let Invitation::Sent { deadline } = seats[seat]
            // A delivered invitation is never repeated: its answer may still come by a call.
            && !delivered
        {
            let wait = self.policy.invitation_timeout() / INVITATION_TRIES;
            return Some(Event::InvitationUnreachable { seat, retry_at: now + wait, deadline });
        }
        if let Phase::Collecting { seats, .. } = &self.phase
            && let Asking::Open { attempt, .. } = seats[seat]
        {
            return Some(self.attempt_failed(now, seat, attempt, Failure::Unreachable));
        }
        None
    }

    fn decide_postpone(&self, seat: Seat, until: Timestamp) -> Result<Event, Refusal> {
        let Phase::Inviting(seats) = &self.phase else {
            return Err(self.wrong_state());
        };
        if matches!(seats[seat], Invitation::Due | Invitation::Sent { .. }) {
            return Ok(Event::InvitationPostponed { seat, until });
        }
        Ok(Event::AnswerIgnored { seat })
    }

    const fn decide_draw(&self, number: u32) -> Result<Event, Refusal> {
        let Phase::Drawing { faces } = self.phase else {
            return Err(self.wrong_state());
        };
        if number == 0 || number > faces {
            return Err(Refusal::BadNumber { got: number, faces });
        }
        Ok(Event::NumberDrawn { number })
    }
}
