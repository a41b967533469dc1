//! Every ceiling of the services, with its unit.

use std::time::Duration;

/// Longest row of a journal.
pub const ROW_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Most rows that one append may bring.
pub const BATCH_ROWS_MAX: usize = 4096;
/// Most bytes that one append may bring, attachments included.
pub const BATCH_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Longest attachment: a transcript of 256 KiB that does not compress, with the frame around it.
pub const ATTACHMENT_BYTES_MAX: usize = 257 * 1024;

/// Most rows in one page that a reader gets.
pub const PAGE_ROWS_MAX: usize = 4096;
/// A page ends after the row that reaches this many bytes.
pub const PAGE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Appends that may wait for the journal's writer; further ones wait for a place in the queue.
pub const WRITER_QUEUE_MAX: usize = 1024;
/// Rows after which a transaction takes no further append.
pub const COMMIT_ROWS_MAX: usize = 1024;
/// Bytes after which a transaction takes no further append.
pub const COMMIT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Appenders that are answered in one go.
pub const ANSWERS_PORTION: usize = 32;
/// A transaction waits for further appends for this fraction of the last one's commit.
pub const COMPANY_WAIT_FRACTION: u32 = 4;
/// Appends that are written while a transaction waits for further ones.
pub const COMPANY_CHUNK: usize = 64;
/// Pages of the write-ahead log after which it is folded into the database.
pub const WAL_PAGES_MAX: usize = 4096;
/// Pages of the write-ahead log at which writing waits until it is folded.
pub const WAL_PAGES_HARD_MAX: usize = 4 * WAL_PAGES_MAX;
/// Rows after which the writer stores where the latest rows are.
pub const RECENT_ROWS_MAX: usize = 65_536;
/// Places that are stored together.
pub const SPAN_PLACES_MAX: usize = 1024;
/// Leagues whose head the writer keeps in memory.
pub const HEADS_CACHED_MAX: usize = 65_536;
/// Connections that read the journal at the same time.
pub const READERS_MAX: usize = 4;
/// How often a data directory is tried again that another process holds.
pub const LOCK_WAITS_MAX: u32 = 10;
/// Pause before it is tried again.
pub const LOCK_WAIT: Duration = Duration::from_millis(50);
/// Attachments or bundles of letters that are deleted in one transaction: a manager that runs waits
/// for it.
pub const PRUNED_TOGETHER_MAX: usize = 64;
/// Milliseconds that a connection waits for a lock of the database file.
pub const LOCK_WAIT_MS_MAX: u64 = 5_000;
/// Time in which those who practise with an agent must have come together.
pub const PRACTICE_PATIENCE: Duration = Duration::from_secs(10);
/// Matches of its practice that an agent is told of when it must choose.
pub const PRACTICE_HISTORY_MAX: usize = 50;
/// Most that a call, and its answer, is late on purpose.
pub const PRACTICE_DELAY_MAX: Duration = Duration::from_millis(500);
/// Time that one call to an agent which practises may take; its referee gives it up long before.
pub const PRACTICE_CALL_TIME: Duration = Duration::from_secs(3_600);
/// Practice matches at a manager at the same time.
pub const PRACTICE_AT_ONCE: usize = 4;
/// How often one agent may ask for one.
pub const PRACTICE_RATE: (u32, Duration) = (6, Duration::from_secs(60));
/// How often it is looked whether the league has begun while somebody practises.
pub const PRACTICE_LOOK: Duration = Duration::from_millis(100);
/// Time beyond the longest match after which a practice match is given up.
pub const PRACTICE_SLACK: Duration = Duration::from_secs(45);

const _: () = assert!(ATTACHMENT_BYTES_MAX < ROOM_BYTES);
const _: () = assert!(ROW_BYTES_MAX <= BATCH_BYTES_MAX);
const _: () = assert!(ATTACHMENT_BYTES_MAX <= BATCH_BYTES_MAX);
const _: () = assert!(COMMIT_BYTES_MAX <= BATCH_BYTES_MAX);
const _: () = assert!(COMMIT_ROWS_MAX <= BATCH_ROWS_MAX);

/// Longest answer to a client of the Model Context Protocol.
pub const MCP_ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Questions that may wait for a league's writer; the next one is told that the league is busy.
pub const MAILBOX_MAX: usize = 4_096;
/// Questions that a league's writer answers with one append.
pub const ACTOR_BATCH_MAX: usize = 512;
/// Rows after which a league's writer takes no further question into an append.
pub const ACTOR_BATCH_ROWS: usize = 2_048;
/// Bytes after which a league's writer takes no further question into an append.
pub const ACTOR_BATCH_BYTES: usize = 16 * 1024 * 1024;
/// How soon a league's writer looks again at something that was due and could not be done.
pub const WAKE_INTERVAL_MIN: Duration = Duration::from_millis(1);
/// Matches that are handed to referees in one go.
pub const HANDOUTS_MAX: usize = 100;
/// Rows that are read at once when a league is opened.
pub const REPLAY_PAGE_ROWS: usize = 2_048;
/// Leagues that may wait to be founded; the next one is told that the manager is busy.
pub const FOUNDINGS_MAX: usize = 64;
/// Pause before a league whose books could not be written is opened again.
pub const REOPEN_PAUSE: Duration = Duration::from_secs(1);
/// Bytes that must fit into the data directory before books that could not be written are opened.
pub const ROOM_BYTES: usize = 512 * 1024;
/// Pause before it is looked again whether the database is still in its place.
pub const FILE_LOOK_PAUSE: Duration = Duration::from_secs(1);
/// Notices that may wait for one agent; the oldest is dropped for the newest.
pub const NOTICES_MAX: usize = 64;
/// Time to deliver what waits for the agents when a manager stops.
pub const LEAVE_TIMEOUT: Duration = Duration::from_secs(3);
/// Time after the end of a league in which a manager that starts tells its agents of it again.
pub const END_TOLD_WITHIN: Duration = Duration::from_secs(600);
/// Entries up to which a list in a message is whole.
pub const LIST_WHOLE_MAX: usize = 128;
/// Matches that one referee process runs at once.
pub const REFEREE_MATCHES_DEFAULT: u32 = 64;
/// Finished matches that a referee remembers, so as not to play them again.
pub const FINISHED_MATCHES_MAX: usize = 4_096;
/// Time that a referee which stops takes to report and to tell what is decided.
pub const REFEREE_LEAVE_TIMEOUT: Duration = Duration::from_secs(3);
/// Time that referees get when a league that is played in one process is stopped.
pub const STOP_PATIENCE: Duration = Duration::from_millis(250);
/// Time that agents stay after the end of their league, for the last words of its referees.
pub const LINGER: Duration = Duration::from_secs(1);
/// Complaints of agents that cannot reach their manager which may wait to be told.
pub const TROUBLES_MAX: usize = 8;
/// Entries after which a transcript takes no further calls of players.
pub const TRANSCRIPT_ENTRIES_MAX: usize = 256;
/// Bytes of bodies that a running match keeps for its transcript; the oldest go first.
pub const TRANSCRIPT_BODIES_MAX: usize = 512 * 1024;
/// Longest text that a transcript adds to what was said.
pub const TRANSCRIPT_TEXT_MAX: usize = 512;
/// Windows for an invitation in which a referee looks for the shape that a player answers to.
pub const SEARCH_WINDOWS_MAX: u32 = 3;
/// What a referee passes on is left out of its transcript if it is longer than this.
pub const FAMILIAR_BYTES_MIN: usize = 512;
/// Reports that a referee sends together; the answers to so many fit into one.
pub const REPORTS_TOGETHER_MAX: usize = 32;
/// Letters in no hurry that wait for a report to go with; the oldest go first.
pub const MENTIONS_MAX: usize = 1_024;
/// How long they wait for one.
pub const MENTIONS_WAIT: Duration = Duration::from_secs(2);
/// Addresses that do not answer which a referee remembers.
pub const BREAKERS_MAX: usize = 4_096;
/// Answers of players to one match whose times are told.
pub const RESPONSES_MAX: usize = 32;
/// Letters that may wait for one match.
pub const MATCH_INBOX_MAX: usize = 16;

/// Letters that may wait to be kept; further ones are dropped and counted.
pub const LETTERS_WAITING_MAX: usize = 16_384;
/// Bytes of letters that may wait to be kept.
pub const LETTERS_WAITING_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Whoever has more than this part of the room for letters gives way to others when it is short.
pub const LETTERS_SENDER_PART: usize = 16;
/// Bytes of letters of one league that are stored in an hour; further ones are dropped and counted.
pub const LETTERS_HOUR_BYTES_MAX: usize = 128 * 1024 * 1024;
/// The part of an hour's bytes that is kept of those who have proved nothing, all together.
pub const LETTERS_UNPROVED_PART: usize = 128;
/// The time for which the bytes of stored letters are counted.
pub const LETTERS_HOUR: Duration = Duration::from_secs(60 * 60);
/// Time in which letters are gathered before they are packed.
pub const LETTERS_PAUSE: Duration = Duration::from_secs(1);
/// Longest letter whose body is kept.
pub const LETTER_BYTES_MAX: usize = 64 * 1024;
/// Longest letter whose body is kept although it was refused.
pub const LETTER_REFUSED_BYTES_MAX: usize = 4 * 1024;
/// Characters that are kept of an error by which a call was answered.
pub const LETTER_WRONG_CHARS_MAX: usize = 512;
/// What is known of a letter beside its bytes and its answer's is less than this.
pub const LETTER_KNOWN_BYTES_MAX: usize = 4 * 1024;
/// What a letter that waits to be kept costs in memory beside its body, about.
pub const LETTER_COST_BYTES: usize = 512;
/// Parts of a letter that the record has elsewhere are left out if they are longer than this.
pub const LETTER_LONG_MIN: usize = 512;
/// Bytes of letters after which they are stored and others begun.
pub const BUNDLE_FULL_BYTES: usize = 256 * 1024;
/// Most bytes that stored letters may unpack to.
pub const BUNDLE_BYTES_MAX: usize = 16 * 1024 * 1024;
// A call of which everything is as long as may be still makes a bundle that can be read.
const _: () = assert!(
    BUNDLE_FULL_BYTES + LETTERS_MAX * (2 * LETTER_BYTES_MAX + LETTER_KNOWN_BYTES_MAX)
        <= BUNDLE_BYTES_MAX
);
/// Stored letters that may wait for the journal's writer.
pub const BUNDLES_WAITING_MAX: usize = 64;
/// Broadcasts that are remembered to be stored once.
pub const TEMPLATES_MAX: usize = 32;

/// Requests that one agent may make in a time: a referee that reports a thousand matches a second
/// is far below it.
pub const AGENT_REQUESTS: (u32, Duration) = (10_000, Duration::from_secs(2));
/// Requests in a time that show no valid token and come from one address.
pub const STRANGER_REQUESTS: (u32, Duration) = (1_000, Duration::from_secs(5));
/// Registrations in a time that come from one address. A whole classroom may sit behind one.
pub const REGISTRATIONS: (u32, Duration) = (2_000, Duration::from_secs(10));

/// Bytes after which a batch of letters to one agent is sent and another begun.
pub const LETTERS_BYTES_MAX: usize = 512 * 1024;
/// Letters in one batch to one agent; no more are allowed by the protocol.
pub const LETTERS_MAX: usize = 100;
/// Time for an answer from the old address of an agent whose token names a new one.
pub const OLD_ADDRESS_WAIT: Duration = Duration::from_secs(2);
/// Entries in the answer to one query.
pub const QUERY_ENTRIES_MAX: usize = 128;
/// Matches in one answer to a referee that asks for its own and does not say how many it takes.
pub const ASSIGNMENTS_USUAL: u32 = 16;
/// How much is told of why a call came to nothing; the reasons of both players fit into a result.
pub const CAUSE_BYTES_MAX: usize = 240;
/// A player that is slow to hear that the match begins loses this part of its first window.
pub const OPENING_SHARE: u32 = 30;
/// How many may read the record of a match at once.
pub const RECORD_READERS_MAX: usize = 2;
/// Calls that fail before a match goes to another referee.
pub const ORDER_TRIES: u32 = 2;

/// Calls that may wait for one pull player; what counts in a match takes the place of news, and
/// the next caller is told to come back.
pub const TURNS_MAX: usize = 32;
/// Those of one caller: a choice is asked for several times, in several matches at once.
pub const TURNS_PER_CALLER_MAX: usize = 16;
/// Those of everybody who has proved nothing, together.
pub const TURNS_UNPROVED_MAX: usize = 2;
/// Turns of a pull player that are known by their number when they are over.
pub const TURNS_REMEMBERED: usize = 64;
/// Longest call that is taken for a pull player.
pub const RELAYED_BYTES_MAX: usize = 256 * 1024;
/// Bytes of calls after which a poll brings no further ones.
pub const POLL_BYTES_FULL: usize = 512 * 1024;
/// How long a player counts as present after it has polled.
pub const PRESENCE: Duration = Duration::from_secs(60);
/// Longest time that a poll waits for a turn; what stands between player and manager may cut off
/// a connection that is silent for a minute.
pub const POLL_WAIT_MAX: Duration = Duration::from_secs(55);
/// How long it waits if nothing is said.
pub const POLL_WAIT_USUAL: Duration = Duration::from_secs(25);
/// How long a referee tries to find room at the manager that takes a player's calls, before the
/// call counts as our own failure.
pub const RELAY_PATIENCE: Duration = Duration::from_secs(2);
/// Pause between those tries.
pub const RELAY_PAUSE: Duration = Duration::from_millis(100);
/// Pause before turns are given again that were given and not answered.
pub const AGAIN_PAUSE: Duration = Duration::from_secs(1);

// What is decided about a question is a handful of rows, which are not torn apart; what follows
// from them may be more than one append takes.
const _: () = assert!(ACTOR_BATCH_ROWS + ACTOR_BATCH_MAX < BATCH_ROWS_MAX);
const _: () = assert!(ACTOR_BATCH_BYTES + 2 * ROW_BYTES_MAX < BATCH_BYTES_MAX);
