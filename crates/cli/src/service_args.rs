//! What was typed after `serve`, `referee` and `player`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use league_agent::targets::Network;

use crate::logging::LogArgs;

/// The three services.
#[derive(Debug, Subcommand)]
pub(crate) enum ServiceCommand {
    Serve(ServeArgs),
    Referee(RefereeArgs),
    Player(PlayerArgs),
}

/// Run the league manager as a service.
///
/// Goes on with every league in the data directory, founds new ones when the administrator says
/// so, and stops gracefully on Ctrl-C or SIGTERM. Started again with the same data directory, it
/// goes on where it was; referees and players may simply stay up.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  league serve                                   on 127.0.0.1:8000, record in league-data
  league serve --config league.toml              as the file says
  league serve --listen 127.0.0.1:0 --json       on a free port, told as JSON
  league serve --print-config                    every value and where it comes from

The file league.toml in the current directory is read if there is one. Flags count more than the
environment (LEAGUE_LISTEN, LEAGUE_DATA, LEAGUE_SECRET, LEAGUE_ADMIN_TOKEN, LEAGUE_LOG), that more
than the file.
Exit codes: 0 stopped, 1 failed, 2 wrong usage.
")]
pub(crate) struct ServeArgs {
    /// The configuration file
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Where to listen [default: 127.0.0.1:8000, or a free port if that one is taken]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<String>,
    /// Where the record is kept [default: league-data]
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Call agents in this private network, such as 10.0.0.0/8, although others can reach the
    /// manager too; may be given several times
    #[arg(long, value_name = "NETWORK")]
    pub(crate) allow_network: Vec<String>,
    /// Understand agents whose messages are not quite as the documents say, and count what is
    /// wrong with them
    #[arg(long)]
    pub(crate) lenient: bool,
    /// Print every value with where it comes from, and do nothing else
    #[arg(long)]
    pub(crate) print_config: bool,
    /// Print one JSON document on stdout once it can be called
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) log: LogArgs,
}

/// What referees and players have in common.
#[derive(Debug, Args)]
pub(crate) struct JoinArgs {
    /// The manager
    #[arg(long, value_name = "URL", env = "LEAGUE_MANAGER")]
    pub(crate) manager: String,
    /// The league to join; the manager's only open one if nothing is said
    #[arg(long, value_name = "ID")]
    pub(crate) league: Option<String>,
    /// Where to listen; port 0 takes a free one [default: the first free documented port of
    /// 127.0.0.1, referees from 8001, players from 8101]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<SocketAddr>,
    /// Where others call it, if that is not where it listens
    #[arg(long, value_name = "URL")]
    pub(crate) endpoint: Option<String>,
    /// Keep who it is in this directory, and come back as the same one
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Print one JSON document on stdout once it has joined
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) log: LogArgs,
}

/// Run a referee.
///
/// Joins a league and runs the matches it is given. A manager that is not there yet is waited for,
/// one that restarts is reported to when it is back. Ends with 0 when the manager says that the
/// league is over, or when it is stopped with Ctrl-C or SIGTERM.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  league referee --manager http://127.0.0.1:8000
  league referee --manager http://127.0.0.1:8000 --join-key league-data/join-key-my_league
  LEAGUE_JOIN_KEY=… league referee --manager http://10.0.0.5:8000 --listen 10.0.0.7:8001

With the league's join key it is one of the operator's own: its draws follow from the committed seed
and can be checked by everybody. `league serve` keeps each league's key in a file and names it.
")]
pub(crate) struct RefereeArgs {
    #[command(flatten)]
    pub(crate) join: JoinArgs,
    /// The league's join key, or the file that holds it
    #[arg(long, value_name = "KEY|FILE", env = "LEAGUE_JOIN_KEY", hide_env_values = true)]
    pub(crate) join_key: Option<String>,
    /// Call players in this private network, such as 10.0.0.0/8, although others can reach the
    /// referee too; may be given several times
    #[arg(long, value_name = "NETWORK")]
    pub(crate) allow_network: Vec<Network>,
    /// How many matches it runs at once
    #[arg(long, value_name = "N", default_value_t = 64)]
    pub(crate) capacity: u32,
    /// The name shown to people
    #[arg(long, value_name = "NAME", default_value = "Referee")]
    pub(crate) name: String,
}

/// Run a player, or several.
///
/// Joins a league and plays by a strategy. A manager that is not there yet is waited for. Ends
/// with 0 when the manager says that the league is over, or when it is stopped with Ctrl-C or
/// SIGTERM.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  league player --manager http://127.0.0.1:8000
  league player --manager http://127.0.0.1:8000 --strategy odd --name Ada
  league player --manager http://127.0.0.1:8000 --count 4 --strategy random,even
  league player --manager http://10.0.0.5:8000 --pull       behind a firewall
")]
pub(crate) struct PlayerArgs {
    #[command(flatten)]
    pub(crate) join: JoinArgs,
    /// How it plays: random, even, odd, alternating, frequency or pattern; several are taken in
    /// turn
    #[arg(long, value_delimiter = ',', value_name = "A,B,…", default_value = "random")]
    pub(crate) strategy: Vec<String>,
    /// How many players; with a given port each takes the next one
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) count: u16,
    /// Listen nowhere: fetch the turns from the manager, for a machine that nobody can call
    #[arg(long)]
    pub(crate) pull: bool,
    /// The name shown to people; several are numbered
    #[arg(long, value_name = "NAME", default_value = "Player")]
    pub(crate) name: String,
    /// The shape to speak in: flat, typed, v21, enveloped, payload, tool or wrapped
    #[arg(long, value_name = "DIALECT", default_value = "flat")]
    pub(crate) dialect: String,
    /// The code that its author was given, if the league asks for one
    #[arg(long, value_name = "CODE", env = "LEAGUE_JOIN_CODE", hide_env_values = true)]
    pub(crate) join_code: Option<String>,
    /// Makes the strategies' dice repeatable
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
}
