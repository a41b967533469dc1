//! Words with a fixed set of values, as they are written in messages.

use std::borrow::Cow;
use std::fmt;

use league_core::seat::Seat;

use crate::code::Code;
use crate::json::Json;
use crate::value::{Emit, FromField, Wrong};

macro_rules! words {
    ($(#[$doc:meta])* $name:ident, $code:ident, $expected:literal, {
        $($(#[$note:meta])* $variant:ident = $word:literal $(| $also:literal)*,)*
    }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name {
            $($(#[$note])* $variant,)*
        }

        impl $name {
            /// Every value.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The word we write.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }

            /// The value of a word that a document uses.
            pub fn find(text: &str) -> Option<Self> {
                match text {
                    $($word $(| $also)* => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.word())
            }
        }

        impl<'a> FromField<'a> for $name {
            const EXPECTED: &'static str = $expected;
            const CODE: Code = Code::$code;

            fn from_field(raw: Json<'a>) -> Result<Self, Wrong> {
                Self::find(&<Cow<'a, str>>::from_field(raw)?).ok_or(Wrong::PLAIN)
            }
        }

        impl Emit for $name {
            fn emit(&self, out: &mut Vec<u8>) {
                self.word().emit(out);
            }
        }
    };
}

words!(
    /// A choice in the even/odd game, and what a number is.
    Parity, E004, "exactly \"even\" or \"odd\"", {
        /// Divisible by two.
        Even = "even",
        /// Not divisible by two.
        Odd = "odd",
    }
);

impl Parity {
    /// What `number` is.
    pub const fn of(number: u32) -> Self {
        if number.is_multiple_of(2) { Self::Even } else { Self::Odd }
    }
}

words!(
    /// Where an agent is in its life.
    AgentState, E003, "INIT, REGISTERED, ACTIVE, SUSPENDED or SHUTDOWN", {
        /// Started, not registered.
        Init = "INIT",
        /// Registered, the league has not started.
        Registered = "REGISTERED",
        /// Plays matches.
        Active = "ACTIVE",
        /// Plays no matches until it recovers.
        Suspended = "SUSPENDED",
        /// Finished or banned.
        Shutdown = "SHUTDOWN",
    }
);

words!(
    /// Where a match is.
    MatchState, E003,
    "PENDING, INVITING, COLLECTING_CHOICES, EVALUATING, COMPLETED or ABORTED", {
        /// Scheduled.
        Pending = "PENDING",
        /// Players are invited.
        Inviting = "INVITING" | "WAITING_FOR_PLAYERS",
        /// Players choose.
        CollectingChoices = "COLLECTING_CHOICES",
        /// The outcome is determined.
        Evaluating = "EVALUATING" | "DRAWING_NUMBER",
        /// Ended with a result.
        Completed = "COMPLETED" | "FINISHED",
        /// Ended before the game.
        Aborted = "ABORTED",
    }
);

impl MatchState {
    /// The word of document 004, which has fewer.
    pub(crate) const fn word_004(self) -> &'static str {
        match self {
            Self::Pending | Self::Inviting => "WAITING_FOR_PLAYERS",
            Self::CollectingChoices => self.word(),
            Self::Evaluating => "DRAWING_NUMBER",
            Self::Completed | Self::Aborted => "FINISHED",
        }
    }
}

words!(
    /// How a match ended.
    ResultStatus, E003, "WIN, DRAW, TECHNICAL_LOSS or CANCELLED", {
        /// Both played; one won. `LOSS` says the same from the other side.
        Win = "WIN" | "LOSS",
        /// Both played; nobody won.
        Draw = "DRAW" | "TIE",
        /// At least one player failed to play.
        TechnicalLoss = "TECHNICAL_LOSS",
        /// Called off; it counts for nobody.
        Cancelled = "CANCELLED",
    }
);

words!(
    /// What a match was for one player.
    PlayerResult, E003, "WIN, LOSS, TIE, TECHNICAL_LOSS or CANCELLED", {
        /// Won, on the board or by the opponent's failure.
        Win = "WIN",
        /// Lost on the board.
        Loss = "LOSS",
        /// A draw.
        Tie = "TIE" | "DRAW",
        /// Lost by failing to play.
        TechnicalLoss = "TECHNICAL_LOSS",
        /// No game took place.
        Cancelled = "CANCELLED",
    }
);

words!(
    /// What a query asks for.
    QueryType, E003,
    "GET_STANDINGS, GET_SCHEDULE, GET_NEXT_MATCH, GET_PLAYER_STATS, GET_AGENT_STATE, GET_MATCH, \
     GET_LEAGUE, GET_REGISTRATIONS or GET_GAMES", {
        /// The standings, of a round if one is named.
        Standings = "GET_STANDINGS",
        /// The matches, of a round if one is named.
        Schedule = "GET_SCHEDULE",
        /// The asking player's next match.
        NextMatch = "GET_NEXT_MATCH",
        /// A player's figures.
        PlayerStats = "GET_PLAYER_STATS",
        /// An agent's state.
        AgentState = "GET_AGENT_STATE",
        /// One match.
        Match = "GET_MATCH",
        /// The league itself.
        League = "GET_LEAGUE",
        /// Who is registered.
        Registrations = "GET_REGISTRATIONS",
        /// The games that can be played.
        Games = "GET_GAMES",
    }
);

words!(
    /// Whether something offered was taken.
    Decision, E003, "\"ACCEPTED\" or \"REJECTED\"", {
        /// Taken.
        Accepted = "ACCEPTED",
        /// Not taken.
        Rejected = "REJECTED",
    }
);

/// A side of a match under the two names that documents have for it.
impl<'a> FromField<'a> for Seat {
    const EXPECTED: &'static str = "\"PLAYER_A\" or \"PLAYER_B\"";

    fn from_field(raw: Json<'a>) -> Result<Self, Wrong> {
        match &*<Cow<'a, str>>::from_field(raw)? {
            "PLAYER_A" | "player1" => Ok(Self::A),
            "PLAYER_B" | "player2" => Ok(Self::B),
            _ => Err(Wrong::PLAIN),
        }
    }
}

/// The side's name in documents 000 and 003.
pub(crate) const fn role(seat: Seat) -> &'static str {
    match seat {
        Seat::A => "PLAYER_A",
        Seat::B => "PLAYER_B",
    }
}

/// The side's name in document 002.
pub(crate) const fn player_role(seat: Seat) -> &'static str {
    match seat {
        Seat::A => "player1",
        Seat::B => "player2",
    }
}
