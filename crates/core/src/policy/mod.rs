//! A league's numbers: a named rule set in which every value can be set on its own.
//!
//! A [`Policy`] cannot be built with values that contradict each other. It is written to the
//! journal as text, key by key, so that a rule added later does not change what is stored.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A published set of rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleSet {
    /// The product requirements, version 2.1.
    V21,
    /// The protocol specification, version 2.0.
    V20,
}

impl RuleSet {
    /// Every rule set, the default first.
    pub const ALL: [Self; 2] = [Self::V21, Self::V20];

    /// The name people type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::V21 => "v2.1",
            Self::V20 => "v2.0",
        }
    }
}

impl fmt::Display for RuleSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for RuleSet {
    type Err = BadRule;

    fn from_str(text: &str) -> Result<Self, BadRule> {
        let found = Self::ALL.into_iter().find(|set| set.name() == text);
        found.ok_or_else(|| BadRule::new("rules", "v2.1 or v2.0", text))
    }
}

/// Why a rule cannot be set like this.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("rule `{key}`: expected {expected}, got `{got}`")]
pub struct BadRule {
    /// The rule in question.
    pub key: String,
    /// What would have been accepted.
    pub expected: String,
    /// What was given.
    pub got: String,
}

impl BadRule {
    fn new(key: &str, expected: impl Into<String>, got: &str) -> Self {
        Self { key: key.into(), expected: expected.into(), got: got.into() }
    }
}

/// How an agent's token looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenForm {
    /// `tok_{player|referee}_{id}_{64 hex}`.
    Long,
    /// `tok_{32 hex}`.
    Short,
}

/// What an invitation that is refused or unanswered leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvitationSilence {
    /// That player loses technically.
    Forfeit,
    /// The match is cancelled and nobody gets points.
    Cancel,
}

/// How long to wait between attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backoff {
    /// The same wait every time.
    Fixed(Duration),
    /// This wait first, doubled each time.
    Exponential(Duration),
}

impl Backoff {
    /// The wait after `failures` failed attempts, at least one.
    pub fn after(self, failures: u32) -> Duration {
        match self {
            Self::Fixed(wait) => wait,
            Self::Exponential(first) => {
                first.saturating_mul(2_u32.saturating_pow(failures.saturating_sub(1)))
            }
        }
    }

    /// The first `waits` waits together.
    fn sum_of_first(self, waits: u32) -> Duration {
        // From here on a wait no longer grows, so that the rest is a product.
        const STEADY: u32 = 33;
        let growing = (1..=waits.min(STEADY)).map(|failures| self.after(failures));
        let growing = growing.fold(Duration::ZERO, Duration::saturating_add);
        let steady = self.after(STEADY).saturating_mul(waits.saturating_sub(STEADY));
        growing.saturating_add(steady)
    }
}

/// One rule for telling apart players with equal points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TieBreaker {
    /// Points from matches among the tied players only, computed once per tied group.
    HeadToHead,
    /// Wins divided by games played.
    WinPercentage,
    /// More wins first.
    Wins,
    /// More draws first.
    Draws,
}

/// The tie-breakers of a league, applied in order; registration order comes last, always.
pub type TieBreakers = Vec<TieBreaker>;

trait Rule: Sized {
    const EXPECTED: &'static str;
    fn parse(text: &str) -> Option<Self>;
    fn print(&self) -> String;
    /// Multiplies spans of time; everything else stays. Nothing if a span becomes too long.
    fn scaled(self, _factor: f64) -> Option<Self> {
        Some(self)
    }
}

macro_rules! rules {
    ($($(#[$doc:meta])* $key:ident: $type:ty = $v21:expr, $v20:expr;)*) => {
        /// The rules of one league. Built with [`Policy::build`].
        #[derive(Debug, Clone, PartialEq)]
        pub struct Policy {
            rule_set: RuleSet,
            $($key: $type,)*
        }

        impl Policy {
            /// Every rule's key, in the order of the documentation.
            pub const KEYS: &'static [&'static str] = &[$(stringify!($key)),*];

            fn defaults(rule_set: RuleSet) -> Self {
                match rule_set {
                    RuleSet::V21 => Self { rule_set, $($key: $v21,)* },
                    RuleSet::V20 => Self { rule_set, $($key: $v20,)* },
                }
            }

            fn set(&mut self, key: &str, value: &str) -> Result<(), BadRule> {
                match key {
                    $(stringify!($key) => {
                        let bad = || BadRule::new(key, <$type as Rule>::EXPECTED, value);
                        self.$key = <$type as Rule>::parse(value).ok_or_else(bad)?;
                    })*
                    _ => {
                        let known = format!("one of {}", Self::KEYS.join(", "));
                        return Err(BadRule::new(key, known, value));
                    }
                }
                Ok(())
            }

            /// Every rule with its value, as it can be set again.
            pub fn written(&self) -> Vec<(&'static str, String)> {
                vec![$((stringify!($key), self.$key.print()),)*]
            }

            fn times_multiplied(self, factor: f64) -> Option<Self> {
                Some(Self { rule_set: self.rule_set, $($key: self.$key.scaled(factor)?,)* })
            }

            $($(#[$doc])* pub fn $key(&self) -> $type { self.$key.clone() })*
        }
    };
}

/// The longest span of time a rule can have.
const SPAN_MAX: Duration = secs(365 * 24 * 3_600);
/// A shorter lease would end before a sign of life can arrive.
const LEASE_MIN: Duration = Duration::from_millis(10);
/// What scaling may add to three renewals by rounding.
const LEASE_ROUNDING: Duration = Duration::from_micros(1);

const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

// The first value is that of v2.1, the second that of v2.0.
rules! {
    /// How an agent's token looks.
    token_form: TokenForm = TokenForm::Long, TokenForm::Short;
    /// Points for a win.
    points_win: u32 = 3, 3;
    /// Points for each side of a draw.
    points_draw: u32 = 1, 1;
    /// Points for a lost game.
    points_loss: u32 = 0, 0;
    /// Points for a technical loss; the opponent gets those of a win.
    points_technical_loss: u32 = 0, 0;
    /// How players with equal points are ranked.
    tie_breakers: TieBreakers =
        vec![TieBreaker::HeadToHead, TieBreaker::WinPercentage],
        vec![TieBreaker::Wins, TieBreaker::Draws];
    /// Time between the announcement of a round and its first match.
    announcement_lead: Duration = secs(60), secs(0);
    /// Time to answer a registration.
    register_timeout: Duration = secs(10), secs(10);
    /// Time to answer an invitation.
    invitation_timeout: Duration = secs(5), secs(5);
    /// What follows a refused or unanswered invitation.
    invitation_silence: InvitationSilence = InvitationSilence::Forfeit, InvitationSilence::Cancel;
    /// Time to answer one call for a move.
    choice_timeout: Duration = secs(30), secs(30);
    /// How often a player is asked for one move, the first time included.
    choice_attempts: u32 = 3, 4;
    /// Wait between two calls for the same move.
    choice_backoff: Backoff = Backoff::Fixed(secs(2)), Backoff::Exponential(secs(1));
    /// The how-manieth invalid answer for one move loses the match.
    invalid_choices_max: u32 = 3, 1;
    /// Time to acknowledge the end of a game; silence is only noted.
    game_over_timeout: Duration = secs(5), secs(5);
    /// Time to acknowledge a reported result.
    report_timeout: Duration = secs(10), secs(10);
    /// Wait before a report is sent again, for the first `report_retries` times.
    report_backoff: Backoff = Backoff::Exponential(secs(2)), Backoff::Exponential(secs(2));
    /// How many times a report is repeated with backoff.
    report_retries: u32 = 3, 3;
    /// Wait between reports after that: a result is never given up.
    report_interval: Duration = secs(30), secs(30);
    /// Time to answer any other message.
    default_timeout: Duration = secs(10), secs(10);
    /// Time to connect and to send.
    http_timeout: Duration = secs(5), secs(5);
    /// How many times a message is repeated after a network failure.
    network_retries: u32 = 3, 3;
    /// Wait between repetitions after a network failure.
    network_backoff: Backoff = Backoff::Fixed(secs(2)), Backoff::Exponential(secs(1));
    /// Consecutive failures that open an address's circuit breaker.
    breaker_failures: u32 = 5, 5;
    /// How long an open breaker refuses before it allows one trial.
    breaker_open: Duration = secs(30), secs(30);
    /// Steps in a row that ended without a usable answer to any call and suspend an agent.
    suspend_timeouts: u32 = 3, 3;
    /// Connection errors within the window that suspend an agent.
    suspend_connection_errors: u32 = 5, 5;
    /// The window for counting connection errors.
    suspend_connection_window: Duration = secs(600), secs(600);
    /// Invalid moves over the league that suspend an agent.
    suspend_invalid_moves: u32 = 5, 5;
    /// Matches lost technically after which an agent is shut down.
    shutdown_failures: u32 = 10, 10;
    /// How long a suspended agent, or a player with a new token, may take to come back.
    recovery_window: Duration = secs(300), secs(300);
    /// Time between two health checks of a suspended agent.
    probe_interval: Duration = secs(10), secs(10);
    /// How long a referee of ours holds a match without a sign of life.
    lease: Duration = secs(15), secs(15);
    /// How often a referee of ours shows a sign of life.
    lease_renewal: Duration = secs(5), secs(5);
    /// What a foreign referee gets on top of the longest possible match.
    lease_foreign_margin: Duration = secs(10), secs(10);
    /// Scheduling delay of ours above which a silent player is not charged.
    own_delay_max: Duration = Duration::from_millis(500), Duration::from_millis(500);
    /// How soon after a result everybody has the standings.
    standings_within: Duration = secs(5), secs(5);
    /// Difference between an agent's clock and ours that is worth a warning.
    clock_skew_warning: Duration = secs(5), secs(5);
}

impl Policy {
    /// The rules of `rule_set` with `overrides` applied in order.
    ///
    /// # Errors
    /// If a key is unknown, a value cannot be read, or values contradict each other.
    pub fn build<'a>(
        rule_set: RuleSet,
        overrides: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, BadRule> {
        let mut policy = Self::defaults(rule_set);
        for (key, value) in overrides {
            policy.set(key, value)?;
        }
        policy.checked()
    }

    /// The rules that differ from those of the rule set, as they can be set again.
    pub fn departures(&self) -> Vec<(&'static str, String)> {
        let usual = Self::defaults(self.rule_set).written();
        let written = self.written().into_iter().zip(usual);
        written.filter(|(own, usual)| own != usual).map(|(own, _)| own).collect()
    }

    /// The rule set this policy started from.
    pub const fn rule_set(&self) -> RuleSet {
        self.rule_set
    }

    /// The same rules with every span of time multiplied by `factor`.
    ///
    /// # Errors
    /// If the factor is not a positive number, or makes a time limit vanish.
    pub fn time_scaled(self, factor: f64) -> Result<Self, BadRule> {
        let bad = |expected| BadRule::new("time_scale", expected, &factor.to_string());
        if !(factor.is_finite() && factor > 0.0) {
            return Err(bad("a number above 0"));
        }
        // Clocks do not run faster because a league does.
        let clock_skew_warning = self.clock_skew_warning;
        let scaled = self.times_multiplied(factor);
        let scaled = scaled.ok_or_else(|| bad("a factor that leaves every time within a year"))?;
        Self { clock_skew_warning, ..scaled }.checked()
    }

    /// The longest time one match with `steps` moves can take, from its first invitation.
    pub fn longest_match(&self, steps: u32) -> Duration {
        let attempts = self.choice_attempts;
        let waits = self.choice_backoff.sum_of_first(attempts.saturating_sub(1));
        let step = self.choice_timeout.saturating_mul(attempts).saturating_add(waits);
        self.invitation_timeout.saturating_add(step.saturating_mul(steps))
    }

    fn checked(self) -> Result<Self, BadRule> {
        for (key, span) in self.positive_spans() {
            if span.is_zero() {
                return Err(BadRule::new(key, "a time above 0", "0"));
            }
        }
        for (key, count) in self.positive_counts() {
            if count == 0 {
                return Err(BadRule::new(key, "at least 1", "0"));
            }
        }
        if self.points_win < self.points_draw || self.points_draw < self.points_loss {
            let got = format!("{}/{}/{}", self.points_win, self.points_draw, self.points_loss);
            return Err(BadRule::new("points_win", "win ≥ draw ≥ loss", &got));
        }
        if self.points_technical_loss > self.points_loss {
            let got = self.points_technical_loss.to_string();
            let expected = "at most the points of a lost game";
            return Err(BadRule::new("points_technical_loss", expected, &got));
        }
        if self.lease < LEASE_MIN {
            let expected = format!("at least {}", LEASE_MIN.print());
            return Err(BadRule::new("lease", expected, &self.lease.print()));
        }
        if self.lease_renewal.saturating_mul(3) > self.lease + LEASE_ROUNDING {
            let expected = format!("at most a third of lease = {}", self.lease.print());
            return Err(BadRule::new("lease_renewal", expected, &self.lease_renewal.print()));
        }
        Ok(self)
    }

    fn positive_spans(&self) -> [(&'static str, Duration); 14] {
        [
            ("register_timeout", self.register_timeout),
            ("invitation_timeout", self.invitation_timeout),
            ("choice_timeout", self.choice_timeout),
            ("game_over_timeout", self.game_over_timeout),
            ("report_timeout", self.report_timeout),
            ("report_interval", self.report_interval),
            ("default_timeout", self.default_timeout),
            ("http_timeout", self.http_timeout),
            ("breaker_open", self.breaker_open),
            ("recovery_window", self.recovery_window),
            ("probe_interval", self.probe_interval),
            ("lease", self.lease),
            ("lease_renewal", self.lease_renewal),
            ("suspend_connection_window", self.suspend_connection_window),
        ]
    }

    fn positive_counts(&self) -> [(&'static str, u32); 7] {
        [
            ("choice_attempts", self.choice_attempts),
            ("invalid_choices_max", self.invalid_choices_max),
            ("breaker_failures", self.breaker_failures),
            ("suspend_timeouts", self.suspend_timeouts),
            ("suspend_connection_errors", self.suspend_connection_errors),
            ("suspend_invalid_moves", self.suspend_invalid_moves),
            ("shutdown_failures", self.shutdown_failures),
        ]
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self::defaults(RuleSet::V21)
    }
}

impl Rule for u32 {
    const EXPECTED: &'static str = "a whole number from 0 to 1000000";

    fn parse(text: &str) -> Option<Self> {
        text.parse().ok().filter(|&n| n <= 1_000_000)
    }

    fn print(&self) -> String {
        self.to_string()
    }
}

impl Rule for Duration {
    const EXPECTED: &'static str = "a time such as 500ms, 30s, 5m or 1h";

    fn parse(text: &str) -> Option<Self> {
        let split = text.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
        let (number, unit) = text.split_at(split);
        let unit_seconds = match unit.trim() {
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3_600.0,
            _ => return None,
        };
        let seconds = number.parse::<f64>().ok()? * unit_seconds;
        let span = Self::try_from_secs_f64(seconds).ok()?;
        (span <= SPAN_MAX).then_some(span)
    }

    fn print(&self) -> String {
        let millis = self.as_secs_f64() * 1_000.0;
        if self.subsec_nanos() == 0 {
            format!("{}s", self.as_secs())
        } else {
            format!("{millis}ms")
        }
    }

    fn scaled(self, factor: f64) -> Option<Self> {
        let span = Self::try_from_secs_f64(self.as_secs_f64() * factor).ok()?;
        (span <= SPAN_MAX).then_some(span)
    }
}

impl Rule for Backoff {
    const EXPECTED: &'static str = "`fixed 2s` or `exponential 1s`";

    fn parse(text: &str) -> Option<Self> {
        let (kind, wait) = text.split_once(' ')?;
        let wait = Duration::parse(wait.trim())?;
        match kind {
            "fixed" => Some(Self::Fixed(wait)),
            "exponential" => Some(Self::Exponential(wait)),
            _ => None,
        }
    }

    fn print(&self) -> String {
        match self {
            Self::Fixed(wait) => format!("fixed {}", wait.print()),
            Self::Exponential(first) => format!("exponential {}", first.print()),
        }
    }

    fn scaled(self, factor: f64) -> Option<Self> {
        match self {
            Self::Fixed(wait) => wait.scaled(factor).map(Self::Fixed),
            Self::Exponential(first) => first.scaled(factor).map(Self::Exponential),
        }
    }
}

macro_rules! worded {
    ($type:ty, $expected:literal, $($word:literal => $value:path),*) => {
        impl Rule for $type {
            const EXPECTED: &'static str = $expected;

            fn parse(text: &str) -> Option<Self> {
                match text {
                    $($word => Some($value),)*
                    _ => None,
                }
            }

            fn print(&self) -> String {
                match self {
                    $($value => $word.into(),)*
                }
            }
        }
    };
}

worded!(TokenForm, "long or short", "long" => Self::Long, "short" => Self::Short);
worded!(
    InvitationSilence, "forfeit or cancel",
    "forfeit" => Self::Forfeit, "cancel" => Self::Cancel
);
worded!(
    TieBreaker, "head_to_head, win_percentage, wins or draws",
    "head_to_head" => Self::HeadToHead, "win_percentage" => Self::WinPercentage,
    "wins" => Self::Wins, "draws" => Self::Draws
);

impl Rule for TieBreakers {
    const EXPECTED: &'static str =
        "a list such as head_to_head,win_percentage of head_to_head, win_percentage, wins, draws";

    fn parse(text: &str) -> Option<Self> {
        text.split(',')
            .map(str::trim)
            .filter(|word| !word.is_empty())
            .map(TieBreaker::parse)
            .collect()
    }

    fn print(&self) -> String {
        self.iter().map(Rule::print).collect::<Vec<_>>().join(",")
    }
}

#[cfg(test)]
mod tests;
