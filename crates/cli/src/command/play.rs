//! `league play`: a whole league on this machine.

use std::io::IsTerminal;

use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};
use league_server::journal::sqlite::OpenError;
use league_server::runtime::{self, PlayError, PlayPlan, PlayReport, Progress};
use serde_json::json;
use tokio::sync::watch;

use crate::args::PlayArgs;
use crate::output;
use crate::report::{Failure, Hint};
use crate::settings;

pub(crate) fn run(args: &PlayArgs) -> Result<(), Failure> {
    let plan = settings::play(args).map_err(|error| Failure::usage("play", error))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    let report = runtime.block_on(play(&plan)).map_err(|error| explain(error, &plan))?;
    if args.json {
        output::print(&format!("{}\n", as_json(&plan, &report)));
    } else {
        output::print(&output::play_report(&report));
    }
    Ok(())
}

async fn play(plan: &PlayPlan) -> Result<PlayReport, PlayError> {
    let (stop, stopping) = watch::channel(false);
    let bar = progress_bar();
    let show = |progress: Progress| {
        if let Some(total) = progress.total {
            bar.set_length(total);
        }
        bar.set_position(progress.done);
    };
    let interrupt = async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            stop.send_replace(true);
        }
        std::future::pending::<()>().await;
    };
    // The interrupt is listened for before there is anything that it could leave half done.
    let report = tokio::select! {
        biased;
        () = interrupt => unreachable!("the interrupt only stops the league"),
        report = runtime::play(plan, stopping, show) => report,
    };
    bar.finish_and_clear();
    report
}

fn progress_bar() -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let template = "  {bar:40} {pos}/{len} matches  {elapsed}";
    let style =
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(0).with_style(style)
}

fn explain(error: PlayError, plan: &PlayPlan) -> Failure {
    let hint = match &error {
        PlayError::OpenJournal(OpenError::InUse { .. }) => Some(
            "wait until the other one is done, or choose another directory with --data DIR".into(),
        ),
        PlayError::Data { .. } | PlayError::Secret(_) | PlayError::OpenJournal(_) => {
            Some("choose another directory with --data DIR".into())
        }
        PlayError::Listen(_) => {
            Some("check `ulimit -n` and that 127.0.0.1 can be used".to_string())
        }
        PlayError::Stopped { .. } => {
            Some(format!("what was played until then is kept in {}", plan.data.display()))
        }
        PlayError::BadName(_)
        | PlayError::Journal(_)
        | PlayError::Books(_)
        | PlayError::Record { .. }
        | PlayError::Register(_) => None,
    };
    let error = anyhow::Error::new(error);
    Failure::Failed(match hint {
        Some(hint) => error.context(Hint(hint)),
        None => error,
    })
}

fn as_json(plan: &PlayPlan, report: &PlayReport) -> serde_json::Value {
    let recount = &report.recount;
    let league = &recount.league;
    let rows = league.table();
    let name = |id| league.player(id).map(|player| player.profile.display_name.to_string());
    let standings: Vec<_> = rows
        .iter()
        .map(|row| {
            json!({
                "rank": row.rank,
                "player_id": row.player.to_string(),
                "display_name": name(row.player),
                "played": row.record.played,
                "wins": row.record.wins,
                "draws": row.record.draws,
                "losses": row.record.losses,
                "technical_losses": row.record.technical_losses,
                "points": row.record.points,
            })
        })
        .collect();
    let champion = rows.first().map(|row| {
        json!({
            "player_id": row.player.to_string(),
            "display_name": name(row.player),
            "points": row.record.points,
        })
    });
    let wall_s = report.wall.as_secs_f64();
    json!({
        "league_id": league.id().as_str(),
        "rules": plan.policy.rule_set().name(),
        "players": plan.players,
        "referees": plan.referees,
        "rounds": league.past().len(),
        "matches": recount.results,
        "played": recount.played,
        "technical_losses": recount.technical_losses,
        "cancelled": recount.cancelled,
        "annulled": recount.annulled,
        "http_calls": report.http_calls,
        "wall_s": wall_s,
        "matches_per_s": output::per_second(recount.results, wall_s),
        "champion": champion,
        "standings": standings,
        "journal": report.journal,
        "journal_head": recount.head.hash.to_string(),
    })
}
