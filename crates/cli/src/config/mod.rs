//! How a manager is configured: defaults, then the file, then the environment, then flags; every
//! value knows where it came from.

mod written;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, ensure};
use league_agent::caller::is_callable;
use league_agent::log::{Level, UnknownWord};
use league_agent::targets::{BadNetwork, Network};
use league_core::policy::{Policy, RuleSet};
use league_core::proof::{Secret, Token};
use league_server::manager::blueprint::{Blueprint, FORMAT_DEFAULT, GAME_DEFAULT, Start};
use league_server::runtime::ServePlan;
use league_wire::lenient::Reading;
use serde_json::{Value, json};

use crate::logging::{self, LogArgs, Wanted};
use written::{File, Written, WrittenLeague};

/// What was typed or stands in the environment.
#[derive(Debug, Default)]
pub(crate) struct Given {
    pub(crate) config: Option<PathBuf>,
    pub(crate) listen: Option<String>,
    pub(crate) data: Option<PathBuf>,
    pub(crate) networks: Vec<String>,
    pub(crate) lenient: bool,
    pub(crate) log: LogArgs,
}

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Origin {
    Default,
    RuleSet(String),
    File(String),
    Environment(&'static str),
    Flag(&'static str),
    DataDirectory,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::RuleSet(name) => write!(f, "rule set {name}"),
            Self::File(place) => f.write_str(place),
            Self::Environment(name) => write!(f, "environment {name}"),
            Self::Flag(name) => f.write_str(name),
            Self::DataDirectory => f.write_str("data directory"),
        }
    }
}

/// How the manager will be run, and why like that.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) plan: ServePlan,
    pub(crate) log: Wanted,
    lines: Vec<Line>,
}

/// One value as it is shown. Secrets are never in here.
#[derive(Debug)]
struct Line {
    section: &'static str,
    key: String,
    value: Value,
    origin: Origin,
}

/// What stands in the place of a secret.
const HIDDEN: &str = "[hidden]";
pub(crate) const LISTEN: &str = "127.0.0.1:8000";
const DATA: &str = "league-data";
const NETWORKS: &str = "allowed_networks";
/// The file that is read if nothing else is said and it is there.
const FILE: &str = "league.toml";

/// What the usual file says of things that other commands want to know too.
#[derive(Debug)]
pub(crate) struct Usual {
    pub(crate) listen: String,
    pub(crate) data: PathBuf,
}

impl Config {
    /// The networks that agents may be in, as they were written.
    pub(crate) fn networks(&self) -> Vec<String> {
        let line = self.lines.iter().find(|line| line.key == NETWORKS);
        let texts = line.and_then(|line| line.value.as_array()).into_iter().flatten();
        texts.filter_map(Value::as_str).map(Into::into).collect()
    }
}

impl Usual {
    /// Whether the usual file can be read, if it is there.
    pub(crate) fn check() -> anyhow::Result<()> {
        let file = Path::new(FILE);
        if file.exists() { File::read(file).map(drop) } else { Ok(()) }
    }

    /// Reads the usual file, if it is there and can be read.
    pub(crate) fn read() -> Self {
        let written = File::read(Path::new(FILE)).map(|(_, written)| written).unwrap_or_default();
        let said = |value: Option<Spanned<String>>, default: &str| {
            value.map_or_else(|| default.into(), Spanned::into_inner)
        };
        Self { listen: said(written.listen, LISTEN), data: said(written.data, DATA).into() }
    }
}

/// Resolves what was given.
pub(crate) fn resolve(given: Given) -> anyhow::Result<Config> {
    let usual = || Path::new(FILE).exists().then(|| PathBuf::from(FILE));
    let (file, written) = match given.config.or_else(usual) {
        Some(path) => {
            let (file, written) = File::read(&path)?;
            (Some(file), written)
        }
        None => (None, Written::default()),
    };
    let mut resolver = Resolver { file, lines: vec![] };
    let listen = resolver.text("listen", (given.listen, "--listen"), written.listen, LISTEN)?;
    let data = given.data.map(|data| data.display().to_string());
    let data = resolver.text("data", (data, "--data"), written.data, DATA)?;
    let secret =
        resolver.secret::<Secret>("secret", "LEAGUE_SECRET", "64 lower-case hex digits")?;
    let admin = resolver.secret::<Token>("admin_token", "LEAGUE_ADMIN_TOKEN", "a token")?;
    let default_league = resolver.default_league(written.default_league)?;
    let networks = resolver.networks(given.networks, written.allowed_networks)?;
    let public_url = resolver.public_url(written.public_url)?;
    let hosts = resolver.hosts(written.allowed_hosts);
    let open_referees = resolver.open_referees(written.open_referees);
    let lenient = resolver.lenient(given.lenient, written.lenient);
    let practice = resolver.practice(written.practice);
    let roster = written.league.as_ref().and_then(|league| league.roster.clone());
    let log = resolver.log(&given.log, written.log_level, written.log_format)?;
    let league = written.league.map(|league| resolver.league(league)).transpose()?;
    let listen_at = listen.parse().map_err(|_| {
        anyhow!(
            "{}: expected address:port such as {LISTEN}, got `{listen}`",
            resolver.blame("listen")
        )
    })?;
    let data = PathBuf::from(data);
    let listen = listen_at;
    let may_move = resolver.is_default("listen");
    let roster = roster.map(|file| PathBuf::from(file.into_inner()));
    let plan = ServePlan {
        listen,
        may_move,
        data,
        secret,
        admin,
        default_league,
        league,
        roster,
        public_url,
        open_referees,
        networks,
        reading: Reading::of(lenient),
        hosts,
        practice,
    };
    Ok(Config { plan, log, lines: resolver.lines })
}

impl Config {
    /// The whole configuration for people: a file that could be written, with origins as comments.
    pub(crate) fn for_people(&self) -> String {
        let shown: Vec<(&Line, String)> =
            self.lines.iter().map(|line| (line, line.assignment())).collect();
        let width = shown.iter().map(|(_, text)| text.chars().count()).max().unwrap_or(0);
        let (mut out, mut section) = (String::new(), "");
        for (line, text) in shown {
            if line.section != section {
                section = line.section;
                out.push_str(&format!("\n[{section}]\n"));
            }
            out.push_str(&format!("{text:width$}  # {}\n", line.origin));
        }
        out
    }

    /// The whole configuration as one document.
    pub(crate) fn for_programs(&self) -> Value {
        let entry = |line: &Line| {
            let name = match line.section {
                "" => line.key.clone(),
                section => format!("{section}.{}", line.key),
            };
            (name, json!({"value": line.value, "origin": line.origin.to_string()}))
        };
        Value::Object(self.lines.iter().map(entry).collect())
    }
}

impl Line {
    fn assignment(&self) -> String {
        match &self.value {
            Value::Null => format!("# {} is not set", self.key),
            Value::String(text) if text == HIDDEN => format!("# {} is hidden", self.key),
            Value::Object(table) => {
                let inner: Vec<_> = table.iter().map(|(k, v)| format!("{k} = {v}")).collect();
                format!("{} = {{ {} }}", self.key, inner.join(", "))
            }
            value @ (Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {
                format!("{} = {value}", self.key)
            }
        }
    }
}

struct Resolver {
    file: Option<File>,
    lines: Vec<Line>,
}

type Spanned<T> = toml::Spanned<T>;

impl Resolver {
    fn note(&mut self, section: &'static str, key: &str, value: Value, origin: Origin) {
        self.lines.push(Line { section, key: key.into(), value, origin });
    }

    fn place<T>(&self, written: &Spanned<T>) -> Origin {
        let place = self.file.as_ref().map(|file| file.place(&written.span()));
        Origin::File(place.unwrap_or_default())
    }

    /// Whether nobody has said anything about it.
    fn is_default(&self, key: &str) -> bool {
        self.lines.iter().any(|line| line.key == key && matches!(line.origin, Origin::Default))
    }

    /// What to name when a value cannot be used.
    fn blame(&self, key: &str) -> String {
        let line = self.lines.iter().find(|line| line.key == key);
        match line.map(|line| &line.origin) {
            Some(Origin::Flag(flag)) => (*flag).to_string(),
            Some(Origin::Default) | None => key.to_string(),
            Some(origin) => format!("{origin}: {key}"),
        }
    }

    fn text(
        &mut self,
        key: &'static str,
        (typed, flag): (Option<String>, &'static str),
        written: Option<Spanned<String>>,
        default: &str,
    ) -> anyhow::Result<String> {
        let variable = if key == "listen" { "LEAGUE_LISTEN" } else { "LEAGUE_DATA" };
        let (value, origin) = match (typed, environment(variable)?, written) {
            (Some(typed), _, _) => (typed, Origin::Flag(flag)),
            (None, Some(set), _) => (set, Origin::Environment(variable)),
            (None, None, Some(written)) => {
                let origin = self.place(&written);
                (written.into_inner(), origin)
            }
            (None, None, None) => (default.to_string(), Origin::Default),
        };
        self.note("", key, json!(value), origin);
        Ok(value)
    }

    /// Something that must never be shown, however wrong it is.
    fn secret<T: std::str::FromStr>(
        &mut self,
        key: &str,
        variable: &'static str,
        expected: &str,
    ) -> anyhow::Result<Option<T>> {
        let Some(text) = environment(variable)? else {
            self.note("", key, json!(HIDDEN), Origin::DataDirectory);
            return Ok(None);
        };
        let parsed = text.trim().parse().map_err(|_| anyhow!("{variable}: expected {expected}"))?;
        self.note("", key, json!(HIDDEN), Origin::Environment(variable));
        Ok(Some(parsed))
    }

    fn default_league(
        &mut self,
        written: Option<Spanned<String>>,
    ) -> anyhow::Result<Option<league_core::id::LeagueId>> {
        let Some(written) = written else {
            self.note("", "default_league", Value::Null, Origin::Default);
            return Ok(None);
        };
        let origin = self.place(&written);
        let parsed = written.get_ref().parse().map_err(|bad| anyhow!("{origin}: {bad}"))?;
        self.note("", "default_league", json!(written.get_ref()), origin);
        Ok(Some(parsed))
    }

    fn networks(
        &mut self,
        typed: Vec<String>,
        written: Option<Spanned<Vec<String>>>,
    ) -> anyhow::Result<Vec<Network>> {
        let (texts, origin) = match written {
            _ if !typed.is_empty() => (typed, Origin::Flag("--allow-network")),
            Some(written) => {
                let origin = self.place(&written);
                (written.into_inner(), origin)
            }
            None => (vec![], Origin::Default),
        };
        let networks = texts.iter().map(|text| {
            let bad = |bad: BadNetwork| anyhow!("{origin}: {bad}, got `{text}`");
            text.trim().parse().map_err(bad)
        });
        let networks = networks.collect::<anyhow::Result<_>>()?;
        self.note("", NETWORKS, json!(texts), origin);
        Ok(networks)
    }

    fn public_url(&mut self, written: Option<Spanned<String>>) -> anyhow::Result<Option<String>> {
        let Some(written) = written else {
            self.note("", "public_url", Value::Null, Origin::Default);
            return Ok(None);
        };
        let origin = self.place(&written);
        let url = written.into_inner();
        let base = url.trim_end_matches('/');
        ensure!(
            is_callable(&format!("{base}/mcp")),
            "{origin}: expected the address at which others reach this manager, such as \
             http://league.example.org:8000, got `{url}`"
        );
        self.note("", "public_url", json!(base), origin);
        Ok(Some(base.to_string()))
    }

    fn hosts(&mut self, written: Option<Spanned<Vec<String>>>) -> Vec<String> {
        let origin = written.as_ref().map_or(Origin::Default, |written| self.place(written));
        let hosts = written.map_or_else(Vec::new, Spanned::into_inner);
        self.note("", "allowed_hosts", json!(hosts), origin);
        hosts
    }

    fn open_referees(&mut self, written: Option<Spanned<bool>>) -> bool {
        let origin = written.as_ref().map_or(Origin::Default, |written| self.place(written));
        let value = written.is_some_and(Spanned::into_inner);
        self.note("", "open_referees", json!(value), origin);
        value
    }

    fn lenient(&mut self, typed: bool, written: Option<Spanned<bool>>) -> bool {
        let (value, origin) = match written {
            _ if typed => (true, Origin::Flag("--lenient")),
            Some(written) => (*written.get_ref(), self.place(&written)),
            None => (false, Origin::Default),
        };
        self.note("", "lenient", json!(value), origin);
        value
    }

    fn practice(&mut self, written: Option<Spanned<bool>>) -> bool {
        let origin = written.as_ref().map_or(Origin::Default, |written| self.place(written));
        let value = written.is_none_or(Spanned::into_inner);
        self.note("", "practice", json!(value), origin);
        value
    }

    fn log(
        &mut self,
        given: &LogArgs,
        level: Option<Spanned<String>>,
        format: Option<Spanned<String>>,
    ) -> anyhow::Result<Wanted> {
        let (typed, set) = (given.typed()?, logging::environment()?);
        let level = self.chosen(("log_level", "--log-level"), (typed.level, set.level), level)?;
        let format =
            self.chosen(("log_format", "--log-format"), (typed.format, set.format), format)?;
        let origin = |level: &Option<(Level, Origin)>| level.as_ref().map(|(_, o)| o.clone());
        let (usual, from) = (level.as_ref().map_or(Level::Info, |it| it.0), origin(&level));
        self.note("", "log_level", json!(usual.to_string()), from.unwrap_or(Origin::Default));
        let (name, from) = match &format {
            Some((format, origin)) => (json!(format.name()), origin.clone()),
            None => (Value::Null, Origin::Default),
        };
        self.note("", "log_format", name, from);
        Ok(Wanted { level: level.map(|it| it.0), format: format.map(|it| it.0) })
    }

    /// The value that counts most, and where it came from.
    fn chosen<T: std::str::FromStr<Err = UnknownWord>>(
        &self,
        (key, flag): (&str, &'static str),
        (typed, set): (Option<T>, Option<T>),
        written: Option<Spanned<String>>,
    ) -> anyhow::Result<Option<(T, Origin)>> {
        Ok(match (typed, set, written) {
            (Some(typed), _, _) => Some((typed, Origin::Flag(flag))),
            (None, Some(set), _) => Some((set, Origin::Environment("LEAGUE_LOG"))),
            (None, None, Some(written)) => {
                let origin = self.place(&written);
                let parsed = written.get_ref().parse();
                Some((parsed.map_err(|bad| anyhow!("{origin}: {key}: {bad}"))?, origin))
            }
            (None, None, None) => None,
        })
    }

    fn league(&mut self, written: WrittenLeague) -> anyhow::Result<Blueprint> {
        let file = self.file.as_ref().map(|file| file.name.clone()).unwrap_or_default();
        let id = written.id.ok_or_else(|| anyhow!("{file}: [league] needs an id"))?;
        let mut blame: BTreeMap<String, String> = BTreeMap::new();
        let mut text = |this: &mut Self, key: &str, value: Option<Spanned<String>>, usual: &str| {
            let origin = value.as_ref().map_or(Origin::Default, |value| this.place(value));
            let value = value.map_or_else(|| usual.to_string(), Spanned::into_inner);
            let field = if key == "id" { "league_id" } else { key };
            blame.insert(field.into(), origin.to_string());
            this.note("league", key, json!(value), origin);
            value
        };
        let league_id = text(self, "id", Some(id), "");
        let game = text(self, "game", written.game, GAME_DEFAULT);
        let format = text(self, "format", written.format, FORMAT_DEFAULT);
        let rules = text(self, "rules", written.rules, RuleSet::V21.name());
        let origin = written.start.as_ref().map_or(Origin::Default, |start| self.place(start));
        let start = written.start.map_or(Start::Manual, Spanned::into_inner);
        for field in ["start.players", "start.at"] {
            blame.insert(field.into(), origin.to_string());
        }
        self.note("league", "start", serde_json::to_value(&start)?, origin);
        if let Some(max) = &written.players_max {
            let origin = self.place(max);
            blame.insert("players_max".into(), origin.to_string());
            self.note("league", "players_max", json!(max.get_ref()), origin);
        }
        if let Some(roster) = &written.roster {
            let origin = self.place(roster);
            self.note("league", "roster", json!(roster.get_ref()), origin);
        }
        let mut set = BTreeMap::new();
        let mut origins = BTreeMap::new();
        for (key, value) in written.set {
            let origin = self.place(&value);
            blame.insert(format!("set.{key}"), origin.to_string());
            origins.insert(key.clone(), origin);
            set.insert(key, plain(value.into_inner()));
        }
        let wanted = Blueprint {
            league_id: Some(league_id),
            game: Some(game),
            format: Some(format),
            rules: Some(rules.clone()),
            set,
            start: Some(start),
            players_max: written.players_max.map(Spanned::into_inner),
            roster: None,
        };
        let policy: Policy = wanted
            .policy()
            .and_then(|policy| {
                // Everything else is wrong or right without the server's keys as well.
                let keys = league_core::proof::Keys::derive(&Secret::new([0; 32]));
                wanted.charter(&keys).map(|_| policy)
            })
            .map_err(|bad| match blame.get(&bad.field) {
                Some(place) => anyhow!("{place}: {bad}"),
                None => anyhow!("{file}: {bad}"),
            })?;
        for (key, value) in policy.written() {
            let origin = origins.remove(key).unwrap_or_else(|| Origin::RuleSet(rules.clone()));
            self.note("league.set", key, json!(value), origin);
        }
        Ok(wanted)
    }
}

/// A rule's value as it is written on the command line.
fn plain(value: toml::Value) -> String {
    match value {
        toml::Value::String(text) => text,
        value @ (toml::Value::Integer(_)
        | toml::Value::Float(_)
        | toml::Value::Boolean(_)
        | toml::Value::Datetime(_)
        | toml::Value::Array(_)
        | toml::Value::Table(_)) => value.to_string(),
    }
}

fn environment(name: &str) -> anyhow::Result<Option<String>> {
    match std::env::var(name) {
        Ok(text) if text.is_empty() => Ok(None),
        Ok(text) => Ok(Some(text)),
        Err(std::env::VarError::NotPresent) => Ok(None),
        Err(std::env::VarError::NotUnicode(_)) => Err(anyhow!("{name} is not text")),
    }
}
