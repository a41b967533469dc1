//! Every no of a league, as a code of the catalogue.

use league_agent::desk;
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
        Refusal::UnsupportedVersion { got } => {
            let (min, current) = (ProtocolVersion::OLDEST, ProtocolVersion::CURRENT);
            let context = format!(
                r#"{{"agent_version":"{got}","min_supported":"{min}","current":"{current}"}}"#
            );
            report.context = Fragment::parse(&context);
        }
        Refusal::UnknownMatch(match_id)
        | Refusal::NotYourMatch { match_id, .. }
        | Refusal::StaleAttempt { match_id, .. }
        | Refusal::ConflictingResult(match_id)
        | Refusal::FalseReport { match_id, .. }
        | Refusal::TooManyAnnulments(match_id) => report.match_id = Some(*match_id),
        Refusal::BadProfile(_)
        | Refusal::UnsupportedGame(_)
        | Refusal::AlreadyRegistered(_)
        | Refusal::LeagueFull { .. }
        | Refusal::TooManyReferees { .. }
        | Refusal::LateRegistration
        | Refusal::AlreadyStarted
        | Refusal::TooFewPlayers { .. }
        | Refusal::NoReferee => {}
    }
    report
}

const fn code(refusal: &Refusal) -> Code {
    match refusal {
        Refusal::BadProfile(_) => Code::E003,
        Refusal::UnsupportedVersion { .. } => Code::E018,
        Refusal::UnsupportedGame(_) => Code::L001,
        Refusal::AlreadyRegistered(_) => Code::L003,
        Refusal::LeagueFull { .. } | Refusal::TooManyReferees { .. } => Code::L002,
        Refusal::LateRegistration => Code::E019,
        Refusal::AlreadyStarted => Code::G005,
        Refusal::TooFewPlayers { .. } | Refusal::NoReferee => Code::L001,
        Refusal::UnknownMatch(_) => Code::G003,
        Refusal::NotYourMatch { .. } | Refusal::StaleAttempt { .. } => Code::E030,
        Refusal::ConflictingResult(_) => Code::E032,
        Refusal::FalseReport { .. } | Refusal::TooManyAnnulments(_) => Code::E031,
    }
}
