//! `league serve`: the manager as a service.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::Context;
use league_agent::component::Component;
use league_agent::log::Level;
use league_core::id::LeagueId;
use league_server::journal::sqlite::OpenError;
use league_server::manager;
use league_server::runtime::{self, ServeError, ServeNews};
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
    let tell = |news| told(news, args.json);
    let outcome = interrupt::run(|stop| runtime::serve(plan, stop, tell));
    let outcome = outcome.context("cannot start the runtime")?;
    outcome.map_err(|error| Failure::Failed(explained(error)))?;
    logging::tell(Level::Info, Component::Manager, "stopped");
    Ok(())
}

fn told(news: ServeNews, json: bool) {
    match news {
        ServeNews::Open { address, journal, leagues } => {
            let text = if json {
                for_programs(address, &journal, &leagues)
            } else {
                for_people(address, &journal, &leagues)
            };
            output::offer(&text);
            if !address.ip().to_canonical().is_loopback() {
                logging::tell(Level::Warning, Component::Manager, output::UNENCRYPTED);
            }
        }
        ServeNews::Founded(league, file) => {
            let text = format!("league {league} is open; its join key is in {}", file.display());
            logging::tell(Level::Info, Component::Manager, &text);
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
            logging::tell(Level::Critical, Component::Manager, &text);
        }
        ServeNews::Mended(league) => {
            let text = format!("league {league} goes on");
            logging::tell(Level::Info, Component::Manager, &text);
        }
        ServeNews::Alarm(league, alarm) => {
            let text = format!("alert: league {league}: {}\n  {}", alarm.text, alarm.remedy);
            logging::tell(Level::Warning, Component::Manager, &text);
        }
    }
}

fn for_programs(address: SocketAddr, journal: &Path, leagues: &[(LeagueId, PathBuf)]) -> String {
    let entry =
        |(id, file): &(LeagueId, PathBuf)| json!({"league_id": id.as_str(), "join_key_file": file});
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

fn for_people(address: SocketAddr, journal: &Path, leagues: &[(LeagueId, PathBuf)]) -> String {
    let url = format!("http://{address}");
    let mut out = format!("  Manager: {url}/mcp\n  Record:  {}\n", journal.display());
    for (id, _) in leagues {
        out.push_str(&format!("  League:  {id}\n"));
    }
    out.push_str("\n  To join it:\n");
    if leagues.is_empty() {
        out.push_str(&format!("    league create --manager {url} --start players=4\n"));
    }
    let key = match leagues {
        [(_, file)] => format!(" --join-key {}", file.display()),
        _ => String::new(),
    };
    out.push_str(&format!("    league referee --manager {url}{key}\n"));
    out.push_str(&format!("    league player --manager {url}\n"));
    out
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
        ServeError::Data { .. } | ServeError::OpenJournal(_) | ServeError::Secret(_) => {
            Some("choose another directory with --data DIR")
        }
        ServeError::Books(manager::OpenError::WrongSecret(_)) => {
            Some("restore the file `secret` in the data directory, or set LEAGUE_SECRET")
        }
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
