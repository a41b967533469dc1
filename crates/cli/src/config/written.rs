//! The configuration file as it is written: everything may be missing, nothing may be unknown.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use anyhow::{Context, anyhow};
use league_server::manager::blueprint::Start;
use serde::Deserialize;
use toml::Spanned;

use crate::report::Hint;

/// What a file says.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    pub(super) listen: Option<Spanned<String>>,
    pub(super) data: Option<Spanned<String>>,
    pub(super) default_league: Option<Spanned<String>>,
    pub(super) allowed_networks: Option<Spanned<Vec<String>>>,
    pub(super) public_url: Option<Spanned<String>>,
    pub(super) allowed_hosts: Option<Spanned<Vec<String>>>,
    pub(super) open_referees: Option<Spanned<bool>>,
    pub(super) lenient: Option<Spanned<bool>>,
    pub(super) practice: Option<Spanned<bool>>,
    pub(super) log_level: Option<Spanned<String>>,
    pub(super) log_format: Option<Spanned<String>>,
    pub(super) league: Option<WrittenLeague>,
}

/// What a file says of the league that is founded unless it is there.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenLeague {
    pub(super) id: Option<Spanned<String>>,
    pub(super) game: Option<Spanned<String>>,
    pub(super) format: Option<Spanned<String>>,
    pub(super) rules: Option<Spanned<String>>,
    pub(super) start: Option<Spanned<Start>>,
    pub(super) players_max: Option<Spanned<u32>>,
    pub(super) roster: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) set: BTreeMap<String, Spanned<toml::Value>>,
}

/// A file that was read, with what is needed to say where something stands in it.
#[derive(Debug)]
pub(super) struct File {
    pub(super) name: String,
    text: String,
}

impl File {
    /// Reads a configuration file.
    pub(super) fn read(path: &Path) -> anyhow::Result<(Self, Written)> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read the configuration {name}"))?;
        let file = Self { name, text };
        let written = toml::from_str(&file.text).map_err(|error| {
            let place = error.span().map_or_else(|| file.name.clone(), |span| file.place(&span));
            let message = error.message().replace('\n', " ");
            anyhow!("{place}: {message}").context(Hint(KEYS.into()))
        })?;
        Ok((file, written))
    }

    /// Where in the file something stands, such as `league.toml:3`.
    pub(super) fn place(&self, span: &Range<usize>) -> String {
        let before = self.text.get(..span.start).unwrap_or_default();
        format!("{}:{}", self.name, before.matches('\n').count() + 1)
    }
}

const KEYS: &str = "the keys are listen, data, default_league, allowed_networks, public_url, \
                    allowed_hosts, open_referees, lenient, practice, log_level, log_format, and \
                    under [league] id, game, format, rules, start, players_max, roster and set; \
                    `league serve --print-config` shows them";
