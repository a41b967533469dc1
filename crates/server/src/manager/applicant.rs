//! Who wants to register: what it says of itself, and whether it may be called.

use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use league_agent::address::Address;
use league_agent::caller::is_callable;
use league_agent::desk::refusal;
use league_agent::targets::{Forbidden, Targets};
use league_core::id::AgentId;
use league_core::manager::{League, Profile, ProtocolVersion};
use league_wire::message::{ErrorReport, Meta};
use league_wire::{Code, Dialect, Envelope};

use super::relay;

/// Who wants to register, and how it asked.
pub(super) struct Applicant<'a> {
    pub(super) envelope: &'a Envelope,
    pub(super) dialect: Dialect,
    pub(super) peer: SocketAddr,
}

/// The caller's host as it stands in an address.
pub(super) fn host(peer: SocketAddr) -> Arc<str> {
    match peer.ip().to_canonical() {
        IpAddr::V4(ip) => ip.to_string().into(),
        IpAddr::V6(ip) => format!("[{ip}]").into(),
    }
}

/// Whether an agent may be called where it says, or from where it calls if it does not say. Who
/// fetches its turns is never called.
pub(super) fn check_reach(
    targets: &Targets,
    endpoint: &str,
    peer: SocketAddr,
) -> Result<(), Box<ErrorReport>> {
    if relay::is_pull(endpoint) {
        return Ok(());
    }
    let checked = match endpoint.parse::<Address>() {
        Ok(address) => targets.check_address(&address),
        Err(_) => targets.check(SocketAddr::new(peer.ip(), 0)),
    };
    checked.map_err(|forbidden| {
        let advice = match forbidden {
            Forbidden::Inside(_) => {
                "name an address at which everybody can call you, or ask the administrator to \
                 list your network (`allowed_networks` in league.toml, or --allow-network)"
            }
            Forbidden::Own(_) | Forbidden::NotAMachine(_) => {
                "name the address at which your agent listens"
            }
        };
        refusal(Code::E003, &format!("contact_endpoint: {forbidden}; {advice}"))
    })
}

/// What an agent says of itself, as the league keeps it.
pub(super) fn profile(
    meta: Meta,
    dialect: Dialect,
    peer: SocketAddr,
) -> Result<Profile, Box<ErrorReport>> {
    let version = meta.protocol_version.as_deref().map(str::parse);
    let protocol_version = version.transpose().map_err(|_| {
        let got = meta.protocol_version.as_deref().unwrap_or_default();
        let text = format!("protocol_version: expected a version such as 2.1.0, got {got:?}");
        refusal(Code::E018, &text)
    })?;
    let endpoint = match meta.pull {
        true => Cow::Owned(mailbox(&meta, peer)?),
        false => Cow::Borrowed(meta.contact_endpoint.as_deref().unwrap_or_default()),
    };
    // Document 002's agents name no address; the league gives them the documented one.
    if !(meta.pull || endpoint.is_empty() || is_callable(&endpoint)) {
        let text = format!("contact_endpoint: expected http://host:port/mcp, got {endpoint:?}");
        return Err(refusal(Code::E003, &text));
    }
    Ok(Profile {
        display_name: meta.display_name.as_str().into(),
        version: meta.version.as_str().into(),
        protocol_version: protocol_version.unwrap_or(ProtocolVersion::OLDEST),
        games: meta.game_types,
        endpoint: endpoint.as_ref().into(),
        dialect: meta.dialect.unwrap_or(dialect).name().into(),
        email: meta.contact_email.as_deref().map(Arc::from),
        batch: meta.batch,
    })
}

/// What is kept as the address of a player that has none.
fn mailbox(meta: &Meta, peer: SocketAddr) -> Result<String, Box<ErrorReport>> {
    if meta.contact_endpoint.is_some() {
        let text = "contact_endpoint: a player that pulls has no address; leave it out, or `pull`";
        return Err(refusal(Code::E003, text));
    }
    let email = meta.contact_email.as_deref().unwrap_or_default();
    Ok(relay::address(&host(peer), &meta.display_name, &meta.version, email))
}

/// Where `agent` is called.
pub(super) fn endpoint_of(league: &League, agent: AgentId) -> Option<Arc<str>> {
    match agent {
        AgentId::Player(id) => league.player(id).map(|player| player.profile.endpoint.clone()),
        AgentId::Referee(id) => league.referee(id).map(|referee| referee.profile.endpoint.clone()),
    }
}

/// What the token of `agent` is made from.
pub(super) fn nonce_of(league: &League, agent: AgentId) -> Option<[u8; 32]> {
    match agent {
        AgentId::Player(id) => league.player(id).map(|player| player.nonce),
        AgentId::Referee(id) => league.referee(id).map(|referee| referee.nonce),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_not_called_may_be_anywhere() {
        let public: SocketAddr = "203.0.113.5:8000".parse().unwrap();
        let targets = Targets::of_server(public);
        let inside: SocketAddr = "10.0.0.7:40000".parse().unwrap();
        let check = |endpoint: &str| check_reach(&targets, endpoint, inside);
        assert!(check("").is_err() && check("http://10.0.0.7:8101/mcp").is_err());
        assert!(check(&relay::address("10.0.0.7", "Ada", "1.0.0", "")).is_ok());
    }

    #[test]
    fn the_same_person_with_the_same_program_on_the_same_host_is_the_same() {
        let own = relay::address("10.0.0.7", "Ada", "1.0.0", "");
        assert_eq!(own, relay::address("10.0.0.7", "Ada", "1.0.0", ""));
        for other in [
            relay::address("10.0.0.8", "Ada", "1.0.0", ""),
            relay::address("10.0.0.7", "Ad", "a1.0.0", ""),
            relay::address("10.0.0.7", "Ada", "1.0.0", "ada@example.org"),
        ] {
            assert_ne!(own, other);
        }
    }
}
