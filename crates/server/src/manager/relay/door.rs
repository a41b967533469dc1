//! The player's side: `GET /api/v1/turns` waits for what came, `POST /api/v1/turns/<turn>` answers
//! it. Both take the player's token and nothing else.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use league_agent::ambient;
use league_agent::endpoint::{Answer, Asked, Posted};
use league_agent::limits::ANSWER_BYTES_MAX;
use league_core::id::{AgentId, LeagueId, PlayerId};
use league_core::roster::{AgentState, Reason};
use league_wire::Fragment;
use league_wire::turns::{Turn, Turns};
use serde_json::json;

use super::super::applicant::nonce_of;
use super::super::gate::{Visitor, origin};
use super::{From, Given, Mailbox, Polled, Settled, calls};
use crate::limits::{POLL_WAIT_MAX, POLL_WAIT_USUAL};
use crate::manager::Manager;

/// Where turns are fetched and answered.
const TURNS: &str = "/api/v1/turns";

/// A pull player that has shown its token.
#[derive(Debug, Clone)]
pub struct Puller {
    /// Where it plays.
    pub league: LeagueId,
    /// Who it is.
    pub player: PlayerId,
    mailbox: Arc<Mailbox>,
}

/// Why nobody opens a mailbox.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotOpened {
    /// No token was shown.
    #[error("expected the player's token: Authorization: Bearer …")]
    NoToken,
    /// The token is nobody's who pulls.
    #[error(
        "this is no token of a player that pulls here; register with `pull: true`, or again with \
         the token if the league is not over"
    )]
    Unknown,
    /// The player is out.
    #[error("{0} is shut down ({1}): its token no longer works")]
    Out(PlayerId, Reason),
    /// Somebody asks too often.
    #[error("too many requests; come back in {0:?}")]
    TooOften(Duration),
    /// A league has no writer just now.
    #[error("the manager cannot open its mailboxes just now; come back in a second")]
    NotNow,
}

impl Puller {
    /// Waits for turns after `after`, at most `wait`; see [`Mailbox::next`].
    pub async fn next(&self, after: Option<u64>, wait: Duration) -> Polled {
        self.mailbox.next(after, wait.min(POLL_WAIT_MAX)).await
    }

    pub(super) fn mailbox(&self) -> &Mailbox {
        &self.mailbox
    }

    /// Answers a turn with the JSON-RPC response in `body`. Doing it twice does no harm.
    pub fn answer(&self, turn: u64, body: Bytes) -> Settled {
        self.mailbox.answer(turn, body)
    }
}

impl Manager {
    /// The pull player whose token is `shown` by somebody at `peer`. Counts as a request, and as
    /// a sign of life.
    ///
    /// # Errors
    /// If it is nobody's, or the player may not play any more.
    pub fn puller(&self, shown: &str, peer: SocketAddr) -> Result<Puller, NotOpened> {
        let all = self.leagues().all();
        let owner = all.iter().find_map(|(_, stub)| {
            let (player, mailbox) = stub.mailboxes().of_token(shown)?;
            Some((stub, player, mailbox))
        });
        let Some((stub, player, mailbox)) = owner else {
            let admitted = self.gate().admit(ambient::now(), &[Visitor::Stranger(origin(peer))]);
            admitted.map_err(NotOpened::TooOften)?;
            let is_shut =
                all.iter().any(|(_, stub)| !(stub.is_open() && stub.mailboxes().are_set_up()));
            return Err(if is_shut { NotOpened::NotNow } else { NotOpened::Unknown });
        };
        let agent = AgentId::Player(player);
        let published = stub.published();
        let league = published.league.id().clone();
        let nonce = nonce_of(&published.league, agent).ok_or(NotOpened::Unknown)?;
        let state = published.league.lifecycle(agent).map(|life| *life.state());
        drop(published);
        self.gate().admit(ambient::now(), &[Visitor::Agent(nonce)]).map_err(NotOpened::TooOften)?;
        if let Some(AgentState::Shutdown { cause, .. }) = state
            && cause != Reason::LeagueEnded
        {
            return Err(NotOpened::Out(player, cause));
        }
        self.saw(nonce);
        stub.contacts().reached(&league, agent);
        Ok(Puller { league, player, mailbox })
    }

    fn opened(&self, shown: Option<&str>, peer: SocketAddr) -> Result<Puller, NotOpened> {
        self.puller(shown.ok_or(NotOpened::NoToken)?, peer)
    }
}

/// Answers a `GET` of turns; `None` if it is of something else.
pub(in crate::manager) async fn fetch(manager: &Manager, asked: Asked<'_>) -> Option<Answer> {
    if asked.path != TURNS {
        return None;
    }
    let puller = match manager.opened(asked.bearer, asked.peer) {
        Ok(puller) => puller,
        Err(no) => return Some(not_opened(&no)),
    };
    let Some((after, wait)) = terms(asked.query) else {
        let text = format!(
            "expected ?wait=SECONDS (at most {}) and ?after=TURN, or nothing",
            POLL_WAIT_MAX.as_secs()
        );
        return Some(no(400, &text));
    };
    if asked.is_head {
        return Some(Answer::json(document(&puller, after, vec![])));
    }
    Some(match puller.next(after, wait).await {
        Polled::Turns(given) => Answer::json(document(&puller, after, given)),
        Polled::TakenOver => {
            no(409, "another poll with this token has begun; one of you is enough")
        }
        Polled::Closed => not_opened(&NotOpened::NotNow),
    })
}

/// Answers a `POST` to a player's endpoint at the manager, or of an answer; `None` if it is
/// something else.
pub(in crate::manager) async fn post(manager: &Manager, posted: Posted<'_>) -> Option<Answer> {
    let Posted { path, bearer, body, peer } = posted;
    if let Some(place) = path.strip_prefix("/relay/") {
        let place = place.strip_suffix('/').unwrap_or(place);
        let player = place.strip_suffix("/mcp")?.parse().ok()?;
        return Some(calls::answer(manager, player, body, peer).await);
    }
    let turn = path.strip_prefix(TURNS)?.strip_prefix('/')?;
    let puller = match manager.opened(bearer, peer) {
        Ok(puller) => puller,
        Err(no) => return Some(not_opened(&no)),
    };
    Some(answer(&puller, turn, body))
}

fn answer(puller: &Puller, turn: &str, body: Bytes) -> Answer {
    if body.len() > ANSWER_BYTES_MAX {
        return no(413, &format!("an answer has at most {ANSWER_BYTES_MAX} bytes"));
    }
    let Ok(turn) = turn.parse::<u64>() else {
        return no(404, "expected the number of a turn at the end of the path");
    };
    let document = match puller.answer(turn, body) {
        Settled::Counted => json!({"turn": turn, "counted": true}),
        Settled::Over => json!({
            "turn": turn, "counted": false,
            "note": "nobody waits for it: it was answered before, its time has passed, or it \
                     needed no answer",
        }),
        Settled::Unknown => {
            return no(404, "there is no such turn in your mailbox, and was none lately");
        }
    };
    Answer::json(format!("{document}\n"))
}

/// After which turn, and how long to wait at most.
fn terms(query: &str) -> Option<(Option<u64>, Duration)> {
    let (mut after, mut wait) = (None, POLL_WAIT_USUAL);
    for part in query.split('&').filter(|part| !part.is_empty()) {
        match part.split_once('=')? {
            ("after", turn) => after = Some(turn.parse().ok()?),
            ("wait", seconds) => wait = Duration::from_secs(seconds.parse().ok()?),
            _ => return None,
        }
    }
    (wait <= POLL_WAIT_MAX).then_some((after, wait))
}

/// The turns as they are fetched. What was called stands in it as it came.
fn document(puller: &Puller, after: Option<u64>, given: Vec<Given>) -> Vec<u8> {
    let cursor = given.last().map(|last| last.turn).or(after);
    let (league_id, player_id) = (puller.league.to_string(), puller.player.to_string());
    let turns = given.into_iter().filter_map(turn).collect();
    Turns { league_id, player_id, cursor, turns }.write()
}

/// A turn as it is fetched. Whoever put it there has made sure that it is JSON.
fn turn(given: Given) -> Option<Turn> {
    let from = match given.from {
        From::Manager => "manager".to_string(),
        From::Referee(referee) => referee.to_string(),
        From::Unproved => "unproved".to_string(),
    };
    let call = Fragment::parse(std::str::from_utf8(&given.body).ok()?)?;
    let Given { turn, since, needs_answer, .. } = given;
    Some(Turn { turn, from, since, needs_answer, call })
}

fn not_opened(why: &NotOpened) -> Answer {
    match why {
        NotOpened::NoToken => no(401, &why.to_string()),
        NotOpened::Unknown | NotOpened::Out(..) => no(403, &why.to_string()),
        NotOpened::TooOften(wait) => Answer::too_many(*wait),
        NotOpened::NotNow => no(503, &why.to_string()),
    }
}

fn no(status: u16, text: &str) -> Answer {
    Answer::json_with_status(status, format!("{}\n", json!({"error": text})))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_poll_says_how_long_and_after_what() {
        assert_eq!(terms(""), Some((None, POLL_WAIT_USUAL)));
        assert_eq!(terms("wait=0"), Some((None, Duration::ZERO)));
        assert_eq!(terms("after=7&wait=25"), Some((Some(7), Duration::from_secs(25))));
        for bad in ["wait=3600", "wait=-1", "after=x", "cursor=7", "wait", "token=tok_1"] {
            assert_eq!(terms(bad), None, "{bad}");
        }
    }
}
