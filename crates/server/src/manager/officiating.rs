//! What referees say to the manager: results, signs of life, and that they want their matches.

use league_agent::ambient;
use league_core::manager::dispatch::Handout;
use league_core::manager::{Command, Reply, VoidCause};
use league_wire::message::{
    AssignedMatches, Assignment, GetAssignedMatches, MatchProgress, MatchProgressAck,
    MatchResultAck, MatchResultReport,
};
use league_wire::{Decision, Envelope, Message};

use super::fault::{refused, report};
use super::inbound::{Answered, Manager};
use super::news::{self, Table};
use super::{evidence, figures, shape};
use crate::limits::{ASSIGNMENTS_USUAL, HANDOUTS_MAX};

impl Manager {
    pub(super) async fn record(&self, envelope: &Envelope, message: MatchResultReport) -> Answered {
        let stub = self.league(envelope)?;
        let referee = self.referee(&stub, envelope)?;
        self.check_interrupted(&stub, referee, &message).await?;
        let match_id = message.match_id;
        let conversation =
            message.match_conversation.clone().unwrap_or_else(|| envelope.conversation.clone());
        let (heard, shapes) = (figures::heard(&message), shape::reported(&message));
        if message.draw_seed.is_some() {
            stub.manners().learn(referee, |manner| manner.draws_committed = true);
        }
        let (command, transcript) = {
            let published = stub.published();
            let by = (referee, stub.manners().of(referee).draws_committed);
            evidence::command(&self.keys, &published.league, by, conversation, message)?
        };
        let reply = stub.ask(command, transcript).await.map_err(|error| report(&error))?;
        match reply {
            Reply::Recorded { again } => {
                if !again {
                    self.figures.note(stub.published().league.id(), heard);
                    if stub.published().league.referee(referee).is_some_and(|it| it.operated) {
                        shape::settle(&stub, shapes).await;
                    }
                }
                let (duplicate, standings_updated, assignments) = (again, true, vec![]);
                let ack = MatchResultAck { match_id, duplicate, standings_updated, assignments };
                Ok(Message::MatchResultAck(ack).into())
            }
            Reply::ReportRefused(refusal) => Err(refused(&refusal)),
            Reply::Registered { .. } | Reply::TokenReplaced { .. } | Reply::Done => {
                unreachable!("a report is recorded or refused")
            }
        }
    }

    pub(super) async fn progress(&self, envelope: &Envelope, message: MatchProgress) -> Answered {
        let stub = self.league(envelope)?;
        let referee = self.referee(&stub, envelope)?;
        let MatchProgress { match_id, attempt, .. } = message;
        if let Some(epilogue) = &message.epilogue {
            self.epilogues.note(&stub, referee, envelope, (match_id, attempt, epilogue))?;
            let (status, lease_ms, draw_seed) = (Decision::Accepted, None, None);
            let ack = MatchProgressAck { match_id, attempt, status, lease_ms, draw_seed };
            return Ok(Message::MatchProgressAck(ack).into());
        }
        if let Some(reason) = message.annulled {
            let cause = VoidCause::Annulled { referee, reason: reason.into() };
            let command = Command::VoidAttempt { match_id, attempt, cause };
            stub.ask(command, None).await.map_err(|error| report(&error))?;
            let (status, lease_ms, draw_seed) = (Decision::Rejected, None, None);
            let ack = MatchProgressAck { match_id, attempt, status, lease_ms, draw_seed };
            return Ok(Message::MatchProgressAck(ack).into());
        }
        let held = stub.renew(Handout { referee, match_id, attempt }).await;
        let held = held.map_err(|error| report(&error))?;
        let status = if held { Decision::Accepted } else { Decision::Rejected };
        let lease = stub.published().league.policy().lease();
        let lease_ms = u64::try_from(lease.as_millis()).ok();
        let ack = MatchProgressAck { match_id, attempt, status, lease_ms, draw_seed: None };
        Ok(Message::MatchProgressAck(ack).into())
    }

    pub(super) async fn assigned(
        &self,
        envelope: &Envelope,
        message: GetAssignedMatches,
    ) -> Answered {
        let stub = self.league(envelope)?;
        let referee = self.referee(&stub, envelope)?;
        let held = stub.held_by(referee).await.map_err(|error| report(&error))?;
        let most = message.limit.unwrap_or(ASSIGNMENTS_USUAL) as usize;
        let published = stub.published();
        let (league, table) = (&published.league, Table::of_last_round(&published.league));
        let around = (&*table, stub.mailboxes(), self.reading.is_lenient());
        let assigned = held.iter().filter_map(|held| {
            let order = news::start_match(&self.keys, league, held, around)?;
            Some((*held, Assignment { league_id: Some(league.id().clone()), order }))
        });
        let (taken, assignments) = assigned.take(most.min(HANDOUTS_MAX)).unzip();
        stub.manners().learn(referee, |manner| manner.asked_at = Some(ambient::now()));
        stub.taken(taken);
        Ok(Message::AssignedMatches(AssignedMatches { assignments }).into())
    }
}
