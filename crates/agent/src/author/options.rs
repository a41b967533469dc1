//! Where and how an agent plays, and how that is typed.

use std::net::SocketAddr;
use std::path::PathBuf;

/// Where and how an agent plays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The manager's address.
    pub manager: String,
    /// The league to join; the manager's only open one if nothing is said.
    pub league: Option<String>,
    /// The name that people see, if it is another than the agent's own.
    pub name: Option<String>,
    /// Where to listen; the first free port from 8101 on if nothing is said.
    pub listen: Option<SocketAddr>,
    /// Where others call it, if that is not where it listens.
    pub endpoint: Option<String>,
    /// Whether it listens nowhere and fetches its turns from the manager.
    pub pull: bool,
    /// The code that its author was given, if the league asks for one.
    pub join_code: Option<String>,
    /// Where it keeps who it is; a file in `.league` if nothing is said.
    pub token_file: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            manager: "http://127.0.0.1:8000".into(),
            league: None,
            name: None,
            listen: None,
            endpoint: None,
            pull: false,
            join_code: None,
            token_file: None,
        }
    }
}

impl Options {
    /// The manager's address with `/mcp`.
    pub(super) fn mcp(&self) -> String {
        let base = self.manager.trim_end_matches('/').trim_end_matches("/mcp");
        format!("{base}/mcp")
    }

    /// The file for the token. Each manager has one, since no other is shown the token.
    pub(super) fn kept_in(&self, name: &str) -> PathBuf {
        if let Some(file) = &self.token_file {
            return file.clone();
        }
        let manager = self.manager.split("://").last().unwrap_or_default();
        let place = manager.split('/').next().unwrap_or_default();
        let plain = |letter: char| {
            if letter.is_alphanumeric() || "@._-".contains(letter) { letter } else { '-' }
        };
        let file: String = format!("{name}@{place}").chars().map(plain).collect();
        PathBuf::from(".league").join(file)
    }
}

/// What was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Typed {
    pub(super) options: Options,
    pub(super) json: bool,
    pub(super) verbose: bool,
    pub(super) task: Task,
}

/// What the program is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Task {
    Play,
    Check,
    Help,
}

pub(super) const HELP: &str = "\
A player of a league.

  --manager URL        the manager [LEAGUE_MANAGER, http://127.0.0.1:8000]
  --league ID          the league to join; the only open one if nothing is said
  --name NAME          the name that people see
  --listen HOST:PORT   where to listen; port 0 takes a free one [the first free one from 8101 on]
  --endpoint URL       where others call it, if not where it listens
  --pull               listen nowhere and fetch the turns, for a machine that nobody can call
  --join-code CODE     the code that you were given, if the league asks for one [LEAGUE_JOIN_CODE]
  --token-file FILE    where it keeps who it is [a file in .league]
  --json               print one JSON document on stdout when it has joined
  --verbose            say more
  --check              have `league check` look at this agent, and end
  --help               print this
";

impl Typed {
    /// Reads the words of a command line; where nothing is typed `variable` counts.
    pub(super) fn read(
        words: impl IntoIterator<Item = String>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, String> {
        let mut options = Options { join_code: variable("LEAGUE_JOIN_CODE"), ..Options::default() };
        if let Some(manager) = variable("LEAGUE_MANAGER") {
            options.manager = manager;
        }
        let mut typed = Self { options, json: false, verbose: false, task: Task::Play };
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let (flag, value) = match word.split_once('=') {
                Some((flag, value)) => (flag.to_string(), Some(value.to_string())),
                None => (word, None),
            };
            let mut value = || value.clone().or_else(|| words.next());
            typed.take(&flag, &mut value)?;
        }
        Ok(typed)
    }

    fn take(
        &mut self,
        flag: &str,
        value: &mut dyn FnMut() -> Option<String>,
    ) -> Result<(), String> {
        let mut text = || value().ok_or_else(|| format!("{flag} needs a value"));
        match flag {
            "--manager" => self.options.manager = text()?,
            "--league" => self.options.league = Some(text()?),
            "--name" => self.options.name = Some(text()?),
            "--listen" => {
                let address = text()?;
                let expected = |_| format!("--listen: expected 127.0.0.1:8101, got {address}");
                self.options.listen = Some(address.parse().map_err(expected)?);
            }
            "--endpoint" => self.options.endpoint = Some(text()?),
            "--join-code" => self.options.join_code = Some(text()?),
            "--token-file" => self.options.token_file = Some(text()?.into()),
            "--pull" => self.options.pull = true,
            "--json" => self.json = true,
            "--verbose" => self.verbose = true,
            "--check" => self.task = Task::Check,
            "--help" | "-h" => self.task = Task::Help,
            unknown => return Err(format!("{unknown} is not known; --help lists what is")),
        }
        Ok(())
    }
}
