//! What became of a practice match, from the agent's side of the table.

use std::time::Duration;

use league_agent::player::Cast;
use league_core::id::{MatchId, PlayerId};
use league_core::seat::Seat;
use league_wire::frame::{Outcome, parse_response};
use league_wire::message::MatchResultReport;
use league_wire::{Code, Dialect, Fragment, MoveValue, ResultStatus};
use serde_json::{Value, json};

use super::go_between::Seen;
use super::office::Told;
use super::{Drill, Fault};
use crate::record::{Entry, Kind, TOLERATED, Transcript};

/// How a match ended for the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It won.
    Won,
    /// Nobody won.
    Drawn,
    /// It lost, and played.
    Lost,
    /// It lost without playing to the end.
    Technical,
    /// It says nothing about the agent.
    Void,
}

impl Ending {
    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Won => "won",
            Self::Drawn => "drawn",
            Self::Lost => "lost",
            Self::Technical => "technical loss",
            Self::Void => "does not count",
        }
    }
}

/// Something in the agent that its author should change.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// What it did, in one plain sentence.
    pub sentence: String,
    /// What to do instead.
    pub change: String,
}

/// What became of a practice match.
#[derive(Debug)]
pub struct Practised {
    /// Which match.
    pub match_id: MatchId,
    /// Against whom.
    pub against: Cast,
    /// What went wrong on purpose, if anything did.
    pub fault: Option<Fault>,
    /// How often it did.
    pub faults: u32,
    /// The agent's side.
    pub seat: Seat,
    /// How it ended for the agent.
    pub ending: Ending,
    /// Why, in the sentence that the players are told.
    pub why: String,
    /// What the agent chose, if it did.
    pub own: Option<String>,
    /// What its opponent chose, if it did.
    pub theirs: Option<String>,
    /// The number that was drawn.
    pub number: Option<u32>,
    /// How long the agent took for each answer that it owed.
    pub times: Vec<Duration>,
    /// How the agent was spoken to in the end.
    pub dialect: Dialect,
    /// What its author should change.
    pub findings: Vec<Finding>,
    /// Whether it refused because nobody could prove to it that it has to do with them.
    pub is_unconvinced: bool,
    /// Everything that was said.
    pub transcript: Option<Transcript>,
}

impl Practised {
    pub(super) fn new(
        Drill { match_id, against, fault }: Drill,
        (pupil, seat): (PlayerId, Seat),
        report: &MatchResultReport,
        told: &Told,
    ) -> Self {
        let line = |wanted: bool| {
            let player = report.players.iter().find(|(id, _)| (**id == pupil) == wanted);
            player.map(|(_, player)| player)
        };
        let (own, theirs) = (line(true), line(false));
        let chosen = |line: Option<&league_wire::message::ReportedPlayer>| {
            line.and_then(|player| player.line.choice.as_ref()).map(choice)
        };
        let times = own.map(|own| own.response_us.iter().copied().map(Duration::from_micros));
        let transcript = transcript(report.transcript.as_ref(), told.epilogue.as_ref());
        let is_unconvinced =
            transcript.as_ref().is_some_and(|transcript| is_unconvinced(transcript, pupil));
        let deviations = own.into_iter().flat_map(|own| own.deviations.iter());
        let findings = deviations.map(|(slip, counted)| Finding {
            sentence: format!("an answer came with {}, at {}", slip.what(), counted.at),
            change: counted.fix.clone(),
        });
        Self {
            match_id,
            against,
            fault,
            faults: 0,
            seat,
            ending: ending(pupil, report),
            why: report.reason.clone(),
            own: chosen(own),
            theirs: chosen(theirs),
            number: report.drawn_number,
            times: times.into_iter().flatten().collect(),
            dialect: own.and_then(|own| own.dialect).unwrap_or(Dialect::Flat),
            findings: findings.collect(),
            is_unconvinced,
            transcript,
        }
    }
}

impl Practised {
    /// Puts what the go-between saw in place of what the referee could see past it.
    pub(super) fn seen_by(mut self, seen: Seen, pupil: PlayerId) -> Self {
        self.times = seen.times;
        self.faults = seen.faults;
        self.findings.extend(seen.findings);
        if self.ending == Ending::Technical {
            let is_objected =
                self.transcript.as_ref().is_some_and(|transcript| objected(transcript, pupil));
            if !(seen.is_blemished || is_objected) {
                self.ending = Ending::Void;
                self.why = format!("what went wrong on purpose lost this match: {}", self.why);
            } else if let Some(why) = seen.unanswered {
                self.why = format!("{}; the agent: {why}", self.why);
            }
        }
        self
    }
}

impl Practised {
    /// All of it as one JSON document, with the transcript if `bytes` are wanted.
    pub fn document(&self, bytes: bool) -> Value {
        let times = self.times.iter().map(|time| time.as_secs_f64() * 1_000.0);
        let fix =
            |finding: &Finding| json!({ "sentence": finding.sentence, "change": finding.change });
        let mut document = json!({
            "match_id": self.match_id.to_string(),
            "against": self.against.name(),
            "fault": self.fault.map(Fault::name),
            "faults": self.faults,
            "result": self.ending.word(),
            "why": self.why,
            "choice": self.own,
            "opponent_choice": self.theirs,
            "drawn_number": self.number,
            "response_ms": times.collect::<Vec<_>>(),
            "to_fix": self.findings.iter().map(fix).collect::<Vec<_>>(),
        });
        if let Some(transcript) = self.transcript.as_ref().filter(|_| bytes) {
            document["transcript"] = serde_json::to_value(transcript).unwrap_or(Value::Null);
        }
        document
    }
}

/// Whether the referee objected to an answer of `pupil`.
fn objected(transcript: &Transcript, pupil: PlayerId) -> bool {
    let pupil = pupil.to_string();
    let is_theirs = |entry: &&Entry| entry.peer.as_deref() == Some(pupil.as_str());
    let is_bad = |entry: &Entry| {
        let text = entry.text.as_ref().is_some_and(|text| !text.starts_with(TOLERATED));
        entry.kind == Kind::Received && text
    };
    transcript.entries.iter().filter(is_theirs).any(is_bad)
}

fn choice(made: &MoveValue) -> String {
    match made {
        MoveValue::Text(word) => word.clone(),
        MoveValue::Number(number) => number.to_string(),
    }
}

fn ending(pupil: PlayerId, report: &MatchResultReport) -> Ending {
    if report.technical_losers.contains(&pupil) {
        return Ending::Technical;
    }
    match report.status {
        Some(ResultStatus::Draw) => Ending::Drawn,
        // Under some rules a match is not lost by whoever does not come, but does not take place;
        // the reason begins with whom it was.
        Some(ResultStatus::Cancelled) if report.reason.contains(&format!("{pupil}: ")) => {
            Ending::Technical
        }
        Some(ResultStatus::Cancelled) | None => Ending::Void,
        Some(ResultStatus::Win | ResultStatus::TechnicalLoss) if report.winner == Some(pupil) => {
            Ending::Won
        }
        Some(ResultStatus::Win | ResultStatus::TechnicalLoss) => Ending::Lost,
    }
}

/// The transcript with what was said after the report.
fn transcript(report: Option<&Fragment>, epilogue: Option<&Fragment>) -> Option<Transcript> {
    let mut transcript: Transcript = serde_json::from_str(report?.as_str()).ok()?;
    let after = epilogue.and_then(|after| serde_json::from_str(after.as_str()).ok());
    let after: Vec<Entry> = after.map_or_else(Vec::new, |after: Transcript| after.entries);
    transcript.entries.extend(after);
    Some(transcript)
}

/// Whether `pupil` refused a call because of who called.
fn is_unconvinced(transcript: &Transcript, pupil: PlayerId) -> bool {
    let pupil = pupil.to_string();
    let theirs = |entry: &&Entry| {
        entry.kind == Kind::Received && entry.peer.as_deref() == Some(pupil.as_str())
    };
    let numbers = [Code::E005, Code::E011, Code::E012].map(|code| code.row().rpc);
    transcript.entries.iter().filter(theirs).any(|entry| {
        let Some(body) = &entry.body else { return false };
        let Ok(response) = parse_response(body.get().as_bytes()) else { return false };
        match response.outcome {
            Outcome::Error(error) => numbers.contains(&error.code),
            Outcome::Result(_) => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost() -> Practised {
        Practised {
            match_id: "R1M1".parse().unwrap(),
            against: Cast::find("even").unwrap(),
            fault: Some(Fault::Slow),
            faults: 0,
            seat: Seat::A,
            ending: Ending::Technical,
            why: "P01: did not join: no answer in time".into(),
            own: None,
            theirs: None,
            number: None,
            times: vec![],
            dialect: Dialect::Flat,
            findings: vec![],
            is_unconvinced: false,
            transcript: None,
        }
    }

    #[test]
    fn a_loss_that_our_own_faults_made_does_not_count() {
        let pupil = PlayerId::new(1);
        let ours = lost().seen_by(Seen::default(), pupil);
        assert_eq!(ours.ending, Ending::Void);
        assert!(ours.why.contains("on purpose"), "{}", ours.why);
        let seen = Seen { is_blemished: true, ..Seen::default() };
        assert_eq!(lost().seen_by(seen, pupil).ending, Ending::Technical);
    }

    #[test]
    fn a_loss_to_whose_answer_the_referee_objected_counts() {
        let transcript = r#"{"version":1,"league":"l","match":"R1M1","attempt":1,"rematch":0,
            "referee":"REF01","conversation":"c","began":"","players":[],"entries":[
            {"at_us":1,"kind":"received","peer":"PEER","text":"it is unproved"}]}"#;
        let seen_from = |peer: &str| {
            let transcript = serde_json::from_str(&transcript.replace("PEER", peer)).unwrap();
            let one = Practised { transcript: Some(transcript), ..lost() };
            one.seen_by(Seen::default(), PlayerId::new(1)).ending
        };
        assert_eq!((seen_from("P01"), seen_from("P02")), (Ending::Technical, Ending::Void));
    }
}
