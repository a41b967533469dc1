//! Who is believed: players, and those who pretend to be one.

use std::time::Duration;

use league_core::seat::Seat;
use league_wire::dialect::encode_request;
use league_wire::message::ErrorReport;
use league_wire::{AuthToken, Code, Message, MessageType, MoveValue, Parity};

use super::bout::{Bout, HURRIED, Setup};
use super::guest::Say;
use super::notebook::Ear;
use crate::bench::Bench;
use crate::case::{Case, Lane, Level};
use crate::limits::{ORDER_TIME, REPORT_TIME, WORST_TIME};
use crate::verdict::{Halt, Outcome};

const CASE: Case = Case {
    lane: Lane::Together,
    section: "docs/protocol/proofs.md, Proofs",
    requirements: &["AUTH-2"],
    ..Case::BLANK
};

pub(super) static CASES: &[Case] = &[
    Case {
        id: "referee.trust.wrong-token",
        title: "A choice with a wrong token does not count, and costs nothing",
        level: Level::Should,
        sent: "START_MATCH; player B first answers with a wrong token, then with the right one",
        wanted: "a match that was played, with B's choice",
        why: "What does not prove itself may be anybody's, and is charged to nobody.",
        run: |bench| Box::pin(wrong_token(bench)),
        ..CASE
    },
    Case {
        id: "referee.trust.impostor",
        title: "A choice that somebody else sends is refused",
        requirements: &["AUTH-2", "WIRE-9"],
        sent: "START_MATCH; while player A thinks, a choice in its name with a made-up proof",
        wanted: "an error for the impostor, and A's own choice in the report",
        why: "Otherwise anybody could choose for everybody.",
        run: |bench| Box::pin(impostor(bench)),
        ..CASE
    },
    Case {
        id: "referee.trust.answer-apart",
        title: "An answer that comes as a call of its own counts",
        level: Level::Should,
        requirements: &["WIRE-9"],
        section: "docs/protocol/league-v2.md, Answers and errors",
        sent: "START_MATCH; player B answers the call with ACK and posts its choice",
        wanted: "a match that was played, with B's choice",
        why: "The documents allow both ways to answer.",
        run: |bench| Box::pin(answer_apart(bench)),
        ..CASE
    },
    Case {
        id: "referee.trust.stray-answer",
        title: "A choice for a match that is not running is refused",
        level: Level::Should,
        requirements: &["MATCH-5"],
        section: "docs/protocol/league-v2.md, Error codes",
        sent: "CHOOSE_PARITY_RESPONSE for a match that was never ordered",
        wanted: "an error, G003",
        why: "Whoever answers too late should know it.",
        run: |bench| Box::pin(stray_answer(bench)),
        ..CASE
    },
];

/// What the report says that the player at `seat` chose.
async fn reported(bout: &Bout<'_>, seat: Seat, limit: Duration) -> Result<Option<Parity>, Halt> {
    let Some((report, _)) = bout.report(limit).await? else {
        return Err(Halt::skip("what it builds on fails: see referee.report.comes"));
    };
    let player = report.players.get(&bout.guests[seat].id);
    Ok(player.and_then(|player| player.line.choice.as_ref()).and_then(|choice| match choice {
        MoveValue::Text(word) => Parity::find(word),
        MoveValue::Number(_) => None,
    }))
}

async fn wrong_token(bench: &Bench) -> Outcome {
    let mut setup = Setup { rules: HURRIED, ..Setup::default() };
    setup.manners.b.choices = vec![Say::OtherToken, Say::Well];
    let bout = Bout::new(bench, setup).await?;
    bout.founded().await?;
    bout.start().await?;
    let said = reported(&bout, Seat::B, WORST_TIME).await?;
    let calls = bout.notes(Seat::B, MessageType::ChooseParityCall).len();
    if said == Some(Parity::Odd) && calls > 1 {
        return Ok(());
    }
    let sentence = match said {
        Some(_) => "it counted a choice with a wrong token",
        None => "a choice with a wrong token cost the player the match",
    };
    let change = "take an answer with another `auth_token` than `reply_proof` for no answer at all";
    Err(Halt::fail(sentence, change))
}

async fn impostor(bench: &Bench) -> Outcome {
    let mut setup = Setup::default();
    setup.manners.a.choices = vec![Say::After(Duration::from_millis(1_200))];
    let bout = Bout::new(bench, setup).await?;
    bout.founded().await?;
    bout.start().await?;
    let (ear, kind) = (Ear::Player(Seat::A), MessageType::ChooseParityCall);
    bout.notebook.hears(ear, kind, 1, ORDER_TIME).await;
    let Some(call) = bout.notes(Seat::A, kind).into_iter().next().and_then(|n| n.letter.ok())
    else {
        return Err(Halt::skip("what it builds on fails: see referee.match.asks-both"));
    };
    let guest = &bout.guests.a;
    let mut lie = guest.letter(&call, bout.match_id, guest.choice(bout.match_id));
    lie.envelope.token = Some(AuthToken::new(&format!("prf_{}", "00".repeat(32))));
    if let Message::ChooseParityResponse(response) = &mut lie.message {
        (response.choice, response.nonce, response.choice_proof) = (Parity::Odd, None, None);
    }
    let body = encode_request(bench.dialect(), bench.next_id(), &lie);
    let asked = bench.ask_bytes(body.into(), ORDER_TIME).await;
    let report = ErrorReport::new(Code::E012, "auth_token is not the proof of this match");
    let ideal = bench.from_agent(Message::GameError(report));
    let refused = asked.refused(&ideal)?.is_some();
    if reported(&bout, Seat::A, REPORT_TIME).await? != Some(Parity::Even) {
        let sentence = "the impostor's choice was taken for the player's";
        return Err(Halt::fail(sentence, "compare `auth_token` with the player's `reply_proof`"));
    }
    if refused {
        return Ok(());
    }
    Err(Halt::fail_with("the impostor was not refused", "answer with", asked.ideal(&ideal)))
}

async fn answer_apart(bench: &Bench) -> Outcome {
    let mut setup = Setup { rules: HURRIED, ..Setup::default() };
    setup.manners.b.choices = vec![Say::Apart];
    let bout = Bout::new(bench, setup).await?;
    bout.founded().await?;
    bout.start().await?;
    if reported(&bout, Seat::B, WORST_TIME).await? == Some(Parity::Odd) {
        return Ok(());
    }
    Err(Halt::fail(
        "a choice that was posted to the referee did not count",
        "take CHOOSE_PARITY_RESPONSE as a call at your endpoint, with the player's `reply_proof`",
    ))
}

async fn stray_answer(bench: &Bench) -> Outcome {
    Bout::new(bench, Setup::default()).await?.start().await?;
    let bout = Bout::new(bench, Setup::default()).await?;
    let guest = &bout.guests.a;
    let letter = guest.letter(&bout.order(), bout.match_id, guest.choice(bout.match_id));
    let asked = bench.ask(&letter, ORDER_TIME).await;
    let code = Code::G003.told(bench.dialect());
    let report = ErrorReport::new(code, "no such match is running here");
    let ideal = bench.from_agent(Message::GameError(report));
    if asked.refused(&ideal)?.is_some() {
        return Ok(());
    }
    let sentence = "it took a choice for a match that it does not run";
    Err(Halt::fail_with(sentence, "answer with", asked.ideal(&ideal)))
}
