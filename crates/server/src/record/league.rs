//! The record of one league, read from the journal from its first row to its last.

use std::collections::BTreeMap;
use std::sync::Arc;

use league_core::conduct::Conduct;
use league_core::id::{AgentId, LeagueId, MatchId, RefereeId, RoundId};
use league_core::manager::{Event, Fact, Order, Profile, Recorded, Scheduled};
use league_core::schedule::Pairing;
use league_core::seat::{Seat, Seats};
use league_core::time::Timestamp;
use league_core::verdict::Verdict;
use sha2::{Digest, Sha256};

use super::{Transcript, Unpacked, redact::redact, unpack};
use crate::journal::codec::{self, CodecError};
use crate::journal::sqlite::SqliteView;
use crate::journal::{Head, JournalError, Seq};
use crate::limits::REPLAY_PAGE_ROWS;

/// Why a record could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A row is not an event.
    #[error("row {seq} of league {league}: {source}")]
    Codec {
        /// Which league.
        league: LeagueId,
        /// Which row.
        seq: Seq,
        /// What is wrong with it.
        source: CodecError,
    },
}

/// What the journal says about one league.
#[derive(Debug)]
pub struct LeagueRecord {
    /// The league.
    pub id: LeagueId,
    /// When it was founded.
    pub founded: Timestamp,
    /// What every agent calls itself, by its identifier.
    pub names: BTreeMap<String, String>,
    /// Every match that was ever announced.
    pub matches: BTreeMap<MatchId, MatchRecord>,
    /// What the administrator ordered, the earliest first.
    pub orders: Vec<Ordered>,
    /// Agents that answered to another shape than they were spoken to in, the earliest first.
    pub reshaped: Vec<Reshaped>,
    /// In which shape every agent registered, and is spoken to.
    shapes: BTreeMap<AgentId, (Arc<str>, Arc<str>)>,
    /// Whether it has come to its end.
    pub completed: bool,
}

/// An agent is spoken to in another shape.
#[derive(Debug, Clone)]
pub struct Reshaped {
    /// Since when.
    pub at: Timestamp,
    /// Who.
    pub agent: AgentId,
    /// The shape it was spoken to in before.
    pub before: Arc<str>,
    /// The shape it answered to.
    pub now: Arc<str>,
}

impl Reshaped {
    /// It in a sentence.
    pub fn told(&self) -> String {
        let Self { agent, before, now, .. } = self;
        format!(
            "{agent} answers to {now}, and not to {before}: it is spoken to in {now} from now on"
        )
    }
}

/// An order of the administrator.
#[derive(Debug, Clone)]
pub struct Ordered {
    /// When.
    pub at: Timestamp,
    /// Which.
    pub order: Order,
    /// Why.
    pub reason: Arc<str>,
}

impl Ordered {
    /// The command that gives it.
    pub const fn word(&self) -> &'static str {
        match self.order {
            Order::Ban(_) => "ban",
            Order::Reinstate(_) => "reinstate",
            Order::Approve(_) => "approve",
            Order::Pause => "pause",
            Order::Resume => "resume",
            Order::CloseRegistration => "close",
            Order::Cancel(_) => "annul",
            Order::Rematch(_) => "rematch",
            Order::Archive => "archive",
            Order::Rotate(_) => "rotate",
            Order::Release(_) => "release",
            Order::Enrol => "roster add",
        }
    }

    /// The agent or the match that it is about, if it is about one.
    pub fn about(&self) -> Option<String> {
        match self.order {
            Order::Ban(agent)
            | Order::Reinstate(agent)
            | Order::Rotate(agent)
            | Order::Release(agent) => Some(agent.to_string()),
            Order::Approve(referee) => Some(referee.to_string()),
            Order::Cancel(match_id) | Order::Rematch(match_id) => Some(match_id.to_string()),
            Order::Pause
            | Order::Resume
            | Order::CloseRegistration
            | Order::Archive
            | Order::Enrol => None,
        }
    }
}

/// What the journal says about one match.
#[derive(Debug)]
pub struct MatchRecord {
    /// The match.
    pub match_id: MatchId,
    /// Who plays.
    pub pairing: Pairing,
    /// Who officiates.
    pub referee: RefereeId,
    /// What went wrong on the way: attempts that came to nothing, reports that were refused.
    pub remarks: Vec<(Timestamp, String)>,
    /// The last report of it, when that was recorded, and in which row.
    pub result: Option<(Timestamp, Seq, Box<Recorded>)>,
    /// How it counts, since when, and why: as it was reported, or without a game, or by order.
    pub decided: Option<(Timestamp, Verdict, Arc<str>)>,
    /// What there is of the transcript of its last report.
    pub kept: Kept,
}

/// What there is of a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// There never was one.
    Nothing,
    /// It was deleted.
    Expired,
    /// It is there.
    Whole,
}

/// What there is of a match's transcript.
#[derive(Debug)]
pub enum Found {
    /// No result, or a referee that sent none.
    None,
    /// It was there and has been deleted since; its hash is in the record.
    Expired,
    /// In our own form.
    Ours(Box<Transcript>),
    /// JSON in the form of somebody else.
    Foreign(String),
    /// It is there and cannot be read, for the reason given.
    Unreadable(String),
}

/// Calls `each` with every event of a league.
///
/// # Errors
/// If the journal cannot be read.
pub fn walk(
    view: &SqliteView,
    league: &LeagueId,
    mut each: impl FnMut(Seq, Event),
) -> Result<(), ReadError> {
    let mut head = Head::genesis(league);
    loop {
        let rows = view.read(league, head, REPLAY_PAGE_ROWS)?;
        let Some(last) = rows.last() else { return Ok(()) };
        head = last.head();
        for row in &rows {
            let event = codec::decode(&row.bytes).map_err(|source| ReadError::Codec {
                league: league.clone(),
                seq: row.seq,
                source,
            })?;
            each(row.seq, event);
        }
    }
}

/// When a league was founded; nothing else of it is read.
///
/// # Errors
/// If the journal cannot be read.
pub fn founded(view: &SqliteView, league: &LeagueId) -> Result<Option<Timestamp>, ReadError> {
    let rows = view.read(league, Head::genesis(league), 1)?;
    let Some(row) = rows.first() else { return Ok(None) };
    let event = codec::decode(&row.bytes).map_err(|source| ReadError::Codec {
        league: league.clone(),
        seq: row.seq,
        source,
    })?;
    Ok(Some(event.at))
}

impl LeagueRecord {
    /// Reads the league `id`.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn read(view: &SqliteView, id: &LeagueId) -> Result<Self, ReadError> {
        let mut record = Self {
            id: id.clone(),
            founded: Timestamp::from_millis(0),
            names: BTreeMap::new(),
            matches: BTreeMap::new(),
            orders: vec![],
            reshaped: vec![],
            shapes: BTreeMap::new(),
            completed: false,
        };
        walk(view, id, |seq, event| record.add(seq, event))?;
        for one in record.matches.values_mut() {
            one.kept = match &one.result {
                Some((_, seq, recorded)) if recorded.transcript.is_some() => {
                    match view.size(id, *seq)? {
                        Some(_) => Kept::Whole,
                        None => Kept::Expired,
                    }
                }
                Some(_) | None => Kept::Nothing,
            };
        }
        Ok(record)
    }

    fn add(&mut self, seq: Seq, event: Event) {
        let at = event.at;
        match event.fact {
            Fact::LeagueCreated(_) => self.founded = at,
            Fact::PlayerRegistered { player, profile, .. }
            | Fact::PlayerReturned { player, profile, .. } => {
                self.enter(AgentId::Player(player), &profile);
            }
            Fact::RefereeRegistered { referee, profile, .. }
            | Fact::RefereeReturned { referee, profile, .. } => {
                self.enter(AgentId::Referee(referee), &profile);
            }
            Fact::ShapeSettled { agent, dialect } => self.reshape(at, agent, dialect),
            Fact::RoundOpened { round, matches, .. } => self.announce(round, &matches),
            Fact::MatchReassigned { match_id, attempt, referee, annulled, reason } => {
                let what = if annulled { "was annulled" } else { "came to nothing" };
                self.give_away((match_id, at), (attempt, referee), |old| {
                    format!("attempt {} by {old} {what}: {reason}", attempt.saturating_sub(1))
                });
            }
            Fact::MatchPassedOn { match_id, attempt, referee, reason } => {
                self.give_away((match_id, at), (attempt, referee), |old| {
                    format!("{old} did not take the match: {reason}")
                });
            }
            Fact::ResultRecorded(recorded) => {
                if let Some(record) = self.matches.get_mut(&recorded.match_id) {
                    record.referee = recorded.referee;
                    record.decided = Some((at, recorded.verdict, recorded.reason.clone()));
                    record.result = Some((at, seq, recorded));
                }
            }
            Fact::ReportRefused { match_id, referee, reason } => {
                self.remark(match_id, at, format!("a report of {referee} was refused: {reason}"));
            }
            Fact::Walkover { match_id, verdict, reason } => {
                self.decide(match_id, Some((at, verdict, reason.clone())));
                self.remark(match_id, at, format!("decided without a game: {reason}"));
            }
            Fact::MatchCancelled { match_id, reason, .. } => {
                self.decide(match_id, Some((at, Verdict::Cancelled, reason.clone())));
                self.remark(match_id, at, format!("counts for nobody: {reason}"));
            }
            Fact::MatchStuck { match_id, reason, .. } => {
                self.remark(match_id, at, format!("waits for the administrator: {reason}"));
            }
            Fact::RematchOrdered { match_id, attempt, referee, .. } => {
                self.decide(match_id, None);
                let text = format!("played again by order; attempt {attempt} goes to {referee}");
                self.remark(match_id, at, text);
            }
            Fact::Administered { order, reason } => {
                if let Order::Rematch(match_id) = order {
                    let text = format!("the administrator wants a rematch: {reason}");
                    self.remark(match_id, at, text);
                }
                self.orders.push(Ordered { at, order, reason });
            }
            Fact::ConductNoted { match_id, conduct } => self.conduct(match_id, at, &conduct),
            Fact::LeagueStarted
            | Fact::RoundClosed { .. }
            | Fact::AgentChanged { .. }
            | Fact::AdmissionSet(_)
            | Fact::CodeRedeemed { .. }
            | Fact::TokenReplaced { .. } => {}
            Fact::LeagueCompleted => self.completed = true,
        }
    }

    /// Whoever comes back with the shape it registered with is known in the one that was found.
    fn enter(&mut self, agent: AgentId, profile: &Profile) {
        self.names.insert(agent.to_string(), profile.display_name.to_string());
        let named = &profile.dialect;
        if self.shapes.get(&agent).is_none_or(|(registered, _)| registered != named) {
            self.shapes.insert(agent, (named.clone(), named.clone()));
        }
    }

    fn reshape(&mut self, at: Timestamp, agent: AgentId, now: Arc<str>) {
        if let Some((_, spoken)) = self.shapes.get_mut(&agent) {
            let before = std::mem::replace(spoken, now.clone());
            self.reshaped.push(Reshaped { at, agent, before, now });
        }
    }

    /// The changes of shape of the players of `record` until it was decided.
    pub fn reshaped_in(&self, record: &MatchRecord) -> impl Iterator<Item = &Reshaped> {
        let (pairing, until) = (record.pairing, record.decided.as_ref().map(|(at, ..)| *at));
        self.reshaped.iter().filter(move |change| {
            let is_theirs = Seat::BOTH
                .iter()
                .any(|seat| change.agent == AgentId::Player(pairing.player(*seat)));
            is_theirs && until.is_none_or(|until| change.at <= until)
        })
    }

    /// A match goes from one referee to the next; `why` tells what the old one came to.
    fn give_away(
        &mut self,
        (match_id, at): (MatchId, Timestamp),
        (attempt, referee): (u32, RefereeId),
        why: impl FnOnce(RefereeId) -> String,
    ) {
        if let Some(record) = self.matches.get_mut(&match_id) {
            let old = std::mem::replace(&mut record.referee, referee);
            let text = format!("{}; attempt {attempt} goes to {referee}", why(old));
            record.remarks.push((at, text));
        }
    }

    fn announce(&mut self, round: RoundId, matches: &[Scheduled]) {
        for (index, scheduled) in matches.iter().enumerate() {
            let match_id = MatchId::from_index(round, index);
            let (pairing, referee) = (scheduled.pairing, scheduled.referee);
            let (remarks, result, decided, kept) = (vec![], None, None, Kept::Nothing);
            let record = MatchRecord { match_id, pairing, referee, remarks, result, decided, kept };
            self.matches.insert(match_id, record);
        }
    }

    fn conduct(&mut self, match_id: MatchId, at: Timestamp, conduct: &Seats<Conduct>) {
        for seat in Seat::BOTH.into_iter().filter(|seat| !conduct[*seat].is_clean()) {
            let Some(record) = self.matches.get(&match_id) else { return };
            let text = format!("{}: {}", record.pairing.player(seat), in_words(conduct[seat]));
            self.remark(match_id, at, text);
        }
    }

    fn decide(&mut self, match_id: MatchId, decided: Option<(Timestamp, Verdict, Arc<str>)>) {
        if let Some(record) = self.matches.get_mut(&match_id) {
            record.decided = decided;
        }
    }

    fn remark(&mut self, match_id: MatchId, at: Timestamp, text: String) {
        if let Some(record) = self.matches.get_mut(&match_id) {
            record.remarks.push((at, text));
        }
    }

    /// The transcript of `record`, compared with the hash in the result.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn transcript(
        &self,
        view: &SqliteView,
        record: &MatchRecord,
    ) -> Result<Found, JournalError> {
        let Some((_, seq, recorded)) = &record.result else { return Ok(Found::None) };
        let Some(hash) = recorded.transcript else { return Ok(Found::None) };
        let Some(stored) = view.attachment(&self.id, *seq)? else { return Ok(Found::Expired) };
        let json = match unpack(&stored.bytes) {
            Unpacked::Whole(json) => json,
            Unpacked::UnknownForm(form) => {
                let text = format!("it has form {form}, which this program does not know");
                return Ok(Found::Unreadable(text));
            }
            Unpacked::Damaged => return Ok(Found::Unreadable("it is damaged".into())),
        };
        if <[u8; 32]>::from(Sha256::digest(&json)) != hash {
            let text = "it is not the one whose hash is in the record";
            return Ok(Found::Unreadable(text.into()));
        }
        // Whoever sent it may have been careless.
        let json = redact(&String::from_utf8_lossy(&json), &[]).into_owned();
        Ok(match serde_json::from_str(&json) {
            Ok(transcript) => Found::Ours(Box::new(transcript)),
            Err(_) => Found::Foreign(json),
        })
    }
}

/// What somebody did wrong; what it did not do is not mentioned.
fn in_words(conduct: Conduct) -> String {
    let Conduct { timeouts, connection_errors, invalid_moves, .. } = conduct;
    let counts = [
        (timeouts, "step without a usable answer in time", "steps without a usable answer in time"),
        (connection_errors, "failed call", "failed calls"),
        (invalid_moves, "invalid move", "invalid moves"),
    ];
    let told = counts.into_iter().filter(|(count, ..)| *count > 0);
    let told =
        told.map(|(count, one, many)| format!("{count} {}", if count == 1 { one } else { many }));
    told.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use league_core::id::{PlayerId, RoundId};
    use league_core::manager::Scheduled;

    use super::*;

    #[test]
    fn what_counts_is_not_always_what_was_reported() {
        let (names, matches) = (BTreeMap::new(), BTreeMap::new());
        let (id, founded) = ("test".parse().unwrap(), Timestamp::default());
        let mut league = LeagueRecord {
            id,
            founded,
            names,
            matches,
            orders: vec![],
            reshaped: vec![],
            shapes: BTreeMap::new(),
            completed: false,
        };
        let (round, referee) = (RoundId::FIRST, RefereeId::new(1));
        let pairing = Pairing { a: PlayerId::new(1), b: PlayerId::new(2) };
        let at = Timestamp::default();
        let match_id = MatchId::from_index(round, 0);
        let mut happens = |fact| {
            league.add(Seq::new(1), Event { at, fact });
            league.matches[&match_id].decided.as_ref().map(|(_, verdict, _)| *verdict)
        };
        let matches = vec![Scheduled { pairing, referee, wave: 0 }];
        let (starts_at, deadline, byes) = (at, at, vec![]);
        let opened = Fact::RoundOpened { round, starts_at, deadline, matches, byes };
        assert_eq!(happens(opened), None);
        let (verdict, reason) = (Verdict::TechnicalLoss(Seat::A), Arc::from("P01 has left"));
        let walkover = Fact::Walkover { match_id, verdict, reason };
        assert_eq!(happens(walkover), Some(verdict));
        let cancelled =
            Fact::MatchCancelled { match_id, replaced: Some(verdict), reason: "by order".into() };
        assert_eq!(happens(cancelled), Some(Verdict::Cancelled));
        let (attempt, rematch, replaced) = (2, 1, None);
        let again = Fact::RematchOrdered { match_id, attempt, rematch, referee, replaced };
        assert_eq!(happens(again), None);
    }

    #[test]
    fn changes_of_shape_belong_to_the_matches_before_which_they_happened() {
        let (names, matches, id) = (BTreeMap::new(), BTreeMap::new(), "test".parse().unwrap());
        let at = |ms| Timestamp::from_millis(ms);
        let mut league = LeagueRecord {
            id,
            founded: at(0),
            names,
            matches,
            orders: vec![],
            reshaped: vec![],
            shapes: BTreeMap::new(),
            completed: false,
        };
        let agent = AgentId::Player(PlayerId::new(1));
        league.shapes.insert(agent, ("flat".into(), "flat".into()));
        let referee = RefereeId::new(1);
        for round in [RoundId::FIRST, RoundId::new(2)] {
            let pairing = Pairing { a: PlayerId::new(1), b: PlayerId::new(2) };
            league.announce(round, &[Scheduled { pairing, referee, wave: 0 }]);
        }
        let mut settle = |ms, dialect: &str| {
            let fact = Fact::ShapeSettled { agent, dialect: dialect.into() };
            league.add(Seq::new(1), Event { at: at(ms), fact });
        };
        settle(1, "typed");
        settle(3, "tool");
        let first = MatchId::from_index(RoundId::FIRST, 0);
        league.decide(first, Some((at(2), Verdict::Drawn, "".into())));
        let told = |id| league.reshaped_in(&league.matches[&id]).map(Reshaped::told).collect();
        let before: Vec<String> = told(first);
        let start = "P01 answers to typed, and not to flat: it is spoken to in typed from now on";
        assert_eq!(before, [start]);
        let later: Vec<String> = told(MatchId::from_index(RoundId::new(2), 0));
        assert_eq!(later.len(), 2);
        assert!(later[1].starts_with("P01 answers to tool, and not to typed"), "{later:?}");
    }

    #[test]
    fn one_of_a_kind_is_not_many() {
        let conduct = Conduct { timeouts: 1, invalid_moves: 2, ..Conduct::default() };
        assert_eq!(in_words(conduct), "1 step without a usable answer in time, 2 invalid moves");
    }
}
