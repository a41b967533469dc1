//! What went over the line during a case, without anything that could be used by somebody else.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use league_agent::ambient::Mark;
use league_agent::guard::lock;
use league_wire::redact::redact;

use crate::limits::{ENTRIES_MAX, SHOWN_BYTES_MAX};

/// Which way something went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// From the checker to the agent.
    Sent,
    /// From the agent to the checker.
    Came,
    /// A remark of the checker.
    Note,
}

impl Way {
    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Came => "came",
            Self::Note => "note",
        }
    }

    /// The sign for it.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Sent => "→",
            Self::Came => "←",
            Self::Note => "·",
        }
    }
}

/// One thing that went over the line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// When, counted from the beginning of the case.
    pub at: Duration,
    /// Which way.
    pub way: Way,
    /// The bytes, as text: head and body of an HTTP message.
    pub text: String,
}

/// Everything that went over the line during a case. Copies share what they hold.
#[derive(Debug, Clone)]
pub struct Transcript {
    since: Mark,
    entries: Arc<Mutex<Vec<Entry>>>,
}

impl Default for Transcript {
    fn default() -> Self {
        Self { since: Mark::set(), entries: Arc::default() }
    }
}

impl Transcript {
    /// Notes bytes that went over the line.
    pub fn record(&self, way: Way, bytes: &[u8]) {
        let shown = &bytes[..bytes.len().min(SHOWN_BYTES_MAX)];
        let mut text = redact(&String::from_utf8_lossy(shown), &[]).into_owned();
        if shown.len() < bytes.len() {
            text.push_str(&format!("… ({} bytes in all)", bytes.len()));
        }
        self.push(way, text);
    }

    /// Notes a remark.
    pub fn note(&self, text: impl Into<String>) {
        self.push(Way::Note, text.into());
    }

    /// What was noted so far.
    pub fn entries(&self) -> Vec<Entry> {
        lock(&self.entries).clone()
    }

    fn push(&self, way: Way, text: String) {
        let mut entries = lock(&self.entries);
        if entries.len() < ENTRIES_MAX {
            entries.push(Entry { at: self.since.elapsed(), way, text });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transcript_holds_no_token_and_no_megabytes() {
        let transcript = Transcript::default();
        transcript.record(Way::Sent, br#"{"auth_token":"tok_player_P01_ab"}"#);
        transcript.record(Way::Came, &vec![b'x'; 1024 * 1024]);
        let entries = transcript.entries();
        assert_eq!(entries[0].text, r#"{"auth_token":"[redacted]"}"#);
        assert!(entries[1].text.ends_with("… (1048576 bytes in all)"));
        assert!(entries[1].text.len() < 2 * SHOWN_BYTES_MAX);
    }
}
