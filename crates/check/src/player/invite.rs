//! Invitations: GAME_INVITATION and GAME_JOIN_ACK.

use super::table::Table;
use crate::bench::Bench;
use crate::case::{Case, Lane, Level};
use crate::verdict::{Halt, Outcome};

const SECTION: &str = "docs/protocol/league-v2.md, GAME_INVITATION";

pub(super) static CASES: &[Case] = &[
    Case {
        id: "player.invite.accepts",
        title: "A genuine invitation is accepted within 5 s",
        level: Level::Must,
        lane: Lane::Alone,
        requirements: &["MATCH-2", "ERR-5"],
        section: SECTION,
        dialects: &[],
        sent: "GAME_INVITATION with a genuine match proof",
        wanted: "GAME_JOIN_ACK that accepts, within 5 s",
        why: "Whoever does not accept in time loses the match before it begins.",
        run: |bench| Box::pin(accepts(bench)),
    },
    Case {
        id: "player.invite.match-id",
        title: "The acknowledgement names the match of the invitation",
        level: Level::Must,
        lane: Lane::Alone,
        requirements: &["MATCH-2", "MATCH-5"],
        section: SECTION,
        dialects: &[],
        sent: "GAME_INVITATION",
        wanted: "GAME_JOIN_ACK with the same `match_id`",
        why: "An acknowledgement of another match counts for none.",
        run: |bench| Box::pin(match_id(bench)),
    },
    Case {
        id: "player.invite.twice",
        title: "The same invitation twice is accepted twice",
        level: Level::Must,
        lane: Lane::Alone,
        requirements: &["MATCH-2"],
        section: SECTION,
        dialects: &[],
        sent: "the same GAME_INVITATION twice",
        wanted: "GAME_JOIN_ACK that accepts, twice",
        why: "A referee whose connection broke asks again, and the second answer counts.",
        run: |bench| Box::pin(twice(bench)),
    },
];

async fn accepts(bench: &Bench) -> Outcome {
    let table = Table::new(bench);
    let (asked, read) = table.invite().await;
    table.unguarded(&asked)?;
    let (_, ack) = read?;
    if ack.accept {
        return Ok(());
    }
    let reason = ack.reason.unwrap_or_else(|| "no reason given".into());
    let sentence = format!("it refused the invitation: {reason}");
    Err(Halt::fail_with(sentence, "answer with", asked.ideal(&table.ack())))
}

async fn match_id(bench: &Bench) -> Outcome {
    let table = Table::new(bench);
    let (asked, read) = table.invite().await;
    table.unguarded(&asked)?;
    let (_, ack) = read.map_err(|halt| halt.unless_told_by("player.invite.accepts"))?;
    if ack.match_id == table.match_id {
        return Ok(());
    }
    let sentence =
        format!("it was invited to {} and answered for {}", table.match_id, ack.match_id);
    Err(Halt::fail_with(sentence, "repeat the invitation's `match_id`", asked.ideal(&table.ack())))
}

async fn twice(bench: &Bench) -> Outcome {
    let table = Table::new(bench);
    table.join().await?;
    let (asked, read) = table.invite().await;
    let (_, ack) = read?;
    if ack.accept {
        return Ok(());
    }
    let sentence = "it accepted the invitation and refused the same one when it came again";
    Err(Halt::fail_with(sentence, "answer again with", asked.ideal(&table.ack())))
}
