//! The referee as a service: many matches, broken callers, restarts.

use std::time::Duration;

use league_core::seat::Seat;
use league_wire::message::{Ping, Pong};
use league_wire::{Code, Decision, Message, MessageType};

use super::bout::{Bout, Setup};
use super::guest::{Manner, Say};
use crate::bench::Bench;
use crate::case::{Case, Lane, Level};
use crate::http::post_head;
use crate::limits::{ORDER_TIME, REPORT_TIME, TOLD_TIME};
use crate::probe;
use crate::verdict::{Halt, Outcome};

const CASE: Case = Case {
    section: "docs/protocol/league-v2.md, Transport",
    requirements: &["ARCH-1"],
    ..Case::BLANK
};

/// How many matches run at once in the case about that.
const SEVERAL: usize = 4;

pub(super) static CASES: &[Case] = &[
    Case {
        id: "referee.service.several",
        title: "Several matches at the same time are not mixed up",
        requirements: &["ARCH-3", "REG-9"],
        section: "docs/protocol/league-v2.md, START_MATCH",
        sent: "START_MATCH for four matches, or as many as the registration allows, to players \
               that think for half a second",
        wanted: "a report of each, with the choices that were made in it",
        why: "A round has many matches and few referees.",
        run: |bench| Box::pin(several(bench)),
        ..CASE
    },
    Case {
        id: "referee.service.survives-garbage",
        title: "Bytes that are no JSON do no harm",
        sent: "half a request, broken JSON, then an ordinary match",
        wanted: "a report of the match",
        why: "Anybody can send anything to an open port.",
        run: |bench| Box::pin(survives_garbage(bench)),
        ..CASE
    },
    Case {
        id: "referee.service.parse-error",
        title: "Bytes that are no JSON are answered with −32700",
        level: Level::Should,
        requirements: &["WIRE-1"],
        section: "docs/protocol/league-v2.md, Frames",
        sent: "`{\"jsonrpc\": \"2.0\", \"method\"` and nothing more",
        wanted: "a JSON-RPC error −32700 with the id null",
        why: "Whoever sends broken JSON learns it from the answer and not from silence.",
        run: |bench| {
            Box::pin(probe::told(bench, "{\"jsonrpc\": \"2.0\", \"method\"", Code::ParseError))
        },
        ..CASE
    },
    Case {
        id: "referee.service.unknown-method",
        title: "A method that nobody knows is answered with −32601",
        level: Level::Should,
        requirements: &["WIRE-1"],
        section: "docs/protocol/league-v2.md, Frames",
        sent: "the method `no_such_method`",
        wanted: "a JSON-RPC error −32601 with the request's id",
        why: "The manager finds out by it under which name a referee takes matches.",
        run: |bench| Box::pin(probe::unknown_method(bench)),
        ..CASE
    },
    Case {
        id: "referee.service.ping",
        title: "A ping is answered",
        level: Level::Should,
        requirements: &["LIFE-3"],
        section: "docs/protocol/league-v2.md, PING",
        sent: "PING",
        wanted: "a result, such as PONG",
        why: "A suspended referee comes back by answering a ping.",
        run: |bench| Box::pin(ping(bench)),
        ..CASE
    },
    Case {
        id: "referee.service.health",
        title: "GET /health is answered within 1 s",
        level: Level::Should,
        requirements: &["ARCH-6"],
        sent: "GET /health",
        wanted: "the status 200 within 1 s",
        why: "Whoever runs the agent can see that it lives without asking the league.",
        run: |bench| Box::pin(probe::health(bench)),
        ..CASE
    },
    Case {
        id: "referee.service.restart",
        title: "A referee that was killed comes back and runs matches",
        lane: Lane::Last,
        requirements: &["REG-6"],
        section: "docs/protocol/league-v2.md, Agents",
        sent: "the agent is killed and started again, then START_MATCH",
        wanted: "it registers again, and reports the match",
        why: "Programs crash, and a league goes on for hours.",
        run: |bench| Box::pin(restart(bench)),
        ..CASE
    },
    Case {
        id: "referee.service.same-referee",
        title: "A referee that comes back shows its token",
        level: Level::Should,
        lane: Lane::Last,
        requirements: &["REG-6", "AUTH-5"],
        section: "docs/protocol/league-v2.md, Agents",
        sent: "the agent is killed and started again",
        wanted: "a registration with the token of the one before",
        why: "Without the token it is a stranger from an address that is taken (L003).",
        run: |bench| Box::pin(same_referee(bench)),
        ..CASE
    },
];

async fn several(bench: &Bench) -> Outcome {
    let allowed = bench.registered().ok().and_then(|one| one.meta.max_concurrent_matches);
    let allowed = allowed.map_or(1, |allowed| usize::try_from(allowed).unwrap_or(usize::MAX));
    Bout::new(bench, Setup::default()).await?.founded().await?;
    let mut bouts = Vec::new();
    for _ in 0..SEVERAL.min(allowed) {
        let mut setup = Setup::default();
        for seat in Seat::BOTH {
            let choices = vec![Say::After(Duration::from_millis(500))];
            setup.manners[seat] = Manner { choices, ..setup.manners[seat].clone() };
        }
        let bout = Bout::new(bench, setup).await?;
        bout.start().await?;
        bouts.push(bout);
    }
    for bout in &bouts {
        let Some((report, _)) = bout.report(REPORT_TIME).await? else {
            return Err(Halt::fail(
                format!("of {} matches at once one was not reported", bouts.len()),
                "run as many matches at once as the registration says",
            ));
        };
        for seat in Seat::BOTH {
            let strangers = bout.sent_to(seat).into_iter().any(|note| {
                matches!(note.message(), Some(Message::GameInvitation(invitation))
                    if invitation.match_id != bout.match_id)
            });
            if strangers || !report.players.contains_key(&bout.guests[seat].id) {
                let sentence = "messages of one match went to the players of another";
                return Err(Halt::fail(sentence, "keep everything of a match by its `match_id`"));
            }
        }
    }
    Ok(())
}

/// Whether an ordinary match is played, after something that must not hurt.
async fn still_runs(bench: &Bench, after: &str) -> Outcome {
    let bout = Bout::new(bench, Setup::default()).await?;
    let started = bout.start().await;
    if started.is_ok() && bout.report(REPORT_TIME).await?.is_some() {
        return Ok(());
    }
    Err(Halt::fail(
        format!("after {after} an ordinary match was not played"),
        "answer the next call as if nothing had happened",
    ))
}

async fn survives_garbage(bench: &Bench) -> Outcome {
    Bout::new(bench, Setup::default()).await?.play().await?;
    if let Ok(mut line) = bench.line().await {
        let head = post_head(&bench.subject.address, 1_000, &["Content-Type: application/json"]);
        // A server that hangs up early is no worse for it.
        let _gone = line.send(&head).await;
    }
    let _whatever = bench.post(b"{\"jsonrpc\": \"2.0\", \"method\"", TOLD_TIME).await;
    still_runs(bench, "broken requests").await
}

async fn ping(bench: &Bench) -> Outcome {
    let asked = bench.ask(&bench.from_manager(Message::Ping(Ping {})), TOLD_TIME).await;
    asked.heard(&bench.from_agent(Message::Pong(Pong { state: None })))
}

async fn restart(bench: &Bench) -> Outcome {
    bench.restart().await?;
    let bout = Bout::new(bench, Setup::default()).await?;
    let asked = bench.ask(&bout.order(), ORDER_TIME).await;
    let ack = bout.read_ack(&asked)?;
    if ack.status == Decision::Rejected {
        return Err(Halt::skip("what it builds on fails: see referee.order.accepts"));
    }
    bout.founded().await?;
    if bout.report(REPORT_TIME).await?.is_some() {
        return Ok(());
    }
    let invited = bout.notes(Seat::A, MessageType::GameInvitation).len();
    let sentence = format!("after a restart a match with {invited} invitations was not reported");
    Err(Halt::fail(sentence, "register every time the agent starts"))
}

async fn same_referee(bench: &Bench) -> Outcome {
    let before = bench.me();
    let told = |halt: Halt| halt.unless_told_by("referee.service.restart");
    let again = bench.restart().await.map_err(told)?;
    if again.came_back {
        return Ok(());
    }
    let sentence = format!("it was {}, and registered without its token", before.id);
    let change = "keep `auth_token`, `referee_id` and `league_id` in a private file, and register \
                  with them";
    Err(Halt::fail(sentence, change))
}
