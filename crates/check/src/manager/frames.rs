//! JSON-RPC: what is no request, what is an unknown one, ids and batches.

use league_wire::Dialect;
use serde_json::{Value, json};

use super::case;
use super::guest::Kind;
use super::speech::Stamp;
use super::visit::Visit;
use crate::case::Case;
use crate::verdict::{Halt, Outcome};

/// Dialects in which a request is ours alone: `tools/call` belongs to another protocol as well.
const ORDINARY: &[Dialect] = &[
    Dialect::Flat,
    Dialect::Typed,
    Dialect::V21,
    Dialect::Enveloped,
    Dialect::Payload,
    Dialect::Wrapped,
];

pub(super) const CASES: &[Case] = &[
    case! {
        "manager.frame.not-json": Must, EVERY, ["WIRE-1"], "docs/protocol/league-v2.md#frames",
        "A body that is not JSON",
        sent: "half an object",
        wanted: "the error -32700 with `id` null",
        why: "Whoever cuts a body short learns that it did, and not that its request is wrong.",
        not_json
    },
    case! {
        "manager.frame.no-object": Must, EVERY, ["WIRE-1"], "docs/protocol/league-v2.md#frames",
        "JSON that is no request",
        sent: "a number",
        wanted: "the error -32600",
        why: "JSON-RPC 2.0 says so, and libraries on the other side rely on it.",
        no_object
    },
    case! {
        "manager.frame.no-method": Must, EVERY, ["WIRE-1"], "docs/protocol/league-v2.md#frames, 001 §2.3",
        "A request without `method`",
        sent: "a request without `method` and with `id` 7",
        wanted: "the error -32600 with `id` 7",
        why: "An error without the id cannot be matched to what caused it.",
        no_method
    },
    case! {
        "manager.frame.version": Must, EVERY, ["WIRE-1"], "docs/protocol/league-v2.md#frames, 001 §2.7",
        "`jsonrpc` that is not \"2.0\"",
        sent: "a request with `jsonrpc` \"1.0\"",
        wanted: "the error -32600",
        why: "Document 001 demands that it is rejected.",
        version
    },
    case! {
        "manager.frame.unknown-method": Must, EVERY, ["WIRE-1"], "docs/protocol/league-v2.md#frames",
        "A method that nobody knows",
        sent: "the method `dance`",
        wanted: "the error -32601 with the request's `id`",
        why: "Agents find out by it in which dialect a manager listens.",
        unknown_method
    },
    case! {
        "manager.frame.params": Must, ORDINARY, ["WIRE-1"], "docs/protocol/league-v2.md#frames",
        "`params` that are no object",
        sent: "a registration whose `params` are a list",
        wanted: "the error -32602",
        why: "Every message of the protocol is an object.",
        params
    },
    case! {
        "manager.frame.id-number": Must, EVERY, ["WIRE-1"], "docs/protocol/league-v2.md#frames",
        "An `id` that is a number",
        sent: "a request with `id` 4711",
        wanted: "an answer with `id` 4711",
        why: "Callers match answers to requests by it.",
        id_number
    },
    case! {
        "manager.frame.id-text": Must, EVERY, ["WIRE-1"], "docs/protocol/league-v2.md#frames",
        "An `id` that is a text",
        sent: "a request with `id` \"a-7\"",
        wanted: "an answer with `id` \"a-7\"",
        why: "JSON-RPC allows texts, and many libraries use them.",
        id_text
    },
    case! {
        "manager.frame.response": Must, EVERY, ["WIRE-1"], "docs/protocol/league-v2.md#frames, 000 §8",
        "The frame of an answer",
        sent: "a registration",
        wanted: "`jsonrpc` \"2.0\" and one of `result` and `error`, not both",
        why: "A client that sees both does not know which one counts.",
        response
    },
    case! {
        "manager.frame.no-id": Should, EVERY, ["WIRE-1"], "docs/protocol/league-v2.md#frames",
        "A league message without `id`",
        sent: "a registration without `id`",
        wanted: "the error -32600, and nobody is registered",
        why: "Whoever forgets the id would wait for ever for its token.",
        no_id
    },
    case! {
        "manager.frame.batch": Should, EVERY, ["WIRE-1"], "docs/protocol/league-v2.md#frames",
        "Two requests in one batch",
        sent: "a list of two requests",
        wanted: "a list of two answers with their ids",
        why: "Agents that announce `batch` send what belongs together in one call.",
        batch
    },
    case! {
        "manager.frame.batch-empty": Should, EVERY, ["WIRE-1"], "docs/protocol/league-v2.md#frames",
        "An empty batch",
        sent: "an empty list",
        wanted: "the error -32600",
        why: "JSON-RPC 2.0 says so.",
        batch_empty
    },
    case! {
        "manager.frame.batch-mixed": Should, EVERY, ["WIRE-1"], "docs/protocol/league-v2.md#frames",
        "A batch with something that is no request",
        sent: "a list of a request and the number 3",
        wanted: "two answers, one of them -32600 with `id` null",
        why: "One wrong element must not cost the others their answer.",
        batch_mixed
    },
];

/// A request that is answered somehow, and changes nothing: a registration without its meta.
fn harmless(visit: &Visit, id: Value) -> Value {
    let stamp = Stamp::stranger(Kind::Player);
    let mut request = visit.speech.request(Kind::Player.registers_with(), &stamp, json!({}));
    request["id"] = id;
    request
}

async fn not_json(visit: &Visit) -> Outcome {
    let reply = visit.send_text(r#"{"jsonrpc": "2.0", "method": "register_player", "par"#).await?;
    reply.rpc_error("a body that is not JSON", -32700, &Value::Null)?;
    same_id(&reply.json, &Value::Null)
}

async fn no_object(visit: &Visit) -> Outcome {
    let reply = visit.send_text("3").await?;
    reply.rpc_error("a number instead of a request", -32600, &Value::Null)
}

async fn no_method(visit: &Visit) -> Outcome {
    let mut request = harmless(visit, json!(7));
    request.as_object_mut().map(|fields| fields.remove("method"));
    let reply = visit.send(&request).await?;
    reply.rpc_error("a request without `method`", -32600, &json!(7))?;
    same_id(&reply.json, &json!(7))
}

async fn version(visit: &Visit) -> Outcome {
    let mut request = harmless(visit, json!(1));
    request["jsonrpc"] = json!("1.0");
    let reply = visit.send(&request).await?;
    reply.rpc_error("a request with `jsonrpc` \"1.0\"", -32600, &json!(1))
}

async fn unknown_method(visit: &Visit) -> Outcome {
    let mut request = harmless(visit, json!(1));
    request["method"] = json!("dance");
    let reply = visit.send(&request).await?;
    reply.rpc_error("an unknown method", -32601, &json!(1))
}

async fn params(visit: &Visit) -> Outcome {
    let mut request = harmless(visit, json!(1));
    request["params"] = json!(["league.v2"]);
    let reply = visit.send(&request).await?;
    reply.rpc_error("`params` that are a list", -32602, &json!(1))
}

async fn id_number(visit: &Visit) -> Outcome {
    let reply = visit.send(&harmless(visit, json!(4711))).await?;
    same_id(&reply.json, &json!(4711))
}

async fn id_text(visit: &Visit) -> Outcome {
    let reply = visit.send(&harmless(visit, json!("a-7"))).await?;
    same_id(&reply.json, &json!("a-7"))
}

async fn response(visit: &Visit) -> Outcome {
    let league = visit.lobby().await?;
    let guest = visit.guest(Kind::Player).await?;
    let reply = visit.send(&visit.application(&guest, &league)).await?;
    let (result, error) = (reply.json.get("result"), reply.json.get("error"));
    let right = json!({"jsonrpc": "2.0", "result": result, "id": 1}).to_string();
    if reply.json["jsonrpc"] != "2.0" {
        let got = &reply.json["jsonrpc"];
        let sentence = format!("`jsonrpc` of the answer is {got}");
        return Err(Halt::fail_with(sentence, "write `\"jsonrpc\": \"2.0\"` into it", right));
    }
    match (result, error) {
        (Some(_), None) | (None, Some(_)) => Ok(()),
        (Some(_), Some(_)) => Err(Halt::fail_with(
            "the answer has both `result` and `error`",
            "leave `error` out of an answer that has a `result`",
            right,
        )),
        (None, None) => Err(Halt::fail_with(
            "the answer has neither `result` nor `error`",
            "put what you answer into `result`",
            right,
        )),
    }
}

async fn no_id(visit: &Visit) -> Outcome {
    let league = visit.lobby().await?;
    let guest = visit.guest(Kind::Player).await?;
    let mut request = visit.application(&guest, &league);
    request.as_object_mut().map(|fields| fields.remove("id"));
    let reply = visit.send(&request).await?;
    reply.rpc_error("a registration without `id`", -32600, &Value::Null)
}

async fn batch(visit: &Visit) -> Outcome {
    let two = json!([harmless(visit, json!(1)), harmless(visit, json!("two"))]);
    let reply = visit.send(&two).await?;
    for id in [json!(1), json!("two")] {
        in_batch(&reply.json, &id)?;
    }
    Ok(())
}

async fn batch_empty(visit: &Visit) -> Outcome {
    let reply = visit.send(&json!([])).await?;
    reply.rpc_error("an empty batch", -32600, &Value::Null)
}

async fn batch_mixed(visit: &Visit) -> Outcome {
    let reply = visit.send(&json!([harmless(visit, json!(1)), 3])).await?;
    in_batch(&reply.json, &json!(1))?;
    let wrong = in_batch(&reply.json, &Value::Null)?;
    if wrong["error"]["code"] == -32600 {
        return Ok(());
    }
    let sentence = format!("the number 3 in a batch got {}", wrong["error"]["code"]);
    Err(Halt::fail(sentence, "answer that element with the error -32600"))
}

/// The answer with `id` in the answers to a batch.
fn in_batch(answers: &Value, id: &Value) -> Result<Value, Halt> {
    let found = answers.as_array().and_then(|all| all.iter().find(|one| one["id"] == *id));
    found.cloned().ok_or_else(|| {
        let example = json!([{"jsonrpc": "2.0", "result": {}, "id": id}]).to_string();
        let sentence = format!("the answer to a batch has no element with the id {id}");
        Halt::fail_with(sentence, "answer a list with a list, one answer for each id", example)
    })
}

fn same_id(answer: &Value, id: &Value) -> Outcome {
    if answer.get("id") == Some(id) {
        return Ok(());
    }
    let got = answer.get("id").map_or_else(|| "missing".into(), ToString::to_string);
    let mut right = answer.clone();
    if right.is_object() {
        right["id"] = id.clone();
    }
    let sentence = format!("the answer's `id` is {got}, the request's was {id}");
    Err(Halt::fail_with(sentence, "repeat the request's `id`, with its type", right.to_string()))
}
