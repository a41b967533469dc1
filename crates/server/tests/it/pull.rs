//! Players without an open port, who fetch their turns at the manager.

use std::io::Write;
use std::net::{SocketAddr, TcpStream};

use league_agent::strategy::House;
use league_core::id::RefereeId;
use league_core::manager::Fact;
use league_core::policy::RuleSet;
use league_core::proof::{Token, match_proof, reply_proof};
use league_core::seat::Seat;
use league_core::verdict::Verdict;
use serde_json::{Value, json};

use crate::puller::{Identity, Puller, application, get, send, until};
use crate::rpc::Reply;
use crate::shape::Shape;
use crate::stage::{LEAGUE, Plan, SECRET, Stage, results, url};
use crate::stranger::Stranger;

#[test]
fn players_with_and_without_a_port_meet_in_one_league() {
    let mut stage = Stage::open(&Plan::players(4));
    stage.seat_referee();
    let pullers = ["Ada", "Ben"].map(|name| Puller::seat(&stage, name));
    stage.seat_player(House::Odd);
    stage.seat_player(House::Random);
    let recorded = results(&stage.whole_league());
    assert_eq!(recorded.len(), 6);
    for result in &recorded {
        assert!(result.verdict.was_played(), "{result:?}");
    }
    for mut puller in pullers {
        puller.finish();
        let kinds = puller.kinds.lock().unwrap().clone();
        let count = |kind: &str| kinds.iter().filter(|given| *given == kind).count();
        assert_eq!((count("GAME_INVITATION"), count("CHOOSE_PARITY_CALL")), (3, 3), "{kinds:?}");
        assert_eq!(count("LEAGUE_COMPLETED"), 1);
    }
}

/// So short that silence can be waited for.
fn quick() -> Plan {
    let plan = Plan::players(2).under(RuleSet::V21).with("choice_backoff", "fixed 20ms");
    plan.with("invitation_timeout", "500ms").with("choice_timeout", "250ms")
}

/// Plays the only match of `puller`, who is P01, and gives the reason why it lost.
fn lost(stage: &Stage) -> String {
    let other = Stranger::player(Shape::Flat);
    other.register(stage);
    let events = stage.whole_league();
    let recorded = results(&events);
    assert_eq!(recorded[0].verdict, Verdict::TechnicalLoss(Seat::A), "{:?}", recorded[0]);
    let mut noted = events.iter().filter_map(|event| {
        let Fact::ConductNoted { conduct, .. } = &event.fact else { return None };
        Some(conduct[Seat::A])
    });
    let conduct = noted.next().expect("silence is noted");
    assert_eq!((conduct.timeouts, conduct.connection_errors), (1, 0), "it is silent, not away");
    recorded[0].reason.to_string()
}

#[test]
fn a_player_that_never_polls_is_silent() {
    let mut stage = Stage::open(&quick());
    stage.seat_referee();
    Identity::register(&stage, "Ada");
    let reason = lost(&stage);
    assert!(reason.contains("did not join: no answer in time"), "{reason}");
}

#[test]
fn a_player_that_stops_polling_has_joined_and_is_silent() {
    let mut stage = Stage::open(&quick());
    stage.seat_referee();
    let ada = Identity::register(&stage, "Ada");
    assert_eq!(ada.poll("wait=0").json()["turns"], json!([]));
    let reason = lost(&stage);
    assert!(reason.contains("did not choose: no answer in time"), "{reason}");
}

/// A foreign referee that was given the match of two pull players, and the order.
struct Scene {
    stage: Stage,
    ada: Identity,
    ben: Identity,
    order: Value,
}

impl Scene {
    fn set(plan: &Plan) -> Self {
        Self::on(Stage::open(plan))
    }

    fn on(stage: Stage) -> Self {
        let referee = Stranger::referee();
        referee.register(&stage);
        let (ada, ben) = (Identity::register(&stage, "Ada"), Identity::register(&stage, "Ben"));
        let order = referee.nth(1, "START_MATCH").message;
        Self { stage, ada, ben, order }
    }

    fn invitation(&self, token: Option<&str>) -> Value {
        call("handle_game_invitation", "GAME_INVITATION", token)
    }

    /// What proves to `to` that the referee officiates.
    fn proof(&self, to: &Identity) -> String {
        proof(to)
    }

    fn relay(&self, player: &str, body: &Value) -> Reply {
        relay(self.stage.address, player, body)
    }
}

/// A call of REF01 with `token` as its proof.
fn call(method: &str, kind: &str, token: Option<&str>) -> Value {
    json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": {
        "protocol": "league.v2", "message_type": kind, "sender": "referee:REF01",
        "timestamp": "2026-11-15T12:00:00Z", "conversation_id": "convr1m1abc",
        "auth_token": token, "league_id": LEAGUE, "round_id": 1, "match_id": "R1M1",
        "game_type": "even_odd", "role_in_match": "PLAYER_A", "opponent_id": "P02",
        "attempt": 1, "player_id": "P01", "context": {}, "deadline": "2026-11-15T12:00:30Z",
    }})
}

/// What proves to `to` that REF01 officiates in its first match.
fn proof(to: &Identity) -> String {
    let token: Token = to.token.parse().unwrap();
    let league = LEAGUE.parse().unwrap();
    match_proof(&token, &league, "R1M1".parse().unwrap(), 1, RefereeId::new(1)).expose()
}

fn relay(manager: SocketAddr, player: &str, body: &Value) -> Reply {
    send(manager, &format!("/relay/{player}/mcp"), None, &body.to_string())
}

#[test]
fn referees_are_told_an_address_and_never_know() {
    let Scene { stage, ada, order, .. } = Scene::set(&Plan::players(2));
    let told = &order["players"][0];
    assert_eq!(told["endpoint"], format!("http://{}/relay/{}/mcp", stage.address, ada.id));
    assert_eq!(told["relayed"], true);
    let agents = get(stage.address, &format!("/api/v1/leagues/{LEAGUE}/agents"), None).json();
    let entry = &agents["agents"][0];
    assert_eq!((&entry["pull"], &entry["last_poll"]), (&json!(true), &Value::Null), "{entry}");
    assert_eq!(entry.get("endpoint"), None, "addresses are not for everybody");
    ada.poll("wait=0");
    let agents = get(stage.address, &format!("/api/v1/leagues/{LEAGUE}/agents"), None).json();
    assert!(agents["agents"][0]["last_poll"].is_string());
}

#[test]
fn presence_accepts_what_is_proved_and_the_player_is_told() {
    let scene = Scene::set(&Plan::players(2));
    let cursor = scene.ada.poll("wait=0").json()["cursor"].clone();
    let joined = scene.relay("P01", &scene.invitation(Some(&scene.proof(&scene.ada)))).result();
    assert_eq!(
        (&joined["message_type"], &joined["accept"]),
        (&json!("GAME_JOIN_ACK"), &json!(true))
    );
    let token: Token = scene.ada.token.parse().unwrap();
    let proof = reply_proof(&token, &LEAGUE.parse().unwrap(), "R1M1".parse().unwrap(), 1);
    assert_eq!(joined["auth_token"], proof.expose());
    assert_eq!((&joined["sender"], &joined["player_id"]), (&json!("player:P01"), &json!("P01")));
    let after = cursor.as_u64().map(|cursor| format!("&after={cursor}")).unwrap_or_default();
    let given = scene.ada.poll(&format!("wait=5{after}")).json();
    let told: Vec<&Value> = given["turns"].as_array().unwrap().iter().collect();
    let told = told.iter().find(|turn| turn["from"] == "REF01").expect("it is told");
    assert_eq!(told["needs_answer"], false);
    assert_eq!(told["call"]["params"]["message_type"], "GAME_INVITATION");
}

#[test]
fn strangers_find_little_room_and_wait_for_the_player_itself() {
    let scene = Scene::set(&Plan::players(2));
    scene.ada.poll("wait=0");
    let (manager, theirs) = (scene.stage.address, scene.proof(&scene.ben));
    let waiting: Vec<_> = [None, Some(theirs.as_str())]
        .map(|proof| {
            let body = scene.invitation(proof);
            std::thread::spawn(move || relay(manager, "P01", &body))
        })
        .into_iter()
        .collect();
    let unproved = || {
        let given = scene.ada.poll("wait=1").json();
        let turns = given["turns"].as_array().unwrap().clone();
        turns.into_iter().filter(|turn| turn["from"] == "unproved").collect::<Vec<_>>()
    };
    let turns = until("both are given", || Some(unproved()).filter(|turns| turns.len() == 2));
    let full = scene.relay("P01", &scene.invitation(None));
    assert_eq!((full.status, full.code().as_str()), (503, "E033"));
    assert!(full.head.to_lowercase().contains("retry-after: "), "{}", full.head);
    let refused = json!({"jsonrpc": "2.0", "id": 7, "error": {"code": -32012, "message": "no"}});
    for turn in turns {
        assert_eq!(turn["needs_answer"], true, "nobody answers it for the player");
        assert_eq!(scene.ada.answer(&turn["turn"], &refused).json()["counted"], true);
    }
    for call in waiting {
        assert_eq!(call.join().unwrap().error()["code"], -32012);
    }
}

#[test]
fn what_is_no_call_to_a_pull_player_is_refused_at_the_door() {
    let scene = Scene::set(&Plan::players(2));
    assert_eq!(scene.relay("P09", &scene.invitation(None)).code(), "E013");
    let batch = json!([scene.invitation(None)]);
    assert_eq!(scene.relay("P01", &batch).error()["code"], -32600);
    assert_eq!(scene.relay("P01", &json!({"jsonrpc": "2.0"})).error()["code"], -32600);
    let garbage = send(scene.stage.address, "/relay/P01/mcp", None, "{");
    assert_eq!((garbage.status, garbage.error()["code"].as_i64()), (400, Some(-32700)));
    let unknown = call("choose_colour", "CHOOSE_COLOUR", None);
    assert_eq!(scene.relay("P01", &unknown).error()["code"], -32601);
    let mut deep = scene.invitation(None);
    let nested = "[".repeat(60) + &"]".repeat(60);
    deep["params"]["note"] = serde_json::from_str(&nested).unwrap();
    assert_eq!(scene.relay("P01", &deep).status, 400);
}

#[test]
fn only_its_own_token_opens_a_mailbox() {
    let scene = Scene::set(&Plan::players(2));
    let manager = scene.stage.address;
    let turn = scene.ada.poll("wait=5").json()["turns"][0].clone();
    let (path, body) = ("/api/v1/turns", r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    let own = format!("{path}/{}", turn["turn"]);
    let wrong = scene.ada.token.replace(['0', '1', '2', '3'], "9");
    for (token, status) in [(None, 401), (Some(&*wrong), 403), (Some("x"), 403)] {
        assert_eq!(get(manager, path, token).status, status);
        assert_eq!(send(manager, &own, token, body).status, status);
    }
    assert_eq!(get(manager, "/api/v1/turns?token=x", Some(&scene.ada.token)).status, 400);
    let theirs = send(manager, &own, Some(&scene.ben.token), body);
    assert_ne!(theirs.json()["counted"], true, "somebody else's turn");
    let again = scene.ada.poll("wait=5").json();
    assert_eq!(again["turns"][0]["turn"], turn["turn"], "fetched and not answered");
    let answer = scene.ada.usual(&turn["call"]);
    assert_eq!(scene.ada.answer(&turn["turn"], &answer).json()["counted"], true);
    let twice = scene.ada.answer(&turn["turn"], &answer);
    assert_eq!((twice.status, &twice.json()["counted"]), (200, &json!(false)));
    assert_eq!(scene.ada.answer(&json!(9_007_199_254_740_991_u64), &answer).status, 404);
    let long = json!({"jsonrpc": "2.0", "id": 1, "result": "x".repeat(65 * 1024)});
    assert_eq!(scene.ada.answer(&turn["turn"], &long).status, 413);
}

#[test]
fn whoever_hangs_up_is_not_waited_for() {
    let scene = Scene::set(&Plan::players(2));
    let (manager, body) = (scene.stage.address, scene.invitation(None).to_string());
    let head = "POST /relay/P01/mcp HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\n";
    let mut caller = TcpStream::connect(manager).unwrap();
    write!(caller, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    let unproved = || {
        let given = scene.ada.poll("wait=1").json();
        given["turns"].as_array().unwrap().iter().filter(|turn| turn["from"] == "unproved").count()
    };
    until("it is given", || (unproved() == 1).then_some(()));
    drop(caller);
    until("it is gone", || (unproved() == 0).then_some(()));
}

#[test]
fn a_look_at_the_head_takes_nothing() {
    let scene = Scene::set(&Plan::players(2));
    let shown = format!("Authorization: Bearer {}\r\nConnection: close\r\n", scene.ada.token);
    let head = format!("HEAD /api/v1/turns HTTP/1.1\r\nHost: here\r\n{shown}\r\n");
    assert_eq!(crate::rpc::exchange(scene.stage.address, &head).status, 200);
    let agents = format!("/api/v1/leagues/{LEAGUE}/agents");
    let agents = get(scene.stage.address, &agents, None).json();
    assert_eq!(agents["agents"][0]["last_poll"], Value::Null, "that was no poll");
}

/// A referee's report that `loser` has failed to play attempt `attempt` of R1M1.
fn failed(attempt: u32) -> Value {
    json!({
        "league_id": LEAGUE, "match_id": "R1M1", "round_id": 1, "attempt": attempt,
        "result": {
            "winner": "P02", "score": {"P01": 0, "P02": 3}, "status": "TECHNICAL_LOSS",
            "technical_losers": ["P01"], "reason": "nobody answers",
            "details": {"drawn_number": null, "choices": {}},
        },
    })
}

#[test]
fn nobody_is_charged_for_a_manager_that_was_restarted() {
    const REPORT: (&str, &str) = ("report_match_result", "MATCH_RESULT_REPORT");
    let data = tempfile::tempdir().unwrap();
    let stage = Stage::open_in(data.path(), &Plan::players(2));
    let address = stage.address;
    let referee = Stranger::referee();
    referee.expect_later_attempts();
    referee.register(&stage);
    let _pulling = ["Ada", "Ben"].map(|name| Identity::register(&stage, name));
    referee.nth(1, "START_MATCH");
    stage.close();

    let stage = Stage::reopen_in(data.path(), SECRET, address).unwrap();
    referee.nth(2, "START_MATCH");
    let refused = referee.call(address, REPORT, failed(1));
    assert_eq!(refused.code(), "E031", "{}", refused.body);
    assert!(refused.body.contains("was restarted"), "{}", refused.body);
    let again = referee.nth(3, "START_MATCH").message;
    assert_eq!((&again["match_id"], &again["attempt"]), (&json!("R1M1"), &json!(2)));
    referee.call(address, REPORT, failed(2)).result();
    let recorded = results(&stage.whole_league());
    assert_eq!(recorded[0].verdict, Verdict::TechnicalLoss(Seat::A), "that one counts");
}

/// Calls of its own referee that nobody answers fill a mailbox.
#[test]
fn nobody_is_charged_for_a_mailbox_without_room() {
    let mut stage = Stage::open(&quick());
    stage.seat_referee();
    let ada = Identity::register(&stage, "Ada");
    let (manager, shown) = (stage.address, proof(&ada));
    let waiting: Vec<_> = (0..16)
        .map(|_| {
            let body = call("choose_parity", "CHOOSE_PARITY_CALL", Some(&shown));
            std::thread::spawn(move || relay(manager, "P01", &body))
        })
        .collect();
    let turns = until("it is full", || {
        let given = ada.poll("wait=1").json();
        given["turns"].as_array().filter(|turns| turns.len() == 16).cloned()
    });
    let other = Stranger::player(Shape::Flat);
    other.expect_later_attempts();
    other.register(&stage);
    let events = stage.events_until(|fact| matches!(fact, Fact::MatchReassigned { .. }));
    let told = format!("{:?}", events.last().unwrap());
    assert!(told.contains("which takes the player's calls"), "{told}");
    for turn in turns {
        assert_eq!(ada.answer(&turn["turn"], &ada.usual(&turn["call"])).json()["counted"], true);
    }
    waiting.into_iter().for_each(|call| drop(call.join().unwrap()));
    let mut playing = Puller::play(ada);
    let recorded = results(&stage.whole_league());
    assert!(recorded[0].verdict.was_played(), "{:?}", recorded[0]);
    playing.finish();
}

#[test]
fn the_latest_poll_counts() {
    let stage = Stage::open(&Plan::on_command(2));
    let ada = Identity::register(&stage, "Ada");
    let first = {
        let ada = ada.clone();
        std::thread::spawn(move || ada.poll("wait=9"))
    };
    let polled = || {
        let agents = get(stage.address, &format!("/api/v1/leagues/{LEAGUE}/agents"), None).json();
        agents["agents"][0]["last_poll"].is_string()
    };
    until("the first poll waits", || polled().then_some(()));
    assert_eq!(ada.poll("wait=0").status, 200);
    assert_eq!(first.join().unwrap().status, 409);
}

#[test]
fn a_pull_player_registers_like_everybody_and_names_no_address() {
    let stage = Stage::open(&Plan::on_command(4));
    let mut both = application("Ada");
    both["params"]["player_meta"]["contact_endpoint"] = json!(url(stage.address));
    assert_eq!(stage.send(&both).result()["error_code"], "E003");
    let accepted = stage.send(&application("Ada")).result();
    assert_eq!(accepted["status"], "ACCEPTED", "{accepted}");
    assert_eq!(stage.send(&application("Ada")).result()["player_id"], "P01", "the same again");
    let mut copy = application("Ada");
    copy["params"]["conversation_id"] = json!("another-conversation");
    assert_eq!(stage.send(&copy).result()["error_code"], "L003");
    copy["params"]["sender"] = json!("player:P01");
    copy["params"]["auth_token"] = accepted["auth_token"].clone();
    assert_eq!(stage.send(&copy).result()["player_id"], "P01", "with its own token");
    assert_eq!(stage.send(&application("Ben")).result()["player_id"], "P02", "the same host");
    let mut referee = application("Ref");
    let params = &mut referee["params"];
    params["message_type"] = json!("REFEREE_REGISTER_REQUEST");
    params["sender"] = json!("referee:new");
    params["referee_meta"] = params["player_meta"].clone();
    referee["method"] = json!("register_referee");
    assert_eq!(stage.send(&referee).result()["error_code"], "E003");
}

// req: OBS-3
#[test]
fn a_league_of_pull_players_goes_on_where_its_manager_stopped() {
    let data = tempfile::tempdir().unwrap();
    let scene = Scene::on(Stage::open_in(data.path(), &Plan::players(2)));
    let address = scene.stage.address;
    let before = told(&scene.ada, "wait=1");
    let cursor = before["cursor"].as_u64().unwrap();
    let Scene { stage, ada, ben, order } = scene;
    stage.close();

    let stage = Stage::reopen_in(data.path(), SECRET, address).unwrap();
    let after = told(&ada, &format!("wait=1&after={cursor}"));
    let turn = &after["turns"][0];
    assert!(
        turn["turn"].as_u64().unwrap() > cursor,
        "what is told again is told under new numbers"
    );
    assert_eq!(turn["call"]["params"]["message_type"], "ROUND_ANNOUNCEMENT");
    let late = ada.answer(&before["turns"][0]["turn"], &ada.usual(&turn["call"])).json();
    assert_eq!(late["counted"], false, "an answer to the manager that is gone");
    let scene = Scene { stage, ada, ben, order };
    let joined = scene.relay("P01", &scene.invitation(Some(&scene.proof(&scene.ada)))).result();
    assert_eq!(joined["accept"], true);
    assert_eq!(scene.order["match_id"], "R1M1");
}

/// The first poll of `player` that brings something. A manager that has only just started says so.
fn told(player: &Identity, terms: &str) -> Value {
    until("something is told", || {
        let reply = player.poll(terms);
        assert!(matches!(reply.status, 200 | 503), "{}", reply.body);
        let polled = (reply.status == 200).then(|| reply.json())?;
        (polled["turns"] != json!([])).then_some(polled)
    })
}

/// Polls without `after`, as a first program does, and answers what needs an answer.
#[test]
fn whoever_names_no_turn_is_told_once_and_can_ask_again() {
    let scene = Scene::set(&Plan::players(2));
    told(&scene.ada, "wait=1");
    scene.relay("P01", &scene.invitation(Some(&scene.proof(&scene.ada)))).result();
    let from_referee = |terms: &str| {
        let polled = scene.ada.poll(terms).json();
        let turns = polled["turns"].as_array().unwrap().clone();
        for turn in turns.iter().filter(|turn| turn["needs_answer"] == true) {
            scene.ada.answer(&turn["turn"], &scene.ada.usual(&turn["call"]));
        }
        turns.into_iter().filter(|turn| turn["from"] == "REF01").collect::<Vec<_>>()
    };
    assert_eq!(from_referee("wait=5").len(), 1, "the invitation");
    assert_eq!(from_referee("wait=0"), Vec::<Value>::new(), "it needs no answer");
    assert_eq!(from_referee("wait=0&after=0").len(), 1, "an answer that was lost on its way");
    assert_eq!(scene.ada.answer(&json!(1), &json!({})).status, 404);
}
