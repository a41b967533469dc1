//! What became of the calls to each player, counted for the manager, who decides about suspension.

use super::{Event, Failure, Loss};
use crate::conduct::Conduct;
use crate::seat::Seats;

/// Counts what an event of the match says about a player. Only a step that is finally lost is a
/// timeout, while every call that does not reach the player counts. An invitation is one call,
/// however often a refused connection was tried again. To accept an invitation is not enough of an
/// answer: who joins every match and never moves would not be silent in a row.
pub fn note(conduct: &mut Seats<Conduct>, event: &Event) {
    match event {
        Event::MoveMade { seat, .. } => conduct[*seat].answered = true,
        Event::AttemptFailed { seat, failure: Failure::Unreachable, .. } => {
            conduct[*seat].connection_errors += 1;
        }
        Event::AnswerRefused { seat, .. }
        | Event::SeatLost { seat, loss: Loss::InvalidMove { .. } } => {
            conduct[*seat].answered = true;
            conduct[*seat].invalid_moves += 1;
        }
        Event::SeatLost { seat, loss } => match loss {
            Loss::NotJoined(Failure::Silence) | Loss::NoMove(Failure::Silence) => {
                conduct[*seat].timeouts += 1;
            }
            Loss::NotJoined(Failure::Unreachable) | Loss::NoMove(Failure::Unreachable) => {
                conduct[*seat].connection_errors += 1;
            }
            Loss::Declined { .. } | Loss::InvalidMove { .. } => conduct[*seat].answered = true,
        },
        Event::Began
        | Event::Joined { .. }
        | Event::Invited { .. }
        | Event::InvitationUnreachable { .. }
        | Event::InvitationPostponed { .. }
        | Event::Asked { .. }
        | Event::AttemptFailed { failure: Failure::Silence, .. }
        | Event::AnswerIgnored { .. }
        | Event::StepTaken
        | Event::NumberDrawn { .. }
        | Event::Decided { .. }
        | Event::Annulled { .. }
        | Event::Acknowledged => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::referee::Fault;
    use crate::seat::Seat;
    use crate::time::Timestamp;

    fn counted(events: &[Event]) -> Conduct {
        let mut conduct = Seats::default();
        events.iter().for_each(|event| note(&mut conduct, event));
        assert_eq!(conduct[Seat::B], Conduct::default(), "only the one it is about");
        conduct[Seat::A]
    }

    #[test]
    fn silence_counts_when_it_is_final_and_whatever_was_said_is_an_answer() {
        let (seat, failure, retry_at) = (Seat::A, Failure::Silence, Timestamp::default());
        let failed = Event::AttemptFailed { seat, attempt: 1, failure, retry_at };
        let lost = Event::SeatLost { seat, loss: Loss::NoMove(Failure::Silence) };
        assert_eq!(counted(std::slice::from_ref(&failed)), Conduct::default());
        assert_eq!(counted(&[failed, lost]), Conduct { timeouts: 1, ..Conduct::default() });

        assert_eq!(counted(&[Event::Joined { seat }]), Conduct::default());
        let declined = Event::SeatLost { seat, loss: Loss::Declined { reason: None } };
        assert_eq!(counted(&[declined]), Conduct { answered: true, ..Conduct::default() });
        let (fault, got) = (Fault::IllegalMove, "maybe".into());
        let invalid = Event::SeatLost { seat, loss: Loss::InvalidMove { fault, got } };
        let expected = Conduct { answered: true, invalid_moves: 1, ..Conduct::default() };
        assert_eq!(counted(&[invalid]), expected);
    }

    #[test]
    fn an_invitation_that_never_arrives_counts_once_however_often_it_was_tried() {
        let (seat, at) = (Seat::A, Timestamp::default());
        let tried = Event::InvitationUnreachable { seat, retry_at: at, deadline: at };
        let mut events = vec![tried; 15];
        assert_eq!(counted(&events), Conduct::default(), "it may still arrive");
        events.push(Event::SeatLost { seat, loss: Loss::NotJoined(Failure::Unreachable) });
        assert_eq!(counted(&events), Conduct { connection_errors: 1, ..Conduct::default() });
    }

    #[test]
    fn every_call_for_a_move_that_does_not_arrive_counts() {
        let (seat, failure, retry_at) = (Seat::A, Failure::Unreachable, Timestamp::default());
        let failed = |attempt| Event::AttemptFailed { seat, attempt, failure, retry_at };
        let lost = Event::SeatLost { seat, loss: Loss::NoMove(Failure::Unreachable) };
        let expected = Conduct { connection_errors: 3, ..Conduct::default() };
        assert_eq!(counted(&[failed(1), failed(2), lost]), expected);
    }
}
