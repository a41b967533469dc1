//! The front door for whoever writes a player: one function, and everything else is done.
//!
//! ```no_run
//! use league_agent::author::{Agent, Call, Move};
//!
//! fn choose(call: &Call) -> Move {
//!     call.any()
//! }
//!
//! fn main() -> std::process::ExitCode {
//!     Agent::new("Ada", choose).run()
//! }
//! ```
//!
//! [`Agent::run`] reads the command line, registers (or comes back with the token that it kept),
//! checks who speaks, proves what was chosen, and ends when the league is over. The same without
//! a command line is [`Agent::play`].

mod call;
mod life;
mod options;
mod program;
#[cfg(test)]
mod tests;
mod watched;

use std::process::ExitCode;
use std::sync::Arc;

use tokio::sync::watch;

pub use call::{Call, Match};
pub use league_wire::MoveValue as Move;
pub use life::{Ending, Joined, PlayError};
pub use options::Options;

/// A function that chooses.
type Choose = Arc<dyn Fn(&Call) -> Move + Send + Sync>;

/// An agent around its author's function.
#[derive(Clone)]
pub struct Agent {
    name: String,
    version: String,
    games: Vec<String>,
    choose: Choose,
}

impl std::fmt::Debug for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Agent").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Agent {
    /// An agent that people see as `name` and that plays what `choose` says, which is one of
    /// [`Call::options`]. The function may be called from several threads at once. If it panics,
    /// takes too long or says something else, the log tells so and any option is played.
    pub fn new<M: Into<Move>>(
        name: impl Into<String>,
        choose: impl Fn(&Call) -> M + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            version: "1.0.0".into(),
            games: vec!["even_odd".into()],
            choose: Arc::new(move |call| choose(call).into()),
        }
    }

    /// The same with a version of its author's.
    #[must_use]
    pub fn version(self, version: impl Into<String>) -> Self {
        Self { version: version.into(), ..self }
    }

    /// The same for other games than `even_odd`.
    #[must_use]
    pub fn games<'a>(self, games: impl IntoIterator<Item = &'a str>) -> Self {
        Self { games: games.into_iter().map(Into::into).collect(), ..self }
    }

    /// Runs it as a program: reads the command line, says on stderr what happens, and plays until
    /// the league is over. Ctrl-C and SIGTERM end it before.
    pub fn run(self) -> ExitCode {
        program::run(self)
    }

    /// Plays until the league is over or `stop` says so. `joined` is told who it is.
    ///
    /// # Errors
    /// If it cannot listen, cannot keep who it is, or is not let in.
    pub async fn play(
        self,
        options: &Options,
        stop: watch::Receiver<bool>,
        joined: impl FnOnce(&Joined),
    ) -> Result<Ending, PlayError> {
        life::play(self, options, stop, joined).await
    }
}
