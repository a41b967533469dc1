//! A league as somebody wants it: over the administrator's interface, or in a configuration file.

use std::collections::BTreeMap;
use std::fmt;

use league_agent::exchange::random_hex;
use league_core::id::{BadId, LeagueId};
use league_core::limits::PLAYERS_MAX;
use league_core::manager::{BadCharter, Charter, Invited, League, PlayerAdmission, StartRule};
use league_core::policy::{BadRule, Policy, RuleSet};
use league_core::proof::Keys;
use league_core::time::Timestamp;
use league_wire::iso;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A league as it is wanted. What is not said is as usual.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Blueprint {
    /// Its name; a new one is made up if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub league_id: Option<String>,
    /// The game, `even_odd` if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub game: Option<String>,
    /// How rounds are paired, `round_robin` if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// The rule set, `v2.1` if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<String>,
    /// Rules that differ from the rule set's.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub set: BTreeMap<String, String>,
    /// What makes it start; only the administrator if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Start>,
    /// How many players it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub players_max: Option<u32>,
    /// Who may play, each with a code of its own; everybody if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roster: Option<Vec<Place>>,
}

/// Somebody's place in a league.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// The code that its player shows.
    pub code: String,
    /// Who was given it.
    pub student: String,
    /// The group it counts for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
}

impl Place {
    /// Who is let in with the code; `None` if there is none.
    pub(super) fn invited(&self) -> Option<Invited> {
        let code = self.code.trim();
        (!code.is_empty()).then(|| Invited {
            code: Sha256::digest(code).into(),
            student: self.student.as_str().into(),
            group: self.group.as_deref().map(Into::into),
        })
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Place").field("student", &self.student).finish_non_exhaustive()
    }
}

/// What makes a league start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Start {
    /// The administrator's command.
    Manual,
    /// That many players, and a referee.
    Players(u32),
    /// A moment in UTC, if there are two players and a referee then.
    At(String),
}

/// Why a league cannot be as it is wanted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {text}")]
pub struct BadBlueprint {
    /// Which part of it is wrong.
    pub field: String,
    /// What is wrong with it.
    pub text: String,
}

impl BadBlueprint {
    fn new(field: &str, text: impl Into<String>) -> Self {
        Self { field: field.into(), text: text.into() }
    }

    fn rule(bad: &BadRule) -> Self {
        let field = if bad.key == "rules" { bad.key.clone() } else { format!("set.{}", bad.key) };
        Self::new(&field, format!("expected {}, got `{}`", bad.expected, bad.got))
    }
}

impl Blueprint {
    /// Its rules.
    ///
    /// # Errors
    /// If there is no such rule set or rule, or a value cannot be.
    pub fn policy(&self) -> Result<Policy, BadBlueprint> {
        let rules = self.rules.as_deref().unwrap_or(RuleSet::V21.name());
        let rule_set: RuleSet = rules.parse().map_err(|bad| BadBlueprint::rule(&bad))?;
        if let Some(key) = self.set.keys().find(|key| !Policy::KEYS.contains(&key.as_str())) {
            let known = Policy::KEYS.join(", ");
            return Err(BadBlueprint::new(
                &format!("set.{key}"),
                format!("there is no such rule; the rules are {known}"),
            ));
        }
        let set = self.set.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        Policy::build(rule_set, set).map_err(|bad| BadBlueprint::rule(&bad))
    }

    /// Its charter.
    ///
    /// # Errors
    /// If a part of it cannot be.
    pub fn charter(&self, keys: &Keys) -> Result<Charter, BadBlueprint> {
        let named =
            |field: &'static str| move |bad: BadId| BadBlueprint::new(field, bad.to_string());
        let policy = self.policy()?;
        let league: LeagueId = match &self.league_id {
            Some(id) => id.parse().map_err(named("league_id"))?,
            None => new_name(),
        };
        let game = self.game.as_deref().unwrap_or(GAME_DEFAULT).parse().map_err(named("game"))?;
        let rules = policy.written().into_iter();
        let start = self.start.as_ref().map_or(Ok(StartRule::OnCommand), Start::rule)?;
        let players_max = self.players_max(start)?;
        let charter = Charter {
            league,
            rule_set: policy.rule_set().to_string(),
            rules: rules.map(|(key, value)| (key.to_string(), value)).collect(),
            game,
            format: self.format.clone().unwrap_or_else(|| FORMAT_DEFAULT.into()),
            start,
            players_max,
            key_check: keys.check_value(),
        };
        League::open(&charter).map_err(|bad| match bad {
            BadCharter::Rule(bad) => BadBlueprint::rule(&bad),
            BadCharter::Game(_) => BadBlueprint::new("game", bad.to_string()),
            BadCharter::Format(_) => BadBlueprint::new("format", bad.to_string()),
        })?;
        Ok(charter)
    }
}

impl Blueprint {
    /// Who may play.
    ///
    /// # Errors
    /// If a place has no code.
    pub fn players(&self) -> Result<PlayerAdmission, BadBlueprint> {
        let Some(roster) = &self.roster else { return Ok(PlayerAdmission::Open) };
        let invited = |place: &Place| {
            let text = || format!("{} has no code", place.student);
            place.invited().ok_or_else(|| BadBlueprint::new("roster", text()))
        };
        Ok(PlayerAdmission::Codes(roster.iter().map(invited).collect::<Result<_, _>>()?))
    }

    /// What is worth a warning though it can be done: more people on the roster than may play.
    pub fn crowding(&self) -> Option<String> {
        let people = self.roster.as_ref()?.len();
        let start = self.start.as_ref().map_or(Ok(StartRule::OnCommand), Start::rule).ok()?;
        let max = self.players_max(start).ok()?;
        (people > max as usize).then(|| {
            format!(
                "there are {people} on the roster, and the league takes {max} players: whoever \
                 comes after them is refused (players_max says how many)"
            )
        })
    }

    fn players_max(&self, start: StartRule) -> Result<u32, BadBlueprint> {
        let ceiling = self.players_max.unwrap_or(PLAYERS_MAX);
        if !(2..=PLAYERS_MAX).contains(&ceiling) {
            let text = format!("expected 2 to {PLAYERS_MAX}, got {ceiling}");
            return Err(BadBlueprint::new("players_max", text));
        }
        match start {
            StartRule::Players(players) if !(2..=ceiling).contains(&players) => {
                let text = format!("expected 2 to {ceiling}, got {players}");
                Err(BadBlueprint::new("start.players", text))
            }
            // Whoever waits for so many players wants no more of them.
            StartRule::Players(players) => Ok(self.players_max.unwrap_or(players)),
            StartRule::OnCommand | StartRule::At(_) => Ok(ceiling),
        }
    }
}

impl Start {
    fn rule(&self) -> Result<StartRule, BadBlueprint> {
        match self {
            Self::Manual => Ok(StartRule::OnCommand),
            Self::Players(players) => Ok(StartRule::Players(*players)),
            Self::At(text) => {
                let at: Result<Timestamp, _> = iso::parse(text);
                let wrong = |expected| {
                    BadBlueprint::new("start.at", format!("expected {expected}, got `{text}`"))
                };
                at.map(StartRule::At).map_err(wrong)
            }
        }
    }
}

/// The game of a league that is wanted without one.
pub const GAME_DEFAULT: &str = "even_odd";
/// The format of a league that is wanted without one.
pub const FORMAT_DEFAULT: &str = "round_robin";

/// A league's name that nobody has used.
pub fn new_name() -> LeagueId {
    let digits: String = random_hex().chars().take(8).collect();
    format!("league_{digits}").parse().expect("letters and hex digits are a name")
}
