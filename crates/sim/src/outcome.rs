//! What became of a world.

use std::fmt;

/// What became of one seed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The seed.
    pub seed: u64,
    /// What a checker objected to, if one did.
    pub violation: Option<Violation>,
    /// The hash of everything that happened.
    pub hash: u64,
    /// What there was to see.
    pub tally: Tally,
    /// The trace, if it was asked for.
    pub trace: Vec<String>,
}

/// Something that must not happen, and did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// When, in milliseconds of the world.
    pub at: u64,
    /// Which rule was broken.
    pub rule: Rule,
    /// How.
    pub detail: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at {} ms): {}", self.rule.name(), self.at, self.detail)
    }
}

/// What the checkers watch over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// Each match is in the books once, and each pair meets once.
    Once,
    /// What was acknowledged stays, whatever crashes.
    Kept,
    /// The table is what the results make it.
    Table,
    /// Leagues, matches and agents change only as documented.
    Transitions,
    /// Nobody is charged for our failure or for a forgery.
    Fair,
    /// Credentials reach only those they are for.
    Secrets,
    /// A choice is not visible before both are in, nor a result before it is in the books.
    Silence,
    /// What is in the books is what the players did and the draw gave.
    Truth,
    /// When the weather is fair the league ends.
    Progress,
    /// Nothing panics.
    Calm,
}

impl Rule {
    /// One word for lists.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Kept => "kept",
            Self::Table => "table",
            Self::Transitions => "transitions",
            Self::Fair => "fair",
            Self::Secrets => "secrets",
            Self::Silence => "silence",
            Self::Truth => "truth",
            Self::Progress => "progress",
            Self::Calm => "calm",
        }
    }
}

/// What there was to see in a world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Steps of the world.
    pub steps: u64,
    /// Milliseconds of the world.
    pub span_ms: u64,
    /// Matches in the books.
    pub results: u64,
    /// Matches that both played.
    pub played: u64,
    /// Players that lost technically, counted per match.
    pub technical_losses: u64,
    /// Matches that were called off.
    pub cancelled: u64,
    /// Matches that were decided because somebody had left.
    pub walkovers: u64,
    /// Matches that waited for the administrator.
    pub stuck: u64,
    /// Tokens that were replaced.
    pub replaced: u64,
    /// Suspensions.
    pub suspended: u64,
    /// Suspended agents that came back.
    pub recovered: u64,
    /// Agents that were shut down before the end.
    pub shut_down: u64,
    /// Orders of the administrator.
    pub orders: u64,
    /// Attempts that came to nothing because a referee vanished.
    pub reassigned: u64,
    /// Attempts that were annulled because our side failed.
    pub annulled: u64,
    /// False reports that were noted.
    pub lies: u64,
    /// Crashes of nodes.
    pub crashes: u64,
    /// Times the journal was opened again.
    pub replays: u64,
    /// Forged messages.
    pub forgeries: u64,
}

impl Tally {
    /// Adds what was seen elsewhere.
    pub fn add(&mut self, other: &Self) {
        self.steps += other.steps;
        self.span_ms += other.span_ms;
        self.results += other.results;
        self.played += other.played;
        self.technical_losses += other.technical_losses;
        self.cancelled += other.cancelled;
        self.walkovers += other.walkovers;
        self.stuck += other.stuck;
        self.replaced += other.replaced;
        self.suspended += other.suspended;
        self.recovered += other.recovered;
        self.shut_down += other.shut_down;
        self.orders += other.orders;
        self.reassigned += other.reassigned;
        self.annulled += other.annulled;
        self.lies += other.lies;
        self.crashes += other.crashes;
        self.replays += other.replays;
        self.forgeries += other.forgeries;
    }
}

/// What became of the crowded league.
#[derive(Debug)]
pub struct Crowd {
    /// The outcome as of any seed.
    pub outcome: Outcome,
    /// Pairs of players that behave.
    pub healthy_pairs: usize,
    /// How many of them really played.
    pub healthy_played: usize,
    /// Technical losses of players that behave.
    pub healthy_charged: usize,
    /// Refereed matches with a player that never plays in which it was not charged.
    pub bad_spared: usize,
}

/// How a seed is run again.
pub fn replay_command(seed: u64) -> String {
    format!("league sim --seed {seed} --trace")
}
