//! What the manager tells: messages made from the durable league, shared parts encoded once.

use std::collections::BTreeMap;
use std::sync::Arc;

use league_core::draw::Draw;
use league_core::id::{AgentId, MatchId, PlayerId, RefereeId, RoundId};
use league_core::manager::dispatch::Handout;
use league_core::manager::{League, OpenMatch, OpenRound, PastMatch, Phase, Player};
use league_core::proof::{Keys, match_proof, reply_proof};
use league_core::roster::{AgentState as CoreState, Reason};
use league_core::seat::{Seat, Seats};
use league_core::standings::Row;
use league_core::time::Timestamp;
use league_core::verdict::Score;
use league_wire::message::{
    AnnouncedMatch, AssignedPlayer, Champion, LeagueCompleted, MatchOutcome, Officiated, PastGame,
    RoundAnnouncement, RoundCompleted, RoundResult, RoundStart, StandingRow, StandingsUpdate,
    StartMatch, SuspensionNotice,
};
use league_wire::{
    AgentState, AuthToken, Dialect, DrawSeed, Fragment, Listed, Message, PlayerResult,
};

use super::relay::{self, Mailboxes};
use crate::limits::LIST_WHOLE_MAX;

/// The best so many are in every table.
const TABLE_TOP: usize = 20;
/// So many before and after the reader are in every table.
const TABLE_AROUND: usize = 10;

/// A table that is encoded once and cut to size for whom it would be too long.
#[derive(Debug)]
pub(super) struct Table {
    rows: Vec<StandingRow>,
    whole: Option<Fragment>,
}

impl Table {
    /// The table as it stands.
    pub(super) fn of(league: &League) -> Arc<Self> {
        Self::from_rows(league, &league.table())
    }

    /// The table as it stood when the last round had ended.
    pub(super) fn of_last_round(league: &League) -> Arc<Self> {
        let rounds = u32::try_from(league.past().len()).unwrap_or(0);
        if rounds == 0 {
            return Self::of(league);
        }
        Self::from_rows(league, &league.table_after(RoundId::new(rounds)))
    }

    fn from_rows(league: &League, rows: &[Row]) -> Arc<Self> {
        let rows: Vec<_> = rows.iter().map(|row| standing(league, row)).collect();
        let whole = (rows.len() <= LIST_WHOLE_MAX).then(|| StandingRow::encode_list(&rows));
        Arc::new(Self { rows, whole })
    }

    /// How many players it lists.
    pub(super) const fn len(&self) -> usize {
        self.rows.len()
    }

    /// The table for readers `around` whom it may be cut.
    fn cut(&self, around: &[PlayerId]) -> Fragment {
        if let Some(whole) = &self.whole {
            return whole.clone();
        }
        let places = around.iter().filter_map(|id| self.place(*id));
        let places: Vec<usize> = places.collect();
        let near = |at: usize| places.iter().any(|place| place.abs_diff(at) <= TABLE_AROUND);
        let rows = self.rows.iter().enumerate();
        let kept = rows.filter(|(at, _)| *at < TABLE_TOP || near(*at)).map(|(_, row)| row.clone());
        StandingRow::encode_list(&kept.collect::<Vec<_>>())
    }

    fn place(&self, player: PlayerId) -> Option<usize> {
        self.rows.iter().position(|row| row.player_id == player)
    }

    fn row(&self, player: PlayerId) -> Option<Fragment> {
        self.place(player).map(|place| self.rows[place].encode())
    }
}

/// Something to tell every agent of a league.
#[derive(Debug)]
pub(super) enum Notice {
    Round {
        message: RoundAnnouncement,
        own: Option<BTreeMap<PlayerId, AnnouncedMatch>>,
        /// What referees that may go by the announcement are told of their matches.
        officiated: BTreeMap<RefereeId, Fragment>,
    },
    RoundStart(RoundStart),
    RoundResult {
        message: RoundResult,
        own: Option<BTreeMap<PlayerId, MatchOutcome>>,
    },
    RoundCompleted(RoundCompleted),
    Standings {
        at: Timestamp,
        round: Option<RoundId>,
        table: Arc<Table>,
    },
    Completed {
        message: LeagueCompleted,
        table: Arc<Table>,
    },
    State(SuspensionNotice),
}

impl Notice {
    /// Whether everybody is told the same.
    pub(super) fn is_the_same_for_all(&self) -> bool {
        match self {
            Self::Round { own, officiated, .. } => own.is_none() && officiated.is_empty(),
            Self::RoundResult { own, .. } => own.is_none(),
            Self::RoundStart(_) | Self::RoundCompleted(_) => true,
            Self::Standings { table, .. } | Self::Completed { table, .. } => table.whole.is_some(),
            Self::State(_) => false,
        }
    }

    /// The message for one agent.
    pub(super) fn message(&self, to: AgentId) -> Message {
        let reader = match to {
            AgentId::Player(player) => Some(player),
            AgentId::Referee(_) => None,
        };
        let around = reader.as_slice();
        match self {
            Self::Round { message, own, officiated } => {
                let mut message = message.clone();
                if let AgentId::Referee(referee) = to
                    && let Some(matches) = officiated.get(&referee)
                {
                    message.matches = Listed::Encoded(matches.clone());
                }
                if let (Some(own), Some(reader)) = (own, reader) {
                    message.matches =
                        Listed::Items(own.get(&reader).cloned().into_iter().collect());
                }
                Message::RoundAnnouncement(message)
            }
            Self::RoundStart(message) => Message::RoundStart(message.clone()),
            Self::RoundResult { message, own } => {
                let mut message = message.clone();
                if let (Some(own), Some(reader)) = (own, reader) {
                    message.results =
                        Listed::Items(own.get(&reader).cloned().into_iter().collect());
                }
                Message::RoundResult(message)
            }
            Self::RoundCompleted(message) => Message::RoundCompleted(message.clone()),
            Self::Standings { at, round, table } => {
                Message::LeagueStandingsUpdate(StandingsUpdate {
                    round_id: *round,
                    last_updated: Some(*at),
                    standings: Listed::Encoded(table.cut(around)),
                    total_players: u32::try_from(table.rows.len()).ok(),
                })
            }
            Self::Completed { message, table } => {
                let final_standings = Listed::Encoded(table.cut(around));
                Message::LeagueCompleted(LeagueCompleted { final_standings, ..message.clone() })
            }
            Self::State(message) => Message::SuspensionNotice(message.clone()),
        }
    }
}

/// What an agent is told whose state has changed.
pub(super) fn state(league: &League, agent: AgentId) -> Option<Notice> {
    let state = league.lifecycle(agent)?.state();
    let (reason, recovery_deadline, action) = match *state {
        CoreState::Suspended { until, cause, .. } => {
            let action =
                "Answer a PING, or register again with your own token, before the deadline";
            (cause.to_string(), Some(until), action)
        }
        // That the league is over everybody is told anyway.
        CoreState::Shutdown { cause: Reason::LeagueEnded, .. } => return None,
        CoreState::Shutdown { cause, .. } => {
            (cause.to_string(), None, "Ask the administrator to reinstate you")
        }
        CoreState::Init | CoreState::Registered | CoreState::Active => {
            ("you are back".to_string(), None, "Nothing; you are playing again")
        }
    };
    Some(Notice::State(SuspensionNotice {
        agent_id: agent,
        state: told(state),
        reason,
        recovery_deadline,
        action_required: action.into(),
    }))
}

/// The state in the protocol's words.
const fn told(state: &CoreState) -> AgentState {
    match state {
        CoreState::Init => AgentState::Init,
        CoreState::Registered => AgentState::Registered,
        CoreState::Active => AgentState::Active,
        CoreState::Suspended { .. } => AgentState::Suspended,
        CoreState::Shutdown { .. } => AgentState::Shutdown,
    }
}

/// The announcement of the round that is open, if `round` is.
pub(super) fn round(
    (keys, mailboxes): (&Keys, &Mailboxes),
    league: &League,
    round: RoundId,
) -> Option<Notice> {
    let open = league.open_round().filter(|open| open.id == round)?;
    let announced = |(index, scheduled): (usize, &OpenMatch)| {
        let referee = league.referee(scheduled.referee);
        AnnouncedMatch {
            match_id: MatchId::from_index(round, index),
            game_type: Some(league.charter().game.clone()),
            players: Seats::new(scheduled.pairing.a, scheduled.pairing.b),
            referee_id: Some(scheduled.referee),
            referee_endpoint: referee.map(|referee| referee.profile.endpoint.to_string()),
            scheduled_start: Some(scheduled_start(league, open, scheduled)),
            officiated: None,
        }
    };
    let matches: Vec<_> = open.matches.iter().enumerate().map(announced).collect();
    let is_whole = matches.len() <= LIST_WHOLE_MAX;
    let total_matches = u32::try_from(matches.len()).ok();
    let own = (!is_whole).then(|| by_player(&matches));
    let officiated = officiated((keys, mailboxes), league, open, &matches);
    let listed = if is_whole {
        Listed::Encoded(AnnouncedMatch::encode(&matches))
    } else {
        Listed::Items(vec![])
    };
    let message = RoundAnnouncement {
        round_id: round,
        matches: listed,
        byes: open.byes.clone(),
        round_deadline: Some(open.deadline),
        total_matches,
        total_rounds: league.rounds_total(),
        more: (!is_whole).then(|| "ask with LEAGUE_QUERY GET_SCHEDULE".into()),
    };
    Some(Notice::Round { message, own, officiated })
}

/// What referees by others, who may go by the announcement, are told: the matches with all that is
/// needed to run their own. Ours wait for an order.
fn officiated(
    (keys, mailboxes): (&Keys, &Mailboxes),
    league: &League,
    open: &OpenRound,
    matches: &[AnnouncedMatch],
) -> BTreeMap<RefereeId, Fragment> {
    let strangers = league.referees().iter().filter(|referee| !referee.profile.batch);
    let table = Table::of_last_round(league);
    let list = |referee: RefereeId| {
        let mut own = vec![];
        for (announced, scheduled) in matches.iter().zip(&open.matches) {
            let mut announced = announced.clone();
            let is_open = scheduled.filed.is_none() && scheduled.stuck.is_none();
            if scheduled.referee == referee && is_open {
                let (match_id, attempt) = (announced.match_id, scheduled.attempt);
                let handout = Handout { referee, match_id, attempt };
                let order = start_match(keys, league, &handout, (&table, mailboxes, false));
                announced.officiated = order.map(|order| Officiated {
                    attempt,
                    rematch: order.rematch,
                    rules: order.rules,
                    players: order.players,
                });
                own.push(announced);
            } else if matches.len() <= LIST_WHOLE_MAX {
                own.push(announced);
            }
        }
        AnnouncedMatch::encode(&own)
    };
    strangers.map(|referee| (referee.id, list(referee.id))).collect()
}

fn by_player(matches: &[AnnouncedMatch]) -> BTreeMap<PlayerId, AnnouncedMatch> {
    let both = matches.iter().flat_map(|m| [(m.players.a, m.clone()), (m.players.b, m.clone())]);
    both.collect()
}

/// Later waves begin when earlier ones have had the time that a match usually takes.
fn scheduled_start(league: &League, open: &OpenRound, scheduled: &OpenMatch) -> Timestamp {
    let step = league.policy().invitation_timeout();
    open.starts_at + step.saturating_mul(scheduled.wave)
}

/// The end of `round`.
pub(super) fn round_completed(league: &League, round: RoundId, head: String) -> Option<Notice> {
    let results = league.past().get(round.number() as usize - 1)?;
    let count = results.matches.len();
    let completed_matches =
        (0..count.min(LIST_WHOLE_MAX)).map(|index| MatchId::from_index(round, index)).collect();
    let is_over = matches!(league.phase(), Phase::Completed { .. });
    Some(Notice::RoundCompleted(RoundCompleted {
        round_id: round,
        completed_matches,
        matches_played: u32::try_from(count).unwrap_or(u32::MAX),
        next_round_id: (!is_over).then(|| round.next()),
        journal_head: Some(head),
        key_fingerprint: None,
    }))
}

/// The table as it stands.
pub(super) fn standings(league: &League, at: Timestamp, table: &Arc<Table>) -> Notice {
    let last = u32::try_from(league.past().len()).ok().filter(|rounds| *rounds > 0);
    let round = league.open_round().map(|open| open.id).or_else(|| last.map(RoundId::new));
    Notice::Standings { at, round, table: table.clone() }
}

/// The end of the league.
pub(super) fn completed(league: &League, table: &Arc<Table>, head: String) -> Notice {
    let matches: usize = league.past().iter().map(|round| round.matches.len()).sum();
    let first = table.rows.first().filter(|_| !league.leaders().is_empty());
    let champion = first.map(|row| Champion {
        player_id: row.player_id,
        display_name: row.display_name.clone(),
        points: row.points,
    });
    let message = LeagueCompleted {
        total_rounds: u32::try_from(league.past().len()).unwrap_or(u32::MAX),
        total_matches: u32::try_from(matches).unwrap_or(u32::MAX),
        champion,
        final_standings: Listed::Items(vec![]),
        journal_head: Some(head),
        key_fingerprint: None,
    };
    Notice::Completed { message, table: table.clone() }
}

/// The order to play a match; `None` if it is no longer open under this attempt.
pub(super) fn start_match(
    keys: &Keys,
    league: &League,
    handout: &Handout,
    (table, mailboxes, lenient): (&Table, &Mailboxes, bool),
) -> Option<StartMatch> {
    let round = league.open_round()?;
    let open = league.open_match(handout.match_id)?;
    let is_theirs = open.attempt == handout.attempt && open.referee == handout.referee;
    // A match that waits for a referee stays with the one that was given a new token.
    if !is_theirs || league.is_away(AgentId::Referee(handout.referee)) {
        return None;
    }
    let around = (table, mailboxes);
    let assigned = |seat: Seat| assigned_player(keys, league, open, (handout, seat), around);
    let (a, b) = (assigned(Seat::A)?, assigned(Seat::B)?);
    let draw = Draw::new(league.id(), handout.match_id, open.rematch);
    let seed = draw.seed(keys);
    let operated = league.referee(open.referee).is_some_and(|referee| referee.operated);
    let policy = league.policy();
    let departures = policy.departures().into_iter();
    let rules = departures.map(|(key, value)| (key.to_string(), value));
    let rule_set = ("rule_set".to_string(), policy.rule_set().to_string());
    Some(StartMatch {
        match_id: handout.match_id,
        round_id: handout.match_id.round,
        attempt: open.attempt,
        rematch: open.rematch,
        game_type: league.charter().game.clone(),
        rules: rules.chain(std::iter::once(rule_set)).collect(),
        draw_commitment: Some(draw.commitment(&seed).to_string()),
        // Whoever has the seed and both nonces knows the number before anybody else, so only the
        // operator's own referees get it, and they must draw with it.
        draw_seed: operated.then(|| DrawSeed::new(&seed.reveal())),
        standings: Some(table.cut(&[open.pairing.a, open.pairing.b])),
        players: Seats::new(a, b),
        scheduled_start: Some(scheduled_start(league, round, open)),
        result_deadline: Some(round.deadline),
        lease_ms: u64::try_from(league.lease(open.referee).as_millis()).ok(),
        lenient,
    })
}

fn assigned_player(
    keys: &Keys,
    league: &League,
    open: &OpenMatch,
    (handout, seat): (&Handout, Seat),
    (table, mailboxes): (&Table, &Mailboxes),
) -> Option<AssignedPlayer> {
    let player = league.player(open.pairing.player(seat))?;
    let form = league.policy().token_form();
    let token = keys.token(form, league.id(), AgentId::Player(player.id), &player.nonce);
    let (match_id, attempt, referee) = (handout.match_id, open.attempt, open.referee);
    let to_send = match_proof(&token, league.id(), match_id, attempt, referee);
    let to_expect = reply_proof(&token, league.id(), match_id, attempt);
    let relayed = relay::is_pull(&player.profile.endpoint);
    Some(AssignedPlayer {
        player_id: player.id,
        endpoint: match relayed {
            true => mailboxes.endpoint(player.id),
            false => player.profile.endpoint.to_string(),
        },
        dialect: dialect(league.dialect(AgentId::Player(player.id))?),
        relayed,
        match_proof: Some(AuthToken::new(&to_send.expose())),
        reply_proof: Some(AuthToken::new(&to_expect.expose())),
        token_hash: Some(token.hash().to_string()),
        your_standings: table.row(player.id),
        game_history: Some(history(player)),
    })
}

fn history(player: &Player) -> Fragment {
    let games: Vec<PastGame> = player.history.iter().map(past_game).collect();
    PastGame::encode_list(&games)
}

fn past_game(past: &PastMatch) -> PastGame {
    PastGame {
        round_id: past.match_id.round,
        match_id: past.match_id,
        opponent_id: past.opponent,
        your_choice: past.own.clone(),
        opponent_choice: past.theirs.clone(),
        drawn_number: past.number,
        result: match past.score {
            Score::Win => PlayerResult::Win,
            Score::Draw => PlayerResult::Tie,
            Score::Loss => PlayerResult::Loss,
            Score::TechnicalLoss => PlayerResult::TechnicalLoss,
            Score::None => PlayerResult::Cancelled,
        },
    }
}

/// The dialect an agent registered with. It was parsed when it registered.
pub(super) fn dialect(name: &str) -> Dialect {
    name.parse().unwrap_or(Dialect::Flat)
}

fn standing(league: &League, row: &Row) -> StandingRow {
    let record = &row.record;
    let name = league.player(row.player).map(|player| player.profile.display_name.to_string());
    let thousandths = (u64::from(record.wins) * 1_000 + u64::from(record.played) / 2)
        .checked_div(u64::from(record.played));
    StandingRow {
        rank: row.rank,
        player_id: row.player,
        display_name: name.unwrap_or_default(),
        played: record.played,
        wins: record.wins,
        draws: record.draws,
        losses: record.losses,
        technical_losses: record.technical_losses,
        points: u32::try_from(record.points).unwrap_or(u32::MAX),
        win_rate_thousandths: u32::try_from(thousandths.unwrap_or(0)).unwrap_or(0),
        state: league.lifecycle(AgentId::Player(row.player)).map(|life| told(life.state())),
    }
}
