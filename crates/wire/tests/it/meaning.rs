//! What is left of a letter in a dialect that has fewer words.

use league_wire::message::{ErrorCode, ErrorReport, RegisterResponse};
use league_wire::{Code, Dialect, Letter, MatchState, Message, MessageType};

/// The letter as a reader of `dialect` understands it.
pub(crate) fn told(dialect: Dialect, letter: &Letter) -> Letter {
    let mut letter = letter.clone();
    if dialect == Dialect::Payload {
        fewer_words(&mut letter.message);
    }
    letter
}

fn fewer_words(message: &mut Message) {
    match message {
        Message::LeagueError(report) | Message::GameError(report) => error(report),
        Message::LeagueRegisterResponse(RegisterResponse::Rejected(report)) => error(report),
        Message::RefereeRegisterResponse(RegisterResponse::Rejected(report)) => error(report),
        Message::GameInvitation(it) => state(&mut it.game_state),
        Message::GameStart(it) => state(&mut it.game_state),
        Message::ChooseParityCall(it) => state(&mut it.game_state),
        Message::GameMoveCall(it) => state(&mut it.game_state),
        Message::GameOver(it) => state(&mut it.game_state),
        Message::MatchResultReport(it) => state(&mut it.game_state),
        Message::Ack(ack) => ack.of = ack.of.map(first_of_its_name),
        _ => {}
    }
}

fn error(report: &mut ErrorReport) {
    state(&mut report.game_state);
    if let ErrorCode::Known(code) = &mut report.code {
        *code = match *code {
            Code::E001 => Code::G002,
            Code::E002 | Code::E004 => Code::G001,
            Code::E005 | Code::E013 => Code::L004,
            Code::E014 => Code::L005,
            Code::E018 | Code::E019 => Code::L001,
            Code::E015 => Code::G003,
            other => other,
        };
    }
}

fn state(state: &mut Option<MatchState>) {
    *state = state.map(|state| match state {
        MatchState::Pending | MatchState::Inviting => MatchState::Inviting,
        MatchState::Completed | MatchState::Aborted => MatchState::Completed,
        MatchState::CollectingChoices | MatchState::Evaluating => state,
    });
}

fn first_of_its_name(kind: MessageType) -> MessageType {
    match kind {
        MessageType::GameMoveCall => MessageType::ChooseParityCall,
        MessageType::GameMoveResponse => MessageType::ChooseParityResponse,
        MessageType::LeagueCompleted => MessageType::LeagueStandingsUpdate,
        other => other,
    }
}
