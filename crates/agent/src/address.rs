//! Where an agent can be called: one spelling for each place, whatever it was written like.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use crate::limits::ADDRESS_BYTES_MAX;

/// The address of an agent, such as `http://127.0.0.1:8101/mcp`.
///
/// Two addresses mean the same place if they are the same when [`normalised`](Self::normalised).
#[derive(Debug, Clone)]
pub struct Address {
    host: Host,
    port: u16,
    path: String,
}

/// The host in an address.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Host {
    /// A number; IPv4 whenever it can be said so.
    Number(IpAddr),
    /// This machine, by its name. It may listen at either of its loopback addresses.
    Localhost,
    /// A name that must be looked up, in lower case.
    Name(String),
}

/// Why a text is no address that can be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadAddress {
    /// Longer than any address.
    #[error("an address has at most {ADDRESS_BYTES_MAX} bytes")]
    TooLong,
    /// Something that cannot stand in an address as it is.
    #[error("an address has no spaces, backslashes, control characters or letters beyond ASCII")]
    BadCharacter,
    /// Another scheme, or none.
    #[error("expected http:// at the beginning")]
    BadScheme,
    /// A name or a password before the host.
    #[error("an address holds no user name and no password")]
    UserInfo,
    /// Something after the path.
    #[error("an address ends with its path: no `?` and no `#`")]
    Tail,
    /// No host, or none that can be.
    #[error("expected a host name, an IPv4 address as four decimal numbers, or an IPv6 one in []")]
    BadHost,
    /// A port that cannot be called.
    #[error("expected a port from 1 to 65535")]
    BadPort,
}

impl Address {
    /// The host.
    pub const fn host(&self) -> &Host {
        &self.host
    }

    /// The port.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// The path, with its leading slash.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The one spelling of this place: the scheme and the host are in lower case, the port is
    /// written out, numbers are in their shortest form, an IPv4 address in IPv6's clothes is an
    /// IPv4 address, and `localhost` is `127.0.0.1`. The path stays as it is.
    pub fn normalised(&self) -> String {
        let Self { host, port, path } = self;
        let host = if *host == Host::Localhost { &LOOPBACK } else { host };
        format!("http://{host}:{port}{path}")
    }

    /// The same place with another path.
    pub(crate) fn with_path(&self, path: &str) -> Self {
        Self { path: path.into(), ..self.clone() }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port, path } = self;
        write!(f, "http://{host}:{port}{path}")
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(IpAddr::V4(number)) => number.fmt(f),
            Self::Number(IpAddr::V6(number)) => write!(f, "[{number}]"),
            Self::Localhost => f.write_str("localhost"),
            Self::Name(name) => f.write_str(name),
        }
    }
}

impl FromStr for Address {
    type Err = BadAddress;

    fn from_str(text: &str) -> Result<Self, BadAddress> {
        if text.len() > ADDRESS_BYTES_MAX {
            return Err(BadAddress::TooLong);
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\') {
            return Err(BadAddress::BadCharacter);
        }
        let (scheme, rest) = text.split_once("://").ok_or(BadAddress::BadScheme)?;
        if !scheme.eq_ignore_ascii_case("http") {
            return Err(BadAddress::BadScheme);
        }
        if rest.contains(['?', '#']) {
            return Err(BadAddress::Tail);
        }
        let (place, path) = match rest.find('/') {
            Some(at) => rest.split_at(at),
            None => (rest, "/"),
        };
        if place.contains('@') {
            return Err(BadAddress::UserInfo);
        }
        let (host, port) = split_port(place)?;
        Ok(Self { host: host.parse()?, port, path: path.into() })
    }
}

fn split_port(place: &str) -> Result<(&str, u16), BadAddress> {
    let host_end = if place.starts_with('[') {
        place.find(']').ok_or(BadAddress::BadHost)? + 1
    } else {
        place.find(':').unwrap_or(place.len())
    };
    let (host, rest) = place.split_at(host_end);
    let Some(digits) = rest.strip_prefix(':') else {
        return if rest.is_empty() { Ok((host, 80)) } else { Err(BadAddress::BadHost) };
    };
    let all_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let port = digits.parse().ok().filter(|port| all_digits && *port > 0);
    Ok((host, port.ok_or(BadAddress::BadPort)?))
}

impl FromStr for Host {
    type Err = BadAddress;

    fn from_str(text: &str) -> Result<Self, BadAddress> {
        if let Some(inside) = text.strip_prefix('[') {
            let number = inside.strip_suffix(']').and_then(|inside| inside.parse().ok());
            let number: Ipv6Addr = number.ok_or(BadAddress::BadHost)?;
            return Ok(Self::Number(number.to_canonical()));
        }
        if let Ok(number) = text.parse::<Ipv4Addr>() {
            return Ok(Self::Number(number.into()));
        }
        let name = text.to_ascii_lowercase();
        let name = name.strip_suffix('.').unwrap_or(&name);
        if name == "localhost" {
            return Ok(Self::Localhost);
        }
        if name.len() <= NAME_BYTES_MAX && name.split('.').all(is_label) && !ends_in_number(name) {
            return Ok(Self::Name(name.into()));
        }
        Err(BadAddress::BadHost)
    }
}

const LOOPBACK: Host = Host::Number(IpAddr::V4(Ipv4Addr::LOCALHOST));

/// The longest name in the domain name system.
const NAME_BYTES_MAX: usize = 253;
/// The longest part of it between two dots.
const LABEL_BYTES_MAX: usize = 63;

fn is_label(label: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (1..=LABEL_BYTES_MAX).contains(&label.len()) && label.bytes().all(is_letter)
}

/// Resolvers read `2130706433`, `0x7f.1` and `0177.0.0.1` as IPv4 addresses, each in its own way.
/// Nobody who means well writes them.
fn ends_in_number(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or_default();
    let hex = last.strip_prefix("0x").is_some_and(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
    hex || last.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(text: &str) -> String {
        text.parse::<Address>().unwrap_or_else(|bad| panic!("{text}: {bad}")).normalised()
    }

    #[test]
    fn one_place_has_one_spelling() {
        for (text, expected) in [
            ("http://127.0.0.1:8101/mcp", "http://127.0.0.1:8101/mcp"),
            ("HTTP://LocalHost:8101/mcp", "http://127.0.0.1:8101/mcp"),
            ("http://localhost.:8101/mcp", "http://127.0.0.1:8101/mcp"),
            ("http://[::ffff:127.0.0.1]:8101/mcp", "http://127.0.0.1:8101/mcp"),
            ("http://[::FFFF:7f00:1]:08101/mcp", "http://127.0.0.1:8101/mcp"),
            ("http://[0:0:0:0:0:0:0:1]:8101/mcp", "http://[::1]:8101/mcp"),
            ("http://[2001:DB8:0::1]/mcp", "http://[2001:db8::1]:80/mcp"),
            ("http://Agents.Example.ORG/MCP/", "http://agents.example.org:80/MCP/"),
            ("http://agents.example.org:80", "http://agents.example.org:80/"),
        ] {
            assert_eq!(normal(text), expected, "{text}");
            assert_eq!(normal(expected), expected, "once is enough");
        }
    }

    #[test]
    fn what_is_no_address_is_refused_with_its_reason() {
        for (text, expected) in [
            ("", BadAddress::BadScheme),
            ("127.0.0.1:8101/mcp", BadAddress::BadScheme),
            ("https://127.0.0.1/mcp", BadAddress::BadScheme),
            ("file:///etc/passwd", BadAddress::BadScheme),
            ("http://", BadAddress::BadHost),
            ("http:///mcp", BadAddress::BadHost),
            ("http://:80/mcp", BadAddress::BadHost),
            ("http://me@host/mcp", BadAddress::UserInfo),
            ("http://me:secret@127.0.0.1:80/mcp", BadAddress::UserInfo),
            ("http://host/mcp?x=1", BadAddress::Tail),
            ("http://host/mcp#top", BadAddress::Tail),
            ("http://host#@127.0.0.1/mcp", BadAddress::Tail),
            ("http://host:0/mcp", BadAddress::BadPort),
            ("http://host:65536/mcp", BadAddress::BadPort),
            ("http://host:+80/mcp", BadAddress::BadPort),
            ("http://host:/mcp", BadAddress::BadPort),
            ("http://ho st/mcp", BadAddress::BadCharacter),
            ("http://host\\@127.0.0.1/mcp", BadAddress::BadCharacter),
            ("http://h\u{f6}st/mcp", BadAddress::BadCharacter),
            ("http://ho%73t/mcp", BadAddress::BadHost),
            ("http://a..b/mcp", BadAddress::BadHost),
            ("http://::1/mcp", BadAddress::BadPort),
            ("http://[::1/mcp", BadAddress::BadHost),
            ("http://[::1]x:80/mcp", BadAddress::BadHost),
            ("http://[fe80::1%25eth0]/mcp", BadAddress::BadHost),
        ] {
            assert_eq!(text.parse::<Address>().err(), Some(expected), "{text}");
        }
        let long = format!("http://host/{}", "x".repeat(ADDRESS_BYTES_MAX));
        assert_eq!(long.parse::<Address>().err(), Some(BadAddress::TooLong));
    }

    #[test]
    fn numbers_in_disguise_are_refused() {
        for host in [
            "2130706433",
            "0x7f000001",
            "0x7f.1",
            "0X7F.0.0.1",
            "0177.0.0.1",
            "127.1",
            "127.0.0.1.",
            "127.0.0.01",
            "10.0.0.256",
            "0x",
            "example.0x1",
            "example.1",
        ] {
            let parsed = format!("http://{host}:8101/mcp").parse::<Address>();
            assert_eq!(parsed.err(), Some(BadAddress::BadHost), "{host}");
        }
        assert!("http://0x.example/mcp".parse::<Address>().is_ok(), "only the last part counts");
    }
}
