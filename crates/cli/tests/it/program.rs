//! Running the program in a directory of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A directory to run the program in.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a directory"))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Where the record is kept if nothing else is said.
    pub(crate) fn data(&self) -> PathBuf {
        self.path().join("league-data")
    }

    /// The program with `line` as its arguments.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_league"));
        command.args(line.split_whitespace()).current_dir(self.path());
        command.env_remove("LEAGUE_DATA").env("COLUMNS", "100").stdin(Stdio::null());
        for name in ["LISTEN", "SECRET", "ADMIN_TOKEN", "MANAGER", "JOIN_KEY", "JOIN_CODE", "LOG"] {
            command.env_remove(format!("LEAGUE_{name}"));
        }
        command
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, line: &str) -> Run {
        Run::of(self.command(line).output().expect("the program can be run"))
    }
}

/// How a run of the program ended.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    pub(crate) fn of(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("what is printed is UTF-8");
        let code = output.status.code();
        Self { code, stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// All of it, for a snapshot.
    pub(crate) fn shown(&self) -> String {
        let code = self.code.map_or_else(|| "a signal".into(), |code| code.to_string());
        let Self { stdout, stderr, .. } = self;
        format!("exit: {code}\n--- stdout\n{stdout}--- stderr\n{stderr}")
    }
}
