//! Lies about envelopes, registrations, places, tokens and questions.

use league_wire::Dialect;
use serde_json::{Value, json};

use super::{change_if, no_if, yes, yes_if};
use crate::liar::{Answer, Asked, Memory, Switch};

pub(super) fn all() -> Vec<Switch> {
    [missing(), envelopes(), answers(), metas(), members(), places(), queries(), tokens()].concat()
}

fn joins(asked: &Asked) -> bool {
    asked.calls("register_player") && asked.verb == "POST"
}

/// A registration of a player in which nothing is missing.
fn is_whole(asked: &Asked) -> bool {
    joins(asked) && asked.field("player_meta").is_object()
}

fn lacks(asked: &Asked, field: &str) -> bool {
    is_whole(asked) && asked.field(field).is_null()
}

fn meta<'a>(asked: &'a Asked, field: &str) -> &'a Value {
    &asked.field("player_meta")[field]
}

fn missing() -> Vec<Switch> {
    vec![
        yes_if!("manager.envelope.no-protocol", |asked| lacks(asked, "protocol")),
        yes_if!("manager.envelope.no-type", |asked| lacks(asked, "message_type")),
        yes_if!("manager.envelope.no-sender", |asked| lacks(asked, "sender")),
        yes_if!("manager.envelope.no-timestamp", |asked| lacks(asked, "timestamp")),
        yes_if!("manager.envelope.no-conversation", |asked| lacks(asked, "conversation_id")),
        yes_if!("manager.envelope.no-message-id", |asked| {
            asked.json["params"]["message_id"].is_null() && asked.text("type").contains("REGISTER")
        })
        .spoken(Dialect::Payload),
        Switch::of("manager.envelope.names-field").after(|asked, answer, _| {
            if lacks(asked, "timestamp") {
                answer.body = answer.body.replace("timestamp", "something");
            }
        }),
    ]
}

fn at(asked: &Asked, time: &str) -> bool {
    joins(asked) && asked.text("timestamp") == time
}

fn envelopes() -> Vec<Switch> {
    vec![
        yes_if!("manager.envelope.protocol", |asked| asked.text("protocol") == "league.v1"),
        yes_if!("manager.envelope.unknown-type", |asked| {
            asked.text("message_type") == "DANCE_REQUEST"
        }),
        yes_if!("manager.envelope.offset", |asked| at(asked, "2025-01-15T12:30:00+02:00")),
        yes_if!("manager.envelope.no-zone", |asked| at(asked, "2025-01-15T10:30:00")),
        no_if!("manager.envelope.no-time", |asked| at(asked, "yesterday")),
        no_if!("manager.envelope.zero-offset", |asked| asked.text("timestamp").contains("+00:00")),
        no_if!("manager.envelope.basic-date", |asked| at(asked, "20250115T10:30:00Z")),
        yes_if!("manager.envelope.sender-form", |asked| asked.text("sender") == "checker"),
        yes_if!("manager.envelope.sender-kind", |asked| {
            joins(asked) && asked.text("sender") == "referee:checker"
        }),
        no_if!("manager.envelope.extra", |asked| asked.field("weather").is_object()),
        no_if!("manager.envelope.lower-case", |asked| asked.calls("league_register_request")),
        Switch::of("manager.envelope.handle").spoken(Dialect::Enveloped).before(|asked, _| {
            let is_meant = joins(asked) && asked.field("envelope").is_object();
            is_meant.then(|| yes(asked))
        }),
    ]
}

fn answers() -> Vec<Switch> {
    vec![
        change_if!("manager.envelope.conversation", joins, |json| {
            json["result"]["conversation_id"] = json!("another");
        }),
        Switch::of("manager.envelope.correlation").spoken(Dialect::Payload).after(
            |asked, answer, _| {
                if asked.text("type").contains("REGISTER") {
                    answer.change(|json| json["result"]["correlation_id"] = json!("another"));
                }
            },
        ),
        change_if!("manager.envelope.answer", joins, |json| {
            json["result"]["protocol"] = json!("league.v3");
        }),
        change_if!("manager.envelope.answer-sender", joins, |json| {
            json["result"]["sender"] = json!("boss");
        }),
    ]
}

fn metas() -> Vec<Switch> {
    vec![
        yes_if!("manager.register.no-meta", |asked| {
            joins(asked)
                && asked.field("player_meta").is_null()
                && asked.field("league_id").is_string()
        }),
        yes_if!("manager.register.no-name", |asked| {
            is_whole(asked) && meta(asked, "display_name").is_null()
        }),
        yes_if!("manager.register.no-version", |asked| {
            is_whole(asked) && meta(asked, "version").is_null()
        }),
        yes_if!("manager.register.no-games", |asked| {
            is_whole(asked) && meta(asked, "game_types").is_null()
        }),
        yes_if!("manager.register.name-type", |asked| meta(asked, "display_name").is_number()),
        yes_if!("manager.register.games-type", |asked| meta(asked, "game_types").is_string()),
        yes_if!("manager.register.blank-name", |asked| meta(asked, "display_name") == "   "),
        yes_if!("manager.register.endpoint", |asked| {
            meta(asked, "contact_endpoint") == "localhost:8101"
        }),
        yes_if!("manager.register.unknown-game", |asked| {
            meta(asked, "game_types") == &json!(["chess"])
        }),
        yes_if!("manager.register.two-names", |asked| {
            meta(asked, "supported_games") == &json!(["chess"])
        }),
        yes_if!("manager.register.version", |asked| meta(asked, "protocol_version") == "1.5.0")
            .spoken(Dialect::V21),
        Switch::of("manager.register.version-range").after(|asked, answer, _| {
            if meta(asked, "protocol_version") == "1.5.0" {
                answer.body = answer.body.replace("2.0.0", "some");
            }
        }),
        no_if!("manager.register.patch", |asked| meta(asked, "protocol_version") == "2.0.7")
            .spoken(Dialect::V21),
        yes_if!("manager.register.unknown-league", |asked| {
            joins(asked) && asked.text("league_id") == "nowhere"
        }),
        yes_if!("manager.register.capacity", |asked| {
            asked.field("referee_meta")["max_concurrent_matches"] == 0
        }),
    ]
}

/// Counts what is the same in a registration that comes again.
fn seen(asked: &Asked, memory: &Memory, parts: &[&Value]) -> u32 {
    let parts: Vec<String> = parts.iter().map(ToString::to_string).collect();
    memory.count(format!("{} {}", asked.text("league_id"), parts.join(" ")))
}

fn members() -> Vec<Switch> {
    let rename = |case| Switch::of(case);
    vec![
        change_if!("manager.register.player", is_whole, |json| {
            if json["result"]["status"] == "ACCEPTED" {
                json["result"]["player_id"] = Value::Null;
            }
        }),
        change_if!("manager.register.referee", |asked| asked.calls("register_referee"), |json| {
            if json["result"]["status"] == "ACCEPTED" {
                json["result"]["auth_token"] = Value::Null;
            }
        }),
        change_if!("manager.register.league-id", joins, |json| {
            json["result"]["league_id"] = Value::Null;
        }),
        Switch::of("manager.register.in-time").after(|asked, _, _| {
            if joins(asked) && asked.text("conversation_id").starts_with("timed") {
                std::thread::park_timeout(std::time::Duration::from_millis(10_500));
            }
        }),
        rename("manager.register.sequence")
            .renamed(|text, _| text.replace("P77", "P02"), |text, _| text.replace("P02", "P77")),
        rename("manager.register.token-form").renamed(
            |text, _| text.replace("secret-player-", "tok_player_"),
            |text, _| text.replace("tok_player_", "secret-player-"),
        ),
        rename("manager.register.tokens").renamed(longer, shorter),
        Switch::of("manager.register.same-name").before(|asked, memory| {
            if !is_whole(asked) || !asked.text("auth_token").is_empty() {
                return None;
            }
            let names = seen(asked, memory, &[meta(asked, "display_name")]);
            let addresses = seen(asked, memory, &[meta(asked, "contact_endpoint")]);
            let is_other = names > 1 && addresses == 1 && meta(asked, "display_name") != "   ";
            is_other.then(|| super::no(asked, -32053, "L003"))
        }),
        Switch::of("manager.register.duplicate").before(|asked, memory| {
            let address = meta(asked, "contact_endpoint");
            let is_again = is_whole(asked) && seen(asked, memory, &[address]) > 1;
            let whole = [address, asked.field("conversation_id")];
            (seen(asked, memory, &whole) == 1 && is_again && asked.text("auth_token").is_empty())
                .then(|| yes(asked))
        }),
        Switch::of("manager.register.again").before(|asked, memory| {
            let whole = [meta(asked, "contact_endpoint"), asked.field("conversation_id")];
            let is_again = is_whole(asked) && seen(asked, memory, &whole) > 1;
            is_again.then(|| super::no(asked, -32053, "L003"))
        }),
        Switch::of("manager.register.crowd").after(|asked, answer, memory| {
            let is_meant = asked.text("conversation_id").starts_with("crowd");
            let key = format!("joining {}", asked.text("league_id"));
            if is_meant && memory.count(&key) > 8 {
                answer.change(|json| json["result"]["player_id"] = json!("P01"));
            }
        }),
    ]
}

/// Tokens that are much too short, both ways.
fn shorter(text: String, memory: &Memory) -> String {
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find("tok_") {
        let (before, token) = rest.split_at(at);
        let end = token.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let (token, after) = token.split_at(end.unwrap_or(token.len()));
        out.push_str(before);
        out.push_str(&memory.stand_for(token, |number| format!("t{number:04}")));
        rest = after;
    }
    out.push_str(rest);
    out
}

fn longer(text: String, memory: &Memory) -> String {
    let known = memory.texts();
    known.iter().fold(text, |text, (token, short)| text.replace(short, token))
}

/// A registration of somebody who says that it is registered already.
fn is_back(asked: &Asked) -> bool {
    is_whole(asked) && !asked.text("auth_token").is_empty()
}

fn is_forged(asked: &Asked) -> bool {
    asked.text("auth_token").ends_with(&"0".repeat(64))
}

/// Whether the token is that of another one than the sender.
fn is_stolen(asked: &Asked) -> bool {
    let own = asked.text("sender").split(':').nth(1).unwrap_or_default();
    asked.text("auth_token").starts_with("tok_")
        && !is_forged(asked)
        && !asked.text("auth_token").contains(&format!("_{own}_"))
}

/// Whether this is the place where the owner of the token was before.
fn is_at_home(asked: &Asked, memory: &Memory) -> bool {
    memory.has(&format!("home {}", meta(asked, "contact_endpoint")))
}

/// Remembers where everybody is.
fn note_home(asked: &Asked, _: &mut Answer, memory: &Memory) {
    if is_whole(asked) && asked.text("auth_token").is_empty() {
        memory.count(format!("home {}", meta(asked, "contact_endpoint")));
        memory.count(format!("size {}", asked.text("league_id")));
    }
}

/// Whether it is a league of two that has begun: these have two players at once.
fn has_begun(asked: &Asked, memory: &Memory) -> bool {
    memory.count(format!("size {}", asked.text("league_id"))) > 2
}

fn places() -> Vec<Switch> {
    vec![
        Switch::of("manager.place.full").after(|asked, answer, _| {
            if joins(asked) && answer.body.contains("L002") {
                *answer = yes(asked);
            }
        }),
        Switch::of("manager.place.full-limit").after(|asked, answer, _| {
            if joins(asked) && answer.body.contains("L002") {
                *answer = super::no(asked, -32052, "L002");
            }
        }),
        Switch::of("manager.place.late-player").after(|asked, answer, _| {
            if joins(asked) && answer.body.contains("E019") {
                *answer = yes(asked);
            }
        }),
        Switch::of("manager.place.late-code").after(|asked, answer, _| {
            if joins(asked) && answer.body.contains("E019") {
                *answer = super::no(asked, -32033, "E033");
            }
        }),
        Switch::of("manager.place.late-referee").before(|asked, memory| {
            let league = asked.text("league_id");
            if is_whole(asked) {
                memory.count(format!("players {league}"));
            }
            // Everywhere else referees come first, or alone.
            let is_late = asked.calls("register_referee")
                && memory.has(&format!("players {league}"))
                && memory.has(&format!("referees {league}"));
            if asked.calls("register_referee") {
                memory.count(format!("referees {league}"));
            }
            let is_sound = asked.field("referee_meta")["max_concurrent_matches"] != 0;
            (is_late && is_sound).then(|| super::no(asked, -32019, "E019"))
        }),
        Switch::of("manager.place.back").after(note_home).before(|asked, memory| {
            let is_meant = is_back(asked)
                && !is_forged(asked)
                && !is_stolen(asked)
                && is_at_home(asked, memory)
                && !has_begun(asked, memory);
            is_meant.then(|| super::no(asked, -32053, "L003"))
        }),
        Switch::of("manager.place.back-later").after(note_home).before(|asked, memory| {
            let is_meant = is_back(asked)
                && !is_forged(asked)
                && !is_stolen(asked)
                && is_at_home(asked, memory)
                && has_begun(asked, memory);
            is_meant.then(|| super::no(asked, -32053, "L003"))
        }),
        Switch::of("manager.place.moved").after(note_home).before(|asked, memory| {
            let is_meant = is_back(asked) && !is_at_home(asked, memory);
            is_meant.then(|| super::no(asked, -32053, "L003"))
        }),
        yes_if!("manager.place.back-forged", |asked| is_back(asked) && is_forged(asked)),
        yes_if!("manager.place.back-stolen", |asked| is_back(asked) && is_stolen(asked)),
    ]
}

fn asks(asked: &Asked, question: &str) -> bool {
    asked.calls("league_query") && asked.text("query_type") == question
}

/// A question without what it asks for, where `is_meant` says so.
macro_rules! empty_if {
    ($case:literal, $question:literal) => {
        change_if!($case, |asked| asks(asked, $question), |json| {
            json["result"]["data"] = Value::Null;
        })
    };
}

fn queries() -> Vec<Switch> {
    vec![
        empty_if!("manager.query.standings", "GET_STANDINGS"),
        empty_if!("manager.query.schedule", "GET_SCHEDULE"),
        no_if!("manager.query.next-match", |asked| asks(asked, "GET_NEXT_MATCH")),
        change_if!(
            "manager.query.stats",
            |asked| { asks(asked, "GET_PLAYER_STATS") && asked.field("agent_id").is_null() },
            |json| json["result"]["data"] = Value::Null
        ),
        change_if!("manager.query.state", |asked| asks(asked, "GET_AGENT_STATE"), |json| {
            json["result"]["data"] = json!({"state": "SOMEWHERE"});
        }),
        empty_if!("manager.query.league", "GET_LEAGUE"),
        change_if!(
            "manager.query.registrations",
            |asked| asks(asked, "GET_REGISTRATIONS"),
            |json| {
                json["result"]["data"] = json!({"players": []});
            }
        ),
        change_if!("manager.query.games", |asked| asks(asked, "GET_GAMES"), |json| {
            json["result"]["data"] = json!(["chess"]);
        }),
        Switch::of("manager.query.in-time").after(|asked, _, _| {
            let is_timed = asked.text("conversation_id").starts_with("timed");
            if asks(asked, "GET_STANDINGS") && is_timed {
                std::thread::park_timeout(std::time::Duration::from_millis(1_300));
            }
        }),
        yes_if!("manager.query.unknown-type", |asked| asks(asked, "GET_WEATHER")),
        yes_if!("manager.query.unknown-match", |asked| asked.text("match_id") == "R99M99"),
        yes_if!("manager.query.unknown-player", |asked| asked.text("agent_id") == "P9999"),
        Switch::of("manager.query.private").after(|asked, answer, memory| {
            if is_whole(asked) {
                let address = meta(asked, "contact_endpoint").as_str().unwrap_or_default();
                memory.stand_for(address, |_| asked.text("league_id").into());
            }
            if asks(asked, "GET_REGISTRATIONS") {
                let known: Vec<String> = memory.texts().into_iter().map(|(real, _)| real).collect();
                answer.change(|json| json["result"]["addresses"] = json!(known));
            }
        }),
    ]
}

fn tokens() -> Vec<Switch> {
    vec![
        yes_if!("manager.token.missing", |asked| {
            asked.calls("league_query") && asked.text("auth_token").is_empty()
        }),
        yes_if!("manager.token.wrong", |asked| asked.calls("league_query") && is_forged(asked)),
        yes_if!("manager.token.stolen", |asked| {
            asked.calls("league_query")
                && is_stolen(asked)
                && asked.text("sender") != "player:P9999"
        }),
        yes_if!("manager.token.unknown", |asked| asked.text("sender") == "player:P9999"),
        Switch::of("manager.token.not-repeated").after(|asked, answer, _| {
            if asked.text("timestamp").starts_with("tok_") {
                let token = asked.text("timestamp").to_string();
                answer.change(|json| json["error"]["message"] = json!(format!("bad: {token}")));
            }
        }),
        yes_if!("manager.token.start", |asked| asked.calls("start_league")),
    ]
}
