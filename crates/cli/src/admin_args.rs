//! What was typed after the administrator's and the spectators' commands.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::near;

/// What follows the help of an order.
macro_rules! examples {
    ($($line:literal),+ $(,)?) => {
        concat!(
            "Examples:\n",
            $("  ", $line, "\n",)+
            "\nThe administrator's token is read from LEAGUE_ADMIN_TOKEN or from the manager's data \
             directory.\n"
        )
    };
}

/// What is asked of a running manager.
#[derive(Debug, Subcommand)]
pub(crate) enum AdminCommand {
    Create(CreateArgs),
    /// Start a league that is waiting for it
    Start(ActArgs),
    /// Hand out no more matches
    #[command(after_help = examples!["league pause spring --reason \"exam week\""])]
    Pause(OrderArgs),
    /// Hand out matches again
    #[command(after_help = examples!["league resume spring --reason \"exams are over\""])]
    Resume(OrderArgs),
    /// Take no more players
    #[command(after_help = examples!["league close spring --reason \"everybody is here\""])]
    Close(OrderArgs),
    /// Put a league away that is over
    #[command(after_help = examples!["league archive spring --reason \"term is over\""])]
    Archive(OrderArgs),
    /// Let a referee officiate
    #[command(after_help = examples![
        "league approve REF01 --reason \"Ada's referee\"",
        "league approve REF01 --league spring --reason \"Ada's referee\"",
    ])]
    Approve(AgentActArgs),
    /// Shut an agent out: its token stops working and it loses what it has not played
    ///
    /// A player's matches are walkovers from then on, a referee's go to others. The reason stands
    /// in the record and in `league trace`. It lasts until `league reinstate`: then the agent may
    /// register once more with its token, under its id; what it lost meanwhile stays lost.
    #[command(after_help = examples![
        "league ban P05 --reason \"plays for somebody else\"",
        "league ban REF02 --league spring --reason \"reports what was not played\"",
    ])]
    Ban(AgentActArgs),
    /// Let a suspended agent go on, or one that was shut out register once more
    ///
    /// One that is suspended plays on at once. One that was banned or shut down has to register
    /// again with its token, which works once; if it has lost that too, `league release` comes
    /// next.
    #[command(after_help = examples!["league reinstate P05 --reason \"its machine was down\""])]
    Reinstate(AgentActArgs),
    /// Give an agent a new token, for one that others have seen; the old one stops working
    ///
    /// The new token is printed once, to be handed over. A match that the agent is in is played
    /// again; a player's matches wait for a while, and a referee gets none, until it has registered
    /// with the new token.
    #[command(after_help = examples!["league rotate P05 --reason \"seen on a screen\""])]
    Rotate(AgentActArgs),
    /// Let an agent that lost its token register again under its id
    ///
    /// Whoever registers next with its join code, or from its address where there are no codes, is
    /// that agent: results and schedule stay, the token is a new one. Until then the old one works.
    #[command(after_help = examples!["league release P05 --reason \"new laptop\""])]
    Release(AgentActArgs),
    /// Put more people on the roster of a league that has not started
    ///
    /// FILE is a roster like that of `league create`: of the newcomers, or of everybody. Who is on
    /// it with the same code already stays. Where a code is missing one is made up, and all of
    /// them are written into a private file beside it.
    #[command(subcommand)]
    Roster(RosterCommand),
    /// Have a match played again
    ///
    /// While its round is being played; results of rounds that are over stand.
    #[command(after_help = examples![
        "league rematch R3M2 --reason \"the network was down\"",
        "league rematch R3M2 --league spring --reason \"the network was down\"",
    ])]
    Rematch(MatchActArgs),
    /// Have a match count for nobody
    ///
    /// While its round is being played; results of rounds that are over stand.
    #[command(after_help = examples!["league annul R3M2 --reason \"nobody could play\""])]
    Annul(MatchActArgs),
    Status(StatusArgs),
    Standings(StandingsArgs),
    Watch(WatchArgs),
}

/// Which manager to ask.
#[derive(Debug, Args)]
pub(crate) struct ManagerArgs {
    /// The manager; LEAGUE_MANAGER and league.toml in the current directory change the default
    #[arg(long, value_name = "URL", default_value_t = near::manager())]
    pub(crate) manager: String,
    /// Print one JSON document on stdout
    #[arg(long)]
    pub(crate) json: bool,
}

/// Who asks.
#[derive(Debug, Args)]
pub(crate) struct TokenArgs {
    /// The manager's data directory, to read the administrator's token from; LEAGUE_ADMIN_TOKEN
    /// counts more. If nothing is said, that of LEAGUE_DATA or of league.toml in the current
    /// directory, else league-data
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

impl TokenArgs {
    /// The data directory that the token is read from.
    pub(crate) fn data(&self) -> PathBuf {
        self.data.clone().unwrap_or_else(near::data)
    }

    /// Whether somebody said where the token is.
    pub(crate) fn is_given(&self) -> bool {
        let is_set = |name| std::env::var_os(name).is_some_and(|set| !set.is_empty());
        self.data.is_some() || is_set("LEAGUE_ADMIN_TOKEN") || is_set("LEAGUE_DATA")
    }
}

/// Found a league on a running manager.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  league create --start players=4                starts with the fourth player
  league create --league spring --start manual   `league start spring` starts it
  league create --start at=2030-05-01T12:00:00Z  starts at that time
  league create --rules v2.0 --set choice_timeout=10s

The administrator's token is read from LEAGUE_ADMIN_TOKEN or from the manager's data directory.
")]
pub(crate) struct CreateArgs {
    #[command(flatten)]
    pub(crate) manager: ManagerArgs,
    #[command(flatten)]
    pub(crate) token: TokenArgs,
    /// Its name; one is made up if nothing is said
    #[arg(long, value_name = "ID")]
    pub(crate) league: Option<String>,
    /// The game: even_odd or even_odd_numbers
    #[arg(long, value_name = "GAME")]
    pub(crate) game: Option<String>,
    /// How rounds are paired
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<String>,
    /// The rule set: v2.1 or v2.0
    #[arg(long, value_name = "RULES")]
    pub(crate) rules: Option<String>,
    /// Change one rule, such as choice_timeout=2s; may be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// What starts it: manual, players=N or at=TIME
    #[arg(long, value_name = "WHEN", default_value = "manual")]
    pub(crate) start: String,
    /// How many players it takes
    #[arg(long, value_name = "N")]
    pub(crate) players_max: Option<u32>,
    /// Who may play: a file of lines `code,student,group`. Where a code is missing one is made up,
    /// and all of them are written into a private file beside it
    #[arg(long, value_name = "FILE")]
    pub(crate) roster: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  league start spring
  league start --manager http://10.0.0.5:8000    the manager's only league

The administrator's token is read from LEAGUE_ADMIN_TOKEN or from the manager's data directory.
")]
pub(crate) struct ActArgs {
    #[command(flatten)]
    pub(crate) manager: ManagerArgs,
    #[command(flatten)]
    pub(crate) token: TokenArgs,
    /// Which league; the only one if nothing is said
    #[arg(value_name = "LEAGUE")]
    pub(crate) league: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct OrderArgs {
    #[command(flatten)]
    pub(crate) act: ActArgs,
    /// Why, for the record
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: String,
}

#[derive(Debug, Args)]
pub(crate) struct AgentActArgs {
    #[command(flatten)]
    pub(crate) manager: ManagerArgs,
    #[command(flatten)]
    pub(crate) token: TokenArgs,
    /// Which agent, such as P01 or REF01
    #[arg(value_name = "AGENT")]
    pub(crate) agent: String,
    /// Which league; the only one if nothing is said
    #[arg(long, value_name = "ID")]
    pub(crate) league: Option<String>,
    /// Why, for the record
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: String,
}

/// What is done to a roster.
#[derive(Debug, Subcommand)]
pub(crate) enum RosterCommand {
    /// Put more people on it
    #[command(after_help = examples!["league roster add late.csv --reason \"came late\""])]
    Add(RosterAddArgs),
}

#[derive(Debug, Args)]
pub(crate) struct RosterAddArgs {
    #[command(flatten)]
    pub(crate) manager: ManagerArgs,
    #[command(flatten)]
    pub(crate) token: TokenArgs,
    /// Who: a file of lines `code,student,group`
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Which league; the only one if nothing is said
    #[arg(long, value_name = "ID")]
    pub(crate) league: Option<String>,
    /// Why, for the record
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: String,
}

#[derive(Debug, Args)]
pub(crate) struct MatchActArgs {
    #[command(flatten)]
    pub(crate) manager: ManagerArgs,
    #[command(flatten)]
    pub(crate) token: TokenArgs,
    /// Which match, such as R1M1
    #[arg(value_name = "MATCH")]
    pub(crate) match_id: String,
    /// Which league; the only one if nothing is said
    #[arg(long, value_name = "ID")]
    pub(crate) league: Option<String>,
    /// Why, for the record
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: String,
}

/// Show where leagues stand.
///
/// Of one league, every agent is listed as well: its state, what went wrong with the calls to it,
/// how fast it answers referees, how far its clock is off, and when it was last heard of. The
/// administrator also sees who of a roster is behind each player, and who has not joined. A manager
/// on another machine is shown the token only if --data or the environment says where it is.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  league status                                  every league of the manager on this machine
  league status spring                           one league and its agents
  league status spring --json
")]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub(crate) manager: ManagerArgs,
    #[command(flatten)]
    pub(crate) token: TokenArgs,
    /// Which league; all of them if nothing is said
    #[arg(value_name = "LEAGUE")]
    pub(crate) league: Option<String>,
}

/// Show the table of a league.
///
/// The administrator also sees who of a roster is behind each player. A manager on another machine
/// is shown the token only if --data or the environment says where it is.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  league standings
  league standings spring --json
")]
pub(crate) struct StandingsArgs {
    #[command(flatten)]
    pub(crate) manager: ManagerArgs,
    #[command(flatten)]
    pub(crate) token: TokenArgs,
    /// Which league; the only one if nothing is said
    #[arg(value_name = "LEAGUE")]
    pub(crate) league: Option<String>,
}

/// Follow a league to its end and show its table.
///
/// A manager that restarts meanwhile is waited for. With --json the final standings are printed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  league watch
  league watch spring --json
")]
pub(crate) struct WatchArgs {
    #[command(flatten)]
    pub(crate) manager: ManagerArgs,
    /// Which league; the only one if nothing is said
    #[arg(value_name = "LEAGUE")]
    pub(crate) league: Option<String>,
}
