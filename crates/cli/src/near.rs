//! Which manager and which data directory are meant when nothing is said: those of the
//! environment, else those that `league.toml` in the current directory names, as `league serve`
//! takes them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::OnceLock;

use crate::client;
use crate::config::{self, Usual};

/// The data directory of the manager that is meant.
pub(crate) fn data() -> PathBuf {
    let set = std::env::var_os("LEAGUE_DATA").filter(|set| !set.is_empty());
    set.map_or_else(|| usual().data.clone(), PathBuf::from)
}

/// The address of the manager that is meant.
pub(crate) fn manager() -> String {
    if let Some(url) = set("LEAGUE_MANAGER") {
        return url;
    }
    url(&listen()).or_else(|| url(config::LISTEN)).unwrap_or_default()
}

/// Whether `manager` is on this machine, or where the one of the environment or of the file
/// listens.
pub(crate) fn is_own(manager: &str) -> bool {
    is_at(manager, &listen())
}

fn is_at(manager: &str, listen: &str) -> bool {
    let Some((host, port)) = client::place(manager) else { return false };
    let is_here =
        host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    is_here || url(listen).and_then(|url| client::place(&url)) == Some((host, port))
}

fn listen() -> String {
    set("LEAGUE_LISTEN").unwrap_or_else(|| usual().listen.clone())
}

fn set(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|set| !set.trim().is_empty())
}

/// Whoever changes something must not do it to another manager because the file cannot be read.
///
/// # Errors
/// If it is there and wrong.
pub(crate) fn check() -> anyhow::Result<()> {
    Usual::check()
}

/// What the file says; what is wrong with it, `league serve` tells.
fn usual() -> &'static Usual {
    static READ: OnceLock<Usual> = OnceLock::new();
    READ.get_or_init(Usual::read)
}

/// Where a manager that listens on `listen` is called from here.
fn url(listen: &str) -> Option<String> {
    let listen: SocketAddr = listen.parse().ok()?;
    let ip = match listen.ip() {
        ip if !ip.is_unspecified() => ip,
        IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    };
    // Which port it took nobody can know.
    (listen.port() != 0).then(|| format!("http://{}", SocketAddr::new(ip, listen.port())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_manager_listens_tells_where_it_is_called() {
        assert_eq!(url("10.0.0.5:8000").as_deref(), Some("http://10.0.0.5:8000"));
        assert_eq!(url("0.0.0.0:8059").as_deref(), Some("http://127.0.0.1:8059"));
        assert_eq!(url("[::]:8059").as_deref(), Some("http://[::1]:8059"));
        assert_eq!(url("127.0.0.1:0"), None);
        assert_eq!(url("nonsense"), None);
    }

    #[test]
    fn a_manager_is_ours_on_this_machine_or_where_ours_listens() {
        for ours in [
            "http://127.0.0.1:9000",
            "localhost:8000",
            "http://[::1]:8000/mcp",
            "http://127.7.7.7:1",
            "http://10.0.0.5:8000/",
        ] {
            assert!(is_at(ours, "10.0.0.5:8000"), "{ours}");
        }
        for other in [
            "http://10.0.0.5:8001",
            "http://10.0.0.6:8000",
            "http://league.example:8000",
            "http://localhost.example:8000",
            "http://127.0.0.1@league.example:8000",
            "http://0.0.0.0:8000",
            "nonsense",
        ] {
            assert!(!is_at(other, "10.0.0.5:8000"), "{other}");
            assert!(!is_at(other, "0.0.0.0:8000"), "{other}");
        }
    }
}
