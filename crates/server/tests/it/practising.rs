//! Practice: what goes wrong on purpose costs nobody a match, and an agent that is broken in one
//! way is told so. The agents here write their JSON by hand.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use league_agent::endpoint::{Answer, Service, serve};
use league_agent::guard::lock;
use league_agent::player::Cast;
use league_agent::targets::Targets;
use league_core::id::{MatchId, PlayerId, RefereeId, RoundId};
use league_core::policy::{Policy, RuleSet};
use league_server::practice::{
    Drill, Ending, Fault, Numbers, PracticeError, Practised, Pupil, Room, Terms,
};
use league_wire::Dialect;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;

/// In what way an agent is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// In none.
    Right,
    /// Chooses anew whenever it is asked.
    Fickle,
    /// Brings another nonce whenever it is asked.
    NewNonce,
    /// Refuses what it was asked before.
    OnlyOnce,
    /// Says no when it is asked again whether it takes part.
    NotTwice,
    /// Takes part, and chooses what nobody offered.
    Neither,
    /// Refuses every invitation.
    Refuser,
}

/// A player by somebody else.
struct Agent {
    way: Way,
    asked: AtomicU32,
    /// What came, by type.
    came: Mutex<Vec<String>>,
}

impl Agent {
    fn result(&self, call: &Value) -> Result<Value, &'static str> {
        let params = &call["params"];
        let kind = params["message_type"].as_str().unwrap_or_default();
        let mut came = lock(&self.came);
        let before = came.iter().filter(|known| *known == kind).count();
        came.push(kind.into());
        drop(came);
        if self.way == Way::OnlyOnce && before > 0 {
            return Err("I have answered that");
        }
        let mut result = json!({
            "protocol": "league.v2",
            "message_type": "GAME_OVER_ACK",
            "sender": "player:P01",
            "timestamp": "2025-01-15T10:30:00Z",
            "conversation_id": params["conversation_id"],
            "match_id": params["match_id"],
            "acknowledged": true,
        });
        match kind {
            "GAME_INVITATION" => {
                result["message_type"] = json!("GAME_JOIN_ACK");
                result["player_id"] = json!("P01");
                result["arrival_timestamp"] = json!("2025-01-15T10:30:00Z");
                let again = self.way == Way::NotTwice && before > 0;
                result["accept"] = json!(!again && self.way != Way::Refuser);
            }
            "CHOOSE_PARITY_CALL" => {
                let asked = self.asked.fetch_add(1, Ordering::Relaxed);
                let is_odd = self.way == Way::Fickle && asked % 2 == 1;
                result["message_type"] = json!("CHOOSE_PARITY_RESPONSE");
                result["player_id"] = json!("P01");
                result["parity_choice"] = match self.way {
                    Way::Neither => json!("both"),
                    Way::Right
                    | Way::Fickle
                    | Way::NewNonce
                    | Way::OnlyOnce
                    | Way::NotTwice
                    | Way::Refuser => json!(if is_odd { "odd" } else { "even" }),
                };
                if self.way == Way::NewNonce {
                    result["nonce"] = json!(format!("nonce-{asked}"));
                }
            }
            _ => {}
        }
        Ok(result)
    }
}

impl Service for Agent {
    async fn mcp(&self, body: Bytes, _peer: SocketAddr) -> Answer {
        let call: Value = serde_json::from_slice(&body).unwrap();
        let mut answer = json!({"jsonrpc": "2.0", "id": call["id"]});
        match self.result(&call) {
            Ok(result) => answer["result"] = result,
            Err(why) => answer["error"] = json!({"code": -32000, "message": why}),
        }
        Answer::json(answer.to_string())
    }

    fn page(&self, _path: &str) -> Option<Answer> {
        None
    }
}

fn policy() -> Policy {
    let rules =
        [("invitation_timeout", "2s"), ("choice_timeout", "1s"), ("choice_backoff", "fixed 100ms")];
    Policy::build(RuleSet::V21, rules).unwrap()
}

/// What becomes of an agent that is broken in this way, in a match under each of `faults`.
fn practise(way: Way, faults: &[Option<Fault>]) -> (Vec<Practised>, Vec<String>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/mcp", listener.local_addr().unwrap());
        let agent = Agent { way, asked: AtomicU32::new(0), came: Mutex::default() };
        let (agent, stop) = (Arc::new(agent), watch::Sender::new(false));
        let serving = tokio::spawn(serve(listener, agent.clone(), stop.subscribe()));
        let mut room = room(address).await.unwrap();
        let mut practised = vec![];
        for (round, fault) in (1..).zip(faults) {
            let match_id = MatchId::new(RoundId::new(round), 1);
            let drill = Drill { match_id, against: Cast::find("even").unwrap(), fault: *fault };
            practised.push(room.play(&drill).await.unwrap());
        }
        room.close().await;
        stop.send_replace(true);
        serving.await.unwrap();
        let came = lock(&agent.came).clone();
        (practised, came)
    })
}

async fn room(address: String) -> Result<Room, PracticeError> {
    let pupil = Pupil {
        id: PlayerId::new(1),
        league: "somewhere".parse().unwrap(),
        address,
        dialect: Dialect::Flat,
        token: Some(format!("tok_player_P01_{}", "ab".repeat(32)).parse().unwrap()),
    };
    let terms = Terms {
        policy: policy(),
        hasty: policy(),
        game: "even_odd".parse().unwrap(),
        lenient: false,
        seed: 7,
    };
    let numbers = Numbers { referee: RefereeId::new(1), house: PlayerId::new(2) };
    Room::open(pupil, terms, numbers, Targets::everywhere()).await
}

const EVERYTHING: [Option<Fault>; 5] = [
    None,
    Some(Fault::Slow),
    Some(Fault::Duplicates),
    Some(Fault::LateRetries),
    Some(Fault::Drops),
];

#[test]
fn what_goes_wrong_on_purpose_costs_nobody_a_match() {
    let (practised, came) = practise(Way::Right, &EVERYTHING);
    for one in &practised {
        assert_eq!(one.ending, Ending::Drawn, "{:?}: {}", one.fault, one.why);
        assert_eq!(one.why, format!("both chose the same, number was {}", one.number.unwrap()));
        assert_eq!(one.findings, [], "{:?}", one.fault);
        assert_eq!(one.faults > 0, one.fault.is_some(), "{:?}", one.fault);
        let told = one.transcript.as_ref().unwrap().entries.iter();
        let names: Vec<_> = told.filter_map(|entry| entry.name.as_deref()).collect();
        assert!(names.contains(&"GAME_OVER"), "{names:?}");
    }
    // Each fault was really there: this is what came to the agent.
    let count = |kind: &str| came.iter().filter(|known| *known == kind).count();
    assert_eq!(count("GAME_INVITATION"), 6, "one of five came twice");
    assert_eq!(count("CHOOSE_PARITY_CALL"), 8, "twice, asked again, and hung up on");
    assert_eq!(count("GAME_OVER"), 6, "one of five came twice, and each came");
    let times: Vec<_> = practised.iter().map(|one| one.times.len()).collect();
    assert_eq!(times, [2, 2, 4, 3, 3], "every answer is timed");
}

#[test]
fn an_agent_that_is_broken_in_one_way_is_told_so() {
    let (twice, again) = (Some(Fault::Duplicates), Some(Fault::LateRetries));
    for (way, fault, sentence) in [
        (Way::Fickle, twice, "asked twice for the same choice it said even and then odd"),
        (Way::Fickle, again, "asked twice for the same choice it said even and then odd"),
        (Way::NewNonce, twice, "the same with another nonce"),
        (Way::NewNonce, again, "the same with another nonce"),
        (Way::OnlyOnce, again, "refused the same call again: -32000: I have answered that"),
        (Way::NotTwice, twice, "it said yes once and no once"),
    ] {
        let (practised, _) = practise(way, &[fault]);
        let one = &practised[0];
        assert_ne!(one.ending, Ending::Technical, "{way:?} {fault:?}: {}", one.why);
        let [finding] = &one.findings[..] else { panic!("{way:?} {fault:?}: {:?}", one.findings) };
        assert!(finding.sentence.contains(sentence), "{way:?}: {}", finding.sentence);
        assert!(!finding.change.is_empty());
    }
    let (practised, _) = practise(Way::OnlyOnce, &[twice]);
    let refused: Vec<_> = practised[0].findings.iter().map(|one| &*one.sentence).collect();
    assert_eq!(refused.len(), 3, "every call came twice: {refused:?}");
}

#[test]
fn what_the_agent_loses_by_itself_counts_under_every_fault() {
    for (way, why) in [
        (Way::Neither, "P01: Choice must be 'even' or 'odd', got 'both'"),
        (Way::Refuser, "P01: refused the invitation: no reason given"),
    ] {
        let (practised, _) = practise(way, &EVERYTHING);
        for one in &practised {
            assert_eq!(one.ending, Ending::Technical, "{way:?} {:?}: {}", one.fault, one.why);
            assert!(one.why.starts_with(why), "{way:?} {:?}: {}", one.fault, one.why);
        }
    }
}

#[test]
fn nobody_there_is_told_as_it_is() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut room = room("http://127.0.0.1:1/mcp".into()).await.unwrap();
        for (round, fault) in (1..).zip([None, Some(Fault::Duplicates)]) {
            let match_id = MatchId::new(RoundId::new(round), 1);
            let drill = Drill { match_id, against: Cast::find("even").unwrap(), fault };
            let one = room.play(&drill).await.unwrap();
            assert_eq!((one.ending, one.times.len()), (Ending::Technical, 0), "{}", one.why);
            assert!(one.why.contains("Connection refused"), "{fault:?}: {}", one.why);
        }
        room.close().await;
    });
}
