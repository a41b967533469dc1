//! Rows as they lie in the file: blocks of about a page, the rows of all leagues behind one another
//! in the order of writing.
//!
//! A row is its league's number (4 bytes), its own number (8), its length (4), its hash (32) and
//! its bytes; numbers with the big end first.

use std::ops::Range;

use super::open::PAGE_BYTES;
use crate::journal::{Hash, Head, Seq};

/// As much as SQLite keeps in one page of the file together with what it stores around it.
pub(super) const BLOCK_BYTES: usize = PAGE_BYTES - 40;

const FRAME_BYTES: usize = 4 + 8 + 4 + 32;

/// A row in a block.
pub(super) struct Entry {
    pub(super) league: u32,
    pub(super) head: Head,
    /// Where its bytes are.
    pub(super) body: Range<usize>,
}

/// How many bytes a row of `length` takes.
pub(super) const fn framed(length: usize) -> usize {
    FRAME_BYTES + length
}

/// Adds a row to a block.
pub(super) fn push(block: &mut Vec<u8>, league: u32, head: Head, bytes: &[u8]) {
    let length = u32::try_from(bytes.len()).expect("a batch has no row of gigabytes");
    let mut frame = [0; FRAME_BYTES];
    frame[..4].copy_from_slice(&league.to_be_bytes());
    frame[4..12].copy_from_slice(&head.seq.get().to_be_bytes());
    frame[12..16].copy_from_slice(&length.to_be_bytes());
    frame[16..].copy_from_slice(head.hash.as_bytes());
    block.extend_from_slice(&frame);
    block.extend_from_slice(bytes);
}

/// The rows of a block, up to the first that does not fit into it. What a damaged block lacks is
/// missed by the reader, who knows which rows must be there.
pub(super) fn entries(block: &[u8]) -> impl Iterator<Item = Entry> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let entry = entry(block, start)?;
        start = entry.body.end;
        Some(entry)
    })
}

fn entry(block: &[u8], start: usize) -> Option<Entry> {
    let (league, rest) = block.get(start..)?.split_first_chunk()?;
    let (seq, rest) = rest.split_first_chunk()?;
    let (length, rest) = rest.split_first_chunk()?;
    let (hash, rest) = rest.split_first_chunk()?;
    let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
    let start = start + FRAME_BYTES;
    let body = start..start + length;
    let head = Head { seq: Seq::new(u64::from_be_bytes(*seq)), hash: Hash::new(*hash) };
    let league = u32::from_be_bytes(*league);
    (length <= rest.len()).then_some(Entry { league, head, body })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_and_a_cut_block_loses_only_its_end() {
        let start = Head::genesis(&"a".parse().unwrap());
        let rows: [(u32, &[u8]); 4] = [(1, b"one"), (2, b""), (u32::MAX, b"three"), (1, b"four")];
        let mut block = Vec::new();
        let mut ends = Vec::new();
        for (league, bytes) in rows {
            push(&mut block, league, start.extend(bytes), bytes);
            ends.push(block.len());
        }
        for cut in 0..=block.len() {
            let found: Vec<_> = entries(&block[..cut]).collect();
            assert_eq!(found.len(), ends.iter().filter(|end| **end <= cut).count());
            for (entry, (league, bytes)) in found.into_iter().zip(rows) {
                assert_eq!((entry.league, entry.head), (league, start.extend(bytes)));
                assert_eq!(&block[entry.body], bytes);
            }
        }
    }
}
