//! Bugs on purpose: a checker that finds none of them checks nothing.

/// One bug that a world can be built with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sabotage {
    /// The manager answers before its journal is written.
    AcknowledgeBeforeAppend,
    /// The manager enters a repeated report a second time.
    CountTwice,
    /// A referee whose report was not answered does not send it again.
    ForgetRetry,
    /// The manager believes choices and draws without checking their proofs.
    SkipProof,
    /// A referee believes whoever answers, whatever credential is shown.
    BelieveAnybody,
    /// A referee that stood still charges players for the time it lost.
    ChargeOwnDelay,
    /// A referee tells the players the result before the manager has it.
    TellEarly,
    /// A referee's warning shows a player what the other has chosen.
    LeakChoice,
    /// The manager gives a referee each player's proof under the other player's name.
    SwapProofs,
    /// The manager gives a match to a referee it is not assigned to.
    WrongReferee,
    /// A referee that is shut out by an open breaker counts that as a refusal by the player.
    ForfeitByBreaker,
    /// The manager shows the first two of the table in each other's place.
    MisrankTable,
    /// The manager takes anybody for the agent whose name it gives when it comes back.
    BelieveReturning,
    /// The manager does not hear that a suspended agent answers.
    ForgetRecovery,
    /// A referee counts an answer that nobody proved against the player it names.
    CountForgeries,
}

impl Sabotage {
    /// Every bug.
    pub const ALL: [Self; 15] = [
        Self::AcknowledgeBeforeAppend,
        Self::CountTwice,
        Self::ForgetRetry,
        Self::SkipProof,
        Self::BelieveAnybody,
        Self::ChargeOwnDelay,
        Self::TellEarly,
        Self::LeakChoice,
        Self::SwapProofs,
        Self::WrongReferee,
        Self::ForfeitByBreaker,
        Self::MisrankTable,
        Self::BelieveReturning,
        Self::ForgetRecovery,
        Self::CountForgeries,
    ];

    /// The name people type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AcknowledgeBeforeAppend => "acknowledge-before-append",
            Self::CountTwice => "count-twice",
            Self::ForgetRetry => "forget-retry",
            Self::SkipProof => "skip-proof",
            Self::BelieveAnybody => "believe-anybody",
            Self::ChargeOwnDelay => "charge-own-delay",
            Self::TellEarly => "tell-early",
            Self::LeakChoice => "leak-choice",
            Self::SwapProofs => "swap-proofs",
            Self::WrongReferee => "wrong-referee",
            Self::ForfeitByBreaker => "forfeit-by-breaker",
            Self::MisrankTable => "misrank-table",
            Self::BelieveReturning => "believe-returning",
            Self::ForgetRecovery => "forget-recovery",
            Self::CountForgeries => "count-forgeries",
        }
    }

    /// The bug called `name`.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|sabotage| sabotage.name() == name)
    }
}
