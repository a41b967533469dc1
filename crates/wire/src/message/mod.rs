//! Every message in its canonical form: one struct, one reader, one writer each.

mod about;
mod choice;
mod course;
mod error;
mod history;
mod invitation;
mod notice;
mod order_name;
mod over;
mod query;
mod registration;
mod report;
mod round;
mod standings;
mod start;

pub use choice::{MoveCall, MoveResponse, ParityCall, ParityResponse};
pub use course::{GameStart, MatchOutcome, RoundResult, RoundStart};
pub use error::{ErrorCode, ErrorReport, Retry};
pub use history::PastGame;
pub use invitation::{GameInvitation, GameJoinAck};
pub use notice::{Ack, Ping, Pong, SuspensionNotice};
pub use order_name::OrderName;
pub use over::{GameOver, GameOverAck, PlayerLine};
pub use query::{LeagueQuery, LeagueQueryResponse};
pub use registration::{
    Meta, PlayerRegistration, RefereeRegistration, RegisterResponse, Registrant,
};
pub use report::{MatchResultAck, MatchResultReport, ReportedPlayer};
pub use round::{
    AnnouncedMatch, Champion, LeagueCompleted, Officiated, RoundAnnouncement, RoundCompleted,
};
pub use standings::{StandingRow, StandingsUpdate};
pub use start::{
    AssignedMatches, AssignedPlayer, Assignment, GetAssignedMatches, MatchProgress,
    MatchProgressAck, StartLeague, StartMatch, StartMatchAck,
};

use league_core::id::{PlayerId, RefereeId};

use crate::decode::DecodeError;
use crate::dialect::Dialect;
use crate::fields::Fields;
use crate::nearest::nearest;
use crate::write::Object;

/// How a message's own fields are read and written, in every shape.
pub(crate) trait Body: Sized {
    /// Reads the fields.
    fn read(f: &Fields<'_>) -> Result<Self, DecodeError>;
    /// Describes the fields to the writer.
    fn write(&self, o: &mut Object<'_>);
    /// How many bytes of it are long pieces that were encoded before: the writer makes room once.
    fn encoded_bytes(&self) -> usize {
        0
    }
}

macro_rules! messages {
    ($(
        $(#[$doc:meta])*
        $variant:ident($body:ty), $name:literal $(/ $v21:literal)? $(| $payload:literal)?,
            $method:literal;
    )*) => {
        /// A message of the protocol.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum Message {
            $($(#[$doc])* $variant($body),)*
            /// A message of this type, of which its reader wanted to see only the envelope.
            Unread(MessageType),
        }

        /// The type of a message.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum MessageType {
            $($(#[$doc])* $variant,)*
        }

        impl Message {
            /// The message's type.
            pub const fn kind(&self) -> MessageType {
                match self {
                    $(Self::$variant(_) => MessageType::$variant,)*
                    Self::Unread(kind) => *kind,
                }
            }

            pub(crate) fn read(kind: MessageType, f: &Fields<'_>) -> Result<Self, DecodeError> {
                match kind {
                    $(MessageType::$variant => <$body>::read(f).map(Self::$variant),)*
                }
            }

            pub(crate) fn write(&self, o: &mut Object<'_>) {
                match self {
                    $(Self::$variant(body) => body.write(o),)*
                    Self::Unread(_) => unreachable!("what was not read is not written"),
                }
            }

            pub(crate) fn encoded_bytes(&self) -> usize {
                match self {
                    $(Self::$variant(body) => body.encoded_bytes(),)*
                    Self::Unread(_) => 0,
                }
            }
        }

        impl MessageType {
            /// Every type.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name in documents 000, 001 and 003.
            const fn plain_name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// The name in document 002, where it has one of its own.
            const fn v21_name(self) -> Option<&'static str> {
                match self {
                    $(Self::$variant => messages!(@own $($v21)?),)*
                }
            }

            /// The name in document 004, where it has one of its own.
            const fn payload_name(self) -> Option<&'static str> {
                match self {
                    $(Self::$variant => messages!(@own $($payload)?),)*
                }
            }

            /// The type that documents 000 to 003 call `name`.
            pub fn find(name: &str) -> Option<Self> {
                match name {
                    $($name $(| $v21)? => Some(Self::$variant),)*
                    _ => OrderName::find(name).map(|_| Self::StartMatch),
                }
            }

            fn by_flat_method(method: &str) -> Option<Self> {
                match method {
                    $($method => Some(Self::$variant),)*
                    _ => None,
                }
            }

            const fn flat_method(self) -> &'static str {
                match self {
                    $(Self::$variant => $method,)*
                }
            }
        }
    };
    (@own) => { None };
    (@own $name:literal) => { Some($name) };
}

messages! {
    /// A referee wants to join a league.
    RefereeRegisterRequest(RefereeRegistration), "REFEREE_REGISTER_REQUEST", "register_referee";
    /// The answer to a referee's registration.
    RefereeRegisterResponse(RegisterResponse<RefereeId>),
        "REFEREE_REGISTER_RESPONSE", "referee_register_response";
    /// A player wants to join a league.
    LeagueRegisterRequest(PlayerRegistration),
        "LEAGUE_REGISTER_REQUEST" | "PLAYER_REGISTER_REQUEST", "register_player";
    /// The answer to a player's registration.
    LeagueRegisterResponse(RegisterResponse<PlayerId>),
        "LEAGUE_REGISTER_RESPONSE" | "PLAYER_REGISTER_RESPONSE", "league_register_response";
    /// The administrator starts a league.
    StartLeague(StartLeague), "START_LEAGUE", "start_league";
    /// A round and its matches.
    RoundAnnouncement(RoundAnnouncement), "ROUND_ANNOUNCEMENT", "notify_round";
    /// Every result of a round is recorded.
    RoundCompleted(RoundCompleted), "ROUND_COMPLETED" | "ROUND_END", "notify_round_completed";
    /// The first match of a round is about to begin.
    RoundStart(RoundStart), "ROUND_START", "notify_round_start";
    /// How the matches of a round ended.
    RoundResult(RoundResult), "ROUND_RESULT", "notify_round_result";
    /// A referee is given a match.
    StartMatch(StartMatch), "START_MATCH", "start_match";
    /// The referee has taken the match, or not.
    StartMatchAck(StartMatchAck), "START_MATCH_ACK", "start_match_ack";
    /// A referee is at work on its match.
    MatchProgress(MatchProgress), "MATCH_PROGRESS", "match_progress";
    /// The match stays with the referee, or not.
    MatchProgressAck(MatchProgressAck), "MATCH_PROGRESS_ACK", "match_progress_ack";
    /// A referee asks for its matches.
    GetAssignedMatches(GetAssignedMatches), "GET_ASSIGNED_MATCHES", "get_assigned_matches";
    /// The matches assigned to a referee.
    AssignedMatches(AssignedMatches), "ASSIGNED_MATCHES", "assigned_matches";
    /// A player is invited to a match.
    GameInvitation(GameInvitation), "GAME_INVITATION" | "GAME_INVITE", "handle_game_invitation";
    /// The player takes part, or not.
    GameJoinAck(GameJoinAck), "GAME_JOIN_ACK" | "GAME_INVITE_RESPONSE", "game_join_ack";
    /// Both players take part.
    GameStart(GameStart), "GAME_START", "notify_game_start";
    /// A player is asked for even or odd.
    ChooseParityCall(ParityCall),
        "CHOOSE_PARITY_CALL" / "CHOOSE_PARITY" | "MOVE_REQUEST", "choose_parity";
    /// The player's choice.
    ChooseParityResponse(ParityResponse),
        "CHOOSE_PARITY_RESPONSE" / "PARITY_CHOICE" | "MOVE_RESPONSE", "choose_parity_response";
    /// A player is asked for a move in another game.
    GameMoveCall(MoveCall), "GAME_MOVE_CALL" | "MOVE_REQUEST", "game_move_call";
    /// The player's move.
    GameMoveResponse(MoveResponse), "GAME_MOVE_RESPONSE" | "MOVE_RESPONSE", "game_move_response";
    /// How a match ended, for its players.
    GameOver(GameOver), "GAME_OVER" | "GAME_RESULT", "notify_match_result";
    /// The player knows how the match ended.
    GameOverAck(GameOverAck), "GAME_OVER_ACK", "game_over_ack";
    /// How a match ended, for the manager.
    MatchResultReport(MatchResultReport),
        "MATCH_RESULT_REPORT" | "MATCH_RESULT", "report_match_result";
    /// The result is recorded.
    MatchResultAck(MatchResultAck), "MATCH_RESULT_ACK", "match_result_ack";
    /// The standings as they are.
    LeagueStandingsUpdate(StandingsUpdate),
        "LEAGUE_STANDINGS_UPDATE" / "STANDINGS_UPDATE", "update_standings";
    /// The league is over.
    LeagueCompleted(LeagueCompleted),
        "LEAGUE_COMPLETED" | "LEAGUE_STANDINGS_UPDATE", "notify_league_completed";
    /// A question about the league.
    LeagueQuery(LeagueQuery), "LEAGUE_QUERY", "league_query";
    /// The answer to a question.
    LeagueQueryResponse(LeagueQueryResponse), "LEAGUE_QUERY_RESPONSE", "league_query_response";
    /// The agent plays no matches until it recovers.
    SuspensionNotice(SuspensionNotice), "SUSPENSION_NOTICE", "notify_suspension";
    /// Are you there?
    Ping(Ping), "PING", "ping";
    /// I am.
    Pong(Pong), "PONG", "pong";
    /// Heard; the answer to notifications.
    Ack(Ack), "ACK", "ack";
    /// Something is wrong with a message or an agent.
    LeagueError(ErrorReport), "LEAGUE_ERROR", "league_error";
    /// Something is wrong in a match.
    GameError(ErrorReport), "GAME_ERROR", "notify_game_error";
}

impl Message {
    /// The report inside LEAGUE_ERROR and GAME_ERROR.
    pub(crate) const fn error(&self) -> Option<&ErrorReport> {
        if let Self::LeagueError(report) | Self::GameError(report) = self {
            Some(report)
        } else {
            None
        }
    }
}

impl MessageType {
    /// The name in `dialect`.
    pub const fn name(self, dialect: Dialect) -> &'static str {
        let own = match dialect {
            Dialect::V21 => self.v21_name(),
            Dialect::Payload => self.payload_name(),
            Dialect::Flat | Dialect::Typed | Dialect::Enveloped => None,
            Dialect::Tool | Dialect::Wrapped => None,
        };
        match own {
            Some(name) => name,
            None => self.plain_name(),
        }
    }

    /// The method under which `dialect` sends it.
    pub const fn method(self, dialect: Dialect) -> &'static str {
        match dialect {
            Dialect::Flat | Dialect::V21 => self.flat_method(),
            Dialect::Typed => self.plain_name(),
            Dialect::Payload => self.name(dialect),
            Dialect::Enveloped => HANDLE,
            Dialect::Tool => CALL_TOOL,
            Dialect::Wrapped => HANDLE_MESSAGE,
        }
    }

    /// The type that is called by `method` where each message has a method of its own, and whether
    /// the method is the type itself.
    pub(crate) fn by_method(method: &str) -> Option<(Self, bool)> {
        if let Some(kind) = Self::by_flat_method(method) {
            return Some((kind, false));
        }
        if method.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return Self::find(method).map(|kind| (kind, true));
        }
        Self::find(&method.to_ascii_uppercase()).map(|kind| (kind, false))
    }

    /// The method that somebody who called `method` probably meant.
    pub(crate) fn nearest_method(method: &str) -> Option<&'static str> {
        nearest(method, Self::ALL.iter().map(|kind| kind.flat_method()))
    }

    /// The type that somebody who wrote `name` in `dialect` probably meant.
    pub(crate) fn nearest_name(name: &str, dialect: Dialect) -> Option<&'static str> {
        nearest(name, Self::ALL.iter().map(|kind| kind.name(dialect)))
    }

    /// The type called `name` in `dialect`; the first of them where there are several.
    pub fn find_in(dialect: Dialect, name: &str) -> Option<Self> {
        if dialect != Dialect::Payload {
            return Self::find(name);
        }
        let mut own = Self::ALL.iter().copied();
        own.find(|kind| kind.name(dialect) == name).or_else(|| Self::find(name))
    }

    pub(crate) fn is_called(self, name: &str) -> bool {
        self.plain_name() == name || self.v21_name() == Some(name)
    }

    /// Whether document 002 has a name of its own for it, and this is it.
    pub(crate) fn is_v21_name(self, name: &str) -> bool {
        self.v21_name() == Some(name)
    }

    /// The object in which a registration describes the agent; other messages have none.
    pub(crate) fn meta_field(self) -> Option<&'static str> {
        let player = (self == Self::LeagueRegisterRequest).then_some(registration::PLAYER_META);
        player.or_else(|| {
            (self == Self::RefereeRegisterRequest).then_some(registration::REFEREE_META)
        })
    }

    /// Whether a player answers with it in a match.
    pub(crate) const fn is_players_answer(self) -> bool {
        matches!(self, Self::GameJoinAck | Self::ChooseParityResponse | Self::GameMoveResponse)
    }

    /// Whether its `auth_token` is a new token for the receiver.
    pub(crate) const fn grants_token(self) -> bool {
        matches!(self, Self::RefereeRegisterResponse | Self::LeagueRegisterResponse)
    }

    /// The types that answer it; none if any answer will do.
    pub const fn answers(self) -> &'static [Self] {
        match self {
            Self::RefereeRegisterRequest => &[Self::RefereeRegisterResponse],
            Self::LeagueRegisterRequest => &[Self::LeagueRegisterResponse],
            Self::StartMatch => &[Self::StartMatchAck],
            Self::MatchProgress => &[Self::MatchProgressAck],
            Self::GetAssignedMatches => &[Self::AssignedMatches],
            Self::GameInvitation => &[Self::GameJoinAck],
            Self::ChooseParityCall => &[Self::ChooseParityResponse],
            Self::GameMoveCall => &[Self::GameMoveResponse],
            Self::MatchResultReport => &[Self::MatchResultAck],
            Self::LeagueQuery => &[Self::LeagueQueryResponse],
            Self::RefereeRegisterResponse | Self::LeagueRegisterResponse | Self::StartLeague => &[],
            Self::RoundAnnouncement | Self::RoundCompleted | Self::LeagueCompleted => &[],
            Self::RoundStart | Self::RoundResult | Self::GameStart => &[],
            Self::LeagueStandingsUpdate | Self::SuspensionNotice => &[],
            Self::StartMatchAck | Self::MatchProgressAck | Self::AssignedMatches => &[],
            Self::GameJoinAck | Self::ChooseParityResponse | Self::GameMoveResponse => &[],
            Self::GameOverAck | Self::MatchResultAck | Self::LeagueQueryResponse => &[],
            Self::GameOver | Self::Ping => &[],
            Self::Pong | Self::Ack | Self::LeagueError | Self::GameError => &[],
        }
    }
}

/// The one method of the dialect that has an envelope.
pub(crate) const HANDLE: &str = "league.handle";
/// The one method of the dialect of tools.
pub(crate) const CALL_TOOL: &str = "tools/call";
/// The one method of the dialect that wraps messages.
pub(crate) const HANDLE_MESSAGE: &str = "handle_message";
