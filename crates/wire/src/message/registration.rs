//! Joining a league: REFEREE_REGISTER_REQUEST, LEAGUE_REGISTER_REQUEST and their answers.

use league_core::id::{GameType, PlayerId, RefereeId};
use league_core::limits::{GAMES_PER_AGENT_MAX, REASON_BYTES_MAX};

use super::{Body, ErrorReport};
use crate::code::Code;
use crate::decode::DecodeError;
use crate::dialect::Dialect;
use crate::fields::Fields;
use crate::token::{AuthToken, JoinCode};
use crate::value::{Emit, FromField};
use crate::word::Decision;
use crate::write::Object;

/// What an agent says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meta {
    /// The name people see.
    pub display_name: String,
    /// The agent's own version.
    pub version: String,
    /// The version of the protocol it speaks, as it wrote it.
    pub protocol_version: Option<String>,
    /// The games it can play or officiate.
    pub game_types: Vec<GameType>,
    /// The address at which it wants to be called.
    pub contact_endpoint: Option<String>,
    /// Whom to write to.
    pub contact_email: Option<String>,
    /// How many matches it can officiate at once.
    pub max_concurrent_matches: Option<u32>,
    /// The dialect in which it wants to be spoken to.
    pub dialect: Option<Dialect>,
    /// Whether it takes several notifications in one batch.
    pub batch: bool,
    /// Whether it has no address and fetches what it is sent.
    pub pull: bool,
    /// What lets it in, if that takes more than asking.
    pub join: Option<JoinCode>,
}

/// A referee's registration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefereeRegistration {
    /// What the referee says about itself.
    pub meta: Meta,
}

/// A player's registration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlayerRegistration {
    /// What the player says about itself.
    pub meta: Meta,
}

/// The answer to a registration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RegisterResponse<Id> {
    /// The agent is in.
    Accepted {
        /// Its id from now on.
        id: Id,
        /// Its token from now on; empty if the manager gives none.
        token: AuthToken,
        /// What keeps it from taking part yet, if anything does.
        note: Option<String>,
    },
    /// The agent is not in.
    Rejected(Box<ErrorReport>),
}

/// The kinds of agents that register.
pub trait Registrant: Sized {
    /// The field of the answer that holds the id.
    const ID_FIELD: &'static str;
}

impl Registrant for PlayerId {
    const ID_FIELD: &'static str = "player_id";
}

impl Registrant for RefereeId {
    const ID_FIELD: &'static str = "referee_id";
}

pub(crate) const REFEREE_META: &str = "referee_meta";
pub(crate) const PLAYER_META: &str = "player_meta";
const JOIN: [&str; 2] = ["join_code", "join_key"];
/// The address of an agent, and what else people call it.
const ENDPOINTS: [&str; 6] =
    ["contact_endpoint", "endpoint", "endpoint_url", "contact_url", "callback_url", "url"];
const GAMES: [&str; 2] = ["game_types", "supported_games"];
const CONCURRENT: [&str; 2] = ["max_concurrent_matches", "max_concurrent_games"];

impl Body for RefereeRegistration {
    fn read(f: &Fields<'_>) -> Result<Self, DecodeError> {
        Ok(Self { meta: Meta::inside(f, REFEREE_META)? })
    }

    fn write(&self, o: &mut Object<'_>) {
        o.object(REFEREE_META, |o| {
            self.meta.write(o);
            o.optional("join_key", self.meta.join.as_ref());
        });
    }
}

impl Body for PlayerRegistration {
    fn read(f: &Fields<'_>) -> Result<Self, DecodeError> {
        Ok(Self { meta: Meta::inside(f, PLAYER_META)? })
    }

    fn write(&self, o: &mut Object<'_>) {
        o.object(PLAYER_META, |o| {
            self.meta.write(o);
            o.optional("join_code", self.meta.join.as_ref());
        });
    }
}

impl Meta {
    /// The meta object `name` of a registration. Whoever names its address otherwise, or elsewhere,
    /// would be called at another one.
    fn inside(f: &Fields<'_>, name: &str) -> Result<Self, DecodeError> {
        let meta = f.object(name, |f| {
            let meta = Self::read(f)?;
            let wrong = ENDPOINTS[1..].iter().find(|name| f.has(name));
            Ok((meta, wrong))
        })?;
        match meta {
            (meta, _) if meta.contact_endpoint.is_some() => Ok(meta),
            (meta, inner) if inner.is_none() && !ENDPOINTS.iter().any(|name| f.has(name)) => {
                Ok(meta)
            }
            (_, _) => Err(f.missing(&format!("{name}.{}", ENDPOINTS[0]), "an address")),
        }
    }

    fn read(f: &Fields<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            display_name: f.required("display_name")?,
            version: f.required("version")?,
            protocol_version: f.optional("protocol_version")?,
            game_types: games(f)?,
            contact_endpoint: f.optional("contact_endpoint")?,
            contact_email: f.optional("contact_email")?,
            max_concurrent_matches: f.either(&CONCURRENT)?,
            dialect: f.optional("dialect")?,
            batch: f.optional("batch")?.unwrap_or_default(),
            pull: f.optional("pull")?.unwrap_or_default(),
            join: f.either(&JOIN)?,
        })
    }

    /// Whether the meta object `f` has what only document 002 has.
    pub(crate) fn is_v21(f: &Fields<'_>) -> bool {
        f.has(GAMES[1])
            || f.has(CONCURRENT[1])
            || (f.has("protocol_version") && !f.has("contact_endpoint") && !f.has("pull"))
    }

    fn write(&self, o: &mut Object<'_>) {
        o.field("display_name", &self.display_name);
        o.field("version", &self.version);
        o.optional("protocol_version", self.protocol_version.as_ref());
        o.field(GAMES[0], &self.game_types);
        o.optional(CONCURRENT[0], self.max_concurrent_matches.as_ref());
        if o.dialect() == Dialect::V21 {
            o.field(GAMES[1], &self.game_types);
            o.optional(CONCURRENT[1], self.max_concurrent_matches.as_ref());
        }
        o.optional("contact_endpoint", self.contact_endpoint.as_ref());
        o.optional("contact_email", self.contact_email.as_ref());
        o.optional("dialect", self.dialect.as_ref());
        if self.batch {
            o.field("batch", &true);
        }
        if self.pull {
            o.field("pull", &true);
        }
    }
}

fn games(f: &Fields<'_>) -> Result<Vec<GameType>, DecodeError> {
    let name = GAMES.into_iter().find(|name| f.has(name)).unwrap_or(GAMES[0]);
    let games = f.list::<GameType>(name)?;
    if games.is_empty() && !f.has(name) {
        return Err(f.missing(name, "a list of games"));
    }
    if games.is_empty() || games.len() > GAMES_PER_AGENT_MAX {
        let expected = format!("between 1 and {GAMES_PER_AGENT_MAX} games");
        return Err(f.wrong(Code::E003, name, expected));
    }
    if name == GAMES[0] && f.has(GAMES[1]) && f.list::<GameType>(GAMES[1])? != games {
        let at = format!("{} and {}", GAMES[0], GAMES[1]);
        let got = "two different lists".into();
        return Err(DecodeError::wrong(Code::E003, &at, "the same list in both", got));
    }
    Ok(games)
}

impl<Id> Body for RegisterResponse<Id>
where
    Id: Registrant + Emit + for<'a> FromField<'a>,
{
    fn read(f: &Fields<'_>) -> Result<Self, DecodeError> {
        match f.required("status")? {
            Decision::Accepted => Ok(Self::Accepted {
                id: f.required(Id::ID_FIELD)?,
                token: f.optional("auth_token")?.unwrap_or_else(|| AuthToken::new("")),
                note: f.clipped("note", REASON_BYTES_MAX)?,
            }),
            Decision::Rejected => {
                let mut report = ErrorReport::read_refusal(f)?;
                if report.description.is_empty() {
                    let names = ["rejection_reason", "reason"];
                    let reason = names.into_iter().find(|name| f.has(name)).unwrap_or(names[0]);
                    report.description = f.clipped(reason, REASON_BYTES_MAX)?.unwrap_or_default();
                }
                Ok(Self::Rejected(Box::new(report)))
            }
        }
    }

    fn write(&self, o: &mut Object<'_>) {
        match self {
            Self::Accepted { id, token, note } => {
                o.field("status", &Decision::Accepted);
                o.field(Id::ID_FIELD, id);
                o.field("auth_token", token);
                o.repeat("auth_token", token);
                o.field("rejection_reason", &None::<String>);
                o.optional("note", note.as_ref());
            }
            Self::Rejected(report) => {
                o.field("status", &Decision::Rejected);
                o.field("rejection_reason", &report.description);
                o.field("reason", &report.description);
                report.write(o);
            }
        }
    }
}
