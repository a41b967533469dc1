//! Does what a tool is asked for: a question is answered from the published league, and everything
//! else is a letter that the manager reads like any other.

use std::net::SocketAddr;
use std::time::Duration;

use league_agent::ambient;
use league_agent::desk::{Came, Desk, attend};
use league_agent::exchange::new_conversation;
use league_core::id::LeagueId;
use league_wire::lenient::{Deviations, Understood};
use league_wire::mcp::{Errand, Scene, Tool, answer_of, errand, failure_of, object_of};
use league_wire::message::{ErrorReport, LeagueQuery};
use league_wire::{AuthToken, Decoded, Dialect, Json, QueryType};

use super::play;
use crate::manager::relay::Wish;
use crate::manager::{Manager, query, rehearsal};

/// Who calls a tool.
#[derive(Debug, Clone)]
pub(super) struct Caller<'a> {
    pub(super) peer: SocketAddr,
    /// The token in the head of the request.
    pub(super) bearer: Option<&'a str>,
}

/// What a tool answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Told {
    /// One JSON object.
    pub(super) json: String,
    /// The same in sentences, where the object is a no.
    pub(super) no: Option<String>,
}

/// Why a tool was not even tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Untried {
    /// There is none of this name.
    NoSuchTool,
    /// The caller asks too often and may come back after this time.
    TooMany(Duration),
}

pub(super) type Outcome = Result<String, Box<ErrorReport>>;

/// Calls the tool `name`.
pub(super) async fn run(
    manager: &Manager,
    name: &str,
    arguments: Option<Json<'_>>,
    caller: Caller<'_>,
) -> Result<Told, Untried> {
    let tool = Tool::find(name).ok_or(Untried::NoSuchTool)?;
    let (now, conversation) = (ambient::now(), new_conversation("mcp"));
    let bearer = caller.bearer.map(AuthToken::new);
    let meant = errand(tool, arguments, Scene { now, conversation, bearer });
    let letter = match &meant {
        Ok(Errand::Letter(letter)) => Some(&**letter),
        Ok(
            Errand::Query(..)
            | Errand::Join { .. }
            | Errand::Wait { .. }
            | Errand::Move { .. }
            | Errand::Practise { .. },
        )
        | Err(_) => None,
    };
    // Whoever plays is counted where it plays.
    let plays = matches!(
        meant,
        Ok(Errand::Join { .. }
            | Errand::Wait { .. }
            | Errand::Move { .. }
            | Errand::Practise { .. })
    );
    if !plays {
        manager.admit(caller.peer, &[letter]).map_err(Untried::TooMany)?;
    }
    match meant {
        Ok(Errand::Query(league, query)) => Ok(told(ask(manager, league.as_ref(), &query))),
        Ok(Errand::Letter(letter)) => {
            let meaning = Decoded { dialect: Dialect::Tool, letter: *letter };
            let decoded = Understood { meaning, deviations: Deviations::default() };
            let raw = arguments.map_or("{}", Json::get);
            let came = Came { raw, body: None, peer: caller.peer };
            let mut no = None;
            let (_, json) = attend(manager, decoded, came, |letter, _| {
                let (json, refused) = answer_of(letter);
                no = refused.map(failure_of);
                json
            })
            .await;
            Ok(Told { json: String::from_utf8(json).expect("the writer writes text"), no })
        }
        Ok(Errand::Join { name, league, join_code }) => {
            Ok(told(play::join(manager, Wish { name, league, join_code }, caller.peer).await))
        }
        Ok(Errand::Wait { token, seconds }) => {
            play::wait(manager, &token, seconds, caller.peer).await.map(told)
        }
        Ok(Errand::Move { token, match_id, choice }) => {
            play::make_move(manager, &token, (match_id, &choice), caller.peer).map(told)
        }
        Ok(Errand::Practise { token, player, league, against }) => {
            let wish = rehearsal::Wish { token, league, player, against };
            match rehearsal::practise(manager, wish, caller.peer).await {
                Ok(document) => Ok(told(Ok(document.to_string()))),
                Err(rehearsal::No::TooOften(wait)) => Err(Untried::TooMany(wait)),
                Err(rehearsal::No::Refused(_, report)) => Ok(told(Err(report))),
            }
        }
        Err(error) => Ok(told(Err(Box::new(ErrorReport::from(&error))))),
    }
}

/// Answers a question of anybody: nothing is told that is not public.
pub(super) fn ask(manager: &Manager, league: Option<&LeagueId>, wanted: &LeagueQuery) -> Outcome {
    if wanted.query_type == QueryType::Games {
        return Ok(query::games().to_string());
    }
    let stub = match league {
        Some(id) => manager.leagues().find(id),
        None => manager.leagues().only(),
    };
    let stub = stub.ok_or_else(|| manager.no_such_league())?;
    let published = stub.published();
    let answer = query::answer(&published.league, &manager.figures, None, wanted)?;
    Ok(answer.data.as_str().to_string())
}

fn told(outcome: Outcome) -> Told {
    match outcome {
        Ok(json) => Told { json, no: None },
        Err(report) => Told { json: object_of(&report), no: Some(failure_of(&report)) },
    }
}
