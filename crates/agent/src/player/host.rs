//! Many players in one process: each with a name, a seed and a port of its own.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use league_core::dice::{Dice, SeededDice};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::{Conduct, Guest, Player};
use crate::exchange::Exchange;
use crate::guard;
use crate::register::{Application, RegisterError};
use crate::strategy::House;

/// Who plays: somebody of the house, or a guest that misbehaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cast {
    /// Plays by a strategy, and by the book.
    House(House),
    /// Misbehaves, and chooses at random where it gets to.
    Guest(Guest),
}

impl Cast {
    /// Everybody, the house first.
    pub fn all() -> impl Iterator<Item = Self> {
        let house = House::ALL.into_iter().map(Self::House);
        house.chain(Guest::ALL.into_iter().map(Self::Guest))
    }

    /// The name people type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::House(house) => house.name(),
            Self::Guest(guest) => guest.name(),
        }
    }

    /// Whoever is called `name`.
    pub fn find(name: &str) -> Option<Self> {
        Self::all().find(|cast| cast.name() == name)
    }

    /// The player itself; `seed` makes its dice repeatable.
    pub fn player(self, seed: u64) -> Player {
        match self {
            Self::House(house) => Player::new(house.strategy(seed)),
            Self::Guest(guest) => {
                let conduct = Conduct::of(guest, seed);
                Player::behaving(House::Random.strategy(seed), conduct)
            }
        }
    }
}

impl fmt::Display for Cast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One of many players in a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hosted {
    /// Who plays.
    pub cast: Cast,
    /// What it is called; no two are called the same.
    pub name: String,
    /// What makes its dice repeatable.
    pub seed: u64,
    /// Where it listens; port 0 is any that is free.
    pub listen: SocketAddr,
}

impl Hosted {
    /// `count` players, who take the parts of `casts` in turn. Those after the first listen on the
    /// ports that follow; `None` if there are not that many, or nobody to play.
    pub fn line_up(casts: &[Cast], count: u32, seed: u64, listen: SocketAddr) -> Option<Vec<Self>> {
        let hosted = |(index, cast): (u32, &Cast)| {
            let port = match listen.port() {
                0 => 0,
                first => u16::try_from(u32::from(first).checked_add(index)?).ok()?,
            };
            let number = index.checked_add(1)?;
            Some(Self {
                cast: *cast,
                name: format!("Player {number} ({cast})"),
                seed: own_seed(seed, number),
                listen: SocketAddr::new(listen.ip(), port),
            })
        };
        let players: Option<Vec<Self>> = (0..count).zip(casts.iter().cycle()).map(hosted).collect();
        players.filter(|players| u32::try_from(players.len()) == Ok(count))
    }
}

/// The seed of one of many. Neighbours share nothing, neither in one process nor in two whose seeds
/// are neighbours.
fn own_seed(seed: u64, number: u32) -> u64 {
    let base = SeededDice::new(seed).below(u64::MAX);
    SeededDice::new(base ^ u64::from(number)).below(u64::MAX)
}

/// Why a process of players ended.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// A player could not listen.
    #[error("cannot listen at {address}: {source}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// A player was not let in.
    #[error("{name}: {source}")]
    Register {
        /// Which one.
        name: String,
        /// Why not.
        source: RegisterError,
    },
}

/// Runs all `players` until `stop` says so. They register one after the other, in order, each with
/// its own name and address in place of those in `application`.
///
/// # Errors
/// If one of them cannot listen or is not let in; the others are stopped then.
///
/// # Panics
/// If one of them does.
pub async fn host(
    players: Vec<Hosted>,
    exchange: Exchange,
    application: Application,
    stop: watch::Receiver<bool>,
) -> Result<(), HostError> {
    let mut running = JoinSet::new();
    for hosted in players {
        let Hosted { cast, name, seed, listen } = hosted;
        let cannot = |source| HostError::Listen { address: listen, source };
        let listener = TcpListener::bind(listen).await.map_err(cannot)?;
        let address = listener.local_addr().map_err(cannot)?;
        let mut own = application.clone();
        own.meta.display_name.clone_from(&name);
        own.meta.contact_endpoint = Some(format!("http://{address}/mcp"));
        let player = Arc::new(cast.player(seed));
        let (mut ready, exchange, stop) = (player.membership(), exchange.clone(), stop.clone());
        running.spawn(async move {
            let outcome = player.run(listener, exchange, own, stop).await;
            outcome.map_err(|source| HostError::Register { name, source })
        });
        // Whoever is not let in ends, and says why.
        drop(ready.wait_for(Option::is_some).await);
        if let Some(left) = running.try_join_next() {
            guard::outcome(left).unwrap_or(Ok(()))?;
        }
    }
    while let Some(left) = running.join_next().await {
        guard::outcome(left).unwrap_or(Ok(()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn line_up(count: u32, seed: u64, port: u16) -> Option<Vec<Hosted>> {
        let casts = [Cast::House(House::Even), Cast::Guest(Guest::Liar)];
        Hosted::line_up(&casts, count, seed, SocketAddr::from(([127, 0, 0, 1], port)))
    }

    #[test]
    fn everybody_is_found_by_a_name_of_its_own() {
        let names: BTreeSet<_> = Cast::all().map(Cast::name).collect();
        assert_eq!(names.len(), House::ALL.len() + Guest::ALL.len());
        assert!(Cast::all().all(|cast| Cast::find(cast.name()) == Some(cast)));
        assert_eq!(Cast::find("nobody"), None);
    }

    #[test]
    fn names_seeds_and_ports_differ() {
        let players = line_up(300, 1, 8101).unwrap();
        assert_eq!(players[1].name, "Player 2 (liar)");
        assert_eq!(players[299].listen.port(), 8400);
        let names: BTreeSet<_> = players.iter().map(|player| &player.name).collect();
        let seeds: BTreeSet<_> = players.iter().map(|player| player.seed).collect();
        assert_eq!((names.len(), seeds.len()), (300, 300));
        let others = line_up(300, 2, 0).unwrap();
        assert!(others.iter().all(|other| other.listen.port() == 0));
        assert!(others.iter().all(|other| !seeds.contains(&other.seed)), "another process's");
        assert_eq!(players, line_up(300, 1, 8101).unwrap());
    }

    #[test]
    fn there_must_be_ports_enough_and_somebody_to_play() {
        assert!(line_up(2, 1, 65_534).is_some());
        assert!(line_up(3, 1, 65_534).is_none());
        let listen = SocketAddr::from(([127, 0, 0, 1], 0));
        assert!(Hosted::line_up(&[], 1, 1, listen).is_none());
    }
}
