//! What the services say of their work, one line each: JSON for programs, text for people.
//!
//! Nothing is said before [`start`]. A level that is off costs one look at a number. Lines go
//! through a bounded queue to whoever writes them: a reader that stalls loses lines, and stalls
//! nobody in the league.

mod line;
pub mod talk;

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use crate::ambient;
use crate::component::Component;
use crate::limits::{LOG_FLUSH_TIMEOUT, LOG_LINES_MAX};

pub use line::Line;

/// How much a line matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Level {
    /// Messages as they are, and every change of state.
    Debug = 1,
    /// Matches and registrations.
    Info,
    /// Something is tried again, or looks wrong.
    Warning,
    /// Something failed, came too late, or made no sense.
    Error,
    /// Somebody pretended to be somebody else, or we cannot do our work.
    Critical,
}

/// Above every level.
const OFF: u8 = Level::Critical as u8 + 1;

impl Level {
    /// Every level, the least first.
    pub const ALL: [Self; 5] =
        [Self::Debug, Self::Info, Self::Warning, Self::Error, Self::Critical];

    /// The name in a log.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Debug => "DEBUG",
            Self::Info => "INFO",
            Self::Warning => "WARNING",
            Self::Error => "ERROR",
            Self::Critical => "CRITICAL",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name().to_ascii_lowercase())
    }
}

/// A word that is not a level or a format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}, got `{got}`")]
pub struct UnknownWord {
    expected: &'static str,
    got: String,
}

impl FromStr for Level {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        let word = text.trim().to_ascii_uppercase();
        let word = if word == "WARN" { "WARNING" } else { &word };
        let known = Self::ALL.into_iter().find(|level| level.name() == word);
        let expected = "debug, info, warning, error or critical";
        known.ok_or_else(|| UnknownWord { expected, got: text.into() })
    }
}

/// How a line is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One JSON object.
    Json,
    /// For people.
    Text,
}

impl Format {
    /// The name people type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Text => "text",
        }
    }
}

impl FromStr for Format {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        let known = [Self::Json, Self::Text].into_iter().find(|it| it.name() == text.trim());
        known.ok_or_else(|| UnknownWord { expected: "json or text", got: text.into() })
    }
}

static FLOOR: AtomicU8 = AtomicU8::new(OFF);
static AS_TEXT: AtomicBool = AtomicBool::new(false);
static LOST: AtomicU64 = AtomicU64::new(0);
static QUEUE: OnceLock<SyncSender<Work>> = OnceLock::new();

enum Work {
    Line(String),
    Flush(SyncSender<()>),
}

/// Keeps the log written; what is queued when it goes is still written.
#[derive(Debug)]
pub struct Logging(());

impl Drop for Logging {
    fn drop(&mut self) {
        let Some(queue) = QUEUE.get() else { return };
        let (done, wait) = sync_channel(1);
        if queue.try_send(Work::Flush(done)).is_ok() {
            // Whoever does not read must not keep the program from ending.
            let _given_up = wait.recv_timeout(LOG_FLUSH_TIMEOUT);
        }
    }
}

/// From now on lines of `level` and above go to `write`, which gets each with its line end. A
/// process has one log: whoever starts a second one goes on with the first.
pub fn start(level: Level, format: Format, write: impl FnMut(&str) + Send + 'static) -> Logging {
    let (queue, work) = sync_channel(LOG_LINES_MAX);
    if QUEUE.set(queue).is_ok() {
        AS_TEXT.store(format == Format::Text, Ordering::Relaxed);
        // It ends with the process: the queue is never closed.
        drop(std::thread::Builder::new().name("log".into()).spawn(|| keep_writing(work, write)));
    }
    FLOOR.store(level as u8, Ordering::Relaxed);
    Logging(())
}

/// From now on nothing below `level` is written.
pub fn hush(level: Level) {
    FLOOR.fetch_max(level as u8, Ordering::Relaxed);
}

fn keep_writing(work: Receiver<Work>, mut write: impl FnMut(&str)) {
    let mut told = 0;
    for work in work {
        match work {
            Work::Line(line) => write(&line),
            Work::Flush(done) => {
                // Whoever waited may have given up.
                let _gone = done.try_send(());
            }
        }
        let lost = lost();
        if lost > told {
            let mut line = Line::new(Level::Error, Component::Manager);
            line.detail("lost", lost - told).say("lines of this log were lost: nobody read them");
            write(&rendered(&line));
            told = lost;
        }
    }
}

/// Whether lines of `level` are written.
pub fn is_on(level: Level) -> bool {
    level as u8 >= FLOOR.load(Ordering::Relaxed)
}

/// Lines that nobody read in time.
pub fn lost() -> u64 {
    LOST.load(Ordering::Relaxed)
}

/// Writes a line, which `tell` fills, if its level is on.
pub fn at(level: Level, component: Component, tell: impl FnOnce(&mut Line)) {
    if !is_on(level) {
        return;
    }
    let mut line = Line::new(level, component);
    tell(&mut line);
    let Some(queue) = QUEUE.get() else { return };
    if queue.try_send(Work::Line(rendered(&line))).is_err() {
        LOST.fetch_add(1, Ordering::Relaxed);
    }
}

fn rendered(line: &Line) -> String {
    let format = if AS_TEXT.load(Ordering::Relaxed) { Format::Text } else { Format::Json };
    line.render(format, ambient::now())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_people_type_them() {
        for level in Level::ALL {
            assert_eq!(level.to_string().parse(), Ok(level));
        }
        assert_eq!("Warn".parse(), Ok(Level::Warning));
        assert_eq!("json".parse(), Ok(Format::Json));
        let error = "loud".parse::<Level>().unwrap_err().to_string();
        assert_eq!(error, "expected debug, info, warning, error or critical, got `loud`");
        assert!("xml".parse::<Format>().is_err());
    }

    #[test]
    fn levels_are_ordered_and_nothing_is_said_before_the_start() {
        assert!(Level::ALL.is_sorted());
        assert!(Level::ALL.iter().all(|level| !is_on(*level)));
        at(Level::Critical, Component::Player, |_| panic!("nobody listens"));
    }
}
