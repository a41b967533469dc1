//! Ceilings for what is read from the wire, each with its unit.

/// Most elements of a JSON-RPC batch.
pub const BATCH_MAX: usize = 100;
/// Longest JSON-RPC request id, as written.
pub const ID_BYTES_MAX: usize = 256;
/// Most fields of one object.
pub const FIELDS_MAX: usize = 256;
/// Most entries of one list.
pub const LIST_MAX: usize = 10_000;
/// Deepest nesting of a JSON value that is passed on unread.
pub const FRAGMENT_DEPTH_MAX: usize = 32;
/// Longest transcript that travels with a report.
pub const TRANSCRIPT_BYTES_MAX: usize = 256 * 1024;
/// Longest account of what was said after a report.
pub const EPILOGUE_BYTES_MAX: usize = 64 * 1024;
/// Most tools of one agent that are looked at.
pub const TOOLS_MAX: usize = 128;
/// Longest token, proof, seed or join code.
pub const SECRET_BYTES_MAX: usize = 256;
/// Longest unknown word that may be somebody's slip of the pen.
pub const SLIP_BYTES_MAX: usize = 64;
/// Longest rendering of a wrong value in an error.
pub const GOT_CHARS_MAX: usize = 80;
/// Most deviations of one message that are told.
pub const DEVIATIONS_MAX: usize = 16;
