//! Reading and keeping the record: what was said in a match, packed, redacted and found again.

mod expire;
pub mod league;
mod pack;
mod post;
pub mod reason;
mod recall;
pub mod transcript;

pub use crate::letters::{Exchanged, Way};
pub use expire::{Expired, expire, rehearse};
pub use league::{Found, Kept, LeagueRecord, MatchRecord, Ordered, ReadError, Reshaped, founded};
pub use league_wire::redact;
pub use pack::{Unpacked, pack, unpack};
pub use post::Post;
pub use recall::recall;
pub use transcript::{Entry, Kind, Party, TOLERATED, Transcript};
