//! What happens in a league, told to whoever runs it: lines in the log and figures.

use league_agent::component::Component;
use league_agent::log::{self, Level, Line};
use league_agent::meter::Meter;
use league_core::id::{ConversationId, LeagueId};
use league_core::manager::{Event, Fact, Order, Profile, Recorded};
use league_core::roster::{StateKind, Transition};
use league_core::verdict::Verdict;
use league_wire::{Code, MessageType};

use super::words;

/// Tells what is in the books now.
pub(super) fn tell(league: &LeagueId, events: &[Event]) {
    let meter = Meter::of(Component::Manager);
    for Event { fact, .. } in events {
        if let Some(verdict) = verdict(fact) {
            meter.decided(verdict);
        }
        log::at(level(fact), Component::Manager, |line| {
            line.league(league);
            describe(line, fact);
        });
    }
}

/// The result that a match got.
#[expect(clippy::wildcard_enum_match_arm, reason = "few events are results")]
fn verdict(fact: &Fact) -> Option<Verdict> {
    match fact {
        Fact::ResultRecorded(recorded) => Some(recorded.verdict),
        Fact::Walkover { verdict, .. } => Some(*verdict),
        Fact::MatchCancelled { replaced: None, .. } => Some(Verdict::Cancelled),
        _ => None,
    }
}

/// The books cannot be written.
pub(super) fn broken(league: &LeagueId, error: &dyn std::error::Error) {
    log::at(Level::Critical, Component::Manager, |line| {
        line.league(league).say(format!("the books cannot be written: {error}"));
    });
}

const fn level(fact: &Fact) -> Level {
    match fact {
        Fact::LeagueCreated(_)
        | Fact::PlayerRegistered { .. }
        | Fact::RefereeRegistered { .. }
        | Fact::PlayerReturned { .. }
        | Fact::RefereeReturned { .. }
        | Fact::LeagueStarted
        | Fact::RoundOpened { .. }
        | Fact::ResultRecorded(_)
        | Fact::RoundClosed { .. }
        | Fact::Walkover { .. }
        | Fact::MatchCancelled { .. }
        | Fact::RematchOrdered { .. }
        | Fact::Administered { .. }
        | Fact::TokenReplaced { .. }
        | Fact::ShapeSettled { .. }
        | Fact::LeagueCompleted => Level::Info,
        Fact::MatchReassigned { .. } | Fact::MatchPassedOn { .. } => Level::Warning,
        Fact::ConductNoted { .. } | Fact::MatchStuck { .. } => Level::Error,
        Fact::ReportRefused { .. } => Level::Critical,
        Fact::AgentChanged { transition, .. } => match transition.to {
            StateKind::Suspended | StateKind::Shutdown => Level::Warning,
            StateKind::Init | StateKind::Registered | StateKind::Active => Level::Info,
        },
        Fact::AdmissionSet(_) | Fact::CodeRedeemed { .. } => Level::Debug,
    }
}

fn describe(line: &mut Line, fact: &Fact) {
    match fact {
        Fact::LeagueCreated(_) => line.say("the league is founded"),
        Fact::PlayerRegistered { player, profile, conversation, .. } => {
            line.message_type(MessageType::LeagueRegisterRequest).agent(player);
            joined(line, profile, conversation).say("registered")
        }
        Fact::RefereeRegistered { referee, profile, conversation, .. } => {
            line.message_type(MessageType::RefereeRegisterRequest).agent(referee);
            joined(line, profile, conversation).say("registered")
        }
        Fact::PlayerReturned { player, profile, conversation } => {
            joined(line.agent(player), profile, conversation).say("came back")
        }
        Fact::RefereeReturned { referee, profile, conversation, .. } => {
            joined(line.agent(referee), profile, conversation).say("came back")
        }
        Fact::LeagueStarted => line.say("the league begins"),
        Fact::RoundOpened { round, matches, .. } => {
            line.detail("round", round.number()).detail("matches", matches.len());
            line.say("a round begins")
        }
        Fact::ResultRecorded(recorded) => result(line, recorded),
        Fact::RoundClosed { round } => line.detail("round", round.number()).say("a round is over"),
        Fact::LeagueCompleted => line.say("the league is over"),
        Fact::MatchReassigned { match_id, attempt, referee, reason, .. } => {
            line.match_id(match_id).agent(referee).detail("attempt", attempt);
            line.say(format!("the match is played again: {reason}"))
        }
        Fact::MatchPassedOn { match_id, attempt, referee, reason } => {
            line.match_id(match_id).agent(referee).detail("attempt", attempt);
            line.say(format!("another referee is asked: {reason}"))
        }
        Fact::ReportRefused { match_id, referee, reason } => {
            line.message_type(MessageType::MatchResultReport).code(Code::E031);
            line.match_id(match_id).agent(referee).say(format!("a false report: {reason}"))
        }
        Fact::ConductNoted { match_id, conduct } => {
            let timeouts = conduct.a.timeouts + conduct.b.timeouts;
            let errors = conduct.a.connection_errors + conduct.b.connection_errors;
            let invalid = conduct.a.invalid_moves + conduct.b.invalid_moves;
            line.match_id(match_id).detail("timeouts", timeouts);
            line.detail("connection_errors", errors).detail("invalid_moves", invalid);
            line.say("calls to the players of the match failed")
        }
        Fact::AgentChanged { agent, transition } => changed(line.agent(agent), *transition),
        Fact::Walkover { match_id, reason, .. } => {
            line.match_id(match_id).say(format!("decided without a game: {reason}"))
        }
        Fact::MatchCancelled { match_id, reason, .. } => {
            line.match_id(match_id).say(format!("counts for nobody: {reason}"))
        }
        Fact::MatchStuck { match_id, reason, .. } => {
            line.match_id(match_id).say(format!("waits for the administrator: {reason}"))
        }
        Fact::RematchOrdered { match_id, attempt, referee, .. } => {
            line.match_id(match_id).agent(referee).detail("attempt", attempt);
            line.say("the match is played again by order")
        }
        Fact::AdmissionSet(_) => line.say("who may join is settled"),
        Fact::CodeRedeemed { player, .. } => line.agent(player).say("a join code was used"),
        Fact::Administered { order, reason } => ordered(line, *order, reason),
        Fact::TokenReplaced { agent, .. } => {
            line.agent(agent).say("has a new token; the old one no longer works")
        }
        Fact::ShapeSettled { agent, dialect } => {
            line.agent(agent).text("dialect", dialect);
            line.say(format!("answers to the dialect {dialect}, and is spoken to in it"))
        }
    };
}

fn changed(line: &mut Line, transition: Transition) -> &mut Line {
    let Transition { from, to, reason } = transition;
    let why = words::cause(reason);
    line.text("state", to);
    match to {
        StateKind::Suspended => line.say(format!("suspended, its matches wait: {why}")),
        StateKind::Shutdown => line.say(format!("shut down: {why}")),
        StateKind::Init | StateKind::Registered | StateKind::Active => {
            line.say(format!("{from} becomes {to}: {why}"))
        }
    }
}

fn ordered<'a>(line: &'a mut Line, order: Order, reason: &str) -> &'a mut Line {
    let what = match order {
        Order::Ban(agent) => {
            line.agent(agent);
            "ban"
        }
        Order::Reinstate(agent) => {
            line.agent(agent);
            "reinstate"
        }
        Order::Approve(referee) => {
            line.agent(referee);
            "approve"
        }
        Order::Cancel(match_id) => {
            line.match_id(match_id);
            "annul"
        }
        Order::Rematch(match_id) => {
            line.match_id(match_id);
            "rematch"
        }
        Order::Rotate(agent) => {
            line.agent(agent);
            "rotate"
        }
        Order::Enrol => "roster add",
        Order::Release(agent) => {
            line.agent(agent);
            "release"
        }
        Order::Pause => "pause",
        Order::Resume => "resume",
        Order::CloseRegistration => "close",
        Order::Archive => "archive",
    };
    line.text("order", what).say(format!("the administrator ordered {what}: {reason}"))
}

fn joined<'a>(
    line: &'a mut Line,
    profile: &Profile,
    conversation: &ConversationId,
) -> &'a mut Line {
    line.conversation(conversation).text("display_name", &profile.display_name)
}

fn result<'a>(line: &'a mut Line, recorded: &Recorded) -> &'a mut Line {
    let Recorded { match_id, attempt, referee, conversation, verdict, .. } = recorded;
    line.message_type(MessageType::MatchResultReport).conversation(conversation);
    line.match_id(match_id).agent(referee).detail("attempt", attempt);
    line.text("verdict", word(*verdict)).say("the match has its result")
}

const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Won(_) => "won",
        Verdict::Drawn => "drawn",
        Verdict::TechnicalLoss(_) => "technical_loss",
        Verdict::BothLost => "both_lost",
        Verdict::Cancelled => "cancelled",
    }
}
