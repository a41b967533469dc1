//! Every no of a league, as a code of the catalogue.

use std::fmt::Display;

use league_agent::desk;
use league_core::limits::{GAMES_PER_AGENT_MAX, NAME_BYTES_MAX, TEXT_BYTES_MAX};
use league_core::manager::{ProtocolVersion, Refusal};
use league_wire::message::ErrorReport;
use league_wire::{Code, Fragment};

use super::AskError;

/// The error that tells the caller why not.
pub(super) fn report(error: &AskError) -> Box<ErrorReport> {
    match error {
        AskError::Refused(refusal) => refused(refusal),
        AskError::Busy => desk::refusal(Code::E033, &error.to_string()),
        AskError::Unavailable => desk::refusal(Code::E033, &error.to_string()),
    }
}

/// The error that tells the caller why a league refused.
pub(super) fn refused(refusal: &Refusal) -> Box<ErrorReport> {
    let mut report = desk::refusal(code(refusal), &refusal.to_string());
    match refusal {
        Refusal::UnsupportedVersion { got } => advise_version(&mut report, got),
        Refusal::BadProfile(what) => {
            report.description = format!(
                "the {what} is blank, too long, or holds characters that cannot be printed"
            );
            report.action_required = format!(
                "Send a display name of 1 to {NAME_BYTES_MAX} bytes, other texts of 1 to \
                 {TEXT_BYTES_MAX}, without control characters, and at most \
                 {GAMES_PER_AGENT_MAX} games"
            );
        }
        Refusal::UnknownMatch(match_id)
        | Refusal::NotYourMatch { match_id, .. }
        | Refusal::StaleAttempt { match_id, .. }
        | Refusal::ConflictingResult(match_id)
        | Refusal::DecidedOtherwise(match_id)
        | Refusal::FalseReport { match_id, .. }
        | Refusal::MatchIsStuck(match_id)
        | Refusal::NobodyElse(match_id)
        | Refusal::RoundIsOver(match_id)
        | Refusal::RoundNotOpen(match_id)
        | Refusal::NoSuchMatch(match_id) => report.match_id = Some(*match_id),
        Refusal::TooFewPlayers { .. }
        | Refusal::NoReferee
        | Refusal::NotApproved(_)
        | Refusal::RefereeAway(_) => {
            report.action_required = "Start the league when they have registered".into();
        }
        Refusal::AlreadyRegistered(agent) | Refusal::JoinCodeUsed(agent) => {
            report.action_required = format!(
                "Register with the token of {agent}; if it is lost, ask the administrator to let the \
                 place go (`league release {agent}`)"
            );
        }
        Refusal::FromElsewhere(agent) => {
            report.action_required = format!(
                "Register from that machine, or ask the administrator for a new token (`league \
                 rotate {agent}`)"
            );
        }
        Refusal::JoinsNoMore(_) => {
            report.action_required = "Name another league, and forget the token of this one".into();
        }
        Refusal::AlreadyStarted => report.action_required = "Nothing; it is running".into(),
        Refusal::UnsupportedGame(_)
        | Refusal::LeagueFull { .. }
        | Refusal::TooManyReferees { .. }
        | Refusal::LateRegistration
        | Refusal::JoinCodeNeeded
        | Refusal::UnknownJoinCode
        | Refusal::RegistrationClosed
        | Refusal::UnknownAgent(_)
        | Refusal::IsShutDown(_)
        | Refusal::OldAddressAnswers(_)
        | Refusal::ReinstateFirst(_)
        | Refusal::InGoodStanding(_)
        | Refusal::Lifecycle(_)
        | Refusal::BadReason
        | Refusal::BadAdmission(_)
        | Refusal::Completed
        | Refusal::NotCompleted
        | Refusal::Archived => {}
    }
    report
}

fn advise_version(report: &mut ErrorReport, got: &impl Display) {
    let (min, current) = (ProtocolVersion::OLDEST, ProtocolVersion::CURRENT);
    let context =
        format!(r#"{{"agent_version":"{got}","min_supported":"{min}","current":"{current}"}}"#);
    report.context = Fragment::parse(&context);
    report.action_required = format!("Speak version {current}, or one from {min} on");
}

const fn code(refusal: &Refusal) -> Code {
    match refusal {
        Refusal::BadProfile(_) => Code::E003,
        Refusal::UnsupportedVersion { .. } => Code::E018,
        Refusal::UnsupportedGame(_) => Code::L001,
        Refusal::AlreadyRegistered(_) | Refusal::FromElsewhere(_) => Code::L003,
        Refusal::LeagueFull { .. } | Refusal::TooManyReferees { .. } => Code::L002,
        Refusal::LateRegistration | Refusal::JoinsNoMore(_) | Refusal::RegistrationClosed => {
            Code::E019
        }
        Refusal::JoinCodeNeeded
        | Refusal::UnknownJoinCode
        | Refusal::JoinCodeUsed(_)
        | Refusal::IsShutDown(_) => Code::E012,
        Refusal::OldAddressAnswers(_) => Code::L003,
        Refusal::UnknownAgent(_) => Code::E013,
        Refusal::BadReason | Refusal::BadAdmission(_) => Code::E003,
        Refusal::Lifecycle(_)
        | Refusal::Completed
        | Refusal::NotCompleted
        | Refusal::Archived
        | Refusal::ReinstateFirst(_)
        | Refusal::InGoodStanding(_) => Code::L001,
        Refusal::AlreadyStarted => Code::G005,
        Refusal::TooFewPlayers { .. }
        | Refusal::NoReferee
        | Refusal::NotApproved(_)
        | Refusal::RefereeAway(_) => Code::L001,
        Refusal::UnknownMatch(_) | Refusal::NoSuchMatch(_) => Code::G003,
        Refusal::NotYourMatch { .. }
        | Refusal::StaleAttempt { .. }
        | Refusal::DecidedOtherwise(_) => Code::E030,
        Refusal::ConflictingResult(_) => Code::E032,
        Refusal::FalseReport { .. }
        | Refusal::MatchIsStuck(_)
        | Refusal::NobodyElse(_)
        | Refusal::RoundIsOver(_)
        | Refusal::RoundNotOpen(_) => Code::E031,
    }
}
