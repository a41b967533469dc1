//! Results: who may report them, which are lies, and what is said twice.

use league_agent::ambient::Mark;
use league_wire::{Code, MessageType};
use serde_json::{Value, json};

use super::case;
use super::envelope::equal;
use super::guest::Kind;
use super::rounds::{has_all, two};
use super::said::{Reply, Strict};
use super::speech::Stamp;
use super::story::{Fixture, Story, Told};
use super::transport::in_time;
use super::visit::Visit;
use crate::case::Case;
use crate::limits::REGISTER_TIME;
use crate::verdict::{Halt, Outcome};

pub(super) const CASES: &[Case] = &[
    case! {
        "manager.report.accepted": Must, EVERY, ["RESULT-1"], "docs/protocol/league-v2.md#match_result_report, 000 §3.4",
        "A true result is taken",
        sent: "MATCH_RESULT_REPORT of the referee that has the match",
        wanted: "a result, in the referee's dialect",
        why: "Without it no league ends.",
        accepted
    },
    case! {
        "manager.report.ack": Should, EVERY, ["RESULT-1"], "docs/protocol/league-v2.md#match_result_report, 002 §4.6.2",
        "The answer to a result is MATCH_RESULT_ACK",
        sent: "MATCH_RESULT_REPORT of the referee that has the match",
        wanted: "MATCH_RESULT_ACK with `match_id`, `status` and `standings_updated`",
        why: "A referee repeats its report until it hears this.",
        ack
    },
    case! {
        "manager.report.in-time": Must, EVERY, ["RESULT-1", "ERR-5"], "docs/protocol/league-v2.md#timing",
        "A result is acknowledged within 10 s",
        sent: "MATCH_RESULT_REPORT of the referee that has the match",
        wanted: "the answer within 10 s",
        why: "After that the referee tries again.",
        acknowledged_in_time
    },
    case! {
        "manager.report.no-token": Must, EVERY, ["AUTH-2", "RESULT-2"], "docs/protocol/league-v2.md#envelope, 000 §7",
        "A result without a token is refused",
        sent: "the referee's report without `auth_token`",
        wanted: "a refusal, E011 where the document has codes",
        why: "Anybody who knows the manager's address could decide matches.",
        no_token
    },
    case! {
        "manager.report.wrong-token": Must, EVERY, ["AUTH-2", "RESULT-2"], "docs/protocol/league-v2.md#envelope, 000 §7",
        "A result with a made-up token is refused",
        sent: "the referee's report with a token of zeros",
        wanted: "a refusal, E012 where the document has codes",
        why: "A token that is not compared protects nobody.",
        wrong_token
    },
    case! {
        "manager.report.stolen-token": Must, EVERY, ["AUTH-2", "RESULT-2"], "001 §2.7, 000 §7",
        "A referee with another referee's token is refused",
        sent: "the report of a referee with the token of another one",
        wanted: "a refusal, E012 where the document has codes",
        why: "Sender and token must belong together.",
        stolen_token
    },
    case! {
        "manager.report.by-player": Must, EVERY, ["RESULT-2", "AUTH-2"], "docs/protocol/league-v2.md#match_result_report",
        "A player cannot report its own match",
        sent: "the report of a player with its own token",
        wanted: "a refusal",
        why: "It would win every match.",
        by_player
    },
    case! {
        "manager.report.player-as-referee": Must, EVERY, ["RESULT-2", "AUTH-2"], "001 §2.7, 000 §7",
        "A player cannot pretend to be the referee",
        sent: "a report from the referee's name with a player's token",
        wanted: "a refusal, E012 where the document has codes",
        why: "It would win every match.",
        player_as_referee
    },
    case! {
        "manager.report.unknown-referee": Must, EVERY, ["RESULT-2", "AUTH-2"], "docs/protocol/league-v2.md#error-codes, 000 §4",
        "A referee that is not registered is refused",
        sent: "a report from `referee:REF99` with the token of another referee",
        wanted: "a refusal, E005 or E012 where the document has codes",
        why: "Only who is registered can be assigned a match.",
        unknown_referee
    },
    case! {
        "manager.report.other-referee": Must, EVERY, ["RESULT-2"], "docs/protocol/league-v2.md#match_result_report",
        "A referee cannot report another one's match",
        sent: "the report of a registered referee that does not have the match",
        wanted: "a refusal",
        why: "One referee by somebody else would decide the whole league.",
        other_referee
    },
    case! {
        "manager.report.other-code": Should, EVERY, ["RESULT-2", "ERR-1"], "docs/protocol/league-v2.md#error-codes",
        "Another one's match is refused with E030",
        sent: "the report of a registered referee that does not have the match",
        wanted: "E030",
        why: "A referee that was replaced learns that it is to stop.",
        other_code
    },
    case! {
        "manager.report.unknown-match": Must, EVERY, ["RESULT-2"], "docs/protocol/league-v2.md#error-codes",
        "A match that does not exist is refused",
        sent: "a report of R1M99",
        wanted: "a refusal, G003 where the document has it",
        why: "Points would be given for what was never played.",
        unknown_match
    },
    case! {
        "manager.report.other-league": Should, EVERY, ["ARCH-5"], "docs/protocol/league-v2.md#error-codes, 000 §4",
        "A report for another league is refused with E014",
        sent: "a report with `league_id` \"nowhere\"",
        wanted: "a refusal, E014",
        why: "It tells a wrong league from a wrong match.",
        other_league
    },
    case! {
        "manager.report.false-winner": Must, EVERY, ["RESULT-2"], "docs/protocol/league-v2.md#match_result_report, 002 §4.6.2",
        "A winner that does not follow is refused",
        sent: "even and odd were chosen, 8 was drawn, and odd is said to have won",
        wanted: "a refusal",
        why: "Whoever believes referees has a league that they decide.",
        false_winner
    },
    case! {
        "manager.report.false-points": Must, EVERY, ["RESULT-2", "RESULT-4"], "docs/protocol/league-v2.md#match_result_report, 000 §3.4",
        "Points that do not follow are refused",
        sent: "a win with the score 30 to 0",
        wanted: "a refusal",
        why: "Points are 3, 1 and 0, whatever a referee says.",
        false_points
    },
    case! {
        "manager.report.false-number": Must, EVERY, ["RESULT-2"], "docs/protocol/league-v2.md#match_result_report",
        "A number that cannot be drawn is refused",
        sent: "a win with the number 11",
        wanted: "a refusal",
        why: "Numbers are from 1 to 10.",
        false_number
    },
    case! {
        "manager.report.false-choice": Must, EVERY, ["RESULT-2"], "docs/protocol/league-v2.md#match_result_report",
        "A choice that does not exist is refused",
        sent: "a win against the choice `red`",
        wanted: "a refusal",
        why: "Choices are `even` and `odd`.",
        false_choice
    },
    case! {
        "manager.report.false-code": Should, EVERY, ["RESULT-2", "ERR-1"], "docs/protocol/league-v2.md#error-codes",
        "A false result is refused with E031",
        sent: "even and odd were chosen, 8 was drawn, and odd is said to have won",
        wanted: "E031",
        why: "It tells a wrong result from a wrong message.",
        false_code
    },
    case! {
        "manager.report.after-lie": Must, EVERY, ["RESULT-2"], "docs/protocol/league-v2.md#match_result_report",
        "A true result is taken after a false one",
        sent: "a false report, then the true one",
        wanted: "the true one is taken",
        why: "A referee that mistyped must be able to say it right.",
        after_lie
    },
    case! {
        "manager.report.again": Must, EVERY, ["RESULT-3"], "docs/protocol/league-v2.md#match_result_report, 002 §4.6.2",
        "The same result twice is acknowledged twice",
        sent: "the same report a second time",
        wanted: "a result, as for the first one",
        why: "A referee whose acknowledgement was lost repeats its report.",
        again
    },
    case! {
        "manager.report.conflict": Must, EVERY, ["RESULT-3"], "docs/protocol/league-v2.md#match_result_report",
        "Another result for the same match is refused",
        sent: "a second, different report of the same match",
        wanted: "a refusal",
        why: "What is in the books stays there.",
        conflict
    },
    case! {
        "manager.report.conflict-code": Should, EVERY, ["RESULT-3", "ERR-1"], "docs/protocol/league-v2.md#error-codes",
        "Another result is refused with E032",
        sent: "a second, different report of the same match",
        wanted: "E032",
        why: "The referee learns that the match is over, and not that its message is wrong.",
        conflict_code
    },
    case! {
        "manager.report.crowd": Must, EVERY, ["RESULT-1", "ARCH-3"], "002 §4.1.1",
        "Two results at the same time are both taken",
        sent: "the reports of both matches of a round at once",
        wanted: "two results",
        why: "When a round ends all referees report together.",
        crowd
    },
];

/// A league of four with two referees, and the matches of its first round.
async fn scene(visit: &Visit) -> Result<(Story, Vec<Fixture>), Halt> {
    let story = Story::begin(visit, 4, 2).await?;
    let fixtures = story.fixtures(1).await?;
    if fixtures.is_empty() {
        return Err(Halt::skip("what it builds on fails: see manager.round.fields"));
    }
    Ok((story, fixtures))
}

async fn accepted(visit: &Visit) -> Outcome {
    let (story, fixtures) = scene(visit).await?;
    story.report(&fixtures[0], &Told::WIN).await?.accepted("a true result").map(drop)
}

/// The answer to a true result.
async fn acknowledged(visit: &Visit) -> Result<(Fixture, Value), Halt> {
    let (story, fixtures) = scene(visit).await?;
    let told = |halt: Halt| halt.unless_told_by("manager.report.accepted");
    let reply = story.report(&fixtures[0], &Told::WIN).await.map_err(told)?;
    let message = reply.accepted("a true result").map_err(told)?;
    Ok((fixtures[0].clone(), message))
}

async fn ack(visit: &Visit) -> Outcome {
    let (fixture, message) = acknowledged(visit).await?;
    let name = MessageType::MatchResultAck.name(visit.speech.0);
    equal(&message, "message_type", &json!(name))?;
    equal(&message, "match_id", &json!(fixture.id))?;
    has_all(&message, &["match_id", "status", "standings_updated"], "MATCH_RESULT_ACK")
}

async fn acknowledged_in_time(visit: &Visit) -> Outcome {
    let (story, fixtures) = scene(visit).await?;
    let me = story.referees[fixtures[0].referee].me()?;
    let stamp = Stamp::own(Kind::Referee, &me).about("timed");
    let fields = Told::WIN.fields(&fixtures[0], story.league.id.as_deref());
    let request = visit.speech.request(MessageType::MatchResultReport, &stamp, fields);
    let began = Mark::set();
    story.visit.send_patiently(&request).await?;
    in_time("the acknowledgement of a result", began.elapsed(), REGISTER_TIME)
}

/// The true result of the first match, said by somebody who may not say it.
async fn said_by(
    visit: &Visit,
    stamp: impl FnOnce(&Story, &Fixture) -> Result<Stamp, Halt>,
) -> Result<Reply, Halt> {
    let (story, fixtures) = scene(visit).await?;
    let stamp = stamp(&story, &fixtures[0])?;
    story.report_as(&fixtures[0], &Told::WIN, &stamp).await
}

/// The referee that has a match, and one that does not.
fn pair<'a>(story: &'a Story, fixture: &Fixture) -> (&'a super::guest::Guest, Stamp) {
    let other = (fixture.referee + 1) % story.referees.len();
    let own = &story.referees[fixture.referee];
    let me = story.referees[other].me();
    let stamp =
        me.map_or_else(|_| Stamp::of("referee:none", ""), |me| Stamp::own(Kind::Referee, &me));
    (own, stamp)
}

async fn no_token(visit: &Visit) -> Outcome {
    let reply = said_by(visit, |story, fixture| {
        let me = story.referees[fixture.referee].me()?;
        Ok(Stamp { token: String::new(), ..Stamp::own(Kind::Referee, &me) })
    });
    reply.await?.refused("a report without a token", Code::E011, Strict::AsListed)
}

async fn wrong_token(visit: &Visit) -> Outcome {
    let reply = said_by(visit, |story, fixture| {
        let me = story.referees[fixture.referee].me()?;
        let token = format!("tok_referee_{}_{}", me.id, "0".repeat(64));
        Ok(Stamp { token, ..Stamp::own(Kind::Referee, &me) })
    });
    reply.await?.refused("a report with a made-up token", Code::E012, Strict::AsListed)
}

async fn stolen_token(visit: &Visit) -> Outcome {
    let reply = said_by(visit, |story, fixture| {
        let (own, other) = pair(story, fixture);
        Ok(Stamp { token: other.token, ..Stamp::own(Kind::Referee, &own.me()?) })
    });
    let what = "a report with another referee's token";
    reply.await?.refused(what, Code::E012, Strict::AsListed)
}

async fn by_player(visit: &Visit) -> Outcome {
    let reply = said_by(visit, |story, _| Ok(Stamp::own(Kind::Player, &story.players[0].me()?)));
    let codes = [Code::E012, Code::E003, Code::E030];
    reply.await?.refused_with_any("a player's report", &codes, Strict::AsListed)
}

async fn player_as_referee(visit: &Visit) -> Outcome {
    let reply = said_by(visit, |story, fixture| {
        let me = story.referees[fixture.referee].me()?;
        let token = story.players[0].me()?.token;
        Ok(Stamp { token, ..Stamp::own(Kind::Referee, &me) })
    });
    let what = "a report from the referee's name with a player's token";
    reply.await?.refused(what, Code::E012, Strict::AsListed)
}

async fn unknown_referee(visit: &Visit) -> Outcome {
    let reply = said_by(visit, |story, fixture| {
        let me = story.referees[fixture.referee].me()?;
        Ok(Stamp::of("referee:REF99", &me.token))
    });
    let codes = [Code::E005, Code::E012];
    let what = "a report from a referee that is not registered";
    reply.await?.refused_with_any(what, &codes, Strict::AsListed)
}

async fn other_referee(visit: &Visit) -> Outcome {
    let reply = said_by(visit, |story, fixture| Ok(pair(story, fixture).1)).await?;
    reply.refused("another referee's report", Code::E030, Strict::AsListed)
}

async fn other_code(visit: &Visit) -> Outcome {
    let reply = said_by(visit, |story, fixture| Ok(pair(story, fixture).1)).await?;
    reply.refused_as_told_by("manager.report.other-referee")?;
    reply.refused("another referee's report", Code::E030, Strict::Always)
}

async fn unknown_match(visit: &Visit) -> Outcome {
    let (story, fixtures) = scene(visit).await?;
    let nowhere = Fixture { id: "R1M99".into(), ..fixtures[0].clone() };
    let reply = story.report(&nowhere, &Told::WIN).await?;
    reply.refused("a report of a match that does not exist", Code::G003, Strict::AsListed)
}

async fn other_league(visit: &Visit) -> Outcome {
    let (story, fixtures) = scene(visit).await?;
    let me = story.referees[fixtures[0].referee].me()?;
    let fields = Told::WIN.fields(&fixtures[0], Some("nowhere"));
    let stamp = Stamp::own(Kind::Referee, &me);
    let reply = story.visit.say(MessageType::MatchResultReport, &stamp, fields).await?;
    reply.refused("a report for the league `nowhere`", Code::E014, Strict::Always)
}

const FALSE_WINNER: Told = Told { winner: Some(1), points: [0, 3], ..Told::WIN };

async fn lie(visit: &Visit, told: &Told, what: &str) -> Outcome {
    let (story, fixtures) = scene(visit).await?;
    let reply = story.report(&fixtures[0], told).await?;
    reply.refused(what, Code::E031, Strict::AsListed)
}

async fn false_winner(visit: &Visit) -> Outcome {
    let what = "a report that the wrong side won";
    lie(visit, &FALSE_WINNER, what).await
}

async fn false_points(visit: &Visit) -> Outcome {
    let told = Told { points: [30, 0], ..Told::WIN };
    lie(visit, &told, "a report of 30 points").await
}

async fn false_number(visit: &Visit) -> Outcome {
    let told = Told { number: 11, winner: Some(1), points: [0, 3], ..Told::WIN };
    lie(visit, &told, "a report that 11 was drawn").await
}

async fn false_choice(visit: &Visit) -> Outcome {
    let told = Told { choices: ["even", "red"], ..Told::WIN };
    lie(visit, &told, "a report of the choice `red`").await
}

async fn false_code(visit: &Visit) -> Outcome {
    let (story, fixtures) = scene(visit).await?;
    let reply = story.report(&fixtures[0], &FALSE_WINNER).await?;
    reply.refused_as_told_by("manager.report.false-winner")?;
    reply.refused("a report that the wrong side won", Code::E031, Strict::Always)
}

async fn after_lie(visit: &Visit) -> Outcome {
    let (story, fixtures) = scene(visit).await?;
    // Whether the lie is refused is told by another case.
    let reply = story.report(&fixtures[0], &FALSE_WINNER).await?;
    reply.refused_as_told_by("manager.report.false-winner")?;
    let [_, other] = two(&fixtures)?;
    story.settle(other).await?;
    let reply = story.report(&fixtures[0], &Told::WIN).await?;
    reply.accepted("a true report after a false one").map(drop)
}

async fn again(visit: &Visit) -> Outcome {
    let (story, fixtures) = scene(visit).await?;
    story.settle(&fixtures[0]).await?;
    let reply = story.report(&fixtures[0], &Told::WIN).await?;
    reply.accepted("the same report a second time").map(drop)
}

const OTHER: &str = "a second, different report of the same match";

async fn told_otherwise(visit: &Visit) -> Result<Reply, Halt> {
    let (story, fixtures) = scene(visit).await?;
    story.settle(&fixtures[0]).await?;
    story.report(&fixtures[0], &Told::OTHER).await
}

async fn conflict(visit: &Visit) -> Outcome {
    told_otherwise(visit).await?.refused(OTHER, Code::E032, Strict::AsListed)
}

async fn conflict_code(visit: &Visit) -> Outcome {
    let reply = told_otherwise(visit).await?;
    reply.refused_as_told_by("manager.report.conflict")?;
    reply.refused(OTHER, Code::E032, Strict::Always)
}

async fn crowd(visit: &Visit) -> Outcome {
    let (story, fixtures) = scene(visit).await?;
    let [first, second] = two(&fixtures)?;
    let (one, two) =
        tokio::join!(story.report(first, &Told::WIN), story.report(second, &Told::WIN));
    let (one, two) = (one?, two?);
    if one.refusal().is_some() && two.refusal().is_some() {
        return Err(Halt::skip("what it builds on fails: see manager.report.accepted"));
    }
    one.accepted("one of two results at the same time")?;
    two.accepted("one of two results at the same time").map(drop)
}
