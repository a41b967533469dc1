//! Lies in what a manager tells by itself: rounds, standings, the end, and who hears of them.

use serde_json::{Value, json};

use super::{change_if, no};
use crate::liar::{Asked, Fate, Memory, Switch, Told, call};

const ROUND: &str = "ROUND_ANNOUNCEMENT";
const OVER: &str = "ROUND_COMPLETED";
const TABLE: &str = "LEAGUE_STANDINGS_UPDATE";
const END: &str = "LEAGUE_COMPLETED";
const ORDER: &str = "START_MATCH";

pub(super) fn all() -> Vec<Switch> {
    [lost(), announcements(), rounds(), tables(), rows(), ends(), troubles()].concat()
}

/// Changes every message of a kind.
macro_rules! tell {
    ($case:literal, $kind:expr, $change:expr) => {
        Switch::of($case).told(|told, _| {
            let change: fn(&mut Told) = $change;
            if told.is($kind) {
                change(told);
            }
            Fate::Arrives
        })
    };
}

/// Loses every message of a kind to one agent, by whose token it proves itself.
macro_rules! lose {
    ($case:literal, $kind:expr, $agent:literal) => {
        Switch::of($case).told(|told, _| {
            let is_its =
                told.field("auth_token").as_str().is_some_and(|token| token.contains($agent));
            if told.is($kind) && is_its { Fate::IsLost } else { Fate::Arrives }
        })
    };
}

fn lost() -> Vec<Switch> {
    vec![
        lose!("manager.round.announced", ROUND, "_P03_"),
        lose!("manager.round.referees", ROUND, "_REF02_"),
        lose!("manager.round.completed", OVER, "_P03_"),
        lose!("manager.standings.in-time", TABLE, "_P03_"),
        lose!("manager.end.completed", END, "_P02_"),
        lose!("manager.end.referees", END, "_REF01_"),
    ]
}

fn announcements() -> Vec<Switch> {
    vec![
        tell!("manager.round.dialect", ROUND, |told| told.json["method"] = json!(ROUND)),
        tell!("manager.round.frame", ROUND, |told| told.json["jsonrpc"] = json!("1.0")),
        tell!("manager.round.envelope", ROUND, |told| {
            *told.field("timestamp") = json!("2025-01-15T10:30:00");
        }),
        tell!("manager.round.fields", ROUND, |told| {
            for entry in told.field("matches").as_array_mut().unwrap() {
                entry.as_object_mut().unwrap().remove("game_type");
            }
        }),
        tell!("manager.round.token", ROUND, |told| *told.field("auth_token") = json!("tok_x")),
        tell!("manager.round.headers", ROUND, |told| {
            told.head = told.head.replace("user-agent", "x-agent").replace("User-Agent", "x-agent");
        }),
        Switch::of("manager.round.match-ids").renamed(
            |text, _| text.replace("R1X2", "R1M2"),
            |text, _| text.replace("R1M2", "R1X2"),
        ),
    ]
}

/// Another pair in a match of round 3: that of round 1 again.
fn again(told: &mut Told, memory: &Memory) {
    let (round, league) = (told.field("round_id").as_u64(), told.league());
    for entry in told.field("matches").as_array_mut().unwrap() {
        let pair = entry["player_A_id"].to_string() + "|" + &entry["player_B_id"].to_string();
        let key = format!("{league} {}", entry["match_id"].to_string().split('M').nth(1).unwrap());
        if round == Some(1) {
            memory.stand_for(&key, |_| pair);
        } else if round == Some(3) {
            let first = memory.texts().into_iter().find(|(known, _)| *known == key);
            let (_, first) = first.unwrap();
            let (a, b) = first.split_once('|').unwrap();
            entry["player_A_id"] = serde_json::from_str(a).unwrap();
            entry["player_B_id"] = serde_json::from_str(b).unwrap();
        }
    }
}

fn has_byes(told: &mut Told) -> bool {
    told.field("byes").as_array().is_some_and(|byes| !byes.is_empty())
}

fn rounds() -> Vec<Switch> {
    vec![
        Switch::of("manager.round.pairs").told(|told, memory| {
            if told.is(ROUND) && !has_byes(told) {
                again(told, memory);
            }
            Fate::Arrives
        }),
        Switch::of("manager.round.bye").told(|told, memory| {
            if told.is(ROUND) && has_byes(told) {
                again(told, memory);
            }
            Fate::Arrives
        }),
        Switch::of("manager.round.order")
            .told(|told, memory| {
                let is_first = told.is(ROUND) && *told.field("round_id") == 1;
                let token = told.field("auth_token").as_str().unwrap_or_default().to_string();
                if is_first && token.contains("_P01_") {
                    let port = told.port.to_string();
                    memory.stand_for(&told.league(), |_| port + "|" + &told.json.to_string());
                }
                Fate::Arrives
            })
            .after(too_early),
        tell!("manager.round.completed-matches", OVER, |told| {
            *told.field("matches_played") = json!(1);
        }),
        tell!("manager.round.next", OVER, |told| *told.field("next_round_id") = json!("9")),
        tell!("manager.round.order-to-referee", ORDER, |told| {
            told.field("players")[0]["endpoint"] = json!("http://127.0.0.1:9/mcp");
        }),
        Switch::of("manager.round.capacity")
            .before(|asked, memory| {
                let meta = asked.field("referee_meta");
                if meta["max_concurrent_matches"] == 1 {
                    memory.count(format!("one {}", asked.field("league_id")));
                }
                None
            })
            .told(|told, memory| {
                let is_first = *told.field("match_id") == "R1M1" && told.is(ORDER);
                if is_first && memory.has(&format!("one {}", told.league())) {
                    let mut second = told.json.clone();
                    second["params"]["match_id"] = json!("R1M2");
                    call(told.port, &second);
                }
                Fate::Arrives
            }),
    ]
}

/// Announces the second round when half of the first is reported.
fn too_early(asked: &Asked, _: &mut crate::liar::Answer, memory: &Memory) {
    if !asked.text("conversation_id").starts_with("early") {
        return;
    }
    let league = asked.field("league_id").to_string();
    let known = memory.texts().into_iter().find(|(known, _)| *known == league);
    let Some((port, json)) = known.as_ref().and_then(|(_, told)| told.split_once('|')) else {
        return;
    };
    let mut json: Value = serde_json::from_str(json).unwrap();
    json["params"]["round_id"] = json!(2);
    call(port.parse().unwrap(), &json);
}

fn row(message: &mut Value, is_meant: fn(&Value) -> bool, change: fn(&mut Value)) {
    for list in ["standings", "final_standings"] {
        if let Some(rows) = message[list].as_array_mut() {
            rows.iter_mut().filter(|row| is_meant(row)).for_each(change);
        }
    }
}

fn tables() -> Vec<Switch> {
    vec![
        tell!("manager.standings.dialect", TABLE, |told| told.json["method"] = json!(TABLE)),
        tell!("manager.standings.win", TABLE, |told| {
            let is_plain = !told.json.to_string().contains("\"technical_losses\":1");
            if is_plain {
                row(
                    &mut told.json["params"],
                    |row| row["points"] == 3,
                    |row| {
                        row["points"] = json!(2);
                    },
                );
            }
        }),
        tell!("manager.standings.draw", TABLE, |told| {
            row(&mut told.json["params"], |row| row["draws"] == 1, |row| row["points"] = json!(0));
        }),
        tell!("manager.standings.fields", TABLE, |told| {
            row(
                &mut told.json["params"],
                |_| true,
                |row| {
                    row.as_object_mut().unwrap().remove("display_name");
                },
            );
        }),
        tell!("manager.standings.order", TABLE, |told| {
            told.field("standings").as_array_mut().unwrap().reverse();
        }),
    ]
}

fn rows() -> Vec<Switch> {
    vec![
        Switch::of("manager.standings.once")
            .after(|asked, answer, memory| {
                if asked.calls("report_match_result") && answer.body.contains("\"duplicate\":true")
                {
                    memory.count(asked.field("league_id").to_string());
                }
            })
            .told(|told, memory| {
                if told.is(TABLE) && memory.has(&told.league()) {
                    row(
                        &mut told.json["params"],
                        |row| row["points"] == 3,
                        |row| {
                            row["points"] = json!(6);
                        },
                    );
                }
                Fate::Arrives
            }),
        change_if!(
            "manager.standings.query",
            |asked| asked.text("query_type") == "GET_STANDINGS",
            |json| row(
                &mut json["result"]["data"],
                |row| row["points"] == 3,
                |row| {
                    row["points"] = json!(0);
                }
            )
        ),
        tell!("manager.standings.technical", TABLE, |told| {
            row(
                &mut told.json["params"],
                |row| row["technical_losses"] == 1,
                |row| {
                    row["technical_losses"] = json!(0);
                },
            );
        }),
    ]
}

fn ends() -> Vec<Switch> {
    vec![
        tell!("manager.end.champion", END, |told| {
            told.field("champion")["player_id"] = json!("P02");
            told.field("champion")["points"] = json!(0);
        }),
        tell!("manager.end.totals", END, |told| *told.field("total_matches") = json!(5)),
        Switch::of("manager.end.query").told(note_end).before(|asked, memory| {
            let is_over = memory.has(&format!("over {}", asked.field("league_id")));
            (is_over && asked.calls("league_query")).then(|| no(asked, -32012, "E012"))
        }),
        Switch::of("manager.end.closed").told(note_end).before(|asked, memory| {
            let is_over = memory.has(&format!("over {}", asked.field("league_id")));
            (is_over && asked.calls("report_match_result")).then(|| super::yes(asked))
        }),
    ]
}

/// Remembers the leagues that are over.
fn note_end(told: &mut Told, memory: &Memory) -> Fate {
    if told.is(END) {
        memory.count(format!("over {}", told.league()));
    }
    Fate::Arrives
}

/// Loses what is told to an agent that has once answered in a way that `is_meant` describes.
macro_rules! give_up_if {
    ($case:literal, $is_meant:expr) => {
        Switch::of($case)
            .heard(|told, answer, memory| {
                let is_meant: fn(&str) -> bool = $is_meant;
                if told.is(ROUND) && answer.is_some_and(is_meant) {
                    memory.count(format!("given up {}", told.port));
                }
                false
            })
            .told(|told, memory| {
                let is_lost = memory.has(&format!("given up {}", told.port));
                if is_lost { Fate::IsLost } else { Fate::Arrives }
            })
    };
}

fn troubles() -> Vec<Switch> {
    vec![
        Switch::of("manager.trouble.away")
            .heard(|told, answer, _| told.is(ROUND) && answer.is_none()),
        Switch::of("manager.trouble.silent").in_turn(),
        give_up_if!("manager.trouble.garbage", |answer| answer.starts_with("<html>")),
        give_up_if!("manager.trouble.refuses", |answer| answer.contains("I do not want")),
        Switch::of("manager.trouble.moved")
            .before(|asked, memory| {
                let meta = asked.field("player_meta");
                let address = meta["contact_endpoint"].as_str().unwrap_or_default();
                if asked.calls("register_player") && !asked.text("auth_token").is_empty() {
                    let port = address.split("/to/").nth(1).and_then(|rest| rest.split('/').next());
                    memory.count(format!("moved {}", port.unwrap_or_default()));
                }
                None
            })
            .told(|told, memory| {
                let is_lost = memory.has(&format!("moved {}", told.port));
                if is_lost { Fate::IsLost } else { Fate::Arrives }
            }),
        Switch::of("manager.trouble.referee")
            .heard(|told, answer, memory| {
                let is_refused = answer.is_some_and(|answer| answer.contains("I do not want"));
                if told.is(ORDER) && is_refused {
                    memory.count(format!("refused {}", told.league()));
                }
                false
            })
            .told(|told, memory| {
                let is_known = memory.has(&format!("refused {}", told.league()));
                let is_lost = told.is(ORDER) && is_known;
                if is_lost { Fate::IsLost } else { Fate::Arrives }
            }),
    ]
}
