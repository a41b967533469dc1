//! Runs cases and hands back what became of each, in the order of the list.

use std::sync::Arc;
use std::time::Duration;

use league_agent::ambient::Mark;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::bench::{Bench, Subject};
use crate::case::{Case, Lane};
use crate::limits::{CASE_TIME, ENDING_TIME, SAID_CHARS_MAX, TOGETHER, WIDTH_UNSAID};
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
    let of = |lane: Lane| {
        let all = cases.iter().copied().enumerate();
        all.filter(|(_, case)| case.lane == lane).collect::<Vec<_>>()
    };
    let mut row = Row { subject, done, gone: None, checked: Vec::new() };
    let again = row.beside_each_other(of(Lane::Together)).await;
    row.one_by_one(again).await;
    row.one_by_one(of(Lane::Alone)).await;
    row.one_by_one(of(Lane::Last)).await;
    let mut checked = row.checked;
    checked.sort_by_key(|(index, _)| *index);
    checked.into_iter().map(|(_, checked)| checked).collect()
}

type Numbered = (usize, &'static Case);

/// The cases in a row, and what became of those that were tried.
struct Row<'a> {
    subject: &'a Arc<Subject>,
    done: &'a mut (dyn FnMut(&Checked) + Send),
    /// Why nothing more can be tried.
    gone: Option<String>,
    checked: Vec<(usize, Checked)>,
}

impl Row<'_> {
    fn note(&mut self, index: usize, checked: Checked) {
        (self.done)(&checked);
        self.checked.push((index, checked));
    }

    /// Tries cases at the same time. If the agent does not survive it nobody knows which case it
    /// was: those that did not pass are given back, to be tried alone.
    async fn beside_each_other(&mut self, cases: Vec<Numbered>) -> Vec<Numbered> {
        let mut waiting = cases.into_iter();
        let mut running: JoinSet<(usize, Checked)> = JoinSet::new();
        let mut doubtful = Vec::new();
        loop {
            while running.len() < width(self.subject)
                && let Some((index, case)) = waiting.next()
            {
                let subject = self.subject.clone();
                running.spawn(async move { (index, try_one(case, subject).await) });
            }
            // A case that panics is caught inside; only a runtime that ends cancels tasks.
            let Some(Ok((index, checked))) = running.join_next().await else { break };
            match checked.verdict {
                Verdict::Pass => self.note(index, checked),
                Verdict::Fail(_) | Verdict::Skipped(_) | Verdict::CheckerError(_) => {
                    doubtful.push((index, checked));
                }
            }
        }
        let survived = match &self.subject.agent {
            Some(agent) => doubtful.is_empty() || !agent.ended_within(ENDING_TIME).await,
            None => true,
        };
        if survived {
            doubtful.into_iter().for_each(|(index, checked)| self.note(index, checked));
            return Vec::new();
        }
        doubtful.into_iter().map(|(index, checked)| (index, checked.case)).collect()
    }

    /// Tries cases one after the other, and starts the agent again when one of them ended it.
    async fn one_by_one(&mut self, cases: Vec<Numbered>) {
        for (index, case) in cases {
            if self.gone.is_none() && case.lane != Lane::Alone {
                self.gone = restarted(self.subject).await;
            }
            let mut checked = match &self.gone {
                Some(reason) => skipped(case, reason.clone()),
                None => try_one(case, self.subject.clone()).await,
            };
            if self.gone.is_none() && case.lane != Lane::Last {
                self.gone = revive(&mut checked, self.subject).await;
            }
            self.note(index, checked);
        }
    }
}

/// How many cases run at the same time: a referee says how many matches it takes.
fn width(subject: &Subject) -> usize {
    let said = subject.registered.as_ref().and_then(|one| one.meta.max_concurrent_matches);
    let said = said.and_then(|said| usize::try_from(said).ok());
    said.unwrap_or(WIDTH_UNSAID).clamp(1, TOGETHER)
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
