//! Ceilings of the checker, each with its unit.

use std::time::Duration;

/// Time in which a connection must stand.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Time in which a player answers an invitation.
pub const JOIN_TIME: Duration = Duration::from_secs(5);
/// Time in which a player chooses.
pub const CHOICE_TIME: Duration = Duration::from_secs(30);
/// Time in which an agent answers what it is only told.
pub const TOLD_TIME: Duration = Duration::from_secs(5);
/// Time in which a referee takes or refuses an order, and players hear how a match ended.
pub const ORDER_TIME: Duration = Duration::from_secs(10);
/// Time in which an ordinary match between players that answer at once is reported.
pub const REPORT_TIME: Duration = Duration::from_secs(20);
/// Time in which a match is reported in which somebody does not answer, also by a referee that
/// knows the documents' times only.
pub const WORST_TIME: Duration = Duration::from_secs(150);
/// Time in which an agent says that it lives.
pub const HEALTH_TIME: Duration = Duration::from_secs(1);
/// Time in which an agent that was started must have registered.
pub const START_TIME: Duration = Duration::from_secs(20);
/// Time that an agent gets to read the answer to its registration before it is called.
pub const SETTLE_TIME: Duration = Duration::from_millis(200);
/// Time in which an agent that was asked to stop must be gone.
pub const STOP_TIME: Duration = Duration::from_secs(5);
/// Time in which an agent that did not survive a case is seen to have ended.
pub const ENDING_TIME: Duration = Duration::from_millis(100);
/// How much of the last line of an agent is quoted.
pub const SAID_CHARS_MAX: usize = 200;
/// Time that one case may take. A case that takes longer is a fault of ours.
pub const CASE_TIME: Duration = Duration::from_secs(180);
/// How far an agent's clock may be from ours.
pub const CLOCK_SLACK: Duration = Duration::from_secs(5);
/// Largest answer that is read, head and body.
pub const ANSWER_BYTES_MAX: usize = 1024 * 1024;
/// How much of a body a transcript keeps.
pub const SHOWN_BYTES_MAX: usize = 6 * 1024;
/// Most entries of one transcript.
pub const ENTRIES_MAX: usize = 256;
/// How much an agent's own words are quoted when it does not come up.
pub const WORDS_BYTES_MAX: usize = 2 * 1024;
/// Most calls that a stand-in keeps for those who want to look at them.
pub const CALLS_MAX: usize = 1_024;
/// Cases that run at the same time where they do not disturb each other.
pub const TOGETHER: usize = 8;
/// The same for an agent that does not say how much it takes.
pub const WIDTH_UNSAID: usize = 4;
/// How large a body is that nobody needs, and that must not hurt.
pub const LARGE_BODY_BYTES: usize = 1024 * 1024;
/// Most changes that are tried to make an answer readable.
pub const CHANGES_MAX: usize = 16;
/// Time in which a manager answers a registration, a report or a question.
pub const REGISTER_TIME: Duration = Duration::from_secs(10);
/// Time in which everybody must have heard what the manager has to tell.
pub const NEWS_TIME: Duration = Duration::from_secs(10);
/// How long is listened for what must not come.
pub const QUIET_TIME: Duration = Duration::from_millis(300);
/// Time in which the standings must follow a result.
pub const STANDINGS_TIME: Duration = Duration::from_secs(5);
/// How long an agent is away that comes back.
pub const AWAY_TIME: Duration = Duration::from_millis(500);
/// Most guests of the checker that stay at their addresses until the check is over.
pub const GUESTS_MAX: usize = 512;
/// How often something is asked whose time is taken; the fastest answer counts.
pub const TIMED_TRIES: u32 = 3;
/// More players than ever register in a league that is not to begin.
pub const PLAYERS_WAITED_FOR: u32 = 1_000;
