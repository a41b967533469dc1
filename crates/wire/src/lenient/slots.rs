//! Which fields a message has, where they stand in `flat`, and what else people call them.

use crate::message::MessageType;

/// A field of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot {
    /// The object in which it stands beside the others; empty for the message itself.
    pub(super) parent: &'static str,
    /// Its names in the documents; the first is the one that we write.
    pub(super) names: &'static [&'static str],
    /// Other names for it that are known.
    pub(super) also: &'static [&'static str],
    /// What it holds.
    pub(super) sort: Sort,
}

/// What a field holds, as far as it matters for moving it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    /// Anything.
    Plain,
    /// A moment.
    Time,
    /// What the sender decides: whatever names it must say the same.
    Decision,
    /// What proves something: it has no other names, and is never moved alone.
    Proof,
}

impl Slot {
    /// The name that we write.
    pub(super) const fn name(&self) -> &'static str {
        self.names[0]
    }
}

const fn plain(names: &'static [&'static str]) -> Slot {
    known(names, &[])
}

const fn known(names: &'static [&'static str], also: &'static [&'static str]) -> Slot {
    Slot { parent: "", names, also, sort: Sort::Plain }
}

const fn of(sort: Sort, names: &'static [&'static str], also: &'static [&'static str]) -> Slot {
    Slot { parent: "", names, also, sort }
}

const fn within(
    parent: &'static str,
    names: &'static [&'static str],
    also: &'static [&'static str],
) -> Slot {
    Slot { parent, names, also, sort: Sort::Plain }
}

pub(super) const PROTOCOL: &str = "protocol";
pub(super) const MESSAGE_TYPE: &str = "message_type";
pub(super) const SENDER: &str = "sender";
pub(super) const TIMESTAMP: &str = "timestamp";
pub(super) const CONVERSATION: &str = "conversation_id";
pub(super) const MESSAGE_ID: &str = "message_id";

/// The fields of every envelope.
const ENVELOPE: &[Slot] = &[
    plain(&[PROTOCOL]),
    known(&[MESSAGE_TYPE], &["type", "msg_type"]),
    known(&[SENDER], &["sender_id", "from"]),
    of(Sort::Time, &[TIMESTAMP], &["sent_at"]),
    TALK,
    TOKEN,
    plain(&[MESSAGE_ID]),
    plain(&["correlation_id"]),
];

const TALK: Slot = known(&[CONVERSATION], &["conversation", "conv_id"]);
const TOKEN: Slot = of(Sort::Proof, &["auth_token"], &[]);
const LEAGUE: Slot = plain(&["league_id"]);
/// Whoever registers says where; what others call their league may be anything.
const LEAGUE_TO_JOIN: Slot = known(&["league_id"], &["league"]);
const MATCH: Slot = plain(&["match_id"]);
const PLAYER: Slot = plain(&["player_id"]);
const ROUND: Slot = plain(&["round_id"]);
const GAME: Slot = plain(&["game_type"]);
const ATTEMPT: Slot = plain(&["attempt"]);
const STATE: Slot = plain(&["game_state"]);
const REASON: Slot = plain(&["reason"]);
const NONCE: Slot = plain(&["nonce"]);
const CHOICE_PROOF: Slot = of(Sort::Proof, &["choice_proof"], &[]);
const REASONING: Slot = plain(&["reasoning"]);

macro_rules! meta {
    ($parent:literal) => {
        &[
            within($parent, &["display_name"], &["name", "player_name", "agent_name"]),
            within($parent, &["version"], &["agent_version"]),
            within($parent, &["protocol_version"], &[]),
            within($parent, &["game_types", "supported_games"], &["games"]),
            within(
                $parent,
                &["contact_endpoint"],
                &["endpoint", "endpoint_url", "contact_url", "callback_url", "url"],
            ),
            within($parent, &["contact_email"], &["email"]),
            within($parent, &["max_concurrent_matches", "max_concurrent_games"], &[]),
            within($parent, &["dialect"], &[]),
            within($parent, &["batch"], &[]),
            within($parent, &["pull"], &[]),
            within($parent, &["join_code", "join_key"], &[]),
        ]
    };
}

const PLAYER_REGISTRATION: &[Slot] = meta!("player_meta");
const REFEREE_REGISTRATION: &[Slot] = meta!("referee_meta");

const JOIN: &[Slot] = &[
    MATCH,
    PLAYER,
    of(Sort::Decision, &["accept"], &["accepted"]),
    plain(&["status"]),
    plain(&["ready"]),
    of(Sort::Time, &["arrival_timestamp"], &["arrival_time"]),
    REASON,
    GAME,
    ROUND,
];

const PARITY: &[Slot] = &[
    MATCH,
    PLAYER,
    of(Sort::Decision, &["parity_choice", "choice"], &["move", "move_data", "parity"]),
    NONCE,
    CHOICE_PROOF,
    REASONING,
    GAME,
    ROUND,
];

const MOVE: &[Slot] = &[
    MATCH,
    PLAYER,
    of(Sort::Decision, &["move_data"], &["move", "choice"]),
    NONCE,
    CHOICE_PROOF,
    REASONING,
    GAME,
    ROUND,
];

const OVER_ACK: &[Slot] = &[MATCH, plain(&["acknowledged"]), GAME, ROUND];

const REPORT: &[Slot] = &[
    MATCH,
    ROUND,
    GAME,
    ATTEMPT,
    plain(&["rematch"]),
    plain(&["match_conversation_id"]),
    within("result", &["status"], &[]),
    within("result", &["winner", "winner_id", "winner_player_id"], &[]),
    within("result", &["score"], &[]),
    within("result", &["details"], &[]),
    within("result", &["technical_losers"], &[]),
    within("result", &["reason"], &[]),
    plain(&["players"]),
    plain(&["drawn_number"]),
    STATE,
    of(Sort::Proof, &["draw_seed"], &[]),
    plain(&["draw_commitment"]),
    of(Sort::Proof, &["referee_signature"], &[]),
    plain(&["transcript"]),
];

const PROGRESS: &[Slot] = &[
    MATCH,
    ATTEMPT,
    STATE,
    plain(&["choices_hash"]),
    plain(&["annulled"]),
    plain(&["epilogue"]),
    GAME,
    ROUND,
];

const QUERY: &[Slot] = &[
    plain(&["query_type"]),
    ROUND,
    MATCH,
    plain(&["agent_id", "player_id"]),
    plain(&["offset"]),
    plain(&["limit"]),
    GAME,
];

const LIMIT: &[Slot] = &[plain(&["limit"])];
const START_ACK: &[Slot] =
    &[MATCH, ATTEMPT, plain(&["status"]), REASON, GAME, ROUND, plain(&["draw_commitment"])];

/// The fields of the messages that strangers send to a manager or a referee; `None` of others,
/// which are read strictly.
pub(super) fn slots(kind: MessageType) -> Option<impl Iterator<Item = &'static Slot>> {
    let league = if kind.meta_field().is_some() { &LEAGUE_TO_JOIN } else { &LEAGUE };
    own(kind).map(|own| ENVELOPE.iter().chain([league]).chain(own))
}

/// The fields of a registration of type `kind` that may be missing, and then mean something else;
/// `None` if it is no registration.
pub(super) fn defaulted(kind: MessageType) -> Option<impl Iterator<Item = &'static Slot>> {
    kind.meta_field()?;
    own(kind).map(|own| [&TALK, &TOKEN, &LEAGUE_TO_JOIN].into_iter().chain(own))
}

/// The fields of the envelope.
pub(super) fn envelope() -> impl Iterator<Item = &'static Slot> {
    ENVELOPE.iter()
}

const fn own(kind: MessageType) -> Option<&'static [Slot]> {
    use MessageType as Type;
    Some(match kind {
        Type::LeagueRegisterRequest => PLAYER_REGISTRATION,
        Type::RefereeRegisterRequest => REFEREE_REGISTRATION,
        Type::GameJoinAck => JOIN,
        Type::ChooseParityResponse => PARITY,
        Type::GameMoveResponse => MOVE,
        Type::GameOverAck => OVER_ACK,
        Type::MatchResultReport => REPORT,
        Type::MatchProgress => PROGRESS,
        Type::LeagueQuery => QUERY,
        Type::StartMatchAck => START_ACK,
        Type::GetAssignedMatches => LIMIT,
        Type::RefereeRegisterResponse
        | Type::LeagueRegisterResponse
        | Type::StartLeague
        | Type::RoundAnnouncement
        | Type::RoundCompleted
        | Type::RoundStart
        | Type::RoundResult
        | Type::StartMatch
        | Type::MatchProgressAck
        | Type::AssignedMatches
        | Type::GameInvitation
        | Type::GameStart
        | Type::ChooseParityCall
        | Type::GameMoveCall
        | Type::GameOver
        | Type::MatchResultAck
        | Type::LeagueStandingsUpdate
        | Type::LeagueCompleted
        | Type::LeagueQueryResponse
        | Type::SuspensionNotice
        | Type::Ping
        | Type::Pong
        | Type::Ack
        | Type::LeagueError
        | Type::GameError => return None,
    })
}
