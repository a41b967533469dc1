//! LEAGUE_QUERY and LEAGUE_QUERY_RESPONSE.

use league_core::id::{AgentId, MatchId, RoundId};

use super::Body;
use crate::decode::DecodeError;
use crate::fields::Fields;
use crate::fragment::Fragment;
use crate::word::QueryType;
use crate::write::Object;

/// A question about the league.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeagueQuery {
    /// What is asked for.
    pub query_type: QueryType,
    /// The round it is about.
    pub round_id: Option<RoundId>,
    /// The match it is about.
    pub match_id: Option<MatchId>,
    /// The agent it is about; the one that asks if none is named.
    pub agent_id: Option<AgentId>,
    /// How many entries to skip.
    pub offset: Option<u32>,
    /// How many entries to give.
    pub limit: Option<u32>,
}

/// The answer to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeagueQueryResponse {
    /// What was asked for.
    pub query_type: QueryType,
    /// The answer.
    pub data: Fragment,
}

impl LeagueQueryResponse {
    /// Whether this answer about a league says that it is over.
    pub fn league_is_over(&self) -> bool {
        let fields = Fields::read("data", self.data.json());
        let status = fields.and_then(|fields| fields.optional::<String>("status"));
        status.is_ok_and(|status| matches!(status.as_deref(), Some("COMPLETED" | "ARCHIVED")))
    }
}

impl Body for LeagueQuery {
    fn read(f: &Fields<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            query_type: f.required("query_type")?,
            round_id: f.optional("round_id")?,
            match_id: f.optional("match_id")?,
            agent_id: f.either(&["agent_id", "player_id"])?,
            offset: f.optional("offset")?,
            limit: f.optional("limit")?,
        })
    }

    fn write(&self, o: &mut Object<'_>) {
        o.field("query_type", &self.query_type);
        o.optional("round_id", self.round_id.as_ref());
        o.optional("match_id", self.match_id.as_ref());
        o.optional("agent_id", self.agent_id.as_ref());
        o.optional("offset", self.offset.as_ref());
        o.optional("limit", self.limit.as_ref());
    }
}

impl Body for LeagueQueryResponse {
    fn read(f: &Fields<'_>) -> Result<Self, DecodeError> {
        Ok(Self { query_type: f.required("query_type")?, data: f.required("data")? })
    }

    fn write(&self, o: &mut Object<'_>) {
        o.field("query_type", &self.query_type);
        o.field("data", &self.data);
    }
}
