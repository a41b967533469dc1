//! What the services count: requests, calls, matches, refusals. One set of figures for each
//! component of a process; every label comes from a fixed list.

mod figure;
mod page;

use std::sync::OnceLock;
use std::time::Duration;

use league_core::verdict::Verdict;
use league_wire::lenient::{Deviations, Slip};
use league_wire::message::ErrorCode;
use league_wire::{Code, Dialect, MessageType};

use crate::ambient::{self, Mark};
use crate::caller::CallError;
use crate::component::Component;
use crate::log;

pub use figure::{Counter, Entered, Gauge, Histogram};
pub use page::{Kind, Page};

/// The figures of one component.
#[derive(Debug)]
pub struct Meter {
    component: Component,
    /// Connections that are open.
    pub connections: Gauge,
    /// Connections for which there was no place.
    pub turned_away: Counter,
    /// Connections that the system could not give us.
    pub unaccepted: Counter,
    requests: [[Counter; CLASSES.len()]; Place::ALL.len()],
    received: [Counter; MessageType::ALL.len()],
    refused: [Counter; Code::ALL.len()],
    refused_otherwise: Counter,
    deviations: [Counter; Slip::ALL.len()],
    calls: [Counter; OUTCOMES.len()],
    /// From sending a call to its answer.
    pub call_time: Histogram,
    /// Calls that were made again.
    pub retries: Counter,
    matches: [Counter; VERDICTS.len()],
    /// Players that failed to play.
    pub technical_losses: Counter,
    /// Matches that this process has in hand.
    pub running: Gauge,
    /// Rows written to the journal.
    pub rows: Counter,
    /// Time to make rows durable.
    pub append_time: Histogram,
    /// Letters that were kept beside the record.
    pub letters: Counter,
    /// Letters that were not, for want of room.
    pub letters_dropped: Counter,
}

/// Where a request went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// `POST /mcp`.
    Mcp,
    /// A page that is read.
    Page,
    /// A document that is posted elsewhere.
    Post,
}

impl Place {
    const ALL: [Self; 3] = [Self::Mcp, Self::Page, Self::Post];

    const fn name(self) -> &'static str {
        match self {
            Self::Mcp => "mcp",
            Self::Page => "page",
            Self::Post => "post",
        }
    }
}

/// Classes of HTTP status; what is none of them was not answered.
const CLASSES: [&str; 5] = ["2xx", "3xx", "4xx", "5xx", "none"];
const OUTCOMES: [&str; 8] = [
    "answered",
    "timed_out",
    "not_connected",
    "broken",
    "own_failure",
    "busy",
    "too_large",
    "not_allowed",
];
const VERDICTS: [&str; 5] = ["won", "drawn", "technical_loss", "both_lost", "cancelled"];

static MANAGER: Meter = Meter::new(Component::Manager);
static REFEREE: Meter = Meter::new(Component::Referee);
static PLAYER: Meter = Meter::new(Component::Player);

impl Meter {
    const fn new(component: Component) -> Self {
        Self {
            component,
            connections: Gauge::new(),
            turned_away: Counter::new(),
            unaccepted: Counter::new(),
            requests: [const { [const { Counter::new() }; CLASSES.len()] }; Place::ALL.len()],
            received: [const { Counter::new() }; MessageType::ALL.len()],
            refused: [const { Counter::new() }; Code::ALL.len()],
            refused_otherwise: Counter::new(),
            deviations: [const { Counter::new() }; Slip::ALL.len()],
            calls: [const { Counter::new() }; OUTCOMES.len()],
            call_time: Histogram::new(),
            retries: Counter::new(),
            matches: [const { Counter::new() }; VERDICTS.len()],
            technical_losses: Counter::new(),
            running: Gauge::new(),
            rows: Counter::new(),
            append_time: Histogram::new(),
            letters: Counter::new(),
            letters_dropped: Counter::new(),
        }
    }

    /// The figures of `component` in this process.
    pub const fn of(component: Component) -> &'static Self {
        match component {
            Component::Manager => &MANAGER,
            Component::Referee => &REFEREE,
            Component::Player => &PLAYER,
        }
    }

    /// A request was answered with `status`.
    pub fn answered(&self, place: Place, status: u16) {
        let class = match status {
            200..=299 => 0,
            300..=399 => 1,
            400..=499 => 2,
            500..=599 => 3,
            _ => 4,
        };
        self.requests[place as usize][class].add(1);
    }

    /// A message was read.
    pub fn received(&self, kind: MessageType) {
        self.received[kind as usize].add(1);
    }

    /// Something was refused with `code`.
    pub fn refused(&self, code: &ErrorCode) {
        match code.known() {
            Some(code) => self.refused[code as usize].add(1),
            None => self.refused_otherwise.add(1),
        }
    }

    /// A message was understood that is not as it should be.
    pub fn deviated(&self, deviations: &Deviations) {
        deviations.iter().for_each(|deviation| self.deviations[deviation.slip as usize].add(1));
    }

    /// A call has come to its end after `took`.
    pub fn called<T>(&self, outcome: &Result<T, CallError>, took: Duration) {
        let outcome = match outcome {
            Ok(_) => 0,
            Err(CallError::TimedOut(_)) => 1,
            Err(CallError::NotConnected(_)) => 2,
            Err(CallError::Broken(_)) => 3,
            Err(CallError::Ours(_)) => 4,
            Err(CallError::Busy) => 5,
            Err(CallError::TooLarge) => 6,
            Err(CallError::BadAddress(_) | CallError::Forbidden(_)) => 7,
        };
        self.calls[outcome].add(1);
        self.call_time.observe(took);
    }

    /// A match has its result.
    pub fn decided(&self, verdict: Verdict) {
        let (index, lost) = match verdict {
            Verdict::Won(_) => (0, 0),
            Verdict::Drawn => (1, 0),
            Verdict::TechnicalLoss(_) => (2, 1),
            Verdict::BothLost => (3, 2),
            Verdict::Cancelled => (4, 0),
        };
        self.matches[index].add(1);
        self.technical_losses.add(lost);
    }

    /// Everything that every component counts.
    pub fn page(&self) -> Page {
        let mut page = Page::default();
        page.family("league_build_info", Kind::Gauge, "What runs here; always 1.");
        let version = ("version", env!("CARGO_PKG_VERSION"));
        page.sample(&[("component", self.component.name()), version], 1_u32);
        self.network(&mut page);
        self.messages(&mut page);
        if self.component != Component::Player {
            self.results(&mut page);
        }
        page.single(
            ("league_log_lines_lost_total", Kind::Counter),
            "Lines of the log that nobody read in time.",
            log::lost(),
        );
        process(&mut page);
        page
    }

    fn network(&self, page: &mut Page) {
        page.family("league_http_requests_total", Kind::Counter, "Requests that were answered.");
        for place in Place::ALL {
            for (class, count) in CLASSES.iter().zip(&self.requests[place as usize]) {
                page.sample(&[("place", place.name()), ("status", class)], count.get());
            }
        }
        page.single(
            ("league_connections", Kind::Gauge),
            "Connections that are open.",
            self.connections.get(),
        );
        page.single(
            ("league_turned_away_total", Kind::Counter),
            "Connections for which there was no place.",
            self.turned_away.get(),
        );
        page.single(
            ("league_unaccepted_total", Kind::Counter),
            "Connections that could not be accepted, for want of descriptors most likely.",
            self.unaccepted.get(),
        );
        page.family("league_calls_total", Kind::Counter, "Calls to other agents.");
        for (outcome, count) in OUTCOMES.iter().zip(&self.calls) {
            page.sample(&[("outcome", outcome)], count.get());
        }
        let help = "From sending a call to its answer or its failure.";
        page.histogram("league_call_seconds", help, &self.call_time);
        page.single(
            ("league_retries_total", Kind::Counter),
            "Calls that were made again.",
            self.retries.get(),
        );
    }

    fn messages(&self, page: &mut Page) {
        page.family("league_messages_total", Kind::Counter, "Messages that were read.");
        for (kind, count) in MessageType::ALL.iter().zip(&self.received) {
            if count.get() > 0 {
                page.sample(&[("type", kind.name(Dialect::Flat))], count.get());
            }
        }
        page.family("league_refused_total", Kind::Counter, "Messages that were refused.");
        for (code, count) in Code::ALL.iter().zip(&self.refused) {
            if count.get() > 0 {
                page.sample(&[("code", code.as_str())], count.get());
            }
        }
        page.sample(&[("code", "other")], self.refused_otherwise.get());
        let help = "What was not as it should be in messages that were understood.";
        page.family("league_deviations_total", Kind::Counter, help);
        for (slip, count) in Slip::ALL.iter().zip(&self.deviations) {
            if count.get() > 0 {
                page.sample(&[("deviation", slip.name())], count.get());
            }
        }
    }

    fn results(&self, page: &mut Page) {
        let help = "Matches with a result, since this process began.";
        page.family("league_matches_total", Kind::Counter, help);
        for (verdict, count) in VERDICTS.iter().zip(&self.matches) {
            page.sample(&[("verdict", verdict)], count.get());
        }
        page.single(
            ("league_technical_losses_total", Kind::Counter),
            "Players that failed to play their match.",
            self.technical_losses.get(),
        );
    }
}

/// What every monitoring system knows about a process, in its own words.
fn process(page: &mut Page) {
    if let Some(bytes) = resident_bytes() {
        let name = "process_resident_memory_bytes";
        page.single((name, Kind::Gauge), "Memory in use, in bytes.", bytes);
    }
    let help = "When this process began, in seconds of Unix time.";
    page.family("process_start_time_seconds", Kind::Gauge, help);
    page.sample(&[], start_seconds());
}

/// When this process began; more exactly, when this was first asked.
pub(crate) fn start_seconds() -> f64 {
    static START: OnceLock<(i64, Mark)> = OnceLock::new();
    let (start, _) = START.get_or_init(|| (ambient::wall().as_millis(), Mark::set()));
    #[expect(clippy::cast_precision_loss, reason = "milliseconds of this age fit a float")]
    let start = *start as f64;
    start / 1000.0
}

fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use league_core::seat::Seat;

    use super::*;

    #[test]
    fn what_is_counted_is_on_the_page() {
        let meter = Meter::new(Component::Referee);
        meter.answered(Place::Mcp, 200);
        meter.answered(Place::Page, 404);
        meter.received(MessageType::Ping);
        meter.refused(&ErrorCode::Known(Code::E012));
        meter.called::<()>(&Err(CallError::Busy), Duration::from_millis(3));
        meter.decided(Verdict::TechnicalLoss(Seat::A));
        meter.decided(Verdict::BothLost);
        let text = meter.page().finish();
        for line in [
            "league_build_info{component=\"referee\",version=\"0.1.0\"} 1",
            "league_http_requests_total{place=\"mcp\",status=\"2xx\"} 1",
            "league_http_requests_total{place=\"page\",status=\"4xx\"} 1",
            "league_messages_total{type=\"PING\"} 1",
            "league_refused_total{code=\"E012\"} 1",
            "league_calls_total{outcome=\"busy\"} 1",
            "league_call_seconds_count 1",
            "league_matches_total{verdict=\"technical_loss\"} 1",
            "league_technical_losses_total 3",
        ] {
            assert!(text.lines().any(|found| found == line), "no {line} in {text}");
        }
    }
}
