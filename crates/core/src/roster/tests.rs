//! Lives of agents, and every pair of state and trigger against the documented table.

use std::time::Duration;

use proptest::prelude::*;

use super::*;

/// The documented lifecycle. Offences stand for the last one before the threshold, the health check
/// for one in time, the deadline for a passed one. `-`: nothing happens, `!`: refused.
const TABLE: &str = "
    trigger          INIT        REGISTERED  ACTIVE      SUSPENDED0  SUSPENDED   SHUTDOWN
    Register         REGISTERED  !           !           !           !           !
    FailToRegister   SHUTDOWN    !           !           !           !           !
    StartLeague      !           ACTIVE      !           -           -           -
    EndLeague        !           SHUTDOWN    SHUTDOWN    SHUTDOWN    SHUTDOWN    -
    Answer           -           -           -           -           -           -
    TimeOut          -           SUSPENDED   SUSPENDED   -           -           -
    Disconnect       -           SUSPENDED   SUSPENDED   -           -           -
    MoveInvalidly    -           SUSPENDED   SUSPENDED   -           -           -
    LoseTechnically  -           -           SHUTDOWN    SHUTDOWN    SHUTDOWN    -
    PassHealthCheck  -           -           -           REGISTERED  ACTIVE      -
    PassDeadline     -           -           -           SHUTDOWN    SHUTDOWN    -
    Reinstate        !           !           !           REGISTERED  ACTIVE      -
    Ban              SHUTDOWN    SHUTDOWN    SHUTDOWN    SHUTDOWN    SHUTDOWN    -
    FailCritically   SHUTDOWN    SHUTDOWN    SHUTDOWN    SHUTDOWN    SHUTDOWN    -
";

// req: LIFE-1
#[test]
fn every_state_and_trigger_leads_where_the_documents_say() {
    let policy = Policy::default();
    let mut rows = TABLE.lines().map(str::split_whitespace).filter_map(|mut row| {
        let name = row.next()?;
        Some((name, row.collect::<Vec<_>>()))
    });
    let (_, states) = rows.next().unwrap();
    let rows: Vec<_> = rows.collect();
    let named: Vec<_> = rows.iter().map(|(trigger, _)| trigger.to_string()).collect();
    assert_eq!(named, Trigger::ALL.map(|trigger| format!("{trigger:?}")));
    for ((_, row), trigger) in rows.iter().zip(Trigger::ALL) {
        assert_eq!(row.len(), states.len());
        for (state, expected) in states.iter().zip(row) {
            let lifecycle = on_the_brink(state);
            let now = if trigger == Trigger::PassDeadline { at(301) } else { at(100) };
            let got = match lifecycle.decide(now, trigger, &policy) {
                Ok(Event { transition: None, .. }) => "-".to_owned(),
                Ok(Event { transition: Some(transition), .. }) => {
                    assert_eq!(transition.from, lifecycle.state().kind());
                    transition.to.to_string()
                }
                Err(refusal) => {
                    assert_eq!(
                        (refusal.from, refusal.trigger),
                        (lifecycle.state().kind(), trigger)
                    );
                    "!".to_owned()
                }
            };
            assert_eq!(&got, expected, "{state} {trigger:?}");
        }
    }
}

// req: LIFE-2
#[test]
fn three_timeouts_in_a_row_suspend() {
    let mut agent = active();
    assert_eq!(agent.meet(1, Trigger::TimeOut), None);
    assert_eq!(agent.meet(2, Trigger::TimeOut), None);
    assert_eq!(agent.meet(3, Trigger::Answer), None);
    assert_eq!(agent.meet(4, Trigger::TimeOut), None);
    assert_eq!(agent.meet(5, Trigger::TimeOut), None);
    let suspended = Some((StateKind::Suspended, Reason::Timeouts(3)));
    assert_eq!(agent.meet(6, Trigger::TimeOut), suspended);
}

// req: LIFE-2
#[test]
fn five_connection_errors_suspend_only_within_ten_minutes() {
    let mut agent = active();
    for second in [0, 100, 200, 300, 600, 700, 800] {
        assert_eq!(agent.meet(second, Trigger::Disconnect), None, "{second}");
        assert_eq!(agent.meet(second, Trigger::Answer), None);
    }
    let suspended = Some((StateKind::Suspended, Reason::ConnectionErrors(5)));
    assert_eq!(agent.meet(899, Trigger::Disconnect), suspended);
    assert!(agent.connection_errors.len() <= 5);
}

// req: LIFE-2
#[test]
fn five_invalid_moves_over_the_league_suspend() {
    let mut agent = active();
    for day in 1..5 {
        assert_eq!(agent.meet(day * 86_400, Trigger::MoveInvalidly), None);
        assert_eq!(agent.meet(day * 86_400, Trigger::Answer), None);
    }
    let suspended = Some((StateKind::Suspended, Reason::InvalidMoves(5)));
    assert_eq!(agent.meet(5 * 86_400, Trigger::MoveInvalidly), suspended);
}

// req: LIFE-3
#[test]
fn a_health_check_within_five_minutes_recovers_and_a_later_one_does_not() {
    let recovered = Some((StateKind::Active, Reason::Recovered));
    assert_eq!(suspended_at_zero().meet(299, Trigger::PassHealthCheck), recovered);
    let gone = Some((StateKind::Shutdown, Reason::RecoveryFailed));
    assert_eq!(suspended_at_zero().meet(300, Trigger::PassHealthCheck), gone);
    assert_eq!(suspended_at_zero().meet(299, Trigger::PassDeadline), None);
    assert_eq!(suspended_at_zero().meet(300, Trigger::PassDeadline), gone);
    let reinstated = Some((StateKind::Active, Reason::Reinstated));
    assert_eq!(suspended_at_zero().meet(10, Trigger::Reinstate), reinstated);
}

// req: LIFE-3
#[test]
fn ten_matches_lost_technically_shut_down_across_suspensions() {
    let mut agent = active();
    for round in 1..10 {
        let second = round * 100;
        assert_eq!(agent.meet(second, Trigger::LoseTechnically), None);
        if agent.meet(second, Trigger::TimeOut).is_some() {
            let recovered = Some((StateKind::Active, Reason::Recovered));
            assert_eq!(agent.meet(second + 1, Trigger::PassHealthCheck), recovered);
        }
    }
    let gone = Some((StateKind::Shutdown, Reason::Failures(10)));
    assert_eq!(agent.meet(2_000, Trigger::LoseTechnically), gone);
    assert_eq!(agent.failures(), 10);
}

#[test]
fn a_recovered_agent_starts_counting_anew() {
    let mut agent = on_the_brink("SUSPENDED");
    agent.meet(5, Trigger::PassHealthCheck);
    for trigger in [Trigger::TimeOut, Trigger::Disconnect, Trigger::MoveInvalidly] {
        assert_eq!(agent.meet(6, trigger), None, "{trigger:?}");
    }
    assert_eq!(agent.failures(), 9);
}

#[test]
fn recovery_before_the_start_leads_back_to_registered_and_after_it_to_active() {
    let mut agent = on_the_brink("REGISTERED");
    agent.meet(0, Trigger::TimeOut);
    let mut waiting = agent.clone();
    let back = Some((StateKind::Registered, Reason::Recovered));
    assert_eq!(agent.meet(1, Trigger::PassHealthCheck), back);
    assert_eq!(waiting.meet(1, Trigger::StartLeague), None);
    let back = Some((StateKind::Active, Reason::Recovered));
    assert_eq!(waiting.meet(2, Trigger::PassHealthCheck), back);
}

#[test]
fn a_suspended_agent_is_asked_every_ten_seconds_until_its_time_is_over() {
    let (agent, policy) = (suspended_at_zero(), Policy::default());
    let next = |second| agent.next_deadline(at(second), true, &policy).unwrap();
    assert_eq!(next(0).at, at(10));
    assert_eq!(next(9).at, at(10));
    assert_eq!(next(10).at, at(20));
    assert_eq!(next(289).at, at(290));
    assert_eq!(next(290), Deadline::new(at(300), "end of the time to recover"));
    assert_eq!(next(500).at, at(300));
    assert_eq!(active().next_deadline(at(0), true, &policy), None);
}

#[test]
fn a_shut_down_agent_returns_once_and_only_with_permission() {
    let mut agent = active();
    agent.meet(1, Trigger::Ban);
    assert_eq!(agent.begin_again(), None);
    assert!(agent.decide(at(2), Trigger::Register, &Policy::default()).is_err());
    assert_eq!(agent.meet(3, Trigger::Reinstate), None);
    let mut again = agent.begin_again().unwrap();
    let registered = Some((StateKind::Registered, Reason::Registered));
    assert_eq!(again.meet(4, Trigger::Register), registered);
    again.meet(5, Trigger::Ban);
    assert_eq!(again.begin_again(), None);
    agent.meet(6, Trigger::Ban);
    assert_eq!(agent.begin_again(), None);
}

/// Every documented transition, with the kind of its reason.
fn is_documented(transition: &Transition) -> bool {
    use StateKind::{Active, Init, Registered, Shutdown, Suspended};
    let Transition { from, to, reason } = *transition;
    match reason {
        Reason::Registered => (from, to) == (Init, Registered),
        Reason::RegistrationFailed => (from, to) == (Init, Shutdown),
        Reason::LeagueStarted => (from, to) == (Registered, Active),
        Reason::Timeouts(_) | Reason::ConnectionErrors(_) | Reason::InvalidMoves(_) => {
            [(Registered, Suspended), (Active, Suspended)].contains(&(from, to))
        }
        Reason::Recovered | Reason::Reinstated => {
            [(Suspended, Registered), (Suspended, Active)].contains(&(from, to))
        }
        Reason::LeagueEnded => to == Shutdown && [Registered, Active, Suspended].contains(&from),
        Reason::Failures(_) => to == Shutdown && [Active, Suspended].contains(&from),
        Reason::RecoveryFailed => (from, to) == (Suspended, Shutdown),
        Reason::Banned | Reason::CriticalError => to == Shutdown && from != Shutdown,
    }
}

proptest! {
    // req: LIFE-1
    #[test]
    fn no_sequence_of_triggers_leads_off_the_documented_paths(
        steps in prop::collection::vec((0..Trigger::ALL.len(), 0_u64..120), 0..200),
    ) {
        let policy = Policy::default();
        let (mut agent, mut events) = (Lifecycle::new(), Vec::new());
        let (mut now, mut started) = (0, false);
        for (index, wait) in steps {
            now += wait;
            let before = agent.state().kind();
            let Ok(event) = agent.decide(at(now), Trigger::ALL[index], &policy) else { continue };
            agent.apply(&event, &policy);
            events.push(event);
            let after = agent.state().kind();
            started |= event.trigger == Trigger::StartLeague;
            match event.transition {
                None => prop_assert_eq!(before, after),
                Some(transition) => {
                    prop_assert!(is_documented(&transition), "{:?}", transition);
                    prop_assert_eq!((transition.from, transition.to), (before, after));
                }
            }
            prop_assert!(before != StateKind::Shutdown || after == StateKind::Shutdown);
            prop_assert!(after != StateKind::Active || started);
            prop_assert!(agent.connection_errors.len() <= 5);
        }
        let mut again = Lifecycle::new();
        for event in &events {
            again.apply(event, &policy);
        }
        prop_assert_eq!(again, agent);
    }
}

impl Lifecycle {
    fn meet(&mut self, second: u64, trigger: Trigger) -> Step {
        let policy = Policy::default();
        let event = self.decide(at(second), trigger, &policy).unwrap();
        self.apply(&event, &policy);
        event.transition.map(|transition| (transition.to, transition.reason))
    }
}

/// An agent in `state` for whom every offence is one too many.
fn on_the_brink(state: &str) -> Lifecycle {
    let suspended = |started| AgentState::Suspended {
        since: at(0),
        until: at(300),
        cause: Reason::Timeouts(3),
        started,
    };
    let state = match state {
        "INIT" => AgentState::Init,
        "REGISTERED" => AgentState::Registered,
        "ACTIVE" => AgentState::Active,
        "SUSPENDED0" => suspended(false),
        "SUSPENDED" => suspended(true),
        "SHUTDOWN" => AgentState::Shutdown { cause: Reason::Banned, may_return: false },
        other => panic!("no state {other}"),
    };
    Lifecycle {
        state,
        timeouts: 2,
        connection_errors: [at(0); 4].into(),
        invalid_moves: 4,
        failures: 9,
    }
}

fn active() -> Lifecycle {
    let mut agent = Lifecycle::new();
    agent.meet(0, Trigger::Register);
    agent.meet(0, Trigger::StartLeague);
    agent
}

fn suspended_at_zero() -> Lifecycle {
    let mut agent = active();
    for _ in 0..3 {
        agent.meet(0, Trigger::TimeOut);
    }
    assert_eq!(agent.state().kind(), StateKind::Suspended);
    agent
}

fn at(second: u64) -> Timestamp {
    Timestamp::default() + Duration::from_secs(second)
}
