//! `league sim`: leagues in a simulated world.

use std::io::IsTerminal;
use std::ops::Range;
use std::thread::available_parallelism;
use std::time::Duration;

use anyhow::{Context, anyhow};
use indicatif::{ProgressBar, ProgressStyle};
use league_agent::ambient::Mark;
use league_sim::{Outcome, Sabotage, Tally, replay_command, run_with, sweep};
use serde_json::json;

use crate::args::SimArgs;
use crate::output;
use crate::report::{Failure, Hint};
use crate::summary;

const UNWRITTEN: &str = "cannot write to stdout";

/// Failed seeds that are listed; more of them tell nothing new.
const LISTED_MAX: usize = 20;

/// What became of all seeds.
struct Sweep {
    seeds: Range<u64>,
    played: u64,
    failed: Vec<Outcome>,
    tally: Tally,
    hash: Option<u64>,
    wall: Duration,
    sabotage: Option<Sabotage>,
}

impl Sweep {
    /// How a seed of this sweep is played again, its bug included.
    fn replay(&self, seed: u64) -> String {
        let bug = self.sabotage.map(|bug| format!(" --sabotage {}", bug.name()));
        format!("{}{}", replay_command(seed), bug.unwrap_or_default())
    }
}

pub(crate) fn run(args: &SimArgs) -> Result<(), Failure> {
    let sweep = match args.seed {
        Some(seed) => one(args, seed)?,
        None => many(args, args.seeds.clone().unwrap_or_default()),
    };
    let text = if args.json { format!("{}\n", as_json(&sweep)) } else { as_text(&sweep) };
    output::print(&text).context(UNWRITTEN)?;
    let Some(first) = sweep.failed.first() else { return Ok(()) };
    let error = anyhow!("{} of {} seeds failed", sweep.failed.len(), sweep.played);
    let hint = Hint(format!("`{}` shows what happened", sweep.replay(first.seed)));
    Err(Failure::Failed(error.context(hint)))
}

fn one(args: &SimArgs, seed: u64) -> anyhow::Result<Sweep> {
    let started = Mark::set();
    let outcome = run_with(seed, args.sabotage, args.trace);
    let wall = started.elapsed();
    let lines = outcome.trace.iter();
    if args.json {
        lines.for_each(|line| output::say(line));
    } else {
        let text: String = lines.map(|line| format!("{line}\n")).collect();
        output::print(&text).context(UNWRITTEN)?;
    }
    let (tally, hash) = (outcome.tally, Some(outcome.hash));
    let failed = Vec::from_iter(outcome.violation.is_some().then_some(outcome));
    let (seeds, sabotage) = (seed..seed.saturating_add(1), args.sabotage);
    Ok(Sweep { seeds, played: 1, failed, tally, hash, wall, sabotage })
}

fn many(args: &SimArgs, seeds: Range<u64>) -> Sweep {
    let started = Mark::set();
    let bar = progress_bar(seeds.end - seeds.start);
    let workers = available_parallelism().map_or(1, usize::from);
    let (mut played, mut failed, mut tally) = (0, vec![], Tally::default());
    let play = |seed| run_with(seed, args.sabotage, false);
    sweep(seeds.clone(), workers, play, |outcome| {
        played += 1;
        tally.add(&outcome.tally);
        bar.inc(1);
        if outcome.violation.is_some() {
            bar.set_message(format!(", {} failed", failed.len() + 1));
            failed.push(outcome);
        }
        true
    });
    bar.finish_and_clear();
    failed.sort_by_key(|outcome| outcome.seed);
    let (wall, sabotage) = (started.elapsed(), args.sabotage);
    Sweep { seeds, played, failed, tally, hash: None, wall, sabotage }
}

fn progress_bar(seeds: u64) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let template = "  {bar:40} {pos}/{len} seeds{msg}  {elapsed}";
    let style =
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(seeds).with_style(style)
}

fn as_text(sweep: &Sweep) -> String {
    let mut out = String::from("\n");
    for outcome in sweep.failed.iter().take(LISTED_MAX) {
        if let Some(violation) = &outcome.violation {
            out.push_str(&format!("  seed {}: {violation}\n", outcome.seed));
            out.push_str(&format!("    {}\n", sweep.replay(outcome.seed)));
        }
    }
    if sweep.failed.len() > LISTED_MAX {
        let seeds = sweep.failed[LISTED_MAX..].iter().map(|outcome| outcome.seed.to_string());
        out.push_str(&format!("  also failed: {}\n", seeds.collect::<Vec<_>>().join(", ")));
    }
    let Tally { results, played, technical_losses, cancelled, .. } = sweep.tally;
    let Tally { walkovers, stuck, reassigned, annulled, lies, .. } = sweep.tally;
    let Tally { suspended, recovered, shut_down, orders, .. } = sweep.tally;
    let Tally { crashes, replays, forgeries, .. } = sweep.tally;
    out.push_str(&format!(
        "  {results} matches in the books: {played} played, {walkovers} walkovers, \
         {cancelled} called off, {technical_losses} technical losses\n  {reassigned} attempts given \
         to another referee, {annulled} annulled, {stuck} matches stuck, {lies} false reports \
         refused\n  {suspended} suspensions, {recovered} recoveries, {shut_down} agents shut down, \
         {orders} orders of the administrator\n  {crashes} crashes, {replays} times \
         the journal was opened, {forgeries} forgeries\n",
    ));
    if let Some(hash) = sweep.hash {
        out.push_str(&format!("  Trace: {hash:016x}\n"));
    }
    let seconds = sweep.wall.as_secs_f64();
    out.push_str(&format!(
        "  {} of {} seeds passed in {seconds:.2} s ({:.0} seeds and {:.0} steps a second)\n",
        sweep.played - sweep.failed.len() as u64,
        sweep.played,
        summary::per_second(sweep.played, seconds),
        summary::per_second(sweep.tally.steps, seconds),
    ));
    out
}

fn as_json(sweep: &Sweep) -> serde_json::Value {
    let failed = sweep.failed.iter().filter_map(|outcome| {
        let violation = outcome.violation.as_ref()?;
        Some(json!({
            "seed": outcome.seed,
            "rule": violation.rule.name(),
            "at_ms": violation.at,
            "detail": violation.detail,
            "replay": sweep.replay(outcome.seed),
        }))
    });
    let tally = &sweep.tally;
    let wall_s = sweep.wall.as_secs_f64();
    json!({
        "from": sweep.seeds.start,
        "to": sweep.seeds.end,
        "seeds": sweep.played,
        "failed": failed.collect::<Vec<_>>(),
        "trace_hash": sweep.hash.map(|hash| format!("{hash:016x}")),
        "steps": tally.steps,
        "world_s": tally.span_ms / 1_000,
        "matches": tally.results,
        "played": tally.played,
        "technical_losses": tally.technical_losses,
        "cancelled": tally.cancelled,
        "walkovers": tally.walkovers,
        "stuck": tally.stuck,
        "suspended": tally.suspended,
        "recovered": tally.recovered,
        "shut_down": tally.shut_down,
        "orders": tally.orders,
        "reassigned": tally.reassigned,
        "annulled": tally.annulled,
        "false_reports": tally.lies,
        "crashes": tally.crashes,
        "replays": tally.replays,
        "forgeries": tally.forgeries,
        "wall_s": wall_s,
        "seeds_per_s": summary::per_second(sweep.played, wall_s),
        "steps_per_s": summary::per_second(tally.steps, wall_s),
    })
}
