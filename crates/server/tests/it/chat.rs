//! A player that has no program: it joins, waits for its turn and moves by conversation.

use std::net::SocketAddr;
use std::time::Duration;

use league_agent::strategy::House;
use league_core::manager::ChoiceEvidence;
use league_core::seat::Seat;
use league_server::manager::relay::{Joined, Moment, NoMove, NotOpened, Wish};

use crate::puller::until;
use crate::stage::{LEAGUE, Plan, Stage, results};

const HERE: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 9);
const WAIT: Duration = Duration::from_secs(5);

fn join(stage: &Stage, name: &str) -> Joined {
    let wish = Wish { name: name.into(), ..Wish::default() };
    stage.block_on(stage.manager.join_by_chat(wish, HERE)).expect("it is let in")
}

fn turn(stage: &Stage, me: &Joined) -> Moment {
    stage.block_on(stage.manager.turn_by_chat(me.token.reveal(), WAIT, HERE)).expect("a mailbox")
}

/// Plays to the end with what it is offered first, and gives everything it was told.
fn play(stage: &Stage, me: &Joined) -> Vec<String> {
    let mut told = vec![];
    loop {
        let moment = turn(stage, me);
        told.extend(moment.news);
        match moment.ask {
            Some(ask) => {
                let choice = (Some(ask.match_id), ask.options[0].as_str());
                let moved = stage.manager.move_by_chat(me.token.reveal(), choice, HERE);
                assert_eq!(moved.expect("it counts").match_id, ask.match_id);
                told.push(ask.told);
            }
            None if moment.is_over => return told,
            None => {}
        }
    }
}

#[test]
fn a_league_is_played_by_conversation() {
    for game in ["even_odd", "even_odd_numbers"] {
        let mut stage = Stage::open(&Plan::players(3).playing(game));
        stage.seat_referee();
        let me = join(&stage, "Ada");
        assert_eq!((me.league.as_str(), me.game.as_str()), (LEAGUE, game));
        stage.seat_player(House::Odd);
        stage.seat_player(House::Even);
        let told = play(&stage, &me);
        let recorded = results(&stage.whole_league());
        assert_eq!(recorded.len(), 3);
        for result in recorded {
            assert!(result.verdict.was_played(), "{result:?}");
            for seat in Seat::BOTH {
                assert_eq!(result.choices[seat], ChoiceEvidence::Proved, "{result:?}");
            }
        }
        let count = |text: &str| told.iter().filter(|line| line.contains(text)).count();
        assert_eq!((count("It is your turn in match"), count("is over: ")), (2, 2), "{told:#?}");
        assert_eq!(count("The league is over."), 1, "{told:#?}");
    }
}

#[test]
fn a_move_that_cannot_be_made_is_explained_and_may_be_made_again() {
    let mut stage = Stage::open(&Plan::players(2));
    stage.seat_referee();
    let me = join(&stage, "Ada");
    let token = me.token.reveal();
    let manager = stage.manager.clone();
    let moved = |choice: &str| manager.move_by_chat(token, (None, choice), HERE);
    assert_eq!(moved("even"), Err(NoMove::NotAsked));
    let nobody = stage.manager.move_by_chat("tok_other", (None, "even"), HERE);
    assert_eq!(nobody, Err(NoMove::NotOpened(NotOpened::Unknown)));
    let again = Wish { name: "Ada".into(), ..Wish::default() };
    let again = stage.block_on(stage.manager.join_by_chat(again, HERE)).expect_err("it is in");
    assert_eq!(again.code.to_string(), "L003");
    stage.seat_player(House::Odd);
    let ask = until("its turn comes", || turn(&stage, &me).ask);
    assert_eq!(ask.options, ["even", "odd"]);
    let illegal = moved("seven").expect_err("no such choice");
    assert!(illegal.to_string().contains("choose one of: even, odd"), "{illegal}");
    assert_eq!(turn(&stage, &me).ask.expect("still its turn").match_id, ask.match_id);
    assert_eq!(moved(" ODD ").expect("it counts").choice, "odd");
    assert_eq!(moved("odd"), Err(NoMove::NotAsked));
    assert!(results(&stage.whole_league())[0].verdict.was_played());
}
