//! An agent's place in the league when its token is lost or seen by others: who gets a new one, and
//! who may take a place that was let go.

use std::net::IpAddr;

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

    /// Whether an agent has yet to come back with its new token.
    pub fn is_away(&self, agent: AgentId) -> bool {
        self.hold(agent).is_some_and(|hold| hold.awaited)
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
                agent @ AgentId::Player(player) if self.is_from_there(agent, application) => player,
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
        let agent = self.registered_as(application)?;
        let AgentId::Referee(referee) = agent else { return None };
        let known = &self.referees[referee.index()];
        let is_itself = self.is_from_there(agent, application) && (operated || !known.operated);
        (known.hold.released && is_itself).then_some(referee)
    }

    /// Whether an application comes from the machine that the place belongs to: everybody can name
    /// an address. Of one with a name it must be the machine that registered before; which that
    /// was is not in the books, so after a restart nobody can tell.
    fn is_from_there(&self, agent: AgentId, application: &Application) -> bool {
        let Application { profile, host, .. } = application;
        match address_of(&profile.endpoint) {
            // Whoever names none was found by its host.
            Address::None => true,
            Address::Number(number) => number == &**host,
            Address::Here => is_loopback(host),
            Address::Name => self.hosts.get(&agent) == Some(host),
        }
    }

    /// Why whoever applies like `agent` is not that agent.
    pub(super) fn not_itself(&self, agent: AgentId, application: &Application) -> Refusal {
        let by_address = match (agent, &self.admission.players) {
            (AgentId::Player(_), PlayerAdmission::Codes(_)) => false,
            (AgentId::Player(_), PlayerAdmission::Open) | (AgentId::Referee(_), _) => true,
        };
        let is_free = by_address && self.hold(agent).is_some_and(|hold| hold.released);
        match is_free && !self.is_from_there(agent, application) {
            true => Refusal::FromElsewhere(agent),
            false => Refusal::AlreadyRegistered(agent),
        }
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
            return Err(self.too_late());
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

    /// Whether a player that was given a new token has not come back in time.
    pub(super) fn is_absent(&self, player: PlayerId, now: Timestamp) -> bool {
        self.agenda.awaited.get(&player).is_some_and(|until| *until <= self.clock(now))
    }

    /// Whether a match is open, has no result yet and does not wait for the administrator.
    pub(super) fn is_in_play(&self, match_id: MatchId) -> bool {
        let open = self.open_match(match_id);
        open.is_some_and(|open| open.filed.is_none() && open.stuck.is_none())
    }
}

/// Where an endpoint is, as far as its address tells.
enum Address<'a> {
    None,
    Number(&'a str),
    /// The machine itself, whichever that is.
    Here,
    Name,
}

fn address_of(endpoint: &str) -> Address<'_> {
    let rest = endpoint.split_once("://").map_or("", |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let named = match authority.rsplit_once(':') {
        Some((named, port)) if !port.ends_with(']') => named,
        Some(_) | None => authority,
    };
    match named {
        "" => Address::None,
        _ if named.starts_with('[') => Address::Number(named),
        _ if named.chars().all(|c| c.is_ascii_digit() || c == '.') => Address::Number(named),
        _ if named.eq_ignore_ascii_case("localhost") => Address::Here,
        _ => Address::Name,
    }
}

/// Whether a host, as it stands in an address, is the machine itself.
fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// A place that was let go has somebody again, with a token of its own.
fn taken(agent: AgentId, dice: &mut impl Dice, also: impl Iterator<Item = Fact>) -> Decision {
    let nonce = dice.bytes32();
    let fact = Some(Fact::TokenReplaced { agent, nonce });
    Decision { fact, also: also.collect(), reply: Reply::Registered { agent, nonce } }
}
