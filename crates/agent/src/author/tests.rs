//! Authors' functions, good and bad, and what is typed.

use std::time::Duration;

use league_core::id::PlayerId;

use super::options::{Task, Typed};
use super::watched::Watched;
use super::*;
use crate::strategy::{Asked, PARITY, Situation, Strategy};

fn asked(time: Duration, options: &[Move]) -> Asked {
    Asked {
        match_id: "R1M1".parse().unwrap(),
        game: None,
        step: 1,
        move_type: PARITY.into(),
        options: options.into(),
        context: None,
        standings: None,
        time,
    }
}

async fn played<M: Into<Move>>(
    time: Duration,
    options: &[Move],
    choose: impl Fn(&Call) -> M + Send + Sync + 'static,
) -> Option<Move> {
    let mut watched = Watched::new(Agent::new("Ada", choose).choose);
    let opponent: Option<PlayerId> = "P02".parse().ok();
    let situation = Situation { matches_before: 0, opponent, history: &[] };
    watched.think(&situation, &asked(time, options)).await
}

#[tokio::test]
async fn what_a_function_says_is_played() {
    let words = ["rock", "paper"].map(Move::from);
    let usual = Duration::from_secs(30);
    let choose = |call: &Call| {
        assert_eq!((call.opponent.as_deref(), &*call.match_id), (Some("P02"), "R1M1"));
        call.options[1].clone()
    };
    assert_eq!(played(usual, &words, choose).await, Some("paper".into()));
    let numbers = [Move::from(3), Move::from(4)];
    assert_eq!(played(usual, &numbers, |_: &Call| 4).await, Some(Move::from(4)));
    assert_eq!(played(usual, &[], |_: &Call| "anything").await, Some("anything".into()));
}

#[tokio::test]
async fn a_function_that_fails_or_is_slow_still_plays() {
    let words = ["even", "odd"].map(Move::from);
    let usual = Duration::from_secs(30);
    let is_legal = |chosen: Option<Move>| words.contains(&chosen.unwrap());
    assert!(is_legal(played(usual, &words, |_: &Call| "maybe").await));
    assert!(is_legal(played(usual, &words, |_: &Call| 1).await));
    fn fails(_: &Call) -> Move {
        panic!("no idea")
    }
    assert!(is_legal(played(usual, &words, fails).await));
    let (held, release) = std::sync::mpsc::sync_channel::<()>(0);
    let release = std::sync::Mutex::new(release);
    let waits = move |_: &Call| {
        let _gone = release.lock().unwrap().recv();
        "even"
    };
    assert!(is_legal(played(Duration::from_millis(50), &words, waits).await));
    drop(held);
    assert_eq!(played(usual, &[], fails).await, None, "there is nothing to fall back on");
}

fn read(line: &str) -> Result<Typed, String> {
    let variable = |name: &str| (name == "LEAGUE_JOIN_CODE").then(|| "abc".to_string());
    Typed::read(line.split_whitespace().map(Into::into), variable)
}

#[test]
fn what_is_typed_is_understood_or_refused() {
    let typed = read("--manager http://10.0.0.5:8000/mcp --pull --name=Ada --json").unwrap();
    assert_eq!((typed.options.pull, typed.json, typed.task), (true, true, Task::Play));
    assert_eq!(typed.options.name.as_deref(), Some("Ada"));
    assert_eq!(typed.options.join_code.as_deref(), Some("abc"), "from the environment");
    assert_eq!(typed.options.mcp(), "http://10.0.0.5:8000/mcp");
    assert_eq!(typed.options.kept_in("A/da").to_str(), Some(".league/A-da@10.0.0.5-8000"));
    assert_eq!(read("").unwrap().options.mcp(), "http://127.0.0.1:8000/mcp");
    assert_eq!(read("--check").unwrap().task, Task::Check);
    for wrong in ["--listen", "--listen here", "--fly", "Ada"] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn an_example_can_be_tried_by_hand() {
    let call = Call::example();
    assert!(call.options.contains(&call.any()));
    assert!(call.time_left() > Duration::from_secs(20));
}
