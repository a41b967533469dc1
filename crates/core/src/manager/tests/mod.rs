//! Stories of leagues: who joins, what is reported, what the books say.

mod hall;
mod life;
mod orders;
mod places;

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;

use super::dispatch::Dispatcher;
use super::*;
use crate::game::Turn;
use crate::policy::RuleSet;
use crate::schedule::tests::Knockout;
use crate::seat::{Seat, Seats};
use crate::verdict::Verdict;

use hall::{Hall, filed, first, host, joining, nothing, profile};

// req: SCHED-5, SCHED-6
#[test]
fn a_league_runs_from_the_set_number_of_players_to_its_champion() {
    let mut hall = Hall::new(StartRule::Players(4));
    hall.join_referee(1, 4).unwrap();
    (1..=3).for_each(|n| drop(hall.join_player(n).unwrap()));
    assert_eq!(*hall.league.phase(), Phase::Registering);
    hall.join_player(4).unwrap();
    assert_eq!(hall.league.open_round().unwrap().id, RoundId::FIRST);
    hall.play_to_the_end();
    assert!(matches!(hall.league.phase(), Phase::Completed { .. }));
    let rounds = hall.books.iter().filter(|e| matches!(e.fact, Fact::RoundClosed { .. })).count();
    let results = hall.books.iter().filter(|e| matches!(e.fact, Fact::ResultRecorded(_))).count();
    assert_eq!((rounds, results), (3, 6));
    let points: u64 = hall.league.table().iter().map(|row| row.record.points).sum();
    assert_eq!(points, 6 * 3);
}

#[test]
fn the_next_round_opens_only_after_every_result_of_this_one() {
    let mut hall = Hall::filled(4, 1);
    hall.ask(Command::Start).unwrap();
    let report = hall.report(first(), ["even", "odd"]);
    hall.file(report).unwrap();
    assert_eq!(hall.league.open_round().unwrap().id, RoundId::FIRST);
    let report = hall.report(MatchId::new(RoundId::FIRST, 2), ["even", "even"]);
    hall.file(report).unwrap();
    assert_eq!(hall.league.open_round().unwrap().id, RoundId::new(2));
}

#[test]
fn a_league_starts_at_a_set_time_if_it_can() {
    let mut hall = Hall::new(StartRule::At(Timestamp::from_millis(2_000_000)));
    hall.fill(2, 1);
    assert_eq!(hall.league.next_deadline(hall.now).unwrap().at, Timestamp::from_millis(2_000_000));
    hall.ask(Command::Wake).unwrap();
    assert_eq!(*hall.league.phase(), Phase::Registering);
    hall.now = Timestamp::from_millis(2_000_000);
    hall.ask(Command::Wake).unwrap();
    assert!(hall.league.open_round().is_some());
}

// req: REG-6
#[test]
fn a_registration_whose_answer_was_lost_in_a_crash_is_answered_again() {
    let mut hall = Hall::new(StartRule::OnCommand);
    let joined = hall.join_player(1).unwrap();
    hall.league = hall.replayed();
    let books = hall.books.len();
    assert_eq!(hall.join_player(1), Ok(joined));
    assert_eq!(hall.books.len(), books, "it is in the books once");
}

// req: REG-4, REG-5, REG-7
#[test]
fn registrations_that_cannot_be_are_refused_with_their_reason() {
    let mut hall = Hall::filled(2, 1);
    let taken = Refusal::AlreadyRegistered(AgentId::Player(PlayerId::new(1)));
    let conversation: ConversationId = "another".parse().unwrap();
    let again = Application::new(profile(8_101), host(), conversation);
    assert_eq!(hall.ask(Command::RegisterPlayer(Box::new(again))), Err(taken));
    let old = Profile {
        protocol_version: "1.5.0".parse().unwrap(),
        display_name: "Old".into(),
        ..profile(9_000)
    };
    let refusal = hall.ask(joining(old));
    let text = refusal.unwrap_err().to_string();
    assert_eq!(text, "Agent protocol version 1.5.0 not supported. Required: 2.0.0 - 2.1.0");
    let chess = Profile { games: vec!["chess".parse().unwrap()], ..profile(9_001) };
    let refusal = hall.ask(joining(chess));
    assert!(matches!(refusal, Err(Refusal::UnsupportedGame(_))));
    hall.ask(Command::Start).unwrap();
    assert_eq!(hall.join_player(3), Err(Refusal::LateRegistration));
    assert!(hall.join_referee(2, 1).is_ok(), "referees may join while the league is running");

    hall.play_to_the_end();
    let again = Application::new(profile(8_101), host(), "another".parse().unwrap());
    let refusal = hall.ask(Command::RegisterPlayer(Box::new(again)));
    let over = Refusal::JoinsNoMore(hall.league.id().clone());
    assert_eq!(over.to_string(), "league test is over: nobody can join it any more");
    assert_eq!(refusal, Err(over.clone()), "that it is over is what matters");
    assert_eq!((hall.join_player(4), hall.join_referee(3, 1)), (Err(over.clone()), Err(over)));

    let mut full = Hall::filled(200, 1);
    assert_eq!(full.join_player(201), Err(Refusal::LeagueFull { limit: 200 }));
}

#[test]
fn the_same_registration_gets_the_same_answer_for_a_while() {
    let mut hall = Hall::new(StartRule::OnCommand);
    let first = hall.join_player(1).unwrap();
    let books = hall.books.len();
    hall.now = hall.now + Duration::from_secs(120);
    assert_eq!(hall.join_player(1), Ok(first));
    assert_eq!(hall.books.len(), books);
    let thief = Profile { display_name: "Agent Beta".into(), ..profile(8_101) };
    let taken = Refusal::AlreadyRegistered(AgentId::Player(PlayerId::new(1)));
    assert_eq!(hall.ask(joining(thief)), Err(taken), "the answer holds the token");
    hall.now = hall.now + Duration::from_secs(1);
    let taken = Refusal::AlreadyRegistered(AgentId::Player(PlayerId::new(1)));
    assert_eq!(hall.join_player(1), Err(taken));
}

// req: REG-8
#[test]
fn an_agent_without_an_address_gets_the_documented_one() {
    let mut hall = Hall::new(StartRule::OnCommand);
    hall.join_player(1).unwrap();
    let nameless =
        |name: &str| Profile { endpoint: "".into(), display_name: name.into(), ..profile(0) };
    hall.ask(joining(nameless("Alex"))).unwrap();
    hall.ask(joining(nameless("Sam"))).unwrap();
    let endpoint = |n: usize| hall.league.players()[n].profile.endpoint.to_string();
    assert_eq!(endpoint(1), "http://10.0.0.7:8102/mcp");
    assert_eq!(endpoint(2), "http://10.0.0.7:8103/mcp");
    hall.now = hall.now + Duration::from_secs(121);
    let taken = Refusal::AlreadyRegistered(AgentId::Player(PlayerId::new(2)));
    assert_eq!(hall.ask(joining(nameless("Alex"))), Err(taken));
}

#[test]
fn a_proof_that_fits_nothing_costs_nobody_a_report() {
    let mut hall = Hall::filled(2, 1);
    hall.ask(Command::Start).unwrap();
    let honest = hall.report(first(), ["even", "odd"]);
    let mut play = honest.play.clone();
    play.choice_proofs = Seats::new(Some([0; 32]), Some(hall.proof_of(first(), Seat::B, "odd")));
    let report = hall.sign(first(), honest.verdict, play);
    assert_eq!(hall.file(report), Ok(Reply::Recorded { again: false }));
    let recorded = hall.books.iter().find_map(|event| {
        let Fact::ResultRecorded(recorded) = &event.fact else { return None };
        Some(recorded.choices)
    });
    let expected = Seats::new(ChoiceEvidence::Unclear, ChoiceEvidence::Proved);
    assert_eq!(recorded, Some(expected));
}

#[test]
fn a_referee_that_vanished_gets_nothing_until_it_is_back() {
    let mut hall = Hall::filled(4, 2);
    hall.ask(Command::Start).unwrap();
    let cause = VoidCause::LeaseExpired;
    hall.ask(Command::VoidAttempt { match_id: first(), attempt: 1, cause }).unwrap();
    assert!(hall.league.referees()[0].vanished);
    hall.play_to_the_end();
    let by_first =
        |e: &&Event| matches!(&e.fact, Fact::ResultRecorded(r) if r.referee == RefereeId::new(1));
    assert_eq!(hall.books.iter().filter(by_first).count(), 0);
}

#[test]
fn a_role_that_a_player_did_not_have_is_a_lie() {
    let told = |a: &str, b: &str| Seats::new(Some(a.into()), Some(b.into()));
    for (game, roles, is_lie) in [
        ("even_odd_numbers", told("odd", "even"), false),
        ("even_odd_numbers", Seats::new(None, Some("even".into())), false),
        ("even_odd_numbers", told("even", "odd"), true),
        ("even_odd_numbers", told("odd", "PLAYER_B"), true),
        ("even_odd", told("even", "odd"), false),
    ] {
        let mut hall = Hall::filled(2, 1).playing(game);
        hall.ask(Command::Start).unwrap();
        let mut play = hall.report(first(), ["odd", "even"]).play;
        let number = play.turns.iter().find_map(|turn| match turn {
            Turn::Drawn(number) => Some(*number),
            Turn::Moves(_) => None,
        });
        // Side A wins either way: with an odd sum, or with the parity of the number.
        let is_odd = number.unwrap() % 2 == 1;
        let moves = match game {
            "even_odd" if is_odd => Seats::new(Move::word("odd"), Move::word("even")),
            "even_odd" => Seats::new(Move::word("even"), Move::word("odd")),
            _ => Seats::new(Some(Move::Number(if is_odd { 4 } else { 3 })), Some(Move::Number(2))),
        };
        play.turns[0] = Turn::Moves(moves);
        let report = Report { roles, ..hall.sign(first(), Verdict::Won(Seat::A), play) };
        let expected = if is_lie {
            let refusal = Refusal::FalseReport { match_id: first(), lie: Lie::FalseRole };
            Reply::ReportRefused(refusal)
        } else {
            Reply::Recorded { again: false }
        };
        assert_eq!(hall.file(report), Ok(expected), "{game}");
    }
}

#[test]
fn lies_are_noted_but_not_without_end() {
    let mut hall = Hall::filled(2, 1);
    hall.ask(Command::Start).unwrap();
    let honest = hall.report(first(), ["even", "odd"]);
    for _ in 0..40 {
        let lie = Report { points: Seats::new(Some(3), Some(3)), ..honest.clone() };
        let refused = hall.file(lie);
        assert!(matches!(refused, Ok(Reply::ReportRefused(_)) | Err(Refusal::FalseReport { .. })));
    }
    assert_eq!(hall.league.refused_reports(), crate::limits::LIES_NOTED_MAX);
    assert_eq!(hall.file(honest), Ok(Reply::Recorded { again: false }));
}

#[test]
fn a_league_cannot_start_without_players_or_referees() {
    let mut hall = Hall::filled(1, 1);
    assert_eq!(hall.ask(Command::Start), Err(Refusal::TooFewPlayers { players: 1 }));
    let mut hall = Hall::filled(2, 0);
    assert_eq!(hall.ask(Command::Start), Err(Refusal::NoReferee));
    hall.join_referee(1, 1).unwrap();
    hall.ask(Command::Start).unwrap();
    assert_eq!(hall.ask(Command::Start), Err(Refusal::AlreadyStarted));
}

// req: RESULT-3
#[test]
fn the_same_report_counts_once_and_a_different_one_is_refused() {
    let mut hall = Hall::filled(4, 1);
    hall.ask(Command::Start).unwrap();
    let report = hall.report(first(), ["even", "odd"]);
    let other = hall.report(first(), ["odd", "even"]);
    hall.file(report.clone()).unwrap();
    let books = hall.books.len();
    assert_eq!(hall.file(report.clone()), Ok(Reply::Recorded { again: true }));
    assert_eq!(hall.books.len(), books);
    let conflict = Refusal::ConflictingResult(first());
    let refused = Ok(Reply::ReportRefused(conflict.clone()));
    assert_eq!(hall.file(other.clone()), refused);
    assert_eq!(hall.books.len(), books + 1, "it is written down");
    while hall.league.open_match(first()).is_some() {
        hall.play_round();
    }
    assert_eq!(hall.file(other.clone()), refused, "also when its round is over");
    assert_eq!(hall.league.refused_reports(), 2);
    assert_eq!(hall.replayed(), hall.league);
    hall.play_to_the_end();
    assert_eq!(hall.file(report), Ok(Reply::Recorded { again: true }), "rounds later too");
    assert_eq!(hall.file(other), Err(conflict));
}

// req: RESULT-2
#[test]
fn lies_are_refused_and_recorded() {
    let mut hall = Hall::filled(4, 2);
    hall.ask(Command::Start).unwrap();
    let honest = hall.report(first(), ["even", "odd"]);
    let flipped = Verdict::Won(honest.verdict.winner().unwrap().other());
    let lies = [
        (Lie::WrongPoints, Report { points: Seats::new(Some(3), Some(3)), ..honest.clone() }),
        (Lie::WrongVerdict, hall.sign(first(), flipped, honest.play.clone())),
        (Lie::ImpossibleVerdict, hall.sign(first(), Verdict::Cancelled, honest.play.clone())),
        (Lie::FalseDraw, {
            let mut play = honest.play.clone();
            let Turn::Drawn(number) = &mut play.turns[1] else { panic!("a number") };
            *number = *number % 10 + 1;
            hall.sign(first(), honest.verdict, play)
        }),
    ];
    for (count, (lie, report)) in lies.into_iter().enumerate() {
        let refusal = Refusal::FalseReport { match_id: first(), lie };
        assert_eq!(hall.file(report), Ok(Reply::ReportRefused(refusal)));
        assert_eq!(hall.league.refused_reports() as usize, count + 1);
    }
    let stranger = Report { referee: RefereeId::new(2), ..honest.clone() };
    let assigned = honest.referee;
    let refusal = Refusal::NotYourMatch { match_id: first(), assigned };
    assert_eq!(hall.file(stranger), Ok(Reply::ReportRefused(refusal)));
    assert_eq!(hall.file(honest), Ok(Reply::Recorded { again: false }));
}

// req: ERR-6
#[test]
fn a_lost_attempt_goes_to_another_referee_and_the_old_one_is_refused() {
    let mut hall = Hall::filled(4, 2);
    hall.ask(Command::Start).unwrap();
    let old = hall.report(first(), ["even", "odd"]);
    let cause = VoidCause::LeaseExpired;
    hall.ask(Command::VoidAttempt { match_id: first(), attempt: 1, cause }).unwrap();
    let open = hall.league.open_match(first()).unwrap();
    assert_eq!((open.attempt, open.referee), (2, RefereeId::new(2)));
    let assigned = RefereeId::new(2);
    let refusal = Refusal::NotYourMatch { match_id: first(), assigned };
    assert_eq!(hall.file(old.clone()), Err(refusal.clone()));
    let unnumbered = Report { attempt: None, ..old.clone() };
    assert_eq!(hall.file(unnumbered.clone()), Err(refusal), "it had the match");
    let late = Report { attempt: Some(1), ..hall.report(first(), ["even", "odd"]) };
    let refusal = Refusal::StaleAttempt { match_id: first(), got: 1, current: 2 };
    assert_eq!(hall.file(late), Err(refusal.clone()));
    hall.play_to_the_end();
    let different = |report| Report { verdict: Verdict::BothLost, play: nothing(), ..report };
    assert_eq!(hall.file(different(old)), Err(refusal), "also when there is a result");
    let theirs = Refusal::NotYourMatch { match_id: first(), assigned };
    assert_eq!(hall.file(different(unnumbered)), Err(theirs));
    assert_eq!(hall.league.refused_reports(), 0, "who is late does not lie");
    assert_eq!(hall.league, hall.replayed());
}

#[test]
fn our_own_failures_annul_at_most_three_times() {
    let mut hall = Hall::filled(2, 1);
    hall.ask(Command::Start).unwrap();
    let annul = |attempt| {
        let cause = VoidCause::Annulled { referee: RefereeId::new(1), reason: "no ports".into() };
        Command::VoidAttempt { match_id: first(), attempt, cause }
    };
    (1..=3).for_each(|attempt| drop(hall.ask(annul(attempt)).unwrap()));
    assert_eq!(hall.ask(annul(4)), Ok(Reply::Done));
    assert_eq!(hall.league.stuck_matches().collect::<Vec<_>>(), [first()]);
    assert_eq!(hall.ask(annul(4)), Err(Refusal::MatchIsStuck(first())));
}

#[test]
fn a_knockout_needs_no_other_machine() {
    let mut hall = Hall::with(RuleSet::V21, StartRule::OnCommand, Some(Arc::new(Knockout)));
    hall.fill(7, 1);
    hall.ask(Command::Start).unwrap();
    hall.play_to_the_end();
    let results = hall.books.iter().filter(|e| matches!(e.fact, Fact::ResultRecorded(_))).count();
    assert_eq!(results, 6, "every match sends one player home");
    assert_eq!(hall.league.past().len(), 3);
    assert_eq!(hall.league, hall.replayed());
}

// req: REG-9, ARCH-4
#[test]
fn referees_get_no_more_than_they_can_run_and_newcomers_get_their_share() {
    let mut hall = Hall::filled(8, 0);
    hall.join_referee(1, 1).unwrap();
    hall.ask(Command::Start).unwrap();
    let mut dispatcher = Dispatcher::for_league(&hall.league);
    let handouts = dispatcher.hand_out(&hall.league, hall.now, 100);
    assert_eq!(handouts.len(), 1, "one at a time");
    hall.join_referee(2, 4).unwrap();
    hall.play_to_the_end();
    let officiated = |referee| {
        let by = |e: &&Event| matches!(&e.fact, Fact::ResultRecorded(r) if r.referee == referee);
        hall.books.iter().filter(by).count()
    };
    assert_eq!(officiated(RefereeId::new(1)) + officiated(RefereeId::new(2)), 28);
    assert!(officiated(RefereeId::new(2)) >= 12, "from the next round on");
}

#[test]
fn a_lease_that_is_not_renewed_is_overdue() {
    let mut hall = Hall::filled(2, 1);
    hall.ask(Command::Start).unwrap();
    let mut dispatcher = Dispatcher::for_league(&hall.league);
    let lease = hall.league.policy().lease();
    let [handout] = dispatcher.hand_out(&hall.league, hall.now, 10)[..] else { panic!() };
    assert!(dispatcher.renew(handout, hall.now + lease * 2));
    assert_eq!(dispatcher.expired(hall.now + lease), []);
    let expired = [(handout, VoidCause::LeaseExpired)];
    assert_eq!(dispatcher.expired(hall.now + lease * 2), expired);
    assert!(!dispatcher.renew(dispatch::Handout { attempt: 2, ..handout }, hall.now));
}

#[test]
fn a_player_remembers_its_last_matches() {
    let mut hall = Hall::filled(60, 1);
    hall.ask(Command::Start).unwrap();
    hall.play_to_the_end();
    let history = &hall.league.players()[0].history;
    assert_eq!(history.len(), HISTORY_MAX);
    assert_eq!(history.back().unwrap().match_id.round, RoundId::new(59));
    assert!(history.iter().all(|past| past.own != past.theirs && past.number.is_some()));
}

proptest! {
    /// Replay of any decided stream gives the same state, and points are those of the results.
    #[test]
    fn the_books_are_the_league(
        players in 2..9_u32,
        referees in 1..4_u32,
        v20 in any::<bool>(),
        script in prop::collection::vec((0..6_u8, 0..5_usize), 0..60),
    ) {
        let rule_set = if v20 { RuleSet::V20 } else { RuleSet::V21 };
        let mut hall = Hall::with(rule_set, StartRule::OnCommand, None);
        hall.fill(players, referees);
        hall.ask(Command::Start).unwrap();
        for (action, pick) in script {
            let Some(round) = hall.league.open_round() else { break };
            let index = pick % round.matches.len();
            let (round, attempt) = (round.id, round.matches[index].attempt);
            let match_id = MatchId::from_index(round, index);
            let before = hall.league.clone();
            let books = hall.books.len();
            let cause = VoidCause::LeaseExpired;
            let loss = Verdict::TechnicalLoss(Seat::A);
            let command = match action {
                0 => filed(hall.report(match_id, ["even", "odd"])),
                1 => filed(hall.report(match_id, ["odd", "odd"])),
                2 => filed(hall.sign(match_id, loss, nothing())),
                3 => filed(hall.sign(match_id, Verdict::BothLost, nothing())),
                4 => filed(hall.sign(match_id, Verdict::Cancelled, nothing())),
                _ => Command::VoidAttempt { match_id, attempt, cause },
            };
            if hall.ask(command).is_err() {
                prop_assert!(before == hall.league, "a no changes nothing");
                prop_assert_eq!(books, hall.books.len());
            }
        }
        prop_assert!(hall.league == hall.replayed());
        let points: u64 = hall.league.table().iter().map(|row| row.record.points).sum();
        let recorded = hall.books.iter().filter_map(|event| {
            let Fact::ResultRecorded(recorded) = &event.fact else { return None };
            Some(recorded.verdict.scores())
        });
        let expected: u32 = recorded
            .map(|s| s.a.points(hall.league.policy()) + s.b.points(hall.league.policy()))
            .sum();
        prop_assert_eq!(points, u64::from(expected));
    }
}
