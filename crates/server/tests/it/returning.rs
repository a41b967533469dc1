//! Agents that come back with their own token, and what registered agents may ask.

use league_core::id::{AgentId, PlayerId};
use league_core::manager::{Command, Order, Reply as Told};
use league_core::proof::{Keys, Secret};
use serde_json::{Value, json};

use crate::rpc::Reply;
use crate::shape::{Shape, merge};
use crate::stage::{LEAGUE, Plan, SECRET, Stage, results};
use crate::stranger::{Identity, Stranger};

const REGISTER: (&str, &str) = ("register_player", "LEAGUE_REGISTER_REQUEST");

/// Registers again as `me`, who is to be called where `player` listens.
fn again(stage: &Stage, player: &Stranger, me: &Identity) -> Value {
    player.assume(me.clone());
    let fields = json!({"player_meta": player.meta(), "league_id": LEAGUE});
    player.shape.opened(&player.call(stage.address, REGISTER, fields).result()).unwrap()
}

// req: REG-6
#[test]
fn a_player_comes_back_with_its_token_and_nobody_else_does() {
    let mut stage = Stage::open(&Plan::players(2));
    stage.seat_referee();
    let old = Stranger::player(Shape::Flat);
    let me = old.register(&stage);
    let same = again(&stage, &old, &me);
    assert_eq!((&same["player_id"], &same["auth_token"]), (&json!(me.id), &json!(me.token)));

    let new = Stranger::player(Shape::Flat);
    let refused = again(&stage, &new, &me);
    assert_eq!(refused["status"], "REJECTED", "the old address still answers: {refused}");
    let liar = Identity { token: me.token.replace('0', "1"), ..me.clone() };
    let refused = again(&stage, &new, &liar);
    assert_eq!((&refused["status"], &refused["error_code"]), (&json!("REJECTED"), &json!("E012")));

    old.leave();
    let back = again(&stage, &new, &me);
    assert_eq!((&back["status"], &back["player_id"]), (&json!("ACCEPTED"), &json!(me.id)));
    new.assume(me);
    Stranger::player(Shape::Typed).register(&stage);
    let recorded = results(&stage.whole_league());
    assert_eq!(recorded.len(), 1);
    assert_eq!(new.all("GAME_INVITATION").len(), 1, "it is called where it is now");
}

/// Has the administrator replace the token of P01, and gives the new one.
fn rotated(stage: &Stage) -> Identity {
    let agent = AgentId::Player(PlayerId::new(1));
    let order = Command::Administer { order: Order::Rotate(agent), reason: "seen".into() };
    let told = stage.block_on(stage.stub.ask(order, None)).unwrap();
    let Told::TokenReplaced { nonce, .. } = told else { panic!("{told:?}") };
    let keys = Keys::derive(&Secret::new(SECRET));
    let form = stage.stub.published().league.policy().token_form();
    let token = keys.token(form, &LEAGUE.parse().unwrap(), agent, &nonce);
    Identity { id: "P01".into(), token: token.expose().into() }
}

// req: AUTH-3
#[test]
fn the_old_address_is_told_nothing_before_the_agent_shows_its_new_token() {
    let data = tempfile::tempdir().unwrap();
    let stage = Stage::open_in(data.path(), &Plan::on_command(3));
    let address = stage.address;
    let referee = Stranger::referee();
    referee.register(&stage);
    let players = [(); 3].map(|()| Stranger::player(Shape::Flat));
    players.iter().for_each(|player| drop(player.register(&stage)));
    let me = rotated(&stage);
    stage.block_on(stage.stub.ask(Command::Start, None)).unwrap();
    let others = || players[1..].iter();
    others().for_each(|player| drop(player.nth(1, "ROUND_ANNOUNCEMENT")));
    stage.close();
    let stage = Stage::reopen_in(data.path(), SECRET, address).unwrap();
    others().for_each(|player| drop(player.nth(2, "ROUND_ANNOUNCEMENT")));
    let back = again(&stage, &players[0], &me);
    assert_eq!(back["status"], "ACCEPTED", "{back}");
    // Its mail keeps its order: whatever was sent before has come when this has.
    let ban = |number| {
        let order = Order::Ban(AgentId::Player(PlayerId::new(number)));
        let order = Command::Administer { order, reason: "the end".into() };
        drop(stage.block_on(stage.stub.ask(order, None)).unwrap());
    };
    ban(2);
    ban(3);
    stage.whole_league();
    players[0].nth(1, "LEAGUE_COMPLETED");
    let told = players[0].all("ROUND_ANNOUNCEMENT");
    assert!(told.iter().all(|call| call.message["round_id"] != 1), "{told:?}");
}

// req: RESULT-7
#[test]
fn what_an_agent_asks_about_the_league_is_answered() {
    let mut stage = Stage::open(&Plan::players(2));
    stage.seat_referee();
    let players = [Stranger::player(Shape::Flat), Stranger::player(Shape::Enveloped)];
    players.iter().for_each(|player| drop(player.register(&stage)));
    stage.whole_league();
    let send = |player: &Stranger, query: &str, more: Value| -> Reply {
        let mut fields = json!({"league_id": LEAGUE, "query_type": query});
        merge(&mut fields, more);
        player.call(stage.address, ("league_query", "LEAGUE_QUERY"), fields)
    };
    for player in &players {
        let ask = |query, more| {
            let reply = player.shape.opened(&send(player, query, more).result()).unwrap();
            assert_eq!(reply["query_type"], query);
            reply["data"].clone()
        };
        let me = player.me().id;
        let standings = ask("GET_STANDINGS", json!({}));
        assert_eq!(
            (&standings["total"], &standings["standings"][0]["rank"]),
            (&json!(2), &json!(1))
        );
        assert_eq!(ask("GET_STANDINGS", json!({"round_id": 1})), standings);
        assert_eq!(
            ask("GET_STANDINGS", json!({"limit": 1}))["standings"].as_array().unwrap().len(),
            1
        );
        assert_eq!(ask("GET_SCHEDULE", json!({}))["matches"][0]["match_id"], "R1M1");
        assert_eq!(ask("GET_NEXT_MATCH", json!({}))["next_match"], Value::Null);
        assert_eq!(ask("GET_PLAYER_STATS", json!({}))["history"][0]["match_id"], "R1M1");
        assert_eq!(ask("GET_PLAYER_STATS", json!({}))["player_id"], me);
        assert_eq!(ask("GET_AGENT_STATE", json!({}))["state"], "SHUTDOWN");
        assert_ne!(ask("GET_MATCH", json!({"match_id": "R1M1"}))["status"], "SCHEDULED");
        assert_eq!(ask("GET_LEAGUE", json!({}))["status"], "COMPLETED");
        assert_eq!(ask("GET_REGISTRATIONS", json!({}))["total"], 3);
        assert_eq!(ask("GET_GAMES", json!({}))["games"][0], "even_odd");
    }
    let wrong = |query, more| send(&players[0], query, more).code();
    assert_eq!(wrong("GET_MATCH", json!({"match_id": "R9M9"})), "G003");
    assert_eq!(wrong("GET_PLAYER_STATS", json!({"agent_id": "P77"})), "E013");
    assert_eq!(wrong("GET_STANDINGS", json!({"round_id": 7})), "E003");
    players[0].assume(Identity { id: "P01".into(), token: "tok_guess".into() });
    assert_eq!(wrong("GET_LEAGUE", json!({})), "E012");
}
