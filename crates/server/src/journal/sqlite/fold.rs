//! Folding the write-ahead log into the database beside the writer: nearly all of the work is done
//! by a thread of its own, and the writer does the little that has come in the meantime. Only then
//! is the log empty, and the next transaction begins it anew.

use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::{self, JoinHandle};

use rusqlite::Connection;

use super::fault::is_sync_lost;
use super::open::{PAGE_BYTES, connect_folder};
use crate::limits::{WAL_PAGES_HARD_MAX, WAL_PAGES_MAX};

/// Whatever else a transaction changes: the pages above the last block and around it.
const PAGES_AROUND: usize = 4;

/// The thread and what the writer knows of it.
pub(super) struct Folder {
    orders: Option<SyncSender<()>>,
    done: Receiver<rusqlite::Result<()>>,
    thread: Option<JoinHandle<()>>,
    is_working: bool,
    /// About how many pages the log has.
    pages: usize,
}

impl Folder {
    pub(super) fn start(file: &Path) -> io::Result<Self> {
        let connection = connect_folder(file).map_err(io::Error::other)?;
        let (orders, receiver) = sync_channel(1);
        let (sender, done) = sync_channel(1);
        let thread = thread::Builder::new().name("journal-folder".to_owned()).spawn(move || {
            for () in receiver {
                if sender.send(fold(&connection)).is_err() {
                    return;
                }
            }
        })?;
        let thread = Some(thread);
        Ok(Self { orders: Some(orders), done, thread, is_working: false, pages: 0 })
    }

    /// To be told of every transaction; folds when it is time.
    ///
    /// # Errors
    /// If nobody knows what has reached the disk.
    pub(super) fn written(&mut self, writer: &Connection, bytes: usize) -> rusqlite::Result<()> {
        self.pages += bytes.div_ceil(PAGE_BYTES) + PAGES_AROUND;
        if self.is_working {
            let outcome = if self.pages < WAL_PAGES_HARD_MAX {
                self.done.try_recv()
            } else {
                self.done.recv().map_err(|_| TryRecvError::Disconnected)
            };
            match outcome {
                Ok(outcome) => {
                    self.is_working = false;
                    self.pages = 0;
                    return trusted(outcome.and_then(|()| fold(writer)));
                }
                Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => return trusted(fold(writer)),
            }
        } else if self.pages >= WAL_PAGES_MAX {
            self.is_working = self.orders.as_ref().is_some_and(|orders| orders.send(()).is_ok());
        }
        Ok(())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was printed there; the log is folded when the file is closed.
            let _ = thread.join();
        }
    }
}

fn fold(connection: &Connection) -> rusqlite::Result<()> {
    connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
}

/// What was not folded stays in the log and is folded next time. Only a failed sync of the database
/// is serious: a later one may succeed without having written anything.
fn trusted(outcome: rusqlite::Result<()>) -> rusqlite::Result<()> {
    match outcome {
        Err(error) if is_sync_lost(&error) => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}
