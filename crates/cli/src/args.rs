//! What was typed.

use std::ops::Range;
use std::path::PathBuf;

use clap::{ArgGroup, Args as ClapArgs, Parser, Subcommand};
use league_sim::Sabotage;

use crate::admin_args::AdminCommand;
use crate::logging::LogArgs;
use crate::service_args::ServiceCommand;

use crate::command::backup::BackupArgs;
use crate::command::check::CheckArgs;
use crate::command::new::NewArgs;
use crate::command::prune::PruneArgs;
use crate::command::spar::SparArgs;
use crate::command::trace::TraceArgs;

/// Runs tournaments between autonomous agents written by strangers in any language.
#[derive(Debug, Parser)]
#[command(name = "league", version = env!("LEAGUE_VERSION"), propagate_version = true, arg_required_else_help = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Play(PlayArgs),
    New(NewArgs),
    Rules(RulesArgs),
    Sim(SimArgs),
    #[command(flatten)]
    Service(ServiceCommand),
    #[command(flatten)]
    Admin(AdminCommand),
    Check(CheckArgs),
    Spar(SparArgs),
    Trace(TraceArgs),
    Backup(BackupArgs),
    Prune(PruneArgs),
}

/// Play a whole league on this machine, over real HTTP.
///
/// Starts a manager, referees and players on free ports, plays every match, keeps the record in
/// a journal and prints the final table. Rounds follow each other at once: `announcement_lead`,
/// 60 s under v2.1, is 0s here unless it is set. A league that was interrupted goes on when the
/// same command is given again.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  league play                                    four players, two referees
  league play --players 20 --strategies random   twenty coin tossers
  league play --rules v2.0 --json                one JSON document on stdout
  league play --set choice_timeout=2s            one rule changed

Exit codes: 0 played to the end, 1 failed, 2 wrong usage, 130 interrupted, 143 terminated.
Environment: LEAGUE_SECRET, 64 hex digits, is used instead of the file `secret` in DIR;
LEAGUE_LOG=level[,format] says what is logged, warning if nothing does.
")]
pub(crate) struct PlayArgs {
    /// How many players
    #[arg(long, default_value_t = 4, value_name = "N", value_parser = count)]
    #[arg(allow_negative_numbers = true)]
    pub(crate) players: u32,
    /// How many referees
    #[arg(long, default_value_t = 2, value_name = "N", value_parser = count)]
    #[arg(allow_negative_numbers = true)]
    pub(crate) referees: u32,
    /// The game: even_odd, or even_odd_numbers, in which players choose numbers
    #[arg(long, default_value = "even_odd", value_name = "GAME")]
    pub(crate) game: String,
    /// How rounds are paired: round_robin
    #[arg(long, default_value = "round_robin", value_name = "FORMAT")]
    pub(crate) format: String,
    /// The rule set: v2.1 or v2.0
    #[arg(long, default_value = "v2.1", value_name = "RULES")]
    pub(crate) rules: String,
    /// Change one rule, such as choice_timeout=2s; may be given several times; `league rules` lists
    /// them
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Strategies that the players take in turn: random, even, odd, alternating, frequency,
    /// pattern; and guests that misbehave: silent, slow, late, garbage, wrong_token, wrong_match,
    /// liar, refuser, flaky. Where numbers are chosen, even, odd and alternating mean the number,
    /// and the others take any
    #[arg(long, value_delimiter = ',', value_name = "A,B,…")]
    #[arg(default_value = "random,even,odd,alternating")]
    pub(crate) strategies: Vec<String>,
    /// Dialects that the players speak in turn: flat, typed, v21, enveloped, payload, tool, wrapped
    #[arg(long, value_delimiter = ',', default_value = "flat", value_name = "A,B,…")]
    pub(crate) dialects: Vec<String>,
    /// Where the record is kept
    #[arg(long, default_value = "league-data", value_name = "DIR", env = "LEAGUE_DATA")]
    pub(crate) data: PathBuf,
    /// Makes the strategies' dice repeatable. Draws stay unpredictable, so the table differs all
    /// the same
    #[arg(long, value_name = "N", value_parser = seed)]
    #[arg(allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,
    /// Multiplies every time limit of the protocol; 0.001 to 1000
    #[arg(long, default_value_t = 1.0, value_name = "F", value_parser = factor)]
    #[arg(allow_negative_numbers = true)]
    pub(crate) time_scale: f64,
    /// Found a new league even if the last one in DIR is not over
    #[arg(long)]
    pub(crate) new: bool,
    /// Print one JSON document on stdout; if the league fails, nothing but the text on stderr
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) log: LogArgs,
}

/// List every rule with its value in each rule set.
///
/// What each of them means is told in docs/rules.md. Any of them can be changed with
/// `league play --set KEY=VALUE`.
#[derive(Debug, ClapArgs)]
pub(crate) struct RulesArgs {
    /// Print one JSON document on stdout
    #[arg(long)]
    pub(crate) json: bool,
}

/// Play leagues in a simulated world, in any weather.
///
/// The machines of the league meet on a simulated network, clock and disk. A seed draws everything:
/// players, referees, rules, loss, delay, partitions, crashes, failing disks, and agents that are
/// silent, slow, late, unreadable or lie. Checkers watch every step. The same seed gives the same
/// run; a seed that fails is a bug with a replay.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  league sim --seed 7                            one world
  league sim --seed 7 --trace                    one world, every message
  league sim --seeds 0..1000                     a thousand worlds
  league sim --seeds 0..1000 --json              one JSON document on stdout
  league sim --seeds 0..99 --sabotage skip-proof are the checkers awake?
")]
#[command(group(ArgGroup::new("which").required(true).args(["seed", "seeds"])))]
pub(crate) struct SimArgs {
    /// The world to play
    #[arg(long, value_name = "N", value_parser = seed)]
    #[arg(allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,
    /// The worlds to play, from A up to but not including B
    #[arg(long, value_name = "A..B", value_parser = range)]
    #[arg(allow_negative_numbers = true)]
    pub(crate) seeds: Option<Range<u64>>,
    /// Print everything that happens
    #[arg(long, conflicts_with = "seeds")]
    pub(crate) trace: bool,
    /// Build a bug in, to see whether it is found
    #[arg(long, value_name = "BUG", value_parser = sabotage)]
    pub(crate) sabotage: Option<Sabotage>,
    /// Print one JSON document on stdout
    #[arg(long)]
    pub(crate) json: bool,
}

fn range(text: &str) -> Result<Range<u64>, &'static str> {
    const EXPECTED: &str = "expected two whole numbers, the smaller first, such as 0..1000";
    let (from, to) = text.split_once("..").ok_or(EXPECTED)?;
    let number = |text: &str| text.parse::<u64>().map_err(|_| EXPECTED);
    let (from, to) = (number(from)?, number(to)?);
    if from < to { Ok(from..to) } else { Err(EXPECTED) }
}

fn sabotage(text: &str) -> Result<Sabotage, String> {
    Sabotage::by_name(text).ok_or_else(|| {
        let names: Vec<&str> = Sabotage::ALL.into_iter().map(Sabotage::name).collect();
        format!("expected one of {}", names.join(", "))
    })
}

pub(crate) fn count(text: &str) -> Result<u32, &'static str> {
    text.parse().map_err(|_| "expected a whole number such as 4")
}

pub(crate) fn seed(text: &str) -> Result<u64, &'static str> {
    text.parse().map_err(|_| "expected a whole number such as 7")
}

pub(crate) fn factor(text: &str) -> Result<f64, &'static str> {
    text.parse().map_err(|_| "expected a number such as 0.1")
}
