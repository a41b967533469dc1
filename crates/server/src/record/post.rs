//! The manager's letters, read out of the journal: those that somebody asks for, in order.

use league_core::id::LeagueId;

use crate::journal::JournalError;
use crate::journal::sqlite::SqliteView;
use crate::letters::{self, Exchanged};

/// What was found of the manager's letters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Post {
    /// Those that were asked for, by the time of the call.
    pub letters: Vec<Exchanged>,
    /// How many of the league were dropped when they passed, whatever they were.
    pub dropped: u64,
    /// How many there are that cannot be read.
    pub unreadable: u64,
}

impl Post {
    /// The letters of a league that are `wanted`.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn read(
        view: &SqliteView,
        league: &LeagueId,
        wanted: impl Fn(&Exchanged) -> bool,
    ) -> Result<Self, JournalError> {
        let mut post = Self::default();
        view.letters(league, |bundle| {
            post.dropped += bundle.dropped;
            if bundle.count == 0 {
                return;
            }
            match letters::open(&bundle.bytes) {
                Ok(all) => post.letters.extend(all.into_iter().filter(&wanted)),
                Err(_) => post.unreadable += bundle.count,
            }
        })?;
        post.letters.sort_by_key(|letter| letter.at);
        Ok(post)
    }
}
