//! An agent that the checker started: a command in a process group of its own, so that all of it
//! can be stopped.

use std::fs::{self, File};
use std::net::{SocketAddr, TcpListener};
use std::ops::Range;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use league_agent::ambient::OsDice;
use league_agent::exchange::random_hex;
use league_core::dice::Dice;
use league_wire::redact::redact;
use tokio::process::{Child, Command};
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::limits::{STOP_TIME, WORDS_BYTES_MAX};

/// What the words in braces of a start command stand for.
#[derive(Debug, Clone)]
pub struct Places {
    /// `{manager}`: where the stage listens.
    pub manager: String,
    /// `{port}`: a free port.
    pub port: u16,
    /// `{dialect}`: the dialect to speak.
    pub dialect: &'static str,
}

/// An agent that the checker started, and can start again.
#[derive(Debug)]
pub struct Started {
    command: String,
    folder: PathBuf,
    child: Mutex<Option<Child>>,
}

impl Started {
    /// Starts `command`, in which words in braces are replaced. `{data}` is a folder of its own
    /// that outlives the agent.
    ///
    /// # Errors
    /// If it cannot be started.
    pub async fn new(command: &str, places: &Places) -> std::io::Result<Self> {
        let folder = std::env::temp_dir().join(format!("league-check-{}", random_hex()));
        fs::create_dir_all(&folder)?;
        let Places { manager, port, dialect } = places;
        let command = command
            .replace("{manager}", manager)
            .replace("{port}", &port.to_string())
            .replace("{dialect}", dialect)
            .replace("{data}", &folder.to_string_lossy());
        let started = Self { command, folder, child: Mutex::new(None) };
        started.start().await?;
        Ok(started)
    }

    /// Starts it, as it was started before.
    ///
    /// # Errors
    /// If it cannot be started.
    pub async fn start(&self) -> std::io::Result<()> {
        let words = File::create(self.folder.join("words"))?;
        let mut command = shell(&self.command);
        command.stdin(Stdio::null()).stdout(words.try_clone()?).stderr(words).kill_on_drop(true);
        *self.child.lock().await = Some(command.spawn()?);
        Ok(())
    }

    /// Asks it to stop and waits; afterwards nothing of it is left. How it ended, if it did so
    /// in time.
    pub async fn stop(&self) -> Option<std::process::ExitStatus> {
        let mut child = self.child.lock().await.take()?;
        signal(&mut child, "TERM").await;
        let ended = timeout(STOP_TIME, child.wait()).await;
        if ended.is_err() {
            signal(&mut child, "KILL").await;
            // Nobody survives it; only a broken system would not tell.
            let _status = timeout(STOP_TIME, child.wait()).await;
        }
        ended.ok().and_then(Result::ok)
    }

    /// Ends it at once, as a power cut would.
    pub async fn kill(&self) {
        if let Some(mut child) = self.child.lock().await.take() {
            signal(&mut child, "KILL").await;
            let _status = timeout(STOP_TIME, child.wait()).await;
        }
    }

    /// Waits until it has ended by itself, at most `limit`.
    pub async fn ended_within(&self, limit: Duration) -> bool {
        let mut child = self.child.lock().await;
        match child.as_mut() {
            Some(child) => timeout(limit, child.wait()).await.is_ok(),
            None => true,
        }
    }

    /// The end of what it printed, without tokens.
    pub fn words(&self) -> String {
        let words = fs::read(self.folder.join("words")).unwrap_or_default();
        let last = &words[words.len().saturating_sub(WORDS_BYTES_MAX)..];
        redact(String::from_utf8_lossy(last).trim_end(), &[]).into_owned()
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // What is left behind is small, and in a place that is cleaned.
        let _left = fs::remove_dir_all(&self.folder);
    }
}

/// A port that nobody listens at just now, below those that systems give to whoever calls: an agent
/// that is restarted must find it free.
///
/// # Errors
/// If there is none.
pub fn free_port() -> std::io::Result<u16> {
    let mut last = std::io::Error::from(std::io::ErrorKind::AddrInUse);
    for _ in 0..PORTS_TRIED {
        let mut bytes = [0; 2];
        OsDice.fill(&mut bytes);
        let port = PORTS.start + u16::from_be_bytes(bytes) % (PORTS.end - PORTS.start);
        match TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], port))) {
            Ok(_) => return Ok(port),
            Err(error) => last = error,
        }
    }
    Err(last)
}

const PORTS: Range<u16> = 18_000..32_000;
const PORTS_TRIED: usize = 64;

#[cfg(unix)]
fn shell(command: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command).process_group(0);
    shell
}

#[cfg(not(unix))]
fn shell(command: &str) -> Command {
    let mut shell = Command::new("cmd");
    shell.arg("/C").arg(command);
    shell
}

/// Sends a signal to the whole group that `child` leads.
#[cfg(unix)]
async fn signal(child: &mut Child, name: &str) {
    let Some(id) = child.id() else { return };
    let group = format!("-{id}");
    let mut kill = Command::new("kill");
    kill.args(["-s", name, "--", &group]).stdout(Stdio::null()).stderr(Stdio::null());
    let is_sent = kill.status().await.is_ok_and(|status| status.success());
    if !is_sent {
        let _gone = child.start_kill();
    }
}

#[cfg(not(unix))]
async fn signal(child: &mut Child, _name: &str) {
    let _gone = child.kill().await;
}
