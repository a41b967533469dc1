//! Ceilings of the network side, each with its unit.

use std::time::Duration;

/// Largest request an agent accepts.
pub const REQUEST_BYTES_MAX: usize = 1024 * 1024;
/// Largest answer an agent reads.
pub const ANSWER_BYTES_MAX: usize = 64 * 1024;
/// Most connections one endpoint keeps open.
pub const CONNECTIONS_MAX: usize = 4_096;
/// Most of them that come from one address. A whole classroom may sit behind one.
pub const CONNECTIONS_PER_ADDRESS_MAX: usize = CONNECTIONS_MAX / 2;
/// Most connections that are being told at the same time that there is no place for them.
pub const TURNED_AWAY_MAX: usize = 256;
/// Time that telling them may take.
pub const TURN_AWAY_TIMEOUT: Duration = Duration::from_secs(1);
/// Most of a request that is read from somebody who is turned away.
pub const TURN_AWAY_BYTES_MAX: usize = 64 * 1024;
/// Pause after a connection could not be accepted.
pub const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Time a caller may take to send its request's head, and to send another one afterwards.
pub const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// Time a caller may take to send its request's body.
pub const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// How long an unused connection to another agent is kept. Many servers close theirs after five
/// seconds, and a call that falls into a connection which is being closed may be lost.
pub const IDLE_TIMEOUT: Duration = Duration::from_secs(4);
/// Most unused connections kept to one agent.
pub const IDLE_CONNECTIONS_MAX: usize = 64;
/// Time that running requests get to finish when an endpoint stops.
pub const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a letter that overtook the registration's answer is kept waiting for it.
pub const MEMBERSHIP_WAIT: Duration = Duration::from_secs(5);
/// Most matches whose invitations and answers a player remembers.
pub const INVITATIONS_MAX: usize = 1_024;

const _: () = assert!(IDLE_TIMEOUT.as_millis() * 2 <= HEAD_TIMEOUT.as_millis());
const _: () = assert!(CONNECTIONS_PER_ADDRESS_MAX <= CONNECTIONS_MAX);
