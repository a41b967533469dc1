//! Stories of one mailbox.

use bytes::Bytes;
use league_core::dice::{Dice, SeededDice};
use league_core::time::Timestamp;
use tokio::sync::oneshot;

use super::turns::Turns;
use super::*;
use crate::limits::{
    PRESENCE, TURNS_MAX, TURNS_PER_CALLER_MAX, TURNS_REMEMBERED, TURNS_UNPROVED_MAX,
};

const NOW: Timestamp = Timestamp::from_millis(1_000_000);
const LONG: Duration = Duration::from_secs(600);

fn call(from: From, text: &'static str) -> Call {
    Call { from, want: Want::Answer, body: Bytes::from_static(text.as_bytes()) }
}

fn invitation(from: From) -> Call {
    Call { want: Want::Presence, ..call(from, "{}") }
}

fn news(from: From) -> Call {
    Call { want: Want::Notice, ..call(from, "{}") }
}

fn referee(number: u32) -> From {
    From::Referee(league_core::id::RefereeId::new(number))
}

fn ids(given: &[Given]) -> Vec<u64> {
    given.iter().map(|given| given.turn).collect()
}

#[test]
fn a_turn_is_given_until_it_is_answered_and_answers_count_once() {
    let mut turns = Turns::default();
    let mut first = turns.put(NOW, 11, call(referee(1), "{\"id\":1}")).unwrap();
    let _second = turns.put(NOW, 12, call(From::Manager, "{}")).unwrap();
    turns.begin_poll(NOW, None);
    assert!(turns.has_news(None));
    let given = turns.give(None);
    assert_eq!(ids(&given), [11, 12]);
    assert!(given[0].needs_answer && given[0].since == NOW);
    assert!(!turns.has_news(None) && turns.has_any(None), "not answered");
    assert_eq!(ids(&turns.give(None)), [11, 12], "given again");
    assert_eq!(ids(&turns.give(Some(11))), [12], "to whoever has seen the first");
    assert_eq!(turns.settle(11, Bytes::from_static(b"yes")), Settled::Counted);
    assert_eq!(first.try_recv().unwrap(), Ok(Reply::Posted(Bytes::from_static(b"yes"))));
    assert_eq!(turns.settle(11, Bytes::from_static(b"no")), Settled::Over, "harmless");
    assert_eq!(turns.settle(13, Bytes::new()), Settled::Unknown);
    assert_eq!(ids(&turns.give(None)), [12]);
}

#[test]
fn whoever_has_left_is_not_answered() {
    let mut turns = Turns::default();
    drop(turns.put(NOW, 1, call(referee(1), "{}")).unwrap());
    turns.begin_poll(NOW, None);
    assert!(!turns.has_any(None));
    assert_eq!(turns.give(None), []);
    assert_eq!(turns.settle(1, Bytes::new()), Settled::Over);
}

#[test]
fn presence_accepts_invitations_and_the_player_is_told() {
    let mut turns = Turns::default();
    assert!(!turns.is_present(NOW));
    let mut early = turns.put(NOW, 1, invitation(referee(1))).unwrap();
    assert!(early.try_recv().is_err(), "nobody is there");
    turns.begin_poll(NOW, None);
    assert_eq!(early.try_recv().unwrap(), Ok(Reply::Present));
    turns.end_poll(NOW);
    let mut later = turns.put(NOW + PRESENCE, 2, invitation(referee(2))).unwrap();
    assert_eq!(later.try_recv().unwrap(), Ok(Reply::Present));
    let gone = NOW + PRESENCE + Duration::from_millis(1);
    assert!(!turns.is_present(gone));
    let mut late = turns.put(gone, 3, invitation(referee(3))).unwrap();
    assert!(late.try_recv().is_err(), "a player that does not poll is silent");
    assert_eq!(turns.last_poll(gone), Some(NOW));
    turns.begin_poll(gone, None);
    assert_eq!(late.try_recv().unwrap(), Ok(Reply::Present));
    let told = turns.give(None);
    assert_eq!(ids(&told), [1, 2, 3]);
    assert!(told.iter().all(|given| !given.needs_answer));
    assert_eq!(turns.settle(1, Bytes::new()), Settled::Over);
    assert!(!turns.has_any(None), "nobody is told twice without asking");
    assert_eq!(turns.give(None), []);
    assert_eq!(ids(&turns.give(Some(0))), [2, 3], "whoever has lost them asks");
    turns.begin_poll(gone, Some(2));
    assert_eq!(ids(&turns.give(Some(0))), [3], "what was seen is done with");
}

#[test]
fn a_manager_that_has_just_started_takes_everybody_for_present() {
    let mut turns = Turns::default();
    turns.presume(NOW);
    let mut joined = turns.put(NOW + PRESENCE, 1, invitation(referee(1))).unwrap();
    assert_eq!(joined.try_recv().unwrap(), Ok(Reply::Present));
    assert_eq!(turns.last_poll(NOW), None, "it has not polled");
    let gone = NOW + PRESENCE + Duration::from_millis(1);
    let mut silent = turns.put(gone, 2, invitation(referee(1))).unwrap();
    assert!(silent.try_recv().is_err());
}

#[test]
fn there_is_room_for_everybody_and_no_more() {
    let mut turns = Turns::default();
    let mut held = vec![];
    for id in 0..TURNS_UNPROVED_MAX as u64 {
        held.push(turns.put(NOW, id, call(From::Unproved, "{}")).unwrap());
    }
    assert!(turns.put(NOW, 100, call(From::Unproved, "{}")).is_err());
    for id in 0..TURNS_PER_CALLER_MAX as u64 {
        held.push(turns.put(NOW, 200 + id, call(referee(1), "{}")).unwrap());
    }
    assert!(turns.put(NOW, 300, call(referee(1), "{}")).is_err(), "one referee");
    let mut number = 2;
    while held.len() < TURNS_MAX {
        let from = referee(number);
        held.push(turns.put(NOW, 400 + u64::from(number), call(from, "{}")).unwrap());
        number += 1;
    }
    assert!(turns.put(NOW, 900, call(From::Manager, "{}")).is_err(), "all together");
    held.truncate(1);
    assert!(turns.put(NOW, 901, call(From::Manager, "{}")).is_ok(), "they have left");
}

#[test]
fn notices_give_way() {
    let mut turns = Turns::default();
    turns.begin_poll(NOW, None);
    for id in 0..2 * TURNS_PER_CALLER_MAX as u64 {
        turns.put(NOW, id, invitation(referee(1))).unwrap();
    }
    let left = turns.give(None);
    assert_eq!(left.len(), TURNS_PER_CALLER_MAX);
    assert_eq!(left[0].turn, TURNS_PER_CALLER_MAX as u64);
}

/// News that the player has seen and does not answer never keeps it from being asked.
#[test]
fn news_makes_room_for_what_counts() {
    let mut turns = Turns::default();
    let most = TURNS_PER_CALLER_MAX as u64;
    let mut told: Vec<_> =
        (1..=most).map(|id| turns.put(NOW, id, news(referee(1))).unwrap()).collect();
    assert!(turns.put(NOW, 100, news(referee(1))).is_err(), "nobody has seen the others");
    turns.begin_poll(NOW, None);
    assert_eq!(turns.give(None).len(), TURNS_PER_CALLER_MAX);
    let latest = turns.put(NOW, 101, news(referee(1))).unwrap();
    assert_eq!(told[0].try_recv().unwrap(), Err(Full), "it has been seen");
    let mut asked = vec![];
    for id in 0..most {
        asked.push(turns.put(NOW, 200 + id, call(referee(1), "{}")).unwrap());
    }
    assert!(turns.put(NOW, 300, call(referee(1), "{}")).is_err(), "questions do not give way");
    assert!(asked.iter_mut().all(|asked| asked.try_recv().is_err()));
    assert_eq!(turns.settle(200, Bytes::new()), Settled::Counted);
    drop((latest, told));
}

#[test]
fn nobody_who_proves_nothing_displaces_news() {
    let mut turns = Turns::default();
    turns.begin_poll(NOW, None);
    let each = 1..=u32::try_from(TURNS_MAX).unwrap();
    let _told: Vec<_> = each.map(|n| turns.put(NOW, n.into(), news(referee(n))).unwrap()).collect();
    turns.give(None);
    assert!(turns.put(NOW, 100, call(From::Unproved, "{}")).is_err());
    assert!(turns.put(NOW, 101, call(From::Manager, "{}")).is_ok());
}

#[test]
fn turns_are_known_for_a_while_after_they_are_over() {
    let mut turns = Turns::default();
    for id in 10..=10 + TURNS_REMEMBERED as u64 {
        drop(turns.put(NOW, id, call(referee(1), "{}")).unwrap());
    }
    assert_eq!(turns.settle(11, Bytes::new()), Settled::Over);
    let before = Turns::from(2 * TURNS_PER_DAY).settle(2 * TURNS_PER_DAY - 1, Bytes::new());
    assert_eq!(before, Settled::Over, "of a manager that was restarted");
    assert_eq!(Turns::from(2 * TURNS_PER_DAY).settle(1, Bytes::new()), Settled::Unknown);
    for unknown in [1, 10, 9_999] {
        assert_eq!(turns.settle(unknown, Bytes::new()), Settled::Unknown, "{unknown}");
    }
}

#[test]
fn notices_of_others_give_way_when_there_is_no_room_at_all() {
    let mut turns = Turns::default();
    turns.begin_poll(NOW, None);
    for number in 1..=u32::try_from(TURNS_MAX).unwrap() {
        turns.put(NOW, number.into(), invitation(referee(number))).unwrap();
    }
    let asked = turns.put(NOW, 100, call(From::Manager, "{}"));
    assert!(asked.is_ok());
    let left = turns.give(None);
    assert_eq!((left.len(), left[0].turn), (TURNS_MAX, 2));
}

/// Whatever happens in whatever order: room is never exceeded, nobody is given what nobody waits
/// for, and every caller hears the answer to its own call or nothing.
#[test]
fn answers_reach_whoever_asked_and_nobody_else() {
    let count = if std::env::var_os("LEAGUE_LONG").is_some() { 2_000 } else { 50 };
    for seed in 0..count {
        let mut dice = SeededDice::new(seed);
        let (mut turns, mut now, mut next) = (Turns::default(), NOW, 1);
        let mut callers: BTreeMap<u64, oneshot::Receiver<Result<Reply, Full>>> = BTreeMap::new();
        for _ in 0..300 {
            now = now + Duration::from_millis(dice.below(20_000));
            match dice.below(6) {
                0 | 1 => {
                    let from = match dice.below(4) {
                        0 => From::Manager,
                        1 => From::Unproved,
                        number => referee(u32::try_from(number).unwrap()),
                    };
                    let want = match dice.below(3) {
                        0 => Want::Presence,
                        1 => Want::Answer,
                        _ => Want::Notice,
                    };
                    let call = Call { want, ..call(from, "{}") };
                    if let Ok(reply) = turns.put(now, next, call) {
                        callers.insert(next, reply);
                    }
                    next += 1;
                }
                2 => turns.begin_poll(now, Some(dice.below(next))),
                3 => turns.end_poll(now),
                4 => drop(callers.pop_first()),
                _ => {
                    let id = dice.below(next + 1);
                    let was_counted = turns.settle(id, id.to_string().into()) == Settled::Counted;
                    assert!(!was_counted || callers.contains_key(&id), "seed {seed}");
                }
            }
            let given = turns.look();
            assert!(given.len() <= TURNS_MAX && ids(&given).is_sorted(), "seed {seed}");
            let is_waited_for = |given: &Given| callers.contains_key(&given.turn);
            assert!(given.iter().all(|given| !given.needs_answer || is_waited_for(given)));
            for (id, reply) in &mut callers {
                if let Ok(Ok(Reply::Posted(body))) = reply.try_recv() {
                    assert_eq!(body, id.to_string(), "seed {seed}");
                }
            }
        }
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

#[test]
fn a_call_and_a_poll_meet() {
    runtime().block_on(async {
        let boxes = Mailboxes::default();
        let token: Token = "tok_0123456789abcdef0123456789abcdef".parse().unwrap();
        let mailbox = boxes.open(PlayerId::new(1), &token);
        let (owner, same) = boxes.of_token(token.expose()).unwrap();
        assert_eq!(owner, PlayerId::new(1));
        assert!(boxes.of_token("tok_other").is_none());
        let playing = async {
            let Polled::Turns(given) = same.next(None, LONG).await else { panic!("no turns") };
            assert_eq!(&*given[0].body, b"{}");
            same.answer(given[0].turn, Bytes::from_static(b"[]"))
        };
        let calling = boxes.call(&mailbox, call(referee(1), "{}"), LONG);
        let (settled, reply) = tokio::join!(playing, calling);
        assert_eq!(settled, Settled::Counted);
        assert_eq!(reply, Ok(Reply::Posted(Bytes::from_static(b"[]"))));
        let silent = boxes.call(&mailbox, call(referee(1), "{}"), Duration::from_millis(1)).await;
        assert!(matches!(silent, Err(Unanswered::Silent(_))));
    });
}

#[test]
fn the_latest_poll_counts_and_a_closed_mailbox_sends_everybody_away() {
    runtime().block_on(async {
        let boxes = Mailboxes::default();
        let token: Token = "tok_0123456789abcdef0123456789abcdef".parse().unwrap();
        let mailbox = boxes.open(PlayerId::new(1), &token);
        let first = async {
            let polled = mailbox.next(None, LONG).await;
            boxes.close(PlayerId::new(1));
            polled
        };
        let (first, second) = tokio::join!(first, mailbox.next(None, LONG));
        assert_eq!((first, second), (Polled::TakenOver, Polled::Closed));
        assert!(boxes.of(PlayerId::new(1)).is_none());
        let late = boxes.call(&mailbox, call(referee(1), "{}"), LONG).await;
        assert_eq!(late, Err(Unanswered::Closed));
    });
}
