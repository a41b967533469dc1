//! Which kind of agent registers, as far as its own words tell.

use super::gather::Field;
use super::spelling;
use crate::code::Code;
use crate::decode::{DecodeError, render};
use crate::dialect::Dialect;
use crate::message::MessageType;
use crate::sender::Sender;

const PLAYER: MessageType = MessageType::LeagueRegisterRequest;
const REFEREE: MessageType = MessageType::RefereeRegisterRequest;

/// Where it is said what kind of agent somebody is.
const ROLES: [&str; 4] = ["role", "agent_type", "agent_role", "agent_kind"];
/// Where that may be said, among other things.
const HINTS: [&str; 2] = ["type", "kind"];
const EXPECTED: &str = "\"player\" or \"referee\"";

/// The kind of registration that `fields` tell, if they tell any.
///
/// # Errors
/// If they tell two, or something that is neither a player nor a referee.
pub(super) fn told(fields: &[Field<'_>]) -> Result<Option<MessageType>, DecodeError> {
    let mut known: Option<(MessageType, String)> = None;
    for field in fields {
        let Some(kind) = of(field)? else { continue };
        match &known {
            Some((other, at)) if *other != kind => {
                let at = format!("{at} and {}", field.path());
                let got = "a player and a referee".into();
                let fix = "register as one of them";
                let error = DecodeError::wrong(Code::E003, &at, "one kind of agent", got);
                return Err(error.fixed_by(fix));
            }
            Some(_) => {}
            None => known = Some((kind, field.path())),
        }
    }
    Ok(known.map(|(kind, _)| kind))
}

/// What is wrong with a registration by `kind` whose fields speak of the other kind of agent.
pub(super) fn denial(fields: &[Field<'_>], kind: MessageType) -> Option<DecodeError> {
    let (own, other) = if kind == PLAYER { (PLAYER, REFEREE) } else { (REFEREE, PLAYER) };
    let is_other = |field: &&Field<'_>| of(field).is_ok_and(|told| told == Some(other));
    let field = fields.iter().find(is_other)?;
    let [own, other] = [own, other].map(|kind| kind.method(Dialect::Flat));
    let expected = format!("nothing that contradicts the method {own:?}");
    let got = render(&field.name, field.value);
    let fix = format!("leave `{}` out, or call {other:?}", field.path());
    Some(DecodeError::wrong(Code::E003, &field.path(), expected, got).fixed_by(fix))
}

/// Whether a field can only tell what kind of agent somebody is.
pub(super) fn is_role(field: &Field<'_>) -> bool {
    let hints =
        field.is_called(&HINTS) && field.value.text().is_some_and(|text| named(&text).is_some());
    hints || field.is_called(&ROLES) || field.is_called(&["agent"]) || is_flag(field)
}

fn of(field: &Field<'_>) -> Result<Option<MessageType>, DecodeError> {
    let text = field.value.text();
    let wrong = || {
        let got = render(&field.name, field.value);
        Err(DecodeError::wrong(Code::E003, &field.path(), EXPECTED, got))
    };
    if field.value.is_null() {
        return Ok(None);
    }
    if field.opened {
        let metas = [("player_meta", PLAYER), ("referee_meta", REFEREE)];
        return Ok(metas.into_iter().find(|(name, _)| field.is_called(&[name])).map(|(_, it)| it));
    }
    if field.is_called(&["sender"]) {
        return Ok(match text.as_deref().and_then(Sender::parse) {
            Some(Sender::Player(_)) => Some(PLAYER),
            Some(Sender::Referee(_)) => Some(REFEREE),
            Some(Sender::LeagueManager(_) | Sender::Administrator) | None => None,
        });
    }
    if is_flag(field) {
        return match field.value.get() {
            "true" => Ok(Some(REFEREE)),
            "false" => Ok(None),
            _ => wrong(),
        };
    }
    let role = text.as_deref().and_then(named);
    let hints = field.is_called(&HINTS);
    let is_type = || text.as_deref().is_some_and(|text| !spelling::types(text).is_empty());
    match role {
        Some(_) if hints || field.is_called(&ROLES) || field.is_called(&["agent"]) => Ok(role),
        None if field.is_called(&ROLES) || hints && !is_type() => wrong(),
        Some(_) | None => Ok(None),
    }
}

/// Whether a field says by its name that somebody is a referee.
fn is_flag(field: &Field<'_>) -> bool {
    field.is_called(&["is_referee", "referee", "as_referee"])
}

/// The kind of agent that is called `text`.
fn named(text: &str) -> Option<MessageType> {
    let words = spelling::words(text);
    let mut words = words.iter().filter(|word| *word != "agent");
    let kind = match words.next()?.as_str() {
        "player" => PLAYER,
        "referee" => REFEREE,
        _ => return None,
    };
    words.next().is_none().then_some(kind)
}
