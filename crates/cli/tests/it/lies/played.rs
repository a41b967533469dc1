//! Lies about results.

use std::time::Duration;

use serde_json::{Value, json};

use super::{change_if, no, yes_if};
use crate::liar::{Asked, Memory, Switch};

pub(super) fn all() -> Vec<Switch> {
    [taken(), said_by(), lies(), repeated()].concat()
}

fn reports(asked: &Asked) -> bool {
    asked.calls("report_match_result")
}

/// The first half of a text such as `referee:REF01`, and the second.
fn sender(asked: &Asked) -> (&str, &str) {
    asked.text("sender").split_once(':').unwrap_or_default()
}

/// Whether a referee shows its own token.
fn is_own(asked: &Asked) -> bool {
    let (kind, id) = sender(asked);
    let token = asked.text("auth_token");
    kind == "referee"
        && token.starts_with(&format!("tok_referee_{id}_"))
        && !token.ends_with(&"0".repeat(64))
}

/// What the result says: winner, number and points of the winner.
fn number(asked: &Asked) -> u64 {
    asked.field("drawn_number").as_u64().unwrap_or(0)
}

/// The players of a report, and what they chose.
fn choices(asked: &Asked) -> Vec<(String, String)> {
    let listed = asked.field("result")["details"]["choices"].as_object().cloned();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    listed.unwrap_or_default().iter().map(|(id, choice)| (id.clone(), text(choice))).collect()
}

/// Whether a report of a win is true: the winner named the parity of the number.
fn is_true(asked: &Asked) -> bool {
    let winner = asked.field("result")["winner"].as_str().unwrap_or_default();
    let parity = if number(asked).is_multiple_of(2) { "even" } else { "odd" };
    let chosen = choices(asked).into_iter().find(|(id, _)| id == winner);
    chosen.is_some_and(|(_, choice)| choice == parity)
}

fn points(asked: &Asked) -> u64 {
    let score = asked.field("result")["score"].as_object().cloned().unwrap_or_default();
    score.values().filter_map(Value::as_u64).sum()
}

fn taken() -> Vec<Switch> {
    vec![
        Switch::of("manager.report.accepted").after(|asked, answer, _| {
            if reports(asked) && answer.body.contains("RECORDED") {
                *answer = no(asked, -32033, "E033");
            }
        }),
        change_if!("manager.report.ack", reports, |json| {
            if json.get("result").is_some() {
                json["result"]["message_type"] = json!("ACK");
            }
        }),
        Switch::of("manager.report.in-time").after(|asked, _, _| {
            if reports(asked) && asked.text("conversation_id").starts_with("timed") {
                std::thread::park_timeout(Duration::from_millis(10_500));
            }
        }),
        Switch::of("manager.report.crowd")
            .before(|asked, memory| {
                if !reports(asked) {
                    return None;
                }
                let key = format!("reporting {}", asked.text("league_id"));
                let beside = memory.count(&key) > 1;
                // Whoever comes at the same time is seen as such.
                std::thread::park_timeout(Duration::from_millis(100));
                beside.then(|| no(asked, -32033, "E033"))
            })
            .after(|asked, _, memory| {
                if reports(asked) {
                    memory.uncount(&format!("reporting {}", asked.text("league_id")));
                }
            }),
    ]
}

fn said_by() -> Vec<Switch> {
    vec![
        yes_if!("manager.report.no-token", |asked| {
            reports(asked) && asked.text("auth_token").is_empty()
        }),
        yes_if!("manager.report.wrong-token", |asked| {
            reports(asked) && asked.text("auth_token").ends_with(&"0".repeat(64))
        }),
        yes_if!("manager.report.stolen-token", |asked| {
            let (kind, id) = sender(asked);
            let token = asked.text("auth_token");
            let is_other = token.starts_with("tok_referee_") && !token.contains(&format!("_{id}_"));
            reports(asked)
                && kind == "referee"
                && id != "REF99"
                && is_other
                && !token.ends_with(&"0".repeat(64))
        }),
        yes_if!("manager.report.by-player", |asked| {
            reports(asked) && sender(asked).0 == "player"
        }),
        yes_if!("manager.report.player-as-referee", |asked| {
            let token = asked.text("auth_token");
            reports(asked) && sender(asked).0 == "referee" && token.starts_with("tok_player_")
        }),
        yes_if!("manager.report.unknown-referee", |asked| {
            reports(asked) && sender(asked).1 == "REF99"
        }),
        Switch::of("manager.report.other-referee").after(|asked, answer, _| {
            if reports(asked) && is_own(asked) && answer.body.contains("E030") {
                *answer = super::yes(asked);
            }
        }),
        Switch::of("manager.report.other-code").after(|asked, answer, _| {
            if reports(asked) && is_own(asked) && answer.body.contains("E030") {
                *answer = no(asked, -32033, "E033");
            }
        }),
        yes_if!("manager.report.unknown-match", |asked| {
            reports(asked) && asked.text("match_id") == "R1M99"
        }),
        yes_if!("manager.report.other-league", |asked| {
            reports(asked) && asked.text("league_id") == "nowhere"
        }),
    ]
}

/// Whether the wrong side is said to have won, with a number and choices that can be.
fn is_false_winner(asked: &Asked) -> bool {
    let is_plain = choices(asked).iter().all(|(_, choice)| choice == "even" || choice == "odd");
    let has_winner = asked.field("result")["winner"].is_string();
    reports(asked) && has_winner && is_plain && number(asked) == 8 && !is_true(asked)
}

fn lies() -> Vec<Switch> {
    vec![
        yes_if!("manager.report.false-winner", is_false_winner),
        Switch::of("manager.report.false-code").after(|asked, answer, _| {
            if is_false_winner(asked) {
                *answer = no(asked, -32033, "E033");
            }
        }),
        yes_if!("manager.report.false-points", |asked| reports(asked) && points(asked) == 30),
        yes_if!("manager.report.false-number", |asked| reports(asked) && number(asked) == 11),
        yes_if!("manager.report.false-choice", |asked| {
            reports(asked) && choices(asked).iter().any(|(_, choice)| choice == "red")
        }),
        Switch::of("manager.report.after-lie")
            .before(|asked, memory| {
                let is_after = reports(asked) && memory.has(&key("lied", asked));
                (is_after && is_true(asked)).then(|| no(asked, -32033, "E033"))
            })
            .after(|asked, _, memory| {
                if is_false_winner(asked) {
                    memory.count(key("lied", asked));
                }
            }),
    ]
}

/// A name for the match of a report.
fn key(word: &str, asked: &Asked) -> String {
    format!("{word} {} {}", asked.text("league_id"), asked.text("match_id"))
}

/// Counts what a referee says of a match once its result is recorded.
fn note(asked: &Asked, answer: &crate::liar::Answer, memory: &Memory) {
    if reports(asked) && answer.body.contains("RECORDED") {
        memory.count(key("recorded", asked));
        memory.count(format!("{} {}", key("recorded", asked), number(asked)));
    }
}

/// Whether the same was recorded before, and whether something else was.
fn is_known(asked: &Asked, memory: &Memory) -> (bool, bool) {
    let is_same = memory.has(&format!("{} {}", key("recorded", asked), number(asked)));
    (is_same, memory.has(&key("recorded", asked)) && !is_same)
}

fn repeated() -> Vec<Switch> {
    vec![
        Switch::of("manager.report.again")
            .before(|asked, memory| {
                let is_again = reports(asked) && is_known(asked, memory).0;
                is_again.then(|| no(asked, -32032, "E032"))
            })
            .after(|asked, answer, memory| note(asked, answer, memory)),
        Switch::of("manager.report.conflict")
            .before(|asked, memory| {
                let is_other = reports(asked) && is_known(asked, memory).1;
                (is_other && !memory.has(&format!("over {}", asked.text("league_id"))))
                    .then(|| super::yes(asked))
            })
            .after(|asked, answer, memory| note(asked, answer, memory)),
        Switch::of("manager.report.conflict-code").after(|asked, answer, _| {
            if reports(asked) && answer.body.contains("E032") {
                *answer = no(asked, -32033, "E033");
            }
        }),
    ]
}
