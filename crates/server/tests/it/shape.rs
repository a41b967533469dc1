//! How the documents nest and name things, written down from their text alone.

use serde_json::{Map, Value, json};

/// A document's way to write messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Document 000.
    Flat,
    /// Document 003.
    Typed,
    /// Document 002.
    V21,
    /// Document 001.
    Enveloped,
}

/// The sender, conversation and token of a message.
#[derive(Debug, Clone)]
pub(crate) struct Stamp {
    pub(crate) sender: String,
    pub(crate) conversation: String,
    pub(crate) token: Option<String>,
}

impl Stamp {
    pub(crate) fn new(sender: &str, conversation: &str, token: &str) -> Self {
        let token = (!token.is_empty()).then(|| token.into());
        Self { sender: sender.into(), conversation: conversation.into(), token }
    }
}

const IN_ENVELOPE: [&str; 4] = ["league_id", "round_id", "match_id", "game_type"];

impl Shape {
    pub(crate) const ALL: [Self; 4] = [Self::Flat, Self::Typed, Self::V21, Self::Enveloped];

    /// A whole request in this shape. `fields` are the message's own.
    pub(crate) fn request(
        self,
        (method, kind): (&str, &str),
        stamp: &Stamp,
        fields: Value,
    ) -> Value {
        let method = match self {
            Self::Flat | Self::V21 => method,
            Self::Typed => kind,
            Self::Enveloped => "league.handle",
        };
        let token = stamp.token.clone().unwrap_or_default();
        let mut params = self.message(kind, stamp, fields);
        let envelope = if self == Self::Enveloped { &mut params["envelope"] } else { &mut params };
        if self != Self::Enveloped || stamp.token.is_some() {
            envelope["auth_token"] = json!(token);
        }
        json!({"jsonrpc": "2.0", "method": method, "params": params, "id": 1})
    }

    /// The result that answers a request, with what the document puts into one.
    pub(crate) fn result(self, kind: &str, stamp: &Stamp, fields: Value) -> Value {
        if self != Self::Typed {
            return self.message(kind, stamp, fields);
        }
        let mut result = json!({"protocol": "league.v2", "message_type": kind});
        merge(&mut result, fields);
        result
    }

    fn message(self, kind: &str, stamp: &Stamp, fields: Value) -> Value {
        let mut envelope = json!({
            "protocol": "league.v2",
            "message_type": kind,
            "sender": stamp.sender,
            "timestamp": "2025-01-15T10:30:00Z",
            "conversation_id": stamp.conversation,
        });
        if self != Self::Enveloped {
            merge(&mut envelope, fields);
            return envelope;
        }
        let (mut above, mut payload) = (Map::new(), Map::new());
        for (name, value) in object(fields) {
            let place =
                if IN_ENVELOPE.contains(&name.as_str()) { &mut above } else { &mut payload };
            place.insert(name, value);
        }
        merge(&mut envelope, Value::Object(above));
        json!({"envelope": envelope, "payload": payload})
    }

    /// A message that arrived in this shape, envelope and fields side by side.
    pub(crate) fn opened(self, message: &Value) -> Result<Value, String> {
        if self != Self::Enveloped {
            return if message.get("envelope").is_none() {
                Ok(message.clone())
            } else {
                Err(format!("an envelope in {self:?}: {message}"))
            };
        }
        let parts = (message.get("envelope").cloned(), message.get("payload").cloned());
        let (Some(mut envelope), Some(payload)) = parts else {
            return Err(format!("envelope or payload is missing: {message}"));
        };
        merge(&mut envelope, payload);
        Ok(envelope)
    }

    /// The method and type under which the message that 000 calls `kind` must arrive.
    pub(crate) fn method_and_type(self, kind: &str) -> (&'static str, &'static str) {
        let &(kind, method, v21) =
            NAMES.iter().find(|row| row.0 == kind).expect("every message has a row");
        match self {
            Self::Flat => (method, kind),
            Self::Typed => (kind, kind),
            Self::V21 => (method, v21),
            Self::Enveloped => ("league.handle", kind),
        }
    }

    /// 000's name of the message that arrived as `kind`.
    pub(crate) fn plain_type(kind: &str) -> Option<&'static str> {
        NAMES.iter().find(|row| row.0 == kind || row.2 == kind).map(|row| row.0)
    }

    /// The paths that the document lists for a message, `None` if it has no such message.
    pub(crate) fn listed_fields(self, kind: &str) -> &'static [&'static str] {
        let row = FIELDS.iter().find(|row| row.0 == kind).expect("every message has a row");
        match self {
            Self::Flat | Self::Enveloped => row.1,
            Self::Typed => row.2,
            Self::V21 => row.3,
        }
    }
}

/// 000's type, 000's method, 002's type.
const NAMES: [(&str, &str, &str); 13] = [
    ("ROUND_ANNOUNCEMENT", "notify_round", "ROUND_ANNOUNCEMENT"),
    ("ROUND_COMPLETED", "notify_round_completed", "ROUND_COMPLETED"),
    ("LEAGUE_STANDINGS_UPDATE", "update_standings", "STANDINGS_UPDATE"),
    ("LEAGUE_COMPLETED", "notify_league_completed", "LEAGUE_COMPLETED"),
    ("START_MATCH", "start_match", "START_MATCH"),
    ("GAME_INVITATION", "handle_game_invitation", "GAME_INVITATION"),
    ("CHOOSE_PARITY_CALL", "choose_parity", "CHOOSE_PARITY"),
    ("GAME_MOVE_CALL", "game_move_call", "GAME_MOVE_CALL"),
    ("GAME_ERROR", "notify_game_error", "GAME_ERROR"),
    ("GAME_OVER", "notify_match_result", "GAME_OVER"),
    ("MATCH_RESULT_REPORT", "report_match_result", "MATCH_RESULT_REPORT"),
    ("PING", "ping", "PING"),
    ("SUSPENSION_NOTICE", "notify_suspension", "SUSPENSION_NOTICE"),
];

type FieldsOf =
    (&'static str, &'static [&'static str], &'static [&'static str], &'static [&'static str]);

/// No document lists it.
const MOVE_CALL: &[&str] = &[
    "match_id",
    "round_id",
    "game_type",
    "deadline",
    "opponent_id",
    "attempt",
    "step",
    "game_state",
    "move_request.move_type",
    "move_request.valid_options.[]",
    "move_request.context.your_role",
    "move_request.context.opponent_role",
    "your_standings.points",
    "standings.[].rank",
    "game_history",
];

/// What 000 and 001, 003, and 002 list for each message; `[]` stands for the first of a list.
const FIELDS: [FieldsOf; 12] = [
    ("PING", &[], &[], &[]),
    ("GAME_MOVE_CALL", MOVE_CALL, MOVE_CALL, MOVE_CALL),
    ("SUSPENSION_NOTICE", &[], &[], &["agent_id", "reason"]),
    (
        "ROUND_ANNOUNCEMENT",
        &[
            "round_id",
            "league_id",
            "matches.[].match_id",
            "matches.[].game_type",
            "matches.[].player_A_id",
            "matches.[].player_B_id",
            "matches.[].referee_endpoint",
        ],
        &["round_id", "matches"],
        &[
            "round_id",
            "matches.[].match_id",
            "matches.[].player1_id",
            "matches.[].player2_id",
            "matches.[].referee_id",
            "matches.[].scheduled_start",
            "round_deadline",
        ],
    ),
    (
        "ROUND_COMPLETED",
        &["round_id", "league_id", "completed_matches", "next_round_id"],
        &["round_id", "matches_played"],
        &["round_id"],
    ),
    (
        "LEAGUE_STANDINGS_UPDATE",
        &[
            "league_id",
            "round_id",
            "standings.[].rank",
            "standings.[].player_id",
            "standings.[].display_name",
            "standings.[].played",
            "standings.[].wins",
            "standings.[].draws",
            "standings.[].losses",
            "standings.[].points",
        ],
        &["standings.[].rank", "standings.[].player_id"],
        &[
            "league_id",
            "round_id",
            "last_updated",
            "standings.[].rank",
            "standings.[].player_id",
            "standings.[].display_name",
            "standings.[].wins",
            "standings.[].losses",
            "standings.[].ties",
            "standings.[].points",
            "standings.[].games_played",
            "standings.[].win_rate",
        ],
    ),
    (
        "LEAGUE_COMPLETED",
        &[
            "league_id",
            "total_rounds",
            "total_matches",
            "champion.player_id",
            "champion.display_name",
            "champion.points",
            "final_standings.[].rank",
            "final_standings.[].player_id",
            "final_standings.[].display_name",
            "final_standings.[].points",
        ],
        &["champion.player_id", "final_standings.[].rank"],
        &["champion.player_id"],
    ),
    (
        "START_MATCH",
        &[
            "league_id",
            "match_id",
            "round_id",
            "attempt",
            "rematch",
            "game_type",
            "rules.rule_set",
            "draw_commitment",
            "standings.[].rank",
            "players.[].role_in_match",
            "players.[].player_id",
            "players.[].endpoint",
            "players.[].dialect",
            "players.[].match_proof",
            "players.[].reply_proof",
            "players.[].token_hash",
            "players.[].your_standings.points",
            "players.[].game_history",
            "scheduled_start",
            "result_deadline",
            "lease_ms",
        ],
        &["match_id"],
        &["match_id"],
    ),
    (
        "GAME_INVITATION",
        &["match_id", "game_type", "role_in_match", "opponent_id"],
        &["league_id", "round_id", "match_id", "game_type", "role_in_match", "opponent_id"],
        &["match_id", "game_type", "opponent_id", "player_role", "max_response_time", "game_state"],
    ),
    (
        "CHOOSE_PARITY_CALL",
        &["match_id", "game_type", "deadline", "context.opponent_id", "context.round_id"],
        &[
            "match_id",
            "player_id",
            "game_type",
            "deadline",
            "context.opponent_id",
            "context.round_id",
            "context.your_standings.points",
        ],
        &["match_id", "opponent_id", "standings.[].rank", "game_history", "game_state"],
    ),
    (
        "GAME_ERROR",
        &[
            "match_id",
            "error_code",
            "error_description",
            "affected_player",
            "action_required",
            "retry_count",
            "max_retries",
            "consequence",
        ],
        &["error_code", "error_description", "affected_player", "action_required", "consequence"],
        &[
            "match_id",
            "player_id",
            "error_code",
            "error_name",
            "error_description",
            "game_state",
            "retryable",
            "retry_count",
            "max_retries",
            "context",
        ],
    ),
    (
        "GAME_OVER",
        &[
            "match_id",
            "game_result.status",
            "game_result.winner_player_id",
            "game_result.drawn_number",
            "game_result.number_parity",
            "game_result.choices",
            "game_result.reason",
        ],
        &[
            "match_id",
            "game_type",
            "game_result.status",
            "game_result.drawn_number",
            "game_result.number_parity",
            "game_result.choices",
        ],
        &[
            "match_id",
            "winner_id",
            "result_type",
            "drawn_number",
            "choices",
            "points_awarded",
            "game_state",
        ],
    ),
];

/// Puts the fields of `more` into `into`.
pub(crate) fn merge(into: &mut Value, more: Value) {
    let fields = into.as_object_mut().expect("an object");
    fields.extend(object(more));
}

fn object(value: Value) -> Map<String, Value> {
    let Value::Object(fields) = value else { panic!("expected an object, got {value}") };
    fields
}

/// The first path of `paths` that leads nowhere in `message`.
pub(crate) fn missing_path(message: &Value, paths: &[&'static str]) -> Option<&'static str> {
    paths.iter().copied().find(|path| {
        let step = |at: Option<Value>, name: &str| match name {
            "[]" => at?.get(0).cloned(),
            name => at?.get(name).cloned(),
        };
        path.split('.').fold(Some(message.clone()), step).is_none()
    })
}
