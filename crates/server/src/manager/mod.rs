//! The league manager as a service: one writer per league, and everybody else asks it.

mod action;
mod actor;
mod admin;
mod alarm;
mod applicant;
mod archive;
pub mod blueprint;
mod books;
mod chronicle;
mod contacts;
mod courier;
mod course;
mod evidence;
mod fault;
mod figures;
mod gate;
mod gauges;
mod inbound;
mod leagues;
mod manners;
#[cfg(feature = "mcp")]
mod mcp;
mod members;
mod news;
mod officiating;
mod outbound;
mod query;
mod rehearsal;
pub mod relay;
mod returning;
mod schemas;
mod shape;
mod stall;
#[cfg(test)]
mod tests;
mod untaken;
mod view;
mod witness;
mod words;

use std::sync::{Arc, RwLock, RwLockReadGuard};

use league_core::id::RefereeId;
use league_core::manager::dispatch::Handout;
use league_core::manager::{Command, League, Refusal, Reply};
use tokio::sync::{mpsc, oneshot};

use contacts::Contacts;
use manners::Manners;
use relay::{Interrupted, Mailboxes};
use untaken::Untaken;

use crate::journal::Head;
use crate::letters::Letters;
use crate::limits::MAILBOX_MAX;

pub use actor::Actor;
pub use alarm::Alarm;
pub use archive::Archive;
pub use books::{Books, OpenError};
pub use gate::Rates;
pub use inbound::Manager;
pub use leagues::{FoundError, Founding, Leagues};
#[cfg(feature = "mcp")]
pub use mcp::{Hosts, Reception};
pub use outbound::Outbound;

/// How everybody but the writer reaches a league.
#[derive(Debug, Clone)]
pub struct Stub {
    mailbox: mpsc::Sender<Ask>,
    published: Arc<RwLock<Published>>,
    letters: Letters,
    contacts: Arc<Contacts>,
    untaken: Arc<Untaken>,
    mailboxes: Arc<Mailboxes>,
    interrupted: Arc<Interrupted>,
    manners: Arc<Manners>,
}

/// What is durable, and therefore what may be shown.
#[derive(Debug)]
pub struct Published {
    /// The league as the journal has it.
    pub league: League,
    /// The last row of the journal.
    pub head: Head,
}

/// A question to the writer.
enum Ask {
    /// Something that may change the league.
    Command {
        command: Command,
        /// Stored beside the event that the command leads to.
        attachment: Option<Vec<u8>>,
        answer: oneshot::Sender<Result<Reply, Refusal>>,
    },
    /// A referee shows that it is still at a match.
    Renew { handout: Handout, answer: oneshot::Sender<bool> },
    /// A match could not be handed to its referee, who keeps it.
    PutBack { handout: Handout },
    /// Referees have said that they have these matches.
    Taken { handouts: Vec<Handout> },
    /// A referee wants to know its matches.
    Held { referee: RefereeId, answer: oneshot::Sender<Vec<Handout>> },
}

/// Why the writer gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// It said no.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// It has more to do than it can queue.
    #[error("the league is busy")]
    Busy,
    /// It stopped before the answer was in the books.
    #[error("the league is closing, or its books cannot be written")]
    Unavailable,
}

impl Stub {
    fn new(books: &Books) -> (Self, mpsc::Receiver<Ask>) {
        let (mailbox, asks) = mpsc::channel(MAILBOX_MAX);
        let published = Published { league: books.league().clone(), head: books.head() };
        let (published, letters) = (Arc::new(RwLock::new(published)), books.letters());
        let (contacts, untaken, mailboxes) = (Arc::default(), Arc::default(), Arc::default());
        let interrupted = Arc::new(Interrupted::of(books.league()));
        let stub = Self {
            mailbox,
            published,
            letters,
            contacts,
            untaken,
            mailboxes,
            interrupted,
            manners: Arc::default(),
        };
        (stub, asks)
    }

    /// Asks the writer; the answer comes when what it says is in the books.
    ///
    /// # Errors
    /// If the league refuses, is overloaded, or cannot write its books.
    pub async fn ask(
        &self,
        command: Command,
        attachment: Option<Vec<u8>>,
    ) -> Result<Reply, AskError> {
        let (answer, wait) = oneshot::channel();
        self.send(Ask::Command { command, attachment, answer })?;
        wait.await.map_err(|_| AskError::Unavailable)?.map_err(AskError::Refused)
    }

    /// Extends the time a referee may hold a match; false if it does not hold it any more.
    async fn renew(&self, handout: Handout) -> Result<bool, AskError> {
        let (answer, wait) = oneshot::channel();
        self.send(Ask::Renew { handout, answer })?;
        wait.await.map_err(|_| AskError::Unavailable)
    }

    /// The matches that a referee has been handed and has not finished.
    async fn held_by(&self, referee: RefereeId) -> Result<Vec<Handout>, AskError> {
        let (answer, wait) = oneshot::channel();
        self.send(Ask::Held { referee, answer })?;
        wait.await.map_err(|_| AskError::Unavailable)
    }

    /// Offers a match to its referee again after a while.
    fn put_back(&self, handout: Handout) {
        // If there is no room for it, its lease ends and says the same.
        drop(self.send(Ask::PutBack { handout }));
    }

    /// Referees have said that they have these matches.
    fn taken(&self, handouts: Vec<Handout>) {
        if !handouts.is_empty() {
            // If there is no room for it, a sign of life or the result says the same.
            drop(self.send(Ask::Taken { handouts }));
        }
    }

    /// Whether there is a writer behind it.
    fn is_open(&self) -> bool {
        !self.mailbox.is_closed()
    }

    /// Questions that wait for the writer.
    fn waiting(&self) -> usize {
        MAILBOX_MAX - self.mailbox.capacity()
    }

    fn send(&self, ask: Ask) -> Result<(), AskError> {
        self.mailbox.try_send(ask).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => AskError::Busy,
            mpsc::error::TrySendError::Closed(_) => AskError::Unavailable,
        })
    }

    /// Where the league's letters are noted.
    const fn letters(&self) -> &Letters {
        &self.letters
    }

    /// Which agents can be reached.
    const fn contacts(&self) -> &Arc<Contacts> {
        &self.contacts
    }

    /// How its referees work.
    fn manners(&self) -> &Manners {
        &self.manners
    }

    /// The matches that nobody takes.
    fn untaken(&self) -> &Untaken {
        &self.untaken
    }

    /// The mailboxes of players without an open port.
    pub fn mailboxes(&self) -> &Mailboxes {
        &self.mailboxes
    }

    /// The matches that were being played when the books were opened.
    fn interrupted(&self) -> &Interrupted {
        &self.interrupted
    }

    /// Says where referees call the manager, such as `http://10.0.0.5:8000`. Players without an
    /// open port are taken from then on.
    pub fn relay_at(&self, address: &str) {
        self.mailboxes.reach_at(address);
    }

    /// The durable state, for a short look.
    pub fn published(&self) -> RwLockReadGuard<'_, Published> {
        self.published.read().expect("whoever publishes does not panic")
    }
}
