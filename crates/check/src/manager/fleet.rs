//! Managers that the checker starts itself, one for each league, where it may not found any.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use league_agent::address::Address;
use league_agent::ambient::Mark;
use league_agent::guard::lock;
use league_wire::Dialect;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::agent::{Places, Started, free_port};
use crate::limits::START_TIME;

/// Pause before a manager that was started is tried again.
const LOOK_PAUSE: Duration = Duration::from_millis(30);

/// Managers that are about to end, and have to be waited for.
pub(crate) type Leaving = Arc<Mutex<JoinSet<()>>>;

/// A manager that was started for one league. It ends with the last one who needs it.
#[derive(Debug)]
pub(crate) struct Own {
    /// Where it is called.
    pub(crate) address: Address,
    started: Option<Started>,
    leaving: Leaving,
}

/// Starts a manager whose league begins with that many players, and waits until it listens; in
/// words why not. `{players}` in the command is the number.
pub(crate) async fn start(
    command: &str,
    players: u32,
    dialect: Dialect,
) -> Result<(Address, Started), String> {
    let port = free_port().map_err(|error| error.to_string())?;
    let command = command.replace("{players}", &players.to_string());
    let places = Places { manager: String::new(), port, dialect: dialect.name() };
    let started = Started::new(&command, &places).await.map_err(|error| error.to_string())?;
    let address: Result<Address, _> = format!("http://127.0.0.1:{port}/mcp").parse();
    let address = address.map_err(|bad| bad.to_string())?;
    let began = Mark::set();
    while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
        if started.ended_within(LOOK_PAUSE).await {
            return Err(format!("the manager ended at once; it said:\n{}", started.words()));
        }
        if began.elapsed() > START_TIME {
            started.stop().await;
            let limit = START_TIME.as_secs();
            return Err(format!("nobody listens at port {port} within {limit} s of the start"));
        }
    }
    Ok((address, started))
}

impl Own {
    /// A manager of its own for a league that begins with that many players.
    pub(super) async fn start(
        command: &str,
        players: u32,
        dialect: Dialect,
        leaving: &Leaving,
    ) -> Result<Self, String> {
        let (address, started) = start(command, players, dialect).await?;
        Ok(Self { address, started: Some(started), leaving: leaving.clone() })
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        let Some(started) = self.started.take() else { return };
        // Without a runtime nobody could wait for its end; it is then killed where it stands.
        if tokio::runtime::Handle::try_current().is_ok() {
            // It has nothing to tidy up: its league is only the case's.
            lock(&self.leaving).spawn(async move { started.kill().await });
        }
    }
}
