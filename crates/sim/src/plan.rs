//! What a seed makes of a league: who comes, under which rules, and in what weather.

use league_core::dice::Dice;
use league_core::game::{EvenOdd, EvenOddNumbers};
use league_core::id::LeagueId;
use league_core::manager::{Charter, StartRule};
use league_core::policy::{Policy, RuleSet};
use league_core::proof::{Keys, Secret};

use crate::clock::Clocks;
use crate::fate::Fate;
use crate::guests::{Guest, Lie, Manner};
use crate::message::Node;
use crate::weather::Weather;

/// A league before it begins.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) secret: Secret,
    pub(crate) league: LeagueId,
    /// The game that is played.
    pub(crate) game: &'static str,
    pub(crate) rule_set: RuleSet,
    pub(crate) policy: Policy,
    pub(crate) start: Start,
    pub(crate) players: Vec<Guest>,
    pub(crate) referees: Vec<Official>,
    /// How far clocks are off from the beginning, in milliseconds.
    pub(crate) skew_ms_max: i64,
    pub(crate) weather: Weather,
}

/// What makes the league start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// The administrator, so many milliseconds after the world began.
    Command(u64),
    /// As many players as there are.
    Players,
    /// A moment, so many milliseconds after the world began.
    At(u64),
}

/// A referee of the plan.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Official {
    pub(crate) capacity: u32,
    pub(crate) operated: bool,
    pub(crate) manner: Manner,
}

impl Plan {
    /// What `seed` makes of a league.
    pub(crate) fn from_seed(seed: u64) -> Self {
        let mut fate = Fate::new(seed, "plan");
        let secret = Secret::roll(&mut fate);
        let rule_set = fate.pick(&RuleSet::ALL);
        let policy = policy(&mut fate, rule_set);
        let players = players(&mut fate);
        let referees = referees(&mut fate);
        let start = match fate.between(0, 2) {
            0 => Start::Command(fate.between(500, 20_000)),
            1 => Start::Players,
            _ => Start::At(fate.between(500, 20_000)),
        };
        let skew_ms_max = fate.pick(&[0, 400, 90_000, 7_200_000]);
        let weather = Weather::draw(seed, players.len(), referees.len());
        let league = format!("sim_{seed}").parse().expect("letters and digits");
        Self {
            seed,
            secret,
            league,
            game: if seed % 7 == 3 { EvenOddNumbers::NAME } else { EvenOdd::NAME },
            rule_set,
            policy,
            start,
            players,
            referees,
            skew_ms_max,
            weather,
        }
    }

    /// Fifty players with the documents' own times, ten of them bad, in fair weather.
    pub(crate) fn crowd(seed: u64) -> Self {
        let mut fate = Fate::new(seed, "crowd");
        let mut players = vec![Guest::Prompt; 50];
        let bad = [(Guest::Silent, 5), (Guest::Slow, 3), (Guest::Noisy, 2)];
        for guest in bad.iter().flat_map(|(guest, times)| vec![*guest; *times]) {
            let free = |players: &[Guest], at: usize| players[at] == Guest::Prompt;
            let mut at = fate.index(players.len());
            while !free(&players, at) {
                at = fate.index(players.len());
            }
            players[at] = guest;
        }
        let referee = Official { capacity: 5, operated: true, manner: Manner::Honest };
        Self {
            seed,
            secret: Secret::roll(&mut fate),
            league: "sim_crowd".parse().expect("letters and digits"),
            game: EvenOdd::NAME,
            rule_set: RuleSet::V21,
            policy: Policy::default(),
            start: Start::Players,
            players,
            referees: vec![referee; 5],
            skew_ms_max: 0,
            weather: Weather::fair(),
        }
    }

    /// The keys of the league's server.
    pub(crate) fn keys(&self) -> Keys {
        Keys::derive(&self.secret)
    }

    /// What the league is founded with.
    pub(crate) fn charter(&self, clocks: &Clocks) -> Charter {
        let players = u32::try_from(self.players.len()).expect("a small league");
        let rules = self.policy.written().into_iter().map(|(key, value)| (key.to_string(), value));
        Charter {
            league: self.league.clone(),
            rule_set: self.rule_set.to_string(),
            rules: rules.collect(),
            game: self.game.parse().expect("a game's name"),
            format: "round_robin".into(),
            start: match self.start {
                Start::Command(_) => StartRule::OnCommand,
                Start::Players => StartRule::Players(players),
                Start::At(at) => StartRule::At(clocks.shown(Node::Manager, at)),
            },
            players_max: players,
            key_check: self.keys().check_value(),
        }
    }

    /// How long a league may take at most once the weather is fair, in milliseconds. Bad referees
    /// may let each match go once each; nobody else may hold it up.
    pub(crate) fn patience_ms(&self) -> u64 {
        let (players, referees) = (self.players.len(), self.referees.len());
        let rounds = players + players % 2 - 1;
        let matches = rounds * players.div_ceil(2);
        let longest = self.policy.longest_match(1);
        let lease = longest + self.policy.lease_foreign_margin() + self.policy.lease();
        let wait = self.policy.breaker_open() + self.policy.report_interval() * 2;
        let tries = u32::try_from(matches * (referees + 2)).expect("a small league");
        let rounds = u32::try_from(rounds + 1).expect("a small league");
        // A round may wait for somebody suspended, and then for the administrator.
        let waits = self.policy.announcement_lead() + self.policy.recovery_window() * 2;
        let orders = u32::try_from(self.weather.faults.len()).expect("a few");
        let span = (longest + lease + wait) * tries + waits * (rounds + orders);
        u64::try_from(span.as_millis()).expect("not for ever") + 600_000
    }
}

fn players(fate: &mut Fate) -> Vec<Guest> {
    let count = if fate.chance(50) { fate.between(9, 14) } else { fate.between(2, 7) };
    let bad = fate.pick(&[0, 150, 400]);
    let one = |fate: &mut Fate| {
        if fate.chance(bad) {
            return fate.pick(&Guest::BAD);
        }
        if fate.chance(500) { Guest::Prompt } else { fate.pick(&Guest::GOOD) }
    };
    (0..count).map(|_| one(fate)).collect()
}

/// At least one of them is honest, or nobody could ever finish the league.
fn referees(fate: &mut Fate) -> Vec<Official> {
    let count = fate.between(1, 4);
    let bad = fate.pick(&[0, 0, 300, 600]);
    let mut officials: Vec<Official> = (0..count)
        .map(|_| {
            let (capacity, operated) = (fate.pick(&[1, 1, 2, 5]), fate.chance(700));
            let manner = if fate.chance(bad) { bad_manner(fate) } else { Manner::Honest };
            Official { capacity, operated, manner }
        })
        .collect();
    if officials.iter().all(|official| official.manner != Manner::Honest) {
        let at = fate.index(officials.len());
        officials[at].manner = Manner::Honest;
    }
    officials
}

fn bad_manner(fate: &mut Fate) -> Manner {
    if fate.chance(100) {
        return fate.pick(&[Manner::Idle, Manner::Unwilling]);
    }
    Manner::Liar { lie: fate.pick(&Lie::ALL), repents: fate.chance(500) }
}

/// Rules within which players that mean well have time to answer.
fn policy(fate: &mut Fate, rule_set: RuleSet) -> Policy {
    let mut rules: Vec<(&str, String)> = vec![];
    let mut rule = |fate: &mut Fate, key: &'static str, low: u64, high: u64, unit: &str| {
        if fate.chance(400) {
            rules.push((key, format!("{}{unit}", fate.between(low, high))));
        }
    };
    rule(fate, "announcement_lead", 0, 20, "s");
    rule(fate, "invitation_timeout", 3_000, 9_000, "ms");
    rule(fate, "choice_timeout", 3_000, 40_000, "ms");
    rule(fate, "choice_attempts", 1, 5, "");
    rule(fate, "invalid_choices_max", 1, 4, "");
    rule(fate, "points_win", 2, 5, "");
    rule(fate, "points_draw", 0, 2, "");
    rule(fate, "breaker_failures", 1, 5, "");
    rule(fate, "breaker_open", 1, 40, "s");
    rule(fate, "lease", 15, 40, "s");
    rule(fate, "lease_renewal", 1, 5, "s");
    rule(fate, "report_timeout", 1, 12, "s");
    rule(fate, "report_retries", 0, 4, "");
    rule(fate, "report_interval", 5, 40, "s");
    rule(fate, "network_retries", 0, 4, "");
    rule(fate, "default_timeout", 2, 12, "s");
    rule(fate, "standings_within", 0, 8, "s");
    let mut word = |fate: &mut Fate, key: &'static str, words: &[&str]| {
        if fate.chance(400) {
            rules.push((key, fate.pick(words).to_string()));
        }
    };
    word(fate, "token_form", &["long", "short"]);
    word(fate, "invitation_silence", &["forfeit", "cancel"]);
    word(fate, "choice_backoff", &["fixed 1s", "fixed 3s", "exponential 1s"]);
    word(fate, "report_backoff", &["fixed 2s", "exponential 1s"]);
    let orders = ["", "wins", "draws,wins", "win_percentage,head_to_head", "head_to_head,draws"];
    word(fate, "tie_breakers", &orders);
    let overrides = rules.iter().map(|(key, value)| (*key, value.as_str()));
    Policy::build(rule_set, overrides).expect("the ranges contradict nothing")
}

impl Start {
    /// Whether the administrator has to say so, and when.
    pub(crate) const fn command_at(self) -> Option<u64> {
        match self {
            Self::Command(at) => Some(at),
            Self::Players | Self::At(_) => None,
        }
    }
}

/// Thirty-two bytes as text, for tokens that are nobody's.
pub(crate) fn random_text(dice: &mut impl Dice) -> String {
    league_core::proof::hex(&dice.bytes32())
}
