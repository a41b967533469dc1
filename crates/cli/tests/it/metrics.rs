//! Figures for monitoring systems: read strictly, and compared with the league that was played.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::program::Place;
use crate::service::{Office, Service, get, request, until};

/// A page: each sample with its labels as they stand, and the type of each family.
#[derive(Debug, Default)]
struct Page {
    samples: BTreeMap<String, f64>,
    kinds: BTreeMap<String, String>,
}

impl Page {
    fn get(address: &str) -> Option<Self> {
        let (status, text) = request(address, &get("GET", "/metrics"))?;
        assert_eq!(status, 200);
        Some(Self::parse(&text))
    }

    /// Reads a page and insists on the form: HELP, TYPE, then the samples of that family.
    fn parse(text: &str) -> Self {
        let (mut page, mut family) = (Self::default(), String::new());
        assert!(text.ends_with('\n'));
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if let Some(help) = line.strip_prefix("# HELP ") {
                let (name, text) = help.split_once(' ').expect("a name and a help");
                assert!(is_name(name) && !text.is_empty(), "{line}");
                let kind = lines.next().and_then(|line| line.strip_prefix("# TYPE "));
                let (same, kind) = kind.and_then(|kind| kind.split_once(' ')).expect("a type");
                assert_eq!(same, name);
                assert!(["counter", "gauge", "histogram"].contains(&kind), "{kind}");
                let before = page.kinds.insert(name.into(), kind.into());
                assert!(before.is_none(), "{name} twice");
                family = name.into();
                continue;
            }
            let (sample, value) = line.rsplit_once(' ').expect("a sample and its value");
            page.sample(&family, sample, value);
        }
        page.check_histograms();
        page
    }

    fn sample(&mut self, family: &str, sample: &str, value: &str) {
        let (name, labels) = sample.split_once('{').unwrap_or((sample, ""));
        let suffix = name.strip_prefix(family).unwrap_or_else(|| panic!("{name} in {family}"));
        let is_histogram = self.kinds[family] == "histogram";
        let suffixes: &[&str] = if is_histogram { &["_bucket", "_sum", "_count"] } else { &[""] };
        assert!(suffixes.contains(&suffix), "{sample}");
        assert_eq!(self.kinds[family] == "counter", name.ends_with("_total"), "{name}");
        if !labels.is_empty() {
            for label in labels.strip_suffix('}').expect("an end").split(',') {
                let (label, value) = label.split_once('=').expect("a label and its value");
                assert!(is_name(label), "{sample}");
                let inner = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
                assert!(inner.is_some_and(|inner| !inner.contains(['"', '\\'])), "{sample}");
            }
        }
        let value: f64 = value.parse().expect("a number");
        let before = self.samples.insert(sample.into(), value);
        assert!(before.is_none(), "{sample} twice");
    }

    fn check_histograms(&self) {
        for (name, _) in self.kinds.iter().filter(|(_, kind)| *kind == "histogram") {
            let start = format!("{name}_bucket{{le=\"");
            let bucket = |(sample, count): (&String, &f64)| {
                let bound = sample.strip_prefix(&start)?.trim_end_matches("\"}").to_string();
                Some((bound.parse::<f64>().unwrap_or(f64::INFINITY), *count))
            };
            let mut buckets: Vec<(f64, f64)> = self.samples.iter().filter_map(bucket).collect();
            buckets.sort_by(|one, other| one.0.total_cmp(&other.0));
            assert!(buckets.is_sorted_by(|one, other| one.1 <= other.1), "{buckets:?}");
            let (last, count) = buckets.last().expect("buckets");
            assert!(last.is_infinite() && *count == self.of(&format!("{name}_count")));
            assert!(self.of(&format!("{name}_sum")) >= 0.0);
        }
    }

    fn of(&self, sample: &str) -> f64 {
        *self.samples.get(sample).unwrap_or_else(|| panic!("no {sample} in {:?}", self.samples))
    }

    /// The sum of a family.
    fn sum(&self, family: &str) -> f64 {
        let own = |sample: &str| sample.split('{').next() == Some(family);
        self.samples.iter().filter(|(sample, _)| own(sample)).map(|(_, value)| value).sum()
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn address(service: &mut Service) -> String {
    let document = service.announced();
    let endpoint = document["agents"][0]["endpoint"].as_str().unwrap().to_string();
    endpoint.trim_start_matches("http://").trim_end_matches("/mcp").to_string()
}

// req: OBS-5
#[test]
fn figures_are_those_of_the_league_that_was_played() {
    let place = Place::new();
    let written = "[league]\nid = \"spring\"\nstart = { players = 4 }\n\
                   set.announcement_lead = \"0s\"\n";
    std::fs::write(place.path().join("league.toml"), written).unwrap();
    let office = Office::open(&place);
    let line = "referee --join-key league-data/join-key-spring";
    let mut agents: Vec<Service> = (0..2).map(|_| office.send(&place, line)).collect();
    let referees: Vec<String> = agents.iter_mut().map(address).collect();
    let mut player = office.send(&place, "player");
    let player_at = address(&mut player);
    let idle = Page::get(&player_at).unwrap();
    assert_eq!(idle.of("league_build_info{component=\"player\",version=\"0.1.0\"}"), 1.0);
    assert!(idle.of("process_resident_memory_bytes") > 1e6);
    assert!(idle.of("process_start_time_seconds") > 1.7e9);
    assert_eq!(idle.of("league_calls_total{outcome=\"answered\"}"), 1.0, "its registration");
    let _others = office.seat(&place, "player --count 3");
    let officiated = until("the referees have decided every match", || {
        let pages: Option<Vec<Page>> = referees.iter().map(|at| Page::get(at)).collect();
        pages.filter(|pages| {
            pages.iter().map(|it| it.sum("league_matches_total")).sum::<f64>() >= 6.0
        })
    });
    for page in &officiated {
        let calls = page.sum("league_calls_total");
        assert_eq!(page.of("league_call_seconds_count"), calls);
        assert_eq!(page.of("league_technical_losses_total"), 0.0);
        assert!(page.of("league_messages_total{type=\"START_MATCH\"}") >= 1.0);
    }
    let standings = office.standings_at_the_end("spring");
    let number = |row: &Value, key: &str| row[key].as_u64().unwrap();
    let rows = standings["standings"].as_array().unwrap();
    let played: u64 = rows.iter().map(|row| number(row, "played")).sum();
    let page = Page::get(&office.address).unwrap();
    assert_eq!(page.sum("league_matches_total"), (played / 2) as f64);
    let draws: u64 = rows.iter().map(|row| number(row, "draws")).sum();
    assert_eq!(page.of("league_matches_total{verdict=\"drawn\"}"), (draws / 2) as f64);
    assert_eq!(page.of("league_agents{kind=\"player\",state=\"SHUTDOWN\"}"), 4.0);
    assert_eq!(page.of("league_agents{kind=\"referee\",state=\"SHUTDOWN\"}"), 2.0);
    assert_eq!(page.sum("league_agents"), 6.0);
    assert_eq!(page.of("league_leagues{phase=\"completed\"}"), 1.0);
    assert_eq!((page.of("league_rounds_completed"), page.of("league_matches_open")), (3.0, 0.0));
    let league = office.look("/api/v1/leagues/spring").unwrap();
    assert_eq!(page.of("league_journal_rows_total"), number(&league, "journal_rows") as f64);
    assert_eq!(page.of("league_messages_total{type=\"MATCH_RESULT_REPORT\"}"), 6.0);
    assert!(page.of("league_append_seconds_count") >= 7.0);
    assert!(page.of("league_http_requests_total{place=\"mcp\",status=\"2xx\"}") >= 12.0);
    assert_eq!(page.of("league_mailbox_depth"), 0.0);
    assert!(page.of("league_connections") >= 1.0, "this one at the least");
}

#[test]
fn what_is_refused_is_counted_by_its_code() {
    let place = Place::new();
    let office = Office::open(&place);
    let post = crate::service::post("/mcp", None, "no JSON");
    for _ in 0..3 {
        assert_eq!(request(&office.address, &post).unwrap().0, 400);
    }
    let page = Page::get(&office.address).unwrap();
    assert_eq!(page.of("league_refused_total{code=\"-32700\"}"), 3.0);
    assert_eq!(page.of("league_http_requests_total{place=\"mcp\",status=\"4xx\"}"), 3.0);
    let (status, body) = request(&office.address, &get("HEAD", "/metrics")).unwrap();
    assert_eq!((status, body.as_str()), (200, ""));
}
