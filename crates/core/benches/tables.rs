//! Schedule and standings of a league of two thousand players.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use league_core::dice::{Dice, SeededDice};
use league_core::id::{MatchId, PlayerId, RoundId};
use league_core::policy::{Policy, RuleSet};
use league_core::schedule::{Pairing, RoundRobin};
use league_core::seat::Seat;
use league_core::standings::Standings;
use league_core::verdict::Verdict;

const PLAYERS: u32 = 2_000;

fn schedule(c: &mut Criterion) {
    c.bench_function("schedule/stream 2000 players", |b| {
        b.iter(|| {
            RoundRobin::matches(black_box(PLAYERS))
                .fold(0_u64, |sum, (_, pair)| sum + u64::from(pair.b.number()))
        });
    });
}

fn record(c: &mut Criterion) {
    let policy = rules(RuleSet::V20);
    let empty = empty();
    let mut results = Results::new();
    let mut standings = empty.clone();
    // A whole league over and over, so that every stage of its life weighs the same.
    c.bench_function("standings/record one of 2000 players, v2.0", |b| {
        b.iter(|| {
            let (round, pairing, verdict) = results.next().unwrap_or_else(|| {
                standings = empty.clone();
                results = Results::new();
                results.next().expect("a league has matches")
            });
            standings.record(round, pairing, verdict, black_box(&policy));
        });
    });
    let played = played_up_to(PLAYERS - 2);
    let last: Vec<_> = Results::new().filter(|r| r.0.number() == PLAYERS - 1).collect();
    c.bench_function("standings/record the last round of 2000 players, v2.0", |b| {
        b.iter_batched_ref(
            || played.clone(),
            |standings| {
                for &(round, pairing, verdict) in &last {
                    standings.record(round, pairing, verdict, &policy);
                }
            },
            BatchSize::LargeInput,
        );
    });
}

fn ranking(c: &mut Criterion) {
    for (stage, rounds) in [("first round", 1), ("half", PLAYERS / 2), ("end", PLAYERS - 1)] {
        let standings = played_up_to(rounds);
        for rule_set in RuleSet::ALL {
            let policy = rules(rule_set);
            c.bench_function(&format!("standings/rank 2000 players, {rule_set}, {stage}"), |b| {
                b.iter(|| black_box(&standings).ranked(&policy));
            });
        }
    }
    let standings = played_up_to(PLAYERS - 1);
    let (policy, half) = (rules(RuleSet::V21), RoundId::new(PLAYERS / 2));
    c.bench_function("standings/table of a past round, v2.1, half", |b| {
        b.iter(|| black_box(&standings).at_round(half, &policy));
    });
    c.bench_function("standings/clone 2000 players, end", |b| {
        b.iter(|| black_box(&standings).clone());
    });
}

/// Every match of the league with a verdict: mostly wins, some draws, some failures.
struct Results {
    matches: Box<dyn Iterator<Item = (MatchId, Pairing)>>,
    dice: SeededDice,
}

impl Results {
    fn new() -> Self {
        Self { matches: Box::new(RoundRobin::matches(PLAYERS)), dice: SeededDice::new(1) }
    }
}

impl Iterator for Results {
    type Item = (RoundId, Pairing, Verdict);

    fn next(&mut self) -> Option<Self::Item> {
        let (id, pairing) = self.matches.next()?;
        let verdict = match self.dice.below(20) {
            0..8 => Verdict::Won(Seat::A),
            8..16 => Verdict::Won(Seat::B),
            16..19 => Verdict::Drawn,
            _ => Verdict::TechnicalLoss(Seat::A),
        };
        Some((id.round, pairing, verdict))
    }
}

fn played_up_to(rounds: u32) -> Standings {
    let policy = rules(RuleSet::V21);
    let mut standings = empty();
    for (round, pairing, verdict) in Results::new().take_while(|r| r.0.number() <= rounds) {
        standings.record(round, pairing, verdict, &policy);
    }
    standings
}

fn empty() -> Standings {
    Standings::new(&Vec::from_iter((1..=PLAYERS).map(PlayerId::new)))
}

fn rules(rule_set: RuleSet) -> Policy {
    Policy::build(rule_set, []).expect("a published rule set")
}

criterion_group!(tables, schedule, record, ranking);
criterion_main!(tables);
