//! Our own referee under a manager by somebody else, who repeats itself, errs and changes its mind.

use std::io::BufReader;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use league_agent::caller::Caller;
use league_agent::exchange::Exchange;
use league_agent::register::Application;
use league_core::id::MatchId;
use league_core::proof::{Token, match_proof, reply_proof};
use league_server::referee::Referee;
use league_wire::Dialect;
use league_wire::message::Meta;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::rpc::{self, PATIENCE, Reply};
use crate::shape::{Shape, Stamp};
use crate::stage::{LEAGUE, url};
use crate::stranger::{Call, Identity, Say, Stranger, proof_of};

const TOKEN: &str = "tok_referee_REF01_by_somebody_else";

/// What the manager does when it hears a message, and what it answers beyond the usual.
type Habit = dyn Fn(&Value) -> Value + Send + Sync;

/// A manager by somebody else.
struct Office {
    address: SocketAddr,
    heard: Arc<Mutex<Vec<Value>>>,
}

impl Office {
    fn open(habit: Arc<Habit>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let heard: Arc<Mutex<Vec<Value>>> = Arc::default();
        let shared = heard.clone();
        std::thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                let (heard, habit) = (shared.clone(), habit.clone());
                std::thread::spawn(move || serve(stream, &heard, &*habit));
            }
        });
        Self { address, heard }
    }

    /// The messages of `kind` that have arrived so far.
    fn all(&self, kind: &str) -> Vec<Value> {
        let heard = self.heard.lock().unwrap();
        heard.iter().filter(|message| message["message_type"] == kind).cloned().collect()
    }
}

fn serve(mut stream: TcpStream, heard: &Mutex<Vec<Value>>, habit: &Habit) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    while let Some((_, body)) = rpc::receive(&mut reader) {
        let request: Value = serde_json::from_str(&body).unwrap();
        let message = &request["params"];
        heard.lock().unwrap().push(message.clone());
        let (kind, mut fields) = match message["message_type"].as_str().unwrap() {
            "REFEREE_REGISTER_REQUEST" => (
                "REFEREE_REGISTER_RESPONSE",
                json!({"status": "ACCEPTED", "referee_id": "REF01", "auth_token": TOKEN}),
            ),
            "MATCH_PROGRESS" => ("MATCH_PROGRESS_ACK", json!({"status": "ACCEPTED"})),
            "MATCH_RESULT_REPORT" => {
                ("MATCH_RESULT_ACK", json!({"status": "RECORDED", "standings_updated": true}))
            }
            other => panic!("a manager does not take {other}"),
        };
        for name in ["match_id", "attempt"] {
            fields[name] = message[name].clone();
        }
        fields["league_id"] = json!(LEAGUE);
        crate::shape::merge(&mut fields, habit(message));
        let result = Shape::Flat.result(kind, &Stamp::new("league_manager", "conv-1", ""), fields);
        let response = json!({"jsonrpc": "2.0", "result": result, "id": request["id"]});
        if rpc::answer(&mut stream, &response.to_string()).is_err() {
            return;
        }
    }
}

/// Our referee between that manager and two players.
struct Scene {
    office: Office,
    players: [Stranger; 2],
    referee: SocketAddr,
    rules: Value,
    quit: watch::Sender<bool>,
    running: Option<JoinHandle<()>>,
    runtime: Runtime,
}

/// Everybody takes the places; `habit` is the manager's, `script` the first player's.
fn scene(
    quit: watch::Sender<bool>,
    habit: impl Fn(&Value) -> Value + Send + Sync + 'static,
    script: impl Fn(&Call) -> Say + Send + Sync + 'static,
) -> Scene {
    scene_on(2, quit, habit, script)
}

/// The same with that many threads for the referee.
fn scene_on(
    threads: usize,
    quit: watch::Sender<bool>,
    habit: impl Fn(&Value) -> Value + Send + Sync + 'static,
    script: impl Fn(&Call) -> Say + Send + Sync + 'static,
) -> Scene {
    let office = Office::open(Arc::new(habit));
    let players = [Stranger::player_that(Shape::Flat, script), Stranger::player(Shape::Flat)];
    for (player, id) in players.iter().zip(["P01", "P02"]) {
        player.assume(Identity { id: id.into(), token: format!("tok_player_{id}") });
    }
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.worker_threads(threads).enable_all().build().unwrap();
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let referee = listener.local_addr().unwrap();
    let application = Application {
        manager: url(office.address),
        league: Some(LEAGUE.parse().unwrap()),
        dialect: Dialect::Flat,
        meta: Meta {
            display_name: "House Referee".into(),
            version: "1.0.0".into(),
            protocol_version: None,
            game_types: vec!["even_odd".parse().unwrap()],
            contact_endpoint: Some(url(referee)),
            contact_email: None,
            max_concurrent_matches: Some(8),
            dialect: None,
            batch: true,
            pull: false,
            join: None,
        },
        timeout: PATIENCE,
        troubles: None,
        keep: None,
    };
    let exchange = Exchange::new(Caller::new("referee/it", PATIENCE));
    let ours = Referee::new(&url(office.address), exchange);
    let stop = quit.subscribe();
    let run = async move { ours.run(listener, application, stop).await.expect("let in") };
    let running = Some(runtime.spawn(run));
    let rules = json!({"rule_set": "v2.1"});
    Scene { office, players, referee, rules, quit, running, runtime }
}

impl Scene {
    fn order(&self, match_id: &str, attempt: u32) -> Value {
        let (league, id) = (LEAGUE.parse().unwrap(), match_id.parse::<MatchId>().unwrap());
        let players = self.players.iter().zip(["PLAYER_A", "PLAYER_B"]).map(|(player, role)| {
            let me = player.me();
            let token: Token = me.token.parse().unwrap();
            let referee = "REF01".parse().unwrap();
            json!({
                "role_in_match": role,
                "player_id": me.id,
                "endpoint": url(player.address),
                "dialect": format!("{:?}", player.shape).to_lowercase(),
                "match_proof": match_proof(&token, &league, id, attempt, referee).expose(),
                "reply_proof": reply_proof(&token, &league, id, attempt).expose(),
            })
        });
        json!({
            "league_id": LEAGUE, "match_id": match_id, "round_id": 1, "attempt": attempt,
            "rematch": 0, "game_type": "even_odd", "rules": self.rules,
            "players": players.collect::<Vec<_>>(),
        })
    }

    fn send(&self, order: Value) -> Reply {
        let stamp = Stamp::new("league_manager", "conv-1", TOKEN);
        let request = Shape::Flat.request(("start_match", "START_MATCH"), &stamp, order);
        rpc::send(self.referee, &request)
    }

    /// Answers `asked` by a call of its own.
    fn choose(&self, asked: &Call) -> Reply {
        let sender = format!("player:{}", asked.me.id);
        let proof = proof_of(&asked.me, asked.match_id());
        let stamp = Stamp::new(&sender, asked.text("conversation_id"), &proof);
        let fields = json!({
            "league_id": LEAGUE, "match_id": asked.message["match_id"], "parity_choice": "even",
        });
        let names = ("choose_parity_response", "CHOOSE_PARITY_RESPONSE");
        rpc::send(self.referee, &Shape::Flat.request(names, &stamp, fields))
    }

    /// Waits until the referee has left the match that `asked` belongs to.
    #[expect(clippy::disallowed_methods, reason = "the patience of a test is real time")]
    fn wait_until_left(&self, asked: &Call) {
        let end = std::time::Instant::now() + PATIENCE;
        while self.choose(asked).json()["error"]["data"]["error_code"] != "G003" {
            assert!(std::time::Instant::now() < end, "the referee does not leave the match");
        }
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        self.quit.send_replace(true);
        let Some(running) = self.running.take() else { return };
        let left = async { tokio::time::timeout(PATIENCE, running).await };
        let left = self.runtime.block_on(left);
        if !std::thread::panicking() {
            left.expect("it leaves when told to").expect("nobody panics");
        }
    }
}

impl Office {
    /// Waits for the first message that satisfies `is_it`.
    #[expect(clippy::disallowed_methods, reason = "the patience of a test is real time")]
    fn wait_for(&self, is_it: impl Fn(&Value) -> bool) -> Value {
        let end = std::time::Instant::now() + PATIENCE;
        loop {
            let found = self.heard.lock().unwrap().iter().find(|message| is_it(message)).cloned();
            if let Some(found) = found {
                return found;
            }
            assert!(std::time::Instant::now() < end, "the manager does not hear it");
            std::thread::yield_now();
        }
    }
}

fn nothing(_: &Value) -> Value {
    json!({})
}

#[test]
fn a_finished_attempt_is_not_played_again() {
    let scene = scene(watch::Sender::new(false), nothing, |call| match call.kind {
        "CHOOSE_PARITY_CALL" => {
            let fields = json!({
                "match_id": call.message["match_id"], "parity_choice": "odd",
                "choice_proof": "not shaped like a proof",
            });
            Say::Message("CHOOSE_PARITY_RESPONSE", fields)
        }
        _ => Say::Usual,
    });
    assert_eq!(scene.send(scene.order("R1M1", 1)).result()["status"], "ACCEPTED");
    let asked = scene.players[0].nth(1, "CHOOSE_PARITY_CALL");
    scene.players[0].nth(1, "GAME_OVER");
    scene.wait_until_left(&asked);
    assert_eq!(scene.send(scene.order("R1M1", 1)).result()["status"], "ACCEPTED");
    assert_eq!(scene.send(scene.order("R1M2", 1)).result()["status"], "ACCEPTED");
    scene.players[0].nth(2, "GAME_OVER");
    for (match_id, player) in [("R1M1", 0), ("R1M1", 1), ("R1M2", 0)] {
        let calls = scene.players[player].of_match(match_id.parse().unwrap());
        let invited = calls.iter().filter(|call| call.kind == "GAME_INVITATION").count();
        assert_eq!(invited, 1, "{match_id} {player}");
    }
    let reports = scene.office.all("MATCH_RESULT_REPORT");
    assert_eq!(reports.len(), 2);
    // What was said stays in the transcript; as evidence it goes no further.
    let evidence = &reports[0]["players"];
    assert!(evidence.is_object() && !evidence.to_string().contains("not shaped"), "{evidence}");
}

#[test]
fn a_match_that_was_given_away_is_left_alone() {
    let rejected = |message: &Value| match message["message_type"].as_str() {
        Some("MATCH_PROGRESS") => json!({"status": "REJECTED"}),
        _ => json!({}),
    };
    let mut scene = scene(watch::Sender::new(false), rejected, |call| match call.kind {
        "CHOOSE_PARITY_CALL" => Say::Nothing,
        _ => Say::Usual,
    });
    scene.rules["lease_renewal"] = json!("300ms");
    assert_eq!(scene.send(scene.order("R1M1", 1)).result()["status"], "ACCEPTED");
    scene.players[0].nth(1, "CHOOSE_PARITY_CALL");
    let asked = scene.players[1].nth(1, "CHOOSE_PARITY_CALL");
    scene.wait_until_left(&asked);
    assert_eq!(scene.office.all("MATCH_PROGRESS").len(), 1);
    assert!(scene.office.all("MATCH_RESULT_REPORT").is_empty());
    for player in &scene.players {
        assert_eq!(player.of_match(asked.match_id()).len(), 2, "invited and asked, then nothing");
    }
}

#[test]
fn an_order_that_cannot_be_carried_out_does_not_end_the_attempt_before() {
    let scene = scene(watch::Sender::new(false), nothing, |call| match call.kind {
        "CHOOSE_PARITY_CALL" => Say::Nothing,
        _ => Say::Usual,
    });
    assert_eq!(scene.send(scene.order("R1M1", 1)).result()["status"], "ACCEPTED");
    let asked = scene.players[0].nth(1, "CHOOSE_PARITY_CALL");
    for (field, value, code) in [
        ("game_type", json!("tic_tac_toe_in_ten_dimensions"), "G003"),
        ("rules", json!({"rule_set": "v9"}), "E003"),
        ("rules", json!({"rule_set": "v2.1", "choice_attempts": "many"}), "E003"),
        ("draw_seed", json!("not a seed"), "E003"),
    ] {
        let mut order = scene.order("R1M1", 2);
        order[field] = value;
        assert_eq!(scene.send(order).code(), code, "{field}");
    }
    scene.choose(&asked).result();
    assert_eq!(scene.players[0].nth(1, "GAME_OVER").message["attempt"], 1);
    assert_eq!(scene.office.all("MATCH_RESULT_REPORT")[0]["attempt"], 1);
}

#[test]
fn a_referee_that_stops_still_tells_what_is_decided() {
    let quit = watch::Sender::new(false);
    let (stop, at) = (quit.clone(), Arc::new(Mutex::new(None::<SocketAddr>)));
    let referee = at.clone();
    let stopping = move |message: &Value| {
        if message["message_type"] == "MATCH_RESULT_REPORT" {
            stop.send_replace(true);
            let address = at.lock().unwrap().expect("it is known by now");
            while TcpStream::connect(address).is_ok() {}
        }
        json!({})
    };
    let mut scene = scene(quit, stopping, |_| Say::Usual);
    *referee.lock().unwrap() = Some(scene.referee);
    assert_eq!(scene.send(scene.order("R1M1", 1)).result()["status"], "ACCEPTED");
    let running = scene.running.take().unwrap();
    let left = async { tokio::time::timeout(PATIENCE, running).await };
    scene.runtime.block_on(left).expect("it leaves").expect("nobody panics");
    for player in &scene.players {
        assert_eq!(player.all("GAME_OVER").len(), 1, "told before it left");
    }
}

/// One match in which the first player does not choose; `meanwhile` happens in its only window.
/// What the manager is told at the end: a result, or that the match was called off.
fn unanswered(meanwhile: impl FnOnce(&Scene)) -> (Scene, Value) {
    let mut scene = scene_on(1, watch::Sender::new(false), nothing, |call| match call.kind {
        "CHOOSE_PARITY_CALL" => Say::Nothing,
        _ => Say::Usual,
    });
    scene.rules["choice_attempts"] = json!("1");
    scene.rules["choice_timeout"] = json!("1s");
    assert_eq!(scene.send(scene.order("R1M1", 1)).result()["status"], "ACCEPTED");
    scene.players[0].nth(1, "CHOOSE_PARITY_CALL");
    meanwhile(&scene);
    let end = scene.office.wait_for(|message| {
        message["message_type"] == "MATCH_RESULT_REPORT" || message["game_state"] == "ABORTED"
    });
    (scene, end)
}

#[test]
fn a_player_that_is_silent_while_we_are_at_work_loses() {
    let (_scene, end) = unanswered(|_| ());
    assert_eq!(end["message_type"], "MATCH_RESULT_REPORT");
    assert_eq!(end["result"]["technical_losers"], json!(["P01"]), "{end}");
}

#[test]
fn nobody_is_charged_for_silence_while_we_were_held_up() {
    let (scene, end) = unanswered(|scene| {
        let (done, held_up) = std::sync::mpsc::sync_channel::<()>(1);
        // The referee's only thread stands still for longer than the window and half a second.
        let stalled = scene.runtime.spawn(async move {
            let _over = held_up.recv_timeout(std::time::Duration::from_millis(2_500));
        });
        scene.runtime.block_on(stalled).unwrap();
        drop(done);
    });
    assert_eq!(end["message_type"], "MATCH_PROGRESS", "{end}");
    assert_eq!(end["match_id"], "R1M1");
    assert!(scene.office.all("MATCH_RESULT_REPORT").is_empty());
    for player in &scene.players {
        assert!(player.all("GAME_OVER").is_empty() && player.all("GAME_ERROR").is_empty());
    }
}
