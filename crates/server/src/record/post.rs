//! The manager's letters, read out of the journal: those that somebody asks for, in order.

use league_core::id::LeagueId;

use super::{Entry, MatchRecord, Transcript};
use crate::journal::JournalError;
use crate::journal::sqlite::SqliteView;
use crate::letters::{self, Exchanged, Way};

/// What was found of the manager's letters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Post {
    /// Those that were asked for, by the time of the call.
    pub letters: Vec<Exchanged>,
    /// What referees told later of what was said after their reports.
    pub epilogues: Vec<Exchanged>,
    /// How many of the league were dropped when they passed, whatever they were.
    pub dropped: u64,
    /// How many there are that cannot be read.
    pub unreadable: u64,
}

impl Post {
    /// The letters of a league that are `wanted`, and the epilogues of `matches`.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn read(
        view: &SqliteView,
        league: &LeagueId,
        wanted: impl Fn(&Exchanged) -> bool,
        matches: &[&MatchRecord],
    ) -> Result<Self, JournalError> {
        let wanted = |letter: &Exchanged| match letter.way {
            Way::Came | Way::Went => wanted(letter),
            Way::Told => matches.iter().any(|record| is_epilogue(record, letter)),
        };
        let mut post = Self::default();
        view.letters(league, |bundle| {
            post.dropped += bundle.dropped;
            if bundle.count == 0 {
                return;
            }
            match letters::open(&bundle.bytes, wanted) {
                Ok(all) => post.letters.extend(all),
                Err(_) => post.unreadable += bundle.count,
            }
        })?;
        post.letters.sort_by_key(|letter| letter.at);
        let (told, letters) = post.letters.into_iter().partition(|letter| letter.way == Way::Told);
        (post.epilogues, post.letters) = (told, letters);
        Ok(post)
    }

    /// What was said after the report of a match, if its referee told. The first account counts:
    /// nobody replaces its own when it is looked into.
    pub fn epilogue(&self, record: &MatchRecord) -> Option<Vec<Entry>> {
        let told = self.epilogues.iter().find(|letter| is_epilogue(record, letter))?;
        let transcript: Transcript = serde_json::from_str(told.body.as_deref()?).ok()?;
        Some(transcript.entries)
    }
}

/// Whether `letter` is what the referee of the result told of its attempt.
fn is_epilogue(record: &MatchRecord, letter: &Exchanged) -> bool {
    let Some((_, _, recorded)) = &record.result else { return false };
    letter.match_id.as_deref() == Some(&*record.match_id.to_string())
        && letter.peer == recorded.referee.to_string()
        && letter.conversation == recorded.conversation.to_string()
}
