//! HTTP: statuses, large bodies, peers that break off.

use super::table::{Table, still_plays};
use crate::bench::Bench;
use crate::case::{Case, Lane, Level};
use crate::http::{Trouble, post_head};
use crate::limits::{JOIN_TIME, LARGE_BODY_BYTES};
use crate::probe;
use crate::verdict::{Halt, Outcome};

const CASE: Case = Case {
    section: "docs/protocol/league-v2.md, Transport",
    requirements: &["ARCH-1"],
    ..Case::BLANK
};

pub(super) static CASES: &[Case] = &[
    Case {
        id: "player.http.status",
        title: "An answer has the HTTP status 200",
        sent: "GAME_INVITATION",
        wanted: "the status 200",
        why: "A strict referee does not count a result that came with the status of an error.",
        run: |bench| Box::pin(status(bench)),
        ..CASE
    },
    Case {
        id: "player.http.content-type",
        title: "An answer says that it is JSON",
        level: Level::Should,
        sent: "GAME_INVITATION",
        wanted: "the header `Content-Type: application/json`",
        why: "Libraries that look at it refuse to read anything else.",
        run: |bench| Box::pin(content_type(bench)),
        ..CASE
    },
    Case {
        id: "player.http.charset",
        title: "A request may name its character set",
        sent: "GAME_INVITATION with `Content-Type: application/json; charset=utf-8`",
        wanted: "GAME_JOIN_ACK",
        why: "Many HTTP libraries add it by themselves.",
        run: |bench| Box::pin(charset(bench)),
        ..CASE
    },
    Case {
        id: "player.http.keep-alive",
        title: "A second call on the same connection is answered",
        level: Level::Should,
        sent: "two invitations on one connection",
        wanted: "two answers, or a connection that is closed in good order after the first",
        why: "Referees keep connections open to save time.",
        run: |bench| Box::pin(keep_alive(bench)),
        ..CASE
    },
    Case {
        id: "player.http.large-body",
        title: "A body of 1 MB does no harm",
        lane: Lane::Alone,
        sent: "a ping with 1 MB of filler, then an ordinary invitation",
        wanted: "the invitation is accepted; the large one may be answered or refused (413)",
        why: "Anybody can send anything to an open port.",
        run: |bench| Box::pin(large_body(bench)),
        ..CASE
    },
    Case {
        id: "player.http.half-body",
        title: "A caller that breaks off in the middle does no harm",
        sent: "half a request, then the end of the connection; then an ordinary invitation",
        wanted: "the invitation is accepted",
        why: "Networks break at any moment, and the next call is somebody else's.",
        run: |bench| Box::pin(half_body(bench)),
        ..CASE
    },
    Case {
        id: "player.http.unread-answer",
        title: "A caller that leaves before the answer does no harm",
        sent: "a whole invitation, then the end of the connection; then an ordinary invitation",
        wanted: "the second invitation is accepted",
        why: "A referee that crashes leaves like that.",
        run: |bench| Box::pin(unread_answer(bench)),
        ..CASE
    },
    Case {
        id: "player.http.slow-peer",
        title: "A caller that is slow does not keep others waiting",
        level: Level::Should,
        sent: "half a request on a connection that stays open; meanwhile an ordinary invitation",
        wanted: "the invitation is accepted within 5 s",
        why: "One broken caller would otherwise make the player lose all its matches.",
        run: |bench| Box::pin(slow_peer(bench)),
        ..CASE
    },
    Case {
        id: "player.http.get",
        title: "A GET of /mcp is refused and does no harm",
        level: Level::Should,
        sent: "GET /mcp",
        wanted: "a status from 400 to 499, such as 405, or 501",
        why: "Browsers and scanners come by; they should see that this is no page.",
        run: |bench| Box::pin(probe::get(bench)),
        ..CASE
    },
    Case {
        id: "player.http.health",
        title: "GET /health is answered within 1 s",
        level: Level::Should,
        requirements: &["ARCH-6"],
        sent: "GET /health",
        wanted: "the status 200 within 1 s",
        why: "Whoever runs the agent can see that it lives without asking the league.",
        run: |bench| Box::pin(probe::health(bench)),
        ..CASE
    },
];

fn first(halt: Halt) -> Halt {
    halt.unless_told_by("player.invite.accepts")
}

async fn status(bench: &Bench) -> Outcome {
    let table = Table::new(bench);
    let (asked, read) = table.invite().await;
    table.unguarded(&asked)?;
    read.map_err(first)?;
    let got = asked.answered(&table.ack()).map_err(first)?;
    if got.status == 200 {
        return Ok(());
    }
    Err(Halt::fail(format!("the HTTP status is {}", got.status), "answer with the status 200"))
}

async fn content_type(bench: &Bench) -> Outcome {
    let table = Table::new(bench);
    let (asked, _) = table.invite().await;
    let got = asked.answered(&table.ack()).map_err(first)?;
    let said = got.header("content-type").unwrap_or_default();
    if said.to_ascii_lowercase().starts_with("application/json") {
        return Ok(());
    }
    let said = if said.is_empty() { "missing" } else { said };
    let sentence = format!("the answer's Content-Type is {said}");
    Err(Halt::fail(sentence, "send the header `Content-Type: application/json`"))
}

async fn charset(bench: &Bench) -> Outcome {
    let table = Table::new(bench);
    table.join().await?;
    let body = bench.draft(&table.invitation()).bytes();
    let headers = ["Content-Type: application/json; charset=utf-8", "Connection: close"];
    let mut request = post_head(&bench.subject.address, body.len(), &headers);
    request.extend_from_slice(&body);
    let broken = |trouble: Trouble| Halt::fail(trouble.to_string(), CHARSET);
    let mut line = bench.line().await.map_err(broken)?;
    line.send(&request).await.map_err(broken)?;
    let got = line.receive(JOIN_TIME).await.map_err(broken)?;
    if got.status == 200 {
        return Ok(());
    }
    let sentence = format!("a request with a character set was refused with {}", got.status);
    Err(Halt::fail(sentence, CHARSET))
}

const CHARSET: &str = "accept every Content-Type that begins with application/json";

async fn keep_alive(bench: &Bench) -> Outcome {
    still_plays(bench, "nothing yet").await.map_err(first)?;
    let broken = |trouble: Trouble| Halt::fail(trouble.to_string(), KEEP_ALIVE);
    let mut line = bench.line().await.map_err(broken)?;
    for number in [1, 2] {
        let body = bench.draft(&Table::new(bench).invitation()).bytes();
        let mut request =
            post_head(&bench.subject.address, body.len(), &["Content-Type: application/json"]);
        request.extend_from_slice(&body);
        line.send(&request).await.map_err(broken)?;
        let got = line.receive(JOIN_TIME).await.map_err(broken)?;
        let connection = got.header("connection").unwrap_or_default().to_ascii_lowercase();
        if number == 1 && connection.contains("close") {
            return Ok(());
        }
    }
    Ok(())
}

const KEEP_ALIVE: &str =
    "answer further requests on the same connection, or say `Connection: close` in the answer";

async fn large_body(bench: &Bench) -> Outcome {
    still_plays(bench, "nothing yet").await.map_err(first)?;
    let filler = "x".repeat(LARGE_BODY_BYTES);
    let draft = bench.draft(&Table::new(bench).invitation()).with("filler", filler);
    let _whatever = bench.ask_bytes(draft.bytes(), JOIN_TIME).await;
    still_plays(bench, "a body of 1 MB").await
}

async fn half_body(bench: &Bench) -> Outcome {
    still_plays(bench, "nothing yet").await.map_err(first)?;
    half(bench).await?;
    bench.note("the connection is closed in the middle of the body");
    still_plays(bench, "half a request").await
}

/// A connection on which half a request was sent.
async fn half(bench: &Bench) -> Result<crate::http::Line, Halt> {
    let body = bench.draft(&Table::new(bench).invitation()).bytes();
    let mut request =
        post_head(&bench.subject.address, body.len(), &["Content-Type: application/json"]);
    request.extend_from_slice(&body[..body.len() / 2]);
    let broken = |trouble: Trouble| Halt::fail(trouble.to_string(), "accept connections");
    let mut line = bench.line().await.map_err(broken)?;
    line.send(&request).await.map_err(broken)?;
    Ok(line)
}

async fn unread_answer(bench: &Bench) -> Outcome {
    still_plays(bench, "nothing yet").await.map_err(first)?;
    let body = bench.draft(&Table::new(bench).invitation()).bytes();
    let mut request =
        post_head(&bench.subject.address, body.len(), &["Content-Type: application/json"]);
    request.extend_from_slice(&body);
    let broken = |trouble: Trouble| Halt::fail(trouble.to_string(), "accept connections");
    let mut line = bench.line().await.map_err(broken)?;
    line.send(&request).await.map_err(broken)?;
    drop(line);
    bench.note("the connection is closed before the answer");
    still_plays(bench, "a caller that left before the answer").await
}

async fn slow_peer(bench: &Bench) -> Outcome {
    still_plays(bench, "nothing yet").await.map_err(first)?;
    let line = half(bench).await?;
    bench.note("the connection stays open, and the rest of the body does not come");
    let outcome = still_plays(bench, "half a request on a connection that is still open").await;
    drop(line);
    outcome.map_err(|halt| match halt {
        Halt::Fail(mut finding) => {
            finding.change =
                "serve every connection in a thread or task of its own; in Python use \
                 ThreadingHTTPServer"
                    .into();
            finding.json = None;
            Halt::Fail(finding)
        }
        Halt::Skip(_) | Halt::Ours(_) => halt,
    })
}
