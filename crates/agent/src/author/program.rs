//! An agent as a program: a command line, a log on stderr, and an exit code.

use std::future::Future;
use std::io::{self, Write};
use std::process::{Command, ExitCode};

use tokio::sync::watch;

use super::life::{Ending, Joined, PlayError};
use super::options::{HELP, Task, Typed};
use super::{Agent, Options};
use crate::component::Component;
use crate::log::{self, Format, Level};

/// What the checker is told: it says where to register, where to listen, and where the token may
/// lie meanwhile.
const PLACES: &str = "--manager {manager} --listen 127.0.0.1:{port} --token-file {data}/token";

const HOW: &str = "\
The program `league` checks agents, and it is not on the PATH.
Build it from the sources of the league with
    cargo install --path crates/cli
or say where it is with LEAGUE_BIN=/path/to/league. Then run this again.
";

pub(super) fn run(agent: Agent) -> ExitCode {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let typed = match Typed::read(std::env::args().skip(1), variable) {
        Ok(typed) => typed,
        Err(wrong) => {
            say(&format!("error: {wrong}\n\n{HELP}"));
            return ExitCode::from(2);
        }
    };
    match typed.task {
        Task::Play => {}
        Task::Check => return check(),
        Task::Help => {
            print(HELP);
            return ExitCode::SUCCESS;
        }
    }
    let level = if typed.verbose { Level::Debug } else { Level::Info };
    let logging = log::start(level, Format::Text, say);
    let outcome = play(agent, &typed.options, typed.json);
    drop(logging);
    match outcome {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("error: {error}\n"));
            ExitCode::FAILURE
        }
    }
}

fn play(agent: Agent, options: &Options, json: bool) -> Result<Ending, Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let stop = watch::Sender::new(false);
        let signal = ended_by_signal()?;
        let playing = agent.play(options, stop.subscribe(), |joined| announce(joined, json));
        let (mut playing, mut signal) = (std::pin::pin!(playing), std::pin::pin!(signal));
        let outcome: Result<Ending, PlayError> = tokio::select! {
            outcome = &mut playing => outcome,
            () = &mut signal => {
                stop.send_replace(true);
                playing.await
            }
        };
        Ok(outcome?)
    })
}

/// Comes back when the program is asked to end.
#[cfg(unix)]
fn ended_by_signal() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut interrupt, mut terminate) =
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

#[cfg(not(unix))]
fn ended_by_signal() -> io::Result<impl Future<Output = ()>> {
    Ok(async {
        drop(tokio::signal::ctrl_c().await);
    })
}

fn announce(joined: &Joined, json: bool) {
    let Joined { player, name, league, endpoint } = joined;
    log::at(Level::Info, Component::Player, |line| {
        let way = match endpoint {
            Some(endpoint) => format!("called at {endpoint}"),
            None => "fetches its turns".into(),
        };
        line.agent(player).league(league).say(format!("{name} plays, {way}"));
    });
    if json {
        let text =
            |text: &str| league_wire::Fragment::of(&text).map(|quoted| quoted.as_str().to_string());
        let quoted = |value: &str| text(value).unwrap_or_else(|| "null".into());
        let endpoint = endpoint.as_deref().map_or_else(|| "null".into(), quoted);
        print(&format!(
            "{{\"agents\":[{{\"id\":{},\"display_name\":{},\"league_id\":{},\"endpoint\":{endpoint}}}]}}\n",
            quoted(player),
            quoted(name),
            quoted(league),
        ));
    }
}

/// Has `league check` look at this program.
fn check() -> ExitCode {
    let league = std::env::var_os("LEAGUE_BIN").unwrap_or_else(|| "league".into());
    let own = std::env::current_exe().unwrap_or_default();
    let own = own.to_string_lossy().replace('\'', "'\"'\"'");
    let start = format!("'{own}' {PLACES}");
    match Command::new(league).args(["check", "player", "--start", &start]).status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(_) => {
            say(HOW);
            ExitCode::FAILURE
        }
    }
}

/// Writes for people. Whoever does not read it must not keep the agent from playing.
fn say(text: &str) {
    let _unread = io::stderr().lock().write_all(text.as_bytes());
}

/// Writes for programs.
fn print(text: &str) {
    let mut stdout = io::stdout().lock();
    let _unread = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}
