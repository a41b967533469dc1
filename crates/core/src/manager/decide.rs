//! What a command leads to. Reads, never writes.

use std::sync::Arc;

use super::digest::digest;
use super::report::Findings;
use super::{
    Admission, ChoiceEvidence, Command, Decision, Evidence, Fact, Filed, League, Lie, OpenMatch,
    Phase, Recorded, Referee, RefereeAdmission, Refusal, Reply, Report, StuckCause, VoidCause,
};
use crate::conduct::Conduct;
use crate::dice::Dice;
use crate::game::{self, Outcome};
use crate::id::{AgentId, MatchId, RefereeId};
use crate::limits::{ANNULMENTS_MAX, ATTEMPTS_MAX, LATE_LIES_NOTED_MAX, LIES_NOTED_MAX};
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
            Command::SettleShape { agent, dialect } => self.decide_shape(agent, dialect),
            Command::SetAdmission(admission) => self.decide_admission(admission),
            Command::Enrol { people, reason } => self.decide_enrolment(people, reason),
            Command::Administer { order, reason } => self.decide_order(now, order, reason, dice),
        }
    }

    fn decide_probe(&self, now: Timestamp, agent: AgentId) -> Result<Decision, Refusal> {
        let lifecycle = self.lifecycle(agent).ok_or(Refusal::UnknownAgent(agent))?;
        let (now, policy) = (self.clock(now), &self.articles.policy);
        let event = lifecycle.decide(now, Trigger::PassHealthCheck, policy)?;
        let fact = event.transition.map(|transition| Fact::AgentChanged { agent, transition });
        Ok(Decision { fact, also: vec![], reply: Reply::Done })
    }

    fn decide_shape(&self, agent: AgentId, dialect: Arc<str>) -> Result<Decision, Refusal> {
        let spoken = self.dialect(agent).ok_or(Refusal::UnknownAgent(agent))?;
        if matches!(self.phase, Phase::Completed { .. }) {
            return Err(Refusal::Completed);
        }
        let fact = (*spoken != dialect).then_some(Fact::ShapeSettled { agent, dialect });
        Ok(Decision { fact, also: vec![], reply: Reply::Done })
    }

    fn decide_admission(&self, admission: Box<Admission>) -> Result<Decision, Refusal> {
        if let Some(fault) = admission.fault() {
            return Err(Refusal::BadAdmission(fault));
        }
        let changes = *admission != self.admission;
        let fact = changes.then_some(Fact::AdmissionSet(admission));
        Ok(Decision { fact, also: vec![], reply: Reply::Done })
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
            return Err(self.nobody_officiates());
        }
        Ok(Decision { fact: Some(Fact::LeagueStarted), also: vec![], reply: Reply::Done })
    }

    fn decide_result(&self, report: Report) -> Result<Decision, Refusal> {
        let match_id = report.match_id;
        if let Some(filed) = self.filed_result(match_id) {
            return self.already_filed(filed, &report);
        }
        let open = self.open_match(match_id).ok_or(Refusal::UnknownMatch(match_id))?;
        if open.referee != report.referee {
            let refusal = Refusal::NotYourMatch { match_id, assigned: open.referee };
            // Whoever had it may not have heard that it is somebody else's now.
            return match is_late(&report, open.attempt) || open.former.contains(&report.referee) {
                true => Err(refusal),
                false => self.noted(Some(open), &report, refusal),
            };
        }
        if report.attempt.is_some_and(|attempt| attempt != open.attempt) {
            let (got, current) = (report.attempt.unwrap_or_default(), open.attempt);
            return Err(Refusal::StaleAttempt { match_id, got, current });
        }
        match self.check_report(&report, open) {
            Ok(None) => Ok(self.record_of(report, open)),
            Ok(Some(lie)) => self.decide_by_proofs(report, open, lie),
            Err(lie) => self.noted(Some(open), &report, Refusal::FalseReport { match_id, lie }),
        }
    }

    /// Nobody can tell whether a referee reports another choice than it was sent, or a player
    /// proves another one than it sent. The report is refused, and what counts is the proof: only
    /// its player can have made it, and it was made before the number was known. Nobody is charged
    /// for the contradiction; a proof is no way either to be rid of what else happened.
    fn decide_by_proofs(
        &self,
        report: Report,
        open: &OpenMatch,
        lie: Lie,
    ) -> Result<Decision, Refusal> {
        let refusal = Refusal::FalseReport { match_id: report.match_id, lie };
        let noted = self.noted(Some(open), &report, refusal.clone());
        let Some(truth) = self.corrected(report) else { return noted };
        let mut decision = self.record_of(truth, open);
        decision.also.extend(noted.ok().and_then(|noted| noted.fact));
        Ok(Decision { reply: Reply::ReportRefused(refusal), ..decision })
    }

    /// The report as it would be if it told what was proved; `None` if that is no game.
    fn corrected(&self, report: Report) -> Option<Report> {
        let findings = report.evidence.0.as_ref().ok()?;
        let play = report.play.corrected(&findings.proved);
        let game = self.articles.game.in_match(report.match_id);
        let verdict = match report.verdict {
            Verdict::Won(_) | Verdict::Drawn => match game::replay(&*game, &play.turns).ok()? {
                Outcome::Won(seat) => Verdict::Won(seat),
                Outcome::Drawn => Verdict::Drawn,
            },
            verdict @ (Verdict::TechnicalLoss(_) | Verdict::BothLost | Verdict::Cancelled) => {
                verdict
            }
        };
        let choices = Seats::from_fn(|seat| match findings.proved[seat] {
            Some(_) => ChoiceEvidence::Proved,
            None => findings.choices[seat],
        });
        let findings = Findings { choices, ..findings.clone() };
        let reason = "by what the players proved to have chosen".into();
        Some(Report { verdict, play, reason, evidence: Evidence(Ok(findings)), ..report })
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
        Decision { also: also.into_iter().collect(), ..record(report, open) }
    }

    /// The filed result of a match that has one, in whatever round.
    pub(super) fn filed_result(&self, id: MatchId) -> Option<&Filed> {
        let past = self.filed.get(id.round.number() as usize - 1);
        let past = past.and_then(|round| round.get(id.index()));
        past.or_else(|| self.open_match(id).and_then(|open| open.filed.as_ref()))
    }

    /// What is false about the choices of a report in which nothing else is.
    fn check_report(&self, report: &Report, open: &OpenMatch) -> Result<Option<Lie>, Lie> {
        let findings = report.evidence.0.as_ref().map_err(Clone::clone)?;
        self.check_conduct(report, open)?;
        self.check_result(report)?;
        Ok(findings.false_choice(open.pairing))
    }

    fn check_result(&self, report: &Report) -> Result<(), Lie> {
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

    /// A report of a match that has its result: the same again, late, or a second, different one.
    fn already_filed(&self, filed: &Filed, report: &Report) -> Result<Decision, Refusal> {
        let (match_id, play) = (report.match_id, &report.play);
        let reported = digest(report.verdict, &play.turns, &play.stranded);
        let is_theirs = filed.referee == Some(report.referee);
        if is_theirs && filed.digest == reported {
            return Ok(Decision::nothing(Reply::Recorded { again: true }));
        }
        if is_late(report, filed.attempt) {
            let (got, current) = (report.attempt.unwrap_or_default(), filed.attempt);
            return Err(Refusal::StaleAttempt { match_id, got, current });
        }
        match filed.referee {
            Some(assigned) if !is_theirs => Err(Refusal::NotYourMatch { match_id, assigned }),
            None => Err(Refusal::DecidedOtherwise(match_id)),
            Some(_) => {
                let refusal = Refusal::ConflictingResult(match_id);
                self.noted(self.open_match(match_id), report, refusal)
            }
        }
    }

    /// A false report is refused, and that it was made goes into the books; not without end.
    fn noted(
        &self,
        open: Option<&OpenMatch>,
        report: &Report,
        refusal: Refusal,
    ) -> Result<Decision, Refusal> {
        let is_enough = match open {
            Some(open) => open.lies >= LIES_NOTED_MAX,
            None => self.late_lies >= LATE_LIES_NOTED_MAX,
        };
        if is_enough || matches!(self.phase, Phase::Completed { .. }) {
            return Err(refusal);
        }
        let (match_id, referee) = (report.match_id, report.referee);
        let reason: Arc<str> = refusal.to_string().into();
        let fact = Fact::ReportRefused { match_id, referee, reason };
        Ok(Decision { fact: Some(fact), also: vec![], reply: Reply::ReportRefused(refusal) })
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
            VoidCause::NotTaken { reason } | VoidCause::NotDelivered { reason } => {
                return self.pass_on(match_id, open, reason);
            }
            VoidCause::Annulled { referee, .. } if referee != open.referee => {
                return Err(Refusal::NotYourMatch { match_id, assigned: open.referee });
            }
            VoidCause::Annulled { reason, .. } => (true, reason),
        };
        let fact = Some(self.given_away(match_id, open, why));
        Ok(Decision { fact, also: vec![], reply: Reply::Done })
    }

    /// What becomes of a match that its referee did not take. Nobody has begun, so there is nothing
    /// to give up: somebody else is asked, and if there is nobody else it stays and is offered
    /// again. Of referees that have vanished each is left one match to show that it is back.
    fn pass_on(
        &self,
        match_id: MatchId,
        open: &OpenMatch,
        reason: Arc<str>,
    ) -> Result<Decision, Refusal> {
        let other = |id: &RefereeId| {
            let idle = |referee: &Referee| !referee.vanished || referee.running == 0;
            *id != open.referee && self.referee(*id).is_some_and(idle)
        };
        let next = self.replacement(Some(open.referee)).filter(other);
        let referee = next.ok_or(Refusal::NobodyElse(match_id))?;
        let attempt = open.attempt.saturating_add(1);
        let fact = Some(Fact::MatchPassedOn { match_id, attempt, referee, reason });
        Ok(Decision { fact, also: vec![], reply: Reply::Done })
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
        admitted && !referee.hold.awaited && self.is_playing(AgentId::Referee(referee.id))
    }

    /// Why there is no referee that may officiate.
    pub(super) fn nobody_officiates(&self) -> Refusal {
        let playing = |referee: &&Referee| self.is_playing(AgentId::Referee(referee.id));
        let referees = || self.referees.iter().filter(playing);
        if let Some(away) = referees().find(|referee| referee.hold.awaited) {
            return Refusal::RefereeAway(away.id);
        }
        referees().next().map_or(Refusal::NoReferee, |waiting| Refusal::NotApproved(waiting.id))
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
        Self { fact: None, also: vec![], reply }
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

/// Whether a report is about an attempt that is over.
fn is_late(report: &Report, attempt: u32) -> bool {
    report.attempt.is_some_and(|named| named > 0 && named < attempt)
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
    Decision { fact: Some(Fact::ResultRecorded(Box::new(recorded))), also: vec![], reply }
}
