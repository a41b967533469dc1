//! What a command leads to. Reads, never writes.

use std::sync::Arc;

use super::digest::digest;
use super::{
    Admission, Command, Decision, Fact, Filed, League, Lie, OpenMatch, Phase, Recorded, Referee,
    RefereeAdmission, Refusal, Reply, Report, StuckCause, VoidCause,
};
use crate::conduct::Conduct;
use crate::dice::Dice;
use crate::game::{self, Outcome};
use crate::id::{AgentId, MatchId, RefereeId};
use crate::limits::{ANNULMENTS_MAX, ATTEMPTS_MAX, LIES_NOTED_MAX};
use crate::policy::InvitationSilence;
use crate::roster::Trigger;
use crate::schedule::officials::{self, Load, Official};
use crate::seat::{Seat, Seats};
use crate::time::Timestamp;
use crate::verdict::Verdict;

impl League {
    /// What a command leads to.
    ///
    /// # Errors
    /// If the command is refused.
    pub fn decide(
        &self,
        now: Timestamp,
        command: Command,
        dice: &mut impl Dice,
    ) -> Result<Decision, Refusal> {
        match command {
            Command::RegisterPlayer(application) => self.decide_player(now, *application, dice),
            Command::RegisterReferee { application, capacity, operated } => {
                self.decide_referee(now, *application, (capacity, operated), dice)
            }
            Command::Start => self.decide_start(),
            Command::RecordResult(report) => self.decide_result(*report),
            Command::VoidAttempt { match_id, attempt, cause } => {
                self.decide_void(match_id, attempt, cause)
            }
            Command::Wake => Ok(Decision::nothing(Reply::Done)),
            Command::ProbeAnswered { agent } => self.decide_probe(now, agent),
            Command::SetAdmission(admission) => self.decide_admission(admission),
            Command::Administer { order, reason } => self.decide_order(now, order, reason),
        }
    }

    fn decide_probe(&self, now: Timestamp, agent: AgentId) -> Result<Decision, Refusal> {
        let lifecycle = self.lifecycle(agent).ok_or(Refusal::UnknownAgent(agent))?;
        let event = lifecycle.decide(now, Trigger::PassHealthCheck, &self.articles.policy)?;
        let fact = event.transition.map(|transition| Fact::AgentChanged { agent, transition });
        Ok(Decision { fact, also: None, reply: Reply::Done })
    }

    fn decide_admission(&self, admission: Box<Admission>) -> Result<Decision, Refusal> {
        if let Some(fault) = admission.fault() {
            return Err(Refusal::BadAdmission(fault));
        }
        let changes = *admission != self.admission;
        let fact = changes.then_some(Fact::AdmissionSet(admission));
        Ok(Decision { fact, also: None, reply: Reply::Done })
    }

    fn decide_start(&self) -> Result<Decision, Refusal> {
        if self.phase != Phase::Registering {
            return Err(Refusal::AlreadyStarted);
        }
        let players = self.field().count();
        if players < 2 {
            return Err(Refusal::TooFewPlayers { players });
        }
        if !self.has_official() {
            return Err(Refusal::NoReferee);
        }
        Ok(Decision { fact: Some(Fact::LeagueStarted), also: None, reply: Reply::Done })
    }

    fn decide_result(&self, report: Report) -> Result<Decision, Refusal> {
        let match_id = report.match_id;
        if let Some(filed) = self.filed_result(match_id) {
            return already_filed(filed, &report);
        }
        let open = self.open_match(match_id).ok_or(Refusal::UnknownMatch(match_id))?;
        if open.referee != report.referee {
            let refusal = Refusal::NotYourMatch { match_id, assigned: open.referee };
            return self.noted(open, &report, refusal);
        }
        if report.attempt.is_some_and(|attempt| attempt != open.attempt) {
            let (got, current) = (report.attempt.unwrap_or_default(), open.attempt);
            return Err(Refusal::StaleAttempt { match_id, got, current });
        }
        match self.check_report(&report, open) {
            Ok(()) => Ok(self.record_of(report, open)),
            Err(lie) => {
                let void = voided(report.referee, &lie);
                let refusal = Refusal::FalseReport { match_id, lie };
                let decision = self.noted(open, &report, refusal)?;
                let also = void.filter(|_| open.stuck.is_none());
                let also = also.map(|why| self.given_away(match_id, open, why));
                Ok(Decision { also, ..decision })
            }
        }
    }

    /// What a report that is not false puts into the books.
    fn record_of(&self, report: Report, open: &OpenMatch) -> Decision {
        let operated = self.referee(report.referee).is_some_and(|referee| referee.operated);
        let conduct = Seats::from_fn(|seat| {
            // Nobody is charged on the word of a referee that is not ours.
            if operated { report.conduct[seat].bounded() } else { Conduct::default() }
        });
        let (match_id, verdict) = (report.match_id, report.verdict);
        let is_notable = |seat| {
            !conduct[seat].is_clean() || (conduct[seat].answered && verdict.lost_technically(seat))
        };
        let notable = Seat::BOTH.into_iter().any(is_notable);
        let also = notable.then_some(Fact::ConductNoted { match_id, conduct });
        Decision { also, ..record(report, open) }
    }

    /// The filed result of a match that has one, in whatever round.
    pub(super) fn filed_result(&self, id: MatchId) -> Option<&Filed> {
        let past = self.filed.get(id.round.number() as usize - 1);
        let past = past.and_then(|round| round.get(id.index()));
        past.or_else(|| self.open_match(id).and_then(|open| open.filed.as_ref()))
    }

    fn check_report(&self, report: &Report, open: &OpenMatch) -> Result<(), Lie> {
        report.evidence.0.as_ref().map_err(Clone::clone)?;
        self.check_conduct(report, open)?;
        let scores = report.verdict.scores();
        for seat in Seat::BOTH {
            let points = scores[seat].points(&self.articles.policy);
            if report.points[seat].is_some_and(|claimed| claimed != points) {
                return Err(Lie::WrongPoints);
            }
        }
        let game = self.articles.game.in_match(report.match_id);
        // Of a game without roles anything may be said.
        let is_false = |seat| match (game.role(seat), report.roles[seat].as_deref()) {
            (Some(role), Some(told)) => told != role,
            (None, _) | (_, None) => false,
        };
        if Seat::BOTH.into_iter().any(is_false) {
            return Err(Lie::FalseRole);
        }
        let played = |outcome| match game::replay(&*game, &report.play.turns)? == outcome {
            true => Ok(()),
            false => Err(Lie::WrongVerdict),
        };
        match report.verdict {
            Verdict::Won(seat) => played(Outcome::Won(seat)),
            Verdict::Drawn => played(Outcome::Drawn),
            Verdict::TechnicalLoss(_) | Verdict::BothLost => check_losers(report),
            Verdict::Cancelled => match self.articles.policy.invitation_silence() {
                InvitationSilence::Cancel if report.play.turns.is_empty() => Ok(()),
                InvitationSilence::Cancel | InvitationSilence::Forfeit => {
                    Err(Lie::ImpossibleVerdict)
                }
            },
        }
    }

    fn check_conduct(&self, report: &Report, open: &OpenMatch) -> Result<(), Lie> {
        let most = Conduct::most(&self.articles.policy, self.articles.game.steps_max());
        for (seat, conduct) in report.conduct.iter() {
            // Silence that lasts to the end of a step ends the match.
            let silent_through_a_game = conduct.timeouts > 0 && report.verdict.was_played();
            if silent_through_a_game || !conduct.is_within(&most) {
                return Err(Lie::ImpossibleConduct(open.pairing.player(seat)));
            }
        }
        Ok(())
    }

    /// A false report is refused, and that it was made goes into the books; not without end.
    fn noted(
        &self,
        open: &OpenMatch,
        report: &Report,
        refusal: Refusal,
    ) -> Result<Decision, Refusal> {
        if open.lies >= LIES_NOTED_MAX {
            return Err(refusal);
        }
        let (match_id, referee) = (report.match_id, report.referee);
        let reason: Arc<str> = refusal.to_string().into();
        let fact = Fact::ReportRefused { match_id, referee, reason };
        Ok(Decision { fact: Some(fact), also: None, reply: Reply::ReportRefused(refusal) })
    }

    fn decide_void(
        &self,
        match_id: MatchId,
        attempt: u32,
        cause: VoidCause,
    ) -> Result<Decision, Refusal> {
        let open = self.open_match(match_id).ok_or(Refusal::UnknownMatch(match_id))?;
        if open.filed.is_some() {
            return Ok(Decision::nothing(Reply::Recorded { again: true }));
        }
        if attempt != open.attempt {
            return Err(Refusal::StaleAttempt { match_id, got: attempt, current: open.attempt });
        }
        if open.stuck.is_some() {
            return Err(Refusal::MatchIsStuck(match_id));
        }
        let why = match cause {
            VoidCause::LeaseExpired => (false, "the referee showed no sign of life".into()),
            // It has not begun, so there is nothing to give up; whoever comes later can have it.
            VoidCause::NotDelivered { .. }
                if self.replacement(Some(open.referee)) == Some(open.referee) =>
            {
                return Err(Refusal::NobodyElse(match_id));
            }
            VoidCause::NotTaken { reason } | VoidCause::NotDelivered { reason } => (false, reason),
            VoidCause::Annulled { referee, .. } if referee != open.referee => {
                return Err(Refusal::NotYourMatch { match_id, assigned: open.referee });
            }
            VoidCause::Annulled { reason, .. } => (true, reason),
        };
        let fact = Some(self.given_away(match_id, open, why));
        Ok(Decision { fact, also: None, reply: Reply::Done })
    }

    /// What becomes of a match whose attempt came to nothing: somebody plays it again, but not
    /// without end.
    fn given_away(
        &self,
        match_id: MatchId,
        open: &OpenMatch,
        (annulled, reason): (bool, Arc<str>),
    ) -> Fact {
        let stuck = |cause| Fact::MatchStuck { match_id, cause, reason: reason.clone() };
        if annulled && open.annulments >= ANNULMENTS_MAX {
            return stuck(StuckCause::Annulments);
        }
        if open.reassignments.saturating_add(1) >= ATTEMPTS_MAX {
            return stuck(StuckCause::Attempts);
        }
        let Some(referee) = self.replacement(Some(open.referee)) else {
            return stuck(StuckCause::NoReferee);
        };
        let attempt = open.attempt.saturating_add(1);
        Fact::MatchReassigned { match_id, attempt, referee, annulled, reason }
    }

    /// Whether this referee may be given matches.
    pub fn may_officiate(&self, referee: &Referee) -> bool {
        let admitted = match self.admission.referees {
            RefereeAdmission::Open => true,
            RefereeAdmission::KeyOrApproval => referee.operated || referee.approved,
        };
        admitted && self.is_playing(AgentId::Referee(referee.id))
    }

    pub(super) fn has_official(&self) -> bool {
        self.referees.iter().any(|referee| self.may_officiate(referee))
    }

    /// Somebody else if there is anybody else, the same referee otherwise; the operator's own
    /// before others, and whoever has vanished lately only if nobody else is left.
    pub(super) fn replacement(&self, failed: Option<RefereeId>) -> Option<RefereeId> {
        let officials: Vec<&Referee> =
            self.referees.iter().filter(|referee| self.may_officiate(referee)).collect();
        let pick = |wanted: fn(&Referee) -> bool, max: fn(&Referee) -> u32| {
            let wanted = officials.iter().filter(|referee| wanted(referee));
            let loads: Vec<Load> = wanted
                .map(|referee| {
                    let (id, given) = (referee.id, referee.given);
                    let official = Official { id, max_concurrent: max(referee), given };
                    Load { official, running: referee.running }
                })
                .collect();
            officials::replacement(&loads, failed)
        };
        let capacity = |referee: &Referee| referee.capacity;
        let unlimited = |_: &Referee| u32::MAX;
        let ours = |referee: &Referee| referee.operated && !referee.vanished;
        let present = |referee: &Referee| !referee.vanished;
        pick(ours, capacity)
            .or_else(|| pick(present, capacity))
            .or_else(|| pick(ours, unlimited))
            .or_else(|| pick(present, unlimited))
            .or_else(|| pick(|_| true, unlimited))
            .or_else(|| failed.filter(|id| officials.iter().any(|referee| referee.id == *id)))
    }
}

impl Decision {
    /// An answer, and nothing happened.
    const fn nothing(reply: Reply) -> Self {
        Self { fact: None, also: None, reply }
    }
}

/// Why a lie ends the attempt: reports of other moves than were made get no second chance at
/// the match. If only one player says so the attempt is annulled, which marks nobody.
fn voided(referee: RefereeId, lie: &Lie) -> Option<(bool, Arc<str>)> {
    match lie {
        Lie::FalseChoice(player) => {
            let text = format!("{player} proves another choice than {referee} reports of it");
            Some((true, text.into()))
        }
        Lie::FalseChoices => {
            let text = format!("both players prove other choices than {referee} reports");
            Some((false, text.into()))
        }
        Lie::NotAGame(_)
        | Lie::WrongVerdict
        | Lie::WrongPoints
        | Lie::ImpossibleVerdict
        | Lie::LoserMoved
        | Lie::FalseDraw
        | Lie::FalseSeed
        | Lie::ImpossibleConduct(_)
        | Lie::FalseRole => None,
    }
}

fn check_losers(report: &Report) -> Result<(), Lie> {
    for seat in Seat::BOTH {
        if report.verdict.lost_technically(seat) && report.play.stranded[seat].is_some() {
            return Err(Lie::LoserMoved);
        }
    }
    Ok(())
}

fn already_filed(filed: &Filed, report: &Report) -> Result<Decision, Refusal> {
    let play = &report.play;
    let reported = digest(report.verdict, &play.turns, &play.stranded);
    if filed.referee == Some(report.referee) && filed.digest == reported {
        return Ok(Decision::nothing(Reply::Recorded { again: true }));
    }
    Err(Refusal::ConflictingResult(report.match_id))
}

fn record(report: Report, open: &OpenMatch) -> Decision {
    let findings = report.evidence.0.expect("a report with false evidence is refused before");
    let recorded = Recorded {
        match_id: report.match_id,
        attempt: open.attempt,
        rematch: open.rematch,
        referee: report.referee,
        conversation: report.conversation,
        verdict: report.verdict,
        turns: report.play.turns,
        stranded: report.play.stranded,
        nonces: report.play.nonces,
        choice_proofs: report.play.choice_proofs,
        draw: findings.draw,
        choices: findings.choices,
        reason: report.reason,
        transcript: report.transcript,
    };
    let reply = Reply::Recorded { again: false };
    Decision { fact: Some(Fact::ResultRecorded(Box::new(recorded))), also: None, reply }
}
