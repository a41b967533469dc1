//! `league spar`: agents of ours and of others practise, and are told what happened and why.

use std::path::Path;

use league_wire::Dialect;
use serde_json::Value;

use crate::dialects::{Language, can_run};
use crate::program::Place;

/// What `league spar --json` says of an agent that it starts.
fn spar(start: &str, more: &str) -> (Option<i32>, Value) {
    let place = Place::new();
    let mut command = place.command("spar --json");
    command.args(["--start", start]).args(more.split_whitespace());
    let output = command.output().expect("the program runs");
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    );
    let document = serde_json::from_str(&out);
    (output.status.code(), document.unwrap_or_else(|_| panic!("{out}\n{err}")))
}

/// The command that starts our own player.
fn ours(strategy: &str) -> String {
    let program = env!("CARGO_BIN_EXE_league");
    format!(
        "{program} player --manager {{manager}} --listen 127.0.0.1:0 --dialect {{dialect}} \
         --strategy {strategy}"
    )
}

/// The command that starts a player by somebody else.
fn theirs() -> String {
    let agent = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/agents/player.py");
    format!(
        "PYTHONDONTWRITEBYTECODE=1 exec python3 {} --manager {{manager}} --dialect {{dialect}} \
         --listen 127.0.0.1:0",
        agent.display()
    )
}

#[test]
fn our_own_player_of_every_dialect_has_nothing_to_fix() {
    for dialect in Dialect::ALL {
        let more = format!("--dialect {dialect} --against even,odd,random --matches 4");
        let (code, told) = spar(&ours("random"), &more);
        assert_eq!(code, Some(0), "{told:#}");
        assert_eq!((&told["dialect"], &told["matches"]), (&dialect.name().into(), &4.into()));
        assert_eq!(told["technical_losses"], 0, "{told:#}");
        let counted = ["won", "drawn", "lost"].map(|word| told[word].as_u64().unwrap());
        assert_eq!(counted.iter().sum::<u64>(), 4, "{told:#}");
        assert_eq!(told["response_ms"]["count"], 8, "an invitation and a choice each: {told:#}");
    }
}

#[test]
fn a_player_by_somebody_else_practises_in_every_dialect() {
    if !can_run(&[Language::Python]) {
        return;
    }
    in_every_dialect(|dialect| {
        let (code, told) = spar(&theirs(), &format!("--dialect {dialect}"));
        assert_eq!((code, &told["matches"]), (Some(0), &4.into()), "{dialect}: {told:#}");
    });
}

/// Every dialect at the same time: most of it is waiting.
fn in_every_dialect(check: impl Fn(Dialect) + Sync) {
    std::thread::scope(|scope| {
        for dialect in Dialect::ALL {
            let check = &check;
            scope.spawn(move || check(dialect));
        }
    });
}

const FAULTS: &str = "--against random --faults slow,duplicates,late-retries,drops";

#[test]
fn our_own_player_of_every_dialect_bears_every_fault() {
    in_every_dialect(|dialect| {
        let more = format!("{FAULTS} --dialect {dialect} --set choice_timeout=2s");
        let (code, told) = spar(&ours("random"), &more);
        assert_eq!((code, &told["matches"]), (Some(0), &4.into()), "{dialect}: {told:#}");
        assert_eq!((&told["technical_losses"], &told["not_counted"]), (&0.into(), &0.into()));
        let faults = told["played"].as_array().unwrap().iter();
        let names = ["slow", "duplicates", "late-retries", "drops"];
        assert!(faults.clone().map(|one| &one["fault"]).eq(names), "{told:#}");
        assert!(faults.map(|one| one["faults"].as_u64()).all(|count| count > Some(0)), "{told:#}");
    });
}

#[test]
fn a_player_by_somebody_else_bears_every_fault() {
    if !can_run(&[Language::Python]) {
        return;
    }
    in_every_dialect(|dialect| {
        // Document 004 has no code for a broken connection, and this player knows no other codes.
        let is_payload = dialect == Dialect::Payload;
        let faults = if is_payload { FAULTS.trim_end_matches(",drops") } else { FAULTS };
        let more = format!("{faults} --dialect {dialect} --set choice_timeout=4s");
        let (_, told) = spar(&theirs(), &more);
        assert_eq!(told["technical_losses"], 0, "{dialect}: {told:#}");
        // It tosses its coin whenever it is asked, which is what it may be told.
        for fix in told["to_fix"].as_array().unwrap() {
            let sentence = fix["sentence"].as_str().unwrap();
            assert!(sentence.starts_with("asked twice for the same choice"), "{sentence}");
        }
    });
}

#[test]
fn every_result_comes_with_its_reason() {
    let (code, told) = spar(&ours("even"), "--against odd,even,refuser --bytes");
    assert_eq!(code, Some(0), "{told:#}");
    let [odd, even, refuser] = [0, 1, 2].map(|index| &told["played"][index]);
    assert_eq!((&odd["choice"], &odd["opponent_choice"]), (&"even".into(), &"odd".into()));
    let number = odd["drawn_number"].as_u64().unwrap();
    let (result, winner) = if number % 2 == 0 { ("won", "P01") } else { ("lost", "P02") };
    assert_eq!(odd["result"], result);
    let why = odd["why"].as_str().unwrap();
    assert!(why.starts_with(winner) && why.contains(&format!("number was {number}")), "{why}");
    assert_eq!(even["result"], "drawn");
    assert_eq!(refuser["result"], "won");
    let why = refuser["why"].as_str().unwrap();
    assert!(why.contains("this guest refuses to play"), "{why}");
    let entries = odd["transcript"]["entries"].as_array().unwrap();
    let of = |name: &str| {
        let named = |entry: &&Value| entry["name"] == name && entry["peer"] == "P01";
        entries.iter().find(named).unwrap_or_else(|| panic!("{name}: {odd:#}"))
    };
    assert_eq!(of("CHOOSE_PARITY_RESPONSE")["body"]["result"]["parity_choice"], "even");
    assert_eq!(of("GAME_OVER")["kind"], "sent", "what follows the report is there as well");
}

#[test]
fn what_loses_a_match_is_told_with_the_reason() {
    let (code, told) = spar(&ours("garbage"), "--against even --time-scale 0.05 --matches 2");
    assert_eq!((code, &told["technical_losses"]), (Some(1), &2.into()), "{told:#}");
    let fix = &told["to_fix"][0];
    let sentence = fix["sentence"].as_str().unwrap();
    assert!(sentence.contains("not a JSON-RPC response"), "{sentence}");
    assert_eq!(told["to_fix"].as_array().unwrap().len(), 1, "{told:#}");
    assert_eq!(fix["matches"], serde_json::json!([1, 2]));
}
