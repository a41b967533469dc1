//! A player that watches everything there is while others have chosen, and learns nothing.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};

use league_server::journal::sqlite::SqliteView;
use league_server::record::LeagueRecord;
use serde_json::json;
use tempfile::TempDir;

use crate::rpc::{self, PATIENCE};
use crate::shape::{Shape, Stamp};
use crate::stage::{LEAGUE, Plan, Stage};
use crate::stranger::{Call, Identity, Say, Stranger, proof_of};

const PAGES: [&str; 13] = [
    "/",
    "/health",
    "/ready",
    "/version",
    "/metrics",
    "/api/v1/leagues",
    "/api/v1/leagues/league_it",
    "/api/v1/leagues/league_it/standings",
    "/api/v1/leagues/league_it/matches",
    "/api/v1/leagues/league_it/matches/R1M1",
    "/api/v1/leagues/league_it/matches/R1M2",
    "/api/v1/events",
    "/api/v1/openapi.json",
];
const QUERIES: [&str; 9] = [
    "GET_STANDINGS",
    "GET_SCHEDULE",
    "GET_NEXT_MATCH",
    "GET_PLAYER_STATS",
    "GET_AGENT_STATE",
    "GET_MATCH",
    "GET_LEAGUE",
    "GET_REGISTRATIONS",
    "GET_GAMES",
];

/// The first round: in each match the first who is asked chooses at once, the other waits until
/// everything has been watched.
#[derive(Default)]
struct Round {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    first: BTreeMap<String, String>,
    /// The calls of those whose choice the referee has acknowledged.
    given: Vec<Call>,
    waiting: Vec<Call>,
    is_watched: bool,
}

impl Round {
    fn wait(&self, until: impl Fn(&State) -> bool) -> (Vec<Call>, Vec<Call>) {
        let state = self.state.lock().unwrap();
        let (state, waited) =
            self.changed.wait_timeout_while(state, PATIENCE, |state| !until(state)).unwrap();
        assert!(!waited.timed_out(), "nobody waits for ever");
        (state.given.clone(), state.waiting.clone())
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().unwrap());
        self.changed.notify_all();
    }

    fn answer(&self, referee: SocketAddr, call: &Call) -> Say {
        if call.kind != "CHOOSE_PARITY_CALL" || call.match_id().round.number() != 1 {
            return Say::Usual;
        }
        let me = call.me.id.clone();
        let is_first = {
            let mut state = self.state.lock().unwrap();
            *state.first.entry(call.text("match_id").into()).or_insert_with(|| me.clone()) == me
        };
        if is_first {
            let reply = choose(referee, call);
            assert!(reply.json().get("result").is_some(), "{}", reply.body);
            self.change(|state| state.given.push(call.clone()));
            return Say::Result(json!({"status": "received"}));
        }
        self.change(|state| state.waiting.push(call.clone()));
        self.wait(|state| state.is_watched);
        Say::Usual
    }
}

fn nonce(player: &str) -> String {
    format!("nonce-of-{player}-0123456789abcdef")
}

/// Chooses by a call of its own, so that the referee says when it has the choice.
fn choose(referee: SocketAddr, call: &Call) -> rpc::Reply {
    let proof = proof_of(&call.me, call.match_id());
    let sender = format!("player:{}", call.me.id);
    let stamp = Stamp::new(&sender, call.text("conversation_id"), &proof);
    let fields = json!({
        "league_id": LEAGUE, "match_id": call.message["match_id"], "player_id": call.me.id,
        "parity_choice": "odd", "nonce": nonce(&call.me.id),
    });
    let names = ("choose_parity_response", "CHOOSE_PARITY_RESPONSE");
    rpc::send(referee, &Shape::Flat.request(names, &stamp, fields))
}

/// Everything that a player can look at, by where it saw it.
fn watch(addresses: [SocketAddr; 2], me: &Identity) -> Vec<(String, String)> {
    let mut seen = vec![];
    for (address, who) in addresses.into_iter().zip(["manager", "referee"]) {
        for page in PAGES {
            seen.push((format!("{who} {page}"), rpc::page(address, "GET", page).body));
        }
        let stamp = Stamp::new(&format!("player:{}", me.id), "conv-watching", &me.token);
        let mut ask = |names: (&str, &str), fields| {
            let reply = rpc::send(address, &Shape::Flat.request(names, &stamp, fields));
            seen.push((format!("{who} {names:?}"), reply.body));
        };
        for query in QUERIES {
            for match_id in ["R1M1", "R1M2"] {
                let fields =
                    json!({"league_id": LEAGUE, "query_type": query, "match_id": match_id});
                ask(("league_query", "LEAGUE_QUERY"), fields);
                ask(("get_match_state", "GET_MATCH_STATE"), json!({"match_id": match_id}));
            }
        }
        ask(("get_assigned_matches", "GET_ASSIGNED_MATCHES"), json!({"league_id": LEAGUE}));
        ask(("ping", "PING"), json!({"league_id": LEAGUE}));
    }
    seen
}

/// What somebody finds in the record who can read the manager's files.
fn record(data: &Path, stage: &Stage) -> Vec<(String, String)> {
    let view = SqliteView::open(data).unwrap();
    let read = LeagueRecord::read(&view, &LEAGUE.parse().unwrap()).unwrap();
    let mut seen = vec![
        ("trace".to_string(), format!("{read:?}")),
        ("events".to_string(), format!("{:?}", stage.events_now())),
    ];
    for entry in std::fs::read_dir(data).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        seen.push((path.display().to_string(), text));
    }
    seen
}

fn holders<'a>(seen: &'a [(String, String)], secret: &str) -> Vec<&'a str> {
    let holds = seen.iter().filter(|(_, text)| text.contains(secret));
    holds.map(|(place, _)| place.as_str()).collect()
}

// req: MATCH-3
#[test]
fn nobody_sees_a_choice_before_the_match_has_ended() {
    let data = TempDir::new().unwrap();
    let mut stage = Stage::open_in(data.path(), &Plan::players(4));
    let referee = stage.seat_referee();
    let round: Arc<Round> = Arc::default();
    let players: Vec<Stranger> = (0..4)
        .map(|_| {
            let round = round.clone();
            Stranger::player_that(Shape::Flat, move |call| round.answer(referee, call))
        })
        .collect();
    players.iter().for_each(|player| drop(player.register(&stage)));
    let (given, waiting) = round.wait(|state| state.given.len() == 2 && state.waiting.len() == 2);

    let watcher = &waiting[0];
    let own_match = watcher.match_id();
    let mut seen = watch([stage.address, referee], &watcher.me);
    seen.extend(record(data.path(), &stage));
    let me = players.iter().find(|player| player.me().id == watcher.me.id).unwrap();
    let told: Vec<_> = ["ROUND_ANNOUNCEMENT", "LEAGUE_STANDINGS_UPDATE"]
        .into_iter()
        .flat_map(|kind| me.all(kind))
        .chain(me.of_match(own_match))
        .map(|call| ("a call".to_string(), call.message.to_string()))
        .collect();
    assert!(told.len() >= 3, "it was invited and asked: {told:?}");

    for call in &given {
        for all in [&seen, &told] {
            assert_eq!(holders(all, &nonce(&call.me.id)), [""; 0]);
            assert_eq!(holders(all, "\"odd\""), [""; 0]);
        }
        let conversation = call.text("conversation_id");
        assert_eq!(holders(&seen, conversation), [""; 0], "the conversation of a match");
        if call.match_id() != own_match {
            assert_eq!(holders(&told, conversation), [""; 0], "somebody else's");
        }
    }
    round.change(|state| state.is_watched = true);
    stage.whole_league();
    let over: Vec<Call> = players.iter().map(|player| player.nth(1, "GAME_OVER")).collect();
    for call in &over {
        let seed = call.message["draw_seed"].as_str().expect("it is revealed at the end");
        assert_eq!(holders(&seen, seed), [""; 0]);
        assert_eq!(holders(&told, seed), [""; 0]);
    }
    // What was not there is there now: whoever looks like this would have seen it.
    let after = record(data.path(), &stage);
    for call in &given {
        for secret in [&nonce(&call.me.id), call.text("conversation_id"), "\"odd\""] {
            assert!(!holders(&after, secret).is_empty(), "{secret}");
        }
    }
}
