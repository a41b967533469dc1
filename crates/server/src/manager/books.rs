//! A league together with its journal: opened by replay, written by appending.

use std::sync::Arc;

use league_agent::ambient::Mark;
use league_agent::component::Component;
use league_agent::meter::Meter;
use league_core::dice::Dice;
use league_core::id::LeagueId;
use league_core::manager::{BadCharter, Charter, Command, Event, Fact, League, Refusal, Reply};
use league_core::time::Timestamp;

use crate::journal::codec::{self, CodecError, Skimmed};
use crate::journal::{Attachment, Batch, Head, Journal, JournalError};
use crate::letters::Letters;
use crate::limits::{BATCH_ROWS_MAX, REPLAY_PAGE_ROWS};

/// A league and the journal that is its memory.
pub struct Books {
    journal: Arc<dyn Journal>,
    league: League,
    head: Head,
    pending: Batch,
    events: Vec<Event>,
}

/// Why a league's books cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The journal cannot be read or written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A row is not an event.
    #[error("row {seq} of league {league}: {source}")]
    Codec {
        /// Which league.
        league: LeagueId,
        /// Which row.
        seq: u64,
        /// What is wrong with it.
        source: CodecError,
    },
    /// The charter cannot be followed by this program.
    #[error(transparent)]
    Charter(#[from] BadCharter),
    /// The first row is not the founding of a league.
    #[error("league {0}: the journal does not begin with the founding of the league")]
    NotALeague(LeagueId),
    /// The journal was written under another secret.
    #[error("league {0} was written under another secret: its tokens and draws cannot be checked")]
    WrongSecret(LeagueId),
}

impl Books {
    /// Founds a league and writes its first row.
    ///
    /// # Errors
    /// If the charter cannot be followed or the journal cannot be written.
    pub async fn found(
        journal: Arc<dyn Journal>,
        at: Timestamp,
        charter: Charter,
    ) -> Result<Self, OpenError> {
        let (league, created) = League::found(at, charter)?;
        let batch = Batch::of(vec![codec::encode(&created)]);
        let head = Head::genesis(league.id());
        Meter::of(Component::Manager).rows.add(1);
        let head = journal.append(league.id(), head.seq, batch).await?;
        Ok(Self { journal, league, head, pending: Batch::default(), events: vec![] })
    }

    /// Replays a league from its journal; `None` if the journal does not have it.
    ///
    /// # Errors
    /// If the journal is damaged, from a later version, or from another secret.
    pub async fn replay(
        journal: Arc<dyn Journal>,
        id: &LeagueId,
        key_check: [u8; 32],
    ) -> Result<Option<Self>, OpenError> {
        let mut head = Head::genesis(id);
        let mut league: Option<League> = None;
        loop {
            let rows = journal.read(id, head, REPLAY_PAGE_ROWS).await?;
            let Some(last) = rows.last() else { break };
            head = last.head();
            for row in &rows {
                let skimmed = codec::skim(&row.bytes).map_err(|source| OpenError::Codec {
                    league: id.clone(),
                    seq: row.seq.get(),
                    source,
                })?;
                match (&mut league, skimmed) {
                    (Some(league), Skimmed::Result(recorded)) => league.record(&recorded),
                    (Some(league), Skimmed::Other(event)) => league.apply(&event),
                    (None, Skimmed::Result(_)) => return Err(OpenError::NotALeague(id.clone())),
                    (None, Skimmed::Other(event)) => {
                        league = Some(open_first(id, &event, key_check)?);
                    }
                }
            }
        }
        let (pending, events) = (Batch::default(), vec![]);
        Ok(league.map(|league| Self { journal, league, head, pending, events }))
    }

    /// Decides and applies a command. Nobody may be told before [`Books::commit`].
    ///
    /// # Errors
    /// If the command is refused; nothing has changed then.
    pub fn enter(
        &mut self,
        now: Timestamp,
        command: Command,
        attachment: Option<Vec<u8>>,
        dice: &mut impl Dice,
    ) -> Result<Reply, Refusal> {
        let (events, reply) = self.league.drive(now, command, dice)?;
        if let (Some(bytes), Some(Event { fact: Fact::ResultRecorded(recorded), .. })) =
            (attachment, events.first())
            && let Some(hash) = recorded.transcript
        {
            let row = self.pending.rows.len();
            self.pending.attachments.push(Attachment { row, hash, bytes });
        }
        self.pending.rows.extend(events.iter().map(codec::encode));
        self.events.extend(events);
        Ok(reply)
    }

    /// Makes everything entered so far durable, and says what it was. What one append cannot take
    /// goes into a second one: an order about a referee may concern every match of a round. What
    /// follows from the rows before a cut follows from them after a crash too.
    ///
    /// # Errors
    /// If the journal cannot be written. The books are then ahead of it and must be thrown away.
    pub async fn commit(&mut self) -> Result<Vec<Event>, JournalError> {
        let mut rest = std::mem::take(&mut self.pending);
        while !rest.rows.is_empty() {
            let mut batch = rest;
            rest = match batch.rows.len() > BATCH_ROWS_MAX {
                true => batch.split_off(BATCH_ROWS_MAX),
                false => Batch::default(),
            };
            let (meter, began) = (Meter::of(Component::Manager), Mark::set());
            meter.rows.add(batch.rows.len() as u64);
            self.head = self.journal.append(self.league.id(), self.head.seq, batch).await?;
            meter.append_time.observe(began.elapsed());
        }
        Ok(std::mem::take(&mut self.events))
    }

    /// How many bytes wait to be committed.
    pub fn pending_bytes(&self) -> usize {
        self.pending.bytes_len()
    }

    /// How many rows wait to be committed.
    pub const fn pending_rows(&self) -> usize {
        self.pending.rows.len()
    }

    /// The league, including what is not durable yet.
    pub const fn league(&self) -> &League {
        &self.league
    }

    /// Where letters about the league are noted.
    pub(super) fn letters(&self) -> Letters {
        self.journal.letters()
    }

    /// The last durable row.
    pub const fn head(&self) -> Head {
        self.head
    }
}

impl std::fmt::Debug for Books {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Books").field("league", self.league.id()).field("head", &self.head).finish()
    }
}

fn open_first(id: &LeagueId, event: &Event, key_check: [u8; 32]) -> Result<League, OpenError> {
    let Fact::LeagueCreated(charter) = &event.fact else {
        return Err(OpenError::NotALeague(id.clone()));
    };
    if charter.key_check != key_check {
        return Err(OpenError::WrongSecret(id.clone()));
    }
    Ok(League::open(charter)?)
}
