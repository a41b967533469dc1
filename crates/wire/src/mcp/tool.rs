//! The tools of the manager, and what each of them is for.

use crate::word::QueryType;

/// A tool of the manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// Answers a question about a league, as LEAGUE_QUERY does.
    Query(QueryType),
    /// Joins a league, to play in it by calling tools.
    JoinLeague,
    /// Waits for the turn of whoever has joined.
    WaitForTurn,
    /// Makes the move of whoever has joined.
    MakeMove,
    /// Has a registered player practise before its league starts.
    Practice,
    /// Registers a player.
    RegisterPlayer,
    /// Registers a referee.
    RegisterReferee,
    /// Tells a referee its matches.
    AssignedMatches,
    /// Takes a referee's report of a match.
    ReportResult,
    /// Starts a league.
    StartLeague,
}

impl Tool {
    /// Every tool, in the order in which they are listed.
    pub const ALL: [Self; 18] = [
        Self::Query(QueryType::League),
        Self::Query(QueryType::Standings),
        Self::Query(QueryType::Schedule),
        Self::Query(QueryType::NextMatch),
        Self::Query(QueryType::PlayerStats),
        Self::Query(QueryType::AgentState),
        Self::Query(QueryType::Match),
        Self::Query(QueryType::Registrations),
        Self::Query(QueryType::Games),
        Self::JoinLeague,
        Self::WaitForTurn,
        Self::MakeMove,
        Self::Practice,
        Self::RegisterPlayer,
        Self::RegisterReferee,
        Self::AssignedMatches,
        Self::ReportResult,
        Self::StartLeague,
    ];

    /// The name under which it is called: a query's type in lower case, else the method of the
    /// message that says the same.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Query(QueryType::Standings) => "get_standings",
            Self::Query(QueryType::Schedule) => "get_schedule",
            Self::Query(QueryType::NextMatch) => "get_next_match",
            Self::Query(QueryType::PlayerStats) => "get_player_stats",
            Self::Query(QueryType::AgentState) => "get_agent_state",
            Self::Query(QueryType::Match) => "get_match",
            Self::Query(QueryType::League) => "get_league",
            Self::Query(QueryType::Registrations) => "get_registrations",
            Self::Query(QueryType::Games) => "get_games",
            Self::JoinLeague => "join_league",
            Self::WaitForTurn => "wait_for_turn",
            Self::MakeMove => "make_move",
            Self::Practice => "practice",
            Self::RegisterPlayer => "register_player",
            Self::RegisterReferee => "register_referee",
            Self::AssignedMatches => "get_assigned_matches",
            Self::ReportResult => "report_match_result",
            Self::StartLeague => "start_league",
        }
    }

    /// The tool of this name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// The names of the arguments that it takes.
    pub(super) const fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Query(QueryType::Standings) => &["league_id", "round_id", "offset", "limit"],
            Self::Query(QueryType::Schedule) => {
                &["league_id", "round_id", "player_id", "offset", "limit"]
            }
            Self::Query(QueryType::NextMatch | QueryType::PlayerStats) => {
                &["league_id", "player_id"]
            }
            Self::Query(QueryType::AgentState) => &["league_id", "agent_id"],
            Self::Query(QueryType::Match) => &["league_id", "match_id"],
            Self::Query(QueryType::League) => &["league_id"],
            Self::Query(QueryType::Registrations) => &["league_id", "offset", "limit"],
            Self::Query(QueryType::Games) => &[],
            Self::JoinLeague => &["display_name", "league_id", "join_code"],
            Self::WaitForTurn => &["auth_token", "wait_seconds"],
            Self::MakeMove => &["auth_token", "choice", "match_id"],
            Self::Practice => &["auth_token", "player_id", "league_id", "against"],
            Self::RegisterPlayer => &[
                "display_name",
                "contact_endpoint",
                "game_types",
                "version",
                "protocol_version",
                "dialect",
                "contact_email",
                "join_code",
                "league_id",
                "player_id",
                "auth_token",
            ],
            Self::RegisterReferee => &[
                "display_name",
                "contact_endpoint",
                "game_types",
                "max_concurrent_matches",
                "version",
                "protocol_version",
                "dialect",
                "contact_email",
                "join_key",
                "league_id",
                "referee_id",
                "auth_token",
            ],
            Self::AssignedMatches => &["referee_id", "auth_token", "league_id", "limit"],
            Self::ReportResult => &[
                "referee_id",
                "auth_token",
                "league_id",
                "match_id",
                "round_id",
                "game_type",
                "attempt",
                "match_conversation_id",
                "result",
                "players",
                "draw_seed",
                "draw_commitment",
            ],
            Self::StartLeague => &["auth_token", "league_id"],
        }
    }
}
