//! How the checker gets into a manager: as the administrator, who may found leagues, or through the
//! league that is open.

use std::sync::Arc;
use std::time::Duration;

use league_agent::ambient::Mark;
use league_agent::exchange::random_hex;
use serde_json::{Value, json};

use super::fleet::Own;
use super::visit::Visit;
use crate::limits::{PLAYERS_WAITED_FOR, REGISTER_TIME};
use crate::verdict::Halt;

/// What lets the checker in.
#[derive(Debug, Clone, Default)]
pub struct Door {
    /// The administrator's token: cases then have leagues of their own.
    pub admin: Option<String>,
    /// The command that starts another manager, for cases that need a league of their own.
    pub start: Option<String>,
    /// The league to join where none can be founded; the manager chooses if there is none.
    pub league: Option<String>,
    /// What referees show where they need it.
    pub join_key: Option<String>,
    /// What a player shows where it needs one. It works once.
    pub join_code: Option<String>,
}

/// A league in which a case does something.
#[derive(Debug, Clone)]
pub(crate) struct League {
    /// Its name; `None` if the manager has only one.
    pub(super) id: Option<String>,
    pub(super) join_key: Option<String>,
    pub(super) join_code: Option<String>,
    /// Whether nobody else is in it.
    pub(super) is_own: bool,
    /// The manager that was started for it, if one was.
    own: Option<Arc<Own>>,
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
    pub(super) const LOBBY: Self = Self { starts_with: None, players_max: PLAYERS_WAITED_FOR };

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

/// Pause before a manager that is busy is asked again.
const FOUND_PAUSE: Duration = Duration::from_millis(50);

/// Why a case that needs a league of its own is not tried.
const NO_LEAGUE: &str = "it needs a league of its own, and the checker may not found one: show the \
     administrator's token (LEAGUE_ADMIN_TOKEN, or --data DIR), or have the checker start managers \
     (--start 'COMMAND')";

impl Visit {
    /// A league that is open and in which nothing happens. Cases that disturb nobody share it.
    pub(super) async fn lobby(&self) -> Result<League, Halt> {
        let lobby = self.subject.lobby.get_or_try_init(|| self.own_lobby()).await?;
        Ok(League { is_own: false, ..lobby.clone() })
    }

    /// The same for a case that wants to be alone, where it may.
    pub(super) async fn own_lobby(&self) -> Result<League, Halt> {
        if self.door().admin.is_some() {
            return self.found(Plan::LOBBY).await;
        }
        let Door { league, join_key, join_code, .. } = self.door().clone();
        Ok(League { id: league, join_key, join_code, is_own: false, own: None })
    }

    /// A league of its own.
    pub(super) async fn found(&self, plan: Plan) -> Result<League, Halt> {
        let Some(token) = &self.door().admin else { return self.start(plan).await };
        let bearer = format!("Authorization: Bearer {token}");
        let body = plan.wish().to_string();
        let asked = Mark::set();
        let got = loop {
            let got = self.post_to("/api/v1/admin/leagues", body.as_bytes(), &[&bearer]).await;
            let got =
                got.map_err(|trouble| Halt::Ours(format!("no league was founded: {trouble}")))?;
            if got.status != 503 || asked.elapsed() > REGISTER_TIME {
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
        let join_key = text("join_key");
        Ok(League { id: Some(id), join_key, join_code: None, is_own: true, own: None })
    }

    /// A league of its own at a manager that is started for it.
    async fn start(&self, plan: Plan) -> Result<League, Halt> {
        let Some(command) = &self.door().start else { return Err(Halt::skip(NO_LEAGUE)) };
        let players = plan.starts_with.unwrap_or(plan.players_max);
        let own = Own::start(command, players, self.speech.0, &self.subject.leaving).await;
        let own =
            own.map_err(|why| Halt::skip(format!("no manager could be started for it: {why}")))?;
        let Door { join_key, join_code, .. } = self.door().clone();
        Ok(League { id: None, join_key, join_code, is_own: true, own: Some(Arc::new(own)) })
    }

    /// The visit to the manager that has `league`.
    pub(super) fn within(&self, league: &League) -> Self {
        let address = league.own.as_ref().map_or(&self.address, |own| &own.address);
        Self { address: address.clone(), ..self.clone() }
    }
}
