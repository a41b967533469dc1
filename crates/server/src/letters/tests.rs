//! What the keeper makes of notes.

use std::sync::mpsc;
use std::time::Duration;

use bytes::Bytes;
use league_agent::ambient;
use league_agent::caller::Caller;
use league_agent::exchange::{Exchange, new_conversation};
use league_wire::message::Ping;
use league_wire::{AuthToken, Dialect, Envelope, Letter, Message, Sender};

use super::*;

fn league() -> LeagueId {
    "l".parse().unwrap()
}

fn part(body: Body, hidden: &[&str]) -> Part {
    Part {
        name: "PING",
        conversation: "conv-1".parse().unwrap(),
        match_id: Some("R1M1".parse().unwrap()),
        id: None,
        stamped: ambient::now(),
        bytes: 77,
        body,
        hidden: hidden.iter().map(ToString::to_string).collect(),
    }
}

fn note(letters: Vec<Part>, answer: Answer) -> Note {
    Note {
        league: league(),
        at: ambient::now(),
        took: Duration::from_micros(1_500),
        way: Way::Came,
        peer: Peer::Agent("P01".parse().unwrap()),
        dialect: Dialect::Flat,
        letters,
        answer,
    }
}

fn own(body: &'static str) -> Body {
    Body::Own(Bytes::from_static(body.as_bytes()))
}

fn failed() -> Answer {
    Answer::Failed("no answer".into())
}

/// What is kept of `notes` in `room`.
fn kept(room: Room, notes: Vec<Note>) -> Vec<Bundle> {
    let (store, stored) = mpsc::sync_channel(64);
    let keeper = Keeper::start(room, move |bundle| store.send(bundle).unwrap()).unwrap();
    let letters = keeper.letters();
    notes.into_iter().for_each(|note| letters.note(note));
    drop(keeper);
    stored.iter().collect()
}

fn opened(notes: Vec<Note>) -> Vec<Exchanged> {
    let bundles = kept(Room::default(), notes);
    bundles.iter().flat_map(|bundle| open(&bundle.bytes, |_| true).unwrap()).collect()
}

// req: OBS-2, AUTH-3
#[test]
fn what_is_noted_comes_back_without_secrets() {
    let asked = own(r#"{"auth_token":"tok_1234","join_code":"5eed","x":"y"}"#);
    let answer = r#"{"jsonrpc":"2.0","result":{"message_type":"ACK"},"id":1}"#;
    let came = Answer::came(200, answer.into());
    let why = Answer::Failed("nobody at prf_99".into());
    let all = opened(vec![
        note(vec![part(asked, &["5eed"])], came),
        note(vec![part(own("{}"), &[])], why),
    ]);
    let [first, second] = &all[..] else { panic!("{all:?}") };
    let expected = r#"{"auth_token":"[redacted]","join_code":"[redacted]","x":"y"}"#;
    assert_eq!((first.body.as_deref(), first.answer.as_deref()), (Some(expected), Some(answer)));
    assert_eq!((first.answer_name.as_deref(), first.status), (Some("ACK"), Some(200)));
    assert_eq!((first.took_us, first.bytes, &*first.conversation), (1_500, 77, "conv-1"));
    assert_eq!((first.match_id.as_deref(), &*first.peer), (Some("R1M1"), "P01"));
    assert_eq!(second.wrong.as_deref(), Some("nobody at [redacted]"));
    assert_eq!((second.status, second.answer.as_deref()), (None, None));
}

#[test]
fn a_secret_that_is_written_with_escapes_is_not_kept_either() {
    for body in [r#"{"join_code":"\u0035eed"}"#, r#"{"join_code":"5eed","note":"\u0041"}"#] {
        let all = opened(vec![note(vec![part(own(body), &["5eed"])], failed())]);
        let kept = all[0].body.as_deref().unwrap();
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(kept).unwrap()["join_code"],
            "[redacted]"
        );
    }
}

#[test]
fn each_letter_of_a_batch_has_its_own_answer() {
    let answers = r#"[{"jsonrpc":"2.0","error":{"code":-32601,"message":"no"},"id":2},
        {"jsonrpc":"2.0","result":{},"id":1}]"#;
    let numbered = |id: u64| Part { id: Some(id.into()), ..part(own("{}"), &[]) };
    let parts = vec![numbered(1), numbered(2), numbered(3)];
    let all = opened(vec![note(parts, Answer::came(200, answers.into()))]);
    let told: Vec<_> =
        all.iter().map(|letter| (letter.answer.is_some(), letter.wrong.as_deref())).collect();
    let silent = "not answered, although others of the same call were";
    assert_eq!(told, [(true, None), (true, Some("-32601: no")), (false, Some(silent))]);
}

// req: OBS-2
#[test]
fn an_answer_is_known_by_its_name_in_every_dialect() {
    let answers = [
        r#"{"jsonrpc":"2.0","result":{"protocol":"league.v2","message_type":"ACK"},"id":1}"#,
        r#"{"jsonrpc":"2.0","result":{"envelope":{"message_type":"ACK"},"payload":{}},"id":1}"#,
        r#"{"jsonrpc":"2.0","result":{"message_id":"m","type":"ACK","payload":{}},"id":1}"#,
        r#"{"jsonrpc":"2.0","result":{"content":[{"type":"text","text":"{\"message_type\":\"ACK\"}"}]},"id":1}"#,
        r#"{"jsonrpc":"2.0","result":{"structuredContent":{"message_type":"ACK"}},"id":1}"#,
        r#"{"jsonrpc":"2.0","error":{"code":-1,"message":"no","data":{"message_type":"ACK"}},"id":1}"#,
    ];
    for answer in answers {
        let came = Answer::came(200, answer.into());
        let all = opened(vec![note(vec![part(own("{}"), &[])], came)]);
        assert_eq!(all[0].answer_name.as_deref(), Some("ACK"), "{answer}");
        let came = Answer::came(200, answer.replace("ACK", "tok_player_P01_aa").into());
        let all = opened(vec![note(vec![part(own("{}"), &[])], came)]);
        assert_eq!(all[0].answer_name.as_deref(), Some("[redacted]"), "{answer}");
    }
}

#[test]
fn an_answer_to_a_batch_that_is_no_list_is_stored_once_and_never_too_long() {
    let parts = || vec![part(own("{}"), &[]); 100];
    let text = format!("{{\"text\":\"{}\"}}", "x".repeat(60_000));
    let all = opened(vec![note(parts(), Answer::came(200, text.clone().into()))]);
    assert_eq!(all.len(), 100);
    assert_eq!(all[0].answer.as_ref(), Some(&text));
    assert!(all[1..].iter().all(|letter| letter.answer.is_none()));
    assert!(all[1].wrong.as_deref().unwrap().contains("with its first letter"), "{:?}", all[1]);
    let all = opened(vec![note(parts(), Answer::came(200, vec![0xff; 60_000].into()))]);
    assert_eq!(all[0].answer.as_deref(), Some("\"[left out: 60000 bytes]\""));
    assert_eq!(all[0].answer_bytes, 60_000);
}

#[test]
fn what_many_get_is_stored_once_and_comes_back_for_each() {
    let exchange = Exchange::new(Caller::new("test/0", Duration::from_secs(1)));
    let write = |token: &str| {
        let envelope = Envelope {
            sender: Sender::LeagueManager(None),
            timestamp: ambient::now(),
            conversation: new_conversation("mgr"),
            token: Some(AuthToken::new(token)),
            league_id: Some(league()),
        };
        let letter = Letter { envelope, message: Message::Ping(Ping {}) };
        let (id, body) = exchange.encode(Dialect::Flat, &letter);
        (letter.envelope, id, String::from_utf8(body).unwrap())
    };
    let tokens = ["tok_player_P01_aa", "tok_player_P02_bb"];
    let letters = tokens.map(write);
    let (envelope, id, body) = &letters[0];
    let template = Arc::new(Template::of(body.as_bytes(), id, envelope).unwrap());
    let notes = letters.iter().map(|(envelope, id, _)| {
        let (conversation, stamped) = (envelope.conversation.clone(), envelope.timestamp);
        let shared = Body::Shared(template.clone());
        let part = Part { conversation, stamped, id: Some(id.clone()), ..part(shared, &[]) };
        note(vec![part], failed())
    });
    let all = opened(notes.collect());
    for ((_, _, body), (letter, token)) in letters.iter().zip(all.iter().zip(tokens)) {
        assert_eq!(letter.body.as_deref(), Some(&*body.replace(token, "[redacted]")));
    }
}

// req: OBS-2
#[test]
fn what_finds_no_room_is_dropped_and_counted() {
    let room = Room { letters: 2, ..Room::default() };
    let before = Meter::of(Component::Manager).letters_dropped.get();
    let many = (0..40).map(|_| note(vec![part(own("{}"), &[])], failed()));
    let bundles = kept(room, many.collect());
    let count: u64 = bundles.iter().map(|bundle| bundle.count).sum();
    let dropped: u64 = bundles.iter().map(|bundle| bundle.dropped).sum();
    assert_eq!(count + dropped, 40);
    assert!(dropped >= 30, "{dropped}");
    assert!(Meter::of(Component::Manager).letters_dropped.get() >= before + dropped);
}

/// How many letters of `peer` are in `bundles`.
fn of(bundles: &[Bundle], peer: &str) -> usize {
    let open = |bundle: &Bundle| open(&bundle.bytes, |letter| letter.peer == peer).unwrap().len();
    bundles.iter().filter(|bundle| bundle.count > 0).map(open).sum()
}

fn by(peer: Peer) -> Note {
    Note { peer, ..note(vec![part(own("{}"), &[])], failed()) }
}

// req: OBS-2
#[test]
fn who_floods_the_tray_gives_way_to_others() {
    let tray = Tray::new(Room { bytes: 16_384, ..Room::default() });
    let agent = |id: &str| Peer::Agent(id.parse().unwrap());
    (0..100).for_each(|_| tray.put(by(agent("P01"))));
    (2..=9).for_each(|number| tray.put(by(agent(&format!("P0{number}")))));
    (0..100).for_each(|_| tray.put(by(Peer::Unproved("player:P01".into()))));
    tray.put(by(agent("P02")));
    let waiting = tray.take().unwrap();
    let of = |peer: &Peer| waiting.notes.iter().filter(|note| note.peer == *peer).count();
    assert_eq!(of(&agent("P02")), 2);
    (3..=9).for_each(|number| assert_eq!(of(&agent(&format!("P0{number}"))), 1, "P0{number}"));
    assert!(of(&agent("P01")) > 4, "the flood is kept as far as there is room");
    let dropped: u64 = waiting.dropped.values().sum();
    assert_eq!(waiting.notes.len() as u64 + dropped, 100 + 8 + 100 + 1);
    assert_eq!(waiting.bytes, waiting.notes.iter().map(Note::bytes).sum::<usize>());
}

// req: OBS-2
#[test]
fn what_is_stored_in_an_hour_is_bounded_and_nobody_takes_all_of_it() {
    let stranger = || Peer::Unproved("player:P01".into());
    let room = Room { hour_bytes: 128 * 1_600, ..Room::default() };
    let bundles = kept(room, (0..20).map(|_| by(stranger())).collect());
    assert_eq!(of(&bundles, "unproved player:P01"), 3, "three fit into the part of all strangers");
    assert_eq!(bundles.iter().map(|bundle| bundle.dropped).sum::<u64>(), 17);

    let mut hour = hour::Hour::of(32_000);
    let agent = |id: &str| by(Peer::Agent(id.parse().unwrap()));
    let stored = |bytes: usize| {
        let (now, league) = (ambient::now(), league());
        let bytes = vec![0; bytes];
        Bundle { league, first: now, last: now, count: 1, dropped: 0, bytes }
    };
    assert!((0..20).all(|_| hour.admits(&agent("P01"))), "there is enough");
    hour.count(&stored(16_000));
    assert!(!hour.admits(&agent("P01")) && hour.admits(&agent("P02")), "it is for the others");
    hour.count(&stored(16_000));
    assert!(!hour.admits(&agent("P03")), "there is none left");
}

#[test]
fn what_is_damaged_is_told_apart() {
    let bundles = kept(Room::default(), vec![note(vec![part(own("{}"), &[])], failed())]);
    let bytes = &bundles[0].bytes;
    assert_eq!(open(&bytes[..bytes.len() / 2], |_| true), Err(Damaged));
    assert_eq!(open(&[&[9], &bytes[1..]].concat(), |_| true), Err(Damaged));
    assert_eq!(open(b"", |_| true), Err(Damaged));
}
