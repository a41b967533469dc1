//! What one append brings: rows, and what is stored beside them.

use std::collections::BTreeSet;

use super::error::{JournalError, Oversize};
use crate::limits::{ATTACHMENT_BYTES_MAX, BATCH_BYTES_MAX, BATCH_ROWS_MAX, ROW_BYTES_MAX};

/// Rows that become durable together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Batch {
    /// The rows, in order. None at all is a way to ask whether `expected` is still the last row.
    pub rows: Vec<Vec<u8>>,
    /// What is stored beside them, at most one for each row.
    pub attachments: Vec<Attachment>,
}

/// Something stored in the same transaction as a row, outside the chain: it can be deleted later
/// while the row keeps its hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// The index of its row in the batch, counted from zero.
    pub row: usize,
    /// The hash by which the row speaks of it. The journal keeps it and does not compare.
    pub hash: [u8; 32],
    /// The attachment, typically compressed.
    pub bytes: Vec<u8>,
}

/// An attachment as it comes back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredAttachment {
    /// The hash that it was stored under.
    pub hash: [u8; 32],
    /// The attachment.
    pub bytes: Vec<u8>,
}

impl Batch {
    /// A batch of `rows` with nothing beside them.
    pub const fn of(rows: Vec<Vec<u8>>) -> Self {
        Self { rows, attachments: Vec::new() }
    }

    /// The bytes of all rows and attachments.
    pub fn bytes_len(&self) -> usize {
        let rows: usize = self.rows.iter().map(Vec::len).sum();
        let beside: usize = self.attachments.iter().map(|a| a.bytes.len()).sum();
        rows + beside
    }

    /// Cuts off what comes after the first `rows` rows.
    #[must_use]
    pub(crate) fn split_off(&mut self, rows: usize) -> Self {
        let after = self.attachments.extract_if(.., |beside| beside.row >= rows);
        let after = after.map(|beside| Attachment { row: beside.row - rows, ..beside });
        let attachments = after.collect();
        Self { rows: self.rows.split_off(rows), attachments }
    }

    /// Refuses what no journal may store.
    ///
    /// # Panics
    /// If an attachment names a row that is not in the batch, or a row that has one already.
    pub(crate) fn check(&self) -> Result<(), JournalError> {
        // Most batches have none, and a set costs even if it stays empty.
        if !self.attachments.is_empty() {
            self.check_attachments();
        }
        let longest = |lengths: &mut dyn Iterator<Item = usize>| lengths.max().unwrap_or(0);
        let row = longest(&mut self.rows.iter().map(Vec::len));
        let attachment = longest(&mut self.attachments.iter().map(|a| a.bytes.len()));
        within(Oversize::Rows, self.rows.len(), BATCH_ROWS_MAX)?;
        within(Oversize::RowBytes, row, ROW_BYTES_MAX)?;
        within(Oversize::AttachmentBytes, attachment, ATTACHMENT_BYTES_MAX)?;
        within(Oversize::BatchBytes, self.bytes_len(), BATCH_BYTES_MAX)
    }

    fn check_attachments(&self) {
        let mut taken = BTreeSet::new();
        for Attachment { row, .. } in &self.attachments {
            assert!(*row < self.rows.len(), "the batch has no row {row}");
            assert!(taken.insert(row), "row {row} has two attachments");
        }
    }
}

fn within(what: Oversize, got: usize, max: usize) -> Result<(), JournalError> {
    if got > max {
        return Err(JournalError::TooLarge { what, got, max });
    }
    Ok(())
}
