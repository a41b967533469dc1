//! `league play`: a whole league on this machine.

use std::cell::Cell;
use std::io::IsTerminal;

use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};
use league_agent::log::{self, Level};
use league_server::journal::sqlite::OpenError;
use league_server::manager;
use league_server::runtime::{self, PlayError, PlayNews, PlayPlan, PlayReport, Progress};
use tokio::sync::watch;

use crate::args::PlayArgs;
use crate::report::{Failure, Hint};
use crate::signal::Signal;
use crate::{files, logging, output, settings, summary};

pub(crate) fn run(args: &PlayArgs) -> Result<(), Failure> {
    let plan = settings::play(args).map_err(|error| Failure::usage("play", error))?;
    let log = args.log.wanted().map_err(|error| Failure::usage("play", error))?;
    files::check(u64::from(plan.players) + u64::from(plan.referees))?;
    let _log = logging::start(log, Level::Warning);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    let report = runtime.block_on(play(&plan, log.level.is_none()))?;
    let text = if args.json {
        format!("{}\n", summary::for_programs(&plan, &report))
    } else {
        summary::for_people(&report)
    };
    output::print(&text).context("cannot write the report to stdout").map_err(|error| {
        let (file, league) = (report.journal.display(), report.recount.league.id());
        error.context(Hint(format!("the league was played: its record is {file}, league {league}")))
    })?;
    Ok(())
}

async fn play(plan: &PlayPlan, leave_quietly: bool) -> Result<PlayReport, Failure> {
    let (stop, stopping) = watch::channel(false);
    let bar = progress_bar();
    logging::above(&bar);
    let show = |news: PlayNews| {
        let progress = match news {
            PlayNews::GoesOn(league, progress) => {
                output::say(&format!("continuing {league}: {}", so_far(progress)));
                progress
            }
            PlayNews::Progress(progress) => progress,
        };
        if let Some(total) = progress.total {
            bar.set_length(total);
        }
        bar.set_position(progress.done);
    };
    let signal = Cell::new(None);
    let listen = async {
        signal.set(Some(Signal::received().await));
        // What goes wrong from now on does because everybody leaves.
        if leave_quietly {
            log::hush(Level::Error);
        }
        stop.send_replace(true);
        std::future::pending::<()>().await;
    };
    // Signals are listened for before there is anything that they could leave half done.
    let report = tokio::select! {
        biased;
        () = listen => unreachable!("a signal only stops the league"),
        report = runtime::play(plan, stopping, show) => report,
    };
    bar.finish_and_clear();
    report.map_err(|error| {
        let stopped = matches!(error, PlayError::Stopped { .. });
        let different = matches!(error, PlayError::Different { .. });
        let error = explained(error, plan);
        match signal.get() {
            _ if different => Failure::Usage(error),
            Some(signal) if stopped => Failure::Stopped(error, signal),
            Some(_) | None => Failure::Failed(error),
        }
    })
}

fn so_far(Progress { done, total }: Progress) -> String {
    match total {
        Some(total) => format!("{done} of {total} matches played"),
        None => format!("{done} matches played"),
    }
}

fn progress_bar() -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let template = "  {wide_bar} {pos}/{len} matches  {elapsed}";
    let style =
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(0).with_style(style)
}

fn explained(error: PlayError, plan: &PlayPlan) -> anyhow::Error {
    let hint = hint(&error, plan);
    let error = anyhow::Error::new(error);
    match hint {
        Some(hint) => error.context(Hint(hint)),
        None => error,
    }
}

fn hint(error: &PlayError, plan: &PlayPlan) -> Option<String> {
    let data = plan.data.display();
    let elsewhere = "choose another directory with --data DIR";
    Some(match error {
        PlayError::OpenJournal(OpenError::InUse { .. }) => {
            format!("wait until the other one is done, or {elsewhere}")
        }
        PlayError::Secret(_) | PlayError::Books(manager::OpenError::WrongSecret(_)) => format!(
            "put the secret back that {data} was written under (the file `secret` or \
             LEAGUE_SECRET), or {elsewhere}"
        ),
        PlayError::Data { .. } | PlayError::OpenJournal(_) => elsewhere.into(),
        PlayError::Journal(_) | PlayError::Books(manager::OpenError::Journal(_)) => format!(
            "check that {} can be written and that its disk has room, or {elsewhere}",
            plan.data.join("league.db").display()
        ),
        PlayError::Listen(_) => "check `ulimit -n` and that 127.0.0.1 can be used".into(),
        PlayError::Different { .. } => {
            format!(
                "give the same options to go on with it, --new for a new league, or {elsewhere}"
            )
        }
        PlayError::Stopped { .. } => {
            format!("the same command goes on with it; what was played until then is in {data}")
        }
        PlayError::BadName(_)
        | PlayError::Books(_)
        | PlayError::Record { .. }
        | PlayError::Admission(_)
        | PlayError::Register(_) => return None,
    })
}
