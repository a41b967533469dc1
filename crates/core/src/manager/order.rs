//! What an administrator can order, and what it leads to.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Admission, Decision, Fact, Invited, League, Phase, PlayerAdmission, Refusal, Reply};
use crate::dice::Dice;
use crate::id::{AgentId, MatchId, RefereeId};
use crate::limits::REASON_BYTES_MAX;
use crate::roster::Trigger;
use crate::time::Timestamp;

/// Something an administrator orders. Journaled: variants are only ever added at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// An agent must leave.
    Ban(AgentId),
    /// A suspended agent goes on; one that is shut down may register once more.
    Reinstate(AgentId),
    /// A referee may officiate.
    Approve(RefereeId),
    /// No more matches are handed out.
    Pause,
    /// Matches are handed out again.
    Resume,
    /// No more players are taken.
    CloseRegistration,
    /// A match of the open round counts for nobody.
    Cancel(MatchId),
    /// A match of the open round is played again, with a new draw.
    Rematch(MatchId),
    /// A league that is over is put away.
    Archive,
    /// An agent gets a new token.
    Rotate(AgentId),
    /// An agent's place is let go: whoever registers like it gets its id and a new token.
    Release(AgentId),
    /// More people are on the roster.
    Enrol,
}

impl League {
    pub(super) fn decide_order(
        &self,
        now: Timestamp,
        order: Order,
        reason: Arc<str>,
        dice: &mut impl Dice,
    ) -> Result<Decision, Refusal> {
        if reason.trim().is_empty() || reason.len() > REASON_BYTES_MAX {
            return Err(Refusal::BadReason);
        }
        if self.archived && order != Order::Archive {
            return Err(Refusal::Archived);
        }
        let is_over = matches!(self.phase, Phase::Completed { .. });
        let (changes, also) = match order {
            // Nobody can leave a league that is over, come back to it, or go on in it.
            Order::Ban(_)
            | Order::Reinstate(_)
            | Order::Approve(_)
            | Order::Pause
            | Order::Resume
            | Order::Rotate(_)
            | Order::Release(_)
                if is_over =>
            {
                return Err(Refusal::Completed);
            }
            Order::Ban(agent) => (true, self.ordered(now, agent, Trigger::Ban)?),
            Order::Reinstate(agent) => (true, self.ordered(now, agent, Trigger::Reinstate)?),
            Order::Approve(id) => {
                let agent = AgentId::Referee(id);
                let referee = self.referee(id).ok_or(Refusal::UnknownAgent(agent))?;
                (!referee.approved, None)
            }
            Order::Pause | Order::Resume => (self.is_paused() != (order == Order::Pause), None),
            Order::CloseRegistration if self.phase != Phase::Registering => {
                return Err(Refusal::AlreadyStarted);
            }
            Order::CloseRegistration => (!self.registration_closed, None),
            // Who it is about is said along with it.
            Order::Enrol => return Err(Refusal::BadAdmission("nobody is named")),
            Order::Cancel(match_id) => (true, Some(self.cancellation(match_id, &reason)?)),
            Order::Rematch(match_id) => (true, Some(self.rematch(match_id)?)),
            Order::Rotate(agent) => {
                self.check_place(agent)?;
                (true, Some(Fact::TokenReplaced { agent, nonce: dice.bytes32() }))
            }
            Order::Release(agent) => {
                self.check_place(agent)?;
                (self.hold(agent).is_some_and(|hold| !hold.released), None)
            }
            Order::Archive => match self.phase {
                Phase::Completed { .. } => (!self.archived, None),
                Phase::Registering | Phase::BetweenRounds { .. } | Phase::Playing(_) => {
                    return Err(Refusal::NotCompleted);
                }
            },
        };
        let reply = match also {
            Some(Fact::TokenReplaced { agent, nonce }) => Reply::TokenReplaced { agent, nonce },
            Some(_) | None => Reply::Done,
        };
        let fact = changes.then_some(Fact::Administered { order, reason });
        Ok(Decision { fact, also: also.into_iter().collect(), reply })
    }

    /// More people are put on the roster; those who are on it already stay as they are.
    pub(super) fn decide_enrolment(
        &self,
        people: Vec<Invited>,
        reason: Arc<str>,
    ) -> Result<Decision, Refusal> {
        if reason.trim().is_empty() || reason.len() > REASON_BYTES_MAX {
            return Err(Refusal::BadReason);
        }
        if self.phase != Phase::Registering {
            return Err(Refusal::AlreadyStarted);
        }
        let PlayerAdmission::Codes(mut codes) = self.admission.players.clone() else {
            return Err(Refusal::BadAdmission("the league has no roster: everybody may join"));
        };
        let known = codes.len();
        let newcomers = people.into_iter().filter(|person| !codes.contains(person));
        let newcomers: Vec<Invited> = newcomers.collect();
        codes.extend(newcomers);
        let changes = codes.len() > known;
        let players = PlayerAdmission::Codes(codes);
        let admission = Box::new(Admission { players, referees: self.admission.referees });
        if let Some(fault) = admission.fault() {
            return Err(Refusal::BadAdmission(fault));
        }
        let fact = changes.then_some(Fact::Administered { order: Order::Enrol, reason });
        let also = changes.then_some(Fact::AdmissionSet(admission));
        Ok(Decision { fact, also: also.into_iter().collect(), reply: Reply::Done })
    }

    /// The change of an agent's state that an order demands, if it demands one.
    fn ordered(
        &self,
        now: Timestamp,
        agent: AgentId,
        trigger: Trigger,
    ) -> Result<Option<Fact>, Refusal> {
        let lifecycle = self.lifecycle(agent).ok_or(Refusal::UnknownAgent(agent))?;
        if trigger == Trigger::Reinstate && self.is_playing(agent) {
            return Err(Refusal::InGoodStanding(agent));
        }
        let event = lifecycle.decide(now, trigger, &self.articles.policy)?;
        Ok(event.transition.map(|transition| Fact::AgentChanged { agent, transition }))
    }

    fn cancellation(&self, match_id: MatchId, reason: &str) -> Result<Fact, Refusal> {
        let open = self.open_match(match_id).ok_or_else(|| self.not_open(match_id))?;
        let replaced = open.filed.map(|filed| filed.verdict);
        let reason = format!("annulled by the administrator: {reason}").into();
        Ok(Fact::MatchCancelled { match_id, replaced, reason })
    }

    fn rematch(&self, match_id: MatchId) -> Result<Fact, Refusal> {
        let open = self.open_match(match_id).ok_or_else(|| self.not_open(match_id))?;
        let referee = self.replacement(None).ok_or_else(|| self.nobody_officiates())?;
        let (attempt, rematch) = (open.attempt.saturating_add(1), open.rematch.saturating_add(1));
        let replaced = open.filed.map(|filed| filed.verdict);
        Ok(Fact::RematchOrdered { match_id, attempt, rematch, referee, replaced })
    }

    /// Why a match cannot be decided anew.
    fn not_open(&self, match_id: MatchId) -> Refusal {
        match self.match_record(match_id) {
            Some(record) if record.filed.is_some() => Refusal::RoundIsOver(match_id),
            Some(_) => Refusal::RoundNotOpen(match_id),
            None => Refusal::NoSuchMatch(match_id),
        }
    }
}
