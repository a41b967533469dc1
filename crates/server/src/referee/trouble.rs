//! What a referee says when something goes wrong: GAME_ERROR, and the reasons of losses.

use std::time::Duration;

use league_core::game::Options;
use league_core::policy::{Policy, RuleSet};
use league_core::referee::{Asking, Failure, Fault, Invitation, Loss, Match, Phase, Trouble};
use league_core::seat::Seat;
use league_core::time::Timestamp;
use league_wire::message::{ErrorReport, Retry};
use league_wire::{Code, DecodeError, Dialect, Message, MessageType};

use super::heard::{Remark, UNPROVED};
use super::outbound::{Letters, state};

/// What a player can do about a match that it has lost.
const NO_MORE: &str = "Nothing in this match any more; for the next one";

/// What a player can do whose answer is nothing of the protocol.
const RESPOND: &str = "Answer with HTTP 200 and one JSON-RPC 2.0 response that repeats the call's id \
                       and has the expected message as its result";
/// What a player can do whose answer does not prove itself.
const PROVE: &str = "Send this match's proof or your token as auth_token of the answer, or none";

impl Letters {
    /// What went wrong at `seat`. `remark` is what came instead of an answer, if anything did.
    pub(super) fn game_error(
        &self,
        machine: &Match,
        seat: Seat,
        trouble: &Trouble,
        remark: Option<&Remark>,
    ) -> Message {
        let policy = machine.policy();
        let dialect = self.dialect(seat);
        let report = match trouble {
            Trouble::AttemptFailed { attempt, failure, retry_at } => {
                let max = told_retries(policy, policy.choice_attempts());
                let retry = Some(Retry { count: *attempt, max, next_at: Some(*retry_at) });
                let deadline = Some(*retry_at + policy.choice_timeout());
                let (code, text) = failure_of(*failure);
                let report = explained(code, text, remark);
                let report = with_silence(report, *failure, self.choice_silence(policy), dialect);
                ErrorReport { retryable: true, retry, deadline, ..report }
            }
            Trouble::Invalid { fault, got, count } => {
                let max = told_retries(policy, policy.invalid_choices_max());
                let retry = Some(Retry { count: *count, max, next_at: None });
                let deadline = open_until(machine, seat);
                let report = refused((machine, seat), *fault, got, remark);
                ErrorReport { retryable: true, retry, deadline, ..report }
            }
            Trouble::Lost(loss) => {
                let report = match loss {
                    Loss::InvalidMove { fault, got } => {
                        refused((machine, seat), *fault, got, remark)
                    }
                    Loss::Declined { .. } | Loss::NotJoined(_) | Loss::NoMove(_) => {
                        let words = Words { machine, remark: None, is_discreet: false };
                        let (code, text) = words.loss(seat, loss);
                        explained(code, &text, remark)
                    }
                };
                let report = self.lost(report, loss, policy, dialect);
                let action_required = format!("{NO_MORE}: {}", report.action_required);
                ErrorReport {
                    retryable: false,
                    retry: used_up(policy, loss),
                    action_required,
                    ..report
                }
            }
        };
        let consequence = match trouble {
            Trouble::Lost(_) => "TECHNICAL_LOSS",
            Trouble::AttemptFailed { .. } | Trouble::Invalid { .. } => {
                "TECHNICAL_LOSS after the last attempt"
            }
        };
        self.addressed(machine, seat, ErrorReport { consequence: consequence.into(), ..report })
    }

    /// What a player is told whose answer shows a token that is not its own; nothing if no answer
    /// is awaited any more.
    pub(super) fn unproved(&self, machine: &Match, seat: Seat) -> Option<Message> {
        let deadline = Some(open_until(machine, seat)?);
        let policy = machine.policy();
        let max = told_retries(policy, policy.choice_attempts());
        let retry = Some(Retry { count: 0, max, next_at: None });
        let text = "the auth_token of the answer is neither this match's proof nor your token; \
                    send one of them, or none on the connection that we opened";
        let consequence = "the answer is not counted, as if it had not come".into();
        let report = ErrorReport::new(Code::E012, text);
        let report = ErrorReport { retryable: true, retry, deadline, consequence, ..report };
        Some(self.addressed(machine, seat, report))
    }

    fn lost(
        &self,
        report: ErrorReport,
        loss: &Loss,
        policy: &Policy,
        dialect: Dialect,
    ) -> ErrorReport {
        match loss {
            Loss::NotJoined(failure) => {
                let silence = (policy.invitation_timeout(), MessageType::GameJoinAck);
                with_silence(report, *failure, silence, dialect)
            }
            Loss::NoMove(failure) => {
                with_silence(report, *failure, self.choice_silence(policy), dialect)
            }
            Loss::Declined { .. } | Loss::InvalidMove { .. } => report,
        }
    }

    fn choice_silence(&self, policy: &Policy) -> (Duration, MessageType) {
        let expected = self.call_kind().answers().first();
        (policy.choice_timeout(), *expected.expect("a call for a move has an answer"))
    }

    fn addressed(&self, machine: &Match, seat: Seat, report: ErrorReport) -> Message {
        Message::GameError(ErrorReport {
            match_id: Some(self.order.match_id),
            affected_player: Some(self.player(seat)),
            game_state: Some(state(machine.state())),
            ..report
        })
    }
}

/// Document 002 calls three attempts three retries; document 000 counts those after the first.
const fn told_retries(policy: &Policy, attempts: u32) -> u32 {
    match policy.rule_set() {
        RuleSet::V21 => attempts,
        RuleSet::V20 => attempts.saturating_sub(1),
    }
}

/// The figures of a step in which there were attempts, when none is left.
fn used_up(policy: &Policy, loss: &Loss) -> Option<Retry> {
    let attempts = match loss {
        Loss::NoMove(_) => policy.choice_attempts(),
        Loss::InvalidMove { .. } => policy.invalid_choices_max(),
        Loss::Declined { .. } | Loss::NotJoined(_) => return None,
    };
    let max = told_retries(policy, attempts);
    Some(Retry { count: max, max, next_at: None })
}

/// The error `code`, unless the player's own words give a better one.
fn explained(code: Code, text: &str, remark: Option<&Remark>) -> ErrorReport {
    match remark {
        None => ErrorReport::new(code, text),
        Some(Remark::Receipt(error)) => {
            let report =
                ErrorReport::new(code, format!("{text}; what came was no answer: {error}"));
            ErrorReport { action_required: error.fix.clone().into_owned(), ..report }
        }
        Some(Remark::Unreadable(error)) => {
            let description = format!("the answer cannot be read: {error}");
            ErrorReport { description, ..ErrorReport::from(error) }
        }
        Some(Remark::Unproved) => {
            let report = ErrorReport::new(code, format!("{text}; what came was {UNPROVED}"));
            ErrorReport { action_required: PROVE.into(), ..report }
        }
        Some(Remark::Unreached(why)) => ErrorReport::new(code, why.clone()),
        Some(Remark::Other { words, fix }) => {
            let report =
                ErrorReport::new(code, format!("{text}; what came was no answer: {words}"));
            let fix = fix.clone().unwrap_or_else(|| RESPOND.into());
            ErrorReport { action_required: fix, ..report }
        }
    }
}

/// An invalid choice, with where it stood and what to change if it could not even be read.
fn refused(
    (machine, seat): (&Match, Seat),
    fault: Fault,
    got: &str,
    remark: Option<&Remark>,
) -> ErrorReport {
    let words = Words { machine, remark: None, is_discreet: false };
    let (code, text) = (fault_code(fault), words.invalid(seat, fault, got));
    let report = match remark {
        Some(Remark::Unreadable(error)) => {
            let description = format!("{text}: {error}");
            let code = ErrorReport::new(code, "").code;
            ErrorReport { code, description, ..ErrorReport::from(error) }
        }
        Some(
            Remark::Receipt(_) | Remark::Unproved | Remark::Unreached(_) | Remark::Other { .. },
        )
        | None => ErrorReport::new(code, text),
    };
    match machine.options(seat) {
        // The catalogue's advice is about words.
        Some(options @ (Options::Range(..) | Options::Numbers(_)))
            if fault == Fault::IllegalMove =>
        {
            ErrorReport { action_required: format!("Send {options} as move_data"), ..report }
        }
        Some(Options::Words(_) | Options::Range(..) | Options::Numbers(_)) | None => report,
    }
}

/// Until when an answer of `seat` counts.
fn open_until(machine: &Match, seat: Seat) -> Option<Timestamp> {
    match machine.phase() {
        Phase::Inviting(seats) => match seats[seat] {
            Invitation::Sent { deadline } | Invitation::Undelivered { deadline, .. } => {
                Some(deadline)
            }
            Invitation::Due
            | Invitation::Postponed { .. }
            | Invitation::Accepted
            | Invitation::Lost => None,
        },
        Phase::Collecting { seats, .. } => match seats[seat] {
            Asking::Open { deadline, .. } => Some(deadline),
            Asking::Between { retry_at, .. } => Some(retry_at + machine.policy().choice_timeout()),
            Asking::Idle | Asking::Due | Asking::Given(_) | Asking::Lost => None,
        },
        Phase::Pending
        | Phase::Drawing { .. }
        | Phase::Evaluating { .. }
        | Phase::Decided { .. }
        | Phase::Annulled { .. } => None,
    }
}

/// What was waited for, and how long, unless there is something better to say.
fn with_silence(
    report: ErrorReport,
    failure: Failure,
    (waited, expected): (Duration, MessageType),
    dialect: Dialect,
) -> ErrorReport {
    match failure {
        Failure::Silence if report.context.is_none() => {
            report.waited(waited, expected.name(dialect))
        }
        Failure::Silence | Failure::Unreachable => report,
    }
}

pub(super) const fn failure_of(failure: Failure) -> (Code, &'static str) {
    match failure {
        Failure::Silence => (Code::E001, "no answer in time"),
        Failure::Unreachable => {
            (Code::E009, "the endpoint could not be reached or gave no usable answer")
        }
    }
}

pub(super) const fn fault_code(fault: Fault) -> Code {
    match fault {
        Fault::IllegalMove => Code::E004,
        Fault::MissingField => Code::E003,
        Fault::WrongMatch => Code::E015,
    }
}

/// Says what went wrong.
pub(super) struct Words<'a> {
    /// The match.
    pub(super) machine: &'a Match,
    /// What came instead of an answer, if anything did.
    pub(super) remark: Option<&'a Remark>,
    /// Whether somebody may hear it who must not know yet what a player chose.
    pub(super) is_discreet: bool,
}

impl Words<'_> {
    /// What is wrong with a choice, and what came.
    pub(super) fn invalid(&self, seat: Seat, fault: Fault, got: &str) -> String {
        let got = if self.is_discreet { "[hidden]" } else { got };
        match (fault, self.machine.options(seat), self.remark) {
            (Fault::IllegalMove, Some(options), _) => {
                format!("Choice must be {options}, got '{got}'")
            }
            (Fault::IllegalMove, None, _) => {
                format!("Choice is not one of the options, got '{got}'")
            }
            (Fault::MissingField, _, Some(Remark::Unreadable(error))) => {
                format!("A required field is missing or cannot be used: {}", self.short(error))
            }
            (Fault::MissingField, ..) => "A required field is missing or cannot be used".into(),
            (Fault::WrongMatch, _, Some(Remark::Unreadable(error))) => {
                format!("The answer names another match: {}", self.short(error))
            }
            (Fault::WrongMatch, ..) => "The answer names another match".into(),
        }
    }

    /// Why a call brought no answer, and the code for it.
    pub(super) fn failure(&self, failure: Failure) -> (Code, String) {
        let (code, text) = failure_of(failure);
        match self.remark {
            None => (code, text.into()),
            Some(Remark::Receipt(error)) => {
                (code, format!("only a receipt came, and no answer: {}", self.short(error)))
            }
            Some(Remark::Unreadable(error)) => {
                (error.code, format!("the answer cannot be read: {}", self.short(error)))
            }
            Some(Remark::Unproved) => (Code::E012, format!("the answer was {UNPROVED}")),
            Some(Remark::Unreached(why)) => (Code::E009, why.clone()),
            Some(Remark::Other { words, .. }) => {
                (Code::E009, format!("what came was no usable answer: {words}"))
            }
        }
    }

    /// Why a player lost technically, and the code for it.
    pub(super) fn loss(&self, seat: Seat, loss: &Loss) -> (Code, String) {
        match loss {
            Loss::Declined { reason } => {
                let reason = reason.as_deref().unwrap_or("no reason given");
                (Code::E001, format!("refused the invitation: {reason}"))
            }
            Loss::NotJoined(failure) => {
                let (code, text) = self.failure(*failure);
                (code, format!("did not join: {text}"))
            }
            Loss::NoMove(failure) => {
                let (code, text) = self.failure(*failure);
                (code, format!("did not choose: {text}"))
            }
            Loss::InvalidMove { fault, got } => {
                (fault_code(*fault), self.invalid(seat, *fault, got))
            }
        }
    }

    fn short(&self, error: &DecodeError) -> String {
        if self.is_discreet { error.without_choice().in_full() } else { error.in_full() }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use league_core::game;

    use super::*;

    fn machine() -> Match {
        let policy = Arc::new(Policy::build(RuleSet::V21, []).unwrap());
        let game = game::by_name("even_odd").unwrap();
        Match::new("R1M1".parse().unwrap(), &*game, policy)
    }

    fn other() -> Remark {
        Remark::Other { words: "HTTP status 500".into(), fix: None }
    }

    #[test]
    fn the_log_is_not_told_what_was_chosen() {
        let machine = machine();
        let told = |is_discreet| {
            let words = Words { machine: &machine, remark: None, is_discreet };
            let loss = Loss::InvalidMove { fault: Fault::IllegalMove, got: "BADodd".into() };
            words.loss(Seat::A, &loss)
        };
        assert_eq!(told(false).0, Code::E004);
        assert!(told(false).1.ends_with("got 'BADodd'"), "{}", told(false).1);
        assert!(told(true).1.ends_with("got '[hidden]'"), "{}", told(true).1);
    }

    #[test]
    fn what_came_is_the_reason_and_silence_only_where_nothing_came() {
        let machine = machine();
        let told = |remark: Option<Remark>| {
            let words = Words { machine: &machine, remark: remark.as_ref(), is_discreet: false };
            words.failure(Failure::Silence)
        };
        assert_eq!(told(None), (Code::E001, "no answer in time".into()));
        let unproved = told(Some(Remark::Unproved));
        assert_eq!(unproved.0, Code::E012);
        assert!(unproved.1.contains("refused as unproved"), "{}", unproved.1);
        let broken = told(Some(Remark::Unreached("the connection broke off: reset".into())));
        assert_eq!(broken, (Code::E009, "the connection broke off: reset".into()));
        let other = told(Some(other()));
        assert!(other.1.ends_with("HTTP status 500"), "{}", other.1);
    }

    #[test]
    fn what_to_do_is_what_was_wrong_and_haste_only_where_nothing_came() {
        let told = |remark: Option<Remark>| {
            explained(Code::E001, "no answer in time", remark.as_ref()).action_required
        };
        assert_eq!(told(None), "Answer before the deadline");
        let error = DecodeError::too_long("result.protocol", 9, 3);
        let fix = error.fix.to_string();
        assert!(!fix.is_empty());
        assert_eq!(told(Some(Remark::Receipt(error))), fix);
        assert_eq!(told(Some(other())), RESPOND);
        let known = Remark::Other { words: "no".into(), fix: Some("say yes".into()) };
        assert_eq!(told(Some(known)), "say yes");
        assert_eq!(told(Some(Remark::Unproved)), PROVE);
    }
}
