//! What people and programs are told of a practice.

use std::collections::BTreeMap;
use std::time::Duration;

use league_core::spread::Spread;
use league_server::practice::{Drill, Ending, Fault, Finding, Practised, Pupil};
use serde_json::json;

use crate::command::trace::story;

/// A practice, as far as it has come.
pub(super) struct Sparring {
    address: String,
    player: String,
    dialect: String,
    /// How many matches it will be.
    total: usize,
    /// How wide the column of faults is; nothing if there are none.
    fault_width: usize,
    played: Vec<Practised>,
}

impl Sparring {
    pub(super) fn new(pupil: &Pupil, drills: &[Drill]) -> Self {
        let faults = drills.iter().filter_map(|drill| drill.fault);
        let fault_width = faults.map(|fault| fault.name().len() + 2).max().unwrap_or(0);
        Self {
            address: pupil.address.clone(),
            player: pupil.id.to_string(),
            dialect: pupil.dialect.name().into(),
            total: drills.len(),
            fault_width,
            played: vec![],
        }
    }

    pub(super) fn add(&mut self, practised: Practised) {
        self.dialect = practised.dialect.name().into();
        self.played.push(practised);
    }

    /// How many things there are to fix.
    pub(super) fn troubles(&self) -> usize {
        self.to_fix().len()
    }

    /// One match, as soon as it is over.
    pub(super) fn line(&self, practised: &Practised, bytes: bool) -> String {
        let width = self.total.to_string().len();
        let number = self.played.len() + 1;
        let against = practised.against.name();
        let fault = practised.fault.map_or("", Fault::name);
        let column = self.fault_width;
        let ending = practised.ending.word();
        let why = story::printable(&practised.why);
        let mut out =
            format!("  {number:width$}  {against:11}  {fault:column$}{ending:14}  {why}\n");
        if let Some(transcript) = practised.transcript.as_ref().filter(|_| bytes) {
            out.push_str(&story::transcript(transcript, true));
            out.push('\n');
        }
        out
    }

    /// How it went, how fast the agent is, and what to fix.
    pub(super) fn summary(&self) -> String {
        let count = |ending: Ending| self.played.iter().filter(|one| one.ending == ending).count();
        let matches = self.played.len();
        let mut out = format!(
            "\n{} at {}, in {}: {matches} {}, {} won, {} drawn, {} lost, {} lost technically",
            self.player,
            story::printable(&self.address),
            self.dialect,
            if matches == 1 { "match" } else { "matches" },
            count(Ending::Won),
            count(Ending::Drawn),
            count(Ending::Lost),
            count(Ending::Technical),
        );
        match count(Ending::Void) {
            0 => out.push('\n'),
            void => out.push_str(&format!(", {void} that do not count\n")),
        }
        out.push_str(&self.speed());
        out.push_str(&self.faults());
        let to_fix = self.to_fix();
        if to_fix.is_empty() {
            out.push_str("Nothing to fix.\n");
            return out;
        }
        out.push_str("\nTo fix:\n");
        for (number, (finding, matches)) in (1..).zip(&to_fix) {
            let sentence = story::printable(&finding.sentence);
            out.push_str(&format!("  {number}. {sentence} ({})\n", listed(matches)));
            out.push_str(&format!("     {}\n", story::printable(&finding.change)));
        }
        let is_shown = self.played.iter().any(|one| one.ending == Ending::Technical);
        if is_shown {
            out.push_str("\n--bytes shows everything that was said, byte by byte\n");
        }
        out
    }

    /// What went wrong on purpose.
    fn faults(&self) -> String {
        let mut counted: BTreeMap<Fault, (usize, u32)> = BTreeMap::new();
        for practised in &self.played {
            if let Some(fault) = practised.fault {
                let (matches, times) = counted.entry(fault).or_default();
                *matches += 1;
                *times += practised.faults;
            }
        }
        let line = |(fault, (matches, times)): (Fault, (usize, u32))| {
            let matches =
                if matches == 1 { "1 match".into() } else { format!("{matches} matches") };
            format!("{}: {} in {matches}\n", fault.name(), done(fault, times))
        };
        counted.into_iter().map(line).collect()
    }

    fn speed(&self) -> String {
        let spread = self.spread();
        let (Some(mean), Some(slowest)) = (spread.mean(), spread.max()) else {
            return "No answer came.\n".into();
        };
        let within = |percent| span(spread.percentile(percent).unwrap_or_default());
        format!(
            "{} answers: {} on average, half within {}, 95 % within {}, 99 % within {}, the slowest \
             {}\n",
            spread.count(),
            span(mean),
            within(50),
            within(95),
            within(99),
            span(slowest),
        )
    }

    fn spread(&self) -> Spread {
        let mut spread = Spread::default();
        self.played.iter().flat_map(|one| &one.times).for_each(|time| spread.note(*time));
        spread
    }

    /// Everything there is to fix, each with the matches in which it was seen.
    fn to_fix(&self) -> BTreeMap<Finding, Vec<usize>> {
        let mut all: BTreeMap<Finding, Vec<usize>> = BTreeMap::new();
        for (number, practised) in (1..).zip(&self.played) {
            for finding in practised.findings.iter().cloned().chain(technical(practised)) {
                all.entry(finding).or_default().push(number);
            }
        }
        all
    }

    /// The one JSON document.
    pub(super) fn document(&self, bytes: bool) -> String {
        let spread = self.spread();
        let ms = |time: Option<Duration>| time.map(|time| time.as_secs_f64() * 1_000.0);
        let count = |ending: Ending| self.played.iter().filter(|one| one.ending == ending).count();
        let fix = |(finding, matches): (&Finding, &Vec<usize>)| {
            let Finding { sentence, change } = finding;
            json!({ "sentence": sentence, "change": change, "matches": matches })
        };
        let to_fix = self.to_fix();
        let document = json!({
            "address": self.address,
            "player_id": self.player,
            "dialect": self.dialect,
            "matches": self.played.len(),
            "won": count(Ending::Won),
            "drawn": count(Ending::Drawn),
            "lost": count(Ending::Lost),
            "technical_losses": count(Ending::Technical),
            "not_counted": count(Ending::Void),
            "response_ms": {
                "count": spread.count(),
                "mean": ms(spread.mean()),
                "p50": ms(spread.percentile(50)),
                "p95": ms(spread.percentile(95)),
                "p99": ms(spread.percentile(99)),
                "max": ms(spread.max()),
            },
            "to_fix": to_fix.iter().map(fix).collect::<Vec<_>>(),
            "played": self.played.iter().map(|one| one.document(bytes)).collect::<Vec<_>>(),
        });
        format!("{document:#}\n")
    }
}

fn done(fault: Fault, times: u32) -> String {
    let many = |one: &str, more: &str| match times {
        1 => format!("1 {one}"),
        times => format!("{times} {more}"),
    };
    match fault {
        Fault::Slow => many("call came late", "calls came late, and their answers too,"),
        Fault::Duplicates => many("call came twice", "calls came twice"),
        Fault::LateRetries => many(
            "choice was held back until the referee asked again",
            "choices were held back until the referee asked again",
        ),
        Fault::Drops => many("connection broke", "connections broke"),
    }
}

/// A technical loss is always something to fix.
fn technical(practised: &Practised) -> Option<Finding> {
    (practised.ending == Ending::Technical).then(|| Finding {
        sentence: practised.why.clone(),
        change: "`league check player` says what to change, case by case".into(),
    })
}

fn listed(matches: &[usize]) -> String {
    let word = if matches.len() == 1 { "match" } else { "matches" };
    let first: Vec<String> = matches.iter().take(8).map(ToString::to_string).collect();
    let more = if matches.len() > first.len() { ", …" } else { "" };
    format!("{word} {}{more}", first.join(", "))
}

fn span(time: Duration) -> String {
    story::span(u64::try_from(time.as_micros()).unwrap_or(u64::MAX))
}
