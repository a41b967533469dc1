//! Those who ask too often are sent away for a while, and nobody else notices.

use std::time::Duration;

use league_agent::ambient::{self, Mark};
use league_agent::caller::Caller;
use league_agent::exchange::{Exchange, new_conversation};
use league_agent::rate::Rate;
use league_server::manager::Rates;
use league_wire::message::LeagueQuery;
use league_wire::{AuthToken, Dialect, Envelope, Letter, Message, MessageType, QueryType, Sender};
use serde_json::{Value, json};

use crate::rpc::{self, PATIENCE, Reply};
use crate::shape::{Shape, Stamp};
use crate::stage::{LEAGUE, Plan, Stage, url};
use crate::stranger::{Identity, Stranger};

/// So few that a test can use them up.
fn few() -> Rates {
    Rates {
        agent: Rate::per(20, Duration::from_secs(20)),
        stranger: Rate::per(5, Duration::from_secs(60)),
        registrations: Rate::per(3, Duration::from_secs(60)),
    }
}

fn query(me: &Identity) -> Value {
    let stamp = Stamp::new(&format!("player:{}", me.id), "conv-flood", &me.token);
    let fields = json!({"league_id": LEAGUE, "query_type": "GET_LEAGUE"});
    Shape::Flat.request(("league_query", "LEAGUE_QUERY"), &stamp, fields)
}

/// The seconds after which somebody who is sent away may come back.
fn wait_of(reply: &Reply) -> u64 {
    assert_eq!(reply.status, 429, "{}", reply.body);
    let head = reply.head.to_ascii_lowercase();
    let wait = head.lines().find_map(|line| line.strip_prefix("retry-after: "));
    let wait: u64 = wait.expect("it says when to come back").trim().parse().unwrap();
    assert!(wait >= 1);
    wait
}

fn flood(stage: &Stage, request: &Value, most: usize) -> Reply {
    let mut replies = (0..most).map(|_| stage.send(request));
    replies.find(|reply| reply.status != 200).expect("nobody may ask without end")
}

/// A stage with two players on it.
fn scene() -> (Stage, [Stranger; 2], [Identity; 2]) {
    let stage = Stage::open_at(&Plan::on_command(9), few());
    let players = [Stranger::player(Shape::Flat), Stranger::player(Shape::Flat)];
    let known = [players[0].register(&stage), players[1].register(&stage)];
    (stage, players, known)
}

#[test]
fn an_agent_that_floods_is_sent_away_and_others_are_served() {
    let (stage, _players, [loud, quiet]) = scene();
    wait_of(&flood(&stage, &query(&loud), 60));
    assert_eq!(stage.send(&query(&quiet)).result()["query_type"], "GET_LEAGUE");
    let batch = Value::Array(vec![query(&quiet); 15]);
    assert_eq!(stage.send(&batch).json().as_array().unwrap().len(), 15);
    let wait = wait_of(&stage.send(&batch));
    assert!(wait > 5, "all of a batch count, and it waits for as many: {wait}");
}

#[test]
fn who_shows_no_valid_token_is_counted_by_its_address() {
    let (stage, _players, [one, other]) = scene();
    let liar = Identity { token: other.token, ..one.clone() };
    assert_eq!(stage.send(&query(&liar)).code(), "E012");
    wait_of(&flood(&stage, &json!({"jsonrpc": "2.0", "method": "x", "id": 1}), 6));
    wait_of(&stage.send(&query(&liar)));
    assert_eq!(stage.send(&query(&one)).status, 200, "it can prove who it is");
    let third = Stranger::player(Shape::Flat);
    third.register(&stage);
    let fourth = Stranger::player(Shape::Flat);
    wait_of(&stage.send(&fourth.application(&fourth.meta())));
    assert_eq!(rpc::page(stage.address, "GET", "/health").status, 200);
}

#[test]
fn our_own_client_comes_back_by_itself() {
    let (stage, _players, [loud, _]) = scene();
    wait_of(&flood(&stage, &query(&loud), 60));
    let exchange = Exchange::new(Caller::new("player/it", PATIENCE));
    let envelope = Envelope {
        sender: Sender::Player(loud.id.as_str().into()),
        timestamp: ambient::now(),
        conversation: new_conversation("it"),
        token: Some(AuthToken::new(&loud.token)),
        league_id: Some(LEAGUE.parse().unwrap()),
    };
    let question = LeagueQuery {
        query_type: QueryType::League,
        round_id: None,
        match_id: None,
        agent_id: None,
        offset: None,
        limit: None,
    };
    let letter = Letter { envelope, message: Message::LeagueQuery(question) };
    let expected = [MessageType::LeagueQueryResponse];
    let (began, to) = (Mark::set(), url(stage.address));
    let asked = exchange.ask(&to, Dialect::Flat, &letter, &expected, PATIENCE);
    let reply = stage.block_on(asked).expect("it is served in the end");
    assert_eq!(reply.message.kind(), MessageType::LeagueQueryResponse);
    assert!(began.elapsed() >= Duration::from_millis(900), "it waited as it was told");
}
