//! An agent's place in the league when its token is lost or seen by others: who gets a new one, and
//! who may take a place that was let go.

use super::registration::{profile_of_player, profile_of_referee};
use super::{
    Application, Decision, Fact, League, Phase, PlayerAdmission, Refusal, Reply, StuckCause,
};
use crate::dice::Dice;
use crate::id::{AgentId, MatchId, PlayerId, RefereeId};
use crate::roster::AgentState;
use crate::time::Timestamp;

/// How an agent holds its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Hold {
    /// The random part of the token that it had before, which no longer works.
    pub former: Option<[u8; 32]>,
    /// Whether the administrator let the place go: whoever registers like the agent is the agent.
    pub released: bool,
    /// Whether it has not come back with its new token yet.
    pub awaited: bool,
}

impl League {
    /// How an agent holds its place.
    pub fn hold(&self, agent: AgentId) -> Option<&Hold> {
        match agent {
            AgentId::Player(id) => self.player(id).map(|player| &player.hold),
            AgentId::Referee(id) => self.referee(id).map(|referee| &referee.hold),
        }
    }

    pub(super) fn hold_mut(&mut self, agent: AgentId) -> &mut Hold {
        match agent {
            AgentId::Player(id) => &mut self.players[id.index()].hold,
            AgentId::Referee(id) => &mut self.referees[id.index()].hold,
        }
    }

    /// Whether an agent's place can be given anew: whoever is shut down has none.
    pub(super) fn check_place(&self, agent: AgentId) -> Result<(), Refusal> {
        let lifecycle = self.lifecycle(agent).ok_or(Refusal::UnknownAgent(agent))?;
        match lifecycle.state() {
            AgentState::Shutdown { may_return: false, .. } => Err(Refusal::ReinstateFirst(agent)),
            AgentState::Shutdown { may_return: true, .. }
            | AgentState::Init
            | AgentState::Registered
            | AgentState::Active
            | AgentState::Suspended { .. } => Ok(()),
        }
    }

    /// The player whose place was let go and who applies now. Names are no proof, since everybody
    /// sees them: it must show the code, or register like before where there are none.
    pub(super) fn place_of_player(&self, application: &Application) -> Option<PlayerId> {
        let player = match &self.admission.players {
            PlayerAdmission::Codes(_) => *self.redeemed.get(&application.join_code?)?,
            PlayerAdmission::Open => match self.registered_as(application)? {
                AgentId::Player(player) if calls_from_there(application) => player,
                AgentId::Player(_) | AgentId::Referee(_) => return None,
            },
        };
        self.players[player.index()].hold.released.then_some(player)
    }

    /// The referee whose place was let go and who applies now. One that was the operator's own
    /// must show that it is.
    pub(super) fn place_of_referee(
        &self,
        application: &Application,
        operated: bool,
    ) -> Option<RefereeId> {
        let AgentId::Referee(referee) = self.registered_as(application)? else { return None };
        let known = &self.referees[referee.index()];
        let is_itself = calls_from_there(application) && (operated || !known.operated);
        (known.hold.released && is_itself).then_some(referee)
    }

    /// Somebody takes the place of a player that was let go.
    pub(super) fn decide_player_place(
        &self,
        now: Timestamp,
        player: PlayerId,
        application: Application,
        dice: &mut impl Dice,
    ) -> Result<Decision, Refusal> {
        let agent = AgentId::Player(player);
        let plays = self.phase == Phase::Registering || self.standings.record_of(player).is_some();
        if !plays {
            return Err(Refusal::LateRegistration);
        }
        let change = self.comeback(now, agent)?;
        let profile = profile_of_player(&application, player);
        self.check_profile(&profile, Some(agent))?;
        let conversation = application.conversation;
        let back = Fact::PlayerReturned { player, profile, conversation };
        Ok(taken(agent, dice, std::iter::once(back).chain(change)))
    }

    /// Somebody takes the place of a referee that was let go.
    pub(super) fn decide_referee_place(
        &self,
        now: Timestamp,
        referee: RefereeId,
        application: Application,
        (capacity, operated): (u32, bool),
        dice: &mut impl Dice,
    ) -> Result<Decision, Refusal> {
        let agent = AgentId::Referee(referee);
        let change = self.comeback(now, agent)?;
        let profile = profile_of_referee(&application, referee);
        self.check_profile(&profile, Some(agent))?;
        let conversation = application.conversation;
        let back = Fact::RefereeReturned { referee, profile, conversation, capacity, operated };
        Ok(taken(agent, dice, std::iter::once(back).chain(change)))
    }

    /// Writes that an agent has a new token. What was handed out under the old one is played
    /// again, and a player is waited for until it has come back.
    pub(super) fn replace_token(&mut self, at: Timestamp, agent: AgentId, nonce: [u8; 32]) {
        let (own, registered_at) = match agent {
            AgentId::Player(id) => {
                let player = &mut self.players[id.index()];
                (&mut player.nonce, &mut player.registered_at)
            }
            AgentId::Referee(id) => {
                let referee = &mut self.referees[id.index()];
                (&mut referee.nonce, &mut referee.registered_at)
            }
        };
        let former = Some(std::mem::replace(own, nonce));
        *registered_at = at;
        *self.hold_mut(agent) = Hold { former, released: false, awaited: true };
        match agent {
            AgentId::Player(player) => {
                let until = at + self.articles.policy.recovery_window();
                self.agenda.awaited.insert(player, until);
                let current = self.players[player.index()].current;
                let outdated = current.filter(|id| self.is_in_play(*id));
                self.agenda.outdated.extend(outdated);
            }
            AgentId::Referee(_) => self.desert(agent),
        }
    }

    /// Writes that an agent has come back.
    pub(super) fn settle_in(&mut self, agent: AgentId) {
        let hold = self.hold_mut(agent);
        (hold.released, hold.awaited) = (false, false);
        if let AgentId::Player(player) = agent {
            self.agenda.awaited.remove(&player);
        }
    }

    /// A match that was handed out under a token which no longer works is played again.
    pub(super) fn due_anew(&self) -> Option<Fact> {
        let &match_id = self.agenda.outdated.first()?;
        let open = self.open_match(match_id)?;
        let stays = self.referee(open.referee).filter(|referee| self.may_officiate(referee));
        let referee = stays.map(|referee| referee.id);
        let reason = "the token of a player was replaced".into();
        let Some(referee) = referee.or_else(|| self.replacement(Some(open.referee))) else {
            return Some(Fact::MatchStuck { match_id, cause: StuckCause::NoReferee, reason });
        };
        let (attempt, annulled) = (open.attempt.saturating_add(1), true);
        Some(Fact::MatchReassigned { match_id, attempt, referee, annulled, reason })
    }

    /// Whether a player that was given a new token is waited for.
    pub(super) fn is_awaited(&self, player: PlayerId, now: Timestamp) -> bool {
        self.agenda.awaited.get(&player).is_some_and(|until| now < *until)
    }

    /// Whether a match is open, has no result yet and does not wait for the administrator.
    pub(super) fn is_in_play(&self, match_id: MatchId) -> bool {
        let open = self.open_match(match_id);
        open.is_some_and(|open| open.filed.is_none() && open.stuck.is_none())
    }
}

/// Whether an application comes from the machine that it names, as far as the address tells:
/// everybody can name an address.
fn calls_from_there(application: &Application) -> bool {
    let Application { profile, host, .. } = application;
    let rest = profile.endpoint.split_once("://").map_or("", |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let named = match authority.rsplit_once(':') {
        Some((named, port)) if !port.ends_with(']') => named,
        Some(_) | None => authority,
    };
    let is_number = named.starts_with('[')
        || named.chars().all(|c| c.is_ascii_digit() || c == '.') && !named.is_empty();
    !is_number || named == &**host
}

/// A place that was let go has somebody again, with a token of its own.
fn taken(agent: AgentId, dice: &mut impl Dice, also: impl Iterator<Item = Fact>) -> Decision {
    let nonce = dice.bytes32();
    let fact = Some(Fact::TokenReplaced { agent, nonce });
    Decision { fact, also: also.collect(), reply: Reply::Registered { agent, nonce } }
}
