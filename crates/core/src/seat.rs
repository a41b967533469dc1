//! The two sides of a match.

use std::ops::{Index, IndexMut};

use serde::{Deserialize, Serialize};

/// A side of a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Seat {
    /// The player named first in the schedule.
    A,
    /// The player named second in the schedule.
    B,
}

impl Seat {
    /// Both sides, in order.
    pub const BOTH: [Self; 2] = [Self::A, Self::B];

    /// The other side.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }
}

/// One value for each side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Seats<T> {
    /// The value of side A.
    pub a: T,
    /// The value of side B.
    pub b: T,
}

impl<T> Seats<T> {
    /// A value for each side.
    pub const fn new(a: T, b: T) -> Self {
        Self { a, b }
    }

    /// The value that `make` gives for each side.
    pub fn from_fn(mut make: impl FnMut(Seat) -> T) -> Self {
        Self { a: make(Seat::A), b: make(Seat::B) }
    }

    /// Both values with their sides, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Seat, &T)> {
        [(Seat::A, &self.a), (Seat::B, &self.b)].into_iter()
    }

    /// Whether `test` holds on both sides.
    pub fn all(&self, mut test: impl FnMut(&T) -> bool) -> bool {
        test(&self.a) && test(&self.b)
    }

    /// The side whose value is `wanted`, the first if both are.
    pub fn seat_of(&self, wanted: &T) -> Option<Seat>
    where
        T: PartialEq,
    {
        self.iter().find(|(_, value)| *value == wanted).map(|(seat, _)| seat)
    }
}

impl<T> Index<Seat> for Seats<T> {
    type Output = T;

    fn index(&self, seat: Seat) -> &T {
        match seat {
            Seat::A => &self.a,
            Seat::B => &self.b,
        }
    }
}

impl<T> IndexMut<Seat> for Seats<T> {
    fn index_mut(&mut self, seat: Seat) -> &mut T {
        match seat {
            Seat::A => &mut self.a,
            Seat::B => &mut self.b,
        }
    }
}
