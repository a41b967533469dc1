//! Why a command failed, for a person: the error, its causes, and what to try.

use std::process::ExitCode;

use crate::output;
use crate::signal::Signal;

/// A failure with the exit code it ends in.
#[derive(Debug)]
pub(crate) enum Failure {
    /// What was typed cannot be done as it stands.
    Usage(anyhow::Error),
    /// The thing itself failed.
    Failed(anyhow::Error),
    /// We failed at judging somebody else.
    Ours(anyhow::Error),
    /// Somebody asked us to stop.
    Stopped(anyhow::Error, Signal),
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Failed(error)
    }
}

/// A hint that comes after the error.
#[derive(Debug)]
pub(crate) struct Hint(pub(crate) String);

impl std::fmt::Display for Hint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Failure {
    /// Wrong usage of `command`, with its own hint or the way to its help.
    pub(crate) fn usage(command: &str, error: anyhow::Error) -> Self {
        if error.downcast_ref::<Hint>().is_some() {
            return Self::Usage(error);
        }
        let hint = Hint(format!("`league {command} --help` shows every option"));
        Self::Usage(error.context(hint))
    }
}

/// Prints the failure and gives the exit code.
pub(crate) fn fail(failure: &Failure) -> ExitCode {
    let (error, code) = match failure {
        Failure::Usage(error) => (error, 2),
        Failure::Failed(error) => (error, 1),
        Failure::Ours(error) => (error, 3),
        Failure::Stopped(error, signal) => (error, signal.exit_code()),
    };
    let hint = error.downcast_ref::<Hint>();
    let mut said: Vec<String> = vec![];
    for cause in error.chain() {
        let text = cause.to_string();
        // A cause that its parent has already quoted tells nothing new.
        let repeated = said.iter().any(|before| before.contains(&text));
        if !repeated && hint.is_none_or(|hint| hint.0 != text) {
            said.push(text);
        }
    }
    let mut lines = said.iter();
    if let Some(first) = lines.next() {
        output::say(&format!("error: {first}"));
    }
    lines.for_each(|cause| output::say(&format!("  caused by: {cause}")));
    if let Some(hint) = hint {
        output::say(&format!("\nhint: {hint}"));
    }
    ExitCode::from(code)
}
