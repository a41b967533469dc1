//! What a command leads to. Reads, never writes.

use std::sync::Arc;
use std::time::Duration;

use super::digest::digest;
use super::{
    Command, Decision, Fact, Filed, League, Lie, OpenMatch, Phase, Profile, Recorded, Referee,
    Refusal, Reply, Report, VoidCause,
};
use crate::dice::Dice;
use crate::game::{self, Outcome};
use crate::id::{AgentId, ConversationId, MatchId, PlayerId, RefereeId};
use crate::limits::{ANNULMENTS_MAX, LIES_NOTED_MAX, REFEREE_MATCHES_MAX, REFEREES_MAX};
use crate::policy::InvitationSilence;
use crate::schedule::officials::{self, Load, Official};
use crate::seat::Seat;
use crate::time::Timestamp;
use crate::verdict::Verdict;

/// Ports of players and referees that name none: this and their number.
const PLAYER_PORT_BASE: u32 = 8_100;
const REFEREE_PORT_BASE: u32 = 8_000;
/// How long the same registration gets the same answer.
const SAME_ANSWER: Duration = Duration::from_secs(120);

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
            Command::RegisterPlayer { profile, host, conversation } => {
                self.decide_player(now, profile, (host, conversation), dice)
            }
            Command::RegisterReferee { profile, host, conversation, capacity, operated } => {
                let mut decision = self.decide_referee(now, profile, (host, conversation), dice)?;
                if let Some(Fact::RefereeRegistered { capacity: c, operated: o, .. }) =
                    &mut decision.fact
                {
                    (*c, *o) = (capacity.clamp(1, REFEREE_MATCHES_MAX), operated);
                }
                Ok(decision)
            }
            Command::Start => self.decide_start(),
            Command::RecordResult(report) => self.decide_result(*report),
            Command::VoidAttempt { match_id, attempt, cause } => {
                self.decide_void(match_id, attempt, cause)
            }
            Command::Wake => Ok(Decision { fact: None, reply: Reply::Done }),
        }
    }

    fn decide_player(
        &self,
        now: Timestamp,
        profile: Profile,
        (host, conversation): (Arc<str>, ConversationId),
        dice: &mut impl Dice,
    ) -> Result<Decision, Refusal> {
        let player = PlayerId::from_index(self.players.len());
        if let Some(known) = self.players.iter().find(|p| is_same(&p.profile, &profile, &host)) {
            let is_repeated = is_repeated(&known.profile, &profile)
                && known.conversation == conversation
                && now.since(known.registered_at) <= SAME_ANSWER;
            return same_again(AgentId::Player(known.id), known.nonce, is_repeated);
        }
        let profile = with_address(profile, &host, PLAYER_PORT_BASE + player.number());
        if self.phase != Phase::Registering {
            return Err(Refusal::LateRegistration);
        }
        self.check_profile(&profile)?;
        let limit = self.charter.players_max;
        if self.players.len() >= limit as usize {
            return Err(Refusal::LeagueFull { limit });
        }
        let nonce = dice.bytes32();
        let reply = Reply::Registered { agent: AgentId::Player(player), nonce };
        let fact = Fact::PlayerRegistered { player, profile, nonce, conversation };
        Ok(Decision { fact: Some(fact), reply })
    }

    fn decide_referee(
        &self,
        now: Timestamp,
        profile: Profile,
        (host, conversation): (Arc<str>, ConversationId),
        dice: &mut impl Dice,
    ) -> Result<Decision, Refusal> {
        let referee = RefereeId::from_index(self.referees.len());
        if let Some(known) = self.referees.iter().find(|r| is_same(&r.profile, &profile, &host)) {
            let is_repeated = is_repeated(&known.profile, &profile)
                && known.conversation == conversation
                && now.since(known.registered_at) <= SAME_ANSWER;
            return same_again(AgentId::Referee(known.id), known.nonce, is_repeated);
        }
        let profile = with_address(profile, &host, REFEREE_PORT_BASE + referee.number());
        if matches!(self.phase, Phase::Completed { .. }) {
            return Err(Refusal::LateRegistration);
        }
        self.check_profile(&profile)?;
        if self.referees.len() >= REFEREES_MAX as usize {
            return Err(Refusal::TooManyReferees { limit: REFEREES_MAX });
        }
        let nonce = dice.bytes32();
        let reply = Reply::Registered { agent: AgentId::Referee(referee), nonce };
        let (capacity, operated) = (1, false);
        let fact =
            Fact::RefereeRegistered { referee, profile, nonce, conversation, capacity, operated };
        Ok(Decision { fact: Some(fact), reply })
    }

    fn check_profile(&self, profile: &Profile) -> Result<(), Refusal> {
        if let Some(name) = profile.unreasonable_text() {
            return Err(Refusal::BadProfile(name));
        }
        let got = profile.protocol_version;
        if !got.is_supported() {
            return Err(Refusal::UnsupportedVersion { got });
        }
        if !profile.games.contains(&self.charter.game) {
            return Err(Refusal::UnsupportedGame(self.charter.game.clone()));
        }
        match self.endpoints.get(&profile.endpoint) {
            Some(agent) => Err(Refusal::AlreadyRegistered(*agent)),
            None => Ok(()),
        }
    }

    fn decide_start(&self) -> Result<Decision, Refusal> {
        if self.phase != Phase::Registering {
            return Err(Refusal::AlreadyStarted);
        }
        if self.players.len() < 2 {
            return Err(Refusal::TooFewPlayers { players: self.players.len() });
        }
        if self.referees.is_empty() {
            return Err(Refusal::NoReferee);
        }
        Ok(Decision { fact: Some(Fact::LeagueStarted), reply: Reply::Done })
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
        match self.check_report(&report) {
            Ok(()) => Ok(record(report, open)),
            Err(lie) => self.noted(open, &report, Refusal::FalseReport { match_id, lie }),
        }
    }

    /// The filed result of a match that has one, in whatever round.
    fn filed_result(&self, id: MatchId) -> Option<&Filed> {
        let past = self.filed.get(id.round.number() as usize - 1);
        let past = past.and_then(|round| round.get(id.index()));
        past.or_else(|| self.open_match(id).and_then(|open| open.filed.as_ref()))
    }

    fn check_report(&self, report: &Report) -> Result<(), Lie> {
        report.evidence.0.as_ref().map_err(Clone::clone)?;
        let scores = report.verdict.scores();
        for seat in Seat::BOTH {
            let points = scores[seat].points(&self.articles.policy);
            if report.points[seat].is_some_and(|claimed| claimed != points) {
                return Err(Lie::WrongPoints);
            }
        }
        let game = &*self.articles.game;
        let played = |outcome| match game::replay(game, &report.play.turns)? == outcome {
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
        Ok(Decision { fact: Some(fact), reply: Reply::ReportRefused(refusal) })
    }

    fn decide_void(
        &self,
        match_id: MatchId,
        attempt: u32,
        cause: VoidCause,
    ) -> Result<Decision, Refusal> {
        let open = self.open_match(match_id).ok_or(Refusal::UnknownMatch(match_id))?;
        if open.filed.is_some() {
            return Ok(Decision { fact: None, reply: Reply::Recorded { again: true } });
        }
        if attempt != open.attempt {
            return Err(Refusal::StaleAttempt { match_id, got: attempt, current: open.attempt });
        }
        let (annulled, reason) = match cause {
            VoidCause::LeaseExpired => (false, "the referee showed no sign of life".into()),
            VoidCause::NotTaken { reason } => (false, reason),
            VoidCause::Annulled { referee, .. } if referee != open.referee => {
                return Err(Refusal::NotYourMatch { match_id, assigned: open.referee });
            }
            VoidCause::Annulled { .. } if open.annulments >= ANNULMENTS_MAX => {
                return Err(Refusal::TooManyAnnulments(match_id));
            }
            VoidCause::Annulled { reason, .. } => (true, reason),
        };
        let referee = self.replacement(open.referee);
        let attempt = attempt + 1;
        let fact = Fact::MatchReassigned { match_id, attempt, referee, annulled, reason };
        Ok(Decision { fact: Some(fact), reply: Reply::Done })
    }

    /// Somebody else if there is anybody else, the same referee otherwise; whoever has vanished
    /// lately only if nobody else is left.
    fn replacement(&self, failed: RefereeId) -> RefereeId {
        let mut running = vec![0_u32; self.referees.len()];
        if let Some(round) = self.open_round() {
            for open in round.matches.iter().filter(|open| open.filed.is_none()) {
                running[open.referee.index()] += 1;
            }
        }
        let loads = |present_only: bool, max: fn(&Referee) -> u32| -> Vec<Load> {
            let referees = self.referees.iter().zip(&running);
            let wanted = referees.filter(|(referee, _)| !present_only || !referee.vanished);
            let load = |(referee, running): (&Referee, &u32)| {
                let (id, given) = (referee.id, referee.given);
                let official = Official { id, max_concurrent: max(referee), given };
                Load { official, running: *running }
            };
            wanted.map(load).collect()
        };
        let capacity = |referee: &Referee| referee.capacity;
        officials::replacement(&loads(true, capacity), failed)
            .or_else(|| officials::replacement(&loads(true, |_| u32::MAX), failed))
            .or_else(|| officials::replacement(&loads(false, |_| u32::MAX), failed))
            .unwrap_or(failed)
    }
}

/// The profile with an address: its own, or the one the documents derive for agents without one.
fn with_address(profile: Profile, host: &str, port: u32) -> Profile {
    if !profile.endpoint.is_empty() {
        return profile;
    }
    Profile { endpoint: format!("http://{host}:{port}/mcp").into(), ..profile }
}

/// Whether two profiles are of the same agent: the same address, or, for one that names none, the
/// same person and program on the same host.
fn is_same(known: &Profile, asking: &Profile, host: &str) -> bool {
    if !asking.endpoint.is_empty() {
        return known.endpoint == asking.endpoint;
    }
    let on_host = known.endpoint.starts_with(&format!("http://{host}:"));
    on_host
        && (&known.display_name, &known.version, &known.email)
            == (&asking.display_name, &asking.version, &asking.email)
}

/// Whether a registration says exactly what an earlier one said. The answer holds the token, so
/// nobody gets it by knowing an address and a conversation.
fn is_repeated(known: &Profile, asking: &Profile) -> bool {
    let endpoint = if asking.endpoint.is_empty() { &known.endpoint } else { &asking.endpoint };
    *known == Profile { endpoint: endpoint.clone(), ..asking.clone() }
}

/// The same registration again gets the same answer for a while; another one is a duplicate.
const fn same_again(
    agent: AgentId,
    nonce: [u8; 32],
    is_repeated: bool,
) -> Result<Decision, Refusal> {
    if is_repeated {
        return Ok(Decision { fact: None, reply: Reply::Registered { agent, nonce } });
    }
    Err(Refusal::AlreadyRegistered(agent))
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
    if filed.referee == report.referee && filed.digest == reported {
        return Ok(Decision { fact: None, reply: Reply::Recorded { again: true } });
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
    Decision { fact: Some(Fact::ResultRecorded(Box::new(recorded))), reply }
}
