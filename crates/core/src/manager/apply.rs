//! What an event changes. Writes, never refuses.

use std::collections::VecDeque;

use super::digest::digest;
use super::{
    Event, Fact, Filed, HISTORY_MAX, League, OpenMatch, OpenRound, PastMatch, Phase, Player,
    Recorded, Referee,
};
use crate::game::{Move, Turn};
use crate::id::{AgentId, MatchId, RoundId};
use crate::schedule::RoundResults;
use crate::seat::{Seat, Seats};
use crate::standings::Standings;

impl League {
    /// Writes what happened.
    ///
    /// # Panics
    /// If the event was not decided by a league that stood where this one stands: a journal that
    /// says so is not this league's journal.
    pub fn apply(&mut self, event: &Event) {
        match &event.fact {
            Fact::LeagueCreated(charter) => {
                assert_eq!(**charter, self.charter, "a league is created once");
            }
            Fact::PlayerRegistered { player, profile, nonce, conversation } => {
                assert_eq!(player.index(), self.players.len(), "players are numbered in order");
                self.endpoints.insert(profile.endpoint.clone(), AgentId::Player(*player));
                let (profile, conversation) = (profile.clone(), conversation.clone());
                self.players.push(Player {
                    id: *player,
                    profile,
                    nonce: *nonce,
                    conversation,
                    registered_at: event.at,
                    history: VecDeque::new(),
                });
            }
            Fact::RefereeRegistered {
                referee,
                profile,
                nonce,
                conversation,
                capacity,
                operated,
            } => {
                assert_eq!(referee.index(), self.referees.len(), "referees are numbered in order");
                self.endpoints.insert(profile.endpoint.clone(), AgentId::Referee(*referee));
                let (profile, conversation) = (profile.clone(), conversation.clone());
                self.referees.push(Referee {
                    id: *referee,
                    profile,
                    nonce: *nonce,
                    conversation,
                    registered_at: event.at,
                    capacity: *capacity,
                    operated: *operated,
                    vanished: false,
                    given: 0,
                });
            }
            Fact::LeagueStarted => {
                let players: Vec<_> = self.players.iter().map(|player| player.id).collect();
                self.standings = Standings::new(&players);
                self.phase = Phase::BetweenRounds { next: RoundId::FIRST };
            }
            Fact::RoundOpened { .. } => self.open_round_of(event),
            Fact::MatchReassigned { match_id, attempt, referee, annulled, .. } => {
                self.referees[referee.index()].given += 1;
                let open = self.match_mut(match_id.index());
                open.attempt = *attempt;
                let before = std::mem::replace(&mut open.referee, *referee);
                open.annulments += u32::from(*annulled);
                self.referees[before.index()].vanished |= !annulled;
            }
            Fact::ResultRecorded(recorded) => self.record(recorded),
            Fact::ReportRefused { match_id, .. } => {
                self.refused_reports += 1;
                self.match_mut(match_id.index()).lies += 1;
            }
            Fact::RoundClosed { round } => self.close_round(*round),
            Fact::LeagueCompleted => self.phase = Phase::Completed { at: event.at },
        }
    }

    fn open_round_of(&mut self, event: &Event) {
        let Fact::RoundOpened { round, starts_at, deadline, matches, byes } = &event.fact else {
            unreachable!("called for opened rounds")
        };
        for scheduled in matches {
            self.referees[scheduled.referee.index()].given += 1;
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
    pub fn record<Text, Conversation>(&mut self, recorded: &Recorded<Text, Conversation>) {
        let (turns, stranded) = (&recorded.turns, &recorded.stranded);
        let (moves, number) = last_moves(turns, stranded);
        let (verdict, referee) = (recorded.verdict, recorded.referee);
        let digest = digest(verdict, turns, stranded);
        self.file(recorded.match_id, Filed { verdict, referee, digest }, moves, number);
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
        let pairing = open.pairing;
        round.unfinished -= 1;
        self.referees[filed.referee.index()].vanished = false;
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
            remember(&mut self.players[pairing.player(seat).index()].history, past);
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
