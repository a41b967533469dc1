//! What was said in a match, found again in the record while the manager is at work and after.

use std::path::Path;

use league_core::id::LeagueId;
use league_core::manager::Fact;
use league_core::policy::RuleSet;
use league_core::time::Timestamp;
use league_server::journal::SqliteJournal;
use league_server::journal::sqlite::{CopyError, SqlitePruner, SqliteView};
use league_server::record::{
    Entry, Expired, Found, Kind, LeagueRecord, Transcript, Unpacked, expire, rehearse, unpack,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::rpc::Reply;
use crate::shape::Shape;
use crate::stage::{LEAGUE, Plan, Stage};
use crate::stranger::{Call, Say, Stranger, proof_of};

fn league() -> LeagueId {
    LEAGUE.parse().unwrap()
}

/// One match of a player with `trouble`, and one that does the usual. The manager still runs.
fn played(
    data: &Path,
    plan: &Plan,
    trouble: impl Fn(&Call) -> Say + Send + Sync + 'static,
) -> (Stage, [Stranger; 2]) {
    let mut stage = Stage::open_in(data, plan);
    stage.seat_referee();
    let players = [Stranger::player_that(Shape::Flat, trouble), Stranger::player(Shape::V21)];
    players.iter().for_each(|player| drop(player.register(&stage)));
    stage.whole_league();
    (stage, players)
}

fn plan() -> Plan {
    Plan::players(2).under(RuleSet::V21).with("choice_backoff", "fixed 20ms")
}

/// The record in `data` as somebody else sees it.
fn seen(data: &Path) -> (SqliteView, LeagueRecord) {
    let view = SqliteView::open(data).expect("a reader needs no lock");
    let record = LeagueRecord::read(&view, &league()).unwrap();
    (view, record)
}

fn found(data: &Path) -> Found {
    let (view, record) = seen(data);
    let only = record.matches.values().next().expect("there is a match");
    record.transcript(&view, only).unwrap()
}

fn transcript(data: &Path) -> Transcript {
    let found = found(data);
    let Found::Ours(transcript) = found else { panic!("{found:?}") };
    *transcript
}

fn maybe(call: &Call) -> Say {
    if call.kind != "CHOOSE_PARITY_CALL" {
        return Say::Usual;
    }
    let fields = json!({"match_id": call.message["match_id"], "parity_choice": "maybe"});
    Say::Message("CHOOSE_PARITY_RESPONSE", fields)
}

fn of<'a>(transcript: &'a Transcript, kind: Kind, peer: &str) -> Vec<&'a Entry> {
    let is_it = |entry: &&Entry| entry.kind == kind && entry.peer.as_deref() == Some(peer);
    transcript.entries.iter().filter(is_it).collect()
}

fn body(entry: &Entry) -> Value {
    serde_json::from_str(entry.body.as_ref().expect("a body").get()).unwrap()
}

// req: OBS-2
#[test]
fn every_message_of_a_lost_match_is_there_with_its_time_and_the_reason() {
    let data = TempDir::new().unwrap();
    let (stage, _players) = played(data.path(), &plan(), maybe);
    let transcript = transcript(data.path());
    let names = |kind| -> Vec<_> {
        of(&transcript, kind, "P01").iter().map(|e| e.name.clone().unwrap_or_default()).collect()
    };
    let sent = names(Kind::Sent);
    assert_eq!(sent[0], "GAME_INVITATION");
    assert_eq!(sent.iter().filter(|name| *name == "CHOOSE_PARITY_CALL").count(), 3, "{sent:?}");
    assert!(sent.contains(&"GAME_ERROR".into()), "{sent:?}");
    let events = names(Kind::Event);
    assert_eq!(events.iter().filter(|name| *name == "refused").count(), 2, "{events:?}");
    assert_eq!(events.last().unwrap(), "lost");
    let answers = of(&transcript, Kind::Received, "P01");
    let wrong: Vec<_> = answers.iter().filter(|entry| entry.text.is_some()).collect();
    assert_eq!(wrong.len(), 3);
    for entry in wrong {
        assert!(body(entry).to_string().contains("maybe"));
        assert!(entry.text.as_deref().unwrap().contains("maybe"), "{entry:?}");
        assert_eq!(entry.status, Some(200));
        let question = transcript.entries.iter().find(|e| e.call == entry.call).unwrap();
        assert_eq!(question.kind, Kind::Sent);
        let took = entry.took_us.unwrap();
        assert!(took > 0 && entry.at_us >= question.at_us + took - 1_000, "{entry:?}");
    }
    let times: Vec<_> = transcript.entries.iter().map(|entry| entry.at_us).collect();
    assert!(times.is_sorted(), "{times:?}");
    stage.close();
    assert!(matches!(found(data.path()), Found::Ours(_)), "it is there without a manager too");
}

// req: AUTH-3
#[test]
fn no_token_and_no_proof_is_in_the_record() {
    let data = TempDir::new().unwrap();
    // Whoever echoes the proof that it was shown, and adds its own where it does not belong.
    let (stage, players) = played(data.path(), &plan(), |call| {
        if call.kind != "CHOOSE_PARITY_CALL" {
            return Say::Usual;
        }
        Say::Body(format!("this is not JSON: {}", call.message))
    });
    let (view, record) = seen(data.path());
    let only = record.matches.values().next().unwrap();
    let (_, seq, recorded) = only.result.as_ref().unwrap();
    let stored = view.attachment(&league(), *seq).unwrap().unwrap();
    let Unpacked::Whole(json) = unpack(&stored.bytes) else { panic!("packed by us") };
    assert!(stored.bytes.len() < json.len() / 2, "{} of {}", stored.bytes.len(), json.len());
    let text = String::from_utf8(json).unwrap();
    assert!(text.contains("this is not JSON"), "{text}");
    assert!(text.contains("[redacted]"), "{text}");
    for player in &players {
        let me = player.me();
        for secret in [me.token.clone(), proof_of(&me, only.match_id)] {
            assert!(!text.contains(&secret), "{secret}");
        }
    }
    assert!(!text.contains("tok_") && !text.contains("prf_"), "{text}");
    assert_eq!(recorded.transcript, Some(stored.hash));
    drop(stage);
}

#[test]
fn silence_is_in_the_record_with_every_window() {
    let data = TempDir::new().unwrap();
    let plan = plan().with("choice_timeout", "250ms").with("invitation_timeout", "500ms");
    let (_stage, _players) = played(data.path(), &plan, |call| match call.kind {
        "CHOOSE_PARITY_CALL" => Say::Nothing,
        _ => Say::Usual,
    });
    let transcript = transcript(data.path());
    let events = of(&transcript, Kind::Event, "P01");
    let texts: Vec<_> = events.iter().filter_map(|entry| entry.text.as_deref()).collect();
    for expected in ["window 1 is open for 0.", "window 1 closed: no answer", "window 2 is open"] {
        assert!(texts.iter().any(|text| text.contains(expected)), "{expected}: {texts:?}");
    }
    assert_eq!(events.last().unwrap().name.as_deref(), Some("lost"));
    assert!(texts.last().unwrap().contains("no answer in time"), "{texts:?}");
}

#[test]
fn a_foreign_referee_without_a_transcript_has_none() {
    let data = TempDir::new().unwrap();
    let stage = Stage::open_in(data.path(), &Plan::players(2));
    let referee = Stranger::referee();
    referee.register(&stage);
    let players = [Stranger::player(Shape::Flat), Stranger::player(Shape::Flat)];
    players.iter().for_each(|player| drop(player.register(&stage)));
    let order = referee.nth(1, "START_MATCH");
    let (a, b) = (&order.message["players"][0]["player_id"], &order.message["players"][1]);
    let fields = json!({
        "league_id": LEAGUE,
        "match_id": order.message["match_id"],
        "round_id": order.message["round_id"],
        "result": {
            "winner": a,
            "score": {a.as_str().unwrap(): 3, b["player_id"].as_str().unwrap(): 0},
            "details": {
                "drawn_number": 8,
                "choices": {a.as_str().unwrap(): "even", b["player_id"].as_str().unwrap(): "odd"},
            },
        },
    });
    let reply: Reply =
        referee.call(stage.address, ("report_match_result", "MATCH_RESULT_REPORT"), fields);
    assert_eq!(reply.status, 200, "{reply:?}");
    stage.whole_league();
    assert!(matches!(found(data.path()), Found::None));
}

// req: OBS-3
#[test]
fn a_backup_is_made_while_the_manager_runs_and_holds_everything() {
    let data = TempDir::new().unwrap();
    let (stage, _players) = played(data.path(), &plan(), maybe);
    let other = TempDir::new().unwrap();
    let file = other.path().join("league.db");
    let (view, record) = seen(data.path());
    view.copy_to(&file).unwrap();
    assert!(matches!(view.copy_to(&file), Err(CopyError::Exists { .. })));
    let (_, copied) = seen(other.path());
    assert_eq!(copied.matches.len(), record.matches.len());
    assert!(copied.completed);
    assert!(matches!(found(other.path()), Found::Ours(_)));
    assert_eq!(std::fs::read_dir(other.path()).unwrap().count(), 1, "nothing else is left there");
    drop(view);
    stage.close();
    drop(SqliteJournal::open(other.path()).expect("a manager can take it up"));
}

#[test]
fn old_transcripts_go_and_everything_else_stays() {
    let data = TempDir::new().unwrap();
    let (stage, _players) = played(data.path(), &plan(), maybe);
    let mut beside = SqlitePruner::open(data.path()).unwrap();
    assert_eq!(expire(&mut beside, Timestamp::from_millis(0)).unwrap().transcripts, 0);
    assert!(!beside.compact().unwrap(), "a manager is at work");
    drop(beside);
    let recorded_at = |fact: &Fact| matches!(fact, Fact::ResultRecorded(_));
    let at = stage.events_until(recorded_at).pop().unwrap().at;
    stage.close();
    let before = seen(data.path()).1;
    let mut journal = SqlitePruner::open(data.path()).unwrap();
    let kept = expire(&mut journal, at).unwrap();
    assert_eq!((kept.transcripts, kept.bytes, kept.kept), (0, 0, 1), "it is not older than itself");
    let later = Timestamp::from_millis(at.as_millis() + 1);
    let rehearsed = rehearse(journal.view(), later).unwrap();
    assert_eq!((rehearsed.transcripts, rehearsed.kept), (1, 0));
    assert!(rehearsed.bytes > 100);
    assert!(matches!(found(data.path()), Found::Ours(_)), "a rehearsal deletes nothing");
    let expired = expire(&mut journal, later).unwrap();
    assert_eq!(expired, Expired { is_smaller: true, ..rehearsed });
    drop(journal);
    assert!(matches!(found(data.path()), Found::Expired));
    let (_, after) = seen(data.path());
    let hash = |record: &LeagueRecord| {
        record.matches.values().next().unwrap().result.as_ref().unwrap().2.transcript
    };
    assert_eq!((hash(&after), after.completed), (hash(&before), true));
}

#[test]
fn looking_makes_nothing() {
    let data = TempDir::new().unwrap();
    assert!(SqliteView::open(data.path()).is_err());
    assert!(SqlitePruner::open(&data.path().join("nowhere")).is_err());
    assert_eq!(std::fs::read_dir(data.path()).unwrap().count(), 0);
}

/// Somebody who asks why its choice did not count finds it beside the answer.
#[test]
fn an_answer_that_did_not_count_says_so_in_the_record() {
    for (fields, expected) in [
        (json!({"match_id": "R1M1", "auth_token": "tok_no"}), "refused as unproved"),
        (json!({"match_id": "R2M2"}), "`result.match_id`: expected R1M1"),
    ] {
        let data = TempDir::new().unwrap();
        let plan = plan().with("choice_timeout", "250ms");
        let (_stage, _players) = played(data.path(), &plan, move |call| {
            if call.kind != "CHOOSE_PARITY_CALL" {
                return Say::Usual;
            }
            let mut fields = fields.clone();
            fields["parity_choice"] = json!("odd");
            Say::Message("CHOOSE_PARITY_RESPONSE", fields)
        });
        let transcript = transcript(data.path());
        let answers = of(&transcript, Kind::Received, "P01");
        let wrong: Vec<_> = answers.iter().filter_map(|entry| entry.text.as_deref()).collect();
        assert_eq!(wrong.len(), 3, "{wrong:?}");
        assert!(wrong.iter().all(|text| text.contains(expected)), "{wrong:?}");
    }
}

/// The documents allow any result as an acknowledgement, so there is nothing to blame.
#[test]
fn a_receipt_is_no_error_in_the_record() {
    let data = TempDir::new().unwrap();
    let plan = plan().with("choice_timeout", "250ms");
    let (_stage, _players) = played(data.path(), &plan, |call| match call.kind {
        "CHOOSE_PARITY_CALL" => Say::Result(json!({})),
        _ => Say::Usual,
    });
    let transcript = transcript(data.path());
    let answers = of(&transcript, Kind::Received, "P01");
    let texts: Vec<_> = answers.iter().filter_map(|entry| entry.text.as_deref()).collect();
    assert_eq!(texts.len(), 3, "{texts:?}");
    assert!(texts.iter().all(|text| text.starts_with("a receipt; ")), "{texts:?}");
    let lost = of(&transcript, Kind::Event, "P01").last().unwrap().text.clone().unwrap();
    assert!(lost.contains("only a receipt came, and no answer"), "{lost}");
}
