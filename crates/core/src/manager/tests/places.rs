//! Stories of agents whose tokens were lost or seen by others.

use std::time::Duration;

use super::super::dispatch::Dispatcher;
use super::super::*;
use super::hall::{Hall, application, first, host, joining, officiating, order, profile};
use super::life::state;
use crate::roster::{AgentState, StateKind};
use crate::seat::Seat;
use crate::verdict::Verdict;

fn player(number: u32) -> AgentId {
    AgentId::Player(PlayerId::new(number))
}

fn referee(number: u32) -> AgentId {
    AgentId::Referee(RefereeId::new(number))
}

fn back(agent: AgentId, port: u32) -> Box<Application> {
    let known = Some(Returning { agent, old_is_silent: true });
    Box::new(Application { known, ..application(profile(port)) })
}

fn nonce(hall: &Hall, number: u32) -> [u8; 32] {
    hall.league.player(PlayerId::new(number)).unwrap().nonce
}

fn shown(port: u32, code: u8) -> Command {
    let join_code = Some([code; 32]);
    Command::RegisterPlayer(Box::new(Application { join_code, ..application(profile(port)) }))
}

fn with_codes() -> Hall {
    let mut hall = Hall::new(StartRule::OnCommand);
    let invited = |code: u8| Invited { code: [code; 32], student: "somebody".into(), group: None };
    let players = PlayerAdmission::Codes((1..=4).map(invited).collect());
    let admission = Admission { players, referees: RefereeAdmission::Open };
    hall.ask(Command::SetAdmission(Box::new(admission))).unwrap();
    hall.join_referee(1, 4).unwrap();
    (1..=4).for_each(|n| drop(hall.ask(shown(8_100 + u32::from(n), n)).unwrap()));
    hall
}

#[test]
fn a_new_token_is_another_one_and_is_told_to_the_administrator_alone() {
    let mut hall = Hall::filled(2, 1);
    let before = nonce(&hall, 1);
    let told = hall.ask(order(Order::Rotate(player(1)))).unwrap();
    let after = nonce(&hall, 1);
    assert_eq!(told, Reply::TokenReplaced { agent: player(1), nonce: after });
    assert_ne!(before, after);
    assert_eq!(hall.league.hold(player(1)).unwrap().former, Some(before));
    let effects = hall.league.effects(hall.books.last().unwrap());
    assert_eq!(effects, [Effect::FallSilent(player(1))], "not even the agent's old address");
    let taken = Err(Refusal::AlreadyRegistered(player(1)));
    assert_eq!(hall.join_player(1), taken, "the first registration again");
    hall.ask(Command::RegisterPlayer(back(player(1), 8_101))).unwrap();
    assert!(!hall.league.is_away(player(1)));
    assert_eq!(hall.league.effects(hall.books.last().unwrap()), [Effect::Welcome(player(1))]);
    assert_eq!(hall.ask(order(Order::Rotate(player(9)))), Err(Refusal::UnknownAgent(player(9))));
    assert_eq!(hall.league, hall.replayed());
}

#[test]
fn what_was_handed_out_under_the_old_token_is_played_again_and_waits_for_the_player() {
    let mut hall = Hall::started(4, 1);
    let mut dispatcher = Dispatcher::for_league(&hall.league);
    assert_eq!(dispatcher.hand_out(&hall.league, hall.now, 9).len(), 2);
    let old = hall.report(first(), ["even", "odd"]);
    let playing = hall.league.open_match(first()).unwrap().pairing.a;
    let rows = hall.books.len();
    hall.ask(order(Order::Rotate(AgentId::Player(playing)))).unwrap();
    hall.books[rows..].iter().for_each(|event| dispatcher.apply(&hall.league, event));
    let open = hall.league.open_match(first()).unwrap();
    assert_eq!((open.attempt, open.annulments), (2, 1));
    let stale = Refusal::StaleAttempt { match_id: first(), got: 1, current: 2 };
    assert_eq!(hall.file(old), Err(stale));
    assert_eq!(dispatcher.hand_out(&hall.league, hall.now, 9), [], "it waits");
    let deadline = hall.league.next_deadline(hall.now).unwrap();
    assert_eq!(deadline.at, hall.now + hall.league.policy().recovery_window());
    let port = 8_100 + playing.number();
    hall.ask(Command::RegisterPlayer(back(AgentId::Player(playing), port))).unwrap();
    assert_eq!(dispatcher.hand_out(&hall.league, hall.now, 9).len(), 1, "it has come back");
    hall.play_to_the_end();
    assert_eq!(hall.league, hall.replayed());
}

#[test]
fn whoever_does_not_come_back_with_its_new_token_loses_without_a_game_until_it_does() {
    let mut hall = Hall::started(4, 1);
    let mut dispatcher = Dispatcher::for_league(&hall.league);
    let Pairing { a: playing, b: opponent } = hall.league.open_match(first()).unwrap().pairing;
    let agent = AgentId::Player(playing);
    hall.ask(order(Order::Rotate(agent))).unwrap();
    let alert = Alert::PlayerAway(playing);
    assert_eq!(hall.league.alerts().collect::<Vec<_>>(), [alert]);
    let replaced = hall.books.iter().rfind(|e| matches!(e.fact, Fact::TokenReplaced { .. }));
    let effects = hall.league.effects(replaced.unwrap());
    assert_eq!(effects, [Effect::FallSilent(agent), Effect::Alert(alert)]);
    hall.now = hall.league.next_deadline(hall.now).unwrap().at;
    assert_eq!(dispatcher.hand_out(&hall.league, hall.now, 9).len(), 1, "not at its old address");
    hall.ask(Command::Wake).unwrap();
    let walkovers = |hall: &Hall| -> Vec<String> {
        let told = hall.books.iter().filter_map(|event| {
            let Fact::Walkover { reason, .. } = &event.fact else { return None };
            Some(reason.to_string())
        });
        told.collect()
    };
    let absent = format!("{playing} has not come back with its new token");
    assert_eq!(walkovers(&hall), std::slice::from_ref(&absent));
    let verdict = hall.league.open_match(first()).unwrap().filed.unwrap().verdict;
    assert_eq!(verdict, Verdict::TechnicalLoss(Seat::A));
    assert_eq!(hall.league.standings().record_of(opponent).unwrap().points, 3);
    assert_eq!(hall.league.alerts().count(), 0);
    let (match_id, _) = hall.next_open();
    let report = hall.report(match_id, ["even", "odd"]);
    hall.file(report).unwrap();
    assert_eq!(walkovers(&hall), [absent.clone(), absent], "nobody waits twice");
    hall.ask(Command::RegisterPlayer(back(agent, 8_100 + playing.number()))).unwrap();
    hall.play_to_the_end();
    assert_eq!(walkovers(&hall).len(), 2, "it has come back");
    assert_eq!(hall.league, hall.replayed());
}

// req: LIFE-3
#[test]
fn the_time_to_come_back_does_not_run_while_the_league_is_paused() {
    let mut hall = Hall::started(8, 1);
    hall.silence(PlayerId::new(1), 3);
    let lifecycle = |hall: &Hall| *hall.league.lifecycle(player(1)).unwrap().state();
    let AgentState::Suspended { until: before, .. } = lifecycle(&hall) else { panic!() };
    let open = hall.next_open().1;
    let away = [open.a, open.b].into_iter().find(|id| id.number() != 1).unwrap();
    hall.ask(order(Order::Rotate(AgentId::Player(away)))).unwrap();
    let awaited = hall.league.awaited_players().next().unwrap().1;
    hall.pass(100);
    hall.ask(order(Order::Pause)).unwrap();
    for _ in 0..60 {
        let probe = hall.league.next_deadline(hall.now).unwrap().at;
        assert!(probe > hall.now, "nobody is woken for nothing");
        hall.now = probe;
        let asked = hall.league.probes_due(hall.now - Duration::from_secs(1), hall.now);
        assert_eq!(asked, [player(1)], "who is suspended can still show that it is back");
        hall.ask(Command::Wake).unwrap();
    }
    let paused = hall
        .books
        .iter()
        .rfind(|e| matches!(e.fact, Fact::Administered { order: Order::Pause, .. }));
    let pause = hall.now.since(paused.unwrap().at);
    assert!(pause > hall.league.policy().recovery_window());
    assert_eq!(state(&hall, player(1)), StateKind::Suspended);
    hall.ask(order(Order::Resume)).unwrap();
    let AgentState::Suspended { until, .. } = lifecycle(&hall) else { panic!() };
    assert_eq!(until, before + pause);
    assert_eq!(hall.league.awaited_players().next().unwrap().1, awaited + pause);
    assert_eq!(hall.league, hall.replayed());
    let mut late = Hall::started(8, 1);
    late.silence(PlayerId::new(1), 3);
    late.ask(order(Order::Pause)).unwrap();
    late.pass(1_000);
    late.ask(Command::ProbeAnswered { agent: player(1) }).unwrap();
    assert_eq!(state(&late, player(1)), StateKind::Active, "it is not too late");
}

#[test]
fn an_agent_is_spoken_to_in_the_shape_it_answers_to() {
    let mut hall = Hall::filled(2, 1);
    let settle = |agent, dialect: &str| Command::SettleShape { agent, dialect: dialect.into() };
    let spoken = |hall: &Hall, agent| hall.league.dialect(agent).unwrap().to_string();
    hall.ask(settle(player(1), "tool")).unwrap();
    hall.ask(settle(referee(1), "typed")).unwrap();
    assert_eq!(
        (spoken(&hall, player(1)), spoken(&hall, referee(1))),
        ("tool".into(), "typed".into())
    );
    let effects = hall.league.effects(hall.books.last().unwrap());
    assert_eq!(effects, [Effect::Welcome(referee(1))], "its mail goes out in that shape");
    let before = hall.books.len();
    hall.ask(settle(player(1), "tool")).unwrap();
    assert_eq!(hall.books.len(), before, "that is no news");
    let unknown = hall.ask(settle(player(9), "tool"));
    assert_eq!(unknown, Err(Refusal::UnknownAgent(player(9))));
    let again = hall.join_player(1);
    assert!(
        matches!(again, Ok(Reply::Registered { .. })),
        "the registration is the same: {again:?}"
    );
    hall.ask(Command::RegisterPlayer(back(player(1), 8_101))).unwrap();
    assert_eq!(spoken(&hall, player(1)), "tool", "who comes back with the same shape is known");
    assert_eq!(hall.league, hall.replayed());
}

#[test]
fn a_player_with_a_new_token_is_waited_for_from_the_start_too() {
    let mut hall = Hall::filled(2, 1);
    hall.ask(order(Order::Rotate(player(1)))).unwrap();
    let until = hall.now + hall.league.policy().recovery_window();
    hall.now = hall.now + Duration::from_secs(1);
    hall.ask(Command::Start).unwrap();
    let mut dispatcher = Dispatcher::for_league(&hall.league);
    assert_eq!(dispatcher.hand_out(&hall.league, hall.now, 9), [], "it waits");
    assert_eq!(hall.league.next_deadline(hall.now).unwrap().at, until);
    hall.ask(Command::RegisterPlayer(back(player(1), 8_101))).unwrap();
    assert_eq!(dispatcher.hand_out(&hall.league, hall.now, 9).len(), 1, "it has come back");
    assert_eq!(hall.league, hall.replayed());
}

#[test]
fn a_referee_gets_matches_again_when_it_shows_its_new_token() {
    let mut hall = Hall::started(4, 2);
    let held = |hall: &Hall| {
        let round = hall.league.open_round().unwrap();
        round.matches.iter().filter(|open| open.referee == RefereeId::new(1)).count()
    };
    assert_eq!(held(&hall), 1);
    hall.ask(order(Order::Rotate(referee(1)))).unwrap();
    assert_eq!(held(&hall), 0, "the other one has all of them");
    hall.ask(order(Order::Rotate(referee(2)))).unwrap();
    assert_eq!(hall.league.stuck_matches().count(), 2, "there is nobody");
    let (application, capacity, operated) = (back(referee(1), 8_001), 4, true);
    hall.ask(Command::RegisterReferee { application, capacity, operated }).unwrap();
    assert_eq!((held(&hall), hall.league.stuck_matches().count()), (2, 0));
    assert!(!hall.league.referees()[0].vanished, "it did nothing wrong");
    hall.play_to_the_end();
    assert_eq!(hall.league, hall.replayed());
}

// req: REG-6
#[test]
fn whoever_shows_the_code_of_a_released_player_is_that_player() {
    let mut hall = with_codes();
    hall.now = hall.now + Duration::from_secs(600);
    let before = nonce(&hall, 2);
    assert_eq!(hall.ask(shown(9_000, 2)), Err(Refusal::JoinCodeUsed(player(2))));
    hall.ask(order(Order::Release(player(2)))).unwrap();
    assert_eq!(nonce(&hall, 2), before, "it plays on until somebody comes");
    assert_eq!(hall.ask(joining(profile(8_102))), Err(Refusal::AlreadyRegistered(player(2))));
    assert_eq!(hall.ask(shown(8_101, 2)), Err(Refusal::AlreadyRegistered(player(1))));
    let told = hall.ask(shown(9_000, 2)).unwrap();
    assert_eq!(told, Reply::Registered { agent: player(2), nonce: nonce(&hall, 2) });
    assert_ne!(nonce(&hall, 2), before);
    assert_eq!(hall.ask(shown(9_000, 2)), Ok(told), "the same registration again");
    assert_eq!(hall.ask(shown(9_001, 2)), Err(Refusal::JoinCodeUsed(player(2))), "it works once");
    hall.ask(Command::Start).unwrap();
    assert_eq!(hall.league.table().len(), 4);
    hall.ask(order(Order::Release(player(2)))).unwrap();
    hall.ask(shown(9_002, 2)).unwrap();
    assert_eq!(&*hall.league.players()[1].profile.endpoint, "http://127.0.0.1:9002/mcp");
    let mut dispatcher = Dispatcher::for_league(&hall.league);
    assert_eq!(dispatcher.hand_out(&hall.league, hall.now, 9).len(), 2, "it is there already");
    hall.play_to_the_end();
    assert_eq!(hall.ask(order(Order::Release(player(2)))), Err(Refusal::Completed));
    assert_eq!(hall.league, hall.replayed());
}

#[test]
fn without_codes_the_address_says_who_comes_back() {
    let mut hall = Hall::started(2, 1);
    assert_eq!(hall.join_player(3), Err(Refusal::LateRegistration));
    hall.now = hall.now + Duration::from_secs(600);
    hall.ask(order(Order::Release(player(1)))).unwrap();
    let stranger = Profile { display_name: "Agent Alpha".into(), ..profile(9_000) };
    assert_eq!(hall.ask(joining(stranger)), Err(Refusal::LateRegistration), "names are public");
    let nonce_before = nonce(&hall, 1);
    let from = |host: &str| {
        let application = Application { host: host.into(), ..application(profile(8_101)) };
        Command::RegisterPlayer(Box::new(application))
    };
    let elsewhere = Err(Refusal::FromElsewhere(player(1)));
    assert_eq!(hall.ask(from("10.6.6.6")), elsewhere, "everybody can name an address");
    let told = hall.ask(from("127.0.0.1")).unwrap();
    assert!(matches!(told, Reply::Registered { agent, .. } if agent == player(1)));
    assert_ne!(nonce(&hall, 1), nonce_before);
    hall.play_to_the_end();
    assert_eq!(hall.league, hall.replayed());
}

#[test]
fn a_place_with_a_name_for_an_address_is_for_the_machine_that_had_it() {
    let named = |endpoint: &str| Profile { endpoint: endpoint.into(), ..profile(0) };
    let from = |host: &str, endpoint: &str| {
        let application = Application { host: host.into(), ..application(named(endpoint)) };
        Command::RegisterPlayer(Box::new(application))
    };
    let is_taken =
        |told, agent| matches!(told, Ok(Reply::Registered { agent: a, .. }) if a == agent);
    let (ada, here) = ("http://ada.lan:8101/mcp", "http://LocalHost:8102/mcp");
    let mut hall = Hall::filled(0, 1);
    hall.ask(from("10.0.0.7", ada)).unwrap();
    hall.ask(from("127.0.0.1", here)).unwrap();
    hall.ask(Command::Start).unwrap();
    hall.now = hall.now + Duration::from_secs(600);
    for number in [1, 2] {
        hall.ask(order(Order::Release(player(number)))).unwrap();
    }
    let mut restarted = Hall { league: hall.replayed(), ..Hall::new(StartRule::OnCommand) };
    let elsewhere = |number| Err(Refusal::FromElsewhere(player(number)));
    for (host, endpoint, number) in [("10.6.6.6", ada, 1), ("10.6.6.6", here, 2)] {
        assert_eq!(hall.ask(from(host, endpoint)), elsewhere(number), "everybody knows the name");
    }
    assert!(is_taken(hall.ask(from("10.0.0.7", ada)), player(1)));
    assert!(is_taken(hall.ask(from("[::1]", here)), player(2)), "the machine itself");
    restarted.now = hall.now;
    assert_eq!(restarted.ask(from("10.0.0.7", ada)), elsewhere(1), "nobody knows who it was");
    assert!(is_taken(restarted.ask(from("127.0.0.1", here)), player(2)));
}

#[test]
fn a_released_place_of_the_operators_referee_is_not_for_strangers() {
    let mut hall = Hall::filled(2, 0);
    let referees = RefereeAdmission::KeyOrApproval;
    let admission = Admission { players: PlayerAdmission::Open, referees };
    hall.ask(Command::SetAdmission(Box::new(admission))).unwrap();
    hall.join_referee(1, 4).unwrap();
    hall.ask(officiating(profile(8_002), 1, false)).unwrap();
    hall.ask(order(Order::Approve(RefereeId::new(2)))).unwrap();
    for number in [1, 2] {
        hall.ask(order(Order::Release(referee(number)))).unwrap();
    }
    hall.now = hall.now + Duration::from_secs(600);
    let here = |port, operated| {
        let application = Application { host: "127.0.0.1".into(), ..application(profile(port)) };
        Command::RegisterReferee { application: Box::new(application), capacity: 4, operated }
    };
    let taken = Err(Refusal::AlreadyRegistered(referee(1)));
    assert_eq!(hall.ask(here(8_001, false)), taken);
    let elsewhere = Err(Refusal::FromElsewhere(referee(1)));
    assert_eq!(hall.ask(officiating(profile(8_001), 4, true)), elsewhere);
    hall.ask(here(8_001, true)).unwrap();
    hall.ask(here(8_002, false)).unwrap();
    let may = |hall: &Hall, at: usize| hall.league.may_officiate(&hall.league.referees()[at]);
    assert_eq!((may(&hall, 0), may(&hall, 1)), (true, false), "approval is for whom one knows");
    assert_eq!(hall.league, hall.replayed());
}

// req: LIFE-4
#[test]
fn whoever_is_banned_has_no_place_and_no_token() {
    let mut hall = with_codes();
    hall.ask(order(Order::Release(player(2)))).unwrap();
    hall.ask(order(Order::Ban(player(2)))).unwrap();
    assert_eq!(hall.ask(shown(9_000, 2)), Err(Refusal::JoinCodeUsed(player(2))));
    let first = Err(Refusal::ReinstateFirst(player(2)));
    assert_eq!(hall.ask(order(Order::Release(player(2)))), first);
    assert_eq!(hall.ask(order(Order::Rotate(player(2)))), first);
    hall.ask(order(Order::Reinstate(player(2)))).unwrap();
    hall.ask(order(Order::Release(player(2)))).unwrap();
    hall.ask(shown(9_000, 2)).unwrap();
    let kind = hall.league.lifecycle(player(2)).unwrap().state().kind();
    assert_eq!(kind, StateKind::Registered);
    let twice = hall.ask(order(Order::Reinstate(player(2))));
    assert_eq!(twice, Err(Refusal::InGoodStanding(player(2))));
    assert_eq!(hall.league, hall.replayed());
}

#[test]
fn a_released_place_is_for_the_same_host_if_no_address_is_named() {
    let mut hall = Hall::filled(1, 1);
    let nameless = || Profile { endpoint: "".into(), ..profile(0) };
    hall.ask(joining(nameless())).unwrap();
    hall.ask(order(Order::Release(player(2)))).unwrap();
    let from = |host: &str| {
        let application = Application { host: host.into(), ..application(nameless()) };
        Command::RegisterPlayer(Box::new(application))
    };
    let is =
        |told, agent| matches!(told, Ok(Reply::Registered { agent: told, .. }) if told == agent);
    assert!(is(hall.ask(from("10.6.6.6")), player(3)), "somebody else");
    assert!(is(hall.ask(from(&host())), player(2)));
}

#[test]
fn matches_that_cannot_be_decided_anew_say_why() {
    let mut hall = Hall::started(4, 1);
    let later = MatchId::new(RoundId::new(3), 1);
    let none = MatchId::new(RoundId::new(9), 1);
    for wanted in [Order::Rematch, Order::Cancel] {
        assert_eq!(hall.ask(order(wanted(later))), Err(Refusal::RoundNotOpen(later)));
        assert_eq!(hall.ask(order(wanted(none))), Err(Refusal::NoSuchMatch(none)));
    }
}
