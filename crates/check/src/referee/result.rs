//! Results: the draw, the report, and what players are told.

use std::time::Duration;

use league_core::seat::{Seat, Seats};
use league_wire::message::{GameOver, MatchResultReport};
use league_wire::{Message, MessageType, MoveValue, Parity, ResultStatus, Sender};

use super::bout::{Bout, Reception, Setup};
use super::guest::{Manner, Say};
use super::notebook::{Ear, Note};
use crate::bench::Bench;
use crate::case::{Case, Lane, Level};
use crate::limits::{ORDER_TIME, REPORT_TIME};
use crate::verdict::{Halt, Outcome};

const CASE: Case = Case {
    lane: Lane::Together,
    section: "docs/protocol/league-v2.md, MATCH_RESULT_REPORT",
    requirements: &["RESULT-1"],
    sent: "START_MATCH; player A chooses even, player B odd",
    ..Case::BLANK
};

pub(super) static CASES: &[Case] = &[
    Case {
        id: "referee.report.comes",
        title: "The match is reported",
        wanted: "MATCH_RESULT_REPORT to the manager as soon as the match is decided",
        why: "A match that is not reported was not played.",
        run: |bench| Box::pin(comes(bench)),
        ..CASE
    },
    Case {
        id: "referee.report.proves-itself",
        title: "The report is the referee's own",
        requirements: &["RESULT-2", "AUTH-2"],
        section: "docs/protocol/proofs.md, At a glance",
        wanted: "the referee's id in `sender` and its token in `auth_token`",
        why: "A report that proves nothing is refused.",
        run: |bench| Box::pin(proves_itself(bench)),
        ..CASE
    },
    Case {
        id: "referee.report.choices",
        title: "The report has the choices that the players made",
        requirements: &["RESULT-2", "MATCH-5"],
        wanted: "\"even\" for player A and \"odd\" for player B",
        why: "The manager computes the result from them.",
        run: |bench| Box::pin(choices(bench)),
        ..CASE
    },
    Case {
        id: "referee.report.proofs",
        title: "Nonces and choice proofs are passed on",
        level: Level::Should,
        requirements: &["RESULT-2", "MATCH-7"],
        wanted: "`nonce` and `choice_proof` of both players, as they were sent",
        why: "Without them nobody can check the draw and the choices.",
        run: |bench| Box::pin(proofs(bench)),
        ..CASE
    },
    Case {
        id: "referee.report.number",
        title: "The number is from 1 to 10",
        requirements: &["MATCH-7"],
        wanted: "`drawn_number` from 1 to 10",
        why: "Another number is refused.",
        run: |bench| Box::pin(number(bench)),
        ..CASE
    },
    Case {
        id: "referee.report.committed-draw",
        title: "A referee that draws with the seed draws the number that follows from it",
        requirements: &["MATCH-7"],
        section: "docs/protocol/proofs.md, The draw",
        wanted: "the number of the seed, if START_MATCH_ACK repeated the commitment",
        why: "It was promised to the players before they chose.",
        run: |bench| Box::pin(committed_draw(bench)),
        ..CASE
    },
    Case {
        id: "referee.report.winner",
        title: "The winner is whose choice is the number's parity",
        requirements: &["MATCH-8", "RESULT-2"],
        wanted: "player A for an even number, player B for an odd one, and 3 points",
        why: "A winner that does not follow from choices and number is refused as a lie.",
        run: |bench| Box::pin(winner(bench)),
        ..CASE
    },
    Case {
        id: "referee.report.draw",
        title: "The same choice is a draw",
        requirements: &["MATCH-8", "RESULT-4"],
        sent: "START_MATCH; both players choose even",
        wanted: "no winner, DRAW, one point each",
        why: "A winner that does not follow from choices and number is refused as a lie.",
        run: |bench| Box::pin(draw(bench)),
        ..CASE
    },
    Case {
        id: "referee.report.retried",
        title: "A report that is not acknowledged is sent again",
        requirements: &["RESULT-1", "ERR-3"],
        section: "docs/protocol/league-v2.md, Timing",
        sent: "START_MATCH; the manager answers the first report with E033",
        wanted: "the report again, after 2 s or what `report_backoff` says",
        why: "A result must never be lost because the manager was busy.",
        run: |bench| Box::pin(retried(bench)),
        ..CASE
    },
    Case {
        id: "referee.report.same-again",
        title: "A report that is sent again is the same",
        requirements: &["RESULT-3"],
        section: "docs/protocol/league-v2.md, Timing",
        sent: "START_MATCH; the manager answers the first report with E033",
        wanted: "the same number, winner and choices in the second report",
        why: "A different report for the same match is refused (E032).",
        run: |bench| Box::pin(same_again(bench)),
        ..CASE
    },
    Case {
        id: "referee.over.after-report",
        title: "Players hear the result only when it is in the books",
        requirements: &["RESULT-1", "MATCH-9"],
        section: "docs/protocol/league-v2.md, GAME_OVER",
        sent: "START_MATCH; the manager acknowledges after 700 ms",
        wanted: "no GAME_OVER before the acknowledgement",
        why: "Nobody is told a result that may not count.",
        run: |bench| Box::pin(after_report(bench)),
        ..CASE
    },
    Case {
        id: "referee.over.tells-both",
        title: "Both players hear how the match ended",
        requirements: &["MATCH-9"],
        section: "docs/protocol/league-v2.md, GAME_OVER",
        wanted: "GAME_OVER to both",
        why: "Players learn from it, and their authors too.",
        run: |bench| Box::pin(tells_both(bench)),
        ..CASE
    },
    Case {
        id: "referee.over.as-reported",
        title: "Players are told what was reported",
        requirements: &["MATCH-9", "RESULT-2"],
        section: "docs/protocol/league-v2.md, GAME_OVER",
        wanted: "the report's winner and number in GAME_OVER",
        why: "What players are told is what is in the books.",
        run: |bench| Box::pin(as_reported(bench)),
        ..CASE
    },
    Case {
        id: "referee.over.silence",
        title: "A player that does not acknowledge the end does no harm",
        requirements: &["MATCH-9"],
        section: "docs/protocol/league-v2.md, GAME_OVER",
        sent: "START_MATCH; player A does not answer GAME_OVER; then another match",
        wanted: "GAME_OVER to player B, and a report of the other match",
        why: "Silence after the end is only noted.",
        run: |bench| Box::pin(silence(bench)),
        ..CASE
    },
];

async fn comes(bench: &Bench) -> Outcome {
    let bout = Bout::new(bench, Setup::default()).await?;
    bout.start().await?;
    match bout.report(REPORT_TIME).await? {
        Some(_) => Ok(()),
        None => {
            let seconds = REPORT_TIME.as_secs();
            let sentence = format!("no MATCH_RESULT_REPORT came within {seconds} s");
            Err(Halt::fail(sentence, "report to the manager at which you registered"))
        }
    }
}

async fn proves_itself(bench: &Bench) -> Outcome {
    let bout = Bout::new(bench, Setup::default()).await?;
    let (_, envelope) = bout.play().await?;
    let Some(token) = &bout.own_token else {
        return Err(Halt::skip("its token is not known: use --start, --listen or --token"));
    };
    let me = Sender::Referee(bout.referee().to_string().into());
    if envelope.sender != me {
        let sentence = format!("`sender` of the report is {}", envelope.sender);
        return Err(Halt::fail_with(sentence, "change it to", format!("\"sender\": \"{me}\"")));
    }
    if !envelope.token.is_some_and(|shown| token.matches(shown.reveal())) {
        let sentence = "`auth_token` of the report is not the referee's token";
        return Err(Halt::fail(sentence, "set it to the token of your registration"));
    }
    Ok(())
}

/// What a report says that a player chose.
fn chosen(report: &MatchResultReport, bout: &Bout<'_>, seat: Seat) -> Option<String> {
    let player = report.players.get(&bout.guests[seat].id)?;
    match player.line.choice.as_ref()? {
        MoveValue::Text(text) => Some(text.clone()),
        MoveValue::Number(number) => Some(number.to_string()),
    }
}

async fn choices(bench: &Bench) -> Outcome {
    let bout = Bout::new(bench, Setup::default()).await?;
    let (report, _) = bout.play().await?;
    for seat in Seat::BOTH {
        let (said, right) = (chosen(&report, &bout, seat), bout.guests[seat].manner.choice.word());
        if said.as_deref() != Some(right) {
            let id = bout.guests[seat].id;
            let said = said.unwrap_or_else(|| "nothing".into());
            let sentence = format!("{id} chose {right}, and the report says {said}");
            return Err(Halt::fail(sentence, "report the choices as the players sent them"));
        }
    }
    Ok(())
}

async fn proofs(bench: &Bench) -> Outcome {
    let bout = Bout::new(bench, Setup::default()).await?;
    let (report, _) = bout.play().await?;
    for seat in Seat::BOTH {
        let guest = &bout.guests[seat];
        let said = report.players.get(&guest.id);
        let nonce = said.and_then(|said| said.line.nonce.as_ref());
        if nonce != Some(&guest.nonce) || said.is_none_or(|said| said.choice_proof.is_none()) {
            let sentence = format!("nonce or choice proof of {} are not in the report", guest.id);
            let change = "copy `nonce` and `choice_proof` of each choice to `players.<id>`";
            return Err(Halt::fail(sentence, change));
        }
    }
    Ok(())
}

/// The number of a report.
fn drawn(report: &MatchResultReport) -> Result<u32, Halt> {
    report
        .drawn_number
        .ok_or_else(|| Halt::skip("what it builds on fails: see referee.report.number"))
}

async fn number(bench: &Bench) -> Outcome {
    let bout = Bout::new(bench, Setup::default()).await?;
    let (report, _) = bout.play().await?;
    match report.drawn_number {
        Some(1..=10) => Ok(()),
        Some(other) => Err(Halt::fail(format!("it drew {other}"), "draw a number from 1 to 10")),
        None => Err(Halt::fail("the report has no number", "set `drawn_number`")),
    }
}

async fn committed_draw(bench: &Bench) -> Outcome {
    let bout = Bout::new(bench, Setup::default()).await?;
    let ack = bout.start().await?;
    if ack.draw_commitment.is_none() {
        return Err(Halt::skip("it draws by itself: its START_MATCH_ACK repeats no commitment"));
    }
    let Some((report, _)) = bout.report(REPORT_TIME).await? else {
        return Err(Halt::skip("what it builds on fails: see referee.report.comes"));
    };
    // A referee that passes no nonces on draws without them.
    let nonce = |seat: Seat| {
        let player = report.players.get(&bout.guests[seat].id);
        player.and_then(|player| player.line.nonce.as_deref()).unwrap_or_default()
    };
    if !(1..=10).contains(&drawn(&report)?) {
        return Err(Halt::skip("what it builds on fails: see referee.report.number"));
    }
    let right = bout.number(Seats::new(nonce(Seat::A), nonce(Seat::B)));
    let (said, right) = (drawn(&report)?, u32::from(right));
    if said == right {
        return Ok(());
    }
    let sentence = format!("from the seed and both nonces follows {right}, and it drew {said}");
    Err(Halt::fail(sentence, "compute it as in docs/protocol/proofs.md, The draw"))
}

fn points(report: &MatchResultReport, bout: &Bout<'_>, seat: Seat) -> Option<u32> {
    report.players.get(&bout.guests[seat].id).and_then(|player| player.line.points)
}

async fn winner(bench: &Bench) -> Outcome {
    let bout = Bout::new(bench, Setup::default()).await?;
    let (report, _) = bout.play().await?;
    let number = drawn(&report)?;
    let seat = if Parity::of(number) == Parity::Even { Seat::A } else { Seat::B };
    let right = bout.guests[seat].id;
    if report.winner != Some(right) {
        let said = report.winner.map_or_else(|| "nobody".into(), |id| id.to_string());
        let sentence = format!("the number is {number}, so {right} wins; the report says {said}");
        return Err(Halt::fail(sentence, "the winner is whose choice is the number's parity"));
    }
    let scores = (points(&report, &bout, seat), points(&report, &bout, seat.other()));
    if scores != (Some(3), Some(0)) {
        let sentence = "the report does not give 3 points to the winner and 0 to the loser";
        return Err(Halt::fail(sentence, "set `result.score` accordingly"));
    }
    Ok(())
}

async fn draw(bench: &Bench) -> Outcome {
    let mut setup = Setup::default();
    setup.manners.b = Manner::choosing(Parity::Even);
    let bout = Bout::new(bench, setup).await?;
    let (report, _) = bout.play().await?;
    if let Some(winner) = report.winner {
        let sentence = format!("both chose even, and the report says that {winner} won");
        return Err(Halt::fail_with(sentence, "without a winner:", "\"winner\": null"));
    }
    if report.status.is_some_and(|status| status != ResultStatus::Draw) {
        let sentence = "both chose even, and the report does not say DRAW";
        return Err(Halt::fail_with(sentence, "set", "\"status\": \"DRAW\""));
    }
    if Seat::BOTH.into_iter().any(|seat| points(&report, &bout, seat) != Some(1)) {
        let sentence = "a draw, and not one point for each";
        return Err(Halt::fail(sentence, "set `result.score` to 1 for both"));
    }
    Ok(())
}

/// Plays a match whose first report is answered with E033, and gives back all reports.
async fn reports(bench: &Bench) -> Result<(bool, Vec<MatchResultReport>), Halt> {
    let setup = Setup { reception: Reception::BusyOnce, ..Setup::default() };
    let bout = Bout::new(bench, setup).await?;
    bout.play().await?;
    let kind = MessageType::MatchResultReport;
    let came = bout.notebook.hears(Ear::Manager, kind, 2, REPORT_TIME).await;
    let notes = bout.notebook.heard(Ear::Manager, kind);
    let reports = notes.into_iter().filter_map(|note| {
        let Message::MatchResultReport(report) = note.letter.ok()?.message else { return None };
        Some(report)
    });
    Ok((came, reports.collect()))
}

async fn retried(bench: &Bench) -> Outcome {
    if reports(bench).await?.0 {
        return Ok(());
    }
    Err(Halt::fail(
        "the manager could not take the report, and it was not sent again",
        "repeat it after 2, 4 and 8 s, then every 30 s, until MATCH_RESULT_ACK comes",
    ))
}

async fn same_again(bench: &Bench) -> Outcome {
    let (came, reports) = reports(bench).await?;
    let [first, second, ..] = reports.as_slice() else {
        return Err(Halt::skip("what it builds on fails: see referee.report.retried"));
    };
    let essence = |report: &MatchResultReport| {
        let choices = report.players.iter();
        let choices: Vec<_> = choices.map(|(id, line)| (*id, line.line.choice.clone())).collect();
        (report.winner, report.drawn_number, choices)
    };
    if came && essence(first) == essence(second) {
        return Ok(());
    }
    Err(Halt::fail("the second report says something else", "keep the report, and send it again"))
}

async fn after_report(bench: &Bench) -> Outcome {
    let slow = Duration::from_millis(700);
    let setup = Setup { reception: Reception::Slow(slow), ..Setup::default() };
    let bout = Bout::new(bench, setup).await?;
    bout.play_out().await?;
    let reported = bout.notebook.heard(Ear::Manager, MessageType::MatchResultReport);
    let Some(reported) = reported.first() else { return Ok(()) };
    for seat in Seat::BOTH {
        let early = |note: &Note| note.at < reported.at + slow;
        if bout.notes(seat, MessageType::GameOver).iter().any(early) {
            return Err(Halt::fail(
                "a player was told the result before the manager had acknowledged it",
                "send GAME_OVER after MATCH_RESULT_ACK",
            ));
        }
    }
    Ok(())
}

/// What a player was told at the end.
fn told(bout: &Bout<'_>, seat: Seat) -> Option<GameOver> {
    let notes = bout.notes(seat, MessageType::GameOver);
    let letter = notes.into_iter().next()?.letter.ok()?;
    let Message::GameOver(over) = letter.message else { return None };
    Some(over)
}

async fn tells_both(bench: &Bench) -> Outcome {
    let bout = Bout::new(bench, Setup::default()).await?;
    bout.play_out().await?;
    if Seat::BOTH.into_iter().all(|seat| told(&bout, seat).is_some()) {
        return Ok(());
    }
    Err(Halt::fail("a player was not told how the match ended", "send GAME_OVER to both players"))
}

async fn as_reported(bench: &Bench) -> Outcome {
    let bout = Bout::new(bench, Setup::default()).await?;
    let (report, _) = bout.play_out().await?;
    for seat in Seat::BOTH {
        let Some(over) = told(&bout, seat) else {
            return Err(Halt::skip("what it builds on fails: see referee.over.tells-both"));
        };
        if over.winner != report.winner || over.drawn_number != report.drawn_number {
            let sentence = "GAME_OVER has another winner or number than the report";
            return Err(Halt::fail(sentence, "tell the players what you reported"));
        }
    }
    Ok(())
}

async fn silence(bench: &Bench) -> Outcome {
    let mut setup = Setup::default();
    setup.manners.a.over = Say::Nothing;
    let bout = Bout::new(bench, setup).await?;
    bout.play().await?;
    let ear = Ear::Player(Seat::B);
    if !bout.notebook.hears(ear, MessageType::GameOver, 1, ORDER_TIME).await {
        let sentence = "one player did not acknowledge the end, and the other was never told";
        return Err(Halt::fail(sentence, "send GAME_OVER to both, each on its own"));
    }
    let next = Bout::new(bench, Setup::default()).await?;
    next.start().await?;
    if next.report(REPORT_TIME).await?.is_none() {
        let sentence = "after a player did not acknowledge the end, no other match was played";
        return Err(Halt::fail(sentence, "wait for it at most 5 s, beside other matches"));
    }
    Ok(())
}
