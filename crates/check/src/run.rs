//! Runs cases and hands back what became of each, in the order of the list.

use std::sync::Arc;
use std::time::Duration;

use league_agent::ambient::Mark;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::bench::{Bench, Subject};
use crate::case::{Case, Lane};
use crate::limits::{CASE_TIME, TOGETHER};
use crate::transcript::Entry;
use crate::verdict::Verdict;

/// A case that was tried.
#[derive(Debug, Clone)]
pub struct Checked {
    /// The case.
    pub case: &'static Case,
    /// What became of it.
    pub verdict: Verdict,
    /// What went over the line.
    pub transcript: Vec<Entry>,
    /// How long it took.
    pub took: Duration,
}

/// Tries `cases`: first those that disturb nobody, beside each other, then the others one by one.
/// `done` hears of each as soon as it is known.
pub async fn run(
    cases: &[&'static Case],
    subject: &Arc<Subject>,
    done: &mut dyn FnMut(&Checked),
) -> Vec<Checked> {
    let mut checked: Vec<(usize, Checked)> = Vec::new();
    for lane in [Lane::Together, Lane::Alone, Lane::Last] {
        let width = if lane == Lane::Together { TOGETHER } else { 1 };
        let mut waiting = cases.iter().copied().enumerate().filter(|(_, case)| case.lane == lane);
        let mut running: JoinSet<(usize, Checked)> = JoinSet::new();
        loop {
            while running.len() < width
                && let Some((index, case)) = waiting.next()
            {
                let subject = subject.clone();
                running.spawn(async move { (index, try_one(case, subject).await) });
            }
            let Some(finished) = running.join_next().await else { break };
            // A case that panics is caught inside; only a runtime that ends cancels tasks.
            let Ok(finished) = finished else { continue };
            done(&finished.1);
            checked.push(finished);
        }
    }
    checked.sort_by_key(|(index, _)| *index);
    checked.into_iter().map(|(_, checked)| checked).collect()
}

async fn try_one(case: &'static Case, subject: Arc<Subject>) -> Checked {
    let started = Mark::set();
    let bench = Bench::new(subject);
    let transcript = bench.transcript.clone();
    if !case.speaks(bench.dialect()) {
        let reason = format!("not tried in {}", bench.dialect());
        let verdict = Verdict::Skipped(reason);
        return Checked { case, verdict, transcript: vec![], took: started.elapsed() };
    }
    // In a task of its own, so that a bug of the checker is a verdict and not the end.
    let mut task = JoinSet::new();
    task.spawn(async move { (case.run)(&bench).await });
    let verdict = match timeout(CASE_TIME, task.join_next()).await {
        Ok(Some(Ok(outcome))) => Verdict::from(outcome),
        Ok(Some(Err(error))) => Verdict::CheckerError(format!("the case broke: {error}")),
        Ok(None) => Verdict::CheckerError("the case was not run".into()),
        Err(_) => Verdict::CheckerError(format!("the case took longer than {CASE_TIME:?}")),
    };
    Checked { case, verdict, transcript: transcript.entries(), took: started.elapsed() }
}
