//! Events to bytes and back. The first byte is the version of the form; bytes once written decode
//! for ever.

use league_core::manager::{Event, Recorded};
use league_core::time::Timestamp;

/// The form that is written today: the event in postcard's encoding.
const VERSION: u8 = 1;
/// The number of `Fact::ResultRecorded` among the facts.
const RESULT_RECORDED: u32 = 6;

/// Why bytes are not an event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    /// There is nothing.
    #[error("the row is empty")]
    Empty,
    /// A later version of this program wrote it.
    #[error("the row has form {0}, and this program reads forms up to {VERSION}: update it")]
    UnknownVersion(u8),
    /// The bytes do not fit the form.
    #[error("the row does not decode: {0}")]
    Malformed(postcard::Error),
    /// There are bytes after the end of the event.
    #[error("{0} bytes follow the event")]
    Trailing(usize),
}

/// The bytes of `event`.
pub fn encode(event: &Event) -> Vec<u8> {
    postcard::to_extend(event, vec![VERSION]).expect("an event in memory can be written to memory")
}

/// The event that `bytes` stand for.
///
/// # Errors
/// If the bytes are not exactly one event in a known form.
pub fn decode(bytes: &[u8]) -> Result<Event, CodecError> {
    let (version, body) = bytes.split_first().ok_or(CodecError::Empty)?;
    if *version != VERSION {
        return Err(CodecError::UnknownVersion(*version));
    }
    all(postcard::take_from_bytes(body))
}

/// An event that is read to be applied and thrown away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Skimmed<'a> {
    /// A result: nearly every row is one, so its texts stay where they are.
    Result(Recorded<&'a str, &'a str>),
    /// Anything else.
    Other(Event),
}

/// The event that `bytes` stand for, with as little copied as possible. It takes the same bytes as
/// [`decode`].
///
/// # Errors
/// If the bytes are not exactly one event in a known form.
pub fn skim(bytes: &[u8]) -> Result<Skimmed<'_>, CodecError> {
    if let Some((&VERSION, body)) = bytes.split_first()
        && let Ok((start, body)) = postcard::take_from_bytes::<(Timestamp, u32)>(body)
        && start.1 == RESULT_RECORDED
    {
        return all(postcard::take_from_bytes(body)).map(Skimmed::Result);
    }
    decode(bytes).map(Skimmed::Other)
}

fn all<T>(taken: postcard::Result<(T, &[u8])>) -> Result<T, CodecError> {
    let (value, rest) = taken.map_err(CodecError::Malformed)?;
    if rest.is_empty() { Ok(value) } else { Err(CodecError::Trailing(rest.len())) }
}

#[cfg(test)]
mod tests;
