//! What became of a case, and how a case says so.

/// How a case ends early. Cases return `Ok(())` when everything was as it must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Halt {
    /// The agent did something wrong.
    Fail(Finding),
    /// The case cannot be tried; says why, and what would make it possible.
    Skip(String),
    /// The checker failed, and says nothing of the agent.
    Ours(String),
}

/// What a case's function returns.
pub type Outcome = Result<(), Halt>;

/// What was wrong and what would be right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// One plain sentence.
    pub sentence: String,
    /// The smallest change that would pass, in words.
    pub change: String,
    /// The exact JSON that would pass, where JSON is what is wrong.
    pub json: Option<String>,
}

/// What became of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// As it must be.
    Pass,
    /// The agent did something wrong.
    Fail(Finding),
    /// Not tried.
    Skipped(String),
    /// The checker failed.
    CheckerError(String),
}

impl Halt {
    /// The agent did something wrong: what, and what to change.
    pub fn fail(sentence: impl Into<String>, change: impl Into<String>) -> Self {
        Self::Fail(Finding { sentence: sentence.into(), change: change.into(), json: None })
    }

    /// The same with the JSON that would pass.
    pub fn fail_with(
        sentence: impl Into<String>,
        change: impl Into<String>,
        json: impl Into<String>,
    ) -> Self {
        let json = Some(json.into());
        Self::Fail(Finding { sentence: sentence.into(), change: change.into(), json })
    }

    /// The case cannot be tried.
    pub fn skip(reason: impl Into<String>) -> Self {
        Self::Skip(reason.into())
    }

    /// What another case already tells is no fault of this one: a failure becomes a reason to skip.
    #[must_use]
    pub fn unless_told_by(self, case: &str) -> Self {
        match self {
            Self::Fail(finding) => {
                let sentence = finding.sentence;
                Self::Skip(format!("what it builds on fails: see {case} ({sentence})"))
            }
            Self::Skip(_) | Self::Ours(_) => self,
        }
    }
}

impl Verdict {
    /// The word for it.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail(_) => "fail",
            Self::Skipped(_) => "skipped",
            Self::CheckerError(_) => "checker error",
        }
    }
}

impl From<Outcome> for Verdict {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Ok(()) => Self::Pass,
            Err(Halt::Fail(finding)) => Self::Fail(finding),
            Err(Halt::Skip(reason)) => Self::Skipped(reason),
            Err(Halt::Ours(reason)) => Self::CheckerError(reason),
        }
    }
}
