//! Who may join a league, and how.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::charter::Profile;
use crate::id::{AgentId, ConversationId};
use crate::limits::{PLAYERS_MAX, TEXT_BYTES_MAX};

/// Who may join a league.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Admission {
    /// Who may play.
    pub players: PlayerAdmission,
    /// Who may officiate.
    pub referees: RefereeAdmission,
}

/// Who may play.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum PlayerAdmission {
    /// Everybody.
    #[default]
    Open,
    /// Whoever brings one of these codes; each works once.
    Codes(Vec<Invited>),
}

/// Somebody who was given a join code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invited {
    /// SHA-256 of the code.
    pub code: [u8; 32],
    /// Who was given it.
    pub student: Arc<str>,
    /// The group it counts for.
    pub group: Option<Arc<str>>,
}

/// Who may officiate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum RefereeAdmission {
    /// Every referee.
    #[default]
    Open,
    /// Those who hold the league's key, and those the administrator has approved.
    KeyOrApproval,
}

impl Admission {
    /// What is wrong with it, if anything is.
    pub(super) fn fault(&self) -> Option<&'static str> {
        let PlayerAdmission::Codes(codes) = &self.players else { return None };
        if codes.len() > PLAYERS_MAX as usize {
            return Some("more join codes than a league can have players");
        }
        let too_long = |text: &Arc<str>| text.len() > TEXT_BYTES_MAX;
        if codes.iter().any(|one| too_long(&one.student) || one.group.iter().any(too_long)) {
            return Some("a label of a join code is longer than allowed");
        }
        let mut hashes: Vec<_> = codes.iter().map(|invited| invited.code).collect();
        hashes.sort_unstable();
        let twice = hashes.windows(2).any(|pair| pair[0] == pair[1]);
        twice.then_some("a join code is listed twice")
    }
}

/// An agent that wants to join, or to come back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Application {
    /// What it says of itself.
    pub profile: Profile,
    /// Where it called from; its address is derived from it if the profile has none.
    pub host: Arc<str>,
    /// The conversation it asked in.
    pub conversation: ConversationId,
    /// SHA-256 of the join code it showed.
    pub join_code: Option<[u8; 32]>,
    /// Whether the token given for the same application before has been used since: whoever asks
    /// again then is somebody else.
    pub token_used: bool,
    /// Who it is, if it showed that agent's own token.
    pub known: Option<Returning>,
}

/// An agent that showed its own token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Returning {
    /// Who it is.
    pub agent: AgentId,
    /// Whether nobody answers at the address it had.
    pub old_is_silent: bool,
}

impl Application {
    /// A first application without a join code.
    pub const fn new(profile: Profile, host: Arc<str>, conversation: ConversationId) -> Self {
        let (join_code, token_used, known) = (None, false, None);
        Self { profile, host, conversation, join_code, token_used, known }
    }
}

/// An address in the form in which two of them are compared: the case of scheme and host, a
/// usual port and a slash at the end make no difference.
pub(super) fn address_key(endpoint: &str) -> Arc<str> {
    let Some((scheme, rest)) = endpoint.split_once("://") else {
        return endpoint.trim_end_matches('/').into();
    };
    let scheme = scheme.to_ascii_lowercase();
    let split = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(split);
    let authority = authority.to_ascii_lowercase();
    let usual = match scheme.as_str() {
        "http" => ":80",
        "https" => ":443",
        _ => "",
    };
    let authority = authority.strip_suffix(usual).unwrap_or(&authority);
    format!("{scheme}://{authority}{}", path.trim_end_matches('/')).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_lead_to_the_same_place_are_the_same() {
        let key = address_key("http://example.org/mcp");
        for same in [
            "HTTP://Example.ORG/mcp",
            "http://example.org:80/mcp",
            "http://example.org/mcp/",
            "http://EXAMPLE.org:80/mcp//",
        ] {
            assert_eq!(address_key(same), key, "{same}");
        }
        for other in [
            "http://example.org:8080/mcp",
            "http://example.org/MCP",
            "https://example.org/mcp",
            "http://example.org:443/mcp",
            "http://example.org",
        ] {
            assert_ne!(address_key(other), key, "{other}");
        }
    }
}
