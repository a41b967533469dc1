//! What is known of each agent beyond its record: how fast it answers referees, what went wrong
//! with the calls to it, and how far its clock is from ours. Kept in memory, since the process
//! began.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use league_agent::ambient;
use league_agent::component::Component;
use league_agent::desk::Deviated;
use league_agent::guard::lock;
use league_agent::log::{self, Level};
use league_agent::meter::Meter;
use league_core::conduct::Conduct;
use league_core::id::{AgentId, LeagueId, PlayerId};
use league_core::manager::League;
use league_core::spread::Spread;
use league_core::time::Timestamp;
use league_wire::iso;
use league_wire::lenient::{Counted, Slip, Tally};
use league_wire::message::{MatchResultReport, ReportedPlayer};
use serde_json::{Map, Value, json};

use super::leagues::Leagues;
use super::witness::registered;

/// What is known of every agent.
#[derive(Debug)]
pub(super) struct Figures {
    since: Timestamp,
    agents: Mutex<BTreeMap<(LeagueId, AgentId), Figure>>,
}

/// What is known of one.
#[derive(Debug, Default)]
struct Figure {
    answers: Spread,
    calls: Conduct,
    /// When it last wrote.
    heard: Option<Timestamp>,
    unusable_answers: u32,
    /// What was not as it should be in what it sent, where that was understood.
    deviations: Tally,
    /// How far its clock was ahead of ours when it last wrote, in milliseconds.
    skew_ms: Option<i64>,
    is_warned: bool,
}

/// What a report says of its players, until the report is in the books.
pub(super) type Heard = Vec<(PlayerId, Calls, Vec<u64>, Tally)>;

/// What went wrong with the calls to a player.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Calls {
    conduct: Conduct,
    /// How many of them brought an answer that could not be used.
    unusable: u32,
}

impl Calls {
    /// The calls that brought nothing at all: what came and could not be used is told apart, though
    /// the lifecycle counts it as an error or as silence.
    fn without_unusable(self) -> Conduct {
        let Conduct { timeouts, connection_errors, .. } = self.conduct;
        let rest = self.unusable.saturating_sub(connection_errors);
        Conduct {
            connection_errors: connection_errors.saturating_sub(self.unusable),
            timeouts: timeouts.saturating_sub(rest),
            ..self.conduct
        }
    }
}

impl Default for Figures {
    fn default() -> Self {
        Self { since: ambient::wall(), agents: Mutex::default() }
    }
}

/// What `report` says of its players.
pub(super) fn heard(report: &MatchResultReport) -> Heard {
    let players = report.players.iter();
    let calls = |player: &ReportedPlayer| Calls {
        conduct: player.conduct,
        unusable: player.unusable_answers,
    };
    let heard = |(id, player): (&PlayerId, &ReportedPlayer)| {
        (*id, calls(player), player.response_us.clone(), player.deviations.clone())
    };
    players.map(heard).collect()
}

impl Figures {
    /// A report is in the books, for the first time.
    pub(super) fn note(&self, league: &LeagueId, heard: Heard) {
        let mut agents = lock(&self.agents);
        for (player, calls, times, deviations) in heard {
            let figure = agents.entry((league.clone(), AgentId::Player(player))).or_default();
            figure.unusable_answers = figure.unusable_answers.saturating_add(calls.unusable);
            let (calls, total) = (calls.without_unusable(), &mut figure.calls);
            total.timeouts = total.timeouts.saturating_add(calls.timeouts);
            total.connection_errors =
                total.connection_errors.saturating_add(calls.connection_errors);
            total.invalid_moves = total.invalid_moves.saturating_add(calls.invalid_moves);
            figure.deviations.merge(deviations);
            times.into_iter().for_each(|us| figure.answers.note(Duration::from_micros(us)));
        }
    }

    /// A letter was taken although it is not as it should be. It proved who sent it, or its answer
    /// says who its sender has become.
    pub(super) fn deviated(&self, leagues: &Leagues, letter: &Deviated<'_>) {
        Meter::of(Component::Manager).deviated(letter.deviations);
        let agent = registered(&letter.answer.message).or_else(|| letter.sender.agent());
        let named = letter.answer.league.as_ref().or(letter.league).cloned();
        let only = || leagues.all().into_iter().next().map(|(id, _)| id);
        if let (Some(agent), Some(league)) = (agent, named.or_else(only)) {
            let mut agents = lock(&self.agents);
            agents.entry((league, agent)).or_default().deviations.note(letter.deviations);
        }
    }

    /// How an agent deviated, as a list.
    pub(super) fn deviations(&self, league: &League, agent: AgentId) -> Option<Value> {
        let agents = lock(&self.agents);
        let tally = &agents.get(&(league.id().clone(), agent))?.deviations;
        let entry = |(slip, counted): (Slip, &Counted)| {
            let Counted { count, at, fix } = counted;
            json!({ "deviation": slip.name(), "count": count, "at": at, "fix": fix })
        };
        let all: Vec<Value> = tally.iter().map(entry).collect();
        (!all.is_empty()).then_some(Value::Array(all))
    }

    /// An agent that proved who it is wrote `at` as the time. A clock that is off by more than the
    /// league's rules say is warned about once, and nothing else follows from it.
    pub(super) fn clock(&self, league: &League, agent: AgentId, at: Timestamp) {
        let now = ambient::wall();
        let skew_ms = at.as_millis().saturating_sub(now.as_millis());
        let mut agents = lock(&self.agents);
        let figure = agents.entry((league.id().clone(), agent)).or_default();
        (figure.heard, figure.skew_ms) = (Some(now), Some(skew_ms));
        if !is_far(league, skew_ms) || std::mem::replace(&mut figure.is_warned, true) {
            return;
        }
        drop(agents);
        log::at(Level::Warning, Component::Manager, |line| {
            line.league(league.id()).agent(agent).detail("clock_skew_ms", skew_ms);
            line.say("the agent's clock is far from ours; nothing is refused for it");
        });
    }

    /// When an agent last wrote.
    pub(super) fn heard(&self, league: &LeagueId, agent: AgentId) -> Option<Timestamp> {
        lock(&self.agents).get(&(league.clone(), agent)).and_then(|figure| figure.heard)
    }

    /// Since when there are figures.
    pub(super) fn since(&self) -> String {
        iso::format(self.since)
    }

    /// What is known of one agent, as fields of a document.
    pub(super) fn of(&self, league: &League, agent: AgentId) -> Map<String, Value> {
        let deviations = self.deviations(league, agent);
        let agents = lock(&self.agents);
        let nothing = Figure::default();
        let figure = agents.get(&(league.id().clone(), agent)).unwrap_or(&nothing);
        let Conduct { timeouts, connection_errors, invalid_moves, .. } = figure.calls;
        let mut fields = Map::new();
        if matches!(agent, AgentId::Player(_)) {
            fields.insert("timeouts".into(), json!(timeouts));
            fields.insert("connection_errors".into(), json!(connection_errors));
            fields.insert("unusable_answers".into(), json!(figure.unusable_answers));
            fields.insert("invalid_moves".into(), json!(invalid_moves));
            fields.insert("response_times".into(), times(&figure.answers));
        }
        fields.insert("clock_skew_ms".into(), json!(figure.skew_ms));
        fields.insert(
            "clock_is_off".into(),
            json!(figure.skew_ms.is_some_and(|ms| is_far(league, ms))),
        );
        fields.extend(deviations.map(|list| ("deviations".to_string(), list)));
        fields
    }
}

/// Whether a clock that is off by so much is worth a warning.
fn is_far(league: &League, skew_ms: i64) -> bool {
    u128::from(skew_ms.unsigned_abs()) > league.policy().clock_skew_warning().as_millis()
}

fn times(answers: &Spread) -> Value {
    let ms = |time: Option<Duration>| time.map(|time| (time.as_secs_f64() * 1e6).round() / 1e3);
    json!({
        "count": answers.count(),
        "mean_ms": ms(answers.mean()),
        "p50_ms": ms(answers.percentile(50)),
        "p95_ms": ms(answers.percentile(95)),
        "p99_ms": ms(answers.percentile(99)),
        "max_ms": ms(answers.max()),
    })
}

#[cfg(test)]
mod tests {
    use league_core::manager::{Charter, StartRule};
    use league_wire::lenient::Deviations;

    use super::*;

    fn league(rules: &[(&str, &str)]) -> League {
        let rule = |(key, value): &(&str, &str)| (key.to_string(), value.to_string());
        let charter = Charter {
            league: "spring".parse().unwrap(),
            rule_set: "v2.1".into(),
            rules: rules.iter().map(rule).collect(),
            game: "even_odd".parse().unwrap(),
            format: "round_robin".into(),
            start: StartRule::OnCommand,
            players_max: 8,
            key_check: [0; 32],
        };
        League::open(&charter).unwrap()
    }

    // req: OBS-6
    #[test]
    fn a_clock_that_is_off_is_kept_and_told() {
        let (figures, league) = (Figures::default(), league(&[]));
        let agent: AgentId = AgentId::Player("P01".parse().unwrap());
        assert_eq!(figures.of(&league, agent)["clock_skew_ms"], Value::Null);
        let told = |at: Timestamp| {
            figures.clock(&league, agent, at);
            let fields = figures.of(&league, agent);
            (fields["clock_skew_ms"].as_i64().unwrap(), fields["clock_is_off"] == true)
        };
        let (skew, is_off) = told(ambient::wall());
        assert!(skew.abs() < 1_000 && !is_off, "{skew}");
        let (skew, is_off) = told(ambient::wall() + Duration::from_secs(60));
        assert!((59_000..=60_000).contains(&skew) && is_off, "{skew}");
        let (skew, is_off) = told(Timestamp::from_millis(0));
        assert!(skew < -1_000_000_000 && is_off, "{skew}");
        let patient = self::league(&[("clock_skew_warning", "120s")]);
        figures.clock(&patient, agent, ambient::wall() + Duration::from_secs(60));
        assert_eq!(figures.of(&patient, agent)["clock_is_off"], false, "the league's rules count");
    }

    // req: OBS-4
    #[test]
    fn times_and_failures_are_added_up() {
        let (figures, league) = (Figures::default(), league(&[]));
        let player: PlayerId = "P01".parse().unwrap();
        let calls = Conduct { timeouts: 1, invalid_moves: 2, ..Conduct::default() };
        let calls = Calls { conduct: calls, unusable: 0 };
        figures.note(league.id(), vec![(player, calls, vec![1_000, 3_000], Tally::default())]);
        figures.note(league.id(), vec![(player, calls, vec![], Tally::default())]);
        let fields = figures.of(&league, AgentId::Player(player));
        assert_eq!((&fields["timeouts"], &fields["invalid_moves"]), (&json!(2), &json!(4)));
        assert_eq!(fields["unusable_answers"], json!(0));
        let times = &fields["response_times"];
        assert_eq!((&times["count"], &times["mean_ms"]), (&json!(2), &json!(2.0)));
        assert_eq!(times["max_ms"], json!(3.0));
        let other = figures.of(&league, AgentId::Player("P02".parse().unwrap()));
        assert_eq!(other["response_times"]["p50_ms"], Value::Null);
    }

    #[test]
    fn deviations_are_added_up_with_the_latest_fix() {
        let (figures, league) = (Figures::default(), league(&[]));
        let player: PlayerId = "P01".parse().unwrap();
        let agent = AgentId::Player(player);
        assert_eq!(figures.deviations(&league, agent), None);
        for at in ["result.data", "result.response"] {
            let mut seen = Deviations::default();
            seen.note(Slip::Nested.at(at));
            let mut tally = Tally::default();
            tally.note(&seen);
            figures.note(league.id(), vec![(player, Calls::default(), vec![], tally)]);
        }
        let told = json!([{
            "deviation": "nested", "count": 2, "at": "result.response", "fix": Slip::Nested.fix(),
        }]);
        assert_eq!(figures.of(&league, agent)["deviations"], told);
    }

    #[test]
    fn answers_that_could_not_be_used_are_told_apart() {
        let (figures, league) = (Figures::default(), league(&[]));
        let player: PlayerId = "P01".parse().unwrap();
        let refused = Conduct { connection_errors: 3, ..Conduct::default() };
        let silent = Conduct { timeouts: 1, ..Conduct::default() };
        for (conduct, unusable) in [(refused, 2), (silent, 1), (silent, 0)] {
            figures.note(
                league.id(),
                vec![(player, Calls { conduct, unusable }, vec![], Tally::default())],
            );
        }
        let fields = figures.of(&league, AgentId::Player(player));
        assert_eq!(fields["connection_errors"], json!(1));
        assert_eq!(fields["unusable_answers"], json!(3));
        assert_eq!(fields["timeouts"], json!(1));
    }
}
