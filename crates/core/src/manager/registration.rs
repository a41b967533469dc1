//! Who joins, who comes back, and who has been here before.

use std::time::Duration;

use super::admission::address_key;
use super::{
    Application, Decision, Fact, League, Phase, PlayerAdmission, Profile, Refusal, Reply, Returning,
};
use crate::dice::Dice;
use crate::id::{AgentId, PlayerId, RefereeId};
use crate::limits::{REFEREE_MATCHES_MAX, REFEREES_MAX};
use crate::roster::{AgentState, StateKind, Trigger};
use crate::time::Timestamp;

/// Ports of players and referees that name none: this and their number.
const PLAYER_PORT_BASE: u32 = 8_100;
const REFEREE_PORT_BASE: u32 = 8_000;
/// How long the same registration gets the same answer.
const SAME_ANSWER: Duration = Duration::from_secs(120);

impl League {
    pub(super) fn decide_player(
        &self,
        now: Timestamp,
        application: Application,
        dice: &mut impl Dice,
    ) -> Result<Decision, Refusal> {
        if let Some(returning) = application.known {
            return self.decide_player_return(now, returning, application);
        }
        if let Some(player) = self.place_of_player(&application) {
            return self.decide_player_place(now, player, application, dice);
        }
        if let Some(agent) = self.registered_as(&application) {
            return self.same_again(now, agent, &application);
        }
        if self.phase != Phase::Registering {
            return Err(self.too_late());
        }
        if self.registration_closed {
            return Err(Refusal::RegistrationClosed);
        }
        let code = self.check_code(application.join_code)?;
        let player = PlayerId::from_index(self.players.len());
        let profile = profile_of_player(&application, player);
        let conversation = application.conversation;
        self.check_profile(&profile, None)?;
        let limit = self.charter.players_max;
        if self.players.len() >= limit as usize {
            return Err(Refusal::LeagueFull { limit });
        }
        let nonce = dice.bytes32();
        let reply = Reply::Registered { agent: AgentId::Player(player), nonce };
        let fact = Fact::PlayerRegistered { player, profile, nonce, conversation };
        let also = code.map(|code| Fact::CodeRedeemed { player, code });
        Ok(Decision { fact: Some(fact), also: also.into_iter().collect(), reply })
    }

    pub(super) fn decide_referee(
        &self,
        now: Timestamp,
        application: Application,
        (capacity, operated): (u32, bool),
        dice: &mut impl Dice,
    ) -> Result<Decision, Refusal> {
        let capacity = capacity.clamp(1, REFEREE_MATCHES_MAX);
        if let Some(returning) = application.known {
            return self.decide_referee_return(now, returning, application, (capacity, operated));
        }
        if let Some(referee) = self.place_of_referee(&application, operated) {
            let offers = (capacity, operated);
            return self.decide_referee_place(now, referee, application, offers, dice);
        }
        if let Some(agent) = self.registered_as(&application) {
            return self.same_again(now, agent, &application);
        }
        if matches!(self.phase, Phase::Completed { .. }) {
            return Err(self.too_late());
        }
        let referee = RefereeId::from_index(self.referees.len());
        let profile = profile_of_referee(&application, referee);
        let conversation = application.conversation;
        self.check_profile(&profile, None)?;
        if self.referees.len() >= REFEREES_MAX as usize {
            return Err(Refusal::TooManyReferees { limit: REFEREES_MAX });
        }
        let nonce = dice.bytes32();
        let reply = Reply::Registered { agent: AgentId::Referee(referee), nonce };
        let fact =
            Fact::RefereeRegistered { referee, profile, nonce, conversation, capacity, operated };
        Ok(Decision { fact: Some(fact), also: vec![], reply })
    }

    /// The agent that has registered like this before: the same address, or, for one that names
    /// none, the same person and program on the same host.
    pub fn registered_as(&self, application: &Application) -> Option<AgentId> {
        let Application { profile, host, .. } = application;
        if !profile.endpoint.is_empty() {
            return self.endpoints.get(&address_key(&profile.endpoint)).copied();
        }
        let start = format!("http://{host}:");
        let is_same = |known: &Profile| {
            known.endpoint.starts_with(&start)
                && (&known.display_name, &known.version, &known.email)
                    == (&profile.display_name, &profile.version, &profile.email)
        };
        let player = self.players.iter().find(|player| is_same(&player.profile));
        let referee = || self.referees.iter().find(|referee| is_same(&referee.profile));
        let player = player.map(|player| AgentId::Player(player.id));
        player.or_else(|| referee().map(|referee| AgentId::Referee(referee.id)))
    }

    /// The same registration again gets the same answer for a while. The answer holds the token,
    /// so nobody gets it by knowing an address and a conversation. From which host it came is not
    /// in the books: after a restart the rest must do, or our crash would lock the agent out.
    fn same_again(
        &self,
        now: Timestamp,
        agent: AgentId,
        application: &Application,
    ) -> Result<Decision, Refusal> {
        let (known, nonce, conversation, registered_at) = match agent {
            AgentId::Player(id) => {
                let one = &self.players[id.index()];
                (&one.profile, one.nonce, &one.conversation, one.registered_at)
            }
            AgentId::Referee(id) => {
                let one = &self.referees[id.index()];
                (&one.profile, one.nonce, &one.conversation, one.registered_at)
            }
        };
        let Application { profile, host, .. } = application;
        let named = if profile.endpoint.is_empty() { &known.endpoint } else { &profile.endpoint };
        let is_repeated = *known == Profile { endpoint: named.clone(), ..profile.clone() }
            && *conversation == application.conversation
            && self.hosts.get(&agent).is_none_or(|known| known == host)
            && !application.token_used
            // A token that was ordered anew is handed over by the administrator and nobody else.
            && !self.is_away(agent)
            && now.since(registered_at) <= SAME_ANSWER;
        if is_repeated {
            let reply = Reply::Registered { agent, nonce };
            return Ok(Decision { fact: None, also: vec![], reply });
        }
        Err(self.or_over(self.not_itself(agent, application)))
    }

    /// Nobody who comes too late is helped by knowing that its address is taken.
    fn or_over(&self, refusal: Refusal) -> Refusal {
        let is_over = matches!(self.phase, Phase::Completed { .. });
        if is_over { self.too_late() } else { refusal }
    }

    /// Why nobody can join any more.
    pub(super) fn too_late(&self) -> Refusal {
        match self.phase {
            Phase::Completed { .. } => Refusal::JoinsNoMore(self.id().clone()),
            Phase::Registering | Phase::BetweenRounds { .. } | Phase::Playing(_) => {
                Refusal::LateRegistration
            }
        }
    }

    pub(super) fn check_profile(
        &self,
        profile: &Profile,
        own: Option<AgentId>,
    ) -> Result<(), Refusal> {
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
        let there = self.endpoints.get(&address_key(&profile.endpoint)).copied();
        match there.filter(|there| own != Some(*there)) {
            Some(other) => Err(Refusal::AlreadyRegistered(other)),
            None => Ok(()),
        }
    }

    /// The join code to be used up, if the league wants one.
    fn check_code(&self, shown: Option<[u8; 32]>) -> Result<Option<[u8; 32]>, Refusal> {
        let PlayerAdmission::Codes(codes) = &self.admission.players else { return Ok(None) };
        let shown = shown.ok_or(Refusal::JoinCodeNeeded)?;
        if !codes.iter().any(|invited| invited.code == shown) {
            return Err(Refusal::UnknownJoinCode);
        }
        match self.redeemed.get(&shown) {
            Some(player) => Err(Refusal::JoinCodeUsed(AgentId::Player(*player))),
            None => Ok(Some(shown)),
        }
    }

    fn decide_player_return(
        &self,
        now: Timestamp,
        returning: Returning,
        application: Application,
    ) -> Result<Decision, Refusal> {
        let agent = returning.agent;
        let AgentId::Player(player) = agent else { return Err(Refusal::UnknownAgent(agent)) };
        let known = self.player(player).ok_or(Refusal::UnknownAgent(agent))?;
        let plays = self.phase == Phase::Registering || self.standings.record_of(player).is_some();
        if !plays {
            return Err(self.too_late());
        }
        let also = self.comeback(now, agent)?;
        let profile = self.new_profile(returning, &known.profile, application.profile)?;
        let reply = Reply::Registered { agent, nonce: known.nonce };
        let is_settled = !(known.hold.awaited || known.hold.released);
        if profile == known.profile && is_settled && self.is_playing(agent) {
            return Ok(Decision { fact: None, also: vec![], reply });
        }
        let conversation = application.conversation;
        let fact = Fact::PlayerReturned { player, profile, conversation };
        Ok(Decision { fact: Some(fact), also: also.into_iter().collect(), reply })
    }

    fn decide_referee_return(
        &self,
        now: Timestamp,
        returning: Returning,
        application: Application,
        (capacity, operated): (u32, bool),
    ) -> Result<Decision, Refusal> {
        let agent = returning.agent;
        let AgentId::Referee(referee) = agent else { return Err(Refusal::UnknownAgent(agent)) };
        let known = self.referee(referee).ok_or(Refusal::UnknownAgent(agent))?;
        let also = self.comeback(now, agent)?;
        let profile = self.new_profile(returning, &known.profile, application.profile)?;
        let operated = operated || known.operated;
        let reply = Reply::Registered { agent, nonce: known.nonce };
        let is_same = (&profile, capacity, operated, false)
            == (&known.profile, known.capacity, known.operated, known.vanished);
        let is_settled = !(known.hold.awaited || known.hold.released);
        if is_same && is_settled && self.is_playing(agent) {
            return Ok(Decision { fact: None, also: vec![], reply });
        }
        let conversation = application.conversation;
        let fact = Fact::RefereeReturned { referee, profile, conversation, capacity, operated };
        Ok(Decision { fact: Some(fact), also: also.into_iter().collect(), reply })
    }

    /// Whether an agent may come back, and how its state changes by it.
    pub(super) fn comeback(&self, now: Timestamp, agent: AgentId) -> Result<Option<Fact>, Refusal> {
        if matches!(self.phase, Phase::Completed { .. }) {
            return Err(self.too_late());
        }
        let lifecycle = self.lifecycle(agent).ok_or(Refusal::UnknownAgent(agent))?;
        match lifecycle.state() {
            AgentState::Shutdown { may_return: false, .. } => Err(Refusal::IsShutDown(agent)),
            AgentState::Shutdown { may_return: true, .. }
            | AgentState::Init
            | AgentState::Registered
            | AgentState::Active => Ok(None),
            AgentState::Suspended { .. } => {
                let policy = &self.articles.policy;
                let event = lifecycle.decide(self.clock(now), Trigger::PassHealthCheck, policy)?;
                match event.transition {
                    Some(over) if over.to == StateKind::Shutdown => Err(Refusal::IsShutDown(agent)),
                    change => Ok(change.map(|transition| Fact::AgentChanged { agent, transition })),
                }
            }
        }
    }

    /// What an agent that comes back says of itself. It moves to another address only if nobody
    /// answers at the old one: whoever has seen its token must not take its place.
    fn new_profile(
        &self,
        returning: Returning,
        known: &Profile,
        mut profile: Profile,
    ) -> Result<Profile, Refusal> {
        if profile.endpoint.is_empty() {
            profile.endpoint = known.endpoint.clone();
        }
        let agent = returning.agent;
        self.check_profile(&profile, Some(agent))?;
        let moves = address_key(&profile.endpoint) != address_key(&known.endpoint);
        if moves && !returning.old_is_silent {
            return Err(Refusal::OldAddressAnswers(agent));
        }
        Ok(profile)
    }
}

/// What a player says of itself, with an address.
pub(super) fn profile_of_player(application: &Application, id: PlayerId) -> Profile {
    with_address(application, PLAYER_PORT_BASE + id.number())
}

/// What a referee says of itself, with an address.
pub(super) fn profile_of_referee(application: &Application, id: RefereeId) -> Profile {
    with_address(application, REFEREE_PORT_BASE + id.number())
}

/// The profile with an address: its own, or the one the documents derive for agents without one.
fn with_address(application: &Application, port: u32) -> Profile {
    let Application { profile, host, .. } = application;
    if !profile.endpoint.is_empty() {
        return profile.clone();
    }
    Profile { endpoint: format!("http://{host}:{port}/mcp").into(), ..profile.clone() }
}
