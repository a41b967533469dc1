//! What is really sent in every dialect, overheard on its way, is as the published schemas say.

use std::collections::BTreeSet;
use std::io::BufReader;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};

use league_agent::strategy::House;
use league_core::policy::RuleSet;
use league_wire::dialect::{decode_request, decode_result};
use league_wire::frame::{self, Incoming, Outcome};
use league_wire::{Dialect, MessageType, schema};
use serde_json::{Value, json};

use crate::judge::offences;
use crate::puller::until;
use crate::rpc;
use crate::stage::{Plan, Stage, results};

/// What was overheard: a call and its answer.
type Heard = Arc<Mutex<Vec<(Dialect, String, String)>>>;

/// Listens before the player at `target`, passes everything on and remembers it. The first call
/// for a move is answered with an error.
fn tap(dialect: Dialect, target: SocketAddr, heard: Heard) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let spoilt = Arc::new(Mutex::new(false));
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let (heard, spoilt) = (heard.clone(), spoilt.clone());
            std::thread::spawn(move || {
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let mut stream = stream;
                while let Some((_, body)) = rpc::receive(&mut reader) {
                    let mut answer = rpc::post(target, &body).body;
                    let asks = format!("\"{}\"", MessageType::ChooseParityCall.name(dialect));
                    let is_first = body.contains(&asks)
                        && !std::mem::replace(&mut *spoilt.lock().unwrap(), true);
                    if is_first {
                        let id = serde_json::from_str::<Value>(&body).unwrap()["id"].clone();
                        let error = json!({"code": -32000, "message": "not now"});
                        answer = json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string();
                    } else {
                        heard.lock().unwrap().push((dialect, body, answer.clone()));
                    }
                    if rpc::answer(&mut stream, &answer).is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

/// The parts of a body, which may be a batch.
fn parts(body: &str) -> Vec<Value> {
    let whole: Value = serde_json::from_str(body).unwrap();
    whole.as_array().cloned().unwrap_or_else(|| vec![whole])
}

/// What kind of call `frame` is.
fn asked(frame: &Value) -> MessageType {
    let text = frame.to_string();
    let Incoming::Single(Ok(request)) = frame::parse(text.as_bytes()) else { panic!("{text}") };
    decode_request(&request).unwrap_or_else(|error| panic!("{error}: {text}")).letter.message.kind()
}

/// What kind of answer `frame` is.
fn answered(dialect: Dialect, frame: &Value) -> MessageType {
    let text = frame.to_string();
    let response = frame::parse_response(text.as_bytes()).unwrap();
    let Outcome::Result(result) = response.outcome else { panic!("{text}") };
    let read = decode_result(dialect, MessageType::ALL, result);
    read.unwrap_or_else(|error| panic!("{error}: {text}")).message.kind()
}

fn check(dialect: Dialect, kind: MessageType, frame: &Value) {
    let schema: Value = serde_json::from_str(&schema::of(dialect, kind)).unwrap();
    let wrong = offences(&schema, frame);
    assert!(wrong.is_empty(), "{dialect} {}: {wrong:?} in {frame}", kind.name(dialect));
}

// req: WIRE-11
#[test]
fn what_is_really_sent_is_as_the_schemas_say() {
    let heard = Heard::default();
    let count = u32::try_from(Dialect::ALL.len()).unwrap();
    let plan = Plan::players(count).under(RuleSet::V21).with("choice_backoff", "fixed 20ms");
    let mut stage = Stage::open(&plan.with("choice_timeout", "5s"));
    stage.seat_referee();
    for dialect in Dialect::ALL {
        stage.seat_player_at(House::Random, dialect, |own| tap(dialect, own, heard.clone()));
    }
    let recorded = results(&stage.whole_league());
    assert!(recorded.iter().all(|result| result.verdict.was_played()), "{recorded:?}");
    let mut seen = BTreeSet::new();
    let mut judge_all = || {
        for (dialect, body, answer) in std::mem::take(&mut *heard.lock().unwrap()) {
            for frame in parts(&body) {
                let kind = asked(&frame);
                check(dialect, kind, &frame);
                seen.insert((dialect.name(), kind.name(Dialect::Flat)));
            }
            for frame in parts(&answer) {
                check(dialect, answered(dialect, &frame), &frame);
            }
        }
        seen.iter().filter(|(_, kind)| *kind == "LEAGUE_COMPLETED").count()
    };
    until("everybody hears of the end", || (judge_all() == Dialect::ALL.len()).then_some(()));
    let usual = [
        "ROUND_ANNOUNCEMENT",
        "GAME_INVITATION",
        "CHOOSE_PARITY_CALL",
        "GAME_ERROR",
        "GAME_OVER",
        "ROUND_COMPLETED",
        "LEAGUE_STANDINGS_UPDATE",
    ];
    for dialect in Dialect::ALL {
        for kind in usual {
            assert!(seen.contains(&(dialect.name(), kind)), "{dialect} was sent no {kind}");
        }
    }
    stage.close();
}
