//! The log of a service: what was typed about it, and where its lines go.

use std::io::IsTerminal;
use std::panic::PanicHookInfo;
use std::sync::OnceLock;

use anyhow::anyhow;
use clap::Args;
use indicatif::ProgressBar;
use league_agent::component::Component;
use league_agent::log::{self, Format, Level, Logging};
use league_core::id::LeagueId;

use crate::output;

/// Says how much is logged, and how.
const VARIABLE: &str = "LEAGUE_LOG";

/// What was typed about the log.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct LogArgs {
    /// What is logged on stderr: debug, info, warning, error or critical, and everything above it
    #[arg(long, value_name = "LEVEL", help_heading = "Log")]
    pub(crate) log_level: Option<String>,
    /// How it is logged: json or text [default: text on a terminal, else json]
    #[arg(long, value_name = "FORMAT", help_heading = "Log")]
    pub(crate) log_format: Option<String>,
}

/// A level and a format, each if it was given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) level: Option<Level>,
    pub(crate) format: Option<Format>,
}

impl LogArgs {
    /// What was typed; where nothing was, what the environment says.
    pub(crate) fn wanted(&self) -> anyhow::Result<Wanted> {
        let typed = self.typed()?;
        let set = environment()?;
        let (level, format) = (typed.level.or(set.level), typed.format.or(set.format));
        Ok(Wanted { level, format })
    }

    pub(crate) fn typed(&self) -> anyhow::Result<Wanted> {
        let level = self.log_level.as_deref().map(str::parse).transpose();
        let format = self.log_format.as_deref().map(str::parse).transpose();
        Ok(Wanted {
            level: level.map_err(|bad| anyhow!("--log-level: {bad}"))?,
            format: format.map_err(|bad| anyhow!("--log-format: {bad}"))?,
        })
    }
}

/// What the environment says: a level, a format, or both with a comma.
pub(crate) fn environment() -> anyhow::Result<Wanted> {
    match std::env::var(VARIABLE) {
        Ok(text) => read(&text),
        Err(std::env::VarError::NotPresent) => Ok(Wanted::default()),
        Err(std::env::VarError::NotUnicode(_)) => Err(anyhow!("{VARIABLE} is not text")),
    }
}

fn read(text: &str) -> anyhow::Result<Wanted> {
    let mut wanted = Wanted::default();
    for word in text.split(',').filter(|word| !word.trim().is_empty()) {
        match word.parse::<Format>() {
            Ok(format) => wanted.format = Some(format),
            Err(_) => {
                let level = word.parse().map_err(|bad| {
                    anyhow!("{VARIABLE}: {bad}; a format, json or text, may follow after a comma")
                })?;
                wanted.level = Some(level);
            }
        }
    }
    Ok(wanted)
}

/// A progress bar above which lines are written.
static BAR: OnceLock<ProgressBar> = OnceLock::new();

/// Starts the log; `usual` is the level if none was given.
pub(crate) fn start(wanted: Wanted, usual: Level) -> Logging {
    let by_reader = || if std::io::stderr().is_terminal() { Format::Text } else { Format::Json };
    let format = wanted.format.unwrap_or_else(by_reader);
    if format == Format::Json {
        std::panic::set_hook(Box::new(panicked));
    }
    log::start(wanted.level.unwrap_or(usual), format, |line| match BAR.get() {
        Some(bar) => bar.suspend(|| output::log(line)),
        None => output::log(line),
    })
}

/// Lines are written above `bar` from now on.
pub(crate) fn above(bar: &ProgressBar) {
    // Nobody sees a hidden bar, and whoever does not read the log must not hold it up.
    if !bar.is_hidden() {
        // There is one bar in a process.
        let _second = BAR.set(bar.clone());
    }
}

/// Says something to whoever runs a service.
pub(crate) fn tell(level: Level, component: Component, text: &str) {
    log::at(level, component, |line| {
        line.say(text);
    });
}

/// Says something about a league to whoever runs a service.
pub(crate) fn tell_of(league: &LeagueId, level: Level, component: Component, text: &str) {
    log::at(level, component, |line| {
        line.league(league).say(text);
    });
}

fn panicked(panic: &PanicHookInfo<'_>) {
    let text = panic.payload_as_str().unwrap_or("a panic without words");
    log::at(Level::Critical, Component::Manager, |line| {
        if let Some(place) = panic.location() {
            line.text("place", place);
        }
        line.say(format!("a bug of ours: {text}"));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_names_a_level_a_format_or_both() {
        let wanted = |text| read(text).map(|it| (it.level, it.format)).map_err(|e| e.to_string());
        assert_eq!(wanted(""), Ok((None, None)));
        assert_eq!(wanted("debug"), Ok((Some(Level::Debug), None)));
        assert_eq!(wanted("text"), Ok((None, Some(Format::Text))));
        assert_eq!(wanted("warn,json"), Ok((Some(Level::Warning), Some(Format::Json))));
        assert!(wanted("loud").unwrap_err().starts_with("LEAGUE_LOG: expected debug"));
    }
}
