//! How the checker gets into a manager: as the administrator, who may found leagues, or through the
//! league that is open.

use std::time::Duration;

use league_agent::exchange::random_hex;
use serde_json::{Value, json};

use super::visit::Visit;
use crate::verdict::Halt;

/// What lets the checker in.
#[derive(Debug, Clone, Default)]
pub struct Door {
    /// The administrator's token: cases then have leagues of their own.
    pub admin: Option<String>,
    /// The league to join where none can be founded; the manager chooses if there is none.
    pub league: Option<String>,
    /// What referees show where they need it.
    pub join_key: Option<String>,
    /// What a player shows where it needs one. It works once.
    pub join_code: Option<String>,
}

/// A league in which a case does something.
#[derive(Debug, Clone)]
pub(super) struct League {
    /// Its name; `None` if the manager has only one.
    pub(super) id: Option<String>,
    pub(super) join_key: Option<String>,
    pub(super) join_code: Option<String>,
    /// Whether nobody else is in it.
    pub(super) is_own: bool,
}

/// A league as a case wants it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    /// It starts with that many players; by order if there is none.
    pub(super) starts_with: Option<u32>,
    /// How many players it takes.
    pub(super) players_max: u32,
}

impl Plan {
    /// A league that waits for players and does not start.
    pub(super) const LOBBY: Self = Self { starts_with: None, players_max: 1_000 };

    /// A league that starts with the last of `players`.
    pub(super) const fn of(players: u32) -> Self {
        Self { starts_with: Some(players), players_max: players }
    }

    /// What the administrator asks for: rounds follow each other at once, and what was not heard is
    /// said again soon.
    fn wish(self) -> Value {
        let start =
            self.starts_with.map_or_else(|| json!("manual"), |players| json!({"players": players}));
        json!({
            "league_id": format!("check-{}", &random_hex()[..12]),
            "start": start,
            "players_max": self.players_max,
            "set": {"announcement_lead": "0s", "network_backoff": "fixed 300ms"},
        })
    }
}

/// How often a manager that is busy is asked to found a league.
const FOUND_TRIES: u32 = 20;
/// Pause between two tries.
const FOUND_PAUSE: Duration = Duration::from_millis(50);

/// Why a case that needs a league of its own is not tried.
const NO_LEAGUE: &str = "it needs a league of its own, and the checker may not found one: show the \
     administrator's token (LEAGUE_ADMIN_TOKEN, or --data DIR)";

impl Visit {
    /// A league that is open and in which nothing happens: one of its own if there may be one.
    pub(super) async fn lobby(&self) -> Result<League, Halt> {
        if self.door.admin.is_some() {
            return self.found(Plan::LOBBY).await;
        }
        let Door { league, join_key, join_code, .. } = self.door.clone();
        Ok(League { id: league, join_key, join_code, is_own: false })
    }

    /// A league of its own.
    pub(super) async fn found(&self, plan: Plan) -> Result<League, Halt> {
        let Some(token) = &self.door.admin else { return Err(Halt::skip(NO_LEAGUE)) };
        let bearer = format!("Authorization: Bearer {token}");
        let body = plan.wish().to_string();
        let mut tries = 0;
        let got = loop {
            let got = self.post_to("/api/v1/admin/leagues", body.as_bytes(), &[&bearer]).await;
            let got =
                got.map_err(|trouble| Halt::Ours(format!("no league was founded: {trouble}")))?;
            tries += 1;
            if got.status != 503 || tries == FOUND_TRIES {
                break got;
            }
            tokio::time::sleep(FOUND_PAUSE).await;
        };
        let json: Value = serde_json::from_slice(&got.body).unwrap_or(Value::Null);
        let text = |name: &str| json[name].as_str().map(str::to_string);
        let Some(id) = text("league_id").filter(|_| got.status == 200 || got.status == 201) else {
            let why = text("error").unwrap_or_else(|| format!("HTTP status {}", got.status));
            return Err(Halt::skip(format!("the manager founds no league for it: {why}")));
        };
        Ok(League { id: Some(id), join_key: text("join_key"), join_code: None, is_own: true })
    }
}
