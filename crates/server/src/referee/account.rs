//! What happens in a match, in the words of its transcript and of the log.

use std::time::Duration;

use league_agent::component::Component;
use league_agent::endpoint::Answer;
use league_agent::exchange::AskError;
use league_agent::log::talk;
use league_agent::log::{self, Level};
use league_agent::meter::{Kind, Meter};
use league_core::referee::{Event, Failure, Match};
use league_core::seat::Seat;
use league_core::time::Timestamp;

use league_wire::{Code, MessageType};

use super::heard::Remark;
use super::outbound::Letters;
use super::recorder::About;
use super::trouble::{Words, fault_code};

/// An event's name, whom it concerns, and what there is to say about it. Times are told from `now`.
pub(super) fn told(
    words: &Words<'_>,
    event: &Event,
    now: Timestamp,
) -> (&'static str, Option<Seat>, String) {
    let machine = words.machine;
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
            let (_, why) = words.failure(Failure::Unreachable);
            ("retry", Some(seat), format!("{why}; is invited again in {}", until(retry_at)))
        }
        Event::Joined { seat } => ("joined", Some(seat), String::new()),
        Event::Asked { seat, attempt, deadline } => {
            ("asked", Some(seat), format!("window {attempt} is open for {}", until(deadline)))
        }
        Event::AttemptFailed { seat, attempt, failure, retry_at } => {
            let (_, why) = words.failure(*failure);
            let text =
                format!("window {attempt} closed: {why}; is asked again in {}", until(retry_at));
            ("retry", Some(seat), text)
        }
        Event::AnswerRefused { seat, fault, got } => {
            ("refused", Some(seat), words.invalid(*seat, *fault, got))
        }
        Event::MoveMade { seat, sealed } => {
            let chosen = sealed.chosen.to_string();
            match machine.game().role(*seat) {
                Some(role) => ("chose", Some(seat), format!("{chosen}, as {role}")),
                None => ("chose", Some(seat), chosen),
            }
        }
        Event::SeatLost { seat, loss } => ("lost", Some(seat), words.loss(*seat, loss).1),
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

/// Tells the log and the figures. Nobody's choice is told: it is in the transcript.
pub(super) fn log(
    letters: &Letters,
    (machine, remark): (&Match, Option<&Remark>),
    event: &Event,
    now: Timestamp,
) {
    let words = Words { machine, remark, is_discreet: true };
    if let Event::Decided { verdict, .. } = event {
        Meter::of(Component::Referee).decided(*verdict);
    }
    let (level, code) = gravity(&words, event);
    if level == Level::Warning {
        Meter::of(Component::Referee).retries.add(1);
    }
    log::at(level, Component::Referee, |line| {
        let (name, seat, text) = told(&words, event, now);
        about(letters).line(line);
        match seat {
            Some(seat) => line.agent(letters.player(seat)).text("referee", letters.me.id),
            None => line.agent(letters.me.id),
        };
        if let Some(code) = code {
            line.code(code);
        }
        let is_secret = matches!(event, Event::MoveMade { .. } | Event::NumberDrawn { .. });
        match text {
            text if is_secret || text.is_empty() => line.say(name),
            text => line.say(format!("{name}: {text}")),
        };
    });
}

/// An answer did not prove that it comes from its player.
pub(super) fn unproved(letters: &Letters, seat: Seat) {
    Meter::of(Component::Referee).refused(&league_wire::message::ErrorCode::Known(Code::E012));
    log::at(Level::Critical, Component::Referee, |line| {
        about(letters).line(line).agent(letters.player(seat)).text("referee", letters.me.id);
        line.code(Code::E012).say("an answer with a token that is not the player's");
    });
}

/// A report has to be sent again.
pub(super) fn retried(letters: &Letters, error: &AskError) {
    Meter::of(Component::Referee).retries.add(1);
    log::at(Level::Warning, Component::Referee, |line| {
        about(letters).line(line).agent(letters.me.id);
        line.message_type(MessageType::MatchResultReport);
        line.say(format!("the report is sent again: {error}"));
    });
}

fn about(letters: &Letters) -> About {
    About {
        referee: letters.me.id,
        league: letters.me.league.clone(),
        match_id: letters.order.match_id,
        conversation: letters.conversation.clone(),
    }
}

/// How much an event matters, and the code that stands for it.
fn gravity(words: &Words<'_>, event: &Event) -> (Level, Option<Code>) {
    match event {
        Event::Began | Event::Decided { .. } => (Level::Info, None),
        Event::InvitationPostponed { .. } => (Level::Warning, None),
        Event::InvitationUnreachable { .. } => {
            (Level::Warning, Some(words.failure(Failure::Unreachable).0))
        }
        Event::AttemptFailed { failure, .. } => (Level::Warning, Some(words.failure(*failure).0)),
        Event::AnswerRefused { fault, .. } => (Level::Error, Some(fault_code(*fault))),
        Event::SeatLost { seat, loss } => (Level::Error, Some(words.loss(*seat, loss).0)),
        Event::Annulled { .. } => (Level::Error, None),
        Event::Invited { .. }
        | Event::Joined { .. }
        | Event::Asked { .. }
        | Event::MoveMade { .. }
        | Event::AnswerIgnored { .. }
        | Event::StepTaken
        | Event::NumberDrawn { .. }
        | Event::Acknowledged => (Level::Debug, None),
    }
}

/// The code that stands for a call which brought no usable answer.
pub(super) fn code_of(error: &AskError) -> Option<Code> {
    match error {
        AskError::Call(error) => Some(talk::code_of(error)),
        AskError::Decode(error) => Some(error.code),
        AskError::Refused { report, .. } => report.as_ref().and_then(|report| report.code.known()),
        AskError::Frame { source, .. } => Some(source.code),
        AskError::WrongId { .. } | AskError::Deviates(_) => Some(Code::InvalidRequest),
    }
}

/// The referee's page of figures.
pub(super) fn figures() -> Answer {
    let meter = Meter::of(Component::Referee);
    let mut page = meter.page();
    page.single(
        ("league_matches_running", Kind::Gauge),
        "Matches that this referee has in hand.",
        meter.running.get(),
    );
    Answer::metrics(page.finish())
}

fn in_words(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}
