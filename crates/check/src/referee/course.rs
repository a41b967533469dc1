//! The course of a match: invitations, calls, what is shown to whom.

use std::time::Duration;

use league_core::seat::{Seat, Seats};
use league_wire::{Dialect, Fragment, Message, MessageType};
use serde_json::Value;

use super::bout::{Bout, Setup};
use super::guest::{Manner, Say};
use super::notebook::{Ear, Note};
use crate::bench::Bench;
use crate::case::{Case, Lane, Level};
use crate::limits::ORDER_TIME;
use crate::verdict::{Halt, Outcome};

const CASE: Case = Case {
    lane: Lane::Together,
    section: "docs/protocol/league-v2.md, GAME_INVITATION",
    requirements: &["MATCH-2"],
    sent: "START_MATCH; both players answer as they should",
    ..Case::BLANK
};

pub(super) static CASES: &[Case] = &[
    Case {
        id: "referee.match.readable",
        title: "Everything that players are sent is as their document says",
        requirements: &["WIRE-2", "WIRE-7"],
        section: "docs/protocol/league-v2.md, Messages",
        wanted: "messages that a strict player can read",
        why: "A player that cannot read a message does not answer it.",
        run: |bench| Box::pin(readable(bench)),
        ..CASE
    },
    Case {
        id: "referee.match.invites-both",
        title: "Both players are invited, each to its side",
        wanted: "one GAME_INVITATION each, with match, opponent and role as ordered",
        why: "A player that is not invited loses without having played.",
        run: |bench| Box::pin(invites_both(bench)),
        ..CASE
    },
    Case {
        id: "referee.match.shows-proof",
        title: "Players are shown the match proof",
        requirements: &["AUTH-6"],
        section: "docs/protocol/proofs.md, Proofs",
        wanted: "the player's `match_proof` of the order in `auth_token` of everything",
        why: "Players that check refuse everything else.",
        run: |bench| Box::pin(shows_proof(bench)),
        ..CASE
    },
    Case {
        id: "referee.match.hides-token",
        title: "The referee's own token is shown to no player",
        requirements: &["AUTH-3"],
        section: "docs/protocol/proofs.md, At a glance",
        wanted: "no message to a player that holds it",
        why: "Any player could report results with it.",
        run: |bench| Box::pin(hides_token(bench)),
        ..CASE
    },
    Case {
        id: "referee.match.conversation",
        title: "A match is one conversation",
        requirements: &["MATCH-10"],
        section: "docs/protocol/league-v2.md, Envelope",
        wanted: "the same `conversation_id` in everything that is sent to both players",
        why: "Everything of a match is found by it.",
        run: |bench| Box::pin(conversation(bench)),
        ..CASE
    },
    Case {
        id: "referee.match.new-conversation",
        title: "Another match is another conversation",
        requirements: &["MATCH-10"],
        section: "docs/protocol/league-v2.md, Envelope",
        sent: "START_MATCH for two matches",
        wanted: "another `conversation_id` in the second",
        why: "A late answer of one match would count in the other.",
        run: |bench| Box::pin(new_conversation(bench)),
        ..CASE
    },
    Case {
        id: "referee.match.waits-for-both",
        title: "Nobody is asked before both have accepted",
        requirements: &["MATCH-2", "MATCH-1"],
        sent: "START_MATCH; player B accepts after 600 ms",
        wanted: "no CHOOSE_PARITY_CALL before that",
        why: "A player that is not there yet must not be behind.",
        run: |bench| Box::pin(waits_for_both(bench)),
        ..CASE
    },
    Case {
        id: "referee.match.asks-both",
        title: "Both players are asked for their choice",
        requirements: &["MATCH-3", "MATCH-11"],
        section: "docs/protocol/league-v2.md, CHOOSE_PARITY_CALL",
        wanted: "one CHOOSE_PARITY_CALL each, with match, opponent and a deadline",
        why: "The game is a choice of each.",
        run: |bench| Box::pin(asks_both(bench)),
        ..CASE
    },
    Case {
        id: "referee.match.simultaneous",
        title: "Both are asked at the same time",
        requirements: &["MATCH-3"],
        section: "docs/protocol/league-v2.md, CHOOSE_PARITY_CALL",
        sent: "START_MATCH; both players think for 800 ms",
        wanted: "both calls before either has answered",
        why: "Whoever is asked second could be told what the first one chose.",
        run: |bench| Box::pin(simultaneous(bench)),
        ..CASE
    },
    Case {
        id: "referee.match.hides-choice",
        title: "A choice is hidden until the match has ended",
        requirements: &["MATCH-3"],
        section: "docs/protocol/league-v2.md, CHOOSE_PARITY_CALL",
        sent: "START_MATCH; player B answers 800 ms after player A",
        wanted: "nothing of A's choice in what B is sent before GAME_OVER",
        why: "Whoever knows the other's choice wins or draws every time.",
        run: |bench| Box::pin(hides_choice(bench)),
        ..CASE
    },
    Case {
        id: "referee.match.context",
        title: "Standings and history are passed on",
        level: Level::Should,
        requirements: &["MATCH-11"],
        section: "docs/protocol/league-v2.md, CHOOSE_PARITY_CALL",
        wanted: "the order's standings and the player's history in CHOOSE_PARITY_CALL",
        why: "Players that learn have nothing else to learn from.",
        run: |bench| Box::pin(context(bench)),
        ..CASE
    },
    Case {
        id: "referee.match.dialects",
        title: "Each player is spoken to in its own dialect",
        level: Level::Should,
        requirements: &["WIRE-8"],
        section: "docs/protocol/dialects.md, Which one is used",
        sent: "START_MATCH with one player that speaks flat and one that speaks enveloped",
        wanted: "messages in flat to the one, in enveloped to the other",
        why: "Players of different documents sit at one table.",
        run: |bench| Box::pin(dialects(bench)),
        ..CASE
    },
];

async fn readable(bench: &Bench) -> Outcome {
    let bout = Bout::new(bench, Setup::default()).await?;
    bout.start().await?;
    bout.report(ORDER_TIME).await?;
    for seat in Seat::BOTH {
        bout.notebook.hears(Ear::Player(seat), MessageType::GameOver, 1, ORDER_TIME).await;
    }
    let unread = bout.notebook.notes().into_iter().find_map(|note| note.letter.err());
    match unread {
        None => Ok(()),
        Some(error) => {
            let (sentence, change) = error.split_once("; ").unwrap_or((&error, "see the document"));
            Err(Halt::fail(format!("a player cannot read it: {sentence}"), change))
        }
    }
}

/// The only message of its type that a player got.
fn only(bout: &Bout<'_>, seat: Seat, kind: MessageType) -> Result<Note, Halt> {
    let mut notes = bout.notes(seat, kind);
    match (notes.pop(), notes.len()) {
        (Some(note), 0) => Ok(note),
        (Some(_), more) => Err(Halt::fail(
            format!("one player got {} of {}", more + 1, kind.name(Dialect::Flat)),
            "send it once",
        )),
        (None, _) => {
            let sentence = format!("one player got no {}", kind.name(Dialect::Flat));
            Err(Halt::fail(sentence, "send it to both players"))
        }
    }
}

async fn invites_both(bench: &Bench) -> Outcome {
    let bout = Bout::new(bench, Setup::default()).await?;
    bout.play().await?;
    for seat in Seat::BOTH {
        let note = only(&bout, seat, MessageType::GameInvitation)?;
        let Some(Message::GameInvitation(invitation)) = note.message() else { continue };
        let other = bout.guests[seat.other()].id;
        let wrong = match () {
            () if invitation.match_id != bout.match_id => "`match_id`",
            () if invitation.opponent_id != other => "`opponent_id`",
            () if invitation.role != seat => "`role_in_match`",
            () if invitation.game_type != super::even_odd() => "`game_type`",
            () => continue,
        };
        let sentence = format!("{wrong} of an invitation is not that of the order");
        return Err(Halt::fail(sentence, "take it from START_MATCH"));
    }
    Ok(())
}

async fn shows_proof(bench: &Bench) -> Outcome {
    let bout = Bout::new(bench, Setup::default()).await?;
    bout.play_out().await?;
    let order = bout.start_match();
    for (seat, player) in order.players.iter() {
        for note in bout.sent_to(seat) {
            let Ok(letter) = &note.letter else { continue };
            if letter.envelope.token != player.match_proof {
                let name = letter.message.kind().name(Dialect::Flat);
                return Err(Halt::fail(
                    format!("`auth_token` of {name} is not the player's match proof"),
                    "set it to `players[].match_proof` of START_MATCH",
                ));
            }
        }
    }
    Ok(())
}

async fn hides_token(bench: &Bench) -> Outcome {
    let bout = Bout::new(bench, Setup::default()).await?;
    bout.play_out().await?;
    let Some(token) = &bout.own_token else {
        return Err(Halt::skip("its token is not known: use --start, --listen or --token"));
    };
    let is_shown = |note: &Note| note.ear != Ear::Manager && note.body.contains(token.expose());
    if bout.notebook.notes().iter().any(is_shown) {
        return Err(Halt::fail(
            "it sent its own token to a player",
            "send players their `match_proof`, and nobody but the manager your token",
        ));
    }
    Ok(())
}

/// The conversations of everything that players were sent.
fn conversations(bout: &Bout<'_>) -> Vec<String> {
    let notes = bout.notebook.notes();
    let to_players = notes.iter().filter(|note| note.ear != Ear::Manager);
    let mut all: Vec<String> = to_players
        .filter_map(|note| note.letter.as_ref().ok())
        .map(|letter| letter.envelope.conversation.to_string())
        .collect();
    all.sort();
    all.dedup();
    all
}

async fn conversation(bench: &Bench) -> Outcome {
    let bout = Bout::new(bench, Setup::default()).await?;
    bout.play_out().await?;
    match conversations(&bout).len() {
        0 | 1 => Ok(()),
        many => Err(Halt::fail(
            format!("the messages of one match have {many} conversation ids"),
            "make one at the invitation, and put it into every message of the match",
        )),
    }
}

async fn new_conversation(bench: &Bench) -> Outcome {
    let (one, other) =
        (Bout::new(bench, Setup::default()).await?, Bout::new(bench, Setup::default()).await?);
    one.play().await?;
    other.play().await?;
    let known = conversations(&one);
    if conversations(&other).iter().any(|conversation| known.contains(conversation)) {
        return Err(Halt::fail(
            "two matches have the same `conversation_id`",
            "make a new one for every match, with 32 random hex digits in it",
        ));
    }
    Ok(())
}

async fn waits_for_both(bench: &Bench) -> Outcome {
    let late = Duration::from_millis(600);
    let mut setup = Setup::default();
    setup.manners.b.invitation = Say::After(late);
    let bout = Bout::new(bench, setup).await?;
    bout.play().await?;
    let invited = only(&bout, Seat::B, MessageType::GameInvitation)
        .map_err(|halt| halt.unless_told_by("referee.match.invites-both"))?;
    for seat in Seat::BOTH {
        let calls = bout.notes(seat, MessageType::ChooseParityCall);
        if calls.iter().any(|call| call.at < invited.at + late) {
            return Err(Halt::fail(
                "it asked for a choice before both players had accepted",
                "wait for both GAME_JOIN_ACKs",
            ));
        }
    }
    Ok(())
}

async fn asks_both(bench: &Bench) -> Outcome {
    let bout = Bout::new(bench, Setup::default()).await?;
    bout.play().await?;
    for seat in Seat::BOTH {
        let note = only(&bout, seat, MessageType::ChooseParityCall)?;
        let Some(Message::ChooseParityCall(call)) = note.message() else { continue };
        let wrong = match () {
            () if call.match_id != bout.match_id => "`match_id`",
            () if call.opponent_id != bout.guests[seat.other()].id => "`context.opponent_id`",
            () if call.deadline.is_none() => "`deadline`",
            () => continue,
        };
        let sentence =
            format!("{wrong} of a call for a choice is missing or not that of the order");
        return Err(Halt::fail(sentence, "set it in every CHOOSE_PARITY_CALL"));
    }
    Ok(())
}

async fn simultaneous(bench: &Bench) -> Outcome {
    let think = Duration::from_millis(800);
    let mut setup = Setup::default();
    for seat in Seat::BOTH {
        let choices = vec![Say::After(think)];
        setup.manners[seat] = Manner { choices, ..setup.manners[seat].clone() };
    }
    let bout = Bout::new(bench, setup).await?;
    bout.play().await?;
    let told = |halt: Halt| halt.unless_told_by("referee.match.asks-both");
    let a = only(&bout, Seat::A, MessageType::ChooseParityCall).map_err(told)?;
    let b = only(&bout, Seat::B, MessageType::ChooseParityCall).map_err(told)?;
    if a.at.max(b.at) - a.at.min(b.at) < think {
        return Ok(());
    }
    Err(Halt::fail(
        "it asked the second player only when the first one had answered",
        "send both calls at once, each in a thread or task of its own",
    ))
}

async fn hides_choice(bench: &Bench) -> Outcome {
    let mut setup = Setup::default();
    let choices = vec![Say::After(Duration::from_millis(800))];
    setup.manners.b = Manner { choices, ..setup.manners.b };
    let bout = Bout::new(bench, setup).await?;
    bout.play_out().await?;
    let ends = bout.notes(Seat::B, MessageType::GameOver);
    let end = ends.first().map(|note| note.at);
    for (owner, secret) in bout.notebook.secrets() {
        let told = bout.sent_to(owner.other()).into_iter().find(|note| {
            end.is_none_or(|end| note.at < end)
                && note.kind() != Some(MessageType::GameOver)
                && note.body.contains(&secret)
        });
        if told.is_some() {
            return Err(Halt::fail(
                "a player was sent a part of the other's answer before the match had ended",
                "send nothing of an answer to the other player before GAME_OVER",
            ));
        }
    }
    Ok(())
}

async fn context(bench: &Bench) -> Outcome {
    let bout = Bout::new(bench, Setup::default()).await?;
    bout.play().await?;
    let told = |halt: Halt| halt.unless_told_by("referee.match.asks-both");
    let note = only(&bout, Seat::A, MessageType::ChooseParityCall).map_err(told)?;
    let Some(Message::ChooseParityCall(call)) = note.message() else { return Ok(()) };
    let order = bout.start_match();
    let differs = |one: &Option<Fragment>, other: &Option<Fragment>| {
        let value = |json: &Option<Fragment>| {
            json.as_ref().and_then(|json| serde_json::from_str::<Value>(json.as_str()).ok())
        };
        value(one) != value(other)
    };
    let missing = match () {
        () if differs(&call.standings, &order.standings) => "`standings`",
        () if differs(&call.game_history, &order.players.a.game_history) => "`game_history`",
        () => return Ok(()),
    };
    let sentence = format!("{missing} of the order is not in CHOOSE_PARITY_CALL");
    Err(Halt::fail(sentence, "pass it on as it is"))
}

async fn dialects(bench: &Bench) -> Outcome {
    let dialects = Seats::new(Dialect::Flat, Dialect::Enveloped);
    let bout = Bout::new(bench, Setup { dialects: Some(dialects), ..Setup::default() }).await?;
    bout.play().await?;
    for (seat, wanted) in dialects.iter() {
        for note in bout.sent_to(seat).into_iter().filter(|note| note.letter.is_ok()) {
            let is_flat =
                |dialect| matches!(dialect, Dialect::Flat | Dialect::V21 | Dialect::Typed);
            if is_flat(note.dialect) != is_flat(*wanted) {
                return Err(Halt::fail(
                    format!("a player that speaks {wanted} was spoken to in {}", note.dialect),
                    "use `players[].dialect` of START_MATCH for what you send to that player",
                ));
            }
        }
    }
    Ok(())
}
