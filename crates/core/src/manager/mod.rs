//! One league, as its manager sees it: registration, rounds, results, standings.
//!
//! [`League::decide`] reads and answers with what happened, [`League::apply`] writes and never
//! refuses, [`League::advance`] names what follows from where the league stands and what time it
//! is. [`League::drive`] is the three together. State is the fold of the events: whoever applies
//! the same events has the same league.

mod admission;
mod admit;
mod advance;
mod agenda;
mod apply;
mod charter;
mod command;
mod decide;
mod digest;
pub mod dispatch;
mod effect;
mod event;
mod order;
mod pause;
mod phase;
mod place;
mod query;
mod refusal;
mod registration;
mod report;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use crate::dice::Dice;
use crate::game::{Game, Move};
use crate::id::{AgentId, ConversationId, LeagueId, MatchId, PlayerId, RefereeId, RoundId};
use crate::policy::Policy;
use crate::roster::Lifecycle;
use crate::schedule::{Format, Pairing, RoundResults};
use crate::standings::{Row, Standings};
use crate::time::{Deadline, Timestamp};
use crate::verdict::Score;

use agenda::Agenda;
use charter::Articles;

pub use admission::{
    Admission, Application, Invited, PlayerAdmission, RefereeAdmission, Returning,
};
pub use charter::{BadCharter, Charter, NotAVersion, Profile, ProtocolVersion, StartRule};
pub use command::{Command, Reply, VoidCause};
pub use effect::{Alert, Effect};
pub use event::{ChoiceEvidence, DrawEvidence, Event, Fact, Recorded, Scheduled, StuckCause};
pub use order::Order;
pub use phase::{Filed, OpenMatch, OpenRound, Phase, Stuck};
pub use place::Hold;
pub use query::MatchRecord;
pub use refusal::{Lie, Refusal};
pub use report::{Evidence, Play, Report, Scales};

/// How many past matches a player is reminded of.
pub const HISTORY_MAX: usize = 50;

/// One league.
#[derive(Debug, Clone)]
pub struct League {
    charter: Charter,
    articles: Articles,
    phase: Phase,
    players: Vec<Player>,
    referees: Vec<Referee>,
    endpoints: BTreeMap<Arc<str>, AgentId>,
    standings: Standings,
    past: Vec<RoundResults>,
    filed: Vec<Vec<Filed>>,
    /// Why matches were not won by playing them.
    reasons: BTreeMap<MatchId, Arc<str>>,
    refused_reports: u32,
    /// Those of them that were about rounds that are over.
    late_lies: u32,
    admission: Admission,
    redeemed: BTreeMap<[u8; 32], PlayerId>,
    /// Why the administrator has banned agents.
    bans: BTreeMap<AgentId, Arc<str>>,
    /// Since when no matches are handed out.
    paused: Option<Timestamp>,
    registration_closed: bool,
    archived: bool,
    agenda: Agenda,
    /// Where agents registered from. Not in the books: after a restart the same registration no
    /// longer gets the same answer.
    hosts: BTreeMap<AgentId, Arc<str>>,
}

/// A registered player.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Player {
    /// Its identifier.
    pub id: PlayerId,
    /// What it says of itself.
    pub profile: Profile,
    /// The random part of its token.
    pub nonce: [u8; 32],
    /// The conversation it registered in.
    pub conversation: ConversationId,
    /// When it registered.
    pub registered_at: Timestamp,
    /// The shape it answers to, where it is not the one it registered with.
    pub spoken: Option<Arc<str>>,
    /// Its last matches, oldest first.
    pub history: VecDeque<PastMatch>,
    /// How it stands.
    pub lifecycle: Lifecycle,
    /// Its match in the round it last played in.
    pub current: Option<MatchId>,
    /// How it holds its place.
    pub hold: Hold,
}

/// A registered referee.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Referee {
    /// Its identifier.
    pub id: RefereeId,
    /// What it says of itself.
    pub profile: Profile,
    /// The random part of its token.
    pub nonce: [u8; 32],
    /// The conversation it registered in.
    pub conversation: ConversationId,
    /// When it registered.
    pub registered_at: Timestamp,
    /// The shape it answers to, where it is not the one it registered with.
    pub spoken: Option<Arc<str>>,
    /// When it last came: it registered, or came back after it was gone.
    pub came_at: Timestamp,
    /// How many matches it runs at once.
    pub capacity: u32,
    /// Whether it is the operator's own.
    pub operated: bool,
    /// Whether it has let a match go without a sign of life, and reported nothing since.
    pub vanished: bool,
    /// How many matches it was given so far.
    pub given: u32,
    /// How many matches of the open round it has without a result.
    pub running: u32,
    /// Whether the administrator has approved it.
    pub approved: bool,
    /// How it stands.
    pub lifecycle: Lifecycle,
    /// How it holds its place.
    pub hold: Hold,
}

impl Referee {
    /// Whether it shows that it is at its matches. The operator's own that take letters together
    /// do, which only ours are known to.
    const fn shows_life(&self) -> bool {
        self.operated && self.profile.batch
    }
}

/// A finished match, as one of its players remembers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastMatch {
    /// Which match.
    pub match_id: MatchId,
    /// Against whom.
    pub opponent: PlayerId,
    /// The player's own last move.
    pub own: Option<Move>,
    /// The opponent's last move.
    pub theirs: Option<Move>,
    /// The number that was drawn.
    pub number: Option<u32>,
    /// What it did to the player's record.
    pub score: Score,
}

/// What a command led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// What happened, if anything did.
    pub fact: Option<Fact>,
    /// What happened along with it.
    pub also: Vec<Fact>,
    /// The answer, to be given once the events are in the books.
    pub reply: Reply,
}

impl League {
    /// A league that has just been founded by `charter`, and the event that says so.
    ///
    /// # Errors
    /// If the charter names unknown rules, games or formats.
    pub fn found(at: Timestamp, charter: Charter) -> Result<(Self, Event), BadCharter> {
        let league = Self::open(&charter)?;
        Ok((league, Event { at, fact: Fact::LeagueCreated(Box::new(charter)) }))
    }

    /// The league that `charter` founds, before anything else has happened.
    ///
    /// # Errors
    /// If the charter names unknown rules, games or formats.
    pub fn open(charter: &Charter) -> Result<Self, BadCharter> {
        Ok(Self::with(charter.clone(), charter.articles()?))
    }

    fn with(charter: Charter, articles: Articles) -> Self {
        Self {
            charter,
            articles,
            phase: Phase::Registering,
            players: vec![],
            referees: vec![],
            endpoints: BTreeMap::new(),
            standings: Standings::new(&[]),
            past: vec![],
            filed: vec![],
            reasons: BTreeMap::new(),
            refused_reports: 0,
            late_lies: 0,
            admission: Admission::default(),
            redeemed: BTreeMap::new(),
            bans: BTreeMap::new(),
            paused: None,
            registration_closed: false,
            archived: false,
            agenda: Agenda::default(),
            hosts: BTreeMap::new(),
        }
    }

    /// Decides, applies, and follows up until nothing more follows.
    ///
    /// # Errors
    /// If the command is refused; nothing has changed then.
    pub fn drive(
        &mut self,
        now: Timestamp,
        command: Command,
        dice: &mut impl Dice,
    ) -> Result<(Vec<Event>, Reply), Refusal> {
        let host = command.applicant_host().cloned();
        let Decision { fact, also, reply } = self.decide(now, command, dice)?;
        let mut decided = fact.into_iter().chain(also);
        // Nearly always one thing happens.
        let mut events = Vec::with_capacity(1);
        while let Some(fact) = decided.next().or_else(|| self.advance(now)) {
            let event = Event { at: now, fact };
            self.apply(&event);
            events.push(event);
        }
        if let (Some(host), Reply::Registered { agent, .. }) = (host, &reply) {
            self.hosts.insert(*agent, host);
        }
        Ok((events, reply))
    }

    /// When the league starts, or, once, when it should have.
    fn start_deadline(&self, woken: Timestamp) -> Option<Deadline> {
        match (&self.phase, self.charter.start) {
            (Phase::Registering, StartRule::At(at)) if woken < at || self.could_start() => {
                Some(Deadline::new(at, "league starts"))
            }
            _ => None,
        }
    }

    /// The league's name.
    pub const fn id(&self) -> &LeagueId {
        &self.charter.league
    }

    /// What it was founded with.
    pub const fn charter(&self) -> &Charter {
        &self.charter
    }

    /// Its rules.
    pub const fn policy(&self) -> &Arc<Policy> {
        &self.articles.policy
    }

    /// Its game.
    pub const fn game(&self) -> &Arc<dyn Game> {
        &self.articles.game
    }

    /// How its rounds are paired.
    pub const fn format(&self) -> &Arc<dyn Format> {
        &self.articles.format
    }

    /// Where it stands.
    pub const fn phase(&self) -> &Phase {
        &self.phase
    }

    /// Its players, in registration order.
    pub fn players(&self) -> &[Player] {
        &self.players
    }

    /// One of its players.
    pub fn player(&self, id: PlayerId) -> Option<&Player> {
        self.players.get(id.index())
    }

    /// Its referees, in registration order.
    pub fn referees(&self) -> &[Referee] {
        &self.referees
    }

    /// One of its referees.
    pub fn referee(&self, id: RefereeId) -> Option<&Referee> {
        self.referees.get(id.index())
    }

    /// How long a referee holds a match: ours show signs of life, from others nothing is heard
    /// before the result, whether they have the league's key or not.
    pub fn lease(&self, id: RefereeId) -> Duration {
        let policy = &self.articles.policy;
        if self.referee(id).is_some_and(Referee::shows_life) {
            return policy.lease();
        }
        let longest = policy.longest_match(self.articles.game.steps_max());
        longest.saturating_add(policy.lease_foreign_margin())
    }

    /// How long a referee may be at one match, whatever it says: ours as long as it shows signs of
    /// life, others twice as long as the longest match, with the wait for a breaker.
    pub fn patience(&self, id: RefereeId) -> Option<Duration> {
        if self.referee(id).is_some_and(Referee::shows_life) {
            return None;
        }
        let twice = self.lease(id).saturating_mul(2);
        Some(twice.saturating_add(self.articles.policy.breaker_open()))
    }

    /// The points and records so far.
    pub const fn standings(&self) -> &Standings {
        &self.standings
    }

    /// The ranked table as it stands.
    pub fn table(&self) -> Vec<Row> {
        self.standings.ranked(&self.articles.policy)
    }

    /// Who leads the table: its first player, and those whom only the order of registration puts
    /// behind it. Nobody does before a game was played.
    pub fn leaders(&self) -> Vec<PlayerId> {
        let count = self.standings.leaders(&self.articles.policy);
        if count == 0 {
            return vec![];
        }
        self.table().iter().take(count).map(|row| row.player).collect()
    }

    /// The ranked table as it stood when `round` had ended.
    pub fn table_after(&self, round: RoundId) -> Vec<Row> {
        self.standings.at_round(round, &self.articles.policy)
    }

    /// The results of the rounds that are over.
    pub fn past(&self) -> &[RoundResults] {
        &self.past
    }

    /// How many false reports were refused.
    pub const fn refused_reports(&self) -> u32 {
        self.refused_reports
    }

    /// The round that is being played.
    pub const fn open_round(&self) -> Option<&OpenRound> {
        if let Phase::Playing(round) = &self.phase { Some(round) } else { None }
    }

    /// Who plays a match, whether it is open or long over.
    pub fn pairing(&self, id: MatchId) -> Option<Pairing> {
        if let Some(open) = self.open_match(id) {
            return Some(open.pairing);
        }
        let round = self.past().get(id.round.number() as usize - 1)?;
        round.matches.get(id.index()).map(|(pairing, _)| *pairing)
    }

    /// A match of the round that is being played.
    pub fn open_match(&self, id: MatchId) -> Option<&OpenMatch> {
        let round = self.open_round().filter(|round| round.id == id.round)?;
        round.matches.get(id.index())
    }
}

impl PartialEq for League {
    /// Two leagues are equal if the same things have happened in them.
    fn eq(&self, other: &Self) -> bool {
        self.charter == other.charter
            && self.phase == other.phase
            && self.players == other.players
            && self.referees == other.referees
            && self.past == other.past
            && self.filed == other.filed
            && self.reasons == other.reasons
            && self.table() == other.table()
            && self.refused_reports == other.refused_reports
            && self.late_lies == other.late_lies
            && self.admission == other.admission
            && self.redeemed == other.redeemed
            && self.bans == other.bans
            && (self.paused, self.registration_closed, self.archived)
                == (other.paused, other.registration_closed, other.archived)
    }
}
