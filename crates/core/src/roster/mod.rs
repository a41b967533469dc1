//! The lifecycle of one agent: registered, active, suspended, shut down, with exactly the
//! documented transitions and the counters that lead to them.
//!
//! Only what proved itself to come from the agent, and only invitation and choice calls, may be
//! handed in as an offence; that judgement is the caller's.

use std::collections::VecDeque;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::policy::Policy;
use crate::time::{Deadline, Timestamp};

/// Where an agent stands, without the data of that state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum StateKind {
    /// Known, not registered.
    Init,
    /// Registered, the league has not started.
    Registered,
    /// Plays or leads matches.
    Active,
    /// Plays nothing until it recovers.
    Suspended,
    /// Gone from this league.
    Shutdown,
}

impl StateKind {
    /// Every state, in the order of a life.
    pub const ALL: [Self; 5] =
        [Self::Init, Self::Registered, Self::Active, Self::Suspended, Self::Shutdown];
}

impl fmt::Display for StateKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Init => "INIT",
            Self::Registered => "REGISTERED",
            Self::Active => "ACTIVE",
            Self::Suspended => "SUSPENDED",
            Self::Shutdown => "SHUTDOWN",
        })
    }
}

/// Where an agent stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum AgentState {
    /// Known, not registered.
    Init,
    /// Registered, the league has not started.
    Registered,
    /// Plays or leads matches.
    Active,
    /// Plays nothing until it recovers.
    Suspended {
        /// When the suspension began.
        since: Timestamp,
        /// When the time to recover ends.
        until: Timestamp,
        /// What led to it.
        cause: Reason,
        /// Whether the league has started, so that recovery leads to ACTIVE.
        started: bool,
    },
    /// Gone from this league.
    Shutdown {
        /// What led to it.
        cause: Reason,
        /// Whether the administrator allowed one new registration under the same id.
        may_return: bool,
    },
}

impl AgentState {
    /// The state without its data.
    pub const fn kind(&self) -> StateKind {
        match self {
            Self::Init => StateKind::Init,
            Self::Registered => StateKind::Registered,
            Self::Active => StateKind::Active,
            Self::Suspended { .. } => StateKind::Suspended,
            Self::Shutdown { .. } => StateKind::Shutdown,
        }
    }
}

/// What happened to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Trigger {
    /// Its registration was accepted.
    Register,
    /// Its registration ended in an error.
    FailToRegister,
    /// The league started.
    StartLeague,
    /// The league ended.
    EndLeague,
    /// It answered an invitation or a call for a move.
    Answer,
    /// It finally lost a step by silence.
    TimeOut,
    /// A call could not reach it, counted once per call.
    Disconnect,
    /// It sent an invalid move.
    MoveInvalidly,
    /// It lost a match technically.
    LoseTechnically,
    /// It answered a health check.
    PassHealthCheck,
    /// Time passed; perhaps its time to recover is over.
    PassDeadline,
    /// The administrator takes it back.
    Reinstate,
    /// The administrator bans it.
    Ban,
    /// Something happened after which it must not go on.
    FailCritically,
}

impl Trigger {
    /// Every trigger.
    pub const ALL: [Self; 14] = [
        Self::Register,
        Self::FailToRegister,
        Self::StartLeague,
        Self::EndLeague,
        Self::Answer,
        Self::TimeOut,
        Self::Disconnect,
        Self::MoveInvalidly,
        Self::LoseTechnically,
        Self::PassHealthCheck,
        Self::PassDeadline,
        Self::Reinstate,
        Self::Ban,
        Self::FailCritically,
    ];
}

/// Why an agent's state changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Reason {
    /// Its registration was accepted.
    Registered,
    /// Its registration ended in an error.
    RegistrationFailed,
    /// The league started.
    LeagueStarted,
    /// The league ended.
    LeagueEnded,
    /// So many steps in a row were lost for want of a usable answer in time.
    Timeouts(u32),
    /// So many calls within the window could not reach it, or brought no usable answer.
    ConnectionErrors(u32),
    /// So many invalid moves.
    InvalidMoves(u32),
    /// So many matches lost technically.
    Failures(u32),
    /// It answered a health check in time.
    Recovered,
    /// The administrator took it back.
    Reinstated,
    /// Its time to recover passed.
    RecoveryFailed,
    /// The administrator banned it.
    Banned,
    /// Something happened after which it must not go on.
    CriticalError,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Registered => f.write_str("registered"),
            Self::RegistrationFailed => f.write_str("the registration failed"),
            Self::LeagueStarted => f.write_str("the league started"),
            Self::LeagueEnded => f.write_str("the league ended"),
            Self::Timeouts(1) => f.write_str("a step without a usable answer in time"),
            Self::Timeouts(count) => {
                write!(f, "{count} steps in a row without a usable answer in time")
            }
            Self::ConnectionErrors(1) => {
                f.write_str("a call that could not reach you or brought no usable answer")
            }
            Self::ConnectionErrors(count) => {
                write!(f, "{count} calls that could not reach you or brought no usable answer")
            }
            Self::InvalidMoves(1) => f.write_str("an invalid move"),
            Self::InvalidMoves(count) => write!(f, "{count} invalid moves"),
            Self::Failures(1) => f.write_str("a match lost technically"),
            Self::Failures(count) => write!(f, "{count} matches lost technically"),
            Self::Recovered => f.write_str("a health check was answered"),
            Self::Reinstated => f.write_str("the administrator took you back"),
            Self::RecoveryFailed => f.write_str("no sign of life in the time to recover"),
            Self::Banned => f.write_str("banned by the administrator"),
            Self::CriticalError => f.write_str("a critical error"),
        }
    }
}

/// A change of state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transition {
    /// The state before.
    pub from: StateKind,
    /// The state after.
    pub to: StateKind,
    /// Why.
    pub reason: Reason,
}

/// What happened to an agent, and what it led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// When it happened.
    pub at: Timestamp,
    /// What happened.
    pub trigger: Trigger,
    /// The change of state, if there is one.
    pub transition: Option<Transition>,
}

/// A trigger that has no documented transition from this state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("nothing in the lifecycle leads from {from} by {trigger:?}")]
pub struct ForbiddenTransition {
    /// The state the agent is in.
    pub from: StateKind,
    /// What was asked.
    pub trigger: Trigger,
}

/// One agent's state and the counters that can change it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lifecycle {
    state: AgentState,
    timeouts: u32,
    connection_errors: VecDeque<Timestamp>,
    invalid_moves: u32,
    failures: u32,
}

impl Lifecycle {
    /// The beginning of every life.
    pub const fn new() -> Self {
        Self {
            state: AgentState::Init,
            timeouts: 0,
            connection_errors: VecDeque::new(),
            invalid_moves: 0,
            failures: 0,
        }
    }

    /// Where the agent stands.
    pub const fn state(&self) -> &AgentState {
        &self.state
    }

    /// Steps in a row that ended without a usable answer to any call.
    pub const fn timeouts(&self) -> u32 {
        self.timeouts
    }

    /// Invalid moves since the last recovery.
    pub const fn invalid_moves(&self) -> u32 {
        self.invalid_moves
    }

    /// Calls within the window before `now` that could not reach the agent.
    pub fn connection_errors(&self, now: Timestamp, policy: &Policy) -> u32 {
        self.connection_errors_at(now, policy)
    }

    /// Matches lost technically so far.
    pub const fn failures(&self) -> u32 {
        self.failures
    }

    /// A new life under the same id, if the agent is shut down and the administrator allowed it.
    /// Using it replaces this lifecycle, so that the permission works once.
    pub const fn begin_again(&self) -> Option<Self> {
        match self.state {
            AgentState::Shutdown { may_return: true, .. } => Some(Self::new()),
            AgentState::Shutdown { may_return: false, .. }
            | AgentState::Init
            | AgentState::Registered
            | AgentState::Active
            | AgentState::Suspended { .. } => None,
        }
    }

    /// What `trigger` leads to.
    ///
    /// # Errors
    /// If the trigger demands a transition that the documents do not have.
    pub fn decide(
        &self,
        now: Timestamp,
        trigger: Trigger,
        policy: &Policy,
    ) -> Result<Event, ForbiddenTransition> {
        let step = match trigger {
            Trigger::Register
            | Trigger::FailToRegister
            | Trigger::StartLeague
            | Trigger::EndLeague => self.progress(trigger)?,
            Trigger::Reinstate | Trigger::Ban | Trigger::FailCritically => self.order(trigger)?,
            Trigger::PassHealthCheck | Trigger::PassDeadline => self.recovery(now, trigger),
            Trigger::Answer => None,
            Trigger::TimeOut => {
                self.suspension(self.timeouts, policy.suspend_timeouts(), Reason::Timeouts)
            }
            Trigger::Disconnect => {
                let (recent, max) =
                    (self.connection_errors_at(now, policy), policy.suspend_connection_errors());
                self.suspension(recent, max, Reason::ConnectionErrors)
            }
            Trigger::MoveInvalidly => {
                let max = policy.suspend_invalid_moves();
                self.suspension(self.invalid_moves, max, Reason::InvalidMoves)
            }
            Trigger::LoseTechnically => self.failure(policy),
        };
        let from = self.state.kind();
        let transition = step.map(|(to, reason)| Transition { from, to, reason });
        Ok(Event { at: now, trigger, transition })
    }

    /// Takes over a decided event.
    pub fn apply(&mut self, event: &Event, policy: &Policy) {
        self.note(event.at, event.trigger, policy);
        if let Some(transition) = event.transition {
            self.change(event.at, transition, policy);
        }
    }

    /// Counts what happened, and changes no state: [`Lifecycle::due`] says which change follows.
    pub fn note(&mut self, at: Timestamp, trigger: Trigger, policy: &Policy) {
        self.count(at, trigger, policy);
        match (&mut self.state, trigger) {
            (AgentState::Suspended { started, .. }, Trigger::StartLeague) => *started = true,
            (AgentState::Shutdown { may_return, .. }, Trigger::Reinstate) => *may_return = true,
            (AgentState::Shutdown { may_return, .. }, Trigger::Ban) => *may_return = false,
            _ => {}
        }
    }

    /// Takes over a change of state.
    pub fn change(&mut self, at: Timestamp, transition: Transition, policy: &Policy) {
        let cause = transition.reason;
        if matches!(cause, Reason::Recovered | Reason::Reinstated) {
            self.forgive();
        }
        self.state = match transition.to {
            StateKind::Init => AgentState::Init,
            StateKind::Registered => AgentState::Registered,
            StateKind::Active => AgentState::Active,
            StateKind::Suspended => AgentState::Suspended {
                since: at,
                until: at + policy.recovery_window(),
                cause,
                started: transition.from == StateKind::Active,
            },
            StateKind::Shutdown => AgentState::Shutdown { cause, may_return: false },
        };
    }

    /// The change of state that the counters and the clock demand now.
    pub fn due(&self, now: Timestamp, policy: &Policy) -> Option<Transition> {
        let counts = matches!(self.state, AgentState::Active | AgentState::Suspended { .. });
        let errors = self.connection_errors_at(now, policy);
        let step = if counts && self.failures >= policy.shutdown_failures() {
            Some((StateKind::Shutdown, Reason::Failures(self.failures)))
        } else if !self.is_playing() {
            self.recovery(now, Trigger::PassDeadline)
        } else if self.timeouts >= policy.suspend_timeouts() {
            Some((StateKind::Suspended, Reason::Timeouts(self.timeouts)))
        } else if errors >= policy.suspend_connection_errors() {
            Some((StateKind::Suspended, Reason::ConnectionErrors(errors)))
        } else if self.invalid_moves >= policy.suspend_invalid_moves() {
            Some((StateKind::Suspended, Reason::InvalidMoves(self.invalid_moves)))
        } else {
            None
        };
        step.map(|(to, reason)| Transition { from: self.state.kind(), to, reason })
    }

    /// Takes back one match lost technically, because its result no longer counts.
    pub const fn acquit(&mut self) {
        self.failures = self.failures.saturating_sub(1);
    }

    /// Gives a suspended agent until `moment` to recover.
    pub const fn wait_until(&mut self, moment: Timestamp) {
        if let AgentState::Suspended { until, .. } = &mut self.state {
            *until = moment;
        }
    }

    /// When a suspended agent is to be asked for a sign of life next, or, if time `goes_on`, its
    /// time is over.
    pub fn next_deadline(
        &self,
        now: Timestamp,
        goes_on: bool,
        policy: &Policy,
    ) -> Option<Deadline> {
        let AgentState::Suspended { since, until, .. } = self.state else {
            return None;
        };
        let interval = policy.probe_interval().as_millis().max(1);
        let probes = u32::try_from(now.since(since).as_millis() / interval).unwrap_or(u32::MAX);
        let probe = since + policy.probe_interval().saturating_mul(probes.saturating_add(1));
        if probe < until || !goes_on {
            return Some(Deadline::new(probe, "health check of a suspended agent"));
        }
        Some(Deadline::new(until, "end of the time to recover"))
    }
}

impl Default for Lifecycle {
    fn default() -> Self {
        Self::new()
    }
}

type Step = Option<(StateKind, Reason)>;

impl Lifecycle {
    /// The league's own course.
    fn progress(&self, trigger: Trigger) -> Result<Step, ForbiddenTransition> {
        let from = self.state.kind();
        match (from, trigger) {
            (StateKind::Init, Trigger::Register) => {
                Ok(Some((StateKind::Registered, Reason::Registered)))
            }
            (StateKind::Init, Trigger::FailToRegister) => {
                Ok(Some((StateKind::Shutdown, Reason::RegistrationFailed)))
            }
            (StateKind::Registered, Trigger::StartLeague) => {
                Ok(Some((StateKind::Active, Reason::LeagueStarted)))
            }
            (
                StateKind::Registered | StateKind::Active | StateKind::Suspended,
                Trigger::EndLeague,
            ) => Ok(Some((StateKind::Shutdown, Reason::LeagueEnded))),
            (StateKind::Suspended, Trigger::StartLeague)
            | (StateKind::Shutdown, Trigger::StartLeague | Trigger::EndLeague) => Ok(None),
            (from, trigger) => Err(ForbiddenTransition { from, trigger }),
        }
    }

    /// The administrator's word, or a critical error.
    fn order(&self, trigger: Trigger) -> Result<Step, ForbiddenTransition> {
        let from = self.state.kind();
        match (&self.state, trigger) {
            (AgentState::Shutdown { .. }, _) => Ok(None),
            (AgentState::Suspended { started, .. }, Trigger::Reinstate) => {
                Ok(Some((back_to(*started), Reason::Reinstated)))
            }
            (_, Trigger::Ban) => Ok(Some((StateKind::Shutdown, Reason::Banned))),
            (_, Trigger::FailCritically) => Ok(Some((StateKind::Shutdown, Reason::CriticalError))),
            (_, trigger) => Err(ForbiddenTransition { from, trigger }),
        }
    }

    /// A sign of life after the end of the window comes too late, even if nobody looked yet.
    fn recovery(&self, now: Timestamp, trigger: Trigger) -> Step {
        let AgentState::Suspended { until, started, .. } = self.state else {
            return None;
        };
        if now >= until {
            return Some((StateKind::Shutdown, Reason::RecoveryFailed));
        }
        (trigger == Trigger::PassHealthCheck).then_some((back_to(started), Reason::Recovered))
    }

    /// What one offence more, after `count` of its kind, leads to.
    fn suspension(&self, count: u32, max: u32, reason: fn(u32) -> Reason) -> Step {
        let count = count.saturating_add(1);
        let last = count >= max && self.is_playing();
        last.then(|| (StateKind::Suspended, reason(count)))
    }

    fn failure(&self, policy: &Policy) -> Step {
        let failures = self.failures.saturating_add(1);
        let counts = matches!(self.state.kind(), StateKind::Active | StateKind::Suspended);
        let last = failures >= policy.shutdown_failures() && counts;
        last.then_some((StateKind::Shutdown, Reason::Failures(failures)))
    }

    const fn is_playing(&self) -> bool {
        matches!(self.state, AgentState::Registered | AgentState::Active)
    }

    fn connection_errors_at(&self, now: Timestamp, policy: &Policy) -> u32 {
        let window = policy.suspend_connection_window();
        let recent = self.connection_errors.iter().filter(|at| now.since(**at) < window);
        u32::try_from(recent.count()).unwrap_or(u32::MAX)
    }

    /// Offences of an agent that is not playing count for nothing, except that a match lost while
    /// suspended is still a match lost.
    fn count(&mut self, at: Timestamp, trigger: Trigger, policy: &Policy) {
        let playing = self.is_playing();
        let suspended = matches!(self.state, AgentState::Suspended { .. });
        match trigger {
            Trigger::Answer if playing => self.timeouts = 0,
            Trigger::TimeOut if playing => self.timeouts = self.timeouts.saturating_add(1),
            Trigger::Disconnect if playing => {
                let window = policy.suspend_connection_window();
                self.connection_errors.retain(|earlier| at.since(*earlier) < window);
                self.connection_errors.push_back(at);
            }
            Trigger::MoveInvalidly if playing => {
                self.invalid_moves = self.invalid_moves.saturating_add(1);
            }
            Trigger::LoseTechnically if playing || suspended => {
                self.failures = self.failures.saturating_add(1);
            }
            Trigger::Answer
            | Trigger::TimeOut
            | Trigger::Disconnect
            | Trigger::MoveInvalidly
            | Trigger::LoseTechnically
            | Trigger::Register
            | Trigger::FailToRegister
            | Trigger::StartLeague
            | Trigger::EndLeague
            | Trigger::PassHealthCheck
            | Trigger::PassDeadline
            | Trigger::Reinstate
            | Trigger::Ban
            | Trigger::FailCritically => {}
        }
    }

    /// Recovery starts the counters of suspension anew: otherwise the next single slip would
    /// suspend again. Matches lost technically are counted over the whole life.
    fn forgive(&mut self) {
        self.timeouts = 0;
        self.connection_errors.clear();
        self.invalid_moves = 0;
    }
}

const fn back_to(started: bool) -> StateKind {
    if started { StateKind::Active } else { StateKind::Registered }
}

#[cfg(test)]
mod tests;
