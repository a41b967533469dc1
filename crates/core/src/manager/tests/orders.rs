//! Stories of administrators, of who may join, and of agents that come back.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;

use super::super::dispatch::Dispatcher;
use super::super::*;
use super::hall::{Hall, application, first, joining, nothing, officiating, order, profile};
use crate::conduct::Conduct;
use crate::roster::{Reason, StateKind, Transition};
use crate::seat::Seat;
use crate::verdict::Verdict;

fn agent(number: u32) -> AgentId {
    AgentId::Player(PlayerId::new(number))
}

fn returning(number: u32, port: u32, old_is_silent: bool) -> Command {
    let known = Some(Returning { agent: agent(number), old_is_silent });
    Command::RegisterPlayer(Box::new(Application { known, ..application(profile(port)) }))
}

#[test]
fn unapproved_foreign_referees_get_no_matches() {
    let mut hall = Hall::filled(2, 0);
    let referees = RefereeAdmission::KeyOrApproval;
    let admission = Admission { players: PlayerAdmission::Open, referees };
    hall.ask(Command::SetAdmission(Box::new(admission))).unwrap();
    hall.ask(officiating(profile(8_001), 4, false)).unwrap();
    assert_eq!(hall.ask(Command::Start), Err(Refusal::NotApproved(RefereeId::new(1))));
    hall.ask(order(Order::Approve(RefereeId::new(1)))).unwrap();
    hall.ask(Command::Start).unwrap();
    hall.play_to_the_end();
    assert_eq!(hall.league, hall.replayed());
}

#[test]
fn the_operators_own_referees_come_first() {
    let mut hall = Hall::filled(4, 0);
    hall.ask(officiating(profile(8_001), 4, false)).unwrap();
    hall.ask(officiating(profile(8_002), 4, true)).unwrap();
    hall.ask(Command::Start).unwrap();
    let by = |hall: &Hall| hall.league.open_match(first()).unwrap().referee;
    assert_eq!(by(&hall), RefereeId::new(2));
    let cause = VoidCause::NotTaken { reason: "busy".into() };
    hall.ask(Command::VoidAttempt { match_id: first(), attempt: 1, cause }).unwrap();
    assert_eq!(by(&hall), RefereeId::new(1));
}

#[test]
fn a_join_code_works_once_and_says_whose_it_is() {
    let mut hall = Hall::new(StartRule::OnCommand);
    let invited = |code: u8| Invited {
        code: [code; 32],
        student: format!("student {code}").into(),
        group: None,
    };
    let players = PlayerAdmission::Codes(vec![invited(1), invited(2)]);
    let admission = Admission { players, referees: RefereeAdmission::Open };
    hall.ask(Command::SetAdmission(Box::new(admission))).unwrap();
    let with = |port, code: Option<u8>| {
        let join_code = code.map(|code| [code; 32]);
        Command::RegisterPlayer(Box::new(Application { join_code, ..application(profile(port)) }))
    };
    assert_eq!(hall.ask(with(8_101, None)), Err(Refusal::JoinCodeNeeded));
    assert_eq!(hall.ask(with(8_101, Some(3))), Err(Refusal::UnknownJoinCode));
    let first = hall.ask(with(8_101, Some(1)));
    assert_eq!(hall.ask(with(8_101, Some(1))), first, "the same registration again");
    assert_eq!(hall.ask(with(8_102, Some(1))), Err(Refusal::JoinCodeUsed(agent(1))));
    hall.ask(with(8_102, Some(2))).unwrap();
    let student = |n| hall.league.invited(PlayerId::new(n)).unwrap().student.clone();
    assert_eq!((student(1), student(2)), (Arc::from("student 1"), Arc::from("student 2")));
    assert_eq!(hall.league, hall.replayed());
}

#[test]
fn the_same_answer_is_for_the_same_host_before_the_token_is_used() {
    let mut hall = Hall::new(StartRule::OnCommand);
    hall.join_player(1).unwrap();
    let taken = Err(Refusal::AlreadyRegistered(agent(1)));
    let thief = Application { host: "10.6.6.6".into(), ..application(profile(8_101)) };
    assert_eq!(hall.ask(Command::RegisterPlayer(Box::new(thief))), taken);
    let late = Application { token_used: true, ..application(profile(8_101)) };
    assert_eq!(hall.ask(Command::RegisterPlayer(Box::new(late))), taken);
    let disguised = Profile { endpoint: "HTTP://127.0.0.1:8101/mcp/".into(), ..profile(0) };
    assert_eq!(hall.ask(joining(disguised)), taken);
    assert!(hall.join_player(1).is_ok());
}

// req: REG-6
#[test]
fn with_its_own_token_an_agent_gets_its_id_back_also_after_the_start() {
    let mut hall = Hall::started(4, 1);
    let nonce = hall.league.players()[1].nonce;
    let books = hall.books.len();
    let same = Ok(Reply::Registered { agent: agent(2), nonce });
    assert_eq!(hall.ask(returning(2, 8_102, false)), same);
    assert_eq!(hall.books.len(), books, "nothing has changed");
    assert_eq!(hall.ask(returning(2, 9_000, false)), Err(Refusal::OldAddressAnswers(agent(2))));
    assert_eq!(hall.ask(returning(2, 8_101, true)), Err(Refusal::AlreadyRegistered(agent(1))));
    assert_eq!(hall.ask(returning(2, 9_000, true)), same);
    assert_eq!(&*hall.league.players()[1].profile.endpoint, "http://127.0.0.1:9000/mcp");
    assert_eq!(hall.league.effects(hall.books.last().unwrap()), [Effect::Welcome(agent(2))]);
    hall.play_to_the_end();
    let over = Refusal::JoinsNoMore(hall.league.id().clone());
    assert_eq!(hall.ask(returning(2, 9_000, true)), Err(over));
    assert_eq!(hall.league, hall.replayed());
}

// req: LIFE-4
#[test]
fn whoever_is_shut_down_comes_back_only_with_permission_and_once() {
    let mut hall = Hall::started(6, 1);
    hall.ask(order(Order::Ban(agent(2)))).unwrap();
    assert_eq!(hall.ask(returning(2, 8_102, true)), Err(Refusal::IsShutDown(agent(2))));
    hall.ask(order(Order::Reinstate(agent(2)))).unwrap();
    hall.ask(returning(2, 8_102, true)).unwrap();
    let kind = hall.league.lifecycle(agent(2)).unwrap().state().kind();
    assert_eq!(kind, StateKind::Active);
    hall.ask(order(Order::Ban(agent(2)))).unwrap();
    assert_eq!(hall.ask(returning(2, 8_102, true)), Err(Refusal::IsShutDown(agent(2))));
    hall.play_to_the_end();
    assert_eq!(hall.league, hall.replayed());
}

#[test]
fn a_player_banned_before_the_start_is_not_in_the_field() {
    let mut hall = Hall::filled(3, 1);
    hall.ask(order(Order::Ban(agent(2)))).unwrap();
    hall.ask(Command::Start).unwrap();
    hall.play_to_the_end();
    assert_eq!(hall.league.table().len(), 2);
    assert_eq!(hall.league, hall.replayed());
    assert_eq!((hall.league.rounds_total(), hall.league.matches_total()), (Some(1), Some(1)));
}

#[test]
fn a_paused_league_hands_nothing_out_and_opens_no_round() {
    let mut hall = Hall::started(2, 1);
    let mut dispatcher = Dispatcher::for_league(&hall.league);
    hall.ask(order(Order::Pause)).unwrap();
    assert_eq!(dispatcher.hand_out(&hall.league, hall.now, 9), []);
    hall.ask(order(Order::Resume)).unwrap();
    assert_eq!(dispatcher.hand_out(&hall.league, hall.now, 9).len(), 1);

    let mut hall = Hall::started(4, 1);
    hall.ask(order(Order::Pause)).unwrap();
    hall.play_to_the_end();
    assert_eq!(*hall.league.phase(), Phase::BetweenRounds { next: RoundId::new(2) });
    hall.ask(order(Order::Resume)).unwrap();
    assert_eq!(hall.league.open_round().unwrap().id, RoundId::new(2));
}

#[test]
fn results_of_the_open_round_can_be_replaced_and_others_stand() {
    let mut hall = Hall::started(4, 1);
    let report = hall.sign(first(), Verdict::TechnicalLoss(Seat::A), nothing());
    hall.file(report.clone()).unwrap();
    let before = hall.league.table();
    hall.ask(order(Order::Rematch(first()))).unwrap();
    let open = hall.league.open_match(first()).unwrap();
    assert_eq!((open.rematch, open.attempt, open.filed), (1, 2, None));
    assert!(hall.league.table().iter().all(|row| row.record.played == 0));
    assert_eq!(hall.league.players()[0].history.len(), 0);
    assert_eq!(hall.league.players()[0].lifecycle.failures(), 0);
    let stale = Refusal::StaleAttempt { match_id: first(), got: 1, current: 2 };
    assert_eq!(hall.file(report), Err(stale));
    let again = hall.sign(first(), Verdict::TechnicalLoss(Seat::A), nothing());
    hall.file(again).unwrap();
    assert_eq!(hall.league.table(), before);
    hall.ask(order(Order::Cancel(first()))).unwrap();
    assert!(hall.league.table().iter().all(|row| row.record.played == 0));
    hall.play_to_the_end();
    let over = Refusal::RoundIsOver(first());
    assert_eq!(hall.ask(order(Order::Rematch(first()))), Err(over.clone()));
    assert_eq!(hall.ask(order(Order::Cancel(first()))), Err(over));
    assert_eq!(hall.league, hall.replayed());
}

#[test]
fn orders_need_a_reason_and_a_league_is_archived_when_it_is_over() {
    let mut hall = Hall::started(2, 1);
    let silent = Command::Administer { order: Order::Pause, reason: " ".into() };
    assert_eq!(hall.ask(silent), Err(Refusal::BadReason));
    assert_eq!(hall.ask(order(Order::Archive)), Err(Refusal::NotCompleted));
    hall.play_to_the_end();
    let rows = hall.books.len();
    for late in [Order::Ban(agent(1)), Order::Reinstate(agent(1)), Order::Pause, Order::Resume] {
        assert_eq!(hall.ask(order(late)), Err(Refusal::Completed), "{late:?}");
    }
    assert_eq!(hall.books.len(), rows);
    hall.ask(order(Order::Archive)).unwrap();
    assert!(hall.league.is_archived());
    assert_eq!(hall.ask(order(Order::Reinstate(agent(1)))), Err(Refusal::Archived));
    let mut closed = Hall::filled(2, 1);
    closed.ask(order(Order::CloseRegistration)).unwrap();
    assert_eq!(closed.join_player(3), Err(Refusal::RegistrationClosed));
}

#[test]
fn the_matches_of_a_banned_referee_go_to_another_or_wait_for_one() {
    let mut hall = Hall::started(2, 1);
    hall.ask(order(Order::Ban(AgentId::Referee(RefereeId::new(1))))).unwrap();
    assert_eq!(hall.league.stuck_matches().collect::<Vec<_>>(), [first()]);
    hall.join_referee(2, 1).unwrap();
    assert_eq!(hall.league.open_match(first()).unwrap().referee, RefereeId::new(2));
    hall.play_to_the_end();
    assert_eq!(hall.league, hall.replayed());
}

#[test]
fn a_league_that_lacks_nothing_but_a_referee_says_so() {
    let mut hall = Hall::new(StartRule::Players(2));
    hall.join_player(1).unwrap();
    assert_eq!(hall.league.alerts().count(), 0, "there is more to wait for than a referee");
    hall.join_player(2).unwrap();
    let alert = Effect::Alert(Alert::NoReferee);
    let joined = hall.books.last().unwrap();
    assert_eq!(hall.league.effects(joined), [Effect::Welcome(agent(2)), alert]);
    assert_eq!(hall.league.alerts().collect::<Vec<_>>(), [Alert::NoReferee]);
    hall.join_referee(1, 1).unwrap();
    assert_eq!(hall.league.alerts().count(), 0);
    hall.ask(order(Order::Ban(AgentId::Referee(RefereeId::new(1))))).unwrap();
    assert_eq!(hall.league.alerts().collect::<Vec<_>>(), [Alert::MatchStuck(first())]);
}

#[test]
fn a_league_whose_time_has_come_says_what_it_lacks() {
    let start = Timestamp::from_millis(2_000_000);
    let mut hall = Hall::new(StartRule::At(start));
    hall.join_player(1).unwrap();
    let before = Timestamp::from_millis(1_999_999);
    assert!(!hall.league.is_start_overdue(before) && hall.league.is_start_overdue(start));
    let woken = |at| hall.league.next_deadline(at).map(|deadline| deadline.at);
    assert_eq!((woken(before), woken(start)), (Some(start), None), "looked at once");
    hall.join_player(2).unwrap();
    assert!(hall.league.is_start_overdue(start), "nobody officiates");
    hall.join_referee(1, 1).unwrap();
    assert!(!hall.league.is_start_overdue(start));
    hall.now = start;
    hall.ask(Command::Wake).unwrap();
    assert!(hall.league.open_round().is_some());
    assert!(!hall.league.is_start_overdue(start));
}

#[test]
fn players_can_ask_what_comes_next() {
    let mut hall = Hall::filled(5, 1);
    let player = PlayerId::new(1);
    assert_eq!(hall.league.schedule_of(player, RoundId::FIRST).count(), 4);
    hall.ask(Command::Start).unwrap();
    let mut met = vec![];
    while let Some((match_id, pairing)) = hall.league.next_match(player) {
        assert!(pairing.seat_of(player).is_some());
        if hall.league.open_match(match_id).is_some() {
            met.push(match_id);
            let record = hall.league.match_record(match_id).unwrap();
            assert_eq!((record.attempt, record.filed), (Some(1), None));
        }
        let round = hall.league.open_round().unwrap();
        for index in 0..round.matches.len() {
            let id = MatchId::from_index(round.id, index);
            if hall.league.open_match(id).is_some_and(|open| open.filed.is_none()) {
                let report = hall.report(id, ["even", "odd"]);
                hall.file(report).unwrap();
                break;
            }
        }
    }
    met.dedup();
    assert_eq!(met.len(), 4);
    assert!(met.iter().all(|id| hall.league.match_record(*id).unwrap().filed.is_some()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Whatever agents and administrators do, every league ends, points are those of the results,
    /// and the books say all of it.
    #[test]
    fn every_round_ends(
        players in 2..7_u32,
        referees in 1..3_u32,
        script in prop::collection::vec((0..14_u8, 0..6_u32, 0..400_u64), 0..80),
    ) {
        let mut hall = Hall::started(players, referees);
        for (action, pick, seconds) in script {
            act(&mut hall, action, pick, seconds);
            prop_assert!(hall.league == hall.replayed());
        }
        drop(hall.ask(order(Order::Resume)));
        for _ in 0..10_000 {
            let Some(deadline) = hall.league.next_deadline(hall.now) else { break };
            hall.now = hall.now.max(deadline.at);
            hall.ask(Command::Wake).unwrap();
        }
        let lacks_referee = |open: &OpenMatch| {
            open.stuck.as_ref().is_some_and(|stuck| stuck.cause == StuckCause::NoReferee)
        };
        let stuck: Vec<_> = hall.league.stuck_matches().collect();
        prop_assert!(stuck.iter().all(|id| lacks_referee(hall.league.open_match(*id).unwrap())));
        if hall.league.lacks_referee() || !stuck.is_empty() {
            hall.join_referee(50, 1).unwrap();
        }
        prop_assert_eq!(hall.league.stuck_matches().count(), 0);
        hall.play_to_the_end();
        let is_over = matches!(hall.league.phase(), Phase::Completed { .. });
        prop_assert!(is_over);
        prop_assert!(hall.league == hall.replayed());
        assert_documented(&hall.books);
        let policy = hall.league.policy().clone();
        let verdicts = hall.league.past().iter().flat_map(|round| &round.matches);
        let points: u32 = verdicts
            .map(|(_, verdict)| verdict.scores())
            .map(|scores| scores.a.points(&policy) + scores.b.points(&policy))
            .sum();
        let table: u64 = hall.league.table().iter().map(|row| row.record.points).sum();
        prop_assert_eq!(table, u64::from(points));
    }
}

/// Every change of a state begins where the last one ended, and is one of the documented ones.
fn assert_documented(books: &[Event]) {
    use StateKind::{Active, Registered, Shutdown, Suspended};
    let mut states: BTreeMap<AgentId, StateKind> = BTreeMap::new();
    for event in books {
        if event.fact == Fact::LeagueStarted {
            let waiting = states.values_mut().filter(|state| **state == Registered);
            waiting.for_each(|state| *state = Active);
        } else if let Fact::PlayerRegistered { player, .. } = event.fact {
            states.insert(AgentId::Player(player), Registered);
        } else if let Fact::RefereeRegistered { referee, .. } = event.fact {
            states.insert(AgentId::Referee(referee), Registered);
        } else if let Fact::AgentChanged { agent, transition } = event.fact {
            let Transition { from, to, reason } = transition;
            assert_eq!(states.insert(agent, to), Some(from), "{agent}");
            let documented = match (from, to) {
                (Registered | Active, Suspended) => matches!(
                    reason,
                    Reason::Timeouts(3..)
                        | Reason::ConnectionErrors(5..)
                        | Reason::InvalidMoves(5..)
                ),
                (Suspended, Active) => matches!(reason, Reason::Recovered | Reason::Reinstated),
                (Suspended, Shutdown) => matches!(
                    reason,
                    Reason::RecoveryFailed | Reason::Failures(10..) | Reason::Banned
                ),
                (Active, Shutdown) => matches!(reason, Reason::Failures(10..) | Reason::Banned),
                _ => false,
            };
            assert!(documented, "{transition:?}");
        }
    }
}

fn act(hall: &mut Hall, action: u8, pick: u32, seconds: u64) {
    hall.now = hall.now + Duration::from_secs(seconds);
    let player = AgentId::Player(PlayerId::new(pick % 6 + 1));
    let referee = RefereeId::new(pick % 3 + 1);
    let Some(round) = hall.league.open_round() else {
        drop(hall.ask(order(Order::Resume)));
        return;
    };
    let index = pick as usize % round.matches.len();
    let (match_id, open) = (MatchId::from_index(round.id, index), &round.matches[index]);
    let (attempt, seat) = (open.attempt, if pick.is_multiple_of(2) { Seat::A } else { Seat::B });
    let command = match action {
        0 | 1 => Command::RecordResult(Box::new(hall.report(match_id, ["even", "odd"]))),
        2 | 3 => {
            let mut report = hall.sign(match_id, Verdict::TechnicalLoss(seat), nothing());
            report.conduct[seat] =
                Conduct { timeouts: 1, connection_errors: 3, ..Conduct::default() };
            Command::RecordResult(Box::new(report))
        }
        4 => Command::VoidAttempt { match_id, attempt, cause: VoidCause::LeaseExpired },
        5 => order(Order::Ban(player)),
        6 => order(Order::Reinstate(player)),
        7 => order(Order::Rematch(match_id)),
        8 => order(Order::Cancel(match_id)),
        9 => order(Order::Ban(AgentId::Referee(referee))),
        11 => order(Order::Rotate(if pick < 4 { player } else { AgentId::Referee(referee) })),
        12 => {
            drop(hall.ask(order(Order::Release(player))));
            joining(profile(8_101 + pick % 6))
        }
        10 => order(if pick.is_multiple_of(2) { Order::Pause } else { Order::Resume }),
        _ => Command::ProbeAnswered { agent: player },
    };
    drop(hall.ask(command));
}
