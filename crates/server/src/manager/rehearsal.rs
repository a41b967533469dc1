//! Practice for registered players until their league starts: `POST /api/v1/practice` and the tool
//! `practice`. Nothing of it enters the books.

use std::net::SocketAddr;
use std::time::Duration;

use league_agent::ambient::{self, OsDice};
use league_agent::desk::refusal;
use league_agent::endpoint::{Answer, Posted};
use league_agent::player::Cast;
use league_core::dice::Dice;
use league_core::id::{AgentId, LeagueId, PlayerId};
use league_core::manager::Phase;
use league_core::policy::Policy;
use league_core::roster::AgentState;
use league_wire::message::ErrorReport;
use league_wire::{AuthToken, Code, Dialect};
use serde_json::{Value, json};

use super::gate::{Visitor, origin};
use super::news::dialect;
use super::{Manager, Stub, relay};
use crate::practice::{NoPractice, Pupil, Terms};

/// Where players ask for it.
const PLACE: &str = "/api/v1/practice";

/// Who wants to practise, and how.
#[derive(Debug, Clone)]
pub(super) struct Wish {
    pub(super) token: AuthToken,
    /// The league; any in which the token is somebody's if there is none.
    pub(super) league: Option<LeagueId>,
    /// The player, where its token does not name it.
    pub(super) player: Option<PlayerId>,
    /// The opponent; a coin tosser if nothing is said.
    pub(super) against: Option<String>,
}

/// Why there is no practice.
pub(super) enum No {
    /// The caller asks too often.
    TooOften(Duration),
    /// Something else, with the HTTP status that fits.
    Refused(u16, Box<ErrorReport>),
}

impl No {
    fn refused(status: u16, code: Code, text: &str, advice: &str) -> Self {
        let mut report = refusal(code, text);
        report.action_required = advice.into();
        Self::Refused(status, report)
    }
}

/// Answers `POST /api/v1/practice`; `None` if that is not the place.
pub(super) async fn answer(manager: &Manager, posted: &Posted<'_>) -> Option<Answer> {
    if posted.path != PLACE {
        return None;
    }
    let outcome = match wish(posted) {
        Ok(wish) => practise(manager, wish, posted.peer).await,
        Err(no) => Err(no),
    };
    Some(match outcome {
        Ok(document) => Answer::json(format!("{document}\n")),
        Err(No::TooOften(wait)) => Answer::too_many(wait),
        Err(No::Refused(status, report)) => {
            let text = format!("{}; {}", report.description, report.action_required);
            Answer::json_with_status(status, format!("{}\n", json!({"error": text})))
        }
    })
}

fn wish(posted: &Posted<'_>) -> Result<Wish, No> {
    let wrong = |text: &str| {
        let advice = r#"post {} or {"against": "even"}"#;
        No::refused(400, Code::E003, text, advice)
    };
    let token = posted.bearer.ok_or_else(|| {
        let advice = "show the player's token: Authorization: Bearer …";
        No::refused(401, Code::E011, "no token was shown", advice)
    })?;
    let document: Value =
        serde_json::from_slice(&posted.body).map_err(|_| wrong("the body is not JSON"))?;
    let fields = document.as_object().ok_or_else(|| wrong("the body is not an object"))?;
    const KNOWN: [&str; 3] = ["against", "league_id", "player_id"];
    if let Some(stray) = fields.keys().find(|name| !KNOWN.contains(&name.as_str())) {
        return Err(wrong(&format!("`{stray}` is not known here")));
    }
    let text = |name: &str| match document.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str())),
        Some(_) => Err(wrong(&format!("`{name}` is not a text"))),
    };
    let league = text("league_id")?.map(str::parse).transpose();
    let player = text("player_id")?.map(str::parse).transpose();
    Ok(Wish {
        token: AuthToken::new(token),
        league: league.map_err(|_| wrong("`league_id` is not the id of a league"))?,
        player: player.map_err(|_| wrong("`player_id` is not the id of a player"))?,
        against: text("against")?.map(Into::into),
    })
}

/// Plays a match with whoever shows its token, and tells what became of it.
pub(super) async fn practise(manager: &Manager, wish: Wish, peer: SocketAddr) -> Result<Value, No> {
    let Some(coach) = manager.coach() else {
        let advice = "use `league spar` on your own machine";
        return Err(No::refused(404, Code::E014, "this manager offers no practice", advice));
    };
    let known = Known::find(manager, &wish);
    let visitor = match &known {
        Some(known) => Visitor::Agent(known.key),
        None => Visitor::Stranger(origin(peer)),
    };
    manager.gate().admit(ambient::now(), &[visitor]).map_err(No::TooOften)?;
    let Known { stub, key, player } = known.ok_or_else(|| {
        let advice = "register first; if your token does not name you, say your player_id";
        No::refused(403, Code::E012, "this is no token of a player of a league here", advice)
    })?;
    let against = against(wish.against.as_deref())?;
    let (pupil, terms) = lesson(manager, &stub, player)?;
    let is_open = || is_registering(&stub);
    let practised = coach.practise((key, pupil), terms, against, is_open).await;
    let practised = practised.map_err(|no| refused(&no))?;
    Ok(practised.document(true))
}

/// A player that showed its token.
struct Known {
    stub: Stub,
    key: [u8; 32],
    player: PlayerId,
}

impl Known {
    fn find(manager: &Manager, wish: &Wish) -> Option<Self> {
        let shown = wish.token.reveal();
        let named = shown.strip_prefix("tok_player_").and_then(|rest| rest.split('_').next());
        let player = wish.player.or_else(|| named.and_then(|named| named.parse().ok()))?;
        let all = manager.leagues().all().into_iter();
        let mut all = all.filter(|(id, _)| wish.league.as_ref().is_none_or(|named| named == id));
        all.find_map(|(_, stub)| {
            let key = stub.published().league.player(player)?.nonce;
            let token = manager.token(&stub, AgentId::Player(player), &key);
            token.matches(shown).then_some(Self { stub, key, player })
        })
    }
}

fn is_registering(stub: &Stub) -> bool {
    matches!(stub.published().league.phase(), Phase::Registering)
}

fn against(name: Option<&str>) -> Result<Cast, No> {
    let name = name.unwrap_or("random").trim();
    Cast::find(name).ok_or_else(|| {
        let names: Vec<_> = Cast::all().map(Cast::name).collect();
        let advice = format!("against is one of {}", names.join(", "));
        No::refused(400, Code::E003, &format!("nobody is called `{name}` here"), &advice)
    })
}

/// The player as its referee will know it, and what is played.
fn lesson(manager: &Manager, stub: &Stub, id: PlayerId) -> Result<(Pupil, Terms), No> {
    let published = stub.published();
    let league = &published.league;
    let refused = |text: &str, advice: &str| Err(No::refused(409, Code::G005, text, advice));
    if !matches!(league.phase(), Phase::Registering) {
        return refused("the league has begun: practice is over", "play your matches");
    }
    let agent = AgentId::Player(id);
    let state = league.lifecycle(agent).map(|lifecycle| *lifecycle.state());
    let player = league.player(id).filter(|_| state == Some(AgentState::Registered));
    let Some(player) = player else {
        return refused("only players that are registered and not suspended practise", "come back");
    };
    if relay::is_pull(&player.profile.endpoint) {
        let text = "practice calls a player at its address, and one that pulls has none";
        return refused(text, "use `league spar` with an address of your own");
    }
    let token =
        manager.keys().token(league.policy().token_form(), league.id(), agent, &player.nonce);
    let pupil = Pupil {
        id,
        league: league.id().clone(),
        address: player.profile.endpoint.to_string(),
        dialect: league.dialect(agent).map_or(Dialect::Flat, |name| dialect(name)),
        token: Some(token),
    };
    let policy = Policy::clone(league.policy());
    let terms = Terms {
        hasty: policy.clone(),
        policy,
        game: league.charter().game.clone(),
        lenient: manager.is_lenient(),
        seed: OsDice.below(u64::MAX),
    };
    Ok((pupil, terms))
}

fn refused(no: &NoPractice) -> No {
    let text = no.to_string();
    match no {
        NoPractice::TooOften(wait) => No::TooOften(*wait),
        NoPractice::AtIt => No::refused(409, Code::E033, &text, "wait until it is over"),
        NoPractice::Full => No::refused(503, Code::E033, &text, "ask again in a few seconds"),
        NoPractice::Begun => No::refused(409, Code::G005, &text, "play your matches"),
        NoPractice::Ours(_) => {
            let advice = "ask again; it is no fault of yours";
            No::refused(503, Code::E033, &text, advice)
        }
    }
}
