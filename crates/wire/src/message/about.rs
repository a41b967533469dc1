//! What a message is about, for those who only pass it on or note that it came.

use league_core::id::MatchId;

use super::Message;

impl Message {
    /// The match that it is about, if it is about one.
    pub fn match_id(&self) -> Option<MatchId> {
        match self {
            Self::StartMatch(it) => Some(it.match_id),
            Self::StartMatchAck(it) => Some(it.match_id),
            Self::MatchProgress(it) => Some(it.match_id),
            Self::MatchProgressAck(it) => Some(it.match_id),
            Self::GameInvitation(it) => Some(it.match_id),
            Self::GameJoinAck(it) => Some(it.match_id),
            Self::GameStart(it) => Some(it.match_id),
            Self::ChooseParityCall(it) => Some(it.match_id),
            Self::ChooseParityResponse(it) => Some(it.match_id),
            Self::GameMoveCall(it) => Some(it.match_id),
            Self::GameMoveResponse(it) => Some(it.match_id),
            Self::GameOver(it) => Some(it.match_id),
            Self::GameOverAck(it) => Some(it.match_id),
            Self::MatchResultReport(it) => Some(it.match_id),
            Self::MatchResultAck(it) => Some(it.match_id),
            Self::LeagueQuery(it) => it.match_id,
            Self::LeagueError(it) | Self::GameError(it) => it.match_id,
            Self::RefereeRegisterRequest(_)
            | Self::RefereeRegisterResponse(_)
            | Self::LeagueRegisterRequest(_)
            | Self::LeagueRegisterResponse(_)
            | Self::StartLeague(_)
            | Self::RoundAnnouncement(_)
            | Self::RoundCompleted(_)
            | Self::RoundStart(_)
            | Self::RoundResult(_)
            | Self::GetAssignedMatches(_)
            | Self::AssignedMatches(_)
            | Self::LeagueStandingsUpdate(_)
            | Self::LeagueCompleted(_)
            | Self::LeagueQueryResponse(_)
            | Self::SuspensionNotice(_)
            | Self::Ping(_)
            | Self::Pong(_)
            | Self::Ack(_)
            | Self::Unread(_) => None,
        }
    }
    /// The attempt at a match that it is about, if it says which.
    #[expect(clippy::wildcard_enum_match_arm, reason = "only what a match asks says it")]
    pub const fn attempt(&self) -> Option<u32> {
        match self {
            Self::GameInvitation(it) => it.attempt,
            Self::GameStart(it) => it.attempt,
            Self::ChooseParityCall(it) => it.attempt,
            Self::GameMoveCall(it) => it.attempt,
            Self::GameOver(it) => it.attempt,
            _ => None,
        }
    }
}
