//! Events to bytes and back. The first byte is the version of the form; bytes once written decode
//! for ever.

use league_core::manager::Event;

/// The form that is written today: the event in postcard's encoding.
const VERSION: u8 = 1;

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
    let (event, rest) = postcard::take_from_bytes(body).map_err(CodecError::Malformed)?;
    if rest.is_empty() { Ok(event) } else { Err(CodecError::Trailing(rest.len())) }
}

#[cfg(test)]
mod tests;
