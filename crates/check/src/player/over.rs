//! The end of a match: GAME_START, GAME_OVER and GAME_OVER_ACK.

use league_wire::message::Ack;
use league_wire::{Dialect, Message, MessageType};

use super::table::{Table, still_plays};
use crate::bench::Bench;
use crate::case::{Case, Level};
use crate::limits::TOLD_TIME;
use crate::verdict::{Halt, Outcome};

const CASE: Case = Case {
    section: "docs/protocol/league-v2.md, GAME_OVER",
    requirements: &["MATCH-9"],
    sent: "GAME_OVER after a match",
    ..Case::BLANK
};

pub(super) static CASES: &[Case] = &[
    Case {
        id: "player.over.heard",
        title: "GAME_OVER is answered within 5 s",
        requirements: &["MATCH-9", "ERR-5"],
        wanted: "any result, within 5 s",
        why: "The referee waits for it before it goes on.",
        run: |bench| Box::pin(heard(bench)),
        ..CASE
    },
    Case {
        id: "player.over.ack",
        title: "GAME_OVER is acknowledged with GAME_OVER_ACK",
        level: Level::Should,
        requirements: &["MATCH-9", "WIRE-7"],
        wanted: "GAME_OVER_ACK with the same `match_id`",
        why: "It shows in the trace that the player knows how the match ended.",
        run: |bench| Box::pin(ack(bench)),
        ..CASE
    },
    Case {
        id: "player.over.twice",
        title: "GAME_OVER twice is answered twice",
        sent: "the same GAME_OVER twice",
        wanted: "any result, both times",
        why: "A referee that did not hear the first answer tells it again.",
        run: |bench| Box::pin(twice(bench)),
        ..CASE
    },
    Case {
        id: "player.over.technical",
        title: "A match that was not played can end too",
        level: Level::Should,
        requirements: &["MATCH-9", "RESULT-8"],
        sent: "GAME_OVER of a technical loss: number, parity and choices are null",
        wanted: "any result",
        why: "When the opponent fails there is no number, and the program must not stumble.",
        run: |bench| Box::pin(technical(bench)),
        ..CASE
    },
    Case {
        id: "player.over.unknown-match",
        title: "The end of a match that it does not know does no harm",
        sent: "GAME_OVER of a match without an invitation, then an ordinary invitation",
        wanted: "the invitation is accepted",
        why: "After a restart a player hears of matches that it has forgotten.",
        run: |bench| Box::pin(unknown_match(bench)),
        ..CASE
    },
    Case {
        id: "player.over.start-heard",
        title: "GAME_START is answered",
        section: "docs/protocol/league-v2.md, GAME_START",
        requirements: &["WIRE-7"],
        dialects: &[Dialect::Payload],
        sent: "GAME_START after the invitation",
        wanted: "any result",
        why: "Document 004 tells its players that both have accepted.",
        run: |bench| Box::pin(start_heard(bench)),
        ..CASE
    },
];

async fn heard(bench: &Bench) -> Outcome {
    let table = Table::new(bench);
    table.play().await?;
    bench.ask(&table.over(false)?, TOLD_TIME).await.heard(&table.over_ack())
}

async fn ack(bench: &Bench) -> Outcome {
    let table = Table::new(bench);
    table.play().await?;
    let asked = bench.ask(&table.over(false)?, TOLD_TIME).await;
    let base = |halt: Halt| halt.unless_told_by("player.over.heard");
    asked.heard(&table.over_ack()).map_err(base)?;
    let reply = asked.reply(&[MessageType::GameOverAck], &table.over_ack())?;
    if let Message::GameOverAck(ack) = reply.message
        && ack.match_id == table.match_id
    {
        return Ok(());
    }
    let (sentence, change) = ("it acknowledged another match", "repeat the `match_id`:");
    Err(Halt::fail_with(sentence, change, asked.ideal(&table.over_ack())))
}

async fn twice(bench: &Bench) -> Outcome {
    let table = Table::new(bench);
    table.play().await?;
    let over = table.over(false)?;
    let first = bench.ask(&over, TOLD_TIME).await;
    first.heard(&table.over_ack()).map_err(|halt| halt.unless_told_by("player.over.heard"))?;
    bench.ask(&over, TOLD_TIME).await.heard(&table.over_ack())
}

async fn technical(bench: &Bench) -> Outcome {
    let table = Table::new(bench);
    table.join().await?;
    bench.ask(&table.over(true)?, TOLD_TIME).await.heard(&table.over_ack())
}

async fn unknown_match(bench: &Bench) -> Outcome {
    Table::new(bench).join().await?;
    let _whatever = bench.ask(&Table::new(bench).over(false)?, TOLD_TIME).await;
    still_plays(bench, "the end of a match that it does not know").await
}

async fn start_heard(bench: &Bench) -> Outcome {
    let table = Table::new(bench);
    let (_, read) = table.invite().await;
    read.map_err(|halt| halt.unless_told_by("player.invite.accepts"))?;
    let ack = Message::Ack(Ack { of: Some(MessageType::GameStart) });
    bench.ask(&table.start(), TOLD_TIME).await.heard(&table.answer(ack))
}
