//! Runs cases and hands back what became of each, in the order of the list.

use std::sync::Arc;
use std::time::Duration;

use league_agent::ambient::Mark;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::bench::{Bench, Subject};
use crate::case::{Case, Lane};
use crate::limits::{CASE_TIME, ENDING_TIME, SAID_CHARS_MAX, TOGETHER};
use crate::transcript::Entry;
use crate::verdict::{Finding, Verdict};

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
    done: &mut (dyn FnMut(&Checked) + Send),
) -> Vec<Checked> {
    let mut checked: Vec<(usize, Checked)> = Vec::new();
    let mut gone = None;
    for lane in [Lane::Together, Lane::Alone, Lane::Last] {
        let width = if lane == Lane::Together { TOGETHER } else { 1 };
        let mut waiting = cases.iter().copied().enumerate().filter(|(_, case)| case.lane == lane);
        let mut running: JoinSet<(usize, Checked)> = JoinSet::new();
        loop {
            while running.len() < width
                && let Some((index, case)) = waiting.next()
            {
                if lane == Lane::Last && gone.is_none() {
                    gone = restarted(subject).await;
                }
                let (subject, gone) = (subject.clone(), gone.clone());
                running.spawn(async move {
                    let checked = match gone {
                        Some(reason) => skipped(case, reason),
                        None => try_one(case, subject).await,
                    };
                    (index, checked)
                });
            }
            let Some(finished) = running.join_next().await else { break };
            // A case that panics is caught inside; only a runtime that ends cancels tasks.
            let Ok(mut finished) = finished else { continue };
            if lane == Lane::Alone && gone.is_none() {
                gone = revive(&mut finished.1, subject).await;
            }
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
        return skipped(case, format!("not tried in {}", bench.dialect()));
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

/// Starts an agent again that has ended since the last case. If that fails: why the others are
/// skipped.
async fn restarted(subject: &Arc<Subject>) -> Option<String> {
    let agent = subject.agent.as_ref()?;
    if !agent.ended_within(ENDING_TIME).await {
        return None;
    }
    let again = Bench::new(subject.clone()).restart().await;
    again.err().map(|_| "the agent has ended and does not come back".into())
}

fn skipped(case: &'static Case, reason: String) -> Checked {
    let verdict = Verdict::Skipped(reason);
    Checked { case, verdict, transcript: vec![], took: Duration::ZERO }
}

/// An agent that did not survive a case failed it, whatever it said; the other cases are not to
/// suffer for it. If it cannot be started again: why they are skipped.
async fn revive(checked: &mut Checked, subject: &Arc<Subject>) -> Option<String> {
    if checked.verdict == Verdict::Pass {
        return None;
    }
    let bench = Bench::new(subject.clone());
    // A program that ends takes a moment for it.
    let has_ended = match &subject.agent {
        Some(agent) => agent.ended_within(ENDING_TIME).await,
        None => false,
    };
    let is_there = !has_ended && bench.line().await.is_ok();
    match &subject.agent {
        _ if is_there => None,
        Some(agent) => {
            let words = agent.words();
            let last = words.lines().next_back().unwrap_or("nothing");
            let last: String = last.chars().take(SAID_CHARS_MAX).collect();
            checked.verdict = Verdict::Fail(Finding {
                sentence: format!("the agent ended during this case; the last it said: {last}"),
                change: "answer with an error instead of ending, and go on".into(),
                json: None,
            });
            bench.restart().await.err().map(|_| format!("{GONE}{}", checked.case.id))
        }
        None => {
            checked.verdict = Verdict::Fail(Finding {
                sentence: "nobody listens there any more: the agent ended during this case".into(),
                change: "answer with an error instead of ending, and go on".into(),
                json: None,
            });
            Some(format!("{GONE}{}", checked.case.id))
        }
    }
}

const GONE: &str = "the agent is gone since ";
