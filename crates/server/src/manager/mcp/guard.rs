//! Who may be called by what name: a page in somebody's browser must not talk to a server on its
//! machine or in its house, whatever names resolve to.

use std::net::{IpAddr, SocketAddr};

use http::HeaderMap;
use http::header::{HOST, ORIGIN};

/// The names by which clients may call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hosts {
    /// `None` if every name will do.
    named: Option<Vec<String>>,
    /// Further names that pages may come from.
    listed: Vec<String>,
}

impl Hosts {
    /// The names of a server that listens on `address`, and those that are `listed`. A server on
    /// loopback has only the names of loopback; others are called by names that it cannot know,
    /// unless they are listed.
    pub fn of_server(address: SocketAddr, listed: &[String]) -> Self {
        let listed: Vec<String> = listed.iter().map(|name| name.to_ascii_lowercase()).collect();
        let is_closed = address.ip().to_canonical().is_loopback() || !listed.is_empty();
        Self { named: is_closed.then(|| listed.clone()), listed }
    }

    /// Whether a request with this head may be answered.
    pub(super) fn check(&self, headers: &HeaderMap) -> Result<(), &'static str> {
        let host = headers.get(HOST).map(|value| value.to_str().unwrap_or_default());
        if let (Some(host), Some(named)) = (host, &self.named)
            && !(is_loopback(name_of(host)) || is_in(named, host))
        {
            return Err("this server is not called by that name; the operator lists the names of \
                        the server as `allowed_hosts` in league.toml\n");
        }
        let Some(origin) = headers.get(ORIGIN) else { return Ok(()) };
        let origin = origin.to_str().unwrap_or_default();
        let from = origin.split_once("://").map_or("", |(_, from)| from);
        let is_own = host.is_some_and(|host| host.eq_ignore_ascii_case(from));
        if is_loopback(name_of(from)) || is_in(&self.listed, from) || is_own && self.named.is_none()
        {
            return Ok(());
        }
        Err("pages of that origin may not call this server; the operator lists those that may as \
             `allowed_hosts` in league.toml\n")
    }
}

/// Whether `authority` is listed, with its port or without.
fn is_in(list: &[String], authority: &str) -> bool {
    let (authority, name) = (authority.to_ascii_lowercase(), name_of(authority));
    list.iter().any(|listed| *listed == authority || listed.eq_ignore_ascii_case(name))
}

/// The name in an authority, without its port.
fn name_of(authority: &str) -> &str {
    let name = match authority.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        Some(_) | None => authority,
    };
    name.trim_start_matches('[').trim_end_matches(']')
}

fn is_loopback(name: &str) -> bool {
    let address = name.parse::<IpAddr>().is_ok_and(|ip| ip.to_canonical().is_loopback());
    address || name.eq_ignore_ascii_case("localhost")
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn check(hosts: &Hosts, host: &str, origin: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_str(host).unwrap());
        if let Some(origin) = origin {
            headers.insert(ORIGIN, HeaderValue::from_str(origin).unwrap());
        }
        hosts.check(&headers).is_ok()
    }

    #[test]
    fn a_server_on_loopback_has_only_the_names_of_loopback() {
        let hosts = Hosts::of_server("127.0.0.1:8000".parse().unwrap(), &[]);
        for host in ["localhost:8000", "127.0.0.1:8000", "[::1]:8000", "LOCALHOST"] {
            assert!(check(&hosts, host, None), "{host}");
            assert!(check(&hosts, host, Some("http://localhost:3000")), "{host}");
            assert!(!check(&hosts, host, Some("http://evil.example")), "{host}");
            assert!(!check(&hosts, host, Some("null")), "{host}");
        }
        for host in ["evil.example:8000", "localhost.evil.example", "10.0.0.1:8000", ""] {
            assert!(!check(&hosts, host, None), "{host}");
        }
        assert!(!check(&hosts, "evil.example:8000", Some("http://evil.example:8000")));
    }

    #[test]
    fn a_server_for_others_is_called_by_any_name_and_not_from_other_pages() {
        let hosts = Hosts::of_server("0.0.0.0:8000".parse().unwrap(), &[]);
        assert!(check(&hosts, "league.example:8000", None));
        assert!(check(&hosts, "league.example:8000", Some("http://league.example:8000")));
        assert!(!check(&hosts, "league.example:8000", Some("http://evil.example")));
    }

    #[test]
    fn listed_names_are_the_only_ones() {
        let listed = ["League.Example".to_string(), "other.example:9000".to_string()];
        let hosts = Hosts::of_server("0.0.0.0:8000".parse().unwrap(), &listed);
        assert!(check(&hosts, "league.example:8000", Some("https://league.example")));
        assert!(check(&hosts, "other.example:9000", None));
        assert!(!check(&hosts, "other.example:9001", None));
        assert!(!check(&hosts, "elsewhere.example", None));
    }
}
