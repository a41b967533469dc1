//! What the shell must do after an event is in the books.

use super::{Event, Fact, League};
use crate::id::{AgentId, MatchId, PlayerId, RoundId};
use crate::roster::{StateKind, Transition};

/// Work for the shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Tell everybody about a round that opens.
    AnnounceRound(RoundId),
    /// Tell everybody that a round is over.
    AnnounceRoundCompleted(RoundId),
    /// Tell everybody the standings.
    AnnounceStandings,
    /// Tell everybody that the league is over.
    AnnounceCompleted,
    /// An agent has joined or has come back, perhaps to another address or with a new token.
    Welcome(AgentId),
    /// Tell an agent nothing more: it has yet to come back with its new token, which is in all
    /// that it would be told, and somebody else may listen where it was.
    FallSilent(AgentId),
    /// Tell an agent that it is suspended, and until when it may recover.
    NoticeSuspension(AgentId),
    /// Tell an agent that it plays again.
    NoticeRecovery(AgentId),
    /// Tell an agent that it is shut down.
    NoticeShutdown(AgentId),
    /// Tell the administrator that something does not go on by itself.
    Alert(Alert),
}

/// Something that does not go on by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Alert {
    /// A match waits for the administrator's decision.
    MatchStuck(MatchId),
    /// The start or the next round waits for somebody to officiate.
    NoReferee,
    /// The time to start has passed, and there are too few players or nobody to officiate.
    StartOverdue,
    /// A match waits for a player that is suspended.
    PlayerSuspended(PlayerId),
    /// A match waits for a player that has yet to come back with its new token.
    PlayerAway(PlayerId),
}

impl League {
    /// What the shell must do once `event` is in the books.
    pub fn effects(&self, event: &Event) -> Vec<Effect> {
        match &event.fact {
            Fact::LeagueCreated(_)
            | Fact::MatchReassigned { .. }
            | Fact::MatchPassedOn { .. }
            | Fact::ReportRefused { .. }
            | Fact::ConductNoted { .. }
            | Fact::AdmissionSet(_)
            | Fact::CodeRedeemed { .. } => vec![],
            Fact::RematchOrdered { replaced: None, .. } => vec![],
            Fact::LeagueStarted | Fact::Administered { .. } => self.alerted(),
            Fact::PlayerRegistered { player, .. } => {
                let mut effects = self.alerted();
                effects.insert(0, self.addressed(AgentId::Player(*player)));
                effects
            }
            Fact::ShapeSettled { agent, .. } => vec![self.addressed(*agent)],
            Fact::PlayerReturned { player, .. } => vec![self.addressed(AgentId::Player(*player))],
            Fact::TokenReplaced { agent, .. } => {
                let waited_for = |player: &PlayerId| AgentId::Player(*player) == *agent;
                let waiting = self.awaited_players().map(|(player, _)| player).filter(waited_for);
                let alert = waiting.map(Alert::PlayerAway).map(Effect::Alert);
                std::iter::once(self.addressed(*agent)).chain(alert).collect()
            }
            Fact::RefereeRegistered { referee, .. } | Fact::RefereeReturned { referee, .. } => {
                vec![self.addressed(AgentId::Referee(*referee))]
            }
            Fact::RoundOpened { round, .. } => {
                let first = std::iter::once(Effect::AnnounceRound(*round));
                first.chain(self.missing_players().map(Effect::Alert)).collect()
            }
            Fact::ResultRecorded(_)
            | Fact::Walkover { .. }
            | Fact::MatchCancelled { .. }
            | Fact::RematchOrdered { replaced: Some(_), .. } => vec![Effect::AnnounceStandings],
            Fact::RoundClosed { round } => {
                let mut effects = self.alerted();
                effects.insert(0, Effect::AnnounceRoundCompleted(*round));
                effects
            }
            Fact::LeagueCompleted => vec![Effect::AnnounceCompleted],
            Fact::AgentChanged { agent, transition } => {
                let mut effects = notices(*agent, *transition);
                let waiting = self.suspended_players().find(|id| AgentId::Player(*id) == *agent);
                effects.extend(waiting.map(Alert::PlayerSuspended).map(Effect::Alert));
                effects
            }
            Fact::MatchStuck { match_id, .. } => vec![Effect::Alert(Alert::MatchStuck(*match_id))],
        }
    }

    /// What does not go on by itself, as things stand.
    pub fn alerts(&self) -> impl Iterator<Item = Alert> {
        let no_referee = self.lacks_referee().then_some(Alert::NoReferee);
        let stuck = self.stuck_matches().map(Alert::MatchStuck);
        no_referee.into_iter().chain(stuck).chain(self.missing_players())
    }

    /// Whom matches of the open round wait for.
    fn missing_players(&self) -> impl Iterator<Item = Alert> {
        let away = self.awaited_players().map(|(player, _)| Alert::PlayerAway(player));
        self.suspended_players().map(Alert::PlayerSuspended).chain(away)
    }

    /// Whether an agent that something has changed about is told things, as it stands now.
    fn addressed(&self, agent: AgentId) -> Effect {
        match self.is_away(agent) {
            true => Effect::FallSilent(agent),
            false => Effect::Welcome(agent),
        }
    }

    fn alerted(&self) -> Vec<Effect> {
        let alert = self.lacks_referee().then_some(Effect::Alert(Alert::NoReferee));
        alert.into_iter().collect()
    }
}

fn notices(agent: AgentId, transition: Transition) -> Vec<Effect> {
    match (transition.from, transition.to) {
        (_, StateKind::Suspended) => vec![Effect::NoticeSuspension(agent)],
        (_, StateKind::Shutdown) => vec![Effect::NoticeShutdown(agent)],
        (StateKind::Suspended, StateKind::Registered | StateKind::Active) => {
            vec![Effect::NoticeRecovery(agent)]
        }
        (_, StateKind::Init | StateKind::Registered | StateKind::Active) => vec![],
    }
}
