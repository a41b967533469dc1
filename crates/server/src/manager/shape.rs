//! The shape in which an agent wants to be spoken to, where it is found out on the way.

use std::sync::Arc;

use league_core::id::{AgentId, PlayerId};
use league_core::manager::Command;
use league_wire::Dialect;
use league_wire::message::MatchResultReport;

use super::Stub;

/// The shapes in which players answered, as their referee tells it. Only the operator's own are
/// believed: it decides how the player is spoken to in the whole league.
pub(super) fn reported(report: &MatchResultReport) -> Vec<(PlayerId, Dialect)> {
    let players = report.players.iter();
    players.filter_map(|(player, line)| Some((*player, line.dialect?))).collect()
}

/// Writes down what is new about it.
pub(super) async fn settle(stub: &Stub, found: Vec<(PlayerId, Dialect)>) {
    for (player, dialect) in found {
        let agent = AgentId::Player(player);
        let is_news = {
            let published = stub.published();
            let known = published.league.dialect(agent);
            known.is_some_and(|known| **known != *dialect.name())
        };
        if is_news {
            let dialect: Arc<str> = dialect.name().into();
            // Refused if the league is over, and worth nothing then.
            drop(stub.ask(Command::SettleShape { agent, dialect }, None).await);
        }
    }
}
