//! The table against a slow one that is obviously right, and by example.

use proptest::prelude::*;

use super::*;
use crate::policy::{RuleSet, TieBreaker};

/// Each round's matches, in the order in which their results arrive.
type League = Vec<Vec<(Pairing, Verdict)>>;

const VERDICTS: [Verdict; 7] = [
    Verdict::Won(Seat::A),
    Verdict::Won(Seat::B),
    Verdict::Drawn,
    Verdict::TechnicalLoss(Seat::A),
    Verdict::TechnicalLoss(Seat::B),
    Verdict::BothLost,
    Verdict::Cancelled,
];

/// More rounds than this would need a larger number in the slow table's percentages.
const ROUNDS_MAX: usize = 10;

/// The table by the book: every number counted anew from the plain list of results.
mod slow {
    use super::*;

    pub(super) fn table(
        players: &[PlayerId],
        results: &[(Pairing, Verdict)],
        policy: &Policy,
    ) -> Vec<Row> {
        let mut keys: Vec<Vec<u64>> = Vec::new();
        for &player in players {
            keys.push(vec![points(player, results, policy, players)]);
        }
        for rule in policy.tie_breakers() {
            let so_far = keys.clone();
            for (n, &player) in players.iter().enumerate() {
                let mut tied = Vec::new();
                for (m, &other) in players.iter().enumerate() {
                    if so_far[m] == so_far[n] {
                        tied.push(other);
                    }
                }
                let wins = count(player, results, |score| score == Score::Win);
                let played = count(player, results, |score| score != Score::None);
                keys[n].push(match rule {
                    TieBreaker::HeadToHead => points(player, results, policy, &tied),
                    // 2520 can be divided by every number of games up to ten.
                    TieBreaker::WinPercentage => u64::from(2_520 / played.max(1) * wins),
                    TieBreaker::Wins => wins.into(),
                    TieBreaker::Draws => count(player, results, |s| s == Score::Draw).into(),
                });
            }
        }
        let mut rows = Vec::new();
        for (n, &player) in players.iter().enumerate() {
            let ahead = |m: usize| keys[m] > keys[n] || (keys[m] == keys[n] && m < n);
            let rank = 1 + (0..players.len()).filter(|&m| ahead(m)).count() as u32;
            rows.push(Row {
                rank,
                player,
                record: Record {
                    played: count(player, results, |score| score != Score::None),
                    wins: count(player, results, |score| score == Score::Win),
                    draws: count(player, results, |score| score == Score::Draw),
                    losses: count(player, results, |score| {
                        score == Score::Loss || score == Score::TechnicalLoss
                    }),
                    technical_losses: count(player, results, |s| s == Score::TechnicalLoss),
                    points: points(player, results, policy, players),
                },
            });
        }
        rows.sort_by_key(|row| row.rank);
        rows
    }

    fn points(
        player: PlayerId,
        results: &[(Pairing, Verdict)],
        policy: &Policy,
        against: &[PlayerId],
    ) -> u64 {
        let mut sum = 0;
        for (pairing, verdict) in results {
            if pairing.a == player && against.contains(&pairing.b) {
                sum += u64::from(verdict.scores().a.points(policy));
            }
            if pairing.b == player && against.contains(&pairing.a) {
                sum += u64::from(verdict.scores().b.points(policy));
            }
        }
        sum
    }

    fn count(
        player: PlayerId,
        results: &[(Pairing, Verdict)],
        wanted: impl Fn(Score) -> bool,
    ) -> u32 {
        let mut sum = 0;
        for (pairing, verdict) in results {
            if pairing.a == player && wanted(verdict.scores().a) {
                sum += 1;
            }
            if pairing.b == player && wanted(verdict.scores().b) {
                sum += 1;
            }
        }
        sum
    }
}

proptest! {
    // req: RESULT-4, RESULT-5, RESULT-6
    #[test]
    fn the_table_is_right_after_every_result_and_every_round(
        (players, league) in leagues(),
        policy in prop::sample::select(policies()),
    ) {
        let mut standings = Standings::new(&players);
        let mut results = Vec::new();
        let mut ends = Vec::new();
        for (number, round) in (1..).zip(&league) {
            for &(pairing, verdict) in round {
                standings.record(RoundId::new(number), pairing, verdict, &policy);
                results.push((pairing, verdict));
                prop_assert_eq!(
                    standings.ranked(&policy),
                    slow::table(&players, &results, &policy)
                );
            }
            ends.push(slow::table(&players, &results, &policy));
        }
        for (number, end) in (1..).zip(ends) {
            prop_assert_eq!(standings.at_round(RoundId::new(number), &policy), end);
        }
    }

    #[test]
    fn those_lead_whom_only_the_order_of_registration_tells_apart(
        (players, league) in leagues(),
        policy in prop::sample::select(policies()),
    ) {
        let backwards: Vec<_> = players.iter().rev().copied().collect();
        let (mut forth, mut back) = (Standings::new(&players), Standings::new(&backwards));
        prop_assert_eq!(forth.leaders(&policy), 0);
        for (number, round) in (1..).zip(&league) {
            for &(pairing, verdict) in round {
                forth.record(RoundId::new(number), pairing, verdict, &policy);
                back.record(RoundId::new(number), pairing, verdict, &policy);
            }
        }
        // The same group leads, the other way round.
        let rows = forth.ranked(&policy);
        let last = back.ranked(&policy)[0].player;
        let count = rows.iter().position(|row| row.player == last).unwrap() + 1;
        let is_played = rows.iter().any(|row| row.record.played > 0);
        prop_assert_eq!(forth.leaders(&policy), if is_played { count } else { 0 });
    }

    // req: RESULT-4, RESULT-8
    #[test]
    fn every_match_hands_out_its_points_and_no_others(
        (players, league) in leagues(),
        policy in prop::sample::select(policies()[..2].to_vec()),
    ) {
        let mut standings = Standings::new(&players);
        let sums = |standings: &Standings| {
            let rows = standings.ranked(&policy);
            let sum = |of: fn(&Record) -> u64| rows.iter().map(|row| of(&row.record)).sum::<u64>();
            let technical = sum(|record| record.technical_losses.into());
            (sum(|record| record.points), sum(|record| record.played.into()), technical)
        };
        for (number, round) in (1..).zip(&league) {
            for &(pairing, verdict) in round {
                let before = sums(&standings);
                standings.record(RoundId::new(number), pairing, verdict, &policy);
                let after = sums(&standings);
                let gained = (after.0 - before.0, after.1 - before.1, after.2 - before.2);
                prop_assert_eq!(gained, match verdict {
                    Verdict::Won(_) => (3, 2, 0),
                    Verdict::Drawn => (2, 2, 0),
                    Verdict::TechnicalLoss(_) => (3, 2, 1),
                    Verdict::BothLost => (0, 2, 2),
                    Verdict::Cancelled => (0, 0, 0),
                });
            }
        }
        for row in standings.ranked(&policy) {
            let record = row.record;
            prop_assert_eq!(record.played, record.wins + record.draws + record.losses);
            prop_assert!(record.technical_losses <= record.losses);
            prop_assert_eq!(standings.record_of(row.player), Some(&record));
        }
    }
}

// req: RESULT-5
#[test]
fn the_two_rule_sets_break_the_same_tie_differently() {
    let [one, two, three, four, five] = [1, 2, 3, 4, 5].map(PlayerId::new);
    // Both end on four points: two by a win and a draw, one by four draws.
    let league = [
        (one, two, Verdict::Drawn),
        (one, three, Verdict::Drawn),
        (one, four, Verdict::Drawn),
        (one, five, Verdict::Drawn),
        (two, five, Verdict::Won(Seat::A)),
    ];
    let [v21, v20] = RuleSet::ALL.map(|rule_set| Policy::build(rule_set, []).unwrap());
    let mut standings = Standings::new(&[one, two, three, four, five]);
    for (round, (a, b, verdict)) in (1..).zip(league) {
        standings.record(RoundId::new(round), Pairing::new(a, b), verdict, &v21);
    }
    // Head-to-head cannot tell them apart, and both rules that follow favour the win.
    assert_eq!(order(&standings.ranked(&v21))[..2], [2, 1]);
    assert_eq!(order(&standings.ranked(&v20))[..2], [2, 1]);
    let rematch = Pairing::new(one, two);
    standings.record(RoundId::new(6), rematch, Verdict::TechnicalLoss(Seat::B), &v21);
    let equaliser = Pairing::new(two, three);
    standings.record(RoundId::new(7), equaliser, Verdict::Won(Seat::A), &v21);
    // Seven points each; one won the meeting, two has more wins.
    assert_eq!(order(&standings.ranked(&v21))[..2], [1, 2]);
    assert_eq!(order(&standings.ranked(&v20))[..2], [2, 1]);
    let record = standings.record_of(two).unwrap();
    assert_eq!((record.points, record.losses, record.technical_losses), (7, 1, 1));
    assert!((record.win_rate() - 0.5).abs() < f64::EPSILON);
}

// req: RESULT-5
#[test]
fn players_nothing_tells_apart_stand_in_registration_order() {
    let players: Vec<_> = [7, 3, 9, 1].map(PlayerId::new).into();
    for policy in policies() {
        let mut standings = Standings::new(&players);
        assert_eq!(order(&standings.ranked(&policy)), [7, 3, 9, 1]);
        let cancelled = Pairing::new(players[3], players[0]);
        standings.record(RoundId::FIRST, cancelled, Verdict::Cancelled, &policy);
        let drawn = Pairing::new(players[2], players[1]);
        standings.record(RoundId::FIRST, drawn, Verdict::Drawn, &policy);
        assert_eq!(order(&standings.ranked(&policy)), [3, 9, 7, 1]);
        let idle = standings.record_of(players[0]).unwrap();
        assert_eq!((idle.played, idle.win_rate()), (0, 0.0));
    }
}

#[test]
#[should_panic(expected = "one result per player and round")]
fn a_second_result_in_a_round_is_never_counted() {
    let players = [1, 2].map(PlayerId::new);
    let mut standings = Standings::new(&players);
    let pairing = Pairing::new(players[0], players[1]);
    for verdict in [Verdict::Cancelled, Verdict::Drawn] {
        standings.record(RoundId::FIRST, pairing, verdict, &Policy::default());
    }
}

#[test]
fn a_copy_stays_as_it_was() {
    let players = [1, 2].map(PlayerId::new);
    let policy = Policy::default();
    let mut standings = Standings::new(&players);
    let copy = standings.clone();
    let pairing = Pairing::new(players[1], players[0]);
    standings.record(RoundId::FIRST, pairing, Verdict::Won(Seat::A), &policy);
    assert_eq!(order(&copy.at_round(RoundId::FIRST, &policy)), [1, 2]);
    assert_eq!(order(&standings.at_round(RoundId::FIRST, &policy)), [2, 1]);
}

#[test]
fn a_result_is_remembered_in_eight_bytes() {
    assert_eq!(2 * size_of::<Cell>(), 8);
    for score in Cell::SCORES {
        let cell = Cell::new(99_999, score);
        assert_eq!((cell.opponent(), Cell::SCORES[cell.code()]), (100_000, score));
    }
}

/// Rounds in which any players meet, some rest, and some meet again.
fn leagues() -> impl Strategy<Value = (Vec<PlayerId>, League)> {
    (2_u32..12).prop_flat_map(|count| {
        let players: Vec<_> = (0..count).map(|n| PlayerId::new(3 * n + 2)).collect();
        let seats = Just(players.clone()).prop_shuffle();
        let verdicts = prop::collection::vec(prop::sample::select(&VERDICTS[..]), 0..=6);
        let round = (seats, verdicts).prop_map(|(seats, verdicts)| {
            let pairs = seats.as_chunks::<2>().0.iter();
            let pairings = pairs.map(|&[a, b]| Pairing::new(a, b));
            pairings.zip(verdicts).collect()
        });
        (Just(players), prop::collection::vec(round, 0..=ROUNDS_MAX))
    })
}

/// The two rule sets, and two that try the rules in another order and with other points.
fn policies() -> Vec<Policy> {
    let points = [("points_win", "5"), ("points_draw", "2"), ("points_loss", "1")];
    let late = [("tie_breakers", "draws,head_to_head,win_percentage")];
    vec![
        Policy::build(RuleSet::V21, []).unwrap(),
        Policy::build(RuleSet::V20, []).unwrap(),
        Policy::build(RuleSet::V21, points).unwrap(),
        Policy::build(RuleSet::V21, late).unwrap(),
    ]
}

fn order(rows: &[Row]) -> Vec<u32> {
    let ranks = rows.iter().map(|row| row.rank);
    assert!(ranks.eq(1..=rows.len() as u32));
    rows.iter().map(|row| row.player.number()).collect()
}
