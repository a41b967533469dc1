//! Ceilings of the network side, each with its unit.

use std::time::Duration;

/// Largest request an agent accepts.
pub const REQUEST_BYTES_MAX: usize = 1024 * 1024;
/// Largest answer an agent reads.
pub const ANSWER_BYTES_MAX: usize = 64 * 1024;
/// Most connections one endpoint keeps open. Ten thousand players may wait for their turns at one
/// manager, each on a connection of its own.
pub const CONNECTIONS_MAX: usize = 16_384;
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
/// Time in which connections that could not be accepted are told of only once.
pub const UNACCEPTED_PAUSE: Duration = Duration::from_secs(10);
/// Time a caller may take to send its request's head, and to send another one afterwards.
pub const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// Time a caller may take to send anything at all.
pub const FIRST_BYTE_TIMEOUT: Duration = Duration::from_secs(5);
/// Time a caller may take to read what it is answered.
pub const WRITE_TIMEOUT: Duration = Duration::from_secs(10);
/// Time a caller may take to send its request's body.
pub const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// Time in which no body is called slow.
pub const BODY_GRACE: Duration = Duration::from_secs(5);
/// How fast a body must come after that.
pub const BODY_BYTES_PER_SECOND_MIN: usize = 4 * 1024;
/// Most bytes of unfinished bodies that one endpoint holds.
pub const BODIES_BYTES_MAX: usize = 64 * 1024 * 1024;
/// How much of each body does not count towards that.
pub const BODY_BYTES_FREE: usize = 4 * 1024;
/// How long an unused connection to another agent is kept; it is gone within twice that time. Many
/// servers close theirs after five seconds, and a call that falls into a connection which is being
/// closed may be lost. A server that serves one connection at a time hears nobody else meanwhile.
pub const IDLE_TIMEOUT: Duration = Duration::from_secs(1);
/// The same for a manager, which calls everybody once in a while, and just before the referees do.
pub const NEWS_IDLE_TIMEOUT: Duration = Duration::from_millis(250);
/// Longest address of an agent.
pub const ADDRESS_BYTES_MAX: usize = 1_024;
/// Most addresses of one host name that are tried for one call.
pub const ADDRESSES_TRIED_MAX: usize = 4;
/// Longest time that a call which fails by our own fault is tried again; half its time at most.
pub const OWN_FAILURE_PATIENCE: Duration = Duration::from_secs(2);
/// Pause before it is tried again.
pub const OWN_FAILURE_PAUSE: Duration = Duration::from_millis(50);
/// How often a call is repeated because the other side says when to come back.
pub const COME_BACKS_MAX: u32 = 5;
/// Most unused connections kept to one agent.
pub const IDLE_CONNECTIONS_MAX: usize = 64;
/// Most keys that a rate limiter of a service remembers.
pub const RATE_KEYS_MAX: usize = 65_536;
/// Time that running requests get to finish when an endpoint stops.
pub const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);
/// First pause of an agent that cannot reach its manager; each further one is twice as long.
pub const REGISTER_PAUSE_MIN: Duration = Duration::from_millis(100);
/// Longest pause of an agent that cannot reach its manager.
pub const REGISTER_PAUSE_MAX: Duration = Duration::from_secs(5);
/// How long an agent hears nothing of its manager before it asks whether it still belongs.
pub const LOOK_AFTER: Duration = Duration::from_secs(30);
/// How long a player that fetches its turns lets the manager wait for one.
pub const POLL_WAIT: Duration = Duration::from_secs(25);
/// Longest pause of a player that cannot fetch its turns: when the manager is back, its time runs.
pub const POLL_PAUSE_MAX: Duration = Duration::from_secs(1);
/// Time beyond that in which the manager must have answered a poll.
pub const POLL_GRACE: Duration = Duration::from_secs(10);
/// Time for an answer to be taken by the manager.
pub const TURN_ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// How often an answer is offered to a manager that does not take it.
pub const TURN_ANSWER_TRIES: u32 = 3;
/// Time that a player may take over what it is only told.
pub const TOLD_TIMEOUT: Duration = Duration::from_secs(1);
/// Largest document of turns that a player reads: no poll brings more than twice half a megabyte.
pub const TURNS_BYTES_MAX: usize = 2 * 1024 * 1024;
/// How long a letter that overtook the registration's answer is kept waiting for it.
pub const MEMBERSHIP_WAIT: Duration = Duration::from_secs(5);
/// Most matches whose invitations and answers a player remembers.
pub const INVITATIONS_MAX: usize = 1_024;
/// Most moves that a player makes in one match.
pub const STEPS_MAX: usize = 1_024;
/// Most finished matches that a player remembers for its strategy.
pub const HISTORY_MAX: usize = 256;
/// Most of the time to choose that is kept for sending the answer.
pub const THOUGHT_RESERVE_MAX: Duration = Duration::from_secs(2);
/// Time to connect, for an author's agent.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Time for a call to the manager, for an author's agent.
pub const CALL_TIMEOUT: Duration = Duration::from_secs(10);
/// How long an author's agent stays after its league for a result that comes late.
pub const LAST_RESULT_WAIT: Duration = Duration::from_secs(1);
/// Troubles of an author's agent that may wait to be told.
pub const AUTHOR_TROUBLES_MAX: usize = 8;
/// Lines of the log that may wait to be written; further ones are lost.
pub const LOG_LINES_MAX: usize = 8_192;
/// Longest time that a program which ends waits for its log to be written.
pub const LOG_FLUSH_TIMEOUT: Duration = Duration::from_secs(1);
/// The time to join that a guest assumes if it is not told.
pub const JOIN_TIME_USUAL: Duration = Duration::from_secs(5);
/// The time to choose that a guest assumes if it is not told.
pub const CHOICE_TIME_USUAL: Duration = Duration::from_secs(30);
/// Agents that are servers of the Model Context Protocol and whose sessions are kept; when there is
/// no room one of them is greeted anew.
pub const SESSIONS_MAX: usize = 4_096;
/// How long the end of a stream is waited for after the answer has come.
pub const STREAM_END_WAIT: Duration = Duration::from_millis(20);

const _: () = assert!(IDLE_TIMEOUT.as_millis() * 2 <= HEAD_TIMEOUT.as_millis());
const _: () = assert!(BODY_BYTES_FREE * CONNECTIONS_MAX <= BODIES_BYTES_MAX);
const _: () = assert!(CONNECTIONS_PER_ADDRESS_MAX <= CONNECTIONS_MAX);
