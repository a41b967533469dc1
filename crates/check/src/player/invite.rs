//! Invitations: GAME_INVITATION and GAME_JOIN_ACK.

use league_agent::ambient;
use league_core::proof::reply_proof;
use league_core::seat::Seat;
use league_wire::{Code, Reply, Sender};

use super::table::{Table, answers_whole};
use crate::answer::Asked;
use crate::bench::Bench;
use crate::case::{Case, Level};
use crate::limits::{CLOCK_SLACK, JOIN_TIME};
use crate::verdict::{Halt, Outcome};

const CASE: Case = Case {
    section: "docs/protocol/league-v2.md, GAME_INVITATION",
    requirements: &["MATCH-2"],
    sent: "GAME_INVITATION",
    ..Case::BLANK
};

pub(super) static CASES: &[Case] = &[
    Case {
        id: "player.invite.accepts",
        title: "A genuine invitation is accepted within 5 s",
        requirements: &["MATCH-2", "ERR-5"],
        sent: "GAME_INVITATION with a genuine match proof",
        wanted: "GAME_JOIN_ACK that accepts, within 5 s",
        why: "Whoever does not accept in time loses the match before it begins.",
        run: |bench| Box::pin(accepts(bench)),
        ..CASE
    },
    Case {
        id: "player.invite.match-id",
        title: "The acknowledgement names the match of the invitation",
        requirements: &["MATCH-2", "MATCH-5"],
        wanted: "GAME_JOIN_ACK with the same `match_id`",
        why: "An acknowledgement of another match counts for none.",
        run: |bench| Box::pin(match_id(bench)),
        ..CASE
    },
    Case {
        id: "player.invite.player-id",
        title: "The acknowledgement names the player that it is from",
        requirements: &["WIRE-5"],
        wanted: "GAME_JOIN_ACK with the id that the manager gave, in `sender` and `player_id`",
        why: "An answer in somebody else's name counts for nobody.",
        run: |bench| Box::pin(player_id(bench)),
        ..CASE
    },
    Case {
        id: "player.invite.conversation",
        title: "The acknowledgement stays in the conversation",
        requirements: &["MATCH-10"],
        section: "docs/protocol/league-v2.md, Envelope",
        wanted: "GAME_JOIN_ACK with the same `conversation_id`, where the document has one",
        why: "Everything of a match is found by it; another one belongs to another match.",
        run: |bench| Box::pin(conversation(bench)),
        ..CASE
    },
    Case {
        id: "player.invite.token",
        title: "A token in the acknowledgement is the player's own",
        requirements: &["AUTH-2"],
        section: "docs/protocol/proofs.md, Proofs",
        wanted: "no `auth_token`, the player's reply proof, or its own token",
        why: "An answer with a wrong token is not the player's, whoever sent it (E012).",
        run: |bench| Box::pin(token(bench)),
        ..CASE
    },
    Case {
        id: "player.invite.proof",
        title: "The player shows a reply proof and not its token",
        level: Level::Should,
        requirements: &["AUTH-6"],
        section: "docs/protocol/proofs.md, Proofs",
        wanted: "the reply proof of this match in `auth_token`",
        why: "A referee that sees the token itself could act in the player's name.",
        run: |bench| Box::pin(proof(bench)),
        ..CASE
    },
    Case {
        id: "player.invite.clock",
        title: "The time in the acknowledgement is right",
        level: Level::Should,
        requirements: &["WIRE-4", "OBS-6"],
        section: "docs/protocol/league-v2.md, Envelope",
        wanted: "`timestamp` within 5 s of the checker's clock, where there is one",
        why: "Times of a wrong clock make every trace hard to read.",
        run: |bench| Box::pin(clock(bench)),
        ..CASE
    },
    Case {
        id: "player.invite.second-seat",
        title: "An invitation as PLAYER_B is accepted",
        sent: "GAME_INVITATION with `role_in_match` PLAYER_B",
        wanted: "GAME_JOIN_ACK that accepts",
        why: "Every player sits at either side in turn.",
        run: |bench| Box::pin(second_seat(bench)),
        ..CASE
    },
    Case {
        id: "player.invite.twice",
        title: "The same invitation twice is accepted twice",
        sent: "the same GAME_INVITATION twice",
        wanted: "GAME_JOIN_ACK that accepts, twice",
        why: "A referee whose connection broke asks again, and the second answer counts.",
        run: |bench| Box::pin(twice(bench)),
        ..CASE
    },
    Case {
        id: "player.invite.later-attempt",
        title: "A match that is played again is joined again",
        requirements: &["ERR-6"],
        sent: "GAME_INVITATION with `attempt` 1, then the same match with `attempt` 2",
        wanted: "GAME_JOIN_ACK that accepts, twice",
        why: "When a referee fails another one plays the match from the beginning.",
        run: |bench| Box::pin(later_attempt(bench)),
        ..CASE
    },
    Case {
        id: "player.invite.unknown-field",
        title: "Fields that nobody knows are ignored",
        requirements: &["WIRE-6"],
        section: "docs/protocol/league-v2.md, Envelope",
        sent: "GAME_INVITATION with a field `weather` that no document has",
        wanted: "GAME_JOIN_ACK that accepts",
        why: "Messages grow; an agent that stumbles over a new field loses to those that do not.",
        run: |bench| Box::pin(unknown_field(bench)),
        ..CASE
    },
    Case {
        id: "player.invite.basic-time",
        title: "A time in the basic form is understood",
        level: Level::Should,
        requirements: &["WIRE-4"],
        section: "docs/protocol/league-v2.md, Envelope",
        sent: "GAME_INVITATION with a `timestamp` such as 20250115T10:30:00Z",
        wanted: "GAME_JOIN_ACK that accepts",
        why: "The documents write times both ways, and other people's referees follow them.",
        run: |bench| Box::pin(basic_time(bench)),
        ..CASE
    },
    Case {
        id: "player.invite.local-time",
        title: "A time that is not UTC is refused",
        level: Level::Should,
        requirements: &["WIRE-4"],
        section: "docs/protocol/league-v2.md, Envelope",
        sent: "GAME_INVITATION with a `timestamp` that ends in +02:00",
        wanted: "an error, E021",
        why: "Deadlines in local time are wrong by hours, and nobody notices until it matters.",
        run: |bench| Box::pin(refuses(bench, Broken::LocalTime)),
        ..CASE
    },
    Case {
        id: "player.invite.other-protocol",
        title: "Another protocol is refused",
        level: Level::Should,
        requirements: &["WIRE-3"],
        section: "docs/protocol/league-v2.md, Envelope",
        sent: "GAME_INVITATION with the `protocol` league.v1",
        wanted: "an error, E018",
        why: "Whoever speaks another protocol means something else.",
        run: |bench| Box::pin(refuses(bench, Broken::Protocol)),
        ..CASE
    },
    Case {
        id: "player.invite.no-match",
        title: "An invitation without a match is refused",
        level: Level::Should,
        requirements: &["WIRE-6"],
        section: "docs/protocol/league-v2.md, Answers and errors",
        sent: "GAME_INVITATION without `match_id`",
        wanted: "an error, E003",
        why: "Whoever sends half a message learns which half is missing.",
        run: |bench| Box::pin(refuses(bench, Broken::NoMatch)),
        ..CASE
    },
    Case {
        id: "player.invite.names-fault",
        title: "A refusal says what is missing",
        level: Level::Should,
        requirements: &["ERR-1", "ERR-2"],
        section: "docs/protocol/league-v2.md, Answers and errors",
        sent: "GAME_INVITATION without `opponent_id`",
        wanted: "an error whose text names `opponent_id`",
        why: "An error that does not say what is wrong costs somebody an evening.",
        run: |bench| Box::pin(names_fault(bench)),
        ..CASE
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

/// The acknowledgement of an ordinary invitation, for cases that look at a part of it.
async fn acknowledged(table: &Table<'_>) -> Result<(Asked, Reply), Halt> {
    let (asked, read) = table.invite().await;
    table.unguarded(&asked)?;
    let (reply, _) = read.map_err(|halt| halt.unless_told_by("player.invite.accepts"))?;
    Ok((asked, reply))
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
    Err(Halt::fail_with(sentence, "repeat the invitation's `match_id`:", asked.ideal(&table.ack())))
}

async fn player_id(bench: &Bench) -> Outcome {
    if bench.me().token.is_none() {
        return Err(Halt::skip("who it is is not known: use --start, --listen or --token"));
    }
    let table = Table::new(bench);
    let (asked, read) = table.invite().await;
    let (reply, ack) = read.map_err(|halt| halt.unless_told_by("player.invite.accepts"))?;
    let me = bench.player()?;
    let right = Sender::Player(me.to_string().into());
    let fix = || asked.ideal(&table.ack());
    if let Some(sender) = reply.envelope.sender.filter(|sender| *sender != right) {
        let sentence = format!("it is {me}, and its answer's `sender` is {sender}");
        return Err(Halt::fail_with(sentence, format!("change `sender` to {right}:"), fix()));
    }
    if let Some(id) = ack.player_id.filter(|id| *id != me) {
        let sentence = format!("it is {me}, and its answer's `player_id` is {id}");
        return Err(Halt::fail_with(sentence, format!("change `player_id` to {me}:"), fix()));
    }
    Ok(())
}

async fn conversation(bench: &Bench) -> Outcome {
    let table = Table::new(bench);
    let (asked, reply) = acknowledged(&table).await?;
    match reply.envelope.conversation {
        Some(conversation) if conversation != table.conversation => Err(Halt::fail_with(
            "its answer has another `conversation_id` than the invitation",
            "repeat the invitation's `conversation_id`:",
            asked.ideal(&table.ack()),
        )),
        Some(_) => Ok(()),
        None if answers_whole(bench.dialect()) => {
            Err(Halt::Ours("an answer was read that lacks its conversation".into()))
        }
        None => Ok(()),
    }
}

/// What the player showed in its answer, and whether that is its reply proof or its token.
async fn shown(bench: &Bench) -> Result<(Asked, Option<(bool, bool)>, String), Halt> {
    let table = Table::new(bench);
    let (asked, reply) = acknowledged(&table).await?;
    let me = bench.me();
    let Some(token) = me.token else {
        return Err(Halt::skip("its token is not known: use --start, --listen or --token"));
    };
    let proof = reply_proof(&token, &me.league, table.match_id, table.attempt);
    let seen = reply
        .envelope
        .token
        .map(|shown| (proof.matches(shown.reveal()), token.matches(shown.reveal())));
    let ideal = asked.ideal(&table.ack());
    Ok((asked, seen, ideal))
}

async fn token(bench: &Bench) -> Outcome {
    match shown(bench).await? {
        (_, Some((false, false)), _) => Err(Halt::fail(
            "`auth_token` in its answer is neither its reply proof nor its token",
            "leave `auth_token` out of answers, or show the reply proof of this match",
        )),
        (_, Some(_) | None, _) => Ok(()),
    }
}

async fn proof(bench: &Bench) -> Outcome {
    let change = "set `auth_token` to prf_ and HMAC-SHA-256 of the token over \"reply\", the \
                  league, the match and the attempt:";
    match shown(bench).await? {
        (_, Some((true, _)), _) => Ok(()),
        (_, Some((false, true)), ideal) => {
            Err(Halt::fail_with("it shows its token to the referee", change, ideal))
        }
        (_, Some((false, false)), _) => {
            Err(Halt::skip("what it builds on fails: see player.invite.token"))
        }
        (_, None, ideal) => Err(Halt::fail_with("it proves nothing in its answer", change, ideal)),
    }
}

async fn clock(bench: &Bench) -> Outcome {
    let table = Table::new(bench);
    let (_, reply) = acknowledged(&table).await?;
    let Some(said) = reply.envelope.timestamp else { return Ok(()) };
    let now = ambient::now();
    let apart = now.since(said).max(said.since(now));
    if apart <= CLOCK_SLACK {
        return Ok(());
    }
    let sentence = format!("its answer's time is {} s from now", apart.as_secs());
    Err(Halt::fail(sentence, "send the present time in UTC, as YYYY-MM-DDTHH:MM:SS.mmmZ"))
}

/// An invitation that is a little unusual and must be accepted all the same.
fn accepted(table: &Table<'_>, asked: &Asked, what: &str) -> Outcome {
    let (_, ack) = table.read_ack(asked)?;
    if ack.accept {
        return Ok(());
    }
    Err(Halt::fail_with(format!("it refused {what}"), "answer with", asked.ideal(&table.ack())))
}

async fn second_seat(bench: &Bench) -> Outcome {
    Table::new(bench).join().await?;
    let table = Table { seat: Seat::B, ..Table::new(bench) };
    let (asked, _) = table.invite().await;
    accepted(&table, &asked, "an invitation as PLAYER_B")
}

async fn twice(bench: &Bench) -> Outcome {
    let table = Table::new(bench);
    table.join().await?;
    let (asked, _) = table.invite().await;
    accepted(&table, &asked, "the same invitation when it came again")
}

async fn later_attempt(bench: &Bench) -> Outcome {
    let table = Table::new(bench);
    table.join().await?;
    let conversation = Table::new(bench).conversation;
    let again = Table { attempt: 2, conversation, ..table };
    let (asked, _) = again.invite().await;
    accepted(&again, &asked, "the second attempt at a match")
}

async fn unknown_field(bench: &Bench) -> Outcome {
    Table::new(bench).join().await?;
    let table = Table::new(bench);
    let draft = bench.draft(&table.invitation()).with("weather", "sunny");
    let asked = bench.ask_bytes(draft.bytes(), JOIN_TIME).await;
    accepted(&table, &asked, "an invitation with a field that it does not know")
}

async fn basic_time(bench: &Bench) -> Outcome {
    Table::new(bench).join().await?;
    let table = Table::new(bench);
    let draft = bench.draft(&table.invitation());
    let time = find(&draft.json, "timestamp").unwrap_or_default();
    let (date, rest) = time.split_at(time.find('T').unwrap_or_default());
    let basic = format!("{}{rest}", date.replace('-', ""));
    let asked = bench.ask_bytes(draft.with("timestamp", basic).bytes(), JOIN_TIME).await;
    accepted(&table, &asked, "a time in the basic form")
}

/// The text of the first field called `name`, however deep.
fn find(json: &serde_json::Value, name: &str) -> Option<String> {
    let fields = json.as_object()?;
    let here = fields.get(name).and_then(|value| value.as_str());
    here.map(String::from).or_else(|| fields.values().find_map(|value| find(value, name)))
}

/// What is wrong with an invitation that must be refused.
#[derive(Clone, Copy)]
enum Broken {
    LocalTime,
    Protocol,
    NoMatch,
}

async fn refuses(bench: &Bench, broken: Broken) -> Outcome {
    Table::new(bench).join().await?;
    let table = Table::new(bench);
    let draft = bench.draft(&table.invitation());
    let (draft, code, text) = match broken {
        Broken::LocalTime => {
            let time = find(&draft.json, "timestamp").unwrap_or_default();
            let local = time.replace('Z', "+02:00");
            (draft.with("timestamp", local), Code::E021, "`timestamp` must be UTC")
        }
        Broken::Protocol => {
            (draft.with("protocol", "league.v1"), Code::E018, "`protocol` must be league.v2")
        }
        Broken::NoMatch => (draft.without("match_id"), Code::E003, "`match_id` is missing"),
    };
    let asked = bench.ask_bytes(draft.bytes(), JOIN_TIME).await;
    let ideal = table.refusal(code, text);
    if table.is_refused(&asked, &ideal)? {
        return Ok(());
    }
    Err(Halt::fail_with(format!("it accepted although {text}"), "answer with", asked.ideal(&ideal)))
}

async fn names_fault(bench: &Bench) -> Outcome {
    Table::new(bench).join().await?;
    let table = Table::new(bench);
    let draft = bench.draft(&table.invitation()).without("opponent_id");
    let asked = bench.ask_bytes(draft.bytes(), JOIN_TIME).await;
    let ideal = table.refusal(Code::E003, "`opponent_id` is missing");
    let Some(refused) = asked.refused(&ideal)? else { return Ok(()) };
    let told = refused.report.map(|report| report.description).unwrap_or_default();
    if refused.message.contains("opponent_id") || told.contains("opponent_id") {
        return Ok(());
    }
    let sentence = format!("its error does not say what is missing: {}", refused.message);
    Err(Halt::fail_with(sentence, "answer with", asked.ideal(&ideal)))
}
