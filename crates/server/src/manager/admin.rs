//! The administrator's interface: `POST /api/v1/admin/…`, plain JSON, with a token.

use league_agent::component::Component;
use league_agent::endpoint::{Answer, Posted};
use league_agent::log::{self, Level};
use league_core::id::LeagueId;
use league_core::manager::{Refusal, Reply};
use league_wire::Code;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::action::{Action, Details, NoCommand};
use super::blueprint::{BadBlueprint, Blueprint};
use super::{AskError, FoundError, Manager, view};

/// Answers what was posted; `None` if there is no such place.
pub(super) async fn answer(manager: &Manager, posted: Posted<'_>) -> Option<Answer> {
    let place = posted.path.strip_prefix("/api/v1/admin/leagues")?;
    let place = place.strip_suffix('/').unwrap_or(place);
    // Whoever is not the administrator does not learn what there is.
    if let Err(no) = authorize(manager, posted.bearer, Level::Critical) {
        return Some(no.answer());
    }
    let outcome = if place.is_empty() {
        create(manager, &posted.body).await
    } else {
        let (league, action) = place.strip_prefix('/')?.split_once('/')?;
        act(manager, (league, action), &posted.body).await
    };
    Some(match outcome {
        Ok((status, document)) => Answer::json_with_status(status, format!("{document}\n")),
        Err(no) => no.answer(),
    })
}

type Outcome = Result<(u16, Value), No>;

/// Why something was not done, in HTTP's terms.
pub(super) struct No {
    status: u16,
    text: String,
}

impl No {
    fn new(status: u16, text: impl Into<String>) -> Self {
        Self { status, text: text.into() }
    }

    pub(super) fn answer(&self) -> Answer {
        Answer::json_with_status(self.status, format!("{}\n", json!({"error": self.text})))
    }
}

/// Whether the administrator asks; `gravity` is how bad it is if somebody pretends to be.
pub(super) fn authorize(manager: &Manager, shown: Option<&str>, gravity: Level) -> Result<(), No> {
    let Some(shown) = shown else {
        return Err(No::new(401, "expected the administrator's token: Authorization: Bearer …"));
    };
    if manager.is_administrator(shown) {
        return Ok(());
    }
    log::at(gravity, Component::Manager, |line| {
        line.code(Code::E012).say("somebody showed a wrong administrator's token");
    });
    Err(No::new(403, "this is not the administrator's token of this manager"))
}

async fn create(manager: &Manager, body: &[u8]) -> Outcome {
    let wanted: Blueprint = read(body)?;
    let charter = wanted.charter(manager.keys())?;
    let players = wanted.players()?;
    let league = charter.league.clone();
    manager.leagues().found(charter, players).await?;
    let mut document = show(manager, &league)?;
    // Whoever founds a league needs it to send referees there, and nobody else is told.
    document["join_key"] = json!(manager.keys().join_key(&league).expose());
    Ok((201, document))
}

async fn act(manager: &Manager, (league, name): (&str, &str), body: &[u8]) -> Outcome {
    let action = Action::find(name).ok_or_else(|| No::new(404, "there is no such action"))?;
    let unknown = || No::new(404, format!("there is no league {league}"));
    let id: LeagueId = league.parse().map_err(|_| unknown())?;
    let stub = manager.leagues().find(&id).ok_or_else(unknown)?;
    let command = action.command(&read::<Details>(body)?).map_err(|no| match no {
        NoCommand::TooMuch => No::new(422, format!("{name} needs no details")),
        NoCommand::Wrong(field, expected) => {
            No::new(422, format!("{name}: `{field}` must be {expected}"))
        }
    })?;
    let reply = stub.ask(command, None).await?;
    let mut document = show(manager, &id)?;
    if let Reply::TokenReplaced { agent, nonce } = reply {
        // To be handed over; it is told this once and nobody else is told.
        let token = manager.token(&stub, agent, &nonce);
        document["agent_id"] = json!(agent.to_string());
        document["token"] = json!(token.expose());
    }
    Ok((200, document))
}

/// The document that was posted; nothing is an empty one.
fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, No> {
    let body = if body.is_empty() { b"{}" } else { body };
    serde_json::from_slice(body).map_err(|error| No::new(400, error.to_string()))
}

fn show(manager: &Manager, league: &LeagueId) -> Result<Value, No> {
    let stub = manager.leagues().find(league).ok_or_else(|| No::new(404, "the league is gone"))?;
    let published = stub.published();
    Ok(view::league(&published))
}

impl From<BadBlueprint> for No {
    fn from(bad: BadBlueprint) -> Self {
        Self::new(422, bad.to_string())
    }
}

impl From<FoundError> for No {
    fn from(error: FoundError) -> Self {
        let status = match &error {
            FoundError::Exists(_) => 409,
            FoundError::Admission(_) => 422,
            FoundError::Open(_) => 500,
            FoundError::Closed | FoundError::Busy => 503,
        };
        Self::new(status, error.to_string())
    }
}

impl From<AskError> for No {
    fn from(error: AskError) -> Self {
        let status = match &error {
            AskError::Refused(refusal) => of_refusal(refusal),
            AskError::Busy | AskError::Unavailable => 503,
        };
        Self::new(status, error.to_string())
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "most refusals are of no administrator's doing")]
const fn of_refusal(refusal: &Refusal) -> u16 {
    match refusal {
        Refusal::UnknownMatch(_) | Refusal::NoSuchMatch(_) => 404,
        _ => 409,
    }
}
