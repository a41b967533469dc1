//! Every ceiling that nobody should reach, with its unit. Numbers that people argue about are
//! rules and live in [`crate::policy`].

/// Longest name of a league, game or conversation.
pub const NAME_BYTES_MAX: usize = 128;
/// Longest display name, version, address or other text an agent gives of itself.
pub const TEXT_BYTES_MAX: usize = 512;
/// Most players one league can hold.
pub const PLAYERS_MAX: u32 = 100_000;
/// Most referees one league can hold.
pub const REFEREES_MAX: u32 = 10_000;
/// Most matches a referee may say it can run at once.
pub const REFEREE_MATCHES_MAX: u32 = 100_000;
/// Most games an agent may list.
pub const GAMES_PER_AGENT_MAX: usize = 64;
/// Longest move, as text.
pub const MOVE_BYTES_MAX: usize = 256;
/// Longest nonce a player may add to its move, in characters.
pub const NONCE_BYTES_MAX: usize = 128;
/// Longest reason kept with a result or a state change.
pub const REASON_BYTES_MAX: usize = 512;
/// False reports of one match that go into the books; further ones are only refused.
pub const LIES_NOTED_MAX: u32 = 32;
/// False reports of rounds that are over that go into the books of one league.
pub const LATE_LIES_NOTED_MAX: u32 = 1_000;
/// Times a match may be annulled for our own failures before the administrator decides.
pub const ANNULMENTS_MAX: u32 = 3;
/// Times a match may be given away without a result before the administrator decides.
pub const ATTEMPTS_MAX: u32 = 10;
/// Most offences of one kind that one match can add to a player's account.
pub const OFFENCES_PER_MATCH_MAX: u32 = 64;
/// How often an invitation that does not get through is tried inside its window.
pub const INVITATION_TRIES: u32 = 10;
/// A referee that does not take its matches is left alone for one of so many parts of a breaker's
/// time, then for twice that, and so on up to the whole of it.
pub const BALK_STEPS: u32 = 32;

const _: () = assert!(NAME_BYTES_MAX <= TEXT_BYTES_MAX);
const _: () = assert!(NONCE_BYTES_MAX <= MOVE_BYTES_MAX);
