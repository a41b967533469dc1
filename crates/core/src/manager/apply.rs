//! What an event changes. Writes, never refuses.

use std::collections::VecDeque;
use std::sync::Arc;

use super::digest::digest;
use super::{
    DrawEvidence, Event, Fact, Filed, HISTORY_MAX, League, OpenMatch, OpenRound, Order, PastMatch,
    Phase, Recorded, Stuck,
};
use crate::game::{Move, Turn};
use crate::id::{AgentId, MatchId, RefereeId, RoundId};
use crate::roster::{StateKind, Trigger};
use crate::schedule::RoundResults;
use crate::seat::{Seat, Seats};
use crate::standings::Standings;
use crate::time::Timestamp;
use crate::verdict::Verdict;

impl League {
    /// Writes what happened.
    ///
    /// # Panics
    /// If the event was not decided by a league that stood where this one stands: a journal that
    /// says so is not this league's journal.
    pub fn apply(&mut self, event: &Event) {
        let at = event.at;
        match &event.fact {
            Fact::LeagueCreated(charter) => {
                assert_eq!(**charter, self.charter, "a league is created once");
            }
            Fact::PlayerRegistered { .. }
            | Fact::RefereeRegistered { .. }
            | Fact::PlayerReturned { .. }
            | Fact::RefereeReturned { .. } => self.admit(event),
            Fact::LeagueStarted => {
                let players: Vec<_> = self.field().collect();
                self.standings = Standings::new(&players);
                self.phase = Phase::BetweenRounds { next: RoundId::FIRST };
                self.all_meet(at, Trigger::StartLeague);
            }
            Fact::RoundOpened { .. } => self.open_round_of(event),
            Fact::MatchReassigned { .. } | Fact::MatchPassedOn { .. } => {
                self.give_away(&event.fact);
            }
            Fact::ResultRecorded(recorded) => self.record(recorded),
            Fact::ReportRefused { match_id, .. } => {
                self.refused_reports += 1;
                match self.open_match(*match_id).is_some() {
                    true => self.match_mut(match_id.index()).lies += 1,
                    false => self.late_lies += 1,
                }
            }
            Fact::RoundClosed { round } => self.close_round(*round),
            Fact::LeagueCompleted => {
                self.phase = Phase::Completed { at };
                self.all_meet(at, Trigger::EndLeague);
                self.agenda = super::Agenda::default();
            }
            Fact::ConductNoted { match_id, conduct } => {
                let pairing = self.match_mut(match_id.index()).pairing;
                for (seat, conduct) in conduct.iter() {
                    for trigger in conduct.triggers() {
                        self.note(at, AgentId::Player(pairing.player(seat)), trigger);
                    }
                }
            }
            Fact::AgentChanged { agent, transition } => self.change(at, *agent, *transition),
            Fact::Walkover { match_id, verdict, reason } => {
                self.explain(*match_id, *verdict, reason);
                self.file_unplayed(*match_id, *verdict);
            }
            Fact::MatchCancelled { match_id, replaced, reason } => {
                if replaced.is_some() {
                    self.unfile(*match_id);
                }
                self.explain(*match_id, Verdict::Cancelled, reason);
                self.file_unplayed(*match_id, Verdict::Cancelled);
            }
            Fact::MatchStuck { match_id, cause, reason } => {
                let stuck = Stuck { since: at, cause: *cause, reason: reason.clone() };
                self.stick(*match_id, stuck);
            }
            Fact::RematchOrdered { .. } => self.order_rematch(&event.fact),
            Fact::AdmissionSet(admission) => self.admission = (**admission).clone(),
            Fact::CodeRedeemed { player, code } => {
                self.redeemed.insert(*code, *player);
            }
            Fact::Administered { order, reason } => self.obey(at, *order, reason),
            Fact::TokenReplaced { agent, nonce } => self.replace_token(at, *agent, *nonce),
            Fact::ShapeSettled { agent, dialect } => self.hear(*agent, dialect.clone()),
        }
    }

    /// Something that happens to every agent at once.
    fn all_meet(&mut self, at: Timestamp, trigger: Trigger) {
        let policy = &self.articles.policy;
        let players = self.players.iter_mut().map(|player| &mut player.lifecycle);
        let referees = self.referees.iter_mut().map(|referee| &mut referee.lifecycle);
        for lifecycle in players.chain(referees) {
            let event = lifecycle.decide(at, trigger, policy);
            lifecycle.apply(&event.expect("every league starts and ends for everybody"), policy);
        }
    }

    fn obey(&mut self, at: Timestamp, order: Order, reason: &Arc<str>) {
        match order {
            Order::Ban(agent) => {
                self.hold_mut(agent).released = false;
                self.bans.insert(agent, reason.clone());
                self.note(at, agent, Trigger::Ban);
            }
            Order::Reinstate(agent) => {
                self.bans.remove(&agent);
                self.note(at, agent, Trigger::Reinstate);
            }
            Order::Approve(referee) => self.referees[referee.index()].approved = true,
            Order::Pause => self.pause(at),
            Order::Resume => self.go_on(at),
            Order::CloseRegistration => self.registration_closed = true,
            Order::Archive => self.archived = true,
            Order::Release(agent) => {
                self.hold_mut(agent).released = true;
                if let AgentId::Referee(referee) = agent {
                    // Whoever comes is not yet whom the administrator trusted.
                    self.referees[referee.index()].approved = false;
                }
            }
            // What becomes of the match or the token is an event of its own.
            Order::Cancel(_) | Order::Rematch(_) | Order::Rotate(_) | Order::Enrol => {}
        }
    }

    fn open_round_of(&mut self, event: &Event) {
        let Fact::RoundOpened { round, starts_at, deadline, matches, byes } = &event.fact else {
            unreachable!("called for opened rounds")
        };
        for referee in &mut self.referees {
            referee.running = 0;
        }
        for (index, scheduled) in matches.iter().enumerate() {
            let referee = &mut self.referees[scheduled.referee.index()];
            referee.given += 1;
            referee.running += 1;
            let match_id = MatchId::from_index(*round, index);
            for seat in Seat::BOTH {
                let player = &mut self.players[scheduled.pairing.player(seat).index()];
                player.current = Some(match_id);
                if player.lifecycle.state().kind() == StateKind::Shutdown {
                    self.agenda.deserted.insert(match_id);
                }
            }
        }
        self.phase = Phase::Playing(OpenRound {
            id: *round,
            opened_at: event.at,
            starts_at: *starts_at,
            deadline: *deadline,
            unfinished: matches.len(),
            matches: matches.iter().copied().map(OpenMatch::new).collect(),
            byes: byes.clone(),
        });
    }

    fn round_mut(&mut self) -> &mut OpenRound {
        let Phase::Playing(round) = &mut self.phase else { panic!("a round is being played") };
        round
    }

    fn match_mut(&mut self, index: usize) -> &mut OpenMatch {
        &mut self.round_mut().matches[index]
    }

    /// Writes a result, as [`League::apply`] does; its texts may be borrowed.
    ///
    /// # Panics
    /// If the result was not decided by a league that stood where this one stands.
    pub fn record<Text: AsRef<str>, Conversation>(
        &mut self,
        recorded: &Recorded<Text, Conversation>,
    ) {
        self.explain(recorded.match_id, recorded.verdict, recorded.reason.as_ref());
        let (turns, stranded) = (&recorded.turns, &recorded.stranded);
        let (moves, number) = last_moves(turns, stranded);
        let (verdict, referee) = (recorded.verdict, Some(recorded.referee));
        let digest = digest(verdict, turns, stranded);
        let (draw, choices) = (recorded.draw, recorded.choices);
        let attempt = recorded.attempt;
        let filed = Filed { verdict, referee, attempt, digest, draw, choices };
        self.file(recorded.match_id, filed, moves, number);
    }

    /// Remembers why a match was not won by playing it.
    fn explain(&mut self, match_id: MatchId, verdict: Verdict, reason: &str) {
        if !verdict.was_played() {
            self.reasons.insert(match_id, reason.into());
        }
    }

    /// Writes a result that nobody played for.
    fn file_unplayed(&mut self, match_id: MatchId, verdict: Verdict) {
        let (draw, choices) = (DrawEvidence::None, Seats::default());
        let attempt = self.match_mut(match_id.index()).attempt;
        let filed = Filed { verdict, referee: None, attempt, digest: 0, draw, choices };
        self.file(match_id, filed, Seats::default(), None);
    }

    fn file(
        &mut self,
        match_id: MatchId,
        filed: Filed,
        moves: Seats<Option<&Move>>,
        number: Option<u32>,
    ) {
        let round = self.round_mut();
        let open = &mut round.matches[match_id.index()];
        assert!(open.filed.is_none(), "a match has one result");
        open.filed = Some(filed);
        open.stuck = None;
        let (pairing, referee) = (open.pairing, open.referee);
        round.unfinished -= 1;
        self.agenda.forget(match_id);
        self.referees[referee.index()].running -= 1;
        if let Some(referee) = filed.referee {
            self.referees[referee.index()].vanished = false;
        }
        let policy = &self.articles.policy;
        self.standings.record(match_id.round, pairing, filed.verdict, policy);
        let scores = filed.verdict.scores();
        for seat in Seat::BOTH {
            let past = PastMatch {
                match_id,
                opponent: pairing.player(seat.other()),
                own: moves[seat].cloned(),
                theirs: moves[seat.other()].cloned(),
                number,
                score: scores[seat],
            };
            let player = &mut self.players[pairing.player(seat).index()];
            remember(&mut player.history, past);
            if filed.referee.is_none() || filed.verdict == Verdict::Cancelled {
                continue;
            }
            let lost = filed.verdict.lost_technically(seat);
            let trigger = if lost { Trigger::LoseTechnically } else { Trigger::Answer };
            // Neither of the two depends on when it happens.
            player.lifecycle.note(Timestamp::default(), trigger, policy);
            if lost && player.lifecycle.failures() >= policy.shutdown_failures() {
                self.agenda.look_at(AgentId::Player(player.id));
            }
        }
    }

    /// Takes a result back.
    fn unfile(&mut self, match_id: MatchId) {
        let round = self.round_mut();
        round.unfinished += 1;
        let open = &mut round.matches[match_id.index()];
        let filed = open.filed.take().expect("only a result can be taken back");
        let (pairing, referee) = (open.pairing, open.referee);
        self.reasons.remove(&match_id);
        self.referees[referee.index()].running += 1;
        let policy = &self.articles.policy;
        self.standings.retract(match_id.round, pairing, filed.verdict, policy);
        for seat in Seat::BOTH {
            let player = &mut self.players[pairing.player(seat).index()];
            player.history.retain(|past| past.match_id != match_id);
            if filed.referee.is_some() && filed.verdict.lost_technically(seat) {
                player.lifecycle.acquit();
            }
        }
    }

    /// Gives a match to a referee under a new attempt, and says who had it before.
    fn hand_over(&mut self, match_id: MatchId, attempt: u32, referee: RefereeId) -> RefereeId {
        let open = self.match_mut(match_id.index());
        open.attempt = attempt;
        open.stuck = None;
        let before = std::mem::replace(&mut open.referee, referee);
        if !open.former.contains(&before) {
            open.former.push(before);
        }
        self.referees[before.index()].running -= 1;
        let now = &mut self.referees[referee.index()];
        now.given += 1;
        now.running += 1;
        self.agenda.orphaned.remove(&match_id);
        self.agenda.outdated.remove(&match_id);
        self.agenda.stuck.remove(&match_id);
        before
    }

    /// A match goes to somebody because its referee did not bring it to an end, or never took it.
    fn give_away(&mut self, fact: &Fact) {
        if let Fact::MatchReassigned { match_id, attempt, referee, annulled, .. } = fact {
            let before = self.hand_over(*match_id, *attempt, *referee);
            let open = self.match_mut(match_id.index());
            open.annulments += u32::from(*annulled);
            open.reassignments += 1;
            self.referees[before.index()].vanished |= !annulled;
        } else if let Fact::MatchPassedOn { match_id, attempt, referee, .. } = fact {
            let before = self.hand_over(*match_id, *attempt, *referee);
            self.referees[before.index()].vanished = true;
        }
    }

    /// A match waits for the administrator.
    fn stick(&mut self, match_id: MatchId, stuck: Stuck) {
        let patience = self.articles.policy.recovery_window();
        let until = self.round_mut().deadline.max(stuck.since) + patience;
        self.match_mut(match_id.index()).stuck = Some(stuck);
        self.agenda.orphaned.remove(&match_id);
        self.agenda.outdated.remove(&match_id);
        self.agenda.stuck.insert(match_id, until);
    }

    fn order_rematch(&mut self, fact: &Fact) {
        let Fact::RematchOrdered { match_id, attempt, rematch, referee, replaced } = fact else {
            unreachable!("called for rematches")
        };
        if replaced.is_some() {
            self.unfile(*match_id);
        }
        self.hand_over(*match_id, *attempt, *referee);
        let open = self.match_mut(match_id.index());
        open.rematch = *rematch;
        (open.annulments, open.reassignments, open.lies) = (0, 0, 0);
        let pairing = open.pairing;
        let gone =
            |seat| self.stands(AgentId::Player(pairing.player(seat)), &[StateKind::Shutdown]);
        if Seat::BOTH.into_iter().any(gone) {
            self.agenda.deserted.insert(*match_id);
        }
    }

    fn close_round(&mut self, round: RoundId) {
        let closed =
            std::mem::replace(&mut self.phase, Phase::BetweenRounds { next: round.next() });
        let Phase::Playing(open) = closed else { panic!("a round is being played") };
        assert_eq!(open.id, round, "the round that is being played is the one that closes");
        let filed: Vec<Filed> = open
            .matches
            .iter()
            .map(|open| open.filed.expect("a round closes when every match has its result"))
            .collect();
        let results = open.matches.iter().zip(&filed).map(|(m, f)| (m.pairing, f.verdict));
        self.past.push(RoundResults { matches: results.collect(), byes: open.byes });
        self.filed.push(filed);
    }
}

/// Puts the newest match where the oldest was: with room for more than are kept, each would go to
/// memory that has long left the processor's cache.
fn remember(history: &mut VecDeque<PastMatch>, past: PastMatch) {
    let length = history.len();
    if length == HISTORY_MAX {
        history.pop_front();
    } else if length == history.capacity() {
        history.reserve_exact(length.max(1).min(HISTORY_MAX - length));
    }
    history.push_back(past);
}

fn last_moves<'a>(
    turns: &'a [Turn],
    stranded: &'a Seats<Option<Move>>,
) -> (Seats<Option<&'a Move>>, Option<u32>) {
    let mut moves = Seats::from_fn(|seat| stranded[seat].as_ref());
    let mut number = None;
    for turn in turns {
        match turn {
            Turn::Moves(made) => {
                for seat in Seat::BOTH {
                    moves[seat] = made[seat].as_ref().or(moves[seat]);
                }
            }
            Turn::Drawn(drawn) => number = Some(*drawn),
        }
    }
    (moves, number)
}
