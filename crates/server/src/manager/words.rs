//! How an agent stands, in the words of whoever runs the league.

use league_core::id::AgentId;
use league_core::manager::{League, Referee, RefereeAdmission};
use league_core::roster::{AgentState, Reason};
use league_wire::iso;

/// Why an agent's state changed.
pub(super) fn cause(reason: Reason) -> String {
    match reason {
        Reason::ConnectionErrors(1) => {
            "a call that could not reach it or brought no usable answer".into()
        }
        Reason::ConnectionErrors(count) => {
            format!("{count} calls that could not reach it or brought no usable answer")
        }
        Reason::Reinstated => "the administrator took it back".into(),
        Reason::Registered
        | Reason::RegistrationFailed
        | Reason::LeagueStarted
        | Reason::LeagueEnded
        | Reason::Timeouts(_)
        | Reason::InvalidMoves(_)
        | Reason::Failures(_)
        | Reason::Recovered
        | Reason::RecoveryFailed
        | Reason::Banned
        | Reason::CriticalError => reason.to_string(),
    }
}

/// Whether a referee waits for the administrator's approval.
pub(super) fn waits_for_approval(league: &League, agent: AgentId) -> bool {
    let AgentId::Referee(id) = agent else { return false };
    let needs_one = league.admission().referees == RefereeAdmission::KeyOrApproval;
    let referee = league.referee(id);
    let is_out = league.lifecycle(agent).is_some_and(|life| match life.state() {
        AgentState::Shutdown { .. } => true,
        AgentState::Init
        | AgentState::Registered
        | AgentState::Active
        | AgentState::Suspended { .. } => false,
    });
    let is_known = |referee: &Referee| referee.operated || referee.approved;
    needs_one && !is_out && referee.is_some_and(|referee| !is_known(referee))
}

/// What is out of the ordinary with an agent, if anything is.
pub(super) fn remark(league: &League, agent: AgentId) -> Option<String> {
    let standing = match league.lifecycle(agent)?.state() {
        AgentState::Suspended { until, cause: why, .. } => {
            Some(format!("until {}: {}", iso::format(*until), cause(*why)))
        }
        AgentState::Shutdown { may_return: true, .. } => {
            Some("may register once more with its token".into())
        }
        AgentState::Shutdown { cause: why, .. } => Some(match league.ban_of(agent) {
            Some(_) => "banned".into(),
            None => cause(*why),
        }),
        AgentState::Init | AgentState::Registered | AgentState::Active => {
            let waits = waits_for_approval(league, agent);
            waits.then(|| format!("no matches before `league approve {agent}`"))
        }
    };
    let told: Vec<String> = standing.into_iter().chain(shape_found(league, agent)).collect();
    (!told.is_empty()).then(|| told.join("; "))
}

/// How an agent is spoken to, if it is not as it registered.
fn shape_found(league: &League, agent: AgentId) -> Option<String> {
    let (profile, spoken) = match agent {
        AgentId::Player(id) => league.player(id).map(|it| (&it.profile, &it.spoken))?,
        AgentId::Referee(id) => league.referee(id).map(|it| (&it.profile, &it.spoken))?,
    };
    let spoken = spoken.as_ref()?;
    Some(format!("answers to {spoken}, registered with {}", profile.dialect))
}

/// What only the administrator should know of an agent's place.
pub(super) fn remark_on_place(league: &League, agent: AgentId) -> Option<&'static str> {
    let hold = league.hold(agent)?;
    if hold.released {
        return Some("its place is let go, nobody has taken it yet");
    }
    hold.awaited.then_some("has a new token and has not come back with it")
}
