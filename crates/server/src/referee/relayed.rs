//! Sending to players whose calls the manager takes: that it has no room for one is no answer of
//! the player's, and tried again.

use std::time::Duration;

use league_agent::ambient::Mark;
use league_agent::caller::{Answered, CallError};
use league_agent::exchange::{Exchange, Question};
use league_wire::message::AssignedPlayer;

use super::outbound::Letters;
use crate::limits::{RELAY_PATIENCE, RELAY_PAUSE};

/// The share of a call's time in which it is tried again, so that most of a window is left.
const PATIENCE_SHARE: u32 = 4;

impl Letters {
    /// Sends `question` to `address`. Whatever the manager says for a player itself comes with
    /// another status than what the player has answered.
    ///
    /// # Errors
    /// If the call itself fails, or finds no room at the manager for a while.
    pub(super) async fn send(
        &self,
        exchange: &Exchange,
        address: &str,
        question: &Question,
        timeout: Duration,
    ) -> Result<Answered, CallError> {
        if !self.is_relayed(address) {
            return exchange.send(address, question, timeout).await;
        }
        let (begun, patience) = (Mark::set(), RELAY_PATIENCE.min(timeout / PATIENCE_SHARE));
        loop {
            let left = timeout.saturating_sub(begun.elapsed());
            let answered = exchange.send(address, question, left).await?;
            if !answered.is_busy() {
                return Ok(answered);
            }
            let left = patience.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return Err(CallError::Busy);
            }
            tokio::time::sleep(RELAY_PAUSE.min(left)).await;
        }
    }

    fn is_relayed(&self, address: &str) -> bool {
        let is_elsewhere = |player: &AssignedPlayer| !player.relayed || player.endpoint != address;
        !self.order.players.all(is_elsewhere)
    }
}
