//! `league check`: does this agent speak the protocol?

use std::fs;
use std::io::IsTerminal;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow};
use clap::{Args as ClapArgs, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use league_agent::address::Address;
use league_agent::log::Level as LogLevel;
use league_check::manager::Door;
use league_check::report::{json, junit, text};
use league_check::{CheckError, Level, News, Plan, Report, Role, Target, Verdict, chosen};
use league_core::id::LeagueId;
use league_core::proof::Token;
use league_wire::Dialect;

use crate::logging::{self, LogArgs};
use crate::output;
use crate::report::{Failure, Hint};
use crate::signal::Signal;

/// Check whether an agent speaks the protocol.
///
/// Talks to it over real HTTP, case by case, and says of each that fails what was wrong and the
/// smallest change that would pass. No league is needed. docs/check.md lists the cases.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  league check player --start 'python3 my_agent.py --manager {manager} --port {port}'
  league check player --listen 127.0.0.1:8000    then start the agent with that manager
  league check player http://127.0.0.1:8101/mcp  one that runs already
  league check player http://127.0.0.1:8101/mcp --token @token.txt --league my_league
  league check manager http://127.0.0.1:8000 --data league-data
  league check manager --start './my_manager --port {port} --players {players}'
  league check player --list

In the command of --start {manager} is where to register, {port} a free port to listen at, {dialect}
the dialect to speak, {data} a folder that outlives a restart. A manager is started anew for every
case that needs a league, and {players} is with how many players that begins.

Exit codes: 0 every must passed (with --level should: every case), 1 a case failed or the agent
cannot be reached, 2 wrong usage, 3 the checker itself failed.
")]
pub(crate) struct CheckArgs {
    /// What the agent is
    role: RoleArg,
    /// Where it is called, such as http://127.0.0.1:8101/mcp
    #[arg(value_name = "URL")]
    url: Option<String>,
    /// Start the agent with this command
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["url", "token"])]
    start: Option<String>,
    /// Wait at this address, as its manager would, until the agent registers
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,
    /// How long to wait for the registration, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    wait: u64,
    /// The agent's token, or @FILE that holds it, if it registered elsewhere
    #[arg(long, value_name = "TOKEN|@FILE", requires = "league")]
    token: Option<String>,
    /// The league that the token is for; for a manager the league to join
    #[arg(long, value_name = "ID")]
    league: Option<LeagueId>,
    /// For a manager: its data directory, to read the administrator's token from;
    /// LEAGUE_ADMIN_TOKEN counts more. With the token cases found leagues of their own; without it
    /// those that need one are skipped
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// For a manager: what its referees show to get matches
    #[arg(long, value_name = "KEY")]
    join_key: Option<String>,
    /// For a manager: what a player shows to be let in
    #[arg(long, value_name = "CODE")]
    join_code: Option<String>,
    /// How to speak to it [default: as it registered, or as it understands]
    #[arg(long, value_name = "DIALECT")]
    dialect: Option<Dialect>,
    /// Only `must`, or `should` as well, which then counts as failed too
    #[arg(long, value_name = "LEVEL")]
    level: Option<Level>,
    /// Only this case, or those that begin so, such as player.invite; may be given several times
    #[arg(long, value_name = "ID")]
    only: Vec<String>,
    /// List the cases
    #[arg(long)]
    list: bool,
    /// Write a report in JUnit's XML to this file
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Print one JSON document on stdout
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    log: LogArgs,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum RoleArg {
    Player,
    Referee,
    Manager,
}

impl From<RoleArg> for Role {
    fn from(role: RoleArg) -> Self {
        match role {
            RoleArg::Player => Self::Player,
            RoleArg::Referee => Self::Referee,
            RoleArg::Manager => Self::Manager,
        }
    }
}

pub(crate) fn run(args: &CheckArgs) -> Result<(), Failure> {
    let usage = |error| Failure::usage("check", error);
    let level = args.level.unwrap_or(Level::Should);
    if args.list {
        let cases = chosen(args.role.into(), &args.only, level);
        let cases = cases.map_err(|error| usage(error.into()))?;
        let document = || format!("{:#}\n", json::list(&cases));
        let listed = if args.json { document() } else { text::list(&cases) };
        return Ok(output::print(&listed).context("cannot write to stdout")?);
    }
    let plan = plan(args, level).map_err(usage)?;
    let log = args.log.wanted().map_err(usage)?;
    let _log = logging::start(log, LogLevel::Error);
    let report = check(&plan)?;
    if let Some(file) = &args.junit {
        let written = fs::write(file, junit::whole(&report));
        written.with_context(|| format!("cannot write {}", file.display()))?;
    }
    let document = || format!("{}\n", json::whole(&report));
    let told = if args.json { document() } else { text::whole(&report) };
    output::print(&told).context("cannot write the report to stdout")?;
    judge(&report, args.level)
}

fn check(plan: &Plan) -> Result<Report, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.context("cannot start the runtime")?;
    let bar = progress_bar();
    let mut failed = 0;
    let mut show = |news: News<'_>| match news {
        News::Waiting(stage) => {
            output::say(&format!("waiting for a registration at {stage}"));
        }
        News::Registered(registered) => {
            let (id, dialect) = (registered.identity.id, registered.dialect);
            let name = league_wire::shown::sentence(&registered.meta.display_name);
            output::say(&format!("{id} registered: {name}, in {dialect}"));
        }
        News::Begins(cases) => bar.set_length(cases as u64),
        News::Done(checked) => {
            bar.inc(1);
            if let Verdict::Fail(_) = checked.verdict {
                failed += 1;
                bar.set_message(format!(", {failed} failed"));
            }
        }
    };
    let outcome = runtime.block_on(async {
        tokio::select! {
            biased;
            signal = Signal::received() => Err(signal),
            outcome = league_check::check(plan, &mut show) => Ok(outcome),
        }
    });
    bar.finish_and_clear();
    match outcome {
        Err(signal) => Err(Failure::Stopped(anyhow!("interrupted"), signal)),
        Ok(Ok(report)) => Ok(report),
        Ok(Err(error)) => Err(explained("check", error)),
    }
}

/// The exit code: what the agent did wrong, or what the checker did.
fn judge(report: &Report, level: Option<Level>) -> Result<(), Failure> {
    let errors = report.checker_errors();
    let must = report.tally(Level::Must).failed;
    let should = report.tally(Level::Should).failed;
    let counted = if level == Some(Level::Should) { must + should } else { must };
    if counted > 0 {
        return Err(Failure::Failed(anyhow!("{counted} cases failed")));
    }
    if errors > 0 {
        return Err(Failure::Ours(anyhow!("the checker failed in {errors} cases")));
    }
    Ok(())
}

fn plan(args: &CheckArgs, level: Level) -> anyhow::Result<Plan> {
    let address = args.url.as_deref().map(address).transpose()?;
    let target = match (&args.start, address) {
        (Some(command), _) => Target::Started(command.clone()),
        (None, address) if args.listen.is_some() => Target::Expected(address),
        (None, Some(address)) => Target::Running(address),
        (None, None) => {
            let hint = "give the agent's URL, --start 'COMMAND', or --listen 127.0.0.1:8000";
            return Err(anyhow!("no agent to check").context(Hint(hint.into())));
        }
    };
    Ok(Plan {
        role: args.role.into(),
        target,
        dialect: args.dialect,
        only: args.only.clone(),
        level,
        listen: args.listen.unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 0))),
        patience: Duration::from_secs(args.wait),
        token: args.token.as_deref().map(token).transpose()?,
        league: args.league.clone(),
        door: door(args)?,
    })
}

/// What lets the checker into a manager. A token that merely lies in the usual directory is not
/// used: whoever wants leagues to be founded says so.
fn door(args: &CheckArgs) -> anyhow::Result<Door> {
    if matches!(args.role, RoleArg::Player | RoleArg::Referee) {
        return Ok(Door::default());
    }
    if args.listen.is_some() {
        let hint = "give its URL, or --start 'COMMAND'";
        return Err(anyhow!("a manager does not register anywhere").context(Hint(hint.into())));
    }
    let in_environment = std::env::var("LEAGUE_ADMIN_TOKEN").ok();
    let in_environment = in_environment.filter(|token| !token.trim().is_empty());
    let admin = match (&args.data, in_environment) {
        (_, Some(token)) => Some(token.trim().to_string()),
        (Some(data), None) => {
            let file = data.join("admin-token");
            let read = fs::read_to_string(&file);
            let read = read.with_context(|| format!("cannot read {}", file.display()))?;
            Some(read.trim().to_string())
        }
        (None, None) => None,
    };
    Ok(Door {
        admin,
        start: None,
        league: args.league.as_ref().map(ToString::to_string),
        join_key: args.join_key.clone(),
        join_code: args.join_code.clone(),
    })
}

/// The address of an agent; `/mcp` may be left out.
pub(super) fn address(text: &str) -> anyhow::Result<Address> {
    let address: Address = text.parse().with_context(|| format!("`{text}` is not an address"))?;
    if address.path() != "/" {
        return Ok(address);
    }
    Ok(format!("{}/mcp", text.trim_end_matches('/')).parse()?)
}

pub(super) fn token(text: &str) -> anyhow::Result<Token> {
    let read = |file: &str| {
        let text = fs::read_to_string(Path::new(file));
        text.with_context(|| format!("cannot read {file}"))
    };
    let text = text.strip_prefix('@').map_or_else(|| Ok(text.to_string()), read)?;
    Ok(text.trim().parse()?)
}

fn progress_bar() -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let template = "  {bar:40} {pos}/{len} cases{msg}  {elapsed}";
    let style =
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(0).with_style(style)
}

/// Why there is no agent to talk to, with what to try, for the command `command`.
pub(super) fn explained(command: &str, error: CheckError) -> Failure {
    let hint = match &error {
        CheckError::Unreachable(..) => "start the agent first, or use --start 'COMMAND'".into(),
        CheckError::Unregistered { .. } => {
            "start the agent with that address as its manager, or give the agent's URL".into()
        }
        CheckError::NoSuchCase(..) => return Failure::usage(command, error.into()),
        CheckError::Ended(_) => format!(
            "the command is run by sh; try it by hand, and see `league {command} --help` for \
             {{manager}} and {{port}}"
        ),
        CheckError::Listen(..) => "choose another address with --listen".into(),
        CheckError::NoManager(_) => {
            "the command is run by sh, with {port} for the port to listen at and {players} for how \
             many players its league begins with"
                .into()
        }
        CheckError::Start(_) | CheckError::NoAddress => return Failure::Failed(error.into()),
    };
    Failure::Failed(anyhow::Error::new(error).context(Hint(hint)))
}
