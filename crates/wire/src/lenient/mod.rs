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
mod role;
mod slots;
mod spelling;
mod strays;
mod tally;

use crate::decode::DecodeError;

pub use answer::{Asked, read_answer};
pub use deviation::{Deviation, Deviations, Slip};
pub use request::{read_plain_registration, read_request};
pub(crate) use spelling::is_alike;
pub use spelling::own_methods;
pub(crate) use strays::check_registration;
pub use tally::{Counted, Tally};

/// Something that was understood although it is not as the documents say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Understood<T> {
    /// What it means.
    pub meaning: T,
    /// What is not as it should be; at least one thing.
    pub deviations: Deviations,
}

/// Something that is not certain to mean one thing only, as far as it was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubtful {
    /// What keeps it from being understood.
    mistake: DecodeError,
    /// What else is not as it should be.
    deviations: Deviations,
    /// Whether it is an answer for all that, and not only a sign that a call was heard.
    is_answer: bool,
}

impl Doubtful {
    /// What to tell a sender whom a lenient reader does not understand, where the strict reading
    /// says `strict`.
    pub fn instead_of(self, strict: Option<&DecodeError>) -> DecodeError {
        let receipt = strict.is_some_and(DecodeError::is_receipt) && !self.is_answer;
        DecodeError { receipt, ..self.mistake }
    }

    /// What to change for a strict reader.
    pub fn advice(&self) -> String {
        let deviations = self.deviations.advice();
        if deviations.is_empty() {
            return self.mistake.fix.clone().into_owned();
        }
        format!("{deviations}; {}", self.mistake.fix)
    }
}

/// What a lenient reader makes of something; without a word where it can say nothing better than
/// the strict reading.
pub type Guess<T> = Result<Understood<T>, Option<Box<Doubtful>>>;

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
