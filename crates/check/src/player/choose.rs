//! Choices: CHOOSE_PARITY_CALL, GAME_MOVE_CALL and their answers.

use std::fmt::Write;

use league_agent::ambient;
use league_core::proof::{SentChoice, choice_proof, reply_proof};
use league_wire::message::{ErrorReport, MoveCall, MoveResponse, Retry};
use league_wire::{Code, Dialect, Fragment, Letter, MatchState, Message, MessageType, MoveValue};

use super::table::Table;
use crate::bench::Bench;
use crate::case::{Case, Level};
use crate::limits::{CHOICE_TIME, TOLD_TIME};
use crate::verdict::{Halt, Outcome};

const CASE: Case = Case {
    section: "docs/protocol/league-v2.md, CHOOSE_PARITY_CALL",
    requirements: &["MATCH-5"],
    sent: "GAME_INVITATION, then CHOOSE_PARITY_CALL",
    ..Case::BLANK
};

pub(super) static CASES: &[Case] = &[
    Case {
        id: "player.choose.answers",
        title: "A choice comes within 30 s, and is exactly even or odd",
        requirements: &["MATCH-3", "MATCH-5", "ERR-5"],
        wanted: "CHOOSE_PARITY_RESPONSE with \"even\" or \"odd\", within 30 s",
        why: "Anything else is no choice, and whoever makes none loses the match.",
        run: |bench| Box::pin(answers(bench)),
        ..CASE
    },
    Case {
        id: "player.choose.match-id",
        title: "The choice names the match of the call",
        wanted: "CHOOSE_PARITY_RESPONSE with the same `match_id`",
        why: "A choice for another match is refused with E015 and counts for none.",
        run: |bench| Box::pin(match_id(bench)),
        ..CASE
    },
    Case {
        id: "player.choose.conversation",
        title: "The choice stays in the conversation",
        requirements: &["MATCH-10"],
        wanted: "CHOOSE_PARITY_RESPONSE with the same `conversation_id`, where there is one",
        why: "Everything of a match is found by it; another one belongs to another match.",
        run: |bench| Box::pin(conversation(bench)),
        ..CASE
    },
    Case {
        id: "player.choose.token",
        title: "A token in the choice is the player's own",
        requirements: &["AUTH-2"],
        section: "docs/protocol/proofs.md, Proofs",
        wanted: "no `auth_token`, the player's reply proof, or its own token",
        why: "A choice with a wrong token is not the player's, whoever sent it (E012).",
        run: |bench| Box::pin(token(bench)),
        ..CASE
    },
    Case {
        id: "player.choose.nonce",
        title: "The choice brings a share in the draw",
        level: Level::Should,
        requirements: &["MATCH-7"],
        section: "docs/protocol/proofs.md, The draw",
        wanted: "a `nonce` that is another one in every match",
        why: "The number follows from both nonces; without one the player must trust others.",
        run: |bench| Box::pin(nonce(bench)),
        ..CASE
    },
    Case {
        id: "player.choose.choice-proof",
        title: "The choice is proved",
        level: Level::Should,
        requirements: &["AUTH-6", "RESULT-2"],
        section: "docs/protocol/proofs.md, What a choice proof decides",
        wanted: "a `choice_proof` over league, match, attempt, step, choice and nonce",
        why: "No referee can change a choice that is proved.",
        run: |bench| Box::pin(proof(bench)),
        ..CASE
    },
    Case {
        id: "player.choose.repeated",
        title: "The same call twice gets the same choice",
        level: Level::Should,
        requirements: &["MATCH-4"],
        section: "docs/protocol/league-v2.md, Timing",
        sent: "the same CHOOSE_PARITY_CALL several times",
        wanted: "the same choice every time",
        why: "The first choice is final; who has several to show could take the one that suits.",
        run: |bench| Box::pin(repeated(bench)),
        ..CASE
    },
    Case {
        id: "player.choose.late-retry",
        title: "A retry after GAME_ERROR E001 gets an answer",
        requirements: &["MATCH-4"],
        section: "docs/protocol/league-v2.md, Timing",
        sent: "CHOOSE_PARITY_CALL, GAME_ERROR E001 that announces a retry, the call again",
        wanted: "a choice both times",
        why: "An answer that was lost on the way can be given again, and saves the match.",
        run: |bench| Box::pin(late_retry(bench)),
        ..CASE
    },
    Case {
        id: "player.choose.during-retry",
        title: "Two calls for the same choice at the same time are both answered",
        requirements: &["MATCH-6"],
        section: "docs/protocol/league-v2.md, Timing",
        sent: "the same CHOOSE_PARITY_CALL twice, the second before the first is answered",
        wanted: "a choice on both connections",
        why: "A referee asks again while the first call is still open; either answer counts.",
        run: |bench| Box::pin(during_retry(bench)),
        ..CASE
    },
    Case {
        id: "player.choose.two-matches",
        title: "Two matches at the same time are not mixed up",
        requirements: &["ARCH-3", "MATCH-5"],
        sent: "two invitations, then two CHOOSE_PARITY_CALLs at the same time",
        wanted: "two choices, each for its own match",
        why: "A league may play several matches of a player at once, or repeat one.",
        run: |bench| Box::pin(two_matches(bench)),
        ..CASE
    },
    Case {
        id: "player.choose.unknown-field",
        title: "Fields that nobody knows are ignored",
        requirements: &["WIRE-6"],
        sent: "CHOOSE_PARITY_CALL with a field `weather` that no document has",
        wanted: "CHOOSE_PARITY_RESPONSE",
        why: "Messages grow; an agent that stumbles over a new field loses to those that do not.",
        run: |bench| Box::pin(unknown_field(bench)),
        ..CASE
    },
    Case {
        id: "player.choose.long-context",
        title: "A call with long standings and a long history is answered",
        requirements: &["MATCH-11"],
        sent: "CHOOSE_PARITY_CALL with 128 rows of standings and 50 past matches",
        wanted: "CHOOSE_PARITY_RESPONSE",
        why: "In a large league every call is as long as that.",
        run: |bench| Box::pin(long_context(bench)),
        ..CASE
    },
    Case {
        id: "player.choose.uninvited",
        title: "A call for a match that it was not invited to is refused",
        level: Level::Should,
        requirements: &["MATCH-5"],
        section: "docs/protocol/league-v2.md, Error codes",
        sent: "CHOOSE_PARITY_CALL for a match without an invitation",
        wanted: "an error, G003",
        why: "A match that it does not know of is somebody's mistake, and should be told.",
        run: |bench| Box::pin(uninvited(bench)),
        ..CASE
    },
    Case {
        id: "player.choose.earlier-attempt",
        title: "A referee whose attempt is over gets no choice",
        level: Level::Should,
        requirements: &["ERR-6"],
        sent: "invitations to attempts 1 and 2, then CHOOSE_PARITY_CALL of attempt 1",
        wanted: "an error, E030",
        why: "A referee that lost its match would otherwise learn the choice of the new attempt.",
        run: |bench| Box::pin(earlier_attempt(bench)),
        ..CASE
    },
    Case {
        id: "player.choose.number",
        title: "A number is chosen among those that are offered",
        requirements: &["MATCH-12"],
        section: "docs/protocol/league-v2.md, GAME_MOVE_CALL",
        sent: "GAME_MOVE_CALL with the numbers 1 to 5, if the player says it plays \
               even_odd_numbers",
        wanted: "GAME_MOVE_RESPONSE with one of them",
        why: "Anything else is no move, and whoever makes none loses the match.",
        run: |bench| Box::pin(number(bench)),
        ..CASE
    },
];

async fn answers(bench: &Bench) -> Outcome {
    let table = Table::new(bench);
    table.join().await?;
    table.choose().await.1.map(|_| ())
}

async fn match_id(bench: &Bench) -> Outcome {
    let table = Table::new(bench);
    let (asked, _, choice) = table.play().await?;
    if choice.match_id == table.match_id {
        return Ok(());
    }
    let sentence =
        format!("it was asked in {} and answered for {}", table.match_id, choice.match_id);
    Err(Halt::fail_with(sentence, "repeat the call's `match_id`:", asked.ideal(&table.choice())))
}

async fn conversation(bench: &Bench) -> Outcome {
    let table = Table::new(bench);
    let (asked, reply, _) = table.play().await?;
    match reply.envelope.conversation {
        Some(conversation) if conversation != table.conversation => Err(Halt::fail_with(
            "its choice has another `conversation_id` than the call",
            "repeat the call's `conversation_id`:",
            asked.ideal(&table.choice()),
        )),
        Some(_) | None => Ok(()),
    }
}

async fn token(bench: &Bench) -> Outcome {
    let table = Table::new(bench);
    let (_, reply, _) = table.play().await?;
    let me = bench.me();
    let Some(token) = me.token else {
        return Err(Halt::skip("its token is not known: use --start, --listen or --token"));
    };
    let proof = reply_proof(&token, &me.league, table.match_id, table.attempt);
    match reply.envelope.token {
        Some(shown) if !proof.matches(shown.reveal()) && !token.matches(shown.reveal()) => {
            Err(Halt::fail(
                "`auth_token` in its choice is neither its reply proof nor its token",
                "leave `auth_token` out of answers, or show the reply proof of this match",
            ))
        }
        Some(_) | None => Ok(()),
    }
}

async fn nonce(bench: &Bench) -> Outcome {
    let (one, other) = (Table::new(bench), Table::new(bench));
    let (asked, _, first) = one.play().await?;
    let (_, _, second) = other.play().await?;
    let json = || {
        let mut ideal = one.choice();
        if let Message::ChooseParityResponse(response) = &mut ideal.message {
            response.nonce = Some(league_agent::exchange::random_hex());
        }
        asked.ideal(&ideal)
    };
    match (first.nonce, second.nonce) {
        (Some(first), Some(second)) if first != second => Ok(()),
        (Some(_), Some(_)) => {
            let sentence = "it sends the same nonce in every match";
            Err(Halt::fail(sentence, "send 32 random hex digits, new ones in every match"))
        }
        (None, _) | (_, None) => {
            let change = "add 32 random hex digits, new ones in every match:";
            Err(Halt::fail_with("its choice has no `nonce`", change, json()))
        }
    }
}

async fn proof(bench: &Bench) -> Outcome {
    let table = Table::new(bench);
    let (_, _, choice) = table.play().await?;
    let me = bench.me();
    let Some(token) = me.token else {
        return Err(Halt::skip("its token is not known: use --start, --listen or --token"));
    };
    let nonce = choice.nonce.unwrap_or_default();
    let sent = SentChoice { step: 1, choice: choice.choice.word(), nonce: &nonce };
    let right = choice_proof(&token, &me.league, table.match_id, table.attempt, sent);
    let change = format!(
        "add `choice_proof`: prf_ and HMAC-SHA-256 of the token over \"choice\", {:?}, \"{}\", \
         \"{}\", \"1\", {:?} and the nonce, each with its length before it",
        me.league.as_str(),
        table.match_id,
        table.attempt,
        choice.choice.word()
    );
    match choice.choice_proof {
        Some(shown) if right.matches(&shown) => Ok(()),
        Some(_) => Err(Halt::fail("its `choice_proof` is not that of its choice", change)),
        None => Err(Halt::fail("its choice has no `choice_proof`", change)),
    }
}

/// How often a choice is asked for again: a player that throws a coin each time is found out.
const REPEATS: usize = 8;

async fn repeated(bench: &Bench) -> Outcome {
    let table = Table::new(bench);
    let (_, _, first) = table.play().await?;
    for _ in 0..REPEATS {
        let (_, read) = table.choose().await;
        let (_, again) = read?;
        if again.choice != first.choice {
            let sentence = format!("it chose {} first and {} later", first.choice, again.choice);
            let change = "keep the choice of every match by `match_id`, and answer with it again";
            return Err(Halt::fail(sentence, change));
        }
    }
    Ok(())
}

async fn late_retry(bench: &Bench) -> Outcome {
    let table = Table::new(bench);
    table.play().await?;
    let next_at = Some(ambient::now());
    let report = ErrorReport {
        match_id: Some(table.match_id),
        affected_player: Some(bench.player()?),
        retryable: true,
        retry: Some(Retry { count: 1, max: 3, next_at }),
        deadline: Some(ambient::now() + CHOICE_TIME),
        consequence: "technical loss after 3 attempts".into(),
        game_state: Some(MatchState::CollectingChoices),
        ..ErrorReport::new(Code::E001, "no choice within 30 s").waited(CHOICE_TIME, "a choice")
    };
    let told = table.letter(Message::GameError(report));
    bench.ask(&told, TOLD_TIME).await;
    table.choose().await.1.map(|_| ())
}

async fn during_retry(bench: &Bench) -> Outcome {
    let table = Table::new(bench);
    table.join().await?;
    let (first, second) = tokio::join!(table.choose(), table.choose());
    let base = |halt: Halt| halt.unless_told_by("player.choose.answers");
    match (first.1, second.1) {
        (Ok(_), Ok(_)) => Ok(()),
        (Err(_), Err(halt)) => Err(base(halt)),
        (Ok(_), Err(halt)) | (Err(halt), Ok(_)) => Err(halt),
    }
}

async fn two_matches(bench: &Bench) -> Outcome {
    let (one, other) = (Table::new(bench), Table::new(bench));
    Table::new(bench).play().await?;
    one.join().await?;
    other.join().await?;
    let (first, second) = tokio::join!(one.choose(), other.choose());
    for (table, read) in [(&one, first.1), (&other, second.1)] {
        let (_, choice) = read?;
        // A player that always answers for another match is told of by a case of its own.
        let is_other = choice.match_id == one.match_id || choice.match_id == other.match_id;
        if choice.match_id != table.match_id && is_other {
            let (asked, got) = (table.match_id, choice.match_id);
            return Err(Halt::fail(
                format!("while two matches went on it was asked in {asked} and answered for {got}"),
                "take `match_id` from the call that is being answered",
            ));
        }
    }
    Ok(())
}

async fn unknown_field(bench: &Bench) -> Outcome {
    let table = Table::new(bench);
    table.play().await?;
    let draft = bench.draft(&table.call()).with("weather", "sunny");
    let asked = bench.ask_bytes(draft.bytes(), CHOICE_TIME).await;
    table.read_choice(&asked).map(|_| ())
}

async fn long_context(bench: &Bench) -> Outcome {
    let table = Table::new(bench);
    table.play().await?;
    let mut letter = table.call();
    if let Message::ChooseParityCall(call) = &mut letter.message {
        let rows = (1..=128).map(|rank| {
            format!(
                "{{\"rank\":{rank},\"player_id\":\"P{rank:02}\",\"display_name\":\"Player {rank}\",\
                 \"played\":9,\"wins\":3,\"draws\":3,\"losses\":3,\"points\":12}}"
            )
        });
        call.standings = Fragment::parse(&list(rows));
        let games = (1..=50).map(|round| {
            format!(
                "{{\"match_id\":\"R{round}M1\",\"opponent_id\":\"{}\",\"result\":\"WIN\",\
                 \"my_choice\":\"even\",\"opponent_choice\":\"odd\",\"drawn_number\":8}}",
                table.opponent
            )
        });
        call.game_history = Fragment::parse(&list(games));
    }
    let asked = bench.ask(&letter, CHOICE_TIME).await;
    table.read_choice(&asked).map(|_| ())
}

fn list(items: impl Iterator<Item = String>) -> String {
    let mut out = String::from("[");
    for (index, item) in items.enumerate() {
        let comma = if index == 0 { "" } else { "," };
        write!(out, "{comma}{item}").expect("a text takes everything");
    }
    out.push(']');
    out
}

async fn uninvited(bench: &Bench) -> Outcome {
    Table::new(bench).play().await?;
    let table = Table::new(bench);
    let (asked, _) = table.choose().await;
    let ideal = table.refusal(Code::G003, "this player was not invited to that match");
    if asked.refused(&ideal)?.is_some() {
        return Ok(());
    }
    let sentence = "it chose in a match that it was not invited to";
    let change = "remember the matches you accepted; for others answer with";
    Err(Halt::fail_with(sentence, change, asked.ideal(&ideal)))
}

async fn earlier_attempt(bench: &Bench) -> Outcome {
    let first = Table::new(bench);
    first.play().await?;
    let conversation = Table::new(bench).conversation;
    let again = Table { attempt: 2, conversation, ..first.clone() };
    let (_, read) = again.invite().await;
    read.map_err(|halt| halt.unless_told_by("player.invite.later-attempt"))?;
    let (asked, _) = first.choose().await;
    let ideal = first.refusal(Code::E030, "this match is at a later attempt");
    if asked.refused(&ideal)?.is_some() {
        return Ok(());
    }
    let sentence = "it answered the referee of attempt 1 although attempt 2 had begun";
    let change = "keep the latest `attempt` of every match; to earlier ones answer with";
    Err(Halt::fail_with(sentence, change, asked.ideal(&ideal)))
}

async fn number(bench: &Bench) -> Outcome {
    let game = "even_odd_numbers".parse().map_err(|_| Halt::Ours("no name of a game".into()))?;
    if !bench.registered()?.meta.game_types.contains(&game) {
        return Err(Halt::skip("it does not say that it plays even_odd_numbers"));
    }
    let table = Table::new(bench);
    let mut invitation = table.invitation();
    if let Message::GameInvitation(invitation) = &mut invitation.message {
        invitation.game_type = game.clone();
    }
    let asked = bench.ask(&invitation, crate::limits::JOIN_TIME).await;
    table.read_ack(&asked).map_err(|halt| halt.unless_told_by("player.invite.accepts"))?;
    if bench.dialect() == Dialect::Payload {
        bench.ask(&table.start(), TOLD_TIME).await;
    }
    let call = table.letter(Message::GameMoveCall(MoveCall {
        match_id: table.match_id,
        player_id: Some(bench.player()?),
        game_type: game,
        step: Some(1),
        deadline: Some(ambient::now() + CHOICE_TIME),
        opponent_id: Some(table.opponent),
        round_id: Some(table.match_id.round),
        move_type: "number".into(),
        valid_options: (1..=5).map(MoveValue::Number).collect(),
        context: Fragment::parse("{}"),
        your_standings: Fragment::parse("{}"),
        standings: Fragment::parse("[]"),
        game_history: Fragment::parse("[]"),
        attempt: Some(1),
        budget_ms: Some(30_000),
        last_rtt_ms: None,
        game_state: Some(MatchState::CollectingChoices),
    }));
    let asked = bench.ask(&call, CHOICE_TIME).await;
    let ideal: Letter = table.answer(Message::GameMoveResponse(MoveResponse {
        match_id: table.match_id,
        player_id: Some(bench.player()?),
        move_data: MoveValue::Number(3),
        nonce: None,
        choice_proof: None,
        reasoning: None,
    }));
    let reply = asked.reply(&[MessageType::GameMoveResponse], &ideal)?;
    let right = 1..=5;
    if let Message::GameMoveResponse(MoveResponse { move_data: MoveValue::Number(number), .. }) =
        reply.message
        && right.contains(&number)
    {
        return Ok(());
    }
    let change = "set `move_data` to a number of `valid_options`:";
    Err(Halt::fail_with("its move is none of the numbers 1 to 5", change, asked.ideal(&ideal)))
}
