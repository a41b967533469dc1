//! HTTP: media types, sizes, halves, slowness and crowds.

use std::time::Duration;

use league_agent::ambient::Mark;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::case;
use super::guest::Kind;
use super::speech::Stamp;
use super::visit::{Visit, silent};
use crate::case::Case;
use crate::http::{Got, Trouble, post_head};
use crate::limits::{HEALTH_TIME, LARGE_BODY_BYTES, TIMED_TRIES, TOLD_TIME};
use crate::verdict::{Halt, Outcome};

/// How many ask at the same time.
const CROWD: usize = 32;
const JSON: &str = "Content-Type: application/json";

pub(super) const CASES: &[Case] = &[
    case! {
        "manager.http.content-type": Must, EVERY, ["ARCH-1"], "docs/protocol/league-v2.md#transport, 000 §8",
        "The media type of an answer",
        sent: "a registration without its meta",
        wanted: "an answer with `Content-Type: application/json`",
        why: "Clients that check the media type do not even look at the body otherwise.",
        content_type
    },
    case! {
        "manager.http.charset": Must, EVERY, ["ARCH-1"], "docs/protocol/league-v2.md#transport",
        "A media type with a charset",
        sent: "`Content-Type: application/json; charset=utf-8`",
        wanted: "a JSON-RPC answer, as without the charset",
        why: "Many HTTP libraries add the charset by themselves.",
        charset
    },
    case! {
        "manager.http.other-type": Should, EVERY, ["ARCH-1"], "docs/protocol/league-v2.md#transport",
        "Another media type",
        sent: "a request with `Content-Type: text/plain`",
        wanted: "HTTP status 415",
        why: "A page in a browser may post text to any address, and must not register anybody.",
        other_type
    },
    case! {
        "manager.http.get": Should, EVERY, ["ARCH-1"], "docs/protocol/league-v2.md#transport",
        "GET instead of POST",
        sent: "`GET /mcp`",
        wanted: "HTTP status 405",
        why: "Whoever tries the address in a browser sees that it is the right one.",
        get
    },
    case! {
        "manager.http.status": Should, EVERY, ["ARCH-1"], "docs/protocol/league-v2.md#transport",
        "The HTTP status of a refusal",
        sent: "a registration without its meta",
        wanted: "HTTP status 200 with the JSON-RPC error in the body",
        why: "HTTP libraries throw the body of a 4xx away, and with it what is wrong.",
        status
    },
    case! {
        "manager.http.large": Must, EVERY, ["ARCH-1"], "docs/protocol/league-v2.md#transport",
        "A body that is too large",
        sent: "two megabytes",
        wanted: "a refusal or a closed connection, and an answer to the next request",
        why: "One agent's mistake must not end the league of all others.",
        large
    },
    case! {
        "manager.http.large-status": Should, EVERY, ["ARCH-1"], "docs/protocol/league-v2.md#transport",
        "The HTTP status for a body that is too large",
        sent: "the head of a request of two megabytes",
        wanted: "HTTP status 413",
        why: "The sender learns what is wrong instead of seeing a broken connection.",
        large_status
    },
    case! {
        "manager.http.megabyte": Should, EVERY, ["ARCH-1"], "docs/protocol/league-v2.md#transport",
        "A large body that is not too large",
        sent: "a registration with an unknown field of 900 KiB",
        wanted: "a JSON-RPC answer",
        why: "Reports with a transcript may be that long.",
        megabyte
    },
    case! {
        "manager.http.half": Must, EVERY, ["ARCH-1"], "docs/protocol/league-v2.md#transport",
        "A body that is cut short",
        sent: "a part of a body, then the connection is closed",
        wanted: "an answer to the next request",
        why: "Agents crash in the middle of a call; that is nobody else's problem.",
        half
    },
    case! {
        "manager.http.slow": Must, EVERY, ["ARCH-1", "ARCH-3"], "docs/protocol/league-v2.md#transport",
        "Somebody who is slow",
        sent: "half a head on one connection, a whole request on another",
        wanted: "an answer to the whole one within 5 s",
        why: "A server that serves one connection at a time is stopped by whoever is slow.",
        slow
    },
    case! {
        "manager.http.crowd": Must, EVERY, ["ARCH-3"], "002 §4.1.1",
        "Many at the same time",
        sent: "32 requests at once",
        wanted: "32 answers within 10 s",
        why: "When a round ends all referees report together.",
        crowd
    },
    case! {
        "manager.http.keep-alive": Should, EVERY, ["ARCH-1"], "docs/protocol/league-v2.md#transport",
        "Two requests on one connection",
        sent: "a second request after the first answer",
        wanted: "two answers",
        why: "Referees report often; a new connection for each report is slow.",
        keep_alive
    },
    case! {
        "manager.http.health": Should, EVERY, ["ARCH-6"], "docs/protocol/league-v2.md#transport, 002 US-10",
        "The health page",
        sent: "`GET /health`",
        wanted: "HTTP status 200 within 1 s",
        why: "Whoever runs the league sees by it that the manager lives.",
        health
    },
];

/// A request that is answered somehow, and changes nothing.
fn harmless(visit: &Visit) -> Value {
    harmless_in(visit, &Stamp::stranger(Kind::Player))
}

/// The same in a conversation that goes on.
fn harmless_in(visit: &Visit, stamp: &Stamp) -> Value {
    visit.speech.request(Kind::Player.registers_with(), stamp, json!({}))
}

/// What comes must be a JSON-RPC response, whatever it says.
fn is_response(got: &Got) -> bool {
    let json: Value = serde_json::from_slice(&got.body).unwrap_or(Value::Null);
    json.get("result").is_some() || json.get("error").is_some()
}

/// The manager still answers.
async fn alive(visit: &Visit, stamp: &Stamp, after: &str) -> Outcome {
    let body = harmless_in(visit, stamp).to_string();
    let began = Mark::set();
    match visit.post(body.as_bytes()).await {
        Ok(got) if is_response(&got) && began.elapsed() < TOLD_TIME => Ok(()),
        Ok(got) => Err(Halt::fail(
            format!("{after} the next request got HTTP status {}", got.status),
            "answer every request for itself, whatever others send",
        )),
        Err(Trouble::Ours(why)) => Err(Halt::Ours(why)),
        Err(trouble) => Err(Halt::fail(
            format!("{after} the next request got nothing: {trouble}"),
            "answer every request for itself, whatever others send",
        )),
    }
}

async fn content_type(visit: &Visit) -> Outcome {
    let reply = visit.send(&harmless(visit)).await?;
    let got = reply.got.header("content-type").unwrap_or("none").to_ascii_lowercase();
    if got.starts_with("application/json") {
        return Ok(());
    }
    let sentence = format!("the answer's Content-Type is {got}");
    Err(Halt::fail(sentence, "send the header `Content-Type: application/json`"))
}

async fn charset(visit: &Visit) -> Outcome {
    let body = harmless(visit).to_string();
    let header = "Content-Type: application/json; charset=utf-8";
    let got = visit.post_with(body.as_bytes(), &[header]).await.map_err(silent)?;
    if is_response(&got) {
        return Ok(());
    }
    let sentence = format!("with a charset it answers with HTTP status {}", got.status);
    Err(Halt::fail(sentence, "look only at what stands before the `;` of the Content-Type"))
}

async fn other_type(visit: &Visit) -> Outcome {
    let body = harmless(visit).to_string();
    let header = "Content-Type: text/plain";
    let got = visit.post_with(body.as_bytes(), &[header]).await.map_err(silent)?;
    expect_status(&got, 415, "a request with `Content-Type: text/plain`")
}

async fn get(visit: &Visit) -> Outcome {
    let got = visit.page(visit.address.path(), TOLD_TIME).await.map_err(silent)?;
    expect_status(&got, 405, "GET at the address of the manager")
}

async fn status(visit: &Visit) -> Outcome {
    let reply = visit.send(&harmless(visit)).await?;
    expect_status(&reply.got, 200, "a request that is refused")
}

fn expect_status(got: &Got, wanted: u16, what: &str) -> Outcome {
    if got.status == wanted {
        return Ok(());
    }
    let sentence = format!("{what} got HTTP status {}", got.status);
    Err(Halt::fail(sentence, format!("answer it with HTTP status {wanted}")))
}

async fn large(visit: &Visit) -> Outcome {
    let stamp = Stamp::stranger(Kind::Player);
    let mut request = harmless_in(visit, &stamp);
    request["zzz_padding"] = json!("x".repeat(2 * LARGE_BODY_BYTES));
    // Whatever comes is fine, also nothing.
    match visit.post(request.to_string().as_bytes()).await {
        Ok(_) | Err(_) => alive(visit, &stamp, "after a body of two megabytes").await,
    }
}

async fn large_status(visit: &Visit) -> Outcome {
    let head = post_head(&visit.address, 2 * LARGE_BODY_BYTES, &[JSON]);
    let got = visit.raw(&head, TOLD_TIME).await;
    match got {
        Ok(got) => expect_status(&got, 413, "a request of two megabytes"),
        Err(Trouble::Ours(why)) => Err(Halt::Ours(why)),
        Err(trouble) => Err(Halt::fail(
            format!("the announcement of two megabytes got no answer: {trouble}"),
            "look at Content-Length first, and answer with HTTP status 413",
        )),
    }
}

async fn megabyte(visit: &Visit) -> Outcome {
    let mut request = harmless(visit);
    visit.speech.set(&mut request, "padding", json!("x".repeat(900 * 1024)));
    let got = visit.post(request.to_string().as_bytes()).await.map_err(silent)?;
    if is_response(&got) {
        return Ok(());
    }
    let sentence = format!("a request of 900 KiB got HTTP status {}", got.status);
    Err(Halt::fail(sentence, "take requests of up to 1 MiB (1,048,576 bytes)"))
}

async fn half(visit: &Visit) -> Outcome {
    let stamp = Stamp::stranger(Kind::Player);
    let body = harmless_in(visit, &stamp).to_string();
    let mut bytes = post_head(&visit.address, body.len(), &[JSON]);
    bytes.extend_from_slice(&body.as_bytes()[..body.len() * 3 / 4]);
    let mut line = visit.line().await.map_err(silent)?;
    line.send(&bytes).await.map_err(silent)?;
    drop(line);
    alive(visit, &stamp, "after a part of a body").await
}

async fn slow(visit: &Visit) -> Outcome {
    let mut line = visit.line().await.map_err(silent)?;
    let stamp = Stamp::stranger(Kind::Player);
    let path = visit.address.path();
    let head = format!("POST {path} HTTP/1.1\r\nX-Request-Id: {}\r\nHost: sl", stamp.conversation);
    line.send(head.as_bytes()).await.map_err(silent)?;
    let outcome = alive(visit, &stamp, "while somebody else sends a head slowly").await;
    drop(line);
    outcome
}

async fn crowd(visit: &Visit) -> Outcome {
    let mut asking = JoinSet::new();
    let stamp = Stamp::stranger(Kind::Player);
    for _ in 0..CROWD {
        let visit = visit.clone();
        let body = harmless_in(&visit, &stamp).to_string();
        asking.spawn(async move { visit.post(body.as_bytes()).await });
    }
    let mut answered = 0;
    while let Some(asked) = asking.join_next().await {
        match asked {
            Ok(Ok(got)) if is_response(&got) => answered += 1,
            Ok(Err(Trouble::Ours(why))) => return Err(Halt::Ours(why)),
            Ok(Ok(_) | Err(_)) | Err(_) => {}
        }
    }
    if answered == CROWD {
        return Ok(());
    }
    let sentence = format!("of {CROWD} requests at the same time {answered} got an answer");
    Err(Halt::fail(sentence, "serve connections beside each other, with threads or tasks"))
}

async fn keep_alive(visit: &Visit) -> Outcome {
    let body = harmless(visit).to_string();
    let mut bytes = post_head(&visit.address, body.len(), &[JSON]);
    bytes.extend_from_slice(body.as_bytes());
    let mut line = visit.line().await.map_err(silent)?;
    for what in ["first", "second"] {
        let sent = line.send(&bytes).await;
        let got = match sent {
            Ok(()) => line.receive(TOLD_TIME).await,
            Err(trouble) => Err(trouble),
        };
        match got {
            Ok(got) if is_response(&got) => {}
            Ok(_) | Err(_) => {
                let sentence = format!("the {what} request on one connection got no answer");
                return Err(Halt::fail(sentence, "keep connections open for another request"));
            }
        }
    }
    Ok(())
}

async fn health(visit: &Visit) -> Outcome {
    let mut fastest = Duration::MAX;
    for _ in 0..TIMED_TRIES {
        let began = Mark::set();
        let got = visit.page("/health", TOLD_TIME).await.map_err(silent)?;
        expect_status(&got, 200, "`GET /health`")?;
        fastest = fastest.min(began.elapsed());
        if fastest <= HEALTH_TIME {
            break;
        }
    }
    in_time("the health page", fastest, HEALTH_TIME)
}

/// `what` must not take longer than `limit`.
pub(super) fn in_time(what: &str, took: Duration, limit: Duration) -> Outcome {
    if took <= limit {
        return Ok(());
    }
    let (took, limit) = (took.as_millis(), limit.as_millis());
    let sentence = format!("{what} took {took} ms");
    Err(Halt::fail(sentence, format!("answer within {limit} ms")))
}
