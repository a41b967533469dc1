//! Players that do not answer, or not as they should.

use std::time::Duration;

use league_core::seat::Seat;
use league_wire::message::{ErrorReport, MatchResultReport};
use league_wire::{Code, Message, MessageType, MoveValue, ResultStatus};

use super::bout::{Bout, HURRIED, Setup};
use super::guest::Say;
use super::notebook::Note;
use crate::bench::Bench;
use crate::case::{Case, Lane, Level};
use crate::limits::WORST_TIME;
use crate::verdict::{Halt, Outcome};

const CASE: Case = Case {
    lane: Lane::Together,
    section: "docs/protocol/league-v2.md, Timing",
    requirements: &["MATCH-4"],
    ..Case::BLANK
};

pub(super) static CASES: &[Case] = &[
    Case {
        id: "referee.trouble.no-ack",
        title: "Whoever does not answer the invitation loses technically",
        requirements: &["MATCH-2", "ERR-5"],
        sent: "START_MATCH; player B does not answer the invitation",
        wanted: "a report in which B lost technically and A won",
        why: "The other player came, and gets its points.",
        run: |bench| Box::pin(lost(bench, &[Say::Nothing], &[Say::Well])),
        ..CASE
    },
    Case {
        id: "referee.trouble.refusal",
        title: "Whoever refuses the invitation loses technically",
        requirements: &["MATCH-2"],
        sent: "START_MATCH; player B refuses the invitation",
        wanted: "a report in which B lost technically and A won",
        why: "The other player came, and gets its points.",
        run: |bench| Box::pin(lost(bench, &[Say::No], &[Say::Well])),
        ..CASE
    },
    Case {
        id: "referee.trouble.no-choice",
        title: "Whoever never chooses loses technically",
        requirements: &["MATCH-4", "MATCH-8"],
        sent: "START_MATCH; player B does not answer any call for its choice",
        wanted: "a report in which B lost technically and A won",
        why: "A match must end although a player is silent.",
        run: |bench| Box::pin(lost(bench, &[Say::Well], &[Say::Nothing])),
        ..CASE
    },
    Case {
        id: "referee.trouble.asks-again",
        title: "Whoever does not choose in time is asked again",
        requirements: &["MATCH-4", "ERR-3"],
        sent: "START_MATCH; player B answers only the second call",
        wanted: "a second CHOOSE_PARITY_CALL, and a match that was played",
        why: "A lost packet must not cost a match.",
        run: |bench| Box::pin(asks_again(bench)),
        ..CASE
    },
    Case {
        id: "referee.trouble.tells-timeout",
        title: "Whoever does not choose in time is told what follows",
        level: Level::Should,
        requirements: &["MATCH-4", "ERR-2"],
        section: "docs/protocol/league-v2.md, GAME_ERROR",
        sent: "START_MATCH; player B answers only the second call",
        wanted: "GAME_ERROR E001 (004: G002) to B, with `retry_count` and `max_retries`",
        why: "The author sees in the log that the agent is too slow.",
        run: |bench| Box::pin(tells_timeout(bench)),
        ..CASE
    },
    Case {
        id: "referee.trouble.late-answer",
        title: "An answer during the wait before the next call counts",
        level: Level::Should,
        requirements: &["MATCH-6"],
        sent: "START_MATCH with a limit of 1 s and 600 ms between calls; player B answers after 1.3 s",
        wanted: "a match that was played, with B's choice",
        why: "The answer is there; asking again would only be a second answer.",
        run: |bench| Box::pin(late_answer(bench)),
        ..CASE
    },
    Case {
        id: "referee.trouble.both-silent",
        title: "If nobody chooses nobody gets points",
        requirements: &["MATCH-8", "RESULT-4"],
        sent: "START_MATCH; neither player answers any call for its choice",
        wanted: "a report without a winner and without points",
        why: "Points for nothing would make silence a strategy.",
        run: |bench| Box::pin(both_silent(bench)),
        ..CASE
    },
    Case {
        id: "referee.trouble.invalid-word",
        title: "A word that is no choice does not count",
        requirements: &["MATCH-5"],
        section: "docs/protocol/league-v2.md, CHOOSE_PARITY_CALL",
        sent: "START_MATCH; player B always answers in capital letters",
        wanted: "a report in which B lost technically",
        why: "Only exactly \"even\" and \"odd\" are choices.",
        run: |bench| Box::pin(lost(bench, &[Say::Well], &[Say::Shouted])),
        ..CASE
    },
    Case {
        id: "referee.trouble.tells-invalid",
        title: "A word that is no choice is told to its player",
        level: Level::Should,
        requirements: &["MATCH-5", "ERR-2"],
        section: "docs/protocol/league-v2.md, GAME_ERROR",
        sent: "START_MATCH; player B always answers in capital letters",
        wanted: "GAME_ERROR E004 or E002 (004: G001) to B",
        why: "The author sees what was wrong.",
        run: |bench| Box::pin(tells_invalid(bench)),
        ..CASE
    },
    Case {
        id: "referee.trouble.other-match",
        title: "A choice for another match does not count",
        requirements: &["MATCH-5"],
        section: "docs/protocol/league-v2.md, CHOOSE_PARITY_CALL",
        sent: "START_MATCH; player B always answers for another match",
        wanted: "a report in which B lost technically",
        why: "It may be an old answer that came late.",
        run: |bench| Box::pin(lost(bench, &[Say::Well], &[Say::OtherMatch])),
        ..CASE
    },
    Case {
        id: "referee.trouble.null-draw",
        title: "A match that was not played has no number",
        level: Level::Should,
        requirements: &["MATCH-9", "RESULT-8"],
        section: "docs/protocol/league-v2.md, MATCH_RESULT_REPORT",
        sent: "START_MATCH; player B refuses the invitation",
        wanted: "a report without `drawn_number`",
        why: "Technical losses and lost games are told apart.",
        run: |bench| Box::pin(null_draw(bench)),
        ..CASE
    },
];

/// The report of a match in which player B behaves like this.
async fn troubled<'a>(
    bench: &'a Bench,
    invitation: &[Say],
    choices: &[Say],
) -> Result<(Bout<'a>, MatchResultReport), Halt> {
    let mut setup = Setup { rules: HURRIED, ..Setup::default() };
    setup.manners.b.invitation = invitation.first().copied().unwrap_or(Say::Well);
    setup.manners.b.choices = choices.to_vec();
    let bout = Bout::new(bench, setup).await?;
    bout.founded().await?;
    bout.start().await?;
    match bout.report(WORST_TIME).await? {
        Some((report, _)) => Ok((bout, report)),
        None => Err(Halt::fail(
            format!("the match was not reported within {} s", WORST_TIME.as_secs()),
            "end the match when the last attempt is over, and report it",
        )),
    }
}

/// Whether player B lost technically.
async fn lost(bench: &Bench, invitation: &[Say], choices: &[Say]) -> Outcome {
    let (bout, report) = troubled(bench, invitation, choices).await?;
    let (a, b) = (bout.guests.a.id, bout.guests.b.id);
    if report.winner != Some(a) {
        let said = report.winner.map_or_else(|| "nobody".into(), |id| id.to_string());
        let sentence = format!("{b} did not play, so {a} wins; the report says {said}");
        let json = format!("\"winner\": \"{a}\"");
        return Err(Halt::fail_with(sentence, "report", json));
    }
    if report.status == Some(ResultStatus::TechnicalLoss) || report.technical_losers == [b] {
        return Ok(());
    }
    let json = format!("\"status\": \"TECHNICAL_LOSS\", \"technical_losers\": [\"{b}\"]");
    Err(Halt::fail_with("the report does not say that it is a technical loss", "report", json))
}

/// Whether the match counts as played, with both choices.
fn played(bout: &Bout<'_>, report: &MatchResultReport) -> Outcome {
    for seat in Seat::BOTH {
        let guest = &bout.guests[seat];
        let said = report.players.get(&guest.id).and_then(|said| said.line.choice.clone());
        if said != Some(MoveValue::Text(guest.manner.choice.word().into())) {
            let sentence = format!("the choice of {} is not in the report", guest.id);
            return Err(Halt::fail(sentence, "count a choice that came before the last deadline"));
        }
    }
    Ok(())
}

async fn asks_again(bench: &Bench) -> Outcome {
    let (bout, report) = troubled(bench, &[], &[Say::Nothing, Say::Well]).await?;
    if bout.notes(Seat::B, MessageType::ChooseParityCall).len() < 2 {
        return Err(Halt::fail(
            "a player that did not answer was not asked again",
            "ask as often as `choice_attempts` says, three times if nothing is said",
        ));
    }
    played(&bout, &report)
}

/// What player B was told to be wrong, in the words of every document.
fn complaints(bout: &Bout<'_>) -> Vec<ErrorReport> {
    let notes = bout.notes(Seat::B, MessageType::GameError);
    let report = |note: Note| {
        let Message::GameError(report) = note.letter.ok()?.message else { return None };
        Some(report)
    };
    notes.into_iter().filter_map(report).collect()
}

async fn tells_timeout(bench: &Bench) -> Outcome {
    let (bout, _) = troubled(bench, &[], &[Say::Nothing, Say::Well]).await?;
    let codes = [Some(Code::E001), Some(Code::G002)];
    let told = complaints(&bout);
    let is_it = |report: &&ErrorReport| codes.contains(&report.code.known());
    match told.iter().find(is_it) {
        Some(report) if report.retry.is_some() => Ok(()),
        Some(_) => Err(Halt::fail_with(
            "GAME_ERROR does not say how often is tried",
            "add",
            "\"retry_count\": 1, \"max_retries\": 3",
        )),
        None => Err(Halt::fail(
            "a player that did not answer was not told so",
            "send GAME_ERROR E001 after each timeout",
        )),
    }
}

async fn late_answer(bench: &Bench) -> Outcome {
    let late = Say::After(Duration::from_millis(1_300));
    let (bout, report) = troubled(bench, &[], &[late, Say::Nothing]).await?;
    played(&bout, &report)
}

async fn both_silent(bench: &Bench) -> Outcome {
    let mut setup = Setup { rules: HURRIED, ..Setup::default() };
    setup.manners.a.choices = vec![Say::Nothing];
    setup.manners.b.choices = vec![Say::Nothing];
    let bout = Bout::new(bench, setup).await?;
    bout.founded().await?;
    bout.start().await?;
    let Some((report, _)) = bout.report(WORST_TIME).await? else {
        return Err(Halt::fail("the match was not reported", "end it, and report it"));
    };
    if let Some(winner) = report.winner {
        let sentence = format!("nobody chose, and the report says that {winner} won");
        return Err(Halt::fail_with(sentence, "report", "\"winner\": null"));
    }
    let points = |player: &league_wire::message::ReportedPlayer| player.line.points.unwrap_or(0);
    if report.players.values().any(|player| points(player) > 0) {
        return Err(Halt::fail("nobody chose, and somebody got points", "give 0 to both"));
    }
    Ok(())
}

async fn tells_invalid(bench: &Bench) -> Outcome {
    let (bout, _) = troubled(bench, &[], &[Say::Shouted]).await?;
    let codes = [Some(Code::E004), Some(Code::E002), Some(Code::G001)];
    if complaints(&bout).iter().any(|report| codes.contains(&report.code.known())) {
        return Ok(());
    }
    let sentence = "a player whose word is no choice was not told so";
    Err(Halt::fail(sentence, "send GAME_ERROR E004 with what was received"))
}

async fn null_draw(bench: &Bench) -> Outcome {
    let (_, report) = troubled(bench, &[Say::No], &[]).await?;
    match report.drawn_number {
        None => Ok(()),
        Some(number) => Err(Halt::fail_with(
            format!("no game took place, and the report says that {number} was drawn"),
            "report",
            "\"drawn_number\": null",
        )),
    }
}
