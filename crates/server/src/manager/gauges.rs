//! The manager's page of figures: what every component counts, and how its leagues stand.

use std::collections::BTreeMap;

use league_agent::component::Component;
use league_agent::meter::{Kind, Meter};
use league_core::manager::{League, Phase};
use league_core::roster::StateKind;

use super::Leagues;

const PHASES: [&str; 4] = ["registering", "between_rounds", "playing", "completed"];

/// The page.
pub(super) fn page(leagues: &Leagues) -> String {
    let meter = Meter::of(Component::Manager);
    let mut page = meter.page();
    let standing = Standing::of(leagues);
    page.family("league_leagues", Kind::Gauge, "Leagues by phase.");
    for (phase, count) in PHASES.iter().zip(standing.phases) {
        page.sample(&[("phase", phase)], count);
    }
    page.family("league_agents", Kind::Gauge, "Registered agents of all leagues.");
    for (kind, states) in ["player", "referee"].iter().zip(&standing.agents) {
        for state in StateKind::ALL {
            let count = states.get(&state).copied().unwrap_or(0);
            page.sample(&[("kind", kind), ("state", &state.to_string())], count);
        }
    }
    page.single(
        ("league_rounds_completed", Kind::Gauge),
        "Rounds of all leagues that are over.",
        standing.rounds,
    );
    page.single(
        ("league_matches_open", Kind::Gauge),
        "Matches of open rounds that have no result yet.",
        standing.open,
    );
    page.single(
        ("league_mailbox_depth", Kind::Gauge),
        "Questions that wait for the writers of all leagues.",
        standing.waiting,
    );
    page.single(
        ("league_journal_rows_total", Kind::Counter),
        "Rows written to the journal, since this process began.",
        meter.rows.get(),
    );
    page.single(
        ("league_letters_total", Kind::Counter),
        "Letters sent and received that are kept beside the record, since this process began.",
        meter.letters.get(),
    );
    page.single(
        ("league_letters_dropped_total", Kind::Counter),
        "Letters that were not kept for want of room, since this process began.",
        meter.letters_dropped.get(),
    );
    let help = "Time to make rows durable.";
    page.histogram("league_append_seconds", help, &meter.append_time);
    page.finish()
}

/// How all leagues stand together.
#[derive(Default)]
struct Standing {
    phases: [u64; PHASES.len()],
    agents: [BTreeMap<StateKind, u64>; 2],
    rounds: usize,
    open: usize,
    waiting: usize,
}

impl Standing {
    fn of(leagues: &Leagues) -> Self {
        let mut standing = Self::default();
        for (_, stub) in leagues.all() {
            standing.waiting += stub.waiting();
            standing.add(&stub.published().league);
        }
        standing
    }

    fn add(&mut self, league: &League) {
        let phase = match league.phase() {
            Phase::Registering => 0,
            Phase::BetweenRounds { .. } => 1,
            Phase::Playing(_) => 2,
            Phase::Completed { .. } => 3,
        };
        self.phases[phase] += 1;
        self.rounds += league.past().len();
        self.open += league.open_round().map_or(0, |round| round.unfinished);
        let [players, referees] = &mut self.agents;
        for player in league.players() {
            *players.entry(player.lifecycle.state().kind()).or_default() += 1;
        }
        for referee in league.referees() {
            *referees.entry(referee.lifecycle.state().kind()).or_default() += 1;
        }
    }
}
