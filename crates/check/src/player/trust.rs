//! Who is believed: forged proofs, other people's tokens, referees of other matches.

use league_core::id::{AgentId, PlayerId, RefereeId};
use league_wire::{Code, Letter, Sender};

use super::table::{Proof, Table};
use crate::bench::Bench;
use crate::case::{Case, Level};
use crate::limits::{CHOICE_TIME, JOIN_TIME, TOLD_TIME};
use crate::verdict::{Halt, Outcome};

const CASE: Case = Case {
    level: Level::Should,
    section: "docs/protocol/proofs.md, Proofs",
    requirements: &["AUTH-6"],
    wanted: "an error, E012",
    ..Case::BLANK
};

pub(super) static CASES: &[Case] = &[
    Case {
        id: "player.trust.forged-invitation",
        title: "An invitation with a made-up proof is refused",
        sent: "GAME_INVITATION with a proof that nobody made",
        why: "Anybody could invite the player to matches that are not played.",
        run: |bench| Box::pin(invitation(bench, Lie::MadeUp)),
        ..CASE
    },
    Case {
        id: "player.trust.no-proof",
        title: "An invitation without a proof is refused",
        sent: "GAME_INVITATION without `auth_token`",
        wanted: "an error, E011",
        why: "Anybody could invite the player to matches that are not played.",
        run: |bench| Box::pin(invitation(bench, Lie::Nothing)),
        ..CASE
    },
    Case {
        id: "player.trust.other-match",
        title: "The proof of another match is refused",
        sent: "GAME_INVITATION with the proof of another match of the same referee",
        why: "A referee of one match could play all of them.",
        run: |bench| Box::pin(invitation(bench, Lie::OtherMatch)),
        ..CASE
    },
    Case {
        id: "player.trust.other-referee",
        title: "The proof of another referee is refused",
        sent: "GAME_INVITATION from REF02 with the proof that was made for REF01",
        why: "Whoever overhears a proof could use it.",
        run: |bench| Box::pin(invitation(bench, Lie::OtherReferee)),
        ..CASE
    },
    Case {
        id: "player.trust.other-player",
        title: "A proof made with another player's token is refused",
        sent: "GAME_INVITATION with a proof that is genuine for another player",
        why: "The opponent could pretend to be the referee.",
        run: |bench| Box::pin(invitation(bench, Lie::OtherPlayer)),
        ..CASE
    },
    Case {
        id: "player.trust.other-attempt",
        title: "The proof of another attempt is refused",
        sent: "GAME_INVITATION to attempt 2 with the proof of attempt 1",
        why: "A referee that lost its match could go on with it.",
        run: |bench| Box::pin(invitation(bench, Lie::OtherAttempt)),
        ..CASE
    },
    Case {
        id: "player.trust.forged-call",
        title: "A choice is told to nobody but the referee",
        sent: "CHOOSE_PARITY_CALL with a made-up proof, in a match that was joined",
        why: "The opponent would know the choice before it makes its own.",
        run: |bench| Box::pin(call(bench)),
        ..CASE
    },
    Case {
        id: "player.trust.forged-result",
        title: "A result is believed from nobody but the referee",
        sent: "GAME_OVER with a made-up proof, in a match that was joined",
        why: "A player that learns from results would learn lies.",
        run: |bench| Box::pin(result(bench)),
        ..CASE
    },
    Case {
        id: "player.trust.forged-news",
        title: "News are believed from nobody but the manager",
        requirements: &["AUTH-2", "AUTH-6"],
        section: "docs/protocol/proofs.md, At a glance",
        sent: "LEAGUE_STANDINGS_UPDATE with a token that is not the player's",
        why: "Anybody could tell the player that its league is over.",
        run: |bench| Box::pin(news(bench)),
        ..CASE
    },
];

#[derive(Clone, Copy)]
enum Lie {
    MadeUp,
    Nothing,
    OtherMatch,
    OtherReferee,
    OtherPlayer,
    OtherAttempt,
}

impl Lie {
    /// The match as the impostor tells it, and in words.
    fn told<'a>(self, bench: &'a Bench) -> (Table<'a>, &'static str) {
        let table = Table::new(bench);
        let token = bench.me().token;
        let (proof, what) = match self {
            Self::MadeUp => (Proof::Forged(table.proof_with(None)), "a made-up proof"),
            Self::Nothing => (Proof::Missing, "no proof"),
            Self::OtherMatch => {
                let other = Table::new(bench).proof_with(token.as_ref());
                (Proof::Forged(other), "the proof of another match")
            }
            Self::OtherReferee => {
                let proof = Proof::Forged(table.proof_with(token.as_ref()));
                let table = Table { referee: RefereeId::new(2), proof, ..table };
                return (table, "the proof of another referee");
            }
            Self::OtherPlayer => {
                let other = bench.subject.stage.token(AgentId::Player(PlayerId::new(77)));
                (Proof::Forged(table.proof_with(Some(&other))), "another player's proof")
            }
            Self::OtherAttempt => {
                let proof = Proof::Forged(table.proof_with(token.as_ref()));
                return (Table { attempt: 2, proof, ..table }, "the proof of another attempt");
            }
        };
        (Table { proof, ..table }, what)
    }
}

/// Only an agent that takes genuine invitations shows anything by refusing forged ones.
async fn genuine(bench: &Bench) -> Outcome {
    if bench.me().token.is_none() {
        return Err(Halt::skip(
            "without its token nothing genuine can be sent: use --start, --listen, or --token and \
             --league",
        ));
    }
    Table::new(bench).join().await
}

async fn invitation(bench: &Bench, lie: Lie) -> Outcome {
    genuine(bench).await?;
    let (table, what) = lie.told(bench);
    let asked = bench.ask(&table.invitation(), JOIN_TIME).await;
    let code = if let Lie::Nothing = lie { Code::E011 } else { Code::E012 };
    let ideal = table.refusal(code, "auth_token does not prove that you officiate this match");
    if table.is_refused(&asked, &ideal)? {
        return Ok(());
    }
    let sentence = format!("it accepted an invitation with {what}");
    Err(Halt::fail_with(sentence, CHECK, asked.ideal(&ideal)))
}

const CHECK: &str = "compare `auth_token` with prf_ and HMAC-SHA-256 of your token over \"match\", \
                     the league, the match, the attempt and the referee; otherwise answer with";

async fn call(bench: &Bench) -> Outcome {
    genuine(bench).await?;
    let table = Table::new(bench);
    table.join().await?;
    let impostor = Table { proof: Proof::Forged(table.proof_with(None)), ..table };
    let asked = bench.ask(&impostor.call(), CHOICE_TIME).await;
    let ideal = impostor.refusal(Code::E012, NOT_REFEREE);
    if asked.refused(&ideal)?.is_some() {
        return Ok(());
    }
    let sentence = "it told its choice to somebody with a made-up proof";
    Err(Halt::fail_with(sentence, CHECK, asked.ideal(&ideal)))
}

const NOT_REFEREE: &str = "auth_token does not prove that you officiate this match";

async fn result(bench: &Bench) -> Outcome {
    genuine(bench).await?;
    let table = Table::new(bench);
    table.play().await?;
    let impostor = Table { proof: Proof::Forged(table.proof_with(None)), ..table };
    let asked = bench.ask(&impostor.over(false)?, TOLD_TIME).await;
    let ideal = impostor.refusal(Code::E012, NOT_REFEREE);
    if asked.refused(&ideal)?.is_some() {
        return Ok(());
    }
    let sentence = "it believed a result with a made-up proof";
    Err(Halt::fail_with(sentence, CHECK, asked.ideal(&ideal)))
}

async fn news(bench: &Bench) -> Outcome {
    genuine(bench).await?;
    let other = bench.subject.stage.token(AgentId::Player(PlayerId::new(77)));
    let message = super::news::standings(bench)?;
    let conversation = Table::new(bench).conversation;
    let letter: Letter = bench.letter(Sender::MANAGER, conversation, Some(other.expose()), message);
    let asked = bench.ask(&letter, TOLD_TIME).await;
    let text = "auth_token does not prove that you are the manager";
    let ideal = Table::new(bench).refusal(Code::E012, text);
    if asked.refused(&ideal)?.is_some() {
        return Ok(());
    }
    let sentence = "it believed news with a token that is not its own";
    let change = "compare `auth_token` of the manager's messages with your own token; otherwise \
                  answer with";
    Err(Halt::fail_with(sentence, change, asked.ideal(&ideal)))
}
