//! What does not go on by itself, in words: what is the matter, and what the administrator can do.

use league_core::id::{AgentId, MatchId, PlayerId};
use league_core::manager::{Alert, League, Phase, StuckCause};
use league_core::roster::{AgentState, Lifecycle};
use league_wire::iso;
use serde_json::{Value, json};

use super::untaken::Balk;
use super::words;
use crate::limits::LIST_WHOLE_MAX;

/// What is the matter with a league.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alarm {
    /// One word for programs.
    pub code: &'static str,
    /// What is the matter.
    pub text: String,
    /// What the administrator can do.
    pub remedy: String,
}

impl Alarm {
    /// `alert` of `league` in words.
    pub(super) fn of(league: &League, alert: Alert) -> Self {
        match alert {
            Alert::NoReferee => no_referee(league),
            Alert::StartOverdue => start_overdue(league),
            Alert::PlayerSuspended(player) => suspended(league, player),
            Alert::PlayerAway(player) => away(league, player),
            Alert::MatchStuck(match_id) => stuck(league, match_id),
        }
    }

    /// A referee that does not take its matches, and there is no other.
    pub(super) fn of_balk(balk: &Balk) -> Self {
        let Balk { referee, reason, .. } = balk;
        let since = iso::format(balk.since);
        let names: Vec<_> =
            balk.matches.iter().take(LIST_WHOLE_MAX).map(MatchId::to_string).collect();
        let waiting = match &names[..] {
            [only] => format!("match {only} waits"),
            _ => format!("{} matches wait ({})", balk.matches.len(), names.join(", ")),
        };
        let (code, what, how) = match balk.refused {
            true => ("referee_refuses", "refuses", "without what it objects to"),
            false => ("referee_gone", "is not reached", "with its --data directory"),
        };
        let text =
            format!("{waiting} for {referee}, which {what} since {since}; the last time: {reason}");
        let remedy = format!(
            "start {referee} again {how}, or another one: `league referee --manager URL --join-key \
             FILE`; it then goes on by itself"
        );
        Self { code, text, remedy }
    }

    /// A league whose books nobody writes.
    pub(super) fn of_closed_books() -> Self {
        let text = "the books cannot be written: nothing is recorded until they can";
        let remedy = "the log of `league serve` says why; make room on the disk, or move the \
                      very same database file back, and it goes on by itself; a copy needs a restart";
        Self { code: "books_closed", text: text.into(), remedy: remedy.into() }
    }

    pub(super) fn document(&self) -> Value {
        json!({"alert": self.code, "text": self.text, "remedy": self.remedy})
    }
}

fn stuck(league: &League, match_id: MatchId) -> Alarm {
    let stuck = league.open_match(match_id).and_then(|open| open.stuck.as_ref());
    let (why, or) = match stuck.map(|stuck| stuck.cause) {
        Some(StuckCause::Annulments) => ("it was annulled as often as allowed", ""),
        Some(StuckCause::Attempts) => {
            ("no attempt at it came to an end", "; another referee that joins takes it")
        }
        Some(StuckCause::NoReferee) => return orphan(league, match_id.to_string()),
        None => ("it does not go on by itself", ""),
    };
    let last = stuck.map_or(String::new(), |stuck| format!("; the last time: {}", stuck.reason));
    let until = league.open_round().map(|round| iso::format(round.deadline));
    let until = until.unwrap_or_default();
    let text = format!("match {match_id} waits for a decision: {why}{last}");
    let remedy = format!(
        "`league rematch {match_id} --reason …` has it played again, `league annul {match_id} \
         --reason …` calls it off{or}; some time after {until} it is called off by itself"
    );
    Alarm { code: "match_stuck", text, remedy }
}

fn suspended(league: &League, player: PlayerId) -> Alarm {
    let agent = AgentId::Player(player);
    let current = league.player(player).and_then(|player| player.current);
    let waiting = current.map_or_else(|| "a match".into(), |id| format!("match {id}"));
    let (until, why) = match league.lifecycle(agent).map(Lifecycle::state) {
        Some(AgentState::Suspended { until, cause, .. }) => {
            (iso::format(*until), words::cause(*cause))
        }
        Some(
            AgentState::Init
            | AgentState::Registered
            | AgentState::Active
            | AgentState::Shutdown { .. },
        )
        | None => (String::new(), String::new()),
    };
    let text = format!("{waiting} waits for {player}, which is suspended: {why}");
    let remedy = format!(
        "{player} plays on if it answers a PING or registers with its token before {until}, and \
         loses the match otherwise; `league reinstate {player} --reason …` lets it play on now, \
         `league ban {player} --reason …` ends the wait"
    );
    Alarm { code: "player_suspended", text, remedy }
}

fn away(league: &League, player: PlayerId) -> Alarm {
    let current = league.player(player).and_then(|player| player.current);
    let waiting = current.map_or_else(|| "a match".into(), |id| format!("match {id}"));
    let until = league.awaited_players().find(|(id, _)| *id == player);
    let until = until.map_or_else(String::new, |(_, until)| iso::format(until));
    let (paused, until) = match league.is_paused() {
        true => ("; while the league is paused its time does not run", "its time is over".into()),
        false => ("", until),
    };
    let text = format!(
        "{waiting} waits for {player}, whose token was replaced and who has not come back with the \
         new one"
    );
    let remedy = format!(
        "give the new token to whoever runs {player}: it plays on if it registers with it before \
         {until}, and loses the match otherwise{paused}; `league ban {player} --reason …` ends the \
         wait"
    );
    Alarm { code: "player_away", text, remedy }
}

fn no_referee(league: &League) -> Alarm {
    let text = match league.phase() {
        Phase::Registering => "no referee: the players are there, the league waits for one",
        Phase::BetweenRounds { .. } | Phase::Playing(_) | Phase::Completed { .. } => {
            "no referee: the next round waits for one"
        }
    };
    Alarm { code: "no_referee", text: text.into(), remedy: find_a_referee(league) }
}

fn start_overdue(league: &League) -> Alarm {
    let referees = league.referees().iter().filter(|referee| league.may_officiate(referee)).count();
    let (players, lacks_referee) = (league.players().len(), referees == 0);
    let text = format!(
        "the time to start has passed: the league has {players} of at least 2 players, and {}",
        if lacks_referee { "no referee" } else { "a referee" }
    );
    let players = "let players register: `league player --manager URL`";
    let remedy = match (league.players().len() < 2, lacks_referee) {
        (true, true) => format!("{players}; {}", find_a_referee(league)),
        (true, false) => players.into(),
        (false, _) => find_a_referee(league),
    };
    let remedy = format!("{remedy}; it starts as soon as they are there");
    Alarm { code: "start_overdue", text, remedy }
}

fn orphan(league: &League, match_id: String) -> Alarm {
    let text = format!("no referee: match {match_id} waits for one");
    Alarm { code: "no_referee", text, remedy: find_a_referee(league) }
}

fn find_a_referee(league: &League) -> String {
    let waiting = |referee: &&league_core::manager::Referee| {
        words::waits_for_approval(league, AgentId::Referee(referee.id))
    };
    if let Some(away) = league.referees().iter().find(|referee| referee.hold.awaited) {
        return format!("start {} again with its new token", away.id);
    }
    let start = "start one: `league referee --manager URL --join-key FILE`";
    match league.referees().iter().find(waiting) {
        Some(referee) => format!("`league approve {} --reason …`, or {start}", referee.id),
        None => start.into(),
    }
}
