//! `league spar`: practice for one agent, no league needed.

mod report;

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, anyhow, ensure};
use clap::Args as ClapArgs;
use league_agent::ambient::OsDice;
use league_agent::log::Level as LogLevel;
use league_agent::player::Cast;
use league_agent::targets::Targets;
use league_check::agent::Started;
use league_check::bench::Bench;
use league_check::manager::Door;
use league_check::{Level, Meeting, News, Plan, Role, Target, meet};
use league_core::dice::Dice;
use league_core::game;
use league_core::id::{AgentId, LeagueId, MatchId, PlayerId, RefereeId, RoundId};
use league_core::policy::Policy;
use league_server::practice::{
    Drill, Ending, Fault, Numbers, PracticeError, Practised, Pupil, Room, Terms,
};
use league_wire::Dialect;

use super::check;
use crate::args::{count, factor, seed};
use crate::logging::{self, LogArgs};
use crate::output;
use crate::report::{Failure, Hint};
use crate::settings::{self, known};
use crate::signal::Signal;
use report::Sparring;

/// Most matches of one run.
const MATCHES_MAX: u32 = 10_000;
/// The longest window that is let pass on purpose.
const HASTY_WINDOW: Duration = Duration::from_secs(5);

/// Practise: have an agent play the house, no league needed.
///
/// A real referee and house players of ours call the agent over HTTP, as they would in a league.
/// Every match is told with its result and the reason, at the end what to fix and how fast the
/// agent answers.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  league spar --start 'python3 my_agent.py --manager {manager} --port {port}'
  league spar --listen 127.0.0.1:8000            then start the agent with that manager
  league spar http://127.0.0.1:8101/mcp          one that runs already
  league spar http://127.0.0.1:8101/mcp --token @token.txt --league my_league
  league spar http://127.0.0.1:8101/mcp --against frequency,pattern --matches 100
  league spar http://127.0.0.1:8101/mcp --against even --faults all
  league spar http://127.0.0.1:8101/mcp --matches 1 --bytes

An agent that believes only whom its manager vouches for plays if it registered here (--start,
--listen) or if its token is given. In the command of --start {manager} is where to register, {port}
a free port to listen at, {dialect} the dialect to speak, {data} a folder of its own.

Exit codes: 0 nothing to fix (a match may be lost all the same), 1 something to fix or the agent
cannot be reached, 2 wrong usage, 3 the practice itself failed, 130 interrupted, 143 terminated.
")]
pub(crate) struct SparArgs {
    /// Where the agent is called, such as http://127.0.0.1:8101/mcp
    #[arg(value_name = "URL")]
    url: Option<String>,
    /// Opponents, who are met in turn: random, even, odd, alternating, frequency, pattern; and
    /// those that misbehave: silent, slow, late, garbage, wrong_token, wrong_match, liar, refuser,
    /// flaky
    #[arg(long, value_delimiter = ',', value_name = "A,B,…")]
    #[arg(default_value = "random,even,odd,alternating")]
    against: Vec<String>,
    /// What goes wrong on purpose, in turn: slow (calls come late), duplicates (every call comes
    /// twice), late-retries (an answer is lost until the referee asks again), drops (connections
    /// break), none; or all. Nothing of it counts against the agent
    #[arg(long, value_delimiter = ',', default_value = "none", value_name = "A,B,…")]
    faults: Vec<String>,
    /// How many matches [default: one against each opponent under each fault]
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    matches: Option<u32>,
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
    /// The league that the token is for
    #[arg(long, value_name = "ID")]
    league: Option<LeagueId>,
    /// How to speak to it [default: as it registered, or as it understands]
    #[arg(long, value_name = "DIALECT")]
    dialect: Option<Dialect>,
    /// The game: even_odd, or even_odd_numbers, in which players choose numbers
    #[arg(long, default_value = "even_odd", value_name = "GAME")]
    game: String,
    /// The rule set: v2.1 or v2.0
    #[arg(long, default_value = "v2.1", value_name = "RULES")]
    rules: String,
    /// Change one rule, such as choice_timeout=2s; may be given several times; `league rules` lists
    /// them
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Understand answers that are almost right, and say what to change in them
    #[arg(long)]
    lenient: bool,
    /// Makes the opponents' dice repeatable. Draws stay unpredictable
    #[arg(long, value_name = "N", value_parser = seed, allow_negative_numbers = true)]
    seed: Option<u64>,
    /// Multiplies every time limit of the protocol; 0.001 to 1000
    #[arg(long, default_value_t = 1.0, value_name = "F", value_parser = factor)]
    #[arg(allow_negative_numbers = true)]
    time_scale: f64,
    /// Show everything that was said in each match, with every byte
    #[arg(long)]
    bytes: bool,
    /// Print one JSON document on stdout
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    log: LogArgs,
}

/// What will be done.
struct Session {
    plan: Plan,
    terms: Terms,
    drills: Vec<Drill>,
}

pub(crate) fn run(args: &SparArgs) -> Result<(), Failure> {
    let usage = |error| Failure::usage("spar", error);
    let session = session(args).map_err(usage)?;
    let log = args.log.wanted().map_err(usage)?;
    // What goes wrong in a match is what is told here anyway.
    let _log = logging::start(log, LogLevel::Critical);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.context("cannot start the runtime")?;
    let sparring = runtime.block_on(async {
        tokio::select! {
            biased;
            signal = Signal::received() => {
                Err(Failure::Stopped(anyhow!("interrupted"), signal))
            }
            outcome = spar(&session, args) => outcome,
        }
    })?;
    let told = if args.json { sparring.document(args.bytes) } else { sparring.summary() };
    output::print(&told).context("cannot write to stdout")?;
    match sparring.troubles() {
        0 => Ok(()),
        troubles => Err(Failure::Failed(anyhow!("{troubles} to fix"))),
    }
}

async fn spar(session: &Session, args: &SparArgs) -> Result<Sparring, Failure> {
    let mut tell = |news: News<'_>| tell(&news);
    let meeting = meet(&session.plan, &mut tell).await;
    let meeting = meeting.map_err(|error| check::explained("spar", error))?;
    let outcome = play(session, args, &meeting).await;
    meeting.part().await;
    outcome
}

async fn play(session: &Session, args: &SparArgs, meeting: &Meeting) -> Result<Sparring, Failure> {
    let pupil = pupil(meeting)?;
    let is_known = pupil.token.is_some();
    let mut sparring = Sparring::new(&pupil, &session.drills);
    let mut terms = session.terms.clone();
    // Without its token nobody can say whether the one that it shows is its own.
    terms.lenient |= !is_known;
    let numbers = Numbers { referee: RefereeId::new(1), house: beside(pupil.id) };
    let room = Room::open(pupil, terms, numbers, Targets::everywhere()).await;
    let mut room = room.map_err(ours)?;
    for drill in &session.drills {
        let practised = room.play(drill).await;
        let practised = practised.map_err(ours)?;
        if practised.is_unconvinced && !is_known {
            room.close().await;
            return Err(unconvinced(&practised));
        }
        if !args.json {
            output::print(&sparring.line(&practised, args.bytes))
                .context("cannot write to stdout")?;
        }
        let is_technical = practised.ending == Ending::Technical;
        sparring.add(practised);
        if is_technical && has_ended(meeting).await {
            room.close().await;
            return Err(ended(meeting));
        }
    }
    room.close().await;
    Ok(sparring)
}

/// Whether the agent was started here and is no longer there.
async fn has_ended(meeting: &Meeting) -> bool {
    match &meeting.subject.agent {
        Some(agent) => agent.ended_within(Duration::ZERO).await,
        None => false,
    }
}

fn ended(meeting: &Meeting) -> Failure {
    let words = meeting.subject.agent.as_ref().map(Started::words).unwrap_or_default();
    Failure::Failed(anyhow!("the agent ended during that match; it said:\n{words}"))
}

fn tell(news: &News<'_>) {
    match news {
        News::Waiting(stage) => output::say(&format!("waiting for a registration at {stage}")),
        News::Registered(registered) => {
            let (id, dialect) = (registered.identity.id, registered.dialect);
            let name = league_wire::shown::sentence(&registered.meta.display_name);
            output::say(&format!("{id} registered: {name}, in {dialect}"));
        }
        News::Begins(_) | News::Done(_) => {}
    }
}

fn ours(error: PracticeError) -> Failure {
    Failure::Ours(error.into())
}

fn unconvinced(practised: &Practised) -> Failure {
    let hint = "let it register here: --start 'COMMAND {manager} {port}', or --listen ADDRESS:PORT \
                and the agent started with that manager; or give its token with --token and \
                --league";
    let error = anyhow!(
        "the agent plays only with referees that its manager vouches for, and refused: {}",
        practised.why
    );
    Failure::Failed(error.context(Hint(hint.into())))
}

/// The agent as the referee will know it.
fn pupil(meeting: &Meeting) -> Result<Pupil, Failure> {
    let subject = &meeting.subject;
    let me = Bench::new(subject.clone()).me();
    let AgentId::Player(id) = me.id else {
        return Err(Failure::Usage(anyhow!("the token is a referee's; only players spar")));
    };
    let address = subject.address.to_string();
    Ok(Pupil { id, league: me.league, address, dialect: subject.dialect, token: me.token })
}

/// An id that the agent does not have.
fn beside(pupil: PlayerId) -> PlayerId {
    PlayerId::new(pupil.number().saturating_add(1))
}

fn session(args: &SparArgs) -> anyhow::Result<Session> {
    known("--game", &args.game, game::NAMES)?;
    let names: Vec<_> = Cast::all().map(Cast::name).collect();
    let find = |name: &String| {
        known("--against", name.trim(), &names)?;
        Cast::find(name.trim()).ok_or_else(|| anyhow!("--against: no such opponent"))
    };
    let against = args.against.iter().map(find).collect::<anyhow::Result<Vec<_>>>()?;
    let faults = faults(&args.faults)?;
    let policy = settings::policy(&args.rules, &args.set, args.time_scale)?;
    let terms = Terms {
        hasty: hasty(&policy)?,
        policy,
        game: args.game.parse()?,
        lenient: args.lenient,
        seed: args.seed.unwrap_or_else(|| OsDice.below(u64::MAX)),
    };
    let all = u32::try_from(against.len() * faults.len())?;
    let matches = args.matches.unwrap_or(all);
    ensure!(
        (1..=MATCHES_MAX).contains(&matches),
        "--matches: expected 1 to {MATCHES_MAX}, got {matches}"
    );
    let pairs = faults.iter().flat_map(|fault| against.iter().map(move |cast| (*fault, *cast)));
    let pairs: Vec<_> = pairs.collect();
    let drill = |(number, (fault, against)): (u32, &(Option<Fault>, Cast))| Drill {
        match_id: MatchId::new(RoundId::new(number), 1),
        against: *against,
        fault: *fault,
    };
    let drills = (1..=matches).zip(pairs.iter().cycle()).map(drill).collect();
    Ok(Session { plan: plan(args)?, terms, drills })
}

/// What goes wrong, in order; nothing where it is `none`.
fn faults(names: &[String]) -> anyhow::Result<Vec<Option<Fault>>> {
    let known_faults = Fault::ALL.into_iter().map(Fault::name);
    let words: Vec<&str> = known_faults.chain(["none", "all"]).collect();
    let mut faults = vec![];
    for name in names.iter().map(|name| name.trim()) {
        known("--faults", name, &words)?;
        match name {
            "all" => faults.extend([None].into_iter().chain(Fault::ALL.map(Some))),
            name => faults.push(Fault::find(name)),
        }
    }
    Ok(faults)
}

/// The rules of matches in which we let a window pass: nobody learns anything by waiting for long.
fn hasty(policy: &Policy) -> anyhow::Result<Policy> {
    if policy.choice_timeout() <= HASTY_WINDOW {
        return Ok(policy.clone());
    }
    let window = format!("{}s", HASTY_WINDOW.as_secs());
    let rules = policy.departures();
    let kept = rules.iter().filter(|(key, _)| *key != "choice_timeout");
    let kept = kept.map(|(key, value)| (*key, value.as_str()));
    let hasty = Policy::build(policy.rule_set(), kept.chain([("choice_timeout", window.as_str())]));
    hasty.context("a shorter choice_timeout does not go with the other rules")
}

fn plan(args: &SparArgs) -> anyhow::Result<Plan> {
    let address = args.url.as_deref().map(check::address).transpose()?;
    let target = match (&args.start, address) {
        (Some(command), _) => Target::Started(command.clone()),
        (None, address) if args.listen.is_some() => Target::Expected(address),
        (None, Some(address)) => Target::Running(address),
        (None, None) => {
            let hint = "give the agent's URL, --start 'COMMAND', or --listen 127.0.0.1:8000";
            return Err(anyhow!("no agent to spar with").context(Hint(hint.into())));
        }
    };
    Ok(Plan {
        role: Role::Player,
        target,
        dialect: args.dialect,
        only: vec![],
        level: Level::Must,
        listen: args.listen.unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 0))),
        patience: Duration::from_secs(args.wait),
        token: args.token.as_deref().map(check::token).transpose()?,
        league: args.league.clone(),
        door: Door::default(),
    })
}
