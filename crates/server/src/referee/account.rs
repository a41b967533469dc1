//! What happens in a match, in the words of its transcript.

use std::time::Duration;

use league_core::game::Move;
use league_core::referee::{Event, Failure, Fault};
use league_core::seat::Seat;
use league_core::time::Timestamp;

use super::trouble::{fault_text, loss_of};

/// An event's name, whom it concerns, and what there is to say about it. Times are told from `now`.
pub(super) fn told(event: &Event, now: Timestamp) -> (&'static str, Option<Seat>, String) {
    let until = |moment: &Timestamp| in_words(moment.since(now));
    let (name, seat, text) = match event {
        Event::Began => ("began", None, String::new()),
        Event::Invited { seat, deadline } => {
            ("invited", Some(seat), format!("waits {} for an answer", until(deadline)))
        }
        Event::InvitationPostponed { seat, until: moment } => {
            ("postponed", Some(seat), format!("the invitation waits {}", until(moment)))
        }
        Event::InvitationUnreachable { seat, retry_at, .. } => {
            ("retry", Some(seat), format!("not reached; is invited again in {}", until(retry_at)))
        }
        Event::Joined { seat } => ("joined", Some(seat), String::new()),
        Event::Asked { seat, attempt, deadline } => {
            ("asked", Some(seat), format!("window {attempt} is open for {}", until(deadline)))
        }
        Event::AttemptFailed { seat, attempt, failure, retry_at } => {
            let why = failed(*failure);
            let text =
                format!("window {attempt} closed: {why}; is asked again in {}", until(retry_at));
            ("retry", Some(seat), text)
        }
        Event::AnswerRefused { seat, fault, got } => ("refused", Some(seat), invalid(*fault, got)),
        Event::MoveMade { seat, sealed } => {
            let chosen = match &sealed.chosen {
                Move::Word(word) => word.to_string(),
                Move::Number(number) => number.to_string(),
            };
            ("chose", Some(seat), chosen)
        }
        Event::SeatLost { seat, loss } => ("lost", Some(seat), loss_of(loss).1),
        Event::AnswerIgnored { seat } => {
            ("ignored", Some(seat), "an answer that nobody waited for any more".into())
        }
        Event::StepTaken => ("complete", None, "everybody who had to answer has answered".into()),
        Event::NumberDrawn { number } => ("drawn", None, number.to_string()),
        Event::Decided { .. } => ("decided", None, String::new()),
        Event::Annulled { reason } => ("annulled", None, reason.to_string()),
        Event::Acknowledged => ("acknowledged", None, String::new()),
    };
    (name, seat.copied(), text)
}

fn invalid(fault: Fault, got: &str) -> String {
    format!("{}, got '{got}'", fault_text(fault))
}

const fn failed(failure: Failure) -> &'static str {
    match failure {
        Failure::Silence => "no answer in time",
        Failure::Unreachable => "not reached, or no usable answer",
    }
}

fn in_words(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}
