//! How the players of a match behaved towards their referee's calls.

use serde::{Deserialize, Serialize};

use crate::limits::OFFENCES_PER_MATCH_MAX;
use crate::policy::Policy;
use crate::roster::Trigger;

/// What became of the calls to one player in one match. Only invitations and calls for a move
/// count, and only what proved itself to come from the player.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Conduct {
    /// Whether it moved or refused, rightly or wrongly, before it was silent.
    pub answered: bool,
    /// Steps that ended without a usable answer to any call.
    pub timeouts: u32,
    /// Calls that could not reach it, each counted once.
    pub connection_errors: u32,
    /// Answers that were no legal move.
    pub invalid_moves: u32,
}

impl Conduct {
    /// Whether nothing in it can count against the player.
    pub const fn is_clean(&self) -> bool {
        self.timeouts == 0 && self.connection_errors == 0 && self.invalid_moves == 0
    }

    /// The most that one match with `steps` moves can have under these rules: one connection error
    /// for each call for a move, and one for the invitation.
    pub(crate) fn most(policy: &Policy, steps: u32) -> Self {
        let calls = policy.choice_attempts().saturating_mul(steps);
        Self {
            answered: true,
            timeouts: 1,
            connection_errors: calls.saturating_add(1),
            invalid_moves: policy.invalid_choices_max().saturating_mul(steps),
        }
    }

    /// Whether no number is above that of `most`.
    pub(crate) const fn is_within(&self, most: &Self) -> bool {
        self.timeouts <= most.timeouts
            && self.connection_errors <= most.connection_errors
            && self.invalid_moves <= most.invalid_moves
    }

    /// The same with no number above what one match with `steps` moves can have under these rules:
    /// where times are too short for a clock of milliseconds, more calls can fail.
    #[must_use]
    pub fn capped(self, policy: &Policy, steps: u32) -> Self {
        let most = Self::most(policy, steps);
        Self {
            answered: self.answered,
            timeouts: self.timeouts.min(most.timeouts),
            connection_errors: self.connection_errors.min(most.connection_errors),
            invalid_moves: self.invalid_moves.min(most.invalid_moves),
        }
    }

    /// The same with no number beyond what one match can have.
    pub(crate) fn bounded(self) -> Self {
        Self {
            answered: self.answered,
            timeouts: self.timeouts.min(OFFENCES_PER_MATCH_MAX),
            connection_errors: self.connection_errors.min(OFFENCES_PER_MATCH_MAX),
            invalid_moves: self.invalid_moves.min(OFFENCES_PER_MATCH_MAX),
        }
    }

    /// What it means for the player's lifecycle, in order: silence comes last, because it ends a
    /// match.
    pub(crate) fn triggers(self) -> impl Iterator<Item = Trigger> {
        let times = |trigger, count: u32| std::iter::repeat_n(trigger, count as usize);
        times(Trigger::Answer, u32::from(self.answered))
            .chain(times(Trigger::Disconnect, self.connection_errors))
            .chain(times(Trigger::MoveInvalidly, self.invalid_moves))
            .chain(times(Trigger::TimeOut, self.timeouts))
    }
}
