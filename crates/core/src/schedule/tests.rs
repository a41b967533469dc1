//! The schedule's promises, and a knockout that shows that a league needs no round robin.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::officials::{Assignment, Load, Official, assign, replacement};
use super::*;
use crate::id::RefereeId;

/// Losers go home. The winners of a round meet in the next one; whoever has no opponent rests. If
/// nobody won, side A goes through.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Knockout;

impl Format for Knockout {
    fn name(&self) -> &'static str {
        "knockout"
    }

    fn rounds_total(&self, players: u32) -> Option<u32> {
        Some(players.max(1).next_power_of_two().ilog2())
    }

    fn next_round(&self, players: &[PlayerId], past: &[RoundResults]) -> Option<Round> {
        let field = past.last().map_or_else(|| players.to_vec(), survivors);
        let (pairs, rest) = field.as_chunks::<2>();
        (!pairs.is_empty()).then(|| Round {
            pairings: pairs.iter().map(|&[a, b]| Pairing::new(a, b)).collect(),
            byes: rest.to_vec(),
        })
    }
}

fn survivors(round: &RoundResults) -> Vec<PlayerId> {
    let through = |&(pairing, verdict): &(Pairing, Verdict)| {
        pairing.player(verdict.winner().unwrap_or(Seat::A))
    };
    let winners = round.matches.iter().map(through);
    round.byes.iter().copied().chain(winners).collect()
}

// req: SCHED-1, SCHED-2
#[test]
fn four_players_give_the_documents_table() {
    let table: Vec<_> = RoundRobin::matches(4)
        .map(|(id, pair)| format!("{id}: {} vs {}", pair.a, pair.b))
        .collect();
    let printed = [
        "R1M1: P01 vs P02",
        "R1M2: P03 vs P04",
        "R2M1: P01 vs P03",
        "R2M2: P02 vs P04",
        "R3M1: P01 vs P04",
        "R3M2: P02 vs P03",
    ];
    assert_eq!(table, printed);
}

// req: SCHED-1
#[test]
fn every_pair_meets_exactly_once() {
    for players in 2..=200 {
        let mut met = BTreeSet::new();
        for (_, pair) in RoundRobin::matches(players) {
            assert!(met.insert((pair.a.min(pair.b), pair.a.max(pair.b))), "{pair:?}");
            assert!(pair.a != pair.b && pair.a.number().max(pair.b.number()) <= players);
        }
        assert_eq!(met.len() as u32, players * (players - 1) / 2);
    }
}

// req: SCHED-1
#[test]
fn nobody_plays_twice_in_a_round_and_byes_rotate() {
    for players in 2..=200 {
        let field = numbered(players);
        let rounds = play(&RoundRobin, &field, |_| Verdict::Drawn);
        let expected = if players % 2 == 0 { players - 1 } else { players };
        assert_eq!(rounds.len() as u32, expected);
        assert_eq!(RoundRobin.rounds_total(players), Some(expected));
        let mut byes: BTreeMap<_, u32> = field.iter().map(|&id| (id, 0)).collect();
        for round in &rounds {
            let busy = round.matches.iter().flat_map(|(pair, _)| [pair.a, pair.b]);
            let mut seen: Vec<_> = busy.chain(round.byes.iter().copied()).collect();
            seen.sort();
            assert_eq!(seen, field);
            for id in &round.byes {
                *byes.get_mut(id).unwrap() += 1;
            }
        }
        let (most, least) = (byes.values().max(), byes.values().min());
        assert!(most.unwrap() - least.unwrap() <= 1, "{byes:?}");
    }
}

#[test]
fn sides_are_balanced_where_no_document_prints_them() {
    for players in 5..=200 {
        let mut surplus = vec![0_i32; players as usize];
        for (_, pair) in RoundRobin::matches(players) {
            surplus[pair.a.index()] += 1;
            surplus[pair.b.index()] -= 1;
        }
        assert!(surplus.iter().all(|s| s.abs() <= 1), "{players}: {surplus:?}");
    }
}

#[test]
fn the_schedule_of_any_size_is_computed_and_never_held() {
    assert!(size_of_val(&RoundRobin::matches(100_000)) <= 128);
    let last = RoundRobin::pair(100_000, 99_998, 49_999);
    assert_ne!(last.a, last.b);
}

#[test]
fn a_league_of_one_has_no_rounds() {
    for players in 0..2 {
        assert_eq!(RoundRobin.rounds_total(players), Some(0));
        assert_eq!(RoundRobin.next_round(&numbered(players), &[]), None);
        assert_eq!(RoundRobin::matches(players).count(), 0);
    }
}

#[test]
fn formats_are_found_by_name() {
    for &name in NAMES {
        assert_eq!(by_name(name).unwrap().name(), name);
    }
    assert!(by_name("swiss-ish").is_none());
}

proptest! {
    #[test]
    fn one_round_of_a_big_league_seats_everybody(players in 2_u32..3_000, round in 0_u32..3_000) {
        let round = round % RoundRobin::rounds(players);
        let mut seen = BTreeSet::new();
        for index in 0..RoundRobin::matches_per_round(players) {
            let pair = RoundRobin::pair(players, round, index);
            prop_assert!(seen.insert(pair.a) && seen.insert(pair.b));
        }
        if let Some(resting) = RoundRobin::bye(players, round) {
            prop_assert!(seen.insert(resting));
        }
        prop_assert_eq!(seen, BTreeSet::from_iter(numbered(players)));
    }

    #[test]
    fn rounds_name_the_players_of_the_field(gaps in prop::collection::vec(1_u32..5, 2..20)) {
        let field: Vec<_> = gaps
            .iter()
            .scan(0, |number, gap| { *number += gap; Some(PlayerId::new(*number)) })
            .collect();
        let rounds = play(&RoundRobin, &field, |_| Verdict::Drawn);
        let named = rounds.iter().flat_map(|round| round.matches.iter().map(|&(pair, _)| pair));
        let computed = RoundRobin::matches(gaps.len() as u32)
            .map(|(_, pair)| Pairing::new(field[pair.a.index()], field[pair.b.index()]));
        prop_assert!(named.eq(computed));
    }

    #[test]
    fn a_knockout_sends_everybody_home_but_one(players in 1_u32..70, luck in any::<u64>()) {
        let verdicts = [
            Verdict::Won(Seat::A), Verdict::Won(Seat::B), Verdict::Drawn, Verdict::Cancelled,
            Verdict::TechnicalLoss(Seat::A), Verdict::BothLost,
        ];
        let verdict = |n: usize| verdicts[(luck.rotate_left(n as u32) % 6) as usize];
        let rounds = play(&Knockout, &numbered(players), verdict);
        prop_assert_eq!(Some(rounds.len() as u32), Knockout.rounds_total(players));
        prop_assert_eq!(rounds.iter().map(|r| r.matches.len()).sum::<usize>() as u32, players - 1);
        let mut out = BTreeSet::new();
        for (pair, verdict) in rounds.iter().flat_map(|round| &round.matches) {
            let winner = verdict.winner().unwrap_or(Seat::A);
            prop_assert!(!out.contains(&pair.player(winner)));
            prop_assert!(out.insert(pair.player(winner.other())));
        }
    }

    // req: SCHED-3, REG-9
    #[test]
    fn referees_are_balanced_within_their_limits(
        limits in prop::collection::vec(1_u32..5, 1..8),
        rounds in prop::collection::vec(0_usize..40, 1..8),
    ) {
        let mut referees = officials(&limits);
        for matches in rounds {
            let given = assign(matches, &referees).unwrap();
            prop_assert_eq!(given.len(), matches);
            check_waves(&given, &referees);
            for assignment in &given {
                referees[assignment.referee.index()].given += 1;
            }
            let totals = || referees.iter().map(|referee| referee.given);
            prop_assert!(totals().max().unwrap() - totals().min().unwrap() <= 1);
        }
    }

    // req: SCHED-3
    #[test]
    fn whoever_was_given_less_catches_up_first(
        given in prop::collection::vec(0_u32..30, 1..8),
        matches in 0_usize..60,
    ) {
        let mut referees = officials(&vec![3; given.len()]);
        for (referee, given) in referees.iter_mut().zip(&given) {
            referee.given = *given;
        }
        let mut totals = given;
        for assignment in assign(matches, &referees).unwrap() {
            let least = *totals.iter().min().unwrap();
            let total = &mut totals[assignment.referee.index()];
            prop_assert_eq!(*total, least);
            *total += 1;
        }
    }

    // req: ERR-6, REG-9
    #[test]
    fn a_match_is_taken_over_by_the_least_loaded_with_room(
        loads in prop::collection::vec((0_u32..4, 0_u32..4, 0_u32..9), 1..6),
        failed in 1_u32..7,
    ) {
        let failed = RefereeId::new(failed);
        let loads: Vec<_> = (1..)
            .zip(loads)
            .map(|(number, (max_concurrent, running, given))| Load {
                official: Official { id: RefereeId::new(number), max_concurrent, given },
                running,
            })
            .collect();
        let free = |load: &&Load| {
            load.official.id != failed && load.official.max_concurrent > load.running
        };
        match replacement(&loads, Some(failed)) {
            None => prop_assert_eq!(loads.iter().filter(free).count(), 0),
            Some(chosen) => {
                let chosen = &loads[chosen.index()];
                prop_assert!(free(&chosen));
                for other in loads.iter().filter(free) {
                    prop_assert!(chosen.running <= other.running);
                }
            }
        }
    }
}

// req: SCHED-3
#[test]
fn two_referees_share_four_players_as_the_document_prints_it() {
    let mut referees = officials(&[10, 10]);
    for _ in 0..3 {
        let given = assign(2, &referees).unwrap();
        let names: Vec<_> = given.iter().map(|a| a.referee.to_string()).collect();
        assert_eq!(names, ["REF01", "REF02"]);
        for referee in &mut referees {
            referee.given += 1;
        }
    }
}

#[test]
fn without_referees_no_match_is_given_away() {
    assert_eq!(assign(1, &[]), None);
    assert_eq!(assign(1, &officials(&[0])), None);
    assert_eq!(assign(0, &[]), Some(Vec::new()));
    assert_eq!(replacement(&[], Some(RefereeId::new(1))), None);
}

/// No referee runs more than it can in a wave, and none waits while it has room.
fn check_waves(given: &[Assignment], referees: &[Official]) {
    let mut waves: BTreeMap<(RefereeId, u32), u32> = BTreeMap::new();
    for assignment in given {
        let limit = referees[assignment.referee.index()].max_concurrent;
        let running = waves.entry((assignment.referee, assignment.wave)).or_default();
        *running += 1;
        assert!(*running <= limit, "{assignment:?}");
        if assignment.wave > 0 {
            let before = waves.get(&(assignment.referee, assignment.wave - 1));
            assert_eq!(before, Some(&limit), "{assignment:?}");
        }
    }
}

fn officials(limits: &[u32]) -> Vec<Official> {
    (1..)
        .zip(limits)
        .map(|(number, &max_concurrent)| Official {
            id: RefereeId::new(number),
            max_concurrent,
            given: 0,
        })
        .collect()
}

fn numbered(players: u32) -> Vec<PlayerId> {
    (1..=players).map(PlayerId::new).collect()
}

/// Every round of a league in which the `n`-th match of each round ends as `verdict` says.
fn play(
    format: &dyn Format,
    field: &[PlayerId],
    verdict: impl Fn(usize) -> Verdict,
) -> Vec<RoundResults> {
    let mut past: Vec<RoundResults> = Vec::new();
    while let Some(Round { pairings, byes }) = format.next_round(field, &past) {
        assert!(past.len() <= field.len(), "a league ends");
        let matches = (0..).zip(pairings).map(|(n, pairing)| (pairing, verdict(n))).collect();
        past.push(RoundResults { matches, byes });
    }
    past
}
