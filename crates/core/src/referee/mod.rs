//! One match, as its referee sees it: invitations, moves, draw, verdict.
//!
//! [`Match::decide`] reads and answers with what happened, [`Match::apply`] writes and never
//! refuses, [`Match::advance`] names what follows from where the match stands and what time it is.
//! [`Match::drive`] is the three together, and all a shell needs beside [`Match::effects`].

mod advance;
mod apply;
mod command;
pub mod conduct;
mod decide;
mod effect;
mod event;
mod phase;
mod refusal;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::game::{Game, Next, Options, Step};
use crate::id::MatchId;
use crate::policy::Policy;
use crate::seat::Seat;
use crate::time::{Deadline, Timestamp};

pub use command::{Answer, Command, Fault, Join, Sealed};
pub use effect::{Effect, Trouble};
pub use event::{Event, Failure, Loss};
pub use phase::{Asking, Invitation, Phase, Record, State};
pub use refusal::Refusal;

/// One attempt at a match.
#[derive(Debug, Clone)]
pub struct Match {
    id: MatchId,
    game: Arc<dyn Game>,
    policy: Arc<Policy>,
    phase: Phase,
    record: Record,
}

impl Match {
    /// A match that has not begun.
    pub fn new(id: MatchId, game: &dyn Game, policy: Arc<Policy>) -> Self {
        let game = game.in_match(id);
        Self { id, game, policy, phase: Phase::Pending, record: Record::default() }
    }

    /// Decides, applies, and follows up until nothing more follows.
    ///
    /// # Errors
    /// If the command does not fit; nothing has changed then.
    pub fn drive(&mut self, now: Timestamp, command: Command) -> Result<Vec<Event>, Refusal> {
        let mut events = Vec::new();
        let mut next = self.decide(now, command)?;
        while let Some(event) = next.or_else(|| self.advance(now)) {
            self.apply(&event);
            events.push(event);
            next = None;
        }
        Ok(events)
    }

    /// What the shell must do after `event`, which has just been applied.
    pub fn effects(&self, event: &Event) -> Vec<Effect> {
        match event {
            Event::Invited { seat, deadline } => {
                vec![Effect::Invite { seat: *seat, deadline: *deadline }]
            }
            Event::Asked { seat, attempt, deadline } => {
                vec![Effect::Ask { seat: *seat, attempt: *attempt, deadline: *deadline }]
            }
            Event::AttemptFailed { seat, attempt, failure, retry_at } => {
                let (attempt, failure, retry_at) = (*attempt, *failure, *retry_at);
                let trouble = Trouble::AttemptFailed { attempt, failure, retry_at };
                vec![Effect::Warn { seat: *seat, trouble }]
            }
            Event::AnswerRefused { seat, fault, got } => {
                let count = self.invalid_answers(*seat);
                let trouble = Trouble::Invalid { fault: *fault, got: got.clone(), count };
                let warning = Effect::Warn { seat: *seat, trouble };
                std::iter::once(warning).chain(self.ask_again(*seat)).collect()
            }
            Event::SeatLost { seat, loss } => {
                vec![Effect::Warn { seat: *seat, trouble: Trouble::Lost(loss.clone()) }]
            }
            Event::StepTaken => match self.phase {
                Phase::Drawing { faces } => vec![Effect::Draw { faces }],
                Phase::Pending
                | Phase::Inviting(_)
                | Phase::Collecting { .. }
                | Phase::Evaluating { .. }
                | Phase::Decided { .. }
                | Phase::Annulled { .. } => vec![],
            },
            Event::Decided { .. } => vec![Effect::Report],
            Event::Annulled { .. } => vec![Effect::ReportAnnulment],
            Event::Acknowledged => vec![Effect::TellResult],
            Event::Began
            | Event::InvitationPostponed { .. }
            | Event::InvitationUnreachable { .. }
            | Event::Joined { .. }
            | Event::MoveMade { .. }
            | Event::AnswerIgnored { .. }
            | Event::NumberDrawn { .. } => vec![],
        }
    }

    /// A refused answer may be repeated inside the same window, so the window is offered again.
    fn ask_again(&self, seat: Seat) -> Option<Effect> {
        let Phase::Collecting { seats, .. } = &self.phase else {
            return None;
        };
        let Asking::Open { attempt, deadline, .. } = seats[seat] else {
            return None;
        };
        Some(Effect::Ask { seat, attempt, deadline })
    }

    /// When the machine next wants a [`Command::Wake`], and why.
    pub fn next_deadline(&self) -> Option<Deadline> {
        match &self.phase {
            Phase::Inviting(seats) => {
                Deadline::earlier(invitation_deadline(&seats.a), invitation_deadline(&seats.b))
            }
            Phase::Collecting { seats, .. } => {
                Deadline::earlier(asking_deadline(&seats.a), asking_deadline(&seats.b))
            }
            Phase::Pending
            | Phase::Drawing { .. }
            | Phase::Evaluating { .. }
            | Phase::Decided { .. }
            | Phase::Annulled { .. } => None,
        }
    }

    /// Which match this is.
    pub const fn id(&self) -> MatchId {
        self.id
    }

    /// Where it stands.
    pub const fn phase(&self) -> &Phase {
        &self.phase
    }

    /// The documents' word for where it stands.
    pub const fn state(&self) -> State {
        self.phase.state()
    }

    /// What it leaves behind.
    pub const fn record(&self) -> &Record {
        &self.record
    }

    /// The rules it is played by.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The game as it is played in this match.
    pub fn game(&self) -> &dyn Game {
        &*self.game
    }

    /// What a side may choose in the step that is owed, or that somebody lost by not taking it.
    pub fn options(&self, seat: Seat) -> Option<Options> {
        match self.game.next(&self.record.turns) {
            Next::Moves(step) => step.owed[seat].clone(),
            Next::Draw { .. } | Next::Over(_) => None,
        }
    }

    /// The step in which moves are owed now.
    pub const fn step(&self) -> Option<&Step> {
        if let Phase::Collecting { step, .. } = &self.phase { Some(step) } else { None }
    }

    fn invalid_answers(&self, seat: Seat) -> u32 {
        let Phase::Collecting { seats, .. } = &self.phase else {
            return 0;
        };
        match seats[seat] {
            Asking::Open { invalid, .. } | Asking::Between { invalid, .. } => invalid,
            Asking::Idle | Asking::Due | Asking::Given(_) | Asking::Lost => 0,
        }
    }
}

fn invitation_deadline(invitation: &Invitation) -> Option<Deadline> {
    match *invitation {
        Invitation::Sent { deadline } => Some(Deadline::new(deadline, "invitation unanswered")),
        Invitation::Postponed { until } => Some(Deadline::new(until, "breaker allows a trial")),
        Invitation::Undelivered { retry_at, deadline } => {
            Some(Deadline::new(retry_at.min(deadline), "invitation tried again"))
        }
        Invitation::Due | Invitation::Accepted | Invitation::Lost => None,
    }
}

fn asking_deadline(asking: &Asking) -> Option<Deadline> {
    match *asking {
        Asking::Open { deadline, .. } => Some(Deadline::new(deadline, "move not made in time")),
        Asking::Between { retry_at, .. } => Some(Deadline::new(retry_at, "move asked for again")),
        Asking::Idle | Asking::Due | Asking::Given(_) | Asking::Lost => None,
    }
}
