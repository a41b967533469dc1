//! `league serve`: the manager as a service.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::Path;

use anyhow::Context;
use league_agent::component::Component;
use league_agent::log::Level;
use league_server::journal::JournalError;
use league_server::journal::sqlite::OpenError;
use league_server::manager;
use league_server::runtime::{self, Hosted, ServeError, ServeNews};
use league_server::secret::SecretError;
use serde_json::json;

use crate::config::{self, Given};
use crate::interrupt;
use crate::report::{Failure, Hint};
use crate::service_args::ServeArgs;
use crate::{logging, output};

pub(super) fn run(args: &ServeArgs) -> Result<(), Failure> {
    let given = Given {
        config: args.config.clone(),
        listen: args.listen.clone(),
        data: args.data.clone(),
        networks: args.allow_network.clone(),
        lenient: args.lenient,
        log: args.log.clone(),
    };
    let config = config::resolve(given).map_err(|error| Failure::usage("serve", error))?;
    if args.print_config {
        let text =
            if args.json { format!("{}\n", config.for_programs()) } else { config.for_people() };
        output::print(&text).context("cannot write to stdout")?;
        return Ok(());
    }
    let _log = logging::start(config.log, Level::Info);
    let plan = &config.plan;
    let networks = config.networks();
    let tell = |news| told(news, args.json, &networks);
    let outcome = interrupt::run(|stop| runtime::serve(plan, stop, tell));
    let outcome = outcome.context("cannot start the runtime")?;
    outcome.map_err(|error| Failure::Failed(explained(error)))?;
    logging::tell(Level::Info, Component::Manager, "stopped");
    Ok(())
}

fn told(news: ServeNews, json: bool, networks: &[String]) {
    match news {
        ServeNews::Open { address, journal, leagues } => {
            let text = if json {
                for_programs(address, &journal, &leagues)
            } else {
                for_people((address, networks), &journal, &leagues)
            };
            output::offer(&text);
            let listens = format!("listens on {address}, record in {}", journal.display());
            logging::tell(Level::Info, Component::Manager, &listens);
            for hosted in &leagues {
                let how = match (hosted.goes_on, hosted.is_over) {
                    (true, true) => "is over",
                    (true, false) => "goes on",
                    (false, _) => "is founded",
                };
                let text = format!("league {} {how}", hosted.league);
                logging::tell_of(&hosted.league, Level::Info, Component::Manager, &text);
            }
            if !address.ip().to_canonical().is_loopback() {
                logging::tell(Level::Warning, Component::Manager, output::UNENCRYPTED);
            }
        }
        ServeNews::Moved { wanted, address } => {
            let text = format!(
                "{wanted} is taken, so this manager listens on {address}: name it to agents and \
                 commands with --manager http://{address}, or choose a port with --listen"
            );
            logging::tell(Level::Warning, Component::Manager, &text);
        }
        ServeNews::Otherwise(league, differences) => {
            let text = format!(
                "league {league} keeps what it was founded with, whatever the configuration says \
                 now: {}",
                differences.join("; ")
            );
            logging::tell_of(&league, Level::Warning, Component::Manager, &text);
        }
        ServeNews::Founded(league, file) => {
            let text = format!("league {league} is open; its join key is in {}", file.display());
            logging::tell_of(&league, Level::Info, Component::Manager, &text);
        }
        ServeNews::Codes(file) => {
            let text = format!("the join codes are in {}", file.display());
            logging::tell(Level::Info, Component::Manager, &text);
        }
        ServeNews::Crowded(warning) => {
            logging::tell(Level::Warning, Component::Manager, &warning);
        }
        ServeNews::Failed(league, error) => {
            let text = format!("league {league}: {error}; trying again");
            logging::tell_of(&league, Level::Critical, Component::Manager, &text);
        }
        ServeNews::Mended(league) => {
            let text = format!("league {league} goes on");
            logging::tell_of(&league, Level::Info, Component::Manager, &text);
        }
        ServeNews::Alarm(league, alarm) => {
            let text = format!("alert: {}; {}", alarm.text, alarm.remedy);
            logging::tell_of(&league, Level::Warning, Component::Manager, &text);
        }
    }
}

fn for_programs(address: SocketAddr, journal: &Path, leagues: &[Hosted]) -> String {
    let entry = |hosted: &Hosted| {
        json!({
            "league_id": hosted.league.as_str(),
            "join_key_file": hosted.join_key,
            "join_code_needed": hosted.needs_code,
        })
    };
    let leagues: Vec<_> = leagues.iter().map(entry).collect();
    let document = json!({
        "address": address.to_string(),
        "url": format!("http://{address}"),
        "mcp": format!("http://{address}/mcp"),
        "pid": std::process::id(),
        "journal": journal,
        "leagues": leagues,
    });
    format!("{document}\n")
}

fn for_people(
    (address, networks): (SocketAddr, &[String]),
    journal: &Path,
    leagues: &[Hosted],
) -> String {
    let url = format!("http://{}", callable(address));
    let mut out = format!("  Manager: {url}/mcp\n  Record:  {}\n", journal.display());
    for hosted in leagues {
        out.push_str(&format!("  League:  {}\n", hosted.league));
    }
    let open: Vec<_> = leagues.iter().filter(|hosted| !hosted.is_over).collect();
    if open.is_empty() {
        out.push_str(&format!(
            "\n  To found a league:\n    league create --manager {url} --start players=4\n"
        ));
        return out;
    }
    out.push_str("\n  To join it:\n");
    let (key, code) = match open[..] {
        [only] => {
            let code = if only.needs_code { " --join-code CODE" } else { "" };
            (format!(" --join-key {}", only.join_key.display()), code)
        }
        _ => (" --league ID --join-key FILE".into(), " --league ID"),
    };
    // Agents listen on loopback unless told, where only a manager of this machine calls them.
    let (here, there) = match callable(address).ip() {
        ip if ip.to_canonical().is_loopback() => (String::new(), ""),
        ip => (format!(" --listen {}", SocketAddr::new(ip, 8001)), " --listen YOUR-ADDRESS:8101"),
    };
    let near: String = networks.iter().map(|one| format!(" --allow-network {one}")).collect();
    out.push_str(&format!(
        "    league referee --manager {url}{key}{here}{near} --data my-referee\n    league player \
         --manager {url}{code}{there} --data my-player\n"
    ));
    out
}

/// Where others call a manager that listens on `address`: nobody can call "every address".
fn callable(address: SocketAddr) -> SocketAddr {
    if !address.ip().is_unspecified() {
        return address;
    }
    // Nothing is sent: this only asks which of our addresses would be used.
    let (from, to) = match address {
        SocketAddr::V4(_) => ("0.0.0.0:0", "192.0.2.1:9"),
        SocketAddr::V6(_) => ("[::]:0", "[2001:db8::1]:9"),
    };
    let asked = UdpSocket::bind(from).and_then(|socket| {
        socket.connect(to)?;
        socket.local_addr()
    });
    let own = asked.map(|own| own.ip()).ok().filter(|own| !own.is_unspecified());
    let alone = match address {
        SocketAddr::V4(_) => IpAddr::from(Ipv4Addr::LOCALHOST),
        SocketAddr::V6(_) => IpAddr::from(Ipv6Addr::LOCALHOST),
    };
    SocketAddr::new(own.unwrap_or(alone), address.port())
}

fn explained(error: ServeError) -> anyhow::Error {
    let hint = match &error {
        ServeError::Listen { source, .. } if source.kind() == ErrorKind::AddrInUse => {
            Some("something listens there; choose another port with --listen, 0 is a free one")
        }
        ServeError::Listen { .. } => Some("choose another address with --listen ADDRESS:PORT"),
        ServeError::OpenJournal(OpenError::InUse { .. }) => {
            Some("another manager uses this directory; choose another one with --data DIR")
        }
        ServeError::OpenJournal(OpenError::Database { .. }) => Some(
            "if it is damaged, put a copy that `league backup` made in its place; --data DIR \
             chooses another directory",
        ),
        ServeError::Secret(
            SecretError::Missing { .. } | SecretError::Damaged { .. } | SecretError::Empty { .. },
        ) => Some(
            "put the file `secret` of this directory back from your backup (`league backup` copies \
             the record only), or set LEAGUE_SECRET",
        ),
        ServeError::Data { .. }
        | ServeError::OpenJournal(_)
        | ServeError::Secret(SecretError::File { .. }) => {
            Some("choose another directory with --data DIR")
        }
        ServeError::Books(manager::OpenError::WrongSecret(_)) => {
            Some("restore the file `secret` in the data directory, or set LEAGUE_SECRET")
        }
        ServeError::Journal(JournalError::Corrupt { .. })
        | ServeError::Books(
            manager::OpenError::Journal(JournalError::Corrupt { .. })
            | manager::OpenError::Codec { .. }
            | manager::OpenError::NotALeague(_),
        ) => Some(
            "keep the damaged file for whoever looks into it, and put a copy that `league backup` \
             made in its place",
        ),
        ServeError::Journal(_)
        | ServeError::Books(_)
        | ServeError::Roster(_)
        | ServeError::Admission(_)
        | ServeError::Blueprint(_) => None,
    };
    let error = anyhow::Error::new(error);
    match hint {
        Some(hint) => error.context(Hint(hint.into())),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosted(needs_code: bool) -> Hosted {
        let (league, join_key) = ("spring".parse().unwrap(), "data/join-key-spring".into());
        Hosted { league, join_key, needs_code, goes_on: false, is_over: false }
    }

    #[test]
    fn what_is_printed_to_join_can_be_typed() {
        let shown = |address: &str, leagues: &[Hosted]| {
            let networks = ["10.0.0.0/8".to_string()];
            let networks = if address.starts_with("10.") { &networks[..] } else { &[] };
            let at = (address.parse().unwrap(), networks);
            for_people(at, Path::new("data/league.db"), leagues)
        };
        let text = shown("127.0.0.1:8000", &[hosted(false)]);
        let player = "    league player --manager http://127.0.0.1:8000 --data my-player\n";
        assert!(text.ends_with(player), "{text}");
        assert!(text.contains("--join-key data/join-key-spring --data my-referee\n"), "{text}");
        let text = shown("10.0.0.5:8000", &[hosted(true)]);
        assert!(
            text.contains(
                "-spring --listen 10.0.0.5:8001 --allow-network 10.0.0.0/8 --data my-referee\n"
            ),
            "{text}"
        );
        assert!(
            text.ends_with(" --join-code CODE --listen YOUR-ADDRESS:8101 --data my-player\n"),
            "{text}"
        );
        let text = shown("0.0.0.0:8000", &[hosted(false), hosted(false)]);
        assert!(!text.contains("0.0.0.0:8000") && text.contains(" --league ID"), "{text}");
        let over = Hosted { is_over: true, ..hosted(true) };
        let text = shown("127.0.0.1:8000", &[over]);
        assert!(text.contains("To found a league:") && !text.contains("--join"), "{text}");
        let text = shown("127.0.0.1:8000", &[]);
        assert!(text.contains("To found a league:\n    league create"), "{text}");
    }
}
