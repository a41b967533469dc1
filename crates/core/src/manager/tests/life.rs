//! Stories of agents that misbehave, recover, leave, and of matches that wait for them.

use std::time::Duration;

use super::super::dispatch::Dispatcher;
use super::super::*;
use super::hall::{Hall, first, nothing, officiating, order, profile};
use crate::conduct::Conduct;
use crate::limits::ATTEMPTS_MAX;
use crate::roster::{AgentState, Reason, StateKind};
use crate::seat::{Seat, Seats};
use crate::verdict::Verdict;

const SILENT: Conduct =
    Conduct { answered: false, timeouts: 1, connection_errors: 0, invalid_moves: 0 };

fn agent(number: u32) -> AgentId {
    AgentId::Player(PlayerId::new(number))
}

pub(super) fn state(hall: &Hall, agent: AgentId) -> StateKind {
    hall.league.lifecycle(agent).unwrap().state().kind()
}

impl Hall {
    /// Plays until the player has been silent in `times` matches; everybody else plays well.
    pub(super) fn silence(&mut self, player: PlayerId, times: u32) {
        let mut left = times;
        while left > 0 {
            let (match_id, pairing) = self.next_open();
            let Some(seat) = pairing.seat_of(player) else {
                let report = self.report(match_id, ["even", "odd"]);
                self.file(report).unwrap();
                continue;
            };
            let mut report = self.sign(match_id, Verdict::TechnicalLoss(seat), nothing());
            report.conduct[seat] = SILENT;
            self.file(report).unwrap();
            left -= 1;
        }
    }

    pub(super) fn next_open(&self) -> (MatchId, Pairing) {
        let round = self.league.open_round().unwrap();
        let index = round.matches.iter().position(|open| open.filed.is_none()).unwrap();
        (MatchId::from_index(round.id, index), round.matches[index].pairing)
    }

    fn count(&self, wanted: impl Fn(&Fact) -> bool) -> usize {
        self.books.iter().filter(|event| wanted(&event.fact)).count()
    }

    pub(super) fn pass(&mut self, seconds: u64) {
        self.now = self.now + Duration::from_secs(seconds);
        self.ask(Command::Wake).unwrap();
    }
}

// req: LIFE-1, LIFE-2
#[test]
fn silence_three_times_in_a_row_suspends_and_is_written_down() {
    let mut hall = Hall::started(8, 1);
    hall.silence(PlayerId::new(1), 2);
    assert_eq!(state(&hall, agent(1)), StateKind::Active);
    hall.silence(PlayerId::new(1), 1);
    assert_eq!(state(&hall, agent(1)), StateKind::Suspended);
    let changes = |fact: &Fact| {
        let Fact::AgentChanged { agent: who, transition } = fact else { return false };
        assert_eq!((*who, transition.reason), (agent(1), Reason::Timeouts(3)));
        true
    };
    assert_eq!(hall.count(changes), 1);
    let event = hall.books.iter().find(|event| changes(&event.fact)).unwrap();
    assert_eq!(hall.league.effects(event), [Effect::NoticeSuspension(agent(1))]);
    assert_eq!(hall.league, hall.replayed());
}

#[test]
fn a_clean_match_is_one_event_and_ends_a_row_of_silence() {
    let mut hall = Hall::started(8, 1);
    hall.silence(PlayerId::new(1), 2);
    let (match_id, _) = hall.next_open();
    let (report, books) = (hall.report(match_id, ["even", "odd"]), hall.books.len());
    hall.file(report).unwrap();
    assert_eq!(hall.books.len(), books + 1);
    while hall.league.player(PlayerId::new(1)).unwrap().lifecycle.timeouts() > 0 {
        let (match_id, _) = hall.next_open();
        let report = hall.report(match_id, ["even", "odd"]);
        hall.file(report).unwrap();
    }
    hall.silence(PlayerId::new(1), 2);
    assert_eq!(state(&hall, agent(1)), StateKind::Active);
}

// req: LIFE-3, LIFE-4
#[test]
fn a_suspended_players_match_waits_and_is_played_after_a_sign_of_life() {
    let mut hall = Hall::started(8, 1);
    hall.silence(PlayerId::new(1), 3);
    while hall.league.next_match(PlayerId::new(1)).unwrap().0.round != hall.next_open().0.round {
        let (match_id, _) = hall.next_open();
        let report = hall.report(match_id, ["even", "odd"]);
        hall.file(report).unwrap();
    }
    let (waiting, _) = hall.league.next_match(PlayerId::new(1)).unwrap();
    let mut dispatcher = Dispatcher::for_league(&hall.league);
    let handed = |dispatcher: &mut Dispatcher, hall: &Hall| {
        let out = dispatcher.hand_out(&hall.league, hall.now, 100);
        out.into_iter().map(|handout| handout.match_id).collect::<Vec<_>>()
    };
    let others = handed(&mut dispatcher, &hall);
    assert!(!others.contains(&waiting) && !others.is_empty(), "{others:?}");
    let woken = hall.now;
    assert_eq!(hall.league.probes_due(woken, woken + Duration::from_secs(9)), []);
    assert_eq!(hall.league.next_deadline(woken).unwrap().at, woken + Duration::from_secs(10));
    hall.pass(10);
    assert_eq!(hall.league.probes_due(woken, hall.now), [agent(1)]);
    assert_eq!(hall.league.probes_due(hall.now, hall.now), []);
    let books = hall.books.len();
    hall.ask(Command::ProbeAnswered { agent: agent(1) }).unwrap();
    assert_eq!(state(&hall, agent(1)), StateKind::Active);
    for event in &hall.books[books..] {
        dispatcher.apply(&hall.league, event);
    }
    assert_eq!(handed(&mut dispatcher, &hall), [waiting]);
    hall.play_to_the_end();
    assert_eq!(hall.count(|fact| matches!(fact, Fact::Walkover { .. })), 0);
    assert_eq!(hall.league, hall.replayed());
}

// req: LIFE-3, LIFE-4
#[test]
fn whoever_does_not_recover_is_shut_down_and_its_matches_are_walkovers() {
    let mut hall = Hall::started(8, 1);
    hall.silence(PlayerId::new(1), 3);
    hall.pass(299);
    assert_eq!(state(&hall, agent(1)), StateKind::Suspended);
    hall.pass(1);
    let cause = Reason::RecoveryFailed;
    let gone = AgentState::Shutdown { cause, may_return: false };
    assert_eq!(*hall.league.lifecycle(agent(1)).unwrap().state(), gone);
    hall.play_to_the_end();
    assert_eq!(hall.count(|fact| matches!(fact, Fact::Walkover { .. })), 4);
    let points: u64 = hall.league.table().iter().map(|row| row.record.points).sum();
    assert_eq!(points, 28 * 3, "a walkover is worth a win");
    let record = *hall.league.standings().record_of(PlayerId::new(1)).unwrap();
    assert_eq!((record.played, record.technical_losses), (7, 7));
    assert_eq!(hall.league, hall.replayed());
}

// req: LIFE-3
#[test]
fn ten_matches_lost_technically_end_it() {
    let mut hall = Hall::started(12, 1);
    for _ in 0..10 {
        while hall.league.next_match(PlayerId::new(1)).unwrap().0 != hall.next_open().0 {
            let (match_id, _) = hall.next_open();
            let report = hall.report(match_id, ["even", "odd"]);
            hall.file(report).unwrap();
        }
        let (match_id, pairing) = hall.next_open();
        let lost = Verdict::TechnicalLoss(pairing.seat_of(PlayerId::new(1)).unwrap());
        let report = hall.sign(match_id, lost, nothing());
        hall.file(report).unwrap();
    }
    assert_eq!(state(&hall, agent(1)), StateKind::Shutdown);
}

#[test]
fn two_who_left_both_lose_and_the_league_ends() {
    let mut hall = Hall::started(4, 1);
    for number in 1..=3 {
        hall.ask(order(Order::Ban(agent(number)))).unwrap();
    }
    assert!(matches!(hall.league.phase(), Phase::Completed { .. }));
    let both = |fact: &Fact| matches!(fact, Fact::Walkover { verdict: Verdict::BothLost, .. });
    assert!(hall.count(both) > 0);
    assert_eq!(hall.league, hall.replayed());
}

#[test]
fn a_match_given_away_too_often_waits_for_the_administrator_but_not_for_ever() {
    let mut hall = Hall::started(2, 2);
    let lost = |hall: &mut Hall, match_id: MatchId| {
        let attempt = hall.league.open_match(match_id).unwrap().attempt;
        let cause = VoidCause::LeaseExpired;
        hall.ask(Command::VoidAttempt { match_id, attempt, cause })
    };
    (0..ATTEMPTS_MAX).for_each(|_| drop(lost(&mut hall, first()).unwrap()));
    assert_eq!(lost(&mut hall, first()), Err(Refusal::MatchIsStuck(first())));
    let stuck = hall.books.last().unwrap();
    assert_eq!(hall.league.effects(stuck), [Effect::Alert(Alert::MatchStuck(first()))]);
    assert_eq!(Dispatcher::for_league(&hall.league).hand_out(&hall.league, hall.now, 9), []);
    let at = hall.league.next_deadline(hall.now).unwrap().at;
    assert!(at > hall.league.open_round().unwrap().deadline);

    let mut decided = Hall::started(2, 2);
    (0..ATTEMPTS_MAX).for_each(|_| drop(lost(&mut decided, first()).unwrap()));
    decided.ask(order(Order::Rematch(first()))).unwrap();
    decided.play_to_the_end();
    assert!(matches!(decided.league.phase(), Phase::Completed { .. }));

    hall.now = at;
    hall.ask(Command::Wake).unwrap();
    assert_eq!(hall.count(|fact| matches!(fact, Fact::MatchCancelled { .. })), 1);
    assert!(matches!(hall.league.phase(), Phase::Completed { .. }));
    assert_eq!(hall.league.table().iter().map(|row| row.record.points).sum::<u64>(), 0);
    assert_eq!(hall.league, hall.replayed());
}

// req: ERR-6
#[test]
fn an_order_that_reaches_nobody_costs_no_attempt_and_goes_to_whoever_comes() {
    let mut hall = Hall::started(2, 1);
    hall.pass(60);
    let mut dispatcher = Dispatcher::for_league(&hall.league);
    let [handout] = dispatcher.hand_out(&hall.league, hall.now, 9)[..] else { panic!("one match") };
    let (not_delivered, not_taken) = (
        VoidCause::NotDelivered { reason: "nobody is there".into() },
        VoidCause::NotTaken { reason: "P01 is not called".into() },
    );
    let void = |attempt, cause: &VoidCause| {
        let (match_id, cause) = (first(), cause.clone());
        Command::VoidAttempt { match_id, attempt, cause }
    };
    let mut pauses = vec![];
    for cause in [&not_delivered, &not_taken].into_iter().cycle().take(2 * ATTEMPTS_MAX as usize) {
        let refused = Err(Refusal::NobodyElse(first()));
        assert_eq!(hall.ask(void(handout.attempt, cause)), refused);
        dispatcher.put_back(handout, hall.league.policy(), hall.now);
        assert_eq!(dispatcher.hand_out(&hall.league, hall.now, 9), []);
        pauses.push(dispatcher.next_deadline(hall.now).unwrap().at.since(hall.now).as_millis());
        hall.now = dispatcher.next_deadline(hall.now).unwrap().at;
        assert_eq!(dispatcher.hand_out(&hall.league, hall.now, 9), [handout]);
    }
    assert_eq!(pauses[..7], [937, 1_875, 3_750, 7_500, 15_000, 30_000, 30_000]);
    hall.join_referee(2, 4).unwrap();
    hall.ask(void(handout.attempt, &not_taken)).unwrap();
    let open = hall.league.open_match(first()).unwrap();
    assert_eq!((open.referee.index(), open.attempt), (1, handout.attempt + 1));
    hall.play_to_the_end();
    assert_eq!(hall.league, hall.replayed());
}

#[test]
fn a_match_that_no_referee_ended_goes_to_the_next_one_that_comes() {
    let mut hall = Hall::started(2, 2);
    let lose = |hall: &mut Hall| {
        let attempt = hall.league.open_match(first()).unwrap().attempt;
        let cause = VoidCause::LeaseExpired;
        hall.ask(Command::VoidAttempt { match_id: first(), attempt, cause }).unwrap();
    };
    (0..ATTEMPTS_MAX).for_each(|_| lose(&mut hall));
    let stuck = |hall: &Hall| hall.league.open_match(first()).unwrap().stuck.clone();
    assert_eq!(&*stuck(&hall).unwrap().reason, "the referee showed no sign of life");
    hall.pass(1);
    hall.ask(Command::Wake).unwrap();
    assert!(stuck(&hall).is_some(), "those who are there had their turn");
    hall.join_referee(3, 4).unwrap();
    assert_eq!(hall.league.open_match(first()).unwrap().referee, RefereeId::new(3));
    assert_eq!(stuck(&hall), None);
    hall.pass(1);
    lose(&mut hall);
    assert!(stuck(&hall).is_some(), "it had one turn");
    hall.pass(1);
    hall.join_referee(4, 4).unwrap();
    hall.play_to_the_end();
    assert_eq!(hall.league, hall.replayed());
}

/// Hands out what can be handed out, and has each referee but `working` refuse it.
fn offer(hall: &mut Hall, dispatcher: &mut Dispatcher, working: Option<RefereeId>) -> usize {
    let offers = dispatcher.hand_out(&hall.league, hall.now, 99);
    for handout in &offers {
        if Some(handout.referee) == working {
            dispatcher.taken(*handout);
            continue;
        }
        let (match_id, attempt) = (handout.match_id, handout.attempt);
        let cause = VoidCause::NotDelivered { reason: "connection refused".into() };
        let before = hall.books.len();
        match hall.ask(Command::VoidAttempt { match_id, attempt, cause }) {
            Err(Refusal::NobodyElse(_)) => {
                dispatcher.put_back(*handout, hall.league.policy(), hall.now);
            }
            asked => assert_eq!(asked, Ok(Reply::Done)),
        }
        hall.books[before..].iter().for_each(|event| dispatcher.apply(&hall.league, event));
    }
    offers.len()
}

// req: ERR-6
#[test]
fn while_no_referee_works_nothing_is_used_up_and_one_that_works_again_gets_all() {
    for working in [1, 2, 3] {
        let mut hall = Hall::started(8, 3);
        hall.pass(60);
        let mut dispatcher = Dispatcher::for_league(&hall.league);
        let (before, start, mut offers) = (hall.books.len(), hall.now, 0);
        while hall.now.since(start) < Duration::from_secs(3_600) {
            offers += offer(&mut hall, &mut dispatcher, None);
            hall.now = dispatcher.next_deadline(hall.now).unwrap().at;
        }
        assert!(hall.books.len() - before < 20, "{} events", hall.books.len() - before);
        assert!(offers < 500, "each is asked twice a minute, not {offers} times in an hour");
        let open = &hall.league.open_round().unwrap().matches;
        assert!(open.iter().all(|open| open.stuck.is_none() && open.reassignments == 0));
        let working = RefereeId::new(working);
        let mut reported = 0;
        while reported < 4 && hall.now.since(start) < Duration::from_secs(3_800) {
            let before = hall.books.len();
            offer(&mut hall, &mut dispatcher, Some(working));
            for held in dispatcher.held_by(working) {
                let report = hall.report(held.match_id, ["even", "odd"]);
                hall.file(report).unwrap();
                reported += 1;
            }
            hall.books[before..].iter().for_each(|event| dispatcher.apply(&hall.league, event));
            hall.now = hall.now + Duration::from_secs(1);
        }
        assert_eq!(reported, 4, "{working:?}");
        assert_eq!(hall.league, hall.replayed());
    }
}

#[test]
fn signs_of_life_do_not_let_a_stranger_hold_a_match_for_ever() {
    let mut hall = Hall::filled(2, 0);
    hall.ask(officiating(profile(8_001), 4, false)).unwrap();
    hall.ask(Command::Start).unwrap();
    hall.pass(60);
    let mut dispatcher = Dispatcher::for_league(&hall.league);
    let [handout] = dispatcher.hand_out(&hall.league, hall.now, 9)[..] else { panic!("one match") };
    let last = hall.now + hall.league.patience(handout.referee).unwrap();
    while hall.now < last {
        assert_eq!(dispatcher.expired(hall.now), [], "{:?}", last.since(hall.now));
        assert!(dispatcher.renew(handout, hall.now + hall.league.lease(handout.referee)));
        hall.pass(5);
    }
    assert_eq!(dispatcher.expired(hall.now), [(handout, VoidCause::LeaseExpired)]);
}

/// A report of `even` and `odd` in which those in `liars` prove the other choice.
fn contradicted(hall: &Hall, liars: &[Seat]) -> Report {
    let honest = hall.report(first(), ["even", "odd"]);
    let mut play = honest.play.clone();
    let said = Seats::new("even", "odd");
    play.choice_proofs = Seats::from_fn(|seat| {
        let proved = if liars.contains(&seat) { said[seat.other()] } else { said[seat] };
        Some(hall.proof_of(first(), seat, proved))
    });
    hall.sign(first(), honest.verdict, play)
}

// req: RESULT-2
#[test]
fn choices_against_choice_proofs_are_refused_and_the_proofs_count() {
    let won = |hall: &Hall, choices| hall.report(first(), choices).verdict;
    for (operated, liars, proved) in [
        (true, &[Seat::A, Seat::B][..], ["odd", "even"]),
        (false, &[Seat::A, Seat::B], ["odd", "even"]),
        (true, &[Seat::A], ["odd", "odd"]),
        (false, &[Seat::B], ["even", "even"]),
    ] {
        let mut hall = Hall::filled(4, 0);
        hall.ask(officiating(profile(8_001), 4, operated)).unwrap();
        hall.ask(Command::Start).unwrap();
        let (forged, expected) = (contradicted(&hall, liars), won(&hall, proved));
        let lie = match liars {
            [seat] => {
                Lie::FalseChoice(hall.league.open_match(first()).unwrap().pairing.player(*seat))
            }
            _ => Lie::FalseChoices,
        };
        let refused = Reply::ReportRefused(Refusal::FalseReport { match_id: first(), lie });
        let truth = hall.report(first(), proved);
        assert_eq!(hall.file(forged.clone()), Ok(refused), "{operated}");
        let open = hall.league.open_match(first()).unwrap();
        assert_eq!((open.attempt, open.lies), (1, 1));
        let filed = open.filed.unwrap();
        assert_eq!((filed.verdict, filed.referee), (expected, Some(forged.referee)));
        let both = ChoiceEvidence::Proved;
        assert_eq!(filed.choices, Seats::new(both, both));
        assert_eq!(hall.count(|fact| matches!(fact, Fact::ConductNoted { .. })), 0);
        assert_eq!(hall.file(truth), Ok(Reply::Recorded { again: true }), "a repentant referee");
        let conflict = Refusal::ConflictingResult(first());
        assert_eq!(hall.file(forged), Ok(Reply::ReportRefused(conflict)), "an unrepentant one");
        assert_eq!(hall.replayed(), hall.league);
    }
}

#[test]
fn a_proved_choice_that_came_to_nothing_is_told_as_it_was_proved() {
    let mut hall = Hall::started(2, 1);
    let (mut play, verdict) = (nothing(), Verdict::TechnicalLoss(Seat::B));
    play.stranded.a = Move::word("even");
    play.choice_proofs.a = Some(hall.proof_of(first(), Seat::A, "odd"));
    let report = hall.sign(first(), verdict, play);
    assert!(matches!(hall.file(report), Ok(Reply::ReportRefused(_))));
    let recorded = hall.books.iter().find_map(|event| {
        let Fact::ResultRecorded(recorded) = &event.fact else { return None };
        Some((recorded.verdict, recorded.stranded.a.clone()))
    });
    assert_eq!(recorded, Some((verdict, Move::word("odd"))));
}

#[test]
fn a_contradicting_proof_erases_nothing_else() {
    let clumsy = Conduct { answered: true, invalid_moves: 2, ..Conduct::default() };
    let noted = |hall: &Hall| {
        hall.books.iter().find_map(|event| {
            let Fact::ConductNoted { conduct, .. } = &event.fact else { return None };
            Some(*conduct)
        })
    };
    for operated in [true, false] {
        let mut hall = Hall::filled(2, 0);
        hall.ask(officiating(profile(8_001), 4, operated)).unwrap();
        hall.ask(Command::Start).unwrap();
        let mut report = contradicted(&hall, &[Seat::A]);
        report.conduct.a = clumsy;
        assert!(matches!(hall.file(report), Ok(Reply::ReportRefused(_))));
        let expected = operated.then(|| Seats::new(clumsy, Conduct::default()));
        assert_eq!(noted(&hall), expected, "its own invalid moves");
        assert_eq!(hall.count(|fact| matches!(fact, Fact::ReportRefused { .. })), 1);
        assert_eq!(hall.replayed(), hall.league);
    }
    let mut hall = Hall::started(2, 1);
    let mut play = nothing();
    play.stranded.a = Move::word("even");
    play.choice_proofs.a = Some(hall.proof_of(first(), Seat::A, "odd"));
    let mut report = hall.sign(first(), Verdict::TechnicalLoss(Seat::B), play);
    report.conduct.b = SILENT;
    assert!(matches!(hall.file(report), Ok(Reply::ReportRefused(_))));
    assert_eq!(noted(&hall), Some(Seats::new(Conduct::default(), SILENT)), "a friend's silence");
}

#[test]
fn nobody_is_charged_on_the_word_of_a_foreign_referee() {
    let mut hall = Hall::filled(2, 0);
    hall.ask(officiating(profile(8_001), 4, false)).unwrap();
    hall.ask(Command::Start).unwrap();
    let mut report = hall.report(first(), ["even", "odd"]);
    report.conduct.a = Conduct { invalid_moves: 2, connection_errors: 3, ..Conduct::default() };
    hall.file(report).unwrap();
    assert_eq!(hall.count(|fact| matches!(fact, Fact::ConductNoted { .. })), 0);
}

#[test]
fn nobody_fails_more_often_than_one_match_has_room_for() {
    let told = |timeouts, connection_errors, invalid_moves| Conduct {
        answered: true,
        timeouts,
        connection_errors,
        invalid_moves,
    };
    // An invitation, three calls for a move and three answers.
    let (game, lost) = (true, false);
    for (played, conduct, is_lie) in [
        (game, told(0, 4, 3), false),
        (game, told(0, 5, 3), true),
        (game, told(0, 0, 4), true),
        (game, told(1, 0, 0), true),
        (lost, told(1, 4, 3), false),
        (lost, told(2, 0, 0), true),
        (lost, told(4_000_000_000, 0, 0), true),
    ] {
        for operated in [true, false] {
            let mut hall = Hall::filled(2, 0);
            hall.ask(officiating(profile(8_001), 4, operated)).unwrap();
            hall.ask(Command::Start).unwrap();
            let mut report = hall.report(first(), ["even", "odd"]);
            if !played {
                report = hall.sign(first(), Verdict::TechnicalLoss(Seat::B), nothing());
            }
            report.conduct.b = conduct;
            let player = hall.league.open_match(first()).unwrap().pairing.b;
            let lie = Lie::ImpossibleConduct(player);
            let refusal = Refusal::FalseReport { match_id: first(), lie };
            let expected = match is_lie {
                true => Reply::ReportRefused(refusal),
                false => Reply::Recorded { again: false },
            };
            assert_eq!(hall.file(report), Ok(expected), "{conduct:?}");
        }
    }
}

// req: LIFE-3
#[test]
fn a_round_that_waits_for_a_suspended_player_says_so() {
    let mut hall = Hall::started(8, 1);
    hall.silence(PlayerId::new(1), 3);
    assert_eq!(hall.league.alerts().collect::<Vec<_>>(), [], "its match is over");
    let round = hall.league.open_round().unwrap().id;
    while hall.league.open_round().unwrap().id == round {
        let (match_id, _) = hall.next_open();
        let report = hall.report(match_id, ["even", "odd"]);
        hall.file(report).unwrap();
    }
    let alert = Alert::PlayerSuspended(PlayerId::new(1));
    assert_eq!(hall.league.alerts().collect::<Vec<_>>(), [alert]);
    let opened = hall.books.last().unwrap();
    let effects = hall.league.effects(opened);
    assert_eq!(effects, [Effect::AnnounceRound(round.next()), Effect::Alert(alert)]);
    hall.ask(Command::ProbeAnswered { agent: agent(1) }).unwrap();
    assert_eq!(hall.league.alerts().count(), 0);
}

#[test]
fn a_walkover_says_why_the_player_is_gone() {
    let mut hall = Hall::started(4, 1);
    let ban = |number| Command::Administer {
        order: Order::Ban(agent(number)),
        reason: "sold its vote".into(),
    };
    hall.ask(ban(1)).unwrap();
    let told = |hall: &Hall| {
        let reason = hall.books.iter().rev().find_map(|event| {
            let Fact::Walkover { reason, .. } = &event.fact else { return None };
            Some(reason.to_string())
        });
        reason.unwrap()
    };
    assert_eq!(told(&hall), "P01 was banned: sold its vote");
    assert_eq!(hall.league, hall.replayed());
    let mut hall = Hall::started(8, 1);
    hall.silence(PlayerId::new(1), 3);
    hall.pass(300);
    hall.play_to_the_end();
    assert_eq!(told(&hall), "P01 has left the league: no sign of life in the time to recover");
}
