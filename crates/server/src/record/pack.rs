//! How a transcript lies in the journal. The first byte says in which form, so that it can change.

use league_wire::limits::TRANSCRIPT_BYTES_MAX;
use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::decompress_to_vec_with_limit;

/// The bytes as they came.
const PLAIN: u8 = 0;
/// Compressed by DEFLATE, without a header.
const DEFLATE: u8 = 1;

/// The least: more makes a transcript hardly smaller and takes several times as long.
const EFFORT: u8 = 1;

/// What was found where a transcript should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unpacked {
    /// The transcript as it came with the report.
    Whole(Vec<u8>),
    /// A later version of this program packed it.
    UnknownForm(u8),
    /// The bytes are not what was stored.
    Damaged,
}

/// `transcript` as it is stored.
pub fn pack(transcript: &[u8]) -> Vec<u8> {
    let compressed = compress_to_vec(transcript, EFFORT);
    let (form, bytes) = if compressed.len() < transcript.len() {
        (DEFLATE, &*compressed)
    } else {
        (PLAIN, transcript)
    };
    [&[form], bytes].concat()
}

/// The transcript that was stored as `bytes`.
pub fn unpack(bytes: &[u8]) -> Unpacked {
    match bytes.split_first() {
        Some((&PLAIN, bytes)) => Unpacked::Whole(bytes.to_vec()),
        Some((&DEFLATE, bytes)) => decompress_to_vec_with_limit(bytes, TRANSCRIPT_BYTES_MAX)
            .map_or(Unpacked::Damaged, Unpacked::Whole),
        Some((form, _)) => Unpacked::UnknownForm(*form),
        None => Unpacked::Damaged,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::ATTACHMENT_BYTES_MAX;

    #[test]
    fn what_is_packed_comes_back_and_is_smaller_if_it_can_be() {
        let repeated = br#"{"player":"P01"}"#.repeat(100);
        assert!(pack(&repeated).len() < repeated.len() / 10);
        for bytes in [&*repeated, b"{}", b""] {
            assert_eq!(unpack(&pack(bytes)), Unpacked::Whole(bytes.to_vec()));
        }
    }

    #[test]
    fn the_longest_transcript_fits_the_journal_however_badly_it_compresses() {
        // A generator with a long period: nothing in it repeats.
        let mut state = 1_u64;
        let mut roll = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()[0]
        };
        let noise: Vec<u8> = (0..TRANSCRIPT_BYTES_MAX).map(|_| roll()).collect();
        let packed = pack(&noise);
        assert!(packed.len() <= ATTACHMENT_BYTES_MAX, "{}", packed.len());
        assert_eq!(unpack(&packed), Unpacked::Whole(noise));
    }

    #[test]
    fn what_was_not_packed_here_is_told_apart() {
        assert_eq!(unpack(b""), Unpacked::Damaged);
        assert_eq!(unpack(b"\x09abc"), Unpacked::UnknownForm(9));
        let mut packed = pack(&b"even ".repeat(50));
        packed.truncate(packed.len() / 2);
        assert_eq!(unpack(&packed), Unpacked::Damaged);
        let bomb = [&[DEFLATE], &*compress_to_vec(&vec![0; 2 * TRANSCRIPT_BYTES_MAX], 9)].concat();
        assert_eq!(unpack(&bomb), Unpacked::Damaged);
    }
}
