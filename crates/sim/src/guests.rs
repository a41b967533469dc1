//! Who comes to the league, and how each behaves. Bad agents stay bad in any weather.

use std::time::Duration;

/// How a player behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guest {
    /// Answers at once, in the response, with every proof.
    Prompt,
    /// Answers by a call of its own.
    Caller,
    /// Shows its whole token where a proof would do.
    ShowsToken,
    /// Answers, but adds neither nonce nor proof to its choice.
    Plain,
    /// Adds a proof to its choice that proves nothing.
    VainProof,
    /// Chooses twice, differently. The first choice counts.
    Wavering,
    /// Answers nothing once it is registered.
    Silent,
    /// Joins and then does not choose.
    Mute,
    /// Answers everything far too late.
    Slow,
    /// Chooses only after the first window has closed.
    Late,
    /// Answers with what cannot be read.
    Noisy,
    /// Chooses what is not to be chosen.
    Illegal,
    /// Shows a credential that is not its own.
    WrongToken,
    /// Names another match.
    WrongMatch,
    /// Refuses every invitation.
    Refuser,
    /// Hears only some of what it is told.
    Flaky,
    /// Proves the other choice than the one it sends.
    FalseProof,
}

impl Guest {
    /// Those that play as the protocol says and must never be charged.
    pub(crate) const GOOD: [Self; 6] = [
        Self::Prompt,
        Self::Caller,
        Self::ShowsToken,
        Self::Plain,
        Self::VainProof,
        Self::Wavering,
    ];

    /// Those that may lose matches by their own doing.
    pub(crate) const BAD: [Self; 11] = [
        Self::Silent,
        Self::Mute,
        Self::Slow,
        Self::Late,
        Self::Noisy,
        Self::Illegal,
        Self::WrongToken,
        Self::WrongMatch,
        Self::Refuser,
        Self::Flaky,
        Self::FalseProof,
    ];

    /// Whether it must never be charged.
    pub(crate) fn is_good(self) -> bool {
        Self::GOOD.contains(&self)
    }
}

/// How long a player that means well thinks at most. Together with two ways through the network
/// that is less than the shortest window.
pub(crate) const THINKING_MAX: Duration = Duration::from_millis(200);

/// How a referee behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// As it should.
    Honest,
    /// Takes matches and does nothing.
    Idle,
    /// Refuses every match.
    Unwilling,
    /// Reports what is not true first.
    Liar {
        /// What it says.
        lie: Lie,
        /// Whether it reports the truth once it has been refused.
        repents: bool,
    },
}

/// What a referee says that is not true.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lie {
    /// Other points than the result is worth.
    Points,
    /// Another winner than the moves make.
    Winner,
    /// Another choice than its player proved.
    Choice,
    /// Another number than the committed draw gives. Only for referees that have the seed.
    Draw,
    /// A result for a match that is somebody else's.
    Stranger,
    /// The truth, and then a second, different report.
    Second,
}

impl Lie {
    /// Every lie.
    pub(crate) const ALL: [Self; 6] =
        [Self::Points, Self::Winner, Self::Choice, Self::Draw, Self::Stranger, Self::Second];
}
