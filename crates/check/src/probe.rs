//! Questions that every agent is asked, whatever it is: broken requests, unknown methods, pages.

use bytes::Bytes;
use league_wire::frame::{Outcome as RpcOutcome, parse_response};
use league_wire::{Code, Id};

use crate::bench::Bench;
use crate::limits::{HEALTH_TIME, TOLD_TIME};
use crate::verdict::{Halt, Outcome};

/// Whether `body` is answered with the JSON-RPC error `code`.
pub(crate) async fn told(bench: &Bench, body: &'static str, code: Code) -> Outcome {
    let number = code.row().rpc;
    let name = code.row().description;
    let json = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{{\"code\":{number},\"message\":\"{name}\"}}}}"
    );
    let got = bench.post(body.as_bytes(), TOLD_TIME).await;
    let got = got.map_err(|trouble| Halt::fail_with(trouble.to_string(), "answer with", &*json))?;
    let shown = parse_response(&got.body).map_err(|error| {
        let sentence = format!("the body is not a JSON-RPC response: {}", error.of_response());
        Halt::fail_with(sentence, "answer with", &*json)
    })?;
    match shown.outcome {
        RpcOutcome::Error(error) if error.code == number => Ok(()),
        RpcOutcome::Error(error) => {
            let sentence = format!("it answered with the error {}", error.code);
            Err(Halt::fail_with(sentence, "answer with", json))
        }
        RpcOutcome::Result(_) => {
            Err(Halt::fail_with("it answered with a result", "answer with", json))
        }
    }
}

pub(crate) async fn unknown_method(bench: &Bench) -> Outcome {
    let id = bench.next_id();
    let body = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"no_such_method\",\"params\":{{}}}}"
    );
    let asked = bench.ask_bytes(Bytes::from(body), TOLD_TIME).await;
    let json = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":-32601,\"message\":\"Method not found\"}}}}"
    );
    let got = match &asked.got {
        Ok(got) => got,
        Err(trouble) => return Err(Halt::fail_with(trouble.to_string(), "answer with", json)),
    };
    let response = parse_response(&got.body).map_err(|error| {
        let sentence = format!("the body is not a JSON-RPC response: {}", error.of_response());
        Halt::fail_with(sentence, "answer with", &*json)
    })?;
    let is_right = matches!(&response.outcome, RpcOutcome::Error(error) if error.code == -32601);
    if is_right && response.id == Some(Id::from(id)) {
        return Ok(());
    }
    Err(Halt::fail_with("a method that does not exist was answered otherwise", "answer with", json))
}

pub(crate) async fn get(bench: &Bench) -> Outcome {
    let path = bench.subject.address.path().to_string();
    let change = "answer GET with the status 405";
    let got = bench.get(&path, TOLD_TIME).await;
    let got = got.map_err(|trouble| Halt::fail(trouble.to_string(), change))?;
    if (400..500).contains(&got.status) || got.status == 501 {
        return Ok(());
    }
    Err(Halt::fail(format!("GET {path} was answered with the status {}", got.status), change))
}

pub(crate) async fn health(bench: &Bench) -> Outcome {
    let change = "answer GET /health with the status 200 and a body such as";
    let json = "{\"status\":\"ok\"}";
    let got = bench.get("/health", HEALTH_TIME).await;
    let got = got.map_err(|trouble| Halt::fail_with(trouble.to_string(), change, json))?;
    if got.status == 200 {
        return Ok(());
    }
    let sentence = format!("GET /health was answered with the status {}", got.status);
    Err(Halt::fail_with(sentence, change, json))
}
