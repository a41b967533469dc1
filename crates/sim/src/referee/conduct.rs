//! What became of the calls to each player, counted for the manager.

use league_core::manager::Conduct;
use league_core::referee::{Event, Failure, Loss};
use league_core::seat::Seats;

/// Counts what an event of the match says about a player. Only a step that is finally lost is a
/// timeout, while every call that does not reach the player counts.
pub(super) fn note(conduct: &mut Seats<Conduct>, event: &Event) {
    match event {
        Event::Joined { seat } | Event::MoveMade { seat, .. } => conduct[*seat].answered = true,
        Event::InvitationUnreachable { seat, .. }
        | Event::AttemptFailed { seat, failure: Failure::Unreachable, .. } => {
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
        | Event::Invited { .. }
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
