//! JSON-RPC: ids, versions, and what is no request.

use bytes::Bytes;
use league_wire::frame::{split_responses, write_batch};
use league_wire::message::Ping;
use league_wire::{Code, Message};
use serde_json::Value;

use super::table::{Table, still_plays};
use crate::answer::Asked;
use crate::bench::Bench;
use crate::case::{Case, Level};
use crate::limits::{JOIN_TIME, TOLD_TIME};
use crate::probe;
use crate::verdict::{Halt, Outcome};

const CASE: Case = Case {
    section: "docs/protocol/league-v2.md, Frames",
    requirements: &["WIRE-1"],
    ..Case::BLANK
};

pub(super) static CASES: &[Case] = &[
    Case {
        id: "player.rpc.string-id",
        title: "An id that is a text is repeated as a text",
        level: Level::Should,
        sent: "GAME_INVITATION with the id \"check-1\"",
        wanted: "a response with the id \"check-1\"",
        why: "A caller finds the answer to its question by the id, and may write it as it likes.",
        run: |bench| Box::pin(string_id(bench)),
        ..CASE
    },
    Case {
        id: "player.rpc.survives-garbage",
        title: "Bytes that are no JSON do no harm",
        sent: "`{\"jsonrpc\": \"2.0\", \"method\"` and nothing more, then an ordinary invitation",
        wanted: "the invitation is accepted",
        why: "Anybody can send anything to an open port.",
        run: |bench| Box::pin(survives(bench, b"{\"jsonrpc\": \"2.0\", \"method\"", "broken JSON")),
        ..CASE
    },
    Case {
        id: "player.rpc.parse-error",
        title: "Bytes that are no JSON are answered with −32700",
        level: Level::Should,
        sent: "`{\"jsonrpc\": \"2.0\", \"method\"` and nothing more",
        wanted: "a JSON-RPC error −32700 with the id null",
        why: "Whoever sends broken JSON learns it from the answer and not from silence.",
        run: |bench| {
            Box::pin(probe::told(bench, "{\"jsonrpc\": \"2.0\", \"method\"", Code::ParseError))
        },
        ..CASE
    },
    Case {
        id: "player.rpc.invalid-request",
        title: "JSON that is no request is answered with −32600",
        level: Level::Should,
        sent: "`{\"hello\": 1}`",
        wanted: "a JSON-RPC error −32600",
        why: "Whoever sends something else than a request learns what was expected.",
        run: |bench| Box::pin(probe::told(bench, "{\"hello\": 1}", Code::InvalidRequest)),
        ..CASE
    },
    Case {
        id: "player.rpc.unknown-method",
        title: "A method that nobody knows is answered with −32601",
        level: Level::Should,
        sent: "the method `no_such_method`",
        wanted: "a JSON-RPC error −32601 with the request's id",
        why: "Callers find out which dialect an agent speaks by what it does not know.",
        run: |bench| Box::pin(probe::unknown_method(bench)),
        ..CASE
    },
    Case {
        id: "player.rpc.survives-unknown",
        title: "A message of a type that nobody knows does no harm",
        requirements: &["WIRE-7"],
        sent: "an invitation whose type is `GAME_HOLIDAY`, then an ordinary one",
        wanted: "the ordinary one is accepted",
        why: "Later versions of the protocol have messages that this agent does not know yet.",
        run: |bench| Box::pin(unknown_message(bench)),
        ..CASE
    },
    Case {
        id: "player.rpc.ping",
        title: "A ping is answered",
        level: Level::Should,
        requirements: &["LIFE-3"],
        section: "docs/protocol/league-v2.md, PING",
        sent: "PING",
        wanted: "a result, such as PONG",
        why: "A suspended player comes back by answering a ping.",
        run: |bench| Box::pin(ping(bench)),
        ..CASE
    },
    Case {
        id: "player.rpc.batch",
        title: "A batch is answered with a batch",
        sent: "two invitations in one batch, if the registration says `batch: true`",
        wanted: "a list of two responses with the ids of the requests",
        why: "Who announces batches gets the news of a round as one.",
        run: |bench| Box::pin(batch(bench)),
        ..CASE
    },
];

async fn string_id(bench: &Bench) -> Outcome {
    let table = Table::new(bench);
    let mut draft = bench.draft(&table.invitation());
    draft.json["id"] = Value::from("check-1");
    let asked = bench.ask_bytes(draft.bytes(), JOIN_TIME).await;
    table.unguarded(&asked)?;
    table.read_ack(&asked).map(|_| ())
}

async fn survives(bench: &Bench, body: &'static [u8], what: &str) -> Outcome {
    still_plays(bench, "nothing yet").await.map_err(first)?;
    let _whatever = bench.post(body, TOLD_TIME).await;
    still_plays(bench, what).await
}

/// A player that takes no invitation at all is told of by another case.
fn first(halt: Halt) -> Halt {
    halt.unless_told_by("player.invite.accepts")
}

async fn unknown_message(bench: &Bench) -> Outcome {
    still_plays(bench, "nothing yet").await.map_err(first)?;
    let draft = bench.draft(&Table::new(bench).invitation());
    let draft = draft.with("message_type", "GAME_HOLIDAY");
    let draft = if draft.json.pointer("/params/type").is_some() {
        draft.without("message_type").with("type", "GAME_HOLIDAY")
    } else {
        draft
    };
    let _whatever = bench.ask_bytes(draft.bytes(), TOLD_TIME).await;
    still_plays(bench, "a message of an unknown type").await
}

async fn ping(bench: &Bench) -> Outcome {
    let letter = bench.from_manager(Message::Ping(Ping {}));
    let asked = bench.ask(&letter, TOLD_TIME).await;
    let pong = Message::Pong(league_wire::message::Pong { state: None });
    asked.heard(&Table::new(bench).answer(pong))
}

async fn batch(bench: &Bench) -> Outcome {
    if !bench.registered()?.meta.batch {
        return Err(Halt::skip("its registration does not say `batch: true`"));
    }
    let tables = [Table::new(bench), Table::new(bench)];
    let drafts = tables.each_ref().map(|table| bench.draft(&table.invitation()));
    let ids = drafts.each_ref().map(|draft| draft.json["id"].to_string());
    let body = Bytes::from(write_batch(&drafts.each_ref().map(|draft| draft.bytes())));
    let asked: Asked = bench.ask_bytes(body, JOIN_TIME).await;
    let got = match asked.got {
        Ok(got) => got,
        Err(trouble) => return Err(Halt::fail(trouble.to_string(), "answer a batch with a list")),
    };
    let parts = split_responses(&got.body).unwrap_or_default();
    let answered = |id: &String| {
        parts.iter().any(|(part, _)| part.as_ref().is_some_and(|part| part.as_json() == id))
    };
    if ids.iter().all(answered) {
        return Ok(());
    }
    let [one, other] = &ids;
    let json = format!(
        "[{{\"jsonrpc\":\"2.0\",\"id\":{one},\"result\":…}},{{\"jsonrpc\":\"2.0\",\"id\":{other},\"result\":…}}]"
    );
    let sentence = "the batch was not answered with one response for each request";
    Err(Halt::fail_with(sentence, "answer with, or do not announce `batch`", json))
}
