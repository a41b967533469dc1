//! How a referee comes by a match: START_MATCH.

use std::time::Duration;

use league_core::id::{AgentId, RefereeId};
use league_core::seat::Seat;
use league_wire::message::ErrorReport;
use league_wire::{AuthToken, Code, Decision, Message, MessageType};

use super::bout::{Bout, Setup};
use super::guest::{Manner, Say};
use super::notebook::Ear;
use crate::answer::Asked;
use crate::bench::Bench;
use crate::case::{Case, Lane, Level};
use crate::limits::{ORDER_TIME, REPORT_TIME};
use crate::verdict::{Halt, Outcome};

const CASE: Case = Case {
    lane: Lane::Together,
    section: "docs/protocol/league-v2.md, START_MATCH",
    requirements: &["MATCH-1"],
    sent: "START_MATCH",
    ..Case::BLANK
};

pub(super) static CASES: &[Case] = &[
    Case {
        id: "referee.order.accepts",
        title: "A match is taken within 10 s",
        requirements: &["MATCH-1", "ERR-5"],
        wanted: "START_MATCH_ACK with `status` ACCEPTED, within 10 s",
        why: "A match that is not taken goes to another referee.",
        run: |bench| Box::pin(accepts(bench)),
        ..CASE
    },
    Case {
        id: "referee.order.names-match",
        title: "The acknowledgement names the match and the attempt",
        wanted: "START_MATCH_ACK with the same `match_id` and `attempt`",
        why: "An acknowledgement of another attempt is none.",
        run: |bench| Box::pin(names_match(bench)),
        ..CASE
    },
    Case {
        id: "referee.order.twice",
        title: "The same order twice is one match",
        sent: "the same START_MATCH twice",
        wanted: "START_MATCH_ACK that accepts, twice, and one invitation to each player",
        why: "A manager that did not hear the answer orders again; the match is played once.",
        run: |bench| Box::pin(twice(bench)),
        ..CASE
    },
    Case {
        id: "referee.order.later-attempt",
        title: "A later attempt replaces the one that is running",
        level: Level::Should,
        requirements: &["ERR-6"],
        sent: "START_MATCH with `attempt` 1 to players that think, then with `attempt` 2",
        wanted: "a report of attempt 2",
        why: "The manager orders a match anew when it has lost sight of it.",
        run: |bench| Box::pin(later_attempt(bench)),
        ..CASE
    },
    Case {
        id: "referee.order.forged",
        title: "An order that is not the manager's is refused",
        level: Level::Should,
        requirements: &["AUTH-2", "AUTH-6"],
        section: "docs/protocol/proofs.md, At a glance",
        sent: "START_MATCH with a token that is not the referee's",
        wanted: "an error, E012, and no invitation",
        why: "Anybody could have matches played.",
        run: |bench| Box::pin(forged(bench)),
        ..CASE
    },
    Case {
        id: "referee.order.unknown-game",
        title: "A game that it does not know is refused",
        level: Level::Should,
        requirements: &["REG-9"],
        sent: "START_MATCH with the `game_type` seven_card_snap",
        wanted: "an error or `status` REJECTED, and no invitation",
        why: "The manager gives the match to somebody who knows the game.",
        run: |bench| Box::pin(unknown_game(bench)),
        ..CASE
    },
];

async fn accepts(bench: &Bench) -> Outcome {
    let bout = Bout::new(bench, Setup::default()).await?;
    let asked = bench.ask(&bout.order(), ORDER_TIME).await;
    bout.unguarded(&asked)?;
    let ack = bout.read_ack(&asked)?;
    if ack.status == Decision::Accepted {
        return Ok(());
    }
    let reason = ack.reason.unwrap_or_else(|| "no reason given".into());
    let sentence = format!("it did not take the match: {reason}");
    Err(Halt::fail_with(sentence, "answer with", asked.ideal(&bout.ack())))
}

async fn names_match(bench: &Bench) -> Outcome {
    let bout = Bout::new(bench, Setup::default()).await?;
    let asked = bench.ask(&bout.order(), ORDER_TIME).await;
    bout.unguarded(&asked)?;
    let told = |halt: Halt| halt.unless_told_by("referee.order.accepts");
    let ack = bout.read_ack(&asked).map_err(told)?;
    if ack.match_id == bout.match_id && ack.attempt == bout.attempt {
        return Ok(());
    }
    let sentence = format!("it acknowledged {}, attempt {}", ack.match_id, ack.attempt);
    Err(Halt::fail_with(sentence, "answer with", asked.ideal(&bout.ack())))
}

async fn twice(bench: &Bench) -> Outcome {
    let bout = Bout::new(bench, Setup::default()).await?;
    bout.start().await?;
    let asked = bench.ask(&bout.order(), ORDER_TIME).await;
    let ack = bout.read_ack(&asked)?;
    if ack.status != Decision::Accepted {
        let sentence = "it refused the same order when it came again";
        return Err(Halt::fail_with(sentence, "answer with", asked.ideal(&bout.ack())));
    }
    if bout.report(REPORT_TIME).await?.is_none() {
        return Err(Halt::skip("what it builds on fails: see referee.report.comes"));
    }
    let kind = MessageType::GameInvitation;
    bout.notebook.hears(Ear::Player(Seat::A), kind, 2, Duration::from_millis(500)).await;
    for seat in Seat::BOTH {
        let count = bout.notes(seat, kind).len();
        if count != 1 {
            return Err(Halt::fail(
                format!("the same order twice brought {count} invitations to one player"),
                "keep the matches that you run by `match_id` and `attempt`, and answer as before",
            ));
        }
    }
    Ok(())
}

async fn later_attempt(bench: &Bench) -> Outcome {
    let mut setup = Setup::default();
    for seat in Seat::BOTH {
        let slow = vec![Say::After(Duration::from_secs(2))];
        setup.manners[seat] = Manner { choices: slow, ..setup.manners[seat].clone() };
    }
    let first = Bout::new(bench, setup).await?;
    first.founded().await?;
    first.start().await?;
    first.notebook.hears(Ear::Player(Seat::A), MessageType::ChooseParityCall, 1, ORDER_TIME).await;
    let again = Setup { attempt: 2, match_id: Some(first.match_id), ..Setup::default() };
    let second = Bout::new(bench, again).await?;
    let asked = bench.ask(&second.order(), ORDER_TIME).await;
    let ack = second.read_ack(&asked)?;
    if ack.status != Decision::Accepted {
        let sentence = "it did not take the second attempt at a match that it runs";
        return Err(Halt::fail_with(sentence, "answer with", asked.ideal(&second.ack())));
    }
    // Both attempts have the same books; the first report in them must be of the second attempt.
    match second.report(REPORT_TIME).await? {
        Some((report, _)) if report.attempt == Some(2) => Ok(()),
        Some((report, _)) => Err(Halt::fail(
            format!("it reported attempt {:?} after attempt 2 was ordered", report.attempt),
            "give the earlier attempt up, and set `attempt` in the report",
        )),
        None => Err(Halt::fail("the second attempt was not reported", "play it and report it")),
    }
}

/// Whether an order was refused and nobody was called.
async fn refused(bout: &Bout<'_>, asked: &Asked, code: Code, text: &str) -> Outcome {
    let code = code.told(bout.bench.dialect());
    let report = ErrorReport::new(code, text);
    let ideal = bout.bench.from_agent(Message::GameError(report));
    let declined = asked.refused(&ideal)?.is_some()
        || bout.read_ack(asked).is_ok_and(|ack| ack.status == Decision::Rejected);
    if !declined {
        let sentence = format!("it took the match although {text}");
        return Err(Halt::fail_with(sentence, "answer with", asked.ideal(&ideal)));
    }
    let ear = Ear::Player(Seat::A);
    let moment = Duration::from_millis(300);
    if bout.notebook.hears(ear, MessageType::GameInvitation, 1, moment).await {
        let sentence = "it refused the order and invited the players all the same";
        return Err(Halt::fail(sentence, "invite nobody to a match that you refused"));
    }
    Ok(())
}

async fn forged(bench: &Bench) -> Outcome {
    Bout::new(bench, Setup::default()).await?.start().await?;
    let bout = Bout::new(bench, Setup::default()).await?;
    let mut order = bout.order();
    let other = bench.subject.stage.token(AgentId::Referee(RefereeId::new(77)));
    order.envelope.token = Some(AuthToken::new(other.expose()));
    let asked = bench.ask(&order, ORDER_TIME).await;
    refused(&bout, &asked, Code::E012, "auth_token is not yours").await
}

async fn unknown_game(bench: &Bench) -> Outcome {
    Bout::new(bench, Setup::default()).await?.start().await?;
    let bout = Bout::new(bench, Setup::default()).await?;
    let mut start = bout.start_match();
    let game = "seven_card_snap".parse();
    start.game_type = game.map_err(|_| Halt::Ours("no name of a game".into()))?;
    let order = bench.from_manager(Message::StartMatch(start));
    let asked = bench.ask(&order, ORDER_TIME).await;
    refused(&bout, &asked, Code::G003, "this referee does not know the game").await
}
