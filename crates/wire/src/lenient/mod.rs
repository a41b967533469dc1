//! Reading what is almost a message: the right information in a slightly wrong place.
//!
//! It is asked only after the strict reading has refused. It looks for every field that the
//! message may have, puts what it finds where it belongs, and has the result read strictly. What
//! can be meant in two ways is not understood. Where nobody wants to be lenient, what would have
//! been understood tells what to change.

mod answer;
mod deviation;
mod gather;
mod place;
mod request;
mod slots;
mod spelling;
mod tally;

pub use answer::{Asked, read_answer};
pub use deviation::{Deviation, Deviations, Slip};
pub use request::{read_plain_registration, read_request};
pub use spelling::own_methods;
pub use tally::{Counted, Tally};

/// Something that was understood although it is not as the documents say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Understood<T> {
    /// What it means.
    pub meaning: T,
    /// What is not as it should be; at least one thing.
    pub deviations: Deviations,
}

/// How much is read into what an agent sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reading {
    /// What the documents say.
    #[default]
    Strict,
    /// Also what can be meant in one way only.
    Lenient,
}

impl Reading {
    /// Lenient if `lenient`.
    pub const fn of(lenient: bool) -> Self {
        if lenient { Self::Lenient } else { Self::Strict }
    }

    /// Whether it is the lenient one.
    pub const fn is_lenient(self) -> bool {
        match self {
            Self::Strict => false,
            Self::Lenient => true,
        }
    }
}
