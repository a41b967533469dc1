//! What the manager sends and receives, found again in the record while it is at work and after.

use std::path::Path;

use league_core::id::LeagueId;
use league_core::time::Timestamp;
use league_server::journal::sqlite::{SqlitePruner, SqliteView};
use league_server::record::{Exchanged, Kind, LeagueRecord, Post, Way, expire, rehearse};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::foreign_referee::nested;
use crate::rpc::{self, PATIENCE, Reply};
use crate::shape::Shape;
use crate::stage::{ADMIN, LEAGUE, Plan, SECRET, Stage, join_key};
use crate::stranger::{Say, Stranger};

fn league() -> LeagueId {
    LEAGUE.parse().unwrap()
}

fn letters(data: &Path) -> Vec<Exchanged> {
    let view = SqliteView::open(data).expect("a reader needs no lock");
    Post::read(&view, &league(), |_| true, &[]).unwrap().letters
}

/// What `read` gives once it is as it should be: letters are written a while after they passed.
#[expect(clippy::disallowed_methods, reason = "the patience of a test is real time")]
fn until<T: std::fmt::Debug>(read: impl Fn() -> T, holds: impl Fn(&T) -> bool) -> T {
    let end = std::time::Instant::now() + PATIENCE;
    loop {
        let now = read();
        if holds(&now) {
            return now;
        }
        assert!(std::time::Instant::now() < end, "it never comes: {now:?}");
        std::thread::yield_now();
    }
}

/// The letters once there is one that is `wanted`.
fn letters_with(data: &Path, wanted: impl Fn(&Exchanged) -> bool) -> Vec<Exchanged> {
    until(|| letters(data), |all| all.iter().any(&wanted))
}

/// The letters of `name` that `peer` got or sent.
fn of<'a>(all: &'a [Exchanged], peer: &str, name: &str) -> Vec<&'a Exchanged> {
    all.iter().filter(|letter| letter.peer == peer && letter.name == name).collect()
}

fn json(text: Option<&String>) -> Value {
    serde_json::from_str(text.expect("a body")).expect("it is JSON")
}

fn completed(peer: &'static str) -> impl Fn(&Exchanged) -> bool {
    move |letter| letter.peer == peer && letter.name == "LEAGUE_COMPLETED"
}

// req: OBS-2, AUTH-3
#[test]
fn every_letter_of_the_manager_is_found_by_agent_conversation_and_match() {
    let data = TempDir::new().unwrap();
    let mut stage = Stage::open_in(data.path(), &Plan::on_command(2));
    stage.seat_referee();
    let players = [Stranger::player(Shape::Flat), Stranger::player(Shape::Enveloped)];
    let tokens = players.each_ref().map(|player| player.register(&stage).token);
    let start = json!({
        "protocol": "league.v2", "message_type": "START_LEAGUE", "sender": "administrator",
        "timestamp": "2026-01-15T10:30:00.000Z", "conversation_id": "conv-start",
        "auth_token": ADMIN, "league_id": LEAGUE,
    });
    let start = json!({"jsonrpc": "2.0", "method": "start_league", "params": start, "id": 1});
    assert_eq!(stage.send(&start).status, 200);
    stage.whole_league();
    players.iter().for_each(|player| drop(player.nth(1, "LEAGUE_COMPLETED")));
    let all = letters_with(data.path(), completed("P02"));

    let registration = of(&all, "P01", "LEAGUE_REGISTER_REQUEST");
    assert_eq!(registration.len(), 1);
    assert_eq!((registration[0].way, registration[0].status), (Way::Came, Some(200)));
    assert_eq!(registration[0].conversation, "conv-registration-1");
    assert_eq!(registration[0].answer_name.as_deref(), Some("LEAGUE_REGISTER_RESPONSE"));
    assert_eq!(json(registration[0].answer.as_ref())["result"]["auth_token"], "[redacted]");
    let started: Vec<_> = all.iter().filter(|letter| letter.conversation == "conv-start").collect();
    assert_eq!((started.len(), &*started[0].name), (1, "START_LEAGUE"));

    for (player, stranger) in ["P01", "P02"].into_iter().zip(&players) {
        for kind in ["ROUND_ANNOUNCEMENT", "ROUND_COMPLETED", "LEAGUE_COMPLETED"] {
            let sent = of(&all, player, kind);
            let got = stranger.all(kind);
            assert_eq!((sent.len(), got.len()), (1, 1), "{player} {kind}");
            let sent = sent[0];
            assert_eq!((sent.way, sent.status, sent.took_us > 0), (Way::Went, Some(200), true));
            assert_eq!(sent.conversation, got[0].text("conversation_id"));
            let (body, token) = (json(sent.body.as_ref()), stranger.me().token);
            let message = stranger.shape.opened(&body["params"]).unwrap();
            let shown = got[0].message.to_string().replace(&token, "[redacted]");
            assert_eq!(message, serde_json::from_str::<Value>(&shown).unwrap());
            assert!(json(sent.answer.as_ref())["result"].is_object(), "{sent:?}");
        }
    }
    assert!(!of(&all, "P01", "LEAGUE_STANDINGS_UPDATE").is_empty());

    let of_match: Vec<_> =
        all.iter().filter(|letter| letter.match_id.as_deref() == Some("R1M1")).collect();
    let order = of_match.iter().find(|letter| letter.name == "START_MATCH").expect("an order");
    assert_eq!((&*order.peer, order.answer_name.as_deref()), ("REF01", Some("START_MATCH_ACK")));
    assert_eq!(json(order.body.as_ref())["params"]["draw_seed"], "[redacted]");
    let report = of_match.iter().find(|letter| letter.name == "MATCH_RESULT_REPORT").unwrap();
    assert_eq!((report.way, report.answer_name.as_deref()), (Way::Came, Some("MATCH_RESULT_ACK")));
    assert_eq!(json(report.body.as_ref())["params"]["draw_seed"], "[redacted]");
    let transcript = &json(report.body.as_ref())["params"]["transcript"];
    assert!(transcript.as_str().unwrap().starts_with("[left out: the transcript, "));

    let text = format!("{all:?}");
    let key = join_key();
    for secret in tokens.iter().map(String::as_str).chain([ADMIN, &key, "tok_", "prf_"]) {
        assert!(!text.contains(secret), "{secret}");
    }
    stage.close();
    assert_eq!(of(&letters(data.path()), "P01", "LEAGUE_COMPLETED").len(), 1, "it stays");
}

// req: OBS-2, AUTH-3
#[test]
fn what_a_referee_says_after_its_report_is_told_later_and_found() {
    let data = TempDir::new().unwrap();
    let mut stage = Stage::open_in(data.path(), &Plan::players(3));
    stage.seat_referee();
    let silent = |call: &crate::stranger::Call| match call.kind {
        "GAME_OVER" => Say::HangUp,
        _ => Say::Usual,
    };
    let players = [
        Stranger::player_that(Shape::Flat, silent),
        Stranger::player(Shape::V21),
        Stranger::player(Shape::Enveloped),
    ];
    players.iter().for_each(|player| drop(player.register(&stage)));
    stage.whole_league();
    let read = || {
        let view = SqliteView::open(data.path()).unwrap();
        let record = LeagueRecord::read(&view, &league()).unwrap();
        let all: Vec<_> = record.matches.values().collect();
        let post = Post::read(&view, &league(), |_| false, &all).unwrap();
        (record, post)
    };
    let (record, post) = until(read, |(_, post)| post.epilogues.len() == 3);
    stage.close();
    assert_eq!(post.letters, []);
    for record in record.matches.values() {
        let entries = post.epilogue(record).expect("it was told");
        for player in [record.pairing.a, record.pairing.b].map(|id| id.to_string()) {
            let theirs: Vec<_> =
                entries.iter().filter(|entry| entry.peer.as_ref() == Some(&player)).collect();
            let kinds: Vec<_> = theirs.iter().map(|entry| entry.kind).collect();
            let end = if player == "P01" { Kind::Failed } else { Kind::Received };
            assert_eq!(kinds, [Kind::Sent, end], "{player}");
            assert_eq!(theirs[0].name.as_deref(), Some("GAME_OVER"));
            assert!(theirs[0].body.as_ref().unwrap().get().contains("[redacted]"));
        }
    }
    let text = format!("{:?}", post.epilogues);
    assert!(!text.contains("tok_") && !text.contains("prf_"), "{text}");
}

/// What `referee` is answered that tells what was said after an attempt at R1M1.
fn tell(referee: &Stranger, stage: &Stage, attempt: u32, said: &str) -> Reply {
    let entry = json!({"at_us": 1, "kind": "sent", "text": said});
    let epilogue = json!({
        "version": 1, "league": LEAGUE, "match": "R1M1", "attempt": attempt, "rematch": 0,
        "referee": "REF01", "conversation": "conv-own-call", "began": "2026-01-15T10:30:00.000Z",
        "players": [], "entries": [entry],
    });
    let fields = json!({
        "league_id": LEAGUE, "match_id": "R1M1", "attempt": attempt, "game_state": "FINISHED",
        "epilogue": epilogue,
    });
    referee.call(stage.address, ("match_progress", "MATCH_PROGRESS"), fields)
}

// req: OBS-2
#[test]
fn only_the_referee_of_the_result_tells_what_was_said_after_it_and_only_once() {
    let data = TempDir::new().unwrap();
    let stage = Stage::open_in(data.path(), &Plan::players(2));
    let [referee, other] = [Stranger::referee(), Stranger::referee()];
    [&referee, &other].into_iter().for_each(|referee| drop(referee.register(&stage)));
    let players = [Stranger::player(Shape::Flat), Stranger::player(Shape::Flat)];
    players.iter().for_each(|player| drop(player.register(&stage)));
    let order = referee.nth(1, "START_MATCH");
    assert_eq!(tell(&referee, &stage, 1, "early").code(), "E030", "there is no result yet");
    let names = ("report_match_result", "MATCH_RESULT_REPORT");
    referee.call(stage.address, names, nested(&order)).result();
    assert_eq!(tell(&other, &stage, 1, "forged").code(), "E030");
    assert_eq!(tell(&referee, &stage, 2, "of another attempt").code(), "E030");
    for said in ["first", "second"] {
        assert_eq!(tell(&referee, &stage, 1, said).result()["status"], "ACCEPTED");
    }
    stage.whole_league();
    let address = stage.address;
    stage.close();
    let told = || {
        let view = SqliteView::open(data.path()).unwrap();
        let record = LeagueRecord::read(&view, &league()).unwrap();
        let record = record.matches.values().next().unwrap();
        let post = Post::read(&view, &league(), |_| false, &[record]).unwrap();
        let text = post.epilogue(record).expect("it was told")[0].text.clone();
        (post.epilogues.len(), text.unwrap())
    };
    assert_eq!(told(), (1, "first".into()));
    let stage = Stage::reopen_in(data.path(), SECRET, address).unwrap();
    assert_eq!(tell(&referee, &stage, 1, "after a restart").result()["status"], "ACCEPTED");
    stage.close();
    assert_eq!(told(), (2, "first".into()));
}

// req: OBS-2
#[test]
fn what_is_refused_and_what_does_not_arrive_is_there_with_the_reason() {
    let data = TempDir::new().unwrap();
    let mut stage = Stage::open_in(data.path(), &Plan::players(2).with("network_retries", "1"));
    stage.seat_referee();
    let deaf = |call: &crate::stranger::Call| match call.kind {
        "LEAGUE_COMPLETED" => Say::HangUp,
        _ => Say::Usual,
    };
    let players = [Stranger::player_that(Shape::Flat, deaf), Stranger::player(Shape::Flat)];
    let impostor = json!({
        "protocol": "league.v2", "message_type": "LEAGUE_QUERY", "sender": "player:P01",
        "timestamp": "2026-01-15T10:30:00.000Z", "conversation_id": "conv-impostor",
        "auth_token": "hunter2 is wrong", "league_id": LEAGUE, "query_type": "GET_STANDINGS",
    });
    let impostor = json!({"jsonrpc": "2.0", "method": "league_query", "params": impostor, "id": 1});
    players.iter().for_each(|player| drop(player.register(&stage)));
    assert_eq!(stage.send(&impostor).code(), "E012");
    stage.whole_league();
    let failed = |letter: &Exchanged| completed("P01")(letter) && letter.status.is_none();
    let all = letters_with(data.path(), failed);
    assert!(all.iter().find(|letter| failed(letter)).unwrap().wrong.is_some());
    let refused = all.iter().find(|letter| letter.conversation == "conv-impostor").unwrap();
    assert!(refused.wrong.as_deref().unwrap().starts_with("E012: "), "{refused:?}");
    assert_eq!(refused.peer, "unproved player:P01", "it was not P01 who said that");
    let page = rpc::page(stage.address, "GET", "/metrics").body;
    assert!(page.contains("\nleague_letters_total "), "{page}");
    assert!(page.contains("\nleague_letters_dropped_total "), "{page}");
}

#[test]
fn who_asks_again_and_again_how_the_league_is_does_not_fill_the_record() {
    let data = TempDir::new().unwrap();
    let stage = Stage::open_in(data.path(), &Plan::players(2));
    let player = Stranger::player(Shape::Flat);
    player.register(&stage);
    for query in ["GET_LEAGUE", "GET_LEAGUE", "GET_STANDINGS"] {
        let fields = json!({"league_id": LEAGUE, "query_type": query});
        player.call(stage.address, ("league_query", "LEAGUE_QUERY"), fields).result();
    }
    let is_query = |letter: &Exchanged| letter.name == "LEAGUE_QUERY";
    let all = letters_with(data.path(), is_query);
    let asked: Vec<_> = all.iter().filter(|letter| is_query(letter)).collect();
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert!(asked[0].body.as_ref().unwrap().contains("GET_STANDINGS"), "{asked:?}");
}

// req: OBS-2
#[test]
fn what_a_stranger_says_is_not_kept_and_not_taken_for_an_agents_word() {
    let data = TempDir::new().unwrap();
    let stage = Stage::open_in(data.path(), &Plan::players(2));
    let player = Stranger::player(Shape::Flat);
    let own = player.register(&stage).token;
    let ping = |conversation: &str, token: &str, league: &str| {
        let ping = json!({
            "protocol": "league.v2", "message_type": "PING", "sender": "player:P01",
            "timestamp": "2026-01-15T10:30:00.000Z", "conversation_id": conversation,
            "auth_token": token, "league_id": league, "note": "x".repeat(30_000),
        });
        json!({"jsonrpc": "2.0", "method": "ping", "params": ping, "id": 1})
    };
    assert_eq!(stage.send(&ping("conv-lost", &own, "nowhere")).status, 200);
    assert_eq!(stage.send(&ping("conv-stranger", "wrong", LEAGUE)).status, 200);
    assert_eq!(stage.send(&ping("conv-own", &own, LEAGUE)).status, 200);
    let all = letters_with(data.path(), |letter| letter.conversation == "conv-own");
    let of = |conversation: &str| all.iter().find(|letter| letter.conversation == conversation);
    let (stranger, own) = (of("conv-stranger").unwrap(), of("conv-own").unwrap());
    assert_eq!((&*own.peer, &*stranger.peer), ("P01", "unproved player:P01"));
    assert!(own.body.as_deref().unwrap().len() > 30_000 && own.answer.is_some());
    assert_eq!((&stranger.body, &stranger.answer, stranger.status), (&None, &None, Some(200)));
    assert_eq!(stranger.answer_name.as_deref(), Some("PONG"));
    assert_eq!(of("conv-lost"), None, "it concerns no league here");
    stage.close();
}

// req: OBS-2
#[test]
fn old_letters_go_with_the_old_transcripts() {
    let data = TempDir::new().unwrap();
    let mut stage = Stage::open_in(data.path(), &Plan::players(2));
    stage.seat_referee();
    let players = [Stranger::player(Shape::Flat), Stranger::player(Shape::V21)];
    players.iter().for_each(|player| drop(player.register(&stage)));
    stage.whole_league();
    stage.close();
    let count = letters(data.path()).len() as u64;
    assert!(count > 8, "{count}");
    let mut journal = SqlitePruner::open(data.path()).unwrap();
    let young = expire(&mut journal, Timestamp::from_millis(0)).unwrap();
    assert_eq!((young.letters, young.letters_kept), (0, count));
    let later = Timestamp::from_millis(i64::MAX);
    let rehearsed = rehearse(journal.view(), later).unwrap();
    assert_eq!((rehearsed.letters, rehearsed.letters_kept), (count, 0));
    assert_eq!(letters(data.path()).len() as u64, count, "a rehearsal deletes nothing");
    assert_eq!(expire(&mut journal, later).unwrap().letters, count);
    drop(journal);
    assert_eq!(letters(data.path()).len(), 0);
}
