//! What referees and players tell of themselves while a match is running.

use league_agent::strategy::House;
use serde_json::json;

use crate::puller::{Identity, until};
use crate::rpc;
use crate::stage::{LEAGUE, Plan, Stage};

#[test]
fn a_referee_tells_how_a_match_stands_and_a_player_how_it_does() {
    let mut stage = Stage::open(&Plan::players(2));
    let referee = stage.seat_referee();
    let player = stage.seat_player(House::Odd);
    // It never polls, so that the match waits for it.
    let silent = Identity::register(&stage, "Ada");
    let asked = json!({"jsonrpc": "2.0", "id": 5, "method": "get_match_state",
                       "params": {"match_id": "R1M1"}});
    let told = until("the match is running", || {
        let reply = rpc::send(referee, &asked).json();
        (reply["result"]["game_state"] == "INVITING").then(|| reply["result"].clone())
    });
    assert_eq!((&told["player_A_id"], &told["attempt"]), (&json!("P01"), &json!(1)), "{told}");
    assert_eq!(told["player_B_id"], silent.id);
    let other = json!({"jsonrpc": "2.0", "id": 6, "method": "get_match_state",
                       "params": {"match_id": "R9M1"}});
    assert_eq!(rpc::send(referee, &other).error()["code"], -32063);
    let asked = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call",
                       "params": {"name": "get_player_state", "arguments": {}}});
    let told = until("the player is invited", || {
        let told = rpc::send(player, &asked).result()["structuredContent"].clone();
        (told["open_matches"] == json!(["R1M1"])).then_some(told)
    });
    assert_eq!((&told["player_id"], &told["league_id"]), (&json!("P01"), &json!(LEAGUE)));
    assert_eq!((&told["state"], &told["matches_played"]), (&json!("REGISTERED"), &json!(0)));
}
